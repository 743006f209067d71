//! `W0354`: an assignment of a port that the architecture ignores
//!
//! In v1model, ingress sets `egress_spec` to choose the port; `egress_port` is set when egress begins. Egress cannot
//! change the port: the only effect of `egress_spec` there is to drop the packet, with the number of the drop port,
//! 511. `@noWarn("no_effect")` silences it.
//! ```p4,wrong,ingress
//! apply { standard_metadata.egress_port = 1; }
//! ```
//!
//! ```p4,ingress
//! apply { standard_metadata.egress_spec = 1; }
//! ```
//!
//! Specification: Target architecture model.

use base::Span;
use syntax::diag::Diagnostic;

/// `egress_port` is assigned in ingress.
pub(crate) fn ignored_port_in_ingress(span: Span) -> Diagnostic {
    Diagnostic::warning("W0354", span, "assigning `egress_port` in ingress does not choose the port")
        .label("replaced when egress begins")
        .help("assign `egress_spec`")
}

/// `egress_spec` is assigned in egress.
pub(crate) fn ignored_port_in_egress(span: Span) -> Diagnostic {
    Diagnostic::warning("W0354", span, "assigning `egress_spec` in egress does not change the port")
        .label("the packet leaves on the port that ingress chose")
        .help("choose the port in ingress; `mark_to_drop(...)` drops the packet here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn blocks_and_what_they_apply() {
        check(
            r#"
            struct standard_metadata_t { bit<9> egress_spec; bit<9> egress_port; bit<16> mcast_grp; }
            struct S { bit<9> egress_port; standard_metadata_t old; }
            const bit<9> DROP = 511;
            control Block(inout S s, inout standard_metadata_t m);
            control Inner(inout standard_metadata_t m) { apply { m.egress_port = 1; } }
            control Shared(inout standard_metadata_t m) { apply { m.egress_port = 1; m.egress_spec = 1; } }
            package V1Switch(Block p, Block vr, Block ig, Block eg);
            control N(inout S s, inout standard_metadata_t m) { apply { m.egress_port = 1; } }
            control I(inout S s, inout standard_metadata_t m) {
                Inner() inner;
                Shared() shared;
                action choose(out bit<9> to, in bit<9> from) { to = from; }
                action set(bit<9> port) { m.egress_port = port; m.egress_spec = port; s.egress_port = port; }
                table t { actions = { set; } default_action = set(1); }
                apply { standard_metadata_t copy = m; copy.egress_port = 1; s.old.egress_port = 1; s.egress_port = copy.egress_port;
                    t.apply(); inner.apply(m); shared.apply(m); if (m.mcast_grp == 1) { m.egress_port[3:0] = 1; }
                    choose(m.egress_port, m.egress_spec); choose(m.egress_spec, m.egress_port); }
            }
            control E(inout S s, inout standard_metadata_t m) {
                Shared() shared;
                apply { shared.apply(m); m.egress_spec = DROP; m.egress_spec = 5; m.egress_port = 2; }
            }
            V1Switch(N(), N(), I(), E()) main;"#,
            expect![[r#"
                t.p4:6:66: warning[W0354]: assigning `egress_port` in ingress does not choose the port
                t.p4:14:43: warning[W0354]: assigning `egress_port` in ingress does not choose the port
                t.p4:17:89: warning[W0354]: assigning `egress_port` in ingress does not choose the port
                t.p4:18:28: warning[W0354]: assigning `egress_port` in ingress does not choose the port
                t.p4:22:64: warning[W0354]: assigning `egress_spec` in egress does not change the port
            "#]],
        );
    }
}
