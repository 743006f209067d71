//! Expressions and places of the program. Side effects become statements, in the order of evaluation.

use crate::places::{Binding, BitsPlace, HeaderPlace, Place, StackPlace, bits_from};
use crate::values::{HeaderKind, HeaderValue, Value, number};
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::{Bits, Span};
use ir::{BinaryOp, HeaderRef, StmtKind};
use sema::hir::{self, Builtin, Callee, Expr, ExprKind, Type};

impl<'h> Lowerer<'h> {
    /// Evaluates an expression. The value is read where it is used: see [`Value`].
    pub fn eval(&mut self, expr: &'h Expr) -> Lowered<Value> {
        self.nested(expr.span, |l| l.eval_here(expr))
    }

    /// Evaluates an expression that is one value at run time.
    pub fn eval_scalar(&mut self, expr: &'h Expr) -> Lowered<ir::Expr> {
        match self.eval(expr)? {
            Value::Integer(value) => match self.scalar(&self.resolve(&expr.ty)) {
                Some(ty) => Ok(number(ty, &value)),
                None => self.unsupported(expr.span, "a number of unknown width here"),
            },
            value => self.scalar_value(value, expr.span),
        }
    }

    /// Evaluates expressions from left to right; values that a later one could change are kept in variables.
    pub fn eval_in_order(&mut self, exprs: &[&'h Expr]) -> Lowered<Vec<Value>> {
        let mut values = Vec::new();
        for (position, expr) in exprs.iter().enumerate() {
            let value = self.eval(expr)?;
            let later = exprs[position + 1..].iter().any(|expr| self.has_effects(expr));
            values.push(if later { self.spill(value, &expr.ty, expr.span)? } else { value });
        }
        Ok(values)
    }

    fn eval_here(&mut self, expr: &'h Expr) -> Lowered<Value> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Bool(value) => Ok(Value::Scalar(ir::Expr::bool(*value))),
            ExprKind::Int(value) => Ok(match self.scalar(&self.resolve(&expr.ty)) {
                Some(ty) => Value::Scalar(number(ty, value)),
                None => Value::Integer(value.clone()),
            }),
            ExprKind::String(text) => Ok(Value::String(text.clone())),
            ExprKind::Error(position) => Ok(Value::Scalar(self.error_number(*position))),
            ExprKind::EnumMember(position) => self.enum_member(expr, *position),
            ExprKind::Var(var) => self.eval_var(*var, span),
            ExprKind::Instance(instance) => Ok(Value::Object(self.instance(*instance, span)?)),
            ExprKind::Construct { constructor, args } => Ok(Value::Object(self.construct(expr, *constructor, args)?)),
            ExprKind::Field(base, field) | ExprKind::TupleIndex(base, field) => {
                if self.is_place(expr) {
                    return self.read_place(expr);
                }
                let base = self.eval(base)?;
                self.project(base, *field, span)
            }
            ExprKind::Index(base, index) => self.eval_index(expr, base, index),
            ExprKind::StackNext(_) | ExprKind::StackLast(_) => self.read_place(expr),
            ExprKind::StackLastIndex(stack) => self.last_index(stack),
            ExprKind::Slice(base, high, low) => Ok(Value::Scalar(fold::slice(self.eval_scalar(base)?, *high, *low))),
            ExprKind::IndexedSlice { base, low, width } => {
                let values = self.eval_in_order(&[base, low])?;
                let [base, low] = self.scalars(values, span)?;
                Ok(Value::Scalar(bits_from(base, bit_position(low), *width)))
            }
            ExprKind::Unary(operator, operand) => self.eval_unary(*operator, operand, span),
            ExprKind::Binary(operator, left, right) => self.eval_binary(expr, *operator, left, right),
            ExprKind::Conditional(condition, a, b) => self.eval_conditional(expr, condition, a, b),
            ExprKind::Cast(operand) => {
                let value = self.eval(operand)?;
                self.convert(value, &expr.ty, span)
            }
            ExprKind::Aggregate(items) => self.eval_aggregate(expr, items),
            ExprKind::Default => self.default_value(&expr.ty, span),
            ExprKind::Invalid => self.default_value(&expr.ty, span),
            ExprKind::Call(call) => self.eval_call(call, &expr.ty, span),
            ExprKind::Hit(call) => Ok(Value::Scalar(self.table_hit(call)?)),
            ExprKind::Miss(call) => Ok(Value::Scalar(fold::not(self.table_hit(call)?))),
            ExprKind::This => match self.externs.this {
                Some(object) => Ok(Value::Object(object)),
                None => self.unsupported(span, "`this` here"),
            },
            ExprKind::MatchKind(_) | ExprKind::Table(_) => self.unsupported(span, "this object as a value"),
            ExprKind::Mask(..) | ExprKind::Range(..) => self.unsupported(span, "sets outside keysets"),
            ExprKind::Poisoned => Err(Refused),
        }
    }

