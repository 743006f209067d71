//! The device config of a program as JSON.
//!
//! Clients that were written for the reference switch send the JSON file that its compiler has made, and some check
//! that it is JSON. For them a program is an object: `{"wirespeed_program": "..."}`, with the name of its file in
//! `wirespeed_name` if that is known.

use serde_json::json;
use std::collections::BTreeMap;

/// The key of the program.
const KEY: &str = "wirespeed_program";

/// The key of its name.
const NAME_KEY: &str = "wirespeed_name";

/// The longest name.
const NAME_BYTES_MAX: usize = 255;

/// JSON that contains the text of a program, which includes no other file.
pub fn write(text: &str) -> String {
    json!({ KEY: text }).to_string() + "\n"
}

/// The same with the name of the program's file.
pub fn write_named(text: &str, name: &str) -> String {
    json!({ KEY: text, NAME_KEY: name }).to_string() + "\n"
}

/// The name of the program in the JSON, without folders; `None` if there is none that can be shown.
pub fn name(json: &[u8]) -> Option<String> {
    let fields: BTreeMap<String, String> = serde_json::from_slice(json).ok()?;
    fields.get(KEY)?;
    let name = fields.get(NAME_KEY)?.rsplit('/').next()?;
    let can_be_shown = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    can_be_shown.then(|| name.to_owned())
}

/// The text of the program in the JSON; `None` for other JSON, or if the text is not JSON.
pub fn read(json: &[u8]) -> Option<String> {
    // Texts only: no other JSON takes more room than it has been sent in.
    let mut fields: BTreeMap<String, String> = serde_json::from_slice(json).ok()?;
    fields.remove(KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let text = "control c() { apply { } }\n// \"quoted\" \u{e9}\n";
        assert_eq!(read(write(text).as_bytes()).as_deref(), Some(text));
        assert_eq!(read(br#"{"program": "basic.p4", "__meta__": {"version": [2, 23]}}"#), None);
        assert_eq!(read(br#"{"wirespeed_program": 7}"#), None);
        assert_eq!(read(b"{"), None);
        let named = write_named(text, "a/b.p4");
        assert_eq!((read(named.as_bytes()).as_deref(), name(named.as_bytes()).as_deref()), (Some(text), Some("b.p4")));
        assert_eq!(name(write(text).as_bytes()), None);
        assert_eq!(name(write_named(text, "a\u{1b}[2J").as_bytes()), None);
    }
}
