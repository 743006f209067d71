//! Field lists: the input of hashes, the metadata that resubmitted packets keep, and the contents of digests.

use super::build::{self, Shape};
use super::exprs::{Element, HeaderRef, Place, Scope, bits_of};
use super::{Done, Translator};
use crate::ast::{Expr, ExprKind, Ident, Name};
use crate::codes;
use base::{OrderedSet, Span};
use num_bigint::BigInt;
use syntax::ast as p4;

/// The greatest number of a field list that preserves metadata.
const LIST_NUMBER_MAX: u32 = 255;

/// The fields of v1model's metadata that the switch sets anew for each packet, so that field lists cannot preserve
/// them.
pub(super) const SET_ANEW: [&str; 2] = ["instance_type", "packet_length"];

/// The name of the CCITT's CRC.
pub(super) const CCITT: &str = "crcCCITT";

/// An entry of a field list, with nested lists and headers expanded.
pub(super) enum Entry {
    Field(Place),
    Number(BigInt, u32, Span),
    Payload,
}

impl Translator<'_, '_> {
    /// Whether an expression is the name of a field list.
    pub(super) fn is_field_list(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if self.symbols.field_lists.contains_key(name))
    }

    /// The field list that an argument refers to.
    fn list_argument(&mut self, expr: &Expr) -> Done<usize> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let name = Ident { name: name.clone(), span: expr.span };
                self.lookup(|symbols| &symbols.field_lists, &name, "field list")
            }
            _ => self.error(codes::WRONG_ARGUMENT, expr.span, "this must be the name of a field list"),
        }
    }

    /// All entries of a field list in order.
    pub(super) fn entries(&mut self, list: usize) -> Done<Vec<Entry>> {
        let mut entries = Vec::new();
        self.collect_entries(list, &mut Vec::new(), &mut entries)?;
        Some(entries)
    }

    fn collect_entries(&mut self, list: usize, open: &mut Vec<usize>, out: &mut Vec<Entry>) -> Done<()> {
        let program = self.program;
        let declared = &program.field_lists[list];
        if open.contains(&list) {
            let message = format!("field list `{}` contains itself", declared.name.name);
            return self.error(codes::RECURSION, declared.name.span, message);
        }
        if open.len() >= crate::parser::HEIGHT_MAX as usize {
            return self.error(codes::NESTING_LIMIT, declared.name.span, "field lists contain each other too deeply");
        }
        open.push(list);
        let mut is_whole = true;
        for entry in &declared.entries {
            is_whole &= self.collect_entry(entry, open, out).is_some();
        }
        open.pop();
        is_whole.then_some(())
    }

    fn collect_entry(&mut self, entry: &Expr, open: &mut Vec<usize>, out: &mut Vec<Entry>) -> Done<()> {
        self.count_nodes(1, entry.span)?;
        let span = entry.span;
        if let Some(value) = crate::symbols::fold(entry) {
            let width = match &entry.kind {
                ExprKind::Integer(_, Some(width)) => *width,
                _ => bits_of(&value),
            };
            out.push(Entry::Number(value, width, span));
            return Some(());
        }
        match &entry.kind {
            ExprKind::Member(..) => {
                let place = self.field(entry, Scope::PLAIN)?;
                out.push(Entry::Field(place));
                Some(())
            }
            ExprKind::Name(name) if !self.symbols.instances.contains_key(name) => {
                if &**name == "payload" {
                    out.push(Entry::Payload);
                    return Some(());
                }
                let name = Ident { name: name.clone(), span };
                let inner = self.lookup(|symbols| &symbols.field_lists, &name, "field list, header or metadata")?;
                self.collect_entries(inner, open, out)
            }
            _ => match self.try_header(entry, Scope::PLAIN) {
                Some(header) => self.collect_header(header?, span, out),
                None => self.error(codes::WRONG_KIND, span, "this cannot be in a field list"),
            },
        }
    }

    /// All fields of a header, or of all headers of a stack.
    fn collect_header(&mut self, header: HeaderRef, span: Span, out: &mut Vec<Entry>) -> Done<()> {
        let instance = &self.symbols.all_instances[header.instance];
        let count = self.symbols.types[instance.header_type].fields.len();
        let elements = match (header.element, instance.size) {
            (Element::Only, Some(size)) => (0..size).map(Element::At).collect(),
            (element, _) => vec![element],
        };
        for element in elements {
            self.count_nodes(count, span)?;
            for field in 0..count {
                out.push(Entry::Field(self.place(HeaderRef { element, ..header }, field, span)));
            }
        }
        Some(())
    }

    // ------------------------------------------------------------------------------------- hashes and checksums

    /// The data of a calculation, and whether the payload follows it.
    pub(super) fn calculation_data(&mut self, calculation: usize, span: Span) -> Done<(p4::Expr, bool)> {
        let program = self.program;
        let declared = &program.calculations[calculation];
        if declared.inputs.is_empty() {
            let message = format!("calculation `{}` has no input", declared.name.name);
            return self.error(codes::WRONG_KIND, declared.name.span, message);
        }
        let mut items = Vec::new();
        let mut has_payload = false;
        for input in &declared.inputs {
            let list = self.lookup(|symbols| &symbols.field_lists, input, "field list")?;
            for entry in self.entries(list)? {
                match entry {
                    Entry::Field(place) if place.is_variable => items.push(place.expr),
                    Entry::Field(place) => items.push(self.read(&place)),
                    Entry::Number(value, width, span) => {
                        items.push(build::constant(&value, Shape::bits(width), span));
                    }
                    Entry::Payload => has_payload = true,
                }
            }
        }
        Some((build::list(items, span), has_payload))
    }

    /// The algorithm of a calculation, as v1model names it.
    pub(super) fn algorithm(&mut self, calculation: usize, span: Span) -> Done<p4::Expr> {
        let program = self.program;
        let declared = &program.calculations[calculation];
        let Some(algorithm) = declared.algorithms.first() else {
            let message = format!("calculation `{}` has no algorithm", declared.name.name);
            return self.error(codes::UNKNOWN_ALGORITHM, declared.name.span, message);
        };
        let name = match algorithm.as_str() {
            "crc32" | "crc_32" => "crc32",
            "crc32_custom" | "crc_32_custom" => "crc32_custom",
            "crc16" | "crc_16" => "crc16",
            "crc16_custom" | "crc_16_custom" | "programmable_crc" => "crc16_custom",
            "crcCCITT" | "crc_ccitt" => CCITT,
            "csum16" | "csum16_udp" | "optional_csum16" => "csum16",
            "xor16" => "xor16",
            "identity" => "identity",
            "random" => "random",
            other => {
                let message = format!("there is no algorithm `{other}`");
                return self.error(codes::UNKNOWN_ALGORITHM, algorithm.span, message);
            }
        };
        Some(build::enum_member("HashAlgorithm", name, span))
    }

    /// Reports field lists and calculations that nothing uses.
    pub(super) fn check_lists(&mut self) {
        for list in 0..self.program.field_lists.len() {
            let _ = self.entries(list);
        }
        for calculation in 0..self.program.calculations.len() {
            let span = self.program.calculations[calculation].name.span;
            let _ = self.calculation_data(calculation, span);
            let _ = self.algorithm(calculation, span);
        }
    }

    // --------------------------------------------------------------------------------------------- kept metadata

    /// The number of the field list that a resubmission, a recirculation or a clone preserves.
    pub(super) fn preserved_list(&mut self, argument: &Expr) -> Done<u32> {
        let list = self.list_argument(argument)?;
        if let Some(&number) = self.list_numbers.get(&list) {
            return Some(number);
        }
        let number = self.list_numbers.len() as u32 + 1;
        if number > LIST_NUMBER_MAX {
            let message = format!("no more than {LIST_NUMBER_MAX} field lists can be kept");
            return self.error(codes::OUT_OF_RANGE, argument.span, message);
        }
        self.list_numbers.insert(list, number);
        for entry in self.entries(list)? {
            let Entry::Field(place) = entry else { continue };
            if self.symbols.all_instances[place.header.instance].is_metadata {
                self.preserved.entry((place.header.instance, place.field)).or_default().insert(number);
            } else {
                let name = self.symbols.all_instances[place.header.instance].name.name.clone();
                let message = format!("`{name}` is a packet header: only metadata is kept");
                self.warn(codes::NO_EFFECT, place.expr.span, message);
            }
        }
        Some(number)
    }

    /// The metadata field with the number of the field list that the packet was resubmitted or cloned with.
    pub(super) fn preserved_list_place(&self, span: Span) -> p4::Expr {
        build::member(build::name(&self.own.metadata, span), &self.own.preserved_list, span)
    }

    /// The field list that a request preserves. Appends the statement that records its number in the packet.
    pub(super) fn preserve_list(&mut self, argument: &Expr, out: &mut Vec<p4::Statement>) -> Done<p4::Expr> {
        let span = argument.span;
        let number = build::constant(&BigInt::from(self.preserved_list(argument)?), Shape::bits(8), span);
        if self.hidden.has_preserved_list {
            out.push(build::assign(self.preserved_list_place(span), number.clone(), span));
        }
        Some(number)
    }

    // --------------------------------------------------------------------------------------------------- digests

    /// `generate_digest(receiver, list);`
    pub(super) fn digest(&mut self, receiver: &Expr, list: &Expr, scope: Scope<'_>, span: Span) -> Done<p4::Statement> {
        let receiver = self.value(receiver, Shape::bits(32), scope)?;
        let list = self.list_argument(list)?;
        let entries = self.entries(list)?;
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut taken = OrderedSet::new();
        for entry in &entries {
            let (wanted, shape, value) = match entry {
                Entry::Field(place) if place.is_variable => {
                    let message = "a digest has no fields of variable length";
                    return self.error(codes::VARIABLE_LENGTH, place.expr.span, message);
                }
                Entry::Field(place) => (self.field_name(place), place.shape, self.read(place)),
                Entry::Number(value, width, span) => {
                    let shape = Shape::bits(*width);
                    ("value".into(), shape, build::constant(value, shape, *span))
                }
                Entry::Payload => {
                    self.warn(codes::NO_EFFECT, span, "a digest has no payload; it is left out");
                    continue;
                }
            };
            let field = Ident { name: super::fresh_name(&mut taken, &wanted), span: value.span };
            fields.push(build::field(build::bit_type(shape, value.span), &field, Vec::new()));
            let span = value.span;
            values.push(p4::KeyValue { key: field, value, span });
        }
        let name = self.digest_struct(list, fields);
        let data = p4::Expr { kind: p4::ExprKind::Struct { fields: values, has_dots: false }, span };
        let ty = build::named_type(&name, span);
        let call = build::call_with(build::name("digest", span), vec![ty], vec![receiver, data], span);
        Some(build::statement(p4::StatementKind::Call(call), span))
    }

    fn field_name(&self, place: &Place) -> Name {
        let instance = &self.symbols.all_instances[place.header.instance];
        let field = &self.symbols.types[instance.header_type].fields[place.field];
        match place.header.element {
            Element::At(index) => format!("{}_{index}_{}", instance.name.name, field.name.name).into(),
            _ => format!("{}_{}", instance.name.name, field.name.name).into(),
        }
    }

    /// The struct of a digest, declared on first use.
    fn digest_struct(&mut self, list: usize, fields: Vec<p4::StructField>) -> Name {
        if let Some(name) = self.digests.get(&list) {
            return name.clone();
        }
        let declared = &self.program.field_lists[list].name;
        let name = self.fresh(&declared.name);
        let span = declared.span;
        self.objects.push(build::record(p4::StructKind::Struct, &name, fields, span));
        self.digests.insert(list, name.clone());
        name
    }
}
