//! Small malicious programs, in which what they declare, include or nest grows with every line. Each must be refused
//! or compiled in a short time and with little memory.

use super::mutants::errors_have_places;
use crate::run::{Notes, cpu_time};
use base::Rng;
use std::fmt::Write as _;
use std::time::Duration;
use wirespeed::{MemoryFiles, Options, Source};

/// The levels of a program. With each level, something at least doubles.
const LEVELS: [u64; 6] = [2, 5, 9, 14, 24, 60];

/// The processor time limit for one program. An accepted program may have tens of thousands of statements after its
/// calls are inlined. Debug builds take longer.
const TIME_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 10 });

/// A frame for code that needs a program around it: declarations, then the body of ingress.
const FRAME: [&str; 3] = [
    "#include <core.p4>\n#include <v1model.p4>\nheader h_t { bit<8> a; bit<8> b; }\n\
     struct headers { h_t h; }\nstruct metadata { bit<8> m; }\n",
    "parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t s) {\n\
     state start { p.extract(hdr.h); transition accept; }\n}\n\
     control V(inout headers hdr, inout metadata meta) { apply { } }\n\
     control I(inout headers hdr, inout metadata meta, inout standard_metadata_t s) {\n",
    "}\ncontrol E(inout headers hdr, inout metadata meta, inout standard_metadata_t s) { apply { } }\n\
     control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }\nV1Switch(P(), V(), I(), E(), V(), D()) main;\n",
];

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let levels = *rng.pick(&LEVELS);
    let kinds: [fn(u64) -> String; 22] = [
        macros,
        macros_with_parameters,
        includes,
        conditionals,
        structs,
        generic_structs,
        tuples,
        arrays,
        typedefs,
        functions,
        actions,
        controls,
        parsers,
        headers_in_structs,
        loops,
        concatenations,
        constants,
        conditions,
        else_ifs,
        variables,
        states,
        p4_14_actions,
    ];
    let position = rng.below(kinds.len() as u64) as usize;
    let text = kinds[position](levels);
    let start = cpu_time();
    let verdict = compiled(&text);
    let time = cpu_time().saturating_sub(start);
    notes.add(if verdict.as_ref().is_ok_and(|accepted| *accepted) { "accepted" } else { "refused" });
    verdict.map_err(|what| format!("{what}\n{text}"))?;
    if time > TIME_MAX {
        return Err(format!("compiling takes {:.1} s\n{text}", time.as_secs_f64()));
    }
    Ok(())
}

/// Compiles the program; returns whether it is accepted.
fn compiled(text: &str) -> Result<bool, String> {
    let files =
        MemoryFiles::new().with("bomb.p4", text).with("again.p4", "#include \"again.p4\"\n#include \"bomb.p4\"\n");
    let mut source = Source::parse("bomb.p4", text, &Options::default(), &files);
    if let Some(typed) = source.check().filter(|typed| typed.main.is_some())
        && let Some(mut program) = source.lower(&typed, &Options::default())
    {
        ir::verify(&program).map_err(|errors| format!("the program lowered is not valid: {errors:?}"))?;
        passes::run(&mut program, passes::pipelines::STANDARD, true).map_err(|broken| broken.to_string())?;
        if let Ok(plan) = cgen::Plan::new(&program) {
            cgen::emit_c(&program, &plan, &|_| None);
        }
    }
    errors_have_places(&source.map, &source.diagnostics)?;
    Ok(!source.diagnostics.has_errors())
}

fn framed(declarations: &str, ingress: &str) -> String {
    format!("{}{declarations}{}{ingress}{}", FRAME[0], FRAME[1], FRAME[2])
}

/// A line for each level from 1; `{}` and `{-}` in the pattern are the level and the previous one.
fn lines(levels: u64, first: &str, pattern: &str) -> String {
    let mut text = format!("{first}\n");
    for level in 1..=levels {
        let _ =
            writeln!(text, "{}", pattern.replace("{-}", &(level - 1).to_string()).replace("{}", &level.to_string()));
    }
    text
}

fn macros(levels: u64) -> String {
    format!("{}const int x = M{levels};\n", lines(levels, "#define M0 1 +", "#define M{} M{-} M{-}"))
}

fn macros_with_parameters(levels: u64) -> String {
    format!(
        "{}const int x = M{levels}(1);\n",
        lines(levels, "#define M0(x) (x + x)", "#define M{}(x) M{-}(M{-}(x) + x)")
    )
}

fn includes(_: u64) -> String {
    "#include \"bomb.p4\"\n#include \"again.p4\"\n#include \"bomb.p4\"\n".into()
}

fn conditionals(levels: u64) -> String {
    let depth = levels as usize * 400;
    format!("{}{}", "#if 1 || (2 > 1)\n".repeat(depth), "#endif\n".repeat(depth))
}

fn structs(levels: u64) -> String {
    let types = lines(levels, "struct S0 { bit<8> a; bit<8> b; }", "struct S{} { S{-} a; S{-} b; }");
    framed(&types, &format!("S{levels} x;\napply {{ S{levels} y = x; if (x == y) {{ meta.m = 1; }} }}\n"))
}

fn generic_structs(levels: u64) -> String {
    let types = lines(levels, "struct G<T> { T a; T b; }\ntypedef G<bit<8>> G0;", "typedef G<G{-}> G{};");
    framed(&types, &format!("apply {{ G{levels} y; G{levels} z = y; if (z == y) {{ meta.m = 1; }} }}\n"))
}

fn tuples(levels: u64) -> String {
    let types = lines(levels, "typedef bit<8> T0;", "typedef tuple<T{-}, T{-}, T{-}> T{};");
    framed(&types, &format!("apply {{ T{levels} y; T{levels} z = y; if (z == y) {{ meta.m = 1; }} }}\n"))
}

