//! The text form: what is printed reads back the same, and what is not a unit is refused with its place.

use expect_test::{Expect, expect};
use lir::text::{print, read};

const SAMPLE: &str = include_str!("sample.lir");

#[test]
fn the_sample_is_in_the_printers_form() {
    let unit = read(SAMPLE).unwrap();
    assert_eq!(print(&unit), SAMPLE);
    assert_eq!(lir::verify(&unit), Ok(()));
}

/// Replaces a part of the sample and shows the reader's complaint.
fn check(part: &str, replacement: &str, expected: Expect) {
    assert!(SAMPLE.contains(part), "the sample has no {part:?}");
    expected.assert_eq(&read(&SAMPLE.replacen(part, replacement, 1)).unwrap_err().to_string());
}

#[test]
fn errors_have_their_place() {
    check("unit sample", "program sample", expect!["line 1: expected `unit`"]);
    check("var v0_port", "var port", expect!["line 2: expected a name that begins with `v` and a number"]);
    check("live_out valid0", "live_out valid", expect!["line 11: expected state"]);
    check("by burst", "by turns", expect!["line 15: expected `burst`, `masks`, `list` or `whole-burst`"]);
    check("entry 0 {", "entry first {", expect!["line 16: expected a number"]);
    check("const u32 end", "const int end", expect!["line 28: expected a type"]);
    check("cursor += 14", "cursor ++ 14", expect!["line 38: expected a value"]);
    check("frame->length", "frame->", expect!["line 28: expected a name"]);
    check("goto parsed", "goto 7", expect!["line 32: expected a name"]);
    check("found table0", "found port", expect!["line 91: expected a name that begins with `table` and a number"]);
    check("0xffffL", "0xfffffffffffffffffL", expect!["line 52: expected a word, a number or a sign"]);
    check("default {", "else {", expect!["line 74: expected `default`"]);
    check("env.tables", "env.chairs", expect!["line 58: expected an array of the environment"]);
    check("saved(parsed)", "saved(parser)", expect!["line 57: expected state"]);
    check("# router", "€ router", expect!["line 27: expected a word, a number or a sign"]);
}

#[test]
fn what_nests_too_deep_is_refused() {
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    check("u32(v0_port)", &deep, expect!["line 99: expected at most 100 levels"]);
    let deep = format!("{}1", "!".repeat(10_000));
    check("u32(v0_port)", &deep, expect!["line 99: expected at most 100 levels"]);
}
