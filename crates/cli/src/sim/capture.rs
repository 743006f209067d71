//! `wirespeed sim --pcap`: the packets of links as captures.
//!
//! What enters: names of links, and records of packets as they arrive. What leaves: a capture for each link, in which
//! each packet has the time at which its last bit arrived, in nanoseconds. The directions of a link share a capture.

use crate::Exit;
use crate::terminal;
use base::OrderedMap;
use live::pcap::CaptureWriter;
use scenario::Simulation;
use sim::network::PortId;
use sim::record::{Event, Record};
use sim::{Network, Time};
use std::fs;
use std::path::Path;

/// The captures of a run.
pub struct Captures {
    /// By the port at which packets arrive.
    links: OrderedMap<PortId, Direction>,
    captures: Vec<Capture>,
}

/// One direction of a link.
#[derive(Clone, Copy)]
struct Direction {
    capture: usize,
    /// The ingress latency of the switch to which it leads: packets are recorded when it has passed.
    latency: Time,
}

/// A capture, with the packets that it may get others before.
struct Capture {
    writer: CaptureWriter,
    /// By the times and in the order in which they came.
    waiting: OrderedMap<(Time, u64), Box<[u8]>>,
    /// The greatest latency of its directions.
    latency: Time,
    packets: u64,
}

impl Capture {
    /// Writes the packets that came before this time.
    fn write_until(&mut self, end: Time) -> Result<(), Exit> {
        while self.waiting.first_key_value().is_some_and(|((time, _), _)| *time < end)
            && let Some(((time, _), bytes)) = self.waiting.pop_first()
        {
            self.writer.write(&bytes, time.ns()).map_err(|error| refused(&error))?;
        }
        Ok(())
    }
}

/// The channels with these names.
pub fn channels(network: &Network, names: &[String]) -> Result<Vec<usize>, Exit> {
    let mut all = Vec::new();
    for name in names {
        let found = network.find_channels(name);
        if found.is_empty() {
            let known: Vec<&str> = network.channels().iter().step_by(2).take(8).map(|it| &*it.name).collect();
            let more = if network.channels().len() > 2 * known.len() { ", ..." } else { "" };
            let known = known.join(", ").replace('>', "-");
            terminal::error(format!("there is no link `{name}` to capture; the links are {known}{more}, and `all`"));
            return Err(Exit::Usage);
        }
        all.extend(found);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

impl Captures {
    /// Begins captures in a folder.
    pub fn create(simulation: &Simulation, channels: &[usize], folder: &Path) -> Result<Captures, Exit> {
        let network = &simulation.network;
        let mut captures = Captures { links: OrderedMap::new(), captures: Vec::new() };
        if !channels.is_empty() {
            fs::create_dir_all(folder).map_err(|error| refused(&format!("create {}: {error}", folder.display())))?;
        }
        let mut last = None;
        for &channel in channels {
            if last != Some(channel / 2) {
                last = Some(channel / 2);
                let name = network.channels()[channel & !1].name.replace('>', "-");
                let writer = CaptureWriter::create(&folder.join(format!("{name}.pcap")));
                let writer = writer.map_err(|error| refused(&error))?;
                captures.captures.push(Capture { writer, waiting: OrderedMap::new(), latency: Time::ZERO, packets: 0 });
            }
            let to = network.channels()[channel].to;
            let direction =
                Direction { capture: captures.captures.len() - 1, latency: simulation.ingress_latency(to.node) };
            let capture = &mut captures.captures[direction.capture];
            capture.latency = capture.latency.max(direction.latency);
            captures.links.insert(to, direction);
        }
        Ok(captures)
    }

    /// Writes the packets that have arrived.
    pub fn write(&mut self, records: &[Record]) -> Result<(), Exit> {
        for record in records {
            let (Event::Captured(bytes), place) = (&record.event, PortId { node: record.node, port: record.port })
            else {
                continue;
            };
            if let Some(direction) = self.links.get(&place) {
                let capture = &mut self.captures[direction.capture];
                capture.packets += 1;
                capture.waiting.insert((record.time.since(direction.latency), capture.packets), bytes.clone());
                capture.write_until(record.time.since(capture.latency))?;
            }
        }
        Ok(())
    }

    /// Ends the captures.
    pub fn finish(mut self) -> Result<(), Exit> {
        self.captures.iter_mut().try_for_each(|capture| {
            capture.write_until(Time::MAX)?;
            capture.writer.flush().map_err(|error| refused(&error))
        })
    }
}

fn refused(error: &dyn std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
