//! Names that the control plane knows things by: `@name("...")`, or else the name in the program.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::walk::for_each_call;
use base::Span;
use std::collections::BTreeMap;
use std::rc::Rc;
use syntax::ast::{Annotation, Expr, ExprKind};

/// What is listed apart from other things, so that names may be repeated: its name, and the type of an extern object.
pub(crate) type Kind = (&'static str, Option<ExternId>);

/// Something that a parser or control declares and that the control plane has a name for.
pub(crate) struct Named<'h> {
    pub kind: Kind,
    /// The name in the program.
    pub name: &'h Rc<str>,
    pub annotations: &'h [Annotation],
    pub span: Span,
}

impl Program {
    /// What the control plane has a name for; none for variables and constants.
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
    /// Complains if two things of one kind, in one parser or control, have the same name for the control plane. Only
    /// `@name` can do that: the names in the program differ.
    pub(crate) fn check_control_plane_names(&mut self, locals: &[Local]) {
        let mut seen: BTreeMap<(Kind, Rc<str>), Span> = BTreeMap::new();
        let mut numbered = Vec::new();
        for local in locals {
            let Some(Named { kind, name, annotations, span }) = self.hir.named(local) else { continue };
            numbered.extend(given_id(annotations).map(|id| (kind, id, span)));
            let given = given_name(annotations);
            let known = given.map_or_else(|| name.clone(), Rc::from);
            // Actions may share a name, as the reference compiler has it, and where a P4Info is made of the program
            // that is refused: programs translated from P4_14 have a copy of an action in each control, under its old
            // name.
            if kind.0 == "action" {
                continue;
            }
            // A name with a dot in front is that of the whole program.
            let is_global = kind.0 == "table" && known.starts_with('.');
            let seen = if is_global { &mut self.global_names } else { &mut seen };
            match seen.get(&(kind, known.clone())) {
                // Two of one name have been reported where they are declared.
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

    /// Complains if another thing of this kind, anywhere in the program, has the same `@id(...)`.
    fn check_id(&mut self, kind: Kind, id: String, span: Span) {
        // A number cannot begin with this sign, so that the ids do not meet the names.
        let key = (kind, Rc::from(format!("@id({id})")));
        match self.global_names.get(&key) {
            Some(&first) => self.report(d::duplicate_control_plane_id(span, &id, kind.0, first)),
            None => {
                self.global_names.insert(key, span);
            }
        }
    }

    /// The same for the keys of a table. One that is there twice without a `@name` gets a `$` behind its name, as
    /// those of P4_14 do: the reference compiler takes such tables. What a selector hashes is no key for controllers.
    pub(crate) fn check_key_names(&mut self, keys: &mut [TableKey]) {
        let mut seen: BTreeMap<Rc<str>, (Span, bool)> = BTreeMap::new();
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

/// The name of the digest that a call of v1model's `digest` sends: that of the struct that it tells. What has no name
/// is numbered in the order of the program.
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

/// What `@name` says.
pub(crate) fn given_name(annotations: &[Annotation]) -> Option<&str> {
    let annotation = annotations.iter().find(|annotation| annotation.name.as_str() == "name")?;
    annotation.single_string()
}

/// What `@id` says, as far as it is a number.
fn given_id(annotations: &[Annotation]) -> Option<String> {
    let annotation = annotations.iter().find(|annotation| annotation.name.as_str() == "id")?;
    match annotation.expressions()? {
        [Expr { kind: ExprKind::Integer(number), .. }] => Some(number.value.to_string()),
        _ => None,
    }
}
