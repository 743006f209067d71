//! Reads of fields of removed headers.
//!
//! What enters: a lowered program, and the positions of its calls of `setInvalid`. What leaves: the same, in which
//! reads after such a call in the same body return what the header held, not zero.
//!
//! The specification does not define such reads, and in the IR they return zero. The reference switch keeps the
//! contents, and programs rely on it: they remove an encapsulation and then count by one of its fields. So fields that
//! are read later are copied just before the header is removed, and reads and writes use the copy: in the statements
//! that follow in the body and in the bodies inside it, until a statement may make the header valid again. Keys of
//! tables and inputs of hashes and checksums are not changed, since there the reference treats the fields of invalid
//! headers as zero or omits them; neither are the actions of tables applied later, and elements of stacks.
//!
//! A routine is treated like inlined code. Where headers that it mentions are removed at a call, a version of the
//! routine for this case is called; it reads and writes their copies in variables. Headers that it removes itself, and
//! that are still removed at its end, are so after the call. A header argument is copied to a header of the routine,
//! and back; both count as one header here.

use base::{IndexVec, OrderedMap, OrderedSet, Span};
use ir::walk::{self, Part};
use ir::{Body, Expr, ExprKind, HeaderId, HeaderRef, Place, Routine, RoutineId, Stmt, StmtKind, TableId, VarId};
use std::rc::Rc;

/// The headers that parameters of routines have.
type Parameters = OrderedMap<HeaderId, RoutineId>;

/// Preserves fields that are read after the removals at `calls`. Fails with the position of a call if the versions of
/// routines would exceed a limit of statements.
pub(crate) fn keep_fields(
    program: &mut ir::Program,
    calls: &OrderedSet<Span>,
    parameters: &Parameters,
    statements_max: usize,
) -> Result<(), Span> {
    if calls.is_empty() {
        return Ok(());
    }
    let in_stacks = program.stacks.iter().flat_map(|stack| stack.elements.iter().copied()).collect();
    let mut work = Work {
        calls,
        revivals: Revivals::new(program, parameters),
        mentions: Mentions::new(program, calls, &in_stacks),
        in_stacks,
        routines: std::mem::take(&mut program.routines),
        forms: Forms { statements_left: statements_max, ..Forms::default() },
        root: 0,
        parameters,
        routine: None,
        removals: Vec::new(),
        removed: OrderedMap::new(),
        log: Vec::new(),
        program,
    };
    let mut bodies: Vec<Body> = walk::bodies_mut(work.program).into_iter().map(std::mem::take).collect();
    for (root, body) in bodies.iter_mut().enumerate() {
        work.root = root;
        work.body(body)?;
        work.undo(0);
    }
    let routines = work.finished_routines();
    for (place, body) in walk::bodies_mut(program).into_iter().zip(bodies) {
        *place = body;
    }
    program.routines = routines;
    Ok(())
}

/// Which headers each table's actions and each routine may make valid.
struct Revivals {
    tables: OrderedMap<TableId, Vec<HeaderId>>,
    routines: IndexVec<RoutineId, Vec<HeaderId>>,
}

impl Revivals {
    fn new(program: &ir::Program, parameters: &Parameters) -> Revivals {
        let mut routines = IndexVec::new();
        for (id, routine) in program.routines.iter_enumerated() {
            let headers = revived_within(&routine.body, &routines, parameters, Some(id));
            routines.push(headers.into_iter().collect());
        }
        let by_action: IndexVec<ir::ActionId, OrderedSet<HeaderId>> =
            program.actions.iter().map(|action| revived_within(&action.body, &routines, parameters, None)).collect();
        let of_table = |table: &ir::Table| {
            let headers = table.actions.iter().flat_map(|action| &by_action[action.action]);
            headers.copied().collect::<OrderedSet<_>>().into_iter().collect()
        };
        let tables = program.tables.iter_enumerated().map(|(id, table)| (id, of_table(table))).collect();
        Revivals { tables, routines }
    }

    fn of(&self, table: TableId) -> &[HeaderId] {
        self.tables.get(&table).map_or(&[], Vec::as_slice)
    }
}

