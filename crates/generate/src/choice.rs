//! What entries do: an action for each table, and the arguments.
//!
//! What enters: a program, and the settings of a user. What leaves: for each table that can have entries a choice.
//! Without a setting it is the action that does most for a packet: sets its port, changes something, does not drop.

use crate::expression::{Context, Expression, between};
use crate::settings::Traffic;
use crate::template::random_bits;
use base::{Bits, IndexVec, MatchKind, OrderedSet};
use ir::walk::{self, Item};
use ir::{Action, Expr, Place, Program, Stmt, StmtKind, Table, TableId, Type, VarId, VarKind};

/// Arguments that become the keys of other tables: one of this many numbers.
const LINKS: u64 = 64;

/// What the entries of a table do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The position of the action in the table's list.
    pub action: u32,
    /// Values of its parameters.
    pub arguments: Vec<Argument>,
    /// The length of prefixes, if it is the same for all.
    pub prefix_len: Option<u32>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// That of an expression.
    Expression(Expression),
    /// A port.
    Port,
    /// The key of another table.
    Link,
    /// An Ethernet address.
    Mac,
    /// Any value.
    Any,
}

impl Choice {
    /// The arguments of an entry.
    pub(crate) fn arguments(&self, program: &Program, action: &Action, context: &Context<'_>) -> Vec<Bits> {
        let params = action.params.iter().zip(&self.arguments).enumerate();
        let value = |(position, (param, argument)): (usize, (&VarId, &Argument))| {
            let width = program.vars[*param].ty.width();
            let mut rng = context.rng(position as u64 + 1);
            match argument {
                Argument::Expression(expression) => Bits::from_u128(width, expression.value(context)),
                Argument::Port => {
                    let (first, last) = context.ports;
                    Bits::from_u128(width, between(&mut rng, u128::from(first), u128::from(last)))
                }
                Argument::Link => Bits::from_u64(width, rng.between(1, LINKS)),
                Argument::Mac => Bits::from_u64(width, 0x0200_0000_0000 | rng.below(1 << 40)),
                Argument::Any => random_bits(width, &mut rng),
            }
        };
        params.map(value).collect()
    }
}

/// A setting of a user: `TABLE=ACTION(ARGUMENT, ...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSetting {
    /// The table's name, or the end of it.
    pub table: String,
    /// The action's.
    pub action: String,
    /// The arguments; none are written if they are left to the program.
    pub arguments: Option<Vec<Expression>>,
}

impl ActionSetting {
    /// Reads a setting.
    pub fn parse(text: &str) -> Result<ActionSetting, String> {
        let wrong = || format!("`{text}`: an action is TABLE=ACTION or TABLE=ACTION(ARGUMENT, ...)");
        let (table, call) = text.split_once('=').ok_or_else(wrong)?;
        let (action, rest) = call.split_once('(').map_or((call, None), |(action, rest)| (action, Some(rest)));
        let arguments = match rest.map(str::trim) {
            None => None,
            Some(rest) => {
                let inner = rest.strip_suffix(')').ok_or_else(wrong)?;
                let parts = separated(inner).into_iter().map(Expression::parse);
                Some(parts.collect::<Result<Vec<_>, _>>().map_err(|why| format!("`{text}`: {why}"))?)
            }
        };
        let (table, action) = (table.trim().to_owned(), action.trim().to_owned());
        if table.is_empty() || action.is_empty() {
            Err(wrong())
        } else {
            Ok(ActionSetting { table, action, arguments })
        }
    }
}

/// The parts between commas that are not in parentheses.
fn separated(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, it) in text.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

/// Whether a name is `short`, or ends in it behind a dot.
pub(crate) fn is_named(full: &str, short: &str) -> bool {
    full == short || full.strip_suffix(short).is_some_and(|head| head.ends_with('.'))
}

