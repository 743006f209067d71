//! A switch that runs ZipLine's encoder or decoder, as the controller sees it: a connection of P4Runtime.
//!
//! What enters: orders. What leaves: the contents of the switch when it connects, completed orders, new bases, idle
//! pairs. A lost connection is made again, each time after a longer delay. Until the controller has acknowledged the
//! loss, orders are discarded; and since each connection bids higher than the ones before it, requests of an earlier
//! one are refused: no late request reaches a switch after its contents were read.

use super::parameters::{Parameters, is_gateway, of_half, tables_of_bases};
use crate::entries::name;
use crate::pairs::{Basis, Held, Order};
use base::{OrderedMap, OrderedSet};
use control::Problem;
use ctl::session::Standing;
use ctl::{Failure, Options, Schema, Session, schema};
use p4runtime_proto::p4::config::v1::Table;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::write_request::Atomicity;
use p4runtime_proto::p4::v1::{
    Action, CounterEntry, DigestEntry, Entity, FieldMatch, Index, TableAction, TableEntry, Update, action,
    digest_entry, entity, field_match, p4_data, table_action, update,
};
use std::time::Duration;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};
use values::canonical;

/// The delay before a connection is tried again: the first, and the maximum.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// The timeout of a switch for its contents, and for orders.
const JOIN_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Orders in one request to a switch.
const ORDERS_MAX: usize = 256;

/// After this time an encoder reports a basis again that still has no identifier.
const TOLD_AGAIN_NS: i64 = 20_000_000;

/// The most identifiers that are used, whatever the size of the tables: a controller needs some hundred bytes for
/// each.
const IDENTIFIERS_MAX: u64 = 1 << 20;

/// Marks the decoder entries that controllers have learned: all others are there again whenever the decoder is
/// started. Those of encoders have idle timeouts, which files cannot specify.
const LEARNED: &[u8] = b"learned";

/// The id of the only key, parameter and field of each table, action and digest.
const FIRST: u32 = 1;

/// The index of the decoder's counter for packets with an unknown identifier.
const UNKNOWN_IDENTIFIER: i64 = 6;

/// One of the switches, by its index among those of its kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SwitchId {
    /// A decoder.
    Decoder(usize),
    /// An encoder.
    Encoder(usize),
}

/// The dimensions of a transform, which all switches must share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bits of a basis.
    pub basis_bits: u32,
    /// Bits of an identifier.
    pub id_bits: u32,
    /// Identifiers that can be used.
    pub identifiers: u32,
}

/// The pairs that a switch has for a transform: the bases by identifier.
pub type Contents = (Shape, OrderedMap<u32, Held>);

/// A message from a switch. Transforms are identified by the class that has them.
#[derive(Debug)]
pub enum Event {
    /// It is connected, and has this for each transform.
    Joined(Box<Parameters>, OrderedMap<u32, Contents>),
    /// It is disconnected, for this reason.
    Lost(String),
    /// It encountered a basis of a transform without an identifier.
    NewBasis(u32, Basis),
    /// It had no packet of the basis for as long as its idle timeout.
    Idle(u32, Basis),
    /// It has carried out an order.
    Done(u32, Order),
    /// This many packets had an unknown identifier.
    Unknown(u64),
}

/// A message to a switch.
#[derive(Debug)]
pub enum Request {
    /// An order for a transform.
    Order(u32, Order),
    /// The controller knows that the connection was lost.
    LossNoted,
    /// Disconnect, for this reason, and try again: it does not fit the others.
    Leave(String),
    /// Report how many packets had an identifier that is unknown to the decoder.
    Count,
}

/// The sender for a connection's messages.
pub type EventSender = Sender<(SwitchId, Event)>;

/// Keeps a connection to a switch. Ends when the controller does.
pub async fn keep_connected(
    id: SwitchId,
    options: Options,
    idle: Duration,
    mut requests: UnboundedReceiver<Request>,
    events: EventSender,
) {
    let mut wait = RETRY_MIN;
    loop {
        let idle_ns = i64::try_from(idle.as_nanos()).unwrap_or(i64::MAX);
        let late = |_| Err(Failure::Connection(Problem::new("the switch does not answer")));
        let joining = tokio::time::timeout(JOIN_MAX, Switch::join(id, options.clone(), idle_ns));
        let ended = match joining.await.unwrap_or_else(late) {
            Ok((mut switch, parameters, has)) => {
                let _gone = events.send((id, Event::Joined(Box::new(parameters), has))).await;
                let ended = switch.serve(&mut requests, &events).await;
                // The delay for a switch that does not fit keeps growing.
                if switch.is_used {
                    wait = RETRY_MIN;
                }
                ended
            }
            Err(failure) => Err(failure),
        };
        let Err(failure) = ended else { return };
        let _gone = events.send((id, Event::Lost(failure.to_string()))).await;
        loop {
            match requests.recv().await {
                Some(Request::Order(..) | Request::Count | Request::Leave(_)) => {}
                Some(Request::LossNoted) => break,
                None => return,
            }
        }
        tokio::time::sleep(wait).await;
        wait = (2 * wait).min(RETRY_MAX);
    }
}

