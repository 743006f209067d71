//! A client of a switch: connects, bids to be primary, writes, reads.
//!
//! Reading requires no bid. Before the first write the session bids: with the election id that it was given or, if no
//! controller is primary, with the highest id that the switch has seen, which does not keep other controllers from
//! becoming primary again. The session never displaces a primary controller unless its options require it.

use crate::connection::Connection;
use crate::failure::{Failure, RefusedUpdate, refused_updates};
use crate::plain::Plain;
use crate::plan::WantedWorkers;
use crate::render::election_id;
use crate::schema::{Schema, name};
use control::Problem;
use p4runtime_proto::GONE_HEADER;
use p4runtime_proto::near::Near;
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action as LoadAction;
use p4runtime_proto::p4::v1::stream_message_request::Update as Asked;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::write_request::Atomicity;
use p4runtime_proto::p4::v1::{
    CapabilitiesRequest, DigestListAck, Entity, ForwardingPipelineConfig, GetForwardingPipelineConfigRequest,
    MasterArbitrationUpdate, PacketOut, ReadRequest, Role, SetForwardingPipelineConfigRequest, StreamMessageRequest,
    StreamMessageResponse, Uint128, Update, WriteRequest, get_forwarding_pipeline_config_request as get_config,
};
use p4runtime_proto::wirespeed::v1::commands_client::CommandsClient;
use p4runtime_proto::wirespeed::v1::{
    AboutRequest, AboutResponse, RunRequest, SizesRequest, SizesResponse, SnapshotRequest, TapPacket, TapRequest,
    TimerChange, TimersRequest, TimersResponse, WatchRequest, WorkersRequest, WorkersResponse, workers_request,
};
use prost::Message as _;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Response, Status, Streaming};

/// The most bytes of a response message.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The most updates in one request, and about the most bytes, if they need not be atomic: the cost of a request is
/// shared by many, and a switch whose requests have the 4 MiB that are usual in gRPC takes each.
const UPDATES_MAX: usize = 10_000;
const UPDATE_BYTES_MAX: usize = 1 << 20;

/// The most updates in one request for which a switch can report the result of each: the results are a header of its
/// answer.
const EXPLAINED_MAX: usize = 128;

/// Fewer updates than this are written so that each refusal is explained.
const FEW: usize = 32 * EXPLAINED_MAX;

/// The timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout of a bid.
const BID_TIMEOUT: Duration = Duration::from_secs(10);

/// The most messages of the switch that are skipped before a bid.
const PASSED_MAX: usize = 10_000;

/// The capacity of the queue of messages to the switch.
const OUTBOX: usize = 16;

/// A function that adds the display formats of values to a P4Info.
pub type AddFormats = fn(&mut P4Info, Vec<Box<[u8]>>);

/// Which switch to connect to, and in which role.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `HOST:PORT`
    pub address: String,
    /// Set if the switch is in this process; the address is then only a name.
    pub near: Option<Near>,
    /// The id of the device.
    pub device_id: u64,
    /// Whether to ask the switch for its device id; `device_id` is used if the switch does not report one.
    pub any_device: bool,
    /// Adds display formats of values to a P4Info that has none, from the records of the switch's program.
    pub formats: Option<AddFormats>,
    /// The election id to bid with. `None`: one that does not displace another controller.
    pub election_id: Option<u128>,
    /// Whether writes use the election id of the primary controller, if there is one.
    pub as_primary: bool,
    /// The role; empty for the default role, which has full access.
    pub role: String,
    /// Certificates; `None` for a connection without TLS.
    pub tls: Option<Tls>,
    /// The option that has the address, if it is not `--address`; for messages.
    pub address_option: Option<&'static str>,
}

/// Certificates in PEM.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The certificate authority of the switch's certificate.
    pub ca: Vec<u8>,
    /// The client's certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in the switch's certificate, if it differs from the address.
    pub name: Option<String>,
}

/// A connection to a switch.
pub struct Session {
    options: Options,
    client: P4RuntimeClient<Connection>,
    commands: CommandsClient<Connection>,
    /// The switch's description of itself when the session began.
    about: Option<AboutResponse>,
    schema: Option<Arc<Schema>>,
    stream: Option<Stream>,
    /// The election id of writes.
    election_id: Option<u128>,
}

