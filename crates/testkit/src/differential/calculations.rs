//! Random calculations: a program's output must equal the result of the calculation.

use super::BuildFolder;
use super::p4::compiled;
use crate::calculation::Calculation;
use crate::pipeline::{Engine, optimised, switch_for};
use base::Rng;
use ir::Program;
use std::sync::Arc;
use stf::observation::Observation;

/// Packets for each calculation.
const PACKETS: usize = 12;

/// Checks that the switch computes the result of the calculation: in the interpreter, optimised, and as native code.
pub fn calculation_holds(rng: &mut Rng) -> Result<(), String> {
    let statements = *rng.pick(&[2, 5, 9, 14]);
    let calculation = Calculation::random(rng, statements);
    let text = calculation.text();
    let with_text = |what: String| format!("{what}\n{text}");
    let program = compiled(&text).map_err(with_text)?.map_err(|gaps| with_text(format!("not supported: {gaps:?}")))?;
    let program = Arc::new(program);
    let headers: Vec<Vec<u8>> = (0..PACKETS).map(|_| header(rng, &calculation)).collect();
    let expected: Vec<Vec<u8>> = headers.iter().map(|header| calculation.result(header)).collect();
    let better = Arc::new(optimised(&program).map_err(with_text)?);
    let folder = BuildFolder::new(false)?;
    let mut ways = vec![("interpreter", &program, Engine::Interpreter), ("optimised", &better, Engine::Interpreter)];
    if rng.chance(1, 3) {
        ways.push(("native code", &program, folder.engine()));
    }
    for (name, program, engine) in ways {
        let found = run(program, &engine, &headers).map_err(with_text)?;
        let differs = (0..PACKETS).find(|&packet| found.get(packet) != expected.get(packet));
        if let Some(packet) = differs {
            let (header, found, expected) = (&headers[packet], found.get(packet), &expected[packet]);
            return Err(with_text(format!(
                "{name}: a wrong result\n  of     {header:02x?}\n  is     {found:02x?}\n  not    {expected:02x?}"
            )));
        }
    }
    Ok(())
}

fn header(rng: &mut Rng, calculation: &Calculation) -> Vec<u8> {
    let mut bytes = vec![0; calculation.header_bytes()];
    rng.fill(&mut bytes);
    match rng.below(4) {
        0 => bytes.iter_mut().for_each(|byte| *byte &= 0x03),
        1 => bytes.iter_mut().for_each(|byte| *byte |= 0xf8),
        _ => {}
    }
    bytes
}

fn run(program: &Arc<Program>, engine: &Engine, headers: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let mut switch = switch_for(program, engine)?;
    let mut observation = Observation::default();
    for (number, header) in headers.iter().enumerate() {
        let now_ns = number as u64 * 1_000;
        switch.receive(now_ns, 0, header);
        switch.run(now_ns, &mut observation);
    }
    Ok(observation.sent.remove(&1).unwrap_or_default())
}
