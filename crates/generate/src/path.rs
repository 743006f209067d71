//! One path through a parser: the values of all variables and headers, as terms over the input.
//!
//! What enters: statements of the IR, one by one. What leaves: the paths that a statement leads to: one, several where
//! it decides, or none where no input gets beyond it.

use crate::layout::{self, Kind};
use crate::solve::{Answer, Input};
use crate::term::Term;
use base::{Bits, IndexVec};
use ir::{
    Expr, ExprKind, FieldType, HeaderId, HeaderRef, IntrinsicSlot as _, Place, Program, Source, StateId, Type,
    ValueSetId, VarId,
};
use std::rc::Rc;

/// Where the input has the port at which the packet arrives: 32 bits.
pub(crate) const PORT: usize = 0;
/// Where it has the length of the packet in bytes: 32 bits.
pub(crate) const LENGTH: usize = 32;
/// Where the packet begins.
pub(crate) const PACKET: usize = 64;

/// The port at which packets arrive where nothing requires another one.
const PORT_USUAL: u64 = 1;

/// The nodes of terms that a walk may evaluate.
const NODES_MAX: u64 = 1_000_000;

/// A header that was extracted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extracted {
    /// Which.
    pub header: HeaderId,
    /// The bit of the packet where it begins.
    pub first: usize,
    /// Bits of its varbit field.
    pub varbit_bits: u32,
    /// What it is.
    pub kind: Kind,
}

/// The contents of a header.
#[derive(Clone, Debug, Default)]
struct Header {
    is_valid: bool,
    fields: Vec<Term>,
}

/// A path so far.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The input for which the parser takes it.
    pub input: Input,
    /// The bit of the packet that is parsed next.
    pub cursor: usize,
    /// The bit behind the last one that was read.
    pub end: usize,
    /// The states, in order.
    pub states: Vec<StateId>,
    /// The cases by which they were left, by position.
    pub cases: Vec<usize>,
    /// The headers, in order.
    pub extracted: Vec<Extracted>,
    /// Members that value sets must have.
    pub members: Vec<(ValueSetId, Vec<Bits>)>,
    vars: IndexVec<VarId, Term>,
    headers: IndexVec<HeaderId, Rc<Header>>,
}

impl Path {
    /// The path that has just begun.
    pub(crate) fn new(program: &Program) -> Path {
        let architecture = program.architecture;
        let var = |var: &ir::Var| match var.kind.slot().map(|slot| architecture.source(slot.number() as u32)) {
            Some(Source::IngressPort) => at_end(PORT, var.ty),
            Some(Source::IngressLength) => at_end(LENGTH, var.ty),
            Some(Source::IngressTime) => Term::unknown("the time", var.ty),
            Some(Source::True) => Term::constant(Bits::from_u64(var.ty.width(), 1), var.ty),
            _ => Term::constant(Bits::zero(var.ty.width()), var.ty),
        };
        let header = |header: &ir::Header| Rc::new(invalid(program, header.ty));
        let mut input = Input::with_budget(NODES_MAX);
        input.set_usual(PORT, &Bits::from_u64(32, PORT_USUAL));
        Path {
            input,
            cursor: 0,
            end: 0,
            states: Vec::new(),
            cases: Vec::new(),
            extracted: Vec::new(),
            members: Vec::new(),
            vars: program.vars.iter().map(var).collect(),
            headers: program.headers.iter().map(header).collect(),
        }
    }

    /// Makes a condition hold from here on.
    pub(crate) fn require(&mut self, condition: &Term) -> Answer {
        self.input.require(condition)
    }

    /// The value of an expression.
    pub(crate) fn term(&self, program: &Program, expr: &Expr) -> Term {
        let term = |expr: &Expr| self.term(program, expr);
        match &expr.kind {
            ExprKind::Const(value) => Term::constant(value.clone(), expr.ty),
            ExprKind::Var(var) => self.vars[*var].clone(),
            ExprKind::Field(header, field) => self.field(program, header, *field, expr.ty),
            ExprKind::IsValid(header) => {
                Term::truth(self.resolve(program, header).is_some_and(|id| self.headers[id].is_valid))
            }
            ExprKind::Unary(op, of) => Term::unary(*op, &term(of)),
            ExprKind::Binary(op, left, right) => Term::binary(*op, &term(left), &term(right), expr.ty),
            ExprKind::Mux(condition, yes, no) => Term::mux(&term(condition), &term(yes), &term(no)),
            ExprKind::Cast(of) => term(of).cast(expr.ty),
            ExprKind::Slice { base, high, low } => term(base).slice(*high, *low),
            ExprKind::Concat(above, below) => term(above).concat(&term(below), expr.ty),
            ExprKind::VarbitLength(header, field) => {
                Term::number(32, self.varbit(program, header, *field).map_or(0, |it| u64::from(it.width())))
            }
            ExprKind::VarbitBits(header, field) => match self.varbit(program, header, *field) {
                Some(bits) if bits.width() > 0 => bits.cast(expr.ty),
                _ => Term::constant(Bits::zero(expr.ty.width()), expr.ty),
            },
            ExprKind::VarbitEqual(left, right) => {
                let of = |part: &(HeaderRef, u32)| self.varbit(program, &part.0, part.1);
                match (of(left), of(right)) {
                    (Some(a), Some(b)) if a.width() == b.width() && a.width() > 0 => a.equals(&b),
                    (a, b) => Term::truth(a.map_or(0, |it| it.width()) == b.map_or(0, |it| it.width())),
                }
            }
            ExprKind::PacketLength => Term::input(LENGTH, Type::Bit(32)),
        }
    }