    /// The number of an error: those of core.p4 have fixed ones.
    pub fn error_number(&self, position: usize) -> ir::Expr {
        let name = self.hir.errors.get(position);
        let number = name.and_then(|name| self.ir.errors.iter().position(|known| **known == **name));
        ir::Expr::bit(32, number.unwrap_or(0) as u64)
    }

    fn enum_member(&mut self, expr: &'h Expr, position: usize) -> Lowered<Value> {
        let Type::Enum(id) = self.resolve(&expr.ty) else {
            return self.unsupported(expr.span, "a member of this type");
        };
        let ty = self.scalar_or_refuse(&expr.ty, expr.span)?;
        match self.hir.enums[id].members.get(position) {
            Some((_, value)) => Ok(Value::Scalar(number(ty, value))),
            None => Err(Refused),
        }
    }

    fn eval_var(&mut self, var: hir::VarId, span: Span) -> Lowered<Value> {
        match self.env.get(&var) {
            Some(Binding::Place(place)) => return Ok(self.read(&place.clone())),
            Some(Binding::Value(value)) => return Ok(value.clone()),
            None => {}
        }
        let Some(value) = self.memo.constants.get(&var).copied() else {
            let name = &self.hir.vars[var].name;
            return self.unsupported(span, format!("the use of `{name}` here"));
        };
        let (statements, value) = self.collect(|l| l.eval(value))?;
        if !statements.is_empty() {
            return self.refuse(codes::NOT_CONSTANT, span, "this constant is not known at compile time");
        }
        self.env.insert(var, Binding::Value(value.clone()));
        Ok(value)
    }

    fn read_place(&mut self, expr: &'h Expr) -> Lowered<Value> {
        let place = self.place(expr)?;
        self.load(&place, expr.span)
    }

    /// Field or element `field` of a value.
    pub fn project(&mut self, value: Value, field: usize, span: Span) -> Lowered<Value> {
        let found = match value {
            Value::Tuple(mut items) if field < items.len() => Some(items.swap_remove(field)),
            Value::Header(header) => header.field(field, self),
            Value::Union(members) => members.get(field).cloned().map(Value::Header),
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => self.unsupported(span, "a field of this value"),
        }
    }

    fn eval_index(&mut self, expr: &'h Expr, base: &'h Expr, index: &'h Expr) -> Lowered<Value> {
        if self.is_place(expr) {
            return self.read_place(expr);
        }
        let base = match self.eval(base)? {
            value if self.has_effects(index) => self.spill(value, &base.ty, base.span)?,
            value => value,
        };
        let place = index.span;
        let index = self.eval_position(index)?;
        match &base {
            Value::Stack(stack) => {
                self.check_position(&index, stack.size as usize, place)?;
                let place = stack.at(&self.ir, &index);
                Ok(self.read(&place))
            }
            Value::Tuple(items) => {
                self.check_position(&index, items.len(), place)?;
                let position = index.as_const().and_then(|bits| usize::try_from(bits.to_u64()?).ok());
                match position.and_then(|position| items.get(position)) {
                    Some(item) => Ok(item.clone()),
                    None => self.choose(&index, items, &expr.ty, expr.span),
                }
            }
            _ => self.unsupported(expr.span, "an element of this value"),
        }
    }

