//! Where the text of files comes from.
//!
//! The preprocessor asks a [`FileLoader`] and touches no file itself, so that an editor, a test or a web page can hand
//! in files that are on no disk.

use crate::source::SOURCE_BYTES_MAX;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Gives the content of files by path.
pub trait FileLoader {
    /// The content; `Ok(None)` if there is no such file; otherwise what went wrong.
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String>;
}

/// The files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl FileLoader for DiskFiles {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let is_absent = |error: &std::io::Error| {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        };
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err("it is a directory".into());
        }
        let mut content = Vec::new();
        // One byte more than is allowed, so that the source map refuses what is too long; a device may never end.
        let limit = SOURCE_BYTES_MAX as u64 + 1;
        file.take(limit).read_to_end(&mut content).map_err(|error| error.to_string())?;
        Ok(Some(content))
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// No files.
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// The same files and this one.
    pub fn with(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> MemoryFiles {
        self.files.insert(path.into(), content.into());
        self
    }
}

impl FileLoader for MemoryFiles {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        Ok(self.files.get(path).cloned())
    }
}
