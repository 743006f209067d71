//! The functions of `shim.c`, each behind a safe function.
//!
//! A queue is used by one thread at a time, as DPDK requires; a buffer has one owner, and returns to its pool when
//! the owner is dropped.
#![allow(unsafe_code, reason = "DPDK is a library of C")]

use std::ffi::{CString, c_char, c_int};
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// How many buffers pass in one call.
pub const BUFFERS_MAX: usize = 64;

/// `struct rte_mbuf` and `struct rte_mempool`, which only DPDK accesses.
#[repr(C)]
struct Mbuf {
    _private: [u8; 0],
}

#[repr(C)]
struct Mempool {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Debug)]
struct Port {
    number: u16,
    mtu: u16,
    queues: u16,
    pool: *mut Mempool,
}

#[repr(C)]
#[derive(Default)]
struct Losses {
    missed: u64,
    no_buffer: u64,
    errors: u64,
}

unsafe extern "C" {
    fn ws_dpdk_start(argument_count: c_int, arguments: *mut *mut c_char) -> c_int;
    fn ws_dpdk_open(
        arguments: *const c_char,
        name: *const c_char,
        buffers: u32,
        ring_entries: u16,
        queues: u16,
        queues_max: u16,
        port: *mut Port,
    ) -> c_int;
    fn ws_dpdk_close(port: *mut Port);
    fn ws_dpdk_receive(port: u16, queue: u16, buffers: *mut *mut Mbuf, count: u16) -> u16;
    fn ws_dpdk_send(port: u16, queue: u16, buffers: *mut *mut Mbuf, count: u16) -> u16;
    fn ws_dpdk_frame(buffer: *mut *mut Mbuf, length: *mut u32) -> *mut u8;
    fn ws_dpdk_fill(pool: *mut Mempool, frame: *const u8, length: u32) -> *mut Mbuf;
    fn ws_dpdk_free(buffer: *mut Mbuf);
    fn ws_dpdk_has_link(port: u16) -> c_int;
    fn ws_dpdk_losses(port: u16, losses: *mut Losses);
}

/// Why a device could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// DPDK itself could not be started.
    Start(io::Error),
    /// It cannot use the device.
    Device(io::Error),
    /// The device has fewer queues than requested: this many.
    Queues(u16),
}

fn check(answer: c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::from_raw_os_error(-answer)) } else { Ok(()) }
}

/// Whether DPDK was started, which is possible only once; a failure is permanent.
static STARTED: Mutex<Option<c_int>> = Mutex::new(None);

/// Starts DPDK with these arguments, unless it was started.
fn start(arguments: &[&str]) -> io::Result<()> {
    let mut started = STARTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(answer) = *started {
        return check(answer);
    }
    // DPDK keeps pointers to its arguments and may reorder them, so they are never freed.
    let arguments: Vec<*mut c_char> = arguments
        .iter()
        .filter_map(|argument| CString::new(*argument).ok().map(CString::into_raw))
        .chain([std::ptr::null_mut()])
        .collect();
    let arguments: &'static mut [*mut c_char] = Vec::leak(arguments);
    // DPDK binds the thread that starts it, and its future children, to one processor: use a separate thread.
    let (pointer, count) = (arguments.as_mut_ptr() as usize, (arguments.len() - 1) as c_int);
    // SAFETY: `count` strings and a null behind them, all of which live on; called once in the process.
    let starter = std::thread::spawn(move || unsafe { ws_dpdk_start(count, pointer as *mut *mut c_char) });
    let answer = starter.join().unwrap_or(-libc::ENOTRECOVERABLE);
    *started = Some(answer);
    check(answer)
}

/// A device in use, until its last queue is dropped.
#[derive(Debug)]
struct OpenPort(Port);

// SAFETY: a port belongs to no thread. What is asked of it as a whole (link, counts) DPDK allows to several threads,
// and so does its pool of buffers; of a queue, one thread at a time calls functions.
unsafe impl Send for OpenPort {}
// SAFETY: as above.
unsafe impl Sync for OpenPort {}

impl Drop for OpenPort {
    fn drop(&mut self) {
        // SAFETY: the port is open, and closed only here.
        unsafe { ws_dpdk_close(&raw mut self.0) };
    }
}

/// The configuration of a device.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Buffers in the pool, for each queue.
    pub buffers: u32,
    /// Entries of the rings, if the device takes as many.
    pub ring_entries: u16,
    /// Queues in each direction; `None` for as many as the device has, up to `queues_max`.
    pub queues: Option<u16>,
    /// See there.
    pub queues_max: u16,
}

/// A queue of a device in use, in each direction.
#[derive(Debug)]
pub struct Device {
    port: Arc<OpenPort>,
    queue: u16,
}

