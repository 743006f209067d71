//! `wirespeed trace`: a packet's journey through a program, from the reference interpreter.

use crate::Exit;
use crate::args::TraceArguments;
use crate::backend;
use crate::frontend::{self, Compiled};
use crate::terminal::{self, say};
use crate::test;
use base::index::Id as _;
use base::{Bits, Span};
use control::show;
use interp::{Event, HeaderState, Tracer};
use ir::{HeaderRef, Place, Program, TableId, Target};
use live::pcap::CaptureDriver;
use live::{Driver as _, DriverError};
use std::path::Path;
use std::sync::Arc;
use stf::{Command, Script};
use switch::traffic::port_max;
use switch::{Backend, Decision, Observer, Output, Switch};
use syntax::SourceMap;
use tables::Handle;

/// Sends packets through a switch in the interpreter, one at a time, and prints what happens to each.
pub fn trace(arguments: &TraceArguments) -> Result<Exit, Exit> {
    let (packets, broken) = packets(arguments)?;
    // The program as it was written: the passes would hide steps.
    let compiled = frontend::load(&arguments.file, &arguments.switch.source, false)?;
    let Compiled { map, program } = compiled;
    let program = Arc::new(program);
    let mut switch = backend::build(Arc::clone(&program), Backend::Interpreter, &arguments.switch)?;
    if let Some(file) = &arguments.stf {
        trace_script(&test::load_script(file)?, &mut switch, &map);
        return Ok(Exit::Success);
    }
    let greatest = port_max(program.architecture);
    for (number, packet) in packets.iter().enumerate() {
        if packet.port > greatest {
            terminal::error(format!("`{}` is no port number from 0 to {greatest}", packet.port));
            return Err(Exit::Usage);
        }
        if number > 0 {
            say!();
        }
        say!("packet {}: {} bytes on port {}", number + 1, packet.bytes.len(), packet.port);
        let mut journey = Journey::new(&program, &map);
        switch.receive(packet.time_ns, packet.port, &packet.bytes);
        let mut sent = Sent::default();
        switch.run_observed(packet.time_ns, &mut sent, &mut journey);
        journey.print(&switch);
        sent.print();
    }
    match broken {
        None => Ok(Exit::Success),
        Some(error) => {
            terminal::error(&error);
            Err(Exit::of_port_error(&error))
        }
    }
}

/// Carries the commands of a packet test out, and prints what happens to each packet.
fn trace_script(script: &Script, switch: &mut Switch, map: &SourceMap) {
    let program = Arc::clone(switch.program());
    let mut packets = 0;
    let mut before = |line: u32, command: &Command| {
        if let Command::Packet { port, bytes } = command {
            if packets > 0 {
                say!();
            }
            packets += 1;
            say!("packet {packets} ({}:{line}): {} bytes on port {port}", script.file, bytes.len());
        }
    };
    let mut work = |switch: &mut Switch, now_ns: u64, output: &mut dyn Output| {
        let mut journey = Journey::new(&program, map);
        let mut both = Both { output, sent: Sent::default() };
        switch.run_observed(now_ns, &mut both, &mut journey);
        if !journey.lines.is_empty() {
            journey.print(switch);
            both.sent.print();
        }
    };
    let outcome = stf::run_watched(script, switch, &mut before, &mut work);
    say!("\n{}", outcome.report);
}

/// Passes packets on and keeps them.
struct Both<'a> {
    output: &'a mut dyn Output,
    sent: Sent,
}

impl Output for Both<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        self.output.transmit(port, frame, time_ns);
        self.sent.transmit(port, frame, time_ns);
    }

    fn digest(&mut self, digest: ir::DigestId, values: Vec<Bits>) {
        self.output.digest(digest, values);
    }

    fn log(&mut self, line: &str) {
        self.output.log(line);
    }

    fn assertion_failed(&mut self, text: &str) {
        self.output.assertion_failed(text);
    }
}

struct InputPacket {
    port: u32,
    bytes: Vec<u8>,
    time_ns: u64,
}

