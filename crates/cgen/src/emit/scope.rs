//! The state of code generation for the code that one packet runs through.

use super::Emitter;
use super::fast_path::PathStage;
use super::layout::{Layout, Leaving, Lies};
use crate::plan::MOVED_BIT;
use crate::plan::graph::{Graph, NodeId};
use base::{OrderedMap, OrderedSet, Span};
use ir::{BinaryOp, BlockId, Expr, ExprKind, HeaderId, HeaderRef, LabelId, Stmt, UnaryOp, VarId, VarKind};
use lir::{Expr as C, StatePart, Stmt as S, Type, arrow, assign, binary, constant, declare_array, int, long, name};
use std::rc::Rc;

/// The facts that hold at a place in the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    /// Whether the place is reachable.
    pub(crate) reachable: bool,
    /// Headers that are certainly valid.
    pub(crate) valid: OrderedSet<HeaderId>,
    /// Headers that are certainly invalid.
    pub(crate) invalid: OrderedSet<HeaderId>,
    /// Headers that, if they are valid, still lie at the fixed offset at which the parser extracted them.
    pub(crate) in_their_places: OrderedSet<HeaderId>,
    /// Where valid headers lie in code for packets with known headers, as far as that is known.
    pub(crate) lies: OrderedMap<HeaderId, Lies>,
    /// Whether the valid headers are those that the parser has extracted, and none was relocated.
    pub(crate) as_parsed: bool,
    /// The headers that the parser has extracted, where that is certain.
    pub(crate) extracted: Option<OrderedSet<HeaderId>>,
    /// Variables with a constant value. Only the spilled variables of the fast path are tracked.
    pub(crate) vars: OrderedMap<VarId, u64>,
    /// Sums that are the complement of the packet's checksum, which was verified.
    pub(crate) in_packet: OrderedSet<usize>,
    /// Sums of which a field or the checksum may have been written.
    pub(crate) touched: OrderedSet<usize>,
    /// Where code may have stored a few bytes of a header: the first byte, and how many.
    pub(crate) stored: OrderedSet<(HeaderId, u32, u32)>,
}

impl Known {
    pub(crate) fn nothing() -> Known {
        Known {
            reachable: true,
            valid: OrderedSet::new(),
            invalid: OrderedSet::new(),
            in_their_places: OrderedSet::new(),
            lies: OrderedMap::new(),
            as_parsed: false,
            extracted: None,
            vars: OrderedMap::new(),
            in_packet: OrderedSet::new(),
            touched: OrderedSet::new(),
            stored: OrderedSet::new(),
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
            self.lies.retain(|header, lies| other.lies.get(header) == Some(lies));
            self.as_parsed &= other.as_parsed;
            if self.extracted != other.extracted {
                self.extracted = None;
            }
            self.vars.retain(|var, value| other.vars.get(var) == Some(value));
            self.in_packet.retain(|sum| other.in_packet.contains(sum));
            self.touched.extend(&other.touched);
            self.stored.extend(&other.stored);
        }
    }

