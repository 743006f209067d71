//! Programs from text and files, and their errors.

use crate::BRIDGE;
use expect_test::expect;
use wirespeed::{CompileError, MemoryFiles, Options};

#[test]
fn errors_render_as_the_command_shows_them() {
    let text = BRIDGE.replace("address.apply()", "adress.apply()");
    let error = Options::default().compile_text("bridge.p4", &text).unwrap_err();
    assert_eq!(error.diagnostics().count(), 1);
    expect![[r#"
        error[E0201]: `adress` is not declared
          --> bridge.p4:24:9
           |
        24 |         adress.apply();
           |         ^^^^^^ unknown name

        1 error
    "#]]
    .assert_eq(&error.to_string());
}

#[test]
fn a_program_may_be_required_to_be_of_an_architecture() {
    let options = Options { architecture: Some("psa".to_owned()), ..Options::default() };
    let error = options.compile_text("bridge.p4", BRIDGE).unwrap_err();
    assert!(matches!(error, CompileError::Architecture(_)));
    let message = "the program is not for psa: its `main` is of package V1Switch, not PSA_Switch";
    assert_eq!(error.to_string(), message);
}

#[test]
fn files_macros_and_folders_are_those_of_the_options() {
    let text =
        BRIDGE.replace("apply {\n        bit<32>", "apply {\n#ifdef WIDE\n#include \"more.p4\"\n#endif\n bit<32>");
    let files = MemoryFiles::new().with("d/bridge.p4", text).with("inc/more.p4", "mark_to_drop(s) missing");
    let mut options = Options { include: vec!["inc".into()], ..Options::default() };
    let compile = |options: &Options| options.compile("d/bridge.p4".as_ref(), &files);
    assert!(compile(&options).is_ok());
    options.define.push(("WIDE".to_owned(), "1".to_owned()));
    assert!(compile(&options).unwrap_err().to_string().contains("inc/more.p4:1"));
    options.undefine.push("WIDE".to_owned());
    assert!(compile(&options).is_ok());
}