struct Stream {
    sender: mpsc::Sender<StreamMessageRequest>,
    receiver: Streaming<StreamMessageResponse>,
}

/// Who is primary according to the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This session.
    Primary,
    /// Another controller, with this election id.
    Other(u128),
    /// None; the value is the highest election id so far.
    NoPrimary(Option<u128>),
}

/// A future in a box. Without the box, each crate that awaits the future compiles its code again.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

impl Session {
    /// Connects.
    pub fn connect(options: Options) -> Boxed<'static, Session> {
        Box::pin(async move {
            let way = match (&options.near, &options.tls) {
                (Some(near), _) => Connection::Near(near.clone()),
                (None, Some(tls)) => Connection::Secure(channel(&options, tls).await?),
                (None, None) => {
                    let connecting = Plain::connect(&options.address, CONNECT_TIMEOUT);
                    Connection::Plain(connecting.await.map_err(|error| unreachable(&options, reason(&error)))?)
                }
            };
            let mut client = P4RuntimeClient::new(way.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
            // TLS certificates are verified with the first request. A switch that does not implement this request is
            // still reachable.
            if let Err(status) = client.capabilities(CapabilitiesRequest { device_id: options.device_id }).await
                && std::error::Error::source(&status).is_some()
            {
                let why = match &options.tls {
                    None => "it closes the connection: it may require TLS (--ca)".to_owned(),
                    Some(Tls { identity: None, .. }) => {
                        "it closes the connection: it may require a certificate (--cert, --key)".to_owned()
                    }
                    Some(_) => {
                        "it closes the connection: it rejects the certificate, or the certificate is not valid today"
                            .to_owned()
                    }
                };
                return Err(unreachable(&options, format!("{why}; {}", reason(&status))));
            }
            let mut commands = CommandsClient::new(way).max_decoding_message_size(ANSWER_BYTES_MAX);
            let mut options = options;
            // Only Wirespeed switches implement this request.
            let about = commands.about(AboutRequest {}).await.ok().map(Response::into_inner);
            if let (true, Some(about)) = (options.any_device, &about) {
                options.device_id = about.device_id;
            }
            Ok(Session { options, client, commands, about, schema: None, stream: None, election_id: None })
        })
    }

    /// A line that names the switch and its program.
    pub fn greeting(&self) -> String {
        let Options { address, device_id, .. } = &self.options;
        let program = match &self.about {
            None => String::new(),
            Some(about) if about.program.is_empty() => " runs no program yet".to_owned(),
            Some(about) => format!(" runs {}", program_text(Some(about), "")),
        };
        format!("Device {device_id} at {address}{program}.")
    }

    /// The id of the device that the session is connected to.
    pub fn device_id(&self) -> u64 {
        self.options.device_id
    }

    /// The switch's description of itself, if it has one.
    pub fn about(&self) -> Option<&AboutResponse> {
        self.about.as_ref()
    }