    /// The value of a condition over variables, constants and headers' validity, if it is certain.
    pub(crate) fn decide(&self, condition: &Expr) -> Option<bool> {
        let number = |expr: &Expr| match &expr.kind {
            ExprKind::Const(value) if expr.ty.width() <= 64 => Some(value.low_u64()),
            ExprKind::Var(var) => self.vars.get(var).copied(),
            _ => None,
        };
        match &condition.kind {
            ExprKind::IsValid(HeaderRef::Fixed(id)) if self.valid.contains(id) => Some(true),
            ExprKind::IsValid(HeaderRef::Fixed(id)) if self.invalid.contains(id) => Some(false),
            ExprKind::Var(var) if condition.ty == ir::Type::Bool => self.vars.get(var).map(|&value| value != 0),
            ExprKind::Unary(UnaryOp::Not, inner) => Some(!self.decide(inner)?),
            ExprKind::Binary(BinaryOp::Eq, left, right) => Some(number(left)? == number(right)?),
            ExprKind::Binary(BinaryOp::Ne, left, right) => Some(number(left)? != number(right)?),
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) => match (self.decide(left), self.decide(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) => match (self.decide(left), self.decide(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
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
#[derive(Clone)]
pub(crate) enum Jump {
    /// In this code: the C label, and the facts that hold at all jumps to it.
    Here { label: String, known: Box<Known>, used: bool },
    /// At the start of a node of the graph.
    Node(NodeId),
}

/// The code that one packet runs through: a node of a control, a parser, a deparser.
pub(crate) struct Scope<'s, 'e> {
    pub(crate) emitter: &'s Emitter<'e>,
    pub(crate) block: BlockId,
    /// The fast path and its stage, if the code is not a block's own function.
    pub(crate) path: Option<PathStage<'s>>,
    /// The label at the end of the code, if other code of the stage follows.
    pub(crate) exit: Option<&'static str>,
    pub(crate) out: Vec<S>,
    pub(crate) known: Known,
    pub(crate) labels: OrderedMap<LabelId, Jump>,
    /// The nodes of the stage that is generated.
    pub(crate) stage: OrderedSet<NodeId>,
    /// Empty nodes at the block's end.
    pub(crate) ends: OrderedSet<NodeId>,
    /// The conditions at the start of each node under which packets leave the fast path.
    pub(crate) early_exits: Rc<[EarlyExits<'s>]>,
    /// The facts that hold at each jump to another node.
    pub(crate) transfers: Vec<(NodeId, Known)>,
    /// The parser's error variable.
    pub(crate) parser_error: Option<VarId>,
    /// How many loops are open.
    pub(crate) loops_open: u32,
    /// Whether headers are emitted, or put before the payload.
    pub(crate) deparses: bool,
    /// Whether packets enter the code as they were received, or as replicas.
    pub(crate) begins: bool,
    /// The point at which the code decides, if it does.
    pub(crate) point: u32,
    /// The entry of the table whose actions are generated.
    pub(crate) entry: Option<(ir::TableId, C)>,
    /// Whether emitted headers are copied at once.
    pub(crate) staged: bool,
    /// Headers that were emitted in place and are to be put before the payload.
    pub(crate) emitted: Vec<HeaderRef>,
    /// The graph, if packets do not go to other nodes of the stage: the code of these follows in place.
    pub(crate) inlined: Option<&'s Graph<'s>>,
    /// Where the headers of packets that leave will lie, if that is known.
    pub(crate) layout: Option<Layout>,
    /// How packets leave the code.
    pub(crate) leaving: Leaving,
    /// The node whose table's actions are generated, if what follows it may be generated after an action.
    pub(crate) rest: Option<NodeId>,
    /// The next number of a temporary or label, unique within a function.
    pub(crate) next_name: u32,
    pub(crate) depth: u32,
    last_line: Option<(String, u32)>,
}

impl<'s, 'e> Scope<'s, 'e> {
    pub(crate) fn new(emitter: &'s Emitter<'e>, block: BlockId, next_name: u32) -> Self {
        Scope {
            emitter,
            block,
            path: None,
            exit: None,
            out: Vec::new(),
            known: Known::nothing(),
            labels: OrderedMap::new(),
            stage: OrderedSet::new(),
            ends: OrderedSet::new(),
            early_exits: Rc::new([]),
            transfers: Vec::new(),
            parser_error: None,
            loops_open: 0,
            deparses: false,
            begins: false,
            point: 0,
            entry: None,
            staged: false,
            emitted: Vec::new(),
            inlined: None,
            layout: None,
            leaving: Leaving::default(),
            rest: None,
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
        self.assume_of_vars(condition, truth);
    }

    /// Adds the values of spilled variables that follow from a condition's value.
    fn assume_of_vars(&mut self, condition: &Expr, truth: bool) {
        match &condition.kind {
            ExprKind::Var(var) if condition.ty == ir::Type::Bool => self.learn_value(*var, u64::from(truth)),
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume_of_vars(inner, !truth),
            ExprKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), left, right)
                if (*op == BinaryOp::LogicalAnd) == truth =>
            {
                self.assume_of_vars(left, truth);
                self.assume_of_vars(right, truth);
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) if (*op == BinaryOp::Eq) == truth => {
                if let (ExprKind::Var(var), ExprKind::Const(value)) = (&left.kind, &right.kind)
                    && right.ty.width() <= 64
                {
                    self.learn_value(*var, value.low_u64());
                }
            }
            _ => {}
        }
    }

    /// Records the value of a variable, if it is a spilled one of the fast path.
    pub(crate) fn learn_value(&mut self, var: VarId, value: u64) {
        if self.path.is_some_and(|path| path.fast_path.spilled.contains_key(&var)) {
            self.known.vars.insert(var, value);
        }
    }

    /// The value in a temporary constant, unless it is a name or a number already.
    pub(crate) fn atom(&mut self, value: C) -> C {
        match value {
            C::Name(_) | C::State(_) | C::Int(_) | C::Long(_) => value,
            _ => self.temporary(value),
        }
    }

    /// The value in a temporary constant.
    pub(crate) fn temporary(&mut self, value: C) -> C {
        let temp = self.fresh("t");
        self.push(constant(Type::U64, temp.clone(), value));
        name(temp)
    }

    /// An array of limbs for a value of this width.
    pub(crate) fn limbs(&mut self, width: u32) -> C {
        let temp = self.fresh("t");
        self.push(declare_array(Type::U64, temp.clone(), width.div_ceil(64).max(1), None));
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
                let text: String = line.text.trim().chars().take(super::COMMENT_LETTERS_MAX).collect();
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
        self.leave_with(None);
        self.push(self.exit.map_or(S::Leave, |label| S::Goto(label.into())));
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

    /// Records that a header of the packet was relocated.
    pub(crate) fn note_moved(&mut self) {
        if self.path.is_some_and(|path| path.fast_path.may_stay) {
            self.push(S::Assign(valid_word(0), "|=", long(1 << MOVED_BIT)));
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

    /// The C place of a variable that is read: a number, or an array of limbs.
    pub(crate) fn var_place(&self, var: VarId) -> C {
        if self.path.is_some_and(|path| path.fast_path.times.contains(&var)) {
            let time_us = binary("/", self.now_ns(), long(1000));
            return super::masked(time_us, self.emitter.program.vars[var].ty.width());
        }
        self.place_to_write(var)
    }

    /// The C place of a variable that is overwritten.
    pub(crate) fn place_to_write(&self, var: VarId) -> C {
        match self.is_local(var) {
            // A private parameter is declared where its action begins.
            true if self.emitter.private_params.contains(&var) => name(self.emitter.var_name(var)),
            true => lir::var(var),
            false => C::Saved(StatePart::Var(var)),
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
                return C::Saved(StatePart::Valid(word));
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

    /// Makes the block's local headers invalid, at the start of a block.
    pub(crate) fn reset_local_headers(&mut self) {
        let headers: Vec<HeaderId> = self.emitter.plan.blocks[self.block].local_headers.iter().copied().collect();
        let mut words: OrderedMap<u32, (u64, bool)> = OrderedMap::new();
        for header in headers {
            let bit = self.emitter.plan.headers[header].bit;
            let dynamic = self.emitter.dynamic_element(header).is_some();
            let word = words.entry(bit / 64).or_insert((0, dynamic));
            word.0 |= 1 << (bit % 64);
        }
        for (word, (bits, dynamic)) in words {
            let place = if dynamic { dynamic_word(word) } else { valid_word(word) };
            self.push(S::Assign(place, "&=", long(!bits)));
        }
    }

    /// Zeroes the spilled locals, at the start of a block.
    pub(crate) fn reset_spilled(&mut self) {
        let vars: Vec<VarId> = self.emitter.plan.blocks[self.block].spilled.keys().copied().collect();
        for var in vars {
            let (width, place) = (self.emitter.program.vars[var].ty.width(), self.var_place(var));
            if width > 64 {
                self.push(S::Eval(lir::call("ws_wide_zero", vec![place, int(width)])));
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

/// A word of valid bits.
pub(crate) fn valid_word(word: u32) -> C {
    C::State(StatePart::Valid(word))
}

/// A word of valid bits of elements that are indexed at run time: it is only in the context.
pub(crate) fn dynamic_word(word: u32) -> C {
    lir::index(arrow(name("c"), "valid"), int(word))
}

/// `base + offset` where the offset is known or computed.
pub(crate) fn add(base: u32, offset: C) -> C {
    match offset {
        C::Int(offset) => int(base + offset),
        _ if base == 0 => offset,
        _ => binary("+", int(base), offset),
    }
}
