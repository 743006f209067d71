//! A description as text.

use super::{BlockWay, Description, FastPathPlan, Node, Placed, Region};
use crate::tuning::Tuning;
use std::fmt;

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program for {}", self.architecture)?;
        writeln!(f, "burst: {} packets: {}", self.burst_packets, self.burst_reason)?;
        if let Some(Tuning { burst_packets, cuts }) = self.tuning {
            let cuts = if cuts { "" } else { ", tables asked for each packet alone" };
            writeln!(f, "tuned: bursts of at most {burst_packets} packets{cuts}")?;
        }
        for shortcut in &self.shortcuts {
            writeln!(f, "compiled in less time: {shortcut}")?;
        }
        match &self.fast_path {
            Some(path) => fast_path_plan(f, path)?,
            None => writeln!(f, "fast path: none: {}", self.no_fast_path_reason.as_deref().unwrap_or("unknown"))?,
        }
        for block in self.blocks.iter().filter(|block| is_worth_telling(block)) {
            writeln!(f, "\nblock {}", block.name)?;
            regions(f, &block.regions, block.uncut_reason.as_deref())?;
        }
        writeln!(f, "\ncontext: {} bytes for each packet in flight", self.context_bytes)?;
        placed(f, "variables", &self.variables)?;
        placed(f, "headers", &self.headers)?;
        self.tables(f)?;
        if !self.state.is_empty() {
            writeln!(f, "\nstate")?;
        }
        for state in &self.state {
            writeln!(f, "  {}: {}: {}", state.name, state.kind, state.meaning)?;
        }
        Ok(())
    }
}

impl Description {
    fn tables(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tables.is_empty() {
            writeln!(f, "\ntables")?;
        }
        for table in &self.tables {
            let (bits, words) = (table.key_bits, table.key_words);
            let s = if words == 1 { "" } else { "s" };
            writeln!(
                f,
                "  {}: {}; key of {bits} bits in {words} word{s}, asked {}",
                table.name, table.engine, table.asked
            )?;
            for (kind, name, bits) in &table.key {
                writeln!(f, "    {kind} {name}: {bits} bits")?;
            }
            if table.data_bytes > 0 {
                writeln!(f, "    entries have {} bytes of action data", table.data_bytes)?;
            }
        }
        Ok(())
    }
}

/// A block that does nothing, or a parser, is not told of.
fn is_worth_telling(block: &BlockWay) -> bool {
    block.regions.iter().flat_map(|region| &region.nodes).any(|node| node.statements > 0 || node.then != "done")
}

fn fast_path_plan(f: &mut fmt::Formatter<'_>, path: &FastPathPlan) -> fmt::Result {
    match &path.in_chunks_reason {
        None => writeln!(f, "fast path: in place: packets are worked on where their bytes lie")?,
        Some(reason) => writeln!(f, "fast path: in chunks: {reason}")?,
    }
    if let Some(reason) = &path.copied_reason {
        writeln!(f, "  each packet is copied first: {reason}")?;
    }
    match (path.deparser_left_out, path.room_bytes) {
        (true, _) => writeln!(f, "  deparser: left out: what it would emit is there already")?,
        (false, None) => writeln!(f, "  deparser: emits headers")?,
        (false, Some(0)) => writeln!(f, "  deparser: moves headers where they lie")?,
        (false, Some(room)) => {
            writeln!(f, "  deparser: moves headers where they lie, up to {room} bytes further ahead")?
        }
    }
    for fields in &path.incremental_checksums {
        writeln!(f, "  incremental checksum: {}", fields.join(", "))?;
    }
    if !path.leaves_for.is_empty() {
        writeln!(f, "  packets leave it for {}", path.leaves_for.join(" and "))?;
    }
    if path.takes_replicas {
        writeln!(f, "  replicas share their packet's metadata, and take the part behind the queues")?;
    }
    regions(f, &path.regions, path.uncut_reason.as_deref())
}

fn regions(f: &mut fmt::Formatter<'_>, regions: &[Region], uncut_reason: Option<&str>) -> fmt::Result {
    if let Some(reason) = uncut_reason {
        let part = if regions.len() > 1 { "in part " } else { "" };
        writeln!(f, "  {part}one packet after the other: {reason}")?;
    }
    for (number, region) in regions.iter().enumerate() {
        let turns = if region.guarded { ", which workers take turns at" } else { "" };
        writeln!(f, "  region {number}{turns}")?;
        region.nodes.iter().try_for_each(|node| one_node(f, node))?;
    }
    Ok(())
}

fn one_node(f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
    write!(f, "    node {}{}: ", node.number, if node.entered { " (entered)" } else { "" })?;
    if let Some(table) = &node.answer_of {
        write!(f, "answer of {table}; ")?;
    }
    if node.statements > 0 {
        write!(f, "{} statement{}; ", node.statements, if node.statements == 1 { "" } else { "s" })?;
    }
    if !node.asks_alone.is_empty() {
        write!(f, "asks for each packet {}; ", node.asks_alone.join(", "))?;
    }
    writeln!(f, "then {}", node.then)
}

fn placed(f: &mut fmt::Formatter<'_>, what: &str, placed: &[Placed]) -> fmt::Result {
    if !placed.is_empty() {
        writeln!(f, "\n{what}")?;
    }
    placed.iter().try_for_each(|it| writeln!(f, "  {}: {} bits: {}", it.name, it.bits, it.place))
}
