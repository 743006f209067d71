//! The sets of headers with which the parser accepts packets.
//!
//! What enters: a parser. What leaves: each set, with the offset at which each of its headers begins. Code for packets
//! with one of these sets knows at compile time which headers are valid and where they are. None leaves of a parser
//! whose headers do not lie at offsets that follow from the set, or that has too many paths.

use super::fast_path::extracts;
use base::{IndexVec, OrderedMap};
use ir::{BlockKind, HeaderId, HeaderRef, ParserState, Program, StateId, Stmt, StmtKind, Target, Transition};

/// The most paths through a parser for which there are outcomes.
const PATHS_MAX: usize = 256;

/// The headers that the parser has extracted, and the offset of each in bytes.
pub(crate) type Outcome = OrderedMap<HeaderId, u32>;

/// The outcomes of a parser.
pub(crate) fn outcomes(program: &Program, parser: &BlockKind) -> Vec<Outcome> {
    let BlockKind::Parser { start, states, .. } = parser else { return Vec::new() };
    let mut paths = Paths { program, states, accepted: Vec::new(), ended: 0 };
    match paths.from(*start, Path::default()) {
        Some(()) => paths.accepted,
        None => Vec::new(),
    }
}

/// The path of a packet through the parser.
#[derive(Clone, Default)]
struct Path {
    states: Vec<StateId>,
    headers: Outcome,
    bytes: u32,
}

/// The paths that were walked.
struct Paths<'p> {
    program: &'p Program,
    states: &'p IndexVec<StateId, ParserState>,
    accepted: Vec<Outcome>,
    ended: usize,
}

impl Paths<'_> {
    /// Walks all paths from a state on; none if one of them has headers whose places are not known.
    fn from(&mut self, state: StateId, mut path: Path) -> Option<()> {
        if path.states.contains(&state) {
            return None;
        }
        path.states.push(state);
        let state = &self.states[state];
        for stmt in &state.body {
            self.extract(stmt, &mut path)?;
        }
        if let Transition::Select { cases, .. } = &state.transition {
            for case in cases {
                self.go(case.target, &path)?;
            }
        } else if let Transition::Goto(target) = state.transition {
            self.go(target, &path)?;
        }
        Some(())
    }

    fn go(&mut self, target: Target, path: &Path) -> Option<()> {
        match target {
            Target::State(next) => return self.from(next, path.clone()),
            Target::Reject => {}
            Target::Accept if self.accepted.contains(&path.headers) => {}
            Target::Accept => {
                // The valid bits do not show at which of two places a header lies.
                let is_same_set = |other: &Outcome| other.keys().eq(path.headers.keys());
                if self.accepted.iter().any(is_same_set) {
                    return None;
                }
                self.accepted.push(path.headers.clone());
            }
        }
        self.ended += 1;
        (self.ended <= PATHS_MAX).then_some(())
    }

    fn extract(&self, stmt: &Stmt, path: &mut Path) -> Option<()> {
        match &stmt.kind {
            StmtKind::Extract { dst: HeaderRef::Fixed(header), varbit_bits: None } => {
                let ty = &self.program.header_types[self.program.headers[*header].ty];
                if ty.varbit().is_some() || path.headers.insert(*header, path.bytes).is_some() {
                    return None;
                }
                path.bytes += ty.fixed_width() / 8;
                Some(())
            }
            StmtKind::Advance { .. } => None,
            _ => (!extracts(stmt)).then_some(()),
        }
    }
}
