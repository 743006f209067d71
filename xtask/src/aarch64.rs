//! The tests on another machine: AArch64, under the emulator of user programs that QEMU has.
//!
//! What enters: `cargo xtask aarch64`. What leaves: an error if the interpreter and native code differ there, or if the
//! engines give wrong answers. The tests are built by Rust's cross compiler; the C that they generate is compiled, from
//! inside the emulator, by gcc's. What is not portable shows here: instructions of one processor, alignment, the sign
//! of `char`.

use crate::{cargo, finish};
use std::process::{Command, Stdio};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// Where Debian's packages for cross compiling have the libraries of the other machine.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// All tests of the engines and of the two backends against each other.
pub(crate) fn all() -> Result<(), String> {
    run(&["--package", "tables", "--package", "testkit"])
}

/// The corpus alone: every program and packet of it, on both backends.
pub(crate) fn corpus() -> Result<(), String> {
    run(&["--package", "testkit", "--test", "corpus"])
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
    // What the tests compile is for the emulated machine; what build scripts compile for this one is not.
    command.env("CC", COMPILER).env("HOST_CC", "cc");
    finish(&mut command)
}

/// What is needed and not installed, with where it comes from.
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
