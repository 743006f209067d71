//! The output of a run for its user: a line of rates while it runs, digests and log lines, the counters at the end.
//!
//! What enters: the events of the worker. What leaves: text or JSON lines; packets and digests for controllers, link
//! changes for the control plane, and figures of the worker for the metrics.

use crate::Exit;
use crate::args::RunArguments;
use crate::links::Links;
use crate::ports;
use crate::terminal::{self, grouped, say};
use base::Bits;
use ir::{DigestId, Program};
use live::worker::{Ended, Events, Ports};
use live::{CounterSnapshot, Driver, DriverError, News};
use metrics::Published;
use metrics::sources::{ShownPort, Tick};
use p4runtime::Feed;
use serde_json::json;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::{DropReason, Switch};

/// Reports the progress of a run.
pub struct Reporter {
    program: Arc<Program>,
    json: bool,
    /// Whether lines go to a log.
    is_log: bool,
    /// Whether the counter line is drawn in place, on a terminal.
    live_line: bool,
    last: Vec<CounterSnapshot>,
    last_at: Instant,
    started: Instant,
    /// The worker's figures for the metrics.
    published: Arc<Published>,
    /// The feed of packets and digests for controllers; without it, digests are printed.
    pub feed: Option<Feed>,
    /// Receives link changes.
    pub links: Option<Links>,
    /// The exit status so far: a port that failed makes it a failure.
    pub exit: Exit,
}

impl Reporter {
    /// Before the first packet.
    pub fn new(arguments: &RunArguments, program: Arc<Program>, published: Arc<Published>) -> Reporter {
        let live_line = !arguments.quiet
            && !arguments.json
            && arguments.log.log_format.is_none()
            && std::io::stderr().is_terminal();
        let json = arguments.json;
        let (last, now) = (Vec::new(), Instant::now());
        Reporter {
            program,
            json,
            is_log: arguments.log.log_format.is_some(),
            live_line,
            last,
            last_at: now,
            started: now,
            published,
            feed: None,
            links: None,
            exit: Exit::Success,
        }
    }

    fn clear_line(&self) {
        if self.live_line {
            eprint!("\r\x1b[K");
        }
    }

    /// Prints the counters.
    pub fn finish(&mut self, switch: &Switch, ports: &Ports, ended: Ended, elapsed: Duration) {
        self.clear_line();
        if self.is_log {
            report_end(switch, ports, ended, elapsed);
        }
        if self.json {
            say!("{}", summary_json(switch, ports, ended, elapsed));
        } else {
            say!("{}", summary_text(switch, ports).trim_end_matches('\n'));
            say!("{:.3} s", elapsed.as_secs_f64());
        }
    }
}

impl Events for Reporter {
    fn tick(&mut self, _switch: &Switch, ports: &Ports) {
        self.published.tick(Tick {
            run: self.started.elapsed(),
            waited: ports.waited,
            unconnected_frames: ports.unconnected_frames,
            controller_losses: self.feed.as_ref().map_or(0, Feed::lost),
            digests_lost: self.feed.as_ref().map(Feed::digests_lost).unwrap_or_default(),
        });
        let now: Vec<CounterSnapshot> = ports.iter().map(|(_, driver)| driver.counters().snapshot()).collect();
        if self.live_line && self.last.len() == now.len() {
            let seconds = self.last_at.elapsed().as_secs_f64().max(0.001);
            let rate = |new: u64, old: u64| ((new - old) as f64 / seconds) as u64;
            let port = |((number, _), (new, old)): ((u32, _), (&CounterSnapshot, &CounterSnapshot))| {
                let rx = grouped(rate(new.rx_packets, old.rx_packets));
                let tx = grouped(rate(new.tx_packets, old.tx_packets));
                format!("port {number}: rx {rx}/s tx {tx}/s")
            };
            let line: Vec<String> = ports.iter().zip(now.iter().zip(&self.last)).map(port).collect();
            eprint!("\r\x1b[K{}", line.join(" | "));
        }
        self.last = now;
        self.last_at = Instant::now();
    }

