//! Interfaces of Linux through AF_XDP sockets: rings of frames in memory that the kernel and the switch share.
//!
//! A small program on the interface redirects its frames to our sockets before the kernel makes packets of them
//! (`program`). The driver loads it (`attachment`), in the best form that the kernel and the interface's own driver
//! support: in that driver or after it, with frames in several fragments or without. It is removed with the port,
//! however the process ends.
//!
//! If the interface can, it reads and writes the shared memory itself (zero copy); otherwise the kernel copies, which
//! still costs less than a packet socket. Each queue of the interface has a socket and memory of its own, and is a
//! separate driver, so that queues may have workers of their own. A worker sends on its first queue, so that its
//! frames stay in order.
//!
//! Frames are delivered as they would be on a wire, as from a packet socket. A VLAN tag that a virtual interface
//! keeps beside the frame is put back by the program. A checksum that the sender left to hardware that does not exist
//! is completed by [`crate::offload::complete_unmarked`]; the kernel does not mark such frames, but they can be
//! recognised.
//!
//! Sent frames bypass the interface's queueing discipline, so that a capture taken on the interface does not show
//! them; one at the other end does.

mod attachment;
pub(crate) mod bpf;
mod memory;
pub(crate) mod program;
mod queue;
mod ring;
mod system;

use crate::clock::wall_clock_ns;
use crate::counters::PortCounters;
use crate::driver::{Arrival, Deliver, Driver, DriverError, Work};
use crate::interface::{self, Interface, Socket};
use crate::offload;
use crate::store::Store;
use attachment::Attachment;
use memory::FrameMemory;
use queue::{Queue, QueueSetup};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use system::Binding;

/// The capabilities that opening an interface requires.
const CAPABILITIES: &str = "CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF";
/// Entries of a queue's rings.
const RING_ENTRIES: u32 = 2048;
/// The headroom that the kernel always leaves before a received frame.
const KERNEL_HEADROOM_BYTES: usize = 256;
/// The two chunk sizes that are always supported: a power of two, at most a page.
const CHUNK_BYTES: [usize; 2] = [2048, 4096];
/// Longer than any Ethernet header with a tag.
const HEADER_BYTES_MAX: usize = 18;
/// Interfaces whose other end may leave checksums to us: no hardware is between.
const VIRTUAL_DRIVERS: [&str; 4] = ["veth", "virtio_net", "tun", "xen_netfront"];

/// The writer of frames in the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Copying {
    /// The interface if it can, else the kernel.
    #[default]
    Auto,
    /// The kernel.
    Copy,
    /// The interface; the port cannot be opened if it cannot.
    ZeroCopy,
}

/// Where the program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attach {
    /// In the interface's driver if it supports that, else in the kernel after it.
    #[default]
    Auto,
    /// In the interface's driver.
    Native,
    /// In the kernel after it.
    Generic,
}

/// How an interface is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XdpOptions {
    /// How many of the interface's queues are received from; all by default.
    pub queues: Option<u32>,
    /// The writer of frames in the memory.
    pub copying: Copying,
    /// Where the program runs.
    pub attach: Attach,
}

/// State that the queues of a port share.
#[derive(Debug)]
struct Common {
    /// Keeps the interface in promiscuous mode, and is used for requests about it.
    socket: Socket,
    /// Removed with the last queue; frames of a queue that is closed before are passed to the kernel.
    _attachment: Attachment,
}

/// A port on an interface of Linux, or one of its further queues.
#[derive(Debug)]
pub struct XdpDriver {
    interface: Interface,
    // Dropped in this order: no frame arrives once the program is removed, then the queue, then its memory.
    common: Arc<Common>,
    queue: Queue,
    memory: FrameMemory,
    /// The longest frame that the queue takes, whatever the MTU.
    room_bytes: usize,
    completes_checksums: bool,
    remarks: Vec<String>,
    counters: Arc<PortCounters>,
    /// Further queues of the port.
    further: Vec<XdpDriver>,
}

