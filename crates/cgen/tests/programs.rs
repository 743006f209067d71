//! Programs that show one thing each: the C that comes out, and what it does to packets.

use crate::support;

use base::limits::HEADROOM_BYTES;
use cgen::{CompileOptions, Optimise, Plan, SourceLine};
use expect_test::expect;
use ir::Program;
use support::{Compiled, check_same, options, program};
use testkit::pipeline::{optimised, program_of_text};
use testkit::plain_host::PlainHost;

/// Width of the wide header: more than the headroom, but not more than headroom and tailroom.
const WIDE_BITS: usize = 8 * (HEADROOM_BYTES + 32);

/// A program around the given declarations and bodies. Header `h0` has a byte, `h1` two, `h2` to `h4` are a stack of
/// bytes, `h5` is wide.
fn small(more: &str, parser: &str, ingress: &str, deparser: &str) -> Program {
    program(&format!(
        "program v1model
errors \"NoError\" \"PacketTooShort\" \"NoMatch\" \"StackOutOfBounds\" \"HeaderTooShort\" \"ParserTimeout\" \"ParserInvalidArgument\"
labels 4
v0 \"standard_metadata.egress_spec\" bit<9> intrinsic 1
v1 \"standard_metadata.parser_error\" bit<32> intrinsic 14
v2 \"hdr.stack.next\" bit<32> metadata
v3 \"meta.number\" bit<16> metadata
v4 \"hit\" bool local
v5 \"ran\" bit<32> local
v6 \"port\" bit<9> local
v7 \"resubmit\" bit<8> intrinsic 20
ht0 \"byte_t\" {{
  \"value\" bit<8>
}}
ht1 \"pair_t\" {{
  \"high\" bit<4>
  \"low\" bit<12>
}}
ht2 \"wide_t\" {{
  \"value\" bit<{WIDE_BITS}>
}}
h0 \"hdr.byte\" ht0 metadata
h1 \"hdr.pair\" ht1 metadata
h2 \"hdr.stack[0]\" ht0 metadata
h3 \"hdr.stack[1]\" ht0 metadata
h4 \"hdr.stack[2]\" ht0 metadata
h5 \"hdr.wide\" ht2 metadata
stack0 \"hdr.stack\" [h2, h3, h4] next v2
{more}
block0 \"P\" parser start state0 error v1 {{
{parser}
}}
block1 \"Verify\" control {{
}}
block2 \"Ingress\" control exit l0 {{
{ingress}
}}
block3 \"Egress\" control {{
}}
block4 \"Compute\" control {{
}}
block5 \"Deparser\" control {{
{deparser}
}}
"
    ))
}

const PARSE_TWO: &str = "state0 \"start\" {
  extract h0
  extract h1
  goto accept
}";

const TABLE: &str = "register0 \"seen\" bit<16> size 4
action0 \"set\" (v6) {
  v0 = v6
}
table0 \"t\" size 16 {
  key \"hdr.byte.value\" exact h0.0
  action action0
  default 0(9w0x1ff)
  entry (exact 8w0x61) priority 0 0(9w0x7)
}";

/// Native code does with these packets what the interpreter does, in bursts and alone.
fn check(program: &Program, packets: &[&[u8]]) {
    let host = PlainHost::new(program, Vec::new(), 1);
    let compiled = Compiled::new(program, &options(Optimise::None));
    let packets: Vec<Vec<u8>> = packets.iter().map(|bytes| bytes.to_vec()).collect();
    for burst in [64, 2, 1] {
        check_same(&format!("bursts of {burst}"), &compiled, &packets, &host, burst);
    }
}

/// The C text of a block, up to the end of its function.
fn function(text: &str, number: u32) -> &str {
    let start = text.find(&format!("WS_EXPORT void ws_block_{number}(")).expect("every block has a function");
    let end = text[start..].find("\n}\n").expect("a function ends") + 3;
    &text[start..start + end]
}

fn c_of(program: &Program) -> String {
    let plan = Plan::new(program).expect("a small program has a plan");
    let source = |span: base::Span| {
        Some(SourceLine { file: "a.p4".into(), line: span.lo, text: format!(" line {} */", span.lo) })
    };
    cgen::emit_c(program, &plan, &source)
}