    /// The program of the switch.
    pub fn schema(&mut self) -> Boxed<'_, Arc<Schema>> {
        Box::pin(async move {
            if let Some(schema) = &self.schema {
                return Ok(Arc::clone(schema));
            }
            let config = self.config(get_config::ResponseType::P4infoAndCookie).await?;
            let mut info = config.p4info.unwrap_or_default();
            if let (Some(add_formats), Some(_)) = (self.options.formats, &self.about)
                && let Ok(program) = self.snapshot(false).await
            {
                add_formats(&mut info, program);
            }
            let schema = Arc::new(Schema::new(info));
            self.schema = Some(Arc::clone(&schema));
            Ok(schema)
        })
    }

    /// Changes the role; the session has not bid for the new role yet. The program is fetched again, since it may
    /// have changed while no controller was primary.
    pub fn take_role(&mut self, role: &str) {
        role.clone_into(&mut self.options.role);
        self.schema = None;
    }

    /// The program of the switch, if it was fetched already.
    pub fn known_schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    async fn config(&mut self, wanted: get_config::ResponseType) -> Result<ForwardingPipelineConfig, Failure> {
        let request =
            GetForwardingPipelineConfigRequest { device_id: self.options.device_id, response_type: wanted as i32 };
        let config = match self.client.get_forwarding_pipeline_config(request).await {
            Ok(answer) => answer.into_inner().config,
            Err(status) if status.code() == Code::FailedPrecondition => None,
            Err(status) => return Err(status.into()),
        };
        config.ok_or_else(|| Problem::new("the switch has no program").with_help("load PROGRAM.p4").into())
    }

    /// Reads entities and passes them to `sink` as they arrive.
    pub async fn read(&mut self, entities: Vec<Entity>, mut sink: impl FnMut(Vec<Entity>)) -> Result<(), Failure> {
        let role = self.options.role.clone();
        let request = ReadRequest { device_id: self.options.device_id, role, entities };
        let mut answers = self.client.read(request).await?.into_inner();
        while let Some(answer) = answers.message().await? {
            sink(answer.entities);
        }
        Ok(())
    }

    /// Reads entities and returns all of them.
    pub async fn read_all(&mut self, entities: Vec<Entity>) -> Result<Vec<Entity>, Failure> {
        let mut found = Vec::new();
        self.read(entities, |some| found.extend(some)).await?;
        Ok(found)
    }

    /// Writes updates. If the write must be atomic, all of them go in one request.
    pub fn write(&mut self, updates: Vec<Update>, atomicity: Atomicity) -> Boxed<'_, ()> {
        Box::pin(async move {
            let election_id = self.bid().await?;
            let requests = match atomicity {
                Atomicity::ContinueOnError => in_requests(updates, UPDATES_MAX),
                _ => Vec::from_iter((!updates.is_empty()).then_some(updates)),
            };
            for updates in requests {
                self.client.write(self.write_request(updates, atomicity, election_id)).await?;
            }
            Ok(())
        })
    }

    /// Writes updates, each by itself, and returns those that the switch refused, by index. If it refuses more of very
    /// many than it can name, they are written once more, in smaller requests: what exists then is refused, too.
    pub fn write_each(&mut self, updates: Vec<Update>) -> Boxed<'_, Vec<(usize, RefusedUpdate)>> {
        Box::pin(async move {
            let election_id = self.bid().await?;
            let size = if updates.len() < FEW { EXPLAINED_MAX } else { UPDATES_MAX };
            let mut refused = Vec::new();
            let mut first = 0;
            let mut requests = VecDeque::from(in_requests(updates, size));
            while let Some(updates) = requests.pop_front() {
                let count = updates.len();
                let request = self.write_request(updates.clone(), Atomicity::ContinueOnError, election_id);
                if let Err(status) = self.client.write(request).await {
                    match refused_updates(&status, count) {
                        Some(these) => refused.extend(these.into_iter().map(|(index, why)| (first + index, why))),
                        None if count > EXPLAINED_MAX && !status.details().is_empty() => {
                            in_requests(updates, EXPLAINED_MAX)
                                .into_iter()
                                .rev()
                                .for_each(|it| requests.push_front(it));
                            continue;
                        }
                        None => return Err(status.into()),
                    }
                }
                first += count;
            }
            Ok(refused)
        })
    }

    fn write_request(&self, updates: Vec<Update>, atomicity: Atomicity, election_id: Option<Uint128>) -> WriteRequest {
        #[allow(deprecated, reason = "roles have names now")]
        WriteRequest {
            device_id: self.options.device_id,
            role_id: 0,
            role: self.options.role.clone(),
            election_id,
            updates,
            atomicity: atomicity as i32,
        }
    }

    /// Sets a program, or runs the saved one. Returns the state of the previous program that was lost although it was
    /// to be kept, if the switch reports it.
    pub async fn load(
        &mut self,
        action: LoadAction,
        config: Option<ForwardingPipelineConfig>,
    ) -> Result<Option<String>, Failure> {
        let election_id = self.bid().await?;
        #[allow(deprecated, reason = "roles have names now")]
        let request = SetForwardingPipelineConfigRequest {
            device_id: self.options.device_id,
            role_id: 0,
            role: self.options.role.clone(),
            election_id,
            action: action as i32,
            config,
        };
        let answer = self.client.set_forwarding_pipeline_config(request).await?;
        self.schema = None;
        let lost = answer.metadata().get(GONE_HEADER).and_then(|lost| lost.to_str().ok());
        Ok(lost.map(str::to_owned))
    }

    /// Sends a packet, and waits until the switch has accepted it.
    pub async fn packet_out(&mut self, packet: PacketOut) -> Result<(), Failure> {
        let own = self.bid().await?;
        let own = own.map(|it| u128::from(it.high) << 64 | u128::from(it.low));
        self.send(Asked::Packet(packet)).await?;
        // The switch reports errors of the packet before it answers the next message.
        self.arbitrate(own).await.map(|_| ())
    }

    /// Sends a packet without waiting. The switch reports an error in its next message.
    pub async fn send_packet(&mut self, packet: PacketOut) -> Result<(), Failure> {
        self.bid().await?;
        self.send(Asked::Packet(packet)).await
    }

    /// Acknowledges a list of digests: the switch may report the same data again.
    pub async fn acknowledge(&mut self, digest_id: u32, list_id: u64) -> Result<(), Failure> {
        self.send(Asked::DigestAck(DigestListAck { digest_id, list_id })).await
    }

    /// Runs a line of `simple_switch_CLI`. Returns its output, and whether it was refused.
    pub async fn run_simple(&mut self, line: String) -> Result<(String, bool), Failure> {
        let request = RunRequest { device_id: self.options.device_id, line };
        let answer = own_service("does not accept simple_switch_CLI commands", self.commands.run(request).await)?;
        Ok((answer.text, answer.is_error))
    }

    /// The workers of the switch, after setting their number if one is given.
    pub async fn workers(&mut self, wanted: Option<WantedWorkers>) -> Result<WorkersResponse, Failure> {
        let wanted = wanted.map(|wanted| match wanted {
            WantedWorkers::Count(count) => workers_request::Wanted::Count(count),
            WantedWorkers::Auto => workers_request::Wanted::Auto(true),
        });
        let request = WorkersRequest { device_id: self.options.device_id, wanted };
        own_service("does not report its workers", self.commands.workers(request).await)
    }

    /// The timers of the switch's ports, after changing one if a change is given.
    pub async fn timers(&mut self, change: Option<TimerChange>) -> Result<TimersResponse, Failure> {
        let request = TimersRequest { device_id: self.options.device_id, change };
        own_service("has no timers", self.commands.timers(request).await)
    }

    /// The fill levels of the switch's tables.
    pub async fn sizes(&mut self) -> Result<SizesResponse, Failure> {
        let request = SizesRequest { device_id: self.options.device_id };
        own_service("does not report its tables' memory", self.commands.sizes(request).await)
    }

    /// Subscribes to the messages of the switch without being one of its controllers.
    pub async fn watch(&mut self) -> Result<Streaming<StreamMessageResponse>, Failure> {
        let request = WatchRequest { device_id: self.options.device_id };
        own_service("does not support watching", self.commands.watch(request).await)
    }

    /// The records from which a copy of this switch can be made: its program and, if requested, its state.
    pub async fn snapshot(&mut self, with_state: bool) -> Result<Vec<Box<[u8]>>, Failure> {
        let request = SnapshotRequest { device_id: self.options.device_id, program_only: !with_state };
        let mut parts = own_service("does not provide snapshots", self.commands.snapshot(request).await)?;
        let (mut records, mut record) = (Vec::new(), Vec::new());
        while let Some(part) = parts.message().await? {
            record.extend(part.bytes);
            if part.is_last {
                records.push(std::mem::take(&mut record).into_boxed_slice());
            }
        }
        Ok(records)
    }

    /// Packets as they arrive from now on.
    pub async fn tap(&mut self, wanted: TapRequest) -> Result<Streaming<TapPacket>, Failure> {
        let request = TapRequest { device_id: self.options.device_id, ..wanted };
        own_service("shows no packets as they arrive", self.commands.tap(request).await)
    }

    /// The state of the switch, as pairs of a property and its value.
    pub async fn status(&mut self) -> Result<Vec<(&'static str, String)>, Failure> {
        let device_id = self.options.device_id;
        let capabilities = self.client.capabilities(CapabilitiesRequest { device_id }).await?.into_inner();
        // A controller may have set another program in the meantime.
        self.about = self.commands.about(AboutRequest {}).await.ok().map(Response::into_inner);
        let mut lines = vec![
            ("address", self.options.address.clone()),
            ("device", device_id.to_string()),
            ("P4Runtime", capabilities.p4runtime_api_version),
        ];
        match self.config(get_config::ResponseType::P4infoAndCookie).await {
            Ok(config) => {
                let info = config.p4info.unwrap_or_default();
                let package = info.pkg_info.clone().unwrap_or_default();
                let parts = [package.name, package.version, package.arch];
                let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
                lines.push(("program", program_text(self.about.as_ref(), &parts.join(" "))));
                let tables: Vec<&str> = info.tables.iter().map(|it| name(&it.preamble)).collect();
                lines.push(("tables", tables.join(", ")));
                if let Some(cookie) = config.cookie {
                    lines.push(("cookie", format!("{:#x}", cookie.cookie)));
                }
            }
            Err(Failure::Refused(_)) => lines.push(("program", "none".to_owned())),
            Err(failure) => return Err(failure),
        }
        let primary = match self.standing().await? {
            Standing::Primary => "this client".to_owned(),
            Standing::Other(id) => format!("a controller with election id {id}"),
            Standing::NoPrimary(None) => "none".to_owned(),
            Standing::NoPrimary(Some(highest)) => format!("none (the highest election id so far is {highest})"),
        };
        lines.push(("primary", primary));
        Ok(lines)
    }

    /// Who is primary. The request changes nothing.
    pub async fn standing(&mut self) -> Result<Standing, Failure> {
        if self.election_id.is_some() && !self.options.as_primary {
            return self.arbitrate(self.election_id).await;
        }
        self.arbitrate(None).await
    }

    /// Becomes primary if no controller is, with an election id that was not used before, and returns who is primary
    /// now. The switch then refuses earlier requests of other controllers that it has not carried out yet.
    pub async fn bid_above(&mut self) -> Result<Standing, Failure> {
        if self.election_id.is_none() && self.options.election_id.is_none() {
            match self.standing().await? {
                Standing::NoPrimary(highest) => self.options.election_id = Some(highest.unwrap_or(0).saturating_add(1)),
                standing => return Ok(standing),
            }
        }
        self.bid().await.map(|_| Standing::Primary)
    }

    /// Bids if necessary. Returns the election id for writes.
    async fn bid(&mut self) -> Result<Option<Uint128>, Failure> {
        if self.election_id.is_none() {
            self.election_id = Some(self.win().await?);
        }
        Ok(self.election_id.map(uint128))
    }

    async fn win(&mut self) -> Result<u128, Failure> {
        let bid = match self.options.election_id {
            Some(id) => id,
            None => match self.arbitrate(None).await? {
                Standing::Other(id) if self.options.as_primary => return Ok(id),
                Standing::Other(id) => return Err(refused(id)),
                Standing::Primary => 1,
                Standing::NoPrimary(highest) => highest.unwrap_or(1).max(1),
            },
        };
        match self.arbitrate(Some(bid)).await? {
            Standing::Primary => Ok(bid),
            Standing::Other(id) => Err(refused(id)),
            Standing::NoPrimary(highest) => {
                let highest = highest.map_or_else(String::new, |id| format!(": the highest so far is {id}"));
                Err(Problem::new(format!("election id {bid} is too low to become primary{highest}")).into())
            }
        }
    }

    /// Withdraws the bid, so that others can be primary until the next write.
    pub async fn release(&mut self) -> Result<(), Failure> {
        if self.election_id.take().is_some() && !self.options.as_primary {
            self.arbitrate(None).await?;
        }
        Ok(())
    }

    async fn stream(&mut self) -> Result<&mut Stream, Failure> {
        if self.stream.is_none() {
            let (sender, outbox) = mpsc::channel(OUTBOX);
            // The switch may not respond before it has received a message.
            let first = arbitration(&self.options, None);
            let _room = sender.send(first).await;
            let receiver = self.client.stream_channel(ReceiverStream::new(outbox)).await?.into_inner();
            self.stream = Some(Stream { sender, receiver });
            self.answer_to_bid().await?;
        }
        self.stream.as_mut().ok_or_else(|| Problem::new("the stream has ended").into())
    }

    async fn send(&mut self, asked: Asked) -> Result<(), Failure> {
        let sent = self.stream().await?.sender.send(StreamMessageRequest { update: Some(asked) }).await;
        match sent {
            Ok(()) => Ok(()),
            Err(_) => {
                self.stream = None;
                self.election_id = None;
                Err(Failure::Connection(Problem::new("the switch has closed the stream")))
            }
        }
    }

    /// Sends an arbitration message with or without a bid, and waits for the switch's answer.
    fn arbitrate(&mut self, bid: Option<u128>) -> Boxed<'_, Standing> {
        Box::pin(async move {
            self.skip_messages().await;
            let request = arbitration(&self.options, bid);
            if let Some(update) = request.update {
                self.send(update).await?;
            }
            let answer = self.answer_to_bid().await?;
            let highest = election_id(&answer);
            let code = answer.status.as_ref().map_or(0, |status| status.code);
            Ok(match (code, highest) {
                (0, _) if bid.is_some() => Standing::Primary,
                (0 | 6, Some(id)) => Standing::Other(id),
                (_, highest) => Standing::NoPrimary(highest),
            })
        })
    }

    /// Skips the messages received so far, so that an old message is not taken for the answer.
    async fn skip_messages(&mut self) {
        for _ in 0..PASSED_MAX {
            match tokio::time::timeout(Duration::ZERO, self.next_message()).await {
                Ok(Ok(Some(_))) => {}
                _ => return,
            }
        }
    }

    /// The next arbitration message of the switch. Other messages are skipped, except errors.
    async fn answer_to_bid(&mut self) -> Result<MasterArbitrationUpdate, Failure> {
        let waiting = async {
            loop {
                match self.next_message().await? {
                    Some(StreamUpdate::Arbitration(answer)) => return Ok(answer),
                    Some(StreamUpdate::Error(error)) => return Err(Problem::new(error.message).into()),
                    Some(_) => {}
                    None => return Err(Failure::Connection(Problem::new("the switch has closed the stream"))),
                }
            }
        };
        let late = |_| Failure::Connection(Problem::new("the switch does not answer"));
        tokio::time::timeout(BID_TIMEOUT, waiting).await.map_err(late)?
    }

    /// The next message of the switch; `None` at the end of the stream.
    pub async fn next_message(&mut self) -> Result<Option<StreamUpdate>, Failure> {
        let message = match &mut self.stream {
            Some(stream) => stream.receiver.message().await,
            None => return Ok(None),
        };
        match message {
            Ok(Some(message)) => Ok(message.update),
            Ok(None) => {
                self.stream = None;
                self.election_id = None;
                Ok(None)
            }
            Err(status) => {
                self.stream = None;
                self.election_id = None;
                Err(status.into())
            }
        }
    }
}

