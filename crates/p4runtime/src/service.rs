//! The requests of the service.
//!
//! Each request is checked in the order that the specification gives: the device, the role and primary controller,
//! whether there is a program, the contents. Work that takes long or waits for the worker is done in separate
//! threads; a write of a few entries is done in the thread that received it, since passing it to another thread would
//! take several times as long. Writes and changes of the program are serialised in the order of their arrival, and a
//! read is either before or after each of them.

use crate::agreement;
use crate::answer::{AnswerPool, AnswerWriter, COLLECTING_TIME_MAX, Holder, READ_TIMEOUTS};
use crate::arbitration::{Arbitration, DISPLACED, RoleName, SessionId, describe, election_id};
use crate::carry::{self, Carried, carry};
use crate::collect::{self, Collection};
use crate::connections::{Client, client_of};
use crate::device_config::{self, DeviceConfig};
use crate::digest_lists::DigestLists;
use crate::feed::{Loss, Losses};
use crate::outbox::Outbox;
use crate::pipelines::{CompileDeadline, Compiled, Compiler, Pipeline, Pipelines, Prepared};
use crate::ports::Ports;
use crate::reconcile::TakenOver;
use crate::schema::Schema;
use crate::tasks::{self, blocking};
use crate::turns::{Reads, Turn};
use crate::watchers::Watchers;
use crate::{kept, reconcile, status, stream, write};
use base::OrderedMap;
use control::Api;
use control::api::{Atomicity, Code as FaultCode, Fault};
use p4runtime_proto::codec::BUDGET;
use p4runtime_proto::p4::v1::{self, p4_runtime_server::P4Runtime};
use p4runtime_proto::{GONE_HEADER, encoded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedRwLockWriteGuard, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

/// The version of the interface.
const API_VERSION: &str = "1.5.0";

/// The error for a request whose work has panicked.
pub(crate) const BUG: &str = "the request met a bug of the switch";

/// The most concurrent snapshots and taps.
const INSPECTIONS_MAX: usize = 8;

/// State that all requests share.
pub(crate) struct Core {
    pub device_id: u64,
    pub api: Arc<Api>,
    pub compiler: Arc<dyn Compiler>,
    pub compile_time_max: Duration,
    pub ports: Ports,
    pub packets_out: mpsc::Sender<Vec<u8>>,
    pipelines: Mutex<Pipelines>,
    /// Held exclusively during a write or a change of the program, and shared while a read looks at what these change.
    pub turn: Turn,
    /// Held while a program is compiled.
    compiling: Arc<Semaphore>,
    pub reads: Reads,
    answers: Arc<AnswerPool>,
    hub: Mutex<Hub>,
    /// Wakes tasks that wait for a controller's stream to end.
    pub left: Notify,
    digests: Mutex<DigestLists>,
    /// Counters of events that reached no controller.
    pub losses: Losses,
    /// The watchers.
    pub watchers: Watchers,
    /// Concurrent snapshots and taps.
    pub inspecting: Arc<Semaphore>,
}

/// The controllers and the queue of each.
#[derive(Default)]
pub(crate) struct Hub {
    pub arbitration: Arbitration,
    pub sessions: OrderedMap<SessionId, Outbox>,
    /// The connections of those that have bid.
    pub clients: OrderedMap<SessionId, Client>,
    pub last_session: u64,
}

impl Hub {
    /// Ends the stream of another controller, where that makes room for this bid ([`Arbitration::displace`]).
    pub fn make_room(&mut self, role: &RoleName, election_id: Option<u128>) -> bool {
        let Hub { arbitration, sessions, clients, .. } = self;
        let reads = |session| sessions.get(&session).is_none_or(|outbox: &Outbox| !outbox.has_unread());
        let Some(displaced) = arbitration.displace(role, election_id, reads) else { return false };
        if let Some(outbox) = sessions.remove(&displaced) {
            outbox.cut_off(Status::resource_exhausted(DISPLACED));
        }
        clients.remove(&displaced);
        if election_id.is_some() {
            tracing::warn!("too many controllers: a backup has been disconnected to make room for a primary");
        }
        true
    }

    /// Records for each connection whether a primary controller uses it.
    pub fn mark_primaries(&self) {
        self.clients.values().for_each(|client| client.set_primary(false));
        let primaries = self.arbitration.primaries();
        let clients = primaries.iter().filter_map(|(session, _)| self.clients.get(session));
        clients.for_each(|client| client.set_primary(true));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change of the guarded state is complete, so a panic leaves it consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    #[allow(clippy::too_many_arguments, reason = "each is another thing, and it is called once")]
    pub fn new(
        device_id: u64,
        api: Arc<Api>,
        compiler: Arc<dyn Compiler>,
        compile_time_max: Duration,
        ports: Ports,
        packets_out: mpsc::Sender<Vec<u8>>,
        pipelines: Pipelines,
    ) -> Core {
        Core {
            device_id,
            api,
            compiler,
            compile_time_max,
            ports,
            packets_out,
            pipelines: Mutex::new(pipelines),
            turn: Turn::default(),
            compiling: Arc::new(Semaphore::new(1)),
            reads: Reads::default(),
            answers: Arc::default(),
            hub: Mutex::default(),
            left: Notify::new(),
            digests: Mutex::default(),
            losses: Losses::default(),
            watchers: Watchers::default(),
            inspecting: Arc::new(Semaphore::new(INSPECTIONS_MAX)),
        }
    }

    pub fn pipelines(&self) -> MutexGuard<'_, Pipelines> {
        lock(&self.pipelines)
    }

    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        lock(&self.hub)
    }

    pub fn digests(&self) -> MutexGuard<'_, DigestLists> {
        lock(&self.digests)
    }

    pub fn check_device(&self, device_id: u64) -> Result<(), Status> {
        match device_id == self.device_id {
            true => Ok(()),
            false => {
                let own = self.device_id;
                Err(Status::not_found(format!("there is no device {device_id}: this is device {own}")))
            }
        }
    }

    fn check_primary(&self, role: &RoleName, election_id: Option<u128>) -> Result<(), Fault> {
        let hub = self.hub();
        if !hub.arbitration.knows(role) {
            return Err(Fault::new(FaultCode::NotFound, format!("there is no controller of {}", describe(role))));
        }
        if hub.arbitration.is_primary(role, election_id) {
            return Ok(());
        }
        let (highest, has_primary) = hub.arbitration.highest(role);
        let sent = election_id.map_or("none".to_owned(), |id| id.to_string());
        let why = match (highest, has_primary) {
            (None, _) => "no controller has bid for it".to_owned(),
            (Some(highest), true) => format!("its primary controller has election id {highest}"),
            (Some(highest), false) => format!("its primary controller, of election id {highest}, has left"),
        };
        let message = format!("election id {sent} is not that of the primary of {}: {why}", describe(role));
        Err(Fault::new(FaultCode::PermissionDenied, message))
    }

    pub fn target(&self) -> Result<Arc<Pipeline>, Status> {
        self.pipelines().target().ok_or_else(|| {
            Status::failed_precondition("there is no program yet: set a forwarding pipeline config first")
        })
    }
}

