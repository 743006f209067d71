//! Actions with their callees inlined, and the widths of their parameters.
//!
//! Inlining replaces the callee's parameters with the arguments, so that a parameter may be written as well as read,
//! and so that widths are inferred through calls. Parameters have no types in P4_14: each gets the greatest width of
//! the fields, indices and numbers for which it is used.

use super::build::{self, Shape};
use super::{Done, Translator};
use crate::ast::{Call, Expr, ExprKind, Ident, Name};
use crate::codes;
use crate::symbols::fold;
use base::limits::WIDTH_BITS_MAX;
use base::{OrderedMap, Span};
use num_traits::ToPrimitive;
use syntax::ast as p4;
use syntax::diag::Diagnostic;

/// The width of a parameter whose width cannot be inferred.
const WIDTH_ASSUMED_BITS: u32 = 32;

/// An action whose body only contains primitives and methods.
#[derive(Default)]
pub(crate) struct FlatAction {
    pub calls: Vec<Call>,
    pub shapes: OrderedMap<Name, Shape>,
    /// Whether another action calls it.
    pub is_called: bool,
}

/// The state of an action during inlining.
#[derive(Clone)]
enum Progress {
    Untouched,
    Open,
    Done(Vec<Call>),
}

impl Translator<'_, '_> {
    pub(super) fn flatten_actions(&mut self) {
        let mut progress = vec![Progress::Untouched; self.program.actions.len()];
        for index in 0..progress.len() {
            self.flatten(index, &mut progress, 0);
        }
        for (index, progress) in progress.into_iter().enumerate() {
            let calls = match progress {
                Progress::Done(calls) => calls,
                _ => Vec::new(),
            };
            let shapes = self.infer_shapes(index, &calls);
            self.flat_actions.push(FlatAction { calls, shapes, is_called: self.called_actions.contains(&index) });
        }
    }

    /// The body of an action with its callees inlined, without the calls that have errors.
    fn flatten(&mut self, index: usize, progress: &mut [Progress], height: u32) -> Vec<Call> {
        match &progress[index] {
            Progress::Done(calls) => return calls.clone(),
            Progress::Open => return Vec::new(),
            Progress::Untouched => {}
        }
        progress[index] = Progress::Open;
        let program = self.program;
        let action = &program.actions[index];
        let mut calls = Vec::new();
        self.check_parameters(index);
        for call in &action.body {
            // An action may have the name of a primitive, and then call the primitive.
            let callee = match (&call.object, self.symbols.actions.get(&call.name.name)) {
                (None, Some(&callee)) if callee != index || !super::primitives::is_primitive(&call.name.name) => callee,
                _ => {
                    if self.count_nodes(nodes_of(call), call.span).is_some() {
                        calls.push(call.clone());
                    }
                    continue;
                }
            };
            let _ = self.flatten_call(call, callee, progress, height, &mut calls);
        }
        progress[index] = Progress::Done(calls.clone());
        calls
    }

    fn check_parameters(&mut self, index: usize) {
        let mut seen: OrderedMap<Name, Span> = OrderedMap::new();
        for parameter in &self.program.actions[index].parameters {
            let name = &parameter.name;
            if let Some(&first) = seen.get(&name.name) {
                let message = format!("parameter `{}` is declared twice", name.name);
                let diagnostic = Diagnostic::error(codes::DUPLICATE_NAME, name.span, message);
                self.diagnostics.push(diagnostic.secondary(first, "the first is here"));
            }
            seen.insert(name.name.clone(), name.span);
        }
    }

    fn flatten_call(
        &mut self,
        call: &Call,
        callee: usize,
        progress: &mut [Progress],
        height: u32,
        calls: &mut Vec<Call>,
    ) -> Done<()> {
        let span = call.name.span;
        if matches!(progress[callee], Progress::Open) {
            return self.error(codes::RECURSION, span, format!("action `{}` calls itself", call.name.name));
        }
        if height >= crate::parser::HEIGHT_MAX {
            return self.error(codes::NESTING_LIMIT, span, "actions call each other too deeply");
        }
        let parameters = &self.program.actions[callee].parameters;
        if parameters.len() != call.arguments.len() {
            let message = format!(
                "action `{}` takes {}, and is given {}",
                call.name.name,
                arguments_text(parameters.len()),
                call.arguments.len()
            );
            return self.error(codes::ARGUMENT_COUNT, call.span, message);
        }
        self.called_actions.insert(callee);
        let body = self.flatten(callee, progress, height + 1);
        let arguments: OrderedMap<Name, &Expr> =
            parameters.iter().map(|parameter| parameter.name.name.clone()).zip(&call.arguments).collect();
        for inner in &body {
            let grown: usize = call.arguments.iter().map(size_of).sum();
            self.count_nodes(nodes_of(inner).saturating_mul(grown.max(1)), call.span)?;
            let mut inner = inner.clone();
            inner.arguments = inner.arguments.iter().map(|argument| substitute(argument, &arguments)).collect();
            calls.push(inner);
        }
        Some(())
    }
}

