//! The programs of `apps/zipline` against an independent implementation of generalized deduplication: by the
//! parity-check matrix of each code, bit by bit, and by masks as lists of positions. The generators are repeated
//! here, as powers of x.
//!
//! Every packet goes through the encoder and then the decoder, in the interpreter and in native code. The encoder's
//! output must equal that of the matrix in every bit, and the decoder's output must equal the original packet.

use base::{Bits, Rng};
use ir::DigestId;
use std::path::Path;
use std::sync::Arc;
use switch::{Config, Output, Switch};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_text, switch_with};
use zipline::entries::{self, Class, Header};
use zipline::transform::Layout;
use zipline::{Classes, Code, Transform};

/// m and the powers of x in the generator, without the highest.
const GENERATORS: [(usize, &[usize]); 15] = [
    (3, &[1, 0]),
    (4, &[1, 0]),
    (5, &[2, 0]),
    (5, &[4, 2, 1, 0]),
    (6, &[1, 0]),
    (7, &[3, 0]),
    (8, &[4, 3, 2, 0]),
    (9, &[4, 0]),
    (9, &[8, 7, 6, 5, 1, 0]),
    (10, &[3, 0]),
    (11, &[2, 0]),
    (12, &[6, 4, 1, 0]),
    (13, &[4, 3, 1, 0]),
    (14, &[8, 6, 1, 0]),
    (15, &[1, 0]),
];

/// m and the powers of x in the generators of codes that correct two errors, without the highest.
const GENERATORS_OF_TWO: [(usize, &[usize]); 6] = [
    (4, &[7, 6, 4, 0]),
    (5, &[9, 8, 6, 5, 3, 0]),
    (6, &[10, 8, 5, 4, 3, 0]),
    (7, &[9, 8, 6, 5, 4, 2, 1, 0]),
    (8, &[14, 13, 11, 10, 9, 8, 6, 5, 1, 0]),
    (9, &[15, 12, 10, 8, 7, 6, 3, 0]),
];

/// A code as a matrix. Bits are in the order in which they occur in a packet.
struct Matrix {
    m: usize,
    errors: usize,
    /// The column of each bit of a word, the coefficient of the highest power first in both.
    columns: Vec<Vec<bool>>,
}

impl Matrix {
    fn new(m: usize, errors: usize, generator: &[usize]) -> Matrix {
        let degree = m * errors;
        let mut column = vec![false; degree];
        column[degree - 1] = true;
        let mut columns = vec![column];
        for _ in 1..(1 << m) - 1 {
            let mut next = columns[columns.len() - 1].clone();
            let is_over = next.remove(0);
            next.push(false);
            for power in generator {
                next[degree - 1 - power] ^= is_over;
            }
            columns.push(next);
        }
        columns.reverse();
        Matrix { m, errors, columns }
    }

    fn syndrome(&self, word: &[bool]) -> Vec<bool> {
        let mut sum = vec![false; self.m * self.errors];
        for column in word.iter().zip(&self.columns).filter_map(|(bit, column)| bit.then_some(column)) {
            sum.iter_mut().zip(column).for_each(|(sum, bit)| *sum ^= bit);
        }
        sum
    }

    /// The positions of the error bits, if they are no more than the code corrects.
    fn wrong(&self, syndrome: &[bool]) -> Option<Vec<usize>> {
        if !syndrome.contains(&true) {
            return Some(Vec::new());
        }
        if let Some(place) = self.columns.iter().position(|column| column == syndrome) {
            return Some(vec![place]);
        }
        let pairs = (0..self.columns.len()).flat_map(|first| (0..first).map(move |second| (first, second)));
        let is_sum = |&(first, second): &(usize, usize)| {
            let both = self.columns[first].iter().zip(&self.columns[second]);
            both.zip(syndrome).all(|((a, b), sum)| a ^ b == *sum)
        };
        pairs.filter(|_| self.errors == 2).find(is_sum).map(|(first, second)| vec![first, second])
    }

    /// The basis of a word, and its syndrome.
    fn split(&self, word: &[bool]) -> (Vec<bool>, Vec<bool>) {
        let syndrome = self.syndrome(word);
        let mut codeword = word.to_vec();
        let end = word.len() - syndrome.len();
        match self.wrong(&syndrome) {
            Some(places) => places.into_iter().for_each(|place| codeword[place] ^= true),
            None => codeword[end..].iter_mut().zip(&syndrome).for_each(|(bit, wrong)| *bit ^= wrong),
        }
        assert!(!self.syndrome(&codeword).contains(&true), "each word becomes a codeword");
        codeword.truncate(end);
        (codeword, syndrome)
    }
}

/// A transform: the positions of the bits that are set aside, and the code for the others.
struct Oracle {
    chunk_bytes: usize,
    aside: Vec<usize>,
    matrix: Option<Matrix>,
}

/// The parts of a chunk.
struct Parts {
    aside: Vec<bool>,
    basis: Vec<bool>,
    syndrome: Vec<bool>,
}

impl Oracle {
    /// A code on all but the first bit of its chunk.
    fn of_code(m: usize, errors: usize, generator: &[usize]) -> Oracle {
        Oracle { chunk_bytes: 1 << (m - 3), aside: vec![0], matrix: Some(Matrix::new(m, errors, generator)) }
    }

    fn split(&self, chunk: &[bool]) -> Parts {
        let aside = self.aside.iter().map(|place| chunk[*place]).collect();
        let word: Vec<bool> =
            (0..chunk.len()).filter(|place| !self.aside.contains(place)).map(|place| chunk[place]).collect();
        let (basis, syndrome) = match &self.matrix {
            Some(matrix) => matrix.split(&word),
            None => (word, Vec::new()),
        };
        Parts { aside, basis, syndrome }
    }

