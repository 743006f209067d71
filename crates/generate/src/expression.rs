//! Values of fields and arguments as text.
//!
//! What enters: an expression such as `10.0.0.1 + flow % 256`. What leaves: its value for a flow. The same seed and
//! flow give the same value.

use base::{Bits, Rng};
use core::net::{Ipv4Addr, Ipv6Addr};

/// The syntax, for people.
pub const EXPRESSION_HELP: &str = "a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and \
     parentheses between them";

/// The deepest nesting.
const DEPTH_MAX: usize = 64;

/// A value that depends on the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// This number.
    Number(u128),
    /// The number of the flow, from 0 on.
    Flow,
    /// The number of entries that each table is to have.
    Entries,
    /// One of the ports to which packets go.
    Port,
    /// The value of the entry's key at this position.
    Key(usize),
    /// A random number between two, both included. The position makes each occurrence a number of its own.
    Random(u64, Box<Expression>, Box<Expression>),
    /// Two operands. Results wrap; division by zero gives zero.
    Operation(char, Box<Expression>, Box<Expression>),
}

/// What the value of an expression depends on.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The seed, different for each field and parameter.
    pub seed: u64,
    /// The flow.
    pub flow: u64,
    /// The entries of a table.
    pub entries: u64,
    /// The ports to which packets go, first and last.
    pub ports: (u32, u32),
    /// The values of an entry's keys.
    pub key: &'a [Bits],
}

impl Context<'_> {
    /// The random generator of one purpose.
    pub(crate) fn rng(&self, purpose: u64) -> Rng {
        let mixed = self.flow.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.rotate_left(32);
        Rng::new(self.seed.wrapping_add(mixed))
    }
}

/// A random number between two, both included.
pub(crate) fn between(rng: &mut Rng, low: u128, high: u128) -> u128 {
    let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    match high.checked_sub(low).and_then(|distance| distance.checked_add(1)) {
        Some(count) => low + random % count,
        None if high < low => low,
        None => random,
    }
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let expression = reader.sum()?;
        match reader.peek() {
            None => Ok(expression),
            Some(_) => Err(reader.wrong("an operator is missing")),
        }
    }

    /// Whether a number fits in so many bits. What depends on the flow is cut to them.
    pub(crate) fn fits(&self, width: u32) -> Result<(), String> {
        match self {
            Expression::Number(number) if width < 128 && number >> width != 0 => {
                Err(format!("{number} does not fit in {width} bits"))
            }
            _ => Ok(()),
        }
    }

    /// The value for a flow.
    pub fn value(&self, context: &Context<'_>) -> u128 {
        match self {
            Expression::Number(number) => *number,
            Expression::Flow => u128::from(context.flow),
            Expression::Entries => u128::from(context.entries),
            Expression::Port => {
                let (first, last) = context.ports;
                between(&mut context.rng(u64::MAX), u128::from(first), u128::from(last))
            }
            Expression::Key(position) => context.key.get(*position).map_or(0, low_u128),
            Expression::Random(purpose, low, high) => {
                between(&mut context.rng(*purpose), low.value(context), high.value(context))
            }
            Expression::Operation(operator, left, right) => {
                let (left, right) = (left.value(context), right.value(context));
                match operator {
                    '+' => left.wrapping_add(right),
                    '-' => left.wrapping_sub(right),
                    '*' => left.wrapping_mul(right),
                    '/' => left.checked_div(right).unwrap_or(0),
                    _ => left.checked_rem(right).unwrap_or(0),
                }
            }
        }
    }
}

