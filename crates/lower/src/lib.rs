//! Instantiation and inlining: typed tree to IR.
//!
//! What enters: a checked program ([`sema::hir::Program`]), still shaped like the source. What leaves: an
//! [`ir::Program`], flat: one parser, the controls and the deparser of an architecture, with every instance made, calls
//! inlined or made calls of routines, every compile-time value computed. What cannot be expressed yet is rejected with
//! [`codes::UNSUPPORTED`] at its place.
//!
//! The modules:
//! * `types`: which types are scalars, how headers are laid out, bindings of type parameters.
//! * `places` and `storage`: what can be assigned to, and its storage.
//! * `values` and `fold`: results of expressions, folded where they are constant.
//! * `varbits`: headers with several varbit fields, of which the IR has lengths and numbers.
//! * `exprs`, `operators`, `assign`, `stmts`: the language, statement by statement. IR expressions are pure, so side
//!   effects are hoisted, in the order of evaluation.
//! * `objects` and `names`: the tree of instances and their control-plane names.
//! * `calls` and `inline`: calls, with exact copy-in and copy-out, or without where these are proven unnecessary.
//! * `routines`: callees that would inline too much code.
//! * `parsers`, `parser_stmts`, `tables`, `entries`, `actions`: state machines and tables.
//! * `condition_text`: the text of failed assertions.
//! * `externs`: the packet of core.p4, and the objects and functions of v1model and PSA.
//! * `architecture`: the blocks of a program, and the storage that they share; `v1model`, `psa`, `pna`: what is
//!   particular to these architectures.
//! * `decisions`: what the architecture decides between the blocks.
//! * `written`: headers in the metadata, which keep their contents while they are invalid.
//! * `removed`: last, reads of fields of removed headers.
//!
//! # Attempts
//!
//! Some decisions need to know what comes later: whether a control with tables is applied with different arguments at
//! another place (then its parameters need storage of their own), whether egress reads the packet's length, or how much
//! code the calls of a function inline. Lowering discovers such `Facts`, and the program is lowered again with them.
//! Facts only grow, so this ends.

mod actions;
mod architecture;
mod assign;
mod calls;
mod condition_text;
mod decisions;
mod entries;
mod exprs;
mod externs;
mod fold;
mod inline;
mod names;
mod objects;
mod operators;
mod parser_stmts;
mod parsers;
mod places;
mod pna;
mod psa;
mod removed;
mod routines;
mod stmts;
mod storage;
mod tables;
mod types;
mod v1model;
mod values;
mod varbits;
mod written;

pub use decisions::decide;

use base::{OrderedMap, OrderedSet, Origin, Span};
use objects::{Object, ObjectId};
use places::{Binding, Place};
use sema::hir;
use std::rc::Rc;
use syntax::diag::{Diagnostic, Diagnostics};

