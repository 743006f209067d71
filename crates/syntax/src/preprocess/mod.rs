//! The preprocessor turns a file and its includes into one list of tokens.
//!
//! What enters: the path (or text) of a program and [`Options`]. What leaves: tokens whose spans point into the files
//! as written. A token from a macro's body has the span of the macro's use; an argument's token keeps its own. The
//! origin of either leads to the body. Errors are reported and reading continues; only an exceeded limit ends it.
//!
//! * this module: files, directives, conditionals;
//! * [`macros`]: definition of macros;
//! * [`expand`]: their expansion;
//! * [`substitute`]: arguments in the place of parameters;
//! * [`condition`]: the expressions of `#if`, and [`number`], their values.
//!
//! Limits on include depth, the number of included files, the number of tokens and the work of macro expansion bound
//! what a hostile program can cost.

mod condition;
mod expand;
mod macros;
mod number;
mod substitute;
#[cfg(test)]
mod tests;

use crate::builtin;
use crate::codes;
use crate::diag::{Diagnostic, Diagnostics};
use crate::lexer::{Checkpoint, Lexer};
use crate::loader::FileLoader;
use crate::source::{SOURCE_BYTES_MAX, SourceMap};
use crate::token::{Names, Symbol, Token, TokenKind};
use base::{OrderedMap, OrderedSet, Span};
use macros::Macros;
use std::path::{Path, PathBuf};

/// The maximum nesting of `#include`.
const INCLUDE_DEPTH_MAX: usize = 64;

/// The maximum number of files that a program includes.
const INCLUDES_MAX: usize = 4096;

/// The maximum number of tokens of a program, and of steps that the expansion of its macros takes.
const TOKENS_MAX: usize = 4 << 20;

/// The options of the preprocessor.
#[derive(Clone)]
pub struct Options<'a> {
    /// The folders that `#include` searches, in order, before the built-in files.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined before the program begins: name and value. The name may have parameters.
    pub defines: Vec<(String, String)>,
    /// Macros undefined before the program begins.
    pub undefines: Vec<String>,
    /// Names of annotations that the parser reads and drops.
    pub ignored_annotations: Vec<String>,
    /// The loader of files.
    pub loader: &'a dyn FileLoader,
}

