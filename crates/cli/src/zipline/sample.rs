//! `zipline fit` and `zipline tables`: a capture says which transform suits the traffic, and what tables should hold.
//!
//! What enters: a capture. What leaves: what each transform would make of it, and the entries of both programs for
//! one of them. Transforms, bases and commands are those of the crate `zipline`; files and the terminal are here.

use crate::Exit;
use crate::terminal::{self, grouped, say};
use clap::Args;
use live::pcap::CaptureReader;
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use zipline::choice::{self, Row, Sample};
use zipline::entries::{self, Class, Header};
use zipline::transform::Layout;
use zipline::{Dictionary, Kind, Sizes, Transform};

/// Bytes before a chunk: the Ethernet header.
const HEADER_BYTES: usize = 14;

/// Which packets are compressed.
#[derive(Args, Debug)]
struct Traffic {
    /// The EtherType of the packets that are compressed
    #[arg(long, default_value = "0x0800", value_name = "NUMBER", value_parser = ethertype)]
    ethertype: u16,
    /// Bits of an identifier, as both programs are compiled
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    id_bits: u32,
    /// Bytes of a chunk with a mask [default: as many as nine of ten payloads have, at most 64]
    #[arg(long, value_name = "BYTES", value_parser = chunk)]
    chunk: Option<usize>,
    /// Bytes between the Ethernet header and the first chunk [default: 0; with --udp 28, with --tcp 40]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(0..=256))]
    offset: Option<u16>,
    /// How many chunks of a packet are compressed, at most
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    count: u8,
    /// Only IPv4 packets without options that have UDP to this port; chunks begin behind its header
    #[arg(long, value_name = "PORT", conflicts_with = "tcp")]
    udp: Option<u16>,
    /// The same with TCP; with options, --offset says where its header ends
    #[arg(long, value_name = "PORT")]
    tcp: Option<u16>,
}

impl Traffic {
    /// Identifiers have so many bits that there is this first one.
    fn check(&self, first: u32) -> Result<(), Exit> {
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

    /// What programs are compiled with for one of these transforms.
    fn options(&self, transform: &Transform, wires: &Wires) -> String {
        let options = transform.options(self.id_bits);
        match wires.class {
            0 => options,
            class => format!("{options} -D CLASSES={}", class + 1),
        }
    }

    /// Where the chunks of its packets are, and what stands before them.
    fn place(&self) -> Result<(Layout, Header), Exit> {
        let (protocol, port, usual) = match (self.udp, self.tcp) {
            (Some(port), _) => (17, Some(port), 28),
            (_, Some(port)) => (6, Some(port), 40),
            _ => (0, None, 0),
        };
        let offset = usize::from(self.offset.unwrap_or(usual));
        if port.is_some() && (offset < usize::from(usual) || protocol == 6 && (offset % 4 != 0 || offset > 80)) {
            terminal::error(
                "--offset: chunks begin behind the header, at 28 or later for UDP, and at 40, 44, ... or 80 for TCP",
            );
            return Err(Exit::Usage);
        }
        let header = port.map_or_else(Header::default, |port| Header::transport(protocol, port, offset));
        Ok((Layout { offset, count: self.count.into() }, header))
    }
}

/// Where packets go, and what of it is in the entries.
#[derive(Args, Debug)]
struct Wires {
    /// The port where the encoder receives these packets, and the one where it sends them
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    encoder_ports: (u16, u16),
    /// The same for the decoder
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    decoder_ports: (u16, u16),
    /// Also have both programs send what comes back, as it is; without it, it is dropped
    #[arg(long)]
    both_ways: bool,
    /// The number of this class of traffic: the entries of 0 have the wires and the code, those of others only
    /// their own
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=255))]
    class: u32,
    /// The first identifier that its bases get, behind those of other classes
    #[arg(long, default_value_t = 0, value_name = "N")]
    first_identifier: u32,
    /// Give no basis an identifier: `zipline learn` will
    #[arg(long)]
    no_bases: bool,
}

/// Arguments of `zipline fit`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Fit {
    /// A capture, pcap or pcapng
    #[arg(value_name = "CAPTURE")]
    capture: PathBuf,
    #[command(flatten)]
    traffic: Traffic,
    #[command(flatten)]
    wires: Wires,
    /// Where the encoder's entries go, for the transform that makes payloads smallest while bases are learned
    #[arg(long, value_name = "FILE", requires = "decoder")]
    encoder: Option<PathBuf>,
    /// Where the decoder's entries go
    #[arg(long, value_name = "FILE", requires = "encoder")]
    decoder: Option<PathBuf>,
    /// Print a JSON object per transform instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  wirespeed zipline fit sample.pcap
  wirespeed zipline fit sample.pcap --encoder encoder.txt --decoder decoder.txt --no-bases
  wirespeed zipline tables sample.pcap --transform mask-41 --encoder encoder.txt --decoder decoder.txt

