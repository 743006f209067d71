//! The paper's Figure 3: the sizes of payloads without a table of bases, with a static one, while bases are learned,
//! and with gzip.
//!
//! What enters: a seed, the rate of packets, the time to learn a basis. What leaves: the bytes of each, and their
//! ratio to the original size. They are printed beside the figures that the paper's text gives for Figure 3.

use crate::Arguments;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::error::Error;
use std::io::{self, Write};
use zipline::replay::{Pace, Replay};
use zipline::{Code, Dictionary, Transform, sets};

/// The size of an identifier in bits, as in the paper.
const ID_BITS: u32 = 15;

/// The time in which the paper's controller learns a basis.
const PAPER_LEARNING_NS: u64 = 1_770_000;

/// A method to make payloads smaller.
struct Method {
    name: String,
    bytes: u64,
    paper: Option<f64>,
}

/// Counts the bytes that are written to it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints the sizes of both sets.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_sizes(path);
    }
    if !arguments.json {
        println!("set,way,bytes,ratio,paper's ratio");
    }
    set(arguments, "sensor", [1.03, 0.11], sets::sensor(arguments.seed))?;
    set(arguments, "DNS queries", [1.03, 0.10], sets::queries(arguments.seed))
}

fn set(
    arguments: &Arguments,
    name: &str,
    [without, learned]: [f64; 2],
    chunks: impl Iterator<Item = Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let transform = Transform::of_code(Code::new(super::M)?);
    let chunk_ns = (1e9 / arguments.rate) as u64;
    let measured_ns = arguments.learning_us.map(|us| (us * 1e3) as u64);
    let mut dictionary = Dictionary::new(&transform);
    let delays = [(PAPER_LEARNING_NS, Some(learned))].into_iter().chain(measured_ns.map(|ns| (ns, None)));
    let replay =
        |(learning_ns, paper)| (Replay::new(&transform, ID_BITS, Pace { chunk_ns, learning_ns }), learning_ns, paper);
    let mut replays: Vec<_> = delays.map(replay).collect();
    let mut gzip = GzEncoder::new(Counter(0), Compression::default());
    for chunk in chunks {
        dictionary.add(&chunk);
        let basis = transform.split(&chunk).basis.to_be_bytes();
        replays.iter_mut().for_each(|(replay, ..)| replay.add(&basis));
        gzip.write_all(&chunk)?;
    }
    let sizes = dictionary.sizes(ID_BITS);
    let method = |name: &str, bytes, paper| Method { name: name.to_owned(), bytes, paper };
    let mut methods = vec![
        method("as they are", sizes.original, None),
        method("no table", sizes.original, Some(without)),
        method("static table", sizes.with_table, None),
    ];
    methods.extend(replays.iter().map(|&(ref replay, ns, paper)| {
        let name = format!("learned in {:.2} ms", ns as f64 / 1e6);
        Method { name, bytes: replay.bytes(), paper }
    }));
    methods.push(method("gzip", gzip.finish()?.0, None));
    for method in methods {
        let ratio = method.bytes as f64 / sizes.original as f64;
        if arguments.json {
            let (bases, rate) = (sizes.bases, arguments.rate);
            let line = json!({
                "benchmark": "zipline-sizes", "set": name, "way": method.name, "bytes": method.bytes, "ratio": ratio,
                "paper": method.paper, "bases": bases, "chunks": sizes.chunks, "packets_per_second": rate,
                "seed": arguments.seed,
            });
            println!("{line}");
        } else {
            let paper = method.paper.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            println!("{name},{},{},{ratio:.4},{paper}", method.name, method.bytes);
        }
    }
    Ok(())
}
