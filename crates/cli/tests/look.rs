//! Inspection of a switch: packets traced while it runs, from its state, and logged as they arrive.

use crate::support;

use expect_test::expect;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use support::{ROUTER, Switch, wirespeed};
use tempfile::TempDir;

/// A packet to 10.0.1.7.
const PACKET: &str = "0000000000020000000000010800000000000000000000000000010203040a000107";

/// Port 9 gets a packet every 10 milliseconds, once its timer is set.
const PORTS: [&str; 5] = ["--port", "1=null", "--port", "9=timer:24000s", "--quiet"];

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a command that must succeed.
fn ctl(switch: &Switch, words: &[&str]) -> String {
    let output = switch.ctl().args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output));
    text(&output)
}

/// The journeys of packets; the note for the user must be this.
fn traced(switch: &Switch, words: &[&str], note: &str) -> String {
    let output = switch.ctl().arg("trace").args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("note: waiting for {note}; Ctrl-C ends it\n"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn route(switch: &Switch) {
    ctl(switch, &["add", "ipv4_lpm", "10.0.1.0/24", "do", "forward", "08:00:00:00:01:11", "1"]);
}

#[test]
fn the_next_packet_of_a_running_switch_is_traced() {
    let switch = Switch::start_with(&PORTS);
    route(&switch);
    ctl(&switch, &["timers", "9", "10ms", PACKET, &PACKET.replace("0a000107", "0a000207")]);
    let note = "a packet that arrives at port 9 with ipv4.dstAddr=10.0.1.0/24";
    let shown = traced(&switch, &["--port", "9", "--field", "ipv4.dstAddr=10.0.1.0/24"], note);
    expect![[r#"
        packet 1: 34 bytes on port 9
          ingress: port 9, 34 bytes, a normal packet
          P
            state start                                                                           router.p4:11
              extract h.ethernet at byte 0: dstAddr=00:00:00:00:00:02 srcAddr=00:00:00:00:00:01 etherType=0x800  router.p4:11
              extract h.ipv4 at byte 14: head=0x0 srcAddr=16909060 dstAddr=167772423              router.p4:11
              accept                                                                              router.p4:11
          V
          MyIngress
            count MyIngress.rx[9]                                                                 router.p4:30
            m.learn.address = 1                                                                   router.p4:31
            m.learn.port = 9                                                                      router.p4:32
            digest(1, m.learn)                                                                    router.p4:33
            write MyIngress.flows[0] = 2048                                                       router.p4:34
            table MyIngress.acl h.ipv4.srcAddr=16909060 h.ethernet.etherType=0x800                router.p4:35
              miss
            action NoAction()                                                                     router.p4:35
            table MyIngress.ipv4_lpm h.ipv4.dstAddr=10.0.1.7                                      router.p4:36
              hit entry 0: h.ipv4.dstAddr=10.0.1.0/24 -> MyIngress.forward(08:00:00:00:01:11, 1)
            action MyIngress.forward(dstAddr=08:00:00:00:01:11, port=1)                           router.p4:36
              h.ethernet.dstAddr = 08:00:00:00:01:11                                              router.p4:18
              s.egress_spec = 1                                                                   router.p4:18
              digest learn_t: address=1 port=9                                                    router.p4:41
          => queued to port 1
          egress: port 1, replica 0, a normal packet
          E
          V
          D
            emit h.ethernet: 14 bytes                                                             router.p4:40
            emit h.ipv4: 20 bytes                                                                 router.p4:40
          => sent on port 1, 34 bytes
          out on port 1: 0800000001110000000000010800000000000000000000000000010203040a000107
    "#]]
    .assert_eq(&shown);
    // The other packet matches no route.
    let note = "2 packets that arrive at port 1 or 9 with bytes 30:0a0002";
    let shown = traced(&switch, &["2", "bytes", "30:0a0002", "--port", "1", "--port", "9", "--json"], note);
    let lines: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["event"], &lines[2]["packet"]), (3, &"waiting".into(), &2.into()));
    let steps = lines[1]["steps"].as_array().unwrap();
    let of = |step: &str| steps.iter().find(|it| it["step"] == step).unwrap();
    assert!(steps.iter().any(|it| it["step"] == "request" && it["text"] == "mark_to_drop(s)"), "{steps:?}");
    assert_eq!(of("dropped")["reason"], "ingress");
    assert_eq!(of("extract")["fields"]["dstAddr"], "00:00:00:00:00:02");
    assert_eq!((&lines[1]["port"], &lines[1]["sent"]), (&9.into(), &Value::Array(Vec::new())));
    switch.check(
        &[
            &["trace", "ipv4.ttl=1"],
            &["trace", "ipv4.dstAddr=10.0.0.256"],
            &["trace", "--port", "x"],
            &["trace", "port", "512"],
            &["trace", "bytes", "65534:0000"],
            &["trace", "bytes", "4294967295:0000", "--json"],
        ],
        expect![[r#"
            error: there is no field ipv4.ttl
              help: the program has the fields h.ipv4.head, h.ethernet.dstAddr, h.ipv4.dstAddr, h.ethernet.srcAddr, h.ethernet.etherType, h.ipv4.srcAddr
            status 1
            error: 10.0.0.256 is not an IPv4 address
            status 1
            error: x is not a valid port
              help: it is a number
            status 1
            error: there is no port 512: the greatest port of v1model is 511
            status 1
            error: no packet has 65536 bytes: the longest has 65535
            status 1
            {"errors":["no packet has 4294967297 bytes: the longest has 65535"],"place":null}
            status 1
        "#]],
    );
}

/// The router with state that no snapshot has.
fn router_with_unknowns() -> String {
    let with = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    };
    let text =
        with(ROUTER, "register<bit<16>>(4) flows;", "register<bit<16>>(4) flows; meter(4, MeterType.bytes) police;");
    let asked = "police.execute_meter(0, m.tag); random(m.tag, 0, 5);
        hash(m.tag, HashAlgorithm.crc16_custom, 12w0, { h.ethernet.dstAddr }, 12w100);";
    let text = with(&text, "acl.apply();", &format!("{asked} acl.apply();"));
    let egress = "control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { ";
    with(&text, egress, &format!("{egress} m.tag = s.deq_qdepth[11:0]; "))
}

#[test]
fn a_trace_marks_what_it_does_not_know() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("unknowns.p4");
    std::fs::write(&program, router_with_unknowns()).unwrap();
    let switch = Switch::start_program(&program, &PORTS);
    ctl(&switch, &["timers", "9", "10ms", PACKET]);
    let shown = ctl(&switch, &["trace"]);
    let notes: Vec<&str> = shown.lines().take_while(|line| !line.starts_with("packet")).collect();
    expect![[r#"
        [
            "not known: how full the meters of the switch are; here they begin full, and colors may differ",
            "not known: the contents of the queues of the switch; here they are empty and stay empty",
            "not known: parameters of CRCs that were set while the switch runs; here they are the standard ones",
            "not known: the random numbers of the switch; here they differ",
        ]
    "#]]
    .assert_debug_eq(&notes);
    let output = wirespeed().args(["trace", "--packet", &format!("2:{PACKET}"), "--from", &switch.address]).output();
    let warned = String::from_utf8(output.unwrap().stderr).unwrap();
    assert_eq!(warned, notes.iter().map(|note| format!("warning: {note}\n")).collect::<String>());
}

#[test]
fn packets_of_a_program_with_plug_ins_are_traced_by_those_who_have_them() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let program =
        ROUTER.replacen("struct headers_t", "extern bit<16> scramble(in bit<16> value);\nstruct headers_t", 1);
    let program = program.replacen("h.ethernet.etherType);", "scramble(h.ethernet.etherType));", 1);
    std::fs::write(path("scramble.p4"), program).unwrap();
    std::fs::write(path("scramble.c"), "unsigned short scramble(unsigned short value) { return value ^ 1; }\n")
        .unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut compile = Command::new(compiler);
    assert!(
        compile.args(["-shared", "-fPIC", "-o", &path("scramble.so"), &path("scramble.c")]).status().unwrap().success()
    );
    let plug_in = ["--extern", &path("scramble.so")];
    let switch = Switch::start_program(Path::new(&path("scramble.p4")), &[&PORTS[..], &plug_in].concat());
    switch.check(
        &[&["trace"]],
        expect![[r#"
            error: the program has extern functions of its own, whose plug-ins only the switch has
              help: `wirespeed trace --from HOST:PORT --extern LIB.so` traces packets that it is given
            status 1
        "#]],
    );
    let packet = format!("2:{PACKET}");
    let output = wirespeed().args(["trace", "--packet", &packet, "--from", &switch.address]).args(plug_in).output();
    let shown = text(&output.unwrap());
    assert!(shown.contains("write MyIngress.flows[0] = 2049"), "{shown}");
}

#[test]
fn packets_are_traced_with_the_tables_and_registers_of_a_running_switch() {
    let switch = Switch::start_with(&PORTS);
    route(&switch);
    let trace = |options: &[&str]| {
        let packet = format!("2:{PACKET}");
        let output = wirespeed().args(["trace", "--packet", &packet]).args(options).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let shown = trace(&["--from", &switch.address]);
    assert!(shown.contains("hit entry 0: h.ipv4.dstAddr=10.0.1.0/24 -> MyIngress.forward("), "{shown}");
    ctl(&switch, &["clear", "ipv4_lpm"]);
    let shown = trace(&["--from", &switch.address, "--json"]);
    let line: Value = serde_json::from_str(&shown).unwrap();
    assert!(line["steps"].as_array().unwrap().iter().any(|it| it["text"] == "mark_to_drop(s)"), "{line}");
    let nowhere = wirespeed().args(["trace", "--from", "127.0.0.1:1", "--packet", "1:00"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(3), "{}", text(&nowhere));
}

#[test]
fn packets_are_traced_with_the_state_in_a_folder_that_is_in_use() {
    let state = TempDir::new().unwrap();
    let folder = state.path().join("kept");
    let options = ["--port", "1=null", "--quiet", "--state", folder.to_str().unwrap()];
    let switch = Switch::start_with(&options);
    route(&switch);
    let trace = || {
        let mut command = wirespeed();
        command.args(["trace", "--packet", &format!("2:{PACKET}"), "--state"]).arg(&folder);
        command.output().unwrap()
    };
    let names = |folder: &Path| {
        let files = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&folder);
    for _ in 0..2 {
        let shown = text(&trace());
        assert!(shown.contains("hit entry 0: h.ipv4.dstAddr=10.0.1.0/24"), "{shown}");
    }
    assert_eq!(names(&folder), before);
    drop(switch);
    let shown = text(&trace());
    assert!(shown.contains("=> sent on port 1, 34 bytes"), "{shown}");
    let empty = TempDir::new().unwrap();
    let output = wirespeed().args(["trace", "--packet", "1:00", "--state"]).arg(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("contains no state"), "{}", text(&output));
}

#[test]
fn every_packet_is_written_to_a_log() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("router.p4");
    std::fs::write(&program, ROUTER.replace("acl.apply();", "if (h.ethernet.etherType == 0x800) { acl.apply(); }"))
        .unwrap();
    std::fs::write(folder.path().join("in.pcap"), capture(&[PACKET, PACKET])).unwrap();
    let run = |options: &[&str]| {
        let mut command = wirespeed();
        command.args(["run", "router.p4", "--quiet", "--port", "1=pcap:in.pcap", "--port", "2=null"]).args(options);
        command.current_dir(folder.path()).output().unwrap()
    };
    let output = run(&["--log-packets", "packets.log"]);
    assert!(output.status.success(), "{}", text(&output));
    let log = std::fs::read_to_string(folder.path().join("packets.log")).unwrap();
    let heads: Vec<&str> = log.lines().filter(|line| line.starts_with("packet")).collect();
    assert_eq!(heads, ["packet 1 at 0.000000 s: 34 bytes on port 1", "packet 2 at 0.000001 s: 34 bytes on port 1"]);
    for part in [
        "    state start ",
        "    if (h.ethernet.etherType == 0x800): true ",
        "    table MyIngress.ipv4_lpm h.ipv4.dstAddr=10.0.1.7 ",
        "    action MyIngress.drop() ",
        "      mark_to_drop(s) ",
        "  => dropped by the program in ingress",
    ] {
        assert_eq!(log.lines().filter(|line| line.starts_with(part)).count(), 2, "{part}: {log}");
    }
    let output = run(&["--log-packets", "-", "--json"]);
    let lines: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events.iter().filter(|event| **event == "packet").count(), 2, "{events:?}");
    let refused = run(&["--log-packets", "x.log", "--backend", "native"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
}

#[test]
fn a_controllers_program_is_logged_and_traced_too() {
    let log = TempDir::new().unwrap();
    let path = log.path().join("packets.log");
    let mut options = PORTS.to_vec();
    options.extend(["--log-packets", path.to_str().unwrap()]);
    let switch = Switch::start_with(&options);
    let other = switch.write("other.p4", &ROUTER.replace("MyIngress", "Other"));
    ctl(&switch, &["load", other.to_str().unwrap()]);
    ctl(&switch, &["timers", "9", "10ms", PACKET]);
    let shown = ctl(&switch, &["trace"]);
    assert!(shown.contains("table Other.ipv4_lpm h.ipv4.dstAddr=10.0.1.7"), "{shown}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("table Other.ipv4_lpm h.ipv4.dstAddr=10.0.1.7"), "{written}");
    let status = ctl(&switch, &["status"]);
    assert!(status.contains("program    other.p4 (v1model, set by a controller)"), "{status}");
}

#[test]
fn the_only_device_is_the_one_that_is_meant() {
    let switch = Switch::start_with(&["--device-id", "7"]);
    switch.check(
        &[&["status"], &["--device-id", "7", "show", "ipv4_lpm"]],
        expect![[r#"
            address    ADDRESS
            device     7
            P4Runtime  1.5.0
            program    FOLDER/router.p4 (v1model)
            tables     MyIngress.ipv4_lpm, MyIngress.acl
            primary    none
            MyIngress.ipv4_lpm: 0 entries
            h.ipv4.dstAddr  action
            default         drop
        "#]],
    );
    let other = wirespeed().args(["ctl", "--address", &switch.address, "--device-id", "1", "status"]).output().unwrap();
    assert!(text(&other).contains("there is no device 1: this is device 7"), "{}", text(&other));
}

#[test]
fn addresses_are_known_by_their_types() {
    let program = ROUTER
        .replace("header ethernet_t", "typedef bit<32> ip4Addr_t;\ntypedef bit<32> count_t;\nheader ethernet_t")
        .replace("bit<32> srcAddr; bit<32> dstAddr; }", "ip4Addr_t from; count_t ip_count; }")
        .replace("h.ipv4.srcAddr", "h.ipv4.from")
        .replace("h.ipv4.dstAddr: lpm", "h.ipv4.ip_count: exact")
        .replace("forward(bit<48> dstAddr,", "forward(bit<48> dstAddr, ip4Addr_t gateway,");
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("typed.p4");
    std::fs::write(&path, program).unwrap();
    let switch = Switch::start_program(&path, &[]);
    switch.check(
        &[
            &["add", "ipv4_lpm", "10", "do", "forward", "1", "10.0.0.1", "1"],
            &["show", "ipv4_lpm"],
            &["add", "acl", "10.0.0.0&&&0xff000000", "0x800..0x806", "do", "drop", "priority", "10"],
            &["show", "acl"],
        ],
        expect![[r#"
            MyIngress.ipv4_lpm: 1 entry
            h.ipv4.ip_count  action
            10               forward dstAddr=00:00:00:00:00:01 gateway=10.0.0.1 port=1
            default          drop
            MyIngress.acl: 1 entry
            h.ipv4.from           h.ethernet.etherType  priority  action
            10.0.0.0&&&255.0.0.0  0x800..0x806          10        drop
            default                                               NoAction
        "#]],
    );
}

#[test]
fn losses_on_ports_are_named() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("p.p4"), ROUTER).unwrap();
    std::fs::write(folder.path().join("entries.txt"), "table_add ipv4_lpm forward 10.0.1.0/24 => 1 2\n").unwrap();
    std::fs::write(folder.path().join("in.pcap"), capture(&[PACKET, PACKET])).unwrap();
    let mut command = wirespeed();
    command.args(["run", "p.p4", "--entries", "entries.txt", "--backend", "interp", "--log-format", "text"]);
    let output = command
        .args(["--port", "1=pcap:in.pcap", "--port", "2=pcap:in.pcap"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let shown = text(&output);
    assert!(shown.contains("\n4 packets: not sent on port 2: no_output\n"), "{shown}");
    for part in ["the program is p.p4", "the port is pcap:in.pcap port=1", "the switch runs: p.p4 on 1=pcap:in.pcap"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let end = shown.lines().find(|line| line.contains("the switch has stopped")).unwrap();
    assert!(end.contains("received=4 sent=4 dropped=0 lost_on_reception=0 lost_on_transmission=4"), "{end}");
}

/// A capture with packets a microsecond apart.
fn capture(packets: &[&str]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (number, packet) in packets.iter().enumerate() {
        let bytes: Vec<u8> =
            (0..packet.len()).step_by(2).map(|at| u8::from_str_radix(&packet[at..at + 2], 16).unwrap()).collect();
        for word in [1, number as u32, bytes.len() as u32, bytes.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(bytes);
    }
    file
}

/// Loops, labels, elements and truth values.
const FORMS: &str = r#"#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> x; bit<8>[2] v; }
struct hs { h_t a; }
struct ms { bit<8> y; bool b; bit<8>[3] w; }
parser P(packet_in p, out hs hdr, inout ms m, inout standard_metadata_t s) {
  state start { p.extract(hdr.a); transition accept; }
}
control V(inout hs hdr, inout ms m) { apply {} }
control I(inout hs hdr, inout ms m, inout standard_metadata_t s) {
  action mark(bool on) { m.b = on; }
  table t { key = { hdr.a.x: exact; m.b: exact; } actions = { mark; NoAction; } default_action = mark(true); }
  apply {
    for (bit<8> k = 0; k < 2; k += 1) { m.y = k; }
    for (bit<8> k in 1..2) { m.y = m.y + k; }
    switch (m.y) { 3: { m.y = 4; } 8w4: 5: { m.y = 3; } default: { m.y = 5; } }
    switch (m.y) { 2: { m.y = 4; } default: { m.y = 6; } }
    switch (t.apply().action_run) { NoAction: {} mark: { hdr.a.v[1] = 7; } }
    tuple<bit<8>, bool> u = { hdr.a.x, false };
    m.w[2] = u[0];
    s.egress_spec = 1;
  }
}
control E(inout hs hdr, inout ms m, inout standard_metadata_t s) { apply {} }
control C(inout hs hdr, inout ms m) { apply {} }
control D(packet_out p, in hs hdr) { apply { p.emit(hdr.a); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

#[test]
fn conditions_labels_elements_and_truth_values_are_as_in_the_program() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("forms.p4");
    std::fs::write(&file, FORMS).unwrap();
    let output = wirespeed().arg("trace").arg(&file).args(["--packet", "1:0500aa"]).output().unwrap();
    let shown = text(&output);
    let steps = shown.lines().skip_while(|line| line.trim() != "I").take_while(|line| !line.contains("=>"));
    let steps: Vec<&str> =
        steps.map(|line| line.split("   ").find(|it| !it.trim().is_empty()).unwrap().trim()).collect();
    expect![[r#"
        I
        k = 0
        k < 2: true
        m.y = 0
        k = 1
        k < 2: true
        m.y = 1
        k = 2
        k < 2: false
        k in 1..2: true
        k = 1
        m.y = 2
        k in 1..2: true
        k = 2
        m.y = 4
        k in 1..2: false
        switch (m.y): 8w4
        m.y = 3
        switch (m.y): default
        m.y = 6
        table I.t hdr.a.x=5 m.b=false
        miss
        action I.mark(on=true)
        m.b = true
        switch (t.apply().action_run): mark
        hdr.a.v[1] = 7
        u[0] = 5
        u[1] = false
        m.w[2] = 5
        s.egress_spec = 1
    "#]]
    .assert_eq(&(steps.join("\n") + "\n"));
    assert!(shown.contains("extract hdr.a at byte 0: x=5 v[0]=0 v[1]=170"), "{shown}");
}
