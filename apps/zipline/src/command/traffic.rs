//! The packets to compress, by class: from the arguments and from captures.
//!
//! What enters: arguments. What leaves: the positions of chunks, and for each class the fields that distinguish its
//! packets, and the payloads of its capture.

use crate::entries::Header;
use crate::transform::Layout;
use crate::{Classes, Kind, Transform};
use clap::Args;
use command_line::Exit;
use command_line::terminal;
use live::pcap::CaptureReader;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The length of the Ethernet header.
const HEADER_BYTES: usize = 14;

/// The packets to compress.
#[derive(Args, Debug, Clone)]
pub(super) struct Traffic {
    /// The EtherType of the packets that are compressed
    #[arg(long, default_value = "0x0800", value_name = "NUMBER", value_parser = ethertype)]
    ethertype: u16,
    /// Bits of an identifier, as in the compile options of both programs
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    pub id_bits: u32,
    /// Bytes of a chunk with a mask [default: as many as nine of ten payloads have, at most 64]
    #[arg(long, value_name = "BYTES", value_parser = chunk)]
    chunk: Option<usize>,
    /// Bytes between the Ethernet header and the first chunk [default: 0; with --udp 28, with --tcp 40]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(0..=256))]
    offset: Option<u16>,
    /// How many chunks of a packet are compressed, at most
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    count: u8,
    /// Only IPv4 packets without options that have UDP to this port; chunks begin after its header
    #[arg(long, value_name = "PORT", conflicts_with = "tcp")]
    udp: Option<u16>,
    /// The same with TCP; with options, --offset gives the end of its header
    #[arg(long, value_name = "PORT")]
    tcp: Option<u16>,
    /// Another class of traffic, with a transform of its own: its capture, and after commas what distinguishes its
    /// packets (ethertype=NUMBER, udp=PORT, tcp=PORT), the bytes of its chunks (chunk=BYTES), and for `tables` its
    /// transform (transform=NAME) and its generator (polynomial=NUMBER); may be repeated
    #[arg(
        long,
        value_name = "CAPTURE[,udp=PORT...]",
        value_parser = also,
        conflicts_with_all = ["class", "first_identifier"]
    )]
    also: Vec<Also>,
}

/// A further class of traffic, as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Also {
    capture: Option<PathBuf>,
    ethertype: Option<u16>,
    udp: Option<u16>,
    tcp: Option<u16>,
    chunk: Option<usize>,
    transform: Option<Kind>,
    polynomial: Option<u32>,
}

/// A class of traffic.
pub(super) struct Part {
    /// Its name: its capture, and what distinguishes its packets.
    pub name: String,
    pub ethertype: u16,
    pub header: Header,
    /// Bytes of chunks with masks, if given.
    pub chunk: Option<usize>,
    /// Its transform, if given.
    pub transform: Option<Kind>,
    /// The generator of its Hamming code, if given.
    pub polynomial: Option<u32>,
    /// The payloads of its packets; empty without a capture.
    pub payloads: Vec<Vec<u8>>,
}

impl Traffic {
    /// Identifiers have enough bits for this first one.
    pub fn check(&self, first: u32) -> Result<(), Exit> {
        let last = (1_u32 << self.id_bits) - 1;
        if first > last {
            terminal::error(format_args!(
                "--first-identifier: identifiers of {} bits are 0 to {last}; --id-bits makes more",
                self.id_bits
            ));
            return Err(Exit::Usage);
        }
        Ok(())
    }

    /// Whether each further class has a capture, from which the transform is chosen.
    pub fn has_captures(&self) -> bool {
        self.also.iter().all(|it| it.capture.is_some() && it.transform.is_none() && it.polynomial.is_none())
    }

    /// The captures that are read.
    pub fn captures<'a>(&'a self, first: Option<&'a Path>) -> Vec<&'a Path> {
        first.into_iter().chain(self.also.iter().filter_map(|it| it.capture.as_deref())).collect()
    }

    /// All classes as written. EtherType and chunks default to those of the first.
    fn named(&self, capture: Option<&Path>) -> Vec<Also> {
        let first = Also {
            capture: capture.map(Path::to_owned),
            ethertype: Some(self.ethertype),
            udp: self.udp,
            tcp: self.tcp,
            chunk: self.chunk,
            ..Also::default()
        };
        let others = self.also.iter().map(|it| Also {
            ethertype: it.ethertype.or(Some(self.ethertype)),
            chunk: it.chunk.or(self.chunk),
            ..it.clone()
        });
        std::iter::once(first).chain(others).collect()
    }