/// The codes of this crate's errors and warnings.
pub mod codes {
    /// Correct P4 that is not lowered yet.
    ///
    /// The message names what is missing; nothing is wrong with the program. There is no example, because the list gets
    /// shorter.
    ///
    /// Specification: Target architecture model.
    pub const UNSUPPORTED: &str = "E0801";
    /// The program grows beyond a limit when it is compiled.
    ///
    /// Parsers and controls are instantiated and inlined when a program is compiled, functions and actions that are
    /// called often are shared, but a packet runs each call; and a register array or a table needs its memory. Use
    /// smaller sizes, fewer calls within calls, or loops.
    ///
    /// ```p4,wrong,ingress
    /// register<bit<32>>(0xFFFFFFFFFF) r;
    /// apply { r.write(0, 1); }
    /// ```
    ///
    /// ```p4,ingress
    /// register<bit<32>>(1024) r;
    /// apply { r.write(0, 1); }
    /// ```
    ///
    /// Specification: P4 abstract machine: Evaluation.
    pub const LIMIT: &str = "E0802";
    /// There is no package called `main`, or not one for an architecture that is known.
    ///
    /// The architecture is known by its package: `V1Switch` of v1model.p4 for example. There is no example: only
    /// commands that run a program require it, `check` does not.
    ///
    /// Specification: Target architecture model.
    pub const ARCHITECTURE: &str = "E0803";
    /// Something is not known at compile time, but must be, or has a value there that means nothing: a divisor of
    /// zero, a negative shift, an index beyond the elements.
    ///
    /// The value becomes known, or not, when constructor parameters have their arguments. There is no example: `E0404`
    /// to `E0407` report what can be seen before.
    ///
    /// Specification: Compile-time known values.
    pub const NOT_CONSTANT: &str = "E0804";
    /// An entry of a table cannot be expressed with the key's match kind.
    ///
    /// ```p4,wrong,ingress
    /// table t {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     const entries = { 3 &&& 7 : NoAction; }
    /// }
    /// apply { t.apply(); }
    /// ```
    ///
    /// ```p4,ingress
    /// table t {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     const entries = { 3 : NoAction; }
    /// }
    /// apply { t.apply(); }
    /// ```
    ///
    /// Specification: Control blocks, Tables, Entries.
    pub const ENTRY: &str = "E0805";
    /// A table or action has a part that the control plane cannot name a value for.
    ///
    /// Use one such key, or `ternary` for the others.
    ///
    /// ```p4,wrong,ingress
    /// table t {
    ///     key = { standard_metadata.ingress_port : lpm; standard_metadata.egress_spec : lpm; }
    ///     actions = { NoAction; }
    /// }
    /// apply { t.apply(); }
    /// ```
    ///
    /// ```p4,ingress
    /// table t {
    ///     key = { standard_metadata.ingress_port : lpm; standard_metadata.egress_spec : exact; }
    ///     actions = { NoAction; }
    /// }
    /// apply { t.apply(); }
    /// ```
    ///
    /// Specification: Control blocks, Tables.
    pub const CONTROL_PLANE: &str = "E0806";
    /// An operation stands in a block where it has no meaning.
    ///
    /// Tables are applied in controls, and not in a deparser: apply it in egress and keep what it gives in metadata.
    /// There is no example, because it would be a whole program.
    ///
    /// Specification: Target architecture model.
    pub const WRONG_BLOCK: &str = "E0807";
    /// Tables that share an action selector hash different keys.
    ///
    /// Give the tables `selector` keys of the same fields in the same order, or a selector each.
    ///
    /// ```p4,wrong,ingress
    /// action_selector(HashAlgorithm.crc16, 16, 8) choices;
    /// table t {
    ///     key = { standard_metadata.ingress_port : selector; }
    ///     actions = { NoAction; }
    ///     implementation = choices;
    /// }
    /// table u {
    ///     key = { standard_metadata.packet_length : selector; }
    ///     actions = { NoAction; }
    ///     implementation = choices;
    /// }
    /// apply { t.apply(); u.apply(); }
    /// ```
    ///
    /// ```p4,ingress
    /// action_selector(HashAlgorithm.crc16, 16, 8) choices;
    /// table t {
    ///     key = { standard_metadata.ingress_port : selector; }
    ///     actions = { NoAction; }
    ///     implementation = choices;
    /// }
    /// table u {
    ///     key = { standard_metadata.ingress_port : selector; }
    ///     actions = { NoAction; }
    ///     implementation = choices;
    /// }
    /// apply { t.apply(); u.apply(); }
    /// ```
    ///
    /// Specification: Target architecture model.
    pub const SELECTOR: &str = "E0808";
    /// A direct counter or meter has more than one table, or a table more than one of them.
    ///
    /// A direct object has one cell for each entry of its one table. Give each table an object of its own.
    ///
    /// ```p4,wrong,ingress
    /// direct_counter(CounterType.packets) hits;
    /// table t {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     counters = hits;
    /// }
    /// table u {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     counters = hits;
    /// }
    /// apply { t.apply(); u.apply(); }
    /// ```
    ///
    /// ```p4,ingress
    /// direct_counter(CounterType.packets) hits;
    /// direct_counter(CounterType.packets) more_hits;
    /// table t {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     counters = hits;
    /// }
    /// table u {
    ///     key = { standard_metadata.ingress_port : exact; }
    ///     actions = { NoAction; }
    ///     counters = more_hits;
    /// }
    /// apply { t.apply(); u.apply(); }
    /// ```
    ///
    /// Specification: Target architecture model.
    pub const DIRECT: &str = "E0809";
    /// A table property that means nothing here (a warning).
    ///
    /// Remove the property, or correct its name.
    ///
    /// ```p4,wrong,ingress
    /// table t { key = { standard_metadata.ingress_port : exact; } actions = { NoAction; } speed = 5; }
    /// apply { t.apply(); }
    /// ```
    ///
    /// ```p4,ingress
    /// table t { key = { standard_metadata.ingress_port : exact; } actions = { NoAction; } size = 5; }
    /// apply { t.apply(); }
    /// ```
    ///
    /// Specification: Control blocks, Tables.
    pub const IGNORED_PROPERTY: &str = "W0801";
    /// A request to the architecture, or to an object of it, that has no effect (a warning).
    ///
    /// Packets are cloned and recirculated from ingress or egress; they are resubmitted, and digests sent, from
    /// ingress. A direct counter or meter works on the entry that a table has found: it must belong to a table.
    ///
    /// ```p4,wrong,ingress
    /// apply { clone(CloneType.E2E, 5); }
    /// ```
    ///
    /// ```p4,ingress
    /// apply { clone(CloneType.I2E, 5); }
    /// ```
    ///
    /// Specification: Target architecture model.
    pub const NO_EFFECT: &str = "W0802";
    /// A message for the log whose `{}` do not fit its values (a warning).
    ///
    /// Each `{}` of the message is replaced by one value. Formats of other languages, such as `%d`, are text.
    ///
    /// ```p4,wrong,ingress
    /// apply { log_msg("port %d", { standard_metadata.ingress_port }); }
    /// ```
    ///
    /// ```p4,ingress
    /// apply { log_msg("port {}", { standard_metadata.ingress_port }); }
    /// ```
    ///
    /// Specification: Target architecture model.
    pub const LOG_FORMAT: &str = "W0803";
}

