//! The state of code generation for the code that one packet runs through.

use super::Emitter;
use super::fast_path::PathStage;
use crate::ctree::{Expr as C, Stmt as S, arrow, assign, binary, cast, declare, declare_array, index, int, long, name};
use crate::plan::MOVED_BIT;
use crate::plan::graph::NodeId;
use base::Span;
use ir::{BinaryOp, BlockId, Expr, ExprKind, HeaderId, HeaderRef, LabelId, Stmt, UnaryOp, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Letters of a source line that its comment shows.
const COMMENT_LETTERS_MAX: usize = 100;

/// The facts that hold at a place in the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    /// Whether the place is reachable.
    pub(crate) reachable: bool,
    /// Headers that are certainly valid.
    pub(crate) valid: BTreeSet<HeaderId>,
    /// Headers that are certainly invalid.
    pub(crate) invalid: BTreeSet<HeaderId>,
    /// Headers that, if they are valid, still lie at the fixed offset at which the parser extracted them.
    pub(crate) in_their_places: BTreeSet<HeaderId>,
    /// Whether the valid headers are those that the parser has extracted, and none was relocated.
    pub(crate) as_parsed: bool,
    /// The headers that the parser has extracted, where that is certain.
    pub(crate) extracted: Option<BTreeSet<HeaderId>>,
    /// Variables with a constant value. Only the spilled variables of the fast path are tracked.
    pub(crate) vars: BTreeMap<VarId, u64>,
    /// Variables that have been written since packets entered the stage.
    pub(crate) written: BTreeSet<VarId>,
    /// Sums that are the complement of the packet's checksum, which was verified.
    pub(crate) in_packet: BTreeSet<usize>,
    /// Sums of which a field or the checksum may have been written.
    pub(crate) touched: BTreeSet<usize>,
}

impl Known {
    pub(crate) fn nothing() -> Known {
        Known {
            reachable: true,
            valid: BTreeSet::new(),
            invalid: BTreeSet::new(),
            in_their_places: BTreeSet::new(),
            as_parsed: false,
            extracted: None,
            vars: BTreeMap::new(),
            written: BTreeSet::new(),
            in_packet: BTreeSet::new(),
            touched: BTreeSet::new(),
        }
    }

    pub(crate) fn unreachable() -> Known {
        Known { reachable: false, ..Known::nothing() }
    }

    /// The facts that hold where two paths join.
    pub(crate) fn join(&mut self, other: &Known) {
        if !self.reachable {
            *self = other.clone();
        } else if other.reachable {
            self.valid.retain(|header| other.valid.contains(header));
            self.invalid.retain(|header| other.invalid.contains(header));
            self.in_their_places.retain(|header| other.in_their_places.contains(header));
            self.as_parsed &= other.as_parsed;
            if self.extracted != other.extracted {
                self.extracted = None;
            }
            self.vars.retain(|var, value| other.vars.get(var) == Some(value));
            self.written.retain(|var| other.written.contains(var));
            self.in_packet.retain(|sum| other.in_packet.contains(sum));
            self.touched.extend(&other.touched);
        }
    }

    /// The value of a condition over variables and constants, if it is certain.
    pub(crate) fn decide(&self, condition: &Expr) -> Option<bool> {
        let number = |expr: &Expr| match &expr.kind {
            ExprKind::Const(value) if expr.ty.width() <= 64 => Some(value.low_u64()),
            ExprKind::Var(var) => self.vars.get(var).copied(),
            _ => None,
        };
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => Some(!self.decide(inner)?),
            ExprKind::Binary(BinaryOp::Eq, left, right) => Some(number(left)? == number(right)?),
            ExprKind::Binary(BinaryOp::Ne, left, right) => Some(number(left)? != number(right)?),
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) => match (self.decide(left), self.decide(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds the facts that follow from a condition's value.
    pub(crate) fn assume(&mut self, condition: &Expr, truth: bool) {
        match &condition.kind {
            ExprKind::IsValid(HeaderRef::Fixed(id)) => {
                if truth { &mut self.valid } else { &mut self.invalid }.insert(*id);
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !truth),
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) if truth => {
                self.assume(left, true);
                self.assume(right, true);
            }
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) if !truth => {
                self.assume(left, false);
                self.assume(right, false);
            }
            _ => {}
        }
    }
}

/// The leading statements of a node that only leave the fast path under a condition: the condition and the label.
pub(crate) type EarlyExits<'s> = Vec<(&'s Expr, LabelId)>;

