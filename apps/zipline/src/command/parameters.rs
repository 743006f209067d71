//! The parameters that an encoder and a decoder must share, so that the decoder restores the original packets: how
//! their programs were compiled, which bits a syndrome denotes, the EtherType and the mask of each class. Each
//! transform has its own: the tables of class 0 have no number, those of other classes have the class number at the
//! end of their names. Of a gateway, which is encoder and decoder, one of the two halves is used.
//!
//! What enters: a switch's P4Info, and the entries of its tables `masks` and `classes`. What leaves: descriptions of
//! the differences between two switches. An entry that only one of them has is not a difference: packets stay as they
//! are, or are dropped and counted, but no byte is wrong.

use crate::Code;
use crate::code::Wrong;
use crate::entries::name;
use base::{OrderedMap, OrderedSet};
use control::Problem;
use ctl::{Schema, schema};
use p4runtime_proto::p4::config::v1::structured_annotation::Body;
use p4runtime_proto::p4::config::v1::{KeyValuePair, P4Info, Table, expression};
use p4runtime_proto::p4::v1::{TableEntry, field_match, table_action};

/// The annotation of the table `bases` with the compile options of the program.
const ANNOTATION: &str = "zipline";

/// Settings that are written in hexadecimal.
const HEXADECIMAL: [&str; 2] = ["polynomial", "ethertype"];

/// Settings of each transform; the others are those of the program.
const OWN: [&str; 5] = ["code", "errors", "polynomial", "chunk", "aside"];

/// The parameters of one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    is_encoder: bool,
    /// Its transforms, by the class that has them.
    transforms: OrderedMap<u32, Transform>,
    classes: Vec<Class>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Transform {
    /// Its compile options: the names of `-D`, in small letters.
    settings: OrderedMap<String, i64>,
    /// The action for each syndrome.
    masks: OrderedMap<Vec<u8>, Deed>,
}

/// An action, and its arguments by name.
type Deed = (String, OrderedMap<String, Vec<u8>>);

/// An entry of `classes`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Class {
    number: Vec<u8>,
    ethertype: Vec<u8>,
    mask: Option<Vec<u8>>,
}

/// The class number at the end of a table's name, and the name before it: of `split_1.bases_1`, `bases` and 1.
fn numbered(name: &str) -> (&str, u32) {
    let name = name.rsplit('.').next().unwrap_or(name);
    let parts = name.rsplit_once('_').and_then(|(kind, number)| Some((kind, number.parse().ok()?)));
    parts.unwrap_or((name, 0))
}

/// The controls with tables of bases: of the encoder, and of the decoder.
const HALVES: [&str; 2] = ["split", "join"];

/// The half and class of this table of bases, if it is one.
fn half_of(table: &Table) -> Option<(&str, u32)> {
    let (before, last) = schema::name(&table.preamble).rsplit_once('.')?;
    match numbered(last) {
        ("bases", class) => Some((numbered(before).0, class)),
        _ => None,
    }
}

/// Whether a program is both encoder and decoder.
pub fn is_gateway(info: &P4Info) -> bool {
    HALVES.iter().all(|half| info.tables.iter().filter_map(half_of).any(|(its, _)| its == *half))
}

/// The name of a table or a counter in the encoder's half, or in the decoder's.
pub fn of_half(program: &Schema, is_encoder: bool, name: &str) -> String {
    let [outer, inner] = if is_encoder { ["encoder", HALVES[0]] } else { ["decoder", HALVES[1]] };
    match numbered(name) {
        _ if !is_gateway(program.info()) => name.to_owned(),
        ("masks", class) => format!("{}.{name}", self::name(inner, class)),
        _ => format!("{outer}.{name}"),
    }
}

/// The table of bases of each transform, by the class that has it.
pub fn tables_of_bases(program: &Schema, is_encoder: bool) -> Result<OrderedMap<u32, &Table>, Problem> {
    let own = if is_encoder { HALVES[0] } else { HALVES[1] };
    let of_half = |table| half_of(table).filter(|(half, _)| *half == own).map(|(_, class)| (class, table));
    let tables: OrderedMap<u32, &Table> = program.info().tables.iter().filter_map(of_half).collect();
    if tables.is_empty() { Ok(OrderedMap::from([(0, program.table("bases")?)])) } else { Ok(tables) }
}

