//! `wirespeed run` with controllers: with `--state`, acknowledged writes survive a kill; members that watch a port
//! without a link cannot be chosen; messages and displays of the switch.

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::stream_message_response::Update as Received;
use p4runtime_proto::p4::v1::{self, stream_message_request::Update as Sent};
use p4runtime_proto::text;
use prost::Message as _;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::transport::Channel;

/// Has one of everything that a controller can write.
const EVERYTHING: &str = include_str!("everything.p4");

/// One of everything, in the order in which it can be written. `$name` is the id of the object of that name.
const WRITTEN: &[&str] = &[
    "type: INSERT entity { action_profile_member { action_profile_id: $choices member_id: 7
        action { action_id: $forward params { param_id: 1 value: '\\003' } } } }",
    "type: INSERT entity { action_profile_member { action_profile_id: $choices member_id: 9 action { action_id: $drop } } }",
    "type: INSERT entity { action_profile_group { action_profile_id: $choices group_id: 4 max_size: 5
        members { member_id: 7 weight: 2 watch_port: '\\001\\376' } members { member_id: 9 weight: 1 } } }",
    "type: INSERT entity { table_entry { table_id: $balance match { field_id: 1 exact { value: '\\001' } }
        action { action_profile_group_id: 4 } } }",
    "type: INSERT entity { table_entry { table_id: $balance match { field_id: 1 exact { value: '\\002' } }
        action { action_profile_member_id: 9 } } }",
    "type: INSERT entity { table_entry { table_id: $split match { field_id: 1 exact { value: '\\003' } }
        action { action_profile_action_set { action_profile_actions { weight: 3
            action { action_id: $forward params { param_id: 1 value: '\\005' } } } } } } }",
    "type: INSERT entity { table_entry { table_id: $route match { field_id: 1 lpm { value: '\\012\\000\\000\\000' prefix_len: 8 } }
        action { action { action_id: $forward params { param_id: 1 value: '\\002' } } }
        metadata: 'mine' counter_data { byte_count: 70 packet_count: 7 } idle_timeout_ns: 5000000000000 } }",
    "type: INSERT entity { table_entry { table_id: $acl priority: 10
        match { field_id: 1 ternary { value: '\\001' mask: '\\003' } } match { field_id: 2 range { low: '\\005' high: '\\011' } }
        action { action { action_id: $drop } }
        meter_config { cir: 1000 cburst: 100 pir: 2000 pburst: 200 } } }",
    "type: MODIFY entity { table_entry { table_id: $route is_default_action: true
        action { action { action_id: $forward params { param_id: 1 value: '\\011' } } } } }",
    "type: MODIFY entity { counter_entry { counter_id: $packets index { index: 3 } data { packet_count: 33 byte_count: 330 } } }",
    "type: MODIFY entity { meter_entry { meter_id: $rates index { index: 2 } config { cir: 10 cburst: 20 pir: 30 pburst: 40 } } }",
    "type: MODIFY entity { register_entry { register_id: $last index { index: 5 } data { bitstring: '\\001\\002' } } }",
    "type: MODIFY entity { value_set_entry { value_set_id: $ports
        members { match { field_id: 1 exact { value: '\\037\\220' } } } } }",
    "type: INSERT entity { packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 8
        replicas { egress_port: 1 instance: 1 } replicas { egress_port: 2 instance: 2 } metadata: 'm' } } }",
    "type: INSERT entity { packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 9
        replicas { port: '\\001' instance: 1 } } } }",
    "type: INSERT entity { packet_replication_engine_entry { clone_session_entry { session_id: 11
        replicas { egress_port: 2 instance: 1 } packet_length_bytes: 64 } } }",
    "type: INSERT entity { digest_entry { digest_id: $learn_t config { max_timeout_ns: 1000000 max_list_size: 3 ack_timeout_ns: 2000000 } } }",
    "type: INSERT entity { table_entry { table_id: $named match { field_id: 1 exact { value: 'blue' } }
        action { action { action_id: $forward params { param_id: 1 value: '\\002' } } } } }",
];

/// Everything that can be read.
const ALL: &[&str] = &[
    "action_profile_member { }",
    "action_profile_group { }",
    "table_entry { table_id: 0 counter_data { } meter_config { } }",
    "table_entry { table_id: $route is_default_action: true }",
    "counter_entry { }",
    "meter_entry { }",
    "register_entry { }",
    "value_set_entry { }",
    "packet_replication_engine_entry { multicast_group_entry { } }",
    "packet_replication_engine_entry { clone_session_entry { } }",
    "digest_entry { }",
];

/// A switch in a process of its own until it is dropped, which kills it.
struct Switch {
    process: Child,
    address: String,
    metrics: String,
    /// Its output before its first packet, without its address.
    said: String,
    /// Returns all its output, once it has ended.
    log: Option<JoinHandle<String>>,
}

impl Switch {
    /// Starts one with a state folder, in the folder.
    fn start(folder: &Path, arguments: &str) -> Switch {
        Switch::start_by(
            Command::new(env!("CARGO_BIN_EXE_wirespeed")),
            folder,
            &format!("--backend interp {arguments}"),
        )
    }

