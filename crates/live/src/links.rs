//! Notifications of link changes from the system.
//!
//! What enters: the namespace of the calling thread. What leaves: a flag that is set whenever an interface there may
//! have lost its link or have it again, and a call to whoever must check it. Polling once a second would lose packets
//! for up to a second.

use nix::sys::socket::{self, AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};
use nix::sys::time::TimeVal;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The group of sockets that receive link notifications (`RTMGRP_LINK`).
const LINK_GROUP: u32 = 1;

/// How often to check whether the flag still has another owner.
const CHECK_INTERVAL_S: i64 = 1;

/// Bursts of notifications, as when many interfaces are created, are combined.
const PAUSE: Duration = Duration::from_millis(5);

/// The buffer for notifications; longer ones are truncated, since only their arrival matters.
const NEWS_BYTES: usize = 4096;

/// Starts a thread that sets the flag and calls `notify` with each notification, as long as the flag has another owner.
/// It observes the namespace in which this is called.
pub fn watch(notify: impl Fn() + Send + 'static) -> io::Result<Arc<AtomicBool>> {
    let socket =
        socket::socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    socket::bind(socket.as_raw_fd(), &NetlinkAddr::new(0, LINK_GROUP))?;
    socket::setsockopt(&socket, socket::sockopt::ReceiveTimeout, &TimeVal::new(CHECK_INTERVAL_S, 0))?;
    let changed = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&changed);
    std::thread::Builder::new().name("link news".to_owned()).spawn(move || listen(&socket, &shared, &notify))?;
    Ok(changed)
}

fn listen(socket: &OwnedFd, changed: &Arc<AtomicBool>, notify: &impl Fn()) {
    let mut news = [0; NEWS_BYTES];
    while Arc::strong_count(changed) > 1 {
        match socket::recv(socket.as_raw_fd(), &mut news, MsgFlags::empty()) {
            // Some were lost, which is a notification, too.
            Ok(_) | Err(nix::errno::Errno::ENOBUFS) => {
                changed.store(true, Ordering::Release);
                notify();
                std::thread::sleep(PAUSE);
            }
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => {}
            // Then links are polled once a second.
            Err(_) => return,
        }
    }
}
