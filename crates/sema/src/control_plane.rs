//! Control-plane names: the string of `@name("...")`, or otherwise the name in the program.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::walk::for_each_call;
use base::ordered::Entry;
use base::{OrderedMap, Span};
use std::rc::Rc;
use syntax::ast::{Annotation, Expr, ExprKind};

/// The name spaces of control-plane names: their name in messages, and the type of an extern object.
pub(crate) type Kind = (&'static str, Option<ExternId>);

/// A parser or control that is applied, or that applies others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Applied {
    Parser(ParserId),
    Control(ControlId),
}

impl Applied {
    /// The parser or control of this type.
    fn of_type(ty: &Type) -> Option<Applied> {
        match ty {
            Type::Parser(id, _) => Some(Applied::Parser(*id)),
            Type::Control(id, _) => Some(Applied::Control(*id)),
            _ => None,
        }
    }
}

/// A declaration of a parser or control that has a control-plane name.
pub(crate) struct Named<'h> {
    pub kind: Kind,
    /// The name in the program.
    pub name: &'h Rc<str>,
    pub annotations: &'h [Annotation],
    pub span: Span,
}

impl Program {
    /// The control-plane name of a declaration; none for variables and constants.
    pub(crate) fn named(&self, local: &Local) -> Option<Named<'_>> {
        let (kind, name, annotations, span) = match local {
            Local::Table(id) => {
                let it = &self.tables[*id];
                (("table", None), &it.name, &it.annotations, it.span)
            }
            Local::Action(id) => {
                let it = &self.actions[*id];
                (("action", None), &it.name, &it.annotations, it.span)
            }
            Local::Instance(id) => {
                let it = &self.instances[*id];
                let object = match it.ty {
                    Type::Extern(object, _) => Some(object),
                    _ => None,
                };
                (("instance", object), &it.name, &it.annotations, it.span)
            }
            Local::ValueSet(id) => {
                let it = &self.value_sets[*id];
                (("value set", None), &it.name, &it.annotations, it.span)
            }
            Local::Var(..) | Local::Const(..) => return None,
        };
        Some(Named { kind, name, annotations, span })
    }
}

