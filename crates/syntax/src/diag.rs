//! Diagnostics: errors and warnings about a program, and the list in which the stages collect them.
//!
//! A stage that finds an error adds a [`Diagnostic`] to a [`Diagnostics`] and continues. [`mod@crate::render`] turns
//! them into text for people.

use crate::source::SourceMap;
use base::{OrderedMap, OrderedSet, Span};

/// The most uses of nested macros that a diagnostic shows.
const MACRO_USES_MAX: usize = 6;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is accepted.
    Warning,
    /// The program is rejected.
    Error,
}

impl Severity {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A source range with an explanation. The text may be empty.
#[derive(Clone, Debug)]
pub struct Label {
    /// The source range.
    pub span: Span,
    /// The text beside it.
    pub text: String,
}

/// One error or warning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The stable code of this kind of error: `E0120`, `W0101`.
    pub code: &'static str,
    /// The message, in one line.
    pub message: String,
    /// The location.
    pub primary: Label,
    /// Other locations that explain it.
    pub secondary: Vec<Label>,
    /// Notes that explain it.
    pub notes: Vec<String>,
    /// Suggestions how to correct it.
    pub helps: Vec<String>,
}

impl Diagnostic {
    /// An error without a label, other locations, notes or help.
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

    /// A warning without a label, other locations, notes or help.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Sets the text beside the location.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds another location that explains it. An empty location ([`Span::NONE`]) is left out.
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        if !span.is_none() {
            self.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// Adds a note that explains it.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds a suggestion how to correct it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(text.into());
        self
    }
}

/// How a warning is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningLevel {
    /// It is shown.
    Shown,
    /// It is dropped.
    Silent,
    /// It becomes an error.
    Error,
}

/// The diagnostics of a compilation in the order in which they were found.
///
/// Only the first [`Diagnostics::ERRORS_KEPT_MAX`] errors, and as many warnings, are kept; the others are counted. A
/// diagnostic with the same code, location and message as an earlier one is dropped.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    error_count: usize,
    warning_count: usize,
    /// The numbers of warnings that were not kept, by code.
    lost_warnings: OrderedMap<&'static str, usize>,
}

impl Diagnostics {
    /// The maximum number of errors (and of warnings) that are kept.
    pub const ERRORS_KEPT_MAX: usize = 100;

    /// No diagnostics.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a diagnostic.
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

    /// Appends all of `others`.
    pub fn append(&mut self, others: Diagnostics) {
        let lost_errors = others.error_count.saturating_sub(Self::ERRORS_KEPT_MAX);
        others.kept.into_iter().for_each(|diagnostic| self.push(diagnostic));
        self.error_count += lost_errors;
        for (code, count) in others.lost_warnings {
            self.warning_count += count;
            *self.lost_warnings.entry(code).or_default() += count;
        }
    }

    /// Moves all locations of text from macros into the macros' bodies, and adds the macros' uses to the diagnostics.
    /// Of diagnostics that are the same in several uses of a macro, or of its parameter, only the first is kept.
    pub fn move_into_macros(&mut self, sources: &SourceMap) {
        let mut seen = OrderedSet::new();
        let (errors, warnings) = (&mut self.error_count, &mut self.warning_count);
        self.kept.retain_mut(|diagnostic| {
            for label in &mut diagnostic.secondary {
                label.span = sources.written(label.span).0;
            }
            let (place, uses) = sources.written(diagnostic.primary.span);
            diagnostic.primary.span = place;
            let is_first = seen.insert((diagnostic.code, diagnostic.message.clone(), place));
            if is_first {
                add_uses(diagnostic, &uses);
            } else if diagnostic.severity == Severity::Error {
                *errors -= 1;
            } else {
                *warnings -= 1;
            }
            is_first
        });
    }

    /// Sorts the diagnostics by location.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|diagnostic| diagnostic.primary.span);
    }

    /// Sets how all warnings so far are treated, by their codes.
    pub fn apply_warning_levels(&mut self, level_of: impl Fn(&str) -> WarningLevel) {
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

    /// Whether the program is rejected.
    pub fn has_errors(&self) -> bool {
        self.error_count > 0
    }

    /// The number of errors, including those not kept.
    pub fn error_count(&self) -> usize {
        self.error_count
    }

    /// The number of warnings, including those not kept.
    pub fn warning_count(&self) -> usize {
        self.warning_count
    }

    /// The number of diagnostics that were not kept.
    pub fn lost_count(&self) -> usize {
        self.error_count + self.warning_count - self.kept.len()
    }

    /// The diagnostics that were kept, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.kept.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// Adds the uses of macros, innermost first. Of many, those in the middle are left out.
fn add_uses(diagnostic: &mut Diagnostic, uses: &[Span]) {
    let skipped = uses.len().saturating_sub(MACRO_USES_MAX);
    for (index, &span) in uses.iter().enumerate() {
        if index + 1 < MACRO_USES_MAX || index + 1 == uses.len() {
            diagnostic.secondary.push(Label { span, text: "expanded here".into() });
        }
    }
    if skipped > 0 {
        diagnostic.notes.push(format!("{skipped} more macros are expanded in between"));
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
        denied.apply_warning_levels(|code| if code == "W0001" { WarningLevel::Error } else { WarningLevel::Shown });
        assert_eq!(counts(&denied), (150, 1, 51));
        let mut allowed = all.clone();
        allowed.apply_warning_levels(|code| if code == "W0001" { WarningLevel::Silent } else { WarningLevel::Shown });
        assert_eq!(counts(&allowed), (0, 1, 1));
        all.apply_warning_levels(|_| WarningLevel::Shown);
        assert_eq!(counts(&all), (0, 151, 51));
    }
}
