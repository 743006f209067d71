//! Figures: time and memory per segment and flow.

use crate::support::line::Line;
use base::Time;
use std::time::Instant;
use tcp::{Config, Congestion, Connection};

/// 1,500 bytes at 12 Gb/s, 20 ms.
fn line(config: &Config) -> Line {
    Line::new(config, Time::from_ms(10), Time::from_us(1))
}

fn memory(line: &Line) -> usize {
    line.ends.iter().map(Connection::memory_bytes).sum()
}

#[test]
fn a_flow_needs_less_than_four_kilobytes() {
    let mut line = line(&Config::default());
    line.run(Time::from_ms(300));
    assert!(line.received() > 10_000_000);
    let bytes = memory(&line);
    assert!(bytes < 4096, "{bytes} bytes, of which each connection has {}", size_of::<Connection>());
    // Nothing is allocated in steady state.
    line.run(Time::from_ms(600));
    assert_eq!(memory(&line), bytes);
}

/// Times are of the clock, so they mean something on an idle machine only.
/// `CARGO_PROFILE_DEV_OPT_LEVEL=3 cargo test -p tcp speed -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stderr, reason = "that is its purpose")]
fn figures() {
    let linux = Config::default();
    for (name, config) in [
        ("Linux's settings", linux),
        ("without time stamps", Config { timestamps: false, ..linux }),
        ("DCTCP", Config { congestion: Congestion::Dctcp, ..linux }),
        ("NewReno without SACK", Config { congestion: Congestion::NewReno, sack: false, ..linux }),
    ] {
        let mut line = line(&config);
        let start = Instant::now();
        line.run(Time::from_s(10));
        let ns = start.elapsed().as_nanos() as f64 / line.segments as f64;
        let (segments, bytes) = (line.segments, memory(&line));
        eprintln!("{name}: {ns:.0} ns per segment (out, in, and the line), {segments} segments, {bytes} bytes");
    }
}
