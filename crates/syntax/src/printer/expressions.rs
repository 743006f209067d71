//! Expressions, types and annotations as P4 text.

use super::Printer;
use crate::ast::{
    ActionRef, Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Argument, Direction, Expr, ExprKind,
    KeyValue, Keyset, Parameter, Path, Type, TypeKind,
};
use crate::literal;
use crate::parser::precedence;

/// The binding strengths above the precedence of infix operators.
const PREFIX: u32 = 20;
const POSTFIX: u32 = 30;

fn binding(expression: &Expr) -> u32 {
    match &expression.kind {
        ExprKind::Conditional { .. } | ExprKind::Mask { .. } | ExprKind::Range { .. } => 0,
        ExprKind::Binary { operator, .. } => precedence(*operator),
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => PREFIX,
        _ => POSTFIX,
    }
}

impl Printer {
    pub(super) fn expression(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Integer(literal) => self.put(&literal.to_string()),
            ExprKind::String(text) => self.string(text),
            ExprKind::Name(path) => self.path(path),
            ExprKind::Type(type_ref) => self.type_ref(type_ref),
            ExprKind::This => self.put("this"),
            ExprKind::DontCare => self.put("_"),
            ExprKind::Default => self.put("default"),
            ExprKind::Dots => self.put("..."),
            ExprKind::Invalid => self.put("{#}"),
            ExprKind::List(elements) => {
                self.put("{");
                self.joined(elements, ", ", Self::expression);
                self.put("}");
            }
            ExprKind::Struct { fields, has_dots } => {
                self.put("{");
                self.joined(fields, ", ", Self::key_value);
                self.put(if *has_dots { ", ..." } else { "" });
                self.put("}");
            }
            ExprKind::Call { callee, type_arguments, arguments } => {
                self.operand(callee, POSTFIX);
                if !type_arguments.is_empty() {
                    self.type_arguments(type_arguments);
                }
                self.arguments(arguments);
            }
            ExprKind::Cast { type_ref, operand } => {
                self.put("(");
                self.type_ref(type_ref);
                self.put(")");
                self.operand(operand, PREFIX);
            }
            _ => self.operation(expression),
        }
    }

    /// Operators, members and subscripts.
    fn operation(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Member { base, member } => {
                self.operand(base, POSTFIX);
                self.put(".");
                self.name(member);
            }
            ExprKind::Index { base, index } => self.subscript(base, index, None),
            ExprKind::Slice { base, high, low } => self.subscript(base, high, Some((":", low))),
            ExprKind::IndexedSlice { base, low, width } => self.subscript(base, low, Some((" +: ", width))),
            ExprKind::Unary { operator, operand } => {
                self.put(operator.as_str());
                // `++` would be read as one operator.
                let is_unary = matches!(operand.kind, ExprKind::Unary { .. });
                self.put(if is_unary && operator.as_str() == "+" { " " } else { "" });
                self.operand(operand, PREFIX);
            }
            ExprKind::Binary { operator, left, right } => {
                self.operand(left, precedence(*operator));
                self.infix(operator.as_str());
                self.operand(right, precedence(*operator) + 1);
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                self.operand(condition, 1);
                self.infix("?");
                self.expression(then_value);
                self.infix(":");
                self.expression(else_value);
            }
            ExprKind::Mask { value, mask } => {
                self.expression(value);
                self.infix("&&&");
                self.expression(mask);
            }
            ExprKind::Range { low, high } => {
                self.expression(low);
                self.infix("..");
                self.expression(high);
            }
            _ => {}
        }
    }

    fn infix(&mut self, operator: &str) {
        self.put(" ");
        self.put(operator);
        self.put(" ");
    }

    /// An expression, in parentheses if it binds less tightly than `binding_min`.
    fn operand(&mut self, expression: &Expr, binding_min: u32) {
        if binding(expression) >= binding_min {
            return self.expression(expression);
        }
        self.put("(");
        self.expression(expression);
        self.put(")");
    }

    fn subscript(&mut self, base: &Expr, first: &Expr, second: Option<(&str, &Expr)>) {
        self.operand(base, POSTFIX);
        self.put("[");
        self.expression(first);
        if let Some((separator, second)) = second {
            self.put(separator);
            self.expression(second);
        }
        self.put("]");
    }

    fn string(&mut self, text: &str) {
        self.put("\"");
        self.put(&literal::escape(text));
        self.put("\"");
    }

    fn path(&mut self, path: &Path) {
        self.put(if path.is_global { "." } else { "" });
        self.name(&path.name);
    }

    fn key_value(&mut self, it: &KeyValue) {
        self.name(&it.key);
        self.put(" = ");
        self.expression(&it.value);
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument]) {
        self.put("(");
        self.joined(arguments, ", ", |this, argument| {
            if let Some(name) = &argument.name {
                this.name(name);
                this.put(" = ");
            }
            this.expression(&argument.value);
        });
        self.put(")");
    }

    pub(super) fn keyset(&mut self, keyset: &Keyset) {
        match keyset.elements.as_slice() {
            [only] => self.expression(only),
            elements => {
                self.put("(");
                self.joined(elements, ", ", Self::expression);
                self.put(")");
            }
        }
    }

    pub(super) fn action_ref(&mut self, action: &ActionRef) {
        self.path(&action.path);
        if let Some(arguments) = &action.arguments {
            self.arguments(arguments);
        }
    }

    pub(super) fn property_value(&mut self, name: &str, value: &Expr) {
        self.put(name);
        self.put(" = ");
        self.expression(value);
        self.put(";");
    }

    pub(super) fn type_ref(&mut self, type_ref: &Type) {
        match &type_ref.kind {
            TypeKind::Bool => self.put("bool"),
            TypeKind::Error => self.put("error"),
            TypeKind::MatchKind => self.put("match_kind"),
            TypeKind::String => self.put("string"),
            TypeKind::Void => self.put("void"),
            TypeKind::Integer => self.put("int"),
            TypeKind::DontCare => self.put("_"),
            TypeKind::Bit(None) => self.put("bit"),
            TypeKind::Bit(Some(width)) => self.sized("bit", width),
            TypeKind::Int(width) => self.sized("int", width),
            TypeKind::Varbit(width) => self.sized("varbit", width),
            TypeKind::Named(path) => self.path(path),
            TypeKind::Specialized { base, arguments } => {
                self.path(base);
                self.type_arguments(arguments);
            }
            TypeKind::Array { element, size } => {
                self.type_ref(element);
                self.put("[");
                self.expression(size);
                self.put("]");
            }
            TypeKind::Tuple(arguments) => {
                self.put("tuple");
                self.type_arguments(arguments);
            }
            TypeKind::List(element) => {
                self.put("list<");
                self.type_ref(element);
                self.put(">");
            }
        }
    }

    fn sized(&mut self, name: &str, width: &Expr) {
        self.put(name);
        self.put("<");
        let is_literal = matches!(width.kind, ExprKind::Integer(_));
        self.put(if is_literal { "" } else { "(" });
        self.expression(width);
        self.put(if is_literal { ">" } else { ")>" });
    }

    fn type_arguments(&mut self, arguments: &[Type]) {
        self.put("<");
        self.joined(arguments, ", ", Self::type_ref);
        self.put(">");
    }

    pub(super) fn parameter(&mut self, parameter: &Parameter) {
        self.annotations(&parameter.annotations);
        self.put(match parameter.direction {
            Direction::None => "",
            Direction::In => "in ",
            Direction::Out => "out ",
            Direction::InOut => "inout ",
        });
        self.type_ref(&parameter.type_ref);
        self.put(" ");
        self.name(&parameter.name);
        if let Some(default) = &parameter.default {
            self.put(" = ");
            self.expression(default);
        }
    }

    /// Annotations before something.
    pub(super) fn annotations(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation(annotation);
            // A pragma extends to the end of its line.
            self.put(if annotation.is_pragma { "\n" } else { " " });
        }
    }

    /// Annotations after something.
    pub(super) fn trailing_annotations(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.put(" ");
            self.annotation(annotation);
            self.put(if annotation.is_pragma { "\n" } else { "" });
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        self.put(if annotation.is_pragma { "@pragma " } else { "@" });
        self.name(&annotation.name);
        match &annotation.body {
            AnnotationBody::Empty => {}
            AnnotationBody::Unstructured { tokens, .. } if annotation.is_pragma => {
                self.put(" ");
                self.joined(tokens, " ", Self::annotation_token);
            }
            AnnotationBody::Unstructured { tokens, .. } => {
                self.put("(");
                self.joined(tokens, " ", Self::annotation_token);
                self.put(")");
            }
            AnnotationBody::Expressions(list) => {
                self.put("[");
                self.joined(list, ", ", Self::expression);
                self.put("]");
            }
            AnnotationBody::KeyValues(list) => {
                self.put("[");
                self.joined(list, ", ", Self::key_value);
                self.put("]");
            }
        }
    }

    fn annotation_token(&mut self, token: &AnnotationToken) {
        match token.kind {
            AnnotationTokenKind::String => self.string(&token.text),
            _ => self.put(&token.text),
        }
    }
}