    /// Refuses a constant index beyond the elements.
    fn check_position(&mut self, index: &ir::Expr, size: usize, span: Span) -> Lowered<()> {
        match index.as_const() {
            Some(bits) if bits.to_u64().is_none_or(|position| position >= size as u64) => {
                self.refuse(codes::NOT_CONSTANT, span, format!("this index is out of range: there are {size} elements"))
            }
            _ => Ok(()),
        }
    }

    /// An index: a `Bit`, or a number that becomes one.
    fn eval_position(&mut self, index: &'h Expr) -> Lowered<ir::Expr> {
        match self.eval(index)? {
            Value::Integer(value) => Ok(number(ir::Type::Bit(32), &value)),
            value => {
                let expr = self.scalar_value(value, index.span)?;
                Ok(fold::cast(ir::Type::Bit(expr.ty.width()), expr))
            }
        }
    }

    /// `condition ? a : b`: an expression if possible, else an `if` that assigns to new storage.
    fn eval_conditional(&mut self, expr: &'h Expr, condition: &'h Expr, a: &'h Expr, b: &'h Expr) -> Lowered<Value> {
        let condition = self.eval_scalar(condition)?;
        match fold::truth(&condition) {
            Some(true) => return self.eval(a),
            Some(false) => return self.eval(b),
            None => {}
        }
        if !self.has_effects(a) && !self.has_effects(b) && self.scalar(&self.resolve(&expr.ty)).is_some() {
            let (a, b) = (self.eval_scalar(a)?, self.eval_scalar(b)?);
            return Ok(Value::Scalar(fold::mux(condition, a, b)));
        }
        let place = self.temporary_place(&expr.ty, expr.span)?;
        let way = |l: &mut Self, value: &'h Expr| {
            let (body, ()) = l.collect(|l| {
                let value = l.eval(value)?;
                l.assign(&place, value, expr.span)
            })?;
            Ok(body)
        };
        let (then_body, else_body) = (way(self, a)?, way(self, b)?);
        self.emit_if(condition, then_body, else_body, expr.span);
        Ok(self.read(&place))
    }

    fn eval_aggregate(&mut self, expr: &'h Expr, items: &'h [Option<Expr>]) -> Lowered<Value> {
        let mut values = Vec::new();
        let defaults = if items.iter().any(Option::is_none) { Some(self.aggregate_defaults(expr)?) } else { None };
        for (position, item) in items.iter().enumerate() {
            let value = match item {
                Some(item) => {
                    let value = self.eval(item)?;
                    let later = items[position + 1..].iter().flatten().any(|item| self.has_effects(item));
                    if later { self.spill(value, &item.ty, item.span)? } else { value }
                }
                None => match defaults.as_ref().and_then(|defaults| defaults.get(position)) {
                    Some(value) => value.clone(),
                    None => return self.unsupported(expr.span, "a default value here"),
                },
            };
            values.push(value);
        }
        self.convert(Value::Tuple(values), &expr.ty, expr.span)
    }

    /// The default values of the parts of an aggregate.
    fn aggregate_defaults(&mut self, expr: &'h Expr) -> Lowered<Vec<Value>> {
        match self.default_value(&expr.ty, expr.span)? {
            Value::Tuple(items) => Ok(items),
            Value::Header(header) => {
                Ok((0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect())
            }
            _ => self.unsupported(expr.span, "default values of this type"),
        }
    }

    /// The value as one of the type `ty`.
    pub fn convert(&mut self, value: Value, ty: &Type, span: Span) -> Lowered<Value> {
        let ty = self.resolve(ty);
        self.convert_resolved(value, &ty, span)
    }

    /// The type is borrowed all the way down: lists of lists are converted at each of their levels, and a copy of the
    /// type at each would make their cost the cube of their depth.
    fn convert_resolved(&mut self, value: Value, ty: &Type, span: Span) -> Lowered<Value> {
        if let Some(scalar) = self.scalar(ty) {
            return match value {
                Value::Scalar(expr) => Ok(Value::Scalar(fold::cast(scalar, expr))),
                Value::Integer(value) => Ok(Value::Scalar(number(scalar, &value))),
                // A struct with one field casts to it.
                Value::Tuple(mut items) if items.len() == 1 => self.convert_resolved(items.swap_remove(0), ty, span),
                _ => self.unsupported(span, "this cast"),
            };
        }
        match (ty, value) {
            (Type::Integer, value) => Ok(Value::Integer(self.constant_number(&value, span)?)),
            (Type::Struct(..) | Type::Tuple(_) | Type::Array(..) | Type::List(_), Value::Tuple(items)) => {
                self.convert_items(items, ty, span)
            }
            (Type::Struct(..), Value::Header(header)) if !self.is_header(ty) => {
                let fields = (0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect();
                self.convert_items(fields, ty, span)
            }
            (_, value) => Ok(value),
        }
    }

    fn is_header(&self, ty: &Type) -> bool {
        matches!(ty, Type::Struct(id, _) if self.hir.structs[*id].kind == syntax::ast::StructKind::Header)
    }

    fn convert_items(&mut self, items: Vec<Value>, ty: &Type, span: Span) -> Lowered<Value> {
        let field_types;
        let part_types: Vec<&Type> = match ty {
            Type::Struct(id, args) => {
                field_types = self.field_types(*id, args);
                field_types.iter().map(|(_, ty)| ty).collect()
            }
            Type::Tuple(types) => types.iter().collect(),
            Type::Array(item, _) | Type::List(item) => vec![&**item; items.len()],
            _ => return self.unsupported(span, "a list as a value of this type"),
        };
        let parts = items.into_iter().zip(part_types);
        let items: Vec<Value> =
            parts.map(|(item, ty)| self.convert_resolved(item, ty, span)).collect::<Lowered<_>>()?;
        if !self.is_header(ty) {
            return Ok(Value::Tuple(items));
        }
        let Type::Struct(id, args) = ty else { return Err(Refused) };
        let shape = self.header_shape(*id, args)?;
        Ok(Value::Header(HeaderValue { shape, kind: HeaderKind::Fields(items) }))
    }

    /// Exactly `N` scalars.
    pub fn scalars<const N: usize>(&mut self, values: Vec<Value>, span: Span) -> Lowered<[ir::Expr; N]> {
        let mut scalars = Vec::new();
        for value in values {
            scalars.push(match value {
                Value::Integer(value) => number(ir::Type::Bit(64), &value),
                value => self.scalar_value(value, span)?,
            });
        }
        scalars.try_into().map_err(|_| Refused)
    }

    // -------------------------------------------------------------------------------------------------- places

    /// Whether the expression denotes storage here.
    pub fn is_place(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(var) => matches!(self.env.get(var), Some(Binding::Place(_))),
            ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Index(base, _) => self.is_place(base),
            ExprKind::Slice(base, ..) | ExprKind::IndexedSlice { base, .. } => self.is_place(base),
            ExprKind::StackNext(_) | ExprKind::StackLast(_) => true,
            _ => false,
        }
    }

    /// The place that an expression denotes.
    pub fn place(&mut self, expr: &'h Expr) -> Lowered<Place> {
        self.nested(expr.span, |l| l.place_here(expr))
    }

    fn place_here(&mut self, expr: &'h Expr) -> Lowered<Place> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Var(_) | ExprKind::Field(..) | ExprKind::TupleIndex(..) => {
                let mut path = Vec::new();
                let mut root = expr;
                while let ExprKind::Field(base, field) | ExprKind::TupleIndex(base, field) = &root.kind {
                    path.push(*field);
                    root = base;
                }
                path.reverse();
                match &root.kind {
                    ExprKind::Var(var) => match self.env.get(var) {
                        Some(Binding::Place(place)) => {
                            let place = place.clone();
                            self.follow(&place, &path, span)
                        }
                        _ => self.place_of_value(*var, &path, span),
                    },
                    _ => {
                        let place = self.place(root)?;
                        self.follow(&place, &path, span)
                    }
                }
            }
            ExprKind::Index(base, index) => {
                let base = self.place(base)?;
                let index = self.eval_position(index)?;
                self.element_place(base, index, span)
            }
            ExprKind::StackNext(stack) => {
                let stack = self.place(stack)?;
                self.moving_element(&stack, true, span)
            }
            ExprKind::StackLast(stack) => {
                let stack = self.place(stack)?;
                self.moving_element(&stack, false, span)
            }
            ExprKind::Slice(base, high, low) => slice_of(self.place(base)?, *high, *low),
            ExprKind::IndexedSlice { base, low, width } => {
                let mut place = self.place(base)?;
                if self.has_effects(low) {
                    place = self.pin(place, base.span)?;
                }
                let low = self.eval_position(low)?;
                bits_of(place, &bit_position(low), *width)
            }
            ExprKind::Cast(base) => self.place(base),
            _ => self.unsupported(span, "an assignment to this"),
        }
    }

    /// A place behind a value that was bound without a copy, such as a stack that is read element by element.
    fn place_of_value(&mut self, var: hir::VarId, path: &[usize], span: Span) -> Lowered<Place> {
        let mut value = self.eval_var(var, span)?;
        for &field in path {
            value = self.project(value, field, span)?;
        }
        let header = |value: HeaderValue| match value.kind {
            HeaderKind::Ref(header) => Some(HeaderPlace::new(header, value.shape)),
            _ => None,
        };
        let place = match value {
            Value::Stack(stack) => Some(Place::Stack(stack)),
            Value::Header(value) => header(value).map(Place::Header),
            Value::Union(members) => members.into_iter().map(header).collect::<Option<_>>().map(Place::Union),
            _ => None,
        };
        match place {
            Some(place) => Ok(place),
            None => self.unsupported(span, "a place inside this value"),
        }
    }

    fn follow(&mut self, place: &Place, path: &[usize], span: Span) -> Lowered<Place> {
        let mut place = place;
        for (position, &field) in path.iter().enumerate() {
            match place {
                Place::Tuple(items) => match items.get(field) {
                    Some(item) => place = item,
                    None => return Err(Refused),
                },
                _ => return self.follow_inside(place.clone(), &path[position..], span),
            }
        }
        Ok(place.clone())
    }

    fn follow_inside(&mut self, mut place: Place, path: &[usize], span: Span) -> Lowered<Place> {
        for &field in path {
            let next = field_of(place, field);
            place = match next {
                Some(place) => place,
                None => return self.unsupported(span, "a field of this place"),
            };
        }
        Ok(place)
    }

    fn element_place(&mut self, base: Place, index: ir::Expr, span: Span) -> Lowered<Place> {
        match base {
            Place::Stack(stack) => {
                self.check_position(&index, stack.size as usize, span)?;
                Ok(stack.at(&self.ir, &index))
            }
            Place::Tuple(items) if items.is_empty() => self.no_elements(span),
            Place::Tuple(mut items) => {
                self.check_position(&index, items.len(), span)?;
                let position = index.as_const().and_then(|bits| usize::try_from(bits.to_u64()?).ok());
                match position.filter(|position| *position < items.len()) {
                    Some(position) => Ok(items.swap_remove(position)),
                    None => Ok(Place::Choice { index, items }),
                }
            }
            Place::Choice { index: outer, items } => {
                let item = |item| self.element_place(item, index.clone(), span);
                Ok(Place::Choice { index: outer, items: items.into_iter().map(item).collect::<Lowered<_>>()? })
            }
            _ => self.unsupported(span, "an element of this place"),
        }
    }

    /// `stack.next` or `stack.last`, which end parsing if there is none. A run-time index may choose the stack.
    fn moving_element(&mut self, stack: &Place, is_next: bool, span: Span) -> Lowered<Place> {
        match stack {
            Place::Stack(stack) => {
                let (op, bound) = if is_next { (BinaryOp::Lt, stack.size) } else { (BinaryOp::Ne, 0) };
                self.verify_position(op, stack, bound, span);
                Ok(stack.element(if is_next { HeaderRef::Next } else { HeaderRef::Last }))
            }
            Place::Choice { index, items } => {
                let (mut ways, mut elements) = (Vec::new(), Vec::new());
                for item in items {
                    let (way, element) = self.collect(|l| l.moving_element(item, is_next, span))?;
                    ways.push(way);
                    elements.push(element);
                }
                if ways.iter().any(|way| !way.is_empty()) {
                    self.emit_choice(index, ways, span);
                }
                Ok(Place::Choice { index: index.clone(), items: elements })
            }
            _ => self.no_elements(span),
        }
    }

    fn no_elements<T>(&mut self, span: Span) -> Lowered<T> {
        self.unsupported(span, "elements of a stack or array that has none")
    }

    /// In a parser: ends parsing unless `next op bound`.
    fn verify_position(&mut self, op: BinaryOp, stack: &StackPlace, bound: u32, span: Span) {
        let is_known = op == BinaryOp::Ne && self.was_just_extracted(stack);
        if self.parser.is_some() && !is_known {
            let cond = fold::binary(op, self.read_var(stack.next), ir::Expr::bit(32, u64::from(bound)));
            let error = ir::Expr::bit(32, ir::ERROR_STACK_OUT_OF_BOUNDS);
            self.emit(StmtKind::Verify { cond, error }, span);
        }
    }

    /// Whether the statements just before extract to the stack's `next`, so that the stack is not empty.
    fn was_just_extracted(&self, stack: &StackPlace) -> bool {
        for stmt in self.body.iter().rev() {
            match &stmt.kind {
                StmtKind::Extract { dst: HeaderRef::Next(to), .. } if stack.members.iter().any(|(id, _)| id == to) => {
                    return true;
                }
                StmtKind::Assign { dst, .. } if *dst != ir::Place::Var(stack.next) => {}
                StmtKind::Extract { .. } | StmtKind::Verify { .. } | StmtKind::SetInvalid(_) => {}
                _ => return false,
            }
        }
        false
    }

    /// `stack.lastIndex`; of an empty stack all ones, since that is no error.
    fn last_index(&mut self, stack: &'h Expr) -> Lowered<Value> {
        let mut place = self.place(stack)?;
        next_indices(&mut place);
        let next = match self.load(&place, stack.span)? {
            Value::Scalar(next) => next,
            _ => return self.no_elements(stack.span),
        };
        Ok(Value::Scalar(fold::binary(BinaryOp::Sub, next, ir::Expr::bit(32, 1))))
    }

    // ------------------------------------------------------------------------------------------------- effects

    /// Whether evaluating the expression may have side effects, so that its order with others matters.
    pub fn has_effects(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Call(call) => match &call.callee {
                Callee::Builtin(Builtin::IsValid, object) => self.has_effects(object),
                _ => true,
            },
            ExprKind::Hit(_) | ExprKind::Miss(_) => true,
            ExprKind::StackNext(base) | ExprKind::StackLast(base) | ExprKind::StackLastIndex(base) => {
                self.parser.is_some() || self.has_effects(base)
            }
            ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Slice(base, ..) => {
                self.has_effects(base)
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.has_effects(operand),
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::IndexedSlice { base: a, low: b, .. }
            | ExprKind::Mask(a, b)
            | ExprKind::Range(a, b) => self.has_effects(a) || self.has_effects(b),
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().any(|part| self.has_effects(part)),
            ExprKind::Aggregate(items) => items.iter().flatten().any(|item| self.has_effects(item)),
            _ => false,
        }
    }
}