fn unreachable(options: &Options, why: String) -> Failure {
    let option = options.address_option.unwrap_or("--address");
    Failure::Connection(
        Problem::new(format!("the switch at {} cannot be reached: {why}", options.address))
            .with_help(format!("wirespeed run PROGRAM.p4 --port ... --p4runtime starts one; {option} names another")),
    )
}

/// A connection with TLS to the switch at the address.
async fn channel(options: &Options, tls: &Tls) -> Result<Channel, Failure> {
    let unreachable = |why| unreachable(options, why);
    let endpoint = Endpoint::from_shared(format!("https://{}", options.address));
    let endpoint = endpoint.map_err(|error| unreachable(reason(&error)))?.connect_timeout(CONNECT_TIMEOUT);
    let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&tls.ca));
    if let Some((certificate, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(certificate, key));
    }
    if let Some(name) = &tls.name {
        config = config.domain_name(name);
    }
    let endpoint = endpoint.tls_config(config).map_err(|error| unreachable(reason(&error)))?;
    endpoint.connect().await.map_err(|error| {
        // The error of a TLS client that receives a response without TLS.
        let is_plain = reason(&error).contains("InvalidContentType");
        unreachable(match is_plain {
            true => "it does not use TLS: remove --ca".to_owned(),
            false => reason(&error),
        })
    })
}