/// A connection to a switch.
struct Switch {
    id: SwitchId,
    session: Session,
    /// The tables of bases, by the class that has the transform.
    bases: OrderedMap<u32, Bases>,
    /// Id of the decoder's counter.
    counter: u32,
    /// Whether it fits the others.
    is_used: bool,
}

/// The table of bases of a transform.
struct Bases {
    id: SwitchId,
    shape: Shape,
    idle_ns: i64,
    /// Ids of the table, of its action with the other half of a pair, and of the encoder's digest.
    table: u32,
    action: u32,
    digest: u32,
    /// The action of the encoder that reports a basis.
    learn: u32,
    /// Keys of entries that the switch has.
    keys: OrderedSet<Vec<u8>>,
}

impl Switch {
    /// Connects, and reads the contents of the switch. From then on, an encoder reports bases.
    async fn join(
        id: SwitchId,
        options: Options,
        idle_ns: i64,
    ) -> Result<(Switch, Parameters, OrderedMap<u32, Contents>), Failure> {
        let mut session = Session::connect(options).await?;
        // A gateway has a controller for each half, which must not displace each other.
        let role = match is_gateway(session.schema().await?.info()) {
            true if id.is_encoder() => "zipline encoder",
            true => "zipline decoder",
            false => "",
        };
        session.take_role(role);
        if let Standing::Other(id) = session.bid_above().await? {
            let message = format!("another controller is primary, with election id {id}; this one waits for its end");
            return Err(Problem::new(message).into());
        }
        let program = session.schema().await?;
        let other = |problem| {
            let is_what = if id.is_encoder() { "encoder" } else { "decoder" };
            Problem::new(format!("it does not run the {is_what} of apps/zipline: {problem}"))
        };
        let mut switch = Switch::of_program(id, session, &program, idle_ns).map_err(other)?;
        let mut parameters = Parameters::of_program(id.is_encoder(), &program).map_err(other)?;
        for table in parameters.tables(&program).map_err(other)? {
            let entries = switch.entries(schema::id(&table.preamble)).await?;
            entries.iter().for_each(|entry| parameters.take_in(&program, table, entry));
        }
        let mut has = OrderedMap::new();
        let classes: Vec<(u32, u32)> = switch.bases.iter().map(|(class, its)| (*class, its.table)).collect();
        for (class, table) in classes {
            let entries = switch.entries(table).await?;
            let Some(its) = switch.bases.get_mut(&class) else { continue };
            let (held, updates) = its.take_in(entries);
            has.insert(class, (its.shape, held));
            switch.write(updates).await?;
        }
        if id.is_encoder() {
            switch.listen().await?;
        }
        Ok((switch, parameters, has))
    }

    /// The names in the program.
    fn of_program(id: SwitchId, session: Session, program: &Schema, idle_ns: i64) -> Result<Switch, Problem> {
        let tables = tables_of_bases(program, id.is_encoder())?;
        let bases = tables
            .into_iter()
            .map(|(class, table)| Ok((class, Bases::of_program(id, program, (class, table), idle_ns)?)));
        let bases: Result<_, Problem> = bases.collect();
        let counter = if id.is_encoder() {
            0
        } else {
            schema::id(&program.counter(&of_half(program, false, "packets"))?.preamble)
        };
        Ok(Switch { id, session, bases: bases?, counter, is_used: true })
    }