impl Parameters {
    /// The compile options of a switch's program; the contents of its tables are not known yet.
    pub fn of_program(is_encoder: bool, program: &Schema) -> Result<Parameters, Problem> {
        let transform = |(class, table): (u32, &Table)| {
            Ok((class, Transform { settings: settings(table)?, masks: OrderedMap::new() }))
        };
        let transforms: Result<_, Problem> = tables_of_bases(program, is_encoder)?.into_iter().map(transform).collect();
        Ok(Parameters { is_encoder, transforms: transforms?, classes: Vec::new() })
    }

    /// The tables whose entries are read; without a code there is no `masks`.
    pub fn tables<'p>(&self, program: &'p Schema) -> Result<Vec<&'p Table>, Problem> {
        let coded = self.transforms.iter().filter(|(_, transform)| transform.settings.get("code") != Some(&0));
        let table = |name: &str| program.table(&of_half(program, self.is_encoder, name));
        let masks = coded.map(|(class, _)| table(&name("masks", *class)));
        masks.chain([table("classes")]).collect()
    }

    /// Adds an entry of one of them.
    pub fn take_in(&mut self, program: &Schema, table: &Table, entry: &TableEntry) {
        let Some((action, mut arguments)) = deed(program, entry) else { return };
        let mut keys = keys(table, entry);
        match numbered(schema::name(&table.preamble)) {
            ("masks", class) => {
                if let (Some(syndrome), Some(its)) = (keys.remove("syndrome"), self.transforms.get_mut(&class)) {
                    its.masks.insert(syndrome, (action, arguments));
                }
            }
            _ if action == "encode" || action == "restore" => {
                let (from, to) =
                    if self.is_encoder { (&mut arguments, &mut keys) } else { (&mut keys, &mut arguments) };
                let number = from.remove("class").or_else(|| from.remove("number")).unwrap_or_default();
                let ethertype = to.remove("ethertype").unwrap_or_default();
                self.classes.push(Class { number, ethertype, mask: arguments.remove("which") });
            }
            _ => {}
        }
    }

    /// Why bytes would be wrong with any other switch: the program's code does not exist, or the bits in its table
    /// are not those of the code.
    pub fn fault(&self) -> Option<String> {
        self.transforms.iter().find_map(|(class, its)| its.fault(*class))
    }

    /// Why bytes would be wrong between this switch and another one, which has a name.
    pub fn difference(&self, other: &Parameters, name: &str) -> Option<String> {
        let by_settings = self.settings_difference(other, name);
        by_settings.or_else(|| self.masks_difference(other, name)).or_else(|| self.class_difference(other, name))
    }

    /// The settings of a class' transform that are compared in a message.
    fn compared_settings(&self, other: &Parameters, class: u32) -> Vec<String> {
        let both = [self, other].map(|parameters| parameters.transforms.get(&class));
        let settings = both.iter().flatten().flat_map(|transform| transform.settings.keys());
        let is_compared = |key: &&String| match both {
            _ if class == 0 => true,
            [Some(_), Some(_)] => OWN.contains(&key.as_str()),
            _ => *key == "code",
        };
        let mut settings: Vec<String> = settings.filter(is_compared).cloned().collect();
        settings.sort_unstable();
        settings.dedup();
        settings
    }

    fn setting(&self, class: u32, key: &str) -> Option<&i64> {
        self.transforms.get(&class)?.settings.get(key)
    }

    fn settings_difference(&self, other: &Parameters, name: &str) -> Option<String> {
        let classes: OrderedSet<u32> = self.transforms.keys().chain(other.transforms.keys()).copied().collect();
        let all = classes
            .into_iter()
            .flat_map(|class| self.compared_settings(other, class).into_iter().map(move |key| (class, key)));
        let differing: Vec<(u32, String)> =
            all.filter(|(class, key)| self.setting(*class, key) != other.setting(*class, key)).collect();
        let options = |parameters: &Parameters| {
            let one = |(class, key): &(u32, String)| {
                format!(
                    "-D {}={}",
                    self::name(&key.to_uppercase(), *class),
                    setting(key, parameters.setting(*class, key))
                )
            };
            differing.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        (!differing.is_empty()).then(|| {
            let (own, theirs) = (options(self), options(other));
            format!("its program has {own}, but that of {name} has {theirs}: compile both with the same")
        })
    }

    fn masks_difference(&self, other: &Parameters, name: &str) -> Option<String> {
        self.transforms.iter().find_map(|(class, its)| {
            let others = &other.transforms.get(class)?.masks;
            let differs = |(syndrome, own): (&Vec<u8>, &Deed)| {
                let theirs = others.get(syndrome).filter(|theirs| *theirs != own)?;
                Some(format!(
                    "its table `{}` has {} for the syndrome {}, but that of {name} has {}: give both the entries of \
                     one transform",
                    self::name("masks", *class),
                    written(own),
                    hexadecimal(syndrome),
                    written(theirs)
                ))
            };
            its.masks.iter().find_map(differs)
        })
    }

    /// An encoder may have several classes with one number; a decoder restores one.
    fn class_difference(&self, other: &Parameters, name: &str) -> Option<String> {
        if self.is_encoder == other.is_encoder {
            return None;
        }
        let differs = |own: &Class| {
            let is_other = |theirs: &&Class| theirs.number == own.number && *theirs != own;
            let theirs = other.classes.iter().find(is_other)?;
            let mask = |class: &Class| class.mask.as_deref().map_or("none".to_owned(), hexadecimal);
            let (what, of_own, of_theirs) = match own.ethertype == theirs.ethertype {
                true => ("mask", mask(own), mask(theirs)),
                false => ("EtherType", hexadecimal(&own.ethertype), hexadecimal(&theirs.ethertype)),
            };
            Some(format!(
                "in its table `classes` the class {} has the {what} {of_own}, but {of_theirs} in that of {name}: \
                 give both the entries of one transform",
                decimal(&own.number),
            ))
        };
        self.classes.iter().find_map(differs)
    }
}