    /// Starts one that runs native code, compiled into a cache in the folder.
    fn start_native(folder: &Path, arguments: &str) -> Switch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.env("XDG_CACHE_HOME", folder.canonicalize().unwrap().join("cache"));
        Switch::start_by(command, folder, arguments)
    }

    /// The same where the command is run by another one.
    fn start_by(mut command: Command, folder: &Path, arguments: &str) -> Switch {
        command.current_dir(folder).arg("run").args(arguments.split_whitespace());
        command.args(["--p4runtime", "127.0.0.1:0", "--metrics", "0"]);
        if !arguments.contains("--state") {
            command.args(["--state", "kept"]);
        }
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap());
        let (mut text, mut metrics, mut line) = (String::new(), String::new(), String::new());
        let address = loop {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "the switch has not started: {text}");
            text.push_str(&line);
            if let Some((_, address)) = line.split_once("metrics at http://") {
                metrics = address.split_once("/metrics").unwrap().0.to_owned();
            }
            if let Some((_, address)) = line.split_once("P4Runtime at ") {
                break address.trim().split(['"', ' ']).next().unwrap().to_owned();
            }
        };
        let first = text.clone();
        let log = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ended = lines.read_to_string(&mut rest);
            first + &rest
        });
        let said = text.lines().filter(|line| !line.contains(" at ")).map(|line| format!("{line}\n")).collect();
        Switch { process, address, metrics, said, log: Some(log) }
    }

    /// Kills it.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// The value of a metric with these labels.
    fn metric(&self, sample: &str) -> u64 {
        let metrics = self.metrics();
        let value = metrics.lines().find_map(|line| line.strip_prefix(sample)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("no {sample} in {metrics}"))
    }

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// The primary controller of a switch.
struct Controller {
    client: P4RuntimeClient<Channel>,
    stream: mpsc::Sender<v1::StreamMessageRequest>,
    /// Packets that leave by the switch's CPU port.
    packets: mpsc::UnboundedReceiver<Vec<u8>>,
}

const ELECTION_ID: Option<v1::Uint128> = Some(v1::Uint128 { high: 0, low: 1 });

impl Controller {
    async fn of(switch: &Switch) -> Controller {
        let mut client = P4RuntimeClient::connect(format!("http://{}", switch.address)).await.unwrap();
        let (stream, receiver) = mpsc::channel(4);
        let bid = v1::MasterArbitrationUpdate { device_id: 1, election_id: ELECTION_ID, ..Default::default() };
        stream.send(v1::StreamMessageRequest { update: Some(Sent::Arbitration(bid)) }).await.unwrap();
        let mut received = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        received.message().await.unwrap();
        let (sender, packets) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(message)) = received.message().await {
                if let Some(Received::Packet(packet)) = message.update {
                    let _sent = sender.send(packet.payload);
                }
            }
        });
        Controller { client, stream, packets }
    }

    /// Sends a packet into the switch and waits for the one that comes out.
    async fn answer(&mut self, payload: &[u8]) -> Vec<u8> {
        let packet = v1::PacketOut { payload: payload.to_vec(), metadata: Vec::new() };
        self.stream.send(v1::StreamMessageRequest { update: Some(Sent::Packet(packet)) }).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(60), self.packets.recv()).await;
        answer.expect("a packet comes out").unwrap()
    }

    async fn set(&mut self, action: Action, text: &str) -> Result<(), Status> {
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: ELECTION_ID,
            action: action as i32,
            config: (action != Action::Commit).then(|| v1::ForwardingPipelineConfig {
                p4info: None,
                p4_device_config: text.as_bytes().to_vec(),
                cookie: Some(v1::forwarding_pipeline_config::Cookie { cookie: 42 }),
            }),
            ..Default::default()
        };
        self.client.set_forwarding_pipeline_config(request).await.map(|_| ())
    }

    async fn config(&mut self) -> v1::ForwardingPipelineConfig {
        let request = v1::GetForwardingPipelineConfigRequest { device_id: 1, response_type: 0 };
        self.client.get_forwarding_pipeline_config(request).await.unwrap().into_inner().config.unwrap()
    }

    async fn write(&mut self, updates: Vec<v1::Update>) -> Result<(), Status> {
        let request =
            v1::WriteRequest { device_id: 1, election_id: ELECTION_ID, updates, ..v1::WriteRequest::default() };
        self.client.write(request).await.map(|_| ())
    }

    async fn read(&mut self, info: &P4Info, entity: &str) -> Vec<v1::Entity> {
        let read = text::from_text("p4.v1.Entity", &with_ids(info, entity));
        let entities = vec![read.unwrap_or_else(|error| panic!("{error}: {entity}"))];
        let request = v1::ReadRequest { device_id: 1, entities, ..Default::default() };
        let mut answer = self.client.read(request).await.unwrap().into_inner();
        let mut all = Vec::new();
        while let Some(part) = answer.message().await.unwrap() {
            all.extend(part.entities);
        }
        all
    }

    /// All that there is, as text.
    async fn everything(&mut self, info: &P4Info) -> String {
        let mut shown = String::new();
        for query in ALL {
            for mut entity in self.read(info, query).await {
                // State that packets and clocks change, and that a restart loses.
                if let Some(v1::entity::Entity::TableEntry(entry)) = &mut entity.entity {
                    entry.time_since_last_hit = None;
                }
                shown += &text::to_text("p4.v1.Entity", &entity);
            }
        }
        shown
    }
}

