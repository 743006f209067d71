//! Puts units of the low IR together: the values of state where packets enter a stage, its name and its saved place.

use super::Emitter;
use super::fast_path::before_packets;
use super::scope::{Known, Scope};
use crate::plan::fast_path::FastPath;
use crate::plan::graph::NodeId;
use base::index::Id as _;
use base::{OrderedMap, OrderedSet};
use ir::{BlockId, VarId, VarKind};
use lir::{Entry, Expr as C, Stage, StatePart, Stmt as S, Type, Unit, arrow, cast, index, int, long, name, walk};

impl Emitter<'_> {
    /// The name of a block's unit.
    pub(crate) fn unit_name(&self, block: BlockId) -> String {
        super::identifier("block_", block.index(), &self.program.blocks[block].name)
    }

    /// A unit after all passes.
    pub(crate) fn unit(&self, name: &str, block: BlockId, fast_path: Option<&FastPath>, stages: Vec<Stage>) -> Unit {
        let mut mentioned = Mentioned::default();
        stages.iter().for_each(|stage| mentioned.stage(stage));
        let places = Places { emitter: self, block, fast_path };
        // The place of a header may be read in the place of another part.
        let saved: OrderedMap<StatePart, C> =
            mentioned.all.iter().filter_map(|&state| Some((state, places.place(state)?))).collect();
        let var = |state: &StatePart| match state {
            StatePart::Var(id) => {
                let width_bits = self.program.vars[*id].ty.width();
                Some((*id, lir::Var { name: self.var_name(*id), width_bits }))
            }
            _ => None,
        };
        let header = |state: &StatePart| match state {
            StatePart::Header(id) => Some((*id, self.header_name(*id))),
            _ => None,
        };
        let mut unit = Unit {
            name: name.into(),
            vars: mentioned.all.iter().filter_map(var).collect(),
            headers: mentioned.all.iter().filter_map(header).collect(),
            live_out: saved.keys().copied().filter(|&state| places.is_live_out(state)).collect(),
            saved,
            before: fast_path.map_or(Vec::new(), |fast_path| before_packets(self, fast_path)),
            stages,
        };
        lir::passes::spill_all(&mut unit);
        debug_assert_eq!(lir::verify(&unit), Ok(()), "{}", lir::text::print(&unit));
        (self.observe)(&unit);
        lir::passes::run(&mut unit);
        unit
    }
}

/// The state that code mentions, in its variable or its saved place.
#[derive(Default)]
struct Mentioned {
    all: OrderedSet<StatePart>,
}

impl Mentioned {
    fn stage(&mut self, stage: &Stage) {
        [&stage.before, &stage.after].into_iter().for_each(|body| self.body(body));
        stage.nodes.iter().for_each(|node| self.body(&node.body));
        for (&state, value) in stage.entries.iter().flat_map(|entry| &entry.values) {
            self.all.insert(state);
            self.expr(value);
        }
    }

    fn body(&mut self, body: &[S]) {
        walk::stmts(body, &mut |stmt| walk::exprs(stmt, &mut |value| self.expr(value)));
    }

    fn expr(&mut self, value: &C) {
        walk::expr(value, &mut |it| {
            if let C::State(state) | C::Saved(state) = it {
                self.all.insert(*state);
            }
        });
    }
}

/// Where state is saved.
struct Places<'p, 'e> {
    emitter: &'p Emitter<'e>,
    block: BlockId,
    fast_path: Option<&'p FastPath>,
}

impl Places<'_, '_> {
    fn place(&self, state: StatePart) -> Option<C> {
        let in_context = |array: &str, item: u32| Some(index(arrow(name("c"), array), int(item)));
        match state {
            StatePart::Valid(word) => in_context("valid", word),
            StatePart::Header(header) => {
                let moves = self.fast_path.is_some_and(|fast_path| fast_path.moves);
                in_context(if moves { "place" } else { "offset" }, self.emitter.plan.headers[header].slot)
            }
            StatePart::Var(var) => self.var(var),
            StatePart::Sum(sum) => in_context("sums", sum),
            StatePart::Payload => Some(arrow(name("c"), "payload")),
            StatePart::Parsed => Some(arrow(name("c"), "parsed")),
            StatePart::Steps(_) => None,
        }
    }