impl Transform {
    fn fault(&self, class: u32) -> Option<String> {
        let setting = |key: &str| self.settings.get(key).and_then(|value| u32::try_from(*value).ok());
        let m = setting("code").filter(|m| *m != 0)?;
        let (errors, polynomial) = (setting("errors").unwrap_or(1), setting("polynomial").unwrap_or(0));
        let options = format!(
            "-D {}={m} -D {}={errors} -D {}={polynomial:#x}",
            name("CODE", class),
            name("ERRORS", class),
            name("POLYNOMIAL", class)
        );
        let code = if errors == 2 { Code::of_two(m) } else { Code::with_polynomial(m, polynomial) };
        let code = match code {
            Ok(code) if code.polynomial() == polynomial => code,
            Ok(_) => return Some(format!("its program has {options}, which is not a code that corrects two bits")),
            Err(error) => return Some(format!("its program has {options}: {error}")),
        };
        let (syndrome, deed) = self.masks.iter().find(|(syndrome, deed)| !is_of_code(&code, syndrome, deed))?;
        Some(format!(
            "its table `{}` has {} for the syndrome {}, which contradicts its program's code ({options}): give it the \
             entries that `wirespeed zipline tables` writes for it",
            name("masks", class),
            written(deed),
            hexadecimal(syndrome)
        ))
    }
}

/// Whether these are the wrong error bits for this syndrome; syndrome 0 has none and is not looked up.
fn is_of_code(code: &Code, syndrome: &[u8], (action, arguments): &Deed) -> bool {
    let number = super::connection::number;
    let argument = |name: &str| arguments.get(name).and_then(|bytes| number(bytes));
    match number(syndrome).and_then(|syndrome| code.wrong(syndrome)) {
        Some(Wrong::One(id)) => action == "flip" && argument("place") == Some(id.into()),
        Some(Wrong::Two(first, second)) => {
            let (wrong, said) = ([first, second].map(|id| Some(id.into())), [argument("first"), argument("second")]);
            action == "flip_two" && (said == wrong || said == [wrong[1], wrong[0]])
        }
        Some(Wrong::Syndrome) => action == "keep",
        None => number(syndrome) == Some(0),
    }
}

/// The compile options of the program with this table of bases.
fn settings(bases: &Table) -> Result<OrderedMap<String, i64>, Problem> {
    let annotations = bases.preamble.as_ref().map_or(&[][..], |it| &it.structured_annotations);
    let said = annotations.iter().find(|annotation| annotation.name == ANNOTATION);
    let Some(Body::KvPairList(said)) = said.and_then(|annotation| annotation.body.as_ref()) else {
        let message = format!("its table `bases` has no annotation @{ANNOTATION} that says how it was compiled");
        return Err(Problem::new(message).with_help("run the programs of this version of Wirespeed"));
    };
    let number = |value: Option<&expression::Value>| match value {
        Some(expression::Value::Int64Value(number)) => *number,
        _ => 0,
    };
    let setting = |pair: &KeyValuePair| {
        let value = pair.value.as_ref().and_then(|value| value.value.as_ref());
        (pair.key.clone(), number(value))
    };
    Ok(said.kv_pairs.iter().map(setting).collect())
}

