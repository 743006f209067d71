//! The pages about diagnostics: the wrong program of each page gives the page's code, the right one has no error and
//! does not give it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use wirespeed::{MemoryFiles, Options, Source, Standard};

/// The codes that a program gives, warnings included.
fn codes_of(text: &str) -> BTreeSet<&'static str> {
    let options = Options { language: Some(Standard::P4_16), ..Options::default() };
    let mut source = Source::parse("page.p4", text, &options, &MemoryFiles::new());
    if let Some(typed) = source.check() {
        source.lint(&typed);
        if typed.main.is_some() && text.contains("V1Switch") {
            source.lower(&typed, &options);
        }
    }
    source.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
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
    // One of them is nested as deeply as nothing may be.
    base::stack::with_deep_stack(check_examples);
}

fn check_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("README.md"));
    paths.sort();
    assert!(paths.len() > 100);
    for path in paths {
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        // The programs of P4_14's pages are checked by the crate that reads that language.
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

/// All texts in which tests say what they expect: the files of `tests` folders, and the tests in the sources.
fn test_texts(folder: &Path, in_tests: bool, texts: &mut String) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            test_texts(&path, in_tests || path.ends_with("tests"), texts);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "txt" || ending == "p4") {
            let text = std::fs::read_to_string(&path).unwrap();
            let is_test = in_tests || path.ends_with("tests.rs");
            texts.push_str(if is_test { &text } else { text.split_once("#[cfg(test)]").map_or("", |parts| parts.1) });
        }
    }
}

#[test]
fn each_code_has_a_test_or_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = String::new();
    test_texts(&root.join("crates"), false, &mut texts);
    let mut paths: Vec<_> =
        std::fs::read_dir(root.join("docs/diagnostics")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("README.md"));
    for path in paths {
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        // The parser refuses such programs, so no text has this error.
        let cannot_happen = words(&page).contains("the grammar rejects such programs earlier");
        // The examples are checked above.
        assert!(
            page.contains("```p4") || texts.contains(&code) || cannot_happen,
            "{code} has neither a test nor an example"
        );
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
    assert!(text.starts_with("E0312: the extraction of a header with two `varbit` fields\n"), "{text}");
    let (code, text) = run(&["explain"]);
    assert_eq!(code, Some(0));
    assert!(text.lines().count() > 100 && text.contains("W0201: a name that hides another one"), "{text}");
    assert_eq!(run(&["explain", "E9999"]).0, Some(2));
}
