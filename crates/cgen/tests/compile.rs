//! The compiler, its cache, and its error messages.

use cgen::{CacheNote, CompileError, CompileOptions, Optimise, compile};
use std::os::unix::fs::PermissionsExt;

fn options(folder: &std::path::Path) -> CompileOptions {
    CompileOptions { cache_dir: Some(folder.to_owned()), optimise: Optimise::None, ..CompileOptions::default() }
}

#[test]
fn what_was_compiled_is_found_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = options(&folder.path().join("cache"));
    let first = compile("int answer(void);\nint answer(void) { return 42; }\n", &options).expect("valid C");
    let second = compile("int answer(void);\nint answer(void) { return 42; }\n", &options).expect("valid C");
    let other = compile("int answer(void);\nint answer(void) { return 43; }\n", &options).expect("valid C");
    assert!(!first.from_cache && second.from_cache && !other.from_cache);
    assert_eq!(first.path, second.path);
    assert_ne!(first.path, other.path);
    let optimised = CompileOptions { optimise: Optimise::Full, ..options.clone() };
    let third = compile("int answer(void);\nint answer(void) { return 42; }\n", &optimised).expect("valid C");
    assert!(!third.from_cache, "other flags make other code");
    let mode = std::fs::metadata(folder.path().join("cache")).expect("the cache").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "what others could write would be run");
}

#[test]
fn a_cache_that_others_can_write_is_closed_to_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("our folder");
    compile("int x;\n", &options(folder.path())).expect("valid C");
    let mode = std::fs::metadata(folder.path()).expect("the cache").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_compiler_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = CompileOptions { compiler: Some("no-such-compiler --flag".into()), ..options(folder.path()) };
    let error = compile("int x;\n", &options).expect_err("there is no such compiler");
    assert!(matches!(error, CompileError::NoCompiler { .. }), "{error:?}");
    assert!(error.to_string().contains("no-such-compiler"), "{error}");
}

#[test]
fn errors_of_the_compiler_are_passed_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = compile("int x = nonsense;\n", &options(folder.path())).expect_err("not C");
    let CompileError::Failed { command, stderr } = &error else { panic!("{error:?}") };
    assert!(command.contains("-fPIC") && stderr.contains("nonsense"), "{error}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the cache").filter_map(Result::ok).collect();
    assert!(left.iter().all(|file| !file.file_name().to_string_lossy().contains(".tmp")), "{left:?}");
}

#[test]
fn a_path_that_is_no_folder_is_not_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("our folder");
    let object = compile("int x;\n", &options(&file)).expect("another folder is used");
    assert!(object.path.exists() && !object.path.starts_with(folder.path()), "{object:?}");
    assert!(
        matches!(&object.note, Some(CacheNote::Aside(why)) if why.ends_with("file: it is not a folder")),
        "{object:?}"
    );
}

#[test]
fn a_missing_cross_compiler_is_named_with_its_package() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = CompileOptions { target: Some("no_such-linux-gnu".into()), ..options(folder.path()) };
    let error = compile("int x;\n", &options).expect_err("there is no such machine");
    assert_eq!(
        error.to_string(),
        "no C compiler for no_such-linux-gnu found (tried no_such-linux-gnu-gcc, no_such-linux-gnu-clang, clang); on \
         Debian install the package gcc-no-such-linux-gnu"
    );
}

#[test]
fn a_compiler_that_does_not_know_its_processor_still_compiles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("cross-cc");
    let text = "#!/bin/sh\nfor word; do [ \"$word\" = -march=native ] && echo \"unknown value 'native'\" >&2 && exit 1; done\n\
                exec cc \"$@\"\n";
    std::fs::write(&script, text).expect("our folder");
    // The shell reads it: a file that was just written cannot be started while another test makes a process.
    let compiler = Some(format!("sh {}", script.to_str().expect("a plain name")));
    let options = CompileOptions { compiler, ..options(&folder.path().join("cache")) };
    compile("int x;\n", &options).expect("the C is valid, only the processor is not known");
    let error = compile("int x = nonsense;\n", &options).expect_err("not C");
    assert!(matches!(&error, CompileError::Failed { stderr, .. } if stderr.contains("nonsense")), "{error}");
}

#[test]
fn a_program_is_compiled_for_another_machine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l3fwd/l3fwd.p4");
    let program = testkit::pipeline::program_of_file(&path).expect("the example router");
    let text = cgen::emit_c(&program, &cgen::Plan::new(&program).expect("a plan"), &|_| None);
    let options = CompileOptions {
        target: Some("aarch64-linux-gnu".into()),
        deny_warnings: true,
        ..options(&folder.path().join("cache"))
    };
    let object = match compile(&text, &options) {
        Err(CompileError::NoCrossCompiler { .. }) => {
            testkit::skip("needs gcc-aarch64-linux-gnu");
            return;
        }
        compiled => compiled.expect("the generated C is valid there too"),
    };
    let bytes = std::fs::read(&object.path).expect("the object");
    // ELF, and the machine's number: AArch64.
    assert_eq!((&bytes[..4], u16::from_le_bytes([bytes[18], bytes[19]])), (b"\x7fELF".as_slice(), 183));
}
