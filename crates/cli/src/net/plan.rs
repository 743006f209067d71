//! What each switch of a network runs.
//!
//! A topology names programs by the output files of the reference compiler (`build/basic.json`), and files by paths
//! that start in the exercise's folder, which may be that of the topology, the one above it, or the current one. This
//! module finds the programs themselves, and reads programs and entries before anything is built, so that their
//! errors are reported at once, and only once.

use crate::Exit;
use crate::args::{ControllerPort, NetArguments, SwitchArguments};
use crate::terminal;
use crate::{backend, frontend};
use base::OrderedMap;
use net::Topology;
use net::topology::{NodeId, Switch};
use std::path::{Path, PathBuf};

/// The plan of a switch.
pub struct SwitchPlan {
    /// Its program; `None` if a controller sets it.
    pub program: Option<PathBuf>,
    /// Its entries.
    pub entries: Vec<PathBuf>,
}

/// The plans of all switches, in their order.
pub fn plans(topology: &Topology, arguments: &NetArguments) -> Result<Vec<SwitchPlan>, Exit> {
    let finder = Finder::new(topology, arguments)?;
    let mut plans = Vec::new();
    let mut is_complete = true;
    for switch in &topology.switches {
        match finder.plan(switch) {
            Ok(plan) => plans.push(plan),
            Err(message) => {
                terminal::error(format!(
                    "{}:{}: {}: {message}",
                    arguments.topology.display(),
                    switch.line,
                    switch.name
                ));
                is_complete = false;
            }
        }
    }
    if !is_complete {
        return Err(Exit::BadInput);
    }
    check(topology, &plans, arguments)?;
    Ok(plans)
}

/// Compiles each program once, which leaves its native code in the cache for the switches, and reads all entries.
/// Checks that each program has all ports of its switches.
fn check(topology: &Topology, plans: &[SwitchPlan], arguments: &NetArguments) -> Result<(), Exit> {
    let mut of_program: OrderedMap<&Path, Vec<usize>> = OrderedMap::new();
    for (index, plan) in plans.iter().enumerate() {
        if let Some(program) = &plan.program {
            of_program.entry(program).or_default().push(index);
        }
    }
    for (program, switches) in of_program {
        let compiled = frontend::load(program, &arguments.source, true)?;
        backend::choose(&compiled.program, arguments.backend, arguments.cc.as_deref())?;
        let ir = compiled.program.ir();
        let most = ir.architecture.port_max;
        for &index in &switches {
            check_ports(topology, index, most, arguments)?;
        }
        let mut files: Vec<&PathBuf> = switches.iter().flat_map(|&index| &plans[index].entries).collect();
        files.sort();
        files.dedup();
        let faults: Vec<_> = files.iter().filter_map(|file| control::load_entries(file, ir).err()).flatten().collect();
        if !faults.is_empty() {
            faults.iter().for_each(terminal::error);
            return Err(Exit::BadInput);
        }
    }
    Ok(())
}

fn check_ports(topology: &Topology, switch: usize, most: u32, arguments: &NetArguments) -> Result<(), Exit> {
    let ends = topology.ends_at(NodeId::Switch(switch));
    let Some((end, _)) = ends.iter().find(|(end, _)| end.port > most) else { return Ok(()) };
    let switch = &topology.switches[switch];
    terminal::error(format!(
        "{}:{}: {}: its program cannot send to port {}: the greatest is {most}",
        arguments.topology.display(),
        switch.line,
        switch.name,
        end.port
    ));
    Err(Exit::BadInput)
}

/// The arguments of `wirespeed run` for a switch's program.
pub fn switch_arguments(switch: &Switch, plan: &SwitchPlan, arguments: &NetArguments) -> SwitchArguments {
    let mut result = SwitchArguments::plain(arguments.source.clone(), plan.entries.clone());
    result.plug_ins.clone_from(&arguments.plug_ins);
    result.cc.clone_from(&arguments.cc);
    result.seed = arguments.seed;
    result.priority_queues = switch.priority_queues.unwrap_or(1);
    result
}

/// Finds the files of a topology.
#[derive(Default)]
struct Finder {
    /// Programs given for one switch.
    of_switch: OrderedMap<String, PathBuf>,
    /// The program given for all switches, or the folder given for programs.
    of_all: Option<PathBuf>,
    /// The folders in which paths may start, without duplicates.
    folders: Vec<PathBuf>,
    /// Of these, the one above the topology's.
    above: Option<PathBuf>,
    /// Whether controllers can reach the switches.
    has_controllers: bool,
}

