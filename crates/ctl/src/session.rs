//! A client of a switch: connects, bids, writes, reads.
//!
//! Reading needs no mastership. Before the first write the session bids: with the election id that it was given, or,
//! if nobody is primary, with the highest that the switch has seen, which keeps no controller from coming back. It
//! never takes the place of a controller that is primary unless it was told to.

use crate::failure::Failure;
use crate::plain::Plain;
use crate::plan::WantedWorkers;
use crate::render::election_id;
use crate::schema::{Schema, name};
use crate::way::Way;
use control::Problem;
use p4runtime_proto::GONE_HEADER;
use p4runtime_proto::near::Near;
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action as LoadAction;
use p4runtime_proto::p4::v1::stream_message_request::Update as Asked;
use p4runtime_proto::p4::v1::stream_message_response::Update as Told;
use p4runtime_proto::p4::v1::write_request::Atomicity;
use p4runtime_proto::p4::v1::{
    CapabilitiesRequest, Entity, ForwardingPipelineConfig, GetForwardingPipelineConfigRequest, MasterArbitrationUpdate,
    PacketOut, ReadRequest, Role, SetForwardingPipelineConfigRequest, StreamMessageRequest, StreamMessageResponse,
    Uint128, Update, WriteRequest, get_forwarding_pipeline_config_request as get_config,
};
use p4runtime_proto::wirespeed::v1::commands_client::CommandsClient;
use p4runtime_proto::wirespeed::v1::{
    AboutRequest, AboutResponse, RunRequest, SizesRequest, SizesResponse, SnapshotRequest, TapPacket, TapRequest,
    TimerChange, TimersRequest, TimersResponse, WatchRequest, WorkersRequest, WorkersResponse, workers_request,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Response, Status, Streaming};

/// The most bytes of an answer's message.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Updates that go in one request, where they need not go together.
const UPDATES_MAX: usize = 1000;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the switch may take to answer a bid.
const BID_TIMEOUT: Duration = Duration::from_secs(10);

/// Messages of the switch that are passed over before a bid.
const PASSED_MAX: usize = 10_000;

/// Messages to the switch that may wait.
const OUTBOX: usize = 16;

/// What adds formats of values to a P4Info.
pub type AddFormats = fn(&mut P4Info, Vec<Box<[u8]>>);

/// Which switch, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `HOST:PORT`
    pub address: String,
    /// The switch is one of this process; the address is only what it is called.
    pub near: Option<Near>,
    /// By which number the switch knows itself.
    pub device_id: u64,
    /// The switch is asked for its number; `device_id` is for one that does not say.
    pub any_device: bool,
    /// Adds formats of values to a P4Info that announces none, from the records of the switch's program.
    pub formats: Option<AddFormats>,
    /// What to bid with. None: whatever takes nobody's place.
    pub election_id: Option<u128>,
    /// Writes go out in the name of the primary controller, if there is one.
    pub as_primary: bool,
    /// The role; empty for the one that may everything.
    pub role: String,
    /// Certificates; none for a connection without.
    pub tls: Option<Tls>,
    /// What the options `--ca`, `--cert` and `--key` begin with, where those of others stand beside them: for messages.
    pub tls_prefix: &'static str,
}

/// Certificates in PEM.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Who signed that of the switch.
    pub ca: Vec<u8>,
    /// Our own and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in the switch's certificate, if it is not that of the address.
    pub name: Option<String>,
}

/// A connection to a switch.
pub struct Session {
    options: Options,
    client: P4RuntimeClient<Way>,
    commands: CommandsClient<Way>,
    /// Who the switch said it is when the session began.
    about: Option<AboutResponse>,
    schema: Option<Arc<Schema>>,
    stream: Option<Stream>,
    /// With what writes go out.
    election_id: Option<u128>,
}

struct Stream {
    sender: mpsc::Sender<StreamMessageRequest>,
    receiver: Streaming<StreamMessageResponse>,
}

/// What the switch says of who is primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// We are.
    Primary,
    /// A controller with this election id is.
    Other(u128),
    /// Nobody is; this is the highest election id that there has been.
    Nobody(Option<u128>),
}

