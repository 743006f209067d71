//! Two aggregation gateways in series. The second must send what two routers would have sent, in the order of each
//! flow and in time; packets lost between them are counted; a restart does not create packets.

use base::Rng;
use base::index::Id as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use switch::{Config, Output, Switch};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_file, switch_with};

/// The longest waiting times of packets of the two classes.
const WAITS_NS: [u64; 2] = [1_000_000, 300_000];

/// The classes by destination and port: a tunnel over IPv4 for most, and one over IPv6 for the rest.
const NEAR: &str = "\
table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5000->5000 => 3 200 1000 1
table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5001->5001 => 3 200 300 1
table_add classes_ipv6 aggregate 2001:db8:1::0&&&0xffffffffffff00000000000000000000 5000->5000 => 4 200 1000 1
table_add classes_ipv6 aggregate 2001:db8:1::0&&&0xffffffffffff00000000000000000000 5001->5001 => 4 200 300 1
table_add tunnels over_ipv4 3 => 2 600 192.0.2.1 192.0.2.2 7 1
table_add tunnels over_ipv6 4 => 2 1500 2001:db8::1 2001:db8::2 8 0
table_add route_ipv4 send 10.0.0.0/16 => 2
table_add route_ipv6 send 2001:db8::0/32 => 2
table_add link rewrite 2 => 02:00:00:00:02:01 02:00:00:00:02:02
";

const FAR: &str = "\
table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0
table_add peers_ipv6 is_peer 2001:db8::1 2001:db8::2 8 => 1
table_add route_ipv4 send 10.0.0.0/16 => 2
table_add route_ipv6 send 2001:db8::0/32 => 2
table_add link rewrite 2 => 02:00:00:00:04:01 02:00:00:00:04:02
";

/// Packets that were sent, with their times.
#[derive(Default)]
struct Sent(Vec<(u64, Vec<u8>)>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        assert_eq!(port, 2, "all ways lead there");
        self.0.push((time_ns, frame.to_vec()));
    }
}

fn checksum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

/// A UDP packet with a unique number; IPv6 for flows with odd numbers.
fn packet(rng: &mut Rng, flow: u8, number: u32) -> Vec<u8> {
    let length_max = if rng.chance(1, 8) { 400 } else { 60 };
    let mut payload = vec![0; rng.below(length_max) as usize];
    rng.fill(&mut payload);
    let length = 8 + payload.len() as u16;
    let mut ip = Vec::new();
    if flow.is_multiple_of(2) {
        ip.extend([0x45, rng.below(256) as u8]);
        ip.extend((20 + length).to_be_bytes());
        ip.extend((number as u16).to_be_bytes());
        ip.extend([if rng.chance(1, 2) { 0x40 } else { 0 }, 0, rng.between(3, 255) as u8, 17, 0, 0]);
        ip.extend([10, 0, 0, flow, 10, 0, 1, flow]);
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        ip.extend((0x6000_0000 | number).to_be_bytes());
        ip.extend(length.to_be_bytes());
        ip.extend([17, rng.between(3, 255) as u8]);
        for network in [0, 1] {
            ip.extend([0x20, 1, 0x0d, 0xb8, 0, network, 0, 0, 0, 0, 0, 0, 0, 0, 0, flow]);
        }
    }
    ip.extend(4000u16.to_be_bytes());
    ip.extend((5000 + u16::from(flow / 2 % 3)).to_be_bytes());
    ip.extend(length.to_be_bytes());
    // The payload must be unchanged.
    ip.extend((rng.below(65_536) as u16).to_be_bytes());
    ip.extend(payload);
    ip
}

/// A frame with the packet, padded to the minimum size.
fn frame(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] });
    frame.extend(packet);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// The packet after two routers.
fn routed(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet[0] >> 4 == 6 {
        packet[7] -= 2;
        return packet;
    }
    packet[8] -= 2;
    packet[10..12].fill(0);
    let sum = checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The packet in a frame, without padding.
fn unframed(frame: &[u8]) -> Vec<u8> {
    let is_ipv4 = frame[12] == 8;
    let length = usize::from(u16::from_be_bytes(if is_ipv4 { [frame[16], frame[17]] } else { [frame[18], frame[19]] }));
    frame[14..][..if is_ipv4 { length } else { 40 + length }].to_vec()
}

/// A packet's flow, from its source address.
fn flow(packet: &[u8]) -> u8 {
    if packet[0] >> 4 == 4 { packet[15] } else { packet[23] }
}

fn is_aggregate(packet: &[u8]) -> bool {
    let ports = if packet[0] >> 4 == 4 { 20 } else { 40 };
    u16::from_be_bytes([packet[ports + 2], packet[ports + 3]]) == 4761
}

/// The faults of the network and of the gateways.
#[derive(Clone, Copy, Default)]
struct Trouble {
    /// One of this many aggregates is lost; 0: none.
    loses_one_of: u64,
    /// Whether some aggregates are duplicated or arrive after the next one.
    disorders: bool,
    /// Whether each gateway restarts sometimes.
    restarts: bool,
}

struct Gateways<'a> {
    way: Way,
    program: &'a Arc<ir::Program>,
    near: Switch,
    far: Switch,
    lost: u64,
    /// An aggregate that is overtaken by the next one of its tunnel.
    held: Option<Vec<u8>>,
    out: Sent,
}

