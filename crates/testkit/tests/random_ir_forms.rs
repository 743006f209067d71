//! The generator produces every form of the IR: no comparison of backends covers a form that it never produces.

use base::{MatchKind, Rng};
use ir::walk::{self, Item};
use ir::*;
use std::collections::BTreeMap;
use testkit::outline::outline;
use testkit::random_ir::{Options, random_program};

const SEEDS: u64 = 300;

/// How often each form occurs; all forms are listed from the start.
#[derive(Default)]
struct Forms(BTreeMap<&'static str, u64>);

impl Forms {
    fn saw(&mut self, form: &'static str) {
        *self.0.entry(form).or_insert(0) += 1;
    }
}

/// Defines a function that names the forms of a type, and the list of these names. If the IR gets a new form, this
/// code does not compile until the form is added, and the test then fails until the generator produces it.
macro_rules! forms {
    ($name:ident, $all:ident, $ty:ty, { $($pattern:pat => $form:literal,)* }) => {
        fn $name(value: &$ty) -> &'static str {
            match value { $($pattern => $form,)* }
        }

        const $all: &[&str] = &[$($form,)*];
    };
}

forms!(stmt_form, STATEMENTS, StmtKind, {
    StmtKind::Assign { dst: Place::Var(_), .. } => "assign a variable",
    StmtKind::Assign { dst: Place::Field(..), .. } => "assign a field",
    StmtKind::Assign { dst: Place::Slice { .. }, .. } => "assign a slice",
    StmtKind::SetValid(_) => "setValid",
    StmtKind::SetInvalid(_) => "setInvalid",
    StmtKind::CopyHeader { .. } => "copy a header",
    StmtKind::CopyVarbit { .. } => "copy a varbit field",
    StmtKind::SetVarbit { .. } => "set a varbit field",
    StmtKind::PushFront { .. } => "push",
    StmtKind::PopFront { .. } => "pop",
    StmtKind::If { .. } => "if",
    StmtKind::Switch { .. } => "switch",
    StmtKind::Block { .. } => "block",
    StmtKind::Loop { .. } => "loop",
    StmtKind::Leave(_) => "leave",
    StmtKind::ApplyTable { hit: Some(_), action: None, .. } => "apply for the hit",
    StmtKind::ApplyTable { hit: None, action: Some(_), .. } => "apply for the action",
    StmtKind::ApplyTable { hit: Some(_), action: Some(_), .. } => "apply for both",
    StmtKind::ApplyTable { hit: None, action: None, .. } => "apply",
    StmtKind::CountLookup { .. } => "count a lookup",
    StmtKind::Extract { varbit_bits: None, .. } => "extract",
    StmtKind::Extract { varbit_bits: Some(_), .. } => "extract with a length",
    StmtKind::Advance { .. } => "advance",
    StmtKind::Lookahead { checked: true, .. } => "lookahead, checked",
    StmtKind::Lookahead { checked: false, .. } => "lookahead, unchecked",
    StmtKind::Verify { .. } => "verify",
    StmtKind::Emit(_) => "emit",
    StmtKind::RegisterRead { .. } => "register read",
    StmtKind::RegisterWrite { .. } => "register write",
    StmtKind::Count { .. } => "count",
    StmtKind::ExecuteMeter { .. } => "meter",
    StmtKind::ExecuteDirectMeter { .. } => "direct meter",
    StmtKind::AddEntry { .. } => "add an entry",
    StmtKind::SetTimer { .. } => "set a timer",
    StmtKind::Hash { payload: false, .. } => "hash",
    StmtKind::Hash { payload: true, .. } => "hash with payload",
    StmtKind::Random { .. } => "random",
    StmtKind::Digest { .. } => "digest",
    StmtKind::Log { .. } => "log",
    StmtKind::CallExtern { instance: None, .. } => "call a function",
    StmtKind::CallExtern { instance: Some(_), .. } => "call a method",
    StmtKind::Assert { .. } => "assert",
    StmtKind::Call(_) => "call a routine",
    StmtKind::Send { .. } => "send",
    StmtKind::Enqueue { .. } => "enqueue",
    StmtKind::Drop(_) => "drop",
    StmtKind::Punt(_) => "punt",
});

