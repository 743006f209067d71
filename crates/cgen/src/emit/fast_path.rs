//! The fast path as one function over a burst: parser, controls and deparser without a stop between them.
//!
//! The parser comes before the first batch stage, the deparser where packets end. Variables of at most 64 bits are C
//! variables; those that are live across stages are spilled to the packet's context. Before a packet is punted, all
//! that the core needs to continue with it is written back.

use super::Emitter;
use super::control::emit_graph;
use super::deparser::Emits;
use super::replica;
use super::scope::{Known, Scope, valid_word};
use crate::ctree;
use crate::plan::fast_path::{Entry, Exit, FastPath, advances};
use crate::plan::{MOVED_BIT, Plan};
use ir::Source;
use ir::{BlockKind, HeaderId, HeaderRef, VarId, VarKind};
use lir::{
    Expr as C, StatePart, Stmt as S, Type, arrow, assign, binary, call, cast, conditional, constant, declare, index,
    int, long, name, unary,
};

/// The name of the struct of a packet's saved state, where packets are processed in place.
pub(crate) fn saved_name(fast_path: &FastPath) -> &'static str {
    match fast_path.entry {
        Entry::Parser => "saved",
        Entry::Again => "saved_of_pass",
        Entry::Queues => "saved_of_replica",
    }
}

/// The name of the struct of spilled variables.
pub(crate) fn spilled_name(fast_path: &FastPath) -> &'static str {
    match fast_path.entry {
        Entry::Parser => "spilled_on_fast_path",
        Entry::Again => "spilled_of_pass",
        Entry::Queues => "spilled_of_replica",
    }
}

/// The C constant with the valid bits of the headers that the parser has extracted, in the stage of the parser.
pub(crate) const EXTRACTED: &str = "extracted";

/// What a punted packet adds to [`UNSENT`].
pub(crate) const PUNTS: &str = "WS_PUNTS";

/// The sum of the verdicts: how many packets are not sent, by reason.
pub(crate) const UNSENT: &str = "exceptions";

/// A batch stage of the fast path.
#[derive(Clone, Copy)]
pub(crate) struct PathStage<'s> {
    pub(crate) fast_path: &'s FastPath,
    pub(crate) stage: usize,
}

/// The function of a burst.
pub(crate) const BURST_HEAD: &str = "uint32_t fast_path_burst(const struct ws_env *env WS_UNUSED, \
    struct ws_packet *const *packets WS_UNUSED, struct ws_frame *frames WS_UNUSED, \
    const struct ws_frame *coming WS_UNUSED, uint32_t count, uint32_t *verdicts)";

/// The function that the core calls.
pub(crate) const HEAD: &str = "uint64_t ws_fast_path(const struct ws_env *env, struct ws_packet *const *packets, \
    struct ws_frame *frames, uint32_t count, uint32_t *verdicts)";

/// The same for packets on a further pass.
pub(crate) const AGAIN_BURST_HEAD: &str = "uint32_t again_burst(const struct ws_env *env WS_UNUSED, \
    struct ws_packet *const *packets WS_UNUSED, struct ws_frame *frames WS_UNUSED, \
    const struct ws_frame *coming WS_UNUSED, uint32_t count, uint32_t *verdicts)";

/// The function that the core calls for these.
pub(crate) const AGAIN_HEAD: &str = "uint64_t ws_again_path(const struct ws_env *env, \
    struct ws_packet *const *packets, struct ws_frame *frames, uint32_t count, uint32_t *verdicts)";

/// Its body: the packets go through the function of a burst in bursts.
pub(crate) fn all_bursts(plan: &Plan, burst: &str) -> Vec<ctree::Stmt> {
    use ctree::{int, name};
    let stops = int(u32::from(plan.stops_at_punt()));
    let mut arguments = vec![name(burst), int(plan.fast_path_burst_max()), stops];
    arguments.extend(["env", "packets", "frames", "count", "verdicts"].map(name));
    vec![ctree::Stmt::Return(ctree::call("ws_bursts", arguments))]
}

