//! A leaf with two hosts (ports 1 and 2) and two uplinks (5 and 6) under its local controller, in both backends.

use control::api::{Atomicity, LocalApi};
use p4te::{Priorities, Report, Settings, set_up};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use switch::{Config, Output, Switch};
use te::{Behind, Order, Place, Port, Prefix, Translator};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_text, switch_with};

/// The CPU port.
pub const CPU: u32 = 510;

/// The ways in which tests run the programs: both backends, optimised, with all that makes native code fast.
pub const WAYS: [Way; 2] = [
    Way { is_native: false, is_optimised: true, has_fast_path: false },
    Way { is_native: true, is_optimised: true, has_fast_path: true },
];

/// A switch with its controller's state.
pub struct Leaf {
    pub switch: Switch,
    pub priorities: Priorities,
    pub now_us: u64,
    translator: Translator,
    api: LocalApi,
}

/// What a switch has sent: port and frame.
#[derive(Default)]
pub struct Sent(pub Vec<(u32, Vec<u8>)>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

/// Two hosts, two uplinks of this many packets a second.
pub fn place(packets_per_s: u64) -> Place {
    let port = |number: u32, behind, prefixes| Port {
        number,
        behind,
        units_per_s: packets_per_s,
        units_per_s_in: packets_per_s,
        prefixes,
        addresses: [0x0201_0000_0000 + u64::from(number), 0x0200_0000_0000 + u64::from(number)],
    };
    let host = |number: u32| {
        let v6 = format!("fd00:1:{number}::2").parse().unwrap();
        let v4 = format!("10.1.{number}.2").parse().unwrap();
        port(number, Behind::Host, vec![Prefix::new(v6, 128), Prefix::new(v4, 32)])
    };
    let common =
        ["fd00::", "10.0.0.0"].map(|text| Prefix::new(text.parse().unwrap(), if text == "fd00::" { 16 } else { 8 }));
    Place {
        ports: vec![host(1), host(2), port(5, Behind::Up, Vec::new()), port(6, Behind::Up, Vec::new())],
        common: common.to_vec(),
        leaf: Some(1),
        leaves: Vec::new(),
        unreachable: Vec::new(),
    }
}

/// The program of a leaf, whose meters count packets.
fn program() -> &'static ir::Program {
    static PROGRAM: OnceLock<ir::Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let path = folder().join("../apps/p4te/leaf.p4");
        let text = format!("#define METERED packets\n#include \"{}\"\n", path.display());
        program_of_text("test.p4", &text).unwrap_or_else(|errors| panic!("{errors}"))
    })
}

impl Leaf {
    /// With these parameters, in one of the ways.
    pub fn new(way: Way, settings: &Settings, packets_per_s: u64) -> Leaf {
        let program = Arc::new(way.program(program()).unwrap());
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
        let mut switch = switch_with(&program, &way.engine(&cache), Config::default()).unwrap();
        for port in [1, 2, 5, 6, CPU] {
            switch.set_port_rate(port, 0, 0).unwrap();
        }
        let (priorities, orders) = set_up(&place(packets_per_s), settings, CPU);
        let (translator, api) = (Translator::new(program), LocalApi::of(&switch));
        let mut leaf = Leaf { switch, priorities, now_us: 1_000_000, translator, api };
        leaf.carry_out(&orders);
        leaf
    }

    /// Carries orders out, which must all succeed.
    pub fn carry_out(&mut self, orders: &[Order]) {
        let updates = self.translator.updates(orders).unwrap();
        let outcomes = self.api.write(&mut self.switch, &updates, Atomicity::ContinueOnError);
        for (outcome, order) in outcomes.iter().zip(orders) {
            assert!(outcome.is_ok(), "{order:?}: {outcome:?}");
        }
    }

    /// A queue of a port with room for many packets, which lets one out each 1/rate.
    pub fn slow(&mut self, port: u32, packets_per_s: u64) {
        self.switch.set_queues(Some(port), None, |queue| queue.packets_per_s = packets_per_s).unwrap();
    }

    /// What comes out by when this frame has come in, and this time has passed.
    pub fn pass(&mut self, port: u32, frame: &[u8], then_us: u64) -> Vec<(u32, Vec<u8>)> {
        self.switch.receive(self.now_us * 1_000, port, frame);
        self.wait(then_us)
    }

    /// What comes out in this time.
    pub fn wait(&mut self, microseconds: u64) -> Vec<(u32, Vec<u8>)> {
        let mut sent = Sent::default();
        self.switch.run(self.now_us * 1_000, &mut sent);
        self.now_us += microseconds;
        while let Some(next) = self.switch.next_event_ns().filter(|next| *next <= self.now_us * 1_000) {
            self.switch.run(next, &mut sent);
        }
        sent.0
    }
}

/// The reports among what was sent.
pub fn reports(sent: &[(u32, Vec<u8>)]) -> Vec<Report> {
    let of_controller = sent.iter().filter(|(port, _)| *port == CPU);
    of_controller
        .map(|(_, frame)| {
            assert_eq!(frame.len(), 9, "a report has nothing behind it");
            Report::parse(frame).unwrap()
        })
        .collect()
}

/// The frames that went out by ports other than the CPU's.
pub fn frames(sent: &[(u32, Vec<u8>)]) -> Vec<&(u32, Vec<u8>)> {
    sent.iter().filter(|(port, _)| *port != CPU).collect()
}
