//! Entities as messages for controllers.
//!
//! What enters: entities of the control plane. What leaves: messages that a controller could have written, so that a
//! read returns what was written. Objects that the controllers' P4Info omits are skipped.

use crate::data;
use crate::matches;
use crate::schema::Schema;
use crate::value;
use base::{Bits, OrderedSet};
use control::api::entity::{
    Call, Choice, CloneSession, Direct, EntryAction, Group, Member, Multicast, Replica, TableEntry,
};
use control::api::{Entity, Which};
use p4runtime_proto::p4::v1::{self, entity::Entity as Sent};
use switch::MeterConfig;
use switch::externs::CounterCell;
use switch::meter::ColorCounts;

/// The groups and sessions whose ports a controller wrote as numbers, and which are shown in that form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberedPorts {
    pub groups: OrderedSet<u64>,
    pub sessions: OrderedSet<u32>,
}

/// Which values of meters are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The rates, with an entry.
    pub meter_config: bool,
    /// The packets of each colour.
    pub color_counts: bool,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { meter_config: true, color_counts: false }
    }
}

/// Encodes entities as messages.
pub(crate) struct Encoder<'a> {
    pub asked: Asked,
    pub schema: &'a Schema,
    pub numbered: &'a NumberedPorts,
}

impl Encoder<'_> {
    /// The message of an entity; `None` if controllers do not see its owner.
    pub fn entity(&self, entity: &Entity) -> Option<v1::Entity> {
        let ids = &self.schema.ids;
        let sent = match entity {
            Entity::TableEntry(it) => Sent::TableEntry(self.table_entry(it)?),
            // It is written, not read.
            Entity::AllEntries(_) => return None,
            Entity::DirectCounter(it) => Sent::DirectCounterEntry(v1::DirectCounterEntry {
                table_entry: Some(self.named(it)?),
                data: Some(counter_data(it.value)),
            }),
            Entity::DirectMeter(it) => Sent::DirectMeterEntry(v1::DirectMeterEntry {
                table_entry: Some(self.named(it)?),
                config: it.value.config.map(meter_config),
                counter_data: self.color_counts(it.value.counts),
            }),
            Entity::Member(it) => Sent::ActionProfileMember(self.member(it)?),
            Entity::Group(it) => Sent::ActionProfileGroup(self.group(it)?),
            Entity::Counter(it) => Sent::CounterEntry(v1::CounterEntry {
                counter_id: *ids.counters.get(it.array)?,
                index: index(it.index),
                data: Some(counter_data(it.value)),
            }),
            Entity::Meter(it) => Sent::MeterEntry(v1::MeterEntry {
                meter_id: *ids.meters.get(it.array)?,
                index: index(it.index),
                config: it.value.config.map(meter_config),
                counter_data: self.color_counts(it.value.counts),
            }),
            Entity::Register(it) => {
                let register = self.schema.model.register(*ids.registers.get(it.array)?)?;
                Sent::RegisterEntry(v1::RegisterEntry {
                    register_id: register.id,
                    index: index(it.index),
                    data: Some(data::write_cell(self.schema, &register.data, &it.value)),
                })
            }
            Entity::Multicast(it) => replication(self.multicast(it)),
            Entity::CloneSession(it) => replication(self.clone_session(it)),
            Entity::ValueSet { set, members } => {
                let set = self.schema.model.value_set(*ids.value_sets.get(*set)?)?;
                let member = |key: &Vec<base::FieldMatch>| v1::ValueSetMember {
                    r#match: matches::write(self.schema, &set.fields, key),
                };
                Sent::ValueSetEntry(v1::ValueSetEntry {
                    value_set_id: set.id,
                    members: members.iter().map(member).collect(),
                })
            }
            Entity::Digest { digest, config } => Sent::DigestEntry(v1::DigestEntry {
                digest_id: *ids.digests.get(*digest)?,
                config: Some(v1::digest_entry::Config {
                    max_timeout_ns: signed(config.timeout_max_ns),
                    max_list_size: i32::try_from(config.list_size_max).unwrap_or(i32::MAX),
                    ack_timeout_ns: signed(config.ack_timeout_ns),
                }),
            }),
        };
        Some(v1::Entity { entity: Some(sent) })
    }

    // ------------------------------------------------------------------------------------------------- tables

    fn table_entry(&self, entry: &TableEntry) -> Option<v1::TableEntry> {
        let table = self.schema.model.table(*self.schema.ids.tables.get(entry.table)?)?;
        let action = match &entry.action {
            Some(action) => Some(self.table_action(table, action)?),
            None => None,
        };
        let name = entry.name.as_ref();
        Some(v1::TableEntry {
            table_id: table.id,
            r#match: name.map(|name| matches::write(self.schema, &table.keys, &name.key)).unwrap_or_default(),
            action,
            // Tables without priorities use internal ones for some entries of the program.
            priority: name.filter(|_| table.has_priorities()).map_or(0, |name| name.priority),
            controller_metadata: entry.attributes.controller_metadata,
            meter_config: entry.meter.flatten().filter(|_| self.asked.meter_config).map(meter_config),
            counter_data: entry.counter.map(counter_data),
            meter_counter_data: self.color_counts(entry.meter_counts),
            is_default_action: name.is_none(),
            idle_timeout_ns: signed(entry.attributes.idle_timeout_ns),
            time_since_last_hit: entry.idle_ns.map(|idle| v1::table_entry::IdleTimeout { elapsed_ns: signed(idle) }),
            metadata: entry.attributes.metadata.clone(),
            is_const: entry.is_const,
        })
    }

    fn color_counts(&self, counts: Option<ColorCounts>) -> Option<v1::MeterCounterData> {
        let [green, yellow, red] = counts.filter(|_| self.asked.color_counts)?.map(|it| Some(counter_data(it)));
        Some(v1::MeterCounterData { green, yellow, red })
    }

    /// An entry in a notification: with the controller's metadata, without its action.
    pub fn entry_name(&self, entry: &TableEntry) -> Option<v1::TableEntry> {
        let table = self.schema.model.table(*self.schema.ids.tables.get(entry.table)?)?;
        let name = entry.name.as_ref()?;
        Some(v1::TableEntry {
            table_id: table.id,
            r#match: matches::write(self.schema, &table.keys, &name.key),
            priority: if table.has_priorities() { name.priority } else { 0 },
            controller_metadata: entry.attributes.controller_metadata,
            idle_timeout_ns: signed(entry.attributes.idle_timeout_ns),
            metadata: entry.attributes.metadata.clone(),
            ..v1::TableEntry::default()
        })
    }

    /// An entry's key and priority only.
    fn named<T>(&self, direct: &Direct<T>) -> Option<v1::TableEntry> {
        let table = self.schema.model.table(*self.schema.ids.tables.get(direct.table)?)?;
        let Which::Named(name) = &direct.which else {
            let is_default_action = direct.which == Which::Default;
            return Some(v1::TableEntry { table_id: table.id, is_default_action, ..v1::TableEntry::default() });
        };
        Some(v1::TableEntry {
            table_id: table.id,
            r#match: matches::write(self.schema, &table.keys, &name.key),
            priority: if table.has_priorities() { name.priority } else { 0 },
            ..v1::TableEntry::default()
        })
    }

    fn table_action(&self, table: &p4info::Table, action: &EntryAction) -> Option<v1::TableAction> {
        use v1::table_action::Type;
        let sent = match action {
            EntryAction::Call(call) => Type::Action(self.call(call)?),
            EntryAction::Member(id) => Type::ActionProfileMemberId(*id),
            EntryAction::Group(id) => Type::ActionProfileGroupId(*id),
            EntryAction::OneShot(choices) => {
                let choice = |choice| self.choice(table.profile, choice);
                let actions = choices.iter().map(choice).collect::<Option<_>>()?;
                let set = v1::ActionProfileActionSet { action_profile_actions: actions, ..Default::default() };
                Type::ActionProfileActionSet(set)
            }
        };
        Some(v1::TableAction { r#type: Some(sent) })
    }

    fn choice(&self, profile: Option<u32>, choice: &Choice) -> Option<v1::ActionProfileAction> {
        use v1::action_profile_action::WatchKind;
        Some(v1::ActionProfileAction {
            action: Some(self.call(&choice.call)?),
            weight: self.weight(profile, choice.weight),
            watch_kind: choice.watch_port.map(|port| WatchKind::WatchPort(value::number(port.into()))),
        })
    }

    /// A member's weight, as it was written.
    fn weight(&self, profile: Option<u32>, weight: u32) -> i32 {
        let profile = profile.and_then(|id| self.schema.model.action_profile(id));
        match profile.is_some_and(|profile| profile.weights_disallowed) {
            true => 0,
            false => i32::try_from(weight).unwrap_or(i32::MAX),
        }
    }

    fn call(&self, call: &Call) -> Option<v1::Action> {
        let action = self.schema.model.action(*self.schema.ids.actions.get(call.action)?)?;
        // The switch has no values of no bits.
        let (mut args, nothing) = (call.args.iter(), Bits::zero(0));
        let param = |param: &p4info::Param| {
            let value = if param.value.width_bits == 0 { &nothing } else { args.next()? };
            Some(v1::action::Param { param_id: param.id, value: self.schema.translator.write(&param.value, value) })
        };
        Some(v1::Action { action_id: action.id, params: action.params.iter().filter_map(param).collect() })
    }

    // ------------------------------------------------------------------------------------------------ profiles

    fn member(&self, member: &Member) -> Option<v1::ActionProfileMember> {
        let action = match &member.call {
            Some(call) => Some(self.call(call)?),
            None => None,
        };
        let action_profile_id = *self.schema.ids.profiles.get(member.profile)?;
        Some(v1::ActionProfileMember { action_profile_id, member_id: member.id, action })
    }

    fn group(&self, group: &Group) -> Option<v1::ActionProfileGroup> {
        use v1::action_profile_group::{Member, member::WatchKind};
        let action_profile_id = *self.schema.ids.profiles.get(group.profile)?;
        let member = |it: &control::api::entity::GroupMember| Member {
            member_id: it.member,
            weight: self.weight(Some(action_profile_id), it.weight),
            watch_kind: it.watch_port.map(|port| WatchKind::WatchPort(value::number(port.into()))),
        };
        Some(v1::ActionProfileGroup {
            action_profile_id,
            group_id: group.id,
            members: group.members.iter().map(member).collect(),
            max_size: i32::try_from(group.size_max).unwrap_or(i32::MAX),
        })
    }

    // --------------------------------------------------------------------------------------------- replication

    fn multicast(&self, group: &Multicast) -> v1::packet_replication_engine_entry::Type {
        v1::packet_replication_engine_entry::Type::MulticastGroupEntry(v1::MulticastGroupEntry {
            multicast_group_id: u32::try_from(group.group).unwrap_or(u32::MAX),
            replicas: replicas(&group.replicas, self.numbered.groups.contains(&group.group)),
            metadata: group.metadata.clone(),
        })
    }

    fn clone_session(&self, session: &CloneSession) -> v1::packet_replication_engine_entry::Type {
        v1::packet_replication_engine_entry::Type::CloneSessionEntry(v1::CloneSessionEntry {
            session_id: session.session,
            replicas: replicas(&session.replicas, self.numbered.sessions.contains(&session.session)),
            class_of_service: session.class_of_service,
            packet_length_bytes: i32::try_from(session.length_bytes_max).unwrap_or(i32::MAX),
        })
    }
}

fn replication(entry: v1::packet_replication_engine_entry::Type) -> Sent {
    Sent::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(entry) })
}