/// The response to a request of Wirespeed's own service. `lack` describes what a switch without this service cannot
/// do.
fn own_service<T>(lack: &str, answer: Result<Response<T>, Status>) -> Result<T, Failure> {
    match answer {
        Ok(answer) => Ok(answer.into_inner()),
        Err(status) if status.code() == Code::Unimplemented => {
            Err(Problem::new(format!("this switch {lack}: it is not Wirespeed, or an older version")).into())
        }
        Err(status) => Err(status.into()),
    }
}

/// The error if another controller prevents writes.
fn refused(id: u128) -> Failure {
    Problem::new(format!("a controller with election id {id} is primary, and only the primary may write"))
        .with_help(format!(
            "--as-primary writes with its election id; --election-id {} replaces it, and it must bid higher to return",
            id.saturating_add(1)
        ))
        .into()
}

/// The running program: its file as the switch names it, and its `@pkginfo`.
fn program_text(about: Option<&AboutResponse>, package: &str) -> String {
    let about = about.filter(|about| !about.program.is_empty());
    match (about, package) {
        (None, "") => "without a name".to_owned(),
        (None, package) => package.to_owned(),
        (Some(about), package) => {
            let who = if about.is_by_controller { "set by a controller" } else { "" };
            let remarks: Vec<&str> = [package, who].into_iter().filter(|it| !it.is_empty()).collect();
            match remarks.is_empty() {
                true => about.program.clone(),
                false => format!("{} ({})", about.program, remarks.join(", ")),
            }
        }
    }
}

