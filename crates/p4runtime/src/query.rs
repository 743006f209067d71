//! Read requests.
//!
//! What enters: an entity in which an omitted field stands for everything. What leaves: queries of the control plane,
//! and conditions that an entity must meet to be part of the response.

use crate::from_proto::{check_default, controller_metadata, entry_name, index};
use crate::matches;
use crate::schema::Schema;
use crate::to_proto::Asked;
use crate::translator::Unknown;
use base::{FieldMatch, OrderedSet};
use control::api::entity::{EntryAction, TableEntry};
use control::api::{Code, Entity, Fault, Query, TableQuery, Which};
use ir::ActionId;
use p4info::{Kind, Table};
use p4runtime_proto::p4::v1::{self, entity::Entity as Sent};

/// The queries for one entity of a read request.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// None if nothing can match.
    pub query: Option<Query>,
    pub filter: Filter,
    /// Which parts of them are shown.
    pub asked: Asked,
    /// A response without any entity is an error: what is missing.
    pub must_exist: Option<String>,
}

impl Wanted {
    /// That of a part of which something was found, or nothing.
    pub fn outcome(&self, is_found: bool) -> Result<(), Fault> {
        match &self.must_exist {
            Some(missing) if !is_found => Err(Fault::new(Code::NotFound, missing.clone())),
            _ => Ok(()),
        }
    }
}

/// Conditions on entries of tables.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Filter {
    key: Option<Vec<FieldMatch>>,
    priority: i32,
    actions: Option<OrderedSet<ActionId>>,
    metadata: Vec<u8>,
    controller_metadata: u64,
}

impl Filter {
    /// Whether the entity is part of the response.
    pub fn admits(&self, entity: &Entity) -> bool {
        let Entity::TableEntry(entry) = entity else { return true };
        let attributes = &entry.attributes;
        self.key.as_ref().is_none_or(|key| entry.name.as_ref().is_some_and(|name| name.key == *key))
            && (self.priority == 0 || entry.name.as_ref().is_some_and(|name| name.priority == self.priority))
            && self.actions.as_ref().is_none_or(|actions| runs_one_of(entry, actions))
            && (self.metadata.is_empty() || attributes.metadata == self.metadata)
            && (self.controller_metadata == 0 || attributes.controller_metadata == self.controller_metadata)
    }
}

fn runs_one_of(entry: &TableEntry, actions: &OrderedSet<ActionId>) -> bool {
    matches!(&entry.action, Some(EntryAction::Call(call)) if actions.contains(&call.action))
}