    /// The same transform as the crate represents it.
    fn transform(&self) -> Transform {
        let code = self.matrix.as_ref().map(|matrix| {
            let m = matrix.m as u32;
            let generator = number_of(&matrix.columns[matrix.columns.len() - 1 - matrix.m * matrix.errors]);
            if matrix.errors == 1 { Code::with_polynomial(m, generator).unwrap() } else { Code::of_two(m).unwrap() }
        });
        if self.aside == [0] {
            return Transform::of_code(code.unwrap());
        }
        let mut mask = Bits::zero(8 * self.chunk_bytes as u32);
        self.aside.iter().for_each(|place| mask.set_bit(mask.width() - 1 - *place as u32, true));
        Transform::masked(mask, code)
    }
}

/// The number that these bits represent.
fn number_of(bits: &[bool]) -> u32 {
    bits.iter().fold(0, |number, bit| number << 1 | u32::from(*bit))
}

fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect()
}

/// Bits as bytes, padded with zeros.
fn bytes_of(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at));
    bits.chunks(8).map(byte).collect()
}

/// A number as this many bits.
fn number(value: usize, width: usize) -> Vec<bool> {
    (0..width).rev().map(|bit| value >> bit & 1 == 1).collect()
}

fn hexadecimal(bits: &[bool]) -> String {
    let filled = [vec![false; bits.len().next_multiple_of(8) - bits.len()], bits.to_vec()].concat();
    bytes_of(&filled).iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[derive(Default)]
struct Sent(Vec<Vec<u8>>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        assert_eq!(port, 2, "the wire leads there");
        self.0.push(frame.to_vec());
    }
}

const ID_BITS: usize = 15;
const WIRES: &str = "table_add ports send 1 => 2\n";

/// A program of the app, compiled with the macros in `defines`.
fn app(way: Way, defines: &str, file: &str) -> Switch {
    let path = folder().join("../apps/zipline").join(file);
    let text = format!("{defines}\n#include \"{}\"\n", path.display());
    let program = program_of_text("test.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Arc::new(way.program(&program).unwrap());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    switch_with(&program, &way.engine(&cache), Config::default()).unwrap()
}

/// Command-line options as macro definitions.
fn defines(options: &str) -> String {
    let definition = |option: &str| format!("#define {}\n", option.trim().replace('=', " "));
    options.split("-D").filter(|option| !option.is_empty()).map(definition).collect()
}

fn install(switch: &mut Switch, commands: &str) {
    let commands =
        control::parse_entries("entries", commands, switch.program()).unwrap_or_else(|it| panic!("{}", it[0]));
    control::apply_all(switch, &commands).unwrap_or_else(|errors| panic!("{}", errors[0]));
}

fn pass(switch: &mut Switch, frame: &[u8]) -> Vec<Vec<u8>> {
    let mut sent = Sent::default();
    switch.receive(0, 1, frame);
    switch.run(0, &mut sent);
    sent.0
}

/// The packets that the program has counted, by the index of its counter.
fn counted(switch: &mut Switch) -> Vec<u64> {
    let counters = &switch.externs_mut().counters;
    counters.iter().next().unwrap().iter().map(|cell| cell.packets).collect()
}

/// A frame with fixed addresses and this EtherType.
fn frame(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &ethertype.to_be_bytes(), payload].concat()
}

/// An encoder followed by a decoder, for IPv4.
struct Pair {
    encoder: Switch,
    decoder: Switch,
}

/// The class of traffic that the pair compresses.
fn class() -> Class {
    Class { number: 0, ethertype: 0x0800, port: 1, header: Header::default() }
}

impl Pair {
    fn new(way: Way, transform: &Transform) -> Pair {
        let mut defines = defines(&transform.options(ID_BITS as u32));
        if let Some(code) = transform.code().filter(|code| code.errors() == 1) {
            defines += &format!("#define POLYNOMIAL {}\n", code.polynomial());
        }
        let [mut encoder, mut decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, &defines, file));
        for switch in [&mut encoder, &mut decoder] {
            install(switch, &(WIRES.to_owned() + &entries::masks(transform)));
        }
        install(&mut encoder, &entries::encode(&class(), transform));
        install(&mut decoder, &entries::restore(&class(), transform));
        Pair { encoder, decoder }
    }

    /// Sends a packet through both. Returns what the encoder sent, and checks that the decoder restored the packet.
    fn between(&mut self, sent: &[u8]) -> Vec<u8> {
        let encoded = pass(&mut self.encoder, sent);
        assert_eq!(encoded.len(), 1, "the encoder sends what it gets");
        assert_eq!(pass(&mut self.decoder, &encoded[0]), [sent], "the packet comes out as it was");
        encoded[0].clone()
    }
}

/// Chunks of all kinds: random ones, codewords and words some bits away from them, chunks of equal bits and of a
/// single set bit.
fn chunks(oracle: &Oracle, rng: &mut Rng) -> Vec<Vec<bool>> {
    let bits = 8 * oracle.chunk_bytes;
    if bits == 8 {
        return (0..256).map(|value| number(value, 8)).collect();
    }
    let mut chunks = vec![vec![false; bits], vec![true; bits]];
    for place in [0, 1, 2, bits / 2, bits - 9, bits - 1] {
        chunks.push((0..bits).map(|at| at == place).collect());
    }
    for _ in 0..6 {
        let mut random = vec![0; bits / 8];
        rng.fill(&mut random);
        let random = bits_of(&random);
        let mut near = random.clone();
        if let Some(matrix) = &oracle.matrix {
            let syndrome = matrix.m * matrix.errors;
            let places: Vec<usize> = (0..bits).filter(|place| !oracle.aside.contains(place)).collect();
            let basis = oracle.split(&random).basis;
            let parity = matrix.syndrome(&[&basis[..], &vec![false; syndrome]].concat());
            places.iter().zip(basis.iter().chain(&parity)).for_each(|(place, bit)| near[*place] = *bit);
        }
        chunks.push(random);
        for _ in 0..=oracle.matrix.as_ref().map_or(1, |matrix| matrix.errors) {
            chunks.push(near.clone());
            near[rng.below(bits as u64) as usize] ^= true;
        }
        chunks.push(near);
    }
    chunks
}

