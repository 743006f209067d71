//! The ports of the switch as controllers may speak of them.

use std::collections::BTreeMap;

/// Numbers and names of the ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    names: BTreeMap<u32, String>,
    /// The port behind which the controllers are.
    cpu: Option<u32>,
}

impl Ports {
    /// Ports with what is behind each, and the port behind which the controllers are.
    pub fn new(ports: impl IntoIterator<Item = (u32, String)>, cpu: Option<u32>) -> Ports {
        Ports { names: ports.into_iter().collect(), cpu }
    }

    /// The port behind which the controllers are.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Whether there is such a port.
    pub fn has(&self, number: u32) -> bool {
        self.names.contains_key(&number) || self.cpu == Some(number)
    }

    /// The numbers of all ports, for messages.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.names.keys().copied().chain(self.cpu)
    }

    /// All ports but the one of the controllers, with what is behind each.
    pub(crate) fn named(&self) -> Vec<(u32, String)> {
        self.names.iter().map(|(number, name)| (*number, name.clone())).collect()
    }

    /// The port with this behind it.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        self.names.iter().find(|(_, it)| *it == name).map(|(number, _)| *number)
    }
}
