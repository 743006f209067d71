//! The command as its users run it: its output and its exit status.

use expect_test::{Expect, expect};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder with files, and the command run in it.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `wirespeed` with these arguments, separated by blanks.
    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs and compares exit status, standard output and standard error. Lines with a time are left out.
    fn check(&self, arguments: &str, expected: Expect) {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let timed = |line: &&str| !line.trim_end().ends_with(" s");
        let lines: Vec<&str> = out.lines().chain(err.lines()).filter(timed).collect();
        expected.assert_eq(&format!("exit {}\n{}\n", output.status.code().unwrap_or(-1), lines.join("\n")));
    }
}

fn apps(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps").join(file).display().to_string()
}

/// Sends every packet to the next port; drops those with a value in an entry.
const PROGRAM: &str = "\
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> value; bit<32> address; }
struct headers { h_t h; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action drop() { mark_to_drop(standard_metadata); }
    action send(bit<9> port) { standard_metadata.egress_spec = port; }
    table by_value {
        key = { hdr.h.value: exact; }
        actions = { drop; send; }
        default_action = send(2);
    }
    table by_address {
        key = { hdr.h.address: lpm; }
        actions = { send; NoAction; }
    }
    apply { by_value.apply(); by_address.apply(); }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn check_shows_every_error_and_fails() {
    let folder = Folder::with(&[("bad.p4", "const bit<8> a = b;\nconst bit<8> c = 1 + true;\n")]);
    let output = folder.run("check bad.p4");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("bad.p4:1") && text.contains("bad.p4:2"), "{text}");
}

