//! The programs of `apps/zipline` against generalized deduplication done otherwise: by the parity-check matrix of each
//! code, bit by bit. The generators are written here once more, as powers of x.
//!
//! Every packet goes through the encoder and then the decoder, by the interpreter and by native code. What the encoder
//! sends must be what the matrix says, to the last bit, and what the decoder sends must be the packet.

use base::Rng;
use std::path::Path;
use std::sync::Arc;
use switch::{Config, Output, Switch};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_text, switch_with};
use zipline::{Code, entries};

/// m and the powers of x of the generator, the highest left out.
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

/// A code as a matrix. Bits are in the order in which they stand in a packet.
struct Matrix {
    m: usize,
    /// The column of each bit of a word, the coefficient of the highest power first in both.
    columns: Vec<Vec<bool>>,
}

impl Matrix {
    fn new(m: usize, generator: &[usize]) -> Matrix {
        let mut column = vec![false; m];
        column[m - 1] = true;
        let mut columns = vec![column];
        for _ in 1..(1 << m) - 1 {
            let mut next = columns[columns.len() - 1].clone();
            let is_over = next.remove(0);
            next.push(false);
            for power in generator {
                next[m - 1 - power] ^= is_over;
            }
            columns.push(next);
        }
        columns.reverse();
        Matrix { m, columns }
    }

    fn syndrome(&self, word: &[bool]) -> Vec<bool> {
        let mut sum = vec![false; self.m];
        for column in word.iter().zip(&self.columns).filter_map(|(bit, column)| bit.then_some(column)) {
            sum.iter_mut().zip(column).for_each(|(sum, bit)| *sum ^= bit);
        }
        sum
    }

    /// The basis of a word, and its syndrome.
    fn split(&self, word: &[bool]) -> (Vec<bool>, Vec<bool>) {
        let syndrome = self.syndrome(word);
        let mut codeword = word.to_vec();
        if let Some(place) = self.columns.iter().position(|column| *column == syndrome) {
            codeword[place] ^= true;
        }
        assert!(!self.syndrome(&codeword).contains(&true), "each word is next to a codeword");
        codeword.truncate(word.len() - self.m);
        (codeword, syndrome)
    }
}

fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect()
}

/// Bits as bytes, filled up with zeros.
fn bytes_of(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at));
    bits.chunks(8).map(byte).collect()
}

/// The number of so many bits.
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

/// A program of the app, told what `defines` says.
fn app(way: Way, defines: &str, file: &str) -> Switch {
    let path = folder().join("../apps/zipline").join(file);
    let text = format!("{defines}\n#include \"{}\"\n", path.display());
    let program = program_of_text("test.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Arc::new(way.program(&program).unwrap());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    switch_with(&program, &way.engine(&cache), Config::default()).unwrap()
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

/// Packets that the program has counted, by the index of its counter.
fn counted(switch: &mut Switch) -> Vec<u64> {
    let counters = &switch.externs_mut().counters;
    counters.iter().next().unwrap().iter().map(|cell| cell.packets).collect()
}

/// A frame whose addresses and EtherType are told.
fn frame(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &ethertype.to_be_bytes(), payload].concat()
}

/// An encoder and a decoder behind it, for IPv4.
struct Pair {
    encoder: Switch,
    decoder: Switch,
}

impl Pair {
    fn new(way: Way, code: &Code) -> Pair {
        let defines = format!("#define CODE {}\n#define POLYNOMIAL {}", code.m(), code.polynomial());
        let [mut encoder, mut decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, &defines, file));
        for switch in [&mut encoder, &mut decoder] {
            install(switch, &(WIRES.to_owned() + &entries::masks(code)));
        }
        install(&mut encoder, "table_add classes encode 1 0x0800 => 0\n");
        install(&mut decoder, "table_add classes restore 0 => 0x0800\n");
        Pair { encoder, decoder }
    }

    /// Both send one packet: what is between them, and that what comes out went in.
    fn between(&mut self, sent: &[u8]) -> Vec<u8> {
        let encoded = pass(&mut self.encoder, sent);
        assert_eq!(encoded.len(), 1, "the encoder sends what it gets");
        assert_eq!(pass(&mut self.decoder, &encoded[0]), [sent], "the packet comes out as it was");
        encoded[0].clone()
    }
}