/// The choices for all tables; `None` for those that get no entries.
pub(crate) fn choices(program: &Program, traffic: &Traffic) -> Result<IndexVec<TableId, Option<Choice>>, String> {
    let Traffic { actions: settings, without_entries: without, prefixes, .. } = traffic;
    let known = |name: &str| program.tables.iter().any(|table| is_named(&table.name, name));
    let named = settings.iter().map(|setting| &setting.table).chain(without);
    if let Some(name) = named.chain(prefixes.iter().map(|(name, _)| name)).find(|name| !known(name)) {
        let names: Vec<&str> = program.tables.iter().map(|table| table.name.as_str()).collect();
        return Err(format!("the program has no table `{name}`; it has {}", names.join(", ")));
    }
    let links = key_vars(program);
    let mut choices = IndexVec::new();
    for table in program.tables.iter() {
        let is_left_out = without.iter().any(|name| is_named(&table.name, name));
        let mut choice = match settings.iter().rev().find(|setting| is_named(&table.name, &setting.table)) {
            _ if is_left_out || table.const_entries || table.keys.is_empty() => None,
            Some(setting) => Some(chosen(program, table, setting, &links)?),
            None => best(program, table, &links),
        };
        if let (Some(choice), Some((_, length))) =
            (&mut choice, prefixes.iter().find(|it| is_named(&table.name, &it.0)))
        {
            choice.prefix_len = Some(prefix_len(table, *length)?);
        }
        choices.push(choice);
    }
    Ok(choices)
}

/// A length of prefixes that the table's key can have.
fn prefix_len(table: &Table, length: u32) -> Result<u32, String> {
    let widths = table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).map(|key| key.expr.ty.width());
    match widths.max() {
        None => Err(format!("table {} has no key of longest prefixes", table.name)),
        Some(width) if length > width => {
            Err(format!("table {}: /{length} is longer than the key, which has {width} bits", table.name))
        }
        Some(_) => Ok(length),
    }
}

/// The arguments that a setting gives, which fit in the parameters as far as that is known.
fn given_arguments(program: &Program, action: &Action, given: &[Expression]) -> Result<Vec<Argument>, String> {
    for (expression, &param) in given.iter().zip(&action.params) {
        let param = &program.vars[param];
        expression.fits(param.ty.width()).map_err(|why| format!("action {}: {}: {why}", action.name, param.name))?;
    }
    Ok(given.iter().cloned().map(Argument::Expression).collect())
}

/// The choice that a setting describes.
fn chosen(
    program: &Program,
    table: &Table,
    setting: &ActionSetting,
    links: &OrderedSet<VarId>,
) -> Result<Choice, String> {
    let name = |position: usize| program.actions[table.actions[position].action].name.as_str();
    let usable: Vec<usize> = (0..table.actions.len()).filter(|at| !table.actions[*at].default_only).collect();
    let Some(&position) = usable.iter().find(|at| is_named(name(**at), &setting.action)) else {
        let names: Vec<&str> = usable.iter().map(|at| name(*at)).collect();
        let names = names.join(", ");
        return Err(format!("entries of table {} have no action `{}`; they have {names}", table.name, setting.action));
    };
    let action = &program.actions[table.actions[position].action];
    let defaults = default_arguments(program, action, links);
    let arguments = match &setting.arguments {
        None => defaults,
        Some(given) if given.len() == defaults.len() => given_arguments(program, action, given)?,
        Some(given) => {
            return Err(format!(
                "action {}: there are {} parameters, {} arguments given",
                action.name,
                defaults.len(),
                given.len()
            ));
        }
    };
    Ok(Choice { action: position as u32, arguments, prefix_len: None })
}

/// The action that does most for a packet.
fn best(program: &Program, table: &Table, links: &OrderedSet<VarId>) -> Option<Choice> {
    let usable = (0..table.actions.len()).filter(|at| !table.actions[*at].default_only);
    let scored = usable.map(|at| (score(program, &program.actions[table.actions[at].action]), at));
    // Of equals the first.
    let (_, position) = scored.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at)))?;
    let action = &program.actions[table.actions[position].action];
    let arguments = default_arguments(program, action, links);
    Some(Choice { action: position as u32, arguments, prefix_len: None })
}

