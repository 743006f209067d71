//! Ports and VLANs: as users write them, and as entries.
//!
//! What enters: `--ports 1,2,3` or `--vlan 10=1,2,3t`. What leaves: the commands that set them up, and the entries that
//! an earlier set-up has left behind.

use base::{OrderedMap, OrderedSet};
use controller::{Entry, Orders};

/// The VLAN of all frames where no VLANs are set up, as in the program.
pub const VLAN_ALL: u16 = 1;

/// The greatest number of a VLAN: 4095 is reserved.
const VLAN_MAX: u16 = 4094;

/// The greatest port of v1model, but for the drop port.
const PORT_MAX: u16 = 510;

/// A VLAN, as `10=1,2,3t`: its ports, with a `t` for those on which its frames have tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Its number.
    pub number: u16,
    /// Its ports, and whether its frames have tags there.
    pub ports: OrderedMap<u16, bool>,
}

/// Reads a port.
///
/// # Errors
/// What a port is.
pub fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port <= PORT_MAX);
    port.ok_or_else(|| format!("{text} is not a port: it is a number from 0 to {PORT_MAX}"))
}

impl std::str::FromStr for Vlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Vlan, String> {
        let (number, ports) =
            text.split_once('=').ok_or("it is VLAN=PORT,PORT..., as 10=1,2,3t; t is for tagged ports")?;
        let number = number.parse().ok().filter(|number| (1..=VLAN_MAX).contains(number));
        let number = number.ok_or_else(|| format!("the number of a VLAN is from 1 to {VLAN_MAX}"))?;
        let mut vlan = Vlan { number, ports: OrderedMap::new() };
        for word in ports.split(',') {
            let (text, is_tagged) = word.strip_suffix('t').map_or((word, false), |port| (port, true));
            let port = port(text)?;
            if vlan.ports.insert(port, is_tagged).is_some() {
                return Err(format!("port {port} is named twice"));
            }
        }
        Ok(vlan)
    }
}

/// How ports and VLANs belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlans(Vec<Vlan>);

impl Vlans {
    /// One network of all these ports: tags are payload.
    pub fn none(ports: &[u16]) -> Vlans {
        Vlans(vec![Vlan { number: VLAN_ALL, ports: ports.iter().map(|port| (*port, false)).collect() }])
    }

    /// These VLANs.
    ///
    /// # Errors
    /// If a number occurs twice, or if a port has no tags in two VLANs.
    pub fn new(vlans: Vec<Vlan>) -> Result<Vlans, String> {
        let mut numbers = OrderedSet::new();
        let mut untagged: OrderedMap<u16, u16> = OrderedMap::new();
        for vlan in &vlans {
            if !numbers.insert(vlan.number) {
                return Err(format!("VLAN {} is given twice", vlan.number));
            }
            for (port, _) in vlan.ports.iter().filter(|(_, is_tagged)| !**is_tagged) {
                if let Some(other) = untagged.insert(*port, vlan.number) {
                    let number = vlan.number;
                    return Err(format!(
                        "frames without a tag on port {port} would be in VLAN {other} and in VLAN {number}: write {port}t in one"
                    ));
                }
            }
        }
        Ok(Vlans(vlans))
    }

    /// Whether the program distinguishes VLANs.
    fn are_set_up(&self) -> bool {
        self.0.iter().any(|vlan| vlan.number != VLAN_ALL || vlan.ports.values().any(|is_tagged| *is_tagged))
    }

    /// The entries that it needs, by the words for their table and keys, with those for their action.
    fn entries(&self) -> OrderedMap<(&'static str, String), String> {
        let mut entries = OrderedMap::new();
        if !self.are_set_up() {
            return entries;
        }
        for Vlan { number, ports } in &self.0 {
            entries.insert(("flooding", number.to_string()), format!("flood {number}"));
            for (port, is_tagged) in ports {
                let tag = if *is_tagged { *number } else { 0 };
                entries.insert(("classify", format!("{port} {tag}")), format!("member {number}"));
                if *is_tagged {
                    entries.insert(("tagged", format!("{port} {number}")), "tag".to_owned());
                }
            }
        }
        entries
    }

