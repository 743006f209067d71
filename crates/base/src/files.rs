//! Files that users name: entries, captures, topologies, keys.
//!
//! What enters: paths. What leaves: open regular files, and contents up to a limit. Opening a named pipe would wait
//! until another process opens it for writing, and a device may never end or have effects. What this process was
//! started with is open already: `/dev/stdin`, be it a pipe or a terminal, or what shells make of `<(...)`.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The kind of something that is not a regular file, for messages.
pub fn what_it_is(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    match () {
        () if kind.is_dir() => "it is a directory",
        () if kind.is_fifo() => "it is a named pipe, not a regular file",
        () if kind.is_socket() => "it is a socket, not a regular file",
        () if kind.is_char_device() || kind.is_block_device() => "it is a device, not a regular file",
        () => "it is not a regular file",
    }
}

/// Opens a regular file, or what this process was started with: a pipe, a terminal.
pub fn open(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path)?;
    match is_started_with(path) && !found.is_file() && !found.is_dir() {
        true => File::open(path),
        false if found.file_type().is_fifo() => Err(io::Error::other(format!(
            "{}; to have it read, name /dev/stdin or <(...), as in <(cat {})",
            what_it_is(&found),
            path.display()
        ))),
        false => open_regular(path),
    }
}

/// Opens a regular file. Anything else is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let refused = |found: &Metadata| io::Error::other(what_it_is(found));
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(refused(&found));
    }
    // It may be another by now, which must not make this wait.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let opened = file.metadata()?;
    if opened.is_file() { Ok(file) } else { Err(refused(&opened)) }
}

/// The contents of such a file, or an error if it has more bytes than this.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
    match content.len() as u64 > bytes_max {
        true => Err(io::Error::other(format!("it has more than {} MiB", bytes_max >> 20))),
        false => Ok(content),
    }
}

/// Whether the path denotes a file that is open in this process.
fn is_started_with(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;
    use std::process::Command;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        let refused = |path: &Path| open(path).unwrap_err().to_string();
        let help = "; to have it read, name /dev/stdin or <(...), as in <(cat ";
        assert!(refused(&path("pipe")).starts_with(&format!("it is a named pipe, not a regular file{help}")));
        let of_include = open_regular(&path("pipe")).unwrap_err().to_string();
        assert_eq!(of_include, "it is a named pipe, not a regular file");
        assert_eq!(refused(Path::new("/dev/zero")), "it is a device, not a regular file");
        assert_eq!(refused(folder.path()), "it is a directory");
        assert_eq!(read(&path("link"), 4).unwrap(), b"text");
        assert_eq!(read(&path("link"), 3).unwrap_err().to_string(), "it has more than 0 MiB");
    }

    #[test]
    fn a_pipe_that_is_open_already_is_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"text").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path), 100).unwrap(), b"text");
    }

    /// Standard input may be a device, such as a terminal.
    #[test]
    fn a_device_that_is_open_already_is_read() {
        let null = File::open("/dev/null").unwrap();
        let path = format!("/dev/fd/{}", null.as_raw_fd());
        assert_eq!(read(Path::new(&path), 100).unwrap(), b"");
    }
}