/// `no argument`, `1 argument`, `2 arguments`
pub(crate) fn arguments_text(count: usize) -> String {
    match count {
        0 => "no argument".to_owned(),
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    }
}

fn nodes_of(call: &Call) -> usize {
    1 + call.arguments.iter().map(size_of).sum::<usize>()
}

/// The number of nodes of an expression.
fn size_of(expr: &Expr) -> usize {
    1 + match &expr.kind {
        ExprKind::Integer(..) | ExprKind::Bool(_) | ExprKind::Name(_) => 0,
        ExprKind::Member(base, _)
        | ExprKind::Valid(base)
        | ExprKind::Unary(_, base)
        | ExprKind::Cast { operand: base, .. } => size_of(base),
        ExprKind::Index(a, b)
        | ExprKind::Current(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::MinMax { left: a, right: b, .. } => size_of(a) + size_of(b),
    }
}

/// Substitutes arguments for parameters in an expression.
fn substitute(expr: &Expr, arguments: &OrderedMap<Name, &Expr>) -> Expr {
    let inside = |expr: &Expr| Box::new(substitute(expr, arguments));
    let kind = match &expr.kind {
        ExprKind::Name(name) => match arguments.get(name) {
            Some(argument) => return (*argument).clone(),
            None => return expr.clone(),
        },
        ExprKind::Integer(..) | ExprKind::Bool(_) => return expr.clone(),
        ExprKind::Member(base, member) => ExprKind::Member(inside(base), member.clone()),
        ExprKind::Index(base, index) => ExprKind::Index(inside(base), inside(index)),
        ExprKind::Valid(header) => ExprKind::Valid(inside(header)),
        ExprKind::Current(offset, width) => ExprKind::Current(inside(offset), inside(width)),
        ExprKind::Unary(operator, operand) => ExprKind::Unary(*operator, inside(operand)),
        ExprKind::Binary(operator, left, right) => ExprKind::Binary(*operator, inside(left), inside(right)),
        ExprKind::MinMax { is_minimum, left, right } => {
            ExprKind::MinMax { is_minimum: *is_minimum, left: inside(left), right: inside(right) }
        }
        ExprKind::Cast { width, is_signed, operand } => {
            ExprKind::Cast { width: width.clone(), is_signed: *is_signed, operand: inside(operand) }
        }
    };
    Expr { kind, span: expr.span }
}

// Widths of parameters.
impl Translator<'_, '_> {
    fn infer_shapes(&mut self, index: usize, calls: &[Call]) -> OrderedMap<Name, Shape> {
        let program = self.program;
        let action = &program.actions[index];
        let mut found: OrderedMap<Name, Option<Shape>> = OrderedMap::new();
        for parameter in &action.parameters {
            found.insert(parameter.name.name.clone(), None);
        }
        if !found.is_empty() {
            for call in calls {
                let context = self.context_of(call);
                for (position, argument) in call.arguments.iter().enumerate() {
                    let shape = context.get(position).copied().flatten();
                    self.note_uses(argument, shape, &mut found);
                }
            }
        }
        let mut shapes = OrderedMap::new();
        for parameter in &action.parameters {
            let name = &parameter.name;
            let shape = match (&parameter.shape, found.get(&name.name).copied().flatten()) {
                (Some((width, is_signed)), _) => {
                    let width = self.count(width, 1, u64::from(WIDTH_BITS_MAX)).unwrap_or(1) as u32;
                    Shape { width, is_signed: *is_signed }
                }
                (None, Some(shape)) => shape,
                // The parameters of an action that is called may be fields.
                (None, None) if self.called_actions.contains(&index) => Shape::bits(WIDTH_ASSUMED_BITS),
                (None, None) => {
                    let message = format!(
                        "the width of parameter `{}` is not known; it gets {WIDTH_ASSUMED_BITS} bits",
                        name.name
                    );
                    self.warn(codes::WIDTH_ASSUMED, name.span, message);
                    Shape::bits(WIDTH_ASSUMED_BITS)
                }
            };
            shapes.insert(name.name.clone(), shape);
        }
        shapes
    }

    /// The shape of each argument of a primitive.
    fn context_of(&self, call: &Call) -> Vec<Option<Shape>> {
        if call.object.is_some() {
            return self.method_shapes(call);
        }
        let wide = Some(Shape::bits(32));
        let index_of = |position: usize| call.arguments.get(position).and_then(|array| self.index_shape(array));
        let shape_of =
            |position: usize| call.arguments.get(position).and_then(|argument| self.shape_of_field(argument));
        match &*call.name.name {
            "count" => vec![None, index_of(0)],
            "execute_meter" | "meter" => vec![None, index_of(0), None, wide],
            "register_read" => vec![None, None, index_of(1)],
            "register_write" => vec![None, index_of(0), call.arguments.first().and_then(|it| self.register_shape(it))],
            "truncate" | "generate_digest" | "recirculate" => vec![wide],
            name if name.starts_with("clone_") || name == "sample_e2e" => vec![wide, None],
            _ => vec![shape_of(0); call.arguments.len()],
        }
    }

    /// The shape of an index into a counter, a meter or a register: as wide as the number of cells requires, as in the
    /// reference compiler; 32 bits if there is one cell, or no number.
    fn index_shape(&self, array: &Expr) -> Option<Shape> {
        let ExprKind::Name(name) = &array.kind else { return None };
        let symbols = &self.symbols;
        let tables = [&symbols.counters, &symbols.meters, &symbols.registers];
        let array = &self.program.arrays[*tables.into_iter().find_map(|table| table.get(name))?];
        let count = array.instance_count.as_ref().and_then(fold).and_then(|count| count.to_u64());
        match count {
            Some(count) if count > 1 => Some(Shape::bits(u64::BITS - (count - 1).leading_zeros())),
            _ => Some(Shape::bits(WIDTH_ASSUMED_BITS)),
        }
    }

    fn register_shape(&self, expr: &Expr) -> Option<Shape> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let array = &self.program.arrays[*self.symbols.registers.get(name)?];
        let width = fold(array.width.as_ref()?)?.to_u32()?;
        Some(Shape { width, is_signed: array.is_signed })
    }

    /// The declared shape of the field that an expression refers to, without an error if it is not a field.
    fn shape_of_field(&self, expr: &Expr) -> Option<Shape> {
        let ExprKind::Member(base, member) = &expr.kind else { return None };
        let name = match &base.kind {
            ExprKind::Name(name) => name,
            ExprKind::Index(base, _) => match &base.kind {
                ExprKind::Name(name) => name,
                _ => return None,
            },
            _ => return None,
        };
        let instance = *self.symbols.instances.get(name)?;
        let instance = &self.symbols.all_instances[self.symbols.instance_with(instance, member.as_str())];
        let header = &self.symbols.types[instance.header_type];
        let field = &header.fields[header.field(member.as_str())?];
        (!field.is_variable).then_some(Shape { width: field.width, is_signed: field.is_signed })
    }

    /// Records the uses of parameters in an expression that is used as `context`.
    fn note_uses(&self, expr: &Expr, context: Option<Shape>, found: &mut OrderedMap<Name, Option<Shape>>) {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let (Some(known), Some(shape)) = (found.get_mut(name), context) {
                    let merged = match *known {
                        Some(known) => {
                            Shape { width: known.width.max(shape.width), is_signed: known.is_signed && shape.is_signed }
                        }
                        None => shape,
                    };
                    *known = Some(merged);
                }
            }
            ExprKind::Unary(_, operand) => self.note_uses(operand, context, found),
            ExprKind::Cast { width, is_signed, operand } => {
                let width = fold(width).and_then(|width| width.to_u32());
                let shape = width.map(|width| Shape { width, is_signed: *is_signed });
                self.note_uses(operand, shape.or(context), found);
            }
            ExprKind::MinMax { left, right, .. } => {
                self.note_uses(left, self.shape_of_field(right).or(context), found);
                self.note_uses(right, self.shape_of_field(left).or(context), found);
            }
            ExprKind::Binary(_, left, right) => {
                let of = |other: &Expr| self.shape_of_field(other).or(context);
                self.note_uses(left, of(right), found);
                self.note_uses(right, of(left), found);
            }
            _ => {}
        }
    }

    /// An action as a declaration of a control.
    pub(super) fn action_declaration(&mut self, index: usize) -> Done<p4::Declaration> {
        let program = self.program;
        let action = &program.actions[index];
        let span = action.name.span;
        let name = self.action_name(index);
        let flat = std::mem::take(&mut self.flat_actions[index]);
        let parameters = action.parameters.iter().map(|parameter| {
            let shape = flat.shapes.get(&parameter.name.name).copied().unwrap_or(Shape::bits(WIDTH_ASSUMED_BITS));
            self.action_parameter(&parameter.name, shape)
        });
        let parameters = parameters.collect();
        let mut statements = Vec::new();
        for call in &flat.calls {
            // The error is reported; the next call may have errors of its own.
            let _ = self.primitive(call, &flat.shapes, &mut statements);
        }
        self.flat_actions[index] = flat;
        let declared =
            p4::ActionDeclaration { name: build::ident(&name, span), parameters, body: build::block(statements, span) };
        let mut declaration = build::declaration(p4::DeclarationKind::Action(declared), span);
        declaration.annotations = build::pragmas(&action.pragmas);
        declaration.annotations.push(build::control_plane_name(&action.name.name, span));
        Some(declaration)
    }

    /// A parameter of an action, with its control-plane name.
    fn action_parameter(&self, name: &Ident, shape: Shape) -> p4::Parameter {
        let spelt = self.spelt(&name.name);
        let ty = build::bit_type(shape, name.span);
        let mut parameter = build::parameter(p4::Direction::None, ty, &spelt, name.span);
        if spelt != name.name {
            parameter.annotations.push(build::name_annotation(&name.name, name.span));
        }
        parameter
    }

    /// The name of an action in P4_16.
    pub(super) fn action_name(&mut self, index: usize) -> Name {
        if let Some(name) = self.action_names.get(&index) {
            return name.clone();
        }
        let wanted = self.program.actions[index].name.name.clone();
        let name = self.fresh(&wanted);
        self.action_names.insert(index, name.clone());
        name
    }
}
