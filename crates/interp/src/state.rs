//! The state that a packet carries through the blocks of one pass.

use base::{Bits, IndexVec};
use ir::{FieldType, HeaderId, HeaderType, INTRINSIC_SLOTS, IntrinsicSlot, Program, VarId, VarKind};

/// The state of a packet between and within blocks.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketState {
    /// The bytes as received in this pass.
    pub packet: Vec<u8>,
    /// The parser's position in `packet`, in bytes; after the parser, the start of the payload. It never exceeds the
    /// end.
    pub cursor: usize,
    /// The deparser's output: the headers it emitted, then the payload.
    pub output: Vec<u8>,
    intrinsics: [u64; INTRINSIC_SLOTS],
    vars: IndexVec<VarId, Slotted>,
    headers: IndexVec<HeaderId, HeaderState>,
}

/// A variable: its value, or the intrinsic slot in which the architecture keeps it.
#[derive(Clone, PartialEq, Debug)]
enum Slotted {
    Own(VarKind, Bits),
    Intrinsic { slot: usize, width: u32 },
}

/// The contents of a header.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderState {
    /// Whether the header is valid. In an invalid header all fields are zero, and a varbit field is empty.
    pub valid: bool,
    /// The values of the fields. The value of a varbit field has its current length as its width.
    pub fields: Vec<Bits>,
}

impl HeaderState {
    /// An invalid header.
    pub fn invalid(ty: &HeaderType) -> HeaderState {
        HeaderState { valid: false, fields: ty.fields.iter().map(zero).collect() }
    }

    fn invalidate(&mut self, ty: &HeaderType) {
        self.valid = false;
        self.fields.iter_mut().zip(&ty.fields).for_each(|(value, field)| *value = zero(field));
    }

    /// The header's bytes as they appear in a packet.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bits: usize = self.fields.iter().map(|field| field.width() as usize).sum();
        let mut bytes = vec![0; bits.div_ceil(8)];
        let mut offset_bits = 0;
        for field in &self.fields {
            field.to_packet(&mut bytes, offset_bits);
            offset_bits += field.width() as usize;
        }
        bytes
    }
}

/// The value of a field of an invalid header.
fn zero(field: &ir::HeaderField) -> Bits {
    match field.ty {
        FieldType::Fixed(ty) => Bits::zero(ty.width()),
        FieldType::Varbit(_) => Bits::zero(0),
    }
}

impl PacketState {
    /// The state at the start of a pass: variables are zero, headers invalid.
    pub fn new(program: &Program, packet: Vec<u8>) -> PacketState {
        let var = |var: &ir::Var| match var.kind {
            VarKind::Intrinsic(slot) => Slotted::Intrinsic { slot: slot as usize, width: var.ty.width() },
            kind => Slotted::Own(kind, Bits::zero(var.ty.width())),
        };
        let header = |header: &ir::Header| HeaderState::invalid(&program.header_types[header.ty]);
        PacketState {
            packet,
            cursor: 0,
            output: Vec::new(),
            intrinsics: [0; INTRINSIC_SLOTS],
            vars: program.vars.iter().map(var).collect(),
            headers: program.headers.iter().map(header).collect(),
        }
    }

    /// Makes this the state at the start of a pass of another packet.
    pub fn reset(&mut self, program: &Program, packet: &[u8]) {
        self.packet.clear();
        self.packet.extend_from_slice(packet);
        self.output.clear();
        (self.cursor, self.intrinsics) = (0, [0; INTRINSIC_SLOTS]);
        for var in self.vars.iter_mut() {
            if let Slotted::Own(_, value) = var {
                *value = Bits::zero(value.width());
            }
        }
        program.headers.ids().for_each(|id| self.set_invalid(program, id));
    }

    /// The value of an intrinsic variable.
    pub fn intrinsic(&self, slot: impl IntrinsicSlot) -> u64 {
        self.intrinsics[slot.number()]
    }

