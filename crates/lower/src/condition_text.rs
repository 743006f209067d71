//! Conditions as text, for the messages of assertions that fail.
//!
//! What enters: an expression of the typed tree, which has no source text. What leaves: P4 text like the source,
//! without the casts that only the checker has inserted, and truncated if it is long.

use num_traits::Signed;
use sema::hir::{self, Builtin, Call, Callee, Expr, ExprKind, Type};
use syntax::ast::BinaryOperator;

/// The most characters of a text, including the mark at its truncation.
const CHARACTERS_MAX: usize = 200;

/// The mark at a truncation.
const CUT: &str = "...";

/// The expression as a programmer would write it.
pub(crate) fn condition_text(program: &hir::Program, expr: &Expr) -> String {
    let mut writer = Writer { program, text: String::new() };
    writer.expr(expr);
    let text = writer.text;
    if text.chars().count() <= CHARACTERS_MAX {
        return text;
    }
    let kept: String = text.chars().take(CHARACTERS_MAX - CUT.len()).collect();
    kept + CUT
}

struct Writer<'h> {
    program: &'h hir::Program,
    text: String,
}

impl Writer<'_> {
    /// Whether the text is already full.
    fn is_full(&self) -> bool {
        self.text.len() > CHARACTERS_MAX * char::MAX.len_utf8()
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn expr(&mut self, expr: &Expr) {
        if self.is_full() {
            return;
        }
        match &expr.kind {
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Int(value) => self.put(&value.to_string()),
            ExprKind::String(text) => self.put(&format!("{text:?}")),
            ExprKind::Error(error) => {
                let name = self.program.errors.get(*error).map_or("?", |name| name);
                self.put(&format!("error.{name}"));
            }
            ExprKind::MatchKind(kind) => {
                let name = self.program.match_kinds.get(*kind).map_or("?", |name| name);
                self.put(name);
            }
            ExprKind::EnumMember(member) => self.enum_member(&expr.ty, *member),
            ExprKind::Var(id) => self.put(&self.program.vars[*id].name),
            ExprKind::Instance(id) => self.put(&self.program.instances[*id].name),
            ExprKind::Table(id) => self.put(&self.program.tables[*id].name),
            ExprKind::This => self.put("this"),
            ExprKind::Construct { args, .. } => {
                self.put(&self.program.show_type(&expr.ty));
                self.list("(", args, ")");
            }
            ExprKind::Unary(operator, inner) => {
                self.put(operator.as_str());
                self.operand(inner);
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Conditional(condition, then_value, else_value) => {
                self.operand(condition);
                self.put(" ? ");
                self.operand(then_value);
                self.put(" : ");
                self.operand(else_value);
            }
            ExprKind::Cast(inner) => self.cast(inner, expr),
            ExprKind::Aggregate(parts) => self.list("{ ", parts, " }"),
            ExprKind::Default => self.put("..."),
            ExprKind::Invalid => self.put("{#}"),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Hit(call) => self.suffixed(call, ".hit"),
            ExprKind::Miss(call) => self.suffixed(call, ".miss"),
            ExprKind::Mask(value, mask) => self.pair(value, " &&& ", mask),
            ExprKind::Range(low, high) => self.pair(low, " .. ", high),
            ExprKind::Poisoned => self.put("?"),
            _ => self.part(&expr.kind),
        }
    }

    /// A part of a value.
    fn part(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Field(base, field) => {
                let name = self.field_name(&base.ty, *field);
                self.suffixed(base, &format!(".{name}"));
            }
            ExprKind::TupleIndex(base, index) => self.suffixed(base, &format!("[{index}]")),
            ExprKind::StackNext(stack) => self.suffixed(stack, ".next"),
            ExprKind::StackLast(stack) => self.suffixed(stack, ".last"),
            ExprKind::StackLastIndex(stack) => self.suffixed(stack, ".lastIndex"),
            ExprKind::Slice(base, high, low) => self.suffixed(base, &format!("[{high}:{low}]")),
            ExprKind::Index(base, index) => {
                self.suffixed(base, "[");
                self.expr(index);
                self.put("]");
            }
            ExprKind::IndexedSlice { base, low, width } => {
                self.suffixed(base, "[");
                self.expr(low);
                self.put(&format!(" +: {width}]"));
            }
            _ => self.put("?"),
        }
    }

    fn enum_member(&mut self, ty: &Type, member: usize) {
        let Type::Enum(id) = ty else { return self.put("?") };
        let declaration = &self.program.enums[*id];
        let name = declaration.members.get(member).map_or("?", |(name, _)| name);
        self.put(&format!("{}.{name}", declaration.name));
    }

    fn field_name(&self, ty: &Type, field: usize) -> String {
        let name = match ty {
            Type::Struct(id, _) => self.program.structs[*id].fields.get(field).map(|field| field.name.to_string()),
            _ => None,
        };
        name.unwrap_or_else(|| field.to_string())
    }

    /// An operand, in parentheses if it has operands of its own.
    fn operand(&mut self, expr: &Expr) {
        if is_compound(expr) {
            self.put("(");
            self.expr(expr);
            self.put(")");
        } else {
            self.expr(expr);
        }
    }

    fn suffixed(&mut self, base: &Expr, suffix: &str) {
        self.operand(base);
        self.put(suffix);
    }

    fn pair(&mut self, left: &Expr, between: &str, right: &Expr) {
        self.operand(left);
        self.put(between);
        self.operand(right);
    }

    /// `a && b && c` and `a || b || c` without parentheses, and comparisons in them, since most conditions have this
    /// form.
    fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) {
        let is_logical = matches!(operator, BinaryOperator::And | BinaryOperator::Or);
        for (position, side) in [left, right].into_iter().enumerate() {
            if position == 1 {
                self.put(&format!(" {} ", operator.as_str()));
            }
            let is_plain = match &side.kind {
                ExprKind::Binary(inner, ..) => {
                    is_logical && (is_comparison(*inner) || (*inner == operator && position == 0))
                }
                _ => false,
            };
            if is_plain { self.expr(side) } else { self.operand(side) }
        }
    }

    /// A cast of a literal number is redundant; another one may change the value.
    fn cast(&mut self, inner: &Expr, whole: &Expr) {
        if matches!(inner.ty, Type::Integer) || inner.ty == whole.ty {
            return self.expr(inner);
        }
        self.put(&format!("({})", self.program.show_type(&whole.ty)));
        self.operand(inner);
    }

    fn list(&mut self, before: &str, parts: &[Option<Expr>], after: &str) {
        self.put(before);
        for (position, part) in parts.iter().enumerate() {
            if position > 0 {
                self.put(", ");
            }
            match part {
                Some(part) => self.expr(part),
                None => self.put("_"),
            }
            if self.is_full() {
                return;
            }
        }
        self.put(after);
    }

    fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Function(id) => self.put(&self.program.functions[*id].name),
            Callee::Action(id) => self.put(&self.program.actions[*id].name),
            Callee::Method(object, method) => {
                let name = match &object.ty {
                    Type::Extern(id, _) => self.program.externs[*id].methods.get(*method).map(|method| &*method.name),
                    _ => None,
                };
                self.suffixed(object, &format!(".{}", name.unwrap_or("?")));
            }
            Callee::Apply(object) | Callee::ApplyTable(object) => self.suffixed(object, ".apply"),
            Callee::Builtin(builtin, object) => self.suffixed(object, builtin_name(*builtin)),
        }
        self.list("(", &call.args, ")");
    }
}

fn builtin_name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::IsValid => ".isValid",
        Builtin::SetValid => ".setValid",
        Builtin::SetInvalid => ".setInvalid",
        Builtin::PushFront => ".push_front",
        Builtin::PopFront => ".pop_front",
    }
}

fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(operator, Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual)
}

/// Whether an expression needs parentheses as an operand.
fn is_compound(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(..) | ExprKind::Conditional(..) | ExprKind::Mask(..) | ExprKind::Range(..) => true,
        ExprKind::Cast(inner) if matches!(inner.ty, Type::Integer) => is_compound(inner),
        ExprKind::Int(value) => value.is_negative(),
        _ => false,
    }
}
