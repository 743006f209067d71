//! Headers among the metadata, whose fields are variables.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_field_lists, check_ir, check_packets};

#[test]
fn fields_are_variables_and_the_header_says_whether_it_is_valid() {
    check_ir(
        Stage::Ingress,
        &Parts {
            metadata: "h_t m; h_t n;",
            ingress: "meta.m.a = 1; meta.m.setValid(); meta.m.c[7:0] = hdr.h.a; meta.n = meta.m; hdr.h = meta.n; \
                      meta.m = hdr.h; meta.m.setInvalid(); hdr.h.b = meta.m.isValid() ? 8w0 : meta.m.b;",
            ..Parts::default()
        },
        expect![[r#"
            block2 "I" control {
              v16 = 8w0x1
              if !valid(h1) {
                v16 = 8w0x0
                v17 = 8w0x0
                v18 = 16w0x0
              }
              set_valid h1
              v18[7:0] = h0.0
              copy h2 = h1
              v19 = v16
              v20 = v17
              v21 = v18
              copy h0 = h2
              h0.0 = v19
              h0.1 = v20
              h0.2 = v21
              copy h1 = h0
              v16 = h0.0
              v17 = h0.1
              v18 = h0.2
              set_invalid h1
              h0.1 = (valid(h1) ? 8w0x0 : v17)
            }
        "#]],
    );
}

#[test]
fn what_may_hold_nothing_but_zeros_stays_a_header() {
    check_ir(
        Stage::Ingress,
        &Parts {
            metadata: "h_t m; h_t n;",
            ingress: "meta.m = hdr.h; meta.n = meta.m; hdr.h.a = meta.n.b;",
            ..Parts::default()
        },
        expect![[r#"
            block2 "I" control {
              copy h1 = h0
              copy h2 = h1
              h0.0 = h2.1
            }
        "#]],
    );
}

#[test]
fn elements_are_chosen_by_their_index() {
    check_ir(
        Stage::Ingress,
        &Parts {
            metadata: "h_t[2] s;",
            ingress: "meta.s[hdr.h.a].b = meta.s[hdr.h.b].b; meta.s[hdr.h.a].setValid(); meta.s.push_front(1);",
            ..Parts::default()
        },
        expect![[r#"
            block2 "I" control {
              v23 = h0.1
              v24 = h0.0
              v25 = ((v23 < 8w0x2) ? ((v23 < 8w0x1) ? v18 : v21) : 8w0x0)
              switch v24 {
                case 8w0x0 {
                  v18 = v25
                }
                case 8w0x1 {
                  v21 = v25
                }
                default {
                }
              }
              v26 = h0.0
              switch v26 {
                case 8w0x0 {
                  if !valid(h1) {
                    v17 = 8w0x0
                    v18 = 8w0x0
                    v19 = 16w0x0
                  }
                }
                case 8w0x1 {
                  if !valid(h2) {
                    v20 = 8w0x0
                    v21 = 8w0x0
                    v22 = 16w0x0
                  }
                }
                default {
                }
              }
              set_valid stack0[v26]
              push_front stack0 1
              v20 = v17
              v21 = v18
              v22 = v19
              v17 = 8w0x0
              v18 = 8w0x0
              v19 = 16w0x0
            }
        "#]],
    );
}

#[test]
fn what_the_parser_extracts_goes_to_the_variables() {
    check_ir(
        Stage::Parser,
        &Parts {
            metadata: "h_t m; h_t[2] s;",
            parser: "state start { packet.extract(meta.m); packet.extract(meta.s.next); \
                     transition select(meta.s.last.a) { 0: start; default: accept; } }",
            ingress: "meta.m.a = 1; meta.s[0].a = 1;",
            ..Parts::default()
        },
        expect![[r#"
            block0 "P" parser start state0 error v15 {
              state0 "start" {
                extract h1
                v17 = h1.0
                v18 = h1.1
                v19 = h1.2
                extract stack0.next
                switch (v0 - 32w0x1) {
                  case 32w0x0 {
                    v20 = h2.0
                    v21 = h2.1
                    v22 = h2.2
                  }
                  case 32w0x1 {
                    v23 = h3.0
                    v24 = h3.1
                    v25 = h3.2
                  }
                  default {
                  }
                }
                v26 = (v0 - 32w0x1)
                select (((v26 < 32w0x2) ? ((v26 < 32w0x1) ? v20 : v23) : 8w0x0)) {
                  case (8w0x0): state0
                  case (any): accept
                }
              }
            }
        "#]],
    );
}

#[test]
fn results_go_to_elements() {
    check_packets(
        &Parts {
            metadata: "h_t[2] s; bit<8> x;",
            locals: "register<bit<8>>(2) r; meter(4, MeterType.bytes) m;",
            ingress: "meta.s[hdr.h.a].a = 7; r.write(1, 9); r.read(meta.s[hdr.h.a].a, (bit<32>) hdr.h.b); \
                      hash(meta.s[hdr.h.a].c, HashAlgorithm.identity, 16w0, { hdr.h.a, hdr.h.b }, 32w65536); \
                      random(meta.s[hdr.h.a].b, 8w3, 8w3); if (hdr.h.a == 9) { meta.s[0].setValid(); } \
                      hdr.h.c = meta.s[hdr.h.a].c + (meta.s[0].a ++ meta.s[1].b);",
            ..Parts::default()
        },
        &["00000000", "00010000", "01010000", "01050000", "05010000"],
        expect![[r#"
            00000000 -> 00000000
            00010000 -> 00010901
            01010000 -> 01010104
            01050000 -> 01050108
            05010000 -> 05010000
            I.r[1] = 0x9
        "#]],
    );
}

#[test]
fn field_lists_have_the_variables() {
    check_field_lists(
        &Parts {
            types: "header_union u_t { h_t p; h_t q; }",
            metadata: "h_t m; @field_list(1) h_t n; @field_list(2) h_t[2] s; @field_list(2) u_t u;",
            ingress: "resubmit_preserving_field_list(1); resubmit_preserving_field_list(2); resubmit({ meta.m.a, hdr.h.a }); \
                      resubmit({ meta.m.c }); resubmit({ meta.m.a, hdr.h.a }); resubmit({ meta.m });",
            ..Parts::default()
        },
        expect![[r#"
            1: meta.n.a meta.n.b meta.n.c
            2: meta.s[0].a meta.s[0].b meta.s[0].c meta.s[1].a meta.s[1].b meta.s[1].c meta.u.p.a meta.u.p.b meta.u.p.c meta.u.q.a meta.u.q.b meta.u.q.c
            0: meta.m.a
            0: meta.m.c
            0: meta.m.a meta.m.b meta.m.c
        "#]],
    );
}

#[test]
fn programs_that_would_become_too_large_are_refused() {
    let ingress = "meta.s[hdr.h.a].a = meta.s[hdr.h.b].b;\n".repeat(200);
    check_errors(
        &Parts { metadata: "h_t[1000] s;", ingress: &ingress, ..Parts::default() },
        expect![[r#"
            E0802 the program becomes too large when the fields of its metadata's headers are variables at `meta.s[hdr.h.a].a = meta.s[hdr.h.b].b;`
        "#]],
    );
}
