//! Test beds: a driver under test, and a peer at its other end that sends and receives frames.

use base::limits::TIMER_PERIOD_NS_MAX;
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::memory::{GeneratorDriver, MemoryPeer, memory_port};
use live::pcap::{CaptureDriver, CaptureReader, CaptureWriter};
use live::tap::TapDriver;
use live::timer::TimerDriver;
use live::xdp::{Attach, Copying, XdpDriver, XdpOptions};
use live::{Driver, RecordedDriver};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use switch::timers::Timer;
use tempfile::TempDir;
use testkit::netns::Network;

/// The other end of a driver under test.
pub trait Bed {
    /// Opens the driver, with frames on their way to it.
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver>;

    /// Sends more frames to an open driver; false if that cannot be done.
    fn send(&mut self, frames: &[Vec<u8>]) -> bool;

    /// The frames that the driver has sent since it was opened, or since the last call.
    fn take(&mut self) -> Vec<Vec<u8>>;

    /// Whether frames can come to the driver.
    fn has_input(&self) -> bool {
        true
    }

    /// What happens to frames that the driver is given to send.
    fn output(&self) -> Output {
        Output::Arrives
    }

    /// The interface behind the driver.
    fn link(&mut self) -> Option<Link<'_>> {
        None
    }

    /// The most frames that may be in transit at once.
    fn burst_max(&self) -> usize {
        256
    }

    /// Frames for the driver that were lost before they reached it, if the system counts them.
    fn lost_outside(&self) -> u64 {
        0
    }
}

/// What happens to frames that a driver is given to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// They reach the other end.
    Arrives,
    /// They are counted as sent and dropped.
    Counted,
    /// They are counted as sent to a port without output.
    Nowhere,
}

/// An interface that a test can change.
pub struct Link<'a> {
    /// Its location.
    pub network: &'a Network,
    /// Its name; its namespace is `switch`.
    pub name: &'a str,
}

/// A port in memory.
#[derive(Default)]
pub struct MemoryBed {
    peer: Option<MemoryPeer>,
}

impl Bed for MemoryBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        let (driver, peer) = memory_port();
        self.peer = Some(peer);
        self.send(frames);
        Box::new(driver)
    }

    fn send(&mut self, frames: &[Vec<u8>]) -> bool {
        let peer = self.peer.as_ref().unwrap();
        frames.iter().for_each(|frame| peer.send(frame, 1));
        true
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        self.peer.as_ref().unwrap().take().into_iter().map(|(frame, _)| frame).collect()
    }
}

/// Capture files in and out, in the format of the extension.
pub struct CaptureBed {
    folder: TempDir,
    ending: &'static str,
    taken: usize,
}

impl CaptureBed {
    pub fn new(ending: &'static str) -> CaptureBed {
        CaptureBed { folder: tempfile::tempdir().unwrap(), ending, taken: 0 }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.{}", self.ending))
    }
}

impl Bed for CaptureBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        let mut input = CaptureWriter::create(&self.file("in")).unwrap();
        frames.iter().for_each(|frame| input.write(frame, 1_600_000_000_000_000_000).unwrap());
        input.flush().unwrap();
        self.taken = 0;
        Box::new(CaptureDriver::open(Some(&self.file("in")), Some(&self.file("out"))).unwrap())
    }

    fn send(&mut self, _frames: &[Vec<u8>]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut output = CaptureReader::<File>::open(&self.file("out")).unwrap();
        let mut frames = Vec::new();
        // The file may end in the middle of what is still buffered.
        while let Ok(Some(packet)) = output.next_packet() {
            frames.push(packet.data.to_vec());
        }
        let new = frames.split_off(self.taken);
        self.taken += new.len();
        new
    }
}

/// A timer that ticks once within a test and brings the frames.
pub struct TimerBed;

impl Bed for TimerBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        let timer = Arc::new(Timer::new(1_000, frames.to_vec()).unwrap());
        let mut driver = Box::new(TimerDriver::open(Arc::clone(&timer), 1).unwrap());
        // After the first tick, the next one is a day away.
        thread::sleep(Duration::from_millis(2));
        driver.receive(0, &mut |_, _| ()).unwrap();
        timer.set(TIMER_PERIOD_NS_MAX, Vec::new()).unwrap();
        driver
    }

    fn send(&mut self, _frames: &[Vec<u8>]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn output(&self) -> Output {
        Output::Nowhere
    }
}

/// A generator of the frames that it is opened with.
pub struct GeneratorBed;

impl Bed for GeneratorBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        Box::new(GeneratorDriver::new(frames.to_vec(), frames.len() as u64, 1_000))
    }

    fn send(&mut self, _frames: &[Vec<u8>]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn output(&self) -> Output {
        Output::Counted
    }
}

