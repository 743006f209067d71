//! Runs between two pairs of virtual interfaces, in a network namespace of their own.
//!
//! One thread takes turns: as a sender it fills the first pair with frames, as the switch it receives and forwards all
//! of them to the second pair, at whose end the system counts and throws away. So both do what they do in full bursts,
//! and neither waits for the other. What a frame takes is told for both turns, as processor time with system calls: the
//! switch's turn is what its thread takes, and bounds what it forwards; the sender's has in it what the kernel does for
//! the receiver, since it runs a veth pair's reception there.
//!
//! The same between generators in memory shows what is left when drivers cost next to nothing. Needs root and `ip`.

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

/// Frames in a turn: fewer than any driver's ring holds, and than the queue of a veth pair.
const TURN_FRAMES: usize = 192;
/// Turns of a run.
const TURNS: usize = 500;
/// Both ends of the pairs: sender and switch, switch and nobody.
const PAIRS: [[&str; 2]; 2] = [["send0", "in0"], ["out0", "sink0"]];
/// Interfaces whose other end the switch has: one that frames are sent on, one that they come out of.
const TAPS: [&str; 2] = ["tap-in0", "tap-out0"];
/// What a frame has before its payload.
const HEADER_BYTES: usize = 14;
/// The longest payloads of pairs that carry usual frames, and of others.
const MTU: usize = 1500;
const MTU_JUMBO: usize = 9000;

/// Who carries the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A packet socket with rings.
    PacketSocket,
    /// A packet socket without a ring for sending.
    PacketSocketWithoutRing,
    /// An AF_XDP socket.
    Xdp,
    /// An AF_XDP socket whose program runs in the network stack.
    XdpGeneric,
    /// Tap interfaces.
    Tap,
    /// Generators in memory.
    Memory,
}

impl Carrier {
    /// All of them.
    pub const ALL: [Carrier; 6] = [
        Carrier::PacketSocket,
        Carrier::PacketSocketWithoutRing,
        Carrier::Xdp,
        Carrier::XdpGeneric,
        Carrier::Tap,
        Carrier::Memory,
    ];

    /// For people.
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

/// What one run has shown.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// What a frame took of the sender, in nanoseconds.
    pub sender_ns: f64,
    /// What it took of the switch.
    pub switch_ns: f64,
    /// Frames that the switch received.
    pub received: u64,
    /// Frames that it sent.
    pub sent: u64,
}

/// Why there is no outcome.
#[derive(Debug)]
pub enum Failure {
    /// The interfaces cannot be made.
    Network(String),
    /// A port cannot be opened or goes no further.
    Driver(DriverError),
    /// A frame is longer than the interfaces carry.
    TooLong {
        /// How long.
        bytes: usize,
        /// What they carry.
        most: usize,
    },
    /// Fewer frames came than were sent.
    Lost {
        /// How many came.
        received: usize,
        /// How many were sent.
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

/// The pairs. They are gone when this is.
#[derive(Debug)]
pub struct Pairs {
    namespace: NetworkNamespace,
    mtu: usize,
}

impl Pairs {
    /// Makes both, for frames of up to 1,514 bytes.
    pub fn new() -> Result<Pairs, Failure> {
        Pairs::with_mtu(MTU)
    }

    /// Makes both for frames of so many bytes: as with [`Pairs::new`] if these are enough, else for up to 9,014.
    pub fn with_frames_of(bytes: usize) -> Result<Pairs, Failure> {
        Pairs::with_mtu(if bytes <= MTU + HEADER_BYTES { MTU } else { MTU_JUMBO })
    }

    fn with_mtu(mtu: usize) -> Result<Pairs, Failure> {
        let pairs = Pairs { namespace: NetworkNamespace::create()?, mtu };
        pairs.namespace.inside(|| make(mtu))??;
        Ok(pairs)
    }

    /// One run: the switch gets these frames by this port, again and again, and whatever it sends goes to the second
    /// pair.
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
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(Failure::Network(format!("ip {arguments}: {complaint}"))) }
}

fn measure(carrier: Carrier, switch: &mut Switch, port: u32, frames: &[&[u8]]) -> Result<Outcome, Failure> {
    let mut drivers = [carrier.open(PAIRS[0][1], frames)?, carrier.open(PAIRS[1][0], frames)?];
    let mut sender: Option<Box<dyn Driver>> = match carrier {
        Carrier::Memory => None,
        Carrier::Tap => Some(Box::new(AfPacketDriver::open(TAPS[0], &AfPacketOptions::default())?)),
        _ => Some(Box::new(AfPacketDriver::open(PAIRS[0][0], &AfPacketOptions::default())?)),
    };
    // Runs follow one another, and the switch's time with them.
    let (clock, start_ns) = (Clock::start(), switch.now_ns());
    let (mut sending, mut switching) = (Duration::ZERO, Duration::ZERO);
    let (mut received, mut sent, mut store) = (0, 0, Store::default());
    // The first turns warm everything up.
    for turn in 0..TURNS + TURNS / 10 {
        let start = thread_time()?;
        if let Some(sender) = &mut sender {
            let turn_frames = frames.iter().cycle().skip(turn * TURN_FRAMES % frames.len()).take(TURN_FRAMES);
            turn_frames.clone().try_for_each(|frame| sender.transmit(frame, 0))?;
            sender.flush()?;
        }
        let filled = thread_time()?;
        let now_ns = start_ns + clock.since_start_ns();
        let (came, went) = forward(switch, &mut drivers, &mut store, Arrival { port, time_ns: now_ns })?;
        if turn >= TURNS / 10 {
            sending += filled.saturating_sub(start);
            switching += thread_time()?.saturating_sub(filled);
            received += came;
            sent += went;
        }
    }
    if received < TURN_FRAMES * TURNS * 99 / 100 {
        return Err(Failure::Lost { received, sent: TURN_FRAMES * TURNS });
    }
    let per_frame = |time: Duration| time.as_nanos() as f64 / received as f64;
    Ok(Outcome { sender_ns: per_frame(sending), switch_ns: per_frame(switching), received: received as u64, sent })
}

/// The switch's turn: receives what is there, at most a turn's frames, and forwards it. Tells how many came and went.
fn forward(
    switch: &mut Switch,
    drivers: &mut [Box<dyn Driver>; 2],
    store: &mut Store,
    arrival: Arrival,
) -> Result<(usize, u64), DriverError> {
    let [input, output] = drivers;
    let (mut count, mut sent) = (0, 0);
    while count < TURN_FRAMES {
        let mut second = Second { driver: &mut **output, sent: 0, outcome: Ok(()) };
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

/// Where the switch's frames go: all to the second pair's driver.
struct Second<'a> {
    driver: &'a mut dyn Driver,
    sent: u64,
    outcome: Result<(), DriverError>,
}

impl Output for Second<'_> {
    fn transmit(&mut self, _port: u32, frame: &[u8], time_ns: u64) {
        self.sent += 1;
        if self.outcome.is_ok() {
            self.outcome = self.driver.transmit(frame, time_ns);
        }
    }
}

/// Time of a processor that this thread has taken.
fn thread_time() -> Result<Duration, io::Error> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}
