//! Rules for `Cargo.toml` and `Cargo.lock`.

use crate::tidy::Report;

/// The only allowed source of packages, as cargo writes it even if a machine uses a mirror.
const SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Checks a `Cargo.toml`: each dependency of the root has a reason; the dependencies and the lints of a crate come
/// from the root.
pub(crate) fn check_manifest(name: &str, content: &str, report: &mut Report<'_>) {
    let is_root = name == "Cargo.toml";
    let mut section = "";
    for (index, line) in content.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        } else if line.is_empty() || line.starts_with('#') {
            continue;
        } else if section == "[workspace.dependencies]" {
            if !line.contains("path = ") && !line.contains('#') {
                report.add(index + 1, "a dependency has its reason beside it: `name = \"1\" # what it does for us`");
            }
        } else if section.ends_with("dependencies]") && !line.contains("workspace = true") {
            report.add(index + 1, "versions stand in the root's Cargo.toml: `name.workspace = true`");
        }
    }
    if !is_root && !content.contains("[lints]\nworkspace = true") {
        report.add(1, "a crate takes the workspace's lints: `[lints]` and `workspace = true`");
    }
}

/// Checks `Cargo.lock`: every package is part of the workspace or comes from crates.io.
pub(crate) fn check_lock(content: &str, report: &mut Report<'_>) {
    for (index, line) in content.lines().enumerate() {
        if line.starts_with("source = ") && line != SOURCE {
            report.add(index + 1, "a package comes from crates.io");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::findings_for;

    #[test]
    fn a_dependency_has_its_reason() {
        let with = "[workspace.dependencies]\nbase = { path = \"b\" }\nlibc = \"0.2\" # sockets\n";
        assert_eq!(findings_for("Cargo.toml", with), "");
        let without = "[workspace.dependencies]\nlibc = \"0.2\"\n";
        assert!(findings_for("Cargo.toml", without).starts_with("Cargo.toml:2: a dependency has its reason beside it"));
    }

    #[test]
    fn a_crate_takes_versions_and_lints_from_the_workspace() {
        let good = "[dependencies]\nlibc.workspace = true\n\n[lints]\nworkspace = true\n";
        assert_eq!(findings_for("crates/x/Cargo.toml", good), "");
        let bad = "[dependencies]\nlibc = \"0.2\"\n";
        let said = findings_for("crates/x/Cargo.toml", bad);
        assert!(said.contains("x/Cargo.toml:1: a crate takes"), "{said}");
        assert!(said.contains("x/Cargo.toml:2: versions stand in the root"), "{said}");
    }

    #[test]
    fn packages_come_from_one_place() {
        assert_eq!(
            findings_for("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"),
            ""
        );
        let other = "source = \"registry+https://example.org/index\"\n";
        assert_eq!(findings_for("Cargo.lock", other), "Cargo.lock:1: a package comes from crates.io\n");
    }
}
