//! Values of any type (`P4Data`), which registers and digests hold, in both directions.
//!
//! In the switch such a value is the list of its leaves. Whether a header is valid is not among them: every header
//! counts as valid, and of a union the first header that is not all zero.

use crate::schema::Schema;
use crate::value;
use base::Bits;
use control::api::Fault;
use p4info::{Data, Value};
use p4runtime_proto::p4::v1::{self, p4_data};

/// The leaves of a value, with the widths that they have in the switch.
pub(crate) fn read(
    schema: &Schema,
    what: &str,
    data: &Data,
    widths: &[u32],
    sent: &v1::P4Data,
) -> Result<Vec<Bits>, Fault> {
    let mut reader = Reader { schema, widths: widths.iter(), leaves: Vec::new() };
    reader.read(what, data, sent)?;
    Ok(reader.leaves)
}

struct Reader<'a> {
    schema: &'a Schema,
    widths: std::slice::Iter<'a, u32>,
    leaves: Vec<Bits>,
}

impl Reader<'_> {
    fn width(&mut self) -> u32 {
        self.widths.next().copied().unwrap_or(0)
    }

    fn push_bits(&mut self, what: &str, value: &Value, sent: &[u8]) -> Result<(), Fault> {
        let value = Value { width_bits: self.width(), translation: value.translation.clone() };
        let bits = self.schema.translator.read(what, &value, sent)?;
        self.leaves.push(bits);
        Ok(())
    }

    fn push_position(&mut self, what: &str, names: &[String], sent: &str) -> Result<(), Fault> {
        let width_bits = self.width();
        let Some(position) = names.iter().position(|name| name == sent) else {
            return Err(Fault::invalid(format!("{what}: {sent} is not one of {}", names.join(", "))));
        };
        self.leaves.push(Bits::from_u64(width_bits, position as u64));
        Ok(())
    }

    fn read(&mut self, what: &str, data: &Data, sent: &v1::P4Data) -> Result<(), Fault> {
        use p4_data::Data as Sent;
        match (data, &sent.data) {
            (Data::Bits(value), Some(Sent::Bitstring(bytes))) => self.push_bits(what, value, bytes),
            (Data::Bool, Some(Sent::Bool(is_true))) => {
                let width_bits = self.width();
                self.leaves.push(Bits::from_u64(width_bits, u64::from(*is_true)));
                Ok(())
            }
            (Data::Struct(members), Some(Sent::Struct(sent))) => self.struct_like(what, members, &sent.members),
            (Data::Tuple(items), Some(Sent::Tuple(sent))) => {
                let named: Vec<(String, Data)> =
                    items.iter().enumerate().map(|(index, item)| (index.to_string(), item.clone())).collect();
                self.struct_like(what, &named, &sent.members)
            }
            (Data::Header(members), Some(Sent::Header(sent))) => self.header(what, members, sent),
            (Data::HeaderUnion(members), Some(Sent::HeaderUnion(sent))) => self.union(what, members, sent),
            (Data::Stack(elements), Some(Sent::HeaderStack(sent))) => {
                let entries = sent.entries.iter().map(|entry| Sent::Header(entry.clone()));
                self.stack(what, elements, entries)
            }
            (Data::Stack(elements), Some(Sent::HeaderUnionStack(sent))) => {
                let entries = sent.entries.iter().map(|entry| Sent::HeaderUnion(entry.clone()));
                self.stack(what, elements, entries)
            }
            (Data::Enum(names), Some(Sent::Enum(sent))) => self.push_position(what, names, sent),
            (Data::Error(names), Some(Sent::Error(sent))) => self.push_position(what, names, sent),
            (Data::SerializableEnum { width_bits, .. }, Some(Sent::EnumValue(bytes))) => {
                let value = Value { width_bits: *width_bits, translation: None };
                self.push_bits(what, &value, bytes)
            }
            (Data::Varbit { .. }, Some(Sent::Varbit(_))) => {
                Err(Fault::invalid(format!("{what}: values of type varbit cannot be written")))
            }
            (_, None) => Err(Fault::invalid(format!("{what}: the data is empty: it must be {}", name_of(data)))),
            (_, Some(_)) => Err(Fault::invalid(format!("{what}: the data must be {}", name_of(data)))),
        }
    }

    fn struct_like(&mut self, what: &str, members: &[(String, Data)], sent: &[v1::P4Data]) -> Result<(), Fault> {
        check_count(what, "members", members.len(), sent.len())?;
        let mut pairs = members.iter().zip(sent);
        pairs.try_for_each(|((name, data), sent)| self.read(&format!("{what}.{name}"), data, sent))
    }

    fn header(&mut self, what: &str, members: &[(String, Data)], sent: &v1::P4Header) -> Result<(), Fault> {
        if !sent.is_valid {
            return Err(Fault::invalid(format!("{what}: the header must be valid")));
        }
        check_count(what, "fields", members.len(), sent.bitstrings.len())?;
        for ((name, data), bytes) in members.iter().zip(&sent.bitstrings) {
            let data_sent = v1::P4Data { data: Some(p4_data::Data::Bitstring(bytes.clone())) };
            self.read(&format!("{what}.{name}"), data, &data_sent)?;
        }
        Ok(())
    }

    fn union(&mut self, what: &str, members: &[(String, Data)], sent: &v1::P4HeaderUnion) -> Result<(), Fault> {
        let is_known = |name: &str| members.iter().any(|(member, _)| member == name);
        if !sent.valid_header_name.is_empty() && !is_known(&sent.valid_header_name) {
            let name = &sent.valid_header_name;
            return Err(Fault::invalid(format!("{what}: the union has no header {name}")));
        }
        for (name, data) in members {
            match &sent.valid_header {
                Some(header) if *name == sent.valid_header_name => {
                    let header = v1::P4Data { data: Some(p4_data::Data::Header(header.clone())) };
                    self.read(&format!("{what}.{name}"), data, &header)?;
                }
                _ => {
                    for _ in data.leaves() {
                        let width_bits = self.width();
                        self.leaves.push(Bits::zero(width_bits));
                    }
                }
            }
        }
        Ok(())
    }

    fn stack(
        &mut self,
        what: &str,
        elements: &[Data],
        entries: impl ExactSizeIterator<Item = p4_data::Data>,
    ) -> Result<(), Fault> {
        check_count(what, "elements", elements.len(), entries.len())?;
        for (index, (element, entry)) in elements.iter().zip(entries).enumerate() {
            self.read(&format!("{what}[{index}]"), element, &v1::P4Data { data: Some(entry) })?;
        }
        Ok(())
    }
}

