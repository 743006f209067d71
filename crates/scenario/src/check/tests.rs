//! Tests of properties.

use super::*;
use crate::Scenario;
use crate::topology::NodeRef;
use expect_test::{Expect, expect};

const LEAF_SPINE: &str = r#"
duration = "20ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "1Gbps"
delay = "5us"
[[flows]]
kind = "udp"
from = "h*"
to = "h*"
rate = "10Mbps"
[[flows]]
kind = "tcp"
from = "h1"
to = "h3"
bytes = 200_000
[[flows]]
kind = "ping"
from = "h2"
to = "h4"
interval = "1ms"
"#;

/// How a scenario violates the properties, on this many threads.
fn verdict(text: &str, properties: &[&str], threads: usize) -> String {
    let read = |name: &str| Err(format!("there is no file {name}"));
    let scenario = Scenario::read(text, &[], &read).unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned())).unwrap();
    let properties: Vec<Property> = properties.iter().map(|text| Property::parse(text).unwrap()).collect();
    let mut checker = Checker::new(&properties, &simulation);
    simulation.network.record(&checker.recording());
    while !simulation.run_until(simulation.network.now() + Time::from_us(700)).unwrap() {
        checker.take(&simulation.network.take_records());
    }
    checker.take(&simulation.network.take_records());
    checker.finish(&simulation);
    assert!(checker.followed() > 100, "{}", checker.followed());
    match checker.violation() {
        None => "holds\n".to_owned(),
        Some(Violation { property, time, what, packet }) => {
            let packet: String = packet.iter().map(|line| format!("  {line}\n")).collect();
            format!("{property} at {time}: {what}\n{packet}")
        }
    }
}

fn check(more: &str, properties: &[&str], expected: Expect) {
    let text = format!("{LEAF_SPINE}{more}");
    let one = verdict(&text, properties, 1);
    assert_eq!(verdict(&text, properties, 2), one);
    expected.assert_eq(&one);
}

const ALL: [&str; 6] =
    ["no-loop", "no-unexplained-loss", "in-order", "bytes-intact", "queue-below=1000", "converges-within=1ms"];

#[test]
fn a_sound_network_has_all_properties() {
    check("", &ALL, expect!["holds\n"]);
    // What the scenario causes is excused.
    check("[links]\nloss = 0.01\ncorruption = 0.02\nduplication = 0.01\njitter = \"1us\"\n", &ALL, expect!["holds\n"]);
}

const DOWN: &str = "[link.\"s1-s3\"]\ndown = [[\"5ms\", \"15ms\"]]\n";

