//! Random P4 programs that add, remove and copy headers, as tunnels do.
//!
//! What enters: a seeded `Rng`. What leaves: the text of a v1model program whose parser extracts headers in the order
//! in which the deparser emits them, so that most programs process their packets in place, and the compiler generates
//! code for each set of headers.

use crate::lines::Lines;
use crate::random_p4::RandomP4;
use base::Rng;

/// The types of headers, with the bits behind the first byte.
const TYPES: [(&str, &[u32]); 4] = [("tiny", &[]), ("short", &[8, 16]), ("mid", &[4, 12, 32, 48]), ("long", &[64, 88])];

/// Generates a valid program.
pub fn random_tunnels(rng: &mut Rng) -> RandomP4 {
    let headers = (0..rng.between(3, 8)).map(|_| rng.below(TYPES.len() as u64) as usize).collect();
    let makes_copies = rng.chance(1, 4);
    let mut generator = Generator { rng, headers, makes_copies, text: String::new(), indent: 0 };
    generator.types();
    generator.parser();
    generator.controls();
    RandomP4 { text: generator.text, makes_copies }
}

struct Generator<'r> {
    rng: &'r mut Rng,
    /// The type of each header.
    headers: Vec<usize>,
    makes_copies: bool,
    text: String,
    indent: usize,
}

impl Lines for Generator<'_> {
    fn written_lines(&mut self) -> (&mut String, &mut usize) {
        (&mut self.text, &mut self.indent)
    }
}

