//! Functions and actions that become routines, because inlining them would make too much code.
//!
//! What enters: a call with its arguments evaluated. What leaves: the arguments' copies and a [`ir::StmtKind::Call`],
//! or the result that the call must be inlined.
//!
//! Calls are inlined: most callees are short or called once, and inlined code is faster. But nested calls multiply. So
//! the statements that all calls of a callee inline are counted, and a callee with too many becomes a routine in the
//! next attempt to lower the program (and in the rest of this one, so that no attempt grows without bound). Its
//! parameters and its result have storage of their own, which arguments are copied to and from; P4 has no recursion, so
//! one such storage is enough.
//!
//! A callee with statements that a routine cannot have ([`ir::StmtKind::may_be_in_routine`]) is always inlined. So is
//! an action where the bindings of its control's parameters differ from those with which the routine was made.

use crate::inline::{Argument, Sight};
use crate::objects::{Object, ObjectId, ObjectKind};
use crate::places::{Binding, Place};
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused};
use base::Span;
use ir::StmtKind;
use ir::walk::visit_body;
use sema::hir;
use std::ops::Range;
use std::rc::Rc;
use syntax::diag::Diagnostics;

/// Statements, over all calls of one callee, from which it is a routine: so many that the program would be long in any
/// case.
pub(crate) const INLINED_STATEMENTS_MAX: usize = 4_000;

/// Statements of a callee that is always inlined: a call would have as many.
const SHORT_STATEMENTS_MAX: usize = 8;

/// Statements that one packet may run, those of a routine counted as often as it is called.
const RUN_STATEMENTS_MAX: u64 = 2_000_000;

/// A callee that can become a routine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Callee {
    Function(hir::FunctionId),
    Action(hir::ActionId),
}

/// The code that a callee has inlined so far.
#[derive(Default)]
pub(crate) struct Inlined {
    calls: usize,
    statements: usize,
}

/// A callee where it is called: in the block with this exit label, in this object, with these type arguments.
pub(crate) type Key = (ir::LabelId, ObjectId, Callee, Vec<hir::Type>);

/// A routine that was made.
pub(crate) struct Routine {
    id: ir::RoutineId,
    /// Under which its parameters have their storage.
    owner: ObjectId,
    returned: Option<Rc<Place>>,
    /// The bindings of the parameters of the control around an action.
    around: Vec<Option<Binding>>,
    /// The most statements that a call runs.
    cost: u64,
}

/// The parts of a callee.
pub(crate) struct Code<'h> {
    pub callee: Callee,
    pub name: String,
    pub params: &'h [hir::VarId],
    pub body: &'h hir::Block,
    pub return_type: &'h hir::Type,
    pub type_args: Vec<hir::Type>,
    pub span: Span,
}

impl<'h> Lowerer<'h> {
    /// Records the code that a callee has inlined; `before` is the number of statements before it.
    pub fn note_inlined(&mut self, callee: Callee, before: usize) {
        let inlined = self.inlined.entry(callee).or_default();
        inlined.calls += 1;
        inlined.statements += self.statement_count - before;
        let is_short = inlined.statements <= SHORT_STATEMENTS_MAX * inlined.calls;
        if inlined.calls > 1 && inlined.statements > self.inlined_statements_max && !is_short {
            self.learned.routines.insert(callee);
        }
    }

    /// Lowers a call of a routine and returns its result, or the arguments if the call must be inlined.
    pub fn call_routine(
        &mut self,
        code: Code<'h>,
        params: &[hir::VarId],
        args: Vec<Argument>,
        span: Span,
    ) -> Lowered<Result<Value, Vec<Argument>>> {
        let is_wanted = self.inlined_statements_max == 0 || self.learned.routines.contains(&code.callee);
        let takes_objects = args.iter().any(|arg| matches!(arg, Argument::Value(Value::Object(_))));
        // A method that is written in P4 does not get its object as an argument.
        let is_in_method = self.externs.this.is_some();
        if !is_wanted || takes_objects || is_in_method {
            return Ok(Err(args));
        }
        let Some(routine) = self.routine(&code, span)? else { return Ok(Err(args)) };
        if code.around(self) != routine.around {
            return Ok(Err(args));
        }
        let mut frame = self.new_frame(Some(routine.owner));
        frame.repeats = true;
        self.frames.push(frame);
        let bound = self.bind(params, args, Sight::OwnStorage, span);
        self.frames.pop();
        let copy_outs = bound?;
        self.emit(StmtKind::Call(routine.id), span);
        self.cost = self.cost.saturating_add(routine.cost);
        if self.cost > RUN_STATEMENTS_MAX {
            let message = format!("a packet would run more than {RUN_STATEMENTS_MAX} statements in calls within calls");
            return self.too_large(span, message);
        }
        self.copy_out(&copy_outs, span)?;
        match &routine.returned {
            None => Ok(Ok(Value::Void)),
            // The next call overwrites the result.
            Some(place) => {
                let value = self.read(place);
                Ok(Ok(self.spill(value, code.return_type, span)?))
            }
        }
    }

