//! The values of a switch that are exported, collected on request.

use crate::exposition::{Exposition, Kind};
use control::Api;
use ir::Program;
use live::{CounterSnapshot, PortCounters};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use switch::externs::TableUse;
use switch::workers::{Load, LoadSnapshot};
use switch::{DropReason, QueueState, SharedTables, Stats};

/// How long the worker may take to respond.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// The figures that the worker publishes, about once a second.
#[derive(Debug, Default)]
pub struct Published {
    /// How long the worker was busy and how long it was idle, in nanoseconds.
    times_ns: Mutex<(u64, u64)>,
    unconnected_frames: AtomicU64,
    digests: AtomicU64,
    controller_losses: AtomicU64,
    digests_lost: Mutex<DigestsLost>,
    ports: Mutex<Vec<ShownPort>>,
}

/// Digests that reached no controller, by reason. The names are empty if there cannot be a controller.
pub type DigestsLost = [(&'static str, u64); 5];

/// The figures of the worker at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tick {
    /// How long it has run.
    pub run: Duration,
    /// How much of that time it was idle.
    pub waited: Duration,
    /// Frames sent to ports that have no driver.
    pub unconnected_frames: u64,
    /// Packets, digests and idle notifications that reached no controller.
    pub controller_losses: u64,
    /// The digests among them, including those to which no controller subscribed.
    pub digests_lost: DigestsLost,
}

impl Published {
    /// Publishes the worker's figures.
    pub fn tick(&self, tick: Tick) {
        let nanoseconds = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX);
        let times_ns = (nanoseconds(tick.run.saturating_sub(tick.waited)), nanoseconds(tick.waited));
        *self.times_ns.lock().unwrap_or_else(PoisonError::into_inner) = times_ns;
        self.unconnected_frames.store(tick.unconnected_frames, Ordering::Relaxed);
        self.controller_losses.store(tick.controller_losses, Ordering::Relaxed);
        *self.digests_lost.lock().unwrap_or_else(PoisonError::into_inner) = tick.digests_lost;
    }

    /// Adds a port.
    pub fn add_port(&self, port: ShownPort) {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).push(port);
    }

    /// Counts a digest that the program sent.
    pub fn digest(&self) {
        self.digests.fetch_add(1, Ordering::Relaxed);
    }
}

/// A port in the metrics.
#[derive(Debug)]
pub struct ShownPort {
    /// Its number.
    pub number: u32,
    /// What it is connected to, as the user wrote it.
    pub name: String,
    /// Its counters.
    pub counters: Arc<PortCounters>,
}

/// The sources of all values.
pub struct Sources {
    /// The control plane, and through it the switch.
    pub api: Arc<Api>,
    /// The worker's figures, and the ports.
    pub published: Arc<Published>,
    /// The version of the command.
    pub version: &'static str,
    /// The name of the running program; empty if there is none.
    pub program: ProgramName,
    /// The address at which controllers reach the switch, if there is one.
    pub controllers: Option<SocketAddr>,
}

/// Returns the name of the running program.
pub type ProgramName = Box<dyn Fn() -> String + Send + Sync>;

/// What the worker copies from the switch.
struct Snapshot {
    program: Arc<Program>,
    tables: SharedTables,
    stats: Stats,
    uses: Vec<TableUse>,
    queues: Vec<QueueState>,
}

impl Sources {
    /// Whether the worker responds.
    pub fn is_alive(&self) -> bool {
        self.run_on_worker(|_| ()).is_some()
    }

