//! Each test parses a topology and shows the result.

use super::*;
use expect_test::{Expect, expect};

fn shown(text: &str) -> String {
    let line = |fault: &Fault| format!("{}: {}\n", fault.line, fault.message);
    let topology = match Topology::parse(text) {
        Ok(topology) => topology,
        Err(faults) => return faults.iter().map(|fault| format!("error {}", line(fault))).collect(),
    };
    let mut shown = String::new();
    for Host { name, line, address, mac, gateway, commands } in &topology.hosts {
        shown += &format!("{line}: host {name}");
        let parts = [address.map(|it| it.to_string()), mac.map(|it| it.to_string())];
        let parts = parts.into_iter().chain([gateway.map(|it| format!("via {}", it.ip))]);
        parts.flatten().for_each(|part| shown += &format!(" {part}"));
        commands.iter().for_each(|command| shown += &format!(" [{command}]"));
        shown += "\n";
    }
    for Switch { name, line, program, runtime_json, cli_input, cpu_port, priority_queues } in &topology.switches {
        shown += &format!("{line}: switch {name}");
        let named = [("program", program), ("runtime", runtime_json), ("cli", cli_input)];
        let named = named.map(|(what, it)| it.as_ref().map(|it| format!(" {what}={it}")));
        named.into_iter().flatten().for_each(|part| shown += &part);
        let numbers = [("cpu", *cpu_port), ("queues", priority_queues.map(u32::from))];
        numbers.iter().filter_map(|(what, it)| it.map(|it| format!(" {what}={it}"))).for_each(|part| shown += &part);
        shown += "\n";
    }
    for Link { line, ends, wire } in &topology.links {
        let end = |end: &End| format!("{}:{end}", topology.name(end.node));
        shown += &format!("{line}: {} - {} {wire}\n", end(&ends[0]), end(&ends[1]));
    }
    topology.warnings.iter().for_each(|warning| shown += &format!("warning {}", line(warning)));
    shown.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(text));
}

/// The links of a topology with the hosts h1 and h2 and the switches s1 and s2.
fn check_links(links: &str, expected: Expect) {
    let hosts = r#""h1": {"ip": "10.0.0.1/24"}, "h2": {"ip": "10.0.0.2/24"}"#;
    let text =
        format!("{{\"hosts\": {{{hosts}}}, \"switches\": {{\"s1\": {{}}, \"s2\": {{}}}}, \"links\": [\n{links}]}}");
    let links = shown(&text)
        .lines()
        .filter(|line| !line.starts_with("1:"))
        .map(|line| line.to_owned() + "\n")
        .collect::<String>();
    expected.assert_eq(&links);
}

#[test]
fn the_form_of_the_tutorials() {
    check(
        r#"{
  "hosts": {
    "h2": {"ip": "10.0.2.2/31", "mac": "08:00:00:00:02:22"},
    "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11",
           "commands": ["route add default gw 10.0.1.10 dev eth0", "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00"]}
  },
  "switches": {
    "s1": { "runtime_json": "pod-topo/s1-runtime.json", "program": "build/firewall.json" },
    "s10": { "cli_input": "s2-commands.txt", "cpu_port": "510", "priority_queues": 8 },
    "s3": {}
  },
  "links": [
    ["h1", "s1-p2"], ["s1-p1", "h2"],
    ["s1-p3", "s10-p1", "0", 0.5], ["s10-p2", "s3-p1", 5, 100],
    ["s10-p3", "s3-p2", "1.5ms"]
  ]
}"#,
        expect![[r#"
            3: host h2 10.0.2.2/31 08:00:00:00:02:22
            4: host h1 10.0.1.1/24 08:00:00:00:01:11 [route add default gw 10.0.1.10 dev eth0] [arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00]
            8: switch s1 program=build/firewall.json runtime=pod-topo/s1-runtime.json
            9: switch s10 cli=s2-commands.txt cpu=510 queues=8
            10: switch s3
            13: h1:eth0 - s1:s1-eth2
            13: s1:s1-eth1 - h2:eth0
            14: s1:s1-eth3 - s10:s10-eth1 0.5 Mbit/s
            14: s10:s10-eth2 - s3:s3-eth1 5 ms, 100 Mbit/s
            15: s10:s10-eth3 - s3:s3-eth2 1.5 ms
        "#]],
    );
}

