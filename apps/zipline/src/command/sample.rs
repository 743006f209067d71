//! `zipline fit` and `zipline tables`: choose a transform for each class of traffic, and the contents of tables, from
//! captures.
//!
//! What enters: captures. What leaves: the effect of each transform on them, and the entries of both programs for one
//! transform per class. Transforms, bases and commands are those of the crate `zipline`; this module and
//! [`traffic`](super::traffic) handle files and the terminal.

use super::traffic::{Part, Traffic, polynomial};
use crate::choice::{self, Impossible, Row, Sample};
use crate::entries::{self, Class};
use crate::transform::Layout;
use crate::{Classes, Code, Dictionary, Kind, Sizes, Transform};
use clap::Args;
use command_line::Exit;
use command_line::terminal::{self, Progress, grouped, say};
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The ports and classes in the entries.
#[derive(Args, Debug, Clone)]
struct Wires {
    /// The port where the encoder receives these packets, and the one where it sends them
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    encoder_ports: (u16, u16),
    /// The same for the decoder
    #[arg(long, default_value = "1,2", value_name = "IN,OUT", value_parser = wire)]
    decoder_ports: (u16, u16),
    /// Also let both programs forward packets in the other direction, unchanged; otherwise they are dropped
    #[arg(long)]
    both_ways: bool,
    /// The number of this class of traffic, whose transform is that of class 0: the entries of class 0 include the
    /// wires and the code, those of others only their own
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=255))]
    class: u32,
    /// The first identifier for its bases, after those of other classes
    #[arg(long, default_value_t = 0, value_name = "N")]
    first_identifier: u32,
    /// Give no basis an identifier, for use with `zipline learn`
    #[arg(long)]
    no_bases: bool,
}

/// The output files.
#[derive(Args, Debug, Clone)]
struct Files {
    /// The output file for the encoder's entries; `fit` writes those for the transform with the smallest payloads
    /// while bases are learned
    #[arg(long, value_name = "FILE", requires = "decoder", conflicts_with = "gateway")]
    encoder: Option<PathBuf>,
    /// The output file for the decoder's entries
    #[arg(long, value_name = "FILE", requires = "encoder")]
    decoder: Option<PathBuf>,
    /// The output file for the entries of gateway.p4, the same for both ends: it encodes packets from the first of
    /// --encoder-ports, and decodes packets from the second
    #[arg(long, value_name = "FILE", conflicts_with_all = ["both_ways", "decoder_ports", "class"])]
    gateway: Option<PathBuf>,
}

impl Files {
    fn are_asked_for(&self) -> bool {
        self.encoder.is_some() || self.gateway.is_some()
    }

    /// An output file must differ from all input files and other output files.
    fn check(&self, read: &[&Path]) -> Result<(), Exit> {
        // A file may have several names; one that does not exist yet is in a folder that does.
        let known = |path: &Path| {
            if let Ok(file) = path.metadata() {
                return Known::File(file.dev(), file.ino());
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let new = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
            Known::Name(new().unwrap_or_else(|| path.to_owned()))
        };
        let mut taken: Vec<Known> = read.iter().map(|path| known(path)).collect();
        for file in [&self.encoder, &self.decoder, &self.gateway].into_iter().flatten() {
            // Devices store nothing.
            if file.exists() && !file.is_file() {
                continue;
            }
            if taken.contains(&known(file)) {
                terminal::error(format_args!("{}: the file is named twice, and would be written over", file.display()));
                return Err(Exit::Usage);
            }
            taken.push(known(file));
        }
        Ok(())
    }
}

/// The identity of a file.
#[derive(PartialEq, Eq)]
enum Known {
    /// Its device and its number there.
    File(u64, u64),
    /// Its path, if it does not exist yet.
    Name(PathBuf),
}

/// Arguments of `zipline fit`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub struct Fit {
    /// A capture, pcap or pcapng; --also gives those of further classes of traffic
    #[arg(value_name = "CAPTURE")]
    capture: PathBuf,
    #[command(flatten)]
    traffic: Traffic,
    #[command(flatten)]
    wires: Wires,
    #[command(flatten)]
    files: Files,
    /// Print a JSON object per transform instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  wirespeed zipline fit sample.pcap
  wirespeed zipline fit sample.pcap --encoder encoder.txt --decoder decoder.txt --no-bases
  wirespeed zipline tables sample.pcap --transform mask-41 --encoder encoder.txt --decoder decoder.txt

  Two classes of traffic, each with the transform that suits it, or with a given one:
  wirespeed zipline fit dns.pcap --udp 53 --also sensors.pcap,udp=5683 --encoder encoder.txt --decoder decoder.txt
  wirespeed zipline tables --m 8 --also sensors.pcap,udp=5683,transform=mask-41 --encoder e.txt --decoder d.txt

