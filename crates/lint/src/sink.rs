//! Collects warnings, drops those that an enclosing `@noWarn` silences, and sorts the others.

use base::{OrderedMap, Span};
use std::rc::Rc;
use std::sync::Arc;
use syntax::ast::Annotation;
use syntax::{Diagnostic, Severity, SourceMap, WarningLevel};

/// The names with which `@noWarn` silences a kind of warning. The first is ours, the others are those of other
/// compilers.
pub(crate) type Group = &'static [&'static str];

/// An unused declaration.
pub(crate) const UNUSED: Group = &["unused"];
/// A read of a variable or a header's field without a value.
pub(crate) const UNINITIALIZED: Group = &["uninitialized", "uninitialized_use"];
/// A parameter without a value at the end.
pub(crate) const UNINITIALIZED_OUT: Group = &["uninitialized", "uninitialized_out_param"];
/// A use of an invalid header.
pub(crate) const INVALID_HEADER: Group = &["invalid_header", "uninitialized"];
/// Code, a case or an entry that is never reached.
pub(crate) const UNREACHABLE: Group = &["unreachable", "parser-transition"];
/// Values that are not covered.
pub(crate) const UNMATCHED: Group = &["parser-transition"];
/// A constant expression.
pub(crate) const CONSTANT: Group = &["constant"];
/// Two parts that do not fit together.
pub(crate) const MISMATCH: Group = &["mismatch"];
/// A statement without an effect.
pub(crate) const NO_EFFECT: Group = &["no_effect"];

/// The warnings found so far.
pub(crate) struct Sink<'a> {
    pub(crate) sources: &'a SourceMap,
    /// The file of the program itself, as opposed to its includes.
    main_file: Option<Arc<str>>,
    /// How the program's user treats groups of warnings.
    levels: &'a OrderedMap<Rc<str>, WarningLevel>,
    found: Vec<Diagnostic>,
    /// The warnings that enclosing declarations silence: `None` for all.
    silenced: Vec<Option<Rc<str>>>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(sources: &'a SourceMap, main: Span, levels: &'a OrderedMap<Rc<str>, WarningLevel>) -> Sink<'a> {
        let main_file = sources.location(main.lo).map(|place| place.file);
        Sink { sources, main_file, levels, found: Vec::new(), silenced: Vec::new() }
    }

    /// Enters a declaration with these annotations. The result is the argument for [`Sink::leave`].
    pub(crate) fn enter(&mut self, annotations: &[Annotation]) -> usize {
        let before = self.silenced.len();
        self.silenced.extend(silenced_by(annotations));
        before
    }

    /// Leaves the declaration.
    pub(crate) fn leave(&mut self, before: usize) {
        self.silenced.truncate(before);
    }

    /// Whether all warnings of a group are silenced here.
    pub(crate) fn is_silenced(&self, group: Group) -> bool {
        self.silenced.iter().any(|name| name.as_deref().is_none_or(|name| group.contains(&name)))
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, group: Group, warning: Diagnostic) {
        self.warn_about(group, &[], warning);
    }

    /// Adds a warning about a declaration with these annotations.
    pub(crate) fn warn_about(&mut self, group: Group, annotations: &[Annotation], warning: Diagnostic) {
        let own: Vec<Option<Rc<str>>> = silenced_by(annotations).collect();
        let is_silenced = self
            .silenced
            .iter()
            .chain(&own)
            .any(|name| name.as_deref().is_none_or(|name| group.contains(&name) || name == warning.code));
        let level = std::iter::once(&warning.code).chain(group).find_map(|name| self.levels.get(*name)).copied();
        // Compiler-generated code has no location, and users could not correct it.
        if warning.primary.span.is_none() {
            return;
        }
        match level {
            Some(WarningLevel::Silent) => {}
            _ if is_silenced => {}
            Some(WarningLevel::Error) => self.found.push(Diagnostic { severity: Severity::Error, ..warning }),
            _ => self.found.push(warning),
        }
    }

    /// Whether a location is in the program's own file. Declarations in an included file may be there for other
    /// programs.
    pub(crate) fn is_in_main_file(&self, span: Span) -> bool {
        let place = self.sources.location(span.lo);
        match (&self.main_file, place) {
            (Some(main), Some(place)) => *main == place.file,
            _ => false,
        }
    }

    /// Whether an expression is a literal number here. The value of a constant or macro may change in a later version.
    pub(crate) fn is_written_number(&self, span: Span) -> bool {
        let text = self.sources.text(span).trim_start_matches(['(', '-', ' ']);
        text.starts_with(|first: char| first.is_ascii_digit())
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ')' | ' '))
    }

    /// All warnings, sorted by location. `W0328` is more precise than `W0325`: of the two about one assignment, it
    /// stays.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|warning| (warning.primary.span, warning.code));
        let lost = self.found.iter().filter(|it| it.code == "W0328");
        let lost: OrderedMap<Span, Severity> = lost.map(|it| (it.primary.span, it.severity)).collect();
        // A level for one of the codes alone applies to it alone.
        self.found.retain(|it| it.code != "W0325" || lost.get(&it.primary.span) != Some(&it.severity));
        self.found
    }
}

