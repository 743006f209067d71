//! Expressions, declarations and assignments.

use super::memory::{Pointer, Value};
use super::{Machine, NOW_NS, Run, Stop};
use base::index::Id as _;
use ir::RegisterId;
use lir::{EnvArray, Expr, StatePart, Type};

fn unsupported<T>(what: impl std::fmt::Debug) -> Result<T, Stop> {
    Err(Stop::Unsupported(format!("{what:?}")))
}

impl Machine<'_, '_> {
    /// The value of an expression, as a number.
    pub(super) fn number(&mut self, value: &Expr, run: &mut Run) -> Result<u64, Stop> {
        match self.expr(value, run)? {
            Value::Number { value, .. } => Ok(value),
            Value::Pointer(_) | Value::Entry(_) => Err(Stop::Wrong(format!("{value:?} is a place, not a number"))),
            // Any number may have been there.
            Value::Garbage => Ok(0xa5a5_a5a5_a5a5_a5a5),
        }
    }

    /// The value of an expression, as a place.
    pub(super) fn place(&mut self, value: &Expr, run: &mut Run) -> Result<Pointer, Stop> {
        match self.expr(value, run)? {
            Value::Pointer(pointer) => Ok(pointer),
            _ => Err(Stop::Wrong(format!("{value:?} is not a place"))),
        }
    }

    pub(super) fn expr(&mut self, value: &Expr, run: &mut Run) -> Result<Value, Stop> {
        match value {
            Expr::Name(name) => self.name(name, run),
            Expr::State(state) => Ok(run.states.get(state).copied().unwrap_or(Value::Garbage)),
            Expr::Saved(state) => Ok(self.packets[run.number].saved.get(state).copied().unwrap_or(Value::Garbage)),
            Expr::Int(number) => Ok(Value::short((*number).into())),
            Expr::Long(number) => Ok(Value::number(*number)),
            Expr::Unary(op, inner) => self.unary(op, inner, run),
            Expr::Binary(op, left, right) => self.binary(op, left, right, run),
            Expr::Conditional(condition, yes, no) => {
                let chosen = if self.number(condition, run)? != 0 { yes } else { no };
                self.expr(chosen, run)
            }
            Expr::Call(function, arguments) => self.call(function, arguments, run),
            Expr::Index(array, position) => {
                let (array, position) = (self.place(array, run)?, self.number(position, run)?);
                let at = Pointer { at: array.at + position as i64 * i64::from(array.item), ..array };
                self.loaded(at)
            }
            Expr::Arrow(object, member) => self.member(object, member, run),
            Expr::Dot(object, member) => self.item_member(object, member),
            Expr::Cast(ty, inner) => self.cast(*ty, inner, run),
            Expr::Env(..) | Expr::List(_) => unsupported(value),
        }
    }

    fn loaded(&self, at: Pointer) -> Result<Value, Stop> {
        let value = self.memory.load(at)?;
        Ok(if at.item < 8 { Value::short(value) } else { Value::number(value) })
    }

    fn name(&mut self, name: &str, run: &Run) -> Result<Value, Stop> {
        if let Some(place) = run.places.get(name) {
            return self.loaded(*place);
        }
        if let Some(value) = run.names.get(name) {
            return Ok(*value);
        }
        match name {
            "0" | "WS_SUM_FIRST_BYTE" => Ok(Value::short(0)),
            "WS_SUM_SECOND_BYTE" => Ok(Value::short(8)),
            "WS_SUM_LOST" => Ok(Value::short(1 << 31)),
            "bytes" => Ok(Value::Pointer(self.packets[run.number].bytes)),
            "now_ns" => Ok(Value::number(NOW_NS)),
            "p" => Ok(Value::Pointer(self.member_place("p", "fixed", 8, run))),
            _ => unsupported(name),
        }
    }

