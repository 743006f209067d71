//! Packets from a description, without a program: `ipv4,count=4096,dst=10.0.0.0/8`.
//!
//! What enters: the description and a seed. What leaves: frames, one after the other. They are templates like those of
//! a program's parser, made of known headers.

use crate::expression::{Context, Expression};
use crate::flows::{Distribution, Draw, FLOWS_MAX, Sizes};
use crate::layout::Kind;
use crate::template::Template;
use base::Rng;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The syntax of a description, for people.
pub const DESCRIPTION_HELP: &str = "ipv4 or ipv6, udp or tcp, count=N, flows=N, pick=turn|uniform|zipf:EXPONENT, \
     bytes=N|LOW-HIGH|imix, dst=PREFIX, src=PREFIX, dmac=ADDRESS[/BITS], smac=ADDRESS[/BITS], vlan=ID, dport=N, sport=N, \
     vxlan=VNI or gre or gre=KEY, tdst=PREFIX, tsrc=PREFIX";

/// The shortest and the longest frame.
const FRAME_BYTES: [usize; 2] = [60, 9_000];

/// A tunnel around the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tunnel {
    Vxlan(u32),
    Gre,
    GreWithKey(u32),
}

/// Addresses with a common prefix: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    first: u128,
    last: u128,
}

/// A description of generated packets. Everything that it leaves open is chosen at random from the seed.
#[derive(Clone, Debug)]
pub struct Description {
    /// The number of packets.
    pub count: usize,
    flows: u64,
    distribution: Distribution,
    sizes: Sizes,
    is_ipv6: bool,
    is_tcp: bool,
    tunnel: Option<Tunnel>,
    vlan: Option<u16>,
    fields: Vec<(&'static str, Prefix)>,
}

impl Description {
    /// Reads a description: parts separated by commas.
    pub fn parse(text: &str) -> Result<Description, String> {
        let parts = || text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let mut it = Description::plain(parts().any(|part| part == "ipv6"));
        let mut flows = None;
        for part in parts() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let blame = |why: String| format!("`{part}`: {why}");
            let number = |least, most| number(value, least, most).map_err(|why| format!("`{part}`: {name} {why}"));
            match name {
                "ipv4" | "ipv6" | "udp" | "tcp" if part.contains('=') => {
                    return Err(format!("`{part}`: {name} takes no value"));
                }
                "ipv4" if it.is_ipv6 => return Err("packets are of ipv4 or of ipv6: write one of the two".to_owned()),
                "ipv4" | "ipv6" | "udp" => {}
                "tcp" => it.is_tcp = true,
                "count" => it.count = number(1, FLOWS_MAX)? as usize,
                "flows" => flows = Some(number(1, FLOWS_MAX)?),
                "pick" => it.distribution = value.parse().map_err(blame)?,
                "bytes" => it.sizes = sizes(value).map_err(blame)?,
                "vlan" => it.vlan = Some(number(0, 4_095)? as u16),
                "vxlan" => it.set_tunnel(Tunnel::Vxlan(number(0, 0xff_ffff)? as u32))?,
                "gre" if value.is_empty() => it.set_tunnel(Tunnel::Gre)?,
                "gre" => it.set_tunnel(Tunnel::GreWithKey(number(0, u64::from(u32::MAX))? as u32))?,
                _ => it.field(name, value).map_err(|why| if why.is_empty() { unknown(part) } else { blame(why) })?,
            }
        }
        it.flows = flows.unwrap_or(it.count as u64);
        let least = it.template().headers_bytes();
        match it.sizes {
            Sizes::Between(low, _) if low < least => Err(format!("`bytes={low}`: the headers alone take {least}")),
            _ => Ok(it),
        }
    }

    fn plain(is_ipv6: bool) -> Description {
        let bytes = if is_ipv6 { 64 } else { 60 };
        let same = |first| Prefix { first, last: first };
        // Addresses for documentation (IPv6) and of private networks (IPv4).
        let addresses = match is_ipv6 {
            true => Prefix { first: 0x2001_0db8 << 96, last: (0x2001_0db9 << 96) - 1 },
            false => Prefix { first: 10 << 24, last: (11 << 24) - 1 },
        };
        Description {
            count: 65_536,
            flows: 0,
            distribution: Distribution::InTurn,
            sizes: Sizes::Between(bytes, bytes),
            is_ipv6,
            is_tcp: false,
            tunnel: None,
            vlan: None,
            fields: vec![
                ("smac", same(0x0200_0000_0101)),
                ("dmac", same(0x0200_0000_0001)),
                ("src", addresses),
                ("dst", addresses),
                ("tsrc", Prefix { first: 0xac10_0000, last: 0xac1f_ffff }),
                ("tdst", same(0xac10_0001)),
            ],
        }
    }

