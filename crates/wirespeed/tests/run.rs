//! Switches: packets, control, journeys, state, and what they share.

use crate::{PACKET, bridge};
use wirespeed::{
    Backend, Bits, BuildError, CodeError, CompileOptions, NoSuchPort, Optimise, Options, Program, Reply, What,
};

fn interpreted(program: &Program) -> wirespeed::Switch {
    program.switch().backend(Backend::Interpreter).build().expect("the program can be run")
}

/// Code that is compiled quickly, in a cache of the test's own.
fn quick(folder: &tempfile::TempDir) -> CompileOptions {
    let cache_dir = Some(folder.path().join("objects"));
    CompileOptions { cache_dir, optimise: Optimise::None, ..CompileOptions::default() }
}

#[test]
fn what_leaves_has_everything_that_the_program_sends() {
    let mut switch = interpreted(&bridge());
    assert_eq!(switch.apply("table_add address send 02:00:00:00:00:01 => 3"), Ok(vec![Reply::Handle(0)]));
    let sent = switch.process(7, 1, &PACKET).unwrap();
    assert_eq!(sent.packets.len(), 1);
    assert_eq!((sent.packets[0].port, sent.packets[0].time_ns, &sent.packets[0].bytes[..]), (3, 7, &PACKET[..]));
    assert_eq!(sent.log, ["type 2048"]);
    assert_eq!(sent.digests[0].fields, [("src".to_owned(), Bits::from_u64(48, 0x0200_0000_0002))]);
    assert!(sent.packets_in.is_empty() && sent.failed_assertions.is_empty());
    assert_eq!(switch.apply("register_read seen 0"), Ok(vec![Reply::Text("1".to_owned())]));
    assert_eq!((switch.stats().received, switch.stats().sent), (1, 1));
}

#[test]
fn packets_for_the_controller_are_apart() {
    let builder = bridge().switch().backend(Backend::Interpreter).cpu_port(510);
    let mut switch = builder.entries("entries", "table_add address send 02:00:00:00:00:01 => 510").build().unwrap();
    let sent = switch.process(0, 1, &PACKET).unwrap();
    assert_eq!((sent.packets.len(), sent.packets_in.len()), (0, 1));
    // What the controller sends enters there.
    assert!(switch.process(0, 510, &PACKET).is_ok());
    assert_eq!(switch.process(0, 512, &PACKET), Err(NoSuchPort { port: 512, port_max: 511 }));
}

#[test]
fn refused_commands_name_their_lines() {
    let mut switch = interpreted(&bridge());
    let errors = switch.apply("table_add address send 1 => 3\ntable_add adress send 2 => 3").unwrap_err();
    assert_eq!(
        errors.to_string(),
        "commands:2: there is no table adress\n  help: the program has the tables I.address"
    );
    // None was carried out.
    assert_eq!(switch.apply("table_add address send 1 => 3"), Ok(vec![Reply::Handle(0)]));
    assert!(switch.apply("table_add address send 1 => 4").unwrap_err().to_string().starts_with("commands:1: "));
}

#[test]
fn a_journey_has_the_steps_in_names_of_the_program() {
    let mut switch = interpreted(&bridge());
    let (sent, journey) = switch.trace(0, 1, &PACKET).unwrap();
    assert!(sent.packets.is_empty());
    let has = |what: &What| journey.steps.iter().any(|step| step.what == *what);
    let key = ("h.ethernet.dst".to_owned(), Bits::from_u64(48, 0x0200_0000_0001));
    assert!(has(&What::Table { name: "I.address".to_owned(), keys: vec![key], entry: None }), "{journey:#?}");
    assert!(has(&What::Dropped { reason: wirespeed::DropReason::Ingress }));
    let state = journey.steps.iter().find(|step| step.what == What::State { name: "start".to_owned() }).unwrap();
    assert_eq!(state.location.as_ref().map(|place| (&*place.file, place.line)), Some(("bridge.p4", 8)));
}

#[test]
fn a_queue_with_a_rate_lets_packets_go_later() {
    let builder = bridge().switch().backend(Backend::Interpreter).port_rate(3, 1_000_000, 0);
    let mut switch = builder.entries("entries", "table_add address send 02:00:00:00:00:01 => 3").build().unwrap();
    let sent = switch.process_burst(0, 1, &[&PACKET, &PACKET]).unwrap();
    assert_eq!(sent.packets.len(), 1);
    // 16 bytes at a megabit a second.
    assert_eq!(switch.next_event_ns(), Some(128_000));
    assert_eq!(switch.run(127_999).packets.len(), 0);
    assert_eq!(switch.run(128_000).packets[0].time_ns, 128_000);
    let refused = bridge().switch().backend(Backend::Interpreter).port_rate(9_999, 1, 0).build();
    assert!(matches!(refused, Err(BuildError::NoPort(9_999))));
}

