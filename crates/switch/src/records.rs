//! Records: the packets that a packet is made of.
//!
//! What enters: bytes. What leaves: the records that they consist of, if they consist of records. A record begins with
//! 16 bits, of which the upper four are the program's own and the lower twelve are the number of bytes that follow, at
//! least one.

use base::limits::PACKET_BYTES_MAX;

/// Bytes before those that a record's length counts.
const LENGTH_BYTES: usize = 2;

/// How many bytes the first record in `bytes` has, if it is all there.
fn first_record(bytes: &[u8]) -> Option<usize> {
    let length = u16::from_be_bytes([*bytes.first()?, *bytes.get(1)?]) & 0xfff;
    let record = LENGTH_BYTES + usize::from(length);
    (length > 0 && record <= bytes.len()).then_some(record)
}

/// Whether the bytes are this many records and nothing else.
pub(crate) fn is_records(mut bytes: &[u8], count: u16) -> bool {
    debug_assert!(bytes.len() <= PACKET_BYTES_MAX, "a packet's bytes");
    for _ in 0..count {
        let Some(record) = first_record(bytes) else { return false };
        bytes = &bytes[record..];
    }
    bytes.is_empty()
}

/// The records, as far as there are any.
pub(crate) fn records(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (record, rest) = bytes.split_at(first_record(bytes)?);
        bytes = rest;
        Some(record)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_delimited_by_their_lengths() {
        let bytes = [0x40, 1, 7, 0x60, 2, 8, 9];
        assert!(is_records(&bytes, 2));
        assert_eq!(records(&bytes).collect::<Vec<_>>(), [&bytes[..3], &bytes[3..]]);
        assert!(is_records(&[], 0));
    }

    #[test]
    fn what_lies_is_no_record() {
        let bytes = [0x40, 1, 7, 0x60, 2, 8, 9];
        assert!(!is_records(&bytes, 1) && !is_records(&bytes, 3) && !is_records(&bytes, 0));
        // Cut in a record, in a length, and behind all of them.
        assert!(!is_records(&bytes[..6], 2) && !is_records(&bytes[..4], 2) && !is_records(&bytes[..3], 2));
        // Empty records, and lengths beyond the end.
        assert!(!is_records(&[0x40, 0], 1) && !is_records(&[0x4f, 0xff, 1], 1) && !is_records(&[0, 0, 0, 0], 2));
    }
}