impl Generator<'_> {
    fn types(&mut self) {
        self.line("#include <core.p4>\n#include <v1model.p4>");
        for (name, widths) in TYPES {
            let fields: Vec<String> =
                widths.iter().enumerate().map(|(number, width)| format!("bit<{width}> f{number};")).collect();
            self.line(format!("header {name}_t {{ bit<8> kind; {} }}", fields.join(" ")));
        }
        let members: Vec<String> =
            self.headers.iter().enumerate().map(|(at, &ty)| format!("{}_t h{at};", TYPES[ty].0)).collect();
        self.line(format!("struct headers {{ {} }}", members.join(" ")));
        self.line("struct meta_t { @field_list(1) bit<16> seen; }");
    }

    /// Each header chooses the next by its first byte, if there is one; ways meet again.
    fn parser(&mut self) {
        self.open("parser P(packet_in p, out headers h, inout meta_t m, inout standard_metadata_t s) {");
        let count = self.headers.len();
        for at in 0..count {
            let state = if at == 0 { "start".to_owned() } else { format!("state{at}") };
            self.open(format!("state {state} {{"));
            self.line(format!("p.extract(h.h{at});"));
            let ways: Vec<String> = (0..3).map(|_| self.next_state(at)).collect();
            let default = if self.rng.chance(1, 6) { String::new() } else { format!(" default: {};", ways[2]) };
            self.line(format!("transition select(h.h{at}.kind & 3) {{ 0: {}; 1: {};{default} }}", ways[0], ways[1]));
            self.close("}");
        }
        self.close("}");
    }

    /// A state behind that of a header.
    fn next_state(&mut self, at: usize) -> String {
        let next = at + self.rng.between(1, 3) as usize;
        match next < self.headers.len() && self.rng.chance(4, 5) {
            true => format!("state{next}"),
            false => if self.rng.chance(1, 12) { "reject" } else { "accept" }.to_owned(),
        }
    }

    fn controls(&mut self) {
        self.line("control V(inout headers h, inout meta_t m) { apply { } }");
        for (name, with_table) in [("I", self.rng.chance(4, 5)), ("E", self.rng.chance(1, 5))] {
            self.open(format!("control {name}(inout headers h, inout meta_t m, inout standard_metadata_t s) {{"));
            if with_table {
                self.table(name);
            }
            self.open("apply {");
            if name == "I" {
                self.line("s.egress_spec = (bit<9>)(h.h0.kind >> 2 & 3);");
            }
            if !with_table || self.rng.chance(1, 4) {
                self.statements(4);
            }
            if with_table {
                self.line("t.apply();");
                if self.rng.chance(1, 2) {
                    self.statements(2);
                }
            }
            if self.makes_copies {
                let request = match name {
                    "I" => "if (s.instance_type == 0 && m.seen & 3 == 1) { clone(CloneType.I2E, 1); }",
                    _ => "if (s.instance_type == 0 && m.seen & 7 == 2) { recirculate_preserving_field_list(1); }",
                };
                self.line(request);
            }
            self.close("}");
            self.close("}");
        }
        self.checksums();
        self.line("control D(packet_out p, in headers h) { apply { p.emit(h); } }");
        self.line("V1Switch(P(), V(), I(), E(), C(), D()) main;");
    }

    /// A checksum over the first fields of the headers of one type with a field of 16 bits.
    fn checksums(&mut self) {
        self.open("control C(inout headers h, inout meta_t m) {");
        self.open("apply {");
        for at in 0..self.headers.len() {
            if TYPES[self.headers[at]].0 == "short" && self.rng.chance(1, 3) {
                let other = self.rng.below(self.headers.len() as u64);
                self.line(format!(
                    "update_checksum(h.h{other}.isValid(), {{ h.h{at}.kind, h.h{at}.f0 }}, h.h{at}.f1, HashAlgorithm.csum16);"
                ));
            }
        }
        self.close("}");
        self.close("}");
    }

    fn table(&mut self, block: &str) {
        for action in ["one", "two", "three"] {
            self.open(format!("action {action}(bit<8> data) {{"));
            self.statements(6);
            let at = self.rng.below(self.headers.len() as u64);
            self.line(format!("h.h{at}.kind = data;"));
            self.close("}");
        }
        self.line("action drop() { mark_to_drop(s); }");
        let key = if self.rng.chance(2, 3) { 0 } else { self.rng.below(self.headers.len() as u64) };
        let default = if block == "I" { "two(9)" } else { "NoAction" };
        self.line(format!(
            "table t {{ key = {{ h.h{key}.kind: exact; }} actions = {{ one; two; three; drop; NoAction; }} default_action = {default}; }}"
        ));
    }

    /// At most this many statements, with nested ones counted.
    fn statements(&mut self, most: u64) {
        for _ in 0..self.rng.between(0, most) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let at = self.rng.below(self.headers.len() as u64) as usize;
        let alike: Vec<usize> =
            (0..self.headers.len()).filter(|&other| self.headers[other] == self.headers[at]).collect();
        let other = *self.rng.pick(&alike);
        let widths = TYPES[self.headers[at]].1;
        let field = self.rng.below(widths.len() as u64 + 1);
        let field = if field == 0 { "kind".to_owned() } else { format!("f{}", field - 1) };
        let number = self.rng.below(16);
        let statement = match self.rng.below(14) {
            0..=4 => format!("h.h{at} = h.h{other};"),
            5 | 6 => {
                let fields: String =
                    (0..widths.len()).map(|number| format!(" h.h{at}.f{number} = {number};")).collect();
                format!("h.h{at}.setValid(); h.h{at}.kind = {number};{fields}")
            }
            7 => format!("h.h{at}.setValid();"),
            8 | 9 => format!("h.h{at}.setInvalid();"),
            10 => format!("h.h{at}.{field} = h.h{other}.{field} + {number};"),
            11 => format!("m.seen = m.seen + (bit<16>)h.h{at}.kind + (bit<16>)s.packet_length;"),
            12 => format!("h.h{at}.{field} = {number};"),
            _ => {
                let negation = *self.rng.pick(&["", "!"]);
                self.open(format!("if ({negation}h.h{at}.isValid()) {{"));
                self.statements(3);
                "}".to_owned()
            }
        };
        if statement == "}" { self.close(statement) } else { self.line(statement) }
    }
}
