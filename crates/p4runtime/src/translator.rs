//! Translates between text and values, where `@p4runtime_translation` gives controllers text.
//!
//! What enters: what a controller sent, and the value as the P4Info describes it; or bits. What leaves: the opposite
//! form.
//!
//! A text is a port's name, or a number in decimal, or any other name. Port names have their meaning only in types
//! that are as wide as ports are. All ports are shown in one form, by name or by number: the one that the first
//! update with the type used. A decimal that does not fit is an ordinary name. An update that adds a new name gives
//! it an unused number; reads, and the keys of what must exist already, only look names up. A decimal text whose
//! number a name already has gets another number, as a name does; therefore the numbers in the range of names are
//! also recorded for decimal texts.
//!
//! A name that is new is *pending* until it is known whether its update was carried out: [`Translator::commit`] frees
//! the numbers of the others. When no number is left, unused ones are found: all state is shown once, and numbers
//! that did not occur are freed.
//!
//! A program may define the numbers of some texts (`@p4runtime_translation_mappings`); no other text gets these
//! numbers. Only there is the empty text a name.

use crate::ports::Ports;
use crate::value::bits;
use base::{Bits, OrderedMap, OrderedSet};
use control::api::{Code, Fault};
use p4info::{Translation, Value};
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use values::bytes;

/// The range of numbers for names, in bits, at the top of wider types.
const ROOM_BITS: u32 = 20;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// What to do with an unknown name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unknown {
    /// It gets one.
    Numbered,
    /// It is refused as not found.
    Refused,
}

/// A name: its translation, and itself.
pub(crate) type Name = (String, String);

/// The numbers of texts, by the name of the translation.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    state: Mutex<TranslationState>,
    ports: Ports,
    /// The width of a port's number.
    port_bits: u32,
}

#[derive(Debug, Default)]
struct TranslationState {
    given: OrderedMap<String, Given>,
    /// Pending names since the last call.
    met: Vec<Name>,
}

/// The numbers that were given to the names of one translation.
#[derive(Debug, Default)]
struct Given {
    numbers: OrderedMap<String, Bits>,
    names: OrderedMap<Vec<u64>, String>,
    /// Names that may be unused.
    pending: OrderedSet<String>,
    /// Names in updates that are being carried out.
    held: OrderedSet<String>,
    /// Numbers that were shown in the current search for unused ones.
    shown: Option<OrderedSet<Vec<u64>>>,
    /// How far below the top the search for the next free number begins.
    next: u64,
    /// There is no free number.
    is_full: bool,
    /// Names with numbers from the program; `None` if they were not read yet.
    fixed: Option<OrderedSet<String>>,
    /// How ports are shown; `None` if no update has written one.
    port_form: Option<PortForm>,
}

/// How ports are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PortForm {
    by_name: bool,
    /// Whether this was returned for storing.
    is_kept: bool,
}

impl Given {
    fn add(&mut self, name: &str, number: &Bits) {
        self.numbers.insert(name.to_owned(), number.clone());
        self.names.insert(number.limbs().to_vec(), name.to_owned());
    }

    /// A name with a number from the program.
    fn fix(&mut self, name: &str, number: &Bits) {
        // Names from an earlier program are replaced.
        if let Some(other) = self.names.get(number.limbs()).cloned() {
            self.remove(&other);
        }
        self.remove(name);
        self.add(name, number);
    }

    fn is_fixed(&self, name: &str) -> bool {
        self.fixed.as_ref().is_some_and(|fixed| fixed.contains(name))
    }

    fn remove(&mut self, name: &str) {
        let Some(number) = self.numbers.remove(name) else { return };
        if self.names.get(number.limbs()).is_some_and(|it| it == name) {
            self.names.remove(number.limbs());
            self.is_full = false;
        }
    }
}

impl TranslationState {
    /// Takes over the mappings of a translation from the program, when the translation is first used.
    fn fix(&mut self, translation: &Translation, width_bits: u32) {
        if translation.mappings.is_empty() || self.given.get(&translation.uri).is_some_and(|it| it.fixed.is_some()) {
            return;
        }
        let given = self.given.entry(translation.uri.clone()).or_default();
        for (name, number) in &translation.mappings {
            given.fix(name, &Bits::from_u64(width_bits, *number));
        }
        given.fixed = Some(translation.mappings.iter().map(|(name, _)| name.clone()).collect());
    }
}

impl Translator {
    /// A translator that translates port names in values as wide as port numbers.
    pub fn new(ports: Ports, port_bits: u32) -> Translator {
        Translator { state: Mutex::default(), ports, port_bits }
    }