    /// The positions of chunks, which are the same for all classes, and the classes, with the payloads of their
    /// captures.
    pub fn parts(&self, capture: Option<&Path>) -> Result<(Layout, Vec<Part>), Exit> {
        let refused = |message: &dyn std::fmt::Display| {
            terminal::error(message);
            Exit::Usage
        };
        let named = self.named(capture);
        if named.len() > Classes::COUNT_MAX {
            let most = Classes::COUNT_MAX - 1;
            return Err(refused(&format_args!(
                "--also: no more than {most} further classes have transforms of their own"
            )));
        }
        let usual = named.iter().map(Also::header_bytes).max().unwrap_or(0);
        let offset = self.offset.map_or(usual, usize::from);
        let is_possible = |it: &Also| {
            let is_behind = it.transport().is_none() || offset >= it.header_bytes();
            is_behind && (it.tcp.is_none() || offset.is_multiple_of(4) && offset <= 80)
        };
        if !named.iter().all(is_possible) {
            return Err(refused(
                &"--offset: chunks begin after the header, at 28 or later for UDP, and at 40, 44, ... or 80 for TCP",
            ));
        }
        let layout = Layout { offset, count: self.count.into() };
        let mut parts: Vec<Part> = Vec::new();
        for it in named {
            let part = it.part(layout)?;
            let is_same = |other: &&Part| (other.ethertype, &other.header) == (part.ethertype, &part.header);
            if let Some(other) = parts.iter().find(is_same) {
                return Err(refused(&format_args!(
                    "--also: nothing distinguishes packets like those of `{}` from those of `{}`: add ethertype=, udp= or \
                     tcp=",
                    part.name, other.name
                )));
            }
            parts.push(part);
        }
        Ok((layout, parts))
    }
}

impl Also {
    /// The protocol above IPv4 and its port.
    fn transport(&self) -> Option<(u8, u16)> {
        self.udp.map(|port| (17, port)).or(self.tcp.map(|port| (6, port)))
    }

    /// The length of the headers that distinguish its packets.
    fn header_bytes(&self) -> usize {
        match self.transport() {
            Some((17, _)) => 28,
            Some(_) => 40,
            None => 0,
        }
    }

    fn part(self, layout: Layout) -> Result<Part, Exit> {
        let transport = self.transport();
        let header =
            transport.map_or_else(Header::default, |(protocol, port)| Header::transport(protocol, port, layout.offset));
        let (ethertype, chunk, transform) = (self.ethertype.unwrap_or(0x0800), self.chunk, self.transform);
        let payloads = match &self.capture {
            Some(capture) => payloads(capture, ethertype, &header, layout)?,
            None => Vec::new(),
        };
        let kind = match transport {
            Some((17, port)) => format!("UDP to {port}"),
            Some((_, port)) => format!("TCP to {port}"),
            None => format!("EtherType {ethertype:#06x}"),
        };
        let name = self.capture.map_or_else(|| kind.clone(), |capture| format!("{}, {kind}", capture.display()));
        Ok(Part { name, ethertype, header, chunk, transform, polynomial: self.polynomial, payloads })
    }
}

fn ethertype(text: &str) -> Result<u16, String> {
    let number = number(text).and_then(|number| u16::try_from(number).ok());
    number.ok_or_else(|| "it is a number of 16 bits, such as 0x0800".to_owned())
}

/// A number, decimal or, after 0x, hexadecimal.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The generator of a Hamming code.
pub(super) fn polynomial(text: &str) -> Result<u32, String> {
    number(text).ok_or_else(|| "it is a number, such as 0x17".to_owned())
}

fn chunk(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| (1..=Transform::CHUNK_MAX).contains(bytes));
    bytes.ok_or_else(|| format!("it is a number of bytes, 1 to {}", Transform::CHUNK_MAX))
}

/// The fields of a further class.
const KNOWN: &str = "ethertype=, udp=, tcp=, chunk=, transform= and polynomial=";