#[test]
fn older_forms() {
    check(
        r#"{
  "hosts": ["h1", {"name": "h2", "mac": "08:00:00:00:02:22"}, "h3"],
  "switches": ["s1", {"name": "s2", "runtime_json": "s2.json"}, "s3"],
  "links": [
    ["s3", "s2"],
    {"node1": "s2", "node2": "s1", "latency": "2ms", "bandwidth": 10},
    ["h2", "s2"], ["s1", "h1"], ["h3", "s3", {"delay": 3, "bw": 1}]
  ]
}"#,
        expect![[r#"
            2: host h1 10.0.1.1/24 00:00:00:00:01:01 via 10.0.1.254
            2: host h2 10.0.2.2/24 08:00:00:00:02:22 via 10.0.2.254
            2: host h3 10.0.3.3/24 00:00:00:00:03:03 via 10.0.3.254
            3: switch s1
            3: switch s2 runtime=s2.json
            3: switch s3
            5: s3:s3-eth2 - s2:s2-eth3
            6: s2:s2-eth2 - s1:s1-eth2 2 ms, 10 Mbit/s
            7: h2:eth0 - s2:s2-eth1
            7: s1:s1-eth1 - h1:eth0
            7: h3:eth0 - s3:s3-eth1 3 ms, 1 Mbit/s
        "#]],
    );
}

#[test]
fn ports_that_are_given_are_kept_and_others_are_numbered_around_them() {
    check_links(
        r#"["s1", "s2"], ["s1-p1", "h1"],
           ["h2-eth0", "s1-eth4"], ["s1-0", "s2-p9"]"#,
        expect![[r#"
            2: s1:s1-eth2 - s2:s2-eth1
            2: s1:s1-eth1 - h1:eth0
            3: h2:eth0 - s1:s1-eth4
            3: s1:s1-eth0 - s2:s2-eth9
        "#]],
    );
}

#[test]
fn latencies_and_bandwidths() {
    check_links(
        r#"["h1", "s1-p1", 0], ["h2", "s1-p2", null, 0.000001],
           ["s1-p3", "s2-p3", "250us"], ["s1-p4", "s2-p4", "1s", "2.5"], ["s1-p5", "s2-p5", "2000"], ["s1-p6", "s2-p6", "10 ms", null]"#,
        expect![[r#"
            2: h1:eth0 - s1:s1-eth1
            2: h2:eth0 - s1:s1-eth2 0.000001 Mbit/s
            3: s1:s1-eth3 - s2:s2-eth3 0.25 ms
            3: s1:s1-eth4 - s2:s2-eth4 1000 ms, 2.5 Mbit/s
            3: s1:s1-eth5 - s2:s2-eth5 2 ms
            3: s1:s1-eth6 - s2:s2-eth6 10 ms
        "#]],
    );
    check_links(
        r#"["h1", "s1-p1", -1], ["h2", "s1-p2", "5 parsecs"],
           ["s1-p3", "s2-p3", 0, 0], ["s1-p4", "s2-p4", 0, "fast"],
           ["s1-p5", "s2-p5", [5]], ["s1-p6", "s2-p6", 1e300], ["s1-p7", "s2-p7", "ms"]"#,
        expect![[r#"
            error 2: -1 is not a valid latency: it is a number of milliseconds, or as "5ms"
            error 2: "5 parsecs" is not a valid latency: it is a number of milliseconds, or as "5ms"
            error 3: 0 is not a valid bandwidth: it is a number of megabits per second, above 0
            error 3: "fast" is not a valid bandwidth: it is a number of megabits per second, above 0
            error 4: a list is not a valid latency: it is a number of milliseconds, or as "5ms"
            error 4: 1e+300 is not a valid latency: it is a number of milliseconds, or as "5ms"
            error 4: "ms" is not a valid latency: it is a number of milliseconds, or as "5ms"
        "#]],
    );
}

#[test]
fn links_that_cannot_be() {
    check_links(
        r#"["h1", "s3-p1"], ["h1", "s1-px"], ["h2"],
           ["h1", "s1-p1"], ["h2", "s1-p1"],
           7, ["h1", 3], ["s1-p", "s2-p-1"], {"node1": "h1"},
           ["s1-p99999", "s2"], [], ["h1", "s1-p4", 1, 2, 3]"#,
        expect![[r#"
            error 2: there is no host or switch `s3`; there are h1, h2, s1, s2
            error 2: `s1-px`: the port of s1 is p0 to p65535, not `px`
            error 2: a link is [END, END, LATENCY, BANDWIDTH], the last two if it has them
            error 3: port 1 of s1 has a link already, that of line 3
            error 4: a link is [END, END, LATENCY, BANDWIDTH], the last two if it has them
            error 4: the end of a link is a name, as "s1-p1", not 3
            error 4: `s1-p`: the port of s1 is p0 to p65535, not `p`
            error 4: there is no host or switch `s2-p`; there are h1, h2, s1, s2
            error 4: a link that is an object has "node1" and "node2"
            error 5: `s1-p99999`: the port of s1 is p0 to p65535, not `p99999`
            error 5: a link is [END, END, LATENCY, BANDWIDTH], the last two if it has them
            error 5: a link is [END, END, LATENCY, BANDWIDTH], the last two if it has them
        "#]],
    );
}

#[test]
fn every_fault_has_its_line() {
    check(
        "[]",
        expect![[r#"
        error 1: a topology is an object with "hosts", "switches" and "links"
    "#]],
    );
    check(
        "{}",
        expect![[r#"
        error 1: there is no member "hosts"
        error 1: there is no member "switches"
        error 1: there is no member "links"
    "#]],
    );
    check(
        "{\"hosts\": 3, \"switches\": {\"s1\": 4},\n\"links\": {}}",
        expect![[r#"
        error 1: it is an object in which a host has its name
        error 1: a switch must be an object, not 4
        error 2: "links" is a list of links, as [["h1", "s1-p1"]]
    "#]],
    );
    check(
        r#"{
  "hosts": {
    "h1": {"ip": "10.0.1/24", "mac": "08:00:00:00:01"},
    "h1": {},
    "h2": {"mac": "ff:ff:ff:ff:ff:ff", "commands": [1], "ip": "10.0.0.1/33"},
    "a b": {}, "": {}
  },
  "switches": {
    "h2": {},
    "s1": {"runtime_json": 3, "cpu_port": "x", "priority_queues": 9, "program": ""}
  },
  "links": [["h1", "a_switch_with_a_long_name"], ["h1", "s1-p1"]]
}"#,
        expect![[r#"
            error 3: "ip" is "10.0.1/24"; it is an address, as "10.0.1.1/24"
            error 3: "mac" is "08:00:00:00:01"; it is an Ethernet address of one station, as "08:00:00:00:01:11"
            error 4: `h1` is already defined on line 3
            error 5: "ip" is "10.0.0.1/33"; it is an address, as "10.0.1.1/24"
            error 5: "mac" is "ff:ff:ff:ff:ff:ff"; it is an Ethernet address of one station, as "08:00:00:00:01:11"
            error 5: "commands" is a list; it is a list of command lines
            error 6: `a b` cannot be a name: letters, digits, `_`, `-` and `.` can be in one
            error 6: `` cannot be a name: letters, digits, `_`, `-` and `.` can be in one
            error 9: `h2` is already defined on line 5
            error 10: "program" is ""; it is the path of a program
            error 10: "runtime_json" is 3; it is the path of a file
            error 10: "cpu_port" is "x"; it is the number of a port
            error 10: "priority_queues" is 9; it is a number from 1 to 8
            error 12: there is no host or switch `a_switch_with_a_long_name`; there are h1, h2, s1
        "#]],
    );
}

#[test]
fn odd_settings_are_reported() {
    check(
        r#"{
  "hosts": {
    "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "command": ["x"]},
    "h2": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "_note": "x", "comment": "y"},
    "h3": {}
  },
  "switches": {"a_longer_switch": {"runtimejson": "x"}},
  "links": [["h1", "a_longer_switch-p1"], ["h2", "a_longer_switch-p2"]],
  "version": 2
}"#,
        expect![[r#"
            3: host h1 10.0.1.1/24 08:00:00:00:01:11
            4: host h2 10.0.1.1/24 08:00:00:00:01:11
            5: host h3
            7: switch a_longer_switch
            8: h1:eth0 - a_longer_switch:eth1
            8: h2:eth0 - a_longer_switch:eth2
            warning 3: "command" in host h1 is unknown and ignored; known are name, ip, mac, commands
            warning 4: h2 has 10.0.1.1, which h1 of line 3 has, too
            warning 4: h2 has 08:00:00:00:01:11, which h1 of line 3 has, too
            warning 5: host h3 has no link
            warning 7: "runtimejson" in switch a_longer_switch is unknown and ignored; known are name, program, runtime_json, cli_input, cpu_port, priority_queues
            warning 9: "version" in the topology is unknown and ignored; known are hosts, switches, links, allowed_paths
        "#]],
    );
}

#[test]
fn addresses_are_read_and_shown() {
    let address = |text| Address::parse(text).map(|it| it.to_string());
    assert_eq!(address("10.0.0.1").as_deref(), Some("10.0.0.1/8"));
    assert_eq!(address("fd00::1/64").as_deref(), Some("fd00::1/64"));
    for wrong in ["", "10.0.0.1/", "10.0.0.1/33", "10.0.0/8", "h1", "10.0.0.1/-1", "fd00::1/129"] {
        assert_eq!(address(wrong), None, "{wrong}");
    }
    let mac = |text| Mac::parse(text).map(|it| it.to_string());
    assert_eq!(mac("8:0:0-0:1:FF").as_deref(), Some("08:00:00:00:01:ff"));
    for wrong in
        ["", "08:00:00:00:01", "08:00:00:00:01:11:22", "08:00:00:00:01:+1", "080:00:00:00:01:11", "g8:00:00:00:01:11"]
    {
        assert_eq!(mac(wrong), None, "{wrong}");
    }
    assert_eq!(Mac::of_port(0, 3).to_string(), "02:00:00:01:00:03");
}
