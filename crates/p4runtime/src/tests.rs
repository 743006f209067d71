//! Updates as text, and their result in the control plane: as they would be read back, or why they are refused.

use crate::from_proto;
use crate::ports::Ports;
use crate::query;
use crate::schema::Schema;
use crate::to_proto::{Asked, Encoder, NumberedPorts};
use crate::write;
use expect_test::{Expect, expect};
use p4runtime_proto::p4::config::v1::{self as v1_config, P4Info};
use p4runtime_proto::p4::v1;
use p4runtime_proto::text;
use prost::Message as _;
use prost::bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use switch::CpuPort;
use syntax::{MemoryFiles, SourceMap};

/// Something of each kind.
const PROGRAM: &str = r#"
#include <v1model.p4>
@p4runtime_translation("example/name", string) type bit<16> name_t;
@p4runtime_translation("example/wide", 32) type bit<9> wide_t;
struct cell_t { bit<4> a; bool b; bit<12> c; }
header stored_t { bit<4> a; bit<12> b; }
header options_t { bit<8> a; varbit<24> b; }
enum bit<3> colour_t { RED = 1, BLUE = 6 }
struct record_t { bit<4> a; wide_t wide; name_t name; colour_t colour; bool b; bit<7> last; }
struct none_t { }
struct meta_t { bit<8> a; bit<12> b; bit<16> c; bit<9> d; name_t name; wide_t wide; }
parser P(packet_in p, out none_t h, inout meta_t m, inout standard_metadata_t s) {
    value_set<bit<8>>(2) set;
    state start { transition select(m.a) { set: accept; default: accept; } }
}
control V(inout none_t h, inout meta_t m) { apply { } }
control I(inout none_t h, inout meta_t m, inout standard_metadata_t s) {
    counter(4, CounterType.packets) counted;
    meter(4, MeterType.bytes) metered;
    register<bit<12>>(4) remembered;
    register<stored_t[2]>(2) stored;
    register<options_t>(2) options;
    register<record_t>(2) records;
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<8>>(MeterType.packets) rate;
    action send(bit<9> port, name_t name) { s.egress_spec = port; }
    action drop() { mark_to_drop(s); }
    action coloured() { rate.read(m.a); }
    table exact_table { key = { m.a: exact; m.wide: exact; } actions = { send; drop; @defaultonly NoAction; } counters = hits; }
    table lpm_table { key = { m.c: lpm; } actions = { coloured; NoAction; } meters = rate; }
    table ternary_table { key = { m.b: ternary; m.c: range; m.d: optional; m.name: exact; } actions = { drop; } }
    table empty_table { actions = { drop; } }
    action_selector(HashAlgorithm.crc16, 16, 8) hops;
    table group_table { key = { m.a: exact; } actions = { send; drop; } implementation = hops; }
    apply {
        exact_table.apply(); lpm_table.apply(); ternary_table.apply(); group_table.apply(); empty_table.apply();
        counted.count(0);
        metered.execute_meter(0, m.a);
        remembered.write(0, m.b);
        digest<cell_t>(1, { m.a[3:0], m.a == 0, m.b });
    }
}
control E(inout none_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout none_t h, inout meta_t m) { apply { } }
control D(packet_out p, in none_t h) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

pub(crate) fn schema() -> Schema {
    schema_with(|_| ())
}

/// The program with numbers in the place of names.
fn schema_without_names() -> Schema {
    let program = PROGRAM.replace("@p4runtime_translation(\"example/name\", string)", "");
    schema_of(&program, |_| ())
}

/// The program under a P4Info that was changed.
fn schema_with(change: impl FnOnce(&mut P4Info)) -> Schema {
    schema_of(PROGRAM, change)
}

fn schema_of(program: &str, change: impl FnOnce(&mut P4Info)) -> Schema {
    let path = Path::new("test.p4");
    let files = MemoryFiles::new().with(path, program);
    let mut map = SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_program(&mut map, path, &syntax::Options::new(&files));
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics).unwrap();
    let info = p4info::generate(&typed, &program, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", syntax::render_all(&map, &diagnostics, false));
    let ports = Ports::new([(1, "eth1".to_owned()), (2, "eth2".to_owned())], CpuPort::default());
    let mut info = info.unwrap();
    change(&mut info);
    Schema::new(info, Arc::new(program), ports).unwrap()
}

