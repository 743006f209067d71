//! `wirespeed links`: links to this command by the names of tools that scripts call, and the Python module that
//! controllers of the P4 tutorials import.
//!
//! What enters: a folder. What leaves: links in it, one for each name in [`called::LINKS`]. Existing files are not
//! replaced unless requested.

use crate::terminal::{self, say};
use crate::{Exit, called};
use clap::Args;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `wirespeed links`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed links ~/bin                           simple_switch, simple_switch_grpc, simple_switch_CLI, p4c, p4c-bm2-ss
  wirespeed links --python \"$(python3 -c 'import p4, os; print(os.path.dirname(p4.__path__[0]))')\"

What each link does is in docs/guide/links.md.")]
pub struct LinksArguments {
    /// The folder for the links
    #[arg(value_name = "DIR", required_unless_present = "python")]
    pub dir: Option<PathBuf>,
    /// Replace existing files with these names
    #[arg(long)]
    pub force: bool,
    /// Write p4/tmp/p4config_pb2.py into this folder of Python packages, beside the files of `pip install p4runtime`
    #[arg(long, value_name = "DIR")]
    pub python: Option<PathBuf>,
}

/// The module that the tutorials import, with the message in which they wrap a program.
const PYTHON_MODULE: &str = include_str!("tool_links/p4config_pb2.py");

/// The file that makes `p4` a package if it is not one yet, together with the `p4` of p4runtime wherever that is
/// installed: Python imports a folder without it only where no package of the name exists.
const PYTHON_PACKAGE: &str = "__path__ = __import__(\"pkgutil\").extend_path(__path__, __name__)\n";

/// Makes the links and the module.
pub fn links(arguments: &LinksArguments) -> Result<Exit, Exit> {
    if let Some(dir) = &arguments.dir {
        let own = std::env::current_exe().and_then(fs::canonicalize).map_err(|error| {
            terminal::error(format!("the file of this command cannot be found: {error}"));
            Exit::System
        })?;
        make_links(dir, &own, arguments.force)?;
        explain_path(dir, &own);
    }
    if let Some(dir) = &arguments.python {
        write_module(dir)?;
    }
    Ok(Exit::Success)
}

fn make_links(dir: &Path, own: &Path, force: bool) -> Result<(), Exit> {
    let failed = |path: &Path, error: io::Error| {
        terminal::error(format!("{}: {error}", path.display()));
        Exit::System
    };
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let paths = called::LINKS.map(|name| dir.join(name));
    let taken = |path: &&PathBuf| fs::symlink_metadata(path).is_ok() && !leads_to(path, own);
    let in_the_way: Vec<&PathBuf> = paths.iter().filter(taken).collect();
    if !force && !in_the_way.is_empty() {
        for path in in_the_way {
            terminal::error(format!("{} exists and is not a link to this command", path.display()));
        }
        terminal::note("no link was made; --force replaces them, another folder leaves them");
        return Err(Exit::BadInput);
    }
    for path in &paths {
        if leads_to(path, own) {
            say!("{} exists already", path.display());
            continue;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(path, error)),
            _ => std::os::unix::fs::symlink(own, path).map_err(|error| failed(path, error))?,
        }
        say!("{} -> {}", path.display(), own.display());
    }
    Ok(())
}

fn leads_to(path: &Path, own: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) && fs::canonicalize(path).is_ok_and(|it| it == own)
}

/// Reports which other programs a shell would find by these names.
fn explain_path(dir: &Path, own: &Path) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    for (name, path) in called::LINKS.iter().filter_map(|name| Some((name, found(name)?))) {
        if !leads_to(&path, own) {
            terminal::warning(format!("a shell finds {} by the name {name}", path.display()));
        }
    }
    if found(called::LINKS[0]).is_none() {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        terminal::note(format!("a shell looks for the links only if PATH has {}", dir.display()));
    }
}

fn write_module(dir: &Path) -> Result<(), Exit> {
    let package = dir.join("p4").join("__init__.py");
    let folder = dir.join("p4").join("tmp");
    let module = folder.join("p4config_pb2.py");
    let write_package = || if package.exists() { Ok(()) } else { fs::write(&package, PYTHON_PACKAGE) };
    let written = fs::create_dir_all(&folder)
        .and_then(|()| write_package())
        .and_then(|()| fs::write(folder.join("__init__.py"), ""))
        .and_then(|()| fs::write(&module, PYTHON_MODULE));
    written.map_err(|error| {
        terminal::error(format!("cannot write {}: {error}", module.display()));
        Exit::System
    })?;
    say!("{}", module.display());
    Ok(())
}
