//! Reads the metrics of a switch.
//!
//! What enters: the address. What leaves: samples by name and labels, or an error.

use base::OrderedMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The timeout of the response.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The longest response that is read.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Labels of a sample, by name.
pub type Labels = OrderedMap<String, String>;

/// All samples, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(Vec<(String, Labels, f64)>);

impl Samples {
    /// Those of a name.
    pub fn of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = (&'s Labels, f64)> {
        self.0.iter().filter(move |(it, ..)| it == name).map(|(_, labels, value)| (labels, *value))
    }

    /// The one of a name and of these labels; 0 if there is none.
    pub fn value(&self, name: &str, labels: &Labels) -> f64 {
        self.of(name).find(|(it, _)| *it == labels).map_or(0.0, |(_, value)| value)
    }

    /// Parses the text format of Prometheus. Other lines are ignored.
    pub fn parse(text: &str) -> Samples {
        Samples(text.lines().filter_map(sample).collect())
    }
}

fn sample(line: &str) -> Option<(String, Labels, f64)> {
    if line.starts_with('#') {
        return None;
    }
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        while !inside.starts_with('}') {
            let (label, after) = inside.split_once("=\"")?;
            let (value, after) = quoted(after)?;
            labels.insert(label.to_owned(), value);
            inside = after.strip_prefix(',').unwrap_or(after);
        }
        rest = &inside[1..];
    }
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some((name.to_owned(), labels, value))
}

/// A value up to its closing quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[position + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

/// Requests the metrics of a switch.
pub fn fetch(address: SocketAddr) -> Result<Samples, String> {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        // In one piece: a server that answers at once may have closed the connection before the rest is sent.
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = ask().map_err(|error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => {
            format!(
                "no switch serves metrics at {address}: start it with `wirespeed run ... --metrics {}`",
                address.port()
            )
        }
        _ => format!("no answer from {address}: {error}"),
    })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    if !status.starts_with("HTTP/1.") {
        return Err(format!("{address} does not speak HTTP: this is not the address of --metrics"));
    }
    if status.split(' ').nth(1) != Some("200") {
        return Err(format!("{address} answers `{}`", body.lines().next().unwrap_or(status)));
    }
    let samples = Samples::parse(body);
    if samples.of("wirespeed_build_info").next().is_none() {
        return Err(format!("the server at {address} is not a Wirespeed switch"));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read() {
        let text = "# HELP a A.\n# TYPE a counter\na 3\nb{x=\"1\",y=\"q\\\"\\\\\\n,}\"} 2.5\nb{} 1 1234\n\nc\nd{x=1} 2\ne{x=\"1 2\n";
        let labels = Labels::from([("x".to_owned(), "1".to_owned()), ("y".to_owned(), "q\"\\\n,}".to_owned())]);
        assert_eq!(
            Samples::parse(text),
            Samples(vec![
                ("a".to_owned(), Labels::new(), 3.0),
                ("b".to_owned(), labels, 2.5),
                ("b".to_owned(), Labels::new(), 1.0)
            ])
        );
    }
}