/// The body of the function of a burst.
pub(crate) fn emit(emitter: &Emitter<'_>, fast_path: &FastPath) -> Vec<ctree::Stmt> {
    let words = |table| emitter.plan.cut_words(table);
    let graph = fast_path.graph(emitter.program, &words);
    emit_graph(emitter, fast_path.deparser, &graph, Some(fast_path))
}

/// The statements before the stages.
pub(crate) fn before_packets(emitter: &Emitter<'_>, fast_path: &FastPath) -> Vec<S> {
    let mut out = emits(emitter, fast_path).map_or(Vec::new(), |emits| emits.before_packets());
    if fast_path.is_of_replicas() {
        out.extend(replica::of_packet(emitter, fast_path));
    }
    out.push(declare(Type::U32, UNSENT, int(0)));
    out
}

/// What the deparser emits, if it is needed.
fn emits(emitter: &Emitter<'_>, fast_path: &FastPath) -> Option<Emits> {
    let is_needed = !fast_path.keeps_headers && !fast_path.moves;
    is_needed.then(|| Emits::of(emitter.program, &fast_path.emission(emitter.program)))
}

/// Whether emitted headers are copied when they are emitted.
pub(crate) fn copies_emitted(emitter: &Emitter<'_>, fast_path: &FastPath) -> bool {
    emits(emitter, fast_path).is_some_and(|emits| emits.staged)
}

impl Scope<'_, '_> {
    /// The start of the first stage: variables get the values that they have when a packet was received, and the packet
    /// is parsed.
    pub(crate) fn begin_path(&mut self) {
        let Some(path) = self.path else { return };
        if path.fast_path.is_of_replicas() {
            return self.begin_replica(path);
        }
        let program = self.emitter.program;
        if path.fast_path.in_place {
            let coming = arrow(binary("+", name("coming"), name("i")), "bytes");
            self.push(S::Eval(call("__builtin_prefetch", vec![coming])));
        }
        for &var in path.fast_path.spilled.keys() {
            if program.vars[var].ty.width() <= 64
                && let Some(value) = self.at_start(var)
            {
                self.known.vars.insert(var, value);
            }
        }
        for (id, var) in program.vars.iter_enumerated() {
            if self.is_saved_wide(id) {
                let (place, width) = (self.place_to_write(id), int(var.ty.width()));
                self.push(S::Eval(match path.fast_path.carries(program, id) {
                    true => call("ws_wide_copy", vec![place, self.carried(id), width]),
                    false => call("ws_wide_zero", vec![place, width]),
                }));
            }
        }
        if let BlockKind::Parser { start, states, error } = &program.blocks[path.fast_path.parser].kind {
            self.parse_first(*start, states, *error);
        }
    }

    /// The end of the path: the packet is deparsed and sent.
    pub(crate) fn end_path(&mut self) {
        let Some(path) = self.path else { return };
        if let Some(emits) = emits(self.emitter, path.fast_path) {
            self.deparses = true;
            self.push(emits.finish(self.emitter));
        }
        if path.fast_path.moves && !self.leaves_in_layout() {
            let put = self.take(Self::prepend_emitted);
            let unemitted = path.fast_path.unemitted.iter().filter(|&&header| !self.is_surely_invalid(header));
            let unemitted = unemitted.fold(0, |bits, &header| bits | 1 << self.emitter.plan.headers[header].bit);
            if self.known.as_parsed && unemitted == 0 {
                // No header was added or removed.
            } else if path.fast_path.may_stay {
                let mut changed = if path.fast_path.is_of_replicas() {
                    binary("||", unary("!", name(replica::STAYS)), self.differs_from(C::Name(replica::valid_name(0))))
                } else {
                    let parsed = self.parsed_word();
                    self.differs_from(parsed)
                };
                if unemitted != 0 {
                    changed = binary("||", changed, binary("!=", binary("&", valid_word(0), long(unemitted)), long(0)));
                }
                self.push(S::If(changed, put, Vec::new()));
            } else {
                self.push(S::Block(put));
            }
        }
        if let Some(truncated) = path.fast_path.truncated {
            self.truncate(truncated);
        }
        let port = cast(Type::U32, self.var_place(path.fast_path.egress_port));
        if path.fast_path.keeps_headers || path.fast_path.moves {
            self.verdict(port);
        } else {
            let is_too_long = binary("&", arrow(name("p"), "flags"), name("WS_FLAG_NO_SPACE"));
            let drops = conditional(is_too_long.clone(), name("WS_DROPS_TOO_LONG"), int(0));
            self.push(S::Assign(name(UNSENT), "+=", drops));
            self.verdict(conditional(is_too_long, name("WS_DROP_TOO_LONG"), port));
        }
    }

