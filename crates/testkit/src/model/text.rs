//! Writes a model as a P4 program.

use super::{
    ActionCall, Argument, Callee, Code, Declared, Direction, Expr, KeySet, Kind, Model, Place, Select, Shape, Step,
    Stmt, Table, Ty, VarId,
};
use crate::calculation::text::{literal, type_text as scalar_text};
use crate::lines::Lines;
use crate::random_p4::Tree;
use num_bigint::BigInt;

struct Writer<'m> {
    model: &'m Model,
    text: String,
    indent: usize,
    /// Whether statements are those of a parser's states, where loops may only be inside of conditions.
    in_parser: bool,
}

/// The text of the program.
pub fn program(model: &Model) -> String {
    let mut writer = Writer { model, text: String::new(), indent: 0, in_parser: false };
    writer.line("#include <core.p4>\n#include <v1model.p4>\n");
    for declared in &model.types {
        writer.declared(declared);
    }
    for (number, callee) in model.callees.iter().enumerate() {
        let is_block = [model.parser, model.ingress, model.egress].contains(&number);
        match callee.code {
            Code::Function => writer.function(callee),
            // An action is written within its control.
            Code::Action => {}
            Code::Parser => writer.parser(callee, is_block),
            Code::Control => writer.control(callee, is_block),
        }
    }
    writer.line(
        "control None(inout headers hdr, inout metadata meta) { apply { } }\n\
         control MainDeparser(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }\n\
         V1Switch(MainParser(), None(), MainIngress(), MainEgress(), None(), MainDeparser()) main;",
    );
    writer.text
}

fn direction_text(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

fn set_text(set: &KeySet) -> String {
    match set {
        KeySet::Any => "_".into(),
        KeySet::Value(value) => value.to_string(),
        KeySet::Mask(value, mask) => format!("{value} &&& {mask}"),
        KeySet::Range(low, high) => format!("{low} .. {high}"),
    }
}

fn sets_text(sets: &[KeySet]) -> String {
    let sets: Vec<String> = sets.iter().map(set_text).collect();
    if sets.len() == 1 { sets.concat() } else { format!("({})", sets.join(", ")) }
}

impl Lines for Writer<'_> {
    fn written_lines(&mut self) -> (&mut String, &mut usize) {
        (&mut self.text, &mut self.indent)
    }
}

