//! The server: its addresses, certificates and threads.

use crate::admission::{self, Admission, Pool};
use crate::connections;
use crate::feed::{self, Feed};
use crate::idle;
use crate::kept;
use crate::pipelines::{Compiler, Pipeline, Pipelines, Started};
use crate::ports::Ports;
use crate::schema::Schema;
use crate::service::Core;
use crate::services::Services;
use crate::tasks;
use control::Api;
use p4info::Mismatch;
use p4runtime_proto::near::Near;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use switch::{CpuPort, Switch};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, oneshot};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// The most bytes of a request.
pub const REQUEST_BYTES_MAX: usize = 64 << 20;

/// The most concurrent requests of a connection; others wait.
const REQUESTS_MAX: u32 = 64;

/// The interval after which an idle connection is probed, and the timeout of the probe.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The name of the threads.
const THREAD: &str = "p4runtime";

/// The most packets of controllers that wait for the worker.
const PACKETS_OUT_MAX: usize = 256;

/// The settings of a server.
pub struct Options {
    /// The address to listen on. Port 0 means any free port.
    pub address: SocketAddr,
    /// Another address with the same services.
    pub further: Option<SocketAddr>,
    /// The device id of the switch.
    pub device_id: u64,
    /// The ports of the switch.
    pub ports: Ports,
    /// Certificates; `None` for connections without TLS.
    pub tls: Option<Tls>,
    /// The time limit for compiling a program.
    pub compile_time_max: Duration,
}

/// Certificates, in PEM.
pub struct Tls {
    /// The server's own.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// The authority for certificates of clients; `None` if clients need no certificate.
    pub client_ca: Option<Vec<u8>>,
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// It cannot listen on the address.
    Listen(SocketAddr, io::Error),
    /// The system refused a thread or similar.
    System(io::Error),
    /// The certificates are not usable.
    Tls(String),
    /// The P4Info of the program that the switch was started with.
    Info(Mismatch),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            StartError::System(error) => write!(f, "cannot start the P4Runtime server: {error}"),
            StartError::Tls(error) => write!(f, "the certificates cannot be used: {error}"),
            StartError::Info(error) => write!(f, "the P4Info of the program has errors: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A server that runs in threads of its own. It ends when it is dropped.
///
/// One thread serves all connections: passing a request to another thread takes longer than most requests do. Work
/// that takes long is done in other threads.
pub struct Server {
    address: SocketAddr,
    near: Near,
    tasks: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server for the control plane of a switch, and returns the worker's end of the feed of packets and
    /// digests. `started` is the program that the switch runs already, if controllers may see it.
    pub fn start(
        api: Arc<Api>,
        compiler: Arc<dyn Compiler>,
        started: Option<Started>,
        options: Options,
    ) -> Result<(Server, Feed), StartError> {
        let program = api.program();
        let pipelines = match started {
            None => Pipelines::default(),
            Some(started) => {
                let Started { config } = started;
                let info = config.p4info.clone().unwrap_or_default();
                let schema = Schema::new(info, Arc::clone(&program), options.ports.clone());
                let schema = Arc::new(schema.map_err(StartError::Info)?);
                let target = Pipeline { schema, api: Arc::clone(&api), config, numbered: Mutex::default() };
                kept::read_notes(&api.notes(), &target.schema.translator, &mut target.numbered());
                Pipelines::running(target)
            }
        };
        let builder = builder(options.tls.as_ref())?;
        let mut of_thread = tokio::runtime::Builder::new_current_thread();
        let runtime = of_thread.thread_name(THREAD).enable_all().build().map_err(StartError::System)?;
        let mut listeners = Vec::new();
        for address in std::iter::once(options.address).chain(options.further) {
            let bound = runtime.block_on(tokio::net::TcpListener::bind(address));
            listeners.push(bound.map_err(|error| StartError::Listen(address, error))?);
        }
        let address = listeners[0].local_addr().map_err(|error| StartError::Listen(options.address, error))?;
        let (packets_out, packets) = mpsc::channel(PACKETS_OUT_MAX);
        pass_packets_on(Arc::clone(&api), options.ports.cpu(), packets).map_err(StartError::System)?;
        let core = Arc::new(Core::new(
            options.device_id,
            api,
            compiler,
            options.compile_time_max,
            options.ports,
            packets_out,
            pipelines,
        ));
        let (feed, fed) = feed::feed(program, &core);
        let _entered = runtime.enter();
        tasks::spawn(feed::distribute(Arc::clone(&core), fed));
        tasks::spawn(idle::watch(Arc::clone(&core)));
        let pool = Arc::<Pool>::default();
        tasks::spawn(admission::tidy(Arc::clone(&pool)));
        let services = Admission::new(Services::of(&core), pool);
        let near = Near::of(services.clone());
        for listener in listeners {
            let (builder, services) = (builder.clone(), services.clone());
            let incoming = connections::incoming(listener, options.tls.is_some());
            tasks::spawn(async move {
                if let Err(error) = builder.serve_with_incoming(services, incoming).await {
                    tracing::error!("the P4Runtime server has ended: {error}");
                }
            });
        }
        drop(_entered);
        let (tasks, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel());
        let thread = run(runtime, stopped).map_err(StartError::System)?;
        Ok((Server { address, near, tasks, stop: Some(stop), thread: Some(thread) }, feed))
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Direct access to the same service for a controller in this process, without a connection.
    pub fn near(&self) -> Near {
        self.near.clone()
    }

    /// Runs a controller of this process in the server's thread, until the server ends.
    pub fn spawn(&self, controller: impl Future<Output = ()> + Send + 'static) {
        tasks::spawn_on(&self.tasks, controller);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        // One that has panicked has ended, too.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// The thread of all connections, until it is stopped.
fn run(runtime: Runtime, stopped: oneshot::Receiver<()>) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
        // Nothing is sent: the owner that could stop it is gone.
        let _gone = runtime.block_on(stopped);
        // It does not wait for a program that is being compiled.
        runtime.shutdown_timeout(Duration::from_millis(200));
    })
}

fn builder(tls: Option<&Tls>) -> Result<tonic::transport::Server, StartError> {
    let builder = tonic::transport::Server::builder()
        .max_concurrent_streams(REQUESTS_MAX)
        .http2_keepalive_interval(Some(SILENCE_MAX))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT));
    let Some(tls) = tls else { return Ok(builder) };
    let mut config = ServerTlsConfig::new().identity(Identity::from_pem(&tls.certificate, &tls.key));
    if let Some(ca) = &tls.client_ca {
        config = config.client_ca_root(Certificate::from_pem(ca));
    }
    builder.tls_config(config).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        StartError::Tls(source.unwrap_or_else(|| error.to_string()))
    })
}

/// Starts a thread that passes packets of controllers to the switch, in their order. It ends when all senders are
/// dropped.
fn pass_packets_on(
    api: Arc<Api>,
    cpu_port: CpuPort,
    mut packets: mpsc::Receiver<Vec<u8>>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("packet-out".to_owned()).spawn(move || {
        while let Some(frame) = packets.blocking_recv() {
            let job = move |switch: &mut Switch| {
                if let Some(port) = cpu_port.of(switch.program().architecture) {
                    switch.receive(switch.now_ns(), port, &frame);
                }
            };
            if api.command_queue().send(Box::new(job)).is_err() {
                return;
            }
        }
    })
}
