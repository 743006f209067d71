//! One walk over everything that statements mention, for every analysis.
//!
//! The bodies of called routines are visited once per walk, at its end, however often they are called.

use base::OrderedSet;
use ir::{Expr, ExprKind, HashInput, HashValue, HeaderRef, Place, Program, RoutineId, Stmt, StmtKind, Table, VarId};

/// What a walk visits, each item before its parts.
pub(crate) enum Item<'p> {
    /// A statement.
    Stmt(&'p Stmt),
    /// A header, read or written.
    Header(&'p HeaderRef),
    /// A variable, read or written.
    Var(VarId),
}

/// The visitor of each item.
pub(crate) type Visit<'v, 'p> = &'v mut dyn FnMut(Item<'p>);

/// Whether a table's application includes what the table runs, and a call the routine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// Keys, results, actions and routines belong to the statement.
    Inside,
    /// They are visited elsewhere.
    Outside,
}

/// A walk over a program.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'p> {
    program: &'p Program,
    tables: Tables,
}

impl<'p> Walk<'p> {
    pub(crate) fn new(program: &'p Program, tables: Tables) -> Walk<'p> {
        Walk { program, tables }
    }

    pub(crate) fn body(self, body: &'p [Stmt], visit: Visit<'_, 'p>) {
        self.stmts(body, visit);
    }

    pub(crate) fn stmts(self, stmts: impl IntoIterator<Item = &'p Stmt>, visit: Visit<'_, 'p>) {
        let mut called = OrderedSet::new();
        stmts.into_iter().for_each(|stmt| self.stmt(stmt, &mut called, visit));
        self.routines(called, visit);
    }

    /// Visits the bodies of routines and of those that they call.
    fn routines(self, mut called: OrderedSet<RoutineId>, visit: Visit<'_, 'p>) {
        // A routine calls only those before it.
        while let Some(routine) = called.pop_last() {
            self.inner(&self.program.routines[routine].body, &mut called, visit);
        }
    }

    fn inner(self, body: &'p [Stmt], called: &mut OrderedSet<RoutineId>, visit: Visit<'_, 'p>) {
        body.iter().for_each(|stmt| self.stmt(stmt, called, visit));
    }

    fn stmt(self, stmt: &'p Stmt, called: &mut OrderedSet<RoutineId>, visit: Visit<'_, 'p>) {
        visit(Item::Stmt(stmt));
        match &stmt.kind {
            StmtKind::Assign { dst, src } => {
                self.place(dst, visit);
                self.expr(src, visit);
            }
            StmtKind::SetValid(header) | StmtKind::SetInvalid(header) | StmtKind::Emit(header) => {
                self.header(header, visit)
            }
            StmtKind::CopyHeader { dst, src } | StmtKind::CopyVarbit { dst: (dst, _), src: (src, _) } => {
                self.header(dst, visit);
                self.header(src, visit);
            }
            StmtKind::SetVarbit { dst: (dst, _), length_bits, value } => {
                self.header(dst, visit);
                self.exprs([length_bits, value], visit);
            }
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                visit(Item::Var(self.program.stacks[*stack].next));
            }
            StmtKind::If { cond, then_body, else_body } => {
                self.expr(cond, visit);
                self.inner(then_body, called, visit);
                self.inner(else_body, called, visit);
            }
            StmtKind::Switch { value, cases, default } => {
                self.expr(value, visit);
                cases.iter().for_each(|case| self.inner(&case.body, called, visit));
                self.inner(default, called, visit);
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => self.inner(body, called, visit),
            StmtKind::Leave(_) => {}
            StmtKind::Call(routine) => {
                if self.tables == Tables::Inside {
                    called.insert(*routine);
                }
            }
            StmtKind::ApplyTable { table, hit, action } => {
                if self.tables == Tables::Inside {
                    let table = &self.program.tables[*table];
                    self.keys(table, visit);
                    self.after_lookup(table, [*hit, *action], called, visit);
                }
            }
            _ => self.extern_stmt(stmt, visit),
        }
    }

    fn extern_stmt(self, stmt: &'p Stmt, visit: Visit<'_, 'p>) {
        match &stmt.kind {
            StmtKind::Extract { dst, varbit_bits } => {
                self.header(dst, visit);
                self.exprs(varbit_bits, visit);
            }
            StmtKind::Advance { bits } => self.expr(bits, visit),
            StmtKind::Lookahead { dst, .. } => self.place(dst, visit),
            StmtKind::Verify { cond, error } => self.exprs([cond, error], visit),
            StmtKind::RegisterRead { dst, index, .. } => {
                self.place(dst, visit);
                self.expr(index, visit);
            }
            StmtKind::ExecuteMeter { dst, index, before, .. } => {
                self.place(dst, visit);
                self.exprs([index, before], visit);
            }
            StmtKind::ExecuteDirectMeter { dst, before, .. } => {
                self.place(dst, visit);
                self.expr(before, visit);
            }
            StmtKind::RegisterWrite { index, value, .. } => self.exprs([index, value], visit),
            StmtKind::Count { index, .. } => self.expr(index, visit),
            StmtKind::CountLookup { hit, entry, .. } => self.exprs([hit, entry], visit),
            StmtKind::Hash { dst, inputs, .. } => {
                self.place(dst, visit);
                self.inputs(inputs, visit);
            }
            StmtKind::Random { dst, low, high } => {
                self.place(dst, visit);
                self.exprs([low, high], visit);
            }
            StmtKind::AddEntry { dst, keys, args, profile, .. } => {
                self.place(dst, visit);
                self.exprs(keys.iter().chain(args).chain([profile]), visit);
            }
            StmtKind::SetTimer { profile } => self.exprs(profile, visit),
            StmtKind::Digest { values, .. } => self.exprs(values, visit),
            StmtKind::Log { args, .. } => self.exprs(args, visit),
            StmtKind::CallExtern { dst, inputs, .. } => {
                dst.iter().for_each(|dst| self.place(dst, visit));
                self.exprs(inputs, visit);
            }
            StmtKind::Assert { cond, .. } => self.expr(cond, visit),
            _ => {}
        }
    }

    fn inputs(self, inputs: &'p [HashInput], visit: Visit<'_, 'p>) {
        for input in inputs {
            input.guard.iter().for_each(|guard| self.header(guard, visit));
            match &input.value {
                HashValue::Expr(expr) => self.expr(expr, visit),
                HashValue::Varbit(header, _) => self.header(header, visit),
            }
        }
    }

    /// Visits the expressions that a table evaluates before the lookup.
    pub(crate) fn keys(self, table: &'p Table, visit: Visit<'_, 'p>) {
        table.keys.iter().for_each(|key| self.expr(&key.expr, visit));
    }

    /// Visits what follows a lookup, including the selector's hash, which only few results need.
    pub(crate) fn results(self, table: &'p Table, vars: [Option<VarId>; 2], visit: Visit<'_, 'p>) {
        let mut called = OrderedSet::new();
        self.after_lookup(table, vars, &mut called, visit);
        self.routines(called, visit);
    }

    fn after_lookup(
        self,
        table: &'p Table,
        vars: [Option<VarId>; 2],
        called: &mut OrderedSet<RoutineId>,
        visit: Visit<'_, 'p>,
    ) {
        self.inputs(table.selector_inputs(), visit);
        vars.into_iter().flatten().for_each(|var| visit(Item::Var(var)));
        if let Some((_, Some(place))) = &table.direct_meter {
            self.place(place, visit);
        }
        for listed in &table.actions {
            let action = &self.program.actions[listed.action];
            action.params.iter().for_each(|&param| visit(Item::Var(param)));
            self.inner(&action.body, called, visit);
        }
    }

    pub(crate) fn exprs(self, exprs: impl IntoIterator<Item = &'p Expr>, visit: Visit<'_, 'p>) {
        exprs.into_iter().for_each(|expr| self.expr(expr, visit));
    }

    pub(crate) fn expr(self, expr: &'p Expr, visit: Visit<'_, 'p>) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::PacketLength => {}
            ExprKind::Var(var) => visit(Item::Var(*var)),
            ExprKind::Field(header, _)
            | ExprKind::IsValid(header)
            | ExprKind::VarbitLength(header, _)
            | ExprKind::VarbitBits(header, _) => self.header(header, visit),
            ExprKind::VarbitEqual((left, _), (right, _)) => {
                [left, right].into_iter().for_each(|header| self.header(header, visit))
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) | ExprKind::Slice { base: operand, .. } => {
                self.expr(operand, visit)
            }
            ExprKind::Binary(_, left, right) | ExprKind::Concat(left, right) => self.exprs([&**left, &**right], visit),
            ExprKind::Mux(cond, yes, no) => self.exprs([&**cond, &**yes, &**no], visit),
        }
    }