/// Instantiations, inlined calls, blocks and expressions within one another.
const DEPTH_MAX: u32 = base::limits::LOWERED_NESTING_MAX;
/// Statements of the lowered program.
const STATEMENTS_MAX: usize = 200_000;
/// Expressions, statements and calls that are lowered in one attempt.
const STEPS_MAX: u64 = 2_000_000;
/// Variables and headers of the lowered program.
const STORAGE_MAX: usize = 200_000;
/// Attempts, each of which learns at least one fact.
const ATTEMPTS_MAX: u32 = 24;

/// Lowers a checked program. `None` if there was an error, which is then in `diagnostics`.
pub fn lower(program: &hir::Program, diagnostics: &mut Diagnostics) -> Option<ir::Program> {
    lower_with(program, Options::default(), diagnostics)
}

/// The options of lowering.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port that `mark_to_drop` of v1model names.
    pub drop_port: u64,
    /// The ports of PNA that belong to hosts, first and last of each range, in place of those that the program names.
    pub host_ports: Option<Vec<(u32, u32)>>,
    /// Statements that all calls of one function or action may inline together before it becomes a routine; with 0,
    /// each that can be a routine is one, for tests.
    pub inlined_statements_max: usize,
}

impl Default for Options {
    fn default() -> Options {
        let inlined_statements_max = routines::INLINED_STATEMENTS_MAX;
        Options { drop_port: ir::v1model::DROP_PORT, host_ports: None, inlined_statements_max }
    }
}

