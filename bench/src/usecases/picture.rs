//! Draws what `usecases --json` has printed.
//!
//! What enters: lines of JSON. What leaves: SVG, with two bars for each use case, number of entries and length of
//! frames: million packets per second of the program, and by hand. A mark is the paper's figure for the use case.

use crate::recorded::{lines, middle};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 250.0;
const REACH: f64 = 400.0;
const ROW: f64 = 34.0;
const HEAD: f64 = 44.0;
const OURS: &str = "#2f6da3";
const BY_HAND: &str = "#9aa7b1";
const PAPER: &str = "#c0392b";

/// The figures of the paper, in million packets per second with 100 entries and the shortest frames: on one core in its
/// table II, and on four at the rate of the line, 10 Gbit/s.
const PAPER_MPPS: &[(&str, f64)] = &[("l2fwd", 9.42), ("l3fwd", 14.88), ("l3fwd6", 14.88)];

/// Prints the picture.
pub fn print(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut rows: Vec<(String, u64, f64, f64, f64)> = Vec::new();
    for row in lines(path)? {
        let rate = |name: &str| middle(&row[name]).map_or(0.0, |ns| 1e3 / ns);
        let (Some(name), Some(entries)) = (row["usecase"].as_str(), row["entries"].as_u64()) else {
            return Err("a line is not of `usecases --json`".into());
        };
        let bytes = row["frame_bytes"].as_f64().unwrap_or(0.0);
        rows.push((name.to_owned(), entries, bytes, rate("native_ns"), rate("by_hand_ns")));
    }
    println!("{}", picture(&rows)?);
    Ok(())
}

fn picture(rows: &[(String, u64, f64, f64, f64)]) -> Result<String, std::fmt::Error> {
    let most = rows.iter().map(|row| row.3.max(row.4)).fold(1.0, f64::max);
    let height = HEAD + ROW * rows.len() as f64 + 10.0;
    let mut out = String::new();
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\">Million packets per second, memory to memory, one worker; grey: C by hand; red: the \
         paper, on</text>\n<text x=\"10\" y=\"34\">interfaces of 10 Gbit/s (l2fwd: one core; routers: four)</text>\n"
    )?;
    for (number, (name, entries, bytes, program, by_hand)) in rows.iter().enumerate() {
        let y = HEAD + ROW * number as f64;
        let (label, end) = (format!("{name}, {entries} entries, {bytes:.0} bytes"), LEFT - 8.0);
        writeln!(out, "<text x=\"{end}\" y=\"{}\" text-anchor=\"end\">{label}</text>", y + 18.0)?;
        for (bar, (rate, colour)) in [(program, OURS), (by_hand, BY_HAND)].into_iter().enumerate() {
            let (top, width) = (y + 13.0 * bar as f64, rate / most * REACH);
            writeln!(out, "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" height=\"12\" fill=\"{colour}\"/>")?;
            writeln!(out, "<text x=\"{:.1}\" y=\"{}\">{rate:.1}</text>", LEFT + width + 6.0, top + 11.0)?;
        }
        if let Some((_, paper)) = PAPER_MPPS.iter().find(|(it, _)| it == name && *entries == 100 && *bytes < 70.0) {
            let x = LEFT + paper / most * REACH;
            writeln!(out, "<rect x=\"{x:.1}\" y=\"{}\" width=\"3\" height=\"29\" fill=\"{PAPER}\"/>", y - 2.0)?;
        }
    }
    out.push_str("</svg>");
    Ok(out)
}
