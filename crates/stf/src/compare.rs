//! Compares the packets that a switch sent with those that the script expects.

use crate::script::Pattern;
use base::OrderedMap;
use std::fmt::Write as _;

/// Bytes in a row of a difference.
const ROW_BYTES: usize = 16;

/// The most rows of a packet that are shown.
const ROWS_MAX: usize = 32;

/// What a switch has sent: the packets of each port in order, and for each the line of the packet that caused it.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The packets of each port.
    pub frames: &'a OrderedMap<u32, Vec<Vec<u8>>>,
    /// For each packet, the line that made the switch send it.
    pub lines: &'a OrderedMap<u32, Vec<u32>>,
}

impl Sent<'_> {
    fn frames(&self, port: u32) -> &[Vec<u8>] {
        self.frames.get(&port).map_or(&[], Vec::as_slice)
    }

    /// The line that made the switch send a packet.
    fn line(&self, port: u32, index: usize) -> Option<u32> {
        self.lines.get(&port)?.get(index).copied()
    }
}

/// A packet that is expected on a port.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// The line of the expectation.
    pub line: u32,
    /// The port.
    pub port: u32,
    /// What the packet must be; `None` accepts any packet.
    pub pattern: Option<&'a Pattern>,
}

/// A difference from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line of the expectation.
    pub line: u32,
    /// The port, and the number of the packet, counted from 1.
    pub packet: Option<(u32, usize)>,
    /// The line of the received packet that caused the packet at fault.
    pub cause_line: Option<u32>,
    /// What was expected and what was found.
    pub message: String,
}