/// The same with options.
pub fn lower_with(program: &hir::Program, options: Options, diagnostics: &mut Diagnostics) -> Option<ir::Program> {
    let mut facts = Facts::default();
    for _ in 0..ATTEMPTS_MAX {
        let mut lowerer = Lowerer::new(program, facts.clone());
        lowerer.ir.drop_port = options.drop_port;
        lowerer.host_ports = options.host_ports.clone();
        lowerer.inlined_statements_max = options.inlined_statements_max;
        let done = lowerer.program();
        if lowerer.learned != facts && (lowerer.is_too_large || !lowerer.diagnostics.has_errors()) {
            facts = lowerer.learned;
            continue;
        }
        let failed = done.is_err() || lowerer.diagnostics.has_errors();
        if !failed {
            if let Err(place) = lowerer.keep_written_fields() {
                let message = "the program becomes too large when the fields of its metadata's headers are variables";
                diagnostics.push(Diagnostic::error(codes::LIMIT, place, message));
                return None;
            }
            if let Err(place) =
                removed::keep_fields(&mut lowerer.ir, &lowerer.removals, &lowerer.parameter_headers, STATEMENTS_MAX)
            {
                let message =
                    "what is called would be needed in too many forms, as its callers remove different headers";
                diagnostics.push(Diagnostic::error(codes::LIMIT, place, message));
                return None;
            }
            // The IR has the place where a macro is used, and its text has no room for the place within the macro.
            ir::walk::change_spans(&mut lowerer.ir, &mut |span| span.origin = Origin::NONE);
            decide(&mut lowerer.ir);
        }
        diagnostics.append(lowerer.diagnostics);
        return (!failed).then_some(lowerer.ir);
    }
    let message = "the program's controls are applied in too many different ways";
    let place = program.main.map_or(Span::NONE, |main| program.instances[main].span);
    diagnostics.push(Diagnostic::error(codes::LIMIT, place, message));
    None
}

/// An error was reported; the construct is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused;

/// A result, or an error that has been reported.
pub(crate) type Lowered<T> = Result<T, Refused>;

/// The facts that one attempt discovers for the next.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Controls with tables that are applied with different arguments: their parameters have storage of their own.
    pub shared_controls: OrderedSet<ObjectId>,
    /// Egress reads the packet's length, so ingress counts the bytes that it adds.
    pub length_is_read: bool,
    /// Functions and actions with too much code to be inlined.
    pub routines: OrderedSet<routines::Callee>,
}

/// The present block, or inlined control, function or action.
pub(crate) struct Frame {
    /// The label of `return`.
    pub return_label: ir::LabelId,
    /// The place of the returned value.
    pub return_place: Option<Rc<Place>>,
    /// The labels of `break` and `continue` of the enclosing loops.
    pub loops: Vec<(ir::LabelId, ir::LabelId)>,
    /// The copies to the caller's places at the end of a call: target, source.
    pub copy_outs: Vec<(Place, Place)>,
    /// The object whose locals are declared: they keep their storage between applications, since tables refer to it.
    pub owner: Option<ObjectId>,
    /// Whether the code may run more than once in the block, so that declarations must reset their variables.
    pub repeats: bool,
    /// Whether this is an action that a table runs, at which `exit` ends.
    pub is_table_action: bool,
}

/// The state of the block that is being lowered.
pub(crate) struct BlockState {
    /// The label of the statement around the whole body.
    pub exit_label: ir::LabelId,
    /// Whether an action leaves to it, so that the label must stay.
    pub exit_is_used: bool,
    /// The flag that an `exit` in an action of an inlined control sets; the code after the table's application tests
    /// it.
    pub exit_flag: Option<ir::VarId>,
}

