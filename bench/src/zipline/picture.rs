//! Draws the figures of `zipline-sizes`, `zipline-rates`, `zipline-interfaces`, `zipline-latency` and
//! `zipline-learning`.
//!
//! What enters: the lines that `--json` has printed. What leaves: SVG. For sizes, a bar for each method, with the
//! paper's figure as a mark; for rates and latency, a bar for each operation; between interfaces, a bar for each
//! carrier; for learning, the distribution of the time until a basis was known, with marks at the paper's mean and at
//! a tenth of it.

use crate::recorded::lines;
use serde_json::Value as Json;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

const WIDTH: f64 = 720.0;
/// The left ends of bars and curves, and their greatest width.
const LEFT: f64 = 280.0;
const REACH: f64 = 360.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 30.0;
/// The height of the picture of a curve.
const HEIGHT: f64 = 300.0;
const OURS: &str = "#2f6da3";
/// The colours of curves.
const COLOURS: [&str; 3] = [OURS, "#2e8b57", "#8a5a9e"];
const PAPER: &str = "#c0392b";

fn head(out: &mut String, title: &str, height: f64) -> std::fmt::Result {
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\">{title}</text>\n"
    )
}

/// Prints the picture of sizes.
pub fn print_sizes(path: &Path) -> Result<(), Box<dyn Error>> {
    let rows = lines(path)?;
    let mut out = String::new();
    head(&mut out, "Payloads, as part of what they were; red: the paper", HEAD + ROW * rows.len() as f64 + 10.0)?;
    for (number, row) in rows.iter().enumerate() {
        let (Some(set), Some(way), Some(ratio)) = (row["set"].as_str(), row["way"].as_str(), row["ratio"].as_f64())
        else {
            return Err("a line is not of `zipline-sizes --json`".into());
        };
        let y = HEAD + ROW * number as f64;
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{set}, {way}</text>", LEFT - 8.0, y + 13.0)?;
        let width = ratio * REACH;
        writeln!(out, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"15\" fill=\"{OURS}\"/>")?;
        if let Some(paper) = row["paper"].as_f64() {
            let x = LEFT + paper * REACH;
            writeln!(out, "<rect x=\"{x:.1}\" y=\"{}\" width=\"3\" height=\"19\" fill=\"{PAPER}\"/>", y - 2.0)?;
        }
        writeln!(out, "<text x=\"{:.1}\" y=\"{}\">{ratio:.4}</text>", LEFT + width + 14.0, y + 13.0)?;
    }
    println!("{out}</svg>");
    Ok(())
}

/// Prints the picture of rates: for each size, operation and carrier (if there is one) a bar as long as its bits per
/// second.
pub fn print_rates(path: &Path) -> Result<(), Box<dyn Error>> {
    let rows = lines(path)?;
    let most = rows.iter().filter_map(|row| row["bits_per_second"].as_f64()).fold(1.0, f64::max);
    let mut out = String::new();
    let title = "Gbit/s on the wire, and million packets in a second; one core";
    head(&mut out, title, HEAD + ROW * rows.len() as f64 + 10.0)?;
    for (number, row) in rows.iter().enumerate() {
        let (bytes, operation) = (row["bytes"].as_u64(), row["operation"].as_str());
        let (bits, packets) = (row["bits_per_second"].as_f64(), row["packets_per_second"].as_f64());
        let (Some(bytes), Some(operation), Some(bits), Some(packets)) = (bytes, operation, bits, packets) else {
            return Err("a line is not of `zipline-rates --json` or `zipline-interfaces --json`".into());
        };
        let by = row["carrier"].as_str().map_or_else(String::new, |carrier| format!(", {carrier}"));
        let (y, width, text) = (HEAD + ROW * number as f64, bits / most * REACH * 0.8, LEFT - 8.0);
        writeln!(
            out,
            "<text x=\"{text}\" y=\"{}\" text-anchor=\"end\">{bytes} bytes, {operation}{by}</text>",
            y + 13.0
        )?;
        writeln!(out, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"15\" fill=\"{OURS}\"/>")?;
        let (x, gigabits, millions) = (LEFT + width + 8.0, bits / 1e9, packets / 1e6);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{}\">{gigabits:.2}; {millions:.2}</text>", y + 13.0)?;
    }
    println!("{out}</svg>");
    Ok(())
}

