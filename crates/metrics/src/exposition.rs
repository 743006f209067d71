//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

/// The content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Its value only grows; its name ends with `_total`.
    Counter,
    /// Its value may rise and fall.
    Gauge,
}

/// Metrics, grouped by family.
#[derive(Clone, Debug, Default)]
pub struct Exposition {
    text: String,
    name: &'static str,
}

impl Exposition {
    /// Begins a family. Its samples follow.
    pub fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> &mut Exposition {
        let kind = if kind == Kind::Counter { "counter" } else { "gauge" };
        let _infallible = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        self.name = name;
        self
    }

    /// Adds a value to the family. The names of labels come from this crate; their values may be anything and are
    /// escaped.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Exposition {
        self.text += self.name;
        for (position, (name, value)) in labels.iter().enumerate() {
            let before = if position == 0 { '{' } else { ',' };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _infallible = write!(self.text, "{before}{name}=\"{value}\"");
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _infallible = writeln!(self.text, "{after} {value}");
        self
    }

    /// The complete text.
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn families_and_samples() {
        let mut it = Exposition::default();
        it.family("switch_drops_total", Kind::Counter, "Packets dropped.").sample(&[("reason", "ingress")], 3.0);
        it.sample(&[("reason", "a \"b\\\n"), ("port", "1")], u64::MAX as f64);
        it.family("switch_load", Kind::Gauge, "Load.").sample(&[], 0.25);
        expect![[r#"
            # HELP switch_drops_total Packets dropped.
            # TYPE switch_drops_total counter
            switch_drops_total{reason="ingress"} 3
            switch_drops_total{reason="a \"b\\\n",port="1"} 18446744073709552000
            # HELP switch_load Load.
            # TYPE switch_load gauge
            switch_load 0.25
        "#]]
        .assert_eq(&it.finish());
    }
}
