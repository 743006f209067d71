//! DPDK's virtual devices. All in one test: DPDK is one in a process, and opens its devices one after the other.

use super::beds::Bed;
use super::laws;
use live::dpdk::DpdkDriver;
use live::pcap::{CaptureReader, CaptureWriter};
use live::{Driver, af_packet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::netns::Network;

static DEVICES: AtomicU32 = AtomicU32::new(0);

fn open(kind: &str, parameters: &str) -> Box<dyn Driver> {
    let number = DEVICES.fetch_add(1, Ordering::Relaxed);
    let description = format!("net_{kind}{number},{parameters}");
    Box::new(DpdkDriver::open(&description).unwrap_or_else(|error| panic!("{description}: {error}")))
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

#[test]
fn virtual_devices_of_dpdk_conform() {
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
    let mut frames = Vec::new();
    ring.receive(64, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
    assert_eq!(frames, [[7; 99]], "a ring gives back what it is sent");
    drop(ring);

    let missing = DpdkDriver::open("net_pcap1001,rx_pcap=/no/such/file,tx_pcap=/dev/null").unwrap_err().to_string();
    assert!(missing.starts_with("interface `net_pcap1001`: DPDK cannot use it ("), "{missing}");

    let folder = || tempfile::tempdir().unwrap();
    for (name, law) in laws::ALL {
        println!("pcap: {name}");
        law(&mut PcapBed { folder: folder(), taken: 0 }, 1514);
        println!("memif: {name}");
        law(&mut MemifBed { folder: folder(), peer: None }, 1514);
    }
    let mut network = match Network::new(&[]) {
        Ok(network) => network,
        Err(reason) => return println!("{reason}"),
    };
    network.add("switch");
    network.add("a");
    network.wire(["a", "eth0"], ["switch", "sa"]);
    let mut bed = InterfaceBed { network, peer: None };
    for law in
        [laws::frames_of_every_size_pass_both_ways, laws::bursts_keep_their_order, laws::a_port_can_be_opened_again]
    {
        law(&mut bed, 1514);
    }
}