/// A program that changes the packets that hit an entry of its table.
fn changes_what_hits(table: &str) -> Program {
    let ingress = "block l0 {\n apply table0 hit v4 @5..6\n if (v4) {\n h0.0 = 8w0x62 @6..7\n }\n}";
    small(table, PARSE_TWO, ingress, "emit h0")
}

#[test]
fn a_table_is_looked_up_once_per_burst() {
    let ternary = TABLE.replace("exact h0.0", "ternary h0.0").replace("exact 8w0x61", "ternary 8w0x61 &&& 8w0xff");
    let program = changes_what_hits(&ternary);
    expect![[r#"
        WS_EXPORT void ws_block_2(const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets, uint32_t count)
        {
            uint64_t keys2[64];
            const uint32_t rows2 = count;
            const struct ws_entry *entries[64];
            for (uint32_t i = 0u; i < count; i += 1u) {
                struct ws_packet *const p WS_UNUSED = packets[i];
                struct context *const c WS_UNUSED = (void *)(p + 1u);
                WS_UNUSED uint64_t valid0 = c->valid[0u];
                uint8_t *h0_hdr_byte WS_UNUSED = ws_at(p, c->offset[0u]);
                /* a.p4:5: line 5 * / */
                uint64_t *const row_1 = keys2 + (i * 1u);
                row_1[0u] = (valid0 & 1ull) ? ws_load8(h0_hdr_byte) : 0ull;
            }
    "#]]
    .assert_eq(function(&c_of(&program), 2).split_inclusive("\n    }\n").next().unwrap_or_default());
    check(&program, &[b"abc", b"xyz", b"a", b"", b"aaaa"]);
}

#[test]
fn keys_of_one_word_are_searched_without_a_call() {
    let word = TABLE.replace("exact h0.0", "exact (h0.0 ++ 8w0x7)").replace("exact 8w0x61", "exact 16w0x6107");
    let word = word.replace("size 16", "size 257");
    let program = changes_what_hits(&word);
    expect![[r#"
        WS_EXPORT void ws_block_2(const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets, uint32_t count)
        {
            uint64_t keys2[64];
            const uint32_t rows2 = count;
            const uint32_t far2 = ws_is_far(&env->tables[0u]);
            const uint32_t none2 = ws_default_packed_result(&env->tables[0u], pack0);
            uint32_t packed_results[64];
            for (uint32_t i = 0u; i < count; i += 1u) {
                struct ws_packet *const p WS_UNUSED = packets[i];
                struct context *const c WS_UNUSED = (void *)(p + 1u);
                WS_UNUSED uint64_t valid0 = c->valid[0u];
                uint8_t *h0_hdr_byte WS_UNUSED = ws_at(p, c->offset[0u]);
                /* a.p4:5: line 5 * / */
                uint64_t *const row_1 = keys2 + (i * 1u);
                row_1[0u] = (((valid0 & 1ull) ? ws_load8(h0_hdr_byte) : 0ull) << 8u) | 7ull;
                if (far2) {
                    ws_fetch_word(&env->tables[0u], row_1[0u]);
                }
            }
            if (rows2) {
                env->uses[0u].hits += ws_find_packed_results(&env->tables[0u], keys2, rows2, pack0, packed_results);
                env->uses[0u].lookups += rows2;
            }
            for (uint32_t row = 0u; row < rows2; row += 1u) {
                const uint32_t i WS_UNUSED = row;
                struct ws_packet *const p WS_UNUSED = packets[i];
                struct context *const c WS_UNUSED = (void *)(p + 1u);
                WS_UNUSED uint64_t valid0 = c->valid[0u];
                uint8_t *h0_hdr_byte WS_UNUSED = ws_at(p, c->offset[0u]);
                WS_UNUSED uint64_t v4_hit = 0ull;
                const uint32_t packed_result WS_UNUSED = (packed_results[row] != 0u) ? packed_results[row] : none2;
                /* a.p4:5: line 5 * / */
                v4_hit = (uint64_t)(((packed_result >> 4u) & 1u) ? 1u : 0u);
                if ((packed_result & 15u) == 0u) {
                    /* action set */
                    WS_UNUSED uint64_t v6_port = (uint64_t)((packed_result >> 5u) & 511u);
                    p->intrinsic[1u] = v6_port;
                }
                if (v4_hit) {
                    /* a.p4:6: line 6 * / */
                    if (valid0 & 1ull) {
                        ws_store8(h0_hdr_byte, 98ull);
                    }
                }
            }
    "#]]
    .assert_eq(function(&c_of(&program), 2).split_inclusive("\n    }\n").take(3).collect::<String>().as_str());
    check(&program, &[b"abc", b"xyz", b"a", b"", b"aaaa"]);
}

#[test]
fn narrow_keys_have_their_places() {
    let program = changes_what_hits(TABLE);
    expect![[r#"
        WS_EXPORT void ws_block_2(const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets, uint32_t count)
        {
            uint64_t WS_UNUSED lookups0 = 0ull;
            uint64_t WS_UNUSED hits0 = 0ull;
            for (uint32_t i = 0u; i < count; i += 1u) {
                struct ws_packet *const p WS_UNUSED = packets[i];
                struct context *const c WS_UNUSED = (void *)(p + 1u);
                WS_UNUSED uint64_t valid0 = c->valid[0u];
                uint8_t *h0_hdr_byte WS_UNUSED = ws_at(p, c->offset[0u]);
                WS_UNUSED uint64_t v4_hit = 0ull;
                /* a.p4:5: line 5 * / */
                {
                    WS_UNUSED uint64_t row_2[1];
                    row_2[0u] = (valid0 & 1ull) ? ws_load8(h0_hdr_byte) : 0ull;
                    const uint32_t packed_result_3 = ws_find_narrow_packed_result(&env->tables[0u], row_2[0u], pack0);
                    lookups0 += 1u;
                    hits0 += (packed_result_3 >> 4u) & 1u;
                    v4_hit = (uint64_t)(((packed_result_3 >> 4u) & 1u) ? 1u : 0u);
                    if ((packed_result_3 & 15u) == 0u) {
                        /* action set */
                        WS_UNUSED uint64_t v6_port = (uint64_t)((packed_result_3 >> 5u) & 511u);
                        p->intrinsic[1u] = v6_port;
                    }
                }
                if (v4_hit) {
                    /* a.p4:6: line 6 * / */
                    if (valid0 & 1ull) {
                        ws_store8(h0_hdr_byte, 98ull);
                    }
                }
            }
            env->uses[0u].lookups += lookups0;
            env->uses[0u].hits += hits0;
        }
    "#]]
    .assert_eq(function(&c_of(&program), 2));
    check(&program, &[b"abc", b"xyz", b"a", b"", b"aaaa"]);
}

#[test]
fn the_same_program_gives_the_same_text() {
    let make = || c_of(&small(TABLE, PARSE_TWO, "apply table0", "emit h0"));
    assert_eq!(make(), make());
}

#[test]
fn state_that_two_regions_touch_is_not_batched() {
    let table = TABLE.replace("exact h0.0", "ternary h0.0").replace("exact 8w0x61", "ternary 8w0x61 &&& 8w0xff");
    let count = "write register0[2w0x0] = (v3 + 16w0x1)";
    let once = small(&table, PARSE_TWO, &format!("read v3 = register0[2w0x0]\n{count}\napply table0"), "");
    let twice = small(&table, PARSE_TWO, &format!("read v3 = register0[2w0x0]\napply table0\n{count}"), "");
    assert!(function(&c_of(&once), 2).contains("keys"), "{}", c_of(&once));
    assert!(!function(&c_of(&twice), 2).contains("keys"), "{}", c_of(&twice));
    let packets: [&[u8]; 4] = [b"abc", b"xyz", b"def", b"a--"];
    check(&once, &packets);
    check(&twice, &packets);
}

#[test]
fn state_that_two_blocks_touch_limits_the_burst() {
    let burst_max = |program: &Program| Plan::new(program).expect("a small program has a plan").burst_max;
    let write = "write register0[2w0x0] = v3";
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, write, "")), 64);
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, write, write)), 1);
    // Reading what nothing writes is no touch.
    let read = "read v3 = register0[2w0x0]";
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, read, read)), 64);
    // Messages and failed assertions are reported in the order of the packets.
    let (log, assert) = ("log \"here\"()", "assert (h0.0 == 8w0x61) \"a\"");
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, assert, "")), 64);
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, log, assert)), 1);
    // A packet that takes another pass touches state after those that followed it.
    let again = format!("v7 = 8w0x1\n{write}");
    assert_eq!(burst_max(&small(TABLE, PARSE_TWO, &again, "")), 1);
}

