//! Where every variable and header is stored.
//!
//! The context of a packet, between its fixed part and the headroom:
//!
//! ```text
//! [metadata variables][valid bits][header offsets][homes][varbit lengths][spill area]
//! [scratch headers]
//! ```
//!
//! A header instance is an offset into the chunk and a valid bit: extraction sets the offset to the place in the
//! packet. A header that is made valid or copied to without being in the packet is stored in its *home*, a scratch
//! place of its own. Pushing and popping a stack moves offsets of its elements instead of bytes. No two elements ever
//! share a home: a header in a home is copied to the home of the element that it becomes or, in a stack whose elements
//! are indexed at run time, homes are moved as well. A local variable is a variable of the C function, unless it is
//! live across a table that splits the control or across parts of a divided control, or is shared with a routine.

use super::fast_path::{FastPath, NoFastPath};
use super::graph::Graph;
use super::parts::parts;
use super::walk::{Item, Tables, Walk, walk_block};
use super::{CONTEXT_BYTES_MAX, PlanError, VarSlot};
use crate::abi;
use base::index::Id as _;
use base::limits::HEADROOM_BYTES;
use base::{IndexVec, OrderedMap, OrderedSet};
use ir::{BlockId, BlockKind, HeaderId, HeaderRef, Program, RoutineId, StackId, StmtKind, TableId, VarId, VarKind};
use std::ops::Range;

/// The valid bit that is set if a header was relocated, for packets that may leave as they were received.
pub(crate) const MOVED_BIT: u32 = 63;

/// The most elements of a stack that is moved by statements for each element.
pub(crate) const NAMED_ELEMENTS_MAX: usize = 32;

/// Where a header instance is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeaderSlot {
    /// Its position in the array of offsets.
    pub slot: u32,
    /// Its valid bit.
    pub bit: u32,
    /// Its scratch place, from the start of the chunk; none if it is stored in the packet only.
    pub home: Option<u32>,
    /// Its position in the array of varbit lengths, if it has such a field.
    pub varbit: Option<u32>,
    /// Its position in the array of homes, if it has a home and is in a dynamic stack.
    pub home_slot: Option<u32>,
}

/// Where a stack is stored. Slots, bits, varbit lengths and homes of its elements follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StackSlot {
    /// The first element.
    pub first: HeaderSlot,
    /// Elements.
    pub size: u32,
    /// Elements are indexed at run time, or are many and moved.
    pub dynamic: bool,
}

/// The parts of the context, as members of the C struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Storage {
    /// Metadata variables in the order of their places.
    pub(crate) metadata: Vec<VarId>,
    /// Words of valid bits.
    pub(crate) valid_words: u32,
    /// Header offsets.
    pub(crate) slots: u32,
    /// Homes of elements of dynamic stacks: their initial values.
    pub(crate) homes: Vec<u32>,
    /// Varbit lengths.
    pub(crate) varbits: u32,
    /// Bytes of the spill area, which blocks share.
    pub(crate) spilled_bytes: u32,
    /// Bytes of scratch headers.
    pub(crate) scratch_bytes: u32,
    /// Where the parts begin, from the start of the chunk.
    pub(crate) valid_offset: u32,
    pub(crate) spilled_offset: u32,
    pub(crate) scratch_offset: u32,
}

/// The plan of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockPlan {
    /// Whether a control is split at its tables.
    pub(crate) cut: bool,
    /// Whether a control that is not split at its tables is divided into several functions.
    pub(crate) is_split: bool,
    /// Routines that run in it.
    pub(crate) routines: OrderedSet<RoutineId>,
    /// Locals that are spilled across tables or shared with routines: the first byte in the spill area.
    pub(crate) spilled: OrderedMap<VarId, u32>,
    /// Local headers that the block uses.
    pub(crate) local_headers: OrderedSet<HeaderId>,
}

