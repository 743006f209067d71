//! Headers that everybody knows, recognised by the positions of their fields.
//!
//! What enters: the type of a header. What leaves: its kind; usual values of its fields, and which of them are the
//! flow's; which header follows. Names mean nothing.

use ir::{FieldType, HeaderType};

/// A kind of header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Ethernet,
    Vlan,
    Arp,
    Ipv4,
    Ipv6,
    Tcp,
    Udp,
    Icmp,
    Gre,
    GreKey,
    Vxlan,
    Other,
}

/// What the value of a field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The same for all flows.
    Usual(u64),
    /// An Ethernet address of the flow.
    Mac,
    /// IP addresses of the flow.
    Ipv4,
    Ipv6,
    /// A port of the flow.
    Port,
    /// Any number, of the flow.
    Any,
}

/// A field of a known header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Its name, where the program does not extract the header.
    pub name: &'static str,
    /// Its first bit.
    pub first: u32,
    /// Its width in bits.
    pub width: u32,
    /// What its value is.
    pub role: Role,
}

const fn field(name: &'static str, first: u32, width: u32, role: Role) -> Field {
    Field { name, first, width, role }
}

/// An EtherType for experiments, so that no header is recognised behind it.
const ETHERTYPE_NONE: Role = Role::Usual(0x88b5);
/// A protocol for experiments.
const PROTOCOL_NONE: Role = Role::Usual(253);
const ZERO: Role = Role::Usual(0);

const ETHERNET: &[Field] = &[
    field("destination", 0, 48, Role::Mac),
    field("source", 48, 48, Role::Mac),
    field("ethertype", 96, 16, ETHERTYPE_NONE),
];
const VLAN: &[Field] =
    &[field("priority", 0, 4, ZERO), field("vlan", 4, 12, Role::Any), field("ethertype", 16, 16, ETHERTYPE_NONE)];
const ARP: &[Field] = &[
    field("hardware_type", 0, 16, Role::Usual(1)),
    field("protocol_type", 16, 16, Role::Usual(0x0800)),
    field("lengths", 32, 16, Role::Usual(0x0604)),
    field("operation", 48, 16, Role::Usual(1)),
    field("sender_mac", 64, 48, Role::Mac),
    field("sender_ip", 112, 32, Role::Ipv4),
    field("target_mac", 144, 48, ZERO),
    field("target_ip", 192, 32, Role::Ipv4),
];
const IPV4: &[Field] = &[
    field("version", 0, 4, Role::Usual(4)),
    field("header_words", 4, 4, Role::Usual(5)),
    field("traffic_class", 8, 8, ZERO),
    field("total_length", 16, 16, ZERO),
    field("identification", 32, 16, ZERO),
    field("fragment", 48, 16, ZERO),
    field("ttl", 64, 8, Role::Usual(64)),
    field("protocol", 72, 8, PROTOCOL_NONE),
    field("checksum", 80, 16, ZERO),
    field("source", 96, 32, Role::Ipv4),
    field("destination", 128, 32, Role::Ipv4),
];
const IPV6: &[Field] = &[
    field("version", 0, 4, Role::Usual(6)),
    field("traffic_class", 4, 8, ZERO),
    field("flow_label", 12, 20, ZERO),
    field("payload_length", 32, 16, ZERO),
    field("next_header", 48, 8, PROTOCOL_NONE),
    field("hop_limit", 56, 8, Role::Usual(64)),
    field("source", 64, 128, Role::Ipv6),
    field("destination", 192, 128, Role::Ipv6),
];
const TCP: &[Field] = &[
    field("source", 0, 16, Role::Port),
    field("destination", 16, 16, Role::Port),
    field("sequence", 32, 32, Role::Usual(1)),
    field("acknowledgement", 64, 32, Role::Usual(1)),
    field("header_words", 96, 4, Role::Usual(5)),
    field("flags", 100, 12, Role::Usual(0x10)),
    field("window", 112, 16, Role::Usual(0xffff)),
    field("checksum", 128, 16, ZERO),
    field("urgent", 144, 16, ZERO),
];
const UDP: &[Field] = &[
    field("source", 0, 16, Role::Port),
    field("destination", 16, 16, Role::Port),
    field("length", 32, 16, ZERO),
    field("checksum", 48, 16, ZERO),
];
const ICMP: &[Field] = &[
    field("type", 0, 8, Role::Usual(8)),
    field("code", 8, 8, ZERO),
    field("checksum", 16, 16, ZERO),
    field("identifier", 32, 16, Role::Port),
    field("sequence", 48, 16, Role::Usual(1)),
];
const GRE: &[Field] = &[field("options", 0, 16, ZERO), field("protocol", 16, 16, Role::Usual(0x0800))];
const GRE_KEY: &[Field] = &[field("key", 0, 32, Role::Any)];
const VXLAN: &[Field] =
    &[field("flags", 0, 32, Role::Usual(0x0800_0000)), field("vni", 32, 24, Role::Any), field("reserved", 56, 8, ZERO)];

/// The port of VXLAN.
pub(crate) const PORT_VXLAN: u64 = 4789;