    fn run_on_worker<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut switch::Switch) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        let job = move |switch: &mut switch::Switch| {
            // After the timeout, nothing receives the result.
            let _late = answer.send(job(switch));
        };
        self.api.command_queue().send(Box::new(job)).ok()?;
        answered.recv_timeout(ANSWER_MAX).ok()
    }

    /// All metrics as text; `None` if the switch does not respond.
    pub fn collect(&self) -> Option<String> {
        let snapshot = self.run_on_worker(|switch| Snapshot {
            program: Arc::clone(switch.program()),
            tables: switch.shared_tables(),
            stats: *switch.stats(),
            uses: switch.externs_mut().table_uses.iter().copied().collect(),
            queues: switch.queues().collect(),
        })?;
        let mut text = Exposition::default();
        text.family("wirespeed_build_info", Kind::Gauge, "The version that runs.");
        text.sample(&[("version", self.version)], 1.0);
        text.family("wirespeed_program_info", Kind::Gauge, "The program that runs.");
        text.sample(&[("program", &(self.program)())], 1.0);
        if let Some(address) = self.controllers {
            text.family("wirespeed_p4runtime_info", Kind::Gauge, "Where controllers reach the switch.");
            text.sample(&[("address", &address.to_string())], 1.0);
        }
        self.ports(&mut text);
        tables(&mut text, &snapshot);
        queues(&mut text, &snapshot.queues);
        core(&mut text, &snapshot.stats);
        self.worker(&mut text);
        Some(text.finish())
    }

    fn ports(&self, text: &mut Exposition) {
        let ports = self.published.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let read: Vec<(String, &str, CounterSnapshot)> =
            ports.iter().map(|it| (it.number.to_string(), it.name.as_str(), it.counters.snapshot())).collect();
        let mut family = |name, help, value: fn(&CounterSnapshot) -> u64| {
            text.family(name, Kind::Counter, help);
            for (number, name, counters) in &read {
                text.sample(&[("port", number), ("interface", name)], value(counters) as f64);
            }
        };
        family("wirespeed_port_receive_packets_total", "Packets received.", |it| it.rx_packets);
        family("wirespeed_port_receive_bytes_total", "Bytes of packets received.", |it| it.rx_bytes);
        family("wirespeed_port_transmit_packets_total", "Packets sent.", |it| it.tx_packets);
        family("wirespeed_port_transmit_bytes_total", "Bytes of packets sent.", |it| it.tx_bytes);
        let drops = [
            ("wirespeed_port_receive_drops_total", "Packets lost on reception.", "rx_dropped_"),
            ("wirespeed_port_transmit_drops_total", "Packets lost on transmission.", "tx_dropped_"),
        ];
        for (family, help, prefix) in drops {
            text.family(family, Kind::Counter, help);
            for (number, name, counters) in &read {
                for (field, value) in counters.fields() {
                    if let Some(reason) = field.strip_prefix(prefix) {
                        text.sample(&[("port", number), ("interface", name), ("reason", reason)], value as f64);
                    }
                }
            }
        }
    }

    fn workers(&self, text: &mut Exposition) {
        let Some(workers) = self.api.workers() else { return };
        let is_special = !workers.code().is_empty();
        let help = "Whether the running code was made for the present contents of some tables.";
        text.family("wirespeed_specialised", Kind::Gauge, help).sample(&[], f64::from(u8::from(is_special)));
        text.family("wirespeed_specialisations_total", Kind::Counter, "How often such code was run.");
        text.sample(&[], workers.codes_run() as f64);
        let count = workers.now();
        text.family("wirespeed_workers", Kind::Gauge, "Threads that work on packets.").sample(&[], count as f64);
        let loads: Vec<_> = (0..count).filter_map(|worker| workers.load(worker)).map(Load::snapshot).collect();
        let mut family = |name, help, value: fn(&LoadSnapshot) -> f64| {
            text.family(name, Kind::Counter, help);
            for (worker, load) in loads.iter().enumerate() {
                text.sample(&[("worker", &worker.to_string())], value(load));
            }
        };
        family("wirespeed_workers_packets_total", "Packets that each worker has taken.", |it| it.packets as f64);
        let busy = "Time in which each worker had work.";
        family("wirespeed_workers_busy_seconds_total", busy, |it| it.busy_ns as f64 / 1e9);
        let waiting = "Time in which each worker had none.";
        family("wirespeed_workers_waiting_seconds_total", waiting, |it| it.waited_ns as f64 / 1e9);
    }

    fn worker(&self, text: &mut Exposition) {
        let (busy_ns, waited_ns) = *self.published.times_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let load = Exposition::family;
        load(text, "wirespeed_worker_busy_seconds_total", Kind::Counter, "Time in which the worker had work.");
        text.sample(&[], busy_ns as f64 / 1e9);
        load(text, "wirespeed_worker_waiting_seconds_total", Kind::Counter, "Time in which the worker had none.");
        text.sample(&[], waited_ns as f64 / 1e9);
        text.family("wirespeed_digests_total", Kind::Counter, "Digests that the program has sent.");
        text.sample(&[], self.published.digests.load(Ordering::Relaxed) as f64);
        text.family("wirespeed_unconnected_packets_total", Kind::Counter, "Packets sent to ports without interface.");
        text.sample(&[], self.published.unconnected_frames.load(Ordering::Relaxed) as f64);
        text.family(
            "wirespeed_controller_losses_total",
            Kind::Counter,
            "Packets, digests and idle entries that reached no controller.",
        );
        text.sample(&[], self.published.controller_losses.load(Ordering::Relaxed) as f64);
        let lost = *self.published.digests_lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.iter().any(|(reason, _)| !reason.is_empty()) {
            let help = "Digests that reached no controller.";
            text.family("wirespeed_digests_lost_total", Kind::Counter, help);
            for (reason, count) in lost {
                text.sample(&[("reason", reason)], count as f64);
            }
        }
        self.workers(text);
        let (done, refused) = self.api.update_counts();
        text.family("wirespeed_control_updates_total", Kind::Counter, "Updates of the control plane.");
        text.sample(&[("result", "done")], done as f64).sample(&[("result", "refused")], refused as f64);
    }
}

