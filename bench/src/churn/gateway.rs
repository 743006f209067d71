//! Subscribers whose flows begin, pause and end, and a server that answers them.
//!
//! Each frame has the number of its flow in its payload. What leaves to the Internet shows the flow's public address
//! and port: they stay the same unless the flow was idle for its time, and two never have the same. What leaves to the
//! subscribers was sent to the public side of a flow, and must come out in the tunnel of its subscriber with its inner
//! side. Flows use both directions, or one at a time for about as long as a binding may be idle. There are little more
//! public ports than bindings, so that ports are used again soon.

use super::{ALIVE, Case, Counts, IDLE, Surroundings};
use base::{OrderedMap, Rng};
use bng::command::BngArguments;
use clap::Parser;
use controller::address::Mac;
use controller::packet::arp::{self, Arp};
use controller::packet::{ETHERTYPE_ARP, ETHERTYPE_IPV4, Frame, ip};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Ports: to subscribers, to the Internet.
const ACCESS: u32 = 1;
const CORE: u32 = 2;

const GATEWAY: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 2, 1])];
const NEIGHBOUR: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 2]), Mac([2, 0, 0, 0, 2, 2])];

/// The gateway's end of all tunnels.
const LOCAL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

/// The inner address of every subscriber.
const INNER: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 10);
const SERVER_PORT: u16 = 53;
const SUBSCRIBERS: u32 = 500;

/// The protocol of tunnels, and their header without a key.
const GRE: u8 = 47;
const GRE_HEADER: [u8; 4] = [0, 0, 8, 0];

/// The bytes of a UDP header. Behind it is the number of the flow, and then whether the frame must come out.
const UDP: usize = 8;
const PAYLOAD: usize = 9;

/// The parts of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Both,
    Up,
    Down,
    Pause,
}

/// A flow of a subscriber.
#[derive(Clone, Debug)]
struct Flow {
    /// It is different from that of every other flow, and has the subscriber and the port.
    number: u64,
    public: Option<(u32, u16)>,
    /// When a frame of it that came out was last sent or received.
    used: Duration,
    phase: Phase,
    phase_ends: Duration,
    ends: Duration,
    /// The frame to the Internet, and that of an answer.
    up: Vec<u8>,
    down: Vec<u8>,
}

pub struct Gateway {
    rng: Rng,
    flows: Vec<Flow>,
    /// The flows by number: those that have ended are not there.
    places: OrderedMap<u64, usize>,
    /// Who was last seen with a public address and port, and when.
    owners: OrderedMap<(u32, u16), (u64, Duration)>,
    /// The next inner port of each subscriber.
    ports: Vec<u16>,
    next_number: u64,
    /// Pending replies of neighbours, by port.
    replies: [VecDeque<Vec<u8>>; 2],
    frame: Vec<u8>,
    counts: Counts,
    /// Frames that have come out, and those that had to, but have not yet.
    left: u64,
    awaited: u64,
    /// Bindings that were seen first, and those that replaced an idle one.
    made: u64,
    changed: u64,
}

/// The arguments of the controller.
#[derive(Parser, Debug)]
struct Arguments {
    #[command(flatten)]
    bng: BngArguments,
}

/// The case with this many flows.
pub fn case(flows: u32) -> Result<Case, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bng.toml");
    std::fs::write(&path, config(flows))?;
    let line = ["bng", "control", "--switch", "here", "--config"].map(str::to_owned);
    let arguments = Arguments::parse_from(line.into_iter().chain([path.display().to_string()]));
    let controller = Box::new(move |here: &ctl::Options| {
        let _owned = &folder;
        arguments.bng.within(here).map_err(|exit| format!("the controller does not start: {exit:?}"))
    });
    let world = Arc::new(Mutex::new(Gateway::new(flows)));
    Ok(Case { name: "bng", program: "apps/bng/bng.p4", ports: vec![ACCESS, CORE], world, controller })
}

