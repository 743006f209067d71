//! Tests of scenarios' settings of devices: faults with their places, and what presets are.

use super::*;
use expect_test::{Expect, expect};
use sim::pipeline::{PipelineConfig, Service};
use sim::time::Time;
use switch::InternalPort;

const STAR: &str = "duration = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\n[switches]\nprogram = \"p.p4\"\n";

fn read(more: &str) -> Result<Scenario, Vec<ScenarioFault>> {
    Scenario::read(&format!("{STAR}{more}"), &[], &|name| Err(format!("there is no file {name}")))
}

fn check_faults(more: &str, expected: Expect) {
    let faults = read(more).err().unwrap_or_default();
    expected.assert_eq(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
}

#[test]
fn faults_of_queues_have_their_places() {
    check_faults(
        "queues = [{ priority = 1, packets = 3 }]\n[switch.s1.port.7]\nrate = \"1Gbps\"\n",
        expect![[r#"
            7:24: a port has one queue, of priority 0: write priorities = N for more
            8:17: switch s1 has no port `7`; its ports are 1, 2
        "#]],
    );
    check_faults(
        "priorities = 8\n[[switches.queues]]\npriority = 8\n[[switch.s1.port.1.queues]]\npriority = 9\n",
        expect![[r#"
            9:12: a port has the priorities 0 to 7: write priorities = N for more
            11:12: a port has the priorities 0 to 7: write priorities = N for more
        "#]],
    );
    check_faults(
        "priorities = 0\nbuffer = { bytes = 0, threshold = 0 }\n",
        expect![[r#"
            7:14: a port has from 1 to 64 priorities
            8:20: a buffer has more than 0 bytes
            8:35: a threshold is the part of the free buffer that a queue may have: above 0, as in threshold = 0.5
        "#]],
    );
    check_faults(
        "queues = [{ weight = 0 }]\n",
        expect![[r#"
            7:22: invalid value: integer `0`, expected a whole number from 1 to 4294967295
        "#]],
    );
    check_faults(
        "queues = [{ packet_rate = \"1Mbps\" }]\n",
        expect![[r#"
            7:27: `1Mbps` is not a rate of packets: write a number with pps, kpps, Mpps or Gpps, as in "10kpps"
        "#]],
    );
    check_faults(
        "recirculation = { bandwidth = \"1Gbps\" }\n",
        expect![[r#"
            7:19: unknown field `bandwidth`, expected one of `rate`, `packet_rate`, `delay`, `queue_packets`, `queue_bytes`
        "#]],
    );
}

#[test]
fn faults_of_presets_have_their_places() {
    check_faults(
        "timing = \"software\"\ncores = 0\n",
        expect![[r#"
            7:10: a software switch has a cost for each packet, as in cost = "80ns": `wirespeed bench PROGRAM.p4` measures it ("ns per packet"); cost = "measured" measures it before the run
            8:9: a switch has from 1 to 1024 cores
        "#]],
    );
    check_faults(
        "timing = \"rmt\"\ncores = 2\ncost = \"1ns\"\nqueue_rate = \"1kpps\"\n",
        expect![[r#"
            8:9: only a switch with timing = "software" has `cores` and a `cost`
            9:8: only a switch with timing = "software" has `cores` and a `cost`
            10:14: only a switch with timing = "bmv2" has a `queue_rate`; others have queues with a `packet_rate`
        "#]],
    );
    check_faults(
        "timing = \"tofino\"\n",
        expect![[r#"
            7:10: unknown variant `tofino`, expected one of `ideal`, `rmt`, `software`, `bmv2`
        "#]],
    );
    check_faults(
        "pipeline = { queue_packets = 3 }\n",
        expect![[r#"
            7:12: a pipeline has a rate, as in pipeline = { rate = "1Gpps" }
        "#]],
    );
    check_faults(
        "[switch.s1]\nkind = \"router\"\npriorities = 2\nbuffer = { bytes = 1 }\n",
        expect![[r#"
            9:14: switch s1 is a router, which has no `priorities`: its queues are those of [links]
            10:10: switch s1 is a router, which has no `buffer`: its queues are those of [links]
        "#]],
    );
}

#[test]
fn presets_can_be_changed() {
    let plan = |more: &str| read(more).unwrap_or_else(|faults| panic!("{faults:?}")).switches.remove(0);
    assert_eq!(plan("").device, sim::device::Device { priorities: 1, ..Default::default() });
    let rmt = plan("timing = \"rmt\"\negress_latency = \"250ns\"\nmirror = { rate = \"40Gbps\", delay = \"90ns\" }\n");
    assert_eq!((rmt.ingress_latency, rmt.egress_latency), (Time::from_ns(150), Time::from_ns(250)));
    let ports: Vec<_> =
        rmt.device.internal_ports.iter().map(|(port, it)| (*port, it.bits_per_s, it.delay_ns)).collect();
    let expected = [
        (InternalPort::Resubmission, 100_000_000_000, 150),
        (InternalPort::Recirculation, 100_000_000_000, 400),
        (InternalPort::Mirror, 40_000_000_000, 90),
    ];
    assert_eq!(ports, expected);
    let software = plan("timing = \"software\"\ncores = 4\ncost = \"7.5ns\"\npipeline = { queue_packets = 256 }\n");
    let service = Service::Cost(Time::from_ps(7_500));
    let config = PipelineConfig { servers: 4, service, queue_packets: 256, queue_bytes: u64::MAX };
    assert_eq!((software.device.pipeline, software.ingress_latency), (Some(config), Time::from_ps(7_500)));
    // The settings of a port have precedence over those of a switch, and these over those of all.
    let queues = plan(
        "priorities = 2\nqueues = [{ packets = 10 }]\n[switch.s1]\nqueues = [{ priority = 1, packets = 20 }]\n\
         [switch.s1.port.2]\nqueues = [{ packets = 30, weight = 3 }]\n",
    );
    let found: Vec<_> = queues
        .device
        .queues
        .iter()
        .map(|it| (it.port, it.priority, it.capacity_packets, it.weight.map(u32::from)))
        .collect();
    assert_eq!(
        found,
        [(None, None, Some(10), None), (None, Some(1), Some(20), None), (Some(2), None, Some(30), Some(3))]
    );
}

#[test]
fn faults_of_commands_have_their_places() {
    check_faults(
        "[switch.s1]\nkind = \"router\"\n[[commands]]\nat = \"1ms\"\nswitch = [\"s2\", \"s1\"]\nrun = \"table_clear t\"\n",
        expect![[r#"
            11:10: there is no switch `s2`; the switches are s1
            11:10: switch s1 is a router, which takes no commands
        "#]],
    );
}
