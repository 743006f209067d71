//! The networks that schemes are compared in: rates, queues, hosts, and the parameters that depend on them.

use serde::{Deserialize, Serialize};
use sim::Time;

/// Leaves, spines, hosts of each leaf.
pub const LEAVES: usize = 4;
pub const SPINES: usize = 4;
pub const HOSTS_PER_LEAF: usize = 4;

/// Payload of a full segment over IPv6 with time stamps.
pub const PAYLOAD_BYTES: u64 = 1_428;

/// A network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// That of section 7: queues let out 20 and 40 packets a second.
    Paper,
    /// The same with four times the room in queues.
    PaperDeep,
    /// Links of 10 Gb/s.
    Gbps10,
    /// The same, with a quarter of the rate between the first leaf and the first spine.
    Gbps10Slow,
    /// Links of 100 Gb/s.
    Gbps100,
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
    /// Propagation of each link, in microseconds.
    pub delay_us: u64,
    /// From switches to controllers and back.
    pub controller_latency: Time,
    /// HULA: from one probe to the next; after how long without one a way is not used; the estimator spans 2 to the
    /// power of this in microseconds.
    pub probe_interval: Time,
    pub probe_age_us: u64,
    pub span_shift: u8,
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
    /// The smallest timeout of TCP.
    pub min_rto: Time,
    /// When flows begin, for how long they do, when runs end.
    pub begin: Time,
    pub sending: Time,
    pub end: Time,
}

impl Setting {
    /// Whether the link between the first leaf and the first spine has a quarter of the rate.
    pub fn has_slow_link(self) -> bool {
        self == Setting::Gbps10Slow
    }

    /// What it is like.
    pub fn parameters(self) -> Parameters {
        match self {
            Setting::Paper => paper(1),
            Setting::PaperDeep => paper(4),
            Setting::Gbps10 | Setting::Gbps10Slow => lines(10),
            Setting::Gbps100 => lines(100),
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
        delay_us: 100,
        controller_latency: Time::from_ms(1),
        probe_interval: Time::from_ms(100),
        probe_age_us: 350_000,
        span_shift: 18,
        delta: 2,
        burst_us: 50_000,
        control_window: 16 << 10,
        shares: [900, 1_000],
        // As iperf writes: 128 KiB at a time.
        application: (48_000, 128 << 10),
        window_bytes: 16 << 10,
        min_rto: Time::from_ms(200),
        begin: Time::from_s(1),
        sending: Time::from_s(500),
        end: Time::from_s(900),
    }
}

/// Lines of so many gigabits a second, everywhere.
fn lines(gbps: u64) -> Parameters {
    let rate = gbps * 1_000_000_000;
    // Marks of DCTCP grow with the product of rate and round trip: 65 packets at 10 Gb/s.
    let mark_from = (65 * gbps / 10) as u32;
    Parameters {
        counts_packets: false,
        host_rate: rate,
        fabric_rate: rate,
        host_queue: 4 * mark_from as usize,
        fabric_queue: 4 * mark_from as usize,
        mark_from,
        delay_us: 2,
        controller_latency: Time::from_us(10),
        probe_interval: Time::from_us(200),
        probe_age_us: 700,
        span_shift: 8,
        delta: mark_from / 4,
        burst_us: 20,
        control_window: (rate / 8 / 1_000_000 * 40) as u32,
        shares: [750, 950],
        application: (0, 0),
        window_bytes: 3 << 20,
        min_rto: Time::from_ms(5),
        begin: Time::from_ms(1),
        sending: Time::from_ms(400 / gbps),
        end: Time::from_ms(400 / gbps + 3_000),
    }
}
