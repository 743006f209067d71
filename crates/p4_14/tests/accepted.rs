//! Constructs that P4_14 programs may contain, beyond the grammar's plainest forms: each is accepted without an error,
//! and the test shows its translation.

use expect_test::{Expect, expect};
use syntax::{MemoryFiles, Options, SourceMap, render_short};

/// The declarations at the beginning of most programs.
const PRELUDE: &str = "header_type h_t { fields { a : 8; b : 16; } } header h_t h; metadata h_t m;
action nop() { }
parser start { extract(h); return ingress; }
";

/// The lines of the translation between one that starts with each of `starts` and the end of what begins there,
/// preceded by the diagnostics.
fn translated(text: &str, starts: &[&str]) -> String {
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let options = Options::new(&files);
    let (tree, mut diagnostics) = p4_14::parse_text(&mut sources, "t.p4", text, &options, Some(p4_14::Standard::P4_14));
    if !diagnostics.has_errors() {
        sema::check(&tree, &mut diagnostics);
    }
    let mut shown: String = diagnostics.iter().map(|it| format!("{}\n", render_short(&sources, it))).collect();
    // A line at the margin, so that the others keep their indentation.
    shown.push_str("---\n");
    let printed = syntax::print(&tree);
    for start in starts {
        let indent = start.len() - start.trim_start().len();
        let end = format!("{:indent$}}}", "");
        let mut lines = printed.lines().skip_while(|line| !line.starts_with(start));
        for line in lines.by_ref() {
            shown.push_str(&format!("{line}\n"));
            if line == end || line.starts_with(start) && line.ends_with(';') {
                break;
            }
        }
    }
    shown
}

/// Declarations after the usual ones and before an `ingress` that applies the table `t`.
fn check(declarations: &str, starts: &[&str], expected: Expect) {
    let text = format!("{PRELUDE}{declarations}\ncontrol ingress {{ apply(t); }}");
    expected.assert_eq(&translated(&text, starts));
}