impl Gateways<'_> {
    fn start(way: Way, program: &Arc<ir::Program>, entries: &str, seed: u64) -> Switch {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
        let mut switch =
            switch_with(program, &way.engine(&cache), Config { seed, start_number: seed, ..Config::default() })
                .unwrap();
        let commands = control::parse_entries("entries", entries, switch.program()).unwrap();
        control::apply_all(&mut switch, &commands).unwrap_or_else(|errors| panic!("{}", errors[0]));
        switch
    }

    fn new(way: Way, program: &Arc<ir::Program>) -> Gateways<'_> {
        let near = Gateways::start(way, program, NEAR, 1);
        let far = Gateways::start(way, program, FAR, 2);
        Gateways { way, program, near, far, lost: 0, held: None, out: Sent::default() }
    }

    fn restart(&mut self, rng: &mut Rng, now_ns: u64) {
        let seed = rng.below(1 << 40);
        match rng.below(2) {
            0 => {
                self.near = Gateways::start(self.way, self.program, NEAR, seed);
                self.near.advance(now_ns);
            }
            _ => {
                self.far = Gateways::start(self.way, self.program, FAR, seed);
                self.far.advance(now_ns);
                // The far gateway cannot recognise it as late any more.
                self.held = None;
            }
        }
    }

    /// Advances the time, and passes the near gateway's output to the far one.
    fn pass(&mut self, now_ns: u64, rng: &mut Rng, trouble: Trouble) {
        let mut sent = Sent::default();
        while let Some(due_ns) = self.near.next_event_ns().filter(|due_ns| *due_ns <= now_ns) {
            self.near.run(due_ns, &mut sent);
        }
        self.near.run(now_ns, &mut sent);
        for (time_ns, frame) in sent.0 {
            let is_aggregate = is_aggregate(&unframed(&frame));
            if is_aggregate && trouble.loses_one_of > 0 && rng.chance(1, trouble.loses_one_of) {
                self.lost += 1;
                continue;
            }
            if is_aggregate && trouble.disorders && self.held.is_none() && rng.chance(1, 8) {
                self.held = Some(frame);
                continue;
            }
            let twice = is_aggregate && trouble.disorders && rng.chance(1, 8);
            let overtaken = self.held.take_if(|held| is_aggregate && held[12] == frame[12]);
            let frames = [Some(frame.clone()), twice.then_some(frame), overtaken];
            for frame in frames.into_iter().flatten() {
                self.far.receive(time_ns, 1, &frame);
                self.far.run(time_ns, &mut self.out);
            }
        }
    }
}

/// The aggregates that the far gateway counted as lost.
fn counted_as_lost(far: &mut Switch) -> u64 {
    let program = Arc::clone(far.program());
    let (id, _) = program.registers.iter_enumerated().find(|(_, it)| it.name.ends_with("lost")).unwrap();
    assert!(id.index() < program.registers.len());
    far.externs_mut().registers[id].words(0..2).sum()
}

/// Sends random packets and checks the output packet by packet. Returns how many packets arrived, how many were sent,
/// and how many aggregates were lost by the test's count and by the gateway's.
fn check(way: Way, seed: u64, trouble: Trouble) -> (usize, usize, u64, u64) {
    let file = folder().join("../apps/aggregation/gateway/gateway.p4");
    let program = Arc::new(way.program(&program_of_file(&file).unwrap()).unwrap());
    let mut gateways = Gateways::new(way, &program);
    let mut rng = Rng::new(seed);
    let mut now_ns = 0;
    let mut inputs: BTreeMap<Vec<u8>, (u64, u32)> = BTreeMap::new();
    for number in 0..600 {
        now_ns += rng.below(60_000);
        gateways.pass(now_ns, &mut rng, trouble);
        if trouble.restarts && rng.chance(1, 60) {
            gateways.restart(&mut rng, now_ns);
        }
        let flow = rng.below(6) as u8;
        let packet = packet(&mut rng, flow, number);
        inputs.insert(routed(&packet), (now_ns, number));
        gateways.near.receive(now_ns, 1, &frame(&packet));
        gateways.pass(now_ns, &mut rng, trouble);
    }
    let calm = Trouble::default();
    gateways.pass(now_ns + 2_000_000, &mut rng, calm);
    let sent = inputs.len();
    let mut last: BTreeMap<u8, u32> = BTreeMap::new();
    let out = std::mem::take(&mut gateways.out.0);
    for (time_ns, frame) in &out {
        let packet = unframed(frame);
        // A duplicate, or a packet that was never sent, is not in the list.
        let (since_ns, number) =
            inputs.remove(&packet).unwrap_or_else(|| panic!("seed {seed}: not sent: {packet:02x?}"));
        let flow = flow(&packet);
        let before = last.insert(flow, number);
        assert!(before.is_none_or(|before| before < number), "seed {seed}: {before:?}, then {number} of flow {flow}");
        let wait_ns = WAITS_NS.get(usize::from(flow / 2)).copied().unwrap_or(0);
        assert!(time_ns - since_ns <= wait_ns, "seed {seed}: packet {number} waited {} ns", time_ns - since_ns);
    }
    (out.len(), sent, gateways.lost, counted_as_lost(&mut gateways.far))
}

