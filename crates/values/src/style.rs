//! Values and matches as text that reads back as the same value.
//!
//! A value is an address if its type and width say so. Names of fields mean nothing, except that those of the types of
//! Ethernet frames and of checksums are shown in hexadecimal.

use crate::matches::SIGNS;
use crate::number::{hexadecimal, significant};
use base::{Bits, FieldMatch, MatchKind};
use core::net::{Ipv4Addr, Ipv6Addr};

/// How a number is shown. One that does not fit the form is shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Style {
    Decimal,
    Hexadecimal,
    Ipv4,
    Ipv6,
    Mac,
}

impl Style {
    /// The style of a key, parameter or header field of this name and width, for which the program may declare a
    /// format (the argument of `@format`). A number of 32 bits is not an address unless it is declared to be one.
    pub fn of(name: &str, width_bits: u32, declared: Option<&str>) -> Style {
        match (declared, width_bits) {
            (Some("IPV4_ADDRESS"), 32) => return Style::Ipv4,
            (Some("IPV6_ADDRESS"), 128) => return Style::Ipv6,
            (Some("MAC_ADDRESS"), 48) => return Style::Mac,
            (Some("HEX_STRING"), _) => return Style::Hexadecimal,
            (Some("DECIMAL"), 0..=64) => return Style::Decimal,
            _ => {}
        }
        let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let is_code = ["ethertype", "ether_type", "etype", "checksum", "csum"].iter().any(|part| last.contains(part));
        match width_bits {
            48 => Style::Mac,
            128 => Style::Ipv6,
            16 if is_code => Style::Hexadecimal,
            0..=64 => Style::Decimal,
            _ => Style::Hexadecimal,
        }
    }

    /// The style of a table's key: 32 bits that are matched by prefix are an IPv4 address, unless the program declares
    /// another format.
    pub fn of_key(name: &str, width_bits: u32, declared: Option<&str>, kind: Option<MatchKind>) -> Style {
        match (kind, width_bits, declared) {
            (Some(MatchKind::Lpm), 32, None) => Style::Ipv4,
            _ => Style::of(name, width_bits, declared),
        }
    }

    /// The style of data in a register or digest, whose 48 bits are often times.
    pub fn of_data(name: &str, width_bits: u32, declared: Option<&str>) -> Style {
        match (declared, width_bits) {
            (None, 48) => Style::Decimal,
            (None, 128) => Style::Hexadecimal,
            _ => Style::of(name, width_bits, declared),
        }
    }

    /// The number of these bytes as text.
    pub fn show_bytes(self, bytes: &[u8]) -> String {
        let shown = match self {
            Style::Hexadecimal => None,
            Style::Decimal => padded(bytes).map(|it| u64::from_be_bytes(it).to_string()),
            Style::Ipv4 => padded::<4>(bytes).map(|it| Ipv4Addr::from(it).to_string()),
            Style::Ipv6 => padded::<16>(bytes).map(|it| Ipv6Addr::from(it).to_string()),
            Style::Mac => padded::<6>(bytes).map(|it| it.map(|byte| format!("{byte:02x}")).join(":")),
        };
        shown.unwrap_or_else(|| hexadecimal(bytes))
    }

    /// The style of such numbers with a mask, and of the mask.
    pub fn masked(self) -> Style {
        if self == Style::Decimal { Style::Hexadecimal } else { self }
    }

    /// Bits as text.
    pub fn show(self, value: &Bits) -> String {
        self.show_bytes(&value.to_be_bytes())
    }

    /// What an entry requires of a key, as [`crate::entry_key`] reads it.
    pub fn show_match(self, wanted: &FieldMatch) -> String {
        wanted.text(SIGNS, |value, is_masked| if is_masked { self.masked() } else { self }.show(value))
    }
}

/// The number in exactly `N` bytes, if it fits.
fn padded<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let significant = significant(bytes);
    let mut all = [0; N];
    all[N.checked_sub(significant.len())?..].copy_from_slice(significant);
    Some(all)
}

