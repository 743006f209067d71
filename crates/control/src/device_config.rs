//! The device config of a program as JSON.
//!
//! Clients that were written for the reference switch send the JSON file that its compiler has made, and some check
//! that it is JSON. For them a program is an object with one key: `{"wirespeed_program": "..."}`.

use serde_json::json;
use std::collections::BTreeMap;

/// The key of the program.
const KEY: &str = "wirespeed_program";

/// JSON that contains the text of a program, which includes no other file.
pub fn write(text: &str) -> String {
    json!({ KEY: text }).to_string() + "\n"
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
    }
}
