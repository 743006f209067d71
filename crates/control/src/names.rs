//! From a name as users write it to an index of the program.
//!
//! A name is the full control-plane name (`MyIngress.ipv4_lpm`) or its last parts (`ipv4_lpm`), if those are
//! unambiguous. A full name always wins. The error for an unknown or ambiguous name lists the existing names, the
//! nearest first.

use crate::command::{Cells, CounterRef, MeterRef};
use crate::problem::Problem;
use base::Bits;
use base::index::Id;
use ir::{ActionId, ActionProfileId, CalculationId, Program, RegisterId, TableId, Type, ValueSetId};
use std::borrow::Cow;
use values::ValueTarget;

/// Names that a message lists at most.
const LISTED_MAX: usize = 8;

/// The table of this name.
pub fn table(program: &Program, given: &str) -> Result<TableId, Problem> {
    let names: Vec<&str> = program.tables.iter().map(|table| table.name.as_str()).collect();
    find("table", "tables", given, &names, "the program").map(TableId::from_index)
}

/// The register array of this name.
pub fn register(program: &Program, given: &str) -> Result<RegisterId, Problem> {
    let names: Vec<&str> = program.registers.iter().map(|register| register.name.as_str()).collect();
    find("register", "registers", given, &names, "the program").map(RegisterId::from_index)
}

/// The value set of this name.
pub fn value_set(program: &Program, given: &str) -> Result<ValueSetId, Problem> {
    let names: Vec<&str> = program.value_sets.iter().map(|set| set.name.as_str()).collect();
    find("value set", "value sets", given, &names, "the program").map(ValueSetId::from_index)
}

/// The counter or direct counter of this name.
pub fn counter(program: &Program, given: &str) -> Result<CounterRef, Problem> {
    let arrays = program.counters.iter().map(|it| &*it.name);
    cells("counter", "counters", given, arrays, program.direct_counters.iter().map(|it| &*it.name))
}

/// The meter or direct meter of this name.
pub fn meter(program: &Program, given: &str) -> Result<MeterRef, Problem> {
    let arrays = program.meters.iter().map(|it| &*it.name);
    cells("meter", "meters", given, arrays, program.direct_meters.iter().map(|it| &*it.name))
}

fn cells<'p, A: Id, D: Id>(
    kind: &str,
    kinds: &str,
    given: &str,
    arrays: impl ExactSizeIterator<Item = &'p str>,
    direct: impl Iterator<Item = &'p str>,
) -> Result<Cells<A, D>, Problem> {
    let count = arrays.len();
    let found = find(kind, kinds, given, &arrays.chain(direct).collect::<Vec<_>>(), "the program")?;
    Ok(match found.checked_sub(count) {
        None => Cells::Array(A::from_index(found)),
        Some(index) => Cells::Direct(D::from_index(index)),
    })
}

/// The calculation of this name.
pub fn calculation(program: &Program, given: &str) -> Result<CalculationId, Problem> {
    let names: Vec<&str> = program.calculations.iter().map(|calculation| calculation.name.as_str()).collect();
    find("calculation", "calculations with parameters", given, &names, "the program").map(CalculationId::from_index)
}

/// The action profile of this name, or of the table of this name.
pub fn profile(program: &Program, given: &str) -> Result<ActionProfileId, Problem> {
    let names: Vec<&str> = program.action_profiles.iter().map(|profile| profile.name.as_str()).collect();
    let found = find("action profile", "action profiles", given, &names, "the program");
    found.map(ActionProfileId::from_index).or_else(|problem| {
        let table = table(program, given).ok().and_then(|table| program.tables[table].implementation.as_ref());
        table.map(|used| used.profile).ok_or(problem)
    })
}

/// The action of the profile of this name.
pub fn profile_action(program: &Program, profile: ActionProfileId, given: &str) -> Result<ActionId, Problem> {
    let actions = switch::profile_actions(program, profile);
    let names: Vec<&str> = actions.iter().map(|listed| program.actions[listed.action].name.as_str()).collect();
    let owner = format!("action profile {}", program.action_profiles[profile].name);
    find("action", "actions", given, &names, &owner).map(|position| actions[position].action)
}

/// The position, in the table's list, of the action of this name.
pub fn action(program: &Program, table: TableId, given: &str) -> Result<usize, Problem> {
    let table = &program.tables[table];
    let names: Vec<&str> = table.actions.iter().map(|entry| program.actions[entry.action].name.as_str()).collect();
    match find("action", "actions", given, &names, &format!("table {}", table.name)) {
        Ok(position) => Ok(position),
        Err(problem) if program.actions.iter().any(|action| is_named(&action.name, given)) => {
            let message = format!("action {given} is not one of the actions of table {}", table.name);
            Err(Problem { message, ..problem })
        }
        Err(problem) => Err(problem),
    }
}

/// The position of the table's key of this name.
pub fn key(program: &Program, table: TableId, given: &str) -> Result<usize, Problem> {
    let table = &program.tables[table];
    let names: Vec<Cow<'_, str>> = table.keys.iter().map(|key| key_name(&key.name)).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    find("key", "keys", &key_name(given), &names, &format!("table {}", table.name))
}

/// The position of the action's parameter of this name.
pub fn param(program: &Program, action: ActionId, given: &str) -> Result<usize, Problem> {
    let action = &program.actions[action];
    let names: Vec<&str> = action.params.iter().map(|&var| last_part(&program.vars[var].name)).collect();
    find("parameter", "parameters", given, &names, &format!("action {}", action.name))
}

/// The argument for a zero-width parameter: its only value is 0.
pub(crate) fn empty_target(name: &str) -> ValueTarget<'_> {
    ValueTarget { role: "parameter", name, ty: Type::Bit(1) }
}