#[test]
fn headers_are_put_on_and_taken_off() {
    let bodies = [
        "set_valid h2\nh2.0 = 8w0x2d",
        "set_invalid h0",
        "set_invalid h1",
        "copy h2 = h0\nset_invalid h0",
        "copy h3 = h0\nh0.0 = 8w0x30\ncopy h2 = h3",
    ];
    for body in bodies {
        for deparser in
            ["emit h0\nemit h2\nemit h3\nemit h1", "emit h2\nemit h0\nemit h0\nemit h1", "emit h1\nemit h0\nemit h1"]
        {
            check(&small("", PARSE_TWO, body, deparser), &[b"abcdef", b"abc", b"a", b""]);
        }
    }
}

/// A program that puts a byte and a copy of the packet's first byte before it.
const TUNNEL: &str = r#"
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers { byte_t outer; byte_t label; byte_t inner; }
struct meta_t { }
parser P(packet_in p, out headers h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.outer); transition accept; }
}
control V(inout headers h, inout meta_t m) { apply { } }
control I(inout headers h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        h.inner = h.outer;
        h.outer.value = 0x30;
        h.label.setValid();
        h.label.value = 0x31;
        s.egress_spec = 1;
    }
}
control E(inout headers h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers h, inout meta_t m) { apply { } }
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// The packet's byte stays where it is, and what is put before it is written there.
#[test]
fn headers_are_written_where_they_will_lie() {
    let program = program_of_text("tunnel.p4", TUNNEL).unwrap();
    let text = c_of(&optimised(&program).unwrap());
    let (_, variants) = text.split_once("switch (valid0) {\n").expect("code for each set of headers");
    let without_comments = variants.lines().filter(|line| !line.contains("/*"));
    let variant: Vec<&str> = without_comments.take_while(|line| !line.contains("break;")).map(str::trim).collect();
    expect![[r#"
        case 1ull:
        {
        WS_UNUSED uint8_t piece_13 = 0u;
        memcpy(&piece_13, h0_h_outer + 0u, 1u);
        memcpy((bytes - 2u) + 0u, &piece_13, 1u);
        h0_h_outer = bytes - 2u;
        valid0 |= 0x8000000000000000ull;
        valid0 |= 4ull;
        ws_store8(h0_h_outer, 48ull);
        h1_h_label = bytes - 1u;
        valid0 |= 0x8000000000000000ull;
        memset(h1_h_label, 0, 1u);
        valid0 |= 2ull;
        ws_store8(h1_h_label, 49ull);
        v1_s_egress_spec = 1ull;
        if (v1_s_egress_spec == 511ull) {
        exceptions += WS_DROPS_INGRESS;
        verdict = WS_DROP_INGRESS;
        goto done0;
        }
        v2_s_egress_port = v1_s_egress_spec;
        v1_s_egress_spec = 0ull;
        if (v1_s_egress_spec == 511ull) {
        exceptions += WS_DROPS_EGRESS;
        verdict = WS_DROP_EGRESS;
        goto done0;
        }
        frame->bytes = bytes - 2u;
        frame->length = frame->length + 2u;
        verdict = (uint32_t)v2_s_egress_port;
        goto done0;"#]]
    .assert_eq(&variant.join("\n"));
}

/// A header whose fields are stored at even and odd bytes before it is summed.
const SUMMED: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t {
    bit<8> a; bit<16> b; bit<8> c; bit<32> d; bit<16> sum; bit<8> e; bit<32> f; bit<24> g; bit<4> h; bit<4> i; bit<8> j;
}
struct headers { h_t h; }
struct meta_t { }
parser P(packet_in p, out headers h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.h); transition accept; }
}
control V(inout headers h, inout meta_t m) { apply { } }
control I(inout headers h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        h.h.b = 16w0x1234;
        h.h.i = h.h.i + 1;
        if (h.h.j == 0x61) { h.h.f = h.h.d; h.h.c = 8w0x7f; }
        h.h.e = h.h.e - 1;
    }
}
control E(inout headers h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers h, inout meta_t m) {
    apply {
        update_checksum(h.h.isValid(), { h.h.a, h.h.b, h.h.c, h.h.d, h.h.e, h.h.f, h.h.g, h.h.h, h.h.i, h.h.j },
            h.h.sum, HashAlgorithm.csum16);
    }
}
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// A load that covers more than one store which the processor still holds would wait for it.
#[test]
fn a_sum_loads_fields_as_they_were_stored() {
    let program = optimised(&program_of_text("summed.p4", SUMMED).unwrap()).unwrap();
    let text = c_of(&program);
    let (_, fast_path) = text.split_once("uint32_t fast_path_burst").expect("a fast path");
    let sums: Vec<&str> = fast_path.lines().filter(|line| line.contains("ws_sum_add(")).map(str::trim).collect();
    expect![[r#"
        native_2 = ws_sum_add(native_2, (ws_load8(h0_h_h) << WS_SUM_FIRST_BYTE) + (ws_load8(h0_h_h + 1u) << WS_SUM_SECOND_BYTE) + (ws_load8(h0_h_h + 2u) << WS_SUM_FIRST_BYTE) + (ws_load8(h0_h_h + 3u) << WS_SUM_SECOND_BYTE) + ws_sum_load32(h0_h_h + 4u));
        native_2 = ws_sum_add(native_2, (ws_load8(h0_h_h + 10u) << WS_SUM_FIRST_BYTE) + (ws_load8(h0_h_h + 10u + 1u) << WS_SUM_SECOND_BYTE) + ws_sum_load16(h0_h_h + 10u + 2u) + (ws_load8(h0_h_h + 10u + 4u) << WS_SUM_FIRST_BYTE) + (ws_load8(h0_h_h + 10u + 5u) << WS_SUM_SECOND_BYTE) + ws_sum_load32(h0_h_h + 10u + 6u));"#]].assert_eq(&sums.join("\n"));
    check(&program, &[b"abcdefghijklmnopqrstu", b"abcdefghijklmnopqrsaa", &[0xff; 21], &[0; 40], b"abc"]);
}

/// An action that changes headers, run by a table that is looked up for the burst and, behind it, by one that is
/// looked up in place.
const AGAIN: &str = r#"
    action put(bit<8> label) {
        h.label.setValid();
        h.label.value = label;
    }
    table by_value {
        key = { h.outer.value : ternary; }
        actions = { put; NoAction; }
        const entries = { 0x61 &&& 0x7f : put(0x62); }
        const default_action = NoAction();
    }
    table by_label {
        key = { h.label.value : exact; }
        actions = { put; NoAction; }
        const entries = { 0x62 : put(0x63); }
        const default_action = NoAction();
    }
    apply {
        by_value.apply();
        by_label.apply();
        s.egress_spec = 1;
    }
"#;

#[test]
fn an_action_runs_again_behind_itself() {
    let (before, rest) = TUNNEL.split_once("    apply {\n        h.inner").expect("a control with statements");
    let (_, after) = rest.split_once("    }\n").expect("the end of the statements");
    let program = program_of_text("again.p4", &format!("{before}{AGAIN}{after}")).unwrap();
    let program = optimised(&program).unwrap();
    let text = c_of(&program);
    assert_eq!(text.matches("switch (valid0)").count(), 1, "code for each set of headers:\n{text}");
    check(&program, &[b"abc", b"xyz", b""]);
}

#[test]
fn headers_that_change_between_emits_are_copied_at_once() {
    let deparser = "emit h0\nh0.0 = 8w0x21\nemit h0\nset_invalid h0\nemit h0\nset_valid h0\nemit h0\nemit h1";
    check(&small("", PARSE_TWO, "", deparser), &[b"abcdef", b""]);
}

#[test]
fn elements_of_stacks_keep_homes_of_their_own() {
    let body = "set_valid h2
h2.0 = 8w0x31
push_front stack0 1
set_valid h2
h2.0 = 8w0x32
push_front stack0 1
set_valid stack0[v3]
stack0[v3].0 = 8w0x33
pop_front stack0 1
set_valid h4
h4.0 = 8w0x34";
    check(&small("", PARSE_TWO, body, "emit h2\nemit h3\nemit h4\nemit h1"), &[b"abcdef", b""]);
}

#[test]
fn so_do_elements_that_have_names() {
    let body = "set_valid h2
h2.0 = 8w0x31
push_front stack0 1
set_valid h2
h2.0 = 8w0x32
push_front stack0 1
copy h2 = h3
h2.0 = 8w0x33
h4.0 = (h4.0 + 8w0x10)
pop_front stack0 1
set_valid h4
h4.0 = 8w0x34";
    for deparser in ["emit h2\nemit h3\nemit h4\nemit h1", "emit h4\nemit h0\nemit h3\nemit h2"] {
        check(&small("", PARSE_TWO, body, deparser), &[b"abcdef", b""]);
    }
    // What was parsed moves as well, and beside what was made.
    let parser = "state0 \"start\" {\n  extract h3\n  extract h2\n  goto accept\n}";
    for moves in
        ["push_front stack0 1", "pop_front stack0 1", "push_front stack0 2\npop_front stack0 1", "pop_front stack0 5"]
    {
        let body = format!("{moves}\nset_valid h2\nset_valid h4\nh2.0 = (h3.0 + 8w0x1)\n{moves}\nh2.0 = 8w0x41");
        check(&small("", parser, &body, "emit h2\nemit h3\nemit h4\nemit h1"), &[b"abcdef", b"a", b""]);
    }
}

#[test]
fn stacks_are_filled_by_parsers() {
    let parser = "state0 \"start\" {
  extract stack0.next
  select (stack0.last.0) {
    case (8w0x20 .. 8w0x40): state0
    case (8w0x61): state1
  }
}
state1 \"end\" {
  extract h1
  goto accept
}";
    check(
        &small("", parser, "h0.0 = 8w0x1", "emit h4\nemit h2\nemit h3\nemit h1"),
        &[b"!!azz", b"!!!!a", b"azz", b"b", b"!", b""],
    );
}

