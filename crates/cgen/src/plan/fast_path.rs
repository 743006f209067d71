//! The fast path: one piece of code from the parser to the deparser for packets that are only sent or dropped.
//!
//! What enters: a program. What leaves: the bodies that its packets run through, which variables are spilled from one
//! batch stage to the next, and what generated code writes back when it punts a packet (a clone, replicas, another
//! pass), so that the switch core can continue with it. A program that could observe the difference has no fast path.
//!
//! A variable of at most 64 bits is a C variable here. It is spilled only if it is live across batch stages.
//!
//! Packets on a further pass take it, too, and its part behind the queues is the path of replicas: both begin with
//! state in a packet's chunk ([`Entry`]).

use super::between::{Between, MayBeSet};
use super::checksums::{Checksum, checksums};
use super::extracted::{Extracted, extracted};
use super::graph::{Graph, Uncut};
use super::outcomes::{Outcome, outcomes};
use super::reparse::{emitted, parts};
use super::state::{self, Object, Serialised};
use super::walk::{Item, Tables, walk_block};
use base::index::Id as _;
use base::limits::SHORT_PROGRAM_STATEMENTS_MAX;
use base::{OrderedMap, OrderedSet};
use ir::walk::{base_var, statement_count, visit_body, visit_writes};
use ir::{
    BlockId, BlockKind, BlockRole, Effect, HeaderId, HeaderRef, LabelId, Program, Source, Stmt, StmtKind, VarId,
    VarKind,
};

/// The most bytes of variables that are saved on the stack for each packet of a burst.
pub(crate) const SAVED_STATE_BYTES_MAX: u32 = 1024;

/// The most bytes of each packet that a core saves as they were received, so that packets which may request the
/// original can be processed in place.
pub(crate) const ORIGINAL_BYTES_MAX: u32 = 256;

/// How a packet leaves the fast path before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// The program dropped it in ingress.
    DropIngress,
    /// The program dropped it in egress.
    DropEgress,
    /// The core continues after ingress.
    PuntIngress,
    /// The core continues after egress.
    PuntEgress,
}

/// Why a program has no fast path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoFastPath {
    /// What the architecture decides between the blocks is not known, or too involved.
    Decisions,
    /// It has too many statements.
    Length,
    /// It calls routines, as long programs do.
    Routines,
    /// Packets are parsed again behind the queues, and what comes of that is not known.
    ParsedAgain,
    /// Its deparser applies tables.
    DeparserTables,
    /// It writes the times that queues write, or reads them before.
    Times,
}

/// Where packets enter the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// At the parser, as they were received.
    Parser,
    /// At the parser, on a further pass: with intrinsic variables, and metadata of field lists, from their chunks.
    Again,
    /// Behind the queues, as replicas of one packet, which has been through ingress. Each has its own port and number.
    Queues,
}