/// The program of a config.
fn text(config: &v1::ForwardingPipelineConfig) -> &str {
    std::str::from_utf8(&config.p4_device_config).unwrap()
}

/// Replaces `$name` by the id of the object whose alias it is.
fn with_ids(info: &P4Info, text: &str) -> String {
    let preambles = (info.tables.iter().map(|it| &it.preamble))
        .chain(info.actions.iter().map(|it| &it.preamble))
        .chain(info.action_profiles.iter().map(|it| &it.preamble))
        .chain(info.counters.iter().map(|it| &it.preamble))
        .chain(info.meters.iter().map(|it| &it.preamble))
        .chain(info.registers.iter().map(|it| &it.preamble))
        .chain(info.value_sets.iter().map(|it| &it.preamble))
        .chain(info.digests.iter().map(|it| &it.preamble));
    let mut named: Vec<(&str, u32)> = preambles.flatten().map(|it| (it.alias.as_str(), it.id)).collect();
    named.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    named.iter().fold(text.to_owned(), |text, (name, id)| text.replace(&format!("${name}"), &id.to_string()))
}

fn update(info: &P4Info, written: &str) -> v1::Update {
    text::from_text("p4.v1.Update", &with_ids(info, written)).unwrap_or_else(|error| panic!("{error}: {written}"))
}

/// An entry of the table `exactly` that is known by this number.
fn numbered(info: &P4Info, number: u32) -> v1::Update {
    let bytes: String = number.to_be_bytes().iter().map(|byte| format!("\\{byte:03o}")).collect();
    let entry = "type: INSERT entity { table_entry { table_id: $exactly match { field_id: 1 exact { value: 'KEY' } }
        action { action { action_id: $forward params { param_id: 1 value: '\\001' } } } } }";
    update(info, &entry.replace("KEY", &bytes))
}

