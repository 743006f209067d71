//! The generators of programs produce every form of P4_16: no comparison covers a form that they never produce.

use base::Rng;
use std::collections::BTreeMap;
use testkit::random_p4::{Architecture, Options, random_p4};

const SEEDS: u64 = 250;

/// Texts that occur only in programs with a certain form.
const FORMS: &[&str] = &[
    // Types.
    "header_union ",
    "varbit<",
    "header Several",
    "enum bit<",
    "enum Enum",
    "type bit<",
    "typedef ",
    "tuple<",
    "list<",
    "int<",
    "const int ",
    "error {",
    "match_kind {",
    "struct Pair",
    "header Box",
    "value_set<",
    // Externs and packages.
    "extern ",
    "abstract ",
    "@optional in ",
    "@optional bit<8> seed",
    "@optional inout ",
    "() handler",
    "package Package",
    // Parsers.
    ".next)",
    ".next.",
    ".last",
    ".lastIndex",
    "lookahead<",
    "advance(",
    "verify(",
    ": reject;",
    " &&& ",
    " .. ",
    // Stacks and headers.
    "push_front(",
    "pop_front(",
    "setValid(",
    "setInvalid(",
    "isValid()",
    ".size",
    "{#}",
    "...",
    // Operators.
    " |+| ",
    " |-| ",
    " ++ ",
    " << ",
    " >> ",
    " / ",
    " % ",
    " ? ",
    " && ",
    " || ",
    " |+|= ",
    " <<= ",
    " /= ",
    " +: ",
    "(bool) ",
    // Statements.
    "break;",
    "continue;",
    "exit;",
    "return;",
    "return ",
    " in LIST",
    " in (list<",
    "for (",
    "switch (",
    ".action_run)",
    "apply().hit",
    "apply().miss",
    "default: ",
    "@atomic {",
    "else if (",
    "_, ",
    // Tables.
    ": exact ",
    ": lpm ",
    ": ternary ",
    ": range ",
    ": optional ",
    ": selector ",
    ": nearest",
    "const entries",
    "priority = ",
    "largest_priority_wins",
    "const default_action",
    "size = ",
    "made_up = ",
    "implementation = action_selector",
    "implementation = action_profile",
    "psa_implementation = ",
    "@defaultonly ",
    "@tableonly ",
    // Annotations.
    "@name(\".",
    "@noWarn(",
    "@deprecated(",
    "@vendor[",
    "@field_list(",
    "@synchronous(",
    // Externs of v1model.
    ".execute_meter(",
    ".count(",
    "register<",
    "direct_counter(",
    "direct_meter<",
    "hash(",
    "crc_remainder(",
    "random(",
    "digest(",
    "truncate(",
    "clone(",
    "clone_preserving_field_list(",
    "resubmit_preserving_field_list(",
    "recirculate_preserving_field_list(",
    "mcast_grp = ",
    "priority = (",
    "log_msg(",
    "assert(",
    "assume(",
    "verify_checksum(",
    "update_checksum(",
    "verify_checksum_with_payload(",
    "update_checksum_with_payload(",
    "mark_to_drop(",
    "mark_to_drop();",
    "drop_given(standard)",
    "dropper.apply(",
    "clone3(",
    "resubmit({ ",
    "recirculate({ ",
    "asker.apply(standard",
    "clone_in_Ingress(x",
    "clone_in_Egress(x",
    "clone_in_Ingress(ostd",
    "clone_in_Egress(ostd",
    // Externs of PSA.
    "DirectCounter<",
    "DirectMeter(",
    "Register<",
    "Random<",
    "Hash<",
    "multicast(ostd",
    "asker.apply(ostd",
    "resubmit = ",
    "clone = ",
    "class_of_service = ",
    // Functions of PNA.
    "mirror_packet(",
    "recirculate();",
    "add_entry(",
    "add_entry_if(",
    "AUTO_DELETE",
    "@host_ports(",
];

#[test]
fn every_form_is_made() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..SEEDS {
        for architecture in [Architecture::V1Model, Architecture::Psa, Architecture::Pna] {
            let text = random_p4(&mut Rng::new(seed), &Options { architecture, ..Options::default() }).text;
            for form in FORMS.iter().filter(|form| text.contains(**form)) {
                *counts.entry(form).or_insert(0) += 1;
            }
        }
    }
    let missing: Vec<&str> =
        FORMS.iter().copied().filter(|form| counts.get(form).is_none_or(|count| *count < 5)).collect();
    assert!(missing.is_empty(), "hardly made in {SEEDS} programs of each architecture: {missing:?}");
}
