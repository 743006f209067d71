//! The entry point through which all tools read programs of either language.

use crate::{parser, translate};
use std::path::Path;
use syntax::{Diagnostics, Lexeme, LexemeKind, Options, Preprocessed, SourceMap, ast};

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// P4_14, versions 1.0 and 1.1.
    P4_14,
    /// P4_16.
    P4_16,
}

impl Standard {
    /// The language for a user's option: `p4-14`, `p4_14`, `p4-16`, `16` and so on.
    pub fn from_name(name: &str) -> Option<Standard> {
        let name = name.to_ascii_lowercase();
        match name.strip_prefix("p4").map(|rest| rest.trim_start_matches(['-', '_'])).unwrap_or(&name) {
            "14" => Some(Standard::P4_14),
            "16" => Some(Standard::P4_16),
            _ => None,
        }
    }
}

/// Reads the program in the file at `path`, in the given language or in the recognised one.
pub fn parse_program(
    sources: &mut SourceMap,
    path: &Path,
    options: &Options<'_>,
    standard: Option<Standard>,
) -> (ast::Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let options = &with_target(options);
    let preprocessed = Preprocessed::from_file(sources, path, options, &mut diagnostics);
    (parse(sources, preprocessed, options, standard, &mut diagnostics), diagnostics)
}

/// The text of the program in the file at `path` after the preprocessor.
pub fn preprocessed(sources: &mut SourceMap, path: &Path, options: &Options<'_>) -> (String, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let preprocessed = Preprocessed::from_file(sources, path, &with_target(options), &mut diagnostics);
    (preprocessed.text(sources), diagnostics)
}

/// The same for `text` as the program in a file called `name`.
pub fn parse_text(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    options: &Options<'_>,
    standard: Option<Standard>,
) -> (ast::Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let options = &with_target(options);
    let preprocessed = Preprocessed::from_text(sources, name, text, options, &mut diagnostics);
    (parse(sources, preprocessed, options, standard, &mut diagnostics), diagnostics)
}

/// The language of the program in these sources.
pub fn standard_of_sources(sources: &SourceMap) -> Standard {
    if sources.has_file(PRELUDE) { Standard::P4_14 } else { Standard::P4_16 }
}

/// The name of the source text with the architecture of a translated program.
const PRELUDE: &str = "<p4_14>";

/// The macro with which programs recognise the reference switch and compatible targets.
const TARGET_MACRO: &str = "__TARGET_BMV2__";

/// The options with [`TARGET_MACRO`] defined, unless they define or undefine it themselves.
fn with_target<'o>(options: &Options<'o>) -> Options<'o> {
    let mut options = options.clone();
    if !options.defines.iter().any(|(name, _)| name == TARGET_MACRO) {
        options.defines.insert(0, (TARGET_MACRO.to_owned(), "1".to_owned()));
    }
    options
}

fn parse(
    sources: &mut SourceMap,
    preprocessed: Preprocessed,
    options: &Options<'_>,
    standard: Option<Standard>,
    diagnostics: &mut Diagnostics,
) -> ast::Program {
    let lexemes = preprocessed.lexemes();
    if standard.unwrap_or_else(|| recognise(&lexemes)) == Standard::P4_16 {
        return preprocessed.parse(sources, diagnostics);
    }
    // The architecture for the translation, with its own macros only.
    let (prelude, faults) = syntax::parse_text(
        sources,
        PRELUDE,
        &format!("#include <core.p4>\n#include <v1model.p4>\n{}", translate::EXTRA_DECLARATIONS),
        &Options::new(options.loader),
    );
    diagnostics.append(faults);
    let program = parser::parse(lexemes, diagnostics);
    if diagnostics.has_errors() {
        return ast::Program::default();
    }
    translate::translate(&program, prelude, diagnostics)
}

