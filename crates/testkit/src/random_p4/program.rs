//! The program as a whole: declarations, the blocks of v1model, `main`.

use super::types::{Declared, Shape, Ty};
use super::{Block, Callable, Code, Direction, Feature, Generator, Param};
use crate::lines::Lines as _;

impl Generator<'_> {
    /// Writes a program for v1model.
    pub fn v1model_program(&mut self) {
        self.line("#include <core.p4>");
        if self.has(Feature::NewVersion) {
            self.line("#define V1MODEL_VERSION 20200408");
        }
        self.line("#include <v1model.p4>");
        self.line("#include <wirespeed.p4>");
        self.line("");
        self.declare_types();
        let headers = self.headers_struct();
        let metadata = self.metadata_struct();
        self.constants();
        self.own_declarations();
        self.callables();
        self.droppers();
        self.requesters();
        self.unreachable_control(&headers, &metadata);
        self.main_parser(&headers, &metadata, "standard");
        self.checksum_control("MainVerify", "verify_checksum", &headers, &metadata);
        self.main_control("MainIngress", Block::Ingress, &headers, &metadata);
        self.main_control("MainEgress", Block::Egress, &headers, &metadata);
        self.checksum_control("MainCompute", "update_checksum", &headers, &metadata);
        self.deparser(&headers);
        self.line(
            "V1Switch(MainParser(), MainVerify(), MainIngress(), MainEgress(), MainCompute(), MainDeparser()) main;",
        );
    }

    /// Functions, sub-parsers and sub-controls.
    pub fn callables(&mut self) {
        if self.has(Feature::Functions) {
            for _ in 0..self.rng.between(1, 4) {
                self.function();
            }
        }
        if self.has(Feature::Generics) {
            self.generic_functions();
        }
        if self.has(Feature::SubParsers) {
            for _ in 0..self.rng.between(1, 2) {
                self.sub_parser();
            }
        }
        if self.has(Feature::SubControls) {
            for _ in 0..self.rng.between(1, 2) {
                self.sub_control();
            }
        }
    }

    pub fn headers_struct(&mut self) -> Ty {
        let mut fields = Vec::new();
        for ty in self.declared(|shape| matches!(shape, Shape::Header(_) | Shape::Union(_))) {
            let may_stack = self.has(Feature::Stacks) && !self.has_varbit(&ty);
            let ty = match self.below(3) {
                0 if may_stack => Ty::Array(Box::new(ty), self.rng.between(1, 4) as u32),
                _ => ty,
            };
            fields.push((self.name("h"), ty.clone()));
            if self.once_in(4) {
                fields.push((self.name("h"), ty));
            }
        }
        self.declare_fields("struct", "Headers", fields, Shape::Struct)
    }

    pub fn metadata_struct(&mut self) -> Ty {
        let mut fields = Vec::new();
        for _ in 0..self.rng.between(2, 8) {
            let mut ty = self.any_type();
            if !self.has(Feature::HeadersInMetadata) && !self.is_scalar(&ty) {
                ty = Ty::Bit(16);
            }
            fields.push((self.name("m"), ty));
        }
        let name = self.name("Metadata");
        self.open(format!("struct {name} {{"));
        for (field, ty) in &fields {
            let text = self.type_text(ty);
            let list = match self.below(3) {
                _ if !self.is_v1model() || !self.has(Feature::Requests) || !self.may_be_preserved(ty) => "",
                0 => "@field_list(0, 1) ",
                1 => "@field_list(2) ",
                _ => "",
            };
            self.line(format!("{list}{text} {field};"));
        }
        self.close("}");
        self.types.push(Declared { name, shape: Shape::Struct(fields) });
        Ty::Declared(self.types.len() - 1)
    }

    pub fn constants(&mut self) {
        for _ in 0..self.rng.below(4) {
            let ty = self.scalar();
            let name = self.name("CONST");
            let (text, value) = (self.type_text(&ty), self.pure(|this| this.expr(&ty, 2)));
            self.line(format!("const {text} {name} = {value};"));
            self.declare(&name, ty, false);
        }
        self.line("");
    }

    fn sub_control(&mut self) {
        let name = self.name("SubControl");
        let mut params = self.params(3);
        let mut text = self.params_text(&mut params);
        params.iter_mut().for_each(|param| param.optional = false);
        if text.contains('=') {
            params = vec![Param { name: self.name("p"), ty: Ty::Bit(8), direction: Direction::InOut, optional: false }];
            text = self.params_text(&mut params);
        }
        let constructor = self.once_in(2);
        let constructor_text = if constructor { "(bit<8> made)" } else { "" };
        self.annotation();
        self.open(format!("control {name}({text}){constructor_text} {{"));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.scope.block = Block::None;
            this.declare_params(&params);
            if constructor {
                this.declare("made", Ty::Bit(8), false);
            }
            this.control_body(4, &[]);
        });
        self.close("}");
        self.line("");
        self.sub_controls.push((Callable { name, params, returns: None }, constructor));
    }

    pub fn instantiate_controls(&mut self) {
        for (control, constructor) in self.sub_controls.clone() {
            // A control may be instantiated several times, and each instance has its own tables.
            for _ in 0..self.rng.below(3) {
                let name = self.name("sub");
                let argument = if constructor { self.rng.below(256).to_string() } else { String::new() };
                self.line(format!("{}({argument}) {name};", control.name));
                self.scope.instances.push(Callable { name, ..control.clone() });
            }
        }
    }

    fn main_control(&mut self, name: &str, block: Block, headers: &Ty, metadata: &Ty) {
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!(
            "control {name}(inout {headers_text} hdr, inout {metadata_text} meta, inout standard_metadata_t standard) {{"
        ));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.scope.block = block;
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            this.declare_standard_metadata();
            this.line("Dropper() dropper;");
            if this.has(Feature::Requests) {
                this.line(format!("AskerIn{}() asker;", name.trim_start_matches("Main")));
            }
            this.instantiate_controls();
            this.objects();
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

    /// Locals, actions, tables and the apply block, which ends with the given lines.
    pub fn control_body(&mut self, statements: u64, last: &[String]) {
        for _ in 0..self.rng.below(4) {
            let ty = self.any_type();
            let (text, name) = (self.type_text(&ty), self.name("x"));
            match self.pure(|this| this.any_expr(&ty, 1)).filter(|_| self.once_in(2)) {
                Some(value) => self.line(format!("{text} {name} = {value};")),
                None => self.line(format!("{text} {name};")),
            }
            self.declare(&name, ty, true);
        }
        if self.has(Feature::Actions) {
            for _ in 0..self.rng.between(1, 4) {
                self.action();
            }
        }
        if self.has(Feature::Tables) {
            for _ in 0..self.rng.between(1, 3) {
                self.table();
            }
        }
        self.open("apply {");
        self.scoped(|this| {
            if this.scope.block == Block::Ingress && !this.is_v1model() {
                this.first_statement();
            } else if this.scope.block == Block::Ingress {
                let port = this.some_expr(&Ty::Bit(9));
                this.line(format!("standard.egress_spec = ({port}) & 3;"));
            }
            this.budget = 3 * statements as u32;
            this.statements(statements);
            last.iter().for_each(|line| this.line(line));
        });
        self.close("}");
    }
}
