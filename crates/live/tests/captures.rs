//! Captures against Wireshark's tools: they read what is written here, and what they write is read here.

use live::Driver;
use live::pcap::CaptureDriver;
use std::path::Path;
use std::process::Command;

/// Runs a tool and returns its output, or `None` if it is not installed.
fn tool(program: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        testkit::skip(format!("needs {program}"));
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {complaint}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Three frames with times that need all nine digits.
fn frames() -> Vec<(Vec<u8>, u64)> {
    let frame = |length: usize| [&[2; 12][..], &[0x88, 0xb5], &vec![7; length - 14]].concat();
    vec![(frame(60), 1_700_000_000_123_456_789), (frame(1514), 1_700_000_001_000_000_001), (frame(61), 999)]
}

fn write(path: &Path) {
    let mut driver = CaptureDriver::open(None, Some(path)).unwrap();
    for (frame, timestamp_ns) in frames() {
        driver.transmit(&frame, timestamp_ns).unwrap();
    }
    driver.finish().unwrap();
}

fn read(path: &Path) -> Vec<(Vec<u8>, u64)> {
    let mut driver = CaptureDriver::open(Some(path), None).unwrap();
    let mut frames = Vec::new();
    while !driver.exhausted() {
        driver.receive(64, &mut |frame, timestamp_ns| frames.push((frame.to_vec(), timestamp_ns))).unwrap();
    }
    frames
}

#[test]
fn tshark_reads_both_formats_with_nanoseconds() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.pcap", "out.pcapng"] {
        let path = folder.path().join(name);
        write(&path);
        let path = path.to_str().unwrap();
        let fields = ["-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"];
        let Some(text) = tool("tshark", &fields) else { return };
        assert_eq!(text, "1700000000.123456789\t60\n1700000001.000000001\t1514\n0.000000999\t61\n", "{name}");
    }
}

#[test]
fn what_editcap_writes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.pcapng");
    write(&source);
    for (format, resolution_ns) in [("pcap", 1000), ("nsecpcap", 1), ("pcapng", 1)] {
        let converted = folder.path().join(format);
        let arguments = ["-F", format, source.to_str().unwrap(), converted.to_str().unwrap()];
        if tool("editcap", &arguments).is_none() {
            return;
        }
        let expected: Vec<_> =
            frames().into_iter().map(|(frame, time_ns)| (frame, time_ns - time_ns % resolution_ns)).collect();
        assert_eq!(read(&converted), expected, "{format}");
    }
}

#[test]
fn a_merged_capture_of_several_interfaces_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, merged] = ["first.pcap", "second.pcapng", "merged.pcapng"].map(|name| folder.path().join(name));
    write(&first);
    write(&second);
    let paths = [&merged, &first, &second].map(|path| path.to_str().unwrap());
    if tool("mergecap", &["-a", "-I", "none", "-w", paths[0], paths[1], paths[2]]).is_none() {
        return;
    }
    assert_eq!(read(&merged), [frames(), frames()].concat());
}
