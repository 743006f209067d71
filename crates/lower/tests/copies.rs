//! Copy-in and copy-out against a model: random calls whose arguments name the same storage.
//!
//! The model copies always, as the language says. What is lowered leaves copies out; no program may observe it.

use crate::support;

use base::Rng;
use base::index::Id as _;
use interp::{Interpreter, NoTrace, PacketState};
use support::{Parts, lower_ok};
use testkit::plain_host::PlainHost;

/// The four bytes of the packet's header, which are all the storage there is.
type Bytes = [u8; 4];

const NAMES: [&str; 4] = ["hdr.h.a", "hdr.h.b", "hdr.h.c[15:8]", "hdr.h.c[7:0]"];

/// What a body works on: its parameters `p` (inout), `q` (out), `r` (in), or the storage itself.
#[derive(Clone, Copy)]
enum Name {
    Param(usize),
    Storage(usize),
}

/// `to = left op right;`
#[derive(Clone, Copy)]
struct Step {
    to: Name,
    left: Name,
    right: Name,
    adds: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Control,
    /// A control whose body is an action that a table runs.
    Table,
    Action,
}

struct Callee {
    kind: Kind,
    steps: Vec<Step>,
}

/// Places for `p` and `q`; a place and a number to add for `r`.
struct Call {
    callee: usize,
    places: [usize; 3],
    plus: u8,
}

impl Kind {
    fn is_control(self) -> bool {
        matches!(self, Kind::Control | Kind::Table)
    }
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Name::Param(index) => ["p", "q", "r"][index],
            Name::Storage(index) => NAMES[index],
        }
    }

    fn value(self, params: &[u8; 3], bytes: &Bytes) -> u8 {
        match self {
            Name::Param(index) => params[index],
            Name::Storage(index) => bytes[index],
        }
    }
}

fn random_callee(rng: &mut Rng, kind: Kind) -> Callee {
    let sees_storage = kind == Kind::Action;
    let name = |rng: &mut Rng, count: u64| match sees_storage && rng.chance(1, 3) {
        true => Name::Storage(rng.below(4) as usize),
        false => Name::Param(rng.below(count) as usize),
    };
    // An `out` parameter has no value before it gets one.
    let mut steps =
        vec![Step { to: Name::Param(1), left: Name::Param(2), right: Name::Param(0), adds: rng.chance(1, 2) }];
    for _ in 0..rng.below(5) {
        let (left, right) = (name(rng, 3), name(rng, 3));
        steps.push(Step { to: name(rng, 2), left, right, adds: rng.chance(1, 2) });
    }
    Callee { kind, steps }
}

fn callee_text(index: usize, callee: &Callee) -> String {
    let step = |step: &Step| {
        let op = if step.adds { '+' } else { '^' };
        format!("{} = {} {op} {};", step.to.text(), step.left.text(), step.right.text())
    };
    let body: String = callee.steps.iter().map(step).collect();
    let params = "(inout bit<8> p, out bit<8> q, in bit<8> r)";
    match callee.kind {
        Kind::Function => format!("void f{index}{params} {{ {body} }}\n"),
        Kind::Control => format!("control C{index}{params} {{ apply {{ {body} }} }}\n"),
        Kind::Table => format!(
            "control C{index}{params} {{ action body() {{ {body} }} \
             table t {{ actions = {{ body; }} default_action = body(); }} apply {{ t.apply(); }} }}\n"
        ),
        Kind::Action => format!("action f{index}{params} {{ {body} }}\n"),
    }
}

fn run_model(callees: &[Callee], calls: &[Call], mut bytes: Bytes) -> Bytes {
    for call in calls {
        let mut params = [bytes[call.places[0]], 0, bytes[call.places[2]].wrapping_add(call.plus)];
        for step in &callees[call.callee].steps {
            let (left, right) = (step.left.value(&params, &bytes), step.right.value(&params, &bytes));
            let value = if step.adds { left.wrapping_add(right) } else { left ^ right };
            match step.to {
                Name::Param(index) => params[index] = value,
                Name::Storage(index) => bytes[index] = value,
            }
        }
        bytes[call.places[0]] = params[0];
        bytes[call.places[1]] = params[1];
    }
    bytes
}

fn program_text(callees: &[Callee], calls: &[Call]) -> String {
    let (mut types, mut locals, mut ingress) = (String::new(), String::new(), String::new());
    for (index, callee) in callees.iter().enumerate() {
        match callee.kind {
            Kind::Action => locals += &callee_text(index, callee),
            _ => types += &callee_text(index, callee),
        }
        if callee.kind.is_control() {
            locals += &format!("C{index}() f{index};");
        }
    }
    for call in calls {
        let apply = if callees[call.callee].kind.is_control() { ".apply" } else { "" };
        let plus = if call.plus == 0 { String::new() } else { format!(" + {}", call.plus) };
        let [p, q, r] = call.places.map(|place| NAMES[place]);
        ingress += &format!("f{}{apply}({p}, {q}, {r}{plus});\n", call.callee);
    }
    Parts { types: &types, locals: &locals, ingress: &ingress, ..Parts::default() }.text()
}

fn run_lowered(text: &str, bytes: Bytes) -> Bytes {
    let program = lower_ok(text);
    let mut host = PlainHost::new(&program, Vec::new(), 1);
    let mut state = PacketState::new(&program, bytes.to_vec());
    let interpreter = Interpreter::new(&program);
    for block in program.blocks.ids().filter(|block| block.index() < 6) {
        interpreter.run_block(block, &mut state, &mut host, &mut NoTrace);
    }
    state.output.try_into().expect("the header comes out again")
}

#[test]
fn left_out_copies_cannot_be_observed() {
    let mut rng = Rng::new(17);
    for _ in 0..150 {
        let kinds = [Kind::Function, Kind::Control, Kind::Table, Kind::Action];
        let callees: Vec<Callee> = kinds.into_iter().map(|kind| random_callee(&mut rng, kind)).collect();
        let mut calls = Vec::new();
        for _ in 0..5 {
            let places = [0; 3].map(|_| rng.below(4) as usize);
            calls.push(Call { callee: rng.below(4) as usize, places, plus: rng.below(3) as u8 });
        }
        let bytes = [0; 4].map(|_| rng.below(256) as u8);
        let text = program_text(&callees, &calls);
        assert_eq!(run_lowered(&text, bytes), run_model(&callees, &calls, bytes), "from {bytes:?}:\n{text}");
    }
}
