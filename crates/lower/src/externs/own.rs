//! A program's own extern functions and objects, which a plug-in implements.
//!
//! What enters: a call. What leaves: an [`ir::StmtKind::CallExtern`] with scalars: structs, headers and arrays are
//! flattened to their fields, a header's validity before them. A function or object is added to the program when it is
//! first used, so that a declaration alone needs no plug-in.
//!
//! Names in the plug-in: a function has its P4 name, a method `Type_method`, a constructor `Type_new`. Type arguments
//! follow (`f_bit32`), and the number of parameters where several have one name (`f_2`).
//!
//! Methods that are written in P4, in the initializer of an instance, are inlined like functions.

use super::{Construction, ExternKind, ExternObject};
use crate::inline::Argument;
use crate::names::find;
use crate::objects::{ObjectId, ObjectKind};
use crate::places::{HeaderPlace, Place};
use crate::values::{HeaderKind, HeaderValue, Value, number, zero};
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::limits::WIDTH_BITS_MAX;
use base::{Bits, OrderedMap, Span};
use ir::{ExternDirection, ExternFunctionKind, ExternType, StmtKind};
use sema::hir::{self, Call, Type};
use syntax::ast::{Annotation, Direction};

/// The type in which an `int`, which has no width, is passed.
const INTEGER: ir::Type = ir::Type::Int(64);

/// An object of an extern type that no architecture knows.
pub(crate) struct OwnObject {
    made: Construction,
    /// Its control-plane name.
    name: String,
    /// Set once a method of the plug-in is called.
    instance: Option<ir::ExternInstanceId>,
}

/// The bindings of type parameters.
type Substitution = Vec<(hir::TypeParamId, Type)>;

/// The declaration: a function, a method or a constructor.
struct Signature<'h> {
    symbol: String,
    kind: ExternFunctionKind,
    params: &'h [hir::VarId],
    annotations: &'h [Annotation],
    span: Span,
    substitution: Substitution,
}

/// The inputs and outputs of a call while it is built.
#[derive(Default)]
struct Passed {
    params: Vec<ir::ExternParam>,
    inputs: Vec<ir::Expr>,
    /// The outputs: types, and places in temporaries.
    outputs: Vec<(ir::Type, Leaf)>,
    /// The copies to the caller after the call: parameter, target, source.
    copies: Vec<(hir::VarId, Place, Place)>,
}

/// A scalar of a place.
enum Leaf {
    /// A scalar that can be assigned to.
    Scalar(ir::Place),
    /// A header's validity.
    Validity(HeaderPlace),
}

impl<'h> Lowerer<'h> {
    /// Makes an object of the program's own.
    pub(super) fn construct_own(&mut self, made: Construction, name: &str) -> ExternObject {
        let id = made.id;
        self.externs.own.push(OwnObject { made, name: name.to_owned(), instance: None });
        ExternObject { id, kind: ExternKind::Own(self.externs.own.len() - 1), is_attached: false }
    }

