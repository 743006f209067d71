//! Hand-written C as the limit of what is possible: `router.c`, `bridge.c`, `vxlan.c`, `zipline.c` and
//! `usecases.c` of `peers`, compiled and called; and the means to do so with others.

#![allow(unsafe_code, reason = "calls functions of a shared object that was compiled from this repository's own text")]

use crate::works::Work;
use cgen::CompileOptions;
use libloading::{Library, Symbol};
use live::traffic::Routes;
use measure::traffic::Trace;
use std::error::Error;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// The size of a frame in bytes.
pub const FRAME_BYTES: usize = 60;

/// Consecutive frames of the same size.
#[derive(Clone)]
pub struct Frames {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// The number of bytes from one frame to the next.
    pub stride: usize,
}

impl Frames {
    /// The number of frames.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.stride
    }

    /// The frames, received on port 1.
    pub fn trace(&self) -> Trace {
        let mut trace = Trace::default();
        for frame in self.frames() {
            assert!(trace.push(1, frame), "a benchmark's frames fit into a trace");
        }
        trace
    }

    /// The frames, of [`FRAME_BYTES`] each.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(self.stride).map(|frame| &frame[..FRAME_BYTES])
    }
}

/// The object that `limit_new` of a file in `peers` has created, with the library of its functions.
pub struct LimitObject {
    /// The functions.
    pub library: Library,
    /// The object.
    pub it: *mut c_void,
}

impl LimitObject {
    /// Compiles the text, and creates the object with this argument.
    pub fn new(text: &str, size: u32) -> Result<LimitObject, Box<dyn Error>> {
        let library = library(text)?;
        // SAFETY: the function has the type that it is given here; see `peers`.
        let it = unsafe { library.get::<New>(b"limit_new")?(size) };
        Ok(LimitObject { library, it })
    }
}

impl Drop for LimitObject {
    fn drop(&mut self) {
        // SAFETY: the object was created by the same library and is not used any more.
        unsafe {
            if let Ok(free) = self.library.get::<unsafe extern "C" fn(*mut c_void)>(b"limit_free") {
                free(self.it);
            }
        }
    }
}

/// A router or a bridge in hand-written C.
pub struct Limit {
    made: LimitObject,
    list: Vec<ListedFrame>,
}

/// `struct frame` of `peers`.
#[repr(C)]
struct ListedFrame {
    bytes: *mut u8,
    length: u32,
    port: u32,
}

impl ListedFrame {
    /// A frame at the beginning of these bytes.
    fn at(bytes: &mut [u8], length: u32) -> ListedFrame {
        assert!(length as usize <= bytes.len(), "the frame lies within the bytes");
        ListedFrame { bytes: bytes.as_mut_ptr(), length, port: 0 }
    }
}

type New = unsafe extern "C" fn(u32) -> *mut c_void;
type Run = unsafe extern "C" fn(*const c_void, *mut ListedFrame, u64) -> u64;

