//! Illegal programs. Each must be refused at the marked lines, and nowhere else.
//!
//! A file of `tests/illegal` has many programs, each under a line `// ---- what it shows`. A line that is wrong ends
//! with `//~ E0123`, once for each error that is reported there. A program is checked as `wirespeed check` does it:
//! with the lowering, if it is for a supported architecture.

use std::fmt::Write;
use std::path::Path;
use syntax::{Diagnostics, MemoryFiles, Options, Severity, SourceMap, parse_text};

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
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (tree, mut all) = parse_text(&mut sources, "t.p4", text, &Options::new(&files));
    if !all.has_errors() {
        let mut checked = Diagnostics::new();
        let typed = sema::check(&tree, &mut checked);
        all.append(checked);
        let is_run = text.contains("<v1model.p4>") || text.contains("<psa.p4>");
        if !all.has_errors() && typed.main.is_some() && is_run {
            lower::lower(&typed, &mut all);
        }
    }
    let errors = all.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut marks: Vec<Mark> = errors
        .map(|error| {
            let Some(place) = sources.location(error.primary.span.lo) else { return (0, error.code.to_owned()) };
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
