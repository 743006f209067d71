//! How many workers run a switch, how many there should be, and how busy each is.
//!
//! What enters: how many users request, from any thread; what the workers report of themselves. What leaves: the same
//! numbers, to any reader. Nothing happens here: the first worker reads them between bursts.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How many workers there should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// This many.
    Fixed(usize),
    /// As many as the load requires.
    Auto,
}

/// The most workers that a switch can have.
pub const WORKERS_MAX: usize = 64;

/// The workers of a switch.
#[derive(Debug)]
pub struct Workers {
    /// 0 for as many as the load requires.
    wanted: AtomicUsize,
    now: AtomicUsize,
    /// The most that there are when the load decides.
    auto_max: usize,
    loads: Vec<Load>,
    spreads_always: AtomicBool,
    /// One, whatever was requested.
    only_one: AtomicBool,
    /// The ports whose frames come in several queues.
    divided_ports: OnceLock<Vec<u32>>,
    /// What keeps the workers from running side by side, for people; empty for nothing.
    remark: Mutex<String>,
    /// What the code that they run is made for, for people; empty if that is all contents of tables.
    code: Mutex<String>,
    codes_run: AtomicU64,
}

/// What a worker has done. It alone writes here, and to no line of the cache where others write.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Load {
    packets: AtomicU64,
    busy_ns: AtomicU64,
    waited_ns: AtomicU64,
}

/// The same at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadSnapshot {
    /// Packets that it has received, from its queues or from the first worker.
    pub packets: u64,
    /// Processor time in which it had work.
    pub busy_ns: u64,
    /// Elapsed time in which it had none.
    pub waited_ns: u64,
}

impl Load {
    /// The worker received packets.
    pub fn count(&self, packets: u64) {
        self.packets.store(self.packets.load(Ordering::Relaxed) + packets, Ordering::Relaxed);
    }

    /// Adds processor time for which the worker was busy, and elapsed time for which it had no work.
    pub fn spend(&self, busy_ns: u64, waited_ns: u64) {
        self.busy_ns.store(self.busy_ns.load(Ordering::Relaxed) + busy_ns, Ordering::Relaxed);
        self.waited_ns.store(self.waited_ns.load(Ordering::Relaxed) + waited_ns, Ordering::Relaxed);
    }

    /// What it has done until now.
    pub fn snapshot(&self) -> LoadSnapshot {
        LoadSnapshot {
            packets: self.packets.load(Ordering::Relaxed),
            busy_ns: self.busy_ns.load(Ordering::Relaxed),
            waited_ns: self.waited_ns.load(Ordering::Relaxed),
        }
    }
}

impl Workers {
    /// `wanted` workers are requested at the start. Where the load decides, there are at most `auto_max`, which is how
    /// many can run in parallel.
    pub fn new(wanted: Wanted, auto_max: usize) -> Workers {
        let workers = Workers {
            wanted: AtomicUsize::new(1),
            now: AtomicUsize::new(1),
            auto_max: auto_max.clamp(1, WORKERS_MAX),
            loads: (0..WORKERS_MAX).map(|_| Load::default()).collect(),
            spreads_always: AtomicBool::new(false),
            only_one: AtomicBool::new(false),
            divided_ports: OnceLock::new(),
            remark: Mutex::default(),
            code: Mutex::default(),
            codes_run: AtomicU64::new(0),
        };
        workers.want(wanted);
        workers
    }

    /// The most that there can be.
    pub fn max(&self) -> usize {
        self.loads.len()
    }

    /// The most that there are when the load decides.
    pub fn auto_max(&self) -> usize {
        self.auto_max
    }

    /// Requests this many from now on; as many as there can be, if that is fewer.
    pub fn want(&self, wanted: Wanted) {
        let count = match wanted {
            Wanted::Auto => 0,
            Wanted::Fixed(count) => count.clamp(1, self.max()),
        };
        self.wanted.store(count, Ordering::Relaxed);
    }

    /// Restricts packets to one worker, or lifts that; what was requested before holds again then.
    pub fn allow_one(&self, only_one: bool) {
        self.only_one.store(only_one, Ordering::Relaxed);
    }

    /// Sets the ports whose frames come in several queues, between which frames have no order. To be called once, when
    /// the ports have been opened.
    pub fn set_divided_ports(&self, ports: Vec<u32>) {
        // Ports are opened once.
        let _known = self.divided_ports.set(ports);
    }

