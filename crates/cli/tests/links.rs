//! Links with the names of BMv2's tools and of the reference compiler, called as scripts call these.

use expect_test::expect;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers_t { byte_t byte; }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.byte); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    table where { key = { h.byte.value: exact; } actions = { send; } }
    apply { where.apply(); }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

/// A folder with links in `bin` and the program in `x.p4`.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        std::fs::write(folder.path("x.p4"), PROGRAM).unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_wirespeed")).arg("links").arg(folder.path("bin")).output().unwrap();
        let said = String::from_utf8_lossy(&made.stdout).into_owned();
        assert!(made.status.success() && said.lines().count() == 5, "{made:?}");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command line by one of the links, in the folder.
    fn command(&self, line: &str) -> Command {
        let mut words = line.split_whitespace();
        let mut command = Command::new(self.path("bin").join(words.next().unwrap()));
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// The output of a command line that succeeds.
    fn printed(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a switch and waits until it runs.
    fn start(&self, line: &str) -> Started {
        let mut child = self.command(line).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        while !said.contains("P4Runtime at ") {
            assert!(lines.read_line(&mut said).unwrap() > 0, "{line}: {said}");
        }
        // Its later output is discarded.
        std::thread::spawn(move || lines.lines().for_each(drop));
        Started(child)
    }
}

/// A switch that runs until it is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// A port on which no process listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_program_is_compiled_by_p4c_and_run_by_simple_switch() {
    let folder = Folder::new();
    let line = "p4c --target bmv2 --arch v1model --Wdisable=unused --Wdisable=uninitialized_use --Wwarn --Wwarn=unused \
                --p4runtime-files build/x.p4info.txtpb -o build x.p4";
    assert_eq!(folder.printed(line), "");
    assert!(std::fs::read_to_string(folder.path("build/x.p4info.txtpb")).unwrap().contains("I.where"));
    let port = free_port();
    let _switch = folder.start(&format!("simple_switch --use-files 0 --thrift-port {port} build/x.json"));
    std::fs::write(folder.path("commands.txt"), "table_add where send 7 => 2\ntable_dump where\n").unwrap();
    let commands = std::fs::File::open(folder.path("commands.txt")).unwrap();
    let output = folder.command(&format!("simple_switch_CLI --thrift-port {port}")).stdin(commands).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Entry has been added with handle 0") && said.contains("I.send - 0002"), "{output:?}");
}

