//! State that outlives a packet, and whether packets can see the order in which they touch it.
//!
//! Counters are not listed, because sums do not depend on the order. Neither are registers that the program never
//! writes: the control plane writes between bursts, so they are constant within one.

use super::walk::{Item, Tables, Walk, walk_block};
use base::OrderedSet;
use base::limits::BURST_PACKETS_MAX;
use ir::walk::slot_of;
use ir::{
    Block, BlockId, BlockRole, DirectMeterId, Effect, LabelId, MeterId, Place, Program, RegisterId, Stmt, StmtKind,
    TableId,
};

/// An object whose order of use packets can observe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Object {
    /// A register array.
    Register(RegisterId),
    /// A meter array.
    Meter(MeterId),
    /// A direct meter.
    DirectMeter(DirectMeterId),
    /// The entries of a table to which packets add.
    Entries(TableId),
    /// The timers of entries.
    Timers,
    /// The sequence of random numbers.
    Random,
    /// The sequence of digests, log messages and assertions that failed.
    Messages,
    /// The state of a plug-in's functions.
    PlugIn,
    /// The coalescing buffers, in which packets are held until others join them.
    CoalescingBuffers,
    /// The iteration count of a loop, which covers a packet's whole run through a block.
    LoopSteps(LabelId),
}

/// Registers that the program writes.
pub(crate) fn written_registers(program: &Program) -> OrderedSet<RegisterId> {
    let mut written = OrderedSet::new();
    walk_program(program, &mut |stmt| {
        if let StmtKind::RegisterWrite { register, .. } = &stmt.kind {
            written.insert(*register);
        }
    });
    written
}

/// Every statement of the program once: blocks in order, then routines, then actions.
pub(crate) fn walk_program<'p>(program: &'p Program, visit: &mut dyn FnMut(&'p Stmt)) {
    let mut each = |item: Item<'p>| {
        if let Item::Stmt(stmt) = item {
            visit(stmt);
        }
    };
    for block in &program.blocks {
        walk_block(program, block, Tables::Outside, &mut each);
    }
    for routine in &program.routines {
        Walk::new(program, Tables::Outside).body(&routine.body, &mut each);
    }
    for action in &program.actions {
        Walk::new(program, Tables::Outside).body(&action.body, &mut each);
    }
}

/// The object that a statement (without the statements inside of it) touches.
pub(crate) fn touched(program: &Program, stmt: &Stmt, written: &OrderedSet<RegisterId>) -> Option<Object> {
    match &stmt.kind {
        StmtKind::RegisterRead { register, .. } | StmtKind::RegisterWrite { register, .. } => {
            written.contains(register).then_some(Object::Register(*register))
        }
        StmtKind::ExecuteMeter { meter, .. } => Some(Object::Meter(*meter)),
        StmtKind::ExecuteDirectMeter { meter, .. } => Some(Object::DirectMeter(*meter)),
        StmtKind::AddEntry { table, .. } => Some(Object::Entries(*table)),
        StmtKind::ApplyTable { table, .. } if program.tables[*table].adds_on_miss => Some(Object::Entries(*table)),
        StmtKind::SetTimer { .. } => Some(Object::Timers),
        StmtKind::ApplyTable { table, .. } => {
            program.tables[*table].direct_meter.as_ref().map(|(meter, _)| Object::DirectMeter(*meter))
        }
        StmtKind::Random { .. } => Some(Object::Random),
        StmtKind::Digest { .. } | StmtKind::Log { .. } | StmtKind::Assert { .. } => Some(Object::Messages),
        StmtKind::CallExtern { function, .. } => {
            (!program.extern_functions[*function].is_pure).then_some(Object::PlugIn)
        }
        StmtKind::Loop { label, .. } => Some(Object::LoopSteps(*label)),
        StmtKind::Assign { dst, .. } if requests_coalescing(program, dst) => Some(Object::CoalescingBuffers),
        _ => None,
    }
}

/// Why packets run through the program's blocks one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Serialised {
    /// Two blocks touch this.
    BetweenBlocks(Object),
    /// A packet that takes another pass meets this a second time.
    BetweenPasses(Object),
    /// A packet changes this, and the core publishes the change before the next packet begins.
    Published(Object),
}

/// How many packets may run through the program's blocks together. It is one if packets could otherwise observe the
/// order in which they touch state, between blocks or between a packet's passes.
pub(crate) fn burst_max(program: &Program) -> u32 {
    if serialised(program).is_some() { 1 } else { BURST_PACKETS_MAX as u32 }
}

