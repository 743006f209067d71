//! Shards of one switch on several threads: their counts are exact, and state that must be guarded is recognised.

use base::{Bits, FieldMatch};
use cgen::{Plan, Sharing};
use expect_test::expect;
use ir::v1model::Slot;
use ir::{MeterId, RegisterId};
use passes::specialise::{Contents, specialise};
use std::path::Path;
use std::sync::Arc;
use stf::observation::Order;
use switch::externs::CounterCell;
use switch::meter::MeterConfig;
use switch::{NotShardable, Output, Shard, Switch};
use tables::{EntrySpec, Handle, Operation, Update};
use testkit::corpus::Way;
use testkit::differential::BuildFolder;
use testkit::differential::scenario::{Scenario, Workers};
use testkit::pipeline::{Engine, program_of_text, switch_for};
use testkit::random_ir::{Options, random_program};

/// A program whose ingress has these declarations and statements. Its header has two bytes: `to`, a port, and `note`.
fn program(declarations: &str, statements: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header note_t {{ bit<8> to; bit<8> note; }}
struct headers {{ note_t note; }}
struct meta_t {{ bit<32> kept; }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.note); transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ sm.egress_spec = (bit<9>)hdr.note.to; {statements} }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.note); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// Shows the state for which workers run a program exclusively and the reason, the guarded registers, and those that
/// are sums. The unoptimised and the optimised program must agree.
#[track_caller]
fn check(declarations: &str, statements: &str, expected: expect_test::Expect) {
    let program = program_of_text("shards.p4", &program(declarations, statements)).unwrap();
    let optimised = testkit::pipeline::optimised(&program).unwrap();
    let describe = |program: ir::Program| {
        let sharing = Sharing::of(&program);
        let names = |ids: &base::OrderedSet<RegisterId>| -> Vec<&str> {
            ids.iter().map(|id| program.registers[*id].name.as_str()).collect()
        };
        let time = if sharing.time.is_some() { ", in time" } else { "" };
        let (guarded, sums) = (names(&sharing.guarded), names(&sharing.sums));
        format!("turns {:?} {:?}, guarded {guarded:?}{time}, sums {sums:?}", sharing.turns, sharing.why_turns)
    };
    let (written, optimised) = (describe(program), describe(optimised));
    assert_eq!(written, optimised);
    expected.assert_eq(&written);
}

const REGISTER: &str = "register<bit<32>>(8) r;";