/// The queries for the entity.
pub(crate) fn read(schema: &Schema, sent: &v1::Entity) -> Result<Wanted, Fault> {
    let Some(sent) = &sent.entity else {
        return Err(Fault::invalid("the entity to read is empty: it must name a kind of entity"));
    };
    let nothing = || Wanted { query: None, filter: Filter::default(), asked: Asked::default(), must_exist: None };
    let all = |query| Wanted { query: Some(query), ..nothing() };
    match sent {
        // All entities of all externs that are supported: none.
        Sent::ExternEntry(it) if it.extern_type_id == 0 && it.extern_id == 0 => Ok(nothing()),
        Sent::ExternEntry(_) => Err(Fault::new(Code::Unimplemented, "entities of other externs are not supported")),
        Sent::TableEntry(it) => match table_entries(schema, it) {
            // No entry has an unknown name.
            Err(fault) if fault.code == Code::NotFound => Ok(nothing()),
            wanted => wanted,
        },
        Sent::DirectCounterEntry(it) => direct(schema, it.table_entry.as_ref(), true),
        Sent::DirectMeterEntry(it) => {
            let asked = Asked { color_counts: it.counter_data.is_some(), ..Asked::default() };
            Ok(Wanted { asked, ..direct(schema, it.table_entry.as_ref(), false)? })
        }
        Sent::ActionProfileMember(it) => {
            let profile = profile(schema, it.action_profile_id)?;
            Ok(all(Query::Members { profile, id: Some(it.member_id).filter(|&id| id != 0) }))
        }
        Sent::ActionProfileGroup(it) => {
            let profile = profile(schema, it.action_profile_id)?;
            Ok(all(Query::Groups { profile, id: Some(it.group_id).filter(|&id| id != 0) }))
        }
        Sent::CounterEntry(it) => {
            let array = optional(schema, Kind::Counter, it.counter_id, |id| schema.model.counter(id))?;
            let cell = array.map(|it| (&it.name, it.size));
            let index = cell_index("counter", cell, it.index.as_ref())?;
            Ok(all(Query::Counters { array: array.map(|it| it.counter), index }))
        }
        Sent::MeterEntry(it) => {
            let asked = Asked { color_counts: it.counter_data.is_some(), ..Asked::default() };
            let array = optional(schema, Kind::Meter, it.meter_id, |id| schema.model.meter(id))?;
            let index = cell_index("meter", array.map(|it| (&it.name, it.size)), it.index.as_ref())?;
            Ok(Wanted { asked, ..all(Query::Meters { array: array.map(|it| it.meter), index }) })
        }
        Sent::RegisterEntry(it) => {
            let array = optional(schema, Kind::Register, it.register_id, |id| schema.model.register(id))?;
            let index = cell_index("register", array.map(|it| (&it.name, it.size)), it.index.as_ref())?;
            Ok(all(Query::Registers { array: array.map(|it| it.register), index }))
        }
        Sent::PacketReplicationEngineEntry(it) => replication(it).map(all),
        Sent::ValueSetEntry(it) => {
            let set = optional(schema, Kind::ValueSet, it.value_set_id, |id| schema.model.value_set(id))?;
            Ok(all(Query::ValueSets(set.map(|it| it.set))))
        }
        Sent::DigestEntry(it) => {
            let digest = optional(schema, Kind::Digest, it.digest_id, |id| schema.model.digest(id))?;
            match digest.map(|it| it.digests.first()) {
                None => Ok(all(Query::Digests(None))),
                Some(Some(&id)) => Ok(all(Query::Digests(Some(id)))),
                // A digest that the program never sends is never configured.
                Some(None) => Ok(nothing()),
            }
        }
    }
}

/// An object, or none for all of its kind.
fn optional<'s, T>(
    schema: &'s Schema,
    kind: Kind,
    id: u32,
    find: impl Fn(u32) -> Option<&'s T>,
) -> Result<Option<&'s T>, Fault> {
    if id == 0 {
        return Ok(None);
    }
    find(id).map(Some).ok_or_else(|| schema.unknown(kind, id))
}

fn profile(schema: &Schema, id: u32) -> Result<Option<ir::ActionProfileId>, Fault> {
    let profile = optional(schema, Kind::ActionProfile, id, |id| schema.model.action_profile(id))?;
    Ok(profile.map(|it| it.profile))
}

fn cell_index(what: &str, array: Option<(&String, u64)>, sent: Option<&v1::Index>) -> Result<Option<u64>, Fault> {
    match array {
        Some((name, size)) => index(format_args!("{what} {name}"), sent, size),
        // Without an array, a cell index has no meaning.
        None => Ok(None),
    }
}

fn replication(sent: &v1::PacketReplicationEngineEntry) -> Result<Query, Fault> {
    use v1::packet_replication_engine_entry::Type;
    match &sent.r#type {
        None => Err(Fault::invalid(
            "the packet replication engine entry is empty: it must contain a multicast group or a clone session",
        )),
        Some(Type::MulticastGroupEntry(it)) => {
            Ok(Query::Multicast(Some(it.multicast_group_id).filter(|&id| id != 0).map(u64::from)))
        }
        Some(Type::CloneSessionEntry(it)) => Ok(Query::CloneSessions(Some(it.session_id).filter(|&id| id != 0))),
    }
}

// ------------------------------------------------------------------------------------------------------- tables