/// Checks one transform in one execution mode: packets of type 2 with empty tables, then packets of type 3.
fn check(way: Way, oracle: &Oracle) {
    let transform = oracle.transform();
    let mut pair = Pair::new(way, &transform);
    let mut rng = Rng::new(oracle.chunk_bytes as u64);
    let chunks = chunks(oracle, &mut rng);
    let what = |number: usize| format!("{}, {}, chunk {number}", way.describe(), transform.options(15));
    let mut bases: Vec<Vec<bool>> = Vec::new();
    let processed = |chunk: &[bool], tail: &[u8]| {
        let Parts { aside, basis, syndrome } = oracle.split(chunk);
        frame(0x88b5, &[bytes_of(&[&aside[..], &basis, &syndrome].concat()), tail.to_vec()].concat())
    };
    for (chunk, place) in chunks.iter().zip(0..) {
        let tail = vec![0xa5; place % 5];
        let payload = [bytes_of(chunk), tail.clone()].concat();
        let basis = oracle.split(chunk).basis;
        assert!(pair.between(&frame(0x0800, &payload)) == processed(chunk, &tail), "type 2: {}", what(place));
        if !bases.contains(&basis) {
            bases.push(basis);
        }
    }
    for (identifier, basis) in bases.iter().enumerate() {
        install(&mut pair.decoder, &format!("table_add bases expand {identifier} => {}", hexadecimal(basis)));
        install(&mut pair.encoder, &format!("table_add bases compress {} => {identifier}", hexadecimal(basis)));
    }
    let is_longer = (oracle.aside.len() + ID_BITS + syndrome_bits(oracle)).div_ceil(8) > oracle.chunk_bytes;
    for (chunk, place) in chunks.iter().zip(0..) {
        let tail = vec![0x5a; place % 5];
        let payload = [bytes_of(chunk), tail.clone()].concat();
        let Parts { aside, basis, syndrome } = oracle.split(chunk);
        let identifier = bases.iter().position(|known| *known == basis).unwrap();
        let reference = bytes_of(&[&aside[..], &number(identifier, ID_BITS), &syndrome].concat());
        assert_eq!(reference.len() as u64, transform.reference_bytes(ID_BITS as u32));
        let compressed = frame(0x88b6, &[reference, tail.clone()].concat());
        if is_longer {
            // The encoder does not send such a packet, but the decoder understands it.
            assert!(pair.between(&frame(0x0800, &payload)) == processed(chunk, &tail), "grown: {}", what(place));
            assert!(pass(&mut pair.decoder, &compressed) == [frame(0x0800, &payload)], "type 3: {}", what(place));
        } else {
            assert!(pair.between(&frame(0x0800, &payload)) == compressed, "type 3: {}", what(place));
        }
    }
    let count = chunks.len() as u64;
    let longer = if is_longer { count } else { 0 };
    assert_eq!(counted(&mut pair.encoder), [count - longer, count + longer, 0, 0, 0, 0, 0]);
    assert_eq!(counted(&mut pair.decoder), [count, count + longer, 0, 0, 0, 0, 0, 0]);
}

fn syndrome_bits(oracle: &Oracle) -> usize {
    oracle.matrix.as_ref().map_or(0, |matrix| matrix.m * matrix.errors)
}

/// The codes of these indices, in the interpreter and as native code runs by default.
fn check_codes(indices: std::ops::Range<usize>) {
    for (m, generator) in &GENERATORS[indices] {
        let oracle = Oracle::of_code(*m, 1, generator);
        check(Way::ALL[0], &oracle);
        check(Way::ALL[5], &oracle);
    }
}

/// This many different positions below a limit.
fn places(count: usize, below: usize, rng: &mut Rng) -> Vec<usize> {
    let mut places: Vec<usize> = (0..below).collect();
    while places.len() > count {
        places.remove(rng.below(places.len() as u64) as usize);
    }
    places
}

#[test]
fn masks_of_all_widths_set_their_bits_aside() {
    let mut rng = Rng::new(3);
    for (chunk_bytes, count) in [(1, 3), (2, 15), (8, 1), (8, 63), (9, 8), (23, 41), (32, 200), (64, 65), (128, 300)] {
        let aside = places(count, 8 * chunk_bytes, &mut rng);
        let oracle = Oracle { chunk_bytes, aside, matrix: None };
        check(Way::ALL[0], &oracle);
        check(Way::ALL[5], &oracle);
    }
}

#[test]
fn a_mask_equals_its_positions_in_every_mode() {
    let aside = places(33, 184, &mut Rng::new(4));
    for way in Way::ALL {
        check(way, &Oracle { chunk_bytes: 23, aside: aside.clone(), matrix: None });
    }
}

#[test]
fn what_a_mask_leaves_is_split_by_a_code() {
    let mut rng = Rng::new(5);
    for (chunk_bytes, m, errors, generator) in [
        (23, 7, 1, GENERATORS[5].1),
        (4, 4, 1, GENERATORS[1].1),
        (40, 8, 1, GENERATORS[6].1),
        (9, 6, 2, GENERATORS_OF_TWO[2].1),
        (23, 7, 2, GENERATORS_OF_TWO[3].1),
    ] {
        let matrix = Matrix::new(m, errors, generator);
        let aside = places(8 * chunk_bytes - matrix.columns.len(), 8 * chunk_bytes, &mut rng);
        let oracle = Oracle { chunk_bytes, aside, matrix: Some(matrix) };
        check(Way::ALL[0], &oracle);
        check(Way::ALL[5], &oracle);
    }
}

#[test]
fn codes_that_correct_two_bits_are_those_of_the_matrix() {
    for (m, generator) in GENERATORS_OF_TWO {
        let oracle = Oracle::of_code(m, 2, generator);
        check(Way::ALL[0], &oracle);
        check(Way::ALL[5], &oracle);
    }
}

#[test]
fn short_codes_are_those_of_the_matrix() {
    check_codes(0..7);
}

