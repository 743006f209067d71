//! Networks in which real programs are in the places of hosts: what the scenario leaves out, and what the results have.

use base::OrderedSet;
use scenario::results;
use scenario::{Scenario, Simulation};
use sim::Time;
use sim::external::ExternalHost;

const TEXT: &str = r#"
duration = "10ms"
warmup = "1ms"
sample = "2ms"
[topology]
kind = "star"
hosts = 4
delay = "5us"
[hosts]
resolve = false
[[flows]]
kind = "ping"
from = "h2"
to = "h1"
interval = "1ms"
[[flows]]
kind = "udp"
from = "h*"
to = "h2"
rate = "10Mbps"
[[flows]]
kind = "tcp"
from = "h3"
to = ["h1", "h4"]
bytes = 10_000
[[incasts]]
from = ["h2", "h3"]
to = "h4"
bytes = 1_000
[[incasts]]
from = ["h1", "h3"]
to = "h4"
bytes = 1_000
"#;

fn scenario() -> Scenario {
    Scenario::read(TEXT, &[], &|name| Err(name.to_owned())).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn simulate(scenario: Scenario, threads: usize) -> Simulation {
    let made = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned()));
    made.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn flows_that_need_the_simulated_host_do_not_run() {
    let mut scenario = scenario();
    let incasts = scenario.incasts.len();
    // Its datagrams for h2, the connection of h3 with it, and the incast in which it answers.
    assert_eq!(scenario.make_external(OrderedSet::from([0])), 3);
    assert_eq!(scenario.incasts.len(), incasts - 1);
    let runs: Vec<usize> = (0..scenario.flows.len()).filter(|flow| scenario.runs(*flow)).collect();
    // The ping, the datagrams of h3 and h4, and the connection with h4: numbers are as without.
    assert_eq!(runs, [0, 2, 3, 5]);
}

#[test]
fn frames_come_to_external_hosts_and_results_have_what_the_others_do() {
    let mut scenario = scenario();
    scenario.make_external(OrderedSet::from([0]));
    let mut simulation = simulate(scenario.clone(), 1);
    assert!(simulation.run_until(Time::MAX).unwrap());
    let id = simulation.hosts[0];
    let frames = simulation.network.node_mut::<ExternalHost>(id).unwrap().take();
    // Echo requests without answers.
    assert_eq!(frames.len(), 10);
    assert!(frames.iter().all(|frame| frame.head()[34] == 8));
    let files = results::files(&simulation);
    let table = |name: &str| &*files.iter().find(|file| file.name == name).unwrap().text;
    let numbers: Vec<&str> = table("flows.csv").lines().skip(1).map(|line| &line[..2]).collect();
    assert_eq!(numbers, ["0,", "2,", "3,", "5,"]);
    let ping: Vec<&str> = table("flows.csv").lines().nth(1).unwrap().split(',').collect();
    assert_eq!(ping[9..11], ["9", "0"]);
    assert!(!table("hosts.csv").contains("h1,"), "{}", table("hosts.csv"));
    // Without input it is as deterministic as everything else.
    let mut parallel = simulate(scenario, 2);
    parallel.run_until(Time::MAX).unwrap();
    assert_eq!(results::files(&parallel), files);
}
