//! The baselines packet by packet, in both backends: a leaf with a host (port 1) and two uplinks (5 and 6).

use control::api::{Atomicity, LocalApi};
use std::path::Path;
use std::sync::Arc;
use switch::{Config, Output, Switch};
use te::fabric::{FabricSettings, set_up, set_up_choices, set_up_polling, set_up_probes, set_up_reports};
use te::{Behind, Order, Place, Polling, Port, Prefix, Translator};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_text, switch_with};

const CPU: u32 = 510;
/// After this time without probes a path is not used, in microseconds.
const AGE_US: u64 = 1_000;

const WAYS: [Way; 2] = [
    Way { is_native: false, is_optimised: true, has_fast_path: false },
    Way { is_native: true, is_optimised: true, has_fast_path: true },
];

#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

fn place() -> Place {
    let prefix = |text: &str, bits| Prefix::new(text.parse().unwrap(), bits);
    let port = |number: u32, behind, prefixes| Port {
        number,
        behind,
        units_per_s: 1_000_000_000,
        units_per_s_in: 1_000_000_000,
        prefixes,
        addresses: [1, 2],
    };
    Place {
        ports: vec![
            port(1, Behind::Host, vec![prefix("10.1.1.2", 32)]),
            port(5, Behind::Up, Vec::new()),
            port(6, Behind::Up, Vec::new()),
        ],
        common: vec![prefix("10.0.0.0", 8)],
        leaf: Some(1),
        leaves: vec![(1, prefix("10.1.0.0", 16)), (2, prefix("10.2.0.0", 16)), (3, prefix("10.3.0.0", 16))],
        unreachable: Vec::new(),
    }
}

struct Leaf {
    switch: Switch,
    now_us: u64,
    translator: Translator,
}

impl Leaf {
    fn new(way: Way, scheme: &str) -> Leaf {
        Leaf::at(&place(), way, scheme)
    }

    fn at(place: &Place, way: Way, scheme: &str) -> Leaf {
        let path = folder().join("../apps/te/fabric.p4");
        let text = format!("#define {scheme} 1\n#include \"{}\"\n", path.display());
        let program = program_of_text("test.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let program = Arc::new(way.program(&program).unwrap());
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
        let mut switch = switch_with(&program, &way.engine(&cache), Config::default()).unwrap();
        [1, 5, 6, CPU].iter().for_each(|port| switch.set_port_rate(*port, 0, 0).unwrap());
        let settings = FabricSettings { flowlet_us: 500, mark_from: None, span_shift: 10, age_us: AGE_US };
        let mut orders = set_up(place, &settings);
        match scheme {
            "HULA" => orders.extend(set_up_probes(place, &settings)),
            "DRILL" => orders.extend(set_up_choices(place, None)),
            "CONGA" => orders.extend(set_up_reports(place, &settings, None)),
            "POLLED" => {
                orders.extend(set_up_polling(place));
                orders.extend(Polling::new(place).orders());
            }
            _ => {}
        }
        let mut leaf = Leaf { switch, now_us: 1_000_000, translator: Translator::new(program) };
        leaf.carry_out(&orders);
        leaf
    }

    fn carry_out(&mut self, orders: &[Order]) {
        let updates = self.translator.updates(orders).unwrap();
        let outcomes = LocalApi::of(&self.switch).write(&mut self.switch, &updates, Atomicity::ContinueOnError);
        outcomes.iter().zip(orders).for_each(|(outcome, order)| assert!(outcome.is_ok(), "{order:?}: {outcome:?}"));
    }

    fn pass(&mut self, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut sent = Sent::default();
        self.switch.receive(self.now_us * 1_000, port, frame);
        self.switch.run(self.now_us * 1_000, &mut sent);
        sent.0
    }

    /// A probe from a leaf, as it arrives.
    fn probe(&mut self, port: u32, leaf: u16, utilisation: u32) -> Vec<(u32, Vec<u8>)> {
        self.pass(port, &probe(leaf, utilisation))
    }

    /// The port by which a packet of a flow to a leaf leaves.
    fn port_to(&mut self, leaf: u8, flow: u16) -> u32 {
        let sent = self.pass(1, &datagram(leaf, flow));
        assert_eq!(sent.len(), 1);
        sent[0].0
    }
}

fn probe(leaf: u16, utilisation: u32) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 0, 0x88, 0xb5]);
    frame.extend(leaf.to_be_bytes());
    frame.extend(utilisation.to_be_bytes());
    frame
}

