//! The text form: what is written reads back the same, and what is not a program is refused with its place.

use expect_test::{Expect, expect};
use ir::text::{parse, print, print_annotated};

const SAMPLE: &str = include_str!("sample.ir");

#[test]
fn the_sample_is_in_the_writers_form() {
    let program = parse(SAMPLE).unwrap();
    assert_eq!(print(&program), SAMPLE);
    assert_eq!(ir::verify(&program), Ok(()));
}

#[test]
fn annotations_are_comments() {
    let program = parse(SAMPLE).unwrap();
    let annotated = print_annotated(&program);
    assert!(annotated.contains("h0.2[7:0] = bit<8>(v3)  # hdr.ethernet.etherType, meta.signed\n"), "{annotated}");
    assert_eq!(parse(&annotated), Ok(program));
}

#[test]
fn another_drop_port_is_kept() {
    let text = print(&parse(SAMPLE).unwrap()).replacen("program v1model\n", "program v1model\ndrop_port 5\n", 1);
    let program = parse(&text).unwrap();
    assert_eq!((program.drop_port, print(&program)), (5, text));
}

#[test]
fn ports_of_hosts_are_kept() {
    let text = SAMPLE.replacen("program v1model\n", "program v1model\nhost_ports (4 .. 7, 9 .. 9)\n", 1);
    let program = parse(&text).unwrap();
    assert_eq!((&program.host_ports[..], print(&program)), (&[(4, 7), (9, 9)][..], text));
}

#[test]
fn entries_that_packets_add_and_timers_are_kept() {
    let adds = "  v0 = v5\n  add_entry v9 = table1 (h0.1) 1(v5) timer 8w0x2\n  set_timer 8w0x1\n  restart_timer\n";
    let text = SAMPLE.replacen("  v0 = v5\n", adds, 1);
    let text = text.replacen("  const_entries\n", "", 1).replacen("  implementation profile1 ()\n", "", 1);
    let text = text.replacen("priority 0 1(9w0x1ff)\n", "priority 0 1(9w0x1ff)\n  expires\n  adds_on_miss\n", 1);
    let program = parse(&text).unwrap();
    assert_eq!((print(&program), ir::verify(&program)), (text, Ok(())));
}

/// Replaces a part of the sample and shows the reader's complaint.
fn check(part: &str, replacement: &str, expected: Expect) {
    assert!(SAMPLE.contains(part), "the sample has no {part:?}");
    expected.assert_eq(&parse(&SAMPLE.replacen(part, replacement, 1)).unwrap_err().to_string());
}

#[test]
fn errors_have_their_place() {
    check("program v1model", "program tna", expect!["1:9: expected an architecture, found 'tna'"]);
    check("labels 4", "labels four", expect!["3:8: expected a number, found 'four'"]);
    check("v1 \"", "v2 \"", expect!["5:1: v2 is declared out of order: v1 is next"]);
    check("bit<200>", "bit<32769>", expect!["12:20: a width of 32769 bits; the most is 32768"]);
    check("ht1 metadata", "ht9 metadata", expect!["30:20: ht9 is not declared"]);
    check("[h1, h2]", "[]", expect!["33:24: a stack without elements"]);
    check("v0 = v5", "v0 = v77", expect!["53:8: v77 is not declared"]);
    check("v0 = v5", "v0 + v5", expect!["53:6: expected '=', found '+'"]);
    check("leave l0", "depart l0", expect!["56:3: expected a statement, found 'depart'"]);
    check(
        "48w0x10 ",
        "48w0x1000000000000 ",
        expect!["66:18: '48w0x1000000000000' is not a constant such as 8w0xff whose value fits its width"],
    );
    check("priority 3", "priority 3000000000", expect!["66:114: a priority that does not fit 32 bits"]);
    check("h0.2[7:0]", "h0.3[7:0]", expect!["133:9: the header has no field 3"]);
    check("@8..9", "@9..8", expect!["127:19: a source range that runs backwards"]);
    check("h0.2[7:0]", "h0.2[0:7]", expect!["133:15: a slice that no value has"]);
    check("\"MyDeparser\"", "\"MyDeparser", expect!["157:29: a text without its closing quote"]);
    check("\\u{7}", "\\u{110000}", expect![[r#"148:40: an unknown escape: only \" \\ \n \u{...} are"#]]);
    check("emit h0", "emit ?0", expect!["158:8: expected a header, found '?'"]);
    check("emit h0", "emit €", expect!["158:8: unexpected character '€'"]);
}

#[test]
fn nesting_is_bounded() {
    base::stack::with_deep_stack(refuse_what_is_too_deep);
}

fn refuse_what_is_too_deep() {
    let deep = format!("v2 = {}v2{}", "(".repeat(100_000), ")".repeat(100_000));
    check("v0 = v5", &deep, expect!["53:8199: nested more than 8192 deep"]);
    let deep = format!("v2 = {}v2", "~".repeat(100_000));
    check("v0 = v5", &deep, expect!["53:8199: nested more than 8192 deep"]);
    let deep = format!("v2 = v2{}", "[0:0]".repeat(100_000));
    check("v0 = v5", &deep, expect!["53:95: more than 16 slices of one another"]);
    let deep = "if v9 {\n".repeat(100_000);
    check("v0 = v5", &deep, expect!["8244:4: nested more than 8192 deep"]);
}

#[test]
fn damaged_text_is_refused_or_read_but_never_panics() {
    let mut rng = base::Rng::new(1);
    for _ in 0..2000 {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => bytes[at] = *rng.pick(SAMPLE.as_bytes()),
                1 => _ = bytes.remove(at),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let program = parse(&String::from_utf8_lossy(&bytes));
        if let Some(program) = program.ok().filter(|program| ir::verify(program).is_ok()) {
            assert_eq!(parse(&print(&program)), Ok(program));
        }
    }
}
