//! Random expressions and places.

use super::{Generator, Place};
use base::Bits;
use ir::{BinaryOp, Expr, ExprKind, FieldType, HeaderRef, Type, UnaryOp};

impl Generator<'_> {
    /// A value, with a preference for those at the limits of the range.
    pub(super) fn bits(&mut self, width: u32) -> Bits {
        let top = Bits::from_u64(width, 1).shl(u64::from(width) - 1);
        match self.below(8) {
            0 => Bits::zero(width),
            1 => Bits::from_u64(width, 1),
            2 => Bits::ones(width),
            3 => top,
            4 => top.not(),
            5 => Bits::from_u64(width, self.rng.below(16)),
            _ => {
                let mut bytes = vec![0; width.div_ceil(8) as usize];
                self.rng.fill(&mut bytes);
                Bits::from_be_bytes(width, &bytes)
            }
        }
    }

    fn constant(&mut self, ty: Type) -> Expr {
        Expr::constant(ty, self.bits(ty.width()))
    }

    /// An expression of a type, up to the greatest depth.
    pub(super) fn expr(&mut self, ty: Type) -> Expr {
        let height = self.below(self.options.expression_height as usize + 1) as u32;
        self.expr_of_height(ty, height)
    }

    pub(super) fn cond(&mut self) -> Expr {
        self.expr(Type::Bool)
    }

    pub(super) fn expr_of_height(&mut self, ty: Type, height: u32) -> Expr {
        if height == 0 {
            return self.leaf(ty);
        }
        match ty {
            Type::Bool => self.truth(height - 1),
            Type::Bit(_) | Type::Int(_) => self.arithmetic(ty, height - 1),
        }
    }

    /// A constant, variable or field, cast if there is none of the type.
    fn leaf(&mut self, ty: Type) -> Expr {
        if self.once_in(4) {
            return self.constant(ty);
        }
        let readable: Vec<_> =
            self.scope.readable.iter().copied().filter(|var| self.program.vars[*var].ty == ty).collect();
        match self.pick(&readable) {
            Some(var) if !self.once_in(3) => Expr { kind: ExprKind::Var(var), ty },
            _ => {
                let any = self.any_leaf();
                Expr::cast(ty, any)
            }
        }
    }

    /// A variable or field of any type.
    pub(super) fn any_leaf(&mut self) -> Expr {
        if self.once_in(3)
            && let Some(var) = self.pick(&self.scope.readable.clone())
        {
            return Expr { kind: ExprKind::Var(var), ty: self.program.vars[var].ty };
        }
        match self.field() {
            Some((header, field, ty)) => Expr { kind: ExprKind::Field(header, field), ty },
            None => {
                let ty = self.ty();
                self.constant(ty)
            }
        }
    }

    /// A field other than a varbit field.
    pub(super) fn field(&mut self) -> Option<(HeaderRef, u32, Type)> {
        let header = self.header_ref()?;
        let fields = &self.program.header_type(&header).fields;
        let fixed: Vec<(u32, Type)> = fields
            .iter()
            .enumerate()
            .filter_map(|(position, field)| match field.ty {
                FieldType::Fixed(ty) => Some((position as u32, ty)),
                FieldType::Varbit(_) => None,
            })
            .collect();
        let (field, ty) = self.pick(&fixed)?;
        Some((header, field, ty))
    }

    /// A varbit field, and its greatest length.
    pub(super) fn varbit(&mut self) -> Option<((HeaderRef, u32), u32)> {
        // Few headers have one.
        (0..8).find_map(|_| {
            let header = self.header_ref()?;
            let (field, most) = self.program.header_type(&header).varbit()?;
            Some(((header, field as u32), most))
        })
    }

    /// A header, directly or through a stack.
    pub(super) fn header_ref(&mut self) -> Option<HeaderRef> {
        if !self.once_in(3) {
            return self.pick(&self.scope.headers.clone()).map(HeaderRef::Fixed);
        }
        let stack = self.pick(&self.scope.stacks.clone())?;
        let is_in_parser = self.scope.place == Place::Parser;
        Some(match self.below(3) {
            _ if !self.options.indexed_stacks && !is_in_parser => {
                HeaderRef::Fixed(*self.rng.pick(&self.program.stacks[stack].elements))
            }
            0 => HeaderRef::Last(stack),
            1 if is_in_parser => HeaderRef::Next(stack),
            _ if !self.options.indexed_stacks => HeaderRef::Last(stack),
            _ => HeaderRef::Element {
                stack,
                index: Box::new(self.index(self.program.stacks[stack].elements.len() as u64)),
            },
        })
    }

    /// An index that is usually below `size`.
    pub(super) fn index(&mut self, size: u64) -> Expr {
        let width = *self.rng.pick(&[1, 2, 3, 8, 32, 70]);
        match self.below(4) {
            0 => Expr::bit(32, self.rng.below(size)),
            1 => self.leaf(Type::Bit(width)),
            _ => {
                let mask = Expr::bit(width, size.next_power_of_two() - 1);
                let leaf = self.leaf(Type::Bit(width));
                Expr::binary(BinaryOp::And, leaf, mask)
            }
        }
    }

    fn truth(&mut self, height: u32) -> Expr {
        use BinaryOp::*;
        match self.below(8) {
            0 => {
                let operand = self.expr_of_height(Type::Bool, height);
                Expr::unary(UnaryOp::Not, operand)
            }
            1 | 2 => {
                let op = *self.rng.pick(&[LogicalAnd, LogicalOr, Eq, Ne]);
                self.binary(op, Type::Bool, Type::Bool, height)
            }
            3 => match self.header_ref() {
                Some(header) => Expr { kind: ExprKind::IsValid(header), ty: Type::Bool },
                None => Expr::bool(true),
            },
            4 => self.mux(Type::Bool, height),
            5 if self.once_in(3)
                && let (Some((left, _)), Some((right, _))) = (self.varbit(), self.varbit()) =>
            {
                Expr { kind: ExprKind::VarbitEqual(left, right), ty: Type::Bool }
            }
            5 if self.once_in(3)
                && let Some(((header, field), most)) = self.varbit() =>
            {
                let length = Expr { kind: ExprKind::VarbitLength(header.clone(), field), ty: Type::Bit(32) };
                let bits = Expr { kind: ExprKind::VarbitBits(header, field), ty: Type::Bit(most) };
                let other = self.expr_of_height(bits.ty, height);
                let is_long = Expr::binary(Gt, length, Expr::bit(32, u64::from(most) / 2));
                Expr::binary(LogicalAnd, is_long, Expr::binary(Ge, bits, other))
            }
            5 => {
                let ty = self.ty();
                let operand = self.expr_of_height(ty, height);
                Expr::cast(Type::Bool, operand)
            }
            _ => {
                let op = *self.rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
                let ty = self.number_ty();
                self.binary(op, ty, ty, height)
            }
        }
    }

    fn arithmetic(&mut self, ty: Type, height: u32) -> Expr {
        use BinaryOp::*;
        match self.below(12) {
            0..=4 => {
                let ops = [Add, Sub, Mul, SaturatingAdd, SaturatingSub, And, Or, Xor, Div, Rem, Gather, Scatter];
                let count = if ty.is_signed() { ops.len() - 4 } else { ops.len() };
                let op = *self.rng.pick(&ops[..count]);
                self.binary(op, ty, ty, height)
            }
            5 => {
                let op = *self.rng.pick(&[Shl, Shr]);
                let amount = Type::Bit(*self.rng.pick(&[3, 8, 8, 32, 64, 66]));
                self.binary(op, ty, amount, height)
            }
            6 => {
                let op = *self.rng.pick(&[UnaryOp::Neg, UnaryOp::BitNot]);
                let operand = self.expr_of_height(ty, height);
                Expr::unary(op, operand)
            }
            7 => self.mux(ty, height),
            8 => self.slice(ty, height),
            9 => self.concat(ty, height),
            10 if self.scope.place == Place::Parser => {
                Expr::cast(ty, Expr { kind: ExprKind::PacketLength, ty: Type::Bit(32) })
            }
            _ => {
                let from = self.ty();
                let operand = self.expr_of_height(from, height);
                Expr::cast(ty, operand)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Type, right: Type, height: u32) -> Expr {
        let left = self.expr_of_height(left, height);
        let right = self.expr_of_height(right, height);
        Expr::binary(op, left, right)
    }

    fn mux(&mut self, ty: Type, height: u32) -> Expr {
        let cond = Box::new(self.expr_of_height(Type::Bool, height));
        let yes = Box::new(self.expr_of_height(ty, height));
        let no = Box::new(self.expr_of_height(ty, height));
        Expr { kind: ExprKind::Mux(cond, yes, no), ty }
    }

    fn slice(&mut self, ty: Type, height: u32) -> Expr {
        let (above, low) = (self.rng.below(70) as u32, self.rng.below(70) as u32);
        let width = ty.width();
        let base = if self.once_in(3) { Type::Int(above + width + low) } else { Type::Bit(above + width + low) };
        let base = Box::new(self.expr_of_height(base, height));
        let high = low + width - 1;
        Expr::cast(ty, Expr { kind: ExprKind::Slice { base, high, low }, ty: Type::Bit(width) })
    }

    fn concat(&mut self, ty: Type, height: u32) -> Expr {
        let width = ty.width();
        if width < 2 {
            return self.leaf(ty);
        }
        let low = self.rng.between(1, u64::from(width) - 1) as u32;
        let high = if ty.is_signed() { Type::Int(width - low) } else { Type::Bit(width - low) };
        let low = if self.once_in(3) { Type::Int(low) } else { Type::Bit(low) };
        let high = Box::new(self.expr_of_height(high, height));
        let low = Box::new(self.expr_of_height(low, height));
        Expr { kind: ExprKind::Concat(high, low), ty }
    }

    /// A place that may be written, and its type.
    pub(super) fn place(&mut self) -> (ir::Place, Type) {
        let (mut place, mut ty) = self.whole_place();
        while ty != Type::Bool && self.once_in(5) {
            let high = self.rng.below(u64::from(ty.width())) as u32;
            let low = self.rng.between(0, u64::from(high)) as u32;
            place = ir::Place::Slice { base: Box::new(place), high, low };
            ty = Type::Bit(high - low + 1);
        }
        (place, ty)
    }

    /// A place of a `Bit` type of at most 64 bits, if there is one.
    pub(super) fn small_place(&mut self) -> Option<(ir::Place, Type)> {
        (0..8).map(|_| self.place()).find(|(_, ty)| matches!(ty, Type::Bit(1..=64)))
    }

    fn whole_place(&mut self) -> (ir::Place, Type) {
        if self.once_in(2)
            && let Some((header, field, ty)) = self.field()
        {
            return (ir::Place::Field(header, field), ty);
        }
        let var = *self.rng.pick(&self.scope.writable);
        (ir::Place::Var(var), self.program.vars[var].ty)
    }
}