    /// The routine of a callee, made once; none if it cannot be one.
    fn routine(&mut self, code: &Code<'h>, span: Span) -> Lowered<Option<Rc<Routine>>> {
        // A function does not access the object that calls it.
        let object = match code.callee {
            Callee::Function(_) => <ObjectId as base::index::Id>::from_index(0),
            Callee::Action(_) => self.object,
        };
        let key = (self.block.exit_label, object, code.callee, code.type_args.clone());
        if let Some(routine) = self.memo.routines.get(&key) {
            return Ok(routine.clone());
        }
        let routine = self.nested(span, |l| l.make_routine(code))?.map(Rc::new);
        self.memo.routines.insert(key, routine.clone());
        Ok(routine)
    }

    fn make_routine(&mut self, code: &Code<'h>) -> Lowered<Option<Routine>> {
        let owner = self.objects.push(Object::root());
        let uses = self.externs.direct_uses.len();
        let outer_cost = std::mem::take(&mut self.cost);
        // An error may be specific to the routine, since its parameters are not constants.
        let outer = std::mem::replace(&mut self.diagnostics, Diagnostics::new());
        let lowered = self.routine_body(code, owner);
        let found = std::mem::replace(&mut self.diagnostics, outer);
        let cost = std::mem::replace(&mut self.cost, outer_cost);
        if self.is_too_large {
            self.diagnostics.append(found);
            return Err(Refused);
        }
        let Ok((body, headers, returned)) = lowered else { return Ok(None) };
        if found.has_errors() || self.externs.direct_uses.len() > uses || !may_be_routine(&body) {
            self.externs.direct_uses.truncate(uses);
            return Ok(None);
        }
        self.diagnostics.append(found);
        let id = self.ir.routines.push(ir::Routine { name: code.name.clone(), body, span: code.span });
        self.parameter_headers
            .extend(headers.map(|header| (<ir::HeaderId as base::index::Id>::from_index(header), id)));
        Ok(Some(Routine { id, owner, returned, around: code.around(self), cost }))
    }

    /// The statements, the numbers of the headers that parameters have, and where the result is.
    fn routine_body(
        &mut self,
        code: &Code<'h>,
        owner: ObjectId,
    ) -> Lowered<(ir::Body, Range<usize>, Option<Rc<Place>>)> {
        let mut frame = self.new_frame(Some(owner));
        frame.repeats = true;
        if *code.return_type != hir::Type::Void {
            frame.return_place = Some(Rc::new(self.temporary_place(code.return_type, code.span)?));
        }
        let returned = frame.return_place.clone();
        let mut headers = 0..0;
        let (body, ()) = self.collect(|l| {
            l.in_frame(frame, code.span, |l| {
                let first = l.ir.headers.len();
                for param in code.params {
                    l.declare(*param)?;
                }
                headers = first..l.ir.headers.len();
                l.lower_block(code.body)
            })
        })?;
        Ok((body, headers, returned))
    }
}

impl Code<'_> {
    /// The bindings of parameters of enclosing declarations that the code can use.
    fn around(&self, lowerer: &Lowerer<'_>) -> Vec<Option<Binding>> {
        let ObjectKind::Control { control, .. } = &lowerer.objects[lowerer.object].kind else { return Vec::new() };
        match self.callee {
            Callee::Function(_) => Vec::new(),
            Callee::Action(_) => {
                let params = lowerer.hir.controls[*control].params.iter();
                params.map(|param| lowerer.env.get(param).cloned()).collect()
            }
        }
    }
}

/// Whether a body has only statements that routines may have, and leaves no label outside of itself.
fn may_be_routine(body: &[ir::Stmt]) -> bool {
    let (mut may_be, mut own, mut left) = (true, Vec::new(), Vec::new());
    visit_body(body, &mut |stmt| {
        may_be &= stmt.kind.may_be_in_routine();
        match &stmt.kind {
            StmtKind::Block { label, .. } => own.push(*label),
            StmtKind::Leave(label) => left.push(*label),
            _ => {}
        }
    });
    may_be && left.iter().all(|label| own.contains(label))
}