fn table_entries(schema: &Schema, sent: &v1::TableEntry) -> Result<Wanted, Fault> {
    let asked = Asked { meter_config: sent.meter_config.is_some(), color_counts: sent.meter_counter_data.is_some() };
    let table = optional(schema, Kind::Table, sent.table_id, |id| schema.model.table(id))?;
    let mut query = TableQuery {
        table: table.map(|it| it.table),
        which: if sent.is_default_action { Which::Default } else { Which::All },
        with_counter: sent.counter_data.is_some(),
        with_meter: asked.meter_config || asked.color_counts,
        with_idle: sent.time_since_last_hit.is_some(),
    };
    let mut filter =
        Filter { metadata: sent.metadata.clone(), controller_metadata: controller_metadata(sent), ..Filter::default() };
    let Some(table) = table else {
        if !sent.r#match.is_empty() || sent.priority != 0 || sent.action.is_some() {
            return Err(Fault::invalid("match, priority and action mean nothing without a table_id"));
        }
        return Ok(Wanted { query: Some(Query::TableEntries(query)), filter, asked, must_exist: None });
    };
    check_asked(table, &query)?;
    if let Some(action) = &sent.action {
        filter.actions = Some(filtered_actions(schema, table, action)?);
    }
    let owner = format_args!("table {}", table.name);
    if sent.is_default_action {
        if !sent.r#match.is_empty() || sent.priority != 0 {
            return Err(Fault::invalid(format!("{owner}: the default action has no match and no priority")));
        }
    } else if sent.r#match.is_empty() {
        if !table.has_priorities() && sent.priority != 0 {
            entry_name(schema, table, sent, Unknown::Refused)?;
        }
        filter.priority = sent.priority;
    } else if table.has_priorities() && sent.priority == 0 {
        filter.key = Some(matches::read(schema, owner, &table.keys, &sent.r#match, Unknown::Refused)?);
    } else {
        query.which = Which::Named(entry_name(schema, table, sent, Unknown::Refused)?);
    }
    Ok(Wanted { query: Some(Query::TableEntries(query)), filter, asked, must_exist: None })
}

/// Refuses to read parts that the entries of a table do not have.
fn check_asked(table: &Table, query: &TableQuery) -> Result<(), Fault> {
    let missing = |what| Err(Fault::invalid(format!("table {} has no {what}", table.name)));
    if query.with_counter && table.direct_counter.is_none() {
        return missing("direct counter");
    }
    if query.with_meter && table.direct_meter.is_none() {
        return missing("direct meter");
    }
    if query.with_idle && (!table.supports_timeout || query.which == Which::Default) {
        return missing("idle timeouts here");
    }
    Ok(())
}

fn filtered_actions(schema: &Schema, table: &Table, sent: &v1::TableAction) -> Result<OrderedSet<ActionId>, Fault> {
    let Some(v1::table_action::Type::Action(action)) = &sent.r#type else {
        let message = format!("table {}: entries can be chosen by their action, not by member or group", table.name);
        return Err(Fault::new(Code::Unimplemented, message));
    };
    if table.action(action.action_id).is_none() {
        let known = schema.model.action(action.action_id);
        let unknown = || schema.unknown(Kind::Action, action.action_id);
        let unlisted =
            |it: &p4info::Action| Fault::invalid(format!("table {} does not list action {}", table.name, it.name));
        return Err(known.map_or_else(unknown, unlisted));
    }
    let actions = schema.ids.actions.iter().filter(|(_, id)| **id == action.action_id);
    Ok(actions.map(|(action, _)| action).collect())
}

fn direct(schema: &Schema, entry: Option<&v1::TableEntry>, counters: bool) -> Result<Wanted, Fault> {
    let query = |table, which| match counters {
        true => Query::DirectCounters { table, which },
        false => Query::DirectMeters { table, which },
    };
    let wanted = |query, must_exist| Wanted {
        query: Some(query),
        filter: Filter::default(),
        asked: Asked::default(),
        must_exist,
    };
    let entry = entry.cloned().unwrap_or_default();
    let Some(table) = optional(schema, Kind::Table, entry.table_id, |id| schema.model.table(id))? else {
        let which = if entry.is_default_action { Which::Default } else { Which::All };
        return Ok(wanted(query(None, which), None));
    };
    let what = if counters { "direct counter" } else { "direct meter" };
    let has = if counters { table.direct_counter } else { table.direct_meter };
    if has.is_none() {
        return Err(Fault::invalid(format!("table {} has no {what}", table.name)));
    }
    if entry.is_default_action {
        check_default(format_args!("table {}", table.name), &entry)?;
        return Ok(wanted(query(Some(table.table), Which::Default), None));
    }
    if entry.r#match.is_empty() && entry.priority == 0 {
        return Ok(wanted(query(Some(table.table), Which::All), None));
    }
    let name = entry_name(schema, table, &entry, Unknown::Refused)?;
    let missing = format!("table {}: there is no entry with this key", table.name);
    Ok(wanted(query(Some(table.table), Which::Named(name)), Some(missing)))
}