#[test]
fn a_parser_that_never_ends_times_out() {
    check(&small("", "state0 \"start\" {\n goto state0\n}", "", ""), &[b"abc", b""]);
}

#[test]
fn headers_without_headroom_push_the_payload() {
    let body = format!("set_valid h5\nh5.0 = (bit<{WIDE_BITS}>(h1.1) << 12w0x100)");
    check(&small("", PARSE_TWO, &body, "emit h5\nemit h0\nemit h1"), &[b"abcdef", b"abc"]);
}

#[test]
fn what_comparisons_give_is_inverted_without_a_warning() {
    let body = "h0.0 = (bit<8>(~bit<1>((h0.0 == 8w0x61))) | (~bit<8>((h0.0 == 8w0x62)) & 8w0x6))";
    check(&small("", PARSE_TWO, body, "emit h0\nemit h1"), &[b"abcdef", b"bbcdef", b"cbcdef"]);
}

#[test]
fn conditions_of_all_shapes_compile_without_a_warning() {
    for condition in [
        "(8w0x1 >= bit<8>((h0.0 < 8w0x61)))",
        "(h0.0 == 8w0x61) ? bool(h0.0[0:0]) : (h0.0 == 8w0x62)",
        "(h0.0 == 8w0x61) ? (h0.0 < 8w0x62) : bool(h0.0[0:0])",
        "(~bit<32>(h0.0) <= 32w0xff)",
        "(~v2 <= 32w0xff)",
    ] {
        let body = format!("if ({condition}) {{\n h0.0 = 8w0x41\n}} else {{\n h0.0 = 8w0x42\n}}");
        check(&small("", PARSE_TWO, &body, "emit h0\nemit h1"), &[b"abcdef", b"bbcdef", b"cbcdef"]);
    }
}

