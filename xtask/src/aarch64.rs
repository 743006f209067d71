//! The tests on AArch64, in QEMU's user-mode emulator.
//!
//! What enters: `cargo xtask aarch64`. What leaves: an error if the interpreter and native code differ there, or if
//! the match engines give wrong results. The tests are built by Rust's cross compiler. The C that they generate is
//! compiled by GCC's cross compiler, which they call from inside the emulator. This finds code that is not portable:
//! instructions of one processor, alignment, the signedness of `char`.

use crate::{cargo, finish};
use std::process::{Command, Stdio};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// The folder of the target's libraries in Debian's packages for cross compilation.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// All tests of the match engines, and of the backends against each other.
pub(crate) fn all() -> Result<(), String> {
    run(&["--package", "tables", "--package", "testkit"])
}

/// Only the corpus: all its programs and packets, on both backends.
pub(crate) fn corpus() -> Result<(), String> {
    run(&["--package", "testkit", "--test", "it", "corpus::"])
}

fn run(tests: &[&str]) -> Result<(), String> {
    let missing = missing();
    if !missing.is_empty() {
        return Err(format!("not here: {}", missing.join("; ")));
    }
    let mut command = cargo();
    command.args(["test", "--target", TARGET]).args(tests);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("{EMULATOR} -L {LIBRARIES}"));
    // Tests compile for the emulated machine, build scripts for this one.
    command.env("CC", COMPILER).env("HOST_CC", "cc");
    finish(&mut command)
}

/// The tools that are required but not installed, with their packages.
fn missing() -> Vec<String> {
    let runs = |program: &str| {
        let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let mut missing = Vec::new();
    if !runs(EMULATOR) {
        missing.push(format!("{EMULATOR} (Debian package qemu-user)"));
    }
    if !runs(COMPILER) {
        missing.push(format!("{COMPILER} (Debian packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"));
    }
    let installed = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = installed.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if !std::path::Path::new(&folder).is_dir() {
        missing.push(format!("Rust's library for {TARGET} (rustup target add {TARGET})"));
    }
    missing
}
