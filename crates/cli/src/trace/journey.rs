//! The journey of a packet, step by step.
//!
//! What enters: the steps of the interpreter and the decisions of the architecture. What leaves: lines, as text or as
//! JSON. Conditions and requests such as `mark_to_drop(standard_metadata)` are shown as they were written, values in
//! display form.

use super::values::{Described, as_written};
use base::{Bits, Span};
use interp::{Event, HeaderState, Tracer};
use ir::{Place, TableId, VarKind};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use switch::{Decision, Observer};
use tables::{Handle, TableSet};
use values::Style;

/// The source of a position.
const PLACE_COLUMN: usize = 88;

/// Functions that only request something of the architecture. They set intrinsic variables, which are not in the
/// program's text.
const REQUESTS: [&str; 13] = [
    "mark_to_drop",
    "drop",
    "clone",
    "clone3",
    "clone_preserving_field_list",
    "clone_ingress_pkt_to_egress",
    "clone_egress_pkt_to_egress",
    "resubmit",
    "resubmit_preserving_field_list",
    "recirculate",
    "recirculate_preserving_field_list",
    "truncate",
    "digest",
];
/// The name that lowering gives to intermediate values.
const TEMPORARY: &str = "tmp";

/// Functions whose first argument is a condition, on which they compute the checksum of the second.
const CHECKSUMS: [&str; 4] =
    ["verify_checksum", "verify_checksum_with_payload", "update_checksum", "update_checksum_with_payload"];

/// A line of the journey.
#[derive(Clone, Debug)]
struct Line {
    depth: usize,
    /// Its kind, for programs.
    step: &'static str,
    text: String,
    place: String,
    /// Its data, for programs.
    detail: Map<String, Value>,
    /// An entry that was hit. Its text is looked up after the packet was processed.
    entry: Option<(TableId, Handle)>,
}

/// Collects the journey of one packet, or of one run of the core.
pub struct Journey {
    described: Arc<Described>,
    lines: Vec<Line>,
    depth: usize,
    /// The block that runs, and the state of a parser.
    block: Option<ir::BlockId>,
    state: Option<ir::StateId>,
    /// The last request that was shown, whose assignments are hidden.
    request: Option<Span>,
    /// The last call whose checksum was computed.
    summed: Option<Span>,
    /// The headers that were extracted from the packet as it was received, with their fields.
    extracted: Vec<(ir::HeaderId, Vec<Bits>)>,
    /// Passes through ingress so far.
    passes: usize,
}

/// The data of a line for programs.
macro_rules! detail {
    ($($name:literal: $value:expr),* $(,)?) => {
        Map::from_iter([$(($name.to_owned(), json!($value))),*])
    };
}

impl Journey {
    /// Before the first step.
    pub fn new(described: Arc<Described>) -> Journey {
        Journey {
            described,
            lines: Vec::new(),
            depth: 1,
            block: None,
            state: None,
            request: None,
            summed: None,
            extracted: Vec::new(),
            passes: 0,
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether the packet as it was received has a header with this field: the value under the mask.
    pub fn has_field(&self, headers: &[ir::HeaderId], field: usize, (value, mask): (&Bits, &Bits)) -> bool {
        let extracted = self.extracted.iter().filter(|(header, _)| headers.contains(header));
        let mut values = extracted.filter_map(|(_, fields)| fields.get(field));
        values.any(|found| found.width() == mask.width() && found.and(mask) == value.and(mask))
    }

    /// The lines as text.
    pub fn text(&self) -> Vec<String> {
        let line = |line: &Line| {
            let text = format!("{}{}", "  ".repeat(line.depth), line.text);
            if line.place.is_empty() { text } else { format!("{text:<PLACE_COLUMN$}  {}", line.place) }
        };
        self.lines.iter().map(line).collect()
    }

    /// The lines for programs.
    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            let mut object = detail!("step": line.step, "depth": line.depth, "text": line.text);
            if !line.place.is_empty() {
                object.insert("place".to_owned(), json!(line.place));
            }
            object.extend(line.detail.clone());
            Value::Object(object)
        };
        self.lines.iter().map(line).collect()
    }

    fn line(&mut self, depth: usize, span: Span, step: &'static str, text: String, detail: Map<String, Value>) {
        let place = self.described.places.place(span);
        self.lines.push(Line { depth, step, text, place, detail, entry: None });
    }