impl Session {
    /// Connects.
    pub async fn connect(options: Options) -> Result<Session, Failure> {
        let way = match (&options.near, &options.tls) {
            (Some(near), _) => Way::Near(near.clone()),
            (None, Some(tls)) => Way::Secure(channel(&options, tls).await?),
            (None, None) => {
                let connecting = Plain::connect(&options.address, CONNECT_TIMEOUT);
                Way::Plain(connecting.await.map_err(|error| unreachable(&options, reason(&error)))?)
            }
        };
        let mut client = P4RuntimeClient::new(way.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
        // Certificates are looked at when something is said. A switch that does not know the request says so; it lives.
        if let Err(status) = client.capabilities(CapabilitiesRequest { device_id: options.device_id }).await
            && std::error::Error::source(&status).is_some()
        {
            let prefix = options.tls_prefix;
            let why = match &options.tls {
                None => format!("it hangs up: it may want TLS (--{prefix}ca)"),
                Some(Tls { identity: None, .. }) => {
                    format!("it hangs up: it may want a certificate (--{prefix}cert, --{prefix}key)")
                }
                Some(_) => "it hangs up: it does not take the certificate, or not today".to_owned(),
            };
            return Err(unreachable(&options, format!("{why}; {}", reason(&status))));
        }
        let mut commands = CommandsClient::new(way).max_decoding_message_size(ANSWER_BYTES_MAX);
        let mut options = options;
        // Other switches than ours do not know the request.
        let about = commands.about(AboutRequest {}).await.ok().map(Response::into_inner);
        if let (true, Some(about)) = (options.any_device, &about) {
            options.device_id = about.device_id;
        }
        Ok(Session { options, client, commands, about, schema: None, stream: None, election_id: None })
    }

    /// Which switch and which program this is about, in a line.
    pub fn greeting(&self) -> String {
        let Options { address, device_id, .. } = &self.options;
        let program = match &self.about {
            None => String::new(),
            Some(about) if about.program.is_empty() => " runs no program yet".to_owned(),
            Some(about) => format!(" runs {}", program_text(Some(about), "")),
        };
        format!("Device {device_id} at {address}{program}.")
    }

    /// Who the switch is, if it says.
    pub fn about(&self) -> Option<&AboutResponse> {
        self.about.as_ref()
    }

    /// The program of the switch.
    pub async fn schema(&mut self) -> Result<Arc<Schema>, Failure> {
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
    }

    /// Has another role from now on, which no bid has been made for yet. The program is asked for again: as long as
    /// nobody was primary it may have become another.
    pub fn take_role(&mut self, role: &str) {
        role.clone_into(&mut self.options.role);
        self.schema = None;
    }

    /// The program of the switch, if it is known already.
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

    /// Reads, and gives the entities to `sink` as they come.
    pub async fn read(&mut self, entities: Vec<Entity>, mut sink: impl FnMut(Vec<Entity>)) -> Result<(), Failure> {
        let role = self.options.role.clone();
        let request = ReadRequest { device_id: self.options.device_id, role, entities };
        let mut answers = self.client.read(request).await?.into_inner();
        while let Some(answer) = answers.message().await? {
            sink(answer.entities);
        }
        Ok(())
    }

    /// Reads all at once.
    pub async fn read_all(&mut self, entities: Vec<Entity>) -> Result<Vec<Entity>, Failure> {
        let mut found = Vec::new();
        self.read(entities, |some| found.extend(some)).await?;
        Ok(found)
    }

    /// Writes. If it is to be seen as one, all of it goes in one request.
    pub async fn write(&mut self, updates: Vec<Update>, atomicity: Atomicity) -> Result<(), Failure> {
        let election_id = self.bid().await?;
        let most = if atomicity == Atomicity::ContinueOnError { UPDATES_MAX } else { usize::MAX };
        let mut rest = updates.into_iter();
        loop {
            let updates: Vec<Update> = rest.by_ref().take(most).collect();
            if updates.is_empty() {
                return Ok(());
            }
            #[allow(deprecated, reason = "roles have names now")]
            let request = WriteRequest {
                device_id: self.options.device_id,
                role_id: 0,
                role: self.options.role.clone(),
                election_id,
                updates,
                atomicity: atomicity as i32,
            };
            self.client.write(request).await?;
        }
    }

    /// Gives the switch a program, or has it run the one that it keeps. Returns what has gone with the program before
    /// though its state was to be kept, if the switch tells.
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
        let gone = answer.metadata().get(GONE_HEADER).and_then(|gone| gone.to_str().ok());
        Ok(gone.map(str::to_owned))
    }

