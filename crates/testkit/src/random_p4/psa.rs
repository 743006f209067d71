//! Programs for the Portable Switch Architecture: its six blocks, the metadata between them, its extern objects.

use super::tree::Tree;
use super::types::{Declared, Shape, Ty};
use super::{Architecture, Block, Code, Feature, Generator, Object};
use crate::lines::Lines as _;

/// The structs that travel with a packet from a deparser to a parser.
struct Carried {
    normal: Ty,
    clone_ingress: Ty,
    clone_egress: Ty,
    resubmit: Ty,
    recirculate: Ty,
}

/// How packets are parsed before egress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// By a parser of its own.
    Own,
    /// As before ingress, by states that only extract.
    Same,
    /// Not at all, and egress has no headers.
    Nothing,
}

/// Hash algorithms and the widths of their results.
const HASHES: [(&str, u32); 5] =
    [("CRC32", 32), ("CRC16", 16), ("ONES_COMPLEMENT16", 16), ("IDENTITY", 24), ("TARGET_DEFAULT", 32)];

impl Generator<'_> {
    /// Writes a program for PSA.
    pub fn psa_program(&mut self) {
        self.line("#include <core.p4>");
        self.line("#include <psa.p4>");
        self.line("");
        self.psa_types();
        self.declare_types();
        let headers = self.headers_struct();
        let metadata = self.metadata_struct();
        let carried = Carried {
            normal: self.carried_struct(),
            clone_ingress: self.carried_struct(),
            clone_egress: self.carried_struct(),
            resubmit: self.carried_struct(),
            recirculate: self.carried_struct(),
        };
        self.constants();
        self.own_declarations();
        self.callables();
        self.psa_requesters();
        self.unreachable_control(&headers, &metadata);
        let again = *self.rng.pick(&[Again::Own, Again::Same, Again::Nothing]);
        self.psa_parsers(&headers, &metadata, &carried, again);
        self.psa_control("Ingress", Block::Ingress, Some(&headers), (&headers, &metadata));
        self.psa_ingress_deparser(&headers, &metadata, &carried);
        let in_egress = Some(&headers).filter(|_| again != Again::Nothing);
        self.psa_control("Egress", Block::Egress, in_egress, (&headers, &metadata));
        self.psa_egress_deparser(in_egress, (&headers, &metadata), &carried);
        self.line("PSA_Switch(IngressPipeline(MainIngressParser(), MainIngress(), MainIngressDeparser()),");
        self.line("    PacketReplicationEngine(),");
        self.line("    EgressPipeline(MainEgressParser(), MainEgress(), MainEgressDeparser()),");
        self.line("    BufferingQueueingEngine()) main;");
    }

    /// The types of psa.p4 that values may have.
    fn psa_types(&mut self) {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let paths = names(&[
            "NORMAL",
            "NORMAL_UNICAST",
            "NORMAL_MULTICAST",
            "CLONE_I2E",
            "CLONE_E2E",
            "RESUBMIT",
            "RECIRCULATE",
        ]);
        let types = [
            ("PortId_t", Shape::NewType(Ty::Bit(32))),
            ("EgressInstance_t", Shape::NewType(Ty::Bit(16))),
            ("ClassOfService_t", Shape::NewType(Ty::Bit(8))),
            ("PSA_PacketPath_t", Shape::Enum(paths)),
            ("PSA_MeterColor_t", Shape::Enum(names(&["RED", "GREEN", "YELLOW"]))),
        ];
        self.types.extend(types.map(|(name, shape)| Declared { name: name.to_owned(), shape }));
    }

    pub fn portable_type(&self, name: &str) -> Ty {
        let index = self.types.iter().position(|declared| declared.name == name);
        index.map_or(Ty::Bool, Ty::Declared)
    }

    fn carried_struct(&mut self) -> Ty {
        let mut fields = Vec::new();
        if self.has(Feature::Requests) {
            for _ in 0..self.rng.below(4) {
                let ty = match self.any_type() {
                    Ty::Array(..) | Ty::Tuple(_) if self.once_in(2) => Ty::Bit(16),
                    ty => ty,
                };
                fields.push((self.name("c"), ty));
            }
        }
        self.declare_fields("struct", "Carried", fields, Shape::Struct)
    }

    fn psa_parsers(&mut self, headers: &Ty, metadata: &Ty, carried: &Carried, again: Again) {
        let plain_states = (again == Again::Same).then(|| self.plain_states(headers));
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        let all = [
            (
                "Ingress",
                "port",
                [("resubmit_meta", &carried.resubmit), ("recirculate_meta", &carried.recirculate)].to_vec(),
            ),
            (
                "Egress",
                "port",
                [
                    ("normal_meta", &carried.normal),
                    ("clone_i2e_meta", &carried.clone_ingress),
                    ("clone_e2e_meta", &carried.clone_egress),
                ]
                .to_vec(),
            ),
        ];
        for (pipeline, port, structs) in all {
            let lower = pipeline.to_lowercase();
            let mut params = String::new();
            for (name, ty) in &structs {
                let text = self.type_text(ty);
                params += &format!(", in {text} {name}");
            }
            self.open(format!(
                "parser Main{pipeline}Parser(packet_in packet, out {headers_text} hdr, inout {metadata_text} meta, \
                 in psa_{lower}_parser_input_metadata_t istd{params}) {{"
            ));
            self.scoped(|this| {
                this.scope.code = Code::Parser;
                this.declare("hdr", headers.clone(), true);
                this.declare("meta", metadata.clone(), true);
                for (name, ty) in &structs {
                    this.declare(name, (*ty).clone(), false);
                }
                let (port_ty, path_ty) = (this.portable_type("PortId_t"), this.portable_type("PSA_PacketPath_t"));
                this.declare(&format!("istd.{lower}_{port}"), port_ty, false);
                this.declare("istd.packet_path", path_ty, false);
                match &plain_states {
                    Some(states) => states.iter().for_each(|line| this.line(line)),
                    None if again == Again::Nothing && pipeline == "Egress" => {
                        this.line("state start { transition accept; }");
                    }
                    None => this.parser_body(),
                }
            });
            self.close("}");
            self.line("");
        }
    }

    /// States that extract headers in order, each of which goes to a later one.
    fn plain_states(&mut self, headers: &Ty) -> Vec<String> {
        let Some(Shape::Struct(fields)) = self.shape(headers).cloned() else { return Vec::new() };
        let is_plain = |(_, ty): &(String, Ty)| self.is_header(ty) && !self.has_varbit(ty);
        let plain: Vec<(String, Ty)> = fields.into_iter().filter(is_plain).collect();
        let mut lines = vec![match plain.first() {
            Some(_) => "state start { transition parse_0; }".to_owned(),
            None => "state start { transition accept; }".to_owned(),
        }];
        for (position, (name, ty)) in plain.iter().enumerate() {
            let last = plain.len() - 1;
            let next = if position == last { "accept".to_owned() } else { format!("parse_{}", position + 1) };
            let mut transition = format!("transition {next};");
            let Some(Shape::Header(members)) = self.shape(ty).cloned() else { continue };
            let bits = members.iter().find_map(|(member, ty)| match ty {
                Ty::Bit(width) => Some((member.clone(), *width)),
                _ => None,
            });
            if let Some((member, width)) = bits.filter(|_| !self.once_in(3)) {
                let later = self.rng.between(position as u64, last as u64);
                let other = if later == position as u64 { "accept".to_owned() } else { format!("parse_{later}") };
                let value = self.rng.below(1 << width.min(2));
                transition = format!("transition select(hdr.{name}.{member}) {{ {value}: {next}; default: {other}; }}");
            }
            lines.push(format!("state parse_{position} {{ packet.extract(hdr.{name}); {transition} }}"));
        }
        lines
    }

    fn psa_control(&mut self, pipeline: &str, block: Block, known: Option<&Ty>, (headers, metadata): (&Ty, &Ty)) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        let lower = pipeline.to_lowercase();
        self.open(format!(
            "control Main{pipeline}(inout {headers_text} hdr, inout {metadata_text} meta, \
             in psa_{lower}_input_metadata_t istd, inout psa_{lower}_output_metadata_t ostd) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.scope.block = block;
            known.iter().for_each(|headers| this.declare("hdr", (*headers).clone(), true));
            this.declare("meta", metadata.clone(), true);
            let readable = ["PortId_t", "PSA_PacketPath_t", "EgressInstance_t", "ClassOfService_t"];
            let [port, path, instance, class] = readable.map(|name| this.portable_type(name));
            this.declare(&format!("istd.{lower}_port"), port, false);
            this.declare("istd.packet_path", path, false);
            this.declare("istd.parser_error", Ty::Error, false);
            this.declare("ostd.drop", Ty::Bool, false);
            this.declare("ostd.clone", Ty::Bool, false);
            if block == Block::Egress {
                this.declare("istd.instance", instance, false);
                this.declare("istd.class_of_service", class, false);
            }
            if known.is_some() {
                this.instantiate_controls();
            }
            if this.has(Feature::Requests) {
                this.line(format!("AskerIn{pipeline}() asker;"));
            }
            this.psa_objects();
            this.instantiate_handlers();
            if this.needs_plug_in {
                this.instantiate_supplied();
            }
            let statements = this.options.statements;
            this.control_body(u64::from(statements), &[]);
        });
        self.close("}");
        self.line("");
    }

    /// Gives most packets a destination, in PSA or PNA.
    pub fn first_statement(&mut self) {
        match self.options.architecture {
            Architecture::Pna => self.pna_first_statement(),
            _ => self.psa_first_statement(),
        }
    }

    fn psa_first_statement(&mut self) {
        let port = self.some_expr(&Ty::Bit(32));
        self.line(format!("send_to_port(ostd, (PortId_t) (({port}) & 3));"));
    }

    /// The objects of PSA, which PNA has too.
    pub fn psa_objects(&mut self) {
        let prefix = self.prefix();
        if self.has(Feature::Registers) {
            let ty = self.number();
            let (text, name, size) = (self.type_text(&ty), self.name("reg"), self.rng.between(1, 20) as u32);
            let initial = if self.once_in(2) { format!(", {}", self.constant(&ty)) } else { String::new() };
            self.line(format!("Register<{text}, bit<32>>({size}{initial}) {name};"));
            self.scope.objects.push(Object::Register { name, ty, size });
        }
        if self.has(Feature::Counters) {
            let (name, size) = (self.name("ctr"), self.rng.between(1, 20) as u32);
            let kind = *self.rng.pick(&["PACKETS", "BYTES", "PACKETS_AND_BYTES"]);
            self.line(format!("Counter<bit<48>, bit<32>>({size}, {prefix}_CounterType_t.{kind}) {name};"));
            self.scope.objects.push(Object::Counter { name, size });
            let (name, size) = (self.name("met"), self.rng.between(1, 20) as u32);
            let kind = *self.rng.pick(&["PACKETS", "BYTES"]);
            self.line(format!("Meter<bit<32>>({size}, {prefix}_MeterType_t.{kind}) {name};"));
            self.scope.objects.push(Object::Meter { name, size });
        }
        if self.has(Feature::Hashes) {
            let (algorithm, width) = *self.rng.pick(&HASHES);
            let name = self.name("hash");
            self.line(format!("Hash<bit<{width}>>({prefix}_HashAlgorithm_t.{algorithm}) {name};"));
            self.scope.objects.push(Object::Hash { name, width });
        }
        if self.has(Feature::RandomNumbers) {
            let (name, width) = (self.name("random"), self.rng.between(2, 32) as u32);
            let low = self.rng.below(3);
            let high = low + self.rng.below(2);
            self.line(format!("Random<bit<{width}>>({width}w{low}, {width}w{high}) {name};"));
            self.scope.objects.push(Object::Random { name, width });
        }
    }

    /// A statement that uses an object of PSA.
    pub fn psa_object_statement(&mut self, object: &Object) -> bool {
        match object {
            Object::Register { name, ty, size } => {
                let index = self.index(*size);
                if self.once_in(2) {
                    let value = self.some_expr(ty);
                    self.line(format!("{name}.write({index}, {value});"));
                    return true;
                }
                self.assigned(ty, |_| format!("{name}.read({index})"))
            }
            Object::Counter { name, size } => {
                let index = self.index(*size);
                self.line(format!("{name}.count({index});"));
                true
            }
            Object::Meter { name, size } => {
                let index = self.index(*size);
                let type_text = format!("{}_MeterColor_t", self.prefix());
                let colour = self.portable_type(&type_text);
                let before = if self.once_in(2) { format!(", {}", self.expr(&colour, 1)) } else { String::new() };
                let made = self.name("x");
                self.line(format!("{type_text} {made} = {name}.execute({index}{before});"));
                self.declare(&made, colour, true);
                true
            }
            Object::Hash { name, width } => {
                let data = self.data();
                let ty = Ty::Bit(*width);
                let (base, max) = (self.expr(&Ty::Bit(16), 1), self.rng.between(1, 300));
                let with_range = self.once_in(2);
                self.assigned(&ty, |_| match with_range {
                    true => format!("{name}.get_hash({base}, {data}, 16w{max})"),
                    false => format!("{name}.get_hash({data})"),
                })
            }
            Object::Random { name, width } => self.assigned(&Ty::Bit(*width), |_| format!("{name}.read()")),
        }
    }

    /// Assigns the result of a call to a place of the type, or to a new variable.
    fn assigned(&mut self, ty: &Ty, call: impl Fn(&mut Self) -> String) -> bool {
        let call = call(self);
        match self.place(ty) {
            Some(place) => self.line(format!("{place} = {call};")),
            None => {
                let (text, name) = (self.type_text(ty), self.name("x"));
                self.line(format!("{text} {name} = {call};"));
                self.declare(&name, ty.clone(), true);
            }
        }
        true
    }

    /// A request, which PSA carries out when ingress or egress ends.
    pub fn psa_request(&mut self) -> bool {
        let is_ingress = self.scope.block == Block::Ingress;
        let has_copies = self.has(Feature::Requests);
        match self.below(7) {
            0 if self.once_in(3) => {
                self.line(if is_ingress { "ingress_drop(ostd);" } else { "egress_drop(ostd);" });
            }
            1 if is_ingress && has_copies => {
                let group = self.expr(&Ty::Bit(32), 1);
                self.line(format!("multicast(ostd, (MulticastGroup_t) (({group}) & 3));"));
            }
            2 | 3 if has_copies => {
                let session = self.expr(&Ty::Bit(16), 1);
                // A clone that is always cloned again would fill the switch.
                self.open("if (istd.packet_path != PSA_PacketPath_t.CLONE_E2E) {");
                if self.once_in(3) {
                    self.passed_on("ostd", is_ingress);
                    self.close("}");
                    return true;
                }
                let condition = self.some_expr(&Ty::Bool);
                self.line(format!("ostd.clone = {condition};"));
                self.line(format!("ostd.clone_session_id = (CloneSessionId_t) (({session}) & 3);"));
                self.close("}");
            }
            4 if is_ingress && has_copies => {
                self.open("if (istd.packet_path == PSA_PacketPath_t.NORMAL) {");
                let way = *self.rng.pick(&["ostd.resubmit = true;", "send_to_port(ostd, PSA_PORT_RECIRCULATE);"]);
                self.line(way);
                self.close("}");
            }
            5 if is_ingress => {
                let class = self.expr(&Ty::Bit(8), 1);
                self.line(format!("ostd.class_of_service = (ClassOfService_t) (({class}) & 7);"));
            }
            _ if is_ingress => self.psa_first_statement(),
            _ => return false,
        }
        true
    }

    fn psa_ingress_deparser(&mut self, headers: &Ty, metadata: &Ty, carried: &Carried) {
        let structs = [
            ("clone_i2e_meta", &carried.clone_ingress, "psa_clone_i2e(istd)"),
            ("resubmit_meta", &carried.resubmit, "psa_resubmit(istd)"),
            ("normal_meta", &carried.normal, "psa_normal(istd)"),
        ];
        self.psa_deparser("Ingress", Some(headers), (headers, metadata), &structs, "");
    }

    fn psa_egress_deparser(&mut self, known: Option<&Ty>, types: (&Ty, &Ty), carried: &Carried) {
        let structs = [
            ("clone_e2e_meta", &carried.clone_egress, "psa_clone_e2e(istd)"),
            ("recirculate_meta", &carried.recirculate, "psa_recirculate(istd, edstd)"),
        ];
        let last = ", in psa_egress_deparser_input_metadata_t edstd";
        self.psa_deparser("Egress", known, types, &structs, last);
    }

    fn psa_deparser(
        &mut self,
        pipeline: &str,
        known: Option<&Ty>,
        (headers, metadata): (&Ty, &Ty),
        structs: &[(&str, &Ty, &str)],
        last: &str,
    ) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        let lower = pipeline.to_lowercase();
        let mut params = String::new();
        for (name, ty, _) in structs {
            let text = self.type_text(ty);
            params += &format!(", out {text} {name}");
        }
        self.open(format!(
            "control Main{pipeline}Deparser(packet_out packet{params}, inout {headers_text} hdr, \
             in {metadata_text} meta, in psa_{lower}_output_metadata_t istd{last}) {{"
        ));
        let checksum = self.has(Feature::Checksums).then(|| self.name("checksum"));
        if let Some(checksum) = &checksum {
            self.line(format!("InternetChecksum() {checksum};"));
        }
        self.open("apply {");
        self.scoped(|this| {
            this.scope.code = Code::Control;
            known.iter().for_each(|headers| this.declare("hdr", (*headers).clone(), true));
            this.declare("meta", metadata.clone(), false);
            this.psa_checksum(checksum.as_deref());
            for (name, ty, condition) in structs {
                this.open(format!("if ({condition}) {{"));
                this.scoped(|this| this.fill(name, ty));
                this.close("}");
            }
        });
        known.iter().for_each(|headers| self.emits(headers));
        self.close("}");
        self.close("}");
        self.line("");
    }

    fn psa_checksum(&mut self, checksum: Option<&str>) {
        let Some(checksum) = checksum else { return };
        let words =
            self.values(|value| matches!(value.ty, Ty::Bit(16 | 32 | 48 | 64)) && value.text.starts_with("hdr"));
        let targets = self.values(|value| value.writable && value.ty == Ty::Bit(16) && value.text.starts_with("hdr"));
        let (Some(target), false) = (self.pick(&targets), words.is_empty()) else { return };
        for _ in 0..self.rng.between(1, 3) {
            let parts: Vec<String> = (0..self.rng.between(1, 3)).map(|_| self.rng.pick(&words).text.clone()).collect();
            let method = if self.once_in(4) { "subtract" } else { "add" };
            self.line(format!("{checksum}.{method}({{ {} }});", parts.join(", ")));
        }
        let method = if self.once_in(4) { "get_state" } else { "get" };
        self.line(format!("{} = {checksum}.{method}();", target.text));
    }

    /// Assigns to the parts of a struct.
    fn fill(&mut self, name: &str, ty: &Ty) {
        let Some(Shape::Struct(fields)) = self.shape(ty).cloned() else { return };
        for (field, ty) in fields {
            let height = 1;
            let value: Option<Tree> = if self.once_in(4) { None } else { self.any_expr(&ty, height) };
            if let Some(value) = value {
                self.line(format!("{name}.{field} = {value};"));
            }
        }
    }
}
