//! Translates updates to those of the control plane.
//!
//! What enters: an update of a write request and the schema that defines its ids. What leaves: a
//! [`control::api::Update`]; `None`, if the update is valid and changes nothing; or why it is invalid.

use crate::data;
use crate::matches;
use crate::schema::{Schema, about};
use crate::translator::Unknown;
use control::api::entity::{
    Call, Cell, Choice, CloneSession, DigestConfig, Direct, EntryAction, EntryName, Group, GroupMember, Member,
    MeterValue, Multicast, Replica, TableEntry,
};
use control::api::{Code, Entity, Fault, Update, UpdateKind, Which};
use core::fmt::Arguments;
use ir::ActionId;
use p4info::{Kind, Table};
use p4runtime_proto::p4::v1::{self, entity::Entity as Sent};
use switch::MeterConfig;
use switch::externs::CounterCell;
use switch::meter::ColorCounts;
use tables::Attributes;

/// An update. None for one that requests no change, such as a counter without data.
pub(crate) fn update(schema: &Schema, sent: &v1::Update) -> Result<Option<Update>, Fault> {
    let kind = match v1::update::Type::try_from(sent.r#type) {
        Ok(v1::update::Type::Insert) => UpdateKind::Insert,
        Ok(v1::update::Type::Modify) => UpdateKind::Modify,
        Ok(v1::update::Type::Delete) => UpdateKind::Delete,
        Ok(v1::update::Type::Unspecified) => {
            return Err(Fault::invalid("the type of the update is missing: it must be INSERT, MODIFY or DELETE"));
        }
        Err(_) => {
            let message = format!("there is no type of update {}: it must be INSERT, MODIFY or DELETE", sent.r#type);
            return Err(Fault::invalid(message));
        }
    };
    let Some(entity) = sent.entity.as_ref().and_then(|entity| entity.entity.as_ref()) else {
        return Err(Fault::invalid("the update has no entity"));
    };
    let reader = Reader { schema, kind };
    Ok(reader.entity(entity)?.map(|entity| Update { kind, entity }))
}

/// The greatest instance of a replica, which programs see in 16 bits.
const INSTANCE_MAX: u32 = 0xFFFF;

/// The greatest class of service: PSA has 8 bits for it.
const CLASS_OF_SERVICE_MAX: u32 = 0xFF;

struct Reader<'a> {
    schema: &'a Schema,
    kind: UpdateKind,
}