impl Device {
    /// Starts DPDK if necessary, and opens a device. Returns its queues, at least one.
    pub fn open(arguments: &[&str], description: &str, name: &str, shape: Shape) -> Result<Vec<Device>, OpenError> {
        start(arguments).map_err(OpenError::Start)?;
        let invalid = |_| OpenError::Device(io::Error::from_raw_os_error(libc::EINVAL));
        let description = CString::new(description).map_err(invalid)?;
        let name = CString::new(name).map_err(invalid)?;
        let mut port = Port { number: 0, mtu: 0, queues: 0, pool: std::ptr::null_mut() };
        let Shape { buffers, ring_entries, queues, queues_max } = shape;
        let (description, name, queues) = (description.as_ptr(), name.as_ptr(), queues.unwrap_or(0));
        // SAFETY: two C strings and a structure that live through the call.
        let answer =
            unsafe { ws_dpdk_open(description, name, buffers, ring_entries, queues, queues_max, &raw mut port) };
        if answer == -libc::ERANGE {
            return Err(OpenError::Queues(port.queues));
        }
        check(answer).map_err(OpenError::Device)?;
        let queues = port.queues;
        let port = Arc::new(OpenPort(port));
        Ok((0..queues).map(|queue| Device { port: Arc::clone(&port), queue }).collect())
    }

    /// The longest packet after the Ethernet header.
    pub fn mtu(&self) -> usize {
        self.port.0.mtu.into()
    }

    /// Passes up to `count` received frames to `deliver`, or `None` for one that cannot be made contiguous. Returns
    /// their number.
    pub fn receive(&mut self, count: usize, deliver: &mut dyn FnMut(Option<&mut [u8]>)) -> usize {
        let mut buffers = [std::ptr::null_mut(); BUFFERS_MAX];
        let count = count.min(BUFFERS_MAX) as u16;
        // SAFETY: room for `count` pointers; the port is open.
        let received = unsafe { ws_dpdk_receive(self.port.0.number, self.queue, buffers.as_mut_ptr(), count) };
        for buffer in &mut buffers[..usize::from(received)] {
            let mut length = 0;
            // SAFETY: a buffer that was just received and is ours; the frame lies in it as long as it is not freed.
            let frame = unsafe {
                let start = ws_dpdk_frame(buffer, &raw mut length);
                NonNull::new(start).map(|start| std::slice::from_raw_parts_mut(start.as_ptr(), length as usize))
            };
            deliver(frame);
            // SAFETY: ours, and not used after.
            unsafe { ws_dpdk_free(*buffer) };
        }
        received.into()
    }

    /// A buffer with a copy of a frame, if one is free.
    pub fn fill(&mut self, frame: &[u8]) -> Option<Buffer> {
        let length = u32::try_from(frame.len()).ok()?;
        // SAFETY: the pointer and the length describe `frame`; the pool is the port's.
        let buffer = unsafe { ws_dpdk_fill(self.port.0.pool, frame.as_ptr(), length) };
        NonNull::new(buffer).map(|buffer| Buffer { buffer, length })
    }

    /// Sends buffers in order, and returns how many were taken; those are no longer in the list.
    pub fn send(&mut self, buffers: &mut Vec<Buffer>) -> usize {
        let mut pointers = [std::ptr::null_mut(); BUFFERS_MAX];
        let count = buffers.len().min(BUFFERS_MAX);
        for (pointer, buffer) in pointers.iter_mut().zip(&buffers[..count]) {
            *pointer = buffer.buffer.as_ptr();
        }
        // SAFETY: `count` buffers of ours.
        let sent = unsafe { ws_dpdk_send(self.port.0.number, self.queue, pointers.as_mut_ptr(), count as u16) };
        // DPDK owns those now: they must not be freed here.
        buffers.drain(..usize::from(sent)).for_each(std::mem::forget);
        sent.into()
    }

    /// Whether it is the first queue of its device.
    pub fn is_first(&self) -> bool {
        self.queue == 0
    }

    /// Whether the link is up.
    pub fn has_link(&self) -> bool {
        // SAFETY: the port is open.
        unsafe { ws_dpdk_has_link(self.port.0.number) != 0 }
    }

    /// Frames lost on reception since the device was opened.
    pub fn losses(&self) -> u64 {
        let mut losses = Losses::default();
        // SAFETY: the port is open, and the structure lives through the call.
        unsafe { ws_dpdk_losses(self.port.0.number, &raw mut losses) };
        losses.missed + losses.no_buffer + losses.errors
    }
}

/// A buffer with a frame to be sent.
#[derive(Debug)]
pub struct Buffer {
    buffer: NonNull<Mbuf>,
    length: u32,
}

// SAFETY: a buffer belongs to no thread.
unsafe impl Send for Buffer {}

impl Buffer {
    /// The frame's length in bytes.
    pub fn length(&self) -> u32 {
        self.length
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: ours, and not used after.
        unsafe { ws_dpdk_free(self.buffer.as_ptr()) };
    }
}
