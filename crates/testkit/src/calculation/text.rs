//! Writes a calculation as a P4 program.

use super::{Argument, Calculation, Callee, Direction, Expr, Kind, Place, Stmt, Ty, VarId};
use crate::lines::Lines;
use crate::random_p4::Tree;
use num_bigint::{BigInt, Sign};

struct Writer<'c> {
    calculation: &'c Calculation,
    text: String,
    indent: usize,
}

/// The text of the program.
pub fn program(calculation: &Calculation) -> String {
    let mut writer = Writer { calculation, text: String::new(), indent: 0 };
    writer.head();
    writer.parser();
    writer.open("control MainIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {");
    for (var, value) in &calculation.locals {
        writer.variable("", *var, value);
    }
    for callee in calculation.callees.iter().filter(|callee| callee.is_action) {
        writer.callee(callee);
    }
    writer.open("apply {");
    writer.line("standard.egress_spec = 1;");
    writer.body(&calculation.body);
    writer.close("}");
    writer.close("}");
    writer.tail();
    writer.text
}

/// The text of a type.
pub(crate) fn type_text(ty: Ty) -> String {
    match ty {
        Ty::Bool => "bool".into(),
        Ty::Bit(width) => format!("bit<{width}>"),
        Ty::Int(width) => format!("int<{width}>"),
    }
}

impl Lines for Writer<'_> {
    fn written_lines(&mut self) -> (&mut String, &mut usize) {
        (&mut self.text, &mut self.indent)
    }
}

impl Writer<'_> {
    fn name(&self, var: VarId) -> String {
        self.calculation.vars[var].name.clone()
    }

    fn variable(&mut self, keyword: &str, var: VarId, value: &Expr) {
        let (ty, name) = (type_text(self.calculation.vars[var].ty), self.name(var));
        let value = self.tree(value);
        self.line(format!("{keyword}{ty} {name} = {value};"));
    }

    fn head(&mut self) {
        self.line("#include <core.p4>\n#include <v1model.p4>\n");
        self.open("header fields_t {");
        for field in &self.calculation.fields {
            let variable = &self.calculation.vars[*field];
            let name = variable.name.trim_start_matches("hdr.h.");
            self.line(format!("{} {name};", type_text(variable.ty)));
        }
        self.close("}\n\nstruct headers { fields_t h; }\nstruct metadata { }\n");
        for (var, value) in &self.calculation.constants {
            self.variable("const ", *var, value);
        }
        for callee in self.calculation.callees.iter().filter(|callee| !callee.is_action) {
            self.callee(callee);
        }
    }

    fn parser(&mut self) {
        self.open(
            "parser MainParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {",
        );
        self.line("state start { packet.extract(hdr.h); transition accept; }");
        self.close("}\n");
    }

    fn tail(&mut self) {
        self.line(
            "\ncontrol None(inout headers hdr, inout metadata meta) { apply { } }\n\
             control MainEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }\n\
             control MainDeparser(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }\n\
             V1Switch(MainParser(), None(), MainIngress(), MainEgress(), None(), MainDeparser()) main;",
        );
    }

    fn callee(&mut self, callee: &Callee) {
        let params: Vec<String> = callee
            .params
            .iter()
            .map(|(direction, var)| {
                let word = match direction {
                    Direction::In => "in",
                    Direction::Out => "out",
                    Direction::InOut => "inout",
                };
                format!("{word} {} {}", type_text(self.calculation.vars[*var].ty), self.name(*var))
            })
            .collect();
        let result = match (callee.is_action, callee.returns) {
            (true, _) => "action".to_owned(),
            (false, Some(ty)) => type_text(ty),
            (false, None) => "void".to_owned(),
        };
        self.open(format!("{result} {}({}) {{", callee.name, params.join(", ")));
        self.body(&callee.body);
        self.close("}");
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn block(&mut self, head: &str, body: &[Stmt]) {
        self.open(format!("{head} {{"));
        self.body(body);
        self.close("}");
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(place, value) => {
                let line = format!("{} = {};", self.place(place), self.tree(value));
                self.line(line);
            }
            Stmt::Compound(operator, place, value) => {
                let line = format!("{} {operator}= {};", self.place(place), self.tree(value));
                self.line(line);
            }
            Stmt::Local(var, value) => self.variable("", *var, value),
            Stmt::If(condition, yes, no) => {
                let condition = self.tree(condition);
                self.block(&format!("if ({condition})"), yes);
                if !no.is_empty() {
                    self.block("else", no);
                }
            }
            Stmt::Switch(subject, cases) => {
                let subject = self.tree(subject);
                self.open(format!("switch ({subject}) {{"));
                for (label, body) in cases {
                    let label = label.as_ref().map_or("default".to_owned(), BigInt::to_string);
                    match body {
                        Some(body) => self.block(&format!("{label}:"), body),
                        None => self.line(format!("{label}:")),
                    }
                }
                self.close("}");
            }
            Stmt::For(var, low, high, body) => {
                let (ty, name) = (type_text(self.calculation.vars[*var].ty), self.name(*var));
                self.block(&format!("for ({ty} {name} in {low} .. {high})"), body);
            }
            Stmt::Call(callee, args) => {
                let call = self.call(*callee, args);
                self.line(format!("{call};"));
            }
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => {
                let value = self.tree(value);
                self.line(format!("return {value};"));
            }
            Stmt::Exit => self.line("exit;"),
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
        }
    }

    fn place(&self, place: &Place) -> String {
        match place.slice {
            Some((high, low)) => format!("{}[{high}:{low}]", self.name(place.var)),
            None => self.name(place.var),
        }
    }

    fn call(&self, callee: usize, args: &[Argument]) -> String {
        let args: Vec<String> = args
            .iter()
            .map(|arg| match arg {
                Argument::In(value) => self.tree(value).to_string(),
                Argument::Place(place) => self.place(place),
            })
            .collect();
        format!("{}({})", self.calculation.callees[callee].name, args.join(", "))
    }

    fn tree(&self, expr: &Expr) -> Tree {
        match &expr.kind {
            Kind::Constant(value) => literal(expr.ty, value),
            Kind::Whole(text, _) => Tree::cast(type_text(expr.ty), Tree::atom(format!("({text})"))),
            Kind::Var(var) => Tree::atom(self.name(*var)),
            Kind::Unary(operator, operand) => Tree::unary(operator, self.tree(operand)),
            Kind::Binary(operator, left, right) => Tree::binary(operator, self.tree(left), self.tree(right)),
            Kind::Cast(operand) => Tree::cast(type_text(expr.ty), self.tree(operand)),
            Kind::Slice(base, high, low) => Tree::Slice(Box::new(self.tree(base)), *high, *low),
            Kind::Conditional(condition, yes, no) => {
                Tree::conditional(self.tree(condition), self.tree(yes), self.tree(no))
            }
            Kind::Call(callee, args) => Tree::atom(self.call(*callee, args)),
        }
    }
}

/// A literal of the type.
pub(crate) fn literal(ty: Ty, value: &BigInt) -> Tree {
    match ty {
        Ty::Bool => Tree::atom(if value.sign() == Sign::NoSign { "false" } else { "true" }),
        Ty::Bit(width) => Tree::atom(format!("{width}w{value}")),
        Ty::Int(width) if value.sign() != Sign::Minus => Tree::atom(format!("{width}s{value}")),
        Ty::Int(_) => Tree::cast(type_text(ty), Tree::unary("-", Tree::atom(value.magnitude().to_string()))),
    }
}