/// The result of work in this thread, which does not block and ends before another thread would have woken up.
fn at_once<T>(work: impl FnOnce() -> T) -> Result<T, Status> {
    // A panic has the same effect as if it had ended a thread of its own.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Status::internal(BUG))
}

/// A turn, once it comes.
pub(crate) async fn permit(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Status> {
    Arc::clone(semaphore).acquire_owned().await.map_err(|_| Status::unavailable("the switch is ending"))
}

pub(crate) fn role_name(name: &str, id: u64) -> RoleName {
    RoleName { name: name.to_owned(), id: if name.is_empty() { id } else { 0 } }
}

/// The service.
#[derive(Clone)]
pub(crate) struct Service(pub Arc<Core>);

type Answer<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = Answer<encoded::ReadResponse>;
    type StreamChannelStream = Answer<v1::StreamMessageResponse>;

    async fn write(&self, request: Request<encoded::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let role = role_name(&request.role, request.role_id);
        let election_id = election_id(request.election_id.as_ref());
        // A client that may not write does not wait for those that do.
        core.check_primary(&role, election_id).map_err(status::of)?;
        let turn = core.turn.write().await;
        core.check_primary(&role, election_id).map_err(status::of)?;
        let target = core.target()?;
        let atomicity = match v1::write_request::Atomicity::try_from(request.atomicity) {
            Ok(v1::write_request::Atomicity::ContinueOnError) => Atomicity::ContinueOnError,
            Ok(v1::write_request::Atomicity::RollbackOnError) => Atomicity::RollbackOnError,
            Ok(v1::write_request::Atomicity::DataplaneAtomic) => Atomicity::DataplaneAtomic,
            Err(_) => return Err(Status::invalid_argument(format!("there is no atomicity {}", request.atomicity))),
        };
        let limits = core.hub().arbitration.config(&role).map(|config| (describe(&role), config));
        let budget = BUDGET.try_with(Arc::clone).ok();
        // The turn is held to the end, though the client may have gone.
        let is_short = write::is_short(&target.schema, &request.updates) && target.api.is_at_hand();
        let write = move || write::carry_out(&target, request.updates, atomicity, limits, turn, budget);
        let outcomes = if is_short { at_once(write)?? } else { blocking(write).await?? };
        tracing::debug!(updates = outcomes.parts(), refused = outcomes.failed(), "a controller has written");
        outcomes.into_result("update")?;
        Ok(Response::new(v1::WriteResponse {}))
    }

    async fn read(&self, request: Request<v1::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let client = client_of(request.extensions());
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        // A client first waits for its own requests, and then takes one of the turns of all clients.
        let unread = permit(&client.shares().unread).await?;
        let is_short = collect::is_short(core, &request.entities).await?;
        let reading = core.reads.begin(&client, is_short).await?;
        let turn = core.turn.read().await;
        core.target()?;
        let holder = Holder { pool: Arc::clone(&core.answers), client };
        let (answer, messages) = AnswerWriter::new(holder, COLLECTING_TIME_MAX, READ_TIMEOUTS);
        let collection = Collection::new(request, is_short, answer);
        tasks::spawn(collect::run(Arc::clone(core), collection, turn, reading, unread));
        Ok(Response::new(Box::pin(messages)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<v1::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::SetForwardingPipelineConfigResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let role = role_name(&request.role, request.role_id);
        let election_id = election_id(request.election_id.as_ref());
        core.check_primary(&role, election_id).map_err(status::of)?;
        if core.hub().arbitration.config(&role).is_some_and(|config| !config.can_push_pipeline) {
            return Err(Status::permission_denied(format!("{} is not allowed to set programs", describe(&role))));
        }
        let gone = set_config(core, request, &role, election_id).await?;
        let mut answer = Response::new(v1::SetForwardingPipelineConfigResponse {});
        // Names of a program are plain text, with rare exceptions.
        if let (false, Ok(gone)) = (gone.is_empty(), gone.join("; ").parse()) {
            answer.metadata_mut().insert(GONE_HEADER, gone);
        }
        Ok(answer)
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<v1::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::GetForwardingPipelineConfigResponse>, Status> {
        use v1::get_forwarding_pipeline_config_request::ResponseType;
        let request = request.into_inner();
        self.0.check_device(request.device_id)?;
        // The program that reads and writes refer to: a client that reads its ids must be able to use them.
        let target = self.0.pipelines().target();
        let Ok(wanted) = ResponseType::try_from(request.response_type) else {
            return Err(Status::invalid_argument(format!("there is no response type {}", request.response_type)));
        };
        let config = target.map(|target| {
            let all = &target.config;
            let (with_info, with_config) = match wanted {
                ResponseType::All => (true, true),
                ResponseType::CookieOnly => (false, false),
                ResponseType::P4infoAndCookie => (true, false),
                ResponseType::DeviceConfigAndCookie => (false, true),
            };
            v1::ForwardingPipelineConfig {
                p4info: if with_info { all.p4info.clone() } else { None },
                p4_device_config: if with_config { all.p4_device_config.clone() } else { Vec::new() },
                cookie: all.cookie,
            }
        });
        Ok(Response::new(v1::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<v1::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let client = client_of(request.extensions());
        let outgoing = stream::open(Arc::clone(&self.0), client, request.into_inner());
        Ok(Response::new(Box::pin(outgoing)))
    }

    async fn capabilities(
        &self,
        request: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        // Clients from before 1.5 name none, which is 0.
        let device_id = request.into_inner().device_id;
        if device_id != 0 {
            self.0.check_device(device_id)?;
        }
        let p4runtime_api_version = API_VERSION.to_owned();
        Ok(Response::new(v1::CapabilitiesResponse { p4runtime_api_version, experimental: None }))
    }
}

// ------------------------------------------------------------------------------------------------------- programs

/// Sets a program. Returns descriptions of the state that was lost though it was to be kept.
async fn set_config(
    core: &Arc<Core>,
    request: v1::SetForwardingPipelineConfigRequest,
    role: &RoleName,
    election_id: Option<u128>,
) -> Result<Vec<String>, Status> {
    use v1::set_forwarding_pipeline_config_request::Action;
    let unknown = |_| Status::invalid_argument(format!("there is no action {}", request.action));
    let action = Action::try_from(request.action).map_err(unknown)?;
    if action == Action::Unspecified {
        return Err(Status::invalid_argument("the action is missing: it must say what to do with the config"));
    }
    let prepared = match (action, request.config) {
        (Action::Commit, Some(_)) => {
            return Err(Status::invalid_argument("COMMIT runs the saved config: it must not contain another"));
        }
        (Action::Commit, None) => None,
        (_, None) => return Err(Status::invalid_argument("the config is missing")),
        (_, Some(config)) => Some(prepare(core, config).await?),
    };
    let turn = core.turn.write().await;
    // Another controller may have become primary while the program was compiled.
    core.check_primary(role, election_id).map_err(status::of)?;
    let mut gone = Vec::new();
    match (action, prepared) {
        (Action::VerifyAndSave, Some(prepared)) => core.pipelines().save(prepared),
        (Action::Commit, _) => {
            let Some(saved) = core.pipelines().take_saved() else {
                return Err(Status::not_found("no config was saved: VERIFY_AND_SAVE must come before COMMIT"));
            };
            gone = commit(core, saved, false, turn).await?;
        }
        (Action::VerifyAndCommit | Action::ReconcileAndCommit, Some(prepared)) => {
            gone = commit(core, prepared, action == Action::ReconcileAndCommit, turn).await?;
            // The config that was saved last is the one that runs.
            core.pipelines().take_saved();
        }
        _ => {}
    }
    Ok(gone)
}

/// Compiles the config to a switch. When the client goes away or its time is over, the work is abandoned.
async fn prepare(core: &Arc<Core>, config: v1::ForwardingPipelineConfig) -> Result<Prepared, Status> {
    let deadline = CompileDeadline::new(core.compile_time_max);
    let _waiting = deadline.waiting();
    let until = deadline.end().into();
    let too_slow = || status::of(deadline.too_slow());
    let permit = tokio::time::timeout_at(until, Arc::clone(&core.compiling).acquire_owned()).await;
    let permit = permit.map_err(|_| too_slow())?.map_err(|_| Status::unavailable("the switch is ending"))?;
    let (there, lasting) = (Arc::clone(core), deadline.clone());
    let work = blocking(move || {
        // Released when the work is done, even if the client has gone.
        let _permit = permit;
        make_ready(&there, config, &lasting)
    });
    match tokio::time::timeout_at(until, work).await {
        Ok(prepared) => prepared?.map_err(status::of),
        Err(_) => Err(too_slow()),
    }
}

fn make_ready(
    core: &Core,
    mut config: v1::ForwardingPipelineConfig,
    deadline: &CompileDeadline,
) -> Result<Prepared, Fault> {
    let compiled = base::stack::with_deep_stack(|| compile(core, &config, deadline))?;
    core.api.admit(&compiled.switch)?;
    // A client that sends none gets the program's own.
    let info = config.p4info.get_or_insert_with(|| compiled.info.clone()).clone();
    let program = Arc::clone(compiled.switch.program());
    let refused = |why: String| Fault::invalid(format!("the P4Info is not that of the program: {why}"));
    if let Some(why) = agreement::emptiness(&info, &compiled.info) {
        return Err(refused(why));
    }
    let schema = Schema::new(info, program, core.ports.clone()).map_err(|mismatch| refused(mismatch.to_string()))?;
    let mut note = compiled.note;
    if let (Some(name), Some(note)) = (control::device_config::name(&config.p4_device_config), note.as_object_mut()) {
        note.insert(kept::NAME_OF_PROGRAM.to_owned(), name.into());
    }
    Ok(Prepared::new(compiled.switch, schema, config, &note))
}

fn compile(core: &Core, config: &v1::ForwardingPipelineConfig, deadline: &CompileDeadline) -> Result<Compiled, Fault> {
    let known_by = match device_config::read(&config.p4_device_config)? {
        DeviceConfig::Text(text) => return core.compiler.compile(&text, deadline),
        DeviceConfig::Known(known_by) => known_by,
    };
    let what = known_by.describe();
    let Some(compiled) = core.compiler.compile_started() else {
        return Err(Fault::invalid(format!(
            "the device config is {what}: send the text of the program, or start the switch with the program"
        )));
    };
    let compiled = compiled?;
    if let Some(difference) = config.p4info.as_ref().and_then(|sent| agreement::difference(sent, &compiled.info)) {
        return Err(Fault::invalid(format!(
            "the device config is {what}, and the P4Info is not that of the program that the switch was started with: \
             {difference}"
        )));
    }
    tracing::info!("the device config is {what}: the P4Info is that of the program that the switch was started with");
    Ok(compiled)
}

/// Installs a program that is ready.
async fn commit(
    core: &Arc<Core>,
    prepared: Prepared,
    keeps_state: bool,
    turn: OwnedRwLockWriteGuard<()>,
) -> Result<Vec<String>, Status> {
    let there = Arc::clone(core);
    blocking(move || {
        let _turn = turn;
        put_in(&there, &prepared, keeps_state)
    })
    .await?
    .map_err(status::of)
}

/// Returns descriptions of lost counters.
fn put_in(core: &Core, prepared: &Prepared, keeps_state: bool) -> Result<Vec<String>, Fault> {
    let keeps = keeps_state && core.pipelines().current().is_some();
    let taken = if keeps { Some(take_over(core, prepared)?) } else { None };
    let live = prepared.target.behind(Arc::clone(&core.api));
    let Some(switch) = prepared.parked.take() else {
        return Err(Fault::new(FaultCode::Aborted, "the program is no longer there"));
    };
    core.pipelines().announce(Arc::new(live));
    let bring_over = move |old: &mut switch::Switch, new: &mut switch::Switch| {
        let Some(TakenOver { entries, gone, .. }) = taken else { return Ok((Vec::new(), Carried::default())) };
        Ok((gone, carry(old, new, &entries)?))
    };
    let put = core.api.adopt(&prepared.target.api, switch, bring_over, prepared.note.clone());
    let put = put.map(|(gone, carried)| [gone, carried.into_gone()].concat());
    let program = &prepared.target.schema.program;
    let runs = Arc::ptr_eq(&core.api.program(), program);
    core.pipelines().confirm(runs);
    match &put {
        Ok(gone) => {
            let (tables, architecture) = (program.tables.len(), program.architecture.name);
            let name = kept::program_name(&prepared.note);
            tracing::info!(program = name, tables, architecture, "a controller's program runs");
            gone.iter().for_each(|gone| tracing::warn!("lost with the previous program: {gone}"));
        }
        Err(fault) => tracing::warn!("a controller's program does not run: {fault}"),
    }
    if runs {
        let waited = core.digests().begin_anew();
        core.losses.add_digests(Loss::Replaced, waited);
    }
    put
}

fn take_over(core: &Core, prepared: &Prepared) -> Result<TakenOver, Fault> {
    let target = &prepared.target;
    let taken = reconcile::take_over(&core.api, &target.api)
        .inspect_err(|fault| tracing::warn!("a controller's program is refused: {fault}"))?;
    let notes = core.api.notes();
    kept::read_notes(&notes, &target.schema.translator, &mut target.numbered());
    target.api.keep_notes(notes)?;
    carry::prepare(&core.api, &target.api)?;
    tracing::info!("the new program takes {} entities over", taken.kept);
    Ok(taken)
}
