//! DPDK's virtual devices. All in one test, since DPDK can be started only once in a process, and opens its devices
//! one after the other.

use super::beds::Bed;
use super::laws;
use live::dpdk::DpdkDriver;
use live::pcap::{CaptureReader, CaptureWriter};
use live::traffic::udp_frame;
use live::{Driver, af_packet};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::netns::Network;

static DEVICES: AtomicU32 = AtomicU32::new(0);

fn open(kind: &str, parameters: &str) -> Box<dyn Driver> {
    open_queues(kind, parameters, None)
}

fn open_queues(kind: &str, parameters: &str, queues: Option<u16>) -> Box<dyn Driver> {
    let number = DEVICES.fetch_add(1, Ordering::Relaxed);
    let description = format!("net_{kind}{number},{parameters}");
    Box::new(DpdkDriver::open(&description, queues).unwrap_or_else(|error| panic!("{description}: {error}")))
}

/// Captures through DPDK.
struct PcapBed {
    folder: TempDir,
    taken: usize,
}

impl PcapBed {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Bed for PcapBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        let mut input = CaptureWriter::create(&self.file("in.pcap")).unwrap();
        frames.iter().for_each(|frame| input.write(frame, 1_600_000_000_000_000_000).unwrap());
        input.flush().unwrap();
        self.taken = 0;
        let (from, to) = (self.file("in.pcap"), self.file("out.pcap"));
        open("pcap", &format!("rx_pcap={},tx_pcap={}", from.display(), to.display()))
    }

    fn send(&mut self, _frames: &[Vec<u8>]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut output = CaptureReader::<File>::open(&self.file("out.pcap")).unwrap();
        let mut frames = Vec::new();
        while let Ok(Some(packet)) = output.next_packet() {
            frames.push(packet.data.to_vec());
        }
        let new = frames.split_off(self.taken.min(frames.len()));
        self.taken += new.len();
        new
    }
}

/// Two ends of shared memory.
struct MemifBed {
    folder: TempDir,
    peer: Option<Box<dyn Driver>>,
}

impl Bed for MemifBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        self.peer = None;
        let socket = self.folder.path().join(DEVICES.load(Ordering::Relaxed).to_string());
        let parameters = |role| format!("role={role},socket={},socket-abstract=no,rsize=10", socket.display());
        let driver = open("memif", &parameters("server"));
        let mut peer = open("memif", &parameters("client"));
        let start = Instant::now();
        while !driver.has_link() || !peer.has_link() {
            assert!(start.elapsed() < Duration::from_secs(10), "the two ends do not meet");
            thread::sleep(Duration::from_millis(5));
        }
        // Only with its first look does the client give the server room to send to.
        peer.receive(1, &mut |_, _| ()).unwrap();
        self.peer = Some(peer);
        self.send(frames);
        driver
    }

    fn send(&mut self, frames: &[Vec<u8>]) -> bool {
        let peer = self.peer.as_mut().unwrap();
        frames.iter().for_each(|frame| peer.transmit(frame, 0).unwrap());
        peer.flush().unwrap();
        true
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let peer = self.peer.as_mut().unwrap();
        peer.receive(usize::MAX, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
        frames
    }

    fn lost_outside(&self) -> u64 {
        self.peer.as_ref().unwrap().counters().snapshot().tx_dropped()
    }
}

/// An interface through DPDK's own packet socket.
struct InterfaceBed {
    network: Network,
    peer: Option<af_packet::AfPacketDriver>,
}

impl Bed for InterfaceBed {
    fn open(&mut self, frames: &[Vec<u8>]) -> Box<dyn Driver> {
        self.peer = None;
        let driver = self.network.inside("switch", || open("af_packet", "iface=sa,blocksz=65536,framesz=2048"));
        let options = af_packet::AfPacketOptions { tx_ring: false, ..Default::default() };
        let peer = self.network.inside("a", || af_packet::AfPacketDriver::open("eth0", &options).unwrap());
        self.peer = Some(peer);
        self.send(frames);
        driver
    }

    fn send(&mut self, frames: &[Vec<u8>]) -> bool {
        let peer = self.peer.as_mut().unwrap();
        frames.iter().for_each(|frame| peer.transmit(frame, 0).unwrap());
        peer.finish().unwrap();
        true
    }

    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let peer = self.peer.as_mut().unwrap();
        peer.receive(usize::MAX, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
        frames
    }
}

