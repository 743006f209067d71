//! A finished run as a line of text.

use crate::sweep::Setting;
use base::OrderedMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

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
    pub metrics: OrderedMap<String, f64>,
}

/// The form of a line.
#[derive(Deserialize)]
struct Line<'a> {
    combination: BTreeMap<String, String>,
    seed: u64,
    scenario: String,
    inputs: String,
    /// As they are written: the nearest number, which the reader of JSON does not always find.
    #[serde(borrow)]
    metrics: BTreeMap<String, &'a RawValue>,
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
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        let digest = |text: &str| u64::from_str_radix(text, 16).ok();
        let number = |value: &RawValue| value.get().parse::<f64>().ok().filter(|value| value.is_finite());
        let metrics = line.metrics.into_iter().map(|(name, value)| Some((name, number(value)?)));
        Some(RunRecord {
            combination: line.combination.into_iter().collect(),
            seed: line.seed,
            scenario: digest(&line.scenario)?,
            inputs: digest(&line.inputs)?,
            metrics: metrics.collect::<Option<_>>()?,
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
            // The last digits are what an inexact reader gets wrong.
            metrics: [("a", 0.1 + 0.2), ("b", 305_347.288), ("c", 2.642533249330457), ("n", 3.0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        };
        let line = record.line();
        assert_eq!(RunRecord::parse(&line), Some(record));
        // What an interrupted write has left is not a run.
        assert!((0..line.len()).all(|length| RunRecord::parse(&line[..length]).is_none()));
    }
}
