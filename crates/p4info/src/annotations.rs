//! Annotations in the forms of a P4Info: unstructured text, structured values, or instructions to the compiler.

use base::Span;
use p4runtime_proto::p4::config::v1::{self, structured_annotation::Body};
use sema::hir;
use std::fmt::Write;
use std::rc::Rc;
use syntax::ast::{Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Expr, ExprKind, KeyValue};

/// Annotations that P4Info expresses elsewhere.
const EXPRESSED_ELSEWHERE: [&str; 4] = ["name", "id", "brief", "description"];

/// Annotations that are copied as they are.
#[derive(Default)]
pub(crate) struct Listed {
    pub plain: Vec<String>,
    pub structured: Vec<v1::StructuredAnnotation>,
}

/// The annotations of a declaration, except those that are expressed elsewhere or are in `without`.
pub(crate) fn listed(program: &hir::Program, annotations: &[Annotation], without: &[&str]) -> Listed {
    let mut listed = Listed::default();
    for annotation in annotations {
        let name = annotation.name.as_str();
        if EXPRESSED_ELSEWHERE.contains(&name) || without.contains(&name) {
            continue;
        }
        let body = match &annotation.body {
            AnnotationBody::Empty | AnnotationBody::Unstructured { .. } => {
                listed.plain.push(text_of(annotation));
                continue;
            }
            AnnotationBody::Expressions(list) if list.is_empty() => None,
            AnnotationBody::Expressions(list) => Some(Body::ExpressionList(v1::ExpressionList {
                expressions: list.iter().map(|value| constant(program, value)).collect(),
            })),
            AnnotationBody::KeyValues(pairs) => {
                let pair = |pair: &KeyValue| v1::KeyValuePair {
                    key: pair.key.name.to_string(),
                    value: Some(constant(program, &pair.value)),
                };
                Some(Body::KvPairList(v1::KeyValuePairList { kv_pairs: pairs.iter().map(pair).collect() }))
            }
        };
        listed.structured.push(v1::StructuredAnnotation { name: name.to_owned(), body, source_location: None });
    }
    listed
}

/// The documentation from `@brief` and `@description`.
pub(crate) fn documentation(annotations: &[Annotation]) -> Option<v1::Documentation> {
    let said = |name| find(annotations, name).and_then(Annotation::single_string).map(str::to_owned);
    let (brief, description) = (said("brief"), said("description"));
    (brief.is_some() || description.is_some())
        .then(|| v1::Documentation { brief: brief.unwrap_or_default(), description: description.unwrap_or_default() })
}

/// The annotation with this name.
pub(crate) fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|annotation| annotation.name.as_str() == name)
}

/// Whether controllers see the declaration.
pub(crate) fn is_hidden(annotations: &[Annotation]) -> bool {
    find(annotations, "hidden").is_some()
}

/// The number of `@id` and similar annotations; the error is the text found instead.
pub(crate) fn number<'a>(annotations: &'a [Annotation], name: &str) -> Option<Result<u32, &'a Annotation>> {
    let annotation = find(annotations, name)?;
    let value = match annotation.expressions() {
        Some([Expr { kind: ExprKind::Integer(number), .. }]) => u32::try_from(&number.value).ok(),
        _ => None,
    };
    Some(value.ok_or(annotation))
}

/// The place of `@id`, for messages about it.
pub(crate) fn span_of_id(annotations: &[Annotation]) -> Option<Span> {
    find(annotations, "id").map(|annotation| annotation.span)
}

/// The control-plane name of a declaration inside `owner`.
pub(crate) fn full_name(owner: &str, name: &str, annotations: &[Annotation]) -> String {
    let name = find(annotations, "name").and_then(Annotation::single_string).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if owner.is_empty() => name.to_owned(),
        None => format!("{owner}.{name}"),
    }
}

/// The pairs of `@name(key = value, ...)`, in either form.
pub(crate) fn pairs(annotation: &Annotation) -> Vec<(Rc<str>, Pair<'_>)> {
    match &annotation.body {
        AnnotationBody::KeyValues(pairs) => {
            pairs.iter().map(|pair| (pair.key.name.clone(), Pair::Value(&pair.value))).collect()
        }
        AnnotationBody::Unstructured { tokens, .. } => {
            let parts = tokens.split(|token| token.kind == AnnotationTokenKind::Punctuation && &*token.text == ",");
            let pair = |part: &[AnnotationToken]| match part {
                [key, equals, value] if &*equals.text == "=" => {
                    Some((key.text.clone(), Pair::Token(value.kind, value.text.clone())))
                }
                _ => None,
            };
            parts.filter_map(pair).collect()
        }
        _ => Vec::new(),
    }
}

/// A value of a pair.
pub(crate) enum Pair<'a> {
    /// Of `@name[key = value]`.
    Value(&'a Expr),
    /// Of `@name(key = value)`.
    Token(AnnotationTokenKind, Rc<str>),
}

impl Pair<'_> {
    /// The value as a string.
    pub fn string(&self) -> Option<String> {
        match self {
            Pair::Value(Expr { kind: ExprKind::String(text), .. }) => Some(text.to_string()),
            Pair::Token(AnnotationTokenKind::String, text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The value as a number.
    pub fn number(&self) -> Option<i32> {
        match self {
            Pair::Value(Expr { kind: ExprKind::Integer(number), .. }) => i32::try_from(&number.value).ok(),
            Pair::Token(AnnotationTokenKind::Integer, text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// The annotation's body as the reference compiler writes it: its tokens, separated by spaces.
pub(crate) fn text_of(annotation: &Annotation) -> String {
    let mut text = format!("@{}", annotation.name.name);
    let AnnotationBody::Unstructured { tokens, .. } = &annotation.body else { return text };
    if tokens.is_empty() {
        return text;
    }
    for (position, token) in tokens.iter().enumerate() {
        // The operands of a P4_14 pragma are a list, not tokens.
        let is_comma = annotation.is_pragma && &*token.text == "," && token.kind == AnnotationTokenKind::Punctuation;
        match position {
            0 => text.push('('),
            _ if is_comma => {}
            _ => text.push(' '),
        }
        let _ = match token.kind {
            AnnotationTokenKind::String => {
                write!(text, "\"{}\"", token.text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            _ => write!(text, "{}", token.text),
        };
    }
    text.push(')');
    text
}

/// The value of a structured annotation, which the checker has evaluated: it knows the value at this place, or has
/// replaced the expression by a literal. A number that does not fit into 64 bits is left out.
fn constant(program: &hir::Program, e: &Expr) -> v1::Expression {
    use v1::expression::Value;
    if let ExprKind::String(text) = &e.kind {
        return v1::Expression { value: Some(Value::StringValue(text.to_string())) };
    }
    let value = program.annotation_value(e).and_then(|value| match &value.kind {
        hir::ExprKind::Bool(value) => Some(Value::BoolValue(*value)),
        hir::ExprKind::Int(value) => i64::try_from(value).ok().map(Value::Int64Value),
        _ => None,
    });
    let literal = || match &e.kind {
        ExprKind::Integer(number) => i64::try_from(&number.value).ok().map(Value::Int64Value),
        _ => None,
    };
    v1::Expression { value: value.or_else(literal) }
}
