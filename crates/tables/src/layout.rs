//! Where key fields and action parameters lie in 64-bit words.
//!
//! The generated C stores keys and loads action data at these places, the control plane packs entries by the same
//! rules, and the engines process only words.

use base::{Bits, MatchKind};

/// One field of a table's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// The name that users know, such as `hdr.ipv4.dstAddr`.
    pub name: String,
    /// Width in bits.
    pub width_bits: u32,
    /// How it is compared.
    pub kind: MatchKind,
}

/// The place of one key field in a row of key words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The first word (the one with the lowest limb).
    pub word: usize,
    /// The position of the field's lowest bit in that word; 0 for a field over 64 bits.
    pub shift_bits: u32,
    /// Width in bits.
    pub width_bits: u32,
}

impl Slot {
    /// The number of words that the field touches.
    pub fn words(&self) -> usize {
        self.width_bits.div_ceil(64) as usize
    }

    /// Puts `value` (of this width) into `row`, whose bits at this place must be zero.
    pub fn store(&self, row: &mut [u64], value: &Bits) {
        for (index, &limb) in value.limbs().iter().take(self.words()).enumerate() {
            row[self.word + index] |= limb << self.shift_bits;
        }
    }

    /// The field's value in `row`.
    pub fn load(&self, row: &[u64]) -> Bits {
        let mut limbs: Vec<u64> = row[self.word..self.word + self.words()].to_vec();
        if let Some(first) = limbs.first_mut() {
            *first >>= self.shift_bits;
        }
        Bits::from_limbs(self.width_bits, &limbs)
    }
}

/// The greatest width of keys for which an exact table has a slot for each value: that of VLAN ids. The slots take 64
/// KiB.
pub const NARROW_BITS_MAX: u32 = 12;

/// The packing of a key into 64-bit words.
///
/// Fields are placed in order. A field of at most 64 bits goes into the current word, above the ones already there, if
/// it fits, else it starts the next word. A wider field starts at a word boundary and takes `ceil(width / 64)` words of
/// its own, lowest limb first. Bits that belong to no field are zero in every key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    slots: Vec<Slot>,
    words: usize,
}

impl KeyLayout {
    /// The layout of these fields.
    pub fn new(fields: &[KeyField]) -> KeyLayout {
        let (mut slots, mut words, mut used_bits) = (Vec::with_capacity(fields.len()), 0, 64);
        for field in fields {
            let width_bits = field.width_bits;
            if width_bits > 64 {
                slots.push(Slot { word: words, shift_bits: 0, width_bits });
                words += width_bits.div_ceil(64) as usize;
                used_bits = 64;
            } else {
                if used_bits + width_bits > 64 {
                    words += 1;
                    used_bits = 0;
                }
                // A field of no bits touches no word; its place only has to be a valid shift.
                slots.push(Slot { word: words.saturating_sub(1), shift_bits: used_bits & 63, width_bits });
                used_bits += width_bits;
            }
        }
        KeyLayout { slots, words }
    }

    /// The place of field `index`.
    pub fn slot(&self, index: usize) -> Slot {
        self.slots[index]
    }

    /// The places of all fields, in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Words in a row.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bits from the first to the last that a field has in the first word.
    pub fn bits(&self) -> u32 {
        let ends = self.slots.iter().filter(|slot| slot.word == 0).map(|slot| slot.shift_bits + slot.width_bits);
        ends.max().unwrap_or(0)
    }

    /// Whether a key is one number of at most [`NARROW_BITS_MAX`] bits, so that a table can have a slot for each value.
    pub fn is_narrow(&self) -> bool {
        self.words == 1 && self.bits() <= NARROW_BITS_MAX
    }

    /// The row of these field values, one for each field and of its width.
    pub fn pack(&self, values: &[Bits]) -> Vec<u64> {
        assert_eq!(values.len(), self.slots.len(), "one value for each key field");
        let mut row = vec![0; self.words];
        for (slot, value) in self.slots.iter().zip(values) {
            assert_eq!(value.width(), slot.width_bits, "a key value has its field's width");
            slot.store(&mut row, value);
        }
        row
    }

