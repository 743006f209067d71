//! Executes plans on a switch.
//!
//! What enters: plans, a session, and a function that receives the output, line by line. Files and terminals belong
//! to the caller.

use crate::failure::Failure;
use crate::grid::grid;
use crate::plan::{Dump, Filter, Load, LoadHow, Plan, Read, Traced, TracedBytes, Watched, after};
use crate::render::{
    commands, default_text, entities_text, entity_json, message_json, message_text, sizes_json, sizes_text,
    timers_json, timers_text, workers_json, workers_text,
};
use crate::schema::Schema;
use crate::session::Session;
use control::Problem;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action as LoadAction;
use p4runtime_proto::p4::v1::write_request::Atomicity;
use p4runtime_proto::p4::v1::{Entity, ForwardingPipelineConfig, Update};
use p4runtime_proto::wirespeed::v1::{TapPacket, TapPattern, TapRequest};
use serde_json::{Map, Value as Json, json};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The environment of a plan: its options, and where its output goes.
pub struct Surroundings<'a> {
    /// Whether the output is lines of JSON rather than text.
    pub json: bool,
    /// Whether a user watches the output, so that successful commands are confirmed.
    pub is_interactive: bool,
    /// Receives a line of output.
    pub out: &'a mut dyn FnMut(&str),
    /// Receives a line for the user that is not output.
    pub note: &'a mut dyn FnMut(&str),
    /// Compiles a program's file into the configuration for the switch.
    pub load: &'a dyn Fn(&str) -> Result<ForwardingPipelineConfig, Problem>,
    /// Ends commands that run until they are stopped.
    pub stop: &'a mut (dyn Future<Output = ()> + Unpin),
    /// Traces packets, if the caller supports it.
    pub tracer: Option<&'a mut dyn PacketTracer>,
}

/// Traces packets through a copy of a switch that is restored from snapshots.
pub trait PacketTracer {
    /// Begins with the records of the switch's program, and with the fields that packets must have. Returns the byte
    /// patterns that occur in every packet with these fields.
    fn begin(&mut self, program: Vec<Box<[u8]>>, fields: &[(String, String)]) -> Result<Vec<TapPattern>, Problem>;

    /// The state of the switch that its program may read and its records lack, a note for each kind.
    fn unknown(&self) -> Vec<&'static str>;

    /// Restores the current state of the switch from its records.
    fn take_state(&mut self, records: Vec<Box<[u8]>>) -> Result<(), Problem>;

    /// Traces a packet. Returns no lines if the packet does not have the fields.
    fn trace(&mut self, packet: &TapPacket) -> Vec<String>;
}

/// The maximum age of the state with which packets are traced.
const STATE_AGE_MAX: Duration = Duration::from_secs(1);

/// A state is used for at least this many times as long as it took to fetch it.
const STATE_USE: u32 = 10;

/// Whether more lines may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The next line may follow.
    GoOn,
    /// The user quits.
    Quit,
}

/// Executes a plan.
pub async fn carry_out(session: &mut Session, plan: Plan, around: &mut Surroundings<'_>) -> Result<After, Failure> {
    match plan {
        Plan::Nothing => {}
        Plan::Quit => return Ok(After::Quit),
        Plan::Say(text) => say_text(around, &text),
        Plan::Read(read) => show(session, read, around).await?,
        Plan::Write(_) | Plan::Change(_) => {
            let updates = updates(session, plan, &[]).await?;
            let count = updates.len();
            session.write(updates, Atomicity::ContinueOnError).await?;
            say_done(around, &written(count), json!({"written": count}));
        }
        Plan::Dump(wanted) => dump(session, wanted, around).await?,
        Plan::PacketOut(packet) => {
            session.packet_out(packet).await?;
            say_done(around, "sent", json!({"sent": 1}));
        }
        Plan::Load(load) => load_program(session, load, around).await?,
        Plan::Commit => {
            session.load(LoadAction::Commit, None).await?;
            say_done(around, "the program that was saved runs", json!({"committed": true}));
        }
        Plan::Status => {
            let status = session.status().await?;
            if around.json {
                let fields: Map<String, Json> =
                    status.into_iter().map(|(what, how)| (what.to_lowercase(), Json::String(how))).collect();
                (around.out)(&Json::Object(fields).to_string());
            } else {
                (around.out)(&grid(status.into_iter().map(|(what, how)| vec![what.to_owned(), how]).collect()));
            }
        }
        Plan::Workers(wanted) => {
            let workers = session.workers(wanted).await?;
            match around.json {
                true => (around.out)(&workers_json(&workers).to_string()),
                false => (around.out)(&workers_text(&workers)),
            }
        }
        Plan::Timers(change) => {
            let timers = session.timers(change).await?;
            match around.json {
                true => (around.out)(&timers_json(&timers).to_string()),
                false => (around.out)(&timers_text(&timers)),
            }
            if !timers.remark.is_empty() && !timers.timers.is_empty() {
                (around.note)(&timers.remark);
            }
        }
        Plan::Sizes => {
            let sizes = session.sizes().await?;
            match around.json {
                true => (around.out)(&sizes_json(&sizes).to_string()),
                false => (around.out)(&sizes_text(&sizes)),
            }
        }
        Plan::Simple(line) => {
            let (text, is_error) = session.run_simple(line).await?;
            if is_error {
                return Err(Problem::new(text).into());
            }
            if !text.is_empty() {
                say_text(around, &text);
            }
        }
        Plan::Watch(watched) => watch(session, watched, around).await?,
        Plan::Trace(wanted) => trace(session, wanted, around).await?,
    }
    Ok(After::GoOn)
}