fn tables(text: &mut Exposition, snapshot: &Snapshot) {
    let program = &snapshot.program;
    let sizes: Vec<(usize, usize, usize)> = {
        let tables = snapshot.tables.lock();
        let bytes = tables.lookup_bytes();
        tables.tables().iter().zip(bytes).map(|(table, bytes)| (table.len(), table.spec().size, bytes)).collect()
    };
    let names = || program.tables.iter().map(|table| table.name.as_str());
    text.family("wirespeed_table_lookups_total", Kind::Counter, "Lookups of packets in a table.");
    for (name, used) in names().zip(&snapshot.uses) {
        text.sample(&[("table", name), ("result", "hit")], used.hits as f64);
        let misses = used.lookups.saturating_sub(used.hits);
        text.sample(&[("table", name), ("result", "miss")], misses as f64);
    }
    text.family("wirespeed_table_entries", Kind::Gauge, "Entries of a table.");
    for (name, (count, ..)) in names().zip(&sizes) {
        text.sample(&[("table", name)], *count as f64);
    }
    text.family("wirespeed_table_capacity_entries", Kind::Gauge, "Entries that a table holds at most.");
    for (name, (_, size, _)) in names().zip(&sizes) {
        text.sample(&[("table", name)], *size as f64);
    }
    text.family("wirespeed_table_lookup_bytes", Kind::Gauge, "Memory that packets look up in; there are two copies.");
    for (name, (.., bytes)) in names().zip(&sizes) {
        text.sample(&[("table", name)], *bytes as f64);
    }
}

fn queues(text: &mut Exposition, queues: &[QueueState]) {
    let mut family = |name, kind, help, value: fn(&QueueState) -> f64| {
        text.family(name, kind, help);
        for queue in queues {
            let (port, priority) = (queue.port.to_string(), queue.priority.to_string());
            text.sample(&[("port", &port), ("queue", &priority)], value(queue));
        }
    };
    family("wirespeed_queue_depth_packets", Kind::Gauge, "Packets that wait in a queue.", |it| it.depth_packets as f64);
    family("wirespeed_queue_capacity_packets", Kind::Gauge, "Packets that a queue with a rate holds.", |it| {
        it.capacity_packets as f64
    });
    family("wirespeed_queue_drops_total", Kind::Counter, "Packets that found a queue full.", |it| {
        it.refused_packets as f64
    });
}

