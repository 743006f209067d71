//! A description as text.

use super::{BatchStage, BlockDescription, Description, FastPathDescription, Node, Placed};
use crate::tuning::Tuning;
use std::fmt;

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program for {}", self.architecture)?;
        writeln!(f, "burst: {} packets: {}", self.burst_packets, self.burst_reason)?;
        if let Some(Tuning { burst_packets, cuts }) = self.tuning {
            let cuts = if cuts { "" } else { ", tables looked up packet by packet" };
            writeln!(f, "tuned: bursts of at most {burst_packets} packets{cuts}")?;
        }
        for shortcut in &self.shortcuts {
            writeln!(f, "compiled in less time: {shortcut}")?;
        }
        match &self.fast_path {
            Some(path) => fast_path_description(f, path)?,
            None => writeln!(f, "fast path: none: {}", self.no_fast_path_reason.as_deref().unwrap_or("unknown"))?,
        }
        for block in self.blocks.iter().filter(|block| is_worth_showing(block)) {
            writeln!(f, "\nblock {}", block.name)?;
            stages(f, &block.stages, block.uncut_reason.as_deref())?;
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
                "  {}: {}; key of {bits} bits in {words} word{s}, looked up {}",
                table.name, table.engine, table.lookup
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

/// Whether a block is shown: parsers and blocks without statements are not.
fn is_worth_showing(block: &BlockDescription) -> bool {
    block.stages.iter().flat_map(|stage| &stage.nodes).any(|node| node.statements > 0 || node.then != "done")
}

fn fast_path_description(f: &mut fmt::Formatter<'_>, path: &FastPathDescription) -> fmt::Result {
    match &path.in_chunks_reason {
        None => writeln!(f, "fast path: in place: packets are processed where their bytes lie")?,
        Some(reason) => writeln!(f, "fast path: in chunks: {reason}")?,
    }
    if let Some(reason) = &path.copied_reason {
        writeln!(f, "  each packet is copied first: {reason}")?;
    }
    match (path.deparser_left_out, path.headroom_bytes) {
        (true, _) => writeln!(f, "  deparser: left out: what it would emit is there already")?,
        (false, None) => writeln!(f, "  deparser: emits headers")?,
        (false, Some(0)) => writeln!(f, "  deparser: moves headers in place")?,
        (false, Some(headroom)) => {
            writeln!(f, "  deparser: moves headers in place, up to {headroom} bytes into the headroom")?
        }
    }
    for fields in &path.incremental_checksums {
        writeln!(f, "  incremental checksum: {}", fields.join(", "))?;
    }
    if !path.punts_for.is_empty() {
        writeln!(f, "  packets are punted for {}", path.punts_for.join(" and "))?;
    }
    if path.takes_replicas {
        writeln!(f, "  replicas share their packet's metadata, and take the part behind the queues")?;
    }
    stages(f, &path.stages, path.uncut_reason.as_deref())
}

fn stages(f: &mut fmt::Formatter<'_>, stages: &[BatchStage], uncut_reason: Option<&str>) -> fmt::Result {
    if let Some(reason) = uncut_reason {
        let part = if stages.len() > 1 { "in part " } else { "" };
        writeln!(f, "  {part}one packet after the other: {reason}")?;
    }
    for (number, stage) in stages.iter().enumerate() {
        let turns = if stage.guarded { ", which workers take turns at" } else { "" };
        writeln!(f, "  batch stage {number}{turns}")?;
        stage.nodes.iter().try_for_each(|node| one_node(f, node))?;
    }
    Ok(())
}

fn one_node(f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
    write!(f, "    node {}{}: ", node.number, if node.entered { " (entered)" } else { "" })?;
    if let Some(table) = &node.result_of {
        write!(f, "result of {table}; ")?;
    }
    if node.statements > 0 {
        write!(f, "{} statement{}; ", node.statements, if node.statements == 1 { "" } else { "s" })?;
    }
    if !node.per_packet_lookups.is_empty() {
        write!(f, "looks up per packet {}; ", node.per_packet_lookups.join(", "))?;
    }
    writeln!(f, "then {}", node.then)
}

fn placed(f: &mut fmt::Formatter<'_>, what: &str, placed: &[Placed]) -> fmt::Result {
    if !placed.is_empty() {
        writeln!(f, "\n{what}")?;
    }
    placed.iter().try_for_each(|it| writeln!(f, "  {}: {} bits: {}", it.name, it.bits, it.place))
}
