//! Tokens, keywords and interned names.
//!
//! A token is small and owns nothing: the text of a word, an integer or a string is a [`Symbol`] in a [`Names`].

use crate::ast::Name;
use base::{OrderedMap, Span};

/// The number of an interned text. Keywords have the lowest numbers, in the order of [`Keyword`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The symbol of tokens whose kind determines their text.
    pub const NONE: Symbol = Symbol(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Interned texts.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Vec<Name>,
    symbols: OrderedMap<Name, Symbol>,
}

impl Names {
    /// With the keywords already interned.
    pub fn new() -> Names {
        let mut names = Names { texts: Vec::new(), symbols: OrderedMap::new() };
        for keyword in Keyword::ALL {
            names.intern(keyword.as_str());
        }
        names
    }

    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let name: Name = text.into();
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(name.clone());
        self.symbols.insert(name, symbol);
        symbol
    }

    pub fn text(&self, symbol: Symbol) -> &Name {
        &self.texts[symbol.index()]
    }

    /// The number of interned texts, which is greater than every symbol's index.
    pub fn len(&self) -> usize {
        self.texts.len()
    }
}

macro_rules! keywords {
    ($($variant:ident = $text:literal,)*) => {
        /// A word with a meaning in the grammar. Some of them may also be names, where the grammar is unambiguous.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword { $($variant,)* }

        impl Keyword {
            pub const ALL: &[Keyword] = &[$(Keyword::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Keyword::$variant => $text,)* }
            }
        }
    };
}

keywords! {
    Abstract = "abstract",
    Action = "action",
    Actions = "actions",
    Apply = "apply",
    Bit = "bit",
    Bool = "bool",
    Break = "break",
    Const = "const",
    Continue = "continue",
    Control = "control",
    Default = "default",
    Else = "else",
    Entries = "entries",
    Enum = "enum",
    Error = "error",
    Exit = "exit",
    Extern = "extern",
    False = "false",
    For = "for",
    Header = "header",
    HeaderUnion = "header_union",
    If = "if",
    In = "in",
    Inout = "inout",
    Int = "int",
    Key = "key",
    List = "list",
    MatchKind = "match_kind",
    Out = "out",
    Package = "package",
    Parser = "parser",
    Priority = "priority",
    Return = "return",
    Select = "select",
    State = "state",
    String = "string",
    Struct = "struct",
    Switch = "switch",
    Table = "table",
    This = "this",
    Transition = "transition",
    True = "true",
    Tuple = "tuple",
    Type = "type",
    Typedef = "typedef",
    ValueSet = "value_set",
    Varbit = "varbit",
    Void = "void",
    Underscore = "_",
}

macro_rules! token_kinds {
    ($($variant:ident = $text:literal,)*) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum TokenKind {
            /// An identifier or keyword.
            Word,
            /// An integer literal, valid or not.
            Integer,
            /// A string literal; the symbol is the text between the quotes, with escapes unresolved.
            String,
            /// A character that does not begin a token.
            InvalidCharacter,
            /// An unterminated string literal.
            UnterminatedString,
            /// An unterminated comment.
            UnterminatedComment,
            /// The end of the text.
            EndOfFile,
            $(#[doc = $text] $variant,)*
        }

        impl TokenKind {
            /// The text of an operator or bracket; empty for other tokens.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(TokenKind::$variant => $text,)*
                    _ => "",
                }
            }
        }
    };
}

token_kinds! {
    LeftParen = "(",
    RightParen = ")",
    LeftBracket = "[",
    RightBracket = "]",
    LeftBrace = "{",
    RightBrace = "}",
    Less = "<",
    Greater = ">",
    LessEqual = "<=",
    GreaterEqual = ">=",
    ShiftLeft = "<<",
    EqualEqual = "==",
    NotEqual = "!=",
    Not = "!",
    Tilde = "~",
    Plus = "+",
    PlusPlus = "++",
    PlusColon = "+:",
    Minus = "-",
    Star = "*",
    Slash = "/",
    Percent = "%",
    And = "&",
    AndAnd = "&&",
    Mask = "&&&",
    Or = "|",
    OrOr = "||",
    SaturatingPlus = "|+|",
    SaturatingMinus = "|-|",
    Caret = "^",
    Question = "?",
    Colon = ":",
    Semicolon = ";",
    Comma = ",",
    Dot = ".",
    DotDot = "..",
    Dots = "...",
    At = "@",
    Hash = "#",
    HashHash = "##",
    Equal = "=",
    PlusEqual = "+=",
    MinusEqual = "-=",
    StarEqual = "*=",
    SlashEqual = "/=",
    PercentEqual = "%=",
    AndEqual = "&=",
    OrEqual = "|=",
    CaretEqual = "^=",
    ShiftLeftEqual = "<<=",
    SaturatingPlusEqual = "|+|=",
    SaturatingMinusEqual = "|-|=",
}

/// A token and its location. `>` is always a token of its own: the parser joins `>>` and `>>=` if they are operators,
/// because in `T<U<V>>` they are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    /// It is preceded on its line by white space and comments only.
    pub is_first_on_line: bool,
    /// White space or a comment precedes it.
    pub has_space_before: bool,
    /// It is the name of a macro that must not be expanded (again).
    pub is_painted: bool,
    /// The text of a word, an integer, a string or an invalid character.
    pub symbol: Symbol,
    pub span: Span,
}

impl Token {
    /// The keyword, if the token is one.
    pub fn keyword(&self) -> Option<Keyword> {
        if self.kind == TokenKind::Word { Keyword::ALL.get(self.symbol.index()).copied() } else { None }
    }

    /// The token's text (a string with its quotes).
    pub fn text(&self, names: &Names) -> Name {
        match self.kind {
            TokenKind::Word | TokenKind::Integer | TokenKind::InvalidCharacter => names.text(self.symbol).clone(),
            TokenKind::String | TokenKind::UnterminatedString => format!("\"{}\"", names.text(self.symbol)).into(),
            kind => kind.as_str().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_the_first_symbols() {
        let mut names = Names::new();
        for keyword in Keyword::ALL {
            let token = Token {
                kind: TokenKind::Word,
                is_first_on_line: false,
                has_space_before: false,
                is_painted: false,
                symbol: names.intern(keyword.as_str()),
                span: Span::NONE,
            };
            assert_eq!(token.keyword(), Some(*keyword));
        }
        assert_eq!(names.len(), Keyword::ALL.len());
        assert_eq!(names.intern("x").index(), Keyword::ALL.len());
    }
}
