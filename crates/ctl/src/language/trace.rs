//! `trace`: which packets to trace as they arrive.

use super::{Arguments, hex_bytes};
use crate::plan::{Plan, Traced, TracedBytes};
use control::Problem;

/// The most bytes of a condition.
const BYTES_MAX: usize = 64;

/// Words may begin with two dashes, as options of `wirespeed ctl trace` do.
pub(super) fn trace(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let mut traced = Traced { count: 1, ..Traced::default() };
    let mut words = it.words.iter();
    let mut has_count = false;
    while let Some(word) = words.next() {
        let text = word.text.strip_prefix("--").unwrap_or(&word.text);
        let (option, given) = match text.split_once('=') {
            Some((option @ ("port" | "field" | "bytes" | "count"), value)) => (option, Some(value)),
            _ => (text, None),
        };
        let mut value = |what: &str| match given {
            Some(value) => Ok(value),
            None => words.next().map(|word| &*word.text).ok_or_else(|| it.misuse(format!("{option} needs {what}"))),
        };
        match option {
            "port" => {
                let port = values::unsigned(value("a number")?, u64::from(u32::MAX), "port")?;
                traced.ports.push(port as u32);
            }
            "bytes" => traced.bytes.push(bytes(it, value("OFFSET:HEX")?)?),
            "field" => traced.fields.push(field(it, value("NAME=VALUE")?)?),
            "count" => {
                traced.count = count(it, value("a number")?)?;
                has_count = true;
            }
            _ if word.text.contains('=') => traced.fields.push(field(it, &word.text)?),
            _ if !has_count && word.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                traced.count = count(it, &word.text)?;
                has_count = true;
            }
            _ => return Err(it.misuse(format!("{} is neither a number of packets nor a condition", word.text))),
        }
    }
    Ok(Plan::Trace(traced))
}

fn count(it: &Arguments<'_>, text: &str) -> Result<u64, Problem> {
    let count = text.parse().ok().filter(|count| (1..=1_000_000).contains(count));
    count.ok_or_else(|| it.misuse(format!("{text} is not a number of packets from 1 to 1000000")))
}

fn field(it: &Arguments<'_>, text: &str) -> Result<(String, String), Problem> {
    let (name, value) = text.split_once('=').ok_or_else(|| it.misuse(format!("{text} is not NAME=VALUE")))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn bytes(it: &Arguments<'_>, text: &str) -> Result<TracedBytes, Problem> {
    let wrong = || it.misuse(format!("{text} is not OFFSET:HEX, as in 12:0800"));
    let (offset, digits) = text.split_once(':').ok_or_else(wrong)?;
    let offset = offset.parse().map_err(|_| wrong())?;
    let value = hex_bytes(digits, "the packet")?;
    match value.len() {
        0 => Err(wrong()),
        1..=BYTES_MAX => Ok(TracedBytes { offset, value }),
        count => Err(it.misuse(format!("{count} bytes are more than {BYTES_MAX}"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::Schema;
    use crate::plan::{Plan, Traced, TracedBytes};

    fn trace(line: &str) -> Result<Traced, String> {
        match crate::parse(line, &Schema::default()) {
            Ok(Plan::Trace(traced)) => Ok(traced),
            Ok(other) => panic!("{other:?}"),
            Err(problem) => Err(problem.message),
        }
    }

    #[test]
    fn conditions_stand_as_words_or_options() {
        let expected = Traced {
            count: 3,
            ports: vec![1, 2],
            bytes: vec![TracedBytes { offset: 12, value: vec![8, 0] }],
            fields: vec![("hdr.ipv4.dst".to_owned(), "10.0.0.1".to_owned())],
        };
        for line in [
            "trace 3 port 1 port 2 bytes 12:0800 hdr.ipv4.dst=10.0.0.1",
            "trace --count 3 --port 1 --port=2 --bytes 12:0800 --field hdr.ipv4.dst=10.0.0.1",
            "trace --field=hdr.ipv4.dst=10.0.0.1 --bytes=12:0800 --count=3 --port=1 --port=2",
        ] {
            assert_eq!(trace(line), Ok(expected.clone()), "{line}");
        }
        assert_eq!(trace("trace"), Ok(Traced { count: 1, ..Traced::default() }));
    }

    #[test]
    fn invalid_conditions_are_refused() {
        let refused = |line: &str| trace(line).unwrap_err();
        assert_eq!(refused("trace --port"), "port needs a number");
        assert_eq!(refused("trace 0"), "0 is not a number of packets from 1 to 1000000");
        assert_eq!(refused("trace 3 4"), "4 is neither a number of packets nor a condition");
        assert_eq!(refused("trace bytes 0800"), "0800 is not OFFSET:HEX, as in 12:0800");
        assert_eq!(refused("trace field ttl"), "ttl is not NAME=VALUE");
        assert_eq!(refused(&format!("trace bytes 0:{}", "00".repeat(65))), "65 bytes are more than 64");
    }
}
