//! Network namespaces of Linux.
//!
//! A namespace without a name exists as long as a descriptor of it is open or a process is in it, and its interfaces
//! are deleted with it. Nothing is left of it, however its creator ends.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::thread;

/// The file with the thread's own namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace, held by a descriptor.
#[derive(Debug)]
pub struct NetworkNamespace {
    file: File,
}

impl NetworkNamespace {
    /// Creates a new one. The calling thread does not enter it.
    pub fn create() -> io::Result<NetworkNamespace> {
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            NetworkNamespace::open(Path::new(OWN))
        })
    }

    /// The namespace of a file: `/run/netns/NAME`, `/proc/PID/ns/net`.
    pub fn open(path: &Path) -> io::Result<NetworkNamespace> {
        Ok(NetworkNamespace { file: File::open(path)? })
    }

    /// A path to it for other processes, valid as long as this value exists.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Moves the calling thread there. Its sockets stay where they were created.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }

    /// Runs `body` there, on a thread of its own.
    pub fn inside<T: Send>(&self, body: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_a_thread(|| self.enter().map(|()| body()))
    }
}

fn on_a_thread<T: Send>(body: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, body)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_namespace_is_refused() {
        let file = NetworkNamespace::open(Path::new("/proc/self/status")).unwrap();
        assert!(file.inside(|| ()).is_err());
        assert!(NetworkNamespace::open(Path::new("/no/such/file")).is_err());
    }
}