fn replicas(replicas: &[Replica], as_numbers: bool) -> Vec<v1::Replica> {
    use v1::replica::PortKind;
    let backup = |it: &switch::Replica| v1::BackupReplica {
        port: value::number(it.port.into()),
        instance: u32::try_from(it.rid).unwrap_or(u32::MAX),
    };
    let replica = |it: &Replica| v1::Replica {
        port_kind: Some(match as_numbers {
            true => PortKind::EgressPort(it.primary.port),
            false => PortKind::Port(value::number(it.primary.port.into())),
        }),
        instance: u32::try_from(it.primary.rid).unwrap_or(u32::MAX),
        backup_replicas: it.backups.iter().map(backup).collect(),
    };
    replicas.iter().map(replica).collect()
}

fn index(index: Option<u64>) -> Option<v1::Index> {
    index.map(|index| v1::Index { index: signed(index) })
}

fn counter_data(cell: CounterCell) -> v1::CounterData {
    v1::CounterData { byte_count: signed(cell.bytes), packet_count: signed(cell.packets) }
}

fn meter_config(config: MeterConfig) -> v1::MeterConfig {
    v1::MeterConfig {
        cir: signed(config.committed_rate_milliunits_per_s / 1000),
        cburst: signed(config.committed_burst),
        pir: signed(config.peak_rate_milliunits_per_s / 1000),
        pburst: signed(config.peak_burst),
        eburst: 0,
    }
}

/// A number of a message. A number that does not fit is shown as the maximum.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
