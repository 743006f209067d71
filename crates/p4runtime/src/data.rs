//! Values of any type (`P4Data`), which registers and digests hold, in both directions.
//!
//! In the switch such a value is the list of its leaves. Those of a register's cell form one number, the first in the
//! most significant bits. A header has a leaf in front of its fields that says whether it is valid. A varbit is two
//! leaves: its length in bits, and its bits as a number.

use crate::schema::Schema;
use crate::translator::Unknown;
use crate::value;
use base::Bits;
use control::api::Fault;
use p4info::{Data, Value};
use p4runtime_proto::p4::v1::{self, p4_data};

/// A value as a register's cell of this width.
pub(crate) fn read_cell(
    schema: &Schema,
    what: &str,
    data: &Data,
    width_bits: u32,
    sent: &v1::P4Data,
) -> Result<Bits, Fault> {
    let widths = cell_widths(data, width_bits);
    let mut reader = Reader { schema, widths: widths.iter(), leaves: Vec::new() };
    reader.read(what, data, sent)?;
    let joined = reader.leaves.iter().fold(Bits::zero(0), |joined, leaf| joined.concat(leaf));
    Ok(joined.resize(width_bits))
}

/// The value in a register's cell.
pub(crate) fn write_cell(schema: &Schema, data: &Data, cell: &Bits) -> v1::P4Data {
    let mut high = cell.width();
    let mut leaves = Vec::new();
    for width in cell_widths(data, cell.width()) {
        let low = high.saturating_sub(width);
        if low == high {
            break;
        }
        leaves.push(cell.slice(high - 1, low));
        high = low;
    }
    Writer { schema, leaves: leaves.iter() }.write(data)
}

/// The bits of the leaves of a register's cell, and of the validity of its headers.
fn cell_widths(data: &Data, width_bits: u32) -> Vec<u32> {
    let mut widths = Vec::new();
    add_cell_widths(data, &mut widths);
    match widths.len() {
        1 => vec![width_bits],
        _ => widths,
    }
}