    fn set_tunnel(&mut self, tunnel: Tunnel) -> Result<(), String> {
        match self.tunnel.replace(tunnel) {
            None => Ok(()),
            Some(_) => Err("packets are in one tunnel: write vxlan or gre once".to_owned()),
        }
    }

    /// Sets a field. The error is empty if there is no such field.
    fn field(&mut self, name: &str, value: &str) -> Result<(), String> {
        let (name, prefix) = match name {
            "dst" => ("dst", internet_prefix(value, self.is_ipv6)?),
            "src" => ("src", internet_prefix(value, self.is_ipv6)?),
            "tdst" => ("tdst", internet_prefix(value, false)?),
            "tsrc" => ("tsrc", internet_prefix(value, false)?),
            "dmac" => ("dmac", ethernet_prefix(value)?),
            "smac" => ("smac", ethernet_prefix(value)?),
            "dport" | "sport" => {
                let port = number(value, 0, 65_535).map_err(|why| format!("{name} {why}"))?;
                let port = Prefix { first: port.into(), last: port.into() };
                (if name == "dport" { "dport" } else { "sport" }, port)
            }
            _ => return Err(String::new()),
        };
        self.fields.retain(|(other, _)| *other != name);
        self.fields.push((name, prefix));
        Ok(())
    }

    /// The form of all packets.
    fn template(&self) -> Template {
        let mut kinds = vec![Kind::Ethernet];
        kinds.extend(self.vlan.map(|_| Kind::Vlan));
        match self.tunnel {
            Some(Tunnel::Vxlan(_)) => kinds.extend([Kind::Ipv4, Kind::Udp, Kind::Vxlan, Kind::Ethernet]),
            Some(Tunnel::Gre) => kinds.extend([Kind::Ipv4, Kind::Gre]),
            Some(Tunnel::GreWithKey(_)) => kinds.extend([Kind::Ipv4, Kind::Gre, Kind::GreKey]),
            None => {}
        }
        kinds.push(if self.is_ipv6 { Kind::Ipv6 } else { Kind::Ipv4 });
        kinds.push(if self.is_tcp { Kind::Tcp } else { Kind::Udp });
        let mut template = Template::of_kinds(&kinds);
        for (position, (name, prefix)) in self.fields.iter().enumerate() {
            let bound = |value| Box::new(Expression::Number(value));
            let value = Expression::Random(position as u64, bound(prefix.first), bound(prefix.last));
            if let Some(place) = self.place(name) {
                template.set(&place, &value);
            }
        }
        let mut set = |name: &str, value: u32| template.set(name, &Expression::Number(value.into()));
        self.vlan.map(|vlan| set("vlan.vlan", vlan.into()));
        match self.tunnel {
            Some(Tunnel::Vxlan(vni)) => set("vxlan.vni", vni),
            Some(Tunnel::GreWithKey(key)) => set("gre_key.key", key),
            Some(Tunnel::Gre) | None => true,
        };
        template
    }

    /// The field of the template that a part of the description is about.
    fn place(&self, part: &str) -> Option<String> {
        let second = |is_second: bool| if is_second { "_2" } else { "" };
        let is_vxlan = matches!(self.tunnel, Some(Tunnel::Vxlan(_)));
        let network = match self.is_ipv6 {
            true => "ipv6".to_owned(),
            false => format!("ipv4{}", second(self.tunnel.is_some())),
        };
        let transport = match self.is_tcp {
            true => "tcp".to_owned(),
            false => format!("udp{}", second(is_vxlan)),
        };
        Some(match part {
            "smac" => "ethernet.source".to_owned(),
            "dmac" => "ethernet.destination".to_owned(),
            "src" => format!("{network}.source"),
            "dst" => format!("{network}.destination"),
            "sport" => format!("{transport}.source"),
            "dport" => format!("{transport}.destination"),
            "tsrc" if self.tunnel.is_some() => "ipv4.source".to_owned(),
            "tdst" if self.tunnel.is_some() => "ipv4.destination".to_owned(),
            _ => return None,
        })
    }

