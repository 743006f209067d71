//! Checks of variables, headers, stacks, extern instances and field lists, and of where local storage is used.

use super::Verifier;
use crate::walk::{self, Item};
use crate::*;
use base::limits::{CELLS_MAX, PACKET_BYTES_MAX, STACK_ELEMENTS_MAX, WIDTH_BITS_MAX};
use base::{OrderedMap, OrderedSet};
use base::{Span, index::Id};

impl<'p> Verifier<'p> {
    pub(super) fn storage(&mut self) {
        self.enter("errors", Span::NONE);
        let known = self.program.errors.iter().map(String::as_str).take(ERROR_NAMES.len());
        self.check(known.eq(ERROR_NAMES), || "the first errors are not those of core.p4".into());
        self.vars();
        self.header_types();
        self.headers_and_stacks();
        self.externs();
        self.calculations();
        self.extern_functions();
    }

    /// Reports a number that does not exist.
    pub(super) fn exists<I: Id + std::fmt::Display, T>(&mut self, items: &base::IndexVec<I, T>, id: I) -> bool {
        let exists = items.get(id).is_some();
        self.check(exists, || format!("{id} does not exist"));
        exists
    }

    pub(super) fn type_fits(&mut self, ty: Type) {
        let width = ty.width();
        self.check(width <= WIDTH_BITS_MAX, || format!("a type of {width} bits"));
    }

