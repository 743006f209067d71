//! What a removed header's fields read as.
//!
//! What enters: a lowered program, and where its text calls `setInvalid`. What leaves: the same, with reads that follow
//! such a call in the same body giving what the header held, not zero.
//!
//! The specification leaves such reads open, and in the IR they give zero. The reference switch keeps the storage, and
//! programs rely on it: they remove an encapsulation and then count by one of its fields. So what is read later is
//! copied just before the header is removed, and reads and writes use the copy: in the statements that follow in the
//! body and in the bodies inside it, until something there may make the header valid again. Keys of tables and inputs
//! of hashes and checksums are left alone, in which the reference counts the fields of invalid headers as zero or
//! leaves them out; so are the actions of tables applied later, and elements of stacks.

use base::index::Id;
use base::{IndexVec, Span};
use ir::walk::{self, Part};
use ir::{Body, Expr, ExprKind, HeaderId, HeaderRef, Place, RoutineId, Stmt, StmtKind, TableId, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Keeps what is read after the removals at `calls`.
pub(crate) fn keep_fields(program: &mut ir::Program, calls: &BTreeSet<Span>) {
    if calls.is_empty() {
        return;
    }
    let mut bodies: Vec<Body> = walk::bodies_mut(program).into_iter().map(std::mem::take).collect();
    let mut work = Work {
        calls,
        revivals: Revivals::new(program, &bodies),
        in_stacks: program.stacks.iter().flat_map(|stack| stack.elements.iter().copied()).collect(),
        program,
        removals: Vec::new(),
        removed: BTreeMap::new(),
        log: Vec::new(),
    };
    for body in &mut bodies {
        work.body(body);
        work.undo(0);
    }
    for (place, body) in walk::bodies_mut(program).into_iter().zip(bodies) {
        *place = body;
    }
}

/// Which headers each table's actions and each routine may make valid.
struct Revivals {
    tables: BTreeMap<TableId, Vec<HeaderId>>,
    routines: IndexVec<RoutineId, Vec<HeaderId>>,
}

impl Revivals {
    /// `bodies` are the program's, as [`walk::bodies_mut`] has them: those of the routines and of the actions last.
    fn new(program: &ir::Program, bodies: &[Body]) -> Revivals {
        let (bodies, actions) = bodies.split_at(bodies.len() - program.actions.len());
        let mut routines = IndexVec::new();
        for body in &bodies[bodies.len() - program.routines.len()..] {
            let headers = revived_within(body, &routines).into_iter().collect();
            routines.push(headers);
        }
        let by_action: Vec<BTreeSet<HeaderId>> = actions.iter().map(|body| revived_within(body, &routines)).collect();
        let of_table = |table: &ir::Table| {
            let headers = table.actions.iter().flat_map(|action| &by_action[action.action.index()]);
            headers.copied().collect::<BTreeSet<_>>().into_iter().collect()
        };
        let tables = program.tables.iter_enumerated().map(|(id, table)| (id, of_table(table))).collect();
        Revivals { tables, routines }
    }

    fn of(&self, table: TableId) -> &[HeaderId] {
        self.tables.get(&table).map_or(&[], Vec::as_slice)
    }
}

/// The headers that statements of the body may make valid, but for what tables do.
fn revived_within(body: &[Stmt], routines: &IndexVec<RoutineId, Vec<HeaderId>>) -> BTreeSet<HeaderId> {
    let mut headers = BTreeSet::new();
    walk::visit_body(body, &mut |stmt| match &stmt.kind {
        StmtKind::Call(routine) => headers.extend(routines.get(*routine).into_iter().flatten()),
        kind => headers.extend(made_valid(kind)),
    });
    headers
}

/// The header that a statement itself may make valid.
fn made_valid(stmt: &StmtKind) -> Option<HeaderId> {
    match stmt {
        StmtKind::SetValid(HeaderRef::Fixed(id))
        | StmtKind::CopyHeader { dst: HeaderRef::Fixed(id), .. }
        | StmtKind::Extract { dst: HeaderRef::Fixed(id), .. } => Some(*id),
        _ => None,
    }
}

/// A call of `setInvalid`: the variables that keep the fields used after it.
struct Removal {
    header: HeaderId,
    copies: BTreeMap<u32, VarId>,
}

struct Work<'a> {
    calls: &'a BTreeSet<Span>,
    revivals: Revivals,
    in_stacks: BTreeSet<HeaderId>,
    program: &'a mut ir::Program,
    removals: Vec<Removal>,
    /// The headers that are removed where we are, and by which removal.
    removed: BTreeMap<HeaderId, usize>,
    /// What `removed` said before, for each change of it.
    log: Vec<(HeaderId, Option<usize>)>,
}