/// Chunks of all kinds: random ones, codewords and what is one bit away from them, chunks of equal and of single bits.
fn chunks(matrix: &Matrix, rng: &mut Rng) -> Vec<Vec<bool>> {
    let bits = 1 << matrix.m;
    if bits == 8 {
        return (0..256).map(|value| number(value, 8)).collect();
    }
    let mut chunks = vec![vec![false; bits], vec![true; bits]];
    for place in [0, 1, 2, bits - matrix.m - 1, bits - matrix.m, bits - 1] {
        chunks.push((0..bits).map(|at| at == place).collect());
    }
    for _ in 0..6 {
        let mut random = vec![0; bits / 8];
        rng.fill(&mut random);
        let random = bits_of(&random);
        let (basis, _) = matrix.split(&random[1..]);
        let unchecked = [&basis[..], &vec![false; matrix.m]].concat();
        let codeword = [&random[..1], &basis, &matrix.syndrome(&unchecked)].concat();
        let mut wrong = codeword.clone();
        wrong[1 + rng.below(bits as u64 - 1) as usize] ^= true;
        chunks.extend([random, codeword, wrong]);
    }
    chunks
}

/// One code in one way: packets of type 2 with nothing in the tables, then of type 3.
fn check(way: Way, m: usize, generator: &[usize]) {
    let matrix = Matrix::new(m, generator);
    let polynomial = generator.iter().fold(0, |sum, power| sum | 1 << power);
    let code = Code::with_polynomial(m as u32, polynomial).unwrap();
    let mut pair = Pair::new(way, &code);
    let mut rng = Rng::new(m as u64);
    let chunks = chunks(&matrix, &mut rng);
    let mut bases: Vec<Vec<bool>> = Vec::new();
    for (chunk, tail) in chunks.iter().zip(0..) {
        let payload = [bytes_of(chunk), vec![0xa5; tail % 5]].concat();
        let (basis, syndrome) = matrix.split(&chunk[1..]);
        let processed = [bytes_of(&[&chunk[..1], &basis, &syndrome].concat()), vec![0xa5; tail % 5]].concat();
        let what = || format!("{}, m = {m}, chunk {tail}", way.describe());
        assert!(pair.between(&frame(0x0800, &payload)) == frame(0x88b5, &processed), "type 2: {}", what());
        if !bases.contains(&basis) {
            bases.push(basis);
        }
    }
    for (identifier, basis) in bases.iter().enumerate() {
        install(&mut pair.decoder, &format!("table_add bases expand {identifier} => {}", hexadecimal(basis)));
        install(&mut pair.encoder, &format!("table_add bases compress {} => {identifier}", hexadecimal(basis)));
    }
    for (chunk, tail) in chunks.iter().zip(0..) {
        let payload = [bytes_of(chunk), vec![0x5a; tail % 5]].concat();
        let (basis, syndrome) = matrix.split(&chunk[1..]);
        let identifier = bases.iter().position(|known| *known == basis).unwrap();
        let reference = bytes_of(&[&chunk[..1], &number(identifier, ID_BITS), &syndrome].concat());
        let compressed = [reference, vec![0x5a; tail % 5]].concat();
        let what = || format!("{}, m = {m}, chunk {tail}", way.describe());
        assert!(pair.between(&frame(0x0800, &payload)) == frame(0x88b6, &compressed), "type 3: {}", what());
    }
    let count = chunks.len() as u64;
    assert_eq!(counted(&mut pair.encoder), [count, count, 0, 0, 0, 0]);
    assert_eq!(counted(&mut pair.decoder), [count, count, 0, 0, 0, 0, 0]);
}