/// Replaces stacks by the variables with their number of used elements.
fn next_indices(place: &mut Place) {
    match place {
        Place::Stack(stack) => {
            *place = Place::Scalar { place: ir::Place::Var(stack.next), ty: ir::Type::Bit(32) };
        }
        Place::Choice { items, .. } => items.iter_mut().for_each(next_indices),
        _ => {}
    }
}

/// Bits `high` to `low` of a place.
fn slice_of(place: Place, high: u32, low: u32) -> Lowered<Place> {
    match place {
        Place::Scalar { place, .. } => {
            let place = match place {
                // A slice of a slice is one of the whole.
                ir::Place::Slice { base, low: below, .. } => {
                    ir::Place::Slice { base, high: high + below, low: low + below }
                }
                whole => ir::Place::Slice { base: Box::new(whole), high, low },
            };
            Ok(Place::Scalar { place, ty: ir::Type::Bit(high - low + 1) })
        }
        Place::Bits(bits) => {
            let start = fold::binary(BinaryOp::SaturatingAdd, bits.low, ir::Expr::bit(64, u64::from(low)));
            Ok(Place::Bits(BitsPlace { low: start, width: high - low + 1, ..bits }))
        }
        Place::Choice { index, items } => {
            let items = items.into_iter().map(|item| slice_of(item, high, low));
            Ok(Place::Choice { index, items: items.collect::<Lowered<_>>()? })
        }
        _ => Err(Refused),
    }
}

