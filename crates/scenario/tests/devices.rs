//! Switches with a timing model: what comes out of scenarios, compared with what must.

use crate::common::{column, run};

/// Hosts at a switch, datagrams from the first to the last.
fn star(hosts: u32, switches: &str, flows: &str) -> String {
    format!(
        "duration = \"20ms\"\n[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
         [switches]\nprogram = \"forward.p4\"\n{switches}\n{flows}"
    )
}

/// A flow of datagrams with 958 bytes: 1,000 on Ethernet, 1,024 with preamble, checksum and gap, 8,192 bits.
fn udp(from: &str, to: &str, more: &str) -> String {
    format!("[[flows]]\nkind = \"udp\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = 958\n{more}\n")
}

fn near(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() <= part, "{value} instead of {expected}");
}

#[test]
fn latencies_of_the_preset_add_up() {
    let delay = |switches: &str, more: &str| {
        let files = run(&star(2, switches, &udp("h1", "h2", &format!("rate = \"1Mbps\"\n{more}"))), 1);
        column(&files, "flows.csv", "delay_mean_ns")[0]
    };
    let ideal = delay("", "");
    assert_eq!(delay("timing = \"rmt\"", "") - ideal, 300.0);
    assert_eq!(delay("timing = \"software\"\ncost = \"70.5ns\"", "").floor() - ideal.floor(), 70.0);
    // A second pass takes the latencies once more, and 80 ns on the port for 1,000 bytes.
    let round = delay("timing = \"rmt\"", "traffic_class = 4") - delay("timing = \"rmt\"", "");
    assert!((379.0..=382.0).contains(&round), "{round}");
    let resubmitted = delay("timing = \"rmt\"", "traffic_class = 8") - delay("timing = \"rmt\"", "");
    assert!((229.0..=232.0).contains(&resubmitted), "{resubmitted}");
}

/// Within the initial window, so that nothing but the devices limits it.
#[test]
fn a_flow_over_tcp_alone_is_as_fast_as_ideal() {
    for (switches, least_us, most) in [
        ("", 0.0, 1.000_05),
        ("timing = \"rmt\"", 0.0, 1.000_05),
        ("queues = [{ rate = \"200Mbps\" }]", 540.0, 1.000_05),
        ("[switch.s1.port.2]\nrate = \"500Mbps\"", 210.0, 1.000_05),
        // Acknowledgments, which the ideal time does not have, count as much as data here: that of the handshake goes
        // before it, and those of the receiver pass the same pipeline.
        ("timing = \"bmv2\"\nqueue_rate = \"20kpps\"", 450.0, 1.1),
        ("timing = \"software\"\ncost = \"30us\"", 270.0, 1.5),
        ("pipeline = { rate = \"20kpps\" }", 450.0, 1.5),
    ] {
        let flow = "[[flows]]\nkind = \"tcp\"\nfrom = \"h1\"\nto = \"h2\"\nbytes = 14_000\n";
        let files = run(&star(2, switches, flow), 1);
        let [slowdown, ideal_ns] = ["slowdown", "ideal_ns"].map(|it| column(&files, "flows.csv", it)[0]);
        assert!((1.0..most).contains(&slowdown), "{switches} {slowdown}");
        assert!(ideal_ns > 1e3 * least_us, "{switches} {ideal_ns}");
    }
}

#[test]
fn a_pipeline_takes_as_many_packets_as_its_rate_allows() {
    // 900 Mb/s are 117,433 packets a second.
    let files = run(
        &star(2, "pipeline = { rate = \"50kpps\", queue_packets = 10 }", &udp("h1", "h2", "rate = \"900Mbps\"")),
        1,
    );
    near(column(&files, "flows.csv", "received")[0], 1_000.0, 0.02);
    let [dropped, queue] =
        ["pipeline_dropped", "pipeline_queue_max_packets"].map(|it| column(&files, "switches.csv", it)[0]);
    assert!(dropped > 1_300.0 && queue == 10.0, "{dropped} {queue}");
}

#[test]
fn a_pipeline_is_an_m_d_1_queue() {
    // 7,664 bits of payload a packet: 70,000 packets a second, of 100,000.
    let flow = udp("h1", "h2", "rate = \"536.48Mbps\"\narrivals = \"poisson\"");
    let text = star(2, "pipeline = { rate = \"100kpps\", queue_packets = 10_000 }", &flow);
    let files = run(&text.replace("20ms", "400ms").replace("1Gbps", "100Gbps"), 1);
    near(column(&files, "switches.csv", "pipeline_wait_mean_ns")[0], 10_000.0 * 0.7 / (2.0 * 0.3), 0.06);
}

#[test]
fn cores_share_flows() {
    let flows: String = (0..64).map(|_| udp("h1", "h2", "rate = \"10Mbps\"\narrivals = \"poisson\"")).collect();
    let received = |cores: u32| {
        let switches = format!("timing = \"software\"\ncost = \"100us\"\ncores = {cores}");
        let files = run(&star(2, &switches, &flows), 1);
        column(&files, "flows.csv", "received").iter().sum::<f64>()
    };
    // 20 ms are 200 packets for a core.
    let [one, four] = [1, 4].map(received);
    near(one, 200.0, 0.02);
    near(four / one, 4.0, 0.02);
}

