//! Loads a shared object from a copy that no other process can change.
//!
//! What enters: the path of an object in the cache. What leaves: what the loader makes of a copy that has no name any
//! more. The loader maps its file, and a process is killed by a signal when it runs a page that was cut off a mapped
//! file: whoever empties the cache, or fills its disk, would end all switches that run a program of it.

use crate::compile::temporary_name;
use base::private;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file that is deleted in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is deleted as abandoned later.
        let _left = fs::remove_file(&self.0);
    }
}

/// Opens a private copy of an object. Where none can be made, as on a file system that is full or cannot be written to,
/// it opens the object itself.
pub(crate) fn open_copy<T>(object: &Path, open: impl FnOnce(&Path) -> T) -> T {
    match copy(object) {
        Ok(scratch) => open(&scratch.0),
        Err(_) => open(object),
    }
}

/// A copy in the same folder, where the same may be executed. The loader takes two objects of one path for one, so each
/// copy has a name of its own.
fn copy(object: &Path) -> io::Result<Scratch> {
    let stem = object.file_stem().unwrap_or_default().to_string_lossy();
    let bytes = fs::read(object)?;
    let path = object.with_file_name(temporary_name(&stem));
    let mut file = private::create(&path)?;
    let scratch = Scratch(path);
    file.write_all(&bytes)?;
    Ok(scratch)
}
