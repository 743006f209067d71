//! Checks annotations: the bodies of predefined ones have a fixed form, and structured ones have constant values.
//!
//! What enters: the annotations of one element of the program. What leaves: diagnostics, and the values of the
//! expressions in structured annotations. Users of an annotation read it from the tree.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::{self, Type, annotation_place};
use base::OrderedMap;
use num_bigint::BigInt;
use num_traits::Signed;
use std::rc::Rc;
use syntax::WarningLevel;
use syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, Expr, ExprKind, IntegerLiteral};

impl Checker<'_> {
    /// Reports annotations with invalid bodies, and those that make no sense together.
    pub(crate) fn check_annotations(&mut self, annotations: &[Annotation]) {
        self.check_bodies(annotations);
        self.warn_of_annotations(annotations);
    }

    /// Warns of annotations that have no effect.
    pub(crate) fn warn_of_annotations(&mut self, annotations: &[Annotation]) {
        for (position, annotation) in annotations.iter().enumerate() {
            self.check_level(annotation);
            if !annotation.is_pragma {
                self.check_repetition(annotation, &annotations[..position]);
            }
        }
    }

    /// Reports annotations with invalid bodies. A `@pragma` is for a compiler that knows it.
    pub(crate) fn check_bodies(&mut self, annotations: &[Annotation]) {
        for annotation in annotations.iter().filter(|annotation| !annotation.is_pragma) {
            let errors_before = self.error_count();
            match &annotation.body {
                AnnotationBody::Empty | AnnotationBody::Unstructured { .. } => {}
                AnnotationBody::Expressions(list) => {
                    list.iter().for_each(|value| self.annotation_value(annotation, value))
                }
                AnnotationBody::KeyValues(pairs) => {
                    let mut seen = OrderedMap::new();
                    for pair in pairs {
                        if let Some(first) = seen.insert(pair.key.name.clone(), pair.key.span) {
                            self.report(d::repeated_annotation_key(pair.key.span, &pair.key.name, first));
                        }
                        self.annotation_value(annotation, &pair.value);
                    }
                }
            }
            if self.error_count() == errors_before {
                self.check_known_annotation(&self.known_annotation(annotation));
            }
        }
    }

    /// Annotations whose values were checked, in which strings and numbers that the program computes are literals.
    pub(crate) fn known_annotations(&self, annotations: &[Annotation]) -> Vec<Annotation> {
        annotations.iter().map(|annotation| self.known_annotation(annotation)).collect()
    }

    pub(crate) fn known_annotation(&self, annotation: &Annotation) -> Annotation {
        let mut known = annotation.clone();
        let evaluate = |written: &mut Expr| {
            let literal = match self.hir.annotation_value(written).map(|value| &value.kind) {
                Some(hir::ExprKind::String(text)) => ExprKind::String(text.clone()),
                // A literal keeps its text, and a negative number has no literal.
                Some(hir::ExprKind::Int(value))
                    if !value.is_negative() && !matches!(written.kind, ExprKind::Integer(_)) =>
                {
                    ExprKind::Integer(self.plain_literal(value.clone(), written))
                }
                _ => return,
            };
            written.kind = literal;
        };
        match &mut known.body {
            AnnotationBody::Empty | AnnotationBody::Unstructured { .. } => {}
            AnnotationBody::Expressions(list) => list.iter_mut().for_each(evaluate),
            AnnotationBody::KeyValues(pairs) => pairs.iter_mut().map(|pair| &mut pair.value).for_each(evaluate),
        }
        known
    }

    /// A literal without a width.
    fn plain_literal(&self, value: BigInt, written: &Expr) -> IntegerLiteral {
        IntegerLiteral { value, width: None, is_signed: false, base: self.base_of(written) }
    }

    fn check_repetition(&mut self, annotation: &Annotation, before: &[Annotation]) {
        let is_structured =
            |it: &Annotation| matches!(it.body, AnnotationBody::Expressions(_) | AnnotationBody::KeyValues(_));
        let first = before.iter().find(|it| it.name.name == annotation.name.name && !it.is_pragma);
        if let Some(first) = first
            && (is_structured(annotation) || is_structured(first) || annotation.name.as_str() == "name")
        {
            self.warn("duplicate", d::repeated_annotation(annotation.span, &annotation.name.name, first.span));
        }
    }

    fn check_known_annotation(&mut self, annotation: &Annotation) {
        let expected = match annotation.name.as_str() {
            "name" | "noWarn" if annotation.single_string().is_none() => "one string",
            "deprecated" if joined_string(annotation).is_none() => "one string",
            "atomic" | "hidden" | "optional" | "tableonly" | "defaultonly" | "pure" | "noSideEffects"
                if annotation.expressions().is_some_and(|list| !list.is_empty()) =>
            {
                "no arguments"
            }
            "match" if !self.names_match_kind(annotation) => "a match kind",
            _ => return,
        };
        self.report(d::invalid_annotation(annotation.span, &annotation.name.name, expected));
    }

    /// Warns of a `@diagnostic` that sets no level.
    fn check_level(&mut self, annotation: &Annotation) {
        if annotation.name.as_str() != "diagnostic" || warning_level(annotation).is_some() {
            return;
        }
        let words = words_of(annotation);
        let wrong_level = match words.as_slice() {
            [_, level] => Some(&**level),
            _ => None,
        };
        self.warn("invalid", d::level_not_known(annotation.span, wrong_level));
    }

    fn names_match_kind(&self, annotation: &Annotation) -> bool {
        let Some([Expr { kind: ExprKind::Name(path), .. }]) = annotation.expressions() else { return false };
        self.hir.match_kinds.contains(&path.name.name)
    }

    /// A value of a structured annotation: a literal, or an expression of constants.
    fn annotation_value(&mut self, annotation: &Annotation, written: &Expr) {
        let value = self.operand(written, None);
        if value.ty == Type::Unknown {
            return;
        }
        let is_scalar = matches!(value.ty, Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Bool | Type::String);
        match self.fold(&value).filter(|_| is_scalar) {
            Some(known) => {
                self.hir.annotation_values.insert(annotation_place(written), known);
            }
            None => {
                let expected = "numbers, strings and truth values that are known at compile time";
                self.report(d::invalid_annotation(written.span, &annotation.name.name, expected));
            }
        }
    }
}

