//! Control-plane names: the path of instances from the block, unless `@name` changes it.

use syntax::ast::{Annotation, AnnotationBody};

/// The control-plane name of something called `name` inside `owner`. `@name("x")` replaces the last part,
/// `@name(".x")` all of it.
pub(crate) fn full_name(owner: &str, name: &str, annotations: &[Annotation]) -> String {
    let name = given_name(annotations).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if owner.is_empty() => name.to_owned(),
        None => format!("{owner}.{name}"),
    }
}

/// The name that `@name` gives.
pub(crate) fn given_name(annotations: &[Annotation]) -> Option<&str> {
    find(annotations, "name").and_then(Annotation::single_string)
}

/// The annotation called `name`.
pub(crate) fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|annotation| &*annotation.name.name == name)
}

/// The words and numbers in an annotation's body: `ternary` of `@match(ternary)`.
pub(crate) fn words(annotation: &Annotation) -> Vec<&str> {
    match &annotation.body {
        AnnotationBody::Unstructured { tokens, .. } => tokens.iter().map(|token| &*token.text).collect(),
        _ => Vec::new(),
    }
}