fn remote(subscriber: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(Ipv4Addr::new(10, 64, 0, 0)) + subscriber)
}

fn config(flows: u32) -> String {
    // A flow has its binding while it lives and once more as long.
    let ports = (flows * 2).div_ceil(16).max(64);
    let mut text = format!(
        "[[interface]]\nport = {ACCESS}\nside = \"access\"\nmac = \"{}\"\naddress = \"{LOCAL}/24\"\n\
         [[interface]]\nport = {CORE}\nside = \"core\"\nmac = \"{}\"\naddress = \"192.0.2.1/24\"\n\
         [[route]]\nto = \"10.64.0.0/10\"\nvia = \"10.0.0.2\"\n[[route]]\nto = \"0.0.0.0/0\"\nvia = \"192.0.2.2\"\n\
         [nat]\npool = [\"198.51.100.0/28\"]\nports = [1024, {}]\nudp = {}\n",
        GATEWAY[0],
        GATEWAY[1],
        1023 + ports,
        IDLE.as_secs_f64(),
    );
    for number in 1..=SUBSCRIBERS {
        let remote = remote(number);
        let _infallible = writeln!(
            text,
            "[[subscriber]]\nnumber = {number}\nremote = \"{remote}\"\nlocal = \"{LOCAL}\"\nnetwork = \"192.168.1.0/24\""
        );
    }
    text
}

/// A datagram with the number of its flow.
fn datagram(from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), number: u64) -> Vec<u8> {
    let length = (UDP + PAYLOAD) as u16;
    let ports = [from.1, to.1, length, 0].map(u16::to_be_bytes).concat();
    let payload = [&ports[..], &number.to_be_bytes(), &[0]].concat();
    ip::build(from.0.into(), to.0.into(), ip::UDP, 64, &payload).unwrap_or_default()
}

fn frame(side: usize, payload: &[u8]) -> Vec<u8> {
    let (destination, source) = (GATEWAY[side], NEIGHBOUR[side]);
    Frame { destination, source, ethertype: ETHERTYPE_IPV4, payload }.to_bytes()
}

impl Gateway {
    fn new(count: u32) -> Gateway {
        let (flows, places, owners, replies, counts) = Default::default();
        let mut it = Gateway {
            rng: Rng::new(1),
            flows,
            places,
            owners,
            ports: vec![1024; SUBSCRIBERS as usize + 1],
            next_number: 1,
            replies,
            frame: Vec::new(),
            counts,
            left: 0,
            awaited: 0,
            made: 0,
            changed: 0,
        };
        for _ in 0..count {
            let flow = it.begin(Duration::ZERO);
            it.places.insert(flow.number, it.flows.len());
            it.flows.push(flow);
        }
        it
    }

    /// A random time around that for which a binding may be idle.
    fn about_idle(&mut self, least: f64, most: f64) -> Duration {
        IDLE.mul_f64(least + (most - least) * self.rng.below(1 << 20) as f64 / f64::from(1 << 20))
    }

    fn begin(&mut self, now: Duration) -> Flow {
        let subscriber = 1 + self.rng.below(u64::from(SUBSCRIBERS)) as u32;
        let next = &mut self.ports[subscriber as usize];
        let port = *next;
        *next = if port == u16::MAX { 1024 } else { port + 1 };
        let number = self.next_number << 33 | u64::from(subscriber) << 16 | u64::from(port);
        self.next_number += 1;
        let inner = datagram((INNER, port), (SERVER, SERVER_PORT), number);
        let payload = [&GRE_HEADER[..], &inner].concat();
        let outer = ip::build(remote(subscriber).into(), LOCAL.into(), GRE, 64, &payload).unwrap_or_default();
        Flow {
            number,
            public: None,
            used: Duration::ZERO,
            phase: Phase::Both,
            phase_ends: now + self.about_idle(0.2, 2.0),
            ends: now + self.about_idle(1.0, 8.0),
            up: frame(0, &outer),
            down: Vec::new(),
        }
    }