    /// Whether other headers than `valid` are valid, or one was relocated.
    fn differs_from(&self, valid: C) -> C {
        binary("!=", valid_word(0), valid)
    }

    /// Leaves the fast path before its end.
    pub(crate) fn leave_path(&mut self, exit: Exit) {
        match exit {
            Exit::DropIngress => self.end_with_verdict("WS_DROP_INGRESS", "WS_DROPS_INGRESS"),
            Exit::DropEgress => self.end_with_verdict("WS_DROP_EGRESS", "WS_DROPS_EGRESS"),
            Exit::PuntIngress => self.punt("WS_PUNT_INGRESS"),
            Exit::PuntEgress => self.punt("WS_PUNT_EGRESS"),
        }
    }

    fn punt(&mut self, verdict: &str) {
        self.leave_with(None);
        self.write_back_all();
        self.end_with_verdict(verdict, PUNTS);
    }

    /// Ends the packet's run with this verdict, and counts it under `number`.
    pub(crate) fn end_with_verdict(&mut self, verdict: &str, number: &str) {
        self.push(S::Assign(name(UNSENT), "+=", name(number)));
        if number == PUNTS && self.path.is_some_and(|path| path.fast_path.run_to_completion.is_some()) {
            // The packets after it are processed when the core has processed this one.
            self.push(assign(name("count"), binary("+", name("i"), int(1))));
        }
        self.push(if number == PUNTS { S::Punt(name(verdict)) } else { S::End(name(verdict)) });
        self.known = Known::unreachable();
    }

    /// Truncates a packet that is about to leave, if the program has requested that.
    fn truncate(&mut self, var: VarId) {
        let requested = self.var_place(var);
        let requested = self.atom(requested);
        let length = if self.is_in_place() { arrow(name("frame"), "length") } else { arrow(name("p"), "length") };
        let is_requested = binary("!=", requested.clone(), long(0));
        let is_longer = binary(">=", length.clone(), requested.clone());
        let cut = assign(length, cast(Type::U32, binary("-", requested, long(1))));
        self.push(S::If(binary("&&", is_requested, is_longer), vec![cut], Vec::new()));
    }

    fn verdict(&mut self, verdict: C) {
        self.push(S::End(verdict));
        self.known = Known::unreachable();
    }

