//! The translation units of a C text, as the text itself marks them.
//!
//! What enters: C text. What leaves: the text of each of its translation units. A divided text has its number of units
//! in one of its first lines; what all units share comes first, then what each has between `#if WS_IN_UNIT(number)`
//! and `#endif`. A unit is compiled with its number as the macro `WS_UNIT`.

use std::borrow::Cow;

/// The macro with the number of a text's units.
pub(crate) const DEFINITION: &str = "WS_UNITS";

/// The macro that chooses a unit.
pub(crate) const CHOICE: &str = "WS_UNIT";

/// The most units of a text.
pub(crate) const COUNT_MAX: usize = 64;

/// Lines at the beginning of a text, among which is the definition.
const FIRST_LINES: usize = 16;

/// The line before what only this unit has.
pub(crate) fn first_line(unit: usize) -> String {
    format!("#if WS_IN_UNIT({unit})")
}

/// The units of a text, with its line numbers; `name` is the text's file. One, the text itself, if it is not divided.
pub(crate) fn texts<'t>(text: &'t str, name: &str) -> Vec<Cow<'t, str>> {
    let count = count(text);
    // Where each unit begins. A text without these lines is compiled whole for each unit.
    let begins = (0..count).map(|unit| Some(text.find(&format!("\n{}\n", first_line(unit)))? + 1));
    let Some(mut begins) = begins.collect::<Option<Vec<usize>>>().filter(|begins| count > 1 && begins.is_sorted())
    else {
        return vec![Cow::Borrowed(text); count];
    };
    begins.push(text.len());
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let shared = &text[..begins[0]];
    let mut line = 1 + shared.matches('\n').count();
    let mut units = Vec::with_capacity(count);
    for range in begins.windows(2) {
        let own = &text[range[0]..range[1]];
        units.push(Cow::Owned(format!("#line 1 \"{name}\"\n{shared}#line {line}\n{own}")));
        line += own.matches('\n').count();
    }
    units
}

/// The number of units of a text; 1 if it is not divided.
fn count(text: &str) -> usize {
    let defined = |line: &str| line.strip_prefix("#define ")?.strip_prefix(DEFINITION)?.trim().parse().ok();
    text.lines().take(FIRST_LINES).find_map(defined).unwrap_or(1).clamp(1, COUNT_MAX)
}

#[cfg(test)]
mod tests {
    use super::{count, texts};
    use expect_test::expect;

    #[test]
    fn a_text_has_its_number_of_units() {
        for (text, expected) in [
            ("int x;\n", 1),
            ("#define WS_CRC32\n#define WS_UNITS 7\n#include \"wirespeed.h\"\n", 7),
            ("#define WS_UNITS 0\n", 1),
            ("#define WS_UNITS 100000\n", 64),
            ("#define WS_UNITS many\n", 1),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }

    #[test]
    fn each_unit_has_what_is_shared_and_what_is_its_own() {
        let text = "#define WS_UNITS 2\nint f(void);\n\n#if WS_IN_UNIT(0)\nint g(void) { return f(); }\n#endif\n\n\
                    #if WS_IN_UNIT(1)\nint f(void) { return 1; }\n#endif\n";
        expect![[r##"
            #line 1 "a \"b\".c"
            #define WS_UNITS 2
            int f(void);

            #line 4
            #if WS_IN_UNIT(0)
            int g(void) { return f(); }
            #endif

            ---
            #line 1 "a \"b\".c"
            #define WS_UNITS 2
            int f(void);

            #line 8
            #if WS_IN_UNIT(1)
            int f(void) { return 1; }
            #endif
        "##]]
        .assert_eq(&texts(text, "a \"b\".c").join("---\n"));
        let whole = "int x;\n";
        assert_eq!(texts(whole, "x.c"), [whole]);
        let hostile = "#define WS_UNITS 3\nint x;\n";
        assert_eq!(texts(hostile, "x.c"), [hostile; 3]);
    }
}