    /// All entries of a table.
    async fn entries(&mut self, table_id: u32) -> Result<Vec<TableEntry>, Failure> {
        let all = TableEntry { table_id, ..TableEntry::default() };
        let mut found = Vec::new();
        let mut is_too_much = false;
        let sink = |entities: Vec<Entity>| {
            for entity in entities {
                match entity.entity {
                    Some(entity::Entity::TableEntry(entry)) if !entry.is_default_action => found.push(entry),
                    _ => {}
                }
            }
            is_too_much |= found.len() as u64 > IDENTIFIERS_MAX;
            found.truncate(IDENTIFIERS_MAX as usize);
        };
        self.session.read(vec![Entity { entity: Some(entity::Entity::TableEntry(all)) }], sink).await?;
        if is_too_much {
            let message = format!("one of its tables has more than {IDENTIFIERS_MAX} entries");
            return Err(Problem::new(message).into());
        }
        Ok(found)
    }

    /// Makes an encoder report unknown bases.
    async fn listen(&mut self) -> Result<(), Failure> {
        // Each basis by itself and at once. Lists are not acknowledged, so that an encoder does not report the same
        // basis with each of its packets.
        let config = digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: TOLD_AGAIN_NS };
        let desired: Vec<(u32, u32, u32)> = self.bases.values().map(|its| (its.digest, its.table, its.learn)).collect();
        for (digest_id, table_id, learn) in desired {
            let entry = entity::Entity::DigestEntry(DigestEntry { digest_id, config: Some(config) });
            // It exists if a controller was connected before.
            if self.write(vec![update(update::Type::Insert, entry.clone())]).await.is_err() {
                self.write(vec![update(update::Type::Modify, entry)]).await?;
            }
            let action = Some(action(learn, None));
            let default = TableEntry { table_id, action, is_default_action: true, ..TableEntry::default() };
            self.write(vec![update(update::Type::Modify, entity::Entity::TableEntry(default))]).await?;
        }
        Ok(())
    }

    async fn write(&mut self, updates: Vec<Update>) -> Result<(), Failure> {
        let late = |_| Err(Failure::Connection(Problem::new("the switch does not carry out its orders")));
        let writing = self.session.write(updates, Atomicity::ContinueOnError);
        tokio::time::timeout(ANSWER_MAX, writing).await.unwrap_or_else(late)
    }

    /// Carries out orders and receives messages. Returns without an error when the controller ends.
    async fn serve(&mut self, requests: &mut UnboundedReceiver<Request>, events: &EventSender) -> Result<(), Failure> {
        loop {
            tokio::select! {
                biased;
                next = requests.recv() => {
                    let Some(next) = next else { return Ok(()) };
                    let more = std::iter::from_fn(|| requests.try_recv().ok()).take(ORDERS_MAX - 1);
                    let all: Vec<Request> = std::iter::once(next).chain(more).collect();
                    self.carry_out(all, events).await?;
                }
                message = self.session.next_message() => match message? {
                    None => return Err(Failure::Connection(Problem::new("the switch has closed the stream"))),
                    Some(message) => self.handle(message, events)?,
                },
            }
        }
    }

    async fn carry_out(&mut self, all: Vec<Request>, events: &EventSender) -> Result<(), Failure> {
        if let Some(why) =
            all.iter().find_map(|requests| if let Request::Leave(why) = requests { Some(why) } else { None })
        {
            self.is_used = false;
            return Err(Problem::new(why.clone()).into());
        }
        let is_count = all.iter().any(|requests| matches!(requests, Request::Count));
        let orders: Vec<(u32, Order)> = all
            .into_iter()
            .filter_map(|requests| match requests {
                Request::Order(class, order) => Some((class, order)),
                Request::LossNoted | Request::Count | Request::Leave(_) => None,
            })
            .collect();
        let updates = orders.iter().filter_map(|(class, order)| self.bases.get_mut(class)?.update(order)).collect();
        self.write(updates).await?;
        for (class, order) in orders {
            let _gone = events.send((self.id, Event::Done(class, order))).await;
        }
        if is_count {
            let unknown = self.count().await?;
            let _gone = events.send((self.id, Event::Unknown(unknown))).await;
        }
        Ok(())
    }

    /// Packets with an identifier that is unknown to the decoder.
    async fn count(&mut self) -> Result<u64, Failure> {
        let index = Some(Index { index: UNKNOWN_IDENTIFIER });
        let cell = CounterEntry { counter_id: self.counter, index, data: None };
        let cell = Entity { entity: Some(entity::Entity::CounterEntry(cell)) };
        let reading = self.session.read_all(vec![cell]);
        let late = |_| Err(Failure::Connection(Problem::new("the switch does not answer")));
        let found = tokio::time::timeout(ANSWER_MAX, reading).await.unwrap_or_else(late)?;
        let packets = found.into_iter().find_map(|entity| match entity.entity {
            Some(entity::Entity::CounterEntry(cell)) => Some(cell.data?.packet_count.unsigned_abs()),
            _ => None,
        });
        Ok(packets.unwrap_or(0))
    }

    /// Notifications are lost if they arrive too fast: they are repeated.
    fn handle(&mut self, message: StreamUpdate, events: &EventSender) -> Result<(), Failure> {
        match message {
            StreamUpdate::Digest(list) if self.id.is_encoder() => {
                let of_digest = self.bases.iter().find(|(_, its)| its.digest == list.digest_id);
                let Some((class, its)) = of_digest else { return Ok(()) };
                for basis in list.data.into_iter().filter_map(|data| only_member(data.data)) {
                    if let Some(basis) = its.checked(&basis) {
                        let _full = events.try_send((self.id, Event::NewBasis(*class, basis)));
                    }
                }
                Ok(())
            }
            StreamUpdate::IdleTimeoutNotification(idle) if self.id.is_encoder() => {
                for entry in &idle.table_entry {
                    let of_table = self.bases.iter().find(|(_, its)| its.table == entry.table_id);
                    let basis = of_table.and_then(|(class, its)| Some((*class, its.checked(exact(entry)?)?)));
                    if let Some((class, basis)) = basis {
                        let _full = events.try_send((self.id, Event::Idle(class, basis)));
                    }
                }
                Ok(())
            }
            StreamUpdate::Arbitration(arbitration)
                if arbitration.status.as_ref().is_some_and(|status| status.code != 0) =>
            {
                Err(Problem::new("another controller has become primary; this one waits for its end").into())
            }
            _ => Ok(()),
        }
    }
}

