//! Resolves the names of tables, actions, keys and counters in STF files.

use ir::Program;

/// The most names that a message lists.
const LISTED_MAX: usize = 8;

/// The position in `names` of the name that `given` denotes: the equal name, or else the only name that ends with
/// `given`, not necessarily at a dot. If several names do, the only one that does so at a dot is chosen; the
/// reference reports an error in that case.
pub(crate) fn find(kind: &str, given: &str, names: &[&str]) -> Result<usize, String> {
    if let Some(position) = names.iter().position(|name| *name == given) {
        return Ok(position);
    }
    let ending: Vec<usize> = (0..names.len()).filter(|&position| names[position].ends_with(given)).collect();
    let at_a_dot = |position: &usize| names[*position].strip_suffix(given).is_some_and(|rest| rest.ends_with('.'));
    let aligned: Vec<usize> = ending.iter().copied().filter(at_a_dot).collect();
    match if aligned.len() == 1 { aligned } else { ending }[..] {
        [position] => Ok(position),
        [] => Err(format!("there is no {kind} {given}\n  help: there is {}", listed(names))),
        ref several => {
            let names: Vec<&str> = several.iter().map(|&position| names[position]).collect();
            Err(format!("{given} may be any of {}\n  help: write more of its name", listed(&names)))
        }
    }
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED_MAX) {
        _ if names.is_empty() => "none".to_owned(),
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// The position of the table's key that `given` denotes.
pub(crate) fn key(table: &ir::Table, given: &str) -> Result<usize, String> {
    let names: Vec<String> = table.keys.iter().map(|key| validity_as_field(&key.name)).collect();
    let given_name = validity_as_field(&indexes_as_brackets(given));
    let exactly = |wanted: &str| names.iter().position(|name| name == wanted);
    if let Some(position) = exactly(&given_name)
        .or_else(|| exactly(&format!("{given_name}$")))
        .or_else(|| exactly(&format!("{given_name}.$valid$")))
        .or_else(|| exactly(&format!("{}.$valid$", given_name.strip_suffix(".valid")?)))
    {
        return Ok(position);
    }
    let endings = match given_name.as_str() {
        "valid" => vec![".$valid$".to_owned()],
        name => vec![format!(".{name}"), format!(".{name}$"), format!(".{}.$valid$", name.trim_end_matches(".valid"))],
    };
    let last = |ending: &String| names.iter().rposition(|name| name.ends_with(ending.as_str()));
    let without_slice = || {
        let unsliced = |name: &String| name.rsplit_once('[').map_or(name.clone(), |(field, _)| field.to_owned());
        names
            .iter()
            .rposition(|name| unsliced(name) == given_name || unsliced(name).ends_with(&format!(".{given_name}")))
    };
    endings.iter().find_map(last).or_else(without_slice).ok_or_else(|| {
        let names: Vec<&str> = table.keys.iter().map(|key| key.name.as_str()).collect();
        format!("table {} has no key {given}\n  help: it has {}", table.name, listed(&names))
    })
}

/// Rewrites `hdr.h.isValid()` to its older form `hdr.h.$valid$`.
fn validity_as_field(name: &str) -> String {
    match name.strip_suffix(".isValid()") {
        Some(header) => format!("{header}.$valid$"),
        None => name.to_owned(),
    }
}

/// Rewrites `extra$0.h` to `extra[0].h`.
fn indexes_as_brackets(name: &str) -> String {
    let part = |part: &str| match part.split_once('$') {
        Some((stack, index)) if !index.is_empty() && index.chars().all(|it| it.is_ascii_digit()) => {
            format!("{stack}[{index}]")
        }
        _ => part.to_owned(),
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

/// The name of an action's parameter.
pub(crate) fn parameter(program: &Program, param: ir::VarId) -> &str {
    control::names::last_part(&program.vars[param].name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_need_not_begin_at_a_dot() {
        let names = ["MyIngress.ipv4_lpm", "MyIngress.acl", "MyEgress.acl", "MyIngress.reset", "MyIngress.set"];
        assert_eq!(find("table", "v4_lpm", &names), Ok(0));
        assert_eq!(find("table", "set", &names), Ok(4));
        assert_eq!(find("table", "eset", &names), Ok(3));
        assert_eq!(find("table", "MyEgress.acl", &names), Ok(2));
        assert!(find("table", "acl", &names).unwrap_err().contains("may be any of MyIngress.acl, MyEgress.acl"));
        assert!(find("table", "nat", &names).unwrap_err().contains("there is no table nat"));
    }

    fn table(keys: &[&str]) -> ir::Table {
        let key =
            |name: &&str| ir::Key { name: (*name).to_owned(), expr: ir::Expr::bit(8, 0), kind: base::MatchKind::Exact };
        ir::Table {
            name: "t".into(),
            keys: keys.iter().map(key).collect(),
            actions: Vec::new(),
            entries: Vec::new(),
            const_entries: false,
            default_action: ir::ActionCall { action: 0, args: Vec::new() },
            const_default: false,
            size: 1,
            direct_counters: Vec::new(),
            direct_meter: None,
            implementation: None,
            support_timeout: false,
            expires: false,
            adds_on_miss: false,
            span: base::Span::NONE,
        }
    }

    #[test]
    fn keys_are_found_by_every_name_in_use() {
        let table = table(&["hdr.ipv4.dst", "hdr.vlan[0].id", "hdr.tcp.isValid()", "meta.x$", "hdr.mac.src[22:18]"]);
        let found = |name: &str| key(&table, name).ok();
        assert_eq!(found("hdr.ipv4.dst"), Some(0));
        assert_eq!(found("ipv4.dst"), Some(0));
        assert_eq!(found("dst"), Some(0));
        assert_eq!(found("pv4.dst"), None);
        assert_eq!(found("vlan$0.id"), Some(1));
        assert_eq!(found("hdr.vlan[0].id"), Some(1));
        assert_eq!(found("hdr.tcp.$valid$"), Some(2));
        assert_eq!(found("hdr.tcp.valid"), Some(2));
        assert_eq!(found("hdr.tcp"), Some(2));
        assert_eq!(found("tcp.valid"), Some(2));
        assert_eq!(found("valid"), Some(2));
        assert_eq!(found("meta.x"), Some(3));
        assert_eq!(found("x"), Some(3));
        assert_eq!(found("hdr.mac.src"), Some(4));
        assert_eq!(found("nothing"), None);
    }
}
