//! Runs between two pairs of virtual interfaces, in a network namespace of their own.
//!
//! One thread alternates between two roles. As the sender it fills the first pair with frames; as the switch it
//! receives all of them and forwards them to the second pair, at whose far end the system counts and discards them.
//! Both roles therefore work in full bursts, and neither waits for the other. The cost of a frame is reported for
//! each role, as processor time including system calls. The switch's time bounds its forwarding rate. The sender's
//! time includes what the kernel does for the receiver, since the kernel runs the reception of a veth pair in the
//! sender's thread.
//!
//! A run between generators in memory shows the remaining cost when drivers cost next to nothing. Requires root and
//! `ip`.

use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::driver::Arrival;
use live::memory::GeneratorDriver;
use live::store::Store;
use live::tap::TapDriver;
use live::xdp::{Attach, XdpDriver, XdpOptions};
use live::{Clock, Driver, DriverError, NetworkNamespace};
use nix::time::{ClockId, clock_gettime};
use std::fmt;
use std::io;
use std::process::Command;
use std::time::Duration;
use switch::{Output, Switch};

/// Frames in a turn: fewer than the ring of any driver and the queue of a veth pair hold.
const TURN_FRAMES: usize = 192;
/// Turns in a run.
const TURNS: usize = 500;
/// Both ends of the pairs: sender to switch, and switch to an interface whose frames are discarded.
const PAIRS: [[&str; 2]; 2] = [["send0", "in0"], ["out0", "sink0"]];
/// Tap interfaces, whose other end the switch holds: one on which frames are sent, one from which they come out.
const TAPS: [&str; 2] = ["tap-in0", "tap-out0"];
/// The size of an Ethernet header.
const HEADER_BYTES: usize = 14;
/// The MTU of pairs for frames of the usual size, and for longer ones.
const MTU: usize = 1500;
const MTU_JUMBO: usize = 9000;

/// What carries the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A packet socket with rings.
    PacketSocket,
    /// A packet socket without a transmit ring.
    PacketSocketWithoutRing,
    /// An AF_XDP socket.
    Xdp,
    /// An AF_XDP socket whose program runs in the network stack (generic mode).
    XdpGeneric,
    /// Tap interfaces.
    Tap,
    /// Generators in memory.
    Memory,
}

impl Carrier {
    /// All carriers.
    pub const ALL: [Carrier; 6] = [
        Carrier::PacketSocket,
        Carrier::PacketSocketWithoutRing,
        Carrier::Xdp,
        Carrier::XdpGeneric,
        Carrier::Tap,
        Carrier::Memory,
    ];

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Carrier::PacketSocket => "packet socket",
            Carrier::PacketSocketWithoutRing => "packet socket, no ring",
            Carrier::Xdp => "AF_XDP",
            Carrier::XdpGeneric => "AF_XDP, generic",
            Carrier::Tap => "tap",
            Carrier::Memory => "in memory",
        }
    }

    fn open(self, name: &str, frames: &[&[u8]]) -> Result<Box<dyn Driver>, DriverError> {
        let ring = AfPacketOptions::default();
        Ok(match self {
            Carrier::PacketSocket => Box::new(AfPacketDriver::open(name, &ring)?),
            Carrier::PacketSocketWithoutRing => {
                Box::new(AfPacketDriver::open(name, &AfPacketOptions { tx_ring: false, ..ring })?)
            }
            Carrier::Xdp => Box::new(XdpDriver::open(name, &XdpOptions::default())?),
            Carrier::XdpGeneric => {
                Box::new(XdpDriver::open(name, &XdpOptions { attach: Attach::Generic, ..XdpOptions::default() })?)
            }
            Carrier::Tap => Box::new(TapDriver::open(if name == PAIRS[0][1] { TAPS[0] } else { TAPS[1] }, 1)?),
            Carrier::Memory if name == PAIRS[0][1] => {
                Box::new(GeneratorDriver::new(frames.iter().map(|frame| frame.to_vec()).collect(), u64::MAX, 0))
            }
            Carrier::Memory => Box::new(GeneratorDriver::new(Vec::new(), 0, 0)),
        })
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The sender's time per frame, in nanoseconds.
    pub sender_ns: f64,
    /// The switch's time per frame, in nanoseconds.
    pub switch_ns: f64,
    /// Frames that the switch received.
    pub received: u64,
    /// Frames that it sent.
    pub sent: u64,
}