    /// Makes the packets: calls `send` with the bytes of each, until it returns false. Returns whether all were sent.
    pub fn packets(&self, seed: u64, mut send: impl FnMut(&[u8]) -> bool) -> bool {
        let template = self.template();
        let (mut rng, mut draw) = (Rng::new(seed), Draw::new(self.distribution, self.flows));
        let mut frame = Vec::new();
        (0..self.count).all(|_| {
            let context = Context { seed, flow: draw.draw(&mut rng), entries: 0, ports: (0, 0), key: &[] };
            template.frame(&context, self.sizes.draw(&mut rng), &mut frame);
            send(&frame)
        })
    }
}

fn unknown(part: &str) -> String {
    format!("`{part}` is not a property of packets; there are {DESCRIPTION_HELP}")
}

fn number(value: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("is a number from {least} to {most}"))
}

fn sizes(text: &str) -> Result<Sizes, String> {
    let [least, most] = FRAME_BYTES;
    match text.parse()? {
        Sizes::Between(low, _) if low < least => Err(format!("bytes is a number from {least} to {most}")),
        sizes => Ok(sizes),
    }
}

impl Prefix {
    /// The addresses of a width in bits that share the first bits of one.
    fn new(address: u128, width: u32, length: Option<&str>) -> Result<Prefix, String> {
        let length = length.map_or(Ok(width), |text| {
            let length = text.parse().ok().filter(|length| *length <= width);
            length.ok_or_else(|| format!("/{text}: the length of a prefix is a number from 0 to {width}"))
        })?;
        let rest = u128::MAX.checked_shr(128 - (width - length)).unwrap_or(0);
        Ok(Prefix { first: address & !rest, last: address | rest })
    }
}

fn internet_prefix(text: &str, is_ipv6: bool) -> Result<Prefix, String> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) if !is_ipv6 => Prefix::new(u32::from(address).into(), 32, length),
        Ok(IpAddr::V6(address)) if is_ipv6 => Prefix::new(address.into(), 128, length),
        _ => {
            let (family, example) = match is_ipv6 {
                true => ("IPv6", format!("{}/64", Ipv6Addr::LOCALHOST)),
                false => ("IPv4", format!("{}/8", Ipv4Addr::new(10, 0, 0, 0))),
            };
            Err(format!("it is an {family} address or prefix, as {example}"))
        }
    }
}