/// The fast path of a program.
#[derive(Clone, Debug)]
pub(crate) struct FastPath {
    /// Where packets enter it.
    pub(crate) entry: Entry,
    /// What happens between the blocks.
    between: Between,
    /// The block that parses packets.
    pub(crate) parser: BlockId,
    /// The block that makes headers of those that leave.
    pub(crate) deparser: BlockId,
    /// The control of egress.
    egress: BlockId,
    /// The port that a packet leaves on.
    pub(crate) egress_port: VarId,
    /// Variables that equal the time of the run, because the program only reads them, and only behind the queues.
    pub(crate) times: OrderedSet<VarId>,
    /// The length that a packet is truncated to, plus 1, or 0; none if the program truncates no packet.
    pub(crate) truncated: Option<VarId>,
    /// Whether the deparser emits headers each once, and unconditionally: they then take no more bytes than what was
    /// extracted and the headers that are not in the packet.
    pub(crate) emits_plainly: bool,
    /// Whether emitting headers changes no byte, so that it is left out.
    pub(crate) keeps_headers: bool,
    /// Whether packets are processed where their bytes lie, in or outside of a chunk, with all their state on the
    /// stack.
    pub(crate) in_place: bool,
    /// Whether the deparser relocates headers in place: over others, and into the headroom.
    pub(crate) moves: bool,
    /// Whether a packet whose valid headers are the extracted ones can then leave as it was received, or a replica as
    /// its packet is.
    pub(crate) may_stay: bool,
    /// Headers that the parser extracts: those that may lie in the packet.
    pub(crate) extracted: OrderedSet<HeaderId>,
    /// Those of them that are not emitted. A packet with one of them does not stay as it is.
    pub(crate) unemitted: OrderedSet<HeaderId>,
    /// If packets may stay: the last headers that are emitted, as far as no statement changes one of them. They are
    /// adjacent to the payload and stay where they are, whatever is put before them.
    pub(crate) tail: OrderedSet<HeaderId>,
    /// How many of a packet's first bytes may be written before it has been through ingress, if that is known and they
    /// are few.
    pub(crate) written_bytes_max: Option<u32>,
    /// Checksums that are both verified and updated over the same fields.
    pub(crate) checksums: Vec<Checksum>,
    /// What is known about the headers that the parser extracts, if no block changes which are valid or where they are.
    pub(crate) headers: OrderedMap<HeaderId, Extracted>,
    /// What is known about them after the parser, if packets that are processed in place may stay as they are.
    pub(crate) parsed: OrderedMap<HeaderId, Extracted>,
    /// The sets of headers with which the parser accepts packets, if headers are relocated and packets may stay as they
    /// are.
    pub(crate) outcomes: Vec<Outcome>,
    /// State through which packets could observe that a punted packet, or one that is parsed, reaches its end after its
    /// neighbours have begun. Each packet then runs to completion, and those after a punted one are processed after the
    /// core has processed it.
    pub(crate) run_to_completion: Option<Object>,
    /// Whether the start of the payload is read.
    pub(crate) reads_payload: bool,
    /// Spilled variables: the first byte in the spill area, and the last batch stage that mentions them.
    pub(crate) spilled: OrderedMap<VarId, (u32, usize)>,
    /// Bytes of the spill area.
    pub(crate) spilled_bytes: u32,
    /// Metadata and intrinsic variables that the core or a later block may read when it continues with a packet.
    pub(crate) written_back: OrderedSet<VarId>,
}

impl FastPath {
    /// The fast path of a program, if it has one.
    pub(crate) fn of(program: &Program, key_words: &dyn Fn(ir::TableId) -> usize) -> Result<FastPath, NoFastPath> {
        if statement_count(program) > SHORT_PROGRAM_STATEMENTS_MAX {
            return Err(NoFastPath::Length);
        }
        if !program.routines.is_empty() {
            return Err(NoFastPath::Routines);
        }
        let between = Between::of(program)?;
        let (parser, deparser) = (parser_of(program), between.deparser(program));
        let architecture = program.architecture;
        let egress = architecture.egress().or(architecture.ingress()).ok_or(NoFastPath::Decisions)?;
        let written = MayBeSet::of(program);
        let hindrances = [
            (deparser_applies_tables(program), NoFastPath::DeparserTables),
            (misuses_times(program), NoFastPath::Times),
        ];
        if let Some((_, why)) = hindrances.into_iter().find(|(is_so, _)| *is_so) {
            return Err(why);
        }
        let emitted = emitted(program, body_of(program, deparser));
        let extracted_headers = extracted_headers(program);
        let is_emitted = |header: &HeaderId| emitted.as_ref().is_some_and(|emitted| emitted.contains(header));
        let unemitted: Vec<HeaderId> = extracted_headers.iter().copied().filter(|it| !is_emitted(it)).collect();
        let in_order = emitted.as_ref().is_some_and(|emitted| parses_in_order(program, &unemitted, emitted));
        let keeps_headers =
            in_order && unemitted.is_empty() && !any_statement(program, changes_headers) && !between.changes_headers();
        let moves = !keeps_headers && emitted.is_some();
        let may_stay = moves && in_order && !any_in_parser(program, changes_headers);
        let mut fast_path = FastPath {
            entry: Entry::Parser,
            parser,
            deparser,
            egress,
            egress_port: between.port,
            truncated: between.limit.filter(|&var| written.contains(var)),
            times: times(program, true),
            emits_plainly: emitted.is_some(),
            keeps_headers,
            may_stay,
            written_bytes_max: parsed_bytes_max(program),
            tail: match &emitted {
                Some(emitted) if may_stay && between.reparsed.is_none() => tail(program, emitted, &extracted_headers),
                _ => OrderedSet::new(),
            },
            unemitted: unemitted.into_iter().collect(),
            extracted: extracted_headers,
            // Where headers are added or removed, a checksum is computed again.
            checksums: if keeps_headers { checksums(program) } else { Vec::new() },
            in_place: keeps_headers || moves && has_fixed_lengths(program),
            moves,
            headers: if keeps_headers { extracted(program, &program.blocks[parser].kind) } else { OrderedMap::new() },
            parsed: OrderedMap::new(),
            outcomes: Vec::new(),
            run_to_completion: run_to_completion(program, between.may_punt),
            reads_payload: !keeps_headers || between.may_punt || hashes_payload(program),
            spilled: OrderedMap::new(),
            spilled_bytes: 0,
            written_back: written_back(program),
            between,
        };
        fast_path.complete(program, key_words);
        Ok(fast_path)
    }

