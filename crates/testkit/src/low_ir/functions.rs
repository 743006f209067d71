//! Functions of the runtime and callbacks of the environment.

use super::memory::{Pointer, Value};
use super::{Machine, Run, Stop};
use base::Bits;
use base::index::Id as _;
use interp::Host as _;
use ir::{TableId, ValueSetId};
use lir::{EnvArray, Expr};

impl Machine<'_, '_> {
    /// Evaluates an expression for its effect.
    pub(super) fn effect(&mut self, value: &Expr, run: &mut Run) -> Result<(), Stop> {
        self.expr(value, run).map(drop)
    }

    /// The value of a call.
    pub(super) fn call(&mut self, function: &Expr, arguments: &[Expr], run: &mut Run) -> Result<Value, Stop> {
        match function {
            Expr::Name(name) if name == "__builtin_prefetch" || name.starts_with("ws_fetch") => Ok(Value::short(0)),
            Expr::Name(name) => self.runtime(name, arguments, run),
            Expr::Arrow(_, callback) => self.callback(callback, arguments, run),
            Expr::Dot(table, _) => self.find_in_memory(table, arguments, run),
            _ => Err(Stop::Unsupported(format!("{function:?}"))),
        }
    }

    fn callback(&mut self, callback: &str, arguments: &[Expr], run: &mut Run) -> Result<Value, Stop> {
        match callback {
            "random" => {
                let (low, high) = (self.number(&arguments[1], run)?, self.number(&arguments[2], run)?);
                Ok(Value::number(self.host.random(low, high)))
            }
            "value_set" => self.value_set(arguments, run),
            // What they do is not compared.
            "digest" | "log" | "assert_failed" => Ok(Value::short(0)),
            _ => Err(Stop::Unsupported(callback.to_owned())),
        }
    }

    /// Whether the keys, in words, are in a value set.
    fn value_set(&mut self, arguments: &[Expr], run: &mut Run) -> Result<Value, Stop> {
        let set = ValueSetId::from_index(self.number(&arguments[1], run)? as usize);
        let mut word = self.place(&arguments[2], run)?;
        let mut keys = Vec::new();
        for &(_, width, _) in &self.program.value_sets[set].keys {
            if width > 64 {
                return Err(Stop::Unsupported("wide keys of value sets".to_owned()));
            }
            keys.push(Bits::from_u64(width, self.memory.load(word)?));
            word.at += 8;
        }
        Ok(Value::short(self.host.value_set_contains(set, &keys).into()))
    }

    fn runtime(&mut self, function: &str, arguments: &[Expr], run: &mut Run) -> Result<Value, Stop> {
        let bits_of = |prefix: &str| function.strip_prefix(prefix).and_then(|bits| bits.parse::<usize>().ok());
        if let Some(bits) = bits_of("ws_load") {
            let bytes = self.bytes_at(&arguments[0], bits / 8, run)?;
            return Ok(Value::number(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))));
        }
        if let Some(bits) = bits_of("ws_sum_load") {
            let mut bytes = self.bytes_at(&arguments[0], bits / 8, run)?;
            bytes.resize(8, 0);
            return Ok(Value::number(u64::from_le_bytes(bytes.try_into().unwrap_or_default())));
        }
        if let Some(bits) = bits_of("ws_store") {
            let (place, value) = (self.place(&arguments[0], run)?, self.number(&arguments[1], run)?);
            self.memory.store_bytes(place, &value.to_be_bytes()[8 - bits / 8..])?;
            return Ok(Value::short(0));
        }
        match function {
            "memcpy" | "memmove" => {
                let (to, from) = (self.place(&arguments[0], run)?, self.place(&arguments[1], run)?);
                let count = self.number(&arguments[2], run)? as usize;
                let bytes = self.memory.bytes(from, count)?;
                self.memory.store_bytes(to, &bytes)?;
                Ok(Value::short(0))
            }
            "memset" => {
                let (to, count) = (self.place(&arguments[0], run)?, self.number(&arguments[2], run)?);
                self.memory.store_bytes(to, &vec![0; count as usize])?;
                Ok(Value::short(0))
            }
            "sizeof" => {
                let region = self.place(&arguments[0], run)?.region;
                Ok(Value::number(self.memory.size(region)))
            }
            "ws_at" => {
                let (p, at) = (self.place(&arguments[0], run)?, self.number(&arguments[1], run)?);
                Ok(Value::Pointer(Pointer { at: at as i64, item: 1, ..p }))
            }
            "ws_sum_bytes" => {
                let count = self.number(&arguments[1], run)? as usize;
                let bytes = self.bytes_at(&arguments[0], count, run)?;
                Ok(Value::number(native_sum(&bytes)))
            }
            "ws_sum_of_checksum" => {
                let bytes = self.bytes_at(&arguments[0], 2, run)?;
                Ok(Value::short(0xffff ^ native_sum(&bytes)))
            }
            "ws_find_word" | "ws_find_narrow" => self.find_word(arguments, false, run),
            "ws_find_packed_result" | "ws_find_narrow_packed_result" => self.find_word(arguments, true, run),
            "ws_find_rows" | "ws_find_words" => match &arguments[0] {
                Expr::Unary("&", table) => self.find_in_memory(table, arguments, run),
                table => Err(Stop::Unsupported(format!("{table:?}"))),
            },
            "ws_mark_written" => Ok(Value::short(0)),
            _ => {
                let numbers: Result<Vec<u64>, Stop> = arguments.iter().map(|it| self.number(it, run)).collect();
                let value = numbers.ok().and_then(|numbers| of_numbers(function, &numbers));
                value.ok_or_else(|| Stop::Unsupported(function.to_owned()))
            }
        }
    }

    /// Looks up a key of one word.
    fn find_word(&mut self, arguments: &[Expr], is_packed: bool, run: &mut Run) -> Result<Value, Stop> {
        let Expr::Unary("&", table) = &arguments[0] else { return Err(Stop::Unsupported("a table".into())) };
        let table = table_of(table)?;
        let key = self.number(&arguments[1], run)?;
        self.look_up(table, &[key], is_packed)
    }

    /// Looks up the key of one packet, for which the second argument is a row; the result goes to the variable whose
    /// address is the last argument.
    fn find_in_memory(&mut self, table: &Expr, arguments: &[Expr], run: &mut Run) -> Result<Value, Stop> {
        let table = table_of(table)?;
        let row = self.place(&arguments[1], run)?;
        let Some(Expr::Unary("&", result)) = arguments.last() else { return Err(Stop::Unsupported("a result".into())) };
        let Expr::Name(result) = &**result else { return Err(Stop::Unsupported("a result".into())) };
        let count = self.plan.tables[table].key.words() as i64;
        let words: Result<Vec<u64>, Stop> =
            (0..count).map(|word| self.memory.load(Pointer { at: row.at + 8 * word, ..row })).collect();
        let found = self.look_up(table, &words?, false)?;
        run.names.insert(result.clone(), found);
        Ok(Value::short(0))
    }

    fn bytes_at(&mut self, place: &Expr, count: usize, run: &mut Run) -> Result<Vec<u8>, Stop> {
        let place = self.place(place, run)?;
        self.memory.bytes(place, count)
    }
}