    /// The field values of `row`.
    pub fn unpack(&self, row: &[u64]) -> Vec<Bits> {
        self.slots.iter().map(|slot| slot.load(row)).collect()
    }
}

/// The packing of an action's arguments into the words that follow an entry's header: each parameter takes `ceil(width
/// / 64)` whole words, lowest limb first, in order. After all of them, in words of their own, are the pre-encoded
/// parameters: end to end, in network order, each in as many bytes as it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionLayout {
    widths_bits: Vec<u32>,
    first_words: Vec<usize>,
    pre_encoded: Vec<usize>,
    pre_encoded_word: usize,
    words: usize,
}

impl ActionLayout {
    /// The layout of parameters of these widths, of which those at the positions `pre_encoded` are pre-encoded too.
    pub fn new(widths_bits: &[u32], pre_encoded: &[usize]) -> ActionLayout {
        let mut words = 0;
        let mut first_words = Vec::with_capacity(widths_bits.len());
        for width_bits in widths_bits {
            first_words.push(words);
            words += width_bits.div_ceil(64) as usize;
        }
        let pre_encoded_bytes: u32 = pre_encoded.iter().map(|&param| widths_bits[param].div_ceil(8)).sum();
        ActionLayout {
            widths_bits: widths_bits.to_vec(),
            first_words,
            pre_encoded: pre_encoded.to_vec(),
            pre_encoded_word: words,
            words: words + pre_encoded_bytes.div_ceil(8) as usize,
        }
    }

    /// The first word of parameter `index`.
    pub fn word(&self, index: usize) -> usize {
        self.first_words[index]
    }

    /// The first word of the pre-encoded parameters.
    pub fn pre_encoded_word(&self) -> usize {
        self.pre_encoded_word
    }

    /// Words of all parameters together.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The words of these arguments, one for each parameter and of its width.
    pub fn pack(&self, arguments: &[Bits]) -> Vec<u64> {
        assert_eq!(arguments.len(), self.widths_bits.len(), "one argument for each parameter");
        let mut data = Vec::with_capacity(self.words);
        for (argument, width_bits) in arguments.iter().zip(&self.widths_bits) {
            assert_eq!(argument.width(), *width_bits, "an argument has its parameter's width");
            data.extend_from_slice(argument.limbs());
        }
        let mut bytes: Vec<u8> = self.pre_encoded.iter().flat_map(|&param| arguments[param].to_be_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
        data.extend(
            bytes.chunks_exact(size_of::<u64>()).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))),
        );
        data
    }
}

/// Bits of a slot of [`crate::WordsHandle`] with the place of its entry. Above them is the entry's packed result.
pub const PLACE_BITS: u32 = 36;

/// The layout of packed results: an entry's action, a bit that there is an entry, and the action's arguments, in so few
/// bits that they fit a slot. 0 means no entry. In a table with this layout, lookups need not read entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedLayout {
    /// For each action, the word of each parameter in an entry's data, and its lowest bit in the packed result.
    params: Vec<Vec<(usize, u32)>>,
}

impl PackedLayout {
    /// The lowest bits, with the number of the action. With all of them set it is not one of the table's.
    pub const ACTION_BITS: u32 = 4;
    /// Set in packed results of entries, and not in that of a default action.
    pub const HIT_BIT: u32 = 4;
    const DATA_BIT: u32 = 5;
    const BITS: u32 = 64 - PLACE_BITS;

    /// The layout for actions with parameters of these widths, if all of them fit.
    pub fn new(widths_bits: &[Vec<u32>]) -> Option<PackedLayout> {
        let of_action = |widths: &Vec<u32>| {
            let words = ActionLayout::new(widths, &[]);
            let mut end = PackedLayout::DATA_BIT;
            let place = |(param, width): (usize, &u32)| {
                let start = end;
                end += width;
                (words.word(param), start)
            };
            let places = widths.iter().enumerate().filter(|(_, width)| **width > 0).map(place).collect();
            (end <= PackedLayout::BITS).then_some(places)
        };
        let fit = widths_bits.len() < 1 << PackedLayout::ACTION_BITS;
        let params = widths_bits.iter().map(of_action).collect::<Option<_>>().filter(|_| fit)?;
        Some(PackedLayout { params })
    }

