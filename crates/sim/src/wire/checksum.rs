//! The Internet checksum (RFC 1071): the complement of the ones' complement sum of 16-bit words.

use core::net::IpAddr;

/// A sum of words that is not folded yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes. All but the last piece must have an even length.
    pub fn with(self, bytes: &[u8]) -> Sum {
        Sum(self.0 + tcp::wire::sum_of(bytes))
    }

    /// Adds a number of 16 bits.
    pub fn with_u16(self, value: u16) -> Sum {
        Sum(self.0 + u64::from(value))
    }

    /// The checksum.
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }
}

/// The checksum of these bytes; 0 if they contain their own correct one.
pub fn of(bytes: &[u8]) -> u16 {
    Sum::default().with(bytes).finish()
}

/// The sum of the pseudo-header of a transport protocol (RFC 768, RFC 8200 section 8.1).
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: usize) -> Sum {
    let add = |sum: Sum, address| match address {
        IpAddr::V4(address) => sum.with(&address.octets()),
        IpAddr::V6(address) => sum.with(&address.octets()),
    };
    let sum = add(add(Sum::default(), source), destination);
    sum.with_u16(u16::from(protocol)).with_u16((length >> 16) as u16).with_u16(length as u16)
}

/// A checksum after one of the words that it covers has changed (RFC 1624).
pub fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    Sum(u64::from(!checksum) + u64::from(!before) + u64::from(after)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(of(&[]), 0xffff);
        // An odd byte is the first of its word.
        assert_eq!(of(&[0x12]), !0x1200);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6, 7]), of(&[1, 2, 3, 4, 5, 6, 7, 0]));
    }

    #[test]
    fn a_change_of_a_word_updates_the_checksum() {
        // The example of RFC 1624, section 4.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
        let mut bytes = *b"any words at all";
        let before = of(&bytes);
        let word = u16::from_be_bytes([bytes[4], bytes[5]]);
        bytes[4..6].copy_from_slice(&0xabcd_u16.to_be_bytes());
        assert_eq!(updated(before, word, 0xabcd), of(&bytes));
    }
}
