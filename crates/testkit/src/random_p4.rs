//! Random valid P4_16 programs for v1model, PSA and PNA, as text.
//!
//! What enters: a seeded `Rng`. What leaves: the text of a program that is valid and that ends for every packet; it
//! is the same for the same seed. Each program uses a random subset of the language ("swarm testing"): a feature that
//! all programs have would hide others, and an unsupported feature must not affect every program.
//!
//! The modules: `types` declares types and enumerates the parts of values; `expressions` generates expressions of a
//! given type; `statements`, `parsers`, `tables` and `externs` generate what their names say; `program` assembles the
//! blocks of v1model, `psa` and `pna` those of PSA and PNA. A `Scope` lists what the code at a place may use.

mod expressions;
mod externs;
mod generics;
mod own_externs;
mod parsers;
mod pna;
mod program;
mod psa;
mod requests;
mod statements;
mod tables;
mod tree;
mod types;

use crate::lines::Lines;
use base::Rng;
use num_bigint::BigInt;
use own_externs::{Handler, Supplied};
use std::collections::BTreeSet;
pub(crate) use tree::Tree;
use types::{Declared, Ty};

/// What programs may contain.
#[derive(Clone, Debug)]
pub struct Options {
    /// The approximate number of statements of a control.
    pub statements: u32,
    /// The greatest depth of expressions.
    pub expression_height: u32,
    /// The target architecture.
    pub architecture: Architecture,
}

/// The target architecture of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// v1model.
    V1Model,
    /// The Portable Switch Architecture.
    Psa,
    /// The Portable NIC Architecture.
    Pna,
}

impl Default for Options {
    fn default() -> Options {
        Options { statements: 14, expression_height: 4, architecture: Architecture::V1Model }
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomP4 {
    /// Its text.
    pub text: String,
    /// Whether packets may be copied, resubmitted or recirculated.
    pub makes_copies: bool,
}

impl RandomP4 {
    /// Whether it is a P4_14 program. These begin with the type of a header.
    pub fn is_p4_14(&self) -> bool {
        self.text.starts_with("header_type")
    }
}

/// Generates a valid program.
pub fn random_p4(rng: &mut Rng, options: &Options) -> RandomP4 {
    let mut generator = Generator::new(rng, options);
    match options.architecture {
        Architecture::V1Model => generator.v1model_program(),
        Architecture::Psa => generator.psa_program(),
        Architecture::Pna => generator.pna_program(),
    }
    RandomP4 { makes_copies: generator.has(Feature::Requests), text: generator.text }
}

/// A part of the language that only some programs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
    Signed,
    Wide,
    Varbit,
    Stacks,
    Unions,
    Structs,
    Tuples,
    Enums,
    NewTypes,
    HeadersInMetadata,
    ArraysOfValues,
    Functions,
    Actions,
    SubParsers,
    SubControls,
    Loops,
    Switches,
    RuntimeIndex,
    IndexedSlices,
    CompoundAssignment,
    Comparisons,
    SideEffects,
    Jumps,
    Tables,
    DirectObjects,
    Registers,
    Counters,
    Hashes,
    RandomNumbers,
    Digests,
    Messages,
    Checksums,
    Requests,
    ValueSets,
    Lookahead,
    NewVersion,
    NamedArguments,
    Defaults,
    Shadowing,
    Profiles,
    Generics,
    VariedValues,
    Lists,
    Integers,
    Annotations,
    AbstractMethods,
    OwnExterns,
}

impl Feature {
    const ALL: [Feature; 47] = [
        Feature::Signed,
        Feature::Wide,
        Feature::Varbit,
        Feature::Stacks,
        Feature::Unions,
        Feature::Structs,
        Feature::Tuples,
        Feature::Enums,
        Feature::NewTypes,
        Feature::HeadersInMetadata,
        Feature::ArraysOfValues,
        Feature::Functions,
        Feature::Actions,
        Feature::SubParsers,
        Feature::SubControls,
        Feature::Loops,
        Feature::Switches,
        Feature::RuntimeIndex,
        Feature::IndexedSlices,
        Feature::CompoundAssignment,
        Feature::Comparisons,
        Feature::SideEffects,
        Feature::Jumps,
        Feature::Tables,
        Feature::DirectObjects,
        Feature::Registers,
        Feature::Counters,
        Feature::Hashes,
        Feature::RandomNumbers,
        Feature::Digests,
        Feature::Messages,
        Feature::Checksums,
        Feature::Requests,
        Feature::ValueSets,
        Feature::Lookahead,
        Feature::NewVersion,
        Feature::NamedArguments,
        Feature::Defaults,
        Feature::Shadowing,
        Feature::Profiles,
        Feature::Generics,
        Feature::VariedValues,
        Feature::Lists,
        Feature::Integers,
        Feature::Annotations,
        Feature::AbstractMethods,
        Feature::OwnExterns,
    ];
}

/// The kind of code that a scope is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Code {
    #[default]
    Function,
    Action,
    Parser,
    Control,
}

