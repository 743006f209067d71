//! Remainders of polynomials over the field of two elements, by constants of the divisor g of degree w.
//!
//! What enters: the value and the divisor. What leaves: a call of `ws_remainder`, which multiplies each limb but the
//! lowest by the remainder of its power of x, so that the multiplications are independent, and reduces the remaining 64
//! bits by Barrett reduction. The constants are computed here, once.

use super::scope::Scope;
use ir::{Expr, ExprKind};
use lir::{Expr as C, Type, call, int, long, name, static_array};

impl Scope<'_, '_> {
    /// The remainder of a value.
    pub(crate) fn remainder(&mut self, data: &Expr, width_bits: u32, polynomial: u32) -> C {
        // Leading zeros do not change the remainder.
        let data = match &data.kind {
            ExprKind::Cast(inner) if !inner.ty.is_signed() && inner.ty.width() <= data.ty.width() => inner,
            _ => data,
        };
        let limb_count = data.ty.width().div_ceil(64);
        let constants: Vec<C> = constants(width_bits, polynomial, limb_count).into_iter().map(long).collect();
        let table = self.fresh("divisor");
        self.push(static_array(Type::U64, table.clone(), constants));
        let limbs = self.any_limbs(data);
        call("ws_remainder", vec![name(table), int(width_bits), limbs, int(limb_count)])
    }
}

/// The constants of `ws_remainder`: the lower 64 bits of x^w times the quotient of x^64 and g, g without its highest
/// power, and the remainders of x^64, x^128, ... for as many limbs; the first of them always.
fn constants(width_bits: u32, polynomial: u32, limb_count: u32) -> Vec<u64> {
    let divisor = u64::from(polynomial);
    let (mut quotient, mut power) = (0_u64, 1_u64);
    let mut powers = Vec::new();
    for exponent in 1..=64 * limb_count.saturating_sub(1).max(1) {
        let is_over = power >> (width_bits - 1) & 1 == 1;
        power = power << 1 & u64::MAX >> (64 - width_bits);
        power ^= if is_over { divisor } else { 0 };
        if exponent <= 64 {
            quotient = quotient << 1 | u64::from(is_over);
        }
        if exponent % 64 == 0 {
            powers.push(power);
        }
    }
    [vec![quotient << width_bits, divisor], powers].concat()
}