impl<'a> Options<'a> {
    /// No include folders, no macros.
    pub fn new(loader: &'a dyn FileLoader) -> Options<'a> {
        let (include_paths, defines, undefines, ignored_annotations) = Default::default();
        Options { include_paths, defines, undefines, ignored_annotations, loader }
    }
}

/// The result of the preprocessor, for the parser.
pub(crate) struct Tokens {
    /// The tokens; the last, and no other, is [`TokenKind::EndOfFile`].
    pub tokens: Vec<Token>,
    pub names: Names,
    /// The macros that expanded to nothing, by the index of the following token.
    pub empty_expansions: OrderedMap<usize, Symbol>,
    /// The tokens, by index, that a macro use stands before which was reported as wrong.
    pub behind_errors: OrderedSet<usize>,
    /// The macros that the options define as nothing.
    pub empty_options: OrderedSet<Symbol>,
    /// Names of annotations that are dropped.
    pub ignored_annotations: OrderedSet<Symbol>,
}

/// Preprocessing exceeded a limit, which is reported. The tokens read so far are dropped, because errors about a
/// truncated program would be useless.
struct LimitExceeded;

/// An open `#if`.
struct Conditional {
    /// The location of the `#if`.
    span: Span,
    /// Whether the surrounding text is active.
    is_outer_active: bool,
    /// Whether the text of this branch is active.
    is_active: bool,
    /// Whether a branch was active.
    was_taken: bool,
    /// Whether `#else` was seen.
    has_else: bool,
}

/// A file that is being read.
struct OpenFile {
    lexer: Lexer,
    /// The folder that `#include "..."` searches first; `None` for built-in files.
    folder: Option<PathBuf>,
    conditionals: Vec<Conditional>,
}

impl OpenFile {
    fn is_active(&self) -> bool {
        self.conditionals.last().is_none_or(|conditional| conditional.is_active)
    }
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    options: &'a Options<'a>,
    diagnostics: &'a mut Diagnostics,
    names: Names,
    macros: Macros,
    files: Vec<OpenFile>,
    include_count: usize,
    /// Paths of files with `#pragma once`.
    once: OrderedSet<PathBuf>,
    tokens: Vec<Token>,
    empty_expansions: OrderedMap<usize, Symbol>,
    behind_errors: OrderedSet<usize>,
    /// Whether a condition's macros are expanded: the operand of `defined` stays.
    is_in_condition: bool,
    /// Steps of macro expansion so far.
    steps: usize,
    /// How often `__COUNTER__` was expanded.
    counter: usize,
    /// The program's name, for `__BASE_FILE__`.
    base_file: String,
}

/// Reads the program at `path` through the options' loader.
pub(crate) fn preprocess_file(
    sources: &mut SourceMap,
    path: &Path,
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Tokens {
    let name = path.display().to_string();
    let content = match options.loader.load_program(path) {
        Ok(Some(content)) => content,
        Ok(None) => {
            let message = format!("there is no file `{name}`");
            diagnostics.push(Diagnostic::error(codes::UNREADABLE_FILE, Span::NONE, message));
            Vec::new()
        }
        Err(reason) => {
            let message = format!("cannot read `{name}`: {reason}");
            diagnostics.push(Diagnostic::error(codes::UNREADABLE_FILE, Span::NONE, message));
            Vec::new()
        }
    };
    preprocess(sources, &name, path.parent(), content, options, diagnostics)
}

/// Reads `content` as the program called `name`; its own includes are searched in `folder` first.
pub(crate) fn preprocess(
    sources: &mut SourceMap,
    name: &str,
    folder: Option<&Path>,
    content: Vec<u8>,
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Tokens {
    let mut names = Names::new();
    let mut preprocessor = Preprocessor {
        macros: Macros::new(&mut names),
        sources,
        options,
        diagnostics,
        names,
        files: Vec::new(),
        include_count: 0,
        once: OrderedSet::new(),
        tokens: Vec::new(),
        empty_expansions: OrderedMap::new(),
        behind_errors: OrderedSet::new(),
        is_in_condition: false,
        steps: 0,
        counter: 0,
        base_file: name.to_owned(),
    };
    let outcome = preprocessor.run(name, folder, content);
    if outcome.is_err() {
        preprocessor.tokens.clear();
    }
    let end = Token {
        kind: TokenKind::EndOfFile,
        is_first_on_line: true,
        has_space_before: true,
        is_painted: false,
        symbol: Symbol::NONE,
        span: outcome.unwrap_or(Span::NONE),
    };
    preprocessor.tokens.push(end);
    let empty = options.defines.iter().filter(|(_, value)| value.trim().is_empty());
    let empty_options = empty.map(|(name, _)| preprocessor.names.intern(name)).collect();
    let ignored = options.ignored_annotations.iter();
    let ignored_annotations = ignored.map(|name| preprocessor.names.intern(name)).collect();
    let Preprocessor { tokens, names, empty_expansions, behind_errors, .. } = preprocessor;
    Tokens { tokens, names, empty_expansions, behind_errors, empty_options, ignored_annotations }
}

/// The architecture whose commonly included file is not part of this compiler.
fn unsupported_architecture(path: &str) -> Option<&'static str> {
    match path.rsplit('/').next().unwrap_or(path) {
        "tna.p4" | "tofino.p4" | "tofino1arch.p4" | "tofino1_base.p4" => Some("TNA"),
        "t2na.p4" | "tofino2.p4" | "tofino2arch.p4" => Some("T2NA"),
        "xsa.p4" => Some("XSA"),
        "simple_sume_switch.p4" | "sume_switch.p4" => Some("SimpleSumeSwitch"),
        "very_simple_switch_model.p4" | "very_simple_model.p4" => Some("VSS"),
        _ => None,
    }
}

impl Preprocessor<'_> {
    /// Reads everything and returns the end of the program's file.
    fn run(&mut self, name: &str, folder: Option<&Path>, content: Vec<u8>) -> Result<Span, LimitExceeded> {
        let command_line = self.command_line();
        if !command_line.is_empty() {
            self.open("<command line>", None, command_line.into_bytes(), None)?;
            self.read_all()?;
            self.files.clear();
        }
        self.open(name, folder, content, None)?;
        let end = self.files.last().map_or(Span::NONE, |file| file.lexer.end());
        self.read_all()?;
        Ok(end)
    }

    /// The macros of the options, as directives.
    fn command_line(&self) -> String {
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            text.push_str(&format!("#define {} {}\n", one_line(name), one_line(value)));
        }
        for name in &self.options.undefines {
            text.push_str(&format!("#undef {}\n", one_line(name)));
        }
        text
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    /// Adds a file to the source map and starts to read it.
    fn open(
        &mut self,
        name: &str,
        folder: Option<&Path>,
        content: Vec<u8>,
        included_from: Option<Span>,
    ) -> Result<(), LimitExceeded> {
        let (text, fault) = match String::from_utf8(content) {
            Ok(text) => (text, None),
            Err(error) => {
                let fault = error.utf8_error().valid_up_to();
                (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(fault))
            }
        };
        let Some(span) = self.sources.add(name, &text, included_from) else {
            let message = format!("the program's text is larger than {} MiB", SOURCE_BYTES_MAX >> 20);
            self.error(codes::SOURCE_TOO_LARGE, included_from.unwrap_or(Span::NONE), message);
            return Err(LimitExceeded);
        };
        if let Some(offset) = fault {
            let lo = span.lo + offset as u32;
            // Most often this is a comment in another encoding, which is harmless.
            let diagnostic = Diagnostic::warning(codes::NOT_UTF8, Span::new(lo, lo + 3), "the file is not UTF-8 text")
                .label("this is not a character");
            self.diagnostics.push(diagnostic);
        }
        let lexer = Lexer::new(self.sources.file_text(span.lo), span.lo);
        self.files.push(OpenFile { lexer, folder: folder.map(Path::to_path_buf), conditionals: Vec::new() });
        Ok(())
    }

    /// Reads the open files to their ends.
    fn read_all(&mut self) -> Result<(), LimitExceeded> {
        while !self.files.is_empty() {
            match self.next_in_file()? {
                None => self.close(),
                Some(token) if token.kind == TokenKind::Word && self.macros.is_defined(token.symbol) => {
                    self.expand_in_file(token)?;
                }
                Some(token) => self.emit(token)?,
            }
        }
        Ok(())
    }

    /// The next token of the innermost file's active text; none at its end. Directives before it are carried out.
    fn next_in_file(&mut self) -> Result<Option<Token>, LimitExceeded> {
        loop {
            let Some(file) = self.files.last_mut() else { return Ok(None) };
            if !file.is_active() {
                match file.lexer.skip_to_directive() {
                    Some(hash) => self.directive(hash)?,
                    None => return Ok(None),
                }
                continue;
            }
            let checkpoint = file.lexer.checkpoint();
            let token = file.lexer.next(&mut self.names);
            match token.kind {
                TokenKind::EndOfFile => {
                    file.lexer.restore(checkpoint);
                    return Ok(None);
                }
                TokenKind::Hash if token.is_first_on_line => self.directive(token.span)?,
                _ => return Ok(Some(token)),
            }
        }
    }

    fn close(&mut self) {
        if let Some(file) = self.files.pop() {
            for conditional in file.conditionals {
                let message = "this conditional has no `#endif`";
                let diagnostic = Diagnostic::error(codes::UNBALANCED_CONDITIONAL, conditional.span, message)
                    .label("begun here, and not ended in this file");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Appends a token, or reports it if it is an error.
    fn emit(&mut self, token: Token) -> Result<(), LimitExceeded> {
        if self.report_fault(&token) {
            return Ok(());
        }
        if self.tokens.len() >= TOKENS_MAX {
            let message = format!("the program has more than {TOKENS_MAX} tokens");
            self.error(codes::SOURCE_TOO_LARGE, token.span, message);
            return Err(LimitExceeded);
        }
        self.tokens.push(token);
        Ok(())
    }

    /// Reports an error token. An unterminated string still counts as a string. A character that does not begin a token
    /// is valid in annotations, so the parser reports it elsewhere.
    fn report_fault(&mut self, token: &Token) -> bool {
        match token.kind {
            TokenKind::UnterminatedComment => {
                let diagnostic = Diagnostic::error(codes::UNTERMINATED_COMMENT, token.span, "this comment has no end")
                    .label("begun here")
                    .help("end it with `*/`");
                self.diagnostics.push(diagnostic);
                true
            }
            TokenKind::UnterminatedString => {
                let diagnostic = Diagnostic::error(codes::UNTERMINATED_STRING, token.span, "this string has no end")
                    .help("end it with `\"`");
                self.diagnostics.push(diagnostic);
                false
            }
            _ => false,
        }
    }

    /// The tokens up to the end of the directive's line.
    fn line_tokens(&mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        let Some(file) = self.files.last_mut() else { return tokens };
        file.lexer.has_characters = true;
        loop {
            let checkpoint = file.lexer.checkpoint();
            let token = file.lexer.next(&mut self.names);
            if token.kind == TokenKind::EndOfFile || token.is_first_on_line {
                file.lexer.restore(checkpoint);
                file.lexer.has_characters = false;
                return tokens;
            }
            tokens.push(token);
        }
    }

    /// Processes the directive after `hash`.
    fn directive(&mut self, hash: Span) -> Result<(), LimitExceeded> {
        let Some(file) = self.files.last_mut() else { return Ok(()) };
        let checkpoint = file.lexer.checkpoint();
        let name = file.lexer.next(&mut self.names);
        if name.kind == TokenKind::EndOfFile || name.is_first_on_line {
            file.lexer.restore(checkpoint);
            return Ok(());
        }
        let is_active = file.is_active();
        let text = name.text(&self.names);
        let span = hash.to(name.span);
        match &*text {
            "if" | "ifdef" | "ifndef" => self.begin_conditional(&text, span)?,
            "elif" | "elifdef" | "elifndef" | "else" => self.next_branch(&text, span)?,
            "endif" => self.end_conditional(span),
            _ if !is_active => {}
            "define" => self.define(span)?,
            "undef" => self.undefine(span),
            "include" => self.include(span)?,
            "error" | "warning" => self.message(&text, span),
            "pragma" => self.pragma(),
            // Directives that C compilers keep in their output are ignored.
            "ident" | "sccs" => drop(self.line_tokens()),
            "line" => self.line(span, None),
            _ if name.kind == TokenKind::Integer && self.is_line_marker() => self.line(span, Some(name)),
            // Assembler comments have this form. A C preprocessor in assembler mode leaves such a line alone.
            _ if name.has_space_before => self.skip_line(checkpoint),
            _ => {
                self.unknown_directive(&text, span);
                self.skip_line(checkpoint);
            }
        }
        Ok(())
    }

    /// Skips the rest of the line after a `#`.
    fn skip_line(&mut self, after_hash: Checkpoint) {
        if let Some(file) = self.files.last_mut() {
            file.lexer.restore(after_hash);
            file.lexer.rest_of_line();
        }
    }

    /// Whether the number after a `#` is followed by a file name or by nothing.
    fn is_line_marker(&mut self) -> bool {
        let Some(file) = self.files.last_mut() else { return false };
        let checkpoint = file.lexer.checkpoint();
        let next = file.lexer.next(&mut self.names);
        file.lexer.restore(checkpoint);
        next.is_first_on_line || matches!(next.kind, TokenKind::String | TokenKind::EndOfFile)
    }

    fn unknown_directive(&mut self, name: &str, span: Span) {
        const KNOWN: &[&str] = &[
            "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "pragma", "line",
        ];
        let is_near = |known: &&&str| {
            known.len().abs_diff(name.len()) <= 2 && (known.starts_with(name) || name.starts_with(**known))
        };
        let help = match KNOWN.iter().filter(is_near).max_by_key(|known| known.len()) {
            Some(near) => format!("did you mean `#{near}`?"),
            None => "a comment begins with `//`".to_owned(),
        };
        let message = format!("there is no directive `#{name}`");
        self.diagnostics.push(Diagnostic::error(codes::INVALID_DIRECTIVE, span, message).help(help));
    }

    fn begin_conditional(&mut self, name: &str, span: Span) -> Result<(), LimitExceeded> {
        let is_outer_active = self.files.last().is_some_and(OpenFile::is_active);
        let is_active = is_outer_active && self.condition(name, span)?;
        let conditional = Conditional { span, is_outer_active, is_active, was_taken: is_active, has_else: false };
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(conditional);
        }
        Ok(())
    }

    /// Evaluates the rest of `#if`, `#ifdef`, `#ifndef` or one of the corresponding `#elif` forms.
    fn condition(&mut self, name: &str, span: Span) -> Result<bool, LimitExceeded> {
        let tokens = self.line_tokens();
        if let "if" | "elif" = name {
            return self.evaluate_condition(span, tokens);
        }
        match tokens.first() {
            Some(token) if token.kind == TokenKind::Word => {
                let is_defined = self.macros.is_defined(token.symbol);
                Ok(is_defined == (name == "ifdef" || name == "elifdef"))
            }
            _ => {
                self.error(codes::INVALID_DIRECTIVE, span, format!("`#{name}` needs the name of a macro"));
                Ok(false)
            }
        }
    }

    fn next_branch(&mut self, name: &str, span: Span) -> Result<(), LimitExceeded> {
        let Some(conditional) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) else {
            self.error(codes::UNBALANCED_CONDITIONAL, span, format!("`#{name}` without `#if`"));
            self.line_tokens();
            return Ok(());
        };
        if conditional.has_else {
            let begin = conditional.span;
            let message = format!("`#{name}` after `#else`");
            let diagnostic = Diagnostic::error(codes::UNBALANCED_CONDITIONAL, span, message)
                .secondary(begin, "the conditional begins here");
            self.diagnostics.push(diagnostic);
            self.line_tokens();
            return Ok(());
        }
        conditional.has_else = name == "else";
        let may_be_taken = conditional.is_outer_active && !conditional.was_taken;
        // A condition in inactive text is not evaluated: it may only be valid in another branch.
        conditional.is_active = false;
        let is_active = may_be_taken && (name == "else" || self.condition(name, span)?);
        if let Some(conditional) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) {
            conditional.is_active = is_active;
            conditional.was_taken |= is_active;
        }
        if is_active {
            self.line_tokens();
        }
        Ok(())
    }

    fn end_conditional(&mut self, span: Span) {
        if self.files.last_mut().and_then(|file| file.conditionals.pop()).is_none() {
            self.error(codes::UNBALANCED_CONDITIONAL, span, "`#endif` without `#if`");
        }
        if self.files.last().is_some_and(OpenFile::is_active) {
            self.line_tokens();
        }
    }

    fn message(&mut self, name: &str, span: Span) {
        let Some(file) = self.files.last_mut() else { return };
        let (text, text_span) = file.lexer.rest_of_line();
        let diagnostic = if name == "error" {
            Diagnostic::error(codes::ERROR_DIRECTIVE, span.to(text_span), format!("#error {text}"))
        } else {
            Diagnostic::warning(codes::WARNING_DIRECTIVE, span.to(text_span), format!("#warning {text}"))
        };
        self.diagnostics.push(diagnostic);
    }

    /// `#pragma once` prevents the file from being included again; other pragmas are ignored.
    fn pragma(&mut self) {
        let tokens = self.line_tokens();
        let is_once = matches!(tokens.as_slice(), [token] if &*token.text(&self.names) == "once");
        if let (true, Some(token)) = (is_once, tokens.first())
            && let Some(place) = self.sources.stretch(token.span.lo)
        {
            self.once.insert(PathBuf::from(&*place.name));
        }
    }

    /// `#line number "file"`, or `# number "file"` as other preprocessors write it.
    fn line(&mut self, span: Span, number: Option<Token>) {
        let tokens = self.line_tokens();
        let mut tokens = number.into_iter().chain(tokens);
        let number = tokens.next().filter(|token| token.kind == TokenKind::Integer);
        let Some(line) = number.and_then(|token| self.names.text(token.symbol).parse::<u32>().ok()) else {
            self.error(codes::INVALID_DIRECTIVE, span, "`#line` needs a line number");
            return;
        };
        let name = tokens.next().filter(|token| token.kind == TokenKind::String);
        let name = name.map(|token| self.names.text(token.symbol).clone());
        self.sources.mark_line(span, line, name.as_deref());
    }

    fn include(&mut self, span: Span) -> Result<(), LimitExceeded> {
        let Some((path, is_quoted, path_span)) = self.included_path()? else {
            let diagnostic = Diagnostic::error(codes::INVALID_DIRECTIVE, span, "`#include` needs a file")
                .help("write `#include <name>` or `#include \"name\"`");
            self.diagnostics.push(diagnostic);
            return Ok(());
        };
        self.line_tokens();
        let span = span.to(path_span);
        self.include_count += 1;
        if self.files.len() >= INCLUDE_DEPTH_MAX || self.include_count > INCLUDES_MAX {
            let diagnostic = Diagnostic::error(codes::INCLUDE_LIMIT, span, "files include one another without end")
                .label(format!("`{path}` would be included more than {INCLUDE_DEPTH_MAX} deep or {INCLUDES_MAX} times"))
                .help("guard each file with `#ifndef NAME`, `#define NAME`, ..., `#endif`");
            self.diagnostics.push(diagnostic);
            return Err(LimitExceeded);
        }
        self.find_and_open(&path, is_quoted, span)
    }

    /// The path of an `#include`, either written directly or produced by a macro.
    fn included_path(&mut self) -> Result<Option<(String, bool, Span)>, LimitExceeded> {
        let Some(file) = self.files.last_mut() else { return Ok(None) };
        if let Some(found) = file.lexer.include_path() {
            return Ok(Some(found));
        }
        let line = self.line_tokens();
        let expanded = self.expand_line(line)?;
        let Some(first) = expanded.first() else { return Ok(None) };
        let span = expanded.iter().fold(first.span, |span, token| span.to(token.span));
        if first.kind == TokenKind::String {
            return Ok(Some((self.names.text(first.symbol).to_string(), true, span)));
        }
        let text: String = expanded.iter().map(|token| token.text(&self.names).to_string()).collect();
        let path = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(path, _)| path.to_string());
        Ok(path.map(|path| (path, false, span)))
    }