    /// The part of it behind the queues, for replicas of a packet that has been through ingress: none if it does not
    /// work in place, or if the program makes none. Each replica has the packet's bytes in a frame of its own and
    /// shares its context.
    pub(crate) fn for_replicas(
        &self,
        program: &Program,
        has_moved_bit: bool,
        key_words: &dyn Fn(ir::TableId) -> usize,
    ) -> Option<FastPath> {
        let makes_copies = [Effect::Replicas, Effect::ParsedCopy, Effect::EgressAgain];
        let is_of_use = makes_copies.iter().any(|&effect| program.may_request(effect));
        let is_parsed = self.between.reparsed.is_some();
        let are_numbered = program.architecture.slot_from(Source::Replica).is_some();
        if !self.in_place || !is_of_use || !are_numbered || is_parsed || state::egress_burst_max(program) == 1 {
            return None;
        }
        let mut path = FastPath {
            entry: Entry::Queues,
            times: OrderedSet::new(),
            // Clones may be cut by their session.
            truncated: self.between.limit,
            may_stay: self.moves && has_moved_bit,
            unemitted: OrderedSet::new(),
            tail: OrderedSet::new(),
            written_bytes_max: None,
            checksums: Vec::new(),
            parsed: OrderedMap::new(),
            outcomes: Vec::new(),
            run_to_completion: None,
            spilled: OrderedMap::new(),
            spilled_bytes: 0,
            ..self.clone()
        };
        path.complete(program, key_words);
        path.in_place.then_some(path)
    }

    /// The same path for packets that are on a further pass; none if it does not work in place, or if the program
    /// sends none round.
    pub(crate) fn for_passes(&self, program: &Program, key_words: &dyn Fn(ir::TableId) -> usize) -> Option<FastPath> {
        if !self.in_place || !program.may_request(Effect::IngressAgain) {
            return None;
        }
        let mut path = FastPath {
            entry: Entry::Again,
            parsed: OrderedMap::new(),
            outcomes: Vec::new(),
            spilled: OrderedMap::new(),
            spilled_bytes: 0,
            ..self.clone()
        };
        path.complete(program, key_words);
        path.in_place.then_some(path)
    }

    /// Whether packets are replicas of one that has been through ingress.
    pub(crate) fn is_of_replicas(&self) -> bool {
        self.entry == Entry::Queues
    }

    /// Whether packets are on a further pass.
    pub(crate) fn is_of_passes(&self) -> bool {
        self.entry == Entry::Again
    }

    /// Whether packets may enter the path with another value of this metadata than zero.
    pub(crate) fn carries(&self, program: &Program, var: VarId) -> bool {
        let is_metadata = program.vars[var].kind == VarKind::Metadata;
        is_metadata && self.is_of_passes() && program.field_lists.iter().any(|list| list.vars.contains(&var))
    }

    /// Decides what depends on all else: what is spilled, and so whether packets are processed in place.
    fn complete(&mut self, program: &Program, key_words: &dyn Fn(ir::TableId) -> usize) {
        self.find_spilled(program, key_words);
        self.in_place &= self.spilled_bytes + wide_metadata_bytes(program) <= SAVED_STATE_BYTES_MAX;
        if self.in_place && (self.may_stay || self.keeps_headers) && !self.is_of_replicas() {
            self.parsed = extracted(program, &program.blocks[self.parser].kind);
        }
        if self.in_place && self.moves && self.may_stay && !self.is_of_replicas() {
            self.outcomes = outcomes(program, &program.blocks[self.parser].kind);
        }
    }