impl Finder {
    fn new(topology: &Topology, arguments: &NetArguments) -> Result<Finder, Exit> {
        let usage = |message: String| {
            terminal::error(message);
            Exit::Usage
        };
        let has_controllers = arguments.p4runtime != ControllerPort::Off;
        let mut finder = Finder { has_controllers, ..Finder::default() };
        for argument in &arguments.programs {
            match argument.split_once('=') {
                Some((switch, file)) => {
                    if !topology.switches.iter().any(|it| it.name == switch) {
                        return Err(usage(format!("--program {argument}: there is no switch `{switch}`")));
                    }
                    finder.of_switch.insert(switch.to_owned(), PathBuf::from(file));
                }
                None if finder.of_all.is_some() => {
                    let message =
                        format!("--program {argument}: there can be one for all switches; write SWITCH=FILE for one");
                    return Err(usage(message));
                }
                None => finder.of_all = Some(PathBuf::from(argument)),
            }
        }
        for file in finder.of_switch.values().chain(&finder.of_all) {
            if !file.exists() {
                return Err(usage(format!("--program: there is no {}", file.display())));
            }
        }
        let own = arguments.topology.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let above = own.canonicalize().ok().and_then(|own| own.parent().map(Path::to_owned));
        let folders = [Some(PathBuf::from(".")), Some(own.to_owned()), above.clone()].into_iter().flatten();
        finder.folders = without_repetitions(folders.collect());
        finder.above = above;
        Ok(finder)
    }

    fn plan(&self, switch: &Switch) -> Result<SwitchPlan, String> {
        let (mut entries, mut found_in) = (Vec::new(), Vec::new());
        for file in [&switch.cli_input, &switch.runtime_json].into_iter().flatten() {
            let (path, folder) = self.file(file)?;
            entries.push(path);
            found_in.push(folder);
        }
        let runtime = if switch.runtime_json.is_some() { entries.last() } else { None };
        let program = match self.program(switch, runtime, &found_in) {
            // Entries belong to a program; without any, a controller may set both.
            Err(_) if entries.is_empty() && switch.program.is_none() && self.has_controllers => None,
            found => Some(found?),
        };
        Ok(SwitchPlan { program, entries })
    }

    /// A file that the topology names, and the folder in which it was found.
    fn file(&self, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let candidates = self.folders.iter().map(|folder| (join(folder, Path::new(name)), folder.clone()));
        candidates.clone().find(|(path, _)| path.is_file()).ok_or_else(|| {
            let places: Vec<String> = candidates.map(|(path, _)| path.display().to_string()).collect();
            format!("there is no file `{name}`; looked for {}", places.join(", "))
        })
    }

    fn program(&self, switch: &Switch, runtime: Option<&PathBuf>, found_in: &[PathBuf]) -> Result<PathBuf, String> {
        if let Some(file) = self.of_switch.get(&switch.name) {
            return Ok(file.clone());
        }
        let folders = match &self.of_all {
            Some(given) if !given.is_dir() => return Ok(given.clone()),
            Some(given) => std::slice::from_ref(given),
            None => &self.folders,
        };
        // The switch finally runs the program that was loaded with the entries, so the runtime JSON goes first.
        let mut names = runtime.map(|file| names_in(file)).unwrap_or_default();
        names.extend(switch.program.clone());
        for name in &names {
            if let Some(program) = folders.iter().find_map(|folder| named_program(folder, name)) {
                return Ok(program);
            }
        }
        if self.of_all.is_some() {
            return only_program(folders, &names);
        }
        // The folder above the topology's may be unrelated, unless the switch's files are there.
        let mut folders: Vec<PathBuf> = found_in.to_vec();
        folders.extend(self.folders.iter().filter(|folder| Some(*folder) != self.above.as_ref()).cloned());
        only_program(&without_repetitions(folders), &names)
    }
}

/// Each folder once, in any spelling.
fn without_repetitions(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    folders.retain(|folder| {
        let identity = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let is_new = !seen.contains(&identity);
        seen.push(identity);
        is_new
    });
    folders
}

/// A path in a folder; one in the current folder stays as it was written.
fn join(folder: &Path, name: &Path) -> PathBuf {
    if folder == Path::new(".") { name.to_owned() } else { folder.join(name) }
}