impl Limit {
    /// A router with these routes, of at most 24 bits. The Ethernet addresses are those of [`Routes::commands`].
    pub fn router(routes: &Routes) -> Result<Limit, Box<dyn Error>> {
        let mut sorted = routes.0.clone();
        sorted.sort_by_key(|route| route.prefix_len);
        let hops = sorted.iter().map(|route| route.port + 1).max().unwrap_or(1);
        let limit = Limit::new(include_str!("../peers/router.c"), hops)?;
        // SAFETY: the functions have the types that they are given here; see `peers/router.c`. Hops are below the
        // number that it was given, and networks have no bits after their prefix.
        unsafe {
            let hop: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, *const u8, u32)> =
                limit.made.library.get(b"limit_hop")?;
            for port in 1..hops {
                let addresses = [2, 0, 0, 0, 1, port as u8, 2, 0, 0, 0, 0, port as u8];
                hop(limit.made.it, port, addresses.as_ptr(), port);
            }
            let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, u32, u32)> =
                limit.made.library.get(b"limit_route")?;
            for route in sorted {
                assert!(route.prefix_len <= 24, "the table has a slot for each /24");
                add(limit.made.it, route.network, route.prefix_len, route.port);
            }
        }
        Ok(limit)
    }

    /// A bridge with these addresses, which must be distinct, and the port of each.
    pub fn bridge(addresses: &[(u64, u32)]) -> Result<Limit, Box<dyn Error>> {
        let limit = Limit::new(include_str!("../peers/bridge.c"), u32::try_from(addresses.len())?)?;
        // SAFETY: the function has the type that it is given here; see `peers/bridge.c`. There are as many addresses
        // as it was given.
        unsafe {
            let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u64, u32)> =
                limit.made.library.get(b"limit_address")?;
            for &(address, port) in addresses {
                assert!(address != 0 && (1..1 << 16).contains(&port), "these stand for none");
                add(limit.made.it, address, port);
            }
        }
        Ok(limit)
    }

    fn new(text: &str, size: u32) -> Result<Limit, Box<dyn Error>> {
        Ok(Limit { made: LimitObject::new(text, size)?, list: Vec::new() })
    }

    /// Forwards the frames in place, this many in a call. `around` runs each call and measures it. Returns the number
    /// of frames to be sent. The list of a call's frames is prepared outside of the measurement.
    pub fn forward(
        &mut self,
        frames: &mut Frames,
        at_once: usize,
        mut around: impl FnMut(&mut dyn FnMut()),
    ) -> Result<u64, Box<dyn Error>> {
        let (stride, mut sent) = (frames.stride, 0);
        // SAFETY: the function has the type that it is given here; see `peers`.
        let run: Symbol<'_, Run> = unsafe { self.made.library.get(b"limit_run")? };
        for some in frames.bytes.chunks_mut(at_once * stride) {
            self.list.clear();
            self.list.extend(some.chunks_mut(stride).map(|place| ListedFrame::at(place, FRAME_BYTES as u32)));
            let (list, count) = (self.list.as_mut_ptr(), self.list.len() as u64);
            around(&mut || {
                // SAFETY: as above; the listed frames are in `some`.
                sent += unsafe { run(self.made.it, list, count) };
            });
        }
        Ok(sent)
    }
}

/// The bytes by which a frame may grow at its front, and the distance from one frame to the next.
const GROWTH_BYTES: usize = 64;
const GROWING_STRIDE_BYTES: usize = 256;

/// The size of the headers that VXLAN adds before a frame.
pub const OUTER_BYTES: usize = 50;

/// The size of a ZipLine chunk in bytes.
pub const CHUNK_BYTES: usize = 32;

/// Hand-written C that changes the length of frames, and the frames.
pub struct Resizing {
    made: LimitObject,
    /// The name of the function.
    function: &'static [u8],
    original: Vec<u8>,
    memory: Vec<u8>,
    lengths: Vec<u32>,
    frames: Vec<ListedFrame>,
}

impl Resizing {
    /// VXLAN, without tunnels yet. There is space between the frames.
    pub fn vxlan(frames: &[Vec<u8>]) -> Result<Resizing, Box<dyn Error>> {
        Resizing::new(include_str!("../peers/vxlan.c"), b"limit_run", 8, frames)
    }

    /// ZipLine's encoder, with at most this many identifiers, up to 32,768, none of which is assigned yet.
    pub fn encoder(frames: &[Vec<u8>], identifiers: u32) -> Result<Resizing, Box<dyn Error>> {
        Resizing::new(include_str!("../peers/zipline.c"), b"limit_encode", identifiers, frames)
    }

    /// ZipLine's decoder.
    pub fn decoder(frames: &[Vec<u8>], identifiers: u32) -> Result<Resizing, Box<dyn Error>> {
        Resizing::new(include_str!("../peers/zipline.c"), b"limit_decode", identifiers, frames)
    }

    fn new(text: &str, function: &'static [u8], size: u32, frames: &[Vec<u8>]) -> Result<Resizing, Box<dyn Error>> {
        let mut original = vec![0; frames.len() * GROWING_STRIDE_BYTES];
        for (place, frame) in original.chunks_exact_mut(GROWING_STRIDE_BYTES).zip(frames) {
            place[GROWTH_BYTES..][..frame.len()].copy_from_slice(frame);
        }
        let made = LimitObject::new(text, size)?;
        let lengths = frames.iter().map(|frame| frame.len() as u32).collect();
        Ok(Resizing { made, function, memory: original.clone(), original, lengths, frames: Vec::new() })
    }