impl Checker<'_> {
    /// Reports two declarations of one kind in the same parser or control that have the same control-plane name. Only
    /// `@name` can cause that, because the names in the program differ.
    pub(crate) fn check_control_plane_names(&mut self, locals: &[Local]) {
        let mut seen: OrderedMap<(Kind, Rc<str>), Span> = OrderedMap::new();
        let mut numbered = Vec::new();
        for local in locals {
            let Some(Named { kind, name, annotations, span }) = self.hir.named(local) else { continue };
            numbered.extend(given_id(annotations).map(|id| (kind, id, span)));
            let given = given_name(annotations);
            let known = given.map_or_else(|| name.clone(), Rc::from);
            // Actions may share a name, as in the reference compiler, until a P4Info is made, which rejects it:
            // programs translated from P4_14 have a copy of an action in each control, under its original name.
            if kind.0 == "action" {
                continue;
            }
            // A name with a leading dot is absolute, so it is unique in the whole program.
            let is_global = kind.0 == "table" && known.starts_with('.');
            let seen = if is_global { &mut self.global_names } else { &mut seen };
            match seen.get(&(kind, known.clone())) {
                // Two declarations with the same name in one scope have been reported already.
                Some(&first) if given.is_some() => {
                    self.report(d::duplicate_control_plane_name(span, &known, kind.0, first))
                }
                Some(_) => {}
                None => {
                    seen.insert((kind, known), span);
                }
            }
        }
        for (kind, id, span) in numbered {
            self.check_id(kind, id, span);
        }
    }

    /// Reports the second direct application of a parser or control with objects of the control plane in the same
    /// parser or control: each application makes an instance, and all of them have the name of the type.
    pub(crate) fn check_applied_once(&mut self, ty: &Type, span: Span) {
        let owner = match (self.open_parsers.last(), self.open_controls.last()) {
            (Some(id), _) => Applied::Parser(*id),
            (None, Some(id)) => Applied::Control(*id),
            (None, None) => return,
        };
        let Some(applied) = Applied::of_type(ty).filter(|_| self.has_control_plane_object(ty)) else { return };
        self.applying_controlled.insert(owner);
        match self.directly_applied.entry((owner, applied)) {
            Entry::Occupied(first) => {
                let (name, first) = (self.hir.show_type(ty), *first.get());
                self.report(d::applied_twice(span, &name, first));
            }
            Entry::Vacant(place) => drop(place.insert(span)),
        }
    }

    /// Whether a parser or control has tables, value sets or extern objects, also in the instances inside it.
    fn has_control_plane_object(&self, ty: &Type) -> bool {
        let locals = match ty {
            Type::Extern(..) => return true,
            Type::Parser(id, _) => &self.hir.parsers[*id].locals,
            Type::Control(id, _) => &self.hir.controls[*id].locals,
            _ => return false,
        };
        let is_object = |local: &Local| match local {
            Local::Table(_) | Local::ValueSet(_) => true,
            Local::Instance(id) => self.has_control_plane_object(&self.hir.instances[*id].ty),
            Local::Action(_) | Local::Var(..) | Local::Const(..) => false,
        };
        locals.iter().any(is_object) || Applied::of_type(ty).is_some_and(|it| self.applying_controlled.contains(&it))
    }

    /// Reports another declaration of this kind, anywhere in the program, with the same `@id(...)`.
    fn check_id(&mut self, kind: Kind, id: String, span: Span) {
        // The key begins with `@`, so that ids do not collide with names.
        let key = (kind, Rc::from(format!("@id({id})")));
        match self.global_names.get(&key) {
            Some(&first) => self.report(d::duplicate_control_plane_id(span, &id, kind.0, first)),
            None => {
                self.global_names.insert(key, span);
            }
        }
    }

    /// The same for the keys of a table. A repeated key without a `@name` gets a `$` after its name, as in P4_14,
    /// because the reference compiler accepts such tables. Controllers do not see a selector's hash inputs.
    pub(crate) fn check_key_names(&mut self, keys: &mut [TableKey]) {
        let mut seen: OrderedMap<Rc<str>, (Span, bool)> = OrderedMap::new();
        let is_hashed =
            |key: &TableKey| self.hir.match_kinds.get(key.match_kind).is_some_and(|kind| &**kind == "selector");
        let hashed: Vec<bool> = keys.iter().map(is_hashed).collect();
        for (key, _) in keys.iter_mut().zip(hashed).filter(|(_, is_hashed)| !is_hashed) {
            let is_given = given_name(&key.annotations).is_some();
            let mut earlier = None;
            while let Some(&(first, first_is_given)) = seen.get(&key.name) {
                if is_given || first_is_given {
                    self.report(d::duplicate_control_plane_name(key.span, &key.name, "key", first));
                    earlier = None;
                    break;
                }
                earlier = earlier.or(Some(first));
                key.name = format!("{}$", key.name).into();
            }
            if let Some(first) = earlier {
                self.warn("duplicate", d::repeated_key(key.span, &key.name, first));
            }
            seen.entry(key.name.clone()).or_insert((key.span, is_given));
        }
    }
}

/// The name of the digest that a call of v1model's `digest` sends: that of its struct. Unnamed ones are numbered in
/// source order.
pub fn digest_name(program: &Program, call: &Call, ty: &Type) -> String {
    if let Type::Struct(id, _) = ty {
        let declaration = &program.structs[*id];
        let name = given_name(&declaration.annotations).unwrap_or(&declaration.name);
        return name.strip_prefix('.').unwrap_or(name).to_owned();
    }
    let mut unnamed: Vec<(Span, *const Call)> = Vec::new();
    let mut note = |e: &crate::hir::Expr, other: &Call| {
        let is_digest = matches!(&other.callee, Callee::Function(id) if &*program.functions[*id].name == "digest");
        if is_digest && !matches!(other.type_args.first(), Some(Type::Struct(..))) {
            unnamed.push((e.span, other));
        }
    };
    program.actions.iter().for_each(|action| for_each_call(&action.body.stmts, &mut note));
    program.controls.iter().for_each(|control| for_each_call(&control.body.stmts, &mut note));
    unnamed.sort_by_key(|(span, _)| span.lo);
    let position = unnamed.iter().position(|(_, other)| std::ptr::eq(*other, call)).unwrap_or(0);
    format!("digest_{position}")
}

/// The string of `@name`.
pub(crate) fn given_name(annotations: &[Annotation]) -> Option<&str> {
    let annotation = annotations.iter().find(|annotation| annotation.name.as_str() == "name")?;
    annotation.single_string()
}

/// The number of `@id`, if it is one.
fn given_id(annotations: &[Annotation]) -> Option<String> {
    let annotation = annotations.iter().find(|annotation| annotation.name.as_str() == "id")?;
    match annotation.expressions()? {
        [Expr { kind: ExprKind::Integer(number), .. }] => Some(number.value.to_string()),
        _ => None,
    }
}