    /// Sends a packet, and waits until the switch has taken it.
    pub async fn packet_out(&mut self, packet: PacketOut) -> Result<(), Failure> {
        let own = self.bid().await?;
        let own = own.map(|it| u128::from(it.high) << 64 | u128::from(it.low));
        self.send(Asked::Packet(packet)).await?;
        // What was wrong with the packet is told before the answer to what follows it.
        self.ask_standing(own).await.map(|_| ())
    }

    /// Carries out a line of `simple_switch_CLI`: what it prints, and whether it was refused.
    pub async fn run_simple(&mut self, line: String) -> Result<(String, bool), Failure> {
        let request = RunRequest { device_id: self.options.device_id, line };
        let answer = own("takes no commands of simple_switch_CLI", self.commands.run(request).await)?;
        Ok((answer.text, answer.is_error))
    }

    /// How many workers the switch has, after so many were asked for.
    pub async fn workers(&mut self, wanted: Option<WantedWorkers>) -> Result<WorkersResponse, Failure> {
        let wanted = wanted.map(|wanted| match wanted {
            WantedWorkers::Count(count) => workers_request::Wanted::Count(count),
            WantedWorkers::Auto => workers_request::Wanted::Auto(true),
        });
        let request = WorkersRequest { device_id: self.options.device_id, wanted };
        own("tells nothing of workers", self.commands.workers(request).await)
    }

    /// The timers of the switch's ports, after one was changed if that is wanted.
    pub async fn timers(&mut self, change: Option<TimerChange>) -> Result<TimersResponse, Failure> {
        let request = TimersRequest { device_id: self.options.device_id, change };
        own("has no timers", self.commands.timers(request).await)
    }

    /// How full the switch's tables are.
    pub async fn sizes(&mut self) -> Result<SizesResponse, Failure> {
        let request = SizesRequest { device_id: self.options.device_id };
        own("tells nothing of its tables' memory", self.commands.sizes(request).await)
    }

    /// What the switch tells from now on, without being one of its controllers.
    pub async fn watch(&mut self) -> Result<Streaming<StreamMessageResponse>, Failure> {
        let request = WatchRequest { device_id: self.options.device_id };
        own("tells nothing to one who only looks", self.commands.watch(request).await)
    }

    /// What it takes to make another switch like this one, as records: its program and, if wanted, its state.
    pub async fn snapshot(&mut self, with_state: bool) -> Result<Vec<Box<[u8]>>, Failure> {
        let request = SnapshotRequest { device_id: self.options.device_id, program_only: !with_state };
        let mut parts = own("gives no snapshot of itself", self.commands.snapshot(request).await)?;
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
        own("shows no packets as they arrive", self.commands.tap(request).await)
    }