/// The codes of these indices, by the definition and by native code as it runs.
fn check_codes(indices: std::ops::Range<usize>) {
    for (m, generator) in &GENERATORS[indices] {
        check(Way::ALL[0], *m, generator);
        check(Way::ALL[5], *m, generator);
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
        check(way, 8, GENERATORS[6].1);
    }
}

/// What is no traffic of a class goes through both as it is; what cannot be restored goes nowhere.
#[test]
fn other_packets_stay_and_unknown_ones_go_nowhere() {
    for way in Way::ALL {
        let code = Code::new(8).unwrap();
        let mut pair = Pair::new(way, &code);
        let short = frame(0x0800, &[7; 31]);
        assert_eq!(pair.between(&short), short, "shorter than a chunk");
        let other = frame(0x86dd, &[7; 64]);
        assert_eq!(pair.between(&other), other, "of no class");
        assert_eq!(pair.between(&[7; 10]), [7; 10], "no Ethernet header");
        // The decoder would take them for the encoder's.
        for ethertype in [0x88b5, 0x88b6] {
            assert!(pass(&mut pair.encoder, &frame(ethertype, &[7; 64])).is_empty(), "{ethertype:#x}");
        }
        assert_eq!(counted(&mut pair.encoder), [0, 0, 2, 1, 0, 2]);
        for (ethertype, length) in [(0x88b5, 31), (0x88b6, 2), (0x88b6, 3)] {
            let encoded = frame(ethertype, &vec![7; length]);
            assert!(pass(&mut pair.decoder, &encoded).is_empty(), "{ethertype:#x}, {length} bytes");
        }
        assert_eq!(counted(&mut pair.decoder), [0, 0, 3, 2, 0, 0, 1]);
    }
}

/// Without its masks the encoder changes nothing, and the decoder invents nothing; nor does it without its classes.
#[test]
fn what_tables_do_not_say_is_not_guessed() {
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
        assert_eq!(counted(&mut encoder), [0, 1, 0, 0, 1, 0]);
        assert_eq!(counted(&mut decoder), [0, 0, 0, 0, 1, 1, 0]);
    }
}

/// Identifiers of another width, filled up to whole bytes, and classes with EtherTypes of their own.
#[test]
fn widths_and_classes_are_chosen_when_the_programs_are_compiled() {
    let code = Code::new(6).unwrap();
    let defines = "#define CODE 6\n#define ID_BITS 11\n#define CLASSES 2\n#define ETHERTYPE 0xA000";
    for way in [Way::ALL[0], Way::ALL[5]] {
        let [encoder, decoder] = ["encoder.p4", "decoder.p4"].map(|file| app(way, defines, file));
        let mut pair = Pair { encoder, decoder };
        let tables = WIRES.to_owned() + &entries::masks(&code);
        let bases = [code.split(&[0xff; 8]).basis];
        let of_encoder = "table_add classes encode 1 0x0800 => 0\ntable_add classes encode 1 0x86dd => 1\n";
        let of_decoder = "table_add classes restore 0 => 0x0800\ntable_add classes restore 1 => 0x86dd\n";
        install(&mut pair.encoder, &(tables.clone() + of_encoder + &entries::identifiers(&bases)));
        install(&mut pair.decoder, &(tables + of_decoder + &entries::bases(&bases)));
        // One bit, eleven of the identifier 0, and six of the syndrome, which is that of a codeword.
        assert_eq!(pair.between(&frame(0x0800, &[0xff; 8])), frame(0xa001, &[0x80, 0, 0]));
        assert_eq!(pair.between(&frame(0x86dd, &[0xff; 9])), frame(0xa003, &[0x80, 0, 0, 0xff]));
        assert_eq!(pair.between(&frame(0x86dd, &[0; 8])), frame(0xa002, &[0; 8]));
        assert!(pass(&mut pair.encoder, &frame(0xa003, &[0; 8])).is_empty());
        assert_eq!(pair.between(&frame(0xa004, &[0; 8])), frame(0xa004, &[0; 8]));
    }
}
