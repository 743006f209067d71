//! From a path through a parser, or a row of known headers, to frames.
//!
//! What enters: the bits that a path needs and the headers on it. What leaves: a template, and for each flow and length
//! a frame: with the flow's values in the free fields, and right lengths and checksums in all headers that are known.

use crate::expression::{Context, Expression, between};
use crate::layout::{self, Kind, PORT_VXLAN, Role};
use crate::path::{LENGTH, PACKET, PORT, Path};
use crate::solve::Input;
use crate::term::Source as _;
use base::index::Id as _;
use base::{Bits, Rng};
use ir::{Program, StateId, ValueSetId};

/// Headers that are added behind the last one of the program.
const ADDED_MAX: usize = 8;

/// A free field: the flow's value is written to it.
#[derive(Clone, Debug)]
struct Free {
    first: usize,
    width: u32,
    value: FreeValue,
}

#[derive(Clone, Debug)]
enum FreeValue {
    Role(Role),
    Expression(Expression),
}

/// A known header.
#[derive(Clone, Copy, Debug)]
struct Layer {
    kind: Kind,
    /// Its first byte.
    start: usize,
    /// Its length in bytes.
    bytes: usize,
    /// Whether its length field and its checksum may be written.
    has_length: bool,
    has_checksum: bool,
}

/// A field by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name: `hdr.ipv4.destination`.
    pub name: String,
    /// Its first bit in the packet.
    pub first: usize,
    /// Its width in bits.
    pub width: u32,
}

/// Frames of one form.
#[derive(Clone, Debug)]
pub struct Template {
    /// The states of the parser that take it, in order.
    pub states: Vec<StateId>,
    /// Whether the parser accepts it.
    pub is_accepted: bool,
    /// The port at which it arrives, and whether it must be that one.
    pub port: (u32, bool),
    /// The fields of all headers.
    pub places: Vec<Place>,
    /// Members that value sets must have.
    pub members: Vec<(ValueSetId, Vec<Bits>)>,
    /// The length of all frames, if the parser requires one.
    length: Option<usize>,
    bytes: Vec<u8>,
    free: Vec<Free>,
    layers: Vec<Layer>,
}

impl Template {
    /// The frames that take a path.
    pub(crate) fn of_path(program: &Program, path: &Path, is_accepted: bool) -> Template {
        let mut input = path.input.clone();
        let (mut headers, mut places) = (Vec::new(), Vec::new());
        for extracted in &path.extracted {
            let header = &program.headers[extracted.header];
            let ty = &program.header_types[header.ty];
            let bits = (ty.fixed_width() + extracted.varbit_bits) as usize;
            headers.push((extracted.kind, extracted.first, bits));
            for (name, offset, width) in layout::fields_of(ty, extracted.varbit_bits) {
                let first = extracted.first + offset as usize;
                places.push(Place { name: format!("{}.{name}", header.name), first, width });
            }
        }
        let ends_at = headers.last().map_or(0, |(_, first, bits)| first + bits);
        if ends_at == path.cursor {
            add_headers(&mut input, &mut headers, &mut places);
        }
        link(&mut input, &headers);
        let mut template = Template::of_headers(&input, &headers, &places, (path.end, program.architecture.port_bits));
        template.states = path.states.clone();
        template.is_accepted = is_accepted;
        template.members.clone_from(&path.members);
        template
    }

    /// The frames with these headers.
    pub(crate) fn of_kinds(kinds: &[Kind]) -> Template {
        let (mut input, mut headers, mut places) = (Input::default(), Vec::new(), Vec::new());
        kinds.iter().for_each(|kind| add(&mut input, *kind, &mut headers, &mut places));
        link(&mut input, &headers);
        Template::of_headers(&input, &headers, &places, (0, 32))
    }