/// The packets that the arguments name, those of the command line first, and what is wrong with the capture behind the
/// last of them.
fn packets(arguments: &TraceArguments) -> Result<(Vec<InputPacket>, Option<DriverError>), Exit> {
    let usage = |message: String| {
        terminal::error(message);
        Exit::Usage
    };
    let mut packets = Vec::new();
    for text in &arguments.packets {
        let (port, bytes) = parse_packet(text).map_err(usage)?;
        packets.push(InputPacket { port, bytes, time_ns: 0 });
    }
    let Some(text) = &arguments.pcap else { return Ok((packets, None)) };
    let form = "write PORT=FILE, as in 1=in.pcap";
    let (port, file) = text.split_once('=').ok_or_else(|| usage(format!("`{text}` has no port; {form}")))?;
    let port = parse_port(port, form).map_err(usage)?;
    let mut driver = CaptureDriver::open(Some(Path::new(file)), None).map_err(|error| {
        terminal::error(error);
        Exit::System
    })?;
    let broken = read_capture(&mut driver, port, arguments.count, &mut packets).err();
    Ok((packets, broken))
}

/// A port. `parse` would take a sign; a port number has none.
fn parse_port(text: &str, form: &str) -> Result<u32, String> {
    let text = text.trim();
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| format!("`{text}` is no port number; {form}"))
}

/// `PORT:HEX`, white space between digits allowed.
fn parse_packet(text: &str) -> Result<(u32, Vec<u8>), String> {
    let form = "write PORT:HEX, as in 1:ffffffffffff0000000000010806";
    let (port, digits) = text.split_once(':').ok_or_else(|| format!("`{text}` has no port; {form}"))?;
    let port = parse_port(port, form)?;
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("the packet has {} hexadecimal digits; a byte has two", digits.len()));
    }
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        pair.bytes().all(|it| it.is_ascii_hexdigit()).then(|| u8::from_str_radix(pair, 16).ok())?
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    Ok((port, bytes.ok_or_else(|| format!("the packet is not hexadecimal; {form}"))?))
}

/// Appends the first `count` packets of a capture; those before an error, too.
fn read_capture(
    driver: &mut CaptureDriver,
    port: u32,
    count: usize,
    packets: &mut Vec<InputPacket>,
) -> Result<(), DriverError> {
    let end = packets.len().saturating_add(count);
    while packets.len() < end && !driver.exhausted() {
        driver.receive(1, &mut |frame, time_ns| packets.push(InputPacket { port, bytes: frame.to_vec(), time_ns }))?;
    }
    Ok(())
}

/// What left the switch.
#[derive(Default)]
struct Sent {
    frames: Vec<(u32, Vec<u8>)>,
}

impl Sent {
    fn print(&self) {
        if self.frames.is_empty() {
            say!("  nothing was sent");
        }
        for (port, frame) in &self.frames {
            let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
            say!("  out on port {port}: {hex}");
        }
    }
}

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.frames.push((port, frame.to_vec()));
    }
}

/// A line of the story. An entry is looked up for its text when the packet is through.
struct Line {
    depth: usize,
    text: String,
    place: String,
    entry: Option<(TableId, Handle)>,
}

/// Collects the story of one packet.
struct Journey<'a> {
    program: &'a Program,
    map: &'a SourceMap,
    lines: Vec<Line>,
    depth: usize,
    /// The block that runs.
    block: Option<ir::BlockId>,
}

/// Where the places of the source begin.
const PLACE_COLUMN: usize = 88;

impl<'a> Journey<'a> {
    fn new(program: &'a Program, map: &'a SourceMap) -> Journey<'a> {
        Journey { program, map, lines: Vec::new(), depth: 1, block: None }
    }
}

