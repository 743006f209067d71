//! `p4c` and `p4c-bm2-ss`: the options of the reference compiler's driver and of its compiler for BMv2.
//!
//! What enters: their arguments. What leaves: those of the hidden command `p4c-bm2-ss`. The driver writes into a
//! folder, under the program's name; the compiler writes the file that its arguments name. Options for features of
//! those tools only (dumps, debugging, optimisation) are dropped.

use super::{Given, Word};
use crate::p4c;
use std::ffi::OsString;
use std::path::Path;

/// Options without effect on the files written here. Text that another preprocessor has written (`--nocpp`) has no
/// directives left.
const DROPPED: [&str; 13] = [
    "-c",
    "-g",
    "-S",
    "-e",
    "-v",
    "-###",
    "--ndebug",
    "--nocpp",
    "--parser-inline-opt",
    "--loopsUnroll",
    "--testJson",
    "--save-temps",
    "--nopreprocess",
];

/// The same with a value.
const DROPPED_WITH_VALUE: [&str; 10] = [
    "--maxErrorCount",
    "-T",
    "-Xp4c",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xlinker",
    "--dump",
    "--top4",
    "--excludeFrontendPasses",
    "--excludeMidendPasses",
];

/// Options of our command with a value, beside those of P4Runtime.
const KEPT_WITH_VALUE: [&str; 3] = ["--disable-annotations", "--pp", "--toJSON"];

/// Whether an option without effect is written with its value, as `--Wwarn=unused`, `-Xp4c="..."` and `-O2`.
fn is_dropped_whole(option: &str) -> bool {
    matches!(option, "--Wwarn" | "--Winfo")
        || option.starts_with("-X") && option.contains('=')
        || option.strip_prefix("-O").is_some_and(|level| level.len() <= 1)
}

/// Letters of options whose value may follow without a blank.
const SHORT: &str = "IDUobaxT";

/// Arguments of the driver, `p4c`.
pub fn of_driver(given: Vec<OsString>) -> Vec<OsString> {
    let mut read = Read::of(given);
    if let Some(program) = &read.program {
        let name = Path::new(program).with_extension("json");
        let name = name.file_name().unwrap_or_default();
        let output = match read.output.take() {
            Some(file) if file.ends_with(".json") => file.into(),
            Some(folder) => Path::new(&folder).join(name).into_os_string(),
            None => name.to_owned(),
        };
        read.words.extend(["-o".into(), output]);
    }
    read.words
}

/// Arguments of the compiler, `p4c-bm2-ss`.
pub fn of_compiler(given: Vec<OsString>) -> Vec<OsString> {
    let mut read = Read::of(given);
    if let Some(output) = read.output.take() {
        read.words.extend(["-o".into(), output.into()]);
    }
    read.words
}

/// The parsed command line.
struct Read {
    /// Arguments of our command.
    words: Vec<OsString>,
    /// The program among them.
    program: Option<OsString>,
    /// Where to write.
    output: Option<String>,
}

impl Read {
    fn of(given: Vec<OsString>) -> Read {
        let mut read = Read { words: vec![p4c::COMMAND.into()], program: None, output: None };
        let mut given = Given::new(given);
        while let Some(word) = given.next(SHORT) {
            match word {
                Word::Option(option) => read.option(&option, &mut given),
                Word::Plain(word) => {
                    read.program = Some(word.clone());
                    read.words.push(word);
                }
            }
        }
        read
    }