    fn field(&self, program: &Program, header: &HeaderRef, field: u32, ty: Type) -> Term {
        let found = self.resolve(program, header).and_then(|id| self.headers[id].fields.get(field as usize));
        found.cloned().unwrap_or_else(|| Term::constant(Bits::zero(ty.width()), ty))
    }

    fn varbit(&self, program: &Program, header: &HeaderRef, field: u32) -> Option<Term> {
        self.headers[self.resolve(program, header)?].fields.get(field as usize).cloned()
    }

    /// The header that a reference denotes, if it exists. An index that is not known counts as its present value.
    fn resolve(&self, program: &Program, header: &HeaderRef) -> Option<HeaderId> {
        let number = |term: &Term| term.value(&self.input).to_u64().and_then(|it| usize::try_from(it).ok());
        let (stack, index) = match header {
            HeaderRef::Fixed(id) => return Some(*id),
            HeaderRef::Element { stack, index } => (*stack, number(&self.term(program, index))?),
            HeaderRef::Next(stack) => (*stack, self.next_of(program, *stack)),
            HeaderRef::Last(stack) => (*stack, self.next_of(program, *stack).checked_sub(1)?),
        };
        program.stacks[stack].elements.get(index).copied()
    }

    fn next_of(&self, program: &Program, stack: ir::StackId) -> usize {
        self.vars[program.stacks[stack].next].value(&self.input).low_u64() as usize
    }

    /// Makes the indices known that a reference has.
    pub(crate) fn fix(&mut self, program: &Program, header: &HeaderRef) {
        if let HeaderRef::Element { index, .. } = header {
            let index = self.term(program, index);
            self.input.fix(&index);
        }
    }

    /// Writes a value of the place's width.
    pub(crate) fn write(&mut self, program: &Program, place: &Place, value: Term) {
        match place {
            Place::Var(var) => self.vars[*var] = value,
            Place::Field(header, field) => {
                if let Some(id) = self.resolve(program, header)
                    && self.headers[id].is_valid
                {
                    Rc::make_mut(&mut self.headers[id]).fields[*field as usize] = value;
                }
            }
            Place::Slice { base, high, low } => {
                let whole = self.place(program, base);
                let written = with_slice(&whole, *high, *low, &value);
                self.write(program, base, written);
            }
        }
    }

    fn place(&self, program: &Program, place: &Place) -> Term {
        match place {
            Place::Var(var) => self.vars[*var].clone(),
            Place::Field(header, field) => self.field(program, header, *field, place_type(program, place)),
            Place::Slice { base, high, low } => self.place(program, base).slice(*high, *low),
        }
    }

    /// Makes a header valid or invalid.
    pub(crate) fn set_validity(&mut self, program: &Program, header: &HeaderRef, is_valid: bool) {
        if let Some(id) = self.resolve(program, header) {
            match is_valid {
                true => Rc::make_mut(&mut self.headers[id]).is_valid = true,
                false => self.headers[id] = Rc::new(invalid(program, program.headers[id].ty)),
            }
        }
    }

    /// Copies a header.
    pub(crate) fn copy(&mut self, program: &Program, dst: &HeaderRef, src: &HeaderRef) {
        let source = self.resolve(program, src);
        if let Some(id) = self.resolve(program, dst) {
            let missing = || Rc::new(invalid(program, program.headers[id].ty));
            self.headers[id] = source.map_or_else(missing, |source| Rc::clone(&self.headers[source]));
        }
    }

    /// Gives a varbit field these contents.
    pub(crate) fn set_varbit(&mut self, program: &Program, (header, field): &(HeaderRef, u32), value: Option<Term>) {
        if let Some(id) = self.resolve(program, header)
            && self.headers[id].is_valid
        {
            let value = value.unwrap_or_else(|| Term::constant(Bits::zero(0), Type::Bit(0)));
            Rc::make_mut(&mut self.headers[id]).fields[*field as usize] = value;
        }
    }

