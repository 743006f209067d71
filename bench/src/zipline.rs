//! What compression costs: the encoder and the decoder of `apps/zipline` from memory to memory on one core, each kind
//! of packet by itself, beside a bridge that looks at the same frames and changes nothing, and beside an encoder and a
//! decoder in C by hand (`peers/zipline.c`), which must make the same of each frame.
//!
//! [`sizes`] is what payloads become, [`learning`] how long a basis takes to be known, [`rates`] the same as here for
//! frames of several sizes, [`interfaces`] these between interfaces, [`latency`] how long they are under way.
//!
//! What enters: how many frames, and how many bases they are of (`--routes`). What leaves: nanoseconds per packet.
//! Frames have 60 bytes: an Ethernet header, a chunk of 32 bytes in which one bit is another than in its basis' word,
//! and what fills the frame up. What is decoded is what the encoder has sent.

pub mod interfaces;
pub mod latency;
pub mod learning;
mod picture;
mod processes;
pub mod rates;
pub mod sizes;

use crate::Arguments;
use crate::limit::Resizing;
use crate::works::{self, Work};
use base::{Bits, Rng};
use std::error::Error;
use std::ops::Range;
use switch::Switch;
use zipline::{Code, Transform, entries};

const ENCODER: &str = "apps/zipline/encoder.p4";
const DECODER: &str = "apps/zipline/decoder.p4";
const BRIDGE: &str = "bench/programs/bridge.p4";

/// The code: chunks of 32 bytes, as in the paper.
const M: u32 = 8;

/// Bytes of a frame, without its checksum.
const FRAME_BYTES: usize = 60;

/// Where a frame has its sender's address. A number stands there where frames are to be known again.
const SOURCE: Range<usize> = 6..12;

const CLASS: &str = "table_add classes encode 1 0x0800 => 0\n";
const RESTORED: &str = "table_add classes restore 0 => 0x0800\n";
const WIRE: &str = "table_add ports send 1 => 2\n";
const BRIDGED: &str = "table_add address forward 02:00:00:00:00:01 => 2\n";

/// Frames of some bases, and switches whose tables know them.
struct Traffic {
    frames: Vec<Vec<u8>>,
    macros: [(&'static str, String); 1],
    /// A chunk of each basis.
    words: Vec<Vec<u8>>,
    /// Entries: the wire and the masks, identifiers, bases.
    common: String,
    identifiers: String,
    originals: String,
}

impl Traffic {
    fn new(bases: u32, count: usize, frame_bytes: usize) -> Result<Traffic, Box<dyn Error>> {
        let transform = Transform::of_code(Code::new(M)?);
        let mut rng = Rng::new(1);
        let words: Vec<Vec<u8>> = (0..bases).map(|_| word(&transform, &mut rng)).collect();
        let mut any_frame = |_| {
            let word: &Vec<u8> = rng.pick(&words);
            let mut frame = frame(word, &mut rng);
            frame.resize(frame_bytes, 0);
            frame
        };
        let frames = (0..count).map(&mut any_frame).collect();
        let bases: Vec<Bits> = words.iter().map(|word| transform.split(word).basis).collect();
        Ok(Traffic {
            frames,
            macros: [("CODE", M.to_string())],
            common: WIRE.to_owned() + &entries::masks(&transform),
            identifiers: entries::identifiers(0, &bases),
            originals: entries::bases(0, &bases),
            words,
        })
    }

    /// Work by hand that knows all bases.
    fn taught(&self, hand: Resizing) -> Result<Resizing, Box<dyn Error>> {
        for (identifier, word) in (0..).zip(&self.words) {
            hand.basis(word.as_slice().try_into()?, identifier)?;
        }
        Ok(hand)
    }

    /// An encoder that knows all bases.
    fn encoder(&self) -> Result<Switch, Box<dyn Error>> {
        works::switch(ENCODER, &self.macros, &[&self.common, CLASS, &self.identifiers].concat())
    }

    /// One that knows none.
    fn encoder_without_bases(&self) -> Result<Switch, Box<dyn Error>> {
        works::switch(ENCODER, &self.macros, &[&self.common, CLASS].concat())
    }

    fn decoder(&self) -> Result<Switch, Box<dyn Error>> {
        works::switch(DECODER, &self.macros, &[&self.common, RESTORED, &self.originals].concat())
    }
}

fn bridge() -> Result<Switch, Box<dyn Error>> {
    works::switch(BRIDGE, &[], BRIDGED)
}

/// Measures all work in turn and prints what a packet costs.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let traffic = Traffic::new(arguments.routes, arguments.destinations as usize, FRAME_BYTES)?;
    let frames = &traffic.frames;
    let compressed = works::sent(&mut traffic.encoder()?, frames);
    let processed = works::sent(&mut traffic.encoder_without_bases()?, frames);
    for sent in [&compressed, &processed] {
        if works::sent(&mut traffic.decoder()?, sent) != *frames {
            return Err("what was decoded is not what was encoded".into());
        }
    }
    let bases = arguments.routes;
    let encoder = traffic.taught(Resizing::encoder(frames, bases)?)?;
    let decoder = traffic.taught(Resizing::decoder(&compressed, bases)?)?;
    let all = vec![
        Work::new("bridge", bridge()?, frames)?,
        Work::new("encoder, other traffic", works::switch(ENCODER, &traffic.macros, WIRE)?, frames)?,
        Work::new("encoded to type 3", traffic.encoder()?, frames)?,
        encoder.into_work("encoded to type 3 by hand", &compressed)?,
        Work::new("encoded to type 2", traffic.encoder_without_bases()?, frames)?,
        Work::new("decoded from type 3", traffic.decoder()?, &compressed)?,
        decoder.into_work("decoded from type 3 by hand", frames)?,
        Work::new("decoded from type 2", traffic.decoder()?, &processed)?,
    ];
    let title = format!("zipline, m = {M}, {} bases, frames of {FRAME_BYTES} bytes", arguments.routes);
    works::measure(arguments, "zipline", &title, all)
}

/// A chunk whose word is one of the code.
fn word(transform: &Transform, rng: &mut Rng) -> Vec<u8> {
    let chunk: Vec<u8> = (0..transform.chunk_bytes()).map(|_| rng.next_u64() as u8).collect();
    let mut split = transform.split(&chunk);
    split.syndrome = 0;
    transform.join(&split)
}

/// Gives a frame a number by which it is known again, whatever is done to its payload.
fn put_number(frame: &mut [u8], number: u32) {
    frame[SOURCE.end - 4..SOURCE.end].copy_from_slice(&number.to_be_bytes());
}

/// A frame with the word's chunk, in which a bit is turned over.
fn frame(word: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0];
    frame.extend_from_slice(word);
    let bit = rng.below(8 * word.len() as u64 - 1) as usize + 1;
    frame[14 + bit / 8] ^= 0x80 >> (bit % 8);
    frame.resize(FRAME_BYTES, 0);
    frame
}
