//! The fast path as one function over a burst: parser, controls and deparser without a stop between them.
//!
//! The parser comes before the first batch stage, the deparser where packets end. Variables of at most 64 bits are C
//! variables; those that are live across stages are spilled to the packet's context. Before a packet is punted, all
//! that the core needs to continue with it is written back.

use super::Emitter;
use super::control::emit_graph;
use super::deparser::Emits;
use super::replica;
use super::scope::{Asked, Known, Scope};
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, index, int, long,
    name, unary,
};
use crate::plan::fast_path::{Exit, FastPath, advances};
use crate::plan::{MOVED_BIT, Plan};
use base::index::Id as _;
use base::limits::BURST_PACKETS_MAX;
use ir::Source;
use ir::v1model::Stage;
use ir::{BlockId, BlockKind, HeaderId, HeaderRef, VarId, VarKind};
use std::collections::BTreeSet;

/// The struct of what is kept of a packet that is worked on in place.
pub(crate) fn kept_name(fast_path: &FastPath) -> &'static str {
    if fast_path.is_of_replicas() { "kept_of_replica" } else { "kept" }
}

/// The struct of variables that wait for tables.
pub(crate) fn waiting_name(fast_path: &FastPath) -> &'static str {
    if fast_path.is_of_replicas() { "waiting_of_replica" } else { "waiting_on_fast_path" }
}

/// The valid bits of the headers that the parser has extracted, in the code that it is in.
pub(crate) const EXTRACTED: &str = "extracted";

/// What a punted packet adds to [`UNSENT`].
pub(crate) const PUNTS: &str = "WS_PUNTS";

/// The sum of the verdicts: how many packets are not sent, by reason.
const UNSENT: &str = "exceptions";

/// A region of the fast path.
#[derive(Clone, Copy)]
pub(crate) struct Way<'s> {
    pub(crate) fast_path: &'s FastPath,
    pub(crate) region: usize,
    /// What those want to whom its packets go, once that is known.
    pub(crate) wanted: Option<&'s Wanted>,
    /// What any region asks of that is kept of a packet where headers are moved in place, once that is known.
    pub(crate) asked: Option<&'s Asked>,
    /// Variables of more than 64 bits whose value at the start somebody may look at, once that is known.
    pub(crate) started: Option<&'s BTreeSet<VarId>>,
    /// Whether it is known that all packets end here. Then their verdicts are stored at one place, which the C
    /// compiler can do for several packets at once.
    pub(crate) ends_all: bool,
}

/// What must be in a packet's context when it goes from one region to another.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    /// Words of valid bits.
    pub(crate) words: BTreeSet<u32>,
    /// Variables whose values are not certain.
    pub(crate) vars: BTreeSet<VarId>,
    /// Sums.
    pub(crate) sums: BTreeSet<usize>,
    /// Whether the core may go on with the packet, so that all words are wanted.
    pub(crate) left: bool,
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
        let ty = format!("WS_UNUSED struct {}", kept_name(fast_path));
        out.push(declare_array(&ty, "kept", BURST_PACKETS_MAX as u32, None));
    }
    if fast_path.is_of_replicas() {
        out.extend(replica::of_packet(emitter, fast_path));
    }
    out.push(declare("uint32_t", UNSENT, int(0)));
    out.extend(emit_graph(emitter, block(Stage::Deparser), &graph, Some(fast_path)));
    out.push(S::Return(name(UNSENT)));
    out
}

fn block(stage: Stage) -> BlockId {
    BlockId::from_index(stage as usize)
}

/// What the deparser emits, if it is needed.
fn emits(emitter: &Emitter<'_>, fast_path: &FastPath) -> Option<Emits> {
    match &emitter.program.blocks[block(Stage::Deparser)].kind {
        BlockKind::Control { body } if !fast_path.keeps_headers && !fast_path.moves => {
            Some(Emits::of(emitter.program, body))
        }
        _ => None,
    }
}