impl XdpDriver {
    /// Opens an interface that is up, for all its packets. It stays in promiscuous mode as long as the driver lives.
    pub fn open(name: &str, options: &XdpOptions) -> Result<XdpDriver, DriverError> {
        let (interface, socket) = Interface::open(name, CAPABILITIES)?;
        let existing = socket.rx_queues(name);
        let queues = options.queues.unwrap_or(existing);
        if queues > existing {
            return Err(DriverError::Unusable {
                name: name.to_owned(),
                cause: format!("it has {existing} receive queue{}, not {queues}", if existing == 1 { "" } else { "s" }),
                cure: format!("leave `queues` out to use all, or configure more with `ethtool -L {name}`"),
            });
        }
        let attachment = Attachment::open(&interface, existing, options.attach)?;
        let opened = open_queues(&interface, &attachment, queues, options.copying)?;
        socket
            .set_promiscuous(interface.index)
            .map_err(|error| interface::refusal(name, CAPABILITIES, "receive all frames of", error))?;
        let is_zero_copy = opened.iter().all(|(queue, _)| queue.is_zero_copy());
        let is_virtual = VIRTUAL_DRIVERS.contains(&socket.kernel_driver(name).as_str());
        let loses_tags = !attachment.puts_tags_back && socket.takes_tags_out(name);
        let mut remarks = vec![summary(name, &attachment, queues, is_zero_copy)];
        if loses_tags {
            remarks.push(format!(
                "interface `{name}` removes VLAN tags from frames, and AF_XDP cannot put them back there: if the frames \
                 have any, run `ethtool -K {name} rxvlan off`"
            ));
        }
        if queues < existing {
            remarks.push(format!(
                "frames of {} of the {existing} queues of interface `{name}` are passed to the kernel: only {queues} are used",
                existing - queues
            ));
        }
        let has_fragments = attachment.has_fragments;
        let common = Arc::new(Common { socket, _attachment: attachment });
        let driver = |(queue, memory): (Queue, FrameMemory)| XdpDriver {
            interface: interface.clone(),
            common: Arc::clone(&common),
            room_bytes: if has_fragments { usize::MAX } else { memory.chunk_bytes() },
            completes_checksums: is_virtual && !is_zero_copy,
            queue,
            memory,
            remarks: Vec::new(),
            counters: Arc::default(),
            further: Vec::new(),
        };
        let mut drivers: Vec<XdpDriver> = opened.into_iter().map(driver).collect();
        // There is at least one: the interface has a queue, and 0 cannot be requested.
        let mut first = drivers.remove(0);
        for queue in drivers {
            first.counters.add_queue(Arc::clone(&queue.counters));
            first.further.push(queue);
        }
        first.remarks = remarks;
        Ok(first)
    }

    fn failed(name: &str, error: io::Error) -> DriverError {
        DriverError::system(format!("send on `{name}`"), error)
    }
}

/// How the interface is used, in a line.
fn summary(name: &str, attachment: &Attachment, queues: u32, is_zero_copy: bool) -> String {
    let place = if attachment.is_native { "in the interface's driver" } else { "in the kernel (generic)" };
    let copying = if is_zero_copy { "zero copy" } else { "frames are copied by the kernel" };
    let plural = if queues == 1 { "" } else { "s" };
    format!("interface `{name}` through AF_XDP: program {place}, {copying}, {queues} queue{plural}")
}

/// Binds a socket to each queue, each with a memory of its own.
fn open_queues(
    interface: &Interface,
    attachment: &Attachment,
    queues: u32,
    copying: Copying,
) -> Result<Vec<(Queue, FrameMemory)>, DriverError> {
    let failed = |doing: &str, error| interface::refusal(&interface.name, CAPABILITIES, doing, error);
    let needed = interface.mtu + HEADER_BYTES_MAX + KERNEL_HEADROOM_BYTES;
    let chunk_bytes = if needed <= CHUNK_BYTES[0] { CHUNK_BYTES[0] } else { CHUNK_BYTES[1] };
    let mut opened = Vec::new();
    for number in 0..queues.max(1) {
        // A queue receives into as many chunks as its ring has entries, and sends from as many.
        let mut memory = FrameMemory::new(2 * RING_ENTRIES as usize, chunk_bytes)
            .map_err(|error| failed("get memory for frames of", error))?;
        let flags = binding_flags(attachment, copying);
        let binding = Binding { interface_index: interface.index, queue: number, flags };
        let setup = QueueSetup { binding, ring_entries: RING_ENTRIES, headroom_bytes: 0 };
        let queue = Queue::open(&setup, &mut memory).map_err(|error| refused(interface, number, copying, error))?;
        attachment.sockets.set(number, queue.fd()).map_err(|error| failed("hand frames to a socket of", error))?;
        opened.push((queue, memory));
    }
    Ok(opened)
}