    fn plain(&mut self, span: Span, text: String) {
        self.line(self.depth, span, "other", text, Map::new());
    }
}

impl Tracer for Journey {
    fn event(&mut self, span: Span, event: Event<'_>) {
        let described = Arc::clone(&self.described);
        let program = &described.program;
        match event {
            Event::BlockEntered(block) => {
                (self.depth, self.block, self.request, self.summed) = (2, Some(block), None, None);
                let name = &program.blocks[block].name;
                self.line(1, Span::NONE, "block", name.clone(), detail!("name": name));
            }
            Event::StateEntered { block, state } => {
                self.state = Some(state);
                if let ir::BlockKind::Parser { states, .. } = &program.blocks[block].kind {
                    let name = &states[state].name;
                    self.line(2, span, "state", format!("state {name}"), detail!("name": name));
                }
                self.depth = 3;
            }
            Event::Extracted { header, contents, offset_bytes } => {
                self.extract(&described, span, header, contents, offset_bytes);
            }
            Event::Selected { keys, chosen } => {
                let (text, detail) = self.select(&described, keys, chosen.map(|(_, target)| target));
                self.line(self.depth, span, "select", text, detail);
            }
            Event::TableApplied { table, keys, lookup } => {
                self.table(&described, span, table, keys, lookup.entry);
            }
            Event::ActionEntered { action, args } => {
                let declared = &program.actions[action];
                let names = declared.params.iter().map(|&param| program.vars[param].name.as_str());
                let names = declared.with_empty(names.map(str::to_owned), str::to_owned);
                let (texts, arguments) = pairs(names.iter().zip(described.arguments(action, args)));
                let text = format!("action {}({})", declared.name, texts.join(", "));
                self.line(2, span, "action", text, detail!("name": declared.name, "arguments": arguments));
                self.depth = 3;
            }
            Event::Branched { taken } => {
                let (condition, text) = self.branch(&described, span, taken);
                self.line(self.depth, span, "condition", text, detail!("condition": condition, "taken": taken));
            }
            Event::Switched { value, case, label } => {
                // Others are not statements of the program.
                if let Some(asked) = described.places.question("switch", span) {
                    let chosen =
                        label.map_or_else(|| "default".to_owned(), |label| described.label(span, label, value));
                    let text = format!("switch ({asked}): {chosen}");
                    let detail = detail!("value": number(value), "case": case, "label": chosen);
                    self.line(self.depth, span, "switch", text, detail);
                }
            }
            Event::Assigned { place, value, is_kept } => self.assign(&described, span, (place, value), is_kept),
            other => {
                if matches!(other, Event::Hashed { .. }) {
                    self.summed = Some(span);
                }
                if let Some(text) = step(&described, other) {
                    self.plain(span, text);
                }
            }
        }
    }
}