    fn port_added(&mut self, port: u32, driver: &dyn Driver) {
        let counters = Arc::clone(driver.counters());
        // A driver that is added during the run is a timer.
        self.published.add_port(ShownPort { number: port, name: "timer".to_owned(), counters });
    }

    fn packet_in(&mut self, frame: &[u8]) {
        if let Some(feed) = &mut self.feed {
            feed.packet_in(frame);
        }
    }

    fn specialised(&mut self, news: &News) {
        self.clear_line();
        match news {
            News::Runs(special) => tracing::info!("the switch runs code specialised for its tables: {special}"),
            News::Ended => tracing::info!("a table has changed: the switch runs the general code again"),
            News::Failed(error) => tracing::warn!("there is no specialised code for the tables: {error}"),
        }
    }

    fn program_changed(&mut self, program: &Arc<Program>) {
        self.program = Arc::clone(program);
        if let Some(feed) = &mut self.feed {
            feed.program_changed(program);
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.published.digest();
        if let Some(feed) = &mut self.feed {
            return feed.digest(digest, values);
        }
        let digest = &self.program.digests[digest];
        if self.json {
            let fields = digest.fields.iter().zip(&values);
            let fields: serde_json::Map<_, _> =
                fields.map(|((name, _), value)| (name.clone(), json!(value.to_string()))).collect();
            say!("{}", json!({"event": "digest", "digest": digest.name, "fields": fields}));
        } else {
            self.clear_line();
            let fields = digest.fields.iter().zip(&values);
            let fields: Vec<String> = fields.map(|((name, _), value)| format!("{name}={value}")).collect();
            say!("digest {}: {}", digest.name, fields.join(" "));
        }
    }

    fn log(&mut self, line: &str) {
        if self.json {
            say!("{}", json!({"event": "log", "message": line}));
        } else {
            self.clear_line();
            say!("log: {line}");
        }
    }

    fn assertion_failed(&mut self, text: &str) {
        self.clear_line();
        terminal::error(format!("assertion failed, packet dropped: {text}"));
    }

    fn link_changed(&mut self, port: u32, has_link: bool) {
        if let Some(links) = &self.links {
            links.report(port, has_link);
        }
    }

    fn port_failed(&mut self, port: u32, error: &DriverError) {
        self.exit = ports::exit_of(error);
        self.clear_line();
        terminal::error(format!("port {port}: {error}"));
    }
}

/// Logs that the switch has stopped, with its totals.
fn report_end(switch: &Switch, ports: &Ports, ended: Ended, elapsed: Duration) {
    let stats = switch.stats();
    let lost = |received| -> u64 {
        let losses = ports.iter().flat_map(|(_, driver)| driver.counters().snapshot().losses());
        losses.filter(|loss| loss.is_received == received).map(|loss| loss.frames).sum()
    };
    let why = if ended == Ended::Stopped { "on request" } else { "no port delivers packets any more" };
    let seconds = (elapsed.as_secs_f64() * 1e3).round() / 1e3;
    tracing::info!(
        seconds,
        received = stats.received,
        sent = stats.sent,
        dropped = stats.drops_total(),
        lost_on_reception = lost(true),
        lost_on_transmission = lost(false),
        "the switch has stopped: {why}"
    );
}

fn summary_text(switch: &Switch, ports: &Ports) -> String {
    let header = ["port", "rx packets", "rx bytes", "rx dropped", "tx packets", "tx bytes", "tx dropped"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (number, driver) in ports.iter() {
        let it = driver.counters().snapshot();
        let counts =
            [it.rx_packets, it.rx_bytes, it.rx_dropped(), it.tx_packets, it.tx_bytes, it.tx_dropped()].map(grouped);
        rows.push(std::iter::once(number.to_string()).chain(counts).collect());
    }
    let mut text = aligned(&rows) + "\n";
    for (number, driver) in ports.iter() {
        for loss in driver.counters().snapshot().losses() {
            let way = if loss.is_received { "received" } else { "sent" };
            text += &format!("{} packets: not {way} on port {number}: {}\n", grouped(loss.frames), loss.reason);
        }
    }
    let drops = DropReason::ALL.map(|reason| (switch.stats().drops(reason), reason.describe()));
    let others = [
        (ports.unconnected_frames, "sent to ports without an interface or file"),
        (switch.queued() as u64, LEFT_IN_QUEUES),
    ];
    for (count, what) in drops.into_iter().chain(others).filter(|(count, _)| *count > 0) {
        text += &format!("{} packets: {what}\n", grouped(count));
    }
    text
}

/// A queue with a rate limit can hold more than it sends in the time of a stop.
const LEFT_IN_QUEUES: &str = "left in queues at the stop";

/// Rows as a table with right-aligned columns.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        cells.join("  ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn summary_json(switch: &Switch, ports: &Ports, ended: Ended, elapsed: Duration) -> serde_json::Value {
    let port = |(number, driver): (u32, &dyn Driver)| {
        let counters: serde_json::Map<_, _> =
            driver.counters().snapshot().fields().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({"port": number, "counters": counters})
    };
    let stats = switch.stats();
    let drops: serde_json::Map<_, _> = DropReason::ALL
        .iter()
        .filter(|&&reason| stats.drops(reason) > 0)
        .map(|&reason| (reason.name().to_owned(), json!(stats.drops(reason))))
        .collect();
    json!({
        "event": "summary",
        "ended": if ended == Ended::Stopped { "stopped" } else { "exhausted" },
        "seconds": elapsed.as_secs_f64(),
        "ports": ports.iter().map(port).collect::<Vec<_>>(),
        "received": stats.received,
        "sent": stats.sent,
        "copies": stats.copies,
        "passes": stats.passes,
        "drops": drops,
        "unconnected": ports.unconnected_frames,
        "left_in_queues": switch.queued(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{SourceArguments, SwitchArguments};
    use crate::{backend, frontend};
    use live::StopFlag;
    use live::worker::{self, Setup};
    use switch::{Backend, Output};

    /// Sends everything to port 1.
    const PROGRAM: &str = "
        #include <v1model.p4>
        struct none_t { }
        parser P(packet_in p, out none_t h, inout none_t m, inout standard_metadata_t s) { state start { transition accept; } }
        control V(inout none_t h, inout none_t m) { apply { } }
        control I(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply { s.egress_spec = 1; } }
        control E(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply { } }
        control D(packet_out p, in none_t h) { apply { } }
        V1Switch(P(), V(), I(), E(), V(), D()) main;";

    struct Silent;
    impl Events for Silent {}
    impl Output for Silent {
        fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {}
    }

    #[test]
    fn packets_that_a_slow_queue_still_holds_at_the_stop_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (program, entries) = (folder.path().join("p.p4"), folder.path().join("entries.txt"));
        std::fs::write(&program, PROGRAM).unwrap();
        std::fs::write(&entries, "set_queue_rate 1 1\n").unwrap();
        let source = SourceArguments::plain();
        let program = frontend::load(&program, &source, true).unwrap().program;
        let options = SwitchArguments::plain(source, vec![entries]);
        let mut switch = backend::build(&program, Backend::Interpreter, &options).unwrap();
        for _ in 0..20 {
            switch.receive(0, 2, &[0; 60]);
        }
        switch.run(0, &mut Silent);
        // One packet was sent; one a second follows until the worker drops the rest.
        let stop = StopFlag::new();
        stop.stop();
        let (ended, ports) = worker::run(&mut switch, Setup::default(), &stop, &mut Silent).unwrap();
        let left = switch.queued();
        assert!((10..19).contains(&left), "{left}");
        assert!(summary_text(&switch, &ports).contains(&format!("{left} packets: left in queues at the stop\n")));
        let summary = summary_json(&switch, &ports, ended, Duration::ZERO);
        assert_eq!((&summary["left_in_queues"], &summary["ended"]), (&json!(left), &json!("stopped")));
    }
}