fn ethernet_prefix(text: &str) -> Result<Prefix, String> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let byte = |byte: &str| {
        let is_hexadecimal = byte.bytes().all(|it| it.is_ascii_hexdigit());
        u8::from_str_radix(byte, 16).ok().filter(|_| is_hexadecimal).map(u128::from)
    };
    let bytes: Option<Vec<u128>> = address.split(':').map(byte).collect();
    let bytes = bytes.filter(|bytes| bytes.len() == 6);
    let bytes = bytes.ok_or("it is an Ethernet address or prefix, as 02:00:00:00:00:00/24")?;
    Prefix::new(bytes.iter().fold(0, |address, byte| address << 8 | byte), 48, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write as _;

    /// Generates packets from the description and shows them, or the error.
    fn check(text: &str, expected: Expect) {
        let shown = match Description::parse(text) {
            Err(why) => why,
            Ok(description) => {
                let mut shown = String::new();
                description.packets(1, |frame| {
                    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
                    writeln!(shown, "{}: {}", frame.len(), hex.trim_end_matches('0')).is_ok()
                });
                shown
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn packets_are_as_they_are_described() {
        check(
            "count=2,dst=10.1.2.0/24,src=1.2.3.4,dport=53,sport=1024",
            expect![[r#"
            60: 02000000000102000000010108004500002e0000000040116a37010203040a01028204000035001aeafc
            60: 02000000000102000000010108004500002e00000000401169c4010203040a0102f504000035001aea89
        "#]],
        );
        check(
            "ipv6,tcp,count=1,dst=2001:db8::/127,src=::1,vlan=7,bytes=80,dport=80,sport=1",
            expect![[r#"
            80: 0200000000010200000001018100000786dd60000000001606400000000000000000000000000000000120010db80000000000000000000000000001005000000001000000015010ffff81c6
        "#]],
        );
        check(
            "count=2,dmac=02:00:00:00:aa:00/40,smac=ff:ff:ff:ff:ff:ff,dst=1.1.1.1,src=2.2.2.2,dport=1,sport=1",
            expect![[r#"
            60: 02000000aaeeffffffffffff08004500002e00000000401174ba020202020101010100010001001af9b2
            60: 02000000aa1bffffffffffff08004500002e00000000401174ba020202020101010100010001001af9b2
        "#]],
        );
    }

    #[test]
    fn packets_may_be_in_tunnels_and_of_flows() {
        check(
            "vxlan=100,count=1,bytes=100,dst=1.1.1.1,src=2.2.2.2,dport=1,sport=1,tdst=3.3.3.3,tsrc=4.4.4.4",
            expect![[r#"
                100: 0200000000010200000001010800450000560000000040116c8a040404040303030342f612b50042000008000000000064000236d2d3d7e1027d398effe808004500002400000000401174c40202020201010101000100010010f9c6
            "#]],
        );
        check(
            "gre=7,count=1,bytes=100,dst=1.1.1.1,src=2.2.2.2,dport=1,sport=1,tdst=3.3.3.3,tsrc=4.4.4.4",
            expect![[r#"
            100: 02000000000102000000010108004500005600000000402f6c6c040404040303030320000800000000074500003a00000000401174ae0202020201010101000100010026f99a
        "#]],
        );
        check(
            "gre,ipv6,count=3,flows=2,bytes=90-100,dst=::1,src=::2,dport=1,tsrc=4.4.4.4",
            expect![[r#"
            97: 02000000000102000000010108004500005300000000402fc66304040404ac100001000086dd600000000013114000000000000000000000000000000002000000000000000000000000000000014f0300010013b0c1
            95: 02000000000102000000010108004500005100000000402fc66504040404ac100001000086dd600000000011114000000000000000000000000000000002000000000000000000000000000000018682000100117946
            96: 02000000000102000000010108004500005200000000402fc66404040404ac100001000086dd600000000012114000000000000000000000000000000002000000000000000000000000000000014f0300010012b0c3
        "#]],
        );
    }

    #[test]
    fn errors_in_a_description_are_reported() {
        check(
            "ipx",
            expect![
                "`ipx` is not a property of packets; there are ipv4 or ipv6, udp or tcp, count=N, flows=N, pick=turn|uniform|zipf:EXPONENT, bytes=N|LOW-HIGH|imix, dst=PREFIX, src=PREFIX, dmac=ADDRESS[/BITS], smac=ADDRESS[/BITS], vlan=ID, dport=N, sport=N, vxlan=VNI or gre or gre=KEY, tdst=PREFIX, tsrc=PREFIX"
            ],
        );
        check("count=0", expect!["`count=0`: count is a number from 1 to 16777216"]);
        check("bytes=59", expect!["`bytes=59`: bytes is a number from 60 to 9000"]);
        check("ipv6,tcp,bytes=60", expect!["`bytes=60`: the headers alone take 74"]);
        check("gre,vxlan=1", expect!["packets are in one tunnel: write vxlan or gre once"]);
        check("pick=zipf:x", expect!["`pick=zipf:x`: `zipf:x`: the exponent is a number from 0 to 10"]);
        check("ipv4,ipv6", expect!["packets are of ipv4 or of ipv6: write one of the two"]);
        check("tcp=1", expect!["`tcp=1`: tcp takes no value"]);
        check("dst=10.0.0.0/33", expect!["`dst=10.0.0.0/33`: /33: the length of a prefix is a number from 0 to 32"]);
        check("dst=::1", expect!["`dst=::1`: it is an IPv4 address or prefix, as 10.0.0.0/8"]);
        check("ipv6,dst=10.0.0.1", expect!["`dst=10.0.0.1`: it is an IPv6 address or prefix, as ::1/64"]);
        check("dmac=1:2:3", expect!["`dmac=1:2:3`: it is an Ethernet address or prefix, as 02:00:00:00:00:00/24"]);
        check(
            "dmac=1:2:3:4:5:+6",
            expect!["`dmac=1:2:3:4:5:+6`: it is an Ethernet address or prefix, as 02:00:00:00:00:00/24"],
        );
        check("vlan=4096", expect!["`vlan=4096`: vlan is a number from 0 to 4095"]);
        check("dport=x", expect!["`dport=x`: dport is a number from 0 to 65535"]);
    }
}