/// Why a run has no result.
#[derive(Debug)]
pub enum Failure {
    /// The interfaces cannot be created.
    Network(String),
    /// A port cannot be opened or has failed.
    Driver(DriverError),
    /// A frame is longer than the interfaces' MTU allows.
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest frame that they carry.
        most: usize,
    },
    /// Fewer frames arrived than were sent.
    Lost {
        /// Frames received.
        received: usize,
        /// Frames sent.
        sent: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Network(why) => write!(f, "cannot make virtual interfaces: {why}"),
            Failure::Driver(error) => error.fmt(f),
            Failure::TooLong { bytes, most } => {
                write!(f, "a frame of {bytes} bytes is longer than the {most} that virtual interfaces carry")
            }
            Failure::Lost { received, sent } => write!(f, "only {received} of {sent} frames came"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Failure {
        Failure::Driver(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Network(error.to_string())
    }
}

/// The two pairs. They are deleted when this value is dropped.
#[derive(Debug)]
pub struct Pairs {
    namespace: NetworkNamespace,
    mtu: usize,
}

impl Pairs {
    /// Creates both for frames of up to 1,514 bytes.
    pub fn new() -> Result<Pairs, Failure> {
        Pairs::with_mtu(MTU)
    }

    /// Creates both for frames of up to `bytes` bytes: as [`Pairs::new`] if that is enough, else for up to 9,014.
    pub fn with_frames_of(bytes: usize) -> Result<Pairs, Failure> {
        Pairs::with_mtu(if bytes <= MTU + HEADER_BYTES { MTU } else { MTU_JUMBO })
    }

    fn with_mtu(mtu: usize) -> Result<Pairs, Failure> {
        let pairs = Pairs { namespace: NetworkNamespace::create()?, mtu };
        pairs.namespace.inside(|| make(mtu))??;
        Ok(pairs)
    }

    /// One run: the switch receives these frames on this port, over and over, and everything that it sends goes to
    /// the second pair.
    pub fn measure(
        &self,
        carrier: Carrier,
        switch: &mut Switch,
        port: u32,
        frames: &[&[u8]],
    ) -> Result<Outcome, Failure> {
        let most = self.mtu + HEADER_BYTES;
        if let Some(frame) = frames.iter().find(|frame| frame.len() > most) {
            return Err(Failure::TooLong { bytes: frame.len(), most });
        }
        self.namespace.inside(|| measure(carrier, switch, port, frames))?
    }
}

fn make(mtu: usize) -> Result<(), Failure> {
    for [first, second] in PAIRS {
        ip(&format!("link add {first} mtu {mtu} type veth peer name {second} mtu {mtu}"))?;
        ip(&format!("link set {first} up"))?;
        ip(&format!("link set {second} up"))?;
    }
    Ok(())
}

fn ip(arguments: &str) -> Result<(), Failure> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| Failure::Network(format!("`ip` of iproute2: {error}")))?;
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(Failure::Network(format!("ip {arguments}: {message}"))) }
}

fn measure(carrier: Carrier, switch: &mut Switch, port: u32, frames: &[&[u8]]) -> Result<Outcome, Failure> {
    let mut drivers = [carrier.open(PAIRS[0][1], frames)?, carrier.open(PAIRS[1][0], frames)?];
    let mut sender: Option<Box<dyn Driver>> = match carrier {
        Carrier::Memory => None,
        Carrier::Tap => Some(Box::new(AfPacketDriver::open(TAPS[0], &AfPacketOptions::default())?)),
        _ => Some(Box::new(AfPacketDriver::open(PAIRS[0][0], &AfPacketOptions::default())?)),
    };
    // Runs follow one another, so the switch's time must continue.
    let (clock, start_ns) = (Clock::start(), switch.now_ns());
    let (mut sending, mut switching) = (Duration::ZERO, Duration::ZERO);
    let (mut received, mut sent, mut store) = (0, 0, Store::default());
    // The first turns only warm everything up.
    for turn in 0..TURNS + TURNS / 10 {
        let start = thread_time()?;
        if let Some(sender) = &mut sender {
            let turn_frames = frames.iter().cycle().skip(turn * TURN_FRAMES % frames.len()).take(TURN_FRAMES);
            turn_frames.clone().try_for_each(|frame| sender.transmit(frame, 0))?;
            sender.flush()?;
        }
        let filled = thread_time()?;
        let now_ns = start_ns + clock.since_start_ns();
        let (frames_in, frames_out) = forward(switch, &mut drivers, &mut store, Arrival { port, time_ns: now_ns })?;
        if turn >= TURNS / 10 {
            sending += filled.saturating_sub(start);
            switching += thread_time()?.saturating_sub(filled);
            received += frames_in;
            sent += frames_out;
        }
    }
    if received < TURN_FRAMES * TURNS * 99 / 100 {
        return Err(Failure::Lost { received, sent: TURN_FRAMES * TURNS });
    }
    let per_frame = |time: Duration| time.as_nanos() as f64 / received as f64;
    Ok(Outcome { sender_ns: per_frame(sending), switch_ns: per_frame(switching), received: received as u64, sent })
}

/// The switch's turn: receives the frames that are there, at most those of one turn, and forwards them. Returns the
/// numbers of frames received and sent.
fn forward(
    switch: &mut Switch,
    drivers: &mut [Box<dyn Driver>; 2],
    store: &mut Store,
    arrival: Arrival,
) -> Result<(usize, u64), DriverError> {
    let [input, output] = drivers;
    let (mut count, mut sent) = (0, 0);
    while count < TURN_FRAMES {
        let mut second = SecondPair { driver: &mut **output, sent: 0, outcome: Ok(()) };
        let received = input.lend(arrival, store, &mut |burst| {
            switch.forward(arrival.time_ns, burst.frames(), &mut second);
        })?;
        if received == 0 {
            break;
        }
        count += received;
        sent += second.sent;
        second.outcome?;
        output.flush()?;
    }
    Ok((count, sent))
}

/// The switch's output: sends all frames to the driver of the second pair.
struct SecondPair<'a> {
    driver: &'a mut dyn Driver,
    sent: u64,
    outcome: Result<(), DriverError>,
}

impl Output for SecondPair<'_> {
    fn transmit(&mut self, _port: u32, frame: &[u8], time_ns: u64) {
        self.sent += 1;
        if self.outcome.is_ok() {
            self.outcome = self.driver.transmit(frame, time_ns);
        }
    }
}

/// The processor time of this thread.
fn thread_time() -> Result<Duration, io::Error> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}
