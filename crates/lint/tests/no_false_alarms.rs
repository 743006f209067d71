//! Realistic programs: they may only cause warnings about real mistakes.

use expect_test::expect;
use std::path::Path;
use syntax::{Diagnostics, DiskFiles, Options, SourceMap, parse_program, render_short};

/// The warnings about all programs of a folder, one a line, and the number of programs.
fn warnings_in(folder: &str) -> (String, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "p4"));
    paths.sort();
    let mut shown = String::new();
    for path in &paths {
        let mut sources = SourceMap::new();
        let (tree, mut diagnostics) = parse_program(&mut sources, path, &Options::new(&DiskFiles));
        let typed = sema::check(&tree, &mut diagnostics);
        assert!(!diagnostics.has_errors(), "{} has errors", path.display());
        let mut found = Diagnostics::new();
        lint::lint(&typed, &sources, &mut found);
        for warning in &found {
            let short = render_short(&sources, warning);
            let name = short.find(".p4:").map_or(0, |end| short[..end].rfind('/').map_or(0, |slash| slash + 1));
            shown.push_str(&format!("{}\n", &short[name..]));
        }
    }
    (shown, paths.len())
}

#[test]
fn course_programs() {
    let (shown, count) = warnings_in("tests/course");
    assert!(count >= 5);
    assert_eq!(shown, "");
}

#[test]
fn applications() {
    for folder in ["l2fwd", "l3fwd", "dcg", "aggregation/fixed", "zipline"] {
        let (shown, count) = warnings_in(&format!("apps/{folder}"));
        assert!(count >= 1);
        assert_eq!(shown, "");
    }
}

#[test]
fn whole_programs() {
    let (shown, count) = warnings_in("crates/sema/tests/programs");
    assert!(count >= 9);
    // The header's field is read after the header was made invalid.
    expect![[r#"
        tunnel.p4:106:45: warning[W0324]: `hdr.myTunnel.dst_id` is read, but the header is not valid here
    "#]]
    .assert_eq(&shown);
}