    /// The next part of a flow's life, or the next flow in its place.
    fn go_on(&mut self, place: usize, now: Duration) {
        let flow = &self.flows[place];
        if now >= flow.ends {
            self.places.remove(&flow.number);
            let next = self.begin(now);
            self.places.insert(next.number, place);
            self.flows[place] = next;
            return;
        }
        // Nothing but a packet to the Internet begins anew what may have ended.
        let is_bound = flow.public.is_some() && now.saturating_sub(flow.used) < ALIVE;
        let phase = match self.rng.below(8) {
            0..3 => Phase::Both,
            3 => Phase::Pause,
            4 | 5 if is_bound => Phase::Down,
            _ => Phase::Up,
        };
        let lasts = match phase {
            Phase::Pause => self.about_idle(0.2, 1.6),
            _ => self.about_idle(0.2, 2.5),
        };
        let flow = &mut self.flows[place];
        (flow.phase, flow.phase_ends) = (phase, now + lasts);
    }

    /// The next flow that sends in this direction.
    fn sender(&mut self, side: usize, now: Duration) -> Option<usize> {
        for _ in 0..16 {
            let place = self.rng.below(self.flows.len() as u64) as usize;
            if now >= self.flows[place].phase_ends {
                self.go_on(place, now);
            }
            let flow = &self.flows[place];
            // The server answers flows that it has received, as long as the binding is in use.
            let may = match side {
                0 => matches!(flow.phase, Phase::Both | Phase::Up),
                _ => {
                    matches!(flow.phase, Phase::Both | Phase::Down)
                        && flow.public.is_some()
                        && now.saturating_sub(flow.used) < ALIVE / 2
                }
            };
            if may {
                return Some(place);
            }
        }
        None
    }

    fn answer(&mut self, side: usize, frame: &Frame<'_>) {
        let Some(request) = Arp::parse(frame.payload).filter(|it| it.operation == arp::REQUEST) else { return };
        let Arp { sender_mac, sender, target, .. } = request;
        let mac = NEIGHBOUR[side];
        let reply =
            Arp { operation: arp::REPLY, sender_mac: mac, sender: target, target_mac: sender_mac, target: sender };
        let payload = &reply.to_bytes();
        let reply = Frame { destination: sender_mac, source: mac, ethertype: ETHERTYPE_ARP, payload };
        self.replies[side].push_back(reply.to_bytes());
    }

