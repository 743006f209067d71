//! Generates parsers: states that extract, look ahead and select.

use super::tree::Tree;
use super::types::{Shape, Ty};
use super::{Callable, Code, Direction, Feature, Generator, Param, Value};
use crate::lines::Lines as _;
use std::fmt::Write as _;

/// The states to which a parser may go from a state.
struct Targets {
    /// States, `accept` among them.
    names: Vec<String>,
}

impl Generator<'_> {
    /// A sub-parser over one header.
    pub fn sub_parser(&mut self) {
        let headers = self.declared(|shape| matches!(shape, Shape::Header(_)));
        let Some(header) = self.pick(&headers) else { return };
        let name = self.name("SubParser");
        let header_text = self.type_text(&header);
        let mut params = vec![Param { name: self.name("h"), ty: header, direction: Direction::Out, optional: false }];
        let number = self.scalar();
        let number_text = self.type_text(&number);
        params.push(Param { name: self.name("p"), ty: number, direction: Direction::InOut, optional: false });
        let constructor = self.once_in(2);
        let constructor_text = if constructor { "(bit<8> made)" } else { "" };
        let (first, second) = (&params[0].name, &params[1].name);
        self.open(format!(
            "parser {name}(packet_in packet, out {header_text} {first}, inout {number_text} {second}){constructor_text} {{"
        ));
        self.scoped(|this| {
            this.scope.values.retain(|value| value.text.starts_with("CONST"));
            this.scope.instances.clear();
            this.scope.code = Code::Parser;
            this.declare_params(&params);
            if constructor {
                this.declare("made", Ty::Bit(8), false);
            }
            this.states(2);
        });
        self.close("}");
        self.sub_parsers.push((Callable { name, params, returns: None }, constructor));
    }

    /// The parser of the program.
    pub fn main_parser(&mut self, headers: &Ty, metadata: &Ty, standard_metadata: &str) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "parser MainParser(packet_in packet, out {headers_text} hdr, inout {metadata_text} meta, \
             inout standard_metadata_t {standard_metadata}) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Parser;
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            this.declare_standard_metadata();
            this.parser_body();
        });
        self.close("}");
        self.line("");
    }

    /// The contents of a parser of the architecture.
    pub fn parser_body(&mut self) {
        self.instantiate_parsers();
        self.value_set();
        let count = self.rng.between(3, 6) as usize;
        self.states(count);
    }

    fn instantiate_parsers(&mut self) {
        for (parser, constructor) in self.sub_parsers.clone() {
            for _ in 0..self.rng.below(3) {
                let name = self.name("sub");
                let argument = if constructor { self.rng.below(256).to_string() } else { String::new() };
                self.line(format!("{}({argument}) {name};", parser.name));
                self.scope.instances.push(Callable { name, ..parser.clone() });
            }
        }
    }

    fn value_set(&mut self) {
        if self.has(Feature::ValueSets) {
            let name = self.name("set");
            let count = self.rng.between(1, 3) as usize;
            let types: Vec<Ty> = (0..count).map(|index| Ty::Bit(if index == 0 { 8 } else { self.width() })).collect();
            let texts: Vec<String> = types.iter().map(|ty| self.type_text(ty)).collect();
            let element = if count == 1 { texts[0].clone() } else { format!("tuple<{}>", texts.join(", ")) };
            self.line(format!("value_set<{element}>(4) {name};"));
            self.value_sets.push((name, types));
        }
    }

    /// A start state and others. Each state may go to later ones. Only states that consume bytes of the packet may go
    /// to earlier ones, so that parsing ends.
    fn states(&mut self, count: usize) {
        let value_sets = self.value_sets.clone();
        let mut names: Vec<String> = vec!["start".into()];
        for _ in 1..count {
            names.push(self.name("state"));
        }
        if self.once_in(4) {
            let ty = self.scalar();
            let value = self.constant(&ty);
            let (text, name) = (self.type_text(&ty), self.name("x"));
            self.line(format!("{text} {name} = {value};"));
            self.declare(&name, ty, true);
        }
        for (index, name) in names.iter().enumerate() {
            self.open(format!("state {name} {{"));
            self.scoped(|this| {
                let takes_bytes = this.state_body(index == 0);
                let mut targets: Vec<String> = names[index + 1..].to_vec();
                if takes_bytes && this.once_in(4) {
                    targets.push(name.clone());
                }
                targets.push("accept".into());
                this.transition(&Targets { names: targets }, &value_sets);
            });
            self.close("}");
        }
        self.value_sets.clear();
    }

    /// Generates the body of a state. Returns whether it always consumes bytes of the packet or ends the parser.
    fn state_body(&mut self, is_first: bool) -> bool {
        let mut takes_bytes = false;
        let extracts = if is_first { 1 } else { self.rng.between(0, 2) };
        for _ in 0..extracts {
            takes_bytes |= self.extract();
        }
        for _ in 0..self.rng.below(3) {
            match self.below(6) {
                0 => self.verify(),
                1 if self.has(Feature::Lookahead) => self.lookahead(),
                2 if self.once_in(3) => {
                    let bits = 8 * self.rng.below(6);
                    self.line(format!("packet.advance({bits});"));
                }
                _ => {
                    self.budget = self.budget.max(2);
                    self.statements(2);
                }
            }
        }
        takes_bytes
    }

    fn extract(&mut self) -> bool {
        let stacks = self.values(|value| match &value.ty {
            Ty::Array(element, _) => value.writable && self.is_header(element) && !self.has_varbit(element),
            _ => false,
        });
        if let Some(stack) = self.pick(&stacks).filter(|_| self.once_in(2)) {
            self.line(format!("packet.extract({}.next);", stack.text));
            if self.once_in(2)
                && let Ty::Array(element, _) = stack.ty
            {
                // `last` can be read here, because the state has just extracted it.
                let text = format!("{}.last", stack.text);
                self.scope.values.push(Value { text, ty: *element, writable: false });
            }
            return true;
        }
        if self.once_in(4)
            && let Some(member) = self.next_member()
        {
            self.line(format!("packet.extract({member});"));
            return true;
        }
        let headers =
            self.values(|value| value.writable && self.is_header(&value.ty) && self.varbit_count(&value.ty) < 2);
        let Some(header) = self.pick(&headers) else { return false };
        if let Some(Shape::Header(fields)) = self.shape(&header.ty).cloned()
            && let Some((_, Ty::Varbit(width))) = fields.last()
        {
            let length = match self.below(4) {
                0 => Tree::atom((8 * self.rng.below(u64::from(width / 8) + 2)).to_string()),
                _ => {
                    let ty = Ty::Bit(32);
                    let length = self.pure(|this| this.expr(&ty, 2));
                    Tree::binary("<<", Tree::binary("&", length, Tree::atom("15")), Tree::atom("3"))
                }
            };
            self.line(format!("packet.extract({}, (bit<32>) ({length}));", header.text));
        } else {
            self.line(format!("packet.extract({});", header.text));
        }
        true
    }

    /// A header of the next union of a stack.
    fn next_member(&mut self) -> Option<String> {
        let stacks = self.values(|value| match &value.ty {
            Ty::Array(element, _) => value.writable && matches!(self.shape(element), Some(Shape::Union(_))),
            _ => false,
        });
        let stack = self.pick(&stacks)?;
        let Ty::Array(element, _) = &stack.ty else { return None };
        let Some(Shape::Union(members)) = self.shape(element).cloned() else { return None };
        let (member, _) = self.pick(&members)?;
        Some(format!("{}.next.{member}", stack.text))
    }

    fn verify(&mut self) {
        let condition = self.expr(&Ty::Bool, 2);
        let error = self.constant(&Ty::Error);
        self.line(format!("verify({condition}, {error});"));
    }

    fn lookahead(&mut self) {
        let ty = match self.below(3) {
            0 => {
                let headers = self.declared(|shape| matches!(shape, Shape::Header(_)));
                self.pick(&headers).filter(|header| !self.has_varbit(header)).unwrap_or(Ty::Bit(16))
            }
            1 => Ty::Bit(8 * self.rng.between(1, 8) as u32),
            _ => Ty::Bit(self.width()),
        };
        let (text, name) = (self.type_text(&ty), self.name("x"));
        self.line(format!("{text} {name} = packet.lookahead<{text}>();"));
        self.declare(&name, ty, true);
    }

    fn transition(&mut self, targets: &Targets, value_sets: &[(String, Vec<Ty>)]) {
        if self.once_in(3) {
            // The first is the next state: most packets should get far.
            let target = targets.names[0].clone();
            self.line(format!("transition {target};"));
            return;
        }
        if let Some((set, types)) = self.pick(value_sets).filter(|_| self.once_in(2)) {
            let keys: Vec<String> = types.iter().map(|ty| self.pure(|this| this.expr(ty, 1)).to_string()).collect();
            let key = keys.join(", ");
            let (hit, miss) = (self.rng.pick(&targets.names).clone(), self.rng.pick(&targets.names).clone());
            self.open(format!("transition select({key}) {{"));
            self.line(format!("{set}: {hit};"));
            self.line(format!("default: {miss};"));
            self.close("}");
            return;
        }
        let keys: Vec<Ty> = (0..self.rng.between(1, 3)).map(|_| self.select_type()).collect();
        let texts: Vec<String> = keys.iter().map(|ty| self.pure(|this| this.expr(ty, 1)).to_string()).collect();
        self.open(format!("transition select({}) {{", texts.join(", ")));
        for _ in 0..self.rng.between(1, 4) {
            let sets: Vec<String> = keys.iter().map(|ty| self.keyset(ty)).collect();
            let sets = if sets.len() == 1 { sets[0].clone() } else { format!("({})", sets.join(", ")) };
            let target = self.rng.pick(&targets.names).clone();
            self.line(format!("{sets}: {target};"));
        }
        if !self.once_in(4) {
            let target = if self.once_in(8) { "reject".to_owned() } else { self.rng.pick(&targets.names).clone() };
            let otherwise = if self.once_in(3) { "_" } else { "default" };
            self.line(format!("{otherwise}: {target};"));
        }
        self.close("}");
    }

    fn select_type(&mut self) -> Ty {
        match self.scalar() {
            Ty::Error => Ty::Bool,
            Ty::Declared(index) if matches!(self.types[index].shape, Shape::Enum(_)) => Ty::Bit(8),
            ty => ty,
        }
    }

    /// A set of values of a select.
    fn keyset(&mut self, ty: &Ty) -> String {
        let constant = |this: &mut Self| this.constant(ty).to_string();
        match (self.below(6), ty) {
            (0, _) => "_".into(),
            (1, Ty::Bit(_)) => format!("{} &&& {}", self.bare_number(ty), self.bare_number(ty)),
            (2, Ty::Bit(width)) => {
                let mut ends = [self.bits(*width).to_bigint(), self.bits(*width).to_bigint()];
                ends.sort();
                format!("{} .. {}", ends[0], ends[1])
            }
            (3, Ty::Bit(_)) => self.bare_number(ty).to_string(),
            (4, Ty::Bit(width)) => self.rng.below(1 << (*width).min(3)).to_string(),
            _ => constant(self),
        }
    }

    /// The deparser, which emits headers in a random order.
    pub fn deparser(&mut self, headers: &Ty) {
        let text = self.type_text(headers);
        self.open(format!("control MainDeparser(packet_out packet, in {text} hdr) {{"));
        self.open("apply {");
        self.emits(headers);
        self.close("}");
        self.close("}");
        self.line("");
    }

    /// Statements that emit headers in a random order.
    pub fn emits(&mut self, headers: &Ty) {
        if self.once_in(4) {
            self.line("packet.emit(hdr);");
        } else if let Some(Shape::Struct(fields)) = self.shape(headers).cloned() {
            let mut lines = Vec::new();
            for (name, ty) in &fields {
                if let Ty::Array(_, size) = ty
                    && self.once_in(2)
                {
                    let mut line = String::new();
                    for index in 0..*size {
                        let _ = write!(line, "packet.emit(hdr.{name}[{index}]); ");
                    }
                    lines.push(line.trim_end().to_owned());
                } else {
                    lines.push(format!("packet.emit(hdr.{name});"));
                }
            }
            if self.once_in(4) {
                lines.reverse();
            }
            for line in lines {
                self.line(line);
            }
        }
    }
}