    /// A member of a struct that has no meaning here but to be stored and loaded.
    fn member_place(&mut self, object: &str, member: &str, item: u32, run: &Run) -> Pointer {
        const MEMBER_BYTES: usize = 2048;
        let key = (object.to_owned(), member.to_owned());
        let region = match self.packets[run.number].members.get(&key) {
            Some(region) => *region,
            None => {
                let region = self.memory.add(vec![0xa5; MEMBER_BYTES]);
                self.packets[run.number].members.insert(key, region);
                region
            }
        };
        Pointer { region, at: 0, item }
    }

    fn member(&mut self, object: &Expr, member: &str, run: &mut Run) -> Result<Value, Stop> {
        let Expr::Name(name) = object else { return unsupported(object) };
        if let Some(Value::Entry(entry)) = run.names.get(name) {
            return self.entry_member(*entry, member);
        }
        let packet = &self.packets[run.number];
        Ok(match (name.as_str(), member) {
            ("frame", "length") => Value::short(packet.length),
            ("frame", "port") => Value::short(packet.port),
            ("frame", "bytes") => Value::Pointer(packet.bytes),
            ("frame", "time_ns") => Value::number(NOW_NS),
            ("env", "first_byte") => Value::short(0),
            ("env", "now_ns") => Value::number(NOW_NS),
            ("c" | "context", "varbit_bytes" | "offset") => {
                let name = name.clone();
                Value::Pointer(self.member_place(&name, member, 4, run))
            }
            ("c", "homes") => Value::Pointer(self.member_place("c", member, 1, run)),
            ("p" | "context", _) => {
                let name = name.clone();
                Value::Pointer(self.member_place(&name, member, 8, run))
            }
            _ => return unsupported((name, member)),
        })
    }

    fn entry_member(&self, entry: usize, member: &str) -> Result<Value, Stop> {
        let (lookup, data) = &self.entries[entry];
        match member {
            "hit" => Ok(Value::short(lookup.hit().into())),
            "action" => Ok(Value::short(lookup.action.into())),
            "data" => Ok(Value::Pointer(*data)),
            "index" => Ok(Value::short(lookup.entry.unwrap_or(0))),
            _ => unsupported(member),
        }
    }

    /// A member of an item of the environment.
    fn item_member(&mut self, object: &Expr, member: &str) -> Result<Value, Stop> {
        let Expr::Env(EnvArray::Registers, number) = object else {
            let Expr::Env(EnvArray::DirectCounters | EnvArray::Meters | EnvArray::LastHits, _) = object else {
                return unsupported(object);
            };
            // No cell is counted or metered.
            return Ok(Value::number(0));
        };
        let register = &self.program.registers[RegisterId::from_index(*number as usize)];
        match member {
            "size" => Ok(Value::number(register.size)),
            "words" if register.ty.width() <= 64 => {
                let initial = register.initial.low_u64().to_le_bytes();
                let cells = || initial.repeat(register.size as usize);
                let region = *self.registers.entry(*number).or_insert_with(|| self.memory.add(cells()));
                Ok(Value::Pointer(Pointer { region, at: 0, item: 8 }))
            }
            _ => unsupported(object),
        }
    }

    fn cast(&mut self, ty: Type, inner: &Expr, run: &mut Run) -> Result<Value, Stop> {
        let value = self.expr(inner, run)?;
        Ok(match (ty, value) {
            (Type::U64, Value::Number { value, .. }) => Value::number(value),
            (Type::U32, Value::Number { value, .. }) => Value::short(value),
            (Type::U16, Value::Number { value, .. }) => Value::short(value & 0xffff),
            (Type::U8, Value::Number { value, .. }) => Value::short(value & 0xff),
            (Type::Bytes | Type::ConstBytes, Value::Pointer(pointer)) => Value::Pointer(Pointer { item: 1, ..pointer }),
            (Type::Pointer | Type::Context, value) => value,
            (_, Value::Garbage) => Value::Garbage,
            _ => return unsupported((ty, inner)),
        })
    }

