//! Hardware performance counters of a thread: cycles, instructions, misses.
//!
//! Each counter is opened separately: a machine may have only some of them, as virtual machines do, or none, and the
//! system may forbid access. Missing counters are left out. Where the processor multiplexes its counters, the system
//! reports how long each of them was active, and the figures are scaled to the whole time.

#![allow(unsafe_code, reason = "the call perf_event_open has no wrapper; the time stamp is an instruction")]

use std::fs::File;
use std::io::{self, Read as _};
use std::mem::size_of;
use std::os::fd::FromRawFd as _;

/// A hardware event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// Processor cycles.
    Cycles,
    /// Retired instructions.
    Instructions,
    /// Mispredicted branches.
    BranchMisses,
    /// Loads that missed the first-level data cache.
    FirstCacheMisses,
    /// Accesses that missed the last-level cache.
    LastCacheMisses,
    /// Loads that missed the TLB.
    AddressMisses,
}

impl Event {
    /// All events.
    pub const ALL: [Event; 6] = [
        Event::Cycles,
        Event::Instructions,
        Event::BranchMisses,
        Event::FirstCacheMisses,
        Event::LastCacheMisses,
        Event::AddressMisses,
    ];

    /// A short, stable name for programs that read figures.
    pub fn name(self) -> &'static str {
        match self {
            Event::Cycles => "cycles",
            Event::Instructions => "instructions",
            Event::BranchMisses => "branch_misses",
            Event::FirstCacheMisses => "l1d_misses",
            Event::LastCacheMisses => "cache_misses",
            Event::AddressMisses => "dtlb_misses",
        }
    }

    /// A description for people.
    pub fn describe(self) -> &'static str {
        match self {
            Event::Cycles => "cycles",
            Event::Instructions => "instructions",
            Event::BranchMisses => "branch misses",
            Event::FirstCacheMisses => "first-level cache misses",
            Event::LastCacheMisses => "last-level cache misses",
            Event::AddressMisses => "address (TLB) misses",
        }
    }

    /// The type and the number of the event in the system's interface.
    fn numbers(self) -> (u32, u64) {
        const HARDWARE: u32 = 0;
        const CACHE: u32 = 3;
        // A cache event consists of the cache, the operation (0 is loads) and the result (1 is misses), one byte
        // each.
        const LOAD_MISSES: u64 = 1 << 16;
        match self {
            Event::Cycles => (HARDWARE, 0),
            Event::Instructions => (HARDWARE, 1),
            Event::LastCacheMisses => (HARDWARE, 3),
            Event::BranchMisses => (HARDWARE, 5),
            Event::FirstCacheMisses => (CACHE, LOAD_MISSES),
            Event::AddressMisses => (CACHE, 3 | LOAD_MISSES),
        }
    }
}

/// The attributes with which an event is opened, as declared in the first version of the system's interface.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_kind: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    config_1: u64,
}

const _: () = assert!(size_of::<Attributes>() == 64);

/// Excludes the kernel and the hypervisor.
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Makes each reading include the times for which the event was enabled and active.
const READ_TIMES: u64 = 1 | 2;

/// A count so far, the time for which the event was enabled, and the time for which it was active.
type Reading = [u64; 3];

/// The counters of the thread that opened them.
pub struct Counters(Vec<(Event, File)>);

/// The counts of all events, in the order of [`Event::ALL`]; `None` for an event that the machine does not count.
pub type Counted = [Option<f64>; Event::ALL.len()];

impl Counters {
    /// Opens the counters that the machine has and the system permits.
    pub fn open() -> Counters {
        Counters(Event::ALL.into_iter().filter_map(|event| Some((event, open(event).ok()?))).collect())
    }

    /// Counts events while `body` runs.
    pub fn count<T>(&mut self, body: impl FnOnce() -> T) -> (T, Counted) {
        let before = self.read();
        let result = body();
        let after = self.read();
        let mut counted = Counted::default();
        for ((event, _), (before, after)) in self.0.iter().zip(before.into_iter().zip(after)) {
            counted[*event as usize] = before.zip(after).and_then(|(before, after)| difference(before, after));
        }
        (result, counted)
    }

    fn read(&mut self) -> Vec<Option<Reading>> {
        self.0.iter_mut().map(|(_, file)| read(file).ok()).collect()
    }
}

fn read(file: &mut File) -> io::Result<Reading> {
    let mut bytes = [0; size_of::<Reading>()];
    file.read_exact(&mut bytes)?;
    let mut reading = Reading::default();
    for (word, bytes) in reading.iter_mut().zip(bytes.chunks_exact(size_of::<u64>())) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        *word = if cfg!(target_endian = "big") { word.swap_bytes() } else { *word };
    }
    Ok(reading)
}

/// The count between two readings, scaled to the whole time; `None` if the counter was never active.
fn difference(before: Reading, after: Reading) -> Option<f64> {
    let [count, wanted, running] = [0, 1, 2].map(|word| after[word].wrapping_sub(before[word]) as f64);
    (running > 0.0).then(|| count * wanted / running)
}

fn open(event: Event) -> io::Result<File> {
    let (kind, config) = event.numbers();
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: READ_TIMES,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        ..Attributes::default()
    };
    const THIS_THREAD: libc::pid_t = 0;
    const ANY_PROCESSOR: libc::c_int = -1;
    const NO_GROUP: libc::c_int = -1;
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // SAFETY: the call reads as many bytes of the attributes as their size, and keeps no pointer.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            THIS_THREAD,
            ANY_PROCESSOR,
            NO_GROUP,
            CLOSE_ON_EXEC,
        )
    };
    match libc::c_int::try_from(descriptor) {
        // SAFETY: the call has just created this descriptor, so nothing else owns it.
        Ok(descriptor @ 0..) => Ok(unsafe { File::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ticks of the processor's time stamp counter, which runs at a constant rate; `None` if the processor has no such
/// counter that a program may read.
pub fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    return Some(unsafe { core::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_scaled_to_all_of_the_time() {
        assert_eq!(difference([10, 100, 100], [30, 200, 200]), Some(20.0));
        assert_eq!(difference([10, 100, 100], [30, 200, 150]), Some(40.0));
        assert_eq!(difference([10, 100, 100], [10, 200, 100]), None);
    }

    #[test]
    fn counts_grow_with_the_work() {
        let mut counters = Counters::open();
        let mut work = |rounds: u64| {
            counters.count(|| (0..rounds).fold(1u64, |sum, round| std::hint::black_box(sum.wrapping_mul(3) ^ round))).1
        };
        let (short, long) = (work(1_000), work(10_000_000));
        // On a machine that counts nothing there is nothing to compare.
        for (short, long) in short.into_iter().zip(long).take(2) {
            assert!(short.zip(long).is_none_or(|(short, long)| long > short), "{short:?} {long:?}");
        }
    }
}