    fn of_headers(
        input: &Input,
        headers: &[(Kind, usize, usize)],
        places: &[Place],
        (end, port_bits): (usize, u32),
    ) -> Template {
        let headers_end = headers.iter().map(|(_, first, bits)| first + bits).max().unwrap_or(0);
        let bytes_count = headers_end.max(end).div_ceil(8);
        let whole = input.bits(PACKET, bytes_count as u32 * 8);
        let mut free = Vec::new();
        for (kind, first, _) in headers {
            for field in kind.fields().iter().filter(|field| !matches!(field.role, Role::Usual(_))) {
                let (first, width) = (first + field.first as usize, field.width);
                free.push(Free { first, width, value: FreeValue::Role(field.role) });
            }
        }
        for place in places.iter().filter(|place| place.width > 0) {
            let is_inside = |(kind, first, bits): &&(Kind, usize, usize)| {
                *kind == Kind::Other && (*first..first + bits).contains(&place.first)
            };
            if headers.iter().any(|header| is_inside(&header)) {
                free.push(Free { first: place.first, width: place.width, value: FreeValue::Role(Role::Any) });
            }
        }
        free.retain(|free| !input.is_mentioned(PACKET + free.first, free.width));
        let known = |first, width| input.bits(first, width).low_u64();
        Template {
            states: Vec::new(),
            is_accepted: true,
            port: (known(PORT, 32) as u32, input.is_pinned(PORT + 32 - port_bits as usize, port_bits)),
            places: places.to_vec(),
            members: Vec::new(),
            length: input.is_mentioned(LENGTH, 32).then(|| (known(LENGTH, 32) as usize).clamp(bytes_count, 9_000)),
            bytes: whole.to_be_bytes(),
            free,
            layers: layers(input, headers),
        }
    }

    /// Gives a field the value of an expression, for every flow. False: there is no such field.
    pub fn set(&mut self, name: &str, value: &Expression) -> bool {
        let is_it =
            |place: &&Place| place.name == name || place.name.strip_suffix(name).is_some_and(|it| it.ends_with('.'));
        let Some(place) = self.places.iter().find(is_it).cloned() else { return false };
        self.set_place(place.first, place.width, value);
        true
    }

    pub(crate) fn set_place(&mut self, first: usize, width: u32, value: &Expression) {
        let overlaps = |free: &Free| free.first < first + width as usize && first < free.first + free.width as usize;
        self.free.retain(|free| !overlaps(free));
        self.free.push(Free { first, width, value: FreeValue::Expression(value.clone()) });
    }

    /// Leaves the checksums of TCP and UDP zero: not computed, as some senders leave them to others.
    pub fn without_transport_checksums(&mut self) {
        for layer in self.layers.iter_mut().filter(|layer| matches!(layer.kind, Kind::Tcp | Kind::Udp)) {
            layer.has_checksum = false;
        }
    }

    /// The least length of its frames in bytes.
    pub fn headers_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Makes the frame of a flow: as long as requested, but never shorter than its headers.
    pub fn frame(&self, context: &Context<'_>, bytes: usize, frame: &mut Vec<u8>) {
        frame.clear();
        frame.extend_from_slice(&self.bytes);
        frame.resize(self.length.unwrap_or(bytes).max(self.bytes.len()), 0);
        for free in &self.free {
            let value = match &free.value {
                FreeValue::Role(role) => flow_value(*role, free, context),
                FreeValue::Expression(expression) => Bits::from_u128(free.width, expression.value(context)),
            };
            value.to_packet(frame, free.first);
        }
        for position in (0..self.layers.len()).rev() {
            self.complete(position, frame);
        }
    }

