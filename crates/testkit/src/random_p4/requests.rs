//! Requests of v1model programs, which the architecture carries out when ingress or egress ends.

use super::types::Ty;
use super::{Architecture, Block, Code, Feature, Generator};
use crate::lines::Lines as _;

impl Generator<'_> {
    /// A statement that makes a request.
    pub fn request(&mut self) -> bool {
        if !self.is_v1model() {
            let may_ask = matches!(self.scope.code, Code::Action | Code::Control) && self.scope.block != Block::None;
            return may_ask
                && match self.options.architecture {
                    Architecture::Pna => self.pna_request(),
                    _ => self.psa_request(),
                };
        }
        let Some(standard) = self.scope.standard_metadata else { return false };
        if self.scope.block == Block::None || self.scope.code == Code::Parser {
            return false;
        }
        let ingress = self.scope.block == Block::Ingress;
        match self.below(8) {
            0 if self.once_in(2) => self.drop_request(standard),
            1 => {
                let length = self.some_expr(&Ty::Bit(32));
                self.line(format!("truncate(({length}) & 127);"));
            }
            2 if ingress && self.has(Feature::Digests) => {
                let data = self.data();
                self.line(format!("digest(1, {data});"));
            }
            3..=5 if self.has(Feature::Requests) => return self.copy_request(standard, ingress),
            6 if self.has(Feature::Requests) => self.passed_on(standard, ingress),
            _ if ingress => {
                let port = self.some_expr(&Ty::Bit(9));
                self.line(format!("{standard}.egress_spec = ({port}) & 3;"));
            }
            _ => return false,
        }
        true
    }

    /// Drops the packet, or sets the drop port in a copy of its metadata, which has no effect before it is assigned.
    fn drop_request(&mut self, standard: &str) {
        match self.below(6) {
            0 => self.line(format!("drop_given({standard});")),
            5 => self.line("mark_to_drop();"),
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

    /// The functions and controls that [`Generator::drop_request`] calls.
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

    /// The functions and controls that [`Generator::passed_on`] calls. The requests' arguments are their parameters.
    pub fn requesters(&mut self) {
        if !self.has(Feature::Requests) {
            return;
        }
        for (ingress, direction, again) in [(true, "I2E", "resubmit"), (false, "E2E", "recirculate")] {
            let block = block_name(ingress);
            self.line(format!("void clone_in_{block}(in bit<32> session, out bit<32> used) {{"));
            self.line(format!("    used = session & 3; clone(CloneType.{direction}, used);"));
            self.line("}");
            self.open(format!("control AskerIn{block}(inout standard_metadata_t given, inout bit<32> session) {{"));
            self.line("action ask(in bit<32> inner, inout bit<32> length) {");
            self.line(format!("    clone_preserving_field_list(CloneType.{direction}, inner & 3, 1);"));
            self.line("    length = length & 127; truncate(length);");
            self.line("}");
            self.open("apply {");
            self.line("ask(session, session);");
            self.line(format!("if (given.instance_type == 0) {{ {again}_preserving_field_list(2); }}"));
            self.close("}");
            self.close("}");
            self.line("");
        }
    }

    /// A request made by a function or a control, with arguments of any form.
    pub fn passed_on(&mut self, output: &str, ingress: bool) {
        let block = block_name(ingress);
        let place = self.place(&Ty::Bit(32));
        let session = self.expr(&Ty::Bit(32), 1);
        let used = self.name("x");
        self.open("{");
        self.line(format!("bit<32> {used} = {session};"));
        let place = place.unwrap_or_else(|| used.clone());
        match self.below(2) {
            0 if self.scope.code == Code::Control => self.line(format!("asker.apply({output}, {place});")),
            _ if !self.is_v1model() => self.line(format!("clone_in_{block}({output}, {used}, {place});")),
            _ => self.line(format!("clone_in_{block}({used}, {place});")),
        }
        self.close("}");
    }

    /// The functions and controls that it calls in PSA programs.
    pub fn psa_requesters(&mut self) {
        if !self.has(Feature::Requests) {
            return;
        }
        for ingress in [true, false] {
            let block = block_name(ingress);
            let output = format!("psa_{}_output_metadata_t", block.to_lowercase());
            self.open(format!("void clone_in_{block}(inout {output} given, in bit<32> session, out bit<32> used) {{"));
            self.line("used = session & 3;");
            self.line("given.clone = true;");
            self.line("given.clone_session_id = (CloneSessionId_t) (bit<16>) used;");
            self.close("}");
            self.open(format!("control AskerIn{block}(inout {output} given, inout bit<32> session) {{"));
            self.line("action ask(out bool wanted, inout bit<32> inner, out CloneSessionId_t chosen) {");
            self.line(
                "    wanted = inner[0:0] == 1; inner = inner + 1; chosen = (CloneSessionId_t) (bit<16>) (inner & 3);",
            );
            self.line("}");
            self.line("apply { ask(given.clone, session, given.clone_session_id); }");
            self.close("}");
            self.line("");
        }
    }

    fn copy_request(&mut self, standard: &str, ingress: bool) -> bool {
        let session = self.expr(&Ty::Bit(32), 1);
        let direction = if ingress { "I2E" } else { "E2E" };
        // A packet that is always recirculated is finally dropped, but takes long.
        let again = if ingress { "resubmit" } else { "recirculate" };
        match self.below(9) {
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
            5 => {
                let data = self.singles().join(", ");
                self.line(format!("clone3(CloneType.{direction}, ({session}) & 3, {{ {data} }});"));
            }
            6 => {
                let data = self.singles().join(", ");
                self.open(format!("if ({standard}.instance_type == 0) {{"));
                self.line(format!("{again}({{ {data} }});"));
                self.close("}");
            }
            7 if ingress => {
                // The request takes effect when the packet has gone through egress.
                self.open(format!("if ({standard}.instance_type == 0) {{"));
                self.line("recirculate_preserving_field_list(1);");
                self.close("}");
            }
            _ => return false,
        }
        true
    }
}

fn block_name(ingress: bool) -> &'static str {
    if ingress { "Ingress" } else { "Egress" }
}