Transforms are hamming-M and bch-M (a code on all but the first bit of 2^M bits; bch corrects two bits), mask-BITS (so many
bits, chosen from the capture, are set aside; the others are the basis), swap-hamming-M and swap-bch-M (a mask sets aside
what the word of the code leaves).";

/// Arguments of `zipline tables`.
#[derive(Args, Debug)]
pub struct Tables {
    /// A capture, pcap or pcapng, whose bases get identifiers; none do without it, as for `zipline learn`
    #[arg(value_name = "CAPTURE")]
    capture: Option<PathBuf>,
    #[command(flatten)]
    traffic: Traffic,
    /// The Hamming code, 3 to 15: short for --transform hamming-N
    #[arg(long, value_name = "N", conflicts_with = "transform", value_parser = clap::value_parser!(u32).range(3..=15))]
    m: Option<u32>,
    /// How chunks are split, as `zipline fit` names it: hamming-8, bch-8, mask-41, swap-hamming-7, ...
    #[arg(long, value_name = "NAME", default_value = "hamming-8")]
    transform: Kind,
    #[command(flatten)]
    wires: Wires,
    /// Where the encoder's entries go
    #[arg(long, value_name = "FILE")]
    encoder: PathBuf,
    /// Where the decoder's entries go
    #[arg(long, value_name = "FILE")]
    decoder: PathBuf,
}

fn ethertype(text: &str) -> Result<u16, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "it is a number of 16 bits, such as 0x0800".to_owned())
}

fn wire(text: &str) -> Result<(u16, u16), String> {
    let ports = text.split_once(',').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ports.filter(|(from, to)| *from < 511 && *to < 511).ok_or_else(|| "it is two ports, such as 1,2".to_owned())
}

fn chunk(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| (1..=Transform::CHUNK_MAX).contains(bytes));
    bytes.ok_or_else(|| format!("it is a number of bytes, 1 to {}", Transform::CHUNK_MAX))
}

/// Says what each transform would make of a capture, and writes the entries for the best if asked.
pub fn fit(arguments: &Fit) -> Result<Exit, Exit> {
    let (layout, header) = arguments.traffic.place()?;
    arguments.traffic.check(arguments.wires.first_identifier)?;
    let payloads = payloads(&arguments.capture, arguments.traffic.ethertype, &header, layout)?;
    let sample = Sample::new(&payloads, layout, arguments.traffic.chunk).behind(arguments.wires.first_identifier);
    let rows = sample.rows(arguments.traffic.id_bits);
    if !arguments.json {
        say!("transform        chunk      chunks       bases  with identifier   size  met before  learned");
    }
    for row in &rows {
        tell(row, arguments);
    }
    let Some(best) = choice::best(&rows) else {
        let message =
            "nothing is gained: no transform makes these payloads smaller by a hundredth while bases are learned";
        if arguments.encoder.is_some() {
            terminal::error(format_args!("{message}; no entries are written"));
            return Err(Exit::BadInput);
        }
        terminal::warning(message);
        return Ok(Exit::Success);
    };
    if let (Some(encoder), Some(decoder)) = (&arguments.encoder, &arguments.decoder) {
        let dictionary = sample.dictionary(&best.transform);
        write_both(&dictionary, &arguments.traffic, header, &arguments.wires, [encoder, decoder])?;
        if !arguments.json {
            let options = arguments.traffic.options(&best.transform, &arguments.wires);
            say!("entries are for {}: compile both programs with {options}", best.kind);
        }
    }
    Ok(Exit::Success)
}

fn tell(row: &Row, arguments: &Fit) {
    let (sizes, id_bits) = (&row.sizes, arguments.traffic.id_bits);
    let chunk = row.transform.chunk_bytes();
    if arguments.json {
        let line = json!({
            "transform": row.kind.to_string(),
            "options": arguments.traffic.options(&row.transform, &arguments.wires),
            "chunk_bytes": chunk,
            "reference_bytes": row.transform.reference_bytes(id_bits),
            "chunks": sizes.chunks,
            "bases": sizes.bases,
            "with_identifier": sizes.known,
            "met_before": sizes.met_before,
            "bytes": sizes.original,
            "bytes_with_table": sizes.with_table,
            "bytes_learned": sizes.learned,
            "mask": row.transform.mask().map(entries::hexadecimal),
        });
        return say!("{line}");
    }
    let [chunks, bases, known, before] = [sizes.chunks, sizes.bases, sizes.known, sizes.met_before].map(grouped);
    let (table, learned) = (ratio(sizes.with_table, sizes), ratio(sizes.learned, sizes));
    let name = row.kind.to_string();
    say!("{name:<15}  {chunk:>5}  {chunks:>10}  {bases:>10}  {known:>15}  {table:>5}  {before:>10}  {learned:>7}");
}