fn silenced_by(annotations: &[Annotation]) -> impl Iterator<Item = Option<Rc<str>>> {
    annotations
        .iter()
        .filter(|annotation| matches!(annotation.name.as_str(), "noWarn" | "noWarnings"))
        .map(|annotation| annotation.single_string().map(Into::into))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_program;
    use expect_test::expect;

    /// Unused declarations, reads without a value, and parameters without a value.
    const PROGRAM: &str = "control Inner(out bit<8> x) { apply { bit<8> y; if (random() == 0) { x = y; } } }
        control C(inout S s) { action never() { } Inner() inner; apply { inner.apply(s.x); } }
        Package(C()) main;";

    #[test]
    fn a_program_decides_about_groups() {
        check_program(
            PROGRAM,
            expect![[r#"
            t.p4:3:26: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:74: warning[W0321]: `y` has no value here
            t.p4:4:39: warning[W0303]: the action `never` is never used
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"unused\", \"error\") {PROGRAM}"),
            expect![[r#"
            t.p4:3:57: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:105: warning[W0321]: `y` has no value here
            t.p4:4:39: error[W0303]: the action `never` is never used
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"unused\", \"disable\") {PROGRAM}"),
            expect![[r#"
            t.p4:3:59: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:107: warning[W0321]: `y` has no value here
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"unused\", \"warn\") {PROGRAM}"),
            expect![[r#"
            t.p4:3:56: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:104: warning[W0321]: `y` has no value here
            t.p4:4:39: warning[W0303]: the action `never` is never used
        "#]],
        );
    }

    #[test]
    fn the_groups_of_the_reference_compiler_are_finer() {
        check_program(
            &format!("@diagnostic(\"uninitialized_use\", \"error\") {PROGRAM}"),
            expect![[r#"
            t.p4:3:68: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:116: error[W0321]: `y` has no value here
            t.p4:4:39: warning[W0303]: the action `never` is never used
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"uninitialized_out_param\", \"disable\") {PROGRAM}"),
            expect![[r#"
            t.p4:3:124: warning[W0321]: `y` has no value here
            t.p4:4:39: warning[W0303]: the action `never` is never used
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"uninitialized\", \"disable\") {PROGRAM}"),
            expect![[r#"
            t.p4:4:39: warning[W0303]: the action `never` is never used
        "#]],
        );
    }

    #[test]
    fn a_code_stands_for_one_warning_of_a_group() {
        check_program(
            &format!("@diagnostic(\"uninitialized\", \"error\") @diagnostic(\"W0321\", \"disable\") {PROGRAM}"),
            expect![[r#"
                t.p4:3:96: error[W0323]: the `out` parameter `x` is not assigned on every way to the end
                t.p4:4:39: warning[W0303]: the action `never` is never used
            "#]],
        );
    }

    #[test]
    fn what_a_declaration_says_of_itself_comes_first() {
        let program = PROGRAM.replace("action never", "@noWarn(\"unused\") action never");
        check_program(
            &program,
            expect![[r#"
            t.p4:3:26: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:74: warning[W0321]: `y` has no value here
        "#]],
        );
        check_program(
            &format!("@diagnostic(\"unused\", \"error\") {program}"),
            expect![[r#"
            t.p4:3:57: warning[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:3:105: warning[W0321]: `y` has no value here
        "#]],
        );
    }

    #[test]
    fn pragmas_and_several_groups_decide_too() {
        let levels = "@pragma diagnostic unused disable\n@diagnostic(\"uninitialized\", \"error\")";
        check_program(
            &format!("{levels} {PROGRAM}"),
            expect![[r#"
            t.p4:4:64: error[W0323]: the `out` parameter `x` is not assigned on every way to the end
            t.p4:4:112: error[W0321]: `y` has no value here
        "#]],
        );
    }
}
