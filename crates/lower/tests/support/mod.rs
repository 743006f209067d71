//! From P4 text to IR text, and from packets to packets on the reference interpreter.

#![allow(dead_code, reason = "each test file uses a part of it")]

use base::index::Id as _;
use interp::{Interpreter, NoTrace, Outcome, PacketState};
use ir::v1model::{ARCHITECTURE, Slot, Stage};
use syntax::{MemoryFiles, Options, SourceMap};
use testkit::plain_host::PlainHost;

/// The parts of a program that a test may give; the rest is plain.
#[derive(Default)]
pub struct Parts<'a> {
    /// Before everything but the includes.
    pub types: &'a str,
    /// Fields of `headers`, instead of `h_t h;`.
    pub headers: &'a str,
    /// Fields of `metadata`.
    pub metadata: &'a str,
    /// Declarations and states of the parser, instead of extracting `hdr.h`.
    pub parser: &'a str,
    /// Declarations of ingress.
    pub locals: &'a str,
    /// Statements of ingress.
    pub ingress: &'a str,
    /// Statements of egress.
    pub egress: &'a str,
    /// Statements of checksum verification.
    pub verify: &'a str,
    /// Statements of checksum computation.
    pub compute: &'a str,
    /// Statements of the deparser, instead of `packet.emit(hdr);`.
    pub deparser: &'a str,
}

impl Parts<'_> {
    /// The program's text.
    pub fn text(&self) -> String {
        let or = |given: &str, plain: &str| if given.is_empty() { plain.to_owned() } else { given.to_owned() };
        format!(
            "#include <core.p4>\n#include <v1model.p4>\n\
             header h_t {{ bit<8> a; bit<8> b; bit<16> c; }}\n{types}\n\
             struct headers {{ {headers} }}\nstruct metadata {{ {metadata} }}\n\
             parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ {parser} }}\n\
             control V(inout headers hdr, inout metadata meta) {{ apply {{ {verify} }} }}\n\
             control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ {locals} apply {{ {ingress} }} }}\n\
             control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ apply {{ {egress} }} }}\n\
             control C(inout headers hdr, inout metadata meta) {{ apply {{ {compute} }} }}\n\
             control D(packet_out packet, in headers hdr) {{ apply {{ {deparser} }} }}\n\
             V1Switch(P(), V(), I(), E(), C(), D()) main;\n",
            types = self.types,
            headers = or(self.headers, "h_t h;"),
            metadata = self.metadata,
            parser = or(self.parser, "state start { packet.extract(hdr.h); transition accept; }"),
            verify = self.verify,
            locals = self.locals,
            ingress = self.ingress,
            egress = self.egress,
            compute = self.compute,
            deparser = or(self.deparser, "packet.emit(hdr);"),
        )
    }
}

/// Lowers a program; errors as text, one line each.
pub fn lower(text: &str) -> Result<ir::Program, String> {
    lower_and_warn(text, lower::Options::default()).map(|(program, _)| program)
}

/// The same with the warnings about a program without errors.
fn lower_and_warn(text: &str, options: lower::Options) -> Result<(ir::Program, String), String> {
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (tree, mut diagnostics) = syntax::parse_text(&mut sources, "test.p4", text, &Options::new(&files));
    let mut program = None;
    if !diagnostics.has_errors() {
        let hir = sema::check(&tree, &mut diagnostics);
        if !diagnostics.has_errors() {
            program = lower::lower_with(&hir, options, &mut diagnostics);
        }
    }
    let shown_of = |wanted: syntax::Severity| {
        let shown = |diagnostic: &syntax::Diagnostic| {
            let place = sources.text(diagnostic.primary.span).lines().next().unwrap_or_default();
            format!("{} {} at `{place}`\n", diagnostic.code, diagnostic.message)
        };
        diagnostics.iter().filter(|it| it.severity == wanted).map(shown).collect::<String>()
    };
    let Some(program) = program else {
        assert!(diagnostics.has_errors(), "a program that is refused has an error");
        return Err(shown_of(syntax::Severity::Error));
    };
    if let Err(errors) = ir::verify::verify(&program) {
        let errors: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        panic!("the lowered program is not well-formed: {}\n{}", errors.join("\n"), ir::text::print(&program));
    }
    Ok((program, shown_of(syntax::Severity::Warning)))
}

/// Lowers a program that must be right.
pub fn lower_ok(text: &str) -> ir::Program {
    lower(text).unwrap_or_else(|errors| panic!("the program is refused:\n{errors}\n{text}"))
}

