//! scratch
use std::path::{Path, PathBuf};
fn main() {
    let mut failed = 0;
    let mut passed = 0;
    for arg in std::env::args().skip(1) {
        let program = PathBuf::from(&arg);
        let stf = program.with_extension("stf");
        let scripts = if stf.is_file() { vec![stf] } else { vec![] };
        let entries = program.with_extension("json");
        let entries = entries.is_file().then_some(entries);
        let case = testkit::corpus::Case { program: program.clone(), entries, scripts };
        let result = std::panic::catch_unwind(|| testkit::corpus::check(&case, Path::new("/tmp/lang-cache")));
        match result {
            Ok(failures) if failures.is_empty() => passed += 1,
            Ok(failures) => {
                failed += 1;
                println!("== {arg}");
                failures.iter().for_each(|f| println!("{f}"));
            }
            Err(_) => {
                failed += 1;
                println!("== {arg}: PANIC");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
}