impl Reader<'_> {
    fn entity(&self, sent: &Sent) -> Result<Option<Entity>, Fault> {
        let entity = match sent {
            Sent::ExternEntry(_) => {
                return Err(Fault::new(Code::Unimplemented, "entities of other externs are not supported"));
            }
            Sent::TableEntry(it) => Entity::TableEntry(self.table_entry(it)?),
            Sent::ActionProfileMember(it) => Entity::Member(self.member(it)?),
            Sent::ActionProfileGroup(it) => Entity::Group(self.group(it)?),
            Sent::MeterEntry(it) => Entity::Meter(self.meter(it)?),
            Sent::CounterEntry(it) => return self.counter(it),
            Sent::DirectMeterEntry(it) => {
                let config = it
                    .config
                    .as_ref()
                    .map(|config| meter_config(format_args!("the direct meter"), config))
                    .transpose()?;
                let counts = color_counts(format_args!("the direct meter"), it.counter_data.as_ref())?;
                let value = MeterValue { config, counts };
                Entity::DirectMeter(self.direct("direct meter", it.table_entry.as_ref(), value)?)
            }
            Sent::DirectCounterEntry(it) => {
                let value = it.data.as_ref().map_or(Ok(CounterCell::default()), counter_cell)?;
                let direct = self.direct("direct counter", it.table_entry.as_ref(), value)?;
                if it.data.is_none() {
                    return Ok(None);
                }
                Entity::DirectCounter(direct)
            }
            Sent::PacketReplicationEngineEntry(it) => self.replication(it)?,
            Sent::ValueSetEntry(it) => self.value_set(it)?,
            Sent::RegisterEntry(it) => Entity::Register(self.register(it)?),
            Sent::DigestEntry(it) => self.digest(it)?,
        };
        Ok(Some(entity))
    }

    // ------------------------------------------------------------------------------------------------- tables

    fn table(&self, id: u32) -> Result<&Table, Fault> {
        self.schema.model.table(id).ok_or_else(|| self.schema.unknown(Kind::Table, id))
    }

    /// How a new name in a key is treated: an entry that is modified or deleted exists, so its names do.
    fn unknown_key(&self) -> Unknown {
        if self.kind == UpdateKind::Insert { Unknown::Numbered } else { Unknown::Refused }
    }

    fn table_entry(&self, sent: &v1::TableEntry) -> Result<TableEntry, Fault> {
        let table = self.table(sent.table_id)?;
        let owner = format_args!("table {}", table.name);
        if sent.is_const {
            let message = format!("{owner}: only the switch sets is_const: omit it in writes");
            return Err(Fault::invalid(message));
        }
        let name = match sent.is_default_action {
            true => {
                check_default(owner, sent)?;
                None
            }
            false => Some(entry_name(self.schema, table, sent, self.unknown_key())?),
        };
        if self.kind == UpdateKind::Delete {
            return Ok(TableEntry::new(table.table, name, None));
        }
        if self.kind == UpdateKind::Insert && name.is_some() && table.keys.is_empty() {
            return Err(Fault::invalid(format!("{owner} has no key: it has a default action and no entries")));
        }
        let meter_counts = color_counts(owner, sent.meter_counter_data.as_ref())?;
        if sent.time_since_last_hit.is_some() {
            return Err(Fault::invalid(format!("{owner}: time_since_last_hit can be read, not written")));
        }
        let attributes = Attributes {
            metadata: sent.metadata.clone(),
            controller_metadata: controller_metadata(sent),
            idle_timeout_ns: not_negative(owner, "idle_timeout_ns", sent.idle_timeout_ns)?,
        };
        let action = sent.action.as_ref().map(|action| self.table_action(table, owner, action)).transpose()?;
        let counter = sent.counter_data.as_ref().map(counter_cell).transpose().map_err(|fault| about(fault, owner))?;
        let meter = sent.meter_config.as_ref().map(|config| meter_config(owner, config)).transpose()?;
        // If an update has no meter configuration, the meter is reset.
        let meter = if meter.is_some() || table.direct_meter.is_some() { Some(meter) } else { None };
        Ok(TableEntry { attributes, counter, meter, meter_counts, ..TableEntry::new(table.table, name, action) })
    }

    fn table_action(&self, table: &Table, owner: Arguments<'_>, sent: &v1::TableAction) -> Result<EntryAction, Fault> {
        use v1::table_action::Type;
        let declared = &self.schema.program.tables[table.table];
        match &sent.r#type {
            None => Err(Fault::invalid(format!("{owner}: the action is empty"))),
            Some(Type::Action(action)) => {
                let listed = table.action(action.action_id).map(|it| declared.actions[it.position as usize].action);
                Ok(EntryAction::Call(self.call(owner, listed, table, action)?))
            }
            Some(Type::ActionProfileMemberId(id)) => Ok(EntryAction::Member(*id)),
            Some(Type::ActionProfileGroupId(id)) => {
                self.check_selector(owner, table)?;
                Ok(EntryAction::Group(*id))
            }
            Some(Type::ActionProfileActionSet(set)) => {
                self.check_selector(owner, table)?;
                Ok(EntryAction::OneShot(self.choices(owner, table, set)?))
            }
        }
    }

    fn check_selector(&self, owner: Arguments<'_>, table: &Table) -> Result<(), Fault> {
        let profile = table.profile.and_then(|id| self.schema.model.action_profile(id));
        match profile.is_some_and(|profile| profile.has_selector) {
            true => Ok(()),
            false => Err(Fault::invalid(format!("{owner} has no action selector: its entries cannot have groups"))),
        }
    }

    /// An action with its arguments; `listed` is the action of the program, if its owner lists it.
    fn call(
        &self,
        owner: Arguments<'_>,
        listed: Option<ActionId>,
        table: &Table,
        sent: &v1::Action,
    ) -> Result<Call, Fault> {
        let model = &self.schema.model;
        let Some(action) = model.action(sent.action_id) else {
            return Err(about(self.schema.unknown(Kind::Action, sent.action_id), owner));
        };
        let Some(listed) = listed else {
            let names = table.actions.iter().filter_map(|it| model.action(it.id)).map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            let message = format!("{owner} does not list action {}: it has {}", action.name, names.join(", "));
            return Err(Fault::invalid(message));
        };
        let what = format_args!("{owner}, action {}", action.name);
        if let Some(unknown) = sent.params.iter().find(|it| action.param(it.param_id).is_none()) {
            let known: Vec<String> = action.params.iter().map(|it| format!("{} ({})", it.id, it.name)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!("{what} has no parameter {}: its parameters are {known}", unknown.param_id);
            return Err(Fault::invalid(message));
        }
        let mut args = Vec::with_capacity(action.params.len());
        for param in &action.params {
            let mut given = sent.params.iter().filter(|it| it.param_id == param.id);
            let what = format_args!("{what}, parameter {}", param.name);
            let Some(value) = given.next() else {
                return Err(Fault::invalid(format!("{what}: its value is missing")));
            };
            if given.next().is_some() {
                return Err(Fault::invalid(format!("{what}: it is given twice")));
            }
            // The switch has no values of no bits.
            if param.value.width_bits == 0 && value.value.iter().all(|byte| *byte == 0) {
                continue;
            }
            args.push(self.schema.translator.read(what, &param.value, &value.value, Unknown::Numbered)?);
        }
        Ok(Call { action: listed, args })
    }

    fn choices(
        &self,
        owner: Arguments<'_>,
        table: &Table,
        sent: &v1::ActionProfileActionSet,
    ) -> Result<Vec<Choice>, Fault> {
        use v1::action_profile_action::WatchKind;
        use v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
        let unimplemented = |what| Err(Fault::new(Code::Unimplemented, format!("{owner}: {what}")));
        if sent.group_action.is_some() {
            return unimplemented("actions of groups are not supported");
        }
        let profile = table.profile.and_then(|id| self.schema.model.action_profile(id));
        let unknown = |what, number| Err(Fault::invalid(format!("{owner}: there is no {what} {number}")));
        // Every selector hashes the fields that its table specifies.
        match ActionSelectionMode::try_from(sent.action_selection_mode) {
            Ok(ActionSelectionMode::DefaultModeDeterminedByActionSelector | ActionSelectionMode::Hash) => {}
            Ok(ActionSelectionMode::Random) => {
                return unimplemented("actions are selected by a hash, as the selector says, and not at random");
            }
            Err(_) => return unknown("action selection mode", sent.action_selection_mode),
        }
        let counts_members = profile.is_some_and(|profile| profile.counts_members);
        match (SizeSemantics::try_from(sent.size_semantics), counts_members) {
            (Ok(SizeSemantics::DefaultSizeDeterminedByActionSelector), _)
            | (Ok(SizeSemantics::SumOfWeights), false)
            | (Ok(SizeSemantics::SumOfMembers), true) => {}
            (Ok(_), true) => return unimplemented("the selector's size counts members, not weights"),
            (Ok(_), false) => return unimplemented("the selector's size counts weights, not members"),
            (Err(_), _) => return unknown("size semantics", sent.size_semantics),
        }
        let declared = &self.schema.program.tables[table.table];
        let mut choices = Vec::with_capacity(sent.action_profile_actions.len());
        for choice in &sent.action_profile_actions {
            let Some(action) = &choice.action else {
                return Err(Fault::invalid(format!("{owner}: an action of the set is missing")));
            };
            let listed = table.action(action.action_id).map(|it| declared.actions[it.position as usize].action);
            let call = self.call(owner, listed, table, action)?;
            let watch_port = match &choice.watch_kind {
                None => None,
                Some(WatchKind::Watch(port)) => self.watched_number(owner, *port)?,
                Some(WatchKind::WatchPort(port)) => self.watched(owner, port)?,
            };
            choices.push(Choice { call, weight: weight(owner, profile, choice.weight)?, watch_port });
        }
        let sizes: Vec<u32> = choices.iter().map(|choice| choice.weight).collect();
        self.check_group_size(owner, table.profile, &sizes)?;
        Ok(choices)
    }

    fn direct<T>(&self, what: &str, entry: Option<&v1::TableEntry>, value: T) -> Result<Direct<T>, Fault> {
        let Some(entry) = entry else {
            return Err(Fault::invalid(format!("a {what} needs its table_entry")));
        };
        let table = self.table(entry.table_id)?;
        let has = if what == "direct counter" { table.direct_counter } else { table.direct_meter };
        if has.is_none() {
            return Err(Fault::invalid(format!("table {} has no {what}", table.name)));
        }
        if self.kind != UpdateKind::Modify {
            let message = format!("a {what} of table {} can be modified, not inserted or deleted", table.name);
            return Err(Fault::invalid(message));
        }
        let which = match entry.is_default_action {
            true => {
                check_default(format_args!("table {}", table.name), entry)?;
                Which::Default
            }
            false => Which::Named(entry_name(self.schema, table, entry, Unknown::Refused)?),
        };
        Ok(Direct { table: table.table, which, value })
    }

    // ------------------------------------------------------------------------------------------------ profiles

    fn profile(&self, id: u32) -> Result<&p4info::ActionProfile, Fault> {
        self.schema.model.action_profile(id).ok_or_else(|| self.schema.unknown(Kind::ActionProfile, id))
    }

    fn member(&self, sent: &v1::ActionProfileMember) -> Result<Member, Fault> {
        let profile = self.profile(sent.action_profile_id)?;
        let owner = format_args!("action profile {}", profile.name);
        if sent.member_id == 0 {
            return Err(Fault::invalid(format!("{owner}: the id of a member must not be 0")));
        }
        let call = match (&sent.action, self.kind) {
            (_, UpdateKind::Delete) | (None, _) => None,
            (Some(action), _) => {
                let Some(table) = profile.tables.first().and_then(|&id| self.schema.model.table(id)) else {
                    return Err(Fault::invalid(format!("{owner} is used by no table")));
                };
                let declared = &self.schema.program.tables[table.table];
                let listed = table.action(action.action_id).map(|it| declared.actions[it.position as usize].action);
                Some(self.call(owner, listed, table, action)?)
            }
        };
        Ok(Member { profile: profile.profile, id: sent.member_id, call })
    }

    fn group(&self, sent: &v1::ActionProfileGroup) -> Result<Group, Fault> {
        use v1::action_profile_group::member::WatchKind;
        let profile = self.profile(sent.action_profile_id)?;
        let owner = format_args!("action profile {}, group {}", profile.name, sent.group_id);
        if !profile.has_selector {
            return Err(Fault::invalid(format!("action profile {} has no selector, and no groups", profile.name)));
        }
        if sent.group_id == 0 {
            return Err(Fault::invalid(format!("action profile {}: the id of a group must not be 0", profile.name)));
        }
        let mut group = Group { profile: profile.profile, id: sent.group_id, members: Vec::new(), size_max: 0 };
        if self.kind == UpdateKind::Delete {
            return Ok(group);
        }
        let limit = profile.group_size_max;
        group.size_max = match u32::try_from(sent.max_size) {
            // 0 means the limit of the profile.
            Ok(size) if limit <= 0 || sent.max_size <= limit => size,
            _ => {
                let size = sent.max_size;
                let wanted = if limit > 0 { format!("0 to {limit}") } else { "0 or more".to_owned() };
                return Err(Fault::invalid(format!("{owner}: max_size must be {wanted}, not {size}")));
            }
        };
        for member in &sent.members {
            let owner = format_args!("{owner}, member {}", member.member_id);
            let watch_port = match &member.watch_kind {
                None => None,
                Some(WatchKind::Watch(port)) => self.watched_number(owner, *port)?,
                Some(WatchKind::WatchPort(port)) => self.watched(owner, port)?,
            };
            let weight = weight(owner, Some(profile), member.weight)?;
            group.members.push(GroupMember { member: member.member_id, weight, watch_port });
        }
        let weights: Vec<u32> = group.members.iter().map(|member| member.weight).collect();
        self.check_group_size(owner, Some(profile.id), &weights)?;
        let (size, what) = group_size(profile, &weights);
        if group.size_max > 0 && size > u64::from(group.size_max) {
            let message = format!("{owner}: its max_size allows {} {what}, not {size}", group.size_max);
            return Err(Fault::new(Code::ResourceExhausted, message));
        }
        Ok(group)
    }

    /// Refuses more members or weights in a group than the profile allows.
    fn check_group_size(&self, owner: Arguments<'_>, profile: Option<u32>, weights: &[u32]) -> Result<(), Fault> {
        let Some(profile) = profile.and_then(|id| self.schema.model.action_profile(id)) else { return Ok(()) };
        let weight_max = u32::try_from(profile.member_weight_max).unwrap_or(0);
        if weight_max > 0
            && let Some(weight) = weights.iter().find(|&&weight| weight > weight_max)
        {
            return Err(Fault::invalid(format!("{owner}: a weight may be {weight_max} at most, not {weight}")));
        }
        let limit = match u64::try_from(profile.group_size_max) {
            Ok(limit) if limit > 0 => limit,
            _ => return Ok(()),
        };
        let (size, what) = group_size(profile, weights);
        match size > limit {
            true => Err(Fault::invalid(format!("{owner}: there may be {limit} {what}, not {size}"))),
            false => Ok(()),
        }
    }

    fn watched(&self, owner: Arguments<'_>, sent: &[u8]) -> Result<Option<u32>, Fault> {
        if sent.is_empty() {
            return Ok(None);
        }
        let port = port(&format!("{owner}, watch_port"), sent)?;
        self.check_port(owner, port).map(Some)
    }

    fn watched_number(&self, owner: Arguments<'_>, sent: i32) -> Result<Option<u32>, Fault> {
        match u32::try_from(sent) {
            Ok(0) => Ok(None),
            Ok(port) => self.check_port(owner, port).map(Some),
            Err(_) => Err(Fault::invalid(format!("{owner}: {sent} is not a valid port"))),
        }
    }

    fn check_port(&self, owner: Arguments<'_>, port: u32) -> Result<u32, Fault> {
        if self.schema.ports().any(|number| number == port) {
            return Ok(port);
        }
        let known: Vec<String> = self.schema.ports().map(|number| number.to_string()).collect();
        let message = format!("{owner}: there is no port {port} to watch; the ports are {}", known.join(", "));
        Err(Fault::invalid(message))
    }

    // -------------------------------------------------------------------------------------------------- arrays

    fn counter(&self, sent: &v1::CounterEntry) -> Result<Option<Entity>, Fault> {
        let Some(counter) = self.schema.model.counter(sent.counter_id) else {
            return Err(self.schema.unknown(Kind::Counter, sent.counter_id));
        };
        let owner = format_args!("counter {}", counter.name);
        self.only_modified(owner)?;
        let index = index(owner, sent.index.as_ref(), counter.size)?;
        let Some(data) = &sent.data else { return Ok(None) };
        let value = counter_cell(data).map_err(|fault| about(fault, owner))?;
        Ok(Some(Entity::Counter(Cell { array: counter.counter, index, value })))
    }

    fn meter(&self, sent: &v1::MeterEntry) -> Result<Cell<ir::MeterId, MeterValue>, Fault> {
        let Some(meter) = self.schema.model.meter(sent.meter_id) else {
            return Err(self.schema.unknown(Kind::Meter, sent.meter_id));
        };
        let owner = format_args!("meter {}", meter.name);
        self.only_modified(owner)?;
        let config = sent.config.as_ref().map(|config| meter_config(owner, config)).transpose()?;
        let value = MeterValue { config, counts: color_counts(owner, sent.counter_data.as_ref())? };
        Ok(Cell { array: meter.meter, index: index(owner, sent.index.as_ref(), meter.size)?, value })
    }

    fn register(&self, sent: &v1::RegisterEntry) -> Result<Cell<ir::RegisterId, base::Bits>, Fault> {
        let Some(register) = self.schema.model.register(sent.register_id) else {
            return Err(self.schema.unknown(Kind::Register, sent.register_id));
        };
        let owner = format_args!("register {}", register.name);
        self.only_modified(owner)?;
        let index = index(owner, sent.index.as_ref(), register.size)?;
        let Some(data) = &sent.data else {
            return Err(Fault::invalid(format!("{owner}: the data to write is missing")));
        };
        let declared = &self.schema.program.registers[register.register];
        let value = data::read_cell(self.schema, &owner.to_string(), &register.data, declared.value_bits(), data)?;
        Ok(Cell { array: register.register, index, value: value.resize(declared.ty.width()) })
    }

    fn only_modified(&self, owner: Arguments<'_>) -> Result<(), Fault> {
        match self.kind {
            UpdateKind::Modify => Ok(()),
            _ => Err(Fault::invalid(format!("{owner} can be modified, not inserted or deleted"))),
        }
    }

    // -------------------------------------------------------------------------------------------------- others

    fn replication(&self, sent: &v1::PacketReplicationEngineEntry) -> Result<Entity, Fault> {
        use v1::packet_replication_engine_entry::Type;
        match &sent.r#type {
            None => Err(Fault::invalid("the packet replication engine entry is empty")),
            Some(Type::MulticastGroupEntry(it)) => {
                if it.multicast_group_id == 0 {
                    return Err(Fault::invalid("the id of a multicast group must not be 0"));
                }
                let most = self.schema.program.architecture.multicast_group_max;
                if it.multicast_group_id > most {
                    let id = it.multicast_group_id;
                    return Err(Fault::invalid(format!("there is no multicast group {id}: the greatest is {most}")));
                }
                let replicas =
                    self.replicas(format_args!("multicast group {}", it.multicast_group_id), &it.replicas)?;
                let group = u64::from(it.multicast_group_id);
                Ok(Entity::Multicast(Multicast { group, replicas, metadata: it.metadata.clone() }))
            }
            Some(Type::CloneSessionEntry(it)) => {
                let owner = format_args!("clone session {}", it.session_id);
                if it.session_id == 0 {
                    return Err(Fault::invalid("the id of a clone session must not be 0"));
                }
                if it.class_of_service > CLASS_OF_SERVICE_MAX && self.kind != UpdateKind::Delete {
                    let class = it.class_of_service;
                    let message = format!("{owner}: class_of_service is {CLASS_OF_SERVICE_MAX} at most, not {class}");
                    return Err(Fault::invalid(message));
                }
                let length = it.packet_length_bytes;
                let Ok(length_bytes_max) = u32::try_from(length) else {
                    return Err(Fault::invalid(format!("{owner}: packet_length_bytes must not be negative: {length}")));
                };
                Ok(Entity::CloneSession(CloneSession {
                    session: it.session_id,
                    replicas: self.replicas(owner, &it.replicas)?,
                    group: None,
                    class_of_service: it.class_of_service,
                    length_bytes_max,
                }))
            }
        }
    }

    fn replicas(&self, owner: Arguments<'_>, sent: &[v1::Replica]) -> Result<Vec<Replica>, Fault> {
        use v1::replica::PortKind;
        if self.kind == UpdateKind::Delete {
            return Ok(Vec::new());
        }
        let mut replicas = Vec::with_capacity(sent.len());
        for replica in sent {
            let port = match &replica.port_kind {
                None => return Err(Fault::invalid(format!("{owner}: the port of a replica is missing"))),
                Some(PortKind::EgressPort(number)) => *number,
                Some(PortKind::Port(bytes)) => port(&format!("{owner}, port of a replica"), bytes)?,
            };
            let primary = self.copy(owner, port, replica.instance)?;
            let backup = |it: &v1::BackupReplica| {
                self.copy(owner, crate::from_proto::port(&format!("{owner}, port of a backup"), &it.port)?, it.instance)
            };
            let backups = replica.backup_replicas.iter().map(backup).collect::<Result<_, _>>()?;
            replicas.push(Replica { primary, backups });
        }
        Replica::check_all(&owner.to_string(), &replicas)?;
        Ok(replicas)
    }

    fn copy(&self, owner: Arguments<'_>, port: u32, instance: u32) -> Result<switch::Replica, Fault> {
        let most = self.schema.program.architecture.port_max;
        if port > most {
            let message = format!("{owner}: there is no port {port} for a replica: the greatest is {most}");
            return Err(Fault::new(Code::OutOfRange, message));
        }
        if instance > INSTANCE_MAX {
            let message = format!("{owner}: the instance of a replica is {INSTANCE_MAX} at most, not {instance}");
            return Err(Fault::invalid(message));
        }
        Ok(switch::Replica { rid: u64::from(instance), port })
    }

    fn value_set(&self, sent: &v1::ValueSetEntry) -> Result<Entity, Fault> {
        let Some(set) = self.schema.model.value_set(sent.value_set_id) else {
            return Err(self.schema.unknown(Kind::ValueSet, sent.value_set_id));
        };
        let owner = format_args!("value set {}", set.name);
        self.only_modified(owner)?;
        let read = |member: &v1::ValueSetMember| {
            matches::read(self.schema, owner, &set.fields, &member.r#match, Unknown::Numbered)
        };
        let members = sent.members.iter().map(read);
        Ok(Entity::ValueSet { set: set.set, members: members.collect::<Result<_, _>>()? })
    }

    fn digest(&self, sent: &v1::DigestEntry) -> Result<Entity, Fault> {
        let Some(digest) = self.schema.model.digest(sent.digest_id) else {
            return Err(self.schema.unknown(Kind::Digest, sent.digest_id));
        };
        let owner = format_args!("digest {}", digest.name);
        let Some(&id) = digest.digests.first() else {
            return Err(Fault::invalid(format!("{owner} is sent by no part of the program")));
        };
        let config = match &sent.config {
            _ if self.kind == UpdateKind::Delete => DigestConfig::default(),
            None => return Err(Fault::invalid(format!("{owner}: the config is missing"))),
            Some(config) => DigestConfig {
                timeout_max_ns: not_negative(owner, "max_timeout_ns", config.max_timeout_ns)?,
                list_size_max: not_negative(owner, "max_list_size", i64::from(config.max_list_size))? as u32,
                ack_timeout_ns: not_negative(owner, "ack_timeout_ns", config.ack_timeout_ns)?,
            },
        };
        Ok(Entity::Digest { digest: id, config })
    }
}

