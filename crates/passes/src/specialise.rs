//! Replaces the application of tables by what they answer as long as nobody changes them.
//!
//! Not a [`crate::Pass`]: beside the program it needs to know what is in the tables, and what comes out means the same
//! only until one of those changes.
//!
//! Before, with one entry 10.0.0.1 -> `forward(3)` in the table, and `drop()` on a miss:
//! ```text
//! apply table0 hit v9
//! ```
//! After:
//! ```text
//! v20 = h1.2 == 32w0xa000001
//! count_lookup table0 hit v20 entry 32w0x0
//! v9 = v20
//! if v20 {
//!   v21 = 9w0x3
//!   ...                            the body of `forward`, with v21 for its parameter
//! } else {
//!   ...                            the body of `drop`
//! }
//! ```
//! An empty table leaves its default action alone. Of several entries, the first that matches is found without a branch
//! (`v20 = c0 ? 0 : c1 ? 1 : 2`), and entries that run the same action share its body, their data picked in the same
//! way. So a packet meets no more branches that depend on its destination than before.
//!
//! Actions that no table runs any more lose their bodies: what they could have asked for is asked for no more.
//!
//! Limits: tables with more entries or larger actions than the constants below allow; entries with direct meters;
//! actions with loops, whose steps are counted by label, or with parameters that others mention.

use base::{Bits, IndexVec, index::Id as _};
use ir::walk::{self, Item, Part};
use ir::{
    ActionCall, BinaryOp, BlockKind, Body, EntryKey, Expr, ExprKind, LabelId, Place, Program, Stmt, StmtKind,
    SwitchCase, TableId, Type, UnaryOp, Var, VarId, VarKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of a table that is replaced.
pub const ENTRIES_MAX: usize = 4;

/// Bits of all keys that the entries of one table compare.
const COMPARED_BITS_MAX: u32 = 512;

/// Statements of the actions that stand in a table's place.
const STATEMENTS_MAX: usize = 200;

/// What is in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The entries; of two that match the same packet, the one that wins comes first.
    pub entries: Vec<KnownEntry>,
    /// What runs on a miss.
    pub default: ActionCall,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownEntry {
    /// Its handle: its cell in direct counters.
    pub handle: u32,
    /// One value set per key.
    pub key: Vec<EntryKey>,
    /// What it runs: an action of the table.
    pub call: ActionCall,
}

/// A program for certain contents of some tables.
#[derive(Clone, Debug)]
pub struct Specialised {
    /// The program. It has the same storage, tables and externs, and more local variables and labels.
    pub program: Program,
    /// The tables whose contents it is for, with the number of their entries.
    pub tables: BTreeMap<TableId, usize>,
}

/// The program for these contents, of those tables of which they are known; none if that would change nothing.
pub fn specialise(program: &Program, contents: &IndexVec<TableId, Option<Contents>>) -> Option<Specialised> {
    let private = private_params(program);
    let mut tables = BTreeMap::new();
    for (id, known) in contents.iter_enumerated() {
        if let Some(known) = known.as_ref().filter(|known| is_replaced(program, id, known, &private)) {
            tables.insert(id, known.entries.len());
        }
    }
    tables.retain(|table, _| is_applied(program, *table));
    if tables.is_empty() {
        return None;
    }
    let mut rewrite = Rewrite { source: program, program: program.clone(), contents, tables: &tables };
    for block in program.blocks.ids() {
        let BlockKind::Control { body } = &mut rewrite.program.blocks[block].kind else { continue };
        let body = std::mem::take(body);
        let rewritten = rewrite.body(body);
        rewrite.program.blocks[block].kind = BlockKind::Control { body: rewritten };
    }
    let mut program = rewrite.program;
    empty_idle_actions(&mut program);
    crate::optimise(&mut program);
    Some(Specialised { program, tables })
}

fn is_applied(program: &Program, table: TableId) -> bool {
    let mut found = false;
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::ApplyTable { table: applied, .. } if *applied == table);
        });
    }
    found
}