/// The target of a label.
pub(crate) enum Jump {
    /// In this code: the C label, and the facts that hold at all jumps to it.
    Here { label: String, known: Box<Known>, used: bool },
    /// At the start of a node of the graph.
    Node(NodeId),
}

/// What the code has used, which is declared before it.
#[derive(Default)]
pub(crate) struct Used {
    pub(crate) locals: BTreeSet<VarId>,
    pub(crate) headers: BTreeSet<HeaderId>,
    pub(crate) words: BTreeSet<u32>,
    pub(crate) dirty_words: BTreeSet<u32>,
    pub(crate) loops: BTreeSet<LabelId>,
    /// Variables that are written, on the fast path.
    pub(crate) written: BTreeSet<VarId>,
    /// Variables whose value at the start of the stage may be read.
    pub(crate) looked_at: BTreeSet<VarId>,
    /// Variables that are written on every path to a later stage; none before the first such path is known.
    pub(crate) surely_written: Option<BTreeSet<VarId>>,
    pub(crate) spilled: bool,
    /// Items of the environment's arrays that are copied to constants.
    pub(crate) env_items: BTreeSet<(&'static str, u32)>,
    /// Sums that are computed, read or updated.
    pub(crate) sums: BTreeSet<usize>,
    /// Whether packets may be punted here.
    pub(crate) may_punt: bool,
    /// Whether headers are emitted, or put before the payload.
    pub(crate) deparses: bool,
    /// The parts of the saved state that are read where headers are relocated in place.
    pub(crate) state_reads: StateReads,
    pub(crate) exit: bool,
    /// At how many places packets leave.
    pub(crate) leaves: usize,
    /// At how many of these places they get a verdict.
    pub(crate) verdicts: usize,
    /// At how many of these places they go to a later stage.
    pub(crate) handed_on: usize,
}

/// The parts of a packet's saved state that code reads where headers are relocated in place.
#[derive(Clone, Default)]
pub(crate) struct StateReads {
    /// Where the payload begins.
    pub(crate) payload: bool,
    /// Which headers the parser has extracted.
    pub(crate) parsed: bool,
    /// Where these headers lie.
    pub(crate) places: BTreeSet<HeaderId>,
}

impl StateReads {
    pub(crate) fn add(&mut self, other: &StateReads) {
        self.payload |= other.payload;
        self.parsed |= other.parsed;
        self.places.extend(&other.places);
    }
}

/// The code that one packet runs through: a node of a control, a parser, a deparser.
pub(crate) struct Scope<'s, 'e> {
    pub(crate) emitter: &'s Emitter<'e>,
    pub(crate) block: BlockId,
    /// The fast path and its stage, if the code is not a block's own function.
    pub(crate) path: Option<PathStage<'s>>,
    /// The facts that hold where packets enter the stage at its first entry.
    pub(crate) entered: Known,
    /// The C label at its end.
    pub(crate) exit: String,
    pub(crate) out: Vec<S>,
    pub(crate) known: Known,
    pub(crate) labels: BTreeMap<LabelId, Jump>,
    pub(crate) used: Used,
    /// Tables' nodes that are entered through a list of packets, not a mask.
    pub(crate) lists: BTreeSet<NodeId>,
    /// The nodes of the stage that is generated.
    pub(crate) stage: BTreeSet<NodeId>,
    /// Empty nodes at the block's end.
    pub(crate) ends: BTreeSet<NodeId>,
    /// The conditions at the start of each node under which packets leave the fast path.
    pub(crate) early_exits: Rc<[EarlyExits<'s>]>,
    /// The facts that hold at each jump to another node.
    pub(crate) transfers: Vec<(NodeId, Known)>,
    /// The parser's error variable.
    pub(crate) parser_error: Option<VarId>,
    /// While the parser is generated as the first part of the fast path: the C label at the end of the path, and the
    /// number of jumps to it.
    pub(crate) path_exit: Option<(String, usize)>,
    /// The point at which the code decides, if it does.
    pub(crate) point: u32,
    /// The entry of the table whose actions are generated.
    pub(crate) entry: Option<(ir::TableId, C)>,
    /// Whether emitted headers are copied at once.
    pub(crate) staged: bool,
    /// Headers that were emitted in place and are to be put before the payload.
    pub(crate) emitted: Vec<HeaderRef>,
    /// The next number of a temporary or label, unique within a function.
    pub(crate) next_name: u32,
    pub(crate) depth: u32,
    last_line: Option<(String, u32)>,
}

impl<'s, 'e> Scope<'s, 'e> {
    pub(crate) fn new(emitter: &'s Emitter<'e>, block: BlockId, exit: impl Into<String>, next_name: u32) -> Self {
        Scope {
            emitter,
            block,
            path: None,
            entered: Known::nothing(),
            exit: exit.into(),
            out: Vec::new(),
            known: Known::nothing(),
            labels: BTreeMap::new(),
            used: Used::default(),
            lists: BTreeSet::new(),
            stage: BTreeSet::new(),
            ends: BTreeSet::new(),
            early_exits: Rc::new([]),
            transfers: Vec::new(),
            parser_error: None,
            path_exit: None,
            point: 0,
            entry: None,
            staged: false,
            emitted: Vec::new(),
            next_name,
            depth: 0,
            last_line: None,
        }
    }

