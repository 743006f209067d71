//! The examples of the simulator: each runs in seconds, shows what its README says, and has current pictures.
//!
//! `UPDATE_EXPECT=1 cargo test -p cli sim_examples` draws the pictures anew.

use expect_test::{ExpectFile, expect_file};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The results of a scenario below `examples/sim`.
fn run(scenario: &str, arguments: &[&str]) -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sim");
    let results = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("sim").arg(root.join(scenario)).arg("--output").arg(results.path()).args(arguments);
    let output =
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim-cache")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    results
}

fn read(results: &TempDir, name: &str) -> String {
    fs::read_to_string(results.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn check_picture(results: &TempDir, name: &str, expected: &ExpectFile) {
    expected.assert_eq(&read(results, name));
}

/// The numbers of a column, of the lines whose first column begins with a text; where nothing stands, 0.
fn column(results: &TempDir, name: &str, column: &str, first: &str) -> Vec<f64> {
    let table = read(results, name);
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let index = lines.next().unwrap().iter().position(|it| *it == column).unwrap();
    lines.filter(|line| line[0].starts_with(first)).map(|line| line[index].parse().unwrap_or(0.0)).collect()
}

#[test]
fn dumbbell() {
    let results = run("dumbbell/dumbbell.toml", &[]);
    check_picture(&results, "goodput.svg", &expect_file!["../../../examples/sim/dumbbell/goodput.svg"]);
    check_picture(&results, "queues.svg", &expect_file!["../../../examples/sim/dumbbell/queues.svg"]);
    let goodput = column(&results, "flows.csv", "goodput_bits_per_s", "");
    let total: f64 = goodput.iter().sum();
    assert!((0.9 * 50e6..50e6).contains(&total), "{goodput:?}");
    // Marks slow only DCTCP down; the other two fill the queue.
    assert!(goodput[2] < goodput[0] / 4.0 && goodput[2] < goodput[1] / 4.0, "{goodput:?}");
}

#[test]
fn incast_with_marks_of_a_program() {
    let results = run("incast-ecn/incast.toml", &[]);
    check_picture(&results, "queues.svg", &expect_file!["../../../examples/sim/incast-ecn/queues.svg"]);
    let without = run("incast-ecn/incast.toml", &["-D", "MARK=100000"]);
    check_picture(&without, "queues.svg", &expect_file!["../../../examples/sim/incast-ecn/queues-without.svg"]);
    let lost = |results: &TempDir| column(results, "switches.csv", "dropped_queue_full", "s1")[0];
    assert!(lost(&results) * 4.0 < lost(&without), "{} {}", lost(&results), lost(&without));
}

#[test]
fn leaf_spine_with_equal_paths() {
    let results = run("leaf-spine/leaf-spine.toml", &[]);
    check_picture(&results, "completion.svg", &expect_file!["../../../examples/sim/leaf-spine/completion.svg"]);
    // Each leaf uses both spines.
    for leaf in 1..=4 {
        let parts =
            ["s5", "s6"].map(|spine| column(&results, "channels.csv", "utilisation", &format!("s{leaf}>{spine}"))[0]);
        assert!(parts.iter().all(|part| *part > 0.05), "{leaf}: {parts:?}");
    }
}

#[test]
fn a_link_that_fails_under_load() {
    let results = run("link-failure/link-failure.toml", &[]);
    check_picture(&results, "goodput.svg", &expect_file!["../../../examples/sim/link-failure/goodput.svg"]);
    check_picture(&results, "utilisation.svg", &expect_file!["../../../examples/sim/link-failure/utilisation.svg"]);
    let lost: f64 = column(&results, "channels.csv", "dropped_down", "").iter().sum();
    assert!(lost > 100.0, "{lost}");
}

#[test]
fn a_controller_that_learns_addresses() {
    let results = run("learning-switch/learning.toml", &[]);
    let picture = expect_file!["../../../examples/sim/learning-switch/utilisation.svg"];
    check_picture(&results, "utilisation.svg", &picture);
    let flooded = |results: &TempDir| column(results, "channels.csv", "packets", "s2>h3")[0];
    let far = run("learning-switch/learning.toml", &["--set", "controller.to_controller=10ms"]);
    assert!(flooded(&results) * 2.0 < flooded(&far), "{} {}", flooded(&results), flooded(&far));
    let counted = |name: &str| column(&results, "controllers.csv", name, "controller")[0];
    // Two entries for each of three addresses in each of two switches: h3 sends nothing.
    assert_eq!((counted("updates"), counted("updates_refused")), (12.0, 0.0));
    assert!(counted("digests") > 100.0);
}

#[test]
fn paths_by_load_with_a_controller_of_p4te() {
    let results = run("p4te/p4te.toml", &[]);
    let sum = |results: &TempDir, name: &str| column(results, "controllers.csv", name, "controller")[0];
    assert!(sum(&results, "packets_in") > 10.0 && sum(&results, "updates_refused") == 0.0);
    for leaf in 1..=4 {
        let parts =
            ["s5", "s6"].map(|spine| column(&results, "channels.csv", "utilisation", &format!("s{leaf}>{spine}"))[0]);
        assert!(parts.iter().all(|part| *part > 0.05), "{leaf}: {parts:?}");
    }
}
