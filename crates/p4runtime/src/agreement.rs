//! Whether two P4Infos show the same program.
//!
//! A client may send a P4Info that differs from ours in ids, aliases, annotations and documentation, because it was
//! made by another compiler or another version. What has a name in one must have it in the other.

use p4runtime_proto::p4::config::v1::P4Info;
use std::collections::BTreeSet;

/// The first object that one of them has and the other has not, in words.
pub(crate) fn difference(sent: &P4Info, own: &P4Info) -> Option<String> {
    let (sent, own) = (objects(sent), objects(own));
    if let Some((kind, name)) = sent.difference(&own).next() {
        return Some(format!("the P4Info has {kind} {name}, which the program does not"));
    }
    let (kind, name) = own.difference(&sent).next()?;
    Some(format!("the program has {kind} {name}, which the P4Info does not"))
}

/// Why a P4Info with nothing in it is not that of a program which shows this one.
pub(crate) fn emptiness(sent: &P4Info, own: &P4Info) -> Option<String> {
    let own = objects(own);
    let (kind, name) = own.iter().find(|(kind, _)| *kind == "table").or(own.first())?;
    objects(sent).is_empty().then(|| {
        format!(
            "it is empty, and the program has {kind} {name} and {} other objects: send what `wirespeed compile --emit \
             p4info` makes of the program, or none, to have that",
            own.len() - 1
        )
    })
}

/// Kind and name of each object.
fn objects(info: &P4Info) -> BTreeSet<(&'static str, &str)> {
    let mut objects = BTreeSet::new();
    macro_rules! add {
        ($($kind:literal: $list:ident;)*) => {
            $(for preamble in info.$list.iter().filter_map(|it| it.preamble.as_ref()) {
                objects.insert(($kind, preamble.name.as_str()));
            })*
        };
    }
    add! {
        "table": tables;
        "action": actions;
        "action profile": action_profiles;
        "counter": counters;
        "direct counter": direct_counters;
        "meter": meters;
        "direct meter": direct_meters;
        "controller header": controller_packet_metadata;
        "value set": value_sets;
        "register": registers;
        "digest": digests;
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::config::v1::{Action, Preamble, Table};

    fn named(name: &str) -> Option<Preamble> {
        Some(Preamble { name: name.to_owned(), ..Preamble::default() })
    }

    #[test]
    fn names_count_and_ids_do_not() {
        let table = |name, size| Table { preamble: named(name), size, ..Table::default() };
        let a = P4Info { tables: vec![table("t", 1)], ..P4Info::default() };
        let b = P4Info { tables: vec![table("t", 2)], ..P4Info::default() };
        assert_eq!(difference(&a, &b), None);
        let action = Action { preamble: named("a"), ..Action::default() };
        let c = P4Info { actions: vec![action], ..b };
        assert_eq!(difference(&a, &c).unwrap(), "the program has action a, which the P4Info does not");
        assert_eq!(difference(&c, &a).unwrap(), "the P4Info has action a, which the program does not");
    }
}