    /// Writes the length and the checksum of a header. Those behind it are complete.
    fn complete(&self, position: usize, frame: &mut [u8]) {
        let layer = self.layers[position];
        let start = layer.start;
        let length = (frame.len() - start).min(usize::from(u16::MAX)) as u16;
        match layer.kind {
            Kind::Ipv4 => {
                if layer.has_length {
                    write(frame, start + 2, length);
                }
                if layer.has_checksum {
                    let end = (start + layer.bytes).min(frame.len());
                    write(frame, start + 10, 0);
                    let sum = !sum(&frame[start..end], 0);
                    write(frame, start + 10, sum);
                }
            }
            Kind::Ipv6 if layer.has_length => write(frame, start + 4, length.saturating_sub(40)),
            Kind::Udp => {
                if layer.has_length {
                    write(frame, start + 4, length);
                }
                self.complete_transport(position, frame, 6);
            }
            Kind::Tcp => self.complete_transport(position, frame, 16),
            Kind::Icmp => self.complete_transport(position, frame, 2),
            _ => {}
        }
    }

    /// Writes the checksum of TCP, UDP or ICMP, if it is behind an IP header.
    fn complete_transport(&self, position: usize, frame: &mut [u8], offset: usize) {
        let layer = self.layers[position];
        let Some(ip) = position.checked_sub(1).map(|before| self.layers[before]) else { return };
        let (protocol, addresses) = match ip.kind {
            Kind::Ipv4 => (u16::from(frame[ip.start + 9]), ip.start + 12..ip.start + 20),
            Kind::Ipv6 => (u16::from(frame[ip.start + 6]), ip.start + 8..ip.start + 40),
            _ => return,
        };
        if !layer.has_checksum {
            return;
        }
        write(frame, layer.start + offset, 0);
        if self.layers.get(position + 1).is_some_and(|next| next.kind == Kind::Vxlan) && ip.kind == Kind::Ipv4 {
            // Zero: tunnels have none (RFC 7348).
            return;
        }
        let segment = &frame[layer.start..];
        let pseudo = match protocol {
            1 => 0,
            _ => u64::from(sum(&frame[addresses], 0)) + u64::from(protocol) + segment.len() as u64,
        };
        let checksum = !sum(segment, pseudo);
        // Zero means none in UDP, so a sum of zero is written as its other form.
        write(frame, layer.start + offset, if checksum == 0 && protocol == 17 { 0xffff } else { checksum });
    }
}

fn write(frame: &mut [u8], at: usize, value: u16) {
    if let Some(place) = frame.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// The ones' complement sum of 16-bit words (RFC 1071).
fn sum(bytes: &[u8], start: u64) -> u16 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
    let mut sum = bytes.chunks(2).map(word).fold(start, u64::wrapping_add);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The flow's value of a field.
fn flow_value(role: Role, free: &Free, context: &Context<'_>) -> Bits {
    let mut rng = context.rng(free.first as u64);
    let width = free.width;
    match role {
        Role::Usual(value) => Bits::from_u64(width, value),
        Role::Mac => Bits::from_u64(width, 0x0200_0000_0000 | rng.below(1 << 40)),
        Role::Ipv4 => Bits::from_u64(width, unicast(&mut rng)),
        // Of the addresses of the Internet (2000::/3), as those of IPv4: of fewer, short prefixes would cover all.
        Role::Ipv6 => Bits::from_u128(width, 1 << 125 | between(&mut rng, 0, (1 << 125) - 1)),
        Role::Port => Bits::from_u64(width, rng.between(PORT_VXLAN + 1, 65_535)),
        Role::Any => random_bits(width, &mut rng),
    }
}

/// An IPv4 address that a host may have: not of this network (0), of the host itself (127), nor of groups.
fn unicast(rng: &mut Rng) -> u64 {
    let first = rng.between(1, 222);
    let first = if first < 127 { first } else { first + 1 };
    first << 24 | rng.below(1 << 24)
}

/// Random bits.
pub(crate) fn random_bits(width: u32, rng: &mut Rng) -> Bits {
    let limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| rng.next_u64()).collect();
    Bits::from_limbs(width, &limbs)
}