/// Everything that `build` finds.
pub(crate) struct Built {
    pub(crate) context_size: u32,
    pub(crate) metadata: Range<u32>,
    pub(crate) vars: IndexVec<VarId, Option<VarSlot>>,
    pub(crate) headers: IndexVec<HeaderId, HeaderSlot>,
    pub(crate) stacks: IndexVec<StackId, StackSlot>,
    pub(crate) storage: Storage,
    pub(crate) blocks: IndexVec<BlockId, BlockPlan>,
    /// The fast path, or why there is none.
    pub(crate) fast_path: Result<FastPath, NoFastPath>,
    pub(crate) again_path: Option<FastPath>,
    pub(crate) replica_path: Option<FastPath>,
}

/// Bytes of a variable in the context.
pub(crate) fn var_bytes(width_bits: u32) -> u32 {
    match width_bits {
        0 => 0,
        1..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => width_bits.div_ceil(64) * 8,
    }
}

/// Finds a place for everything, as `general` uses headers, with a spill area of at least `spilled_bytes`.
pub(crate) fn build(
    program: &Program,
    general: &Program,
    spilled_bytes: u32,
    key_words: &dyn Fn(TableId) -> usize,
) -> Result<Built, PlanError> {
    let base = size_of::<abi::Packet>() as u32;
    let mut storage = Storage::default();
    let (vars, metadata_bytes) = place_metadata(program, base, &mut storage)?;
    let uses = HeaderUses::of(general);
    let (mut headers, mut stacks) = place_headers(program, &uses, &mut storage);
    let blocks: IndexVec<BlockId, BlockPlan> = program
        .blocks
        .iter()
        .map(|block| plan_block(program, block, key_words, &mut storage.spilled_bytes))
        .collect::<Result<_, _>>()?;
    let mut fast_path = FastPath::of(program, key_words);
    if let Ok(fast_path) = &mut fast_path {
        fast_path.in_place &= !stacks.iter().any(|stack| stack.dynamic) && storage.homes.is_empty();
    }
    let fast_path_bytes = fast_path.as_ref().map_or(0, |fast_path| fast_path.spilled_bytes);
    storage.spilled_bytes = storage.spilled_bytes.max(fast_path_bytes).max(spilled_bytes);

    storage.valid_offset = base + metadata_bytes;
    let arrays = u64::from(storage.valid_words) * 8
        + (u64::from(storage.slots) + storage.homes.len() as u64 + u64::from(storage.varbits)) * 4;
    storage.spilled_offset = check(u64::from(storage.valid_offset) + arrays.next_multiple_of(8))?;
    storage.scratch_offset = check(u64::from(storage.spilled_offset) + u64::from(storage.spilled_bytes))?;
    place_homes(program, &uses, &mut headers, &mut storage)?;
    // One of the valid bits records that a header lies outside of the packet.
    let has_moved_bit = headers.iter().all(|header| header.bit < MOVED_BIT);
    if let Ok(fast_path) = &mut fast_path {
        fast_path.in_place &= !fast_path.moves || storage.scratch_bytes as usize <= HEADROOM_BYTES;
        fast_path.moves &= fast_path.in_place;
        fast_path.may_stay &= fast_path.moves && has_moved_bit;
        if !fast_path.may_stay {
            fast_path.tail.clear();
            fast_path.outcomes.clear();
        }
        let keeps_bytes = fast_path.may_stay || fast_path.in_place && fast_path.keeps_headers;
        if !keeps_bytes {
            // It describes where headers lie in a frame, and there are no frames now.
            fast_path.parsed.clear();
        }
    }
    let again_path = fast_path.as_ref().ok().and_then(|path| path.for_passes(program, key_words));
    let replica_path = fast_path.as_ref().ok().and_then(|path| path.for_replicas(program, has_moved_bit, key_words));
    for (id, stack) in program.stacks.iter_enumerated() {
        if let Some(&first) = stack.elements.first() {
            stacks[id].first = headers[first];
        }
    }
    // One byte more than is used: the packet's bytes never follow a scratch header directly, so that the offset alone
    // shows whether a header lies in its place before the payload.
    let end = u64::from(storage.scratch_offset) + u64::from(storage.scratch_bytes) + 1;
    let context_size = check(end.next_multiple_of(abi::CHUNK_ALIGN_BYTES as u64))? - base;
    let metadata = base..base + metadata_bytes;
    Ok(Built { context_size, metadata, vars, headers, stacks, storage, blocks, fast_path, again_path, replica_path })
}

