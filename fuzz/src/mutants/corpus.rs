//! The programs from which mutants are made: all programs in the repository.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Folders with programs, relative to the root of the repository.
const FOLDERS: [&str; 4] = ["tests", "apps", "include", "crates/sema/tests"];

/// A program.
#[derive(Debug)]
pub(crate) struct Sample {
    pub path: PathBuf,
    pub text: String,
    /// Included files that come with the compiler.
    pub includes: Vec<String>,
}

/// All programs, by path.
pub(crate) fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let root = testkit::corpus::folder().join("..");
        let mut paths = Vec::new();
        FOLDERS.iter().for_each(|folder| collect(&root.join(folder), &mut paths));
        paths.sort();
        let sample = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let is_included = |name: &&str| text.contains(&format!("#include <{name}>"));
            let includes = syntax::builtin::FILES.iter().map(|(name, _)| *name).filter(is_included);
            Sample { includes: includes.map(str::to_owned).collect(), text, path }
        };
        paths.into_iter().map(sample).collect()
    })
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|found| found == "p4" || found == "inc") {
            paths.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples;

    #[test]
    fn every_language_and_architecture_has_samples() {
        let count = |part: &str| samples().iter().filter(|sample| sample.path.to_string_lossy().contains(part)).count();
        for folder in ["tests/psa", "tests/p4_14", "tests/v1model", "include", "sema/tests/legal", "apps"] {
            assert!(count(folder) > 0, "{folder}");
        }
        assert!(samples().iter().any(|sample| sample.includes.iter().any(|name| name == "v1model.p4")));
    }
}
