//! CUBIC's window (RFC 9438).
//!
//! The window follows `W_cubic(t) = C (t - K)^3 + W_max` (equation 1), or the window that Reno would have (section 4.3)
//! if that is greater. Windows are in segments here, times in seconds. Only the four basic operations are used, which
//! give the same result on every machine.

use super::{WINDOW_MAX, Window};
use base::Time;

/// How fast the window grows, in segments per second cubed (section 5.1).
const C: f64 = 0.4;
/// What is left of the window after congestion (section 4.6).
const BETA: f64 = 0.7;
/// The growth of the window that Reno would have, in segments per round trip, as long as it is below the window before
/// congestion (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The state of CUBIC.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    /// *W_max*, in segments; 0 if there was no congestion.
    max: f64,
    /// The window before the last congestion (*cwnd_prior*).
    prior: f64,
    epoch: Option<Epoch>,
    /// *W_max* before the last congestion, to take it back.
    undo: (f64, f64, Option<Epoch>),
    /// A part of a byte by which the window has still to grow.
    fraction: f64,
    /// After a timeout, the plateau is where congestion avoidance begins (section 4.8).
    after_timeout: bool,
}

/// A period of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// *K*: when the window reaches the plateau, in seconds after the start.
    k: f64,
    /// The height of the plateau.
    origin: f64,
    /// *W_est*: the window that Reno would have.
    estimate: f64,
}

impl Epoch {
    /// *W_cubic* (equation 1).
    fn window(&self, t: f64) -> f64 {
        let distance = t - self.k;
        C * distance * distance * distance + self.origin
    }
}

impl Cubic {
    /// Congestion avoidance (sections 4.2 to 4.5).
    pub(super) fn avoid(&mut self, window: &mut Window, bytes: u64, now: Time, rtt: Time) {
        let mss = window.mss as f64;
        let current = window.congestion as f64 / mss;
        let acknowledged = bytes as f64 / mss;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, current));
        let t = now.since(epoch.start).seconds();

        let alpha = if epoch.estimate < self.prior { ALPHA } else { 1.0 };
        epoch.estimate += alpha * acknowledged / current;
        self.epoch = Some(epoch);

        let growth = if epoch.window(t) < epoch.estimate {
            (epoch.estimate - current).max(0.0)
        } else {
            let target = epoch.window(t + rtt.seconds()).clamp(current, 1.5 * current);
            (target - current) / current * acknowledged
        };
        let growth = growth * mss + self.fraction;
        let whole = growth as u64;
        self.fraction = growth - whole as f64;
        window.congestion = (window.congestion + whole).min(WINDOW_MAX);
    }

    /// Begins a period of congestion avoidance (equation 2).
    fn begin(&mut self, now: Time, current: f64) -> Epoch {
        let below = current < self.max && !self.after_timeout;
        let (k, origin) = if below { (cube_root((self.max - current) / C), self.max) } else { (0.0, current) };
        self.after_timeout = false;
        Epoch { start: now, k, origin, estimate: current }
    }

    /// Multiplicative decrease (section 4.6) with fast convergence (section 4.7).
    pub(super) fn threshold(&mut self, window: &Window, used: u64) -> u64 {
        self.undo = (self.max, self.prior, self.epoch);
        let current = window.congestion as f64 / window.mss as f64;
        self.max = if current < self.max { current * (1.0 + BETA) / 2.0 } else { current };
        self.prior = current;
        self.epoch = None;
        self.fraction = 0.0;
        (used as f64 * BETA) as u64
    }

    pub(super) fn on_timeout(&mut self) {
        self.epoch = None;
        self.after_timeout = true;
    }

    pub(super) fn on_undo(&mut self) {
        (self.max, self.prior, self.epoch) = self.undo;
        self.after_timeout = false;
    }

    /// Time in which the sender had nothing to send does not count (section 5.8).
    pub(super) fn on_idle(&mut self, idle: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }
}