fn check(bytes: u64) -> Result<u32, PlanError> {
    if bytes > u64::from(CONTEXT_BYTES_MAX) {
        return Err(PlanError::ContextTooLarge { bytes });
    }
    Ok(bytes as u32)
}

type PlacedVars = (IndexVec<VarId, Option<VarSlot>>, u32);

/// Metadata variables, those of the widest alignment first, so that no gaps arise.
fn place_metadata(program: &Program, base: u32, storage: &mut Storage) -> Result<PlacedVars, PlanError> {
    let mut vars: IndexVec<VarId, Option<VarSlot>> = program.vars.iter().map(|_| None).collect();
    let mut offset = u64::from(base);
    for align in [8, 4, 2, 1] {
        for (id, var) in program.vars.iter_enumerated() {
            let (width_bits, bytes) = (var.ty.width(), var_bytes(var.ty.width()));
            if var.kind == VarKind::Metadata && bytes.min(8) == align {
                vars[id] = Some(VarSlot { offset: check(offset)?, bytes, width_bits });
                storage.metadata.push(id);
                offset += u64::from(bytes);
            }
        }
    }
    for (id, var) in program.vars.iter_enumerated() {
        if var.kind == VarKind::Metadata && var.ty.width() == 0 {
            vars[id] = Some(VarSlot { offset: base, bytes: 0, width_bits: 0 });
        }
    }
    Ok((vars, check(offset.next_multiple_of(8))? - base))
}

/// How the program uses headers.
struct HeaderUses {
    /// Headers that need a home: they are made valid or copied to.
    homed: OrderedSet<HeaderId>,
    /// Stacks with elements that are indexed at run time, or with many that are moved.
    dynamic: OrderedSet<StackId>,
    /// Stacks that are moved.
    moved: OrderedSet<StackId>,
}

impl HeaderUses {
    fn of(program: &Program) -> HeaderUses {
        let mut uses = HeaderUses { homed: OrderedSet::new(), dynamic: OrderedSet::new(), moved: OrderedSet::new() };
        for block in &program.blocks {
            walk_block(program, block, Tables::Inside, &mut |item| match item {
                Item::Header(header) => uses.dynamic.extend(stack_of(header)),
                Item::Stmt(stmt) => uses.stmt(program, &stmt.kind),
                Item::Var(_) => {}
            });
        }
        // If one element of a moved stack needs a home, all do, since homes move with the elements.
        for &id in &uses.moved {
            let elements = &program.stacks[id].elements;
            if elements.iter().any(|element| uses.homed.contains(element)) {
                uses.homed.extend(elements);
            }
        }
        uses
    }

    fn stmt(&mut self, program: &Program, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(header)
            | StmtKind::CopyHeader { dst: header, .. }
            | StmtKind::CopyVarbit { dst: (header, _), .. }
            | StmtKind::SetVarbit { dst: (header, _), .. } => match (header, stack_of(header)) {
                (HeaderRef::Fixed(id), _) => {
                    self.homed.insert(*id);
                }
                (_, Some(stack)) => self.homed.extend(&program.stacks[stack].elements),
                _ => {}
            },
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                self.moved.insert(*stack);
                if program.stacks[*stack].elements.len() > NAMED_ELEMENTS_MAX {
                    self.dynamic.insert(*stack);
                }
            }
            _ => {}
        }
    }
}

/// The stack through which a header is referenced.
pub(crate) fn stack_of(header: &HeaderRef) -> Option<StackId> {
    match header {
        HeaderRef::Fixed(_) => None,
        HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => Some(*stack),
    }
}

type PlacedHeaders = (IndexVec<HeaderId, HeaderSlot>, IndexVec<StackId, StackSlot>);