impl Journey<'_> {
    fn line(&mut self, depth: usize, span: Span, text: String) {
        let place = match self.map.location(span.lo) {
            Some(location) if !span.is_none() => {
                let file = Path::new(&*location.file).file_name().map(|name| name.to_string_lossy().into_owned());
                format!("{}:{}", file.unwrap_or_default(), location.line)
            }
            _ => String::new(),
        };
        self.lines.push(Line { depth, text, place, entry: None });
    }

    fn print(&self, switch: &Switch) {
        for line in &self.lines {
            let mut text = format!("{}{}", "  ".repeat(line.depth), line.text);
            if let Some((table, handle)) = line.entry {
                let tables = switch.tables();
                let stored = &tables.tables()[table.index()];
                let entry = stored.get(handle).map(|entry| show::entry(stored, entry, |priority| priority));
                text += &entry.unwrap_or_default();
            }
            if line.place.is_empty() {
                say!("{text}");
            } else {
                say!("{text:<PLACE_COLUMN$}  {}", line.place);
            }
        }
    }

    fn header_name(&self, header: &HeaderRef) -> String {
        match header {
            HeaderRef::Fixed(id) => self.program.headers[*id].name.clone(),
            HeaderRef::Element { stack, .. } => format!("{}[...]", self.program.stacks[*stack].name),
            HeaderRef::Next(stack) => format!("{}.next", self.program.stacks[*stack].name),
            HeaderRef::Last(stack) => format!("{}.last", self.program.stacks[*stack].name),
        }
    }

    fn place_name(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => self.program.vars[*var].name.clone(),
            Place::Field(header, field) => {
                let ty = match header {
                    HeaderRef::Fixed(id) => self.program.headers[*id].ty,
                    HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                        self.program.headers[self.program.stacks[*stack].elements[0]].ty
                    }
                };
                let field = &self.program.header_types[ty].fields[*field as usize].name;
                format!("{}.{field}", self.header_name(header))
            }
            Place::Slice { base, high, low } => format!("{}[{high}:{low}]", self.place_name(base)),
        }
    }

    fn fields(&self, header: ir::HeaderId, contents: &HeaderState) -> String {
        let ty = &self.program.header_types[self.program.headers[header].ty];
        let field = |(field, value): (&ir::HeaderField, &Bits)| format!("{}={value}", field.name);
        ty.fields.iter().zip(&contents.fields).map(field).collect::<Vec<_>>().join(" ")
    }

    fn error_name(&self, error: u64) -> &str {
        self.program.errors.get(error as usize).map_or("an unknown error", |name| name)
    }

    fn target_name(&self, target: Target) -> String {
        let block = self.block.map(|block| &self.program.blocks[block].kind);
        match (target, block) {
            (Target::Accept, _) => "accept".to_owned(),
            (Target::State(state), Some(ir::BlockKind::Parser { states, .. })) => states[state].name.clone(),
            _ => "reject".to_owned(),
        }
    }
}

fn list(values: &[Bits]) -> String {
    values.iter().map(Bits::to_string).collect::<Vec<_>>().join(", ")
}

impl Tracer for Journey<'_> {
    fn event(&mut self, span: Span, event: Event<'_>) {
        let program = self.program;
        match event {
            Event::BlockEntered(block) => {
                self.depth = 2;
                self.block = Some(block);
                self.line(1, Span::NONE, program.blocks[block].name.clone());
            }
            Event::StateEntered { block, state } => {
                if let ir::BlockKind::Parser { states, .. } = &program.blocks[block].kind {
                    self.line(2, span, format!("state {}", states[state].name));
                }
                self.depth = 3;
            }
            Event::TableApplied { table, keys, lookup } => {
                let declared = &program.tables[table];
                let named = declared.keys.iter().zip(keys).map(|(key, value)| format!("{}={value}", key.name));
                let keys: Vec<String> = named.collect();
                self.line(2, span, format!("table {} {}", declared.name, keys.join(" ")));
                self.depth = 2;
                match lookup.entry {
                    Some(entry) => {
                        self.line(3, Span::NONE, "hit entry ".to_owned());
                        let handle = Handle(entry as u32);
                        self.lines.last_mut().into_iter().for_each(|line| line.entry = Some((table, handle)));
                    }
                    None => self.line(3, Span::NONE, "miss".to_owned()),
                }
            }
            Event::ActionEntered { action, args } => {
                let action = &program.actions[action];
                let params = action.params.iter().zip(args);
                let named: Vec<String> =
                    params.map(|(&param, value)| format!("{}={value}", program.vars[param].name)).collect();
                self.line(2, span, format!("action {}({})", action.name, named.join(", ")));
                self.depth = 3;
            }
            other => {
                if let Some(text) = self.step(other) {
                    self.line(self.depth, span, text);
                }
            }
        }
    }
}

