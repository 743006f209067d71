//! The jobs of both switches in hand-written C, `peers/aggregation.c`, beside the programs.
//!
//! What enters: the packets that a switch gets, and what it has sent. What leaves: the processor time that the C takes
//! for the same packets; or an error, if it has sent anything else.

#![allow(unsafe_code, reason = "calls functions of a shared object that was compiled from this repository's own text")]

use super::design::{self, By, Design, TIMER};
use super::{CHUNK, OUT};
use crate::growth::processor_time;
use crate::limit::LimitObject;
use measure::traffic::Trace;
use std::error::Error;
use std::ffi::c_void;
use std::time::Duration;

/// The alignment of a frame, and the bytes that may be read behind one.
const LINE_BYTES: usize = 64;

/// The memory for the frames of a chunk that leave: their number, and the bytes of all.
const PLACES: usize = 2 * CHUNK as usize;
const RING_BYTES: usize = PLACES * 4 * LINE_BYTES;

/// A time after which nothing is held any longer.
const END_US: u64 = 1 << 62;

/// The tables of `peers/aggregation.c`.
const ROUTE: u32 = 0;
const CLASS: u32 = 2;
const TUNNEL: u32 = 3;
const PEER: u32 = 4;
const HOPS: u32 = 5;
const TOGETHER: u32 = 6;
const APART: u32 = 7;
const TICKS: u32 = 8;

/// An entry: a table and its arguments.
type Entry = (u32, [u32; 7]);

/// The addresses of the server, of its network, and of both ends of the tunnel.
const SERVER: u32 = 0x0a00_0101;
const NETWORK: u32 = 0x0a00_0100;
const NEAR: u32 = 0xc000_0201;
const FAR: u32 = 0xc000_0202;

/// `struct frame` of the peer.
#[repr(C)]
struct Arrived {
    bytes: *const u8,
    length: u32,
    port: u32,
}

/// `struct place` of the peer.
#[derive(Clone)]
#[repr(C)]
struct Place {
    start: u64,
    length: u32,
    port: u32,
}

/// `struct output` of the peer.
#[repr(C)]
struct Output {
    bytes: *mut u8,
    places: *mut Place,
    used: u64,
    capacity: u64,
    count: u64,
    places_capacity: u64,
}

type Run = unsafe extern "C" fn(*mut c_void, *const Arrived, u64, u64, *mut Output);

/// What one of both switches does, its latest output, and its processor time.
struct Hand {
    made: LimitObject,
    function: &'static [u8],
    ring: Vec<u8>,
    places: Vec<Place>,
    sent: usize,
    worked: Duration,
}

impl Hand {
    fn new(design: Design, entries: &[Entry], start_number: u32) -> Result<Hand, Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u32, *const u32);
        let made = LimitObject::new(include_str!("../../peers/aggregation.c"), start_number)?;
        for (table, arguments) in entries {
            // SAFETY: the function has this type and reads at most as many arguments; see `peers/aggregation.c`.
            unsafe { made.library.get::<Add>(b"limit_add")?(made.it, *table, arguments.as_ptr()) };
        }
        let function: &[u8] = match design.by {
            By::Fixed { .. } => b"limit_fixed",
            By::Variable { .. } => b"limit_variable",
            By::Gateway => b"limit_gateway",
        };
        // Written once, so that the kernel has given the memory before anything is measured.
        let (ring, places) = (vec![1; RING_BYTES], vec![Place { start: 1, length: 1, port: 1 }; PLACES]);
        Ok(Hand { made, function, ring, places, sent: 0, worked: Duration::ZERO })
    }

    /// Works on these packets at this time. The output must be `expected`.
    fn pass(&mut self, packets: &Trace, now_us: u64, expected: &Trace) -> Result<(), Box<dyn Error>> {
        let (mut memory, mut list) = (Vec::new(), Vec::new());
        for (port, frame) in packets.frames() {
            list.push((memory.len(), frame.len() as u32, port));
            memory.extend_from_slice(frame);
            memory.resize(memory.len().next_multiple_of(LINE_BYTES), 0);
        }
        memory.resize(memory.len() + LINE_BYTES, 0);
        let arrived =
            |&(start, length, port): &(usize, u32, u32)| Arrived { bytes: memory[start..].as_ptr(), length, port };
        let arrived: Vec<Arrived> = list.iter().map(arrived).collect();
        let mut output = Output {
            bytes: self.ring.as_mut_ptr(),
            places: self.places.as_mut_ptr(),
            used: 0,
            capacity: self.ring.len() as u64,
            count: 0,
            places_capacity: self.places.len() as u64,
        };
        // SAFETY: the function has this type.
        let run = unsafe { self.made.library.get::<Run>(self.function)? };
        let began = processor_time();
        // SAFETY: the frames are in `memory`, with as many bytes behind them as it may read, and the output has the
        // capacities that it states.
        unsafe { run(self.made.it, arrived.as_ptr(), arrived.len() as u64, now_us, &mut output) };
        self.worked += processor_time().saturating_sub(began);
        self.sent = output.count as usize;
        self.check(expected)
    }

    fn frames(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let frame = |place: &Place| &self.ring[place.start as usize..][..place.length as usize];
        self.places[..self.sent].iter().map(move |place| (place.port, frame(place)))
    }

    /// The output must be that of the switch, in the same order.
    fn check(&self, expected: &Trace) -> Result<(), Box<dyn Error>> {
        if self.sent != expected.len() {
            return Err(format!("{} frames were sent by hand and {} by the switch", self.sent, expected.len()).into());
        }
        match self.frames().zip(expected.frames()).position(|(ours, expected)| ours != expected) {
            Some(number) => Err(format!("frame {number} of a chunk is another by hand than by the switch").into()),
            None => Ok(()),
        }
    }
}

