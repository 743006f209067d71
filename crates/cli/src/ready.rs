//! Telling whoever started the process that it has begun its work.
//!
//! As services tell systemd (sd_notify): a datagram `READY=1` to the socket that the environment names. So a
//! supervisor, `wirespeed net` among them, waits for the first moment at which packets are forwarded instead of
//! guessing it.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The environment variable that names the socket.
pub const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";

/// What is sent.
pub const MESSAGE: &[u8] = b"READY=1";

/// Tells that the work has begun, if somebody wants to know.
pub fn tell() -> io::Result<()> {
    match std::env::var_os(SOCKET_VARIABLE).filter(|name| !name.is_empty()) {
        Some(name) => UnixDatagram::unbound()?.send_to_addr(MESSAGE, &address(&name)?).map(|_| ()),
        None => Ok(()),
    }
}

/// A path, or the name of an abstract socket behind `@`.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes().strip_prefix(b"@") {
        Some(abstract_name) => SocketAddr::from_abstract_name(abstract_name),
        None => SocketAddr::from_pathname(name),
    }
}
