//! The include files that come with the compiler.

/// Name and text of each file: what `#include <name>` finds if no include folder has the name.
pub const FILES: &[(&str, &str)] = &[
    ("_internal/pna.p4", include_str!("../../../include/_internal/pna.p4")),
    ("bmv2/pna.p4", include_str!("../../../include/bmv2/pna.p4")),
    ("bmv2/psa.p4", include_str!("../../../include/bmv2/psa.p4")),
    ("core.p4", include_str!("../../../include/core.p4")),
    ("dpdk/pna.p4", include_str!("../../../include/dpdk/pna.p4")),
    ("dpdk/psa.p4", include_str!("../../../include/dpdk/psa.p4")),
    ("ebpf_model.p4", include_str!("../../../include/ebpf_model.p4")),
    ("pna.p4", include_str!("../../../include/pna.p4")),
    ("psa.p4", include_str!("../../../include/psa.p4")),
    ("tc/pna.p4", include_str!("../../../include/tc/pna.p4")),
    ("ubpf_model.p4", include_str!("../../../include/ubpf_model.p4")),
    ("v1model.p4", include_str!("../../../include/v1model.p4")),
    ("wirespeed.p4", include_str!("../../../include/wirespeed.p4")),
    ("xdp_model.p4", include_str!("../../../include/xdp_model.p4")),
];

/// The text of the built-in file with this name.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(other, _)| *other == name).map(|&(_, text)| text)
}
