//! Extern types and their instances, which targets of P4_14 define.
//!
//! v1model gives them no behaviour: the translation declares them and checks their uses, and a plug-in can implement
//! them. Of a method's parameters those of type `bit<N>` or `int<N>` are passed on; others name objects of the program,
//! which cannot be passed in P4_16. An instance's attributes are checked by name and not passed on.

use super::build::{self, Shape};
use super::exprs::Scope;
use super::primitives;
use super::{Done, Translator};
use crate::ast::{Call, ExternMethod, Ident};
use crate::symbols::fold;
use crate::{codes, forms};
use base::limits::WIDTH_BITS_MAX;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use syntax::ast as p4;
use syntax::diag::Diagnostic;

impl Translator<'_, '_> {
    /// Extern types and instances.
    pub(super) fn declare_externs(&mut self) {
        let program = self.program;
        let mut type_names = Vec::new();
        for declared in &program.extern_types {
            let span = declared.name.span;
            let name = self.fresh(&declared.name.name);
            let constructor =
                p4::ExternMemberKind::Constructor { name: build::ident(&name, span), parameters: Vec::new() };
            let mut members = vec![p4::ExternMember { annotations: Vec::new(), kind: constructor, span }];
            for method in &declared.methods {
                members.push(self.extern_method(method));
            }
            let kind = p4::DeclarationKind::ExternObject(p4::ExternObject {
                name: build::ident(&name, span),
                type_parameters: Vec::new(),
                members,
            });
            self.objects.push(build::declaration(kind, span));
            type_names.push(name);
        }
        for (index, instance) in program.externs.iter().enumerate() {
            let found = self.lookup(|symbols| &symbols.extern_types, &instance.type_name, "extern type");
            let Some(extern_type) = found else { continue };
            for attribute in &instance.attributes {
                let declared = &program.extern_types[extern_type];
                if !declared.attributes.iter().any(|known| known.name == attribute.name) {
                    let message = format!("extern type `{}` has no attribute `{}`", declared.name.name, attribute.name);
                    let _: Done<()> = self.error(codes::UNKNOWN_FIELD, attribute.span, message);
                }
            }
            let name = self.fresh(&instance.name.name);
            let ty = build::named_type(&type_names[extern_type], instance.type_name.span);
            let object = self.instance(ty, Vec::new(), &name, &instance.name, &[]);
            self.objects.push(object);
            self.extern_names.insert(index, name);
        }
    }

    /// A method as P4_16 declares it.
    fn extern_method(&mut self, method: &ExternMethod) -> p4::ExternMember {
        let span = method.name.span;
        let mut parameters = Vec::new();
        for parameter in &method.parameters {
            let Some((width, is_signed)) = &parameter.shape else { continue };
            let width = self.count(width, 1, u64::from(WIDTH_BITS_MAX)).unwrap_or(1) as u32;
            let direction = if parameter.is_written { p4::Direction::InOut } else { p4::Direction::In };
            let span = parameter.name.span;
            let ty = build::bit_type(Shape { width, is_signed: *is_signed }, span);
            parameters.push(build::parameter(direction, ty, &self.spelt(&parameter.name.name), span));
        }
        let prototype = p4::FunctionPrototype {
            return_type: p4::Type { kind: p4::TypeKind::Void, span },
            name: self.spelt_ident(&method.name),
            type_parameters: Vec::new(),
            parameters,
        };
        let kind = p4::ExternMemberKind::Method { is_abstract: false, prototype };
        p4::ExternMember { annotations: Vec::new(), kind, span }
    }

    /// The method that a call refers to, without an error if there is none.
    fn called_method(&self, call: &Call) -> Option<&ExternMethod> {
        let index = *self.symbols.externs.get(&call.object.as_ref()?.name)?;
        let extern_type = *self.symbols.extern_types.get(&self.program.externs[index].type_name.name)?;
        let methods = &self.program.extern_types[extern_type].methods;
        methods.iter().find(|method| method.name.name == call.name.name)
    }

