//! Texts of a translated type that have fixed values: `@p4runtime_translation_mappings`.
//!
//! What enters: the text of an annotation from a P4Info. What leaves: pairs of text and number. SONiC's programs use
//! this annotation; their default routing domain is the empty text: `@p4runtime_translation_mappings({ {"", 0}, })`.

/// The name of the annotation.
pub(crate) const NAME: &str = "p4runtime_translation_mappings";

/// The required form, for error messages.
pub(crate) const EXPECTED: &str =
    "`@p4runtime_translation_mappings` takes pairs of a text and a number, each once, such as `({ {\"\", 0} })`";

/// The pairs of the annotation: `None` if it is another annotation, `Some(None)` if it cannot be parsed.
pub(crate) fn of(annotation: &str) -> Option<Option<Vec<(String, u64)>>> {
    let rest = annotation.strip_prefix('@')?.strip_prefix(NAME)?;
    Some(Cursor(rest).all())
}

/// The first number that does not fit into the given width.
pub(crate) fn that_does_not_fit<'a>(
    mut mappings: impl Iterator<Item = &'a (String, u64)>,
    width_bits: u32,
) -> Option<&'a (String, u64)> {
    mappings.find(|(_, number)| u64::BITS - number.leading_zeros() > width_bits)
}

/// The remaining text.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    /// The whole body.
    fn all(mut self) -> Option<Vec<(String, u64)>> {
        self.pass("(")?;
        self.pass("{")?;
        let mut pairs: Vec<(String, u64)> = Vec::new();
        while self.pass("}").is_none() {
            let (text, number) = self.pair()?;
            if pairs.iter().any(|(other, taken)| *other == text || *taken == number) {
                return None;
            }
            pairs.push((text, number));
            // A comma may follow the last pair.
            if self.pass(",").is_none() && !self.0.trim_start().starts_with('}') {
                return None;
            }
        }
        self.pass(")")?;
        self.0.trim().is_empty().then_some(pairs)
    }

    fn pass(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn pair(&mut self) -> Option<(String, u64)> {
        self.pass("{")?;
        let text = self.text()?;
        self.pass(",")?;
        let number = self.number()?;
        self.pass("}")?;
        Some((text, number))
    }

    fn text(&mut self) -> Option<String> {
        self.pass("\"")?;
        let (mut text, mut is_escaped) = (String::new(), false);
        for (at, letter) in self.0.char_indices() {
            match letter {
                '"' if !is_escaped => {
                    self.0 = &self.0[at + 1..];
                    return Some(text);
                }
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                _ => text.push(letter),
            }
            is_escaped = false;
        }
        None
    }

    /// A P4 integer literal, with or without a width.
    fn number(&mut self) -> Option<u64> {
        let rest = self.0.trim_start();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let (written, rest) = rest.split_at(end);
        self.0 = rest;
        let written = written.replace('_', "").to_ascii_lowercase();
        let digits = written.split_once('w').map_or(written.as_str(), |(_, digits)| digits);
        let (radix, digits) = match digits.get(..2) {
            Some("0x") => (16, &digits[2..]),
            Some("0b") => (2, &digits[2..]),
            Some("0o") => (8, &digits[2..]),
            Some("0d") => (10, &digits[2..]),
            _ => (10, digits),
        };
        u64::from_str_radix(digits, radix).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_however_they_are_written() {
        let read = |body: &str| of(&format!("@p4runtime_translation_mappings{body}")).unwrap();
        let pair = |text: &str, number| (text.to_owned(), number);
        assert_eq!(read("({ { \"\" , 0 } , })"), Some(vec![pair("", 0)]));
        assert_eq!(read("({{\"\", 0}})"), Some(vec![pair("", 0)]));
        assert_eq!(
            read(r#"({ {"CPU", 9w510}, {"a \"b\" \\", 0x1_0}, {"c", 0b11} })"#),
            Some(vec![pair("CPU", 510), pair(r#"a "b" \"#, 16), pair("c", 3)])
        );
        assert_eq!(read("({ })"), Some(vec![]));
        for wrong in ["", "()", "({ {\"a\", b} })", "({ {1, 2} })", "({ {\"a\", 1} {\"b\", 2} })", "({ {\"a\", 1} }) x"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        for twice in ["({ {\"a\", 1}, {\"a\", 2} })", "({ {\"a\", 1}, {\"b\", 1} })"] {
            assert_eq!(read(twice), None, "{twice}");
        }
        assert_eq!(of("@p4runtime_translation_mapping"), None);
        assert_eq!(of("@brief(\"x\")"), None);
    }
}
