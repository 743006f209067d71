//! Tables, actions, entries.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_ir, check_packets, lower_ok};

#[test]
fn hit_miss_and_the_action_that_ran() {
    check_packets(
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } action low() { hdr.h.b = 1; } \
                     table t { key = { hdr.h.a: exact; } actions = { set; low; NoAction; } default_action = low(); \
                               const entries = { 1: set(0x10); 2: set(0x20); 3: NoAction(); } }",
            ingress: "if (t.apply().hit) { hdr.h.c = 1; } if (t.apply().miss) { hdr.h.c = 2; } \
                      switch (t.apply().action_run) { set: { hdr.h.a = 0xff; } low: { hdr.h.a = 0xee; } default: { hdr.h.a = 0xdd; } }",
            ..Parts::default()
        },
        &["01 00 0000", "02 00 0000", "03 00 0000", "04 00 0000"],
        expect![[r#"
            01 00 0000 -> ff100001
            02 00 0000 -> ff200001
            03 00 0000 -> dd000001
            04 00 0000 -> ee010002
        "#]],
    );
}

#[test]
fn entries_of_every_kind_in_order() {
    check_packets(
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } \
                     table l { key = { hdr.h.c: lpm; } actions = { set; } const entries = { \
                         16w0x1200 &&& 0xff00: set(1); 16w0x1000 &&& 0xf000: set(2); _: set(3); } } \
                     table r { key = { hdr.h.a: ternary; hdr.h.c: range; } actions = { set; NoAction; } const default_action = NoAction; const entries = { \
                         (0x10 &&& 0xf0, 0..100): set(0x11); (_, 50): set(0x12); (0x11, _): set(0x13); } } \
                     table o { key = { hdr.h.a: optional; } actions = { set; } const entries = { 5: set(0x55); _: set(0x66); } }",
            ingress: "if (hdr.h.a == 0) { l.apply(); } else if (hdr.h.b == 0) { r.apply(); } else { o.apply(); }",
            ..Parts::default()
        },
        &[
            "00 00 1234",
            "00 00 1a34",
            "00 00 2034",
            "10 00 0032",
            "20 00 0032",
            "11 00 0100",
            "21 00 0100",
            "05 01 0000",
            "06 01 0000",
        ],
        expect![[r#"
            00 00 1234 -> 00011234
            00 00 1a34 -> 00021a34
            00 00 2034 -> 00032034
            10 00 0032 -> 10110032
            20 00 0032 -> 20120032
            11 00 0100 -> 11130100
            21 00 0100 -> 21000100
            05 01 0000 -> 05550000
            06 01 0000 -> 06660000
        "#]],
    );
}

#[test]
fn priorities_that_the_program_states() {
    let program = lower_ok(
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } \
                     table a { key = { hdr.h.a: ternary; } actions = { set; } entries = { priority = 11: 1: set(1); priority = 20: 2: set(2); 3: set(3); } \
                               largest_priority_wins = true; priority_delta = 5; } \
                     table b { key = { hdr.h.a: ternary; } actions = { set; } entries = { priority = 1: 1: set(1); const priority = 20: 2: set(2); 3: set(3); } \
                               largest_priority_wins = false; } \
                     table c { key = { hdr.h.a: ternary; } actions = { set; } const entries = { 1: set(1) @priority(9); 2: set(2) @priority(3); } }",
            ingress: "a.apply(); b.apply(); c.apply();",
            ..Parts::default()
        }
        .text(),
    );
    let priorities: Vec<Vec<i32>> =
        program.tables.iter().map(|table| table.entries.iter().map(|entry| entry.priority).collect()).collect();
    assert_eq!(priorities[0], [11, 20, 15]);
    assert_eq!(priorities[1], [21, 2, 1]);
    assert!(priorities[2][0] < priorities[2][1], "of annotated priorities the smaller wins");
}

