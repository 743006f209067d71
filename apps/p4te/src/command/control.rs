//! `wirespeed p4te control`: a controller for each switch of a topology.
//!
//! What enters: a topology, the addresses of its switches. What leaves: lines about switches that are found and lost,
//! until it is interrupted. A switch that is lost is looked for again, and gets all its orders anew.

use super::places::places;
use super::requests;
use crate::priorities::{Metric, Priorities};
use crate::settings::{RANGES, Settings};
use clap::Args;
use command_line::Exit;
use command_line::terminal::{self, say};
use control::Problem;
use controller::{Running, writing};
use ctl::session::Standing;
use ctl::{Failure, Options, Schema, Session};
use net::Topology;
use p4runtime_proto::p4::v1::Update;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use std::path::PathBuf;
use std::time::Duration;
use te::{Match, Order, Place};
use tokio::signal::unix::{SignalKind, signal};

/// The delay before a connection is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// The CPU port of v1model, if the topology names none.
const CPU_PORT: u32 = 510;

/// What is controlled, and the parameters.
#[derive(Args, Debug, Clone)]
#[command(after_help = super::EXAMPLES)]
pub struct ControlArguments {
    /// The topology, as `wirespeed net` reads it
    topology: PathBuf,
    /// The port of the first switch's P4Runtime server on 127.0.0.1; the others follow
    #[arg(long, value_name = "PORT", default_value_t = 50_051)]
    p4runtime: u16,
    /// Control only this switch; may be repeated
    #[arg(long, value_name = "SWITCH")]
    pub only: Vec<String>,
    /// Δ: how much longer or shorter a queue is when it is reported, in packets
    #[arg(long, value_name = "PACKETS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    delta: u32,
    /// The pause after which a flow may take another path, in microseconds
    #[arg(long, value_name = "US", default_value_t = 500)]
    flowlet: u64,
    /// B: the rate of a flow is changed at most once in this many bytes; 0 for never
    #[arg(long, value_name = "BYTES", default_value_t = 65_536)]
    control_window: u32,
    /// Mark packets that find at least this many in a queue
    #[arg(long, value_name = "PACKETS")]
    mark_from: Option<u32>,
}

/// A switch to control.
#[derive(Clone)]
struct Subject {
    name: String,
    options: Options,
    place: Place,
    settings: Settings,
    cpu_port: u32,
}

