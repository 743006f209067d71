//! `wirespeed check`: what is wrong with programs.

use crate::Exit;
use crate::args::CheckArguments;
use crate::frontend;

/// Checks each file by itself. Succeeds if none has an error.
pub fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let mut exit = Exit::Success;
    for file in &arguments.files {
        let mut source = frontend::parse(file, &arguments.source);
        let accepted = frontend::lower(&mut source).is_some();
        if arguments.summary {
            let first = source.diagnostics.iter().find(|it| it.severity == syntax::Severity::Error);
            match first {
                Some(first) => println!("FAIL {}", syntax::render_short(&source.map, first)),
                None => println!("ok   {}", file.display()),
            }
        } else {
            frontend::show(&source);
            if accepted {
                println!("{}: ok", file.display());
            }
        }
        if !accepted {
            exit = Exit::BadInput;
        }
    }
    Ok(exit)
}
