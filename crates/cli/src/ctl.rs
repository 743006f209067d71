//! `wirespeed ctl`: controls a running switch from a prompt, from files, or by single commands.
//!
//! The language and the requests are `ctl`'s; this module handles arguments, files, the prompt, and the exit status.

use crate::args::{CtlArguments, DEVICE_ID, SourceArguments};
use crate::prompt::{self, Prompt};
use crate::stored_program::StoredProgram;
use crate::terminal::{self, say};
use crate::trace::tap::TapTracer;
use crate::written_types::WrittenTypes;
use crate::{Exit, frontend};
use control::Problem;
use control::store::Saved;
use ctl::engine::{self, After, PacketTracer, Surroundings};
use ctl::{Failure, Options, Plan, Schema, Session};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::{ForwardingPipelineConfig, Update};
use serde_json::json;
use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Runtime;
use wirespeed::Source;

/// Runs the command.
pub fn ctl(arguments: &CtlArguments) -> Result<Exit, Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        terminal::error(format!("cannot start: {error}"));
        Exit::System
    })?;
    let mut shell = Shell {
        arguments,
        json: arguments.json,
        options: options(arguments)?,
        runtime,
        session: None,
        schema: Rc::default(),
        is_interactive: false,
        worst: Exit::Success,
    };
    if let Some(file) = &arguments.simple_switch_cli {
        return shell.simple_switch_cli(file.as_deref());
    }
    if !arguments.command.is_empty() {
        let line = match &arguments.command[..] {
            [command, .., last] if last == "--help" => format!("help {}", as_word(command)),
            [command, words @ ..] if command == "trace" => {
                // Its conditions may be written as options, so this option may be among them.
                shell.json |= words.iter().any(|word| word == "--json");
                let words = words.iter().filter(|word| *word != "--json");
                std::iter::once(command).chain(words).map(|word| as_word(word)).collect::<Vec<_>>().join(" ")
            }
            words => words.iter().map(|word| as_word(word)).collect::<Vec<_>>().join(" "),
        };
        return shell.all(std::iter::once(Ok(line)), None);
    }
    match arguments.file.as_deref() {
        Some(path) => shell.all(lines(path)?, Some(path)),
        None if std::io::stdin().is_terminal() => shell.prompt(),
        None => shell.all(lines(Path::new(STANDARD_INPUT))?, None),
    }
}

/// Denotes standard input among the names of files.
const STANDARD_INPUT: &str = "-";

/// Lines as they are read.
type Lines = Box<dyn Iterator<Item = std::io::Result<String>>>;

/// The lines of a file. Those of standard input are read one by one, since their writer may wait for answers.
fn lines(path: &Path) -> Result<Lines, Exit> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(Box::new(std::io::stdin().lines()));
    }
    let file = base::files::open(path).map_err(|error| {
        terminal::error(format!("cannot read {}: {error}", path.display()));
        Exit::BadInput
    })?;
    Ok(Box::new(BufReader::new(file).lines()))
}

/// A word of the command line as a word of the language.
fn as_word(word: &str) -> String {
    let needs_quotes =
        word.is_empty() || word.contains(|it: char| it.is_whitespace() || matches!(it, '#' | '\'' | '"'));
    match needs_quotes {
        true if word.contains('"') => format!("'{word}'"),
        true => format!("\"{word}\""),
        false => word.to_owned(),
    }
}

fn options(arguments: &CtlArguments) -> Result<Options, Exit> {
    Ok(Options {
        address: arguments.address.clone(),
        near: None,
        device_id: arguments.device_id.unwrap_or(DEVICE_ID),
        any_device: arguments.device_id.is_none(),
        formats: Some(add_formats),
        election_id: arguments.election_id,
        as_primary: arguments.as_primary,
        role: arguments.role.clone().unwrap_or_default(),
        tls: arguments.tls.settings()?,
        address_option: None,
    })
}