    /// Calls an extern function of the program's own.
    pub(super) fn call_own_function(
        &mut self,
        id: hir::FunctionId,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Value> {
        let function = &self.hir.functions[id];
        let types: Vec<Type> = call.type_args.iter().map(|ty| self.resolve(ty)).collect();
        let alike = self.hir.functions.iter().filter(|it| it.body.is_none() && it.name == function.name).count();
        let symbol = format!("{}{}", function.name, self.type_suffix(&types));
        let signature = Signature {
            symbol: with_count(symbol, alike, function.params.len()),
            kind: ExternFunctionKind::Function,
            params: &function.params,
            annotations: &function.annotations,
            span: function.span,
            substitution: function.type_params.iter().copied().zip(types).collect(),
        };
        self.call_plug_in(signature, None, call, ty, span)
    }

    /// Calls a method of an object of the program's own: written in P4, or the plug-in's.
    pub(super) fn call_own_method(
        &mut self,
        object: ObjectId,
        position: usize,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Value> {
        let ObjectKind::Extern(ExternObject { id, kind: ExternKind::Own(own), .. }) = self.objects[object].kind else {
            return Err(Refused);
        };
        if let Some((owner, function)) = self.written_method(object, position) {
            let outer = (self.object, self.externs.this.replace(object));
            self.object = owner;
            let result = self.call_function(function, call, span);
            (self.object, self.externs.this) = outer;
            return result;
        }
        let owner = &self.hir.externs[id];
        let method = owner.methods.get(position).ok_or(Refused)?;
        let instance = self.own_instance(own)?;
        let own_types = self.externs.own[own].made.type_args.clone();
        let types: Vec<Type> = call.type_args.iter().map(|ty| self.resolve(ty)).collect();
        let alike = owner.methods.iter().filter(|it| it.name == method.name).count();
        let (own_suffix, suffix) = (self.type_suffix(&own_types), self.type_suffix(&types));
        let symbol = format!("{}{own_suffix}_{}{suffix}", owner.name, method.name);
        let own_types = owner.type_params.iter().copied().zip(own_types);
        let signature = Signature {
            symbol: with_count(symbol, alike, method.params.len()),
            kind: ExternFunctionKind::Method,
            params: &method.params,
            annotations: &method.annotations,
            span: method.span,
            substitution: own_types.chain(method.type_params.iter().copied().zip(types)).collect(),
        };
        self.call_plug_in(signature, Some(instance), call, ty, span)
    }

    /// The function that implements a method in P4, and the object in whose code it is declared.
    fn written_method(&self, object: ObjectId, position: usize) -> Option<(ObjectId, hir::FunctionId)> {
        let (owner, instance) = *self.externs.implemented.get(&object)?;
        let methods = &self.hir.instances[instance].methods;
        methods.iter().find(|(method, _)| *method == position).map(|(_, function)| (owner, *function))
    }

    /// The plug-in's object.
    fn own_instance(&mut self, own: usize) -> Lowered<ir::ExternInstanceId> {
        let object = &self.externs.own[own];
        if let Some(instance) = object.instance {
            return Ok(instance);
        }
        let (id, which, span) = (object.made.id, object.made.constructor, object.made.span);
        let (types, args, name) = (object.made.type_args.clone(), object.made.args.clone(), object.name.clone());
        let owner = &self.hir.externs[id];
        let params: &[hir::VarId] = owner.constructors.get(which).map_or(&[], Vec::as_slice);
        let symbol = format!("{}{}_new", owner.name, self.type_suffix(&types));
        let signature = Signature {
            symbol: with_count(symbol, owner.constructors.len(), params.len()),
            kind: ExternFunctionKind::Constructor,
            params,
            annotations: &owner.annotations,
            span: owner.span,
            substitution: owner.type_params.iter().copied().zip(types).collect(),
        };
        let args = (0..params.len()).map(|position| args.get(position).cloned().flatten());
        let args = args.map(|value| Argument::Value(value.unwrap_or(Value::Void))).collect();
        let passed = self.pass_all(&signature, args, span)?;
        let constant = |input: &ir::Expr| input.as_const().cloned();
        let Some(args) = passed.inputs.iter().map(constant).collect::<Option<Vec<Bits>>>() else {
            return self.refuse(codes::NOT_CONSTANT, span, "an object is made from what is known at compile time");
        };
        let constructor = self.extern_function(&signature, passed.params, None);
        let instance = self.ir.extern_instances.push(ir::ExternInstance { name, constructor, args });
        self.externs.own[own].instance = Some(instance);
        Ok(instance)
    }

    /// Builds a call and emits it.
    fn call_plug_in(
        &mut self,
        signature: Signature<'h>,
        instance: Option<ir::ExternInstanceId>,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Value> {
        // Named arguments are evaluated, and copied out, in the order of the source; the function takes them in the
        // order of its declaration.
        let (written, args) = self.eval_written(signature.params, call)?;
        let position_written = |param: &hir::VarId| written.iter().position(|it| it == param);
        let mut args: Vec<(hir::VarId, Argument)> = written.iter().copied().zip(args).collect();
        args.sort_by_key(|(param, _)| signature.params.iter().position(|it| it == param));
        let args = args.into_iter().map(|(_, arg)| arg).collect();
        let returned = self.resolve(ty);
        let mut passed = self.pass_all(&signature, args, span)?;
        let (result, value) = match returned {
            Type::Void => (None, None),
            _ => self.result(&returned, &mut passed, span)?,
        };
        let Passed { params, inputs, outputs, mut copies } = passed;
        copies.sort_by_key(|(param, ..)| position_written(param));
        let width: u64 = outputs.iter().map(|(ty, _)| u64::from(ty.width())).sum();
        if width > u64::from(WIDTH_BITS_MAX) {
            let message = format!("the call gives {width} bits, more than the {WIDTH_BITS_MAX} that it may");
            return self.refuse(codes::LIMIT, span, message);
        }
        let function = self.extern_function(&signature, params, result);
        let joined = if width > 0 { Some(self.temporary(ir::Type::Bit(width as u32), span)?) } else { None };
        let dst = joined.map(ir::Place::Var);
        self.emit(StmtKind::CallExtern { dst, function, instance, inputs }, span);
        if let Some(joined) = joined {
            let joined = self.read_var(joined);
            self.take_outputs(&outputs, &joined, span);
        }
        for (_, target, source) in &copies {
            let value = self.read(source);
            self.assign(target, value, span)?;
        }
        Ok(value.map_or(Value::Void, |place| self.read(&place)))
    }

    /// The place of the result: C returns a scalar of at most 64 bits, and anything else by parameters at the end.
    fn result(&mut self, ty: &Type, passed: &mut Passed, span: Span) -> Lowered<(Option<ir::Type>, Option<Place>)> {
        let place = self.temporary_place(ty, span)?;
        let before = passed.outputs.len();
        self.outputs("result", &place, ty, (passed, ExternDirection::Out), span)?;
        let result = match passed.outputs[before..] {
            [(ty, Leaf::Scalar(_))] if ty.width() <= 64 => Some(ty),
            _ => None,
        };
        if result.is_some() {
            passed.params.pop();
        }
        Ok((result, Some(place)))
    }

    /// All arguments.
    fn pass_all(&mut self, signature: &Signature<'h>, args: Vec<Argument>, span: Span) -> Lowered<Passed> {
        let mut types: OrderedMap<_, _> = self.types.clone();
        types.extend(signature.substitution.iter().cloned());
        let outer = std::mem::replace(&mut self.types, types);
        let mut passed = Passed::default();
        let mut pairs = signature.params.iter().zip(args);
        let done = pairs.try_for_each(|(param, arg)| self.pass(*param, arg, &mut passed, span));
        self.types = outer;
        done.map(|()| passed)
    }

    fn pass(&mut self, param: hir::VarId, arg: Argument, passed: &mut Passed, span: Span) -> Lowered<()> {
        let declared = &self.hir.vars[param];
        let (name, ty) = (declared.name.to_string(), self.resolve(&declared.ty));
        match arg {
            Argument::Value(value) => self.inputs(&name, value, &ty, passed, span),
            Argument::Missing(Direction::None | Direction::In) => self.inputs(&name, Value::Void, &ty, passed, span),
            Argument::Missing(_) => {
                let place = self.temporary_place(&ty, span)?;
                self.outputs(&name, &place, &ty, (passed, ExternDirection::Out), span)
            }
            Argument::Place(place, direction) => {
                let target = self.pin(place, span)?;
                if direction == Direction::InOut {
                    let value = self.load(&target, span)?;
                    return self.pass(param, Argument::Kept(target, value), passed, span);
                }
                let own = self.temporary_place(&ty, span)?;
                passed.copies.push((param, target, own.clone()));
                self.outputs(&name, &own, &ty, (passed, ExternDirection::Out), span)
            }
            Argument::Kept(target, value) => {
                let own = self.temporary_place(&ty, span)?;
                self.assign(&own, value, span)?;
                passed.copies.push((param, target, own.clone()));
                self.outputs(&name, &own, &ty, (passed, ExternDirection::InOut), span)
            }
        }
    }

    /// An `in` argument. `Void` is an omitted argument.
    fn inputs(&mut self, name: &str, value: Value, ty: &Type, passed: &mut Passed, span: Span) -> Lowered<()> {
        let direction = ExternDirection::In;
        let mut push = |ty| passed.params.push(ir::ExternParam { name: name.to_owned(), direction, ty });
        match (ty, value) {
            (_, Value::String(text)) => push(ExternType::Text(text.to_string())),
            (Type::String, _) => push(ExternType::Text(String::new())),
            (Type::Integer, value) => {
                push(ExternType::Value(INTEGER));
                passed.inputs.push(match value {
                    Value::Integer(value) => number(INTEGER, &value),
                    _ => zero(INTEGER),
                });
            }
            // The packet and the objects of the architecture are not passed to plug-ins.
            (_, Value::Object(object)) => {
                if let ObjectKind::Extern(ExternObject { kind: ExternKind::Own(own), .. }) = self.objects[object].kind {
                    push(ExternType::Object(self.own_instance(own)?));
                }
            }
            (Type::Extern(..), _) => {}
            (_, value) => {
                let value = if value == Value::Void { self.default_value(ty, span)? } else { value };
                let value = self.convert(value, ty, span)?;
                self.flatten(name, &value, ty, passed, span)?;
            }
        }
        Ok(())
    }

    /// A value's scalars, as inputs.
    fn flatten(&mut self, name: &str, value: &Value, ty: &Type, passed: &mut Passed, span: Span) -> Lowered<()> {
        let mut push = |name: String, value: ir::Expr| {
            let ty = ExternType::Value(value.ty);
            passed.params.push(ir::ExternParam { name, direction: ExternDirection::In, ty });
            passed.inputs.push(value);
        };
        let parts: Vec<Value> = match value {
            Value::Scalar(expr) => {
                push(name.to_owned(), expr.clone());
                return Ok(());
            }
            Value::Header(header) => {
                push(format!("{name}_valid"), header.is_valid());
                (0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect()
            }
            Value::Union(members) => members.iter().map(|it: &HeaderValue| Value::Header(it.clone())).collect(),
            Value::Tuple(_) | Value::Stack(_) => self.elements(value, span)?,
            _ => return self.unsupported(span, "passing a value of this type to a plug-in"),
        };
        let types = self.parts_of(ty, parts.len(), span)?;
        for (part, (field, ty)) in parts.iter().zip(&types) {
            self.nested(span, |l| l.flatten(&format!("{name}_{field}"), part, ty, passed, span))?;
        }
        Ok(())
    }

    /// Names and types of the scalars of a type.
    fn parts_of(&mut self, ty: &Type, count: usize, span: Span) -> Lowered<Vec<(String, Type)>> {
        let ty = self.resolve(ty);
        match &ty {
            Type::Struct(id, args) => {
                let fields = self.field_types(*id, args);
                Ok(fields.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect())
            }
            Type::Tuple(items) => {
                Ok(items.iter().enumerate().map(|(position, ty)| (position.to_string(), ty.clone())).collect())
            }
            Type::Array(item, _) | Type::List(item) => {
                Ok((0..count).map(|position| (position.to_string(), (**item).clone())).collect())
            }
            Type::NewType(id) => {
                let target = self.hir.new_types[*id].target.clone();
                self.nested(span, |l| l.parts_of(&target, count, span))
            }
            _ => self.unsupported(span, "passing a value of this type to a plug-in"),
        }
    }

    /// The scalars of a temporary, as outputs, and as inputs too if the direction is `inout`.
    fn outputs(
        &mut self,
        name: &str,
        place: &Place,
        ty: &Type,
        (passed, direction): (&mut Passed, ExternDirection),
        span: Span,
    ) -> Lowered<()> {
        let mut push = |name: String, leaf: Leaf, value: ir::Expr| {
            passed.params.push(ir::ExternParam { name, direction, ty: ExternType::Value(value.ty) });
            passed.outputs.push((value.ty, leaf));
            if direction == ExternDirection::InOut {
                passed.inputs.push(value);
            }
        };
        let parts: Vec<Place> = match place {
            Place::Scalar { place, .. } => {
                push(name.to_owned(), Leaf::Scalar(place.clone()), self.read_ir_place(place));
                return Ok(());
            }
            Place::Header(header) => {
                let kind = HeaderKind::Ref(header.header.clone());
                let value = HeaderValue { shape: header.shape.clone(), kind };
                push(format!("{name}_valid"), Leaf::Validity(header.clone()), value.is_valid());
                (0..header.shape.fields.len()).filter_map(|field| header.field(field)).collect()
            }
            Place::Union(members) => members.iter().cloned().map(Place::Header).collect(),
            Place::Tuple(items) => items.clone(),
            Place::Stack(stack) => (0..stack.size).map(|at| stack.at_position(&self.ir, at)).collect(),
            _ => return self.unsupported(span, "getting a value of this type from a plug-in"),
        };
        let types = self.parts_of(ty, parts.len(), span)?;
        for (part, (field, ty)) in parts.iter().zip(&types) {
            let name = format!("{name}_{field}");
            self.nested(span, |l| l.outputs(&name, part, ty, (&mut *passed, direction), span))?;
        }
        Ok(())
    }

    /// Splits the concatenated outputs: the first is the most significant.
    fn take_outputs(&mut self, outputs: &[(ir::Type, Leaf)], joined: &ir::Expr, span: Span) {
        let mut above = joined.ty.width();
        for (ty, leaf) in outputs {
            let low = above - ty.width();
            let value = fold::cast(*ty, fold::slice(joined.clone(), above - 1, low));
            above = low;
            match leaf {
                Leaf::Scalar(place) => self.emit(StmtKind::Assign { dst: place.clone(), src: value }, span),
                Leaf::Validity(header) => {
                    let body = |kind| vec![ir::Stmt { kind, span }];
                    let valid = body(StmtKind::SetValid(header.header.clone()));
                    let invalid = body(StmtKind::SetInvalid(header.header.clone()));
                    self.emit_if(value, valid, invalid, span);
                }
            }
        }
    }

    /// The function in the program; calls with the same types share one.
    fn extern_function(
        &mut self,
        signature: &Signature<'h>,
        params: Vec<ir::ExternParam>,
        result: Option<ir::Type>,
    ) -> ir::ExternFunctionId {
        let is_pure = ["pure", "noSideEffects"].iter().any(|name| find(signature.annotations, name).is_some());
        let (symbol, kind, span) = (signature.symbol.clone(), signature.kind, signature.span);
        let function = ir::ExternFunction { symbol, kind, params, result, is_pure, span };
        let known = self.ir.extern_functions.iter_enumerated().find(|(_, known)| **known == function);
        match known.map(|(id, _)| id) {
            Some(id) => id,
            None => self.ir.extern_functions.push(function),
        }
    }

    /// The suffix of a name for type arguments.
    fn type_suffix(&self, types: &[Type]) -> String {
        let word = |ty: &Type| {
            let shown = self.hir.show_type(ty);
            shown.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '_').collect::<String>()
        };
        types.iter().map(|ty| format!("_{}", word(ty))).collect()
    }
}

/// The name, with the number of parameters if it is not the only one.
fn with_count(symbol: String, alike: usize, count: usize) -> String {
    if alike > 1 { format!("{symbol}_{count}") } else { symbol }
}
