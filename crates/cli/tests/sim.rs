//! `wirespeed sim`: scenarios run, with routers and with programs; bad ones are refused.

use expect_test::{Expect, expect};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const STAR: &str = r#"
duration = "5ms"
sample = "1ms"

[topology]
file = "topology.json"

[links]
rate = "1Gbps"
delay = "5us"
queue_packets = 20

[[flows]]
kind = "udp"
from = ["h1", "h2"]
to = "h3"
rate = "600Mbps"
arrivals = "poisson"

[[flows]]
kind = "ping"
from = "h3"
to = "h1"
interval = "1ms"
"#;

/// A folder with the example router and a scenario for it.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l3fwd");
    for name in ["l3fwd.p4", "runtime.json", "topology.json"] {
        fs::copy(app.join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("star.toml"), STAR).unwrap();
    folder
}

fn sim(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("sim").args(arguments).current_dir(folder.path());
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim-cache")).output().unwrap()
}

/// All results in a folder.
fn results(folder: &TempDir, name: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder.path().join(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, String)> = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_program_gives_the_same_results_natively_and_interpreted_and_on_two_threads() {
    let folder = folder();
    let runs = [
        ("native", vec!["--set", "switches.backend=native"]),
        ("interpreted", vec!["--set", "switches.backend=interp"]),
        ("again", vec!["--threads", "2"]),
    ];
    for (name, more) in &runs {
        let output = sim(&folder, &[&["star.toml", "--output", name][..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let native = results(&folder, "native");
    let names: Vec<&str> = native.iter().map(|(name, _)| &**name).collect();
    expect!["channels.csv drops.csv flow_samples.csv flows.csv goodput.svg hosts.csv queues.csv queues.svg report.html samples.csv summary.json switches.csv utilisation.svg"].assert_eq(&names.join(" "));
    // The page has the scenario in it, and what was set.
    let figures = |name: &str| {
        let mut all = results(&folder, name);
        let page = all.iter().position(|(name, _)| name == "report.html").unwrap();
        let (_, page) = all.remove(page);
        assert!(page.contains("<svg") && page.contains("<td>h1&gt;s1</td>"), "{page}");
        // Nothing is fetched.
        assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("url("));
        all
    };
    assert_eq!(figures("interpreted"), figures("native"));
    let native = results(&folder, "again");
    assert_eq!(figures("again"), figures("native"));
    let table = |name: &str| &native.iter().find(|(it, _)| it == name).unwrap().1;
    let value = |line: &str, column: usize| -> u64 { line.split(',').nth(column).unwrap().parse().unwrap() };
    // 600 Mb/s twice are too much for a link: what is missing was dropped in the queue of the switch's port.
    let flows: Vec<&str> = table("flows.csv").lines().skip(1).collect();
    let received: u64 = flows[..2].iter().map(|line| value(line, 10)).sum();
    let sent: u64 = flows[..2].iter().map(|line| value(line, 9)).sum();
    let switch = table("switches.csv").lines().nth(1).unwrap();
    let header: Vec<&str> = table("switches.csv").lines().next().unwrap().split(',').collect();
    let dropped = value(switch, header.iter().position(|it| *it == "dropped_queue_full").unwrap());
    assert!(
        dropped > 10 && received + dropped <= sent && received + dropped + 40 > sent,
        "{sent} {received} {dropped}"
    );
    assert!(value(flows[2], 10) >= 1, "{}", flows[2]);
}

#[test]
fn a_seed_changes_the_result() {
    let folder = folder();
    for (name, seed) in [("one", "1"), ("two", "2"), ("one-again", "1")] {
        assert!(sim(&folder, &["star.toml", "-o", name, "--seed", seed, "--set", "duration=1ms"]).status.success());
    }
    assert_eq!(results(&folder, "one"), results(&folder, "one-again"));
    assert_ne!(results(&folder, "one"), results(&folder, "two"));
}

fn check_refused(text: &str, arguments: &[&str], expected: Expect) {
    let folder = folder();
    fs::write(folder.path().join("bad.toml"), text).unwrap();
    let output = sim(&folder, &[&["bad.toml"][..], arguments].concat());
    assert_eq!(output.status.code(), Some(1));
    expected.assert_eq(&String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("bad-results").exists());
}

#[test]
fn bad_scenarios_are_refused_with_their_places() {
    check_refused(
        "duration = \"1s\"\n[topology]\nkind = \"star\"\nhost = 3\n",
        &[],
        expect![[r#"
        error: bad.toml:4:1: unknown field `host`, expected one of `file`, `kind`, `pairs`, `hosts`, `switches`, `hosts_per_switch`, `leaves`, `spines`, `hosts_per_leaf`, `k`, `rate`, `delay`, `core_rate`, `core_delay`
    "#]],
    );
    check_refused(
        &STAR.replace("topology.json", "lost.json"),
        &[],
        expect![[r#"
        error: bad.toml:6:8: lost.json cannot be read: No such file or directory (os error 2)
    "#]],
    );
    check_refused(
        &STAR.replace("\"h3\"\nrate", "\"h9\"\nrate"),
        &["--set", "links.loss=2"],
        expect![[r#"
        error: --set links.loss=2: 2 is not a probability: write a number from 0 to 1
    "#]],
    );
    check_refused(
        &format!("{STAR}[switches]\nprogram = \"lost.p4\"\n"),
        &[],
        expect![[r#"
            error: bad.toml:26:11: switch s1: there is no file `lost.p4`; looked for lost.p4, ../lost.p4
        "#]],
    );
    check_refused(
        &format!("{STAR}[switches]\nentries = \"lost.txt\"\n"),
        &[],
        expect![[r#"
            error: bad.toml:26:11: switch s1: there is no file `lost.txt`; looked for lost.txt, ../lost.txt
        "#]],
    );
    check_refused(
        &STAR.replace("5ms", "5"),
        &["--dry-run"],
        expect![[r#"
        error: bad.toml:2:12: `5` is not a time: write a number with ps, ns, us, ms or s, as in "10us"
    "#]],
    );
}

#[test]
fn links_can_be_captured_and_the_captures_do_not_depend_on_threads() {
    let folder = folder();
    for (name, threads) in [("one", "1"), ("two", "2")] {
        let output = sim(&folder, &["star.toml", "-o", name, "--threads", threads, "--pcap", "all"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let mut records = Vec::new();
    for link in ["h1-s1.pcap", "h2-s1.pcap", "h3-s1.pcap"] {
        let capture = read(&format!("one/{link}"));
        assert_eq!(capture, read(&format!("two/{link}")));
        // Little-endian, with nanoseconds.
        assert_eq!(capture[..4], 0xa1b2_3c4du32.to_le_bytes());
        let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap());
        let (mut at, mut times) = (24, Vec::new());
        while at < capture.len() {
            times.push((word(at), word(at + 4)));
            at += 16 + word(at + 8) as usize;
        }
        assert!(times.is_sorted(), "{times:?}");
        records.push(times.len());
    }
    // What h1 and h2 send is more than what h3 gets.
    assert!(records[2] > 100 && records[0] + records[1] > records[2], "{records:?}");
    let output = sim(&folder, &["star.toml", "-o", "one-way", "--pcap", "h3>s1", "--pcap", "h3-s1"]);
    assert!(output.status.success() && read("one-way/h3-s1.pcap") == read("one/h3-s1.pcap"));
    let output = sim(&folder, &["star.toml", "--pcap", "h1-h2"]);
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        error: there is no link `h1-h2` to capture; the links are h1-s1, h2-s1, h3-s1, and `all`
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_flow_can_be_traced_through_the_programs_on_its_way() {
    let folder = folder();
    for (name, threads) in [("one", "1"), ("two", "2")] {
        let more = ["--trace", "2", "--until", "200us", "--threads", threads];
        let output = sim(&folder, &[&["star.toml", "-o", name][..], &more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let trace = fs::read_to_string(folder.path().join("one/trace.txt")).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("two/trace.txt")).unwrap(), trace);
    expect![[r#"
        packet 1: ICMP 10.0.3.2 to 10.0.1.2, identifier 10000, 56 bytes of payload
          11.152us: h3 sends it on h3>s1
          17.032us: s1 gets it
              ingress: port 3, 98 bytes, a normal packet
              RouterParser
                state start                                                                           l3fwd.p4:72
                  extract hdr.ethernet at byte 0: destination=02:00:00:00:03:01 source=02:00:00:00:03:02 ethertype=0x800  l3fwd.p4:73
                  select hdr.ethernet.ethertype=0x800 -> parse_ipv4                                   l3fwd.p4:73
                state parse_ipv4                                                                      l3fwd.p4:86
                  extract hdr.ipv4 at byte 14: version=4 header_words=5 dscp=0 ecn=0 total_length=84 identification=0 flags=2 fragment_offset=0 ttl=64 protocol=1 checksum=0x22a6 source=10.0.3.2 destination=10.0.1.2  l3fwd.p4:87
                  select hdr.ipv4.header_words=5 -> accept                                            l3fwd.p4:89
                  accept                                                                              l3fwd.p4:89
              RouterVerifyChecksum
                condition of verify_checksum (hdr.ipv4.isValid()): true                               l3fwd.p4:104
                Csum16 over 18 bytes: 0x22a6                                                          l3fwd.p4:104
                verify_checksum computes 0x22a6                                                       l3fwd.p4:104
                verify_checksum: hdr.ipv4.checksum is wrong: false                                    l3fwd.p4:104
              RouterIngress
                if (standard_metadata.parser_error != error.NoError): false                           l3fwd.p4:163
                if (hdr.arp.isValid()): false                                                         l3fwd.p4:165
                if (!hdr.ipv4.isValid() || standard_metadata.checksum_error == 1): false              l3fwd.p4:173
                if (hdr.ethernet.destination[40:40] == 1): false                                      l3fwd.p4:175
                if (hdr.ipv4.ttl <= 1): false                                                         l3fwd.p4:178
                table RouterIngress.route hdr.ipv4.destination=10.0.1.2                               l3fwd.p4:181
                  hit entry 0: hdr.ipv4.destination=10.0.1.2/32 -> RouterIngress.forward(1, 02:00:00:00:01:01, 02:00:00:00:01:02)
                action RouterIngress.forward(port=1, source=02:00:00:00:01:01, destination=02:00:00:00:01:02)  l3fwd.p4:181
                  hdr.ethernet.source = 02:00:00:00:01:01                                             l3fwd.p4:119
                  hdr.ethernet.destination = 02:00:00:00:01:02                                        l3fwd.p4:120
                  hdr.ipv4.ttl = 63                                                                   l3fwd.p4:121
                  standard_metadata.egress_spec = 1                                                   l3fwd.p4:122
              => queued to port 1
              egress: port 1, replica 0, a normal packet
              RouterEgress
              RouterComputeChecksum
                condition of update_checksum (hdr.ipv4.isValid()): true                               l3fwd.p4:192
                Csum16 over 18 bytes: 0x23a6                                                          l3fwd.p4:192
                hdr.ipv4.checksum = 0x23a6                                                            l3fwd.p4:192
              RouterDeparser
                emit hdr.ethernet: 14 bytes                                                           l3fwd.p4:202
                emit hdr.ipv4: 20 bytes                                                               l3fwd.p4:204
              => sent on port 1, 98 bytes
          17.032us: s1 sends it on s1>h1
          22.912us: h1 gets it

        packet 2: ICMP 10.0.1.2 to 10.0.3.2, identifier 10000, 56 bytes of payload
          24.15109us: h1 sends it on h1>s1 (2 queued)
          54.63909us: s1 gets it
              ingress: port 1, 98 bytes, a normal packet
              RouterParser
                state start                                                                           l3fwd.p4:72
                  extract hdr.ethernet at byte 0: destination=02:00:00:00:01:01 source=02:00:00:00:01:02 ethertype=0x800  l3fwd.p4:73
                  select hdr.ethernet.ethertype=0x800 -> parse_ipv4                                   l3fwd.p4:73
                state parse_ipv4                                                                      l3fwd.p4:86
                  extract hdr.ipv4 at byte 14: version=4 header_words=5 dscp=0 ecn=0 total_length=84 identification=0 flags=2 fragment_offset=0 ttl=64 protocol=1 checksum=0x22a6 source=10.0.1.2 destination=10.0.3.2  l3fwd.p4:87
                  select hdr.ipv4.header_words=5 -> accept                                            l3fwd.p4:89
                  accept                                                                              l3fwd.p4:89
              RouterVerifyChecksum
                condition of verify_checksum (hdr.ipv4.isValid()): true                               l3fwd.p4:104
                Csum16 over 18 bytes: 0x22a6                                                          l3fwd.p4:104
                verify_checksum computes 0x22a6                                                       l3fwd.p4:104
                verify_checksum: hdr.ipv4.checksum is wrong: false                                    l3fwd.p4:104
              RouterIngress
                if (standard_metadata.parser_error != error.NoError): false                           l3fwd.p4:163
                if (hdr.arp.isValid()): false                                                         l3fwd.p4:165
                if (!hdr.ipv4.isValid() || standard_metadata.checksum_error == 1): false              l3fwd.p4:173
                if (hdr.ethernet.destination[40:40] == 1): false                                      l3fwd.p4:175
                if (hdr.ipv4.ttl <= 1): false                                                         l3fwd.p4:178
                table RouterIngress.route hdr.ipv4.destination=10.0.3.2                               l3fwd.p4:181
                  hit entry 2: hdr.ipv4.destination=10.0.3.2/32 -> RouterIngress.forward(3, 02:00:00:00:03:01, 02:00:00:00:03:02)
                action RouterIngress.forward(port=3, source=02:00:00:00:03:01, destination=02:00:00:00:03:02)  l3fwd.p4:181
                  hdr.ethernet.source = 02:00:00:00:03:01                                             l3fwd.p4:119
                  hdr.ethernet.destination = 02:00:00:00:03:02                                        l3fwd.p4:120
                  hdr.ipv4.ttl = 63                                                                   l3fwd.p4:121
                  standard_metadata.egress_spec = 3                                                   l3fwd.p4:122
              => queued to port 3
              egress: port 3, replica 0, a normal packet
              RouterEgress
              RouterComputeChecksum
                condition of update_checksum (hdr.ipv4.isValid()): true                               l3fwd.p4:192
                Csum16 over 18 bytes: 0x23a6                                                          l3fwd.p4:192
                hdr.ipv4.checksum = 0x23a6                                                            l3fwd.p4:192
              RouterDeparser
                emit hdr.ethernet: 14 bytes                                                           l3fwd.p4:202
                emit hdr.ipv4: 20 bytes                                                               l3fwd.p4:204
              => sent on port 3, 98 bytes
          54.63909us: s1 sends it on s1>h3 (3 queued)
          85.885104us: h3 gets it
    "#]].assert_eq(&trace);
    let output = sim(&folder, &["star.toml", "--trace", "3"]);
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        error: there is no flow 3 to trace: the scenario has 3, numbered from 0
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn results_and_captures_of_a_run_are_its_own() {
    let folder = folder();
    let run = |name: &str, more: &[&str]| {
        let output = sim(&folder, &[&["star.toml", "-o", name], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let plain = ["--set", "sample=10s", "--until", "2ms"];
    run("one", &["--trace", "0", "--set", "switch.s1.restarts=[[\"1ms\", \"2ms\"]]"]);
    run("one", &plain);
    run("two", &plain);
    let files = |name: &str| results(&folder, name).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(files("one"), files("two"));
    // A packet has come when its last bit has arrived, whatever the switch takes for it then.
    let capture = |name: &str, more: &[&str]| {
        run(name, &[&["--pcap", "h3>s1"], more].concat());
        fs::read(folder.path().join(name).join("h3-s1.pcap")).unwrap()
    };
    let expected = capture("fast", &[]);
    let slow = capture("slow", &["--set", "switches.ingress_latency=50us"]);
    // The second one waits for the answer to the first.
    let without_second = |bytes: &[u8]| [&bytes[..24 + 16 + 42], &bytes[24 + 16 + 42 + 16 + 98..]].concat();
    assert!(slow.len() > 300 && slow != expected);
    assert_eq!(without_second(&slow), without_second(&expected));
}

/// Sends packets round three times, of which each comes through the queue; egress drops what has waited there.
const ROUND: &str = r#"
#include <v1model.p4>
header bytes_t { bit<112> all; }
struct headers { bytes_t bytes; }
struct metadata { @field_list(1) bit<8> passes; }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.bytes); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply { standard.egress_spec = 2; }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply {
        if (standard.deq_timedelta > 100) {
            mark_to_drop(standard);
        } else if (meta.passes < 3) {
            meta.passes = meta.passes + 1;
            recirculate_preserving_field_list(1);
        }
    }
}
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

const ROUND_SCENARIO: &str = r#"
duration = "60ms"
[topology]
kind = "star"
hosts = 2
[hosts]
resolve = false
[link."s1>h2"]
rate = "1Mbps"
[switches]
timing = "rmt"
program = "round.p4"
[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "10Mbps"
count = 3
"#;

#[test]
fn a_trace_has_what_happens_to_packets_that_have_waited() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("round.p4"), ROUND).unwrap();
    fs::write(folder.path().join("round.toml"), ROUND_SCENARIO).unwrap();
    let output = sim(&folder, &["round.toml", "--trace", "0"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = fs::read_to_string(folder.path().join("round-results/trace.txt")).unwrap();
    let packets: Vec<&str> = trace.split("\n\n").collect();
    let counts = packets.iter().map(|packet| {
        [
            "ingress: port",
            "=> sent on port",
            "=> dropped by the program in egress",
            "it is lost: dropped by",
            "goes on with it",
        ]
        .map(|step| packet.matches(step).count())
    });
    // The first goes round and blocks the line for the others.
    assert_eq!(counts.collect::<Vec<_>>(), [[4, 1, 0, 0, 3], [1, 0, 1, 1, 1], [1, 0, 1, 1, 1]], "{trace}");
}

#[test]
fn a_cost_that_is_measured_gives_the_results_of_the_same_cost_in_writing() {
    let folder = folder();
    let software = ["star.toml", "--set", "switches.timing=software", "--set"];
    let run = |cost: &str, more: &[&str]| {
        let output = sim(&folder, &[&software[..], &[&format!("switches.cost={cost}")], more].concat());
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (is_good, noted) = run("measured", &["-o", "measured"]);
    assert!(is_good, "{noted}");
    let cost = noted.split("cost = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(noted.contains("a packet costs s1 ") && cost.ends_with("ns"), "{noted}");
    let (is_good, _) = run(cost, &["-o", "written"]);
    assert!(is_good);
    // The report has the options that were given.
    let tables = |name: &str| {
        let files = results(&folder, name).into_iter().filter(|(name, _)| name != "report.html");
        files.collect::<Vec<_>>()
    };
    assert_eq!(tables("measured"), tables("written"));
    for more in [&["--seeds", "2", "-o", "sweep"][..], &["--check", "no-loop"]] {
        let (is_good, said) = run("measured", more);
        assert!(!is_good && said.contains("switch s1: only single runs"), "{said}");
    }
}

/// The documentation is followed with other numbers allowed, as times differ: those of a run that do not depend on the
/// machine are compared here.
#[test]
fn the_guide_has_the_numbers_of_its_first_runs() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/sim.md")).unwrap();
    let scenario = page.split("```toml file=dumbbell.toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("dumbbell.toml"), scenario).unwrap();
    let lossy = ["--set", "link.\"s1>s2\".loss=0.01", "--seed", "2"];
    for more in [&[][..], &lossy] {
        let output = sim(&folder, &[&["dumbbell.toml"], more].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        let counts = said.split(" packet hops").next().unwrap();
        assert!(counts.contains(" events, ") && page.contains(&format!("\n{counts} packet hops")), "{said}");
    }
}

/// A link without a limit that gets a hundred times its rate.
const OVERLOAD: &str = r#"
duration = "10s"

[topology]
kind = "dumbbell"
pairs = 1
rate = "1Gbps"
core_rate = "10Mbps"

[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "900Mbps"
"#;

#[test]
fn a_run_ends_with_a_message_when_its_packets_need_too_much_memory() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("overload.toml"), OVERLOAD).unwrap();
    for more in [&["--threads", "1"][..], &["--threads", "2"], &["--seeds", "2"]] {
        let output = sim(&folder, &[&["overload.toml", "--packet-memory", "8"][..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = "are queued for link s1>s2; `queue_packets` or `queue_bytes` limits a queue";
        assert_eq!(output.status.code(), Some(1), "{more:?}: {said}");
        assert!(said.contains(expected) && said.contains("--packet-memory lets them have more"), "{more:?}: {said}");
    }
}
