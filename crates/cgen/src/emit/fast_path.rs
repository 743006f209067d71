//! The fast path as one function over a burst: parser, controls and deparser without a stop between them.
//!
//! The parser comes before the first batch stage, the deparser where packets end. Variables of at most 64 bits are C
//! variables; those that are live across stages are spilled to the packet's context. Before a packet is punted, all
//! that the core needs to continue with it is written back.

use super::Emitter;
use super::control::emit_graph;
use super::deparser::Emits;
use super::replica;
use super::scope::{Known, Scope, StateReads};
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, index, int, long,
    name, unary,
};
use crate::plan::fast_path::{Exit, FastPath, advances};
use crate::plan::{MOVED_BIT, Plan};
use base::limits::BURST_PACKETS_MAX;
use ir::Source;
use ir::{BlockKind, HeaderId, HeaderRef, VarId, VarKind};
use std::collections::BTreeSet;

/// The name of the struct of a packet's saved state, where packets are processed in place.
pub(crate) fn saved_name(fast_path: &FastPath) -> &'static str {
    if fast_path.is_of_replicas() { "saved_of_replica" } else { "saved" }
}

/// The name of the struct of spilled variables.
pub(crate) fn spilled_name(fast_path: &FastPath) -> &'static str {
    if fast_path.is_of_replicas() { "spilled_of_replica" } else { "spilled_on_fast_path" }
}

/// The C constant with the valid bits of the headers that the parser has extracted, in the stage of the parser.
pub(crate) const EXTRACTED: &str = "extracted";

/// What a punted packet adds to [`UNSENT`].
pub(crate) const PUNTS: &str = "WS_PUNTS";

/// The sum of the verdicts: how many packets are not sent, by reason.
const UNSENT: &str = "exceptions";

/// A batch stage of the fast path.
#[derive(Clone, Copy)]
pub(crate) struct PathStage<'s> {
    pub(crate) fast_path: &'s FastPath,
    pub(crate) stage: usize,
    /// What is live at its end, once that is known.
    pub(crate) live_out: Option<&'s LiveSet>,
    /// The parts of a packet's saved state that any stage reads where headers are relocated in place, once they are
    /// known.
    pub(crate) state_reads: Option<&'s StateReads>,
    /// Variables of more than 64 bits whose initial value may be read, once they are known.
    pub(crate) started: Option<&'s BTreeSet<VarId>>,
    /// Whether it is known that all packets end here. Then one statement stores their verdicts, which the C compiler
    /// can vectorise.
    pub(crate) ends_all: bool,
}

/// The state that is live when a packet goes from one stage to another, and so must be in memory.
#[derive(Clone, Default)]
pub(crate) struct LiveSet {
    /// Words of valid bits.
    pub(crate) words: BTreeSet<u32>,
    /// Variables whose values are not constant.
    pub(crate) vars: BTreeSet<VarId>,
    /// Sums.
    pub(crate) sums: BTreeSet<usize>,
    /// Whether the packet may be punted later, so that all words are live.
    pub(crate) may_punt: bool,
}

/// The function of a burst.
pub(crate) const BURST_HEAD: &str = "uint32_t fast_path_burst(const struct ws_env *env WS_UNUSED, \
    struct ws_packet *const *packets WS_UNUSED, struct ws_frame *frames WS_UNUSED, \
    const struct ws_frame *coming WS_UNUSED, uint32_t count, uint32_t *verdicts)";

/// The function that the core calls.
pub(crate) const HEAD: &str = "uint64_t ws_fast_path(const struct ws_env *env, struct ws_packet *const *packets, \
    struct ws_frame *frames, uint32_t count, uint32_t *verdicts)";

/// Its body: the packets go through the other in bursts.
pub(crate) fn all_bursts(plan: &Plan) -> Vec<S> {
    let stops = int(u32::from(plan.stops_at_punt()));
    let mut arguments = vec![name("fast_path_burst"), int(plan.fast_path_burst_max()), stops];
    arguments.extend(["env", "packets", "frames", "count", "verdicts"].map(name));
    vec![S::Return(call("ws_bursts", arguments))]
}

