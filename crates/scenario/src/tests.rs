//! Tests of scenarios as a whole.

use super::*;
use expect_test::{Expect, expect};
use sim::time::Time;

mod loads;
mod refused;
mod window;

fn read(text: &str, sets: &[&str]) -> Result<Scenario, Vec<ScenarioFault>> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::read(text, &sets, &|name| Err(format!("there is no file {name}")))
}

/// All results of a scenario on this many threads.
fn run(text: &str, threads: usize) -> Vec<results::ResultFile> {
    let scenario = read(text, &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned())).unwrap();
    assert!(simulation.run_until(Time::MAX).unwrap());
    results::files(&simulation)
}

fn file<'a>(files: &'a [results::ResultFile], name: &str) -> &'a str {
    &files.iter().find(|file| file.name == name).unwrap().text
}

/// The values of a column.
fn column<'a>(files: &'a [results::ResultFile], name: &str, column: &str) -> Vec<&'a str> {
    let mut lines = file(files, name).lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let index = header.iter().position(|it| *it == column).unwrap();
    lines.map(|line| line[index]).collect()
}

const DUMBBELL: &str = r#"
duration = "500ms"
warmup = "100ms"
sample = "100ms"

[topology]
kind = "dumbbell"
pairs = 3
rate = "100Mbps"
core_rate = "50Mbps"
delay = "100us"
core_delay = "1ms"

[link."s1-s2"]
queue_packets = 100

[[flows]]
kind = "tcp"
from = "h1"
to = "h4"

[[flows]]
kind = "tcp"
from = "h2"
to = "h5"
bytes = 60_000
congestion = "newreno"
start = "200ms"

[[flows]]
kind = "udp"
from = "h3"
to = "h6"
rate = "1Mbps"
size = 1000
arrivals = "poisson"
ipv6 = true

[[flows]]
kind = "ping"
from = "h4"
to = "h1"
interval = "50ms"
"#;