#[test]
fn long_codes_are_those_of_the_matrix() {
    check_codes(7..12);
}

#[test]
fn the_longest_codes_are_those_of_the_matrix() {
    check_codes(12..15);
}

#[test]
fn the_code_of_the_paper_is_that_of_the_matrix_in_every_way() {
    for way in Way::ALL {
        check(way, &Oracle::of_code(8, 1, GENERATORS[6].1));
    }
}

/// Traffic that belongs to no class passes both unchanged; a packet that cannot be restored is dropped.
#[test]
fn other_packets_stay_and_unknown_ones_go_nowhere() {
    for way in Way::ALL {
        let mut pair = Pair::new(way, &Transform::of_code(Code::new(8).unwrap()));
        let short = frame(0x0800, &[7; 31]);
        assert_eq!(pair.between(&short), short, "shorter than a chunk");
        let other = frame(0x86dd, &[7; 64]);
        assert_eq!(pair.between(&other), other, "of no class");
        assert_eq!(pair.between(&[7; 10]), [7; 10], "no Ethernet header");
        // The decoder would take them for packets of the encoder.
        for ethertype in [0x88b5, 0x88b6] {
            assert!(pass(&mut pair.encoder, &frame(ethertype, &[7; 64])).is_empty(), "{ethertype:#x}");
        }
        assert_eq!(counted(&mut pair.encoder), [0, 0, 1, 2, 0, 2, 0]);
        for (ethertype, length) in [(0x88b5, 31), (0x88b6, 2), (0x88b6, 3)] {
            let encoded = frame(ethertype, &vec![7; length]);
            assert!(pass(&mut pair.decoder, &encoded).is_empty(), "{ethertype:#x}, {length} bytes");
        }
        assert_eq!(counted(&mut pair.decoder), [0, 0, 3, 2, 0, 0, 1, 0]);
    }
}

/// Without masks in its tables the encoder changes nothing, and the decoder restores nothing; the same holds without
/// classes.
#[test]
fn empty_tables_change_nothing() {
    for way in Way::ALL {
        let [mut encoder, mut decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, "", file));
        install(&mut encoder, &(WIRES.to_owned() + "table_add classes encode 1 0x0800 => 0\n"));
        install(&mut decoder, WIRES);
        let mut chunk = [0; 32];
        assert_eq!(pass(&mut encoder, &frame(0x0800, &chunk)), [frame(0x88b5, &chunk)], "a codeword needs no mask");
        assert!(pass(&mut decoder, &frame(0x88b5, &chunk)).is_empty(), "which EtherType it had is not known");
        chunk[31] = 1;
        assert_eq!(pass(&mut encoder, &frame(0x0800, &chunk)), [frame(0x0800, &chunk)]);
        assert!(pass(&mut decoder, &frame(0x88b5, &chunk)).is_empty());
        assert_eq!(counted(&mut encoder), [0, 1, 0, 0, 1, 0, 0]);
        install(&mut decoder, "table_add classes restore 0 => 0x0800\n");
        assert!(pass(&mut decoder, &frame(0x88b5, &chunk)).is_empty(), "which bit is wrong is not known");
        assert_eq!(counted(&mut decoder), [0, 0, 0, 0, 1, 2, 0, 0]);
    }
}

/// Identifiers of another width, padded to whole bytes, and classes with their own EtherTypes.
#[test]
fn widths_and_classes_are_chosen_when_the_programs_are_compiled() {
    let transform = Transform::of_code(Code::new(6).unwrap());
    let defines = "#define CODE 6\n#define ID_BITS 11\n#define CLASSES 2\n#define ETHERTYPE 0xA000";
    for way in [Way::ALL[0], Way::ALL[5]] {
        let [encoder, decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, defines, file));
        let mut pair = Pair { encoder, decoder };
        let tables = WIRES.to_owned() + &entries::masks(&transform);
        let bases = [transform.split(&[0xff; 8]).basis];
        let of_encoder = "table_add classes encode 1 0x0800 => 0\ntable_add classes encode 1 0x86dd => 1\n";
        let of_decoder = "table_add classes restore 0 => 0x0800\ntable_add classes restore 1 => 0x86dd\n";
        install(&mut pair.encoder, &(tables.clone() + of_encoder + &entries::identifiers(0, &bases)));
        install(&mut pair.decoder, &(tables + of_decoder + &entries::bases(0, &bases)));
        // One bit, eleven bits of the identifier 0, and six of the syndrome, which is that of a codeword.
        assert_eq!(pair.between(&frame(0x0800, &[0xff; 8])), frame(0xa001, &[0x80, 0, 0]));
        assert_eq!(pair.between(&frame(0x86dd, &[0xff; 9])), frame(0xa003, &[0x80, 0, 0, 0xff]));
        assert_eq!(pair.between(&frame(0x86dd, &[0; 8])), frame(0xa002, &[0; 8]));
        assert!(pass(&mut pair.encoder, &frame(0xa003, &[0; 8])).is_empty());
        assert_eq!(pair.between(&frame(0xa004, &[0; 8])), frame(0xa004, &[0; 8]));
    }
}

/// The decoder treats the EtherTypes of such a class as other traffic, so the encoder must not assign them.
#[test]
fn a_class_that_programs_were_not_compiled_for_is_left_alone() {
    for way in Way::ALL {
        let mut pair = Pair::new(way, &Transform::of_code(Code::new(6).unwrap()));
        for class in [1, 2, 128, 255] {
            install(&mut pair.encoder, &format!("table_add classes encode 1 {} => {class}\n", 0x9000 + class));
            let sent = frame(0x9000 + class, &[0; 9]);
            assert_eq!(pair.between(&sent), sent, "class {class}");
        }
        assert_eq!(counted(&mut pair.encoder), [0, 0, 4, 0, 0, 0, 0]);
    }
}