/// Whether a table is replaced by what it answers.
fn is_replaced(program: &Program, id: TableId, known: &Contents, private: &BTreeSet<VarId>) -> bool {
    let table = &program.tables[id];
    let key_bits: u32 = table.keys.iter().map(|key| key.expr.ty.width()).sum();
    let entries = known.entries.len();
    if entries > ENTRIES_MAX
        || key_bits.saturating_mul(entries as u32) > COMPARED_BITS_MAX
        || (entries > 0 && table.direct_meter.is_some())
        || known.entries.iter().any(|entry| entry.key.len() != table.keys.len())
    {
        return false;
    }
    let mut positions: Vec<u32> = calls(known).map(|call| call.action).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut statements = 0;
    let mut is_plain = true;
    for position in positions {
        let Some(listed) = table.actions.get(position as usize) else { return false };
        let action = &program.actions[listed.action];
        is_plain &= action.params.iter().all(|param| private.contains(param));
        walk::visit_body(&action.body, &mut |stmt| {
            statements += 1;
            is_plain &= !matches!(stmt.kind, StmtKind::Loop { .. });
        });
    }
    let fits = |call: &ActionCall| {
        let params = &program.actions[table.actions[call.action as usize].action].params;
        params.len() == call.args.len()
            && params.iter().zip(&call.args).all(|(&param, arg)| program.vars[param].ty.width() == arg.width())
    };
    is_plain && statements <= STATEMENTS_MAX && calls(known).all(fits)
}

/// Everything that a table may run.
fn calls(known: &Contents) -> impl Iterator<Item = &ActionCall> {
    known.entries.iter().map(|entry| &entry.call).chain([&known.default])
}

/// Parameters that nothing but the body of their one action mentions.
fn private_params(program: &Program) -> BTreeSet<VarId> {
    let mut owners: BTreeMap<VarId, BTreeSet<usize>> = BTreeMap::new();
    let own = program.actions.len();
    let mut note = |item: Item<'_>, owner: usize| {
        if let Item::Var(var) = item {
            owners.entry(var).or_default().insert(owner);
        }
    };
    for (id, action) in program.actions.iter_enumerated() {
        action.params.iter().for_each(|&param| note(Item::Var(param), id.index()));
        walk::visit_body(&action.body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, id.index())));
    }
    for table in &program.tables {
        walk::visit_table_inputs(table, &mut |item| note(item, own));
        if let Some((_, Some(place))) = &table.direct_meter {
            walk::visit_place(place, &mut |item| note(item, own));
        }
    }
    for block in &program.blocks {
        match &block.kind {
            BlockKind::Parser { states, error, .. } => {
                note(Item::Var(*error), own);
                for state in states {
                    walk::visit_body(&state.body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, own)));
                    for expr in walk::transition_exprs(&state.transition) {
                        walk::visit_expr(expr, &mut |item| note(item, own));
                    }
                }
            }
            BlockKind::Control { body } => {
                walk::visit_body(body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, own)));
            }
        }
    }
    let shared = program.field_lists.iter().flat_map(|list| &list.vars).chain(program.stacks.iter().map(|it| &it.next));
    shared.for_each(|&var| note(Item::Var(var), own));
    let mut params: BTreeMap<VarId, usize> = BTreeMap::new();
    for param in program.actions.iter().flat_map(|action| &action.params) {
        *params.entry(*param).or_default() += 1;
    }
    let is_private = |var: &VarId| {
        let is_local = program.vars[*var].kind == VarKind::Local;
        is_local && owners.get(var).is_some_and(|owners| owners.len() == 1)
    };
    params.into_iter().filter(|(var, uses)| *uses == 1 && is_private(var)).map(|(var, _)| var).collect()
}

