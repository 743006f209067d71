//! Lexemes to the syntax tree: recursive descent, one function for each rule of the grammar.
//!
//! The grammar is that of P4_14 1.0.5, plus the forms of 1.1 that can be distinguished: types before the names of
//! fields and parameters, `&&` for `and`. A rule that fails reports the error and returns [`Failed`]; parsing continues
//! with the declaration after the closing brace of the one that failed.
//!
//! * this module: lexemes, errors, recovery, the list of declarations;
//! * [`headers`]: header types, instances, field lists, calculations;
//! * [`states`]: parser states, exceptions, value sets;
//! * [`tables`]: actions, tables, profiles, stateful memories, externs;
//! * [`controls`], [`expressions`];
//! * [`pragmas`]: `@pragma` lines, which may occur anywhere.

mod controls;
mod expressions;
mod headers;
mod pragmas;
mod states;
mod tables;

use crate::ast::{Expr, ExprKind, Ident, Pragma, Program};
use crate::{codes, forms};
use base::{OrderedMap, Span};
use syntax::diag::{Diagnostic, Diagnostics};
use syntax::{Lexeme, LexemeKind};

/// The maximum height of statements and of expressions. The translation at most doubles the height of an expression, so
/// the tree stays within `base::limits::NESTING_MAX`.
pub(crate) const HEIGHT_MAX: u32 = 1000;

/// A rule did not match; the error has been reported.
pub(crate) struct Failed;

type Parsed<T> = Result<T, Failed>;

pub(crate) struct Parser<'a> {
    lexemes: Vec<Lexeme>,
    next: usize,
    /// The current nesting depth of statements or expressions.
    depth: u32,
    diagnostics: &'a mut Diagnostics,
    program: Program,
    /// `@pragma` lines by the index of the following lexeme.
    pragma_lines: OrderedMap<usize, Vec<Pragma>>,
    /// The pragmas before the current declaration.
    own_pragmas: Vec<Pragma>,
}

/// Parses a program; the last of the lexemes is the end of the file.
pub(crate) fn parse(lexemes: Vec<Lexeme>, diagnostics: &mut Diagnostics) -> Program {
    let (lexemes, pragma_lines) = pragmas::split(lexemes);
    let program = Program::default();
    let mut parser = Parser { lexemes, next: 0, depth: 0, diagnostics, program, pragma_lines, own_pragmas: Vec::new() };
    let words = parser.lexemes.iter().filter(|lexeme| lexeme.kind == LexemeKind::Word);
    parser.program.words = words.map(|word| word.text.clone()).collect();
    parser.run();
    parser.program
}

// Lexemes.
impl Parser<'_> {
    fn peek(&self) -> &Lexeme {
        self.peek_at(0)
    }

    fn peek_at(&self, distance: usize) -> &Lexeme {
        let last = self.lexemes.len() - 1;
        &self.lexemes[(self.next + distance).min(last)]
    }

    fn bump(&mut self) -> Lexeme {
        let lexeme = self.peek().clone();
        self.next = (self.next + 1).min(self.lexemes.len() - 1);
        lexeme
    }

    fn at_end(&self) -> bool {
        self.peek().kind == LexemeKind::EndOfFile
    }

    /// Whether the next lexeme is this operator or bracket.
    fn at(&self, text: &str) -> bool {
        let lexeme = self.peek();
        lexeme.kind == LexemeKind::Punctuation && &*lexeme.text == text
    }

    /// Whether the next lexeme is this word.
    fn at_word(&self, text: &str) -> bool {
        let lexeme = self.peek();
        lexeme.kind == LexemeKind::Word && &*lexeme.text == text
    }

    fn at_any_word(&self) -> bool {
        self.peek().kind == LexemeKind::Word
    }

    fn take(&mut self, text: &str) -> bool {
        let is_next = self.at(text);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn take_word(&mut self, text: &str) -> bool {
        let is_next = self.at_word(text);
        if is_next {
            self.bump();
        }
        is_next
    }

    /// The span of the previous lexeme.
    fn previous_span(&self) -> Span {
        self.next.checked_sub(1).map_or(Span::NONE, |index| self.lexemes[index].span)
    }

    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }
}

