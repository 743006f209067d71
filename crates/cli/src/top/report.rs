//! The activity of a switch between two samplings.
//!
//! What enters: both samplings, and the time between them. What leaves: rates, as text for people or as JSON. A
//! counter that has decreased was reset, with another program or another switch.

use crate::reporter::aligned;
use crate::terminal::grouped;
use crate::top::samples::{Labels, Samples};
use serde_json::{Value, json};

/// A port.
#[derive(Clone, Debug, Default)]
struct Port {
    number: String,
    interface: String,
    receive_packets: f64,
    receive_bits: f64,
    transmit_packets: f64,
    transmit_bits: f64,
    drops: f64,
    drops_total: f64,
    /// The reasons, the most frequent first.
    reasons: Vec<(String, f64)>,
}

/// A table.
#[derive(Clone, Debug, Default)]
struct Table {
    name: String,
    entries: f64,
    capacity: f64,
    hits: f64,
    misses: f64,
    hits_total: f64,
    misses_total: f64,
}

/// A queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    port: String,
    queue: String,
    depth: f64,
    capacity: f64,
    drops: f64,
    drops_total: f64,
}

/// A thread that processes packets.
#[derive(Clone, Debug, Default)]
struct Worker {
    name: String,
    /// The fraction of the time in which it was busy.
    load: f64,
    packets: f64,
    packets_total: f64,
}

/// A counter.
#[derive(Clone, Debug, Default)]
struct Count {
    name: String,
    rate: f64,
    total: f64,
}

/// Rates are per second.
#[derive(Clone, Debug, Default)]
pub struct Report {
    version: String,
    program: String,
    /// The address for controllers; empty if there is none.
    controllers: String,
    seconds: f64,
    /// The fraction of the time in which the workers were busy, all of them together.
    load: f64,
    workers: Vec<Worker>,
    ports: Vec<Port>,
    tables: Vec<Table>,
    queues: Vec<Queue>,
    drops: Vec<Count>,
    pipeline: Vec<Count>,
    control: Vec<Count>,
}

/// Two samplings.
struct Looks<'s> {
    before: &'s Samples,
    now: &'s Samples,
    seconds: f64,
}

