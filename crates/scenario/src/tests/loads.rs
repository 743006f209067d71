//! Tests of sections that make many flows, and of what is measured of them.

use super::*;
use crate::resolve::FlowKind;

/// A star of hosts at 1 Gb/s and 5 us.
fn star(hosts: usize, more: &str) -> String {
    format!(
        "duration = \"20ms\"\n[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"1Gbps\"\ndelay = \"5us\"\n{more}"
    )
}

fn read_with(text: &str, files: &[(&str, &[u8])]) -> Result<Scenario, Vec<ScenarioFault>> {
    Scenario::read(text, &[], &|name| {
        let file = files.iter().find(|(it, _)| *it == name);
        file.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| format!("there is no file {name}"))
    })
}

fn run_with(text: &str, files: &[(&str, &[u8])], threads: usize) -> Vec<results::ResultFile> {
    let scenario = read_with(text, files).unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned())).unwrap();
    simulation.run_until(Time::MAX).unwrap();
    results::files(&simulation)
}

fn shown_faults(text: &str, files: &[(&str, &[u8])]) -> String {
    match read_with(text, files) {
        Ok(_) => "none\n".to_owned(),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
    }
}

fn pairs(scenario: &Scenario) -> Vec<(usize, usize)> {
    scenario.flows.iter().map(|flow| (flow.from + 1, flow.to + 1)).collect()
}

