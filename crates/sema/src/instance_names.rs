//! The names of tables and actions across all instances of a program.
//!
//! What enters: the checked program with a `main`. What leaves: an error for each table or action whose full name
//! another one has. `control_plane` compares the names in one declaration; only the instances show the others: a name
//! with a leading dot is the same in every instance, and `@name("inner.t")` may be the name of a table in the instance
//! `inner`.

use crate::checker::Checker;
use crate::control_plane::{Named, given_name};
use crate::diagnostics as d;
use crate::hir::*;
use base::{OrderedMap, OrderedSet, Span};
use std::rc::Rc;
use syntax::ast::Annotation;

/// The maximum number of instances that are visited. A program can have exponentially many of them; a later stage
/// rejects it.
const VISITS_MAX: usize = 1 << 14;

/// The maximum length of a path of instances.
const PATH_BYTES_MAX: usize = 1 << 12;

/// An instance to be visited.
struct Visit {
    /// Its full name.
    path: String,
    ty: Type,
    args: Vec<Option<Expr>>,
    /// The location of its creation.
    span: Span,
    /// Whether only names with a leading dot are compared: a second outermost instance of the same type has a path of
    /// its own, which is not computed here.
    only_absolute: bool,
}

/// The names seen so far, with the kind and location of their declarations.
type Seen = OrderedMap<(&'static str, String), Span>;

impl Checker<'_> {
    /// Reports tables and actions that have the same full name. Programs with errors are not checked.
    pub(crate) fn check_names_of_instances(&mut self) {
        let Some(main) = self.hir.main.filter(|_| self.error_count() == 0) else { return };
        let mut seen = Seen::new();
        let mut roots = OrderedSet::new();
        let mut pending = vec![self.visit_of(main, String::new())];
        for _ in 0..VISITS_MAX {
            let Some(visit) = pending.pop() else { return };
            let mut inner = match &visit.ty {
                Type::Apply(id, _) => self.blocks_of_package(*id, &visit.args, &mut roots),
                Type::Parser(id, _) => {
                    let parser = &self.hir.parsers[*id];
                    self.inner_visits(&visit, &parser.locals, &parser.constructor_params)
                }
                Type::Control(id, _) => {
                    self.check_names_in(&visit, *id, &mut seen);
                    let control = &self.hir.controls[*id];
                    self.inner_visits(&visit, &control.locals, &control.constructor_params)
                }
                _ => Vec::new(),
            };
            inner.retain(|visit| visit.path.len() <= PATH_BYTES_MAX);
            inner.reverse();
            pending.append(&mut inner);
        }
    }

    fn visit_of(&self, id: InstanceId, path: String) -> Visit {
        let it = &self.hir.instances[id];
        Visit { path, ty: it.ty.clone(), args: it.args.clone(), span: it.span, only_absolute: false }
    }

    /// The parsers, controls and packages among the arguments of a package. A block has the name of its type.
    fn blocks_of_package(&self, id: ApplyTypeId, args: &[Option<Expr>], roots: &mut OrderedSet<Rc<str>>) -> Vec<Visit> {
        let mut blocks = Vec::new();
        for (_, arg) in self.hir.apply_types[id].params.iter().zip(args) {
            let Some(arg) = arg else { continue };
            let mut visit = match &arg.kind {
                ExprKind::Instance(instance) => self.visit_of(*instance, String::new()),
                ExprKind::Construct { args, .. } => Visit {
                    path: String::new(),
                    ty: arg.ty.clone(),
                    args: args.clone(),
                    span: arg.span,
                    only_absolute: false,
                },
                _ => continue,
            };
            let name = match &visit.ty {
                Type::Parser(id, _) => Some(self.hir.parsers[*id].name.clone()),
                Type::Control(id, _) => Some(self.hir.controls[*id].name.clone()),
                _ => None,
            };
            if let Some(name) = name {
                visit.path = name.to_string();
                visit.only_absolute = !roots.insert(name);
            }
            blocks.push(visit);
        }
        blocks
    }

    /// The instances inside another one: those that it declares, and those that are made as its arguments.
    fn inner_visits(&self, outer: &Visit, locals: &[Local], params: &[VarId]) -> Vec<Visit> {
        let mut inner = Vec::new();
        for local in locals {
            let Local::Instance(id) = local else { continue };
            let it = &self.hir.instances[*id];
            inner.push(self.visit_of(*id, full_name(&outer.path, &it.name, &it.annotations)));
        }
        for (param, arg) in params.iter().zip(&outer.args) {
            let Some(Expr { kind: ExprKind::Construct { args, .. }, ty, span }) = arg else { continue };
            let path = full_name(&outer.path, &self.hir.vars[*param].name, &[]);
            inner.push(Visit { path, ty: ty.clone(), args: args.clone(), span: *span, only_absolute: false });
        }
        inner.iter_mut().for_each(|visit| visit.only_absolute |= outer.only_absolute);
        inner
    }

    /// Whether an action that is declared there belongs to the control.
    fn is_action_of(&self, control: ControlId, declared: Span) -> bool {
        let is_it = |local: &Local| matches!(local, Local::Action(id) if self.hir.actions[*id].span == declared);
        self.hir.controls[control].locals.iter().any(is_it)
    }

    fn check_names_in(&mut self, visit: &Visit, id: ControlId, seen: &mut Seen) {
        let mut clashes = Vec::new();
        for local in &self.hir.controls[id].locals {
            let Some(Named { kind: (kind @ ("table" | "action"), _), name, annotations, span }) = self.hir.named(local)
            else {
                continue;
            };
            let is_absolute = given_name(annotations).is_some_and(|name| name.starts_with('.'));
            let is_hidden = annotations.iter().any(|annotation| annotation.name.as_str() == "hidden");
            // Programs translated from P4_14 have a copy of an action in each control, under its original name.
            let is_copied = kind == "action" && is_absolute;
            if is_hidden || is_copied || visit.only_absolute && !is_absolute {
                continue;
            }
            let name = full_name(&visit.path, name, annotations);
            match seen.get(&(kind, name.clone())) {
                // Two actions of one control may share a name until a P4Info is made.
                Some(&first) if kind == "action" && span != first && self.is_action_of(id, first) => {}
                Some(&first) => clashes.push((span, name, kind, first)),
                None => drop(seen.insert((kind, name), span)),
            }
        }
        for (span, name, kind, first) in clashes {
            self.report(match span == first {
                true => d::name_of_several_instances(span, &name, kind, visit.span),
                false => d::duplicate_control_plane_name(span, &name, kind, first),
            });
        }
    }
}

