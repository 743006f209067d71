//! Loads and stores of bit fields in network order.
//!
//! A field is read with one load that covers it, of a size that stays within the header, and written byte by byte only
//! where it shares bytes with its neighbours.

use super::expr::Value;
use super::header::Access;
use super::scope::Scope;
use super::{mask, masked};
use ir::{FieldType, HeaderRef};
use lir::{Expr as C, Stmt as S, assign, binary, call, conditional, index, int, long, plus};

/// A run of bits in a header.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    /// First bit, counted without a varbit field before it.
    pub(crate) offset: u32,
    /// How many.
    pub(crate) width: u32,
    /// Bytes of the header that may be accessed, counted from the same start.
    pub(crate) bytes: u32,
    /// Whether a varbit field comes before.
    pub(crate) after_varbit: bool,
}

impl Bits {
    fn first_byte(self) -> u32 {
        self.offset / 8
    }

    /// Bytes that the bits touch.
    fn span(self) -> u32 {
        (self.offset + self.width).div_ceil(8) - self.first_byte()
    }
}

impl Scope<'_, '_> {
    /// The bits of a field, or of a slice of it.
    pub(crate) fn field_bits(&self, access: &Access, field: u32, slice: Option<(u32, u32)>) -> Bits {
        let ty = &self.emitter.program.header_types[access.ty];
        let field = field as usize;
        let whole = match ty.fields[field].ty {
            FieldType::Fixed(ty) => ty.width(),
            FieldType::Varbit(_) => 0,
        };
        let (high, low) = slice.unwrap_or((whole.max(1) - 1, 0));
        Bits {
            offset: ty.offset_bits(field) + (whole.max(1) - 1 - high),
            width: if whole == 0 { 0 } else { high - low + 1 },
            bytes: ty.fixed_width() / 8,
            after_varbit: ty.varbit().is_some_and(|(varbit, _)| varbit < field),
        }
    }

    /// The pointer from which the offsets of bits count.
    fn base(&mut self, access: &Access, bits: Bits) -> C {
        let pointer = self.pointer(access);
        if bits.after_varbit { binary("+", pointer, self.varbit_bytes(access)) } else { pointer }
    }

    /// A field, or a slice of one, of at most 64 bits; zero if the header is invalid.
    pub(crate) fn read_field(&mut self, header: &HeaderRef, field: u32, slice: Option<(u32, u32)>) -> C {
        let access = self.access(header);
        let bits = self.field_bits(&access, field, slice);
        if bits.width == 0 {
            return long(0);
        }
        let base = self.base(&access, bits);
        let loaded = load(&base, bits);
        match self.valid(&access) {
            Some(valid) => conditional(valid, loaded, long(0)),
            None => loaded,
        }
    }

    /// Copies a field of whole bytes to another one of the same size, if both headers are certainly valid. Returns
    /// false, and does nothing, if that is not possible.
    pub(crate) fn copy_field(&mut self, dst: &ir::Place, src: &ir::Expr) -> bool {
        let (ir::Place::Field(to, to_field), ir::ExprKind::Field(from, from_field)) = (dst, &src.kind) else {
            return false;
        };
        let (HeaderRef::Fixed(to_id), HeaderRef::Fixed(from_id)) = (to, from) else { return false };
        let (to_access, from_access) = (self.access(to), self.access(from));
        let to_bits = self.field_bits(&to_access, *to_field, None);
        let from_bits = self.field_bits(&from_access, *from_field, None);
        let is_whole = |bits: Bits| bits.offset.is_multiple_of(8) && bits.width.is_multiple_of(8) && bits.width > 0;
        let is_same = to_id == from_id && to_field == from_field;
        let is_valid = self.is_surely_valid(*to_id) && self.is_surely_valid(*from_id);
        let fits = is_whole(to_bits) && is_whole(from_bits) && to_bits.width == from_bits.width;
        if !fits || is_same || !is_valid {
            return false;
        }
        let (target, source) = (self.base(&to_access, to_bits), self.base(&from_access, from_bits));
        let (target, source) = (plus(target, to_bits.first_byte()), plus(source, from_bits.first_byte()));
        self.lose_sums(*to_id, *to_field);
        self.touch_sums(*to_id, *to_field);
        self.note_store(*to_id, to_bits);
        self.push(S::Eval(call("memcpy", vec![target, source, int(to_bits.width / 8)])));
        true
    }

