//! A page as blocks of commands, input and expected output. What enters: Markdown. What leaves: [`Block`]s.

use std::process::Command;

/// The kind of a fenced block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Commands of a shell.
    Commands(Terminals),
    /// A session at a prompt.
    Console,
    /// A program in Python.
    Python,
    /// The output of the block before.
    Output,
    /// A file of this name, which the reader writes.
    File(String),
}

/// What happens to commands that do not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminals {
    /// There are none: each command ends before the next.
    One,
    /// They continue in terminals of their own until the next block for a switch begins one.
    Switch,
    /// They continue, and so do those from before.
    Beside,
}

/// A fenced block that is tested.
#[derive(Clone, Debug)]
pub struct Block {
    pub kind: Kind,
    pub text: String,
    /// The line of the page on which it begins.
    pub line: usize,
    needs: Option<String>,
}

impl Block {
    /// A required tool that this machine lacks.
    pub fn missing(&self) -> Option<&str> {
        self.needs.as_deref().filter(|name| !is_program(name) && !is_python_package(name))
    }

    /// Of a session, the command.
    pub fn command(&self) -> &str {
        self.text.lines().next().and_then(|line| line.strip_prefix("$ ")).unwrap_or_default()
    }

    /// Of a session, the input at the prompt.
    pub fn typed_lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().skip(1).filter_map(typed)
    }

    /// Of a session, the output, with anything between two of its lines.
    pub fn shown_lines(&self) -> String {
        let lines = self.text.lines().skip(1).filter(|line| typed(line).is_none());
        lines.fold("...\n".to_owned(), |all, line| all + line + "\n...\n")
    }
}

/// The prompts of sessions.
pub const PROMPTS: [&str; 3] = ["wirespeed> ", "RuntimeCmd: ", "P4Runtime sh >>> "];

/// What follows a prompt.
fn typed(line: &str) -> Option<&str> {
    PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt))
}

fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn is_python_package(name: &str) -> bool {
    let found = Command::new("python3").args(["-c", &format!("import {name}")]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Whether commands call the program `ping`, or have hosts call it.
fn pings(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric()).any(|word| ["ping", "pingall"].contains(&word))
}

/// The blocks of a page that are commands, sessions or output, in order.
pub fn blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(words) = line.trim_start().strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        let line = number + 1;
        let Some(kind) = kind(words).map_err(|problem| format!("line {line}: {problem}"))? else { continue };
        let text = body.join("\n") + "\n";
        let needs = words.split_whitespace().find_map(|word| word.strip_prefix("needs=")).map(str::to_owned);
        let needs = match (&kind, blocks.last()) {
            // Without the commands there is no output.
            (Kind::Output, Some(Block { needs, .. })) => needs.clone(),
            _ => needs.or_else(|| pings(&text).then(|| "ping".to_owned())),
        };
        blocks.push(Block { kind, text, line, needs });
    }
    Ok(blocks)
}

fn kind(words: &str) -> Result<Option<Kind>, String> {
    if let Some(name) = words.split_whitespace().find_map(|word| word.strip_prefix("file=")) {
        return Ok(Some(Kind::File(name.to_owned())));
    }
    let words: Vec<&str> = words.split_whitespace().filter(|word| !word.starts_with("needs=")).collect();
    Ok(Some(match words[..] {
        ["sh"] => Kind::Commands(Terminals::One),
        ["sh", "switch"] => Kind::Commands(Terminals::Switch),
        ["sh", "switch", "beside"] => Kind::Commands(Terminals::Beside),
        ["console"] => Kind::Console,
        ["python"] => Kind::Python,
        ["output"] => Kind::Output,
        ["p4" | "c" | "json" | "text" | "stf" | "rust"] | ["python", "fragment"] => return Ok(None),
        _ => return Err(format!("a block of the kind `{}` is not known to the tests of pages", words.join(" "))),
    }))
}

/// Whether a text is as expected; if not, the first missing line of the expectation. Numbers may differ, and a line
/// `...` stands for any lines.
pub fn matches(expected: &str, printed: &str) -> Result<(), String> {
    let mut printed = printed.lines().map(plain).filter(|line| !line.is_empty()).peekable();
    let mut skipping = false;
    for line in expected.lines().filter(|line| !line.trim().is_empty()) {
        if line.trim() == "..." {
            skipping = true;
            continue;
        }
        let wanted = plain(line);
        let found =
            if skipping { printed.any(|it| it == wanted) } else { printed.next().is_some_and(|it| it == wanted) };
        if !found {
            return Err(line.to_owned());
        }
        skipping = false;
    }
    if skipping || printed.next().is_none() { Ok(()) } else { Err("(the end)".to_owned()) }
}

/// A line without its numbers and the width of its blanks, so that times and counts may differ.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    for word in line.split_whitespace() {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit())
            && word.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | ',' | '%'));
        match (is_number, plain.ends_with("N ")) {
            // Thousands are grouped by blanks.
            (true, true) => {}
            (true, false) => plain.push_str("N "),
            (false, _) => {
                plain.push_str(word);
                plain.push(' ');
            }
        }
    }
    plain.trim_end().to_owned()
}
