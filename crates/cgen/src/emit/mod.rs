//! From the IR and its plan to the low IR, and from that to C.
//!
//! What enters: a verified program and its [`Plan`]. What leaves: the text of one C file, the same for the same
//! program; between them, a unit of the low IR ([`lir`]) for each function over a burst.
//!
//! To the low IR:
//!
//! * `scope`: the state of code generation for the code that one packet runs through: known validity of headers,
//!   labels, temporaries.
//! * `expr`, `wide`: values of at most 64 bits as expressions, wider ones as arrays of limbs.
//! * `field`, `neighbours`: loads and stores of bit fields in network order, and of several fields at once.
//! * `header`, `pieces`, `stack`: access to header instances, changes of validity, copies, moves of stacks.
//! * `stmt`, `externs`, `hash`, `table`: statements; `far_cells`: prefetches of cells.
//! * `control`, `parser`, `deparser`: blocks.
//! * `routine`: routines as functions of a packet.
//! * `fast_path`, `checksum`: all blocks as one function; incremental checksums on it.
//! * `replica`: how replicas enter the part of the fast path behind the queues.
//! * `unit`: the values of state at the entries of stages, its names and saved places; the passes.
//!
//! From there to C: `to_c` prints statements, `burst` the loops around them, `table_functions` what functions do about
//! tables besides; `units` divides long files.

mod burst;
mod checksum;
mod control;
mod deparser;
mod expr;
mod externs;
mod far_cells;
mod fast_path;
mod field;
mod hash;
mod header;
mod layout;
mod narrow_stores;
mod neighbours;
mod parser;
mod pieces;
mod remainder;
mod replica;
mod routine;
mod scope;
mod stack;
mod stmt;
mod table;
mod table_functions;
mod to_c;
mod unit;
mod units;
mod variants;
mod wide;

use crate::ctree::{Expr as C, Item, Member, binary, call, int, name, print, prune, wide_limbs};
use crate::plan::fast_path::{FastPath, wide_metadata};
use crate::plan::parts::parts;
use crate::plan::{Plan, TablePlan, private_params, state};
use crate::{abi, ctree};
use base::index::Id as _;
use base::{IndexVec, OrderedMap, OrderedSet, Span};
use ir::{BlockId, BlockKind, BlockRole, HashAlgorithm, HeaderId, Program, RoutineId, Stmt, StmtKind, VarId};
use routine::Touched;
use std::cell::RefCell;

/// Statements of the longest function that the C compiler optimises fully. Some of its optimisations take time that
/// grows with the square of a function's length.
const STATEMENTS_MAX: usize = 5_000;

/// Statements of the longest function that it optimises at all.
const OPTIMISED_STATEMENTS_MAX: usize = 40_000;

/// The same limits for controls that are divided: their functions are short, but there are many.
const SPLIT_STATEMENTS_MAX: usize = 10_000;
const SPLIT_OPTIMISED_STATEMENTS_MAX: usize = 100_000;

/// Statements of the longest function that is optimised fully where operations on wide values are calls. The analysis
/// of what each call may change takes time that grows with the square of their number.
const COMPACT_STATEMENTS_MAX: usize = 1_000;

/// Limbs in calls of functions for wide values up to which these functions are inlined. A compiler takes about a second
/// for 1,500 limbs.
const EXPANDED_LIMBS_MAX: u64 = 4_000;

/// Letters of a source line that its comment shows.
pub const COMMENT_LETTERS_MAX: usize = 100;

/// A line of the program's source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// The file's name.
    pub file: String,
    /// The line's number, from 1.
    pub line: u32,
    /// Its text, of which the first [`COMMENT_LETTERS_MAX`] letters are of use.
    pub text: String,
}

/// Returns the source line of a span.
pub type Source<'s> = &'s dyn Fn(Span) -> Option<SourceLine>;

/// Is given units of the low IR.
type Observe<'s> = &'s dyn Fn(&lir::Unit);

/// The low IR of a program before its passes: the units of blocks, of decisions, and of the fast path. `source` is as
/// for [`emit_c`].
pub fn lir_units(program: &Program, plan: &Plan, source: Source<'_>) -> Vec<lir::Unit> {
    let units = RefCell::new(Vec::new());
    Emitter::new(program, plan, source, &|unit| units.borrow_mut().push(unit.clone())).items();
    units.into_inner()
}