fn check_count(what: &str, parts: &str, wanted: usize, given: usize) -> Result<(), Fault> {
    match wanted == given {
        true => Ok(()),
        false => Err(Fault::invalid(format!("{what}: there must be {wanted} {parts}, not {given}"))),
    }
}

fn name_of(data: &Data) -> &'static str {
    match data {
        Data::Bits(_) => "a bitstring",
        Data::Bool => "a bool",
        Data::Varbit { .. } => "a varbit",
        Data::Struct(_) => "a struct",
        Data::Tuple(_) => "a tuple",
        Data::Header(_) => "a header",
        Data::HeaderUnion(_) => "a header union",
        Data::Stack(elements) if matches!(elements.first(), Some(Data::HeaderUnion(_))) => "a header union stack",
        Data::Stack(_) => "a header stack",
        Data::Enum(_) => "an enum",
        Data::SerializableEnum { .. } => "an enum value",
        Data::Error(_) => "an error",
    }
}

/// The value that has these leaves. Leaves that are missing count as zero.
pub(crate) fn write(schema: &Schema, data: &Data, leaves: &[Bits]) -> v1::P4Data {
    Writer { schema, leaves: leaves.iter() }.write(data)
}

struct Writer<'a> {
    schema: &'a Schema,
    leaves: std::slice::Iter<'a, Bits>,
}

impl Writer<'_> {
    fn leaf(&mut self) -> Bits {
        self.leaves.next().cloned().unwrap_or_else(|| Bits::zero(1))
    }

    fn position(&mut self, names: &[String]) -> String {
        let leaf = self.leaf();
        let name = leaf.to_u64().and_then(|position| names.get(position as usize)).cloned();
        name.unwrap_or_default()
    }

    fn write(&mut self, data: &Data) -> v1::P4Data {
        use p4_data::Data as Sent;
        let sent = match data {
            Data::Bits(value) => {
                let leaf = self.leaf();
                Sent::Bitstring(self.schema.translator.write(value, &leaf))
            }
            Data::Bool => Sent::Bool(!self.leaf().is_zero()),
            Data::Varbit { .. } => {
                let leaf = self.leaf();
                Sent::Varbit(v1::P4Varbit { bitstring: value::bytes(&leaf), bitwidth: leaf.width() as i32 })
            }
            Data::Struct(members) => {
                let members = members.iter().map(|(_, member)| self.write(member)).collect();
                Sent::Struct(v1::P4StructLike { members })
            }
            Data::Tuple(items) => {
                let members = items.iter().map(|item| self.write(item)).collect();
                Sent::Tuple(v1::P4StructLike { members })
            }
            Data::Header(members) => Sent::Header(self.header(members)),
            Data::HeaderUnion(members) => Sent::HeaderUnion(self.union(members)),
            Data::Stack(elements) if matches!(elements.first(), Some(Data::HeaderUnion(_))) => {
                let entries = elements.iter().map(|element| match element {
                    Data::HeaderUnion(members) => self.union(members),
                    _ => v1::P4HeaderUnion::default(),
                });
                Sent::HeaderUnionStack(v1::P4HeaderUnionStack { entries: entries.collect() })
            }
            Data::Stack(elements) => {
                let entries = elements.iter().map(|element| match element {
                    Data::Header(members) => self.header(members),
                    _ => v1::P4Header::default(),
                });
                Sent::HeaderStack(v1::P4HeaderStack { entries: entries.collect() })
            }
            Data::Enum(names) => Sent::Enum(self.position(names)),
            Data::Error(names) => Sent::Error(self.position(names)),
            Data::SerializableEnum { .. } => Sent::EnumValue(value::bytes(&self.leaf())),
        };
        v1::P4Data { data: Some(sent) }
    }

    fn header(&mut self, members: &[(String, Data)]) -> v1::P4Header {
        let bitstrings = members.iter().map(|_| value::bytes(&self.leaf())).collect();
        v1::P4Header { is_valid: true, bitstrings }
    }

    fn union(&mut self, members: &[(String, Data)]) -> v1::P4HeaderUnion {
        let mut valid = v1::P4HeaderUnion::default();
        for (name, member) in members {
            let Data::Header(fields) = member else { continue };
            let header = self.header(fields);
            let is_zero = header.bitstrings.iter().all(|bytes| bytes.iter().all(|&byte| byte == 0));
            if valid.valid_header.is_none() && !is_zero {
                valid = v1::P4HeaderUnion { valid_header_name: name.clone(), valid_header: Some(header) };
            }
        }
        valid
    }
}