/// Names and ids of all objects, longest name first.
fn named(schema: &Schema) -> Vec<(String, u32)> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let mut named: Vec<(String, u32)> = schema.model.objects().map(|(id, it)| (last(it.name()), id)).collect();
    named.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    named
}

fn with_ids(schema: &Schema, text: &str) -> String {
    named(schema).iter().fold(text.to_owned(), |text, (name, id)| text.replace(&format!("${name}"), &id.to_string()))
}

fn without_ids(schema: &Schema, text: &str) -> String {
    named(schema).iter().fold(text.to_owned(), |text, (name, id)| text.replace(&id.to_string(), name))
}

/// Updates without their type, each with its outcome.
fn check(kind: &str, updates: &[&str], expect: Expect) {
    check_with(&schema(), kind, updates, expect);
}

fn check_with(schema: &Schema, kind: &str, updates: &[&str], expect: Expect) {
    let numbered = NumberedPorts::default();
    let encoder = Encoder { schema, numbered: &numbered, asked: Asked::default() };
    let mut shown = String::new();
    for update in updates {
        let written = with_ids(schema, &format!("type: {kind} entity {{ {update} }}"));
        let update: v1::Update = text::from_text("p4.v1.Update", &written).unwrap_or_else(|error| panic!("{error}"));
        let line = match from_proto::update(schema, &update) {
            Err(fault) => format!("{:?}: {fault}\n", fault.code),
            Ok(None) => "nothing\n".to_owned(),
            Ok(Some(read)) => {
                let entity = encoder.entity(&read.entity).unwrap();
                without_ids(schema, &text::to_text("p4.v1.Entity", &entity))
            }
        };
        shown.push_str(&line);
    }
    expect.assert_eq(&shown);
}

/// An entry of the table with two exact keys.
fn exact(rest: &str) -> String {
    format!(
        r#"table_entry {{ table_id: $exact_table match {{ field_id: 1 exact {{ value: "\001" }} }}
           match {{ field_id: 2 exact {{ value: "\000\002" }} }} {rest} }}"#
    )
}

/// An entry of the table with keys of all other kinds.
fn ternary(rest: &str) -> String {
    format!(
        r#"table_entry {{ table_id: $ternary_table match {{ field_id: 4 exact {{ value: "red" }} }}
           action {{ action {{ action_id: $drop }} }} {rest} }}"#
    )
}

