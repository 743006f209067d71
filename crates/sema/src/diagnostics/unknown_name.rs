//! `E0201`: an unknown name.
//!
//! The name is not declared in this scope or an enclosing one. Often it is misspelt, or the file that declares it is
//! not included (`#include <core.p4>`, `#include <v1model.p4>`).
//!
//! Declare the name, correct its spelling, or include the file that declares it.
//!
//! ```p4,wrong
//! control C(inout bit<8> ttl) { apply { ttl = tll - 1; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> ttl) { apply { ttl = ttl - 1; } }
//! ```
//!
//! Specification: Name resolution.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `suggestion` is a similar visible name.
pub(crate) fn unknown_name(name: &Ident, suggestion: Option<String>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0201", name.span, format!("`{}` is not declared", name.name)).label("unknown name");
    match (suggestion, include_of(name.as_str())) {
        (Some(suggestion), _) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        (None, Some(file)) => diagnostic.help(format!("add `#include <{file}>`")),
        (None, None) => diagnostic,
    }
}

/// The file that declares a common name.
pub(crate) fn include_of(name: &str) -> Option<&'static str> {
    match name {
        "NoAction" | "packet_in" | "packet_out" | "verify" | "static_assert" | "exact" | "ternary" | "lpm" => {
            Some("core.p4")
        }
        "standard_metadata_t"
        | "V1Switch"
        | "mark_to_drop"
        | "counter"
        | "direct_counter"
        | "meter"
        | "direct_meter"
        | "register"
        | "action_profile"
        | "action_selector"
        | "digest"
        | "hash"
        | "HashAlgorithm"
        | "verify_checksum"
        | "update_checksum"
        | "clone"
        | "CloneType" => Some("v1model.p4"),
        "PSA_Switch"
        | "IngressPipeline"
        | "EgressPipeline"
        | "PacketReplicationEngine"
        | "BufferingQueueingEngine"
        | "psa_ingress_parser_input_metadata_t"
        | "psa_ingress_input_metadata_t"
        | "psa_ingress_output_metadata_t"
        | "psa_egress_parser_input_metadata_t"
        | "psa_egress_input_metadata_t"
        | "psa_egress_output_metadata_t"
        | "psa_egress_deparser_input_metadata_t"
        | "ActionProfile"
        | "ActionSelector" => Some("psa.p4"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_errors};
    use expect_test::expect;

    #[test]
    fn misspelled() {
        check_apply(
            "s.x = rr; etherType = 1;",
            expect![[r#"
                t.p4:3:7: error[E0201]: `rr` is not declared
                  `rr`: unknown name
                  = there is no `main` in this file: if it is a part of a program, check the file that includes it
                t.p4:3:11: error[E0201]: `etherType` is not declared
                  `etherType`: unknown name
            "#]],
        );
    }

    #[test]
    fn core_is_missing() {
        check_errors(
            "control C() { table t { actions = { NoAction; } } apply { } }",
            expect![[r#"
                t.p4:1:37: error[E0201]: `NoAction` is not declared
                  `NoAction`: unknown name
                  = add `#include <core.p4>`
            "#]],
        );
    }

    #[test]
    fn a_part_of_a_program_says_so_once() {
        check_errors(
            "control C(inout headers_t hdr, inout meta_t meta) { apply { } }",
            expect![[r#"
            t.p4:1:17: error[E0201]: `headers_t` is not declared
              `headers_t`: unknown name
              = there is no `main` in this file: if it is a part of a program, check the file that includes it
            t.p4:1:38: error[E0201]: `meta_t` is not declared
              `meta_t`: unknown name
        "#]],
        );
        check_errors(
            "package P(); control C(inout headers_t hdr) { apply { } } P() main;",
            expect![[r#"
            t.p4:1:30: error[E0201]: `headers_t` is not declared
              `headers_t`: unknown name
        "#]],
        );
    }
}
