//! Parses the text of a topology.

use super::{Address, End, Host, Link, Mac, NodeId, Switch, Topology, interface_name};
use crate::located::{self, Fault, Json, Member, Node};
use base::OrderedMap;
use live::Wire;

/// The longest delay of a link.
const LATENCY_NS_MAX: f64 = 3600e9;

/// The greatest port number that an end may have.
const PORT_MAX: u32 = 65_535;

/// The most errors that are reported for one file.
const FAULTS_MAX: usize = 100;

pub(super) fn topology(text: &str) -> Result<Topology, Vec<Fault>> {
    let file = located::parse(text).map_err(|fault| vec![fault])?;
    let mut reader = Reader::default();
    reader.file(&file);
    let Reader { mut topology, mut faults } = reader;
    topology.warnings.sort_by_key(|warning| warning.line);
    if faults.is_empty() {
        return Ok(topology);
    }
    faults.sort_by_key(|fault| fault.line);
    let left_out = faults.len().saturating_sub(FAULTS_MAX);
    if left_out > 0 {
        faults.truncate(FAULTS_MAX);
        faults.push(Fault::new(faults[FAULTS_MAX - 1].line, format!("{left_out} more faults")));
    }
    Err(faults)
}

/// An end for which the file may not give a port.
#[derive(Clone, Copy)]
struct DraftEnd {
    node: NodeId,
    port: Option<u32>,
}

/// A link whose ports may not be assigned yet.
struct DraftLink {
    line: u32,
    ends: [DraftEnd; 2],
    wire: Wire,
}

