//! The memory for frames: chunks that are lent to the kernel, and which of them are free.
//!
//! A chunk is identified by its offset. It is free, or in one of the rings, or in use by the kernel; the owners of
//! the rings take chunks from here and return them, and no owner uses a chunk of another. Each chunk begins with
//! headroom that the kernel does not use, so that a packet's own header can precede its bytes.
#![allow(unsafe_code, reason = "the kernel and the driver share the memory of frames")]

use super::system::Mapping;
use std::io;

/// Chunks of one size in one piece of memory.
#[derive(Debug)]
pub struct FrameMemory {
    mapping: Mapping,
    chunk_bytes: usize,
    free: Vec<u64>,
}

impl FrameMemory {
    /// Memory with this many free chunks. `chunk_bytes` is a power of two.
    pub fn new(chunks: usize, chunk_bytes: usize) -> io::Result<FrameMemory> {
        assert!(chunk_bytes.is_power_of_two(), "{chunk_bytes} bytes");
        let mapping = Mapping::anonymous(chunks * chunk_bytes)?;
        // The last first, so that the lowest chunks are taken first.
        let free = (0..chunks as u64).rev().map(|number| number * chunk_bytes as u64).collect();
        Ok(FrameMemory { mapping, chunk_bytes, free })
    }

    /// The memory itself, for the kernel.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// How many chunks are free.
    pub fn free_chunks(&self) -> usize {
        self.free.len()
    }

    /// Takes a free chunk.
    pub fn take(&mut self) -> Option<u64> {
        self.free.pop()
    }

    /// Returns the chunk that contains this offset.
    pub fn give(&mut self, place: u64) {
        self.free.push(self.chunk_of(place));
    }

    /// The chunk that contains this offset.
    pub fn chunk_of(&self, place: u64) -> u64 {
        place & !(self.chunk_bytes as u64 - 1)
    }

    /// Lends the bytes of chunks that the kernel has handed over, each once, for as long as the memory is borrowed.
    pub fn lend(&mut self) -> Lender<'_> {
        Lender { memory: self }
    }

    /// The bytes at an offset in a chunk of the caller: one that was taken, or that the kernel has handed over. None
    /// if they are not in one chunk of the memory.
    pub fn bytes_mut(&mut self, place: u64, length: usize) -> Option<&mut [u8]> {
        // SAFETY: the chunk is the caller's, so that the kernel does not write to it meanwhile, and the bytes are
        // borrowed as long as the memory is.
        self.place(place, length).map(|bytes| unsafe { &mut *bytes })
    }

    /// The address range of the bytes at an offset.
    fn place(&self, place: u64, length: usize) -> Option<*mut [u8]> {
        let start = usize::try_from(place).ok()?;
        let end = start.checked_add(length)?;
        if end > self.mapping.bytes() || (start & (self.chunk_bytes - 1)) + length > self.chunk_bytes {
            return None;
        }
        // SAFETY: within the mapping, as just checked.
        let first = unsafe { self.mapping.base().as_ptr().add(start) };
        Some(std::ptr::slice_from_raw_parts_mut(first, length))
    }
}

/// Lends the bytes of several chunks together.
#[derive(Debug)]
pub struct Lender<'a> {
    memory: &'a mut FrameMemory,
}

impl<'a> Lender<'a> {
    /// The bytes at an offset in a chunk that came out of a receive ring and was not returned yet, after what
    /// precedes them in the chunk, and the length of that. None if they are not in one chunk of the memory.
    pub fn bytes_behind_room(&mut self, place: u64, length: usize) -> Option<(&'a mut [u8], usize)> {
        let room = place - self.memory.chunk_of(place);
        let memory = self.memory.place(place - room, room as usize + length)?;
        // SAFETY: the kernel hands a chunk over once, and does not write to it until it is in the fill ring again; that
        // takes the memory, which is borrowed until then.
        Some((unsafe { &mut *memory }, room as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_taken_once_and_places_outside_are_refused() {
        let mut memory = FrameMemory::new(2, 2048).unwrap();
        assert_eq!((memory.take(), memory.take(), memory.take()), (Some(0), Some(2048), None));
        memory.give(2048 + 300);
        assert_eq!(memory.take(), Some(2048));
        assert_eq!(memory.bytes_mut(256, 1792).map(|bytes| bytes.len()), Some(1792));
        for (place, length) in [(256, 1793), (4096, 1), (u64::MAX, 1), (u64::MAX - 1, usize::MAX), (4095, 2)] {
            assert!(memory.bytes_mut(place, length).is_none(), "{length} bytes at {place}");
        }
    }
}