    /// The ports.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The bits for what a controller sent.
    pub fn read(&self, what: impl Display, value: &Value, sent: &[u8], unknown: Unknown) -> Result<Bits, Fault> {
        match &value.translation {
            Some(translation @ Translation { width_bits: None, .. }) => {
                self.read_text(what, translation, value.width_bits, sent, unknown)
            }
            Some(Translation { width_bits: Some(shown_bits), type_name, .. }) => bits(what, value.width_bits, sent)
                .map_err(|fault| match bits("", *shown_bits, sent) {
                    Ok(_) => {
                        let message = format!("{}: type {type_name} has so few in the program", fault.message);
                        Fault { message, ..fault }
                    }
                    Err(_) => fault,
                }),
            None => bits(what, value.width_bits, sent),
        }
    }

    /// What a controller is shown for bits.
    pub fn write(&self, value: &Value, held: &Bits) -> Vec<u8> {
        match &value.translation {
            Some(translation @ Translation { width_bits: None, .. }) => self.write_text(translation, held),
            _ => bytes(held),
        }
    }

    /// The pending names since the last call.
    pub fn take_met(&self) -> Vec<Name> {
        std::mem::take(&mut self.state().met)
    }

    /// All names that are pending, with their numbers.
    pub fn pending(&self) -> Vec<(String, String, Bits)> {
        let state = self.state();
        let pending = state.given.iter().flat_map(|(uri, given)| {
            let numbered = move |name: &String| Some((uri.clone(), name.clone(), given.numbers.get(name)?.clone()));
            given.pending.iter().filter_map(numbered)
        });
        pending.collect()
    }

    /// For each translation whose ports are shown in a form since the last call, whether that is by name.
    pub fn take_port_forms(&self) -> Vec<(String, bool)> {
        let mut state = self.state();
        let new = state.given.iter_mut().filter_map(|(uri, given)| {
            let form = given.port_form.as_mut().filter(|form| !form.is_kept)?;
            form.is_kept = true;
            Some((uri.clone(), form.by_name))
        });
        new.collect()
    }

    /// Records that no update is being carried out, and which of the pending names exist now. Returns the others,
    /// whose numbers are free again.
    pub fn commit(&self, there: Vec<Name>) -> Vec<Name> {
        let mut state = self.state();
        for (uri, name) in there {
            if let Some(given) = state.given.get_mut(&uri) {
                given.pending.remove(&name);
            }
        }
        let mut gone = Vec::new();
        for (uri, given) in &mut state.given {
            given.held.clear();
            for name in std::mem::take(&mut given.pending) {
                given.remove(&name);
                gone.push((uri.clone(), name));
            }
        }
        state.met.clear();
        gone
    }

    /// Begins to record which numbers are shown.
    pub fn begin_sweep(&self) {
        self.state().given.values_mut().for_each(|given| given.shown = Some(OrderedSet::new()));
    }

    /// Frees the numbers that were not shown, if `all` state was shown. Returns their names.
    pub fn end_sweep(&self, all: bool) -> Vec<Name> {
        let mut state = self.state();
        let mut gone = Vec::new();
        for (uri, given) in &mut state.given {
            let Some(shown) = given.shown.take().filter(|_| all) else { continue };
            let is_used = |name: &String, number: &Bits| {
                shown.contains(number.limbs())
                    || given.held.contains(name)
                    || given.pending.contains(name)
                    || given.is_fixed(name)
            };
            let unused: Vec<String> =
                given.numbers.iter().filter(|(name, number)| !is_used(name, number)).map(|it| it.0.clone()).collect();
            for name in unused {
                given.remove(&name);
                gone.push((uri.clone(), name));
            }
        }
        gone
    }

    /// How ports were shown in an earlier run, or for another program.
    pub fn know_port_form(&self, uri: &str, by_name: bool) {
        let mut state = self.state();
        state.given.entry(uri.to_owned()).or_default().port_form = Some(PortForm { by_name, is_kept: true });
    }

    /// A name with its number from an earlier run, or for another program.
    pub fn know(&self, uri: &str, name: &str, number: &Bits) {
        if self.port_named(name, number.width()).is_some() {
            // Now it is the name of a port.
            return;
        }
        let mut state = self.state();
        let given = state.given.entry(uri.to_owned()).or_default();
        // The program's own mappings take precedence.
        let holder = given.names.get(number.limbs());
        if !given.is_fixed(name) && !holder.is_some_and(|holder| given.is_fixed(holder)) {
            given.add(name, number);
        }
    }

    #[cfg(test)]
    pub fn number_of(&self, uri: &str, name: &str) -> Option<Bits> {
        self.state().given.get(uri)?.numbers.get(name).cloned()
    }