/// Names with values, as text and as JSON.
fn pairs<'n>(named: impl Iterator<Item = (&'n String, String)>) -> (Vec<String>, Map<String, Value>) {
    let named: Vec<_> = named.collect();
    let texts = named.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (texts, named.into_iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

impl Journey {
    /// A branch: its condition as written, if it is a whole one, and the line's text.
    fn branch(&self, described: &Described, span: Span, taken: bool) -> (Option<String>, String) {
        let places = &described.places;
        if let Some(condition) = places.question("if", span) {
            let text = format!("if ({condition}): {taken}");
            return (Some(condition), text);
        }
        if let Some(condition) = places.loop_condition(span) {
            let text = format!("{condition}: {taken}");
            return (Some(condition), text);
        }
        let Some((name, _)) = places.call(span) else { return (None, format!("condition: {taken}")) };
        let is_summed = self.summed == Some(span);
        let argument =
            if CHECKSUMS.contains(&name) { places.argument(span, if is_summed { 2 } else { 0 }) } else { None };
        match argument {
            // What follows the sum of `verify_checksum` is its comparison with the packet's.
            Some(checksum) if is_summed => (None, format!("{name}: {checksum} is wrong: {taken}")),
            Some(condition) => {
                // A checksum in an invalid header is left out whatever the condition.
                let why = if condition == "true" && !taken { ", its header is invalid" } else { "" };
                let text = format!("condition of {name} ({condition}): {taken}{why}");
                (Some(condition), text)
            }
            None => (None, format!("condition in {name}: {taken}")),
        }
    }

    fn extract(
        &mut self,
        described: &Described,
        span: Span,
        header: ir::HeaderId,
        contents: &HeaderState,
        offset_bytes: usize,
    ) {
        if self.passes <= 1 {
            self.extracted.push((header, contents.fields.clone()));
        }
        let declared = &described.program.headers[header];
        let fields = &described.program.header_types[declared.ty].fields;
        let shown = contents.fields.iter().enumerate().map(|(at, value)| described.field(declared.ty, at, value));
        let names: Vec<String> = fields.iter().map(|field| as_written(&field.name)).collect();
        let (texts, object) = pairs(names.iter().zip(shown));
        let text = format!("extract {} at byte {offset_bytes}: {}", declared.name, texts.join(" "));
        let detail = detail!("header": declared.name, "offset": offset_bytes, "fields": object);
        self.line(self.depth, span, "extract", text, detail);
    }

    fn select(&self, described: &Described, keys: &[Bits], target: Option<ir::Target>) -> (String, Map<String, Value>) {
        let state = self.block.zip(self.state).and_then(|(block, state)| match &described.program.blocks[block].kind {
            ir::BlockKind::Parser { states, .. } => states.get(state),
            ir::BlockKind::Control { .. } => None,
        });
        let written = match state.map(|state| &state.transition) {
            Some(ir::Transition::Select { keys, .. }) => keys.as_slice(),
            _ => &[],
        };
        let shown = |(at, value): (usize, &Bits)| match written.get(at).map(|key| described.of_expr(key, value)) {
            Some((Some(place), value)) => format!("{place}={value}"),
            Some((None, value)) => value,
            None => value.to_string(),
        };
        let keys: Vec<String> = keys.iter().enumerate().map(shown).collect();
        let next = target.map(|target| described.target(self.block, target));
        let text = match &next {
            Some(next) => format!("select {} -> {next}", keys.join(", ")),
            None => format!("select {}: no case matches", keys.join(", ")),
        };
        (text, detail!("keys": keys, "next": next))
    }

    fn table(&mut self, described: &Described, span: Span, table: TableId, keys: &[Bits], entry: Option<u64>) {
        let declared = &described.program.tables[table];
        let shown = keys.iter().enumerate().map(|(at, value)| described.key(table, at, value));
        let (texts, object) = pairs(declared.keys.iter().map(|key| &key.name).zip(shown));
        let text = format!("table {} {}", declared.name, texts.join(" ")).trim_end().to_owned();
        let detail = detail!("name": declared.name, "keys": object, "hit": entry.is_some());
        self.line(2, span, "table", text, detail);
        self.depth = 2;
        match entry {
            Some(entry) => {
                self.line(3, Span::NONE, "entry", "hit entry ".to_owned(), detail!("handle": entry));
                let entry = Some((table, Handle(entry as u32)));
                self.lines.last_mut().into_iter().for_each(|line| line.entry = entry);
            }
            None => self.line(3, Span::NONE, "miss", "miss".to_owned(), Map::new()),
        }
    }

    fn assign(&mut self, described: &Described, span: Span, (place, value): (&Place, &Bits), is_kept: bool) {
        let is_intrinsic = |place: &Place| match place {
            Place::Var(var) => matches!(described.program.vars[*var].kind, VarKind::Intrinsic(_)),
            _ => false,
        };
        let is_local = |place: &Place| match place {
            Place::Var(var) => matches!(described.program.vars[*var].kind, VarKind::Local),
            _ => false,
        };
        match described.places.call(span).filter(|(name, _)| REQUESTS.contains(name)) {
            Some((name, text)) => {
                if self.request.replace(span) != Some(span) {
                    self.line(self.depth, span, "request", text, detail!("name": name));
                }
            }
            None => {
                self.request = None;
                // `verify_checksum` assigns nothing that the program names.
                let is_verified = |name: &str| CHECKSUMS.contains(&name) && name.starts_with("verify");
                let verified = described.places.call(span).filter(|(name, _)| is_verified(name) && is_local(place));
                if let Some((function, _)) = verified {
                    let value = Style::Hexadecimal.show(value);
                    let detail = detail!("name": function, "value": value);
                    return self.line(self.depth, span, "checksum", format!("{function} computes {value}"), detail);
                }
                let (name, value) = (described.place(place), described.at_place(place, value));
                if is_local(place) && name == TEMPORARY && !described.places.names(span, TEMPORARY) {
                    return;
                }
                let step = if is_intrinsic(place) { "metadata" } else { "assignment" };
                let detail = detail!("name": name, "value": value, "is_kept": is_kept);
                self.line(self.depth, span, step, format!("{name} = {value}{}", not_kept(is_kept)), detail);
            }
        }
    }
}

/// What is added to a write that has no effect.
fn not_kept(is_kept: bool) -> &'static str {
    if is_kept { "" } else { " (not kept: the header is invalid)" }
}

fn list(values: &[Bits]) -> String {
    values.iter().map(Bits::to_string).collect::<Vec<_>>().join(", ")
}

/// A step whose text is complete.
fn step(described: &Described, event: Event<'_>) -> Option<String> {
    let program = &described.program;
    let error_name = |error: u64| program.errors.get(error as usize).map_or("an unknown error", |name| name);
    Some(match event {
        Event::Advanced { bytes } => format!("skip {bytes} bytes"),
        Event::ParserError { error } => format!("parser error {}", error_name(error)),
        Event::ParserDone { accepted } => if accepted { "accept" } else { "reject" }.to_owned(),
        Event::DirectCounted { counter, entry } => {
            format!("counter {} counts {}", program.direct_counters[counter].name, row(entry))
        }
        Event::DirectMetered { meter, entry, colour } => {
            format!("meter {} at {}: {}", program.direct_meters[meter].name, row(entry), color(Some(colour)))
        }
        Event::VarSet { .. } | Event::Left { .. } => return None,
        Event::ValiditySet { header, valid } => {
            let name = &program.headers[header].name;
            format!("{name} becomes {}", if valid { "valid" } else { "invalid" })
        }
        Event::HeaderCopied { dst, src } => {
            let source = src.map_or("an invalid header", |src| &program.headers[src].name);
            format!("{} = {source}", program.headers[dst].name)
        }
        Event::VarbitCopied { header, field, value, is_kept } => {
            let name = &program.header_type(&ir::HeaderRef::Fixed(header)).fields[field as usize].name;
            let name = as_written(name);
            format!("{}.{name} = {value}{}", program.headers[header].name, not_kept(is_kept))
        }
        Event::StackMoved { stack, count, up } => {
            let name = &program.stacks[stack].name;
            format!("{name}.{}({count})", if up { "push_front" } else { "pop_front" })
        }
        Event::LoopExhausted { .. } => "the loop is ended: too many iterations".to_owned(),
        Event::Emitted { header, bytes } => format!("emit {}: {} bytes", program.headers[header].name, bytes.len()),
        Event::EmitSkipped { .. } => return None,
        other => return extern_step(described, other),
    })
}

/// A step of an extern instance.
fn extern_step(described: &Described, event: Event<'_>) -> Option<String> {
    let program = &described.program;
    Some(match event {
        Event::RegisterRead { register, index, value } => {
            let value = value.map_or_else(|| "no such cell".to_owned(), number);
            format!("read {}[{}]: {value}", program.registers[register].name, number(index))
        }
        Event::RegisterWritten { register, index, value } => {
            format!("write {}[{}] = {}", program.registers[register].name, number(index), number(value))
        }
        Event::Counted { counter, index } => format!("count {}[{}]", program.counters[counter].name, number(index)),
        Event::Metered { meter, index, colour } => {
            format!("meter {}[{}]: {}", program.meters[meter].name, number(index), color(colour))
        }
        Event::Hashed { algorithm, bytes, value } => {
            format!("{algorithm:?} over {} bytes: {value}", bytes.len())
        }
        Event::Digested { digest, values } => {
            let digest = &program.digests[digest];
            let field = |((name, _), value): (&(String, _), &Bits)| format!("{name}={}", number(value));
            let fields: Vec<String> = digest.fields.iter().zip(values).map(field).collect();
            format!("digest {}: {}", digest.name, fields.join(" "))
        }
        Event::EntryAdded { table, keys, action, args, is_added } => {
            let declared = &program.tables[table];
            let action = declared.actions.get(action as usize).map_or("", |it| &program.actions[it.action].name);
            let result = if is_added { "" } else { ": no room" };
            format!("add to {}: {} runs {action}({}){result}", declared.name, list(keys), list(args))
        }
        Event::TimerSet { table, entry, profile } => {
            let profile = profile.map_or(String::new(), |profile| format!(" with profile {profile}"));
            format!("restart the timer of entry {entry} of {}{profile}", program.tables[table].name)
        }
        Event::Logged { message } => format!("log: {message}"),
        Event::ExternCalled { function, inputs, outputs } => {
            let gives = if outputs.width() == 0 { String::new() } else { format!(" gives {outputs}") };
            format!("call {}({}){gives}", program.extern_functions[function].symbol, list(inputs))
        }
        Event::AssertFailed { text } => format!("assertion failed: {text}"),
        _ => return None,
    })
}

/// A number in decimal digits, up to a readable size.
fn number(value: &Bits) -> String {
    value.to_u64().map_or_else(|| value.to_string(), |number| number.to_string())
}

/// The owner of a cell of a direct counter or meter.
fn row(entry: Option<u64>) -> String {
    entry.map_or_else(|| "the default action".to_owned(), |entry| format!("entry {entry}"))
}

fn color(colour: Option<u8>) -> &'static str {
    match colour {
        None => "no such cell",
        Some(0) => "green",
        Some(1) => "yellow",
        Some(_) => "red",
    }
}

