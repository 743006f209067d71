//! Flows that keep their server while it leaves.
//!
//! What enters: the program's reports of flows, entries that are idle. What leaves: entries of `flows`. There are no
//! more than the file says, whatever strangers send.

use crate::config::DrainSettings;
use controller::{Entry, Fields, Orders};
use std::collections::BTreeSet;

/// The metadata of these entries.
const METADATA: u8 = 6;

/// A flow: its service, its client, and the client's port.
type Flow = (u128, u128, u128);

/// The flows.
#[derive(Debug)]
pub struct Draining {
    settings: DrainSettings,
    flows: BTreeSet<Flow>,
    refused: u64,
}

fn flow(fields: &Fields) -> Option<Flow> {
    Some((fields.get("service")?, fields.get("client")?, fields.get("client_port")?))
}

impl Draining {
    /// None yet.
    pub fn new(settings: DrainSettings) -> Draining {
        Draining { settings, flows: BTreeSet::new(), refused: 0 }
    }

    /// The reports of flows to the controller, turned on.
    pub fn turn_on(orders: &mut Orders) {
        orders.command("digests draining_flow_t on timeout 10ms size 100 ack 1s");
    }

    /// Takes in the flows that a switch has.
    pub fn join(&mut self, entries: &[Entry]) {
        let ours = entries.iter().filter(|it| it.table.ends_with(".flows") && it.metadata == [METADATA]);
        self.flows = ours.filter_map(|it| flow(&it.keys)).collect();
    }

    /// The program reports a flow of a server that is about to leave.
    pub fn report(&mut self, fields: &Fields, orders: &mut Orders) {
        let (Some(found), Some(server)) = (flow(fields), fields.get("server")) else { return };
        if self.flows.len() >= self.settings.flows && !self.flows.contains(&found) {
            // The first one is reported.
            if self.refused == 0 {
                orders.note("there are more draining flows than may be: further ones may move to another server");
            }
            self.refused += 1;
            return;
        }
        self.flows.insert(found);
        let (service, client, port) = found;
        let idle = self.settings.idle.as_millis();
        orders.command(format!(
            "add flows {service} {client:#x} {port} do use_server {server} timeout {idle}ms metadata {METADATA:02x}"
        ));
    }

    /// No packet of a flow has come for its time.
    pub fn idle(&mut self, entry: &Entry, orders: &mut Orders) {
        if let (Some((service, client, port)), [METADATA]) = (flow(&entry.keys), &entry.metadata[..]) {
            self.flows.remove(&(service, client, port));
            orders.command(format!("delete flows {service} {client:#x} {port}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(port: u128) -> Fields {
        let names = ["service", "client", "client_port", "server"].map(str::to_owned);
        Fields::new(names.into_iter().zip([1, 0xC000_0202, port, 2]))
    }

    #[test]
    fn flows_are_entries_until_they_are_idle_and_no_more_than_may_be() {
        let mut it = Draining::new(DrainSettings { flows: 2, ..DrainSettings::default() });
        let mut orders = Orders::new();
        it.report(&fields(1000), &mut orders);
        let added = "add flows 1 0xc0000202 1000 do use_server 2 timeout 300000ms metadata 06\n";
        assert_eq!(orders.take_text(), added);
        for port in 1001..1010 {
            it.report(&fields(port), &mut orders);
        }
        assert_eq!(orders.take_text().lines().count(), 2);
        it.report(&fields(1000), &mut orders);
        assert_eq!(orders.take_text(), added);
        let entry = Entry { keys: fields(1000), metadata: vec![METADATA], ..Entry::default() };
        it.idle(&entry, &mut orders);
        assert_eq!(orders.take_text(), "delete flows 1 0xc0000202 1000\n");
        it.report(&fields(1005), &mut orders);
        assert!(orders.take_text().starts_with("add flows 1 0xc0000202 1005"));
    }
}
