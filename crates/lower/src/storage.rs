//! Storage: variables, headers and stacks for what the program declares.

use crate::places::{Binding, HeaderPlace, Place, StackPlace, VarbitParts, VarbitPlace, union_place};
use crate::types::{Form, HeaderShape};
use crate::{Lowered, Lowerer, codes};
use base::{Bits, Span};
use ir::HeaderRef;
use sema::hir::{self, Type};
use std::rc::Rc;

/// How long storage lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    /// As long as the packet's pass.
    Metadata,
    /// As long as the block's run.
    Local,
}

impl<'h> Lowerer<'h> {
    /// New storage for a value of the type.
    pub fn allocate(&mut self, ty: &Type, name: &str, life: Life, span: Span) -> Lowered<Place> {
        self.check_storage(span)?;
        self.nested(span, |l| {
            let form = l.form(ty, span)?;
            l.allocate_form(form, name, life, span)
        })
    }

    fn allocate_form(&mut self, form: Form, name: &str, life: Life, span: Span) -> Lowered<Place> {
        Ok(match form {
            Form::Scalar(ty) => Place::Scalar { place: ir::Place::Var(self.new_var(name, ty, life)), ty },
            Form::Header(shape) => Place::Header(HeaderPlace::new(self.new_header(name, &shape, life), shape)),
            Form::Union(shapes) => {
                let member = |(member, shape): (Rc<str>, Rc<HeaderShape>)| {
                    (self.new_header(&format!("{name}.{member}"), &shape, life), shape)
                };
                union_place(shapes.into_iter().map(member).collect())
            }
            Form::Tuple(fields) => {
                let field = |(field, ty): &(Rc<str>, Type)| self.allocate(ty, &format!("{name}.{field}"), life, span);
                Place::Tuple(fields.iter().map(field).collect::<Lowered<_>>()?)
            }
            Form::Stack { members, is_union, size } => self.allocate_stack(members, is_union, size, name, life),
            Form::Array(ty, size) => {
                let item = |index| self.allocate(&ty, &format!("{name}[{index}]"), life, span);
                Place::Tuple((0..size).map(item).collect::<Lowered<_>>()?)
            }
            Form::Varbit(max) => Place::Varbit(self.new_varbit(name, max, life)),
            Form::None => return self.refuse(codes::NOT_CONSTANT, span, "there are no variables of this type"),
        })
    }

    fn allocate_stack(
        &mut self,
        members: Vec<(Rc<str>, Rc<HeaderShape>)>,
        is_union: bool,
        size: u32,
        name: &str,
        life: Life,
    ) -> Place {
        let next = self.new_var(&format!("{name}.nextIndex"), ir::Type::Bit(32), life);
        let stack = |(member, shape): (Rc<str>, Rc<HeaderShape>)| {
            let suffix = if is_union { format!(".{member}") } else { String::new() };
            let element = |index| match self.new_header(&format!("{name}[{index}]{suffix}"), &shape, life) {
                HeaderRef::Fixed(id) => id,
                _ => unreachable!("a new header is named directly"),
            };
            let elements = (0..size).map(element).collect();
            (self.ir.stacks.push(ir::Stack { name: format!("{name}{suffix}"), elements, next }), shape)
        };
        let members = members.into_iter().map(stack).collect();
        Place::Stack(Rc::new(StackPlace { members, is_union, size, next }))
    }

    /// A new variable.
    pub fn new_var(&mut self, name: &str, ty: ir::Type, life: Life) -> ir::VarId {
        let kind = match life {
            Life::Metadata => ir::VarKind::Metadata,
            Life::Local => ir::VarKind::Local,
        };
        self.ir.vars.push(ir::Var { name: name.to_owned(), ty, kind })
    }

    fn new_header(&mut self, name: &str, shape: &HeaderShape, life: Life) -> HeaderRef {
        let header = ir::Header { name: name.to_owned(), ty: shape.ty, metadata: life == Life::Metadata };
        HeaderRef::Fixed(self.ir.headers.push(header))
    }

    /// A new variable of type varbit, empty.
    pub fn new_varbit(&mut self, name: &str, max: u32, life: Life) -> VarbitPlace {
        let known = self.memo.varbits.get(&max).copied();
        let ty = known.unwrap_or_else(|| {
            let field = ir::HeaderField { name: "bits".to_owned(), ty: ir::FieldType::Varbit(max) };
            self.ir.header_types.push(ir::HeaderType { name: format!("varbit<{max}>"), fields: vec![field] })
        });
        self.memo.varbits.insert(max, ty);
        let header = ir::Header { name: name.to_owned(), ty, metadata: life == Life::Metadata };
        let header = HeaderRef::Fixed(self.ir.headers.push(header));
        VarbitPlace { header, field: 0, max, is_variable: true }
    }

