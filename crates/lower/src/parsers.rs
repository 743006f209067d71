//! Parsers: state machines, with sub-parsers inlined.
//!
//! A state in which a sub-parser is applied is split in two: the first half goes to the sub-parser's start, and the
//! sub-parser's `accept` leads to the second half. Statements with sub-parsers inside become states as well: module
//! `parser_stmts`.

use crate::inline::{Argument, Sight};
use crate::names::{find, full_name, words};
use crate::objects::{ObjectId, ObjectKind};
use crate::types::Form;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::limits::TABLE_ENTRIES_MAX;
use base::{IndexVec, MatchKind, Span};
use ir::{KeySet, ParserState, StateId, Target};
use sema::hir::{self, Call, KeyElement, Keyset};

/// More states than any real parser has when it is inlined.
const STATES_MAX: usize = 20_000;

/// A parser block that is being built.
pub(crate) struct Builder {
    states: IndexVec<StateId, ParserState>,
    /// The state whose body is being lowered.
    current: StateId,
    /// The nesting depth of bodies at the start of states; deeper is inside a conditional.
    level: u32,
    /// The prefix of the names of inlined states.
    prefix: String,
    /// The enclosing loops that are made of states.
    loops: Vec<StateLoop>,
}

/// A loop of a parser that is made of states.
#[derive(Clone, Copy)]
pub(crate) struct StateLoop {
    /// The state of `break`.
    pub end: StateId,
    /// The state of `continue`.
    pub next: StateId,
}

impl<'h> Lowerer<'h> {
    /// Lowers a whole parser block, which begins with `first`.
    pub fn lower_parser_block(
        &mut self,
        object: ObjectId,
        args: Vec<Argument>,
        first: ir::Body,
        error: ir::VarId,
    ) -> Lowered<ir::BlockKind> {
        let ObjectKind::Parser { parser, .. } = self.objects[object].kind else { return Err(Refused) };
        let span = self.hir.parsers[parser].span;
        let initial = ParserState {
            name: "init".to_owned(),
            body: Vec::new(),
            transition: ir::Transition::Goto(Target::Reject),
            span,
        };
        let mut states = IndexVec::new();
        let start = states.push(initial);
        self.body = first;
        self.parser =
            Some(Builder { states, current: start, level: self.collecting, prefix: String::new(), loops: Vec::new() });
        let params = &self.hir.parsers[parser].params;
        let result = self.parser_states(object, (params, args), Target::Accept, span);
        let builder = self.parser.take();
        self.body.clear();
        result?;
        let states = builder.map(|builder| builder.states).unwrap_or_default();
        Ok(without_empty_start(start, states, error))
    }

    /// Applies a sub-parser.
    pub fn inline_parser(&mut self, object: ObjectId, call: &'h Call, span: Span) -> Lowered<Value> {
        let ObjectKind::Parser { parser, .. } = self.objects[object].kind else { return Err(Refused) };
        match &self.parser {
            Some(builder) if builder.level == self.collecting => {}
            _ => return self.unsupported(span, "applying a parser here"),
        }
        let (params, args) = self.eval_written(&self.hir.parsers[parser].params, call)?;
        let prefix = self.builder().prefix.clone();
        let name = format!("{prefix}after_{}", self.hir.parsers[parser].name);
        let after = self.new_state(name, span)?;
        let copy_outs = self.parser_states(object, (&params, args), Target::State(after), span)?;
        self.begin_state(after);
        self.copy_out(&copy_outs, span)?;
        Ok(Value::Void)
    }

    fn builder(&mut self) -> &mut Builder {
        self.parser.as_mut().expect("states are made in parser blocks only")
    }

    /// The enclosing loops that are made of states.
    pub fn state_loops(&mut self) -> &mut Vec<StateLoop> {
        &mut self.builder().loops
    }