#[test]
fn a_register_that_is_only_added_to_is_a_sum() {
    let sum = |statements| check(REGISTER, statements, expect![[r#"turns {} None, guarded [], sums ["I.r"]"#]]);
    sum("bit<32> x; r.read(x, (bit<32>)hdr.note.note); x = x + 1; r.write((bit<32>)hdr.note.note, x);");
    sum("bit<32> x; r.read(x, 3); r.write(3, (bit<32>)hdr.note.note + x);");
    sum("bit<32> x; r.read(x, 3); r.write(3, x - 7);");
}

#[test]
fn special_code_has_the_guard_for_what_general_code_writes() {
    let declarations = "register<bit<32>>(1) a; register<bit<32>>(1) b;
        action put() { a.write(0, (bit<32>)hdr.note.note); b.write(0, (bit<32>)hdr.note.note); }
        table t { key = { hdr.note.to: exact; } actions = { put; NoAction; } default_action = NoAction(); }";
    let statements = "t.apply(); bit<32> x; bit<32> y; a.read(x, 0); b.read(y, 0); hdr.note.note = (bit<8>)(x ^ y);";
    let general = program_of_text("shards.p4", &program(declarations, statements)).unwrap();
    let general = testkit::pipeline::optimised(&general).unwrap();
    let plan = Plan::new(&general).unwrap();
    // The table is empty: the specialised program writes to no register.
    let empty = |table: &ir::Table| Contents { entries: Vec::new(), default: table.default_action.clone() };
    let special = specialise(&general, &general.tables.iter().map(|table| Some(empty(table))).collect()).unwrap();
    let special_plan = Plan::specialised(&special.program, &general, &plan).unwrap();
    for (program, plan) in [(&general, &plan), (&special.program, &special_plan)] {
        let text = cgen::emit_c(program, plan, &|_| None);
        assert!(text.contains("ws_enter("), "{text}");
    }
}

#[test]
fn a_register_that_can_be_seen_is_guarded() {
    let guarded = |statements| check(REGISTER, statements, expect![[r#"turns {} None, guarded ["I.r"], sums []"#]]);
    // The packet carries the value away.
    guarded("bit<32> x; r.read(x, 0); x = x + 1; r.write(0, x); hdr.note.note = (bit<8>)x;");
    // A different cell is written.
    guarded("bit<32> x; r.read(x, 0); x = x + 1; r.write(1, x);");
    // For other operations the order is observable.
    guarded("bit<32> x; r.read(x, 0); r.write(0, x |+| 1);");
    guarded("bit<32> x; r.read(x, 0); r.write(0, x + x);");
    guarded("bit<32> x; r.read(x, 0); r.write(0, 1 - x);");
    // One such use is enough.
    guarded("bit<32> x; r.read(x, 0); r.write(0, x + 1); r.write(5, 5);");
    // The value that was read is also used elsewhere.
    guarded("r.read(meta.kept, 0); r.write(0, meta.kept + 1); if (meta.kept == 3) { sm.egress_spec = 9; }");
}

#[test]
fn a_register_that_is_only_read_needs_nothing() {
    check(
        REGISTER,
        "bit<32> x; r.read(x, 0); hdr.note.note = (bit<8>)x;",
        expect!["turns {} None, guarded [], sums []"],
    );
}

#[test]
fn a_guard_around_a_part_is_enough_where_packets_go_through_it_once() {
    let toggle = "bit<32> x; r.read(x, 0); r.write(0, 1 - x); hdr.note.note = (bit<8>)x;";
    // The time must then be monotonic.
    check(
        REGISTER,
        &format!("{toggle} meta.kept = (bit<32>)sm.ingress_global_timestamp; r.write(1, meta.kept);"),
        expect![[r#"turns {} None, guarded ["I.r"], in time, sums []"#]],
    );
    // Copies of a packet may be processed by another shard, except those that come back.
    check(
        REGISTER,
        &format!("{toggle} clone(CloneType.I2E, 1);"),
        expect![[r#"turns {} None, guarded ["I.r"], sums []"#]],
    );
    check(
        REGISTER,
        &format!("{toggle} resubmit_preserving_field_list(1);"),
        expect![[r#"turns {"register I.r"} Some(Serialised), guarded [], sums []"#]],
    );
    check(REGISTER, &format!("{toggle} sm.mcast_grp = 1;"), expect![[r#"turns {} None, guarded ["I.r"], sums []"#]]);
}

#[test]
fn meters_of_entries_have_turns_and_other_meters_random_numbers_and_counters_have_nothing() {
    check(METERING.0, METERING.1, expect![[r#"turns {"meter I.m"} Some(State), guarded [], sums []"#]]);
    check(
        "meter(4, MeterType.packets) m;",
        "m.execute_meter<bit<8>>(0, hdr.note.note);",
        expect!["turns {} None, guarded [], sums []"],
    );
    check("", "random<bit<8>>(hdr.note.note, 0, 9);", expect!["turns {} None, guarded [], sums []"]);
    check(
        "counter(4, CounterType.packets) c;",
        "c.count((bit<32>)hdr.note.note);",
        expect!["turns {} None, guarded [], sums []"],
    );
}

fn native(source: &str) -> Switch {
    let program = Arc::new(program_of_text("shards.p4", source).unwrap());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let way = Way::ALL.into_iter().find(|way| matches!(way.engine(&cache), Engine::Native(_))).unwrap();
    switch_for(&program, &way.engine(&cache)).unwrap()
}

/// Counts what is sent.
#[derive(Default)]
struct Sent(u64);

impl Output for Sent {
    fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {
        self.0 += 1;
    }
}

const COUNTING: (&str, &str) = (
    "register<bit<32>>(8) r; register<bit<48>>(8) bytes; counter(8, CounterType.packets_and_bytes) c;
     direct_counter(CounterType.packets) per_entry;
     action go(bit<9> port) { sm.egress_spec = port; per_entry.count(); }
     table t { key = { hdr.note.note: exact; } actions = { go; NoAction; } counters = per_entry; size = 16; }",
    "bit<32> x; r.read(x, (bit<32>)hdr.note.note); x = x + 1; r.write((bit<32>)hdr.note.note, x);
     bit<48> y; bytes.read(y, 1); bytes.write(1, y + (bit<48>)sm.packet_length);
     c.count((bit<32>)hdr.note.note); t.apply();",
);

/// Each packet is marked by the meter of its entry.
const METERING: (&str, &str) = (
    "direct_meter<bit<8>>(MeterType.packets) m;
     action mark() { m.read(hdr.note.note); }
     table t { key = { hdr.note.note: exact; } actions = { mark; NoAction; } meters = m; }",
    "t.apply();",
);

/// Each core processes `packets` packets on a thread of its own. The shards are parked afterwards.
fn forward(switch: &mut Switch, mut shards: Vec<Shard>, packets: usize) {
    let frames = |number: usize| [1, (number % 4) as u8, 0, 0];
    std::thread::scope(|scope| {
        for shard in &mut shards {
            scope.spawn(move || {
                let mut sent = Sent::default();
                for number in 0..packets {
                    if shard.receive(0, 1, &frames(number)) {
                        shard.run(0, &mut sent);
                    }
                }
                shard.run(0, &mut sent);
                assert_eq!(sent.0, packets as u64);
            });
        }
        let mut sent = Sent::default();
        for number in 0..packets {
            switch.receive(0, 1, &frames(number));
            switch.run(0, &mut sent);
        }
    });
    switch.quiesce(shards);
}

fn route(note: u64) -> Update {
    let key = vec![FieldMatch::Exact(Bits::from_u64(8, note))];
    let args = vec![Bits::from_u64(9, 2)];
    Update { table: 0, operation: Operation::Insert(EntrySpec { key, priority: 0, action: 0, args }) }
}

#[test]
fn counts_of_shards_are_exact() {
    let mut switch = native(&program(COUNTING.0, COUNTING.1));
    switch.tables().apply(vec![route(2)]).unwrap();
    let shards = switch.resume_shards(3);
    assert_eq!(shards.len(), 3);
    forward(&mut switch, shards, 1000);
    let register = |switch: &mut Switch, id: usize, cell| {
        switch.externs_mut().registers[base::index::Id::from_index(id)].read(cell).unwrap().to_u64().unwrap()
    };
    assert_eq!(register(&mut switch, 0, 3), 1000);
    assert_eq!(register(&mut switch, 1, 1), 4 * 4 * 1000);
    let cell = |packets| CounterCell { packets, bytes: 4 * packets };
    let externs = switch.externs_mut();
    assert_eq!(externs.counters.iter().next().unwrap()[..4], [cell(1000); 4]);
    assert_eq!(externs.direct_counters.iter().next().unwrap()[0].packets, 1000);
    let uses = externs.table_uses.iter().next().unwrap();
    assert_eq!((uses.lookups, uses.hits), (4000, 1000));
    assert_eq!((switch.stats().received, switch.stats().sent), (4000, 4000));
    // Shards add to the value that the control plane writes now.
    let zero: RegisterId = base::index::Id::from_index(0);
    switch.externs_mut().registers[zero].write(3, &Bits::from_u64(32, 5));
    let shards = switch.resume_shards(1);
    forward(&mut switch, shards, 4);
    assert_eq!(register(&mut switch, 0, 3), 7);
}

/// An array that replaces another does so in all shards, whether it is guarded there or a sum.
#[test]
fn an_array_is_replaced_in_every_lane() {
    let declarations = "register<bit<32>>(8) sum; register<bit<8>>(8) seen;";
    let statements = "bit<32> x; sum.read(x, 0); sum.write(0, x + 1);
        bit<8> y; seen.read(y, 0); hdr.note.note = y; seen.write(0, y + 1);";
    let mut switch = native(&program(declarations, statements));
    let shards = switch.resume_shards(2);
    forward(&mut switch, shards, 10);
    for round in 1..3 {
        for (id, width) in [(0, 32), (1, 8)] {
            let id: RegisterId = base::index::Id::from_index(id);
            let mut fresh = switch::externs::RegisterArray::filled(width, 8, &Bits::from_u64(width, 100));
            let cells = &mut switch.externs_mut().registers[id];
            assert_eq!(cells.read(0).unwrap().to_u64(), Some(if round == 1 { 30 } else { 130 }));
            std::mem::swap(cells, &mut fresh);
        }
        let shards = switch.resume_shards(2);
        forward(&mut switch, shards, 10);
    }
}

#[test]
fn a_new_entry_finds_its_cells_fresh_in_every_lane() {
    let mut switch = native(&program(COUNTING.0, COUNTING.1));
    switch.tables().apply(vec![route(2)]).unwrap();
    let shards = switch.resume_shards(2);
    forward(&mut switch, shards, 40);
    // The shards resume with their own counts, and do not run before the entry's place belongs to another entry.
    let shards = switch.resume_shards(2);
    let deletion = Update { table: 0, operation: Operation::Delete { handle: Handle(0) } };
    switch.tables().apply(vec![deletion]).unwrap();
    switch.tables().apply(vec![route(3)]).unwrap();
    switch.quiesce(shards);
    assert_eq!(switch.externs_mut().direct_counters.iter().next().unwrap()[0].packets, 0);
    let shards = switch.resume_shards(2);
    forward(&mut switch, shards, 40);
    assert_eq!(switch.externs_mut().direct_counters.iter().next().unwrap()[0].packets, 30);
}

#[test]
fn a_meter_holds_all_lanes_together_to_its_rates() {
    let meter = "m.execute_meter<bit<8>>((bit<32>)hdr.note.note, hdr.note.note);";
    let mut switch = native(&program("meter(4, MeterType.packets) m;", meter));
    let id: MeterId = base::index::Id::from_index(0);
    let config = MeterConfig {
        committed_rate_milliunits_per_s: 0,
        committed_burst: 500,
        peak_rate_milliunits_per_s: 0,
        peak_burst: 1500,
    };
    let marked = |switch: &mut Switch, cell| {
        switch.externs_mut().meters[id].cell(cell).unwrap().counts().map(|count| count.packets)
    };
    switch.externs_mut().meters[id].cell(1).unwrap().configure(config, 0);
    let shards = switch.resume_shards(2);
    assert_eq!(shards.len(), 2);
    // A quarter of the packets meets each cell.
    forward(&mut switch, shards, 4000);
    assert_eq!((marked(&mut switch, 1), marked(&mut switch, 2)), ([500, 1000, 1500], [3000, 0, 0]));
    // All lanes meet what the control plane sets, and one lane goes on with what all of them have left.
    switch.externs_mut().meters[id].cell(2).unwrap().configure(config, 0);
    let shards = switch.resume_shards(1);
    forward(&mut switch, shards, 400);
    assert_eq!((marked(&mut switch, 1), marked(&mut switch, 2)), ([500, 1000, 1700], [3200, 0, 0]));
    let shards = switch.resume_shards(0);
    forward(&mut switch, shards, 1600);
    assert_eq!(marked(&mut switch, 2), [3500, 100, 0]);
    // A cell without rates counts the packets of all lanes, and of one alone, with their bytes.
    assert_eq!(marked(&mut switch, 3), [3600, 0, 0]);
    let [green, ..] = switch.externs_mut().meters[id].cell(3).unwrap().counts();
    assert_eq!((green.packets, green.bytes), (3600, 3600 * 4));
}

#[test]
fn a_switch_with_rates_or_meters_of_entries_has_no_lanes() {
    let mut switch = native(&program(COUNTING.0, COUNTING.1));
    let shards = switch.resume_shards(2);
    forward(&mut switch, shards, 8);
    switch.set_queues(Some(2), None, |queue| queue.packets_per_s = 1000).unwrap();
    assert_eq!(switch.divides(), Err(NotShardable::Rates));
    assert!(switch.resume_shards(2).is_empty());
    // Their counts have been collected here.
    assert_eq!(switch.externs_mut().counters.iter().next().unwrap()[0].packets, 6);
    let mut switch = native(&program(METERING.0, METERING.1));
    assert_eq!(switch.divides(), Err(NotShardable::State(vec!["meter I.m".to_owned()])));
    assert!(switch.resume_shards(1).is_empty());
}

/// Removes everything that must be guarded from a program. Variables that are then no longer assigned keep their
/// values.
fn without_guarded_state(program: &mut ir::Program) {
    fn strip(body: &mut Vec<ir::Stmt>, buffers: &[ir::VarId]) {
        use ir::StmtKind::{ExecuteDirectMeter, ExecuteMeter, Random, RegisterRead, RegisterWrite};
        body.retain(|stmt| {
            let kind = &stmt.kind;
            !matches!(kind, RegisterRead { .. } | RegisterWrite { .. } | ExecuteMeter { .. })
                && !matches!(kind, ExecuteDirectMeter { .. } | Random { .. })
                && !matches!(kind.dst(), Some(ir::Place::Var(var)) if buffers.contains(var))
        });
        body.iter_mut().flat_map(|stmt| stmt.kind.bodies_mut()).for_each(|body| strip(body, buffers));
    }
    let requests = [Slot::Gather, Slot::Release].map(|slot| ir::VarKind::Intrinsic(slot as u32));
    let buffers = program.vars.iter_enumerated().filter(|(_, var)| requests.contains(&var.kind));
    let buffers: Vec<ir::VarId> = buffers.map(|(id, _)| id).collect();
    program.tables.iter_mut().for_each(|table| table.direct_meter = None);
    ir::walk::bodies_mut(program).into_iter().for_each(|body| strip(body, &buffers));
}

#[test]
fn random_programs_do_the_same_on_several_cores() {
    for seed in 0..36 {
        let mut rng = base::Rng::new(seed);
        let options = Options { statements: 2 + seed as u32 % 24, requests: seed % 2 == 1, ..Options::default() };
        let mut program = random_program(&mut rng, &options);
        without_guarded_state(&mut program);
        let sharing = Sharing::of(&program);
        assert_eq!((sharing.turns.len(), sharing.guarded.len()), (0, 0));
        let scenario = Scenario::of(&mut rng, program, options.requests);
        let folder = BuildFolder::new(false).unwrap();
        let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1).unwrap();
        for (workers, burst, order) in [(Workers::InTurn, 1, Order::Same), (Workers::AtOnce, 7, Order::Any)] {
            let engine = folder.engine();
            let different =
                scenario.difference_by_workers(&expected, &scenario.program, &engine, burst, workers, order);
            assert_eq!(different, Ok(None), "seed {seed}, {workers:?}\n{}", ir::text::print(&scenario.program));
        }
    }
}