/// `width` bits of a place from a run-time position on.
fn bits_of(place: Place, low: &ir::Expr, width: u32) -> Lowered<Place> {
    match place {
        Place::Scalar { place, ty } => Ok(Place::Bits(BitsPlace { base: place, ty, low: low.clone(), width })),
        Place::Bits(bits) => {
            let low = fold::binary(BinaryOp::SaturatingAdd, bits.low, low.clone());
            Ok(Place::Bits(BitsPlace { low, width, ..bits }))
        }
        Place::Choice { index, items } => {
            let items = items.into_iter().map(|item| bits_of(item, low, width));
            Ok(Place::Choice { index, items: items.collect::<Lowered<_>>()? })
        }
        _ => Err(Refused),
    }
}

/// A bit position of the width that [`BitsPlace`] has. A position that does not fit is out of range of every value.
fn bit_position(low: ir::Expr) -> ir::Expr {
    let low = fold::cast(ir::Type::Bit(low.ty.width()), low);
    if low.ty.width() <= 64 {
        return fold::cast(ir::Type::Bit(64), low);
    }
    let most = ir::Expr::constant(low.ty, Bits::from_u64(low.ty.width(), u64::MAX));
    let fits = fold::binary(BinaryOp::Lt, low.clone(), most);
    fold::mux(fits, fold::cast(ir::Type::Bit(64), low), ir::Expr::bit(64, u64::MAX))
}

/// Field or member `field` of a place.
pub(crate) fn field_of(place: Place, field: usize) -> Option<Place> {
    match place {
        Place::Tuple(mut items) => (field < items.len()).then(|| items.swap_remove(field)),
        Place::Header(header) => header.field(field),
        Place::Union(mut members) => (field < members.len()).then(|| Place::Header(members.swap_remove(field))),
        Place::Choice { index, items } => {
            let items = items.into_iter().map(|item| field_of(item, field)).collect::<Option<_>>()?;
            Some(Place::Choice { index, items })
        }
        _ => None,
    }
}
