//! Extern objects and functions of v1model.

use super::tree::Tree;
use super::types::{Shape, Ty};
use super::{Block, Code, Feature, Generator, Object};
use crate::lines::Lines as _;

/// All hash algorithms except `random`, whose values depend on the order of packets.
const ALGORITHMS: [&str; 7] = ["crc32", "crc32_custom", "crc16", "crc16_custom", "identity", "csum16", "xor16"];

impl Generator<'_> {
    /// Declares registers, counters and meters of a control.
    pub fn objects(&mut self) {
        if self.has(Feature::Registers) {
            for _ in 0..self.rng.between(1, 2) {
                let ty = self.number();
                let (text, name, size) = (self.type_text(&ty), self.name("reg"), self.rng.between(1, 20) as u32);
                let index = if self.has(Feature::NewVersion) { ", bit<32>" } else { "" };
                self.line(format!("register<{text}{index}>({size}) {name};"));
                self.scope.objects.push(Object::Register { name, ty, size });
            }
        }
        if self.has(Feature::Counters) {
            let index = if self.has(Feature::NewVersion) { "<bit<32>>" } else { "" };
            let (name, size) = (self.name("ctr"), self.rng.between(1, 20) as u32);
            let kind = *self.rng.pick(&["packets", "bytes", "packets_and_bytes"]);
            self.line(format!("counter{index}({size}, CounterType.{kind}) {name};"));
            self.scope.objects.push(Object::Counter { name, size });
            let (name, size) = (self.name("met"), self.rng.between(1, 20) as u32);
            let kind = *self.rng.pick(&["packets", "bytes"]);
            self.line(format!("meter{index}({size}, MeterType.{kind}) {name};"));
            self.scope.objects.push(Object::Meter { name, size });
        }
    }

    pub fn index(&mut self, size: u32) -> Tree {
        let index = self.some_expr(&Ty::Bit(32));
        if self.once_in(3) { index } else { Tree::binary("%", index, Tree::atom(size.to_string())) }
    }

    /// A statement that calls an extern.
    pub fn extern_statement(&mut self) -> bool {
        if self.scope.code == Code::Parser {
            return false;
        }
        if self.scope.code == Code::Function || self.scope.block == Block::None {
            // Externs without an object can also work on the parameters of a function or of an inner control.
            return self.is_v1model()
                && match self.below(2) {
                    0 if self.has(Feature::Hashes) => self.hash(),
                    1 if self.has(Feature::RandomNumbers) => self.random_number(),
                    _ => false,
                };
        }
        if !self.is_v1model() {
            let objects = self.scope.objects.clone();
            return self.pick(&objects).is_some_and(|object| self.psa_object_statement(&object));
        }
        match self.below(4) {
            0 if self.has(Feature::Hashes) => self.hash(),
            1 if self.has(Feature::RandomNumbers) => self.random_number(),
            2 if self.has(Feature::Messages) => self.message(),
            _ => self.object_statement(),
        }
    }

    fn object_statement(&mut self) -> bool {
        let objects = self.scope.objects.clone();
        let Some(object) = self.pick(&objects) else { return false };
        match object {
            Object::Register { name, ty, size } => {
                let index = self.index(size);
                if self.once_in(2) {
                    let value = self.some_expr(&ty);
                    self.line(format!("{name}.write({index}, {value});"));
                } else {
                    let Some(place) = self.place(&ty) else { return false };
                    self.line(format!("{name}.read({place}, {index});"));
                }
            }
            Object::Counter { name, size } => {
                let index = self.index(size);
                self.line(format!("{name}.count({index});"));
            }
            Object::Meter { name, size } => {
                let index = self.index(size);
                let places = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(2..)));
                let Some(found) = self.pick(&places) else { return false };
                let Some(place) = self.place(&found.ty) else { return false };
                self.line(format!("{name}.execute_meter({index}, {place});"));
            }
            Object::Hash { .. } | Object::Random { .. } => return false,
        }
        true
    }

    /// The input of a hash or a digest: a list of scalars, expressions and structured values, or a single structured
    /// value.
    pub fn data(&mut self) -> String {
        if self.once_in(6)
            && let Some(whole) = self.structured()
        {
            return whole;
        }
        let mut parts = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let part = match self.below(6) {
                0 => self.structured(),
                1 => Some(format!("({})", self.typed_number())),
                _ => None,
            };
            parts.push(part.unwrap_or_else(|| self.single()));
        }
        format!("{{ {} }}", parts.join(", "))
    }

    /// Scalar values, for messages and copies.
    pub fn singles(&mut self) -> Vec<String> {
        (0..self.rng.between(1, 4)).map(|_| self.single()).collect()
    }

    fn single(&mut self) -> String {
        let values = self.values(|value| matches!(value.ty, Ty::Bit(_) | Ty::Bool | Ty::Int(_)));
        match self.pick(&values) {
            Some(value) => value.text,
            None => self.typed_number(),
        }
    }

    /// An expression whose text determines its type.
    fn typed_number(&mut self) -> String {
        let ty = self.number();
        let value = self.some_expr(&ty);
        format!("({}) ({value})", self.type_text(&ty))
    }

    /// A struct or header that contains only numbers.
    fn structured(&mut self) -> Option<String> {
        let values = self.values(|value| match self.shape(&value.ty) {
            Some(Shape::Struct(fields) | Shape::Header(fields)) => {
                !fields.is_empty() && fields.iter().all(|(_, ty)| matches!(ty, Ty::Bit(_) | Ty::Bool | Ty::Int(_)))
            }
            _ => false,
        });
        self.pick(&values).map(|value| value.text)
    }

    fn hash(&mut self) -> bool {
        if self.once_in(4) && self.remainder() {
            return true;
        }
        let places = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(_)));
        let Some(found) = self.pick(&places) else { return false };
        let Some(place) = self.place(&found.ty) else { return false };
        let algorithm = *self.rng.pick(&ALGORITHMS);
        let (base_ty, max_ty) = (Ty::Bit(16), Ty::Bit(32));
        let base = if self.once_in(2) { self.constant(&base_ty) } else { self.expr(&base_ty, 1) };
        let max = if self.once_in(2) { self.constant(&max_ty) } else { self.expr(&max_ty, 1) };
        let data = self.data();
        self.line(format!("hash({place}, HashAlgorithm.{algorithm}, {base}, {data}, {max});"));
        true
    }

    /// A remainder of polynomials.
    fn remainder(&mut self) -> bool {
        let places = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(1..=32)));
        let values = self.values(|value| matches!(value.ty, Ty::Bit(1..)));
        let (Some(place), Some(first)) = (self.pick(&places), self.pick(&values)) else { return false };
        let second = self.pick(&values).filter(|_| self.once_in(2));
        let data = second.map_or(first.text.clone(), |second| format!("({} ++ {})", first.text, second.text));
        let polynomial = self.constant(&place.ty);
        self.line(format!("crc_remainder({}, {data}, {polynomial});", place.text));
        true
    }

    fn random_number(&mut self) -> bool {
        let places = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(width) if width <= 64));
        let Some(found) = self.pick(&places) else { return false };
        let Some(place) = self.place(&found.ty) else { return false };
        let (low, high) = (self.expr(&found.ty, 1), self.expr(&found.ty, 1));
        self.line(format!("random({place}, {low}, {high});"));
        true
    }

    fn message(&mut self) -> bool {
        match self.below(3) {
            0 => {
                let condition = self.some_expr(&Ty::Bool);
                let name = *self.rng.pick(&["assert", "assume"]);
                self.line(format!("{name}({condition});"));
            }
            1 => {
                let data = self.singles();
                let holes = vec!["{}"; data.len()].join(" and ");
                self.line(format!("log_msg(\"values {holes}\", {{ {} }});", data.join(", ")));
            }
            _ => self.line("log_msg(\"here\");"),
        }
        true
    }

    /// The control that verifies checksums, or the one that updates them.
    pub fn checksum_control(&mut self, name: &str, function: &str, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!("control {name}(inout {headers_text} hdr, inout {metadata_text} meta) {{"));
        self.open("apply {");
        self.scoped(|this| {
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            if this.has(Feature::Checksums) {
                for _ in 0..this.rng.below(3) {
                    this.checksum(function);
                }
            }
        });
        self.close("}");
        self.close("}");
        self.line("");
    }

    fn checksum(&mut self, function: &str) {
        let targets = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(16 | 32)));
        let Some(target) = self.pick(&targets) else { return };
        let values = self.values(|value| matches!(value.ty, Ty::Bit(_)) && value.text.starts_with("hdr"));
        let mut parts = Vec::new();
        for _ in 0..self.rng.between(1, 5) {
            parts.extend(self.pick(&values).map(|value| value.text));
        }
        if parts.is_empty() {
            return;
        }
        let condition = self.pure(|this| this.expr(&Ty::Bool, 1));
        let algorithm = if target.ty == Ty::Bit(16) { "csum16" } else { "crc32" };
        let payload = if self.once_in(3) { "_with_payload" } else { "" };
        self.line(format!(
            "{function}{payload}({condition}, {{ {} }}, {}, HashAlgorithm.{algorithm});",
            parts.join(", "),
            target.text
        ));
    }

    /// Declares what code may read and write of the standard metadata.
    pub fn declare_standard_metadata(&mut self) {
        self.scope.standard_metadata = Some("standard");
        let readable = [("ingress_port", 9), ("packet_length", 32), ("instance_type", 32), ("egress_rid", 16)];
        for (field, width) in readable {
            self.declare(&format!("standard.{field}"), Ty::Bit(width), false);
        }
        self.declare("standard.parser_error", Ty::Error, false);
        self.declare("standard.checksum_error", Ty::Bit(1), true);
    }

    /// Whether the fields of a struct may be preserved by copies.
    pub fn may_be_preserved(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Bool | Ty::Bit(_) | Ty::Int(_) => true,
            Ty::Declared(_) => matches!(self.shape(ty), Some(Shape::Serializable { .. })),
            Ty::Error | Ty::Varbit(_) | Ty::Array(..) | Ty::Tuple(_) => false,
        }
    }
}
