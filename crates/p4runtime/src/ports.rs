//! The ports of the switch that controllers may use.

use base::OrderedMap;
use ir::Architecture;
use switch::CpuPort;

/// Numbers and names of the ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    names: OrderedMap<u32, String>,
    /// The CPU port, which connects to the controllers.
    cpu: CpuPort,
}

impl Ports {
    /// Ports with their names, and the CPU port.
    pub fn new(ports: impl IntoIterator<Item = (u32, String)>, cpu: CpuPort) -> Ports {
        Ports { names: ports.into_iter().collect(), cpu }
    }

    /// The CPU port.
    pub fn cpu(&self) -> CpuPort {
        self.cpu
    }

    /// The numbers of all ports that a program of this architecture can name.
    pub fn numbers(&self, architecture: &Architecture) -> impl Iterator<Item = u32> {
        self.names.keys().copied().chain(self.cpu.of(architecture))
    }

    /// All ports but the CPU port, with their names.
    pub(crate) fn named(&self) -> Vec<(u32, String)> {
        self.names.iter().map(|(number, name)| (*number, name.clone())).collect()
    }

    /// Whether a port has this number.
    pub(crate) fn has(&self, number: u64) -> bool {
        u32::try_from(number).is_ok_and(|number| self.names.contains_key(&number))
    }

    /// The port with this name; `None` if several have it, as `null` may be.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        let mut ports = self.names.iter().filter(|(_, it)| *it == name).map(|(number, _)| *number);
        ports.next().filter(|_| ports.next().is_none())
    }

    /// The name of this port, if no other port has it.
    pub(crate) fn name_of(&self, number: u32) -> Option<&String> {
        self.names.get(&number).filter(|name| self.number_of(name).is_some())
    }
}
