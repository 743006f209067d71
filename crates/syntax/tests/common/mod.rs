//! What the tests of this crate share.

#![allow(dead_code, reason = "each test binary uses a part")]

use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, ast};

/// The programs that other tests mutate.
pub const SAMPLES: &[(&str, &str)] = &[
    ("core.p4", include_str!("../../../../include/core.p4")),
    ("v1model.p4", include_str!("../../../../include/v1model.p4")),
    ("tour.p4", include_str!("../samples/tour.p4")),
    ("router.p4", include_str!("../samples/router.p4")),
];

/// Parses a program that includes nothing but built-in files.
pub fn parse(text: &str) -> (SourceMap, ast::Program, Diagnostics) {
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let (program, diagnostics) = syntax::parse_text(&mut sources, "a.p4", text, &Options::new(&files));
    (sources, program, diagnostics)
}

/// One diagnostic a line.
pub fn short(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|diagnostic| syntax::render_short(sources, diagnostic) + "\n").collect()
}
