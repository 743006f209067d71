//! The networks that schemes are compared in: form, rates, queues, hosts, and the parameters that depend on them.

use serde::{Deserialize, Serialize};
use sim::Time;

/// Payload of a full segment over IPv6 with time stamps.
pub const PAYLOAD_BYTES: u64 = 1_428;

/// A network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// That of section 7: queues let out 20 and 40 packets a second.
    Paper,
    /// The same with four times the capacity of queues.
    PaperDeep,
    /// Lines of `gbps` gigabits a second everywhere.
    Lines { gbps: u64, shape: Shape, fault: Fault },
}

/// The form of a network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Four leaves with four hosts each, four spines.
    LeafSpine,
    /// Three layers of switches with this many ports.
    FatTree(u32),
}

/// What is wrong with the link between the first leaf and the first spine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    None,
    /// It has a quarter of the rate.
    SlowLink,
    /// It is down, as controllers know.
    FailedLink,
    /// It goes down while flows are active. Controllers know it a while later.
    FailingLink,
}

/// What is not as usual in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Tuning {
    /// Congestion control of hosts.
    #[serde(default)]
    pub congestion: Congestion,
    /// P4TE's Δ.
    #[serde(default)]
    pub delta: Option<u32>,
    /// P4TE's committed and peak rates, in thousandths of a link.
    #[serde(default)]
    pub shares: Option<[u64; 2]>,
    /// From switches to controllers and back.
    #[serde(default)]
    pub latency_us: Option<u64>,
}

/// Congestion control of hosts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    #[default]
    Dctcp,
    Cubic,
    NewReno,
}

impl Congestion {
    /// The same for an endpoint.
    pub fn control(self) -> tcp::Congestion {
        match self {
            Congestion::Dctcp => tcp::Congestion::Dctcp,
            Congestion::Cubic => tcp::Congestion::Cubic,
            Congestion::NewReno => tcp::Congestion::NewReno,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Congestion::Dctcp => "DCTCP",
            Congestion::Cubic => "CUBIC",
            Congestion::NewReno => "NewReno",
        }
    }
}

impl Tuning {
    /// What is different, in words; nothing if nothing is.
    pub fn name(&self) -> String {
        let mut parts = Vec::new();
        if self.congestion != Congestion::Dctcp {
            parts.push(self.congestion.name().to_owned());
        }
        parts.extend(self.delta.map(|delta| format!("Δ {delta}")));
        parts.extend(self.shares.map(|[committed, peak]| format!("{}/{} %", committed / 10, peak / 10)));
        parts.extend(self.latency_us.map(|latency| format!("{latency} µs")));
        parts.join(", ")
    }
}

impl Shape {
    /// Switches with hosts.
    pub fn leaves(self) -> usize {
        match self {
            Shape::LeafSpine => 4,
            Shape::FatTree(ports) => (ports * ports / 2) as usize,
        }
    }

    /// Hosts of each.
    pub fn hosts_per_leaf(self) -> usize {
        match self {
            Shape::LeafSpine => 4,
            Shape::FatTree(ports) => ports as usize / 2,
        }
    }

    /// Ports of each that lead up.
    pub fn uplinks(self) -> usize {
        self.hosts_per_leaf()
    }

    /// To which leaf the hosts of a leaf send, counted from it: in a fat-tree one of another pod.
    pub fn stride(self) -> usize {
        match self {
            Shape::LeafSpine => 1,
            Shape::FatTree(ports) => ports as usize / 2,
        }
    }

    /// The form in a scenario.
    pub fn keys(self) -> String {
        match self {
            Shape::LeafSpine => "kind = \"leaf-spine\"\nleaves = 4\nspines = 4\nhosts_per_leaf = 4".to_owned(),
            Shape::FatTree(ports) => format!("kind = \"fat-tree\"\nk = {ports}"),
        }
    }
}