/// The full name of a declaration called `name` inside `owner`, which `@name` may change.
fn full_name(owner: &str, name: &str, annotations: &[Annotation]) -> String {
    let name = given_name(annotations).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if owner.is_empty() => name.to_owned(),
        None => format!("{owner}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    const ARCHITECTURE: &str = "#include <core.p4>
        control Block(); package Two(Block a, Block b);";

    #[test]
    fn a_name_with_a_dot_in_two_instances() {
        check_errors(
            &format!(
                r#"{ARCHITECTURE}
                control Inner() {{ @name(".foo.bar") table t {{ actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}
                control A() {{ Inner() one; Inner() two; apply {{ one.apply(); two.apply(); }} }}
                control B() {{ apply {{ }} }}
                Two(A(), B()) main;"#
            ),
            expect![[r#"
                t.p4:3:59: error[E0209]: two instances of a table are called `foo.bar` for the control plane
                  `t`: the same name in all instances
                  `two`: instantiated again here
                  = leave out the dot in front of the name in `@name("...")`
            "#]],
        );
        check_errors(
            &format!(
                r#"{ARCHITECTURE}
                control C() {{ @name(".foo.bar") table t {{ actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}
                Two(C(), C()) main;"#
            ),
            expect![[r#"
                t.p4:3:55: error[E0209]: two instances of a table are called `foo.bar` for the control plane
                  `t`: the same name in all instances
                  `C()`: instantiated again here
                  = leave out the dot in front of the name in `@name("...")`
            "#]],
        );
    }

    #[test]
    fn a_name_that_reaches_into_an_instance() {
        check_errors(
            &format!(
                r#"{ARCHITECTURE}
                control Inner() {{
                    action a() {{ }}
                    table t {{ actions = {{ a; NoAction; }} }}
                    apply {{ t.apply(); }}
                }}
                control A() {{
                    Inner() one;
                    @name("one.a") action b() {{ }}
                    @name("one.t") table u {{ actions = {{ b; NoAction; }} }}
                    apply {{ one.apply(); u.apply(); }}
                }}
                control B() {{ apply {{ }} }}
                Two(A(), B()) main;"#
            ),
            expect![[r#"
                t.p4:4:28: error[E0209]: two actions are called `A.one.a` for the control plane
                  `a`: the same name
                  `b`: the first one
                  = choose another name with `@name("...")`
                t.p4:5:27: error[E0209]: two tables are called `A.one.t` for the control plane
                  `t`: the same name
                  `u`: the first one
                  = choose another name with `@name("...")`
            "#]],
        );
    }

    #[test]
    fn actions_of_one_control_may_share_a_name() {
        check_errors(
            &format!(
                r#"{ARCHITECTURE}
                control A() {{
                    @name("same") action a() {{ }}
                    @name("same") action b() {{ }}
                    table t {{ actions = {{ a; b; NoAction; }} }}
                    apply {{ t.apply(); }}
                }}
                control B() {{ apply {{ }} }}
                Two(A(), B()) main;"#
            ),
            expect![[""]],
        );
    }

    #[test]
    fn instances_with_names_of_their_own_are_fine() {
        check_errors(
            &format!(
                r#"{ARCHITECTURE}
                control Inner() {{
                    @name(".shared") action a() {{ }}
                    @hidden @name(".hidden") table h {{ actions = {{ a; NoAction; }} }}
                    @name("t") table t {{ actions = {{ a; NoAction; }} }}
                    apply {{ t.apply(); h.apply(); }}
                }}
                control Unused() {{ @name(".once") table t {{ actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}
                control A() {{
                    Inner() one;
                    @name("other") Inner() two;
                    @name(".one") table one_of_all {{ actions = {{ NoAction; }} }}
                    apply {{ one.apply(); two.apply(); one_of_all.apply(); }}
                }}
                control B() {{ Inner() one; apply {{ one.apply(); }} }}
                Two(A(), B()) main;"#
            ),
            expect![""],
        );
        check_errors(
            &format!(
                "{ARCHITECTURE}
                control C() {{ table t {{ actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}
                Two(C(), C()) main;"
            ),
            expect![""],
        );
    }
}