    /// Writes the variables that the core and later blocks read back to the packet's chunk.
    fn write_back_all(&mut self) {
        let Some(path) = self.path else { return };
        let program = self.emitter.program;
        let context = name(if path.fast_path.in_place { "context" } else { "c" });
        if path.fast_path.in_place {
            let place = cast(Type::Pointer, binary("+", name("p"), int(1)));
            self.push(constant(Type::Context, "context", place));
        }
        let mut known = [false; ir::INTRINSIC_SLOTS];
        for &var in &path.fast_path.written_back {
            let ir_var = &program.vars[var];
            if ir_var.ty.width() > 64 || ir_var.ty.width() == 0 {
                if ir_var.ty.width() > 64 && path.fast_path.in_place {
                    let (place, value) = (arrow(context.clone(), self.emitter.var_name(var)), self.var_place(var));
                    self.push(S::Eval(call("ws_wide_copy", vec![place, value, int(ir_var.ty.width())])));
                }
                continue;
            }
            let value = self.var_place(var);
            match ir_var.kind {
                VarKind::Intrinsic(slot) => {
                    known[slot as usize] = true;
                    self.push(assign(intrinsic(slot), value));
                }
                VarKind::Metadata => {
                    let place = arrow(context.clone(), self.emitter.var_name(var));
                    let value = self.stored(var, value);
                    self.push(assign(place, value));
                }
                VarKind::Local => {}
            }
        }
        for (slot, known) in (0..).zip(known) {
            // Those of a packet on a further pass are in its chunk.
            if !known && !path.fast_path.is_of_passes() {
                let value = self.intrinsic_entering(slot);
                self.push(assign(intrinsic(slot), value));
            }
        }
        self.write_back_headers(path.fast_path, &context);
    }

    /// Writes back where the headers are; if the packet was processed in place, also which are valid, and where the
    /// payload begins.
    fn write_back_headers(&mut self, fast_path: &FastPath, context: &C) {
        let first = || arrow(name("env"), "first_byte");
        if fast_path.moves {
            self.write_back_moving_headers(context);
        }
        for &header in fast_path.headers.keys() {
            let slot = int(self.emitter.plan.headers[header].slot);
            let place = index(arrow(context.clone(), "offset"), slot.clone());
            if fast_path.in_place {
                self.push(assign(place, binary("+", first(), self.offset_entering(header))));
            } else if let Some(offset) = self.fixed_offset(header) {
                self.push(assign(place, offset));
            }
        }
        if fast_path.in_place {
            for word in 0..self.emitter.plan.storage.valid_words {
                let mut bits = valid_word(word);
                if fast_path.may_stay {
                    bits = binary("&", bits, long(!(1 << MOVED_BIT)));
                }
                self.push(assign(index(arrow(context.clone(), "valid"), int(word)), bits));
            }
            if self.emitter.plan.storage.varbits > 0 {
                let [to, from] = [context.clone(), name("c")].map(|whose| arrow(whose, "varbit_bytes"));
                let bytes = call("sizeof", vec![to.clone()]);
                self.push(S::Eval(call("memcpy", vec![to, from, bytes])));
            }
            let payload = binary("+", first(), self.payload_start());
            self.push(assign(arrow(name("p"), "payload"), payload));
        }
    }

    /// Writes back where the valid headers are, and the bytes of those that lie outside of the packet.
    fn write_back_moving_headers(&mut self, context: &C) {
        for (header, slot) in self.emitter.plan.headers.iter_enumerated() {
            let access = self.access(&HeaderRef::Fixed(header));
            let valid = self.valid(&access);
            let (place, offset) = (self.pointer(&access), index(arrow(context.clone(), "offset"), int(slot.slot)));
            let in_packet = cast(Type::U32, binary("-", place.clone(), name("bytes")));
            let in_packet = assign(offset.clone(), binary("+", arrow(name("env"), "first_byte"), in_packet));
            let statements = match slot.home {
                None => vec![in_packet],
                Some(home) => {
                    let bytes = call("ws_at", vec![name("p"), int(home)]);
                    let copy = call("memcpy", vec![bytes, place.clone(), int(self.fixed_bytes(&access))]);
                    let beside = vec![S::Eval(copy), assign(offset, int(home))];
                    vec![S::If(binary("==", place, self.plain_home(header)), beside, vec![in_packet])]
                }
            };
            self.guarded(valid, statements);
        }
    }

    /// The offset of a header that always lies at the same offset of the packet.
    pub(crate) fn fixed_offset(&self, header: HeaderId) -> Option<C> {
        let path = self.path?;
        let before = path.fast_path.bytes_before(header).filter(|_| self.emitter.dynamic_element(header).is_none())?;
        Some(if path.fast_path.in_place { int(before) } else { binary("+", arrow(name("p"), "data"), int(before)) })
    }