/// The numbers of the entries of the table `exactly`.
async fn numbers(controller: &mut Controller, info: &P4Info) -> BTreeSet<u32> {
    let number = |entity: v1::Entity| match entity.entity {
        Some(v1::entity::Entity::TableEntry(entry)) => match &entry.r#match[0].field_match_type {
            Some(v1::field_match::FieldMatchType::Exact(exact)) => {
                exact.value.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    controller.read(info, "table_entry { table_id: $exactly }").await.into_iter().map(number).collect()
}

#[tokio::test]
async fn everything_that_a_controller_has_written_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut switch = Switch::start(folder.path(), "");
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    let config = controller.config().await;
    let info = config.p4info.clone().unwrap();
    for written in WRITTEN {
        controller.write(vec![update(&info, written)]).await.unwrap_or_else(|error| panic!("{error}: {written}"));
    }
    let before = controller.everything(&info).await;
    assert!(switch.metrics().contains(r#"wirespeed_table_entries{table="I.balance"} 2"#), "{}", switch.metrics());
    // A program that is saved and not committed does not run yet.
    controller.set(Action::VerifyAndSave, &EVERYTHING.replace("route", "other")).await.unwrap();
    switch.kill();

    let mut switch = Switch::start(folder.path(), "");
    assert_eq!(switch.said, "");
    let mut controller = Controller::of(&switch).await;
    assert_eq!(controller.config().await.encode_to_vec(), config.encode_to_vec());
    assert_eq!(controller.everything(&info).await, before);
    assert!(switch.metrics().contains(r#"wirespeed_table_entries{table="I.balance"} 2"#));
    // Restored state can be written: numbers and names are those of before.
    let more = ["'blue'", "'green'"].map(|name| {
        let entry = "type: INSERT entity { table_entry { table_id: $named match { field_id: 1 exact { value: NAME } }
            action { action { action_id: $drop } } } }";
        update(&info, &entry.replace("NAME", name))
    });
    let refused = controller.write(more.to_vec()).await.unwrap_err();
    assert!(
        refused.message().starts_with("1 of 2 updates failed; update 0: table I.named: there is already"),
        "{refused}"
    );
    let delete = WRITTEN[3].replace("INSERT", "DELETE");
    controller.write(vec![update(&info, &delete)]).await.unwrap();

    // Another program takes everything over or is refused, and the next start uses it.
    let other = EVERYTHING.replace("table acl", "table access").replace("acl.apply", "access.apply");
    let refused = controller.set(Action::ReconcileAndCommit, &other).await.unwrap_err();
    assert!(refused.message().contains("table I.acl (1): there is no table of this name"), "{refused}");
    controller.write(vec![update(&info, &WRITTEN[7].replace("INSERT", "DELETE"))]).await.unwrap();
    controller.set(Action::ReconcileAndCommit, &other).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    let before = controller.everything(&info).await;
    assert!(switch.metrics().contains(r#"wirespeed_table_entries{table="I.access"} 0"#), "{}", switch.metrics());
    switch.kill();
    let switch = Switch::start(folder.path(), "");
    let mut controller = Controller::of(&switch).await;
    let config = controller.config().await;
    assert_eq!(text(&config), other);
    assert_eq!(controller.everything(&config.p4info.unwrap()).await, before);
}

/// Sends each packet back to where it came from, in v1model.
const ECHO: &str = r#"
#include <v1model.p4>
struct none_t { }
parser P(packet_in p, out none_t h, inout none_t m, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout none_t h, inout none_t m) { apply { } }
control I(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply { s.egress_spec = s.ingress_port; } }
control E(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply { } }
control D(packet_out p, in none_t h) { apply { } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

/// The same for PSA.
const ECHO_OF_PSA: &str = r#"
#include <psa.p4>
struct none_t { }
parser IP(packet_in p, out none_t h, inout none_t m, in psa_ingress_parser_input_metadata_t i, in none_t a,
          in none_t b) { state start { transition accept; } }
control I(inout none_t h, inout none_t m, in psa_ingress_input_metadata_t i,
          inout psa_ingress_output_metadata_t o) { apply { send_to_port(o, i.ingress_port); } }
control ID(packet_out p, out none_t a, out none_t b, out none_t c, inout none_t h, in none_t m,
           in psa_ingress_output_metadata_t o) { apply { } }
parser EP(packet_in p, out none_t h, inout none_t m, in psa_egress_parser_input_metadata_t i, in none_t a,
          in none_t b, in none_t c) { state start { transition accept; } }
control E(inout none_t h, inout none_t m, in psa_egress_input_metadata_t i,
          inout psa_egress_output_metadata_t o) { apply { } }
control ED(packet_out p, out none_t a, out none_t b, inout none_t h, in none_t m,
           in psa_egress_output_metadata_t o, in psa_egress_deparser_input_metadata_t d) { apply { } }
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
"#;

#[tokio::test]
async fn packets_of_controllers_find_the_port_of_the_program_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("echo.p4"), ECHO).unwrap();
    std::fs::write(folder.path().join("psa.p4"), ECHO_OF_PSA).unwrap();
    for (file, state) in [("", "--state a"), ("echo.p4", "--state b"), ("psa.p4", "--state c")] {
        let switch = Switch::start(folder.path(), &format!("{file} {state}"));
        let mut controller = Controller::of(&switch).await;
        for (program, payload) in [(ECHO_OF_PSA, b"to psa"), (ECHO, b"to v1m"), (ECHO_OF_PSA, b"to PSA")] {
            controller.set(Action::VerifyAndCommit, program).await.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(controller.answer(payload).await, payload, "{file}");
        }
    }
}

#[tokio::test]
async fn lost_digests_are_counted_by_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = ECHO
        .replace("struct none_t", "struct learn_t { bit<9> port; }\nstruct none_t")
        .replace("{ s.egress_spec", "{ digest<learn_t>(1, { s.ingress_port }); s.egress_spec");
    let switch = Switch::start(folder.path(), "");
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, &text).await.unwrap();
    // The worker's figures are up to a second old.
    while !switch.metrics().contains("wirespeed_digests_lost_total") {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let lost = |reason: &str| switch.metric(&format!("wirespeed_digests_lost_total{{reason=\"{reason}\"}}"));
    let until = async |reason: &str, count: u64| {
        for _ in 0..600 {
            if lost(reason) == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{reason}: {} and not {count}", lost(reason));
    };
    for _ in 0..2 {
        controller.answer(b"x").await;
    }
    until("not_configured", 2).await;
    assert_eq!(switch.metric("wirespeed_controller_losses_total"), 0, "no controller has subscribed to them");
    // A digest that waits for others when the next program is installed.
    let info = controller.config().await.p4info.unwrap();
    let waits = "type: INSERT entity { digest_entry { digest_id: $learn_t
        config { max_list_size: 9 max_timeout_ns: 900000000000 } } }";
    controller.write(vec![update(&info, waits)]).await.unwrap();
    controller.answer(b"x").await;
    controller.set(Action::VerifyAndCommit, ECHO).await.unwrap();
    until("replaced", 1).await;
    assert_eq!(switch.metric("wirespeed_controller_losses_total"), 1);
    assert_eq!(lost("not_configured"), 2);
}

#[tokio::test]
async fn the_last_request_about_the_program_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("first.p4");
    std::fs::write(&file, EVERYTHING).unwrap();
    let sent = EVERYTHING.replace("size = 4096", "size = 64");
    let started = async |arguments: &str| {
        let switch = Switch::start(folder.path(), arguments);
        let mut controller = Controller::of(&switch).await;
        let config = controller.config().await;
        (switch, controller, config)
    };
    let (_first, mut controller, config) = started("first.p4").await;
    assert_eq!(text(&config), EVERYTHING);
    let info = config.p4info.unwrap();
    controller.write(vec![numbered(&info, 1)]).await.unwrap();
    drop(_first);
    // The same file: its state is used. So it is without the file.
    for arguments in ["first.p4", ""] {
        let (switch, mut controller, config) = started(arguments).await;
        assert_eq!((text(&config), &*switch.said), (EVERYTHING, ""));
        assert_eq!(numbers(&mut controller, &info).await, [1].into());
    }
    // A controller's program takes precedence over the file with which the switch was started before it.
    let (switch, mut controller, _) = started("first.p4").await;
    controller.set(Action::ReconcileAndCommit, &sent).await.unwrap();
    drop(switch);
    for arguments in ["first.p4", ""] {
        let (switch, mut controller, config) = started(arguments).await;
        assert_eq!(text(&config), sent, "{arguments}");
        let message = match arguments {
            "" => "",
            _ => {
                "note: kept has a program that a controller has set since first.p4 was started: the switch runs that program\n"
            }
        };
        assert_eq!(switch.said, message);
        assert_eq!(numbers(&mut controller, &info).await, [1].into());
    }
    // A changed file takes precedence over both.
    let changed = EVERYTHING.replace("size = 4096", "size = 128");
    std::fs::write(&file, &changed).unwrap();
    let (switch, mut controller, config) = started("first.p4").await;
    assert_eq!(text(&config), changed);
    assert_eq!(
        switch.said,
        "warning: kept belongs to a program that a controller has set: first.p4 takes over the state that fits it\n"
    );
    assert_eq!(numbers(&mut controller, &info).await, [1].into());
}

/// A program that is damaged in one place can be read from another. Damage is reported and preserved; the switch
/// waits for a program if neither can be read.
#[tokio::test]
async fn a_damaged_program_is_no_reason_not_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let first = Switch::start(folder.path(), "");
    let mut controller = Controller::of(&first).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    controller.write(vec![numbered(&info, 1)]).await.unwrap();
    drop((controller, first));
    let file = |name: &str| {
        let files = std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.to_str().unwrap().contains(name)).collect();
        files.sort();
        files.pop().unwrap_or_else(|| panic!("there is no {name}"))
    };
    let damage = |name: &str| {
        let path = file(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(7).position(|bytes| bytes == b"program").unwrap();
        bytes[at + 20] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    };
    damage(".state");
    let second = Switch::start(folder.path(), "");
    assert!(second.said.contains("record 2 (the program) is damaged; "), "{}", second.said);
    assert_eq!(numbers(&mut Controller::of(&second).await, &info).await, [1].into());
    drop(second);
    damage("snapshot-");
    damage("log-");
    let second = Switch::start(folder.path(), "");
    for message in
        ["record 2 (the program) is damaged; ", "record 1 (the beginning of the file) is damaged", "the switch waits"]
    {
        assert!(second.said.contains(message), "{}", second.said);
    }
    let kept = std::fs::read_dir(&kept).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let mut kept = kept.filter(|bytes| bytes.windows(7).any(|bytes| bytes == b"exactly"));
    assert!(kept.next().is_some(), "what was written is kept, too");
    let mut controller = Controller::of(&second).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    controller.write(vec![numbered(&info, 2)]).await.unwrap();
    drop((controller, second));
    let third = Switch::start(folder.path(), "");
    assert_eq!(third.said, "");
    assert_eq!(numbers(&mut Controller::of(&third).await, &info).await, [2].into());
}

