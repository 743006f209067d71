//! The syntax tree as P4 text.
//!
//! The text parses back to the same tree; comments, macros and the original layout are lost. It has no more parentheses
//! than the tree requires.
//!
//! * this module: declarations;
//! * `statements`, `expressions` (with types and annotations).

mod expressions;
mod statements;

use crate::ast::{
    ApplyType, ControlDeclaration, Declaration, DeclarationKind, EnumDeclaration, ExternMember, ExternMemberKind,
    ExternObject, FunctionPrototype, Ident, Instantiation, Parameter, ParserDeclaration, ParserState, Program,
    StructDeclaration, StructKind, Table, TableProperty, TablePropertyKind, Transition, TransitionKind, Type, Typedef,
    TypedefTarget,
};

/// The program as P4 text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), depth: 0 };
    for (index, declaration) in program.declarations.iter().enumerate() {
        if index > 0 {
            printer.text.push('\n');
        }
        printer.declaration_line(declaration);
    }
    printer.text
}

/// Collects the text.
struct Printer {
    text: String,
    /// The number of open braces.
    depth: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
    }

    fn name(&mut self, name: &Ident) {
        self.put(name.as_str());
    }

    /// `items`, separated by `between`.
    fn joined<T>(&mut self, items: &[T], between: &str, mut item: impl FnMut(&mut Self, &T)) {
        for (index, each) in items.iter().enumerate() {
            if index > 0 {
                self.put(between);
            }
            item(self, each);
        }
    }

    /// `{`, each item on lines of its own, `}`. The items write their line breaks.
    fn braced<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.put("{\n");
        self.depth += 1;
        for each in items {
            self.indent();
            item(self, each);
        }
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    /// A declaration, indented, with a line break at its end.
    fn declaration_line(&mut self, declaration: &Declaration) {
        self.indent();
        self.declaration(declaration);
        self.put("\n");
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.annotations(&declaration.annotations);
        match &declaration.kind {
            DeclarationKind::Constant(it) => {
                self.put("const ");
                self.typed_name(&it.type_ref, &it.name);
                self.put(" = ");
                self.expression(&it.value);
                self.put(";");
            }
            DeclarationKind::Variable(it) => {
                self.variable(it);
                self.put(";");
            }
            DeclarationKind::Instantiation(it) => self.instantiation(it),
            DeclarationKind::Struct(it) => self.struct_declaration(it),
            DeclarationKind::Typedef(it) => self.typedef(it),
            DeclarationKind::Enum(it) => self.enum_declaration(it),
            DeclarationKind::Error(names) => self.identifier_list("error", names),
            DeclarationKind::MatchKind(names) => self.identifier_list("match_kind", names),
            DeclarationKind::ExternObject(it) => self.extern_object(it),
            DeclarationKind::ExternFunction(it) => {
                self.put("extern ");
                self.prototype(it);
                self.put(";");
            }
            DeclarationKind::Action(it) => {
                self.put("action ");
                self.name(&it.name);
                self.parameters(&it.parameters);
                self.put(" ");
                self.block(&it.body);
            }
            DeclarationKind::Function(it) => {
                self.prototype(&it.prototype);
                self.put(" ");
                self.block(&it.body);
            }
            DeclarationKind::ParserType(it) => self.type_declaration("parser ", it),
            DeclarationKind::ControlType(it) => self.type_declaration("control ", it),
            DeclarationKind::Package(it) => self.type_declaration("package ", it),
            DeclarationKind::Parser(it) => self.parser(it),
            DeclarationKind::Control(it) => self.control(it),
            DeclarationKind::Table(it) => self.table(it),
            DeclarationKind::ValueSet(it) => {
                self.put("value_set<");
                self.type_ref(&it.element_type);
                self.put(">(");
                self.expression(&it.size);
                self.put(") ");
                self.name(&it.name);
                self.put(";");
            }
        }
    }

    fn typed_name(&mut self, type_ref: &Type, name: &Ident) {
        self.type_ref(type_ref);
        self.put(" ");
        self.name(name);
    }

    fn instantiation(&mut self, it: &Instantiation) {
        self.type_ref(&it.type_ref);
        self.arguments(&it.arguments);
        self.put(" ");
        self.name(&it.name);
        if let Some(declarations) = &it.initializer {
            self.put(" = ");
            self.braced(declarations, |this, declaration| {
                this.declaration(declaration);
                this.put("\n");
            });
        }
        self.put(";");
    }

    fn struct_declaration(&mut self, it: &StructDeclaration) {
        self.put(match it.kind {
            StructKind::Struct => "struct ",
            StructKind::Header => "header ",
            StructKind::HeaderUnion => "header_union ",
        });
        self.name(&it.name);
        self.type_parameters(&it.type_parameters);
        self.put(" ");
        self.braced(&it.fields, |this, field| {
            this.annotations(&field.annotations);
            this.typed_name(&field.type_ref, &field.name);
            this.put(";\n");
        });
    }

    fn typedef(&mut self, it: &Typedef) {
        self.put(if it.is_new_type { "type " } else { "typedef " });
        match &it.target {
            TypedefTarget::Type(type_ref) => self.type_ref(type_ref),
            TypedefTarget::Declaration(declaration) => self.declaration(declaration),
        }
        self.put(" ");
        self.name(&it.name);
        self.put(";");
    }

    fn enum_declaration(&mut self, it: &EnumDeclaration) {
        self.put("enum ");
        if let Some(representation) = &it.representation {
            self.type_ref(representation);
            self.put(" ");
        }
        self.name(&it.name);
        self.put(" ");
        self.braced(&it.members, |this, member| {
            this.name(&member.name);
            if let Some(value) = &member.value {
                this.put(" = ");
                this.expression(value);
            }
            this.put(",\n");
        });
    }

    fn identifier_list(&mut self, keyword: &str, names: &[Ident]) {
        self.put(keyword);
        self.put(" ");
        self.braced(names, |this, name| {
            this.name(name);
            this.put(",\n");
        });
    }

    fn extern_object(&mut self, it: &ExternObject) {
        self.put("extern ");
        self.name(&it.name);
        self.type_parameters(&it.type_parameters);
        self.put(" ");
        self.braced(&it.members, Self::extern_member);
    }

    fn extern_member(&mut self, member: &ExternMember) {
        self.annotations(&member.annotations);
        match &member.kind {
            ExternMemberKind::Constructor { name, parameters } => {
                self.name(name);
                self.parameters(parameters);
            }
            ExternMemberKind::Method { is_abstract, prototype } => {
                self.put(if *is_abstract { "abstract " } else { "" });
                self.prototype(prototype);
            }
        }
        self.put(";\n");
    }

    fn prototype(&mut self, it: &FunctionPrototype) {
        self.typed_name(&it.return_type, &it.name);
        self.type_parameters(&it.type_parameters);
        self.parameters(&it.parameters);
    }

    fn type_parameters(&mut self, names: &[Ident]) {
        if !names.is_empty() {
            self.put("<");
            self.joined(names, ", ", Self::name);
            self.put(">");
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        self.put("(");
        self.joined(parameters, ", ", Self::parameter);
        self.put(")");
    }

    fn apply_type(&mut self, keyword: &str, it: &ApplyType) {
        self.put(keyword);
        self.name(&it.name);
        self.type_parameters(&it.type_parameters);
        self.parameters(&it.parameters);
    }

    fn type_declaration(&mut self, keyword: &str, it: &ApplyType) {
        self.apply_type(keyword, it);
        self.put(";");
    }

    fn constructor_parameters(&mut self, parameters: &[Parameter]) {
        if !parameters.is_empty() {
            self.parameters(parameters);
        }
    }

    fn parser(&mut self, it: &ParserDeclaration) {
        self.apply_type("parser ", &it.signature);
        self.constructor_parameters(&it.constructor_parameters);
        self.put(" {\n");
        self.depth += 1;
        it.locals.iter().for_each(|local| self.declaration_line(local));
        it.states.iter().for_each(|state| self.state(state));
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    fn state(&mut self, state: &ParserState) {
        self.indent();
        self.annotations(&state.annotations);
        self.put("state ");
        self.name(&state.name);
        self.put(" {\n");
        self.depth += 1;
        for statement in &state.statements {
            self.indent();
            self.statement(statement);
            self.put("\n");
        }
        if let Some(transition) = &state.transition {
            self.indent();
            self.transition(transition);
            self.put("\n");
        }
        self.depth -= 1;
        self.indent();
        self.put("}\n");
    }

    fn transition(&mut self, transition: &Transition) {
        self.put("transition ");
        match &transition.kind {
            TransitionKind::Direct(next) => {
                self.name(next);
                self.put(";");
            }
            TransitionKind::Select { keys, cases } => {
                self.put("select (");
                self.joined(keys, ", ", Self::expression);
                self.put(") ");
                self.braced(cases, |this, case| {
                    this.keyset(&case.keyset);
                    this.put(": ");
                    this.name(&case.next);
                    this.put(";\n");
                });
            }
        }
    }

    fn control(&mut self, it: &ControlDeclaration) {
        self.apply_type("control ", &it.signature);
        self.constructor_parameters(&it.constructor_parameters);
        self.put(" {\n");
        self.depth += 1;
        it.locals.iter().for_each(|local| self.declaration_line(local));
        self.indent();
        self.put("apply ");
        self.block(&it.body);
        self.put("\n");
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    fn table(&mut self, it: &Table) {
        self.put("table ");
        self.name(&it.name);
        self.put(" ");
        self.braced(&it.properties, |this, property| {
            this.table_property(property);
            this.put("\n");
        });
    }

    fn table_property(&mut self, property: &TableProperty) {
        self.annotations(&property.annotations);
        self.put(if property.is_const { "const " } else { "" });
        match &property.kind {
            TablePropertyKind::Key(elements) => {
                self.put("key = ");
                self.braced(elements, |this, element| {
                    this.expression(&element.expression);
                    this.put(": ");
                    this.name(&element.match_kind);
                    this.trailing_annotations(&element.annotations);
                    this.put(";\n");
                });
            }
            TablePropertyKind::Actions(elements) => {
                self.put("actions = ");
                self.braced(elements, |this, element| {
                    this.annotations(&element.annotations);
                    this.action_ref(&element.action);
                    this.put(";\n");
                });
            }
            TablePropertyKind::Entries(entries) => {
                self.put("entries = ");
                self.braced(entries, |this, entry| {
                    this.put(if entry.is_const { "const " } else { "" });
                    if let Some(priority) = &entry.priority {
                        this.put("priority = ");
                        this.expression(priority);
                        this.put(": ");
                    }
                    this.keyset(&entry.keyset);
                    this.put(": ");
                    this.action_ref(&entry.action);
                    this.trailing_annotations(&entry.annotations);
                    this.put(";\n");
                });
            }
            TablePropertyKind::DefaultAction(value) => self.property_value("default_action", value),
            TablePropertyKind::Size(value) => self.property_value("size", value),
            TablePropertyKind::Other { name, value } => self.property_value(name.as_str(), value),
        }
    }
}