impl Journey<'_> {
    /// A step within a state, a control or an action.
    fn step(&self, event: Event<'_>) -> Option<String> {
        let program = self.program;
        Some(match event {
            Event::Extracted { header, contents, offset_bytes } => {
                let name = &program.headers[header].name;
                format!("extract {name} at byte {offset_bytes}: {}", self.fields(header, contents))
            }
            Event::Advanced { bytes } => format!("skip {bytes} bytes"),
            Event::Selected { keys, chosen: Some((_, target)) } => {
                format!("select {} -> {}", list(keys), self.target_name(target))
            }
            Event::Selected { keys, chosen: None } => format!("select {}: no case matches", list(keys)),
            Event::ParserError { error } => format!("parser error {}", self.error_name(error)),
            Event::ParserDone { accepted } => if accepted { "accept" } else { "reject" }.to_owned(),
            Event::DirectCounted { counter, entry } => {
                format!("counter {} counts {}", program.direct_counters[counter].name, row(entry))
            }
            Event::DirectMetered { meter, entry, colour } => {
                format!("meter {} at {}: {}", program.direct_meters[meter].name, row(entry), color(Some(colour)))
            }
            Event::Assigned { place, value } => format!("{} = {value}", self.place_name(place)),
            Event::VarSet { .. } | Event::Left { .. } => return None,
            Event::ValiditySet { header, valid } => {
                let name = &program.headers[header].name;
                format!("{name} becomes {}", if valid { "valid" } else { "invalid" })
            }
            Event::HeaderCopied { dst, src } => {
                let source = src.map_or("an invalid header", |src| &program.headers[src].name);
                format!("{} = {source}", program.headers[dst].name)
            }
            Event::VarbitCopied { header, field, value } => {
                let name = &program.header_type(&HeaderRef::Fixed(header)).fields[field as usize].name;
                format!("{}.{name} = {value}", program.headers[header].name)
            }
            Event::StackMoved { stack, count, up } => {
                let name = &program.stacks[stack].name;
                format!("{name}.{}({count})", if up { "push_front" } else { "pop_front" })
            }
            Event::Branched { taken } => format!("if: {taken}"),
            Event::Switched { value, case } => match case {
                Some(case) => format!("switch {value}: case {case}"),
                None => format!("switch {value}: default"),
            },
            Event::LoopExhausted { .. } => "the loop is ended: too many iterations".to_owned(),
            Event::Emitted { header, bytes } => format!("emit {}: {} bytes", program.headers[header].name, bytes.len()),
            Event::EmitSkipped { .. } => return None,
            other => return self.extern_step(other),
        })
    }

    /// A step of an extern instance.
    fn extern_step(&self, event: Event<'_>) -> Option<String> {
        let program = self.program;
        Some(match event {
            Event::RegisterRead { register, index, value } => {
                let value = value.map_or_else(|| "no such cell".to_owned(), Bits::to_string);
                format!("read {}[{index}]: {value}", program.registers[register].name)
            }
            Event::RegisterWritten { register, index, value } => {
                format!("write {}[{index}] = {value}", program.registers[register].name)
            }
            Event::Counted { counter, index } => format!("count {}[{index}]", program.counters[counter].name),
            Event::Metered { meter, index, colour } => {
                format!("meter {}[{index}]: {}", program.meters[meter].name, color(colour))
            }
            Event::Hashed { algorithm, bytes, value } => {
                format!("{algorithm:?} over {} bytes: {value}", bytes.len())
            }
            Event::Digested { digest, values } => format!("digest {}: {}", program.digests[digest].name, list(values)),
            Event::Logged { message } => format!("log: {message}"),
            Event::ExternCalled { function, inputs, outputs } => {
                let gives = if outputs.width() == 0 { String::new() } else { format!(" gives {outputs}") };
                format!("call {}({}){gives}", program.extern_functions[function].symbol, list(inputs))
            }
            Event::AssertFailed { text } => format!("assertion failed: {text}"),
            _ => return None,
        })
    }
}

/// Whose cell of a direct counter or meter is meant.
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

impl Observer for Journey<'_> {
    fn decision(&mut self, decision: Decision) {
        self.depth = 1;
        let text = match decision {
            Decision::IngressStarts { port, bytes, kind } => {
                format!("ingress: port {port}, {bytes} bytes, {kind}")
            }
            Decision::Unicast { port } => format!("=> queued to port {port}"),
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
            Decision::Gathered { pile, packets } => format!("=> waits in pile {pile}, packet {packets} of it"),
            Decision::PileLeaves { pile, packets } => format!("=> pile {pile} leaves: {packets} packets become one"),
            Decision::Scattered { records } => format!("=> taken apart: {records} records"),
            Decision::NotScattered => "=> not made of such records: goes through ingress as it was".to_owned(),
            Decision::EgressStarts { port, rid, kind } => {
                format!("egress: port {port}, replica {rid}, {kind}")
            }
            Decision::Transmitted { port, bytes } => format!("=> sent on port {port}, {bytes} bytes"),
            Decision::Dropped(reason) => format!("=> {}", reason.describe()),
        };
        self.line(1, Span::NONE, text);
    }
}
