//! Writes C trees as text: the one place that formats.
//!
//! Operands that are operations themselves are in parentheses, except in chains of one associative operator, so that
//! readers need not know C's precedences and no compiler warns about them.

use super::{Expr, Item, Member, Stmt};
use crate::units::first_line;
use std::fmt::Write as _;

/// The text of a file.
pub(crate) fn print(items: &[Item]) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    printer.items(items);
    printer.text
}

/// The deepest indentation: a thousand nested conditionals would otherwise be mostly spaces.
const INDENT_MAX: usize = 24;

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        let width = if text.is_empty() { 0 } else { 4 * self.indent.min(INDENT_MAX) };
        let _ = writeln!(self.text, "{:width$}{text}", "");
    }

    fn items(&mut self, items: &[Item]) {
        let tight =
            |item: &Item| matches!(item, Item::Define(_) | Item::Include(_) | Item::Assert(..) | Item::Prototype(_));
        for (position, item) in items.iter().enumerate() {
            if position > 0
                && !(tight(&items[position - 1]) && tight(item))
                && !matches!(items[position - 1], Item::Comment(_))
            {
                self.text.push('\n');
            }
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Comment(text) => self.comment(text),
            Item::Define(name) => self.line(&format!("#define {name}")),
            Item::Include(name) => self.line(&format!("#include \"{name}\"")),
            Item::Struct { name, members } => {
                self.line(&format!("struct {name} {{"));
                self.indent += 1;
                members.iter().for_each(|member| self.member(member));
                self.indent -= 1;
                self.line("};");
            }
            Item::Assert(condition, reason) => {
                self.line(&format!("_Static_assert({}, \"{reason}\");", expr(condition)))
            }
            Item::Constant { ty, name, length, value } => {
                self.line(&format!("{ty} {name}{} = {};", length_of(*length), expr(value)))
            }
            Item::Function { head, body } => {
                self.line(head);
                self.braces(body, "}");
            }
            Item::Prototype(head) => self.line(&format!("{head};")),
            Item::Unit(number, items) => {
                self.line(&first_line(*number));
                self.items(items);
                self.line(&format!("#endif /* WS_IN_UNIT({number}) */"));
            }
        }
    }

    fn member(&mut self, member: &Member) {
        self.line(&format!("{} {}{};", member.ty, member.name, length_of(member.length)));
    }

    /// `{`, the statements and the closing text, the brace on a line of its own.
    fn braces(&mut self, body: &[Stmt], close: &str) {
        self.line("{");
        self.body(body);
        self.line(close);
    }

    fn body(&mut self, body: &[Stmt]) {
        self.indent += 1;
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.indent -= 1;
    }

    fn comment(&mut self, text: &str) {
        let safe = text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ");
        self.line(&format!("/* {safe} */"));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { .. } | Stmt::Assign(..) | Stmt::Eval(_) | Stmt::Return(_) => {
                self.line(&format!("{};", simple(stmt)))
            }
            Stmt::If(condition, yes, no) => self.if_stmt(condition, yes, no),
            Stmt::Switch { value, cases, default } => {
                self.line(&format!("switch ({}) {{", expr(value)));
                for (values, body) in cases {
                    values.iter().for_each(|value| self.line(&format!("case {}:", expr(value))));
                    self.case(body);
                }
                self.line("default:");
                self.case(default);
                self.line("}");
            }
            Stmt::Loop(body) => {
                self.line("for (;;) {");
                self.body(body);
                self.line("}");
            }
            Stmt::For { first, condition, step, body } => {
                self.line(&format!("for ({}; {}; {}) {{", simple(first), expr(condition), simple(step)));
                self.body(body);
                self.line("}");
            }
            Stmt::Block(body) => self.braces(body, "}"),
            Stmt::Goto(label) => self.line(&format!("goto {label};")),
            Stmt::Label(label) => {
                self.indent -= 1;
                self.line(&format!("{label}:;"));
                self.indent += 1;
            }
            Stmt::Comment(text) => self.comment(text),
        }
    }

    fn case(&mut self, body: &[Stmt]) {
        self.indent += 1;
        self.line("{");
        self.body(body);
        self.line("} break;");
        self.indent -= 1;
    }

    fn if_stmt(&mut self, condition: &Expr, yes: &[Stmt], no: &[Stmt]) {
        self.line(&format!("if ({}) {{", expr(condition)));
        self.body(yes);
        let mut otherwise = no;
        loop {
            let (comment, condition, yes, no) = match otherwise {
                [Stmt::If(condition, yes, no)] => (None, condition, yes, no),
                [comment @ Stmt::Comment(_), Stmt::If(condition, yes, no)] => (Some(comment), condition, yes, no),
                _ => break,
            };
            self.line(&format!("}} else if ({}) {{", expr(condition)));
            // The comment of the condition has no other place.
            self.body(comment.map_or(&[], std::slice::from_ref));
            self.body(yes);
            otherwise = no;
        }
        if !otherwise.is_empty() {
            self.line("} else {");
            self.body(otherwise);
        }
        self.line("}");
    }
}