    /// The bodies that a packet runs through after the parser, in order.
    pub(crate) fn bodies<'p>(&'p self, program: &'p Program) -> Vec<&'p [Stmt]> {
        let first = if self.is_of_replicas() { self.egress } else { self.parser };
        let last = deparser_of(program);
        let mut bodies = Vec::new();
        for block in program.blocks.ids().filter(|&block| block >= first) {
            if block != first {
                bodies.push(self.between.before(block));
            }
            let body = body_of(program, block);
            match &self.between.reparsed {
                Some(reparsed) if block == reparsed.parser => bodies.push(&reparsed.parsed),
                Some(reparsed) if block == reparsed.deparser => bodies.extend(parts(body, false)),
                _ if block == last && self.emits_plainly => bodies.extend(parts(body, false)),
                _ => bodies.push(body),
            }
        }
        if self.emits_plainly && !self.keeps_headers {
            bodies.extend(parts(body_of(program, self.deparser), true));
        }
        bodies.push(self.between.before(program.blocks.next_id()));
        bodies
    }

    /// The graph of these bodies.
    pub(crate) fn graph<'p>(&'p self, program: &'p Program, key_words: &dyn Fn(ir::TableId) -> usize) -> Graph<'p> {
        let bodies = self.bodies(program);
        match self.run_to_completion {
            Some(object) => Graph::single(&bodies, Uncut::RunToCompletion(object)),
            None => {
                Graph::of_path(program, &bodies, key_words).with_duplicated_tails(program, SHORT_PROGRAM_STATEMENTS_MAX)
            }
        }
    }

    /// The statements with which the last deparser emits headers, and those between them if there are any.
    pub(crate) fn emission(&self, program: &Program) -> Vec<Stmt> {
        let body = body_of(program, self.deparser);
        if self.emits_plainly { parts(body, true).flatten().cloned().collect() } else { body.to_vec() }
    }

    /// Bytes of the packet before a header, if they are always as many.
    pub(crate) fn bytes_before(&self, header: HeaderId) -> Option<u32> {
        self.headers.get(&header)?.at_bytes
    }

    /// How a packet leaves that goes to this label, if it leaves there.
    pub(crate) fn exit_at(&self, label: LabelId) -> Option<Exit> {
        self.between.exit_at(label)
    }

    /// Assigns places to the variables that are live across batch stages.
    fn find_spilled(&mut self, program: &Program, key_words: &dyn Fn(ir::TableId) -> usize) {
        let mut stages_of: OrderedMap<VarId, (usize, usize)> = OrderedMap::new();
        {
            // Tail duplication spills no more variables: between two uses of a variable within one stage, no packet
            // meets a table.
            let graph = Graph::of_path(program, &self.bodies(program), key_words);
            let mut mention = |var: VarId, stage: usize| {
                let (first, last) = stages_of.entry(var).or_insert((stage, stage));
                (*first, *last) = (stage.min(*first), stage.max(*last));
            };
            match self.entry {
                Entry::Parser | Entry::Again => {
                    walk_block(program, &program.blocks[self.parser], Tables::Inside, &mut |item| {
                        if let Item::Var(var) = item {
                            mention(var, 0);
                        }
                    })
                }
                // Replicas begin with all that their packet has.
                Entry::Queues => {
                    let given = program.vars.iter_enumerated().filter(|(_, var)| var.kind != VarKind::Local);
                    given.for_each(|(var, _)| mention(var, 0));
                }
            }
            for at_end in [self.egress_port].into_iter().chain(self.truncated) {
                mention(at_end, graph.stages.len().saturating_sub(1));
            }
            for (stage, nodes) in graph.stages.iter().enumerate() {
                for &node in nodes {
                    graph.walk_node(program, node, &mut |item| match item {
                        Item::Var(var) => mention(var, stage),
                        Item::Stmt(Stmt { kind: StmtKind::Leave(label), .. }) => {
                            if let Some(Exit::PuntIngress | Exit::PuntEgress) = self.exit_at(*label) {
                                self.written_back.iter().for_each(|&var| mention(var, stage));
                            }
                        }
                        _ => {}
                    });
                }
            }
        }
        let private = super::storage::private_params(program, &self.all_bodies(program));
        for (var, (first, last)) in stages_of {
            let width = program.vars[var].ty.width();
            let in_memory = width > 64 && program.vars[var].kind != VarKind::Local;
            if first == last || width == 0 || in_memory || private.contains(&var) || self.times.contains(&var) {
                continue;
            }
            self.spilled.insert(var, (self.spilled_bytes, last));
            self.spilled_bytes += width.div_ceil(64) * 8;
        }
    }

