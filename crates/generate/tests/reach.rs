//! Programs of the project: what is reported as reached is reached, entries are accepted, packets hit them.

use expect_test::{Expect, expect};
use generate::{Generator, Report, Settings};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wirespeed::{Backend, Options, What};

/// What was generated for a program.
struct Generated {
    report: Report,
    entries: String,
    packets: Vec<(u32, Vec<u8>)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All programs in a folder, and in those in it.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "p4") {
            found.push(path);
        }
    }
}

fn generated(program: &ir::Program, settings: &Settings) -> Generated {
    let generator = Generator::new(program, settings).unwrap();
    let mut entries = Vec::new();
    let report = generator.entries(&mut entries, &mut |_, _| {}).unwrap();
    let mut packets = Vec::new();
    generator
        .packets(|port, frame| {
            packets.push((port, frame.to_vec()));
            Ok::<(), ()>(())
        })
        .unwrap();
    Generated { report, entries: String::from_utf8(entries).unwrap(), packets }
}

/// Generates for a program, and compares the report with what a switch does. `None` if it is not compiled.
fn check(path: &Path) -> Result<Option<Report>, String> {
    let Ok(program) = Options::as_written().compile_file(path) else { return Ok(None) };
    let few = Settings { flows: 8, entries: 8, count: 8, ..Settings::default() };
    let kinds = Generator::new(program.ir(), &few)?.kinds() as u64;
    let flows = kinds.max(4);
    let settings = Settings { flows, entries: flows, count: flows, ..Settings::default() };
    let it = generated(program.ir(), &settings);
    if kinds < 16 {
        let again = generated(program.ir(), &settings);
        assert_eq!((&it.entries, &it.packets), (&again.entries, &again.packets), "{}", path.display());
    }
    let switch = program.switch().backend(Backend::Interpreter).entries("generated", &it.entries).build();
    let mut switch = match switch {
        Ok(switch) => switch,
        // Without their plug-ins.
        Err(_) if !program.ir().extern_functions.is_empty() => return Ok(Some(it.report)),
        Err(error) => return Err(format!("{error}\n{}", it.entries)),
    };
    let mut entered = BTreeSet::new();
    for (port, frame) in &it.packets {
        let (_, journey) = switch.trace(0, *port, frame).map_err(|error| error.to_string())?;
        entered.extend(journey.steps.into_iter().filter_map(|step| match step.what {
            What::State { name } => Some(name),
            _ => None,
        }));
    }
    let wrong = it.report.states.iter().find(|state| state.why_not.is_none() && !entered.contains(&state.name));
    match wrong {
        Some(state) => Err(format!("{} is not reached", state.name)),
        None => Ok(Some(it.report)),
    }
}

/// The programs of a group of folders; the states that no packet reaches, with the reasons.
fn check_folders(folders: &[&str], expected: Expect) {
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| programs(&root().join(folder), &mut paths));
    let (mut missed, mut failures) = (String::new(), String::new());
    for path in paths {
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let report = match check(&path) {
            Ok(Some(report)) => report,
            Ok(None) => continue,
            Err(why) => {
                writeln!(failures, "{name}: {why}").unwrap();
                continue;
            }
        };
        for (state, why) in report.states.iter().filter_map(|state| Some((&state.name, state.why_not.as_ref()?))) {
            writeln!(missed, "{name} {state}: {why}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
    expected.assert_eq(&missed);
}

// Beside these folders there are others with the same programs, or with very long ones.

#[test]
fn packets_reach_all_states_of_applications() {
    check_folders(
        &["apps", "examples", "bench"],
        expect![[r#"
            apps/aggregation/gateway/gateway.p4 parse_pile: its select compares what is fixed for a received packet
            apps/aggregation/gateway/gateway.p4 parse_record: its select compares what is fixed for a received packet
            apps/aggregation/gateway/gateway.p4 parse_record4: only from parse_record, which is not reached
            apps/aggregation/gateway/gateway.p4 parse_record6: only from parse_record, which is not reached
            apps/aggregation/variable/variable.p4 parse_worker: its select compares what is fixed for a received packet
        "#]],
    );
}

#[test]
fn packets_reach_all_states_of_the_corpus() {
    check_folders(
        &["tests/course", "tests/parser", "tests/tables", "tests/v1model"],
        expect![[r#"
        tests/parser/value_set_forms.p4 in_pairs: no packet of this traffic goes there
        tests/v1model/piles_minimal.p4 record: its select compares what is fixed for a received packet
    "#]],
    );
}

#[test]
fn packets_reach_all_states_of_other_architectures_and_of_p4_14() {
    check_folders(
        &["tests/pna", "tests/psa", "tests/p4_14", "tests/p4info"],
        expect![[r#"
        tests/psa/carried.p4 recirculated: its select compares what is fixed for a received packet
        tests/psa/carried.p4 resubmitted: its select compares what is fixed for a received packet
        tests/p4_14/header_validity.p4 never: no transition leads to it
        tests/p4_14/parser_features.p4 where_added_goes: no transition leads to it
        tests/p4_14/parser_features.p4 parse_added: no transition leads to it
    "#]],
    );
}

/// Generates for a program in text, with few flows.
fn report_of(text: &str, settings: &Settings) -> (Report, String) {
    let program = Options::as_written().compile_text("hostile.p4", text).unwrap();
    let generator = Generator::new(program.ir(), settings).unwrap();
    let mut entries = Vec::new();
    let report = generator.entries(&mut entries, &mut |_, _| {}).unwrap();
    (report, String::from_utf8(entries).unwrap())
}

/// A program with this parser body and this ingress.
fn program(parser: &str, ingress: &str) -> String {
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n
        header b_t {{ bit<8> v; }} header w_t {{ bit<32> v; }} header o_t {{ varbit<2040> o; }}
        struct headers {{ b_t first; w_t word; b_t[3] bytes; o_t options; }}
        struct metadata {{ bit<32> a; bit<32> b; }}
        parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ {parser} }}
        control V(inout headers hdr, inout metadata meta) {{ apply {{ }} }}
        control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ {ingress} }}
        control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ apply {{ }} }}
        control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.first); }} }}
        V1Switch(P(), V(), I(), E(), V(), D()) main;"
    )
}