#[test]
fn p4c_writes_the_text_after_the_preprocessor() {
    let folder = Folder::new();
    std::fs::write(
        folder.path("a.p4"),
        "#define W 8\n#define P +\n#if W > 4\nconst bit<W> x = 1 +P W;  // 9\n#endif\n",
    )
    .unwrap();
    assert_eq!(folder.printed("p4c -E a.p4"), "const bit< 8 > x = 1 + + 8 ;\n");
    assert!(!folder.path("a.json").exists());
    // The text is a program without directives.
    let text = folder.printed("p4c --target bmv2 -E x.p4");
    std::fs::write(folder.path("y.p4"), text).unwrap();
    folder.printed("p4c --nocpp --target bmv2 y.p4");
    let output = folder.run("p4c -E none.p4");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn p4c_writes_the_entries_of_a_program() {
    let folder = Folder::new();
    let tables = "actions = { send; NoAction; }
            const entries = { (1, 0x10 &&& 0xF0): send(1); (2, _): send(2); } }
        table fast { key = { h.byte.value: exact; } actions = { send; NoAction; } entries = { 7: send(3); } }";
    let text = PROGRAM
        .replace("value: exact; } actions = { send; } }", &format!("value: exact; h.byte.value: ternary; }} {tables}"))
        .replace("apply { where.apply(); }", "apply { where.apply(); fast.apply(); }");
    std::fs::write(folder.path("e.p4"), text).unwrap();
    folder
        .printed("p4c --p4runtime-entries-files build/e.txtpb,build/e.bin,build/e.json --pp build/pp.p4 -o build e.p4");
    let written = std::fs::read_to_string(folder.path("build/e.txtpb")).unwrap();
    expect![[r##"
        # proto-file: p4/v1/p4runtime.proto
        # proto-message: p4.v1.WriteRequest

        updates {
          type: INSERT
          entity {
            table_entry {
              table_id: 39845462
              match {
                field_id: 1
                exact {
                  value: "\001"
                }
              }
              match {
                field_id: 2
                ternary {
                  value: "\020"
                  mask: "\360"
                }
              }
              action {
                action {
                  action_id: 29795013
                  params {
                    param_id: 1
                    value: "\001"
                  }
                }
              }
              priority: 2
              is_const: true
            }
          }
        }
        updates {
          type: INSERT
          entity {
            table_entry {
              table_id: 39845462
              match {
                field_id: 1
                exact {
                  value: "\002"
                }
              }
              action {
                action {
                  action_id: 29795013
                  params {
                    param_id: 1
                    value: "\002"
                  }
                }
              }
              priority: 1
              is_const: true
            }
          }
        }
        updates {
          type: INSERT
          entity {
            table_entry {
              table_id: 42343625
              match {
                field_id: 1
                exact {
                  value: "\007"
                }
              }
              action {
                action {
                  action_id: 29795013
                  params {
                    param_id: 1
                    value: "\003"
                  }
                }
              }
            }
          }
        }
    "##]]
    .assert_eq(&written);
    let (text, binary) = (std::fs::read(folder.path("build/e.json")), std::fs::read(folder.path("build/e.bin")));
    assert!(String::from_utf8(text.unwrap()).unwrap().starts_with('{') && !binary.unwrap().is_empty());
    // The printed program is the same program.
    folder.printed("p4c --p4runtime-entries-files build/again.txtpb -o build build/pp.p4");
    assert_eq!(std::fs::read_to_string(folder.path("build/again.txtpb")).unwrap(), written);
    let refused = folder.run("p4c --arch psa x.p4");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("psa"), "{said}");
    let refused = folder.run("p4c --toJSON x.json x.p4");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("--toJSON is not available"), "{said}");
}

#[test]
fn annotations_are_dropped_on_request() {
    let folder = Folder::new();
    let program = PROGRAM.replace("    table where", "    @name(\"other\") @hidden table where");
    std::fs::write(folder.path("x.p4"), program).unwrap();
    let info = |options: &str| {
        folder.printed(&format!("p4c {options} --p4runtime-files x.txtpb x.p4"));
        std::fs::read_to_string(folder.path("x.txtpb")).unwrap()
    };
    assert!(!info("--disable-annotations=name").contains("where"));
    assert!(info("--disable-annotations hidden").contains("I.other"));
    assert!(info("--disable-annotations name,hidden").contains("I.where"));
}

#[test]
fn simple_switch_grpc_is_reached_at_both_ports() {
    let folder = Folder::new();
    folder.printed("p4c-bm2-ss --p4v 16 -o build/x.json x.p4");
    let (grpc, thrift) = (free_port(), free_port());
    let line = format!(
        "simple_switch_grpc --device-id 3 --thrift-port {thrift} --log-console build/x.json -- --grpc-server-addr \
         127.0.0.1:{grpc} --cpu-port 255"
    );
    let _switch = folder.start(&line);
    for port in [grpc, thrift] {
        let line = format!("simple_switch_CLI --address 127.0.0.1:{port} --device-id 3 --json x.json");
        let commands = std::fs::write(folder.path("c.txt"), "show_tables\n")
            .and_then(|()| std::fs::File::open(folder.path("c.txt")));
        let output = folder.command(&line).stdin(commands.unwrap()).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("I.where"), "{output:?}");
    }
}