/// Each class has its own mask. A mask with a different number of ones than the programs were compiled for is not
/// used, because bits would be lost.
#[test]
fn classes_have_their_own_masks() {
    let defines = defines("-D CODE=0 -D CHUNK=4 -D ASIDE=8 -D CLASSES=3 -D ETHERTYPE=0xA000 -D ID_BITS=8");
    for way in [Way::ALL[0], Way::ALL[5]] {
        let [encoder, decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, &defines, file));
        let mut pair = Pair { encoder, decoder };
        let masks = [(0x0800, 0xff_u64), (0x0801, 0xff00_0000), (0x0802, 0x1ff)];
        for (number, (ethertype, mask)) in masks.into_iter().enumerate() {
            let class = Class { number: number as u32, ethertype, ..class() };
            let transform = Transform::masked(Bits::from_u64(32, mask), None);
            install(&mut pair.encoder, &entries::encode(&class, &transform));
            install(&mut pair.decoder, &entries::restore(&class, &transform));
        }
        let basis = [Bits::from_u64(24, 0x00bb_ccdd)];
        install(&mut pair.encoder, &(WIRES.to_owned() + &entries::identifiers(7, &basis)));
        install(&mut pair.decoder, &(WIRES.to_owned() + &entries::bases(7, &basis)));
        let rest = [1, 2, 3];
        let payload = |chunk: [u8; 4]| [&chunk[..], &rest].concat();
        let reference = [0xaa, 7, 1, 2, 3];
        assert_eq!(pair.between(&frame(0x0800, &payload([0xbb, 0xcc, 0xdd, 0xaa]))), frame(0xa001, &reference));
        assert_eq!(pair.between(&frame(0x0801, &payload([0xaa, 0xbb, 0xcc, 0xdd]))), frame(0xa003, &reference));
        let turned = payload([0xdd, 0xaa, 0xbb, 0xcc]);
        assert_eq!(pair.between(&frame(0x0800, &payload([0xaa, 0xbb, 0xcc, 0xdd]))), frame(0xa000, &turned));
        let same = frame(0x0802, &turned);
        assert_eq!(pair.between(&same), same, "nine ones for eight bits");
        assert_eq!(counted(&mut pair.encoder), [2, 1, 0, 0, 0, 0, 1]);
        assert_eq!(counted(&mut pair.decoder), [2, 1, 1, 0, 0, 0, 0, 0]);
    }
}

/// Programs with a transform for each class, and one more class that shares the first transform. Each class has an
/// EtherType.
fn mixed(way: Way, oracles: &[Oracle], layout: Layout) -> (Pair, Classes) {
    let classes = Classes::new(oracles.iter().map(|it| it.transform().with_layout(layout)).collect()).unwrap();
    let count = oracles.len() + 1;
    let options =
        classes.options(ID_BITS as u32).replace(&format!("CLASSES={}", count - 1), &format!("CLASSES={count}"));
    let defines = defines(&options) + "#define ETHERTYPE 0xA000\n";
    let [mut encoder, mut decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, &defines, file));
    for switch in [&mut encoder, &mut decoder] {
        install(switch, &(WIRES.to_owned() + &classes.masks()));
    }
    for number in 0..count as u32 {
        let class = Class { number, ethertype: 0x0800 + number as u16, ..class() };
        install(&mut encoder, &classes.encode(&class));
        install(&mut decoder, &classes.restore(&class));
    }
    (Pair { encoder, decoder }, classes)
}

/// The bits of a basis as a number.
fn basis_of(bits: &[bool]) -> Bits {
    Bits::from_packet(bits.len() as u32, &bytes_of(bits), 0)
}

/// Transforms of all kinds side by side. Each has its own tables, so a basis that is known to one is not known to
/// others.
#[test]
fn classes_have_transforms_of_their_own() {
    let mut rng = Rng::new(11);
    let hamming = || Oracle::of_code(8, 1, GENERATORS[6].1);
    let bch = || Oracle::of_code(6, 2, GENERATORS_OF_TWO[2].1);
    let mut masked = |chunk_bytes: usize, count| Oracle {
        chunk_bytes,
        aside: places(count, 8 * chunk_bytes, &mut rng),
        matrix: None,
    };
    let pairs = [
        vec![hamming(), masked(32, 41)],
        vec![masked(32, 33), hamming()],
        vec![hamming(), masked(23, 41), bch()],
        vec![hamming(), Oracle::of_code(5, 1, GENERATORS[2].1)],
        vec![masked(40, 65), masked(40, 41), hamming(), masked(23, 33), bch(), masked(8, 9), masked(5, 17)],
    ];
    for (oracles, place) in pairs.iter().zip(0..) {
        check_mixed(Way::ALL[0], oracles, place);
        check_mixed(Way::ALL[5], oracles, place);
    }
}

#[test]
fn classes_have_transforms_of_their_own_in_every_way() {
    let mut rng = Rng::new(12);
    let masked = Oracle { chunk_bytes: 23, aside: places(41, 184, &mut rng), matrix: None };
    let oracles = [Oracle::of_code(8, 1, GENERATORS[6].1), masked, Oracle::of_code(6, 2, GENERATORS_OF_TWO[2].1)];
    for way in Way::ALL {
        check_mixed(way, &oracles, 5);
    }
}