/// The state of lowering.
pub(crate) struct Lowerer<'h> {
    pub hir: &'h hir::Program,
    pub diagnostics: Diagnostics,
    /// The architecture of extern objects and table properties.
    pub package: architecture::Package,
    pub ir: ir::Program,
    pub facts: Facts,
    pub learned: Facts,
    /// The present bindings of variables, parameters and constants.
    pub env: OrderedMap<hir::VarId, Binding>,
    /// The present bindings of type parameters.
    pub types: OrderedMap<hir::TypeParamId, hir::Type>,
    /// The body to which statements are appended.
    pub body: ir::Body,
    pub block: BlockState,
    pub frames: Vec<Frame>,
    /// The instance whose code is being lowered.
    pub object: ObjectId,
    pub objects: base::IndexVec<ObjectId, Object>,
    pub memo: Memo<'h>,
    /// The positions of calls of `setInvalid` in the source.
    pub removals: OrderedSet<Span>,
    /// The headers of routines' parameters, and their routines.
    pub parameter_headers: OrderedMap<ir::HeaderId, ir::RoutineId>,
    /// The parser that is being built, in a parser block.
    pub parser: Option<parsers::Builder>,
    pub externs: externs::ExternState,
    pub depth: u32,
    /// The nesting depth of bodies.
    pub collecting: u32,
    pub statement_count: usize,
    /// The most statements that a packet runs in the code lowered so far, or in the routine that is being lowered.
    pub cost: u64,
    /// The ports of PNA that belong to hosts, if the user has named them.
    pub host_ports: Option<Vec<(u32, u32)>>,
    /// The number of statements, over all calls, from which a callee is a routine.
    pub inlined_statements_max: usize,
    /// The code that each callee has inlined so far.
    pub inlined: OrderedMap<routines::Callee, routines::Inlined>,
    /// Expressions, statements and calls that were lowered.
    pub steps: u64,
    /// Whether one of the three limits was exceeded.
    pub is_too_large: bool,
}

/// Entities that exist already, by their source.
#[derive(Default)]
pub(crate) struct Memo<'h> {
    pub shapes: OrderedMap<(hir::StructId, Vec<hir::Type>), Rc<types::HeaderShape>>,
    /// The header types of varbit variables, by greatest length.
    pub varbits: OrderedMap<u32, ir::HeaderTypeId>,
    /// Instances by owner and declaration.
    pub instances: OrderedMap<(ObjectId, hir::InstanceId), ObjectId>,
    pub locals: OrderedMap<(ObjectId, hir::VarId), Rc<Place>>,
    pub tables: OrderedMap<(ObjectId, hir::TableId), Rc<tables::LoweredTable<'h>>>,
    pub actions: OrderedMap<(ObjectId, hir::ActionId), ir::ActionId>,
    pub value_sets: OrderedMap<(ObjectId, hir::ValueSetId), ir::ValueSetId>,
    /// Routines, or the fact that the callee cannot be one.
    pub routines: OrderedMap<routines::Key, Option<Rc<routines::Routine>>>,
    /// The constants of the outermost scope, evaluated when they are first used.
    pub constants: OrderedMap<hir::VarId, &'h hir::Expr>,
    pub top_instances: OrderedSet<hir::InstanceId>,
    /// Instances that are properties of tables.
    pub attached: OrderedSet<hir::InstanceId>,
    /// The actions that controls declare.
    pub actions_of_controls: OrderedMap<hir::ActionId, hir::ControlId>,
}