    /// Sets them up in a switch that has these entries.
    pub fn set_up(&self, present: &[Entry], orders: &mut Orders) {
        for Vlan { number, ports } in &self.0 {
            let ports: Vec<String> = ports.keys().map(u16::to_string).collect();
            orders.command(format!("multicast add {number} {}", ports.join(" ")));
        }
        let desired = self.entries();
        // What an earlier set-up has left must not join networks that are apart now.
        for entry in present {
            let key = key(entry);
            if let Some((table, keys)) = key.filter(|key| !desired.contains_key(key)) {
                orders.command(format!("delete {table} {keys}"));
            }
        }
        for ((table, keys), action) in &desired {
            orders.command(format!("add {table} {keys} do {action}"));
        }
        orders.command(format!("default classify do {}", if self.are_set_up() { "refuse" } else { "transparent" }));
    }
}

/// The words for the table and the keys of an entry of VLANs.
fn key(entry: &Entry) -> Option<(&'static str, String)> {
    let value = |name: &str| entry.keys.get(name);
    match entry.table.rsplit('.').next()? {
        "flooding" => Some(("flooding", value("vlan")?.to_string())),
        "classify" => Some(("classify", format!("{} {}", value("ingress_port")?, value("tag")?))),
        "tagged" => Some(("tagged", format!("{} {}", value("egress_port")?, value("vlan")?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use controller::Fields;
    use expect_test::expect;

    fn vlans(texts: &[&str]) -> Result<Vlans, String> {
        Vlans::new(texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
    }

    #[test]
    fn a_network_of_all_ports_needs_a_group_only() {
        let mut orders = Orders::new();
        Vlans::none(&[1, 2, 3]).set_up(&[], &mut orders);
        expect![[r#"
            multicast add 1 1 2 3
            default classify do transparent
        "#]]
        .assert_eq(&orders.take_text());
    }

    #[test]
    fn vlans_are_set_up_and_what_was_before_is_removed() {
        let old = |table: &str, keys: &[(&str, u128)]| Entry {
            table: format!("SwitchIngress.{table}"),
            keys: Fields::new(keys.iter().map(|(name, value)| ((*name).to_owned(), *value))),
            ..Entry::default()
        };
        let present = [
            old("classify", &[("standard_metadata.ingress_port", 3), ("meta.tag", 30)]),
            old("classify", &[("standard_metadata.ingress_port", 1), ("meta.tag", 0)]),
            old("flooding", &[("meta.vlan", 30)]),
        ];
        let mut orders = Orders::new();
        vlans(&["10=1,3t", "20=2,3t"]).unwrap().set_up(&present, &mut orders);
        expect![[r#"
            multicast add 10 1 3
            multicast add 20 2 3
            delete classify 3 30
            delete flooding 30
            add classify 1 0 do member 10
            add classify 2 0 do member 20
            add classify 3 10 do member 10
            add classify 3 20 do member 20
            add flooding 10 do flood 10
            add flooding 20 do flood 20
            add tagged 3 10 do tag
            add tagged 3 20 do tag
            default classify do refuse
        "#]]
        .assert_eq(&orders.take_text());
    }

    #[test]
    fn wrong_vlans_are_refused() {
        let said = |texts: &[&str]| vlans(texts).unwrap_err();
        expect!["it is VLAN=PORT,PORT..., as 10=1,2,3t; t is for tagged ports"].assert_eq(&said(&["10"]));
        expect!["the number of a VLAN is from 1 to 4094"].assert_eq(&said(&["4095=1"]));
        expect!["x is not a port: it is a number from 0 to 510"].assert_eq(&said(&["1=1,x"]));
        expect!["port 1 is named twice"].assert_eq(&said(&["1=1,1t"]));
        expect!["VLAN 1 is given twice"].assert_eq(&said(&["1=1", "1=2"]));
        expect!["frames without a tag on port 3 would be in VLAN 1 and in VLAN 2: write 3t in one"]
            .assert_eq(&said(&["1=1,3", "2=3"]));
    }
}
