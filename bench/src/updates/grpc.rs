//! Updates through P4Runtime: a server on the control plane of the switch, and its client over loopback.
//!
//! What enters: the control plane, the P4Info of its program. What leaves: requests that are prepared in advance, and
//! the time until they are answered. Server and client share the machine with the worker, as a controller on the
//! switch itself would.

use control::Api;
use control::api::{Fault, UpdateKind};
use p4runtime::{CompileDeadline, Compiled, Compiler, Feed, Options, Ports, Server, Started};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::{self, stream_message_request::Update as Sent, update::Type, write_request::Atomicity};
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

const DEVICE_ID: u64 = 1;
const ELECTION_ID: Option<v1::Uint128> = Some(v1::Uint128 { high: 0, low: 1 });

/// Refuses programs of controllers.
pub struct NoPrograms;

impl Compiler for NoPrograms {
    fn compile(&self, _text: &str, _deadline: &CompileDeadline) -> Result<Compiled, Fault> {
        Err(Fault::invalid("the program of the benchmark is the only one"))
    }

    fn compile_started(&self) -> Option<Result<Compiled, Fault>> {
        None
    }
}

/// The primary controller of a switch. The server runs until this value is dropped.
pub struct Controller {
    info: P4Info,
    client: P4RuntimeClient<Channel>,
    // While these exist, the controller is primary and the server runs.
    _stream: (mpsc::Sender<v1::StreamMessageRequest>, Streaming<v1::StreamMessageResponse>),
    _server: (Server, Feed),
    runtime: Runtime,
}

impl Controller {
    /// Starts a server and becomes its primary controller.
    pub fn connect(api: Arc<Api>, info: P4Info) -> Result<Controller, Box<dyn Error>> {
        let options = Options {
            address: ([127, 0, 0, 1], 0).into(),
            further: None,
            device_id: DEVICE_ID,
            ports: Ports::default(),
            tls: None,
            compile_time_max: Duration::from_secs(1),
        };
        let started = Started::of_text(info.clone(), Vec::new());
        let server = Server::start(api, Arc::new(NoPrograms), Some(started), options)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let address = server.0.address();
        let (client, stream) = runtime.block_on(async {
            let mut client = P4RuntimeClient::connect(format!("http://{address}")).await?;
            let (sender, receiver) = mpsc::channel(1);
            let bid = v1::MasterArbitrationUpdate {
                device_id: DEVICE_ID,
                election_id: ELECTION_ID,
                ..v1::MasterArbitrationUpdate::default()
            };
            sender.send(v1::StreamMessageRequest { update: Some(Sent::Arbitration(bid)) }).await?;
            let mut messages = client.stream_channel(ReceiverStream::new(receiver)).await?.into_inner();
            messages.message().await?;
            Ok::<_, Box<dyn Error>>((client, (sender, messages)))
        })?;
        Ok(Controller { info, client, _stream: stream, _server: server, runtime })
    }

    /// A request that makes the same update in both tables, for each of these keys.
    pub fn request(&self, kind: UpdateKind, keys: Range<u32>, port: u32) -> v1::WriteRequest {
        let updates = keys.flat_map(|key| self.info.tables.iter().map(move |table| (key, table)));
        let updates = updates.map(|(key, table)| update(kind, table, key, port)).collect();
        v1::WriteRequest {
            device_id: DEVICE_ID,
            election_id: ELECTION_ID,
            updates,
            atomicity: Atomicity::DataplaneAtomic as i32,
            ..v1::WriteRequest::default()
        }
    }

    /// Sends a request and waits for its answer.
    pub fn write(&mut self, request: v1::WriteRequest) -> Result<(), Box<dyn Error>> {
        self.runtime.block_on(self.client.write(request))?;
        Ok(())
    }
}

fn update(kind: UpdateKind, table: &p4runtime_proto::p4::config::v1::Table, key: u32, port: u32) -> v1::Update {
    let bytes = |number: u32| {
        let bytes = number.to_be_bytes();
        let zeros = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
        bytes[zeros..].to_vec()
    };
    let exact = v1::field_match::Exact { value: bytes(key) };
    let field = v1::FieldMatch { field_id: 1, field_match_type: Some(v1::field_match::FieldMatchType::Exact(exact)) };
    let call = v1::Action {
        action_id: table.action_refs.first().map_or(0, |it| it.id),
        params: vec![v1::action::Param { param_id: 1, value: bytes(port) }],
    };
    let entry = v1::TableEntry {
        table_id: table.preamble.as_ref().map_or(0, |it| it.id),
        r#match: vec![field],
        action: Some(v1::TableAction { r#type: Some(v1::table_action::Type::Action(call)) }),
        ..v1::TableEntry::default()
    };
    let kind = match kind {
        UpdateKind::Insert => Type::Insert,
        UpdateKind::Modify => Type::Modify,
        UpdateKind::Delete => Type::Delete,
    };
    let entity = v1::Entity { entity: Some(v1::entity::Entity::TableEntry(entry)) };
    v1::Update { r#type: kind as i32, entity: Some(entity) }
}