// Errors and expectations.
impl Parser<'_> {
    fn found(&self) -> String {
        let lexeme = self.peek();
        match lexeme.kind {
            LexemeKind::EndOfFile => "the end of the file".into(),
            LexemeKind::String => "a string".into(),
            _ => {
                let mut shown: String = lexeme.text.chars().take(40).collect();
                if shown.len() < lexeme.text.len() {
                    shown.push_str("...");
                }
                format!("`{shown}`")
            }
        }
    }

    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let message = format!("expected {expected}, found {}", self.found());
        let token = self.peek().clone();
        let diagnostic =
            Diagnostic::error(codes::UNEXPECTED_TOKEN, token.span, message).label(format!("expected {expected}"));
        self.diagnostics.push(match &*token.text {
            "#" => diagnostic.help("a comment begins with `//`"),
            text if is_of_p4_16(text) => diagnostic.help(format!(
                "`{text}` is a word of P4_16, and this program is read as P4_14; choose the language with `--std p4-16`"
            )),
            _ => diagnostic,
        });
        Err(Failed)
    }

    /// Reports a form that P4_14 does not have, such as one of P4_16; `help` is the form that is meant.
    fn of_other_form<T>(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Parsed<T> {
        self.diagnostics.push(Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message).help(help));
        Err(Failed)
    }

    /// Reports a call of a method that only P4_16 has, if the next lexeme is its parenthesis.
    fn refuse_method(&mut self, object: &Expr, method: &Ident) -> Parsed<()> {
        let name = match &object.kind {
            ExprKind::Name(name) => name,
            ExprKind::Member(_, member) => &member.name,
            _ => return Ok(()),
        };
        let form = match method.as_str() {
            "apply" => Some(format!("apply({name}) {{ hit {{ }} miss {{ }} }}")),
            method => forms::of_method(name, method),
        };
        match form {
            Some(form) if self.at("(") => self.of_other_form(
                method.span,
                format!("P4_14 has no method `{}`", method.name),
                format!("write `{form}`"),
            ),
            _ => Ok(()),
        }
    }

    /// Reports the declaration of a variable in place of a statement.
    fn refuse_variable(&mut self) -> Parsed<()> {
        let is_type = matches!(&*self.peek().text, "bit" | "int" | "varbit" | "bool" | "const");
        let (next, after) = (self.peek_at(1), self.peek_at(2));
        let is_word_next = self.at_any_word() && next.kind == LexemeKind::Word;
        let has_width = is_type && &*next.text == "<";
        if !has_width && !(is_word_next && (is_type || matches!(&*after.text, "=" | ";"))) {
            return Ok(());
        }
        let help = "declare a field in the type of a `metadata` instance, and write it with `modify_field`";
        self.of_other_form(self.peek().span, "P4_14 has no local variables", help)
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        if self.at(text) { Ok(self.bump().span) } else { self.unexpected(&format!("`{text}`")) }
    }

    fn expect_word(&mut self, text: &str) -> Parsed<Span> {
        if self.at_word(text) { Ok(self.bump().span) } else { self.unexpected(&format!("`{text}`")) }
    }

    fn name(&mut self, expected: &str) -> Parsed<Ident> {
        if !self.at_any_word() {
            return self.unexpected(expected);
        }
        let lexeme = self.bump();
        Ok(Ident { name: lexeme.text, span: lexeme.span })
    }

    /// Runs a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= HEIGHT_MAX {
            let message = format!("this is nested more than {HEIGHT_MAX} levels deep");
            self.diagnostics.push(Diagnostic::error(codes::NESTING_LIMIT, self.peek().span, message));
            return Err(Failed);
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Reports a repeated part.
    fn repeated(&mut self, part: &str, span: Span) {
        let message = format!("`{part}` is given twice");
        self.diagnostics.push(Diagnostic::error(codes::REPEATED_PART, span, message));
    }

    /// Sets a part that may occur only once.
    fn set<T>(&mut self, slot: &mut Option<T>, value: T, part: &str, span: Span) {
        if slot.is_some() {
            self.repeated(part, span);
        }
        *slot = Some(value);
    }
}

