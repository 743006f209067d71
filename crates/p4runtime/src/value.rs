//! Values as they travel: strings of bytes for bits of any width.
//!
//! What enters: bytes of a message and the width that the value has in the switch, or bits. What leaves: the other. A
//! value is sent in as few bytes as it needs; one that comes may have any number of zero bytes in front. An empty
//! string is no value. Where `@p4runtime_translation` gives controllers text, the text is a port's name, or a number,
//! or a name that was not met before, for which a number that nothing else stands for is taken.

use crate::ports::Ports;
use base::Bits;
use control::api::{Code, Fault};
use p4info::{Translation, Value};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bits of a string of bytes, which must fit the width.
pub(crate) fn bits(what: impl Display, width_bits: u32, bytes: &[u8]) -> Result<Bits, Fault> {
    let out_of_range = |message: String| Err(Fault::new(Code::OutOfRange, message));
    if bytes.is_empty() {
        return out_of_range(format!("{what}: the value is empty: it must have at least one byte, as \\x00 for 0"));
    }
    let significant = significant_bytes(bytes);
    let needed = needed_bits(significant);
    if needed > u64::from(width_bits) {
        return out_of_range(format!(
            "{what}: the value {} needs {needed} bits, and there are {width_bits}",
            shown(significant)
        ));
    }
    Ok(Bits::from_be_bytes(width_bits, significant))
}

/// The shortest string of bytes for bits.
pub(crate) fn bytes(value: &Bits) -> Vec<u8> {
    let all = value.to_be_bytes();
    match significant_bytes(&all) {
        [] => vec![0],
        significant => significant.to_vec(),
    }
}

/// A number as a value.
pub(crate) fn number(value: u64) -> Vec<u8> {
    bytes(&Bits::from_u64(64, value))
}

fn significant_bytes(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    &bytes[zeros..]
}

fn needed_bits(significant: &[u8]) -> u64 {
    match significant.first() {
        None => 1,
        Some(first) => significant.len() as u64 * 8 - u64::from(first.leading_zeros()),
    }
}

/// Bytes of a value that a message shows at most.
const SHOWN_BYTES_MAX: usize = 20;

/// A value as messages show it.
pub(crate) fn shown(significant: &[u8]) -> String {
    let digits: String = significant.iter().take(SHOWN_BYTES_MAX).map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    if significant.len() > SHOWN_BYTES_MAX { format!("0x{digits}...") } else { format!("0x{digits}") }
}

/// Names that may stand for numbers at once.
const NAMES_MAX: usize = 65_536;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// What text stands for which number, by the name of the translation.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    given: Mutex<BTreeMap<String, Given>>,
    ports: Ports,
}

/// The numbers that were given to the names of one translation.
#[derive(Debug, Default)]
struct Given {
    numbers: BTreeMap<String, Bits>,
    names: BTreeMap<Vec<u64>, String>,
    /// Names that are in no note yet.
    new: Vec<String>,
}

impl Given {
    fn add(&mut self, name: &str, number: &Bits) {
        self.numbers.insert(name.to_owned(), number.clone());
        self.names.insert(number.limbs().to_vec(), name.to_owned());
    }

    fn add_new(&mut self, name: &str, number: &Bits) {
        self.add(name, number);
        self.new.push(name.to_owned());
    }
}

impl Translator {
    /// One that knows ports by their names.
    pub fn new(ports: Ports) -> Translator {
        Translator { given: Mutex::default(), ports }
    }

    /// The ports.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The bits that a controller means.
    pub fn read(&self, what: impl Display, value: &Value, sent: &[u8]) -> Result<Bits, Fault> {
        match &value.translation {
            Some(translation @ Translation { width_bits: None, .. }) => {
                self.read_text(what, translation, value.width_bits, sent)
            }
            _ => bits(what, value.width_bits, sent),
        }
    }

    /// What a controller is shown for bits.
    pub fn write(&self, value: &Value, held: &Bits) -> Vec<u8> {
        match &value.translation {
            Some(translation @ Translation { width_bits: None, .. }) => self.write_text(translation, held),
            _ => bytes(held),
        }
    }

    /// The names that were given numbers since this was called last: translation, name, number.
    pub fn take_new(&self) -> Vec<(String, String, Bits)> {
        let mut given = self.given();
        let new = given.iter_mut().flat_map(|(uri, given)| {
            let names = std::mem::take(&mut given.new);
            let numbered = |name: String| Some((uri.clone(), name.clone(), given.numbers.get(&name)?.clone()));
            names.into_iter().filter_map(numbered).collect::<Vec<_>>()
        });
        new.collect()
    }

    /// A name that was given its number in an earlier run, or for another program.
    pub fn know(&self, uri: &str, name: &str, number: &Bits) {
        self.given().entry(uri.to_owned()).or_default().add(name, number);
    }

