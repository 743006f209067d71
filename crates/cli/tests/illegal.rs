//! Illegal programs. Each must be refused at the marked lines, and nowhere else.
//!
//! A file of `tests/illegal` has many programs, each under a line `// ---- what it shows`. A line that is wrong ends
//! with `//~ E0123`, once for each error that is reported there. A program is checked as `wirespeed check` does it:
//! with the lowering, if it is for a supported architecture.

use std::fmt::Write;
use std::path::Path;
use syntax::Severity;
use wirespeed::{MemoryFiles, Options, Source, Standard};

/// Where an error is, or is expected: its line and its code.
type Mark = (u32, String);

/// The marks of a program's text, by line.
fn expected(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let codes = line.split_once("//~").map_or("", |(_, codes)| codes);
        marks.extend(codes.split_whitespace().map(|code| (number, code.to_owned())));
    }
    marks.sort();
    marks
}

/// The errors of a program, by line; one in another file has the line 0.
fn found(text: &str) -> Vec<Mark> {
    let options = Options { language: Some(Standard::P4_16), ..Options::default() };
    let mut source = Source::parse("t.p4", text, &options, &MemoryFiles::new());
    let is_run = text.contains("<v1model.p4>") || text.contains("<psa.p4>");
    if let Some(typed) = source.check().filter(|typed| typed.main.is_some() && is_run) {
        source.lower(&typed, &options);
    }
    let errors = source.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut marks: Vec<Mark> = errors
        .map(|error| {
            let Some(place) = source.map.location(error.primary.span.lo) else { return (0, error.code.to_owned()) };
            let line = if &*place.file == "t.p4" { place.line } else { 0 };
            (line, error.code.to_owned())
        })
        .collect();
    marks.sort();
    marks
}

fn check_file(path: &Path, faults: &mut String) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for program in text.split("// ---- ").skip(1) {
        count += 1;
        let (title, program) = program.split_once('\n').unwrap();
        let (expected, found) = (expected(program), found(program));
        assert!(!expected.is_empty(), "{title}: nothing is marked as wrong");
        if expected != found {
            let name = path.file_name().unwrap().to_string_lossy();
            let _ = writeln!(faults, "{name}, {title}:\n    expected {expected:?}\n    found    {found:?}");
        }
    }
    count
}

#[test]
fn every_program_is_refused_where_it_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/illegal");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut faults = String::new();
    let count: usize = paths.iter().map(|path| check_file(path, &mut faults)).sum();
    assert!(faults.is_empty(), "{faults}");
    assert!(count > 700, "{count} programs");
}