    /// The ports whose frames come in several queues, as far as ports have been opened.
    pub fn divided_ports(&self) -> &[u32] {
        self.divided_ports.get().map_or(&[], Vec::as_slice)
    }

    /// Why a program whose packets have one order over all flows would lose it; none if it would not.
    pub fn what_breaks_order(&self) -> Option<String> {
        let (last, others) = self.divided_ports().split_last()?;
        let ports = match others {
            [] => format!("port {last} has several queues"),
            others => {
                let others: Vec<String> = others.iter().map(u32::to_string).collect();
                format!("ports {} and {last} have several queues each", others.join(", "))
            }
        };
        Some(format!(
            "the program puts packets together or takes them apart, and their order would be lost: {ports}. Open ports \
             with one: --workers 1 when the switch starts, ?queues=1 for DPDK, ethtool -L INTERFACE combined 1 for AF_XDP"
        ))
    }

    /// How many are requested, within the present limit.
    pub fn wanted(&self) -> Wanted {
        match self.wanted.load(Ordering::Relaxed) {
            _ if self.only_one.load(Ordering::Relaxed) => Wanted::Fixed(1),
            0 => Wanted::Auto,
            count => Wanted::Fixed(count),
        }
    }

    /// Frames of ports without queues are spread over all workers even where handing them over costs more than it
    /// gains, as measurements and tests need it.
    pub fn spread_always(&self) {
        self.spreads_always.store(true, Ordering::Relaxed);
    }

    /// Whether they are.
    pub fn spreads_always(&self) -> bool {
        self.spreads_always.load(Ordering::Relaxed)
    }

    /// How many there are.
    pub fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// Sets how many there are.
    pub fn became(&self, count: usize) {
        self.now.store(count, Ordering::Relaxed);
    }

    /// What a worker has done; none if there can be no such worker.
    pub fn load(&self, worker: usize) -> Option<&Load> {
        self.loads.get(worker)
    }

    /// What keeps the workers from running side by side, for people; empty for nothing.
    pub fn remark(&self) -> String {
        self.remark.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the code that they run is made for, for people; empty if that is all contents of tables.
    pub fn code(&self) -> String {
        self.code.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often code was run that is made for some contents.
    pub fn codes_run(&self) -> u64 {
        self.codes_run.load(Ordering::Relaxed)
    }

    /// They run other code from now on.
    pub fn set_code(&self, code: String) {
        self.codes_run.fetch_add(u64::from(!code.is_empty()), Ordering::Relaxed);
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = code;
    }

    /// Sets it.
    pub fn set_remark(&self, remark: String) {
        *self.remark.lock().unwrap_or_else(PoisonError::into_inner) = remark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_can_be_are_as_many_as_there_can_be() {
        let workers = Workers::new(Wanted::Fixed(3), 2);
        assert_eq!((workers.auto_max(), workers.wanted(), workers.now()), (2, Wanted::Fixed(3), 1));
        workers.want(Wanted::Fixed(1000));
        assert_eq!(workers.wanted(), Wanted::Fixed(WORKERS_MAX));
        workers.want(Wanted::Fixed(0));
        assert_eq!(workers.wanted(), Wanted::Fixed(1));
        workers.want(Wanted::Auto);
        assert_eq!(workers.wanted(), Wanted::Auto);
        workers.allow_one(true);
        assert_eq!(workers.wanted(), Wanted::Fixed(1));
        workers.allow_one(false);
        assert_eq!(workers.wanted(), Wanted::Auto);
    }

    #[test]
    fn a_load_sums_what_its_worker_reports() {
        let load = Load::default();
        load.count(3);
        load.count(4);
        load.spend(10, 1);
        load.spend(0, 5);
        assert_eq!(load.snapshot(), LoadSnapshot { packets: 7, busy_ns: 10, waited_ns: 6 });
    }

    #[test]
    fn ports_with_several_queues_break_the_order() {
        let what = |ports: &[u32]| {
            let workers = Workers::new(Wanted::Auto, 2);
            workers.set_divided_ports(ports.to_vec());
            workers.what_breaks_order().unwrap_or_default()
        };
        assert_eq!(Workers::new(Wanted::Auto, 2).what_breaks_order(), None);
        assert_eq!(what(&[]), "");
        assert!(what(&[7]).contains("would be lost: port 7 has several queues. Open"), "{}", what(&[7]));
        assert!(what(&[1, 2, 9]).contains("ports 1, 2 and 9 have several queues each. Open"), "{}", what(&[1, 2, 9]));
    }
}
