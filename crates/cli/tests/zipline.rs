//! `wirespeed zipline`: the tables made from a sample shorten its packets, and the decoder restores them.

use expect_test::{Expect, expect};
use live::pcap::{CaptureReader, CaptureWriter};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

fn wirespeed(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(words.split_whitespace()).current_dir(folder).output().unwrap()
}

fn check(folder: &Path, words: &str, expected: Expect) {
    let output = wirespeed(folder, words);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    expected.assert_eq(&format!("exit {}\n{out}{err}", output.status.code().unwrap_or(-1)));
}

/// Readings of a sensor: four chunks of 32 bytes in turn, of which one bit differs each time, and the bytes that
/// follow them.
fn write(path: &Path) -> Vec<Vec<u8>> {
    let mut writer = CaptureWriter::create(path).unwrap();
    let mut frames = Vec::new();
    for number in 0..200_usize {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, if number % 10 == 9 { 0x86 } else { 8 }, 0];
        frame.extend((0..32).map(|at| (number % 4 * 57 + at * 3) as u8));
        frame[14 + number % 32] ^= 1 << (number % 7);
        frame.extend(vec![number as u8; number % 20]);
        writer.write(&frame, 1_000_000_000 + 1_000 * number as u64).unwrap();
        frames.push(frame);
    }
    writer.flush().unwrap();
    frames
}

fn read(path: &Path) -> Vec<Vec<u8>> {
    let mut reader = CaptureReader::<File>::open(path).unwrap();
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        frames.push(packet.data.to_vec());
    }
    frames
}

