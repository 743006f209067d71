//! The second service: commands of `simple_switch_CLI`, workers, timers of ports, the memory of tables, and watching
//! without being a controller, which P4Runtime cannot express. Requests that trace packets outside of the switch are
//! in `inspect`.
//!
//! As in the reference switch, this service does not depend on a primary controller: every client may use it.

use crate::inspect::{self, SnapshotParts, TapPackets};
use crate::outbox::Outgoing;
use crate::service::Core;
use crate::status;
use crate::tasks::blocking;
use p4runtime_proto::wirespeed::v1::commands_server::Commands;
use p4runtime_proto::wirespeed::v1::{
    AboutRequest, AboutResponse, PortTimer, RunRequest, RunResponse, SizesRequest, SizesResponse, SnapshotRequest,
    TableSize, TapRequest, TimerChange, TimersRequest, TimersResponse, WatchRequest, WorkerLoad, WorkersRequest,
    WorkersResponse, workers_request,
};
use std::sync::Arc;
use std::time::Duration;
use switch::CommandQueue;
use switch::timers::Timer;
use switch::workers::{Wanted, Workers};
use tables::{Table, TableSet};
use tonic::{Request, Response, Status};

/// The service.
#[derive(Clone)]
pub(crate) struct CommandService(pub Arc<Core>);

#[tonic::async_trait]
impl Commands for CommandService {
    type WatchStream = Outgoing;
    type SnapshotStream = SnapshotParts;
    type TapStream = TapPackets;

    async fn run(&self, request: Request<RunRequest>) -> Result<Response<RunResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let turn = core.turn.write().await;
        let api = Arc::clone(&core.api);
        let about = control::switch_cli::About { device_id: core.device_id, ports: core.ports.named() };
        let answer = blocking(move || {
            // Held to the end, though the client may have gone.
            let _turn = turn;
            control::switch_cli::run(&api, &about, &request.line)
        });
        let control::switch_cli::Answer { text, is_error } = answer.await?;
        Ok(Response::new(RunResponse { text, is_error }))
    }

    async fn workers(&self, request: Request<WorkersRequest>) -> Result<Response<WorkersResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let api = Arc::clone(&core.api);
        let answer = blocking(move || {
            let workers = api.workers().ok_or_else(|| Status::unimplemented("the switch has no workers to count"))?;
            match request.wanted {
                None => {}
                Some(workers_request::Wanted::Count(0)) => {
                    return Err(Status::invalid_argument("there is at least one worker"));
                }
                Some(workers_request::Wanted::Count(count)) if count as usize > workers.max() => {
                    let message = format!("{count} workers are more than the {} that there can be", workers.max());
                    return Err(Status::out_of_range(message));
                }
                Some(workers_request::Wanted::Count(count)) => workers.want(Wanted::Fixed(count as usize)),
                Some(workers_request::Wanted::Auto(_)) => workers.want(Wanted::Auto),
            }
            wait_for_workers(&**api.command_queue(), &workers)?;
            if let Some(workers_request::Wanted::Count(count)) = request.wanted {
                check_became(&workers, count as usize)?;
            }
            Ok(shown(&workers))
        });
        answer.await?.map(Response::new)
    }

    async fn sizes(&self, request: Request<SizesRequest>) -> Result<Response<SizesResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let api = Arc::clone(&core.api);
        let answer = blocking(move || {
            let tables = api.command_queue().ask(|switch| switch.shared_tables());
            tables.map(|tables| sizes(&tables.lock())).map_err(|closed| Status::unavailable(closed.to_string()))
        });
        answer.await?.map(Response::new)
    }

    async fn timers(&self, request: Request<TimersRequest>) -> Result<Response<TimersResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let api = Arc::clone(&core.api);
        let answer = blocking(move || {
            let timers = api.timers().ok_or_else(|| Status::unavailable("the switch has no ports yet"))?;
            if let Some(TimerChange { port, period_ns, packets }) = request.change {
                let kept = api.change_timer(port, period_ns, packets);
                // The first job wakes the switch, which looks at its timers after it; the second follows that.
                for _ in 0..2 {
                    api.command_queue().ask(|_| ()).map_err(|closed| Status::unavailable(closed.to_string()))?;
                }
                kept.map_err(status::of)?;
            }
            let shown = |(port, timer): (u32, Arc<Timer>)| port_timer(port, &timer);
            let remark = timers.remark().to_owned();
            Ok(TimersResponse { timers: timers.all().into_iter().map(shown).collect(), remark })
        });
        answer.await?.map(Response::new)
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Outgoing>, Status> {
        self.0.check_device(request.into_inner().device_id)?;
        self.0.watchers.join().map(Response::new)
    }

    async fn about(&self, _request: Request<AboutRequest>) -> Result<Response<AboutResponse>, Status> {
        Ok(Response::new(inspect::about(&self.0)))
    }

    async fn snapshot(&self, request: Request<SnapshotRequest>) -> Result<Response<SnapshotParts>, Status> {
        let request = request.into_inner();
        self.0.check_device(request.device_id)?;
        inspect::snapshot(&self.0, !request.program_only).map(Response::new)
    }

    async fn tap(&self, request: Request<TapRequest>) -> Result<Response<TapPackets>, Status> {
        let request = request.into_inner();
        self.0.check_device(request.device_id)?;
        inspect::tap(&self.0, request).await.map(Response::new)
    }
}

