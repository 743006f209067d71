//! `wirespeed check`: errors and warnings of programs.

use crate::Exit;
use crate::args::CheckArguments;
use crate::caught::caught;
use crate::frontend;
use crate::terminal::say_if_read;
use base::Span;
use serde_json::json;
use std::io::IsTerminal as _;
use std::path::Path;
use syntax::{Diagnostic, Diagnostics, Severity};
use wirespeed::{Options, Source, source};

/// Checks each file by itself. Succeeds if none has an error, whether or not somebody reads the output; a panic ends
/// the work on one file only.
pub fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let mut exit = Exit::Success;
    let names = arguments.files.iter().map(|file| file.display().to_string().chars().count());
    // A terminal gets aligned columns, a program lines that it can split at the first colon.
    let is_aligned = std::io::stdout().is_terminal();
    let width = if is_aligned { names.max().unwrap_or(0) + 1 } else { 0 };
    for file in &arguments.files {
        let outcome = caught(|| {
            let mut source = frontend::parse(file, &arguments.source);
            let remark = verdict(&mut source);
            frontend::apply_warning_levels(&mut source, &arguments.warnings);
            let remark = remark.filter(|_| !source.diagnostics.has_errors());
            if arguments.json {
                say_if_read!("{}", as_json(file, &source, remark.as_deref(), arguments.summary));
            } else if arguments.summary {
                say_if_read!(
                    "{:<width$} {}",
                    format!("{}:", file.display()),
                    summary(file, &source, remark.as_deref())
                );
            } else {
                frontend::show(&source);
                match remark.as_deref() {
                    Some("") => say_if_read!("{}: ok", file.display()),
                    Some(remark) => say_if_read!("{}: ok ({remark})", file.display()),
                    None => {}
                }
            }
            remark.is_some()
        });
        match outcome {
            Ok(true) => {}
            Ok(false) if exit == Exit::Success => exit = Exit::BadInput,
            Ok(false) => {}
            Err(message) => {
                if arguments.json {
                    say_if_read!(
                        "{}",
                        json!({"file": file.display().to_string(), "ok": false, "internal_error": message})
                    );
                } else {
                    say_if_read!("{:<width$} {message}", format!("{}:", file.display()));
                }
                exit = Exit::Internal;
            }
        }
    }
    Ok(exit)
}

/// Checks as far as possible: a program without `main`, or for an unknown architecture, is checked in full but not
/// lowered. `None` if there are errors, else a remark, which may be empty.
fn verdict(source: &mut Source) -> Option<String> {
    let typed = source.check()?;
    source.lint(&typed);
    let Some(package) = source::package(&typed) else {
        return Some("there is no `main` to run".to_owned());
    };
    if !source::is_runnable(&typed) {
        return Some(format!("checked only: a program for package `{package}` cannot be run"));
    }
    let program = source.lower(&typed, &Options::default())?;
    // A switch without controllers does not need a P4Info.
    let mut faults = Diagnostics::new();
    p4info::generate(&typed, &program, &mut faults);
    let fault = faults.iter().find(|it| it.severity == Severity::Error);
    Some(fault.map_or_else(String::new, |it| format!("not for P4Runtime: {} [{}]", it.message, it.code)))
}

/// `ok` with the remark, or how many errors there are and the first of them.
fn summary(file: &Path, source: &Source, remark: Option<&str>) -> String {
    let first = source.diagnostics.iter().find(|it| it.severity == Severity::Error);
    let Some(first) = first else {
        let remarks = [warning_count(source), remark.unwrap_or_default().to_owned()];
        let remarks: Vec<String> = remarks.into_iter().filter(|it| !it.is_empty()).collect();
        return if remarks.is_empty() { "ok".to_owned() } else { format!("ok ({})", remarks.join("; ")) };
    };
    let count = match source.diagnostics.error_count() {
        1 => "1 error".to_owned(),
        count => format!("{count} errors"),
    };
    let place = match source.map.location(first.primary.span.lo) {
        Some(place) if *place.file == *file.display().to_string() => format!(", first at line {}", place.line),
        Some(place) => format!(", first at {}:{}", place.file, place.line),
        None => String::new(),
    };
    format!("{count}{place}: {} [{}]", first.message.replace('\n', " "), first.code)
}

/// How many warnings there are; empty if there are none.
fn warning_count(source: &Source) -> String {
    match source.diagnostics.warning_count() {
        0 => String::new(),
        1 => "1 warning".to_owned(),
        count => format!("{count} warnings"),
    }
}

/// All diagnostics of a file, or only its first error; and the remark of a program without errors.
fn as_json(file: &Path, source: &Source, remark: Option<&str>, is_summary: bool) -> serde_json::Value {
    let diagnostic = |it: &Diagnostic| diagnostic_as_json(source, it);
    let diagnostics = &source.diagnostics;
    let errors = diagnostics.error_count();
    let mut line = json!({
        "file": file.display().to_string(),
        "ok": errors == 0,
        "errors": errors,
        "warnings": diagnostics.warning_count(),
    });
    if let Some(remark) = remark.filter(|remark| !remark.is_empty()) {
        line["remark"] = remark.into();
    }
    if is_summary {
        line["first"] = diagnostics.iter().find(|it| it.severity == Severity::Error).map(diagnostic).into();
    } else {
        line["diagnostics"] = diagnostics.iter().map(diagnostic).collect();
    }
    line
}

fn diagnostic_as_json(source: &Source, diagnostic: &Diagnostic) -> serde_json::Value {
    let mut line = place_as_json(source, diagnostic.primary.span);
    line["severity"] = diagnostic.severity.as_str().into();
    line["code"] = diagnostic.code.into();
    line["message"] = diagnostic.message.clone().into();
    line["notes"] = diagnostic.notes.clone().into();
    line["help"] = diagnostic.helps.clone().into();
    let related = diagnostic.secondary.iter().map(|label| {
        let mut related = place_as_json(source, label.span);
        related["message"] = label.text.clone().into();
        related
    });
    line["related"] = related.collect();
    line
}

fn place_as_json(source: &Source, span: Span) -> serde_json::Value {
    let place = source.map.location(span.lo);
    // A span that goes over the end of a file, as one of several macros may, ends where it begins.
    let end = source.map.location(span.hi).filter(|end| {
        place
            .as_ref()
            .is_some_and(|place| place.file == end.file && (place.line, place.column) <= (end.line, end.column))
    });
    let end = end.as_ref().or(place.as_ref());
    json!({
        "file": place.as_ref().map(|place| place.file.to_string()),
        "line": place.as_ref().map(|place| place.line),
        "column": place.as_ref().map(|place| place.column),
        "end_line": end.map(|end| end.line),
        "end_column": end.map(|end| end.column),
    })
}