    /// A new state of the parser that is being inlined, for a part of one of its states.
    pub fn new_part(&mut self, name: &str, span: Span) -> Lowered<StateId> {
        let name = format!("{}{name}", self.builder().prefix);
        self.new_state(name, span)
    }

    fn new_state(&mut self, name: String, span: Span) -> Lowered<StateId> {
        if self.builder().states.len() >= STATES_MAX {
            let message = format!("the parser has more than {STATES_MAX} states when all calls are inlined");
            return self.refuse(codes::LIMIT, span, message);
        }
        let transition = ir::Transition::Goto(Target::Reject);
        Ok(self.builder().states.push(ParserState { name, body: Vec::new(), transition, span }))
    }

    /// Starts a state: the following statements belong to it.
    pub fn begin_state(&mut self, state: StateId) {
        self.builder().current = state;
        self.body.clear();
    }

    /// Ends the current state.
    pub fn finish_state(&mut self, transition: ir::Transition) {
        let body = std::mem::take(&mut self.body);
        let builder = self.builder();
        let current = builder.current;
        builder.states[current].body = body;
        builder.states[current].transition = transition;
    }

    /// Lowers a parser's states, entered from the current one and left to `accept`. Returns the copies that `accept`
    /// makes.
    fn parser_states(
        &mut self,
        object: ObjectId,
        (params, args): (&[hir::VarId], Vec<Argument>),
        accept: Target,
        span: Span,
    ) -> Lowered<Vec<(crate::places::Place, crate::places::Place)>> {
        let ObjectKind::Parser { parser, type_args, args: constructor_args } = &self.objects[object].kind else {
            return Err(Refused);
        };
        let (parser, constructor_args) = (&self.hir.parsers[*parser], constructor_args.clone());
        let types = parser.type_params.iter().copied().zip(type_args.iter().cloned()).collect();
        let outer = (std::mem::replace(&mut self.types, types), self.env.clone(), self.object);
        self.object = object;
        let is_inner = accept != Target::Accept;
        let outer_prefix = self.builder().prefix.clone();
        if is_inner {
            self.builder().prefix = format!("{outer_prefix}{}.", last_part(&self.objects[object].name));
        }
        let mut frame = self.new_frame(Some(object));
        frame.repeats = is_inner;
        self.frames.push(frame);
        let result = self.nested(span, |l| {
            l.enter(&parser.constructor_params, &constructor_args);
            let copy_outs = l.bind(params, args, Sight::Parameters, span)?;
            l.declare_locals(&parser.locals)?;
            l.frame().repeats = true;
            l.lower_states(parser, accept)?;
            Ok(copy_outs)
        });
        self.frames.pop();
        self.builder().prefix = outer_prefix;
        (self.types, self.env, self.object) = outer;
        result
    }

    fn lower_states(&mut self, parser: &'h hir::Parser, accept: Target) -> Lowered<()> {
        let mut ids = Vec::new();
        for state in &parser.states {
            let name = format!("{}{}", self.builder().prefix, state.name);
            ids.push(self.new_state(name, state.span)?);
        }
        let Some(start) = parser.states.iter().position(|state| &*state.name == "start") else { return Err(Refused) };
        self.finish_state(ir::Transition::Goto(Target::State(ids[start])));
        let mut result = Ok(());
        for (state, id) in parser.states.iter().zip(&ids) {
            self.begin_state(*id);
            let lowered = self.lower_state_stmts(&state.body);
            let transition = self.lower_transition(&state.transition, &ids, accept);
            match (lowered, transition) {
                (Ok(_), Ok(transition)) => self.finish_state(transition),
                _ => result = Err(Refused),
            }
        }
        result
    }

