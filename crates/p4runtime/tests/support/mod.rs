//! A switch that runs in this process, and its controllers.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use base::FieldMatch;
use cgen::CompileOptions;
use control::api::entity::TableEntry;
use control::api::{Entity, Query, TableQuery};
use live::StopFlag;
use live::mailbox::mailbox;
use live::worker::{self, Events, Setup};
use p4runtime::{CompileDeadline, Compiled, Compiler, Feed, Options, Ports, Server, Started, Tls};
use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::{
    self, stream_message_request::Update as Sent, stream_message_response::Update as Received,
};
use p4runtime_proto::text;
use prost::Message as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use switch::{Backend, CommandQueue, Config, CpuPort, Switch};
use syntax::{Diagnostics, MemoryFiles, SourceMap};
use testkit::pipeline::Engine;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

/// The time limit for anything in a test.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Routes by address; has a register, digests and packets for controllers.
pub const ROUTER: &str = r#"
#include <v1model.p4>
@controller_header("packet_in") header in_t { bit<9> port; bit<7> reserved; }
@controller_header("packet_out") header out_t { bit<9> port; bit<7> reserved; }
struct learn_t { bit<8> value; bit<9> port; }
header byte_t { bit<8> value; }
struct headers_t { in_t to_controller; out_t from_controller; byte_t byte; }
struct meta_t { bit<32> address; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        transition select(s.ingress_port) { 510: packet_out; default: payload; }
    }
    state packet_out { p.extract(h.from_controller); transition payload; }
    state payload { p.extract(h.byte); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<32>>(8) last;
    action drop() { mark_to_drop(s); }
    action forward(bit<9> port) { s.egress_spec = port; }
    table route { key = { m.address: lpm; } actions = { forward; drop; } size = 4096; default_action = drop(); }
    apply {
        if (h.from_controller.isValid()) {
            last.write(0, (bit<32>)h.from_controller.port);
            s.egress_spec = h.from_controller.port;
            if (h.from_controller.port == 3) { digest<learn_t>(1, { h.byte.value, s.egress_spec }); }
            h.from_controller.setInvalid();
            if (s.egress_spec == 510) { h.to_controller.setValid(); h.to_controller.port = s.ingress_port; }
        } else {
            route.apply();
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// Writes an entry of the router; tables and actions are given by their names.
pub const ROUTE: &str = r#"type: INSERT entity { table_entry {
    table_id: $route match { field_id: 1 lpm { value: "\n\000\000\000" prefix_len: 8 } }
    action { action { action_id: $forward params { param_id: 1 value: "\002" } } } } }"#;

/// How to read it.
const ROUTE_READ: &str = r#"table_entry {
  table_id: route
  match {
    field_id: 1
    lpm {
      value: "\n\000\000\000"
      prefix_len: 8
    }
  }
  action {
    action {
      action_id: forward
      params {
        param_id: 1
        value: "\002"
      }
    }
  }
}
"#;

