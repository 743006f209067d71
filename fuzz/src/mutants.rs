//! Programs that are almost right: those of the corpora with a few changes, of tokens and of whole parts.
//!
//! What enters: a random generator. What leaves: a [`Mutant`], the text of a program and sometimes that of a file that
//! it includes. Nothing here knows the grammar: `tokens` takes a text apart, `parts` sees brackets, semicolons and
//! commas and knows by their first words what kinds of parts stand between them, `changes` exchanges what is of one
//! kind. That serves P4_16, P4_14 and whatever comes next alike, and leaves most mutants parseable, so that the later
//! stages see them.

mod changes;
pub(crate) mod corpus;
mod parts;
mod tokens;

use base::Rng;
use corpus::{Sample, samples};
use std::path::{Path, PathBuf};
use syntax::{DiskFiles, FileLoader};
use tokens::{text_of, tokens_of};

/// The folder in which a mutant's include file stands; there is none such on any disk.
const INCLUDE_FOLDER: &str = "/mutant";

/// A program that is almost right.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The path of the program that it was made of.
    pub path: PathBuf,
    /// The program.
    pub text: String,
    /// A file that the program includes, in the place of the one of this name.
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

    /// The same mutant with another text in the place of the one that was changed.
    pub fn with_changed_text(&self, text: &str) -> Mutant {
        let mut mutant = self.clone();
        match &mut mutant.include {
            Some((_, include)) => text.clone_into(include),
            None => text.clone_into(&mut mutant.text),
        }
        mutant
    }

    /// Where `#include` looks for the file of the mutant.
    pub fn include_paths(&self) -> Vec<PathBuf> {
        self.include.iter().map(|_| PathBuf::from(INCLUDE_FOLDER)).collect()
    }

    /// Whether the program is one of P4_14.
    pub fn is_p4_14(&self) -> bool {
        let mut options = syntax::Options::new(self);
        options.include_paths = self.include_paths();
        let name = self.path.to_string_lossy();
        let (sources, diagnostics) = (&mut syntax::SourceMap::new(), &mut syntax::Diagnostics::new());
        let preprocessed = syntax::Preprocessed::from_text(sources, &name, &self.text, &options, diagnostics);
        p4_14::recognise(&preprocessed.lexemes()) == p4_14::Standard::P4_14
    }

    /// What a failure shows.
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
            // A program that was changed must not read what it likes.
            _ if path.extension().is_some_and(|found| found == "p4" || found == "inc") => DiskFiles.load(path),
            _ => Ok(None),
        }
    }
}

fn changed(rng: &mut Rng, text: &str, donor: &Sample, changes_max: u64) -> String {
    let mut tokens = tokens_of(text);
    let donor = tokens_of(&donor.text);
    // One change alone leaves most of a program right, so that later stages see it too.
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