    pub(crate) fn push(&mut self, stmt: S) {
        self.out.push(stmt);
    }

    /// The statements that `write` generates, without appending them.
    pub(crate) fn take(&mut self, write: impl FnOnce(&mut Self)) -> Vec<S> {
        let outer = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// A name that is unique in the function. Names of nodes, tables and words have their number without an underscore.
    pub(crate) fn fresh(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}_{}", self.next_name)
    }

    /// Adds the facts that follow from a condition's value.
    pub(crate) fn assume(&mut self, condition: &Expr, truth: bool) {
        self.known.assume(condition, truth);
        if let Some(path) = self.path.filter(|_| self.known.as_parsed) {
            let before = |id| path.fast_path.parsed.get(id).into_iter().flat_map(|extracted| &extracted.after);
            let before: Vec<HeaderId> = self.known.valid.iter().flat_map(before).copied().collect();
            self.known.valid.extend(before);
        }
        self.note_extracted();
        self.assume_of_sums(condition, truth);
    }

    /// The value in a temporary constant, unless it is a name or a number already.
    pub(crate) fn atom(&mut self, value: C) -> C {
        match value {
            C::Name(_) | C::Int(_) | C::Long(_) => value,
            _ => self.temporary(value),
        }
    }

    /// The value in a temporary constant.
    pub(crate) fn temporary(&mut self, value: C) -> C {
        let temp = self.fresh("t");
        self.push(declare("const uint64_t", temp.clone(), value));
        name(temp)
    }

    /// An array of limbs for a value of this width.
    pub(crate) fn limbs(&mut self, width: u32) -> C {
        let temp = self.fresh("t");
        self.push(declare_array("WS_UNUSED uint64_t", temp.clone(), width.div_ceil(64).max(1), None));
        name(temp)
    }

    /// Adds the source line of a span as a comment, unless the previous comment has the same line.
    pub(crate) fn comment(&mut self, span: Span) {
        if span.is_none() {
            return;
        }
        if let Some(line) = (self.emitter.source)(span) {
            let place = (line.file.clone(), line.line);
            if self.last_line.as_ref() != Some(&place) {
                let text: String = line.text.trim().chars().take(COMMENT_LETTERS_MAX).collect();
                self.push(S::Comment(format!("{}:{}: {text}", line.file, line.line)));
                self.last_line = Some(place);
            }
        }
    }

    /// Makes the next statement get its comment even if it has the line of the one before.
    pub(crate) fn forget_line(&mut self) {
        self.last_line = None;
    }

    /// Ends this packet's run through the code.
    pub(crate) fn leave(&mut self) {
        self.used.exit = true;
        self.used.leaves += 1;
        self.push(S::Goto(self.exit.clone()));
        self.known = Known::unreachable();
    }

    /// Whether packets are processed where their bytes lie.
    pub(crate) fn is_in_place(&self) -> bool {
        self.path.is_some_and(|path| path.fast_path.in_place)
    }

    /// Whether headers are relocated in place, too.
    pub(crate) fn moves(&self) -> bool {
        self.path.is_some_and(|path| path.fast_path.moves)
    }

    /// Whether packets are replicas of one that has been through ingress.
    pub(crate) fn is_of_replicas(&self) -> bool {
        self.path.is_some_and(|path| path.fast_path.is_of_replicas())
    }

    /// Whether packets may have another begin or length afterwards.
    pub(crate) fn changes_frames(&self) -> bool {
        self.path.is_some_and(|path| path.fast_path.moves || path.fast_path.truncated.is_some())
    }

    /// Records that a header of the packet was relocated.
    pub(crate) fn note_moved(&mut self) {
        if self.path.is_some_and(|path| path.fast_path.may_stay) {
            let word = self.valid_word(0, true);
            self.push(S::Assign(word, "|=", long(1 << MOVED_BIT)));
        }
    }

