//! Programs that are almost valid: those of the corpora with a few changes of tokens or larger parts.
//!
//! What enters: a random generator. What leaves: a [`Mutant`], which is the text of a program and sometimes of a file
//! that it includes. The code does not know the grammar: `tokens` splits a text into tokens; `parts` finds brackets,
//! semicolons and commas, and classifies the parts between them by their first words; `changes` exchanges parts of
//! the same kind. This works for P4_16 and P4_14, and most mutants can still be parsed, so that they reach the later
//! stages.

mod changes;
pub(crate) mod corpus;
mod parts;
mod tokens;

use base::Rng;
use corpus::{Sample, samples};
use std::path::{Path, PathBuf};
use syntax::{DiskFiles, FileLoader};
use tokens::{text_of, tokens_of};
use wirespeed::{Options, Source};

/// The folder of a mutant's include file, which does not exist on disk.
const INCLUDE_FOLDER: &str = "/mutant";

/// A program that is almost valid.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The path of the original program.
    pub path: PathBuf,
    /// The program.
    pub text: String,
    /// A changed include file: its name, and its text.
    pub include: Option<(String, String)>,
}

impl Mutant {
    /// A mutant of one of the programs under `tests`, with at most `changes_max` changes.
    pub fn random(rng: &mut Rng, changes_max: u64) -> Mutant {
        let samples = samples();
        let sample = rng.pick(samples);
        let donor = rng.pick(samples);
        let include = sample.includes.iter().find(|_| rng.chance(1, 12));
        let file = include.map(|name| (name.clone(), syntax::builtin::text(name).unwrap_or_default()));
        let original = file.as_ref().map_or(sample.text.as_str(), |(_, text)| *text);
        let changed = changed(rng, original, donor, changes_max);
        let path = sample.path.clone();
        match file {
            Some((name, _)) => Mutant { path, text: sample.text.clone(), include: Some((name, changed)) },
            None => Mutant { path, text: changed, include: None },
        }
    }

    /// The text that was changed.
    pub fn changed_text(&self) -> &str {
        self.include.as_ref().map_or(&self.text, |(_, text)| text)
    }

    /// The same mutant with another text in place of the changed one.
    pub fn with_changed_text(&self, text: &str) -> Mutant {
        let mut mutant = self.clone();
        match &mut mutant.include {
            Some((_, include)) => text.clone_into(include),
            None => text.clone_into(&mut mutant.text),
        }
        mutant
    }

    /// The mutant, parsed.
    pub fn parsed(&self) -> Source {
        let options = Options { include: self.include_paths(), ..Options::default() };
        Source::parse(&self.path.to_string_lossy(), &self.text, &options, self)
    }

    /// The folders in which `#include` finds the file of the mutant.
    fn include_paths(&self) -> Vec<PathBuf> {
        self.include.iter().map(|_| PathBuf::from(INCLUDE_FOLDER)).collect()
    }

    /// Whether it is a P4_14 program.
    pub fn is_p4_14(&self) -> bool {
        let mut options = syntax::Options::new(self);
        options.include_paths = self.include_paths();
        let name = self.path.to_string_lossy();
        let (sources, diagnostics) = (&mut syntax::SourceMap::new(), &mut syntax::Diagnostics::new());
        let preprocessed = syntax::Preprocessed::from_text(sources, &name, &self.text, &options, diagnostics);
        p4_14::recognise(&preprocessed.lexemes()) == p4_14::Standard::P4_14
    }

    /// The text that a failure shows.
    pub fn shown(&self) -> String {
        let name = self.include.as_ref().map_or(String::new(), |(name, _)| format!("its include file {name}, "));
        let path = self.path.strip_prefix(testkit::corpus::folder()).unwrap_or(&self.path);
        format!("{name}a mutant of {}:\n{}", path.display(), self.changed_text())
    }
}

impl FileLoader for Mutant {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        match &self.include {
            Some((name, text)) if path == Path::new(INCLUDE_FOLDER).join(name) => Ok(Some(text.clone().into_bytes())),
            // A changed program must not read arbitrary files.
            _ if path.extension().is_some_and(|found| found == "p4" || found == "inc") => DiskFiles.load(path),
            _ => Ok(None),
        }
    }
}

fn changed(rng: &mut Rng, text: &str, donor: &Sample, changes_max: u64) -> String {
    let mut tokens = tokens_of(text);
    let donor = tokens_of(&donor.text);
    // A single change leaves many programs valid, so that they reach later stages.
    let count = if rng.chance(3, 5) { 1 } else { rng.between(1, changes_max) };
    for _ in 0..count {
        changes::change(rng, &mut tokens, &donor);
    }
    text_of(&tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_mutants() {
        let make = || Mutant::random(&mut Rng::new(7), 6).text;
        assert_eq!(make(), make());
    }

    #[test]
    fn mutants_differ_from_their_programs() {
        let unchanged = (0..200).filter(|&seed| {
            let mutant = Mutant::random(&mut Rng::new(seed), 6);
            let before = samples().iter().find(|sample| sample.path == mutant.path).expect("it was made of a sample");
            mutant.include.is_none() && mutant.text == text_of(&tokens_of(&before.text))
        });
        assert!(unchanged.count() < 40);
    }
}