#[test]
fn a_dumbbell_carries_tcp_udp_and_pings() {
    let files = run(DUMBBELL, 1);
    let states = column(&files, "flows.csv", "state");
    assert_eq!(states, ["running", "complete", "", ""], "{}", file(&files, "flows.csv"));
    let goodput: f64 = column(&files, "flows.csv", "goodput_bits_per_s")[0].parse().unwrap();
    assert!((20e6..50e6).contains(&goodput), "{goodput}");
    let [sent, received] = ["sent", "received"].map(|name| column(&files, "flows.csv", name)[3].to_owned());
    assert!(sent == "8" && (received == "7" || received == "8"), "{sent} {received}");
    let bottleneck = file(&files, "channels.csv").lines().find(|line| line.starts_with("s1>s2,")).unwrap();
    let utilisation: f64 = bottleneck.split(',').nth(3).unwrap().parse().unwrap();
    assert!(utilisation > 0.95 && utilisation <= 1.0, "{bottleneck}");
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    let tables = ["flows.csv", "channels.csv", "hosts.csv", "switches.csv", "drops.csv", "completion.csv"];
    let over_time = ["samples.csv", "flow_samples.csv"];
    let pictures = ["queues.svg", "utilisation.svg", "goodput.svg", "completion.svg"];
    assert_eq!(names, [&tables[..], &over_time, &pictures, &["summary.json"]].concat());
    for picture in pictures {
        let svg = file(&files, picture);
        assert!(svg.contains("class=\"s0\" d=\"M") && !svg.contains("NaN"), "{svg}");
    }
    for file in files.iter().filter(|file| file.name.ends_with(".csv")) {
        let widths: Vec<usize> = file.text.lines().map(|line| line.split(',').count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{}: {widths:?}", file.name);
    }
    assert_eq!(file(&files, "samples.csv").lines().count(), 1 + 5 * 2 * 7);
}

#[test]
fn samples_and_drops_add_up_to_the_totals() {
    let files = run(DUMBBELL, 1);
    let of = |name: &str, key: &str, searched: &str, value: &str| -> Vec<f64> {
        let rows = column(&files, name, key).into_iter().zip(column(&files, name, value));
        rows.filter(|(key, _)| *key == searched).map(|(_, value)| value.parse().unwrap()).collect()
    };
    let sum = |flow: &str, value: &str| of("flow_samples.csv", "flow", flow, value).iter().sum::<f64>();
    let total = |flow: &str, value: &str| of("flows.csv", "flow", flow, value)[0];
    for flow in ["0", "1"] {
        assert_eq!(sum(flow, "bytes"), total(flow, "bytes"));
        assert_eq!(sum(flow, "retransmitted_bytes"), total(flow, "retransmitted_bytes"));
        assert_eq!(sum(flow, "goodput_bits_per_s") / 10.0, 8.0 * sum(flow, "bytes"));
    }
    // Without the datagrams of the warm-up: 1 Mb/s for 100 ms.
    let before = sum("all", "bytes") - sum("0", "bytes") - sum("1", "bytes") - sum("2", "bytes");
    assert!((5_000.0..25_000.0).contains(&before), "{before}");
    assert!(sum("0", "retransmitted_bytes") > 0.0);
    let utilisation = &of("samples.csv", "channel", "s1>s2", "utilisation")[1..];
    let mean = utilisation.iter().sum::<f64>() / 4.0;
    assert!((mean - of("channels.csv", "channel", "s1>s2", "utilisation")[0]).abs() < 2e-6);
    let dropped: f64 = of("samples.csv", "channel", "s1>s2", "dropped").iter().sum();
    assert_eq!(file(&files, "drops.csv"), format!("kind,place,reason,packets\nchannel,s1>s2,queue,{dropped}\n"));
}

#[test]
fn equal_scenarios_give_equal_bytes_on_any_number_of_threads() {
    let fabric = r#"
        duration = "2ms"
        seed = 7
        [topology]
        kind = "fat-tree"
        k = 4
        rate = "1Gbps"
        delay = "5us"
        [links]
        queue_packets = 20
        ecn_packets = 10
        loss = 0.001
        jitter = "1us"
        [[flows]]
        kind = "tcp"
        from = "*"
        to = "*"
        pairs = "permutation"
        congestion = "dctcp"
        [[flows]]
        kind = "udp"
        from = "h1*"
        to = ["h2", "h9"]
        rate = "20Mbps"
        arrivals = "on-off"
        on = "100us"
        off = "300us"
    "#;
    for text in [DUMBBELL, fabric] {
        let one = run(text, 1);
        for threads in [1, 2, 3] {
            assert_eq!(run(text, threads), one, "{threads} threads");
        }
    }
    let other = run(&fabric.replace("seed = 7", "seed = 8"), 1);
    assert_ne!(other, run(fabric, 1));
}

#[test]
fn flows_spread_over_equal_paths() {
    let files = run(
        r#"
        duration = "20ms"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 8
        [[flows]]
        kind = "udp"
        from = ["h1", "h2", "h3", "h4"]
        to = ["h9", "h10", "h11", "h12"]
        rate = "10Mbps"
        "#,
        1,
    );
    let packets = |name: &str| -> u64 {
        let line = file(&files, "channels.csv").lines().find(|line| line.starts_with(name)).unwrap();
        line.split(',').nth(1).unwrap().parse().unwrap()
    };
    let spines = [packets("s1>s3,"), packets("s1>s4,")];
    assert!(spines.iter().all(|count| *count >= 4 * 17), "{spines:?}");
    assert_eq!(packets("s3>s2,") + packets("s4>s2,"), spines.iter().sum::<u64>());
    assert!(column(&files, "switches.csv", "no_route").iter().all(|count| *count == "0"));
}

#[test]
fn single_values_can_be_set() {
    let sets = ["duration=1ms", "links.loss = 0.5", "flows.2.rate=7kbps", "link.\"s1-s2\".queue_packets=3", "warmup=0"];
    let scenario = read(DUMBBELL, &sets).unwrap();
    assert_eq!((scenario.duration, scenario.warmup), (Time::from_ms(1), Time::ZERO));
    let (near, far) = (&scenario.channels[0][0], &scenario.channels[6][1]);
    assert_eq!((near.loss, far.loss), (far.loss, sim::random::Chance::new(0.5).unwrap()));
    assert_eq!((near.queue_packets, far.queue_packets), (usize::MAX, 3));
}

#[test]
fn what_is_said_of_a_direction_is_stronger_than_what_is_said_of_a_link() {
    let text = DUMBBELL.to_owned() + "[link.\"s2>s1\"]\nqueue_packets = 5\nrate = \"1Mbps\"\n";
    let scenario = read(&text, &[]).unwrap();
    let [there, back] = &scenario.channels[6];
    assert_eq!((there.queue_packets, there.bits_per_s), (100, 50_000_000));
    assert_eq!((back.queue_packets, back.bits_per_s), (5, 1_000_000));
}

fn check_faults(text: &str, sets: &[&str], expected: Expect) {
    let shown = match read(text, sets) {
        Ok(_) => "none\n".to_owned(),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
    };
    expected.assert_eq(&shown);
}

const STAR: &str = "duration = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\n";

/// A small scenario with more.
fn with(more: &str) -> String {
    format!("{STAR}{more}")
}

#[test]
fn faults_of_the_form_have_their_places() {
    check_faults(
        "duration = 1\n[topology]\n",
        &[],
        expect![[r#"
        1:12: `1` is not a time: write a number with ps, ns, us, ms or s, as in "10us"
    "#]],
    );
    check_faults(
        "duration = \"1s\"\n[topology\n",
        &[],
        expect![[r#"
        2:10: unclosed table, expected `]`
    "#]],
    );
    check_faults(
        "duration = \"1 fortnight\"\n[topology]\nkind = \"star\"\n",
        &[],
        expect![[r#"
        1:12: `1 fortnight` is not a time: write a number with ps, ns, us, ms or s, as in "10us"
    "#]],
    );
    check_faults(
        &with("[links]\nlos = 0.1\n"),
        &[],
        expect![[r#"
        6:1: unknown field `los`, expected one of `rate`, `delay`, `overhead`, `queue_packets`, `queue_bytes`, `ecn_packets`, `ecn_bytes`, `mtu`, `loss`, `corruption`, `duplication`, `jitter`, `reordering`, `reordering_delay`, `down`
    "#]],
    );
}

#[test]
fn faults_of_controllers_have_their_places() {
    let lines = "write = [\"table_add dmac forward {mac} => {port}\"]\n";
    let program = with("[switches]\nprogram = \"a.p4\"\n[controller]\nkind = \"learning\"\n");
    check_faults(&(program.clone() + lines), &[], expect![["none\n"]]);
    check_faults(
        &program,
        &[],
        expect![[r#"
        7:1: a learning controller has lines that it writes for an address, as in write = ["table_add dmac forward {mac} => {port}"]
    "#]],
    );
    check_faults(
        &(program.clone() + lines + "switches = \"s9\"\npacket_in = \"h\"\n"),
        &[],
        expect![[r#"
        10:12: there is no switch `s9`; the switches are s1
        11:13: `packet_in` is for a controller with learn = "packet-in"
    "#]],
    );
    check_faults(
        &(program.clone() + lines + "learn = \"packet-in\"\npauses = [[\"2ms\", \"1ms\"]]\n"),
        &[],
        expect![[r#"
            10:9: name the type of the header before packets for the controller, as in packet_in = "packet_in_t"
            11:10: the intervals in which something is down have an end after their start, and follow each other
        "#]],
    );
    check_faults(
        &with(&format!("[controller]\nkind = \"learning\"\n{lines}")),
        &[],
        expect![[r#"
        5:1: no switch has a program: a controller has switches with programs, as in [switches] program = "FILE.p4"
    "#]],
    );
    check_faults(
        &with("[controller]\nkind = \"clever\"\n"),
        &[],
        expect![[r#"
        6:8: unknown variant `clever`, expected `learning` or `p4te`
    "#]],
    );
    check_faults(
        &(program.clone() + lines + "mark_from = 9\n"),
        &[],
        expect![[r#"
        10:13: `mark_from` is for a controller of kind "p4te"
    "#]],
    );
    let p4te = with("[switches]\nprogram = \"a.p4\"\n[controller]\nkind = \"p4te\"\n");
    check_faults(
        &(p4te + lines + "delta = 0\n"),
        &[],
        expect![[r#"
        9:9: `write` is for a controller of kind "learning"
        10:9: a queue is reported when it has changed by at least 1 packet
    "#]],
    );
    check_faults(
        &with("[faults]\ncontrollers = 1\n"),
        &[],
        expect![[r#"
        5:1: there is no controller that could pause: add a table [controller]
    "#]],
    );
}

#[test]
fn faults_of_values_have_their_places() {
    check_faults(
        &with("[links]\nloss = 1.1\n"),
        &[],
        expect![[r#"
        6:8: 1.1 is not a probability: write a number from 0 to 1
    "#]],
    );
    check_faults(
        &with("[link.\"h1-h2\"]\nloss = 0.1\n[switch.s9]\n"),
        &[],
        expect![[r#"
        5:7: there is no link `h1-h2`: write its ends, such as "h1-s1", or "h1>s1" for one direction
        7:9: there is no switch `s9`; the switches are s1
    "#]],
    );
    check_faults(
        "duration = \"1s\"\n[topology]\nkind = \"ring\"\n",
        &[],
        expect![[r#"
        3:8: unknown variant `ring`, expected one of `dumbbell`, `star`, `chain`, `leaf-spine`, `fat-tree`
    "#]],
    );
    check_faults(
        "duration = \"1s\"\n[topology]\nkind = \"star\"\nk = 4\n",
        &[],
        expect![[r#"
            4:5: a star has no `k`; it has hosts
        "#]],
    );
    check_faults(
        "duration = \"1s\"\n[topology]\nkind = \"fat-tree\"\nk = 5\n",
        &[],
        expect![[r#"
            4:5: a fat-tree of switches with 5 ports: write an even number from 2 to 48
        "#]],
    );
    check_faults(
        "duration = \"1s\"\n[topology]\nfile = \"t.json\"\n",
        &[],
        expect![[r#"
        3:8: there is no file t.json
    "#]],
    );
}

#[test]
fn faults_of_flows_and_set_values_have_their_places() {
    check_faults(
        &with("[[flows]]\nkind = \"udp\"\nfrom = [\"h1\", \"h7\"]\nto = \"s1\"\nbytes = 3\n"),
        &[],
        expect![[r#"
            6:8: a flow of the kind udp has no `bytes`
            6:8: a flow of the kind udp has a rate, as in rate = "1Gbps", or a capture as its `trace`
            7:8: there is no host `h7`; the hosts are h1, h2
            8:6: `s1` is a switch; flows are between hosts
        "#]],
    );
    check_faults(
        &with("[[flows]]\nkind = \"tcp\"\nfrom = \"h1\"\nto = \"h1\"\n"),
        &[],
        expect![[r#"
        8:6: no host sends to another one
    "#]],
    );
    check_faults(
        &with("[switches]\nkind = \"program\"\n"),
        &[],
        expect![[r#"
        6:8: switch s1 has no program: write program = "FILE.p4"
    "#]],
    );
    check_faults(
        &with("[links]\ndown = [[\"5ms\", \"4ms\"]]\n"),
        &[],
        expect![[r#"
        6:8: the intervals in which something is down have an end after their start, and follow each other
    "#]],
    );
    check_faults(
        STAR,
        &["links.rate=fast", "warmup=2s"],
        expect![[r#"
        --set links.rate=fast: `fast` is not a rate: write a number with bps, kbps, Mbps, Gbps or Tbps, as in "10Gbps"
    "#]],
    );
    check_faults(
        STAR,
        &["warmup=2s"],
        expect![[r#"
        --set warmup=2s: the warm-up ends before the run does, which takes 1s
    "#]],
    );
    check_faults(
        STAR,
        &["flows.3.rate=1bps", "colour"],
        expect![[r#"
        --set colour: key with no value, expected `=`
    "#]],
    );
}

/// Texts that are nearly scenarios never panic.
#[test]
fn damaged_scenarios_are_refused() {
    let mut rng = base::Rng::new(3);
    let mut refused = 0;
    for _ in 0..3_000 {
        let mut bytes = DUMBBELL.as_bytes().to_vec();
        for _ in 0..rng.between(1, 3) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => bytes[at] = *rng.pick(b"0123456789\"[]=.-\nax"),
                1 => drop(bytes.remove(at)),
                _ => drop(bytes.drain(at..(at + 20).min(bytes.len()))),
            }
        }
        refused += u32::from(read(&String::from_utf8_lossy(&bytes), &[]).is_err());
    }
    assert!(refused > 1_000, "{refused}");
}

const WORKLOAD: &str = r#"
duration = "6ms"
warmup = "1ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "1Gbps"
delay = "5us"
[links]
queue_packets = 50
[[workloads]]
from = "*"
to = "*"
load = 0.4
sizes = "sizes.csv"
congestion = "dctcp"
end = "4ms"
"#;

#[test]
fn a_workload_loads_the_links_of_its_senders() {
    let read = |name: &str| match name {
        "sizes.csv" => Ok(b"0,0\n5000,0.5\n40000,1\n".to_vec()),
        _ => Err(format!("there is no file {name}")),
    };
    let scenario = Scenario::read(WORKLOAD, &[], &read).unwrap();
    // 4 senders, 0.4 Gb/s, 4 ms, 12,500 bytes on average.
    assert!((40..90).contains(&scenario.flows.len()), "{}", scenario.flows.len());
    assert!(scenario.flows.iter().all(|flow| flow.from != flow.to && flow.start < Time::from_ms(4)));
    let run = |threads| {
        let scenario = Scenario::read(WORKLOAD, &[], &read).unwrap();
        let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned())).unwrap();
        simulation.run_until(Time::MAX).unwrap();
        results::files(&simulation)
    };
    let files = run(1);
    assert_eq!(run(2), files);
    let flows: Vec<usize> =
        column(&files, "completion.csv", "flows").iter().map(|count| count.parse().unwrap()).collect();
    let complete: Vec<usize> =
        column(&files, "completion.csv", "complete").iter().map(|count| count.parse().unwrap()).collect();
    assert_eq!(flows[..5].iter().sum::<usize>(), flows[5]);
    assert!(flows[0] > 5 && flows[1] > 5 && flows[2..5] == [0, 0, 0], "{flows:?}");
    assert_eq!(complete, flows);
    let text = WORKLOAD.replace("sizes.csv", "lost.csv").replace("load = 0.4", "load = 0");
    let faults: String = Scenario::read(&text, &[], &read).unwrap_err().iter().map(|it| format!("{it}\n")).collect();
    expect![[r#"
        16:8: a load is a part of the rate of the senders' links: above 0, and at most 10
        17:9: there is no file lost.csv
    "#]]
    .assert_eq(&faults);
}

/// What a flow stores, besides its packets in flight: many flows fit into memory.
#[test]
fn both_ends_of_a_flow_and_its_plan_are_small() {
    let ends = 2 * (size_of::<sim::host::TcpEndpoint>() + size_of::<tcp::Connection>());
    assert!(ends + size_of::<FlowPlan>() <= 3_400, "{ends}");
}
