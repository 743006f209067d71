//! All ways through a parser.
//!
//! What enters: a program. What leaves: paths with the input for which the parser takes them, so that each transition
//! that was found possible is on one of them; and for each state that none reaches, the reason.
//!
//! Every transition is taken a limited number of times, and the whole walk has a budget of steps, so that it ends
//! whatever the program is.

use crate::path::{Path, place_type};
use crate::solve::Answer;
use crate::term::Term;
use base::index::Id as _;
use base::{Bits, OrderedMap, OrderedSet};
use ir::{
    BinaryOp, BlockId, BlockKind, BlockRole, Expr, HeaderRef, KeySet, LabelId, ParserState, Program, SelectCase,
    StateId, Stmt, StmtKind, Target, Transition, Type,
};
use std::collections::VecDeque;

/// How often a transition is taken.
const TAKEN_MAX: u32 = 128;
/// The steps of a walk, states that are entered: fewer in programs with many variables, which every path has.
const STEPS_MAX: usize = 12_000;
const STEPS_MIN: usize = 500;
/// The variables and headers of all steps together.
const STORAGE_MAX: usize = 8 << 20;
/// The paths that one state may lead to.
const FORKS_MAX: usize = 64;
/// The iterations of a loop within a state.
const LOOP_MAX: u32 = 32;
/// The most bits of a packet that are parsed.
const PACKET_BITS_MAX: usize = 8 * 1_500;
/// The lengths of a varbit field or of a skip that are tried, in bits; the first three possible ones are taken.
const LENGTHS_BITS: [u32; 9] = [0, 8, 16, 32, 64, 96, 128, 320, 256];
const LENGTHS_TAKEN: usize = 3;

/// A finished path.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// The path.
    pub path: Path,
    /// Whether the parser accepts the packet.
    pub is_accepted: bool,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// All paths, shorter ones first.
    pub paths: Vec<Finished>,
    /// Why states that no path reaches were not reached, as far as it is known.
    pub reasons: OrderedMap<StateId, String>,
}

/// The first parser of a program.
pub(crate) fn parser_of(program: &Program) -> Option<(BlockId, StateId, &base::IndexVec<StateId, ParserState>)> {
    let block = program.architecture.first(BlockRole::Parser)?;
    match &program.blocks.get(block)?.kind {
        BlockKind::Parser { start, states, .. } => Some((block, *start, states)),
        BlockKind::Control { .. } => None,
    }
}

/// Walks the first parser, but not through some of its states.
pub(crate) fn walk(program: &Program, without: &dyn Fn(&ParserState) -> bool) -> Walk {
    let Some((_, start, states)) = parser_of(program) else { return Walk::default() };
    let first = Path::new(program);
    let budget = first.input.clone();
    let queue = VecDeque::from([(first, start)]);
    let mut walker = Walker {
        program,
        states,
        taken: OrderedMap::new(),
        queue,
        covered: OrderedSet::new(),
        result: Walk::default(),
    };
    let steps_max = (STORAGE_MAX / (program.vars.len() + program.headers.len() + 1)).clamp(STEPS_MIN, STEPS_MAX);
    for _ in 0..steps_max {
        let Some((path, state)) = walker.queue.pop_front() else { break };
        if !without(&states[state]) {
            walker.enter(path, state);
        }
    }
    let is_complete = walker.queue.is_empty() && !budget.is_exhausted();
    for (mut path, state) in std::mem::take(&mut walker.queue) {
        if !without(&states[state]) && walker.covered.insert(state) {
            path.states.push(state);
            walker.end(path, false);
        }
    }
    walker.finish(start, is_complete)
}

struct Walker<'p> {
    program: &'p Program,
    states: &'p base::IndexVec<StateId, ParserState>,
    /// How often each transition was taken: from a state, by a case.
    taken: OrderedMap<(StateId, usize), u32>,
    queue: VecDeque<(Path, StateId)>,
    /// The states that paths have reached.
    covered: OrderedSet<StateId>,
    result: Walk,
}

/// Where a path continues after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Leave(LabelId),
    /// Parsing ends.
    End,
}

type Paths = Vec<(Path, Flow)>;

