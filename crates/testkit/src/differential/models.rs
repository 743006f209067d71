//! Random models: a program's output must equal the result of the model.

use super::BuildFolder;
use super::p4::compiled;
use crate::model::Model;
use crate::pipeline::{Engine, optimised, switch_for};
use base::Rng;
use ir::Program;
use std::sync::Arc;
use stf::observation::Observation;

/// Packets for each model.
const PACKETS: usize = 12;

/// Checks that the switch computes the result of the model: in the interpreter, optimised, and as native code.
pub fn model_holds(rng: &mut Rng) -> Result<(), String> {
    let statements = *rng.pick(&[2, 5, 9, 14]);
    let model = Model::random(rng, statements);
    let text = model.text();
    let with_text = |what: String| format!("{what}\n{text}");
    let program = compiled(&text).map_err(with_text)?.map_err(|gaps| with_text(format!("not supported: {gaps:?}")))?;
    let program = Arc::new(program);
    let packets = (0..PACKETS).map(|_| model.packet(rng));
    let known: Vec<(Vec<u8>, Vec<u8>)> =
        packets.filter_map(|packet| model.result(&packet).map(|result| (packet, result))).collect();
    let better = Arc::new(optimised(&program).map_err(with_text)?);
    let folder = BuildFolder::new(false)?;
    let mut ways = vec![("interpreter", &program, Engine::Interpreter), ("optimised", &better, Engine::Interpreter)];
    if rng.chance(1, 4) {
        ways.push(("native code", &program, folder.engine()));
    }
    for (name, program, engine) in ways {
        let found = run(program, &engine, &known).map_err(with_text)?;
        for (number, (packet, expected)) in known.iter().enumerate() {
            let found = found.get(number);
            if found != Some(expected) {
                return Err(with_text(format!(
                    "{name}: a wrong result\n  of     {packet:02x?}\n  is     {found:02x?}\n  not    {expected:02x?}"
                )));
            }
        }
    }
    Ok(())
}

fn run(program: &Arc<Program>, engine: &Engine, packets: &[(Vec<u8>, Vec<u8>)]) -> Result<Vec<Vec<u8>>, String> {
    let mut switch = switch_for(program, engine)?;
    let mut observation = Observation::default();
    for (number, (packet, _)) in packets.iter().enumerate() {
        let now_ns = number as u64 * 1_000;
        switch.receive(now_ns, 0, packet);
        switch.run(now_ns, &mut observation);
    }
    Ok(observation.sent.remove(&1).unwrap_or_default())
}