/// Takes the bodies of actions that no applied table lists.
fn empty_idle_actions(program: &mut Program) {
    let mut run = BTreeSet::new();
    for (id, table) in program.tables.iter_enumerated() {
        if is_applied(program, id) {
            run.extend(table.actions.iter().map(|listed| listed.action));
        }
    }
    for (id, action) in program.actions.ids().zip(program.actions.iter_mut()) {
        if !run.contains(&id) {
            action.body.clear();
        }
    }
}

/// What stands in a table's place, while it is written.
struct Rewrite<'a> {
    source: &'a Program,
    program: Program,
    contents: &'a IndexVec<TableId, Option<Contents>>,
    tables: &'a BTreeMap<TableId, usize>,
}

/// What a packet is answered: an entry, or the default action on a miss.
struct Answers<'c> {
    known: &'c Contents,
    /// The position of the answer: an entry's, or their number for a miss.
    chosen: Expr,
    /// Whether some packets miss.
    misses: bool,
}

impl Answers<'_> {
    /// How many entries count.
    fn entries(&self) -> usize {
        self.known.entries.len()
    }

    fn is(&self, position: usize) -> Expr {
        match self.chosen.ty {
            // With one entry, `chosen` is whether it is hit.
            Type::Bool if position == 0 => self.chosen.clone(),
            Type::Bool => Expr::unary(UnaryOp::Not, self.chosen.clone()),
            ty => Expr::binary(BinaryOp::Eq, self.chosen.clone(), Expr::bit(ty.width(), position as u64)),
        }
    }

    fn hit(&self) -> Expr {
        match (self.entries(), self.misses) {
            (0, _) => Expr::bool(false),
            (_, false) => Expr::bool(true),
            (1, true) => self.is(0),
            (entries, true) => Expr::unary(UnaryOp::Not, self.is(entries)),
        }
    }

    /// Every answer with its position.
    fn calls(&self) -> Vec<(usize, &ActionCall)> {
        let default = self.misses.then_some(&self.known.default);
        self.known.entries.iter().map(|entry| &entry.call).chain(default).enumerate().collect()
    }

    /// A value that depends on the answer.
    fn pick(&self, values: Vec<(usize, Expr)>) -> Expr {
        let mut values = values.into_iter().rev();
        let Some((_, last)) = values.next() else { return Expr::bool(false) };
        values.fold(
            last,
            |rest, (position, value)| if value == rest { rest } else { mux(self.is(position), value, rest) },
        )
    }
}

fn mux(cond: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty;
    Expr { kind: ExprKind::Mux(Box::new(cond), Box::new(yes), Box::new(no)), ty }
}

