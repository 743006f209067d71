//! A segment, as the endpoint sees it.
//!
//! The endpoint takes and gives values of [`Segment`]; bytes are the subject of [`crate::wire`]. Ports and addresses
//! belong to whoever finds the connection of a packet.

use std::ops::BitOr;

/// The control bits of a header (RFC 9293, section 3.1; RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronises sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Resets the connection.
    pub const RST: Flags = Flags(0x04);
    /// The receiver should pass the data to the application now.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is valid. This endpoint neither sends nor uses it.
    pub const URG: Flags = Flags(0x20);
    /// ECN: the receiver of data saw a mark.
    pub const ECE: Flags = Flags(0x40);
    /// ECN: the sender of data reduced its congestion window.
    pub const CWR: Flags = Flags(0x80);

    /// The flags of this byte of a header.
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits)
    }

    /// The byte of the header.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub const fn has_any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// These flags, with others if a condition holds.
    #[must_use]
    pub(crate) fn with(self, flags: Flags, condition: bool) -> Flags {
        if condition { self | flags } else { self }
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// The two ECN bits of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ecn {
    /// Not capable of ECN.
    #[default]
    NotEct,
    /// ECT(1).
    Ect1,
    /// ECT(0), which is what this endpoint sends.
    Ect0,
    /// A router met congestion.
    Ce,
}

impl Ecn {
    /// The codepoint of the two lowest bits.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits.
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

/// The time stamps option (RFC 7323).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The receiver's clock as the sender last saw it.
    pub echo: u32,
}

/// The most SACK blocks that fit into a header.
pub const SACK_BLOCKS_MAX: usize = 4;

/// The blocks of a SACK option, in sequence numbers: the first of a block and the one behind it (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); SACK_BLOCKS_MAX],
    count: u8,
}

impl SackBlocks {
    /// Adds a block; false if there is no space.
    pub fn push(&mut self, start: u32, end: u32) -> bool {
        let Some(block) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *block = (start, end);
        self.count += 1;
        true
    }

    /// The blocks.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// The options of a header that this endpoint knows. All others are skipped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// The most bytes of payload and options that the sender of this option accepts in a segment. Only with SYN.
    pub mss: Option<u16>,
    /// The shift of the sender's windows (RFC 7323). Only with SYN.
    pub window_scale: Option<u8>,
    /// SACK may be used (RFC 2018). Only with SYN.
    pub sack_permitted: bool,
    /// Time stamps (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// What arrived out of order, and before it what arrived twice (RFC 2018, RFC 2883).
    pub sack: SackBlocks,
}

/// A segment and what the endpoint must know of its IP header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Segment {
    /// The number of the first byte of payload, or of SYN.
    pub sequence: u32,
    /// The next number that the sender expects. Valid with [`Flags::ACK`].
    pub acknowledgment: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window as it travels, before scaling.
    pub window: u16,
    /// The options.
    pub options: Options,
    /// Bytes of payload. [`crate::payload`] defines their contents, from [`Segment::stream_position`] on.
    pub payload_bytes: u32,
    /// For a segment to send: how many bytes of the stream precede its payload.
    pub stream_position: u64,
    /// The codepoint in the IP header.
    pub ecn: Ecn,
}

impl Segment {
    /// The sequence numbers that the segment occupies.
    pub(crate) fn length(&self) -> u32 {
        let flags = u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN));
        self.payload_bytes + flags
    }

    /// What a host answers to a segment that belongs to no connection (RFC 9293, section 3.10.7.1): nothing to a reset.
    pub fn reset_in_answer(&self) -> Option<Segment> {
        if self.flags.has(Flags::RST) {
            return None;
        }
        if self.flags.has(Flags::ACK) {
            return Some(Segment { sequence: self.acknowledgment, flags: Flags::RST, ..Segment::default() });
        }
        let acknowledgment = self.sequence.wrapping_add(self.length());
        Some(Segment { acknowledgment, flags: Flags::RST | Flags::ACK, ..Segment::default() })
    }
}
