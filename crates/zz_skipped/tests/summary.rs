//! The last test program that `cargo test --workspace` runs: summarises which tests were skipped, and why.

#![allow(clippy::print_stdout, reason = "the sum is for whoever runs the tests")]

use std::fs;

fn main() {
    // Tools ask a harness for the names of its tests; this harness has none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let Some(record) = skipped::record() else { return };
    let text = fs::read_to_string(&record).unwrap_or_default();
    println!("\n{}\n", skipped::summary(&skipped::read(&text)));
    forget_others(&record);
}

/// Removes the records of runs whose process has ended.
fn forget_others(record: &std::path::Path) {
    if std::env::var_os(skipped::RECORD_VARIABLE).is_some() {
        return;
    }
    let Some(Ok(others)) = record.parent().map(fs::read_dir) else { return };
    for other in others.flatten().map(|entry| entry.path()) {
        let name = other.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let process = name.split('-').next().unwrap_or_default().to_owned();
        if !std::path::Path::new("/proc").join(process).exists() {
            // Another run may have removed it already.
            let _ = fs::remove_file(other);
        }
    }
}