    /// A property of the packet as it was received: a member of its chunk's fixed part or, where packets are processed
    /// in place, of its frame.
    pub(crate) fn received(&self, member: &str) -> C {
        match member {
            _ if !self.is_in_place() => arrow(name("p"), member),
            "ingress_length" => arrow(name("frame"), "length"),
            "ingress_port" => arrow(name("frame"), "port"),
            _ => arrow(name("frame"), member),
        }
    }

    /// The word of valid bits that a plain header's bit is in.
    pub(crate) fn valid_word(&mut self, word: u32, written: bool) -> C {
        self.used.words.insert(word);
        if written {
            self.used.dirty_words.insert(word);
        }
        name(format!("valid{word}"))
    }

    /// The C place of a variable that is read: a number, or an array of limbs.
    pub(crate) fn var_place(&mut self, var: VarId) -> C {
        if self.path.is_some_and(|path| path.fast_path.times.contains(&var)) {
            let time_us = binary("/", self.now_ns(), long(1000));
            return super::masked(time_us, self.emitter.program.vars[var].ty.width());
        }
        if !self.known.written.contains(&var) {
            self.used.looked_at.insert(var);
        }
        self.place_to_write(var)
    }

    /// The C place of a variable that is overwritten.
    pub(crate) fn place_to_write(&mut self, var: VarId) -> C {
        let program = self.emitter.program;
        if self.is_local(var) {
            // A private parameter is declared where its action begins.
            if !self.emitter.private_params.contains(&var) {
                self.used.locals.insert(var);
            }
            return name(self.emitter.var_name(var));
        }
        match program.vars[var].kind {
            VarKind::Intrinsic(slot) => index(arrow(name("p"), "intrinsic"), int(slot)),
            VarKind::Metadata => arrow(name("c"), self.emitter.var_name(var)),
            VarKind::Local => self.spilled_place(var),
        }
    }

    /// Whether the variable is a C variable in this code.
    pub(crate) fn is_local(&self, var: VarId) -> bool {
        let var_ir = &self.emitter.program.vars[var];
        match self.path {
            Some(path) => {
                var_ir.ty.width() <= 64 || var_ir.kind == VarKind::Local && !path.fast_path.spilled.contains_key(&var)
            }
            None => var_ir.kind == VarKind::Local && !self.emitter.plan.blocks[self.block].spilled.contains_key(&var),
        }
    }

    /// The place of a spilled variable.
    pub(crate) fn spilled_place(&mut self, var: VarId) -> C {
        self.used.spilled = true;
        arrow(name("w"), self.emitter.var_name(var))
    }

    /// Records what is certainly written where packets go to a later stage.
    pub(crate) fn note_handing_on(&mut self) {
        self.used.handed_on += 1;
        let known = &self.known.written;
        match &mut self.used.surely_written {
            Some(written) => written.retain(|var| known.contains(var)),
            None => self.used.surely_written = Some(known.clone()),
        }
    }

    /// Records that a variable is written.
    pub(crate) fn note_write(&mut self, var: VarId) {
        self.used.written.insert(var);
    }

    /// Declarations of what the code has used, to be placed before it. `valid` returns the initial value of a word of
    /// valid bits, `pointer` that of the pointer to a header.
    pub(crate) fn declarations(&self, valid: impl Fn(u32) -> C, pointer: impl Fn(HeaderId) -> C) -> Vec<S> {
        let mut out = Vec::new();
        if self.used.spilled || self.path.is_some_and(|path| self.has_spilled(path)) {
            let spilled = match self.path {
                Some(path) => super::fast_path::spilled_name(path.fast_path).to_owned(),
                None => super::spilled_name(self.block),
            };
            let ty = format!("struct {spilled}");
            let place = cast("void *", arrow(name("c"), "spilled"));
            out.push(declare(&format!("{ty} *const "), "w WS_UNUSED", place));
        }
        for &word in &self.used.words {
            out.push(declare("uint64_t", format!("valid{word} WS_UNUSED"), valid(word)));
        }
        for &header in &self.used.headers {
            out.push(declare("uint8_t *", format!("{} WS_UNUSED", self.emitter.header_name(header)), pointer(header)));
        }
        for &var in &self.used.locals {
            out.push(match self.path {
                Some(_) => self.local_on_path(var),
                None => self.local(var),
            });
        }
        out.extend(self.sum_declarations());
        for label in &self.used.loops {
            out.push(declare("uint32_t", loop_counter(*label), int(0)));
        }
        out
    }

    pub(crate) fn local(&self, var: VarId) -> S {
        let text = self.emitter.var_name(var);
        match self.emitter.program.vars[var].ty.width() {
            0..=64 => declare("WS_UNUSED uint64_t", text, long(0)),
            width => declare_array("WS_UNUSED uint64_t", text, width.div_ceil(64), Some(C::List(vec![long(0)]))),
        }
    }

