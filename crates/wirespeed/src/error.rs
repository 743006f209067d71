//! What can be wrong. Every error renders as the text that the command shows.

use cgen::PlugInError;
use control::EntryError;
use control::store::StoreError;
use std::error::Error;
use std::fmt;
use switch::SwitchError;
use syntax::{Diagnostics, SourceMap};

/// Why there is no program.
#[derive(Debug)]
pub enum CompileError {
    /// It has errors: its text, and all diagnostics.
    Program(Box<(SourceMap, Diagnostics)>),
    /// It is for another architecture than the required one.
    Architecture(WrongArchitecture),
}

impl CompileError {
    /// The errors and warnings of the program; none if it is only for another architecture.
    pub fn diagnostics(&self) -> impl Iterator<Item = &syntax::Diagnostic> {
        let found = match self {
            CompileError::Program(program) => Some(program.1.iter()),
            CompileError::Architecture(_) => None,
        };
        found.into_iter().flatten()
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Program(program) => f.write_str(&syntax::render_all(&program.0, &program.1, false)),
            CompileError::Architecture(error) => error.fmt(f),
        }
    }
}

impl Error for CompileError {}

impl From<WrongArchitecture> for CompileError {
    fn from(error: WrongArchitecture) -> CompileError {
        CompileError::Architecture(error)
    }
}

/// A program is for another architecture than the required one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongArchitecture {
    /// The required architecture.
    pub architecture: &'static str,
    /// The package of its programs.
    pub wanted: &'static str,
    /// The package of the program's `main`.
    pub found: String,
}

impl fmt::Display for WrongArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongArchitecture { architecture, wanted, found } = self;
        write!(f, "the program is not for {architecture}: its `main` is of package {found}, not {wanted}")
    }
}

impl Error for WrongArchitecture {}

/// Why there is no native code of a program.
#[derive(Debug)]
pub enum CodeError {
    /// The program exceeds what native code allows.
    Plan(cgen::PlanError),
    /// The C compiler, or loading its result, failed.
    Build(cgen::BuildError),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::Plan(error) => error.fmt(f),
            CodeError::Build(error) => error.fmt(f),
        }
    }
}

impl Error for CodeError {}

/// Why there is no switch.
#[derive(Debug)]
pub enum BuildError {
    /// There is no native code, which was required.
    Code(CodeError),
    /// The program's own extern functions cannot be called.
    PlugIn(PlugInError),
    /// The program's tables or registers cannot be.
    Switch(SwitchError),
    /// An entry cannot be installed.
    Entries(ControlErrors),
    /// A rate was given for a port or a queue that does not exist.
    NoPort(u32),
    /// The folder of the state cannot be used.
    State(StoreError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Code(error) => error.fmt(f),
            BuildError::PlugIn(error) => error.fmt(f),
            BuildError::Switch(error) => error.fmt(f),
            BuildError::Entries(errors) => errors.fmt(f),
            BuildError::NoPort(port) => write!(f, "there is no port {port} whose rate could be limited"),
            BuildError::State(error) => error.fmt(f),
        }
    }
}

impl Error for BuildError {}

macro_rules! from {
    ($($error:ty => $to:ident :: $variant:ident),* $(,)?) => {
        $(impl From<$error> for $to {
            fn from(error: $error) -> $to {
                $to::$variant(error)
            }
        })*
    };
}

from! {
    cgen::PlanError => CodeError::Plan,
    cgen::BuildError => CodeError::Build,
    CodeError => BuildError::Code,
    PlugInError => BuildError::PlugIn,
    SwitchError => BuildError::Switch,
    ControlErrors => BuildError::Entries,
    StoreError => BuildError::State,
}

/// The commands of a text that were refused: each with its place, the problem and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlErrors(pub Vec<EntryError>);

impl fmt::Display for ControlErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if position == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Error for ControlErrors {}

/// A packet cannot be received on a port with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchPort {
    /// The number.
    pub port: u32,
    /// The greatest number of a port, by the program's architecture.
    pub port_max: u32,
}

impl fmt::Display for NoSuchPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a port number from 0 to {}", self.port, self.port_max)
    }
}

impl Error for NoSuchPort {}
