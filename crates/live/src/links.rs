//! News of links from the system.
//!
//! What enters: the namespace of the calling thread. What leaves: a flag that is set whenever an interface there may
//! have lost its link or have it again, and a call to whoever must look at it. Polling would find it out within a
//! second at best, which is a second of packets into the void.

use nix::sys::socket::{self, AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};
use nix::sys::time::TimeVal;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The group of those who hear of interfaces (`RTMGRP_LINK`).
const LINK_GROUP: u32 = 1;

/// How often it is looked whether anybody wants the news still.
const PATIENCE_S: i64 = 1;

/// Storms of news, as when many interfaces are made, are taken together.
const PAUSE: Duration = Duration::from_millis(5);

/// Room for news; what does not fit is cut off, for only that there are some counts.
const NEWS_BYTES: usize = 4096;

/// Starts a thread that sets the flag and calls `tell` with each news, as long as anybody else has the flag. The news
/// are of the namespace in which this is called.
pub fn watch(tell: impl Fn() + Send + 'static) -> io::Result<Arc<AtomicBool>> {
    let socket =
        socket::socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    socket::bind(socket.as_raw_fd(), &NetlinkAddr::new(0, LINK_GROUP))?;
    socket::setsockopt(&socket, socket::sockopt::ReceiveTimeout, &TimeVal::new(PATIENCE_S, 0))?;
    let changed = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&changed);
    std::thread::Builder::new().name("link news".to_owned()).spawn(move || listen(&socket, &shared, &tell))?;
    Ok(changed)
}

fn listen(socket: &OwnedFd, changed: &Arc<AtomicBool>, tell: &impl Fn()) {
    let mut news = [0; NEWS_BYTES];
    while Arc::strong_count(changed) > 1 {
        match socket::recv(socket.as_raw_fd(), &mut news, MsgFlags::empty()) {
            // Some were lost, which is news, too.
            Ok(_) | Err(nix::errno::Errno::ENOBUFS) => {
                changed.store(true, Ordering::Release);
                tell();
                std::thread::sleep(PAUSE);
            }
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => {}
            // Then they are looked for once a second.
            Err(_) => return,
        }
    }
}