/// Both switches' jobs by hand.
pub struct Hands {
    design: Design,
    together: Hand,
    apart: Hand,
}

impl Hands {
    /// For designs that exist by hand; the number of the first switch's start is `start_number`.
    pub fn new(design: Design, start_number: u32) -> Result<Option<Hands>, Box<dyn Error>> {
        if !matches!(
            design.by,
            By::Gateway | By::Variable { is_packed: false } | By::Fixed { messages: 8, by_multicast: false }
        ) {
            return Ok(None);
        }
        let together = Hand::new(design, &together(design), start_number)?;
        let apart = Hand::new(design, &apart(design), start_number)?;
        Ok(Some(Hands { design, together, apart }))
    }

    /// The first switch is started anew, and has lost what it held.
    pub fn restart(&mut self, start_number: u32) -> Result<(), Box<dyn Error>> {
        let worked = self.together.worked;
        self.together = Hand::new(self.design, &together(self.design), start_number)?;
        self.together.worked = worked;
        Ok(())
    }

    /// The first switch has sent `large` for these packets.
    pub fn together(&mut self, packets: &Trace, large: &Trace) -> Result<(), Box<dyn Error>> {
        self.together.pass(packets, 0, large)
    }

    /// It has sent this while no more packets came.
    pub fn flush(&mut self, large: &Trace) -> Result<(), Box<dyn Error>> {
        let mut packets = Trace::default();
        if matches!(self.design.by, By::Variable { .. }) {
            packets.push(TIMER, &design::udp_frame(&[0x0c]));
        }
        self.together.pass(&packets, END_US, large)
    }

    /// The second switch has sent `small` for these aggregates.
    pub fn apart(&mut self, large: &Trace, small: &Trace) -> Result<(), Box<dyn Error>> {
        let mut arrived = Trace::default();
        large.frames().for_each(|(_, frame)| {
            arrived.push(OUT, frame);
        });
        self.apart.pass(&arrived, 0, small)
    }

    /// The processor time of both for the packets that passed each.
    pub fn worked(&self) -> [Duration; 2] {
        [self.together.worked, self.apart.worked]
    }
}

/// The entries of the first switch.
fn together(design: Design) -> Vec<Entry> {
    let route = (ROUTE, [NETWORK, 24, OUT, 0, 0, 0, 0]);
    let collected = (TOGETHER, [SERVER, design::SERVER_PORT.into(), 0, 0, 0, 0, 0]);
    match design.by {
        By::Fixed { .. } => vec![route, collected],
        By::Variable { .. } => vec![route, collected, (TICKS, [TIMER, 0, 0, 0, 0, 0, 0])],
        By::Gateway => vec![
            (HOPS, [0; 7]),
            route,
            (CLASS, [NETWORK, 0xffff_ff00, 5000, 5009, 3, 200, 20_000]),
            (TUNNEL, [3, OUT, design.mtu_bytes() as u32, NEAR, FAR, 7, 0]),
        ],
    }
}

/// The entries of the second switch.
fn apart(design: Design) -> Vec<Entry> {
    let route = (ROUTE, [NETWORK, 24, OUT, 0, 0, 0, 0]);
    match design.by {
        By::Gateway => vec![(HOPS, [0; 7]), route, (PEER, [NEAR, FAR, 7, 0, 0, 0, 0])],
        _ => vec![route, (APART, [SERVER, design::SERVER_PORT.into(), OUT, 0, 0, 0, 0])],
    }
}