#[test]
fn check_summary_has_a_line_per_file() {
    let files =
        [("good.p4", PROGRAM), ("bad.p4", "\nconst bit<8> a = b;\n"), ("worse.p4", "const bit<8> a = b + c;\n")];
    let folder = Folder::with(&files);
    folder.check(
        "check --summary good.p4 bad.p4 worse.p4 absent.p4",
        expect![[r#"
        exit 1
        good.p4: ok
        bad.p4: 1 error, first at line 2: `b` is not declared [E0201]
        worse.p4: 2 errors, first at line 1: `b` is not declared [E0201]
        absent.p4: 1 error: there is no file `absent.p4` [E0101]
    "#]],
    );
    folder.check("check --summary --json good.p4 bad.p4", expect![[r#"
        exit 1
        {"errors":0,"file":"good.p4","first":null,"ok":true,"warnings":0}
        {"errors":1,"file":"bad.p4","first":{"code":"E0201","column":18,"end_column":19,"end_line":2,"file":"bad.p4","help":[],"line":2,"message":"`b` is not declared","notes":["there is no `main` in this file: if it is a part of a program, check the file that includes it"],"related":[],"severity":"error"},"ok":false,"warnings":0}
    "#]]);
    folder.check("check --json bad.p4", expect![[r#"
        exit 1
        {"diagnostics":[{"code":"E0201","column":18,"end_column":19,"end_line":2,"file":"bad.p4","help":[],"line":2,"message":"`b` is not declared","notes":["there is no `main` in this file: if it is a part of a program, check the file that includes it"],"related":[],"severity":"error"}],"errors":1,"file":"bad.p4","ok":false,"warnings":0}
    "#]]);
}

#[test]
fn check_as_json_says_where_macros_are_expanded() {
    let text = "#define INNER b\n#define OUTER 1 + INNER\nconst bit<8> a = OUTER;\n";
    Folder::with(&[("bad.p4", text)]).check("check --json bad.p4", expect![[r#"
        exit 1
        {"diagnostics":[{"code":"E0201","column":15,"end_column":16,"end_line":1,"file":"bad.p4","help":[],"line":1,"message":"`b` is not declared","notes":["there is no `main` in this file: if it is a part of a program, check the file that includes it"],"related":[{"column":19,"end_column":24,"end_line":2,"file":"bad.p4","line":2,"message":"expanded here"},{"column":18,"end_column":23,"end_line":3,"file":"bad.p4","line":3,"message":"expanded here"}],"severity":"error"}],"errors":1,"file":"bad.p4","ok":false,"warnings":0}
    "#]]);
}

#[test]
fn check_says_what_controllers_cannot_have() {
    let text = PROGRAM.replace("table by_value", "@id(0x05000001) table by_value");
    let folder = Folder::with(&[("id.p4", &text)]);
    folder.check(
        "check id.p4",
        expect![[r#"
            exit 0
            id.p4: ok (not for P4Runtime: 0x05000001 is not an id of a table: its first eight bits say so [E1001])
        "#]],
    );
    folder.check(
        "check --summary id.p4",
        expect![[r#"
        exit 0
        id.p4: ok (not for P4Runtime: 0x05000001 is not an id of a table: its first eight bits say so [E1001])
    "#]],
    );
    folder.check("check --json --summary id.p4", expect![[r#"
        exit 0
        {"errors":0,"file":"id.p4","first":null,"ok":true,"remark":"not for P4Runtime: 0x05000001 is not an id of a table: its first eight bits say so [E1001]","warnings":0}
    "#]]);
}

/// A program without errors that has three warnings.
const ODD: &str = "\
control C(inout bit<8> x) {
    bit<8> unused;
    apply { x = x; @noWarn(\"no_effect\") { x = x; } if (x == x) { return; } }
}
";

#[test]
fn warnings_are_shown_in_order_and_do_no_harm() {
    let folder = Folder::with(&[("odd.p4", ODD)]);
    folder.check(
        "check odd.p4",
        expect![[r#"
            exit 0
            odd.p4: ok (there is no `main` to run)
            warning[W0301]: the variable `unused` is never used
             --> odd.p4:2:12
              |
            2 |     bit<8> unused;
              |            ^^^^^^ declared here

            warning[W0351]: this is assigned to itself
             --> odd.p4:3:13
              |
            3 |     apply { x = x; @noWarn("no_effect") { x = x; } if (x == x) { return; } }
              |             ^^^^^^ does nothing

            warning[W0342]: both sides of `==` are the same: the result is `true`
             --> odd.p4:3:56
              |
            3 |     apply { x = x; @noWarn("no_effect") { x = x; } if (x == x) { return; } }
              |                                                        ^^^^^^ always the same

            3 warnings
        "#]],
    );
    folder.check(
        "check --summary odd.p4",
        expect![[r#"
        exit 0
        odd.p4: ok (3 warnings; there is no `main` to run)
    "#]],
    );
    folder.check("check --json odd.p4", expect![[r#"
        exit 0
        {"diagnostics":[{"code":"W0301","column":12,"end_column":18,"end_line":2,"file":"odd.p4","help":[],"line":2,"message":"the variable `unused` is never used","notes":[],"related":[],"severity":"warning"},{"code":"W0351","column":13,"end_column":19,"end_line":3,"file":"odd.p4","help":[],"line":3,"message":"this is assigned to itself","notes":[],"related":[],"severity":"warning"},{"code":"W0342","column":56,"end_column":62,"end_line":3,"file":"odd.p4","help":[],"line":3,"message":"both sides of `==` are the same: the result is `true`","notes":[],"related":[],"severity":"warning"}],"errors":0,"file":"odd.p4","ok":true,"remark":"there is no `main` to run","warnings":3}
    "#]]);
}

#[test]
fn warnings_are_denied_and_allowed() {
    let folder = Folder::with(&[("odd.p4", ODD)]);
    folder.check(
        "check --summary --allow W0301 odd.p4",
        expect![[r#"
        exit 0
        odd.p4: ok (2 warnings; there is no `main` to run)
    "#]],
    );
    folder.check(
        "check --summary --allow warnings odd.p4",
        expect![[r#"
            exit 0
            odd.p4: ok (there is no `main` to run)
        "#]],
    );
    folder.check(
        "check --summary --deny w0351 odd.p4",
        expect![[r#"
        exit 1
        odd.p4: 1 error, first at line 3: this is assigned to itself [W0351]
    "#]],
    );
    folder.check(
        "check --summary --deny warnings --allow W0351 --allow W0342 odd.p4",
        expect![[r#"
        exit 1
        odd.p4: 1 error, first at line 2: the variable `unused` is never used [W0301]
    "#]],
    );
    folder.check(
        "check --summary --deny warnings --allow W0351 --allow W0342 --allow W0301 odd.p4",
        expect![[r#"
            exit 0
            odd.p4: ok (there is no `main` to run)
        "#]],
    );
    folder.check(
        "check --allow warnings --deny W0342 odd.p4",
        expect![[r#"
            exit 1
            error[W0342]: both sides of `==` are the same: the result is `true`
             --> odd.p4:3:56
              |
            3 |     apply { x = x; @noWarn("no_effect") { x = x; } if (x == x) { return; } }
              |                                                        ^^^^^^ always the same

            1 error
        "#]],
    );
    let wrong = folder.run("check --deny E0120 odd.p4");
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn compile_shows_and_denies_warnings() {
    let program = PROGRAM.replace("action send(", "bit<8> unused; action send(");
    let folder = Folder::with(&[("odd.p4", &program)]);
    let run = |arguments: &str| {
        let output = folder.run(arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).contains("[W0301]"))
    };
    assert_eq!(run("compile --emit ir odd.p4 -o out"), (Some(0), true));
    assert_eq!(run("compile --emit ir odd.p4 -o out --allow W0301"), (Some(0), false));
    assert_eq!(run("compile --emit ir odd.p4 -o out --deny warnings"), (Some(1), true));
    // A user who only runs a program does not see warnings.
    assert_eq!(run("check odd.p4"), (Some(0), true));
    assert_eq!(run("test odd.p4 --backend interp"), (Some(0), false));
}

#[test]
fn programs_that_cannot_run_are_checked_all_the_same() {
    let files = [
        ("part.p4", "const bit<8> a = 1;\n"),
        (
            "other.p4",
            "control c(inout bit<8> x);\npackage Top(c it);\ncontrol d(inout bit<8> x) { apply { x = 1; } }\nTop(d()) main;\n",
        ),
    ];
    Folder::with(&files).check(
        "check part.p4 other.p4",
        expect![[r#"
            exit 0
            part.p4: ok (there is no `main` to run)
            other.p4: ok (checked only: a program for package `Top` cannot be run)
        "#]],
    );
}

#[test]
fn wrong_entries_are_all_reported_with_their_lines() {
    let entries = "\
table_add by_value drop 0x01 =>
table_add by_value drop 0x1ff =>
table_add by_valu drop 1 =>
table_add by_value send 2 => 600
table_add by_address send 10.0.0.300/8 => 1
table_add by_value drop 1
";
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", entries)]);
    let output = folder.run("run p.p4 --entries entries.txt --port 1=null --backend interp");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for line in 2..=5 {
        assert!(text.contains(&format!("entries.txt:{line}")), "line {line} is not reported:\n{text}");
    }
    assert!(!text.contains("entries.txt:1:"), "{text}");
}

#[test]
fn a_duplicate_entry_is_refused_with_its_line() {
    let entries = "table_add by_value drop 1 =>\ntable_add by_value send 1 => 3\n";
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", entries)]);
    let output = folder.run("run p.p4 --entries entries.txt --port 1=null --backend interp");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("entries.txt:2"), "{text}");
}

#[test]
fn a_port_that_cannot_be_opened_is_explained() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    for (port, code, words) in [
        ("1=no-such-if", 3, "no interface is called `no-such-if`"),
        ("1=pcap:absent.pcap", 3, "absent.pcap"),
        ("one=eth0", 2, "NUMBER=INTERFACE"),
        ("600=null", 2, "0 to 511"),
    ] {
        let output = folder.run(&format!("run p.p4 --backend interp --port {port}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(words), "{port}: {text}");
        assert_eq!(output.status.code(), Some(code), "{port}: {text}");
    }
}

#[test]
fn rates_and_namespaces_that_cannot_be_are_refused() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    let run = "run p.p4 --backend interp --port 1=null";
    folder.check(
        &format!("{run} --port-rate 1=fast"),
        expect![[r#"
        exit 2
        error: port rate `1=fast`: write PORT=MBIT, as in `1=0.5` for half a megabit a second, or PORT=MBIT/BYTES with the bytes that the wire carries beside each packet (those of Ethernet are 24)
    "#]],
    );
    let wrong = folder.run(&format!("{run} --port-rate 1=10/lots")).stderr;
    let wrong = String::from_utf8_lossy(&wrong);
    assert!(wrong.contains("port rate `1=10/lots`: write PORT=MBIT"), "{wrong}");
    folder.check(
        &format!("{run} --port-rate 512=1"),
        expect![[r#"
        exit 2
        error: port rate: there is no port 512
    "#]],
    );
    folder.check(
        &format!("{run} --netns ./absent"),
        expect![[r#"
        exit 3
        error: cannot enter the network namespace ./absent: No such file or directory (os error 2)
    "#]],
    );
    folder.check(
        &format!("{run} --netns p.p4"),
        expect![[r#"
        exit 3
        error: cannot enter the network namespace /run/netns/p.p4: No such file or directory (os error 2)
    "#]],
    );
}

/// A capture with one packet of these bytes for each.
fn capture(packets: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    for (number, packet) in packets.iter().enumerate() {
        for word in [number as u32, 0, packet.len() as u32, packet.len() as u32] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(packet);
    }
    file
}

/// The packets of a capture that this project wrote.
fn packets_of(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let mut packets = Vec::new();
    let mut rest = &bytes[24..];
    while rest.len() >= 16 {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        packets.push(rest[16..16 + length].to_vec());
        rest = &rest[16 + length..];
    }
    packets
}

#[test]
fn a_run_over_captures_is_the_same_on_both_backends() {
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", "table_add by_value drop 7 =>\n")]);
    let long = |first: u8| [&[first, 10, 0, 0, 1][..], &[0xee; 20]].concat();
    let inputs = [long(1), long(7), long(2), vec![3]];
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    std::fs::write(folder.path("in.pcap"), capture(&inputs)).unwrap();
    for backend in ["native", "interp"] {
        let ports = "--port 1=pcap:in.pcap --port 2=pcap:,out.pcap";
        let output = folder.run(&format!("run p.p4 --entries entries.txt {ports} --backend {backend} --json"));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        // The last packet is too short for its header: it is forwarded as it is, by the default action.
        assert_eq!(packets_of(&folder.path("out.pcap")), [long(1), long(2), vec![3]], "{backend}");
    }
}

#[test]
fn sent_packets_keep_their_time_stamps() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    std::fs::write(folder.path("in.pcap"), capture(&[&[1; 30], &[2; 30], &[3; 30]])).unwrap();
    let stamps = |path: PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        let (mut stamps, mut rest) = (Vec::new(), &bytes[24..]);
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        while rest.len() >= 16 {
            stamps.push(f64::from(word(rest, 0)) + f64::from(word(rest, 4)) / 1e9);
            rest = &rest[16 + word(rest, 8) as usize..];
        }
        stamps
    };
    for backend in ["native", "interp"] {
        let ports = format!("--port 1=pcap:in.pcap --port 2=pcap:,out.pcap --backend {backend}");
        assert_eq!(folder.run(&format!("run p.p4 {ports}")).status.code(), Some(0));
        assert_eq!(stamps(folder.path("out.pcap")), [0.0, 1.0, 2.0], "{backend}");
    }
}

#[test]
fn a_capture_that_is_cut_off_gives_its_whole_packets_and_an_error() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    let mut file = capture(&[&[1; 30], &[2; 30]]);
    file.truncate(file.len() - 5);
    std::fs::write(folder.path("in.pcap"), file).unwrap();
    let output = folder.run("run p.p4 --port 1=pcap:in.pcap --port 2=pcap:,out.pcap --backend interp");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("in.pcap"), "{text}");
    assert_eq!(packets_of(&folder.path("out.pcap")), [vec![1; 30]]);
}

#[test]
fn trace_shows_the_journey() {
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", "table_add by_address send 10.0.0.0/8 => 5\n")]);
    folder.check(
        "trace p.p4 --entries entries.txt --packet 1:010a000001ff",
        expect![[r#"
            exit 0
            packet 1: 6 bytes on port 1
              ingress: port 1, 6 bytes, a normal packet
              P
                state start                                                                           p.p4:7
                  extract hdr.h at byte 0: value=1 address=167772161                                  p.p4:7
                  accept                                                                              p.p4:7
              V
              I
                table I.by_value hdr.h.value=1                                                        p.p4:22
                  miss
                action I.send(port=2)                                                                 p.p4:22
                  standard_metadata.egress_spec = 2                                                   p.p4:12
                table I.by_address hdr.h.address=10.0.0.1                                             p.p4:22
                  hit entry 0: hdr.h.address=10.0.0.0/8 -> I.send(5)
                action I.send(port=5)                                                                 p.p4:22
                  standard_metadata.egress_spec = 5                                                   p.p4:12
              => queued to port 5
              egress: port 5, replica 0, a normal packet
              E
              C
              D
                emit hdr.h: 5 bytes                                                                   p.p4:26
              => sent on port 5, 6 bytes
              out on port 5: 010a000001ff
        "#]],
    );
}

#[test]
fn trace_shows_parameters_without_bits() {
    let program = PROGRAM.replace("action send(bit<9> port)", "action send(bit<0> none, bit<9> port, bit<0> last)");
    let entries = "table_add by_address send 10.0.0.0/8 => 0 5 0\n";
    let folder = Folder::with(&[("p.p4", &program.replace("send(2)", "send(0, 2, 0)")), ("entries.txt", entries)]);
    let line = "trace p.p4 --entries entries.txt --packet 1:010a000001ff";
    let printed = String::from_utf8(folder.run(line).stdout).unwrap();
    for shown in ["I.send(0, 5, 0)", "action I.send(none=0, port=5, last=0)"] {
        assert!(printed.contains(shown), "{printed}");
    }
}

#[test]
fn trace_shows_which_writes_have_no_effect() {
    let body = "{ hdr.other.value = 7; hdr.other.setValid(); hdr.other.value = 8; ";
    let program =
        PROGRAM.replace("{ standard_metadata.egress_spec = port;", body).replace("h_t h;", "h_t h; h_t other;");
    let folder = Folder::with(&[("p.p4", &program)]);
    let run = |line| String::from_utf8(folder.run(line).stdout).unwrap();
    let printed = run("trace p.p4 --packet 1:010a000001ff");
    let writes: Vec<_> = printed.lines().filter(|line| line.contains("hdr.other.value = ")).map(words).collect();
    assert_eq!(writes, ["hdr.other.value = 7 (not kept: the header is invalid)", "hdr.other.value = 8"], "{printed}");
    let json = run("trace p.p4 --packet 1:010a000001ff --json");
    assert_eq!(json.matches("\"is_kept\":false").count(), 1, "{json}");
}

/// A line of a journey, without its place.
fn words(line: &str) -> &str {
    line.rsplit_once("  ").map_or(line, |(text, _)| text).trim()
}

#[test]
fn trace_refuses_what_is_no_packet() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    folder.check(
        "trace p.p4 --packet 1:012",
        expect![[r#"
            exit 2
            error: the packet has 3 hexadecimal digits; a byte has two
        "#]],
    );
    folder.check(
        "trace p.p4 --packet 1:xy",
        expect![[r#"
            exit 2
            error: the packet is not hexadecimal; write PORT:HEX, as in 1:ffffffffffff0000000000010806
        "#]],
    );
}

#[test]
fn trace_refuses_ports_that_do_not_exist() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    folder.check(
        "trace p.p4 --packet 512:0102",
        expect![[r#"
            exit 2
            error: `512` is not a port number from 0 to 511
        "#]],
    );
    folder.check(
        "trace p.p4 --pcap 4294967296=in.pcap",
        expect![[r#"
            exit 2
            error: `4294967296` is not a port number; write PORT=FILE, as in 1=in.pcap
        "#]],
    );
}

#[test]
fn trace_of_a_damaged_capture_shows_what_is_whole_and_fails() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    let mut file = capture(&[&[1, 0, 0, 0, 0], &[2, 0, 0, 0, 0]]);
    file.truncate(file.len() - 3);
    std::fs::write(folder.path("in.pcap"), file).unwrap();
    let output = folder.run("trace p.p4 --pcap 1=in.pcap");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.contains("packet 1: 5 bytes") && out.contains("out on port 2: 0100000000"), "{out}");
    assert!(!out.contains("packet 2") && err.contains("record 2"), "{out}{err}");
    // A run that only needs the complete packets does not reach the damage.
    assert_eq!(folder.run("trace p.p4 --pcap 1=in.pcap --count 1").status.code(), Some(0));
}

#[test]
fn drops_are_counted_by_name() {
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", "table_add by_value drop 7 =>\n")]);
    std::fs::write(folder.path("in.pcap"), capture(&[&[7; 30], &[7; 30], &[1; 30]])).unwrap();
    let ports = "--port 1=pcap:in.pcap --port 2=null";
    let output = folder.run(&format!("run p.p4 --entries entries.txt {ports} --backend interp --json"));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["drops"], serde_json::json!({"ingress": 2}));
    assert_eq!(summary["left_in_queues"], 0);
}

#[test]
fn each_stage_can_be_shown() {
    let folder = Folder::with(&[]);
    let program = apps("l3fwd/l3fwd.p4");
    for (stage, words) in [
        ("ast", "RouterParser"),
        ("p4", "parser RouterParser"),
        ("ir", "RouterIngress"),
        ("lir", "unit fast_path"),
        ("c", "ws_block_0"),
    ] {
        let output = folder.run(&format!("compile {program} --emit {stage}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stage}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains(words), "{stage}: {text}");
    }
    assert_eq!(folder.run(&format!("compile {program} -o l3fwd.so")).status.code(), Some(0));
    assert!(folder.path("l3fwd.so").is_file());
}

#[test]
fn without_a_compiler_the_interpreter_runs_with_a_note() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    let output = folder.run("run p.p4 --port 1=null --cc no-such-compiler");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("interpreter"), "{text}");
    let output = folder.run("run p.p4 --port 1=null --cc no-such-compiler --backend native");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_demonstration_runs() {
    let folder = Folder::with(&[]);
    let output = folder.run("demo --packets 2000 --routes 50 --dir demo");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("checked   500 packets against the interpreter: the same"), "{text}");
    let sent: usize = (1..=4).map(|port| packets_of(&folder.path(&format!("demo/out-{port}.pcap"))).len()).sum();
    // One in twenty has no route, including some whose TTL has expired.
    assert_eq!(sent, 1900);
}

#[test]
fn the_demonstration_counts_what_it_checked() {
    let folder = Folder::with(&[]);
    // Every second packet of 999.
    let output = folder.run("demo --packets 999 --routes 5");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("checked   500 packets against"), "{text}");
}

#[test]
fn the_demonstration_without_a_compiler_claims_no_check() {
    let folder = Folder::with(&[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["demo", "--packets", "100", "--routes", "5"]).current_dir(folder.path(""));
    let output = command.env("CC", "no-such-compiler").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("checked   nothing") && text.contains("one core, the interpreter"), "{text}");
}

/// A reader that closes the pipe is not an error; a full disk is one, and is reported.
#[test]
fn results_that_cannot_be_written() {
    let explain = |out: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.arg("explain").stdout(out).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(explain(Stdio::piped()), (Some(0), String::new()));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, message) = explain(full.into());
    assert_eq!(code, Some(3));
    assert!(message.starts_with("error: cannot write to standard output"), "{message}");
}

/// The exit status of a check is a result, and does not depend on a reader who has seen enough.
#[test]
fn a_check_whose_reader_is_gone_has_its_status() {
    let folder = Folder::with(&[("good.p4", PROGRAM), ("bad.p4", "control C( { }")]);
    for (line, expected) in [
        ("check bad.p4", 1),
        ("check good.p4", 0),
        ("check --summary good.p4 bad.p4 good.p4", 1),
        ("check --json bad.p4 good.p4", 1),
        ("compile bad.p4", 1),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.args(line.split(' ')).current_dir(folder.path(""));
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(expected), "{line}");
    }
}

/// A folder with a program, entries that drop the value 7, and a capture of packets of the values 1 and 7.
fn folder_for_state() -> Folder {
    let folder = Folder::with(&[("p.p4", PROGRAM), ("entries.txt", "table_add by_value drop 7 =>\n")]);
    std::fs::write(folder.path("in.pcap"), capture(&[&[7; 30], &[1; 30]])).unwrap();
    folder
}

const STATE_PORTS: &str = "--port 1=pcap:in.pcap --port 2=pcap:,out.pcap --backend interp --quiet --state kept";

#[test]
fn a_run_goes_on_with_what_the_last_one_kept() {
    let folder = folder_for_state();
    let output = folder.run(&format!("run p.p4 --entries entries.txt {STATE_PORTS}"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // The program runs although its file is gone.
    std::fs::remove_file(folder.path("p.p4")).unwrap();
    std::fs::remove_file(folder.path("out.pcap")).unwrap();
    let output = folder.run(&format!("run {STATE_PORTS}"));
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(0), ""));
    assert_eq!(packets_of(&folder.path("out.pcap")), [vec![1; 30]]);
    // Entries are the stored ones, not those of a file.
    std::fs::write(folder.path("entries.txt"), "table_add by_value drop 1 =>\n").unwrap();
    let output = folder.run(&format!("run --entries entries.txt {STATE_PORTS}"));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    expect!["warning: kept has the entries of an earlier run, which are used: --entries is not read again\n"]
        .assert_eq(&message);
    assert_eq!(packets_of(&folder.path("out.pcap")), [vec![1; 30]]);
}

#[test]
fn damaged_and_foreign_state_is_reported_and_the_switch_starts() {
    let folder = folder_for_state();
    let wrong = folder.run(&format!("run {STATE_PORTS}"));
    assert_eq!(wrong.status.code(), Some(2));
    expect!["error: kept: it has no program yet: name the program to run\n"]
        .assert_eq(&String::from_utf8_lossy(&wrong.stderr));
    folder.run(&format!("run p.p4 --entries entries.txt {STATE_PORTS}"));
    let files = std::fs::read_dir(folder.path("kept")).unwrap().map(|entry| entry.unwrap().path());
    let snapshot = files.filter(|path| path.display().to_string().contains("snapshot")).max().unwrap();
    let mut bytes = std::fs::read(&snapshot).unwrap();
    let name = bytes.windows(8).position(|window| window == b"by_value").unwrap();
    bytes[name + 3] = b'w';
    std::fs::write(&snapshot, bytes).unwrap();
    // The damaged record is the one with the program, which is the first that has the name.
    let output = folder.run(&format!("run p.p4 {STATE_PORTS}"));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
    let damaged =
        "warning: kept/snapshot-1.state: record 2 (the program) is damaged; 5 other records were read; kept as ";
    assert!(message.starts_with(damaged), "{message}");
    assert_eq!(packets_of(&folder.path("out.pcap")), [vec![1; 30]]);
    // A program without the table ignores the entry.
    std::fs::write(folder.path("q.p4"), PROGRAM.replace("by_value", "by_other")).unwrap();
    let output = folder.run(&format!("run q.p4 {STATE_PORTS}"));
    expect![[r#"
        warning: kept belongs to the program p.p4: q.p4 takes over the state that fits it
        warning: not restored: the program has no table I.by_value
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stderr));
    assert_eq!(packets_of(&folder.path("out.pcap")), [vec![7; 30], vec![1; 30]]);
}

#[test]
fn a_state_folder_that_cannot_be_used() {
    let folder = folder_for_state();
    std::fs::write(folder.path("kept"), "a file").unwrap();
    folder.check(
        &format!("run p.p4 {STATE_PORTS}"),
        expect![[r#"
        exit 3
        error: cannot use the state folder kept: it is not a folder
    "#]],
    );
}

/// The error for a certificate names its file.
#[test]
fn certificates_that_are_none() {
    let folder = Folder::with(&[("p.p4", PROGRAM), ("a.crt", "a certificate\n"), ("a.key", "")]);
    let tls = "--p4runtime=127.0.0.1:0 --p4runtime-cert a.crt --p4runtime-key a.key";
    folder.check(
        &format!("run p.p4 --backend interp {tls}"),
        expect![[r#"
            exit 1
            error: a.crt has no certificate in PEM: it has no line `-----BEGIN ...CERTIFICATE-----`
        "#]],
    );
    let block = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
    std::fs::write(folder.path("a.crt"), block("CERTIFICATE")).unwrap();
    folder.check(
        &format!("run p.p4 --backend interp {tls}"),
        expect![[r#"
            exit 1
            error: a.key has no private key in PEM: it has no line `-----BEGIN ...PRIVATE KEY-----`
        "#]],
    );
    std::fs::write(folder.path("a.key"), block("PRIVATE KEY")).unwrap();
    folder.check(
        &format!("run p.p4 --backend interp {tls}"),
        expect![[r#"
            exit 3
            error: a.crt with a.key: the certificates cannot be used: unexpected error: failed to parse private key as RSA, ECDSA, or EdDSA
        "#]],
    );
    folder.check(
        "ctl --ca a.key status",
        expect![[r#"
            exit 1
            error: a.key has no certificate in PEM: it has no line `-----BEGIN ...CERTIFICATE-----`
        "#]],
    );
}

/// What is no regular file is refused at once: a pipe may never have a writer, and a device may never end.
#[test]
fn pipes_and_devices_are_no_inputs() {
    let calls_a_plug_in = PROGRAM
        .replace("struct headers", "extern void scramble(in bit<8> value);\nstruct headers")
        .replace("by_value.apply();", "scramble(hdr.h.value); by_value.apply();");
    assert_ne!(calls_a_plug_in.len(), PROGRAM.len());
    let includes = "#include \"pipe\"\n";
    let folder = Folder::with(&[
        ("p.p4", PROGRAM),
        ("sketch.p4", &*calls_a_plug_in),
        ("includes_pipe.p4", includes),
        ("p.stf", ""),
    ]);
    let folder_of_state = folder.path("state");
    std::fs::create_dir(&folder_of_state).unwrap();
    for path in [folder.path("pipe"), folder.path("pipe.json"), folder_of_state.join("log-1.state")] {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let lines = [
        ("trace p.p4 --entries pipe --packet 1:00", "it is a named pipe, not a regular file"),
        ("trace p.p4 --entries /dev/zero --packet 1:00", "it is a device, not a regular file"),
        ("run p.p4 --backend interp --port 1=pcap:pipe", "it is a named pipe, not a regular file"),
        ("ctl --file pipe", "it is a named pipe, not a regular file"),
        ("net pipe", "it is a named pipe, not a regular file"),
        ("test p.p4 pipe", "it is a named pipe, not a regular file"),
        ("check pipe", "it is a named pipe, not a regular file"),
        ("check pipe.json", "it is a named pipe, not a regular file"),
        ("check /dev/zero", "it is a device, not a regular file"),
        ("run pipe --port 1=null", "it is a named pipe, not a regular file"),
        ("check includes_pipe.p4", "it is a named pipe, not a regular file"),
        ("trace --state state --packet 1:00", "it is a named pipe, not a regular file"),
        ("bench p.p4 --trace pipe", "it is a named pipe, not a regular file"),
        ("zipline fit pipe", "it is a named pipe, not a regular file"),
        ("ctl --ca pipe status", "it is a named pipe, not a regular file"),
        ("test sketch.p4 p.stf --extern pipe", "it is a named pipe, not a regular file"),
    ];
    for (line, expected) in lines {
        let mut command = Command::new("timeout");
        command.args(["20", env!("CARGO_BIN_EXE_wirespeed")]).args(line.split_whitespace());
        let output = command.current_dir(folder.0.path()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(err.contains(expected), "{line}: {:?} {err}", output.status);
    }
}

/// The program itself may come through a pipe that somebody writes.
#[test]
fn a_program_comes_from_standard_input() {
    let folder = Folder::with(&[("p.p4", PROGRAM)]);
    for arguments in ["check -", "check /dev/stdin"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        let program = std::fs::File::open(folder.path("p.p4")).unwrap();
        let mut cat = Command::new("cat").stdin(program).stdout(Stdio::piped()).spawn().unwrap();
        command.args(arguments.split_whitespace()).stdin(cat.stdout.take().unwrap());
        let output = command.output().unwrap();
        cat.wait().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn advice_names_an_option_that_there_is() {
    let output = Folder::with(&[]).run("trace --from 127.0.0.1:1 --packet 1:00");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("--from names another"), "{err}");
}
