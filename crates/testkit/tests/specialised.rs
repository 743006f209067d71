//! Code that is specialised for the contents of tables against the general program, on the whole corpus: before each
//! packet of a script, up to a limit, code is specialised for the current tables, and the script then changes them
//! further.

use cgen::Tuning;
use std::path::Path;
use std::sync::Arc;
use stf::observation::{Order, difference};
use switch::{Frame, Output, Switch};
use testkit::corpus::{Case, cases, quick_options};
use testkit::pipeline::{Engine, optimised, program_of_file, program_of_text, specialise, switch_for};

/// How often code is specialised for a script.
const SPECIALISED_MAX: usize = 2;

/// Runs a script both ways. Returns how often code was specialised for it.
fn check(case: &Case, script: &Path, engine: &Engine) -> Result<usize, String> {
    let program = Arc::new(optimised(&program_of_file(&case.program)?)?);
    let text = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
    let script = stf::parse(&script.display().to_string(), &text).map_err(|errors| errors[0].to_string())?;
    let new_switch = |engine: &Engine| -> Result<Switch, String> {
        let mut switch = switch_for(&program, engine)?;
        if let Some(entries) = &case.entries {
            let commands = control::load_entries(entries, &program).map_err(|errors| errors[0].to_string())?;
            control::apply_all(&mut switch, &commands).map_err(|errors| errors[0].to_string())?;
        }
        Ok(switch)
    };
    let expected = stf::run(&script, &mut new_switch(&Engine::Interpreter)?);
    let (mut made, mut failure) = (0, None);
    let found = stf::run_watched(&script, &mut new_switch(engine)?, &mut |_, _| {}, &mut |switch, now_ns, output| {
        if made < SPECIALISED_MAX && switch.specialisation().is_none() {
            match specialise(switch, engine) {
                Ok(is_special) => made += usize::from(is_special),
                Err(error) => failure = Some(error),
            }
        }
        switch.run(now_ns, output);
    });
    match failure.or_else(|| difference(&expected.observation, &found.observation, Order::Any)) {
        None => Ok(made),
        Some(text) => Err(text),
    }
}

fn check_group(group: &str) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("specialised");
    let engine = Engine::Specialised(quick_options(&cache), Tuning::default());
    let (mut made, mut failures) = (0, Vec::new());
    for case in cases(group) {
        for script in &case.scripts {
            match check(&case, script, &engine) {
                Ok(count) => made += count,
                Err(text) => failures.push(format!("{}: {text}", script.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // Programs about parsers apply few tables.
    assert!(made > 0 || group == "parser", "no code was made for any script of {group}");
}

testkit::group_tests!(check_group);

/// Frames as they were sent.
#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

/// A program whose table has an action with this body, and nothing else that prevents processing in place.
fn program_with_action(body: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header small_t {{ bit<8> to; }}
header tag_t {{ bit<32> tag; }}
struct headers {{ tag_t tag; small_t small; }}
struct meta_t {{ }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.small); transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    action act() {{ {body} }}
    table t {{ key = {{ hdr.small.to: exact; }} actions = {{ act; NoAction; }} default_action = NoAction(); }}
    apply {{ sm.egress_spec = (bit<9>)hdr.small.to; t.apply(); }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.tag); packet.emit(hdr.small); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// The output for packets that are lent without headroom, before and after an entry invalidates the code for an empty
/// table.
fn lent_before_and_after_an_entry(source: &str, engine: &Engine) -> [Vec<(u32, Vec<u8>)>; 2] {
    let program = Arc::new(program_of_text("lent.p4", source).unwrap_or_else(|errors| panic!("{errors}")));
    let mut switch = switch_for(&program, engine).unwrap();
    let session = "mirroring_add 5 9\n";
    let forward = |switch: &mut Switch, entries: &str| {
        let commands = control::parse_entries("entries", entries, &program).unwrap();
        control::apply_all(switch, &commands).unwrap();
        let mut memory = [vec![1, 7], vec![2, 8], vec![1, 9]];
        let mut frames: Vec<Frame<'_>> =
            memory.iter_mut().map(|memory| Frame::behind_headroom(memory, 0, 3, 0)).collect();
        let mut sent = Sent::default();
        switch.forward(0, &mut frames, &mut sent);
        sent.0
    };
    let _ = forward(&mut switch, session);
    if matches!(engine, Engine::Specialised(..)) {
        assert!(specialise(&mut switch, engine).unwrap(), "the table is empty");
    }
    let before = forward(&mut switch, "");
    let after = forward(&mut switch, "table_add t act 1 =>\n");
    assert!(switch.specialisation().is_none(), "a table has changed");
    [before, after]
}

#[test]
fn frames_that_only_the_code_for_an_empty_table_takes_are_copied_when_it_ends() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("specialised");
    let engine = Engine::Specialised(quick_options(&cache), Tuning::default());
    for body in ["hdr.tag = { 0x01020304 };", "clone(CloneType.I2E, 5);"] {
        let source = program_with_action(body);
        let expected = lent_before_and_after_an_entry(&source, &Engine::Interpreter);
        assert_ne!(expected[0], expected[1], "{body}");
        assert_eq!(lent_before_and_after_an_entry(&source, &engine), expected, "{body}");
    }
}