    /// The pointer to a header of packets that enter the stage with these known facts.
    pub(crate) fn pointer_entering(&self, header: HeaderId, known: &Known) -> C {
        let parsed = self.path.and_then(|path| path.fast_path.parsed.get(&header)?.at_bytes);
        match parsed.filter(|_| known.in_their_places.contains(&header)) {
            Some(at) => binary("+", name("bytes"), int(at)),
            // It is not used before the header is made valid somewhere.
            None if self.moves() && known.invalid.contains(&header) => name("bytes"),
            None => self.at(self.offset_entering(header)),
        }
    }

    /// The offset of the packet's payload, in place.
    pub(crate) fn payload_start(&self) -> C {
        if let Some(bytes) = self.bytes_extracted() {
            return int(bytes);
        }
        if self.has_parsed() {
            return name("cursor");
        }
        C::Saved(StatePart::Payload)
    }

    /// The offset of the bytes that stay where they are whatever headers are emitted: those of the headers of the tail,
    /// or of the payload.
    pub(crate) fn start_of_what_stays(&mut self) -> C {
        let Some(path) = self.path.filter(|path| !path.fast_path.tail.is_empty()) else { return self.payload_start() };
        let parsed = self.parsed_word();
        let parsed = self.atom(parsed);
        let mut start = int(0);
        for header in path.fast_path.extracted.difference(&path.fast_path.tail) {
            let header_type = &self.emitter.program.header_types[self.emitter.program.headers[*header].ty];
            let (bit, bytes) = (self.emitter.plan.headers[*header].bit, header_type.fixed_width() / 8);
            let is_there = match parsed {
                C::Long(word) => int((word >> bit & 1) as u32),
                _ => cast(Type::U32, binary("&", binary(">>", parsed.clone(), int(bit)), long(1))),
            };
            start = binary("+", start, binary("*", is_there, int(bytes)));
        }
        let name_of_start = self.fresh("start");
        self.push(constant(Type::U32, name_of_start.clone(), start));
        name(name_of_start)
    }

    /// How many bytes the parser has extracted, if that is a constant.
    fn bytes_extracted(&self) -> Option<u32> {
        let (path, extracted) = (self.path?, self.known.extracted.as_ref()?);
        let program = self.emitter.program;
        let end = |header: &HeaderId| {
            let ty = &program.header_types[program.headers[*header].ty];
            let before = path.fast_path.parsed.get(header)?.at_bytes?;
            ty.varbit().is_none().then(|| before + ty.fixed_width() / 8)
        };
        let ends: Option<Vec<u32>> = extracted.iter().map(end).collect();
        ends.filter(|_| !advances(program)).map(|ends| ends.into_iter().max().unwrap_or(0))
    }

    /// The valid bits of the headers that the parser has extracted.
    fn parsed_word(&self) -> C {
        if let Some(extracted) = &self.known.extracted {
            return long(extracted.iter().map(|&header| 1 << self.emitter.plan.headers[header].bit).sum());
        }
        if self.has_parsed() {
            return name(EXTRACTED);
        }
        C::Saved(StatePart::Parsed)
    }

    /// Whether the parser is in the stage that is being generated.
    fn has_parsed(&self) -> bool {
        self.is_in_place() && self.path.is_some_and(|path| path.stage == 0 && !path.fast_path.is_of_replicas())
    }

    /// Whether a variable of more than 64 bits is saved from stage to stage.
    pub(super) fn is_saved_wide(&self, var: VarId) -> bool {
        let ir_var = &self.emitter.program.vars[var];
        let is_spilled = self.path.is_some_and(|path| path.fast_path.spilled.contains_key(&var));
        ir_var.ty.width() > 64 && (ir_var.kind == VarKind::Metadata || is_spilled)
    }

