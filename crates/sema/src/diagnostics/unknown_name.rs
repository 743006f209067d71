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
    if let Some(ty) = type_of_c(name.as_str()) {
        return diagnostic.help(format!("write `{ty}`"));
    }
    match (suggestion, include_of(name.as_str())) {
        (Some(suggestion), _) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        (None, Some(file)) => diagnostic.help(format!("add `#include <{file}>`")),
        (None, None) => match common_intention(name.as_str()) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        },
    }
}

/// Whether the help for an unknown name says what is meant, although no similar name is visible.
pub(crate) fn is_common_name(name: &str) -> bool {
    include_of(name).is_some() || type_of_c(name).is_some() || common_intention(name).is_some()
}

/// The type that C calls by this name.
fn type_of_c(name: &str) -> Option<String> {
    let name = name.strip_suffix("_t").unwrap_or(name);
    let (constructor, width) = match name.strip_prefix('u') {
        Some(unsigned) => ("bit", unsigned.strip_prefix("int")?),
        None => ("int", name.strip_prefix("int")?),
    };
    matches!(width, "8" | "16" | "32" | "64").then(|| format!("{constructor}<{width}>"))
}

/// What a name often means in programs that do not declare it.
fn common_intention(name: &str) -> Option<&'static str> {
    match name {
        "drop" => Some("v1model drops a packet with `mark_to_drop(standard_metadata)`"),
        "True" | "TRUE" => Some("write `true`"),
        "False" | "FALSE" => Some("write `false`"),
        "printf" | "print" => Some("v1model logs with `log_msg(\"x is {}\", { x })`"),
        "var" | "let" | "auto" => Some("a variable has its type before its name: `bit<32> x = 1;`"),
        "ntohs" | "ntohl" | "htons" | "htonl" | "bswap16" | "bswap32" => {
            Some("fields are numbers: extraction and emission convert between them and network byte order")
        }
        "valid" => Some("P4_16 tests a header with `h.isValid()`"),
        "CPU_PORT" => Some("define it on the command line, with the port's number: `-D CPU_PORT=255`"),
        _ => None,
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
    fn names_of_other_places() {
        check_apply(
            "uint8_t a = 1; int32_t b = 2; drop(); s.x = CPU_PORT; if (valid(s.h) && True) { printf(\"x\"); } \
             var i = 3; s.x = ntohs(s.x);",
            expect![[r#"
                t.p4:3:1: error[E0201]: `uint8_t` is not declared
                  `uint8_t`: unknown name
                  = write `bit<8>`
                t.p4:3:16: error[E0201]: `int32_t` is not declared
                  `int32_t`: unknown name
                  = write `int<32>`
                t.p4:3:31: error[E0201]: `drop` is not declared
                  `drop`: unknown name
                  = v1model drops a packet with `mark_to_drop(standard_metadata)`
                t.p4:3:45: error[E0201]: `CPU_PORT` is not declared
                  `CPU_PORT`: unknown name
                  = define it on the command line, with the port's number: `-D CPU_PORT=255`
                t.p4:3:59: error[E0201]: `valid` is not declared
                  `valid`: unknown name
                  = P4_16 tests a header with `h.isValid()`
                t.p4:3:73: error[E0201]: `True` is not declared
                  `True`: unknown name
                  = write `true`
                t.p4:3:81: error[E0201]: `printf` is not declared
                  `printf`: unknown name
                  = v1model logs with `log_msg("x is {}", { x })`
                t.p4:3:96: error[E0201]: `var` is not declared
                  `var`: unknown name
                  = a variable has its type before its name: `bit<32> x = 1;`
                t.p4:3:113: error[E0201]: `ntohs` is not declared
                  `ntohs`: unknown name
                  = fields are numbers: extraction and emission convert between them and network byte order
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