    /// The bodies and, as statements, those of the parser's states.
    fn all_bodies<'p>(&'p self, program: &'p Program) -> Vec<&'p [Stmt]> {
        let mut bodies = self.bodies(program);
        if let BlockKind::Parser { states, .. } = &program.blocks[self.parser].kind {
            bodies.extend(states.iter().map(|state| &state.body[..]));
        }
        bodies
    }
}

/// The variables with times that queues write which the program mentions in the blocks behind the queues, or in those
/// before them.
fn times(program: &Program, is_behind_queues: bool) -> OrderedSet<VarId> {
    let mut found = OrderedSet::new();
    let blocks = program.blocks.iter().zip(program.architecture.blocks);
    for (block, _) in blocks.filter(|(_, info)| info.is_behind_queues == is_behind_queues) {
        walk_block(program, block, Tables::Inside, &mut |item| {
            if let Item::Var(var) = item {
                found.insert(var);
            }
        });
    }
    let is_time = |slot| program.architecture.source(slot) == Source::QueueTime;
    found.retain(|&var| program.vars[var].kind.slot().is_some_and(is_time));
    found
}

/// Whether a program writes the times that queues write, or reads them before the queues.
fn misuses_times(program: &Program) -> bool {
    let mut written = OrderedSet::new();
    visit_writes(program, &mut |place, _| written.extend(base_var(place)));
    !times(program, false).is_empty() || !times(program, true).is_disjoint(&written)
}

/// The first parser.
fn parser_of(program: &Program) -> BlockId {
    program.architecture.first(BlockRole::Parser).unwrap_or(BlockId::from_index(0))
}

/// The last deparser.
pub(crate) fn deparser_of(program: &Program) -> BlockId {
    program.architecture.last_deparser().unwrap_or(BlockId::from_index(0))
}

/// The body of a control; parsers have none.
pub(crate) fn body_of(program: &Program, block: BlockId) -> &[Stmt] {
    match &program.blocks[block].kind {
        BlockKind::Control { body } => body,
        BlockKind::Parser { .. } => &[],
    }
}

/// Whether no header becomes longer than it was when it was extracted: the headers with varbit fields are extracted and
/// removed, and in no stack. Others are not relocated in place.
fn has_fixed_lengths(program: &Program) -> bool {
    let is_long = |header: &HeaderRef| program.header_type(header).varbit().is_some();
    let mut are_elements = program.stacks.iter().flat_map(|stack| &stack.elements);
    !are_elements.any(|&element| is_long(&HeaderRef::Fixed(element)))
        && !any_statement(program, |kind| match kind {
            StmtKind::SetVarbit { .. } | StmtKind::CopyVarbit { .. } => true,
            StmtKind::SetValid(header) | StmtKind::CopyHeader { dst: header, .. } => is_long(header),
            _ => false,
        })
}

/// Metadata of more than 64 bits, which are not scalar variables in C.
pub(crate) fn wide_metadata(program: &Program) -> impl Iterator<Item = (VarId, &ir::Var)> {
    program.vars.iter_enumerated().filter(|(_, var)| var.kind == VarKind::Metadata && var.ty.width() > 64)
}

fn wide_metadata_bytes(program: &Program) -> u32 {
    wide_metadata(program).map(|(_, var)| var.ty.width().div_ceil(64) * 8).fold(0, u32::saturating_add)
}

fn hashes_payload(program: &Program) -> bool {
    any_statement(program, |kind| matches!(kind, StmtKind::Hash { payload: true, .. }))
}

