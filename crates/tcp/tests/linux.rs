//! Transfers to and from the kernel's TCP, over a network that loses, repeats, reorders and marks.

use crate::support::kernel::{self, Tunnel};
use base::{Rng, Time};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use tcp::wire::Ports;
use tcp::{Config, Congestion, Connection, Ecn, Event, Segment, State, payload};

/// What each side sends.
const BYTES: u64 = 700_000;
/// No transfer takes so long, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(120);

/// A port without a listener in the new namespace.
const PORT: u16 = 5000;

struct Transfer<'a> {
    tunnel: &'a mut Tunnel,
    rng: Rng,
    /// In 1/1000 of the segments of both directions.
    impaired: u64,
    start: Instant,
    connection: Connection,
    /// As the endpoint sends.
    ports: Ports,
    late: Option<Segment>,
    to_write: u64,
    read: u64,
    has_closed: bool,
}

impl Transfer<'_> {
    fn now(&self) -> Time {
        Time::from_ns(self.start.elapsed().as_nanos() as u64)
    }

    /// Runs until the endpoint needs nothing any more but time.
    fn run(&mut self) {
        while !matches!(self.connection.state(), State::TimeWait | State::Closed) {
            assert!(self.start.elapsed() < DEADLINE, "{:?}", self.connection);
            self.act();
            let now = self.now();
            while let Some(segment) = self.connection.poll_transmit(now) {
                self.send(segment);
            }
            while let Some(event) = self.connection.poll_event() {
                assert!(!matches!(event, Event::Reset | Event::TimedOut), "{event:?}");
            }
            if !self.receive() {
                thread::sleep(Duration::from_micros(100));
            }
            self.connection.on_timer(self.now());
        }
        self.act();
        // The last acknowledgment.
        self.impaired = 0;
        while let Some(segment) = self.connection.poll_transmit(self.now()) {
            self.send(segment);
        }
    }

    /// The application.
    fn act(&mut self) {
        self.to_write -= self.connection.write(self.to_write);
        self.read += self.connection.read(u64::MAX);
        let is_open = matches!(self.connection.state(), State::Established | State::CloseWait);
        if self.to_write == 0 && is_open && !self.has_closed {
            self.connection.close();
            self.has_closed = true;
        }
    }

    fn happens(&mut self) -> bool {
        self.rng.chance(self.impaired, 1000)
    }

    fn send(&mut self, mut segment: Segment) {
        if segment.ecn == Ecn::Ect0 && self.happens() {
            segment.ecn = Ecn::Ce;
        }
        if self.happens() {
            return;
        }
        if self.late.is_none() && self.happens() {
            self.late = Some(segment);
            return;
        }
        let copies = 1 + usize::from(self.happens());
        for segment in [segment].repeat(copies).into_iter().chain(self.late.take()) {
            self.tunnel.send(self.ports, &segment);
        }
    }

    /// Takes a segment. False if there is none.
    fn receive(&mut self) -> bool {
        let now = self.now();
        let (is_lost, is_marked) = (self.happens(), self.happens());
        let Some(received) = self.tunnel.receive() else { return false };
        let mut segment = received.segment;
        if is_lost || received.ports.destination != self.ports.source {
            return true;
        }
        if segment.ecn == Ecn::Ect0 && is_marked {
            segment.ecn = Ecn::Ce;
        }
        // The endpoint learns the kernel's port when that opens the connection.
        self.ports.destination = received.ports.source;
        let position = self.connection.stream_position(&segment);
        assert_eq!(payload::first_difference(kernel::SENT_KEY, position, received.payload), None, "from {position}");
        self.connection.on_segment(now, &segment);
        true
    }
}

fn transfer(tunnel: &mut Tunnel, config: &Config, is_active: bool, impaired: u64, seed: u64) -> tcp::Statistics {
    let mut rng = Rng::new(seed);
    let initial = rng.next_u64() as u32;
    // A port of its own for each transfer: the kernel remembers connections for a while.
    let ports = Ports { source: 2000 + seed as u16, destination: PORT };
    let peer = if is_active {
        let listener = TcpListener::bind((kernel::KERNEL, PORT)).unwrap();
        thread::spawn(move || kernel::exchange(listener.accept().unwrap().0, BYTES, BYTES))
    } else {
        let address = (kernel::ENDPOINT, ports.source);
        thread::spawn(move || kernel::exchange(TcpStream::connect(address).unwrap(), BYTES, BYTES))
    };
    let connection = match is_active {
        true => Connection::connect(config, initial),
        false => Connection::listen(config, initial),
    };
    let (start, late) = (Instant::now(), None);
    let mut transfer =
        Transfer { tunnel, rng, impaired, start, connection, ports, late, to_write: BYTES, read: 0, has_closed: false };
    transfer.run();
    assert_eq!(transfer.read, BYTES);
    peer.join().unwrap();
    transfer.connection.statistics()
}

#[test]
fn the_kernel_understands_the_endpoint() {
    // A thread of its own, because it changes its namespace.
    let run = thread::spawn(|| {
        let mut tunnel = match Tunnel::new() {
            Ok(tunnel) => tunnel,
            Err(reason) => return Some(reason),
        };
        let linux = Config::default();
        let newreno = Config { congestion: Congestion::NewReno, sack: false, timestamps: false, prr: false, ..linux };
        let small = Config { receive_buffer_bytes: 20_000, window_scaling: false, rack: false, ..linux };
        let dctcp = Config { congestion: Congestion::Dctcp, ..linux };
        let (mut seed, mut retransmitted, mut marked) = (0, 0, 0);
        for config in [linux, newreno, small, dctcp] {
            for (is_active, impaired) in [(true, 0), (false, 0), (true, 15), (false, 15)] {
                seed += 1;
                let counters = transfer(&mut tunnel, &config, is_active, impaired, seed).counters;
                retransmitted += counters.retransmitted_bytes;
                marked += counters.ce_received.min(counters.ecn_reductions);
            }
        }
        assert!(retransmitted > 0 && marked > 0, "{retransmitted}, {marked}: the network does nothing");
        None
    });
    if let Some(reason) = run.join().unwrap() {
        skipped::skip(reason);
    }
}