fn add_cell_widths(data: &Data, widths: &mut Vec<u32>) {
    match data {
        Data::Struct(members) | Data::HeaderUnion(members) => {
            members.iter().for_each(|(_, member)| add_cell_widths(member, widths));
        }
        Data::Header(members) => {
            widths.push(1);
            members.iter().for_each(|(_, member)| add_cell_widths(member, widths));
        }
        Data::Tuple(items) | Data::Stack(items) => items.iter().for_each(|item| add_cell_widths(item, widths)),
        Data::Bits(value) => widths.push(value.width_bits),
        Data::Bool => widths.push(1),
        Data::SerializableEnum { width_bits, .. } => widths.push(*width_bits),
        Data::Enum(_) | Data::Error(_) => widths.push(32),
        Data::Varbit { width_bits_max } => widths.extend([32, *width_bits_max]),
    }
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
        let value = Value { width_bits: self.width(), translation: value.translation.clone(), format: None };
        let bits = self.schema.translator.read(what, &value, sent, Unknown::Numbered)?;
        self.leaves.push(bits);
        Ok(())
    }

    fn push_zeros(&mut self, count: usize) {
        for _ in 0..count {
            let width_bits = self.width();
            self.leaves.push(Bits::zero(width_bits));
        }
    }

    fn push_varbit(&mut self, what: &str, most: u32, length_bits: Option<u32>, sent: &[u8]) -> Result<(), Fault> {
        let fits = |length: &u32| *length <= most && length.is_multiple_of(8);
        let Some(length_bits) = length_bits.filter(fits) else {
            return Err(Fault::invalid(format!("{what}: a varbit has whole bytes, and at most {most} bits")));
        };
        let bits = match length_bits {
            0 => Bits::zero(0),
            width_bits => value::bits(what, width_bits, sent)?,
        };
        let (length_width, bits_width) = (self.width(), self.width());
        self.leaves.push(Bits::from_u64(length_width, u64::from(length_bits)));
        self.leaves.push(bits.resize(bits_width));
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
                let value = Value { width_bits: *width_bits, translation: None, format: None };
                self.push_bits(what, &value, bytes)
            }
            (Data::Varbit { width_bits_max }, Some(Sent::Varbit(sent))) => {
                self.push_varbit(what, *width_bits_max, u32::try_from(sent.bitwidth).ok(), &sent.bitstring)
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
            check_count(what, "fields", 0, sent.bitstrings.len())?;
            let leaves: usize = members.iter().map(|(_, member)| member.leaves().len()).sum();
            self.push_zeros(leaves + 1);
            return Ok(());
        }
        let width_bits = self.width();
        self.leaves.push(Bits::from_u64(width_bits, 1));
        check_count(what, "fields", members.len(), sent.bitstrings.len())?;
        for ((name, data), bytes) in members.iter().zip(&sent.bitstrings) {
            if let Data::Varbit { width_bits_max } = data {
                let length_bits = u32::try_from(bytes.len()).ok().and_then(|length| length.checked_mul(8));
                self.push_varbit(&format!("{what}.{name}"), *width_bits_max, length_bits, bytes)?;
                continue;
            }
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
                _ => self.push_zeros(data.leaves().len()),
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

/// The value of a digest that has these leaves. Leaves that are missing count as zero.
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

    /// The bits of a varbit, as wide as it is long.
    fn varbit(&mut self) -> Bits {
        let (length_bits, bits) = (self.leaf(), self.leaf());
        bits.resize(length_bits.low_u64().min(u64::from(bits.width())) as u32 / 8 * 8)
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
                let bits = self.varbit();
                Sent::Varbit(v1::P4Varbit { bitstring: values::bytes(&bits), bitwidth: bits.width() as i32 })
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
            Data::SerializableEnum { .. } => Sent::EnumValue(values::bytes(&self.leaf())),
        };
        v1::P4Data { data: Some(sent) }
    }

    fn header(&mut self, members: &[(String, Data)]) -> v1::P4Header {
        let is_valid = !self.leaf().is_zero();
        // The bytes of a varbit say how long it is; those of others are the shortest.
        let bitstring = |(_, member): &(String, Data)| match member {
            Data::Varbit { .. } => self.varbit().to_be_bytes(),
            _ => values::bytes(&self.leaf()),
        };
        let bitstrings = members.iter().map(bitstring).collect();
        v1::P4Header { is_valid, bitstrings: if is_valid { bitstrings } else { Vec::new() } }
    }

    fn union(&mut self, members: &[(String, Data)]) -> v1::P4HeaderUnion {
        let mut valid = v1::P4HeaderUnion::default();
        for (name, member) in members {
            let Data::Header(fields) = member else { continue };
            let header = self.header(fields);
            if valid.valid_header.is_none() && header.is_valid {
                valid = v1::P4HeaderUnion { valid_header_name: name.clone(), valid_header: Some(header) };
            }
        }
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::schema;

    /// What a digest of a header and a union of two has, if these are its leaves.
    fn written(leaves: &[(u32, u64)]) -> v1::P4Data {
        let header = || {
            Data::Header(vec![("a".to_owned(), Data::Bits(Value { width_bits: 8, translation: None, format: None }))])
        };
        let union = Data::HeaderUnion(vec![("one".to_owned(), header()), ("two".to_owned(), header())]);
        let leaves: Vec<Bits> = leaves.iter().map(|&(width, value)| Bits::from_u64(width, value)).collect();
        write(&schema(), &Data::Tuple(vec![header(), union]), &leaves)
    }

    fn tuple(header: v1::P4Header, union: v1::P4HeaderUnion) -> v1::P4Data {
        let members = [p4_data::Data::Header(header), p4_data::Data::HeaderUnion(union)];
        let members = members.into_iter().map(|data| v1::P4Data { data: Some(data) }).collect();
        v1::P4Data { data: Some(p4_data::Data::Tuple(v1::P4StructLike { members })) }
    }

    #[test]
    fn headers_are_valid_or_have_no_fields() {
        let valid = |byte: u8| v1::P4Header { is_valid: true, bitstrings: vec![vec![byte]] };
        let two = v1::P4HeaderUnion { valid_header_name: "two".to_owned(), valid_header: Some(valid(0)) };
        let none = [(1, 0), (8, 0)];
        assert_eq!(written(&[none, none, none].concat()), tuple(v1::P4Header::default(), v1::P4HeaderUnion::default()));
        // A valid header of zeros is present nevertheless.
        assert_eq!(written(&[[(1, 1), (8, 7)], none, [(1, 1), (8, 0)]].concat()), tuple(valid(7), two));
    }
}
