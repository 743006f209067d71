//! Flows that keep their server while it leaves.
//!
//! What enters: the program's reports of flows, entries that are idle. What leaves: entries of `flows`. There are no
//! more than the file says, whatever strangers send; and the second half of them is for flows that are reported again,
//! so that a flood of new ones, of a packet each, leaves room for those that the server has.

use crate::config::DrainSettings;
use base::OrderedSet;
use controller::{Entry, Fields, Orders};
use std::time::Duration;

/// The metadata of these entries.
const METADATA: u8 = 6;

/// How many flows are remembered that were reported once, at least; at most twice as many.
const ONCE: usize = 65_536;

/// How often refused reports are shown to the user.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// A flow: its service, its client, and the client's port.
type Flow = (u128, u128, u128);

/// The flows.
#[derive(Debug)]
pub struct Draining {
    settings: DrainSettings,
    flows: OrderedSet<Flow>,
    once: Once,
    /// Refused reports that the user has not seen yet, and when some were last shown.
    refused: u64,
    last_report: Option<Duration>,
}

/// Flows that were reported and have no entry: the latest, and those before them.
#[derive(Debug, Default)]
struct Once {
    latest: OrderedSet<Flow>,
    before: OrderedSet<Flow>,
}

impl Once {
    /// Whether a flow is reported again.
    fn again(&mut self, flow: Flow) -> bool {
        let is_again = self.before.contains(&flow) || !self.latest.insert(flow);
        if self.latest.len() >= ONCE {
            self.before = std::mem::take(&mut self.latest);
        }
        is_again
    }
}

fn flow(fields: &Fields) -> Option<Flow> {
    Some((fields.get("service")?, fields.get("client")?, fields.get("client_port")?))
}

impl Draining {
    /// None yet.
    pub fn new(settings: DrainSettings) -> Draining {
        Draining { settings, flows: OrderedSet::new(), once: Once::default(), refused: 0, last_report: None }
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
    pub fn report(&mut self, now: Duration, fields: &Fields, orders: &mut Orders) {
        let (Some(found), Some(server)) = (flow(fields), fields.get("server")) else { return };
        if !self.has_room(found) {
            return self.refuse(now, orders);
        }
        self.flows.insert(found);
        let (service, client, port) = found;
        let idle = self.settings.idle.as_millis();
        orders.command(format!(
            "add flows {service} {client:#x} {port} do use_server {server} timeout {idle}ms metadata {METADATA:02x}"
        ));
    }

    fn has_room(&mut self, flow: Flow) -> bool {
        let (count, most) = (self.flows.len(), self.settings.flows);
        self.flows.contains(&flow) || count < most / 2 || (self.once.again(flow) && count < most)
    }

    fn refuse(&mut self, now: Duration, orders: &mut Orders) {
        self.refused += 1;
        if self.last_report.is_none_or(|last_report| now.saturating_sub(last_report) >= REPORT_INTERVAL) {
            let (refused, most) = (std::mem::take(&mut self.refused), self.settings.flows);
            orders.note(format!(
                "{refused} reports of draining flows are refused: there is room for {most}, half of it for flows that \
                 are reported again; the others may move to another server"
            ));
            self.last_report = Some(now);
        }
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

    fn draining(flows: usize) -> Draining {
        Draining::new(DrainSettings { flows, ..DrainSettings::default() })
    }

    /// The commands and notes for the report of a flow.
    fn report(it: &mut Draining, second: u64, port: u128) -> String {
        let mut orders = Orders::new();
        it.report(Duration::from_secs(second), &fields(port), &mut orders);
        orders.take_text()
    }

    #[test]
    fn flows_are_entries_until_they_are_idle_and_no_more_than_may_be() {
        let (mut it, mut orders) = (draining(4), Orders::new());
        let added = "add flows 1 0xc0000202 1000 do use_server 2 timeout 300000ms metadata 06\n";
        assert_eq!(report(&mut it, 0, 1000), added);
        for port in 1001..1010 {
            report(&mut it, 0, port);
            report(&mut it, 0, port);
        }
        assert_eq!(it.flows.len(), 4);
        assert_eq!(report(&mut it, 1, 1000), added);
        assert_eq!(report(&mut it, 1, 1009), "");
        let entry = Entry { keys: fields(1000), metadata: vec![METADATA], ..Entry::default() };
        it.idle(&entry, &mut orders);
        assert_eq!(orders.take_text(), "delete flows 1 0xc0000202 1000\n");
        assert!(report(&mut it, 1, 1005).starts_with("add flows 1 0xc0000202 1005"));
    }

    #[test]
    fn a_flood_of_new_flows_leaves_room_for_those_that_are_reported_again() {
        let mut it = draining(100);
        assert!(report(&mut it, 0, 0).starts_with("add"));
        let mut notes = String::new();
        for port in 1..200_000 {
            let said = report(&mut it, u64::from(port > 100_000) * 10, port);
            assert_eq!(said.starts_with("add"), port < 50, "{port}");
            notes += if port < 50 { "" } else { &said };
        }
        // One is shown at once, the others ten seconds later.
        let counts: Vec<&str> = notes.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(counts, ["1", "99951"]);
        assert!(it.once.latest.len() <= ONCE && it.once.before.len() <= ONCE);
        assert!(report(&mut it, 20, 199_000).starts_with("add"));
    }
}
