//! Rules for all text files.

use crate::tidy::Report;
use std::path::Path;

/// Marks of unfinished work. In two parts, so that this file passes.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// Prefixes of paths that exist only on one machine. Each is in two parts, so that this file passes.
const MACHINE_PATHS: [&str; 5] =
    [concat!("/", "home/"), concat!("/", "Users/"), concat!("/", "root/"), concat!("/", "work/"), concat!("/", "tmp/")];

/// Checks a text file.
pub(crate) fn check(root: &Path, name: &str, content: &str, report: &mut Report<'_>) {
    for (index, line) in content.lines().enumerate() {
        for mark in MARKS {
            if has_mark(line, mark) {
                report.add(
                    index + 1,
                    format!("`{mark}` marks unfinished work: finish it, or say in words what is not there"),
                );
            }
        }
        for path in MACHINE_PATHS {
            if has_path(line, path) {
                report.add(index + 1, format!("`{path}` exists on one machine only"));
            }
        }
        if name.ends_with(".md") {
            check_links(root, name, line, index + 1, report);
        }
    }
    if !content.is_empty() && !content.ends_with('\n') {
        report.add(content.lines().count(), "the last line has no end");
    }
}

fn has_mark(line: &str, mark: &str) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    line.match_indices(mark).any(|(start, _)| {
        let before = line.as_bytes()[..start].last();
        let after = line.as_bytes().get(start + mark.len());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Whether a path with this prefix occurs in the line; in `a/home/b` it does not.
fn has_path(line: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}' | '*');
    line.match_indices(path).any(|(start, _)| !line[..start].chars().next_back().is_some_and(is_part))
}

/// Checks that links of a page to files of the repository are valid.
fn check_links(root: &Path, name: &str, line: &str, number: usize, report: &mut Report<'_>) {
    for (start, _) in line.match_indices("](") {
        let target = &line[start + 2..];
        let Some(end) = target.find(')') else { continue };
        let target = target[..end].split('#').next().unwrap_or_default();
        if target.is_empty() || target.contains("://") {
            continue;
        }
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        if !root.join(folder).join(target).exists() {
            report.add(number, format!("the link leads nowhere: {target}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::findings_for;

    #[test]
    fn unfinished_work_is_found() {
        let mark = MARKS[0];
        let expected =
            format!("a.p4:1: `{mark}` marks unfinished work: finish it, or say in words what is not there\n");
        assert_eq!(findings_for("a.p4", &format!("// {mark}: more\n")), expected);
        assert_eq!(findings_for("a.p4", &format!("// my{mark}s\n")), "");
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        let path = MACHINE_PATHS[0];
        assert_eq!(
            findings_for("a.md", &format!("see {path}me/x\n")),
            format!("a.md:1: `{path}` exists on one machine only\n")
        );
        assert_eq!(findings_for("a.md", &format!("see a{path}b\n")), "");
    }

    #[test]
    fn links_lead_somewhere() {
        assert_eq!(findings_for("a.md", "[x](Cargo.toml) [y](https://p4.org) [z](#top)\n"), "");
        assert_eq!(findings_for("a.md", "[x](nothing.md#top)\n"), "a.md:1: the link leads nowhere: nothing.md\n");
    }

    #[test]
    fn the_last_line_has_an_end() {
        assert_eq!(findings_for("a.p4", "control"), "a.p4:1: the last line has no end\n");
        assert_eq!(findings_for("a.p4", ""), "");
    }
}
