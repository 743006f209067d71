//! Devices of DPDK: network cards that are not bound to the kernel's driver, and DPDK's virtual devices.
//!
//! Built only with the feature `dpdk`, against the system's libdpdk. `shim.c` wraps its inline functions and macros
//! in plain functions (`calls` declares them). DPDK is started when the first port is opened, once in the process:
//! with huge pages if the system has some. It uses only devices that ports name.
//!
//! A device with several queues delivers the frames of some flows to each, by a hash if it has one, else by its own
//! rules; each queue is a driver of its own, so that each can have its worker.
//!
//! A port polls: there is no descriptor to wait on, and its worker never sleeps.

mod calls;

use crate::clock::wall_clock_ns;
use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use crate::interface::{ETHERNET_BYTES, VLAN_TAG_BYTES};
use crate::offload;
use crate::waiting::FULL_WAIT;
use calls::{BUFFERS_MAX, Buffer, Device, OpenError, Shape};
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Virtual devices that have as many queues as are requested, each with frames of its own: one, unless more are
/// requested.
const ONE_QUEUE: [&str; 3] = ["net_null", "net_ring", "net_memif"];

/// Buffers of a port's pool for each queue; one less than a power of two is what DPDK stores best.
const BUFFERS: u32 = 16_383;
/// Queues of a card, unless more are requested.
const QUEUES_MAX: usize = 16;
/// Entries of its rings, if the device takes as many.
const RING_ENTRIES: u16 = 1024;
/// Memory of DPDK in MiB where there are no huge pages.
const MEMORY_MIB: &str = "256";
/// No machine has a device here: naming it keeps DPDK from using all devices that it finds.
const NO_DEVICE: &str = "--allow=ffff:ff:1f.7";

/// A port on a device of DPDK.
#[derive(Debug)]
pub struct DpdkDriver {
    /// Frames to be sent, up to a burst. Dropped before the device, which owns their memory.
    staged: Vec<Buffer>,
    device: Device,
    /// The ring stayed full for [`FULL_WAIT`]: until the device makes progress, frames are dropped at once.
    stalled: bool,
    /// Whether the other end may leave checksums to hardware that does not exist.
    is_virtual: bool,
    is_stopping: bool,
    is_drained: bool,
    lost_before: u64,
    remarks: Vec<String>,
    counters: Arc<PortCounters>,
    /// Further queues of the port.
    further: Vec<DpdkDriver>,
}

impl DpdkDriver {
    /// Opens a device by its description as DPDK reads it: a name or a PCI address, and parameters after commas, as
    /// in `net_pcap0,rx_pcap=in.pcap`. `queues` is their number; by default all that it has, but for a card no more
    /// than there are processors.
    pub fn open(description: &str, queues: Option<u16>) -> Result<DpdkDriver, DriverError> {
        let name = description.split(',').next().unwrap_or_default().to_owned();
        let unusable =
            |cause: String, cure: &str| DriverError::Unusable { name: name.clone(), cause, cure: cure.to_owned() };
        let has_huge_pages = huge_pages();
        let mut arguments = vec!["wirespeed", "--no-telemetry", "--log-level=4", NO_DEVICE];
        // Either way it leaves no files.
        match has_huge_pages {
            true => arguments.push("--in-memory"),
            false => arguments.extend(["--no-shconf", "--no-huge", "-m", MEMORY_MIB]),
        }
        let is_virtual = name.starts_with("net_");
        let queues_max = match is_virtual {
            true if ONE_QUEUE.iter().any(|kind| name.starts_with(kind)) => 1,
            true => u16::MAX,
            false => thread::available_parallelism().map_or(1, |count| count.get().min(QUEUES_MAX) as u16),
        };
        let shape = Shape { buffers: BUFFERS, ring_entries: RING_ENTRIES, queues, queues_max };
        let devices = Device::open(&arguments, description, &name, shape).map_err(|error| match error {
            OpenError::Queues(existing) => unusable(
                format!("it has {existing} queue{}, not {}", plural(existing), queues.unwrap_or(1)),
                "leave `?queues=` out to use all, or give it more by its own parameters",
            ),
            OpenError::Start(error) => unusable(
                format!("DPDK cannot be started ({error})"),
                "it needs root, and huge pages or memory that may be locked (`ulimit -l unlimited`)",
            ),
            OpenError::Device(error) => unusable(
                format!("DPDK cannot use it ({error})"),
                "write a virtual device as `dpdk:net_null0` with its parameters after commas, or the PCI address of \
                 a card that is bound to vfio-pci",
            ),
        })?;
        let pages = if has_huge_pages { "huge pages" } else { "no huge pages: slower than it could be" };
        let count = devices.len() as u16;
        let driver = |device: Device| DpdkDriver {
            remarks: Vec::new(),
            is_virtual,
            device,
            staged: Vec::with_capacity(BUFFERS_MAX),
            stalled: false,
            is_stopping: false,
            is_drained: false,
            lost_before: 0,
            counters: Arc::default(),
            further: Vec::new(),
        };
        let mut drivers = devices.into_iter().map(driver);
        let mut first = drivers.next().ok_or_else(|| unusable("it has no queues".to_owned(), "take another one"))?;
        for queue in drivers {
            first.counters.add_queue(Arc::clone(&queue.counters));
            first.further.push(queue);
        }
        first.remarks = vec![format!(
            "device `{name}` through DPDK, {count} queue{}, {pages}; its workers poll without a pause",
            plural(count)
        )];
        Ok(first)
    }

