//! The limits: `peers/router.c` and `peers/bridge.c`, compiled and called.

#![allow(unsafe_code, reason = "calls functions of a shared object that was compiled from this repository's own text")]

use cgen::CompileOptions;
use libloading::{Library, Symbol};
use live::traffic::Routes;
use measure::traffic::Trace;
use std::error::Error;
use std::ffi::c_void;

/// Bytes of a frame.
pub const FRAME_BYTES: usize = 60;

/// Frames of the same size one after the other.
#[derive(Clone)]
pub struct Frames {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Bytes from one to the next.
    pub stride: usize,
}

impl Frames {
    /// How many they are.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.stride
    }

    /// The frames, by port 1.
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

/// A router or a bridge written by hand.
pub struct Limit {
    library: Library,
    it: *mut c_void,
    ports: Vec<u32>,
}

type New = unsafe extern "C" fn(u32) -> *mut c_void;
type Run = unsafe extern "C" fn(*const c_void, *mut u8, u64, u64, *mut u32) -> u64;

impl Limit {
    /// A router with these routes, of at most 24 bits. The Ethernet addresses are those of [`Routes::commands`].
    pub fn router(routes: &Routes) -> Result<Limit, Box<dyn Error>> {
        let mut sorted = routes.0.clone();
        sorted.sort_by_key(|route| route.prefix_len);
        let hops = sorted.iter().map(|route| route.port + 1).max().unwrap_or(1);
        let limit = Limit::new(include_str!("../peers/router.c"), hops)?;
        // SAFETY: the functions have the types that they are given here; see `peers/router.c`. Hops are below the
        // number that it was told, networks have no bits behind their prefix.
        unsafe {
            let hop: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, *const u8, u32)> =
                limit.library.get(b"limit_hop")?;
            for port in 1..hops {
                let addresses = [2, 0, 0, 0, 1, port as u8, 2, 0, 0, 0, 0, port as u8];
                hop(limit.it, port, addresses.as_ptr(), port);
            }
            let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, u32, u32)> =
                limit.library.get(b"limit_route")?;
            for route in sorted {
                assert!(route.prefix_len <= 24, "the table has a slot for each /24");
                add(limit.it, route.network, route.prefix_len, route.port);
            }
        }
        Ok(limit)
    }

    /// A bridge that knows these addresses, none of them twice, and the port of each.
    pub fn bridge(addresses: &[(u64, u32)]) -> Result<Limit, Box<dyn Error>> {
        let limit = Limit::new(include_str!("../peers/bridge.c"), u32::try_from(addresses.len())?)?;
        // SAFETY: the function has the type that it is given here; see `peers/bridge.c`. There are as many addresses as
        // it was told.
        unsafe {
            let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u64, u32)> = limit.library.get(b"limit_address")?;
            for &(address, port) in addresses {
                assert!(address != 0 && (1..1 << 16).contains(&port), "these stand for none");
                add(limit.it, address, port);
            }
        }
        Ok(limit)
    }

    fn new(text: &str, size: u32) -> Result<Limit, Box<dyn Error>> {
        let library = library(text)?;
        // SAFETY: the function has the type that it is given here; see `peers`.
        let it = unsafe { library.get::<New>(b"limit_new")?(size) };
        Ok(Limit { library, it, ports: Vec::new() })
    }

    /// Forwards the frames where they are; returns how many are to be sent.
    pub fn forward(&mut self, frames: &mut Frames) -> Result<u64, Box<dyn Error>> {
        self.ports.resize(frames.count(), 0);
        // SAFETY: as above; the frames lie in `bytes`, each is longer than the headers that are looked at, and there
        // are as many ports.
        unsafe {
            let run: Symbol<'_, Run> = self.library.get(b"limit_run")?;
            let (stride, count) = (frames.stride as u64, frames.count() as u64);
            Ok(run(self.it, frames.bytes.as_mut_ptr(), stride, count, self.ports.as_mut_ptr()))
        }
    }
}

/// C by hand, compiled and loaded.
pub fn library(text: &str) -> Result<Library, Box<dyn Error>> {
    let object = cgen::compile(text, &CompileOptions::default())?;
    // SAFETY: the library runs no code when it is loaded.
    Ok(unsafe { Library::new(&object.path)? })
}

impl Drop for Limit {
    fn drop(&mut self) {
        // SAFETY: it was made by the same library and is not used any more.
        unsafe {
            if let Ok(free) = self.library.get::<unsafe extern "C" fn(*mut c_void)>(b"limit_free") {
                free(self.it);
            }
        }
    }
}