#[test]
fn a_table_without_default_action_does_nothing_on_a_miss() {
    check_ir(
        Stage::Ingress,
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } \
                     table t { key = { hdr.h.a: exact @name(\"a\"); } actions = { set; @defaultonly NoAction; } size = 16; }",
            ingress: "t.apply();",
            ..Parts::default()
        },
        expect![[r#"
            action0 "I.set" (v16) {
              h0.1 = v16
            }
            action1 "NoAction" () {
            }
            table0 "I.t" size 16 {
              key "a" exact h0.0
              action action0
              action action1 default_only
              default 1()
            }
            block2 "I" control {
              apply table0
            }
        "#]],
    );
    check_ir(
        Stage::Ingress,
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } table t { key = { hdr.h.a: exact; } actions = { @tableonly set; } size = 0; }",
            ingress: "t.apply();",
            ..Parts::default()
        },
        expect![[r#"
            action0 "I.set" (v16) {
              h0.1 = v16
            }
            action1 "NoAction" () {
            }
            table0 "I.t" size 1024 {
              key "hdr.h.a" exact h0.0
              action action0 table_only
              action action1 default_only
              default 1()
            }
            block2 "I" control {
              apply table0
            }
        "#]],
    );
}

#[test]
fn a_table_binds_directional_arguments() {
    check_packets(
        &Parts {
            locals: "action add(inout bit<8> x, in bit<8> y, bit<8> z) { x = x + y + z; } \
                     table t { key = { hdr.h.a: exact; } actions = { add(hdr.h.b, hdr.h.a); } const entries = { 1: add(hdr.h.b, hdr.h.a, 0x10); } \
                               default_action = add(hdr.h.b, hdr.h.a, 0x20); }",
            ingress: "t.apply();",
            ..Parts::default()
        },
        &["01 02 0000", "05 02 0000"],
        expect![[r#"
            01 02 0000 -> 01130000
            05 02 0000 -> 05270000
        "#]],
    );
}

#[test]
fn exit_in_an_action_leaves_the_block() {
    check_ir(
        Stage::Ingress,
        &Parts {
            locals: "action stop() { hdr.h.b = 9; exit; } table t { key = { hdr.h.a: exact; } actions = { stop; NoAction; } }",
            ingress: "t.apply(); hdr.h.c = 1;",
            ..Parts::default()
        },
        expect![[r#"
            action0 "I.stop" () {
              h0.1 = 8w0x9
              leave l4
            }
            action1 "NoAction" () {
            }
            table0 "I.t" size 1024 {
              key "hdr.h.a" exact h0.0
              action action0
              action action1
              default 1()
            }
            block2 "I" control exit l4 {
              block l4 {
                apply table0
                h0.2 = 16w0x1
              }
            }
        "#]],
    );
}

#[test]
fn exit_in_the_action_of_an_inlined_control_copies_out() {
    check_packets(
        &Parts {
            types: "control Sub(inout bit<8> x, inout bit<8> y) { action stop(bit<8> v) { y = v; exit; } action go() { y = 3; } \
                    table t { key = { x: exact; } actions = { stop; go; } const entries = { 1: stop(0x77); 2: go(); } default_action = go(); } \
                    apply { t.apply(); y = y + 1; } }",
            locals: "Sub() s; bit<8> z = 5;",
            ingress: "s.apply(hdr.h.a, hdr.h.b); s.apply(hdr.h.b, z); hdr.h.c = (bit<16>) z;",
            ..Parts::default()
        },
        &["01 00 0000", "02 00 0000", "03 01 0000"],
        expect![[r#"
            01 00 0000 -> 01770000
            02 00 0000 -> 02040004
            03 01 0000 -> 03040004
        "#]],
    );
}

#[test]
fn a_control_with_a_table_keeps_one_table_wherever_it_is_applied() {
    let parts = Parts {
        types: "control Sub(inout h_t x, in bit<8> v) { bit<8> local; action set(bit<8> w) { x.b = w + v; local = w; } \
                table t { key = { x.a: exact; } actions = { set; NoAction; } const entries = { 1: set(0x10); } default_action = NoAction; } \
                apply { t.apply(); x.c = x.c + (bit<16>) local; } }",
        headers: "h_t h; h_t g;",
        parser: "state start { packet.extract(hdr.h); packet.extract(hdr.g); transition accept; }",
        locals: "Sub() s;",
        ingress: "s.apply(hdr.h, 1); s.apply(hdr.g, 2);",
        ..Parts::default()
    };
    check_packets(
        &parts,
        &["01000000 02000000", "01000000 01000000"],
        expect![[r#"
        01000000 02000000 -> 0111001002000000
        01000000 01000000 -> 0111001001120010
    "#]],
    );
    let names: Vec<String> = lower_ok(&parts.text()).tables.iter().map(|table| table.name.clone()).collect();
    assert_eq!(names, ["I.s.t"]);
}

#[test]
fn applied_with_the_same_arguments_nothing_is_copied() {
    let text = Parts { locals: "Sub() s;", ingress: "s.apply(hdr); s.apply(hdr);", ..Parts::default() }.text();
    let sub = "control Sub(inout headers x) { action set(bit<8> w) { x.h.b = w; } \
               table t { key = { x.h.a: exact; } actions = { set; } } apply { t.apply(); } }\ncontrol I(";
    let program = lower_ok(&text.replace("control I(", sub));
    let copies = program.vars.iter().filter(|var| var.kind == ir::VarKind::Local).count();
    assert_eq!(copies, 1, "only the action's parameter");
    assert_eq!(program.headers.len(), 1);
}

#[test]
fn control_plane_names() {
    let program = lower_ok(
        &Parts {
            types: "action top(bit<8> v) { } \
                    control Sub(inout h_t x) { counter(4, CounterType.packets) c; @name(\".absolute\") register<bit<8>>(4) r; \
                    action set() { c.count(0); r.write(0, x.a); } @name(\"other\") table t { key = { x.a: exact @name(\"key\"); x.c[7:0]: exact; } actions = { set; top; } } apply { t.apply(); } }",
            locals: "Sub() s; @name(\"named\") Sub() s2; action a(@name(\"v\") bit<8> value) { } table u { key = { hdr.h.isValid(): exact; hdr.h.a: exact; } actions = { a; } }",
            ingress: "s.apply(hdr.h); s2.apply(hdr.h); u.apply();",
            ..Parts::default()
        }
        .text(),
    );
    let mut names: Vec<String> = Vec::new();
    for table in &program.tables {
        names.push(format!("{} {:?}", table.name, table.keys.iter().map(|key| &key.name).collect::<Vec<_>>()));
    }
    names.extend(program.actions.iter().map(|action| action.name.clone()));
    names.extend(program.counters.iter().map(|counter| counter.name.clone()));
    names.extend(program.registers.iter().map(|register| register.name.clone()));
    expect![[r#"
        I.s.other ["key", "x.c[7:0]"]
        I.named.other ["key", "x.c[7:0]"]
        I.u ["hdr.h.isValid()", "hdr.h.a"]
        I.s.set
        top
        NoAction
        I.named.set
        I.a
        I.s.c
        I.named.c
        absolute
        absolute
    "#]]
    .assert_eq(&(names.join("\n") + "\n"));
}

#[test]
fn keys_with_effects_are_evaluated_before_the_lookup() {
    check_packets(
        &Parts {
            types: "bit<8> bump(inout bit<8> x) { x = x + 1; return x; }",
            locals: "action set(bit<8> v) { hdr.h.b = v; } table t { key = { bump(hdr.h.a): exact @name(\"bumped\"); } actions = { set; NoAction; } default_action = NoAction; \
                     const entries = { 2: set(2); 3: set(3); } }",
            ingress: "t.apply(); hdr.h.c = (bit<16>) hdr.h.b; t.apply();",
            ..Parts::default()
        },
        &["01 00 0000", "02 00 0000"],
        expect![[r#"
            01 00 0000 -> 03030002
            02 00 0000 -> 04030003
        "#]],
    );
}

#[test]
fn direct_objects() {
    check_packets(
        &Parts {
            metadata: "bit<8> color;",
            locals: "direct_counter(CounterType.packets) c; direct_meter<bit<8>>(MeterType.bytes) m; \
                     action set(bit<8> v) { hdr.h.b = v; c.count(); m.read(meta.color); } action other() { } \
                     table t { key = { hdr.h.a: exact; } actions = { set; other; } default_action = other; counters = c; meters = m; \
                               const entries = { 1: set(1); 2: other(); } }",
            ingress: "t.apply();",
            ..Parts::default()
        },
        &["01 00 0000", "01 00 0000", "02 00 0000", "03 00 0000"],
        expect![[r#"
            01 00 0000 -> 01010000
            01 00 0000 -> 01010000
            02 00 0000 -> 02000000
            03 00 0000 -> 03000000
            I.c of entry 0 counted 2
            I.c of entry 1 counted 1
            I.c of entry 1024 counted 1
        "#]],
    );
}

#[test]
fn entries_that_a_key_cannot_express() {
    let table = |keys: &str, entries: &str| {
        format!(
            "action set(bit<8> v) {{ hdr.h.b = v; }} table t {{ key = {{ {keys} }} actions = {{ set; }} const entries = {{ {entries} }} }}"
        )
    };
    for (keys, entries, expected) in [
        (
            "hdr.h.a: lpm;",
            "0x0f &&& 0x0f: set(1);",
            expect![[r#"
                E0805 the mask of key `hdr.h.a` is not a prefix, as `lpm` needs at `0x0f &&& 0x0f: set(1)`
            "#]],
        ),
        (
            "hdr.h.a: exact; hdr.h.b: exact;",
            "(1, _): set(1);",
            expect![[r#"
                E0805 key `hdr.h.b` is matched exactly: it needs one value here at `(1, _): set(1)`
            "#]],
        ),
        (
            "hdr.h.a: exact;",
            "1 &&& 3: set(1);",
            expect![[r#"
                E0805 key `hdr.h.a` is matched exactly: it needs one value here at `1 &&& 3: set(1)`
            "#]],
        ),
        (
            "hdr.h.a: ternary;",
            "1..3: set(1);",
            expect![[r#"
                E0805 key `hdr.h.a` cannot match a range at `1..3: set(1)`
            "#]],
        ),
    ] {
        check_errors(&Parts { locals: &table(keys, entries), ingress: "t.apply();", ..Parts::default() }, expected);
    }
}

#[test]
fn direct_objects_are_found_in_the_actions_and_results_may_be_local() {
    check_ir(
        Stage::Ingress,
        &Parts {
            locals: "direct_counter(CounterType.bytes) c; direct_meter<bit<2>>(MeterType.packets) m; \
                     action set() { bit<2> color; m.read(color); c.count(); hdr.h.b = (bit<8>) color; } \
                     table t { key = { hdr.h.a: exact; } actions = { set; } }",
            ingress: "t.apply();",
            ..Parts::default()
        },
        expect![[r#"
            action0 "I.set" () {
              v16 = 2w0x0
              v16 = bit<2>(v17)
              h0.1 = bit<8>(v16)
            }
            action1 "NoAction" () {
            }
            table0 "I.t" size 1024 {
              key "hdr.h.a" exact h0.0
              action action0
              action action1 default_only
              default 1()
              direct_counter dcounter0
              direct_meter dmeter0 into v17
            }
            block2 "I" control {
              apply table0
            }
        "#]],
    );
}

#[test]
fn what_tables_cannot_do() {
    for (locals, expected) in [
        (
            "action a() { } table t { key = { hdr.h.a: lpm; hdr.h.b: lpm; } actions = { a; } }",
            expect![[r#"
                E0806 a table can have only one key of kind `lpm`, unless there is a `ternary` key, too at `hdr.h.b: lpm`
            "#]],
        ),
        (
            "direct_counter(CounterType.bytes) c; action a() { } table t { key = { hdr.h.a: exact; } actions = { a; } counters = c; } \
             table u { key = { hdr.h.b: exact; } actions = { a; } counters = c; }",
            expect![[r#"
                E0809 the direct counter or meter of this table belongs to another table already at `u`
            "#]],
        ),
        (
            "action a(h_t h) { } table t { key = { hdr.h.a: exact; } actions = { a; } }",
            expect![[r#"
                E0806 the control plane cannot give `h`, which is not made of plain values at `h`
            "#]],
        ),
    ] {
        let ingress = if locals.contains("table u") { "t.apply(); u.apply();" } else { "t.apply();" };
        check_errors(&Parts { locals, ingress, ..Parts::default() }, expected);
    }
}

#[test]
fn a_key_may_apply_a_table() {
    check_packets(
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } \
                     table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } const entries = { 1: set(5); 2: NoAction(); } } \
                     table u { key = { t.apply().hit: exact @name(\"hit\"); hdr.h.b: exact; } actions = { set; } \
                               const entries = { (true, 5): set(0x15); (true, 0): set(0x10); } default_action = set(9); }",
            ingress: "u.apply();",
            ..Parts::default()
        },
        &["01 00 0000", "02 00 0000", "03 00 0000"],
        expect![[r#"
            01 00 0000 -> 01150000
            02 00 0000 -> 02100000
            03 00 0000 -> 03090000
        "#]],
    );
}

#[test]
fn entries_without_keys_are_ignored() {
    check_packets(
        &Parts {
            locals: "action set(bit<8> v) { hdr.h.b = v; } \
                     table t { key = { } actions = { set; } const entries = { _: set(1); } default_action = set(2); } \
                     table u { key = { } actions = { set; NoAction; } entries = { default: set(1); } }",
            ingress: "if (t.apply().hit) { hdr.h.c = 1; } u.apply();",
            ..Parts::default()
        },
        &["01 00 0000"],
        expect![[r#"
            01 00 0000 -> 01020000
        "#]],
    );
}
