//! `wirespeed zipline`: what the programs of `apps/zipline` should know of the traffic, from a capture of it, or from
//! the traffic itself.
//!
//! * [`learn`]: the controller, which needs no capture. [`place`] is a switch as it sees it.
//!
//! What enters: a capture. What leaves: for `fit`, what each code would make of it; for `tables`, the entries of both
//! programs. Codes, bases and commands are those of the crate `zipline`; files and the terminal are here.

mod learn;
mod place;

use crate::Exit;
use crate::terminal::{self, grouped, say};
use clap::{Args, Subcommand};
use live::pcap::CaptureReader;
use std::fs::File;
use std::path::{Path, PathBuf};
use zipline::{Code, Dictionary, Sizes, entries};

/// Bytes before a chunk: the Ethernet header.
const HEADER_BYTES: usize = 14;

/// Arguments of `zipline`.
#[derive(Args, Debug)]
pub struct ZiplineArguments {
    /// What to do
    #[command(subcommand)]
    command: ZiplineCommand,
}

#[derive(Subcommand, Debug)]
enum ZiplineCommand {
    /// Say what each code would make of the packets of a capture
    Fit(Fit),
    /// Write the entries of encoder and decoder for the packets of a capture, or those that learning begins with
    Tables(Tables),
    /// Learn bases from encoders while they run, and tell encoders and decoders of them
    Learn(learn::LearnArguments),
}

/// Which packets are compressed.
#[derive(Args, Debug)]
struct Traffic {
    /// The EtherType of the packets that are compressed
    #[arg(long, default_value = "0x0800", value_name = "NUMBER", value_parser = ethertype)]
    ethertype: u16,
    /// Bits of an identifier, as both programs were compiled
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    id_bits: u32,
}

#[derive(Args, Debug)]
struct Fit {
    /// A capture, pcap or pcapng
    #[arg(value_name = "CAPTURE")]
    capture: PathBuf,
    #[command(flatten)]
    traffic: Traffic,
}

#[derive(Args, Debug)]
struct Tables {
    /// A capture, pcap or pcapng, whose bases get identifiers; none do without it, as for `zipline learn`
    #[arg(value_name = "CAPTURE")]
    capture: Option<PathBuf>,
    #[command(flatten)]
    traffic: Traffic,
    /// The code, 3 to 15, as both programs were compiled
    #[arg(long, default_value_t = 8, value_name = "N")]
    m: u32,
    /// The port where the encoder receives these packets, and the one where it sends them
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    encoder_ports: (u16, u16),
    /// The same for the decoder
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    decoder_ports: (u16, u16),
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

/// Does what was asked for.
pub fn zipline(arguments: &ZiplineArguments) -> Result<Exit, Exit> {
    match &arguments.command {
        ZiplineCommand::Fit(arguments) => fit(arguments),
        ZiplineCommand::Tables(arguments) => tables(arguments),
        ZiplineCommand::Learn(arguments) => learn::learn(arguments),
    }
}

fn fit(arguments: &Fit) -> Result<Exit, Exit> {
    let payloads = payloads(&arguments.capture, arguments.traffic.ethertype)?;
    say!("   m   chunk      chunks       bases   with identifier   size");
    for m in Code::M_MIN..=Code::M_MAX {
        let code = code(m)?;
        let sizes = dictionary(&code, &payloads).sizes(arguments.traffic.id_bits);
        let [chunks, bases, known] = [sizes.chunks, sizes.bases, sizes.known].map(grouped);
        let chunk = code.chunk_bytes();
        say!("  {m:>2}  {chunk:>6}  {chunks:>10}  {bases:>10}  {known:>16}  {:>5}", ratio(&sizes));
    }
    Ok(Exit::Success)
}

fn tables(arguments: &Tables) -> Result<Exit, Exit> {
    let code = code(arguments.m)?;
    let Traffic { ethertype, id_bits } = arguments.traffic;
    let payloads = match &arguments.capture {
        Some(capture) => payloads(capture, ethertype)?,
        None => Vec::new(),
    };
    let dictionary = dictionary(&code, &payloads);
    let (chosen, masks) = (dictionary.chosen(id_bits), entries::masks(&code));
    let (from, to) = arguments.encoder_ports;
    let head = format!("table_add ports send {from} => {to}\ntable_add classes encode {from} {ethertype:#06x} => 0\n");
    write(&arguments.encoder, &[&head, &masks, &*entries::identifiers(&chosen)])?;
    let (from, to) = arguments.decoder_ports;
    let head = format!("table_add ports send {from} => {to}\ntable_add classes restore 0 => {ethertype:#06x}\n");
    write(&arguments.decoder, &[&head, &masks, &*entries::bases(&chosen)])?;
    if arguments.capture.is_none() {
        return Ok(Exit::Success);
    }
    let sizes = dictionary.sizes(id_bits);
    let [chunks, bases, known, original, with_table] =
        [sizes.chunks, sizes.bases, sizes.known, sizes.original, sizes.with_table].map(grouped);
    say!("{} packets, {chunks} chunks of {} bytes", grouped(payloads.len() as u64), code.chunk_bytes());
    say!("{bases} bases, {} with an identifier: those of {known} chunks", grouped(chosen.len() as u64));
    say!("payloads of {original} bytes become {with_table}: {}", ratio(&sizes));
    Ok(Exit::Success)
}

fn ratio(sizes: &Sizes) -> String {
    format!("{:.3}", sizes.with_table as f64 / sizes.original.max(1) as f64)
}

fn code(m: u32) -> Result<Code, Exit> {
    Code::new(m).map_err(|error| {
        terminal::error(format_args!("--m: {error}"));
        Exit::Usage
    })
}

fn dictionary<'c>(code: &'c Code, payloads: &[Vec<u8>]) -> Dictionary<'c> {
    let mut dictionary = Dictionary::new(code);
    payloads.iter().for_each(|payload| dictionary.add(payload));
    dictionary
}

/// What is behind the Ethernet headers of the packets that are compressed.
fn payloads(capture: &Path, ethertype: u16) -> Result<Vec<Vec<u8>>, Exit> {
    let refused = |error: &dyn std::fmt::Display| {
        terminal::error(error);
        Exit::BadInput
    };
    let mut reader = CaptureReader::<File>::open(capture).map_err(|error| refused(&error))?;
    let mut payloads = Vec::new();
    while let Some(packet) = reader.next_packet().map_err(|error| refused(&error))? {
        if packet.data.get(12..HEADER_BYTES) == Some(&ethertype.to_be_bytes()) {
            payloads.push(packet.data[HEADER_BYTES..].to_vec());
        }
    }
    if payloads.is_empty() {
        let path = capture.display();
        let message = format!("no packet of `{path}` has the EtherType {ethertype:#06x}; --ethertype names another");
        return Err(refused(&message));
    }
    Ok(payloads)
}

fn write(path: &Path, parts: &[&str]) -> Result<(), Exit> {
    std::fs::write(path, parts.concat()).map_err(|error| {
        terminal::error(format_args!("{}: {error}", path.display()));
        Exit::System
    })
}
