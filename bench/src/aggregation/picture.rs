//! Draws the figures of a run.
//!
//! What enters: the lines that `--json` has printed. What leaves: SVG with a row for each design, and in it two bars:
//! the cost of a small packet in both switches, and the bytes that it takes on a link, alone and aggregated.

use crate::recorded::{lines, middle};
use serde_json::Value as Json;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The positions of columns, the widths of their bars, and the height of a row.
const COST_X: f64 = 270.0;
const COST_WIDTH: f64 = 330.0;
const WIRE_X: f64 = 690.0;
const WIRE_WIDTH: f64 = 200.0;
const ROW: f64 = 18.0;
const HEAD: f64 = 46.0;
const WIDTH: f64 = 980.0;

/// The colours of the two parts of a cost, and of a packet's bytes alone and aggregated.
const TOGETHER: &str = "#2f6da3";
const APART: &str = "#9fc2e0";
const ALONE: &str = "#dddddd";
const WITH_OTHERS: &str = "#5a8a4a";

/// A design's figures.
struct Row {
    name: String,
    together_ns: f64,
    apart_ns: f64,
    alone_bytes: f64,
    bytes: f64,
}

impl Row {
    fn of(line: &Json) -> Option<Row> {
        let number = |name: &str| line[name].as_f64();
        let packets = number("packets")?;
        Some(Row {
            name: line["design"].as_str()?.to_owned(),
            together_ns: middle(&line["together_ns"])?,
            apart_ns: middle(&line["apart_ns"])?,
            alone_bytes: number("small_wire_bytes")? / packets,
            bytes: number("aggregate_wire_bytes")? / (packets - number("held")?),
        })
    }
}

/// Prints the picture of the lines in a file.
pub fn print(path: &Path) -> Result<(), Box<dyn Error>> {
    let rows: Option<Vec<Row>> = lines(path)?.iter().map(Row::of).collect();
    let rows = rows.ok_or("a line is not of `aggregation --json`")?;
    println!("{}", picture(&rows)?);
    Ok(())
}

fn picture(rows: &[Row]) -> Result<String, std::fmt::Error> {
    let most = |of: fn(&Row) -> f64| rows.iter().map(of).fold(1.0, f64::max);
    let (most_ns, most_bytes) = (most(|row| row.together_ns + row.apart_ns), most(|row| row.alone_bytes));
    let height = HEAD + ROW * rows.len() as f64 + 8.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>What a small packet costs and takes</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let heads = [
        (COST_X, TOGETHER, "put together"),
        (COST_X + 110.0, APART, "taken apart, ns on one core"),
        (WIRE_X, WITH_OTHERS, "with others"),
        (WIRE_X + 110.0, ALONE, "alone, bytes of a wire"),
    ];
    for (x, color, text) in heads {
        bar(&mut out, (x, 18.0), 12.0, color)?;
        label(&mut out, (x + 18.0, 29.0), "start", text)?;
    }
    for (number, row) in rows.iter().enumerate() {
        let y = HEAD + ROW * number as f64;
        let (together, apart) = (row.together_ns / most_ns * COST_WIDTH, row.apart_ns / most_ns * COST_WIDTH);
        label(&mut out, (COST_X - 8.0, y + 12.0), "end", &row.name)?;
        bar(&mut out, (COST_X, y), together, TOGETHER)?;
        bar(&mut out, (COST_X + together, y), apart, APART)?;
        let cost = format!("{:.0} + {:.0}", row.together_ns, row.apart_ns);
        label(&mut out, (COST_X + together + apart + 5.0, y + 12.0), "start", &cost)?;
        bar(&mut out, (WIRE_X, y), row.alone_bytes / most_bytes * WIRE_WIDTH, ALONE)?;
        bar(&mut out, (WIRE_X, y), row.bytes / most_bytes * WIRE_WIDTH, WITH_OTHERS)?;
        let bytes = format!("{:.1} of {:.0}", row.bytes, row.alone_bytes);
        label(&mut out, (WIRE_X + WIRE_WIDTH + 5.0, y + 12.0), "start", &bytes)?;
    }
    out.push_str("</svg>");
    Ok(out)
}

fn bar(out: &mut String, (x, y): (f64, f64), width: f64, color: &str) -> std::fmt::Result {
    writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"13\" fill=\"{color}\"/>")
}

fn label(out: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) -> std::fmt::Result {
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
}
