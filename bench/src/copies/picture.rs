//! Draws nanoseconds per packet by feature.
//!
//! What enters: lines that `copies --json` has printed, and those of `router`, `bridge`, `tunnels`, `balance`,
//! `zipline` and `cascade` where they are to be in the picture, too. What leaves: SVG with a bar for each.

use crate::recorded::{lines, middle};
use serde_json::Value as Json;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 300.0;
const REACH: f64 = 400.0;
const ROW: f64 = 18.0;
const HEAD: f64 = 34.0;
const COLOUR: &str = "#2f6da3";

/// A feature, and what a packet takes with it.
struct Row {
    name: String,
    packet_ns: f64,
}

/// The rows of a line.
fn rows(line: &Json) -> Vec<Row> {
    let benchmark = line["benchmark"].as_str().unwrap_or_default();
    if let (Some(name), Some(packet_ns)) = (line["operation"].as_str(), line["packet_ns"].as_f64()) {
        return vec![Row { name: format!("{name}, {} bytes", line["bytes"]), packet_ns }];
    }
    if let Some(packet_ns) = middle(&line["native_ns"]) {
        return vec![Row { name: format!("{benchmark}, {} entries", line["routes"]), packet_ns }];
    }
    let kind = line["tables"].as_str().map_or(String::new(), |tables| format!(", {tables}"));
    let named = line["packet_ns"].as_object().into_iter().flatten();
    named
        .filter_map(|(name, figures)| {
            Some(Row { name: format!("{benchmark}{kind}: {name}"), packet_ns: middle(figures)? })
        })
        .collect()
}

/// Prints the picture of the lines in a file.
pub fn print(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for line in lines(path)? {
        let of_line = rows(&line);
        if of_line.is_empty() {
            return Err(format!("a line has no nanoseconds per packet: {line}").into());
        }
        all.extend(of_line);
    }
    println!("{}", picture(&all)?);
    Ok(())
}

fn picture(rows: &[Row]) -> Result<String, std::fmt::Error> {
    let most = rows.iter().map(|row| row.packet_ns).fold(1.0, f64::max);
    let height = HEAD + ROW * rows.len() as f64 + 8.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\">Nanoseconds per packet, memory to memory, one worker</text>\n"
    );
    for (number, Row { name, packet_ns }) in rows.iter().enumerate() {
        let y = HEAD + ROW * number as f64;
        let (width, text_y) = (packet_ns / most * REACH, y + 11.0);
        writeln!(out, "<text x=\"{}\" y=\"{text_y}\" text-anchor=\"end\">{name}</text>", LEFT - 8.0)?;
        writeln!(out, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"13\" fill=\"{COLOUR}\"/>")?;
        writeln!(out, "<text x=\"{:.1}\" y=\"{text_y}\">{packet_ns:.1}</text>", LEFT + width + 6.0)?;
    }
    out.push_str("</svg>");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_benchmarks_have_rows() {
        let shown = |line: &str| {
            let rows = rows(&serde_json::from_str(line).unwrap());
            rows.iter().map(|row| format!("{} {}", row.name, row.packet_ns)).collect::<Vec<_>>().join("; ")
        };
        let copies = r#"{"benchmark":"copies","bytes":60,"operation":"recirculated","packet_ns":85.5}"#;
        assert_eq!(shown(copies), "recirculated, 60 bytes 85.5");
        let router = r#"{"benchmark":"router","routes":100,"native_ns":[6.0,5.0,9.0]}"#;
        assert_eq!(shown(router), "router, 100 entries 6");
        let tunnels = r#"{"benchmark":"tunnels","packet_ns":{"GRE on":[12.0],"VXLAN on":[13.0]}}"#;
        assert_eq!(shown(tunnels), "tunnels: GRE on 12; tunnels: VXLAN on 13");
        let cascade = r#"{"benchmark":"cascade","tables":"exact","packet_ns":{"1":[3.0]}}"#;
        assert_eq!(shown(cascade), "cascade, exact: 1 3");
        assert_eq!(shown(r#"{"benchmark":"updates"}"#), "");
    }
}