/// A null port.
pub struct NullBed;

impl Bed for NullBed {
    fn open(&mut self, _frames: &[Vec<u8>]) -> Box<dyn Driver> {
        Box::new(CaptureDriver::open(None, None).unwrap())
    }

    fn send(&mut self, _frames: &[Vec<u8>]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn has_input(&self) -> bool {
        false
    }

    fn output(&self) -> Output {
        Output::Nowhere
    }
}

/// Which driver is on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    AfPacket,
    AfPacketWithoutRing,
    Recorded,
    Xdp(Attach, Copying),
    Tap,
}

impl Kind {
    fn open(self, name: &str, folder: &TempDir) -> Box<dyn Driver> {
        let ring = AfPacketOptions::default();
        match self {
            Kind::AfPacket => Box::new(AfPacketDriver::open(name, &ring).unwrap()),
            Kind::AfPacketWithoutRing => {
                Box::new(AfPacketDriver::open(name, &AfPacketOptions { tx_ring: false, ..ring }).unwrap())
            }
            Kind::Recorded => {
                let inner = Box::new(AfPacketDriver::open(name, &ring).unwrap());
                Box::new(RecordedDriver::create(inner, folder.path(), name).unwrap())
            }
            Kind::Xdp(attach, copying) => {
                let options = XdpOptions { attach, copying, queues: None };
                Box::new(XdpDriver::open(name, &options).unwrap())
            }
            Kind::Tap => Box::new(TapDriver::open(name, 1).unwrap()),
        }
    }
}

/// An interface in the namespace `switch`; at its other end a packet socket, which the other tests have shown to work.
pub struct InterfaceBed {
    pub network: Network,
    kind: Kind,
    peer: Option<AfPacketDriver>,
    folder: TempDir,
}

impl InterfaceBed {
    /// The interface `sa` with an MTU; `None`, with a message, if the machine lacks a feature.
    pub fn new(kind: Kind, mtu: usize) -> Result<InterfaceBed, String> {
        let mut network = Network::new(&[])?;
        network.add("switch");
        network.add("a");
        match kind {
            // The name can be taken again, as by a switch that is restarted.
            Kind::Tap => {
                network.run("switch", "ip tuntap add sa mode tap");
                network.set_ipv6("switch", "sa", false);
                network.run("switch", &format!("ip link set sa mtu {mtu}"));
            }
            _ => {
                network.wire(["a", "eth0"], ["switch", "sa"]);
                network.run("a", &format!("ip link set eth0 mtu {mtu}"));
                network.run("switch", &format!("ip link set sa mtu {mtu}"));
            }
        }
        Ok(InterfaceBed { network, kind, peer: None, folder: tempfile::tempdir().unwrap() })
    }

    /// The location of the other end: for a tap interface, the interface itself.
    pub fn other_end(&self) -> [&'static str; 2] {
        if self.kind == Kind::Tap { ["switch", "sa"] } else { ["a", "eth0"] }
    }
}

impl Bed for InterfaceBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        self.peer = None;
        let driver = self.network.inside("switch", || self.kind.open("sa", &self.folder));
        let [namespace, name] = self.other_end();
        let options = AfPacketOptions { tx_ring: false, rx_ring_bytes: 32 << 20, ..AfPacketOptions::default() };
        self.peer = Some(self.network.inside(namespace, || AfPacketDriver::open(name, &options).unwrap()));
        self.send(frames);
        driver
    }

    fn send(&mut self, frames: &[Vec<u8>]) -> bool {
        let peer = self.peer.as_mut().unwrap();
        frames.iter().for_each(|frame| peer.transmit(frame, 0).unwrap());
        peer.finish().unwrap();
        assert_eq!(peer.counters().snapshot().tx_dropped(), 0, "the test's own frames");
        true
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let peer = self.peer.as_mut().unwrap();
        peer.receive(usize::MAX, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
        frames
    }

    fn link(&mut self) -> Option<Link<'_>> {
        Some(Link { network: &self.network, name: "sa" })
    }

    fn lost_outside(&self) -> u64 {
        if self.kind == Kind::Tap {
            return 0;
        }
        let [namespace, name] = self.other_end();
        // The interface at the other end counts the frames that did not fit into this one's queue.
        let counters = self.network.run(namespace, &format!("ip -s -s link show {name}"));
        let mut lines = counters.lines().skip_while(|line| !line.trim_start().starts_with("TX:"));
        let numbers = lines.nth(1).unwrap_or_default();
        numbers.split_whitespace().nth(3).and_then(|dropped| dropped.parse().ok()).unwrap_or(0)
    }
}
