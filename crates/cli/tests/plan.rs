//! `wirespeed compile --emit plan` and `wirespeed tune`: the form of their output. Which setting is best depends on
//! the machine.

use expect_test::{Expect, expect};
use live::pcap::CaptureDriver;
use live::{Driver as _, traffic};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A switch with two tables: an access list and a forwarding table. The second lookup depends on a value of the
/// first.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header ipv4_t { bit<64> head; bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> source; bit<32> destination; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct meta_t { bit<8> class; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { 0x800: ipv4; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(16) last;
    counter(16, CounterType.packets) classes;
    action drop() { mark_to_drop(sm); }
    action classify(bit<8> class) { meta.class = class; }
    action forward(bit<9> port) { sm.egress_spec = port; hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    table acl { key = { hdr.ipv4.source: ternary; hdr.ipv4.protocol: exact; } actions = { drop; classify; NoAction; } }
    table route { key = { hdr.ipv4.destination: lpm; } actions = { forward; drop; } default_action = drop(); }
    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            if (acl.apply().hit) { classes.count((bit<32>)meta.class); }
            if (!route.apply().hit && meta.class != 0) {
                last.write((bit<32>)(meta.class & 15), hdr.ipv4.source);
            }
        } else { drop(); }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), MyIngress(), E(), V(), D()) main;
"#;