    /// Records which headers the parser has extracted, once that is certain.
    pub(crate) fn note_extracted(&mut self) {
        let Some(path) = self.path.filter(|_| self.known.as_parsed && self.known.extracted.is_none()) else { return };
        let mut extracted = path.fast_path.extracted.iter();
        if extracted.all(|&header| self.is_surely_valid(header) || self.is_surely_invalid(header)) {
            let valid = path.fast_path.extracted.iter().filter(|&&header| self.is_surely_valid(header));
            self.known.extracted = Some(valid.copied().collect());
        }
    }

    /// Where a header lies in its frame when packets enter the stage.
    pub(crate) fn offset_entering(&self, header: HeaderId) -> C {
        self.fixed_offset(header).unwrap_or(C::Saved(StatePart::Header(header)))
    }

    /// The value of a variable of a packet that was just received, if it is a constant.
    fn at_start(&self, var: VarId) -> Option<u64> {
        match self.emitter.program.vars[var].kind {
            VarKind::Intrinsic(slot) => match self.intrinsic_entering(slot) {
                C::Long(value) => Some(value),
                _ => None,
            },
            VarKind::Metadata if self.carries(var) => None,
            VarKind::Metadata | VarKind::Local => Some(0),
        }
    }

    /// Whether packets may begin with another value of this metadata than zero.
    fn carries(&self, var: VarId) -> bool {
        self.path.is_some_and(|path| path.fast_path.carries(self.emitter.program, var))
    }

    /// The value of metadata that a packet on a further pass begins with.
    fn carried(&self, var: VarId) -> C {
        let context = cast(Type::ConstContext, cast(Type::ConstPointer, binary("+", name("p"), int(1))));
        arrow(context, self.emitter.var_name(var))
    }

    /// Whether the variable is spilled before this stage.
    fn is_spilled(&self, var: VarId) -> bool {
        let is_narrow = self.emitter.program.vars[var].ty.width() <= 64;
        is_narrow && self.path.is_some_and(|path| path.stage > 0 && path.fast_path.spilled.contains_key(&var))
    }

    /// The value of a variable of at most 64 bits where packets enter the stage with these known facts.
    pub(crate) fn var_entering(&self, var: VarId, known: &Known) -> C {
        let ir_var = &self.emitter.program.vars[var];
        match ir_var.kind {
            _ if self.path.is_none() => long(0),
            _ if self.is_spilled(var) => {
                known.vars.get(&var).map_or(C::Saved(StatePart::Var(var)), |&value| long(value))
            }
            VarKind::Intrinsic(slot) => super::masked(self.intrinsic_entering(slot), ir_var.ty.width()),
            VarKind::Metadata if self.is_of_replicas() => self.metadata_of_packet(var),
            VarKind::Metadata if self.carries(var) => self.carried(var),
            VarKind::Metadata | VarKind::Local => long(0),
        }
    }

    /// The value of an intrinsic variable in a packet that enters the code.
    fn intrinsic_entering(&self, slot: u32) -> C {
        let source = self.emitter.program.architecture.source(slot);
        if self.path.is_some_and(|path| path.fast_path.is_of_replicas()) {
            return replica::intrinsic(source, slot);
        }
        if self.path.is_some_and(|path| path.fast_path.is_of_passes()) {
            return intrinsic(slot);
        }
        let member = |member: &str| cast(Type::U64, self.received(member));
        match source {
            Source::IngressPort => member("ingress_port"),
            Source::IngressLength => member("ingress_length"),
            Source::IngressTime => binary("/", member("time_ns"), long(1000)),
            Source::True => long(1),
            Source::Packet | Source::QueuePort | Source::Replica | Source::QueueTime | Source::QueueState => long(0),
        }
    }

    /// The declarations of a stage that deparses.
    pub(crate) fn deparser_declarations(&self) -> Vec<S> {
        match self.path.filter(|_| self.deparses).and_then(|path| emits(self.emitter, path.fast_path)) {
            Some(emits) => emits.before_packet(),
            None => Vec::new(),
        }
    }
}

fn intrinsic(slot: u32) -> C {
    index(arrow(name("p"), "intrinsic"), int(slot))
}