    /// Sets an intrinsic variable.
    pub fn set_intrinsic(&mut self, slot: impl IntrinsicSlot, value: u64) {
        self.intrinsics[slot.number()] = value;
    }

    /// The values of all intrinsic variables, by slot.
    pub fn intrinsics(&self) -> &[u64; INTRINSIC_SLOTS] {
        &self.intrinsics
    }

    /// Sets all intrinsic variables.
    pub fn set_intrinsics(&mut self, values: [u64; INTRINSIC_SLOTS]) {
        self.intrinsics = values;
    }

    /// The value of a variable.
    pub fn var(&self, id: VarId) -> Bits {
        match &self.vars[id] {
            Slotted::Own(_, value) => value.clone(),
            Slotted::Intrinsic { slot, width } => {
                Bits::from_u64(*width, self.intrinsics.get(*slot).copied().unwrap_or(0))
            }
        }
    }

    /// Sets a variable. The value is truncated or zero-extended to the variable's width.
    pub fn set_var(&mut self, id: VarId, new: Bits) {
        match &mut self.vars[id] {
            Slotted::Own(_, value) if value.width() == new.width() => *value = new,
            Slotted::Own(_, value) => *value = new.resize(value.width()),
            Slotted::Intrinsic { slot, width } => {
                if let Some(cell) = self.intrinsics.get_mut(*slot) {
                    *cell = new.resize(*width).low_u64();
                }
            }
        }
    }

    /// A header.
    pub fn header(&self, id: HeaderId) -> &HeaderState {
        &self.headers[id]
    }

    /// Mutable access to a header. The caller must keep the widths of its fields.
    pub fn header_mut(&mut self, id: HeaderId) -> &mut HeaderState {
        &mut self.headers[id]
    }

    /// Makes a header valid. If it was invalid, all its fields are zero.
    pub fn set_valid(&mut self, id: HeaderId) {
        self.headers[id].valid = true;
    }

    /// Makes a header invalid and sets its fields to zero.
    pub fn set_invalid(&mut self, program: &Program, id: HeaderId) {
        let ty = &program.header_types[program.headers[id].ty];
        self.headers[id].invalidate(ty);
    }

    /// The bytes that the parser did not consume.
    pub fn payload(&self) -> &[u8] {
        self.packet.get(self.cursor..).unwrap_or(&[])
    }

    /// Sets local variables to zero and makes local headers invalid, as at the start of a block.
    pub(crate) fn reset_locals(&mut self, program: &Program) {
        for var in self.vars.iter_mut() {
            if let Slotted::Own(VarKind::Local, value) = var {
                *value = Bits::zero(value.width());
            }
        }
        for (id, header) in program.headers.iter_enumerated() {
            if !header.metadata {
                self.set_invalid(program, id);
            }
        }
    }

    /// The value of a stack's `next` index as a position.
    pub(crate) fn stack_next(&self, program: &Program, stack: ir::StackId) -> usize {
        self.var(program.stacks[stack].next).low_u64() as usize
    }

    /// Moves a stack's elements up or down by `count` places. The elements that enter are invalid. `next` moves as
    /// well, clamped to the stack.
    pub(crate) fn move_stack(&mut self, program: &Program, stack: ir::StackId, count: u32, up: bool) {
        let ir::Stack { elements, next, .. } = &program.stacks[stack];
        let (size, count) = (elements.len(), (count as usize).min(elements.len()));
        let old: Vec<HeaderState> = elements.iter().map(|&element| self.headers[element].clone()).collect();
        for (position, &element) in elements.iter().enumerate() {
            let source = if up { position.checked_sub(count) } else { Some(position + count) };
            match source.and_then(|source| old.get(source)) {
                Some(header) => self.headers[element] = header.clone(),
                None => self.set_invalid(program, element),
            }
        }
        let before = self.stack_next(program, stack);
        let after = if up { before.saturating_add(count).min(size) } else { before.saturating_sub(count) };
        self.set_var(*next, Bits::from_u64(32, after as u64));
    }
}