    /// New local storage of the same shape.
    pub fn storage_like(&mut self, place: &Place, span: Span) -> Lowered<Place> {
        self.check_storage(span)?;
        Ok(match place {
            Place::Scalar { ty, .. } => Place::Scalar { place: ir::Place::Var(self.temporary(*ty, span)?), ty: *ty },
            Place::Bits(bits) => {
                let ty = ir::Type::Bit(bits.width);
                Place::Scalar { place: ir::Place::Var(self.temporary(ty, span)?), ty }
            }
            Place::Varbit(VarbitPlace { max, .. }) | Place::VarbitParts(VarbitParts { max, .. }) => {
                Place::Varbit(self.new_varbit("tmp", *max, Life::Local))
            }
            Place::Header(header) => {
                let shape = header.shape.clone();
                Place::Header(HeaderPlace::new(self.new_header("tmp", &shape, Life::Local), shape))
            }
            Place::Tuple(items) => {
                Place::Tuple(items.iter().map(|item| self.storage_like(item, span)).collect::<Lowered<_>>()?)
            }
            Place::Union(members) => {
                let member =
                    |member: &HeaderPlace| (self.new_header("tmp", &member.shape, Life::Local), member.shape.clone());
                union_place(members.iter().map(member).collect())
            }
            Place::Stack(stack) => {
                let members = stack.members.iter().map(|(_, shape)| (Rc::from("member"), shape.clone())).collect();
                self.allocate_stack(members, stack.is_union, stack.size, "tmp", Life::Local)
            }
            Place::Choice { items, .. } => {
                let Some(first) = items.first() else { return Err(crate::Refused) };
                self.storage_like(first, span)?
            }
        })
    }

    /// A new local variable for an intermediate value.
    pub fn temporary(&mut self, ty: ir::Type, span: Span) -> Lowered<ir::VarId> {
        self.check_storage(span)?;
        Ok(self.new_var("tmp", ty, Life::Local))
    }

    /// New local storage for an intermediate value.
    pub fn temporary_place(&mut self, ty: &Type, span: Span) -> Lowered<Place> {
        self.allocate(ty, "tmp", Life::Local, span)
    }

    /// Storage of a variable or parameter that is declared here, and whether it may have an old value. Declarations in
    /// the code of an instance keep their storage, because the instance's tables refer to it.
    pub fn declare(&mut self, var: hir::VarId) -> Lowered<(Rc<Place>, bool)> {
        let owner = self.frames.last().and_then(|frame| frame.owner);
        if let Some(place) = owner.and_then(|owner| self.memo.locals.get(&(owner, var))).cloned() {
            self.env.insert(var, Binding::Place(place.clone()));
            return Ok((place, true));
        }
        let declaration = &self.hir.vars[var];
        let place = Rc::new(self.allocate(&declaration.ty, &declaration.name, Life::Local, declaration.span)?);
        if let Some(owner) = owner {
            self.memo.locals.insert((owner, var), place.clone());
        }
        self.env.insert(var, Binding::Place(place.clone()));
        Ok((place, self.repeats()))
    }

    /// Resets the place to its value at the start of a block: zero, invalid.
    pub fn reset(&mut self, place: &Place, span: Span) {
        match place {
            Place::Scalar { place, ty } => {
                let src = ir::Expr::constant(*ty, Bits::zero(ty.width()));
                self.emit(ir::StmtKind::Assign { dst: place.clone(), src }, span);
            }
            Place::Tuple(items) | Place::Choice { items, .. } => items.iter().for_each(|item| self.reset(item, span)),
            Place::Varbit(varbit) if varbit.is_variable => {
                self.emit(ir::StmtKind::SetInvalid(varbit.header.clone()), span);
            }
            _ => self.invalidate(place, span),
        }
    }

    /// Makes all headers in the place invalid.
    pub fn invalidate(&mut self, place: &Place, span: Span) {
        match place {
            Place::Scalar { .. } | Place::Varbit(_) | Place::VarbitParts(_) | Place::Bits(_) => {}
            Place::Header(header) => self.emit(ir::StmtKind::SetInvalid(header.header.clone()), span),
            Place::Tuple(items) | Place::Choice { items, .. } => {
                items.iter().for_each(|item| self.invalidate(item, span));
            }
            Place::Union(members) => {
                members.iter().for_each(|member| self.emit(ir::StmtKind::SetInvalid(member.header.clone()), span));
            }
            Place::Stack(stack) => {
                for position in 0..stack.size {
                    let element = stack.at_position(&self.ir, position);
                    self.invalidate(&element, span);
                }
                let src = ir::Expr::bit(32, 0);
                self.emit(ir::StmtKind::Assign { dst: ir::Place::Var(stack.next), src }, span);
            }
        }
    }
}
