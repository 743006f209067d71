//! What a model contains for a program, and what it rejects.

use expect_test::{Expect, expect};
use p4info::{Model, v1};
use std::fmt::Write;
use std::path::Path;
use syntax::{DiskFiles, Options, SourceMap};

fn load(name: &str) -> (v1::P4Info, ir::Program) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4info").join(name);
    let mut sources = SourceMap::new();
    let (tree, mut diagnostics) = p4_14::parse_program(&mut sources, &path, &Options::new(&DiskFiles), None);
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics).expect("a program without errors");
    (p4info::generate(&typed, &program, &mut diagnostics).expect("a P4Info"), program)
}

/// Tables with their keys and actions, and headers, as the server sees them.
fn describe(model: &Model) -> String {
    let mut text = String::new();
    let seen = |value: &p4info::Value| match &value.translation {
        None => format!("{} bits", value.width_bits),
        Some(it) => format!("{} bits, for controllers {:?} as {}", value.width_bits, it.width_bits, it.uri),
    };
    for table in model.tables() {
        let _ = writeln!(text, "{} (priorities: {})", table.name, table.has_priorities());
        for key in &table.keys {
            let _ = writeln!(text, "  key {} {}: {:?}, {}", key.id, key.name, key.kind, seen(&key.value));
        }
        for listed in &table.actions {
            let action = model.action(listed.id).expect("an action of the P4Info");
            let _ = writeln!(text, "  action {} at {}", action.name, listed.position);
            for param in &action.params {
                let _ = writeln!(text, "    {} {}: {}", param.id, param.name, seen(&param.value));
            }
        }
    }
    for header in model.controller_headers() {
        let _ = writeln!(text, "{} of {} bits", header.name, header.width_bits);
        for field in &header.fields {
            let _ = writeln!(text, "  {} {} at {}: {}", field.id, field.name, field.offset_bits, seen(&field.value));
        }
    }
    for register in model.registers() {
        let _ = writeln!(text, "{}: {:?}", register.name, register.data);
    }
    for digest in model.digests() {
        let _ = writeln!(text, "{}: {} in the program, {:?}", digest.name, digest.digests.len(), digest.data);
    }
    text
}

fn check(name: &str, expect: Expect) {
    let (info, program) = load(name);
    expect.assert_eq(&describe(&Model::new(info, &program).expect("a P4Info that fits")));
}

