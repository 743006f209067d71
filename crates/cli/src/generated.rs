//! `wirespeed completions` and `wirespeed man`: shell completion and manual pages, generated from the command's own
//! help.
//!
//! What enters: the description of the arguments. What leaves: a script for a shell on standard output, or pages.

use crate::Exit;
use crate::args::Arguments;
use crate::terminal::{self, say};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The command's name.
const NAME: &str = "wirespeed";

/// `wirespeed completions`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed completions bash > ~/.local/share/bash-completion/completions/wirespeed
  wirespeed completions zsh > ~/.zfunc/_wirespeed     with fpath+=~/.zfunc before compinit in ~/.zshrc
  wirespeed completions fish > ~/.config/fish/completions/wirespeed.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// `wirespeed man`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed man | man -l -                        the page of the command itself
  wirespeed man ~/.local/share/man/man1           a page for each command: man wirespeed-run")]
pub struct ManArguments {
    /// The folder for the pages [default: the command's own page to standard output]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints the script of a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<Exit, Exit> {
    print(&script_for(arguments.shell))
}

fn script_for(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown_command(), NAME, &mut script);
    script
}

/// The command as its help shows it: completion must not offer what is hidden there.
fn shown_command() -> clap::Command {
    let all = Arguments::command();
    let shown = clap::Command::new(NAME).args(all.get_arguments().cloned());
    shown.subcommands(all.get_subcommands().filter(|it| !it.is_hide_set()).cloned())
}

/// Prints the page of the command, or writes all pages.
pub fn man(arguments: &ManArguments) -> Result<Exit, Exit> {
    let mut command = Arguments::command();
    command.build();
    let Some(dir) = &arguments.dir else {
        return print(&page(command).map_err(|error| refused(Path::new("standard output"), &error))?);
    };
    fs::create_dir_all(dir).map_err(|error| refused(dir, &error))?;
    let mut pages = Vec::new();
    collect(NAME.to_owned(), &command, &mut pages);
    for (name, command) in pages {
        let path = dir.join(format!("{name}.1"));
        let written = page(command.display_name(name)).and_then(|page| fs::write(&path, page));
        written.map_err(|error| refused(&path, &error))?;
        say!("{}", path.display());
    }
    Ok(Exit::Success)
}

/// A command and those below it, each with the name of its page.
fn collect(name: String, command: &clap::Command, pages: &mut Vec<(String, clap::Command)>) {
    pages.push((name.clone(), command.clone()));
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        collect(format!("{name}-{}", inner.get_name()), inner, pages);
    }
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).source(concat!("wirespeed ", env!("CARGO_PKG_VERSION"))).render(&mut page)?;
    Ok(page)
}

fn print(bytes: &[u8]) -> Result<Exit, Exit> {
    match io::stdout().lock().write_all(bytes) {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(refused(Path::new("standard output"), &error)),
        Ok(()) => Ok(Exit::Success),
    }
}

fn refused(path: &Path, error: &io::Error) -> Exit {
    terminal::error(format!("cannot write {}: {error}", path.display()));
    Exit::System
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_no_hidden_one() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ManArguments { dir: Some(folder.path().join("man1")) };
        assert_eq!(man(&arguments), Ok(Exit::Success));
        let mut names: Vec<String> = fs::read_dir(folder.path().join("man1"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        for name in ["wirespeed.1", "wirespeed-run.1", "wirespeed-ctl.1", "wirespeed-zipline.1"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        for hidden in ["try", "keeper", "p4c", "help"] {
            assert!(!names.iter().any(|name| name.contains(hidden)), "{names:?}");
        }
        let page = fs::read_to_string(folder.path().join("man1/wirespeed-run.1")).unwrap();
        assert!(page.contains("p4runtime") && page.contains("wirespeed\\-run"), "{page}");
        assert!(page.contains(concat!("\"wirespeed ", env!("CARGO_PKG_VERSION"), "\"")), "{page}");
    }

    #[test]
    fn every_shell_completes_commands_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(script_for(shell)).unwrap();
            assert!(script.contains("simple-switch-cli") && script.contains("drop-port"), "{shell}");
            assert!(!script.contains("try-program") && !script.contains("p4c-bm2-ss"), "{shell}");
        }
    }
}
