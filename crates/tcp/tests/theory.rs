//! Congestion control against the formulas of its papers: a single flow, periodic losses or marks, and no other limit.

use crate::support::line::Line;
use base::Time;
use tcp::{Config, Congestion};

/// Settings with which neither buffers nor delayed acknowledgments matter.
fn config(congestion: Congestion) -> Config {
    let bytes = 64 << 20;
    Config {
        congestion,
        timestamps: false,
        delayed_ack: Time::ZERO,
        receive_buffer_bytes: bytes,
        send_buffer_bytes: bytes,
        ..Config::default()
    }
}

/// The average window in segments between two times, if the round-trip time is constant.
fn average_window(line: &mut Line, from: Time, to: Time, rtt: Time) -> f64 {
    line.run(from);
    let before = line.received();
    line.run(to);
    let segments = (line.received() - before) as f64 / line.ends[0].statistics().mss as f64;
    segments / ((to - from).seconds() / rtt.seconds())
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} instead of {expected}");
}

/// Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm" (1997): sqrt(3/2) / sqrt(p).
#[test]
fn newreno_follows_the_inverse_square_root_of_losses() {
    let rtt = Time::from_ms(20);
    for every in [1_000, 10_000] {
        let mut line = Line::new(&config(Congestion::NewReno), rtt.divided(2), Time::ZERO);
        line.drop_every = every;
        let window = average_window(&mut line, Time::from_s(20), Time::from_s(60), rtt);
        assert_close(window, (1.5 * every as f64).sqrt(), 0.06);
    }
}

/// RFC 9438, section 5.1, equation 6: (C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4).
#[test]
fn cubic_follows_its_response_function() {
    let rtt = Time::from_ms(100);
    for every in [10_000, 20_000] {
        let mut line = Line::new(&config(Congestion::Cubic), rtt.divided(2), Time::ZERO);
        line.drop_every = every;
        let window = average_window(&mut line, Time::from_s(60), Time::from_s(120), rtt);
        let expected = (0.4 * 3.7 / (4.0 * 0.3_f64)).powf(0.25) * (0.1 * every as f64).powf(0.75);
        // The formula leaves out fast convergence, which costs about a tenth here.
        assert_close(window, expected, 0.15);
    }
}

/// RFC 9438, section 4.3: with short round trips, CUBIC has the window that Reno would have.
#[test]
fn cubic_is_friendly_to_reno() {
    let rtt = Time::from_ms(1);
    let mut line = Line::new(&config(Congestion::Cubic), rtt.divided(2), Time::ZERO);
    line.drop_every = 2_000;
    let window = average_window(&mut line, Time::from_s(2), Time::from_s(8), rtt);
    assert_close(window, (1.5 * 2_000_f64).sqrt(), 0.1);
}

/// Alizadeh et al., "Data Center TCP" (2010), section 3.3: with marks above K segments and a pipe of C * RTT segments,
/// alpha is about sqrt(2 / (C * RTT + K)), the line is always busy if K > C * RTT / 7, and the queue does not exceed K
/// + 1 and a round trip's growth.
#[test]
fn dctcp_keeps_the_queue_short_and_the_line_busy() {
    // 10 Gb/s and 100 us: 83 segments.
    let (rtt, gap, mark_above) = (Time::from_us(100), Time::from_ns(1_200), 20);
    let mut line = Line::new(&Config { prr: false, ..config(Congestion::Dctcp) }, rtt.divided(2), gap);
    line.mark_above = mark_above;
    line.run(Time::from_ms(100));
    let before = line.received();
    line.queue_max = 0;
    let mut alphas = 0.0;
    for sample in 1..=1000 {
        line.run(Time::from_ms(100) + Time::from_us(100).times(sample));
        alphas += line.ends[0].statistics().alpha.unwrap();
    }
    let statistics = line.ends[0].statistics();
    let capacity = Time::from_ms(100).ps() / gap.ps() * statistics.mss;
    assert_close((line.received() - before) as f64, capacity as f64, 0.01);
    assert!(line.queue_max <= mark_above + 3, "{} segments", line.queue_max);
    let pipe = rtt.ps() as f64 / gap.ps() as f64;
    assert_close(alphas / 1000.0, (2.0 / (pipe + mark_above as f64)).sqrt(), 0.1);
    assert_eq!(statistics.counters.retransmitted_bytes, 0);
}

/// RFC 9406: a queue makes round trips longer, which ends slow start although nothing is lost.
#[test]
fn hystart_ends_slow_start_without_a_loss() {
    // A pipe of 1000 segments and a queue without limit. Round trips become longer when the window is twice the pipe;
    // five rounds follow that make it a quarter greater each.
    let run = |hystart| {
        let config = Config { hystart, ..config(Congestion::Cubic) };
        let mut line = Line::new(&config, Time::from_ms(50), Time::from_us(100));
        line.run(Time::from_s(4));
        let statistics = line.ends[0].statistics();
        (statistics.slow_start_threshold == u64::MAX, line.queue_max)
    };
    let (is_slow_start, queue) = run(true);
    assert!(!is_slow_start && queue < 8000, "a queue of {queue}");
    let (is_slow_start, queue) = run(false);
    assert!(is_slow_start && queue > 20_000, "a queue of {queue}");
}