/// Whether a program has such a statement anywhere.
fn any_statement(program: &Program, is_such: impl Fn(&StmtKind) -> bool) -> bool {
    let mut found = false;
    state::walk_program(program, &mut |stmt| found |= is_such(&stmt.kind));
    found
}

fn deparser_applies_tables(program: &Program) -> bool {
    let mut found = false;
    for id in program.blocks.ids().filter(|&id| program.role(id) == BlockRole::Deparser) {
        walk_block(program, &program.blocks[id], Tables::Outside, &mut |item| {
            found |= matches!(item, Item::Stmt(Stmt { kind: StmtKind::ApplyTable { .. }, .. }));
        });
    }
    found
}

/// State whose order of use would show that packets run together even though no table is looked up between two uses:
/// punted packets reach egress, or ingress again, after their neighbours, and all packets are parsed before the first
/// lookup.
fn run_to_completion(program: &Program, may_punt: bool) -> Option<Object> {
    let written = state::written_registers(program);
    let touched = |block: BlockId| state::touched_in(program, &program.blocks[block], &written);
    use Serialised::{BetweenBlocks, BetweenPasses, Published};
    let (BetweenBlocks(again) | BetweenPasses(again) | Published(again)) = match state::serialised(program) {
        Some(again) => again,
        None if may_punt => return program.architecture.blocks_behind_queues().flat_map(touched).next(),
        None => return None,
    };
    (may_punt || !touched(parser_of(program)).is_empty()).then_some(again)
}

/// The variables that must be written back when the core continues with a packet: all intrinsic ones, and metadata that
/// a field list or a later block names.
fn written_back(program: &Program) -> OrderedSet<VarId> {
    let mut written_back: OrderedSet<VarId> =
        program.field_lists.iter().flat_map(|list| list.vars.iter().copied()).collect();
    let ingress = program.architecture.ingress();
    for id in program.blocks.ids().filter(|&id| Some(id) > ingress) {
        walk_block(program, &program.blocks[id], Tables::Inside, &mut |item| {
            if let Item::Var(var) = item {
                written_back.insert(var);
            }
        });
    }
    written_back.retain(|&var| program.vars[var].kind == VarKind::Metadata);
    let shared = program.vars.iter_enumerated().filter(|(_, var)| matches!(var.kind, VarKind::Intrinsic(_)));
    written_back.extend(shared.map(|(id, _)| id));
    written_back
}

/// The headers that the parser extracts; of a stack, all elements.
fn extracted_headers(program: &Program) -> OrderedSet<HeaderId> {
    let mut found = OrderedSet::new();
    let parser = &program.blocks[parser_of(program)];
    walk_block(program, parser, Tables::Outside, &mut |item| {
        let Item::Stmt(Stmt { kind: StmtKind::Extract { dst, .. }, .. }) = item else { return };
        match (dst, super::storage::stack_of(dst)) {
            (HeaderRef::Fixed(id), _) => found.extend([*id]),
            (_, Some(stack)) => found.extend(&program.stacks[stack].elements),
            _ => {}
        }
    });
    found
}

/// The most bytes that any path through the parser extracts: in place, no byte after them is overwritten. None if they
/// may be more than [`ORIGINAL_BYTES_MAX`], or if the parser skips bytes.
fn parsed_bytes_max(program: &Program) -> Option<u32> {
    furthest(program, |state, before| {
        let mut bytes = before;
        visit_body(&state.body, &mut |stmt| match &stmt.kind {
            StmtKind::Extract { dst, .. } => bytes = bytes.saturating_add(program.header_type(dst).bytes_max()),
            StmtKind::Advance { .. } => bytes = u32::MAX,
            _ => {}
        });
        // So a loop that extracts ends.
        (bytes <= ORIGINAL_BYTES_MAX).then_some(bytes)
    })
}