  Both ways: the same entries for the gateways at both ends of a link:
  wirespeed zipline fit sample.pcap --gateway gateway.txt

Transforms are hamming-M and bch-M (a code on all but the first bit of 2^M bits; bch corrects two bits), mask-BITS (this many
bits, chosen from the capture, are set aside; the others are the basis), swap-hamming-M and swap-bch-M (a mask sets aside
what the word of the code leaves).";

/// Arguments of `zipline tables`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub struct Tables {
    /// A capture, pcap or pcapng, whose bases get identifiers; without one none do, as for `zipline learn`
    #[arg(value_name = "CAPTURE")]
    capture: Option<PathBuf>,
    #[command(flatten)]
    traffic: Traffic,
    /// The Hamming code, 3 to 15: short for --transform hamming-N
    #[arg(long, value_name = "N", conflicts_with = "transform", value_parser = clap::value_parser!(u32).range(3..=15))]
    m: Option<u32>,
    /// How chunks are split, by the names of `zipline fit`: hamming-8, bch-8, mask-41, swap-hamming-7, ...
    #[arg(long, value_name = "NAME", default_value = "hamming-8")]
    transform: Kind,
    /// Another generator of a Hamming code than the default, without its highest power, such as 0x17 for --m 5
    #[arg(long, value_name = "NUMBER", value_parser = polynomial)]
    polynomial: Option<u32>,
    #[command(flatten)]
    wires: Wires,
    #[command(flatten)]
    files: Files,
}

impl Tables {
    /// The transform of a class: the given one, or the default.
    fn transform(&self, part: &Part, sample: &Sample<'_>) -> Result<(Kind, Transform), Exit> {
        let usual = self.m.map_or(self.transform, Kind::Hamming);
        let kind = part.transform.unwrap_or(usual);
        let whose = |what: &str| match part.transform {
            Some(_) => format!("{}, {what}=", part.name),
            None => format!("--{what}"),
        };
        let polynomial = if part.transform.is_some() { part.polynomial } else { self.polynomial };
        let transform = match (polynomial, kind) {
            (None, _) => sample.transform(kind),
            (Some(polynomial), Kind::Hamming(m) | Kind::SwapHamming(m)) => Code::with_polynomial(m, polynomial)
                .map_err(Impossible::Code)
                .and_then(|code| sample.transform_with(kind, Some(code))),
            (Some(_), _) => {
                terminal::error(format_args!("{}: {kind} has no Hamming code", whose("polynomial")));
                return Err(Exit::Usage);
            }
        };
        let transform = transform.map_err(|error| {
            let is_generator = polynomial.is_some() && matches!(error, Impossible::Code(_));
            terminal::error(format_args!("{}: {error}", whose(if is_generator { "polynomial" } else { "transform" })));
            Exit::Usage
        })?;
        Ok((kind, transform))
    }
}

fn wire(text: &str) -> Result<(u16, u16), String> {
    let ports = text.split_once(',').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ports.filter(|(from, to)| *from < 511 && *to < 511).ok_or_else(|| "it is two ports, such as 1,2".to_owned())
}

/// The choice for a class.
struct Chosen<'p> {
    part: &'p Part,
    sample: &'p Sample<'p>,
    kind: Kind,
    transform: Transform,
}

/// Compares all transforms on captures, and writes the entries for the best if requested.
pub fn fit(arguments: &Fit) -> Result<Exit, Exit> {
    arguments.traffic.check(arguments.wires.first_identifier)?;
    arguments.files.check(&arguments.traffic.captures(Some(&arguments.capture)))?;
    if !arguments.traffic.has_captures() {
        terminal::error("--also: `fit` takes a capture of each class, and finds its transform; `tables` is given one");
        return Err(Exit::Usage);
    }
    let (layout, parts) = arguments.traffic.parts(Some(&arguments.capture))?;
    let samples = samples(&parts, layout, arguments.wires.first_identifier);
    let id_bits = arguments.traffic.id_bits;
    let (mut chosen, mut is_gained) = (Vec::new(), true);
    for (part, sample) in parts.iter().zip(&samples) {
        let name = if parts.len() > 1 { Some(&*part.name) } else { None };
        let progress = Progress::start("trying transforms");
        let mut rows = sample.rows(id_bits);
        drop(progress);
        if name.is_some() && layout.count > 1 {
            rows.retain(|row| row.transform.chunk_bytes() == sample.chunk_bytes());
        }
        tell_rows(&rows, name, arguments);
        match choice::best(&rows) {
            Some(Row { kind, transform, .. }) => {
                chosen.push(Chosen { part, sample, kind: *kind, transform: transform.clone() });
            }
            None => {
                is_gained = false;
                let whose = name.map_or(String::new(), |name| format!("{name}: "));
                let message = format!(
                    "{whose}nothing is gained: no transform makes these payloads smaller by a hundredth while bases \
                     are learned"
                );
                match arguments.files.are_asked_for() {
                    true => terminal::error(format_args!("{message}; no entries are written")),
                    false => terminal::warning(message),
                }
            }
        }
    }
    if !is_gained {
        return if arguments.files.are_asked_for() { Err(Exit::BadInput) } else { Ok(Exit::Success) };
    }
    if !arguments.files.are_asked_for() {
        return Ok(Exit::Success);
    }
    let (classes, order) = in_order(&chosen)?;
    let settings = (&arguments.traffic, &arguments.wires);
    write_both(&chosen, &dictionaries(&chosen), (&classes, &order), settings, &arguments.files)?;
    let options = options(&classes, &arguments.traffic, &arguments.wires);
    match chosen.as_slice() {
        _ if arguments.json => {
            let class = |place: &usize| {
                let Chosen { part, kind, .. } = &chosen[*place];
                json!({"traffic": part.name, "transform": kind.to_string()})
            };
            if chosen.len() > 1 {
                say!("{}", json!({"classes": order.iter().map(class).collect::<Vec<_>>(), "options": options}));
            }
        }
        [only] => say!("entries are for {}: compile both programs with {options}", only.kind),
        _ => {
            for (place, number) in order.iter().zip(0..) {
                say!("class {number} is {}: entries are for {}", chosen[*place].part.name, chosen[*place].kind);
            }
            say!("compile both programs with {options}");
        }
    }
    Ok(Exit::Success)
}

