//! Interfaces of Linux whose other end is the switch: the port receives what the system sends on a tap interface, and
//! vice versa.
//!
//! An interface of that name is created unless there is one, such as a `tap` that `ip tuntap add` has made and that
//! is not in use. A created one is deleted with its port, however the process ends. The system completes checksums
//! and cuts segments before the port gets them, since the port does not offer these features. Each frame costs a
//! system call.
//!
//! An interface may have several queues, over which a program in the kernel (`steering`) distributes flows. Each is a
//! driver of its own. One that `ip tuntap add` made without `multi_queue` has one.
#![allow(unsafe_code, reason = "tap interfaces are made by requests on a device, through libc")]

mod steering;

use crate::clock::wall_clock_ns;
use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use crate::interface::{self, Interface, Socket};
use crate::statistics::Statistics;
use crate::waiting::when_free;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

const DEVICE: &str = "/dev/net/tun";
/// The capability that creating an interface requires.
const CAPABILITIES: &str = "CAP_NET_ADMIN and CAP_NET_RAW";
/// The longest frame that an interface delivers, in bytes.
const FRAME_BYTES_MAX: usize = 65_535 + 18;
/// How many frames the system may hold for the port; more than any interface does by default.
const WAITING_FRAMES_MAX: usize = 8_192;

/// A port on the other end of an interface.
#[derive(Debug)]
pub struct TapDriver {
    interface: Interface,
    device: File,
    socket: Socket,
    statistics: Statistics,
    /// Frames for the port that the system had dropped at the last reading.
    lost_before: u64,
    buffer: Box<[u8]>,
    /// After reception was stopped: how many frames may still be delivered.
    left_to_drain: Option<usize>,
    counters: Arc<PortCounters>,
    remarks: Vec<String>,
    is_first: bool,
    /// Further queues of the port.
    further: Vec<TapDriver>,
}

/// How a device attaches to an interface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joining {
    /// As its only queue.
    Alone,
    /// As one of several queues.
    AsQueue,
}

impl TapDriver {
    /// Opens the interface of this name, or creates it, and brings it up. It gets this many queues if it can have
    /// several.
    pub fn open(name: &str, queues: usize) -> Result<TapDriver, DriverError> {
        let [wanted, other] = match queues > 1 {
            true => [Joining::AsQueue, Joining::Alone],
            false => [Joining::Alone, Joining::AsQueue],
        };
        let device = open_device(name)?;
        let mut joining = wanted;
        let mut joined = when_free(|| set_interface(&device, name, wanted));
        // The creator of the interface has decided which of the two it is.
        if joined.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL)) {
            joining = other;
            joined = when_free(|| set_interface(&device, name, other));
        }
        joined.map_err(|error| refusal(name, error))?;
        let mut first = TapDriver::on(device, name)?;
        first.is_first = true;
        if queues == 1 {
            return Ok(first);
        }
        let mut one_queue = |cause: &str, cure: &str| {
            first.remarks.push(format!("interface `{name}` has one queue for all workers: {cause}; {cure}"));
        };
        if joining == Joining::Alone {
            one_queue(
                "it was created with one queue",
                &format!("make it with `ip tuntap add {name} mode tap multi_queue`"),
            );
            return Ok(first);
        }
        if let Err(error) = steer(&first.device) {
            one_queue(
                &format!("the system does not allow the choice of a queue ({error})"),
                "Linux 4.16 or later does, if the switch has CAP_BPF or CAP_SYS_ADMIN",
            );
            return Ok(first);
        }
        for _ in 1..queues {
            let device = open_device(name)?;
            set_interface(&device, name, Joining::AsQueue).map_err(|error| refusal(name, error))?;
            let queue = TapDriver::on(device, name)?;
            first.counters.add_queue(Arc::clone(&queue.counters));
            first.further.push(queue);
        }
        Ok(first)
    }

    /// A driver on a device that has attached to the interface.
    fn on(device: File, name: &str) -> Result<TapDriver, DriverError> {
        let failed = |doing: &str, error| interface::refusal(name, CAPABILITIES, doing, error);
        let socket = Socket::new().map_err(|error| failed("query", error))?;
        socket.bring_up(name).map_err(|error| failed("bring up", error))?;
        let (interface, socket) = Interface::open(name, CAPABILITIES)?;
        let statistics = Statistics::open().map_err(|error| failed("query", error))?;
        let lost_before = statistics.tx_dropped(interface.index).unwrap_or(0);
        Ok(TapDriver {
            interface,
            device,
            socket,
            statistics,
            lost_before,
            buffer: vec![0; FRAME_BYTES_MAX].into_boxed_slice(),
            left_to_drain: None,
            counters: Arc::default(),
            remarks: Vec::new(),
            is_first: false,
            further: Vec::new(),
        })
    }

    fn gone(&self) -> DriverError {
        DriverError::InterfaceGone { name: self.interface.name.clone() }
    }
}