/// The programs that a runtime JSON names, if the file is one: other errors are reported when it is read.
fn names_in(file: &Path) -> Vec<String> {
    let content = base::files::read(file, 64 << 20).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_slice(&content).unwrap_or_default();
    ["bmv2_json", "p4info"].iter().filter_map(|field| json.get(field)?.as_str().map(str::to_owned)).collect()
}

/// The source of a compiled file: `basic.p4` for `build/basic.json` and `build/basic.p4.p4info.txtpb`, in the folder
/// or beside the file.
pub fn named_program(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let file = path.file_name()?.to_str()?;
    let stem = file.split_once(".p4info").map_or(file, |(stem, _)| stem);
    let stem = [".json", ".p4"].iter().find_map(|ending| stem.strip_suffix(ending)).unwrap_or(stem);
    let source = format!("{stem}.p4");
    let beside = path.with_file_name(&source);
    let above = path.parent().and_then(Path::parent).map(|above| above.join(&source));
    let candidates = [Some(beside), above, Some(PathBuf::from(&source))];
    candidates.into_iter().flatten().map(|name| join(folder, &name)).find(|path| path.is_file())
}

/// The only program of the first folder that has any.
fn only_program(folders: &[PathBuf], names: &[String]) -> Result<PathBuf, String> {
    let wanted = match names {
        [] => "the topology and the entries name no program".to_owned(),
        names => format!("the program of {} is not there", names.join(" and ")),
    };
    let cure = "say which it is with --program FILE.p4";
    for folder in folders {
        let mut programs = programs_in(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        match programs.len() {
            0 => {}
            1 => return Ok(programs.remove(0)),
            _ => {
                let listed: Vec<String> = programs.iter().map(|program| program.display().to_string()).collect();
                return Err(format!("{wanted}, and there are several: {}; {cure}", listed.join(", ")));
            }
        }
    }
    let listed: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(format!("{wanted}, and there is no .p4 file in {}; {cure}", listed.join(", ")))
}

fn programs_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "p4") && path.is_file() {
            programs.push(join(folder, Path::new(path.file_name().unwrap_or_default())));
        }
    }
    programs.sort();
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Files in a folder, and the program that a switch of these names would run, with the given folders to search.
    fn check(files: &[&str], folders: &[&str], names: &[&str], expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let folders: Vec<PathBuf> = folders.iter().map(|folder| root.path().join(folder)).collect();
        folders.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
        let named = names.iter().find_map(|name| folders.iter().find_map(|folder| named_program(folder, name)));
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let program = named.map_or_else(|| only_program(&folders, &names), Ok);
        let shown = program.map_or_else(|message| format!("error: {message}"), |path| path.display().to_string());
        expected.assert_eq(&shown.replace(&format!("{}/", root.path().display()), ""));
    }

    #[test]
    fn programs_are_found_by_what_was_made_of_them() {
        let files = ["basic.p4", "firewall.p4", "pod-topo/topology.json", "solution/basic.p4"];
        check(&files, &["", "pod-topo"], &["build/basic.json"], expect!["basic.p4"]);
        check(&files, &["pod-topo", ""], &["build/firewall.p4.p4info.txtpb"], expect!["firewall.p4"]);
        check(&files, &[""], &["build/firewall.p4info.txt"], expect!["firewall.p4"]);
        check(&files, &[""], &["firewall.p4"], expect!["firewall.p4"]);
        check(&files, &["solution"], &["build/basic.json"], expect!["solution/basic.p4"]);
        check(&["p/build/x.p4"], &["p"], &["build/x.json"], expect!["p/build/x.p4"]);
    }

    #[test]
    fn the_only_program_is_taken_and_several_are_listed() {
        check(&["calc.p4", "x/other.p4"], &["", "x"], &[], expect!["calc.p4"]);
        check(&["notes.txt", "x/other.p4"], &["", "x"], &["build/lost.json"], expect!["x/other.p4"]);
        check(
            &["a.p4", "b.p4"],
            &[""],
            &["build/lost.json"],
            expect![
                "error: the program of build/lost.json is not there, and there are several: a.p4, b.p4; \
                 say which it is with --program FILE.p4"
            ],
        );
        check(
            &["notes.txt", "x/y.txt"],
            &["y", "x"],
            &[],
            expect![
                "error: the topology and the entries name no program, and there is no .p4 file in y, x; \
                 say which it is with --program FILE.p4"
            ],
        );
    }
}