/// The text of one block and of what stands before the blocks and is not storage.
pub fn ir_text(program: &ir::Program, stage: Stage) -> String {
    let text = ir::text::print(program);
    let text: String = strip_spans(&text);
    let mut kept = String::new();
    let mut keep = false;
    for line in text.lines() {
        if !line.starts_with(' ') && !line.starts_with('}') {
            let is_block = line.starts_with("block");
            keep = match is_block {
                true => line.starts_with(&format!("block{} ", stage as u32)),
                false => ["action", "table", "flist", "digest", "vset"].iter().any(|kind| line.starts_with(kind)),
            };
        }
        if keep {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn strip_spans(text: &str) -> String {
    let strip = |line: &str| {
        let words = line.split(' ').filter(|word| !(word.starts_with('@') && word.contains("..")));
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|line| strip(line) + "\n").collect()
}

/// Checks the IR of one block.
pub fn check_ir(stage: Stage, parts: &Parts<'_>, expected: expect_test::Expect) {
    expected.assert_eq(&ir_text(&lower_ok(&parts.text()), stage));
}

/// Checks the warnings about a program.
pub fn check_warnings(parts: &Parts<'_>, expected: expect_test::Expect) {
    expected.assert_eq(&lower_and_warn(&parts.text(), lower::Options::default()).expect("the program is right").1);
}

/// Checks the errors of a program.
pub fn check_errors(parts: &Parts<'_>, expected: expect_test::Expect) {
    match lower(&parts.text()) {
        Ok(program) => panic!("the program is accepted:\n{}", ir::text::print(&program)),
        Err(errors) => expected.assert_eq(&errors),
    }
}

/// Checks the field lists of a program: their numbers, and the names of their variables.
pub fn check_field_lists(parts: &Parts<'_>, expected: expect_test::Expect) {
    let program = lower_ok(&parts.text());
    let list = |list: &ir::FieldList| {
        let names: Vec<&str> = list.vars.iter().map(|var| program.vars[*var].name.as_str()).collect();
        format!("{}: {}\n", list.number, names.join(" "))
    };
    expected.assert_eq(&program.field_lists.iter().map(list).collect::<String>());
}

/// Sends packets (in hexadecimal) through all blocks once, and checks what comes out: the bytes, and what the
/// architecture would look at, if it is not zero.
pub fn check_packets(parts: &Parts<'_>, packets: &[&str], expected: expect_test::Expect) {
    expected.assert_eq(&sent(&lower_ok(&parts.text()), packets));
}

/// The same, and that it is so too where all calls that can be are calls of routines.
pub fn check_packets_with_routines(parts: &Parts<'_>, packets: &[&str], expected: expect_test::Expect) {
    let options = lower::Options { inlined_statements_max: 0, ..lower::Options::default() };
    let (shared, _) = lower_and_warn(&parts.text(), options).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(!shared.routines.is_empty(), "{}", ir::text::print(&shared));
    let inlined = sent(&lower_ok(&parts.text()), packets);
    expected.assert_eq(&inlined);
    assert_eq!(sent(&shared, packets), inlined, "{}", ir::text::print(&shared));
}

/// What packets become.
fn sent(program: &ir::Program, packets: &[&str]) -> String {
    let mut host = PlainHost::new(program, Vec::new(), 1);
    let lines: Vec<String> = packets.iter().map(|packet| send(program, &mut host, packet)).collect();
    let mut text = lines.join("");
    for message in &host.effects.messages {
        text.push_str(&format!("message: {message}\n"));
    }
    for ((register, cell), value) in &host.effects.registers {
        text.push_str(&format!("{}[{cell}] = {value}\n", program.registers[*register].name));
    }
    for ((counter, cell), value) in &host.effects.counters {
        text.push_str(&format!("{}[{cell}] counted {value}\n", program.counters[*counter].name));
    }
    for ((counter, entry), value) in &host.effects.direct_counters {
        text.push_str(&format!("{} of entry {entry} counted {value}\n", program.direct_counters[*counter].name));
    }
    text
}

fn send(program: &ir::Program, host: &mut PlainHost<'_>, packet: &str) -> String {
    let mut state = PacketState::new(program, from_hex(packet));
    state.set_intrinsic(Slot::PacketLength, state.packet.len() as u64);
    let interpreter = Interpreter::new(program);
    for block in program.blocks.ids() {
        if block.index() == Stage::Egress as usize {
            let length = state.packet.len() as u64 + state.intrinsic(Slot::LengthDelta);
            state.set_intrinsic(Slot::PacketLength, length & 0xffff_ffff);
        }
        if interpreter.run_block(block, &mut state, host, &mut NoTrace) == Outcome::AssertionFailed {
            return format!("{packet} -> assertion failed\n");
        }
    }
    let mut line = format!("{packet} -> {}", to_hex(&state.output));
    for slot in Slot::ALL {
        let value = state.intrinsic(slot);
        if value != 0 && slot != Slot::PacketLength {
            let is_field = (slot as usize) < ARCHITECTURE.fields;
            let name = if is_field { slot.name().to_owned() } else { format!("{slot:?}") };
            line.push_str(&format!(" {name}={value}"));
        }
    }
    line + "\n"
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