    /// A frame has left for the Internet: whether it has the public side of its flow.
    fn judge_up(&mut self, now: Duration, (number, packet): (u64, &ip::Packet<'_>)) {
        let Some(public) = source(packet) else { return self.counts.wrong(|| format!("no datagram: {packet:?}")) };
        let before = self.owners.insert(public, (number, now));
        let is_taken = |(owner, used): (u64, Duration)| owner != number && now.saturating_sub(used) < ALIVE;
        if let Some((owner, used)) = before.filter(|it| is_taken(*it)) {
            let idle = now.saturating_sub(used);
            return self.counts.wrong(|| format!("{number:#x} has {public:x?} of {owner:#x}, idle for {idle:?}"));
        }
        // The flow may have ended while the frame was in flight.
        let Some(flow) = self.places.get(&number).map(|place| &mut self.flows[*place]) else {
            return self.counts.right += 1;
        };
        let idle = now.saturating_sub(std::mem::replace(&mut flow.used, now));
        match flow.public.replace(public) {
            Some(before) if before == public => {}
            Some(before) if idle < ALIVE => {
                flow.down.clear();
                let example = || format!("{number:#x} has {public:x?} after {before:x?}, idle for {idle:?}");
                return self.counts.wrong(example);
            }
            Some(_) => self.changed += 1,
            None => self.made += 1,
        }
        if flow.down.is_empty() || idle >= ALIVE {
            let to = (Ipv4Addr::from_bits(public.0), public.1);
            flow.down = frame(1, &datagram((SERVER, SERVER_PORT), to, number));
        }
        self.counts.right += 1;
    }

    /// A frame has left in a tunnel: whether it is that of its flow.
    fn judge_down(&mut self, now: Duration, number: u64, outer: &ip::Packet<'_>, inner: &ip::Packet<'_>) {
        let (subscriber, port) = ((number >> 16) as u32 & 0x1_FFFF, number as u16);
        let to = (inner.destination, inner.payload.get(2..4).map(|it| u16::from_be_bytes([it[0], it[1]])));
        let is_right = outer.destination == remote(subscriber) && to == (INNER.into(), Some(port));
        if !is_right || inner.source != SERVER {
            let there = outer.destination;
            return self.counts.wrong(|| format!("an answer to {number:#x} goes to {to:?} in the tunnel of {there}"));
        }
        if let Some(flow) = self.places.get(&number).map(|place| &mut self.flows[*place]) {
            flow.used = now;
            if let Some(owner) = flow.public.and_then(|public| self.owners.get_mut(&public)) {
                owner.1 = now;
            }
        }
        self.counts.right += 1;
    }
}

/// The address and port of a sender.
fn source(packet: &ip::Packet<'_>) -> Option<(u32, u16)> {
    let (IpAddr::V4(address), Some(port)) = (packet.source, packet.payload.get(..2)) else { return None };
    (packet.protocol == ip::UDP).then_some((address.to_bits(), u16::from_be_bytes([port[0], port[1]])))
}

impl Surroundings for Gateway {
    fn next(&mut self, port: u32, now: Duration) -> Option<&[u8]> {
        let side = usize::from(port == CORE);
        if let Some(reply) = self.replies[side].pop_front() {
            self.frame = reply;
            return Some(&self.frame);
        }
        let place = self.sender(side, now)?;
        let flow = &self.flows[place];
        let must_leave = flow.public.is_some() && now.saturating_sub(flow.used) < ALIVE;
        self.frame.clear();
        self.frame.extend(if side == 0 { &flow.up } else { &flow.down });
        if let Some(last) = self.frame.last_mut().filter(|_| must_leave) {
            *last = 1;
        }
        self.counts.sent += 1;
        self.awaited += u64::from(must_leave);
        Some(&self.frame)
    }

    fn left(&mut self, port: u32, now: Duration, bytes: &[u8]) {
        let side = usize::from(port == CORE);
        let Some(it) = Frame::parse(bytes) else { return };
        if it.ethertype != ETHERTYPE_IPV4 {
            return self.answer(side, &it);
        }
        let Some((number, must_leave)) = bytes.split_last_chunk::<PAYLOAD>().map(|(_, payload)| {
            let [number @ .., must_leave] = payload;
            (u64::from_be_bytes(*number), *must_leave)
        }) else {
            return;
        };
        self.left += 1;
        self.awaited = self.awaited.wrapping_sub(must_leave.into());
        let Some(outer) = ip::Packet::parse(it.payload) else {
            return self.counts.wrong(|| format!("no packet: {bytes:02x?}"));
        };
        if side == 1 {
            return self.judge_up(now, (number, &outer));
        }
        match outer.payload.strip_prefix(&GRE_HEADER).and_then(ip::Packet::parse) {
            Some(inner) => self.judge_down(now, number, &outer, &inner),
            None => self.counts.wrong(|| format!("no tunnel: {bytes:02x?}")),
        }
    }

    fn finish(&mut self) {
        self.counts.lost = self.awaited;
    }

    fn counts(&self) -> Counts {
        let dropped = self.counts.sent.saturating_sub(self.left);
        let more = vec![
            ("dropped without a binding", dropped.saturating_sub(self.counts.lost)),
            ("bindings of new flows", self.made),
            ("bindings of flows that were idle", self.changed),
        ];
        Counts { more, ..self.counts.clone() }
    }
}