    /// For each parameter of an action that has bits, its word in an entry's data, and its first bit in the packed
    /// result.
    pub fn params(&self, action: usize) -> &[(usize, u32)] {
        &self.params[action]
    }

    /// The packed result of an entry.
    pub(crate) fn packed_result(&self, action: u32, data: &[u64]) -> u64 {
        let params = self.params[action as usize].iter();
        let data = params.fold(0, |all, &(word, start)| all | data[word] << start);
        data | 1 << PackedLayout::HIT_BIT | u64::from(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(widths: &[u32]) -> KeyLayout {
        let field = |&width_bits| KeyField { name: "f".into(), width_bits, kind: MatchKind::Exact };
        KeyLayout::new(&widths.iter().map(field).collect::<Vec<_>>())
    }

    fn places(widths: &[u32]) -> Vec<(usize, u32)> {
        layout(widths).slots().iter().map(|slot| (slot.word, slot.shift_bits)).collect()
    }

    #[test]
    fn small_fields_share_a_word_and_never_straddle() {
        assert_eq!(places(&[32, 32, 16]), [(0, 0), (0, 32), (1, 0)]);
        assert_eq!(places(&[48, 32, 16]), [(0, 0), (1, 0), (1, 32)]);
        assert_eq!(places(&[64, 1]), [(0, 0), (1, 0)]);
    }

    #[test]
    fn wide_fields_take_whole_words() {
        assert_eq!(places(&[8, 128, 8, 65, 1]), [(0, 0), (1, 0), (3, 0), (4, 0), (6, 0)]);
        assert_eq!(layout(&[8, 128, 8, 65, 1]).words(), 7);
        assert_eq!(layout(&[]).words(), 0);
    }

    #[test]
    fn unpacking_gives_back_what_was_packed() {
        let mut rng = base::Rng::new(5);
        for widths in [&[1, 31, 32, 33, 63, 64, 65, 128, 2048][..], &[0, 64, 0, 3], &[0]] {
            let layout = layout(widths);
            let values: Vec<Bits> = widths
                .iter()
                .map(|&width| Bits::from_limbs(width, &(0..32).map(|_| rng.next_u64()).collect::<Vec<_>>()))
                .collect();
            assert_eq!(layout.unpack(&layout.pack(&values)), values);
        }
    }

    #[test]
    fn arguments_take_whole_words() {
        let layout = ActionLayout::new(&[9, 128, 48], &[]);
        assert_eq!((layout.word(0), layout.word(1), layout.word(2), layout.words()), (0, 1, 3, 4));
        let arguments = [Bits::from_u64(9, 5), Bits::from_u128(128, 7 << 64 | 6), Bits::from_u64(48, 8)];
        assert_eq!(layout.pack(&arguments), [5, 6, 7, 8]);
    }

    #[test]
    fn briefs_have_actions_of_few_bits() {
        let layout = PackedLayout::new(&[vec![9, 0, 14], vec![], vec![1]]).expect("23 bits fit");
        assert_eq!(layout.params(0), [(0, 5), (1, 14)]);
        assert_eq!(layout.packed_result(0, &[0x1ff, 0x3fff]), (1 << 28) - 16);
        assert_eq!(layout.packed_result(1, &[7, 7]), 0x11);
        assert_eq!(layout.packed_result(2, &[1]), 0x32);
        assert_eq!(PackedLayout::new(&[vec![], vec![9, 15]]), None);
        assert_eq!(PackedLayout::new(&[vec![64]]), None);
        assert!(PackedLayout::new(&vec![vec![]; 15]).is_some());
        assert_eq!(PackedLayout::new(&vec![vec![]; 16]), None);
    }

    #[test]
    fn pre_encoded_arguments_follow_all_others_in_network_order() {
        let layout = ActionLayout::new(&[9, 48, 32], &[2, 1]);
        assert_eq!((layout.pre_encoded_word(), layout.words()), (3, 5));
        let arguments = [Bits::from_u64(9, 5), Bits::from_u64(48, 0x0506_0708_090a), Bits::from_u64(32, 0x0102_0304)];
        let data = layout.pack(&arguments);
        let bytes: Vec<u8> = data[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0]);
    }
}
