//! The verifier: each rule of its catalogue, broken once.

use expect_test::{Expect, expect};

const SAMPLE: &str = include_str!("sample.lir");

/// Replaces a part of the sample and shows what the verifier finds.
fn check(part: &str, replacement: &str, expected: Expect) {
    assert!(SAMPLE.contains(part), "the sample has no {part:?}");
    let unit = lir::text::read(&SAMPLE.replacen(part, replacement, 1)).unwrap();
    expected.assert_eq(&lir::verify(&unit).unwrap_err().to_string());
}

#[test]
fn stages_and_nodes() {
    check("  node 1 {", "  node 0 {", expect!["node 0 is there twice"]);
    check("entry 0 {", "entry 1 {", expect!["stage 0 is not entered at its first node"]);
    check("entry 5 {", "entry 1 {", expect!["node 5 is not an entry of a later stage"]);
    check("go 1", "go 5", expect!["go 5 leaves its stage"]);
    check("pass 5", "pass 1", expect!["node 1 is not an entry of a later stage"]);
    check("pass 5", "pass 9", expect!["node 9 is not an entry of a later stage"]);
    check(
        "look_up 4",
        "look_up 5",
        expect!["node 4 begins with a result for which no packet is looked up, or without one for which packets are"],
    );
    check("    go 5\n", "", expect!["node 4 does not end on every path"]);
}

#[test]
fn labels() {
    check("goto parsed", "goto accepted", expect!["there is no label accepted"]);
    check("label end_4", "label parsed", expect!["label parsed is there twice"]);
}

#[test]
fn state() {
    check("    sum0 = WS_SUM_LOST\n", "", expect!["sum0 has no value where packets enter stage 0"]);
    check("state payload at c->payload\n", "", expect!["payload has no saved place"]);
    check("live_out valid0", "live_out v2_hit", expect!["v2_hit has no saved place"]);
    check("spills valid0", "spills v2_hit", expect!["v2_hit has no saved place"]);
}

#[test]
fn names() {
    check("do memcpy(buffer_2, o_3, 4)", "do memcpy(buffer_2, o_4, 4)", expect!["the name o_4 is not declared"]);
    check(
        "label end_4",
        "do memcpy(buffer_2, bytes, 4)\n    label end_4",
        expect!["the name buffer_2 is not declared"],
    );
}