/// The body of the function of a burst.
pub(crate) fn emit(emitter: &Emitter<'_>, fast_path: &FastPath) -> Vec<S> {
    let words = |table| emitter.plan.cut_words(table);
    let graph = fast_path.graph(emitter.program, &words);
    let mut out = Vec::new();
    if let Some(emits) = emits(emitter, fast_path) {
        out.extend(emits.before_packets());
    }
    if fast_path.in_place {
        let ty = format!("WS_UNUSED struct {}", saved_name(fast_path));
        out.push(declare_array(&ty, "saved", BURST_PACKETS_MAX as u32, None));
    }
    if fast_path.is_of_replicas() {
        out.extend(replica::of_packet(emitter, fast_path));
    }
    out.push(declare("uint32_t", UNSENT, int(0)));
    out.extend(emit_graph(emitter, fast_path.deparser, &graph, Some(fast_path)));
    out.push(S::Return(name(UNSENT)));
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
            self.used.sums.extend(0..path.fast_path.checksums.len());
        }
        for &var in path.fast_path.spilled.keys() {
            if program.vars[var].ty.width() <= 64 {
                self.used.locals.insert(var);
                self.note_write(var);
                if let Some(value) = self.at_start(var) {
                    self.known.vars.insert(var, value);
                }
            }
        }
        for (id, var) in program.vars.iter_enumerated() {
            let is_started = path.started.is_none_or(|started| started.contains(&id));
            if is_started && self.is_saved_wide(id) {
                let place = self.place_to_write(id);
                self.push(S::Eval(call("ws_wide_zero", vec![place, int(var.ty.width())])));
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
            self.used.deparses = true;
            let finish = emits.finish(self.emitter);
            self.push(finish);
        }
        if path.fast_path.moves {
            let put = self.take(Self::prepend_emitted);
            if self.known.as_parsed {
                // No header was added or removed.
            } else if path.fast_path.may_stay {
                let changed = if path.fast_path.is_of_replicas() {
                    binary("||", unary("!", name(replica::STAYS)), self.differs_from(C::Name(replica::valid_name(0))))
                } else {
                    let parsed = self.parsed_word();
                    self.differs_from(parsed)
                };
                self.push(S::If(changed, put, Vec::new()));
            } else {
                self.push(S::Block(put));
            }
        }
        if let Some(truncated) = path.fast_path.truncated {
            self.truncate(truncated);
        }
        let port = cast("uint32_t", self.var_place(path.fast_path.egress_port));
        if path.fast_path.keeps_headers || path.fast_path.moves {
            self.verdict(port);
        } else {
            let no_room = binary("&", arrow(name("p"), "flags"), name("WS_FLAG_NO_ROOM"));
            let drops = conditional(no_room.clone(), name("WS_DROPS_TOO_LONG"), int(0));
            self.push(S::Assign(name(UNSENT), "+=", drops));
            self.verdict(conditional(no_room, name("WS_DROP_TOO_LONG"), port));
        }
    }

    /// Whether other headers than `valid` are valid, or one was relocated.
    fn differs_from(&mut self, valid: C) -> C {
        binary("!=", self.valid_word(0, false), valid)
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
        self.write_back_all();
        self.used.may_punt = true;
        self.end_with_verdict(verdict, PUNTS);
    }

    /// Ends the packet's run with this verdict, and counts it under `number`.
    pub(crate) fn end_with_verdict(&mut self, verdict: &str, number: &str) {
        self.push(S::Assign(name(UNSENT), "+=", name(number)));
        if number == PUNTS && self.path.is_some_and(|path| path.fast_path.run_to_completion.is_some()) {
            // The packets after it wait for the core.
            self.push(assign(name("count"), binary("+", name("i"), int(1))));
        }
        self.verdict(name(verdict));
    }

    /// Truncates a packet that is about to leave, if the program has requested that.
    fn truncate(&mut self, var: VarId) {
        let requested = self.var_place(var);
        let requested = self.atom(requested);
        let length = if self.is_in_place() { arrow(name("frame"), "length") } else { arrow(name("p"), "length") };
        let is_requested = binary("!=", requested.clone(), long(0));
        let is_longer = binary(">=", length.clone(), requested.clone());
        let cut = assign(length, cast("uint32_t", binary("-", requested, long(1))));
        self.push(S::If(binary("&&", is_requested, is_longer), vec![cut], Vec::new()));
    }

    fn verdict(&mut self, verdict: C) {
        let ends_all = self.path.is_some_and(|path| path.ends_all);
        let place = if ends_all { name("verdict") } else { index(name("verdicts"), name("i")) };
        self.push(assign(place, verdict));
        self.used.verdicts += 1;
        match &mut self.path_exit {
            Some((exit, places)) => {
                *places += 1;
                let end = S::Goto(exit.clone());
                self.push(end);
                self.known = Known::unreachable();
            }
            None => self.leave(),
        }
    }

    /// Writes the variables that the core and later blocks read back to the packet's chunk.
    fn write_back_all(&mut self) {
        let Some(path) = self.path else { return };
        let program = self.emitter.program;
        let context = name(if path.fast_path.in_place { "context" } else { "c" });
        if path.fast_path.in_place {
            let place = cast("void *", binary("+", name("p"), int(1)));
            self.push(declare("struct context *const ", "context WS_UNUSED", place));
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
            if !known {
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
                let mut bits = self.valid_word(word, false);
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
            let (place, offset) = (self.offset(&access), index(arrow(context.clone(), "offset"), int(slot.slot)));
            let in_packet = cast("uint32_t", binary("-", place.clone(), name("bytes")));
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
    pub(crate) fn payload_start(&mut self) -> C {
        if let Some(bytes) = self.bytes_extracted() {
            return int(bytes);
        }
        if self.has_parsed() {
            return name("cursor");
        }
        self.used.state_reads.payload = true;
        arrow(name("c"), "payload")
    }

    /// How many bytes the parser has extracted, if that is a constant.
    fn bytes_extracted(&self) -> Option<u32> {
        let (path, extracted) = (self.path?, self.known.extracted.as_ref()?);
        let program = self.emitter.program;
        let size = |header: HeaderId| program.header_types[program.headers[header].ty].fixed_width() / 8;
        let end = |header: &HeaderId| Some(path.fast_path.parsed.get(header)?.at_bytes? + size(*header));
        let ends: Option<Vec<u32>> = extracted.iter().map(end).collect();
        ends.filter(|_| !advances(program)).map(|ends| ends.into_iter().max().unwrap_or(0))
    }

    /// The valid bits of the headers that the parser has extracted.
    fn parsed_word(&mut self) -> C {
        if let Some(extracted) = &self.known.extracted {
            return long(extracted.iter().map(|&header| 1 << self.emitter.plan.headers[header].bit).sum());
        }
        if self.has_parsed() {
            return name(EXTRACTED);
        }
        self.used.state_reads.parsed = true;
        arrow(name("c"), "parsed")
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

    /// The parts of the saved state that the stage reads, including at its entries.
    pub(crate) fn state_reads<'k>(&self, entered: impl Iterator<Item = &'k Known>) -> StateReads {
        let mut reads = self.used.state_reads.clone();
        let moves = self.moves() && self.path.is_some_and(|path| path.stage > 0);
        for known in entered.filter(|_| moves) {
            let is_saved = |header: &HeaderId| self.pointer_entering(*header, known) == self.offset_entering(*header);
            reads.places.extend(self.used.headers.iter().filter(|&header| is_saved(header)));
        }
        reads
    }

    /// Whether any stage reads where a header lies. Until that is known, any may.
    pub(crate) fn is_place_read(&self, header: HeaderId) -> bool {
        let state_reads = self.path.filter(|path| path.fast_path.moves).and_then(|path| path.state_reads);
        state_reads.is_none_or(|reads| reads.places.contains(&header))
    }

    /// Where a header lies in its frame when packets enter the stage.
    pub(crate) fn offset_entering(&self, header: HeaderId) -> C {
        let slot = int(self.emitter.plan.headers[header].slot);
        let noted = if self.moves() { "place" } else { "offset" };
        self.fixed_offset(header).unwrap_or_else(|| index(arrow(name("c"), noted), slot))
    }

    /// The value of a variable of a packet that was just received, if it is a constant.
    fn at_start(&self, var: VarId) -> Option<u64> {
        match self.emitter.program.vars[var].kind {
            VarKind::Intrinsic(slot) => match self.intrinsic_entering(slot) {
                C::Long(value) => Some(value),
                _ => None,
            },
            VarKind::Metadata | VarKind::Local => Some(0),
        }
    }

    /// The value of a spilled variable where packets enter this stage.
    fn spilled_value(&self, var: VarId, known: &Known) -> C {
        match known.vars.get(&var) {
            Some(&value) => long(value),
            None => arrow(name("w"), self.emitter.var_name(var)),
        }
    }

    /// Assignments for an entry at which variables have other values than at the first.
    pub(crate) fn enter_by(&self, known: &Known) -> Vec<S> {
        let spilled = self.used.locals.iter().filter(|var| self.is_spilled(**var));
        let differs =
            spilled.filter(|var| self.spilled_value(**var, known) != self.spilled_value(**var, &self.entered));
        let vars = differs.map(|&var| assign(name(self.emitter.var_name(var)), self.spilled_value(var, known)));
        let words = self.used.words.iter().map(|&word| {
            let entering = [known, &self.entered].map(|known| self.valid_word_entering(word, known));
            (name(format!("valid{word}")), entering)
        });
        let pointers = self.used.headers.iter().map(|&header| {
            let entering = [known, &self.entered].map(|known| self.pointer_entering(header, known));
            (name(self.emitter.header_name(header)), entering)
        });
        let other = words.chain(pointers).filter(|(_, [here, there])| here != there);
        let other = other.map(|(place, [here, _])| assign(place, here));
        vars.chain(other).chain(self.sums_enter_by(known)).collect()
    }

    /// What is live where packets enter with these known facts, if `after` is live where they leave.
    pub(crate) fn live_in(&self, known: &Known, after: &LiveSet) -> LiveSet {
        let spilled =
            self.used.looked_at.iter().copied().filter(|var| self.is_spilled(*var) || self.is_saved_wide(*var));
        let loaded = spilled.filter(|var| !known.vars.contains_key(var));
        let is_written = |var: &VarId| self.used.surely_written.as_ref().is_some_and(|written| written.contains(var));
        let is_read = |word: &u32| !matches!(self.valid_word_entering(*word, known), C::Long(_));
        let words = self.used.words.iter().copied().filter(is_read);
        let passed = after.vars.iter().copied().filter(|var| !is_written(var));
        LiveSet {
            words: words.chain(after.words.iter().copied()).collect(),
            vars: loaded.chain(passed).collect(),
            sums: self.live_in_sums(known, &after.sums),
            may_punt: self.used.may_punt || after.may_punt,
        }
    }

    /// Whether the variable is spilled before this stage.
    fn is_spilled(&self, var: VarId) -> bool {
        let is_narrow = self.emitter.program.vars[var].ty.width() <= 64;
        is_narrow && self.path.is_some_and(|path| path.stage > 0 && path.fast_path.spilled.contains_key(&var))
    }

    /// The C variable of a program's variable, with its value at the start of the stage.
    pub(crate) fn local_on_path(&self, var: VarId) -> S {
        let ir_var = &self.emitter.program.vars[var];
        let text = self.emitter.var_name(var);
        if ir_var.ty.width() > 64 {
            return self.local(var);
        }
        let value = match ir_var.kind {
            _ if self.is_spilled(var) => self.spilled_value(var, &self.entered),
            VarKind::Intrinsic(slot) => super::masked(self.intrinsic_entering(slot), ir_var.ty.width()),
            VarKind::Metadata if self.is_of_replicas() => self.metadata_of_packet(var),
            VarKind::Metadata | VarKind::Local => long(0),
        };
        declare("WS_UNUSED uint64_t", text, value)
    }

    /// Whether this stage loads or stores spilled variables.
    pub(crate) fn has_spilled(&self, path: PathStage<'_>) -> bool {
        self.used.locals.iter().any(|var| self.is_spilled(*var)) || !self.spilled_write_back(path).is_empty()
    }

    /// Stores the variables that this stage has written and that are live after it.
    pub(crate) fn spilled_write_back(&self, path: PathStage<'_>) -> Vec<S> {
        let mut out = Vec::new();
        for &var in &self.used.written {
            let Some(&(_, last)) = path.fast_path.spilled.get(&var) else { continue };
            let is_live = last > path.stage && path.live_out.is_none_or(|live_out| live_out.vars.contains(&var));
            if is_live && self.emitter.program.vars[var].ty.width() <= 64 {
                let text = self.emitter.var_name(var);
                out.push(assign(arrow(name("w"), text.clone()), name(text)));
            }
        }
        out
    }

    /// The value of an intrinsic variable in a packet that enters the code.
    fn intrinsic_entering(&self, slot: u32) -> C {
        if let Some(path) = self.path.filter(|path| path.fast_path.is_of_replicas()) {
            return replica::intrinsic(path.fast_path.entry, slot);
        }
        let member = |member: &str| cast("uint64_t", self.received(member));
        match self.emitter.program.architecture.source(slot) {
            Source::IngressPort => member("ingress_port"),
            Source::IngressLength => member("ingress_length"),
            Source::IngressTime => binary("/", member("time_ns"), long(1000)),
            Source::True => long(1),
            Source::Packet | Source::QueuePort | Source::Replica | Source::QueueTime | Source::QueueState => long(0),
        }
    }

    /// The declarations of a stage that deparses.
    pub(crate) fn deparser_declarations(&self) -> Vec<S> {
        match self.path.filter(|_| self.used.deparses).and_then(|path| emits(self.emitter, path.fast_path)) {
            Some(emits) => emits.before_packet(),
            None => Vec::new(),
        }
    }
}

fn intrinsic(slot: u32) -> C {
    index(arrow(name("p"), "intrinsic"), int(slot))
}