forms!(expr_form, EXPRESSIONS, ExprKind, {
    ExprKind::Const(_) => "constant",
    ExprKind::Var(_) => "variable",
    ExprKind::Field(..) => "field",
    ExprKind::IsValid(_) => "isValid",
    ExprKind::Unary(UnaryOp::Neg, _) => "-",
    ExprKind::Unary(UnaryOp::BitNot, _) => "~",
    ExprKind::Unary(UnaryOp::Not, _) => "!",
    ExprKind::Binary(..) => "an infix operator",
    ExprKind::Mux(..) => "? :",
    ExprKind::Cast(_) => "cast",
    ExprKind::Slice { .. } => "slice",
    ExprKind::Concat(..) => "++",
    ExprKind::VarbitEqual(..) => "varbit ==",
    ExprKind::VarbitLength(..) => "length of a varbit field",
    ExprKind::VarbitBits(..) => "bits of a varbit field",
    ExprKind::PacketLength => "packet length",
});

forms!(binary_form, OPERATORS, BinaryOp, {
    BinaryOp::Add => "+",
    BinaryOp::Sub => "binary -",
    BinaryOp::Mul => "*",
    BinaryOp::Div => "/",
    BinaryOp::Rem => "%",
    BinaryOp::SaturatingAdd => "|+|",
    BinaryOp::SaturatingSub => "|-|",
    BinaryOp::And => "&",
    BinaryOp::Or => "|",
    BinaryOp::Xor => "^",
    BinaryOp::Shl => "<<",
    BinaryOp::Shr => ">>",
    BinaryOp::Eq => "==",
    BinaryOp::Ne => "!=",
    BinaryOp::Lt => "<",
    BinaryOp::Le => "<=",
    BinaryOp::Gt => ">",
    BinaryOp::Ge => ">=",
    BinaryOp::LogicalAnd => "&&",
    BinaryOp::LogicalOr => "||",
    BinaryOp::Gather => "gather",
    BinaryOp::Scatter => "scatter",
});

forms!(header_form, HEADERS, HeaderRef, {
    HeaderRef::Fixed(_) => "header",
    HeaderRef::Element { .. } => "element",
    HeaderRef::Next(_) => "next",
    HeaderRef::Last(_) => "last",
});

forms!(algorithm_form, ALGORITHMS, HashAlgorithm, {
    HashAlgorithm::Crc32 => "crc32",
    HashAlgorithm::Crc16 => "crc16",
    HashAlgorithm::CrcCcitt => "crc_ccitt",
    HashAlgorithm::Csum16 => "csum16",
    HashAlgorithm::Xor16 => "xor16",
    HashAlgorithm::Identity => "identity",
    HashAlgorithm::Custom(_) => "custom crc",
    HashAlgorithm::Crc32Continued => "crc32 continued",
    HashAlgorithm::Crc16Continued => "crc16 continued",
    HashAlgorithm::Continued(_) => "custom crc continued",
    HashAlgorithm::Remainder { .. } => "remainder",
});

forms!(hash_value_form, HASH_VALUES, HashValue, {
    HashValue::Expr(_) => "hash of a value",
    HashValue::Varbit(..) => "hash of a varbit field",
});

forms!(key_set_form, KEY_SETS, KeySet, {
    KeySet::Any => "any",
    KeySet::Value(_) => "value",
    KeySet::Mask(..) => "mask",
    KeySet::Range(..) => "range",
    KeySet::ValueSet(_) => "value set",
});

forms!(match_form, MATCH_KINDS, MatchKind, {
    MatchKind::Exact => "exact",
    MatchKind::Lpm => "lpm",
    MatchKind::Ternary => "ternary",
    MatchKind::Range => "range key",
    MatchKind::Optional => "optional",
});

forms!(target_form, TARGETS, Target, {
    Target::State(_) => "to a state",
    Target::Accept => "accept",
    Target::Reject => "reject",
});