/// The size of a group in the unit of its profile, and the name of that unit.
fn group_size(profile: &p4info::ActionProfile, weights: &[u32]) -> (u64, &'static str) {
    match profile.counts_members {
        true => (weights.len() as u64, "members"),
        false => (weights.iter().map(|&weight| u64::from(weight)).sum(), "weights in sum"),
    }
}

pub(crate) fn controller_metadata(sent: &v1::TableEntry) -> u64 {
    sent.controller_metadata
}

/// Refuses fields that a default action cannot have.
pub(crate) fn check_default(owner: Arguments<'_>, sent: &v1::TableEntry) -> Result<(), Fault> {
    let refuse = |message| Err(Fault::invalid(format!("{owner}: the default action {message}")));
    if !sent.r#match.is_empty() {
        return refuse("has no match: leave it out");
    }
    if sent.priority != 0 {
        return refuse("has no priority: leave it 0");
    }
    if sent.idle_timeout_ns != 0 || sent.time_since_last_hit.is_some() {
        return refuse("has no idle timeout: leave it out");
    }
    Ok(())
}

/// The entry that a message refers to.
pub(crate) fn entry_name(
    schema: &Schema,
    table: &Table,
    sent: &v1::TableEntry,
    unknown: Unknown,
) -> Result<EntryName, Fault> {
    let owner = format_args!("table {}", table.name);
    let key = matches::read(schema, owner, &table.keys, &sent.r#match, unknown)?;
    match (table.has_priorities(), sent.priority) {
        (true, priority) if priority <= 0 => Err(Fault::invalid(format!(
            "{owner}: the priority must be above 0, not {priority}, because a match field is ternary, range or optional"
        ))),
        (false, priority) if priority != 0 => Err(Fault::invalid(format!(
            "{owner}: the priority must be 0, not {priority}, because no match field is ternary, range or optional"
        ))),
        (_, priority) => Ok(EntryName { key, priority }),
    }
}

/// A cell of an array; none for all of them.
pub(crate) fn index(owner: Arguments<'_>, sent: Option<&v1::Index>, size: u64) -> Result<Option<u64>, Fault> {
    let Some(v1::Index { index }) = sent else { return Ok(None) };
    match u64::try_from(*index) {
        Ok(index) if index < size => Ok(Some(index)),
        Ok(index) => {
            let last = size.saturating_sub(1);
            Err(Fault::new(Code::OutOfRange, format!("{owner} has no cell {index}: its cells are 0 to {last}")))
        }
        Err(_) => Err(Fault::invalid(format!("{owner}: the index {index} is negative"))),
    }
}

fn not_negative(owner: Arguments<'_>, what: &str, sent: i64) -> Result<u64, Fault> {
    u64::try_from(sent).map_err(|_| Fault::invalid(format!("{owner}: {what} must not be negative: {sent}")))
}

/// A member's weight. If the P4Info disallows weights it must be absent, and all members have the same weight.
fn weight(owner: Arguments<'_>, profile: Option<&p4info::ActionProfile>, sent: i32) -> Result<u32, Fault> {
    if let Some(profile) = profile.filter(|profile| profile.weights_disallowed) {
        return match sent {
            0 => Ok(1),
            _ => Err(Fault::invalid(format!(
                "{owner}: action profile {} allows no weights: the weight must be left out, not {sent}",
                profile.name
            ))),
        };
    }
    match u32::try_from(sent) {
        Ok(weight) if weight > 0 => Ok(weight),
        _ => Err(Fault::invalid(format!("{owner}: the weight must be 1 at least, not {sent}"))),
    }
}

fn port(what: &str, sent: &[u8]) -> Result<u32, Fault> {
    crate::value::bits(what, 32, sent).map(|bits| bits.low_u64() as u32)
}

fn counter_cell(sent: &v1::CounterData) -> Result<CounterCell, Fault> {
    let count = |what, sent| not_negative(format_args!("the counter"), what, sent);
    Ok(CounterCell { packets: count("packet_count", sent.packet_count)?, bytes: count("byte_count", sent.byte_count)? })
}

/// Rates and bursts of a meter of two rates and three colours.
fn meter_config(owner: Arguments<'_>, sent: &v1::MeterConfig) -> Result<MeterConfig, Fault> {
    if sent.eburst != 0 {
        let message =
            format!("{owner}: a meter of two rates has no excess burst: eburst must be 0, not {}", sent.eburst);
        return Err(Fault::invalid(message));
    }
    let rate = |what, sent| {
        let rate: u64 = not_negative(owner, what, sent)?;
        let too_large = || Fault::new(Code::OutOfRange, format!("{owner}: the {what} {rate} is too large"));
        rate.checked_mul(1000).ok_or_else(too_large)
    };
    Ok(MeterConfig {
        committed_rate_milliunits_per_s: rate("cir", sent.cir)?,
        committed_burst: not_negative(owner, "cburst", sent.cburst)?,
        peak_rate_milliunits_per_s: rate("pir", sent.pir)?,
        peak_burst: not_negative(owner, "pburst", sent.pburst)?,
    })
}

/// The counts of a meter's colours, which can only be reset to zero.
fn color_counts(owner: Arguments<'_>, sent: Option<&v1::MeterCounterData>) -> Result<Option<ColorCounts>, Fault> {
    let Some(v1::MeterCounterData { green, yellow, red }) = sent else { return Ok(None) };
    let is_zero = |it: &v1::CounterData| it.byte_count == 0 && it.packet_count == 0;
    match [green, yellow, red].into_iter().flatten().all(is_zero) {
        true => Ok(Some(ColorCounts::default())),
        false => {
            let message = format!("{owner}: the counters of a meter's colours can be set to 0 and to nothing else");
            Err(Fault::invalid(message))
        }
    }
}