impl Looks<'_> {
    fn rate(&self, name: &str, labels: &Labels) -> f64 {
        self.per_second(self.before.value(name, labels), self.now.value(name, labels))
    }

    fn per_second(&self, before: f64, now: f64) -> f64 {
        (if now < before { now } else { now - before }) / self.seconds
    }

    fn count(&self, shown: &str, name: &str, labels: &Labels) -> Count {
        Count { name: shown.to_owned(), rate: self.rate(name, labels), total: self.now.value(name, labels) }
    }

    /// The sum over all samples that have at least these labels.
    fn sum(&self, name: &str, port: &str) -> (f64, f64) {
        let of_port = |samples: &Samples| -> f64 {
            samples.of(name).filter(|(labels, _)| labels.get("port").is_some_and(|it| it == port)).map(|it| it.1).sum()
        };
        let now = of_port(self.now);
        (self.per_second(of_port(self.before), now), now)
    }

    /// The fraction of the time in which something was busy, from its counters of busy and idle seconds.
    fn load(&self, busy: &str, waiting: &str, labels: &Labels) -> f64 {
        let (busy, waiting) = (self.rate(busy, labels), self.rate(waiting, labels));
        if busy + waiting > 0.0 { busy / (busy + waiting) } else { 0.0 }
    }

    fn workers(&self) -> Vec<Worker> {
        const PACKETS: &str = "wirespeed_workers_packets_total";
        let worker = |(labels, packets_total): (&Labels, f64)| {
            let [busy, waiting] = ["wirespeed_workers_busy_seconds_total", "wirespeed_workers_waiting_seconds_total"];
            Worker {
                name: label(labels, "worker"),
                load: self.load(busy, waiting, labels),
                packets: self.rate(PACKETS, labels),
                packets_total,
            }
        };
        self.now.of(PACKETS).map(worker).collect()
    }

    fn ports(&self) -> Vec<Port> {
        let port = |(labels, _): (&Labels, f64)| {
            let number = label(labels, "port");
            let received = self.sum("wirespeed_port_receive_drops_total", &number);
            let sent = self.sum("wirespeed_port_transmit_drops_total", &number);
            Port {
                interface: label(labels, "interface"),
                receive_packets: self.rate("wirespeed_port_receive_packets_total", labels),
                receive_bits: self.rate("wirespeed_port_receive_bytes_total", labels) * 8.0,
                transmit_packets: self.rate("wirespeed_port_transmit_packets_total", labels),
                transmit_bits: self.rate("wirespeed_port_transmit_bytes_total", labels) * 8.0,
                drops: received.0 + sent.0,
                drops_total: received.1 + sent.1,
                reasons: self.reasons(&number),
                number,
            }
        };
        self.now.of("wirespeed_port_receive_packets_total").map(port).collect()
    }

    /// The numbers of packets lost on a port, by reason.
    fn reasons(&self, port: &str) -> Vec<(String, f64)> {
        let of = |name: &'static str| self.now.of(name);
        let drops = of("wirespeed_port_receive_drops_total").chain(of("wirespeed_port_transmit_drops_total"));
        let lost = drops.filter(|(labels, count)| *count > 0.0 && labels.get("port").is_some_and(|it| it == port));
        lost.map(|(labels, count)| (label(labels, "reason"), count)).collect()
    }

    fn tables(&self) -> Vec<Table> {
        let table = |(labels, entries): (&Labels, f64)| {
            let result = |result: &str| {
                let mut labels = labels.clone();
                labels.insert("result".to_owned(), result.to_owned());
                labels
            };
            let lookups = "wirespeed_table_lookups_total";
            Table {
                name: label(labels, "table"),
                entries,
                capacity: self.now.value("wirespeed_table_capacity_entries", labels),
                hits: self.rate(lookups, &result("hit")),
                misses: self.rate(lookups, &result("miss")),
                hits_total: self.now.value(lookups, &result("hit")),
                misses_total: self.now.value(lookups, &result("miss")),
            }
        };
        self.now.of("wirespeed_table_entries").map(table).collect()
    }

    fn queues(&self) -> Vec<Queue> {
        let queue = |(labels, depth): (&Labels, f64)| Queue {
            port: label(labels, "port"),
            queue: label(labels, "queue"),
            depth,
            capacity: self.now.value("wirespeed_queue_capacity_packets", labels),
            drops: self.rate("wirespeed_queue_drops_total", labels),
            drops_total: self.now.value("wirespeed_queue_drops_total", labels),
        };
        self.now.of("wirespeed_queue_depth_packets").map(queue).collect()
    }
}

fn label(labels: &Labels, name: &str) -> String {
    labels.get(name).cloned().unwrap_or_default()
}

impl Report {
    /// The changes between two samplings with this time between them.
    pub fn between(before: &Samples, now: &Samples, seconds: f64) -> Report {
        let looks = Looks { before, now, seconds: seconds.max(0.001) };
        let none = Labels::new();
        let workers = looks.workers();
        let load = match workers.len() {
            // A switch that does not report its threads has one.
            0 => looks.load("wirespeed_worker_busy_seconds_total", "wirespeed_worker_waiting_seconds_total", &none),
            count => workers.iter().map(|it| it.load).sum::<f64>() / count as f64,
        };
        let drops = now.of("wirespeed_drops_total");
        let result = |it: &str| Labels::from([("result".to_owned(), it.to_owned())]);
        Report {
            version: now.of("wirespeed_build_info").next().map_or_else(String::new, |(it, _)| label(it, "version")),
            controllers: now
                .of("wirespeed_p4runtime_info")
                .next()
                .map_or_else(String::new, |(it, _)| label(it, "address")),
            program: now.of("wirespeed_program_info").next().map_or_else(String::new, |(it, _)| label(it, "program")),
            seconds,
            load,
            workers,
            ports: looks.ports(),
            tables: looks.tables(),
            queues: looks.queues(),
            drops: drops.map(|(it, _)| looks.count(&label(it, "reason"), "wirespeed_drops_total", it)).collect(),
            pipeline: vec![
                looks.count("received", "wirespeed_received_packets_total", &none),
                looks.count("sent", "wirespeed_sent_packets_total", &none),
                looks.count("copies", "wirespeed_copies_total", &none),
                looks.count("further passes", "wirespeed_further_passes_total", &none),
                looks.count("to no interface", "wirespeed_unconnected_packets_total", &none),
            ],
            control: vec![
                looks.count("updates", "wirespeed_control_updates_total", &result("done")),
                looks.count("refused", "wirespeed_control_updates_total", &result("refused")),
                looks.count("digests", "wirespeed_digests_total", &none),
                looks.count("unheard by controllers", "wirespeed_controller_losses_total", &none),
            ],
        }
    }