    #[cfg(test)]
    pub fn number_of(&self, uri: &str, name: &str) -> Option<Bits> {
        self.given().get(uri)?.numbers.get(name).cloned()
    }

    fn given(&self) -> MutexGuard<'_, BTreeMap<String, Given>> {
        // A name is added by two insertions; a thread that ended between them leaves a number that is not used.
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_text(
        &self,
        what: impl Display,
        translation: &Translation,
        width_bits: u32,
        sent: &[u8],
    ) -> Result<Bits, Fault> {
        let Ok(text) = std::str::from_utf8(sent) else {
            return Err(Fault::invalid(format!("{what}: a value of type {} is text", translation.type_name)));
        };
        if text.is_empty() || text.len() > NAME_BYTES_MAX {
            let message = format!("{what}: a name has 1 to {NAME_BYTES_MAX} bytes, not {}", text.len());
            return Err(Fault::new(Code::OutOfRange, message));
        }
        if let Some(number) = decimal(text) {
            return bits(&what, width_bits, &number.to_be_bytes());
        }
        let mut given = self.given();
        let given = given.entry(translation.uri.clone()).or_default();
        if let Some(number) = given.numbers.get(text) {
            return Ok(number.clone());
        }
        if let Some(port) = self.ports.number_of(text) {
            let number = bits(&what, width_bits, &port.to_be_bytes())?;
            given.add_new(text, &number);
            return Ok(number);
        }
        // From the top, where numbers that mean something by themselves are rare.
        let taken = given.names.len() as u64;
        let room = if width_bits >= 17 { NAMES_MAX as u64 } else { 1 << width_bits.saturating_sub(1) };
        if taken >= room {
            let message = format!("{what}: there is no number left for another name of type {}", translation.type_name);
            return Err(Fault::new(Code::ResourceExhausted, message));
        }
        let number = Bits::ones(width_bits).sub(&Bits::from_u64(width_bits, taken + 2));
        given.add_new(text, &number);
        Ok(number)
    }

    fn write_text(&self, translation: &Translation, held: &Bits) -> Vec<u8> {
        if let Some(name) = self.given().get(&translation.uri).and_then(|given| given.names.get(held.limbs())) {
            return name.clone().into_bytes();
        }
        match held.to_u64() {
            Some(number) => number.to_string().into_bytes(),
            None => held.to_bigint().to_string().into_bytes(),
        }
    }
}

/// A number as it is written back: decimal, without zeros in front.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// What a string of bytes is for a width, and how it is sent back.
    fn check(width_bits: u32, sent: &[&[u8]], expect: Expect) {
        let mut text = String::new();
        for bytes_sent in sent {
            let line = match bits("field f", width_bits, bytes_sent) {
                Ok(value) => format!("{bytes_sent:x?} = {value:?} -> {:x?}\n", bytes(&value)),
                Err(fault) => format!("{bytes_sent:x?}: {:?}: {fault}\n", fault.code),
            };
            text.push_str(&line);
        }
        expect.assert_eq(&text);
    }

    #[test]
    fn any_number_of_zero_bytes_in_front_is_accepted() {
        check(
            8,
            &[&[0x63], &[0, 0x63], &[0], &[0, 0, 0], &[], &[1, 0x63]],
            expect![[r#"
            [63] = 8w0x63 -> [63]
            [0, 63] = 8w0x63 -> [63]
            [0] = 8w0x0 -> [0]
            [0, 0, 0] = 8w0x0 -> [0]
            []: OutOfRange: field f: the value is empty: it must have at least one byte, as \x00 for 0
            [1, 63]: OutOfRange: field f: the value 0x163 needs 9 bits, and there are 8
        "#]],
        );
    }

    #[test]
    fn the_width_counts_in_bits() {
        check(
            12,
            &[&[0x63], &[0, 0, 0x63], &[0x0F, 0xFF], &[0x10, 0x63], &[1, 0, 0x63]],
            expect![[r#"
            [63] = 12w0x63 -> [63]
            [0, 0, 63] = 12w0x63 -> [63]
            [f, ff] = 12w0xfff -> [f, ff]
            [10, 63]: OutOfRange: field f: the value 0x1063 needs 13 bits, and there are 12
            [1, 0, 63]: OutOfRange: field f: the value 0x10063 needs 17 bits, and there are 12
        "#]],
        );
        check(
            1,
            &[&[1], &[2]],
            expect![[r#"
            [1] = 1w0x1 -> [1]
            [2]: OutOfRange: field f: the value 0x2 needs 2 bits, and there are 1
        "#]],
        );
        check(
            129,
            &[&[1; 17], &[2; 17]],
            expect![[r#"
            [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] = 129w0x101010101010101010101010101010101 -> [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
            [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]: OutOfRange: field f: the value 0x202020202020202020202020202020202 needs 130 bits, and there are 129
        "#]],
        );
    }
}