/// Packets of all classes in turn, first without identifiers, then with identifiers for every other basis.
fn check_mixed(way: Way, oracles: &[Oracle], seed: u64) {
    let (mut pair, classes) = mixed(way, oracles, Layout::ONE);
    let mut rng = Rng::new(seed);
    let of_class = |class: usize| &oracles[if class < oracles.len() { class } else { 0 }];
    let all: Vec<(usize, Vec<bool>)> = (0..=oracles.len())
        .flat_map(|class| chunks(of_class(class), &mut rng).into_iter().map(move |chunk| (class, chunk)))
        .collect();
    let mut known: Vec<Vec<Vec<bool>>> = vec![Vec::new(); oracles.len()];
    let mut counts = [0; 2];
    for is_told in [false, true] {
        for ((class, chunk), number) in all.iter().zip(0_usize..) {
            let (class, own) = (*class, if *class < oracles.len() { *class } else { 0 });
            let Parts { aside, basis, syndrome } = of_class(class).split(chunk);
            if is_told && number.is_multiple_of(2) && !known[own].contains(&basis) {
                let identifier = known[own].len() as u32;
                let bases = [basis_of(&basis)];
                install(&mut pair.decoder, &classes.bases(own as u32, identifier, &bases));
                install(&mut pair.encoder, &classes.identifiers(own as u32, identifier, &bases));
                known[own].push(basis.clone());
            }
            let tail = vec![0xa5; number % 50];
            let sent = frame(0x0800 + class as u16, &[bytes_of(chunk), tail.clone()].concat());
            let (kind, items) = match known[own].iter().position(|known| *known == basis) {
                Some(identifier) => (1, [&aside[..], &self::number(identifier, ID_BITS), &syndrome].concat()),
                None => (0, [&aside[..], &basis, &syndrome].concat()),
            };
            let expected = frame(0xa000 + 2 * class as u16 + kind, &[bytes_of(&items), tail].concat());
            let what = || format!("{}, {}, class {class}, chunk {number}", way.describe(), classes.options(15));
            assert!(pair.between(&sent) == expected, "{}", what());
            counts[usize::from(kind)] += 1;
            let short = &sent[..sent.len() - number % 50 - 1];
            assert!(pair.between(short) == short, "shorter than a chunk: {}", what());
        }
    }
    let shorts = 2 * all.len() as u64;
    assert_eq!(counted(&mut pair.encoder), [counts[1], counts[0], 0, shorts, 0, 0, 0]);
    assert_eq!(counted(&mut pair.decoder), [counts[1], counts[0], shorts, 0, 0, 0, 0, 0]);
}

/// Several chunks in packets of classes with their own transforms, and the digests of each class for unknown bases.
#[test]
fn classes_with_several_chunks_have_transforms_of_their_own() {
    let layout = Layout { offset: 2, count: 3 };
    for way in [Way::ALL[0], Way::ALL[5]] {
        let mut rng = Rng::new(13);
        let matrix = Matrix::new(6, 1, GENERATORS[4].1);
        let oracles = [
            Oracle { chunk_bytes: 9, aside: places(9, 72, &mut rng), matrix: Some(matrix) },
            Oracle { chunk_bytes: 9, aside: places(33, 72, &mut rng), matrix: None },
            Oracle { chunk_bytes: 9, aside: places(17, 72, &mut rng), matrix: None },
        ];
        let (mut pair, classes) = mixed(way, &oracles, layout);
        install(&mut pair.encoder, "table_set_default bases_1 learn\n");
        let mut random = vec![0; 9 * 8];
        rng.fill(&mut random);
        let chunks: Vec<&[u8]> = random.chunks(9).collect();
        let known = |class: usize| -> Vec<Vec<bool>> {
            chunks.iter().skip(class).step_by(2).map(|chunk| oracles[class].split(&bits_of(chunk)).basis).collect()
        };
        let known: Vec<Vec<Vec<bool>>> = (0..3).map(known).collect();
        for (bases, class) in known.iter().zip(0..) {
            let bases: Vec<Bits> = bases.iter().map(|basis| basis_of(basis)).collect();
            install(&mut pair.decoder, &classes.bases(class, 0, &bases));
            install(&mut pair.encoder, &classes.identifiers(class, 0, &bases));
        }
        for number in 0..200_usize {
            let (class, own) = (number % 4, number % 4 % 3);
            let mut payload = vec![number as u8; 2];
            (0..rng.below(5)).for_each(|_| payload.extend(*rng.pick(&chunks)));
            payload.extend(vec![7; number % 9]);
            let (ethertype, expected) = encoded(&oracles[own], layout, &known[own], &payload);
            let ethertype = if ethertype == 0x0800 { 0x0800 + class as u16 } else { 0xa001 + 2 * class as u16 };
            let mut digests = Digests::default();
            let sent = frame(0x0800 + class as u16, &payload);
            pair.encoder.receive(0, 1, &sent);
            pair.encoder.run(0, &mut digests);
            let looked_at = payload[2..].chunks_exact(9).take(3);
            let unknown = looked_at.map(|chunk| oracles[own].split(&bits_of(chunk)).basis);
            let unknown =
                unknown.filter(|basis| class == 1 && !known[own].contains(basis)).map(|it| vec![basis_of(&it)]);
            assert_eq!(digests.0, unknown.take(1).collect::<Vec<_>>(), "{}, packet {number}", way.describe());
            assert!(pair.between(&sent) == frame(ethertype, &expected), "{}, packet {number}", way.describe());
        }
    }
}

/// The encoder's output for a payload, with these bases in its table: the EtherType, and the bytes after it.
fn encoded(oracle: &Oracle, layout: Layout, bases: &[Vec<bool>], payload: &[u8]) -> (u16, Vec<u8>) {
    let mut left = payload.get(layout.offset..).unwrap_or_default();
    let mut known = 0_u8;
    let mut items = Vec::new();
    for number in 0..layout.count {
        let Some((chunk, rest)) = left.split_at_checked(oracle.chunk_bytes) else { break };
        let Parts { aside, basis, syndrome } = oracle.split(&bits_of(chunk));
        match bases.iter().position(|known| *known == basis) {
            Some(identifier) => {
                known |= 0x80 >> number;
                items.extend(bytes_of(&[&aside[..], &self::number(identifier, ID_BITS), &syndrome].concat()));
            }
            None => items.extend(chunk),
        }
        left = rest;
    }
    if known == 0 {
        return (0x0800, payload.to_vec());
    }
    (0x88b6, [&payload[..layout.offset], &[known], &items, left].concat())
}

