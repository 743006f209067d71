//! `wirespeed ctl trace`: packets as they arrive at a running switch, traced here.
//!
//! What enters: snapshots of the switch, packets, the fields that they must have. What leaves: the bytes that the
//! switch searches for in packets, and the journeys of those that have the fields. A field can be at any offset,
//! depending on the parser, so the switch searches the whole packet for its bytes, and the interpreter checks whether
//! they are the field's.

use super::journey::Journey;
use super::replica::{Original, unknown};
use super::{Sent, story};
use crate::args::{DEVICE_ID, SourceArguments, SwitchArguments};
use base::{Bits, FieldMatch, MatchKind};
use control::store::Saved;
use control::{Problem, names};
use ctl::engine::{self, PacketTracer, Surroundings};
use ctl::plan::Traced;
use ctl::{Options, Plan, Session, Tls};
use ir::{FieldType, HeaderId, Program};
use p4runtime_proto::wirespeed::v1::{TapPacket, TapPattern};
use std::sync::Arc;
use switch::Switch;
use switch::tap::PATTERN_BYTES_MAX;
use values::ValueTarget;

/// The journey of the next packet that arrives at the switch with this address for controllers.
pub fn next_packet(address: &str, tls: Option<Tls>) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let address = address.to_owned();
    let options = Options { address, device_id: DEVICE_ID, any_device: true, tls, ..Options::default() };
    let mut lines = Vec::new();
    let mut tracer = TapTracer::new(false);
    let traced = runtime.block_on(async {
        let mut session = Session::connect(options).await?;
        let mut around = Surroundings {
            json: false,
            is_interactive: false,
            out: &mut |line| lines.push(line.to_owned()),
            note: &mut |_| (),
            load: &|_| Err(Problem::new("no program is loaded here")),
            stop: &mut std::future::pending(),
            tracer: Some(&mut tracer),
        };
        let wanted = Plan::Trace(Traced { count: 1, ..Traced::default() });
        engine::carry_out(&mut session, wanted, &mut around).await
    });
    traced.map_err(|failure| failure.to_string())?;
    Ok(lines)
}

/// Traces packets of a running switch.
#[derive(Default)]
pub struct TapTracer {
    /// Lines of JSON.
    json: bool,
    /// The fields that packets must have, as written.
    fields: Vec<(String, String)>,
    conditions: Vec<Condition>,
    original: Option<Original>,
    switch: Option<Switch>,
    /// Packets that were shown.
    count: usize,
}

impl TapTracer {
    /// A tracer that writes text, or JSON.
    pub fn new(json: bool) -> TapTracer {
        TapTracer { json, ..TapTracer::default() }
    }

    /// Continues with the program of a snapshot.
    fn take_program(&mut self, saved: &Saved) -> Result<(), Problem> {
        if self.original.as_ref().is_some_and(|original| original.is_of(saved)) {
            return Ok(());
        }
        let original = Original::of(saved)?;
        let program = &original.described.program;
        if !program.extern_functions.is_empty() {
            let message = "the program has extern functions of its own, whose plug-ins only the switch has";
            let help = "`wirespeed trace --from HOST:PORT --extern LIB.so` traces packets that it is given";
            return Err(Problem::new(message).with_help(help));
        }
        let conditions = self.fields.iter().map(|(name, value)| Condition::of(program, name, value));
        self.conditions = conditions.collect::<Result<_, Problem>>()?;
        self.original = Some(original);
        Ok(())
    }
}

impl PacketTracer for TapTracer {
    fn begin(&mut self, program: Vec<Box<[u8]>>, fields: &[(String, String)]) -> Result<Vec<TapPattern>, Problem> {
        self.fields = fields.to_vec();
        self.original = None;
        self.take_program(&Saved::of_records(program))?;
        let Some(original) = &self.original else { return Ok(Vec::new()) };
        Ok(self.conditions.iter().map(|condition| condition.pattern(&original.described.program)).collect())
    }

