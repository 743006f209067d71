//! Converts the output of `--json` to CSV (RFC 4180), for other drawing tools.
//!
//! What enters: a file with one JSON object per line. What leaves: a line with the names of columns, and for each
//! object a row, or as many rows as its longest list has elements; members that are not lists are repeated in all of
//! them. Members of nested objects have both names, separated by a dot.

use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Write as _, stdout};
use std::path::Path;

/// Prints a file as CSV.
pub fn print(path: &Path) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(stdout().write_all(csv(&text)?.as_bytes())?)
}

fn csv(text: &str) -> Result<String, serde_json::Error> {
    let mut columns: Vec<String> = Vec::new();
    let mut objects = Vec::new();
    for line in text.lines() {
        let mut cells = BTreeMap::new();
        flatten("", serde_json::from_str(line)?, &mut cells);
        columns.extend(cells.keys().filter(|name| !columns.contains(name)).cloned().collect::<Vec<_>>());
        objects.push(cells);
    }
    let mut out = row(columns.iter().map(|name| field(name)));
    for cells in &objects {
        let rows = cells.values().filter_map(|cell| Some(cell.as_array()?.len())).max().unwrap_or(1);
        for number in 0..rows {
            let cell = |name: &String| match cells.get(name) {
                Some(Json::Array(list)) => list.get(number).map_or_else(String::new, plain),
                Some(value) => plain(value),
                None => String::new(),
            };
            out += &row(columns.iter().map(cell));
        }
    }
    Ok(out)
}

/// Flattens nested objects.
fn flatten(name: &str, value: Json, cells: &mut BTreeMap<String, Json>) {
    let Json::Object(members) = value else {
        cells.insert(name.to_owned(), value);
        return;
    };
    for (member, value) in members {
        let inner = if name.is_empty() { member } else { format!("{name}.{member}") };
        flatten(&inner, value, cells);
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => field(text),
        other => field(&other.to_string()),
    }
}

/// A field, in quotation marks if necessary.
fn field(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn row(fields: impl Iterator<Item = String>) -> String {
    fields.collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::csv;

    #[test]
    fn lists_become_rows_and_nested_members_have_both_names() {
        let text = concat!(
            r#"{"way":"as, it \"is\"","ratio":0.5,"paper":null}"#,
            "\n",
            r#"{"way":"learned","us":[1.5,2],"first":{"us":[3],"place":"a"}}"#,
            "\n"
        );
        expect_test::expect![[r#"
            paper,ratio,way,first.place,first.us,us
            ,0.5,"as, it ""is""",,,
            ,,learned,a,3,1.5
            ,,learned,a,,2
        "#]]
        .assert_eq(&csv(text).unwrap());
    }
}