/// The block of the architecture that contains the code. Which requests it may make depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Block {
    #[default]
    None,
    Ingress,
    Egress,
}

/// A named value.
#[derive(Clone, Debug)]
struct Value {
    /// Its text.
    text: String,
    ty: Ty,
    writable: bool,
}

/// A parameter of a function, action, parser or control.
#[derive(Clone, Debug)]
struct Param {
    name: String,
    ty: Ty,
    direction: Direction,
    /// Whether it has a default value.
    optional: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    None,
    In,
    Out,
    InOut,
}

impl Direction {
    fn word(self) -> &'static str {
        match self {
            Direction::None => "",
            Direction::In => "in ",
            Direction::Out => "out ",
            Direction::InOut => "inout ",
        }
    }
}

/// Something that can be called: a function, an action, an instance of a parser or control.
#[derive(Clone, Debug)]
struct Callable {
    name: String,
    params: Vec<Param>,
    /// Its return type; only some functions have one.
    returns: Option<Ty>,
}

/// A table that can be applied.
#[derive(Clone, Debug)]
struct Table {
    name: String,
    actions: Vec<String>,
}

/// An extern object of the block.
#[derive(Clone, Debug)]
enum Object {
    Register {
        name: String,
        ty: Ty,
        size: u32,
    },
    Counter {
        name: String,
        size: u32,
    },
    Meter {
        name: String,
        size: u32,
    },
    /// An object of PSA, as are the following.
    Hash {
        name: String,
        width: u32,
    },
    Random {
        name: String,
        width: u32,
    },
}

/// What the code at a place may use.
#[derive(Clone, Debug, Default)]
struct Scope {
    code: Code,
    block: Block,
    values: Vec<Value>,
    actions: Vec<Callable>,
    /// Methods of extern objects, and extern functions.
    methods: Vec<Callable>,
    /// Sub-controls or sub-parsers.
    instances: Vec<Callable>,
    /// Tables that have not been applied yet.
    tables: Vec<Table>,
    objects: Vec<Object>,
    /// The type that a `return` here returns.
    returns: Option<Ty>,
    loops: u32,
    /// The name of the standard metadata, if they are available.
    standard_metadata: Option<&'static str>,
}

struct Generator<'g> {
    rng: &'g mut Rng,
    options: &'g Options,
    features: BTreeSet<Feature>,
    text: String,
    indent: usize,
    names: u32,
    types: Vec<Declared>,
    /// Type names that are declared by `typedef` or `type`.
    aliases: Vec<(String, Ty)>,
    errors: Vec<String>,
    functions: Vec<Callable>,
    /// Lists, with the types of their elements.
    lists: Vec<(String, Ty)>,
    /// Numbers without a width.
    integers: Vec<(String, BigInt)>,
    handlers: Vec<Handler>,
    supplied_functions: Vec<Callable>,
    supplied_types: Vec<Supplied>,
    /// Whether the blocks of the architecture use anything that only a plug-in supplies.
    needs_plug_in: bool,
    /// Parsers and controls that others may instantiate, and whether they take a constructor argument.
    sub_parsers: Vec<(Callable, bool)>,
    sub_controls: Vec<(Callable, bool)>,
    /// The value sets of the parser that is being generated.
    value_sets: Vec<(String, Vec<Ty>)>,
    scope: Scope,
    /// Statements that may still be generated.
    budget: u32,
    /// Whether expressions must be free of side effects and calls.
    is_pure: bool,
}

