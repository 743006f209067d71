//! The system calls of the log.
//!
//! What enters: files, paths, bytes. What leaves: the system's answer; or, in tests, an error that a test has
//! injected, so that every step of storing state can be made to fail.

use base::private;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The most bytes of a note; the rest of its file is ignored.
const NOTE_BYTES_MAX: u64 = 4096;

/// Creates an empty file, replacing whatever is there. Writes go to its end, also after it was truncated.
pub(super) fn create(path: &Path) -> io::Result<File> {
    faults::step()?;
    // An existing file may be a link to somewhere else: it is removed, and not written to.
    private::remove(path)?;
    private::create(path)
}

/// Writes all of it. After an error a part may be written.
pub(super) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    if let Err(error) = faults::step() {
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(error);
    }
    file.write_all(bytes)
}

/// Truncates a file to this length.
pub(super) fn cut(file: &File, bytes: u64) -> io::Result<()> {
    faults::step()?;
    file.set_len(bytes)
}

/// The note in a file, whatever else may follow it; empty if it cannot be read.
pub(super) fn noted(file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// Writes a note to a file, over the previous one of the same length. Errors are ignored.
pub(super) fn note(file: &File, bytes: &[u8]) {
    if faults::step().is_ok() {
        let _noted = file.write_all_at(bytes, 0);
    }
}

/// Makes what was written to a file durable.
pub(super) fn synchronise(file: &File) -> io::Result<()> {
    faults::step()?;
    file.sync_data()
}

/// The same for the names in a folder.
pub(super) fn synchronise_folder(folder: &Path) -> io::Result<()> {
    faults::step()?;
    File::open(folder)?.sync_all()
}

/// Renames a file.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::step()?;
    fs::rename(from, to)
}

/// Removes a file. Errors are ignored: the file does no harm.
pub(super) fn remove(path: &Path) {
    if faults::step().is_ok() {
        let _left = fs::remove_file(path);
    }
}

/// Bytes of a large file after which it is synchronised. Whoever synchronises the log meanwhile waits for such a part
/// at most, not for the whole file: file systems write in order.
const PIECE_BYTES: usize = 1 << 20;

/// A file that is written in large parts.
pub(super) struct Writer(BufWriter<Checked>);

/// Forwards writes.
struct Checked {
    file: File,
    /// Bytes written since the file was synchronised.
    waiting_bytes: usize,
}

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(&self.file, bytes)?;
        self.waiting_bytes += bytes.len();
        if self.waiting_bytes >= PIECE_BYTES {
            synchronise(&self.file)?;
            self.waiting_bytes = 0;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// Creates a file.
    pub fn create(path: &Path) -> io::Result<Writer> {
        let checked = Checked { file: create(path)?, waiting_bytes: 0 };
        Ok(Writer(BufWriter::with_capacity(1 << 16, checked)))
    }

    /// Writes more.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Makes all of it durable.
    pub fn finish(self) -> io::Result<()> {
        let Checked { file, .. } = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        synchronise(&file)
    }
}

#[cfg(not(test))]
mod faults {
    //! Only the system causes errors.

    pub(super) fn step() -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod faults {
    //! Errors that a test injects for its own thread.

    use std::cell::RefCell;
    use std::io;
    use std::ops::Range;

    thread_local! {
        static PLAN: RefCell<(u32, Range<u32>)> = const { RefCell::new((0, 0..0)) };
    }

    /// Makes the steps of these numbers fail, counted from now on.
    pub fn refuse(steps: Range<u32>) {
        PLAN.set((0, steps));
    }

    /// Ends that. Returns how many steps there were.
    pub fn end() -> u32 {
        PLAN.replace((0, 0..0)).0
    }

    pub(super) fn step() -> io::Result<()> {
        PLAN.with_borrow_mut(|(count, refused)| {
            *count += 1;
            match refused.contains(&(*count - 1)) {
                true => Err(io::Error::from(io::ErrorKind::StorageFull)),
                false => Ok(()),
            }
        })
    }
}