/// How many packets that are already in the queues may run together through the blocks behind them. It is one if
/// packets could otherwise observe the order in which they touch state or request copies and further passes. It may be
/// more than [`burst_max`], since no other packet comes between the replicas of a packet.
pub(crate) fn egress_burst_max(program: &Program) -> u32 {
    if egress_is_seen(program) { 1 } else { BURST_PACKETS_MAX as u32 }
}

/// Whether packets can observe that they run together through the blocks behind the queues: requests after the first of
/// these blocks are then applied before requests after the last.
fn egress_is_seen(program: &Program) -> bool {
    let written = written_registers(program);
    let mut seen = OrderedSet::new();
    for block in program.architecture.blocks_behind_queues() {
        let here = touched_in(program, &program.blocks[block], &written);
        if !here.is_disjoint(&seen) {
            return true;
        }
        seen.extend(here);
    }
    let clones_again = program.may_request(Effect::EgressAgain)
        && (program.may_request(Effect::IngressAgain) || program.mentions_queues());
    clones_again || program.may_request(Effect::CopyToIngress)
}

/// Why the burst is one packet; none if it is not.
pub(crate) fn serialised(program: &Program) -> Option<Serialised> {
    let mut tables = program.tables.iter_enumerated();
    if let Some((table, _)) = tables.find(|(_, table)| table.adds_on_miss) {
        return Some(Serialised::Published(Object::Entries(table)));
    }
    let written = written_registers(program);
    let (mut seen, mut seen_again) = (OrderedSet::new(), OrderedSet::new());
    let meets_again = blocks_that_meet_again(program);
    for (id, block) in program.blocks.iter_enumerated() {
        let here = touched_in(program, block, &written);
        if let Some(&object) = here.intersection(&seen).next() {
            return Some(Serialised::BetweenBlocks(object));
        }
        if meets_again.contains(&id) {
            seen_again.extend(here.iter().copied());
        }
        seen.extend(here);
    }
    seen_again.first().map(|&object| Serialised::BetweenPasses(object))
}

/// The objects of observable order that a block touches.
pub(crate) fn touched_in(program: &Program, block: &Block, written: &OrderedSet<RegisterId>) -> OrderedSet<Object> {
    let mut found = OrderedSet::new();
    walk_block(program, block, Tables::Inside, &mut |item| {
        if let Item::Stmt(stmt) = item {
            found.extend(touched(program, stmt, written).filter(|object| !matches!(object, Object::LoopSteps(_))));
        }
    });
    found
}

/// The object's name in messages.
pub(crate) fn name(program: &Program, object: Object) -> String {
    match object {
        Object::Register(register) => format!("register {}", program.registers[register].name),
        Object::Meter(meter) => format!("meter {}", program.meters[meter].name),
        Object::DirectMeter(meter) => format!("meter {}", program.direct_meters[meter].name),
        Object::Entries(table) => format!("the entries of {}", program.tables[table].name),
        Object::Timers => "the timers of entries".to_owned(),
        Object::Random => "the sequence of random numbers".to_owned(),
        Object::PlugIn => "the program's own extern functions".to_owned(),
        Object::CoalescingBuffers => "the coalescing buffers".to_owned(),
        Object::Messages => "the sequence of digests and log lines".to_owned(),
        Object::LoopSteps(_) => "the steps of a loop".to_owned(),
    }
}

/// The blocks that a packet, or a copy of it, can enter after it has been through them or a later block. Clones to
/// egress enter the blocks behind the queues; those that ingress requests are parsed first.
fn blocks_that_meet_again(program: &Program) -> OrderedSet<BlockId> {
    if program.may_request(Effect::IngressAgain) {
        return program.blocks.ids().collect();
    }
    let architecture = program.architecture;
    let parsed_anew = program.may_request(Effect::ParsedCopy);
    let parser = architecture.first(BlockRole::Parser).filter(|_| parsed_anew);
    let leaves_queues_again = parsed_anew || program.may_request(Effect::EgressAgain);
    parser.into_iter().chain(architecture.blocks_behind_queues().filter(|_| leaves_queues_again)).collect()
}

/// Whether a place is, or is part of, a variable that requests something of coalescing buffers.
fn requests_coalescing(program: &Program, place: &Place) -> bool {
    let slot = slot_of(program, place);
    let requests = program.architecture.requests.iter();
    requests.filter(|request| request.effects.contains(&Effect::Coalescing)).any(|request| Some(request.slot) == slot)
}