/// The action of an entry.
fn deed(program: &Schema, entry: &TableEntry) -> Option<Deed> {
    let table_action::Type::Action(action) = entry.action.as_ref()?.r#type.as_ref()? else { return None };
    let of_program = program.action_by_id(action.action_id)?;
    let name = schema::name(&of_program.preamble).rsplit('.').next()?;
    let argument = |param: &p4runtime_proto::p4::v1::action::Param| {
        let of_program = of_program.params.iter().find(|it| it.id == param.param_id)?;
        Some((of_program.name.clone(), values::canonical(&param.value)))
    };
    Some((name.to_owned(), action.params.iter().filter_map(argument).collect()))
}

/// The exact keys of an entry by the last parts of their names.
fn keys(table: &Table, entry: &TableEntry) -> OrderedMap<String, Vec<u8>> {
    let key = |field: &p4runtime_proto::p4::v1::FieldMatch| {
        let of_program = table.match_fields.iter().find(|it| it.id == field.field_id)?;
        let Some(field_match::FieldMatchType::Exact(exact)) = &field.field_match_type else { return None };
        let name = of_program.name.rsplit('.').next()?;
        Some((name.to_owned(), values::canonical(&exact.value)))
    };
    entry.r#match.iter().filter_map(key).collect()
}

fn setting(key: &str, value: Option<&i64>) -> String {
    match value {
        None => "(nothing)".to_owned(),
        Some(value) if HEXADECIMAL.contains(&key) => format!("{value:#x}"),
        Some(value) => value.to_string(),
    }
}

fn written((action, arguments): &Deed) -> String {
    let arguments: Vec<String> = arguments.values().map(|value| decimal(value)).collect();
    format!("{action}({})", arguments.join(", "))
}

