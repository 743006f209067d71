//! Statements, functions and actions.

use super::tree::Tree;
use super::types::{Shape, Ty};
use super::{Block, Callable, Code, Direction, Feature, Generator, Param, Value};
use crate::lines::Lines as _;

/// The most statements of a function or action.
const CALLEE_STATEMENTS_MAX: u64 = 5;

impl Generator<'_> {
    /// Generates statements until the budget is used up, but at most `count_max`.
    pub fn statements(&mut self, count_max: u64) {
        for _ in 0..self.rng.between(1, count_max) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        let done = match self.below(27) {
            0..=4 => self.assignment(),
            5 => self.composite_assignment(),
            6 => self.compound_assignment(),
            7..=9 => self.local(),
            10 | 11 => self.conditional(),
            12 if self.has(Feature::Switches) => self.value_switch(),
            13 if self.has(Feature::Loops) => self.loop_statement(),
            14 => self.call_statement(),
            15 => self.header_operation(),
            16 if self.has(Feature::Stacks) => self.stack_operation(),
            17 if self.has(Feature::Jumps) => self.jump(),
            18 => self.block_statement(),
            19 | 20 if self.has(Feature::Tables) => self.table_statement(),
            21 | 22 => self.extern_statement(),
            23..=25 => self.request(),
            26 if self.has(Feature::Tables) && self.has(Feature::Loops) => self.staged_tables(),
            _ => false,
        };
        if !done {
            self.assignment();
        }
    }

    fn assignment(&mut self) -> bool {
        let places = self.values(|value| value.writable && self.is_scalar(&value.ty));
        let Some(value) = self.pick(&places) else { return false };
        let Some(place) = self.place(&value.ty) else { return false };
        let expression = if self.once_in(6) { self.bare_number(&value.ty) } else { self.some_expr(&value.ty) };
        let expression = self.written(&expression);
        self.line(format!("{place} = {expression};"));
        true
    }

    /// Assigns a constant to a variable.
    pub fn number_assignment(&mut self) -> bool {
        let places = self.values(|value| value.writable && self.is_scalar(&value.ty));
        let Some(value) = self.pick(&places) else { return false };
        let number = self.bare_number(&value.ty);
        self.line(format!("{} = {number};", value.text));
        true
    }

    fn composite_assignment(&mut self) -> bool {
        let places = self.values(|value| value.writable && !self.is_scalar(&value.ty));
        let Some(value) = self.pick(&places) else { return false };
        let Some(expression) = self.any_expr(&value.ty, 2) else { return false };
        self.line(format!("{} = {expression};", value.text));
        true
    }

    fn compound_assignment(&mut self) -> bool {
        if !self.has(Feature::CompoundAssignment) {
            return false;
        }
        let places = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(_) | Ty::Int(_)));
        let Some(value) = self.pick(&places) else { return false };
        let Some(place) = self.place(&value.ty) else { return false };
        let is_unsigned = matches!(value.ty, Ty::Bit(_));
        let (operator, right) = match self.below(10) {
            0 => ("<<=", self.some_expr(&Ty::Bit(8))),
            1 => (">>=", self.some_expr(&Ty::Bit(8))),
            2 if is_unsigned => {
                let right = self.some_expr(&value.ty);
                (*self.rng.pick(&["/=", "%="]), Tree::binary("|", right, Tree::atom("1")))
            }
            _ => {
                let right = self.some_expr(&value.ty);
                (*self.rng.pick(&["+=", "-=", "*=", "&=", "|=", "^=", "|+|=", "|-|="]), right)
            }
        };
        self.line(format!("{place} {operator} {right};"));
        true
    }

    /// A variable or constant of the block.
    fn local(&mut self) -> bool {
        let ty = self.any_type();
        self.local_of(ty)
    }

    fn local_of(&mut self, ty: Ty) -> bool {
        let text = self.type_text(&ty);
        if self.is_scalar(&ty) && self.once_in(6) {
            let name = self.name("k");
            let value = self.constant(&ty);
            self.line(format!("const {text} {name} = {value};"));
            self.declare(&name, ty, false);
            return true;
        }
        let value = if self.once_in(3) { None } else { self.any_expr(&ty, 3) };
        let name = self.name("x");
        match value {
            Some(value) => self.line(format!("{text} {name} = {value};")),
            None => self.line(format!("{text} {name};")),
        }
        self.declare(&name, ty, true);
        true
    }

    fn braced(&mut self, head: &str, statements_max: u64) {
        self.open(format!("{head}{{"));
        self.scoped(|this| {
            this.shadow();
            this.statements(statements_max);
        });
        self.close("}");
    }

    /// Sometimes a variable that hides one from an outer scope.
    fn shadow(&mut self) {
        if !self.has(Feature::Shadowing) || !self.once_in(6) {
            return;
        }
        let locals: Vec<Value> =
            self.scope.values.iter().filter(|value| value.writable && value.text.starts_with('x')).cloned().collect();
        let Some(hidden) = self.pick(&locals) else { return };
        let ty = self.scalar();
        let value = self.constant(&ty);
        let text = self.type_text(&ty);
        self.line(format!("{text} {} = {value};", hidden.text));
        self.declare(&hidden.text, ty, true);
    }

    fn conditional(&mut self) -> bool {
        let condition = self.some_expr(&Ty::Bool);
        self.braced(&format!("if ({condition}) "), 3);
        if self.once_in(2) {
            if self.once_in(3) {
                let condition = self.some_expr(&Ty::Bool);
                self.braced(&format!("else if ({condition}) "), 2);
            }
            self.braced("else ", 3);
        }
        true
    }

    fn block_statement(&mut self) -> bool {
        let annotation = if self.once_in(3) { "@atomic " } else { "" };
        self.braced(annotation, 3);
        true
    }

    fn value_switch(&mut self) -> bool {
        if self.scope.code == Code::Parser || self.scope.code == Code::Action {
            return false;
        }
        let ty = match self.scalar() {
            Ty::Bool | Ty::Error => Ty::Bit(8),
            Ty::Declared(index) if matches!(self.types[index].shape, Shape::NewType(_)) => Ty::Bit(4),
            ty => ty,
        };
        let subject = self.some_expr(&ty);
        let mut labels: Vec<String> = Vec::new();
        for _ in 0..self.rng.between(1, 5) {
            let label = match &ty {
                // All labels are in one form, so that equal labels are equal texts.
                Ty::Bit(width) => self.bits(*width).to_bigint().to_string(),
                Ty::Int(width) => {
                    let text = self.bits(*width).to_signed_bigint().to_string();
                    if text.starts_with('-') { format!("({text})") } else { text }
                }
                _ => self.constant(&ty).to_string(),
            };
            if !labels.contains(&label) && !label.starts_with('(') {
                labels.push(label);
            }
        }
        if self.once_in(2) {
            labels.push("default".into());
        }
        self.open(format!("switch ({subject}) {{"));
        self.cases(labels);
        self.close("}");
        true
    }

    /// The cases of a switch, some of which fall through to the next.
    pub fn cases(&mut self, labels: Vec<String>) {
        let count = labels.len();
        for (index, label) in labels.into_iter().enumerate() {
            if index + 1 < count && self.once_in(4) {
                self.line(format!("{label}:"));
            } else {
                self.braced(&format!("{label}: "), 2);
            }
        }
    }

    pub fn loop_statement(&mut self) -> bool {
        if self.scope.code == Code::Parser || self.scope.loops >= 2 {
            return false;
        }
        let name = self.name("i");
        let width = *self.rng.pick(&[4, 8, 16, 32]);
        let ty = Ty::Bit(width);
        let text = self.type_text(&ty);
        let arrays = self.values(|value| matches!(&value.ty, Ty::Array(element, _) if self.is_scalar(element)));
        let list = if self.has(Feature::Lists) && self.once_in(3) { Some(self.list()) } else { None };
        let (head, ty) = match (self.below(4), self.pick(&arrays)) {
            _ if let Some((list, element)) = list.clone() => {
                let element_text = self.type_text(&element);
                (format!("for ({element_text} {name} in {list}) "), element)
            }
            (0, Some(Value { text, ty: Ty::Array(element, _), .. })) => {
                let element_text = self.type_text(&element);
                (format!("for ({element_text} {name} in {text}) "), *element)
            }
            (1, _) => {
                let (low, high) = (self.rng.below(4), self.rng.below(9));
                (format!("for ({text} {name} in {low} .. {high}) "), ty)
            }
            (2, _) => {
                let high = self.pure(|this| this.some_expr(&ty));
                (format!("for ({text} {name} in 0 .. (({high}) & 7)) "), ty)
            }
            _ => {
                let (count, step) = (self.rng.below(6), self.rng.between(1, 2));
                (format!("for ({text} {name} = 0; {name} < {count}; {name} = {name} + {step}) "), ty)
            }
        };
        self.open(format!("{head}{{"));
        self.scoped(|this| {
            this.declare(&name, ty, false);
            this.scope.loops += 1;
            this.statements(3);
        });
        self.close("}");
        true
    }

    fn jump(&mut self) -> bool {
        let mut ways = Vec::new();
        if self.scope.loops > 0 {
            ways.extend(["break;".to_owned(), "continue;".to_owned()]);
        }
        match (self.scope.code, self.scope.returns.clone()) {
            (Code::Function, Some(ty)) => {
                if let Some(value) = self.any_expr(&ty, 2) {
                    ways.push(format!("return {value};"));
                }
            }
            (Code::Function, None) => ways.push("return;".into()),
            (Code::Action | Code::Control, _) => ways.extend(["return;".to_owned(), "exit;".to_owned()]),
            (Code::Parser, _) => {}
        }
        let Some(way) = self.pick(&ways) else { return false };
        let condition = self.some_expr(&Ty::Bool);
        self.open(format!("if ({condition}) {{"));
        self.line(way);
        self.close("}");
        true
    }

    fn call_statement(&mut self) -> bool {
        let mut callables = self.functions.clone();
        if matches!(self.scope.code, Code::Action | Code::Control) {
            callables.extend(self.scope.actions.clone());
        }
        callables.extend(self.scope.methods.clone());
        let instances = self.scope.instances.clone();
        if let Some(instance) = self.pick(&instances).filter(|_| self.once_in(2)) {
            let Some(args) = self.arguments(&instance, 2) else { return false };
            let first = if self.scope.code == Code::Parser { "packet, " } else { "" };
            let args = format!("{first}{args}");
            // An argument without a name must not follow a named one.
            if first.is_empty() || !args.contains(" = ") {
                self.line(format!("{}.apply({});", instance.name, args.trim_end_matches(", ")));
                return true;
            }
            return false;
        }
        let Some(callable) = self.pick(&callables) else { return false };
        let Some(args) = self.arguments(&callable, 2) else { return false };
        self.line(format!("{}({args});", callable.name));
        true
    }

    fn header_operation(&mut self) -> bool {
        let headers = self.values(|value| value.writable && self.is_header(&value.ty));
        let Some(header) = self.pick(&headers) else { return false };
        let method = if self.once_in(3) { "setInvalid" } else { "setValid" };
        self.line(format!("{}.{method}();", header.text));
        true
    }

    fn stack_operation(&mut self) -> bool {
        let stacks = self.values(|value| match &value.ty {
            Ty::Array(element, _) => value.writable && !self.is_scalar(element),
            _ => false,
        });
        let Some(stack) = self.pick(&stacks) else { return false };
        let method = *self.rng.pick(&["push_front", "pop_front"]);
        let count = self.rng.between(1, 4);
        self.line(format!("{}.{method}({count});", stack.text));
        true
    }

    /// Parameters of a callee.
    pub fn params(&mut self, count_max: u64) -> Vec<Param> {
        let mut params = Vec::new();
        for _ in 0..self.rng.below(count_max + 1) {
            let direction = *self.rng.pick(&[Direction::In, Direction::In, Direction::Out, Direction::InOut]);
            params.push(Param { name: self.name("p"), ty: self.any_type(), direction, optional: false });
        }
        params
    }

    pub fn params_text(&mut self, params: &mut [Param]) -> String {
        let mut texts = Vec::new();
        let count = params.len();
        for (index, param) in params.iter_mut().enumerate() {
            let ty = self.type_text(&param.ty);
            let mut text = format!("{}{ty} {}", param.direction.word(), param.name);
            // Only the last one, so that positional arguments work.
            if param.direction == Direction::In
                && index + 1 == count
                && self.is_scalar(&param.ty)
                && self.has(Feature::Defaults)
                && self.once_in(3)
            {
                let value = self.constant(&param.ty);
                text = format!("{text} = {value}");
                param.optional = true;
            }
            texts.push(text);
        }
        texts.join(", ")
    }

    /// A callee's body, with its own budget.
    pub fn callee_body(&mut self, code: Code, params: &[Param], returns: Option<Ty>) {
        let budget = std::mem::replace(&mut self.budget, 2 * CALLEE_STATEMENTS_MAX as u32);
        self.scoped(|this| {
            this.scope.code = code;
            if code == Code::Function {
                this.scope.values.retain(|value| value.text.starts_with("CONST"));
                this.scope.actions.clear();
                this.scope.methods.clear();
                this.scope.objects.clear();
                this.scope.block = Block::None;
                this.scope.standard_metadata = None;
            }
            let tables = std::mem::take(&mut this.scope.tables);
            let instances = std::mem::take(&mut this.scope.instances);
            this.scope.loops = 0;
            this.scope.returns = returns.clone();
            this.declare_params(params);
            this.statements(CALLEE_STATEMENTS_MAX);
            if let Some(ty) = &returns {
                let value = this.any_expr(ty, 2);
                let value = value.map_or("{}".to_owned(), |value| value.to_string());
                this.line(format!("return {value};"));
            }
            this.scope.tables = tables;
            this.scope.instances = instances;
        });
        self.budget = budget;
    }

    pub fn function(&mut self) {
        let mut params = self.params(3);
        let returns = if self.once_in(4) { None } else { Some(self.scalar()) };
        let returns = match returns {
            Some(_) if self.has(Feature::Structs) && self.once_in(5) => {
                let structs = self.declared(|shape| matches!(shape, Shape::Struct(_)));
                self.pick(&structs).filter(|ty| self.can_make(ty))
            }
            other => other,
        };
        let name = self.name("fn");
        let result = returns.as_ref().map_or("void".to_owned(), |ty| self.type_text(ty));
        let params_text = self.params_text(&mut params);
        self.annotation();
        self.open(format!("{result} {name}({params_text}) {{"));
        self.callee_body(Code::Function, &params, returns.clone());
        self.close("}");
        self.functions.push(Callable { name, params, returns });
    }

    /// Whether a value of the type can be written without reading one.
    fn can_make(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(..) | Ty::Varbit(_) => false,
            Ty::Tuple(parts) => parts.iter().all(|part| self.can_make(part)),
            Ty::Declared(index) => match &self.types[*index].shape {
                Shape::Struct(fields) | Shape::Header(fields) => fields.iter().all(|(_, ty)| self.can_make(ty)),
                Shape::Union(_) => false,
                Shape::Enum(_) | Shape::Serializable { .. } | Shape::NewType(_) => true,
            },
            Ty::Bool | Ty::Bit(_) | Ty::Int(_) | Ty::Error => true,
        }
    }

    /// Generates an action. An action for tables also has parameters without direction, which come last.
    pub fn action(&mut self) {
        let mut params = if self.once_in(3) { self.params(2) } else { Vec::new() };
        let mut text = self.params_text(&mut params);
        params.iter_mut().for_each(|param| param.optional = false);
        // A parameter with a default value must not precede one without.
        if text.contains('=') {
            params.clear();
            text.clear();
        }
        for _ in 0..self.rng.below(4) {
            let name = self.name("d");
            let ty = match self.scalar() {
                Ty::Error => Ty::Bit(9),
                Ty::Declared(index) if matches!(self.types[index].shape, Shape::Enum(_)) => Ty::Bit(5),
                ty => ty,
            };
            let ty_text = self.type_text(&ty);
            text = format!("{text}{}{ty_text} {name}", if text.is_empty() { "" } else { ", " });
            params.push(Param { name, ty, direction: Direction::None, optional: false });
        }
        let name = self.name("act");
        if self.once_in(5) {
            self.line(format!("@name(\".named_{name}\")"));
        }
        self.annotation();
        self.open(format!("action {name}({text}) {{"));
        self.callee_body(Code::Action, &params, None);
        self.close("}");
        self.scope.actions.push(Callable { name, params, returns: None });
    }
}
