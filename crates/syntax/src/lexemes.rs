//! A preprocessed program as plain lexemes, for parsers of other grammars than P4_16's.
//!
//! What enters: a program's file or text. What leaves: [`Preprocessed`]. [`Preprocessed::lexemes`] returns every token
//! with its text and location, and [`parse`](Preprocessed::parse) parses them as P4_16. P4_14 shares files, macros and
//! tokens with P4_16 but not the grammar, and the language of a program can only be recognised after preprocessing.

use crate::ast::{Name, Program};
use crate::diag::Diagnostics;
use crate::parser;
use crate::preprocess::{self, Options, Tokens};
use crate::source::SourceMap;
use crate::token::TokenKind;
use base::Span;
use std::path::Path;

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// An identifier or keyword.
    Word,
    /// An integer literal, valid or not.
    Integer,
    /// A string literal, with its quotation marks.
    String,
    /// An operator or bracket. `>` is always a lexeme of its own.
    Punctuation,
    /// The end of the program.
    EndOfFile,
}

/// A token and its location.
#[derive(Clone, Debug)]
pub struct Lexeme {
    /// Its kind.
    pub kind: LexemeKind,
    /// The text; empty at the end of the file.
    pub text: Name,
    /// It is preceded on its line by white space and comments only.
    pub is_first_on_line: bool,
    /// White space or a comment precedes it.
    pub has_space_before: bool,
    /// The source range.
    pub span: Span,
}

/// A program after preprocessing.
pub struct Preprocessed(Tokens);

impl Preprocessed {
    /// Preprocesses the program in the file at `path` with everything that it includes.
    pub fn from_file(
        sources: &mut SourceMap,
        path: &Path,
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Preprocessed {
        Preprocessed(preprocess::preprocess_file(sources, path, options, diagnostics))
    }

    /// Preprocesses `text` as the program in a file called `name`; `#include "..."` searches the folder of that name.
    pub fn from_text(
        sources: &mut SourceMap,
        name: &str,
        text: &str,
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Preprocessed {
        let folder = Path::new(name).parent();
        Preprocessed(preprocess::preprocess(sources, name, folder, text.into(), options, diagnostics))
    }

    /// All lexemes; the last, and no other, is [`LexemeKind::EndOfFile`].
    pub fn lexemes(&self) -> Vec<Lexeme> {
        let Preprocessed(Tokens { tokens, names, .. }) = self;
        let lexeme = |token: &crate::token::Token| Lexeme {
            kind: match token.kind {
                TokenKind::Word => LexemeKind::Word,
                TokenKind::Integer => LexemeKind::Integer,
                TokenKind::String | TokenKind::UnterminatedString => LexemeKind::String,
                TokenKind::EndOfFile => LexemeKind::EndOfFile,
                _ => LexemeKind::Punctuation,
            },
            text: token.text(names),
            is_first_on_line: token.is_first_on_line,
            has_space_before: token.has_space_before,
            span: token.span,
        };
        tokens.iter().map(lexeme).collect()
    }

    /// The program as text, without directives, macros and comments. It has the tokens of this one.
    pub fn text(&self, sources: &SourceMap) -> String {
        let Preprocessed(Tokens { tokens, names, .. }) = self;
        let mut text = String::new();
        // The end of the token before, if it is in the source as it is here.
        let mut end = None;
        for token in tokens {
            let written = token.text(names);
            let is_verbatim = sources.text(token.span) == &*written;
            if token.is_first_on_line && !text.is_empty() {
                text.push('\n');
            } else if !text.is_empty() && (token.has_space_before || !is_verbatim || end != Some(token.span.lo)) {
                // Tokens that a macro puts side by side must not become one.
                text.push(' ');
            }
            end = is_verbatim.then_some(token.span.hi);
            text.push_str(&written);
        }
        text
    }

    /// Parses it as P4_16.
    pub fn parse(self, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Program {
        parser::parse(self.0, sources, diagnostics)
    }
}
