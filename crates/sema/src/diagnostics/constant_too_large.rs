//! `E0418`: a constant expression whose value is too large.
//!
//! ```p4,wrong
//! const int n = 1 << 1000000;
//! ```
//!
//! ```p4
//! const int n = 1 << 100;
//! ```
//!
//! Specification: Expressions, Operations on arbitrary-precision integers.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the expression.
pub(crate) fn constant_too_large(span: Span) -> Diagnostic {
    let limit = crate::consts::CONSTANT_BITS_MAX;
    Diagnostic::error("E0418", span, format!("the value of this constant is longer than {limit} bits"))
        .label("too large")
}

/// The location of the constant with which the total size becomes too large.
pub(crate) fn constants_too_large(span: Span) -> Diagnostic {
    let limit = crate::consts::CONSTANT_LITERALS_MAX;
    Diagnostic::error("E0418", span, format!("the program's constants consist of more than {limit} literals"))
        .label("too large")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_errors, diagnostics_of};
    use expect_test::expect;

    #[test]
    fn shift_far() {
        check_errors(
            "
            const int A = 1 << 1000000;
            const int B = 1 << 100000;
            const int C = B * B;",
            expect![[r#"
                t.p4:2:27: error[E0418]: the value of this constant is longer than 131072 bits
                  `1 << 1000000`: too large
                t.p4:4:27: error[E0418]: the value of this constant is longer than 131072 bits
                  `B * B`: too large
            "#]],
        );
    }

    #[test]
    fn structs_of_structs() {
        let mut program = String::from("struct S0 { bit<8> a; } const S0 K0 = { 1 };");
        for level in 1..=12 {
            let inner = level - 1;
            program.push_str(&format!(
                "struct S{level} {{ S{inner} a; S{inner} b; }} const S{level} K{level} = {{ K{inner}, K{inner} }};"
            ));
        }
        for copy in 0..200 {
            program.push_str(&format!("const S12 L{copy} = K12;"));
        }
        let errors = diagnostics_of(&program);
        assert!(errors.contains("error[E0418]: the program's constants consist of more than"), "{errors}");
    }
}
