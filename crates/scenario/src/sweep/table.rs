//! The runs of each combination together: the mean of each metric over the seeds, and its confidence interval.

use crate::sweep::{RunRecord, Setting};
use base::{OrderedMap, OrderedSet};
use serde_json::{Map, Value, json};
use sim::statistics::Estimate;
use std::cmp::Ordering;

/// A table of results.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

/// A combination.
#[derive(Clone, Debug)]
struct Row {
    combination: Vec<Setting>,
    /// Its runs, by their seeds.
    runs: OrderedMap<u64, RunRecord>,
}

impl Table {
    /// Puts runs in order. A run may occur more than once if its results are the same.
    pub fn new(records: impl IntoIterator<Item = RunRecord>) -> Result<Table, String> {
        let mut rows: OrderedMap<Vec<Setting>, OrderedMap<u64, RunRecord>> = OrderedMap::new();
        let mut scenario = None;
        for record in records {
            if *scenario.get_or_insert(record.scenario) != record.scenario {
                return Err("the runs are of different scenarios: merge those of one only".to_owned());
            }
            let runs = rows.entry(record.combination.clone()).or_default();
            if let Some(known) = runs.get(&record.seed).filter(|known| **known != record) {
                let settings: Vec<String> =
                    known.combination.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let settings = settings.join(" ");
                return Err(format!(
                    "two runs of seed {} with the values `{settings}` have different results: they are of different \
                     programs, files, or versions of this command",
                    record.seed
                ));
            }
            runs.insert(record.seed, record);
        }
        let mut rows: Vec<Row> = rows.into_iter().map(|(combination, runs)| Row { combination, runs }).collect();
        rows.sort_by(|a, b| compare(&a.combination, &b.combination));
        Ok(Table { rows })
    }

    /// How many combinations there are.
    pub fn combinations(&self) -> usize {
        self.rows.len()
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.rows.iter().map(|row| row.runs.len()).sum()
    }

    /// All runs in the order of the table.
    pub fn records(&self) -> impl Iterator<Item = &RunRecord> {
        self.rows.iter().flat_map(|row| row.runs.values())
    }

    /// The names of what varies, and of the metrics.
    fn names(&self) -> (OrderedSet<&str>, OrderedSet<&str>) {
        let keys = self.rows.iter().flat_map(|row| &row.combination).map(|(key, _)| &**key).collect();
        let metrics = self.records().flat_map(|record| record.metrics.keys()).map(|name| &**name).collect();
        (keys, metrics)
    }

    /// As CSV: a line for each combination; each metric has two columns, its mean over the seeds and half of its
    /// 95 % confidence interval, which is empty for a single seed.
    pub fn csv(&self) -> String {
        let (keys, metrics) = self.names();
        let own = keys.iter().map(|key| quoted(key)).chain(["runs".to_owned()]);
        let header: Vec<String> =
            own.chain(metrics.iter().flat_map(|name| [quoted(name), quoted(&format!("{name}_ci95"))])).collect();
        let mut text = header.join(",") + "\n";
        for row in &self.rows {
            let setting = |key: &&str| row.combination.iter().find(|(own, _)| own == key).map(|(_, value)| &**value);
            let mut cells: Vec<String> = keys.iter().map(|key| quoted(setting(key).unwrap_or_default())).collect();
            cells.push(row.runs.len().to_string());
            for name in &metrics {
                let estimate = row.estimate(name);
                cells.push(estimate.map(|it| it.mean.to_string()).unwrap_or_default());
                let half = estimate.map(|it| it.half_width).filter(|half| half.is_finite());
                cells.push(half.map(|it| it.to_string()).unwrap_or_default());
            }
            text += &(cells.join(",") + "\n");
        }
        text
    }

    /// As JSON: a list of combinations.
    pub fn json(&self) -> Value {
        let (_, metrics) = self.names();
        let row = |row: &Row| {
            let settings: Map<String, Value> =
                row.combination.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            let estimates = metrics.iter().filter_map(|name| {
                let Estimate { mean, half_width } = row.estimate(name)?;
                let half_width = Some(half_width).filter(|half| half.is_finite());
                Some(((*name).to_owned(), json!({ "mean": mean, "ci95": half_width })))
            });
            let seeds: Vec<u64> = row.runs.keys().copied().collect();
            json!({ "combination": settings, "seeds": seeds, "metrics": estimates.collect::<Map<_, _>>() })
        };
        Value::Array(self.rows.iter().map(row).collect())
    }
}

impl Row {
    /// Over the runs that have this metric.
    fn estimate(&self, name: &str) -> Option<Estimate> {
        let values = self.runs.values().filter_map(|record| record.metrics.get(name).copied());
        Estimate::of(&values.collect::<Vec<f64>>())
    }
}

/// Combinations in the order of their values, numbers by their size.
fn compare(a: &[Setting], b: &[Setting]) -> Ordering {
    let number = |value: &str| value.parse::<f64>().ok();
    let value = |a: &str, b: &str| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => Ordering::Equal,
    };
    let settings =
        a.iter().zip(b).map(|(a, b)| a.0.cmp(&b.0).then_with(|| value(&a.1, &b.1)).then_with(|| a.1.cmp(&b.1)));
    settings.fold(Ordering::Equal, Ordering::then).then_with(|| a.len().cmp(&b.len()))
}

/// A cell of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn record(value: &str, seed: u64, metrics: &[(&str, f64)]) -> RunRecord {
        RunRecord {
            combination: vec![("loss".to_owned(), value.to_owned())],
            seed,
            scenario: 7,
            inputs: 7,
            metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        }
    }

    #[test]
    fn means_have_intervals_over_the_seeds() {
        let records = [
            record("10", 1, &[("a", 5.0), ("b", 1.5)]),
            record("9", 3, &[("a", 3.0)]),
            record("9", 1, &[("a", 1.0)]),
            record("9", 2, &[("a", 2.0)]),
            record("9", 2, &[("a", 2.0)]),
        ];
        let table = Table::new(records.clone()).unwrap();
        assert_eq!((table.combinations(), table.runs()), (2, 4));
        expect![[r#"
            loss,runs,a,a_ci95,b,b_ci95
            9,3,2,2.4843382083229595,,
            10,1,5,,1.5,
        "#]]
        .assert_eq(&table.csv());
        expect![[r#"[{"combination":{"loss":"9"},"metrics":{"a":{"ci95":2.4843382083229595,"mean":2.0}},"seeds":[1,2,3]},{"combination":{"loss":"10"},"metrics":{"a":{"ci95":null,"mean":5.0},"b":{"ci95":null,"mean":1.5}},"seeds":[1]}]"#]]
        .assert_eq(&table.json().to_string());
        let reversed: Vec<RunRecord> = records.into_iter().rev().collect();
        assert_eq!(Table::new(reversed).unwrap().csv(), table.csv());
    }

    #[test]
    fn runs_that_do_not_belong_together_are_refused() {
        let other = RunRecord { scenario: 8, ..record("9", 2, &[]) };
        let message = Table::new([record("9", 1, &[]), other]).unwrap_err();
        assert_eq!(message, "the runs are of different scenarios: merge those of one only");
        let message = Table::new([record("9", 1, &[("a", 1.0)]), record("9", 1, &[("a", 2.0)])]).unwrap_err();
        assert!(message.starts_with("two runs of seed 1 with the values `loss=9` have different results"), "{message}");
    }
}
