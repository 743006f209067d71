//! Replaces `route` and `arp` on machines that only have `ip`.
//!
//! What enters: a command line of a host. What leaves: the same command with `ip` in place of the two, if their
//! arguments are among those that topologies and exercises use; `None` if nothing is replaced. The two programs come
//! from a package that current systems no longer install.

/// The programs that can be replaced.
pub const REPLACED: [&str; 2] = ["route", "arp"];

/// The same command with `ip`. `sudo` may precede the command.
pub fn with_ip(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words = words.strip_prefix(&["sudo"]).unwrap_or(&words);
    // Lines that need the shell's interpretation are not changed.
    if line.contains(['|', '&', ';', '<', '>', '$', '`', '"', '\'', '\\', '(', ')']) {
        return None;
    }
    match words {
        ["route", rest @ ..] => route(rest),
        ["arp", rest @ ..] => arp(rest),
        _ => None,
    }
}

fn route(words: &[&str]) -> Option<String> {
    let (action, rest) = match words {
        [] | ["-n"] => return Some("ip route show".to_owned()),
        ["add", rest @ ..] => ("add", rest),
        ["del" | "delete", rest @ ..] => ("del", rest),
        _ => return None,
    };
    let (mut destination, mut rest) = match rest {
        ["default", rest @ ..] | ["-net", "default", rest @ ..] => ("default".to_owned(), rest),
        ["-net" | "-host", address, rest @ ..] | [address, rest @ ..] if !address.starts_with('-') => {
            ((*address).to_owned(), rest)
        }
        _ => return None,
    };
    let (mut gateway, mut device, mut metric) = (None, None, None);
    while let [word, value, others @ ..] = rest {
        match *word {
            "gw" => gateway = Some(*value),
            "dev" => device = Some(*value),
            "metric" => metric = Some(*value),
            "netmask" => destination = format!("{destination}/{}", prefix_bits(value)?),
            _ => return None,
        }
        rest = others;
    }
    if let [last] = rest {
        // The keyword `dev` is optional.
        if device.is_some() || matches!(*last, "gw" | "dev" | "metric" | "netmask") {
            return None;
        }
        device = Some(last);
    }
    let mut line = format!("ip route {action} {destination}");
    for (word, value) in [("via", gateway), ("dev", device), ("metric", metric)] {
        line += &value.map_or(String::new(), |value| format!(" {word} {value}"));
    }
    Some(line)
}

/// The prefix length of a netmask.
fn prefix_bits(mask: &str) -> Option<u32> {
    let mask = u32::from(mask.parse::<std::net::Ipv4Addr>().ok()?);
    (mask.leading_ones() + mask.trailing_zeros() >= 32).then_some(mask.leading_ones())
}

fn arp(words: &[&str]) -> Option<String> {
    let (mut device, mut rest) = ("eth0", words);
    let mut numeric = false;
    loop {
        match rest {
            ["-i", name, others @ ..] => (device, rest) = (name, others),
            ["-n" | "-a" | "-an" | "-na" | "-e" | "-v", others @ ..] => (numeric, rest) = (true, others),
            ["-s", address, mac, others @ ..] if others.iter().all(|word| matches!(*word, "temp" | "permanent")) => {
                return Some(format!("ip neighbour replace {address} lladdr {mac} dev {device} nud permanent"));
            }
            ["-d", address] => return Some(format!("ip neighbour del {address} dev {device}")),
            [] if numeric || words.is_empty() => return Some("ip neighbour show".to_owned()),
            [] => return Some(format!("ip neighbour show dev {device}")),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(lines: &[&str], expected: Expect) {
        let shown = |line: &&str| format!("{}\n", with_ip(line).unwrap_or_else(|| format!("({line})")));
        expected.assert_eq(&lines.iter().map(shown).collect::<String>());
    }

    #[test]
    fn routes_are_translated() {
        check(
            &[
                "route add default gw 10.0.1.10 dev eth0",
                "route add default gw 10.0.1.10 eth0",
                "route add default dev eth0",
                "route add -net 10.0.2.0 netmask 255.255.255.0 gw 10.0.1.10",
                "sudo route add -net 10.0.2.0/24 dev eth0 metric 3",
                "route add -host 10.0.2.2 gw 10.0.1.10",
                "route del default",
                "route -n",
                "route",
            ],
            expect![[r#"
                ip route add default via 10.0.1.10 dev eth0
                ip route add default via 10.0.1.10 dev eth0
                ip route add default dev eth0
                ip route add 10.0.2.0/24 via 10.0.1.10
                ip route add 10.0.2.0/24 dev eth0 metric 3
                ip route add 10.0.2.2 via 10.0.1.10
                ip route del default
                ip route show
                ip route show
            "#]],
        );
    }

    #[test]
    fn neighbours_are_translated() {
        check(
            &[
                "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00",
                "arp -s 10.0.1.10 08:00:00:00:01:00",
                "arp -d 10.0.1.10",
                "arp -n",
                "arp",
                "arp -i eth1",
            ],
            expect![[r#"
                ip neighbour replace 10.0.1.10 lladdr 08:00:00:00:01:00 dev eth0 nud permanent
                ip neighbour replace 10.0.1.10 lladdr 08:00:00:00:01:00 dev eth0 nud permanent
                ip neighbour del 10.0.1.10 dev eth0
                ip neighbour show
                ip neighbour show
                ip neighbour show dev eth1
            "#]],
        );
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        check(
            &[
                "ip route add 10.0.0.0/24 dev eth0",
                "route add default gw",
                "route add -net 10.0.0.0 netmask 255.0.255.0",
                "route -n | grep eth0",
                "route --help",
                "arp -s 10.0.1.10",
                "arp --unknown",
                "ping 10.0.1.1",
                "",
            ],
            expect![[r#"
                (ip route add 10.0.0.0/24 dev eth0)
                (route add default gw)
                (route add -net 10.0.0.0 netmask 255.0.255.0)
                (route -n | grep eth0)
                (route --help)
                (arp -s 10.0.1.10)
                (arp --unknown)
                (ping 10.0.1.1)
                ()
            "#]],
        );
    }
}