/// A datagram from the host to one behind a leaf.
fn datagram(leaf: u8, flow: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0];
    frame.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 1, 2, 10, leaf, 1, 2]);
    frame.extend(flow.to_be_bytes());
    frame.extend([0, 9, 0, 8, 0, 0]);
    frame
}

#[test]
fn hula_takes_the_path_that_probes_report() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, "HULA");
        // The controller's own probe goes up everywhere, with the leaf's number.
        let sent = leaf.pass(CPU, &probe(0, 77));
        assert_eq!(sent, [(5, probe(1, 0)), (6, probe(1, 0))], "{}", way.describe());
        // Those of others end at a leaf.
        assert_eq!(leaf.probe(5, 2, 5_000), []);
        assert_eq!(leaf.probe(6, 2, 4_000), []);
        leaf.probe(5, 3, 100);
        leaf.probe(6, 3, 200);
        assert_eq!((leaf.port_to(2, 1), leaf.port_to(3, 1)), (6, 5), "the less used of both");
        // The best one has become worse: the other takes its place with its next probe.
        leaf.probe(6, 2, 9_000);
        leaf.probe(5, 2, 5_000);
        assert_eq!(leaf.port_to(2, 2), 5);
        // A flow keeps its way for a flowlet.
        leaf.now_us += 400;
        leaf.probe(5, 2, 1_000);
        leaf.probe(6, 2, 0);
        assert_eq!((leaf.port_to(2, 2), leaf.port_to(2, 3)), (5, 6));
        leaf.now_us += 500;
        assert_eq!(leaf.port_to(2, 2), 6);
    }
}

#[test]
fn hula_leaves_a_port_that_brings_no_probes() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, "HULA");
        leaf.probe(5, 2, 0);
        leaf.probe(6, 2, 9_000);
        assert_eq!(leaf.port_to(2, 1), 5);
        // Port 5 is silent. Its flow has no pause of a flowlet, and moves to the other port all the same.
        for _ in 0..3 {
            leaf.now_us += 400;
            leaf.probe(6, 2, 9_000);
            leaf.port_to(2, 1);
        }
        assert_eq!(leaf.port_to(2, 1), 6, "{}", way.describe());
    }
}

#[test]
fn hula_knows_what_it_has_sent_itself() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, "HULA");
        leaf.probe(5, 2, 0);
        assert_eq!(leaf.port_to(2, 1), 5);
        for flow in 0..50 {
            leaf.port_to(2, flow);
        }
        // 51 datagrams of 42 bytes have just left by port 5, so 2,142 bytes: more than 2,000, less than 3,000.
        leaf.probe(5, 2, 0);
        leaf.probe(6, 2, 3_000);
        assert_eq!(leaf.port_to(2, 100), 5);
        leaf.probe(5, 2, 0);
        leaf.probe(6, 2, 2_000);
        assert_eq!(leaf.port_to(2, 101), 6, "{}", way.describe());
    }
}

#[test]
fn flows_are_spread_by_each_scheme() {
    for (way, scheme) in WAYS.into_iter().flat_map(|way| ["ECMP", "FLOWLET", "LETFLOW", "DRILL"].map(|it| (way, it))) {
        let mut leaf = Leaf::new(way, scheme);
        let of_flows: Vec<u32> = (0..40).map(|flow| leaf.port_to(2, 3_000 + 7 * flow)).collect();
        let mut of_flow = Vec::new();
        for _ in 0..40 {
            leaf.now_us += 600;
            of_flow.push(leaf.port_to(2, 1));
        }
        let of_flowlet: Vec<u32> = (0..40).map(|_| leaf.port_to(2, 1)).collect();
        let is_spread = |ports: &[u32]| ports.contains(&5) && ports.contains(&6);
        let found = [is_spread(&of_flows), is_spread(&of_flow), is_spread(&of_flowlet)];
        let expected = match scheme {
            "ECMP" => [true, false, false],
            "DRILL" => [true, true, true],
            _ => [true, true, false],
        };
        assert_eq!(found, expected, "{scheme}, {}", way.describe());
    }
}

