//! What `--json` has printed to a file, for pictures.
//!
//! What enters: the file. What leaves: its lines, and the medians of lists of figures in them.

use measure::figures::median;
use serde_json::Value as Json;
use std::error::Error;
use std::path::Path;

/// The lines of a file.
pub fn lines(path: &Path) -> Result<Vec<Json>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// The median of a list of figures, if it is one and has any.
pub fn middle(figures: &Json) -> Option<f64> {
    let all: Option<Vec<f64>> = figures.as_array()?.iter().map(Json::as_f64).collect();
    all.filter(|all| !all.is_empty()).map(|all| median(&all))
}
