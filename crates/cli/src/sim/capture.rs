//! `wirespeed sim --pcap`: the packets of links as captures.
//!
//! What enters: names of links, and records of packets as they arrive. What leaves: a capture for each link, in which
//! each packet has the time at which its last bit arrived, in nanoseconds. The directions of a link share a capture.

use crate::Exit;
use crate::terminal;
use base::OrderedMap;
use live::pcap::CaptureWriter;
use sim::Network;
use sim::network::PortId;
use sim::record::{Event, Record};
use std::fs;
use std::path::Path;

/// The captures of a run.
pub struct Captures {
    /// By the port at which packets arrive.
    links: OrderedMap<PortId, usize>,
    writers: Vec<CaptureWriter>,
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
    pub fn create(network: &Network, channels: &[usize], folder: &Path) -> Result<Captures, Exit> {
        let mut captures = Captures { links: OrderedMap::new(), writers: Vec::new() };
        if !channels.is_empty() {
            fs::create_dir_all(folder).map_err(|error| refused(&format!("create {}: {error}", folder.display())))?;
        }
        let mut last = None;
        for &channel in channels {
            if last != Some(channel / 2) {
                last = Some(channel / 2);
                let name = network.channels()[channel & !1].name.replace('>', "-");
                let writer = CaptureWriter::create(&folder.join(format!("{name}.pcap")));
                captures.writers.push(writer.map_err(|error| refused(&error))?);
            }
            captures.links.insert(network.channels()[channel].to, captures.writers.len() - 1);
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
            if let Some(&writer) = self.links.get(&place) {
                self.writers[writer].write(bytes, record.time.ns()).map_err(|error| refused(&error))?;
            }
        }
        Ok(())
    }

    /// Ends the captures.
    pub fn finish(mut self) -> Result<(), Exit> {
        self.writers.iter_mut().try_for_each(|writer| writer.flush().map_err(|error| refused(&error)))
    }
}

fn refused(error: &dyn std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
