//! Figures as a table for people and as JSON for programs.

use crate::args::BackendKind;
use crate::terminal::{grouped, say};
use measure::events::Event;
use measure::figures::{median, range};
use measure::histogram::Histogram;
use measure::memory::Worker;
use measure::veth::{Carrier, Outcome};
use serde_json::{Map, Value, json};
use switch::{DropReason, Stats};

/// The subject of a measurement.
pub struct Measured {
    /// The program's file.
    pub program: String,
    /// The engine.
    pub backend: BackendKind,
    /// What the code is specialised for, if it is.
    pub specialised: Option<String>,
    /// Why packets cost more than usual, if they do.
    pub hindrance: Option<String>,
    /// The source of the packets.
    pub traffic: String,
    /// How many there are.
    pub frames: usize,
    /// Their mean length.
    pub frame_bytes: f64,
    /// The fill levels of the program's tables.
    pub tables: Vec<TableSize>,
}

/// The fill level of a table.
pub struct TableSize {
    /// Its name.
    pub name: String,
    /// How many entries it has.
    pub entries: usize,
    /// The memory that lookups use.
    pub bytes: usize,
}

impl TableSize {
    fn entry_bytes(&self) -> Option<f64> {
        (self.entries > 0).then(|| self.bytes as f64 / self.entries as f64)
    }

    fn json(&self) -> Value {
        json!({"table": self.name, "entries": self.entries, "bytes": self.bytes, "entry_bytes": self.entry_bytes()})
    }
}

impl Measured {
    fn backend_text(&self) -> &'static str {
        if self.backend == BackendKind::Native { "native code" } else { "the interpreter" }
    }

    fn line(&self) -> String {
        let bytes = if self.frame_bytes.fract() == 0.0 {
            format!("{} bytes each", self.frame_bytes)
        } else {
            format!("{:.1} bytes on average", self.frame_bytes)
        };
        let special = self.specialised.as_ref().map_or(String::new(), |code| format!("\ncode for {code}"));
        let hindrance = self.hindrance.as_ref().map_or(String::new(), |why| format!("\n{why} (compile --emit plan)"));
        format!("{} packets {}, {bytes}{special}{hindrance}", grouped(self.frames as u64), self.traffic)
    }

    fn json(&self) -> Value {
        json!({
            "program": self.program,
            "backend": self.backend.name(),
            "specialised": self.specialised,
            "hindrance": self.hindrance,
            "traffic": self.traffic,
            "frames": self.frames,
            "frame_bytes": self.frame_bytes,
            "tables": self.tables.iter().map(TableSize::json).collect::<Vec<_>>(),
        })
    }

    /// The tables with entries, and their memory.
    fn table_rows(&self) -> Vec<Vec<String>> {
        let row = |size: &TableSize| {
            let bytes = number(size.entry_bytes()?);
            Some(vec![size.name.clone(), grouped(size.entries as u64), grouped(size.bytes as u64), bytes])
        };
        self.tables.iter().filter_map(row).collect()
    }
}

/// Runs from memory to memory.
pub struct MemoryReport {
    /// The subject.
    pub subject: Measured,
    /// Packets of a burst.
    pub burst: usize,
    /// Packets of the trace that were processed in time.
    pub used: usize,
    /// The workers of each run.
    pub runs: Vec<Vec<Worker>>,
    /// The switch's counters before the runs.
    pub before: Stats,
    /// And after them.
    pub after: Stats,
    /// Packets that still wait in queues.
    pub waiting: usize,
    /// The latency of packets.
    pub latencies: Histogram,
    /// The cost of each stage of the core.
    pub stages: Vec<(&'static str, f64)>,
}

/// The parts of latencies that are shown, with their names in text and in JSON.
const QUANTILES: [(f64, &str, &str); 4] =
    [(0.5, "50 %", "p50"), (0.9, "90 %", "p90"), (0.99, "99 %", "p99"), (0.999, "99.9 %", "p99.9")];

/// A row of figures: their meaning, and one for each run.
struct Row {
    /// In JSON.
    name: String,
    /// In text.
    text: String,
    figures: Vec<f64>,
}

impl Row {
    fn new(name: &str, text: &str, figures: Vec<f64>) -> Row {
        Row { name: name.to_owned(), text: text.to_owned(), figures }
    }

