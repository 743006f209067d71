//! The settings of a plan that can be tuned, and where they are stored.
//!
//! What enters: a [`Tuning`] that was measured. What leaves: the same, when the same program is planned on the same
//! machine later. It is stored beside the compiled code, named after the program; without a cache nothing is stored.
//!
//! A tuning changes how fast packets are processed and nothing else: no more packets run together than the planner
//! allows.

use crate::compile::{CompileError, CompileOptions, Fnv, lasting_folder, processor, write_atomically};
use base::limits::BURST_PACKETS_MAX;
use base::private;
use ir::Program;
use serde::Serialize;
use std::path::PathBuf;

/// The settings of a plan that can be tuned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Tuning {
    /// The most packets that run through the program together.
    pub burst_packets: u32,
    /// Whether the program is split at its tables, so that each is looked up once per burst, or is looked up packet by
    /// packet.
    pub cuts: bool,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { burst_packets: BURST_PACKETS_MAX as u32, cuts: true }
    }
}

impl Tuning {
    /// The stored tuning of a program; none if there is none, or if it cannot be read.
    pub fn stored(program: &Program, options: &CompileOptions) -> Option<Tuning> {
        Tuning::read(&String::from_utf8(private::read(&path(program, options).ok()??).ok()?).ok()?)
    }

    /// Stores this for a program. Returns the file; none if there is no cache.
    pub fn store(&self, program: &Program, options: &CompileOptions) -> Result<Option<PathBuf>, CompileError> {
        let Some(path) = path(program, options)? else { return Ok(None) };
        let Tuning { burst_packets, cuts } = self;
        let text = format!("burst_packets {burst_packets}\ncuts {cuts}\n");
        write_atomically(&path, text.as_bytes())?;
        Ok(Some(path))
    }

    /// Deletes the stored tuning of a program. Returns false if there is none.
    pub fn forget(program: &Program, options: &CompileOptions) -> Result<bool, CompileError> {
        let Some(path) = path(program, options)?.filter(|path| path.exists()) else { return Ok(false) };
        std::fs::remove_file(&path).map_err(|error| CompileError::Io { path, error })?;
        Ok(true)
    }

    fn read(text: &str) -> Option<Tuning> {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let burst_packets = value("burst_packets")?.parse().ok()?;
        let fits = (1..=BURST_PACKETS_MAX as u32).contains(&burst_packets);
        fits.then_some(Tuning { burst_packets, cuts: value("cuts")?.parse().ok()? })
    }
}

/// The file for a program on this machine.
fn path(program: &Program, options: &CompileOptions) -> Result<Option<PathBuf>, CompileError> {
    let mut hash = Fnv::new();
    hash.part(env!("CARGO_PKG_VERSION").as_bytes());
    hash.part(ir::text::print(program).as_bytes());
    hash.part(processor().as_bytes());
    let folder = lasting_folder(options)?;
    Ok(folder.map(|folder| folder.join(format!("tuned-{:032x}", hash.number()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_tuning_is_found_again_and_forgotten() {
        let cache = tempfile::tempdir().unwrap();
        let options = CompileOptions { cache_dir: Some(cache.path().to_owned()), ..CompileOptions::default() };
        let (program, other) = (Program::new(&ir::v1model::ARCHITECTURE), Program::new(&ir::psa::ARCHITECTURE));
        let tuning = Tuning { burst_packets: 16, cuts: false };
        assert_eq!(Tuning::stored(&program, &options), None);
        let path = tuning.store(&program, &options).unwrap().expect("there is a cache");
        assert_eq!(Tuning::stored(&program, &options), Some(tuning));
        assert_eq!(Tuning::stored(&other, &options), None);
        std::fs::write(&path, "burst_packets 65\ncuts true\n").unwrap();
        assert_eq!(Tuning::stored(&program, &options), None, "no more packets than there may be");
        assert!(Tuning::forget(&program, &options).unwrap());
        assert!(!Tuning::forget(&program, &options).unwrap());
    }
}