/// The text of these units after the passes.
pub fn emit_lir(program: &Program, plan: &Plan, source: Source<'_>) -> String {
    let text = |mut unit| {
        lir::passes::run(&mut unit);
        lir::text::print(&unit)
    };
    lir_units(program, plan, source).into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The C text of a program. `source` returns the line that a span begins on, if there is one; it becomes a comment
/// above the statement.
pub fn emit_c(program: &Program, plan: &Plan, source: Source<'_>) -> String {
    print(&units::divide(Emitter::new(program, plan, source, &|_| ()).items()))
}

/// The optimisations that are reduced by attributes for the C compiler, because the program is so long that it would
/// take minutes: a sentence for each. Empty for ordinary programs.
pub(crate) fn shortcuts(program: &Program, plan: &Plan) -> Vec<String> {
    let items = Emitter::new(program, plan, &|_| None, &|_| ()).items();
    let mut found = Vec::new();
    if items.contains(&Item::Define(COMPACT.into())) {
        let limbs = wide_limbs(&items);
        found.push(format!("operations on values over 64 bits are called, not expanded: {limbs} limbs of such values"));
    }
    for (macro_name, what) in [(CALLING, "optimised less"), (LONG, "optimised little"), (HUGE, "not optimised")] {
        let is_such = |item: &&Item| match item {
            Item::Function { head, .. } => has_attribute(head, macro_name),
            _ => false,
        };
        let count = items.iter().filter(is_such).count();
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            found.push(format!("{count} function{s} of the C code {what}, for the length of the program"));
        }
    }
    found
}

/// The macro that prevents functions for wide values from being inlined.
const COMPACT: &str = "WS_COMPACT";

/// The attributes of functions that are optimised little, and not at all.
const LONG: &str = "WS_LONG";
const HUGE: &str = "WS_HUGE";

/// The attribute of functions with many calls for wide values.
const CALLING: &str = "WS_CALLING";

/// The context of code generation for a program.
pub(crate) struct Emitter<'e> {
    pub(crate) program: &'e Program,
    pub(crate) plan: &'e Plan,
    pub(crate) source: Source<'e>,
    /// Is given each unit of the low IR before its passes.
    pub(crate) observe: Observe<'e>,
    /// Numbers of `log` and `assert` statements, by the address of the statement.
    sites: OrderedMap<*const Stmt, u32>,
    /// Headers in stacks whose elements are indexed at run time: their offsets and valid bits are never in C variables.
    in_dynamic_stack: OrderedMap<HeaderId, (ir::StackId, u32)>,
    /// Parameters of actions that only their action mentions.
    pub(crate) private_params: OrderedSet<VarId>,
    /// What each routine may change of the state that its callers have in C variables.
    pub(crate) touched: IndexVec<RoutineId, Touched>,
    /// The large arrays that a variable is the index of.
    pub(crate) indexed: OrderedMap<VarId, Vec<far_cells::Array>>,
    /// Headers of which fields are summed.
    pub(crate) summed: OrderedSet<HeaderId>,
}

