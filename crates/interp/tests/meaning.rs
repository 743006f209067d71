//! The meaning of the IR, construct by construct: each test runs a program's text on a packet and shows the resulting
//! state.

use base::index::Id as _;
use base::{Bits, Span};
use expect_test::{Expect, expect};
use interp::{Decision, Event, Host, Interpreter, Lookup, Outcome, PacketState, Tracer};
use ir::{BlockId, Program, VarId};
use ir::{
    CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId, ExternFunctionId,
    ExternInstanceId, MeterId, RegisterId, TableId, ValueSetId,
};

const PRELUDE: &str = r#"program v1model
errors "NoError" "PacketTooShort" "NoMatch" "StackOutOfBounds" "HeaderTooShort" "ParserTimeout" "ParserInvalidArgument"
labels 4
v0 "egress_spec" bit<9> intrinsic 1
v1 "parser_error" bit<32> intrinsic 14
v2 "a" bit<8> metadata
v3 "b" int<8> metadata
v4 "next" bit<32> metadata
v5 "flag" bool metadata
v6 "wide" bit<72> metadata
v7 "local" bit<8> local
v8 "ran" bit<32> metadata
v9 "param" bit<8> local
ht0 "pair" {
  "x" bit<4>
  "y" bit<12>
}
ht1 "options" {
  "length" bit<8>
  "data" varbit<32>
  "end" bit<8>
}
h0 "p" ht0 metadata
h1 "o" ht1 metadata
h2 "s0" ht0 metadata
h3 "s1" ht0 metadata
h4 "o2" ht1 metadata
stack0 "s" [h2, h3] next v4
register0 "r" bit<8> size 2
counter0 "c" packets size 2
meter0 "m" bytes size 2
dcounter0 "dc" packets
dmeter0 "dm" packets
digest0 "d" receiver 1 ("a" bit<8>)
vset0 "vs" size 2 ("k" 8 exact)
action0 "set" (v9) {
  v2 = v9
}
action1 "stop" () {
  v2 = 8w0xee
  leave l0
}
table0 "t" size 8 {
  key "k" exact v2
  action action0
  action action1
  default 1()
  direct_counter dcounter0
  direct_meter dmeter0 into v5_colour
}
"#;

/// A host that records each call in order, for the test to compare.
#[derive(Default)]
struct RecordingHost {
    calls: Vec<String>,
}

impl Host for RecordingHost {
    /// Even keys hit, with twice the key as the result.
    fn lookup(&mut self, table: TableId, keys: &[Bits], _hash: u64) -> Lookup {
        self.calls.push(format!("lookup {table} {keys:?}"));
        let key = keys[0].low_u64();
        if key.is_multiple_of(2) {
            Lookup { entry: Some(key), action: 0, args: vec![Bits::from_u64(8, 2 * key)] }
        } else {
            Lookup { entry: None, action: 1, args: Vec::new() }
        }
    }
    fn count_lookup(&mut self, table: TableId, entry: Option<u64>) {
        self.calls.push(format!("lookup of {table} known: {entry:?}"));
    }
    fn crc_parameters(&self, _calculation: CalculationId) -> CrcParameters {
        CrcParameters::standard(16)
    }
    fn count_direct(&mut self, _table: TableId, counter: DirectCounterId, cell: u64) {
        self.calls.push(format!("count {counter} {cell}"));
    }
    /// The cell after those of the entries has no rates.
    fn execute_direct_meter(&mut self, _table: TableId, meter: DirectMeterId, cell: u64, before: u8) -> u8 {
        self.calls.push(format!("meter {meter} {cell}"));
        if cell == 8 { before } else { 2 }
    }
    fn register_read(&mut self, _register: RegisterId, index: &Bits) -> Option<Bits> {
        index.to_u64().filter(|index| *index < 2).map(|index| Bits::from_u64(8, 0x40 + index))
    }
    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits) {
        self.calls.push(format!("{register}[{index}] = {value}"));
    }
    fn count(&mut self, counter: CounterId, index: &Bits) {
        self.calls.push(format!("count {counter}[{index}]"));
    }
    fn execute_meter(&mut self, _meter: MeterId, index: &Bits, before: u8) -> Option<u8> {
        index.to_u64().filter(|index| *index < 2).map(|_| before.max(1))
    }
    fn random(&mut self, low: u64, high: u64) -> u64 {
        self.calls.push(format!("random {low}..={high}"));
        high
    }
    fn add_entry(&mut self, table: TableId, keys: &[Bits], action: u32, args: &[Bits], profile: u8) -> bool {
        self.calls.push(format!("add to {table} {keys:?} {action}({args:?}) timer {profile}"));
        true
    }
    fn set_timer(&mut self, table: TableId, entry: u64, profile: Option<u8>) {
        self.calls.push(format!("timer of {table} {entry} {profile:?}"));
    }
    fn digest(&mut self, digest: DigestId, values: &[Bits]) {
        self.calls.push(format!("{digest} {values:?}"));
    }
    fn log(&mut self, message: &str) {
        self.calls.push(format!("log {message}"));
    }
    fn assert_failed(&mut self, text: &str) {
        self.calls.push(format!("assert {text}"));
    }
    fn call_extern(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits {
        self.calls.push(format!("call {function} of {instance:?} {inputs:?}"));
        Bits::from_u64(16, 0xabcd)
    }
    fn value_set_contains(&mut self, _value_set: ValueSetId, keys: &[Bits]) -> bool {
        keys[0].low_u64() == 7
    }
}

