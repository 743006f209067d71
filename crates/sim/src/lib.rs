//! Networks in modelled time.
//!
//! What enters: nodes (hosts, switches, generators), links with their properties, a seed. What leaves: the same nodes
//! and the counters of all channels after any time. The result depends on nothing else: the crate reads no clock and
//! does no I/O, and any number of threads gives the same bytes. docs/design/simulator.md has the reasons.
//!
//! The modules in reading order:
//! * [`time`], [`random`]: picoseconds, rates, and random numbers that are the same on every machine.
//! * [`packet`]: packets and the pools of their memory. [`wire`]: their formats.
//! * [`channel`]: one direction of a link: transmitter, queue, impairments, packets in flight.
//! * [`events`]: which event is next.
//! * [`node`]: what all nodes have in common. [`network`]: nodes and links, run on one thread or several.
//! * [`host`]: stations with addresses: ARP, NDP, ICMP, UDP, TCP (the crate `tcp`).
//! * [`external`]: real programs in the place of a host.
//! * [`switch_node`]: switches that run a program. [`device`]: what their queues and ports are like. [`pipeline`]: how
//!   many packets they can take. [`router`]: switches without a program.
//! * [`controller`]: who answers packets and digests of switches.
//! * [`record`]: what happens to packets, for captures, traces and checks.
//! * [`statistics`]: histograms and confidence intervals.
//! * [`generator`], [`arrivals`]: sources and sinks of plain frames; times and sizes of generated packets.
//!
//! What a network is made of stands in a file: the crate `scenario` reads it, checks runs and writes results.
//!
//! What of docs/design/simulator.md exists, there and here:
//!
//! | | |
//! |---|---|
//! | Time, events, packets, links with all properties of the table, threads | yes |
//! | Hosts: ARP, NDP, IPv4, IPv6, ICMP echo, port unreachable; TCP | yes |
//! | UDP constant, Poisson, on-off, from a capture | yes |
//! | ICMP errors of routers; TCP follows the MTU of its path | yes |
//! | IP fragments are put together | yes |
//! | Switches with programs: latencies, queues, port rates inside the core | yes |
//! | Pipeline rate; bandwidth of recirculation; schedulers and buffers from the scenario; costs per packet | yes |
//! | Topologies: files, dumbbell, star, chain, leaf-spine, fat-tree | yes |
//! | Workloads: pairs, permutations, strides, flow sizes from files, arrivals to a load, incast | yes |
//! | Incast with barriers, replay of flow lists, sensors | yes |
//! | Completion times and slowdowns by size; ideal times with the rates of devices | yes |
//! | Results as CSV and JSON, warm-up; links, goodput and retransmissions over time; drops by place and reason | yes |
//! | Captures of links | yes |
//! | Plots as SVG, a report as HTML | yes |
//! | Journeys of packets through the network and its programs | yes |
//! | Sweeps on all cores, in parts, resumed and merged; means with intervals over seeds | yes |
//! | Restarts of switches, random faults of links and switches; routers that take other routes | yes |
//! | Properties: loops, losses, order, bytes, queues, convergence; several seeds at the same time | yes |
//! | Commands for switches at given times, with a latency | yes |
//! | Controllers that answer packets, digests and idle entries in modelled time, read and write, and pause | yes |
//! | P4Runtime ports, taps, real time (the command) | yes |
//! | Failures of links at given times | yes |

pub mod arrivals;
pub mod channel;
pub mod controller;
pub mod device;
pub mod events;
pub mod external;
pub mod generator;
pub mod host;
pub mod network;
pub mod node;
pub mod packet;
pub mod pipeline;
pub mod random;
pub mod record;
pub mod router;
pub mod statistics;
pub mod switch_node;
pub mod time;
pub mod wire;

pub use channel::ChannelConfig;
pub use network::{Network, NetworkBuilder};
pub use node::{Context, Node};
pub use packet::Packet;
pub use time::Time;