/// The samples of all classes. If packets have several chunks, those with masks have one length.
fn samples<'p>(parts: &'p [Part], layout: Layout, first: u32) -> Vec<Sample<'p>> {
    let own: Vec<Sample<'p>> =
        parts.iter().map(|part| Sample::new(&part.payloads, layout, part.chunk).behind(first)).collect();
    let lengths = || own.iter().map(Sample::chunk_bytes);
    let common = lengths().filter(|bytes| *bytes > 0).min();
    let common = common.filter(|common| layout.count > 1 && lengths().any(|bytes| bytes != *common));
    match common {
        Some(common) => {
            let sample = |part: &'p Part| Sample::new(&part.payloads, layout, Some(common)).behind(first);
            parts.iter().map(sample).collect()
        }
        None => own,
    }
}

/// The classes in the order that programs require, by index.
fn in_order(chosen: &[Chosen<'_>]) -> Result<(Classes, Vec<usize>), Exit> {
    let order = Classes::order(&chosen.iter().map(|it| &it.transform).collect::<Vec<_>>());
    let classes = Classes::new(order.iter().map(|place| chosen[*place].transform.clone()).collect());
    let classes = classes.map_err(|error| {
        terminal::error(format_args!("{error}: --chunk and chunk= say how many bytes chunks with masks have"));
        Exit::Usage
    })?;
    Ok((classes, order))
}

/// The bases of all classes.
fn dictionaries<'c>(chosen: &'c [Chosen<'_>]) -> Vec<Dictionary<'c>> {
    chosen.iter().map(|it| it.sample.dictionary(&it.transform)).collect()
}

/// The compile options of the programs.
fn options(classes: &Classes, traffic: &Traffic, wires: &Wires) -> String {
    let options = classes.options(traffic.id_bits);
    match wires.class {
        0 => options,
        class => format!("{options} -D CLASSES={}", class + 1),
    }
}

fn tell_rows(rows: &[Row], name: Option<&str>, arguments: &Fit) {
    if !arguments.json {
        name.into_iter().for_each(|name| say!("{name}:"));
        say!("transform        chunk      chunks       bases  with identifier   size  met before  learned");
    }
    for row in rows {
        show_row(row, name, arguments);
    }
}

fn show_row(row: &Row, name: Option<&str>, arguments: &Fit) {
    let (sizes, id_bits) = (&row.sizes, arguments.traffic.id_bits);
    let chunk = row.transform.chunk_bytes();
    if arguments.json {
        let alone = Classes::new(vec![row.transform.clone()]).ok();
        let mut line = json!({
            "transform": row.kind.to_string(),
            "options": alone.map(|alone| options(&alone, &arguments.traffic, &arguments.wires)),
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
        if let Some(name) = name {
            line["traffic"] = name.into();
        }
        return say!("{line}");
    }
    let [chunks, bases, known, before] = [sizes.chunks, sizes.bases, sizes.known, sizes.met_before].map(grouped);
    let (table, learned) = (ratio(sizes.with_table, sizes), ratio(sizes.learned, sizes));
    let name = row.kind.to_string();
    say!("{name:<15}  {chunk:>5}  {chunks:>10}  {bases:>10}  {known:>15}  {table:>5}  {before:>10}  {learned:>7}");
}

/// Writes the entries of both programs.
pub fn tables(arguments: &Tables) -> Result<Exit, Exit> {
    let (traffic, wires) = (&arguments.traffic, &arguments.wires);
    if !arguments.files.are_asked_for() {
        terminal::error("the output is missing: add --encoder FILE and --decoder FILE, or --gateway FILE");
        return Err(Exit::Usage);
    }
    traffic.check(wires.first_identifier)?;
    arguments.files.check(&traffic.captures(arguments.capture.as_deref()))?;
    let (layout, parts) = traffic.parts(arguments.capture.as_deref())?;
    let samples = samples(&parts, layout, wires.first_identifier);
    let mut chosen = Vec::new();
    for (part, sample) in parts.iter().zip(&samples) {
        let (kind, transform) = arguments.transform(part, sample)?;
        chosen.push(Chosen { part, sample, kind, transform });
    }
    let (classes, order) = in_order(&chosen)?;
    let files = &arguments.files;
    let dictionaries = dictionaries(&chosen);
    let with_identifier = write_both(&chosen, &dictionaries, (&classes, &order), (traffic, wires), files)?;
    for ((place, with_identifier), number) in order.iter().zip(with_identifier).zip(0..) {
        let Chosen { part, kind, transform, .. } = &chosen[*place];
        if chosen.len() > 1 {
            say!("class {number} is {}: {kind}", part.name);
        }
        if !part.payloads.is_empty() {
            let sizes = dictionaries[*place].sizes(traffic.id_bits);
            tell_tables(&sizes, [part.payloads.len() as u64, with_identifier], transform, wires.no_bases);
        }
        if transform.saved_bytes(traffic.id_bits) == 0 {
            terminal::warning(format_args!(
                "nothing is gained: with identifiers of {} bits, {} bytes replace a chunk of {}; no packet becomes \
                 shorter",
                traffic.id_bits,
                transform.reference_bytes(traffic.id_bits),
                transform.chunk_bytes()
            ));
        }
    }
    say!("compile both programs with {}", options(&classes, traffic, wires));
    Ok(Exit::Success)
}

/// The effect on the packets of a capture.
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

/// Writes the entries of both programs; reports how many bases of each class have identifiers.
fn write_both(
    chosen: &[Chosen<'_>],
    dictionaries: &[Dictionary<'_>],
    (classes, order): (&Classes, &[usize]),
    (traffic, wires): (&Traffic, &Wires),
    files: &Files,
) -> Result<Vec<u64>, Exit> {
    let ports = |(from, to): (u16, u16)| {
        let back = if wires.both_ways { format!("table_add ports send {to} => {from}\n") } else { String::new() };
        format!("table_add ports send {from} => {to}\n{back}")
    };
    let masks = if wires.class == 0 { classes.masks() } else { String::new() };
    let options = format!("# Compiled with {}\n", options(classes, traffic, wires));
    let (mut of_encoder, mut of_decoder) = (masks.clone(), masks);
    let mut with_identifier = Vec::new();
    for (place, number) in order.iter().zip(wires.class..) {
        let Part { ethertype, header, .. } = chosen[*place].part;
        let class = Class { number, ethertype: *ethertype, port: wires.encoder_ports.0, header: header.clone() };
        let bases = if wires.no_bases { Vec::new() } else { dictionaries[*place].chosen(traffic.id_bits) };
        of_encoder += &(classes.encode(&class) + &classes.identifiers(number, wires.first_identifier, &bases));
        of_decoder += &(classes.restore(&class) + &classes.bases(number, wires.first_identifier, &bases));
        with_identifier.push(bases.len() as u64);
    }
    if let Some(gateway) = &files.gateway {
        let (from, to) = wires.encoder_ports;
        let ports = format!("table_add ports encode_to {from} => {to}\ntable_add ports decode_to {to} => {from}\n");
        let (of_encoder, of_decoder) =
            (entries::in_gateway(true, &of_encoder), entries::in_gateway(false, &of_decoder));
        write(gateway, &[&options, &ports, &of_encoder, &of_decoder])?;
    }
    for (file, places, entries) in
        [(&files.encoder, wires.encoder_ports, of_encoder), (&files.decoder, wires.decoder_ports, of_decoder)]
    {
        let ports = if wires.class == 0 { ports(places) } else { String::new() };
        if let Some(file) = file {
            write(file, &[&options, &ports, &entries])?;
        }
    }
    Ok(with_identifier)
}

fn ratio(bytes: u64, sizes: &Sizes) -> String {
    format!("{:.3}", bytes as f64 / sizes.original.max(1) as f64)
}

fn write(path: &Path, parts: &[&str]) -> Result<(), Exit> {
    std::fs::write(path, parts.concat()).map_err(|error| {
        terminal::error(format_args!("{}: {error}", path.display()));
        Exit::System
    })
}