/// What a network is like.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Whether rates are in packets a second, let out evenly by queues as those of the reference switch; otherwise in
    /// bits a second, of lines.
    pub counts_packets: bool,
    /// Rates to hosts, and between switches.
    pub host_rate: u64,
    pub fabric_rate: u64,
    /// Packets in queues to hosts and between switches, and from where on others are marked.
    pub host_queue: usize,
    pub fabric_queue: usize,
    pub mark_from: u32,
    /// Whether P4TE marks packets, too.
    pub marks_p4te: bool,
    /// Propagation of each link, in microseconds.
    pub delay_us: u64,
    /// From switches to controllers and back.
    pub controller_latency: Time,
    /// HULA: from one probe to the next; after how long without one a path is not used; the estimator spans 2 to the
    /// power of this in microseconds, that of CONGA too.
    pub probe_interval: Time,
    pub probe_age_us: u64,
    pub span_shift: u8,
    /// From one poll to the next where controllers poll counters.
    pub poll_interval: Time,
    /// P4TE: Δ, what meters let pass at once in microseconds of a link, B.
    pub delta: u32,
    pub burst_us: u64,
    pub control_window: u32,
    /// The rates of meters of links as parts of thousands of the links.
    pub shares: [u64; 2],
    /// What applications write at most in bits a second, and at a time; 0 for all at once.
    pub application: (u64, u64),
    /// What a receiver takes.
    pub window_bytes: u64,
    /// The smallest timeout of TCP, and that of a SYN.
    pub min_rto: Time,
    pub initial_rto: Time,
    /// When flows begin, for how long they do, when runs end.
    pub begin: Time,
    pub sending: Time,
    pub end: Time,
}

impl Setting {
    /// Its form.
    pub fn shape(self) -> Shape {
        match self {
            Setting::Lines { shape, .. } => shape,
            Setting::Paper | Setting::PaperDeep => Shape::LeafSpine,
        }
    }

    /// What is wrong in it.
    pub fn fault(self) -> Fault {
        match self {
            Setting::Lines { fault, .. } => fault,
            Setting::Paper | Setting::PaperDeep => Fault::None,
        }
    }

    /// What it is like.
    pub fn parameters(self) -> Parameters {
        match self {
            Setting::Paper => paper(1),
            Setting::PaperDeep => paper(4),
            Setting::Lines { gbps, shape, .. } => lines(gbps, shape),
        }
    }
}

/// Section 7: buffers of 0.2 s, here times a factor.
fn paper(factor: usize) -> Parameters {
    Parameters {
        counts_packets: true,
        host_rate: 40,
        fabric_rate: 20,
        host_queue: 8 * factor,
        fabric_queue: 4 * factor,
        mark_from: 3,
        marks_p4te: false,
        delay_us: 100,
        controller_latency: Time::from_ms(1),
        probe_interval: Time::from_ms(100),
        probe_age_us: 350_000,
        span_shift: 18,
        poll_interval: Time::from_ms(750),
        delta: 2,
        burst_us: 100_000,
        control_window: 5_000,
        shares: [900, 1_000],
        application: (48_000, 1_400),
        window_bytes: 16 << 10,
        min_rto: Time::from_ms(200),
        initial_rto: Time::from_s(1),
        begin: Time::from_s(1),
        sending: Time::from_s(500),
        end: Time::from_s(1_500),
    }
}

/// Lines of `gbps` gigabits a second, everywhere.
fn lines(gbps: u64, shape: Shape) -> Parameters {
    let rate = gbps * 1_000_000_000;
    // Marks of DCTCP grow with the product of rate and round trip: 65 packets at 10 Gb/s.
    let mark_from = (65 * gbps / 10) as u32;
    let hosts = (shape.leaves() * shape.hosts_per_leaf()) as u64;
    // As many flows in larger networks, but not all of them at once.
    let sending = Time::from_us((600_000 / gbps * 16 / hosts).max(1_000_000 / (10 * gbps)));
    Parameters {
        counts_packets: false,
        host_rate: rate,
        fabric_rate: rate,
        host_queue: 4 * mark_from as usize,
        fabric_queue: 4 * mark_from as usize,
        mark_from,
        marks_p4te: true,
        delay_us: 2,
        controller_latency: Time::from_us(10),
        probe_interval: Time::from_us(200),
        probe_age_us: 700,
        span_shift: 8,
        poll_interval: Time::from_us(1_500),
        delta: mark_from / 4,
        burst_us: 20,
        control_window: (rate / 8 / 1_000_000 * 40) as u32,
        shares: [750, 950],
        application: (0, 0),
        window_bytes: 3 << 20,
        min_rto: Time::from_ms(5),
        // A lost SYN would cost a thousand times what a short flow takes.
        initial_rto: Time::from_ms(5),
        begin: Time::from_ms(1),
        sending,
        // The largest flow, of 1 GB, may stay on a slow link.
        end: sending + Time::from_s(6),
    }
}