/// Numbers slots, bits, varbit lengths and homes. Plain headers come first; each dynamic stack begins a word of valid
/// bits, so that the words of plain headers can be in registers.
fn place_headers(program: &Program, uses: &HeaderUses, storage: &mut Storage) -> PlacedHeaders {
    let mut headers: IndexVec<HeaderId, HeaderSlot> = program.headers.iter().map(|_| HeaderSlot::default()).collect();
    let mut stacks: IndexVec<StackId, StackSlot> = program.stacks.iter().map(|_| StackSlot::default()).collect();
    let in_dynamic: OrderedSet<HeaderId> =
        uses.dynamic.iter().flat_map(|&stack| &program.stacks[stack].elements).copied().collect();
    let mut bits = 0;
    let mut place = |id: HeaderId, home_in_context: bool, bits: &mut u32, storage: &mut Storage| {
        let slot = &mut headers[id];
        slot.slot = storage.slots;
        storage.slots += 1;
        slot.bit = *bits;
        *bits += 1;
        if program.header_types[program.headers[id].ty].varbit().is_some() {
            slot.varbit = Some(storage.varbits);
            storage.varbits += 1;
        }
        if home_in_context {
            slot.home_slot = Some(storage.homes.len() as u32);
            storage.homes.push(0);
        }
    };
    for id in program.headers.ids().filter(|id| !in_dynamic.contains(id)) {
        place(id, false, &mut bits, storage);
    }
    for (id, stack) in program.stacks.iter_enumerated() {
        let dynamic = uses.dynamic.contains(&id);
        stacks[id].size = stack.elements.len() as u32;
        stacks[id].dynamic = dynamic;
        if !dynamic {
            continue;
        }
        bits = bits.next_multiple_of(64);
        let homed = stack.elements.iter().any(|element| uses.homed.contains(element));
        for &element in &stack.elements {
            place(element, homed, &mut bits, storage);
        }
    }
    storage.valid_words = bits.div_ceil(64);
    (headers, stacks)
}

fn place_homes(
    program: &Program,
    uses: &HeaderUses,
    headers: &mut IndexVec<HeaderId, HeaderSlot>,
    storage: &mut Storage,
) -> Result<(), PlanError> {
    let mut bytes = 0u64;
    for &id in &uses.homed {
        let home = check(u64::from(storage.scratch_offset) + bytes)?;
        headers[id].home = Some(home);
        if let Some(slot) = headers[id].home_slot {
            storage.homes[slot as usize] = home;
        }
        bytes += u64::from(program.header_types[program.headers[id].ty].bytes_max()).next_multiple_of(8);
    }
    storage.scratch_bytes = check(bytes)?;
    Ok(())
}

/// Decides whether a block is split at its tables or divided, and which locals are live across the parts.
fn plan_block(
    program: &Program,
    block: &ir::Block,
    key_words: &dyn Fn(TableId) -> usize,
    spilled_bytes: &mut u32,
) -> Result<BlockPlan, PlanError> {
    let mut plan = BlockPlan::default();
    walk_block(program, block, Tables::Inside, &mut |item| {
        let Item::Header(header) = item else { return };
        let elements = match (header, stack_of(header)) {
            (HeaderRef::Fixed(id), _) => std::slice::from_ref(id),
            (_, Some(stack)) => &program.stacks[stack].elements[..],
            _ => &[],
        };
        plan.local_headers.extend(elements.iter().filter(|&&id| !program.headers[id].metadata));
    });
    plan.routines = called_in(program, block);
    // Locals that routines mention are in memory, too.
    let mut crossing = locals_of(program, &plan.routines);
    if let BlockKind::Control { body } = &block.kind {
        find_crossing(program, body, key_words, &mut plan, &mut crossing);
    }
    let mut bytes = 0u64;
    for var in crossing {
        plan.spilled.insert(var, check(bytes)?);
        bytes += u64::from(program.vars[var].ty.width().div_ceil(64) * 8);
    }
    *spilled_bytes = (*spilled_bytes).max(check(bytes)?);
    Ok(plan)
}