/// The table of an item of the environment.
fn table_of(table: &Expr) -> Result<TableId, Stop> {
    match table {
        Expr::Env(EnvArray::Tables, number) => Ok(TableId::from_index(*number as usize)),
        _ => Err(Stop::Unsupported(format!("{table:?}"))),
    }
}

/// The sum of words as the machine loads them, without a carry.
fn native_sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|word| u64::from(word[0]) | u64::from(word.get(1).copied().unwrap_or(0)) << 8).sum()
}

/// The value of a function of numbers.
fn of_numbers(function: &str, numbers: &[u64]) -> Option<Value> {
    let number = |at: usize| numbers.get(at).copied();
    let signed = |value: u64, width: u64| if width == 0 { 0 } else { (value << (64 - width)) as i64 >> (64 - width) };
    let mask = |width: u64| if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let (a, b) = (number(0)?, number(1).unwrap_or(0));
    let clamped = |value: i128, width: u64| {
        let half = 1_i128 << width.saturating_sub(1);
        if width == 0 { 0 } else { value.clamp(-half, half - 1) as u64 & mask(width) }
    };
    let value = match function {
        "WS_UNLIKELY" => a,
        "ws_signed" => {
            let value = signed(a, b) as u64;
            return Some(Value::Number { value, is_short: false, is_signed: true });
        }
        "ws_shl" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
        "ws_shr" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
        "ws_sar" => (signed(a, number(2)?) >> b.min(63)) as u64 & mask(number(2)?),
        "ws_gather" => bits_of(b).enumerate().map(|(to, from)| (a >> from & 1) << to).sum(),
        "ws_scatter" => bits_of(b).enumerate().map(|(from, to)| (a >> from & 1) << to).sum(),
        "ws_div" => a.checked_div(b).unwrap_or(0),
        "ws_rem" => a.checked_rem(b).unwrap_or(0),
        "ws_add_saturating" => (u128::from(a) + u128::from(b)).min(mask(number(2)?).into()) as u64,
        "ws_sub_saturating" => a.saturating_sub(b),
        "ws_add_saturating_signed" => {
            let width = number(2)?;
            clamped(i128::from(signed(a, width)) + i128::from(signed(b, width)), width)
        }
        "ws_sub_saturating_signed" => {
            let width = number(2)?;
            clamped(i128::from(signed(a, width)) - i128::from(signed(b, width)), width)
        }
        "ws_sum_add" => {
            let (sum, has_carry) = a.overflowing_add(b);
            sum + u64::from(has_carry)
        }
        "ws_sum_word" => (a >> 32) + (a & 0xffff_ffff),
        "ws_sum_fold" => folded(a),
        "ws_sum_fold_short" => {
            let sum = a as u32;
            return Some(Value::number(u64::from(sum.wrapping_add(sum.rotate_left(16)) >> 16)));
        }
        "ws_sum_turn" => u64::from((a as u16).swap_bytes()),
        "ws_checksum" => u64::from((!a as u16).swap_bytes()),
        "ws_sum_change" => {
            let (sum, has_carry) = a.swap_bytes().overflowing_add(b.swap_bytes());
            folded(sum + u64::from(has_carry))
        }
        _ => return None,
    };
    Some(Value::number(value))
}

/// A sum as a 16-bit ones' complement number.
fn folded(sum: u64) -> u64 {
    let half = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    u64::from(half.wrapping_add(half.rotate_left(16)) >> 16)
}

/// The positions of a mask's bits, from the lowest.
fn bits_of(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| mask >> bit & 1 == 1)
}