    /// The parameter shapes of the method that a call refers to.
    pub(super) fn method_shapes(&self, call: &Call) -> Vec<Option<Shape>> {
        let parameters = self.called_method(call).map_or(&[][..], |method| &method.parameters);
        let shape = |shape: &Option<(crate::ast::Expr, bool)>| {
            let (width, is_signed) = shape.as_ref()?;
            Some(Shape { width: fold(width)?.to_u32()?, is_signed: *is_signed })
        };
        parameters.iter().map(|parameter| shape(&parameter.shape)).collect()
    }

    /// `object.method(arguments);` outside actions.
    pub(super) fn method_statement(&mut self, call: &Call, scope: Scope<'_>, out: &mut Vec<p4::Statement>) -> Done<()> {
        match &call.object {
            Some(object) => self.method_call(object, &primitives::Context::new(call, scope), out),
            None => {
                let message = format!("`{}` is called in actions only", call.name.name);
                self.error(codes::UNKNOWN_ACTION, call.name.span, message)
            }
        }
    }

    /// `object.method(arguments);`
    pub(super) fn method_call(
        &mut self,
        object: &Ident,
        c: &primitives::Context<'_>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<()> {
        if !self.symbols.externs.contains_key(&object.name)
            && let Some(form) = forms::of_method(&object.name, c.call.name.as_str())
        {
            let message = format!("P4_14 has no method `{}`", c.call.name.name);
            let help = format!("write `{form}`");
            self.diagnostics.push(Diagnostic::error(codes::UNKNOWN_ACTION, c.call.name.span, message).help(help));
            return None;
        }
        let index = self.lookup(|symbols| &symbols.externs, object, "extern")?;
        let program = self.program;
        let type_name = &program.externs[index].type_name;
        let declared = &program.extern_types[self.lookup(|symbols| &symbols.extern_types, type_name, "extern type")?];
        let call = c.call;
        let Some(method) = declared.methods.iter().find(|method| method.name.name == call.name.name) else {
            let message = format!("extern type `{}` has no method `{}`", declared.name.name, call.name.name);
            return self.error(codes::UNKNOWN_ACTION, call.name.span, message);
        };
        let least = method.parameters.iter().filter(|parameter| !parameter.is_optional).count();
        if !(least..=method.parameters.len()).contains(&call.arguments.len()) {
            let message = format!(
                "method `{}` takes {}, and is given {}",
                call.name.name,
                super::actions::arguments_text(method.parameters.len()),
                call.arguments.len()
            );
            return self.error(codes::ARGUMENT_COUNT, call.span, message);
        }
        let (arguments, behind) = self.method_arguments(method, call, c.scope, out)?;
        let span = call.span;
        let name = self.extern_names.get(&index)?.clone();
        let callee = build::member(build::name(&name, object.span), &self.spelt(&call.name.name), span);
        out.push(build::do_call(callee, arguments, span));
        out.extend(behind);
        Some(())
    }

    /// The arguments that are passed on, and the assignments after the call to fields that it writes. An omitted
    /// argument is 0.
    fn method_arguments(
        &mut self,
        method: &ExternMethod,
        call: &Call,
        scope: Scope<'_>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<(Vec<p4::Expr>, Vec<p4::Statement>)> {
        let (mut arguments, mut behind) = (Vec::new(), Vec::new());
        for (position, shape) in self.method_shapes(call).into_iter().enumerate() {
            let Some(shape) = shape else { continue };
            let given = call.arguments.get(position);
            let place = match given {
                Some(target) if method.parameters[position].is_written => Some(self.fixed_field(target, scope)?),
                _ => None,
            };
            let value = match (&place, given) {
                (Some(place), _) => build::convert(self.read(place), place.shape, shape),
                (None, Some(argument)) => self.value(argument, shape, scope)?,
                (None, None) => build::constant(&BigInt::zero(), shape, call.span),
            };
            if !method.parameters[position].is_written {
                arguments.push(value);
                continue;
            }
            let name = self.fresh("result");
            out.push(build::variable(build::bit_type(shape, call.span), &name, Some(value), call.span));
            arguments.push(build::name(&name, call.span));
            if let Some(place) = place {
                let result = build::convert(build::name(&name, call.span), shape, place.shape);
                behind.push(self.write(&place, result, call.span));
            }
        }
        Some((arguments, behind))
    }
}