/// Runs the test in each execution mode, first in the interpreter.
fn each_way(test: impl Fn(Way)) {
    Way::ALL.into_iter().for_each(test);
}

#[test]
fn the_output_is_that_of_two_routers() {
    each_way(|way| {
        for seed in [1, 2, 3] {
            let (received, sent, _, lost) = check(way, seed, Trouble::default());
            assert_eq!((received, lost), (sent, 0), "{}, seed {seed}", way.describe());
        }
    });
}

#[test]
fn lost_aggregates_are_counted_and_their_neighbours_arrive() {
    each_way(|way| {
        let (received, sent, lost, counted) = check(way, 4, Trouble { loses_one_of: 5, ..Trouble::default() });
        assert!(received < sent && received > sent / 2, "{}: {received} of {sent}", way.describe());
        // Losses after which nothing arrived in the tunnel cannot be detected.
        assert!(counted <= lost && counted + 3 >= lost && lost > 5, "{}: {counted} of {lost}", way.describe());
    });
}

#[test]
fn late_and_repeated_aggregates_are_not_delivered() {
    each_way(|way| {
        let (received, sent, ..) = check(way, 5, Trouble { disorders: true, ..Trouble::default() });
        assert!(received < sent && received > sent / 2, "{}: {received} of {sent}", way.describe());
    });
}

#[test]
fn restarts_duplicate_and_invent_nothing() {
    each_way(|way| {
        let trouble = Trouble { restarts: true, disorders: true, ..Trouble::default() };
        for seed in [6, 7] {
            let (received, sent, ..) = check(way, seed, trouble);
            assert!(received < sent && received > sent / 2, "{}: {received} of {sent}", way.describe());
        }
    });
}

/// The number of a packet of the flow in a sequence of aggregates.
fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

/// The aggregates of a sequence of packets of one flow whose payloads are numbers.
fn row(way: Way, program: &Arc<ir::Program>, packets: u32) -> Vec<Vec<u8>> {
    let mut near = Gateways::start(way, program, NEAR, 1);
    let mut sent = Sent::default();
    for number in 0..packets {
        let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 0, 10, 0, 1, 0];
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend([4000, 5000, 20, 0].map(u16::to_be_bytes).concat());
        packet.extend([number, 0, 0].map(u32::to_be_bytes).concat());
        let now_ns = 10_000 * u64::from(number);
        near.receive(now_ns, 1, &frame(&packet));
        near.run(now_ns, &mut sent);
    }
    near.run(u64::MAX / 2, &mut sent);
    assert!(sent.0.iter().all(|(_, frame)| is_aggregate(&unframed(frame))));
    sent.0.into_iter().map(|(_, frame)| frame).collect()
}

/// The output of the other gateway for aggregates in this order: the numbers of the packets, and its count of lost
/// aggregates.
fn taken_apart<'f>(way: Way, program: &Arc<ir::Program>, row: impl Iterator<Item = &'f Vec<u8>>) -> (Vec<u32>, u64) {
    let mut far = Gateways::start(way, program, FAR, 2);
    let mut out = Sent::default();
    for (time_ns, frame) in (0..).step_by(1000).zip(row) {
        far.receive(time_ns, 1, frame);
        far.run(time_ns, &mut out);
    }
    (out.0.iter().map(|(_, frame)| number(&unframed(frame))).collect(), counted_as_lost(&mut far))
}

#[test]
fn duplicated_or_late_sequences_are_not_delivered() {
    each_way(|way| {
        let file = folder().join("../apps/aggregation/gateway/gateway.p4");
        let program = Arc::new(way.program(&program_of_file(&file).unwrap()).unwrap());
        let row = row(way, &program, 1700);
        assert!(row.len() > 95, "{} aggregates", row.len());
        let (received, lost) = taken_apart(way, &program, row.iter().chain(&row));
        assert!(received.iter().copied().eq(0..1700) && lost == 0, "{}: {} packets", way.describe(), received.len());
        // Fifty aggregates take a slower path, and arrive after fifteen later ones.
        let order = row[..30].iter().chain(&row[80..95]).chain(&row[30..80]).chain(&row[95..]);
        let (received, lost) = taken_apart(way, &program, order);
        assert!(received.is_sorted() && received.len() < 1700, "{}: {} packets", way.describe(), received.len());
        assert_eq!((lost, received.last()), (50, Some(&1699)), "{}", way.describe());
    });
}
