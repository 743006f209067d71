//! A compiled program in the cache, and whether it may be loaded.
//!
//! What enters: C text, and what the compiler has made of it. What leaves: three private files, the text, the object,
//! and a seal with the program's key and the object's length and checksum; later, whether they are unchanged. The
//! loader maps any file, and a process that runs a damaged object is killed by a signal. So an object that is
//! truncated, zeroed, changed, a link, another program's, or owned by another user is not loaded: the program is
//! compiled again.

use base::private;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The ending of the name of a seal.
pub(crate) const SEAL: &str = "seal";

/// How a compiled program is found in the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// It was never compiled to the end, or its seal was removed.
    Nothing,
    /// It is unchanged.
    Sound,
    /// There is a seal, but the files are not as they were sealed.
    Damaged,
}

/// The files of a compiled program.
pub(crate) struct CacheEntry {
    /// The C text.
    pub text: PathBuf,
    /// The shared object.
    pub object: PathBuf,
    seal: PathBuf,
    key: String,
}

impl CacheEntry {
    /// The files of the program with this key.
    pub fn new(folder: &Path, key: &str) -> CacheEntry {
        let file = |ending: &str| folder.join(format!("{key}.{ending}"));
        CacheEntry { text: file("c"), object: file("so"), seal: file(SEAL), key: key.to_owned() }
    }

    /// How the object is found that was compiled from this text.
    pub fn find(&self, text: &str) -> Found {
        let is_sound = || {
            let sealed = private::read(&self.seal)?;
            let is_same = private::read(&self.text)? == text.as_bytes();
            Ok::<_, io::Error>(is_same && sealed == self.seal_of(&private::read(&self.object)?))
        };
        match is_sound() {
            Ok(true) => Found::Sound,
            _ if fs::symlink_metadata(&self.seal).is_ok() => Found::Damaged,
            _ => Found::Nothing,
        }
    }

    /// Stores an object that was compiled from the stored text. It is copied, since the compiler's output may be a link
    /// into a cache of its own. `scratch` is a path in the same folder that no other process or thread uses.
    pub fn put(&self, made: &Path, scratch: &Path) -> io::Result<()> {
        let bytes = fs::read(made)?;
        // A seal without its object is invalid, and so is an object without its seal.
        private::remove(&self.seal)?;
        private::replace(&self.object, scratch, &bytes)?;
        private::replace(&self.seal, scratch, &self.seal_of(&bytes))
    }

    /// The seal of an object of this program: files that were swapped with another program's are noticed.
    fn seal_of(&self, object: &[u8]) -> Vec<u8> {
        format!("program {}\nbytes {}\ncrc32 {:08x}\n", self.key, object.len(), crc32fast::hash(object)).into_bytes()
    }
}