    fn unary(&mut self, op: &str, inner: &Expr, run: &mut Run) -> Result<Value, Stop> {
        match (op, inner) {
            ("!", _) => Ok(Value::short((self.number(inner, run)? == 0).into())),
            ("*", _) => {
                let place = self.place(inner, run)?;
                self.loaded(place)
            }
            ("&", Expr::Name(name)) => match run.places.get(name) {
                Some(place) => Ok(Value::Pointer(*place)),
                None => unsupported(name),
            },
            _ => unsupported((op, inner)),
        }
    }

    fn binary(&mut self, op: &str, left: &Expr, right: &Expr, run: &mut Run) -> Result<Value, Stop> {
        let a = self.expr(left, run)?;
        match op {
            "&&" | "||" => {
                let a = self.number(left, run)? != 0;
                let decided = if op == "&&" { !a } else { a };
                return Ok(Value::short(if decided { a } else { self.number(right, run)? != 0 }.into()));
            }
            _ => {}
        }
        let b = self.expr(right, run)?;
        operation(op, a, b).ok_or_else(|| Stop::Unsupported(format!("{a:?} {op} {b:?}")))
    }

    pub(super) fn declare(
        &mut self,
        ty: Type,
        name: &str,
        length: Option<u32>,
        value: Option<&Expr>,
        run: &mut Run,
    ) -> Result<(), Stop> {
        let item = match ty {
            Type::U8 => 1,
            Type::U16 => 2,
            Type::U32 => 4,
            Type::U64 => 8,
            Type::Sixteen => 16,
            _ => 0,
        };
        run.places.remove(name);
        match (item, length) {
            (0, None) => {
                let value = value.map_or(Ok(Value::Garbage), |value| self.expr(value, run))?;
                run.names.insert(name.to_owned(), value);
            }
            (1..=8, None) => {
                let value = value.map_or(Ok(0xa5), |value| self.number(value, run))?;
                let place = Pointer { region: self.memory.add(vec![0; 8]), at: 0, item };
                self.memory.store(place, value)?;
                run.places.insert(name.to_owned(), place);
            }
            (16, None) => {
                let place = Pointer { region: self.memory.add(vec![0; 16]), at: 0, item };
                run.places.insert(name.to_owned(), place);
            }
            (1..=8, Some(length)) => {
                let array = Pointer { region: self.memory.add(vec![0; (item * length) as usize]), at: 0, item };
                run.names.insert(name.to_owned(), Value::Pointer(array));
                let Some(Expr::List(items)) = value else { return Ok(()) };
                for (number, value) in items.iter().enumerate() {
                    let value = self.number(value, run)?;
                    self.memory.store(Pointer { at: number as i64 * i64::from(item), ..array }, value)?;
                }
            }
            _ => return unsupported((ty, name)),
        }
        Ok(())
    }

    pub(super) fn assign(&mut self, place: &Expr, op: &str, value: &Expr, run: &mut Run) -> Result<(), Stop> {
        if is_count(place) {
            return if let Expr::Call(..) = value { self.effect(value, run) } else { Ok(()) };
        }
        let mut value = self.expr(value, run)?;
        if op != "=" {
            let before = self.expr(place, run)?;
            let operator = op.trim_end_matches('=');
            value = operation(operator, before, value).ok_or_else(|| Stop::Unsupported(format!("{op} {value:?}")))?;
        }
        let number = match value {
            Value::Number { value, .. } => value,
            _ => 0xa5a5_a5a5_a5a5_a5a5,
        };
        match place {
            Expr::State(state) => _ = run.states.insert(*state, stored(*state, value)),
            Expr::Saved(state) => _ = self.packets[run.number].saved.insert(*state, stored(*state, value)),
            Expr::Name(name) => match run.places.get(name) {
                Some(place) => self.memory.store(*place, number)?,
                None => _ = run.names.insert(name.clone(), value),
            },
            Expr::Index(array, position) => {
                let (array, position) = (self.place(array, run)?, self.number(position, run)?);
                self.memory
                    .store(Pointer { at: array.at + position as i64 * i64::from(array.item), ..array }, number)?;
            }
            Expr::Unary("*", pointer) => {
                let pointer = self.place(pointer, run)?;
                self.memory.store(pointer, number)?;
            }
            Expr::Arrow(object, member) => match (&**object, member.as_str(), value) {
                (Expr::Name(name), "length", _) if name == "frame" => self.packets[run.number].length = number,
                (Expr::Name(name), "bytes", Value::Pointer(pointer)) if name == "frame" => {
                    self.packets[run.number].bytes = pointer;
                }
                _ => {
                    if let Value::Pointer(place) = self.member(object, member, run)? {
                        self.memory.store(place, number)?;
                    }
                }
            },
            _ => return unsupported(place),
        }
        Ok(())
    }
}