/// A program whose ingress has three statements for each of `length`, and some more.
fn long_control(length: usize) -> Program {
    let mut ingress = String::from("block l0 {\n");
    for number in 0..length {
        ingress.push_str(&format!(
            "v5 = (v5 + 32w{number:#x})\nif (h0.0 == 8w{:#x}) {{\n v5 = (v5 ^ 32w0x1234567)\n}}\n",
            number % 256
        ));
        match number % 200 {
            20 => ingress.push_str("apply table0 hit v4\nif (v4) {\n v5 = (v5 + 32w0x5)\n}\n"),
            90 => ingress.push_str(&format!("if (h1.0 == 4w{:#x}) {{\n leave l0\n}}\n", number / 200 % 16)),
            91 => ingress.push_str("set_valid h2\nh2.0 = v5[7:0]\n"),
            92 => ingress.push_str("v3 = v5[31:16]\n"),
            _ => {}
        }
    }
    ingress.push_str("h0.0 = v5[15:8]\n}");
    small(TABLE, PARSE_TWO, &ingress, "emit h2\nemit h0\nemit h1")
}

/// Packets that end in several places of such a control.
const FOR_LONG_CONTROL: &[&[u8]] =
    &[b"abcdef", b"a\x01\x02x", b"a\x11\x02x", b"b\x21\x02x", b"c\x31\x02x", b"\x05\xf1\x02x", b"a"];