/// The updates of a plan, given that the updates `before` have not been written yet; an error for a plan that does
/// not write.
pub async fn updates(session: &mut Session, plan: Plan, before: &[Update]) -> Result<Vec<Update>, Failure> {
    match plan {
        Plan::Nothing => Ok(Vec::new()),
        Plan::Write(updates) => Ok(updates),
        Plan::Change(change) => {
            let found = session.read_all(change.entities.clone()).await?;
            let found = after(&change.entities, found, before);
            Ok(change.updates(&found)?)
        }
        _ => Err(Problem::new("an atomic batch has only commands that write").into()),
    }
}

fn written(count: usize) -> String {
    match count {
        0 => "nothing to do".to_owned(),
        1 => "done".to_owned(),
        count => format!("done: {count} updates"),
    }
}

fn say_text(around: &mut Surroundings<'_>, text: &str) {
    if around.json {
        (around.out)(&json!({"text": text}).to_string());
    } else {
        (around.out)(text);
    }
}

/// Confirms that a command succeeded. Scripts get no confirmation, because only errors matter there.
fn say_done(around: &mut Surroundings<'_>, text: &str, json: Json) {
    if around.json {
        (around.out)(&json.to_string());
    } else if around.is_interactive {
        (around.out)(text);
    }
}

/// The program's names; empty if the switch has no program.
async fn schema_or_nothing(session: &mut Session) -> Result<Arc<Schema>, Failure> {
    match session.schema().await {
        Err(Failure::Refused(_)) => Ok(Arc::new(Schema::default())),
        other => other,
    }
}

async fn show(session: &mut Session, read: Read, around: &mut Surroundings<'_>) -> Result<(), Failure> {
    let schema = schema_or_nothing(session).await?;
    let Read { entities, filter } = read;
    let wanted = entities.clone();
    if around.json {
        let out = &mut *around.out;
        return session
            .read(entities, |some| {
                for entity in some.iter().filter(|entity| filter.admits(entity)) {
                    out(&entity_json(&schema, entity).to_string());
                }
            })
            .await;
    }
    let mut found = session.read_all(entities).await?;
    found.retain(|entity| filter.admits(entity));
    let text = match (found.as_slice(), wanted.as_slice()) {
        ([], _) => nothing(&wanted, &filter),
        ([found], [wanted]) if is_default(wanted) => default_text(&schema, found),
        _ => entities_text(&schema, &found),
    };
    (around.out)(&text);
    Ok(())
}

fn is_default(wanted: &Entity) -> bool {
    matches!(&wanted.entity, Some(Kind::TableEntry(it)) if it.is_default_action)
}

fn nothing(wanted: &[Entity], filter: &Filter) -> String {
    match wanted.first().and_then(|entity| entity.entity.as_ref()) {
        Some(Kind::TableEntry(it)) if !it.r#match.is_empty() || *filter != Filter::default() => "no such entry",
        Some(Kind::TableEntry(_)) => "no entries",
        _ => "none",
    }
    .to_owned()
}

async fn dump(session: &mut Session, wanted: Dump, around: &mut Surroundings<'_>) -> Result<(), Failure> {
    let schema = session.schema().await?;
    let mut found = Vec::new();
    // Entities are read one after the other, because they are written again in this order.
    for one in wanted.entities {
        found.extend(session.read_all(vec![one]).await?);
    }
    for line in wanted.before.iter().chain(&commands(&schema, &found)) {
        say_text(around, line);
    }
    Ok(())
}

async fn load_program(session: &mut Session, load: Load, around: &mut Surroundings<'_>) -> Result<(), Failure> {
    let config = (around.load)(&load.path)?;
    if let Some(gone) = session.load(load_action(&load), Some(config)).await? {
        say_note(around, &format!("lost with the previous program: {gone}"));
    }
    say_done(around, load_done(&load), json!({"loaded": load.path}));
    Ok(())
}

fn load_action(load: &Load) -> LoadAction {
    match load.how {
        LoadHow::Fresh => LoadAction::VerifyAndCommit,
        LoadHow::Reconcile => LoadAction::ReconcileAndCommit,
        LoadHow::Verify => LoadAction::Verify,
        LoadHow::Save => LoadAction::VerifyAndSave,
    }
}

fn load_done(load: &Load) -> &'static str {
    match load.how {
        LoadHow::Fresh => "the program runs",
        LoadHow::Reconcile => "the program runs, with the state that it shares with the previous one",
        LoadHow::Verify => "the program could run",
        LoadHow::Save => "the program is ready: commit runs it",
    }
}