/// The group of warnings and its level in `@diagnostic("group", "level")`, or in `@pragma diagnostic group level`. They
/// apply to the whole program, as in the reference compiler.
pub(crate) fn warning_level(annotation: &Annotation) -> Option<(Rc<str>, WarningLevel)> {
    let words = words_of(annotation);
    let ("diagnostic", [group, level]) = (annotation.name.as_str(), words.as_slice()) else { return None };
    let level = match &**level {
        "error" => WarningLevel::Error,
        "warn" | "info" => WarningLevel::Shown,
        "disable" => WarningLevel::Silent,
        _ => return None,
    };
    Some((group.clone(), level))
}

/// The words and strings in an annotation's body, without the commas between them.
fn words_of(annotation: &Annotation) -> Vec<Rc<str>> {
    match &annotation.body {
        AnnotationBody::Unstructured { tokens, .. } => tokens
            .iter()
            .filter(|token| token.kind != AnnotationTokenKind::Punctuation)
            .map(|token| token.text.clone())
            .collect(),
        AnnotationBody::Expressions(list) => list
            .iter()
            .filter_map(|value| match &value.kind {
                ExprKind::String(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        AnnotationBody::Empty | AnnotationBody::KeyValues(_) => Vec::new(),
    }
}

/// The string of an annotation, which may be written in several parts: joined by `++`, or adjacent.
pub(crate) fn joined_string(annotation: &Annotation) -> Option<String> {
    let AnnotationBody::Unstructured { tokens, .. } = &annotation.body else {
        return annotation.single_string().map(str::to_owned);
    };
    let mut joined = None;
    let mut is_operator_before = true;
    for token in tokens {
        match token.kind {
            AnnotationTokenKind::String => {
                joined.get_or_insert_with(String::new).push_str(&token.text);
                is_operator_before = false;
            }
            AnnotationTokenKind::Punctuation if &*token.text == "++" && !is_operator_before => {
                is_operator_before = true
            }
            _ => return None,
        }
    }
    joined.filter(|_| !is_operator_before)
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn a_program_decides_about_its_warnings() {
        let program = "const bit<8> x = 1; control C(inout bit<8> y) { bit<8> x = 300; apply { y = x; } }";
        check_errors(
            program,
            expect![[r#"
            t.p4:1:60: warning[W0203]: 300 does not fit in bit<8>
              `300`: becomes 44
            t.p4:1:56: warning[W0201]: `x` hides another declaration of that name
              `x`: hides it
              `x`: the hidden one
        "#]],
        );
        check_errors(
            &format!("@diagnostic(\"shadow\", \"error\") @pragma diagnostic overflow disable\n{program}"),
            expect![[r#"
                t.p4:2:56: error[W0201]: `x` hides another declaration of that name
                  `x`: hides it
                  `x`: the hidden one
            "#]],
        );
        check_errors(
            &format!("@diagnostic(\"shadow\", \"disable\") @diagnostic(\"W0201\", \"error\") {program}"),
            expect![[r#"
                t.p4:1:123: warning[W0203]: 300 does not fit in bit<8>
                  `300`: becomes 44
                t.p4:1:119: error[W0201]: `x` hides another declaration of that name
                  `x`: hides it
                  `x`: the hidden one
            "#]],
        );
    }
}
