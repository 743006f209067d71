//! `p4c-bm2-ss`: writes the files for controllers where Makefiles expect them of the reference compiler.
//!
//! What enters: that compiler's arguments, as in the Makefiles of the P4 tutorials. What leaves: a P4Info, the
//! program's entries and its text, and instead of BMv2's JSON a device config that contains the program. The command is
//! hidden; a link of this name to `wirespeed` is the same command.

use crate::args::{self, SourceArguments, WarningArguments};
use crate::compile::{self, device_config, system_error, write_bytes};
use crate::terminal;
use crate::{Exit, frontend};
use clap::{Args, ValueEnum};
use p4_14::Standard;
use p4info::Format;
use p4info::v1::P4Info;
use p4runtime::{WRITE_REQUEST, program_entries};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::{Backend, Config, Switch};

/// The name of the command, and of links to it.
pub const COMMAND: &str = "p4c-bm2-ss";

/// `p4c-bm2-ss`: the arguments in Makefiles for the reference compiler.
#[derive(Args, Debug)]
pub struct P4cArguments {
    /// The program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder for #include, searched before the built-in files
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,
    /// The language: 14 or 16, p4-14 or p4-16 [default: recognised from the program]
    #[arg(long = "p4v", alias = "std", value_name = "LANGUAGE", value_parser = standard)]
    pub std: Option<Standard>,
    /// Write the text after the preprocessor to standard output, and nothing else
    #[arg(short = 'E')]
    pub preprocess: bool,
    /// Annotations that are ignored, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub disable_annotations: Vec<String>,
    /// The output file for the program's entries as a request of P4Runtime; extensions as for the P4Info
    #[arg(long, alias = "p4runtime-entries-file", value_name = "FILES", value_delimiter = ',')]
    pub p4runtime_entries_files: Vec<PathBuf>,
    /// The output file for the program as P4_16 text, without macros and comments
    #[arg(long, value_name = "FILE")]
    pub pp: Option<PathBuf>,
    /// Not available: the reference compiler's own representation
    #[arg(long = "toJSON", value_name = "FILE", hide = true)]
    pub to_json: Option<PathBuf>,
    /// The output file for the device config
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The output file for the P4Info: .txtpb or .txt, .bin, .json; several separated by commas
    #[arg(long, alias = "p4runtime-file", value_name = "FILES", value_delimiter = ',')]
    pub p4runtime_files: Vec<PathBuf>,
    /// The format of P4Info and entries [default: from the extension of the file]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub p4runtime_format: Option<InfoFormat>,
    /// The architecture
    #[arg(long, value_name = "NAME", value_parser = args::architectures())]
    pub arch: Option<String>,
    /// The target
    #[arg(long, value_name = "NAME", value_parser = ["bmv2"])]
    pub target: Option<String>,
    /// Accepted without effect: externs of the program are always described
    #[arg(long)]
    pub emit_externs: bool,
    /// Check the program and write nothing
    #[arg(long)]
    pub validate: bool,
    /// Hide warnings, whichever is named; may be repeated
    #[arg(long = "Wdisable", value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub no_warnings: Vec<String>,
    /// Treat warnings as errors, whichever is named; may be repeated
    #[arg(long = "Werror", value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub deny_warnings: Vec<String>,
}

/// The format of a P4Info, as p4c calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum InfoFormat {
    /// The text format of protocol buffers
    Text,
    /// The binary format
    Binary,
    /// JSON
    Json,
}

fn standard(text: &str) -> Result<Standard, String> {
    let name = if text.starts_with("p4") { text.to_owned() } else { format!("p4-{text}") };
    Standard::from_name(&name).ok_or_else(|| "it is 14 or 16".to_owned())
}

impl P4cArguments {
    /// Output files with their formats; `what` they contain.
    fn with_formats<'a>(&self, paths: &'a [PathBuf], what: &str) -> Result<Vec<(&'a Path, Format)>, Exit> {
        let with_format = |path: &'a PathBuf| {
            let format = match self.p4runtime_format {
                Some(InfoFormat::Text) => Some(Format::Text),
                Some(InfoFormat::Binary) => Some(Format::Binary),
                Some(InfoFormat::Json) => Some(Format::Json),
                None => Format::of_path(path),
            };
            format.map(|format| (path.as_path(), format)).ok_or_else(|| {
                let shown = path.display();
                terminal::error(format!(
                    "{shown}: the format of {what} follows from the extension: .txtpb or .txt, .bin, .json"
                ));
                Exit::Usage
            })
        };
        paths.iter().map(with_format).collect()
    }
}

/// Writes the files.
pub fn p4c(arguments: &P4cArguments) -> Result<Exit, Exit> {
    let source = SourceArguments {
        include: arguments.include.clone(),
        define: arguments.define.clone(),
        undefine: arguments.undefine.clone(),
        std: arguments.std,
        ignored_annotations: arguments.disable_annotations.clone(),
        ..SourceArguments::plain()
    };
    if arguments.to_json.is_some() {
        terminal::error(
            "--toJSON is not available: it writes the reference compiler's own representation of a program; \
             `wirespeed compile --emit ir` prints ours",
        );
        return Err(Exit::Usage);
    }
    if arguments.preprocess {
        return compile::preprocessed(&arguments.file, &source, None);
    }
    let mut warnings = WarningArguments::default();
    if !arguments.no_warnings.is_empty() {
        warnings.allow.push("warnings".to_owned());
    }
    if !arguments.deny_warnings.is_empty() {
        warnings.deny.push("warnings".to_owned());
    }
    let infos = arguments.with_formats(&arguments.p4runtime_files, "a P4Info")?;
    let entries = arguments.with_formats(&arguments.p4runtime_entries_files, "entries")?;
    let (program, info) = frontend::load_described(&arguments.file, &source, arguments.arch.as_deref(), &warnings)?;
    if arguments.validate {
        return Ok(Exit::Success);
    }
    for (path, format) in infos {
        write_file(path, &p4info::encode(&info, format))?;
    }
    if !entries.is_empty() {
        let request = entries_of(program, info)?;
        let (name, file) = WRITE_REQUEST;
        for (path, format) in entries {
            write_file(path, &p4info::encode_message(file, name, &request, format))?;
        }
    }
    if let Some(path) = &arguments.pp {
        write_file(path, syntax::print(&frontend::parse(&arguments.file, &source).tree).as_bytes())?;
    }
    match &arguments.output {
        Some(output) => write_file(output, device_config(&arguments.file, &source)?.as_bytes()),
        None => Ok(Exit::Success),
    }
}

/// The entries of a program, from a switch that has just started with it.
fn entries_of(program: ir::Program, info: P4Info) -> Result<p4runtime_proto::p4::v1::WriteRequest, Exit> {
    let switch = Switch::new(Arc::new(program), Backend::Interpreter, Config::default());
    program_entries(info, switch.map_err(system_error)?).map_err(system_error)
}

/// Writes a file, whose folder is created as p4c does.
fn write_file(path: &Path, content: &[u8]) -> Result<Exit, Exit> {
    make_folder(path)?;
    write_bytes(Some(path), content)
}

fn make_folder(file: &Path) -> Result<(), Exit> {
    let folder = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder).map_err(|error| {
        terminal::error(format!("the folder {} cannot be made: {error}", folder.display()));
        Exit::System
    })
}