/// A folder with the program, and a cache of its own.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.0.path().join("filter.p4"), PROGRAM).unwrap();
        folder
    }

    /// A capture of some packets.
    fn capture(&self, name: &str, packets: u32) {
        let mut driver = CaptureDriver::open(None, Some(&self.0.path().join(name))).unwrap();
        let frame = |number| traffic::udp_frame(0x0a00_0000 | number, 64, number);
        (0..packets).for_each(|number| driver.transmit(&frame(number), 0).unwrap());
        driver.finish().unwrap();
    }

    /// The output of a command, and its exit status unless it succeeds.
    fn run(&self, line: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.args(line.split_whitespace()).current_dir(self.0.path()).env("XDG_CACHE_HOME", self.cache());
        let output = command.output().unwrap();
        let status = match output.status.code() {
            Some(0) => String::new(),
            code => format!("status {}\n", code.unwrap_or(-1)),
        };
        [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat() + &status
    }

    #[track_caller]
    fn check(&self, line: &str, expected: Expect) {
        expected.assert_eq(&self.run(line));
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// The file with a tuning.
    fn kept(&self) -> Option<PathBuf> {
        let is_tuning = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tuned-"));
        let files = std::fs::read_dir(self.cache().join("wirespeed")).ok()?;
        files.map(|file| file.unwrap().path()).find(|path| is_tuning(path))
    }
}

#[test]
fn a_plan_speaks_of_the_program_in_its_own_words() {
    Folder::new().check(
        "compile filter.p4 --emit plan",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              batch stage 0
                node 0 (entered): then if hdr.ipv4.isValid() && hdr.ipv4.ttl > 1 node 1 else node 2
                node 1: then looks up MyIngress.acl, node 4
                node 2: 2 statements; then node 3
                node 3: 8 statements; then done
              batch stage 1
                node 4 (entered): result of MyIngress.acl; 2 statements; then looks up MyIngress.route, node 5
              batch stage 2, which workers take turns at
                node 5 (entered): result of MyIngress.route; 2 statements; then node 6
                node 6: 8 statements; then done

            block MyIngress
              batch stage 0
                node 0 (entered): then if hdr.ipv4.isValid() && hdr.ipv4.ttl > 1 node 1 else node 2
                node 1: then looks up MyIngress.acl, node 4
                node 2: 2 statements; then done
              batch stage 1
                node 4 (entered): result of MyIngress.acl; 2 statements; then looks up MyIngress.route, node 5
              batch stage 2, which workers take turns at
                node 5 (entered): result of MyIngress.route; 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.class: 8 bits: C variable, saved for each packet up to batch stage 2; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable, saved for each packet up to batch stage 2; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable, saved for each packet up to batch stage 2; in blocks: packet, slot 11
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              MyIngress.classify.class: 8 bits: C variable
              MyIngress.acl hit: 1 bits: C variable
              MyIngress.forward.port: 9 bits: C variable
              MyIngress.route hit: 1 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 160 bits: packet, byte 14

            tables
              MyIngress.acl: decision trees, linear while it is small; key of 40 bits in 1 word, looked up once per burst
                ternary hdr.ipv4.source: 32 bits
                exact hdr.ipv4.protocol: 8 bits
                entries have 8 bytes of action data
              MyIngress.route: trie whose first level is an array; key of 32 bits in 1 word, looked up once per burst
                lpm hdr.ipv4.destination: 32 bits
                entries have 8 bytes of action data

            state
              counter MyIngress.classes: sum: each worker has cells of its own, which are added up
              register MyIngress.last: guarded: packets can observe the order of use: workers take turns at the guarded batch stages
        "#]],
    );
}

#[test]
fn a_plan_as_json_has_the_same_for_tools() {
    let folder = Folder::new();
    let plan: Value = serde_json::from_str(&folder.run("compile filter.p4 --emit plan --json")).unwrap();
    expect![[r#"
        {
          "guarded": false,
          "nodes": [
            {
              "entered": true,
              "number": 4,
              "per_packet_lookups": [],
              "result_of": "MyIngress.acl",
              "statements": 2,
              "then": "looks up MyIngress.route, node 5"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&plan["fast_path"]["stages"][1]).unwrap());
    expect![[r#"
        {
          "data_bytes": 8,
          "engine": "decision trees, linear while it is small",
          "key": [
            [
              "ternary",
              "hdr.ipv4.source",
              32
            ],
            [
              "exact",
              "hdr.ipv4.protocol",
              8
            ]
          ],
          "key_bits": 40,
          "key_words": 1,
          "lookup": "once per burst",
          "name": "MyIngress.acl"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&plan["tables"][0]).unwrap());
    folder.check(
        "compile filter.p4 --emit c --json",
        expect![[r#"
        error: --json is for --emit plan and --emit times
        status 2
    "#]],
    );
}

/// Replaces numbers by N, and leaves out which setting is best.
fn without_figures(text: &str) -> String {
    let word = |word: &str| {
        if word.parse::<f64>().is_ok_and(|_| word.contains('.')) { "N".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| line.split_whitespace().filter(|it| *it != "*").map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn what_is_tuned_is_kept_until_it_is_forgotten() {
    let folder = Folder::new();
    folder.capture("traffic.pcap", 500);
    let tuned = folder.run("tune filter.p4 --pcap traffic.pcap --seconds 0.01 --runs 1");
    assert_eq!(tuned.matches(" *\n").count(), 1, "one choice is the best: {tuned}");
    expect![[r#"
        N ns per packet bursts of 64, tables looked up once per burst
        N ns per packet bursts of 64, tables looked up packet by packet
        N ns per packet bursts of 32, tables looked up once per burst
        N ns per packet bursts of 32, tables looked up packet by packet
        N ns per packet bursts of 16, tables looked up once per burst
        N ns per packet bursts of 16, tables looked up packet by packet
        N ns per packet bursts of 8, tables looked up once per burst
        N ns per packet bursts of 8, tables looked up packet by packet
        stored for the next runs of this program on this machine
    "#]]
    .assert_eq(&without_figures(&tuned));
    let kept = folder.kept().expect("it is kept");
    // As on a machine on which this is the best.
    std::fs::write(&kept, "burst_packets 16\ncuts false\n").unwrap();
    let plan = folder.run("compile filter.p4 --emit plan");
    let output: Vec<&str> =
        plan.lines().filter(|line| line.starts_with("tuned") || line.contains("looked up")).collect();
    expect![[r#"
        tuned: bursts of at most 16 packets, tables looked up packet by packet
          MyIngress.acl: decision trees, linear while it is small; key of 40 bits in 1 word, looked up packet by packet
          MyIngress.route: trie whose first level is an array; key of 32 bits in 1 word, looked up packet by packet"#]]
    .assert_eq(&output.join("\n"));
    folder.check(
        "tune filter.p4 --forget",
        expect![[r#"
        the stored tuning was deleted
    "#]],
    );
    folder.check(
        "tune filter.p4 --forget",
        expect![[r#"
        no tuning was stored
    "#]],
    );
    assert!(!folder.run("compile filter.p4 --emit plan").contains("tuned"));
}

#[test]
fn a_run_that_is_over_at_once_has_a_figure() {
    let folder = Folder::new();
    folder.capture("traffic.pcap", 500);
    let tuned = folder.run("tune filter.p4 --pcap traffic.pcap --seconds 0.001 --runs 1");
    assert!(tuned.contains("ns per packet") && !tuned.contains("NaN"), "{tuned}");
}

#[test]
fn a_tuning_for_tools() {
    let folder = Folder::new();
    folder.capture("traffic.pcap", 70);
    let mut found: Value =
        serde_json::from_str(&folder.run("tune filter.p4 --pcap 2=traffic.pcap --seconds 0.01 --runs 2 --json"))
            .unwrap();
    let best = &found["best"];
    assert!(found["choices"].as_array().unwrap().iter().any(|it| it["cuts"] == best["cuts"]), "{found}");
    for choice in found["choices"].as_array_mut().unwrap() {
        assert!(choice["ns_per_packet"].as_f64().unwrap() > 0.0);
        choice.as_object_mut().unwrap().remove("ns_per_packet");
    }
    expect![[r#"[{"burst_packets":64,"cuts":true},{"burst_packets":64,"cuts":false},{"burst_packets":32,"cuts":true},{"burst_packets":32,"cuts":false},{"burst_packets":16,"cuts":true},{"burst_packets":16,"cuts":false},{"burst_packets":8,"cuts":true},{"burst_packets":8,"cuts":false}]"#]].assert_eq(&found["choices"].to_string());
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let folder = Folder::new();
    folder.capture("none.pcap", 0);
    folder.check(
        "tune filter.p4",
        expect![[r#"
        error: the following required arguments were not provided:
          --pcap <[PORT=]FILE>

        Usage: wirespeed tune --pcap <[PORT=]FILE> <FILE>

        For more information, try '--help'.
        status 2
    "#]],
    );
    folder.check(
        "tune filter.p4 --pcap missing.pcap",
        expect![[r#"
        error: cannot open capture `missing.pcap`: No such file or directory (os error 2)
        status 3
    "#]],
    );
    folder.check(
        "tune filter.p4 --pcap none.pcap",
        expect![[r#"
        error: there are no packets in none.pcap
        status 1
    "#]],
    );
    folder.check(
        "tune filter.p4 --pcap 512=none.pcap",
        expect![[r#"
        error: --pcap 512=none.pcap: the greatest port is 511
        status 2
    "#]],
    );
    folder.check(
        "tune filter.p4 --pcap none.pcap --runs 0",
        expect![[r#"
        error: invalid value '0' for '--runs <N>': it is a number from 1 to 1000

        For more information, try '--help'.
        status 2
    "#]],
    );
    folder.check(
        "tune missing.p4 --pcap none.pcap",
        expect![[r#"
        error[E0101]: there is no file `missing.p4`

        1 error
        status 1
    "#]],
    );
    assert_eq!(folder.kept(), None);
}

#[test]
fn times_are_those_of_all_stages() {
    let folder = Folder::new();
    let output: Value = serde_json::from_str(&folder.run("compile filter.p4 --emit times --json")).unwrap();
    let stages: Vec<&String> = output["stages_s"].as_object().unwrap().keys().collect();
    expect![[r#"["c", "cc", "check", "lint", "load", "lower", "parse", "passes", "plan"]"#]]
        .assert_eq(&format!("{stages:?}"));
    let sum: f64 = output["stages_s"].as_object().unwrap().values().map(|time| time.as_f64().unwrap()).sum();
    assert!(sum > 0.0 && (sum - output["total_s"].as_f64().unwrap()).abs() < 1e-6);
    assert!(["own", "cc"].iter().all(|who| output["memory_bytes"][who].as_u64().unwrap() > 1 << 20), "{output}");
    let text = folder.run("compile filter.p4 --emit times");
    let first: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(first, ["parse", "check", "lint", "lower", "passes", "plan", "c", "cc", "load", "total", "memory"]);
}
