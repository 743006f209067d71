//! Extern objects and functions of v1model, and requests to it.

use super::tree::Tree;
use super::types::{Shape, Ty};
use super::{Block, Code, Feature, Generator, Object};
use crate::lines::Lines as _;

/// All that hashes may be; `random` is not among them, for it gives other values in another order.
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
            // What has no object works on the parameters of a function or of an inner control as well.
            return !self.is_psa()
                && match self.below(2) {
                    0 if self.has(Feature::Hashes) => self.hash(),
                    1 if self.has(Feature::RandomNumbers) => self.random_number(),
                    _ => false,
                };
        }
        if self.is_psa() {
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
                let Some(place) = self.place(&Ty::Bit(32)).or_else(|| self.place(&Ty::Bit(8))) else { return false };
                self.line(format!("{name}.execute_meter({index}, {place});"));
            }
            Object::Hash { .. } | Object::Random { .. } => return false,
        }
        true
    }

    /// A list of single values, as hashes and digests take them.
    pub fn data(&mut self) -> String {
        let values = self.values(|value| matches!(value.ty, Ty::Bit(_) | Ty::Bool | Ty::Int(_)));
        let mut parts = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            match self.pick(&values) {
                Some(value) => parts.push(value.text),
                None => {
                    let ty = self.number();
                    parts.push(self.constant(&ty).to_string());
                }
            }
        }
        format!("{{ {} }}", parts.join(", "))
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
                let data = self.data();
                let holes = vec!["{}"; data.split(", ").count()].join(" and ");
                self.line(format!("log_msg(\"values {holes}\", {data});"));
            }
            _ => self.line("log_msg(\"here\");"),
        }
        true
    }

    /// Something that the architecture looks at later.
    pub fn request(&mut self) -> bool {
        if self.is_psa() {
            let may_ask = matches!(self.scope.code, Code::Action | Code::Control) && self.scope.block != Block::None;
            return may_ask && self.psa_request();
        }
        let Some(standard) = self.scope.standard_metadata else { return false };
        if self.scope.block == Block::None || self.scope.code == Code::Parser {
            return false;
        }
        let ingress = self.scope.block == Block::Ingress;
        match self.below(8) {
            0 if self.once_in(3) => self.drop_request(standard),
            1 => {
                let length = self.some_expr(&Ty::Bit(32));
                self.line(format!("truncate(({length}) & 127);"));
            }
            2 if ingress && self.has(Feature::Digests) => {
                let data = self.data();
                self.line(format!("digest(1, {data});"));
            }
            3..=6 if self.has(Feature::Requests) => return self.copy_request(standard, ingress),
            _ if ingress => {
                let port = self.some_expr(&Ty::Bit(9));
                self.line(format!("{standard}.egress_spec = ({port}) & 3;"));
            }
            _ => return false,
        }
        true
    }

    /// A drop of the packet, or of a copy of its metadata, which drops nothing before it is assigned.
    fn drop_request(&mut self, standard: &str) {
        match self.below(5) {
            0 => self.line(format!("drop_given({standard});")),
            1 if self.scope.code == Code::Control => self.line(format!("dropper.apply({standard});")),
            kind @ 2..=3 => {
                let copy = self.name("x");
                self.open("{");
                self.line(format!("standard_metadata_t {copy} = {standard};"));
                self.line(format!("mark_to_drop({copy});"));
                if kind == 2 && self.once_in(2) {
                    self.line(format!("{standard} = {copy};"));
                } else {
                    let place = self.place(&Ty::Bit(9));
                    place.into_iter().for_each(|place| self.line(format!("{place} = {copy}.egress_spec;")));
                }
                self.close("}");
            }
            _ => self.line(format!("mark_to_drop({standard});")),
        }
    }

    /// What [`Generator::drop_request`] calls.
    pub fn droppers(&mut self) {
        for line in [
            "void drop_given(inout standard_metadata_t given) { mark_to_drop(given); }",
            "control Dropper(inout standard_metadata_t given) {",
            "    action drop(inout standard_metadata_t inner) { inner.mcast_grp = 1; mark_to_drop(inner); }",
            "    apply { drop(given); }",
            "}",
            "",
        ] {
            self.line(line);
        }
    }

    fn copy_request(&mut self, standard: &str, ingress: bool) -> bool {
        let session = self.expr(&Ty::Bit(32), 1);
        let direction = if ingress { "I2E" } else { "E2E" };
        // A packet that always goes round is dropped in the end, and takes long.
        let again = if ingress { "resubmit" } else { "recirculate" };
        match self.below(6) {
            0 => self.line(format!("clone(CloneType.{direction}, ({session}) & 3);")),
            1 => {
                let list = self.rng.below(3);
                self.line(format!("clone_preserving_field_list(CloneType.{direction}, ({session}) & 3, {list});"));
            }
            2 => {
                let list = self.rng.below(3);
                self.open(format!("if ({standard}.instance_type == 0) {{"));
                self.line(format!("{again}_preserving_field_list({list});"));
                self.close("}");
            }
            3 if ingress => {
                let group = self.expr(&Ty::Bit(16), 1);
                self.line(format!("{standard}.mcast_grp = ({group}) & 3;"));
            }
            4 if ingress => {
                let priority = self.expr(&Ty::Bit(3), 1);
                self.line(format!("{standard}.priority = ({priority});"));
            }
            _ => return false,
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

    /// What code may read and write of the standard metadata.
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