/// The cube root of a number that is not negative, by Newton's method: `f64::cbrt` differs between C libraries in its
/// last digit.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent is right to a few percent.
    let mut root = f64::from_bits(x.to_bits() / 3 + ((2 * 1023) << 52) / 3);
    for _ in 0..5 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_right() {
        for x in [1e-9_f64, 0.001, 0.5, 1.0, 2.0, 27.0, 1e3, 123_456.789, 1e12] {
            let root = cube_root(x);
            assert!((root * root * root / x - 1.0).abs() < 1e-12, "{x}: {root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
    }

    /// Acknowledges whole windows, one per round trip, for `rounds` trips, and returns the window in segments after
    /// each.
    fn rounds(cubic: &mut Cubic, window: &mut Window, rtt: Time, rounds: u64) -> Vec<f64> {
        let mut windows = Vec::new();
        for round in 0..rounds {
            let flight = window.congestion;
            for start in (0..flight).step_by(window.mss as usize) {
                let now = rtt.times(round) + rtt.times(start).divided(flight);
                cubic.avoid(window, window.mss.min(flight - start), now, rtt);
            }
            windows.push(window.congestion as f64 / window.mss as f64);
        }
        windows
    }

    #[test]
    fn the_window_follows_the_formula() {
        let mss = 1000;
        let mut window = Window { congestion: 1000 * mss, threshold: 0, mss };
        let mut cubic = Cubic::default();
        assert_eq!(cubic.threshold(&window, window.congestion), 700 * mss);
        window.congestion = 700 * mss;
        // K = cbrt(300 / 0.4) = 9.086 s.
        let rtt = Time::from_ms(100);
        for (round, found) in rounds(&mut cubic, &mut window, rtt, 180).into_iter().enumerate() {
            let t = (round + 1) as f64 * 0.1;
            let expected = 0.4 * (t - 750_f64.cbrt()).powi(3) + 1000.0;
            assert!((found - expected).abs() < 0.01 * expected, "after {t} s: {found}, not {expected}");
        }
    }

    #[test]
    fn short_round_trips_grow_like_reno() {
        // 100 us and 20 segments: Reno's window is greater than the cubic one for a long time.
        let mss = 1000;
        let mut window = Window { congestion: 20 * mss, threshold: 0, mss };
        let mut cubic = Cubic::default();
        window.congestion = cubic.threshold(&window, window.congestion);
        let windows = rounds(&mut cubic, &mut window, Time::from_us(100), 30);
        // 0.529 segments a round trip up to the window before congestion, then 1.
        for (round, expected) in [(0, 14.5), (5, 17.2), (10, 19.8), (20, 29.3)] {
            assert!((windows[round] - expected).abs() < 0.6, "{round}: {} not {expected}", windows[round]);
        }
    }

    #[test]
    fn convergence_is_fast_below_the_last_maximum() {
        let mss = 1000;
        let mut cubic = Cubic::default();
        cubic.threshold(&Window { congestion: 100 * mss, threshold: 0, mss }, 100 * mss);
        assert_eq!(cubic.max, 100.0);
        cubic.threshold(&Window { congestion: 80 * mss, threshold: 0, mss }, 80 * mss);
        assert!((cubic.max - 68.0).abs() < 1e-9);
        cubic.on_undo();
        assert_eq!(cubic.max, 100.0);
    }

    #[test]
    fn idle_time_does_not_count() {
        let mss = 1000;
        let mut window = Window { congestion: 100 * mss, threshold: 0, mss };
        let mut cubic = Cubic::default();
        window.congestion = cubic.threshold(&window, window.congestion);
        cubic.avoid(&mut window, mss, Time::from_s(1), Time::from_ms(10));
        cubic.on_idle(Time::from_s(5));
        assert_eq!(cubic.epoch.unwrap().start, Time::from_s(6));
    }
}