/// With controllers, a run does not end when its ports will never deliver a packet again.
#[tokio::test]
async fn a_switch_with_controllers_goes_on_without_packets() {
    let folder = tempfile::tempdir().unwrap();
    let mut switch = Switch::start(folder.path(), "--port 1=null");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    assert!(switch.process.try_wait().unwrap().is_none(), "it continues");
}

/// The number of kills: few in the checks, as many as requested by hand.
fn rounds() -> u32 {
    std::env::var("WIRESPEED_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

#[tokio::test]
async fn confirmed_writes_are_there_after_each_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut program = EVERYTHING.to_owned();
    let mut next = 1;
    for round in 0..rounds() {
        let mut switch = Switch::start(folder.path(), "");
        assert_eq!(switch.said, "", "round {round}");
        let mut controller = Controller::of(&switch).await;
        if round == 0 {
            controller.set(Action::VerifyAndCommit, &program).await.unwrap();
        }
        let config = controller.config().await;
        assert_eq!(text(&config), program, "round {round}");
        let info = config.p4info.unwrap();
        let there = numbers(&mut controller, &info).await;
        assert!(there.is_superset(&acknowledged), "round {round}: {:?}", acknowledged.difference(&there));
        assert!(there.len() <= acknowledged.len() + 1, "round {round}: {there:?}");
        acknowledged = there;
        if round % 3 == 2 {
            // Another program is set while the previous one has much state.
            program = EVERYTHING.replace("size = 4096", &format!("size = {}", 5000 + round));
            controller.set(Action::ReconcileAndCommit, &program).await.unwrap();
        }
        let delay = Duration::from_micros(u64::from(round) * 7_919 % 60_000);
        let killer = async {
            tokio::time::sleep(delay).await;
            switch.kill();
        };
        let writer = async {
            for number in next.. {
                next = number + 1;
                match controller.write(vec![numbered(&info, number)]).await {
                    Ok(()) => acknowledged.insert(number),
                    Err(_) => break,
                };
            }
        };
        tokio::join!(writer, killer);
    }
    assert!(acknowledged.len() as u32 >= rounds() / 2, "{acknowledged:?}");
}

/// Sends packets that differ in what the selector hashes.
const SENDER: &str = "
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
for choice in range(64):
    link.send(bytes([2, 0, 0, 0, 0, 1, 1, choice]) + bytes(52))
";

/// It has closed its stream, but the switch does not know yet.
#[tokio::test]
async fn a_controller_that_comes_back_at_once_is_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let switch = Switch::start(folder.path(), "");
    let before = Controller::of(&switch).await;
    let leave = async {
        // Time for the bid of the same election id to arrive first.
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(before);
    };
    let (mut again, ()) = tokio::join!(Controller::of(&switch), leave);
    again.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
}

