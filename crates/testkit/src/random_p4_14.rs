//! Random valid P4_14 programs, as text.
//!
//! What enters: a seeded `Rng`. What leaves: the text of a program that is valid in P4_14 1.1 and ends for every
//! packet. P4_14 has few types besides numbers of any width, so all values are fields, and the generator combines
//! primitives, tables, parser states, field lists and stateful objects.

mod actions;
mod control;

use crate::random_p4::RandomP4;
use base::Rng;
use std::fmt::Write as _;

/// Generates a valid program.
pub fn random_p4_14(rng: &mut Rng) -> RandomP4 {
    let makes_copies = rng.chance(1, 2);
    let mut generator = Generator {
        rng,
        makes_copies,
        text: String::new(),
        names: 0,
        headers: Vec::new(),
        fields: Vec::new(),
        lists: Vec::new(),
        calculations: Vec::new(),
        counters: Vec::new(),
        meters: Vec::new(),
        registers: Vec::new(),
        actions: Vec::new(),
    };
    generator.program();
    RandomP4 { text: generator.text, makes_copies }
}

/// A header instance, or a stack of them.
#[derive(Clone, Debug)]
struct Header {
    name: String,
    fields: Vec<(String, u32)>,
    /// The number of elements, for a stack.
    size: Option<u32>,
}

/// Something that can be read, and written.
#[derive(Clone, Debug)]
struct Field {
    text: String,
    width: u32,
}

/// An action and the number of its parameters.
#[derive(Clone, Debug)]
struct Action {
    name: String,
    params: usize,
}

struct Generator<'g> {
    rng: &'g mut Rng,
    makes_copies: bool,
    text: String,
    names: u32,
    headers: Vec<Header>,
    /// The fields of headers and metadata.
    fields: Vec<Field>,
    lists: Vec<String>,
    /// Calculations with the widths of their results.
    calculations: Vec<(String, u32)>,
    counters: Vec<String>,
    meters: Vec<String>,
    registers: Vec<String>,
    actions: Vec<Action>,
}

