//! What is wrong with a program, and the list in which the stages collect it.
//!
//! A [`Diagnostic`] is made where the fault is found and goes into a [`Diagnostics`]; the stage goes on.
//! [`mod@crate::render`] turns them into text for people.

use base::Span;
use std::collections::{BTreeMap, BTreeSet};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is accepted.
    Warning,
    /// The program is refused.
    Error,
}

impl Severity {
    /// As it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place in the source and what is to be said about it. The text may be empty.
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text beside it.
    pub text: String,
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code of this kind of fault: `E0120`, `W0101`.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// How to mend it.
    pub helps: Vec<String>,
}

impl Diagnostic {
    /// An error without label text, other places, notes or help.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// A warning without label text, other places, notes or help.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Sets the text beside the place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds another place that explains it. A place that is none is left out.
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        if !span.is_none() {
            self.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// Adds a fact that explains it.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds a way to mend it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(text.into());
        self
    }
}

/// What becomes of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningLevel {
    /// It is shown.
    Shown,
    /// It is dropped.
    Silent,
    /// It counts as an error.
    Error,
}

/// The diagnostics of a compilation in the order in which they were found.
///
/// Only the first [`Diagnostics::ERRORS_KEPT_MAX`] errors, and as many warnings, are kept: the rest is counted. A
/// diagnostic with the same code, place and message as one already there is dropped.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    error_count: usize,
    warning_count: usize,
    /// How many warnings were not kept, by their codes.
    lost_warnings: BTreeMap<&'static str, usize>,
}

impl Diagnostics {
    /// How many errors (and how many warnings) are kept.
    pub const ERRORS_KEPT_MAX: usize = 100;

    /// No diagnostics.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_same = |other: &Diagnostic| {
            (other.code, other.primary.span, &other.message)
                == (diagnostic.code, diagnostic.primary.span, &diagnostic.message)
        };
        if self.kept.iter().any(is_same) {
            return;
        }
        let count = match diagnostic.severity {
            Severity::Error => &mut self.error_count,
            Severity::Warning => &mut self.warning_count,
        };
        *count += 1;
        if *count <= Self::ERRORS_KEPT_MAX {
            self.kept.push(diagnostic);
        } else if diagnostic.severity == Severity::Warning {
            *self.lost_warnings.entry(diagnostic.code).or_default() += 1;
        }
    }

    /// Adds all of `others`, after those already here.
    pub fn append(&mut self, others: Diagnostics) {
        let lost_errors = others.error_count.saturating_sub(Self::ERRORS_KEPT_MAX);
        others.kept.into_iter().for_each(|diagnostic| self.push(diagnostic));
        self.error_count += lost_errors;
        for (code, count) in others.lost_warnings {
            self.warning_count += count;
            *self.lost_warnings.entry(code).or_default() += count;
        }
    }

    /// Shows the macro of each diagnostic that stands where one is used, and keeps only the first of those that are the
    /// same in several uses of a macro. `definition_at` says where the macro that is used at a place is defined.
    pub fn relate_to_macros(&mut self, definition_at: impl Fn(u32) -> Option<Span>) {
        let mut seen = BTreeSet::new();
        let (errors, warnings) = (&mut self.error_count, &mut self.warning_count);
        self.kept.retain_mut(|diagnostic| {
            let Some(definition) = definition_at(diagnostic.primary.span.lo) else { return true };
            // One that points into the macro itself has the place of its use already.
            let is_first = seen.insert((diagnostic.code, diagnostic.message.clone(), definition));
            if is_first {
                diagnostic.secondary.push(Label { span: definition, text: "in this macro".into() });
            } else if diagnostic.severity == Severity::Error {
                *errors -= 1;
            } else {
                *warnings -= 1;
            }
            is_first
        });
    }

    /// Puts the diagnostics in the order of their places.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|diagnostic| diagnostic.primary.span);
    }

    /// Decides about all warnings so far, by their codes.
    pub fn settle_warnings(&mut self, level_of: impl Fn(&str) -> WarningLevel) {
        for diagnostic in &mut self.kept {
            if diagnostic.severity == Severity::Warning && level_of(diagnostic.code) == WarningLevel::Error {
                diagnostic.severity = Severity::Error;
                self.error_count += 1;
                self.warning_count -= 1;
            }
        }
        let is_dropped =
            |it: &Diagnostic| it.severity == Severity::Warning && level_of(it.code) == WarningLevel::Silent;
        self.warning_count -= self.kept.iter().filter(|it| is_dropped(it)).count();
        self.kept.retain(|it| !is_dropped(it));
        let (error_count, warning_count) = (&mut self.error_count, &mut self.warning_count);
        self.lost_warnings.retain(|code, count| {
            let level = level_of(code);
            if level == WarningLevel::Error {
                *error_count += *count;
            }
            if level != WarningLevel::Shown {
                *warning_count -= *count;
            }
            level == WarningLevel::Shown
        });
    }

    /// Whether the program is to be refused.
    pub fn has_errors(&self) -> bool {
        self.error_count > 0
    }

    /// How many errors there were, those not kept included.
    pub fn error_count(&self) -> usize {
        self.error_count
    }

    /// How many warnings there were, those not kept included.
    pub fn warning_count(&self) -> usize {
        self.warning_count
    }

    /// How many were counted and not kept.
    pub fn lost_count(&self) -> usize {
        self.error_count + self.warning_count - self.kept.len()
    }

    /// Those kept, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.kept.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_surplus_diagnostics_are_not_kept() {
        let mut all = Diagnostics::new();
        for position in 0..150 {
            all.push(Diagnostic::error("E0000", Span::new(position, position + 1), "wrong"));
        }
        all.push(Diagnostic::error("E0000", Span::new(0, 1), "wrong"));
        all.push(Diagnostic::warning("W0000", Span::new(0, 1), "odd"));
        assert_eq!((all.error_count(), all.warning_count()), (150, 1));
        assert_eq!((all.iter().count(), all.lost_count()), (101, 50));
        let mut other = Diagnostics::new();
        other.append(all);
        assert_eq!((other.error_count(), other.warning_count(), other.lost_count()), (150, 1, 50));
    }

    #[test]
    fn warnings_are_dropped_or_become_errors() {
        let mut all = Diagnostics::new();
        for position in 0..150 {
            all.push(Diagnostic::warning("W0001", Span::new(position, position + 1), "odd"));
        }
        all.push(Diagnostic::warning("W0002", Span::new(0, 1), "odder"));
        let counts = |all: &Diagnostics| (all.error_count(), all.warning_count(), all.lost_count());
        assert_eq!(counts(&all), (0, 151, 51));
        let mut denied = all.clone();
        denied.settle_warnings(|code| if code == "W0001" { WarningLevel::Error } else { WarningLevel::Shown });
        assert_eq!(counts(&denied), (150, 1, 51));
        let mut allowed = all.clone();
        allowed.settle_warnings(|code| if code == "W0001" { WarningLevel::Silent } else { WarningLevel::Shown });
        assert_eq!(counts(&allowed), (0, 1, 1));
        all.settle_warnings(|_| WarningLevel::Shown);
        assert_eq!(counts(&all), (0, 151, 51));
    }
}