/// Keeps the names of events.
#[derive(Default)]
struct Names {
    names: Vec<String>,
}

impl Tracer for Names {
    fn event(&mut self, _span: Span, event: Event<'_>) {
        let text = format!("{event:?}");
        self.names.push(text.split([' ', '(', '{']).next().unwrap_or("").to_owned());
    }
}

fn program(parser: &str, ingress: &str, deparser: &str) -> Program {
    let exit = if ingress.contains("block l0") { " exit l0" } else { "" };
    let prelude = PRELUDE.replace("v5_colour", "v8");
    let text = format!(
        "{prelude}block0 \"P\" parser start state0 error v1 {{\n{parser}}}\nblock1 \"V\" control {{\n}}\n\
         block2 \"I\" control{exit} {{\n{ingress}}}\nblock3 \"E\" control {{\n}}\nblock4 \"C\" control {{\n}}\n\
         block5 \"D\" control {{\n{deparser}}}\n"
    );
    let program = ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(ir::verify(&program), Ok(()), "{text}");
    program
}

/// Runs parser, ingress and deparser, then shows the variables that are not zero and the headers that are valid.
fn run(program: &Program, packet: &[u8]) -> String {
    let mut host = RecordingHost::default();
    let mut names = Names::default();
    let mut state = PacketState::new(program, packet.to_vec());
    let mut lines = Vec::new();
    for block in [0, 2, 5] {
        let outcome =
            Interpreter::new(program).run_block(BlockId::from_index(block), &mut state, &mut host, &mut names);
        if outcome == Outcome::AssertionFailed {
            lines.push(format!("block{block} ended by an assertion"));
        }
    }
    for (id, var) in program.vars.iter_enumerated() {
        let value = state.var(id);
        if !value.is_zero() && var.name != "local" && var.name != "param" {
            lines.push(format!("{} = {value}", var.name));
        }
    }
    for (id, header) in program.headers.iter_enumerated() {
        if state.header(id).valid {
            let fields: Vec<String> = state.header(id).fields.iter().map(|field| format!("{field:?}")).collect();
            lines.push(format!("{} = {}", header.name, fields.join(" ")));
        }
    }
    lines.extend(host.calls);
    lines.push(format!("cursor {} output {:02x?}", state.cursor, state.output));
    assert!(names.names.len() > 3, "every block is traced");
    lines.join("\n") + "\n"
}

fn check_parser(body: &str, packet: &[u8], expected: Expect) {
    let body = if body.contains("state0") { body.to_owned() } else { format!("state0 \"s\" {{\n{body}\n}}\n") };
    expected.assert_eq(&run(&program(&body, "", ""), packet));
}