    /// A field, or a slice of one, over 64 bits.
    pub(crate) fn read_wide_field(&mut self, header: &HeaderRef, field: u32, slice: Option<(u32, u32)>) -> C {
        let access = self.access(header);
        let bits = self.field_bits(&access, field, slice);
        let limbs = self.limbs(bits.width);
        let base = self.base(&access, bits);
        let loads = load_wide(&limbs, &base, bits);
        match self.valid(&access) {
            Some(valid) => {
                let zero = S::Eval(call("ws_wide_zero", vec![limbs.clone(), int(bits.width)]));
                self.push(S::If(valid, loads, vec![zero]));
            }
            None => self.out.extend(loads),
        }
        limbs
    }

    /// Writes a field or a slice of one; nothing happens if the header is invalid.
    pub(crate) fn write_field(&mut self, header: &HeaderRef, field: u32, slice: Option<(u32, u32)>, value: Value) {
        let access = self.access(header);
        let bits = self.field_bits(&access, field, slice);
        if bits.width == 0 {
            return;
        }
        let valid = self.valid(&access);
        let stores = self.take(|scope| {
            let base = scope.base(&access, bits);
            let is_summed = matches!(header, HeaderRef::Fixed(id) if !scope.sums_with(*id, field).is_empty());
            let value = match value {
                Value::Narrow(value) if is_summed || !is_plain_store(bits) => Value::Narrow(scope.atom(value)),
                _ => value,
            };
            scope.correct_sums(header, field, &base, bits, &value);
            if let HeaderRef::Fixed(id) = header {
                scope.touch_sums(*id, field);
                scope.note_store(*id, bits);
            }
            match value {
                Value::Narrow(value) => {
                    store(&base, bits, &value, &mut scope.out);
                }
                Value::Wide(limbs) => store_wide(&base, bits, &limbs, &mut scope.out),
            }
        });
        match valid {
            Some(valid) => self.push(S::If(valid, stores, Vec::new())),
            None => self.out.extend(stores),
        }
    }
}

fn function(prefix: &str, bytes: u32) -> String {
    format!("{prefix}{}", 8 * bytes)
}

/// The expression that loads bits, at most 64. It has no side effects.
pub(crate) fn load(base: &C, bits: Bits) -> C {
    let (first, span) = (bits.first_byte(), bits.span());
    let end_bit = bits.offset + bits.width;
    if span == 9 {
        // The first byte holds the topmost bits, the other eight the rest.
        let shift = 8 * (first + 9) - end_bit;
        let top = call("ws_load8", vec![plus(base.clone(), first)]);
        let rest = call("ws_load64", vec![plus(base.clone(), first + 1)]);
        let value = binary("|", binary("<<", top, int(64 - shift)), binary(">>", rest, int(shift)));
        return masked(value, bits.width);
    }
    let size = span.next_power_of_two();
    if size > bits.bytes {
        return load_exactly(base, bits);
    }
    let start = first.min(bits.bytes - size);
    let shift = 8 * (start + size) - end_bit;
    let word = call(&function("ws_load", size), vec![plus(base.clone(), start)]);
    let value = if shift == 0 { word } else { binary(">>", word, int(shift)) };
    if bits.width + shift == 8 * size { value } else { masked(value, bits.width) }
}

/// Loads bits of a header that is smaller than a load that covers them.
fn load_exactly(base: &C, bits: Bits) -> C {
    let (mut at, mut left) = (bits.first_byte(), bits.span());
    let shift = 8 * (at + left) - (bits.offset + bits.width);
    let mut value: Option<C> = None;
    while left > 0 {
        let size = 1 << left.ilog2();
        let part = call(&function("ws_load", size), vec![plus(base.clone(), at)]);
        value = Some(match value {
            Some(above) => binary("|", binary("<<", above, int(8 * size)), part),
            None => part,
        });
        at += size;
        left -= size;
    }
    let value = value.unwrap_or(long(0));
    masked(if shift == 0 { value } else { binary(">>", value, int(shift)) }, bits.width)
}