#[test]
fn a_stride_joins_hosts_that_are_so_far_apart() {
    let flows = |more: &str| {
        star(4, &format!("[[flows]]\nkind = \"ping\"\nfrom = \"*\"\nto = \"*\"\npairs = \"stride\"\n{more}"))
    };
    assert_eq!(pairs(&read_with(&flows("stride = 1"), &[]).unwrap()), [(1, 2), (2, 3), (3, 4), (4, 1)]);
    let faults = [flows("stride = 4"), flows(""), flows("stride = 1").replace("\"stride\"\nstride", "\"all\"\nstride")];
    let shown: String = faults.iter().map(|text| shown_faults(text, &[])).collect();
    expect![[r#"
        10:6: no host sends to another one
        10:6: `stride` has a `stride`: how many places further the receiver is, as in 4
        12:10: `stride` is how far a receiver is with pairs = "stride"; other pairs have none
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_workload_can_have_fixed_pairs() {
    let text =
        star(6, "[[workloads]]\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\nload = 0.5\nbytes = 20_000\n");
    let mut pairs = pairs(&read_with(&text, &[]).unwrap());
    assert!(pairs.len() > 200);
    pairs.sort_unstable();
    pairs.dedup();
    let receivers: base::OrderedSet<usize> = pairs.iter().map(|(_, to)| *to).collect();
    assert_eq!((pairs.len(), receivers.len()), (6, 6));
}

#[test]
fn with_a_fan_in_several_hosts_send_to_one_at_the_same_time() {
    let workload = "[[workloads]]\nfrom = \"*\"\nto = \"h1\"\nfan_in = 3\nload = 0.4\nbytes = 5000\n";
    let scenario = read_with(&star(6, workload), &[]).unwrap();
    // 0.4 Gb/s for 20 ms, 15,000 bytes a time.
    assert!((3 * 45..3 * 90).contains(&scenario.flows.len()), "{}", scenario.flows.len());
    for query in scenario.flows.chunks(3) {
        let senders: base::OrderedSet<usize> = query.iter().map(|flow| flow.from).collect();
        assert!(senders.len() == 3 && !senders.contains(&0) && query.iter().all(|flow| flow.to == 0));
        assert!(query.iter().all(|flow| flow.start == query[0].start));
    }
    let shown =
        shown_faults(&star(3, workload), &[]) + &shown_faults(&star(6, &format!("{workload}pairs = \"zip\"\n")), &[]);
    expect![[r#"
        10:10: `fan_in` is from 1 to 2, the hosts that can send to h1
        10:10: with `fan_in` the senders are chosen at random: remove `pairs`
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_flow_alone_is_as_fast_as_ideal() {
    // Within the initial window of 10 segments, over one switch and over three, of both versions of IP.
    for bytes in [1, 1_448, 1_449, 10_000, 14_000] {
        for is_v6 in [false, true] {
            let fabric = format!(
                "duration = \"20ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                 rate = \"1Gbps\"\ncore_rate = \"3Gbps\"\ndelay = \"5us\"\n\
                 [[flows]]\nkind = \"tcp\"\nfrom = \"h1\"\nto = \"h4\"\nbytes = {bytes}\nipv6 = {is_v6}\n"
            );
            let files = run_with(&fabric, &[], 1);
            let slowdown: f64 = column(&files, "flows.csv", "slowdown")[0].parse().unwrap();
            assert!((1.0..1.000_001).contains(&slowdown), "{bytes} {is_v6} {slowdown}");
        }
    }
}

#[test]
fn flows_that_share_a_link_are_slower_than_ideal() {
    let text = star(
        3,
        "[[flows]]\nkind = \"tcp\"\nfrom = [\"h1\", \"h2\"]\nto = \"h3\"\nbytes = 300_000\n\
         [[flows]]\nkind = \"tcp\"\nfrom = \"h3\"\nto = \"h1\"\nbytes = 500\nstart = \"10ms\"\n",
    );
    let text = format!("size_classes = [1000, 400_000]\n{text}");
    let files = run_with(&text, &[], 1);
    let flows: Vec<f64> = column(&files, "flows.csv", "slowdown").iter().map(|it| it.parse().unwrap()).collect();
    // Two flows on one link: each has half of it, so the last needs twice as long.
    assert!(flows[..2].iter().all(|it| (1.3..2.3).contains(it)), "{flows:?}");
    assert!(flows[0].max(flows[1]) > 1.8, "{flows:?}");
    assert_eq!(column(&files, "completion.csv", "bytes_from"), ["0", "1000", "400000", "all"]);
    assert_eq!(column(&files, "completion.csv", "complete"), ["1", "2", "0", "3"]);
    let worst = column(&files, "completion.csv", "slowdown_p99.9");
    assert_eq!(worst[1], worst[3]);
    assert_eq!(worst[2], "");
    let text = text.replace("[1000, 400_000]", "[1000, 1000]");
    assert!(shown_faults(&text, &[]).starts_with("1:16: classes of sizes are where one ends"));
}

#[test]
fn an_incast_repeats_rounds_with_a_barrier() {
    let incast = "[links]\nqueue_packets = 40\n[[incasts]]\nfrom = \"*\"\nto = \"h1\"\nbytes = 16_000\npause = \"100us\"\n\
                  min_rto = \"1ms\"\n";
    let text = star(9, incast);
    let files = run_with(&text, &[], 1);
    assert_eq!(run_with(&text, &[], 2), files);
    let value = |name: &str| -> f64 { column(&files, "incasts.csv", name)[0].parse().unwrap() };
    assert_eq!((value("senders"), value("answer_bytes")), (8.0, 16_000.0));
    // 128,000 bytes need 1.02 ms of the receiver's link, and more with headers.
    let (begun, complete, median) = (value("begun"), value("complete"), value("median_ns"));
    assert!((8.0..19.0).contains(&begun) && begun - complete <= 1.0, "{begun} {complete}");
    assert!(median > 1.02e6 && median < 2e6, "{median}");
    let limited = run_with(&text.replace("pause", "rounds = 3\nstart = \"1ms\"\npause"), &[], 1);
    assert_eq!(column(&limited, "incasts.csv", "complete"), ["3"]);
    let shown: String = [
        text.replace("bytes = 16_000", "bytes = 0"),
        text.replace("\"h1\"\nbytes", "\"h*\"\nbytes"),
        text.replace("from = \"*\"", "from = \"h1\""),
        text.replace("\"h1\"\nbytes", "\"h77\"\nbytes"),
    ]
    .iter()
    .map(|text| shown_faults(text, &[]))
    .collect();
    expect![[r#"
        12:9: `bytes`, `request_bytes` and `rounds` are above 0
        11:6: an incast has one receiver
        10:8: no host sends to another one
        11:6: there is no host `h77`; the hosts are h1, h2, h3, h4, h5, h6, h7, h8, ...
    "#]]
    .assert_eq(&shown);
}

#[test]
fn the_flows_of_a_run_can_be_replayed() {
    let workload = star(4, "[[workloads]]\nfrom = \"*\"\nto = \"*\"\nload = 0.3\nbytes = 30_000\n");
    let first = run_with(&workload, &[], 1);
    let replay = star(4, "[[flow_lists]]\nfile = \"flows.csv\"\n");
    let second = run_with(&replay, &[("flows.csv", file(&first, "flows.csv").as_bytes())], 1);
    assert_eq!(file(&first, "flows.csv"), file(&second, "flows.csv"));
    assert!(file(&first, "flows.csv").lines().count() > 40);
    let later = replay.replace("file =", "start = \"1ms\"\nfile =");
    let scenario = read_with(&later, &[("flows.csv", b"from,to,start_ns,size_bytes\nh1,h2,7,9\n")]).unwrap();
    assert_eq!(scenario.flows[0].start, Time::from_us(1_000) + Time::from_ns(7));
    let shown = shown_faults(&replay, &[("flows.csv", b"from,to,start_ns,size_bytes\nh1,s1,7,9\n")]);
    assert_eq!(shown, "8:8: flows.csv:2: there is no host `s1`\n");
}

#[test]
fn sensors_report_in_each_interval() {
    let sensors =
        "[[sensors]]\nfrom = [\"h1\", \"h2\"]\nto = \"h3\"\nper_host = 5\ninterval = \"2ms\"\njitter = \"1ms\"\n";
    let text = star(3, sensors);
    let files = run_with(&text, &[], 1);
    assert_eq!(run_with(&text, &[], 2), files);
    let sent: Vec<u64> = column(&files, "flows.csv", "sent").iter().map(|it| it.parse().unwrap()).collect();
    assert!(sent.len() == 10 && sent.iter().all(|sent| (9..=10).contains(sent)), "{sent:?}");
    assert!(column(&files, "flows.csv", "missing").iter().all(|missing| *missing == "0"));
    let shown: String = [
        text.replace("jitter = \"1ms\"", "jitter = \"3ms\""),
        text.replace("interval = \"2ms\"", "interval = 0"),
        text.replace("per_host = 5", "size = 5"),
    ]
    .iter()
    .map(|text| shown_faults(text, &[]))
    .collect();
    expect![[r#"
        12:10: the jitter of reports is at most their interval, 2ms
        11:12: sensors report at intervals above 0
        10:8: a report has 16 to 65435 bytes
    "#]]
    .assert_eq(&shown);
}

#[test]
fn datagrams_follow_a_capture() {
    let mut capture = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1] {
        capture.extend(u32::to_le_bytes(word));
    }
    for (time, length) in [(0, 142), (500, 1_042), (700, 60)] {
        for word in [7, time, 0, length] {
            capture.extend(u32::to_le_bytes(word));
        }
    }
    let text = star(2, "[[flows]]\nkind = \"udp\"\nfrom = \"h1\"\nto = \"h2\"\ntrace = \"a.pcap\"\nstart = \"1ms\"\n");
    let files = run_with(&text, &[("a.pcap", &capture)], 1);
    let value = |name: &str| column(&files, "flows.csv", name)[0].to_owned();
    assert_eq!([value("sent"), value("received"), value("bytes")], ["3", "3", "1118"]);
    // The frames are as long as the captured ones: their bytes on the channel.
    let channel = file(&files, "channels.csv").lines().find(|line| line.starts_with("h1>s1")).unwrap();
    assert_eq!(channel.split(',').nth(2), Some("1244"));
    let shown: String = [
        shown_faults(&text, &[("a.pcap", b"nonsense")]),
        shown_faults(&text.replace("start", "rate = \"1Mbps\"\nstart"), &[("a.pcap", &capture)]),
    ]
    .concat();
    assert!(shown.starts_with("11:9: a.pcap: it is not a capture: "), "{shown}");
    assert!(shown.ends_with("11:9: a `trace` has the times and lengths of datagrams: remove `rate`\n"));
    let scenario = read_with(&text, &[("a.pcap", &capture)]).unwrap();
    assert!(matches!(scenario.flows[0].kind, FlowKind::Udp { count: 3, .. }));
}

/// The mean queue at a load of 0.7 is that of Pollaczek and Khinchine: it grows with the variance of the lengths.
#[test]
fn lengths_of_datagrams_have_their_distributions() {
    // A mean frame has 1,000 bytes: 14 of Ethernet, 20 of IPv4, 8 of UDP and the payload.
    let scenario = |sizes: &str| {
        format!(
            "duration = \"11s\"\nwarmup = \"1s\"\n[topology]\nkind = \"dumbbell\"\npairs = 1\nrate = \"10Gbps\"\n\
             core_rate = \"100Mbps\"\n[links]\noverhead = 0\n[[flows]]\nkind = \"udp\"\nfrom = \"h1\"\nto = \"h2\"\n\
             rate = \"67.06Mbps\"\nsize = 958\narrivals = \"poisson\"\nsizes = \"{sizes}\"\n"
        )
    };
    // Squared coefficients of variation: nothing, 16 to 1,900 bytes, and 942 bytes.
    for (sizes, variation) in [("constant", 0.0), ("uniform", 1_884.0 * 1_884.0 / 12.0 / 1e6), ("exponential", 0.887)] {
        let files = run_with(&scenario(sizes), &[], 1);
        let names = column(&files, "channels.csv", "channel");
        let bottleneck = names.iter().position(|name| *name == "s1>s2").unwrap();
        let of = |name| column(&files, "channels.csv", name)[bottleneck].parse::<f64>().unwrap();
        let queue = 0.7 * 0.7 * (1.0 + variation) / (2.0 * 0.3);
        let shown =
            format!("{sizes}: {} busy, {} in the queue of {queue}", of("utilisation"), of("queue_mean_packets"));
        assert!((0.69..0.71).contains(&of("utilisation")), "{shown}");
        assert!((0.9..1.1).contains(&(of("queue_mean_packets") / queue)), "{shown}");
    }
    let shown = shown_faults(&scenario("even"), &[])
        + &shown_faults(&scenario("uniform").replace("\"udp\"", "\"ping\"").replace("rate = \"67.06Mbps\"\n", ""), &[]);
    expect![[r#"
        17:9: unknown variant `even`, expected one of `constant`, `uniform`, `exponential`
        11:8: a flow of the kind ping has no `arrivals`
        11:8: a flow of the kind ping has no `sizes`
    "#]]
    .assert_eq(&shown);
}

/// Hosts of one network that resolve each other's Ethernet addresses, with a router between them.
#[test]
fn a_router_answers_for_hosts_behind_its_other_ports() {
    let topology = r#"{"hosts": {"h1": {"ip": "10.0.0.1/24", "commands": ["ip addr add fd00::1/64 dev eth0"]},
                                 "h2": {"ip": "10.0.0.2/24", "commands": ["ip addr add fd00::2/64 dev eth0"]}},
                       "switches": {"s1": {}, "s2": {}}, "links": [["h1", "s1-p1"], ["s1-p2", "s2-p1"], ["h2", "s2-p2"]]}"#;
    let ping = |ipv6: bool| {
        format!("[[flows]]\nkind = \"ping\"\nfrom = \"h1\"\nto = \"h2\"\ninterval = \"1ms\"\nipv6 = {ipv6}\n")
    };
    let text = format!(
        "duration = \"10ms\"\n[topology]\nfile = \"net.json\"\n[links]\nrate = \"1Gbps\"\n{}{}",
        ping(false),
        ping(true)
    );
    let files = run_with(&text, &[("net.json", topology.as_bytes())], 1);
    assert_eq!(column(&files, "flows.csv", "received"), ["10", "10"], "{}", file(&files, "flows.csv"));
}
