//! What the log asks of the system.
//!
//! What enters: files, paths, bytes. What leaves: the system's answer; or, in tests, the refusal that a test has
//! ordered, so that every step of keeping state can be seen to fail.

use base::private;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The most bytes of a note: what is behind them in its file is nothing that was noted.
const NOTE_BYTES_MAX: u64 = 4096;

/// Makes a file, empty, in the place of whatever is there. What is written to it goes to its end, also after it was
/// cut.
pub(super) fn create(path: &Path) -> io::Result<File> {
    faults::step()?;
    // What is there may be a link to somewhere else: it is removed, and not written to.
    private::remove(path)?;
    private::create(path)
}

/// Writes all of it. A refusal may leave a part of it written.
pub(super) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    if let Err(error) = faults::step() {
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(error);
    }
    file.write_all(bytes)
}

/// Cuts a file to this length.
pub(super) fn cut(file: &File, bytes: u64) -> io::Result<()> {
    faults::step()?;
    file.set_len(bytes)
}

/// What was noted in a file, whatever else may be behind it; nothing if that cannot be read.
pub(super) fn noted(file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// Notes something in a file, in the place of what was noted of the same length. If it is refused nothing is noted.
pub(super) fn note(file: &File, bytes: &[u8]) {
    if faults::step().is_ok() {
        let _noted = file.write_all_at(bytes, 0);
    }
}

/// Has what was written to a file stored for good.
pub(super) fn synchronise(file: &File) -> io::Result<()> {
    faults::step()?;
    file.sync_data()
}

/// The same for the names in a folder.
pub(super) fn synchronise_folder(folder: &Path) -> io::Result<()> {
    faults::step()?;
    File::open(folder)?.sync_all()
}

/// Gives a file another name.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::step()?;
    fs::rename(from, to)
}

/// Removes a file. It is in nobody's way if that fails.
pub(super) fn remove(path: &Path) {
    if faults::step().is_ok() {
        let _left = fs::remove_file(path);
    }
}

/// Bytes of a large file after which it is synchronised. Who has the log synchronised meanwhile waits for the rest of
/// such a piece at most, and not for the whole file: file systems store what was written in its order.
const PIECE_BYTES: usize = 1 << 20;

/// A file that is written in large pieces.
pub(super) struct Writer(BufWriter<Checked>);

/// Passes writes on.
struct Checked {
    file: File,
    /// Written since the file was synchronised.
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
    /// Begins a file anew.
    pub fn create(path: &Path) -> io::Result<Writer> {
        let checked = Checked { file: create(path)?, waiting_bytes: 0 };
        Ok(Writer(BufWriter::with_capacity(1 << 16, checked)))
    }

    /// Writes more.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Has all of it stored for good.
    pub fn finish(self) -> io::Result<()> {
        let Checked { file, .. } = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        synchronise(&file)
    }
}

#[cfg(not(test))]
mod faults {
    //! Nothing is refused but by the system.

    pub(super) fn step() -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod faults {
    //! Refusals that a test orders for its own thread.

    use std::cell::RefCell;
    use std::io;
    use std::ops::Range;

    thread_local! {
        static PLAN: RefCell<(u32, Range<u32>)> = const { RefCell::new((0, 0..0)) };
    }

    /// Has the steps of these numbers refused, counted from now on.
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