/// The language of a preprocessed program. The first declaration that only one of the languages has decides; without
/// one, it is P4_16.
pub fn recognise(lexemes: &[Lexeme]) -> Standard {
    let mut depth = 0u32;
    let mut ends_declaration = true;
    for (position, lexeme) in lexemes.iter().enumerate() {
        let is_start = depth == 0 && (ends_declaration || lexeme.is_first_on_line);
        if is_start && lexeme.kind == LexemeKind::Word {
            let next = |distance: usize| lexemes.get(position + distance).map_or("", |lexeme| &*lexeme.text);
            if let Some(standard) = standard_of(&lexeme.text, next) {
                return standard;
            }
        }
        ends_declaration = false;
        if lexeme.kind == LexemeKind::Punctuation {
            match &*lexeme.text {
                "{" | "(" => depth += 1,
                "}" | ")" => {
                    depth = depth.saturating_sub(1);
                    ends_declaration = true;
                }
                ";" => ends_declaration = true,
                _ => {}
            }
        }
    }
    Standard::P4_16
}

/// The language of an outermost declaration that begins like this; `next` returns the text of a lexeme ahead.
fn standard_of<'l>(word: &str, next: impl Fn(usize) -> &'l str) -> Option<Standard> {
    let is_named_block = || next(2) == "{";
    match word {
        "header_type"
        | "field_list"
        | "field_list_calculation"
        | "calculated_field"
        | "parser_value_set"
        | "parser_exception"
        | "extern_type"
        | "blackbox_type"
        | "blackbox"
        | "action_selector"
        | "metadata" => Some(Standard::P4_14),
        "action_profile" | "counter" | "meter" | "register" | "table" | "parser" | "control" if is_named_block() => {
            Some(Standard::P4_14)
        }
        // `header type name;` declares an instance, `header name {` and `header name<T> {` a type.
        "header" if !matches!(next(2), "{" | "<") => Some(Standard::P4_14),
        "header" | "parser" | "control" | "struct" | "const" | "typedef" | "type" | "enum" | "error" | "match_kind"
        | "package" | "header_union" | "bit" | "int" => Some(Standard::P4_16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syntax::MemoryFiles;

    fn standard(text: &str) -> Standard {
        let files = MemoryFiles::new();
        let mut diagnostics = Diagnostics::new();
        let preprocessed =
            Preprocessed::from_text(&mut SourceMap::new(), "t.p4", text, &Options::new(&files), &mut diagnostics);
        recognise(&preprocessed.lexemes())
    }

    #[test]
    fn the_first_telling_declaration_decides() {
        for text in [
            "header_type h_t { fields { a : 8; } }",
            "header h_t h;\nheader_type h_t { fields { a : 8; } }",
            "@pragma x y\nparser start { return ingress; }",
            "action a() { } control ingress { }",
            "action a() { }\ntable t { actions { a; } }",
            "counter c { type : packets; }",
            "header h_t h[2];",
            "parser start { extract(h); return ingress; }",
        ] {
            assert_eq!(standard(text), Standard::P4_14, "{text}");
        }
        for text in [
            "",
            "#include <core.p4>\n",
            "header h_t { bit<8> a; }",
            "header h_t<T> { T a; }",
            "control c(inout bit<8> x) { table t { actions = { } } apply { } }",
            "parser p(packet_in b) { state start { transition accept; } }",
            "action a() { } const bit<8> x = 1;",
            "extern X { } extern void f();",
            "register<bit<8>>(1) r;",
        ] {
            assert_eq!(standard(text), Standard::P4_16, "{text}");
        }
    }

    #[test]
    fn standards_have_several_names() {
        for name in ["p4-14", "p4_14", "P4-14", "14", "p414"] {
            assert_eq!(Standard::from_name(name), Some(Standard::P4_14));
        }
        assert_eq!(Standard::from_name("p4-16"), Some(Standard::P4_16));
        assert_eq!(Standard::from_name("p4-15"), None);
    }
}
