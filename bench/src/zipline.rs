//! The cost of compression: the encoder and the decoder of `apps/zipline` from memory to memory on one core, each
//! kind of packet separately; beside a bridge that forwards the same frames unchanged; and beside an encoder and a
//! decoder in hand-written C (`peers/zipline.c`), whose output must be the same for each frame.
//!
//! [`sizes`] measures the sizes of payloads, [`learning`] the time until a basis is known, [`rates`] the same as this
//! module for frames of several sizes, [`interfaces`] the same between interfaces, [`latency`] the time in flight.
//!
//! What enters: the number of frames, and the number of their bases (`--routes`). What leaves: nanoseconds per
//! packet. Frames have 60 bytes: an Ethernet header, a chunk of 32 bytes in which one bit differs from the codeword
//! of its basis, and padding. The decoder's input is the encoder's output.

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

/// The size of a frame in bytes, without its check sequence.
const FRAME_BYTES: usize = 60;

/// The sender's address in a frame. It holds a number where frames must be recognised.
const SOURCE: Range<usize> = 6..12;

const CLASS: &str = "table_add classes encode 1 0x0800 => 0\n";
const RESTORED: &str = "table_add classes restore 0 => 0x0800\n";
const WIRE: &str = "table_add ports send 1 => 2\n";
const BRIDGED: &str = "table_add address forward 02:00:00:00:00:01 => 2\n";

/// Frames with some bases, and switches whose tables contain them.
struct Traffic {
    frames: Vec<Vec<u8>>,
    macros: [(&'static str, String); 1],
    /// A chunk of each basis.
    words: Vec<Vec<u8>>,
    /// Entries: the ports and the masks, identifiers, bases.
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

    /// Hand-written C with all bases.
    fn taught(&self, hand: Resizing) -> Result<Resizing, Box<dyn Error>> {
        for (identifier, word) in (0..).zip(&self.words) {
            hand.basis(word.as_slice().try_into()?, identifier)?;
        }
        Ok(hand)
    }

    /// An encoder with all bases.
    fn encoder(&self) -> Result<Switch, Box<dyn Error>> {
        works::switch(ENCODER, &self.macros, &[&self.common, CLASS, &self.identifiers].concat())
    }

    /// An encoder without bases.
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

/// Measures all kinds of work in turn and prints the cost of a packet.
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

/// A chunk whose word is a codeword.
fn word(transform: &Transform, rng: &mut Rng) -> Vec<u8> {
    let chunk: Vec<u8> = (0..transform.chunk_bytes()).map(|_| rng.next_u64() as u8).collect();
    let mut split = transform.split(&chunk);
    split.syndrome = 0;
    transform.join(&split)
}

/// Writes a number into a frame by which it is recognised, whatever happens to its payload.
fn put_number(frame: &mut [u8], number: u32) {
    frame[SOURCE.end - 4..SOURCE.end].copy_from_slice(&number.to_be_bytes());
}

/// A frame with the word's chunk, in which one bit is inverted.
fn frame(word: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0];
    frame.extend_from_slice(word);
    let bit = rng.below(8 * word.len() as u64 - 1) as usize + 1;
    frame[14 + bit / 8] ^= 0x80 >> (bit % 8);
    frame.resize(FRAME_BYTES, 0);
    frame
}
