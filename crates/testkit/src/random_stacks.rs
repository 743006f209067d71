//! Random P4 programs whose parsers loop over header stacks, and whose controls push, pop, create, copy and remove
//! elements by name.
//!
//! What enters: a seeded `Rng`. What leaves: the text of a v1model program that does little else, so that most
//! programs process their packets in place, and the compiler tracks the position and the valid bit of every element.

use crate::lines::Lines;
use crate::random_p4::RandomP4;
use base::Rng;

/// Generates a valid program.
pub fn random_stacks(rng: &mut Rng) -> RandomP4 {
    let stacks = if rng.chance(1, 2) { &["a"][..] } else { &["a", "b"] };
    let stacks = stacks.iter().map(|&name| Stack { name, size: rng.between(1, 5) }).collect();
    let makes_copies = rng.chance(1, 3);
    let mut generator = Generator { rng, stacks, makes_copies, text: String::new(), indent: 0 };
    generator.types();
    generator.parser();
    generator.controls();
    RandomP4 { text: generator.text, makes_copies }
}

/// A member of the headers.
#[derive(Clone, Copy)]
struct Stack {
    name: &'static str,
    size: u64,
}

struct Generator<'r> {
    rng: &'r mut Rng,
    stacks: Vec<Stack>,
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
        self.line("header first_t { bit<8> kind; bit<8> count; }");
        self.line("header last_t { bit<16> value; }");
        for stack in self.stacks.clone() {
            let more = *self.rng.pick(&["", "bit<8> more;", "bit<24> more;", "bit<64> more;", "bit<120> more;"]);
            self.line(format!("header {}_t {{ bit<1> ends; bit<7> x; {more} }}", stack.name));
        }
        let mut members: Vec<String> = vec!["first_t first;".into()];
        members.extend(self.stacks.iter().map(|stack| format!("{0}_t[{1}] {0};", stack.name, stack.size)));
        members.push("last_t last;".into());
        if self.rng.chance(1, 8) {
            // Some headers are emitted in a different order from their extraction.
            members.reverse();
        }
        self.line(format!("struct headers {{ {} }}", members.join(" ")));
        self.line("struct meta_t { @field_list(1) bit<8> left; @field_list(1) bit<8> seen; }");
    }

    /// Each stack has a state that goes to itself until a condition ends the loop.
    fn parser(&mut self) {
        self.open("parser P(packet_in p, out headers h, inout meta_t m, inout standard_metadata_t s) {");
        self.open("state start {");
        self.line("p.extract(h.first);");
        self.line("m.left = h.first.count & 7;");
        let ways = self.next_states(0);
        self.line(format!(
            "transition select(h.first.kind & 3) {{ 0: {}; 1: {}; 2: {}; default: accept; }}",
            ways[0],
            ways[ways.len() / 2],
            ways[ways.len() - 1]
        ));
        self.close("}");
        for (position, stack) in self.stacks.clone().into_iter().enumerate() {
            self.stack_state(position, stack);
        }
        self.open("state last {");
        self.line("p.extract(h.last);");
        self.line("transition accept;");
        self.close("}");
        self.close("}");
    }

    /// The possible next states, the first of which is that of a stack.
    fn next_states(&self, from: usize) -> Vec<&'static str> {
        self.stacks.iter().skip(from).map(|stack| stack.name).chain(["last", "accept"]).collect()
    }

    fn stack_state(&mut self, position: usize, Stack { name, size }: Stack) {
        let next = *self.rng.pick(&self.next_states(position + 1));
        self.open(format!("state {name} {{"));
        for _ in 0..self.rng.below(2) {
            let (at, error) = (self.rng.below(size + 1), self.rng.pick(&["HeaderTooShort", "NoMatch"]));
            let statement = match self.rng.below(5) {
                0 => format!("verify(m.left != {at}, error.{error});"),
                1 => format!("m.seen = m.seen + (bit<8>)h.{name}[0].x;"),
                2 => format!("if (h.{name}[0].isValid()) {{ p.extract(h.{name}.next); }}"),
                3 => format!("h.{name}.{}_front(1);", self.rng.pick(&["push", "pop"])),
                _ => "p.advance(8);".to_owned(),
            };
            self.line(statement);
        }
        self.line(format!("p.extract(h.{name}.next);"));
        for _ in 0..self.rng.below(3) {
            let (at, x) = (self.rng.between(1, size), self.rng.below(128));
            let statement = match self.rng.below(6) {
                0 => format!("m.seen = m.seen ^ (bit<8>)h.{name}.last.x;"),
                1 => format!("h.{name}[h.{name}.lastIndex].x = {x};"),
                2 => format!("verify(h.{name}.lastIndex < {at}, error.HeaderTooShort);"),
                3 => format!("m.seen = m.seen + (bit<8>)h.{name}.lastIndex;"),
                4 => format!("h.{name}[0] = h.{name}.last;"),
                _ => "m.left = m.left - 1;".to_owned(),
            };
            self.line(statement);
        }
        let transition = match self.rng.below(4) {
            0 | 1 => format!("select(h.{name}.last.ends) {{ 1: {next}; default: {name}; }}"),
            2 => {
                self.line("m.left = m.left - 1;");
                format!("select(m.left) {{ 0: {next}; 8 &&& 8: accept; default: {name}; }}")
            }
            _ => format!(
                "select(p.lookahead<bit<8>>(), h.{name}.last.x) {{ (0 .. 60, _): {next}; (_, 7): reject; default: {name}; }}"
            ),
        };
        self.line(format!("transition {transition}"));
        self.close("}");
    }

    fn controls(&mut self) {
        self.line("control V(inout headers h, inout meta_t m) { apply { } }");
        for (name, with_table) in [("I", self.rng.chance(2, 3)), ("E", self.rng.chance(1, 3))] {
            self.open(format!("control {name}(inout headers h, inout meta_t m, inout standard_metadata_t s) {{"));
            if with_table {
                self.table();
            }
            self.open("apply {");
            if name == "I" {
                self.line("s.egress_spec = (bit<9>)(h.first.kind >> 2 & 3);");
            }
            self.statements(3);
            if with_table {
                self.line("t.apply();");
                self.statements(2);
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
        self.line("control C(inout headers h, inout meta_t m) { apply { } }");
        self.line("control D(packet_out p, in headers h) { apply { p.emit(h); } }");
        self.line("V1Switch(P(), V(), I(), E(), C(), D()) main;");
    }

    fn table(&mut self) {
        for action in ["one", "two"] {
            self.open(format!("action {action}(bit<7> data) {{"));
            self.statements(3);
            let stack = *self.rng.pick(&self.stacks);
            let at = self.rng.below(stack.size);
            self.line(format!("h.{}[{at}].x = data;", stack.name));
            self.close("}");
        }
        let stack = *self.rng.pick(&self.stacks);
        let element = format!("h.{}[{}].x", stack.name, self.rng.below(stack.size));
        let key = if self.rng.chance(1, 2) { "h.first.count" } else { &element };
        self.line(format!(
            "table t {{ key = {{ {key}: exact; }} actions = {{ one; two; NoAction; }} default_action = two(9); }}"
        ));
    }

    /// At most this many statements, with nested ones counted.
    fn statements(&mut self, most: u64) {
        for _ in 0..self.rng.between(0, most) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let Stack { name, size } = *self.rng.pick(&self.stacks);
        let [at, other] = [(); 2].map(|()| self.rng.below(size));
        let (element, count) = (format!("h.{name}[{at}]"), self.rng.between(1, size + 1));
        let statement = match self.rng.below(14) {
            0..=2 => format!("h.{name}.push_front({count});"),
            3 | 4 => format!("h.{name}.pop_front({count});"),
            5 | 6 => {
                format!("h.{name}.push_front(1); h.{name}[0].setValid(); h.{name}[0].x = {};", self.rng.below(128))
            }
            7 => format!("{element}.setValid(); {element}.ends = 1;"),
            8 => format!("{element}.setInvalid();"),
            9 => format!("{element} = h.{name}[{other}];"),
            10 => format!("{element}.x = {element}.x + {};", self.rng.below(100)),
            11 => format!("m.seen = m.seen + (bit<8>){element}.x;"),
            12 => format!("h.last.{};", self.rng.pick(&["setValid()", "setInvalid()", "value = 0x1234"])),
            _ => {
                let negation = *self.rng.pick(&["", "!"]);
                self.open(format!("if ({negation}{element}.isValid()) {{"));
                self.statements(3);
                "}".to_owned()
            }
        };
        if statement == "}" { self.close(statement) } else { self.line(statement) }
    }
}