/// Whether emitted headers are copied at once.
pub(crate) fn stages(emitter: &Emitter<'_>, fast_path: &FastPath) -> bool {
    emits(emitter, fast_path).is_some_and(|emits| emits.staged)
}

impl Scope<'_, '_> {
    /// What the first region begins with: everything is as it is when a packet was received, and is parsed.
    pub(crate) fn begin_way(&mut self) {
        let Some(way) = self.way else { return };
        if way.fast_path.is_of_replicas() {
            return self.begin_replica(way);
        }
        let program = self.emitter.program;
        if way.fast_path.in_place {
            let coming = arrow(binary("+", name("coming"), name("i")), "bytes");
            self.push(S::Eval(call("__builtin_prefetch", vec![coming])));
            self.used.sums.extend(0..way.fast_path.sums.len());
        }
        for &var in way.fast_path.waiting.keys() {
            if program.vars[var].ty.width() <= 64 {
                self.used.locals.insert(var);
                self.note_write(var);
                if let Some(value) = self.at_start(var) {
                    self.known.vars.insert(var, value);
                }
            }
        }
        for (id, var) in program.vars.iter_enumerated() {
            let is_started = way.started.is_none_or(|started| started.contains(&id));
            if is_started && self.is_kept_wide(id) {
                let place = self.place_to_write(id);
                self.push(S::Eval(call("ws_wide_zero", vec![place, int(var.ty.width())])));
            }
        }
        if let BlockKind::Parser { start, states, error } = &program.blocks[block(Stage::Parser)].kind {
            self.parse_first(*start, states, *error);
        }
    }