fn arrays(levels: u64) -> String {
    let types = lines(levels, "typedef h_t A0;", "struct A{} { A{-}[1000] a; }");
    framed(&types, &format!("A{levels} x;\napply {{ x = x; }}\n"))
}

fn typedefs(levels: u64) -> String {
    framed(&lines(levels * 300, "typedef bit<8> T0;", "typedef T{-} T{};"), "apply { }\n")
}

fn functions(levels: u64) -> String {
    let first = "bit<8> f0(in bit<8> a) { return a + 1; }";
    let functions = lines(levels, first, "bit<8> f{}(in bit<8> a) { return f{-}(a) + f{-}(a + 1); }");
    framed(&functions, &format!("apply {{ meta.m = f{levels}(hdr.h.a); }}\n"))
}

fn actions(levels: u64) -> String {
    let actions = lines(levels, "action a0() { meta.m = meta.m + 1; }", "action a{}() { a{-}(); a{-}(); }");
    framed("", &format!("{actions}table t {{ actions = {{ a{levels}; }} }}\napply {{ t.apply(); a{levels}(); }}\n"))
}

fn controls(levels: u64) -> String {
    let first =
        "control C0(inout bit<8> x) { table t { key = { x : exact; } actions = { NoAction; } } apply { t.apply(); } }";
    let controls =
        lines(levels, first, "control C{}(inout bit<8> x) { C{-}() a; C{-}() b; apply { a.apply(x); b.apply(x); } }");
    framed(&controls, &format!("C{levels}() c;\napply {{ c.apply(meta.m); }}\n"))
}

fn parsers(levels: u64) -> String {
    let first = "parser Q0(packet_in p, out h_t h) { state start { p.extract(h); transition accept; } }";
    let pattern = "parser Q{}(packet_in p, out h_t h) { Q{-}() a; Q{-}() b; \
                   state start { a.apply(p, h); b.apply(p, h); transition accept; } }";
    let parsers = lines(levels, first, pattern);
    let text = framed(&parsers, "apply { }\n");
    let call = format!("Q{levels}() q;\nstate start {{ q.apply(p, hdr.h); transition accept; }}");
    text.replace(
        "state start { p.extract(hdr.h); transition accept; }\n}\ncontrol V",
        &format!("{call}\n}}\ncontrol V"),
    )
}

fn headers_in_structs(levels: u64) -> String {
    let types = lines(levels, "struct N0 { h_t[4] h; }", "struct N{} { N{-} a; N{-} b; }");
    framed(&types, &format!("N{levels} x;\napply {{ N{levels} y; x = y; }}\n"))
}

fn loops(levels: u64) -> String {
    let depth = levels as usize * 16;
    let open = "for (bit<8> i in 0..255) { meta.m = meta.m + i; ".repeat(depth);
    framed("", &format!("apply {{ {open}{} }}\n", "}".repeat(depth)))
}

fn concatenations(levels: u64) -> String {
    let first = "const bit<1> c0 = 1;";
    let mut text = format!("{first}\n");
    for level in 1..=levels.min(40) {
        let _ = writeln!(text, "const bit<{}> c{level} = c{} ++ c{};", 1u64 << level, level - 1, level - 1);
    }
    framed(&text, "apply { }\n")
}

fn constants(levels: u64) -> String {
    framed(&lines(levels, "const int k0 = 3;", "const int k{} = k{-} * k{-} * k{-};"), "apply { }\n")
}

fn conditions(levels: u64) -> String {
    let one = "if (hdr.h.a == hdr.h.b || meta.m > 3) { meta.m = meta.m + 1; } else if (hdr.h.a > 3) { meta.m = 2; }\n";
    framed("", &format!("apply {{ {} }}\n", one.repeat(levels as usize * 30)))
}

fn else_ifs(levels: u64) -> String {
    let chain = lines(levels * 20, "if (meta.m == 0) { meta.m = 1; }", "else if (hdr.h.a == {}) { hdr.h.b = {}; }");
    framed("", &format!("apply {{ {chain} }}\n"))
}

/// Many variables, all of which have known values at each of many branches.
fn variables(levels: u64) -> String {
    let declared = lines(levels * 20, "bit<8> v0 = hdr.h.a;", "bit<8> v{} = hdr.h.a;");
    let changed = lines(levels * 20, "", "if (meta.m == {}) { v{-} = v{} + 1; }");
    let read = lines(levels * 20, "", "meta.m = meta.m ^ v{};");
    framed("", &format!("apply {{ {declared}{changed}{read} }}\n"))
}

/// A parser whose states are declared in reverse order.
fn states(levels: u64) -> String {
    let first = "state s0 { p.extract(hdr.h); transition accept; }";
    let pattern = "state s{} { bit<8> x = meta.m; meta.m = x + 1; \
                   transition select(x ++ 8w1) { {}: s{-}; default: accept; } }";
    let states = lines(levels * 20, first, pattern);
    let text = framed("", "apply { }\n");
    let start = format!("{states}state start {{ transition s{}; }}", levels * 20);
    text.replace("state start { p.extract(hdr.h); transition accept; }", &start)
}

fn p4_14_actions(levels: u64) -> String {
    let actions = lines(levels, "action a0() { add_to_field(h.a, 1); }", "action a{}() { a{-}(); a{-}(); }");
    format!(
        "header_type h_t {{ fields {{ a : 8; }} }}\nheader h_t h;\nparser start {{ extract(h); return ingress; }}\n{actions}\
         table t {{ actions {{ a{levels}; }} }}\ncontrol ingress {{ apply(t); }}\n"
    )
}