/// Runs a program, compiled with these options, from one capture to another.
fn run(folder: &Path, program: &str, options: &str, entries: &str, from: &str, to: &str) {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/zipline").join(program);
    let words = format!("{options} --quiet --entries {entries} --port 1=pcap:{from} --port 2=pcap:,{to}");
    let output = wirespeed(folder, &format!("run {} {words}", app.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn tables_of_a_capture_make_it_small_and_whole_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frames = write(&folder.join("sample.pcap"));
    let words = "zipline tables sample.pcap --encoder encoder.txt --decoder decoder.txt";
    check(
        folder,
        words,
        expect![[r#"
            exit 0
            180 packets, 180 chunks of 32 bytes
            166 bases, 166 with an identifier: those of 180 chunks
            payloads of 7 380 bytes become 2 160: 0.293
            compile both programs with -D CODE=8
        "#]],
    );
    run(folder, "encoder.p4", "", "encoder.txt", "sample.pcap", "small.pcap");
    run(folder, "decoder.p4", "", "decoder.txt", "small.pcap", "whole.pcap");
    let small = read(&folder.join("small.pcap"));
    for (sent, small) in frames.iter().zip(&small) {
        let saved = if sent[12] == 8 { 32 - 3 } else { 0 };
        assert_eq!(small.len(), sent.len() - saved);
    }
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
}

/// A capture of these payloads, each after an Ethernet header.
fn write_payloads(path: &Path, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut writer = CaptureWriter::create(path).unwrap();
    let header = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let frames: Vec<Vec<u8>> = payloads.iter().map(|payload| [&header[..], payload].concat()).collect();
    for (frame, number) in frames.iter().zip(0..) {
        writer.write(frame, 1_000_000_000 + 1_000 * number).unwrap();
    }
    writer.flush().unwrap();
    frames
}

/// Payloads of sensors, if the file exists: one per line, the fourth value, in hexadecimal.
fn sensors() -> Option<Vec<Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/payloads/lorawan-ems.csv");
    let text = std::fs::read_to_string(path).ok()?;
    let payload = |line: &str| {
        let digits = line.split(',').nth(3)?;
        (0..digits.len() / 2).map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()).collect()
    };
    text.lines().skip(1).map(payload).collect()
}

/// Readings that suit a mask: a counter, two noisy bytes and a flag among constant bytes; some are longer.
fn readings() -> Vec<Vec<u8>> {
    let one = |number: usize| {
        let mut reading = b"station 7: 0000 volts, ok".to_vec();
        let noise = (number as u32).wrapping_mul(2_654_435_761).to_be_bytes();
        reading[1] = (number % 200) as u8;
        (reading[12], reading[13]) = (noise[0], noise[1]);
        reading[20] ^= u8::from(number.is_multiple_of(7));
        reading.extend(vec![0x55; if number.is_multiple_of(20) { 3 } else { 0 }]);
        reading
    };
    (0..3_000).map(one).collect()
}

/// The choice of `fit` for the first third of the payloads: sends the rest through encoder and decoder; returns the
/// compressed fraction, and the ratio of its sizes.
fn fit_and_compress(folder: &Path, payloads: &[Vec<u8>]) -> (String, f64, f64) {
    let (sample, rest) = payloads.split_at(payloads.len() / 3);
    write_payloads(&folder.join("sample.pcap"), sample);
    let frames = write_payloads(&folder.join("rest.pcap"), rest);
    let output = wirespeed(folder, "zipline fit sample.pcap --encoder encoder.txt --decoder decoder.txt");
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, options) = text.trim_end().rsplit_once(" with ").unwrap_or_else(|| panic!("{text}"));
    run(folder, "encoder.p4", options, "encoder.txt", "rest.pcap", "small.pcap");
    run(folder, "decoder.p4", options, "decoder.txt", "small.pcap", "whole.pcap");
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
    let small = read(&folder.join("small.pcap"));
    let bytes = |frames: &[Vec<u8>]| frames.iter().map(|frame| frame.len() - 14).sum::<usize>() as f64;
    let compressed = small.iter().filter(|frame| frame[12..14] == [0x88, 0xb6]).count();
    (options.to_owned(), compressed as f64 / frames.len() as f64, bytes(&small) / bytes(&frames))
}

#[test]
fn a_mask_from_a_sample_suits_what_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let (options, compressed, ratio) = fit_and_compress(folder.path(), &readings());
    assert_eq!(options, "-D CODE=0 -D CHUNK=25 -D ASIDE=25");
    assert_eq!((compressed, ratio < 0.25), (1.0, true), "{ratio}");
    let Some(payloads) = sensors() else { return };
    // Bases that occur only later are not in the tables.
    let (options, compressed, ratio) = fit_and_compress(folder.path(), &payloads);
    assert!(compressed > 0.75 && ratio < 0.45, "{options}: {compressed} of the packets, {ratio} of the bytes");
    // More bits are set aside: nearly all later bases are known, and not much larger.
    let words = "zipline tables sample.pcap --transform mask-41 --encoder encoder.txt --decoder decoder.txt";
    let output = wirespeed(folder.path(), words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    write_payloads(&folder.path().join("rest.pcap"), &payloads);
    let options = "-D CODE=0 -D CHUNK=23 -D ASIDE=41";
    run(folder.path(), "encoder.p4", options, "encoder.txt", "rest.pcap", "small.pcap");
    let small = read(&folder.path().join("small.pcap"));
    let compressed = small.iter().filter(|frame| frame[12..14] == [0x88, 0xb6]).count();
    assert!(compressed * 100 > payloads.len() * 97, "{compressed} of {}", payloads.len());
}

/// Fits the programs to the payloads of some packets of a capture: after both programs, all packets are restored.
/// Returns how many were compressed.
fn there_and_back(folder: &Path, capture: &str, words: &str) -> usize {
    let files = "--encoder encoder.txt --decoder decoder.txt";
    let output = wirespeed(folder, &format!("zipline fit {capture} {words} {files}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, options) = text.trim_end().rsplit_once(" with ").unwrap_or_else(|| panic!("{text}"));
    run(folder, "encoder.p4", options, "encoder.txt", capture, "small.pcap");
    run(folder, "decoder.p4", options, "decoder.txt", "small.pcap", "whole.pcap");
    let (sent, small) = (read(&folder.join(capture)), read(&folder.join("small.pcap")));
    assert!(read(&folder.join("whole.pcap")) == sent, "{capture} {words}: the packets are not what they were");
    assert!(sent.iter().zip(&small).all(|(sent, small)| small.len() <= sent.len()), "no packet grows");
    small.iter().filter(|frame| frame[12..14] == [0x88, 0xb6]).count()
}

#[test]
fn chunks_behind_udp_and_tcp_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Four readings after UDP and TCP, and other packets.
    let readings = readings();
    let packets: Vec<Vec<u8>> = (0..600)
        .map(|number| {
            let is_tcp = number % 3 == 0;
            let mut packet = vec![0; if is_tcp { 52 } else { 28 }];
            (packet[0], packet[9], packet[22], packet[23]) = (0x45, if is_tcp { 6 } else { 17 }, 0x16, 0x33);
            if is_tcp {
                packet[32] = 8 << 4;
            }
            packet.extend(readings[number..number + number % 5].iter().flat_map(|reading| &reading[..25]));
            packet.extend(vec![0x77; number % 7]);
            packet
        })
        .collect();
    write_payloads(&folder.join("both.pcap"), &packets);
    // Those with no reading are not compressed.
    assert_eq!(there_and_back(folder, "both.pcap", "--udp 5683 --count 4 --chunk 25"), 320);
    assert_eq!(there_and_back(folder, "both.pcap", "--tcp 5683 --offset 52 --count 4 --chunk 25"), 160);
    assert!(there_and_back(folder, "both.pcap", "--offset 20 --count 3 --chunk 40") > 300);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/captures");
    let mut compressed = Vec::new();
    for (name, words) in [
        ("zeek_snmpwalk-short.pcap", "--udp 161 --count 2"),
        ("zeek_dns-edns-ecs.pcap", "--udp 53 --count 3 --chunk 16"),
        ("zeek_modbusSmall.pcap", "--tcp 502 --offset 52 --count 2 --chunk 6"),
        ("zeek_modbusSmall.pcap", "--offset 6 --count 8 --chunk 5 --id-bits 9"),
    ] {
        if std::fs::copy(data.join(name), folder.join(name)).is_ok() {
            compressed.push(there_and_back(folder, name, words));
        }
    }
    assert!(compressed.is_empty() || compressed.iter().sum::<usize>() > 100, "{compressed:?}");
}

/// Two kinds of traffic, each with its own mask and its own bases, distinguished by EtherTypes.
#[test]
fn classes_of_traffic_have_their_own_masks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = readings();
    let second: Vec<Vec<u8>> = first.iter().map(|reading| reading.iter().rev().copied().collect()).collect();
    write_payloads(&folder.join("first.pcap"), &first);
    write_payloads(&folder.join("second.pcap"), &second);
    let common = "--transform mask-33 --chunk 25 --first-identifier";
    for (name, further) in [("first", "0"), ("second", "100 --class 1")] {
        let files = format!("--encoder {name}-encoder.txt --decoder {name}-decoder.txt");
        let output = wirespeed(folder, &format!("zipline tables {name}.pcap {common} {further} {files}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.contains("-D CLASSES=2\n"), name == "second", "{text}");
    }
    let mut writer = CaptureWriter::create(&folder.join("both.pcap")).unwrap();
    let mut frames = Vec::new();
    for (frame, is_second) in first.iter().zip(&second).flat_map(|(a, b)| [(a, false), (b, true)]) {
        let header = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, u8::from(is_second)];
        frames.push([&header[..], frame].concat());
        writer.write(&frames[frames.len() - 1], 1_000 * frames.len() as u64).unwrap();
    }
    writer.flush().unwrap();
    for program in ["encoder", "decoder"] {
        let [first, second] = ["first", "second"]
            .map(|name| std::fs::read_to_string(folder.join(format!("{name}-{program}.txt"))).unwrap());
        assert!(!second.contains("ports send") && first.contains("ports send"), "the wires are those of class 0");
        std::fs::write(folder.join(format!("{program}.txt")), first + &second.replace("0x0800", "0x0801")).unwrap();
    }
    let options = "-D CODE=0 -D CHUNK=25 -D ASIDE=33 -D CLASSES=2 -D ETHERTYPE=0xA000";
    run(folder, "encoder.p4", options, "encoder.txt", "both.pcap", "small.pcap");
    run(folder, "decoder.p4", options, "decoder.txt", "small.pcap", "whole.pcap");
    let small = read(&folder.join("small.pcap"));
    let count = |ethertype: [u8; 2]| small.iter().filter(|frame| frame[12..14] == ethertype).count();
    assert_eq!([count([0xa0, 1]), count([0xa0, 3])], [3_000, 3_000]);
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
}

/// A capture with the first payloads and, of another EtherType, the second ones in turn.
fn write_both_kinds(path: &Path, first: &[Vec<u8>], second: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut writer = CaptureWriter::create(path).unwrap();
    let mut frames = Vec::new();
    for (frame, is_second) in first.iter().zip(second).flat_map(|(a, b)| [(a, false), (b, true)]) {
        let header = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, u8::from(is_second)];
        frames.push([&header[..], frame].concat());
        writer.write(&frames[frames.len() - 1], 1_000 * frames.len() as u64).unwrap();
    }
    writer.flush().unwrap();
    frames
}

/// Chunks of 32 bytes next to two codewords of the Hamming code, so that any bit may differ.
fn next_to_codewords() -> Vec<Vec<u8>> {
    let one = |number: usize| {
        let mut chunk = vec![if number.is_multiple_of(2) { 0 } else { 0xff }; 32];
        let place = number.wrapping_mul(2_654_435_761) >> 7;
        chunk[place / 8 % 32] ^= 1 << (place % 8);
        chunk.extend(vec![number as u8; number % 3]);
        chunk
    };
    (0..3_000).map(one).collect()
}

/// Two kinds of traffic, each with the transform that suits it, with chunks of different lengths.
#[test]
fn classes_of_traffic_have_their_own_transforms() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frames = write_both_kinds(&folder.join("both.pcap"), &readings(), &next_to_codewords());
    let files = "--encoder encoder.txt --decoder decoder.txt";
    let output = wirespeed(folder, &format!("zipline fit both.pcap --also both.pcap,ethertype=0x0801 {files}"));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, report) = text.split_once("\nclass 0").unwrap_or_else(|| panic!("{text}"));
    expect![[r#"
         is both.pcap, EtherType 0x0801: entries are for hamming-8
        class 1 is both.pcap, EtherType 0x0800: entries are for mask-25
        compile both programs with -D CODE=8 -D CLASSES=2 -D CODE_1=0 -D CHUNK_1=25 -D ASIDE_1=25
    "#]]
    .assert_eq(report);
    let (_, options) = text.trim_end().rsplit_once(" with ").unwrap();
    let check = |options: &str, sizes: [usize; 2]| {
        let options = format!("{options} -D ETHERTYPE=0xA000");
        run(folder, "encoder.p4", &options, "encoder.txt", "both.pcap", "small.pcap");
        run(folder, "decoder.p4", &options, "decoder.txt", "small.pcap", "whole.pcap");
        let small = read(&folder.join("small.pcap"));
        let count = |ethertype: [u8; 2]| small.iter().filter(|frame| frame[12..14] == ethertype).count();
        assert_eq!([count([0xa0, 1]), count([0xa0, 3])], [3_000, 3_000]);
        for (sent, small) in frames.iter().zip(&small) {
            assert_eq!(small.len(), sent.len() - sizes[usize::from(sent[13])]);
        }
        assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
    };
    // The reading's 25 bytes become 25 and 15 bits, the chunk of 32 bytes three.
    check(options, [25 - 5, 32 - 3]);
    let further = "both.pcap,ethertype=0x0801,transform=hamming-8";
    let words = format!("zipline tables both.pcap --transform mask-33 --also {further} {files}");
    let output = wirespeed(folder, &words);
    let text = String::from_utf8(output.stdout).unwrap();
    expect![[r#"
        class 0 is both.pcap, EtherType 0x0801: hamming-8
        3 000 packets, 3 000 chunks of 32 bytes
        2 bases, 2 with an identifier: those of 3 000 chunks
        payloads of 99 000 bytes become 12 000: 0.121
        class 1 is both.pcap, EtherType 0x0800: mask-33
        3 000 packets, 3 000 chunks of 25 bytes
        1 bases, 1 with an identifier: those of 3 000 chunks
        payloads of 75 450 bytes become 18 450: 0.245
        compile both programs with -D CODE=8 -D CLASSES=2 -D CODE_1=0 -D CHUNK_1=25 -D ASIDE_1=33
    "#]]
    .assert_eq(&text);
    let (_, options) = text.trim_end().rsplit_once(" with ").unwrap();
    check(options, [25 - 6, 32 - 3]);
}

/// One program at both ends: each restores what the other sends, with both kinds of traffic.
#[test]
fn gateways_encode_one_way_and_decode_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frames = write_both_kinds(&folder.join("both.pcap"), &readings(), &next_to_codewords());
    let words = "zipline fit both.pcap --also both.pcap,ethertype=0x0801 --gateway gateway.txt";
    let output = wirespeed(folder, words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, options) = text.trim_end().rsplit_once(" with ").unwrap();
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/zipline/gateway.p4");
    let gateway = |ports: &str| {
        let options = format!("{options} -D ETHERTYPE=0xA000 --quiet --entries gateway.txt");
        let output = wirespeed(folder, &format!("run {} {options} {ports}", app.display()));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    gateway("--port 1=pcap:both.pcap --port 2=pcap:,small.pcap");
    gateway("--port 1=pcap:,whole.pcap --port 2=pcap:small.pcap");
    let small = read(&folder.join("small.pcap"));
    assert!(small.iter().all(|frame| matches!(frame[12..14], [0xa0, 1 | 3])), "all are compressed");
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
}

/// Several readings in datagrams to two ports, where chunks have one length.
#[test]
fn classes_with_several_chunks_have_their_own_transforms() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let readings = readings();
    let packet = |number: usize| {
        let mut packet = vec![0; 28];
        (packet[0], packet[9], packet[22], packet[23]) = (0x45, 17, 0x16, 0x33 + (number % 3) as u8);
        let turned = |reading: &Vec<u8>| match number % 3 {
            0 => reading[..25].to_vec(),
            _ => reading[..25].iter().rev().copied().collect::<Vec<u8>>(),
        };
        packet.extend(readings[number..number + number % 4].iter().flat_map(turned));
        packet
    };
    let packets: Vec<Vec<u8>> = (0..600).map(packet).collect();
    write_payloads(&folder.join("both.pcap"), &packets);
    // No class matches a third, and a fourth have no reading.
    let words = "--udp 5683 --also both.pcap,udp=5684 --count 4 --chunk 25";
    assert_eq!(there_and_back(folder, "both.pcap", words), 150);
    let options = std::fs::read_to_string(folder.join("encoder.txt")).unwrap();
    assert!(options.starts_with("# Compiled with -D CODE=0 -D CHUNK=25 -D ASIDE="), "{options}");
    assert!(options.contains(" -D OFFSET=28 -D COUNT=4 -D CLASSES=2 -D CODE_1=0 -D ASIDE_1="), "{options}");
}

/// Invalid classes, from arguments and from settings of the programs.
#[test]
fn faults_of_classes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_both_kinds(&folder.join("both.pcap"), &readings(), &next_to_codewords());
    let mut report = String::new();
    let mut run_and_note = |words: &str| {
        let output = wirespeed(folder, words);
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
        report += &format!("{}: {}\n", output.status.code().unwrap_or(-1), lines.join("\n"));
    };
    let files = "--encoder e.txt --decoder d.txt";
    run_and_note(&format!("zipline fit both.pcap --also both.pcap {files}"));
    run_and_note(&format!("zipline fit both.pcap --also udp=53 {files}"));
    run_and_note(&format!("zipline fit both.pcap --also both.pcap,port=53 {files}"));
    run_and_note(&format!("zipline fit both.pcap --also both.pcap,ethertype=0x0801 --class 1 {files}"));
    run_and_note(&format!("zipline tables --m 8 --also udp=53,transform=mask-41 {files}"));
    run_and_note(&format!("zipline tables --m 8 --also udp=53,transform=hamming-6 --count 2 {files}"));
    let further: String = (1..9).map(|number| format!(" --also udp={number}")).collect();
    run_and_note(&format!("zipline tables --m 8{further} {files}"));
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/zipline");
    for options in [
        "-D CODE_1=6",
        "-D CLASSES=2 -D ASIDE_1=8",
        "-D CLASSES=2 -D CODE_1=0",
        "-D CLASSES=2 -D CODE_1=9",
        "-D CLASSES=2 -D CODE_1=2",
        "-D CLASSES=2 -D CODE_1=6 -D ERRORS_1=3",
        "-D CLASSES=2 -D CODE_1=0 -D ASIDE_1=8 -D CHUNK_1=33",
        "-D CLASSES=2 -D CODE_1=0 -D ASIDE_1=8 -D CHUNK_1=23 -D COUNT=2",
    ] {
        run_and_note(&format!("compile {} {options}", app.join("encoder.p4").display()));
        run_and_note(&format!("compile {} {options}", app.join("decoder.p4").display()));
    }
    expect![[r#"
        2: error: --also: nothing distinguishes packets like those of `both.pcap, EtherType 0x0800` from those of `both.pcap, EtherType 0x0800`: add ethertype=, udp= or tcp=
        2: error: --also: `fit` takes a capture of each class, and finds its transform; `tables` is given one
        2: error: invalid value 'both.pcap,port=53' for '--also <CAPTURE[,udp=PORT...]>': `port=` is unknown; there are ethertype=, udp=, tcp=, chunk=, transform= and polynomial=
        2: error: the argument '--also <CAPTURE[,udp=PORT...]>' cannot be used with '--class <N>'
        2: error: UDP to 53, transform=: mask-41 has a mask, which is chosen from a sample: name a capture with such payloads
        2: error: where packets have several chunks, those of all classes have one length, but here some have 32 bytes and others 8: --chunk and chunk= say how many bytes chunks with masks have
        2: error: --also: no more than 7 further classes have transforms of their own
        1: error[E0113]: #error there is CODE_1, but CLASSES says that there is no class 1
        1: error[E0113]: #error there is CODE_1, but CLASSES says that there is no class 1
        1: error[E0113]: #error class 1 has settings but no CODE_1, with which a transform of its own begins
        1: error[E0113]: #error class 1 has settings but no CODE_1, with which a transform of its own begins
        1: error[E0113]: #error without a code, ASIDE says how many bits the masks of classes have
        1: error[E0113]: #error without a code, ASIDE says how many bits the masks of classes have
        1: error[E0113]: #error the word of the code does not fit into CHUNK bytes, or ASIDE leaves nothing of them
        1: error[E0113]: #error the word of the code does not fit into CHUNK bytes, or ASIDE leaves nothing of them
        1: error[E0113]: #error CODE is the m of a Hamming code, 3 to 15, or 0
        1: error[E0113]: #error CODE is the m of a Hamming code, 3 to 15, or 0
        1: error[E0113]: #error ERRORS is 1 or 2
        1: error[E0113]: #error ERRORS is 1 or 2
        1: error[E0113]: #error classes with transforms of their own stand in the order of their chunks, the longest first: compare CHUNK
        1: error[E0113]: #error classes with transforms of their own stand in the order of their chunks, the longest first: compare CHUNK
        1: error[E0113]: #error where packets have several chunks, those of all classes have one length
        1: error[E0113]: #error where packets have several chunks, those of all classes have one length
    "#]].assert_eq(&report);
}

#[test]
fn each_transform_is_judged_by_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("sample.pcap"));
    check(
        folder.path(),
        "zipline fit sample.pcap",
        expect![[r#"
            exit 0
            transform        chunk      chunks       bases  with identifier   size  met before  learned
            hamming-3            1         180           4              180  1.000         176    1.000
            hamming-4            2         180           9              180  1.000         171    1.000
            hamming-5            4         180          20              180  0.976         160    0.978
            hamming-6            8         180          51              180  0.878         129    0.913
            hamming-7           16         180          91              180  0.683          89    0.843
            hamming-8           32         180         166              180  0.293          14    0.945
            hamming-9           64           0           0                0  1.000           0    1.000
            hamming-10         128           0           0                0  1.000           0    1.000
            hamming-11         256           0           0                0  1.000           0    1.000
            hamming-12         512           0           0                0  1.000           0    1.000
            hamming-13        1024           0           0                0  1.000           0    1.000
            hamming-14        2048           0           0                0  1.000           0    1.000
            hamming-15        4096           0           0                0  1.000           0    1.000
            bch-4                2         180           9              180  1.000         171    1.000
            bch-5                4         180          22              180  1.000         158    1.000
            bch-6                8         180          43              180  0.902         137    0.926
            bch-7               16         180          85              180  0.707          95    0.846
            bch-8               32         180         162              180  0.317          18    0.932
            bch-9               64           0           0                0  1.000           0    1.000
            mask-1              33         170         170              170  0.286           0    1.000
            mask-9              33         170         166              170  0.309           4    0.984
            mask-17             33         170         159              170  0.332          11    0.957
            mask-25             33         170         151              170  0.355          19    0.928
            mask-33             33         170         144              170  0.378          26    0.905
            mask-41             33         170         137              170  0.401          33    0.884
            mask-49             33         170         129              170  0.424          41    0.861
            mask-57             33         170         121              170  0.447          49    0.841
            mask-65             33         170         113              170  0.470          57    0.822
            mask-73             33         170         105              170  0.493          65    0.806
            mask-81             33         170          98              170  0.516          72    0.795
            mask-89             33         170          90              170  0.539          80    0.783
            mask-97             33         170          83              170  0.562          87    0.776
            mask-105            33         170          75              170  0.585          95    0.768
            mask-113            33         170          67              170  0.608         103    0.763
            mask-121            33         170          59              170  0.631         111    0.759
            mask-129            33         170          51              170  0.654         119    0.758
            mask-137            33         170          43              170  0.678         127    0.759
            mask-145            33         170          35              170  0.701         135    0.762
            swap-hamming-5      33         170           4              170  0.977         166    0.978
            swap-hamming-6      33         170           4              170  0.885         166    0.888
            swap-hamming-7      33         170          43              170  0.701         127    0.776
            swap-hamming-8      33         170         164              170  0.332           6    0.976
            swap-bch-6          33         170           4              170  0.908         166    0.910
            swap-bch-7          33         170          38              170  0.724         132    0.785
            swap-bch-8          33         170         165              170  0.355           5    0.981
        "#]],
    );
}

#[test]
fn codes_have_other_generators() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frames = write(&folder.join("sample.pcap"));
    let words = "zipline tables sample.pcap --encoder encoder.txt --decoder decoder.txt";
    check(
        folder,
        &format!("{words} --m 5 --polynomial 0x17 --no-bases"),
        expect![[r#"
        exit 0
        180 packets, 180 chunks of 4 bytes
        25 bases
        payloads of 7 380 bytes become 7 225 while these are learned: 0.979
        compile both programs with -D CODE=5 -D POLYNOMIAL=0x17
    "#]],
    );
    let options = "-D CODE=5 -D POLYNOMIAL=0x17";
    run(folder, "encoder.p4", options, "encoder.txt", "sample.pcap", "small.pcap");
    run(folder, "decoder.p4", options, "decoder.txt", "small.pcap", "whole.pcap");
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
    let masks = |table: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join("encoder.txt")).unwrap();
        let start = format!("table_add {table} ");
        text.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
    };
    let of_first = masks("masks");
    assert_eq!(of_first.len(), 31);
    let words = "zipline tables --m 8 --no-bases --encoder encoder.txt --decoder decoder.txt --also udp=53,transform=";
    check(
        folder,
        &format!("{words}hamming-5,polynomial=0x17"),
        expect![[r#"
        exit 0
        class 0 is EtherType 0x0800: hamming-8
        class 1 is UDP to 53: hamming-5
        compile both programs with -D CODE=8 -D OFFSET=28 -D CLASSES=2 -D CODE_1=5 -D POLYNOMIAL_1=0x17 -D CHUNK_1=4
    "#]],
    );
    assert_eq!(masks("masks_1"), of_first);
    check(
        folder,
        &format!("{words}mask-8,chunk=8,polynomial=0x17"),
        expect![[r#"
        exit 2
        error: UDP to 53, polynomial=: mask-8 has no Hamming code
    "#]],
    );
    check(
        folder,
        &format!("{words}hamming-5,polynomial=0x1c"),
        expect![[r#"
        exit 2
        error: UDP to 53, polynomial=: 0x1c does not generate a Hamming code with m = 5: x^5 plus it is not a primitive polynomial; the default is 0x5
    "#]],
    );
    let words = "zipline tables sample.pcap --encoder encoder.txt --decoder decoder.txt";
    check(
        folder,
        &format!("{words} --m 5 --polynomial 0x1c"),
        expect![[r#"
        exit 2
        error: --polynomial: 0x1c does not generate a Hamming code with m = 5: x^5 plus it is not a primitive polynomial; the default is 0x5
    "#]],
    );
    check(
        folder,
        &format!("{words} --transform mask-8 --polynomial 0x17"),
        expect![[r#"
        exit 2
        error: --polynomial: mask-8 has no Hamming code
    "#]],
    );
}

#[test]
fn no_file_is_written_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frames = write(&folder.join("sample.pcap"));
    check(
        folder,
        "zipline fit sample.pcap --encoder same.txt --decoder ./same.txt",
        expect![[r#"
        exit 2
        error: ./same.txt: the file is named twice, and would be written over
    "#]],
    );
    check(
        folder,
        "zipline tables sample.pcap --encoder ./sample.pcap --decoder decoder.txt",
        expect![[r#"
        exit 2
        error: ./sample.pcap: the file is named twice, and would be written over
    "#]],
    );
    std::fs::hard_link(folder.join("sample.pcap"), folder.join("other.pcap")).unwrap();
    check(
        folder,
        "zipline tables sample.pcap --encoder encoder.txt --decoder other.pcap",
        expect![[r#"
        exit 2
        error: other.pcap: the file is named twice, and would be written over
    "#]],
    );
    assert_eq!(read(&folder.join("sample.pcap")), frames);
    check(
        folder,
        "zipline learn --encoder x --decoder 10.0.0.1:9559",
        expect![[r#"
        exit 2
        error: invalid value 'x' for '--encoder <HOST:PORT>': it is HOST:PORT, as 10.0.0.1:9559 or [::1]:9559, or `here` within a switch (run --with)

        For more information, try '--help'.
    "#]],
    );
}

/// If nothing is gained, this is reported, and `fit` writes nothing.
#[test]
fn transforms_without_gain_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()
    };
    let payloads: Vec<Vec<u8>> = (0..1_000).map(|_| [random(), random(), random()].concat()).collect();
    write_payloads(&folder.join("random.pcap"), &payloads);
    write_payloads(&folder.join("single.pcap"), &payloads[..1]);
    write_payloads(&folder.join("empty.pcap"), &[vec![], vec![]]);
    let mut report = String::new();
    let mut run_and_note = |words: &str| {
        let output = wirespeed(folder, words);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let out = if words.starts_with("zipline fit") { "" } else { &*out };
        report += &format!("{words}: exit {}\n{out}{err}", output.status.code().unwrap_or(-1));
    };
    let files = "--encoder e.txt --decoder d.txt";
    run_and_note("zipline fit single.pcap");
    run_and_note(&format!("zipline fit single.pcap {files}"));
    run_and_note(&format!("zipline fit random.pcap {files}"));
    run_and_note(&format!("zipline fit empty.pcap {files}"));
    assert!(!folder.join("e.txt").exists() && !folder.join("d.txt").exists());
    for words in [
        "empty.pcap",
        "random.pcap --transform mask-183",
        "random.pcap --transform mask-41 --first-identifier 32768",
        "random.pcap --transform mask-41 --first-identifier 32758",
        "random.pcap --transform mask-41 --no-bases",
        "--m 4",
        "--m 4 --id-bits 3",
    ] {
        run_and_note(&format!("zipline tables {words} {files}"));
    }
    expect![[r#"
        zipline fit single.pcap: exit 0
        warning: nothing is gained: no transform makes these payloads smaller by a hundredth while bases are learned
        zipline fit single.pcap --encoder e.txt --decoder d.txt: exit 1
        error: nothing is gained: no transform makes these payloads smaller by a hundredth while bases are learned; no entries are written
        zipline fit random.pcap --encoder e.txt --decoder d.txt: exit 1
        error: nothing is gained: no transform makes these payloads smaller by a hundredth while bases are learned; no entries are written
        zipline fit empty.pcap --encoder e.txt --decoder d.txt: exit 1
        error: of `empty.pcap`, no packet of this kind has any bytes after its first 14 bytes
        zipline tables empty.pcap --encoder e.txt --decoder d.txt: exit 1
        error: of `empty.pcap`, no packet of this kind has any bytes after its first 14 bytes
        zipline tables random.pcap --transform mask-183 --encoder e.txt --decoder d.txt: exit 0
        1 000 packets, 1 000 chunks of 24 bytes
        419 bases, 419 with an identifier: those of 1 000 chunks
        payloads of 24 000 bytes become 24 000: 1.000
        compile both programs with -D CODE=0 -D CHUNK=24 -D ASIDE=183
        warning: nothing is gained: with identifiers of 15 bits, 25 bytes replace a chunk of 24; no packet becomes shorter
        zipline tables random.pcap --transform mask-41 --first-identifier 32768 --encoder e.txt --decoder d.txt: exit 2
        error: --first-identifier: identifiers of 15 bits are 0 to 32767; --id-bits makes more
        zipline tables random.pcap --transform mask-41 --first-identifier 32758 --encoder e.txt --decoder d.txt: exit 0
        1 000 packets, 1 000 chunks of 24 bytes
        1 000 bases, 10 with an identifier: those of 10 chunks
        payloads of 24 000 bytes become 23 830: 0.993
        compile both programs with -D CODE=0 -D CHUNK=24 -D ASIDE=41
        zipline tables random.pcap --transform mask-41 --no-bases --encoder e.txt --decoder d.txt: exit 0
        1 000 packets, 1 000 chunks of 24 bytes
        1 000 bases
        payloads of 24 000 bytes become 24 000 while these are learned: 1.000
        compile both programs with -D CODE=0 -D CHUNK=24 -D ASIDE=41
        zipline tables --m 4 --encoder e.txt --decoder d.txt: exit 0
        compile both programs with -D CODE=4
        warning: nothing is gained: with identifiers of 15 bits, 3 bytes replace a chunk of 2; no packet becomes shorter
        zipline tables --m 4 --id-bits 3 --encoder e.txt --decoder d.txt: exit 0
        compile both programs with -D CODE=4 -D ID_BITS=3
    "#]].assert_eq(&report);
}

/// The capturing program was killed: the packets before the end are the sample.
#[test]
fn a_capture_that_is_cut_short_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("sample.pcap"));
    let bytes = std::fs::read(folder.join("sample.pcap")).unwrap();
    std::fs::write(folder.join("sample.pcap"), &bytes[..bytes.len() / 2]).unwrap();
    let words = "zipline tables sample.pcap --encoder encoder.txt --decoder decoder.txt";
    check(
        folder,
        words,
        expect![[r#"
            exit 0
            90 packets, 90 chunks of 32 bytes
            86 bases, 86 with an identifier: those of 90 chunks
            payloads of 3 690 bytes become 1 080: 0.293
            compile both programs with -D CODE=8
            warning: capture `sample.pcap`: record 100 at byte 7093 is cut short by the end of the file; everything before it was read
        "#]],
    );
}

#[test]
fn faults_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("sample.pcap"));
    check(
        folder,
        "zipline fit sample.pcap --ethertype 0x1234",
        expect![[r#"
            exit 1
            error: no packet of `sample.pcap` has the EtherType 0x1234; --ethertype names another
        "#]],
    );
    let files = "--encoder e.txt --decoder d.txt";
    check(
        folder,
        &format!("zipline tables sample.pcap --m 2 {files}"),
        expect![[r#"
            exit 2
            error: invalid value '2' for '--m <N>': 2 is not in 3..=15

            For more information, try '--help'.
        "#]],
    );
    check(
        folder,
        &format!("zipline tables --transform mask-41 {files}"),
        expect![[r#"
            exit 2
            error: --transform: mask-41 has a mask, which is chosen from a sample: name a capture with such payloads
        "#]],
    );
    check(
        folder,
        &format!("zipline tables sample.pcap --transform bch-12 {files}"),
        expect![[r#"
            exit 2
            error: invalid value 'bch-12' for '--transform <NAME>': it is hamming-M or swap-hamming-M with M from 3 to 15, bch-M or swap-bch-M with M from 4 to 9, or mask-BITS

            For more information, try '--help'.
        "#]],
    );
    check(
        folder,
        "zipline fit sample.pcap --udp 53 --offset 20",
        expect![[r#"
            exit 2
            error: --offset: chunks begin after the header, at 28 or later for UDP, and at 40, 44, ... or 80 for TCP
        "#]],
    );
    check(
        folder,
        "zipline fit sample.pcap --udp 53",
        expect![[r#"
            exit 1
            error: no packet of `sample.pcap` is IPv4 without options to that port; --udp and --tcp name another
        "#]],
    );
    check(
        folder,
        "zipline fit nothing.pcap",
        expect![[r#"
            exit 1
            error: cannot open capture `nothing.pcap`: No such file or directory (os error 2)
        "#]],
    );
}