    /// The contents of a varbit field.
    pub(crate) fn varbit_of(&self, program: &Program, (header, field): &(HeaderRef, u32)) -> Option<Term> {
        self.varbit(program, header, *field)
    }

    /// Moves a stack's elements.
    pub(crate) fn move_stack(&mut self, program: &Program, stack: ir::StackId, count: u32, is_up: bool) {
        let ir::Stack { elements, next, .. } = &program.stacks[stack];
        let (size, count) = (elements.len(), (count as usize).min(elements.len()));
        let old: Vec<Rc<Header>> = elements.iter().map(|&id| Rc::clone(&self.headers[id])).collect();
        for (position, &id) in elements.iter().enumerate() {
            let source = if is_up { position.checked_sub(count) } else { Some(position + count) };
            let missing = || Rc::new(invalid(program, program.headers[id].ty));
            self.headers[id] = source.and_then(|at| old.get(at)).map_or_else(missing, Rc::clone);
        }
        let before = self.next_of(program, stack);
        let after = if is_up { before.saturating_add(count).min(size) } else { before.saturating_sub(count) };
        self.vars[*next] = Term::number(32, after as u64);
    }

    /// Takes a header from the packet. False: it does not exist.
    pub(crate) fn extract(&mut self, program: &Program, dst: &HeaderRef, varbit_bits: u32) -> bool {
        let Some(id) = self.resolve(program, dst) else { return false };
        let ty = &program.header_types[program.headers[id].ty];
        let kind = layout::recognise(ty, self.extracted.last().map(|last| last.kind));
        let first = PACKET + self.cursor;
        for field in kind.fields() {
            if let layout::Role::Usual(value) = field.role {
                self.input.set_usual(first + field.first as usize, &Bits::from_u64(field.width, value));
            }
        }
        let type_of = |field: &ir::HeaderField| match field.ty {
            FieldType::Fixed(ty) => ty,
            FieldType::Varbit(_) => Type::Bit(varbit_bits),
        };
        let places = layout::fields_of(ty, varbit_bits).zip(&ty.fields);
        let fields = places.map(|((_, offset, width), field)| match width {
            0 => Term::constant(Bits::zero(0), Type::Bit(0)),
            _ => Term::input(first + offset as usize, type_of(field)),
        });
        self.headers[id] = Rc::new(Header { is_valid: true, fields: fields.collect() });
        self.extracted.push(Extracted { header: id, first: self.cursor, varbit_bits, kind });
        self.skip((ty.fixed_width() + varbit_bits) as usize);
        if let HeaderRef::Next(stack) = dst {
            let next = self.next_of(program, *stack) as u64 + 1;
            self.vars[program.stacks[*stack].next] = Term::number(32, next);
        }
        true
    }

    /// Moves on in the packet.
    pub(crate) fn skip(&mut self, bits: usize) {
        self.cursor += bits;
        self.end = self.end.max(self.cursor);
    }

    /// Bits of the packet ahead.
    pub(crate) fn ahead(&mut self, offset_bits: u32, ty: Type) -> Term {
        let first = self.cursor + offset_bits as usize;
        self.end = self.end.max(first + ty.width() as usize);
        Term::input(PACKET + first, ty)
    }
}

/// The type of a place.
pub(crate) fn place_type(program: &Program, place: &Place) -> Type {
    match place {
        Place::Var(var) => program.vars[*var].ty,
        Place::Field(header, field) => match program.header_type(header).fields[*field as usize].ty {
            FieldType::Fixed(ty) => ty,
            FieldType::Varbit(max) => Type::Bit(max),
        },
        Place::Slice { high, low, .. } => Type::Bit(high - low + 1),
    }
}

/// A number of 32 bits of the input as a value of this type.
fn at_end(first: usize, ty: Type) -> Term {
    Term::input(first, Type::Bit(32)).cast(ty)
}

fn invalid(program: &Program, ty: ir::HeaderTypeId) -> Header {
    let zero = |field: &ir::HeaderField| match field.ty {
        FieldType::Fixed(ty) => Term::constant(Bits::zero(ty.width()), ty),
        FieldType::Varbit(_) => Term::constant(Bits::zero(0), Type::Bit(0)),
    };
    Header { is_valid: false, fields: program.header_types[ty].fields.iter().map(zero).collect() }
}

/// A value with some bits replaced.
fn with_slice(whole: &Term, high: u32, low: u32, part: &Term) -> Term {
    let width = whole.width();
    let mut result = part.cast(Type::Bit(high - low + 1));
    if low > 0 {
        result = result.concat(&whole.slice(low - 1, 0), Type::Bit(high + 1));
    }
    if high + 1 < width {
        result = whole.slice(width - 1, high + 1).concat(&result, Type::Bit(width));
    }
    result.cast(whole.ty())
}