/// Writes the entries of both programs.
pub fn tables(arguments: &Tables) -> Result<Exit, Exit> {
    let Traffic { ethertype, id_bits, chunk, .. } = arguments.traffic;
    let (layout, header) = arguments.traffic.place()?;
    arguments.traffic.check(arguments.wires.first_identifier)?;
    let payloads = match &arguments.capture {
        Some(capture) => payloads(capture, ethertype, &header, layout)?,
        None => Vec::new(),
    };
    let kind = arguments.m.map_or(arguments.transform, Kind::Hamming);
    let sample = Sample::new(&payloads, layout, chunk).behind(arguments.wires.first_identifier);
    let transform = sample.transform(kind).map_err(|error| {
        terminal::error(format_args!("--transform: {error}"));
        Exit::Usage
    })?;
    let dictionary = sample.dictionary(&transform);
    let files = [&*arguments.encoder, &*arguments.decoder];
    let with_identifier = write_both(&dictionary, &arguments.traffic, header, &arguments.wires, files)?;
    if arguments.capture.is_some() {
        let packets = payloads.len() as u64;
        tell_tables(&dictionary.sizes(id_bits), [packets, with_identifier], &transform, arguments.wires.no_bases);
    }
    if transform.saved_bytes(id_bits) == 0 {
        terminal::warning(format_args!(
            "nothing is gained: with identifiers of {id_bits} bits, {} bytes stand for a chunk of {}; no packet \
             becomes shorter",
            transform.reference_bytes(id_bits),
            transform.chunk_bytes()
        ));
    }
    say!("compile both programs with {}", arguments.traffic.options(&transform, &arguments.wires));
    Ok(Exit::Success)
}

/// What the packets of a capture become.
fn tell_tables(sizes: &Sizes, numbers: [u64; 2], transform: &Transform, is_learned: bool) {
    let [packets, with_identifier] = numbers.map(grouped);
    let [chunks, bases, known, original] = [sizes.chunks, sizes.bases, sizes.known, sizes.original].map(grouped);
    say!("{packets} packets, {chunks} chunks of {} bytes", transform.chunk_bytes());
    let (bytes, once) = match is_learned {
        true => (sizes.learned, " while these are learned"),
        false => (sizes.with_table, ""),
    };
    match is_learned {
        true => say!("{bases} bases"),
        false => say!("{bases} bases, {with_identifier} with an identifier: those of {known} chunks"),
    }
    say!("payloads of {original} bytes become {}{once}: {}", grouped(bytes), ratio(bytes, sizes));
}

/// Writes the entries of both programs; says how many bases have identifiers.
fn write_both(
    dictionary: &Dictionary<'_>,
    traffic: &Traffic,
    header: Header,
    wires: &Wires,
    [encoder, decoder]: [&Path; 2],
) -> Result<u64, Exit> {
    let (transform, first) = (dictionary.transform(), wires.first_identifier);
    let chosen = if wires.no_bases { Vec::new() } else { dictionary.chosen(traffic.id_bits) };
    let common = |(from, to): (u16, u16)| match wires.class {
        0 => {
            let back = if wires.both_ways { format!("table_add ports send {to} => {from}\n") } else { String::new() };
            format!("table_add ports send {from} => {to}\n{back}{}", entries::masks(transform))
        }
        _ => String::new(),
    };
    let class = Class { number: wires.class, ethertype: traffic.ethertype, port: wires.encoder_ports.0, header };
    let options = format!("# Compiled with {}\n", traffic.options(transform, wires));
    let (to_encode, to_restore) = (entries::encode(&class, transform), entries::restore(&class, transform));
    let (identifiers, bases) = (entries::identifiers(first, &chosen), entries::bases(first, &chosen));
    write(encoder, &[&options, &common(wires.encoder_ports), &to_encode, &identifiers])?;
    write(decoder, &[&options, &common(wires.decoder_ports), &to_restore, &bases])?;
    Ok(chosen.len() as u64)
}

fn ratio(bytes: u64, sizes: &Sizes) -> String {
    format!("{:.3}", bytes as f64 / sizes.original.max(1) as f64)
}

/// What is behind the Ethernet headers of the packets that are compressed.
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
            // As when what captures is killed.
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
            "of `{path}`, no packet of this kind has anything behind its first {bytes} bytes"
        )));
    }
    Ok(payloads)
}

fn write(path: &Path, parts: &[&str]) -> Result<(), Exit> {
    std::fs::write(path, parts.concat()).map_err(|error| {
        terminal::error(format_args!("{}: {error}", path.display()));
        Exit::System
    })
}