    /// Frames to this address, which must not be 0 and must be new, get these headers or, without headers, lose
    /// theirs. There are at most 8 tunnels.
    pub fn tunnel(&self, address: u64, outer: Option<&[u8; OUTER_BYTES]>, port: u32) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u64, *const u8, u32);
        let outer = outer.map_or(std::ptr::null(), |outer| outer.as_ptr());
        // SAFETY: as above; it was created for 8 addresses.
        unsafe { self.made.library.get::<Add>(b"limit_tunnel")?(self.made.it, address, outer, port) };
        Ok(())
    }

    /// Assigns an identifier below their number to the basis of this chunk, which must be new.
    pub fn basis(&self, chunk: &[u8; CHUNK_BYTES], identifier: u32) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, *const u8, u32);
        // SAFETY: as above.
        unsafe { self.made.library.get::<Add>(b"limit_basis")?(self.made.it, chunk.as_ptr(), identifier) };
        Ok(())
    }

    /// Processes all frames this many times. Returns nanoseconds per packet. Frames are restored for each round,
    /// which is not measured. All frames must be sent.
    pub fn run(&mut self, rounds: usize) -> Result<f64, Box<dyn Error>> {
        let mut spent = Duration::ZERO;
        for _ in 0..rounds {
            self.memory.copy_from_slice(&self.original);
            let places = self.memory.chunks_exact_mut(GROWING_STRIDE_BYTES).zip(&self.lengths);
            self.frames = places.map(|(place, &length)| ListedFrame::at(&mut place[GROWTH_BYTES..], length)).collect();
            let (frames, count) = (self.frames.as_mut_ptr(), self.frames.len() as u64);
            let started = Instant::now();
            // SAFETY: as above; each frame is in `memory` after more headroom than it grows by.
            let sent = unsafe { self.made.library.get::<Run>(self.function)?(self.made.it, frames, count) };
            spent += started.elapsed();
            if sent != count {
                return Err(format!("{sent} of {count} packets were sent by hand").into());
            }
        }
        Ok(spent.as_nanos() as f64 / (rounds * self.lengths.len()) as f64)
    }

    /// The work, if its output for the frames is `expected`.
    pub fn into_work(mut self, name: &'static str, expected: &[Vec<u8>]) -> Result<Work, Box<dyn Error>> {
        self.run(1)?;
        if let Some(number) = self.sent().iter().zip(expected).position(|(sent, expected)| sent != expected) {
            return Err(format!("{name}: frame {number} is another than the program makes of it").into());
        }
        Ok(Work::by(name, self.lengths.len(), move |rounds| self.run(rounds)))
    }

    /// The frames after the last round.
    fn sent(&self) -> Vec<Vec<u8>> {
        // SAFETY: the bytes of each frame are in `memory`, which has not changed since.
        let bytes = |frame: &ListedFrame| unsafe { std::slice::from_raw_parts(frame.bytes, frame.length as usize) };
        self.frames.iter().map(|frame| bytes(frame).to_vec()).collect()
    }
}

/// A use case in hand-written C: its tables, which several threads may read.
pub struct UseCase {
    made: LimitObject,
    job: &'static str,
}

// SAFETY: after the tables are filled, which needs `&mut`, the functions only read them; see `peers/usecases.c`.
unsafe impl Sync for UseCase {}

/// What packets change of an entry: counters, a meter, times.
#[derive(Clone, Default)]
#[repr(C, align(64))]
struct EntryState([u64; 8]);

/// Frames of a use case, each with headroom, and the state of entries of who works on them.
pub struct UseCaseFrames {
    original: Vec<u8>,
    memory: Vec<u8>,
    /// Port, first byte and length of each.
    places: Vec<(u32, usize, u32)>,
    list: Vec<ListedFrame>,
    states: Vec<EntryState>,
}

// SAFETY: the listed frames are in `memory`, which moves with them.
unsafe impl Send for UseCaseFrames {}

impl UseCase {
    /// Tables for at most this many entries each.
    pub fn new(job: &'static str, entries: u32) -> Result<UseCase, Box<dyn Error>> {
        Ok(UseCase { made: LimitObject::new(include_str!("../peers/usecases.c"), entries)?, job })
    }

