//! Code for the contents of tables against the program itself, on the whole corpus: before each packet that a script
//! sends the code is made for the tables as they are then, as long as that is not too often, and the script goes on to
//! change them.

use cgen::Tuning;
use std::path::Path;
use std::sync::Arc;
use stf::observation::{Order, difference};
use switch::Switch;
use testkit::corpus::{Case, cases, quick_options};
use testkit::pipeline::{Engine, optimised, program_of_file, specialise, switch_for};

/// How often code is made for a script.
const SPECIALISED_MAX: usize = 2;

/// Runs a script both ways. Returns how often code was made for it.
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
    // Programs about parsers ask hardly any table.
    assert!(made > 0 || group == "parser", "no code was made for any script of {group}");
}

testkit::group_tests!(check_group);
