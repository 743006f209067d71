//! Known points: networks whose results others have published, and what TCP makes of them here.
//!
//! Short tests run always; long ones with `cargo test --release -p scenario --test it transport -- --ignored`.

use scenario::{FlowKind, Scenario, Simulation};
use sim::Time;
use sim::host::Host;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A full packet on Ethernet with its framing, and its payload with time stamps.
const LINE_BYTES: f64 = 1_538.0;
const PAYLOAD_BYTES: f64 = 1_448.0;

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::read(text, &[], &|_| Err("there are no files".to_owned())).expect("it has no faults");
    Simulation::new(scenario, 1, &mut |_, _| Err("there are no programs".to_owned())).expect("it can be built")
}

/// Bytes per flow that receivers have got until now.
fn received(simulation: &Simulation) -> Vec<u64> {
    let received = |(flow, ports): (&scenario::FlowPlan, &sim::wire::udp::Ports)| {
        let host = simulation.network.node::<Host>(simulation.hosts[flow.to]).expect("it is a host");
        let from = simulation.scenario.topology.hosts[flow.from].addresses[0].ip;
        assert!(matches!(flow.kind, FlowKind::Tcp { .. }));
        host.tcp_with(ports.destination, from, ports.source).map_or(0, |end| end.received_bytes)
    };
    simulation.scenario.flows.iter().zip(&simulation.flow_ports).map(received).collect()
}

/// Megabits of payload a second of each flow between the present and a later time.
fn goodputs(simulation: &mut Simulation, until: Time) -> Vec<f64> {
    let (before, began) = (received(simulation), simulation.network.now());
    simulation.run_until(until).unwrap();
    let seconds = simulation.network.now().since(began).seconds();
    received(simulation).iter().zip(before).map(|(now, before)| (now - before) as f64 * 8.0 / 1e6 / seconds).collect()
}

/// The mean of DCTCP's alpha between the present and a later time, and the goodput of the only flow.
fn alpha_and_goodput(simulation: &mut Simulation, until: Time) -> (f64, f64) {
    const SAMPLES: u64 = 100;
    let (began, span) = (simulation.network.now(), until.since(simulation.network.now()));
    let (mut alphas, mut rates) = (0.0, 0.0);
    for sample in 1..=SAMPLES {
        rates += goodputs(simulation, began + span.divided(SAMPLES).times(sample))[0];
        let host = simulation.network.node::<Host>(simulation.hosts[0]).expect("it is a host");
        let sender = host.tcp().next().expect("it sends");
        alphas += sender.statistics().and_then(|it| it.alpha).expect("it is DCTCP");
    }
    (alphas / SAMPLES as f64, rates / SAMPLES as f64)
}

#[track_caller]
fn assert_within(value: f64, range: RangeInclusive<f64>) {
    assert!(range.contains(&value), "{value} is not from {} to {}", range.start(), range.end());
}

/// One flow with DCTCP over a link of 50 Mb/s with this delay (in us) in each direction, and 10 us on each of two short
/// links beside it. ns-3 has these points (`examples/tcp/tcp-validation.cc`) with a CoDel that marks what was queued
/// for 1 ms, four packets, and up to three more in the device behind it; here packets that find six in the queue are
/// marked. A packet there has a header of 2 bytes on the link, here 14: the rate makes up for it.
fn dctcp_at_50_mbps(delay_us: u64) -> Simulation {
    simulation(&format!(
        r#"
        duration = "60s"
        [topology]
        kind = "dumbbell"
        pairs = 1
        rate = "1Gbps"
        core_rate = "50399467bps"
        delay = "10us"
        core_delay = "{delay_us}us"
        [links]
        overhead = 0
        [link."s1>s2"]
        queue_packets = 1000
        ecn_packets = 6
        [[flows]]
        kind = "tcp"
        from = "h1"
        to = "h2"
        congestion = "dctcp"
        "#
    ))
}

#[test]
fn dctcp_fills_50_mbps_at_10_ms() {
    let mut simulation = dctcp_at_50_mbps(4_980);
    simulation.run_until(Time::from_s(6)).unwrap();
    let (alpha, goodput) = alpha_and_goodput(&mut simulation, Time::from_s(11));
    assert_within(goodput, 48.0..=49.0);
    assert_within(alpha, 0.045..=0.095);
}

#[test]
#[ignore = "long: 40 s of modelled time"]
fn dctcp_fills_50_mbps_at_80_ms_in_the_end() {
    let mut simulation = dctcp_at_50_mbps(39_980);
    simulation.run_until(Time::from_s(32)).unwrap();
    let (_, goodput) = alpha_and_goodput(&mut simulation, Time::from_s(40));
    assert_within(goodput, 47.5..=48.5);
}