    /// How the switch is, as pairs of what and how.
    pub async fn status(&mut self) -> Result<Vec<(&'static str, String)>, Failure> {
        let device_id = self.options.device_id;
        let capabilities = self.client.capabilities(CapabilitiesRequest { device_id }).await?.into_inner();
        // A controller may have set another program since.
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
            Standing::Nobody(None) => "nobody".to_owned(),
            Standing::Nobody(Some(highest)) => format!("nobody (the highest election id so far is {highest})"),
        };
        lines.push(("primary", primary));
        Ok(lines)
    }

    /// Who is primary. Asking changes nothing.
    pub async fn standing(&mut self) -> Result<Standing, Failure> {
        if self.election_id.is_some() && !self.options.as_primary {
            return self.ask_standing(self.election_id).await;
        }
        self.ask_standing(None).await
    }

    /// Becomes primary if nobody is, with an election id that nobody had: who is now. What a controller before this
    /// one has sent, and was not carried out yet, is refused from then on.
    pub async fn bid_above(&mut self) -> Result<Standing, Failure> {
        if self.election_id.is_none() && self.options.election_id.is_none() {
            match self.standing().await? {
                Standing::Nobody(highest) => self.options.election_id = Some(highest.unwrap_or(0).saturating_add(1)),
                standing => return Ok(standing),
            }
        }
        self.bid().await.map(|_| Standing::Primary)
    }

    /// Sees to it that writes are taken: what they go out with.
    async fn bid(&mut self) -> Result<Option<Uint128>, Failure> {
        if self.election_id.is_none() {
            self.election_id = Some(self.win().await?);
        }
        Ok(self.election_id.map(uint128))
    }

    async fn win(&mut self) -> Result<u128, Failure> {
        let bid = match self.options.election_id {
            Some(id) => id,
            None => match self.ask_standing(None).await? {
                Standing::Other(id) if self.options.as_primary => return Ok(id),
                Standing::Other(id) => return Err(refused(id)),
                Standing::Primary => 1,
                Standing::Nobody(highest) => highest.unwrap_or(1).max(1),
            },
        };
        match self.ask_standing(Some(bid)).await? {
            Standing::Primary => Ok(bid),
            Standing::Other(id) => Err(refused(id)),
            Standing::Nobody(highest) => {
                let highest = highest.map_or_else(String::new, |id| format!(": there has been {id}"));
                Err(Problem::new(format!("the switch makes nobody primary with election id {bid}{highest}")).into())
            }
        }
    }

    /// Lets others be primary, until the next write.
    pub async fn release(&mut self) -> Result<(), Failure> {
        if self.election_id.take().is_some() && !self.options.as_primary {
            self.ask_standing(None).await?;
        }
        Ok(())
    }

    async fn stream(&mut self) -> Result<&mut Stream, Failure> {
        if self.stream.is_none() {
            let (sender, outbox) = mpsc::channel(OUTBOX);
            // The switch may answer with nothing before it has heard anything.
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

    /// Bids, or says that we do not, and waits for what the switch says to it.
    async fn ask_standing(&mut self, bid: Option<u128>) -> Result<Standing, Failure> {
        self.pass_over().await;
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
            (_, highest) => Standing::Nobody(highest),
        })
    }

    /// Passes over what the switch has told since the last time, so that old news is no answer.
    async fn pass_over(&mut self) {
        for _ in 0..PASSED_MAX {
            match tokio::time::timeout(Duration::ZERO, self.next_message()).await {
                Ok(Ok(Some(_))) => {}
                _ => return,
            }
        }
    }

    /// The next word of the switch about who is primary; what else it tells meanwhile is passed over, but for faults.
    async fn answer_to_bid(&mut self) -> Result<MasterArbitrationUpdate, Failure> {
        let waiting = async {
            loop {
                match self.next_message().await? {
                    Some(Told::Arbitration(answer)) => return Ok(answer),
                    Some(Told::Error(error)) => return Err(Problem::new(error.message).into()),
                    Some(_) => {}
                    None => return Err(Failure::Connection(Problem::new("the switch has closed the stream"))),
                }
            }
        };
        let late = |_| Failure::Connection(Problem::new("the switch does not answer"));
        tokio::time::timeout(BID_TIMEOUT, waiting).await.map_err(late)?
    }

    /// What the switch tells next; none at the end of the stream.
    pub async fn next_message(&mut self) -> Result<Option<Told>, Failure> {
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
    Failure::Connection(
        Problem::new(format!("the switch at {} cannot be reached: {why}", options.address))
            .with_help("wirespeed run PROGRAM.p4 --port ... --p4runtime starts one; --address names another"),
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
        // What an answer without TLS looks like to TLS.
        let is_plain = reason(&error).contains("InvalidContentType");
        unreachable(match is_plain {
            true => format!("it does not speak TLS: leave --{}ca out", options.tls_prefix),
            false => reason(&error),
        })
    })
}

/// The answer of a command of our own; other switches do not know it: what they lack is said in words.
fn own<T>(lack: &str, answer: Result<Response<T>, Status>) -> Result<T, Failure> {
    match answer {
        Ok(answer) => Ok(answer.into_inner()),
        Err(status) if status.code() == Code::Unimplemented => {
            Err(Problem::new(format!("this switch {lack}: it is no Wirespeed, or an older one")).into())
        }
        Err(status) => Err(status.into()),
    }
}

/// Why another controller keeps us from writing.
fn refused(id: u128) -> Failure {
    Problem::new(format!("a controller with election id {id} is primary, and only the primary may write"))
        .with_help(format!(
            "--as-primary writes in its name; --election-id {} takes its place, and it must bid more to come back",
            id.saturating_add(1)
        ))
        .into()
}

/// Which program runs: its file as the switch names it, and what its `@pkginfo` says.
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

/// What an error of the transport comes from: its own words say only that there was one.
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
