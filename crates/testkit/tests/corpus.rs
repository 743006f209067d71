//! Every program of the corpus passes its packet tests: in the interpreter and as native code, optimised and not.

use std::path::Path;
use testkit::corpus::{cases, check};

fn check_group(group: &str) {
    let cases = cases(group);
    assert!(!cases.is_empty(), "the group {group} has no cases");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let failures: Vec<String> = cases.iter().flat_map(|case| check(case, &cache)).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

testkit::group_tests!(check_group);