impl Generator<'_> {
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    fn once_in(&mut self, count: u64) -> bool {
        self.rng.chance(1, count)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(self.rng.pick(items).clone()) }
    }

    fn field(&mut self) -> String {
        let index = self.rng.below(self.fields.len() as u64) as usize;
        self.fields[index].text.clone()
    }

    fn width(&mut self) -> u32 {
        match self.rng.below(8) {
            0 => self.rng.between(1, 130) as u32,
            _ => *self.rng.pick(&[1, 3, 4, 7, 8, 8, 9, 16, 16, 24, 32, 32, 48, 64, 65, 128]),
        }
    }

    /// A number as P4_14 writes it, with or without a width.
    fn number(&mut self) -> String {
        let value = match self.rng.below(4) {
            0 => self.rng.below(4),
            1 => self.rng.below(256),
            2 => self.rng.below(1 << 16),
            _ => self.rng.next_u64() >> self.rng.below(60),
        };
        match self.rng.below(6) {
            0 => format!("0x{value:x}"),
            1 => format!("64'{value}"),
            2 => format!("0b{value:b}"),
            _ => value.to_string(),
        }
    }

    fn program(&mut self) {
        for _ in 0..self.rng.between(2, 4) {
            self.header_type();
        }
        self.metadata();
        self.parser();
        self.lists_and_calculations();
        self.objects();
        for _ in 0..self.rng.between(3, 8) {
            self.action();
        }
        self.controls();
    }

    /// Random fields, padded to whole bytes.
    fn type_fields(&mut self, name: &str, is_packet: bool) -> Vec<(String, u32)> {
        let mut fields: Vec<(String, u32)> = Vec::new();
        for _ in 0..self.rng.between(1, 5) {
            let width = self.width();
            fields.push((self.name("f"), width));
        }
        let total: u32 = fields.iter().map(|(_, width)| width).sum();
        if is_packet && !total.is_multiple_of(8) {
            fields.push((self.name("f"), 8 - total % 8));
        }
        let _ = writeln!(self.text, "header_type {name} {{\n    fields {{");
        for (field, width) in &fields {
            let attributes = match self.rng.below(8) {
                0 => " (signed)",
                1 => " (saturating)",
                2 => " (signed, saturating)",
                _ => "",
            };
            let _ = writeln!(self.text, "        {field} : {width}{attributes};");
        }
        self.line("    }\n}");
        fields
    }

    fn header_type(&mut self) {
        let name = self.name("header_t");
        let fields = self.type_fields(&name, true);
        for _ in 0..self.rng.between(1, 2) {
            let instance = self.name("h");
            let size = self.once_in(3).then(|| self.rng.between(1, 4) as u32);
            let suffix = size.map_or(String::new(), |size| format!("[{size}]"));
            self.line(format!("header {name} {instance}{suffix};"));
            let elements: Vec<String> = match size {
                Some(size) => (0..size).map(|index| format!("{instance}[{index}]")).collect(),
                None => vec![instance.clone()],
            };
            for element in elements {
                let parts =
                    fields.iter().map(|(field, width)| Field { text: format!("{element}.{field}"), width: *width });
                self.fields.extend(parts);
            }
            self.headers.push(Header { name: instance, fields: fields.clone(), size });
        }
    }

    fn metadata(&mut self) {
        let name = self.name("metadata_t");
        let fields = self.type_fields(&name, false);
        let instance = self.name("m");
        let mut initial = String::new();
        for (field, _) in &fields {
            if self.once_in(4) {
                let _ = write!(initial, " {field} : {};", self.rng.below(2));
            }
        }
        let initial = if initial.is_empty() { ";".to_owned() } else { format!(" {{{initial} }}") };
        self.line(format!("metadata {name} {instance}{initial}"));
        for (field, width) in fields {
            self.fields.push(Field { text: format!("{instance}.{field}"), width });
        }
    }

    /// Parser states. Each goes to later ones; those that fill a stack may also go to themselves.
    fn parser(&mut self) {
        let count = self.rng.between(2, 6) as usize;
        let names: Vec<String> =
            (0..count).map(|index| if index == 0 { "start".into() } else { self.name("state") }).collect();
        let mut unread: Vec<Header> = self.headers.clone();
        for (index, name) in names.iter().enumerate() {
            let mut targets: Vec<String> = names[index + 1..].to_vec();
            self.line(format!("parser {name} {{"));
            let mut latest = None;
            for _ in 0..self.rng.between(u64::from(index == 0), 2) {
                if unread.is_empty() {
                    break;
                }
                let position = self.rng.below(unread.len() as u64) as usize;
                let header = unread[position].clone();
                if header.size.is_some() {
                    self.line(format!("    extract({}[next]);", header.name));
                } else {
                    self.line(format!("    extract({});", header.name));
                    unread.remove(position);
                }
                latest = Some(header);
            }
            // The size of the stack bounds the loop.
            if latest.as_ref().is_some_and(|header| header.size.is_some()) {
                targets.push(name.clone());
            }
            targets.push("ingress".into());
            self.parser_statements(latest.as_ref());
            self.parser_return(&targets, latest.as_ref());
            self.line("}");
        }
    }

    fn parser_statements(&mut self, latest: Option<&Header>) {
        let metadata: Vec<Field> = self.fields.iter().filter(|field| field.text.starts_with('m')).cloned().collect();
        for _ in 0..self.rng.below(3) {
            let Some(target) = self.pick(&metadata) else { return };
            let value = match (self.rng.below(4), latest) {
                (0, _) => format!("current({}, {})", self.rng.below(17), self.rng.between(1, 32)),
                (1, Some(header)) => format!("latest.{}", self.rng.pick(&header.fields).0),
                (2, _) => self.field(),
                _ => self.number(),
            };
            self.line(format!("    set_metadata({}, {value});", target.text));
        }
    }

    fn parser_return(&mut self, targets: &[String], latest: Option<&Header>) {
        if self.once_in(3) {
            self.line(format!("    return {};", targets[0]));
            return;
        }
        let mut keys = Vec::new();
        let mut total = 0;
        for _ in 0..self.rng.between(1, 2) {
            let (key, width) = match (self.rng.below(3), latest) {
                (0, _) => {
                    let width = self.rng.between(1, 16) as u32;
                    (format!("current({}, {width})", self.rng.below(9)), width)
                }
                (1, Some(header)) => {
                    let (field, width) = self.rng.pick(&header.fields).clone();
                    (format!("latest.{field}"), width)
                }
                _ => {
                    let field = self.rng.pick(&self.fields).clone();
                    (field.text, field.width)
                }
            };
            keys.push(key);
            total += width;
        }
        self.line(format!("    return select({}) {{", keys.join(", ")));
        for _ in 0..self.rng.between(1, 4) {
            let bound = 1u64 << total.min(5);
            let value = self.rng.below(bound);
            let mask = if self.once_in(3) { format!(" mask {}", self.rng.below(bound)) } else { String::new() };
            let target = self.rng.pick(targets).clone();
            self.line(format!("        {value}{mask} : {target};"));
        }
        if !self.once_in(5) {
            let target = self.rng.pick(targets).clone();
            self.line(format!("        default : {target};"));
        }
        self.line("    }");
    }

    fn lists_and_calculations(&mut self) {
        for _ in 0..self.rng.between(1, 3) {
            let name = self.name("list");
            let mut parts: Vec<String> = (0..self.rng.between(1, 4)).map(|_| self.field()).collect();
            let inner = self.lists.clone();
            parts.extend(self.pick(&inner).filter(|_| self.once_in(3)));
            self.line(format!("field_list {name} {{ {}; }}", parts.join("; ")));
            self.lists.push(name);
        }
        for _ in 0..self.rng.below(4) {
            let (algorithm, width) =
                *self.rng.pick(&[("csum16", 16), ("crc16", 16), ("crc32", 32), ("xor16", 16), ("identity", 16)]);
            let (name, lists) = (self.name("calculation"), self.lists.clone());
            let Some(list) = self.pick(&lists) else { return };
            self.line(format!(
                "field_list_calculation {name} {{ input {{ {list}; }} algorithm : {algorithm}; output_width : {width}; }}"
            ));
            self.calculations.push((name, width));
        }
        self.calculated_fields();
    }

    fn calculated_fields(&mut self) {
        let targets: Vec<Field> = self
            .fields
            .iter()
            .filter(|field| field.width == 16 && field.text.starts_with('h') && !field.text.contains('['))
            .cloned()
            .collect();
        let calculations: Vec<String> =
            self.calculations.iter().filter(|(_, width)| *width == 16).map(|(name, _)| name.clone()).collect();
        let (Some(target), Some(calculation)) = (self.pick(&targets), self.pick(&calculations)) else { return };
        let kind = *self.rng.pick(&["update", "verify"]);
        let condition = match self.rng.below(3) {
            0 => format!(" if (valid({}))", target.text.split('.').next().unwrap_or_default()),
            1 => format!(" if ({} == {})", self.field(), self.rng.below(4)),
            _ => String::new(),
        };
        self.line(format!("calculated_field {} {{ {kind} {calculation}{condition}; }}", target.text));
    }

    /// Stateful objects.
    fn objects(&mut self) {
        for _ in 0..self.rng.below(3) {
            let name = self.name("counter");
            let kind = *self.rng.pick(&["packets", "bytes", "packets_and_bytes"]);
            let count = self.rng.between(1, 20);
            self.line(format!("counter {name} {{ type : {kind}; instance_count : {count}; }}"));
            self.counters.push(name);
        }
        if self.once_in(2) {
            let name = self.name("meter");
            let kind = *self.rng.pick(&["packets", "bytes"]);
            let count = self.rng.between(1, 20);
            self.line(format!("meter {name} {{ type : {kind}; instance_count : {count}; }}"));
            self.meters.push(name);
        }
        for _ in 0..self.rng.below(3) {
            let (name, width) = (self.name("register"), self.width());
            let attributes = if self.once_in(4) { " attributes : signed;" } else { "" };
            let count = self.rng.between(1, 20);
            self.line(format!("register {name} {{ width : {width}; instance_count : {count};{attributes} }}"));
            self.registers.push(name);
        }
    }
}