/// All differences from what was expected. `in_ports` holds the ports on which packets were received, each with a
/// line: nothing unexpected may leave on these ports either. `quiet_line` is the line that forbids any packet.
pub fn faults(
    expectations: &[Expectation<'_>],
    in_ports: &OrderedMap<u32, u32>,
    quiet_line: Option<u32>,
    sent: Sent<'_>,
) -> Vec<Fault> {
    let mut by_port: OrderedMap<u32, Vec<&Expectation<'_>>> = OrderedMap::new();
    for expectation in expectations {
        by_port.entry(expectation.port).or_default().push(expectation);
    }
    let mut faults = Vec::new();
    for (&port, expected) in &by_port {
        check_port(port, expected, sent, &mut faults);
    }
    for (&port, &line) in in_ports {
        if !by_port.contains_key(&port) && !sent.frames(port).is_empty() {
            faults.push(surplus(port, line, 0, sent));
        }
    }
    if let (Some(line), Some((&port, frames))) = (quiet_line, sent.frames.first_key_value()) {
        let frame = frames.first().map_or(String::new(), |frame| rows(frame));
        let message = format!("nothing may be sent, but port {port} has sent\n{frame}");
        faults.push(Fault { line, packet: Some((port, 1)), cause_line: sent.line(port, 0), message });
    }
    faults
}

fn check_port(port: u32, expected: &[&Expectation<'_>], sent: Sent<'_>, faults: &mut Vec<Fault>) {
    let (total, frames) = (expected.len(), sent.frames(port));
    for (index, expectation) in expected.iter().enumerate() {
        let number = index + 1;
        let message = match (frames.get(index), expectation.pattern) {
            (None, pattern) => {
                let wanted = pattern.map_or("  any packet".to_owned(), |pattern| pattern_rows(&pattern.digits));
                let sent = frames.len();
                Some(format!("port {port}: packet {number} of {total} was not sent (there were {sent})\n{wanted}"))
            }
            (Some(frame), Some(pattern)) => {
                difference(pattern, frame).map(|text| format!("port {port}, packet {number} of {total}: {text}"))
            }
            (Some(_), None) => None,
        };
        let (line, cause_line) = (expectation.line, sent.line(port, index));
        faults.extend(message.map(|message| Fault { line, packet: Some((port, number)), cause_line, message }));
    }
    if let (true, Some(last)) = (frames.len() > total, expected.last()) {
        faults.push(surplus(port, last.line, total, sent));
    }
}

/// More packets were sent than expected.
fn surplus(port: u32, line: u32, expected: usize, sent: Sent<'_>) -> Fault {
    let packets = |count: usize| if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") };
    let wanted = if expected == 0 { "none".to_owned() } else { packets(expected) };
    let frames = sent.frames(port);
    let first = frames.get(expected).map_or(String::new(), |frame| rows(frame));
    let count = packets(frames.len());
    let message = format!("port {port} has sent {count}, expected {wanted}; the first too many is\n{first}");
    Fault { line, packet: Some((port, expected + 1)), cause_line: sent.line(port, expected), message }
}

/// How a packet differs from the expected one; `None` if it matches.
fn difference(pattern: &Pattern, frame: &[u8]) -> Option<String> {
    let found = hex(frame);
    let same = |(wanted, found): (char, char)| wanted == '*' || wanted == found;
    let first = pattern.digits.chars().zip(found.chars()).position(|pair| !same(pair));
    let (wanted_length, found_length) = (pattern.digits.len(), found.len());
    let headline = match first {
        Some(digit) => format!("differs at digit {digit} (byte {})", digit / 2),
        None if found_length < wanted_length => {
            format!("is too short: {} bytes, expected {}", frame.len(), wanted_length.div_ceil(2))
        }
        None if pattern.is_exact && found_length > wanted_length => {
            format!("is too long: {} bytes, expected {}", frame.len(), wanted_length.div_ceil(2))
        }
        None => return None,
    };
    // A prefix pattern accepts any digits beyond its end.
    let surplus = if pattern.is_exact { 0 } else { found_length.saturating_sub(wanted_length) };
    let wanted = pattern.digits.clone() + &"*".repeat(surplus);
    Some(format!("{headline}\n{}", paired_rows(&wanted, &found)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Digits in rows of bytes, each row with the offset of its first byte.
fn pattern_rows(digits: &str) -> String {
    let rows: Vec<String> = row_texts(digits)
        .into_iter()
        .enumerate()
        .map(|(index, row)| format!("  {:4}  {row}", index * ROW_BYTES))
        .collect();
    shortened(rows)
}

fn rows(frame: &[u8]) -> String {
    pattern_rows(&hex(frame))
}

fn shortened(mut rows: Vec<String>) -> String {
    if rows.is_empty() {
        return "  (empty)".to_owned();
    }
    if rows.len() > ROWS_MAX {
        let left_out = rows.len() - ROWS_MAX;
        rows.truncate(ROWS_MAX);
        rows.push(format!("  ... and {left_out} more rows"));
    }
    rows.join("\n")
}

/// Rows with a space between bytes.
fn row_texts(digits: &str) -> Vec<String> {
    let digits: Vec<char> = digits.chars().collect();
    let byte = |pair: &[char]| pair.iter().collect::<String>();
    let row = |row: &[char]| row.chunks(2).map(byte).collect::<Vec<_>>().join(" ");
    digits.chunks(2 * ROW_BYTES).map(row).collect()
}

/// The rows of both packets. A row that differs is shown twice, with marks under the digits that differ.
fn paired_rows(wanted: &str, found: &str) -> String {
    let (wanted, found) = (row_texts(wanted), row_texts(found));
    let mut rows = Vec::new();
    for index in 0..wanted.len().max(found.len()) {
        let side = |rows: &[String]| rows.get(index).cloned().unwrap_or_default();
        let (wanted, found) = (side(&wanted), side(&found));
        let marks = marks(&wanted, &found);
        let offset = index * ROW_BYTES;
        if marks.trim().is_empty() {
            rows.push(format!("  {offset:4}            {found}"));
        } else {
            rows.push(format!("  {offset:4}  expected  {wanted}"));
            rows.push(format!("        got       {found}"));
            rows.push(format!("                  {}", marks.trim_end()));
        }
    }
    shortened(rows)
}

fn marks(wanted: &str, found: &str) -> String {
    let (wanted, found): (Vec<char>, Vec<char>) = (wanted.chars().collect(), found.chars().collect());
    let mark = |index| match (wanted.get(index), found.get(index)) {
        (Some(wanted), Some(found)) if wanted == found || *wanted == '*' => ' ',
        (Some(' '), _) | (_, Some(' ')) => ' ',
        _ => '^',
    };
    (0..wanted.len().max(found.len())).map(mark).collect()
}
