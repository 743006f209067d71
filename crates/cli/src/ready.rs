//! Reports to the parent process that this process is ready.
//!
//! The protocol is that of systemd (sd_notify): a datagram `READY=1` to the socket that the environment names. A
//! supervisor, such as `wirespeed net`, thus waits until packets are forwarded instead of guessing.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The environment variable that names the socket.
pub const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";

/// The message.
pub const MESSAGE: &[u8] = b"READY=1";

/// Sends the message, if the environment names a socket.
pub fn report() -> io::Result<()> {
    match std::env::var_os(SOCKET_VARIABLE).filter(|name| !name.is_empty()) {
        Some(name) => UnixDatagram::unbound()?.send_to_addr(MESSAGE, &address(&name)?).map(|_| ()),
        None => Ok(()),
    }
}

/// A path, or the name of an abstract socket after `@`.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes().strip_prefix(b"@") {
        Some(abstract_name) => SocketAddr::from_abstract_name(abstract_name),
        None => SocketAddr::from_pathname(name),
    }
}
