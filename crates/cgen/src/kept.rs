//! A compiled program in the cache, and whether it may be loaded.
//!
//! What enters: C text, and what the compiler has made of it. What leaves: three private files, the text, the object,
//! and a seal with the object's length and checksum; later, whether they are still what was put there. The loader maps
//! whatever it is given, and a process that runs a damaged object dies of a signal. So an object that is cut, zeroed,
//! changed, a link, or of another user is not loaded: the program is compiled again.

use base::private;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The ending of the name of a seal.
pub(crate) const SEAL: &str = "seal";

/// Where a program is kept.
pub(crate) struct Place {
    /// The C text.
    pub text: PathBuf,
    /// The shared object.
    pub object: PathBuf,
    seal: PathBuf,
}

impl Place {
    /// The place of the program with this key.
    pub fn new(folder: &Path, key: &str) -> Place {
        let file = |ending: &str| folder.join(format!("{key}.{ending}"));
        Place { text: file("c"), object: file("so"), seal: file(SEAL) }
    }

    /// Whether the object that was made of this text is there, as it was put there.
    pub fn holds(&self, text: &str) -> bool {
        let is_sound = || {
            let sealed = private::read(&self.seal)?;
            let is_same = private::read(&self.text)? == text.as_bytes();
            Ok::<_, io::Error>(is_same && sealed == seal_of(&private::read(&self.object)?))
        };
        is_sound().unwrap_or(false)
    }

    /// Puts an object here that was made of the text that is here. It is written anew: what the compiler leaves may be
    /// a link into a cache of its own. `scratch` is a path in the same folder that nobody else uses.
    pub fn put(&self, made: &Path, scratch: &Path) -> io::Result<()> {
        let bytes = fs::read(made)?;
        // A seal without its object is as good as none, and so is an object without its seal.
        private::remove(&self.seal)?;
        private::replace(&self.object, scratch, &bytes)?;
        private::replace(&self.seal, scratch, &seal_of(&bytes))
    }
}

/// What is written of an object.
fn seal_of(object: &[u8]) -> Vec<u8> {
    format!("bytes {}\ncrc32 {:08x}\n", object.len(), crc32fast::hash(object)).into_bytes()
}