fn missed(report: &Report) -> Vec<String> {
    let missed = report.states.iter().filter_map(|it| Some(format!("{}: {}", it.name, it.why_not.as_ref()?)));
    missed.collect()
}

#[test]
fn endless_parsers_and_impossible_conditions_end() {
    let parser = "
        state start { packet.extract(hdr.first); meta.a = (bit<32>)hdr.first.v;
            transition select(meta.a) { 1: circle; 2 .. 9: advance; 10: impossible; default: hash; } }
        state circle { meta.a = meta.a * 3 + meta.b; meta.b = meta.b ^ meta.a; transition select(meta.b) {
            0xdeadbeef: never; default: circle; } }
        state advance { packet.advance(meta.a << 3); transition select(packet.lookahead<bit<8>>()) {
            7: advance; default: accept; } }
        state impossible { transition select(hdr.first.v) { 11: never; default: accept; } }
        state hash { packet.extract(hdr.word); meta.a = hdr.word.v * hdr.word.v; transition select(meta.a & 0xffff) {
            0x1234: never; 4: square; default: accept; } }
        state square { transition accept; }
        state never { transition accept; }";
    let settings = Settings { flows: 4, entries: 4, ..Settings::default() };
    let (report, _) = report_of(&program(parser, "apply { }"), &settings);
    expect!["never: no packet was found that its select sends there"].assert_eq(&missed(&report).join("\n"));
}

#[test]
fn lengths_checks_and_stacks_are_solved() {
    let parser = "
        state start { packet.extract(hdr.first);
            verify(hdr.first.v[7:4] == 4, error.NoMatch);
            verify(hdr.first.v[3:0] >= 5, error.NoMatch);
            packet.extract(hdr.options, (bit<32>)(hdr.first.v[3:0] - 5) << 5);
            meta.a = (bit<32>)hdr.first.v[3:0] - 5;
            transition select(hdr.first.v[3:0]) { 5: accept; default: elements; } }
        state elements { packet.extract(hdr.bytes.next);
            transition select(hdr.bytes.last.v, hdr.bytes.lastIndex) {
                (0x80 &&& 0x80, _): elements; (_, 2): third; default: accept; } }
        state third { transition select(sm.packet_length) { 1000: exactly; default: accept; } }
        state exactly { transition accept; }";
    let settings = Settings { flows: 8, entries: 1, ..Settings::default() };
    let (report, _) = report_of(&program(parser, "apply { }"), &settings);
    assert_eq!(missed(&report), [""; 0]);
}