impl<'e> Emitter<'e> {
    fn new(program: &'e Program, plan: &'e Plan, source: Source<'e>, observe: Observe<'e>) -> Emitter<'e> {
        let mut sites = OrderedMap::new();
        let (mut logs, mut asserts) = (0, 0);
        state::walk_program(program, &mut |stmt| {
            let next = match &stmt.kind {
                StmtKind::Log { .. } => &mut logs,
                StmtKind::Assert { .. } => &mut asserts,
                _ => return,
            };
            sites.insert(std::ptr::from_ref(stmt), *next);
            *next += 1;
        });
        let dynamic = program.stacks.iter_enumerated().filter(|(id, _)| plan.stacks[*id].dynamic);
        let in_dynamic_stack = dynamic
            .flat_map(|(id, stack)| {
                stack.elements.iter().zip(0..).map(move |(&element, position)| (element, (id, position)))
            })
            .collect();
        let of_block = |block: &'e ir::Block| match &block.kind {
            BlockKind::Parser { states, .. } => states.iter().map(|state| &state.body[..]).collect(),
            BlockKind::Control { body } => vec![&body[..]],
        };
        let bodies: Vec<&[Stmt]> = program.blocks.iter().flat_map(of_block).collect();
        let private_params = private_params(program, &bodies);
        let touched = program.routines.iter().map(|routine| Touched::of(program, &routine.body)).collect();
        let indexed = far_cells::indexed(program);
        let summed = narrow_stores::summed_headers(program);
        Emitter { program, plan, source, observe, sites, in_dynamic_stack, private_params, touched, indexed, summed }
    }

    /// The number of a `log` or `assert`.
    pub(crate) fn site(&self, stmt: &Stmt) -> u32 {
        self.sites.get(&std::ptr::from_ref(stmt)).copied().unwrap_or(0)
    }

    /// The element's stack and position, if its stack is dynamic.
    pub(crate) fn dynamic_element(&self, header: HeaderId) -> Option<(ir::StackId, u32)> {
        self.in_dynamic_stack.get(&header).copied()
    }

    fn items(&self) -> Vec<Item> {
        let mut items = vec![Item::Comment("Made by wirespeed from a P4 program; changes will be lost.".into())];
        items.extend(self.hash_tables().into_iter().map(|name| Item::Define(name.into())));
        items.extend(
            ["wirespeed.h", "words.h", "guard.h", "arith.h", "wide.h", "rows.h", "header.h", "hash.h", "deparse.h"]
                .map(|name| Item::Include(name.into())),
        );
        items.push(self.context());
        items.extend(self.context_asserts());
        if !self.plan.storage.homes.is_empty() {
            let homes = self.plan.storage.homes.iter().map(|&home| int(home)).collect();
            items.push(Item::Constant {
                ty: "static const uint32_t WS_UNUSED".into(),
                name: "homes".into(),
                length: Some(self.plan.storage.homes.len() as u32),
                value: C::List(homes),
            });
        }
        items.push(self.info());
        items.extend(self.packed_results());
        for id in self.program.blocks.ids() {
            self.block(id, &mut items);
        }
        for (point, body) in self.program.decisions.iter_enumerated() {
            let name = self.program.architecture.points.get(point.index()).map_or("", |point| point.name);
            items.push(Item::Comment(format!("Decisions {name}.")));
            let body = control::emit_decisions(self, point, body);
            items.push(function("WS_EXPORT", &block_head(self.program.blocks.len() + point.index()), body));
        }
        if let Some(fast_path) = &self.plan.fast_path {
            self.fast_path(fast_path, "The fast path.", fast_path::BURST_HEAD, &mut items);
            items.push(function("WS_EXPORT", fast_path::HEAD, fast_path::all_bursts(self.plan, "fast_path_burst")));
        }
        if let Some(path) = &self.plan.again_path {
            let comment = "The fast path of packets on a further pass.";
            self.fast_path(path, comment, fast_path::AGAIN_BURST_HEAD, &mut items);
            let body = fast_path::all_bursts(self.plan, "again_burst");
            items.push(function("WS_EXPORT", fast_path::AGAIN_HEAD, body));
        }
        if let Some(path) = &self.plan.replica_path {
            self.fast_path(
                path,
                "The part of the fast path behind the queues, for replicas.",
                replica::BURST_HEAD,
                &mut items,
            );
            items.push(function("WS_EXPORT", replica::HEAD, replica::one_burst()));
        }
        if wide_limbs(&items) > EXPANDED_LIMBS_MAX {
            items.insert(1, Item::Define(COMPACT.into()));
            items.iter_mut().for_each(optimise_less);
        }
        items
    }

    /// The function of a burst on the fast path, or on a part of it.
    fn fast_path(&self, fast_path: &FastPath, comment: &str, head: &str, items: &mut Vec<Item>) {
        let vars = fast_path.spilled.iter().map(|(&var, &(offset, _))| (var, offset));
        let comment_of_struct = "Variables that the fast path spills across tables.";
        items.extend(self.spilled_struct(fast_path::spilled_name(fast_path).to_owned(), comment_of_struct, vars));
        items.push(Item::Comment(comment.into()));
        items.extend(fast_path.in_place.then(|| self.saved_state(fast_path)));
        let body = self.with_uses(fast_path.bodies(self.program), fast_path::emit(self, fast_path));
        items.push(function("static", head, body));
    }

    /// The struct of the variables that a block spills.
    fn spilled_in(&self, id: BlockId) -> Vec<Item> {
        let plan = &self.plan.blocks[id];
        let why = if plan.routines.is_empty() {
            "are spilled across tables"
        } else {
            "are spilled across tables or shared with routines"
        };
        let comment = format!("Variables of {} that {why}.", self.program.blocks[id].name);
        self.spilled_struct(spilled_name(id), &comment, plan.spilled.iter().map(|(&var, &offset)| (var, offset)))
    }

    /// A struct of spilled variables; none if there are none.
    fn spilled_struct(&self, name: String, comment: &str, vars: impl Iterator<Item = (VarId, u32)>) -> Vec<Item> {
        let member = |var: VarId| Member {
            ty: "uint64_t",
            name: self.var_name(var),
            length: self.limbs(var).filter(|&limbs| limbs > 1),
        };
        let mut members: Vec<(u32, Member)> = vars.map(|(var, offset)| (offset, member(var))).collect();
        if members.is_empty() {
            return Vec::new();
        }
        members.sort_by_key(|(offset, _)| *offset);
        let members = members.into_iter().map(|(_, member)| member).collect();
        vec![Item::Comment(comment.into()), Item::Struct { name, members }]
    }

    /// The struct of a packet's state that is saved from one stage of the fast path to another, where packets are
    /// processed in place. Offsets are from the packet's first byte; where headers are relocated there are pointers
    /// instead, and space for headers that are not in the packet.
    fn saved_state(&self, fast_path: &FastPath) -> Item {
        let mut members = Vec::new();
        let mut member = |ty, name: &str, length: Option<u32>| {
            if length != Some(0) {
                members.push(Member { ty, name: name.into(), length });
            }
        };
        member("uint64_t", "valid", Some(self.plan.storage.valid_words));
        member("uint64_t", "spilled", Some(fast_path.spilled_bytes / 8));
        for (id, var) in wide_metadata(self.program) {
            member("uint64_t", &self.var_name(id), Some(var.ty.width().div_ceil(64)));
        }
        let saves_parsed = fast_path.may_stay && !fast_path.is_of_replicas();
        member("uint64_t", "parsed", if saves_parsed { None } else { Some(0) });
        member("uint32_t", "sums", Some(fast_path.checksums.len() as u32));
        member("uint32_t", "payload", None);
        if fast_path.moves {
            member("uint8_t *", "place", Some(self.plan.storage.slots));
            // Headers without bytes have a home, too.
            let has_homes = self.plan.headers.iter().any(|header| header.home.is_some());
            member("uint8_t", "homes", Some(self.plan.storage.scratch_bytes.max(u32::from(has_homes))));
        } else {
            member("uint32_t", "offset", Some(self.plan.storage.slots));
        }
        member("uint32_t", "varbit_bytes", Some(self.plan.storage.varbits));
        Item::Struct { name: fast_path::saved_name(fast_path).into(), members }
    }

    fn block(&self, id: BlockId, items: &mut Vec<Item>) {
        let block = &self.program.blocks[id];
        items.extend(self.spilled_in(id));
        let what = match &block.kind {
            BlockKind::Parser { .. } => "Parser",
            BlockKind::Control { .. } if self.is_deparser(id) => "Deparser",
            BlockKind::Control { .. } => "Control",
        };
        items.extend(routine::functions(self, id));
        items.push(Item::Comment(format!("{what} {}.", block.name)));
        let head = block_head(id.index());
        let body = match &block.kind {
            BlockKind::Parser { start, states, error } => parser::emit(self, id, *start, states, *error),
            BlockKind::Control { body } if self.is_deparser(id) => {
                self.with_uses([&body[..]], deparser::emit(self, id, body))
            }
            BlockKind::Control { body } if self.plan.blocks[id].is_split => self.split(id, body, items),
            BlockKind::Control { body } => self.with_uses([&body[..]], control::emit(self, id, body)),
        };
        items.push(function("WS_EXPORT", &head, body));
    }

    /// The functions of a control's parts, and the body of the one that calls them.
    fn split(&self, id: BlockId, body: &'e ir::Body, items: &mut Vec<Item>) -> Vec<ctree::Stmt> {
        let parts = parts(self.program, body);
        let codes: Vec<control::Part> =
            (0..parts.len()).map(|number| control::part(self, id, &parts, number)).collect();
        let statements: usize = codes.iter().map(|part| ctree::statement_count(&part.code)).sum();
        let calls = control::emit_calls(self, body, &codes);
        for (part, code) in parts.iter().zip(codes) {
            let head = format!("uint32_t {}({})", code.name, control::PART_PARAMS);
            items.push(split_function(&head, self.with_uses([*part], code.code), statements));
        }
        calls
    }

    /// A function's body with counters for the lookups that the program's bodies count one by one.
    fn with_uses<'b>(&self, bodies: impl IntoIterator<Item = &'b [Stmt]>, code: Vec<ctree::Stmt>) -> Vec<ctree::Stmt> {
        let mut tables = OrderedSet::new();
        for body in bodies {
            ir::walk::visit_body(body, &mut |stmt| match &stmt.kind {
                StmtKind::CountLookup { table, .. } => {
                    tables.insert(*table);
                }
                StmtKind::ApplyTable { table, .. } if self.plan.tables[*table].is_near => {
                    tables.insert(*table);
                }
                _ => {}
            });
        }
        if tables.is_empty() { code } else { table_functions::sum_uses(&tables, code) }
    }

    /// The functions that pack entries into packed results.
    fn packed_results(&self) -> Vec<Item> {
        let tables = self.plan.tables.iter_enumerated();
        let function = |(id, plan): (ir::TableId, &TablePlan)| {
            let actions = self.program.tables[id].actions.len();
            let (head, body) = table_functions::pack_of_entry(id, plan.packed_results.as_ref()?, actions);
            Some(Item::Function { head: format!("static inline WS_UNUSED {head}"), body })
        };
        tables.filter_map(function).collect()
    }

    fn is_deparser(&self, id: BlockId) -> bool {
        self.program.role(id) == BlockRole::Deparser
    }

    /// The struct of the program's context in a packet's chunk.
    fn context(&self) -> Item {
        let storage = &self.plan.storage;
        let mut members = Vec::new();
        let mut bytes = 0;
        for &var in &storage.metadata {
            let slot = self.plan.vars[var].expect("a metadata variable has a place");
            let (ty, length) = match slot.bytes {
                1 => ("uint8_t", None),
                2 => ("uint16_t", None),
                4 => ("uint32_t", None),
                8 => ("uint64_t", None),
                bytes => ("uint64_t", Some(bytes / 8)),
            };
            members.push(Member { ty, name: self.var_name(var), length });
            bytes += slot.bytes;
        }
        let fill = self.plan.metadata.end - self.plan.metadata.start - bytes;
        let mut array = |ty, name: &str, length: u32| {
            if length > 0 {
                members.push(Member { ty, name: name.into(), length: Some(length) });
            }
        };
        array("uint8_t", "metadata_end", fill);
        array("uint64_t", "valid", storage.valid_words);
        array("uint32_t", "offset", storage.slots);
        array("uint32_t", "home", storage.homes.len() as u32);
        array("uint32_t", "varbit_bytes", storage.varbits);
        let words = storage.slots + storage.homes.len() as u32 + storage.varbits;
        array("uint32_t", "arrays_end", words % 2);
        array("uint64_t", "spilled", storage.spilled_bytes / 8);
        let end = abi_size() + self.plan.context_size;
        array("uint8_t", "scratch", end - storage.scratch_offset);
        Item::Struct { name: "context".into(), members }
    }

    /// Assertions that C places the members where the plan has them.
    fn context_asserts(&self) -> Vec<Item> {
        let offset_is = |member: String, offset: u32| {
            let found = call("offsetof", vec![name("struct context"), name(member)]);
            Item::Assert(binary("==", found, int(offset - abi_size())), "the plan's place".into())
        };
        let mut asserts = vec![Item::Assert(
            binary("==", call("sizeof", vec![name("struct context")]), int(self.plan.context_size)),
            "the plan's size".into(),
        )];
        for &var in &self.plan.storage.metadata {
            let slot = self.plan.vars[var].expect("a metadata variable has a place");
            asserts.push(offset_is(self.var_name(var), slot.offset));
        }
        if self.plan.storage.valid_words > 0 {
            asserts.push(offset_is("valid".into(), self.plan.storage.valid_offset));
        }
        if self.plan.storage.spilled_bytes > 0 {
            asserts.push(offset_is("spilled".into(), self.plan.storage.spilled_offset));
        }
        asserts.push(offset_is("scratch".into(), self.plan.storage.scratch_offset));
        asserts
    }

    fn info(&self) -> Item {
        let info = crate::native::program_info(self.plan);
        let members = [
            info.context_size,
            info.metadata_offset,
            info.metadata_size,
            info.block_count,
            info.fast_path,
            info.again_path,
            info.replica_path,
        ]
        .map(int);
        let mut list = vec![name("WS_ABI_VERSION")];
        list.extend(members);
        Item::Constant {
            ty: "WS_EXPORT const struct ws_program_info".into(),
            name: "ws_program".into(),
            length: None,
            value: C::List(list),
        }
    }

    /// The macros for the tables of hash functions that the program needs.
    fn hash_tables(&self) -> OrderedSet<&'static str> {
        let mut names = OrderedSet::new();
        state::walk_program(self.program, &mut |stmt| {
            let StmtKind::Hash { algorithm, .. } = &stmt.kind else { return };
            names.extend(hash_table(*algorithm));
        });
        names.extend(self.program.action_profiles.iter().filter_map(|profile| profile.selector.and_then(hash_table)));
        names
    }

    /// The C name of a variable: its number, and its P4 name for readers.
    pub(crate) fn var_name(&self, var: VarId) -> String {
        identifier("v", var.index(), &self.program.vars[var].name)
    }

    /// The C name of the pointer to a header.
    pub(crate) fn header_name(&self, header: HeaderId) -> String {
        identifier("h", header.index(), &self.program.headers[header].name)
    }

    /// Limbs of a variable.
    fn limbs(&self, var: VarId) -> Option<u32> {
        Some(self.program.vars[var].ty.width().div_ceil(64))
    }
}

