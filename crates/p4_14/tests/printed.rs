//! The translation of a P4_14 program is readable P4_16: printed, it parses and checks, whatever names the P4_14
//! program has.

use std::path::Path;
use syntax::{DiskFiles, Options, SourceMap, render_short};

/// The errors of the printed translation of the program at `path`, as P4_16.
fn errors_when_printed(path: &Path) -> String {
    let options = Options::new(&DiskFiles);
    let mut sources = SourceMap::new();
    let (tree, diagnostics) = p4_14::parse_program(&mut sources, path, &options, Some(p4_14::Standard::P4_14));
    assert!(!diagnostics.has_errors(), "{}", path.display());
    let text = syntax::print(&tree);
    let mut sources = SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_text(&mut sources, "printed.p4", &text, &options);
    if !diagnostics.has_errors() {
        sema::check(&tree, &mut diagnostics);
    }
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == syntax::Severity::Error);
    errors.map(|diagnostic| format!("{}\n", render_short(&sources, diagnostic))).collect()
}

#[test]
fn every_translation_can_be_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4_14");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_some_and(|extension| extension == "p4") {
            assert_eq!(errors_when_printed(&path), "", "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "only {count} programs");
}

#[test]
fn methods_of_externs_keep_what_is_a_number() {
    let text = "header_type h_t { fields { in : 8; b : 16; } } header h_t h; \
        extern_type unit { attribute size { type : int; } \
            method step(in bit<4> a, out bit<16> b, in counter c, optional in int<8> d); } \
        extern unit u { size : 5; } \
        counter c { type : packets; instance_count : 2; } \
        parser start { extract(h); return ingress; } \
        action a(error) { u.step(error, h.b, c); modify_field(h.in, error); } \
        table t { actions { a; } } control ingress { apply(t); }";
    let options = Options::new(&DiskFiles);
    let (tree, _) = p4_14::parse_text(&mut SourceMap::new(), "t.p4", text, &options, Some(p4_14::Standard::P4_14));
    let printed = syntax::print(&tree);
    let shown = ["extern unit", "    @name(\".a\") action"].map(|start| {
        let lines = printed.lines().skip_while(|line| !line.starts_with(start));
        let end = if start.starts_with(' ') { "    }" } else { "}" };
        lines.take_while(|line| *line != end).map(|line| format!("{line}\n")).collect::<String>()
    });
    expect_test::expect![[r#"
        extern unit {
            unit();
            void step(in bit<4> a, inout bit<16> b, in int<8> d);
            @name(".a") action a(@name("error") bit<8> error_) {
                bit<16> result = hdr.h.b;
                u.step((bit<4>)error_, result, (int<8>)8w0);
                hdr.h.b = result;
                hdr.h.in_ = error_;
    "#]]
    .assert_eq(&shown.concat());
}
