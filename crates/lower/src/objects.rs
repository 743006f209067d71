//! The tree of instances: each declaration makes one object for each instance of the parser, control or package around
//! it.

use crate::externs::{ExternKind, ExternObject};
use crate::names::{find, full_name};
use crate::places::Binding;
use crate::values::Value;
use crate::{Lowered, Lowerer};
use base::{OrderedSet, Span, entity_id};
use sema::hir::{self, Expr, ExprKind, Type};

entity_id! {
    /// An instance.
    pub struct ObjectId = "object";
}

/// An instance.
#[derive(Debug)]
pub(crate) struct Object {
    /// Control-plane path; empty for the outermost scope.
    pub name: String,
    pub kind: ObjectKind,
}

/// The declaration that it is an instance of.
#[derive(Debug)]
pub(crate) enum ObjectKind {
    /// The outermost scope.
    Root,
    Control {
        control: hir::ControlId,
        type_args: Vec<Type>,
        args: Vec<Option<Value>>,
        /// The bindings of its parameters at its first application, if it has tables.
        first: Option<Vec<Binding>>,
    },
    Parser {
        parser: hir::ParserId,
        type_args: Vec<Type>,
        args: Vec<Option<Value>>,
    },
    Extern(ExternObject),
}

impl Object {
    /// The outermost scope.
    pub fn root() -> Object {
        Object { name: String::new(), kind: ObjectKind::Root }
    }
}

impl<'h> Lowerer<'h> {
    /// The object of an instance that is declared in the current object, or in the outermost scope.
    pub fn instance(&mut self, id: hir::InstanceId, span: Span) -> Lowered<ObjectId> {
        let root = <ObjectId as base::index::Id>::from_index(0);
        let owner = if self.memo.top_instances.contains(&id) { root } else { self.object };
        if let Some(object) = self.memo.instances.get(&(owner, id)) {
            return Ok(*object);
        }
        let declaration = &self.hir.instances[id];
        let name = full_name(&self.objects[owner].name, &declaration.name, &declaration.annotations);
        let made = (&declaration.ty, declaration.constructor, &declaration.args[..]);
        let object = self.nested(span, |l| l.make(name, made, declaration.span))?;
        if let ObjectKind::Extern(made) = &mut self.objects[object].kind {
            made.is_attached = self.memo.attached.contains(&id);
            if let ExternKind::Register(register) = made.kind {
                self.ir.registers[register].is_start_number = find(&declaration.annotations, "start_number").is_some();
            }
        }
        if !declaration.methods.is_empty() {
            self.externs.implemented.insert(object, (owner, id));
        }
        self.memo.instances.insert((owner, id), object);
        Ok(object)
    }

    /// The object of an instance that is made where it is used; its name is its type's.
    pub fn construct(&mut self, expr: &'h Expr, constructor: usize, args: &'h [Option<Expr>]) -> Lowered<ObjectId> {
        let type_name = match &expr.ty {
            Type::Extern(id, _) => self.hir.externs[*id].name.clone(),
            Type::Control(id, _) => self.hir.controls[*id].name.clone(),
            Type::Parser(id, _) => self.hir.parsers[*id].name.clone(),
            _ => return self.unsupported(expr.span, "an instance of this type here"),
        };
        let name = full_name(&self.objects[self.object].name, &type_name, &[]);
        self.make(name, (&expr.ty, constructor, args), expr.span)
    }

    /// The object of an instance that is made as an argument: it has the parameter's name.
    fn construct_argument(&mut self, arg: &'h Expr, owner: &str, param: Option<hir::VarId>) -> Lowered<Value> {
        let (ExprKind::Construct { constructor, args }, Some(param)) = (&arg.kind, param) else {
            return self.eval(arg);
        };
        let param = &self.hir.vars[param];
        let name = full_name(owner, &param.name, &param.annotations);
        Ok(Value::Object(self.nested(arg.span, |l| l.make(name, (&arg.ty, *constructor, args), arg.span))?))
    }

    fn make(
        &mut self,
        name: String,
        (ty, constructor, args): (&Type, usize, &'h [Option<Expr>]),
        span: Span,
    ) -> Lowered<ObjectId> {
        let params = match ty {
            Type::Control(id, _) => &self.hir.controls[*id].constructor_params[..],
            Type::Parser(id, _) => &self.hir.parsers[*id].constructor_params[..],
            _ => &[],
        };
        let mut values = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            values.push(match arg {
                Some(arg) => Some(self.construct_argument(arg, &name, params.get(position).copied())?),
                None => None,
            });
        }
        let kind = match self.resolve(ty) {
            Type::Control(control, type_args) => ObjectKind::Control { control, type_args, args: values, first: None },
            Type::Parser(parser, type_args) => ObjectKind::Parser { parser, type_args, args: values },
            Type::Extern(id, type_args) => {
                let made = crate::externs::Construction { id, type_args, constructor, args: values, span };
                ObjectKind::Extern(self.construct_extern(made, &name)?)
            }
            _ => return self.unsupported(span, "an instance of this type"),
        };
        Ok(self.objects.push(Object { name, kind }))
    }

    /// The object that an expression denotes.
    pub fn eval_object(&mut self, expr: &'h Expr) -> Lowered<ObjectId> {
        match self.eval(expr)? {
            Value::Object(object) => Ok(object),
            _ => self.unsupported(expr.span, "this object"),
        }
    }

    /// Binds constructor parameters and type parameters for the code of an instance.
    pub fn enter(&mut self, params: &[hir::VarId], args: &[Option<Value>]) {
        for (param, arg) in params.iter().zip(args) {
            match arg {
                Some(value) => {
                    self.env.insert(*param, Binding::Value(value.clone()));
                }
                None => {
                    self.env.remove(param);
                }
            }
        }
    }

    /// The declarations of a parser or control.
    pub fn declare_locals(&mut self, locals: &'h [hir::Local]) -> Lowered<()> {
        for local in locals {
            self.lower_local(local)?;
        }
        Ok(())
    }
}

/// The instances that are properties of tables.
pub(crate) fn attached(program: &hir::Program) -> OrderedSet<hir::InstanceId> {
    let properties = program.tables.iter().flat_map(|table| &table.properties);
    let instance = |value: &Expr| match value.kind {
        ExprKind::Instance(id) => Some(id),
        _ => None,
    };
    properties.flat_map(|property| listed(&property.value)).filter_map(instance).collect()
}

/// The values of a table's property: the items of a list, or the single value.
pub(crate) fn listed(value: &Expr) -> Vec<&Expr> {
    match &value.kind {
        ExprKind::Aggregate(items) => items.iter().flatten().collect(),
        ExprKind::Cast(inner) => listed(inner),
        _ => vec![value],
    }
}