    fn unknown(&self) -> Vec<&'static str> {
        self.original.as_ref().map_or(Vec::new(), |original| unknown(&original.described.program))
    }

    fn take_state(&mut self, records: Vec<Box<[u8]>>) -> Result<(), Problem> {
        let saved = Saved::of_records(records);
        self.take_program(&saved)?;
        let Some(original) = &self.original else { return Ok(()) };
        let options = SwitchArguments::plain(SourceArguments::plain(), Vec::new());
        // What a snapshot lacks, the switch has said when it began.
        self.switch = Some(original.switch(&saved, &options, |_| ())?);
        Ok(())
    }

    fn trace(&mut self, packet: &TapPacket) -> Vec<String> {
        let (Some(original), Some(switch)) = (&self.original, &mut self.switch) else { return Vec::new() };
        let mut journey = Journey::new(Arc::clone(&original.described));
        let mut sent = Sent::default();
        let now_ns = packet.time_ns.max(switch.now_ns());
        switch.receive(now_ns, packet.port, &packet.packet);
        switch.run_observed(now_ns, &mut sent, &mut journey);
        let is_wanted = |it: &Condition| journey.has_field(&it.headers, it.field, (&it.value, &it.mask));
        if !self.conditions.iter().all(is_wanted) {
            return Vec::new();
        }
        self.count += 1;
        let mut lines = Vec::new();
        if !self.json && self.count > 1 {
            lines.push(String::new());
        }
        lines.extend(story(self.json, self.count, (packet.port, packet.packet.len(), None), &journey, &sent));
        lines
    }
}

/// A field that packets must have.
struct Condition {
    /// The headers that may have it: one, or the elements of a stack.
    headers: Vec<HeaderId>,
    /// The field in each of them.
    field: usize,
    value: Bits,
    mask: Bits,
}

impl Condition {
    fn of(program: &Program, name: &str, value: &str) -> Result<Condition, Problem> {
        let fields = fields(program);
        let known: Vec<&str> = fields.iter().map(|(name, ..)| name.as_str()).collect();
        let (name, headers, field) = &fields[names::find("field", "fields", name, &known, "the program")?];
        let ty = &program.header_types[program.headers[headers[0]].ty].fields[*field];
        let FieldType::Fixed(ty) = ty.ty else {
            return Err(Problem::new(format!("field {name} has no fixed width")));
        };
        let target = ValueTarget { role: "field", name, ty };
        let has_mask = value.contains("&&&") || value.contains('/');
        let kind = if has_mask { MatchKind::Ternary } else { MatchKind::Exact };
        let (value, mask) = match values::entry_key(value, &target, kind)? {
            FieldMatch::Ternary { value, mask } => (value, mask),
            FieldMatch::Exact(value) => {
                let mask = Bits::ones(value.width());
                (value, mask)
            }
            _ => return Err(Problem::new(format!("field {name} needs VALUE, VALUE/PREFIX or VALUE&&&MASK"))),
        };
        Ok(Condition { headers: headers.clone(), field: *field, value, mask })
    }

    /// The bytes that are in every packet with the field.
    fn pattern(&self, program: &Program) -> TapPattern {
        let ty = &program.header_types[program.headers[self.headers[0]].ty];
        // Headers, and a varbit field within, have whole bytes.
        let before_bits = ty.offset_bits(self.field) % 8;
        let bytes = (before_bits + self.value.width()).div_ceil(8) as usize;
        let [value, mask] = [self.value.and(&self.mask), self.mask.clone()].map(|bits| {
            let mut all = vec![0; bytes];
            bits.to_packet(&mut all, before_bits as usize);
            all.truncate(PATTERN_BYTES_MAX);
            all
        });
        TapPattern { value, mask, offset: None }
    }
}

/// All fields of a program's headers by name: `hdr.ipv4.dstAddr`, `hdr.mpls[0].label`, and `hdr.mpls.label` for any
/// element of a stack.
fn fields(program: &Program) -> Vec<(String, Vec<HeaderId>, usize)> {
    let mut found: Vec<(String, Vec<HeaderId>, usize)> = Vec::new();
    let headers = program.headers.iter_enumerated().filter(|(_, header)| header.metadata);
    for (id, header) in headers {
        for (position, field) in program.header_types[header.ty].fields.iter().enumerate() {
            let name = format!("{}.{}", header.name, field.name);
            found.push((name, vec![id], position));
            if let Some((stack, _)) = header.name.rsplit_once('[').filter(|_| header.name.ends_with(']')) {
                let name = format!("{stack}.{}", field.name);
                match found.iter_mut().find(|(known, ..)| *known == name) {
                    Some((_, headers, _)) => headers.push(id),
                    None => found.push((name, vec![id], position)),
                }
            }
        }
    }
    found
}