#[test]
fn entries_are_read_back_in_their_shortest_form() {
    let send = r#"action { action { action_id: $send
        params { param_id: 2 value: "eth2" } params { param_id: 1 value: "\000\001" } } }"#;
    check(
        "INSERT",
        &[&exact(send)],
        expect![[r#"
        table_entry {
          table_id: exact_table
          match {
            field_id: 1
            exact {
              value: "\001"
            }
          }
          match {
            field_id: 2
            exact {
              value: "\002"
            }
          }
          action {
            action {
              action_id: send
              params {
                param_id: 1
                value: "\001"
              }
              params {
                param_id: 2
                value: "eth2"
              }
            }
          }
        }
    "#]],
    );
}

#[test]
fn what_may_be_anything_is_left_out() {
    let all = r#"priority: 3 match { field_id: 1 ternary { value: "\000\020" mask: "\000\360" } }
        match { field_id: 2 range { low: "\000" high: "\007" } } match { field_id: 3 optional { value: "\000" } }"#;
    check(
        "INSERT",
        &[&ternary(all), &ternary("priority: 1")],
        expect![[r#"
        table_entry {
          table_id: ternary_table
          match {
            field_id: 1
            ternary {
              value: "\020"
              mask: "\360"
            }
          }
          match {
            field_id: 2
            range {
              low: "\000"
              high: "\007"
            }
          }
          match {
            field_id: 3
            optional {
              value: "\000"
            }
          }
          match {
            field_id: 4
            exact {
              value: "red"
            }
          }
          action {
            action {
              action_id: drop
            }
          }
          priority: 3
        }
        table_entry {
          table_id: ternary_table
          match {
            field_id: 4
            exact {
              value: "red"
            }
          }
          action {
            action {
              action_id: drop
            }
          }
          priority: 1
        }
    "#]],
    );
}

#[test]
fn keys_that_mean_nothing() {
    let entries = [
        exact(r#"match { field_id: 1 exact { value: "\001" } }"#),
        exact(r#"match { field_id: 9 exact { value: "\001" } }"#),
        r#"table_entry { table_id: $exact_table match { field_id: 1 exact { value: "\001" } } }"#.to_owned(),
        r#"table_entry { table_id: $exact_table match { field_id: 1 exact { value: "\001\000" } } }"#.to_owned(),
        r#"table_entry { table_id: $exact_table match { field_id: 1 exact { } } }"#.to_owned(),
        r#"table_entry { table_id: $exact_table match { field_id: 1 lpm { value: "\001" prefix_len: 8 } } }"#
            .to_owned(),
        exact("priority: 1"),
        ternary(""),
        ternary(r#"priority: 1 match { field_id: 1 ternary { value: "\000" mask: "\000" } }"#),
        ternary(r#"priority: 1 match { field_id: 1 ternary { value: "\001" mask: "\002" } }"#),
        ternary(r#"priority: 1 match { field_id: 2 range { low: "\000" high: "\377\377" } }"#),
        ternary(r#"priority: 1 match { field_id: 2 range { low: "\002" high: "\001" } }"#),
        r#"table_entry { table_id: $lpm_table match { field_id: 1 lpm { value: "\000" prefix_len: 0 } } }"#.to_owned(),
        r#"table_entry { table_id: $lpm_table match { field_id: 1 lpm { value: "\001" prefix_len: 8 } } }"#.to_owned(),
        r#"table_entry { table_id: $lpm_table match { field_id: 1 lpm { value: "\000" prefix_len: 17 } } }"#.to_owned(),
        "table_entry { table_id: 7 }".to_owned(),
        "table_entry { table_id: $drop }".to_owned(),
        "table_entry { table_id: $empty_table action { action { action_id: $drop } } }".to_owned(),
    ];
    check(
        "INSERT",
        &entries.each_ref().map(String::as_str),
        expect![[r#"
            InvalidArgument: table I.exact_table, match field m.a: it is given twice
            InvalidArgument: table I.exact_table has no match field 9: it has 1 (m.a), 2 (m.wide)
            InvalidArgument: table I.exact_table, match field m.wide: an exact match cannot be left out
            OutOfRange: table I.exact_table, match field m.a, value: the value 0x100 needs 9 bits, and there are 8
            OutOfRange: table I.exact_table, match field m.a, value: the value is empty: it must have at least one byte, as \x00 for 0
            InvalidArgument: table I.exact_table, match field m.a: it is matched as exact, not as lpm
            InvalidArgument: table I.exact_table: the priority must be 0, not 1, because no match field is ternary, range or optional
            InvalidArgument: table I.ternary_table: the priority must be above 0, not 0, because a match field is ternary, range or optional
            InvalidArgument: table I.ternary_table, match field m.b: a mask of 0 matches everything: leave the match field out
            InvalidArgument: table I.ternary_table, match field m.b: the bits of the value 0x1 outside the mask 0x2 must be zero, as in 0x0
            InvalidArgument: table I.ternary_table, match field m.c: a range of 0x0 to 0xffff matches everything: leave the match field out
            InvalidArgument: table I.ternary_table, match field m.c: the low end of the range, 0x2, is above its high end, 0x1
            InvalidArgument: table I.lpm_table, match field m.c: a prefix of length 0 matches everything: leave the match field out
            InvalidArgument: table I.lpm_table, match field m.c: the bits of the value 0x1 after the first 8 must be zero, as in 0x0
            InvalidArgument: table I.lpm_table, match field m.c: the prefix length 17 is not one of 1 to 16
            InvalidArgument: there is no table of id 0x00000007: it is not in the P4Info of the program; its tables are I.empty_table, I.exact_table, I.group_table, I.lpm_table, I.ternary_table
            InvalidArgument: there is no table of id 0x01ea122e: it is the action I.drop
            InvalidArgument: table I.empty_table has no key: it has a default action and no entries
        "#]],
    );
}

#[test]
fn actions_that_mean_nothing() {
    let actions = [
        "action { }",
        "action { action { action_id: 3 } }",
        "action { action { action_id: $coloured } }",
        r#"action { action { action_id: $send params { param_id: 1 value: "\001" } } }"#,
        r#"action { action { action_id: $drop params { param_id: 1 value: "\001" } } }"#,
        r#"action { action { action_id: $send params { param_id: 1 value: "\002\000" } params { param_id: 2 value: "x" } } }"#,
        "action { action_profile_group_id: 1 }",
        "is_const: true",
        "idle_timeout_ns: -1",
        "time_since_last_hit { }",
        "meter_counter_data { }",
        "counter_data { packet_count: -1 }",
    ];
    let entries = actions.map(exact);
    check(
        "INSERT",
        &entries.each_ref().map(String::as_str),
        expect![[r#"
            InvalidArgument: table I.exact_table: the action is empty
            InvalidArgument: table I.exact_table: there is no action of id 0x00000003: it is not in the P4Info of the program; its actions are I.coloured, I.drop, I.send, NoAction
            InvalidArgument: table I.exact_table does not list action I.coloured: it has I.send, I.drop, NoAction
            InvalidArgument: table I.exact_table, action I.send, parameter name: its value is missing
            InvalidArgument: table I.exact_table, action I.drop has no parameter 1: its parameters are none
            OutOfRange: table I.exact_table, action I.send, parameter port: the value 0x200 needs 10 bits, and there are 9
            InvalidArgument: table I.exact_table has no action selector: its entries cannot have groups
            InvalidArgument: table I.exact_table: only the switch sets is_const: omit it in writes
            InvalidArgument: table I.exact_table: idle_timeout_ns must not be negative: -1
            InvalidArgument: table I.exact_table: time_since_last_hit can be read, not written
            table_entry {
              table_id: exact_table
              match {
                field_id: 1
                exact {
                  value: "\001"
                }
              }
              match {
                field_id: 2
                exact {
                  value: "\002"
                }
              }
            }
            InvalidArgument: table I.exact_table: the counter: packet_count must not be negative: -1
        "#]],
    );
}

#[test]
fn default_actions() {
    let entries = [
        "table_entry { table_id: $exact_table is_default_action: true action { action { action_id: $drop } } }",
        "table_entry { table_id: $exact_table is_default_action: true }",
        "table_entry { table_id: $exact_table is_default_action: true priority: 1 }",
        r#"table_entry { table_id: $exact_table is_default_action: true match { field_id: 1 exact { value: "\001" } } }"#,
    ];
    check(
        "MODIFY",
        &entries,
        expect![[r#"
        table_entry {
          table_id: exact_table
          action {
            action {
              action_id: drop
            }
          }
          is_default_action: true
        }
        table_entry {
          table_id: exact_table
          is_default_action: true
        }
        InvalidArgument: table I.exact_table: the default action has no priority: leave it 0
        InvalidArgument: table I.exact_table: the default action has no match: leave it out
    "#]],
    );
}

#[test]
fn profiles() {
    let entities = [
        "action_profile_member { action_profile_id: $hops member_id: 1 action { action_id: $drop } }",
        "action_profile_member { action_profile_id: $hops action { action_id: $drop } }",
        r#"action_profile_group { action_profile_id: $hops group_id: 1 max_size: 3
            members { member_id: 1 weight: 2 watch_port: "\001" } members { member_id: 2 weight: 1 } }"#,
        "action_profile_group { action_profile_id: $hops group_id: 1 members { member_id: 1 } }",
        r#"action_profile_group { action_profile_id: $hops group_id: 1 members { member_id: 1 weight: 1 watch_port: "\007" } }"#,
        r#"table_entry { table_id: $group_table match { field_id: 1 exact { value: "\001" } } action { action_profile_action_set {
            action_profile_actions { action { action_id: $drop } weight: 1 watch_port: "\002" } } } }"#,
        r#"table_entry { table_id: $group_table match { field_id: 1 exact { value: "\001" } } action { action_profile_action_set {
            action_profile_actions { action { action_id: $drop } } } } }"#,
    ];
    check(
        "INSERT",
        &entities,
        expect![[r#"
        action_profile_member {
          action_profile_id: hops
          member_id: 1
          action {
            action_id: drop
          }
        }
        InvalidArgument: action profile I.hops: the id of a member must not be 0
        action_profile_group {
          action_profile_id: hops
          group_id: 1
          members {
            member_id: 1
            weight: 2
            watch_port: "\001"
          }
          members {
            member_id: 2
            weight: 1
          }
          max_size: 3
        }
        InvalidArgument: action profile I.hops, group 1, member 1: the weight must be 1 at least, not 0
        InvalidArgument: action profile I.hops, group 1, member 1: there is no port 7 to watch; the ports are 1, 2
        table_entry {
          table_id: group_table
          match {
            field_id: 1
            exact {
              value: "\001"
            }
          }
          action {
            action_profile_action_set {
              action_profile_actions {
                action {
                  action_id: drop
                }
                weight: 1
                watch_port: "\002"
              }
            }
          }
        }
        InvalidArgument: table I.group_table: the weight must be 1 at least, not 0
    "#]],
    );
}

/// A one-shot group with these fields beside its only action, and this in the action.
fn one_shot(fields: &str, action: &str) -> String {
    format!(
        r#"table_entry {{ table_id: $group_table match {{ field_id: 1 exact {{ value: "\001" }} }}
            action {{ action_profile_action_set {{ {fields}
                action_profile_actions {{ action {{ action_id: $drop }} {action} }} }} }} }}"#
    )
}

#[test]
fn what_a_selector_does_anyway_may_be_asked_for() {
    let asked = [
        "action_selection_mode: HASH size_semantics: SUM_OF_WEIGHTS",
        "action_selection_mode: RANDOM",
        "size_semantics: SUM_OF_MEMBERS",
        "size_semantics: 7",
        "action_selection_mode: 7",
    ];
    let updates = asked.map(|fields| one_shot(fields, "weight: 2"));
    check(
        "INSERT",
        &updates.each_ref().map(String::as_str),
        expect![[r#"
        table_entry {
          table_id: group_table
          match {
            field_id: 1
            exact {
              value: "\001"
            }
          }
          action {
            action_profile_action_set {
              action_profile_actions {
                action {
                  action_id: drop
                }
                weight: 2
              }
            }
          }
        }
        Unimplemented: table I.group_table: actions are selected by a hash, as the selector says, and not at random
        Unimplemented: table I.group_table: the selector's size counts weights, not members
        InvalidArgument: table I.group_table: there is no size semantics 7
        InvalidArgument: table I.group_table: there is no action selection mode 7
    "#]],
    );
}

#[test]
fn a_selector_may_count_members() {
    let counts_members = schema_with(|info| {
        let members = v1_config::action_profile::SumOfMembers { max_member_weight: 0 };
        let semantics = v1_config::action_profile::SelectorSizeSemantics::SumOfMembers(members);
        info.action_profiles.iter_mut().for_each(|it| it.selector_size_semantics = Some(semantics));
    });
    let updates = ["size_semantics: SUM_OF_WEIGHTS", "size_semantics: SUM_OF_MEMBERS"];
    let updates = updates.map(|fields| one_shot(fields, "weight: 2"));
    check_with(
        &counts_members,
        "INSERT",
        &updates.each_ref().map(String::as_str),
        expect![[r#"
        Unimplemented: table I.group_table: the selector's size counts members, not weights
        table_entry {
          table_id: group_table
          match {
            field_id: 1
            exact {
              value: "\001"
            }
          }
          action {
            action_profile_action_set {
              action_profile_actions {
                action {
                  action_id: drop
                }
                weight: 2
              }
            }
          }
        }
    "#]],
    );
}

#[test]
fn weights_may_be_disallowed() {
    let schema = schema_with(|info| info.action_profiles.iter_mut().for_each(|it| it.weights_disallowed = true));
    let updates = [
        one_shot("", ""),
        one_shot("", "weight: 1"),
        "action_profile_group { action_profile_id: $hops group_id: 1 members { member_id: 1 } }".to_owned(),
    ];
    check_with(
        &schema,
        "INSERT",
        &updates.each_ref().map(String::as_str),
        expect![[r#"
        table_entry {
          table_id: group_table
          match {
            field_id: 1
            exact {
              value: "\001"
            }
          }
          action {
            action_profile_action_set {
              action_profile_actions {
                action {
                  action_id: drop
                }
              }
            }
          }
        }
        InvalidArgument: table I.group_table: action profile I.hops allows no weights: the weight must be left out, not 1
        action_profile_group {
          action_profile_id: hops
          group_id: 1
          members {
            member_id: 1
          }
        }
    "#]],
    );
}

#[test]
fn arrays() {
    let entities = [
        "counter_entry { counter_id: $counted index { index: 3 } data { packet_count: 5 } }",
        "counter_entry { counter_id: $counted data { packet_count: 5 } }",
        "counter_entry { counter_id: $counted index { index: 3 } }",
        "counter_entry { counter_id: $counted index { index: 4 } data { packet_count: 5 } }",
        "counter_entry { counter_id: $counted index { index: -1 } data { packet_count: 5 } }",
        "meter_entry { meter_id: $metered index { index: 0 } config { cir: 1 cburst: 2 pir: 3 pburst: 4 } }",
        "meter_entry { meter_id: $metered index { index: 0 } }",
        "meter_entry { meter_id: $metered index { index: 0 } config { eburst: 4 } }",
        r#"register_entry { register_id: $remembered index { index: 0 } data { bitstring: "\000\017" } }"#,
        r#"register_entry { register_id: $remembered index { index: 0 } data { bitstring: "\020\000" } }"#,
        "register_entry { register_id: $remembered index { index: 0 } data { bool: true } }",
        "register_entry { register_id: $remembered index { index: 0 } }",
        "register_entry { register_id: 1 }",
    ];
    check(
        "MODIFY",
        &entities,
        expect![[r#"
            counter_entry {
              counter_id: counted
              index {
                index: 3
              }
              data {
                packet_count: 5
              }
            }
            counter_entry {
              counter_id: counted
              data {
                packet_count: 5
              }
            }
            nothing
            OutOfRange: counter I.counted has no cell 4: its cells are 0 to 3
            InvalidArgument: counter I.counted: the index -1 is negative
            meter_entry {
              meter_id: metered
              index {
              }
              config {
                cir: 1
                cburst: 2
                pir: 3
                pburst: 4
              }
            }
            meter_entry {
              meter_id: metered
              index {
              }
            }
            InvalidArgument: meter I.metered: a meter of two rates has no excess burst: eburst must be 0, not 4
            register_entry {
              register_id: remembered
              index {
              }
              data {
                bitstring: "\017"
              }
            }
            OutOfRange: register I.remembered: the value 0x1000 needs 13 bits, and there are 12
            InvalidArgument: register I.remembered: the data must be a bitstring
            InvalidArgument: register I.remembered: the data to write is missing
            InvalidArgument: there is no register of id 0x00000001: it is not in the P4Info of the program; its registers are I.options, I.records, I.remembered, I.stored
        "#]],
    );
}

#[test]
fn backups_of_replicas() {
    let entities = [
        r#"packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 1 replicas { port: "\001" backup_replicas { } } } }"#,
        r#"packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 1 replicas { port: "\001"
                instance: 2 backup_replicas { port: "\000\003" instance: 4 } backup_replicas { port: "\002" } } } }"#,
    ];
    check(
        "MODIFY",
        &entities,
        expect![[r#"
            OutOfRange: multicast group 1, port of a backup: the value is empty: it must have at least one byte, as \x00 for 0
            packet_replication_engine_entry {
              multicast_group_entry {
                multicast_group_id: 1
                replicas {
                  instance: 2
                  port: "\001"
                  backup_replicas {
                    port: "\003"
                    instance: 4
                  }
                  backup_replicas {
                    port: "\002"
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn other_entities() {
    let entities = [
        r#"packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 1 replicas { port: "\000\001" instance: 2 } metadata: "x" } }"#,
        "packet_replication_engine_entry { multicast_group_entry { replicas { egress_port: 1 } } }",
        "packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 1 replicas { } } }",
        "packet_replication_engine_entry { clone_session_entry { session_id: 1 replicas { egress_port: 1 } packet_length_bytes: 64 } }",
        "packet_replication_engine_entry { clone_session_entry { session_id: 1 packet_length_bytes: -1 } }",
        r#"value_set_entry { value_set_id: $set members { match { field_id: 1 exact { value: "\007" } } } }"#,
        "digest_entry { digest_id: $cell_t config { max_list_size: 2 max_timeout_ns: 3 ack_timeout_ns: 4 } }",
        "digest_entry { digest_id: $cell_t }",
        "extern_entry { }",
    ];
    check(
        "MODIFY",
        &entities,
        expect![[r#"
            packet_replication_engine_entry {
              multicast_group_entry {
                multicast_group_id: 1
                replicas {
                  instance: 2
                  port: "\001"
                }
                metadata: "x"
              }
            }
            InvalidArgument: the id of a multicast group must not be 0
            InvalidArgument: multicast group 1: the port of a replica is missing
            packet_replication_engine_entry {
              clone_session_entry {
                session_id: 1
                replicas {
                  port: "\001"
                }
                packet_length_bytes: 64
              }
            }
            InvalidArgument: clone session 1: packet_length_bytes must not be negative: -1
            value_set_entry {
              value_set_id: set
              members {
                match {
                  field_id: 1
                  exact {
                    value: "\007"
                  }
                }
              }
            }
            digest_entry {
              digest_id: cell_t
              config {
                max_timeout_ns: 3
                max_list_size: 2
                ack_timeout_ns: 4
              }
            }
            InvalidArgument: digest cell_t: the config is missing
            Unimplemented: entities of other externs are not supported
        "#]],
    );
}

#[test]
fn queries_that_mean_nothing() {
    let schema = schema();
    let mut shown = String::new();
    let queries = [
        "",
        "table_entry { table_id: 5 }",
        "table_entry { priority: 5 }",
        "table_entry { table_id: $exact_table priority: 5 }",
        "table_entry { table_id: $lpm_table counter_data { } }",
        "table_entry { table_id: $exact_table meter_config { } }",
        "table_entry { table_id: $exact_table time_since_last_hit { } }",
        "table_entry { table_id: $exact_table action { action { action_id: $coloured } } }",
        "direct_counter_entry { table_entry { table_id: $lpm_table } }",
        "counter_entry { counter_id: $counted index { index: 9 } }",
        "packet_replication_engine_entry { }",
    ];
    for query in queries {
        let entity: v1::Entity = text::from_text("p4.v1.Entity", &with_ids(&schema, query)).unwrap();
        let fault = query::read(&schema, &entity).unwrap_err();
        shown.push_str(&format!("{:?}: {fault}\n", fault.code));
    }
    expect![[r#"
        InvalidArgument: the entity to read is empty: it must name a kind of entity
        InvalidArgument: there is no table of id 0x00000005: it is not in the P4Info of the program; its tables are I.empty_table, I.exact_table, I.group_table, I.lpm_table, I.ternary_table
        InvalidArgument: match, priority and action mean nothing without a table_id
        InvalidArgument: table I.exact_table, match field m.a: an exact match cannot be left out
        InvalidArgument: table I.lpm_table has no direct counter
        InvalidArgument: table I.exact_table has no direct meter
        InvalidArgument: table I.exact_table has no idle timeouts here
        InvalidArgument: table I.exact_table does not list action I.coloured
        InvalidArgument: table I.lpm_table has no direct counter
        OutOfRange: counter I.counted has no cell 9: its cells are 0 to 3
        InvalidArgument: the packet replication engine entry is empty: it must contain a multicast group or a clone session
    "#]].assert_eq(&shown);
}

/// A cell has a bit in front of each header that says whether it is valid.
#[test]
fn headers_in_registers() {
    let cell = |stack: &str| {
        format!("register_entry {{ register_id: $stored index {{ index: 1 }} data {{ header_stack {{ {stack} }} }} }}")
    };
    let entities = [
        cell(r#"entries { } entries { is_valid: true bitstrings: "\003" bitstrings: "\001\002" }"#),
        cell(r#"entries { } entries { is_valid: true bitstrings: "\003" }"#),
        cell(r#"entries { } entries { bitstrings: "\003" bitstrings: "\001\002" }"#),
        cell("entries { }"),
    ];
    check(
        "MODIFY",
        &entities.each_ref().map(|entity| entity.as_str()),
        expect![[r#"
        register_entry {
          register_id: stored
          index {
            index: 1
          }
          data {
            header_stack {
              entries {
              }
              entries {
                is_valid: true
                bitstrings: "\003"
                bitstrings: "\001\002"
              }
            }
          }
        }
        InvalidArgument: register I.stored[1]: there must be 2 fields, not 1
        InvalidArgument: register I.stored[1]: there must be 0 fields, not 2
        InvalidArgument: register I.stored: there must be 2 elements, not 1
    "#]],
    );

    let schema = schema();
    let update = with_ids(&schema, &format!("type: MODIFY entity {{ {} }}", entities[0]));
    let update: v1::Update = text::from_text("p4.v1.Update", &update).unwrap();
    let Ok(Some(read)) = from_proto::update(&schema, &update) else { panic!("refused") };
    let control::api::Entity::Register(cell) = read.entity else { panic!("no register") };
    expect!["10011000100000010"].assert_eq(&format!("{:b}", cell.value.to_u64().unwrap()));
}

/// What controllers see differently is as wide in the cell as in the program.
#[test]
fn translated_values_in_registers() {
    let cell = |members: &str| {
        format!("register_entry {{ register_id: $records index {{ index: 1 }} data {{ struct {{ {members} }} }} }}")
    };
    let rest = r#"members { enum_value: "\006" } members { bool: true } members { bitstring: "\177" }"#;
    let of = |wide: &str, name: &str| {
        let first = r#"members { bitstring: "\003" }"#;
        cell(&format!("{first} members {{ bitstring: \"{wide}\" }} members {{ bitstring: \"{name}\" }} {rest}"))
    };
    let entities = [of(r"\001\377", "blue"), of(r"\002\000", "1")];
    check(
        "MODIFY",
        &entities.each_ref().map(|entity| entity.as_str()),
        expect![[r#"
        register_entry {
          register_id: records
          index {
            index: 1
          }
          data {
            struct {
              members {
                bitstring: "\003"
              }
              members {
                bitstring: "\001\377"
              }
              members {
                bitstring: "blue"
              }
              members {
                enum_value: "\006"
              }
              members {
                bool: true
              }
              members {
                bitstring: "\177"
              }
            }
          }
        }
        OutOfRange: register I.records.wide: the value 0x200 needs 10 bits, and there are 9: type wide_t has so few in the program
    "#]],
    );
}

/// The bytes of a varbit field in a header say how long it is.
#[test]
fn varbit_fields_in_registers() {
    let cell = |fields: &str| {
        let header = format!("is_valid: true {fields}");
        format!("register_entry {{ register_id: $options index {{ index: 1 }} data {{ header {{ {header} }} }} }}")
    };
    let entities = [
        cell(r#"bitstrings: "\003" bitstrings: "\000\002""#),
        cell(r#"bitstrings: "\003" bitstrings: """#),
        cell(r#"bitstrings: "\003" bitstrings: "\001\002\003\004""#),
    ];
    check(
        "MODIFY",
        &entities.each_ref().map(|entity| entity.as_str()),
        expect![[r#"
        register_entry {
          register_id: options
          index {
            index: 1
          }
          data {
            header {
              is_valid: true
              bitstrings: "\003"
              bitstrings: "\000\002"
            }
          }
        }
        register_entry {
          register_id: options
          index {
            index: 1
          }
          data {
            header {
              is_valid: true
              bitstrings: "\003"
              bitstrings: ""
            }
          }
        }
        InvalidArgument: register I.options.b: a varbit has whole bytes, and at most 24 bits
    "#]],
    );
}

#[test]
fn a_few_entries_are_written_where_they_come() {
    let plain = schema_without_names();
    let of = |schema: &Schema, update: &str| {
        let update = with_ids(schema, &format!("type: INSERT entity {{ {update} }}"));
        let update: v1::Update = text::from_text("p4.v1.Update", &update).unwrap_or_else(|error| panic!("{error}"));
        Bytes::from(update.encode_to_vec())
    };
    let is_short = |updates: &[&str]| {
        let updates: Vec<Bytes> = updates.iter().map(|update| of(&plain, update)).collect();
        write::is_short(&plain, &updates)
    };
    let entry = "table_entry { table_id: $exact_table action { action { action_id: $drop } } }";
    assert!(is_short(&[entry; 8]));
    assert!(is_short(&["table_entry { table_id: $exact_table is_default_action: true }"]));
    assert!(!is_short(&[entry; 9]), "there are too many");
    let long = format!("table_entry {{ table_id: $exact_table metadata: \"{}\" }}", "m".repeat(4096));
    assert!(!is_short(&[&long]));
    for for_the_worker in [
        "table_entry { table_id: $exact_table counter_data { packet_count: 1 } }",
        "table_entry { table_id: $lpm_table meter_config { cir: 1 } }",
        "table_entry { table_id: $group_table action { action_profile_action_set { } } }",
        "register_entry { register_id: $remembered }",
    ] {
        assert!(!is_short(&[entry, for_the_worker]), "{for_the_worker}");
    }
    assert!(!write::is_short(&plain, &[Bytes::from_static(&[7])]), "what cannot be decoded");
    let with_names = schema();
    assert!(!write::is_short(&with_names, &[of(&with_names, entry)]), "names may have to be looked for");
}