fn length_of(length: Option<u32>) -> String {
    length.map_or(String::new(), |length| format!("[{length}]"))
}

/// A statement on one line, without the semicolon.
fn simple(stmt: &Stmt) -> String {
    match stmt {
        Stmt::Declare { ty, name, length, value } => {
            let space = if ty.ends_with(['*', ' ']) { "" } else { " " };
            let value = value.as_ref().map_or(String::new(), |value| format!(" = {}", expr(value)));
            format!("{ty}{space}{name}{}{value}", length_of(*length))
        }
        Stmt::Assign(place, op, value) => format!("{} {op} {}", expr(place), expr(value)),
        Stmt::Eval(value) => expr(value),
        Stmt::Return(value) => format!("return {}", expr(value)),
        _ => unreachable!("{stmt:?} takes more than a line"),
    }
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Name(text) => text.clone(),
        Expr::Int(number) => format!("{number}u"),
        Expr::Long(number) if *number < 1000 => format!("{number}ull"),
        Expr::Long(number) => format!("{number:#x}ull"),
        Expr::Unary(op, inner) => format!("{op}{}", operand(inner)),
        Expr::Binary(op, left, right) => {
            let chains = matches!(*op, "+" | "|" | "&" | "^" | "&&" | "||");
            let left = match &**left {
                Expr::Binary(inner, ..) if inner == op && chains => expr(left),
                _ => operand(left),
            };
            format!("{left} {op} {}", operand(right))
        }
        Expr::Conditional(condition, yes, no) => {
            format!("{} ? {} : {}", operand(condition), operand(yes), operand(no))
        }
        Expr::Call(function, arguments) => format!("{}({})", operand(function), list(arguments)),
        Expr::Index(array, position) => format!("{}[{}]", operand(array), expr(position)),
        Expr::Arrow(pointer, member) => format!("{}->{member}", operand(pointer)),
        Expr::Dot(base, member) => format!("{}.{member}", operand(base)),
        Expr::Cast(ty, inner) => format!("({ty}){}", operand(inner)),
        Expr::List(items) => format!("{{ {} }}", list(items)),
    }
}

fn operand(value: &Expr) -> String {
    match value {
        Expr::Binary(..) | Expr::Conditional(..) | Expr::Cast(..) | Expr::Unary(..) => format!("({})", expr(value)),
        _ => expr(value),
    }
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::print;
    use expect_test::expect;

    #[test]
    fn operands_are_set_apart_and_chains_are_not() {
        let sum = binary("+", binary("+", name("a"), name("b")), binary("<<", name("c"), int(3)));
        let test = binary("&&", binary("==", sum, long(5000)), unary("!", call("f", vec![name("x"), long(7)])));
        let body = vec![
            Stmt::If(test, vec![assign(index(name("t"), int(0)), cast("uint8_t", name("a")))], vec![]),
            Stmt::Comment("never */ ends early".into()),
        ];
        expect![[r#"
            void f(void)
            {
                if (((a + b + (c << 3u)) == 0x1388ull) && (!f(x, 7ull))) {
                    t[0u] = (uint8_t)a;
                }
                /* never * / ends early */
            }
        "#]]
        .assert_eq(&print(&[Item::Function { head: "void f(void)".into(), body }]));
    }
}
