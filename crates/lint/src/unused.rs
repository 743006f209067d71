//! Unused declarations.
//!
//! A declaration whose name begins with `_`, or that is marked `@hidden` or `@optional`, may be unused. So may
//! declarations of an included file outside all blocks, because other programs include it, too.

use crate::diagnostics as d;
use crate::linter::Linter;
use crate::sink::UNUSED;
use base::Span;
use sema::hir::*;
use syntax::ast::{Annotation, Direction};

impl Linter<'_, '_> {
    /// Whether something with this name may be unused without a warning.
    fn is_exempt(&self, name: &str, annotations: &[Annotation], span: Span) -> bool {
        name.starts_with('_')
            || annotations.iter().any(|annotation| matches!(annotation.name.as_str(), "hidden" | "optional"))
            || !self.is_inside_block && !self.sink.is_in_main_file(span)
    }

    /// Whether the program is complete: only then are all users of the outermost declarations known.
    fn is_complete(&self) -> bool {
        self.program.main.is_some() || self.is_inside_block
    }

    pub(crate) fn check_unused_variable(&mut self, id: VarId, has_value: bool) {
        let var = &self.program.vars[id];
        let is_read = self.uses.read.contains(&id) || self.program.sized_vars.contains(&id);
        if is_read || self.is_exempt(&var.name, &var.annotations, var.span) {
            return;
        }
        let is_assigned = has_value || self.program.named_vars.contains(&id);
        self.sink.warn_about(UNUSED, &var.annotations, d::unused_variable(var.span, &var.name, is_assigned));
    }

    pub(crate) fn check_unused_constant(&mut self, id: VarId) {
        let var = &self.program.vars[id];
        let is_used = self.program.named_vars.contains(&id);
        // A program may use only a part of a list of constants, such as protocol numbers.
        if !is_used && self.is_inside_block && !self.is_exempt(&var.name, &var.annotations, var.span) {
            self.sink.warn_about(UNUSED, &var.annotations, d::unused_constant(var.span, &var.name));
        }
    }

    pub(crate) fn check_unused_action(&mut self, id: ActionId) {
        let action = &self.program.actions[id];
        let is_used = self.uses.actions.contains(&id);
        if !is_used && self.is_complete() && !self.is_exempt(&action.name, &action.annotations, action.span) {
            self.sink.warn_about(UNUSED, &action.annotations, d::unused_action(action.span, &action.name));
        }
    }

    pub(crate) fn check_unused_function(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        let is_used = self.uses.functions.contains(&id);
        if !is_used && self.is_complete() && !self.is_exempt(&function.name, &function.annotations, function.span) {
            self.sink.warn_about(UNUSED, &function.annotations, d::unused_function(function.span, &function.name));
        }
    }

    /// Parameters of functions and actions. An action's parameter from the control plane may be intended for the
    /// control plane, and an `out` parameter without a value has a warning of its own.
    pub(crate) fn check_unused_params(&mut self, params: &[VarId]) {
        for &id in params {
            let var = &self.program.vars[id];
            let is_own = matches!(var.kind, VarKind::Parameter { direction: Direction::In | Direction::InOut, .. });
            if is_own
                && !self.program.named_vars.contains(&id)
                && !self.is_exempt(&var.name, &var.annotations, var.span)
            {
                self.sink.warn_about(UNUSED, &var.annotations, d::unused_parameter(var.span, &var.name));
            }
        }
    }

    pub(crate) fn check_unused_table(&mut self, id: TableId) {
        let table = &self.program.tables[id];
        if !self.uses.tables.contains(&id) && !self.is_exempt(&table.name, &table.annotations, table.span) {
            self.sink.warn(UNUSED, d::unused_table(table.span, &table.name));
        }
    }

    pub(crate) fn check_unused_instance(&mut self, id: InstanceId) {
        let instance = &self.program.instances[id];
        let is_package =
            matches!(&instance.ty, Type::Apply(id, _) if self.program.apply_types[*id].kind == ApplyTypeKind::Package);
        if !is_package
            && !self.uses.instances.contains(&id)
            && self.is_complete()
            && !self.is_exempt(&instance.name, &instance.annotations, instance.span)
        {
            self.sink.warn_about(UNUSED, &instance.annotations, d::unused_instance(instance.span, &instance.name));
        }
    }

    pub(crate) fn check_unused_value_set(&mut self, id: ValueSetId) {
        let set = &self.program.value_sets[id];
        if !self.uses.value_sets.contains(&id) && !self.is_exempt(&set.name, &set.annotations, set.span) {
            self.sink.warn_about(UNUSED, &set.annotations, d::unused_value_set(set.span, &set.name));
        }
    }

    pub(crate) fn check_unused_parser(&mut self, id: ParserId) {
        let parser = &self.program.parsers[id];
        let is_used = self.uses.parsers.contains(&id);
        if !is_used && self.is_complete() && !self.is_exempt(&parser.name, &parser.annotations, parser.span) {
            self.sink.warn(UNUSED, d::unused_block(parser.span, "parser", &parser.name));
        }
    }

    pub(crate) fn check_unused_control(&mut self, id: ControlId) {
        let control = &self.program.controls[id];
        let is_used = self.uses.controls.contains(&id);
        if !is_used && self.is_complete() && !self.is_exempt(&control.name, &control.annotations, control.span) {
            self.sink.warn(UNUSED, d::unused_block(control.span, "control", &control.name));
        }
    }
}