/// A datagram from a leaf to the host, which came by its uplink `path` with this congestion, and reports that of an
/// uplink of this leaf.
fn overlaid(leaf: u8, path: u8, congestion: u8, report: (u8, u8)) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb6];
    frame.extend([0, leaf, path, congestion, report.0, report.1, 8, 0]);
    frame.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, leaf, 1, 2, 10, 1, 1, 2]);
    frame.extend([0, 1, 0, 9, 0, 8, 0, 0]);
    frame
}

#[test]
fn conga_takes_the_path_that_the_other_leaf_reports() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, "CONGA");
        // The host gets the packet as it was sent.
        let sent = leaf.pass(5, &overlaid(2, 6, 3, (5, 4)));
        assert_eq!((sent.len(), sent[0].0, &sent[0].1[12..14]), (1, 1, &[8, 0][..]), "{}", way.describe());
        leaf.pass(5, &overlaid(3, 5, 2, (6, 1)));
        // To leaf 2 uplink 5 is congested, to leaf 3 uplink 6.
        let ports = |leaf: &mut Leaf, to| (0..20).map(|flow| leaf.port_to(to, 100 + flow)).collect::<Vec<_>>();
        assert!(ports(&mut leaf, 2).iter().all(|port| *port == 6));
        assert!(ports(&mut leaf, 3).iter().all(|port| *port == 5));
        // Packets carry this leaf's number, the uplink, and what came by uplinks 5 and 6 of leaf 2 in turns.
        let report = |leaf: &mut Leaf| leaf.pass(1, &datagram(2, 200))[0].1[14..20].to_vec();
        let mut reports = [report(&mut leaf), report(&mut leaf)];
        reports.sort();
        assert_eq!(reports, [[0, 1, 6, 0, 5, 0], [0, 1, 6, 0, 6, 3]]);
        // What is reported does not count for ever: both are as good again.
        leaf.now_us += 2 * AGE_US;
        let later = ports(&mut leaf, 2);
        assert!(later.contains(&5) && later.contains(&6), "{later:?}");
    }
}

#[test]
fn polled_paths_are_those_that_the_controller_sets() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, "POLLED");
        let before = (leaf.port_to(2, 1), leaf.port_to(3, 1));
        assert_eq!(before, (5, 6), "{}", way.describe());
        let counter = leaf.translator.counter(te::polling::COUNTER).unwrap();
        let counted = leaf.switch.externs_mut().counters[counter].iter().map(|cell| cell.packets).collect::<Vec<_>>();
        assert_eq!((counted[2 * 32 + 5], counted[3 * 32 + 6]), (1, 1));
        let orders = Polling::new(&place()).poll(&|index| counted[index as usize]);
        leaf.carry_out(&orders);
        assert_eq!((leaf.port_to(2, 2), leaf.port_to(3, 2)), (6, 5));
    }
}

#[test]
fn no_flow_goes_where_a_link_is_down() {
    let place = Place { unreachable: vec![(2, 5)], ..place() };
    for (way, scheme) in
        WAYS.into_iter().flat_map(|way| ["ECMP", "FLOWLET", "LETFLOW", "CONGA", "HULA", "POLLED"].map(|it| (way, it)))
    {
        let mut leaf = Leaf::at(&place, way, scheme);
        let to_cut_off: Vec<u32> = (0..20).map(|flow| leaf.port_to(2, 3_000 + 7 * flow)).collect();
        assert!(to_cut_off.iter().all(|port| *port == 6), "{scheme}, {}: {to_cut_off:?}", way.describe());
        let to_others: Vec<u32> = (0..20).map(|flow| leaf.port_to(3, 3_000 + 7 * flow)).collect();
        assert!(to_others.contains(&5) || scheme == "POLLED", "{scheme}, {}: {to_others:?}", way.describe());
    }
}