fn open_device(name: &str) -> Result<File, DriverError> {
    let device = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE);
    device.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DriverError::Unusable {
            name: name.to_owned(),
            cause: format!("this system has no {DEVICE}"),
            cure: "load the kernel's module with `modprobe tun`, or give the container the device".to_owned(),
        },
        _ => interface::refusal(name, CAPABILITIES, "make", error),
    })
}

/// Why a device cannot attach to an interface.
fn refusal(name: &str, error: io::Error) -> DriverError {
    let unusable =
        |cause: &str, cure: String| DriverError::Unusable { name: name.to_owned(), cause: cause.into(), cure };
    match error.raw_os_error() {
        Some(libc::EBUSY) => {
            unusable("another program has its other end", "end that program, or choose another name".to_owned())
        }
        Some(libc::EINVAL) => unusable(
            "it exists and is not a tap interface",
            format!("choose another name; a switch receives what comes in on it through the port `{name}`"),
        ),
        _ => interface::refusal(name, CAPABILITIES, "make", error),
    }
}

/// Installs the program that chooses the queue of each frame, for as long as the interface exists.
fn steer(device: &File) -> io::Result<()> {
    let program = steering::load()?;
    let descriptor: libc::c_int = program.raw();
    // SAFETY: the request reads the number of a program's descriptor; the interface has the program from then on.
    let set = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETSTEERINGEBPF, &raw const descriptor) };
    if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Attaches the device to the interface, with whole frames without any prefix, and offers no offloads.
fn set_interface(device: &File, name: &str, joining: Joining) -> io::Result<()> {
    // SAFETY: a request of all zeros is a value of its type.
    let mut argument: libc::ifreq = unsafe { mem::zeroed() };
    // One byte stays zero, so that the name ends.
    let length = argument.ifr_name.len() - 1;
    for (slot, byte) in argument.ifr_name[..length].iter_mut().zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    let queues = if joining == Joining::AsQueue { libc::IFF_MULTI_QUEUE } else { 0 };
    argument.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | queues) as libc::c_short;
    // SAFETY: the request reads the name and the flags from an `ifreq` and writes the name that was given to it.
    let joined = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &raw mut argument) };
    // SAFETY: the request takes a number.
    let offers = || unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD as libc::Ioctl, 0 as libc::c_ulong) };
    if joined < 0 || offers() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Driver for TapDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let (mut count, mut bytes) = (0, 0);
        let limit = limit.min(self.left_to_drain.unwrap_or(limit));
        let mut is_empty = false;
        while count < limit && !is_empty {
            match self.device.read(&mut self.buffer) {
                Ok(length) => {
                    bytes += length as u64;
                    count += 1;
                    deliver(&self.buffer[..length], wall_clock_ns());
                }
                // Any error is found by waiting or by checking the interface.
                Err(error) => is_empty = error.kind() != io::ErrorKind::Interrupted,
            }
        }
        if let Some(left) = &mut self.left_to_drain {
            *left = if is_empty { 0 } else { *left - count };
        }
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        if !self.interface.takes(frame, &self.counters) {
            return Ok(());
        }
        match self.device.write(frame) {
            Ok(_) => {
                self.counters.tx_packets.add(1);
                self.counters.tx_bytes.add(frame.len() as u64);
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EIO | libc::EBADFD | libc::ENETDOWN) => self.counters.tx_dropped_link_down.add(1),
                Some(libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM | libc::EINTR) => {
                    self.counters.tx_dropped_no_room.add(1);
                }
                _ => return Err(DriverError::system(format!("send on `{}`", self.interface.name), error)),
            },
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        descriptors.push(self.device.as_raw_fd());
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        self.further.drain(..).map(|queue| Box::new(queue) as Box<dyn Driver>).collect()
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn exhausted(&self) -> bool {
        self.left_to_drain == Some(0)
    }

    fn frame_bytes_max(&self) -> usize {
        self.interface.frame_bytes_max()
    }

    /// The system does not report how many frames it holds: frames up to the first moment without any are delivered.
    fn stop_receiving(&mut self) {
        self.left_to_drain.get_or_insert(WAITING_FRAMES_MAX);
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.interface.refresh_mtu(&self.socket);
        // The system counts the losses of all queues together.
        if self.is_first
            && let Some(lost) = self.statistics.tx_dropped(self.interface.index)
        {
            let before = mem::replace(&mut self.lost_before, lost);
            self.counters.rx_dropped_no_room.add(lost.saturating_sub(before));
        }
        Ok(())
    }

    fn has_link(&self) -> bool {
        self.socket.is_running(&self.interface.name).unwrap_or(false)
    }

    fn acknowledge_error(&mut self) -> Result<(), DriverError> {
        if self.socket.interface_exists(self.interface.index) {
            return Ok(());
        }
        self.left_to_drain = Some(0);
        Err(self.gone())
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}