/// How much an action does for a packet.
fn score(program: &Program, action: &Action) -> i32 {
    let (mut score, mut stmts) = (0, 0);
    each_assignment(program, &action.body, &mut |place, value| {
        stmts = 1;
        let Place::Var(var) = place else { return };
        let value = value.as_const();
        match is_port(program, *var) {
            true if value.is_some_and(|it| it.to_u64() == Some(program.drop_port)) => score -= 8,
            true => score += 4,
            false if is_drop(program, *var) => score += if value.is_some_and(Bits::is_zero) { 2 } else { -8 },
            false => {}
        }
    });
    let last = action.name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_bad = ["drop", "discard", "reject", "deny"].iter().any(|word| last.contains(word));
    score + stmts + i32::from(!action.params.is_empty()) * 2 - if is_bad { 8 } else { 0 }
}

fn default_arguments(program: &Program, action: &Action, links: &OrderedSet<VarId>) -> Vec<Argument> {
    let of = |param: &VarId| {
        let mut found = Argument::Any;
        each_assignment(program, &action.body, &mut |place, value| {
            if let Place::Var(var) = place
                && reads(value, *param)
            {
                found = match () {
                    () if is_port(program, *var) => Argument::Port,
                    () if found == Argument::Any && links.contains(var) => Argument::Link,
                    () => found.clone(),
                };
            }
        });
        match program.vars[*param].ty {
            Type::Bit(48) if found == Argument::Any => Argument::Mac,
            _ => found,
        }
    };
    action.params.iter().map(of).collect()
}

/// Calls `found` with each assignment of a body and of the routines that it calls.
fn each_assignment(program: &Program, body: &[Stmt], found: &mut dyn FnMut(&Place, &Expr)) {
    walk::visit_body(body, &mut |stmt: &Stmt| match &stmt.kind {
        StmtKind::Assign { dst, src } => found(dst, src),
        // Routines call only those before them.
        StmtKind::Call(routine) => each_assignment(program, &program.routines[*routine].body, found),
        _ => {}
    });
}

fn reads(expr: &Expr, var: VarId) -> bool {
    let mut found = false;
    walk::visit_expr(expr, &mut |item| found |= matches!(item, Item::Var(other) if other == var));
    found
}

fn slot_name(program: &Program, var: VarId) -> Option<&'static str> {
    match program.vars[var].kind {
        VarKind::Intrinsic(slot) => program.architecture.slots.get(slot as usize).map(|slot| slot.name),
        VarKind::Metadata | VarKind::Local => None,
    }
}

/// Whether a variable is the port to which the packet goes.
fn is_port(program: &Program, var: VarId) -> bool {
    matches!(slot_name(program, var), Some("egress_spec" | "egress_port" | "send_to_port"))
}

/// Whether the packet is dropped if the variable is true.
fn is_drop(program: &Program, var: VarId) -> bool {
    matches!(slot_name(program, var), Some("drop" | "drop_packet"))
}

/// Variables that are keys of tables, and those that are copied to them.
fn key_vars(program: &Program) -> OrderedSet<VarId> {
    let mut vars = OrderedSet::new();
    for key in program.tables.iter().flat_map(|table| &table.keys).filter(|key| key.kind == MatchKind::Exact) {
        walk::visit_expr(&key.expr, &mut |item| {
            if let Item::Var(var) = item {
                vars.insert(var);
            }
        });
    }
    vars.retain(|var| !matches!(program.vars[*var].kind, VarKind::Intrinsic(_)));
    vars
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let shown = match ActionSetting::parse(text) {
            Ok(setting) => format!("{setting:?}"),
            Err(why) => why,
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn settings_are_read() {
        check("t=a", expect![[r#"ActionSetting { table: "t", action: "a", arguments: None }"#]]);
        check("t=a()", expect![[r#"ActionSetting { table: "t", action: "a", arguments: Some([]) }"#]]);
        check(
            "C.t = a(1, random(2, 3))",
            expect![[
                r#"ActionSetting { table: "C.t", action: "a", arguments: Some([Number(1), Random(1, Number(2), Number(3))]) }"#
            ]],
        );
        check("t", expect!["`t`: an action is TABLE=ACTION or TABLE=ACTION(ARGUMENT, ...)"]);
        check("t=a(1", expect!["`t=a(1`: an action is TABLE=ACTION or TABLE=ACTION(ARGUMENT, ...)"]);
    }
}
