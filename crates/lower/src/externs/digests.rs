//! Digests: messages to the control plane that v1model sends when ingress ends. A varbit field is two values: its
//! length in bits, and its bits as a number. A header is its validity and its fields.

use crate::places::Footprint;
use crate::storage::Life;
use crate::types::Form;
use crate::values::Value;
use crate::varbits::parts_of;
use crate::{Lowered, Lowerer, Refused};
use base::{Bits, Span};
use ir::StmtKind;
use ir::v1model::Stage;
use sema::hir::{Call, Type};
use std::rc::Rc;

impl<'h> Lowerer<'h> {
    /// `digest`: sets a request; the values are those at the end of ingress. Values that do not live that long are
    /// copied.
    pub(super) fn call_digest(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        if !self.takes_effect(&[Stage::Ingress], "digest", span) {
            return Ok(());
        }
        // The reference switch ignores the receiver, so it need not be known at compile time.
        let receiver = self.argument(call, 0, span)?;
        let receiver = match self.eval(receiver)? {
            Value::Integer(number) => u32::try_from(&number).map_or(0, u64::from),
            Value::Scalar(receiver) => receiver.as_const().map_or(0, Bits::low_u64),
            _ => 0,
        };
        let data = self.argument(call, 1, span)?;
        let value = self.eval(data)?;
        let mut leaves = Vec::new();
        self.digest_leaves(&value, &data.ty, "", &mut leaves, data.span)?;
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        for (name, leaf) in leaves {
            fields.push((name, leaf.ty));
            values.push(if self.lives_long(&leaf) { leaf } else { self.pin_expr(leaf, span)? });
        }
        let ty = self.resolve(call.type_args.first().unwrap_or(&data.ty));
        let name = sema::digest_name(self.hir, call, &ty);
        let digest = ir::Digest { name, receiver, fields };
        let known = self.ir.digests.iter_enumerated().find(|(_, other)| **other == digest).map(|(id, _)| id);
        let digest = known.unwrap_or_else(|| self.ir.digests.push(digest));
        let request = match self.externs.v1model.digest_request {
            Some(request) => request,
            None => {
                let request = self.new_var("digest", ir::Type::Bit(32), Life::Local);
                self.externs.v1model.digest_request = Some(request);
                request
            }
        };
        self.externs.v1model.digests.push((digest, values));
        let src = ir::Expr::bit(32, self.externs.v1model.digests.len() as u64);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(request), src }, span);
        Ok(())
    }

    /// Whether the value can be read at the end of the block.
    fn lives_long(&self, expr: &ir::Expr) -> bool {
        let mut footprint = Footprint::default();
        footprint.expr(&self.ir, expr);
        !footprint.moves
            && footprint.vars().iter().all(|var| self.ir.vars[*var].kind != ir::VarKind::Local)
            && footprint.headers().all(|header| self.ir.headers[header].metadata)
    }

    /// Names and types of the fields of a digest whose type is known before its values; named as those of
    /// [`Lowerer::digest_leaves`].
    pub(super) fn digest_fields(
        &mut self,
        ty: &Type,
        path: &str,
        fields: &mut Vec<(String, ir::Type)>,
        span: Span,
    ) -> Lowered<()> {
        let ty = self.resolve(ty);
        let parts: Vec<(Rc<str>, Type)> = match (self.form(&ty, span)?, &ty) {
            (Form::Scalar(ty), _) => {
                fields.push((leaf_name(path), ty));
                return Ok(());
            }
            (Form::Varbit(max), _) => {
                fields.push((length_name(path), ir::Type::Bit(32)));
                fields.push((leaf_name(path), ir::Type::Bit(max)));
                return Ok(());
            }
            (Form::Header(_), Type::Struct(id, args)) => {
                fields.push((validity_name(path), ir::Type::Bool));
                self.field_types(*id, args)
            }
            (Form::Tuple(_) | Form::Union(_), Type::Struct(id, args)) => self.field_types(*id, args),
            (Form::Tuple(parts), _) => {
                parts.into_iter().enumerate().map(|(at, (_, ty))| (Rc::from(format!("f{at}")), ty)).collect()
            }
            (Form::Array(_, size) | Form::Stack { size, .. }, Type::Array(element, _)) => {
                (0..size).map(|at| (Rc::from(at.to_string()), (**element).clone())).collect()
            }
            _ => return self.unsupported(span, format!("the type of `{path}` in a digest")),
        };
        for (name, ty) in parts {
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            self.nested(span, |l| l.digest_fields(&ty, &path, fields, span))?;
        }
        Ok(())
    }

    /// The values of a digest with their names: the fields of structs and headers by their names, others by their
    /// position.
    pub(super) fn digest_leaves(
        &mut self,
        value: &Value,
        ty: &Type,
        path: &str,
        leaves: &mut Vec<(String, ir::Expr)>,
        span: Span,
    ) -> Lowered<()> {
        let ty = self.resolve(ty);
        let named = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let (items, types): (Vec<Value>, Vec<(Rc<str>, Type)>) = match (value, &ty) {
            (Value::Scalar(value), _) => {
                leaves.push((leaf_name(path), value.clone()));
                return Ok(());
            }
            (_, Type::Varbit(max)) => {
                let Some(parts) = parts_of(value, *max) else { return Err(Refused) };
                leaves.extend([length_name(path), leaf_name(path)].into_iter().zip(parts));
                return Ok(());
            }
            (Value::Header(header), Type::Struct(id, args)) => {
                leaves.push((validity_name(path), header.is_valid()));
                let items = (0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect();
                (items, self.field_types(*id, args))
            }
            (Value::Union(members), Type::Struct(id, args)) => {
                (members.iter().cloned().map(Value::Header).collect(), self.field_types(*id, args))
            }
            (Value::Tuple(items), Type::Struct(id, args)) => (items.clone(), self.field_types(*id, args)),
            (Value::Tuple(items), Type::Tuple(types)) => {
                let name = |(position, ty): (usize, &Type)| (Rc::from(format!("f{position}")), ty.clone());
                (items.clone(), types.iter().enumerate().map(name).collect())
            }
            (Value::Tuple(_) | Value::Stack(_), Type::Array(element, _)) => {
                let items = self.elements(value, span)?;
                let name = |position: usize| (Rc::from(position.to_string()), (**element).clone());
                let types = (0..items.len()).map(name).collect();
                (items, types)
            }
            _ => return self.unsupported(span, format!("the type of `{path}` in a digest")),
        };
        let mut pairs = items.iter().zip(&types);
        pairs.try_for_each(|(item, (name, ty))| {
            self.nested(span, |l| l.digest_leaves(item, ty, &named(name), leaves, span))
        })
    }

    /// Sends the requested digest, at the very end of ingress.
    pub fn send_digests(&mut self, span: Span) {
        let Some(request) = self.externs.v1model.digest_request.take() else { return };
        let digests = std::mem::take(&mut self.externs.v1model.digests);
        let case = |(position, (digest, values)): (usize, (ir::DigestId, Vec<ir::Expr>))| ir::SwitchCase {
            values: vec![Bits::from_u64(32, position as u64 + 1)],
            body: vec![ir::Stmt { kind: StmtKind::Digest { digest, values }, span }],
        };
        let cases = digests.into_iter().enumerate().map(case).collect();
        let value = self.read_var(request);
        self.emit(StmtKind::Switch { value, cases, default: Vec::new() }, span);
    }
}

/// The name of a value of a digest. What has none is the first.
fn leaf_name(path: &str) -> String {
    if path.is_empty() { "f0".to_owned() } else { path.to_owned() }
}

/// The name of a header's validity.
fn validity_name(path: &str) -> String {
    format!("{}.$valid", leaf_name(path))
}

/// The name of a varbit field's length.
fn length_name(path: &str) -> String {
    format!("{}.$length", leaf_name(path))
}