/// Each part is a function; variables go from one to the next, and packets may end in any.
#[test]
fn a_long_control_is_split_and_means_the_same() {
    let program = long_control(1_200);
    let text = c_of(&program);
    assert!(text.matches("WS_PART uint32_t block_2_part_").count() > 5, "{}", function(&text, 2));
    assert!(function(&text, 2).contains("if (!block_2_part_0(env, packets, i)) {\n            goto next;"));
    assert!(!text.contains("WS_UNITS"));
    check(&program, FOR_LONG_CONTROL);
}

/// The parts of a very long control are in several translation units.
#[test]
fn a_very_long_control_is_compiled_in_units_and_means_the_same() {
    let program = long_control(8_600);
    let text = c_of(&program);
    let units: Vec<&str> = text.split("#if WS_IN_UNIT(").skip(1).collect();
    assert_eq!(units.len(), 3);
    assert!(text.contains("#define WS_UNITS 3\n"));
    let parts = |text: &str| text.matches("block_2_part_").count();
    assert!(units[0].contains("WS_EXPORT void ws_block_2(") && parts(units[1]).abs_diff(parts(units[2])) < 2);
    check(&program, FOR_LONG_CONTROL);
    // The text is a program by itself, too.
    let whole = text.replace("#define WS_UNITS 3\n", "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = CompileOptions {
        cache_dir: Some(folder.path().to_owned()),
        optimise: Optimise::None,
        ..CompileOptions::default()
    };
    cgen::compile(&whole, &options).expect("valid C");
}

