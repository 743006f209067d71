//! Each pass: a unit before it and after it.

use expect_test::{Expect, expect};
use lir::passes::PASSES;
use lir::text::{print, read};

/// Runs a pass on a unit and shows the lines that it removes and adds.
fn check(pass: &str, text: &str, expected: Expect) {
    let mut unit = read(text).unwrap();
    assert_eq!(lir::verify(&unit), Ok(()));
    let before = print(&unit);
    let pass = PASSES.iter().find(|it| it.name == pass).expect("a pass of this name");
    (pass.run)(&mut unit);
    assert_eq!(lir::verify(&unit), Ok(()), "after the pass");
    expected.assert_eq(&difference(&before, &print(&unit)));
}

/// The lines of two texts that differ, in order; lines that both have stay in order.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let (mut at, mut out) = (0, String::new());
    for line in before {
        match after[at..].iter().position(|it| *it == line) {
            Some(added) if added <= 1 => {
                after[at..at + added].iter().for_each(|line| out.push_str(&format!("+ {}\n", line.trim())));
                at += added + 1;
            }
            _ => out.push_str(&format!("- {}\n", line.trim())),
        }
    }
    after[at..].iter().for_each(|line| out.push_str(&format!("+ {}\n", line.trim())));
    out
}

#[test]
fn a_table_that_is_the_only_entrance_lists_its_packets() {
    check(
        "arrivals",
        "unit lists
stage by masks {
  entry 0 {
  }
  node 0 {
    if frame->length == 0 {
      end WS_DROP_INGRESS
    }
    look_up 1 {
    }
  }
}
stage by masks {
  entry 1 {
  }
  node 1 found table0 {
    end entry->data[0]
  }
  lookup {
  }
}
",
        expect![[r#"
            - stage by masks {
            + stage by burst {
            - stage by masks {
            + stage by list ends {
        "#]],
    );
}

#[test]
fn a_list_of_all_packets_is_the_burst_until_one_leaves() {
    check(
        "arrivals",
        "unit lists
stage by masks {
  entry 0 {
  }
  node 0 {
    look_up 1 {
    }
  }
}
stage by masks {
  entry 1 {
  }
  node 1 found table0 {
    if entry->hit {
      look_up 2 {
      }
    } else {
      pass 3
    }
  }
  lookup {
  }
}
stage by masks {
  entry 2 {
  }
  entry 3 {
  }
  node 2 found table1 {
    go 3
  }
  lookup {
  }
  node 3 {
    leave
  }
}
",
        expect![[r#"
            - stage by masks {
            + stage by burst {
            - stage by masks {
            + stage by whole-burst {
        "#]],
    );
}

/// Two stages with a variable, a word of valid bits, a header and a wide variable; `first` and `second` are statements
/// of their nodes.
fn two_stages(live_out: &str, first: &str, second: &str) -> String {
    format!(
        "unit two
var v0_a 16 at w->v0_a
var v1_b 16 at w->v1_b
var v2_wide 128 at w->v2_wide
header h0_ethernet at c->place[0]
state valid0 at c->valid[0]
{live_out}stage by burst spills valid0 v0_a v1_b {{
  entry 0 {{
    valid0 = 0L
    h0_ethernet = bytes
    v0_a = 0L
    v1_b = 0L
  }}
  node 0 {{
    {first}
    look_up 1 {{
    }}
  }}
}}
stage by list spills v0_a v1_b valid0 {{
  entry 1 {{
    valid0 = saved(valid0)
    h0_ethernet = saved(h0_ethernet)
    v0_a = saved(v0_a)
    v1_b = 7L
  }}
  node 1 found table0 {{
    {second}
    end u32(v0_a)
  }}
  lookup {{
  }}
}}
"
    )
}

#[test]
fn only_what_is_live_is_spilled() {
    check(
        "spills",
        &two_stages("", "v0_a = 3L", ""),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills v0_a {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
    check(
        "spills",
        &two_stages("", "valid0 |= 1L", "v0_a = valid0"),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills valid0 {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
    // The value at the entry is known.
    check(
        "spills",
        &two_stages("", "v1_b = 3L", "v0_a = v1_b"),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
    // It is written on one path only.
    check(
        "spills",
        &two_stages("", "v0_a = 1L", "if entry->hit {\n v0_a = 2L\n}"),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills v0_a {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
    // It is written on all paths.
    check(
        "spills",
        &two_stages("", "v0_a = 1L", "v0_a = 2L"),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
}

#[test]
fn live_out_state_is_live_where_a_packet_is_punted() {
    let punts = "if entry->hit {\n punt WS_PUNT_INGRESS\n}";
    check(
        "spills",
        &two_stages("live_out valid0\n", "valid0 |= 1L", punts),
        expect![[r#"
            - stage by burst spills valid0 v0_a v1_b {
            + stage by burst spills valid0 v0_a {
            - stage by list spills valid0 v0_a v1_b {
            + stage by list spills valid0 {
        "#]],
    );
    check(
        "spills",
        &two_stages("live_out valid0\n", "valid0 |= 1L", ""),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills v0_a {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
}

#[test]
fn loops_and_labels_are_followed() {
    let looped = "loop {
      if v1_b == 9L {
        goto out
      }
      v1_b += 1L
      v0_a = v0_a + 1L
    }
    label out";
    check(
        "spills",
        &two_stages("", looped, ""),
        expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills v0_a {
        - stage by list spills valid0 v0_a v1_b {
        + stage by list {
    "#]],
    );
    check("dead-stores", &two_stages("", looped, "v0_a = 1L"), expect![]);
}

/// The time does not double with each loop: this many would never end.
#[test]
fn loops_within_loops_are_followed() {
    let open = |number| format!("loop {{\n if v1_b == {number}L {{\n goto out{number}\n }}\n v1_b += 1L\n");
    let close = |number| format!("v0_a = v0_a + 1L\n }}\n label out{number}\n");
    let loops: String = (0..40).map(open).chain((0..40).rev().map(close)).collect();
    check("dead-stores", &two_stages("", &loops, "v0_a = 1L"), expect![]);
}

#[test]
fn dead_stores_are_removed() {
    check(
        "dead-stores",
        &two_stages("", "v0_a = 3L\n v0_a = 4L", ""),
        expect![[r#"
        - v0_a = 3L
    "#]],
    );
    check(
        "dead-stores",
        &two_stages("", "saved(h0_ethernet) = bytes", ""),
        expect![[r#"
        - saved(h0_ethernet) = bytes
    "#]],
    );
    check("dead-stores", &two_stages("", "saved(h0_ethernet) = bytes", "v0_a = ws_load16(h0_ethernet)"), expect![]);
    check(
        "dead-stores",
        &two_stages("", "do ws_wide_zero(saved(v2_wide), 128)", ""),
        expect![[r#"
        - do ws_wide_zero(saved(v2_wide), 128)
    "#]],
    );
    check(
        "dead-stores",
        &two_stages("", "do ws_wide_zero(saved(v2_wide), 128)", "v0_a = ws_wide_get(saved(v2_wide), 0, 16)"),
        expect![],
    );
    // The core draws a number in any case.
    check("dead-stores", &two_stages("", "", "v1_b = env->random(env->core, 1L, 9L)"), expect![]);
}

/// The second stage gets a value as a constant, and the third one from its place: one of the first two must store it,
/// also when the second one's own store, on a path that ends, is dead.
#[test]
fn a_value_that_is_known_at_an_entry_is_stored_for_later_stages() {
    let text = two_stages("", "v1_b = 7L", "if entry->hit {\n look_up 2 {\n }\n }\n v1_b = 5L");
    let third = "stage by list {
  entry 2 {
    v1_b = saved(v1_b)
  }
  node 2 found table1 {
    end u32(v1_b)
  }
  lookup {
  }
}
";
    let mut unit = read(&(text + third)).unwrap();
    let before = print(&unit);
    lir::passes::run(&mut unit);
    expect![[r#"
        - stage by burst spills valid0 v0_a v1_b {
        + stage by burst spills v0_a {
        - v1_b = 7L
        - stage by list spills valid0 v0_a v1_b {
        + stage by whole-burst spills v1_b {
        - v1_b = 5L
        - stage by list {
        + stage by list ends {
    "#]]
    .assert_eq(&difference(&before, &print(&unit)));
}
