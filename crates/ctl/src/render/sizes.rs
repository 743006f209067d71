//! The fill levels of tables, for people and for programs.

use crate::grid::grid;
use p4runtime_proto::wirespeed::v1::{SizesResponse, TableSize};
use serde_json::{Value as Json, json};

/// A row for each table.
pub fn sizes_text(sizes: &SizesResponse) -> String {
    let header = ["table", "entries", "at most", "bytes", "per entry"].map(str::to_owned).to_vec();
    let row = |size: &TableSize| {
        let per_entry = entry_bytes(size).map_or_else(|| "-".to_owned(), |bytes| format!("{bytes:.0}"));
        let TableSize { name, entries, capacity, bytes } = size;
        vec![name.clone(), entries.to_string(), capacity.to_string(), bytes.to_string(), per_entry]
    };
    grid(std::iter::once(header).chain(sizes.tables.iter().map(row)).collect())
}

/// The same as a list of objects.
pub fn sizes_json(sizes: &SizesResponse) -> Json {
    let object = |size: &TableSize| {
        let TableSize { name, entries, capacity, bytes } = size;
        let entry_bytes = entry_bytes(size);
        json!({"table": name, "entries": entries, "capacity": capacity, "bytes": bytes, "entry_bytes": entry_bytes})
    };
    sizes.tables.iter().map(object).collect()
}

fn entry_bytes(size: &TableSize) -> Option<f64> {
    (size.entries > 0).then(|| size.bytes as f64 / size.entries as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn tables_are_shown_with_the_memory_of_an_entry() {
        let size = |name: &str, entries, bytes| TableSize { name: name.to_owned(), entries, capacity: 1024, bytes };
        let sizes = SizesResponse { tables: vec![size("I.route", 1000, 83_456), size("I.acl", 0, 64)] };
        expect![[r#"
            table    entries  at most  bytes  per entry
            I.route  1000     1024     83456  83
            I.acl    0        1024     64     -"#]]
        .assert_eq(&sizes_text(&sizes));
        expect![[
            r#"[{"bytes":83456,"capacity":1024,"entries":1000,"entry_bytes":83.456,"table":"I.route"},{"bytes":64,"capacity":1024,"entries":0,"entry_bytes":null,"table":"I.acl"}]"#
        ]]
        .assert_eq(&sizes_json(&sizes).to_string());
    }
}