/// Functions for wide values are called where expanding all of them would take the C compiler minutes.
#[test]
fn many_operations_on_wide_values_are_called_and_mean_the_same() {
    let body = |count: usize| {
        let mut body = String::from("set_valid h5\n");
        body.push_str(&format!("h5.0 = (bit<{WIDE_BITS}>(h1.1) << 12w0x100)\n"));
        for number in 0..count {
            let operation = ["+ (h5.0 << 8w0x7)", "^ (h5.0 >> 8w0x3)", "* h5.0", "- (h5.0 << 8w0x41)"][number % 4];
            body.push_str(&format!("h5.0 = (h5.0 {operation})\n"));
        }
        body
    };
    let wide = |count| small("", PARSE_TWO, &body(count), "emit h5\nemit h0\nemit h1");
    assert!(!c_of(&wide(4)).contains("#define WS_COMPACT"));
    let program = wide(16);
    assert!(c_of(&program).contains("#define WS_COMPACT"));
    assert!(!c_of(&program).contains("WS_CALLING"));
    assert!(c_of(&wide(400)).contains("WS_CALLING WS_EXPORT void ws_block_2("));
    check(&program, &[b"abcdef", b"abc", b"\xff\xff\xff"]);
}

/// The prefetches of a block's code.
fn fetches(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.starts_with("ws_fetch")).collect()
}

#[test]
fn the_cell_of_a_large_array_is_fetched_when_its_index_is_known() {
    let arrays =
        |size: &str| format!("counter0 \"seen\" packets_and_bytes size {size}\nmeter0 \"rate\" bytes size {size}");
    let ingress = "block l0 {
 v5 = (24w0x0 ++ h0.0) @5..6
 count counter0[v5]
 execute v6 = meter0[v5] @6..7
}";
    let text = |size: &str| c_of(&small(&arrays(size), PARSE_TWO, ingress, "emit h0"));
    assert_eq!(
        fetches(function(&text("65536"), 2)),
        ["ws_fetch_count(&env->counters[0u].cells[v5_ran]);", "ws_fetch_meter(&env->meters[0u], v5_ran);"]
    );
    assert!(fetches(function(&text("16"), 2)).is_empty());
}