    /// Spilled variables are in an area of their own.
    fn var(&self, var: VarId) -> Option<C> {
        let (of_whom, ir_var) = (self.emitter.var_name(var), &self.emitter.program.vars[var]);
        let is_spilled = match self.fast_path {
            Some(path) => path.spilled.contains_key(&var),
            None => self.emitter.plan.blocks[self.block].spilled.contains_key(&var),
        };
        match (ir_var.kind, self.fast_path) {
            (VarKind::Metadata, None) => Some(arrow(name("c"), of_whom)),
            (VarKind::Metadata, Some(_)) if ir_var.ty.width() > 64 => Some(arrow(name("c"), of_whom)),
            (VarKind::Intrinsic(slot), None) => Some(index(arrow(name("p"), "intrinsic"), int(slot))),
            _ if is_spilled => Some(arrow(name("w"), of_whom)),
            _ => None,
        }
    }

    /// Whether others read the saved place. The state of packets in place is on the stack; in a chunk it is in the
    /// packet's context, except spilled variables.
    fn is_live_out(&self, state: StatePart) -> bool {
        match (self.fast_path, state) {
            (None, _) => true,
            (Some(path), _) if path.in_place => false,
            (Some(path), StatePart::Var(var)) => !path.spilled.contains_key(&var),
            (Some(_), _) => true,
        }
    }
}

impl Scope<'_, '_> {
    /// A stage of these nodes. Packets enter it at nodes where these facts hold.
    pub(crate) fn stage_of(
        &self,
        nodes: Vec<lir::Node>,
        before: Vec<S>,
        after: Vec<S>,
        entered: &[(NodeId, Known)],
    ) -> Stage {
        let mut stage = Stage { nodes, before, after, ..Stage::default() };
        let mut mentioned = OrderedSet::new();
        let bodies = stage.nodes.iter().map(|node| &node.body).chain([&stage.before, &stage.after]);
        bodies.for_each(|body| walk::states(body, &mut |state| _ = mentioned.insert(state)));
        if self.begins {
            mentioned.extend(self.begun());
        }
        let entry = |(node, known): &(NodeId, Known)| {
            let value = |&state: &StatePart| Some((state, self.entering(state, known)?));
            Entry { node: *node, values: mentioned.iter().filter_map(value).collect() }
        };
        stage.entries = entered.iter().map(entry).collect();
        stage
    }

    /// The state that begins where packets are received: later code finds it in its saved place.
    fn begun(&self) -> Vec<StatePart> {
        let plan = self.emitter.plan;
        let dynamic = self.emitter.program.headers.ids().filter(|&id| self.emitter.dynamic_element(id).is_some());
        let dynamic: OrderedSet<u32> = dynamic.map(|id| plan.headers[id].bit / 64).collect();
        let words = (0..plan.storage.valid_words).filter(|word| !dynamic.contains(word));
        let mut begun: Vec<StatePart> = words.map(StatePart::Valid).collect();
        if let Some(path) = self.path {
            let is_narrow = |var: &&VarId| self.emitter.program.vars[**var].ty.width() <= 64;
            begun.extend(path.fast_path.spilled.keys().filter(is_narrow).map(|&var| StatePart::Var(var)));
            if path.fast_path.in_place {
                begun.extend((0..path.fast_path.checksums.len()).map(|sum| StatePart::Sum(sum as u32)));
            }
        }
        begun
    }

    /// The value of a part of the state where packets enter the stage with these known facts; none for an array.
    fn entering(&self, state: StatePart, known: &Known) -> Option<C> {
        Some(match state {
            StatePart::Valid(_) if self.begins => long(0),
            StatePart::Valid(word) => self.valid_word_entering(word, known),
            StatePart::Header(_) if self.begins && self.is_in_place() => name("bytes"),
            StatePart::Header(_) if self.begins => cast(Type::Bytes, name("p")),
            StatePart::Header(header) => self.pointer_entering(header, known),
            StatePart::Var(var) if self.emitter.program.vars[var].ty.width() > 64 => return None,
            StatePart::Var(var) => self.var_entering(var, known),
            StatePart::Sum(_) if self.begins => name("WS_SUM_LOST"),
            StatePart::Sum(sum) => self.entering_sum(sum as usize, known),
            StatePart::Steps(_) => int(0),
            StatePart::Payload | StatePart::Parsed => return None,
        })
    }
}
