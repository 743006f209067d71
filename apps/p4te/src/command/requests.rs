//! Orders as updates of P4Runtime, with the names of a P4Info resolved.
//!
//! What enters: a P4Info, orders. What leaves: updates, or the name that the program does not have. Reports come in as
//! packets whose header fields are metadata.

use crate::report::Report;
use control::Problem;
use ctl::{Schema, schema};
use p4runtime_proto::p4::config::v1::{ActionProfile, Table};
use p4runtime_proto::p4::v1::action_profile_group::{Member, member::WatchKind};
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use p4runtime_proto::p4::v1::replica::PortKind;
use p4runtime_proto::p4::v1::{
    Action, ActionProfileGroup, ActionProfileMember, CloneSessionEntry, Entity, FieldMatch, MeterConfig,
    MulticastGroupEntry, PacketIn, PacketReplicationEngineEntry, Replica, TableAction, TableEntry, Update, action,
    entity, field_match, table_action, update,
};
use te::{Match, Order};
use values::canonical;

/// The update that an order is.
pub fn update(program: &Schema, order: &Order) -> Result<Update, Problem> {
    use update::Type;
    Ok(match order {
        Order::Default { table, action, args } => {
            let table = program.table(table)?;
            let action = Some(direct(program.table_action(table, action, true)?, args)?);
            let table_id = schema::id(&table.preamble);
            of(Type::Modify, entry(TableEntry { table_id, action, is_default_action: true, ..TableEntry::default() }))
        }
        Order::Entry { table, key, class, action, args, rates } => {
            let table = program.table(table)?;
            let mut matches = vec![field(table, 0, *key)?];
            if let Some(class) = class {
                matches.push(field(table, 1, Match::Exact((*class).into()))?);
            }
            let meter_config = rates.map(|rates| MeterConfig {
                cir: (rates.committed_milliunits_per_s / 1_000) as i64,
                cburst: rates.committed_burst as i64,
                pir: (rates.peak_milliunits_per_s / 1_000) as i64,
                pburst: rates.peak_burst as i64,
                ..MeterConfig::default()
            });
            let action = Some(direct(program.table_action(table, action, false)?, args)?);
            let table_id = schema::id(&table.preamble);
            let made = TableEntry { table_id, r#match: matches, action, meter_config, ..TableEntry::default() };
            of(Type::Insert, entry(made))
        }
        Order::Member { table, action, port } => {
            let profile = profile(program, table)?;
            let action = program.profile_action(profile, action)?;
            let Some(table_action::Type::Action(action)) = direct(action, &[u128::from(*port)])?.r#type else {
                return Err(Problem::new("an action is an action"));
            };
            let action_profile_id = schema::id(&profile.preamble);
            let member = ActionProfileMember { action_profile_id, member_id: *port, action: Some(action) };
            of(Type::Insert, entity::Entity::ActionProfileMember(member))
        }
        Order::Group { table, group, ports, is_new } => {
            let member = |port: &u32| Member {
                member_id: *port,
                weight: 1,
                watch_kind: Some(WatchKind::WatchPort(number((*port).into()))),
            };
            let action_profile_id = schema::id(&profile(program, table)?.preamble);
            let members = ports.iter().map(member).collect();
            let made = ActionProfileGroup { action_profile_id, group_id: *group, members, max_size: 0 };
            of(if *is_new { Type::Insert } else { Type::Modify }, entity::Entity::ActionProfileGroup(made))
        }
        Order::Route { table, key, priority, group, is_new } => {
            let table = program.table(table)?;
            let action = TableAction { r#type: Some(table_action::Type::ActionProfileGroupId(*group)) };
            let (table_id, matches) = (schema::id(&table.preamble), vec![field(table, 0, *key)?]);
            let (action, priority) = (is_new.then_some(action), *priority);
            let made = TableEntry { table_id, r#match: matches, action, priority, ..TableEntry::default() };
            of(if *is_new { Type::Insert } else { Type::Delete }, entry(made))
        }
        Order::Register { register, .. } => {
            return Err(Problem::new(format!("this controller writes no registers, and so not `{register}`")));
        }
        Order::Session { session, replicas } => {
            let session = CloneSessionEntry { session_id: *session, replicas: copies(replicas), ..Default::default() };
            engine(Engine::CloneSessionEntry(session))
        }
        Order::Multicast { group, replicas } => {
            let multicast_group_id = u32::try_from(*group).unwrap_or(0);
            let group = MulticastGroupEntry { multicast_group_id, replicas: copies(replicas), ..Default::default() };
            engine(Engine::MulticastGroupEntry(group))
        }
    })
}

/// A report in a packet; `None` if it is none.
pub fn report(packet: &PacketIn) -> Option<Report> {
    let value = |id: u32| {
        let bytes = &packet.metadata.iter().find(|it| it.metadata_id == id)?.value;
        (bytes.len() <= 4).then(|| bytes.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)))
    };
    // The fields of `report_t`, in their order.
    let [port, queue, utilisation, depth, colour] = [value(1)?, value(2)?, value(3)?, value(4)?, value(5)?];
    Some(Report {
        port,
        has_queue_event: queue != 0,
        has_utilisation_event: utilisation != 0,
        depth,
        colour: u8::try_from(colour).ok().filter(|colour| *colour <= 2)?,
    })
}

