//! Assignments of v1model programs in a block where they have no effect.

use crate::diagnostics as d;
use crate::linter::Linter;
use crate::sink::NO_EFFECT;
use crate::walk::{arguments, blocks_of, callee_params};
use base::OrderedSet;
use num_bigint::BigInt;
use sema::hir::*;
use syntax::ast::Direction;

/// The positions of the ingress and the egress control among the arguments of the package.
const INGRESS: usize = 2;
const EGRESS: usize = 3;

/// The port that drops packets.
const DROP_PORT: u32 = 511;

impl Linter<'_, '_> {
    /// Reports assignments of ports in the wrong one of ingress and egress. A control that both apply is not checked.
    pub(crate) fn check_ports(&mut self) {
        let program = self.program;
        let Some(main) = program.main.map(|main| &program.instances[main]) else { return };
        if !matches!(main.ty, Type::Apply(id, _) if *program.apply_types[id].name == *"V1Switch") {
            return;
        }
        let controls_from = |position: usize| {
            let mut found = OrderedSet::new();
            if let Some(Some(Expr { ty: Type::Control(id, _), .. })) = main.args.get(position) {
                collect_controls(program, *id, &mut found);
            }
            found
        };
        let (ingress, egress) = (controls_from(INGRESS), controls_from(EGRESS));
        for &id in ingress.difference(&egress) {
            self.check_ports_of(id, "egress_port");
        }
        for &id in egress.difference(&ingress) {
            self.check_ports_of(id, "egress_spec");
        }
    }

    fn check_ports_of(&mut self, id: ControlId, ignored: &str) {
        let control = &self.program.controls[id];
        let silenced = self.sink.enter(&control.annotations);
        for local in &control.locals {
            if let Local::Action(id) = local {
                let action = &self.program.actions[*id];
                let silenced = self.sink.enter(&action.annotations);
                self.check_ports_in(&action.body, ignored);
                self.sink.leave(silenced);
            }
        }
        self.check_ports_in(&control.body, ignored);
        self.sink.leave(silenced);
    }

    fn check_ports_in(&mut self, block: &Block, ignored: &str) {
        let silenced = self.sink.enter(&block.annotations);
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Assign { target, value } => {
                    let is_drop =
                        ignored == "egress_spec" && self.values.number(value) == Some(BigInt::from(DROP_PORT));
                    if !is_drop {
                        self.check_port_at(target, ignored);
                    }
                }
                StmtKind::Call(Expr { kind: ExprKind::Call(call), .. }) => {
                    let params = callee_params(self.program, &call.callee);
                    for (direction, arg) in arguments(self.program, params, &call.args) {
                        if matches!(direction, Direction::Out | Direction::InOut) {
                            self.check_port_at(arg, ignored);
                        }
                    }
                }
                _ => {}
            }
            blocks_of(stmt).into_iter().for_each(|block| self.check_ports_in(block, ignored));
        }
        self.sink.leave(silenced);
    }

    /// Reports an l-value that is written if it is the ignored port.
    fn check_port_at(&mut self, target: &Expr, ignored: &str) {
        if self.names_port(target, ignored) {
            let warning = match ignored {
                "egress_port" => d::ignored_port_in_ingress(target.span),
                _ => d::ignored_port_in_egress(target.span),
            };
            self.sink.warn(NO_EFFECT, warning);
        }
    }

    /// Whether an l-value is this field of the standard metadata, or bits of it.
    fn names_port(&self, target: &Expr, name: &str) -> bool {
        match &target.kind {
            ExprKind::Slice(base, ..) | ExprKind::IndexedSlice { base, .. } => self.names_port(base, name),
            // A copy of the metadata is the program's own.
            ExprKind::Field(base, position) if matches!(base.kind, ExprKind::Var(_)) && self.is_parameter(base) => {
                match &base.ty {
                    Type::Struct(id, _) => {
                        let declared = &self.program.structs[*id];
                        let field = declared.fields.get(*position);
                        *declared.name == *"standard_metadata_t" && field.is_some_and(|field| *field.name == *name)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// A control, and those that it applies or instantiates.
fn collect_controls(program: &Program, id: ControlId, found: &mut OrderedSet<ControlId>) {
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        if !found.insert(id) {
            continue;
        }
        let control = &program.controls[id];
        for local in &control.locals {
            if let Local::Instance(instance) = local
                && let Type::Control(inner, _) = &program.instances[*instance].ty
            {
                pending.push(*inner);
            }
        }
        sema::walk::for_each_call(&control.body.stmts, &mut |_, call| {
            if let Callee::Apply(object) = &call.callee
                && let Type::Control(inner, _) = &object.ty
            {
                pending.push(*inner);
            }
        });
    }
}
