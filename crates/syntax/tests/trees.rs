//! The parser's result: the tree, and several errors in one run.

use crate::common;

use common::{parse, short};
use expect_test::{Expect, expect};

/// The outline, without its common indentation.
fn dedented(outline: &str) -> String {
    let indents = outline.lines().map(|line| line.len() - line.trim_start().len());
    let margin = indents.filter(|&indent| indent > 0).min().unwrap_or(0);
    outline
        .lines()
        .map(|line| line.get(margin..).filter(|_| line.starts_with(' ')).unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n")
}

/// The tree of a constant's value.
fn check_value(expression: &str, expected: Expect) {
    let text = format!("struct T {{ }} extern E<U> {{ E(int a); }}\nconst int x = {expression};");
    let (sources, mut program, diagnostics) = parse(&text);
    assert!(diagnostics.is_empty(), "{}", short(&sources, &diagnostics));
    program.declarations.drain(..2);
    let dump = syntax::dump(&program);
    let value = dump.split_once("value: ").unwrap().1;
    expected.assert_eq(&dedented(value));
}

/// The tree of the statements in the body of a control.
fn check_statement(statement: &str, expected: Expect) {
    let (sources, program, diagnostics) = parse(&format!("struct T {{ }} control c() {{ apply {{ {statement} }} }}"));
    assert!(diagnostics.is_empty(), "{}", short(&sources, &diagnostics));
    let dump = syntax::dump(&program);
    expected.assert_eq(&dedented(dump.split_once("statements:\n").unwrap().1));
}

fn check_errors(text: &str, expected: Expect) {
    let (sources, _, diagnostics) = parse(text);
    expected.assert_eq(&short(&sources, &diagnostics));
}

#[test]
fn bit_operators_bind_tighter_than_comparisons() {
    check_value(
        "a & b == c",
        expect![[r#"
            Binary
            operator: Equal
            left: Binary
              operator: BitAnd
              left: Name
                a
              right: Name
                b
            right: Name
              c
        "#]],
    );
}

#[test]
fn type_names_decide_between_casts_and_parentheses() {
    check_value(
        "(T) - a",
        expect![[r#"
            Cast
            type_ref: Named
              T
            operand: Unary
              operator: Negate
              operand: Name
                a
        "#]],
    );
    check_value(
        "(t) - a",
        expect![[r#"
            Binary
            operator: Subtract
            left: Name
              t
            right: Name
              a
        "#]],
    );
}

#[test]
fn type_names_decide_between_calls_and_comparisons() {
    check_value(
        "f<T>(a)",
        expect![[r#"
            Call
            callee: Name
              f
            type_arguments:
              Named
                T
            arguments:
              Argument
                value: Name
                  a
        "#]],
    );
    check_value(
        "f < t > (a)",
        expect![[r#"
            Binary
            operator: Greater
            left: Binary
              operator: Less
              left: Name
                f
              right: Name
                t
            right: Name
              a
        "#]],
    );
    check_value(
        "E<bit<8>>(1)",
        expect![[r#"
            Call
            callee: Type
              Specialized
                base: E
                arguments:
                  Bit
                      Integer
                        8
            arguments:
              Argument
                value: Integer
                  1
        "#]],
    );
}

#[test]
fn shifts_and_closing_brackets_share_their_characters() {
    check_value(
        "(tuple<bit<8>>) a >> 1",
        expect![[r#"
            Binary
            operator: ShiftRight
            left: Cast
              type_ref: Tuple
                  Bit
                      Integer
                        8
              operand: Name
                a
            right: Integer
              1
        "#]],
    );
}

#[test]
fn unknown_types_are_declared_with_all_the_same() {
    check_statement(
        "Foo x; Foo<bit<8>>[2] y = 1; Foo(1) z;",
        expect![[r#"
                          Declaration
                              kind: Variable
                                  type_ref: Named
                                    Foo
                                  name: x
                          Declaration
                              kind: Variable
                                  type_ref: Array
                                    element: Specialized
                                      base: Foo
                                      arguments:
                                        Bit
                                            Integer
                                              8
                                    size: Integer
                                      2
                                  name: y
                                  value:
                                    Integer
                                      1
                          Declaration
                              kind: Instantiation
                                  type_ref: Named
                                    Foo
                                  arguments:
                                    Argument
                                      value: Integer
                                        1
                                  name: z
        "#]],
    );
}

#[test]
fn an_inner_name_hides_a_type() {
    check_statement(
        "bit<8> T; x = (T) - 1;",
        expect![[r#"
                          Declaration
                              kind: Variable
                                  type_ref: Bit
                                      Integer
                                        8
                                  name: T
                          Assignment
                            target: Name
                              x
                            value: Binary
                              operator: Subtract
                              left: Name
                                T
                              right: Integer
                                1
        "#]],
    );
}

#[test]
fn else_belongs_to_the_nearest_if() {
    check_statement(
        "if (a) if (b) ; else exit;",
        expect![[r#"
                          If
                            condition: Name
                              a
                            then_branch: If
                              condition: Name
                                b
                              then_branch: Empty
                              else_branch:
                                Exit
        "#]],
    );
}

#[test]
fn parsing_goes_on_behind_errors() {
    check_errors(
        "header h {\n    bit<8> a\n    bit<> b;\n    bit<8> c;\n}\n\
         parser p(packet_in b) {\n    state start {\n        x = ;\n        transition select (a) {\n            1 accept;\n            2: accept;\n        }\n    }\n}\n\
         control c() {\n    table t {\n        key = { a exact; b: exact; }\n        actions = { a b; }\n    }\n    apply {\n        if a { }\n        x = 1 + ;\n    }\n}\n",
        expect![[r#"
            a.p4:2:13: error[E0121]: a `;` is missing
            a.p4:3:9: error[E0120]: expected a width, found `>`
            a.p4:8:13: error[E0120]: expected an expression, found `;`
            a.p4:10:15: error[E0120]: expected `:`, found `accept`
            a.p4:17:19: error[E0120]: expected `:`, found `exact`
            a.p4:18:23: error[E0120]: expected `;`, found `b`
            a.p4:21:12: error[E0120]: expected `(`, found `a`
            a.p4:22:17: error[E0120]: expected an expression, found `;`
        "#]],
    );
}

#[test]
fn an_unclosed_block_does_not_swallow_the_program() {
    check_errors(
        "control a() {\n    apply {\n        if (x) {\n    }\n}\n\ncontrol b() {\n    apply { y = ; }\n}\n",
        expect![[r#"
            a.p4:3:16: error[E0122]: this `{` is not closed
            a.p4:8:17: error[E0120]: expected an expression, found `;`
        "#]],
    );
}

#[test]
fn an_unclosed_brace_is_distinguished_from_those_around_it() {
    check_errors(
        "struct S {\n    bit<8> x;\nheader H { bit<8> y; }\n\
         parser p() {\n    state start {\n        transition select(x) {\n            1: accept;\n    }\n}\n\
         control c() { apply { if (x) { y(); } }\n",
        expect![[r#"
            a.p4:1:10: error[E0122]: this `{` is not closed
            a.p4:6:30: error[E0122]: this `{` is not closed
            a.p4:10:13: error[E0122]: this `{` is not closed
        "#]],
    );
}

#[test]
fn an_unclosed_annotation_ends_with_its_block() {
    check_errors(
        "control a() {\n    @foo(1, (2, 3)\n    apply { x = 1; }\n}\n\ncontrol b() {\n    apply { y = ; }\n}\n",
        expect![[r#"
            a.p4:2:9: error[E0122]: this `(` is not closed
            a.p4:7:17: error[E0120]: expected an expression, found `;`
        "#]],
    );
}
