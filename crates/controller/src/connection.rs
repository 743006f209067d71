//! A logic and the switch that it controls, joined by a connection that is made again whenever it is lost.
//!
//! What enters: the logic, and where the switch is. What leaves: the logic's orders as P4Runtime requests, and lines
//! about what happens. A controller waits while another one is primary: it never displaces one.
//!
//! Messages are taken in groups, and the writes that they cause are one request, so the cost of a request is shared
//! when messages are many. Packets leave after the writes of their group. While a request is under way no message is
//! taken: flow control of the stream makes the switch drop what it cannot send, and programs report again what was not
//! acknowledged. Entries that the logic requests are read last, and what follows from them is carried out at once.

use crate::logic::{Entry, Logic, Order, Orders};
use crate::report::{self, Names};
use crate::writing;
use base::OrderedSet;
use control::Problem;
use ctl::session::Standing;
use ctl::{Failure, Plan, Schema, Session, engine};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::{Entity, PacketMetadata, PacketOut, TableEntry, Update};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The delay before a connection is tried again: the first, and the maximum.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// The timeouts of a switch for connecting, for its contents, and for a write.
const JOIN_MAX: Duration = Duration::from_secs(60);
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// About the most updates that are written before an answer is waited for.
const UPDATES_MAX: usize = 10_000;

/// The most entries that are read by a request: a switch answers as many in a millisecond or two.
const READ_MAX: usize = 128;

/// The most messages whose orders are carried out together.
const MESSAGES_MAX: usize = 256;

/// Where lines about events go.
pub type Reporter = Box<dyn FnMut(fmt::Arguments<'_>) + Send>;

/// Controls the switch until the program that it runs does not fit.
pub async fn keep(mut logic: Box<dyn Logic>, options: ctl::Options, mut report: Reporter) -> Problem {
    let start = Instant::now();
    let mut wait = RETRY_MIN;
    let mut said = String::new();
    loop {
        let ended = match Served::join(&mut *logic, &options, start, &mut report).await {
            Ok(mut served) => {
                let device_id = served.session.device_id();
                (served.report)(format_args!("controls device {device_id} at {}", options.address));
                (wait, said) = (RETRY_MIN, String::new());
                served.serve().await
            }
            Err(ended) => ended,
        };
        let why = match ended {
            Ended::Unfit(problem) => return problem,
            Ended::Lost(failure) => failure.to_string(),
        };
        // A switch that stays away is reported once.
        if why != said {
            report(format_args!("{why}; tries again"));
            said = why;
        }
        sleep(wait).await;
        wait = (2 * wait).min(RETRY_MAX);
    }
}

/// What the switch answers in time.
async fn in_time<T>(answer: impl Future<Output = Result<T, Ended>>) -> Result<T, Ended> {
    timeout(JOIN_MAX, answer).await.unwrap_or_else(|_| Err(Ended::Lost(late())))
}

fn late() -> Failure {
    Failure::Connection(Problem::new("the switch does not answer"))
}

/// Why a connection has ended.
enum Ended {
    /// It was lost, or another controller is primary.
    Lost(Failure),
    /// The logic does not fit the program.
    Unfit(Problem),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Lost(failure)
    }
}

/// Becomes primary.
async fn connect(options: &ctl::Options) -> Result<(Session, Arc<Schema>), Ended> {
    let mut session = Session::connect(options.clone()).await?;
    if let Standing::Other(id) = session.bid_above().await? {
        let message = format!("another controller is primary, with election id {id}; this one waits for its end");
        return Err(Ended::Lost(Problem::new(message).into()));
    }
    let schema = session.schema().await?;
    Ok((session, schema))
}

/// A switch that is controlled.
struct Served<'a> {
    logic: &'a mut dyn Logic,
    session: Session,
    schema: Arc<Schema>,
    start: Instant,
    report: &'a mut Reporter,
}