impl Walker<'_> {
    fn enter(&mut self, mut path: Path, state: StateId) {
        path.states.push(state);
        let declared = &self.states[state];
        // Whatever becomes of it, the state is reached.
        if self.covered.insert(state) {
            self.end(path.clone(), false);
        }
        for (path, flow) in self.body(path, &declared.body) {
            if flow == Flow::End {
                self.end(path, false);
                continue;
            }
            match &declared.transition {
                Transition::Goto(target) => self.take(path, (state, 0), *target),
                Transition::Select { keys, cases } => self.select(path, state, (keys, cases)),
            }
        }
    }

    fn end(&mut self, path: Path, is_accepted: bool) {
        self.result.paths.push(Finished { path, is_accepted });
    }

    fn take(&mut self, mut path: Path, (from, case): (StateId, usize), target: Target) {
        let taken = self.taken.entry((from, case)).or_default();
        if *taken == TAKEN_MAX {
            return;
        }
        *taken += 1;
        path.cases.push(case);
        match target {
            Target::State(to) => self.queue.push_back((path, to)),
            Target::Accept => self.end(path, true),
            Target::Reject => self.end(path, false),
        }
    }

    /// A select: a path for each case, for which no earlier one matches.
    fn select(&mut self, path: Path, from: StateId, (keys, cases): (&[Expr], &[SelectCase])) {
        let keys: Vec<Term> = keys.iter().map(|key| path.term(self.program, key)).collect();
        let mut rest = Some(path);
        for (position, case) in cases.iter().enumerate() {
            let Some(path) = &rest else {
                self.explain(case.target, || {
                    "an earlier case of its select matches all packets that were found".to_owned()
                });
                continue;
            };
            let mut chosen = path.clone();
            let condition = self.condition(&mut chosen, &keys, case);
            match chosen.require(&condition) {
                Answer::Holds => self.take(chosen, (from, position), case.target),
                Answer::Unknown(reason) => {
                    self.explain(case.target, || format!("the select before it depends on {reason}"));
                    self.take(chosen, (from, position), case.target);
                    continue;
                }
                Answer::Contradiction if condition.known().is_some() => {
                    self.explain(case.target, || "its select compares what is fixed for a received packet".to_owned());
                }
                Answer::Contradiction => {
                    self.explain(case.target, || "no packet was found that its select sends there".to_owned());
                }
            }
            let has_set = case.sets.iter().any(|set| matches!(set, KeySet::ValueSet(_)));
            if !has_set {
                rest = rest.and_then(|mut path| (path.require(&condition.not()) == Answer::Holds).then_some(path));
            }
        }
        if let Some(path) = rest {
            self.end(path, false);
        }
    }

    /// Whether a case matches. A value set gets the member that the keys have.
    fn condition(&self, path: &mut Path, keys: &[Term], case: &SelectCase) -> Term {
        let mut all = Term::truth(true);
        for (position, (set, key)) in case.sets.iter().zip(keys).enumerate() {
            let term = |expr: &Expr| path.term(self.program, expr);
            let matches = match set {
                KeySet::Any => continue,
                KeySet::Value(value) => key.equals(&term(value)),
                KeySet::Mask(value, mask) => {
                    let mask = term(mask);
                    let under = |of: &Term| Term::binary(BinaryOp::And, of, &mask, key.ty());
                    under(key).equals(&under(&term(value)))
                }
                KeySet::Range(low, high) => {
                    let least = Term::binary(BinaryOp::Ge, key, &term(low), Type::Bool);
                    least.and(&Term::binary(BinaryOp::Le, key, &term(high), Type::Bool))
                }
                KeySet::ValueSet(set) => {
                    let count = self.program.value_sets[*set].keys.len();
                    let own = keys.iter().skip(position).take(count).enumerate();
                    let member = own.map(|(at, key)| {
                        // Unusual, so that other packets are not members.
                        path.input.vary(key, (set.index() << 16 | at) as u64);
                        path.input.fix(key)
                    });
                    let member: Option<Vec<Bits>> = member.collect();
                    match member {
                        Some(member) => path.members.push((*set, member)),
                        None => return Term::truth(false),
                    }
                    continue;
                }
            };
            all = all.and(&matches);
        }
        all
    }

    fn explain(&mut self, target: Target, reason: impl FnOnce() -> String) {
        if let Target::State(state) = target {
            self.result.reasons.entry(state).or_insert_with(reason);
        }
    }

    fn body(&self, path: Path, body: &[Stmt]) -> Paths {
        let mut paths = vec![(path, Flow::Next)];
        for stmt in body {
            let mut after = Vec::with_capacity(paths.len());
            for (path, flow) in paths {
                match flow {
                    Flow::Next if after.len() < FORKS_MAX => after.extend(self.stmt(path, &stmt.kind)),
                    Flow::Next => {}
                    _ => after.push((path, flow)),
                }
            }
            paths = after;
        }
        paths
    }

    fn stmt(&self, mut path: Path, stmt: &StmtKind) -> Paths {
        let program = self.program;
        match stmt {
            StmtKind::Assign { dst, src } => {
                let value = path.term(program, src);
                path.write(program, dst, value);
            }
            StmtKind::SetValid(header) => path.set_validity(program, header, true),
            StmtKind::SetInvalid(header) => path.set_validity(program, header, false),
            StmtKind::CopyHeader { dst, src } => path.copy(program, dst, src),
            StmtKind::CopyVarbit { dst, src } => {
                let value = path.varbit_of(program, src);
                path.set_varbit(program, dst, value);
            }
            StmtKind::SetVarbit { dst, .. } => path.set_varbit(program, dst, None),
            StmtKind::PushFront { stack, count } => path.move_stack(program, *stack, *count, true),
            StmtKind::PopFront { stack, count } => path.move_stack(program, *stack, *count, false),
            StmtKind::If { cond, then_body, else_body } => {
                let condition = path.term(program, cond);
                return self.fork(&path, &[(condition.clone(), then_body), (condition.not(), else_body)]);
            }
            StmtKind::Switch { value, cases, default } => {
                let value = path.term(program, value);
                let mut none = Term::truth(true);
                let mut forks = Vec::new();
                for case in cases {
                    let equals = |it: &Bits| value.equals(&Term::constant(it.clone(), value.ty()));
                    let any = case.values.iter().map(equals);
                    let any = any
                        .fold(Term::truth(false), |all, it| Term::binary(BinaryOp::LogicalOr, &all, &it, Type::Bool));
                    none = none.and(&any.not());
                    forks.push((any, &case.body));
                }
                forks.push((none, default));
                return self.fork(&path, &forks);
            }
            StmtKind::Block { label, body } => {
                let caught = |flow| if flow == Flow::Leave(*label) { Flow::Next } else { flow };
                return self.body(path, body).into_iter().map(|(path, flow)| (path, caught(flow))).collect();
            }
            StmtKind::Loop { label, body } => return self.repeat(path, *label, body),
            StmtKind::Leave(label) => return vec![(path, Flow::Leave(*label))],
            StmtKind::Call(routine) => return self.body(path, &program.routines[*routine].body),
            StmtKind::Extract { dst, varbit_bits } => return self.extract(path, dst, varbit_bits.as_ref()),
            StmtKind::Advance { bits } => return self.advance(path, bits),
            StmtKind::Lookahead { dst, offset_bits, .. } => {
                let value = path.ahead(*offset_bits, place_type(program, dst));
                path.write(program, dst, value);
            }
            StmtKind::Verify { cond, .. } | StmtKind::Assert { cond, .. } => {
                let condition = path.term(program, cond);
                if path.require(&condition) == Answer::Contradiction {
                    return vec![(path, Flow::End)];
                }
            }
            StmtKind::RegisterRead { dst, .. } => unknown(program, &mut path, dst, "a register"),
            StmtKind::Hash { dst, .. } => unknown(program, &mut path, dst, "a hash or checksum"),
            StmtKind::Random { dst, .. } => unknown(program, &mut path, dst, "a random number"),
            StmtKind::ExecuteMeter { dst, .. } | StmtKind::ExecuteDirectMeter { dst, .. } => {
                unknown(program, &mut path, dst, "a meter");
            }
            StmtKind::CallExtern { dst: Some(dst), .. } => unknown(program, &mut path, dst, "a plug-in"),
            _ => {}
        }
        vec![(path, Flow::Next)]
    }

    /// A path for each condition that can hold.
    fn fork(&self, path: &Path, forks: &[(Term, &Vec<Stmt>)]) -> Paths {
        let mut paths = Vec::new();
        for (condition, body) in forks {
            let mut chosen = path.clone();
            if chosen.require(condition) != Answer::Contradiction {
                paths.extend(self.body(chosen, body));
            }
        }
        paths
    }

    fn repeat(&self, path: Path, label: LabelId, body: &[Stmt]) -> Paths {
        let (mut running, mut done) = (vec![path], Vec::new());
        for _ in 0..LOOP_MAX {
            let mut next = Vec::new();
            for (path, flow) in running.into_iter().flat_map(|path| self.body(path, body)) {
                match flow {
                    Flow::Next if next.len() < FORKS_MAX => next.push(path),
                    Flow::Next => {}
                    Flow::Leave(left) if left == label => done.push((path, Flow::Next)),
                    _ => done.push((path, flow)),
                }
            }
            running = next;
            if running.is_empty() || done.len() > FORKS_MAX {
                break;
            }
        }
        done
    }

    fn extract(&self, mut path: Path, dst: &HeaderRef, varbit_bits: Option<&Expr>) -> Paths {
        path.fix(self.program, dst);
        let ty = self.program.header_type(dst);
        let most = ty.varbit().map_or(0, |(_, max)| max);
        let lengths = match varbit_bits {
            None => vec![(path, 0)],
            Some(expr) => self.lengths(path, expr, most),
        };
        let taken = |(mut path, bits): (Path, u32)| {
            let is_taken = path.extract(self.program, dst, bits) && path.end <= PACKET_BITS_MAX;
            (path, if is_taken { Flow::Next } else { Flow::End })
        };
        lengths.into_iter().map(taken).collect()
    }

    fn advance(&self, path: Path, bits: &Expr) -> Paths {
        let skipped = |(mut path, bits): (Path, u32)| {
            path.skip(bits as usize);
            let flow = if path.end <= PACKET_BITS_MAX { Flow::Next } else { Flow::End };
            (path, flow)
        };
        self.lengths(path, bits, PACKET_BITS_MAX as u32).into_iter().map(skipped).collect()
    }

    /// The paths on which a length has one of a few values, none of them greater than `most`.
    fn lengths(&self, mut path: Path, expr: &Expr, most: u32) -> Vec<(Path, u32)> {
        let length = path.term(self.program, expr);
        if let Some(known) = length.known() {
            let bits = known.low_u64().min(u64::from(u32::MAX)) as u32;
            return if bits <= most && bits.is_multiple_of(8) { vec![(path, bits)] } else { Vec::new() };
        }
        let mut found = Vec::new();
        for bits in LENGTHS_BITS.into_iter().filter(|bits| *bits <= most) {
            let mut chosen = path.clone();
            let wanted = Term::constant(Bits::from_u64(length.width(), u64::from(bits)), length.ty());
            if chosen.require(&length.equals(&wanted)) == Answer::Holds {
                found.push((chosen, bits));
            }
            if found.len() == LENGTHS_TAKEN {
                break;
            }
        }
        if found.is_empty()
            && let Some(value) = path.input.fix(&length)
        {
            let bits = value.low_u64().min(u64::from(u32::MAX)) as u32;
            if bits <= most && bits.is_multiple_of(8) {
                found.push((path, bits));
            }
        }
        found
    }

    fn finish(mut self, start: StateId, is_complete: bool) -> Walk {
        let reached = self.result.paths.iter().flat_map(|it| it.path.states.iter().copied()).collect();
        self.explain_rest(start, is_complete, &reached);
        self.result
    }

    fn explain_rest(&mut self, start: StateId, is_complete: bool, reached: &OrderedSet<StateId>) {
        let mut linked = OrderedSet::from([start]);
        let mut rest = vec![start];
        while let Some(state) = rest.pop() {
            rest.extend(self.states[state].targets().filter(|target| linked.insert(*target)));
        }
        for state in self.states.ids().filter(|state| !reached.contains(state)) {
            let before = |of: &StateId| self.states[*of].targets().any(|target| target == state);
            let by = self.states.ids().find(|of| before(of) && linked.contains(of) && !reached.contains(of));
            let reason = match by {
                _ if !linked.contains(&state) => "no transition leads to it".to_owned(),
                _ if self.result.reasons.contains_key(&state) => continue,
                _ if !is_complete => "the search ended before it was found: the parser has too many paths".to_owned(),
                Some(by) => format!("only from {}, which is not reached", self.states[by].name),
                None => "no packet was found".to_owned(),
            };
            self.result.reasons.insert(state, reason);
        }
    }
}

impl Walk {
    /// The paths that are needed, of the requested ones: accepted ones that take a case which no earlier one takes,
    /// and others that reach a state which no accepted one does.
    pub(crate) fn needed(&self, is_wanted: impl Fn(&Finished) -> bool) -> Vec<&Finished> {
        let (mut cases, mut reached, mut needed) = (OrderedSet::new(), OrderedSet::new(), Vec::new());
        for finished in self.paths.iter().filter(|it| it.is_accepted && is_wanted(it)) {
            let Path { states, cases: taken, .. } = &finished.path;
            let before = cases.len();
            cases.extend(states.iter().copied().zip(taken.iter().copied()));
            if cases.len() > before || needed.is_empty() {
                reached.extend(states.iter().copied());
                needed.push(finished);
            }
        }
        for finished in self.paths.iter().filter(|it| !it.is_accepted && is_wanted(it)) {
            let before = reached.len();
            reached.extend(finished.path.states.iter().copied());
            if reached.len() > before {
                needed.push(finished);
            }
        }
        needed
    }
}

fn unknown(program: &Program, path: &mut Path, dst: &ir::Place, reason: &'static str) {
    let ty = place_type(program, dst);
    path.write(program, dst, Term::unknown(reason, ty));
}