/// Bytes in display form.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// A number that has few bytes.
fn decimal(bytes: &[u8]) -> String {
    match super::connection::number(bytes) {
        Some(number) => number.to_string(),
        None => hexadecimal(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(is_encoder: bool, code: i64) -> Parameters {
        let settings = [("code", code), ("polynomial", 0x1d)].map(|(key, value)| (key.to_owned(), value));
        let flip = ("flip".to_owned(), OrderedMap::from([("place".to_owned(), vec![3])]));
        let class = Class { number: vec![0], ethertype: vec![8, 0], mask: Some(vec![0xff, 0]) };
        let first =
            Transform { settings: OrderedMap::from(settings), masks: OrderedMap::from([(vec![1], flip.clone())]) };
        let own = [("code", 5), ("aside", 1), ("count", 1)].map(|(key, value)| (key.to_owned(), value));
        let own = Transform { settings: OrderedMap::from(own), masks: OrderedMap::from([(vec![2], flip)]) };
        Parameters { is_encoder, transforms: OrderedMap::from([(0, first), (2, own)]), classes: vec![class] }
    }

    fn of(parameters: &mut Parameters, class: u32) -> &mut Transform {
        parameters.transforms.get_mut(&class).unwrap()
    }

    #[test]
    fn masks_are_of_the_code_that_the_program_has() {
        let code = |options: [i64; 3], syndrome: u8, deed: (&str, &[(&str, u8)])| {
            let settings = ["code", "errors", "polynomial"].into_iter().zip(options);
            let arguments = deed.1.iter().map(|(name, value)| ((*name).to_owned(), vec![*value])).collect();
            let transform = Transform {
                settings: settings.map(|(key, value)| (key.to_owned(), value)).collect(),
                masks: OrderedMap::from([(vec![syndrome], (deed.0.to_owned(), arguments))]),
            };
            transform.fault(0).unwrap_or_else(|| "right".to_owned())
        };
        let messages = [
            code([5, 1, 0x17], 0x17, ("flip", &[("place", 5)])),
            code([5, 1, 5], 0x17, ("flip", &[("place", 5)])),
            code([5, 1, 5], 1, ("NoAction", &[])),
            code([5, 1, 0x1c], 1, ("flip", &[("place", 0)])),
            code([4, 2, 0xd1], 3, ("flip_two", &[("first", 1), ("second", 0)])),
            code([4, 2, 0xd1], 3, ("flip_two", &[("first", 2), ("second", 0)])),
            code([4, 2, 0x3], 3, ("flip_two", &[("first", 1), ("second", 0)])),
            code([0, 1, 0], 3, ("flip", &[("place", 9)])),
        ];
        expect_test::expect![[r#"
            right
            its table `masks` has flip(5) for the syndrome 0x17, which contradicts its program's code (-D CODE=5 -D ERRORS=1 -D POLYNOMIAL=0x5): give it the entries that `wirespeed zipline tables` writes for it
            its table `masks` has NoAction() for the syndrome 0x01, which contradicts its program's code (-D CODE=5 -D ERRORS=1 -D POLYNOMIAL=0x5): give it the entries that `wirespeed zipline tables` writes for it
            its program has -D CODE=5 -D ERRORS=1 -D POLYNOMIAL=0x1c: 0x1c does not generate a Hamming code with m = 5: x^5 plus it is not a primitive polynomial; the default is 0x5
            right
            its table `masks` has flip_two(2, 0) for the syndrome 0x03, which contradicts its program's code (-D CODE=4 -D ERRORS=2 -D POLYNOMIAL=0xd1): give it the entries that `wirespeed zipline tables` writes for it
            its program has -D CODE=4 -D ERRORS=2 -D POLYNOMIAL=0x3, which is not a code that corrects two bits
            right"#]].assert_eq(&messages.join("\n"));
    }

    #[test]
    fn differences_of_two_switches_are_reported() {
        let encoder = parameters(true, 8);
        let message = |decoder: &Parameters| decoder.difference(&encoder, "E").unwrap_or_default();
        assert_eq!(message(&parameters(false, 8)), "");
        let one = |change: fn(&mut Parameters)| {
            let mut decoder = parameters(false, 8);
            change(&mut decoder);
            message(&decoder)
        };
        let lines = [
            one(|it| _ = of(it, 0).settings.insert("polynomial".to_owned(), 0x2b)),
            one(|it| _ = of(it, 0).settings.remove("code")),
            one(|it| _ = of(it, 2).settings.insert("code".to_owned(), 6)),
            one(|it| _ = it.transforms.remove(&2)),
            one(|it| {
                let own = of(it, 2).clone();
                it.transforms.insert(3, own);
            }),
            one(|it| of(it, 0).masks.values_mut().for_each(|(_, it)| _ = it.insert("place".to_owned(), vec![1, 0]))),
            one(|it| of(it, 2).masks.values_mut().for_each(|(action, _)| *action = "keep".to_owned())),
            one(|it| it.classes[0].mask = Some(vec![0xfe, 1])),
            one(|it| it.classes[0].ethertype = vec![0x86, 0xdd]),
        ];
        expect_test::expect![[r#"
            its program has -D POLYNOMIAL=0x2b, but that of E has -D POLYNOMIAL=0x1d: compile both with the same
            its program has -D CODE=(nothing), but that of E has -D CODE=8: compile both with the same
            its program has -D CODE_2=6, but that of E has -D CODE_2=5: compile both with the same
            its program has -D CODE_2=(nothing), but that of E has -D CODE_2=5: compile both with the same
            its program has -D CODE_3=5, but that of E has -D CODE_3=(nothing): compile both with the same
            its table `masks` has flip(256) for the syndrome 0x01, but that of E has flip(3): give both the entries of one transform
            its table `masks_2` has keep(3) for the syndrome 0x02, but that of E has flip(3): give both the entries of one transform
            in its table `classes` the class 0 has the mask 0xfe01, but 0xff00 in that of E: give both the entries of one transform
            in its table `classes` the class 0 has the EtherType 0x86dd, but 0x0800 in that of E: give both the entries of one transform"#]].assert_eq(&lines.join("\n"));
        // An entry that only one of them has is not a difference, nor are classes of two decoders.
        let mut decoder = parameters(false, 8);
        decoder.classes.clear();
        for transform in decoder.transforms.values_mut() {
            transform.masks = OrderedMap::from([(vec![7], ("keep".to_owned(), OrderedMap::new()))]);
        }
        assert_eq!(message(&decoder), "");
        let mut another = parameters(false, 8);
        another.classes[0].ethertype = vec![0x86, 0xdd];
        assert_eq!(another.difference(&parameters(false, 8), "D"), None);
    }
}
