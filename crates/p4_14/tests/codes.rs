//! Each code of this crate's diagnostics has a program with the error and its complete output.

use expect_test::{Expect, expect};
use std::cell::RefCell;
use syntax::{MemoryFiles, Options, SourceMap, render_short};

thread_local! {
    /// The codes that were shown.
    static SHOWN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// The declarations at the beginning of most programs.
const PRELUDE: &str = "header_type h_t { fields { a : 8; b : 16; } } header h_t h; header h_t s[2]; metadata h_t m; \
    parser start { extract(h); extract(s[next]); return ingress; } action nop() { } ";

fn diagnostics(text: &str) -> (SourceMap, syntax::Diagnostics) {
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let options = Options::new(&files);
    let (tree, mut diagnostics) = p4_14::parse_text(&mut sources, "t.p4", text, &options, Some(p4_14::Standard::P4_14));
    if !diagnostics.has_errors() {
        // The checker must accept what this crate accepts.
        sema::check(&tree, &mut diagnostics);
    }
    (sources, diagnostics)
}

/// A complete program.
fn check(code: &'static str, text: &str, expected: Expect) {
    let (sources, diagnostics) = diagnostics(text);
    let lines = diagnostics.iter().map(|diagnostic| {
        let mut line = format!("{}\n", render_short(&sources, diagnostic));
        for label in &diagnostic.secondary {
            line.push_str(&format!("  `{}`: {}\n", sources.text(label.span), label.text));
        }
        diagnostic.notes.iter().chain(&diagnostic.helps).for_each(|text| line.push_str(&format!("  = {text}\n")));
        line
    });
    let found: String = lines.collect();
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == code), "{code} is not among\n{found}");
    expected.assert_eq(&found);
    SHOWN.with_borrow_mut(|shown| shown.push(code));
}

/// Declarations on line 2, after the usual ones and before an empty `ingress`.
fn check_with(code: &'static str, declarations: &str, expected: Expect) {
    check(code, &format!("{PRELUDE}\n{declarations}\ncontrol ingress {{ }}"), expected);
}

/// Primitives of an action that a table runs.
fn check_action(code: &'static str, primitives: &str, expected: Expect) {
    let text = format!(
        "{PRELUDE} field_list f {{ m; }} field_list headers {{ h; }} register r {{ width : 8; instance_count : 2; }} \
         counter c {{ type : packets; instance_count : 2; }}\n\
         action act(p) {{ modify_field(h.a, p); {primitives} }}\n\
         table t {{ reads {{ h.a : exact; }} actions {{ act; }} }} control ingress {{ apply(t); }}"
    );
    check(code, &text, expected);
}

/// Statements of `ingress`.
fn check_control(code: &'static str, statements: &str, expected: Expect) {
    let text = format!(
        "{PRELUDE} action other() {{ }} table t {{ actions {{ nop; }} }} control sub {{ apply(t); }}\n\
         control ingress {{ {statements} }}"
    );
    check(code, &text, expected);
}