#[tokio::test]
async fn a_member_whose_port_has_lost_its_link_is_no_choice() {
    let mut network = match testkit::netns::Network::new(&["python3"]) {
        Ok(network) => network,
        Err(reason) => return testkit::skip(reason),
    };
    network.add("switch");
    for number in 1..=3 {
        let host = format!("h{number}");
        network.add(&host);
        network.wire([&host, "eth0"], ["switch", &format!("r{number}")]);
    }
    let folder = tempfile::tempdir().unwrap();
    let ports = "--port 1=r1 --port 2=r2 --port 3=r3";
    let switch = Switch::start(folder.path(), &format!("{ports} --netns {}", network.full_name("switch")));
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    for written in [
        "type: INSERT entity { action_profile_member { action_profile_id: $choices member_id: 2
            action { action_id: $forward params { param_id: 1 value: '\\002' } } } }",
        "type: INSERT entity { action_profile_member { action_profile_id: $choices member_id: 3
            action { action_id: $forward params { param_id: 1 value: '\\003' } } } }",
        "type: INSERT entity { action_profile_group { action_profile_id: $choices group_id: 1
            members { member_id: 2 weight: 1 watch_port: '\\002' } members { member_id: 3 weight: 1 watch_port: '\\003' } } }",
        "type: INSERT entity { table_entry { table_id: $balance match { field_id: 1 exact { value: '\\001' } }
            action { action_profile_group_id: 1 } } }",
    ] {
        controller.write(vec![update(&info, written)]).await.unwrap();
    }
    let sent = |port| {
        switch.metric(&format!("wirespeed_port_transmit_packets_total{{port=\"{port}\",interface=\"r{port}\"}}"))
    };
    // Sends until the packets take the expected path, and returns the paths.
    let until = |is_right: &dyn Fn(u64, u64) -> bool| {
        for _ in 0..60 {
            let before = (sent(2), sent(3));
            network.python("h1", SENDER);
            std::thread::sleep(Duration::from_millis(500));
            let went = (sent(2) - before.0, sent(3) - before.1);
            if is_right(went.0, went.1) {
                return;
            }
        }
        panic!("packets go elsewhere: {}", switch.metrics());
    };
    until(&|second, third| second > 0 && third > 0 && second + third == 64);
    network.run("h2", "ip link set eth0 down");
    until(&|second, third| second == 0 && third == 64);
    // It stays so when another program comes.
    controller.set(Action::ReconcileAndCommit, &EVERYTHING.replace("size = 64;", "size = 65;")).await.unwrap();
    until(&|second, third| second == 0 && third == 64);
    network.run("h2", "ip link set eth0 up");
    until(&|second, third| second > 0 && third > 0 && second + third == 64);
}

#[test]
fn ports_have_their_own_names_in_metrics_also_those_that_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let switch = Switch::start(folder.path(), "--port 3=null --port 1=timer:72000s");
    let ports = || -> Vec<String> {
        let metrics = switch.metrics();
        let received = metrics.lines().filter_map(|line| line.strip_prefix("wirespeed_port_receive_packets_total"));
        received.map(str::to_owned).collect()
    };
    let shown = |port, name| format!("{{port=\"{port}\",interface=\"{name}\"}} 0");
    assert_eq!(ports(), [shown(1, "timer:72000s"), shown(3, "null")]);
    let added = Command::new(env!("CARGO_BIN_EXE_wirespeed"))
        .args(["ctl", "--address", &switch.address, "timers", "7", "72000s"])
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    let start = std::time::Instant::now();
    while ports() != [shown(1, "timer:72000s"), shown(3, "null"), shown(7, "timer")] {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", ports());
    }
}

