//! The effects of statements: the variables and headers that they write, for all data-flow analyses.

use base::{IndexVec, OrderedSet};
use ir::walk;
use ir::{HeaderId, HeaderRef, LabelId, Place, Program, RoutineId, Stack, StackId, Stmt, StmtKind, TableId, VarId};

/// Storage that may have changed.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Writes {
    /// Variables.
    pub vars: OrderedSet<VarId>,
    /// Headers whose fields or validity may have changed.
    pub headers: OrderedSet<HeaderId>,
    /// Headers whose validity may have changed.
    pub validity: OrderedSet<HeaderId>,
}

impl Writes {
    fn extend(&mut self, other: &Writes) {
        self.vars.extend(&other.vars);
        self.headers.extend(&other.headers);
        self.validity.extend(&other.validity);
    }
}

/// Facts about a program that analyses need beside the body that they walk.
pub(crate) struct Context {
    pub stacks: IndexVec<StackId, Stack>,
    /// The writes of a routine's call.
    pub routine_writes: IndexVec<RoutineId, Writes>,
    /// The writes of a table's application: results, direct meter, actions.
    pub table_writes: IndexVec<TableId, Writes>,
    /// Labels of the applying block that a table's actions leave.
    pub table_leaves: IndexVec<TableId, OrderedSet<LabelId>>,
    /// How many statements apply a table.
    pub table_sites: IndexVec<TableId, u32>,
}

impl Context {
    pub fn new(program: &Program) -> Context {
        let mut context = Context {
            stacks: program.stacks.clone(),
            routine_writes: IndexVec::new(),
            table_writes: program.tables.iter().map(|_| Writes::default()).collect(),
            table_leaves: program.tables.iter().map(|_| OrderedSet::new()).collect(),
            table_sites: program.tables.iter().map(|_| 0).collect(),
        };
        // A routine calls only those before it.
        for routine in &program.routines {
            let mut writes = Writes::default();
            context.body_writes(&routine.body, &mut writes);
            context.routine_writes.push(writes);
        }
        for (id, table) in program.tables.iter_enumerated() {
            let mut writes = Writes::default();
            if let Some((_, Some(place))) = &table.direct_meter {
                context.place_writes(place, &mut writes);
            }
            for action in table.actions.iter().map(|listed| &program.actions[listed.action]) {
                writes.vars.extend(&action.params);
                context.body_writes(&action.body, &mut writes);
                context.table_leaves[id].extend(free_labels(&action.body));
            }
            context.table_writes[id] = writes;
        }
        for body in walk::bodies(program) {
            walk::visit_body(body, &mut |stmt| {
                if let StmtKind::ApplyTable { table, .. } = stmt.kind {
                    context.table_sites[table] += 1;
                }
            });
        }
        context
    }

    /// The headers that a reference may refer to.
    pub fn header_set(&self, header: &HeaderRef) -> Vec<HeaderId> {
        match header {
            HeaderRef::Fixed(id) => vec![*id],
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                self.stacks[*stack].elements.clone()
            }
        }
    }

    pub fn place_writes(&self, place: &Place, writes: &mut Writes) {
        match place {
            Place::Var(var) => _ = writes.vars.insert(*var),
            Place::Field(header, _) => writes.headers.extend(self.header_set(header)),
            Place::Slice { base, .. } => self.place_writes(base, writes),
        }
    }

    fn validity_writes(&self, header: &HeaderRef, writes: &mut Writes) {
        let headers = self.header_set(header);
        writes.headers.extend(&headers);
        writes.validity.extend(headers);
    }

    /// The writes of a statement, without the bodies in it.
    pub fn own_writes(&self, stmt: &StmtKind, writes: &mut Writes) {
        if let Some(dst) = stmt.dst() {
            self.place_writes(dst, writes);
        }
        match stmt {
            StmtKind::SetValid(header) | StmtKind::SetInvalid(header) | StmtKind::CopyHeader { dst: header, .. } => {
                self.validity_writes(header, writes);
            }
            StmtKind::CopyVarbit { dst, .. } | StmtKind::SetVarbit { dst, .. } => {
                writes.headers.extend(self.header_set(&dst.0))
            }
            StmtKind::Extract { dst, .. } => {
                self.validity_writes(dst, writes);
                if let HeaderRef::Next(stack) = dst {
                    writes.vars.insert(self.stacks[*stack].next);
                }
            }
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                self.validity_writes(&HeaderRef::Next(*stack), writes);
                writes.vars.insert(self.stacks[*stack].next);
            }
            StmtKind::Call(routine) => writes.extend(&self.routine_writes[*routine]),
            StmtKind::ApplyTable { table, hit, action } => {
                writes.extend(&self.table_writes[*table]);
                writes.vars.extend([hit, action].into_iter().flatten());
            }
            _ => {}
        }
    }

    /// The writes of a body.
    pub fn body_writes(&self, body: &[Stmt], writes: &mut Writes) {
        walk::visit_body(body, &mut |stmt| self.own_writes(&stmt.kind, writes));
    }
}

/// The labels outside of a body that it leaves.
pub(crate) fn free_labels(body: &[Stmt]) -> OrderedSet<LabelId> {
    let (mut left, mut own) = (OrderedSet::new(), OrderedSet::new());
    walk::visit_body(body, &mut |stmt| match &stmt.kind {
        StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } => _ = own.insert(*label),
        StmtKind::Leave(label) => _ = left.insert(*label),
        _ => {}
    });
    left.difference(&own).copied().collect()
}
