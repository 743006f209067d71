//! Whole programs of the kind that courses use: all must be accepted without any diagnostic.

use syntax::{Diagnostics, DiskFiles, Options, SourceMap, parse_program, render_all};

fn check_file(path: &std::path::Path, needs_main: bool) -> String {
    let mut sources = SourceMap::new();
    let files = DiskFiles;
    let (program, parsed) = parse_program(&mut sources, path, &Options::new(&files));
    let mut diagnostics = Diagnostics::new();
    diagnostics.append(parsed);
    if !diagnostics.has_errors() {
        let hir = sema::check(&program, &mut diagnostics);
        if !diagnostics.has_errors() {
            let tree = format!("{hir:?}");
            // Index 2147483648 and above are inference variables.
            let leftover = ["Poisoned", "Unknown", "tparam2147"].into_iter().find(|word| tree.contains(word));
            assert_eq!(leftover, None, "{}: left in the typed tree", path.display());
        }
        assert!(diagnostics.has_errors() || hir.main.is_some() || !needs_main, "{}: no main", path.display());
    }
    render_all(&sources, &diagnostics, false)
}

#[test]
fn course_programs_check_without_diagnostics() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let faults: String = paths.iter().map(|path| check_file(path, true)).collect();
    assert!(faults.is_empty(), "{faults}");
    assert!(paths.len() >= 9);
}

#[test]
fn the_whole_language_checks_without_diagnostics() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accepted");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let faults: String = paths.iter().map(|path| check_file(path, false)).collect();
    assert!(faults.is_empty(), "{faults}");
}
