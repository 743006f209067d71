//! Actions, tables, profiles, stateful memories and externs.

use super::{Parsed, Parser};
use crate::ast::{
    Action, Array, ArrayKind, Call, Expr, ExprKind, ExternInstance, ExternMethod, ExternParameter, ExternType, Ident,
    Key, Parameter, Profile, Selector, Table,
};

impl Parser<'_> {
    /// `counter`, `meter` or `register`
    pub(super) fn array(&mut self) -> Parsed<()> {
        let kind = match &*self.bump().text {
            "counter" => ArrayKind::Counter,
            "meter" => ArrayKind::Meter,
            _ => ArrayKind::Register,
        };
        let name = self.name("a name")?;
        let mut it = Array {
            kind,
            name,
            unit: None,
            direct: None,
            bound: None,
            instance_count: None,
            result: None,
            width: None,
            layout: None,
            is_signed: false,
            min_width: None,
            pragmas: std::mem::take(&mut self.own_pragmas),
        };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            self.array_property(&mut it)?;
        }
        self.program.arrays.push(it);
        Ok(())
    }

    /// One property of a counter, a meter or a register.
    fn array_property(&mut self, it: &mut Array) -> Parsed<()> {
        let part = self.name("a property")?;
        let (text, span) = (part.name.clone(), part.span);
        match (part.as_str(), it.kind) {
            ("type", ArrayKind::Counter | ArrayKind::Meter) => {
                let value = self.name_property("what is counted")?;
                self.set(&mut it.unit, value, &text, span);
            }
            ("direct", _) => {
                let value = self.name_property("the name of a table")?;
                self.set(&mut it.direct, value, &text, span);
            }
            ("static", _) => {
                let value = self.name_property("the name of a table")?;
                self.set(&mut it.bound, value, &text, span);
            }
            ("instance_count", _) => {
                let value = self.property()?;
                self.set(&mut it.instance_count, value, &text, span);
            }
            ("min_width", ArrayKind::Counter) => {
                let value = self.property()?;
                self.set(&mut it.min_width, value, &text, span);
            }
            ("saturating", ArrayKind::Counter) => {
                self.expect(";")?;
            }
            ("result" | "pre_color", ArrayKind::Meter) => {
                let value = self.property()?;
                if part.as_str() == "result" {
                    self.set(&mut it.result, value, &text, span);
                }
            }
            ("implementation", ArrayKind::Meter) => {
                self.name_property("the name of an implementation")?;
            }
            ("width", ArrayKind::Register) => {
                let value = self.property()?;
                self.set(&mut it.width, value, &text, span);
            }
            ("layout", ArrayKind::Register) => {
                let value = self.name_property("the name of a header type")?;
                self.set(&mut it.layout, value, &text, span);
            }
            ("attributes", ArrayKind::Register) => {
                self.expect(":")?;
                loop {
                    it.is_signed |= self.name("`signed` or `saturating`")?.as_str() == "signed";
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(";")?;
            }
            _ => {
                self.next -= 1;
                return self.unexpected("a property");
            }
        }
        Ok(())
    }

    /// `action name(parameters) { calls }`, or `action name(parameters);` of a primitive.
    pub(super) fn action(&mut self) -> Parsed<()> {
        self.bump();
        let pragmas = std::mem::take(&mut self.own_pragmas);
        let name = self.name("the name of an action")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.at(")") {
            parameters.push(self.parameter()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        // A primitive is declared without a body. The known primitives need no declaration.
        if self.take(";") {
            return Ok(());
        }
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.take("}") {
            self.pragmas();
            if self.take(";") {
                continue;
            }
            body.push(self.action_statement()?);
        }
        self.program.actions.push(Action { name, parameters, body, pragmas });
        Ok(())
    }

    /// `name`, or, in 1.1, `in bit<8> name`, `bit name`, `inout header name`. The last word is the name; an undeclared
    /// width follows from the uses.
    fn parameter(&mut self) -> Parsed<Parameter> {
        let mut shape = None;
        loop {
            self.pragmas();
            let next = self.peek_at(1);
            let is_word_next = next.kind == syntax::LexemeKind::Word;
            let is_width_next = &*next.text == "<";
            let is_type = self.at_word("bit") || self.at_word("int");
            if is_type && is_width_next || self.at_word("bit") && is_word_next {
                shape = Some(self.bit_type()?);
            } else if self.at_any_word() && is_word_next {
                self.bump();
            } else {
                return Ok(Parameter { name: self.name("the name of a parameter")?, shape });
            }
        }
    }

    /// A call, or an assignment, which is parsed as `modify_field`.
    pub(super) fn action_statement(&mut self) -> Parsed<Call> {
        let start = self.peek().span;
        self.refuse_variable()?;
        let is_method = &*self.peek_at(1).text == "." && &*self.peek_at(3).text == "(";
        if is_method && self.at_any_word() {
            let object = self.name("the name of an extern")?;
            self.bump();
            let name = self.name("the name of a method")?;
            let arguments = self.arguments()?;
            self.expect(";")?;
            return Ok(Call { object: Some(object), name, arguments, span: self.span_from(start) });
        }
        // Before a parenthesis every word is a name, even one with another meaning in expressions.
        let target = match self.at_any_word() && &*self.peek_at(1).text == "(" {
            true => {
                let name = self.bump();
                Expr { kind: ExprKind::Name(name.text), span: name.span }
            }
            false => self.expression()?,
        };
        if self.take("=") {
            let value = self.expression()?;
            self.expect(";")?;
            let span = self.span_from(start);
            let name = Ident { name: "modify_field".into(), span: target.span };
            return Ok(Call { object: None, name, arguments: vec![target, value], span });
        }
        let name = match target.kind {
            ExprKind::Name(name) => Ident { name, span: target.span },
            ExprKind::Member(base, member) => {
                self.refuse_method(&base, &member)?;
                return self.unexpected("`=`");
            }
            _ => return self.unexpected("`=`"),
        };
        let arguments = self.arguments()?;
        self.expect(";")?;
        Ok(Call { object: None, name, arguments, span: self.span_from(start) })
    }

    /// `(a, b)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.at(")") {
            arguments.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    /// `action_profile name { ... }`
    pub(super) fn profile(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of an action profile")?;
        let pragmas = std::mem::take(&mut self.own_pragmas);
        let mut it = Profile { name, actions: Vec::new(), size: None, selector: None, pragmas };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.take_word("actions") {
                it.actions.extend(self.names_in_braces("the name of an action")?);
            } else if self.take_word("size") {
                let value = self.property()?;
                self.set(&mut it.size, value, "size", start);
            } else if self.take_word("dynamic_action_selection") {
                let value = self.name_property("the name of an action selector")?;
                self.set(&mut it.selector, value, "dynamic_action_selection", start);
            } else {
                return self.unexpected("`actions`, `size` or `dynamic_action_selection`");
            }
        }
        self.program.profiles.push(it);
        Ok(())
    }

    /// `action_selector name { selection_key : calculation; }`
    pub(super) fn selector(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of an action selector")?;
        let mut it = Selector { name, key: None, mode: None, kind: None };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.take_word("selection_key") {
                let value = self.name_property("the name of a calculation")?;
                self.set(&mut it.key, value, "selection_key", start);
            } else if self.take_word("selection_mode") {
                let value = self.name_property("a mode")?;
                self.set(&mut it.mode, value, "selection_mode", start);
            } else if self.take_word("selection_type") {
                let value = self.name_property("a type")?;
                self.set(&mut it.kind, value, "selection_type", start);
            } else {
                return self.unexpected("`selection_key`");
            }
        }
        self.program.selectors.push(it);
        Ok(())
    }

    /// `table name { ... }`
    pub(super) fn table(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a table")?;
        let mut it = Table {
            name,
            keys: Vec::new(),
            actions: None,
            profile: None,
            default_action: None,
            is_default_const: false,
            size: None,
            min_size: None,
            max_size: None,
            support_timeout: false,
            pragmas: std::mem::take(&mut self.own_pragmas),
        };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            if self.at_word("const") && &*self.peek_at(1).text == "default_action" {
                self.bump();
                it.is_default_const = true;
            }
            let part = self.name("a property of the table")?;
            self.table_property(&mut it, &part)?;
        }
        self.program.tables.push(it);
        Ok(())
    }

    fn table_property(&mut self, it: &mut Table, part: &Ident) -> Parsed<()> {
        let span = part.span;
        match part.as_str() {
            "reads" => {
                self.expect("{")?;
                while !self.take("}") {
                    self.pragmas();
                    let key = self.key()?;
                    it.keys.push(key);
                }
            }
            "actions" => {
                let names = self.names_in_braces("the name of an action")?;
                it.actions.get_or_insert_default().extend(names);
            }
            "action_profile" => {
                let value = self.name_property("the name of an action profile")?;
                self.set(&mut it.profile, value, "action_profile", span);
            }
            "default_action" => {
                self.expect(":")?;
                let action = self.name("the name of an action")?;
                let arguments = if self.at("(") { Some(self.arguments()?) } else { None };
                self.expect(";")?;
                self.set(&mut it.default_action, (action, arguments), "default_action", span);
            }
            "size" | "min_size" | "max_size" => {
                let value = self.property()?;
                let slot = match part.as_str() {
                    "size" => &mut it.size,
                    "min_size" => &mut it.min_size,
                    _ => &mut it.max_size,
                };
                if slot.is_some() {
                    self.repeated(part.as_str(), span);
                }
                *slot = Some(value);
            }
            "support_timeout" => {
                it.support_timeout = self.name_property("`true` or `false`")?.as_str() == "true";
            }
            _ => {
                self.next -= 1;
                return self.unexpected("a property of the table");
            }
        }
        Ok(())
    }

    /// `field mask number : kind;`
    fn key(&mut self) -> Parsed<Key> {
        let start = self.peek().span;
        let expression = self.expression()?;
        let mask = if self.take_word("mask") || self.take("&&&") { Some(self.expression()?) } else { None };
        self.expect(":")?;
        let kind = self.name("a match kind")?;
        self.expect(";")?;
        Ok(Key { expression, mask, kind, span: self.span_from(start) })
    }

    /// `extern_type name { attribute name { ... } method name(parameters); }`
    pub(super) fn extern_type(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of an extern type")?;
        let mut it = ExternType { name, attributes: Vec::new(), methods: Vec::new() };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            if self.take_word("attribute") {
                it.attributes.push(self.name("the name of an attribute")?);
                if self.at("{") {
                    self.skip_balanced();
                } else {
                    self.expect(";")?;
                }
            } else if self.take_word("method") {
                let method = self.method()?;
                it.methods.push(method);
            } else {
                return self.unexpected("`attribute` or `method`");
            }
        }
        self.program.extern_types.push(it);
        Ok(())
    }

    /// `name(in bit<32> a, optional out header b) { ... }`: the last word of each parameter is its name.
    fn method(&mut self) -> Parsed<ExternMethod> {
        let mut method = ExternMethod { name: self.name("the name of a method")?, parameters: Vec::new() };
        self.expect("(")?;
        while !self.at(")") {
            method.parameters.push(self.extern_parameter()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        if self.at("{") {
            self.skip_balanced();
        } else {
            self.expect(";")?;
        }
        Ok(method)
    }

    fn extern_parameter(&mut self) -> Parsed<ExternParameter> {
        let (mut is_optional, mut is_written, mut shape) = (false, false, None);
        let name = loop {
            let is_width_next = &*self.peek_at(1).text == "<";
            let is_one_bit = self.at_word("bit") && self.peek_at(1).kind == syntax::LexemeKind::Word;
            if is_one_bit || is_width_next && (self.at_word("bit") || self.at_word("int")) {
                shape = Some(self.bit_type()?);
                continue;
            }
            let word = self.name("the name of a parameter")?;
            if self.take("<") {
                self.rest_of_angles()?;
            } else if self.at(",") || self.at(")") {
                break word;
            }
            is_optional |= word.as_str() == "optional";
            is_written |= matches!(word.as_str(), "out" | "inout");
        };
        Ok(ExternParameter { name, is_optional, is_written, shape })
    }

    fn rest_of_angles(&mut self) -> Parsed<()> {
        while !self.at_end() {
            if self.take(">") {
                return Ok(());
            }
            self.bump();
        }
        self.unexpected("`>`")
    }

    /// `extern type name { attribute : value; }` or `extern type name;`
    pub(super) fn extern_instance(&mut self) -> Parsed<()> {
        self.bump();
        let type_name = self.name("the name of an extern type")?;
        let name = self.name("the name of an instance")?;
        let mut it = ExternInstance { type_name, name, attributes: Vec::new() };
        if self.take("{") {
            while !self.take("}") {
                self.pragmas();
                it.attributes.push(self.name("the name of an attribute")?);
                if self.at("{") {
                    self.skip_balanced();
                    continue;
                }
                self.expect(":")?;
                while !self.at_end() && !self.at(";") && !self.at("}") {
                    self.bump();
                }
                self.expect(";")?;
            }
        } else {
            self.expect(";")?;
        }
        self.program.externs.push(it);
        Ok(())
    }
}