    fn cells(&self) -> Vec<String> {
        let (least, greatest) = range(&self.figures);
        let mut cells = vec![self.text.clone()];
        cells.extend([median(&self.figures), least, greatest].map(number));
        cells
    }

    fn json(&self) -> (String, Value) {
        let (least, greatest) = range(&self.figures);
        let figures =
            json!({"median": median(&self.figures), "least": least, "greatest": greatest, "runs": self.figures});
        (self.name.clone(), figures)
    }
}

/// A figure with its significant digits.
fn number(figure: f64) -> String {
    match figure {
        figure if figure >= 1000.0 => grouped(figure.round() as u64),
        figure if figure >= 100.0 => format!("{figure:.0}"),
        figure if figure >= 10.0 => format!("{figure:.1}"),
        figure if figure >= 0.001 || figure == 0.0 => format!("{figure:.3}"),
        figure => format!("{figure:.1e}"),
    }
}

impl MemoryReport {
    /// Shows it.
    pub fn print(&self, as_json: bool) {
        if as_json {
            say!("{}", self.json());
            return;
        }
        let Measured { program, .. } = &self.subject;
        let workers = match self.workers() {
            1 => "one worker".to_owned(),
            workers => format!("{workers} workers"),
        };
        say!("{program}, {}, memory to memory, {workers}, bursts of {}", self.subject.backend_text(), self.burst);
        say!("{}", self.subject.line());
        if self.used < self.subject.frames {
            say!("there was time for the first {} only", grouped(self.used as u64));
        }
        say!("{} runs of {} packets", self.runs.len(), grouped(self.packets() / self.runs.len().max(1) as u64));
        say!();
        let head = ["", "median", "least", "greatest"].map(str::to_owned).to_vec();
        say!("{}", table(std::iter::once(head).chain(self.rows().iter().map(Row::cells))));
        if let Some(line) = self.uncounted() {
            say!("{line}");
        }
        if self.workers() > 1 {
            say!();
            self.print_workers();
        }
        say!();
        self.print_latencies();
        self.print_stages();
        say!();
        self.print_fates();
        let tables = self.subject.table_rows();
        if !tables.is_empty() {
            say!();
            let head = ["tables", "entries", "bytes", "per entry"].map(str::to_owned).to_vec();
            say!("{}", table(std::iter::once(head).chain(tables)));
        }
    }

    fn workers(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }

    fn packets(&self) -> u64 {
        self.runs.iter().flatten().map(|worker| worker.pass.packets).sum()
    }

    /// The total of all workers, run by run.
    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![
            Row::new("mpps", "million packets per second", self.runs.iter().map(|run| mpps(run)).collect()),
            Row::new("ns_per_packet", "ns per packet", self.runs.iter().map(|run| packet_ns(run)).collect()),
        ];
        if self.workers() > 1 {
            rows[1].text = "ns per packet, of each worker".to_owned();
        }
        for event in Event::ALL {
            let figures: Option<Vec<f64>> = self.runs.iter().map(|run| per_packet(run, event)).collect();
            if let Some(figures) = figures {
                let name = format!("{}_per_packet", event.name());
                rows.push(Row { name, text: format!("{} per packet", event.describe()), figures });
            }
        }
        if !rows.iter().any(|row| row.name == "cycles_per_packet") {
            let ticks: Option<Vec<f64>> = self.runs.iter().map(|run| ticks(run)).collect();
            rows.extend(ticks.map(|ticks| Row::new("ticks_per_packet", "time stamp ticks per packet", ticks)));
        }
        rows
    }

    /// Figures that the machine does not count.
    fn uncounted(&self) -> Option<String> {
        let is_counted =
            |event: &Event| self.runs.iter().flatten().all(|worker| worker.counted[*event as usize].is_some());
        let names: Vec<&str> =
            Event::ALL.iter().filter(|event| !is_counted(event)).map(|event| event.describe()).collect();
        (!names.is_empty()).then(|| format!("not counted on this machine: {}", names.join(", ")))
    }