/// A further class.
fn also(text: &str) -> Result<Also, String> {
    let mut found = Also::default();
    for (word, number) in text.split(',').zip(0..) {
        let Some((name, value)) = word.split_once('=') else {
            if number > 0 || word.is_empty() {
                return Err(format!("`{word}` is not one of {KNOWN}"));
            }
            found.capture = Some(PathBuf::from(word));
            continue;
        };
        let port = || value.parse().map_err(|_| format!("{name}: `{value}` is not a valid port"));
        match name {
            "ethertype" => found.ethertype = Some(ethertype(value).map_err(|why| format!("{name}: {why}"))?),
            "udp" => found.udp = Some(port()?),
            "tcp" => found.tcp = Some(port()?),
            "chunk" => found.chunk = Some(chunk(value).map_err(|why| format!("{name}: {why}"))?),
            "transform" => found.transform = Some(value.parse().map_err(|why| format!("{name}: {why}"))?),
            "polynomial" => found.polynomial = Some(polynomial(value).map_err(|why| format!("{name}: {why}"))?),
            _ => return Err(format!("`{name}=` is unknown; there are {KNOWN}")),
        }
    }
    if found.polynomial.is_some() && found.transform.is_none() {
        return Err("polynomial= requires transform=".to_owned());
    }
    if found.udp.is_some() && found.tcp.is_some() {
        return Err("udp= and tcp= exclude each other".to_owned());
    }
    Ok(found)
}

/// The payloads of the packets to compress.
fn payloads(capture: &Path, ethertype: u16, header: &Header, layout: Layout) -> Result<Vec<Vec<u8>>, Exit> {
    let refused = |error: &dyn std::fmt::Display| {
        terminal::error(error);
        Exit::BadInput
    };
    let mut reader = CaptureReader::<File>::open(capture).map_err(|error| refused(&error))?;
    let mut payloads = Vec::new();
    loop {
        let packet = match reader.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            // As when the capturing program was killed.
            Err(error) if error.is_truncation() => {
                terminal::warning(&error);
                break;
            }
            Err(error) => return Err(refused(&error)),
        };
        let is_type = packet.data.get(12..HEADER_BYTES) == Some(&ethertype.to_be_bytes());
        if is_type && header.is_of(&packet.data[HEADER_BYTES..]) {
            payloads.push(packet.data[HEADER_BYTES..].to_vec());
        }
    }
    if payloads.is_empty() {
        let path = capture.display();
        let message = match header.bytes.is_empty() {
            true => format!("no packet of `{path}` has the EtherType {ethertype:#06x}; --ethertype names another"),
            false => {
                format!("no packet of `{path}` is IPv4 without options to that port; --udp and --tcp name another")
            }
        };
        return Err(refused(&message));
    }
    if payloads.iter().all(|payload| payload.len() <= layout.offset) {
        let (path, bytes) = (capture.display(), HEADER_BYTES + layout.offset);
        return Err(refused(&format!(
            "of `{path}`, no packet of this kind has any bytes after its first {bytes} bytes"
        )));
    }
    Ok(payloads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_classes_are_named_in_words() {
        let found = also("b.pcap,udp=5683,chunk=23,transform=hamming-5,polynomial=0x17").unwrap();
        let expected = Also {
            capture: Some("b.pcap".into()),
            udp: Some(5683),
            chunk: Some(23),
            transform: Some(Kind::Hamming(5)),
            polynomial: Some(0x17),
            ..Also::default()
        };
        assert_eq!(found, expected);
        assert_eq!(also("ethertype=0x0801").unwrap(), Also { ethertype: Some(0x801), ..Also::default() });
        let messages = [
            "b.pcap,5683",
            "b.pcap,port=1",
            "b.pcap,udp=x",
            "a,udp=1,tcp=2",
            "a,chunk=0",
            "a,transform=mask",
            "a,polynomial=5",
        ]
        .map(|text| also(text).unwrap_err());
        expect_test::expect![[r#"
            `5683` is not one of ethertype=, udp=, tcp=, chunk=, transform= and polynomial=
            `port=` is unknown; there are ethertype=, udp=, tcp=, chunk=, transform= and polynomial=
            udp: `x` is not a valid port
            udp= and tcp= exclude each other
            chunk: it is a number of bytes, 1 to 128
            transform: it is hamming-M or swap-hamming-M with M from 3 to 15, bch-M or swap-bch-M with M from 4 to 9, or mask-BITS
            polynomial= requires transform="#]].assert_eq(&messages.join("\n"));
    }
}