impl Bases {
    /// The names in the program.
    fn of_program(
        id: SwitchId,
        program: &Schema,
        (class, bases): (u32, &Table),
        idle_ns: i64,
    ) -> Result<Bases, Problem> {
        let action = program.table_action(bases, if id.is_encoder() { "compress" } else { "expand" }, false)?;
        let key_bits = bases.match_fields.first().map_or(0, |field| field.bitwidth.unsigned_abs());
        let argument_bits = action.params.first().map_or(0, |param| param.bitwidth.unsigned_abs());
        let (basis_bits, id_bits) = if id.is_encoder() { (key_bits, argument_bits) } else { (argument_bits, key_bits) };
        if basis_bits == 0 || id_bits == 0 {
            let table = schema::name(&bases.preamble);
            return Err(Problem::new(format!("the table `{table}` has no key, or its action no parameter")));
        }
        let identifiers = IDENTIFIERS_MAX.min(1 << id_bits.min(32)).min(bases.size.unsigned_abs().max(1));
        let shape = Shape { basis_bits, id_bits, identifiers: u32::try_from(identifiers).unwrap_or(u32::MAX) };
        let (digest, learn) = if id.is_encoder() {
            let learn = program.table_action(bases, "learn", true)?;
            (schema::id(&program.digest(&name("learn_t", class))?.preamble), schema::id(&learn.preamble))
        } else {
            (0, 0)
        };
        let (table, action) = (schema::id(&bases.preamble), schema::id(&action.preamble));
        Ok(Bases { id, shape, idle_ns, table, action, digest, learn, keys: OrderedSet::new() })
    }

    /// The bases by identifier in these entries, and the updates to make: in an encoder, invalid entries are deleted,
    /// and entries that a controller has learned get the idle timeout.
    fn take_in(&mut self, entries: Vec<TableEntry>) -> (OrderedMap<u32, Held>, Vec<Update>) {
        let mut has = OrderedMap::new();
        let mut updates = Vec::new();
        for entry in entries {
            let Some(key) = exact(&entry).map(canonical) else { continue };
            self.keys.insert(key.clone());
            let Some(argument) = self.argument(&entry) else { continue };
            let is_encoder = self.id.is_encoder();
            let is_fixed = if is_encoder { entry.idle_timeout_ns == 0 } else { entry.metadata != LEARNED };
            let (identifier, basis) =
                if is_encoder { (number(&argument), key.clone()) } else { (number(&key), argument) };
            let is_usable = identifier.is_some_and(|it| it < self.shape.identifiers && !has.contains_key(&it));
            if is_encoder && !is_usable {
                self.keys.remove(&key);
                updates.push(update(update::Type::Delete, self.entry(key, None, true)));
            } else if let Some(identifier) = identifier.filter(|_| is_usable) {
                if is_encoder && !is_fixed && entry.idle_timeout_ns != self.idle_ns {
                    let entry = self.entry(key, Some(action(self.action, Some(bytes(identifier)))), false);
                    updates.push(update(update::Type::Modify, entry));
                }
                has.insert(identifier, Held { basis, is_fixed });
            }
        }
        (has, updates)
    }