/// Refuses a value other than 0 for a zero-width parameter.
pub(crate) fn check_empty(name: &str, value: &Bits) -> Result<(), Problem> {
    match value.is_zero() {
        true => Ok(()),
        false => Err(Problem::new(format!("parameter {name} has no bits, so its value is 0"))),
    }
}

/// The part after the last dot.
pub fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A validity key has two names: `hdr.ipv4.isValid()` and, in older files, `hdr.ipv4.$valid$`.
fn key_name(name: &str) -> Cow<'_, str> {
    match name.strip_suffix("$valid$") {
        Some(header) => Cow::Owned(format!("{header}isValid()")),
        None => Cow::Borrowed(name),
    }
}

/// Whether `given` is the whole of `name` or its last parts.
fn is_named(name: &str, given: &str) -> bool {
    let head = name.strip_suffix(given);
    head.is_some_and(|head| head.is_empty() || head.ends_with('.'))
}

/// The position in `names` of the one that `given` denotes. `owner` is what has these names.
pub fn find(kind: &str, kinds: &str, given: &str, names: &[&str], owner: &str) -> Result<usize, Problem> {
    let given = given.strip_prefix('.').unwrap_or(given);
    if let Some(index) = names.iter().position(|name| *name == given || name.strip_prefix('.') == Some(given)) {
        return Ok(index);
    }
    let matching: Vec<usize> =
        (0..names.len()).filter(|&index| !given.is_empty() && is_named(names[index], given)).collect();
    match matching[..] {
        [index] => Ok(index),
        [] if names.is_empty() => Err(Problem::new(format!("there is no {kind} {given}: {owner} has no {kinds}"))),
        [] => Err(Problem::new(format!("there is no {kind} {given}"))
            .with_help(format!("{owner} has the {kinds} {}", listed(given, names)))),
        _ => {
            let names: Vec<&str> = matching.iter().map(|&index| names[index]).collect();
            let message = format!("{given} is ambiguous: it may be any of the {kinds} {}", listed(given, &names));
            Err(Problem::new(message).with_help("write more of its name"))
        }
    }
}

/// The names, nearest to `given` first, limited to a readable number.
pub fn listed(given: &str, names: &[&str]) -> String {
    let given = given.to_lowercase();
    let nearness = |name: &str| {
        let name = name.to_lowercase();
        distance(&given, &name).min(distance(last_part(&given), last_part(&name)))
    };
    let mut names: Vec<(usize, &str)> = names.iter().map(|name| (nearness(name), *name)).collect();
    names.sort_by_key(|&(nearness, _)| nearness);
    let shown: Vec<&str> = names.iter().take(LISTED_MAX).map(|&(_, name)| name).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

/// The edit distance of two names. Only the start of a very long name is compared: names come from users.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(100).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_program::program;
    use expect_test::{Expect, expect};

    fn check_table(given: &str, expected: Expect) {
        let program = program();
        let answer = match table(&program, given) {
            Ok(id) => program.tables[id].name.clone(),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn full_names_and_unique_endings_are_found() {
        check_table("MyIngress.ipv4_lpm", expect!["MyIngress.ipv4_lpm"]);
        check_table("ipv4_lpm", expect!["MyIngress.ipv4_lpm"]);
        check_table(
            "acl.filter",
            expect![[r#"
            acl.filter is ambiguous: it may be any of the tables MyIngress.acl.filter, MyEgress.acl.filter
              help: write more of its name"#]],
        );
    }

    #[test]
    fn an_ending_begins_at_a_dot() {
        check_table(
            "4_lpm",
            expect![[r#"
                there is no table 4_lpm
                  help: the program has the tables MyIngress.ipv4_lpm, MyIngress.l2, MyIngress.acl.filter, MyEgress.acl.filter, MyEgress.mark, MyIngress.tiny, MyIngress.balance"#]],
        );
        check_table(
            "",
            expect![[r#"
                there is no table 
                  help: the program has the tables MyIngress.l2, MyEgress.mark, MyIngress.tiny, MyIngress.acl.filter, MyEgress.acl.filter, MyIngress.balance, MyIngress.ipv4_lpm"#]],
        );
    }

    #[test]
    fn several_meanings_are_listed() {
        check_table(
            "filter",
            expect![[r#"
                filter is ambiguous: it may be any of the tables MyIngress.acl.filter, MyEgress.acl.filter
                  help: write more of its name"#]],
        );
    }

    #[test]
    fn the_nearest_name_comes_first() {
        check_table(
            "ipv4_lmp",
            expect![[r#"
                there is no table ipv4_lmp
                  help: the program has the tables MyIngress.ipv4_lpm, MyIngress.l2, MyIngress.acl.filter, MyEgress.acl.filter, MyEgress.mark, MyIngress.tiny, MyIngress.balance"#]],
        );
    }

    #[test]
    fn an_action_of_another_table_differs_from_an_unknown_one() {
        let program = program();
        let lpm = table(&program, "ipv4_lpm").unwrap();
        let problem = action(&program, lpm, "set_port").unwrap_err();
        expect![[r#"
            action set_port is not one of the actions of table MyIngress.ipv4_lpm
              help: table MyIngress.ipv4_lpm has the actions MyIngress.drop, NoAction, MyIngress.ipv4_forward"#]]
        .assert_eq(&problem.to_string());
        assert_eq!(action(&program, lpm, "NoAction"), Ok(2));
    }

    #[test]
    fn both_names_of_a_validity_key_are_known() {
        let program = program();
        let acl = table(&program, "MyIngress.acl.filter").unwrap();
        assert_eq!(key(&program, acl, "hdr.ipv4.isValid()"), Ok(0));
        assert_eq!(key(&program, acl, "hdr.ipv4.$valid$"), Ok(0));
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