    /// Adds an entry of at most six arguments. Keys are new, and there are no more than fit.
    pub fn add(&mut self, table: u32, key: [u64; 2], args: &[u64]) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u32, *const u64, *const u64, u32);
        assert!(table < 8 && args.len() <= 6, "these fit into the peer's tables");
        // SAFETY: the function has this type; see `peers/usecases.c`.
        unsafe {
            let add = self.made.library.get::<Add>(b"limit_add")?;
            add(self.made.it, table, key.as_ptr(), args.as_ptr(), args.len() as u32);
        }
        Ok(())
    }

    /// Adds a route of IPv4 of at most 24 bits. Shorter ones come first.
    pub fn route4(&mut self, table: u32, network: u32, prefix_len: u32, value: u32) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32);
        assert!(table < 8 && prefix_len <= 24, "the table has a slot for each /24");
        // SAFETY: as above.
        unsafe { self.made.library.get::<Add>(b"limit_route4")?(self.made.it, table, network, prefix_len, value) };
        Ok(())
    }

    /// Adds a prefix of IPv4 of a tenant. Shorter ones come first.
    pub fn tenant_route4(
        &mut self,
        table: u32,
        tenant: u32,
        network: u32,
        prefix_len: u32,
        value: u32,
    ) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32, u32);
        assert!(table < 8 && (1..=32).contains(&prefix_len), "the peer has a slot for each address");
        // SAFETY: as above.
        unsafe {
            let add = self.made.library.get::<Add>(b"limit_tenant_route4")?;
            add(self.made.it, table, tenant, network, prefix_len, value);
        }
        Ok(())
    }

    /// Adds a route of IPv6 of 4 to 64 bits.
    pub fn route6(&mut self, table: u32, prefix: u64, prefix_len: u32, value: u64) -> Result<(), Box<dyn Error>> {
        type Add = unsafe extern "C" fn(*mut c_void, u32, u64, u32, u64);
        assert!(table < 8 && (4..=64).contains(&prefix_len), "the peer looks at the first 64 bits");
        // SAFETY: as above.
        unsafe { self.made.library.get::<Add>(b"limit_route6")?(self.made.it, table, prefix, prefix_len, value) };
        Ok(())
    }

    /// Works on all frames this many times. Returns the time, and how many were sent.
    pub fn run(&self, frames: &mut UseCaseFrames, rounds: usize) -> Result<(Duration, u64), Box<dyn Error>> {
        type Run = unsafe extern "C" fn(*const c_void, *mut EntryState, *mut ListedFrame, u64) -> u64;
        // SAFETY: as above.
        let run = unsafe { self.made.library.get::<Run>(format!("limit_{}", self.job).as_bytes())? };
        let (mut spent, mut sent) = (Duration::ZERO, 0);
        for _ in 0..rounds {
            frames.restore();
            let (states, list) = (frames.states.as_mut_ptr(), frames.list.as_mut_ptr());
            let started = Instant::now();
            // SAFETY: the listed frames are in `memory`, each after headroom for what it grows by; there is state for
            // the entries of two tables.
            sent += unsafe { run(self.made.it, states, list, frames.list.len() as u64) };
            spent += started.elapsed();
        }
        Ok((spent, sent))
    }
}

impl UseCaseFrames {
    /// Frames with their ports, for tables of at most this many entries.
    pub fn new(trace: &Trace, entries: u32) -> UseCaseFrames {
        let (mut original, mut places) = (Vec::new(), Vec::new());
        for (port, frame) in trace.frames() {
            let start = original.len() + GROWTH_BYTES;
            original.resize(start, 0);
            original.extend_from_slice(frame);
            original.resize(original.len().next_multiple_of(64), 0);
            places.push((port, start, frame.len() as u32));
        }
        let states = vec![EntryState::default(); 2 * entries as usize + 64];
        UseCaseFrames { memory: original.clone(), original, places, list: Vec::new(), states }
    }

    fn restore(&mut self) {
        self.memory.copy_from_slice(&self.original);
        let memory = self.memory.as_mut_ptr();
        self.list.clear();
        // SAFETY: the place is in `memory`.
        let listed = |(port, start, length): &(u32, usize, u32)| unsafe {
            ListedFrame { bytes: memory.add(*start), length: *length, port: *port }
        };
        self.list.extend(self.places.iter().map(listed));
    }

    /// Port and bytes of each frame after the last round.
    pub fn sent(&self) -> Vec<(u32, Vec<u8>)> {
        // SAFETY: the bytes of each frame are in `memory`, which has not changed since.
        let bytes = |it: &ListedFrame| unsafe { std::slice::from_raw_parts(it.bytes, it.length as usize) };
        self.list.iter().map(|frame| (frame.port, bytes(frame).to_vec())).collect()
    }
}

/// Hand-written C, compiled and loaded.
pub fn library(text: &str) -> Result<Library, Box<dyn Error>> {
    // The text is compiled alone, so the headers are inserted.
    let text = text
        .replace("#include \"bytes.h\"", include_str!("../peers/bytes.h"))
        .replace("#include \"large.h\"", include_str!("../peers/large.h"));
    let object = cgen::compile(&text, &CompileOptions::default())?;
    // SAFETY: the library runs no code when it is loaded.
    Ok(unsafe { Library::new(&object.path)? })
}