/// Adds a known header, with its usual values where nothing else is required.
fn add(input: &mut Input, kind: Kind, headers: &mut Vec<(Kind, usize, usize)>, places: &mut Vec<Place>) {
    let start = headers.last().map_or(0, |(_, first, bits)| first + bits);
    let is_taken = |name: &str| places.iter().any(|place| place.name.split_once('.').is_some_and(|it| it.0 == name));
    let mut names = (1..).map(|number| match number {
        1 => kind.name().to_owned(),
        _ => format!("{}_{number}", kind.name()),
    });
    let header = names.find(|name| !is_taken(name)).unwrap_or_default();
    for field in kind.fields() {
        let first = start + field.first as usize;
        if let Role::Usual(value) = field.role {
            input.set_usual(PACKET + first, &Bits::from_u64(field.width, value));
        }
        places.push(Place { name: format!("{header}.{}", field.name), first, width: field.width });
    }
    headers.push((kind, start, kind.bytes() * 8));
}

/// Adds the headers that follow the last one, by its field for that.
fn add_headers(input: &mut Input, headers: &mut Vec<(Kind, usize, usize)>, places: &mut Vec<Place>) {
    if headers.is_empty() {
        add(input, Kind::Ethernet, headers, places);
    }
    for _ in 0..ADDED_MAX {
        let Some((kind, first, _)) = headers.last().copied() else { return };
        let Some((offset, width)) = kind.next_field().filter(|_| kind != Kind::Udp) else { return };
        let code = input.bits(PACKET + first + offset as usize, width).low_u64();
        let Some(next) = kind.next(code) else { return };
        add(input, next, headers, places);
    }
}

/// Makes each header name the next one, where nothing else is required.
fn link(input: &mut Input, headers: &[(Kind, usize, usize)]) {
    for pair in headers.windows(2) {
        let ((kind, first, _), (next, next_first, _)) = (pair[0], pair[1]);
        let Some((offset, width)) = kind.next_field() else { continue };
        let at = PACKET + first + offset as usize;
        let names = kind.next(input.bits(at, width).low_u64());
        if let Some(code) = kind.code_of(next).filter(|_| names != Some(next)) {
            input.pin(at, &Bits::from_u64(width, code));
        }
        // Whether there is a key.
        if kind == Kind::Gre && next == Kind::GreKey {
            input.pin(PACKET + first, &Bits::from_u64(16, 0x2000));
            input.pin(at, &Bits::from_u64(16, 0x0800));
        }
        debug_assert!(next_first >= first);
    }
}

/// The headers whose lengths and checksums are written: those that are what the one before names.
fn layers(input: &Input, headers: &[(Kind, usize, usize)]) -> Vec<Layer> {
    let mut layers = Vec::new();
    for (position, (kind, first, bits)) in headers.iter().enumerate() {
        let is_free = |offset: usize, width| !input.is_mentioned(PACKET + first + offset, width);
        let previous = position.checked_sub(1).map(|before| headers[before]);
        let named = previous.and_then(|(kind, first, _)| {
            let (offset, width) = kind.next_field()?;
            kind.next(input.bits(PACKET + first + offset as usize, width).low_u64())
        });
        let needs_name = matches!(kind, Kind::Tcp | Kind::Udp | Kind::Icmp);
        if *kind == Kind::Other || !first.is_multiple_of(8) || needs_name && named != Some(*kind) {
            continue;
        }
        let (length, checksum) = match kind {
            Kind::Ipv4 => (16, 80),
            Kind::Ipv6 => (32, 0),
            Kind::Udp => (32, 48),
            Kind::Tcp => (0, 128),
            Kind::Icmp => (0, 16),
            _ => (0, 0),
        };
        layers.push(Layer {
            kind: *kind,
            start: first / 8,
            bytes: bits / 8,
            has_length: is_free(length, 16),
            has_checksum: is_free(checksum, 16),
        });
    }
    layers
}

/// Names of states, for people.
pub fn state_names(program: &Program, states: &[StateId]) -> Vec<String> {
    let declared = crate::walk::parser_of(program).map(|(.., states)| states);
    let name = |state: &StateId| declared.map_or_else(|| state.index().to_string(), |all| all[*state].name.clone());
    states.iter().map(name).collect()
}
