//! The pages about diagnostics, one for each code, generated from the comments beside the codes.
//!
//! What enters: the Rust sources of all crates. What leaves: `docs/diagnostics/CODE.md` for each code, an index, and
//! the list that `wirespeed explain` uses. `bless` and `pages` write these files; tidy reports files that are out of
//! date.
//!
//! A page comes from the header of a file that begins with "`CODE`: title", or from the comment of a constant whose
//! value is the code. The comment's first sentence is the title, the rest is the page: text, an invalid program in a
//! block marked `p4,wrong`, a valid one in a block marked `p4`, and the section of the specification.

use crate::tidy::{Finding, files};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The file with the list for `wirespeed explain`.
const LIST: &str = "crates/cli/src/explanations.rs";

/// The folder of the pages.
const FOLDER: &str = "docs/diagnostics";

/// The stages, by the prefix of their codes, as shown in the index.
const STAGES: [(&str, &str); 11] = [
    ("E01", "Text and grammar"),
    ("E02", "Names and annotations"),
    ("E03", "Types"),
    ("E04", "Expressions"),
    ("E05", "Calls and instances"),
    ("E06", "Statements, parsers and tables"),
    ("E07", "Whole programs"),
    ("E08", "Architectures and limits"),
    ("E09", "P4_14"),
    ("E10", "What controllers see"),
    ("W", "Warnings"),
];

/// A page: its title and its lines.
struct Page {
    title: String,
    lines: Vec<String>,
}

/// Writes all files that are out of date, and removes the pages of codes that no longer exist.
pub(crate) fn write(root: &Path) -> io::Result<()> {
    let wanted = wanted(root)?;
    for (name, content) in &wanted {
        let path = root.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if fs::read_to_string(&path).ok().as_ref() != Some(content) {
            fs::write(path, content)?;
        }
    }
    for name in present(root)? {
        if !wanted.contains_key(&name) {
            fs::remove_file(root.join(name))?;
        }
    }
    Ok(())
}

/// The files that are out of date.
pub(crate) fn findings(root: &Path) -> io::Result<Vec<Finding>> {
    let wanted = wanted(root)?;
    let mut findings = Vec::new();
    let mut add = |path: &str, message: &str| {
        let message = format!("{message}: run `cargo xtask bless`");
        findings.push(Finding { path: path.to_string(), line: 1, message });
    };
    for (name, content) in &wanted {
        if fs::read_to_string(root.join(name)).ok().as_ref() != Some(content) {
            add(name, "this differs from the comments beside the codes");
        }
    }
    for name in present(root)? {
        if !wanted.contains_key(&name) {
            add(&name, "there is no such code");
        }
    }
    Ok(findings)
}

/// The existing pages.
fn present(root: &Path) -> io::Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(root.join(FOLDER)) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries {
        names.push(format!("{FOLDER}/{}", entry?.file_name().to_string_lossy()));
    }
    names.sort();
    Ok(names)
}

/// All files with their required contents.
fn wanted(root: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    for path in files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        // Code that only tests use mentions codes of other crates, and defines none.
        let is_product = name.starts_with("crates/") && !name.starts_with("crates/testkit/");
        if is_product && name.contains("/src/") && name.ends_with(".rs") {
            read_pages(&fs::read_to_string(&path)?, &mut pages);
        }
    }
    let mut wanted = BTreeMap::new();
    for (code, page) in &pages {
        wanted.insert(format!("{FOLDER}/{code}.md"), page_text(code, page));
    }
    wanted.insert(format!("{FOLDER}/README.md"), index(&pages));
    wanted.insert(LIST.to_string(), list(&pages));
    Ok(wanted)
}

/// Finds the pages in a Rust source.
fn read_pages(source: &str, pages: &mut BTreeMap<String, Page>) {
    let header: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
    if let Some(rest) = header.first().and_then(|first| first.strip_prefix(" `"))
        && let Some((code, title)) = rest.split_once("`: ")
        && is_code(code)
    {
        pages.insert(code.to_string(), page(title, &header[1..]));
    }
    let mut comment: Vec<&str> = Vec::new();
    for line in source.lines() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            comment.push(text);
            continue;
        }
        let value = line.trim_end().strip_suffix("\";").and_then(|line| line.rsplit_once("= \""));
        if let (Some((_, code)), Some((title, rest))) = (value, comment.split_first())
            && is_code(code)
        {
            pages.insert(code.to_string(), page(title.trim(), rest));
        }
        comment.clear();
    }
}

fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['E', 'W']).unwrap_or("");
    digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits != "0000"
}

/// The page of a comment. The title extends over several lines, up to the first empty one.
fn page(first: &str, rest: &[&str]) -> Page {
    let split = rest.iter().position(|line| line.trim().is_empty()).unwrap_or(rest.len());
    let whole: Vec<&str> = std::iter::once(first).chain(rest[..split].iter().map(|line| line.trim())).collect();
    let title = whole.join(" ").trim_end_matches('.').to_string();
    let lines = rest[split..].iter().map(|line| line.strip_prefix(' ').unwrap_or(line).to_string()).collect();
    Page { title, lines }
}

fn page_text(code: &str, page: &Page) -> String {
    let mut text = format!("# {code}: {}\n", page.title);
    for line in &page.lines {
        if let Some(marks) = line.strip_prefix("```p4") {
            let verdict = if marks.contains(",wrong") { "Wrong" } else { "Right" };
            let place = if marks.contains(",ingress") { ", in an ingress control of v1model" } else { "" };
            text.push_str(&format!("{verdict}{place}:\n\n```p4\n"));
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn index(pages: &BTreeMap<String, Page>) -> String {
    let mut text =
        "# Diagnostics\n\nEvery code of an error or warning, with its page; `wirespeed explain CODE` shows the \
                    page, too.\nMade by `cargo xtask bless` from the comments beside the codes.\n"
            .to_string();
    for (beginning, stage) in STAGES {
        let mut of_stage = pages.iter().filter(|(code, _)| code.starts_with(beginning)).peekable();
        if of_stage.peek().is_none() {
            continue;
        }
        text.push_str(&format!("\n## {stage}\n\n"));
        for (code, page) in of_stage {
            text.push_str(&format!("- [{code}]({code}.md): {}\n", page.title));
        }
    }
    text
}

fn list(pages: &BTreeMap<String, Page>) -> String {
    let mut text = "//! The pages about diagnostics, by their codes. Made by `cargo xtask bless`.\n\n\
                    /// Codes in order, each with its page.\npub const PAGES: &[(&str, &str)] = &[\n"
        .to_string();
    for code in pages.keys() {
        text.push_str(&format!("    (\"{code}\", include_str!(\"../../../{FOLDER}/{code}.md\")),\n"));
    }
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_in_headers_and_constants() {
        let mut pages = BTreeMap::new();
        read_pages(
            "//! `E0901`: a fault\n//! of two lines.\n//!\n//! Text.\n//!\n//! ```p4,wrong\n//! x\n//! ```\n",
            &mut pages,
        );
        read_pages(
            "    /// Another. \n    ///\n    /// Mend it.\n    NAME = \"W0902\";\n/// None.\nlet a = 1;\n",
            &mut pages,
        );
        let texts: Vec<String> = pages.iter().map(|(code, page)| page_text(code, page)).collect();
        assert_eq!(
            texts,
            ["# E0901: a fault of two lines\n\nText.\n\nWrong:\n\n```p4\nx\n```\n", "# W0902: Another\n\nMend it.\n"]
        );
    }
}
