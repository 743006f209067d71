//! A preprocessed program as plain lexemes, for whoever reads another grammar than P4_16's.
//!
//! What enters: a program's file or text. What leaves: [`Preprocessed`], of which [`Preprocessed::lexemes`] shows every
//! token with its text and place, and which [`parse`](Preprocessed::parse) reads as P4_16. P4_14 shares files, macros
//! and tokens with P4_16 but not the grammar, and which of the two a program is can only be seen behind the
//! preprocessor.

use crate::ast::{Name, Program};
use crate::diag::Diagnostics;
use crate::parser;
use crate::preprocess::{self, Options, Tokens};
use crate::source::SourceMap;
use crate::token::TokenKind;
use base::Span;
use std::path::Path;

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// An identifier or keyword.
    Word,
    /// An integer literal, well-formed or not.
    Integer,
    /// A string literal, with its quotation marks.
    String,
    /// An operator or bracket. `>` is always alone.
    Punctuation,
    /// The end of the program.
    EndOfFile,
}

/// A token at its place.
#[derive(Clone, Debug)]
pub struct Lexeme {
    /// What it is.
    pub kind: LexemeKind,
    /// The text; empty at the end of the file.
    pub text: Name,
    /// Nothing but white space and comments stands before it on its line.
    pub is_first_on_line: bool,
    /// White space or a comment stands before it.
    pub has_space_before: bool,
    /// Where it stands.
    pub span: Span,
}

/// A program after preprocessing.
pub struct Preprocessed(Tokens);

impl Preprocessed {
    /// Reads the program in the file at `path` with all that it includes.
    pub fn from_file(
        sources: &mut SourceMap,
        path: &Path,
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Preprocessed {
        Preprocessed(preprocess::preprocess_file(sources, path, options, diagnostics))
    }

    /// Reads `text` as the program in a file called `name`; `#include "..."` looks in the folder that the name says.
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

    /// Reads it as P4_16.
    pub fn parse(self, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Program {
        parser::parse(self.0, sources, diagnostics)
    }
}