/// Whether a place counts packets, for others.
fn is_count(place: &Expr) -> bool {
    match place {
        Expr::Name(name) => {
            ["exceptions", "count"].contains(&name.as_str())
                || ["lookups", "hits"]
                    .iter()
                    .any(|prefix| name.strip_prefix(prefix).is_some_and(|it| !it.starts_with('_')))
        }
        Expr::Dot(_, member) => ["packets", "bytes", "hits", "lookups"].contains(&member.as_str()),
        _ => false,
    }
}

/// The value as its variable holds it: sums and steps have 32 bits.
fn stored(state: StatePart, value: Value) -> Value {
    match (state, value) {
        (StatePart::Sum(_) | StatePart::Steps(_), Value::Number { value, .. }) => Value::short(value),
        (StatePart::Var(_) | StatePart::Valid(_), Value::Number { value, .. }) => Value::number(value),
        _ => value,
    }
}

/// The result of an operator.
fn operation(op: &str, a: Value, b: Value) -> Option<Value> {
    let garbage = |value| if value == Value::Garbage { Value::number(0xa5a5_a5a5_a5a5_a5a5) } else { value };
    match (a, b, op) {
        (Value::Pointer(pointer), Value::Number { value, .. }, "+" | "-") => {
            let bytes = value as i64 * i64::from(pointer.item);
            let at = if op == "+" { pointer.at + bytes } else { pointer.at - bytes };
            return Some(Value::Pointer(Pointer { at, ..pointer }));
        }
        (Value::Pointer(left), Value::Pointer(right), "==" | "!=") => {
            let is_same = (left.region, left.at) == (right.region, right.at);
            return Some(Value::short((is_same == (op == "==")).into()));
        }
        (Value::Pointer(left), Value::Pointer(right), "-") if left.region == right.region => {
            return Some(Value::number(left.at.wrapping_sub(right.at) as u64));
        }
        // Where a place was never stored, a packet's path does not use it.
        (Value::Garbage, _, "+") | (Value::Garbage, Value::Pointer(_), _) | (Value::Pointer(_), Value::Garbage, _) => {
            return Some(Value::Garbage);
        }
        _ => {}
    }
    let (
        Value::Number { value: a, is_short: a_short, is_signed: a_signed },
        Value::Number { value: b, is_short: b_short, is_signed: b_signed },
    ) = (garbage(a), garbage(b))
    else {
        return None;
    };
    let compared = |truth: bool| Some(Value::short(truth.into()));
    let order = if a_signed && b_signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
    let is_short = a_short && (b_short || matches!(op, "<<" | ">>"));
    let width = if is_short { 32 } else { 64 };
    let value = match op {
        "==" => return compared(order.is_eq()),
        "!=" => return compared(order.is_ne()),
        "<" => return compared(order.is_lt()),
        "<=" => return compared(order.is_le()),
        ">" => return compared(order.is_gt()),
        ">=" => return compared(order.is_ge()),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" if b < width => a << b,
        ">>" if b < width => a >> b,
        _ => return None,
    };
    Some(if is_short { Value::short(value) } else { Value::number(value) })
}