/// The text of a program's file for the switch, with all included files.
fn load(arguments: &CtlArguments, path: &str) -> Result<ForwardingPipelineConfig, Problem> {
    let options = SourceArguments {
        include: arguments.include.clone(),
        define: arguments.define.clone(),
        undefine: arguments.undefine.clone(),
        ..SourceArguments::plain()
    };
    let mut source = frontend::parse(Path::new(path), &options);
    // Errors are shown here, where the file is.
    if source.check().is_none() {
        frontend::show(&source);
        return Err(Problem::new(format!("{path} is not given to the switch")));
    }
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let p4_device_config = control::device_config::write_named(&syntax::print(&source.tree), &name).into_bytes();
    Ok(ForwardingPipelineConfig { p4_device_config, ..ForwardingPipelineConfig::default() })
}

/// Adds to a P4Info the display formats from the program's text, from the records of the switch's program.
fn add_formats(info: &mut P4Info, program: Vec<Box<[u8]>>) {
    let saved = Saved::of_records(program);
    let note = p4runtime::read_kept(&saved.program).map_or(&saved.program, |(_, program)| program);
    if let Some(StoredProgram { file, source, files }) = StoredProgram::of(note) {
        // The program may be deeply nested.
        base::stack::with_deep_stack(|| {
            WrittenTypes::of(&Source::read(&file, &source.options(), &files).tree).annotate(info);
        });
    }
}

struct Shell<'a> {
    arguments: &'a CtlArguments,
    /// Lines of JSON.
    json: bool,
    options: Options,
    runtime: Runtime,
    session: Option<Session>,
    /// The names of the program, for completion.
    schema: Rc<RefCell<Option<Arc<Schema>>>>,
    is_interactive: bool,
    worst: Exit,
}