/// The updates of each request, at most `most`, in order.
fn in_requests(updates: Vec<Update>, most: usize) -> Vec<Vec<Update>> {
    let mut requests: Vec<Vec<Update>> = Vec::new();
    let mut bytes = usize::MAX;
    for update in updates {
        let own = update.encoded_len();
        match requests.last_mut().filter(|it| it.len() < most && bytes.saturating_add(own) <= UPDATE_BYTES_MAX) {
            Some(request) => {
                bytes += own;
                request.push(update);
            }
            None => {
                bytes = own;
                requests.push(vec![update]);
            }
        }
    }
    requests
}

fn uint128(id: u128) -> Uint128 {
    Uint128 { high: (id >> 64) as u64, low: id as u64 }
}

fn arbitration(options: &Options, bid: Option<u128>) -> StreamMessageRequest {
    #[allow(deprecated, reason = "roles have names now")]
    let role = |name: &String| Role { id: 0, name: name.clone(), config: None };
    let update = MasterArbitrationUpdate {
        device_id: options.device_id,
        role: Some(&options.role).filter(|name| !name.is_empty()).map(role),
        election_id: bid.map(uint128),
        status: None,
    };
    StreamMessageRequest { update: Some(Asked::Arbitration(update)) }
}

/// The root cause of a transport error; the error itself says only that there was one.
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::v1::entity::Entity as Kind;
    use p4runtime_proto::p4::v1::{MeterEntry, TableEntry};

    fn sizes(kind: Kind, count: usize) -> Vec<usize> {
        let update = Update { entity: Some(Entity { entity: Some(kind) }), ..Update::default() };
        in_requests(vec![update; count], UPDATES_MAX).iter().map(Vec::len).collect()
    }

    #[test]
    fn many_updates_are_few_requests() {
        let small = || Kind::MeterEntry(MeterEntry { meter_id: 1, ..MeterEntry::default() });
        assert!(sizes(small(), 0).is_empty());
        assert_eq!(sizes(small(), 25_000), [10_000, 10_000, 5_000]);
        // Of 300,000 bytes, three fit into a request; one that is longer than a request is one.
        let large = |bytes| Kind::TableEntry(TableEntry { metadata: vec![0; bytes], ..TableEntry::default() });
        assert_eq!(sizes(large(300_000), 4), [3, 1]);
        assert_eq!(sizes(large(2_000_000), 2), [1, 1]);
    }
}
