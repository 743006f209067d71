//! Sequence numbers.
//!
//! What enters: 32-bit numbers as they travel. What leaves: positions, which never wrap: 0 is the SYN, 1 the first byte
//! of payload, and the FIN follows the last. All other code compares positions as plain integers.

/// A position in one direction of a connection. Negative positions belong to hostile or very old segments.
pub(crate) type Position = i64;

/// Positions from `start` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

impl Range {
    pub(crate) fn contains(self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The sequence numbers of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    /// The sequence number of the SYN.
    pub(crate) initial: u32,
}

impl Numbering {
    /// The number of a position.
    #[inline]
    pub(crate) fn number(self, position: Position) -> u32 {
        self.initial.wrapping_add(position as u32)
    }

    /// The position of a number: of all with this number the one closest to `near`.
    #[inline]
    pub(crate) fn position(self, number: u32, near: Position) -> Position {
        near + i64::from(number.wrapping_sub(self.number(near)) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_wraps() {
        let numbering = Numbering { initial: u32::MAX - 10 };
        for position in [0, 1, 10, 11, 12, 1 << 32, (1 << 40) + 5] {
            let number = numbering.number(position);
            for near in [position - (1 << 30), position, position + (1 << 30)] {
                assert_eq!(numbering.position(number, near), position);
            }
        }
        assert_eq!(numbering.position(u32::MAX - 11, 0), -1);
    }
}