    /// Lines for people. Headings begin with `#`, which is not shown.
    pub fn lines(&self) -> Vec<String> {
        let bar = |part: f64| {
            let full = (part.clamp(0.0, 1.0) * 20.0).round() as usize;
            format!("[{}{}]", "#".repeat(full), ".".repeat(20 - full))
        };
        let gauge = |load: f64| format!("{} {:>3.0} %", bar(load), load * 100.0);
        let mut lines = match self.workers.len() {
            0 | 1 => vec![format!("worker    {}", gauge(self.load))],
            count => vec![format!("workers   {}  all {count}", gauge(self.load))],
        };
        for it in self.workers.iter().filter(|_| self.workers.len() > 1) {
            let packets = format!("{}/s ({})", scaled(it.packets), whole(it.packets_total));
            lines.push(format!("  {:<7} {}  packets {packets}", it.name, gauge(it.load)));
        }
        lines.push(format!("pipeline  {}", counts(&self.pipeline)));
        lines.push(format!("control   {}", counts(&self.control)));
        let drops: Vec<Count> = self.drops.iter().filter(|it| it.total > 0.0).cloned().collect();
        lines.push(format!("drops     {}", if drops.is_empty() { "none".to_owned() } else { counts(&drops) }));
        let ports = self.ports.iter().map(|it| {
            let rates = [it.receive_packets, it.receive_bits, it.transmit_packets, it.transmit_bits, it.drops];
            let name = [it.number.clone(), it.interface.clone()];
            let reasons: Vec<String> =
                it.reasons.iter().map(|(why, count)| format!("{why} {}", whole(*count))).collect();
            let counts = rates.map(scaled).into_iter().chain([whole(it.drops_total), reasons.join(", ")]);
            name.into_iter().chain(counts).collect::<Vec<_>>()
        });
        let head = [
            "port",
            "interface",
            "in packets/s",
            "in bit/s",
            "out packets/s",
            "out bit/s",
            "drops/s",
            "drops",
            "reasons",
        ];
        // The reasons are only a column where there are any.
        let columns = head.len() - usize::from(self.ports.iter().all(|it| it.reasons.is_empty()));
        table(&mut lines, &head[..columns], 2, ports.map(|row| row[..columns].to_vec()).collect());
        let tables = self.tables.iter().map(|it| {
            let asked = it.hits + it.misses;
            let (part, of) =
                if asked > 0.0 { (it.hits, asked) } else { (it.hits_total, it.hits_total + it.misses_total) };
            let hit = if of > 0.0 { format!("{:.1} %", part / of * 100.0) } else { "-".to_owned() };
            let lookups = [scaled(it.hits), scaled(it.misses)];
            [it.name.clone(), whole(it.entries), whole(it.capacity)]
                .into_iter()
                .chain(lookups)
                .chain([hit])
                .collect::<Vec<_>>()
        });
        table(&mut lines, &["table", "entries", "of", "hits/s", "misses/s", "hit"], 1, tables.collect());
        let queues = self.queues.iter().map(|it| {
            let of = [it.depth, it.capacity].map(whole);
            [it.port.clone(), it.queue.clone()]
                .into_iter()
                .chain(of)
                .chain([scaled(it.drops), whole(it.drops_total)])
                .collect::<Vec<_>>()
        });
        table(&mut lines, &["port", "queue", "packets", "of", "drops/s", "drops"], 0, queues.collect());
        lines
    }

    /// The version of the switch.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The name of the running program; empty if there is none, or it is not reported.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The address for controllers, if there is one.
    pub fn controllers(&self) -> Option<&str> {
        Some(&*self.controllers).filter(|address| !address.is_empty())
    }

