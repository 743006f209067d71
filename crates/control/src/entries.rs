//! A whole entries file of either form: the content decides which, not the name.

use crate::command::Command;
use crate::problem::{EntryError, FilePlace, Origin, Problem};
use crate::{cli_text, runtime_json};
use ir::Program;
use std::path::Path;
use std::sync::Arc;

/// Errors that are reported for one file at most; a last one counts the others.
const ERRORS_MAX: usize = 1000;

/// The results of a file so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    commands: Vec<(Command, Origin)>,
    errors: Vec<EntryError>,
    errors_left_out: usize,
    /// Parts of the file that have no effect.
    passed_over: Vec<EntryError>,
}

impl Collected {
    /// Adds the result of one place of the file.
    pub(crate) fn take(&mut self, origin: Origin, result: Result<Option<Command>, Problem>) {
        match result {
            Ok(Some(command)) if self.errors.is_empty() => self.commands.push((command, origin)),
            Ok(_) => {}
            Err(problem) if self.errors.len() < ERRORS_MAX => self.errors.push(EntryError { origin, problem }),
            Err(_) => self.errors_left_out += 1,
        }
    }

    /// Adds a place of the file that has no effect.
    pub(crate) fn pass_over(&mut self, origin: Origin, problem: Problem) {
        if self.passed_over.len() < ERRORS_MAX {
            self.passed_over.push(EntryError { origin, problem });
        }
    }

    fn finish(mut self, file: &Arc<str>) -> Result<Entries, Vec<EntryError>> {
        if self.errors_left_out > 0 {
            let origin = Origin { file: file.clone(), place: FilePlace::File };
            let problem = Problem::new(format!("{} more errors", self.errors_left_out));
            self.errors.push(EntryError { origin, problem });
        }
        match self.errors.is_empty() {
            true => Ok(Entries { commands: self.commands, passed_over: self.passed_over }),
            false => Err(self.errors),
        }
    }
}

/// A file of entries.
#[derive(Debug)]
pub struct Entries {
    /// Its commands, in order.
    pub commands: Vec<(Command, Origin)>,
    /// Parts without effect, such as commands that show something at a prompt.
    pub passed_over: Vec<EntryError>,
}

/// The longest file of entries: some ten millions.
const ENTRIES_BYTES_MAX: u64 = 1 << 30;

/// The commands in the file at `path`, or everything that is wrong with it.
pub fn load_entries(path: &Path, program: &Program) -> Result<Vec<(Command, Origin)>, Vec<EntryError>> {
    read_entries(path, program).map(|entries| entries.commands)
}

/// The same, with the parts that have no effect.
pub fn read_entries(path: &Path, program: &Program) -> Result<Entries, Vec<EntryError>> {
    let file: Arc<str> = path.display().to_string().into();
    let at = |place, problem| vec![EntryError { origin: Origin { file: file.clone(), place }, problem }];
    let bytes = base::files::read(path, ENTRIES_BYTES_MAX)
        .map_err(|error| at(FilePlace::File, Problem::new(format!("the entries cannot be read: {error}"))))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
        at(FilePlace::Line(line), Problem::new("this line is not UTF-8 text"))
    })?;
    parse(&file, text, program)
}

/// The commands in `text`, the content of the file that users call `file`, or everything that is wrong with it. A text
/// that begins with `{` is runtime JSON, any other is a list of commands.
pub fn parse_entries(file: &str, text: &str, program: &Program) -> Result<Vec<(Command, Origin)>, Vec<EntryError>> {
    parse(file, text, program).map(|entries| entries.commands)
}

fn parse(file: &str, text: &str, program: &Program) -> Result<Entries, Vec<EntryError>> {
    let file: Arc<str> = file.into();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut collected = Collected::default();
    if text.trim_start().starts_with('{') {
        runtime_json::read(&file, text, program, &mut collected);
    } else {
        cli_text::read(&file, text, program, &mut collected);
    }
    collected.finish(&file)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::test_program::program;
    use expect_test::{Expect, expect};

    /// Reads `text` as a file and shows its commands, and parts without effect, or its errors.
    pub(crate) fn check(text: &str, expected: Expect) {
        let mut shown = String::new();
        match parse("entries", text, &program()) {
            Ok(entries) => {
                for (command, origin) in entries.commands {
                    shown += &format!("{origin}: {command:?}\n");
                }
                for passed_over in entries.passed_over {
                    shown += &format!("{passed_over}\n");
                }
            }
            Err(errors) => {
                for error in errors {
                    shown += &format!("{error}\n");
                }
            }
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_content_decides_the_form() {
        check("  \n {}", expect![""]);
        check("# nothing\n\n", expect![""]);
        check("", expect![""]);
        check(
            "\u{feff}table_clear l2",
            expect![[r#"
                entries:1: Write(Update { kind: Delete, entity: AllEntries(table1) })
            "#]],
        );
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let errors = load_entries(Path::new("no/such/file"), &program()).unwrap_err();
        assert!(errors[0].to_string().starts_with("no/such/file: the entries cannot be read: "), "{}", errors[0]);
    }

    #[test]
    fn a_file_of_errors_is_cut() {
        let errors = parse_entries("entries", &"bad\n".repeat(ERRORS_MAX + 5), &program()).unwrap_err();
        assert_eq!(errors.len(), ERRORS_MAX + 1);
        assert_eq!(errors.last().map(ToString::to_string).as_deref(), Some("entries: 5 more errors"));
    }
}
