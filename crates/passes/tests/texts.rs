//! Each pass on small programs: text in, text out. Long because each pass has its cases beside the others'.
//!
//! The storage that the bodies speak of is in `prelude.ir`: `v0` `bit<9>`, `v2` `bit<8>`, `v3` `int<8>`, `v5` `bool`
//! last; `v6`, `v7` `bit<8>`, `v8` `bool`, `v9` `bit<32>` are local; `h4` is a local header; `stack0` is `h2`, `h3`.
//! The only table's key is `v6`; its action `set` writes `v0`, `stop` writes `v7` and leaves `l0`.

use base::{Bits, FieldMatch};
use expect_test::{Expect, expect};
use ir::ActionCall;
use passes::specialise::{Contents, KnownEntry, specialise};
use passes::{
    Pass, chains, dead_code, dead_stores, inline, propagate, simplify, unread, unrequested, unroll, validity,
};

const PRELUDE: &str = include_str!("prelude.ir");

fn program(parser: &str, ingress: &str) -> String {
    let exit = if ingress.contains("block l0") { " exit l0" } else { "" };
    format!(
        "{PRELUDE}block0 \"P\" parser start state0 error v1 {{\n{parser}}}\nblock1 \"V\" control {{\n}}\n\
         block2 \"I\" control{exit} {{\n{ingress}}}\nblock3 \"E\" control {{\n}}\nblock4 \"C\" control {{\n}}\n\
         block5 \"D\" control {{\n}}\n"
    )
}

/// The text of a program after passes, from the line that starts with `from` to the one that starts with `to`.
fn after(passes: &[Pass], text: &str, from: &str, to: &str) -> String {
    let mut program = ir::text::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(ir::verify(&program), Ok(()));
    passes::run(&mut program, passes, true).unwrap();
    let text = ir::text::print(&program);
    let lines = text.lines().skip_while(|line| !line.starts_with(from)).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with(to)).collect();
    // Two spaces belong to the block, the last line is its brace.
    lines[..lines.len() - 1].iter().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect()
}

/// Runs a pass on the ingress control.
fn check(pass: Pass, body: &str, expected: Expect) {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    expected.assert_eq(&after(&[pass], &program(parser, body), "block2", "block3"));
}

/// Runs a pass on the parser.
fn check_parser(pass: Pass, states: &str, expected: Expect) {
    expected.assert_eq(&after(&[pass], &program(states, ""), "block0", "block1"));
}

/// An expression, simplified as the value of the first variable that it fits.
fn simplifies(before: &str, expected: Expect) {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let assigned = |var: &&str| program(parser, &format!("  {var} = {before}\n"));
    let fits = |text: &String| ir::text::parse(text).is_ok_and(|program| ir::verify(&program).is_ok());
    let text = ["v5", "v2", "v3", "v0", "v1"].iter().map(assigned).find(fits).expect("a variable of the width");
    let text = after(&[simplify::PASS], &text, "block2", "block3");
    expected.assert_eq(text.trim_end().split_once(" = ").unwrap().1);
}

#[test]
fn constants_are_folded() {
    simplifies("(8w0xff + 8w0x2)", expect!["8w0x1"]);
    simplifies("((8w0x3 * 8w0x5) ++ 1w0x1)", expect!["9w0x1f"]);
    simplifies("(8s0x80 >> 8w0x3)", expect!["8s0xf0"]);
    simplifies("(8w0x1 / 8w0x0)", expect!["8w0x0"]);
    simplifies("(8s0xff < 8s0x1)", expect!["true"]);
    simplifies("int<8>(4s0x8)", expect!["8s0xf8"]);
    simplifies("(true ? v2 : v6)", expect!["v2"]);
}

#[test]
fn identities() {
    simplifies("(v2 + 8w0x0)", expect!["v2"]);
    simplifies("(8w0x0 - v2)", expect!["-v2"]);
    simplifies("(8w0xff & v2)", expect!["v2"]);
    simplifies("(v2 & 8w0x0)", expect!["8w0x0"]);
    simplifies("(v2 ^ 8w0xff)", expect!["~v2"]);
    simplifies("(v2 << 8w0x8)", expect!["8w0x0"]);
    simplifies("(v3 >> 8w0x8)", expect!["(v3 >> 8w0x8)"]);
    simplifies("(v2 ^ v2)", expect!["8w0x0"]);
    simplifies("(v2 >= 8w0x0)", expect!["true"]);
    simplifies("(v3 >= 8s0x0)", expect!["(v3 >= 8s0x0)"]);
    simplifies("~~v2", expect!["v2"]);
    simplifies("!(v2 > v6)", expect!["(v2 <= v6)"]);
    simplifies("!(8w0x5 < v2)", expect!["(v2 <= 8w0x5)"]);
    simplifies("(v5 == false)", expect!["!v5"]);
    simplifies("(v5 || true)", expect!["true"]);
    simplifies("(v5 ? false : true)", expect!["!v5"]);
    simplifies("(!v5 ? v2 : v6)", expect!["(v5 ? v6 : v2)"]);
}