impl Shell<'_> {
    fn session(&mut self) -> Result<&mut Session, Failure> {
        if self.session.is_none() {
            self.session = Some(self.runtime.block_on(Session::connect(self.options.clone()))?);
        }
        self.session.as_mut().ok_or_else(|| Problem::new("there is no connection").into())
    }

    /// The names of the program that the switch runs.
    fn schema(&mut self) -> Result<Arc<Schema>, Failure> {
        self.session()?;
        let Some(session) = &mut self.session else { return Ok(Arc::default()) };
        let schema = self.runtime.block_on(session.schema())?;
        *self.schema.borrow_mut() = Some(Arc::clone(&schema));
        Ok(schema)
    }

    fn plan(&mut self, line: &str) -> Result<Plan, Failure> {
        let schema = match ctl::language::needs_program(line) {
            true => self.schema()?,
            false => Arc::default(),
        };
        Ok(ctl::parse(line, &schema)?)
    }

    /// Runs a line.
    fn line(&mut self, line: &str) -> Result<After, Failure> {
        let plan = self.plan(line)?;
        if let Plan::Nothing = plan {
            return Ok(After::GoOn);
        }
        if let Plan::Quit = plan {
            return Ok(After::Quit);
        }
        if let Plan::Say(text) = &plan {
            match self.json {
                true => print_line(&json!({ "text": text }).to_string()),
                false => print_line(text),
            }
            return Ok(After::GoOn);
        }
        self.session()?;
        let (json, is_interactive) = (self.json, self.is_interactive);
        let load = |path: &str| load(self.arguments, path);
        let Some(session) = &mut self.session else { return Ok(After::GoOn) };
        self.runtime.block_on(async {
            let mut stop = Box::pin(async {
                // If Ctrl-C cannot be caught, it ends the process.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            });
            let mut out = print_line;
            let mut tracer = TapTracer::new(json);
            let tracer: Option<&mut dyn PacketTracer> = Some(&mut tracer);
            let (out, stop) = (&mut out, &mut stop);
            let note = &mut |text: &str| terminal::note(text);
            let mut around = Surroundings { json, is_interactive, out, note, load: &load, stop, tracer };
            engine::carry_out(session, plan, &mut around).await
        })
    }

    /// Reports an error and its line.
    fn complain(&mut self, failure: &Failure, place: Option<&str>) {
        let exit = match failure {
            Failure::Refused(_) => Exit::BadInput,
            Failure::Connection(_) => Exit::System,
        };
        if self.worst != Exit::System {
            self.worst = exit;
        }
        if self.json {
            let problems = match failure {
                Failure::Refused(problems) => problems.as_slice(),
                Failure::Connection(problem) => std::slice::from_ref(problem),
            };
            let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            print_line(&json!({ "errors": messages, "place": place }).to_string());
            return;
        }
        match place {
            Some(place) => terminal::error(format!("{place}: {failure}")),
            None => terminal::error(failure),
        }
    }

    /// Runs all lines, of a file if it has a name, until one is refused.
    fn all(&mut self, lines: impl Iterator<Item = std::io::Result<String>>, file: Option<&Path>) -> Result<Exit, Exit> {
        if self.arguments.atomic {
            return self.together(lines, file);
        }
        for (index, line) in lines.enumerate() {
            match readable(line).and_then(|line| self.line(&line)) {
                Ok(After::GoOn) => {}
                Ok(After::Quit) => break,
                Err(failure) => {
                    self.complain(&failure, place(file, index).as_deref());
                    let keeps_running = self.arguments.keep_going && !matches!(failure, Failure::Connection(_));
                    if !keeps_running {
                        break;
                    }
                }
            }
        }
        Ok(self.worst)
    }

    /// Runs all lines as one batch: if one of them is invalid, none is executed.
    fn together(
        &mut self,
        lines: impl Iterator<Item = std::io::Result<String>>,
        file: Option<&Path>,
    ) -> Result<Exit, Exit> {
        let mut updates: Vec<Update> = Vec::new();
        for (index, line) in lines.enumerate() {
            let outcome = readable(line).and_then(|line| self.plan(&line)).and_then(|plan| {
                self.session()?;
                let Some(session) = &mut self.session else { return Ok(Vec::new()) };
                self.runtime.block_on(engine::updates(session, plan, &updates))
            });
            match outcome {
                Ok(more) => updates.extend(more),
                Err(failure) => {
                    self.complain(&failure, place(file, index).as_deref());
                    if !self.arguments.keep_going || matches!(failure, Failure::Connection(_)) {
                        return Ok(self.worst);
                    }
                }
            }
        }
        let (json, is_interactive) = (self.json, self.is_interactive);
        let load = |path: &str| load(self.arguments, path);
        if let (Exit::Success, Some(session)) = (self.worst, &mut self.session) {
            let written = self.runtime.block_on(async {
                let mut stop = Box::pin(std::future::pending());
                let (out, stop) = (&mut print_line, &mut stop);
                let note = &mut |text: &str| terminal::note(text);
                let mut around = Surroundings { json, is_interactive, out, note, load: &load, stop, tracer: None };
                engine::write_together(session, updates, &mut around).await
            });
            if let Err(failure) = written {
                self.complain(&failure, file.map(|file| file.display().to_string()).as_deref());
            }
        }
        Ok(self.worst)
    }

    /// Lines from a prompt.
    fn prompt(&mut self) -> Result<Exit, Exit> {
        self.is_interactive = true;
        if let Err(failure) = self.schema() {
            self.complain(&failure, None);
            if matches!(failure, Failure::Connection(_)) {
                return Ok(self.worst);
            }
        }
        let known = Rc::clone(&self.schema);
        let words = move |words: &[&str]| match words {
            ["load", _] => None,
            _ => Some(ctl::complete(known.borrow().as_deref(), &words.join(" ")).1),
        };
        let mut prompt = Prompt::new("wirespeed> ", Box::new(words)).map_err(no_terminal)?;
        prompt::give_back_on_signals().map_err(no_terminal)?;
        if let Some(session) = &self.session {
            say!("{}", session.greeting());
        }
        say!("help lists the commands, Tab completes, Ctrl-D ends.");
        while let Some(line) = prompt.next_line().map_err(no_terminal)? {
            let before = self.session.is_some();
            match self.line(&line) {
                Ok(After::GoOn) => {}
                Ok(After::Quit) => break,
                Err(failure) => {
                    self.complain(&failure, None);
                    if matches!(failure, Failure::Connection(_)) && before {
                        // The next line tries to connect again.
                        self.session = None;
                    }
                }
            }
            if let Some(session) = &mut self.session
                && self.runtime.block_on(session.release()).is_err()
            {
                self.session = None;
            }
        }
        Ok(Exit::Success)
    }

    /// Runs lines of `simple_switch_CLI`. Like that tool, it continues after a line that is refused.
    fn simple_switch_cli(&mut self, file: Option<&Path>) -> Result<Exit, Exit> {
        let path = file.or(self.arguments.file.as_deref());
        let is_terminal = path.is_none() && std::io::stdin().is_terminal();
        if is_terminal {
            let names = control::switch_cli::command_names();
            let words = move |words: &[&str]| match words {
                [_] => Some(names.iter().map(|name| (*name).to_owned()).collect()),
                ["load_new_config_file", _] => None,
                _ => Some(Vec::new()),
            };
            let mut prompt = Prompt::new("RuntimeCmd: ", Box::new(words)).map_err(no_terminal)?;
            prompt::give_back_on_signals().map_err(no_terminal)?;
            while let Some(line) = prompt.next_line().map_err(no_terminal)? {
                if is_end(&line) || !self.simple_line(&line, None) {
                    break;
                }
            }
            return Ok(if self.worst == Exit::System { Exit::System } else { Exit::Success });
        }
        for (index, line) in lines(path.unwrap_or(Path::new(STANDARD_INPUT)))?.enumerate() {
            let place = place(path, index);
            match readable(line) {
                Ok(line) if is_end(&line) || !self.simple_line(&line, place.as_deref()) => break,
                Ok(_) => {}
                Err(failure) => {
                    self.complain(&failure, place.as_deref());
                    break;
                }
            }
        }
        Ok(self.worst)
    }

    /// Runs a line of `simple_switch_CLI`; false if the session must end.
    fn simple_line(&mut self, line: &str, place: Option<&str>) -> bool {
        let answer = self.session().map(|_| ()).and_then(|()| match &mut self.session {
            Some(session) => self.runtime.block_on(session.run_simple(line.to_owned())),
            None => Ok((String::new(), false)),
        });
        match answer {
            Ok((text, true)) => {
                // On standard output, where the tool's users expect it.
                let place = place.map_or_else(String::new, |place| format!("{place}: "));
                print_line(&format!("Error: {place}{text}"));
                self.worst = Exit::BadInput;
            }
            Ok((text, false)) if text.is_empty() => {}
            Ok((text, false)) => print_line(&text),
            Err(failure) => {
                self.complain(&failure, place);
                return false;
            }
        }
        true
    }
}

fn readable(line: std::io::Result<String>) -> Result<String, Failure> {
    line.map_err(|error| Problem::new(format!("this line cannot be read: {error}")).into())
}

fn is_end(line: &str) -> bool {
    matches!(line.trim(), "EOF" | "quit" | "exit")
}

/// The position of a line; empty for a file that has only one.
fn place(file: Option<&Path>, index: usize) -> Option<String> {
    file.map(|file| format!("{}:{}", file.display(), index + 1))
}

fn print_line(text: &str) {
    terminal::line(format_args!("{text}"));
}

fn no_terminal(error: std::io::Error) -> Exit {
    terminal::error(format!("the terminal cannot be used: {error}"));
    Exit::System
}

#[cfg(test)]
mod tests {
    use super::as_word;

    #[test]
    fn words_of_the_command_line_are_words_of_the_language() {
        let words = ["show", "a b", "", "port=1", "10.0.0.0/8", "say \"x y\""];
        let line = words.map(as_word).join(" ");
        assert_eq!(line, "show \"a b\" \"\" port=1 10.0.0.0/8 'say \"x y\"'");
        let read: Vec<String> = ctl::words::split(&line).unwrap().into_iter().map(|word| word.text).collect();
        assert_eq!(read, words);
    }
}