#[derive(Default)]
struct Reader {
    topology: Topology,
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, line: u32, message: impl Into<String>) {
        self.faults.push(Fault::new(line, message));
    }

    fn warn(&mut self, line: u32, message: impl Into<String>) {
        self.topology.warnings.push(Fault::new(line, message));
    }

    fn file(&mut self, file: &Node) {
        if file.members().is_none() {
            return self.fault(file.line, "a topology is an object with \"hosts\", \"switches\" and \"links\"");
        }
        self.check_members(file, "the topology", &["hosts", "switches", "links", "allowed_paths"]);
        for (member, what) in [("hosts", "a host"), ("switches", "a switch")] {
            let Some(list) = file.member(member) else {
                self.fault(file.line, format!("there is no member \"{member}\""));
                continue;
            };
            for (name, line, fields) in self.named(list, what) {
                match member {
                    "hosts" => self.host(name, line, fields),
                    _ => self.switch(name, line, fields),
                }
            }
        }
        let drafts = match file.member("links").map(|links| (links.line, &links.json)) {
            Some((_, Json::List(links))) => links.iter().filter_map(|link| self.link(link)).collect(),
            Some((line, _)) => return self.fault(line, "\"links\" is a list of links, as [[\"h1\", \"s1-p1\"]]"),
            None => return self.fault(file.line, "there is no member \"links\""),
        };
        self.assign_ports(drafts);
        self.assign_addresses();
        self.check_hosts();
    }

    // ------------------------------------------------------------------------------------------------ names

    /// Named items with their fields: the members of an object, or the elements of a list of names or of objects with
    /// a name.
    fn named<'n>(&mut self, list: &'n Node, what: &str) -> Vec<(String, u32, Option<&'n Node>)> {
        let mut named = Vec::new();
        match &list.json {
            Json::Object(members) => {
                for Member { name, line, value } in members.iter().filter(|member| !is_comment(&member.name)) {
                    if value.members().is_none() && value.json != Json::Other(serde_json::Value::Null) {
                        self.fault(value.line, format!("{what} must be an object, not {}", value.describe()));
                    }
                    named.push((name.clone(), *line, Some(value)));
                }
            }
            Json::List(elements) => {
                for element in elements {
                    match (element.text(), element.member("name").and_then(Node::text)) {
                        (Some(name), _) => named.push((name.to_owned(), element.line, None)),
                        (_, Some(name)) => named.push((name.to_owned(), element.line, Some(element))),
                        _ => {
                            self.fault(element.line, format!("{what} in a list is a name or an object with a \"name\""))
                        }
                    }
                }
            }
            _ => self.fault(list.line, format!("it is an object in which {what} has its name")),
        }
        named.retain(|(name, line, _)| self.is_name(name, *line));
        named
    }

    fn is_name(&mut self, name: &str, line: u32) -> bool {
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_fit) {
            self.fault(line, format!("`{name}` cannot be a name: letters, digits, `_`, `-` and `.` can be in one"));
            return false;
        }
        true
    }

    fn is_new(&mut self, name: &str, line: u32) -> bool {
        let first = match self.topology.find(name) {
            None => return true,
            Some(NodeId::Host(index)) => self.topology.hosts[index].line,
            Some(NodeId::Switch(index)) => self.topology.switches[index].line,
        };
        self.fault(line, format!("`{name}` is already defined on line {first}"));
        false
    }

    /// Warns of unknown members, which may be misspelt.
    fn check_members(&mut self, node: &Node, what: &str, known: &[&str]) {
        let members = node.members().unwrap_or_default();
        for (position, Member { name, line, .. }) in members.iter().enumerate() {
            if members[..position].iter().any(|earlier| earlier.name == *name) {
                self.fault(*line, format!("\"{name}\" is given twice in {what}"));
            } else if !known.contains(&name.as_str()) && !is_comment(name) {
                self.warn(
                    *line,
                    format!("\"{name}\" in {what} is unknown and ignored; known are {}", known.join(", ")),
                );
            }
        }
    }

    // ------------------------------------------------------------------------------------- hosts and switches

    fn host(&mut self, name: String, line: u32, fields: Option<&Node>) {
        if !self.is_new(&name, line) {
            return;
        }
        let mut host = Host { name, line, address: None, mac: None, gateway: None, commands: Vec::new() };
        if let Some(fields) = fields {
            self.check_members(fields, &format!("host {}", host.name), &["name", "ip", "mac", "commands"]);
            host.address = self.field(fields, "ip", "an address, as \"10.0.1.1/24\"", |it| Address::parse(it.text()?));
            let mac = |it: &Node| Mac::parse(it.text()?).filter(|mac| !mac.is_group());
            host.mac = self.field(fields, "mac", "an Ethernet address of one station, as \"08:00:00:00:01:11\"", mac);
            let commands = |it: &Node| match &it.json {
                Json::List(commands) => commands.iter().map(|line| line.text().map(str::to_owned)).collect(),
                _ => it.text().map(|line| vec![line.to_owned()]),
            };
            host.commands = self.field(fields, "commands", "a list of command lines", commands).unwrap_or_default();
        }
        self.topology.hosts.push(host);
    }

    fn switch(&mut self, name: String, line: u32, fields: Option<&Node>) {
        if !self.is_new(&name, line) {
            return;
        }
        let mut switch = Switch {
            name,
            line,
            program: None,
            runtime_json: None,
            cli_input: None,
            cpu_port: None,
            priority_queues: None,
        };
        if let Some(fields) = fields {
            let known = ["name", "program", "runtime_json", "cli_input", "cpu_port", "priority_queues"];
            self.check_members(fields, &format!("switch {}", switch.name), &known);
            let path = |it: &Node| it.text().filter(|path| !path.is_empty()).map(str::to_owned);
            switch.program = self.field(fields, "program", "the path of a program", path);
            switch.runtime_json = self.field(fields, "runtime_json", "the path of a file", path);
            switch.cli_input = self.field(fields, "cli_input", "the path of a file", path);
            switch.cpu_port = self.field(fields, "cpu_port", "the number of a port", |it| whole(it)?.try_into().ok());
            let queues = |it: &Node| whole(it)?.try_into().ok().filter(|count| (1..=8).contains(count));
            switch.priority_queues = self.field(fields, "priority_queues", "a number from 1 to 8", queues);
        }
        self.topology.switches.push(switch);
    }

    /// Reads a member's value; reports an error if the member exists but its value is wrong.
    fn field<T>(&mut self, node: &Node, name: &str, wanted: &str, read: impl Fn(&Node) -> Option<T>) -> Option<T> {
        let value = node.member(name)?;
        let result = read(value);
        if result.is_none() {
            self.fault(value.line, format!("\"{name}\" is {}; it is {wanted}", value.describe()));
        }
        result
    }

    // ------------------------------------------------------------------------------------------------- links

    fn link(&mut self, link: &Node) -> Option<DraftLink> {
        let form = "a link is [END, END, LATENCY, BANDWIDTH], the last two if it has them";
        let (ends, latency, bandwidth, settings) = match &link.json {
            Json::List(parts) if (2..=4).contains(&parts.len()) => {
                let settings = parts.get(2).filter(|part| part.members().is_some());
                let latency = parts.get(2).filter(|_| settings.is_none());
                ([&parts[0], &parts[1]], latency, parts.get(3), settings)
            }
            Json::Object(_) => {
                let (first, second) = (link.member("node1"), link.member("node2"));
                match (first.or(link.member("source")), second.or(link.member("target"))) {
                    (Some(first), Some(second)) => ([first, second], None, None, Some(link)),
                    _ => return self.refuse(link.line, "a link that is an object has \"node1\" and \"node2\""),
                }
            }
            _ => return self.refuse(link.line, form),
        };
        if let Some(settings) = settings {
            let known = ["node1", "node2", "source", "target", "latency", "delay", "bandwidth", "bw"];
            self.check_members(settings, "a link", &known);
        }
        let setting = |names: [&str; 2]| names.iter().find_map(|name| settings?.member(name));
        let latency = latency.or(setting(["latency", "delay"])).filter(|it| !is_null(it));
        let bandwidth = bandwidth.or(setting(["bandwidth", "bw"])).filter(|it| !is_null(it));
        let wire = self.wire(latency, bandwidth);
        let [first, second] = ends.map(|end| self.end(end));
        Some(DraftLink { line: link.line, ends: [first?, second?], wire: wire? })
    }

    fn refuse<T>(&mut self, line: u32, message: impl Into<String>) -> Option<T> {
        self.fault(line, message);
        None
    }

    fn wire(&mut self, latency: Option<&Node>, bandwidth: Option<&Node>) -> Option<Wire> {
        let latency_ns = match latency.map(|it| (it, latency_ns(it))) {
            None => 0,
            Some((_, Some(latency_ns))) => latency_ns,
            Some((it, None)) => {
                let message =
                    format!("{} is not a valid latency: it is a number of milliseconds, or as \"5ms\"", it.describe());
                return self.refuse(it.line, message);
            }
        };
        let bits_per_s = match bandwidth.map(|it| (it, bits_per_s(it))) {
            None => None,
            Some((_, Some(bits_per_s))) => Some(bits_per_s),
            Some((it, None)) => {
                let message = format!(
                    "{} is not a valid bandwidth: it is a number of megabits per second, above 0",
                    it.describe()
                );
                return self.refuse(it.line, message);
            }
        };
        Some(Wire { latency_ns, bits_per_s })
    }

    /// Parses an end such as `h1`, `s1-p3` or `s1`.
    fn end(&mut self, end: &Node) -> Option<DraftEnd> {
        let Some(text) = end.text() else {
            return self.refuse(end.line, format!("the end of a link is a name, as \"s1-p1\", not {}", end.describe()));
        };
        if let Some(node) = self.topology.find(text) {
            return Some(DraftEnd { node, port: None });
        }
        let (name, port) = text.rsplit_once('-').unwrap_or((text, ""));
        let Some(node) = self.topology.find(name) else {
            let known: Vec<&str> = self.topology.nodes().map(|node| self.topology.name(node)).collect();
            let message = format!("there is no host or switch `{name}`; there are {}", shortened(&known));
            return self.refuse(end.line, message);
        };
        let digits = port.strip_prefix("eth").or(port.strip_prefix('p')).unwrap_or(port);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse().ok().filter(|port| is_number && *port <= PORT_MAX) {
            Some(port) => Some(DraftEnd { node, port: Some(port) }),
            None => self.refuse(end.line, format!("`{text}`: the port of {name} is p0 to p{PORT_MAX}, not `{port}`")),
        }
    }

    // ------------------------------------------------------------------------------------------------- ports

    /// Assigns a port to each end that has none, and refuses ports that are used twice.
    fn assign_ports(&mut self, mut drafts: Vec<DraftLink>) {
        let mut taken: OrderedMap<(NodeId, u32), u32> = OrderedMap::new();
        for draft in &drafts {
            for (node, port) in draft.ends.iter().filter_map(|end| Some((end.node, end.port?))) {
                if let Some(first) = taken.insert((node, port), draft.line) {
                    let name = self.topology.name(node);
                    let message = format!("port {port} of {name} has a link already, that of line {first}");
                    self.fault(draft.line, message);
                }
            }
        }
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|&index| self.numbering_key(&drafts[index]));
        for index in order {
            for side in 0..2 {
                let DraftEnd { node, port: None } = drafts[index].ends[side] else { continue };
                let first = match node {
                    NodeId::Host(_) => 0,
                    NodeId::Switch(_) => 1,
                };
                let port = (first..).find(|&port| !taken.contains_key(&(node, port))).unwrap_or(PORT_MAX);
                taken.insert((node, port), drafts[index].line);
                drafts[index].ends[side].port = Some(port);
            }
        }
        for DraftLink { line, ends, wire } in drafts {
            let ends = ends.map(|DraftEnd { node, port }| {
                let port = port.unwrap_or_default();
                End { node, port, interface: interface_name(node, self.topology.name(node), port) }
            });
            self.topology.links.push(Link { line, ends, wire });
        }
    }

    /// The order in which ports are numbered: links of hosts first, then links between switches, both by name. Links
    /// whose ports are given, and links of hosts with several interfaces, keep the order of the file.
    fn numbering_key(&self, draft: &DraftLink) -> (bool, String) {
        let is_open = |end: &DraftEnd| matches!(end, DraftEnd { node: NodeId::Switch(_), port: None });
        if !draft.ends.iter().any(is_open) {
            return (false, String::new());
        }
        let has_host = draft.ends.iter().any(|end| matches!(end.node, NodeId::Host(_)));
        let mut names = draft.ends.map(|end| self.topology.name(end.node).to_owned());
        names.sort();
        (!has_host, names.concat())
    }

    // ----------------------------------------------------------------------------------------------- addresses

    /// Assigns an address to each host that has none, if it is connected to a switch.
    fn assign_addresses(&mut self) {
        for index in 0..self.topology.hosts.len() {
            let host = &self.topology.hosts[index];
            if host.address.is_some() {
                continue;
            }
            let Some(switch) = self.switch_of(NodeId::Host(index)) else { continue };
            let number = |name: &str, position: usize| {
                let digits = name.rfind(|c: char| !c.is_ascii_digit()).map_or(name, |end| &name[end + 1..]);
                digits.parse::<u8>().unwrap_or((position + 1).min(250) as u8)
            };
            let switch = number(&self.topology.switches[switch].name, switch);
            let own = number(&host.name, index);
            let host = &mut self.topology.hosts[index];
            host.address = Some(Address::numbered(switch, own));
            host.mac = host.mac.or(Some(Mac::numbered(switch, own)));
            host.gateway = Some(Address::numbered(switch, 254));
        }
    }

    /// The switch at the other end of a host's first link.
    fn switch_of(&self, host: NodeId) -> Option<usize> {
        self.topology.links.iter().find_map(|link| match link.ends.each_ref().map(|end| end.node) {
            [node, NodeId::Switch(switch)] | [NodeId::Switch(switch), node] if node == host => Some(switch),
            _ => None,
        })
    }

    fn check_hosts(&mut self) {
        let mut addresses: OrderedMap<String, (String, u32)> = OrderedMap::new();
        let mut odd = Vec::new();
        for (index, host) in self.topology.hosts.iter().enumerate() {
            if self.topology.ends_at(NodeId::Host(index)).is_empty() {
                odd.push(Fault::new(host.line, format!("host {} has no link", host.name)));
            }
            let own = [host.address.map(|it| it.ip.to_string()), host.mac.map(|it| it.to_string())];
            for address in own.into_iter().flatten() {
                if let Some((first, line)) = addresses.get(&address) {
                    let message = format!("{} has {address}, which {first} of line {line} has, too", host.name);
                    odd.push(Fault::new(host.line, message));
                } else {
                    addresses.insert(address, (host.name.clone(), host.line));
                }
            }
        }
        self.topology.warnings.append(&mut odd);
    }
}

