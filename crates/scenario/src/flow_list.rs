//! Lists of flows, to be replayed.
//!
//! What enters: a table as CSV, whose first line names its columns; `start_ns`, `from`, `to` and `size_bytes` are read.
//! So the `flows.csv` of an earlier run is such a list. What leaves: the flows, or the line that is wrong.

use sim::time::Time;

/// A flow of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// From when on.
    pub start: Time,
    /// How many bytes.
    pub bytes: u64,
}

/// The columns that are read.
const COLUMNS: [&str; 4] = ["start_ns", "from", "to", "size_bytes"];

/// Reads a list; `host` finds hosts by their names. If there is a column `kind`, only flows of the kind `tcp` are
/// taken. Errors begin with the number of their line.
pub fn parse(text: &str, host: &dyn Fn(&str) -> Option<usize>) -> Result<Vec<ListedFlow>, String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("1: the list is empty: its first line names its columns")?;
    let header: Vec<&str> = header.split(',').map(str::trim).collect();
    let position = |name: &str| header.iter().position(|it| *it == name);
    let mut columns = [0; COLUMNS.len()];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        let missing = || format!("1: there is no column `{name}`; a list of flows has {}", COLUMNS.join(", "));
        *column = position(name).ok_or_else(missing)?;
    }
    let kind = position("kind");
    let mut flows = Vec::new();
    for (number, line) in lines {
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if kind.is_some_and(|column| values.get(column).is_some_and(|kind| *kind != "tcp")) {
            continue;
        }
        flows.push(
            flow(&columns.map(|column| values.get(column).copied().unwrap_or_default()), host)
                .map_err(|message| format!("{number}: {message}"))?,
        );
    }
    Ok(flows)
}

fn flow(values: &[&str; 4], host: &dyn Fn(&str) -> Option<usize>) -> Result<ListedFlow, String> {
    let [start, from, to, bytes] = *values;
    let find = |name: &str| host(name).ok_or_else(|| format!("there is no host `{name}`"));
    let (sender, receiver) = (find(from)?, find(to)?);
    if sender == receiver {
        return Err(format!("{from} sends to itself"));
    }
    let wrong_size = || format!("`{bytes}` is not a number of bytes above 0");
    Ok(ListedFlow {
        from: sender,
        to: receiver,
        start: nanoseconds(start).ok_or_else(|| format!("`{start}` is not a time in nanoseconds, as 1500.25"))?,
        bytes: bytes.parse().ok().filter(|bytes| *bytes > 0).ok_or_else(wrong_size)?,
    })
}

/// Nanoseconds with up to three decimals.
fn nanoseconds(text: &str) -> Option<Time> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > 3 || !is_digits(part) || !is_digits(whole) {
        return None;
    }
    let ps: u64 = format!("{part:0<3}").parse().ok()?;
    Some(Time::from_ps(whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(ps)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn host(name: &str) -> Option<usize> {
        name.strip_prefix('h')?.parse().ok()
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let text = "flow,kind,from,to,start_ns,size_bytes\n0,tcp,h1,h2,5.25,100\n\n1,udp,h1,h2,5,\n2,tcp,h3,h1,7,9\n";
        let flows = parse(text, &host).unwrap();
        let flow = |from, to, ps, bytes| ListedFlow { from, to, start: Time::from_ps(ps), bytes };
        assert_eq!(flows, [flow(1, 2, 5_250, 100), flow(3, 1, 7_000, 9)]);
    }

    #[test]
    fn wrong_lines_have_their_numbers() {
        let mut shown = String::new();
        let header = "start_ns,from,to,size_bytes\n";
        for text in
            ["", "from,to,size_bytes\n", "5,h1,h2,", "5,h1,x,5", "5,h1,h1,5", "5.1234,h1,h2,5", "-1,h1,h2,5", "5,h1"]
        {
            let text = if text.starts_with(['5', '-']) { format!("{header}\n{text}\n") } else { text.to_owned() };
            shown += &format!("{}\n", parse(&text, &host).unwrap_err());
        }
        expect![[r#"
            1: the list is empty: its first line names its columns
            1: there is no column `start_ns`; a list of flows has start_ns, from, to, size_bytes
            3: `` is not a number of bytes above 0
            3: there is no host `x`
            3: h1 sends to itself
            3: `5.1234` is not a time in nanoseconds, as 1500.25
            3: `-1` is not a time in nanoseconds, as 1500.25
            3: there is no host ``
        "#]]
        .assert_eq(&shown);
    }
}