    fn vars(&mut self) {
        let mut slots = OrderedSet::new();
        for (id, var) in self.program.vars.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            self.type_fits(var.ty);
            if let VarKind::Intrinsic(slot) = var.kind {
                self.check((slot as usize) < INTRINSIC_SLOTS, || format!("the architecture has no slot {slot}"));
                self.check(var.ty.width() <= 64, || "an intrinsic variable of more than 64 bits".into());
                self.check(slots.insert(slot), || format!("slot {slot} has another variable already"));
            }
        }
    }

    fn header_types(&mut self) {
        for (id, header_type) in self.program.header_types.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            let (mut fixed, mut varbits, mut varbit_max) = (0u64, 0, 0u64);
            for field in &header_type.fields {
                match field.ty {
                    FieldType::Fixed(ty) => {
                        self.type_fits(ty);
                        fixed += u64::from(ty.width());
                    }
                    FieldType::Varbit(max) => {
                        self.check(max <= WIDTH_BITS_MAX, || format!("a varbit field of {max} bits"));
                        varbits += 1;
                        varbit_max = u64::from(max);
                    }
                }
            }
            self.check(varbits <= 1, || "more than one varbit field".into());
            self.check(fixed.is_multiple_of(8), || format!("{fixed} bits are not whole bytes"));
            let bytes = (fixed + varbit_max).div_ceil(8);
            self.check(bytes <= PACKET_BYTES_MAX as u64, || format!("{bytes} bytes are longer than any packet"));
        }
    }

    fn headers_and_stacks(&mut self) {
        for (id, header) in self.program.headers.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            self.exists(&self.program.header_types, header.ty);
        }
        let mut members = OrderedSet::new();
        for (id, stack) in self.program.stacks.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            let size = stack.elements.len();
            self.check((1..=STACK_ELEMENTS_MAX as usize).contains(&size), || format!("{size} elements"));
            for &element in &stack.elements {
                if self.exists(&self.program.headers, element) {
                    self.check(members.insert(element), || format!("{element} is an element twice"));
                    let (first, this) = (self.program.headers.get(stack.elements[0]), &self.program.headers[element]);
                    let alike = first.is_none_or(|first| first.ty == this.ty && first.metadata == this.metadata);
                    self.check(alike, || format!("{element} differs from the other elements in type or life"));
                }
            }
            if self.exists(&self.program.vars, stack.next) {
                let ty = self.program.vars[stack.next].ty;
                self.check(ty == Type::Bit(32), || format!("{} is not a 32-bit index", stack.next));
            }
        }
    }

    fn extern_functions(&mut self) {
        for (id, function) in self.program.extern_functions.iter_enumerated() {
            self.enter(id.to_string(), function.span);
            for param in &function.params {
                match &param.ty {
                    ExternType::Value(ty) => self.type_fits(*ty),
                    ExternType::Text(_) => {}
                    ExternType::Object(instance) => _ = self.exists(&self.program.extern_instances, *instance),
                }
                let goes_in = matches!(param.ty, ExternType::Value(_)) || param.direction == ExternDirection::In;
                self.check(goes_in, || format!("the parameter {} only goes in", param.name));
            }
            if let Some(result) = function.result {
                self.type_fits(result);
                self.check(result.width() <= 64, || format!("a result of {} bits", result.width()));
            }
            let width = function.output_width();
            self.check(width <= WIDTH_BITS_MAX, || format!("{width} bits of outputs"));
        }
        for (id, instance) in self.program.extern_instances.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            if self.exists(&self.program.extern_functions, instance.constructor) {
                let made_by = &self.program.extern_functions[instance.constructor];
                let is_constructor = made_by.kind == ExternFunctionKind::Constructor && made_by.output_width() == 0;
                self.check(is_constructor, || format!("{} is not a constructor", instance.constructor));
                let fits = made_by.inputs().map(Type::width).eq(instance.args.iter().map(|arg| arg.width()));
                self.check(fits, || format!("the arguments do not fit the parameters of {}", instance.constructor));
                let is_first = |param: &ExternParam| matches!(param.ty, ExternType::Object(other) if other >= id);
                let made_before = !made_by.params.iter().any(is_first);
                self.check(made_before, || "an object that is made from a later one".into());
            }
        }
    }

    fn externs(&mut self) {
        let program = self.program;
        for (id, register) in program.registers.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            self.type_fits(register.ty);
            self.check(register.ty.width() > 0, || "cells of no bits".into());
            self.cells(register.size);
        }
        for (id, counter) in program.counters.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            self.cells(counter.size);
        }
        for (id, meter) in program.meters.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            self.cells(meter.size);
        }
        for (id, digest) in program.digests.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            digest.fields.iter().for_each(|(_, ty)| self.type_fits(*ty));
        }
        for (id, set) in program.value_sets.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            set.keys.iter().for_each(|(_, width, _)| self.type_fits(Type::Bit(*width)));
        }
        for (id, fields) in program.field_lists.iter_enumerated() {
            self.enter(id.to_string(), fields.span);
            for &var in &fields.vars {
                if self.exists(&program.vars, var) {
                    self.check(program.vars[var].kind != VarKind::Local, || format!("{var} is a local variable"));
                }
            }
        }
    }

    fn calculations(&mut self) {
        for (id, calculation) in self.program.calculations.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            let width = calculation.width_bits;
            self.check(matches!(width, 16 | 32), || format!("a CRC of {width} bits"));
        }
        for (id, profile) in self.program.action_profiles.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            if let Some(algorithm) = profile.selector {
                self.algorithm(algorithm, &[], false);
            }
        }
    }

    fn cells(&mut self, size: u64) {
        self.check(size <= CELLS_MAX, || format!("{size} cells; the most is {CELLS_MAX}"));
    }

    /// Local variables and headers belong to one block.
    pub(super) fn local_use(&mut self) {
        let program = self.program;
        let mut vars: OrderedMap<VarId, BlockId> = OrderedMap::new();
        let mut headers: OrderedMap<HeaderId, BlockId> = OrderedMap::new();
        for (id, block) in program.blocks.iter_enumerated() {
            self.enter(id.to_string(), Span::NONE);
            let (mut used_vars, mut used_headers) = (OrderedSet::new(), OrderedSet::new());
            walk::visit_block(program, block, &mut |item| match item {
                Item::Var(var) => _ = used_vars.insert(var),
                Item::Header(header) | Item::Field(header, _) => {
                    self.header_parts(header, &mut used_vars, &mut used_headers);
                }
                Item::Table(_) | Item::Expr(_) | Item::Place(_) => {}
            });
            for var in used_vars {
                let local = program.vars.get(var).is_some_and(|var| var.kind == VarKind::Local);
                let first = *vars.entry(var).or_insert(id);
                self.check(!local || first == id, || format!("the local {var} belongs to {first}"));
            }
            for header in used_headers {
                let local = program.headers.get(header).is_some_and(|header| !header.metadata);
                let first = *headers.entry(header).or_insert(id);
                self.check(!local || first == id, || format!("the local {header} belongs to {first}"));
            }
        }
    }

    fn header_parts(&self, header: &HeaderRef, vars: &mut OrderedSet<VarId>, headers: &mut OrderedSet<HeaderId>) {
        match header {
            HeaderRef::Fixed(id) => _ = headers.insert(*id),
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                if let Some(declared) = self.program.stacks.get(*stack) {
                    headers.extend(&declared.elements);
                    if !matches!(header, HeaderRef::Element { .. }) {
                        vars.insert(declared.next);
                    }
                }
            }
        }
    }
}
