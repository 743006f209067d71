//! The system calls of AF_XDP sockets, each behind a safe function.
#![allow(unsafe_code, reason = "sockets, their options and their mappings are reached through libc")]

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};

/// The size of the send buffer, in bytes.
const QUEUE_BYTES: libc::c_int = 16 << 20;
/// How many frames one call may send if the kernel copies; since Linux 6.17, 32 before.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;

fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Memory that is mapped as long as the value exists.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is owned, and memory belongs to no thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Zeroed memory that starts at a page.
    pub fn anonymous(bytes: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, without a file.
        Mapping::new(bytes, unsafe {
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        })
    }

    fn new(bytes: usize, base: *mut libc::c_void) -> io::Result<Mapping> {
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapping { base, bytes }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Its first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; whoever has pointers into it holds the mapping too.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A type that an option of these sockets may be: plain integers without padding or invalid values.
///
/// # Safety
/// Every bit pattern of the type must be a value, and it must have no padding.
unsafe trait OptionValue: Copy {}
// SAFETY: an integer.
unsafe impl OptionValue for libc::c_int {}
// SAFETY: two words of 64 bits and four of 32.
unsafe impl OptionValue for libc::xdp_umem_reg {}
// SAFETY: sixteen words of 64 bits.
unsafe impl OptionValue for libc::xdp_mmap_offsets {}
// SAFETY: six words of 64 bits.
unsafe impl OptionValue for libc::xdp_statistics {}
// SAFETY: one word of 32 bits.
unsafe impl OptionValue for libc::xdp_options {}

/// One of a socket's rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingKind {
    /// Received frames, from the kernel.
    Rx,
    /// Frames to be sent, to the kernel.
    Tx,
    /// Free chunks for received frames, to the kernel.
    Fill,
    /// Chunks of frames that have been sent, from the kernel.
    Completion,
}

impl RingKind {
    fn option(self) -> libc::c_int {
        match self {
            RingKind::Rx => libc::XDP_RX_RING,
            RingKind::Tx => libc::XDP_TX_RING,
            RingKind::Fill => libc::XDP_UMEM_FILL_RING,
            RingKind::Completion => libc::XDP_UMEM_COMPLETION_RING,
        }
    }

    fn page_offset(self) -> libc::off_t {
        match self {
            RingKind::Rx => libc::XDP_PGOFF_RX_RING,
            RingKind::Tx => libc::XDP_PGOFF_TX_RING,
            RingKind::Fill => libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t,
            RingKind::Completion => libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t,
        }
    }
}

/// A ring's memory, and the offsets of its parts.
#[derive(Debug)]
pub struct RingMemory {
    /// The memory.
    pub mapping: Mapping,
    /// Offsets of the producer's and the consumer's index, the flags and the entries.
    pub places: libc::xdp_ring_offset,
}

/// How a socket is bound.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The interface.
    pub interface_index: i32,
    /// Its queue.
    pub queue: u32,
    /// `XDP_COPY` and its like.
    pub flags: u16,
}

/// An AF_XDP socket.
#[derive(Debug)]
pub struct XdpSocket {
    fd: OwnedFd,
}

impl XdpSocket {
    /// A socket that is not bound.
    pub fn new() -> io::Result<XdpSocket> {
        // SAFETY: the call takes no pointers; its result is a new descriptor without another owner.
        let fd =
            unsafe { OwnedFd::from_raw_fd(check(libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0))?) };
        let socket = XdpSocket { fd };
        // Beyond the system's limit if permitted, else up to it.
        if socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &QUEUE_BYTES).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &QUEUE_BYTES)?;
        }
        Ok(socket)
    }

    /// The descriptor, for waiting.
    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    fn set<T: OptionValue>(&self, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
        let size = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and the size describe `value`.
        check(unsafe { libc::setsockopt(self.raw(), level, name, ptr::from_ref(value).cast(), size) }).map(|_| ())
    }

    fn get<T: OptionValue>(&self, name: libc::c_int) -> io::Result<T> {
        // SAFETY: all zeros are a value of such a type.
        let mut value: T = unsafe { mem::zeroed() };
        let mut size = size_of::<T>() as libc::socklen_t;
        let pointer = ptr::from_mut(&mut value).cast();
        // SAFETY: the pointer and the size describe `value`, any bytes of which are a value of its type.
        check(unsafe { libc::getsockopt(self.raw(), libc::SOL_XDP, name, pointer, &raw mut size) })?;
        Ok(value)
    }

    /// Lends memory to the kernel. The mapping must exist as long as the socket does.
    pub fn register(&self, memory: &Mapping, chunk_bytes: u32, headroom_bytes: u32) -> io::Result<()> {
        let registration = libc::xdp_umem_reg {
            addr: memory.base().as_ptr() as u64,
            len: memory.bytes() as u64,
            chunk_size: chunk_bytes,
            headroom: headroom_bytes,
            flags: 0,
            tx_metadata_len: 0,
        };
        self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)
    }

    /// Creates a ring with this many entries, a power of two, each of `entry_bytes`.
    pub fn make_ring(&self, kind: RingKind, entries: u32, entry_bytes: usize) -> io::Result<RingMemory> {
        self.set(libc::SOL_XDP, kind.option(), &(entries as libc::c_int))?;
        let all: libc::xdp_mmap_offsets = self.get(libc::XDP_MMAP_OFFSETS)?;
        let places = match kind {
            RingKind::Rx => all.rx,
            RingKind::Tx => all.tx,
            RingKind::Fill => all.fr,
            RingKind::Completion => all.cr,
        };
        let bytes = places.desc as usize + entries as usize * entry_bytes;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, as long as the ring that was just made.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, self.raw(), kind.page_offset()) };
        Ok(RingMemory { mapping: Mapping::new(bytes, base)?, places })
    }

    /// Binds to a queue of an interface.
    pub fn bind(&self, binding: &Binding) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: binding.flags,
            sxdp_ifindex: binding.interface_index as u32,
            sxdp_queue_id: binding.queue,
            sxdp_shared_umem_fd: 0,
        };
        let size = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer and the size describe `address`.
        check(unsafe { libc::bind(self.raw(), (&raw const address).cast(), size) })?;
        Ok(())
    }

    /// Lets one call send this many frames if the kernel copies. Older kernels do not have the option.
    pub fn set_send_budget(&self, frames: u32) {
        let _ = self.set(libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &(frames as libc::c_int));
    }

    /// Whether the bound interface reads and writes the lent memory itself.
    pub fn is_zero_copy(&self) -> io::Result<bool> {
        let options: libc::xdp_options = self.get(libc::XDP_OPTIONS)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    /// What the kernel has counted since the socket was made.
    pub fn statistics(&self) -> io::Result<libc::xdp_statistics> {
        self.get(libc::XDP_STATISTICS)
    }

    /// Makes the kernel process the ring of frames to be sent, without waiting.
    pub fn wake_to_send(&self) -> io::Result<()> {
        // SAFETY: no bytes and no address are passed, so that neither pointer is followed.
        let answer = unsafe { libc::sendto(self.raw(), ptr::null(), 0, libc::MSG_DONTWAIT, ptr::null(), 0) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Makes the kernel process the ring of free chunks, without waiting.
    pub fn wake_to_receive(&self) {
        // SAFETY: as above. Its result adds nothing to what the rings show.
        unsafe { libc::recvfrom(self.raw(), ptr::null_mut(), 0, libc::MSG_DONTWAIT, ptr::null_mut(), ptr::null_mut()) };
    }
}