/// The head of the function of a block, or of the decisions at a point.
fn block_head(number: usize) -> String {
    format!(
        "void ws_block_{number}(const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets, uint32_t count)"
    )
}

/// A function that the switch calls.
fn function(linkage: &str, head: &str, mut body: Vec<ctree::Stmt>) -> Item {
    prune(&mut body);
    let attribute = attribute(ctree::statement_count(&body), STATEMENTS_MAX, OPTIMISED_STATEMENTS_MAX);
    Item::Function { head: format!("{linkage}{attribute} {head}"), body }
}

/// A part of a control that has `statements` statements in all.
fn split_function(head: &str, mut body: Vec<ctree::Stmt>, statements: usize) -> Item {
    prune(&mut body);
    let attribute = attribute(statements, SPLIT_STATEMENTS_MAX, SPLIT_OPTIMISED_STATEMENTS_MAX);
    Item::Function { head: format!("WS_PART{attribute} {head}"), body }
}

/// Makes the C compiler optimise a function less if it has many calls for wide values.
fn optimise_less(item: &mut Item) {
    if let Item::Function { head, body } = item
        && ctree::statement_count(body) > COMPACT_STATEMENTS_MAX
        && !has_attribute(head, LONG)
        && !has_attribute(head, HUGE)
    {
        head.insert_str(0, &format!("{CALLING} "));
    }
}