/// The furthest position that packets reach in the parser. `through` returns the position after a state from the one
/// before it; if it returns none, so does this. No cycle may advance without end.
fn furthest(program: &Program, through: impl Fn(&ir::ParserState, u32) -> Option<u32>) -> Option<u32> {
    let BlockKind::Parser { start, states, .. } = &program.blocks[parser_of(program)].kind else { return None };
    let mut before: OrderedMap<ir::StateId, u32> = OrderedMap::from([(*start, 0)]);
    let mut pending = vec![*start];
    let mut most = 0;
    while let Some(id) = pending.pop() {
        let behind = through(&states[id], before[&id])?;
        most = most.max(behind);
        for next in states[id].targets() {
            if before.get(&next).is_none_or(|&known| known < behind) {
                before.insert(next, behind);
                pending.push(next);
            }
        }
    }
    Some(most)
}

/// Whether a statement, or one inside of it, extracts a header.
pub(super) fn extracts(stmt: &Stmt) -> bool {
    let mut found = false;
    visit_body(std::slice::from_ref(stmt), &mut |stmt| found |= matches!(stmt.kind, StmtKind::Extract { .. }));
    found
}

/// Whether a statement can make a packet's headers differ from those that were extracted one after the other.
pub(crate) fn changes_headers(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::SetValid(_)
            | StmtKind::SetInvalid(_)
            | StmtKind::CopyHeader { .. }
            | StmtKind::CopyVarbit { .. }
            | StmtKind::SetVarbit { .. }
            | StmtKind::PushFront { .. }
            | StmtKind::PopFront { .. }
            | StmtKind::Advance { .. }
    )
}

/// Whether the parser has such a statement.
fn any_in_parser(program: &Program, is_such: impl Fn(&StmtKind) -> bool) -> bool {
    let mut found = false;
    let parser = &program.blocks[parser_of(program)];
    walk_block(program, parser, Tables::Outside, &mut |item| {
        found |= matches!(item, Item::Stmt(stmt) if is_such(&stmt.kind));
    });
    found
}

/// The last of the emitted headers, as far as no statement makes one valid or invalid, or moves it. Empty if the length
/// of what the parser extracts before them is not known from which headers there are.
fn tail(program: &Program, emitted: &[HeaderId], extracted: &OrderedSet<HeaderId>) -> OrderedSet<HeaderId> {
    let mut changed = OrderedSet::new();
    state::walk_program(program, &mut |stmt| match &stmt.kind {
        StmtKind::SetValid(header)
        | StmtKind::SetInvalid(header)
        | StmtKind::CopyHeader { dst: header, .. }
        | StmtKind::CopyVarbit { dst: (header, _), .. }
        | StmtKind::SetVarbit { dst: (header, _), .. } => match (header, super::storage::stack_of(header)) {
            (HeaderRef::Fixed(id), _) => changed.extend([*id]),
            (_, Some(stack)) => changed.extend(&program.stacks[stack].elements),
            _ => {}
        },
        StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
            changed.extend(&program.stacks[*stack].elements);
        }
        _ => {}
    });
    let tail: OrderedSet<HeaderId> =
        emitted.iter().rev().take_while(|header| !changed.contains(header)).copied().collect();
    let is_fixed = |header: &HeaderId| program.header_type(&HeaderRef::Fixed(*header)).varbit().is_none();
    if extracted.difference(&tail).all(is_fixed) { tail } else { OrderedSet::new() }
}

/// Whether the parser skips bytes that belong to no header.
pub(crate) fn advances(program: &Program) -> bool {
    any_in_parser(program, |kind| matches!(kind, StmtKind::Advance { .. }))
}

/// Whether every path through the parser extracts headers in the order in which they are emitted, those that are not
/// emitted before all others. So if no block changes which are valid or where they are, exactly what was extracted
/// behind those is emitted, without gaps.
fn parses_in_order(program: &Program, unemitted: &[HeaderId], emitted: &[HeaderId]) -> bool {
    let emitted: OrderedMap<HeaderId, u32> = unemitted.iter().chain(emitted).copied().zip(0..).collect();
    // How far in the list of emits a packet can be. Every cycle that extracts advances in the list.
    let through = |state: &ir::ParserState, before: u32| {
        let mut position = before;
        for stmt in &state.body {
            let StmtKind::Extract { dst, .. } = &stmt.kind else {
                if extracts(stmt) {
                    return None;
                }
                continue;
            };
            let HeaderRef::Fixed(header) = dst else { return None };
            position = emitted.get(header).filter(|&&at| at >= position)? + 1;
        }
        Some(position)
    };
    furthest(program, through).is_some()
}