#[test]
fn casts_and_slices() {
    simplifies("bit<8>(bit<32>(v2))", expect!["v2"]);
    simplifies("bit<9>(bit<8>(v3))", expect!["bit<9>(bit<8>(v3))"]);
    simplifies("bit<9>(int<16>(v3))", expect!["bit<9>(v3)"]);
    simplifies("bit<32>(int<16>(v2))", expect!["bit<32>(v2)"]);
    simplifies("bit<32>(int<8>(v2))", expect!["bit<32>(int<8>(v2))"]);
    simplifies("h0.1[11:4][7:0]", expect!["h0.1[11:4]"]);
    simplifies("(v2 ++ v6)[7:0]", expect!["v6"]);
    simplifies("(v2 ++ v6)[15:8]", expect!["v2"]);
    simplifies("(v2 ++ v6)[11:4]", expect!["(v2 ++ v6)[11:4]"]);
    simplifies("(1w0x0 ++ v2)", expect!["bit<9>(v2)"]);
    simplifies("bit<32>(v2)[7:0]", expect!["v2"]);
}

#[test]
fn constant_indices_name_the_element() {
    check(
        simplify::PASS,
        "v2 = stack0[(2w0x0 + 2w0x1)].0\nset_valid stack0[4w0x9]\n",
        expect![[r#"
        v2 = h3.0
        set_valid stack0[4w0x9]
    "#]],
    );
}

#[test]
fn copies_are_forwarded_until_they_change() {
    check(
        propagate::PASS,
        "v6 = h0.0\nv7 = v6\nv2 = (v6 + v7)\nh0.0 = 8w0x1\nv2 = v6\nv6 = v2\nv2 = 8w0x5\nwrite register0[v2] = v6\n",
        expect![[r#"
            v6 = h0.0
            v7 = h0.0
            v2 = (h0.0 + h0.0)
            h0.0 = 8w0x1
            v2 = v6
            v6 = v6
            v2 = 8w0x5
            write register0[8w0x5] = v6
        "#]],
    );
}

#[test]
fn what_differs_after_a_branch_is_forgotten() {
    check(
        propagate::PASS,
        "v6 = 8w0x1\nv7 = 8w0x1\nif v5 {\n  v6 = 8w0x2\n} else {\n  v2 = v6\n}\nv2 = (v6 + v7)\n",
        expect![[r#"
            v6 = 8w0x1
            v7 = 8w0x1
            if v5 {
              v6 = 8w0x2
            } else {
              v2 = 8w0x1
            }
            v2 = (v6 + 8w0x1)
        "#]],
    );
    check(
        propagate::PASS,
        "v6 = 8w0x1\nswitch v9 {\n  case 32w0x1 {\n    v6 = 8w0x2\n  }\n  default {\n  }\n}\nv2 = v6\n",
        expect![[r#"
            v6 = 8w0x1
            switch 32w0x0 {
              case 32w0x1 {
                v6 = 8w0x2
              }
              default {
              }
            }
            v2 = v6
        "#]],
    );
}

#[test]
fn what_is_known_at_every_way_out_of_a_block_is_known_after_it() {
    check(
        propagate::PASS,
        "block l1 {\n  v6 = 8w0x1\n  v7 = 8w0x2\n  if v5 {\n    v7 = 8w0x3\n    leave l1\n  }\n}\nv2 = v6\nv2 = v7\n",
        expect![[r#"
            block l1 {
              v6 = 8w0x1
              v7 = 8w0x2
              if v5 {
                v7 = 8w0x3
                leave l1
              }
            }
            v2 = 8w0x1
            v2 = v7
        "#]],
    );
}

#[test]
fn loops_and_tables_forget_what_they_write() {
    check(
        propagate::PASS,
        "v6 = 8w0x1\nv7 = 8w0x1\nloop l1 {\n  v2 = (v6 + v7)\n  v6 = (v6 + 8w0x1)\n  if (v6 > 8w0x5) {\n    leave l1\n  }\n}\nv2 = (v6 + v7)\n",
        expect![[r#"
            v6 = 8w0x1
            v7 = 8w0x1
            loop l1 {
              v2 = (v6 + 8w0x1)
              v6 = (v6 + 8w0x1)
              if (v6 > 8w0x5) {
                leave l1
              }
            }
            v2 = (v6 + 8w0x1)
        "#]],
    );
    check(
        propagate::PASS,
        "block l0 {\n  v6 = 8w0x1\n  v7 = 8w0x2\n  v0 = 9w0x3\n  apply table0 hit v8\n  v2 = (v6 + v7)\n  v5 = (v8 == (v0 == 9w0x3))\n}\n",
        expect![[r#"
            block l0 {
              v6 = 8w0x1
              v7 = 8w0x2
              v0 = 9w0x3
              apply table0 hit v8
              v2 = (8w0x1 + v7)
              v5 = (v8 == (v0 == 9w0x3))
            }
        "#]],
    );
}

#[test]
fn values_used_once_move_whole_and_locals_start_at_zero() {
    check(
        propagate::PASS,
        "v2 = v7\nv6 = ((v2 * v2) + 8w0x1)\nv2 = v6\nv7 = ((v2 * v2) + 8w0x1)\nv2 = (v7 + v7)\n",
        expect![[r#"
            v2 = 8w0x0
            v6 = ((8w0x0 * 8w0x0) + 8w0x1)
            v2 = v6
            v7 = ((v6 * v6) + 8w0x1)
            v2 = (v7 + v7)
        "#]],
    );
}

#[test]
fn parser_states_entered_from_one_place_know_what_came_before() {
    check_parser(
        propagate::PASS,
        "  state0 \"start\" {\n    v2 = 8w0x5\n    select (v2) {\n      case (8w0x1): state1\n      case (any): state2\n    }\n  }\n\
         \x20 state1 \"one\" {\n    v3 = int<8>(v2)\n    goto state2\n  }\n  state2 \"two\" {\n    v3 = int<8>(v2)\n    goto accept\n  }\n",
        expect![[r#"
            state0 "start" {
              v2 = 8w0x5
              select (8w0x5) {
                case (8w0x1): state1
                case (any): state2
              }
            }
            state1 "one" {
              v3 = int<8>(8w0x5)
              goto state2
            }
            state2 "two" {
              v3 = int<8>(v2)
              goto accept
            }
        "#]],
    );
}

#[test]
fn validity_follows_tests_and_statements() {
    check(
        validity::PASS,
        "if (valid(h0) && !valid(h1)) {\n  v5 = valid(h0)\n  v2 = h1.0\n  set_valid h1\n  copy h0 = h1\n  v5 = valid(h0)\n  set_invalid stack0[v2]\n  v5 = (valid(h2) == valid(h1))\n} else {\n  v5 = valid(h0)\n}\nv5 = valid(h4)\n",
        expect![[r#"
            if (valid(h0) && !valid(h1)) {
              v5 = true
              v2 = 8w0x0
              set_valid h1
              copy h0 = h1
              v5 = true
              set_invalid stack0[v2]
              v5 = (valid(h2) == true)
            } else {
              v5 = valid(h0)
            }
            v5 = false
        "#]],
    );
    check(
        validity::PASS,
        "if (valid(h0) || valid(h1)) {\n  v5 = valid(h0)\n} else {\n  v5 = (valid(h0) == valid(h1))\n  set_invalid h3\n  push_front stack0 1\n  v5 = valid(h3)\n}\n",
        expect![[r#"
            if (valid(h0) || valid(h1)) {
              v5 = valid(h0)
            } else {
              v5 = (false == false)
              set_invalid h3
              push_front stack0 1
              v5 = valid(h3)
            }
        "#]],
    );
}

#[test]
fn what_known_validity_makes_needless_goes() {
    check(
        validity::PASS,
        "if valid(h0) {\n  set_valid h0\n  set_invalid h1\n  set_invalid h1\n  hash v2 = csum16(h0.0 if h0, h1.0 if h1, h2.0 if h2, h1.0)\n}\n",
        expect![[r#"
            if valid(h0) {
              set_invalid h1
              hash v2 = csum16(h0.0, h2.0 if h2, 8w0x0)
            }
        "#]],
    );
}

#[test]
fn an_extracted_header_is_valid() {
    check_parser(
        validity::PASS,
        "  state0 \"start\" {\n    extract h0\n    extract stack0.next\n    v5 = (valid(h0) && valid(h2))\n    goto accept\n  }\n",
        expect![[r#"
            state0 "start" {
              extract h0
              extract stack0.next
              v5 = (true && valid(h2))
              goto accept
            }
        "#]],
    );
}

#[test]
fn decided_branches_go() {
    check(
        dead_code::PASS,
        "if true {\n  v2 = 8w0x1\n} else {\n  v2 = 8w0x2\n}\nif v5 {\n} else {\n  v2 = v2\n  set_valid h0\n}\nif v5 {\n}\nswitch 32w0x2 {\n  case 32w0x1, 32w0x2 {\n    v2 = 8w0x3\n  }\n  default {\n  }\n}\n",
        expect![[r#"
            v2 = 8w0x1
            if !v5 {
              set_valid h0
            }
            v2 = 8w0x3
        "#]],
    );
}

#[test]
fn nothing_follows_a_leave_and_labels_that_nothing_leaves_go() {
    check(
        dead_code::PASS,
        "block l1 {\n  block l2 {\n    v2 = 8w0x1\n  }\n  if v5 {\n    leave l1\n    v2 = 8w0x2\n  }\n  v2 = 8w0x3\n  leave l1\n  v2 = 8w0x4\n}\n",
        expect![[r#"
            block l1 {
              v2 = 8w0x1
              if v5 {
                leave l1
              }
              v2 = 8w0x3
            }
        "#]],
    );
    check(
        dead_code::PASS,
        "block l0 {\n  apply table0\n}\n",
        expect![[r#"
        block l0 {
          apply table0
        }
    "#]],
    );
}

#[test]
fn parser_states_that_nothing_reaches_go() {
    check_parser(
        dead_code::PASS,
        "  state0 \"start\" {\n    select (8w0x3, v2) {\n      case (8w0x2, any): state1\n      case (8w0x1 .. 8w0x4, 8w0x1): state2\n      case (8w0x1 &&& 8w0x1, any): accept\n      case (any, any): state1\n    }\n  }\n\
         \x20 state1 \"gone\" {\n    goto accept\n  }\n  state2 \"kept\" {\n    select (true) {\n      case (true): state2\n    }\n  }\n",
        expect![[r#"
            state0 "start" {
              select (8w0x3, v2) {
                case (8w0x1 .. 8w0x4, 8w0x1): state1
                case (8w0x1 &&& 8w0x1, any): accept
              }
            }
            state1 "kept" {
              goto state1
            }
        "#]],
    );
}

#[test]
fn stores_that_nothing_reads_go() {
    check(
        dead_stores::PASS,
        "v6 = h0.0\nv6 = 8w0x1\nv6 = 8w0x2\nv2 = v6\nv6[3:0] = 4w0x1\nread v7 = register0[v2]\nrandom v7 = v2 .. v2\nhash v7 = crc32(v2)\n",
        expect![[r#"
            v6 = 8w0x2
            v2 = v6
            random v7 = v2 .. v2
        "#]],
    );
}

#[test]
fn stores_are_kept_for_every_way_they_are_read() {
    check(
        dead_stores::PASS,
        "block l1 {\n  v6 = 8w0x1\n  if v5 {\n    leave l1\n  }\n  v6 = 8w0x2\n}\nv2 = v6\n",
        expect![[r#"
            block l1 {
              v6 = 8w0x1
              if v5 {
                leave l1
              }
              v6 = 8w0x2
            }
            v2 = v6
        "#]],
    );
    check(
        dead_stores::PASS,
        "v6 = 8w0x1\nv7 = 8w0x9\nloop l1 {\n  v2 = v6\n  v6 = 8w0x3\n  if v5 {\n    v7 = 8w0x4\n    leave l1\n  }\n  v7 = 8w0x5\n}\nv2 = v7\n",
        expect![[r#"
            v6 = 8w0x1
            v7 = 8w0x9
            loop l1 {
              v2 = v6
              v6 = 8w0x3
              if v5 {
                v7 = 8w0x4
                leave l1
              }
              v7 = 8w0x5
            }
            v2 = v7
        "#]],
    );
}

#[test]
fn tables_read_their_keys_and_results_that_nothing_reads_go() {
    check(
        dead_stores::PASS,
        "block l0 {\n  v6 = 8w0x1\n  v7 = 8w0x2\n  apply table0 hit v8 action v9\n  v5 = v8\n}\nv2 = v7\n",
        expect![[r#"
            block l0 {
              v6 = 8w0x1
              v7 = 8w0x2
              apply table0 hit v8
              v5 = v8
            }
            v2 = v7
        "#]],
    );
}

/// What lowering typically makes of `ttl_expired(hdr.a.f, meta.flag)`: copies in, an inlined body with a return, copies
/// out.
#[test]
fn the_standard_pipeline_removes_the_copies_of_an_inlined_call() {
    let body = "v6 = h0.0\nblock l1 {\n  v8 = false\n  if (v6 == 8w0x0) {\n    v8 = true\n    leave l1\n  }\n  v7 = (v6 - 8w0x1)\n  v6 = v7\n}\nh0.0 = v6\nv5 = v8\n";
    let text = program("state0 \"start\" {\n  goto accept\n}\n", body);
    expect![[r#"
        v6 = h0.0
        block l1 {
          v8 = false
          if (h0.0 == 8w0x0) {
            v8 = true
            leave l1
          }
          v6 = (h0.0 - 8w0x1)
        }
        h0.0 = v6
        v5 = v8
    "#]]
    .assert_eq(&after(passes::pipelines::STANDARD, &text, "block2", "block3"));
}

/// The time is that of all levels together, not of each combination of rounds.
#[test]
fn deeply_nested_loops_take_no_time() {
    let depth = 60;
    let mut body = String::new();
    (1..=depth).for_each(|level| body += &format!("loop l{level} {{\n"));
    body += "v6 = v7\nv7 = v2\nif v8 {\nleave l1\n} else {\n}\n";
    body += &"}\n".repeat(depth);
    let text = program("state0 \"start\" {\n  goto accept\n}\n", &format!("{body}v2 = v6\n"));
    let text = text.replacen("labels 4", &format!("labels {}", depth + 1), 1);
    let lines = after(&[dead_stores::PASS], &text, "block2", "block3");
    assert!(lines.contains("v6 = v7") && lines.contains("v7 = v2"), "{lines}");
}

/// Replaces the table by its results, and cleans up.
fn specialises(entries: Vec<KnownEntry>, expected: Expect) {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let body = "  v6 = h0.0\n  block l0 {\n    apply table0 hit v8\n    v5 = v8\n  }\n";
    let program = ir::text::parse(&program(parser, body)).unwrap();
    let default = ActionCall { action: 1, args: Vec::new() };
    let contents = [Some(Contents { entries, default })].into_iter().collect();
    let special = specialise(&program, &contents).expect("the table is small");
    assert_eq!(ir::verify(&special.program), Ok(()));
    let text = ir::text::print(&special.program);
    let lines =
        text.lines().skip_while(|line| !line.starts_with("block2")).take_while(|line| !line.starts_with("block3"));
    expected.assert_eq(&lines.map(|line| format!("{line}\n")).collect::<String>());
}

/// An entry for this key that sends to a port.
fn sends(handle: u32, key: u64, port: u64) -> KnownEntry {
    let call = ActionCall { action: 0, args: vec![Bits::from_u64(9, port)] };
    KnownEntry { handle, key: vec![FieldMatch::Exact(Bits::from_u64(8, key))], call }
}

#[test]
fn an_empty_table_is_its_default_action() {
    specialises(
        Vec::new(),
        expect![[r#"
        block2 "I" control {
          count_lookup table0 hit false entry 32w0x0
        }
    "#]],
    );
}

#[test]
fn an_entry_is_a_comparison() {
    specialises(
        vec![sends(5, 0x61, 3)],
        expect![[r#"
        block2 "I" control exit l0 {
          block l0 {
            v11 = (h0.0 == 8w0x61)
            count_lookup table0 hit v11 entry 32w0x5
            if v11 {
              v0 = 9w0x3
            } else {
              leave l0
            }
            v5 = v11
          }
        }
    "#]],
    );
}

#[test]
fn entries_that_do_the_same_share_its_body() {
    specialises(
        vec![sends(5, 0x61, 3), sends(7, 0x62, 3), sends(6, 0x63, 4)],
        expect![[r#"
        block2 "I" control exit l0 {
          block l0 {
            v11 = ((h0.0 == 8w0x61) ? 8w0x0 : ((h0.0 == 8w0x62) ? 8w0x1 : ((h0.0 == 8w0x63) ? 8w0x2 : 8w0x3)))
            count_lookup table0 hit (v11 != 8w0x3) entry ((v11 == 8w0x0) ? 32w0x5 : ((v11 == 8w0x1) ? 32w0x7 : 32w0x6))
            switch v11 {
              case 8w0x0, 8w0x1, 8w0x2 {
                v0 = ((v11 == 8w0x0) ? 9w0x3 : ((v11 == 8w0x1) ? 9w0x3 : 9w0x4))
              }
              default {
                leave l0
              }
            }
            v5 = (v11 != 8w0x3)
          }
        }
    "#]],
    );
}

#[test]
fn an_entry_that_matches_everything_leaves_no_miss() {
    let any =
        KnownEntry { key: vec![FieldMatch::Ternary { value: Bits::zero(8), mask: Bits::zero(8) }], ..sends(2, 0, 9) };
    specialises(
        vec![any, sends(3, 1, 1)],
        expect![[r#"
        block2 "I" control {
          count_lookup table0 hit true entry 32w0x2
          v0 = 9w0x9
          v5 = true
        }
    "#]],
    );
}

#[test]
fn loops_over_stacks_become_states() {
    check_parser(
        unroll::PASS,
        "state0 \"start\" {\n  extract h0\n  select (h0.0) {\n    case (8w0x1): state1\n    case (any): state2\n  }\n}\n\
         state1 \"s\" {\n  extract stack0.next\n  select (stack0.last.0) {\n    case (8w0x0): state2\n    case (any): state1\n  }\n}\n\
         state2 \"b\" {\n  extract h1\n  goto accept\n}\n",
        expect![[r#"
            state0 "start" {
              extract h0
              select (h0.0) {
                case (8w0x1): state1
                case (any): state2
              }
            }
            state1 "s" {
              extract h2
              v4 = 32w0x1
              select (h2.0) {
                case (8w0x0): state2
                case (any): state3
              }
            }
            state2 "b" {
              extract h1
              goto accept
            }
            state3 "s" {
              extract h3
              v4 = 32w0x2
              select (h3.0) {
                case (8w0x0): state2
                case (any): state4
              }
            }
            state4 "s" {
              verify false error 32w0x3
              goto reject
            }
        "#]],
    );
}

#[test]
fn a_state_behind_two_ways_knows_what_both_know() {
    // Which element is the last one differs, and it depends on a branch: the position stays a variable.
    check_parser(
        unroll::PASS,
        "state0 \"start\" {\n  if v5 {\n    extract stack0.next\n  }\n  extract stack0.next\n  v2 = stack0.last.0\n\
         goto state1\n}\n\
         state1 \"n\" {\n  v4 = 32w0x1\n  v2 = stack0.last.0\n  extract stack0.next\n  goto accept\n}\n",
        expect![[r#"
            state0 "start" {
              if v5 {
                extract h2
                v4 = 32w0x1
              }
              extract stack0.next
              v2 = stack0.last.0
              goto state1
            }
            state1 "n" {
              v4 = 32w0x1
              v2 = h2.0
              extract h3
              v4 = 32w0x2
              goto accept
            }
        "#]],
    );
}

#[test]
fn positions_are_followed_through_blocks_and_moves() {
    check_parser(
        unroll::PASS,
        "state0 \"start\" {\n  block l1 {\n    extract stack0.next\n    if (stack0.last.0 == 8w0x1) {\n      leave l1\n    }\n\
         verify (v4 != 32w0x0) error 32w0x3\n    v9 = v4\n  }\n  push_front stack0 1\n  v9 = v4\n  pop_front stack0 2\n  \
         verify (v4 != 32w0x0) error 32w0x3\n  v2 = stack0.last.0\n  goto accept\n}\n",
        expect![[r#"
            state0 "start" {
              block l1 {
                extract h2
                v4 = 32w0x1
                if (h2.0 == 8w0x1) {
                  leave l1
                }
                v9 = 32w0x1
              }
              push_front stack0 1
              v9 = 32w0x2
              pop_front stack0 2
              verify false error 32w0x3
              goto reject
            }
        "#]],
    );
}

#[test]
fn blocks_in_states_that_are_made_anew_get_labels() {
    check_parser(
        unroll::PASS,
        "state0 \"start\" {\n  block l1 {\n    if v5 {\n      leave l1\n    }\n    v2 = 8w0x1\n  }\n  extract stack0.next\n\
         select (h0.0) {\n    case (8w0x0): state0\n    case (any): accept\n  }\n}\n",
        expect![[r#"
            state0 "start" {
              block l1 {
                if v5 {
                  leave l1
                }
                v2 = 8w0x1
              }
              extract h2
              v4 = 32w0x1
              select (h0.0) {
                case (8w0x0): state1
                case (any): accept
              }
            }
            state1 "start" {
              block l4 {
                if v5 {
                  leave l4
                }
                v2 = 8w0x1
              }
              extract h3
              v4 = 32w0x2
              select (h0.0) {
                case (8w0x0): state2
                case (any): accept
              }
            }
            state2 "start" {
              block l5 {
                if v5 {
                  leave l5
                }
                v2 = 8w0x1
              }
              verify false error 32w0x3
              goto reject
            }
        "#]],
    );
}

#[test]
fn states_with_loops_in_them_share_their_budget() {
    check_parser(
        unroll::PASS,
        "state0 \"start\" {\n  loop l1 {\n    if v5 {\n      leave l1\n    }\n    v5 = true\n  }\n  extract stack0.next\n\
         select (h0.0) {\n    case (8w0x0): state0\n    case (any): accept\n  }\n}\n",
        expect![[r#"
            state0 "start" {
              loop l1 {
                if v5 {
                  leave l1
                }
                v5 = true
              }
              extract stack0.next
              select (h0.0) {
                case (8w0x0): state0
                case (any): accept
              }
            }
        "#]],
    );
}

#[test]
fn positions_that_are_never_read_go() {
    let states = "state0 \"start\" {\n  extract h2\n  v4 = 32w0x1\n  goto accept\n}\n";
    check_parser(
        unread::PASS,
        states,
        expect![[r#"
        state0 "start" {
          extract h2
          goto accept
        }
    "#]],
    );
    // A control that moves the stack does not look at it, one that names its last element does.
    for (ingress, is_read) in [("push_front stack0 1\n", false), ("v2 = stack0.last.0\n", true)] {
        let text = after(&[unread::PASS], &program(states, ingress), "block0", "block1");
        assert_eq!(text.contains("v4 ="), is_read, "{ingress}{text}");
    }
}

/// `routine0` reads `v6` and writes `v7`.
fn check_with_routine(pass: Pass, body: &str, expected: Expect) {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let routine = "routine0 \"r\" {\n  v7 = v6\n  v9 = 32w0x1\n}\naction0";
    let text = program(parser, body).replacen("action0", routine, 1);
    expected.assert_eq(&after(&[pass], &text, "block2", "block3"));
}

#[test]
fn what_a_routine_reads_is_not_dead() {
    check_with_routine(
        dead_stores::PASS,
        "v6 = 8w0x1\ncall routine0\nv2 = v7\nv6 = 8w0x2\n",
        expect![[r#"
            v6 = 8w0x1
            call routine0
            v2 = v7
        "#]],
    );
}

#[test]
fn what_a_routine_writes_is_not_known_behind_it() {
    check_with_routine(
        propagate::PASS,
        "v6 = 8w0x1\nv7 = 8w0x2\nv2 = v7\ncall routine0\nv2 = v7\nv2 = v6\n",
        expect![[r#"
            v6 = 8w0x1
            v7 = 8w0x2
            v2 = 8w0x2
            call routine0
            v2 = v7
            v2 = 8w0x1
        "#]],
    );
}

#[test]
fn assignments_in_routines_go_if_nothing_reads_them() {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let routine = "routine0 \"r\" {\n  v7 = v6\n  v9 = 32w0x1\n}\naction0";
    let text = program(parser, "call routine0\nv2 = v7\n").replacen("action0", routine, 1);
    expect![[r#"
        v7 = v6
    "#]]
    .assert_eq(&after(&[dead_stores::PASS], &text, "routine0", "action0"));
}

/// A chain of comparisons, each with a statement for those that are equal.
fn chain(conditions: &[&str], last: &str) -> String {
    let arms: String =
        (1..).zip(conditions).map(|(arm, cond)| format!("if {cond} {{\nv0 = 9w0x{arm}\n}} else {{\n")).collect();
    format!("{arms}{last}{}", "}\n".repeat(conditions.len()))
}

#[test]
fn long_chains_of_comparisons_become_switches() {
    let conditions = [
        "(v2 == 8w0x1)",
        "((v2 == 8w0x2) || (v2 == 8w0x3))",
        "(v2 == 8w0x1)",
        "(v2 == 8w0x4)",
        "(v2 == 8w0x5)",
        "(v2 == 8w0x6)",
        "((v2 == 8w0x7) || ((v2 == 8w0x2) || (v2 == 8w0x7)))",
        "(v2 == 8w0x8)",
    ];
    check(
        chains::PASS,
        &chain(&conditions, "v6 = v2\n"),
        expect![[r#"
        switch v2 {
          case 8w0x1 {
            v0 = 9w0x1
          }
          case 8w0x2, 8w0x3 {
            v0 = 9w0x2
          }
          case 8w0x4 {
            v0 = 9w0x4
          }
          case 8w0x5 {
            v0 = 9w0x5
          }
          case 8w0x6 {
            v0 = 9w0x6
          }
          case 8w0x7 {
            v0 = 9w0x7
          }
          case 8w0x8 {
            v0 = 9w0x8
          }
          default {
            v6 = v2
          }
        }
    "#]],
    );
    // One arm fewer, and what is no chain of one value's comparisons.
    check(
        chains::PASS,
        &chain(&conditions[1..], ""),
        expect![[r#"
        if ((v2 == 8w0x2) || (v2 == 8w0x3)) {
          v0 = 9w0x1
        } else {
          if (v2 == 8w0x1) {
            v0 = 9w0x2
          } else {
            if (v2 == 8w0x4) {
              v0 = 9w0x3
            } else {
              if (v2 == 8w0x5) {
                v0 = 9w0x4
              } else {
                if (v2 == 8w0x6) {
                  v0 = 9w0x5
                } else {
                  if ((v2 == 8w0x7) || ((v2 == 8w0x2) || (v2 == 8w0x7))) {
                    v0 = 9w0x6
                  } else {
                    if (v2 == 8w0x8) {
                      v0 = 9w0x7
                    }
                  }
                }
              }
            }
          }
        }
    "#]],
    );
    let mut others = conditions;
    others[3] = "(v6 == 8w0x4)";
    check(
        chains::PASS,
        &chain(&others, ""),
        expect![[r#"
        if (v2 == 8w0x1) {
          v0 = 9w0x1
        } else {
          if ((v2 == 8w0x2) || (v2 == 8w0x3)) {
            v0 = 9w0x2
          } else {
            if (v2 == 8w0x1) {
              v0 = 9w0x3
            } else {
              if (v6 == 8w0x4) {
                v0 = 9w0x4
              } else {
                if (v2 == 8w0x5) {
                  v0 = 9w0x5
                } else {
                  if (v2 == 8w0x6) {
                    v0 = 9w0x6
                  } else {
                    if ((v2 == 8w0x7) || ((v2 == 8w0x2) || (v2 == 8w0x7))) {
                      v0 = 9w0x7
                    } else {
                      if (v2 == 8w0x8) {
                        v0 = 9w0x8
                      }
                    }
                  }
                }
              }
            }
          }
        }
    "#]],
    );
}

/// Comparisons one behind the other in a block that each leaves, and a statement behind them.
fn row(conditions: &[&str]) -> String {
    let arms: String =
        (1..).zip(conditions).map(|(arm, cond)| format!("if {cond} {{\nv0 = 9w0x{arm}\nleave l1\n}}\n")).collect();
    format!("block l1 {{\n{arms}v6 = v2\n}}\n")
}

#[test]
fn long_rows_of_comparisons_become_switches() {
    let conditions = [
        "(v6 == 8w0x1)",
        "(v2 == 8w0x1)",
        "((v2 == 8w0x2) || (v2 == 8w0x3))",
        "(v2 == 8w0x1)",
        "(v2 == 8w0x4)",
        "(v2 == 8w0x5)",
        "(v2 == 8w0x6)",
        "(v2 == 8w0x7)",
        "(v2 == 8w0x8)",
        "(v6 == 8w0x2)",
    ];
    check(
        chains::PASS,
        &row(&conditions),
        expect![[r#"
        block l1 {
          if (v6 == 8w0x1) {
            v0 = 9w0x1
            leave l1
          }
          switch v2 {
            case 8w0x1 {
              v0 = 9w0x2
              leave l1
            }
            case 8w0x2, 8w0x3 {
              v0 = 9w0x3
              leave l1
            }
            case 8w0x4 {
              v0 = 9w0x5
              leave l1
            }
            case 8w0x5 {
              v0 = 9w0x6
              leave l1
            }
            case 8w0x6 {
              v0 = 9w0x7
              leave l1
            }
            case 8w0x7 {
              v0 = 9w0x8
              leave l1
            }
            case 8w0x8 {
              v0 = 9w0x9
              leave l1
            }
            default {
            }
          }
          if (v6 == 8w0x2) {
            v0 = 9w0x10
            leave l1
          }
          v6 = v2
        }
    "#]],
    );
    // Too few; and one that continues behind the arm.
    check(
        chains::PASS,
        &row(&conditions[2..]),
        expect![[r#"
        block l1 {
          if ((v2 == 8w0x2) || (v2 == 8w0x3)) {
            v0 = 9w0x1
            leave l1
          }
          if (v2 == 8w0x1) {
            v0 = 9w0x2
            leave l1
          }
          if (v2 == 8w0x4) {
            v0 = 9w0x3
            leave l1
          }
          if (v2 == 8w0x5) {
            v0 = 9w0x4
            leave l1
          }
          if (v2 == 8w0x6) {
            v0 = 9w0x5
            leave l1
          }
          if (v2 == 8w0x7) {
            v0 = 9w0x6
            leave l1
          }
          if (v2 == 8w0x8) {
            v0 = 9w0x7
            leave l1
          }
          if (v6 == 8w0x2) {
            v0 = 9w0x8
            leave l1
          }
          v6 = v2
        }
    "#]],
    );
    let goes_on = row(&conditions).replacen("v0 = 9w0x5\nleave l1\n", "v0 = 9w0x5\n", 1);
    check(
        chains::PASS,
        &goes_on,
        expect![[r#"
        block l1 {
          if (v6 == 8w0x1) {
            v0 = 9w0x1
            leave l1
          }
          if (v2 == 8w0x1) {
            v0 = 9w0x2
            leave l1
          }
          if ((v2 == 8w0x2) || (v2 == 8w0x3)) {
            v0 = 9w0x3
            leave l1
          }
          if (v2 == 8w0x1) {
            v0 = 9w0x4
            leave l1
          }
          if (v2 == 8w0x4) {
            v0 = 9w0x5
          }
          if (v2 == 8w0x5) {
            v0 = 9w0x6
            leave l1
          }
          if (v2 == 8w0x6) {
            v0 = 9w0x7
            leave l1
          }
          if (v2 == 8w0x7) {
            v0 = 9w0x8
            leave l1
          }
          if (v2 == 8w0x8) {
            v0 = 9w0x9
            leave l1
          }
          if (v6 == 8w0x2) {
            v0 = 9w0x10
            leave l1
          }
          v6 = v2
        }
    "#]],
    );
}

#[test]
fn chains_end_where_something_else_is_compared() {
    let eight: Vec<String> = (0..8).map(|value| format!("(v2 == 8w0x{value})")).collect();
    let mut conditions: Vec<&str> = eight.iter().map(String::as_str).collect();
    conditions.extend(["(v2 != v6)", "(v2 == 8w0x9)"]);
    let text = format!("if v5 {{\n{}}}\n", chain(&conditions, ""));
    check(
        chains::PASS,
        &text,
        expect![[r#"
        if v5 {
          switch v2 {
            case 8w0x0 {
              v0 = 9w0x1
            }
            case 8w0x1 {
              v0 = 9w0x2
            }
            case 8w0x2 {
              v0 = 9w0x3
            }
            case 8w0x3 {
              v0 = 9w0x4
            }
            case 8w0x4 {
              v0 = 9w0x5
            }
            case 8w0x5 {
              v0 = 9w0x6
            }
            case 8w0x6 {
              v0 = 9w0x7
            }
            case 8w0x7 {
              v0 = 9w0x8
            }
            default {
              if (v2 != v6) {
                v0 = 9w0x9
              } else {
                if (v2 == 8w0x9) {
                  v0 = 9w0x10
                }
              }
            }
          }
        }
    "#]],
    );
}

/// Routines are put where they are called, each copy with labels of its own; what is left is simplified.
#[test]
fn routines_of_short_programs_are_inlined() {
    let body = "v6 = 8w0x1\ncall routine0\nv6 = 8w0x2\ncall routine0\n";
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let routines = "routine0 \"f\" {\nblock l1 {\nif (v6 == v2) {\nleave l1\n}\nv2 = (v2 + v6)\n}\n}\n";
    let text = program(parser, body).replacen("block0 ", &format!("{routines}block0 "), 1);
    expect![[r#"
        block l4 {
          if (v2 == 8w0x1) {
            leave l4
          }
          v2 = (v2 + 8w0x1)
        }
        block l5 {
          if (v2 == 8w0x2) {
            leave l5
          }
          v2 = (v2 + 8w0x2)
        }
    "#]]
    .assert_eq(&after(&[inline::PASS], &text, "block2", "block3"));
    // One that is long is called.
    let long = routines.replace("v2 = (v2 + v6)\n", &"v2 = (v2 + v6)\n".repeat(1_001));
    let text = program(parser, body).replacen("block0 ", &format!("{long}block0 "), 1);
    expect![[r#"
        v6 = 8w0x1
        call routine0
        v6 = 8w0x2
        call routine0
    "#]]
    .assert_eq(&after(&[inline::PASS], &text, "block2", "block3"));
}

/// The first decisions about a program with this ingress control, after all that is not requested is removed.
fn decides(ingress: &str, expected: Expect) {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let program =
        program(parser, ingress).replace("v10 \"param\"", "v10 \"mcast_grp\" bit<16> intrinsic 11\nv11 \"param\"");
    let program = program.replace("\"set\" (v10) {\n  v0 = v10", "\"set\" (v11) {\n  v0 = v11");
    let decisions = "point0 {\n  if (v10 != 16w0x0) {\n    punt 11\n  }\n  if (v0 == 9w0x1ff) {\n    drop ingress\n  }\n  \
                     enqueue v0 priority 3w0x0\n}\npoint1 {\n}\npoint2 {\n}\npoint3 {\n  send v0\n}\n";
    let passes = [unrequested::PASS, simplify::PASS, dead_code::PASS];
    expected.assert_eq(&after(&passes, &(program + decisions), "point0", "point1"));
}

#[test]
fn packets_do_not_pay_for_what_they_cannot_request() {
    decides(
        "",
        expect![[r#"
        if (v0 == 9w0x1ff) {
          drop ingress
        }
        enqueue v0 priority 3w0x0
    "#]],
    );
    decides(
        "  v10 = 16w0x0\n",
        expect![[r#"
        if (v0 == 9w0x1ff) {
          drop ingress
        }
        enqueue v0 priority 3w0x0
    "#]],
    );
    decides(
        "  v10 = 16w0x1\n",
        expect![[r#"
        if (v10 != 16w0x0) {
          punt 11
        }
        if (v0 == 9w0x1ff) {
          drop ingress
        }
        enqueue v0 priority 3w0x0
    "#]],
    );
    decides(
        "  v10[3:0] = 4w0x0\n",
        expect![[r#"
        if (v10 != 16w0x0) {
          punt 11
        }
        if (v0 == 9w0x1ff) {
          drop ingress
        }
        enqueue v0 priority 3w0x0
    "#]],
    );
}

#[test]
fn nothing_follows_a_decision() {
    let parser = "state0 \"start\" {\n  goto accept\n}\n";
    let decisions = "point0 {\n  if true {\n    drop ingress\n  }\n  enqueue v0 priority 3w0x0\n}\npoint1 {\n}\npoint2 {\n}\n\
                     point3 {\n  send v0\n}\n";
    let text = program(parser, "") + decisions;
    expect![[r#"
        drop ingress
    "#]]
    .assert_eq(&after(&[dead_code::PASS], &text, "point0", "point1"));
}
