//! Text that is almost valid: valid text with a few changes.

use base::Rng;

/// The most changes in one text.
const CHANGES_MAX: u64 = 6;

/// `text` with a few changes: characters or spans of it are deleted, duplicated, exchanged or moved, or one of
/// `words` is inserted.
pub fn mutated(rng: &mut Rng, text: &str, words: &[&str]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    // A single change leaves many texts valid, so that they reach later stages.
    let changes = if rng.chance(1, 2) { 1 } else { rng.between(2, CHANGES_MAX) };
    for _ in 0..changes {
        change(rng, &mut characters, words);
    }
    characters.into_iter().collect()
}

fn change(rng: &mut Rng, text: &mut Vec<char>, words: &[&str]) {
    let length = text.len() as u64;
    let start = rng.below(length + 1) as usize;
    let end = (start + rng.between(1, 30) as usize).min(text.len());
    match rng.below(12) {
        0 => drop(text.drain(start..end)),
        1 => {
            let span = text[start..end].to_vec();
            text.splice(end..end, span);
        }
        2 => {
            let span: Vec<char> = text.drain(start..end).collect();
            let target = rng.below(text.len() as u64 + 1) as usize;
            text.splice(target..target, span);
        }
        3 => {
            if let Some(character) = text.get_mut(start) {
                *character = char::from(rng.between(32, 126) as u8);
            }
        }
        4 => text.insert(start, *rng.pick(&['\0', '\n', '\t', 'é', '\u{202e}', '"', '\\', '9', 'f', '_'])),
        // Truncation, but rarely: a short text exercises little.
        5 if rng.chance(1, 4) => text.truncate(start),
        5 | 6 => drop(text.splice(start..start, format!(" {} ", rng.pick(words)).chars())),
        _ => exchange_word(rng, text),
    }
}

/// Replaces a word of the text by another of its words: the result uses only words of the language, but rarely makes
/// sense.
fn exchange_word(rng: &mut Rng, text: &mut Vec<char>) {
    let word_near = |rng: &mut Rng, text: &[char]| {
        let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
        let start = rng.below(text.len() as u64 + 1) as usize;
        let first = start + text[start..].iter().position(is_part)?;
        let length = text[first..].iter().position(|c| !is_part(c)).unwrap_or(text.len() - first);
        Some(first..first + length)
    };
    if let (Some(from), Some(to)) = (word_near(rng, text), word_near(rng, text)) {
        let word = text[from].to_vec();
        text.splice(to, word);
    }
}

/// A random range of whole lines of `text`, and sometimes all of it.
pub fn some_of(rng: &mut Rng, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() || rng.chance(1, 2) {
        return text.to_string();
    }
    let first = rng.below(lines.len() as u64);
    let last = rng.between(first, lines.len() as u64 - 1);
    lines[first as usize..=last as usize].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_changes() {
        let make = || mutated(&mut Rng::new(7), "table_add a b 1 => 2", &["x"]);
        assert_eq!(make(), make());
    }

    #[test]
    fn any_text_can_be_changed() {
        for seed in 0..1000 {
            let mut rng = Rng::new(seed);
            mutated(&mut rng, "", &["x"]);
            mutated(&mut rng, "é", &["x"]);
            some_of(&mut rng, "");
            some_of(&mut rng, "a\nb");
        }
    }
}
