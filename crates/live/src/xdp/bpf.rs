//! Loads a program into the kernel, and attaches it to an interface.
//!
//! The attachment is a link (`BPF_LINK_CREATE`), which the kernel removes with its last descriptor: however the
//! process ends, nothing of it stays on the interface. Programs that the process has just started may have copies of
//! its descriptors for a moment; so the link is detached explicitly (`BPF_LINK_DETACH`) when the driver is done with
//! it.
#![allow(unsafe_code, reason = "bpf(2) takes pointers to structures of the kernel")]

use super::program::Instruction;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_LINK_DETACH: libc::c_long = 34;

const MAP_TYPE_XSKMAP: u32 = 17;
const PROGRAM_TYPE_FILTER: u32 = 1;
const PROGRAM_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;

const PROGRAM_HAS_FRAGMENTS: u32 = 1 << 5;
const PROGRAM_IS_BOUND_TO_DEVICE: u32 = 1 << 6;

const XDP_FLAGS_GENERIC: u32 = 1 << 1;
const XDP_FLAGS_NATIVE: u32 = 1 << 2;

/// Kernel functions may be called only by programs with a compatible licence.
const LICENSE: &[u8] = b"Dual MIT/GPL\0";
const NAME: [u8; 16] = *b"wirespeed\0\0\0\0\0\0\0";

#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries_max: u32,
    flags: u32,
    inner_map: u32,
    numa_node: u32,
    name: [u8; 16],
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    program_type: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface_index: u32,
    attach_type: u32,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface_index: u32,
    attach_type: u32,
    flags: u32,
}

/// Calls bpf(2).
///
/// # Safety
/// `argument` is what the command takes, and its pointers lead to what the command reads there.
unsafe fn bpf<T>(command: libc::c_long, argument: &T) -> io::Result<libc::c_long> {
    // SAFETY: the pointer and the size describe `argument`; the rest is the caller's promise.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(argument), size_of::<T>()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// The same for commands that return a new descriptor.
///
/// # Safety
///
/// As for [`bpf`].
unsafe fn bpf_descriptor<T>(command: libc::c_long, argument: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise; the answer is a new descriptor without another owner.
    unsafe { Ok(OwnedFd::from_raw_fd(bpf(command, argument)? as RawFd)) }
}

/// Sockets by number of queue.
#[derive(Debug)]
pub struct SocketMap(OwnedFd);

impl SocketMap {
    /// A map for this many queues, without sockets.
    pub fn new(queues: u32) -> io::Result<SocketMap> {
        let argument = MapCreate {
            map_type: MAP_TYPE_XSKMAP,
            key_bytes: 4,
            value_bytes: 4,
            entries_max: queues,
            flags: 0,
            inner_map: 0,
            numa_node: 0,
            name: NAME,
        };
        // SAFETY: the command's argument, without pointers.
        Ok(SocketMap(unsafe { bpf_descriptor(BPF_MAP_CREATE, &argument)? }))
    }

    /// Its descriptor, for the program.
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Redirects the frames of a queue to a socket.
    pub fn set(&self, queue: u32, socket: RawFd) -> io::Result<()> {
        let (key, value) = (queue, socket as u32);
        let argument = MapUpdate {
            map: self.raw() as u32,
            _padding: 0,
            key: std::ptr::from_ref(&key) as u64,
            value: std::ptr::from_ref(&value) as u64,
            flags: 0,
        };
        // SAFETY: the command's argument; key and value are as long as the map says and live through the call.
        unsafe { bpf(BPF_MAP_UPDATE_ELEM, &argument).map(|_| ()) }
    }
}

/// The features of a program and where it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// It accepts frames in several fragments.
    pub has_fragments: bool,
    /// It is for this interface only, whose driver provides metadata of a frame.
    pub device: Option<i32>,
}

/// A program in the kernel.
#[derive(Debug)]
pub struct Program(OwnedFd);

impl Program {
    /// Loads a program.
    pub fn load(instructions: &[Instruction], traits: Traits) -> io::Result<Program> {
        let fragments = if traits.has_fragments { PROGRAM_HAS_FRAGMENTS } else { 0 };
        let bound = if traits.device.is_some() { PROGRAM_IS_BOUND_TO_DEVICE } else { 0 };
        let device = traits.device.unwrap_or(0) as u32;
        Program::of_type(PROGRAM_TYPE_XDP, instructions, fragments | bound, device, ATTACH_TYPE_XDP)
    }

    /// Loads a program that computes a number from a frame.
    pub fn load_filter(instructions: &[Instruction]) -> io::Result<Program> {
        Program::of_type(PROGRAM_TYPE_FILTER, instructions, 0, 0, 0)
    }

    fn of_type(
        program_type: u32,
        instructions: &[Instruction],
        flags: u32,
        interface_index: u32,
        attach_type: u32,
    ) -> io::Result<Program> {
        let argument = ProgramLoad {
            program_type,
            instruction_count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel_version: 0,
            flags,
            name: NAME,
            interface_index,
            attach_type,
        };
        // SAFETY: the command's argument; the instructions are as many as it says, the licence ends with a zero, and
        // both live through the call.
        Ok(Program(unsafe { bpf_descriptor(BPF_PROG_LOAD, &argument)? }))
    }

    /// Its descriptor.
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Runs the program for each frame that the interface receives, as long as the result exists: in the interface's
    /// own driver, or in the kernel after it.
    pub fn attach(&self, interface_index: i32, is_native: bool) -> io::Result<Link> {
        let argument = LinkCreate {
            program: self.0.as_raw_fd() as u32,
            interface_index: interface_index as u32,
            attach_type: ATTACH_TYPE_XDP,
            flags: if is_native { XDP_FLAGS_NATIVE } else { XDP_FLAGS_GENERIC },
        };
        // SAFETY: the command's argument, without pointers.
        Ok(Link(unsafe { bpf_descriptor(BPF_LINK_CREATE, &argument)? }))
    }
}

/// A program's attachment to an interface.
#[derive(Debug)]
pub struct Link(OwnedFd);

impl Drop for Link {
    fn drop(&mut self) {
        let link = self.0.as_raw_fd() as u32;
        // SAFETY: the command's argument, without pointers. If it fails, the link goes with its last descriptor.
        let _ = unsafe { bpf(BPF_LINK_DETACH, &link) };
    }
}
