//! The replacement of a table: its result and the bodies of its actions.
//!
//! What enters: the body of a control. What leaves: the same with results in place of applications. The body of an
//! action occurs once for all results that run it, with variables and labels of its own.

use super::Contents;
use super::results::LookupResults;
use base::OrderedMap;
use base::{Bits, IndexVec, index::Id as _};
use ir::walk::{self, Part};
use ir::{
    ActionCall, Body, Expr, ExprKind, LabelId, Place, Program, Stmt, StmtKind, SwitchCase, TableId, Type, Var, VarId,
    VarKind,
};

/// The replacement of a table, while it is built.
pub(super) struct Rewrite<'a> {
    pub(super) source: &'a Program,
    /// The statements.
    pub(super) program: Program,
    pub(super) contents: &'a IndexVec<TableId, Option<Contents>>,
    /// The tables that are replaced.
    pub(super) tables: &'a OrderedMap<TableId, usize>,
}

impl Rewrite<'_> {
    /// A body in which every application of these tables is replaced.
    pub(super) fn body(&mut self, body: Body) -> Body {
        let mut out = Vec::with_capacity(body.len());
        for mut stmt in body {
            match stmt.kind {
                StmtKind::ApplyTable { table, hit, action } if self.tables.contains_key(&table) => {
                    self.replace(table, hit, action, stmt.span, &mut out);
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

    /// The replacement of a table's application.
    fn replace(
        &mut self,
        table: TableId,
        hit: Option<VarId>,
        action: Option<VarId>,
        span: base::Span,
        out: &mut Vec<Stmt>,
    ) {
        let Some(known) = &self.contents[table] else { return };
        let results = self.chosen(LookupResults::new(&self.source.tables[table], known), span, out);
        let handles = known.entries.iter().enumerate();
        let handles = handles.map(|(position, entry)| (position, Expr::bit(32, u64::from(entry.handle)))).collect();
        let entry = if known.entries.is_empty() { Expr::bit(32, 0) } else { results.pick(handles) };
        let stmt = |kind| Stmt { kind, span };
        out.push(stmt(StmtKind::CountLookup { table, hit: results.hit(), entry }));
        if let Some(var) = hit {
            out.push(stmt(StmtKind::Assign { dst: Place::Var(var), src: results.hit() }));
        }
        let calls = results.calls();
        if let Some(var) = action {
            let positions = calls.iter().map(|(at, call)| (*at, Expr::bit(32, u64::from(call.action)))).collect();
            out.push(stmt(StmtKind::Assign { dst: Place::Var(var), src: results.pick(positions) }));
        }
        let mut groups: OrderedMap<u32, Vec<(usize, &ActionCall)>> = OrderedMap::new();
        for (position, call) in calls {
            groups.entry(call.action).or_default().push((position, call));
        }
        let groups: Vec<_> = groups.into_iter().collect();
        let mut arms = Vec::new();
        for (position, members) in groups {
            let body = self.inlined(table, position, &results, &members, span);
            arms.push((members.iter().map(|(at, _)| *at).collect::<Vec<_>>(), body));
        }
        self.branch(&results, arms, span, out);
    }

    /// Evaluates the position of a packet's result, once. Nothing is evaluated for a table without entries.
    fn chosen<'c>(&mut self, results: LookupResults<'c>, span: base::Span, out: &mut Vec<Stmt>) -> LookupResults<'c> {
        if results.entries() == 0 {
            return results;
        }
        let ty = results.chosen().ty;
        let var = self.local("chosen", ty);
        out.push(Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src: results.chosen().clone() }, span });
        results.chosen_is(Expr { kind: ExprKind::Var(var), ty })
    }

    fn local(&mut self, name: &str, ty: Type) -> VarId {
        self.program.vars.push(Var { name: name.to_owned(), ty, kind: VarKind::Local })
    }

    /// The body of an action for all results that run it.
    fn inlined(
        &mut self,
        table: TableId,
        position: u32,
        results: &LookupResults<'_>,
        members: &[(usize, &ActionCall)],
        span: base::Span,
    ) -> Body {
        let listed = &self.source.tables[table].actions[position as usize];
        let action = &self.source.actions[listed.action];
        let mut out = Vec::new();
        let mut renamed = OrderedMap::new();
        for (number, &param) in action.params.iter().enumerate() {
            let ty = self.source.vars[param].ty;
            let values =
                members.iter().map(|(at, call)| (*at, Expr::constant(ty, call.args[number].clone()))).collect();
            let var = self.local(&self.source.vars[param].name.clone(), ty);
            renamed.insert(param, var);
            out.push(Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src: results.pick(values) }, span });
        }
        let mut labels = OrderedMap::new();
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

    /// The branch of each group of results.
    fn branch(
        &self,
        results: &LookupResults<'_>,
        mut arms: Vec<(Vec<usize>, Body)>,
        span: base::Span,
        out: &mut Vec<Stmt>,
    ) {
        if arms.len() <= 1 {
            out.extend(arms.pop().map(|(_, body)| body).unwrap_or_default());
            return;
        }
        let kind = if results.chosen().ty == Type::Bool {
            let (first, other) = (arms.remove(0), arms.remove(0));
            let (hit, miss) = if first.0.contains(&0) { (first.1, other.1) } else { (other.1, first.1) };
            StmtKind::If { cond: results.chosen().clone(), then_body: hit, else_body: miss }
        } else {
            // The last group, usually that of the default action, gets all other values.
            let default_at = arms.iter().position(|(at, _)| at.contains(&results.entries())).unwrap_or(0);
            let (_, default) = arms.remove(default_at);
            let case = |(at, body): (Vec<usize>, Body)| SwitchCase {
                values: at.into_iter().map(|position| Bits::from_u64(8, position as u64)).collect(),
                body,
            };
            StmtKind::Switch { value: results.chosen().clone(), cases: arms.into_iter().map(case).collect(), default }
        };
        out.push(Stmt { kind, span });
    }
}

/// Renames some variables and labels of a body.
fn rename(body: &mut Body, vars: &OrderedMap<VarId, VarId>, labels: &OrderedMap<LabelId, LabelId>) {
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

fn rename_place(place: &mut Place, vars: &OrderedMap<VarId, VarId>) {
    match place {
        Place::Var(var) => *var = vars.get(var).copied().unwrap_or(*var),
        Place::Field(..) => {}
        Place::Slice { base, .. } => rename_place(base, vars),
    }
}