/// A figure of this process in MiB, from `/proc/self/status`.
pub fn mebibytes(figure: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// A program, as the interpreter runs it, and its P4Info.
pub struct Made {
    pub program: ir::Program,
    pub info: P4Info,
}

/// Compiles a program that is right.
pub fn program(text: &str) -> Made {
    compile(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn compile(text: &str) -> Result<Made, String> {
    let path = Path::new("test.p4");
    let files = MemoryFiles::new().with(path, text);
    let mut map = SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_program(&mut map, path, &syntax::Options::new(&files));
    let made = made(&tree, &mut diagnostics).filter(|_| !diagnostics.has_errors());
    made.ok_or_else(|| syntax::render_all(&map, &diagnostics, false))
}

fn made(tree: &syntax::ast::Program, diagnostics: &mut Diagnostics) -> Option<Made> {
    if diagnostics.has_errors() {
        return None;
    }
    let typed = sema::check(tree, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let program = lower::lower(&typed, diagnostics)?;
    let info = p4info::generate(&typed, &program, diagnostics)?;
    Some(Made { program, info })
}

fn switch_of(program: ir::Program) -> Switch {
    Switch::new(Arc::new(program), Backend::Interpreter, Config::default()).unwrap()
}

/// Runs programs in the interpreter.
struct TestCompiler(Option<String>);

impl TestCompiler {
    fn made(text: &str) -> Result<Compiled, control::api::Fault> {
        let made = base::stack::with_deep_stack(|| compile(text)).map_err(control::api::Fault::invalid)?;
        Ok(Compiled { switch: switch_of(made.program), info: made.info, note: serde_json::Value::Null })
    }
}

impl Compiler for TestCompiler {
    /// A program with this marker takes forever.
    fn compile(&self, text: &str, deadline: &CompileDeadline) -> Result<Compiled, control::api::Fault> {
        while text.contains("takes for ever") {
            if let Some(fault) = deadline.stop_reason() {
                return Err(fault);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        TestCompiler::made(text)
    }

    fn compile_started(&self) -> Option<Result<Compiled, control::api::Fault>> {
        Some(TestCompiler::made(self.0.as_ref()?))
    }
}

struct ToControllers(Feed);

impl Events for ToControllers {
    fn digest(&mut self, digest: ir::DigestId, values: Vec<base::Bits>) {
        self.0.digest(digest, values);
    }
    fn packet_in(&mut self, frame: &[u8]) {
        self.0.packet_in(frame);
    }
    fn program_changed(&mut self, program: &Arc<ir::Program>) {
        self.0.program_changed(program);
    }
}

/// A switch with a server. It ends with the test.
pub struct Device {
    server: Option<Server>,
    api: Arc<control::Api>,
    stop: StopFlag,
    worker: Option<JoinHandle<()>>,
}

impl Device {
    /// Starts one, with a program that controllers see or without.
    pub fn start(text: Option<&str>) -> Device {
        Device::start_with(text, None, TIMEOUT)
    }

    /// The same with certificates, and a time limit for compiling programs.
    pub fn start_with(text: Option<&str>, tls: Option<Tls>, compile_time_max: Duration) -> Device {
        let made = program(text.unwrap_or(ROUTER));
        let switch = switch_of(made.program);
        Device::run(switch, text, made.info, tls, compile_time_max)
    }

    /// Starts one that runs native code.
    pub fn start_native(text: &str) -> Device {
        let made = program(text);
        let engine = Engine::Native(CompileOptions::default());
        let switch = testkit::pipeline::switch_for(&Arc::new(made.program), &engine).unwrap();
        Device::run(switch, Some(text), made.info, None, TIMEOUT)
    }

    /// Updates that were carried out, and that were refused.
    pub fn update_counts(&self) -> (u64, u64) {
        self.api.update_counts()
    }

    fn run(
        mut switch: Switch,
        text: Option<&str>,
        info: P4Info,
        tls: Option<Tls>,
        compile_time_max: Duration,
    ) -> Device {
        let started = text.map(|text| Started::of_text(info, text.as_bytes().to_vec()));
        let (command_queue, inbox) = mailbox().unwrap();
        let api = Arc::new(control::Api::new(&switch, Arc::new(command_queue)));
        let options = Options {
            address: "127.0.0.1:0".parse().unwrap(),
            further: None,
            device_id: 1,
            ports: Ports::new([(1, "eth1".to_owned()), (2, "eth2".to_owned())], CpuPort::usual(|_| false)),
            tls,
            compile_time_max,
        };
        let compiler = Arc::new(TestCompiler(text.map(str::to_owned)));
        let of_server = Arc::clone(&api);
        // The server has a runtime of its own, and may not be started in another.
        let (server, feed) =
            std::thread::spawn(move || Server::start(of_server, compiler, started, options).unwrap()).join().unwrap();
        let stop = StopFlag::new();
        let stopped = stop.clone();
        let worker = std::thread::spawn(move || {
            let setup = Setup { inbox: Some(inbox), cpu_port: CpuPort::usual(|_| false), ..Setup::default() };
            worker::run(&mut switch, setup, &stopped, &mut ToControllers(feed)).unwrap();
        });
        Device { server: Some(server), api, stop, worker: Some(worker) }
    }
}

impl Device {
    /// Polls whether the worker makes progress, until the flag is set. Returns the longest time without progress,
    /// which is how long packets have waited.
    pub fn watch(&self, until: &Arc<AtomicBool>) -> JoinHandle<Duration> {
        let (api, until) = (Arc::clone(&self.api), Arc::clone(until));
        std::thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !until.load(Ordering::Relaxed) {
                let asked = Instant::now();
                api.command_queue().ask(|_| ()).unwrap();
                longest = longest.max(asked.elapsed());
                std::thread::sleep(Duration::from_micros(200));
            }
            longest
        })
    }

    /// The queue of commands to the switch.
    pub fn command_queue(&self) -> Arc<dyn CommandQueue> {
        Arc::clone(self.api.command_queue())
    }

    /// A port has lost its link, or has it again.
    pub fn link(&self, port: u32, has_link: bool) {
        self.api.port_changed(port, has_link);
    }

    /// How many entries packets can find now.
    pub fn entries(&self) -> usize {
        let (mut found, query) = (0, Query::TableEntries(TableQuery::default()));
        let counted = self.api.read(&query, &mut |entities| {
            found += entities.len();
            true
        });
        counted.map_or_else(|fault| panic!("{fault}"), |()| found)
    }

    /// The keys of the entries of a table with one exact key, as packets have them.
    pub fn keys_of(&self, table: &str) -> Vec<u64> {
        let program = self.api.program();
        let (table, _) = program.tables.iter_enumerated().find(|(_, it)| it.name.ends_with(table)).unwrap();
        let (mut keys, query) = (Vec::new(), TableQuery { table: Some(table), ..TableQuery::default() });
        let read = self.api.read(&Query::TableEntries(query), &mut |entities| {
            keys.extend(entities.iter().filter_map(|entity| match entity {
                Entity::TableEntry(TableEntry { name: Some(name), .. }) => match name.key.first()? {
                    FieldMatch::Exact(value) => value.to_u64(),
                    _ => None,
                },
                _ => None,
            }));
            true
        });
        read.map_or_else(|fault| panic!("{fault}"), |()| keys)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let server = self.server.take();
        let _ended = std::thread::spawn(move || drop(server)).join();
        self.stop.stop();
        let _ended = self.worker.take().map(JoinHandle::join);
    }
}

/// A controller.
pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    /// The result of its first bid.
    pub first_message: String,
    election_id: u64,
    role: String,
    outgoing: mpsc::Sender<v1::StreamMessageRequest>,
    incoming: Streaming<v1::StreamMessageResponse>,
}

impl Controller {
    /// Connects, and bids.
    pub async fn connect(device: &Device, election_id: u64) -> Controller {
        let mut controller = Controller::silent(device, election_id).await;
        controller.bid(election_id).await;
        controller.first_message = controller.next().await;
        controller
    }

    /// Connects without bidding.
    pub async fn silent(device: &Device, election_id: u64) -> Controller {
        let address = device.address();
        let mut client = P4RuntimeClient::connect(format!("http://{address}")).await.unwrap();
        let (outgoing, receiver) = mpsc::channel(64);
        let incoming = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Controller { client, first_message: String::new(), election_id, role: String::new(), outgoing, incoming }
    }

    pub async fn bid(&mut self, election_id: u64) {
        self.bid_for(1, election_id).await;
    }

    pub async fn bid_for(&mut self, device_id: u64, election_id: u64) {
        self.election_id = election_id;
        let election_id = Some(v1::Uint128 { high: 0, low: election_id });
        self.send(Sent::Arbitration(v1::MasterArbitrationUpdate { device_id, election_id, ..Default::default() }))
            .await;
    }

    /// Bids for a role with this encoded `stratum.P4RoleConfig`; returns the messages.
    pub async fn bid_as(&mut self, role: &str, config: &[u8]) -> String {
        let value = config.to_vec();
        let config = Some(prost_types::Any { type_url: "type.googleapis.com/stratum.P4RoleConfig".to_owned(), value });
        self.bid_for_role(v1::Role { name: role.to_owned(), config, ..Default::default() }).await
    }

    /// Bids for a role; returns the messages.
    pub async fn bid_for_role(&mut self, role: v1::Role) -> String {
        self.role = role.name.clone();
        let election_id = Some(v1::Uint128 { high: 0, low: self.election_id });
        let bid = v1::MasterArbitrationUpdate { device_id: 1, election_id, role: Some(role), ..Default::default() };
        self.send(Sent::Arbitration(bid)).await;
        self.next().await
    }

    async fn send(&mut self, update: Sent) {
        self.outgoing.send(v1::StreamMessageRequest { update: Some(update) }).await.unwrap();
    }

    pub async fn packet_out(&mut self, port: &[u8], payload: &[u8]) {
        let metadata = [(1, port), (2, &[0])];
        let metadata = metadata.map(|(metadata_id, value)| v1::PacketMetadata { metadata_id, value: value.to_vec() });
        self.send(Sent::Packet(v1::PacketOut { payload: payload.to_vec(), metadata: metadata.to_vec() })).await;
    }

    /// The next message of the stream, as text.
    pub async fn next(&mut self) -> String {
        let received = tokio::time::timeout(TIMEOUT, self.incoming.message()).await.expect("nothing came");
        match received {
            Ok(Some(mut received)) => {
                if let Some(Received::Digest(list)) = &mut received.update {
                    list.timestamp = 0;
                }
                text::to_text("p4.v1.StreamMessageResponse", &received)
            }
            Ok(None) => "the end\n".to_owned(),
            Err(end) => status(&end),
        }
    }

    /// The next message of the stream, if it does not end.
    pub async fn message(&mut self) -> Option<Received> {
        let received = tokio::time::timeout(TIMEOUT, self.incoming.message()).await.expect("nothing came");
        received.unwrap().and_then(|received| received.update)
    }

    pub async fn write(&mut self, updates: Vec<v1::Update>) -> Result<(), Status> {
        self.write_with(updates, v1::write_request::Atomicity::ContinueOnError).await
    }

    pub async fn write_with(
        &mut self,
        updates: Vec<v1::Update>,
        atomicity: v1::write_request::Atomicity,
    ) -> Result<(), Status> {
        let request = v1::WriteRequest {
            device_id: 1,
            election_id: Some(v1::Uint128 { high: 0, low: self.election_id }),
            updates,
            role: self.role.clone(),
            atomicity: atomicity as i32,
            ..Default::default()
        };
        let written = tokio::time::timeout(TIMEOUT, self.client.write(request)).await.expect("no answer");
        written.map(|_| ())
    }

    pub async fn read(&mut self, entities: &[v1::Entity]) -> Result<Vec<v1::Entity>, Status> {
        let request = v1::ReadRequest { device_id: 1, entities: entities.to_vec(), role: self.role.clone() };
        let mut answer = self.client.read(request).await?.into_inner();
        let mut all = Vec::new();
        while let Some(part) = tokio::time::timeout(TIMEOUT, answer.message()).await.expect("no answer")? {
            all.extend(part.entities);
        }
        Ok(all)
    }

    /// Sets a program. Returns the reported lost state of the previous one.
    pub async fn set_config(&mut self, action: Action, text: Option<&str>) -> Result<String, Status> {
        let info = |text: &str| compile(text).ok().map(|made| made.info).or_else(|| Some(program(ROUTER).info));
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: Some(v1::Uint128 { high: 0, low: self.election_id }),
            action: action as i32,
            role: self.role.clone(),
            config: text.map(|text| v1::ForwardingPipelineConfig {
                p4info: info(text),
                p4_device_config: text.as_bytes().to_vec(),
                cookie: None,
            }),
            ..Default::default()
        };
        let set = tokio::time::timeout(TIMEOUT, self.client.set_forwarding_pipeline_config(request)).await;
        let gone = |answer: tonic::Response<_>| {
            let gone = answer.metadata().get(p4runtime_proto::GONE_HEADER);
            gone.map_or(String::new(), |gone| gone.to_str().unwrap().to_owned())
        };
        set.expect("no answer").map(gone)
    }

    pub fn config_request(&self) -> v1::GetForwardingPipelineConfigRequest {
        v1::GetForwardingPipelineConfigRequest { device_id: 1, response_type: 0 }
    }
}

/// A status with its details, as text.
pub fn status(status: &Status) -> String {
    let mut text = format!("{:?}: {}\n", status.code(), status.message());
    let details = rpc::Status::decode(status.details()).unwrap();
    for any in &details.details {
        let error = v1::Error::decode(any.value.as_slice()).unwrap();
        text.push_str(&format!("  {:?} {}\n", tonic::Code::from(error.canonical_code), error.message));
    }
    text
}

/// Replaces `$name` by the id of the object whose name ends with this.
fn with_ids(info: &P4Info, text: &str) -> String {
    let tables = info.tables.iter().map(|it| &it.preamble);
    let actions = info.actions.iter().map(|it| &it.preamble);
    let counters = info.counters.iter().map(|it| &it.preamble);
    let meters = info.meters.iter().map(|it| &it.preamble);
    let registers = info.registers.iter().map(|it| &it.preamble);
    let digests = info.digests.iter().map(|it| &it.preamble);
    let arrays = counters.chain(meters).chain(registers);
    let mut named: Vec<(String, u32)> =
        (tables.chain(actions).chain(arrays).chain(digests).flatten()).map(|it| (it.alias.clone(), it.id)).collect();
    // Longer names first, which may begin with shorter ones.
    named.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    named.iter().fold(text.to_owned(), |text, (name, id)| text.replace(&format!("${name}"), &id.to_string()))
}

/// An update in the text form.
pub fn update(info: &P4Info, written: &str) -> v1::Update {
    text::from_text("p4.v1.Update", &with_ids(info, written)).unwrap()
}

/// An entity in the text form.
pub fn entity(info: &P4Info, written: &str) -> v1::Entity {
    text::from_text("p4.v1.Entity", &with_ids(info, written)).unwrap()
}

/// Entities as text, with names for ids, and `ROUTE` for what writes and reads as that.
pub fn shown(info: &P4Info, entities: &[v1::Entity]) -> String {
    let mut text: String = entities.iter().map(|it| text::to_text("p4.v1.Entity", it)).collect::<Vec<_>>().join("--\n");
    for preamble in info.tables.iter().map(|it| &it.preamble).chain(info.actions.iter().map(|it| &it.preamble)) {
        let preamble = preamble.as_ref().unwrap();
        text = text.replace(&preamble.id.to_string(), &preamble.alias);
    }
    text.replace(ROUTE_READ, "ROUTE\n")
}

/// Routes to this many networks, each different.
pub fn routes(info: &P4Info, count: u32) -> Vec<v1::Update> {
    let one = update(info, ROUTE);
    let route = |number| {
        let mut route = one.clone();
        set_prefix(&mut route, number);
        route
    };
    (0..count).map(route).collect()
}

/// Makes a route one for another network.
pub fn set_prefix(update: &mut v1::Update, number: u32) {
    use v1::field_match::FieldMatchType;
    let entity = update.entity.as_mut().and_then(|entity| entity.entity.as_mut());
    if let Some(v1::entity::Entity::TableEntry(entry)) = entity
        && let Some(FieldMatchType::Lpm(lpm)) = &mut entry.r#match[0].field_match_type
    {
        lpm.value = (number << 8).to_be_bytes().to_vec();
        lpm.prefix_len = 24;
    }
}
