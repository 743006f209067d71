//! What the parser determines about the headers that it extracts, as long as no block moves one or changes which are
//! valid.
//!
//! What enters: a parser. What leaves: for each header where it begins, if that is the same offset on every path, and
//! which other headers are valid if it is. Code after a table then needs neither a saved offset nor the valid bits of
//! the headers before it.

use base::{IndexVec, OrderedMap, OrderedSet};
use ir::{BlockKind, FieldType, HeaderId, HeaderRef, ParserState, Program, StateId, StmtKind};

/// What is known about a header where it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extracted {
    /// Bytes of the packet before it, if that is a constant.
    pub(crate) at_bytes: Option<u32>,
    /// Other headers that are then valid.
    pub(crate) after: OrderedSet<HeaderId>,
}

impl Extracted {
    /// What holds on both of two paths.
    fn join(&mut self, other: &Extracted) -> bool {
        let before = self.clone();
        self.at_bytes = self.at_bytes.filter(|_| self.at_bytes == other.at_bytes);
        self.after.retain(|header| other.after.contains(header));
        *self != before
    }
}

/// The headers that a parser extracts. Statements inside of others extract nothing.
pub(crate) fn extracted(program: &Program, parser: &BlockKind) -> OrderedMap<HeaderId, Extracted> {
    let BlockKind::Parser { start, states, .. } = parser else { return OrderedMap::new() };
    found(program, *start, states).1
}

/// The headers that are certainly valid where packets reach a state, for each state. The parser only extracts headers.
pub(crate) fn valid_at(
    program: &Program,
    start: StateId,
    states: &IndexVec<StateId, ParserState>,
) -> OrderedMap<StateId, OrderedSet<HeaderId>> {
    found(program, start, states).0.into_iter().map(|(id, known)| (id, known.after)).collect()
}

/// What is known about states: of the next header that they would extract; and about headers.
fn found(
    program: &Program,
    start: StateId,
    states: &IndexVec<StateId, ParserState>,
) -> (OrderedMap<StateId, Extracted>, OrderedMap<HeaderId, Extracted>) {
    let nothing = Extracted { at_bytes: Some(0), after: OrderedSet::new() };
    let mut at_state: OrderedMap<StateId, Extracted> = OrderedMap::from([(start, nothing)]);
    let mut pending = vec![start];
    let mut headers = OrderedMap::new();
    while let Some(id) = pending.pop() {
        let mut now = at_state[&id].clone();
        extract(program, &states[id], &mut now, &mut headers);
        for next in states[id].targets() {
            // What is known about a state only shrinks, so this ends.
            let is_new = match at_state.get_mut(&next) {
                Some(known) => known.join(&now),
                None => at_state.insert(next, now.clone()).is_none(),
            };
            if is_new {
                pending.push(next);
            }
        }
    }
    (at_state, headers)
}

/// Interprets a state and records what is known about the headers that it extracts.
fn extract(program: &Program, state: &ParserState, now: &mut Extracted, headers: &mut OrderedMap<HeaderId, Extracted>) {
    for stmt in &state.body {
        match &stmt.kind {
            StmtKind::Extract { dst: HeaderRef::Fixed(header), .. } => {
                headers.entry(*header).or_insert_with(|| now.clone()).join(now);
                now.at_bytes = now.at_bytes.zip(fixed_bytes(program, *header)).map(|(at, bytes)| at + bytes);
                now.after.insert(*header);
            }
            StmtKind::Extract { .. } | StmtKind::Advance { .. } => now.at_bytes = None,
            _ => {}
        }
    }
}

/// Bytes of a header, if its length is fixed.
fn fixed_bytes(program: &Program, header: HeaderId) -> Option<u32> {
    let ty = &program.header_types[program.headers[header].ty];
    let is_fixed = ty.fields.iter().all(|field| matches!(field.ty, FieldType::Fixed(_)));
    is_fixed.then(|| ty.fixed_width() / 8)
}