#[test]
fn captures_take_the_place_of_interfaces() {
    let folder = Folder::new();
    std::fs::copy(empty_capture(), folder.path("a_in.pcap")).unwrap();
    let output =
        folder.run(&format!("simple_switch --use-files 0 -i 1@a --thrift-port {} --duration=0.2 x.p4", free_port()));
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path("a_out.pcap").is_file());
}

/// The header of a capture of Ethernet frames.
fn empty_capture() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty.pcap");
    let header = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    std::fs::write(&path, header).unwrap();
    path
}

#[test]
fn json_of_the_reference_compiler_is_recognised() {
    let folder = Folder::new();
    std::fs::write(folder.path("other.json"), "{\"program\": \"other.p4\"}").unwrap();
    let output = folder.run("simple_switch other.json");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("JSON that p4c writes for BMv2 cannot be run"), "{said}");
    let output = folder.run("p4c --target dpdk x.p4");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("bmv2"), "{output:?}");
}

#[test]
fn nothing_is_replaced_unasked() {
    let folder = Folder::new();
    let links = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.arg("links").arg(folder.path("bin")).args(arguments).output().unwrap()
    };
    assert!(links(&[]).status.success(), "the links are there already");
    std::fs::remove_file(folder.path("bin/p4c")).unwrap();
    std::fs::write(folder.path("bin/p4c"), "mine").unwrap();
    let refused = links(&[]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(std::fs::read_to_string(folder.path("bin/p4c")).unwrap(), "mine");
    assert!(links(&["--force"]).status.success());
    assert!(folder.path("bin/p4c").is_symlink());
}

#[test]
fn the_module_of_the_tutorials_wraps_a_program() {
    let folder = Folder::new();
    let made = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let made = { made }.args(["links", "--python"]).arg(folder.path("python")).status().unwrap();
    assert!(made.success());
    let script = "from p4.tmp import p4config_pb2\n\
                  config = p4config_pb2.P4DeviceConfig()\n\
                  config.reassign = True\n\
                  config.extras.kv['a'] = 'b'\n\
                  config.device_data = b'program'\n\
                  print(config.SerializeToString().hex())\n";
    // An installed p4runtime is a package p4 too, with an __init__.py: both must be found.
    let installed = folder.path("installed");
    std::fs::create_dir_all(installed.join("p4/v1")).unwrap();
    std::fs::write(installed.join("p4/__init__.py"), "").unwrap();
    std::fs::write(installed.join("p4/v1/__init__.py"), "").unwrap();
    let script = format!("import p4.v1\n{script}");
    let packages = format!("{}:{}", folder.path("python").display(), installed.display());
    let python = |script: &str| Command::new("python3").args(["-c", script]).env("PYTHONPATH", &packages).output();
    if !python("import google.protobuf").is_ok_and(|output| output.status.success()) {
        return testkit::skip("needs Python with google.protobuf");
    }
    let output = python(&script).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "080112080a060a01611201621a0770726f6772616d\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What is printed as the usage can be typed.
#[test]
fn usages_have_the_names_of_the_links() {
    let folder = Folder::new();
    let usage = |line: &str| {
        let printed = folder.printed(line);
        printed.lines().find(|line| line.starts_with("Usage: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(usage("p4c --help"), "Usage: p4c [OPTIONS] <FILE>");
    assert_eq!(usage("p4c-bm2-ss --help"), "Usage: p4c-bm2-ss [OPTIONS] <FILE>");
    let expected = "Usage: simple_switch_CLI [--thrift-ip HOST] [--thrift-port PORT] [OPTIONS] < LINES";
    assert_eq!(usage("simple_switch_CLI --help"), expected);
    for name in ["simple_switch", "simple_switch_grpc"] {
        let output = folder.command(&format!("{name} --nonsense x.json")).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        let expected = format!("Usage: {name} [OPTIONS] PROGRAM.json [-- OPTIONS OF THE TARGET]\n");
        assert!(message.contains(&expected), "{message}");
    }
}
