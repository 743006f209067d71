//! The operators, by the text of the specification, on integers of any size.

use super::Ty;
use num_bigint::BigInt;

/// `2^exponent`.
fn power(exponent: u32) -> BigInt {
    BigInt::from(1) << exponent
}

/// The value of the type that is equal to `value` modulo `2^width`.
pub fn wrap(ty: Ty, value: &BigInt) -> BigInt {
    let modulus = power(ty.width());
    let rest = ((value % &modulus) + &modulus) % &modulus;
    match ty {
        Ty::Int(width) if rest >= power(width - 1) => rest - modulus,
        _ => rest,
    }
}

/// The bits of a value as a non-negative number.
pub fn pattern(ty: Ty, value: &BigInt) -> BigInt {
    wrap(Ty::Bit(ty.width()), value)
}

fn clamp(ty: Ty, value: BigInt) -> BigInt {
    let (low, high) = match ty {
        Ty::Int(width) => (-power(width - 1), power(width - 1) - 1),
        Ty::Bool | Ty::Bit(_) => (BigInt::from(0), power(ty.width()) - 1),
    };
    value.clamp(low, high)
}

/// The value of a prefix operator.
pub fn unary(operator: &str, ty: Ty, operand: &BigInt) -> BigInt {
    match operator {
        "!" => BigInt::from(1) - operand,
        "-" => wrap(ty, &-operand),
        // All bits inverted: `-x - 1` in two's complement.
        "~" => wrap(ty, &(-operand - 1)),
        _ => operand.clone(),
    }
}

/// The value of an infix operator other than `&&` and `||`. `ty` is the type of the result; each operand has its own
/// type.
pub fn binary(operator: &str, ty: Ty, (left_ty, left): (Ty, &BigInt), (right_ty, right): (Ty, &BigInt)) -> BigInt {
    let truth = |holds: bool| BigInt::from(u8::from(holds));
    let bits =
        |combine: fn(BigInt, BigInt) -> BigInt| wrap(ty, &combine(pattern(left_ty, left), pattern(right_ty, right)));
    match operator {
        "+" => wrap(ty, &(left + right)),
        "-" => wrap(ty, &(left - right)),
        "*" => wrap(ty, &(left * right)),
        "/" => left / right,
        "%" => left % right,
        "|+|" => clamp(ty, left + right),
        "|-|" => clamp(ty, left - right),
        "&" => bits(|a, b| a & b),
        "|" => bits(|a, b| a | b),
        "^" => bits(|a, b| a ^ b),
        "<<" => match amount(ty, right) {
            Some(amount) => wrap(ty, &(left << amount)),
            None => BigInt::from(0),
        },
        // Division that rounds down, also for negative numbers, as `>>` on integers does.
        ">>" => left >> amount(ty, right).unwrap_or(ty.width()),
        "++" => wrap(ty, &((pattern(left_ty, left) << right_ty.width()) + pattern(right_ty, right))),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        "<=" => truth(left <= right),
        ">" => truth(left > right),
        _ => truth(left >= right),
    }
}

/// The amount of a shift; `None` if it shifts all bits of a value of the type out.
fn amount(ty: Ty, amount: &BigInt) -> Option<u32> {
    u32::try_from(amount).ok().filter(|amount| *amount < ty.width())
}

/// Bits `high` to `low` of a value.
pub fn slice(ty: Ty, value: &BigInt, high: u32, low: u32) -> BigInt {
    (pattern(ty, value) >> low) % power(high - low + 1)
}

/// The value with bits `high` to `low` replaced.
pub fn with_slice(ty: Ty, value: &BigInt, high: u32, low: u32, part: &BigInt) -> BigInt {
    let old = slice(ty, value, high, low);
    wrap(ty, &(pattern(ty, value) - (old << low) + (part << low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operator: &str, ty: Ty, left: i64, right: i64, expected: i64) {
        let found = binary(operator, ty, (ty, &BigInt::from(left)), (ty, &BigInt::from(right)));
        assert_eq!(found, BigInt::from(expected), "{left} {operator} {right}");
    }

    #[test]
    fn examples() {
        check("+", Ty::Bit(8), 200, 100, 44);
        check("-", Ty::Bit(8), 1, 2, 255);
        check("*", Ty::Int(8), -128, -1, -128);
        check("|+|", Ty::Int(8), 100, 100, 127);
        check("|-|", Ty::Bit(8), 1, 2, 0);
        check("|-|", Ty::Int(8), -100, 100, -128);
        check("&", Ty::Int(8), -1, 5, 5);
        check("^", Ty::Int(8), -1, 5, -6);
        check("<<", Ty::Bit(8), 255, 8, 0);
        check("<<", Ty::Bit(8), 255, 4, 240);
        assert_eq!(
            binary(">>", Ty::Int(8), (Ty::Int(8), &BigInt::from(-3)), (Ty::Bit(8), &BigInt::from(200))),
            BigInt::from(-1)
        );
        assert_eq!(
            binary("++", Ty::Bit(12), (Ty::Bit(4), &BigInt::from(9)), (Ty::Int(8), &BigInt::from(-1))),
            BigInt::from(0x9ff)
        );
        assert_eq!(unary("~", Ty::Bit(8), &BigInt::from(1)), BigInt::from(254));
        assert_eq!(unary("-", Ty::Int(8), &BigInt::from(-128)), BigInt::from(-128));
        assert_eq!(slice(Ty::Int(8), &BigInt::from(-128), 7, 4), BigInt::from(8));
        assert_eq!(with_slice(Ty::Int(8), &BigInt::from(0), 7, 4, &BigInt::from(8)), BigInt::from(-128));
    }
}