/// Members whose names begin with `_` or `#`, and `comment`, are comments.
fn is_comment(name: &str) -> bool {
    name.starts_with(['_', '#']) || name == "comment"
}

fn is_null(node: &Node) -> bool {
    node.json == Json::Other(serde_json::Value::Null)
}

/// A whole number, which may be written as text.
fn whole(node: &Node) -> Option<u64> {
    match &node.json {
        Json::Text(text) => text.parse().ok(),
        Json::Other(value) => value.as_u64(),
        _ => None,
    }
}

/// A delay: a number of milliseconds, or text with a unit. A number without a unit in text is in microseconds,
/// because the tutorials pass the text to `tc` unchanged, and `tc` reads it so.
fn latency_ns(node: &Node) -> Option<u64> {
    let (number, unit_ns) = match &node.json {
        Json::Other(value) => (value.as_f64()?, 1e6),
        Json::Text(text) => {
            let text = text.trim();
            let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let unit_ns = match text[end..].to_ascii_lowercase().as_str() {
                "s" | "sec" | "secs" => 1e9,
                "ms" | "msec" | "msecs" => 1e6,
                "" | "us" | "usec" | "usecs" => 1e3,
                "ns" | "nsec" | "nsecs" => 1.0,
                _ => return None,
            };
            (text[..end].trim().parse().ok()?, unit_ns)
        }
        _ => return None,
    };
    let latency_ns: f64 = number * unit_ns;
    (0.0..=LATENCY_NS_MAX).contains(&latency_ns).then_some(latency_ns.round() as u64)
}

fn bits_per_s(node: &Node) -> Option<u64> {
    let megabits: f64 = match &node.json {
        Json::Other(value) => value.as_f64()?,
        Json::Text(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let bits_per_s = megabits * 1e6;
    (1.0..1e15).contains(&bits_per_s).then_some(bits_per_s.round() as u64)
}

/// A list of names; only the first of them if there are many.
fn shortened(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names if names.len() > 20 => format!("{} and {} more", names[..20].join(", "), names.len() - 20),
        names => names.join(", "),
    }
}
