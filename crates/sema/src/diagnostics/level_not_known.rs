//! `W0209`: a `@diagnostic` that sets no level.
//!
//! `@diagnostic("group", "level")` takes a group of warnings and the level that these have in the whole program:
//! `error`, `warn` or `disable`. Other forms change nothing. Groups that no warning belongs to are accepted, as in
//! `@noWarn("group")`: other compilers have more of them. `@noWarn("invalid")` silences this warning.
//!
//! ```p4,wrong
//! @diagnostic("unused") const bit<8> x = 1;
//! ```
//!
//! ```p4
//! @diagnostic("unused", "error") const bit<8> x = 1;
//! ```
//!
//! Specification: Annotations. It leaves this annotation to compilers.

use base::Span;
use syntax::diag::Diagnostic;

/// `wrong_level` is what stands where a level is expected, if the annotation has two arguments.
pub(crate) fn level_not_known(span: Span, wrong_level: Option<&str>) -> Diagnostic {
    let message = match wrong_level {
        Some(level) => format!("`{level}` is not a level of warnings"),
        None => "`@diagnostic` takes two strings, a group of warnings and a level".to_owned(),
    };
    Diagnostic::warning("W0209", span, message).label("sets no level").help("levels are `error`, `warn` and `disable`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn without_a_level() {
        check_errors(
            r#"
            @diagnostic("unused") const bit<8> a = 1;
            @diagnostic const bit<8> b = 1;
            @diagnostic("unused", "error", "warn") const bit<8> c = 1;
            @diagnostic["unused"] const bit<8> d = 1;
            @pragma diagnostic unused
            control C() { @diagnostic("unused", 2) bit<8> e = 1; apply { } }"#,
            expect![[r#"
                t.p4:2:13: warning[W0209]: `@diagnostic` takes two strings, a group of warnings and a level
                  `@diagnostic("unused")`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:3:13: warning[W0209]: `@diagnostic` takes two strings, a group of warnings and a level
                  `@diagnostic`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:4:13: warning[W0209]: `@diagnostic` takes two strings, a group of warnings and a level
                  `@diagnostic("unused", "error", "warn")`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:5:13: warning[W0209]: `@diagnostic` takes two strings, a group of warnings and a level
                  `@diagnostic["unused"]`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:6:13: warning[W0209]: `@diagnostic` takes two strings, a group of warnings and a level
                  `@pragma diagnostic unused`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:7:27: warning[W0209]: `2` is not a level of warnings
                  `@diagnostic("unused", 2)`: sets no level
                  = levels are `error`, `warn` and `disable`
            "#]],
        );
    }

    #[test]
    fn another_level() {
        check_errors(
            r#"
            @diagnostic("unused", "loud") const bit<8> a = 1;
            @diagnostic["unused", "loud"] const bit<8> b = 1;
            @pragma diagnostic unused loud
            const bit<8> c = 1;"#,
            expect![[r#"
                t.p4:2:13: warning[W0209]: `loud` is not a level of warnings
                  `@diagnostic("unused", "loud")`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:3:13: warning[W0209]: `loud` is not a level of warnings
                  `@diagnostic["unused", "loud"]`: sets no level
                  = levels are `error`, `warn` and `disable`
                t.p4:4:13: warning[W0209]: `loud` is not a level of warnings
                  `@pragma diagnostic unused loud`: sets no level
                  = levels are `error`, `warn` and `disable`
            "#]],
        );
    }

    #[test]
    fn other_compilers_have_other_groups() {
        check_errors(
            "@diagnostic(\"another\", \"disable\") @noWarn(\"another\") const bit<8> a = 1;",
            expect![[r#""#]],
        );
    }

    #[test]
    fn silenced() {
        check_errors(
            r#"@noWarn("invalid") @diagnostic("unused") const bit<8> a = 1;
            @noWarn("invalid") control C() { @diagnostic("unused") bit<8> e = 1; apply { } }"#,
            expect![[r#""#]],
        );
    }
}
