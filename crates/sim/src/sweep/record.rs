//! A finished run as a line of text.

use crate::sweep::Setting;
use serde_json::{Map, Value, json};

/// A finished run with its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// What was set.
    pub combination: Vec<Setting>,
    /// The seed.
    pub seed: u64,
    /// A digest of the scenario and of what was set in all runs.
    pub scenario: u64,
    /// A digest of the other files that the run has read.
    pub inputs: u64,
    /// Names and values.
    pub metrics: Vec<(String, f64)>,
}

impl RunRecord {
    /// The line, without its end.
    pub fn line(&self) -> String {
        let settings: Map<String, Value> =
            self.combination.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let metrics: Map<String, Value> =
            self.metrics.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "combination": settings,
            "seed": self.seed,
            "scenario": format!("{:016x}", self.scenario),
            "inputs": format!("{:016x}", self.inputs),
            "metrics": metrics,
        })
        .to_string()
    }

    /// Reads a line; `None` if it is not one.
    pub fn parse(line: &str) -> Option<RunRecord> {
        let value: Value = serde_json::from_str(line).ok()?;
        let digest = |name: &str| u64::from_str_radix(value.get(name)?.as_str()?, 16).ok();
        let settings = value.get("combination")?.as_object()?.iter();
        let metrics = value.get("metrics")?.as_object()?.iter();
        Some(RunRecord {
            combination: settings
                .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect::<Option<_>>()?,
            seed: value.get("seed")?.as_u64()?,
            scenario: digest("scenario")?,
            inputs: digest("inputs")?,
            metrics: metrics.map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let record = RunRecord {
            combination: vec![("links.loss".to_owned(), "0.1".to_owned()), ("x".to_owned(), "\"a,b\"".to_owned())],
            seed: u64::MAX,
            scenario: 0xfedc_ba98_7654_3210,
            inputs: 1,
            metrics: vec![("mean_ns".to_owned(), 0.1 + 0.2), ("n".to_owned(), 3.0)],
        };
        let line = record.line();
        assert_eq!(RunRecord::parse(&line), Some(record));
        // What an interrupted write has left is not a run.
        assert!((0..line.len()).all(|length| RunRecord::parse(&line[..length]).is_none()));
    }
}