#[test]
fn a_default_action_may_be_constant() {
    check(
        "action set(x) { modify_field(h.a, x); }
         table t { reads { h.a : exact; } actions { nop; set; } const default_action : set(3); }",
        &["        const default_action"],
        expect![[r#"
            ---
                    const default_action = set(8w3);
        "#]],
    );
}

#[test]
fn a_table_may_have_no_actions() {
    check(
        "table t { reads { h.a : exact; } }",
        &["    @name(\".t\") table t"],
        expect![[r#"
            ---
                @name(".t") table t {
                    key = {
                        hdr.h.a: exact @name("h.a");
                    }
                    actions = {
                        @defaultonly NoAction;
                    }
                    default_action = NoAction();
                }
        "#]],
    );
}

#[test]
fn a_header_and_metadata_may_have_one_name() {
    check(
        "header_type n_t { fields { b : 16; c : 8; } }
         metadata n_t h;
         action act() { modify_field(h.a, 1); modify_field(h.b, 2); modify_field(h.c, 3); }
         table t { reads { h.c : exact; valid(h) : exact; } actions { act; } }",
        &["struct headers", "struct metadata", "    @name(\".act\") action act", "    @name(\".t\") table t"],
        expect![[r#"
            ---
            struct headers {
                h_t h;
            }
            struct metadata {
                h_t_0 m;
                n_t h;
            }
                @name(".act") action act() {
                    hdr.h.a = 8w1;
                    hdr.h.b = 16w2;
                    meta.h.c = 8w3;
                }
                @name(".t") table t {
                    key = {
                        meta.h.c: exact @name("h.c");
                        hdr.h.isValid(): exact @name("h.$valid$");
                    }
                    actions = {
                        act;
                        @defaultonly NoAction;
                    }
                    default_action = NoAction();
                }
        "#]],
    );
}

#[test]
fn metadata_are_meant_where_only_they_can_be() {
    let text = "header_type h_t { fields { a : 8; } } metadata h_t h { a : 7; } header h_t h;
        parser start { extract(h); set_metadata(h.a, latest.a); return ingress; } control ingress { }";
    expect![[r#"
        ---
            state start_0 {
                packet.extract(hdr.h);
                meta.h.a = hdr.h.a;
                transition accept;
            }
    "#]]
    .assert_eq(&translated(text, &["    state start_0"]));
}

#[test]
fn parser_states_assign() {
    let text = "header_type h_t { fields { a : 8; b : 16; } } header h_t h; metadata h_t m;
        parser start { extract(h); m.b = latest.a + 1; h.a = 2; return ingress; } control ingress { }";
    expect![[r#"
        ---
            state start {
                packet.extract(hdr.h);
                meta.m.b = (bit<16>)(hdr.h.a + 8w1);
                hdr.h.a = 8w2;
                transition accept;
            }
    "#]]
    .assert_eq(&translated(text, &["    state start"]));
}

#[test]
fn the_first_return_of_a_state_counts() {
    let text = "header_type h_t { fields { a : 8; } } header h_t h;
        parser start { return select(current(0, 8)) { 1 : one; } return ingress; }
        parser one { extract(h); return ingress; parse_error bad; }
        parser_exception bad { parser_drop; } control ingress { }";
    expect![[r#"
        t.p4:2:66: warning[W0902]: the state has gone on already: this is never reached
        t.p4:3:50: warning[W0902]: the state has gone on already: this is never reached
        ---
            state start {
                transition select (packet.lookahead<bit<8>>()) {
                    8w1: one;
                }
            }
            state one {
                packet.extract(hdr.h);
                transition accept;
            }
    "#]]
    .assert_eq(&translated(text, &["    state start", "    state one"]));
}

#[test]
fn cases_have_a_value_for_each_key() {
    let text = "header_type h_t { fields { a : 8; b : 16; } } header h_t h;
        parser start { extract(h); return select(h.a, h.b) {
            (1, 0x800) : ingress; (2 mask 0xf, 3) : ingress; ((4), 5), (6, 7) : ingress; (8) : ingress; (8) + 1 : ingress;
        } } control ingress { }";
    expect![[r#"
        ---
            state start {
                packet.extract(hdr.h);
                transition select (hdr.h.a ++ hdr.h.b) {
                    24w67584: accept;
                    24w131075 &&& 24w1048575: accept;
                    24w262149: accept;
                    24w393223: accept;
                    24w8: accept;
                    24w9: accept;
                }
            }
    "#]]
    .assert_eq(&translated(text, &["    state start"]));
}

#[test]
fn fields_may_be_called_valid() {
    check(
        "header_type v_t { fields { valid : 8; } } header v_t v; metadata v_t w { valid : 1; }
         parser other { extract(v); return ingress; }
         action act(valid) { modify_field(v.valid, valid); add_to_field(w.valid, 1); }
         table t { reads { v.valid : exact; v : valid; w.valid : ternary; } actions { act; } }",
        &["    @name(\".act\") action act", "    @name(\".t\") table t"],
        expect![[r#"
            t.p4:5:17: warning[W0204]: the state `other` is never reached
            ---
                @name(".act") action act(bit<8> valid) {
                    hdr.v.valid = valid;
                    meta.w.valid = meta.w.valid + 8w1;
                }
                @name(".t") table t {
                    key = {
                        hdr.v.valid: exact @name("v.valid");
                        hdr.v.isValid(): exact @name("v.$valid$");
                        meta.w.valid: ternary @name("w.valid");
                    }
                    actions = {
                        act;
                        @defaultonly NoAction;
                    }
                    default_action = NoAction();
                }
        "#]],
    );
}

#[test]
fn validity_may_be_written_as_a_field() {
    check(
        "action act() { modify_field(m.a, h.valid); }
         table t { reads { h.valid : exact; } actions { act; } }",
        &["    @name(\".act\") action act", "    @name(\".t\") table t"],
        expect![[r#"
            ---
                @name(".act") action act() {
                    meta.m.a = (bit<8>)(bit<1>)hdr.h.isValid();
                }
                @name(".t") table t {
                    key = {
                        hdr.h.isValid(): exact @name("h.$valid$");
                    }
                    actions = {
                        act;
                        @defaultonly NoAction;
                    }
                    default_action = NoAction();
                }
        "#]],
    );
}

#[test]
fn widths_may_be_left_out() {
    check(
        "header_type v_t { fields { bit<3> pcp; bit cfi; bit<12> vid; } } header v_t v;
         parser other { extract(v); return ingress; }
         action act(in bit one, in port, inout header hdr, bit<7> seven, int<4> s) {
             modify_field(v.cfi, one); modify_field(standard_metadata.egress_spec, port);
         }
         table t { actions { act; } }",
        &["header v_t", "    @name(\".act\") action act"],
        expect![[r#"
            t.p4:6:55: warning[W0904]: the width of parameter `hdr` is not known; it gets 32 bits
            t.p4:5:17: warning[W0204]: the state `other` is never reached
            ---
            header v_t {
                bit<3> pcp;
                bit<1> cfi;
                bit<12> vid;
            }
                @name(".act") action act(bit<1> one, bit<9> port, bit<32> hdr, bit<7> seven, int<4> s) {
                    hdr_0.v.cfi = one;
                    standard_metadata.egress_spec = port;
                }
        "#]],
    );
}

#[test]
fn pragmas_may_stand_anywhere() {
    let text = "@pragma first thing
header_type h_t { fields {
@pragma in a field list
    a : 8; } }
header
@pragma even, here
h_t h;
@pragma packet_entry
parser start { extract(
@pragma x
    h); return ingress; }
@pragma stage 3
@pragma pack \"a\" 0x10 h.a
action act(
@pragma of a parameter
p) { modify_field(h.a, p); }
@pragma hidden
table t { actions {
#pragma of the preprocessor
@pragma y
    act; }
@pragma z
}
control ingress { if (
@pragma w
h.a == 1) { apply(t); } }
@pragma last";
    let starts = ["    @pragma stage", "    @pragma hidden"];
    expect![[r#"
        ---
            @pragma stage 3
        @pragma pack "a" , 16 , "h.a"
        @name(".act") action act(bit<8> p) {
                hdr.h.a = p;
            }
            @pragma hidden
        @name(".t") table t {
                actions = {
                    act;
                    @defaultonly NoAction;
                }
                default_action = NoAction();
            }
    "#]]
    .assert_eq(&translated(text, &starts));
}

#[test]
fn stateful_memories_keep_what_controllers_see() {
    check(
        "counter c { type : bytes_and_packets; instance_count : 1000; min_width : 48; }
         meter e { type : bytes; instance_count : 16; }
         register r { width : 8; instance_count : 1; }
         action act(i, j, k) { count(c, i); execute_meter(e, j, m.a); register_read(m.a, r, k); }
         table t { actions { act; } action_profile : p; }
         field_list l { h.a; }
         field_list_calculation f { input { l; } algorithm : programmable_crc; output_width : 16; }
         action_selector s { selection_key : f; selection_mode : fair; selection_type : resilient; }
         action_profile p { actions { act; } size : 8; dynamic_action_selection : s; }",
        &["@min_width", "@name(\".c\")", "@name(\".p\")", "@mode", "    @name(\".act\") action act"],
        expect![[r#"
            ---
            @name(".c") @min_width(48) counter(32w1000, CounterType.packets_and_bytes) c;
            @name(".p") @mode("fair") @type("resilient") action_selector(HashAlgorithm.crc16_custom, 32w8, 32w16) p;
                @name(".act") action act(bit<10> i, bit<4> j, bit<32> k) {
                    c.count((bit<32>)i);
                    e.execute_meter((bit<32>)j, meta.m.a);
                    r.read(meta.m.a, k);
                }
        "#]],
    );
}

#[test]
fn values_are_cast_and_compared() {
    check(
        "action act(p) { m.a = (bit<4>) h.b + 1; modify_field(m.b, min(h.a, max(p, 3))); min(m.a, 1, h.a); }
         table t { actions { act; } }",
        &["    @name(\".act\") action act"],
        expect![[r#"
            ---
                @name(".act") action act(bit<8> p) {
                    meta.m.a = (bit<8>)((bit<4>)hdr.h.b + 4w1);
                    meta.m.b = (bit<16>)(hdr.h.a <= (p >= 8w3 ? p : 8w3) ? hdr.h.a : p >= 8w3 ? p : 8w3);
                    meta.m.a = 8w1 < hdr.h.a ? 8w1 : hdr.h.a;
                }
        "#]],
    );
}

#[test]
fn controls_return_to_where_they_were_called() {
    let text = format!(
        "{PRELUDE} table t {{ actions {{ nop; }} }} table u {{ actions {{ nop; }} }}
         control sub {{ if (h.a == 1) {{ if (h.b == 2) {{ return; }} apply(t); }} apply(u); }}
         control ingress {{ sub(); if (h.a == 3) {{ return; }} apply(t); }}"
    );
    expect![[r#"
        ---
        control ingress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            @name(".nop") action nop() {
            }
            @name(".t") table t {
                actions = {
                    nop;
                    @defaultonly NoAction;
                }
                default_action = NoAction();
            }
            @name(".u") table u {
                actions = {
                    nop;
                    @defaultonly NoAction;
                }
                default_action = NoAction();
            }
            apply {
                bool returned = false;
                if (hdr.h.a == 8w1) {
                    if (hdr.h.b == 16w2) {
                        returned = true;
                    }
                    if (!returned) {
                        t.apply();
                    }
                }
                if (!returned) {
                    u.apply();
                }
                if (hdr.h.a == 8w3) {
                    return;
                }
                t.apply();
            }
        }
    "#]]
    .assert_eq(&translated(&text, &["control ingress"]));
}

#[test]
fn externs_are_called_in_parsers_and_controls() {
    let text = "header_type h_t { fields { a : 8; } } header h_t h;
        extern_type unit { method step(in bit<4> a); } extern unit u;
        parser start { extract(h); u.step(latest.a); return ingress; } control ingress { u.step(3); }";
    expect![[r#"
        ---
            state start {
                packet.extract(hdr.h);
                u.step((bit<4>)hdr.h.a);
                transition accept;
            }
        control ingress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            apply {
                u.step(4w3);
            }
        }
    "#]]
    .assert_eq(&translated(text, &["    state start", "control ingress"]));
}

/// The order of the reference compiler: a control's own tables first, then those of the controls that it calls.
#[test]
fn tables_stand_in_the_order_of_the_controls() {
    let text = format!(
        "{PRELUDE} action b() {{ }} action a() {{ }}
         table one {{ actions {{ b; nop; }} }} table two {{ actions {{ a; }} }} table three {{ actions {{ nop; }} }}
         control inner {{ apply(one); }}
         control ingress {{ inner(); apply(two) {{ a {{ apply(three); }} }} }}"
    );
    let printed = translated(&text, &["control ingress"]);
    let names = printed.lines().filter_map(|line| line.trim().strip_prefix("@name(")?.strip_suffix(" {"));
    expect![[r#"
        ".a") action a()
        ".nop") action nop()
        ".b") action b()
        ".two") table two
        ".three") table three
        ".one") table one
    "#]]
    .assert_eq(&names.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn what_version_1_1_writes_differently() {
    check(
        "action drop(); action set_port(in bit<9> port);
         meter e { type : bytes; instance_count : 16; }
         action act(in bit<4> cell) { meter(e, cell, m.a); }
         table t { reads { m.a : index; } actions { act; } }",
        &["    @name(\".act\") action act", "    @name(\".t\") table t"],
        expect![[r#"
            ---
                @name(".act") action act(bit<4> cell) {
                    e.execute_meter((bit<32>)cell, meta.m.a);
                }
                @name(".t") table t {
                    key = {
                        meta.m.a: exact @name("m.a");
                    }
                    actions = {
                        act;
                        @defaultonly NoAction;
                    }
                    default_action = NoAction();
                }
        "#]],
    );
}