fn text() {
    use p4_14::codes::*;
    check(
        UNEXPECTED_TOKEN,
        "header_type h_t { fields { a 8; } }\nparser { }\nxyz",
        expect![[r#"
        t.p4:1:30: error[E0901]: expected `:`, found `8`
        t.p4:2:8: error[E0901]: expected the name of a parser state, found `{`
        t.p4:3:1: error[E0901]: expected a declaration, found `xyz`
    "#]],
    );
    check_with(
        UNEXPECTED_TOKEN,
        "table t { reads { h.a exact; } }\ntable u { wrong : 1; }",
        expect![[r#"
        t.p4:2:23: error[E0901]: expected `:`, found `exact`
        t.p4:3:11: error[E0901]: expected a property of the table, found `wrong`
    "#]],
    );
    check(
        UNEXPECTED_TOKEN,
        "action a() { bit<8> k = 1; }\naction b() { h.a = 1; # note\n }\naction c() { hdr.h.setValid(); }\n\
         control d { if (h.isValid()) { } }\ncontrol e { if (t.apply().hit) { } }\ncontrol f { h.a = 1; }\n\
         control g { bool k = true; }\ncontrol k { apply { h.a = 1; } }",
        expect![[r#"
            t.p4:1:14: error[E0901]: P4_14 has no local variables
              = declare a field in the type of a `metadata` instance, and write it with `modify_field`
            t.p4:2:23: error[E0901]: expected an expression, found `#`
              = a comment begins with `//`
            t.p4:4:20: error[E0901]: P4_14 has no method `setValid`
              = write `add_header(h);`
            t.p4:5:19: error[E0901]: P4_14 has no method `isValid`
              = write `valid(h)`
            t.p4:6:19: error[E0901]: P4_14 has no method `apply`
              = write `apply(t) { hit { } miss { } }`
            t.p4:7:17: error[E0901]: a control of P4_14 does not assign
              = write the field with `modify_field` in an action, and apply a table that runs the action
            t.p4:8:13: error[E0901]: P4_14 has no local variables
              = declare a field in the type of a `metadata` instance, and write it with `modify_field`
            t.p4:9:13: error[E0901]: a control of P4_14 has no `apply` block
              = write the statements in the braces of the control; if the program is P4_16, choose the language with `--std p4-16`
        "#]],
    );
    check(
        UNEXPECTED_TOKEN,
        "header_type h_t { a : 8; bit<8> b; }\nheader k { fields { a : 8; } }\nmetadata m_t { bit<8> a; }\n\
         header_type h_t h;",
        expect![[r#"
            t.p4:1:19: error[E0901]: the fields of a header type are in `fields { ... }`
              = write `header_type h_t { fields { ... } }`
            t.p4:2:10: error[E0901]: `header` declares an instance of a header type, and here is the body of a type
              = declare the type with `header_type k { fields { ... } }`, and an instance with `header k NAME;`
            t.p4:3:14: error[E0901]: `metadata` declares an instance of a header type, and here is the body of a type
              = declare the type with `header_type m_t { fields { ... } }`, and an instance with `metadata m_t NAME;`
            t.p4:4:17: error[E0901]: `header_type h_t` declares the type `h_t`, not an instance of it
              = an instance is declared with `header h_t h;` or `metadata h_t h;`
        "#]],
    );
    check(
        INVALID_NUMBER,
        "header_type h_t { fields { a : 0b2; b : 99999999999'1; } }",
        expect![[r#"
        t.p4:1:32: error[E0902]: this is not a number: `2` is not a digit in base 2
    "#]],
    );
    let deep = format!("{PRELUDE}\ncontrol ingress {{ if ({}h.a == 1{}) {{ }} }}", "(".repeat(2000), ")".repeat(2000));
    check(
        NESTING_LIMIT,
        &deep,
        expect![[r#"
        t.p4:2:1022: error[E0903]: this is nested more than 1000 levels deep
    "#]],
    );
    check_with(
        REPEATED_PART,
        "table t { actions { nop; } size : 1; size : 2; }",
        expect![[r#"
        t.p4:2:38: error[E0926]: `size` is given twice
    "#]],
    );
}

fn names() {
    use p4_14::codes::*;
    check_with(
        DUPLICATE_NAME,
        "header_type h_t { fields { x : 8; x : 8; } } metadata h_t m;\naction nop() { } action two(x, x) { }",
        expect![[r#"
            t.p4:2:13: error[E0904]: header type `h_t` is declared twice
              `h_t`: the first is here
            t.p4:2:59: error[E0904]: header or metadata instance `m` is declared twice
              `m`: the first is here
            t.p4:3:8: error[E0904]: action `nop` is declared twice
              `nop`: the first is here
            t.p4:3:32: error[E0904]: parameter `x` is declared twice
              `x`: the first is here
            t.p4:3:29: warning[W0904]: the width of parameter `x` is not known; it gets 32 bits
            t.p4:3:32: warning[W0904]: the width of parameter `x` is not known; it gets 32 bits
        "#]],
    );
    check_with(
        UNKNOWN_NAME,
        "metadata x_t x; table t { actions { nopp; } }\nparser p { return nowhere; } counter c { type : bytes; direct : q; }",
        expect![[r#"
            t.p4:2:10: error[E0905]: there is no header type `x_t`
            t.p4:3:65: error[E0905]: there is no table `q`
            t.p4:3:19: error[E0905]: there is no parser state or control `nowhere`
            t.p4:2:37: error[E0905]: there is no action `nopp`
              = did you mean `nop`?
        "#]],
    );
    check_with(
        WRONG_KIND,
        "table t { reads { s : exact; h[1].a : exact; nop.x : exact; } actions { h; } }",
        expect![[r#"
        t.p4:2:19: error[E0906]: `s` is a stack; its elements are headers
        t.p4:2:32: error[E0906]: `h` is not a stack
        t.p4:2:46: error[E0906]: `nop` is an action, not a header or metadata instance
        t.p4:2:73: error[E0906]: `h` is a header or metadata instance, not an action
    "#]],
    );
    check_action(
        UNKNOWN_FIELD,
        "modify_field(h.aa, 1); modify_field(m.zzz, 1);",
        expect![[r#"
        t.p4:2:54: error[E0907]: `h` has no field `aa`
          = did you mean `a`?
        t.p4:2:77: error[E0907]: `m` has no field `zzz`
    "#]],
    );
    check_with(
        RECURSION,
        "action x() { y(); } action y() { x(); }\nfield_list f { f; } control a { b(); } control b { a(); }",
        expect![[r#"
            t.p4:2:34: error[E0915]: action `x` calls itself
            t.p4:3:12: error[E0915]: field list `f` contains itself
            t.p4:3:52: error[E0915]: control `a` calls itself
            t.p4:3:33: error[E0915]: control `b` calls itself
        "#]],
    );
    check_action(
        UNKNOWN_ACTION,
        "modify_feild(h.a, 1); noop(); modify_field(intrinsic_metadata.mcast_grp, 1);",
        expect![[r#"
            t.p4:2:39: error[E0914]: there is no primitive and no action `modify_feild`
              = did you mean `modify_field`?
            t.p4:2:61: error[E0914]: there is no primitive and no action `noop`
              = did you mean `no_op`?
            t.p4:2:82: error[E0905]: there is no header or metadata instance `intrinsic_metadata`
              = the program declares it: `header_type intrinsic_metadata_t { fields { ... } } metadata intrinsic_metadata_t intrinsic_metadata;`
        "#]],
    );
}

fn headers() {
    use p4_14::codes::*;
    check_action(
        UNKNOWN_ACTION,
        "mark_to_drop(standard_metadata); h.setValid(); r.read(h.a, 0);",
        expect![[r#"
            t.p4:2:39: error[E0914]: there is no primitive and no action `mark_to_drop`
              = P4_14 writes `drop();`
            t.p4:2:74: error[E0914]: P4_14 has no method `setValid`
              = write `add_header(h);`
            t.p4:2:88: error[E0914]: P4_14 has no method `read`
              = write `register_read(field, r, index);`
        "#]],
    );
    check_control(
        UNKNOWN_ACTION,
        "t.apply();",
        expect![[r#"
            t.p4:2:21: error[E0914]: P4_14 has no method `apply`
              = write `apply(t);`
        "#]],
    );
    check_action(
        WRONG_ARGUMENT,
        "k = 1;",
        expect![[r#"
            t.p4:2:39: error[E0913]: only a field can be assigned to, and this is not a field
              = a field is written as `instance.field`
        "#]],
    );
    check_with(
        NOT_CONSTANT,
        "header_type x_t { fields { a : h; } } register r { width : 8; instance_count : p; }",
        expect![[r#"
            t.p4:2:32: error[E0908]: this must be a constant number
            t.p4:2:80: error[E0908]: this must be a constant number
        "#]],
    );
    check_with(
        OUT_OF_RANGE,
        "header_type x_t { fields { a : 0; } } header x_t x[0]; table t { reads { s[2].a : exact; } actions { nop; } }",
        expect![[r#"
            t.p4:2:32: error[E0909]: this must be from 1 to 32768, and is 0
            t.p4:2:52: error[E0909]: this must be from 1 to 1024, and is 0
            t.p4:2:76: error[E0909]: `s` has 2 elements; there is none at 2
            t.p4:2:50: warning[W0903]: no parser state extracts `x`, so it has no place in packets
        "#]],
    );
    check_with(
        VARIABLE_LENGTH,
        "header_type x_t { fields { a : 8; v : *; w : *; } } header_type y_t { fields { v : *; b : 8; } length : b; }\n\
         header_type z_t { fields { v : *; } } header z_t z; metadata z_t zm; parser p { extract(z); return ingress; }",
        expect![[r#"
            t.p4:2:42: error[E0910]: a header may have one field of variable length
            t.p4:2:105: error[E0910]: `b` does not stand before the field whose length depends on it
            t.p4:3:28: error[E0910]: header type `z_t` has no `length`
            t.p4:3:66: error[E0910]: metadata has no fields of variable length
        "#]],
    );
    check_with(
        HEADER_OR_METADATA,
        "parser p { extract(m); set_metadata(h.a, 1); return ingress; }",
        expect![[r#"
        t.p4:2:20: error[E0920]: metadata is not in the packet: it cannot be extracted
        t.p4:2:37: error[E0920]: `set_metadata` writes to metadata only
    "#]],
    );
    check_with(
        LENGTH_IGNORED,
        "header_type x_t { fields { a : 8; } length : 1; }",
        expect![[r#"
        t.p4:2:46: warning[W0901]: the length of a header whose fields have fixed widths is known; this is ignored
    "#]],
    );
    check_with(
        NEVER_SENT,
        "header h_t never;",
        expect![[r#"
        t.p4:2:12: warning[W0903]: no parser state extracts `never`, so it has no place in packets
    "#]],
    );
}

fn actions() {
    use p4_14::codes::*;
    check_action(
        ARGUMENT_COUNT,
        "drop(1); modify_field(h.a); nop(1); count(c); push(s, 1, 2);",
        expect![[r#"
            t.p4:2:67: error[E0912]: action `nop` takes no argument, and is given 1
            t.p4:2:39: error[E0912]: `drop` takes no argument, and is given 1
            t.p4:2:48: error[E0912]: `modify_field` takes 2 to 3 arguments, and is given 1
            t.p4:2:75: error[E0912]: counter `c` has many cells: the index is missing
            t.p4:2:85: error[E0912]: `push` takes 1 to 2 arguments, and is given 3
        "#]],
    );
    check_action(
        WRONG_ARGUMENT,
        "add_to_field(1, h.a); push(h, 1); copy_header(h, intrinsic); count(1, 2); generate_digest(0, 3);",
        expect![[r#"
            t.p4:2:52: error[E0913]: `add_to_field` writes to a field, and this is not a field
              = a field is written as `instance.field`
            t.p4:2:66: error[E0913]: `push` takes a whole stack of headers
            t.p4:2:88: error[E0905]: there is no header or metadata instance `intrinsic`
            t.p4:2:106: error[E0913]: this must be the name of a counter
            t.p4:2:132: error[E0913]: this must be the name of a field list
        "#]],
    );
    check(
        WRONG_ARGUMENT,
        &format!(
            "{PRELUDE}
            register r {{ width : 8; instance_count : 4; }}
            action b() {{ modify_field(r[1], 3); modify_field(h.a, r[1]); }}
            table t {{ actions {{ b; }} }} control ingress {{ apply(t); if (r[0] == 1) {{ apply(t); }} }}"
        ),
        expect![[r#"
            t.p4:4:72: error[E0906]: `r` is a register: `register_read` reads its cells, and `register_write` writes them
            t.p4:3:39: error[E0913]: `r` is a register: `register_read` reads its cells, and `register_write` writes them
            t.p4:3:67: error[E0906]: `r` is a register: `register_read` reads its cells, and `register_write` writes them
        "#]],
    );
    check_action(
        WRONG_VALUE,
        "modify_field(h.a, -valid(h)); shift_left(h.a, 1, h.a == 1);",
        expect![[r#"
            t.p4:2:57: error[E0916]: a truth value is not a number
            t.p4:2:69: error[E0916]: a truth value is not a number
        "#]],
    );
    check_action(
        UNSUPPORTED,
        "modify_field(s[last].a, 1); modify_field(s[next].a, 1);",
        expect![[r#"
            t.p4:2:82: error[E0927]: `next` of a stack is known in parser states only
        "#]],
    );
    check_with(
        UNSUPPORTED,
        "header h_t large[65]; action a() { modify_field(large[last].a, 1); } field_list f { s[last].a; } \
         parser p { extract(large[next]); return ingress; }",
        expect![[r#"
            t.p4:2:87: error[E0927]: `last` of a stack is not known here, only in parser states, actions, conditions and keys
            t.p4:2:36: error[E0927]: `last` of `large` is known in parser states only: it has more than 64 elements
        "#]],
    );
    check_action(
        NO_EFFECT,
        "clone_e2e(1, headers); drop();",
        expect![[r#"
        t.p4:1:216: warning[W0902]: `h` is a packet header: only metadata is kept
    "#]],
    );
}

fn parsers() {
    use p4_14::codes::*;
    check(
        NO_START_STATE,
        "header_type h_t { fields { a : 8; } }\ncontrol ingress { }",
        expect![[r#"
        t.p4:2:20: error[E0918]: there is no parser state `start`
    "#]],
    );
    check_with(
        NO_RETURN,
        "parser p { extract(h); }",
        expect![[r#"
        t.p4:2:8: error[E0919]: parser state `p` has no transition
    "#]],
    );
    check_with(
        LATEST_WITHOUT_EXTRACT,
        "parser p { return select(latest.a) { default : ingress; } }",
        expect![[r#"
        t.p4:2:26: error[E0917]: `latest` stands where no header was extracted before
    "#]],
    );
    check_with(
        REPEATED_PART,
        "parser p { return select(h.a) { 1, default : q; 2 : q; default : ingress; } } parser q { return ingress; }",
        expect![[r#"
            t.p4:2:56: error[E0926]: `default` is given twice
              `default`: the first is here
        "#]],
    );
    check_with(
        VALUE_SET_WIDTH,
        "parser_value_set v; parser p { return select(h.a) { v : q; } } parser q { return select(h.b) { v : ingress; } }",
        expect![[r#"
            t.p4:2:96: error[E0929]: the value set is used for 16 bits here, and for 8 bits at another place
        "#]],
    );
}

fn tables() {
    use p4_14::codes::*;
    check_with(
        MATCH_KIND,
        "table t { reads { h.a : exactly; h : lpm; } actions { nop; } } table u { reads { h : range; } actions { nop; } }",
        expect![[r#"
            t.p4:2:25: error[E0921]: there is no match kind `exactly`
            t.p4:2:38: error[E0921]: validity is matched as `valid`, `exact` or `ternary`, not as `lpm`
            t.p4:2:86: error[E0921]: validity is matched as `valid`, `exact` or `ternary`, not as `range`
        "#]],
    );
    check_with(
        UNKNOWN_ALGORITHM,
        "field_list f { h.a; } field_list_calculation c { input { f; } algorithm : crc17; output_width : 16; }\n\
         field_list_calculation d { input { f; } output_width : 16; }",
        expect![[r#"
            t.p4:2:75: error[E0922]: there is no algorithm `crc17`
            t.p4:3:24: error[E0922]: calculation `d` has no algorithm
        "#]],
    );
    check_with(
        INVALID_ARRAY,
        "counter c { type : packets; } counter d { type : cats; instance_count : 1; } \
         register r { width : 8; layout : h_t; instance_count : 1; }",
        expect![[r#"
            t.p4:2:9: error[E0923]: `c` is not direct, so it needs an `instance_count`
            t.p4:2:50: error[E0923]: `cats` is not what is counted: that is `packets` or `bytes`
            t.p4:2:111: error[E0923]: register `r` has a `width` and a `layout`, which both give the width
        "#]],
    );
    check_control(
        TABLE_ACTIONS,
        "apply(t) { other { } }",
        expect![[r#"
        t.p4:2:30: error[E0925]: `other` is not an action of table `t`
    "#]],
    );
    check_with(
        DEFAULT_ONLY,
        "action other() { } table u { reads { h.a : exact; } actions { nop; } default_action : other(); }",
        expect![[r#"
            t.p4:2:87: warning[W0905]: `other` is not among the table's actions; no entry can have it
        "#]],
    );
    check_with(
        SECOND_PREFIX,
        "table u { reads { h.a : lpm; h.b : lpm; m.a : exact; } actions { nop; } }",
        expect![[r#"
            t.p4:2:30: warning[W0906]: a table has one key of kind `lpm`: this one is `ternary`, and entries have priorities
        "#]],
    );
    check_with(
        WIDTH_ASSUMED,
        "register r { instance_count : 1; }\naction a(p) { } table u { actions { a; } }",
        expect![[r#"
            t.p4:3:10: warning[W0904]: the width of parameter `p` is not known; it gets 32 bits
            t.p4:2:10: warning[W0904]: register `r` has no `width`; it gets 32 bits
        "#]],
    );
}

fn controls() {
    use p4_14::codes::*;
    check_control(
        UNKNOWN_NAME,
        "sbu(); apply(tt); if (x == 1) { }",
        expect![[r#"
        t.p4:2:19: error[E0905]: there is no control `sbu`
        t.p4:2:32: error[E0905]: there is no table `tt`
          = did you mean `t`?
        t.p4:2:41: error[E0905]: `x` is not declared
    "#]],
    );
    check_control(
        REPEATED_PART,
        "apply(t) { hit { } hit { } }",
        expect![[r#"
        t.p4:2:38: error[E0926]: `hit` is given twice
    "#]],
    );
    check_control(
        WRONG_VALUE,
        "if (h.a) { } else if (valid(h) and not m.b) { } if (1) { } if (h.a & 4 == 4) { } if (true) { }",
        expect![[r#"
            t.p4:2:23: error[E0916]: a condition is true or false, and this is a number
              = compare it with a number, as in `... != 0`
            t.p4:2:58: error[E0916]: a condition is true or false, and this is a number
              = compare it with a number, as in `... != 0`
            t.p4:2:71: error[E0916]: a condition is true or false, and this is a number
              = compare it with a number, as in `... != 0`
        "#]],
    );
    let mut many = format!("{PRELUDE}\n");
    for level in 0..40 {
        many.push_str(&format!("control c{level} {{ c{}(); c{}(); }}\n", level + 1, level + 1));
    }
    many.push_str("control c40 { } control ingress { c0(); }");
    check(
        PROGRAM_TOO_LARGE,
        &many,
        expect![[r#"
            t.p4:41:15: error[E0930]: actions and controls grow too large when what they call is put in its place
        "#]],
    );
}

#[test]
fn a_long_else_if_is_not_nested() {
    let errors = |count: usize| {
        let branches = "if (h.a == 1) { apply(t); } else ".repeat(count);
        let text = format!("{PRELUDE} table t {{ actions {{ nop; }} }}\ncontrol ingress {{ {branches} apply(t); }}");
        let (sources, diagnostics) = diagnostics(&text);
        diagnostics.iter().map(|diagnostic| render_short(&sources, diagnostic)).collect::<Vec<_>>()
    };
    assert!(base::stack::with_deep_stack(|| errors(4000)).is_empty());
    assert_eq!(base::stack::with_deep_stack(|| errors(100_000)).len(), 1);
}

#[test]
fn every_code_is_shown() {
    base::stack::with_deep_stack(show_every_code);
}

fn show_every_code() {
    text();
    names();
    headers();
    actions();
    parsers();
    tables();
    controls();
    let shown = SHOWN.take();
    let missing: Vec<&&str> = p4_14::codes::ALL.iter().filter(|code| !shown.contains(code)).collect();
    assert!(missing.is_empty(), "not shown: {missing:?}");
}

/// The examples in the comment of each code, with the usual declarations: the code, whether it must be reported, the
/// program.
fn examples() -> Vec<(String, bool, String)> {
    let mut examples = Vec::new();
    let mut pending: Vec<(bool, String)> = Vec::new();
    let mut is_open = false;
    for line in include_str!("../src/codes.rs").lines().map(str::trim_start) {
        if let Some((_, code)) = line.split_once(" = \"").filter(|(_, rest)| rest.ends_with("\";")) {
            let code = code.trim_end_matches("\";");
            examples.extend(pending.drain(..).map(|(is_wrong, text)| (code.to_owned(), is_wrong, text)));
        }
        let Some(text) = line.strip_prefix("///").map(|text| text.strip_prefix(' ').unwrap_or(text)) else { continue };
        match text.strip_prefix("```") {
            Some("p4,wrong") => pending.push((true, PRELUDE.to_owned())),
            Some("p4") => pending.push((false, PRELUDE.to_owned())),
            Some(_) => {}
            None if is_open => pending.last_mut().expect("a block is open").1 += &format!("\n{text}"),
            None => {}
        }
        is_open = is_open != text.starts_with("```");
    }
    examples
}

#[test]
fn the_examples_are_what_they_say() {
    let examples = examples();
    assert!(examples.len() > 40, "the examples are not found");
    for (code, is_wrong, text) in examples {
        let text = format!("{text}\ncontrol ingress {{ }}");
        let (sources, diagnostics) = diagnostics(&text);
        let found: String = diagnostics.iter().map(|it| format!("{}\n", render_short(&sources, it))).collect();
        let has_code = diagnostics.iter().any(|diagnostic| diagnostic.code == code);
        assert_eq!(has_code, is_wrong, "{code}\n{text}\n{found}");
        assert!(is_wrong || !diagnostics.has_errors(), "{code}\n{text}\n{found}");
    }
}