// The program.
impl Parser<'_> {
    fn run(&mut self) {
        while !self.at_end() {
            self.own_pragmas = self.pragmas();
            if self.at_end() || self.take(";") {
                continue;
            }
            let start = self.next;
            if self.declaration().is_err() {
                self.recover(start);
            }
        }
        self.program.end = self.peek().span;
    }

    /// The `@pragma` lines before the next lexeme. Annotations are skipped.
    fn pragmas(&mut self) -> Vec<Pragma> {
        let mut pragmas = Vec::new();
        loop {
            pragmas.extend(self.pragma_lines.remove(&self.next).unwrap_or_default());
            if !self.take("@") {
                return pragmas;
            }
            self.bump();
            if self.at("(") {
                self.skip_balanced();
            }
        }
    }

    /// Moves past the bracket that closes the next one.
    fn skip_balanced(&mut self) {
        let mut depth = 0u32;
        while !self.at_end() {
            let lexeme = self.bump();
            if lexeme.kind != LexemeKind::Punctuation {
                continue;
            }
            match &*lexeme.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Moves past the declaration that began at `start`: past its closing brace, or past its semicolon if that comes
    /// first; at least by one lexeme.
    fn recover(&mut self, start: usize) {
        let failed_at = self.next;
        self.next = start;
        self.depth = 0;
        let mut depth = 0u32;
        while !self.at_end() {
            let lexeme = self.bump();
            if lexeme.kind == LexemeKind::Punctuation {
                match &*lexeme.text {
                    "{" => depth += 1,
                    "}" => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 && self.next > failed_at {
                            return;
                        }
                    }
                    ";" if depth == 0 && self.next > failed_at => return,
                    _ => {}
                }
            }
            // If braces do not match, a keyword that begins a declaration, first on its line, ends the declaration.
            let next = self.peek();
            let is_declaration = next.kind == LexemeKind::Word && DECLARATIONS.contains(&&*next.text);
            if self.next > failed_at
                && next.is_first_on_line
                && is_declaration
                && depth <= 1
                && lexeme.text.as_ref() == "}"
            {
                return;
            }
        }
    }

    fn declaration(&mut self) -> Parsed<()> {
        if !self.at_any_word() {
            return self.unexpected("a declaration");
        }
        let word = self.peek().text.clone();
        match &*word {
            "header_type" => self.header_type(),
            "header" | "metadata" => self.instance(),
            "field_list" => self.field_list(),
            "field_list_calculation" => self.calculation(),
            "calculated_field" => self.calculated_field(),
            "parser_value_set" => self.value_set(),
            "parser" => self.state(),
            "parser_exception" => self.exception(),
            "counter" | "meter" | "register" => self.array(),
            "action" => self.action(),
            "action_profile" => self.profile(),
            "action_selector" => self.selector(),
            "table" => self.table(),
            "control" => self.control(),
            "extern_type" | "blackbox_type" => self.extern_type(),
            "extern" | "blackbox" => self.extern_instance(),
            _ => self.unexpected("a declaration"),
        }
    }
}

/// The words that begin a declaration.
const DECLARATIONS: [&str; 20] = [
    "header_type",
    "header",
    "metadata",
    "field_list",
    "field_list_calculation",
    "calculated_field",
    "parser_value_set",
    "parser",
    "parser_exception",
    "counter",
    "meter",
    "register",
    "action",
    "action_profile",
    "action_selector",
    "table",
    "control",
    "extern_type",
    "extern",
    "blackbox",
];

/// Whether a word has a meaning in P4_16 and none in P4_14.
fn is_of_p4_16(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "abstract",
        "apply",
        "bit",
        "bool",
        "const",
        "entries",
        "enum",
        "error",
        "exit",
        "for",
        "if",
        "in",
        "inout",
        "int",
        "key",
        "match_kind",
        "out",
        "package",
        "state",
        "struct",
        "switch",
        "transition",
        "tuple",
        "type",
        "typedef",
        "value_set",
        "varbit",
        "void",
    ];
    WORDS.contains(&word)
}