#[test]
fn routers_that_take_other_routes_converge() {
    check(&format!("{DOWN}[switches]\nreroute = \"500us\"\n"), &ALL, expect!["holds\n"]);
    check(
        DOWN,
        &ALL,
        expect![[r#"
        converges-within=1ms at 7.095112ms: a packet is lost at s1>s3: the link was down; it was sent 2.0656ms after links changed last, at 5ms
          UDP 10.1.1.2 port 10001 to 10.2.1.2 port 10000, 1472 bytes of payload
          sent by h1 at 7.0656ms
          path: h1 > s1
    "#]],
    );
}

#[test]
fn routers_that_take_other_routes_at_different_times_make_loops() {
    check(
        &format!("{DOWN}[switch.s3]\nreroute = \"500us\"\n"),
        &["no-loop"],
        expect![[r#"
        no-loop at 5.939624ms: s2 gets a packet that it has had before
          UDP 10.2.2.2 port 10000 to 10.1.1.2 port 10002, 1472 bytes of payload
          sent by h4 at 5.888ms
          path: h4 > s2 > s3 > s2
    "#]],
    );
}

#[test]
fn packets_that_are_overtaken_are_found() {
    check(
        "[links]\nreordering = 0.01\nreordering_delay = \"3ms\"\n",
        &["in-order"],
        expect![[r#"
        in-order at 3.081136ms: a packet arrives at h1 after one of its flow that was sent later
          UDP 10.2.1.2 port 10000 to 10.1.1.2 port 10001, 1472 bytes of payload
          sent by h3 at 0s
          path: h3 > s2 > s4 > s1 > h1
    "#]],
    );
}

#[test]
fn long_queues_are_found() {
    check(
        "[link.\"s2-h3\"]\nrate = \"31Mbps\"\n",
        &["queue-below=30"],
        expect![[r#"
        queue-below=30 at 8.665329806ms: 31 packets with 46934 bytes are queued for s2>h3
          TCP 10.1.1.2 port 10003 to 10.2.1.2 port 5001, 1448 bytes of payload
          sent by h1 at 8.612323613ms
          path: h1 > s1 > s4 > s2
    "#]],
    );
    check(
        "[link.\"s2-h3\"]\nrate = \"31Mbps\"\n",
        &["queue-below=30kB"],
        expect![[r#"
        queue-below=30000B at 6.156859613ms: 20 packets with 30280 bytes are queued for s2>h3
          TCP 10.1.1.2 port 10003 to 10.2.1.2 port 5001, 1448 bytes of payload
          sent by h1 at 6.091549419ms
          path: h1 > s1 > s4 > s2
    "#]],
    );
}

#[test]
fn random_faults_follow_from_the_seed_and_can_be_left_out_singly() {
    let read = |more: &str| {
        let text = format!("{LEAF_SPINE}[faults]\nlinks = 3\nswitches = 2\n{more}");
        let none = |name: &str| Err(format!("there is no file {name}"));
        Scenario::read(&text, &[], &none).unwrap()
    };
    let all = read("");
    assert_eq!(all.faults.len(), 5);
    let only = read("only = [1, 4]\n");
    assert_eq!(only.faults, [all.faults[1].clone(), all.faults[4].clone()]);
    // A switch that restarts takes its links down.
    let crate::faults::Faulty::Switch(switch) = only.faults[1].what else { panic!("{only:?}") };
    let at = only.faults[1].at;
    let links: Vec<usize> = only.topology.links_at(NodeRef::Switch(switch)).map(|(link, _)| link).collect();
    let is_down = |link: usize| only.channels[link].iter().all(|it| it.down.iter().any(|down| down.contains(at.start)));
    assert!(!links.is_empty() && links.into_iter().all(is_down));
    assert_eq!(read("from = \"7ms\"\nto = \"8ms\"\nlasts = \"1us\"\n").changes().len(), 10);
}

#[test]
fn packets_with_an_inverted_bit_are_not_arrivals_of_their_flow() {
    // Hosts discard what is corrupted. An inverted bit of its addresses or ports sends one on another path.
    let text = r#"
        duration = "5ms"
        seed = 14
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 2
        rate = "1Gbps"
        [links]
        corruption = 0.05
        loss = 0.05
        queue_packets = 20
        [[flows]]
        kind = "udp"
        from = "*"
        to = "*"
        rate = "100Mbps"
        [[flows]]
        kind = "tcp"
        from = "h1"
        to = "h4"
        [[flows]]
        kind = "tcp"
        from = "h2"
        to = "h3"
        ipv6 = true
        [[flows]]
        kind = "ping"
        from = "h1"
        to = "h4"
        interval = "100us"
    "#;
    assert_eq!(verdict(text, &["in-order"], 1), "holds\n");
}

/// A switch with one host, whose only other link fails.
const ISLAND: &str = r#"
duration = "20ms"
[topology]
kind = "chain"
switches = 3
hosts_per_switch = 1
rate = "1Gbps"
delay = "5us"
[link."s2-s3"]
down = [["5ms", "15ms"]]
[switches]
reroute = "500us"
[[flows]]
kind = "udp"
from = ["h1", "h2"]
to = "h3"
rate = "100Mbps"
"#;

#[test]
fn what_no_way_reaches_is_not_blamed() {
    for properties in [["no-unexplained-loss"], ["converges-within=1ms"]] {
        assert_eq!(verdict(ISLAND, &properties, 1), "holds\n");
    }
    // A router that does not take other routes loses packets for which there is a path.
    let ring = DOWN.to_owned() + "[switch.s1]\nreroute = \"9s\"\n";
    assert!(verdict(&format!("{LEAF_SPINE}{ring}"), &["converges-within=1ms"], 1).starts_with("converges-within=1ms"));
}

#[test]
fn packets_that_were_under_way_when_a_link_failed_are_not_blamed() {
    // 1 ms on each link: at 12 ms packets arrive before the link that were sent long after the change before.
    let text = LEAF_SPINE.replace("delay = \"5us\"", "delay = \"1ms\"");
    let down = "[link.\"s1-s3\"]\ndown = [[\"1ms\", \"2ms\"], [\"12ms\", \"13ms\"]]\n";
    let text = format!("{text}{down}[switches]\nreroute = \"500us\"\n");
    assert_eq!(verdict(&text, &["converges-within=3ms"], 1), "holds\n");
}