impl Rewrite<'_> {
    fn body(&mut self, body: Body) -> Body {
        let mut out = Vec::with_capacity(body.len());
        for mut stmt in body {
            match stmt.kind {
                StmtKind::ApplyTable { table, hit, action } if self.tables.contains_key(&table) => {
                    self.answer(table, hit, action, stmt.span, &mut out);
                }
                _ => {
                    for inner in stmt.kind.bodies_mut() {
                        *inner = self.body(std::mem::take(inner));
                    }
                    out.push(stmt);
                }
            }
        }
        out
    }

    /// What stands for a table's application.
    fn answer(
        &mut self,
        table: TableId,
        hit: Option<VarId>,
        action: Option<VarId>,
        span: base::Span,
        out: &mut Vec<Stmt>,
    ) {
        let Some(known) = &self.contents[table] else { return };
        let (chosen, misses) = self.choose(table, known, span, out);
        let answers = Answers { known, chosen, misses };
        let handles = known.entries.iter().enumerate();
        let handles = handles.map(|(position, entry)| (position, Expr::bit(32, u64::from(entry.handle)))).collect();
        let entry = if known.entries.is_empty() { Expr::bit(32, 0) } else { answers.pick(handles) };
        let stmt = |kind| Stmt { kind, span };
        out.push(stmt(StmtKind::CountLookup { table, hit: answers.hit(), entry }));
        if let Some(var) = hit {
            out.push(stmt(StmtKind::Assign { dst: Place::Var(var), src: answers.hit() }));
        }
        let calls = answers.calls();
        if let Some(var) = action {
            let positions = calls.iter().map(|(at, call)| (*at, Expr::bit(32, u64::from(call.action)))).collect();
            out.push(stmt(StmtKind::Assign { dst: Place::Var(var), src: answers.pick(positions) }));
        }
        let mut groups: BTreeMap<u32, Vec<(usize, &ActionCall)>> = BTreeMap::new();
        for (position, call) in calls {
            groups.entry(call.action).or_default().push((position, call));
        }
        let groups: Vec<_> = groups.into_iter().collect();
        let mut arms = Vec::new();
        for (position, members) in groups {
            let body = self.inlined(table, position, &answers, &members, span);
            arms.push((members.iter().map(|(at, _)| *at).collect::<Vec<_>>(), body));
        }
        self.branch(&answers, arms, span, out);
    }

    /// Finds which entry matches, without a branch: its position, and whether packets may match none. Entries behind
    /// one that matches everything are found by nobody.
    fn choose(&mut self, table: TableId, known: &Contents, span: base::Span, out: &mut Vec<Stmt>) -> (Expr, bool) {
        let conditions: Vec<Expr> = known.entries.iter().map(|entry| self.condition(table, &entry.key)).collect();
        let is_certain = |cond: &Expr| cond.as_const().is_some_and(|value| !value.is_zero());
        let misses = !conditions.iter().any(is_certain);
        let (ty, chosen) = match conditions.len() {
            0 => return (Expr::bool(false), true),
            1 => (Type::Bool, conditions.into_iter().next().unwrap_or(Expr::bool(false))),
            count => {
                let ty = Type::Bit(8);
                let last = if misses { count } else { count - 1 };
                let positions = conditions.into_iter().enumerate().rev();
                let chosen = positions.fold(Expr::bit(8, last as u64), |rest, (position, cond)| {
                    mux(cond, Expr::bit(8, position as u64), rest)
                });
                (ty, chosen)
            }
        };
        let var = self.local("chosen", ty);
        out.push(Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src: chosen }, span });
        (Expr { kind: ExprKind::Var(var), ty }, misses)
    }

    fn local(&mut self, name: &str, ty: Type) -> VarId {
        self.program.vars.push(Var { name: name.to_owned(), ty, kind: VarKind::Local })
    }

    /// Whether a packet has this key.
    fn condition(&self, table: TableId, key: &[EntryKey]) -> Expr {
        let fields = self.source.tables[table].keys.iter().zip(key);
        let conditions = fields.filter_map(|(field, wanted)| field_condition(&field.expr, wanted));
        conditions.reduce(|all, more| Expr::binary(BinaryOp::LogicalAnd, all, more)).unwrap_or(Expr::bool(true))
    }

    /// The body of an action for all answers that run it.
    fn inlined(
        &mut self,
        table: TableId,
        position: u32,
        answers: &Answers<'_>,
        members: &[(usize, &ActionCall)],
        span: base::Span,
    ) -> Body {
        let listed = &self.source.tables[table].actions[position as usize];
        let action = &self.source.actions[listed.action];
        let mut out = Vec::new();
        let mut renamed = BTreeMap::new();
        for (number, &param) in action.params.iter().enumerate() {
            let ty = self.source.vars[param].ty;
            let values =
                members.iter().map(|(at, call)| (*at, Expr::constant(ty, call.args[number].clone()))).collect();
            let var = self.local(&self.source.vars[param].name.clone(), ty);
            renamed.insert(param, var);
            out.push(Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src: answers.pick(values) }, span });
        }
        let mut labels = BTreeMap::new();
        walk::visit_body(&action.body, &mut |stmt| {
            if let StmtKind::Block { label, .. } = &stmt.kind {
                labels.insert(*label, LabelId::from_index(self.program.labels as usize));
                self.program.labels += 1;
            }
        });
        let mut body = action.body.clone();
        rename(&mut body, &renamed, &labels);
        out.extend(body);
        out
    }

    /// The way of each group of answers.
    fn branch(&self, answers: &Answers<'_>, mut arms: Vec<(Vec<usize>, Body)>, span: base::Span, out: &mut Vec<Stmt>) {
        if arms.len() <= 1 {
            out.extend(arms.pop().map(|(_, body)| body).unwrap_or_default());
            return;
        }
        let kind = if answers.chosen.ty == Type::Bool {
            let (first, other) = (arms.remove(0), arms.remove(0));
            let (hit, miss) = if first.0.contains(&0) { (first.1, other.1) } else { (other.1, first.1) };
            StmtKind::If { cond: answers.chosen.clone(), then_body: hit, else_body: miss }
        } else {
            // The last group, most often that of the default action, takes all other values.
            let default_at = arms.iter().position(|(at, _)| at.contains(&answers.entries())).unwrap_or(0);
            let (_, default) = arms.remove(default_at);
            let case = |(at, body): (Vec<usize>, Body)| SwitchCase {
                values: at.into_iter().map(|position| Bits::from_u64(8, position as u64)).collect(),
                body,
            };
            StmtKind::Switch { value: answers.chosen.clone(), cases: arms.into_iter().map(case).collect(), default }
        };
        out.push(Stmt { kind, span });
    }
}

