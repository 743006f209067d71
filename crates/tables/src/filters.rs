//! Filters: the tuples that may have a match for a key, by a bit for each word of the key and each mask.
//!
//! A rule set has many masks, but few for each word of its keys: sixteen for pairs of addresses and eight for ports,
//! say, and their 128 combinations. For each word and each of its masks there is a bitmap with a bit for the hash of
//! every masked word that an entry has. A tuple can match a key only if the key's words are in the bitmaps of all its
//! masks, so that a few bit tests exclude most of many tuples.
//!
//! What enters: the masks of tuples, the values of their entries. What leaves: the remaining tuples, as a set of
//! positions in the order in which tuples are tried. A bit may remain set after its entry is removed; that costs a
//! search.

/// The least size of a filter's bitmap, and its bits for each entry.
const BITS_MIN: usize = 1 << 10;
const ENTRY_BITS: usize = 16;

/// The bits per entry below which a filter is rebuilt.
const ENTRY_BITS_MIN: usize = 4;

/// Positions that are tested together.
pub(crate) const SEGMENT: usize = 512;

/// A set of positions, 64 in each word.
pub(crate) type Positions = [u64; SEGMENT / 64];

/// The filters of all tuples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    secret: u64,
    /// For each word of a key, one for each mask.
    words: Vec<Vec<Filter>>,
}

#[derive(Clone, Debug)]
struct Filter {
    mask: u64,
    /// Tuples that have this mask; without any, the filter can be reused for another mask.
    tuples: usize,
    /// Positions of these tuples.
    positions: Vec<u64>,
    bits: Vec<u64>,
    /// The shift of a hash that leaves the number of a bit in `bits`.
    shift: u32,
    /// Values that were added since it was built.
    added: usize,
}

impl Filter {
    fn new(mask: u64, entries: usize) -> Filter {
        let bits = (entries * ENTRY_BITS).next_power_of_two().max(BITS_MIN);
        let shift = u64::BITS - bits.ilog2();
        Filter { mask, tuples: 0, positions: Vec::new(), bits: vec![0; bits / 64], shift, added: 0 }
    }

    #[inline(always)]
    fn place(&self, word: u64, secret: u64) -> usize {
        ((word & self.mask ^ secret).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline(always)]
    fn admits(&self, word: u64, secret: u64) -> bool {
        let place = self.place(word, secret);
        self.bits[place / 64] >> (place % 64) & 1 == 1
    }

    fn add(&mut self, word: u64, secret: u64) {
        let place = self.place(word, secret);
        self.bits[place / 64] |= 1 << (place % 64);
        self.added += 1;
    }

    fn is_full(&self) -> bool {
        self.added * ENTRY_BITS_MIN > self.bits.len() * 64
    }
}

impl Filters {
    pub fn new(key_words: usize, seed: u64) -> Filters {
        Filters { secret: seed.rotate_left(17), words: vec![Vec::new(); key_words] }
    }

    /// Adds a tuple of this mask. Returns the filter of each of its words.
    pub fn join(&mut self, mask: &[u64]) -> Box<[usize]> {
        let join = |(filters, &mask): (&mut Vec<Filter>, &u64)| {
            let known = filters.iter().position(|filter| filter.tuples > 0 && filter.mask == mask);
            let index = known.or_else(|| filters.iter().position(|filter| filter.tuples == 0)).unwrap_or(filters.len());
            if index == filters.len() {
                filters.push(Filter::new(mask, 0));
            } else if known.is_none() {
                filters[index] = Filter::new(mask, 0);
            }
            filters[index].tuples += 1;
            index
        };
        self.words.iter_mut().zip(mask).map(join).collect()
    }

    /// Removes a tuple.
    pub fn leave(&mut self, of_tuple: &[usize]) {
        for (filters, &index) in self.words.iter_mut().zip(of_tuple) {
            filters[index].tuples -= 1;
        }
    }

    /// Adds an entry of a tuple. Returns the words whose filters should be rebuilt.
    pub fn add(&mut self, of_tuple: &[usize], value: &[u64]) -> Vec<usize> {
        let mut full = Vec::new();
        for (word, ((filters, &index), value)) in self.words.iter_mut().zip(of_tuple).zip(value).enumerate() {
            filters[index].add(*value, self.secret);
            if filters[index].is_full() {
                full.push(word);
            }
        }
        full
    }

    /// Rebuilds a filter from the values that all its entries have in this word.
    pub fn refill(&mut self, word: usize, filter: usize, values: &[u64]) {
        let (secret, old) = (self.secret, &mut self.words[word][filter]);
        let mut new = Filter::new(old.mask, values.len());
        values.iter().for_each(|value| new.add(*value, secret));
        (new.tuples, new.positions) = (old.tuples, std::mem::take(&mut old.positions));
        *old = new;
    }

    /// Sets the order in which tuples are tried, each given by its filters.
    pub fn order<'t>(&mut self, count: usize, tuples: impl Iterator<Item = &'t [usize]>) {
        for filter in self.words.iter_mut().flatten() {
            filter.positions = vec![0; count.next_multiple_of(SEGMENT) / 64];
        }
        for (position, of_tuple) in tuples.enumerate() {
            for (filters, &index) in self.words.iter_mut().zip(of_tuple) {
                filters[index].positions[position / 64] |= 1 << (position % 64);
            }
        }
    }

    /// The tuples of a segment that may match a key; of its `len` words of positions, the others stay empty.
    #[inline(always)]
    pub fn admitted(&self, key: &[u64], segment: usize, len: usize) -> Positions {
        let mut all = [0; SEGMENT / 64];
        all[..len].fill(u64::MAX);
        for (filters, &word) in self.words.iter().zip(key) {
            let mut admitted = [0; SEGMENT / 64];
            for filter in filters.iter().filter(|filter| filter.mask == 0 || filter.admits(word, self.secret)) {
                let positions = &filter.positions[segment * (SEGMENT / 64)..][..len];
                admitted.iter_mut().zip(positions).for_each(|(all, these)| *all |= these);
            }
            all.iter_mut().zip(admitted).for_each(|(all, these)| *all &= these);
        }
        all
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let of_filter =
            |filter: &Filter| size_of::<Filter>() + (filter.bits.capacity() + filter.positions.capacity()) * 8;
        self.words.iter().flatten().map(of_filter).sum()
    }
}
