//! A run for people: plots, and a page that opens without a network.
//!
//! What enters: a run. What leaves: pictures as SVG, and one HTML file with them and the tables of the results. Both
//! follow the reader's dark or light theme.
//!
//! * [`chart`]: lines over axes as SVG. [`plots`]: which charts a run has.

pub mod chart;
pub mod plots;

use crate::build::Simulation;
use crate::results::{self, ResultFile};
use chart::{escaped, si};
use std::fmt::Write as _;

/// The most lines of a table in the page; the files have all.
const ROWS_MAX: usize = 200;

/// The tables of the page: the file, and what it is.
const TABLES: [(&str, &str); 6] = [
    ("flows.csv", "Flows"),
    ("completion.csv", "Completion times by bytes"),
    ("channels.csv", "Links, each direction"),
    ("switches.csv", "Switches"),
    ("hosts.csv", "Hosts"),
    ("faults.csv", "Faults"),
];

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;background:#fff;color:#222}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:.5rem 1.5rem}
dt{color:#667;font-size:.85rem}dd{margin:0;font-weight:600}
div.table{overflow-x:auto;max-height:26rem;overflow-y:auto;border:1px solid #ddd}
table{border-collapse:collapse;font:13px system-ui,sans-serif;white-space:nowrap}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #eee}
th{position:sticky;top:0;background:#f3f4f6}th:first-child,td:first-child{text-align:left}
pre{overflow-x:auto;background:#f3f4f6;padding:1rem}svg{width:100%;height:auto;margin:.5rem 0}
@media(prefers-color-scheme:dark){body{background:#16181d;color:#ddd}dt{color:#99a}
div.table{border-color:#3a3f4a}th,td{border-color:#2a2e36}th,pre{background:#22252c}}
";

/// The plots of a run, as files.
pub fn pictures(simulation: &Simulation) -> Vec<ResultFile> {
    let plots = plots::plots(simulation);
    let file = |plot: &plots::Plot| ResultFile { name: format!("{}.svg", plot.name), text: plot.chart.svg(plot.name) };
    plots.iter().map(file).collect()
}

/// The page of a run, of which these are the files: their pictures and tables are in it. `name` is what the run is
/// called, `scenario` the text of its scenario.
pub fn page(simulation: &Simulation, files: &[ResultFile], name: &str, scenario: &str) -> String {
    let name = escaped(name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
    );
    page += &figures(simulation);
    for picture in files.iter().filter(|file| file.name.ends_with(".svg")) {
        page += &picture.text;
    }
    if simulation.scenario.sample.is_none() {
        page += "<p>With <code>sample = \"1ms\"</code> in the scenario there are plots over time.</p>\n";
    }
    for (file, title) in TABLES {
        if let Some(file) = files.iter().find(|it| it.name == file) {
            let _ = writeln!(page, "<h2>{title}</h2>");
            page += &table(&file.text);
        }
    }
    let _ = writeln!(page, "<h2>Scenario</h2>\n<pre>{}</pre>", escaped(scenario));
    page + "</body>\n</html>\n"
}

fn figures(simulation: &Simulation) -> String {
    let summary = results::summary(simulation);
    let number = |key: &str| si(summary[key].as_f64().unwrap_or_default());
    let dropped: u64 =
        summary["dropped_by_channels"].as_object().into_iter().flatten().filter_map(|it| it.1.as_u64()).sum();
    let scenario = &simulation.scenario;
    let figures = [
        ("seed", scenario.seed.to_string()),
        ("duration", scenario.duration.to_string()),
        ("warm-up", scenario.warmup.to_string()),
        ("hosts", number("hosts")),
        ("switches", number("switches")),
        ("flows", number("flows")),
        ("packet hops", number("packet_hops")),
        ("marked", number("marked")),
        ("lost by links", si(dropped as f64)),
    ];
    let items = figures.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(value)));
    format!("<dl>\n{}</dl>\n", items.collect::<String>())
}

/// A table from lines with commas. Columns in which nothing stands are left out.
fn table(csv: &str) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = lines.collect();
    let is_used = |column: &usize| rows.iter().any(|row| row.get(*column).is_some_and(|value| !value.is_empty()));
    let columns: Vec<usize> = (0..header.len()).filter(is_used).collect();
    let row = |cells: &[&str], tag: &str| {
        let cell = |column: &usize| format!("<{tag}>{}</{tag}>", escaped(cells.get(*column).unwrap_or(&"")));
        format!("<tr>{}</tr>\n", columns.iter().map(cell).collect::<String>())
    };
    let titles: Vec<String> = header.iter().map(|name| name.replace('_', " ")).collect();
    let titles: Vec<&str> = titles.iter().map(|title| &**title).collect();
    let body: String = rows.iter().take(ROWS_MAX).map(|cells| row(cells, "td")).collect();
    let more = match rows.len().saturating_sub(ROWS_MAX) {
        0 => String::new(),
        more => format!("<p>{more} more are in the file.</p>\n"),
    };
    format!("<div class=\"table\"><table>\n{}{body}</table></div>\n{more}", row(&titles, "th"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_leave_out_empty_columns_and_mark_up_their_values() {
        let text = table("flow,a_b,empty\n0,<x>,\n1,,\n");
        assert_eq!(
            text,
            "<div class=\"table\"><table>\n<tr><th>flow</th><th>a b</th></tr>\n<tr><td>0</td><td>&lt;x&gt;</td></tr>\n\
             <tr><td>1</td><td></td></tr>\n</table></div>\n"
        );
        let long: String = (0..250).map(|it| format!("{it}\n")).collect();
        assert!(table(&format!("n\n{long}")).ends_with("<p>50 more are in the file.</p>\n"));
    }
}
