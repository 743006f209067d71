//! Hashes and checksums.
//!
//! Inputs with the same guard form a group. Adjacent fields of a header become one piece. A ones' complement sum is
//! computed directly from words of the header wherever all groups but the last are whole 16-bit words, since then
//! leaving a group out does not shift the others. CRCs of sixteen bytes at most are multiplications in registers. Other
//! functions run over a small buffer, to which pieces are copied at known places if all of them are whole bytes, and
//! joined in words if not.

use super::expr::Value;
use super::field::Bits;
use super::header::Access;
use super::narrow_stores::NarrowStore;
use super::scope::Scope;
use ir::{Expr, ExprKind, FieldType, HashAlgorithm, HashInput, HashValue, HeaderRef, Place};
use lir::{
    EnvArray, Expr as C, Stmt as S, Type, assign, binary, call, cast, declare, declare_array, index, int, long, name,
    plus, unary,
};

/// The most bits that are hashed in registers.
const SHORT_BITS_MAX: u32 = 128;

/// Bytes of a buffer after those that are joined: `ws_join_end` stores a whole word.
const JOINED_SPARE: u32 = 8;

/// Longer runs of fields are read in loops.
const LOADS_MAX: u32 = 16;

/// Inputs that are hashed together or not at all.
struct Group<'p> {
    guard: Option<&'p HeaderRef>,
    pieces: Vec<Piece<'p>>,
}

/// Something hashed.
enum Piece<'p> {
    /// A value.
    Expr(&'p Expr),
    /// Adjacent fields, whole bytes in all, of a header that is valid when they are read.
    Fields { header: &'p HeaderRef, first: u32, bits: u32 },
    /// A varbit field.
    Varbit(&'p HeaderRef, u32),
}

impl Piece<'_> {
    /// Width, if it is the same for every packet.
    fn width(&self) -> Option<u32> {
        match self {
            Piece::Expr(expr) => Some(expr.ty.width()),
            Piece::Fields { bits, .. } => Some(*bits),
            Piece::Varbit(..) => None,
        }
    }

    /// Whether it is a value that changes a ones' complement sum. A checksum object begins with zero.
    fn is_summed_as_value(&self) -> bool {
        matches!(self, Piece::Expr(expr) if !expr.as_const().is_some_and(base::Bits::is_zero))
    }
}

impl Group<'_> {
    /// Width of all pieces, if it is the same for every packet.
    fn width(&self) -> Option<u32> {
        self.pieces.iter().map(Piece::width).sum()
    }
}

