//! `wirespeed bench`: the tests check the form of its output, not the figures, which depend on the machine.

use expect_test::{Expect, expect};
use live::pcap::CaptureDriver;
use live::{Driver as _, traffic};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::netns::Network;

fn course(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/course").join(name)
}

/// Runs the command briefly, with these arguments after the program.
fn bench(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("bench").arg(course(program)).args(["--seconds", "0.01", "--runs", "3"]).args(arguments);
    command.output().unwrap()
}

/// Replaces numbers by N; leaves out what depends on the machine or on the stages of the core.
fn filtered(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_of_stages = false;
    for line in text.lines() {
        is_of_stages = (is_of_stages && !line.is_empty()) || line.starts_with("stages of the core");
        let of_machine = ["cycles", "instructions", "branch", "first-level", "last-level", "address", "time stamp"];
        if is_of_stages || line.starts_with("not counted") || of_machine.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut words: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            let word = word.rsplit_once('/').map_or(word, |(_, name)| name);
            let is_number = word.starts_with(|it: char| it.is_ascii_digit()) && word.parse::<f64>().is_ok();
            match is_number {
                true if words.last() == Some(&"N") && !line.starts_with("million") && !line.contains(" ns ") => {}
                true => words.push("N"),
                false => words.push(word),
            }
        }
        lines.push(words.join(" "));
    }
    lines.join("\n").replace("\n\n\n", "\n\n")
}