/// Programs that process several chunks, and bases of which both know every other one.
fn several(way: Way, oracle: &Oracle, layout: Layout, rng: &mut Rng) -> (Pair, Vec<Vec<u8>>, Vec<Vec<bool>>) {
    let mut pair = Pair::new(way, &oracle.transform().with_layout(layout));
    let mut random = || {
        let mut chunk = vec![0; oracle.chunk_bytes];
        rng.fill(&mut chunk);
        chunk
    };
    let chunks: Vec<Vec<u8>> = (0..8).map(|_| random()).collect();
    let bases: Vec<Vec<bool>> = chunks.iter().step_by(2).map(|chunk| oracle.split(&bits_of(chunk)).basis).collect();
    for (identifier, basis) in bases.iter().enumerate() {
        install(&mut pair.decoder, &format!("table_add bases expand {identifier} => {}", hexadecimal(basis)));
        install(&mut pair.encoder, &format!("table_add bases compress {} => {identifier}", hexadecimal(basis)));
    }
    (pair, chunks, bases)
}

fn oracles_of_several(rng: &mut Rng) -> [(Oracle, Layout); 4] {
    let masked = Oracle { chunk_bytes: 23, aside: places(41, 184, rng), matrix: None };
    let swapped =
        Oracle { chunk_bytes: 9, aside: places(41, 72, rng), matrix: Some(Matrix::new(5, 1, GENERATORS[2].1)) };
    [
        (masked, Layout { offset: 28, count: 4 }),
        (swapped, Layout { offset: 3, count: 2 }),
        (Oracle::of_code(6, 1, GENERATORS[4].1), Layout { offset: 0, count: 8 }),
        (Oracle::of_code(6, 2, GENERATORS_OF_TWO[2].1), Layout { offset: 1, count: 3 }),
    ]
}

/// Payloads of all lengths, with chunks that are known, unknown, and truncated.
#[test]
fn payloads_of_any_length_are_restored() {
    for way in [Way::ALL[0], Way::ALL[5]] {
        let mut rng = Rng::new(6);
        for (oracle, layout) in oracles_of_several(&mut rng) {
            let (mut pair, chunks, bases) = several(way, &oracle, layout, &mut rng);
            let mut compressed = 0;
            for number in 0..300 {
                let mut payload = vec![0; layout.offset];
                rng.fill(&mut payload);
                for _ in 0..rng.below(layout.count as u64 + 2) {
                    let mut chunk = rng.pick(&chunks).clone();
                    let place = rng.below(8 * chunk.len() as u64) as usize;
                    chunk[place / 8] ^= if rng.chance(1, 2) { 0x80 >> (place % 8) } else { 0 };
                    payload.extend(chunk);
                }
                payload.extend(vec![number as u8; rng.below(oracle.chunk_bytes as u64) as usize]);
                payload.truncate(if number < 70 { number } else { payload.len() });
                let (ethertype, expected) = encoded(&oracle, layout, &bases, &payload);
                let what = || format!("{}, {:?}, packet {number}", way.describe(), pair_options(&oracle, layout));
                assert!(expected.len() <= payload.len(), "no packet grows: {}", what());
                let between = pair.between(&frame(0x0800, &payload));
                assert!(between == frame(ethertype, &expected), "{}", what());
                compressed += u64::from(ethertype == 0x88b6);
            }
            assert!(compressed > 50, "{compressed} were compressed");
            assert_eq!(counted(&mut pair.encoder)[0], compressed);
            assert_eq!(counted(&mut pair.decoder), [compressed, 0, 300 - compressed, 0, 0, 0, 0, 0]);
        }
    }
}

/// If references save nothing, a packet does not get the additional byte that describes them.
#[test]
fn no_packet_with_several_chunks_grows() {
    for (aside, expected) in [(9, 0x88b6), (10, 0x0800), (17, 0x0800), (18, 0x0800)] {
        let mut rng = Rng::new(10);
        let oracle = Oracle { chunk_bytes: 4, aside: places(aside, 32, &mut rng), matrix: None };
        let layout = Layout { offset: 0, count: 2 };
        let (mut pair, chunks, _) = several(Way::ALL[5], &oracle, layout, &mut rng);
        for numbers in [&[0, 1][..], &[0, 2], &[2]] {
            let payload: Vec<u8> = numbers.iter().flat_map(|number: &usize| chunks[*number].clone()).collect();
            let sent = frame(0x0800, &payload);
            let between = pair.between(&sent);
            assert_eq!(between[12..14], u16::to_be_bytes(expected), "{aside} bits, {numbers:?}");
            assert!(between.len() <= sent.len() && (expected != 0x0800 || between == sent), "{aside} bits");
        }
    }
}

fn pair_options(oracle: &Oracle, layout: Layout) -> String {
    oracle.transform().with_layout(layout).options(ID_BITS as u32)
}

/// Packets that no encoder sends are dropped and counted by their error.
#[test]
fn packets_that_no_encoder_sends_are_dropped() {
    for way in [Way::ALL[0], Way::ALL[5]] {
        let mut rng = Rng::new(7);
        let [(oracle, layout), ..] = oracles_of_several(&mut rng);
        let (mut pair, _, _) = several(way, &oracle, layout, &mut rng);
        let (skipped, reference) = ([1; 28], |identifier: u8| [0, 0, 0, 0, 0, 0, identifier]);
        let mut sent = |ethertype, known: &[u8], items: &[u8]| {
            pass(&mut pair.decoder, &frame(ethertype, &[&skipped[..], known, items].concat())).len()
        };
        assert_eq!(sent(0x88b6, &[0x80], &reference(3)), 1);
        assert_eq!(sent(0x88b6, &[0x80], &[&reference(0)[..], &[9; 70]].concat()), 1, "padding changes nothing");
        for known in [0, 0x08, 0x81, 0xff] {
            assert_eq!(sent(0x88b6, &[known], &[0; 200]), 0, "{known:#x}");
        }
        for cut in 0..7 {
            assert_eq!(sent(0x88b6, &[0x80], &reference(0)[..cut]), 0, "a reference of {cut} bytes");
        }
        assert_eq!(sent(0x88b6, &[0x40], &[0; 22 + 7]), 0, "what stands before a reference is not whole");
        assert_eq!(sent(0x88b6, &[], &[]), 0);
        assert_eq!(sent(0x88b5, &[], &[0; 100]), 0, "there is no type 2");
        assert_eq!(sent(0x88b6, &[0xc0], &[reference(0), reference(4)].concat()), 0);
        assert_eq!(sent(0x88b6, &[0xc0], &[reference(4), reference(0)].concat()), 0);
        assert_eq!(counted(&mut pair.decoder), [2, 0, 0, 10, 0, 0, 2, 4]);
        // Whatever the decoder receives, it sends the right packet or none.
        for _ in 0..2_000 {
            let mut any = vec![0; 28 + rng.below(120) as usize];
            rng.fill(&mut any);
            let out = pass(&mut pair.decoder, &frame(0x88b6, &any));
            assert!(out.iter().all(|frame| frame[12..14] == [8, 0] && frame.len() >= 14 + 28 + 23));
        }
        assert_eq!(counted(&mut pair.decoder).iter().sum::<u64>(), 2_018);
    }
}