    #[cfg(test)]
    pub fn shows_ports_by_name(&self, uri: &str) -> bool {
        self.state().given.get(uri).and_then(|given| given.port_form).is_some_and(|form| form.by_name)
    }

    fn state(&self) -> MutexGuard<'_, TranslationState> {
        // A name is added by two insertions; a thread that ended between them leaves a number that is not used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_text(
        &self,
        what: impl Display,
        translation: &Translation,
        width_bits: u32,
        sent: &[u8],
        unknown: Unknown,
    ) -> Result<Bits, Fault> {
        let Ok(text) = std::str::from_utf8(sent) else {
            return Err(Fault::invalid(format!("{what}: a value of type {} is text", translation.type_name)));
        };
        let is_named = !text.is_empty() || translation.mappings.iter().any(|(name, _)| name.is_empty());
        if !is_named || text.len() > NAME_BYTES_MAX {
            let message = format!("{what}: a name has 1 to {NAME_BYTES_MAX} bytes, not {}", text.len());
            return Err(Fault::new(Code::OutOfRange, message));
        }
        let port = self.port_named(text, width_bits);
        let own = decimal(text).or(port.map(u64::from)).filter(|number| fits(*number, width_bits));
        let own = own.map(|number| Bits::from_u64(width_bits, number));
        let mut state = self.state();
        state.fix(translation, width_bits);
        let TranslationState { given, met } = &mut *state;
        let given = match unknown {
            Unknown::Numbered => given.entry(translation.uri.clone()).or_default(),
            Unknown::Refused => {
                let given = given.get(&translation.uri);
                return self.known(given, text, own).ok_or_else(|| {
                    let kind = &translation.type_name;
                    Fault::new(Code::NotFound, format!("{what}: no value has the name `{text}` of type {kind}"))
                });
            }
        };
        let number = match self.known(Some(&*given), text, own) {
            Some(number) if given.numbers.contains_key(text) => number,
            Some(number) if self.is_port(&number) => {
                given.port_form.get_or_insert(PortForm { by_name: port.is_some(), is_kept: false });
                number
            }
            Some(number) => {
                if depth(&number) < room(width_bits) {
                    given.add(text, &number);
                    given.pending.insert(text.to_owned());
                }
                number
            }
            None => {
                let Some(number) = self.free(given, width_bits) else {
                    let kind = &translation.type_name;
                    let message = format!("{what}: there is no number left for another name of type {kind}");
                    return Err(Fault::new(Code::ResourceExhausted, message));
                };
                given.add(text, &number);
                given.pending.insert(text.to_owned());
                number
            }
        };
        if given.numbers.contains_key(text) {
            given.held.insert(text.to_owned());
        }
        if given.pending.contains(text) {
            met.push((translation.uri.clone(), text.to_owned()));
        }
        Ok(number)
    }

    fn is_port(&self, number: &Bits) -> bool {
        number.width() == self.port_bits && number.to_u64().is_some_and(|number| self.ports.has(number))
    }

    /// The port with this name, in a type of this width.
    fn port_named(&self, name: &str, width_bits: u32) -> Option<u32> {
        if width_bits == self.port_bits { self.ports.number_of(name) } else { None }
    }

    /// The name by which a port is shown, if its name is unique and ports are shown by name.
    fn shown_name<'a>(&'a self, given: &Given, held: &Bits) -> Option<&'a String> {
        let port =
            held.to_u64().filter(|_| held.width() == self.port_bits && given.port_form.is_some_and(|it| it.by_name));
        let name = self.ports.name_of(u32::try_from(port?).ok()?)?;
        (decimal(name).is_none() && !given.numbers.contains_key(name)).then_some(name)
    }

    /// The present number of a text; `own` is the number that it denotes by itself, unless a name has that.
    fn known(&self, given: Option<&Given>, text: &str, own: Option<Bits>) -> Option<Bits> {
        if let Some(number) = given.and_then(|given| given.numbers.get(text)) {
            return Some(number.clone());
        }
        let own = own?;
        let is_named = |name: &str| self.port_named(name, own.width()).is_some();
        let holder = given.and_then(|given| given.names.get(own.limbs()));
        // A port's name and its number mean the same to everybody, even if the program has another name for the port.
        let is_same = |holder: &String| {
            let is_port = given.is_some_and(|given| given.is_fixed(holder)) && is_named(text);
            is_port || is_named(holder) || decimal(holder) == own.to_u64()
        };
        let is_free = holder.is_none_or(is_same);
        is_free.then_some(own)
    }

    /// An unused number. From the top, where numbers with a meaning of their own are rare.
    fn free(&self, given: &mut Given, width_bits: u32) -> Option<Bits> {
        if given.is_full {
            return None;
        }
        let room = room(width_bits);
        for _ in 0..room {
            // The two at the top come last: programs often use them for special cases.
            let below = Bits::from_u64(width_bits, (given.next + 2) % room);
            let number = Bits::ones(width_bits).sub(&below);
            given.next = (given.next + 1) % room;
            if !given.names.contains_key(number.limbs()) && !self.is_port(&number) {
                return Some(number);
            }
        }
        given.is_full = true;
        None
    }

    fn write_text(&self, translation: &Translation, held: &Bits) -> Vec<u8> {
        let mut state = self.state();
        state.fix(translation, held.width());
        if let Some(given) = state.given.get_mut(&translation.uri) {
            if let Some(shown) = &mut given.shown {
                shown.insert(held.limbs().to_vec());
            }
            if let Some(name) = given.names.get(held.limbs()).or_else(|| self.shown_name(given, held)) {
                return name.clone().into_bytes();
            }
        }
        match held.to_u64() {
            Some(number) => number.to_string().into_bytes(),
            None => held.to_bigint().to_string().into_bytes(),
        }
    }
}

