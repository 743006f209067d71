//! The commands about the network itself.

use super::{CommandResult, Session, shell, speed};
use net::network::find_program;
use net::topology::{End, NodeId, Topology};
use std::io;
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};

/// A command: its name, its arguments, a description, and its function.
struct Builtin {
    name: &'static str,
    arguments: &'static str,
    what: &'static str,
    run: fn(&Session, &[&str], &str) -> io::Result<CommandResult>,
}

const BUILTINS: [Builtin; 11] = [
    Builtin { name: "help", arguments: "[COMMAND]", what: "show the commands, or one", run: help },
    Builtin { name: "nodes", arguments: "", what: "show the names of hosts and switches", run: nodes },
    Builtin { name: "links", arguments: "", what: "show the links, and which are down", run: links },
    Builtin { name: "net", arguments: "", what: "the same as links", run: links },
    Builtin { name: "dump", arguments: "", what: "show addresses, programs, processes and logs", run: dump },
    Builtin {
        name: "pingall",
        arguments: "[SECONDS]",
        what: "ping every host from every other, and wait so long for answers (1)",
        run: ping_all,
    },
    Builtin { name: "iperf", arguments: "HOST HOST", what: "measure TCP from one host to another", run: speed::iperf },
    Builtin {
        name: "link",
        arguments: "NODE NODE up|down",
        what: "bring the link between two nodes up or down",
        run: link,
    },
    Builtin { name: "sh", arguments: "COMMAND", what: "run a command on this machine", run: on_this_machine },
    Builtin {
        name: "xterm",
        arguments: "HOST",
        what: "there are no windows: use `HOST bash`, here or twice with `&`",
        run: xterm,
    },
    Builtin {
        name: "exit",
        arguments: "",
        what: "end the network (also quit, Ctrl-D)",
        run: |_, _, _| Ok(CommandResult::success("")),
    },
];

/// The names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

/// Whether a word ends the session.
pub fn is_end(word: &str) -> bool {
    matches!(word, "exit" | "quit" | "EOF")
}

/// Runs a command; `None` if the name is unknown.
pub fn run(session: &Session, name: &str, rest: &str) -> Option<io::Result<CommandResult>> {
    let builtin = BUILTINS.iter().find(|builtin| builtin.name == name)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some((builtin.run)(session, &words, rest))
}

fn usage(name: &str) -> CommandResult {
    let arguments = BUILTINS.iter().find(|builtin| builtin.name == name).map_or("", |builtin| builtin.arguments);
    CommandResult::failure(format!("write: {name} {arguments}"))
}

fn help(_: &Session, words: &[&str], _: &str) -> io::Result<CommandResult> {
    let row =
        |builtin: &Builtin| format!("  {:<24} {}\n", format!("{} {}", builtin.name, builtin.arguments), builtin.what);
    if let [name] = words {
        let found = BUILTINS.iter().find(|builtin| builtin.name == *name);
        let missing = || CommandResult::failure(format!("there is no command `{name}`"));
        return Ok(found.map_or_else(missing, |builtin| CommandResult::success(row(builtin))));
    }
    let mut text = format!("  {:<24} {}\n", "NODE COMMAND", "run a command in a host or switch, as `h1 ping h2`;");
    text += &format!("  {:<24} {}\n", "", "words that name hosts become their addresses; `&` leaves it running");
    text.extend(BUILTINS.iter().map(row));
    Ok(CommandResult::success(text))
}

fn nodes(session: &Session, _: &[&str], _: &str) -> io::Result<CommandResult> {
    let topology = &session.running.topology;
    let names: Vec<&str> = topology.nodes().map(|node| topology.name(node)).collect();
    Ok(CommandResult::success(names.join(" ")))
}

fn links(session: &Session, _: &[&str], _: &str) -> io::Result<CommandResult> {
    let topology = &session.running.topology;
    let end = |end: &End| match end.node {
        NodeId::Host(index) => format!("{}-{end}", topology.hosts[index].name),
        NodeId::Switch(_) if end.interface.starts_with("eth") => format!("{}-{end}", topology.name(end.node)),
        NodeId::Switch(_) => end.interface.clone(),
    };
    let row = |link: &net::topology::Link| {
        let wire = link.wire.to_string();
        let wire = if wire.is_empty() { wire } else { format!("  ({wire})") };
        let state = if session.running.network.is_up(link)? { "" } else { "  down" };
        Ok(format!("{} -- {}{wire}{state}\n", end(&link.ends[0]), end(&link.ends[1])))
    };
    Ok(CommandResult::success(topology.links.iter().map(row).collect::<io::Result<String>>()?))
}

