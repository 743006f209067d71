//! Routines as C functions, and their calls.
//!
//! What enters: a routine of a block. What leaves: a function that takes the packet as the block's own function does.
//! State that both use is in the packet's context while the routine runs: local variables always, valid bits and places
//! of headers during the call. A routine that two blocks call is generated for each, since each has its own local
//! variables.

use super::control::{PART_PARAMS, single};
use super::scope::{Scope, valid_word};
use super::{Emitter, split_function};
use crate::ctree::{self, Item as CItem};
use crate::plan::stack_of;
use crate::plan::walk::{Item, Tables, Walk};
use base::OrderedSet;
use base::index::Id as _;
use ir::{BlockId, HeaderId, HeaderRef, Program, RoutineId, Stmt, StmtKind};
use lir::{Expr as C, StatePart, Stmt as S, assign, call, name};

/// What a routine, and those that it calls, may change of the state that its callers have in C variables.
pub(crate) struct Touched {
    /// Headers that it mentions.
    headers: OrderedSet<HeaderId>,
    /// Those that it may relocate.
    moved: OrderedSet<HeaderId>,
}

impl Touched {
    pub(crate) fn of(program: &Program, body: &[Stmt]) -> Touched {
        let mut touched = Touched { headers: OrderedSet::new(), moved: OrderedSet::new() };
        Walk::new(program, Tables::Inside).body(body, &mut |item| match item {
            Item::Header(header) => touched.headers.extend(referents(program, header)),
            Item::Stmt(stmt) => touched.stmt(program, &stmt.kind),
            Item::Var(_) => {}
        });
        touched.headers.extend(&touched.moved);
        touched
    }

    fn stmt(&mut self, program: &Program, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(header)
            | StmtKind::CopyHeader { dst: header, .. }
            | StmtKind::CopyVarbit { dst: (header, _), .. }
            | StmtKind::SetVarbit { dst: (header, _), .. } => self.moved.extend(referents(program, header)),
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                self.moved.extend(&program.stacks[*stack].elements);
            }
            _ => {}
        }
    }
}

/// The headers that a reference may refer to.
fn referents<'p>(program: &'p Program, header: &'p HeaderRef) -> &'p [HeaderId] {
    match (header, stack_of(header)) {
        (HeaderRef::Fixed(id), _) => std::slice::from_ref(id),
        (_, Some(stack)) => &program.stacks[stack].elements,
        _ => &[],
    }
}

fn function_name(block: BlockId, routine: RoutineId) -> String {
    format!("block_{}_{routine}", block.index())
}

/// The functions of the routines that run in a block, each after those that it calls.
pub(crate) fn functions(emitter: &Emitter<'_>, block: BlockId) -> Vec<CItem> {
    let routines = &emitter.plan.blocks[block].routines;
    let codes: Vec<(RoutineId, Vec<ctree::Stmt>)> = routines.iter().map(|&id| (id, code(emitter, block, id))).collect();
    let statements: usize = codes.iter().map(|(_, code)| ctree::statement_count(code)).sum();
    let mut items = Vec::new();
    for (id, code) in codes {
        items.push(CItem::Comment(format!("Routine {}.", emitter.program.routines[id].name)));
        // Unreachable code is omitted, which may contain the only call.
        let head = format!("WS_UNUSED void {}({PART_PARAMS})", function_name(block, id));
        items.push(split_function(&head, code, statements));
    }
    items
}

fn code(emitter: &Emitter<'_>, block: BlockId, routine: RoutineId) -> Vec<ctree::Stmt> {
    let mut scope = Scope::new(emitter, block, 0);
    scope.stmts(&emitter.program.routines[routine].body);
    single(&mut scope, &function_name(block, routine), Vec::new(), Vec::new())
}

impl Scope<'_, '_> {
    /// Calls a routine. State that it may use is written to the context before the call, and read from there after it.
    pub(crate) fn call_routine(&mut self, routine: RoutineId) {
        let emitter = self.emitter;
        let touched = &emitter.touched[routine];
        let plain = |headers: &OrderedSet<HeaderId>| -> Vec<HeaderId> {
            headers.iter().copied().filter(|&id| emitter.dynamic_element(id).is_none()).collect()
        };
        let words: OrderedSet<u32> =
            plain(&touched.headers).iter().map(|&id| emitter.plan.headers[id].bit / 64).collect();
        let words: Vec<(C, C)> =
            words.into_iter().map(|word| (C::Saved(StatePart::Valid(word)), valid_word(word))).collect();
        self.out.extend(words.iter().map(|(context, word)| assign(context.clone(), word.clone())));
        let function = function_name(self.block, routine);
        self.push(S::Eval(call(&function, vec![name("env"), name("packets"), name("i")])));
        self.out.extend(words.into_iter().map(|(context, word)| assign(word, context)));
        for id in plain(&touched.moved) {
            let place = self.at(C::Saved(StatePart::Header(id)));
            self.push(assign(lir::header(id), place));
        }
        self.forget_what_changes(&emitter.program.routines[routine].body);
    }
}