#[tokio::test]
async fn what_happens_is_logged_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut switch = Switch::start(folder.path(), "--log-format json --log-level info");
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    let top = Command::new(env!("CARGO_BIN_EXE_wirespeed"))
        .args(["top", &switch.metrics, "--once", "--json", "--interval", "0.2"])
        .output()
        .unwrap();
    assert!(top.status.success(), "{top:?}");
    let report: serde_json::Value = serde_json::from_slice(&top.stdout).unwrap();
    assert_eq!(
        report["tables"][0],
        serde_json::json!({
            "table": "I.route", "entries": 0.0, "capacity": 1024.0, "hits_per_s": 0.0, "misses_per_s": 0.0,
            "hits": 0.0, "misses": 0.0,
        })
    );
    let shown = Command::new(env!("CARGO_BIN_EXE_wirespeed"))
        .args(["top", &switch.metrics, "--once", "--interval", "0.1"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with("worker    ["), "{shown:?}");
    switch.kill();
    let refused =
        Command::new(env!("CARGO_BIN_EXE_wirespeed")).args(["top", &switch.metrics, "--once"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with("error: no switch serves metrics at 127.0.0.1:"));
    let log = switch.log.take().unwrap().join().unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    let is_logged =
        |message: &str| lines.iter().any(|line| line["message"].as_str().is_some_and(|it| it.contains(message)));
    for message in
        ["metrics at", "the switch runs", "election id 1 has connected and is primary", "a controller's program runs"]
    {
        assert!(is_logged(message), "{message}: {log}");
    }
    assert!(lines.iter().all(|line| line["time"].is_string() && line["level"] == "info"), "{log}");
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    // Only the switch sees the small disk, and we see it through the switch.
    let script =
        "mount -t tmpfs -o size=1m,mode=0700 none kept && head -c 900000 /dev/zero > kept/filler && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_wirespeed")]);
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success()) {
        return testkit::skip("needs root, to mount a small disk");
    }
    let mut switch = Switch::start_by(command, folder.path(), "");
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, EVERYTHING).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut refusal = None;
    for number in 1..4096 {
        match controller.write(vec![numbered(&info, number)]).await {
            Ok(()) => acknowledged.insert(number),
            Err(refused) => {
                refusal = Some((number, refused.message().to_owned()));
                break;
            }
        };
    }
    let (refused, message) = refusal.expect("the disk is not full");
    let expected = "update 0: carried out, but a restart will lose it: cannot write to kept/log-";
    assert!(message.contains(expected) && message.contains("No space left on device"), "{message}");
    // The switch keeps forwarding, and its state is stored once there is room.
    let seen = format!("/proc/{}/root{}", switch.process.id(), kept.canonicalize().unwrap().display());
    std::fs::remove_file(Path::new(&seen).join("filler")).unwrap();
    let mut last = refused;
    let is_kept_again = loop {
        last += 1;
        if controller.write(vec![numbered(&info, last)]).await.is_ok() {
            break true;
        }
        if last > refused + 300 {
            break false;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(is_kept_again);
    acknowledged.insert(last);
    let there = numbers(&mut controller, &info).await;
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("kept")).unwrap();
    for entry in std::fs::read_dir(&seen).unwrap() {
        let name = entry.unwrap().file_name();
        std::fs::copy(Path::new(&seen).join(&name), other.path().join("kept").join(&name)).unwrap();
    }
    switch.kill();
    let switch = Switch::start(other.path(), "");
    assert_eq!(switch.said, "");
    let now = numbers(&mut Controller::of(&switch).await, &info).await;
    assert!(now.is_superset(&acknowledged) && now == there, "{now:?}");
}

/// A program that sends each packet back with the note of its entry.
const NOTES: &str = "#include <core.p4>
#include <v1model.p4>
header note_t { bit<8> to; bit<8> note; bit<8> rest; }
struct headers_t { note_t note; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.note); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets) uses;
    register<bit<32>>(1) seen;
    action write(bit<8> note) { hdr.note.note = note; uses.count(); }
    action pass() { uses.count(); }
    action deny() { hdr.note.rest = 0xdd; }
    table notes {
        key = { hdr.note.to: exact; }
        actions = { write; pass; }
        default_action = pass();
        counters = uses;
        support_timeout = true;
    }
    table acl { key = { hdr.note.to: ternary; } actions = { deny; NoAction; } default_action = NoAction(); }
    apply {
        bit<32> count;
        seen.read(count, 0);
        seen.write(0, count + 1);
        notes.apply();
        acl.apply();
        sm.egress_spec = 500;
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.note); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

/// An entry for packets to this number, with an idle timeout that does not pass.
fn note(info: &P4Info, to: u8, note: u8) -> v1::Update {
    let entry = "type: INSERT entity { table_entry { table_id: $notes match { field_id: 1 exact { value: 'KEY' } }
        action { action { action_id: $write params { param_id: 1 value: 'NOTE' } } }
        idle_timeout_ns: 5000000000000 } }";
    let byte = |byte: u8| format!("\\{byte:03o}");
    update(info, &entry.replace("KEY", &byte(to)).replace("NOTE", &byte(note)))
}