impl Work<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut here = BTreeMap::new();
        for (at, stmt) in body.iter_mut().enumerate() {
            match self.removed_by(stmt) {
                Some(header) => {
                    here.insert(at, self.removals.len());
                    self.set(header, Some(self.removals.len()));
                    self.removals.push(Removal { header, copies: BTreeMap::new() });
                }
                None => self.stmt(&mut stmt.kind),
            }
        }
        if here.values().any(|&removal| !self.removals[removal].copies.is_empty()) {
            let statements = std::mem::take(body);
            for (at, stmt) in statements.into_iter().enumerate() {
                if let Some(&removal) = here.get(&at) {
                    body.extend(self.copies(removal, stmt.span));
                }
                body.push(stmt);
            }
        }
    }

    /// The header that the program's text removes with this statement, and that was not removed before.
    fn removed_by(&self, stmt: &Stmt) -> Option<HeaderId> {
        let StmtKind::SetInvalid(HeaderRef::Fixed(id)) = stmt.kind else { return None };
        let is_meant = self.calls.contains(&stmt.span) && !self.in_stacks.contains(&id);
        (is_meant && !self.removed.contains_key(&id)).then_some(id)
    }

    fn stmt(&mut self, stmt: &mut StmtKind) {
        let revived = match stmt {
            StmtKind::Call(routine) if !self.removed.is_empty() => self.revivals.routines[*routine].clone(),
            StmtKind::ApplyTable { table, .. } if !self.removed.is_empty() => self.revivals.of(*table).to_vec(),
            StmtKind::Loop { body, .. } => self.revived_by_loop(body),
            _ => made_valid(stmt).into_iter().collect(),
        };
        for header in revived {
            self.set(header, None);
        }
        if !self.removed.is_empty() && !matches!(stmt, StmtKind::Hash { .. }) {
            self.use_copies(stmt);
        }
        let before = self.log.len();
        let mut revived = BTreeSet::new();
        for inner in stmt.bodies_mut() {
            self.body(inner);
            revived.extend(self.undo(before));
        }
        for header in revived {
            self.set(header, None);
        }
    }

    /// What is made valid in one round of a loop is so in the next.
    fn revived_by_loop(&self, body: &[Stmt]) -> Vec<HeaderId> {
        if self.removed.is_empty() {
            return Vec::new();
        }
        let mut headers = revived_within(body, &self.revivals.routines);
        walk::visit_body(body, &mut |stmt| {
            if let StmtKind::ApplyTable { table, .. } = stmt.kind {
                headers.extend(self.revivals.of(table));
            }
        });
        headers.into_iter().collect()
    }

    fn set(&mut self, header: HeaderId, removal: Option<usize>) {
        let before = match removal {
            Some(removal) => self.removed.insert(header, removal),
            None => self.removed.remove(&header),
        };
        if before != removal {
            self.log.push((header, before));
        }
    }

    /// Takes back what has changed since the log had this length. The headers that were removed then and may have
    /// become valid since.
    fn undo(&mut self, length: usize) -> Vec<HeaderId> {
        let mut revived = Vec::new();
        while self.log.len() > length {
            match self.log.pop() {
                Some((header, Some(removal))) => {
                    self.removed.insert(header, removal);
                    revived.push(header);
                }
                Some((header, None)) => {
                    self.removed.remove(&header);
                }
                None => {}
            }
        }
        revived
    }

    /// Has the statement itself read and write copies of removed headers' fields.
    fn use_copies(&mut self, stmt: &mut StmtKind) {
        walk::rewrite_own(stmt, &mut |part| {
            if let Part::Expr(expr) = part
                && let ExprKind::Field(HeaderRef::Fixed(header), field) = &expr.kind
                && let Some(var) = self.kept(*header, *field)
            {
                expr.kind = ExprKind::Var(var);
            }
        });
        let mut place = stmt.dst_mut();
        while let Some(Place::Slice { base, .. }) = place {
            place = Some(base);
        }
        if let Some(place) = place
            && let Place::Field(HeaderRef::Fixed(header), field) = place
            && let Some(var) = self.kept(*header, *field)
        {
            *place = Place::Var(var);
        }
    }

    /// The variable that keeps this field, if its header is removed here.
    fn kept(&mut self, header: HeaderId, field: u32) -> Option<VarId> {
        let removal = &mut self.removals[*self.removed.get(&header)?];
        if let Some(var) = removal.copies.get(&field) {
            return Some(*var);
        }
        let declared = &self.program.headers[header];
        let ir::HeaderField { name, ty: ir::FieldType::Fixed(ty) } =
            &self.program.header_types[declared.ty].fields[field as usize]
        else {
            return None;
        };
        let name = format!("{}.{name}", declared.name);
        let var = self.program.vars.push(ir::Var { name, ty: *ty, kind: ir::VarKind::Local });
        removal.copies.insert(field, var);
        Some(var)
    }

    /// The statements that fill a removal's variables, just before it.
    fn copies(&self, removal: usize, span: Span) -> Vec<Stmt> {
        let Removal { header, copies } = &self.removals[removal];
        let copy = |(&field, &var): (&u32, &VarId)| {
            let kind = ExprKind::Field(HeaderRef::Fixed(*header), field);
            let src = Expr { kind, ty: self.program.vars[var].ty };
            Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src }, span }
        };
        copies.iter().map(copy).collect()
    }
}
