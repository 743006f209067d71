//! The pages about diagnostics: the wrong program of each page gives the page's code, the right one has no error and
//! does not give it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, parse_text};

/// The codes that a program gives, warnings included.
fn codes_of(text: &str) -> BTreeSet<&'static str> {
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (tree, parsed) = parse_text(&mut sources, "page.p4", text, &Options::new(&files));
    let mut all = Diagnostics::new();
    all.append(parsed);
    if !all.has_errors() {
        let typed = sema::check(&tree, &mut all);
        if !all.has_errors() {
            lint::lint(&typed, &sources, &mut all);
        }
        if !all.has_errors() && typed.main.is_some() && text.contains("V1Switch") {
            lower::lower(&typed, &mut all);
        }
    }
    all.iter().map(|diagnostic| diagnostic.code).collect()
}

/// A program whose ingress is `text`.
fn with_ingress(text: &str) -> String {
    format!(
        "#include <v1model.p4>
        struct headers_t {{ }} struct metadata_t {{ }}
        parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{
            state start {{ transition accept; }}
        }}
        control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{ {text} }}
        control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{ apply {{ }} }}
        control C(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
        control D(packet_out packet, in headers_t hdr) {{ apply {{ }} }}
        V1Switch(P(), C(), I(), E(), C(), D()) main;"
    )
}

/// The programs of a page: whether each is right, and its text.
fn programs(page: &str) -> Vec<(bool, String)> {
    let mut programs = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("Wrong") && !line.starts_with("Right") || !line.ends_with(':') {
            continue;
        }
        let mut block = lines.by_ref().skip_while(|line| line.is_empty());
        assert_eq!(block.next(), Some("```p4"), "{page}");
        let text: String = block.take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        let whole = if line.contains("ingress") { with_ingress(&text) } else { text };
        programs.push((line.starts_with("Right"), whole));
    }
    programs
}

/// A text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn examples_are_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("README.md"));
    paths.sort();
    assert!(paths.len() > 100);
    for path in paths {
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        // The pages of P4_14 have no programs: they would be in another language.
        if code[1..].starts_with("09") {
            continue;
        }
        let programs = programs(&page);
        assert!(!programs.is_empty() || words(&page).contains("There is no example"), "{code} has no example");
        assert!(page.contains("\nSpecification: "), "{code} does not say where the rule is");
        for (is_right, text) in programs {
            let codes = codes_of(&text);
            assert_eq!(codes.contains(&*code), !is_right, "{code}: found {codes:?} in\n{text}");
            assert!(!is_right || !codes.iter().any(|code| code.starts_with('E')), "{code}: found {codes:?} in\n{text}");
        }
    }
}

#[test]
fn a_code_is_explained() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wirespeed")).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = run(&["explain", "e0312"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("E0312: a header with two `varbit` fields\n"), "{text}");
    let (code, text) = run(&["explain"]);
    assert_eq!(code, Some(0));
    assert!(text.lines().count() > 100 && text.contains("W0201: a name that hides another one"), "{text}");
    assert_eq!(run(&["explain", "E9999"]).0, Some(2));
}
