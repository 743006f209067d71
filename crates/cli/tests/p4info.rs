//! `wirespeed compile --emit p4info` in each of its forms.

use expect_test::expect;
use p4info::Format;
use p4info::v1::P4Info;
use prost::Message as _;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> value; }
struct headers { h_t h; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t s) {
    @brief("Sends a packet") action send(bit<9> port) { s.egress_spec = port; }
    @id(0x02000007) table by_value {
        key = { hdr.h.value: exact @name("value"); }
        actions = { send; NoAction; }
        const entries = { 1: send(2); }
    }
    apply { by_value.apply(); }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

fn compile(folder: &Path, output: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["compile", "p.p4", "--emit", "p4info"]).current_dir(folder);
    output.iter().for_each(|name| {
        command.args(["-o", name]);
    });
    command.output().unwrap()
}

#[test]
fn the_text_form() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.p4"), PROGRAM).unwrap();
    let shown = compile(folder.path(), None);
    expect![[r#"
        # proto-file: p4/config/v1/p4info.proto
        # proto-message: p4.config.v1.P4Info

        pkg_info {
          arch: "v1model"
        }
        tables {
          preamble {
            id: 33554439
            name: "I.by_value"
            alias: "by_value"
          }
          match_fields {
            id: 1
            name: "value"
            bitwidth: 8
            match_type: EXACT
          }
          action_refs {
            id: 29795013
          }
          action_refs {
            id: 21257015
          }
          initial_default_action {
            action_id: 21257015
          }
          size: 1024
          is_const_table: true
          has_initial_entries: true
        }
        actions {
          preamble {
            id: 21257015
            name: "NoAction"
            alias: "NoAction"
            annotations: "@noWarn(\"unused\")"
          }
        }
        actions {
          preamble {
            id: 29795013
            name: "I.send"
            alias: "send"
            doc {
              brief: "Sends a packet"
            }
          }
          params {
            id: 1
            name: "port"
            bitwidth: 9
          }
        }
        type_info {
        }
    "#]]
    .assert_eq(&String::from_utf8(shown.stdout).unwrap());
}

#[test]
fn text_binary_and_json_are_of_the_same_message() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.p4"), PROGRAM).unwrap();
    let shown = compile(folder.path(), None);
    assert!(shown.status.success());
    let file = |name: &str| {
        assert!(compile(folder.path(), Some(name)).status.success(), "{name}");
        std::fs::read(folder.path().join(name)).unwrap()
    };
    assert_eq!(file("p.txtpb"), shown.stdout);
    assert_eq!(file("p.p4info.txt"), shown.stdout);
    let info = P4Info::decode(file("p.bin").as_slice()).unwrap();
    assert_eq!(p4info::encode(&info, Format::Text), shown.stdout);
    assert_eq!(p4info::encode(&info, Format::Json), file("p.json"));
    let json: serde_json::Value = serde_json::from_slice(&file("p.json")).unwrap();
    assert_eq!(json["tables"][0]["preamble"]["name"], "I.by_value");
    assert_eq!(json["tables"][0]["isConstTable"], true);
}

#[test]
fn other_endings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.p4"), PROGRAM).unwrap();
    let refused = compile(folder.path(), Some("p.xml"));
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("the extension of its file: .txtpb or .txt, .bin, .json"), "{message}");
    assert!(!folder.path().join("p.xml").exists());
}

#[test]
fn older_clients_get_what_they_know() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.p4"), PROGRAM).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.args(["compile", "p.p4", "--emit"]).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let shown = run(&["p4info", "--for", "1.3"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("is_const_table: true") && text.contains("action_refs"), "{text}");
    assert!(!text.contains("initial"), "{text}");
    let message = |output: Output| String::from_utf8(output.stderr).unwrap();
    assert!(message(run(&["p4info", "--for", "2.0"])).contains("a version of P4Runtime is 1.0 to 1.5"));
    assert!(message(run(&["ir", "--for", "1.3"])).contains("--for is for --emit p4info"));
}
