//! A program as it is stored with the state of a switch: the text of all its files, and the options with which they
//! were read.
//!
//! What enters: a program while it is compiled, whose files are recorded as they are read; or the note. What leaves:
//! the note, as JSON; or a loader that compiles the same program again, even if its files have changed.

use crate::args::{SourceArguments, port_ranges, port_ranges_text};
use base::OrderedMap;
use p4_14::Standard;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use syntax::{FileLoader, MemoryFiles};

/// Records the files that are read through it.
pub struct Recorder<'a> {
    files: &'a dyn FileLoader,
    read: RefCell<OrderedMap<PathBuf, Vec<u8>>>,
}

impl FileLoader for Recorder<'_> {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        self.files.load(path).inspect(|content| self.record(path, content.as_deref()))
    }

    fn load_program(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        self.files.load_program(path).inspect(|content| self.record(path, content.as_deref()))
    }
}

impl<'a> Recorder<'a> {
    fn record(&self, path: &Path, content: Option<&[u8]>) {
        if let Some(content) = content {
            self.read.borrow_mut().insert(path.to_owned(), content.to_vec());
        }
    }

    /// Over these files, none of which was read yet.
    pub fn new(files: &'a dyn FileLoader) -> Recorder<'a> {
        Recorder { files, read: RefCell::default() }
    }

    /// The program in `file`, which was read with these arguments.
    pub fn note(&self, file: &Path, source: &SourceArguments) -> Value {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let read = self.read.borrow();
        let content = |(path, content): (&PathBuf, &Vec<u8>)| {
            // Invalid characters were replaced by the compiler.
            (text(path), json!(String::from_utf8_lossy(content)))
        };
        let std = source.std.map(|std| if std == Standard::P4_14 { "p4-14" } else { "p4-16" });
        json!({
            "file": text(file),
            "files": read.iter().map(content).collect::<Map<_, _>>(),
            "include": source.include.iter().map(|folder| text(folder)).collect::<Vec<_>>(),
            "define": source.define,
            "undefine": source.undefine,
            "std": std,
            "drop_port": source.drop_port,
            "host_ports": port_ranges_text(&source.host_ports),
        })
    }
}

/// A program that can be compiled again.
#[derive(Debug)]
pub struct StoredProgram {
    /// The file that is compiled.
    pub file: PathBuf,
    /// The options.
    pub source: SourceArguments,
    /// This file and all that it includes.
    pub files: MemoryFiles,
}

impl StoredProgram {
    /// The program of a note; `None` if the note has another form.
    pub fn of(note: &Value) -> Option<StoredProgram> {
        let texts = |name: &str| -> Option<Vec<String>> {
            note[name].as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
        };
        let mut files = MemoryFiles::new();
        for (path, content) in note["files"].as_object()? {
            files = files.with(path, content.as_str()?);
        }
        let std = match &note["std"] {
            Value::Null => None,
            name => Some(Standard::from_name(name.as_str()?)?),
        };
        let source = SourceArguments {
            include: texts("include")?.into_iter().map(PathBuf::from).collect(),
            define: texts("define")?,
            undefine: texts("undefine")?,
            std,
            drop_port: u16::try_from(note["drop_port"].as_u64()?).ok()?,
            // Notes of earlier versions have none.
            host_ports: port_ranges(note["host_ports"].as_str().unwrap_or_default())?,
            as_written: false,
            ignored_annotations: Vec::new(),
        };
        Some(StoredProgram { file: note["file"].as_str()?.into(), source, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend;
    use syntax::DiskFiles;

    #[test]
    fn a_program_is_compiled_again_without_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let program =
            "#include <v1model.p4>\n#include \"sub/parts.p4\"\nV1Switch(P(), V(), I(), E(), V(), D()) main;\n";
        let parts = "#include <more.p4>\n
            parser P(packet_in p, out n h, inout n m, inout standard_metadata_t s) {
                state start { transition accept; }
            }
            control V(inout n h, inout n m) { apply { } }
            control I(inout n h, inout n m, inout standard_metadata_t s) { apply { s.egress_spec = PORT; } }
            control E(inout n h, inout n m, inout standard_metadata_t s) { apply { } }
            control D(packet_out p, in n h) { apply { } }\n";
        std::fs::create_dir_all(path("sub")).unwrap();
        std::fs::create_dir_all(path("inc")).unwrap();
        std::fs::write(path("program.p4"), program).unwrap();
        std::fs::write(path("sub/parts.p4"), parts).unwrap();
        std::fs::write(path("inc/more.p4"), "struct n { }\n").unwrap();
        let mut source = SourceArguments::plain();
        (source.include, source.define) = (vec![path("inc")], vec!["PORT=3".to_owned()]);
        let files = Recorder::new(&DiskFiles);
        let first = frontend::load_from(&path("program.p4"), &source, &files).unwrap().program.ir().clone();
        let note = files.note(&path("program.p4"), &source);
        drop(folder);
        let stored = StoredProgram::of(&serde_json::from_str(&note.to_string()).unwrap()).unwrap();
        let again = Recorder::new(&stored.files);
        let second = frontend::load_from(&stored.file, &stored.source, &again).unwrap().program.ir().clone();
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        assert_eq!(again.note(&stored.file, &stored.source), note);
    }

    #[test]
    fn what_is_no_note_is_no_program() {
        for note in [json!(null), json!({}), json!({"file": 1}), json!("text"), json!({"files": {"a": 1}})] {
            assert!(StoredProgram::of(&note).is_none(), "{note}");
        }
    }
}
