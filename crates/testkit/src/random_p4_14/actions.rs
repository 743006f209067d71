//! Actions: their parameters and primitives.

use super::{Action, Generator};

impl Generator<'_> {
    /// An action of several primitives.
    pub fn action(&mut self) {
        let name = self.name("action");
        let params: Vec<String> = (0..self.rng.below(3)).map(|_| self.name("p")).collect();
        self.line(format!("action {name}({}) {{", params.join(", ")));
        for _ in 0..self.rng.between(1, 5) {
            let line = self.primitive(&params);
            self.line(format!("    {line}"));
        }
        self.line("}");
        self.actions.push(Action { name, params: params.len() });
    }

    /// A value: a field, a parameter, a number, or a calculation with them.
    pub fn value(&mut self, params: &[String], height: u32) -> String {
        match self.rng.below(10) {
            0..=3 => self.field(),
            4 | 5 if !params.is_empty() => self.rng.pick(params).clone(),
            6 if height > 0 => {
                let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                let left = self.value(params, height - 1);
                format!("({left} {operator} {})", self.value(params, height - 1))
            }
            7 if height > 0 => {
                let operator = *self.rng.pick(&["<<", ">>"]);
                format!("({} {operator} {})", self.value(params, height - 1), self.rng.below(20))
            }
            8 if height > 0 => format!("(~{})", self.value(params, height - 1)),
            _ => self.number(),
        }
    }

    fn primitive(&mut self, params: &[String]) -> String {
        let (target, value, other) = (self.field(), self.value(params, 1), self.value(params, 0));
        match self.rng.below(24) {
            0..=3 => format!("modify_field({target}, {value});"),
            4 => format!("modify_field({target}, {other}, {});", self.number()),
            5 => format!("add_to_field({target}, {other});"),
            6 => format!("subtract_from_field({target}, {other});"),
            7 | 8 => {
                let name = *self.rng.pick(&["add", "subtract", "bit_and", "bit_or", "bit_xor", "min", "max"]);
                let first = self.field();
                format!("{name}({target}, {first}, {other});")
            }
            9 => format!("bit_not({target}, {other});"),
            10 => {
                let name = *self.rng.pick(&["shift_left", "shift_right"]);
                let amount = if self.once_in(3) { self.field() } else { self.rng.below(40).to_string() };
                format!("{name}({target}, {}, {amount});", self.field())
            }
            11 => {
                let name = *self.rng.pick(&["add_header", "remove_header"]);
                format!("{name}({});", self.header_place())
            }
            12 => self.copy_header(),
            13 => self.stack_primitive(),
            14..=17 => self.state_primitive(&target, &other),
            18 => self.hash_primitive(&target),
            19 if self.once_in(4) => "drop();".into(),
            20 => format!("truncate({});", self.rng.between(14, 100)),
            21 | 22 => self.request(),
            _ => "no_op();".into(),
        }
    }

    fn header_place(&mut self) -> String {
        let header = self.rng.pick(&self.headers).clone();
        match header.size {
            Some(size) => format!("{}[{}]", header.name, self.rng.below(u64::from(size))),
            None => header.name,
        }
    }

    fn copy_header(&mut self) -> String {
        let to = self.rng.pick(&self.headers).clone();
        let alike: Vec<_> = self.headers.iter().filter(|header| header.fields == to.fields).cloned().collect();
        let from = self.rng.pick(&alike).clone();
        let mut place = |header: &super::Header| match header.size {
            Some(size) => format!("{}[{}]", header.name, self.rng.below(u64::from(size))),
            None => header.name.clone(),
        };
        format!("copy_header({}, {});", place(&to), place(&from))
    }

    fn stack_primitive(&mut self) -> String {
        let stacks: Vec<String> =
            self.headers.iter().filter(|header| header.size.is_some()).map(|header| header.name.clone()).collect();
        match self.pick(&stacks) {
            Some(stack) => format!("{}({stack}, {});", self.rng.pick(&["push", "pop"]), self.rng.between(1, 2)),
            None => "no_op();".into(),
        }
    }

    fn state_primitive(&mut self, target: &str, value: &str) -> String {
        let index = if self.once_in(3) { self.field() } else { self.rng.below(8).to_string() };
        let (counters, meters, registers) = (self.counters.clone(), self.meters.clone(), self.registers.clone());
        let register = self.pick(&registers);
        match (self.rng.below(4), self.pick(&counters), self.pick(&meters), register) {
            (0, Some(counter), _, _) => format!("count({counter}, {index});"),
            (1, _, Some(meter), _) => format!("execute_meter({meter}, {index}, {target});"),
            (2, _, _, Some(register)) => format!("register_write({register}, {index}, {value});"),
            (_, _, _, Some(register)) => format!("register_read({target}, {register}, {index});"),
            _ => "no_op();".into(),
        }
    }

    fn hash_primitive(&mut self, target: &str) -> String {
        let calculations = self.calculations.clone();
        match self.pick(&calculations) {
            Some((calculation, _)) => format!(
                "modify_field_with_hash_based_offset({target}, {}, {calculation}, {});",
                self.rng.below(20),
                self.rng.between(1, 70_000)
            ),
            None => "no_op();".into(),
        }
    }

    /// Sets the packet's destination, and requests copies of it.
    fn request(&mut self) -> String {
        let lists = self.lists.clone();
        match (self.rng.below(8), self.pick(&lists)) {
            (0, Some(list)) if self.makes_copies => {
                format!("clone_ingress_pkt_to_egress({}, {list});", self.rng.below(4))
            }
            (1, Some(list)) => format!("generate_digest(1, {list});"),
            _ => format!("modify_field(standard_metadata.egress_spec, {});", self.rng.below(4)),
        }
    }

    /// Actions that resubmit or recirculate a packet. They only run for a packet that is in its first pass.
    pub fn again_actions(&mut self) -> Vec<(Action, bool)> {
        let mut made = Vec::new();
        let lists = self.lists.clone();
        let Some(list) = self.pick(&lists).filter(|_| self.makes_copies) else { return made };
        for (primitive, is_ingress) in [
            ("resubmit", true),
            ("recirculate", false),
            ("clone_egress_pkt_to_egress", false),
            ("clone_ingress_pkt_to_ingress", true),
            ("clone_egress_pkt_to_ingress", false),
        ] {
            let name = self.name("again");
            let session =
                if primitive.starts_with("clone") { format!("{}, ", self.rng.below(4)) } else { String::new() };
            self.line(format!("action {name}() {{ {primitive}({session}{list}); }}"));
            made.push((Action { name, params: 0 }, is_ingress));
        }
        made
    }
}