impl Writer<'_> {
    fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(scalar) => scalar_text(*scalar),
            Ty::Declared(number) => self.model.types[*number].name.clone(),
            Ty::Array(element, size) => format!("{}[{size}]", self.ty(element)),
        }
    }

    fn var(&self, var: VarId) -> String {
        let variable = &self.model.vars[var];
        format!("{} {}", self.ty(&variable.ty), variable.name)
    }

    fn declared(&mut self, declared: &Declared) {
        let word = match declared.shape {
            Shape::Header => "header",
            Shape::Struct => "struct",
            Shape::Union => "header_union",
        };
        self.open(format!("{word} {} {{", declared.name));
        for (name, ty) in &declared.fields {
            self.line(format!("{} {name};", self.ty(ty)));
        }
        self.close("}\n");
    }

    fn params(&self, callee: &Callee) -> Vec<String> {
        let param = |(direction, var): &(Direction, VarId)| {
            let default = callee.defaults.iter().find(|(param, _)| param == var);
            let default = default.map_or(String::new(), |(_, value)| format!(" = {}", self.tree(value)));
            format!("{}{}{default}", direction_text(*direction), self.var(*var))
        };
        callee.params.iter().map(param).collect()
    }

    fn function(&mut self, callee: &Callee) {
        let result = callee.returns.as_ref().map_or("void".into(), |ty| self.ty(ty));
        self.open(format!("{result} {}({}) {{", callee.name, self.params(callee).join(", ")));
        self.body(&callee.body);
        self.close("}\n");
    }

    fn instances(&mut self, callee: &Callee) {
        for instance in &callee.instances {
            let name = &self.model.callees[*instance].name;
            self.line(format!("{name}() the_{name};"));
        }
    }

    fn locals(&mut self, callee: &Callee) {
        for (var, value) in &callee.locals {
            self.local(*var, value.as_ref());
        }
    }

    fn parser(&mut self, callee: &Callee, is_block: bool) {
        let mut params = vec!["packet_in packet".to_owned()];
        params.extend(self.params(callee));
        if is_block {
            params.push("out headers hdr, inout metadata meta, inout standard_metadata_t standard".into());
        }
        self.open(format!("parser {}({}) {{", callee.name, params.join(", ")));
        self.in_parser = true;
        self.instances(callee);
        self.locals(callee);
        self.open("state start {");
        self.body(&callee.body);
        match &callee.select {
            None => self.line("transition accept;"),
            Some(select) => self.select(select),
        }
        self.close("}");
        let states = callee.select.iter().flat_map(|select| &select.states);
        let count = callee.select.as_ref().map_or(0, |select| select.states.len());
        for (number, state) in states.enumerate() {
            self.open(format!("state state{number} {{"));
            self.body(state);
            let next = if number + 1 == count { "accept".into() } else { format!("state{}", number + 1) };
            self.line(format!("transition {next};"));
            self.close("}");
        }
        self.in_parser = false;
        self.close("}\n");
    }

    fn select(&mut self, select: &Select) {
        let keys: Vec<String> = select.keys.iter().map(|key| self.tree(key).to_string()).collect();
        self.open(format!("transition select({}) {{", keys.join(", ")));
        for (sets, state) in &select.cases {
            let target = if *state == select.states.len() { "accept".into() } else { format!("state{state}") };
            self.line(format!("{}: {target};", sets_text(sets)));
        }
        self.close("}");
    }

    fn control(&mut self, callee: &Callee, is_block: bool) {
        let mut params = self.params(callee);
        if is_block {
            params.push("inout headers hdr, inout metadata meta, inout standard_metadata_t standard".into());
        }
        self.open(format!("control {}({}) {{", callee.name, params.join(", ")));
        self.instances(callee);
        self.locals(callee);
        for action in &callee.actions {
            let action = &self.model.callees[*action];
            self.open(format!("action {}({}) {{", action.name, self.params(action).join(", ")));
            self.body(&action.body);
            self.close("}");
        }
        for table in &callee.tables {
            self.table(&self.model.tables[*table]);
        }
        self.open("apply {");
        if is_block {
            self.line("standard.egress_spec = 1;");
        }
        self.body(&callee.body);
        self.close("}");
        self.close("}\n");
    }

    fn table(&mut self, table: &Table) {
        self.open(format!("table {} {{", table.name));
        self.open("key = {");
        for (number, (key, kind)) in table.keys.iter().enumerate() {
            let key = self.tree(key);
            self.line(format!("{key}: {kind} @name(\"key{number}\");"));
        }
        self.close("}");
        self.open("actions = {");
        for (action, args) in &table.actions {
            let call = self.call_text(&self.model.callees[*action].name, *action, args, &[]);
            self.line(format!("{call};"));
        }
        self.line("NoAction;");
        self.close("}");
        let default = table.default.as_ref().map_or("NoAction".into(), |call| self.action_call(table, call));
        self.line(format!("default_action = {default};"));
        if !table.entries.is_empty() {
            self.open("const entries = {");
            for (sets, call) in &table.entries {
                let call = self.action_call(table, call);
                self.line(format!("{}: {call};", sets_text(sets)));
            }
            self.close("}");
        }
        self.close("}");
    }

    fn action_call(&self, table: &Table, call: &ActionCall) -> String {
        let (action, args) = &table.actions[call.action];
        self.call_text(&self.model.callees[*action].name, *action, args, &call.data)
    }

    /// A call of `name`, which is the name of the callee or of its instance.
    fn call_text(&self, name: &str, callee: usize, args: &[(usize, Argument)], data: &[Expr]) -> String {
        let callee = &self.model.callees[callee];
        let has_names = args.iter().enumerate().any(|(number, (position, _))| number != *position);
        let named = |name: &str, value: String| if has_names { format!("{name} = {value}") } else { value };
        let packet = (callee.code == Code::Parser).then(|| named("packet", "packet".into()));
        let args = args.iter().map(|(position, arg)| {
            let value = match arg {
                Argument::In(value) => self.tree(value).to_string(),
                Argument::Place(place) => self.place(place).to_string(),
            };
            named(&self.model.vars[callee.params[*position].1].name, value)
        });
        let data = data.iter().map(|value| self.tree(value).to_string());
        let all: Vec<String> = packet.into_iter().chain(args).chain(data).collect();
        format!("{name}({})", all.join(", "))
    }

    fn call(&self, number: usize, args: &[(usize, Argument)]) -> String {
        let callee = &self.model.callees[number];
        match callee.code {
            Code::Function | Code::Action => self.call_text(&callee.name, number, args, &[]),
            Code::Control | Code::Parser => self.call_text(&format!("the_{}.apply", callee.name), number, args, &[]),
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn block(&mut self, head: impl AsRef<str>, body: &[Stmt]) {
        self.open(format!("{} {{", head.as_ref()));
        self.body(body);
        self.close("}");
    }

    fn for_loop(&mut self, head: &str, body: &[Stmt]) {
        if self.in_parser {
            self.open("if (true) {");
        }
        self.block(head, body);
        if self.in_parser {
            self.close("}");
        }
    }

    fn local(&mut self, var: VarId, value: Option<&Expr>) {
        let value = value.map_or(String::new(), |value| format!(" = {}", self.initial(value)));
        self.line(format!("{}{value};", self.var(var)));
    }

    /// A value whose type is known from the context.
    fn initial(&self, value: &Expr) -> String {
        match (&value.kind, &value.ty) {
            (Kind::List(is_named, parts), Ty::Array(..)) => self.list(*is_named, &value.ty, parts),
            _ => self.tree(value).to_string(),
        }
    }

    fn assign_text(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Assign(place, value) => format!("{} = {}", self.place(place), self.initial(value)),
            Stmt::Compound(operator, place, value) => {
                format!("{} {operator}= {}", self.place(place), self.tree(value))
            }
            other => unreachable!("an assignment is expected, not {other:?}"),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(..) | Stmt::Compound(..) => self.line(format!("{};", self.assign_text(stmt))),
            Stmt::Local(var, value) => self.local(*var, value.as_ref()),
            Stmt::SetValid(place, is_valid) => {
                let method = if *is_valid { "setValid" } else { "setInvalid" };
                self.line(format!("{}.{method}();", self.place(place)));
            }
            Stmt::Move(place, is_push, count) => {
                let method = if *is_push { "push_front" } else { "pop_front" };
                self.line(format!("{}.{method}({count});", self.place(place)));
            }
            Stmt::If(condition, yes, no) => self.if_stmt(&self.tree(condition).to_string(), yes, no),
            Stmt::IfHit(table, is_hit, yes, no) => {
                let member = if *is_hit { "hit" } else { "miss" };
                self.if_stmt(&format!("{}.apply().{member}", self.model.tables[*table].name), yes, no);
            }
            Stmt::Switch(subject, cases) => {
                let label = |label: &BigInt| label.to_string();
                self.switch(&self.tree(subject).to_string(), cases, &label);
            }
            Stmt::SwitchRun(table, cases) => {
                let table = &self.model.tables[*table];
                let model = self.model;
                let label = |position: &usize| model.callees[table.actions[*position].0].name.clone();
                self.switch(&format!("{}.apply().action_run", table.name), cases, &label);
            }
            Stmt::ForIn(var, low, high, body) => {
                self.for_loop(&format!("for ({} in {low} .. {high})", self.var(*var)), body);
            }
            Stmt::For(var, rounds, condition, updates, body) => {
                let name = &self.model.vars[*var].name;
                let condition = condition.as_ref().map_or(String::new(), |it| format!(" && ({})", self.tree(it)));
                let mut steps: Vec<String> = updates.iter().map(|update| self.assign_text(update)).collect();
                steps.push(format!("{name} = {name} + 1"));
                let (var, steps) = (self.var(*var), steps.join(", "));
                self.for_loop(&format!("for ({var} = 0; {name} < {rounds}{condition}; {steps})"), body);
            }
            Stmt::Call(callee, args) => self.line(format!("{};", self.call(*callee, args))),
            Stmt::Apply(table) => self.line(format!("{}.apply();", self.model.tables[*table].name)),
            Stmt::Extract(place) => self.line(format!("packet.extract({});", self.place(place))),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => self.line(format!("return {};", self.tree(value))),
            Stmt::Exit => self.line("exit;"),
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
        }
    }

    fn if_stmt(&mut self, condition: &str, yes: &[Stmt], no: &[Stmt]) {
        self.block(format!("if ({condition})"), yes);
        if !no.is_empty() {
            self.block("else", no);
        }
    }

    fn switch<T>(
        &mut self,
        subject: &str,
        cases: &[(Option<T>, Option<Vec<Stmt>>)],
        label_text: &dyn Fn(&T) -> String,
    ) {
        self.open(format!("switch ({subject}) {{"));
        for (label, body) in cases {
            let label = label.as_ref().map_or("default".into(), label_text);
            match body {
                Some(body) => self.block(format!("{label}:"), body),
                None => self.line(format!("{label}:")),
            }
        }
        self.close("}");
    }

    fn place(&self, place: &Place) -> Tree {
        let variable = &self.model.vars[place.var];
        let mut tree = Tree::atom(&variable.name);
        let mut ty = variable.ty.clone();
        for step in &place.steps {
            tree = match step {
                Step::Field(field) => {
                    let Ty::Declared(number) = ty else { unreachable!("{ty:?} has no fields") };
                    Tree::atom(format!("{tree}.{}", self.model.types[number].fields[*field].0))
                }
                Step::Element(index) => Tree::atom(format!("{tree}[{}]", self.tree(index))),
                Step::Slice(_, high, low) => Tree::Slice(Box::new(tree), *high, *low),
            };
            ty = self.model.part(&ty, step);
        }
        tree
    }

    fn list(&self, is_named: bool, ty: &Ty, parts: &[Expr]) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.tree(part).to_string()).collect();
        let parts: Vec<String> = match ty {
            Ty::Declared(number) if is_named => {
                let fields = self.model.types[*number].fields.iter();
                fields.zip(parts).map(|((name, _), part)| format!("{name} = {part}")).collect()
            }
            _ => parts,
        };
        format!("{{ {} }}", parts.join(", "))
    }

    fn tree(&self, expr: &Expr) -> Tree {
        match &expr.kind {
            Kind::Constant(value) => match &expr.ty {
                Ty::Scalar(scalar) => literal(*scalar, value),
                other => unreachable!("no constant has the type {other:?}"),
            },
            Kind::Read(place) => self.place(place),
            Kind::Unary(operator, operand) => Tree::unary(operator, self.tree(operand)),
            Kind::Binary(operator, left, right) => Tree::binary(operator, self.tree(left), self.tree(right)),
            Kind::Same(is_equal, left, right) => {
                Tree::binary(if *is_equal { "==" } else { "!=" }, self.tree(left), self.tree(right))
            }
            Kind::Cast(operand) => Tree::cast(self.ty(&expr.ty), self.tree(operand)),
            Kind::Conditional(condition, yes, no) => {
                Tree::conditional(self.tree(condition), self.tree(yes), self.tree(no))
            }
            Kind::Call(callee, args) => Tree::atom(self.call(*callee, args)),
            Kind::IsValid(place) => Tree::atom(format!("{}.isValid()", self.place(place))),
            Kind::List(is_named, parts) => {
                Tree::cast(self.ty(&expr.ty), Tree::atom(self.list(*is_named, &expr.ty, parts)))
            }
            Kind::Hit(table, is_hit) => {
                let member = if *is_hit { "hit" } else { "miss" };
                Tree::atom(format!("{}.apply().{member}", self.model.tables[*table].name))
            }
            Kind::Invalid => Tree::cast(self.ty(&expr.ty), Tree::atom("{#}")),
            Kind::Lookahead => Tree::atom(format!("packet.lookahead<{}>()", self.ty(&expr.ty))),
        }
    }
}