fn binding_flags(attachment: &Attachment, copying: Copying) -> u16 {
    let copying = match copying {
        // Without either flag the kernel tries both.
        Copying::Auto if attachment.is_native => 0,
        Copying::Auto | Copying::Copy => libc::XDP_COPY,
        Copying::ZeroCopy => libc::XDP_ZEROCOPY,
    };
    let fragments = if attachment.has_fragments { libc::XDP_USE_SG } else { 0 };
    copying | fragments | libc::XDP_USE_NEED_WAKEUP
}

fn refused(interface: &Interface, queue: u32, copying: Copying, error: io::Error) -> DriverError {
    let name = &interface.name;
    let unusable = |cause: String, cure: String| DriverError::Unusable { name: name.clone(), cause, cure };
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => unusable(
            "this kernel has no AF_XDP sockets".to_owned(),
            format!("they need Linux 5.10 or later with CONFIG_XDP_SOCKETS; write the port as `{name}`"),
        ),
        Some(libc::EBUSY) => unusable(
            format!("another program has an AF_XDP socket on its queue {queue}"),
            "end that program".to_owned(),
        ),
        Some(libc::EOPNOTSUPP | libc::EINVAL) if copying == Copying::ZeroCopy => unusable(
            format!("its driver does not support zero copy ({error})"),
            "leave `mode=zero-copy` out".to_owned(),
        ),
        Some(libc::ENOBUFS | libc::ENOMEM) => unusable(
            "there is not enough memory for its frames, or not enough that may be locked".to_owned(),
            "raise the limit with `ulimit -l unlimited`, or use fewer queues".to_owned(),
        ),
        _ => interface::refusal(name, CAPABILITIES, &format!("bind a socket to queue {queue} of"), error),
    }
}

impl Driver for XdpDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let mut bytes = 0;
        let mut timestamp_ns = None;
        let completes_checksums = self.completes_checksums;
        let mut pass = |frame: &mut [u8]| {
            if completes_checksums {
                offload::complete_unmarked(frame);
            }
            bytes += frame.len() as u64;
            deliver(frame, *timestamp_ns.get_or_insert_with(wall_clock_ns));
        };
        let count = self.queue.receive(&mut self.memory, limit, &self.counters, &mut pass);
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        Ok(count)
    }

    fn lend(&mut self, arrival: Arrival, store: &mut Store, work: Work<'_>) -> Result<usize, DriverError> {
        let completes_checksums = self.completes_checksums;
        let prepare = |frame: &mut [u8]| {
            if completes_checksums {
                offload::complete_unmarked(frame);
            }
        };
        let (count, bytes) = self.queue.lend(&mut self.memory, arrival, store, &self.counters, prepare, work);
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        if !self.interface.takes(frame, &self.counters) {
            return Ok(());
        }
        if frame.len() > self.room_bytes {
            self.counters.tx_dropped_too_long.add(1);
            return Ok(());
        }
        self.queue
            .transmit(&mut self.memory, frame, &self.counters)
            .map_err(|error| XdpDriver::failed(&self.interface.name, error))
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        self.queue
            .flush(&mut self.memory, &self.counters)
            .map_err(|error| XdpDriver::failed(&self.interface.name, error))
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        descriptors.push(self.queue.fd());
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        self.further.drain(..).map(|queue| Box::new(queue) as Box<dyn Driver>).collect()
    }

    fn exhausted(&self) -> bool {
        self.queue.is_drained()
    }

    fn frame_bytes_max(&self) -> usize {
        self.interface.frame_bytes_max().min(self.room_bytes)
    }

    fn stop_receiving(&mut self) {
        self.queue.stop();
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.counters.rx_dropped_no_room.add(self.queue.lost());
        self.interface.refresh_mtu(&self.common.socket);
        // The sockets do not report that their interface is gone.
        if !self.common.socket.interface_exists(self.interface.index) && !self.exhausted() {
            self.queue.abandon();
            return Err(DriverError::InterfaceGone { name: self.interface.name.clone() });
        }
        Ok(())
    }

    fn has_link(&self) -> bool {
        self.common.socket.is_running(&self.interface.name).unwrap_or(false)
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.queue
            .finish(&mut self.memory, &self.counters)
            .map_err(|error| XdpDriver::failed(&self.interface.name, error))
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}