    fn lower_transition(
        &mut self,
        transition: &'h hir::Transition,
        ids: &[StateId],
        accept: Target,
    ) -> Lowered<ir::Transition> {
        let target = |target: hir::Target| match target {
            hir::Target::State(position) => ids.get(position).map_or(Target::Reject, |id| Target::State(*id)),
            hir::Target::Accept => accept,
            hir::Target::Reject => Target::Reject,
        };
        let (keys, cases) = match transition {
            hir::Transition::Direct(to) => return Ok(ir::Transition::Goto(target(*to))),
            hir::Transition::Select { keys, cases, .. } => (keys, cases),
        };
        let keys = self.select_keys(keys)?;
        let leaves = keys.concat();
        let mut lowered = Vec::new();
        for case in cases {
            let sets = match &case.keyset {
                Keyset::Default => vec![KeySet::Any; leaves.len()],
                Keyset::ValueSet(set) => self.value_set_of(*set, &leaves)?,
                Keyset::Keys(elements) => self.lower_keyset(elements, &keys, case.span)?,
            };
            lowered.push(ir::SelectCase { sets, target: target(case.target), span: case.span });
        }
        Ok(ir::Transition::Select { keys: leaves, cases: lowered })
    }

    /// The keys, evaluated from left to right, each with its scalars. A key that is itself a `lookahead` does not check
    /// the length.
    fn select_keys(&mut self, keys: &'h [hir::Expr]) -> Lowered<Vec<Vec<ir::Expr>>> {
        let mut values = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            let value = match self.unchecked_lookahead(key) {
                Some(value) => value?,
                None => self.eval(key)?,
            };
            let later = keys[position + 1..].iter().any(|key| self.has_effects(key));
            let value = if later { self.spill(value, &key.ty, key.span)? } else { value };
            values.push(self.leaves(&value, key.span)?);
        }
        Ok(values)
    }

    fn lower_keyset(&mut self, elements: &'h [KeyElement], keys: &[Vec<ir::Expr>], span: Span) -> Lowered<Vec<KeySet>> {
        // One element for the leaves of several keys, or elements for the leaves of one key.
        let leaves = keys.concat();
        let keys = match (elements.len(), keys.len(), leaves.len()) {
            (elements, keys_len, _) if elements == keys_len => keys.to_vec(),
            (elements, _, leaves_len) if elements == leaves_len => leaves.into_iter().map(|leaf| vec![leaf]).collect(),
            _ => vec![leaves],
        };
        let mut sets = Vec::new();
        for (element, key) in elements.iter().zip(&keys) {
            let mut leaves = |expr: &'h hir::Expr| self.set_leaves(expr, key, span);
            sets.extend(match element {
                KeyElement::Any => vec![KeySet::Any; key.len()],
                KeyElement::Value(expr) => leaves(expr)?.into_iter().map(KeySet::Value).collect(),
                KeyElement::Mask(bits, mask) => {
                    let pairs = leaves(bits)?.into_iter().zip(leaves(mask)?);
                    pairs.map(|(bits, mask)| KeySet::Mask(bits, mask)).collect()
                }
                KeyElement::Range(low, high) => {
                    let pairs = leaves(low)?.into_iter().zip(leaves(high)?);
                    pairs.map(|(low, high)| KeySet::Range(low, high)).collect()
                }
                KeyElement::ValueSet(set) => self.value_set_of(*set, key)?,
            });
        }
        Ok(sets)
    }

    /// The scalars of a set for this key.
    fn set_leaves(&mut self, expr: &'h hir::Expr, key: &[ir::Expr], span: Span) -> Lowered<Vec<ir::Expr>> {
        let values = match (self.eval(expr)?, key) {
            (Value::Integer(number), [key]) => vec![crate::values::number(key.ty, &number)],
            (value, _) => self.leaves(&value, span)?,
        };
        if values.len() != key.len() {
            return Err(Refused);
        }
        Ok(values.into_iter().zip(key).map(|(value, key)| fold::cast(key.ty, value)).collect())
    }

    /// The value set for keys that are its members together.
    fn value_set_of(&mut self, set: hir::ValueSetId, keys: &[ir::Expr]) -> Lowered<Vec<KeySet>> {
        let mut sets = vec![KeySet::Any; keys.len()];
        let set = self.value_set(set)?;
        if let Some(first) = sets.first_mut() {
            *first = KeySet::ValueSet(set);
        }
        Ok(sets)
    }

    /// The value set of the current instance.
    fn value_set(&mut self, id: hir::ValueSetId) -> Lowered<ir::ValueSetId> {
        let key = (self.object, id);
        if let Some(set) = self.memo.value_sets.get(&key) {
            return Ok(*set);
        }
        let declaration = &self.hir.value_sets[id];
        let name = full_name(&self.objects[self.object].name, &declaration.name, &declaration.annotations);
        let size = self.eval(&declaration.size)?;
        let size = self.constant_count(&size, TABLE_ENTRIES_MAX as u64, declaration.size.span)?;
        let mut keys = Vec::new();
        let whole = (declaration.name.to_string(), MatchKind::Exact);
        self.value_set_keys(&declaration.element, whole, "", declaration.span, &mut keys)?;
        let set = self.ir.value_sets.push(ir::ValueSet { name, keys, size });
        self.memo.value_sets.insert(key, set);
        Ok(set)
    }

    /// The keys of a value set: a type without fields is one, which is called and matched as `whole` says.
    fn value_set_keys(
        &mut self,
        ty: &hir::Type,
        whole: (String, MatchKind),
        prefix: &str,
        span: Span,
        keys: &mut Vec<(String, u32, MatchKind)>,
    ) -> Lowered<()> {
        match self.form(ty, span)? {
            Form::Scalar(ty) => keys.push((whole.0, ty.width(), whole.1)),
            Form::Tuple(fields) => {
                for (position, (name, field)) in fields.iter().enumerate() {
                    let kind = self.field_match_kind(ty, position, span)?;
                    let name = format!("{prefix}{name}");
                    let prefix = format!("{name}.");
                    self.nested(span, |l| l.value_set_keys(field, (name, kind), &prefix, span, keys))?;
                }
            }
            _ => return self.unsupported(span, "value sets of this type"),
        }
        Ok(())
    }

    /// The `@match(kind)` of a field of a value set's struct.
    fn field_match_kind(&mut self, ty: &hir::Type, field: usize, span: Span) -> Lowered<MatchKind> {
        let hir::Type::Struct(id, _) = self.resolve(ty) else { return Ok(MatchKind::Exact) };
        let annotations = self.hir.structs[id].fields.get(field).map(|field| &field.annotations[..]);
        let Some(annotation) = annotations.and_then(|annotations| find(annotations, "match")) else {
            return Ok(MatchKind::Exact);
        };
        match words(annotation).first().and_then(|word| MatchKind::named(word)) {
            Some(kind) => Ok(kind),
            None => self.unsupported(span, "this match kind in a value set"),
        }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The parser block; the first state, which holds the first values of the parser's variables, only if it does
/// something.
fn without_empty_start(first: StateId, states: IndexVec<StateId, ParserState>, error: ir::VarId) -> ir::BlockKind {
    use base::index::Id;
    let start = match &states[first] {
        ParserState { body, transition: ir::Transition::Goto(Target::State(start)), .. } if body.is_empty() => *start,
        _ => return ir::BlockKind::Parser { start: first, states, error },
    };
    let shift = |id: StateId| StateId::from_index(id.index() - 1);
    let target = |target: Target| match target {
        Target::State(id) => Target::State(shift(id)),
        other => other,
    };
    let rest = states.iter().skip(1).cloned().map(|mut state| {
        match &mut state.transition {
            ir::Transition::Goto(to) => *to = target(*to),
            ir::Transition::Select { cases, .. } => cases.iter_mut().for_each(|case| case.target = target(case.target)),
        }
        state
    });
    ir::BlockKind::Parser { start: shift(start), states: rest.collect(), error }
}