#[test]
fn the_state_of_a_switch_survives_it() {
    let folder = tempfile::tempdir().unwrap();
    let build = || bridge().switch().backend(Backend::Interpreter).state(folder.path()).build().unwrap();
    let mut switch = build();
    switch.apply("table_add address send 02:00:00:00:00:01 => 3").unwrap();
    switch.process(0, 1, &PACKET).unwrap();
    switch.save().unwrap();
    drop(switch);
    let mut again = build();
    assert!(again.not_restored().is_empty(), "{:?}", again.not_restored());
    assert_eq!(again.apply("register_read seen 0"), Ok(vec![Reply::Text("1".to_owned())]));
    assert_eq!(again.process(0, 1, &PACKET).unwrap().packets[0].port, 3);
}

#[test]
fn switches_share_code_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let program = bridge().optimised();
    let code = |program: &Program| program.code(&quick(&folder)).unwrap();
    assert!(std::ptr::eq(code(&program).plan(), code(&program.clone()).plan()));
    let build = || program.switch().backend(Backend::Native).compiler(quick(&folder)).build().unwrap();
    let (mut one, mut other) = (build(), build());
    one.apply("table_add address send 02:00:00:00:00:01 => 3").unwrap();
    let in_thread = std::thread::spawn(move || one.process(0, 1, &PACKET).unwrap());
    assert_eq!(in_thread.join().unwrap().packets[0].port, 3);
    assert!(other.process(0, 1, &PACKET).unwrap().packets.is_empty());
    let mut interpreted = interpreted(&program);
    let commands = "table_add address send 02:00:00:00:00:01 => 3";
    other.apply(commands).unwrap();
    interpreted.apply(commands).unwrap();
    assert_eq!(other.process(9, 2, &PACKET), interpreted.process(9, 2, &PACKET));
}

#[test]
fn without_a_compiler_the_interpreter_runs_unless_native_code_is_required() {
    let compiler = CompileOptions { compiler: Some("no-such-compiler".to_owned()), ..CompileOptions::default() };
    let program = Options::default().compile_text("bridge.p4", crate::BRIDGE).unwrap();
    let (_, reason) = program.backend(Backend::Best, &compiler).unwrap();
    assert!(matches!(reason, Some(CodeError::Build(_))));
    let build = |backend| program.switch().backend(backend).compiler(compiler.clone()).build();
    assert!(build(Backend::Best).is_ok());
    assert!(matches!(build(Backend::Native), Err(BuildError::Code(_))));
}

#[test]
fn special_code_is_for_the_tables_of_one_switch() {
    let folder = tempfile::tempdir().unwrap();
    let program = bridge().optimised();
    let build = || program.switch().backend(Backend::Native).compiler(quick(&folder)).build().unwrap();
    let (mut one, mut other) = (build(), build());
    one.apply("table_add address send 02:00:00:00:00:01 => 3").unwrap();
    other.apply("table_add address send 02:00:00:00:00:01 => 4").unwrap();
    let specialised = one
        .core(|core| core.specialisation_input().and_then(|input| input.specialised_program()))
        .expect("one entry is few");
    let special = std::sync::Arc::new(wirespeed::specialise(specialised, &quick(&folder)).unwrap());
    // Both tables are in the same state by their numbers, with other contents.
    assert!(!other.core(|core| core.specialise(std::sync::Arc::clone(&special))));
    assert!(one.core(|core| core.specialise(special)));
    assert_eq!(one.process(0, 1, &PACKET).unwrap().packets[0].port, 3);
    assert_eq!(other.process(0, 1, &PACKET).unwrap().packets[0].port, 4);
}

#[test]
fn a_program_that_is_put_in_later_speaks_of_itself() {
    let mut switch = interpreted(&bridge());
    let text = crate::BRIDGE.replace("learn_t", "moved_t").replace("seen", "counted");
    let other = Options::as_written().compile_text("other.p4", &text).unwrap();
    let core = other.switch().backend(Backend::Interpreter).build_core().unwrap();
    switch.control().replace(core, Default::default()).unwrap();
    let (sent, journey) = switch.trace(0, 1, &PACKET).unwrap();
    assert_eq!(sent.digests[0].name, "moved_t");
    assert_eq!(switch.apply("register_read counted 0"), Ok(vec![Reply::Text("1".to_owned())]));
    assert!(journey.steps.iter().any(|step| step.what == What::State { name: "start".to_owned() }));
    assert!(journey.steps.iter().all(|step| step.location.is_none()));
}