impl Lines for Generator<'_> {
    fn written_lines(&mut self) -> (&mut String, &mut usize) {
        (&mut self.text, &mut self.indent)
    }
}

impl<'g> Generator<'g> {
    fn new(rng: &'g mut Rng, options: &'g Options) -> Generator<'g> {
        // Programs with few features examine each thoroughly; programs with many combine them.
        let of_ten = *rng.pick(&[3, 5, 7, 9]);
        let features = Feature::ALL.into_iter().filter(|_| rng.chance(of_ten, 10)).collect();
        let errors = ["NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort", "ParserTimeout"];
        let needs_plug_in = rng.chance(1, 20);
        Generator {
            rng,
            options,
            features,
            text: String::new(),
            indent: 0,
            names: 0,
            types: Vec::new(),
            aliases: Vec::new(),
            errors: errors.map(String::from).to_vec(),
            functions: Vec::new(),
            lists: Vec::new(),
            integers: Vec::new(),
            handlers: Vec::new(),
            supplied_functions: Vec::new(),
            supplied_types: Vec::new(),
            needs_plug_in,
            sub_parsers: Vec::new(),
            sub_controls: Vec::new(),
            value_sets: Vec::new(),
            scope: Scope::default(),
            budget: 0,
            is_pure: false,
        }
    }

    fn is_v1model(&self) -> bool {
        self.options.architecture == Architecture::V1Model
    }

    /// The beginning of the names that are PSA's in one form and PNA's in the other.
    fn prefix(&self) -> &'static str {
        if self.options.architecture == Architecture::Pna { "PNA" } else { "PSA" }
    }

    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

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

    /// A new unique name.
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Sometimes an annotation without effect on packets.
    fn annotation(&mut self) {
        if !self.has(Feature::Annotations) || !self.once_in(3) {
            return;
        }
        let texts = [
            "@noWarn(\"unused\")",
            "@vendor[kind=\"example\", level=3, sure=true]",
            "@vendor[1, 2 + 3, 4]",
            "@note(free text, \"and more\", (1 + 2), [x])",
            "@plain",
            "@deprecated(\"write something else\")",
        ];
        let text = *self.rng.pick(&texts);
        self.line(text);
    }

    /// Runs `inner` in a nested scope. Its declarations end with it; tables that it applied stay applied.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.scope.clone();
        let result = inner(self);
        let mut tables = std::mem::take(&mut self.scope.tables);
        tables.retain(|table| saved.tables.iter().any(|known| known.name == table.name));
        self.scope = Scope { tables, ..saved };
        result
    }

    fn declare(&mut self, name: &str, ty: Ty, writable: bool) {
        // A new declaration of the same name hides the previous one.
        self.scope.values.retain(|value| value.text != name);
        self.scope.values.push(Value { text: name.to_owned(), ty, writable });
    }

    fn declare_params(&mut self, params: &[Param]) {
        for param in params {
            let writable = matches!(param.direction, Direction::Out | Direction::InOut);
            self.declare(&param.name, param.ty.clone(), writable);
        }
    }

    /// Runs `inner` with side-effect-free expressions only.
    fn pure<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let saved = std::mem::replace(&mut self.is_pure, true);
        let result = inner(self);
        self.is_pure = saved;
        result
    }

    /// The text of an expression, sometimes with redundant parentheses.
    fn written(&mut self, tree: &Tree) -> String {
        if self.once_in(6) { format!("({tree})") } else { tree.to_string() }
    }
}