    fn worker_rows(&self, worker: usize) -> [Row; 2] {
        let of_worker = || self.runs.iter().filter_map(|run| run.get(worker));
        let ns: Vec<f64> = of_worker().map(|worker| worker.pass.packet_ns()).collect();
        let mpps = ns.iter().map(|ns| 1e3 / ns).collect();
        [Row::new("mpps", "", mpps), Row::new("ns_per_packet", "", ns)]
    }

    fn print_workers(&self) {
        let head = ["worker", "Mpps", "ns per packet", "least", "greatest"].map(str::to_owned).to_vec();
        let row = |worker: usize| {
            let [mpps, ns] = self.worker_rows(worker);
            let mut cells = vec![(worker + 1).to_string(), number(median(&mpps.figures))];
            cells.extend(ns.cells().split_off(1));
            cells
        };
        say!("{}", table(std::iter::once(head).chain((0..self.workers()).map(row))));
    }

    fn print_latencies(&self) {
        let mut cells = [vec!["latency of a packet, ns".to_owned()], vec![String::new()]];
        for (part, name, _) in QUANTILES {
            cells[0].push(name.to_owned());
            cells[1].push(self.latencies.quantile(part).map_or_else(String::new, grouped));
        }
        cells[0].push("greatest".to_owned());
        cells[1].push(grouped(self.latencies.greatest()));
        say!("{}", table(cells));
    }

    fn print_stages(&self) {
        let shown: Vec<Vec<String>> = self
            .stages
            .iter()
            .filter(|(_, ns)| *ns > 0.0)
            .map(|(name, ns)| vec![(*name).to_owned(), number(*ns)])
            .collect();
        if !shown.is_empty() {
            say!();
            let head = vec!["stages of the core".to_owned(), "ns per packet".to_owned()];
            say!("{}", table(std::iter::once(head).chain(shown)));
        }
    }

    /// The outcomes of the packets.
    fn print_fates(&self) {
        let mut rows = vec![vec!["packets received".to_owned(), grouped(self.after.received - self.before.received)]];
        rows.push(vec!["packets sent".to_owned(), grouped(self.after.sent - self.before.sent)]);
        for reason in DropReason::ALL {
            let count = self.after.drops(reason) - self.before.drops(reason);
            if count > 0 {
                rows.push(vec![reason.describe().to_owned(), grouped(count)]);
            }
        }
        if self.waiting > 0 {
            rows.push(vec!["waiting in queues".to_owned(), grouped(self.waiting as u64)]);
        }
        say!("{}", table(rows));
    }

    fn json(&self) -> Value {
        let drops: Map<String, Value> = DropReason::ALL
            .into_iter()
            .map(|reason| (reason.name().to_owned(), self.after.drops(reason) - self.before.drops(reason)))
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name, json!(count)))
            .collect();
        let latencies: Map<String, Value> = QUANTILES
            .into_iter()
            .map(|(part, _, name)| (name.to_owned(), json!(self.latencies.quantile(part))))
            .chain([("greatest".to_owned(), json!(self.latencies.greatest()))])
            .collect();
        let stages: Map<String, Value> = self.stages.iter().map(|(name, ns)| ((*name).to_owned(), json!(ns))).collect();
        let workers: Vec<Map<String, Value>> =
            (0..self.workers()).map(|worker| self.worker_rows(worker).iter().map(Row::json).collect()).collect();
        let mut whole = json!({
            "benchmark": "memory",
            "burst": self.burst,
            "packets_per_run": self.packets() / self.runs.len().max(1) as u64,
            "latency_ns": latencies,
            "stages_ns": stages,
            "received": self.after.received - self.before.received,
            "sent": self.after.sent - self.before.sent,
            "drops": drops,
            "workers": workers,
        });
        add(&mut whole, self.subject.json());
        add(&mut whole, self.rows().iter().map(Row::json).collect());
        whole
    }
}

fn add(whole: &mut Value, part: Value) {
    if let (Value::Object(whole), Value::Object(part)) = (whole, part) {
        whole.extend(part);
    }
}

