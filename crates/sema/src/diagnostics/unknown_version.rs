//! `E0212`: an unknown version of v1model.
//!
//! With `#define V1MODEL_VERSION ...` before it includes `v1model.p4`, a program selects the version of the
//! architecture. Versions are dates: the first is 20180101, the latest 20200408.
//!
//! ```p4,wrong
//! #define V1MODEL_VERSION 20150101
//! #include <v1model.p4>
//! ```
//!
//! ```p4
//! #define V1MODEL_VERSION 20200408
//! #include <v1model.p4>
//! ```
//!
//! Specification: none; the architecture's file `v1model.p4` says what a version changes.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// The first version of v1model, and the latest.
pub(crate) const V1MODEL_VERSIONS: [u32; 2] = [20_180_101, 20_200_408];

/// `found` is the version, if it is a number.
pub(crate) fn unknown_v1model_version(span: Span, found: Option<&BigInt>) -> Diagnostic {
    let [first, latest] = V1MODEL_VERSIONS;
    let message = match found {
        Some(version) => format!("there is no version {version} of v1model"),
        None => "the version of v1model must be a number".to_owned(),
    };
    Diagnostic::error("E0212", span, message)
        .label(format!("the first version is {first}, the latest {latest}"))
        .help(format!("write `#define V1MODEL_VERSION {latest}` before `#include <v1model.p4>`, or nothing"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_errors, diagnostics_of};
    use expect_test::expect;

    #[test]
    fn versions_of_v1model() {
        check_errors(
            "#define V1MODEL_VERSION 20150101\n#include <v1model.p4>",
            expect![[r#"
                <v1model.p4>:16:35: error[E0212]: there is no version 20150101 of v1model
                  `V1MODEL_VERSION`: the first version is 20180101, the latest 20200408
                  = write `#define V1MODEL_VERSION 20200408` before `#include <v1model.p4>`, or nothing
            "#]],
        );
        for version in ["(20180101 - 1)", "20200409", "-1", "\"new\""] {
            let found = diagnostics_of(&format!("const bit<32> __v1model_version = {version};"));
            assert!(found.contains("E0212"), "{version}: {found}");
        }
        for version in ["20180101", "20190812", "20200408"] {
            check_errors(&format!("#define V1MODEL_VERSION {version}\n#include <v1model.p4>"), expect![""]);
        }
        check_errors("#include <v1model.p4>", expect![""]);
    }
}
