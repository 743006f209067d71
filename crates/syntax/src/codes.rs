//! The codes of this crate's diagnostics: one for each kind of fault, never reused for another.
//!
//! `E01..` are errors and `W01..` warnings of the preprocessor, the lexer and the parser. Other stages have other
//! ranges. The test `tests/codes.rs` shows each of them.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = $code;)*

        /// Every code of this crate.
        pub const ALL: &[&str] = &[$($name,)*];
    };
}

codes! {
    /// The program's file cannot be read.
    ///
    /// Give the path of a readable file. There is no example: the fault is not in a program.
    ///
    /// Specification: P4 programs.
    UNREADABLE_FILE = "E0101";
    /// A file named by `#include` does not exist.
    ///
    /// Correct the name, or give the folder with `-I`.
    ///
    /// ```p4,wrong
    /// #include <nowhere.p4>
    /// ```
    ///
    /// ```p4
    /// #include <core.p4>
    /// ```
    ///
    /// Specification: Preprocessing.
    INCLUDE_NOT_FOUND = "E0102";
    /// Files include one another without end, or too many are included.
    ///
    /// Break the cycle, with `#ifndef` around the contents of an included file. There is no example: one file is not
    /// enough.
    ///
    /// Specification: Preprocessing.
    INCLUDE_LIMIT = "E0104";
    /// The source text is too large.
    ///
    /// Split the program. There is no example: it would be too long.
    ///
    /// Specification: Preprocessing.
    SOURCE_TOO_LARGE = "E0105";
    /// A character that begins no token.
    ///
    /// ```p4,wrong
    /// const bit<8> a = 'x';
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 0x78;
    /// ```
    ///
    /// Specification: Lexical constructs.
    INVALID_CHARACTER = "E0106";
    /// `/*` without `*/`.
    ///
    /// ```p4,wrong
    /// const bit<8> a = 1; /* one
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 1; /* one */
    /// ```
    ///
    /// Specification: Lexical constructs, Comments.
    UNTERMINATED_COMMENT = "E0107";
    /// A string without its closing quotation mark.
    ///
    /// A string ends on its line.
    ///
    /// ```p4,wrong
    /// @name("c) control C() { apply { } }
    /// ```
    ///
    /// ```p4
    /// @name("c") control C() { apply { } }
    /// ```
    ///
    /// Specification: Lexical constructs, String literals.
    UNTERMINATED_STRING = "E0108";
    /// An integer literal that is none.
    ///
    /// A literal is decimal, or has the prefix `0x`, `0o` or `0b`; before that a width with `w` or `s`.
    ///
    /// ```p4,wrong
    /// const bit<8> a = 0b12;
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 0b11;
    /// ```
    ///
    /// Specification: Lexical constructs, Integer literals.
    INVALID_INTEGER = "E0109";
    /// A directive that does not exist or is not well-formed.
    ///
    /// ```p4,wrong
    /// #ifdefined X
    /// ```
    ///
    /// ```p4
    /// #ifdef X
    /// #endif
    /// ```
    ///
    /// Specification: Preprocessing.
    INVALID_DIRECTIVE = "E0110";
    /// `#if` without `#endif`, or `#else`, `#elif`, `#endif` without `#if`.
    ///
    /// ```p4,wrong
    /// #if 1
    /// const bit<8> a = 1;
    /// ```
    ///
    /// ```p4
    /// #if 1
    /// const bit<8> a = 1;
    /// #endif
    /// ```
    ///
    /// Specification: Preprocessing.
    UNBALANCED_CONDITIONAL = "E0111";
    /// The expression of `#if` or `#elif` cannot be evaluated.
    ///
    /// ```p4,wrong
    /// #if 1 +
    /// #endif
    /// ```
    ///
    /// ```p4
    /// #if 1 + 1
    /// #endif
    /// ```
    ///
    /// Specification: Preprocessing.
    INVALID_CONDITION = "E0112";
    /// `#error`.
    ///
    /// The text says what is wrong.
    ///
    /// ```p4,wrong
    /// #ifndef WIDTH
    /// #error "define WIDTH"
    /// #endif
    /// ```
    ///
    /// ```p4
    /// #define WIDTH 8
    /// #ifndef WIDTH
    /// #error "define WIDTH"
    /// #endif
    /// ```
    ///
    /// Specification: Preprocessing.
    ERROR_DIRECTIVE = "E0113";
    /// `#define` of something that cannot be a macro.
    ///
    /// A macro's name is an identifier; its parameters are names between commas.
    ///
    /// ```p4,wrong
    /// #define 8 WIDTH
    /// ```
    ///
    /// ```p4
    /// #define WIDTH 8
    /// ```
    ///
    /// Specification: Preprocessing.
    INVALID_MACRO = "E0114";
    /// A macro used with the wrong number of arguments, or without the closing parenthesis.
    ///
    /// ```p4,wrong
    /// #define SUM(a, b) ((a) + (b))
    /// const int n = SUM(1);
    /// ```
    ///
    /// ```p4
    /// #define SUM(a, b) ((a) + (b))
    /// const int n = SUM(1, 2);
    /// ```
    ///
    /// Specification: Preprocessing.
    MACRO_ARGUMENTS = "E0115";
    /// Macros expand to too much.
    ///
    /// ```p4,wrong
    /// #define A(x) x x x x x x x x x x x x x x x x
    /// #define B(x) A(A(A(A(A(A(x))))))
    /// B(const)
    /// ```
    ///
    /// ```p4
    /// #define A(x) x
    /// A(const) int n = 1;
    /// ```
    ///
    /// Specification: Preprocessing.
    MACRO_LIMIT = "E0116";
    /// A string has an escape that does not exist.
    ///
    /// ```p4,wrong
    /// const string s = "a\q";
    /// ```
    ///
    /// ```p4
    /// const string s = "a\"q";
    /// ```
    ///
    /// Specification: Lexical constructs, String literals.
    INVALID_ESCAPE = "E0118";
    /// Something else is expected here.
    ///
    /// What is expected stands in the message; often a bracket or an operator before the place is wrong.
    ///
    /// ```p4,wrong
    /// const bit<8> a = 1 +;
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 1 + 2;
    /// ```
    ///
    /// Specification: Grammar.
    UNEXPECTED_TOKEN = "E0120";
    /// A `;` is missing.
    ///
    /// ```p4,wrong
    /// const bit<8> a = 1
    /// const bit<8> b = 2;
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 1;
    /// const bit<8> b = 2;
    /// ```
    ///
    /// Specification: Grammar.
    MISSING_SEMICOLON = "E0121";
    /// A bracket is not closed.
    ///
    /// ```p4,wrong
    /// control C() { apply { }
    /// ```
    ///
    /// ```p4
    /// control C() { apply { } }
    /// ```
    ///
    /// Specification: Grammar.
    UNCLOSED_BRACKET = "E0122";
    /// The program is nested too deeply.
    ///
    /// Give parts of the expression or statement a name: a constant, a variable, an action.
    ///
    /// ```p4,wrong
    /// #define MANY ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    /// #define MORE MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY
    /// #define MOST MORE MORE MORE MORE MORE MORE MORE MORE MORE MORE
    /// const bit<8> a = MOST 8w1;
    /// ```
    ///
    /// ```p4
    /// #define EIGHT(x) ((((((((x))))))))
    /// const bit<8> a = EIGHT(EIGHT(1));
    /// ```
    ///
    /// Specification: Grammar.
    NESTING_LIMIT = "E0123";
    /// A keyword stands where a new name is expected.
    ///
    /// ```p4,wrong
    /// struct S { bit<8> table; }
    /// ```
    ///
    /// ```p4
    /// struct S { bit<8> table_number; }
    /// ```
    ///
    /// Specification: Lexical constructs, Identifiers.
    KEYWORD_AS_NAME = "E0124";
    /// A width that is not a literal is not in parentheses.
    ///
    /// ```p4,wrong
    /// const int WIDTH = 8;
    /// struct S { bit<WIDTH> x; }
    /// ```
    ///
    /// ```p4
    /// const int WIDTH = 8;
    /// struct S { bit<(WIDTH)> x; }
    /// ```
    ///
    /// Specification: P4 data types, Base types, Integers.
    WIDTH_WITHOUT_PARENTHESES = "E0125";
    /// A declaration or statement that may not stand here.
    ///
    /// Variables stand in parsers, controls and functions; tables and actions in controls; declarations of a parser
    /// before its states.
    ///
    /// ```p4,wrong
    /// bit<8> counter;
    /// ```
    ///
    /// ```p4
    /// const bit<8> counter = 0;
    /// ```
    ///
    /// Specification: P4 programs.
    MISPLACED_DECLARATION = "E0126";
    /// A parser without states.
    ///
    /// ```p4,wrong
    /// parser P() { }
    /// ```
    ///
    /// ```p4
    /// parser P() { state start { transition accept; } }
    /// ```
    ///
    /// Specification: Packet parsing, Parser declarations.
    PARSER_WITHOUT_STATES = "E0127";
    /// A control without `apply` block.
    ///
    /// ```p4,wrong
    /// control C() { }
    /// ```
    ///
    /// ```p4
    /// control C() { apply { } }
    /// ```
    ///
    /// Specification: Control blocks.
    CONTROL_WITHOUT_APPLY = "E0128";
    /// A part that may be there once is there again.
    ///
    /// ```p4,wrong
    /// control C() {
    ///     action a() { }
    ///     table t { actions = { a; } size = 4; size = 8; default_action = a; }
    ///     apply { t.apply(); }
    /// }
    /// ```
    ///
    /// ```p4
    /// control C() {
    ///     action a() { }
    ///     table t { actions = { a; } size = 8; default_action = a; }
    ///     apply { t.apply(); }
    /// }
    /// ```
    ///
    /// Specification: Control blocks, Tables.
    REPEATED_PART = "E0129";
    /// An expression that does nothing stands as a statement.
    ///
    /// Assign the value, or call something.
    ///
    /// ```p4,wrong
    /// control C(inout bit<8> x) { apply { x == 1; } }
    /// ```
    ///
    /// ```p4
    /// control C(inout bit<8> x) { apply { x = 1; } }
    /// ```
    ///
    /// Specification: Statements.
    EXPRESSION_STATEMENT = "E0130";
    /// The left side of an assignment is not a place that can be written.
    ///
    /// ```p4,wrong
    /// control C(inout bit<8> x) { apply { (x + 1) = 2; } }
    /// ```
    ///
    /// ```p4
    /// control C(inout bit<8> x) { apply { x = 2; } }
    /// ```
    ///
    /// Specification: L-values.
    INVALID_TARGET = "E0131";
    /// `#warning`.
    ///
    /// The text says what to look at.
    ///
    /// ```p4,wrong
    /// #warning "this is old"
    /// ```
    ///
    /// ```p4
    /// const bit<8> a = 1;
    /// ```
    ///
    /// Specification: Preprocessing.
    WARNING_DIRECTIVE = "W0101";
    /// A macro is defined again with another meaning.
    ///
    /// Remove one definition, or write `#undef` between them.
    ///
    /// ```p4,wrong
    /// #define WIDTH 8
    /// #define WIDTH 9
    /// ```
    ///
    /// ```p4
    /// #define WIDTH 8
    /// #undef WIDTH
    /// #define WIDTH 9
    /// ```
    ///
    /// Specification: Preprocessing.
    MACRO_REDEFINED = "W0102";
    /// A file is not UTF-8 text.
    ///
    /// Save the file as UTF-8. There is no example: a page is UTF-8 itself.
    ///
    /// Specification: Lexical constructs.
    NOT_UTF8 = "W0103";
    /// The size of an array stands behind the name, as in C.
    ///
    /// It is taken as if it stood behind the type, where P4 has it and other compilers expect it.
    ///
    /// ```p4,wrong
    /// struct S { bit<8> parts[4]; }
    /// ```
    ///
    /// ```p4
    /// struct S { bit<8>[4] parts; }
    /// ```
    ///
    /// Specification: P4 data types, Arrays.
    SIZE_BEHIND_NAME = "W0104";
}