/// Sends packets that must come back with these notes, until the switch runs specialised code. Returns how many times
/// each was sent.
async fn until_special(switch: &Switch, controller: &mut Controller, notes: &[(u8, u8)], code: &str) -> u64 {
    let mut sent = 0;
    let start = std::time::Instant::now();
    loop {
        for &(to, note) in notes {
            assert_eq!(controller.answer(&[to, 0xff, 0]).await, [to, note, 0]);
        }
        sent += 1;
        if sent % 16 == 0 && code_of(switch) == code {
            return sent;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "not {code} but {}", code_of(switch));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The specialised code that a switch runs.
fn code_of(switch: &Switch) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let output = command.args(["ctl", "--address", &switch.address, "--json", "workers"]).output().unwrap();
    let message: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    message["code"].as_str().unwrap_or_default().to_owned()
}

/// The direct counter of each entry, in the order of their keys.
async fn uses(controller: &mut Controller, info: &P4Info) -> Vec<i64> {
    let entities = controller.read(info, "table_entry { table_id: $notes counter_data { } }").await;
    let mut uses: Vec<_> = entities
        .into_iter()
        .filter_map(|entity| match entity.entity {
            Some(v1::entity::Entity::TableEntry(entry)) => Some(entry),
            _ => None,
        })
        .map(|entry| (format!("{:?}", entry.r#match), entry.counter_data.unwrap_or_default().packet_count))
        .collect();
    uses.sort();
    uses.into_iter().map(|(_, count)| count).collect()
}

#[tokio::test]
async fn no_controller_sees_code_for_stable_tables_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut switch = Switch::start_native(folder.path(), "--cpu-port 500");
    let mut controller = Controller::of(&switch).await;
    controller.set(Action::VerifyAndCommit, NOTES).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    controller.write(vec![note(&info, 1, 0x11)]).await.unwrap();
    let notes = [(1, 0x11), (2, 0xff)];
    let first = until_special(&switch, &mut controller, &notes, "I.notes has 1 entry, I.acl is empty").await;
    for _ in 0..20 {
        controller.answer(&[1, 0, 0]).await;
    }
    assert_eq!(uses(&mut controller, &info).await, [first as i64 + 20]);
    // The entry is there for the next packet.
    controller.write(vec![note(&info, 2, 0x22)]).await.unwrap();
    assert_eq!(controller.answer(&[2, 0, 0]).await, [2, 0x22, 0]);
    let notes = [(1, 0x11), (2, 0x22)];
    let second = until_special(&switch, &mut controller, &notes, "I.notes has 2 entries, I.acl is empty").await;
    let counted = [(first + second) as i64 + 20, second as i64 + 1];
    assert_eq!(uses(&mut controller, &info).await, counted);

    // Another program, while specialised code of the first runs. Its table contents and counts are preserved.
    let other = NOTES.replace("action deny() { hdr.note.rest = 0xdd; }", "action deny() { hdr.note.rest = 0xee; }");
    let other =
        other.replace("sm.egress_spec = 500;", "sm.egress_spec = 500; if (hdr.note.to == 9) hdr.note.note = 9;");
    controller.set(Action::ReconcileAndCommit, &other).await.unwrap();
    let info = controller.config().await.p4info.unwrap();
    assert_eq!(controller.answer(&[9, 0, 0]).await, [9, 9, 0]);
    assert_eq!(controller.answer(&[1, 0, 0]).await, [1, 0x11, 0]);
    assert_eq!(uses(&mut controller, &info).await, [counted[0] + 1, counted[1]]);
    let third = until_special(&switch, &mut controller, &notes, "I.notes has 2 entries, I.acl is empty").await;
    let counted = counted.map(|count| count + third as i64);
    assert_eq!(uses(&mut controller, &info).await, [counted[0] + 1, counted[1]]);
    let deny = "type: INSERT entity { table_entry { table_id: $acl priority: 1
        match { field_id: 1 ternary { value: '\\001' mask: '\\377' } } action { action { action_id: $deny } } } }";
    controller.write(vec![update(&info, deny)]).await.unwrap();
    assert_eq!(controller.answer(&[1, 0, 0]).await, [1, 0x11, 0xee]);

    // A switch that runs specialised code when it is killed restores the same state.
    switch.kill();
    let switch = Switch::start_native(folder.path(), "--cpu-port 500");
    let mut controller = Controller::of(&switch).await;
    assert_eq!(text(&controller.config().await), other);
    assert_eq!(controller.answer(&[1, 0, 0]).await, [1, 0x11, 0xee]);
    assert_eq!(controller.answer(&[9, 0, 0]).await, [9, 9, 0]);
    let notes = [(2, 0x22), (3, 0xff)];
    until_special(&switch, &mut controller, &notes, "I.notes has 2 entries, I.acl has 1 entry").await;
    assert_eq!(controller.answer(&[1, 0, 0]).await, [1, 0x11, 0xee]);
}
