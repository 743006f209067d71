//! Checks the table of crates in ARCHITECTURE.md against the crates: their order, and which services of the machine
//! each crate may use.
//!
//! What enters: the table, the manifests and the sources of `crates` and `apps`. What leaves: a finding for each
//! dependency on a crate further down, each missing crate, and each use of threads, sockets or clocks that the table
//! does not allow.

use crate::tidy::Finding;
use crate::tidy::source::lines;
use std::fs;
use std::io;
use std::path::Path;

/// The page with the table.
const PAGE: &str = "ARCHITECTURE.md";

/// A service of the machine: its letter in the table, its name, and the code that indicates its use.
const SERVICES: [(char, &str, &[&str]); 3] = [
    ('T', "threads", &["thread::spawn", "thread::Builder", "thread::scope", "tokio::spawn", "runtime::Builder"]),
    ('S', "sockets", &["std::net::", "tokio::net", "os::unix::net", "libc::socket", "TcpStream", "UnixStream"]),
    ('C', "clocks", &["Instant::now", "SystemTime::now", "libc::clock_gettime"]),
];

/// A row of the table.
struct Row {
    name: String,
    services: String,
}

/// All findings about the crates of the repository at `root`.
pub(crate) fn findings(root: &Path) -> io::Result<Vec<Finding>> {
    let rows = rows(&fs::read_to_string(root.join(PAGE))?);
    let mut findings = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(root.join("crates"))?.collect::<Result<_, _>>()?;
    folders.extend(fs::read_dir(root.join("apps"))?.collect::<Result<Vec<_>, _>>()?);
    folders.sort_by_key(fs::DirEntry::file_name);
    for folder in folders {
        let name = folder.file_name().to_string_lossy().into_owned();
        let manifest = folder.path().join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(manifest) else { continue };
        let Some(position) = rows.iter().position(|row| row.name == name) else {
            findings.push(finding(PAGE, 1, format!("the table of crates has no row for `{name}`")));
            continue;
        };
        findings.extend(check_order(&rows, position, &manifest));
        for path in crate::tidy::files(&folder.path().join("src"))? {
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if shown.ends_with(".rs") && !shown.ends_with("tests.rs") && !shown.contains("/tests/") {
                findings.extend(check_services(&rows[position], &shown, &fs::read_to_string(&path)?));
            }
        }
    }
    Ok(findings)
}

fn finding(path: &str, line: usize, message: String) -> Finding {
    Finding { path: path.to_owned(), line, message }
}

/// The rows of the table: those that begin with a crate's name.
fn rows(page: &str) -> Vec<Row> {
    let table = page.lines().skip_while(|line| !line.starts_with("| Crate |")).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells.first()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        Some(Row { name, services: cells.last()?.to_string() })
    };
    table.filter_map(row).collect()
}

/// A finding for each dependency of a crate on one that is not above it.
fn check_order(rows: &[Row], position: usize, manifest: &str) -> Vec<Finding> {
    let name = &rows[position].name;
    let mut section = "";
    let mut findings = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let below = section == "[dependencies]" && rows[position..].iter().any(|row| row.name == dependency);
        if below {
            let message = format!("`{name}` depends on `{dependency}`, which is not above it in the table of {PAGE}");
            findings.push(finding(&format!("{name}/Cargo.toml"), index + 1, message));
        }
    }
    findings
}

/// A finding for each service that a crate uses, outside of its tests, and that its row does not have.
fn check_services(row: &Row, path: &str, content: &str) -> Vec<Finding> {
    let lines = lines(content);
    let own = lines.iter().take_while(|line| line.code.trim() != "#[cfg(test)]" || line.in_string);
    let mut findings = Vec::new();
    for (index, line) in own.enumerate() {
        for (letter, service, words) in SERVICES {
            if !row.services.contains(letter) && words.iter().any(|word| line.code.contains(word)) {
                let message = format!("`{}` uses no {service}: {PAGE} would have to say so", row.name);
                findings.push(finding(path, index + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "# A page\n\n| Crate | Enters | Uses |\n|---|---|---|\n| `a` | x | |\n| `b` | y | T |\n\nText.\n";

    fn shown(findings: &[Finding]) -> String {
        findings.iter().map(|finding| format!("{finding}\n")).collect()
    }

    #[test]
    fn a_crate_depends_on_those_above_it() {
        let rows = rows(TABLE);
        let manifest = "[dependencies]\nb.workspace = true\n\n[dev-dependencies]\nb.workspace = true\n";
        let expected = "a/Cargo.toml:2: `a` depends on `b`, which is not above it in the table of ARCHITECTURE.md\n";
        assert_eq!(shown(&check_order(&rows, 0, manifest)), expected);
        assert_eq!(shown(&check_order(&rows, 1, "[dependencies]\na.workspace = true\n")), "");
    }

    #[test]
    fn services_are_in_the_table() {
        let rows = rows(TABLE);
        let code = "fn f() {\n    std::thread::spawn(g);\n}\n\n#[cfg(test)]\nmod tests {}\n";
        let expected = "crates/a/src/x.rs:2: `a` uses no threads: ARCHITECTURE.md would have to say so\n";
        assert_eq!(shown(&check_services(&rows[0], "crates/a/src/x.rs", code)), expected);
        assert_eq!(shown(&check_services(&rows[1], "crates/b/src/x.rs", code)), "");
        let tested = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert_eq!(shown(&check_services(&rows[0], "crates/a/src/x.rs", &tested)), "");
    }
}