#[test]
fn translated_types() {
    check(
        "types.p4",
        expect![[r#"
            MyIngress.t (priorities: true)
              key 1 meta.port: Exact, 9 bits, for controllers Some(32) as example.org/port
              key 2 meta.vrf: Exact, 10 bits, for controllers None as example.org/vrf
              key 3 meta.vlan: Ternary, 12 bits, for controllers Some(16) as type vlan_t
              key 4 meta.outer: Exact, 48 bits
              key 5 meta.plain: Exact, 8 bits
              key 6 meta.protocol: Exact, 8 bits
              key 7 meta.signed: Exact, 4 bits
              key 8 hdr.ethernet.dst: Exact, 48 bits
              key 9 std.parser_error: Exact, 32 bits
              action MyIngress.set at 0
                1 port: 9 bits, for controllers Some(32) as example.org/port
                2 nothing: 0 bits
                3 vrf: 10 bits, for controllers None as example.org/vrf
                4 vlan: 12 bits, for controllers Some(16) as type vlan_t
                5 tag: 12 bits
                6 outer: 48 bits
                7 plain: 8 bits
                8 protocol: 8 bits
              action NoAction at 1
            MyIngress.protocols: SerializableEnum { width_bits: 8, members: {"tcp": [6], "udp": [17]} }
            MyIngress.macs: Bits(Value { width_bits: 48, translation: None, format: None })
        "#]],
    );
}

#[test]
fn controller_headers() {
    check(
        "controller_headers.p4",
        expect![[r#"
        packet_out of 16 bits
          1 egress_port at 0: 9 bits
          2 pad at 9: 7 bits
        packet_in of 68 bits
          1 where.port at 0: 9 bits
          2 where.unused at 9: 7 bits
          9 mac at 16: 48 bits
          4 reason at 64: 4 bits
    "#]],
    );
}

#[test]
fn registers_of_structs() {
    check(
        "objects.p4",
        expect![[r#"
        MyIngress.direct (priorities: false)
          key 1 hdr.ethernet.dst: Exact, 48 bits
          action MyIngress.forward at 0
          action NoAction at 1
        MyIngress.cells: Struct([("last", Bits(Value { width_bits: 48, translation: None, format: None })), ("seen", Bits(Value { width_bits: 1, translation: None, format: None })), ("packet", Header([("ttl", Bits(Value { width_bits: 8, translation: None, format: None })), ("protocol", Bits(Value { width_bits: 8, translation: None, format: None })), ("src", Bits(Value { width_bits: 32, translation: None, format: None })), ("dst", Bits(Value { width_bits: 32, translation: None, format: None }))]))])
        MyIngress.flags: Bool
        MyIngress.signed: Bits(Value { width_bits: 16, translation: None, format: None })
        MyIngress.sums: Bits(Value { width_bits: 32, translation: None, format: None })
    "#]],
    );
}

#[test]
fn digests() {
    check(
        "digests.p4",
        expect![[r#"
        MyIngress.t (priorities: false)
          key 1 hdr.ethernet.src: Exact, 48 bits
          action MyIngress.learn at 0
          action NoAction at 1
        renamed_t: 1 in the program, Struct([("flag", Bool)])
        learn_t: 1 in the program, Struct([("address", Bits(Value { width_bits: 48, translation: None, format: None })), ("port", Bits(Value { width_bits: 9, translation: None, format: None })), ("pair", Struct([("low", Bits(Value { width_bits: 8, translation: None, format: None })), ("high", Bits(Value { width_bits: 8, translation: None, format: None }))]))])
        digest_0: 1 in the program, Tuple([Bits(Value { width_bits: 16, translation: None, format: None }), Bits(Value { width_bits: 9, translation: None, format: None })])
    "#]],
    );
}

/// The model's result for a modified P4Info.
fn check_changed(change: impl Fn(&mut v1::P4Info), expect: Expect) {
    let (mut info, program) = load("tables.p4");
    change(&mut info);
    let said = match Model::new(info, &program) {
        Ok(_) => "fits".to_owned(),
        Err(mismatch) => mismatch.message,
    };
    expect.assert_eq(&said);
}

#[test]
fn what_does_not_fit_is_named() {
    check_changed(
        |info| info.tables[0].match_fields[1].bitwidth = 31,
        expect!["table MyIngress.all_kinds: match field hdr.ipv4.dst is 31 bits wide in the P4Info, 32 in the program"],
    );
    check_changed(
        |info| info.tables[0].match_fields[0].r#match = None,
        expect!["table MyIngress.all_kinds: match field hdr.ethernet.dst does not have the match kind of the program"],
    );
    check_changed(
        |info| info.tables[0].match_fields[0].id = 2,
        expect!["table MyIngress.all_kinds: the id 2 is used twice, or is 0"],
    );
    check_changed(
        |info| info.tables[0].preamble.as_mut().unwrap().name = "MyIngress.other".into(),
        expect!["the program has no table called MyIngress.other"],
    );
    check_changed(
        |info| info.tables[1].preamble.as_mut().unwrap().id = 0x0200_0000 | 40196534,
        expect!["MyIngress.all_kinds and MyIngress.no_default have the same id 0x026559b6"],
    );
    check_changed(
        |info| info.tables[1].preamble.as_mut().unwrap().id = 0x0100_0001,
        expect!["MyIngress.no_default: 0x01000001 is not an id of a table"],
    );
    check_changed(
        |info| info.tables[1].action_refs[0].id = 5,
        expect!["table MyIngress.no_default lists 0x00000005, which is not an action"],
    );
    check_changed(
        |info| info.tables[1].implementation_id = 0x1100_0001,
        expect!["MyIngress.no_default names the action profile 0x11000001, which the P4Info does not have"],
    );
    check_changed(|info| info.actions.retain(|action| action.params.is_empty()), expect!["fits"]);
    check_changed(
        |info| drop(info.actions[2].params.pop()),
        expect!["action MyIngress.forward has 1 parameters that the P4Info does not have"],
    );
}

/// Controllers may omit what they do not use, and may assign their own ids.
#[test]
fn a_smaller_p4info_fits() {
    check_changed(|info| info.tables.truncate(1), expect!["fits"]);
    check_changed(
        |info| {
            info.tables.truncate(1);
            info.tables[0].preamble.as_mut().unwrap().id = 0x0200_0001;
            info.tables[0].match_fields[0].id = 77;
        },
        expect!["fits"],
    );
}

/// Types that contain themselves, and types that double in size at each level.
#[test]
fn hostile_types_end() {
    use v1::p4_data_type_spec::TypeSpec;
    let named = |name: String| v1::P4DataTypeSpec { type_spec: Some(TypeSpec::Struct(v1::P4NamedType { name })) };
    let member = |spec| v1::p4_struct_type_spec::Member { name: "m".into(), type_spec: Some(spec) };
    let mut types = v1::P4TypeInfo::default();
    types.structs.insert("s0".into(), v1::P4StructTypeSpec::default());
    for step in 1..60 {
        let inner = || member(named(format!("s{}", step - 1)));
        types
            .structs
            .insert(format!("s{step}"), v1::P4StructTypeSpec { members: vec![inner(), inner()], ..Default::default() });
    }
    let own = v1::P4StructTypeSpec { members: vec![member(named("own".into()))], ..Default::default() };
    types.structs.insert("own".into(), own);
    let said = |name: &str| p4info::Data::new(&named(name.into()), &types).map_err(|mismatch| mismatch.message);
    let expect = expect![[r#"
        Err("the type information has types within one another without end")
        Err("the type information has a type of more than 65536 parts")
        Err("the type information has no struct called nothing")
    "#]];
    expect.assert_eq(&format!("{:?}\n{:?}\n{:?}\n", said("own"), said("s59"), said("nothing")));
}