impl<'e> Scope<'_, 'e> {
    pub(crate) fn hash(&mut self, dst: &Place, algorithm: HashAlgorithm, inputs: &[HashInput], payload: bool) {
        let groups = self.groups(inputs);
        let updated = self.sums_by_words(&groups, payload).then(|| {
            self.updated_checksum(inputs, |scope| {
                scope.hash_of(algorithm, inputs, &groups, payload);
            })
        });
        let value = updated.flatten().unwrap_or_else(|| self.hash_of(algorithm, inputs, &groups, payload));
        let value = self.temporary(value);
        let width = match algorithm {
            HashAlgorithm::Crc32 | HashAlgorithm::Crc32Continued => 32,
            HashAlgorithm::Identity => 64,
            HashAlgorithm::Custom(calculation) | HashAlgorithm::Continued(calculation) => {
                self.emitter.program.calculations[calculation].width_bits
            }
            HashAlgorithm::Crc16 | HashAlgorithm::Crc16Continued | HashAlgorithm::CrcCcitt => 16,
            HashAlgorithm::Csum16 | HashAlgorithm::Xor16 => 16,
            HashAlgorithm::Remainder { width_bits, .. } => width_bits,
        };
        self.write_resized(dst, value, width);
    }

    /// The hash in full.
    pub(crate) fn hash_value(&mut self, algorithm: HashAlgorithm, inputs: &[HashInput], payload: bool) -> C {
        let groups = self.groups(inputs);
        self.hash_of(algorithm, inputs, &groups, payload)
    }

    /// The hash in full of these inputs, in groups.
    fn hash_of(&mut self, algorithm: HashAlgorithm, inputs: &[HashInput], groups: &[Group<'_>], payload: bool) -> C {
        if algorithm == HashAlgorithm::Csum16 && self.sums_by_words(groups, payload) {
            let sum = self.sum(groups, payload);
            let sum = self.temporary(sum);
            if !payload {
                self.note_sum(inputs, &sum);
            }
            call("ws_checksum", vec![sum])
        } else if let (HashAlgorithm::Remainder { width_bits, polynomial }, [input]) = (algorithm, inputs)
            && let HashValue::Expr(data) = &input.value
        {
            self.remainder(data, width_bits, polynomial)
        } else if let Some(function) = self.short_hash(algorithm, groups).filter(|_| !payload) {
            self.over_registers(function, algorithm, groups)
        } else {
            self.over_buffer(algorithm, groups, payload)
        }
    }

    fn groups<'p>(&self, inputs: &'p [HashInput]) -> Vec<Group<'p>> {
        let mut groups: Vec<Group<'p>> = Vec::new();
        for input in inputs {
            let guard = input.guard.as_ref();
            if groups.last().is_none_or(|group| group.guard != guard) {
                groups.push(Group { guard, pieces: Vec::new() });
            }
            let group = groups.last_mut().expect("a group was made above");
            let piece = match &input.value {
                HashValue::Expr(expr) => Piece::Expr(expr),
                HashValue::Varbit(header, field) => Piece::Varbit(header, *field),
            };
            group.pieces.push(piece);
        }
        for group in &mut groups {
            let pieces = std::mem::take(&mut group.pieces);
            group.pieces = self.merged(group.guard, pieces);
        }
        groups
    }

    /// Merges adjacent fields.
    fn merged<'p>(&self, guard: Option<&'p HeaderRef>, pieces: Vec<Piece<'p>>) -> Vec<Piece<'p>> {
        let mut out = Vec::new();
        let mut rest = &pieces[..];
        while let Some(piece) = rest.first() {
            let run = self.run(guard, rest);
            match run {
                Some((count, fields)) => {
                    out.push(fields);
                    rest = &rest[count..];
                }
                None => {
                    out.push(match piece {
                        Piece::Expr(expr) => Piece::Expr(expr),
                        Piece::Varbit(header, field) => Piece::Varbit(header, *field),
                        Piece::Fields { header, first, bits } => Piece::Fields { header, first: *first, bits: *bits },
                    });
                    rest = &rest[1..];
                }
            }
        }
        out
    }

    /// The longest run of fields at the start of `pieces` that is whole bytes, and how many pieces it is.
    fn run<'p>(&self, guard: Option<&'p HeaderRef>, pieces: &[Piece<'p>]) -> Option<(usize, Piece<'p>)> {
        let field_of = |piece: &Piece<'p>| match piece {
            Piece::Expr(Expr { kind: ExprKind::Field(header, field), ty }) => Some((header, *field, ty.width())),
            _ => None,
        };
        let (header, first, _) = field_of(pieces.first()?)?;
        let HeaderRef::Fixed(id) = header else { return None };
        if guard != Some(header) && !self.is_surely_valid(*id) {
            return None;
        }
        let ty = self.emitter.program.header_type(header);
        if !ty.offset_bits(first as usize).is_multiple_of(8) {
            return None;
        }
        let (mut bits, mut best) = (0, None);
        for (count, piece) in pieces.iter().enumerate() {
            let follows =
                field_of(piece).filter(|(other, field, _)| *other == header && *field == first + count as u32);
            let Some((_, field, width)) = follows else { break };
            // A varbit field in between would make a hole of unknown length.
            if matches!(ty.fields[field as usize].ty, FieldType::Varbit(_)) {
                break;
            }
            bits += width;
            if bits > 0 && bits.is_multiple_of(8) {
                best = Some((count + 1, Piece::Fields { header, first, bits }));
            }
        }
        best
    }

    /// Runs `write` where the group's guard holds.
    fn in_group(&mut self, group: &Group<'_>, write: impl FnOnce(&mut Self)) {
        let Some(guard) = group.guard else { return write(self) };
        let access = self.access(guard);
        let valid = self.valid(&access);
        let before = self.known.clone();
        self.learn(&access, true);
        let statements = self.take(write);
        self.known = before;
        self.guarded(valid, statements);
    }

    /// The pointer to the first byte of a run of fields, and their place.
    fn fields_place(&mut self, header: &HeaderRef, first: u32) -> (Access, C) {
        let access = self.access(header);
        let bits = self.field_bits(&access, first, None);
        let pointer = self.pointer(&access);
        let base = if bits.after_varbit { binary("+", pointer, self.varbit_bytes(&access)) } else { pointer };
        (access, plus(base, bits.offset / 8))
    }

    /// The folded ones' complement sum in native byte order: words of the packet are summed as the machine loads them,
    /// values as they are.
    fn sum(&mut self, groups: &[Group<'_>], payload: bool) -> C {
        let (native, sum) = (self.fresh("native"), self.fresh("sum"));
        self.push(declare(Type::U64, native.clone(), long(0)));
        let has_values = groups.iter().flat_map(|group| &group.pieces).any(Piece::is_summed_as_value);
        if has_values {
            self.push(declare(Type::U64, sum.clone(), long(0)));
        }
        for group in groups {
            self.in_group(group, |scope| {
                let mut position = 0;
                for piece in &group.pieces {
                    scope.add_piece(&native, &sum, piece, position);
                    position += piece.width().unwrap_or(0);
                }
            });
        }
        if payload {
            let (pointer, count) = self.payload();
            self.push(add_native(&native, call("ws_sum_bytes", vec![pointer, count])));
        }
        let bytes = call("ws_sum_fold", vec![name(native)]);
        if !has_values {
            return bytes;
        }
        let all = binary("+", name(sum), call("ws_sum_turn", vec![bytes]));
        call("ws_sum_turn", vec![call("ws_sum_fold", vec![all])])
    }

    /// Adds a piece that begins at bit `position` of the words.
    fn add_piece(&mut self, native: &str, sum: &str, piece: &Piece<'_>, position: u32) {
        let add = |scope: &mut Self, value: C| scope.push(S::Assign(name(sum), "+=", value));
        match piece {
            Piece::Varbit(header, field) => {
                let (access, pointer) = self.fields_place(header, *field);
                let count = self.varbit_bytes(&access);
                self.push(add_native(native, call("ws_sum_bytes", vec![pointer, count])));
            }
            Piece::Fields { header, first, bits } => {
                let (access, pointer) = self.fields_place(header, *first);
                let first_byte = self.field_bits(&access, *first, None).offset / 8;
                let stores = self.narrow_stores(header, first_byte..first_byte + bits / 8);
                for summand in native_sums(&pointer, bits / 8, position, &stores) {
                    self.push(add_native(native, summand));
                }
            }
            Piece::Expr(_) if !piece.is_summed_as_value() => {}
            Piece::Expr(expr) => {
                let width = expr.ty.width();
                let pad = (16 - (position + width) % 16) % 16;
                let shifted = |value: C| if pad == 0 { value } else { binary("<<", value, int(pad)) };
                match self.value(expr) {
                    _ if width == 0 => {}
                    Value::Narrow(value) => {
                        let value = if width == 1 { cast(Type::U64, value) } else { value };
                        if width + pad <= 32 {
                            add(self, shifted(value));
                        } else if width + pad <= 64 {
                            add(self, call("ws_sum_word", vec![shifted(value)]));
                        } else {
                            let value = self.atom(value);
                            add(self, call("ws_sum_word", vec![binary(">>", value.clone(), int(16 - pad))]));
                            add(self, binary("&", shifted(value), long(0xffff)));
                        }
                    }
                    Value::Wide(limbs) => {
                        let (wider, moved) = (self.limbs(width + pad), self.limbs(width + pad));
                        let resize = vec![wider.clone(), int(width + pad), limbs, int(width)];
                        self.push(S::Eval(call("ws_wide_resize", resize)));
                        let shift = vec![moved.clone(), wider, int(pad), int(width + pad)];
                        self.push(S::Eval(call("ws_wide_shl", shift)));
                        for limb in 0..(width + pad).div_ceil(64) {
                            add(self, call("ws_sum_word", vec![index(moved.clone(), int(limb))]));
                        }
                    }
                }
            }
        }
    }

    /// The function for a CRC over sixteen bytes at most, which are joined in registers; none if they are not. A CRC
    /// that starts with ones needs the first four bytes in any case, as one number.
    fn short_hash(&self, algorithm: HashAlgorithm, groups: &[Group<'_>]) -> Option<&'static str> {
        let pieces = || groups.iter().flat_map(|group| &group.pieces);
        let is_narrow = |piece: &Piece<'_>| !matches!(piece, Piece::Expr(expr) if expr.ty.width() > 64);
        let bits: Option<u32> = groups.iter().map(Group::width).sum();
        let is_short = bits.is_some_and(|bits| bits <= SHORT_BITS_MAX) && self.in_whole_bytes(groups);
        match algorithm {
            _ if !is_short || !pieces().all(is_narrow) => None,
            HashAlgorithm::Crc16 => Some("ws_hash_crc16_short"),
            HashAlgorithm::Crc32 => {
                let first = groups.first()?;
                let is_there = match first.guard {
                    None => true,
                    Some(HeaderRef::Fixed(id)) => self.is_surely_valid(*id),
                    Some(_) => false,
                };
                (is_there && first.pieces.first()?.width()? >= 32).then_some("ws_hash_crc32_short")
            }
            _ => None,
        }
    }

    /// A hash over the inputs joined in registers.
    fn over_registers(&mut self, function: &str, algorithm: HashAlgorithm, groups: &[Group<'_>]) -> C {
        let joined = self.fresh("joined");
        self.push(declare(Type::Short, joined.clone(), C::List(vec![int(0), int(0)])));
        let mut turns = algorithm == HashAlgorithm::Crc32;
        for group in groups {
            self.in_group(group, |scope| {
                for piece in &group.pieces {
                    for (number, bytes) in scope.numbers(piece) {
                        let number = match std::mem::take(&mut turns) {
                            true => binary("^", number, long(0xffff_ffff << (8 * (bytes - 4)))),
                            false => number,
                        };
                        let sum = call("ws_short_add", vec![name(joined.clone()), number, int(bytes)]);
                        scope.push(assign(name(joined.clone()), sum));
                    }
                }
            });
        }
        call(function, vec![name(joined)])
    }

    /// A piece of whole bytes as numbers in network order, with their sizes in bytes, the largest first.
    fn numbers(&mut self, piece: &Piece<'_>) -> Vec<(C, u32)> {
        match piece {
            Piece::Fields { header, first, bits } => {
                let (_, pointer) = self.fields_place(header, *first);
                let (mut numbers, mut at) = (Vec::new(), 0);
                for bytes in [8, 4, 2, 1] {
                    while bits / 8 - at >= bytes {
                        let load = format!("ws_load{}", 8 * bytes);
                        numbers.push((call(&load, vec![plus(pointer.clone(), at)]), bytes));
                        at += bytes;
                    }
                }
                numbers
            }
            Piece::Expr(expr) => match self.value(expr) {
                Value::Narrow(value) if expr.ty.width() > 0 => vec![(value, expr.ty.width() / 8)],
                _ => Vec::new(),
            },
            Piece::Varbit(..) => Vec::new(),
        }
    }

    /// A hash over the inputs joined in a buffer.
    fn over_buffer(&mut self, algorithm: HashAlgorithm, groups: &[Group<'_>], payload: bool) -> C {
        let bytes_max: u32 = groups.iter().flat_map(|group| &group.pieces).map(|piece| self.bytes_max(piece)).sum();
        let buffer = self.fresh("buffer");
        // Compilers warn about a buffer that is never written.
        let initial = (bytes_max == 0).then(|| C::List(vec![int(0)]));
        let is_copied = self.in_whole_bytes(groups);
        let spare = if is_copied { 1 } else { JOINED_SPARE };
        self.push(declare_array(Type::U8, buffer.clone(), bytes_max + spare, initial));
        let count = if is_copied { self.copy_groups(&buffer, groups) } else { self.join_groups(&buffer, groups) };
        let function = match algorithm {
            HashAlgorithm::Crc32 => "ws_hash_crc32",
            HashAlgorithm::Crc16 => "ws_hash_crc16",
            HashAlgorithm::Crc32Continued => "ws_hash_crc32_continued",
            HashAlgorithm::Crc16Continued => "ws_hash_crc16_continued",
            HashAlgorithm::CrcCcitt => "ws_hash_crc_ccitt",
            HashAlgorithm::Csum16 => "ws_hash_csum16",
            HashAlgorithm::Xor16 => "ws_hash_xor16",
            HashAlgorithm::Identity => "ws_hash_identity",
            HashAlgorithm::Custom(_) => "ws_hash_custom",
            HashAlgorithm::Continued(_) => "ws_hash_continued",
            HashAlgorithm::Remainder { .. } => unreachable!("a verified remainder is one of one value"),
        };
        let (rest, rest_count) = if payload { self.payload() } else { (name(buffer.clone()), int(0)) };
        let mut arguments = vec![name(buffer), count, rest, rest_count];
        if let HashAlgorithm::Custom(calculation) | HashAlgorithm::Continued(calculation) = algorithm {
            arguments.insert(0, unary("&", self.env_item(EnvArray::Calculations, calculation)));
        }
        call(function, arguments)
    }

    /// Bytes that a piece takes at most.
    fn bytes_max(&self, piece: &Piece<'_>) -> u32 {
        match piece {
            Piece::Varbit(header, field) => match self.emitter.program.header_type(header).fields[*field as usize].ty {
                FieldType::Varbit(max) => max.div_ceil(8),
                FieldType::Fixed(ty) => ty.width().div_ceil(8),
            },
            _ => piece.width().unwrap_or(0).div_ceil(8),
        }
    }

    /// Copies pieces that are whole bytes; returns a variable with the count of bytes.
    fn copy_groups(&mut self, buffer: &str, groups: &[Group<'_>]) -> C {
        let count = self.fresh("count");
        self.push(declare(Type::U32, count.clone(), int(0)));
        for group in groups {
            self.in_group(group, |scope| {
                let mut position = 0;
                for piece in &group.pieces {
                    let target = plus(binary("+", name(buffer), name(count.clone())), position / 8);
                    scope.copy_piece(&target, piece);
                    position += piece.width().unwrap_or(0);
                }
                if position > 0 {
                    scope.push(S::Assign(name(count.clone()), "+=", int(position / 8)));
                }
                if let Some(Piece::Varbit(header, field)) = group.pieces.last() {
                    let (access, _) = scope.fields_place(header, *field);
                    let length = scope.varbit_bytes(&access);
                    scope.push(S::Assign(name(count.clone()), "+=", length));
                }
            });
        }
        name(count)
    }

    fn copy_piece(&mut self, target: &C, piece: &Piece<'_>) {
        match piece {
            Piece::Varbit(header, field) => {
                let (access, pointer) = self.fields_place(header, *field);
                let count = self.varbit_bytes(&access);
                self.push(S::Eval(call("memcpy", vec![target.clone(), pointer, count])));
            }
            Piece::Fields { header, first, bits } => {
                let (_, pointer) = self.fields_place(header, *first);
                self.push(S::Eval(call("memcpy", vec![target.clone(), pointer, int(bits / 8)])));
            }
            Piece::Expr(expr) => {
                let bits = Bits { offset: 0, width: expr.ty.width(), bytes: expr.ty.width() / 8, after_varbit: false };
                match self.value(expr) {
                    _ if bits.width == 0 => {}
                    Value::Narrow(value) => {
                        let value = self.atom(value);
                        super::field::store(target, bits, &value, &mut self.out);
                    }
                    Value::Wide(limbs) => {
                        let arguments = vec![target.clone(), int(0), int(bits.width), limbs];
                        self.push(S::Eval(call("ws_wide_store", arguments)));
                    }
                }
            }
        }
    }

    /// Joins pieces of any width; returns the count of bytes.
    fn join_groups(&mut self, buffer: &str, groups: &[Group<'_>]) -> C {
        let joined = self.fresh("joined");
        let start = C::List(vec![name(buffer), int(0), int(0)]);
        self.push(declare(Type::Joined, joined.clone(), start));
        let target = unary("&", name(joined));
        for group in groups {
            self.in_group(group, |scope| {
                for piece in &group.pieces {
                    scope.join_piece(&target, piece);
                }
            });
        }
        call("ws_join_end", vec![target])
    }

    fn join_piece(&mut self, target: &C, piece: &Piece<'_>) {
        let join = |function, mut arguments: Vec<C>| {
            arguments.insert(0, target.clone());
            S::Eval(call(function, arguments))
        };
        match piece {
            Piece::Varbit(header, field) => {
                let access = self.access(header);
                let valid = self.valid(&access);
                let bits = self.field_bits(&access, *field, None);
                let (pointer, length) = (self.pointer(&access), self.varbit_bytes(&access));
                let count = binary("*", length, int(8));
                self.guarded(valid, vec![join("ws_join_bits", vec![pointer, int(bits.offset), count])]);
            }
            Piece::Fields { header, first, bits } if *bits > 64 * LOADS_MAX => {
                let (_, pointer) = self.fields_place(header, *first);
                self.push(join("ws_join_bits", vec![pointer, int(0), int(*bits)]));
            }
            Piece::Fields { .. } => {
                for (number, bytes) in self.numbers(piece) {
                    self.push(join("ws_join", vec![number, int(8 * bytes)]));
                }
            }
            Piece::Expr(expr) => {
                let width = expr.ty.width();
                match self.value(expr) {
                    Value::Narrow(value) => self.push(join("ws_join", vec![value, int(width)])),
                    Value::Wide(limbs) => self.push(join("ws_join_wide", vec![limbs, int(width)])),
                }
            }
        }
    }
}

/// Adds to a native sum.
fn add_native(native: &str, summand: C) -> S {
    assign(name(native), call("ws_sum_add", vec![name(native), summand]))
}

/// Native summands of `bytes` bytes that begin at bit `position` (a whole byte) of the words.
fn native_sums(pointer: &C, bytes: u32, position: u32, stores: &[NarrowStore]) -> Vec<C> {
    let place = |at: u32| plus(pointer.clone(), at);
    let byte = |at: u32, shift: &str| binary("<<", call("ws_load8", vec![place(at)]), name(shift));
    let (mut sums, mut at) = (Vec::new(), 0);
    let is_second = |at: u32| (position / 8 + at) % 2 == 1;
    if bytes.div_ceil(8) > LOADS_MAX {
        if is_second(0) {
            sums.push(byte(0, "WS_SUM_SECOND_BYTE"));
            at = 1;
        }
        sums.push(call("ws_sum_bytes", vec![place(at), int(bytes - at)]));
        return sums;
    }
    // Few numbers of 32 bits at most do not overflow a word, and need no carry each.
    let mut narrow: Option<C> = None;
    while at < bytes {
        let size = if is_second(at) { 1 } else { NarrowStore::load_bytes(stores, at, bytes - at) };
        let summand = match size {
            1 if is_second(at) => byte(at, "WS_SUM_SECOND_BYTE"),
            1 => byte(at, "WS_SUM_FIRST_BYTE"),
            _ => call(&format!("ws_sum_load{}", 8 * size), vec![place(at)]),
        };
        match narrow {
            _ if size == 8 => sums.push(summand),
            Some(others) => narrow = Some(binary("+", others, summand)),
            None => narrow = Some(summand),
        }
        at += size;
    }
    sums.extend(narrow);
    sums
}

/// Whether pieces of fields, which are loaded as words, begin at whole bytes of the words.
fn fields_start_on_bytes(group: &Group<'_>) -> bool {
    let mut position = 0;
    group.pieces.iter().all(|piece| {
        let fits = !matches!(piece, Piece::Fields { .. }) || position % 8 == 0;
        position += piece.width().unwrap_or(0);
        fits
    })
}

fn pieces_are_bytes(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().all(|piece| piece.width().is_some_and(|width| width.is_multiple_of(8)))
}

impl Scope<'_, '_> {
    /// Whether a sum can be taken group by group: all groups but the last are whole words, a varbit field comes last if
    /// at all and begins a word, and so does the payload.
    fn sums_by_words(&self, groups: &[Group<'_>], payload: bool) -> bool {
        let Some((last, others)) = groups.split_last() else { return true };
        let whole_words = |group: &Group<'_>| group.width().is_some_and(|width| width.is_multiple_of(16));
        let last_fits = match last.width() {
            Some(_) => !payload || whole_words(last),
            None => !payload && self.varbit_ends(last, 16),
        };
        others.iter().all(whole_words) && last_fits && groups.iter().all(fields_start_on_bytes)
    }

    /// Whether every piece is whole bytes, and varbit fields come last in their groups.
    fn in_whole_bytes(&self, groups: &[Group<'_>]) -> bool {
        groups.iter().all(|group| match group.width() {
            Some(_) => pieces_are_bytes(&group.pieces),
            None => self.varbit_ends(group, 8) && pieces_are_bytes(&group.pieces[..group.pieces.len() - 1]),
        })
    }

    /// Whether a varbit field is the group's last piece and its only one, in a header that is valid then, whole bytes
    /// from the header's start, and begins at a multiple of `unit` bits of the group.
    fn varbit_ends(&self, group: &Group<'_>, unit: u32) -> bool {
        let Some((Piece::Varbit(header, field), others)) = group.pieces.split_last() else { return false };
        let before: Option<u32> = others.iter().map(Piece::width).sum();
        let ty = self.emitter.program.header_type(header);
        group.guard == Some(*header)
            && ty.offset_bits(*field as usize).is_multiple_of(8)
            && before.is_some_and(|width| width.is_multiple_of(unit))
    }
}