/// The format that annotations of the program declare.
pub fn declared_format(annotations: &[String]) -> Option<&str> {
    let said = annotations.iter().find_map(|it| it.trim().strip_prefix("@format(")?.strip_suffix(')'));
    said.map(|it| it.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ValueTarget, entry_key, value};
    use base::Rng;
    use ir::Type;

    const STYLES: [Style; 5] = [Style::Decimal, Style::Hexadecimal, Style::Ipv4, Style::Ipv6, Style::Mac];
    const WIDTHS: [u32; 16] = [1, 2, 7, 8, 9, 16, 31, 32, 33, 47, 48, 64, 65, 127, 128, 513];

    #[test]
    fn names_mean_nothing_and_types_everything() {
        assert_eq!(Style::of("hdr.ipv4.dstAddr", 32, None), Style::Decimal);
        assert_eq!(Style::of("hdr.ipv4.dstAddr", 32, Some("IPV4_ADDRESS")), Style::Ipv4);
        assert_eq!(Style::of("hdr.ethernet.etherType", 16, None), Style::Hexadecimal);
        assert_eq!(Style::of("meta.wide", 100, None), Style::Hexadecimal);
        let key = |declared| Style::of_key("meta.x", 32, declared, Some(MatchKind::Lpm)).show_bytes(&[10, 0, 0, 1]);
        assert_eq!(key(None), "10.0.0.1");
        assert_eq!(key(Some("DECIMAL")), "167772161");
        let data = |width, declared| Style::of_data("ip_addr", width, declared).show_bytes(&[10, 0, 0, 1]);
        assert_eq!(data(32, None), "167772161");
        assert_eq!(data(32, Some("IPV4_ADDRESS")), "10.0.0.1");
        assert_eq!(data(48, None), "167772161");
        assert_eq!(data(48, Some("MAC_ADDRESS")), "00:00:0a:00:00:01");
        assert_eq!(data(128, None), "0xa000001");
    }

    /// A value of every length.
    fn any_bits(rng: &mut Rng, width: u32) -> Bits {
        let mut bytes = vec![0; width.div_ceil(8) as usize];
        rng.fill(&mut bytes);
        Bits::from_be_bytes(width, &bytes).shr(rng.below(u64::from(width)))
    }

    fn any_match(rng: &mut Rng, kind: MatchKind, width: u32) -> FieldMatch {
        let (one, other) = (any_bits(rng, width), any_bits(rng, width));
        match kind {
            MatchKind::Exact => FieldMatch::Exact(one),
            MatchKind::Optional => FieldMatch::Optional(rng.chance(3, 4).then_some(one)),
            MatchKind::Ternary => FieldMatch::Ternary { value: one.and(&other), mask: other },
            MatchKind::Lpm => {
                let prefix_len = rng.between(0, u64::from(width)) as u32;
                FieldMatch::Lpm { value: one.and(&Bits::leading_ones(width, prefix_len)), prefix_len }
            }
            MatchKind::Range => match one.cmp_unsigned(&other).is_le() {
                true => FieldMatch::Range { low: one, high: other },
                false => FieldMatch::Range { low: other, high: one },
            },
        }
    }

    /// The styles that a value of this width can have.
    fn styles(width: u32) -> impl Iterator<Item = Style> {
        let suits = move |style: &Style| match style {
            Style::Decimal | Style::Hexadecimal => true,
            Style::Ipv4 => width == 32,
            Style::Mac => width == 48,
            Style::Ipv6 => width == 128,
        };
        STYLES.into_iter().filter(suits)
    }

    #[test]
    fn what_is_shown_reads_back() {
        let mut rng = Rng::new(7);
        for _ in 0..500 {
            let width = *rng.pick(&WIDTHS);
            let target = ValueTarget { role: "key", name: "k", ty: Type::Bit(width) };
            let signed = ValueTarget { ty: Type::Int(width), ..target };
            let bits = any_bits(&mut rng, width);
            assert_eq!(value(&Style::Hexadecimal.show(&bits), &signed), Ok(bits.clone()));
            assert_eq!(value(&bits.to_signed_bigint().to_string(), &signed), Ok(bits.clone()));
            for style in styles(width) {
                assert_eq!(value(&style.show(&bits), &target), Ok(bits.clone()), "{style:?}");
                for kind in MatchKind::ALL {
                    let wanted = any_match(&mut rng, kind, width);
                    assert!(wanted.fits(kind, width), "{wanted:?}");
                    let text = style.show_match(&wanted);
                    assert_eq!(entry_key(&text, &target, kind).as_ref(), Ok(&wanted), "{text}");
                    assert_eq!(wanted.is_any(), FieldMatch::any(kind, width) == Some(wanted), "{text}");
                }
            }
        }
    }

    #[test]
    fn no_text_causes_a_panic() {
        let parts =
            ["0x", "0b", "-", "_", ":", "::", ".", "..", "->", "/", "&&&", "*", "f", "1", "99999999999", "ä", ""];
        let mut rng = Rng::new(8);
        for _ in 0..20_000 {
            let text: String = (0..rng.below(8)).map(|_| *rng.pick(&parts)).collect();
            let width = *rng.pick(&WIDTHS);
            let target = ValueTarget { role: "key", name: "k", ty: Type::Bit(width) };
            let kind = *rng.pick(&MatchKind::ALL);
            if let Ok(wanted) = entry_key(&text, &target, kind) {
                assert!(wanted.fits(kind, width), "{text}: {wanted:?}");
            }
        }
    }
}
