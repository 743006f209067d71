//! How a program is compiled, and compiling it.

use crate::error::CompileError;
use crate::program::Program;
use crate::source::{self, Source};
use p4_14::Standard;
use std::path::{Path, PathBuf};
use syntax::{DiskFiles, FileLoader};

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The language; `None`: recognised from the text.
    pub language: Option<Standard>,
    /// The architecture that the program must be for, `"v1model"`, `"psa"` or `"pna"`; `None`: any that can
    /// be run.
    pub architecture: Option<String>,
    /// Folders that `#include` searches, in order, before the built-in files.
    pub include: Vec<PathBuf>,
    /// Macros defined before the program begins: name and value.
    pub define: Vec<(String, String)>,
    /// Macros undefined before the program begins.
    pub undefine: Vec<String>,
    /// Names of annotations that are ignored.
    pub ignored_annotations: Vec<String>,
    /// The port that `mark_to_drop` names (v1model): packets for it are dropped. At most 511.
    pub drop_port: u16,
    /// The ports that belong to hosts (PNA), first and last of each range; `None`: those that the program names.
    pub host_ports: Option<Vec<(u32, u32)>>,
    /// Whether all passes run. Without them, a [`Journey`](crate::Journey) has every step that was written, and native
    /// code is slower.
    pub optimise: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            language: None,
            architecture: None,
            include: Vec::new(),
            define: Vec::new(),
            undefine: Vec::new(),
            ignored_annotations: Vec::new(),
            drop_port: lower::Options::default().drop_port as u16,
            host_ports: None,
            optimise: true,
        }
    }
}

impl Options {
    /// The defaults, for a program that is run as it was written.
    pub fn as_written() -> Options {
        Options { optimise: false, ..Options::default() }
    }

    /// Compiles the program in a file, which may include others.
    pub fn compile_file(&self, path: impl AsRef<Path>) -> Result<Program, CompileError> {
        self.compile(path.as_ref(), &DiskFiles)
    }

    /// Compiles `text` as the program in a file called `name`, the name in diagnostics. It may include files.
    pub fn compile_text(&self, name: &str, text: &str) -> Result<Program, CompileError> {
        self.finish(Source::parse(name, text, self, &DiskFiles))
    }

    /// Compiles the program in a file of the loader: [`MemoryFiles`](crate::MemoryFiles), or any other.
    pub fn compile(&self, path: &Path, files: &dyn FileLoader) -> Result<Program, CompileError> {
        self.finish(Source::read(path, self, files))
    }

    /// Compiles a parsed program.
    pub fn finish(&self, mut source: Source) -> Result<Program, CompileError> {
        let typed = source.check();
        if let (Some(typed), Some(architecture)) = (&typed, &self.architecture) {
            source::require_architecture(typed, architecture)?;
        }
        match typed.and_then(|typed| source.lower(&typed, self)) {
            Some(ir) => Ok(source.into_program(ir, self).0),
            None => Err(CompileError::Program(Box::new((source.map, source.diagnostics)))),
        }
    }

    pub(crate) fn syntax<'a>(&self, files: &'a dyn FileLoader) -> syntax::Options<'a> {
        syntax::Options {
            include_paths: self.include.clone(),
            defines: self.define.clone(),
            undefines: self.undefine.clone(),
            ignored_annotations: self.ignored_annotations.clone(),
            loader: files,
        }
    }

    pub(crate) fn lowering(&self) -> lower::Options {
        let host_ports = self.host_ports.clone();
        lower::Options { drop_port: u64::from(self.drop_port), host_ports, ..lower::Options::default() }
    }
}