fn dump(session: &Session, _: &[&str], _: &str) -> io::Result<CommandResult> {
    let running = &session.running;
    let topology = &running.topology;
    let mut text = String::new();
    for (index, host) in topology.hosts.iter().enumerate() {
        let address = host.address.map_or("no address".to_owned(), |address| address.to_string());
        let mac = host.mac.map_or(String::new(), |mac| format!(" {mac}"));
        text += &format!("{}: host, {address}{mac}\n", host.name);
        text += &entrance(session, NodeId::Host(index));
    }
    let processes = running.switches();
    for (index, switch) in topology.switches.iter().enumerate() {
        let process = processes.iter().find(|process| process.name == switch.name);
        let state = match process {
            None => "not started".to_owned(),
            Some(process) if process.has_ended => format!("ended, log {}", process.log.display()),
            Some(process) => format!("process {}, log {}", process.child.id(), process.log.display()),
        };
        text += &format!("{}: switch, {state}\n", switch.name);
        if let Some(address) = process.and_then(|process| process.controllers) {
            text += &format!("    P4Runtime at {address}, device {index}\n");
        }
        text += &entrance(session, NodeId::Switch(index));
    }
    Ok(CommandResult::success(text))
}

/// How to observe a node's interfaces from another terminal.
fn entrance(session: &Session, node: NodeId) -> String {
    format!("    nsenter --net={} COMMAND\n", session.running.network.namespace_path(node).display())
}

fn link(session: &Session, words: &[&str], _: &str) -> io::Result<CommandResult> {
    let topology = &session.running.topology;
    let [first, second, state @ ("up" | "down")] = words else { return Ok(usage("link")) };
    let (Some(first), Some(second)) = (topology.find(first), topology.find(second)) else { return Ok(usage("link")) };
    let nodes = |link: &net::topology::Link| link.ends.each_ref().map(|end| end.node);
    let mut count = 0;
    for link in topology.links.iter().filter(|link| [[first, second], [second, first]].contains(&nodes(link))) {
        session.running.network.set_link(topology, link, *state == "up").map_err(io::Error::other)?;
        count += 1;
    }
    if count == 0 {
        return Ok(CommandResult::failure(format!("there is no link between {} and {}", words[0], words[1])));
    }
    Ok(CommandResult::success(""))
}

fn on_this_machine(session: &Session, _: &[&str], rest: &str) -> io::Result<CommandResult> {
    if rest.is_empty() { Ok(usage("sh")) } else { session.run(None, shell(rest)) }
}

fn xterm(_: &Session, words: &[&str], _: &str) -> io::Result<CommandResult> {
    let host = words.first().unwrap_or(&"h1");
    let text = "there are no windows here. A shell in the host:";
    Ok(CommandResult::failure(format!(
        "{text} {host} bash\nTo leave a command running: {host} COMMAND &\n`dump` shows how to \
                                 enter a host from another terminal."
    )))
}

// ------------------------------------------------------------------------------------------------------- pings

/// Hosts that have an address.
fn hosts(topology: &Topology) -> Vec<(NodeId, &str, IpAddr)> {
    let hosts = topology.hosts.iter().enumerate();
    hosts.filter_map(|(index, host)| Some((NodeId::Host(index), host.name.as_str(), host.address?.ip))).collect()
}

fn ping_all(session: &Session, words: &[&str], _: &str) -> io::Result<CommandResult> {
    let seconds: u32 = match words {
        [] => 1,
        [seconds] if seconds.parse().is_ok_and(|it| (1..=60).contains(&it)) => seconds.parse().unwrap_or(1),
        _ => return Ok(CommandResult::failure("pingall: write how many seconds it waits for answers, from 1 to 60")),
    };
    if find_program("ping").is_none() {
        return Ok(CommandResult::failure("the program `ping` is not installed: install the package iputils-ping"));
    }
    let hosts = hosts(&session.running.topology);
    let (mut sent, mut received, mut text) = (0, 0, String::new());
    for (node, name, _) in &hosts {
        let others = hosts.iter().filter(|(other, ..)| other != node);
        let place = session.running.network.place(*node);
        let start = |(_, other, address): &(NodeId, &str, IpAddr)| -> io::Result<(String, Child)> {
            let mut ping = Command::new("ping");
            ping.args(["-c", "1", "-W", &seconds.to_string(), &address.to_string()]);
            ping.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Ok(((*other).to_owned(), session.running.sandbox.spawn(&place, ping)?))
        };
        let pings = others.map(start).collect::<io::Result<Vec<_>>>()?;
        text += &format!("{name} ->");
        for (other, mut child) in pings {
            let arrived = child.wait()?.success();
            sent += 1;
            received += usize::from(arrived);
            text += &format!(" {}", if arrived { &other } else { "X" });
        }
        text += "\n";
    }
    let lost = ((sent - received) * 100).checked_div(sent).unwrap_or(0);
    text += &format!("{lost}% lost ({received} of {sent} received)");
    Ok(CommandResult::found(i32::from(sent != received), text))
}
