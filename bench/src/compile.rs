//! How long large programs take to compile.
//!
//! What enters: programs that are made here, each large in another respect. What leaves: what `wirespeed compile --emit
//! times` reports of each: seconds of every stage, and the most memory. It runs the `wirespeed` beside this command.

mod programs;

use crate::Arguments;
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::process::Command;

/// Columns of the table: a name, and the stages that it has together.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("front end", &["parse", "check", "lint", "lower", "passes"]),
    ("plan", &["plan"]),
    ("C", &["c"]),
    ("cc", &["cc", "load"]),
];

/// Compiles each program, and prints what took how long.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let is_selected = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let mut figures = Vec::new();
    if !arguments.json {
        println!("{:<12} {:>9} {:>9} {:>9} {:>9} {:>9}   MB", "seconds", "front end", "plan", "C", "cc", "all");
    }
    for (name, text) in programs::all().into_iter().filter(|(name, _)| is_selected(name)) {
        let path = folder.path().join(format!("{name}.p4"));
        std::fs::write(&path, &text)?;
        let times = times(&path)?;
        if arguments.json {
            figures.push(json!({ "program": name, "lines": text.lines().count(), "times": times }));
        } else {
            print(name, &times);
        }
    }
    if arguments.json {
        println!("{}", json!({ "benchmark": "compile", "figures": figures }));
    }
    Ok(())
}

fn times(path: &Path) -> Result<Value, Box<dyn Error>> {
    let command = std::env::current_exe()?.with_file_name("wirespeed");
    let output = Command::new(command).args(["compile", "--emit", "times", "--json"]).arg(path).output();
    let output = output.map_err(|error| format!("wirespeed, beside this command: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn print(name: &str, times: &Value) {
    let second = |stage: &str| times["stages_s"][stage].as_f64().unwrap_or(0.0);
    let columns = COLUMNS.map(|(_, stages)| stages.iter().map(|stage| second(stage)).sum::<f64>());
    let figures: String = columns.iter().map(|seconds| format!(" {seconds:>9.2}")).collect();
    let bytes = ["own", "cc"].iter().filter_map(|who| times["memory_bytes"][who].as_u64()).max().unwrap_or(0);
    println!("{name:<12}{figures} {:>9.2} {:>4}", times["total_s"].as_f64().unwrap_or(0.0), bytes >> 20);
}