    pub(crate) fn place(self, place: &'p Place, visit: Visit<'_, 'p>) {
        match place {
            Place::Var(var) => visit(Item::Var(*var)),
            Place::Field(header, _) => self.header(header, visit),
            Place::Slice { base, .. } => self.place(base, visit),
        }
    }

    fn header(self, header: &'p HeaderRef, visit: Visit<'_, 'p>) {
        visit(Item::Header(header));
        match header {
            HeaderRef::Fixed(_) => {}
            HeaderRef::Element { index, .. } => self.expr(index, visit),
            HeaderRef::Next(stack) | HeaderRef::Last(stack) => visit(Item::Var(self.program.stacks[*stack].next)),
        }
    }
}

/// Walks over a whole block: a control's body, or a parser's states with their transitions.
pub(crate) fn walk_block<'p>(program: &'p Program, block: &'p ir::Block, tables: Tables, visit: Visit<'_, 'p>) {
    let walk = Walk::new(program, tables);
    match &block.kind {
        ir::BlockKind::Control { body } => walk.body(body, visit),
        ir::BlockKind::Parser { states, error, .. } => {
            visit(Item::Var(*error));
            walk.stmts(states.iter().flat_map(|state| &state.body), visit);
            for state in states {
                let ir::Transition::Select { keys, cases } = &state.transition else { continue };
                walk.exprs(keys, visit);
                for case in cases {
                    case.sets.iter().for_each(|set| walk.exprs(set.exprs(), visit));
                }
            }
        }
    }
}
