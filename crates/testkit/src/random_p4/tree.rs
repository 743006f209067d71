//! Expression trees, and their text with the fewest parentheses that the grammar allows.

use std::fmt::{Display, Formatter, Result};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// An expression that never needs parentheses: a name, a literal without a sign, a call, a list.
    Atom(String),
    Unary(&'static str, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    /// The type's text and the operand.
    Cast(String, Box<Tree>),
    Conditional(Box<Tree>, Box<Tree>, Box<Tree>),
    /// The high and the low bit.
    Slice(Box<Tree>, u32, u32),
    /// The position and the width.
    IndexedSlice(Box<Tree>, Box<Tree>, u32),
}

/// The binding strength of operators in the grammar of P4_16.
const CONDITIONAL: u32 = 0;
const UNARY: u32 = 11;
const POSTFIX: u32 = 12;

fn binary_level(operator: &str) -> u32 {
    match operator {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" => 3,
        "<" | "<=" | ">" | ">=" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "<<" | ">>" => 8,
        "+" | "-" | "|+|" | "|-|" | "++" => 9,
        _ => 10,
    }
}

impl Tree {
    pub fn atom(text: impl Into<String>) -> Tree {
        Tree::Atom(text.into())
    }

    pub fn unary(operator: &'static str, operand: Tree) -> Tree {
        Tree::Unary(operator, Box::new(operand))
    }

    pub fn binary(operator: &'static str, left: Tree, right: Tree) -> Tree {
        Tree::Binary(operator, Box::new(left), Box::new(right))
    }

    pub fn cast(ty: impl Into<String>, operand: Tree) -> Tree {
        Tree::Cast(ty.into(), Box::new(operand))
    }

    pub fn conditional(condition: Tree, yes: Tree, no: Tree) -> Tree {
        Tree::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
    }

    fn level(&self) -> u32 {
        match self {
            Tree::Atom(_) => u32::MAX,
            Tree::Unary(..) | Tree::Cast(..) => UNARY,
            Tree::Binary(operator, ..) => binary_level(operator),
            Tree::Conditional(..) => CONDITIONAL,
            Tree::Slice(..) | Tree::IndexedSlice(..) => POSTFIX,
        }
    }

    /// Writes the tree as an operand that must bind at least this tightly.
    fn write(&self, f: &mut Formatter<'_>, level_min: u32) -> Result {
        // `a < b` may look like the start of type arguments wherever a call may follow.
        let is_angle = matches!(self, Tree::Binary("<" | ">" | "<=" | ">=" | ">>", ..));
        if self.level() < level_min || is_angle { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Tree::Atom(text) => f.write_str(text),
            Tree::Unary(operator, operand) => {
                f.write_str(operator)?;
                // Two of them would form the operator `++`.
                let is_plus = *operator == "+" && matches!(**operand, Tree::Unary("+", _));
                operand.write(f, if is_plus { POSTFIX } else { UNARY })
            }
            Tree::Cast(ty, operand) => {
                write!(f, "({ty}) ")?;
                operand.write(f, UNARY)
            }
            Tree::Binary(operator, left, right) => {
                let level = binary_level(operator);
                left.write(f, level)?;
                write!(f, " {operator} ")?;
                right.write(f, level + 1)
            }
            Tree::Conditional(condition, yes, no) => {
                condition.write(f, CONDITIONAL + 1)?;
                f.write_str(" ? ")?;
                yes.write(f, CONDITIONAL + 1)?;
                f.write_str(" : ")?;
                no.write(f, CONDITIONAL + 1)
            }
            Tree::Slice(base, high, low) => {
                base.write(f, POSTFIX)?;
                write!(f, "[{high}:{low}]")
            }
            Tree::IndexedSlice(base, position, width) => {
                base.write(f, POSTFIX)?;
                write!(f, "[{position} +: {width}]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        let name = |text: &str| Tree::atom(text);
        let sum = Tree::binary("+", name("a"), name("b"));
        let minus = Tree::binary("-", name("c"), sum.clone());
        assert_eq!(minus.to_string(), "c - (a + b)");
        assert_eq!(Tree::binary("-", sum.clone(), name("c")).to_string(), "a + b - c");
        assert_eq!(Tree::binary("*", sum.clone(), name("c")).to_string(), "(a + b) * c");
        assert_eq!(Tree::cast("bit<8>", sum.clone()).to_string(), "(bit<8>) (a + b)");
        assert_eq!(Tree::unary("-", Tree::unary("-", name("a"))).to_string(), "--a");
        assert_eq!(Tree::unary("+", Tree::unary("+", name("a"))).to_string(), "+(+a)");
        assert_eq!(Tree::Slice(Box::new(sum), 3, 0).to_string(), "(a + b)[3:0]");
    }
}