/// The throughput of a run, from its beginning until the last worker was done.
fn mpps(run: &[Worker]) -> f64 {
    let packets: u64 = run.iter().map(|worker| worker.pass.packets).sum();
    let seconds = run.iter().map(|worker| worker.pass.elapsed.as_secs_f64()).fold(0.0, f64::max);
    packets as f64 / seconds / 1e6
}

/// The time that a worker takes for a packet.
fn packet_ns(run: &[Worker]) -> f64 {
    run.iter().map(|worker| worker.pass.packet_ns()).sum::<f64>() / run.len() as f64
}

fn per_packet(run: &[Worker], event: Event) -> Option<f64> {
    let counts: Option<Vec<f64>> = run.iter().map(|worker| worker.counted[event as usize]).collect();
    Some(counts?.iter().sum::<f64>() / run.iter().map(|worker| worker.pass.packets as f64).sum::<f64>())
}

fn ticks(run: &[Worker]) -> Option<f64> {
    let ticks: Option<Vec<u64>> = run.iter().map(|worker| worker.ticks).collect();
    Some(ticks?.iter().sum::<u64>() as f64 / run.iter().map(|worker| worker.pass.packets as f64).sum::<f64>())
}

/// Rows as lines: the first column to the left, the others to the right.
fn table(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs between virtual interfaces.
pub struct VethReport {
    /// The subject.
    pub subject: Measured,
    /// The runs over each driver.
    pub outcomes: Vec<(Carrier, Vec<Outcome>)>,
}

impl VethReport {
    /// Shows it.
    pub fn print(&self, as_json: bool) {
        if as_json {
            say!("{}", self.json());
            return;
        }
        let runs = self.outcomes.first().map_or(0, |(_, outcomes)| outcomes.len());
        say!("{}, {}, between two pairs of virtual interfaces", self.subject.program, self.subject.backend_text());
        say!("{}", self.subject.line());
        say!("processor time per packet in ns, {runs} runs in turn");
        say!();
        let head = ["driver", "switch", "least", "greatest", "sender", "least", "greatest", "sent"];
        let row = |(carrier, outcomes): &(Carrier, Vec<Outcome>)| {
            let mut cells = vec![carrier.name().to_owned()];
            cells.extend(figures(outcomes).iter().flat_map(|row| row.cells().split_off(1)));
            let part = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>() as f64;
            cells.push(format!("{:.0} %", 100.0 * part(|it| it.sent) / part(|it| it.received)));
            cells
        };
        say!("{}", table(std::iter::once(head.map(str::to_owned).to_vec()).chain(self.outcomes.iter().map(row))));
    }

    fn json(&self) -> Value {
        let driver = |(carrier, outcomes): &(Carrier, Vec<Outcome>)| {
            let mut driver: Map<String, Value> = figures(outcomes).iter().map(Row::json).collect();
            driver.insert("driver".to_owned(), json!(carrier.name()));
            driver.insert("received".to_owned(), json!(outcomes.iter().map(|it| it.received).sum::<u64>()));
            driver.insert("sent".to_owned(), json!(outcomes.iter().map(|it| it.sent).sum::<u64>()));
            Value::Object(driver)
        };
        let mut whole = json!({
            "benchmark": "virtual_interfaces",
            "drivers": self.outcomes.iter().map(driver).collect::<Vec<_>>(),
        });
        add(&mut whole, self.subject.json());
        whole
    }
}

/// Processor time per packet: of the switch, and of the sender.
fn figures(outcomes: &[Outcome]) -> [Row; 2] {
    [
        Row::new("switch_ns", "", outcomes.iter().map(|it| it.switch_ns).collect()),
        Row::new("sender_ns", "", outcomes.iter().map(|it| it.sender_ns).collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn lines_are_up_and_figures_have_the_digits_that_say_something() {
        let row = |name: &str, figures: &[f64]| Row::new("", name, figures.to_vec()).cells();
        let rows = [
            row("Mpps", &[52.31, 50.0, 53.1]),
            row("ns", &[1234.4, 99999.5, 130.2]),
            row("misses", &[0.0, 0.01234, 0.000_012_3]),
        ];
        expect![[r#"
            Mpps      52.3   50.0     53.1
            ns       1 234    130  100 000
            misses  1.2e-5  0.000    0.012"#]]
        .assert_eq(&table(rows));
    }
}