    fn takes(&self, frame: &[u8]) -> bool {
        if frame.len() < ETHERNET_BYTES {
            self.counters.tx_dropped_too_short.add(1);
            return false;
        }
        let tag_bytes = if frame[12..14] == [0x81, 0] { VLAN_TAG_BYTES } else { 0 };
        if frame.len() > self.frame_bytes_max() + tag_bytes {
            self.counters.tx_dropped_too_long.add(1);
            return false;
        }
        true
    }

    /// Hands over queued frames, waiting for a bounded time while the device takes none.
    fn send_staged(&mut self, wait: Duration) {
        let deadline = Instant::now() + wait;
        while !self.staged.is_empty() {
            let lengths: Vec<u64> = self.staged.iter().map(|buffer| buffer.length().into()).collect();
            let sent = self.device.send(&mut self.staged);
            self.counters.tx_packets.add(sent as u64);
            self.counters.tx_bytes.add(lengths[..sent].iter().sum());
            if sent > 0 {
                self.stalled = false;
            } else if self.stalled || Instant::now() >= deadline {
                self.stalled = true;
                self.counters.tx_dropped_no_room.add(self.staged.len() as u64);
                self.staged.clear();
            } else {
                thread::yield_now();
            }
        }
    }
}

fn plural(count: u16) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Whether the system has reserved huge pages.
fn huge_pages() -> bool {
    let folders = fs::read_dir("/sys/kernel/mm/hugepages").into_iter().flatten().flatten();
    let count = |folder: fs::DirEntry| fs::read_to_string(folder.path().join("nr_hugepages")).ok();
    folders.filter_map(count).any(|count| count.trim() != "0")
}

impl Driver for DpdkDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let (mut count, mut bytes) = (0, 0);
        let mut timestamp_ns = None;
        while count < limit && !self.is_drained {
            let received = self.device.receive((limit - count).min(BUFFERS_MAX), &mut |frame| {
                let Some(frame) = frame else {
                    self.counters.rx_dropped_offload.add(1);
                    return;
                };
                if self.is_virtual {
                    offload::complete_unmarked(frame);
                }
                count += 1;
                bytes += frame.len() as u64;
                deliver(frame, *timestamp_ns.get_or_insert_with(wall_clock_ns));
            });
            if received == 0 {
                self.is_drained = self.is_stopping;
                break;
            }
        }
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        if !self.takes(frame) {
            return Ok(());
        }
        if self.staged.len() == BUFFERS_MAX {
            self.send_staged(FULL_WAIT);
        }
        match self.device.fill(frame) {
            Some(buffer) => self.staged.push(buffer),
            None => self.counters.tx_dropped_no_room.add(1),
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        self.send_staged(FULL_WAIT);
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.is_drained
    }

    fn frame_bytes_max(&self) -> usize {
        self.device.mtu() + ETHERNET_BYTES
    }

    /// DPDK does not report how many frames its device holds: frames up to the first moment without any are
    /// delivered.
    fn stop_receiving(&mut self) {
        self.is_stopping = true;
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        self.further.drain(..).map(|queue| Box::new(queue) as Box<dyn Driver>).collect()
    }

    /// The device counts the losses of all its queues together.
    fn housekeeping(&mut self) -> Result<(), DriverError> {
        if !self.device.is_first() {
            return Ok(());
        }
        let lost = self.device.losses();
        let before = std::mem::replace(&mut self.lost_before, lost);
        self.counters.rx_dropped_no_room.add(lost.saturating_sub(before));
        Ok(())
    }

    fn has_link(&self) -> bool {
        self.device.has_link()
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}
