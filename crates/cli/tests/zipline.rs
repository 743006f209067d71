//! `wirespeed zipline`: the tables of a sample make its packets small, and the decoder makes them what they were.

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

/// Readings of a sensor: four chunks of 32 bytes in turn, of which one bit differs each time, and what follows them.
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

fn run(folder: &Path, program: &str, entries: &str, from: &str, to: &str) {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/zipline").join(program);
    let words = format!("--quiet --entries {entries} --port 1=pcap:{from} --port 2=pcap:,{to}");
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
        "#]],
    );
    run(folder, "encoder.p4", "encoder.txt", "sample.pcap", "small.pcap");
    run(folder, "decoder.p4", "decoder.txt", "small.pcap", "whole.pcap");
    let small = read(&folder.join("small.pcap"));
    for (sent, small) in frames.iter().zip(&small) {
        let saved = if sent[12] == 8 { 32 - 3 } else { 0 };
        assert_eq!(small.len(), sent.len() - saved);
    }
    assert!(read(&folder.join("whole.pcap")) == frames, "the packets are not what they were");
}

#[test]
fn each_code_is_judged_by_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("sample.pcap"));
    check(
        folder.path(),
        "zipline fit sample.pcap",
        expect![[r#"
            exit 0
               m   chunk      chunks       bases   with identifier   size
               3       1         180           4               180  1.049
               4       2         180           9               180  1.024
               5       4         180          20               180  0.976
               6       8         180          51               180  0.878
               7      16         180          91               180  0.683
               8      32         180         166               180  0.293
               9      64           0           0                 0  1.000
              10     128           0           0                 0  1.000
              11     256           0           0                 0  1.000
              12     512           0           0                 0  1.000
              13    1024           0           0                 0  1.000
              14    2048           0           0                 0  1.000
              15    4096           0           0                 0  1.000
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
            error: --m: m is 2, but it must be from 3 to 15
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
