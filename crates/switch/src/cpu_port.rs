//! The port behind which controllers are.
//!
//! What enters: the number that a user has chosen, or which numbers something else is behind. What leaves: the number
//! for a program. Each architecture has a number of its own in use, so the port follows the program that runs: a
//! program of the one architecture that comes after one of the other still finds its controllers.

use ir::Architecture;
use ir::architecture::ALL;

/// The port behind which controllers are, for programs of each architecture; by default there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPort {
    /// In the order of [`ALL`].
    numbers: [Option<u32>; ALL.len()],
}

impl CpuPort {
    /// This one, whatever the program is.
    pub fn fixed(port: u32) -> CpuPort {
        CpuPort { numbers: [Some(port); ALL.len()] }
    }

    /// The one that programs of each architecture expect, unless something else is behind it.
    pub fn usual(is_taken: impl Fn(u32) -> bool) -> CpuPort {
        CpuPort { numbers: ALL.map(|it| Some(it.cpu_port).filter(|&port| !is_taken(port))) }
    }

    /// The one for a program of this architecture.
    pub fn of(self, architecture: &Architecture) -> Option<u32> {
        ALL.iter().zip(self.numbers).find(|(it, _)| **it == architecture)?.1
    }

    /// All that it may be.
    pub fn all(self) -> impl Iterator<Item = u32> {
        let mut numbers: Vec<u32> = self.numbers.into_iter().flatten().collect();
        numbers.dedup();
        numbers.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_program_unless_it_is_fixed() {
        let numbers = |port: CpuPort| ALL.map(|it| port.of(it));
        assert_eq!(numbers(CpuPort::usual(|_| false)), [Some(510), Some(0xFFFF_FFFD), Some(0xFFFF_FFFD)]);
        assert_eq!(numbers(CpuPort::usual(|port| port == 510)), [None, Some(0xFFFF_FFFD), Some(0xFFFF_FFFD)]);
        assert_eq!(numbers(CpuPort::fixed(255)), [Some(255); 3]);
        assert_eq!(numbers(CpuPort::default()), [None; 3]);
        assert_eq!(CpuPort::usual(|_| false).all().collect::<Vec<_>>(), [510, 0xFFFF_FFFD]);
        assert_eq!(CpuPort::fixed(255).all().collect::<Vec<_>>(), [255]);
    }
}
