//! `wirespeed check`: what is wrong with programs.

use crate::Exit;
use crate::args::CheckArguments;
use crate::frontend::{self, Source};
use sema::hir::Type;

/// Checks each file by itself. Succeeds if none has an error.
pub fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let mut exit = Exit::Success;
    for file in &arguments.files {
        let mut source = frontend::parse(file, &arguments.source);
        let verdict = verdict(&mut source);
        let accepted = verdict.is_some();
        if arguments.summary {
            let first = source.diagnostics.iter().find(|it| it.severity == syntax::Severity::Error);
            match first {
                Some(first) => println!("FAIL {}", syntax::render_short(&source.map, first)),
                None => println!("ok   {}", file.display()),
            }
        } else {
            frontend::show(&source);
            if let Some(remark) = verdict {
                println!("{}: ok{remark}", file.display());
            }
        }
        if !accepted {
            exit = Exit::BadInput;
        }
    }
    Ok(exit)
}

/// Checks as far as the program goes: one without `main`, or for an architecture that cannot be run, is checked in full
/// but not lowered. None if there are errors, else a remark.
fn verdict(source: &mut Source) -> Option<String> {
    let typed = frontend::check(source)?;
    let Some(main) = typed.main else { return Some(" (there is no `main` to run)".to_owned()) };
    let architecture = match &typed.instances[main].ty {
        Type::Apply(package, _) => &*typed.apply_types[*package].name,
        _ => "",
    };
    if architecture != "V1Switch" {
        return Some(format!(" (checked only: the architecture of package `{architecture}` cannot be run yet)"));
    }
    lower::lower(&typed, &mut source.diagnostics)?;
    (!source.diagnostics.has_errors()).then(String::new)
}