fn of(kind: update::Type, entity: entity::Entity) -> Update {
    Update { r#type: kind.into(), entity: Some(Entity { entity: Some(entity) }) }
}

fn entry(entry: TableEntry) -> entity::Entity {
    entity::Entity::TableEntry(entry)
}

fn engine(what: Engine) -> Update {
    let entry = PacketReplicationEngineEntry { r#type: Some(what) };
    of(update::Type::Insert, entity::Entity::PacketReplicationEngineEntry(entry))
}

fn copies(replicas: &[(u32, u64)]) -> Vec<Replica> {
    let copy = |&(port, instance): &(u32, u64)| Replica {
        instance: u32::try_from(instance).unwrap_or(0),
        port_kind: Some(PortKind::Port(number(port.into()))),
        ..Replica::default()
    };
    replicas.iter().map(copy).collect()
}

fn number(value: u128) -> Vec<u8> {
    canonical(&value.to_be_bytes())
}

fn profile<'a>(program: &'a Schema, table: &str) -> Result<&'a ActionProfile, Problem> {
    let table = program.table(table)?;
    let found = program.info().action_profiles.iter().find(|it| schema::id(&it.preamble) == table.implementation_id);
    found.ok_or_else(|| Problem::new(format!("table {} has no selector", schema::name(&table.preamble))))
}

/// An action with arguments, in the order of its parameters.
fn direct(action: &p4runtime_proto::p4::config::v1::Action, args: &[u128]) -> Result<TableAction, Problem> {
    if action.params.len() != args.len() {
        let message = format!("action {} has {} parameters", schema::name(&action.preamble), action.params.len());
        return Err(Problem::new(message));
    }
    let param = |(param, value): (&p4runtime_proto::p4::config::v1::action::Param, &u128)| action::Param {
        param_id: param.id,
        value: number(*value),
    };
    let params = action.params.iter().zip(args).map(param).collect();
    let action = Action { action_id: schema::id(&action.preamble), params };
    Ok(TableAction { r#type: Some(table_action::Type::Action(action)) })
}

fn field(table: &Table, position: usize, key: Match) -> Result<FieldMatch, Problem> {
    use field_match::{Exact, FieldMatchType, Lpm, Ternary};
    let found = table.match_fields.get(position);
    let found =
        found.ok_or_else(|| Problem::new(format!("table {} has too few keys", schema::name(&table.preamble))))?;
    let kind = match key {
        Match::Exact(value) => FieldMatchType::Exact(Exact { value: number(value) }),
        Match::Prefix(value, bits) => FieldMatchType::Lpm(Lpm { value: number(value), prefix_len: bits as i32 }),
        Match::Masked(value, bits) => {
            let mask = if bits == 0 { 0 } else { u128::MAX << (128 - bits.min(128)) };
            FieldMatchType::Ternary(Ternary { value: number(value), mask: number(mask) })
        }
    };
    Ok(FieldMatch { field_id: found.id, field_match_type: Some(kind) })
}
