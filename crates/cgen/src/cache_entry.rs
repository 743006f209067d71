//! A compiled program in the cache, and whether it may be loaded.
//!
//! What enters: C text, and the object that the compiler has made from it. What leaves: three private files, the text,
//! the object, and a seal with the object's length and checksum; later, whether they are unchanged. The loader maps any
//! file, and a process that runs a damaged object is killed by a signal. So an object that is truncated, zeroed,
//! changed, a link, or owned by another user is not loaded: the program is compiled again.

use base::private;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The ending of the name of a seal.
pub(crate) const SEAL: &str = "seal";

/// The files of a compiled program.
pub(crate) struct CacheEntry {
    /// The C text.
    pub text: PathBuf,
    /// The shared object.
    pub object: PathBuf,
    seal: PathBuf,
}

impl CacheEntry {
    /// The files of the program with this key.
    pub fn new(folder: &Path, key: &str) -> CacheEntry {
        let file = |ending: &str| folder.join(format!("{key}.{ending}"));
        CacheEntry { text: file("c"), object: file("so"), seal: file(SEAL) }
    }

    /// Whether the object that was compiled from this text is there, unchanged.
    pub fn holds(&self, text: &str) -> bool {
        let is_sound = || {
            let sealed = private::read(&self.seal)?;
            let is_same = private::read(&self.text)? == text.as_bytes();
            Ok::<_, io::Error>(is_same && sealed == seal_of(&private::read(&self.object)?))
        };
        is_sound().unwrap_or(false)
    }

    /// Stores an object that was compiled from the stored text. It is copied, since the compiler's output may be a link
    /// into a cache of its own. `scratch` is a path in the same folder that nobody else uses.
    pub fn put(&self, made: &Path, scratch: &Path) -> io::Result<()> {
        let bytes = fs::read(made)?;
        // A seal without its object is invalid, and so is an object without its seal.
        private::remove(&self.seal)?;
        private::replace(&self.object, scratch, &bytes)?;
        private::replace(&self.seal, scratch, &seal_of(&bytes))
    }
}

/// The seal of an object.
fn seal_of(object: &[u8]) -> Vec<u8> {
    format!("bytes {}\ncrc32 {:08x}\n", object.len(), crc32fast::hash(object)).into_bytes()
}