impl<'h> Lowerer<'h> {
    fn new(hir: &'h hir::Program, facts: Facts) -> Lowerer<'h> {
        let (actions_of_controls, attached) = (hir.actions_of_controls(), objects::attached(hir));
        let mut memo = Memo { actions_of_controls, attached, ..Memo::default() };
        for local in &hir.top {
            match local {
                hir::Local::Const(var, value) => {
                    memo.constants.insert(*var, value);
                }
                hir::Local::Instance(instance) => {
                    memo.top_instances.insert(*instance);
                }
                _ => {}
            }
        }
        let mut objects = base::IndexVec::new();
        let root = objects.push(Object::root());
        let mut lowerer = Lowerer {
            hir,
            diagnostics: Diagnostics::new(),
            package: architecture::Package::V1Model,
            ir: ir::Program::new(&ir::v1model::ARCHITECTURE),
            learned: facts.clone(),
            facts,
            env: OrderedMap::new(),
            types: OrderedMap::new(),
            body: Vec::new(),
            block: BlockState {
                exit_label: <ir::LabelId as base::index::Id>::from_index(0),
                exit_is_used: false,
                exit_flag: None,
            },
            frames: Vec::new(),
            object: root,
            objects,
            memo,
            removals: OrderedSet::new(),
            parameter_headers: OrderedMap::new(),
            parser: None,
            externs: externs::ExternState::default(),
            depth: 0,
            collecting: 0,
            statement_count: 0,
            cost: 0,
            host_ports: None,
            inlined_statements_max: routines::INLINED_STATEMENTS_MAX,
            inlined: OrderedMap::new(),
            steps: 0,
            is_too_large: false,
        };
        lowerer.number_errors();
        lowerer
    }

    /// Numbers the program's errors: those of core.p4 as the parser statements need them, then the others in order.
    fn number_errors(&mut self) {
        self.ir.errors = ir::ERROR_NAMES.iter().map(|name| name.to_string()).collect();
        for name in &self.hir.errors {
            if !self.ir.errors.iter().any(|known| **known == **name) {
                self.ir.errors.push(name.to_string());
            }
        }
    }

    /// Reports an error.
    pub fn refuse<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Lowered<T> {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        Err(Refused)
    }

    /// Reports what is not supported yet.
    pub fn unsupported<T>(&mut self, span: Span, what: impl std::fmt::Display) -> Lowered<T> {
        self.refuse(codes::UNSUPPORTED, span, format!("not supported yet: {what}"))
    }

    /// Appends a statement.
    pub fn emit(&mut self, kind: ir::StmtKind, span: Span) {
        self.statement_count += 1;
        self.cost += 1;
        self.body.push(ir::Stmt { kind, span });
    }

    /// What `f` appends, instead of appending it.
    pub fn collect<T>(&mut self, f: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<(ir::Body, T)> {
        let outer = std::mem::take(&mut self.body);
        self.collecting += 1;
        let result = f(self);
        self.collecting -= 1;
        let inner = std::mem::replace(&mut self.body, outer);
        Ok((inner, result?))
    }

    /// Runs `f` one level deeper, unless that is too deep.
    pub fn nested<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        if self.depth >= DEPTH_MAX {
            return self.refuse(
                codes::LIMIT,
                span,
                "calls and expressions are nested too deeply when they are inlined",
            );
        }
        if self.statement_count > STATEMENTS_MAX {
            let message = format!("the program has more than {STATEMENTS_MAX} statements when all calls are inlined");
            return self.too_large(span, message);
        }
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return self.too_large(span, "the program is too large when all calls are inlined");
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// A new label.
    pub fn new_label(&mut self) -> ir::LabelId {
        let label = <ir::LabelId as base::index::Id>::from_index(self.ir.labels as usize);
        self.ir.labels += 1;
        label
    }

    /// The innermost frame.
    pub fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("code is lowered inside a frame")
    }

    /// Whether code at this place may run more than once in its block.
    pub fn repeats(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.repeats || !frame.loops.is_empty())
    }

    /// A frame for code that is inlined here.
    pub fn new_frame(&mut self, owner: Option<ObjectId>) -> Frame {
        Frame {
            return_label: self.new_label(),
            return_place: None,
            loops: Vec::new(),
            copy_outs: Vec::new(),
            owner,
            repeats: self.repeats(),
            is_table_action: false,
        }
    }

    /// Rejects a program that has grown beyond a limit, with one message.
    pub fn too_large<T>(&mut self, span: Span, message: impl Into<String>) -> Lowered<T> {
        match std::mem::replace(&mut self.is_too_large, true) {
            true => Err(Refused),
            false => self.refuse(codes::LIMIT, span, message),
        }
    }

    /// Rejects a program that needs too much storage.
    pub fn check_storage(&mut self, span: Span) -> Lowered<()> {
        if self.ir.vars.len() + self.ir.headers.len() > STORAGE_MAX {
            let message = format!("the program needs more than {STORAGE_MAX} variables when all calls are inlined");
            return self.too_large(span, message);
        }
        Ok(())
    }
}
