//! The port behind which controllers are.
//!
//! What enters: the number that a user wants, or which numbers something else is behind. What leaves: the number for a
//! program. Each architecture has a number of its own in use, so the port follows the program that runs: a program of
//! the one architecture that comes after one of the other still finds its controllers.

use ir::Architecture;

/// For v1model: its 9 bits leave room for it, and 511 drops.
const V1MODEL: u32 = 510;

/// For PSA (`PSA_PORT_CPU`).
const PSA: u32 = 0xFFFF_FFFD;

/// The port behind which controllers are, for programs of each architecture; by default there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPort {
    v1model: Option<u32>,
    psa: Option<u32>,
}

impl CpuPort {
    /// This one, whatever the program is.
    pub fn fixed(port: u32) -> CpuPort {
        CpuPort { v1model: Some(port), psa: Some(port) }
    }

    /// The one that programs of each architecture expect, unless something else is behind it.
    pub fn usual(is_taken: impl Fn(u32) -> bool) -> CpuPort {
        let free = |port: u32| (!is_taken(port)).then_some(port);
        CpuPort { v1model: free(V1MODEL), psa: free(PSA) }
    }

    /// The one for a program of this architecture.
    pub fn of(self, architecture: Architecture) -> Option<u32> {
        match architecture {
            Architecture::V1Model => self.v1model,
            Architecture::Psa => self.psa,
        }
    }

    /// All that it may be.
    pub fn all(self) -> impl Iterator<Item = u32> {
        let psa = self.psa.filter(|_| self.psa != self.v1model);
        self.v1model.into_iter().chain(psa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_program_unless_it_is_fixed() {
        let numbers = |port: CpuPort| [Architecture::V1Model, Architecture::Psa].map(|it| port.of(it));
        assert_eq!(numbers(CpuPort::usual(|_| false)), [Some(510), Some(0xFFFF_FFFD)]);
        assert_eq!(numbers(CpuPort::usual(|port| port == 510)), [None, Some(0xFFFF_FFFD)]);
        assert_eq!(numbers(CpuPort::fixed(255)), [Some(255), Some(255)]);
        assert_eq!(numbers(CpuPort::default()), [None, None]);
        assert_eq!(CpuPort::usual(|_| false).all().count(), 2);
        assert_eq!(CpuPort::fixed(255).all().collect::<Vec<_>>(), [255]);
    }
}
