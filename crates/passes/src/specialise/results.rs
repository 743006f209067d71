//! The result of a lookup in a table whose contents are known.
//!
//! What enters: a table and its contents. What leaves: expressions without a branch: which entry matches, whether one
//! does, and values that depend on it.

use super::Contents;
use base::{Bits, Condition, FieldMatch};
use ir::{ActionCall, BinaryOp, Expr, ExprKind, Table, Type, UnaryOp};

/// The result of a lookup: an entry, or the default action on a miss.
pub(super) struct LookupResults<'c> {
    known: &'c Contents,
    /// The position of the result: an entry's, or the number of entries for a miss.
    chosen: Expr,
    /// Whether some packets miss.
    misses: bool,
}

impl<'c> LookupResults<'c> {
    /// The results, and the expression for the position of a packet's result; the caller assigns it to a variable, and
    /// replaces it by that.
    pub(super) fn new(table: &Table, known: &'c Contents) -> LookupResults<'c> {
        let (chosen, misses) = choose(table, known);
        LookupResults { known, chosen, misses }
    }

    /// The expression for the position.
    pub(super) fn chosen(&self) -> &Expr {
        &self.chosen
    }

    /// The variable with the position.
    pub(super) fn chosen_is(self, chosen: Expr) -> LookupResults<'c> {
        LookupResults { chosen, ..self }
    }

    /// The number of entries that can be hit.
    pub(super) fn entries(&self) -> usize {
        self.known.entries.len()
    }

    fn is(&self, position: usize) -> Expr {
        match self.chosen.ty {
            // With one entry, `chosen` is whether it is hit.
            Type::Bool if position == 0 => self.chosen.clone(),
            Type::Bool => Expr::unary(UnaryOp::Not, self.chosen.clone()),
            ty => Expr::binary(BinaryOp::Eq, self.chosen.clone(), Expr::bit(ty.width(), position as u64)),
        }
    }

    /// Whether a packet hits.
    pub(super) fn hit(&self) -> Expr {
        match (self.entries(), self.misses) {
            (0, _) => Expr::bool(false),
            (_, false) => Expr::bool(true),
            (1, true) => self.is(0),
            (entries, true) => Expr::unary(UnaryOp::Not, self.is(entries)),
        }
    }

    /// Every result with its position.
    pub(super) fn calls(&self) -> Vec<(usize, &'c ActionCall)> {
        let default = self.misses.then_some(&self.known.default);
        self.known.entries.iter().map(|entry| &entry.call).chain(default).enumerate().collect()
    }

    /// A value that depends on the result.
    pub(super) fn pick(&self, values: Vec<(usize, Expr)>) -> Expr {
        let mut values = values.into_iter().rev();
        let Some((_, last)) = values.next() else { return Expr::bool(false) };
        values.fold(
            last,
            |rest, (position, value)| if value == rest { rest } else { mux(self.is(position), value, rest) },
        )
    }
}

fn mux(cond: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty;
    Expr { kind: ExprKind::Mux(Box::new(cond), Box::new(yes), Box::new(no)), ty }
}

/// The expression, without a branch, for the position of the matching entry, and whether packets may match none.
/// Entries after one that matches everything are never hit.
fn choose(table: &Table, known: &Contents) -> (Expr, bool) {
    let conditions: Vec<Expr> = known.entries.iter().map(|entry| condition(table, &entry.key)).collect();
    let is_certain = |cond: &Expr| cond.as_const().is_some_and(|value| !value.is_zero());
    let misses = !conditions.iter().any(is_certain);
    match conditions.len() {
        0 => (Expr::bool(false), true),
        1 => (conditions.into_iter().next().unwrap_or(Expr::bool(false)), misses),
        count => {
            let last = if misses { count } else { count - 1 };
            let positions = conditions.into_iter().enumerate().rev();
            let chosen = positions.fold(Expr::bit(8, last as u64), |rest, (position, cond)| {
                mux(cond, Expr::bit(8, position as u64), rest)
            });
            (chosen, misses)
        }
    }
}

/// Whether a packet has this key.
fn condition(table: &Table, key: &[FieldMatch]) -> Expr {
    let fields = table.keys.iter().zip(key);
    let conditions = fields.filter_map(|(field, wanted)| field_condition(&field.expr, wanted));
    conditions.reduce(|all, more| Expr::binary(BinaryOp::LogicalAnd, all, more)).unwrap_or(Expr::bool(true))
}

/// Whether a field of a key has one of these values; none if it always has.
fn field_condition(field: &Expr, wanted: &FieldMatch) -> Option<Expr> {
    let width = field.ty.width();
    let value = || Expr::cast(Type::Bit(width), field.clone());
    let constant = |bits: &Bits| Expr::constant(Type::Bit(width), bits.clone());
    if width == 0 {
        return None;
    }
    match wanted.condition(width) {
        Condition::Masked { mask, .. } if mask.is_zero() => None,
        Condition::Masked { value: wanted, mask } if mask == Bits::ones(width) => {
            Some(Expr::binary(BinaryOp::Eq, value(), constant(&wanted)))
        }
        Condition::Masked { value: wanted, mask } => {
            let part = Expr::binary(BinaryOp::And, value(), constant(&mask));
            Some(Expr::binary(BinaryOp::Eq, part, constant(&wanted)))
        }
        Condition::Between { low, high } => {
            let least = Expr::binary(BinaryOp::Ge, value(), constant(&low));
            let most = Expr::binary(BinaryOp::Le, value(), constant(&high));
            Some(Expr::binary(BinaryOp::LogicalAnd, least, most))
        }
    }
}
