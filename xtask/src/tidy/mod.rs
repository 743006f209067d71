//! The project's rules that neither the compiler nor clippy checks.
//!
//! What enters: the files of the repository. What leaves: findings, each with its place and the correction.
//!
//! * [`source`]: separates code, comments and the contents of strings.
//! * [`rust`]: rules for Rust files.
//! * [`text`]: rules for all text files.
//! * [`manifests`]: rules for `Cargo.toml` and `Cargo.lock`.
//! * [`layers`]: the table of crates in ARCHITECTURE.md.
//!
//! The pages about diagnostics must match the sources.

mod layers;
mod manifests;
mod rust;
mod source;
mod text;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the root of the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The violation and the correction.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Collects the findings of one file.
pub(crate) struct Report<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Report<'_> {
    /// Adds a finding at a line, counted from 1.
    pub(crate) fn add(&mut self, line: usize, message: impl Into<String>) {
        self.findings.push(Finding { path: self.path.to_string(), line, message: message.into() });
    }
}

/// Folders that contain no files of the project, or only files that its tests make.
const SKIPPED: [&str; 4] = [".git", "target", "__pycache__", "generated"];

/// Endings of the names of text files that are written by hand.
const TEXT_ENDINGS: [&str; 15] = [
    ".rs", ".toml", ".md", ".p4", ".c", ".h", ".txt", ".json", ".stf", ".py", ".yml", ".sh", ".lock", "run", "LICENSE",
];

/// All violations in the repository at `root`.
pub(crate) fn findings(root: &Path) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if !TEXT_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let bytes = fs::read(&path)?;
        check(root, &name, &String::from_utf8_lossy(&bytes), &mut findings);
    }
    findings.extend(crate::pages::findings(root)?);
    findings.extend(layers::findings(root)?);
    findings.sort();
    Ok(findings)
}

/// Checks one file.
fn check(root: &Path, name: &str, content: &str, findings: &mut Vec<Finding>) {
    let mut report = Report { path: name, findings };
    text::check(root, name, content, &mut report);
    if name.ends_with(".rs") {
        rust::check(name, content, &mut report);
    } else if name.ends_with("Cargo.toml") {
        manifests::check_manifest(name, content, &mut report);
    } else if name == "Cargo.lock" {
        manifests::check_lock(content, &mut report);
    }
}

/// All files below `root`, ordered by name.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![root.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings for a file of this name and content, one per line.
    pub(crate) fn findings_for(name: &str, content: &str) -> String {
        let mut findings = Vec::new();
        check(Path::new("."), name, content, &mut findings);
        findings.sort();
        findings.iter().map(|finding| format!("{finding}\n")).collect()
    }

    #[test]
    fn the_repository_is_tidy() {
        let findings = findings(&crate::root()).expect("the repository can be read");
        let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), shown.join("\n"));
    }
}