    /// All of it as JSON.
    pub fn json(&self) -> Value {
        let counts = |counts: &[Count]| -> Value {
            let count = |it: &Count| (it.name.replace(' ', "_"), json!({"per_s": it.rate, "total": it.total}));
            counts.iter().map(count).collect::<serde_json::Map<_, _>>().into()
        };
        let port = |it: &Port| {
            json!({
                "port": it.number, "interface": it.interface,
                "receive_packets_per_s": it.receive_packets, "receive_bits_per_s": it.receive_bits,
                "transmit_packets_per_s": it.transmit_packets, "transmit_bits_per_s": it.transmit_bits,
                "drops_per_s": it.drops, "drops": it.drops_total,
                "drop_reasons": it.reasons.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            })
        };
        let worker = |it: &Worker| {
            json!({
                "worker": it.name, "load": it.load, "packets_per_s": it.packets, "packets": it.packets_total,
            })
        };
        let table = |it: &Table| {
            json!({
                "table": it.name, "entries": it.entries, "capacity": it.capacity, "hits_per_s": it.hits,
                "misses_per_s": it.misses, "hits": it.hits_total, "misses": it.misses_total,
            })
        };
        let queue = |it: &Queue| {
            json!({
                "port": it.port, "queue": it.queue, "depth": it.depth, "capacity": it.capacity,
                "drops_per_s": it.drops, "drops": it.drops_total,
            })
        };
        json!({
            "version": self.version,
            "program": self.program,
            "seconds": self.seconds,
            "worker_load": self.load,
            "workers": self.workers.iter().map(worker).collect::<Vec<_>>(),
            "ports": self.ports.iter().map(port).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "queues": self.queues.iter().map(queue).collect::<Vec<_>>(),
            "drops": counts(&self.drops),
            "pipeline": counts(&self.pipeline),
            "control": counts(&self.control),
        })
    }
}

fn counts(counts: &[Count]) -> String {
    let count = |it: &Count| format!("{} {}/s ({})", it.name, scaled(it.rate), whole(it.total));
    counts.iter().map(count).collect::<Vec<_>>().join("  ")
}

/// Adds a table with a heading, if it has rows. The first columns are names, which are left-aligned.
fn table(lines: &mut Vec<String>, head: &[&str], names: usize, mut rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    rows.insert(0, head.iter().map(|&it| it.to_owned()).collect());
    for column in 0..names {
        let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[column] = format!("{:<width$}", row[column]));
    }
    lines.push(String::new());
    let text = aligned(&rows);
    lines.extend(text.lines().enumerate().map(|(row, line)| format!("{}{line}", if row == 0 { "#" } else { "" })));
}

/// A rate with three digits and a unit: 1.23M.
fn scaled(value: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (value, unit) = match units.iter().find(|(size, _)| value >= *size) {
        Some((size, unit)) => (value / size, *unit),
        None => (value, ""),
    };
    match value {
        value if value.fract() == 0.0 && unit.is_empty() => format!("{value:.0}"),
        value if value < 10.0 => format!("{value:.2}{unit}"),
        value if value < 100.0 => format!("{value:.1}{unit}"),
        value => format!("{value:.0}{unit}"),
    }
}