/// Statements that load bits over 64 into limbs.
fn load_wide(limbs: &C, base: &C, bits: Bits) -> Vec<S> {
    const LOADS_MAX: u32 = 8;
    let count = bits.width / 64;
    if bits.offset.is_multiple_of(8) && bits.width.is_multiple_of(64) && count <= LOADS_MAX {
        let limb = |number: u32| {
            let at = bits.offset / 8 + 8 * (count - 1 - number);
            assign(index(limbs.clone(), int(number)), call("ws_load64", vec![plus(base.clone(), at)]))
        };
        return (0..count).map(limb).collect();
    }
    vec![S::Eval(call("ws_wide_load", vec![limbs.clone(), base.clone(), int(bits.offset), int(bits.width)]))]
}

fn store_wide(base: &C, bits: Bits, limbs: &C, out: &mut Vec<S>) {
    const STORES_MAX: u32 = 8;
    let count = bits.width / 64;
    if bits.offset.is_multiple_of(8) && bits.width.is_multiple_of(64) && count <= STORES_MAX {
        for number in 0..count {
            let at = bits.offset / 8 + 8 * (count - 1 - number);
            out.push(S::Eval(call("ws_store64", vec![plus(base.clone(), at), index(limbs.clone(), int(number))])));
        }
    } else {
        let arguments = vec![base.clone(), int(bits.offset), int(bits.width), limbs.clone()];
        out.push(S::Eval(call("ws_wide_store", arguments)));
    }
}

/// Whether the bits are whole bytes that one store writes.
fn is_plain_store(bits: Bits) -> bool {
    bits.offset.is_multiple_of(8) && matches!(bits.width, 8 | 16 | 32 | 64)
}

/// Statements that store at most 64 bits. `value` is evaluated more than once, except where [`is_plain_store`].
pub(crate) fn store(base: &C, bits: Bits, value: &C, out: &mut Vec<S>) {
    let start_bit = bits.offset % 8;
    let end_bit = (bits.offset + bits.width) % 8;
    if bits.span() == 1 && (start_bit != 0 || end_bit != 0) {
        out.push(store_in_byte(base, bits, value));
    } else if start_bit != 0 {
        let head = Bits { width: 8 - start_bit, ..bits };
        let rest = Bits { offset: bits.offset + head.width, width: bits.width - head.width, ..bits };
        store(base, head, &binary(">>", value.clone(), int(rest.width)), out);
        store(base, rest, &binary("&", value.clone(), long(mask(rest.width))), out);
    } else if end_bit != 0 {
        let head = Bits { width: bits.width - end_bit, ..bits };
        let tail = Bits { offset: bits.offset + head.width, width: end_bit, ..bits };
        store(base, head, &binary(">>", value.clone(), int(end_bit)), out);
        store(base, tail, &binary("&", value.clone(), long(mask(end_bit))), out);
    } else {
        store_bytes(base, bits, value, out);
    }
}

/// Stores whole bytes, the largest pieces first. Each store truncates its value.
fn store_bytes(base: &C, bits: Bits, value: &C, out: &mut Vec<S>) {
    let (mut at, mut left) = (bits.offset / 8, bits.width / 8);
    while left > 0 {
        // An Ethernet address is one piece.
        let size = if left == 6 { 6 } else { 1 << left.ilog2() };
        left -= size;
        let part = if left == 0 { value.clone() } else { binary(">>", value.clone(), int(8 * left)) };
        out.push(S::Eval(call(&function("ws_store", size), vec![plus(base.clone(), at), part])));
        at += size;
    }
}

/// Stores bits that share their one byte with others.
fn store_in_byte(base: &C, bits: Bits, value: &C) -> S {
    let at = plus(base.clone(), bits.first_byte());
    let shift = 8 - bits.offset % 8 - bits.width;
    let others = binary("&", call("ws_load8", vec![at.clone()]), long(0xff & !(mask(bits.width) << shift)));
    let part = if shift == 0 { value.clone() } else { binary("<<", value.clone(), int(shift)) };
    S::Eval(call("ws_store8", vec![at, binary("|", others, part)]))
}