#[test]
fn queues_of_a_class_share_by_weight_and_higher_classes_go_first() {
    let goodput = |switches: &str| {
        let flows = [("h1", 0), ("h2", 32), ("h3", 64)];
        let flows: String = flows
            .iter()
            .map(|(from, class)| udp(from, "h4", &format!("rate = \"900Mbps\"\ntraffic_class = {class}")))
            .collect();
        let files =
            run(&star(4, &format!("priorities = 3\n{switches}"), &format!("[links]\nqueue_packets = 100\n{flows}")), 1);
        column(&files, "flows.csv", "received")
    };
    // 20 ms of a gigabit are 2,441 packets.
    let weighted =
        goodput("queues = [{ class = 0, weight = 1 }, { priority = 1, weight = 2 }, { priority = 2, weight = 5 }]");
    for (received, weight) in weighted.iter().zip([1.0, 2.0, 5.0]) {
        near(*received, 2_441.0 * weight / 8.0, 0.06);
    }
    // 900 Mb/s of payload leave 39 Mb/s of a line that carries 939.
    let strict = goodput("");
    near(strict[2], 2_349.0, 0.01);
    assert!(strict[1] < 110.0 && strict[0] < 110.0, "{strict:?}");
    let shaped = goodput("queues = [{ priority = 2, rate = \"200Mbps\" }]");
    near(shaped[2], 488.0, 0.02);
    near(shaped[1], 1_953.0, 0.02);
    let paced = goodput("queues = [{ priority = 2, packet_rate = \"10kpps\" }]");
    near(paced[2], 200.0, 0.02);
}

#[test]
fn a_port_can_be_shaped_and_its_buffer_shared() {
    let flows = udp("h1", "h3", "rate = \"900Mbps\"") + &udp("h2", "h4", "rate = \"900Mbps\"");
    let switches = "buffer = { bytes = 60_000, threshold = 1.0 }\n[switch.s1.port.3]\nrate = \"100Mbps\"\n[switch.s1.port.4]\nrate = \"50Mbps\"";
    let files = run(&star(4, switches, &flows), 1);
    let received = column(&files, "flows.csv", "received");
    near(received[0], 244.0, 0.02);
    near(received[1], 122.0, 0.03);
    // Two queues that never empty have a third each: 20 packets of 1,000 bytes.
    for packets in column(&files, "queues.csv", "queue_mean_packets") {
        near(packets, 20.0, 0.03);
    }
}

#[test]
fn recirculation_has_the_bandwidth_of_its_port() {
    let received = |class: u32, rate: &str| {
        let flow = udp("h1", "h2", &format!("rate = \"900Mbps\"\ntraffic_class = {class}"));
        let switches = format!("recirculation = {{ rate = \"{rate}\", queue_packets = 10 }}");
        let files = run(&star(2, &switches, &flow), 1);
        (column(&files, "flows.csv", "received")[0], column(&files, "switches.csv", "recirculation_dropped")[0])
    };
    let (straight, _) = received(0, "400Mbps");
    near(straight, 2_349.0, 0.01);
    // Without overhead a packet has 8,000 bits: 50,000 packets a second.
    let (round, dropped) = received(4, "400Mbps");
    near(round, 1_000.0, 0.02);
    near(dropped, 1_335.0, 0.02);
}

#[test]
fn the_reference_switch_has_rates_in_packets() {
    let flow = udp("h1", "h2", "rate = \"100Mbps\"");
    let files = run(&star(2, "timing = \"bmv2\"\nqueue_rate = \"2kpps\"", &flow), 1);
    near(column(&files, "flows.csv", "received")[0], 40.0, 0.04);
    assert_eq!(column(&files, "queues.csv", "queue_max_packets").iter().cloned().fold(0.0, f64::max), 64.0);
}

#[test]
fn devices_give_the_same_bytes_on_any_number_of_threads() {
    let text = star(
        4,
        "timing = \"software\"\ncores = 2\ncost = \"3us\"\npriorities = 8\nrecirculation = { rate = \"300Mbps\" }\n\
         buffer = { bytes = 100_000, threshold = 0.5 }",
        &(udp("h1", "h4", "rate = \"500Mbps\"\narrivals = \"poisson\"\ntraffic_class = 4")
            + &udp("h2", "h4", "rate = \"500Mbps\"\narrivals = \"poisson\"\ntraffic_class = 32")
            + "[[flows]]\nkind = \"tcp\"\nfrom = \"h3\"\nto = \"h4\"\n"),
    );
    let one = run(&text, 1);
    assert_eq!(run(&text, 3), one);
}

#[test]
fn commands_take_effect_at_their_times() {
    let flow = udp("h1", "h2", "rate = \"76.64Mbps\"");
    let commands =
        "[[commands]]\nat = \"5ms\"\nswitch = \"s1\"\nrun = [\"table_clear hosts\", \"table_delete hosts 77\"]\n";
    let received = |switches: &str| {
        let files = run(&star(2, switches, &format!("{flow}{commands}")), 1);
        let refused = column(&files, "switches.csv", "commands_refused")[0];
        assert_eq!((column(&files, "switches.csv", "commands")[0], refused), (1.0, 1.0));
        column(&files, "flows.csv", "received")[0]
    };
    // A packet each 100 us.
    near(received(""), 50.0, 0.03);
    near(received("control_latency = \"2ms\""), 70.0, 0.03);
}