/// The low 128 bits.
pub(crate) fn low_u128(bits: &Bits) -> u128 {
    let limb = |position| u128::from(bits.limbs().get(position).copied().unwrap_or(0));
    limb(1) << 64 | limb(0)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn wrong(&self, why: &str) -> String {
        format!("`{}`: {why} before `{}`; {EXPRESSION_HELP}", self.text, &self.text[self.at..])
    }

    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(self.wrong(&format!("`{wanted}` is missing"))) }
    }

    fn operands(
        &mut self,
        operators: &[char],
        operand: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        while let Some(&operator) = operators.iter().find(|operator| self.take(**operator)) {
            left = Expression::Operation(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.operands(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.operands(&['*', '/', '%'], Self::operand)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.take('(') {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(self.wrong("there are too many parentheses"));
            }
            let inner = self.sum()?;
            self.depth -= 1;
            self.expect(')')?;
            return Ok(inner);
        }
        let start = {
            self.peek();
            self.at
        };
        let rest = &self.text[start..];
        let length = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "._:".contains(it))).unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        match word {
            "flow" => Ok(Expression::Flow),
            "entries" => Ok(Expression::Entries),
            "port" => Ok(Expression::Port),
            "key" => self.key(),
            "random" => self.random(start),
            _ => number(word).map(Expression::Number).ok_or_else(|| {
                self.at = start;
                self.wrong("a value is missing")
            }),
        }
    }

    fn key(&mut self) -> Result<Expression, String> {
        if !self.take('(') {
            return Ok(Expression::Key(0));
        }
        match self.sum()? {
            Expression::Number(position) if position < 256 => {
                self.expect(')')?;
                Ok(Expression::Key(position as usize))
            }
            _ => Err(self.wrong("the position of a key, from 0 on, is missing")),
        }
    }

    fn random(&mut self, start: usize) -> Result<Expression, String> {
        self.expect('(')?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("there are too many parentheses"));
        }
        let low = self.sum()?;
        self.expect(',')?;
        let high = self.sum()?;
        self.depth -= 1;
        self.expect(')')?;
        if let (Expression::Number(low), Expression::Number(high)) = (&low, &high)
            && low > high
        {
            return Err(self.wrong(&format!("there is no number from {low} to {high}")));
        }
        Ok(Expression::Random(start as u64, Box::new(low), Box::new(high)))
    }
}

/// A number, an Ethernet address or an IP address.
fn number(word: &str) -> Option<u128> {
    if let Ok(address) = word.parse::<Ipv4Addr>() {
        return Some(u32::from(address).into());
    }
    let parts: Vec<&str> = word.split(':').collect();
    if parts.len() == 6 && parts.iter().all(|part| (1..=2).contains(&part.len())) {
        let bytes: Option<Vec<u128>> = parts.iter().map(|part| u128::from_str_radix(part, 16).ok()).collect();
        return Some(bytes?.iter().fold(0, |address, byte| address << 8 | byte));
    }
    if let Ok(address) = word.parse::<Ipv6Addr>() {
        return Some(address.into());
    }
    values::number(word).and_then(|number| u128::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// The values for the flows 0 to 3, or the error.
    fn check(text: &str, expected: Expect) {
        let key = [Bits::from_u64(16, 7), Bits::from_u64(8, 9)];
        let shown = Expression::parse(text).map(|expression| {
            let value =
                |flow| expression.value(&Context { seed: 1, flow, entries: 3, ports: (4, 5), key: &key }).to_string();
            (0..4).map(value).collect::<Vec<_>>().join(" ")
        });
        expected.assert_eq(&shown.unwrap_or_else(|why| why));
    }

    #[test]
    fn expressions_have_values_for_each_flow() {
        check("10.0.0.1 + flow % entries", expect!["167772161 167772162 167772163 167772161"]);
        check("2 * (flow + 1) - 1", expect!["1 3 5 7"]);
        check("0x10", expect!["16 16 16 16"]);
        check("::ff", expect!["255 255 255 255"]);
        check("00:00:00:00:01:00", expect!["256 256 256 256"]);
        check("key + key(1)", expect!["16 16 16 16"]);
        check("flow / 0", expect!["0 0 0 0"]);
        check("random(5, 5) + port / 4", expect!["6 6 6 6"]);
        check("random(1, 1000)", expect!["635 996 919 129"]);
    }

    #[test]
    fn errors_show_their_place() {
        check(
            "1 +",
            expect![
                "`1 +`: a value is missing before ``; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
        check(
            "(1",
            expect![
                "`(1`: `)` is missing before ``; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
        check(
            "random(5, 1)",
            expect![
                "`random(5, 1)`: there is no number from 5 to 1 before ``; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
        check(
            "1 2",
            expect![
                "`1 2`: an operator is missing before `2`; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
        check(
            "é",
            expect![
                "`é`: a value is missing before `é`; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
        check(
            &"(".repeat(1000),
            expect![
                "`((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((`: there are too many parentheses before `(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((`; a number or an address; flow, entries, port, key(N), random(LOW, HIGH); + - * / % and parentheses between them"
            ],
        );
    }
}
