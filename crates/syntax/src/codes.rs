//! The codes of this crate's diagnostics: one for each kind of error, never reused for another.
//!
//! `E01..` are errors and `W01..` warnings of the preprocessor, the lexer and the parser. Other stages have other
//! ranges. `tests/codes.rs` shows each of them.

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
    /// Give the path of a readable file. There is no example: the error is not in a program.
    ///
    /// Specification: P4 programs.
    UNREADABLE_FILE = "E0101";
    /// A file named by `#include` does not exist.
    ///
    /// Correct the name, or add the folder with `-I`.
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
    /// Files include one another endlessly, or there are too many of them.
    ///
    /// Break the cycle, with `#ifndef` around the contents of an included file. There is no example: it needs several
    /// files.
    ///
    /// Specification: Preprocessing.
    INCLUDE_LIMIT = "E0104";
    /// The source text is too large.
    ///
    /// Split the program. There is no example: it would be too long.
    ///
    /// Specification: Preprocessing.
    SOURCE_TOO_LARGE = "E0105";
    /// A character that does not begin a token.
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
    /// A string must end on the line where it begins.
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
    /// An invalid integer literal.
    ///
    /// A literal is decimal, or has the prefix `0x`, `0o` or `0b`. A width with `w` or `s` may precede it.
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
    /// An unknown or malformed directive.
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
    /// The message is the directive's text.
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
    /// An invalid macro definition.
    ///
    /// A macro's name is an identifier; its parameters are names, separated by commas.
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
    /// A macro is used with the wrong number of arguments, or without the closing parenthesis.
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
    /// The expansion of macros is too large.
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
    /// A string contains an unknown escape sequence.
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
    /// Unexpected text.
    ///
    /// The message lists what is expected. Often a bracket or an operator shortly before is the real error.
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
    /// Name a part of the expression or statement: declare a constant, a variable or an action.
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
    /// A keyword is used as a new name.
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
    /// A width that is neither a literal nor in parentheses.
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
    /// A declaration or statement in the wrong place.
    ///
    /// Variables are declared in parsers, controls and functions; tables and actions in controls. The declarations of a
    /// parser precede its states.
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
    /// A control without an `apply` block.
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
    /// A part that may occur only once is repeated.
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
    /// A statement without an effect.
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
    /// The left side of an assignment cannot be written.
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
    /// The message is the directive's text.
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
    /// A macro is redefined with a different body.
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
    /// Save the file as UTF-8. There is no example: this page is UTF-8 itself.
    ///
    /// Specification: Lexical constructs.
    NOT_UTF8 = "W0103";
    /// The size of an array follows the name, as in C.
    ///
    /// It is read as if it followed the type, where P4 requires it and other compilers expect it.
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
