//! `p4c-bm2-ss`: what controllers need of a program, written where Makefiles expect it of the reference compiler.
//!
//! What enters: that compiler's arguments, as the Makefiles of the P4 tutorials give them. What leaves: a P4Info, and
//! in the place of BMv2's JSON a device config that holds the program. The command is hidden; a link of this name to
//! `wirespeed` is the same command.

use crate::args::{P4cArguments, SourceArguments, WarningArguments};
use crate::compile::{device_config, write_bytes};
use crate::terminal;
use crate::{Exit, frontend};
use p4info::Format;

/// The name of the command, and of links that stand for it.
pub const COMMAND: &str = "p4c-bm2-ss";

/// Writes the files.
pub fn p4c(arguments: &P4cArguments) -> Result<Exit, Exit> {
    let source = SourceArguments {
        include: arguments.include.clone(),
        define: arguments.define.clone(),
        undefine: arguments.undefine.clone(),
        std: arguments.std,
        ..SourceArguments::plain()
    };
    let mut warnings = WarningArguments::default();
    if arguments.no_warnings.is_some() {
        warnings.allow.push("warnings".to_owned());
    }
    let formats = arguments.p4runtime_files.iter().map(|path| {
        Format::of_path(path).map(|format| (path, format)).ok_or_else(|| {
            let shown = path.display();
            terminal::error(format!(
                "{shown}: the form of a P4Info is told from its ending: .txtpb or .txt, .bin, .json"
            ));
            Exit::Usage
        })
    });
    let formats = formats.collect::<Result<Vec<_>, Exit>>()?;
    let info = frontend::load_p4info(&arguments.file, &source, &warnings)?;
    for (path, format) in formats {
        write_bytes(Some(path), &p4info::encode(&info, format))?;
    }
    match &arguments.output {
        Some(output) => write_bytes(Some(output), device_config(&arguments.file, &source)?.as_bytes()),
        None => Ok(Exit::Success),
    }
}
