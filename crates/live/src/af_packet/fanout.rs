//! Several packet sockets on one interface, over which the kernel distributes flows.
//!
//! What enters: sockets that are bound and blocked by a filter. What leaves: the same sockets in one group. A socket
//! receives every packet until it is in the group, so that packets would be received twice; therefore each is blocked
//! until all have joined.

use crate::interface::{OptionValue, Socket};
use std::io;

/// The kernel chooses an unused group number. Since Linux 4.12.
const UNIQUE_ID: u32 = 0x2000;
/// The group does not receive frames that this host sends. Since Linux 5.17; before, each is recognised and ignored.
const IGNORE_OUTGOING: u32 = 0x4000;
/// Flows are identified by addresses and ports.
const BY_HASH: u32 = libc::PACKET_FANOUT_HASH;

/// A group of sockets.
#[derive(Debug, Default)]
pub struct Fanout {
    /// Its number and kind, once the first has joined.
    joined: Option<u32>,
}

/// A filter in the kernel's form: one instruction that accepts no byte of any packet.
#[derive(Clone, Copy)]
#[repr(C)]
struct Deaf {
    count: u16,
    /// Up to the pointer's place.
    unused: [u16; size_of::<usize>() / 2 - 1],
    instructions: *const libc::sock_filter,
}

// SAFETY: the kernel's `sock_fprog`, with its padding written out: integers and a pointer.
#[allow(unsafe_code, reason = "says that a structure of the kernel's may be handed to it")]
unsafe impl OptionValue for Deaf {}

/// Makes a socket drop all packets.
pub fn deafen(socket: &Socket) -> io::Result<()> {
    let accept_nothing = [libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 }];
    let unused = Default::default();
    let program = Deaf { count: 1, unused, instructions: accept_nothing.as_ptr() };
    socket.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Lets it receive again.
pub fn listen(socket: &Socket) -> io::Result<()> {
    socket.set(libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0)
}

impl Fanout {
    /// Adds a bound socket to the group.
    pub fn join(&mut self, socket: &Socket) -> io::Result<()> {
        let join = |request: u32| socket.set(libc::SOL_PACKET, libc::PACKET_FANOUT, &(request as libc::c_int));
        if let Some(joined) = self.joined {
            return join(joined);
        }
        let kind = if join((BY_HASH | UNIQUE_ID | IGNORE_OUTGOING) << 16).is_ok() {
            BY_HASH | IGNORE_OUTGOING
        } else {
            join((BY_HASH | UNIQUE_ID) << 16)?;
            BY_HASH
        };
        let mut joined_id: libc::c_int = 0;
        socket.get(libc::SOL_PACKET, libc::PACKET_FANOUT, &mut joined_id)?;
        self.joined = Some(joined_id as u32 & 0xFFFF | kind << 16);
        Ok(())
    }
}