fn core(text: &mut Exposition, stats: &Stats) {
    let mut family = |name, help, value: u64| {
        text.family(name, Kind::Counter, help).sample(&[], value as f64);
    };
    family("wirespeed_received_packets_total", "Packets that entered the pipeline.", stats.received);
    family("wirespeed_sent_packets_total", "Packets that left the pipeline.", stats.sent);
    family("wirespeed_copies_total", "Clones and replicas.", stats.copies);
    family("wirespeed_further_passes_total", "Resubmissions and recirculations.", stats.passes);
    text.family("wirespeed_drops_total", Kind::Counter, "Packets that ended without being sent.");
    for reason in DropReason::ALL {
        text.sample(&[("reason", reason.name())], stats.drops(reason) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use switch::{Backend, CommandQueue, Config, IdleOwner, Output, Switch};

    const PROGRAM: &str = "
        #include <v1model.p4>
        header h_t { bit<8> value; }
        struct headers { h_t h; }
        struct meta_t { }
        parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t s) {
            state start { p.extract(hdr.h); transition accept; }
        }
        control V(inout headers hdr, inout meta_t m) { apply { } }
        control I(inout headers hdr, inout meta_t m, inout standard_metadata_t s) {
            action send() { s.egress_spec = 1; }
            action drop() { mark_to_drop(s); }
            table t { key = { hdr.h.value: exact; } actions = { send; drop; } default_action = drop; size = 8; }
            apply { t.apply(); }
        }
        control E(inout headers hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
        control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
        V1Switch(P(), V(), I(), E(), V(), D()) main;";

    struct Silent;
    impl Output for Silent {
        fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {}
    }

    /// A switch with one entry that has processed three packets, and the sources of its metrics.
    fn sources() -> (Sources, Arc<IdleOwner>) {
        let mut map = syntax::SourceMap::new();
        let loader = syntax::MemoryFiles::new();
        let (tree, mut diagnostics) = syntax::parse_text(&mut map, "m.p4", PROGRAM, &syntax::Options::new(&loader));
        let typed = sema::check(&tree, &mut diagnostics);
        let program = Arc::new(lower::lower(&typed, &mut diagnostics).unwrap());
        let mut switch = Switch::new(Arc::clone(&program), Backend::Interpreter, Config::default()).unwrap();
        let parked = Arc::new(IdleOwner::default());
        let api = Arc::new(Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>));
        for value in [7, 7, 8] {
            assert!(!switch.receive(0, 2, &[value; 60]));
        }
        let lines = "table_add t send 7 =>\nset_queue_rate 100 1\n";
        parked.park(switch);
        for (command, _) in control::parse_entries("lines", lines, &program).unwrap() {
            api.command(command).unwrap();
        }
        let command_queue: &dyn CommandQueue = &*parked;
        command_queue.ask(|switch| switch.run(0, &mut Silent)).unwrap();
        let counters = Arc::new(PortCounters::default());
        counters.rx_packets.add(3);
        counters.tx_dropped_link_down.add(1);
        let published = Arc::new(Published::default());
        let digests_lost = [("a", 7), ("b", 0), ("c", 0), ("d", 0), ("e", 1)];
        let tick = Tick { run: Duration::from_secs(4), waited: Duration::from_secs(3), ..Tick::default() };
        published.tick(Tick { digests_lost, controller_losses: 9, ..tick });
        published.digest();
        published.add_port(ShownPort { number: 2, name: "eth\"0".into(), counters });
        let program = Box::new(|| "p.p4".to_owned());
        let controllers = Some(([127, 0, 0, 1], 9559).into());
        (Sources { api, published, version: "1.2.3", program, controllers }, parked)
    }

    fn serve(sources: Sources) -> crate::Server {
        crate::Bound::at(([127, 0, 0, 1], 0).into()).and_then(|bound| bound.serve(sources)).unwrap()
    }

    fn get(server: &crate::Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.replace("\r\n", "\n")
    }

    fn check(server: &crate::Server, request: &str, expected: Expect) {
        expected.assert_eq(&get(server, request));
    }

    #[test]
    fn silent_clients_do_not_delay_others() {
        let (sources, _parked) = sources();
        let server = serve(sources);
        let silent: Vec<TcpStream> = (0..30).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        let asked = std::time::Instant::now();
        assert!(get(&server, "GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
        // One after the other they would take fifteen seconds.
        assert!(asked.elapsed() < Duration::from_secs(10));
        drop(silent);
    }

    /// Many more clients than the limit, all the time: each that sends a request gets a response.
    #[test]
    fn idle_connections_do_not_keep_others_out() {
        let (sources, _parked) = sources();
        let server = serve(sources);
        let mut silent = Vec::new();
        for _ in 0..5 {
            silent.extend((0..100).map(|_| TcpStream::connect(server.address()).unwrap()));
            assert!(get(&server, "GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
        }
    }

    #[test]
    fn the_metrics_of_a_switch() {
        let (sources, _) = sources();
        let server = serve(sources);
        let answer = get(&server, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let (head, body) = answer.split_once("\n\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\nContent-Type: text/plain; version=0.0.4"), "{head}");
        let samples = body.lines().filter(|line| !line.starts_with('#') && !line.ends_with(" 0"));
        expect![[r#"
            wirespeed_build_info{version="1.2.3"} 1
            wirespeed_program_info{program="p.p4"} 1
            wirespeed_p4runtime_info{address="127.0.0.1:9559"} 1
            wirespeed_port_receive_packets_total{port="2",interface="eth\"0"} 3
            wirespeed_port_transmit_drops_total{port="2",interface="eth\"0",reason="link_down"} 1
            wirespeed_table_lookups_total{table="I.t",result="hit"} 2
            wirespeed_table_lookups_total{table="I.t",result="miss"} 1
            wirespeed_table_entries{table="I.t"} 1
            wirespeed_table_capacity_entries{table="I.t"} 8
            wirespeed_table_lookup_bytes{table="I.t"} 4352
            wirespeed_queue_depth_packets{port="1",queue="0"} 1
            wirespeed_queue_capacity_packets{port="1",queue="0"} 64
            wirespeed_received_packets_total 3
            wirespeed_sent_packets_total 1
            wirespeed_drops_total{reason="ingress"} 1
            wirespeed_worker_busy_seconds_total 1
            wirespeed_worker_waiting_seconds_total 3
            wirespeed_digests_total 1
            wirespeed_controller_losses_total 9
            wirespeed_digests_lost_total{reason="a"} 7
            wirespeed_digests_lost_total{reason="e"} 1
            wirespeed_control_updates_total{result="done"} 2
        "#]]
        .assert_eq(&samples.map(|line| format!("{line}\n")).collect::<String>());
        // Each sample follows the header of its family, and each family occurs once.
        let mut family = "";
        for line in body.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(rest) => family = rest.split(' ').next().unwrap(),
                None => assert!(line.starts_with("# HELP ") || line.starts_with(family), "{line}"),
            }
        }
    }

    #[test]
    fn other_requests() {
        let (sources, parked) = sources();
        let server = serve(sources);
        check(
            &server,
            "GET /healthz HTTP/1.1\r\n\r\n",
            expect![[r#"
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Content-Length: 3
            Connection: close

            ok
        "#]],
        );
        check(
            &server,
            "HEAD /healthz?x HTTP/1.0\r\n\r\n",
            expect![[r#"
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Content-Length: 3
            Connection: close

        "#]],
        );
        check(
            &server,
            "GET / HTTP/1.1\r\n\r\n",
            expect![[r#"
            HTTP/1.1 404 Not Found
            Content-Type: text/plain
            Content-Length: 32
            Connection: close

            there are /metrics and /healthz
        "#]],
        );
        check(
            &server,
            "POST /metrics HTTP/1.1\r\n\r\n",
            expect![[r#"
            HTTP/1.1 405 Method Not Allowed
            Content-Type: text/plain
            Content-Length: 18
            Connection: close

            only GET and HEAD
        "#]],
        );
        check(
            &server,
            "what\r\n\r\n",
            expect![[r#"
            HTTP/1.1 400 Bad Request
            Content-Type: text/plain
            Content-Length: 28
            Connection: close

            this is not an HTTP request
        "#]],
        );
        // The server does not wait for a request that is never completed.
        check(
            &server,
            "GET /met",
            expect![[r#"
            HTTP/1.1 400 Bad Request
            Content-Type: text/plain
            Content-Length: 28
            Connection: close

            this is not an HTTP request
        "#]],
        );
        drop(parked.take());
        check(
            &server,
            "GET /healthz HTTP/1.1\r\n\r\n",
            expect![[r#"
            HTTP/1.1 503 Service Unavailable
            Content-Type: text/plain
            Content-Length: 27
            Connection: close

            the switch does not answer
        "#]],
        );
        check(
            &server,
            "GET /metrics HTTP/1.1\r\n\r\n",
            expect![[r#"
            HTTP/1.1 503 Service Unavailable
            Content-Type: text/plain
            Content-Length: 27
            Connection: close

            the switch does not answer
        "#]],
        );
    }
}
