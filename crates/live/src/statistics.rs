//! The kernel's counters of an interface, read over rtnetlink.
#![allow(unsafe_code, reason = "netlink sockets are reached through libc")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const RTM_GETSTATS: u16 = 94;
/// The attribute with all of a link's counters, and the bit that requests it.
const ATTRIBUTE_COUNTERS: u16 = 1;
/// The index of the counter of frames that could not be added to the device's queue.
const TX_DROPPED: usize = 7;
const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = 12;
const ATTRIBUTE_BYTES: usize = 4;

/// Access to the counters of interfaces, in the namespace in which it was created.
#[derive(Debug)]
pub struct Statistics {
    socket: OwnedFd,
}

impl Statistics {
    /// Opens it.
    pub fn open() -> io::Result<Statistics> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: the call takes no pointers; its result is a new descriptor without another owner.
        unsafe {
            let fd = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Statistics { socket: OwnedFd::from_raw_fd(fd) }) }
        }
    }

    /// Frames for the interface that did not fit into its queue; `None` if the kernel does not report it.
    pub fn tx_dropped(&self, interface_index: i32) -> Option<u64> {
        let mut request = Vec::with_capacity(HEADER_BYTES + MESSAGE_BYTES);
        request.extend(((HEADER_BYTES + MESSAGE_BYTES) as u32).to_ne_bytes());
        request.extend(RTM_GETSTATS.to_ne_bytes());
        request.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
        request.extend([0; 8]);
        request.extend([0; 4]);
        request.extend(interface_index.to_ne_bytes());
        request.extend((1u32 << (ATTRIBUTE_COUNTERS - 1)).to_ne_bytes());
        let mut answer = [0u8; 4096];
        let fd = self.socket.as_raw_fd();
        // SAFETY: the pointers and lengths describe `request` and `answer`. The kernel answers before `send` returns,
        // so that nothing is waited for.
        let length = unsafe {
            if libc::send(fd, request.as_ptr().cast(), request.len(), 0) < 0 {
                return None;
            }
            libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), libc::MSG_DONTWAIT)
        };
        counter(answer.get(..usize::try_from(length).ok()?)?, TX_DROPPED)
    }
}

/// A counter of a response.
fn counter(answer: &[u8], number: usize) -> Option<u64> {
    let half = |at: usize| Some(u16::from_ne_bytes(*answer.get(at..)?.first_chunk()?));
    // An error has another type.
    if half(4)? != RTM_GETSTATS - 2 || half(HEADER_BYTES + MESSAGE_BYTES + 2)? != ATTRIBUTE_COUNTERS {
        return None;
    }
    let at = HEADER_BYTES + MESSAGE_BYTES + ATTRIBUTE_BYTES + number * size_of::<u64>();
    Some(u64::from_ne_bytes(*answer.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_counted_and_a_missing_one_is_not() {
        let statistics = Statistics::open().unwrap();
        assert_eq!(statistics.tx_dropped(1), Some(0), "nothing is dropped on the loopback interface");
        assert_eq!(statistics.tx_dropped(i32::MAX), None);
    }
}
