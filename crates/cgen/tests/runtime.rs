//! Compiles and runs the tests of the C runtime, `runtime.c`, with sanitizers and both compilers.

use std::path::Path;
use std::process::Command;

fn check(compiler: &str, processor: &[&str]) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runtime-{compiler}{}", processor.len()));
    let output = Command::new(compiler)
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(processor)
        .arg("-I")
        .arg(manifest.join("../../runtime/c"))
        .arg("-o")
        .arg(&program)
        .arg(manifest.join("tests/runtime.c"))
        .output();
    let Ok(output) = output else {
        assert_ne!(compiler, "cc", "a C compiler is needed");
        return testkit::skip(format!("needs {compiler}"));
    };
    if !has_sanitizers(compiler) {
        return testkit::skip(format!("needs the sanitizers of {compiler} (on Debian libclang-rt-*-dev, or libasan*)"));
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = Command::new(&program).output().expect("the compiled test can be started");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// What the sanitizers are linked with may be a package of its own.
fn has_sanitizers(compiler: &str) -> bool {
    let mut link = Command::new(compiler);
    link.args(["-x", "c", "-shared", "-fPIC", "-fsanitize=address,undefined", "-o", "/dev/null", "/dev/null"]);
    link.output().is_ok_and(|output| output.status.success())
}

#[test]
fn runtime_headers_with_the_system_compiler() {
    check("cc", &[]);
}

/// Where there is one.
#[test]
fn runtime_headers_with_clang() {
    check("clang", &[]);
}

/// With the vector instructions that this processor has.
#[test]
fn runtime_headers_for_this_processor() {
    check("cc", &["-march=native"]);
    check("clang", &["-march=native"]);
}