fn fits(number: u64, width_bits: u32) -> bool {
    u64::BITS - number.leading_zeros() <= width_bits
}

/// How many numbers there are for names.
fn room(width_bits: u32) -> u64 {
    1 << width_bits.min(ROOM_BITS)
}

/// How far a number is below the top.
fn depth(number: &Bits) -> u64 {
    number.not().to_u64().unwrap_or(u64::MAX)
}

/// The text of a number: decimal, without leading zeros.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use switch::CpuPort;

    fn value(width_bits: u32) -> Value {
        let translation = Translation {
            uri: format!("example.org/{width_bits}"),
            type_name: "vrf_t".to_owned(),
            width_bits: None,
            mappings: Vec::new(),
        };
        Value { width_bits, translation: Some(translation), format: None }
    }

    /// Ports 0 to 11 have no special meaning in a type that is not as wide as ports are.
    #[test]
    fn names_of_narrow_types_get_all_numbers() {
        let ports = Ports::new((0..12).map(|number| (number, format!("eth{number}"))), CpuPort::default());
        let translator = Translator::new(ports, 9);
        let read = |width_bits, text: &str| {
            translator.read("key", &value(width_bits), text.as_bytes(), Unknown::Numbered).map(|bits| bits.to_u64())
        };
        let names = ["eth3", "100", "007", "-1"].map(str::to_owned);
        let names = names.into_iter().chain((0..12).map(|number| format!("vrf-{number}")));
        let numbers: OrderedSet<_> = names.map(|name| read(4, &name).unwrap()).collect();
        assert_eq!(numbers.len(), 16);
        assert_eq!(read(4, "vrf-12").unwrap_err().code, Code::ResourceExhausted);
        assert_eq!(read(9, "eth3").unwrap(), Some(3), "a port");
    }

    /// All are shown in the form of the first. A name of several ports does not denote a port.
    #[test]
    fn ports_are_shown_in_one_form() {
        let names = ["eth0", "null", "null", "2"].map(str::to_owned);
        let translator = || Translator::new(Ports::new((0..).zip(names.clone()), CpuPort::default()), 9);
        let read = |translator: &Translator, text: &str| {
            let bits = translator.read("key", &value(9), text.as_bytes(), Unknown::Numbered).unwrap();
            bits.to_u64().unwrap()
        };
        let shown = |translator: &Translator| {
            let shown = |port| translator.write(&value(9), &Bits::from_u64(9, port));
            (0..5).map(|port| String::from_utf8(shown(port)).unwrap()).collect::<Vec<_>>().join(" ")
        };
        let (first, second) = (translator(), translator());
        assert_eq!((shown(&first), first.take_port_forms()), ("0 1 2 3 4".to_owned(), Vec::new()));
        assert!(read(&first, "null") > 4 && read(&first, "4") == 4);
        assert_eq!(first.take_port_forms(), []);
        for port in ["eth0", "2", "0"] {
            read(&first, port);
            assert_eq!(shown(&first), "eth0 1 2 3 4", "{port}");
        }
        assert_eq!(first.take_port_forms(), [("example.org/9".to_owned(), true)]);
        assert_eq!(first.take_port_forms(), []);
        assert_eq!((read(&second, "0"), read(&second, "eth0"), shown(&second)), (0, 0, "0 1 2 3 4".to_owned()));
        assert_eq!(second.take_port_forms(), [("example.org/9".to_owned(), false)]);
    }
}
