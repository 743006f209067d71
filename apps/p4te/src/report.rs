//! Reports: what the program reports to its controller about a port (`report_t` in `types.p4`).

/// A report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The port.
    pub port: u32,
    /// Whether its queue has become longer or shorter by Δ.
    pub has_queue_event: bool,
    /// Whether its meter has another colour.
    pub has_utilisation_event: bool,
    /// Packets in its queue.
    pub depth: u32,
    /// The colour of its meter: 0 green, 1 yellow, 2 red.
    pub colour: u8,
}

/// Bytes of a report.
const BYTES: usize = 9;

impl Report {
    /// The report in a packet of the program; `None` if it is none.
    pub fn parse(frame: &[u8]) -> Option<Report> {
        let bytes: &[u8; BYTES] = frame.get(..BYTES)?.try_into().ok()?;
        let [p0, p1, queue, utilisation, d0, d1, d2, d3, colour] = *bytes;
        Some(Report {
            port: u16::from_be_bytes([p0, p1]).into(),
            has_queue_event: queue != 0,
            has_utilisation_event: utilisation != 0,
            depth: u32::from_be_bytes([d0, d1, d2, d3]),
            colour: (colour <= 2).then_some(colour)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_program_has_them() {
        let report = Report::parse(&[1, 2, 1, 0, 0, 0, 1, 4, 2]);
        let expected = Report { port: 258, has_queue_event: true, has_utilisation_event: false, depth: 260, colour: 2 };
        assert_eq!(report, Some(expected));
        assert_eq!(Report::parse(&[0; 8]), None);
        assert_eq!(Report::parse(&[0, 0, 0, 0, 0, 0, 0, 0, 3]), None);
    }
}