/// Shows the messages of the switch until it is stopped. The session does not bid, so other controllers can write
/// meanwhile.
async fn watch(session: &mut Session, watched: Watched, around: &mut Surroundings<'_>) -> Result<(), Failure> {
    let schema = session.schema().await?;
    let mut messages = session.watch().await?;
    if around.is_interactive {
        (around.out)("watching; Ctrl-C ends it");
    }
    loop {
        let update = tokio::select! {
            () = &mut *around.stop => return Ok(()),
            update = messages.message() => update?,
        };
        let Some(update) = update else {
            return Err(Failure::Connection(Problem::new("the switch has closed the stream")));
        };
        if let Some(update) = update.update.filter(|update| watched.wants(update)) {
            match around.json {
                true => (around.out)(&message_json(&schema, &update).to_string()),
                false => message_text(&schema, &update).iter().for_each(|line| (around.out)(line)),
            }
        }
    }
}

/// Traces packets as they arrive, until the requested number has been traced.
async fn trace(session: &mut Session, wanted: Traced, around: &mut Surroundings<'_>) -> Result<(), Failure> {
    let Some(tracer) = around.tracer.take() else {
        return Err(Problem::new("packets are not traced here").into());
    };
    let program = session.snapshot(false).await?;
    let mut patterns = tracer.begin(program, &wanted.fields)?;
    let fixed = |TracedBytes { offset, value }: &TracedBytes| TapPattern {
        value: value.clone(),
        mask: vec![0xff; value.len()],
        offset: Some(*offset),
    };
    patterns.extend(wanted.bytes.iter().map(fixed));
    // The switch cannot count packets by their fields: the bytes may occur elsewhere in a packet, and only the
    // parser can decide.
    let count = if wanted.fields.is_empty() { wanted.count } else { 0 };
    let awaited = awaited(&wanted);
    let mut packets = session.tap(TapRequest { device_id: 0, ports: wanted.ports, patterns, count }).await?;
    say_waiting(around, &awaited);
    tracer.unknown().into_iter().for_each(|what| say_note(around, what));
    let (mut left, mut state, mut missed): (u64, Option<(Instant, Duration)>, u64) = (wanted.count, None, 0);
    while left > 0 {
        let packet = tokio::select! {
            () = &mut *around.stop => break,
            packet = packets.message() => packet?,
        };
        let Some(packet) = packet else {
            return Err(Failure::Connection(Problem::new("the switch has closed the stream")));
        };
        missed = packet.missed;
        if state.is_none_or(|(since, took)| since.elapsed() > STATE_AGE_MAX.max(took * STATE_USE)) {
            let began = Instant::now();
            let records = session.snapshot(true).await?;
            tracer.take_state(records)?;
            state = Some((Instant::now(), began.elapsed()));
        }
        let lines = tracer.trace(&packet);
        left -= u64::from(!lines.is_empty());
        lines.iter().for_each(|line| (around.out)(line));
    }
    if missed > 0 {
        say_note(around, &format!("{missed} further packets came too fast to be looked at"));
    }
    Ok(())
}

/// Reports that packets are observed from now on: none of them may ever come.
fn say_waiting(around: &mut Surroundings<'_>, awaited: &str) {
    if around.json {
        (around.out)(&json!({"event": "waiting", "text": awaited}).to_string());
    }
    (around.note)(&format!("waiting for {awaited}; Ctrl-C ends it"));
}

/// The packets that are to be traced: `2 packets that arrive at port 1 or 3 with bytes 12:0800 and ipv4.ttl=1`.
fn awaited(wanted: &Traced) -> String {
    let mut text = match wanted.count {
        1 => "a packet that arrives".to_owned(),
        count => format!("{count} packets that arrive"),
    };
    let ports: Vec<String> = wanted.ports.iter().map(ToString::to_string).collect();
    if !ports.is_empty() {
        text += &format!(" at port {}", ports.join(" or "));
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let bytes = wanted.bytes.iter().map(|it| format!("bytes {}:{}", it.offset, hex(&it.value)));
    let fields = wanted.fields.iter().map(|(name, value)| format!("{name}={value}"));
    let conditions: Vec<String> = bytes.chain(fields).collect();
    if !conditions.is_empty() {
        text += &format!(" with {}", conditions.join(" and "));
    }
    text
}

fn say_note(around: &mut Surroundings<'_>, text: &str) {
    if around.json {
        (around.out)(&json!({"event": "note", "text": text}).to_string());
    } else {
        (around.out)(text);
    }
}

/// Writes the lines of a file as one batch: all or none of them take effect, and no packet sees only a part.
pub async fn write_together(
    session: &mut Session,
    updates: Vec<Update>,
    around: &mut Surroundings<'_>,
) -> Result<(), Failure> {
    let count = updates.len();
    session.write(updates, Atomicity::DataplaneAtomic).await?;
    say_done(around, &written(count), json!({"written": count}));
    Ok(())
}