    /// The folders that are searched for an included file, in order.
    fn include_folders(&self, is_quoted: bool) -> Vec<PathBuf> {
        let own_folder = self.files.last().and_then(|file| file.folder.clone()).filter(|_| is_quoted);
        own_folder.into_iter().chain(self.options.include_paths.iter().cloned()).collect()
    }

    /// `__has_include`
    fn can_include(&self, path: &str, is_quoted: bool) -> bool {
        let is_there = |folder: &PathBuf| matches!(self.options.loader.load(&folder.join(path)), Ok(Some(_)));
        self.include_folders(is_quoted).iter().any(is_there) || builtin::text(path).is_some()
    }

    /// Searches the including file's folder (for `"..."`), the include folders and the built-in files.
    fn find_and_open(&mut self, path: &str, is_quoted: bool, span: Span) -> Result<(), LimitExceeded> {
        let folders = self.include_folders(is_quoted);
        for folder in &folders {
            let candidate = folder.join(path);
            match self.options.loader.load(&candidate) {
                Ok(Some(content)) => {
                    let name = candidate.display().to_string();
                    if self.once.contains(Path::new(&name)) {
                        return Ok(());
                    }
                    return self.open(&name, candidate.parent(), content, Some(span));
                }
                Ok(None) => {}
                Err(reason) => {
                    let message = format!("cannot read `{}`: {reason}", candidate.display());
                    self.error(codes::INCLUDE_NOT_FOUND, span, message);
                    return Ok(());
                }
            }
        }
        if let Some(text) = builtin::text(path) {
            return self.open(&format!("<{path}>"), None, text.into(), Some(span));
        }
        let architecture = unsupported_architecture(path);
        let message = match architecture {
            Some(name) => format!("there is no file `{path}`: the architecture {name} is not supported yet"),
            None => format!("there is no file `{path}`"),
        };
        let mut diagnostic = Diagnostic::error(codes::INCLUDE_NOT_FOUND, span, message);
        if architecture.is_some() {
            let help = "programs for v1model, PSA and PNA can be run, those for eBPF, uBPF and XDP can be checked; \
                        with `-I FOLDER` a file of your own is found";
            diagnostic = diagnostic.help(help);
        }
        for folder in &folders {
            let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            diagnostic = diagnostic.note(format!("looked in `{}`", shown.display()));
        }
        let known = builtin::FILES.iter().map(|&(name, _)| name).filter(|name| !name.starts_with("_internal/"));
        let known: Vec<&str> = known.collect();
        diagnostic = diagnostic.note(format!("the built-in files are {}", known.join(", ")));
        self.diagnostics.push(diagnostic);
        Ok(())
    }
}