/// Whether a field of a key has one of these values; none if it always has.
fn field_condition(field: &Expr, wanted: &EntryKey) -> Option<Expr> {
    let width = field.ty.width();
    let value = || Expr::cast(Type::Bit(width), field.clone());
    let constant = |bits: &Bits| Expr::constant(Type::Bit(width), bits.clone());
    let masked = |wanted: &Bits, mask: Bits| match () {
        () if mask.is_zero() => None,
        () if mask == Bits::ones(width) => Some(Expr::binary(BinaryOp::Eq, value(), constant(wanted))),
        () => {
            let part = Expr::binary(BinaryOp::And, value(), constant(&mask));
            Some(Expr::binary(BinaryOp::Eq, part, constant(&wanted.and(&mask))))
        }
    };
    if width == 0 {
        return None;
    }
    match wanted {
        EntryKey::Exact(wanted) | EntryKey::Optional(Some(wanted)) => masked(wanted, Bits::ones(width)),
        EntryKey::Optional(None) => None,
        EntryKey::Lpm { value: wanted, prefix_len } => {
            masked(wanted, Bits::ones(width).shl(u64::from(width - (*prefix_len).min(width))))
        }
        EntryKey::Ternary { value: wanted, mask } => masked(wanted, mask.clone()),
        EntryKey::Range { low, high } => {
            let least = Expr::binary(BinaryOp::Ge, value(), constant(low));
            let most = Expr::binary(BinaryOp::Le, value(), constant(high));
            Some(Expr::binary(BinaryOp::LogicalAnd, least, most))
        }
    }
}

/// Puts other variables and labels for some of a body's.
fn rename(body: &mut Body, vars: &BTreeMap<VarId, VarId>, labels: &BTreeMap<LabelId, LabelId>) {
    for stmt in body.iter_mut() {
        if let Some(dst) = stmt.kind.dst_mut() {
            rename_place(dst, vars);
        }
        walk::rewrite_own(&mut stmt.kind, &mut |part| {
            if let Part::Expr(Expr { kind: ExprKind::Var(var), .. }) = part {
                *var = vars.get(var).copied().unwrap_or(*var);
            }
        });
        if let StmtKind::Block { label, .. } | StmtKind::Leave(label) = &mut stmt.kind {
            *label = labels.get(label).copied().unwrap_or(*label);
        }
        for inner in stmt.kind.bodies_mut() {
            rename(inner, vars, labels);
        }
    }
}

fn rename_place(place: &mut Place, vars: &BTreeMap<VarId, VarId>) {
    match place {
        Place::Var(var) => *var = vars.get(var).copied().unwrap_or(*var),
        Place::Field(..) => {}
        Place::Slice { base, .. } => rename_place(base, vars),
    }
}
