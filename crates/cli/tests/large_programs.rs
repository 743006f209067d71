//! Large programs, and programs that grow during compilation, end soon: with a result or with a short error.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Far more than is needed on an idle machine, far less than anything that grows with a power of the program.
const TIME_MAX: Duration = Duration::from_secs(40);

/// A v1model program with these declarations, states and ingress.
fn program(declarations: &str, states: &str, locals: &str, ingress: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> a; bit<16> b; bit<32> c; }}
struct headers_t {{ h_t h; }}
struct meta_t {{ bit<8> x; }}
{declarations}
parser P(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {{
    state start {{ packet.extract(h.h); transition first; }}
    {states}
}}
control V(inout headers_t h, inout meta_t m) {{ apply {{ }} }}
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {{
    {locals}
    apply {{ {ingress} }}
}}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers_t h, inout meta_t m) {{ apply {{ }} }}
control D(packet_out packet, in headers_t h) {{ apply {{ packet.emit(h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

const ACCEPT: &str = "state first { transition accept; }";

fn ingress(locals: &str, statements: &str) -> String {
    program("", ACCEPT, locals, statements)
}

/// Writes the program, runs `wirespeed` on it, and returns whether that succeeded and its output, errors first.
fn run(name: &str, arguments: &[&str], text: &str) -> (bool, String) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.p4"));
    std::fs::write(&path, text).unwrap();
    let begin = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_wirespeed")).args(arguments).arg(&path).output().unwrap();
    assert!(begin.elapsed() < TIME_MAX, "{name} took {:?}", begin.elapsed());
    assert!(output.status.code().is_some_and(|code| code < 2), "{name}: {:?}", output.status);
    let text = [output.stderr, output.stdout].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Must compile to C of at most this length.
fn compiles(name: &str, text: &str, length_max: usize) {
    let (good, output) = run(name, &["compile", "--emit", "c"], text);
    assert!(good, "{name}: {}", output.lines().take(8).collect::<Vec<_>>().join("\n"));
    assert!(output.len() <= length_max, "{name} becomes {} bytes", output.len());
}

/// Must be refused with a short error.
fn is_refused(name: &str, text: &str, code: &str) {
    let (good, output) = run(name, &["check"], text);
    assert!(!good && output.contains(code), "{name}: {}", output.lines().take(8).collect::<Vec<_>>().join("\n"));
    assert!(output.len() < 20_000, "{name} is refused in {} bytes", output.len());
}

#[test]
fn long_chains() {
    let sum = format!("h.h.c = h.h.c{};", " + h.h.c".repeat(3000));
    compiles("sum", &ingress("", &sum), 1 << 20);
    let choice = format!("h.h.a = {} 3;", "h.h.a == 1 ? 8w2 :".repeat(2000));
    compiles("choice", &ingress("", &choice), 1 << 20);
    let mut branches = String::from("if (h.h.b == 0) { h.h.a = 1; }");
    (1..2000).for_each(|case| branches.push_str(&format!(" else if (h.h.b == {case}) {{ h.h.a = {}; }}", case % 256)));
    compiles("branches", &ingress("", &branches), 8 << 20);
    let conditionals =
        format!("{}h.h.b = 1;{}", "if (h.h.c[3:0] == 1) { h.h.c = h.h.c + 1;".repeat(500), "}".repeat(500));
    compiles("conditionals", &ingress("", &conditionals), 4 << 20);
}

#[test]
fn nested_lists() {
    let list = format!("{} h.h {}", "{".repeat(2000), "}".repeat(2000));
    let text = ingress("", "").replace("packet.emit(h);", &format!("packet.emit({list});"));
    compiles("nested_lists", &text, 1 << 20);
}

#[test]
fn nested_loops() {
    let mut loops = String::new();
    for depth in 0..400 {
        loops.push_str(&format!(
            "for (bit<8> i{depth} = 0; i{depth} < 3; i{depth} = i{depth} + 1) {{ h.h.b = h.h.b + 1;"
        ));
    }
    loops.push_str(&format!("h.h.a = 1; {}", "}".repeat(400)));
    compiles("loops", &ingress("", &loops), 4 << 20);
}

#[test]
fn many_states() {
    let mut states = String::from("state first { transition s0; }");
    for state in 0..10_000 {
        let next = state + 1;
        states.push_str(&format!(
            "state s{state} {{ transition select(packet.lookahead<bit<8>>()) {{ {}: s{next}; _: accept; }} }}\n",
            state % 250
        ));
    }
    states.push_str("state s10000 { transition accept; }");
    compiles("states", &program("", &states, "", ""), 16 << 20);
}

#[test]
fn wide_switches_and_tables() {
    let cases: String = (0..20_000).map(|case| format!("{case}: {{ h.h.c = {case}; }}\n")).collect();
    compiles("switch", &ingress("", &format!("switch (h.h.b) {{ {cases} }}")), 16 << 20);
    let entries: String = (0..100_000).map(|entry| format!("{entry}: set({});\n", entry % 256)).collect();
    let table = format!(
        "action set(bit<8> v) {{ h.h.a = v; }} table t {{ key = {{ h.h.c: exact; }} actions = {{ set; }} \
         const entries = {{ {entries} }} size = 100000; }}"
    );
    compiles("entries", &ingress(&table, "t.apply();"), 1 << 20);
}

#[test]
fn what_doubles_at_every_level() {
    let mut controls = String::from("control c0(inout bit<8> x) { apply { x = x + 1; } }\n");
    let mut types = String::from("struct s0 { bit<8> a; }\n");
    let mut lists = String::from("const list<bit<8>> k0 = { 1, 2 };\n");
    let mut macros = String::from("#define X0 1\n");
    for level in 1..40 {
        let below = level - 1;
        controls.push_str(&format!(
            "control c{level}(inout bit<8> x) {{ c{below}() p; c{below}() q; apply {{ p.apply(x); q.apply(x); }} }}\n"
        ));
        types.push_str(&format!("struct s{level} {{ s{below} a; s{below} b; }}\n"));
        let ty = format!("{}bit<8>{}", "list<".repeat(level), ">".repeat(level));
        lists.push_str(&format!("const list<{ty}> k{level} = {{ k{below}, k{below} }};\n"));
        macros.push_str(&format!("#define X{level} X{below} + X{below}\n"));
    }
    is_refused("controls", &program(&controls, ACCEPT, "c39() c;", "c.apply(h.h.a);"), "E0802");
    is_refused("types", &format!("{types} control c(inout s39 x) {{ apply {{ }} }}"), "E0315");
    is_refused("macros", &format!("{macros} const int a = X39;"), "E0116");
    let (good, output) = run("lists", &["check"], &lists);
    assert!(good, "{output}");
}

#[test]
fn errors_do_not_flood() {
    let statements: String = (0..10_000).map(|count| format!("h.h.nothing{count} = 1;\n")).collect();
    let (good, output) = run("errors", &["check"], &ingress("", &statements));
    assert!(!good && output.len() < 40_000, "{} bytes", output.len());
    is_refused("braces", &ingress("", &format!("{}{}", "{".repeat(50_000), "}".repeat(50_000))), "E0123");
}

/// Thousands of ordinary lines: the limit is a multiple of the second that the check may take, as tests share
/// machines.
#[test]
fn an_ordinary_program_of_five_thousand_lines() {
    let (mut locals, mut statements) = (String::new(), String::new());
    for table in 0..400 {
        locals.push_str(&format!(
            "action set{table}(bit<8> p, bit<16> q) {{\n h.h.a = p;\n h.h.b = q + h.h.b;\n m.x = m.x + 1;\n}}\n\
             table t{table} {{\n key = {{\n h.h.a: exact;\n h.h.c: lpm;\n }}\n actions = {{\n set{table};\n NoAction;\n }}\n\
             size = 1024;\n}}\n"
        ));
        statements.push_str(&format!("if (h.h.isValid()) {{\n if (t{table}.apply().hit) {{\n m.x = 1;\n }}\n}}\n"));
    }
    let text = ingress(&locals, &statements);
    assert!(text.lines().count() > 5000);
    let begin = Instant::now();
    let (good, output) = run("ordinary", &["check"], &text);
    assert!(good, "{output}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// Masks and shifts that count the ones of `x`, each line twice as wide as the one before.
fn count_ones(width: usize) -> String {
    let mut lines = String::new();
    for ones in (0..).map(|power| 1 << power).take_while(|ones| *ones < width) {
        let bits = (0..width).rev().map(|bit| if bit / ones % 2 == 0 { '1' } else { '0' }).collect::<String>();
        let mask = format!("{width}w0b{bits}");
        lines.push_str(&format!("x = (x & {mask}) + ((x >> {ones}) & {mask});\n"));
    }
    lines
}

/// The plan of a program, which is written to a file.
fn plan(name: &str, text: &str) -> String {
    let (good, output) = run(name, &["compile", "--emit", "plan"], text);
    assert!(good, "{name}: {}", output.lines().take(8).collect::<Vec<_>>().join("\n"));
    output
}

/// A binary neural network: each neuron is a function of a wide value and its weights. The C compiler gets calls
/// instead of half a million instructions.
#[test]
fn a_neural_network_of_wide_values() {
    let width = 256;
    let declarations = format!(
        "bit<16> neuron(in bit<{width}> inputs, in bit<{width}> weights) {{\nbit<{width}> x = ~(inputs ^ weights);\n\
         {}return x[15:0];\n}}\n",
        count_ones(width)
    );
    let mut locals = String::from("bit<256> inputs = 0;\n");
    let mut statements = String::from("inputs[31:0] = h.h.c;\n");
    for layer in 0..3 {
        locals.push_str(&format!("bit<{width}> layer{layer} = 0;\n"));
        let inputs = if layer == 0 { "inputs".to_owned() } else { format!("layer{}", layer - 1) };
        for neuron in 0..64 {
            let weights: String = (0..64).map(|at| format!("{:x}", (at * 7 + neuron * 5 + layer) % 16)).collect();
            statements.push_str(&format!(
                "if (neuron({inputs}, {width}w0x{weights}) > 128) {{ layer{layer}[{neuron}:{neuron}] = 1; }}\n"
            ));
        }
    }
    statements.push_str("h.h.c = layer2[31:0];");
    let text = program(&declarations, ACCEPT, &locals, &statements);
    let plan = plan("network", &text);
    assert!(plan.contains("compiled in less time: operations on values over 64 bits are called"), "{plan}");
}

/// As in hypervisors: thousands of tables in a row, each with actions of its own.
#[test]
fn five_thousand_tables() {
    let (mut locals, mut statements) = (String::new(), String::new());
    for table in 0..5000 {
        for action in 0..3 {
            locals.push_str(&format!(
                "action a{table}_{action}(bit<32> p) {{ h.h.c = h.h.c + p; m.x = m.x ^ {action}; }}\n"
            ));
        }
        locals.push_str(&format!(
            "table t{table} {{ key = {{ h.h.a: exact; h.h.b: ternary; }} \
             actions = {{ a{table}_0; a{table}_1; a{table}_2; NoAction; }} size = 64; }}\n"
        ));
        statements.push_str(&format!("if (m.x != {}) {{ t{table}.apply(); }}\n", table % 200));
    }
    let text = ingress(&locals, &statements);
    let plan = plan("tables", &text);
    assert!(
        plan.contains("compiled in less time: ") && plan.contains(" functions of the C code "),
        "{}",
        &plan[..2000.min(plan.len())]
    );
}
