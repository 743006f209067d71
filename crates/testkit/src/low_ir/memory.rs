//! Memory of the interpreter: regions of bytes, and what may be in a variable.

use super::Stop;

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pointer {
    pub(super) region: usize,
    /// Bytes from the region's start.
    pub(super) at: i64,
    /// Bytes of an item that it points to.
    pub(super) item: u32,
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A number of at most 64 bits.
    Number { value: u64, is_short: bool, is_signed: bool },
    /// A place.
    Pointer(Pointer),
    /// An entry that was found, by its position.
    Entry(usize),
    /// What was never stored.
    Garbage,
}

impl Value {
    /// A number of 64 bits.
    pub(super) fn number(value: u64) -> Value {
        Value::Number { value, is_short: false, is_signed: false }
    }

    /// A number of 32 bits.
    pub(super) fn short(value: u64) -> Value {
        Value::Number { value: value & 0xffff_ffff, is_short: true, is_signed: false }
    }
}

/// All memory.
#[derive(Default)]
pub(super) struct Memory {
    regions: Vec<Vec<u8>>,
}

impl Memory {
    /// Adds a region; returns its number.
    pub(super) fn add(&mut self, bytes: Vec<u8>) -> usize {
        self.regions.push(bytes);
        self.regions.len() - 1
    }

    /// Bytes of a region.
    pub(super) fn size(&self, region: usize) -> u64 {
        self.regions.get(region).map_or(0, |bytes| bytes.len() as u64)
    }

    /// Bytes from a place on.
    pub(super) fn bytes(&self, from: Pointer, count: usize) -> Result<Vec<u8>, Stop> {
        let range = range(from, count)?;
        let bytes = self.regions.get(from.region).and_then(|bytes| bytes.get(range));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| Stop::Wrong(format!("{count} bytes are read at {from:?}")))
    }

    /// Stores bytes from a place on.
    pub(super) fn store_bytes(&mut self, to: Pointer, new: &[u8]) -> Result<(), Stop> {
        let range = range(to, new.len())?;
        let bytes = self.regions.get_mut(to.region).and_then(|bytes| bytes.get_mut(range));
        bytes
            .map(|bytes| bytes.copy_from_slice(new))
            .ok_or_else(|| Stop::Wrong(format!("{} bytes at {to:?}", new.len())))
    }

    /// The item at a place, as the machine stores it.
    pub(super) fn load(&self, from: Pointer) -> Result<u64, Stop> {
        let mut bytes = self.bytes(from, from.item as usize)?;
        bytes.resize(8, 0);
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// Stores the item at a place.
    pub(super) fn store(&mut self, to: Pointer, value: u64) -> Result<(), Stop> {
        self.store_bytes(to, &value.to_le_bytes()[..to.item as usize])
    }
}

fn range(from: Pointer, count: usize) -> Result<std::ops::Range<usize>, Stop> {
    let start = usize::try_from(from.at).map_err(|_| Stop::Wrong(format!("a place before its region: {from:?}")))?;
    Ok(start..start + count)
}