/// The digests that an encoder sends to its controller.
#[derive(Default)]
struct Digests(Vec<Vec<Bits>>);

impl Output for Digests {
    fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {}

    fn digest(&mut self, _digest: DigestId, values: Vec<Bits>) {
        self.0.push(values);
    }
}

/// For one of the bases in a packet that have no identifier a digest is sent, whatever its position; at time 0 for
/// the first one.
#[test]
fn an_unknown_basis_among_known_ones_is_reported() {
    for way in Way::ALL {
        let mut rng = Rng::new(8);
        let [(oracle, layout), ..] = oracles_of_several(&mut rng);
        let (mut pair, chunks, _) = several(way, &oracle, layout, &mut rng);
        install(&mut pair.encoder, "table_set_default bases learn\n");
        for (numbers, expected) in
            [(&[1, 0][..], Some(1)), (&[0, 2, 4, 6], None), (&[2, 3, 0, 5], Some(3)), (&[7], Some(7))]
        {
            let body: Vec<u8> = numbers.iter().flat_map(|number: &usize| chunks[*number].clone()).collect();
            let mut digests = Digests::default();
            pair.encoder.receive(0, 1, &frame(0x0800, &[&[0; 28][..], &body].concat()));
            pair.encoder.run(0, &mut digests);
            let basis = |number: usize| {
                let bits = oracle.split(&bits_of(&chunks[number])).basis;
                vec![Bits::from_packet(bits.len() as u32, &bytes_of(&bits), 0)]
            };
            let expected: Vec<Vec<Bits>> = expected.map(basis).into_iter().collect();
            assert_eq!(digests.0, expected, "{}, {numbers:?}", way.describe());
        }
    }
}

/// Bases after them, different ones in each packet, do not keep any from being reported.
#[test]
fn every_unknown_basis_is_finally_reported() {
    for way in [Way::ALL[0], Way::ALL[5]] {
        let mut rng = Rng::new(9);
        let [(oracle, layout), ..] = oracles_of_several(&mut rng);
        let (mut pair, chunks, _) = several(way, &oracle, layout, &mut rng);
        install(&mut pair.encoder, "table_set_default bases learn\n");
        let mut digests = Digests::default();
        for packet in 0..64 {
            let mut news = vec![0; 2 * oracle.chunk_bytes];
            rng.fill(&mut news);
            let payload = [&[0; 28][..], &chunks[1], &chunks[3], &news].concat();
            let time_ns = 1_000_000 * packet + rng.below(1_000_000);
            pair.encoder.receive(time_ns, 1, &frame(0x0800, &payload));
            pair.encoder.run(time_ns, &mut digests);
        }
        assert_eq!(digests.0.len(), 64, "one of each packet");
        for number in [1, 3] {
            let bits = oracle.split(&bits_of(&chunks[number])).basis;
            let basis = [Bits::from_packet(bits.len() as u32, &bytes_of(&bits), 0)];
            let times = digests.0.iter().filter(|values| ***values == basis).count();
            assert!(times > 3, "{}: basis {number} was reported {times} times", way.describe());
        }
    }
}

/// The bytes before the chunks also decide which packets are compressed.
#[test]
fn headers_distinguish_classes() {
    let transform = Transform::masked(Bits::from_u64(32, 0xff), None).with_layout(Layout { offset: 28, count: 1 });
    let both = "-D CODE=0 -D CHUNK=4 -D ASIDE=8 -D OFFSET=28 -D CLASSES=2 -D ETHERTYPE=0xA000";
    for way in [Way::ALL[0], Way::ALL[5]] {
        let [encoder, decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, &defines(both), file));
        let mut pair = Pair { encoder, decoder };
        for (number, port) in [(0, 5_683), (1, 53)] {
            let class = Class { number, header: Header::transport(17, port, 28), ..class() };
            install(&mut pair.encoder, &entries::encode(&class, &transform));
            install(&mut pair.decoder, &entries::restore(&class, &transform));
        }
        install(&mut pair.encoder, WIRES);
        install(&mut pair.decoder, WIRES);
        let packet = |protocol: u8, port: u16| {
            let mut payload = vec![0; 34];
            (payload[0], payload[9]) = (0x45, protocol);
            payload[22..24].copy_from_slice(&port.to_be_bytes());
            payload[28..].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
            payload
        };
        let turned = |payload: Vec<u8>| [&payload[..28], &[4, 1, 2, 3, 5, 6]].concat();
        for (protocol, port, ethertype) in [(17, 5_683, 0xa000), (17, 53, 0xa002)] {
            let expected = frame(ethertype, &turned(packet(protocol, port)));
            assert_eq!(pair.between(&frame(0x0800, &packet(protocol, port))), expected);
        }
        for other in [packet(6, 53), packet(17, 54)] {
            assert_eq!(pair.between(&frame(0x0800, &other)), frame(0x0800, &other));
        }
        assert_eq!(counted(&mut pair.encoder), [0, 2, 2, 0, 0, 0, 0]);
    }
}