#[test]
fn all_kinds_of_keys_get_entries_that_packets_hit() {
    let ingress = "
        action set(bit<9> port, bit<32> next) { sm.egress_spec = port; meta.b = next; }
        action nothing() { mark_to_drop(sm); }
        table first { key = { hdr.word.v: lpm; hdr.first.v: ternary; } actions = { nothing; set; } }
        table second { key = { meta.b: exact; hdr.word.v[15:0]: range; hdr.first.v: optional; }
            actions = { nothing; set; } default_action = nothing(); size = 3; }
        apply { first.apply(); second.apply(); }";
    let parser = "state start { packet.extract(hdr.first); packet.extract(hdr.word); transition accept; }";
    let settings = Settings { flows: 6, entries: 6, ..Settings::default() };
    let text = program(parser, ingress);
    let (report, entries) = report_of(&text, &settings);
    expect![[r#"
        table_add I.first I.set 70.139.96.0/23 0xc5&&&0xff => 2 49 10
        table_add I.second I.set 49 25056..25071 197 => 2 59 5
        table_add I.first I.set 51.173.160.0/20 0xd5&&&0xff => 2 64 13
        table_add I.second I.set 64 42240..42255 213 => 2 8 5
        table_add I.first I.set 239.181.142.0/23 0x7c&&&0xfc => 2 12 12
        table_add I.second I.set 12 36736..36751 124 => 2 64 5
        table_add I.first I.set 235.6.66.0/24 0x7c&&&0xfc => 2 7 11
        table_add I.first I.set 159.137.175.0/24 0xa8&&&0xfc => 2 14 11
        table_add I.first I.set 214.221.232.0/23 0x39&&&0xff => 2 53 10
        [TableReport { name: "I.first", entries: 6, lookups: 6, hits: 6 }, TableReport { name: "I.second", entries: 3, lookups: 6, hits: 3 }]"#]].assert_eq(&format!("{entries}{:?}", report.tables));
    let program = Options::as_written().compile_text("keys.p4", &text).unwrap();
    program.switch().backend(Backend::Interpreter).entries("keys", &entries).build().unwrap();
}

#[test]
fn wrong_settings_are_refused() {
    let text = program(
        "state start { packet.extract(hdr.first); transition accept; }",
        "action a(bit<9> port) { sm.egress_spec = port; } table t { key = { hdr.first.v: exact; } actions = { a; } }
         table l { key = { hdr.first.v: lpm; } actions = { a; } } apply { t.apply(); l.apply(); }",
    );
    let program = Options::as_written().compile_text("wrong.p4", &text).unwrap();
    let mut shown = String::new();
    for (word, rest) in [
        ("path", "nowhere"),
        ("field", "hdr.none = 1"),
        ("field", "first.v"),
        ("action", "u=a"),
        ("action", "t=b"),
        ("action", "t=a(1, 2)"),
        ("action", "t=a(600)"),
        ("field", "first.v = 70000"),
        ("field", "first.v = random(5, 1)"),
        ("prefix", "t"),
        ("prefix", "t=8"),
        ("prefix", "l=9"),
        ("ports", "9-1"),
        ("ports", "2-70000"),
        ("port", "70000"),
        ("speed", "1"),
    ] {
        let mut settings = Settings::default();
        let why = settings.setting(word, rest).err().or_else(|| Generator::new(program.ir(), &settings).err());
        writeln!(shown, "{word} {rest}: {}", why.unwrap()).unwrap();
    }
    expect![[r#"
        path nowhere: no path through the parser has all of the states nowhere
        field hdr.none = 1: no packet has the fields hdr.none; there are hdr.first.v
        field first.v: `first.v`: a field is NAME=EXPRESSION
        action u=a: the program has no table `u`; it has I.t, I.l
        action t=b: entries of table I.t have no action `b`; they have I.a
        action t=a(1, 2): action I.a: there are 1 parameters, 2 arguments given
        action t=a(600): action I.a: port: 600 does not fit in 9 bits
        field first.v = 70000: field hdr.first.v: 70000 does not fit in 8 bits
        field first.v = random(5, 1): `random(5, 1)`: there is no number from 5 to 1 before ``; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them
        prefix t: `t`: lengths of prefixes are TABLE=LENGTH
        prefix t=8: table I.t has no key of longest prefixes
        prefix l=9: table I.l: /9 is longer than the key, which has 8 bits
        ports 9-1: `9-1` is neither a port nor a range as 2-4
        ports 2-70000: there is no port 70000; the greatest is 511
        port 70000: there is no port 70000; the greatest is 511
        speed 1: `speed` is not a setting; there are traffic, port, ports, path, not, field, action, no-entries, prefix
    "#]]
    .assert_eq(&shown);
}