#[track_caller]
fn check(program: &str, arguments: &[&str], expected: Expect) {
    let output = bench(program, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let shown =
        format!("{}{}status {}\n", filtered(&out), filtered(&format!("\n{err}\n")), output.status.code().unwrap());
    expected.assert_eq(&shown);
}

fn entries() -> String {
    course("basic.json").display().to_string()
}

#[test]
fn figures_stand_in_a_table() {
    check(
        "basic.p4",
        &["--entries", &entries(), "--generate", "count=500,dst=10.0.2.2"],
        expect![[r#"
            basic.p4, native code, memory to memory, one worker, bursts of N
            N packets generated (count=500,dst=10.0.2.2), N bytes each
            N runs of N packets

            median least greatest
            million packets per second N N N
            ns per packet N

            latency of a packet, ns N % N % N % N % greatest
            N

            packets received N
            packets sent N

            tables entries bytes per entry
            MyIngress.ipv4_lpm N
            status 0
        "#]],
    );
}

#[test]
fn workers_have_rows_of_their_own() {
    let arguments = ["--entries", &entries(), "--generate", "count=500,dst=10.0.2.2", "--workers", "2", "--burst", "7"];
    check(
        "basic.p4",
        &arguments,
        expect![[r#"
            basic.p4, native code, memory to memory, N workers, bursts of N
            N packets generated (count=500,dst=10.0.2.2), N bytes each
            N runs of N packets

            median least greatest
            million packets per second N N N
            ns per packet, of each worker N

            worker Mpps ns per packet least greatest
            N
            N

            latency of a packet, ns N % N % N % N % greatest
            N

            packets received N
            packets sent N

            tables entries bytes per entry
            MyIngress.ipv4_lpm N
            status 0
        "#]],
    );
    check(
        "../v1model/meters.p4",
        &["--workers", "2"],
        expect![[r#"

            error: N workers: packets must take turns at meter MyIngress.entries
            status 1
        "#]],
    );
}

#[test]
fn drops_are_reported() {
    check(
        "basic.p4",
        &["--count", "100", "--backend", "interp"],
        expect![[r#"
        basic.p4, the interpreter, memory to memory, one worker, bursts of N
        N packets generated, N bytes each
        N runs of N packets

        median least greatest
        million packets per second N N N
        ns per packet N

        latency of a packet, ns N % N % N % N % greatest
        N

        packets received N
        packets sent N
        dropped by the program in ingress N
        warning: no packet was sent: the figures are for dropped packets. Do entries and packets match?
        status 0
    "#]],
    );
}

#[test]
fn a_slow_backend_gets_the_packets_for_which_there_is_time() {
    let output = bench("basic.p4", &["--backend", "interp", "--entries", &entries(), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (frames, packets) = (report["frames"].as_u64().unwrap(), report["packets_per_run"].as_u64().unwrap());
    assert!(packets < frames, "{report}");
}

#[test]
fn figures_as_json_agree_with_each_other() {
    let arguments = ["--entries", &entries(), "--generate", "count=500,dst=10.0.2.2", "--json"];
    let output = bench("basic.p4", &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(number(&report["received"]), 3.0 * number(&report["packets_per_run"]));
    assert_eq!(report["received"], report["sent"]);
    for run in 0..3 {
        let product = number(&report["mpps"]["runs"][run]) * number(&report["ns_per_packet"]["runs"][run]);
        assert!((product - 1000.0).abs() < 1e-6, "{report}");
    }
    let latency = |name: &str| number(&report["latency_ns"][name]);
    let quantiles = ["p50", "p90", "p99", "p99.9", "greatest"].map(latency);
    assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "{report}");
    let (least, median) = (number(&report["ns_per_packet"]["least"]), number(&report["ns_per_packet"]["median"]));
    assert!(least > 0.0 && least <= median && median <= number(&report["ns_per_packet"]["greatest"]), "{report}");
}

#[test]
fn packets_of_captures_come_in_by_their_ports() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let write = |name: &str, frames: &[Vec<u8>]| {
        let mut driver = CaptureDriver::open(None, Some(&folder.path().join(name))).unwrap();
        frames.iter().for_each(|frame| driver.transmit(frame, 0).unwrap());
        driver.finish().unwrap();
    };
    write("a.pcap", &[traffic::udp_frame(0x0a00_0202, 64, 1)]);
    write("b.pcapng", &[traffic::udp_frame(0x0a00_0303, 64, 2), traffic::udp_frame(0x0a00_0202, 64, 3)]);
    write("none.pcap", &[]);
    let traces = [format!("2={}", path("a.pcap")), path("b.pcapng")];
    check(
        "basic.p4",
        &["-e", &entries(), "--trace", &traces[0], "--trace", &traces[1]],
        expect![[r#"
            basic.p4, native code, memory to memory, one worker, bursts of N
            N packets from a.pcap, b.pcapng, N bytes each
            N runs of N packets

            median least greatest
            million packets per second N N N
            ns per packet N

            latency of a packet, ns N % N % N % N % greatest
            N

            packets received N
            packets sent N
            dropped by the program in ingress N

            tables entries bytes per entry
            MyIngress.ipv4_lpm N
            status 0
        "#]],
    );
    check(
        "basic.p4",
        &["--trace", &path("none.pcap")],
        expect![[r#"

        error: there are no packets in none.pcap
        status 1
    "#]],
    );
    check(
        "basic.p4",
        &["--trace", &path("missing.pcap")],
        expect![[r#"

        error: cannot open capture missing.pcap`: No such file or directory (os error 2)
        status 3
    "#]],
    );
    check(
        "basic.p4",
        &["--trace", &format!("4000={}", path("a.pcap"))],
        expect![[r#"

        error: --trace a.pcap: the greatest port is N
        status 2
    "#]],
    );
    check(
        "basic.p4",
        &["--over", "memory", "--trace", &traces[0], "--trace", &traces[1]],
        expect![[r#"

        error: --over: all packets come in by one interface, so all captures must be of one port
        status 2
    "#]],
    );
}

#[test]
fn arguments_that_make_no_sense() {
    check(
        "basic.p4",
        &["--generate", "count=many"],
        expect![[r#"

        error: --generate: `count=many`: count is a number from N to N
        status 2
    "#]],
    );
    check(
        "basic.p4",
        &["--in-port", "4000"],
        expect![[r#"

        error: --in-port: the greatest port is N
        status 2
    "#]],
    );
    check(
        "basic.p4",
        &["--over", "memory", "--workers", "2"],
        expect![[r#"

        error: --workers: virtual interfaces are measured with one worker
        status 2
    "#]],
    );
}

#[test]
fn drivers_take_turns() {
    if let Err(reason) = Network::new(&["ip"]) {
        testkit::skip(reason);
        return;
    }
    let arguments = ["-e", &entries(), "--generate", "count=500,dst=10.0.2.2", "--over", "packet,xdp,memory"];
    check(
        "basic.p4",
        &arguments,
        expect![[r#"
        basic.p4, native code, between two pairs of virtual interfaces
        N packets generated (count=500,dst=10.0.2.2), N bytes each
        processor time per packet in ns, N runs in turn

        driver switch least greatest sender least greatest sent
        packet socket N %
        AF_XDP N %
        in memory N %
        status 0
    "#]],
    );
    let arguments = ["-e", &entries(), "--generate", "count=1,bytes=1515", "--over", "packet"];
    check(
        "basic.p4",
        &arguments,
        expect![[r#"

        note: this was over packet socket
        error: a frame of N bytes is longer than the N that virtual interfaces carry
        status 1
    "#]],
    );
}
