//! The verifier: each rule of its catalogue, broken once.

use expect_test::{Expect, expect};
use ir::text::parse;

const SAMPLE: &str = include_str!("sample.ir");

/// Replaces a part of the sample and shows the verifier's complaints.
fn check(part: &str, replacement: &str, expected: Expect) {
    assert!(SAMPLE.contains(part), "the sample has no {part:?}");
    let program = parse(&SAMPLE.replacen(part, replacement, 1)).unwrap();
    let errors: Vec<String> = ir::verify(&program).unwrap_err().iter().map(ToString::to_string).collect();
    expected.assert_eq(&errors.join("\n"));
}

#[test]
fn storage() {
    check("\"NoMatch\" ", "", expect!["errors: the first errors are not those of core.p4"]);
    check(
        "bit<200>",
        "bit<0>",
        expect![[r#"
            block0 state1: a slice [7:0] of Bit(0)
            block2: a slice [199:0] of Bit(16)
            block2: Bit(200) Xor Bit(0)
            block2: the value has 200 bits and should have 0"#]],
    );
    check(
        "bit<9> intrinsic 1",
        "bit<65> intrinsic 1",
        expect![[r#"
            v0: an intrinsic variable of more than 64 bits
            action0: the value has 9 bits and should have 65
            block2: the values do not fit the fields of digest0
            point0: Bit(65) Eq Bit(9)
            point1: the value has 9 bits and should have 65"#]],
    );
    check("intrinsic 14", "intrinsic 1", expect!["v1: slot 1 has another variable already"]);
    check("intrinsic 14", "intrinsic 99", expect!["v1: the architecture has no slot 99"]);
    check("\"ttl\" bit<8>", "\"ttl\" bit<7>", expect!["ht1: 31 bits are not whole bytes"]);
    check(
        "\"length\" bit<8>",
        "\"length\" varbit<8>",
        expect![[r#"
        ht2: more than one varbit field
        block0 state1: field 0 is varbit"#]],
    );
    check("[h1, h2]", "[h1, h0]", expect!["stack0: h0 differs from the other elements in type or life"]);
    check("[h1, h2]", "[h1, h1]", expect!["stack0: h1 is an element twice"]);
    check("next v4", "next v2", expect!["stack0: v2 is not a 32-bit index"]);
    check("[v2, v0]", "[v2, v5]", expect!["flist0: v5 is a local variable"]);
    check("bit<16> size 16", "bit<16> size 99999999999", expect!["register0: 99999999999 cells; the most is 67108864"]);
    check(
        "v2 \"meta.count\" bit<16> metadata",
        "v2 \"meta.count\" bit<16> local",
        expect![[r#"
            flist0: v2 is a local variable
            point0: the local v2 in decisions
            point0: the local v2 in decisions
            point3: the local v2 in decisions
            point3: the local v2 in decisions
            block2: the local v2 belongs to block0"#]],
    );
}

#[test]
fn decisions() {
    check("point2 {\n}\npoint3", "point2", expect!["program: decisions at 3 points, v1model has 4 points"]);
    check("enqueue v0 priority 3w0x0", "v0 = 9w0x1", expect!["point0: decisions that do not end"]);
    check("  send v0 limit v2\n", "", expect!["point3: decisions that do not end"]);
    check("drop ingress", "drop egress", expect!["point0: an end of decisions on the other side of the queues"]);
    check(
        "send v0\n",
        "enqueue v0 priority v0\n",
        expect!["point3: an end of decisions on the other side of the queues"],
    );
    check("punt 11", "punt 3", expect!["point0: the architecture has no request 3"]);
    check("punt 11", "v2 = 16w0x1\n punt 11", expect!["point0: a request behind an assignment"]);
    check("send v0\n", "send v0\n v0 = 9w0x1\n", expect!["point3: a statement behind the end of decisions"]);
    check("send v0\n", "send v3\n", expect!["point3: the port is Int(12) and should be unsigned"]);
    check("send v0\n", "send v0 limit v3\n", expect!["point3: the limit is Int(12) and should be unsigned"]);
    check("priority 3w0x0", "priority false", expect!["point0: the priority is Bool and should be unsigned"]);
    check(
        "v0 = 9w0x0",
        "set_valid h0",
        expect![[r#"
        point1: a header in decisions
        point1: a statement that is not part of decisions"#]],
    );
    check("send v0\n", "send v5\n", expect!["point3: the local v5 in decisions"]);
    check("v0 = v5", "punt 11", expect!["action0: an end of decisions in a body of kind Action"]);
}

#[test]
fn added_entries() {
    let check = |part: &str, replacement: &str, expected| {
        check(part, &format!("v0 = v5\n {replacement}"), expected);
    };
    let add = "v0 = v5";
    check(add, "add_entry v9 = table9 (h0.1) 1(v5) timer 8w0x0", expect!["action0: table9 does not exist"]);
    check(
        add,
        "add_entry v9 = table1 (h0.2) 1(v5) timer 8w0x0",
        expect![[r#"
            action0: the keys do not fit those of table1
            action0: entries are added to table1, which adds none
            action0: table1 has an action profile"#]],
    );
    check(add, "set_timer 9w0x0", expect!["action0: the profile is Bit(9) and should be Bit(8)"]);
}

#[test]
fn expressions() {
    check("v0 = v5", "v0 = (v5 + 8w0x1)", expect!["action0: Bit(9) Add Bit(8)"]);
    check("v0 = v5", "v0 = (v5 / v3)", expect!["action0: Bit(9) Div Int(12)"]);
    check("v0 = v5", "v0 = (v6 ? v5 : 8w0x1)", expect!["action0: the second choice is Bit(8) and should be Bit(9)"]);
    check("v0 = v5", "v0 = (v5 ? v5 : v5)", expect!["action0: the condition is Bit(9) and should be Bool"]);
    check("v0 = v5", "v0 = v5[9:1]", expect!["action0: a slice [9:1] of Bit(9)"]);
    check("v0 = v5", "v0 = !v5", expect!["action0: Not of Bit(9)"]);
    check("v0 = v5", "v9 = ~v6", expect!["action0: BitNot of Bool"]);
    check("v0 = v5", "v0 = (v5 << v3)", expect!["action0: Bit(9) Shl Int(12)"]);
    check("v0 = v5", "v9 = (v6 < v6)", expect!["action0: Bool Lt Bool"]);
    check("v0 = v5", "v0 = (v6 ++ v5[7:0])", expect!["action0: Bool ++ Bit(8)"]);
    check("v0 = v5", "v0 = packet_length[8:0]", expect!["action0: the packet's length outside of a parser"]);
    check("v0 = v5", "h3.1 = 320w0x0", expect!["action0: field 1 is varbit"]);
    check("valid(stack0[v2])", "valid(stack0[v3])", expect!["block2: an index of type Int(12)"]);
}

#[test]
fn statements() {
    check("v0 = v5", "v0 = v2", expect!["action0: the value has 16 bits and should have 9"]);
    check("v0 = v5", "apply table1", expect!["action0: a table's application in a body of kind Action"]);
    check("v0 = v5", "emit h0", expect!["action0: emit in a body of kind Action"]);
    check("v0 = v5", "extract h0", expect!["action0: extract in a body of kind Action"]);
    check(
        "extract h3 varbit (bit<32>(h3.0) << 3w0x3)",
        "extract h3",
        expect!["block0 state1: a varbit length and a varbit field go together"],
    );
    check("leave l1\n", "leave l3\n", expect!["block2: l3 is left from outside"]);
    check(
        "loop l1",
        "loop l0",
        expect![[r#"
        program: l0 names two statements
        block2: l1 is left from outside"#]],
    );
    check(
        "loop l1",
        "loop l7",
        expect![[r#"
        program: l7 does not exist
        block2: l1 is left from outside"#]],
    );
    check(
        "control exit l0",
        "control",
        expect![[r#"
        block2: table0 has an action that leaves l0, not the exit around
        block2: table1 has an action that leaves l0, not the exit around"#]],
    );
    check("case 32w0x1 {", "case 32w0x2 {", expect!["block2: two cases 32w0x2"]);
    check("case 32w0x1 {", "case 31w0x1 {", expect!["block2: the case 31w0x1 for a value of 32 bits"]);
    check(
        "copy stack0[8w0x1] = h1",
        "copy stack0[8w0x1] = h0",
        expect!["block2: a copy between headers of types (Some(ht1), Some(ht0))"],
    );
    check("random v2 = 16w0x1 .. v2", "random v8 = v8 .. v8", expect!["block2: a random Bit(200)"]);
    check("read v2", "read v0", expect!["block2: 16 bits are read to Some(9)"]);
    check(
        "crc32_continued(32w0x2, v3)",
        "crc32_continued(v3)",
        expect!["block2: a continued hash has no former value of 32 bits"],
    );
    check(
        "hit v6 action v7",
        "hit v7 action v6",
        expect![[r#"
        block2: a table's result Bool goes to v7, which is Bit(32)
        block2: a table's result Bit(32) goes to v6, which is Bool"#]],
    );
    check(
        "digest digest0 (h0.1, v0)",
        "digest digest0 (h0.1)",
        expect!["block2: the values do not fit the fields of digest0"],
    );
    check("varbit h3.1", "varbit h3.0", expect!["table0: field 0 is not varbit"]);
    check("copy_varbit h3.1 = h3.1", "copy_varbit h3.0 = h3.1", expect!["block2: field 0 is not varbit"]);
    check("varbit_equal(h3.1, h3.1)", "varbit_equal(h3.1, h3.0)", expect!["block2: field 0 is not varbit"]);
    check("apply table1", "apply table7", expect!["block2: table7 does not exist"]);
    check("register0[4w0x3]", "register3[4w0x3]", expect!["block2: register3 does not exist"]);
}

#[test]
fn parsers() {
    check(
        "start state0 error v1",
        "start state5 error v2",
        expect![[r#"
        block0: state5 does not exist
        block0: the error variable is Bit(16)"#]],
    );
    check("case (16w0x800, any)", "case (16w0x800)", expect!["block0 state0: a case of 1 sets for 2 keys"]);
    check(
        "case (16w0x800, any)",
        "case (15w0x0, any)",
        expect!["block0 state0: a set of a case is Bit(15) and should be Bit(16)"],
    );
    check(
        "case (16w0x800, any)",
        "case (16w0x800, true &&& true)",
        expect!["block0 state0: a mask or a range of truth values"],
    );
    check("goto state0", "goto state9", expect!["block0 state1: state9 does not exist"]);
    check("(\"type\" 16", "(\"type\" 15", expect!["block0 state0: vset0 does not fit the select's keys"]);
}

#[test]
fn tables() {
    check(
        "ternary 48w0x10 &&&",
        "ternary 48w0x100 &&&",
        expect!["table0: Ternary { value: 48w0x100, mask: 48w0xff } for a key that is Ternary of Bit(48)"],
    );
    check(
        "16w0xff00/8",
        "16w0xff00/7",
        expect!["table0: Lpm { value: 16w0xff00, prefix_len: 7 } for a key that is Lpm of Bit(16)"],
    );
    check(
        "range 12w0x1 .. 12w0x5",
        "range 12w0x6 .. 12w0x5",
        expect!["table0: Range { low: 12w0x6, high: 12w0x5 } for a key that is Range of Int(12)"],
    );
    check(
        "optional 16w0x800)",
        "exact 16w0x800)",
        expect!["table0: Exact(16w0x800) for a key that is Optional of Bit(16)"],
    );
    check("(exact 48w0xffffffffffff)", "()", expect!["table1: an entry of 0 keys, the table has 1"]);
    check(
        "optional h0.2",
        "lpm h0.2",
        expect![[r#"
            table0: Optional(None) for a key that is Lpm of Bit(16)
            table0: Optional(Some(16w0x800)) for a key that is Lpm of Bit(16)"#]],
    );
    check("3 0(9w0x2)", "3 0(8w0x2)", expect!["table0: the arguments [8w0x2] do not fit action0"]);
    check("3 0(9w0x2)", "3 5(8w0x2)", expect!["table0: the table lists no action 5"]);
    check("const default 1()", "const default 0(9w0x1)", expect!["table0: the default action is for entries only"]);
    check("priority 0 1(9w0x1ff)", "priority 0 0()", expect!["table1: an entry's action is for the default only"]);
    check(
        "forward\" (v5)",
        "forward\" (v2)",
        expect![[r#"
        action0: the parameter v2 is not a local of its own
        table0: the arguments [9w0x2] do not fit action0
        table1: the arguments [9w0x1ff] do not fit action0"#]],
    );
    check("  const_entries", "  direct_counter dcounter0", expect!["table1: dcounter0 belongs to another table too"]);
}

#[test]
fn architecture() {
    check(
        "block4 \"MyComputeChecksum\" control {\n}\nblock5",
        "block4",
        expect![[r#"
        program: 5 blocks, v1model has 6
        block4: emit in a body of kind Control
        block4: emit in a body of kind Control
        block4: emit in a body of kind Control"#]],
    );
}

#[test]
fn routines() {
    check("call routine0\n", "call routine1\n", expect!["routine1: routine1 is called before it is complete"]);
    check(
        "call routine0\n",
        "call routine7\n",
        expect![[r#"
        routine1: routine7 does not exist
        routine1: routine7 is called before it is complete"#]],
    );
    check(
        "call routine0\n",
        "apply table0\n",
        expect![[r#"
        routine1: a table's application in a body of kind Routine
        routine1: a statement that no routine may have"#]],
    );
    check("call routine0\n", "leave l0\n", expect!["routine1: l0 is left from a routine that does not have it"]);
    check(
        "call routine0\n",
        "emit h0\n",
        expect![[r#"
        routine1: emit in a body of kind Routine
        routine1: a statement that no routine may have"#]],
    );
}