/// The routines that a block and the actions of its tables call.
fn called_in(program: &Program, block: &ir::Block) -> OrderedSet<RoutineId> {
    let mut bodies: Vec<&[ir::Stmt]> = match &block.kind {
        BlockKind::Control { body } => vec![body],
        BlockKind::Parser { states, .. } => states.iter().map(|state| &state.body[..]).collect(),
    };
    let mut tables = OrderedSet::new();
    for body in &bodies {
        ir::walk::visit_body(body, &mut |stmt| {
            if let StmtKind::ApplyTable { table, .. } = stmt.kind {
                tables.insert(table);
            }
        });
    }
    let actions = tables.into_iter().flat_map(|table| &program.tables[table].actions);
    bodies.extend(actions.map(|listed| &program.actions[listed.action].body[..]));
    ir::walk::called(program, bodies)
}

/// The local variables that routines mention.
fn locals_of(program: &Program, routines: &OrderedSet<RoutineId>) -> OrderedSet<VarId> {
    let mut locals = OrderedSet::new();
    for &routine in routines {
        Walk::new(program, Tables::Outside).body(&program.routines[routine].body, &mut |item| match item {
            Item::Var(var) if program.vars[var].kind == VarKind::Local => _ = locals.insert(var),
            _ => {}
        });
    }
    locals
}

/// Finds whether a control is split at its tables or divided, and the locals that are live across the parts.
fn find_crossing(
    program: &Program,
    body: &ir::Body,
    key_words: &dyn Fn(TableId) -> usize,
    plan: &mut BlockPlan,
    crossing: &mut OrderedSet<VarId>,
) {
    let graph = Graph::new(program, body, key_words);
    plan.cut = graph.is_cut();
    let mut first_use: OrderedMap<VarId, usize> = OrderedMap::new();
    let private = private_params(program, &[body]);
    let mut mention = |item: Item<'_>, stage: usize| {
        let Item::Var(var) = item else { return };
        let local = program.vars[var].kind == VarKind::Local && !private.contains(&var);
        if local && *first_use.entry(var).or_insert(stage) != stage {
            crossing.insert(var);
        }
    };
    let parts = if plan.cut { Vec::new() } else { parts(program, body) };
    plan.is_split = parts.len() > 1;
    if plan.is_split {
        for (number, part) in parts.into_iter().enumerate() {
            Walk::new(program, Tables::Inside).body(part, &mut |item| mention(item, number));
        }
    } else {
        for (stage, nodes) in graph.stages.iter().enumerate() {
            nodes.iter().for_each(|&node| graph.walk_node(program, node, &mut |item| mention(item, stage)));
        }
    }
}

/// Parameters that only their own action mentions. Each run of the action sets them, so that they are not live across
/// runs.
pub(crate) fn private_params(program: &Program, bodies: &[&[ir::Stmt]]) -> OrderedSet<VarId> {
    let mut owners: OrderedMap<VarId, OrderedSet<usize>> = OrderedMap::new();
    let own = program.actions.len();
    for body in bodies {
        Walk::new(program, Tables::Outside).body(body, &mut |item| {
            if let Item::Var(var) = item {
                owners.entry(var).or_default().insert(own);
            }
        });
    }
    for routine in &program.routines {
        Walk::new(program, Tables::Outside).body(&routine.body, &mut |item| {
            if let Item::Var(var) = item {
                owners.entry(var).or_default().insert(own);
            }
        });
    }
    for table in &program.tables {
        let walk = Walk::new(program, Tables::Outside);
        let mut mention = |item: Item<'_>| {
            if let Item::Var(var) = item {
                owners.entry(var).or_default().insert(own);
            }
        };
        walk.keys(table, &mut mention);
        if let Some((_, Some(place))) = &table.direct_meter {
            walk.place(place, &mut mention);
        }
    }
    for (id, action) in program.actions.iter_enumerated() {
        Walk::new(program, Tables::Outside).body(&action.body, &mut |item| {
            if let Item::Var(var) = item {
                owners.entry(var).or_default().insert(id.index());
            }
        });
    }
    let is_private = |id: usize, param: &VarId| owners.get(param).is_none_or(|set| set.len() == 1 && set.contains(&id));
    let actions = program.actions.iter_enumerated();
    actions
        .flat_map(|(id, action)| action.params.iter().map(move |param| (id.index(), param)))
        .filter(|(id, param)| is_private(*id, param))
        .map(|(_, &param)| param)
        .collect()
}
