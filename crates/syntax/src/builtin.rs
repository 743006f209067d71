//! The include files that come with the compiler.

/// Name and text of each: what `#include <name>` finds if no include folder has the name.
pub const FILES: &[(&str, &str)] = &[
    ("bmv2/psa.p4", include_str!("../../../include/bmv2/psa.p4")),
    ("core.p4", include_str!("../../../include/core.p4")),
    ("psa.p4", include_str!("../../../include/psa.p4")),
    ("v1model.p4", include_str!("../../../include/v1model.p4")),
];

/// The text of the built-in file with this name.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(other, _)| *other == name).map(|&(_, text)| text)
}
