//! The externs of v1model.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_field_lists, check_ir, check_packets, check_warnings, lower, lower_ok};

#[test]
fn registers_and_counters() {
    check_packets(
        &Parts {
            locals: "register<bit<16>>(4) r; counter(4, CounterType.packets_and_bytes) c; bit<16> x;",
            ingress: "c.count((bit<32>) hdr.h.a); hdr.h.c = 7; r.read(hdr.h.c, (bit<32>) hdr.h.a); x = hdr.h.c + 1; r.write((bit<32>) hdr.h.a, x);",
            ..Parts::default()
        },
        &["01000000", "01000000", "03000000", "09000000"],
        expect![[r#"
            01000000 -> 01000000
            01000000 -> 01000001
            03000000 -> 03000000
            09000000 -> 09000007
            I.r[1] = 0x2
            I.r[3] = 0x1
            I.c[1] counted 2
            I.c[3] counted 1
        "#]],
    );
}

/// The cells are 0, and controllers see an array.
#[test]
fn cells_of_registers_may_have_no_bits() {
    check_packets(
        &Parts {
            locals: "register<bit<0>>(4) r; register<tuple<bit<0>, bit<0>>>(2) s; bit<0> x; tuple<bit<0>, bit<0>> y;",
            ingress: "r.read(x, (bit<32>) hdr.h.a); s.read(y, 1); r.write(2, x); s.write(9, y); hdr.h.c = x ++ hdr.h.c ++ y[0];",
            ..Parts::default()
        },
        &["01000005", "09000005"],
        expect![[r#"
            01000005 -> 01000005
            09000005 -> 09000005
            I.r[2] = 0x0
        "#]],
    );
}

#[test]
fn a_register_may_hold_the_number_of_the_start() {
    let locals = "@start_number register<bit<32>>(2) r; register<bit<32>>(2) s;";
    let program = lower_ok(&Parts { locals, ingress: "r.write(0, 1); s.write(0, 1);", ..Parts::default() }.text());
    let text = ir::text::print(&program);
    let declared: Vec<&str> = text.lines().filter(|line| line.starts_with("register")).collect();
    let wanted = ["register0 \"I.r\" bit<32> size 2 start_number", "register1 \"I.s\" bit<32> size 2"];
    assert_eq!(declared, wanted);
    assert!(ir::text::parse(&text).is_ok_and(|again| again.registers == program.registers));
}

#[test]
fn meters_and_random_numbers() {
    check_packets(
        &Parts {
            locals: "meter(4, MeterType.bytes) m;",
            ingress: "hdr.h.b = 5; m.execute_meter((bit<32>) 1, hdr.h.b); random(hdr.h.c, 16w7, 16w7); random(hdr.h.a, 8w9, 8w3);",
            ..Parts::default()
        },
        &["01000000"],
        expect![[r#"
            01000000 -> 01000007
        "#]],
    );
}

#[test]
fn hashes() {
    check_packets(
        &Parts {
            headers: "h_t h; h_t g;",
            ingress: "hash(hdr.h.c, HashAlgorithm.crc16, 16w0, { hdr.h.a, hdr.h.b, hdr.g.c }, 32w65536); \
                      hash(hdr.h.b, HashAlgorithm.identity, 8w10, { hdr.h.a }, 8w0);",
            ..Parts::default()
        },
        &["31320000"],
        expect![[r#"
            31320000 -> 310a4594
        "#]],
    );
    check_ir(
        Stage::Ingress,
        &Parts { ingress: "hash(hdr.h.c, HashAlgorithm.crc32, 16w1, hdr.h, 32w100);", ..Parts::default() },
        expect![[r#"
            block2 "I" control {
              hash v16 = crc32(h0.0 if h0, h0.1 if h0, h0.2 if h0)
              h0.2 = bit<16>((64w0x1 + (v16 % 64w0x64)))
            }
        "#]],
    );
}

#[test]
fn remainders_of_polynomials() {
    let types = "#include <wirespeed.p4>\n";
    check_packets(
        &Parts {
            types,
            locals: "bit<3> r;",
            ingress: "crc_remainder(hdr.h.b, hdr.h.c, 0x1d); \
                      crc_remainder(r, hdr.h.c[6:0], 3w3); hdr.h.a = (bit<8>) r;",
            ..Parts::default()
        },
        &["00001234", "0000ffff", "000000ff"],
        expect![[r#"
            00001234 -> 05c31234
            0000ffff -> 003bffff
            000000ff -> 00ff00ff
        "#]],
    );
    // Data are filled up in front, so that they are whole bytes.
    check_ir(
        Stage::Ingress,
        &Parts { types, ingress: "crc_remainder(hdr.h.b, hdr.h.c[6:0], 0x1d);", ..Parts::default() },
        expect![[r#"
            block2 "I" control {
              hash h0.1 = remainder 8 29(bit<8>(h0.2[6:0]))
            }
        "#]],
    );
    for (ingress, error) in [
        (
            "bit<33> r; crc_remainder(r, hdr.h.c, 3);",
            expect![[r#"
                E0802 a remainder is a `bit<1>` to `bit<32>`, and its width is the degree at `crc_remainder(r, hdr.h.c, 3)`
            "#]],
        ),
        (
            "crc_remainder(hdr.h.b, hdr.h.c, hdr.h.a);",
            expect![[r#"
                E0804 this must be a number known at compile time at `hdr.h.a`
            "#]],
        ),
    ] {
        check_errors(&Parts { types, ingress, ..Parts::default() }, error);
    }
}

#[test]
fn constants_of_constructors_mean_something_where_they_are_used() {
    let types = "control Divides(inout bit<8> x)(int k) { apply { x = (bit<8>)(5 / k); } }
        control Rest(inout bit<8> x)(int k) { apply { x = x % (bit<8>)k; } }
        control Shifts(inout bit<8> x)(int k) { apply { x = x << k; } }
        control Picks(inout bit<8> x)(int k) { apply { bit<8>[2] a = { 1, 2 }; x = a[k]; } }";
    for (control, wrong, error) in [
        ("Divides", &["0", "-2"][..], "E0804 division"),
        ("Rest", &["0", "256"], "E0804 division by zero"),
        ("Shifts", &["-1"], "E0804 a shift by a negative number"),
        ("Picks", &["2", "-1"], "E0804 this index is out of range: there are 2 elements"),
    ] {
        for (value, is_wrong) in wrong.iter().map(|value| (*value, true)).chain([("1", false)]) {
            let locals = format!("{control}({value}) c;");
            let parts = Parts { types, locals: &locals, ingress: "c.apply(hdr.h.a);", ..Parts::default() };
            let found = lower(&parts.text()).err().unwrap_or_default();
            assert_eq!(found.starts_with(error), is_wrong, "{locals}: {found}");
        }
    }
}

#[test]
fn the_members_of_an_enum_that_must_be_known() {
    let ingress = "CloneType t = CloneType.I2E; HashAlgorithm a = HashAlgorithm.crc16; \
                   if (hdr.h.a == 1) { t = CloneType.E2E; a = HashAlgorithm.crc32; } \
                   clone(t, 3); hash(hdr.h.c, a, 16w0, { hdr.h.a }, 32w65536);";
    check_errors(
        &Parts { ingress, ..Parts::default() },
        expect![[r#"
            E0804 this must be a member of `CloneType` that is known at compile time: `I2E`, `E2E` at `t`
            E0804 this must be a member of `HashAlgorithm` that is known at compile time: `crc32`, `crc32_custom`, `crc16`, `crc16_custom`, `random`, `identity`, `csum16`, `xor16` at `a`
        "#]],
    );
}

#[test]
fn bits_that_a_mask_picks() {
    let types = "#include <wirespeed.p4>\n";
    check_packets(
        &Parts {
            types,
            ingress: "hdr.h.c = bits_gather(hdr.h.c, hdr.h.a ++ hdr.h.b); hdr.h.b = bits_scatter(hdr.h.b, hdr.h.a);",
            ..Parts::default()
        },
        &["0ff01234", "aa0bffff", "00ffffff"],
        expect![[r#"
            0ff01234 -> 0f000023
            aa0bffff -> aa8a007f
            00ffffff -> 000000ff
        "#]],
    );
    check_errors(
        &Parts { types, ingress: "int<8> r = bits_gather((int<8>)hdr.h.a, 3);", ..Parts::default() },
        expect![[r#"
            E0802 `bits_gather` takes a value and a mask of one type `bit<N>` at `bits_gather((int<8>)hdr.h.a, 3)`
        "#]],
    );
}

#[test]
fn checksums() {
    check_packets(
        &Parts {
            verify: "verify_checksum(hdr.h.a != 0, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);",
            compute: "update_checksum(hdr.h.isValid(), { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);",
            ..Parts::default()
        },
        &["1234edcb", "12340000", "00340000"],
        expect![[r#"
            1234edcb -> 1234edcb
            12340000 -> 1234edcb checksum_error=1
            00340000 -> 0034ffcb
        "#]],
    );
}

#[test]
fn a_payload_in_a_checksum() {
    check_packets(
        &Parts {
            compute: "update_checksum_with_payload(true, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);",
            ..Parts::default()
        },
        &["00010000 0002"],
        expect![[r#"
            00010000 0002 -> 0001fffc0002
        "#]],
    );
}

#[test]
fn dropping_and_requests() {
    check_packets(
        &Parts {
            metadata: "@field_list(1) bit<8> kept; @field_list(1, 2) bit<16> both; bit<8> lost;",
            ingress: "sm.mcast_grp = 3; mark_to_drop(sm); \
                      if (hdr.h.a == 1) { clone(CloneType.I2E, 5); } \
                      if (hdr.h.a == 2) { clone_preserving_field_list(CloneType.I2E, 32w6, 2); resubmit_preserving_field_list(1); } \
                      if (hdr.h.a == 3) { clone3(CloneType.I2E, 7, { meta.lost, sm.ingress_port }); resubmit({ meta.kept }); } \
                      if (hdr.h.a == 4) { truncate(20); truncate(10); truncate(30); }",
            egress: "if (hdr.h.a == 5) { clone(CloneType.E2E, 1); recirculate_preserving_field_list(2); } if (hdr.h.a == 6) { recirculate_preserving_field_list(9); }",
            ..Parts::default()
        },
        &["01000000", "02000000", "03000000", "04000000", "05000000", "06000000"],
        expect![[r#"
            01000000 -> 01000000 egress_spec=511 CloneIngressSession=6
            02000000 -> 02000000 egress_spec=511 CloneIngressSession=7 CloneList=1 Resubmit=3
            03000000 -> 03000000 egress_spec=511 CloneIngressSession=8 CloneList=3 Resubmit=5
            04000000 -> 04000000 egress_spec=511 Truncate=11
            05000000 -> 05000000 egress_spec=511 CloneEgressSession=2 Recirculate=2
            06000000 -> 06000000 egress_spec=511 Recirculate=1
        "#]],
    );
}

#[test]
fn field_lists() {
    check_field_lists(
        &Parts {
            types: "struct inner_t { bit<8> x; bit<8> y; }",
            metadata: "@field_list(1) inner_t i; @field_list(2, 1) bit<16> both; bit<8> lost;",
            ingress: "resubmit_preserving_field_list(1); clone_preserving_field_list(CloneType.I2E, 1, 2);",
            ..Parts::default()
        },
        expect![[r#"
            1: meta.i.x meta.i.y meta.both
            2: meta.both
        "#]],
    );
}

#[test]
fn digests_are_sent_when_ingress_ends_with_the_values_of_then() {
    check_packets(
        &Parts {
            types: "struct news_t { bit<8> a; bit<16> c; bit<8> v; }",
            locals: "action report(bit<8> v) { digest<news_t>(7, { hdr.h.a, hdr.h.c, v }); } \
                     table t { key = { hdr.h.a: exact; } actions = { report; NoAction; } default_action = NoAction; const entries = { 1: report(0x99); } }",
            ingress: "t.apply(); hdr.h.c = 0x1234; if (hdr.h.b == 1) { exit; } hdr.h.c = 0x5678;",
            ..Parts::default()
        },
        &["01000000", "01010000", "02000000"],
        expect![[r#"
            01000000 -> 01005678
            01010000 -> 01011234
            02000000 -> 02005678
            message: digest0 [8w0x1, 16w0x5678, 8w0x99]
            message: digest0 [8w0x1, 16w0x1234, 8w0x99]
        "#]],
    );
}

/// A message reports of headers whether they are valid, as they are at the end.
#[test]
fn digests_of_headers_have_their_validity() {
    check_packets(
        &Parts {
            types: "struct news_t { h_t h; bit<8> last; }",
            ingress: "digest<news_t>(7, { hdr.h, 9 }); if (hdr.h.b == 1) { hdr.h.setInvalid(); }",
            ..Parts::default()
        },
        &["01000000", "01010000"],
        expect![[r#"
            01000000 -> 01000000
            01010000 -> 
            message: digest0 [1w0x1, 8w0x1, 8w0x0, 16w0x0, 8w0x9]
            message: digest0 [1w0x0, 8w0x0, 8w0x0, 16w0x0, 8w0x9]
        "#]],
    );
}

#[test]
fn logs_and_assertions() {
    check_packets(
        &Parts {
            ingress: "log_msg(\"start\"); log_msg(\"a={} c={}\", { hdr.h.a, hdr.h.c }); assert(hdr.h.a != 2); assume(true);",
            ..Parts::default()
        },
        &["01000203", "02000000"],
        expect![[r#"
            01000203 -> 01000203
            02000000 -> assertion failed
            message: start
            message: a=1 c=515
            message: start
            message: a=2 c=0
            message: assertion failed: assert(hdr.h.a != 2)
        "#]],
    );
}

#[test]
fn a_failed_assertion_shows_its_condition() {
    let long = vec!["hdr.h.a == hdr.h.b"; 40].join(" || ");
    let conditions = [
        "hdr.h.a != 0 && hdr.h.isValid() && !(hdr.h.b == 0x10 || hdr.h.c[7:0] < 3)",
        "(hdr.h.a + 1) * 2 == -1",
        "(bit<24>) hdr.h.a == hdr.h.c ++ 8w0 >> 8",
        "sm.parser_error == error.NoError && k == kind_t.two && c == color_t.red",
        "hdr.s[1].x == (hdr.h.a == 1 ? 8w2 : same(3)) || { hdr.h.a, hdr.h.b } != { 8w1, 8w2 }",
        "t.apply().hit && hdr.s[hdr.h.a].isValid()",
        &long,
    ];
    let ingress: Vec<String> = conditions.iter().map(|condition| format!("assume({condition});")).collect();
    let program = lower_ok(
        &Parts {
            types: "enum bit<8> kind_t { one = 1, two = 2 } enum color_t { red, green } header s_t { bit<8> x; } \
                    bit<8> same(in bit<8> v) { return v; }",
            headers: "h_t h; s_t[2] s;",
            locals: "kind_t k = kind_t.one; color_t c = color_t.red; \
                     table t { key = { hdr.h.a: exact; } actions = { NoAction; } }",
            ingress: &ingress.join(" "),
            ..Parts::default()
        }
        .text(),
    );
    let text = ir::text::print(&program);
    let shown: String = text
        .lines()
        .filter(|line| line.contains("assume("))
        .filter_map(|line| line.split('"').nth(1))
        .map(|text| format!("{text}\n"))
        .collect();
    expect![[r#"
        assume(hdr.h.a != 0 && hdr.h.isValid() && !(hdr.h.b == 16 || hdr.h.c[7:0] < 3))
        assume(((hdr.h.a + 1) * 2) == 255)
        assume((bit<24>)hdr.h.a == ((hdr.h.c ++ 0) >> 8))
        assume(sm.parser_error == error.NoError && k == kind_t.two && c == color_t.red)
        assume(hdr.s[1].x == ((hdr.h.a == 1) ? 2 : same(3)) || { hdr.h.a, hdr.h.b } != { 1, 2 })
        assume(t.apply().hit && hdr.s[hdr.h.a].isValid())
        assume(hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b || hdr.h.a == hdr.h.b ||...)
    "#]].assert_eq(&shown);
}

#[test]
fn each_call_of_a_custom_crc_is_a_calculation() {
    check_ir(
        Stage::Ingress,
        &Parts {
            locals: "action again() { hash(hdr.h.c, HashAlgorithm.crc16_custom, 16w0, { hdr.h.a, hdr.h.b }, 32w65536); }",
            ingress: "hash(hdr.h.b, HashAlgorithm.crc32, 8w0, { hdr.h.a }, 16w256); again(); again();",
            ..Parts::default()
        },
        expect![[r#"
            block2 "I" control {
              hash v16 = crc32(h0.0 if h0)
              h0.1 = bit<8>((v16 % 64w0x100))
              hash v17 = calculation0(h0.0 if h0, h0.1 if h0)
              h0.2 = bit<16>((v17 % 64w0x10000))
              hash v18 = calculation0(h0.0 if h0, h0.1 if h0)
              h0.2 = bit<16>((v18 % 64w0x10000))
            }
        "#]],
    );
    let ingress = "hash(hdr.h.b, HashAlgorithm.crc32_custom, 8w0, { hdr.h.a }, 16w256); \
                   hash(hdr.h.b, HashAlgorithm.crc16_custom, 8w0, { hdr.h.a }, 16w256);";
    let program = lower_ok(&Parts { ingress, ..Parts::default() }.text());
    let names = |program: ir::Program| -> Vec<String> {
        program.calculations.iter().map(|it| format!("{} {}", it.name, it.width_bits)).collect()
    };
    assert_eq!(names(program), ["calc 32", "calc_0 16"]);
    // Both calls from one use of a macro.
    let types = format!("#define BOTH {ingress}\n");
    let program = lower_ok(&Parts { types: &types, ingress: "BOTH", ..Parts::default() }.text());
    assert_eq!(names(program), ["calc 32", "calc_0 16"]);
}

#[test]
fn positions_say_where_a_macro_is_used() {
    let types = "#define COPY hdr.h.a = hdr.h.b; if (hdr.h.c == 1) { hdr.h.c = 2; }\n";
    let program = lower_ok(&Parts { types, ingress: "COPY", ..Parts::default() }.text());
    assert!(ir::text::parse(&ir::text::print(&program)).is_ok_and(|again| again == program));
}

#[test]
fn the_length_that_egress_sees_grows_with_headers() {
    let parts = Parts {
        headers: "h_t h; h_t g;",
        ingress: "if (hdr.h.a == 1) { hdr.g.setValid(); hdr.g.setValid(); } if (hdr.h.a == 2) { hdr.h.setInvalid(); }",
        egress: "hdr.h.c = (bit<16>) sm.packet_length; hdr.g.c = (bit<16>) sm.packet_length;",
        ..Parts::default()
    };
    check_packets(
        &parts,
        &["0000000000", "0100000000", "0200000000"],
        expect![[r#"
        0000000000 -> 0000000500
        0100000000 -> 010000090000000900 LengthDelta=4
        0200000000 -> 00 LengthDelta=4294967292
    "#]],
    );
}

#[test]
fn fields_are_known_by_name() {
    let text = Parts { ingress: "sm.egress_spec = 3; sm.extra = 5; hdr.h.a = sm.extra;", ..Parts::default() }.text();
    let own = "#include <core.p4>\n\
        match_kind { range, optional, selector }\n\
        struct standard_metadata_t { bit<8> extra; bit<9> egress_spec; bit<9> ingress_port; }\n\
        parser Parser<H, M>(packet_in b, out H parsedHdr, inout M meta, inout standard_metadata_t standard_metadata);\n\
        control VerifyChecksum<H, M>(inout H hdr, inout M meta);\n\
        control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);\n\
        control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);\n\
        control ComputeChecksum<H, M>(inout H hdr, inout M meta);\n\
        control Deparser<H>(packet_out b, in H hdr);\n\
        package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg, ComputeChecksum<H, M> ck, Deparser<H> dep);\n";
    let program = lower_ok(&text.replace("#include <core.p4>\n#include <v1model.p4>\n", own));
    let standard = program.vars.iter().filter(|var| var.name.starts_with("sm.") || var.name == "parser_error");
    let text: String = standard.map(|var| format!("{} {:?}\n", var.name, var.kind)).collect();
    expect![[r#"
        sm.extra Metadata
        sm.egress_spec Intrinsic(1)
        sm.ingress_port Intrinsic(0)
        parser_error Intrinsic(14)
    "#]]
    .assert_eq(&text);
}

#[test]
fn profiles_and_selectors() {
    let locals = "action_selector(HashAlgorithm.crc16, 16, 10) s; action_profile(4) p; action a(bit<8> x) { hdr.h.b = x; } \
        table t { key = { hdr.h.a: exact; hdr.h.c: selector; sm.ingress_port: selector; } actions = { a; } implementation = s; } \
        table u { key = { hdr.h.a: exact; hdr.h.c: selector; sm.ingress_port: selector; } actions = { a; } implementation = s; } \
        table v { key = { hdr.h.a: exact; } actions = { a; } implementation = p; } \
        table w { key = { hdr.h.a: exact; } actions = { a; } implementation = action_profile(8); }";
    let program =
        lower_ok(&Parts { locals, ingress: "t.apply(); u.apply(); v.apply(); w.apply();", ..Parts::default() }.text());
    let text = ir::text::print(&program);
    let lines = text.lines().filter(|line| line.starts_with("profile") || line.contains("implementation"));
    expect![[r#"
        profile0 "I.s" size 16 selector crc16
        profile1 "I.p" size 4
        profile2 "I.w" size 8
          implementation profile0 (h0.2 if h0, v0)
          implementation profile0 (h0.2 if h0, v0)
          implementation profile1 ()
          implementation profile2 ()
    "#]]
    .assert_eq(&lines.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn tables_that_share_a_selector_hash_the_same() {
    let locals = "action_selector(HashAlgorithm.crc16, 16, 10) s; action a(bit<8> x) { hdr.h.b = x; } \
        table t { key = { hdr.h.a: exact; hdr.h.c: selector; } actions = { a; } implementation = s; } \
        table u { key = { hdr.h.a: exact; hdr.h.b: selector; } actions = { a; } implementation = s; }";
    check_errors(
        &Parts { locals, ingress: "t.apply(); u.apply();", ..Parts::default() },
        expect![[r#"
        E0808 the tables that share the action selector `I.s` must hash the same keys at `u`
    "#]],
    );
}

#[test]
fn a_selector_may_draw_a_number() {
    let locals = "action_selector(HashAlgorithm.random, 16, 10) s; action a(bit<8> x) { hdr.h.b = x; } \
        table t { key = { hdr.h.a: exact; hdr.h.c: selector; } actions = { a; } implementation = s; }";
    check_ir(
        Stage::Ingress,
        &Parts { locals, ingress: "t.apply();", ..Parts::default() },
        expect![[r#"
        action0 "I.a" (v16) {
          h0.1 = v16
        }
        action1 "NoAction" () {
        }
        table0 "I.t" size 1024 {
          key "hdr.h.a" exact h0.0
          action action0
          action action1 default_only
          default 1()
          implementation profile0 (v17)
        }
        block2 "I" control {
          random v17 = 64w0x0 .. 64w0xffffffffffffffff
          apply table0
        }
    "#]],
    );
}

/// Requests that have no effect where they stand are accepted, and the program makes no request.
#[test]
fn what_has_no_effect_asks_for_nothing() {
    check_ir(
        Stage::Egress,
        &Parts { egress: "resubmit_preserving_field_list(1); digest<bit<8>>(1, hdr.h.a);", ..Parts::default() },
        expect![[r#"
            block3 "E" control {
            }
        "#]],
    );
    // The block decides which clone it is.
    check_ir(
        Stage::Egress,
        &Parts { egress: "clone(CloneType.I2E, 1);", ..Parts::default() },
        expect![[r#"
        block3 "E" control {
          v16 = 32w0x2
          v17 = 32w0x0
        }
    "#]],
    );
}

#[test]
fn cells_of_registers_may_be_structs_and_headers() {
    check_packets(
        &Parts {
            types: "struct pair_t { bit<8> x; h_t h; bool f; }",
            locals: "register<pair_t>(2) r; pair_t p;",
            ingress: "p.x = 9; r.read(p, (bit<32>) hdr.h.a); hdr.h.b = p.x; if (p.h.isValid()) { hdr.h.c = p.h.c; } \
                      p = { 5, hdr.h, true }; p.h.c = 0x1234; r.write((bit<32>) hdr.h.a, p);",
            ..Parts::default()
        },
        &["01000000", "01000000", "00000000", "02000000"],
        expect![[r#"
            01000000 -> 01000000
            01000000 -> 01051234
            00000000 -> 00000000
            02000000 -> 02090000
            I.r[0] = 0x1600002469
            I.r[1] = 0x16020a2469
        "#]],
    );
}

#[test]
fn deparsers_have_no_tables() {
    let parts = Parts {
        types: "control Inner(in bit<8> x) { table t { key = { x: exact; } actions = { NoAction; } } apply { t.apply(); } }",
        deparser: "Inner.apply(hdr.h.a); packet.emit(hdr);",
        ..Parts::default()
    };
    check_errors(
        &parts,
        expect![[r#"
        E0807 a table cannot be applied in a deparser at `t.apply()`
    "#]],
    );
}

#[test]
fn direct_objects_without_a_table_have_no_effect() {
    let parts = Parts {
        locals: "direct_counter(CounterType.packets) alone; direct_counter(CounterType.packets) used;
                 action a() { used.count(); }
                 table t { actions = { a; } default_action = a; counter = used; }",
        ingress: "t.apply(); alone.count();",
        ..Parts::default()
    };
    check_warnings(
        &parts,
        expect![[r#"
        W0801 the table property `counter` has no meaning here and is ignored at `counter = used;`
        W0802 this has no effect: no table has `I.used`, which has a cell for each entry at `used.count()`
        W0802 this has no effect: no table has `I.alone`, which has a cell for each entry at `alone.count()`
    "#]],
    );
}

#[test]
fn a_direct_meter_without_a_table_cannot_be_read() {
    let parts = Parts {
        locals: "direct_meter<bit<8>>(MeterType.packets) unread;",
        ingress: "unread.read(hdr.h.a);",
        ..Parts::default()
    };
    check_errors(
        &parts,
        expect![[r#"
        E0809 there is no result: no table has `I.unread`, which has a cell for each entry at `unread.read(hdr.h.a)`
    "#]],
    );
}

#[test]
fn numbers_of_field_lists_are_computed() {
    let parts = Parts {
        types: "const bit<8> ONE = 1;",
        metadata: "@field_list(1 + 1) bit<8> x; @field_list(ONE + 1, 1 << 2) bit<8> y; @field_list((3 - 2) | 4) bit<8> z;",
        ingress: "resubmit_preserving_field_list(2); clone_preserving_field_list(CloneType.I2E, 1, 4); \
                  clone_preserving_field_list(CloneType.I2E, 1, 5);",
        ..Parts::default()
    };
    let program = lower_ok(&parts.text());
    let numbers: Vec<(u64, usize)> = program.field_lists.iter().map(|list| (list.number, list.vars.len())).collect();
    assert_eq!(numbers, [(2, 2), (4, 1), (5, 1)]);
}

#[test]
fn other_architectures_and_no_main() {
    let errors = |text: &str| lower(text).err().unwrap_or_default();
    expect![[r#"
        E0803 a program for package `Other` cannot be run, only checked at `main`
    "#]]
    .assert_eq(&errors(
        "#include <core.p4>\ncontrol C(); package Other(C c); control D() { apply { } } Other(D()) main;",
    ));
    expect![[r#"
        E0803 the program has no package instance called `main`, so there is nothing to run at ``
    "#]]
    .assert_eq(&errors("#include <core.p4>\n#include <v1model.p4>\n"));
}

/// What v1model decides about packets of a program with this ingress and egress.
fn check_decisions(ingress: &str, egress: &str, expected: expect_test::Expect) {
    let parts = Parts { ingress, egress, ..Parts::default() };
    let text = ir::text::print_annotated(&lower_ok(&parts.text()));
    let decisions = text.find("point0").map_or("", |at| &text[at..]);
    expected.assert_eq(decisions);
}

#[test]
fn decisions_ask_only_for_what_is_requested() {
    check_decisions(
        "sm.egress_spec = 1;",
        "",
        expect![[r#"
        point0 {  # behind ingress
          if (v1 == 9w0x1ff) {  # sm.egress_spec
            drop ingress
          }
          v3 = 32w0x0  # sm.instance_type
          enqueue v1 priority 3w0x0  # sm.egress_spec
        }
        point1 {  # behind the queues
          v1 = 9w0x0  # sm.egress_spec
          v4 = ((v4 == 32w0x0) ? packet_length : v4)  # sm.packet_length
        }
        point2 {  # behind egress
          if (v1 == 9w0x1ff) {  # sm.egress_spec
            drop egress
          }
        }
        point3 {  # behind the deparser
          send v2  # sm.egress_port
        }
    "#]],
    );
    let ingress = "
        clone(CloneType.I2E, 5);
        sm.mcast_grp = 1;
        sm.priority = 2;
        resubmit_preserving_field_list(1);
        truncate(60);
    ";
    let egress = "
        clone(CloneType.E2E, 5);
        recirculate_preserving_field_list(1);
        if (sm.packet_length > 100) { mark_to_drop(sm); }
    ";
    check_decisions(
        ingress,
        egress,
        expect![[r#"
        point0 {  # behind ingress
          if (v16 != 32w0x0) {  # clone from ingress
            punt 16
          }
          if (v18 != 32w0x0) {  # resubmit
            punt 20
          }
          if (v11 != 16w0x0) {  # sm.mcast_grp
            punt 11
          }
          if (v1 == 9w0x1ff) {  # sm.egress_spec
            drop ingress
          }
          v3 = 32w0x0  # sm.instance_type
          enqueue v1 priority v15  # sm.egress_spec, sm.priority
        }
        point1 {  # behind the queues
          v1 = 9w0x0  # sm.egress_spec
          v4 = ((v4 == 32w0x0) ? packet_length : v4)  # sm.packet_length
        }
        point2 {  # behind egress
          if (v20 != 32w0x0) {  # clone from egress
            punt 17
          }
          if (v1 == 9w0x1ff) {  # sm.egress_spec
            drop egress
          }
        }
        point3 {  # behind the deparser
          if (v21 != 32w0x0) {  # recirculate
            punt 21
          }
          send v2 limit v19  # sm.egress_port, truncate
        }
    "#]],
    );
}

#[test]
fn messages_for_the_log_have_a_place_for_each_value() {
    let ingress = r#"log_msg("plain"); log_msg("{} of {}", { hdr.h.a, hdr.h.b }); log_msg("header {}", hdr.h);
        log_msg("a %d", { hdr.h.a }); log_msg("{} and {}", { hdr.h.a }); log_msg("none {}");"#;
    check_warnings(
        &Parts { ingress, ..Parts::default() },
        expect![[r#"
        W0803 the message has 0 `{}`, and 1 value for them at `log_msg("a %d", { hdr.h.a })`
        W0803 the message has 2 `{}`, and 1 value for them at `log_msg("{} and {}", { hdr.h.a })`
        W0803 the message has 1 `{}`, and 0 values for them at `log_msg("none {}")`
    "#]],
    );
}