/// The headers that statements of the body (of this routine) may make valid, except by tables.
fn revived_within(
    body: &[Stmt],
    routines: &IndexVec<RoutineId, Vec<HeaderId>>,
    parameters: &Parameters,
    own: Option<RoutineId>,
) -> OrderedSet<HeaderId> {
    let mut headers = OrderedSet::new();
    walk::visit_body(body, &mut |stmt| match &stmt.kind {
        StmtKind::Call(routine) => headers.extend(routines.get(*routine).into_iter().flatten()),
        kind => match passed(kind, parameters, own) {
            None => headers.extend(made_valid(kind)),
            Some((dst, src)) => {
                let routine = parameters.get(&src).and_then(|routine| routines.get(*routine));
                headers.extend(routine.filter(|revived| revived.contains(&src)).map(|_| dst));
            }
        },
    });
    headers
}

/// Target and source of a copy of an argument to a parameter of a routine, or back: other than in that routine.
fn passed(stmt: &StmtKind, parameters: &Parameters, own: Option<RoutineId>) -> Option<(HeaderId, HeaderId)> {
    let StmtKind::CopyHeader { dst: HeaderRef::Fixed(dst), src: HeaderRef::Fixed(src) } = stmt else { return None };
    let is_of_another = |header| parameters.get(header).is_some_and(|&routine| Some(routine) != own);
    (is_of_another(dst) || is_of_another(src)).then_some((*dst, *src))
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

/// The headers that each routine and those that it calls mention.
struct Mentions {
    headers: IndexVec<RoutineId, OrderedSet<HeaderId>>,
    /// Whether it removes any.
    removes: IndexVec<RoutineId, bool>,
}

impl Mentions {
    fn new(program: &ir::Program, calls: &OrderedSet<Span>, in_stacks: &OrderedSet<HeaderId>) -> Mentions {
        let mut mentions = Mentions { headers: IndexVec::new(), removes: IndexVec::new() };
        for routine in &program.routines {
            let (mut headers, mut removes) = (OrderedSet::new(), false);
            walk::visit_body(&routine.body, &mut |stmt| {
                if let Some(header) = removed_at(stmt, calls, in_stacks) {
                    headers.insert(header);
                    removes = true;
                }
                if let StmtKind::Call(called) = stmt.kind {
                    headers.extend(&mentions.headers[called]);
                    removes |= mentions.removes[called];
                }
                walk::visit_own(&stmt.kind, &mut |item| {
                    if let walk::Item::Field(HeaderRef::Fixed(id), _) | walk::Item::Header(HeaderRef::Fixed(id)) = item
                    {
                        headers.insert(*id);
                    }
                });
            });
            mentions.headers.push(headers);
            mentions.removes.push(removes);
        }
        mentions
    }
}

/// The header that the source program removes with this statement.
fn removed_at(stmt: &Stmt, calls: &OrderedSet<Span>, in_stacks: &OrderedSet<HeaderId>) -> Option<HeaderId> {
    let StmtKind::SetInvalid(HeaderRef::Fixed(id)) = stmt.kind else { return None };
    (calls.contains(&stmt.span) && !in_stacks.contains(&id)).then_some(id)
}

/// A call of `setInvalid`: the variables with copies of the fields used after it.
struct Removal {
    header: HeaderId,
    copies: OrderedMap<u32, VarId>,
}

/// A version of a routine: the routine, the headers it mentions that are removed where it is called, and, if it removes
/// some itself, the body from which it is called, since an action and the control of its table have separate copies.
type Key = (RoutineId, Vec<HeaderId>, usize);

/// The routine for such a key.
struct Form {
    id: RoutineId,
    /// The headers that are removed at its start, whose copies each caller sets.
    begin: Vec<(HeaderId, usize)>,
    /// Those that it removes itself and that are still removed at its end.
    end: Vec<(HeaderId, usize)>,
    /// Copies that it changes.
    written: OrderedSet<VarId>,
}

/// The versions of routines that were made so far.
#[derive(Default)]
struct Forms {
    made: OrderedMap<Key, Rc<Form>>,
    routines: IndexVec<RoutineId, Routine>,
    /// The positions in a routine at which the copies of headers that are removed at its end are set, as callers may
    /// need more of them.
    unfilled: Vec<(RoutineId, usize, usize, Span)>,
    /// The remaining limit of statements in routines.
    statements_left: usize,
}

/// The change at a statement.
enum Here {
    /// It removes a header: the copies are set before it.
    Removal(usize),
    /// It calls a routine.
    Call { before: Body, behind: Body },
}

struct Work<'a> {
    calls: &'a OrderedSet<Span>,
    revivals: Revivals,
    mentions: Mentions,
    in_stacks: OrderedSet<HeaderId>,
    /// As they were.
    routines: IndexVec<RoutineId, Routine>,
    forms: Forms,
    /// The headers that parameters of routines have.
    parameters: &'a Parameters,
    /// The present routine.
    routine: Option<RoutineId>,
    /// The present body of the program, or the one that called the present routine.
    root: usize,
    program: &'a mut ir::Program,
    removals: Vec<Removal>,
    /// The headers that are removed at this point, and by which removal.
    removed: OrderedMap<HeaderId, usize>,
    /// The former values of `removed`, for each change of it.
    log: Vec<(HeaderId, Option<usize>)>,
}