impl Kind {
    /// Its name, where the program does not extract the header.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Ethernet => "ethernet",
            Kind::Vlan => "vlan",
            Kind::Arp => "arp",
            Kind::Ipv4 => "ipv4",
            Kind::Ipv6 => "ipv6",
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
            Kind::Icmp => "icmp",
            Kind::Gre => "gre",
            Kind::GreKey => "gre_key",
            Kind::Vxlan => "vxlan",
            Kind::Other => "header",
        }
    }

    /// Its fields.
    pub(crate) fn fields(self) -> &'static [Field] {
        match self {
            Kind::Ethernet => ETHERNET,
            Kind::Vlan => VLAN,
            Kind::Arp => ARP,
            Kind::Ipv4 => IPV4,
            Kind::Ipv6 => IPV6,
            Kind::Tcp => TCP,
            Kind::Udp => UDP,
            Kind::Icmp => ICMP,
            Kind::Gre => GRE,
            Kind::GreKey => GRE_KEY,
            Kind::Vxlan => VXLAN,
            Kind::Other => &[],
        }
    }

    /// Its length in bytes, without options.
    pub(crate) fn bytes(self) -> usize {
        self.fields().last().map_or(0, |last| (last.first + last.width) as usize / 8)
    }

    /// The field that names the next header: its first bit and width.
    pub(crate) fn next_field(self) -> Option<(u32, u32)> {
        match self {
            Kind::Ethernet => Some((96, 16)),
            Kind::Vlan | Kind::Gre => Some((16, 16)),
            Kind::Ipv4 => Some((72, 8)),
            Kind::Ipv6 => Some((48, 8)),
            Kind::Udp => Some((16, 16)),
            Kind::Vxlan | Kind::Arp | Kind::Tcp | Kind::Icmp | Kind::GreKey | Kind::Other => None,
        }
    }

    /// The header behind this one, whose field for that has this value.
    pub(crate) fn next(self, code: u64) -> Option<Kind> {
        NEXT.iter().find(|(before, number, _)| *before == self.family() && *number == code).map(|(.., next)| *next)
    }

    /// The value of the field for the next header, if that is of this kind.
    pub(crate) fn code_of(self, next: Kind) -> Option<u64> {
        NEXT.iter().find(|(before, _, after)| *before == self.family() && *after == next).map(|(_, code, _)| *code)
    }

    /// The one of several kinds that number what follows alike.
    fn family(self) -> Kind {
        match self {
            Kind::Vlan | Kind::Gre => Kind::Ethernet,
            Kind::Ipv6 => Kind::Ipv4,
            other => other,
        }
    }
}

/// Which header follows which, by the value of the field for it.
const NEXT: &[(Kind, u64, Kind)] = &[
    (Kind::Ethernet, 0x0800, Kind::Ipv4),
    (Kind::Ethernet, 0x86dd, Kind::Ipv6),
    (Kind::Ethernet, 0x0806, Kind::Arp),
    (Kind::Ethernet, 0x8100, Kind::Vlan),
    (Kind::Ethernet, 0x6558, Kind::Ethernet),
    (Kind::Ipv4, 17, Kind::Udp),
    (Kind::Ipv4, 6, Kind::Tcp),
    (Kind::Ipv4, 1, Kind::Icmp),
    (Kind::Ipv4, 58, Kind::Icmp),
    (Kind::Ipv4, 47, Kind::Gre),
    (Kind::Ipv4, 4, Kind::Ipv4),
    (Kind::Ipv4, 41, Kind::Ipv6),
    (Kind::Udp, PORT_VXLAN, Kind::Vxlan),
];

/// What each kind is recognised by: its length in bits, and first bits of fields that it must have.
const SHAPES: &[(Kind, u32, &[u32])] = &[
    (Kind::Ethernet, 112, &[48, 96]),
    (Kind::Arp, 224, &[16, 32, 48, 64]),
    (Kind::Ipv4, 160, &[16, 32, 64, 72, 80, 96, 128]),
    (Kind::Ipv6, 320, &[32, 48, 56, 64, 192]),
    (Kind::Tcp, 160, &[16, 32, 128]),
    (Kind::Udp, 64, &[16, 32, 48]),
    (Kind::Icmp, 64, &[8, 16, 32]),
    (Kind::Vxlan, 64, &[32, 56]),
    (Kind::Vlan, 32, &[4, 16]),
    (Kind::Gre, 32, &[16]),
    (Kind::GreKey, 32, &[]),
];

/// The kind of a header behind another one.
pub(crate) fn recognise(ty: &HeaderType, previous: Option<Kind>) -> Kind {
    let starts: Vec<u32> = (0..ty.fields.len()).map(|field| ty.offset_bits(field)).collect();
    let has_all = |bits: &[u32]| bits.iter().all(|bit| starts.contains(bit));
    let fits = |(kind, width, bits): &(Kind, u32, &[u32])| {
        *width == ty.fixed_width() && has_all(bits) && may_follow(*kind, previous)
    };
    SHAPES.iter().find(|shape| fits(shape)).map_or(Kind::Other, |(kind, ..)| *kind)
}

/// Whether a kind that has few marks of its own can be behind this header.
fn may_follow(kind: Kind, previous: Option<Kind>) -> bool {
    let is_behind = |kinds: &[Kind]| previous.is_some_and(|previous| kinds.contains(&previous));
    match kind {
        Kind::Tcp | Kind::Udp | Kind::Icmp => is_behind(&[Kind::Ipv4, Kind::Ipv6]),
        Kind::Gre => is_behind(&[Kind::Ipv4, Kind::Ipv6]),
        Kind::GreKey => is_behind(&[Kind::Gre]),
        Kind::Vxlan => is_behind(&[Kind::Udp]),
        Kind::Vlan => is_behind(&[Kind::Ethernet, Kind::Vlan]),
        _ => true,
    }
}

/// The fields of a header type: name, first bit and width, with a varbit field of this width.
pub(crate) fn fields_of(ty: &HeaderType, varbit_bits: u32) -> impl Iterator<Item = (&str, u32, u32)> {
    let mut first = 0;
    ty.fields.iter().map(move |field| {
        let width = match field.ty {
            FieldType::Fixed(ty) => ty.width(),
            FieldType::Varbit(_) => varbit_bits,
        };
        first += width;
        (field.name.as_str(), first - width, width)
    })
}
