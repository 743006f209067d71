//! The parameters of P4TE, by the rules of section 6.1 of the paper.

use te::Rates;

/// How many routing groups there are by queue: the ranges of 6.1.1.
pub const RANGES: u32 = 4;
/// How many by utilisation: a colour each.
pub const COLOURS: u32 = 3;

/// Parameters. Shares are in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// 6.1.1: Δ in packets. Ranges of queues are 0 to Δ, to 2Δ, to 3Δ, and the rest.
    pub delta: u32,
    /// 6.1.2: the part of a link's rate from which on it is yellow.
    pub committed_share: u64,
    /// The part from which on it is red.
    pub peak_share: u64,
    /// 6.1.2: the burst that a meter lets pass: what the link carries in this time. 5 % of its rate are
    /// 50 ms.
    pub burst_us: u64,
    /// 6.1.3: the part of an incoming link that short flows may have without being unsafe, and that of large ones.
    pub safe_shares: [u64; 2],
    /// 6.1.4: the pause after which a flow begins a flowlet.
    pub flowlet_us: u64,
    /// 6.1.5: B, the bytes for which a flow's rate is controlled at most once; 0 for never.
    pub control_window: u32,
    /// Packets in a queue from which on others are marked (ECN); `None` for never.
    pub mark_from: Option<u32>,
    /// What decides about paths.
    pub measures: Measures,
}

/// What decides about paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measures {
    /// Queues for short flows and colours for large ones, as in the paper.
    Both,
    /// Colours; all ports stay in the first group of queues.
    ColoursOnly,
    /// Queues for both classes. Ingress gets no colours.
    QueueOnly,
    /// Nothing: all ports stay in the first groups, and are equal.
    Neither,
}

impl Measures {
    /// Whether colours are among them.
    pub fn has_colours(self) -> bool {
        matches!(self, Measures::Both | Measures::ColoursOnly)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            delta: 2,
            committed_share: 750,
            peak_share: 950,
            burst_us: 50_000,
            safe_shares: [900, 100],
            flowlet_us: 40_000,
            control_window: 0,
            mark_from: None,
            measures: Measures::Both,
        }
    }
}

impl Settings {
    /// Whether somebody needs colours: paths, or control of rates. Otherwise all ports stay green, and no colour is
    /// reported.
    pub fn needs_colours(&self) -> bool {
        self.measures.has_colours() || self.control_window > 0
    }

    /// The meter of a link with this rate.
    pub fn utilisation(&self, units_per_s: u64) -> Rates {
        let burst = self.burst(units_per_s);
        Rates {
            committed_milliunits_per_s: units_per_s * self.committed_share,
            committed_burst: burst,
            peak_milliunits_per_s: units_per_s * self.peak_share,
            peak_burst: burst,
        }
    }

    /// The meter of a class (0 short, 1 large) on an incoming link.
    pub fn safe_rate(&self, class: usize, units_per_s: u64) -> Rates {
        Rates::one(units_per_s * self.safe_shares[class], self.burst(units_per_s))
    }

    /// At least one unit, and in meters of bytes one full packet.
    fn burst(&self, units_per_s: u64) -> u64 {
        let burst = (units_per_s * self.burst_us).div_ceil(1_000_000);
        burst.max(if units_per_s > PACKETS_PER_S_MAX { FULL_PACKET_BYTES } else { 1 })
    }

    /// The routing group of a queue with `depth` packets: line 2 of algorithm 3.
    pub fn range(&self, depth: u32) -> u32 {
        let ends = (1..RANGES).map(|range| self.delta.saturating_mul(range));
        ends.into_iter().filter(|end| depth > *end).count() as u32
    }
}

/// Links that carry more units a second are measured in bytes.
const PACKETS_PER_S_MAX: u64 = 10_000;
/// The longest frame.
const FULL_PACKET_BYTES: u64 = 1_514;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_section_7() {
        let settings = Settings::default();
        let ranges: Vec<u32> = (0..9).map(|depth| settings.range(depth)).collect();
        assert_eq!(ranges, [0, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn meters_are_those_of_figure_5() {
        let settings = Settings::default();
        let rates = settings.utilisation(20);
        assert_eq!((rates.committed_milliunits_per_s, rates.peak_milliunits_per_s), (15_000, 19_000));
        assert_eq!((rates.committed_burst, rates.peak_burst), (1, 1));
        assert_eq!(settings.safe_rate(1, 40), Rates::one(4_000, 2));
        assert_eq!(settings.safe_rate(0, 40), Rates::one(36_000, 2));
    }
}