    fn option(&mut self, option: &str, given: &mut Given) {
        let with_value = |value: Option<String>, name: &str| {
            let value = value.map(OsString::from);
            std::iter::once(OsString::from(name)).chain(value).collect::<Vec<_>>()
        };
        match option {
            "-o" => self.output = given.value(),
            "-b" | "--target" => {
                // Older names of the same: `bmv2-ss-p4org`, `bmv2-v1model`.
                let value = given.value().map(|it| if it.starts_with("bmv2-") { "bmv2".to_owned() } else { it });
                self.words.extend(with_value(value, "--target"));
            }
            "-a" | "--arch" => self.words.extend(with_value(given.value(), "--arch")),
            "-x" | "--std" | "--p4v" => {
                let value = given.value().map(|value| value.replace('_', "-"));
                self.words.extend(with_value(value, "--p4v"));
            }
            dropped if DROPPED.contains(&dropped) => {}
            dropped if is_dropped_whole(dropped) => given.value = None,
            "--parser-only" => self.words.push("--validate".into()),
            "--target-help" | "--help-pragmas" | "--help-targets" => self.words.push("--help".into()),
            dropped if DROPPED_WITH_VALUE.contains(&dropped) => drop(given.value()),
            other => match given.value.take() {
                // `-Idir` as it was, `--name=value` too.
                Some(value) if other.starts_with("--") => self.words.push(format!("{other}={value}").into()),
                Some(value) => self.words.push(format!("{other}{value}").into()),
                None if matches!(other, "-I" | "-D" | "-U") => self.words.extend(with_value(given.value(), other)),
                None if other.starts_with("--p4runtime-") || KEPT_WITH_VALUE.contains(&other) => {
                    self.words.extend(with_value(given.value(), other))
                }
                None => self.words.push(other.into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{line, words};
    use super::*;

    #[test]
    fn the_driver_writes_into_a_folder() {
        let meant = |text: &str| line(&of_driver(words(text)));
        assert_eq!(
            meant("--target bmv2 --arch v1model --p4runtime-files build/x.txtpb src/x.p4"),
            "p4c-bm2-ss --target bmv2 --arch v1model --p4runtime-files build/x.txtpb src/x.p4 -o x.json"
        );
        assert_eq!(
            meant("-b bmv2-ss-p4org -o build --std=p4_16 -Iinclude -I more -DX=1 x.p4 -g -T passes:2"),
            "p4c-bm2-ss --target bmv2 --p4v p4-16 -Iinclude -I more -DX=1 x.p4 -o build/x.json"
        );
        assert_eq!(meant("-o build/y.json x.p4"), "p4c-bm2-ss x.p4 -o build/y.json");
        assert_eq!(meant("--version"), "p4c-bm2-ss --version");
        assert_eq!(
            meant(
                "-b bmv2-v1model -O2 --Wwarn --Wwarn=unused -T x:3 --excludeFrontendPasses A,B --Wdisable=unused x.p4"
            ),
            "p4c-bm2-ss --target bmv2 --Wdisable=unused x.p4 -o x.json"
        );
        assert_eq!(
            meant("--nocpp --parser-inline-opt --maxErrorCount 5 -Xp4c=--loopsUnroll --Winfo=x -Xp4c a x.p4 -e"),
            "p4c-bm2-ss x.p4 -o x.json"
        );
        assert_eq!(
            meant("--nocpp --disable-annotations name,hidden -E x.p4"),
            "p4c-bm2-ss --disable-annotations name,hidden -E x.p4 -o x.json"
        );
        assert_eq!(
            meant("--pp y.p4 --toJSON y.json --p4runtime-entries-files e.txt x.p4"),
            "p4c-bm2-ss --pp y.p4 --toJSON y.json --p4runtime-entries-files e.txt x.p4 -o x.json"
        );
        assert_eq!(meant("--parser-only x.p4"), "p4c-bm2-ss --validate x.p4 -o x.json");
    }

    #[test]
    fn the_compiler_writes_a_file() {
        let meant = |text: &str| line(&of_compiler(words(text)));
        assert_eq!(
            meant("--p4v 16 --p4runtime-files=build/x.txtpb -o build/x.json x.p4"),
            "p4c-bm2-ss --p4v 16 --p4runtime-files=build/x.txtpb x.p4 -o build/x.json"
        );
        assert_eq!(meant("--p4runtime-format json -o x x.p4"), "p4c-bm2-ss --p4runtime-format json x.p4 -o x");
    }
}
