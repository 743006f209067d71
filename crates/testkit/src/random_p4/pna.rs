//! Programs for the Portable NIC Architecture: its four blocks, its requests, and a table whose misses add entries.

use super::types::{Declared, Shape, Ty};
use super::{Block, Code, Feature, Generator};
use crate::lines::Lines as _;

/// The struct with the arguments of entries that packets add.
const LEARNED: &str = "struct Learned { PortId_t port; bit<16> value; }";

impl Generator<'_> {
    /// Writes a program for PNA.
    pub fn pna_program(&mut self) {
        self.line("#include <core.p4>");
        self.line("#include <pna.p4>");
        self.line("");
        self.pna_types();
        self.declare_types();
        let headers = self.headers_struct();
        let metadata = self.metadata_struct();
        self.constants();
        self.own_declarations();
        self.callables();
        self.unreachable_control(&headers, &metadata);
        self.line(LEARNED);
        self.pna_parser(&headers, &metadata);
        self.pna_pre_control(&headers, &metadata);
        self.pna_main_control(&headers, &metadata);
        self.pna_deparser(&headers, &metadata);
        if self.once_in(4) {
            self.line("@host_ports(1, 2)");
        }
        self.line("PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;");
    }

    /// The types of pna.p4 that values may have.
    fn pna_types(&mut self) {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let types = [
            ("PortId_t", Shape::NewType(Ty::Bit(32))),
            ("PassNumber_t", Shape::NewType(Ty::Bit(3))),
            ("PNA_Direction_t", Shape::Enum(names(&["NET_TO_HOST", "HOST_TO_NET"]))),
            ("PNA_MeterColor_t", Shape::Enum(names(&["RED", "GREEN", "YELLOW"]))),
        ];
        self.types.extend(types.map(|(name, shape)| Declared { name: name.to_owned(), shape }));
    }

    /// The fields of the input metadata.
    fn declare_istd(&mut self) {
        let [port, pass, direction] =
            ["PortId_t", "PassNumber_t", "PNA_Direction_t"].map(|name| self.portable_type(name));
        self.declare("istd.input_port", port, false);
        self.declare("istd.pass", pass, false);
        self.declare("istd.direction", direction, false);
        self.declare("istd.loopedback", Ty::Bool, false);
    }

    fn pna_parser(&mut self, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "parser MainParserImpl(packet_in packet, out {headers_text} hdr, inout {metadata_text} meta, \
             in pna_main_parser_input_metadata_t istd) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Parser;
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            this.declare_istd();
            this.parser_body();
        });
        self.close("}");
        self.line("");
    }

    fn pna_pre_control(&mut self, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "control PreControlImpl(in {headers_text} hdr, inout {metadata_text} meta, \
             in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.scope.block = Block::None;
            this.declare("hdr", headers.clone(), false);
            this.declare("meta", metadata.clone(), true);
            this.declare_istd();
            this.declare("istd.parser_error", Ty::Error, false);
            this.control_body(3, &[]);
        });
        self.close("}");
        self.line("");
    }

    fn pna_main_control(&mut self, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "control MainControlImpl(inout {headers_text} hdr, inout {metadata_text} meta, \
             in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.scope.block = Block::Ingress;
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            this.declare_istd();
            this.declare("istd.parser_error", Ty::Error, false);
            this.instantiate_controls();
            this.psa_objects();
            this.instantiate_handlers();
            if this.needs_plug_in {
                this.instantiate_supplied();
            }
            let learns = this.has(Feature::Tables) && this.once_in(2);
            let last = if learns { this.learning_table() } else { Vec::new() };
            let statements = this.options.statements;
            this.control_body(u64::from(statements), &last);
        });
        self.close("}");
        self.line("");
    }

    /// A table whose misses add entries; returns the statements that apply it.
    fn learning_table(&mut self) -> Vec<String> {
        self.line("action learned(PortId_t port, bit<16> value) {");
        self.line("    send_to_port((PortId_t) ((PortIdUint_t) port & 3));");
        if let Some(place) = self.place(&Ty::Bit(16)) {
            self.line(format!("    {place} = value;"));
        }
        let timer =
            *self.rng.pick(&["", "restart_expire_timer();", "set_entry_expire_time((ExpireTimeProfileId_t) 1);"]);
        self.line(format!("    {timer}"));
        self.line("}");
        let (value, condition) = (self.some_expr(&Ty::Bit(16)), self.some_expr(&Ty::Bool));
        self.open("action learn() {");
        let entry = format!("\"learned\", (Learned) {{ port = istd.input_port, value = {value} }}");
        let profile = self.rng.below(3);
        let is_plain = self.once_in(2);
        self.line(match is_plain {
            true => format!("bool added = add_entry({entry}, (ExpireTimeProfileId_t) {profile});"),
            false => format!("bool added = add_entry_if({condition}, {entry}, (ExpireTimeProfileId_t) {profile});"),
        });
        if let Some(place) = self.place(&Ty::Bool) {
            self.line(format!("{place} = added;"));
        }
        if self.once_in(2)
            && let Some(place) = self.place(&Ty::Bit(32))
        {
            self.line(format!("{place} = (FlowIdUint_t) allocate_flow_id();"));
        }
        self.close("}");
        self.open("table learning {");
        let key = self.some_expr(&Ty::Bit(16));
        let small = self.some_expr(&Ty::Bit(8));
        self.line(format!(
            "key = {{ ({key}) & 3 : exact @name(\"first\"); ({small}) & 1 : exact @name(\"second\"); }}"
        ));
        self.line("actions = { learned; @defaultonly learn; }");
        self.line("add_on_miss = true;");
        let timeouts = *self.rng.pick(&["NO_TIMEOUT", "NOTIFY_CONTROL", "AUTO_DELETE"]);
        self.line(format!("pna_idle_timeout = PNA_IdleTimeout_t.{timeouts};"));
        let size = self.rng.between(1, 10);
        self.line(format!("size = {size};"));
        self.line("const default_action = learn();");
        self.close("}");
        vec!["learning.apply();".to_owned()]
    }

    /// Gives most packets a destination.
    pub fn pna_first_statement(&mut self) {
        let port = self.some_expr(&Ty::Bit(32));
        self.line(format!("send_to_port((PortId_t) (({port}) & 3));"));
    }

    /// A request, which PNA carries out behind the deparser.
    pub fn pna_request(&mut self) -> bool {
        let has_copies = self.has(Feature::Requests);
        match self.below(6) {
            0 if self.once_in(3) => self.line("drop_packet();"),
            1 | 2 if has_copies => {
                let (slot, session) = (self.expr(&Ty::Bit(8), 1), self.expr(&Ty::Bit(16), 1));
                // A mirrored packet that turns round may be mirrored again: not without end.
                self.open("if (!istd.loopedback) {");
                self.line(format!(
                    "mirror_packet((MirrorSlotId_t) (({slot}) & 7), (MirrorSessionId_t) (({session}) & 3));"
                ));
                self.close("}");
            }
            3 if has_copies => {
                self.open("if ((PassNumberUint_t) istd.pass < 2) {");
                self.line("recirculate();");
                self.close("}");
            }
            4 => {
                let class = self.expr(&Ty::Bit(8), 1);
                self.line(format!("ostd.class_of_service = (ClassOfService_t) (({class}) & 7);"));
            }
            _ => self.pna_first_statement(),
        }
        true
    }

    fn pna_deparser(&mut self, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "control MainDeparserImpl(packet_out packet, in {headers_text} hdr, in {metadata_text} meta, \
             in pna_main_output_metadata_t ostd) {{"
        ));
        self.open("apply {");
        self.emits(headers);
        self.close("}");
        self.close("}");
        self.line("");
    }
}