/// Whether a function has this attribute.
fn has_attribute(head: &str, attribute: &str) -> bool {
    head.split(' ').any(|word| word == attribute)
}

/// The attribute that reduces optimisation, so that the C compiler does not take minutes for that many statements.
fn attribute(statements: usize, max: usize, optimised_max: usize) -> String {
    match statements {
        _ if statements <= max => String::new(),
        _ if statements <= optimised_max => format!(" {LONG}"),
        _ => format!(" {HUGE}"),
    }
}

/// The macro for the tables of a hash function.
fn hash_table(algorithm: HashAlgorithm) -> Option<&'static str> {
    match algorithm {
        HashAlgorithm::Crc32 | HashAlgorithm::Crc32Continued => Some("WS_CRC32"),
        HashAlgorithm::Crc16 | HashAlgorithm::Crc16Continued => Some("WS_CRC16"),
        HashAlgorithm::CrcCcitt => Some("WS_CRC_CCITT"),
        HashAlgorithm::Csum16 | HashAlgorithm::Xor16 | HashAlgorithm::Identity => None,
        HashAlgorithm::Custom(_) | HashAlgorithm::Continued(_) | HashAlgorithm::Remainder { .. } => None,
    }
}

/// Bytes of `struct ws_packet`.
pub(crate) fn abi_size() -> u32 {
    size_of::<abi::Packet>() as u32
}

/// The name of the struct of a block's spilled variables.
pub(crate) fn spilled_name(block: BlockId) -> String {
    format!("spilled_{}", block.index())
}

/// An identifier from a prefix, a number that makes it unique, and a name for readers.
pub(crate) fn identifier(prefix: &str, number: usize, name: &str) -> String {
    const READABLE_CHARS_MAX: usize = 40;
    let readable: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let start = readable.len().saturating_sub(READABLE_CHARS_MAX);
    match readable[start..].trim_matches('_') {
        "" => format!("{prefix}{number}"),
        readable => format!("{prefix}{number}_{readable}"),
    }
}

/// The expression cut to a width.
pub(crate) fn masked(value: lir::Expr, width: u32) -> lir::Expr {
    match width {
        64.. => value,
        _ => lir::binary("&", value, lir::long(mask(width))),
    }
}

/// The low `width` bits.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