/// Prints the picture of round trips: for each size and operation a bar as long as the median, and a mark at the 90th
/// percentile.
pub fn print_latency(path: &Path) -> Result<(), Box<dyn Error>> {
    let rows = lines(path)?;
    let most = rows.iter().filter_map(|row| row["90_percent_us"].as_f64()).fold(1.0, f64::max);
    let mut out = String::new();
    let title = "Microseconds from a host through the switch back to it: median; black: nine of ten";
    head(&mut out, title, HEAD + ROW * rows.len() as f64 + 10.0)?;
    for (number, row) in rows.iter().enumerate() {
        let (bytes, operation) = (row["bytes"].as_u64(), row["operation"].as_str());
        let (middle, late) = (row["median_us"].as_f64(), row["90_percent_us"].as_f64());
        let (Some(bytes), Some(operation), Some(middle), Some(late)) = (bytes, operation, middle, late) else {
            return Err("a line is not of `zipline-latency --json`".into());
        };
        let on = match row["processors"].as_u64() {
            Some(1) => ", 1 processor",
            Some(2) => ", 2 processors",
            _ => "",
        };
        let (y, text) = (HEAD + ROW * number as f64, LEFT - 8.0);
        let [width, stroke] = [middle, late].map(|us| us / most * REACH * 0.8);
        writeln!(
            out,
            "<text x=\"{text}\" y=\"{}\" text-anchor=\"end\">{bytes} bytes, {operation}{on}</text>",
            y + 13.0
        )?;
        writeln!(out, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"15\" fill=\"{OURS}\"/>")?;
        writeln!(out, "<rect x=\"{:.1}\" y=\"{}\" width=\"2\" height=\"19\"/>", LEFT + stroke, y - 2.0)?;
        writeln!(out, "<text x=\"{:.1}\" y=\"{}\">{middle:.1}</text>", LEFT + stroke + 8.0, y + 13.0)?;
    }
    println!("{out}</svg>");
    Ok(())
}

/// Prints the picture of learning times: a curve for each place of the controller, over a logarithmic time axis from
/// 10 to 100,000 microseconds.
pub fn print_learning(path: &Path) -> Result<(), Box<dyn Error>> {
    let rows = lines(path)?;
    let x = |us: f64| LEFT + (us.clamp(10.0, 1e5).log10() - 1.0) / 4.0 * REACH;
    let y = |part: f64| HEIGHT - 40.0 - part * (HEIGHT - 80.0);
    let mut out = String::new();
    head(
        &mut out,
        "Bases that are known after this many microseconds; red: the paper's mean, and a tenth of it",
        HEIGHT,
    )?;
    for us in [10.0, 100.0, 1e3, 1e4, 1e5] {
        writeln!(out, "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{us}</text>", x(us), HEIGHT - 20.0)?;
    }
    for part in [0.0, 0.5, 1.0] {
        let (at, percent) = (y(part), 100.0 * part);
        writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>", LEFT - 8.0, at + 4.0)?;
        writeln!(out, "<path d=\"M{LEFT} {at:.1} h{REACH}\" stroke=\"#dddddd\"/>")?;
    }
    for us in [1770.0, 177.0] {
        writeln!(out, "<path d=\"M{:.1} {:.1} V{:.1}\" stroke=\"{PAPER}\"/>", x(us), y(0.0), y(1.0))?;
    }
    let curves = rows.iter().filter_map(|row| Some((row["controller"].as_str()?, row["learning_us"].as_array()?)));
    for ((number, colour), (name, times)) in COLOURS.iter().enumerate().zip(curves) {
        let mut times: Vec<f64> = times.iter().filter_map(Json::as_f64).collect();
        times.sort_by(f64::total_cmp);
        let count = times.len() as f64;
        let point = |(number, us): (usize, &f64)| format!("{:.1},{:.1}", x(*us), y((number + 1) as f64 / count));
        let points: Vec<String> = times.iter().enumerate().map(point).collect();
        let points = points.join(" ");
        writeln!(out, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>")?;
        let at = 60.0 + ROW * number as f64;
        writeln!(out, "<text x=\"10\" y=\"{at}\" fill=\"{colour}\">controller {name}</text>")?;
    }
    println!("{out}</svg>");
    Ok(())
}
