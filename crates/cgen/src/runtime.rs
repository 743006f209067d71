//! The C headers that generated code includes, as they are in `runtime/c`.

/// Name and text of each.
pub const FILES: [(&str, &str); 9] = [
    ("wirespeed.h", include_str!("../../../runtime/c/wirespeed.h")),
    ("words.h", include_str!("../../../runtime/c/words.h")),
    ("guard.h", include_str!("../../../runtime/c/guard.h")),
    ("arith.h", include_str!("../../../runtime/c/arith.h")),
    ("wide.h", include_str!("../../../runtime/c/wide.h")),
    ("rows.h", include_str!("../../../runtime/c/rows.h")),
    ("header.h", include_str!("../../../runtime/c/header.h")),
    ("hash.h", include_str!("../../../runtime/c/hash.h")),
    ("deparse.h", include_str!("../../../runtime/c/deparse.h")),
];