/// Packets that are marked in 2 s of a flow over 100 Mb/s and 10 ms, after 2 s; K is 30 packets.
fn marks(has_prr: bool) -> u64 {
    let text = r#"
        duration = "4s"
        [topology]
        kind = "dumbbell"
        pairs = 1
        rate = "1Gbps"
        core_rate = "100Mbps"
        delay = "10us"
        core_delay = "5ms"
        [link."s1>s2"]
        queue_packets = 100
        ecn_packets = 30
        [[flows]]
        kind = "tcp"
        from = "h1"
        to = "h2"
        congestion = "dctcp"
        "#;
    let scenario = Scenario::read(text, &[], &|_| Err("there are no files".to_owned()));
    let mut scenario = scenario.expect("it has no faults");
    for flow in &mut scenario.flows {
        let FlowKind::Tcp { config, .. } = &mut flow.kind else { panic!("it is a flow over TCP") };
        *config = Arc::new(tcp::Config { prr: has_prr, ..**config });
    }
    let simulation = Simulation::new(scenario, 1, &mut |_, _| Err("there are no programs".to_owned()));
    let mut simulation = simulation.expect("it can be built");
    let line = simulation.network.find_channels("s1>s2")[0];
    simulation.run_until(Time::from_s(2)).unwrap();
    let before = simulation.network.counters(line).marked;
    simulation.run_until(Time::MAX).unwrap();
    simulation.network.counters(line).marked - before
}

/// ns-3.37 marks 1,520 packets there: its proportional rate reduction brings the window down in a fifth of a round
/// trip, almost at once, as RFC 8257 has it. docs/design/simulator.md has the rest of the difference.
#[test]
fn dctcp_marks_fewer_packets_if_the_window_falls_slowly() {
    assert_within(marks(true) as f64, 1_200.0..=1_330.0);
    assert_within(marks(false) as f64, 1_340.0..=1_520.0);
}

/// Alizadeh et al., "Data Center TCP" (SIGCOMM 2010), figure 17: ten senders S1 and twenty S2 share a link of 10 Gb/s;
/// S1 and ten senders S3 share the link of 1 Gb/s to the receiver R1; each of S2 has a receiver of its own. Links to
/// hosts have 1 Gb/s, all links 10 us; K is 20 packets at 1 Gb/s and 65 at 10 Gb/s, as in the paper. S1 get 46, S2 475,
/// S3 54 Mb/s there. Twenty times 475 and ten times 46 are 99.6 % of the line, so these are rates with headers.
fn figure_17(until: Time) -> [f64; 3] {
    let names = |hosts: RangeInclusive<u32>| hosts.map(|it| format!("\"h{it}\"")).collect::<Vec<_>>().join(", ");
    let flows = |from, to: String| {
        format!(
            "[[flows]]\nkind = \"tcp\"\ncongestion = \"dctcp\"\nmin_rto = \"10ms\"\nfrom = [{}]\nto = {to}\n",
            names(from)
        )
    };
    let text = format!(
        "duration = \"10s\"\n[topology]\nkind = \"dumbbell\"\npairs = 31\nrate = \"1Gbps\"\ncore_rate = \"10Gbps\"\n\
         delay = \"10us\"\n[links]\nqueue_packets = 1000\necn_packets = 20\n[link.\"s1>s2\"]\necn_packets = 65\n{}{}{}",
        flows(1..=10, "\"h32\"".to_owned()),
        flows(11..=30, format!("[{}]\npairs = \"zip\"", names(33..=52))),
        flows(53..=62, "\"h32\"".to_owned()),
    );
    let mut simulation = simulation(&text);
    simulation.run_until(until.divided(3)).unwrap();
    let rates = goodputs(&mut simulation, until);
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64 * LINE_BYTES / PAYLOAD_BYTES;
    [mean(&rates[..10]), mean(&rates[10..30]), mean(&rates[30..])]
}

#[test]
#[ignore = "long: six million packet hops"]
fn dctcp_shares_two_bottlenecks_as_in_figure_17() {
    let [s1, s2, s3] = figure_17(Time::from_ms(1_500));
    assert_within(s1, 46.0 * 0.97..=46.0 * 1.03);
    assert_within(s2, 475.0 * 0.97..=475.0 * 1.03);
    assert_within(s3, 54.0 * 0.97..=54.0 * 1.03);
}

/// The same for a short time, with a tolerance for the beginning.
#[test]
fn dctcp_shares_two_bottlenecks_soon() {
    let [s1, s2, s3] = figure_17(Time::from_ms(60));
    assert_within(s1, 46.0 * 0.85..=46.0 * 1.15);
    assert_within(s2, 475.0 * 0.95..=475.0 * 1.05);
    assert_within(s3, 54.0 * 0.85..=54.0 * 1.15);
}
