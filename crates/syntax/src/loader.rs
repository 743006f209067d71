//! The source of files.
//!
//! The preprocessor reads files only through a [`FileLoader`], so an editor, a test or a web page can supply files that
//! exist on no disk.

use crate::source::SOURCE_BYTES_MAX;
use base::OrderedMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the contents of files by path.
pub trait FileLoader {
    /// The content; `Ok(None)` if there is no such file; otherwise the error.
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String>;

    /// The same for the program itself. Its user named it, so it may be a pipe that the shell has opened.
    fn load_program(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        self.load(path)
    }
}

/// The files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl FileLoader for DiskFiles {
    /// Regular files only: opening a pipe blocks until another process opens it for writing, and opening a device may
    /// have effects.
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        load_from(base::files::open_regular(path))
    }

    fn load_program(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        load_from(base::files::open(path))
    }
}

fn load_from(opened: std::io::Result<File>) -> Result<Option<Vec<u8>>, String> {
    let is_absent = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
    };
    let file = match opened {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut content = Vec::new();
    // Reads one byte more than the limit, so that the source map rejects a longer file; a device may never end.
    let limit = SOURCE_BYTES_MAX as u64 + 1;
    file.take(limit).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(Some(content))
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: OrderedMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// No files.
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds a file.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;
    use crate::{Options, parse_program, render_all};
    use std::process::Command;

    #[test]
    fn only_regular_files_are_included() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(path("pipe.p4")).status().unwrap().success());
        std::fs::create_dir(path("folder.p4")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("device.p4")).unwrap();
        std::os::unix::fs::symlink(path("regular"), path("link.p4")).unwrap();
        std::fs::write(path("regular"), "const bit<8> a = 1;\n").unwrap();
        let message = |name: &str| {
            std::fs::write(path("main.p4"), format!("#include \"{name}\"\n")).unwrap();
            let mut map = SourceMap::new();
            let (_, diagnostics) = parse_program(&mut map, &path("main.p4"), &Options::new(&DiskFiles));
            render_all(&map, &diagnostics, false)
        };
        assert!(
            message("pipe.p4").contains("pipe.p4`: it is a named pipe, not a regular file"),
            "{}",
            message("pipe.p4")
        );
        assert!(
            message("device.p4").contains("device.p4`: it is a device, not a regular file"),
            "{}",
            message("device.p4")
        );
        assert!(message("folder.p4").contains("folder.p4`: it is a directory"), "{}", message("folder.p4"));
        assert!(message("/dev/null").contains("it is a device, not a regular file"), "{}", message("/dev/null"));
        assert_eq!(message("link.p4"), "");
    }

    /// As of `<(...)`. Opening a named pipe would wait until another process writes to it.
    #[test]
    fn the_program_itself_may_come_through_a_pipe_that_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"text").unwrap();
        drop(writer);
        let open = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(DiskFiles.load_program(Path::new(&open)), Ok(Some(b"text".to_vec())));
        assert!(DiskFiles.load_program(&pipe).unwrap_err().starts_with("it is a named pipe, not a regular file"));
        assert!(DiskFiles.load_program(Path::new("/dev/zero")).unwrap_err().contains("device"));
        assert!(DiskFiles.load_program(folder.path()).unwrap_err().contains("directory"));
    }
}