fn check(ingress: &str, expected: Expect) {
    expected.assert_eq(&run(&program("state0 \"s\" {\ngoto accept\n}\n", ingress, ""), &[1, 2, 3]));
}

#[test]
fn extraction_is_all_or_nothing() {
    check_parser(
        "extract h0\nextract h2\ngoto accept",
        &[0xab, 0xcd, 0x12, 0x34, 0x56],
        expect![[r#"
        p = 4w0xa 12w0xbcd
        s0 = 4w0x1 12w0x234
        cursor 4 output [56]
    "#]],
    );
    check_parser(
        "extract h0\nextract h2\ngoto accept",
        &[0xab, 0xcd, 0x12],
        expect![[r#"
        parser_error = 0x1
        p = 4w0xa 12w0xbcd
        cursor 2 output [12]
    "#]],
    );
}

#[test]
fn varbit_lengths_are_checked_in_order() {
    let extract = |length: &str| format!("extract h1 varbit {length}\ngoto accept");
    check_parser(
        &extract("32w0x10"),
        &[1, 2, 3, 4, 5],
        expect![[r#"
        o = 8w0x1 16w0x203 8w0x4
        cursor 4 output [05]
    "#]],
    );
    check_parser(
        &extract("32w0x0"),
        &[1, 2],
        expect![[r#"
        o = 8w0x1 0w0x0 8w0x2
        cursor 2 output []
    "#]],
    );
    check_parser(
        &extract("32w0x9"),
        &[1],
        expect![[r#"
        parser_error = 0x6
        cursor 0 output [01]
    "#]],
    );
    check_parser(
        &extract("32w0x28"),
        &[1, 2, 3],
        expect![[r#"
        parser_error = 0x1
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check_parser(
        &extract("32w0x28"),
        &[1, 2, 3, 4, 5, 6, 7],
        expect![[r#"
        parser_error = 0x4
        cursor 0 output [01, 02, 03, 04, 05, 06, 07]
    "#]],
    );
    check_parser(
        &extract("32w0xfffffff8"),
        &[1, 2, 3],
        expect![[r#"
        parser_error = 0x1
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn stacks_fill_up() {
    let text = "state0 \"s\" {\nextract stack0.next\nv2 = (v2 + 8w0x1)\ngoto state0\n}\n";
    check_parser(
        text,
        &[0, 1, 0, 2, 0, 3],
        expect![[r#"
        parser_error = 0x3
        a = 0x2
        next = 0x2
        s0 = 4w0x0 12w0x1
        s1 = 4w0x0 12w0x2
        cursor 4 output [00, 03]
    "#]],
    );
    check_parser(
        text,
        &[0, 1, 0],
        expect![[r#"
        parser_error = 0x1
        a = 0x1
        next = 0x1
        s0 = 4w0x0 12w0x1
        cursor 2 output [00]
    "#]],
    );
    check_parser(
        "extract stack0[v2]\nextract stack0[8w0x2]\ngoto accept",
        &[0, 1, 0, 2],
        expect![[r#"
        parser_error = 0x3
        s0 = 4w0x0 12w0x1
        cursor 2 output [00, 02]
    "#]],
    );
    check_parser(
        "extract stack0.last\ngoto accept",
        &[0, 1],
        expect![[r#"
        parser_error = 0x3
        cursor 0 output [00, 01]
    "#]],
    );
}

#[test]
fn advance_and_lookahead() {
    check_parser(
        "advance 32w0x8\nlookahead v2 = 4 checked\ngoto accept",
        &[0x11, 0x23, 0x45],
        expect![[r#"
        a = 0x34
        cursor 1 output [23, 45]
    "#]],
    );
    check_parser(
        "lookahead v2 = 4 checked\ngoto accept",
        &[0x11],
        expect![[r#"
        parser_error = 0x1
        cursor 0 output [11]
    "#]],
    );
    check_parser(
        "lookahead v2 = 4 unchecked\ngoto accept",
        &[0x1f],
        expect![[r#"
        a = 0xf0
        cursor 0 output [1f]
    "#]],
    );
    check_parser(
        "advance 32w0x7\ngoto accept",
        &[0x1f],
        expect![[r#"
        parser_error = 0x6
        cursor 0 output [1f]
    "#]],
    );
    check_parser(
        "advance 32w0x10\ngoto accept",
        &[0x1f],
        expect![[r#"
        parser_error = 0x1
        cursor 0 output [1f]
    "#]],
    );
    check_parser(
        "v8 = packet_length\nverify (packet_length > 32w0x3) error 32w0x9\ngoto accept",
        &[1, 2, 3],
        expect![[r#"
            parser_error = 0x9
            ran = 0x3
            cursor 0 output [01, 02, 03]
        "#]],
    );
}

#[test]
fn selects_take_the_first_case_that_matches() {
    let select = |cases: &str| {
        format!(
            "state0 \"s\" {{\nextract h0\nselect (h0.0, int<8>(int<4>(h0.1[3:0]))) {{\n{cases}}}\n}}\n\
             state1 \"t\" {{\nv2 = 8w0x1\ngoto accept\n}}\nstate2 \"u\" {{\nv2 = 8w0x2\ngoto reject\n}}\n"
        )
    };
    let packet = [0xa0, 0x0e];
    check_parser(
        &select("case (4w0xa, 8s0x2): state1\ncase (4w0x2 &&& 4w0x2, any): state2\n"),
        &packet,
        expect![[r#"
        a = 0x2
        p = 4w0xa 12w0xe
        cursor 2 output []
    "#]],
    );
    check_parser(
        &select("case (any, 8s0xfd .. 8s0x1): state1\ncase (any, any): state2\n"),
        &packet,
        expect![[r#"
        a = 0x1
        p = 4w0xa 12w0xe
        cursor 2 output []
    "#]],
    );
    check_parser(
        &select("case (4w0xb, any): state1\n"),
        &packet,
        expect![[r#"
        parser_error = 0x2
        p = 4w0xa 12w0xe
        cursor 2 output []
    "#]],
    );
    check_parser(
        "state0 \"s\" {\nlookahead v2 = 0 checked\nselect (v2) {\ncase (vset0): state1\n}\n}\nstate1 \"t\" {\nv5 = true\ngoto accept\n}\n",
        &[7],
        expect![[r#"
            a = 0x7
            flag = 0x1
            cursor 0 output [07]
        "#]],
    );
}

#[test]
fn a_parser_that_loops_forever_is_stopped() {
    check_parser(
        "state0 \"s\" {\nv8 = (v8 + 32w0x1)\ngoto state0\n}\n",
        &[],
        expect![[r#"
        parser_error = 0x5
        ran = 0x1000
        cursor 0 output []
    "#]],
    );
}

#[test]
fn invalid_headers_read_as_zero_and_ignore_writes() {
    check(
        "h0.0 = 4w0x5\nv2 = bit<8>(h0.0)\nset_valid h0\nh0.1 = 12w0xabc\nset_valid h0\n",
        expect![[r#"
        p = 4w0x0 12w0xabc
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "set_valid h0\nh0.1 = 12w0xabc\nset_invalid h0\nv8 = bit<32>(h0.1)\nset_valid h0\n",
        expect![[r#"
        p = 4w0x0 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "set_valid h2\nh2.0 = 4w0x3\ncopy h0 = h2\ncopy stack0[1w0x1] = h3\nv5 = valid(h0)\n",
        expect![[r#"
        flag = 0x1
        p = 4w0x3 12w0x0
        s0 = 4w0x3 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "set_valid stack0[8w0x2]\nstack0[72w0x10000000000000000].0 = 4w0x1\ncopy h0 = stack0[8w0x9]\n",
        expect![[r#"
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn stacks_move() {
    let fill = "set_valid h2\nh2.0 = 4w0x1\nset_valid h3\nh3.0 = 4w0x2\nv4 = 32w0x1\n";
    check(
        &format!("{fill}push_front stack0 1\n"),
        expect![[r#"
        next = 0x2
        s1 = 4w0x1 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        &format!("{fill}pop_front stack0 1\n"),
        expect![[r#"
        s0 = 4w0x2 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        &format!("{fill}push_front stack0 9\n"),
        expect![[r#"
        next = 0x2
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        &format!("{fill}pop_front stack0 9\n"),
        expect![[r#"
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        &format!("{fill}v2 = bit<8>(stack0.last.0)\nv4 = 32w0x0\nv5 = valid(stack0.last)\n"),
        expect![[r#"
        a = 0x1
        s0 = 4w0x1 12w0x0
        s1 = 4w0x2 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn slices_are_written_in_place() {
    check(
        "v6[71:64] = 8w0xab\nv6[3:0] = 4w0xc\nv6[71:64][3:0] = 4w0xd\n",
        expect![[r#"
        wide = 0xad000000000000000c
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn switches_blocks_and_leaves() {
    check(
        "v2 = 8w0x3\nswitch v2 {\ncase 8w0x1 {\nv5 = true\n}\ncase 8w0x2, 8w0x3 {\nblock l1 {\nblock l2 {\nleave l1\n}\nv8 = 32w0x1\n}\nv3 = 8s0x1\n}\ndefault {\nv5 = true\n}\n}\n",
        expect![[r#"
            a = 0x3
            b = 0x1
            cursor 0 output [01, 02, 03]
        "#]],
    );
}

/// Two nested loops that never end by themselves: each makes 65,536 iterations in all.
#[test]
fn loops_are_bounded_over_the_whole_run() {
    check(
        "loop l1 {\nv6 = (v6 + 72w0x1)\nloop l2 {\nv8 = (v8 + 32w0x1)\n}\n}\nv5 = true\n",
        expect![[r#"
        flag = 0x1
        wide = 0x10000
        ran = 0x10000
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn tables_count_meter_and_run_their_action() {
    check(
        "block l0 {\nv2 = 8w0x4\napply table0 hit v5 action v8\nv3 = 8s0x7\n}\nv6 = 72w0x1\n",
        expect![[r#"
        a = 0x8
        b = 0x7
        flag = 0x1
        wide = 0x1
        lookup table0 [8w0x4]
        count dcounter0 4
        meter dmeter0 4
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "block l0 {\nv2 = 8w0x5\napply table0 hit v5 action v8\nv3 = 8s0x7\n}\nv6 = 72w0x1\n",
        expect![[r#"
        a = 0xee
        wide = 0x1
        ran = 0x1
        lookup table0 [8w0x5]
        count dcounter0 8
        meter dmeter0 8
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn arrays_out_of_range_change_nothing() {
    check(
        "read v2 = register0[1w0x1]\nexecute v8 = meter0[v8]\nwrite register0[8w0x7] = v2\ncount counter0[v2]\n",
        expect![[r#"
            a = 0x41
            ran = 0x1
            register0[0x7] = 0x41
            count counter0[0x41]
            cursor 0 output [01, 02, 03]
        "#]],
    );
    check(
        "v2 = 8w0x9\nread v2 = register0[v2]\nv8 = 32w0x5\nexecute v8 = meter0[v8]\n",
        expect![[r#"
        a = 0x9
        ran = 0x5
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn hashes_leave_out_guarded_inputs_of_invalid_headers() {
    check(
        "set_valid h0\nh0.0 = 4w0xa\nhash v6 = identity(h0.0 if h0, 8w0xff if h2, 4w0xb, v2)\n",
        expect![[r#"
        wide = 0xab00
        p = 4w0xa 12w0x0
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "hash v6 = identity(4w0xb) payload\nhash v8 = xor16()\n",
        expect![[r#"
        wide = 0xb0010203
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check_parser(
        "extract h1 varbit 32w0x10\nhash v6 = identity(varbit h1.1, varbit h4.1, h1.0)\ngoto accept",
        &[1, 2, 3, 4],
        expect![[r#"
            wide = 0x20301
            o = 8w0x1 16w0x203 8w0x4
            cursor 4 output []
        "#]],
    );
}

#[test]
fn random_digest_log_assert() {
    check(
        "random v2 = 8w0x3 .. 8w0x5\nrandom v0 = 9w0x3 .. 9w0x2\ndigest digest0 (v2)\n",
        expect![[r#"
        a = 0x5
        random 3..=5
        digest0 [8w0x5]
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "v3 = 8s0xff\nv2 = 8w0xff\nlog \"{} and {}: {}\" (v3, v2)\n",
        expect![[r#"
        a = 0xff
        b = 0xff
        log -1 and 255: {}
        cursor 0 output [01, 02, 03]
    "#]],
    );
    check(
        "assert true \"never\"\nassert (v2 == 8w0x1) \"a == 1\"\nv2 = 8w0x1\n",
        expect![[r#"
        block2 ended by an assertion
        assert a == 1
        cursor 0 output [01, 02, 03]
    "#]],
    );
}

#[test]
fn the_deparser_emits_valid_headers_and_the_payload() {
    let parser = "state0 \"s\" {\nextract h0\nextract h1 varbit 32w0x8\ngoto accept\n}\n";
    let ingress = "set_invalid h0\nset_valid h3\nh3.1 = 12w0x123\n";
    let program = program(parser, ingress, "emit h1\nemit h0\nemit stack0[1w0x1]\nemit stack0[8w0x7]\n");
    expect![[r#"
        o = 8w0x1 8w0x2 8w0x3
        s1 = 4w0x0 12w0x123
        cursor 5 output [01, 02, 03, 01, 23, ee, ff]
    "#]]
    .assert_eq(&run(&program, &[0xab, 0xcd, 1, 2, 3, 0xee, 0xff]));
}

/// The first decisions of a program with these, for a packet of three bytes, and what `v2` is then.
fn decide(body: &str) -> (Decision, u64) {
    let mut program = program("state0 \"s\" {\ngoto accept\n}\n", "v2 = 8w0x5\n", "");
    let text = format!("{}point0 {{\n{body}}}\n", ir::text::print(&program));
    program = ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut state = PacketState::new(&program, vec![1, 2, 3]);
    let interpreter = Interpreter::new(&program);
    interpreter.run_block(BlockId::from_index(2), &mut state, &mut RecordingHost::default(), &mut interp::NoTrace);
    let decision = interpreter.decide(ir::PointId::from_index(0), &mut state);
    (decision, state.var(VarId::from_index(2)).low_u64())
}

#[test]
fn decisions_end_where_they_are_made() {
    assert_eq!(decide(""), (Decision::GoesOn, 5));
    assert_eq!(decide("v2 = bit<8>(packet_length)\n"), (Decision::GoesOn, 3));
    let nested = "if (v2 == 8w0x5) {\nif (v2 == 8w0x6) {\ndrop egress\n} else {\ndrop ingress\n}\n}\nv2 = 8w0x1\n";
    assert_eq!(decide(nested), (Decision::Drop(ir::DropReason::Ingress), 5));
    assert_eq!(decide("v2 = 8w0x9\nsend v2\n"), (Decision::Send { port: 9, bytes_max: None }, 9));
    assert_eq!(decide("send 9w0x1 limit 8w0x0\n"), (Decision::Send { port: 1, bytes_max: None }, 5));
    assert_eq!(decide("send 9w0x1 limit v2\n"), (Decision::Send { port: 1, bytes_max: Some(4) }, 5));
    assert_eq!(decide("enqueue v2 priority 3w0x7\n"), (Decision::Enqueue { port: 5, priority: 7, keeps: None }, 5));
    assert_eq!(decide("if !(v2 == 8w0x6) {\npunt 20\n}\nsend v2\n"), (Decision::Punt(20), 5));
}

#[test]
fn locals_start_at_zero_in_each_run_and_metadata_does_not() {
    let program = program("state0 \"s\" {\ngoto accept\n}\n", "v7 = (v7 + 8w0x1)\nv2 = (v2 + v7)\n", "");
    let mut state = PacketState::new(&program, Vec::new());
    let mut host = RecordingHost::default();
    for expected in [1, 2, 3] {
        let ingress = BlockId::from_index(2);
        Interpreter::new(&program).run_block(ingress, &mut state, &mut host, &mut interp::NoTrace);
        assert_eq!(state.var(VarId::from_index(2)).low_u64(), expected);
    }
}