fn whole(value: f64) -> String {
    grouped(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const BEFORE: &str = r#"
wirespeed_build_info{version="1.2.3"} 1
wirespeed_port_receive_packets_total{port="1",interface="eth0"} 1000
wirespeed_port_receive_bytes_total{port="1",interface="eth0"} 100000
wirespeed_port_transmit_drops_total{port="1",interface="eth0",reason="no_room"} 5
wirespeed_table_lookups_total{table="I.t",result="hit"} 500
wirespeed_worker_busy_seconds_total 1
wirespeed_worker_waiting_seconds_total 3
wirespeed_drops_total{reason="ingress"} 900
"#;

    const NOW: &str = r#"
wirespeed_build_info{version="1.2.3"} 1
wirespeed_program_info{program="router.p4"} 1
wirespeed_port_receive_packets_total{port="1",interface="eth0"} 2001000
wirespeed_port_receive_bytes_total{port="1",interface="eth0"} 200100000
wirespeed_port_transmit_packets_total{port="1",interface="eth0"} 3
wirespeed_port_transmit_drops_total{port="1",interface="eth0",reason="no_room"} 15
wirespeed_port_transmit_drops_total{port="1",interface="eth0",reason="link_down"} 10
wirespeed_table_lookups_total{table="I.t",result="hit"} 30
wirespeed_table_lookups_total{table="I.t",result="miss"} 10
wirespeed_table_entries{table="I.t"} 12345
wirespeed_table_capacity_entries{table="I.t"} 65536
wirespeed_table_entries{table="I.longer"} 0
wirespeed_table_capacity_entries{table="I.longer"} 8
wirespeed_queue_depth_packets{port="1",queue="0"} 7
wirespeed_queue_capacity_packets{port="1",queue="0"} 64
wirespeed_queue_drops_total{port="1",queue="0"} 4
wirespeed_worker_busy_seconds_total 2
wirespeed_worker_waiting_seconds_total 4
wirespeed_drops_total{reason="ingress"} 1000
wirespeed_drops_total{reason="egress"} 0
wirespeed_control_updates_total{result="done"} 20
"#;

    fn report() -> Report {
        Report::between(&Samples::parse(BEFORE), &Samples::parse(NOW), 2.0)
    }

    #[test]
    fn text() {
        expect![[r#"
            worker    [##########..........]  50 %
            pipeline  received 0/s (0)  sent 0/s (0)  copies 0/s (0)  further passes 0/s (0)  to no interface 0/s (0)
            control   updates 10/s (20)  refused 0/s (0)  digests 0/s (0)  unheard by controllers 0/s (0)
            drops     ingress 50/s (1 000)

            #port  interface  in packets/s  in bit/s  out packets/s  out bit/s  drops/s  drops                   reasons
            1     eth0              1.00M      800M           1.50          0       10     25  no_room 15, link_down 10

            #table     entries      of  hits/s  misses/s     hit
            I.t        12 345  65 536      15         5  75.0 %
            I.longer        0       8       0         0       -

            #port  queue  packets  of  drops/s  drops
               1      0        7  64        2      4
        "#]]
        .assert_eq(&report().lines().iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    #[test]
    fn all_workers_are_shown() {
        let look = |packets: [u32; 2], busy: [u32; 2], waiting: [u32; 2]| {
            let worker = |it: usize| {
                let labels = format!("{{worker=\"{it}\"}}");
                format!(
                    "wirespeed_workers_packets_total{labels} {}\nwirespeed_workers_busy_seconds_total{labels} {}\n\
                     wirespeed_workers_waiting_seconds_total{labels} {}\n",
                    packets[it], busy[it], waiting[it]
                )
            };
            // The samples without labels are only of the first worker.
            let first = "wirespeed_worker_busy_seconds_total 9\nwirespeed_worker_waiting_seconds_total 0\n";
            Samples::parse(&format!("{first}{}{}", worker(0), worker(1)))
        };
        let (before, now) = (look([0, 0], [0, 0], [0, 0]), look([2_000_000, 500_000], [2, 1], [0, 1]));
        let report = Report::between(&before, &now, 2.0);
        expect![[r#"
            workers   [###############.....]  75 %  all 2
              0       [####################] 100 %  packets 1.00M/s (2 000 000)
              1       [##########..........]  50 %  packets 250k/s (500 000)
        "#]]
        .assert_eq(&report.lines()[..3].iter().map(|line| format!("{line}\n")).collect::<String>());
        let json = report.json();
        assert_eq!(json["worker_load"], 0.75);
        let second = json!({"worker": "1", "load": 0.5, "packets_per_s": 250_000.0, "packets": 500_000.0});
        assert_eq!(json["workers"][1], second);
    }

    #[test]
    fn json() {
        let json = report().json();
        assert_eq!((&json["worker_load"], &json["program"]), (&json!(0.5), &json!("router.p4")));
        assert_eq!(json["ports"][0]["drop_reasons"], json!({"link_down": 10.0, "no_room": 15.0}));
        assert_eq!(json["ports"][0]["receive_packets_per_s"], 1e6);
        assert_eq!(json["tables"][0]["hits_per_s"], 15.0);
        assert_eq!(json["drops"]["ingress"], json!({"per_s": 50.0, "total": 1000.0}));
    }

    #[test]
    fn rates_have_three_digits() {
        let texts = [0.0, 0.5, 7.0, 12.34, 999.0, 1000.0, 12_345.0, 1.5e9, 2e13].map(scaled);
        assert_eq!(texts, ["0", "0.50", "7", "12.3", "999", "1.00k", "12.3k", "1.50G", "20.0T"]);
    }
}