impl Work<'_> {
    fn body(&mut self, body: &mut Body) -> Result<(), Span> {
        let here = self.statements(body)?;
        self.fill(body, here, &[]);
        Ok(())
    }

    /// Analyses a body. Returns the statements to insert before and after its statements, by position.
    fn statements(&mut self, body: &mut Body) -> Result<OrderedMap<usize, Here>, Span> {
        let mut here = OrderedMap::new();
        for (at, stmt) in body.iter_mut().enumerate() {
            if let Some(header) = self.removed_by(stmt) {
                here.insert(at, Here::Removal(self.removals.len()));
                self.remove(header);
            } else if let StmtKind::Call(routine) = &mut stmt.kind {
                let (before, behind) = self.call(routine, stmt.span)?;
                here.insert(at, Here::Call { before, behind });
            } else {
                self.stmt(&mut stmt.kind)?;
            }
        }
        Ok(here)
    }

    /// Inserts these statements, except the copies of these removals, whose positions it returns.
    fn fill(&self, body: &mut Body, mut here: OrderedMap<usize, Here>, later: &[usize]) -> Vec<(usize, usize, Span)> {
        let mut left = Vec::new();
        if here.is_empty() {
            return left;
        }
        for (at, stmt) in std::mem::take(body).into_iter().enumerate() {
            match here.remove(&at) {
                None => body.push(stmt),
                Some(Here::Removal(removal)) => {
                    match later.contains(&removal) {
                        true => left.push((body.len(), removal, stmt.span)),
                        false => body.extend(self.copies(removal, stmt.span)),
                    }
                    body.push(stmt);
                }
                Some(Here::Call { before, behind }) => {
                    body.extend(before);
                    body.push(stmt);
                    body.extend(behind);
                }
            }
        }
        left
    }

    /// The header that the source program removes with this statement, and that was not removed before.
    fn removed_by(&self, stmt: &Stmt) -> Option<HeaderId> {
        removed_at(stmt, self.calls, &self.in_stacks).filter(|header| !self.removed.contains_key(header))
    }

    /// Records that a header is removed here.
    fn remove(&mut self, header: HeaderId) {
        self.set(header, Some(self.removals.len()));
        self.removals.push(Removal { header, copies: OrderedMap::new() });
    }

    /// Makes a call use the version of its routine for the headers that are removed here. Returns the statements before
    /// and after the call.
    fn call(&mut self, routine: &mut RoutineId, span: Span) -> Result<(Body, Body), Span> {
        let form = self.form(*routine, span)?;
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for (header, removal) in &form.begin {
            for (field, var) in self.removals[*removal].copies.clone() {
                // All fields that a routine mentions have a variable, in the caller as in the routine.
                let Some(kept) = self.kept(*header, field) else { continue };
                before.push(self.assignment(var, kept, span));
                if form.written.contains(&var) {
                    behind.push(self.assignment(kept, var, span));
                }
            }
        }
        for header in self.revivals.routines[*routine].clone() {
            self.set(header, None);
        }
        for (header, removal) in &form.end {
            self.set(*header, Some(*removal));
        }
        *routine = form.id;
        Ok((before, behind))
    }

    fn assignment(&self, dst: VarId, src: VarId, span: Span) -> Stmt {
        let src = Expr { kind: ExprKind::Var(src), ty: self.program.vars[src].ty };
        Stmt { kind: StmtKind::Assign { dst: Place::Var(dst), src }, span }
    }

    fn form(&mut self, routine: RoutineId, span: Span) -> Result<Rc<Form>, Span> {
        let mentioned = &self.mentions.headers[routine];
        let removed: Vec<HeaderId> = self.removed.keys().copied().filter(|header| mentioned.contains(header)).collect();
        let root = if self.mentions.removes[routine] { self.root } else { 0 };
        let key = (routine, removed, root);
        if let Some(form) = self.forms.made.get(&key) {
            return Ok(Rc::clone(form));
        }
        let outer = (std::mem::take(&mut self.removed), std::mem::take(&mut self.log));
        let around = self.routine.replace(routine);
        let form = self.made_form(routine, &key.1, span).map(Rc::new);
        self.routine = around;
        (self.removed, self.log) = outer;
        let form = form?;
        self.forms.made.insert(key, Rc::clone(&form));
        Ok(form)
    }

    fn made_form(&mut self, routine: RoutineId, removed: &[HeaderId], span: Span) -> Result<Form, Span> {
        removed.iter().for_each(|header| self.remove(*header));
        let begin: Vec<(HeaderId, usize)> = self.removed.iter().map(|(header, removal)| (*header, *removal)).collect();
        let mut made = self.routines[routine].clone();
        let here = self.statements(&mut made.body)?;
        let is_own = |(header, removal): &(HeaderId, usize)| !begin.contains(&(*header, *removal));
        let removed = self.removed.iter().map(|(header, removal)| (*header, *removal));
        let end: Vec<(HeaderId, usize)> = removed.filter(is_own).collect();
        let at_end: Vec<usize> = end.iter().map(|(_, removal)| *removal).collect();
        let unfilled = self.fill(&mut made.body, here, &at_end);
        let (mut written, mut statements) = (OrderedSet::new(), 0);
        walk::visit_body(&made.body, &mut |stmt| {
            statements += 1;
            let mut place = stmt.kind.dst();
            while let Some(Place::Slice { base, .. }) = place {
                place = Some(base);
            }
            written.extend(place.and_then(|place| if let Place::Var(var) = place { Some(*var) } else { None }));
        });
        self.forms.statements_left = self.forms.statements_left.checked_sub(statements).ok_or(span)?;
        let id = self.forms.routines.push(made);
        self.forms.unfilled.extend(unfilled.into_iter().map(|(at, removal, span)| (id, at, removal, span)));
        Ok(Form { id, begin, end, written })
    }

    /// Completes the versions of all routines, once the needs of their callers are known.
    fn finished_routines(mut self) -> IndexVec<RoutineId, Routine> {
        let mut routines = std::mem::take(&mut self.forms.routines);
        // From the end, so that positions stay valid.
        for (routine, at, removal, span) in std::mem::take(&mut self.forms.unfilled).into_iter().rev() {
            routines[routine].body.splice(at..at, self.copies(removal, span));
        }
        routines
    }

    fn stmt(&mut self, stmt: &mut StmtKind) -> Result<(), Span> {
        if let Some((dst, src)) = passed(stmt, self.parameters, self.routine) {
            self.set(dst, self.removed.get(&src).copied());
            return Ok(());
        }
        let revived = match stmt {
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
        let mut revived = OrderedSet::new();
        for inner in stmt.bodies_mut() {
            self.body(inner)?;
            revived.extend(self.undo(before));
        }
        for header in revived {
            self.set(header, None);
        }
        Ok(())
    }

    /// A header that one iteration of a loop makes valid is valid in the next.
    fn revived_by_loop(&self, body: &[Stmt]) -> Vec<HeaderId> {
        if self.removed.is_empty() {
            return Vec::new();
        }
        let mut headers = revived_within(body, &self.revivals.routines, self.parameters, self.routine);
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

    /// Undoes the changes since the log had this length. Returns the headers that were removed then and may have become
    /// valid since.
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

    /// Makes the statement itself read and write copies of removed headers' fields.
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

    /// The variable with the copy of this field, if its header is removed here.
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

    /// The statements that set a removal's variables, just before it.
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