/// Runs until it is interrupted.
pub fn control(arguments: &ControlArguments) -> Result<Exit, Exit> {
    let subjects = arguments.subjects(None)?;
    let cannot = |error: std::io::Error| {
        terminal::error(format_args!("the controller cannot start: {error}"));
        Exit::System
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    runtime.block_on(async {
        let mut ended = signal(SignalKind::terminate()).map_err(cannot)?;
        let tasks: Vec<_> = subjects.into_iter().map(|subject| tokio::spawn(keep(subject))).collect();
        tokio::select! {
            _interrupted = tokio::signal::ctrl_c() => {}
            _terminated = ended.recv() => {}
        }
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(Exit::Success)
    })
}

/// The controller of the only switch, within it.
pub fn control_within(arguments: &ControlArguments, here: &Options) -> Result<Running, Exit> {
    let mut subjects = arguments.subjects(Some(here))?;
    let subject = subjects.pop().ok_or(Exit::Usage)?;
    Ok(Box::pin(keep(subject)))
}

impl ControlArguments {
    fn settings(&self) -> Settings {
        Settings {
            delta: self.delta,
            flowlet_us: self.flowlet,
            control_window: self.control_window,
            mark_from: self.mark_from,
            burst_us: 1_000,
            ..Settings::default()
        }
    }

    fn subjects(&self, here: Option<&Options>) -> Result<Vec<Subject>, Exit> {
        let wrong = |message: String| {
            terminal::error(message);
            Exit::BadInput
        };
        let shown = self.topology.display();
        let text = std::fs::read_to_string(&self.topology).map_err(|it| wrong(format!("{shown}: {it}")))?;
        let topology = Topology::parse(&text).map_err(|faults| {
            let lines = faults.iter().map(|fault| format!("{shown}:{}: {}", fault.line, fault.message));
            wrong(lines.collect::<Vec<_>>().join("\n"))
        })?;
        if let Some(name) = self.only.iter().find(|name| topology.switches.iter().all(|it| it.name != **name)) {
            return Err(wrong(format!("{shown} has no switch `{name}`")));
        }
        let mut subjects = Vec::new();
        for (index, (switch, place)) in topology.switches.iter().zip(places(&topology)).enumerate() {
            if !self.only.is_empty() && !self.only.contains(&switch.name) {
                continue;
            }
            let address = format!("127.0.0.1:{}", usize::from(self.p4runtime) + index);
            let options = Options { address, device_id: index as u64, ..Options::default() };
            subjects.push(Subject {
                name: switch.name.clone(),
                options: here.cloned().unwrap_or(options),
                place,
                settings: self.settings(),
                cpu_port: switch.cpu_port.unwrap_or(CPU_PORT),
            });
        }
        Ok(subjects)
    }
}

/// Keeps controlling a switch.
async fn keep(subject: Subject) {
    let mut last = String::new();
    loop {
        let ended = serve(&subject).await.err().map(|failure| failure.to_string()).unwrap_or_default();
        if ended != last {
            terminal::warning(format_args!("{}: {ended}", subject.name));
            last = ended;
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Controls a switch until the connection ends.
async fn serve(subject: &Subject) -> Result<(), Failure> {
    let mut session = Session::connect(subject.options.clone()).await?;
    if let Standing::Other(id) = session.bid_above().await? {
        let message = format!("another controller is primary, with election id {id}; this one waits for its end");
        return Err(Problem::new(message).into());
    }
    let program = session.schema().await?;
    let (mut priorities, orders) = crate::set_up(&subject.place, &subject.settings, subject.cpu_port);
    write(&mut session, &program, &orders).await?;
    write(&mut session, &program, &leftovers(&subject.place)).await?;
    say!("{}: configured, {} orders", subject.name, orders.len());
    loop {
        match session.next_message().await? {
            None => return Err(Failure::Connection(Problem::new("the switch has closed the stream"))),
            Some(StreamUpdate::Packet(packet)) => {
                let Some(report) = requests::report(&packet) else { continue };
                let orders = priorities.report(&report);
                write(&mut session, &program, &orders).await?;
                log_move(&subject.name, &priorities, &report, !orders.is_empty());
            }
            Some(StreamUpdate::Arbitration(it)) if it.status.as_ref().is_some_and(|status| status.code != 0) => {
                return Err(Problem::new("another controller has become primary").into());
            }
            Some(_) => {}
        }
    }
}

/// Logs a port that has moved.
fn log_move(name: &str, priorities: &Priorities, report: &crate::Report, has_moved: bool) {
    if has_moved {
        let group = |metric| priorities.group(metric, report.port).map_or(0, |group| group + 1);
        let (queue, utilisation) = (group(Metric::Queue), group(Metric::Utilisation));
        tracing::debug!(switch = name, port = report.port, queue, utilisation, "a port has other priorities");
    }
}

/// Entries of routing groups that an earlier controller may have left: those of groups that are empty now.
fn leftovers(place: &Place) -> Vec<Order> {
    let groups = [(Metric::Queue, RANGES), (Metric::Utilisation, crate::settings::COLOURS)];
    let of_metric = |(metric, count): (Metric, u32)| (2..=count).map(move |group| (metric, group, (count + 1 - group)));
    let routes = groups.into_iter().flat_map(of_metric).flat_map(|(metric, group, priority)| {
        place.common.iter().map(move |prefix| Order::Route {
            table: metric.table(),
            key: Match::Masked(prefix.address, prefix.bits),
            priority: priority as i32,
            group,
            is_new: false,
        })
    });
    if place.up().next().is_none() { Vec::new() } else { routes.collect() }
}

/// Carries orders out. What is there already is changed: a controller that comes back finds its entries.
async fn write(session: &mut Session, program: &Schema, orders: &[Order]) -> Result<(), Failure> {
    let refused = writing::write(session, updates(program, orders)?).await?;
    refused.into_iter().next().map_or(Ok(()), |(_, problem)| Err(problem.into()))
}

fn updates(program: &Schema, orders: &[Order]) -> Result<Vec<Update>, Failure> {
    let made: Result<Vec<Update>, Problem> = orders.iter().map(|order| requests::update(program, order)).collect();
    made.map_err(Failure::from)
}