    /// The argument of the action that makes an entry a pair.
    fn argument(&self, entry: &TableEntry) -> Option<Vec<u8>> {
        match entry.action.as_ref()?.r#type.as_ref()? {
            table_action::Type::Action(action) if action.action_id == self.action => {
                Some(canonical(&action.params.first()?.value))
            }
            _ => None,
        }
    }

    /// A basis in its written form, if the text is one.
    fn checked(&self, basis: &[u8]) -> Option<Basis> {
        let basis = canonical(basis);
        let bits = 8 * basis.len() as u32 - basis[0].leading_zeros();
        (bits <= self.shape.basis_bits).then_some(basis)
    }

    /// An entry of `bases`, marked as learned unless it is fixed.
    fn entry(&self, key: Vec<u8>, action: Option<TableAction>, is_fixed: bool) -> entity::Entity {
        let key = field_match::FieldMatchType::Exact(field_match::Exact { value: key });
        let key = FieldMatch { field_id: FIRST, field_match_type: Some(key) };
        let mut entry = TableEntry { table_id: self.table, r#match: vec![key], action, ..TableEntry::default() };
        match self.id {
            SwitchId::Encoder(_) if !is_fixed => entry.idle_timeout_ns = self.idle_ns,
            SwitchId::Decoder(_) if !is_fixed => entry.metadata = LEARNED.to_vec(),
            SwitchId::Encoder(_) | SwitchId::Decoder(_) => {}
        }
        entity::Entity::TableEntry(entry)
    }

    /// The update for an order to this switch; `None` if nothing needs to change.
    fn update(&mut self, order: &Order) -> Option<Update> {
        let (key, argument, is_fixed) = match order {
            Order::Expand { identifier, basis, is_fixed, .. } => (bytes(*identifier), basis.clone(), *is_fixed),
            Order::Compress { identifier, basis, is_fixed, .. } => (basis.clone(), bytes(*identifier), *is_fixed),
            Order::Forget { basis, .. } => {
                let is_there = self.keys.remove(basis);
                return is_there.then(|| update(update::Type::Delete, self.entry(basis.clone(), None, true)));
            }
        };
        let is_new = self.keys.insert(key.clone());
        let kind = if is_new { update::Type::Insert } else { update::Type::Modify };
        Some(update(kind, self.entry(key, Some(action(self.action, Some(argument))), is_fixed)))
    }
}

impl SwitchId {
    /// Whether it is an encoder's.
    pub fn is_encoder(self) -> bool {
        matches!(self, SwitchId::Encoder(_))
    }
}

fn update(kind: update::Type, entity: entity::Entity) -> Update {
    Update { r#type: kind as i32, entity: Some(Entity { entity: Some(entity) }) }
}

/// An action with its only argument, if it has one.
fn action(action_id: u32, argument: Option<Vec<u8>>) -> TableAction {
    let params = argument.map(|value| action::Param { param_id: FIRST, value }).into_iter().collect();
    TableAction { r#type: Some(table_action::Type::Action(Action { action_id, params })) }
}

fn bytes(number: u32) -> Vec<u8> {
    canonical(&number.to_be_bytes())
}

/// The number of these bytes, if it has no more than 32 bits.
pub(super) fn number(bytes: &[u8]) -> Option<u32> {
    (bytes.len() <= 4).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// The key of an entry that has one, which is exact.
fn exact(entry: &TableEntry) -> Option<&[u8]> {
    match entry.r#match.first()?.field_match_type.as_ref()? {
        field_match::FieldMatchType::Exact(exact) => Some(&exact.value),
        _ => None,
    }
}

/// The value of a struct with one field.
fn only_member(data: Option<p4_data::Data>) -> Option<Basis> {
    match data? {
        p4_data::Data::Bitstring(bits) => Some(bits),
        p4_data::Data::Struct(members) => match members.members.into_iter().next()?.data? {
            p4_data::Data::Bitstring(bits) => Some(bits),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bytes_that_they_need() {
        assert_eq!([0, 1, 255, 256, 0x1_0000].map(|it| bytes(it).len()), [1, 1, 1, 2, 3]);
        assert_eq!((number(&[1, 0]), number(&[1, 0, 0, 0, 0])), (Some(256), None));
    }
}