fn port_timer(port: u32, timer: &Timer) -> PortTimer {
    let frames = timer.frames();
    PortTimer {
        port,
        period_ns: timer.period_ns().unwrap_or(0),
        packets: frames.len() as u32,
        bytes: frames.iter().map(|frame| frame.len() as u64).sum(),
        ticks: timer.ticks(),
        missed: timer.missed(),
    }
}

fn sizes(tables: &TableSet) -> SizesResponse {
    let size = |(table, bytes): (&Table, usize)| TableSize {
        name: table.spec().name.clone(),
        entries: table.len() as u64,
        capacity: table.spec().size as u64,
        bytes: bytes as u64,
    };
    SizesResponse { tables: tables.tables().iter().zip(tables.lookup_bytes()).map(size).collect() }
}

/// Waits until there are as many workers as requested: the first worker starts them soon, or has found that it
/// cannot. If no worker runs the switch yet, or any more, the wait is not much longer than that.
fn wait_for_workers(command_queue: &dyn CommandQueue, workers: &Workers) -> Result<(), Status> {
    const LOOKS_MAX: u32 = 200;
    const PAUSE: Duration = Duration::from_millis(5);
    for look in 0..LOOKS_MAX {
        command_queue.ask(|_| ()).map_err(|closed| Status::unavailable(closed.to_string()))?;
        let is_done = match workers.wanted() {
            Wanted::Fixed(count) => workers.now() == count,
            Wanted::Auto => look > 0,
        };
        if is_done {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// An error with the switch's reason if there are not as many workers as requested. The request is then changed to
/// the present number.
fn check_became(workers: &Workers, asked: usize) -> Result<(), Status> {
    let now = workers.now();
    if now == asked {
        return Ok(());
    }
    workers.want(Wanted::Fixed(now));
    let found = if now == 1 { "there is 1 worker".to_owned() } else { format!("there are {now} workers") };
    let remark = workers.remark();
    let why = if remark.is_empty() { "the switch did not do it in time".to_owned() } else { remark };
    Err(Status::failed_precondition(format!("{found}, not {asked}: {why}")))
}

fn shown(workers: &Workers) -> WorkersResponse {
    let load = |worker| {
        let load = workers.load(worker)?.snapshot();
        Some(WorkerLoad { packets: load.packets, busy_ns: load.busy_ns, waited_ns: load.waited_ns })
    };
    WorkersResponse {
        now: workers.now() as u32,
        max: workers.max() as u32,
        is_auto: workers.wanted() == Wanted::Auto,
        remark: workers.remark(),
        code: workers.code(),
        loads: (0..workers.now()).filter_map(load).collect(),
    }
}