    /// Whether a header is certainly valid here.
    pub(crate) fn is_surely_valid(&self, header: HeaderId) -> bool {
        self.is_valid_where(&self.known, header)
    }

    /// Whether a header is certainly invalid here.
    pub(crate) fn is_surely_invalid(&self, header: HeaderId) -> bool {
        self.known.invalid.contains(&header)
    }

    /// A word of valid bits of packets that enter the stage with these known facts.
    pub(crate) fn valid_word_entering(&self, word: u32, known: &Known) -> C {
        let mut bits = 0;
        for (header, slot) in self.emitter.plan.headers.iter_enumerated().filter(|(_, slot)| slot.bit / 64 == word) {
            let is_valid = self.is_valid_where(known, header);
            let is_certain = is_valid || known.invalid.contains(&header);
            if !known.as_parsed || !is_certain || self.emitter.dynamic_element(header).is_some() {
                return valid_in_context(word);
            }
            bits |= u64::from(is_valid) << (slot.bit % 64);
        }
        long(bits)
    }

    /// Whether a header is certainly valid given these facts.
    pub(crate) fn is_valid_where(&self, known: &Known, header: HeaderId) -> bool {
        let is_before = |other: &HeaderId| {
            let extracted = self.path.and_then(|path| path.fast_path.headers.get(other));
            extracted.is_some_and(|extracted| extracted.after.contains(&header))
        };
        known.valid.contains(&header) || known.valid.iter().any(is_before)
    }

    /// Writes the changed copies of the context back.
    pub(crate) fn write_back(&self) -> Vec<S> {
        let word = |&word: &u32| assign(valid_in_context(word), name(format!("valid{word}")));
        let words = self.used.dirty_words.iter().map(word);
        match self.path {
            Some(path) => {
                let may_punt = self.used.may_punt || path.live_out.is_none_or(|live_out| live_out.may_punt);
                let all = may_punt && !self.is_in_place();
                let is_live = |word: &u32| path.live_out.is_some_and(|live_out| live_out.words.contains(word));
                let words = self.used.dirty_words.iter().filter(|word| all || is_live(word));
                let words = words.map(|&word| assign(valid_in_context(word), name(format!("valid{word}"))));
                words.chain(self.spilled_write_back(path)).chain(self.sum_write_back()).collect()
            }
            None => words.collect(),
        }
    }

    /// Makes the block's local headers invalid, at the start of a block.
    pub(crate) fn reset_local_headers(&mut self) {
        let headers: Vec<HeaderId> = self.emitter.plan.blocks[self.block].local_headers.iter().copied().collect();
        let mut words: BTreeMap<u32, (u64, bool)> = BTreeMap::new();
        for header in headers {
            let bit = self.emitter.plan.headers[header].bit;
            let dynamic = self.emitter.dynamic_element(header).is_some();
            let word = words.entry(bit / 64).or_insert((0, dynamic));
            word.0 |= 1 << (bit % 64);
        }
        for (word, (bits, dynamic)) in words {
            let place = if dynamic { valid_in_context(word) } else { self.valid_word(word, true) };
            self.push(S::Assign(place, "&=", long(!bits)));
        }
    }

    /// Zeroes the spilled locals, at the start of a block.
    pub(crate) fn reset_spilled(&mut self) {
        let vars: Vec<VarId> = self.emitter.plan.blocks[self.block].spilled.keys().copied().collect();
        for var in vars {
            let (width, place) = (self.emitter.program.vars[var].ty.width(), self.var_place(var));
            if width > 64 {
                self.push(S::Eval(crate::ctree::call("ws_wide_zero", vec![place, int(width)])));
            } else if width > 0 {
                self.push(assign(place, long(0)));
            }
        }
    }

    /// Number of a `log` or `assert`.
    pub(crate) fn site(&self, stmt: &Stmt) -> C {
        int(self.emitter.site(stmt))
    }
}

/// A word of valid bits in the context.
pub(crate) fn valid_in_context(word: u32) -> C {
    index(arrow(name("c"), "valid"), int(word))
}

/// The C variable that counts a loop's iterations.
pub(crate) fn loop_counter(label: LabelId) -> String {
    format!("steps_{label}")
}

/// `base + offset` where the offset is known or computed.
pub(crate) fn add(base: u32, offset: C) -> C {
    match offset {
        C::Int(offset) => int(base + offset),
        _ if base == 0 => offset,
        _ => binary("+", int(base), offset),
    }
}