impl<'a> Served<'a> {
    /// Becomes primary and lets the logic begin.
    async fn join(
        logic: &'a mut dyn Logic,
        options: &ctl::Options,
        start: Instant,
        report: &'a mut Reporter,
    ) -> Result<Served<'a>, Ended> {
        let (session, schema) = in_time(connect(options)).await?;
        let mut served = Served { logic, session, schema, start, report };
        let entries = in_time(served.entries()).await?;
        let mut orders = Orders::new();
        let now = served.now();
        served.logic.joined(now, &entries, &mut orders).map_err(Ended::Unfit)?;
        for line in of_each_form(&orders) {
            ctl::parse(line, &served.schema).map_err(|problem| served.unfit(line, &problem))?;
        }
        served.carry_out(orders).await?;
        Ok(served)
    }

    fn unfit(&self, line: &str, problem: &Problem) -> Ended {
        let package = self.schema.info().pkg_info.as_ref().map_or("", |it| &it.name);
        let message = format!("the switch's program {package} is not the one of this controller: {line}: {problem}");
        Ended::Unfit(Problem::new(message))
    }

    /// The entries of the logic's tables.
    async fn entries(&mut self) -> Result<Vec<Entry>, Ended> {
        let (mut found, mut names) = (Vec::new(), Names::default());
        for table in self.logic.tables() {
            let table = self.schema.table(table).map_err(|problem| self.unfit("its tables", &problem))?;
            let all = TableEntry { table_id: ctl::schema::id(&table.preamble), ..TableEntry::default() };
            let schema = Arc::clone(&self.schema);
            let sink = |entities: Vec<Entity>| {
                let entries = entities.into_iter().filter_map(|it| match it.entity {
                    Some(Kind::TableEntry(entry)) if !entry.is_default_action => {
                        report::entry(&schema, &mut names, entry)
                    }
                    _ => None,
                });
                found.extend(entries);
            };
            self.session.read(vec![Entity { entity: Some(Kind::TableEntry(all)) }], sink).await?;
        }
        Ok(found)
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Takes messages and timers until the connection is lost.
    async fn serve(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.serve_group().await {
                return ended;
            }
        }
    }

    /// Takes the messages that wait, or the timer, and carries out what follows from them.
    async fn serve_group(&mut self) -> Result<(), Ended> {
        let messages = self.next_messages().await?;
        let digests: Vec<(u32, u64)> = messages.iter().filter_map(digest_list).collect();
        let now = self.now();
        let orders = decide(self.logic, &self.schema, now, messages)?;
        self.carry_out(orders).await?;
        // Acknowledged after the writes: what the entries know now is not reported again.
        for (digest_id, list_id) in digests {
            self.session.acknowledge(digest_id, list_id).await?;
        }
        Ok(())
    }

    /// The messages that wait, of which there is at least one; none if the time of the logic's timer comes first.
    async fn next_messages(&mut self) -> Result<Vec<StreamUpdate>, Failure> {
        let mut messages: Vec<StreamUpdate> = self.next_message().await?.into_iter().collect();
        while (1..MESSAGES_MAX).contains(&messages.len()) {
            match timeout(Duration::ZERO, self.session.next_message()).await {
                Ok(Ok(Some(message))) => messages.push(message),
                // An end or an error is found again by the next call.
                _ => break,
            }
        }
        Ok(messages)
    }

    /// The next message; `None` if the time of the logic's timer comes first.
    async fn next_message(&mut self) -> Result<Option<StreamUpdate>, Failure> {
        let wait = self.logic.next_timer().map(|next| next.saturating_sub(self.now()));
        let message = match wait {
            Some(wait) => match timeout(wait, self.session.next_message()).await {
                Ok(message) => message?,
                Err(_elapsed) => return Ok(None),
            },
            None => self.session.next_message().await?,
        };
        let closed = || Failure::Connection(Problem::new("the switch has closed the stream"));
        message.map(Some).ok_or_else(closed)
    }

    /// Carries out orders, and those that follow from the entries that they read.
    async fn carry_out(&mut self, orders: Orders) -> Result<(), Failure> {
        let mut unread_entries = self.write_and_send(orders).await?;
        // What follows from some is carried out before others are read: what was read is soon out of date.
        while !unread_entries.is_empty() {
            let rest = unread_entries.split_off(unread_entries.len().min(READ_MAX));
            let entries = self.read(std::mem::replace(&mut unread_entries, rest)).await?;
            let (now, mut orders) = (self.now(), Orders::new());
            self.logic.read(now, &entries, &mut orders);
            unread_entries.extend(self.write_and_send(orders).await?);
        }
        Ok(())
    }

    /// Carries out commands, in as few requests as possible, and then packets, for which entries are there. Returns the
    /// entries to be read.
    async fn write_and_send(&mut self, orders: Orders) -> Result<Vec<String>, Failure> {
        let (mut writes, mut packets, mut unread_entries) = (Writes::default(), Vec::new(), Vec::new());
        for order in orders.0 {
            match order {
                Order::Note(line) => (self.report)(format_args!("{line}")),
                Order::Command(line) => match ctl::parse(&line, &self.schema) {
                    Ok(plan) => match engine::updates(&mut self.session, plan, &writes.updates).await {
                        Ok(updates) => writes.add(line, updates),
                        Err(Failure::Refused(problems)) => self.refused(&line, problems.first()),
                        Err(failure) => return Err(failure),
                    },
                    Err(problem) => self.refused(&line, Some(&problem)),
                },
                Order::Packet(fields, payload) => packets.push(self.packet_out(&fields, payload)),
                Order::Read(entry) => unread_entries.push(entry),
            }
            if writes.updates.len() >= UPDATES_MAX {
                self.write(std::mem::take(&mut writes)).await?;
            }
        }
        self.write(writes).await?;
        for packet in packets {
            self.session.send_packet(packet).await?;
        }
        Ok(unread_entries)
    }

    /// Reads entries, each with the time since its last hit.
    async fn read(&mut self, unread_entries: Vec<String>) -> Result<Vec<Entry>, Failure> {
        let (mut asked, mut found, mut names) = (Vec::new(), Vec::new(), Names::default());
        for entry in OrderedSet::from_iter(unread_entries) {
            match ctl::parse(&format!("show {entry}"), &self.schema) {
                Ok(Plan::Read(read)) => asked.extend(read.entities),
                Ok(_) => {}
                Err(problem) => self.refused(&entry, Some(&problem)),
            }
        }
        if !asked.is_empty() {
            let reading = self.session.read_all(asked);
            let read = timeout(ANSWER_MAX, reading).await.unwrap_or_else(|_| Err(late()))?;
            found.extend(read.into_iter().filter_map(|it| match it.entity {
                Some(Kind::TableEntry(entry)) => report::entry(&self.schema, &mut names, entry),
                _ => None,
            }));
        }
        Ok(found)
    }

    fn refused(&mut self, line: &str, why: Option<&Problem>) {
        let unknown = Problem::new("the switch refused it");
        let mut orders = Orders::new();
        let now = self.now();
        self.logic.refused(now, line, why.unwrap_or(&unknown), &mut orders);
        // What follows from a refusal is only reported: orders could be refused without end.
        for order in orders.0 {
            if let Order::Note(line) = order {
                (self.report)(format_args!("{line}"));
            }
        }
    }

    async fn write(&mut self, writes: Writes) -> Result<(), Failure> {
        if writes.updates.is_empty() {
            return Ok(());
        }
        let writing = writing::write(&mut self.session, writes.updates);
        let outcomes = timeout(ANSWER_MAX, writing).await.unwrap_or_else(|_| Err(late()))?;
        for (index, problem) in outcomes {
            self.refused(&writes.lines[writes.line_of[index]], Some(&problem));
        }
        Ok(())
    }

    fn packet_out(&self, fields: &[(&'static str, u128)], payload: Vec<u8>) -> PacketOut {
        let header = self.schema.controller_header("packet_out");
        let described = header.map_or(&[][..], |header| &header.metadata);
        let value = |name: &str| fields.iter().find(|(given, _)| *given == name).map_or(0, |(_, value)| *value);
        let metadata = described
            .iter()
            .map(|it| PacketMetadata { metadata_id: it.id, value: values::canonical(&value(&it.name).to_be_bytes()) });
        PacketOut { payload, metadata: metadata.collect() }
    }
}

/// The numbers by which a list of digests is acknowledged.
fn digest_list(message: &StreamUpdate) -> Option<(u32, u64)> {
    match message {
        StreamUpdate::Digest(list) => Some((list.digest_id, list.list_id)),
        _ => None,
    }
}

/// What a logic orders after these messages, and when its timer is due. The timer does not wait until no message is
/// left: under a flood of packets, a controller must still solicit its next hops.
fn decide(
    logic: &mut dyn Logic,
    schema: &Arc<Schema>,
    now: Duration,
    messages: Vec<StreamUpdate>,
) -> Result<Orders, Ended> {
    let mut orders = Orders::new();
    let more_wait = messages.len() >= MESSAGES_MAX;
    for message in messages {
        hear(logic, schema, now, message, &mut orders)?;
    }
    logic.taken(now, more_wait, &mut orders);
    if logic.next_timer().is_some_and(|due| due <= now) {
        logic.timer(now, &mut orders);
    }
    Ok(orders)
}

/// Hands a message to a logic.
fn hear(
    logic: &mut dyn Logic,
    schema: &Arc<Schema>,
    now: Duration,
    message: StreamUpdate,
    orders: &mut Orders,
) -> Result<(), Ended> {
    match message {
        StreamUpdate::Digest(list) => {
            for (name, fields) in list.data.iter().filter_map(|it| report::digest(schema, list.digest_id, it)) {
                logic.digest(now, &name, &fields, orders);
            }
        }
        StreamUpdate::Packet(packet) => {
            let fields = report::packet_in(schema, &packet);
            logic.packet_in(now, &fields, &packet.payload, orders);
        }
        StreamUpdate::IdleTimeoutNotification(idle) => {
            let mut names = Names::default();
            for entry in idle.table_entry.into_iter().filter_map(|it| report::entry(schema, &mut names, it)) {
                logic.idle(now, &entry, orders);
            }
        }
        StreamUpdate::Arbitration(answer) if answer.status.as_ref().is_some_and(|status| status.code != 0) => {
            let message = "another controller has become primary; this one waits for its end";
            return Err(Ended::Lost(Problem::new(message).into()));
        }
        StreamUpdate::Error(error) => orders.note(error.message),
        StreamUpdate::Arbitration(_) | StreamUpdate::Other(_) => {}
    }
    Ok(())
}

/// The first command of each form: a command, what it is about, and the action. A program that one of them fits has
/// what the others name, too, and a logic can have a hundred thousand of each.
fn of_each_form(orders: &Orders) -> Vec<&str> {
    let mut forms = OrderedSet::new();
    let lines = orders.0.iter().filter_map(|order| match order {
        Order::Command(line) => Some(line.as_str()),
        Order::Packet(..) | Order::Read(_) | Order::Note(_) => None,
    });
    lines.filter(|line| forms.insert(form(line))).collect()
}

fn form(line: &str) -> [Option<&str>; 3] {
    let mut words = line.split(' ');
    let (command, subject) = (words.next(), words.next());
    let action = line.split_once(" do ").and_then(|(_, call)| call.split(' ').next());
    [command, subject, action]
}

/// Updates of one request, and the lines that they come from.
#[derive(Default)]
struct Writes {
    updates: Vec<Update>,
    lines: Vec<String>,
    /// The line of each update.
    line_of: Vec<usize>,
}

impl Writes {
    fn add(&mut self, line: String, updates: Vec<Update>) {
        self.line_of.extend(updates.iter().map(|_| self.lines.len()));
        self.updates.extend(updates);
        self.lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::v1::PacketIn;

    /// Counts the packets that it receives, and sends a packet once a second.
    #[derive(Default)]
    struct Curious {
        packets: usize,
        asked: u64,
    }

    impl Logic for Curious {
        fn joined(&mut self, _now: Duration, _entries: &[Entry], _orders: &mut Orders) -> Result<(), Problem> {
            Ok(())
        }

        fn packet_in(&mut self, _now: Duration, _fields: &crate::Fields, _payload: &[u8], _orders: &mut Orders) {
            self.packets += 1;
        }

        fn next_timer(&self) -> Option<Duration> {
            Some(Duration::from_secs(self.asked + 1))
        }

        fn timer(&mut self, _now: Duration, orders: &mut Orders) {
            self.asked += 1;
            orders.packet(&[], format!("packet {}", self.asked));
        }
    }

    #[test]
    fn a_logic_asks_in_time_while_messages_never_end() {
        let (mut logic, schema) = (Curious::default(), Arc::default());
        let mut text = String::new();
        for half_seconds in 1..=6 {
            let waiting = vec![StreamUpdate::Packet(PacketIn::default()); MESSAGES_MAX];
            let now = Duration::from_millis(500) * half_seconds;
            let Ok(mut orders) = decide(&mut logic, &schema, now, waiting) else { panic!("nothing was lost") };
            text += &orders.take_text();
        }
        assert_eq!((logic.packets, logic.asked), (6 * MESSAGES_MAX, 3), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[test]
    fn a_command_of_each_form_is_checked() {
        let mut orders = Orders::new();
        for number in 0..1000 {
            orders.command(format!("meters rate {number} set 1 2 3 4"));
            orders.command(format!("add subscribers {number} do tunnel {number}"));
            orders.note("one more");
        }
        orders.command("add subscribers 1000 do tunnel_with_key 7 8");
        orders.command("delete subscribers 1001");
        let expected = [
            "meters rate 0 set 1 2 3 4",
            "add subscribers 0 do tunnel 0",
            "add subscribers 1000 do tunnel_with_key 7 8",
            "delete subscribers 1001",
        ];
        assert_eq!(of_each_form(&orders), expected);
    }
}
