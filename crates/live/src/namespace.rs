//! Network namespaces of Linux: worlds of interfaces that threads and processes enter.
//!
//! A namespace that has no name lives as long as a descriptor of it is open or a process is in it, and takes its
//! interfaces along. Nothing is left of it, however its maker ends.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::thread;

/// Where a thread finds its own namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace, held by a descriptor.
#[derive(Debug)]
pub struct NetworkNamespace {
    file: File,
}

impl NetworkNamespace {
    /// Makes a new one. The calling thread stays where it is.
    pub fn create() -> io::Result<NetworkNamespace> {
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            NetworkNamespace::open(Path::new(OWN))
        })
    }

    /// The one that a file stands for: `/run/netns/NAME`, `/proc/PID/ns/net`.
    pub fn open(path: &Path) -> io::Result<NetworkNamespace> {
        Ok(NetworkNamespace { file: File::open(path)? })
    }

    /// A path to it for other processes, as long as this value lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Moves the calling thread there. The sockets that it has stay where they were made.
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
