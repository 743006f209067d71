//! The kernel's TCP as a peer, behind a tunnel interface in a network namespace of its own.
//!
//! The namespace belongs to the thread that makes the tunnel and to the threads that it starts.
#![allow(unsafe_code, reason = "an ioctl makes the tunnel")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use tcp::wire::{self, Addresses, Ports};
use tcp::{Ecn, Segment, payload};

/// The kernel's address.
pub const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// The address of the endpoint.
pub const ENDPOINT: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
/// The keys of what the kernel sends and receives.
pub const SENT_KEY: u64 = 9;
pub const RECEIVED_KEY: u64 = 7;

const INTERFACE: &str = "tunnel0";
const IP_HEADER: usize = 20;

/// A tunnel whose packets a test reads and writes.
pub struct Tunnel {
    device: File,
    buffer: Vec<u8>,
}

/// A segment of the kernel, with its payload.
pub struct Received<'a> {
    pub ports: Ports,
    pub segment: Segment,
    pub payload: &'a [u8],
}

impl Tunnel {
    /// Makes a namespace and a tunnel, or returns why this cannot be done here.
    pub fn new() -> Result<Tunnel, String> {
        let refused = |error: String| format!("needs root (CAP_NET_ADMIN) to make a tunnel: {error}");
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).map_err(|error| refused(error.to_string()))?;
        let opened = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
        let device = opened.map_err(|error| refused(error.to_string()))?;
        attach(&device).map_err(|error| refused(error.to_string()))?;
        for arguments in [format!("addr add {KERNEL}/24 dev {INTERFACE}"), format!("link set {INTERFACE} up")] {
            let status = Command::new("ip").args(arguments.split(' ')).status();
            let status = status.map_err(|_| "needs the program `ip`".to_owned())?;
            assert!(status.success(), "ip {arguments}");
        }
        // Requests ECN, and accepts it.
        std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").map_err(|error| refused(error.to_string()))?;
        Ok(Tunnel { device, buffer: vec![0; 65_536] })
    }

    /// Sends a segment of the endpoint.
    pub fn send(&mut self, ports: Ports, segment: &Segment) {
        let length = IP_HEADER + wire::length(segment);
        let mut packet = vec![0; length];
        packet[0] = 0x45;
        packet[1] = segment.ecn.bits();
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[8] = 64;
        packet[9] = wire::PROTOCOL;
        packet[12..16].copy_from_slice(&ENDPOINT.octets());
        packet[16..20].copy_from_slice(&KERNEL.octets());
        let words = packet[..IP_HEADER].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        let addresses = Addresses::V4 { source: ENDPOINT, destination: KERNEL };
        wire::emit(segment, ports, &addresses, RECEIVED_KEY, &mut packet[IP_HEADER..]);
        // A full queue is a lossy network.
        let _ = self.device.write(&packet);
    }

    /// The next segment of the kernel, if there is one.
    pub fn receive(&mut self) -> Option<Received<'_>> {
        let length = match self.device.read(&mut self.buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
            Err(error) => panic!("the tunnel: {error}"),
        };
        let packet = &self.buffer[..length];
        let is_tcp = packet.first() == Some(&0x45) && packet.get(9) == Some(&wire::PROTOCOL);
        if !is_tcp {
            return None;
        }
        let addresses = Addresses::V4 { source: KERNEL, destination: ENDPOINT };
        let ecn = Ecn::from_bits(packet[1]);
        let (ports, segment, payload) = wire::parse(&packet[IP_HEADER..], &addresses, ecn).unwrap();
        Some(Received { ports, segment, payload })
    }
}

fn attach(device: &File) -> std::io::Result<()> {
    // SAFETY: a request of all zeros is a value of its type.
    let mut argument: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in argument.ifr_name.iter_mut().zip(INTERFACE.bytes()) {
        *slot = byte as libc::c_char;
    }
    argument.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request reads the name and the flags from an `ifreq` and writes the name that was given to it.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &raw mut argument) };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// An application on the kernel's TCP: sends this many bytes and closes, and checks that it receives as many.
pub fn exchange(mut stream: TcpStream, to_send: u64, to_receive: u64) {
    let mut reader = stream.try_clone().unwrap();
    let receiver = std::thread::spawn(move || {
        let (mut position, mut buffer) = (0, [0; 65_536]);
        loop {
            let length = reader.read(&mut buffer).unwrap();
            if length == 0 {
                return position;
            }
            let bytes = &buffer[..length];
            assert_eq!(payload::first_difference(RECEIVED_KEY, position, bytes), None, "from {position}");
            position += length as u64;
        }
    });
    let (mut position, mut buffer) = (0, [0; 65_536]);
    while position < to_send {
        let length = (to_send - position).min(buffer.len() as u64) as usize;
        payload::fill(SENT_KEY, position, &mut buffer[..length]);
        stream.write_all(&buffer[..length]).unwrap();
        position += length as u64;
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receiver.join().unwrap(), to_receive);
}
