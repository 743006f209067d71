//! The files beside the programs of `apps`: where entries exist as commands and as runtime JSON, both must be
//! equivalent; and every file of entries must be valid for its program.

use control::api::Entity;
use control::api::entity::TableEntry;
use control::{Command, load_entries};
use ir::Program;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::corpus::folder;
use testkit::pipeline::{Engine, program_of_file, switch_for};

/// All files in the folder of this name and below it.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut inner: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inner.sort();
    for path in inner {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The program of a file of entries, if there is one: it has the name of the file without a number (`cpe1.txt` are
/// entries of `cpe.p4`), or else the name of their folder.
fn program_beside(entries: &Path) -> Option<Program> {
    let folder = entries.parent()?;
    let stem = entries.file_stem()?.to_str()?.trim_end_matches(|character: char| character.is_ascii_digit());
    let names = [stem, folder.file_name()?.to_str()?];
    let file = names.into_iter().map(|name| folder.join(name).with_extension("p4")).find(|file| file.exists())?;
    Some(program_of_file(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

/// The effects of the commands in a file, in any order: entries, and the groups and sessions to which they refer. The
/// two forms count priorities in opposite directions, so priorities are left out.
fn effects(path: &Path, program: &Arc<Program>) -> Vec<String> {
    let read = load_entries(path, program).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut switch = switch_for(program, &Engine::Interpreter).unwrap();
    control::apply_all(&mut switch, &read).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let entry = |(command, _)| match command {
        Command::Write(update) => match update.entity {
            Entity::TableEntry(TableEntry { table, name, action, .. }) => {
                Some(format!("{table}: {:?} {action:?}", name.map(|name| name.key)))
            }
            _ => None,
        },
        _ => None,
    };
    let mut effects: Vec<String> = read.into_iter().filter_map(entry).collect();
    effects.sort();
    let replication = switch.replication();
    effects.extend(replication.groups().map(|(group, replicas)| format!("group {group}: {replicas:?}")));
    effects.extend(replication.sessions().map(|(session, ..)| format!("session {session}")));
    effects
}

#[test]
fn entries_are_those_of_their_programs_in_both_forms() {
    let mut all = Vec::new();
    files(&folder().join("../apps"), &mut all);
    let (mut texts, mut pairs) = (0, 0);
    for path in all.iter().filter(|path| path.extension().is_some_and(|it| it == "txt")) {
        let Some(program) = program_beside(path) else { continue };
        let program = Arc::new(program);
        let text = effects(path, &program);
        assert!(!text.is_empty(), "{}", path.display());
        texts += 1;
        let json = path.with_file_name("runtime.json");
        if path.ends_with("entries.txt") && json.exists() {
            assert_eq!(text, effects(&json, &program), "{} and {}", path.display(), json.display());
            pairs += 1;
        }
    }
    assert!(texts >= 8 && pairs >= 3, "{texts} files, {pairs} of them in both forms");
}