    /// What is done with a packet at the end: it is deparsed and sent.
    pub(crate) fn end_way(&mut self) {
        let Some(way) = self.way else { return };
        if let Some(emits) = emits(self.emitter, way.fast_path) {
            self.used.deparses = true;
            let finish = emits.finish(self.emitter);
            self.push(finish);
        }
        if way.fast_path.moves {
            let put = self.take(Self::put_emitted);
            if self.known.as_parsed {
                // Nothing was put before it or taken away.
            } else if way.fast_path.may_stay {
                let changed = if way.fast_path.is_of_replicas() {
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
        if let Some(truncated) = way.fast_path.truncated {
            self.truncate(truncated);
        }
        let port = cast("uint32_t", self.var_place(way.fast_path.egress_port));
        if way.fast_path.keeps_headers || way.fast_path.moves {
            self.verdict(port);
        } else {
            let no_room = binary("&", arrow(name("p"), "flags"), name("WS_FLAG_NO_ROOM"));
            let drops = conditional(no_room.clone(), name("WS_DROPS_TOO_LONG"), int(0));
            self.push(S::Assign(name(UNSENT), "+=", drops));
            self.verdict(conditional(no_room, name("WS_DROP_TOO_LONG"), port));
        }
    }

    /// Whether other headers are valid, or one lies elsewhere.
    fn differs_from(&mut self, valid: C) -> C {
        binary("!=", self.valid_word(0, false), valid)
    }

    /// Leaves the way before its end.
    pub(crate) fn leave_way(&mut self, exit: Exit) {
        match exit {
            Exit::DropIngress => self.end_on_way("WS_DROP_INGRESS", "WS_DROPS_INGRESS"),
            Exit::DropEgress => self.end_on_way("WS_DROP_EGRESS", "WS_DROPS_EGRESS"),
            Exit::PuntIngress => self.punt("WS_PUNT_INGRESS"),
            Exit::PuntEgress => self.punt("WS_PUNT_EGRESS"),
        }
    }

    fn punt(&mut self, verdict: &str) {
        self.put_all_in_place();
        self.used.left = true;
        self.end_on_way(verdict, PUNTS);
    }

    /// Ends the packet's way with this verdict, which is counted there.
    pub(crate) fn end_on_way(&mut self, verdict: &str, number: &str) {
        self.push(S::Assign(name(UNSENT), "+=", name(number)));
        if number == PUNTS && self.way.is_some_and(|way| way.fast_path.in_turn.is_some()) {
            // The packets behind it wait for the core.
            self.push(assign(name("count"), binary("+", name("i"), int(1))));
        }
        self.verdict(name(verdict));
    }

    /// Cuts a packet that is about to leave to the length that the program has asked for, if it has.
    fn truncate(&mut self, var: VarId) {
        let asked = self.var_place(var);
        let asked = self.atom(asked);
        let length = if self.is_in_place() { arrow(name("frame"), "length") } else { arrow(name("p"), "length") };
        let is_asked = binary("!=", asked.clone(), long(0));
        let is_longer = binary(">=", length.clone(), asked.clone());
        let cut = assign(length, cast("uint32_t", binary("-", asked, long(1))));
        self.push(S::If(binary("&&", is_asked, is_longer), vec![cut], Vec::new()));
    }

    fn verdict(&mut self, verdict: C) {
        let ends_all = self.way.is_some_and(|way| way.ends_all);
        let place = if ends_all { name("verdict") } else { index(name("verdicts"), name("i")) };
        self.push(assign(place, verdict));
        self.used.verdicts += 1;
        match &mut self.way_exit {
            Some((exit, places)) => {
                *places += 1;
                let end = S::Goto(exit.clone());
                self.push(end);
                self.known = Known::unreachable();
            }
            None => self.leave(),
        }
    }

    /// Writes the variables that the core and later blocks look at to where they look for them.
    fn put_all_in_place(&mut self) {
        let Some(way) = self.way else { return };
        let program = self.emitter.program;
        let context = name(if way.fast_path.in_place { "context" } else { "c" });
        if way.fast_path.in_place {
            let place = cast("void *", binary("+", name("p"), int(1)));
            self.push(declare("struct context *const ", "context WS_UNUSED", place));
        }
        let mut known = [false; ir::INTRINSIC_SLOTS];
        for &var in &way.fast_path.kept {
            let ir_var = &program.vars[var];
            if ir_var.ty.width() > 64 || ir_var.ty.width() == 0 {
                if ir_var.ty.width() > 64 && way.fast_path.in_place {
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
        self.put_headers_in_place(way.fast_path, &context);
    }

    /// Writes where the headers are; of a packet that was worked on in place, also which are valid, and where the
    /// payload begins.
    fn put_headers_in_place(&mut self, fast_path: &FastPath, context: &C) {
        let first = || arrow(name("env"), "first_byte");
        if fast_path.moves {
            self.put_moving_headers_in_place(context);
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
            let payload = binary("+", first(), self.kept_payload());
            self.push(assign(arrow(name("p"), "payload"), payload));
        }
    }

    /// Writes where the valid headers are of a packet whose headers may lie beside it, and those that do.
    fn put_moving_headers_in_place(&mut self, context: &C) {
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

    /// Where a header lies that is always at the same place of the packet.
    pub(crate) fn fixed_offset(&self, header: HeaderId) -> Option<C> {
        let way = self.way?;
        let before = way.fast_path.bytes_before(header).filter(|_| self.emitter.dynamic_element(header).is_none())?;
        Some(if way.fast_path.in_place { int(before) } else { binary("+", arrow(name("p"), "data"), int(before)) })
    }

    /// The pointer to a header of packets that enter the region with this known of them.
    pub(crate) fn pointer_entering(&self, header: HeaderId, known: &Known) -> C {
        let parsed = self.way.and_then(|way| way.fast_path.parsed.get(&header)?.at_bytes);
        match parsed.filter(|_| known.in_their_places.contains(&header)) {
            Some(at) => binary("+", name("bytes"), int(at)),
            // Nobody looks at it before the header is made valid somewhere.
            None if self.moves() && known.invalid.contains(&header) => name("bytes"),
            None => self.at(self.offset_entering(header)),
        }
    }

    /// Where the packet's payload begins, in place.
    pub(crate) fn kept_payload(&mut self) -> C {
        if let Some(bytes) = self.bytes_extracted() {
            return int(bytes);
        }
        if self.has_parsed() {
            return name("cursor");
        }
        self.used.asked.payload = true;
        arrow(name("c"), "payload")
    }

    /// How many bytes the parser has gone over, if that is certain.
    fn bytes_extracted(&self) -> Option<u32> {
        let (way, extracted) = (self.way?, self.known.extracted.as_ref()?);
        let program = self.emitter.program;
        let size = |header: HeaderId| program.header_types[program.headers[header].ty].fixed_width() / 8;
        let end = |header: &HeaderId| Some(way.fast_path.parsed.get(header)?.at_bytes? + size(*header));
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
        self.used.asked.parsed = true;
        arrow(name("c"), "parsed")
    }

    /// Whether the parser is in the code that is written.
    fn has_parsed(&self) -> bool {
        self.is_in_place() && self.way.is_some_and(|way| way.region == 0 && !way.fast_path.is_of_replicas())
    }

    /// Whether a variable of more than 64 bits is kept from region to region.
    pub(super) fn is_kept_wide(&self, var: VarId) -> bool {
        let ir_var = &self.emitter.program.vars[var];
        let waits = self.way.is_some_and(|way| way.fast_path.waiting.contains_key(&var));
        ir_var.ty.width() > 64 && (ir_var.kind == VarKind::Metadata || waits)
    }

    /// Notes which headers the parser has extracted, once that is certain.
    pub(crate) fn note_extracted(&mut self) {
        let Some(way) = self.way.filter(|_| self.known.as_parsed && self.known.extracted.is_none()) else { return };
        let mut extracted = way.fast_path.extracted.iter();
        if extracted.all(|&header| self.is_surely_valid(header) || self.is_surely_invalid(header)) {
            let valid = way.fast_path.extracted.iter().filter(|&&header| self.is_surely_valid(header));
            self.known.extracted = Some(valid.copied().collect());
        }
    }

    /// What is asked of packets that enter the region by one of its entries, or in it.
    pub(crate) fn asked<'k>(&self, entered: impl Iterator<Item = &'k Known>) -> Asked {
        let mut asked = self.used.asked.clone();
        let moves = self.moves() && self.way.is_some_and(|way| way.region > 0);
        for known in entered.filter(|_| moves) {
            let kept = |header: &HeaderId| self.pointer_entering(*header, known) == self.offset_entering(*header);
            asked.places.extend(self.used.headers.iter().filter(|&header| kept(header)));
        }
        asked
    }

    /// Whether somebody asks where a header lies. Until that is known, everybody may.
    pub(crate) fn is_place_asked(&self, header: HeaderId) -> bool {
        let asked = self.way.filter(|way| way.fast_path.moves).and_then(|way| way.asked);
        asked.is_none_or(|asked| asked.places.contains(&header))
    }

    /// Where a header lies in its frame when packets enter the region.
    pub(crate) fn offset_entering(&self, header: HeaderId) -> C {
        let slot = int(self.emitter.plan.headers[header].slot);
        let noted = if self.moves() { "place" } else { "offset" };
        self.fixed_offset(header).unwrap_or_else(|| index(arrow(name("c"), noted), slot))
    }

    /// The certain value of a variable of a packet that was just received.
    fn at_start(&self, var: VarId) -> Option<u64> {
        match self.emitter.program.vars[var].kind {
            VarKind::Intrinsic(slot) if self.intrinsic_entering(slot) != long(0) => None,
            _ => Some(0),
        }
    }

    /// The value that a variable which waits for tables has where packets enter this region.
    fn waited(&self, var: VarId, known: &Known) -> C {
        match known.vars.get(&var) {
            Some(&value) => long(value),
            None => arrow(name("w"), self.emitter.var_name(var)),
        }
    }

    /// What the variables get that are something else where packets come in by another entry.
    pub(crate) fn enter_by(&self, known: &Known) -> Vec<S> {
        let waiting = self.used.locals.iter().filter(|var| self.waits(**var));
        let differs = waiting.filter(|var| self.waited(**var, known) != self.waited(**var, &self.entered));
        let vars = differs.map(|&var| assign(name(self.emitter.var_name(var)), self.waited(var, known)));
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

    /// What is wanted where packets come in of whom this is known, if `after` is wanted where they go.
    pub(crate) fn wants(&self, known: &Known, after: &Wanted) -> Wanted {
        let waiting = self.used.looked_at.iter().copied().filter(|var| self.waits(*var) || self.is_kept_wide(*var));
        let loaded = waiting.filter(|var| !known.vars.contains_key(var));
        let is_written = |var: &VarId| self.used.surely_written.as_ref().is_some_and(|written| written.contains(var));
        let is_read = |word: &u32| !matches!(self.valid_word_entering(*word, known), C::Long(_));
        let words = self.used.words.iter().copied().filter(is_read);
        let passed = after.vars.iter().copied().filter(|var| !is_written(var));
        Wanted {
            words: words.chain(after.words.iter().copied()).collect(),
            vars: loaded.chain(passed).collect(),
            sums: self.wanted_sums(known, &after.sums),
            left: self.used.left || after.left,
        }
    }

    /// Whether the variable waits before this region.
    fn waits(&self, var: VarId) -> bool {
        let is_narrow = self.emitter.program.vars[var].ty.width() <= 64;
        is_narrow && self.way.is_some_and(|way| way.region > 0 && way.fast_path.waiting.contains_key(&var))
    }

    /// A variable of C, with what the variable of the program is when this region begins.
    pub(crate) fn local_of_way(&self, var: VarId) -> S {
        let ir_var = &self.emitter.program.vars[var];
        let text = self.emitter.var_name(var);
        if ir_var.ty.width() > 64 {
            return self.local(var);
        }
        let value = match ir_var.kind {
            _ if self.waits(var) => self.waited(var, &self.entered),
            VarKind::Intrinsic(slot) => super::masked(self.intrinsic_entering(slot), ir_var.ty.width()),
            VarKind::Metadata if self.is_of_replicas() => self.metadata_of_packet(var),
            VarKind::Metadata | VarKind::Local => long(0),
        };
        declare("WS_UNUSED uint64_t", text, value)
    }

    /// Whether variables of this region wait before or after it.
    pub(crate) fn has_waiting(&self, way: Way<'_>) -> bool {
        self.used.locals.iter().any(|var| self.waits(*var)) || !self.waiting_write_back(way).is_empty()
    }

    /// Stores what later regions want of what this one has written.
    pub(crate) fn waiting_write_back(&self, way: Way<'_>) -> Vec<S> {
        let mut out = Vec::new();
        for &var in &self.used.written {
            let Some(&(_, last)) = way.fast_path.waiting.get(&var) else { continue };
            let is_wanted = last > way.region && way.wanted.is_none_or(|wanted| wanted.vars.contains(&var));
            if is_wanted && self.emitter.program.vars[var].ty.width() <= 64 {
                let text = self.emitter.var_name(var);
                out.push(assign(arrow(name("w"), text.clone()), name(text)));
            }
        }
        out
    }

    /// The value of an intrinsic variable in a packet that enters the code.
    fn intrinsic_entering(&self, slot: u32) -> C {
        if let Some(way) = self.way.filter(|way| way.fast_path.is_of_replicas()) {
            return replica::intrinsic(way.fast_path.entry, slot);
        }
        let member = |member: &str| cast("uint64_t", self.received(member));
        match self.emitter.program.architecture.source(slot) {
            Source::IngressPort => member("ingress_port"),
            Source::IngressLength => member("ingress_length"),
            Source::IngressTime => binary("/", member("time_ns"), long(1000)),
            Source::Packet | Source::QueueTime | Source::QueueState => long(0),
        }
    }

    /// What the code of a region needs that deparses.
    pub(crate) fn deparser_declarations(&self) -> Vec<S> {
        match self.way.filter(|_| self.used.deparses).and_then(|way| emits(self.emitter, way.fast_path)) {
            Some(emits) => emits.before_packet(),
            None => Vec::new(),
        }
    }
}

fn intrinsic(slot: u32) -> C {
    index(arrow(name("p"), "intrinsic"), int(slot))
}
