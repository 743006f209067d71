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
    UNREADABLE_FILE = "E0101";
    /// A file named by `#include` does not exist.
    INCLUDE_NOT_FOUND = "E0102";
    /// Files include one another without end, or too many are included.
    INCLUDE_LIMIT = "E0104";
    /// The source text is too large.
    SOURCE_TOO_LARGE = "E0105";
    /// A character that begins no token.
    INVALID_CHARACTER = "E0106";
    /// `/*` without `*/`.
    UNTERMINATED_COMMENT = "E0107";
    /// A string without its closing quotation mark.
    UNTERMINATED_STRING = "E0108";
    /// An integer literal that is none.
    INVALID_INTEGER = "E0109";
    /// A directive that does not exist or is not well-formed.
    INVALID_DIRECTIVE = "E0110";
    /// `#if` without `#endif`, or `#else`, `#elif`, `#endif` without `#if`.
    UNBALANCED_CONDITIONAL = "E0111";
    /// The expression of `#if` or `#elif` cannot be evaluated.
    INVALID_CONDITION = "E0112";
    /// `#error`.
    ERROR_DIRECTIVE = "E0113";
    /// `#define` of something that cannot be a macro.
    INVALID_MACRO = "E0114";
    /// A macro used with the wrong number of arguments, or without the closing parenthesis.
    MACRO_ARGUMENTS = "E0115";
    /// Macros expand to too much.
    MACRO_LIMIT = "E0116";
    /// `##` joins what is not one token.
    INVALID_PASTE = "E0117";
    /// A string has an escape that does not exist.
    INVALID_ESCAPE = "E0118";
    /// Something else is expected here.
    UNEXPECTED_TOKEN = "E0120";
    /// A `;` is missing.
    MISSING_SEMICOLON = "E0121";
    /// A bracket is not closed.
    UNCLOSED_BRACKET = "E0122";
    /// The program is nested too deeply.
    NESTING_LIMIT = "E0123";
    /// A keyword stands where a new name is expected.
    KEYWORD_AS_NAME = "E0124";
    /// A width that is not a literal is not in parentheses.
    WIDTH_WITHOUT_PARENTHESES = "E0125";
    /// A declaration or statement that may not stand here.
    MISPLACED_DECLARATION = "E0126";
    /// A parser without states.
    PARSER_WITHOUT_STATES = "E0127";
    /// A control without `apply` block.
    CONTROL_WITHOUT_APPLY = "E0128";
    /// A part that may be there once is there again.
    REPEATED_PART = "E0129";
    /// An expression that does nothing stands as a statement.
    EXPRESSION_STATEMENT = "E0130";
    /// The left side of an assignment is not a place that can be written.
    INVALID_TARGET = "E0131";
    /// `#warning`.
    WARNING_DIRECTIVE = "W0101";
    /// A macro is defined again with another meaning.
    MACRO_REDEFINED = "W0102";
    /// A file is not UTF-8 text.
    NOT_UTF8 = "W0103";
}