/// The frames that a driver receives until there are this many.
fn received(driver: &mut dyn Driver, count: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let start = Instant::now();
    while frames.len() < count && start.elapsed() < Duration::from_secs(10) {
        driver.receive(64, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
    }
    frames
}

/// Devices that make frames, or give back what they are sent.
fn devices_without_an_other_end() {
    let mut null = open("null", "size=60");
    let mut bytes = 0;
    assert_eq!(null.receive(100, &mut |frame, _| bytes += frame.len()).unwrap(), 100);
    assert_eq!(bytes, 6000);
    null.transmit(&[1; 60], 0).unwrap();
    null.finish().unwrap();
    assert_eq!(null.counters().snapshot().tx_packets, 1);
    drop(null);
    let mut ring = open("ring", "");
    ring.transmit(&[7; 99], 0).unwrap();
    ring.flush().unwrap();
    assert_eq!(received(&mut *ring, 1), [[7; 99]], "a ring gives back what it is sent");
    drop(ring);
    let missing = DpdkDriver::open("net_pcap1001,rx_pcap=/no/such/file,tx_pcap=/dev/null", None).unwrap_err();
    let missing = missing.to_string();
    assert!(missing.starts_with("interface `net_pcap1001`: DPDK cannot use it ("), "{missing}");
}

/// Each queue of a device is a driver with frames of its own; the first one's counters are of all.
fn queues_are_apart(folder: &TempDir) {
    let file = |name: &str| folder.path().join(name).display().to_string();
    for (name, byte) in [("in0", 1u8), ("in1", 2)] {
        let mut input = CaptureWriter::create(file(name).as_ref()).unwrap();
        (0..10).for_each(|_| input.write(&[byte; 60], 1_600_000_000_000_000_000).unwrap());
        input.flush().unwrap();
    }
    let [in0, in1, out0, out1] = ["in0", "in1", "out0", "out1"].map(file);
    let mut first = open("pcap", &format!("rx_pcap={in0},rx_pcap={in1},tx_pcap={out0},tx_pcap={out1}"));
    let [second] = &mut first.take_queues()[..] else { panic!("a queue for each pair of files") };
    assert_eq!(received(&mut *first, 10), [[1; 60]; 10]);
    assert_eq!(received(&mut **second, 10), [[2; 60]; 10]);
    second.transmit(&[4; 60], 0).unwrap();
    second.flush().unwrap();
    first.transmit(&[3; 60], 0).unwrap();
    first.flush().unwrap();
    let counted = first.counters().snapshot();
    assert_eq!((counted.rx_packets, counted.tx_packets), (20, 2));
    drop(first);
    // The device is used until its last queue goes.
    second.transmit(&[5; 60], 0).unwrap();
    second.flush().unwrap();
}

fn a_queue_that_is_not_there_is_refused(folder: &TempDir) {
    let file = folder.path().join("in0").display().to_string();
    let description = format!("net_pcap1002,rx_pcap={file},tx_pcap=/dev/null");
    let error = DpdkDriver::open(&description, Some(3)).unwrap_err().to_string();
    assert_eq!(
        error,
        "interface `net_pcap1002`: it has 1 queue, not 3; leave `?queues=` out to use all, or give it more by its own \
         parameters"
    );
    // It left no files.
    DpdkDriver::open(&description, None).unwrap();
    let mut ring = open_queues("ring", "", Some(2));
    assert_eq!(ring.take_queues().len(), 1);
}

/// A packet socket distributes flows over its queues: all frames arrive, those of a flow in one queue and in order.
fn a_packet_socket_has_queues(network: &Network) {
    let parameters = "iface=sa,qpairs=2,blocksz=65536,framesz=2048";
    let mut first = network.inside("switch", || open("af_packet", parameters));
    let mut queues = first.take_queues();
    queues.push(first);
    assert_eq!(queues.len(), 2);
    let options = af_packet::AfPacketOptions { tx_ring: false, ..Default::default() };
    let mut peer = network.inside("a", || af_packet::AfPacketDriver::open("eth0", &options).unwrap());
    for number in 0..20 {
        (0..16).for_each(|flow| peer.transmit(&udp_frame(flow, 64, number), 0).unwrap());
        peer.finish().unwrap();
    }
    let mut flows: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
    let mut count = 0;
    let start = Instant::now();
    while count < 20 * 16 && start.elapsed() < Duration::from_secs(10) {
        for (position, queue) in queues.iter_mut().enumerate() {
            let mut look = |frame: &[u8], _| {
                let word = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
                if frame[12..14] != [8, 0] {
                    return;
                }
                let (queue, next) = flows.entry(word(30)).or_insert((position, 0));
                assert_eq!((*queue, *next), (position, word(42)));
                *next += 1;
                count += 1;
            };
            queue.receive(64, &mut look).unwrap();
        }
    }
    assert_eq!((count, flows.len()), (20 * 16, 16));
    let used: BTreeSet<usize> = flows.values().map(|(queue, _)| *queue).collect();
    assert_eq!(used.len(), 2);
}

#[test]
fn virtual_devices_of_dpdk_conform() {
    let folder = || tempfile::tempdir().unwrap();
    devices_without_an_other_end();
    let files = folder();
    queues_are_apart(&files);
    a_queue_that_is_not_there_is_refused(&files);
    for (name, law) in laws::ALL {
        println!("pcap: {name}");
        law(&mut PcapBed { folder: folder(), taken: 0 }, 1514);
        println!("memif: {name}");
        law(&mut MemifBed { folder: folder(), peer: None }, 1514);
    }
    let mut network = match Network::new(&[]) {
        Ok(network) => network,
        Err(reason) => return testkit::skip(reason),
    };
    network.add("switch");
    network.add("a");
    network.wire(["a", "eth0"], ["switch", "sa"]);
    a_packet_socket_has_queues(&network);
    let mut bed = InterfaceBed { network, peer: None };
    for law in
        [laws::frames_of_every_size_pass_both_ways, laws::bursts_keep_their_order, laws::a_port_can_be_opened_again]
    {
        law(&mut bed, 1514);
    }
}
