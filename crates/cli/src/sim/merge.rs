//! `wirespeed sim merge`: the runs of several folders or parts of a sweep as one table.

use crate::Exit;
use crate::sim::runs;
use crate::terminal::{self, say};
use clap::Args;
use scenario::sweep::{Shard, Table};
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of `wirespeed sim merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed sim merge results                      the table of a sweep whose parts wrote to one folder
  wirespeed sim merge part1 part2 part3 -o all     of parts with folders of their own, as on several machines")]
pub struct MergeArguments {
    /// Folders with runs of a sweep
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// The folder for the table [default: the first of the folders]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

/// Merges runs.
pub fn merge(arguments: &MergeArguments) -> Result<Exit, Exit> {
    let mut records = Vec::new();
    for folder in &arguments.folders {
        records.extend(runs::read_all(folder)?);
    }
    let missing: Vec<String> = runs::missing_parts(&arguments.folders)?.iter().map(Shard::to_string).collect();
    if !missing.is_empty() {
        let parts = missing.join(", ");
        terminal::warning(format!("parts of the sweep are missing, of which the table has nothing: {parts}"));
    }
    let table = runs::table(records)?;
    let output = arguments.output.as_ref().unwrap_or(&arguments.folders[0]);
    write(&table, output)?;
    match arguments.json {
        true => say!("{}", table.json()),
        false => say!("{}", conclusion(&table, output)),
    }
    Ok(Exit::Success)
}

/// Writes a table as CSV and as JSON.
pub fn write(table: &Table, folder: &Path) -> Result<(), Exit> {
    let failed = |error: io::Error| {
        terminal::error(format!("cannot write the table to {}: {error}", folder.display()));
        Exit::System
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    runs::replace(&folder.join("sweep.csv"), &table.csv()).map_err(failed)?;
    runs::replace(&folder.join("sweep.json"), &format!("{:#}\n", table.json())).map_err(failed)
}

/// What was merged, and where it is.
pub fn conclusion(table: &Table, folder: &Path) -> String {
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let (runs, combinations) = (plural(table.runs(), "run"), plural(table.combinations(), "combination"));
    format!("{runs} of {combinations}: {}", folder.join("sweep.csv").display())
}
