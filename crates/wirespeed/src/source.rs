//! The text of a program on its way to a [`Program`], stage by stage.
//!
//! What enters: files or text, and [`Options`]. What leaves: the typed tree, the IR, and all diagnostics on the way.
//! [`Options::compile`] takes all stages at once; tools that need a stage's result, or further diagnostics between two
//! stages, call the stages themselves.

use crate::error::WrongArchitecture;
use crate::options::Options;
use crate::program::Program;
use ir::architecture;
use p4_14::Standard;
use sema::hir::{self, Type};
use std::path::Path;
use syntax::{Diagnostics, FileLoader, SourceMap, ast};

/// A parsed program.
#[derive(Debug)]
pub struct Source {
    /// All its text.
    pub map: SourceMap,
    /// Its tree. If there are errors, as far as it could be read.
    pub tree: ast::Program,
    /// The diagnostics so far.
    pub diagnostics: Diagnostics,
}

impl Source {
    /// Reads and parses the program in a file of the loader.
    pub fn read(path: &Path, options: &Options, files: &dyn FileLoader) -> Source {
        let mut map = SourceMap::new();
        let (tree, diagnostics) = p4_14::parse_program(&mut map, path, &options.syntax(files), options.language);
        Source { map, tree, diagnostics }
    }

    /// Reads the program in a file of the loader as far as its text after the preprocessor. The source has no tree.
    pub fn preprocessed(path: &Path, options: &Options, files: &dyn FileLoader) -> (String, Source) {
        let mut map = SourceMap::new();
        let (text, diagnostics) = p4_14::front::preprocessed(&mut map, path, &options.syntax(files));
        (text, Source { map, tree: ast::Program::default(), diagnostics })
    }

    /// Parses `text` as the program in a file called `name`; what it includes comes from the loader.
    pub fn parse(name: &str, text: &str, options: &Options, files: &dyn FileLoader) -> Source {
        let mut map = SourceMap::new();
        let (tree, diagnostics) = p4_14::parse_text(&mut map, name, text, &options.syntax(files), options.language);
        Source { map, tree, diagnostics }
    }

    /// Checks names and types. `None` if there are errors.
    pub fn check(&mut self) -> Option<hir::Program> {
        if self.diagnostics.has_errors() {
            return None;
        }
        let typed = sema::check(&self.tree, &mut self.diagnostics);
        (!self.diagnostics.has_errors()).then_some(typed)
    }

    /// Adds the warnings of the lints. A P4_14 program is skipped: its translation contains much that its author did
    /// not write.
    pub fn lint(&mut self, typed: &hir::Program) {
        if p4_14::standard_of_sources(&self.map) == Standard::P4_16 {
            lint::lint(typed, &self.map, &mut self.diagnostics);
        }
    }

    /// The program as it was written, before any pass. `None` if there are errors.
    pub fn lower(&mut self, typed: &hir::Program, options: &Options) -> Option<ir::Program> {
        self.lower_with(typed, options.lowering())
    }

    /// The same with options of the lowering.
    pub fn lower_with(&mut self, typed: &hir::Program, options: lower::Options) -> Option<ir::Program> {
        let program = lower::lower_with(typed, options, &mut self.diagnostics)?;
        (!self.diagnostics.has_errors()).then_some(program)
    }

    /// Checks and lowers. `None` if there are errors.
    pub fn check_and_lower(&mut self, options: &Options) -> Option<ir::Program> {
        let typed = self.check()?;
        self.lower(&typed, options)
    }

    /// All diagnostics as text, with source lines.
    pub fn rendered(&self, is_coloured: bool) -> String {
        syntax::render_all(&self.map, &self.diagnostics, is_coloured)
    }

    /// The compiled program, from the IR of this source, and the tree, which it does not keep.
    pub fn into_program(self, ir: ir::Program, options: &Options) -> (Program, ast::Program) {
        (Program::new(ir, self.map, self.diagnostics, options.optimise), self.tree)
    }
}

/// The package of which `main` is an instance; none if there is no `main`.
pub fn package(typed: &hir::Program) -> Option<&str> {
    match &typed.instances[typed.main?].ty {
        Type::Apply(package, _) => Some(&typed.apply_types[*package].name),
        _ => None,
    }
}

/// Whether a program can be run: its `main` is of a package of a known architecture. A package of the same name with
/// other parameters is the program's own.
pub fn is_runnable(typed: &hir::Program) -> bool {
    let arguments = typed.main.map_or(0, |main| typed.instances[main].args.len());
    package(typed).is_some_and(|name| architecture::ALL.iter().any(|it| it.package.is(name, arguments)))
}

/// Refuses a program that is not for the architecture of this name. A name that is not known refuses nothing.
pub fn require_architecture(typed: &hir::Program, name: &str) -> Result<(), WrongArchitecture> {
    let found = package(typed).unwrap_or("none");
    match architecture::ALL.iter().find(|it| it.name == name) {
        Some(it) if it.package.name != found => {
            Err(WrongArchitecture { architecture: it.name, wanted: it.package.name, found: found.to_owned() })
        }
        _ => Ok(()),
    }
}
