//! Random programs, packets and table entries for differential tests.
//!
//! What enters: a seeded [`Rng`]. What leaves: IR programs that the verifier accepts, packets that get far in their
//! parsers, entries that packets are likely to match. Equal seeds give equal results.
//!
//! Programs use every form of statement and expression, widths from 1 to [`Options::width_bits_max`] with a
//! preference for the boundaries of machine words, signed values, header stacks, varbit fields, tables of all match
//! kinds, and all extern objects. They end: loops count their iterations, unless a program with an endless loop is
//! requested.

mod body;
mod entries;
mod expr;
mod packets;
mod storage;
mod tables;

pub use entries::random_entries;
pub use packets::random_packet;

use base::{MatchKind, Rng};
use ir::v1model::Slot;
use ir::{ActionId, Body, HeaderId, LabelId, Program, StackId, TableId, Type, Var, VarId, VarKind};

/// What programs may contain.
#[derive(Clone, Debug)]
pub struct Options {
    /// The widest variables and fields.
    pub width_bits_max: u32,
    /// The approximate number of statements of a control.
    pub statements: u32,
    /// The greatest depth of expressions.
    pub expression_height: u32,
    /// The match kinds of table keys. If there are none, programs have no tables.
    pub match_kinds: Vec<MatchKind>,
    /// Registers, counters, meters, digests.
    pub externs: bool,
    /// Functions and objects of a plug-in.
    pub plug_in: bool,
    /// `random`: two runs agree only if their generators do.
    pub random: bool,
    /// Assertions and log messages.
    pub messages: bool,
    /// Requests to the architecture: clones, resubmission, recirculation, truncation, multicast.
    pub requests: bool,
    /// Loops that only end at their iteration limit, which takes long.
    pub endless_loops: bool,
    /// Whether elements of stacks are indexed at run time outside of parsers.
    pub indexed_stacks: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            width_bits_max: 200,
            statements: 12,
            expression_height: 3,
            match_kinds: vec![
                MatchKind::Exact,
                MatchKind::Lpm,
                MatchKind::Ternary,
                MatchKind::Range,
                MatchKind::Optional,
            ],
            externs: true,
            plug_in: false,
            random: true,
            messages: true,
            requests: false,
            endless_loops: false,
            indexed_stacks: true,
        }
    }
}

/// Generates a program that the verifier accepts.
pub fn random_program(rng: &mut Rng, options: &Options) -> Program {
    let mut generator = Generator { rng, options, program: empty(), scope: Scope::default() };
    generator.storage();
    generator.blocks();
    lower::decide(&mut generator.program);
    generator.program
}

fn empty() -> Program {
    Program {
        errors: ir::ERROR_NAMES.iter().map(|name| (*name).into()).chain(["Unlucky".into()]).collect(),
        ..Program::new(&ir::v1model::ARCHITECTURE)
    }
}

/// The kind of block that contains a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Place {
    #[default]
    Parser,
    Control,
    Action,
    Deparser,
}

/// What the body that is being generated may use.
#[derive(Clone, Default)]
struct Scope {
    place: Place,
    /// Variables that may be read.
    readable: Vec<VarId>,
    /// Variables that may be written.
    writable: Vec<VarId>,
    /// Headers.
    headers: Vec<HeaderId>,
    /// Stacks.
    stacks: Vec<StackId>,
    /// Tables not yet applied.
    tables: Vec<TableId>,
    /// Actions of the block.
    actions: Vec<ActionId>,
    /// Labels of enclosing statements.
    labels: Vec<LabelId>,
    /// Statements that may still be generated.
    budget: u32,
}

struct Generator<'g> {
    rng: &'g mut Rng,
    options: &'g Options,
    program: Program,
    scope: Scope,
}

impl Generator<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    /// True once in `count` times.
    fn once_in(&mut self, count: u64) -> bool {
        self.rng.chance(1, count)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(self.rng.pick(items).clone()) }
    }

    /// A width from 1 to the greatest, with a preference for those around the sizes of machine words.
    fn width(&mut self) -> u32 {
        const PREFERRED: [u32; 18] = [1, 2, 4, 7, 8, 9, 16, 19, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129];
        let width = if self.once_in(4) {
            self.rng.between(1, u64::from(self.options.width_bits_max)) as u32
        } else {
            *self.rng.pick(&PREFERRED)
        };
        width.clamp(1, self.options.width_bits_max)
    }

    fn ty(&mut self) -> Type {
        match self.below(8) {
            0 => Type::Bool,
            1 | 2 => Type::Int(self.width()),
            _ => Type::Bit(self.width()),
        }
    }

    fn number_ty(&mut self) -> Type {
        if self.once_in(4) { Type::Int(self.width()) } else { Type::Bit(self.width()) }
    }

    fn label(&mut self) -> LabelId {
        let label = base::index::Id::from_index(self.program.labels as usize);
        self.program.labels += 1;
        label
    }

    fn var(&mut self, name: String, ty: Type, kind: VarKind) -> VarId {
        self.program.vars.push(Var { name, ty, kind })
    }

    /// A new local variable of the block, which expressions may read from now on.
    fn local(&mut self, name: &str, ty: Type) -> VarId {
        let name = format!("{name}_{}", self.program.vars.len());
        let id = self.var(name, ty, VarKind::Local);
        self.scope.readable.push(id);
        id
    }

    fn intrinsic(&self, slot: Slot) -> Option<VarId> {
        let kind = VarKind::Intrinsic(slot as u32);
        self.program.vars.iter_enumerated().find(|(_, var)| var.kind == kind).map(|(id, _)| id)
    }

    /// Runs `inner` in a scope that is restored afterwards, except for the remaining budget.
    fn scoped(&mut self, inner: impl FnOnce(&mut Self) -> Body) -> Body {
        let saved = self.scope.clone();
        let body = inner(self);
        let budget = self.scope.budget;
        let tables = std::mem::take(&mut self.scope.tables);
        self.scope = Scope { budget, tables, ..saved };
        body
    }
}
