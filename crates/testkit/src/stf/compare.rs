//! What was sent against what was expected.

use super::script::Pattern;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bytes in a row of a difference.
const ROW_BYTES: usize = 16;

/// Rows of a packet that are shown at most.
const ROWS_MAX: usize = 32;

/// What a switch has sent, per port and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The packets of each port.
    pub ports: BTreeMap<u32, Vec<Vec<u8>>>,
    /// How many packets that is.
    pub count: usize,
}

impl switch::Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.count += 1;
        self.ports.entry(port).or_default().push(frame.to_vec());
    }
}

/// A packet that is expected on a port.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// Where that is written.
    pub line: u32,
    /// The port.
    pub port: u32,
    /// What it must be; any packet if none.
    pub pattern: Option<&'a Pattern>,
}

/// Something that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line that expected it.
    pub line: u32,
    /// What was expected and what was found.
    pub message: String,
}

/// What was not as expected. `in_ports` has the ports that packets came in on, each with a line: they are watched too.
/// `quiet_line` is where it is written that nothing may be sent.
pub fn faults(
    expectations: &[Expectation<'_>],
    in_ports: &BTreeMap<u32, u32>,
    quiet_line: Option<u32>,
    sent: &Sent,
) -> Vec<Fault> {
    let mut by_port: BTreeMap<u32, Vec<&Expectation<'_>>> = BTreeMap::new();
    for expectation in expectations {
        by_port.entry(expectation.port).or_default().push(expectation);
    }
    let mut faults = Vec::new();
    for (&port, expected) in &by_port {
        let frames = sent.ports.get(&port).map_or(&[][..], Vec::as_slice);
        check_port(port, expected, frames, &mut faults);
    }
    for (&port, &line) in in_ports {
        if !by_port.contains_key(&port) {
            let frames = sent.ports.get(&port).map_or(&[][..], Vec::as_slice);
            faults.extend(frames.first().map(|frame| surplus(port, line, 0, frames.len(), frame)));
        }
    }
    if let (Some(line), Some((port, frames))) = (quiet_line, sent.ports.first_key_value()) {
        let frame = frames.first().map_or(String::new(), |frame| rows(frame));
        faults.push(Fault { line, message: format!("nothing may be sent, but port {port} has sent\n{frame}") });
    }
    faults
}

fn check_port(port: u32, expected: &[&Expectation<'_>], frames: &[Vec<u8>], faults: &mut Vec<Fault>) {
    let total = expected.len();
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
        faults.extend(message.map(|message| Fault { line: expectation.line, message }));
    }
    if let (Some(frame), Some(last)) = (frames.get(total), expected.last()) {
        faults.push(surplus(port, last.line, total, frames.len(), frame));
    }
}

/// More was sent than expected.
fn surplus(port: u32, line: u32, expected: usize, sent: usize, frame: &[u8]) -> Fault {
    let packets = |count: usize| if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") };
    let expected = if expected == 0 { "none".to_owned() } else { packets(expected) };
    let message =
        format!("port {port} has sent {}, expected {expected}; the first too many is\n{}", packets(sent), rows(frame));
    Fault { line, message }
}

/// How a packet differs from what was expected; none if it does not.
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
    Some(format!("{headline}\n{}", paired_rows(&pattern.digits, &found)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Digits in rows of bytes, with the byte's number before each.
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

/// Rows with a blank between bytes.
fn row_texts(digits: &str) -> Vec<String> {
    let digits: Vec<char> = digits.chars().collect();
    let byte = |pair: &[char]| pair.iter().collect::<String>();
    let row = |row: &[char]| row.chunks(2).map(byte).collect::<Vec<_>>().join(" ");
    digits.chunks(2 * ROW_BYTES).map(row).collect()
}

/// Rows of both; those that differ twice, with marks under the digits that do.
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
