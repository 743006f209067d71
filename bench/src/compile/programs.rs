//! Programs that are large, each in another respect.
//!
//! What enters: nothing. What leaves: their text, by name.

use std::fmt::Write as _;

/// Every program.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("network", network()),
        ("hypervisor", hypervisor()),
        ("tables", tables()),
        ("calls", calls()),
        ("chain", chain()),
        ("entries", entries()),
        ("wide", wide()),
    ]
}

/// A program for v1model with these declarations, and these in ingress.
fn program(declarations: &str, locals: &str, ingress: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> a; bit<16> b; bit<32> c; bit<512> wide; }}
struct headers_t {{ h_t h; }}
struct meta_t {{ bit<8> x; }}
{declarations}
parser P(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {{
    state start {{ packet.extract(h.h); transition accept; }}
}}
control V(inout headers_t h, inout meta_t m) {{ apply {{ }} }}
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {{
{locals}
    apply {{
{ingress}
        sm.egress_spec = 1;
    }}
}}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers_t h, inout meta_t m) {{ apply {{ }} }}
control D(packet_out packet, in headers_t h) {{ apply {{ packet.emit(h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// Lines, each with its number.
fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        _ = writeln!(text, "{}", line(number));
        text
    })
}

/// A neural network of bits: three layers of 64 neurons, each of which counts the ones of 256 bits.
fn network() -> String {
    let mut count = String::new();
    for ones in (0..8).map(|power| 1 << power) {
        let mask: String = (0..256).rev().map(|bit| if bit / ones % 2 == 0 { '1' } else { '0' }).collect();
        _ = writeln!(count, "    x = (x & 256w0b{mask}) + ((x >> {ones}) & 256w0b{mask});");
    }
    let neuron = format!(
        "bit<16> neuron(in bit<256> inputs, in bit<256> weights) {{\n    bit<256> x = ~(inputs ^ weights);\n{count}    \
         return x[15:0];\n}}\n"
    );
    let mut locals = String::from("bit<256> inputs = 0;\n");
    let mut ingress = String::from("inputs[31:0] = h.h.c;\n");
    for layer in 0..3 {
        _ = writeln!(locals, "bit<256> layer{layer} = 0;");
        let inputs = if layer == 0 { "inputs".to_owned() } else { format!("layer{}", layer - 1) };
        ingress += &lines(64, |neuron| {
            let weights: String = (0..64).map(|at| format!("{:x}", (at * 7 + neuron * 5 + layer) % 16)).collect();
            format!("if (neuron({inputs}, 256w0x{weights}) > 128) {{\n    layer{layer}[{neuron}:{neuron}] = 1;\n}}")
        });
    }
    program(&neuron, &locals, &(ingress + "h.h.c = layer2[31:0];\n"))
}

/// 5,000 tables in a row, each with actions of its own, as programs have them that run other programs.
fn hypervisor() -> String {
    let locals = lines(5000, |table| {
        let actions = lines(3, |action| {
            format!("action a{table}_{action}(bit<32> p) {{ h.h.c = h.h.c + p; m.x = m.x ^ {action}; }}")
        });
        format!(
            "{actions}table t{table} {{ key = {{ h.h.a: exact; h.h.b: ternary; }} \
             actions = {{ a{table}_0; a{table}_1; a{table}_2; NoAction; }} size = 64; }}"
        )
    });
    program("", &locals, &lines(5000, |table| format!("if (m.x != {}) {{ t{table}.apply(); }}", table % 200)))
}

/// 500 tables, each applied where the one before was hit.
fn tables() -> String {
    let locals = lines(500, |table| {
        format!(
            "action set{table}(bit<8> p, bit<16> q) {{ h.h.a = p; h.h.b = q + h.h.b; m.x = m.x + 1; }}\n\
             table t{table} {{ key = {{ h.h.a: exact; h.h.c: lpm; }} actions = {{ set{table}; NoAction; }} size = 1024; }}"
        )
    });
    let ingress = lines(500, |table| format!("if (h.h.isValid()) {{ if (t{table}.apply().hit) {{ m.x = 1; }} }}"));
    program("", &locals, &ingress)
}

/// Six functions that call one another eight times each: 37,449 calls for each packet.
fn calls() -> String {
    let mut functions = String::from("bit<32> f0(in bit<32> x, inout bit<32> y) { y = y + x; return y ^ (x >> 3); }\n");
    for level in 1..6 {
        let calls = lines(8, |call| format!("    z = z + f{}(z ^ {call}, y);", level - 1));
        _ = writeln!(
            functions,
            "bit<32> f{level}(in bit<32> x, inout bit<32> y) {{\n    bit<32> z = x;\n{calls}    return z;\n}}"
        );
    }
    program(&functions, "", "bit<32> y = h.h.c;\nh.h.c = f5(h.h.c, y) + y;\n")
}

/// A chain of 5,000 comparisons.
fn chain() -> String {
    let arms = lines(5000, |arm| format!("if (h.h.b == {arm}) {{ h.h.c = {}; }} else", arm * 3));
    program("", "", &(arms + "{ h.h.a = 1; }\n"))
}

/// A table of 5,000 constant entries.
fn entries() -> String {
    let entries = lines(5000, |entry| format!("{entry}: set({});", entry % 256));
    let locals = format!(
        "action set(bit<8> v) {{ h.h.a = v; }}\ntable t {{ key = {{ h.h.c: exact; }} actions = {{ set; NoAction; }}\n\
         const entries = {{\n{entries}}} size = 5000; }}\n"
    );
    program("", &locals, "t.apply();\n")
}

/// 300 operations on 512 bits.
fn wide() -> String {
    let operation = |number: u32| match number % 6 {
        0 => format!("x = x + (h.h.wide ^ {number});"),
        1 => format!("x = x * (h.h.wide | {number});"),
        2 => format!("x = (x << {}) - h.h.wide;", number % 64),
        3 => format!("if (x > h.h.wide) {{ x = ~x & {number}; }}"),
        4 => format!("x = x ^ (x >> {});", number % 128),
        _ => format!("x[{}:{}] = h.h.c;", number % 400 + 31, number % 400),
    };
    program("", "bit<512> x = 1;\n", &(lines(300, operation) + "h.h.wide = x;\n"))
}
