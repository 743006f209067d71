//! A switch that runs `wirespeed run`, and the command that speaks to it.

#![allow(dead_code, reason = "each file of tests uses its part")]

use expect_test::Expect;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A router with counters, registers, a digest and packets of controllers.
pub const ROUTER: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dstAddr; bit<48> srcAddr; bit<16> etherType; }
header ipv4_t { bit<96> head; bit<32> srcAddr; bit<32> dstAddr; }
@controller_header("packet_out") header packet_out_t { bit<9> egress_port; bit<7> _pad; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct learn_t { bit<48> address; bit<9> port; }
struct meta_t { bit<12> tag; learn_t learn; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control MyIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    counter(4, CounterType.packets_and_bytes) rx;
    register<bit<16>>(4) flows;
    action drop() { mark_to_drop(s); }
    action forward(bit<48> dstAddr, bit<9> port) { h.ethernet.dstAddr = dstAddr; s.egress_spec = port; }
    table ipv4_lpm {
        key = { h.ipv4.dstAddr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        size = 16;
    }
    table acl {
        key = { h.ipv4.srcAddr: ternary; h.ethernet.etherType: range; }
        actions = { drop; NoAction; }
    }
    apply {
        rx.count((bit<32>)s.ingress_port);
        m.learn.address = h.ethernet.srcAddr;
        m.learn.port = s.ingress_port;
        digest(1, m.learn);
        flows.write(0, h.ethernet.etherType);
        acl.apply();
        ipv4_lpm.apply();
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), MyIngress(), E(), V(), D()) main;
"#;

/// The command.
pub fn wirespeed() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wirespeed"))
}

/// A switch that runs until it is dropped.
pub struct Switch {
    pub process: Child,
    pub address: String,
    folder: TempDir,
}

impl Switch {
    /// Starts one without ports.
    pub fn start() -> Switch {
        Switch::start_with(&[])
    }

    /// Starts one with options of its own.
    pub fn start_with(options: &[&str]) -> Switch {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("router.p4");
        std::fs::write(&program, ROUTER).unwrap();
        Switch::run(&program, folder, options)
    }

    /// Starts one with another program.
    pub fn start_program(program: &Path, options: &[&str]) -> Switch {
        Switch::run(program, tempfile::tempdir().unwrap(), options)
    }

    fn run(program: &Path, folder: TempDir, options: &[&str]) -> Switch {
        let mut command = wirespeed();
        command.arg("run").arg(program).args(["--backend", "interp", "--p4runtime", "127.0.0.1:0"]).args(options);
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the switch has not started");
            if let Some((_, address)) = line.split_once("P4Runtime at ") {
                break address.trim().to_owned();
            }
        };
        std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        Switch { process, address, folder }
    }

    pub fn ctl(&self) -> Command {
        let mut command = wirespeed();
        command.args(["ctl", "--address", &self.address]);
        command
    }

    /// What commands print, each with how it ends unless it succeeds.
    pub fn check(&self, commands: &[&[&str]], expected: Expect) {
        let mut shown = String::new();
        for command in commands {
            let output = self.ctl().args(*command).stdin(Stdio::null()).output().unwrap();
            shown += &self.shown(&output);
        }
        expected.assert_eq(&shown);
    }

    /// What lines of standard input print.
    pub fn check_lines(&self, options: &[&str], lines: &str, expected: Expect) {
        let mut command = self.ctl();
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();
        expected.assert_eq(&self.shown(&output));
    }

    fn shown(&self, output: &std::process::Output) -> String {
        let status = match output.status.code() {
            Some(0) => String::new(),
            code => format!("status {}\n", code.unwrap_or(-1)),
        };
        let text = [&output.stdout[..], &output.stderr[..]].map(|it| String::from_utf8_lossy(it).into_owned()).concat();
        let folder = self.folder.path().display().to_string();
        (text + &status).replace(&folder, "FOLDER").replace(&self.address, "ADDRESS")
    }

    pub fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }
}
