//! Text that is almost P4: the parser reports errors and never panics. If it accepts the text, the printed text gives
//! the same tree.

use super::mutants::is_same_line;
use crate::mutate::{mutated, some_of};
use base::Rng;
use syntax::{MemoryFiles, Options, SourceMap};

/// Programs to start from.
pub(crate) const PROGRAMS: [&str; 2] =
    [include_str!("../../../apps/l2fwd/l2fwd.p4"), include_str!("../../../apps/l3fwd/l3fwd.p4")];

/// Words that change the meaning of what follows.
pub(crate) const WORDS: [&str; 48] = [
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ">>",
    "[",
    "]",
    ";",
    ":",
    ",",
    ".",
    "=",
    "==",
    "&&&",
    "..",
    "?",
    "++",
    "|+|",
    "@",
    "_",
    "#if 1\n",
    "#else\n",
    "#endif\n",
    "#define X X\n",
    "#include <core.p4>\n",
    "/*",
    "\"",
    "0x",
    "8w255",
    "-1",
    "bit<8>",
    "int",
    "varbit<8>",
    "header",
    "struct",
    "table",
    "action",
    "apply",
    "parser",
    "state",
    "transition",
    "select",
    "switch",
    "if",
    "return",
    "default",
];

pub(crate) fn run(rng: &mut Rng) -> Result<(), String> {
    let program = *rng.pick(&PROGRAMS);
    let part = some_of(rng, program);
    let text = mutated(rng, &part, &WORDS);
    let files = MemoryFiles::new();
    let options = Options::new(&files);
    let mut sources = SourceMap::new();
    let (tree, diagnostics) = syntax::parse_text(&mut sources, "fuzz.p4", &text, &options);
    if syntax::render_all(&sources, &diagnostics, false).is_empty() != diagnostics.is_empty() {
        return Err(format!("diagnostics are lost when they are shown\n{text}"));
    }
    if diagnostics.has_errors() {
        return Ok(());
    }
    let printed = syntax::print(&tree);
    let mut sources = SourceMap::new();
    let (again, diagnostics) = syntax::parse_text(&mut sources, "printed.p4", &printed, &options);
    if diagnostics.has_errors() {
        let errors = syntax::render_all(&sources, &diagnostics, false);
        return Err(format!("the printed tree does not parse\n{errors}\nprinted from\n{text}"));
    }
    let once_more = syntax::print(&again);
    let mut lines = printed.lines().zip(once_more.lines());
    let is_same = lines.all(|(before, after)| is_same_line(before, after));
    match is_same && printed.lines().count() == once_more.lines().count() {
        true => Ok(()),
        false => Err(format!("the printed tree is another one\n{printed}\nprinted from\n{text}")),
    }
}