impl Observer for Journey {
    fn decision(&mut self, decision: Decision) {
        self.depth = 1;
        let (step, text, detail) = decided(decision);
        self.passes += usize::from(matches!(decision, Decision::IngressStarts { .. }));
        self.line(1, Span::NONE, step, text, detail);
    }

    fn finish(&mut self, tables: &TableSet, _now_ns: u64) {
        for line in &mut self.lines {
            if let Some((table, handle)) = line.entry.take() {
                let entry = self.described.entry_of(table, tables, handle);
                line.text += &entry;
                line.detail.insert("entry".to_owned(), json!(entry));
            }
        }
    }
}

fn decided(decision: Decision) -> (&'static str, String, Map<String, Value>) {
    match decision {
        Decision::IngressStarts { port, bytes, kind } => {
            let text = format!("ingress: port {port}, {bytes} bytes, {kind}");
            ("ingress", text, detail!("port": port, "bytes": bytes, "kind": kind))
        }
        Decision::EgressStarts { port, rid, kind } => {
            let text = format!("egress: port {port}, replica {rid}, {kind}");
            ("egress", text, detail!("port": port, "replica": rid, "kind": kind))
        }
        Decision::Unicast { port } => ("queued", format!("=> queued to port {port}"), detail!("port": port)),
        Decision::Transmitted { port, bytes } => {
            ("sent", format!("=> sent on port {port}, {bytes} bytes"), detail!("port": port, "bytes": bytes))
        }
        Decision::Dropped(reason) => ("dropped", format!("=> {}", reason.describe()), detail!("reason": reason.name())),
        other => ("decision", other_decision(other), Map::new()),
    }
}

fn other_decision(decision: Decision) -> String {
    match decision {
        Decision::Multicast { group, replicas } => format!("=> multicast group {group}: {replicas} copies"),
        Decision::Cloned { session, copies: Some(copies) } => {
            format!("=> cloned to session {session}: {copies} copies")
        }
        Decision::Cloned { session, copies: None } => {
            format!("=> clone session {session} is not configured: no copy")
        }
        Decision::ClonedToIngress => "=> a copy goes through ingress".to_owned(),
        Decision::Resubmitted => "=> resubmitted".to_owned(),
        Decision::Recirculated => "=> recirculated".to_owned(),
        Decision::Gathered { buffer, packets } => {
            format!("=> waits in coalescing buffer {buffer}, packet {packets} of it")
        }
        Decision::BufferLeaves { buffer, packets } => {
            format!("=> coalescing buffer {buffer} leaves: {packets} packets become one")
        }
        Decision::Scattered { records } => format!("=> taken apart: {records} records"),
        Decision::NotScattered => "=> not made of such records: goes through ingress as it was".to_owned(),
        shown => format!("=> {shown:?}"),
    }
}