impl Forms {
    fn see_program(&mut self, program: &Program) {
        for body in walk::bodies(program).into_iter().chain(&program.decisions) {
            walk::visit_body(body, &mut |stmt| {
                self.saw(stmt_form(&stmt.kind));
                if let StmtKind::Hash { algorithm, inputs, .. } = &stmt.kind {
                    self.saw(algorithm_form(algorithm));
                    inputs.iter().for_each(|input| self.saw(hash_value_form(&input.value)));
                }
                walk::visit_own(&stmt.kind, &mut |item| self.see_item(item));
            });
        }
        for block in &program.blocks {
            if let BlockKind::Parser { states, .. } = &block.kind {
                states.iter().for_each(|state| self.see_state(state));
            }
        }
        program.tables.iter().for_each(|table| self.see_table(program, table));
    }

    fn see_item(&mut self, item: Item<'_>) {
        match item {
            Item::Expr(expr) => {
                self.saw(expr_form(&expr.kind));
                if let ExprKind::Binary(operator, ..) = &expr.kind {
                    self.saw(binary_form(operator));
                }
            }
            Item::Header(header) | Item::Field(header, _) => self.saw(header_form(header)),
            Item::Var(_) | Item::Table(_) | Item::Place(_) => {}
        }
    }

    fn see_state(&mut self, state: &ParserState) {
        let has_loop = state.body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Loop { .. }));
        if has_loop {
            self.saw("loop in a parser");
        }
        match &state.transition {
            Transition::Goto(target) => self.saw(target_form(target)),
            Transition::Select { cases, .. } => {
                for case in cases {
                    self.saw(target_form(&case.target));
                    case.sets.iter().for_each(|set| self.saw(key_set_form(set)));
                }
            }
        }
    }

    fn see_table(&mut self, program: &Program, table: &Table) {
        table.keys.iter().for_each(|key| self.saw(match_form(&key.kind)));
        match &table.direct_meter {
            None => {}
            Some((_, None)) => self.saw("a direct meter that actions execute"),
            Some((_, Some(_))) => self.saw("a direct meter that hits execute"),
        }
        match &table.implementation {
            None => {}
            Some(it) if program.action_profiles[it.profile].selector.is_some() => self.saw("action selector"),
            Some(_) => self.saw("action profile"),
        }
        let is = |holds: bool, form| holds.then_some(form);
        let forms = [
            is(!table.direct_counters.is_empty(), "direct counter"),
            is(table.const_entries, "constant entries"),
            is(table.support_timeout, "idle timeout"),
            is(!table.entries.is_empty(), "entries of the program"),
            is(table.keys.is_empty(), "a table without keys"),
        ];
        forms.into_iter().flatten().for_each(|form| self.saw(form));
    }
}

/// Forms that are not variants of an enum of the IR.
const OTHERS: &[&str] = &[
    "loop in a parser",
    "a direct meter that actions execute",
    "a direct meter that hits execute",
    "action selector",
    "action profile",
    "direct counter",
    "constant entries",
    "idle timeout",
    "entries of the program",
    "a table without keys",
];

/// Forms that the requests of one architecture only need, whose programs the corpus has.
const NOT_MADE: [&str; 2] = ["add an entry", "set a timer"];

#[test]
fn every_form_is_made() {
    let mut forms = Forms::default();
    for seed in 0..SEEDS {
        let options = Options { requests: true, plug_in: true, ..Options::default() };
        let mut rng = Rng::new(seed);
        let mut program = random_program(&mut rng, &options);
        outline(&mut rng, &mut program);
        forms.see_program(&program);
    }
    let all = [STATEMENTS, EXPRESSIONS, OPERATORS, HEADERS, ALGORITHMS, HASH_VALUES, KEY_SETS, MATCH_KINDS, TARGETS];
    let all = all.iter().chain([&OTHERS]).flat_map(|forms| forms.iter()).filter(|form| !NOT_MADE.contains(form));
    let missing: Vec<&str> = all.copied().filter(|form| forms.0.get(form).is_none_or(|count| *count < 5)).collect();
    assert!(missing.is_empty(), "hardly made in {SEEDS} programs: {missing:?}");
}
