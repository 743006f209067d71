//! Multicast groups and clone sessions.

use super::profiles::{clear, verb};
use super::{Arguments, hex_bytes, port};
use crate::plan::{Filter, Plan, Read, entity, update};
use crate::words::Word;
use control::Problem;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::replica::PortKind;
use p4runtime_proto::p4::v1::update::Type as UpdateType;
use p4runtime_proto::p4::v1::{
    BackupReplica, CloneSessionEntry, MulticastGroupEntry, PacketReplicationEngineEntry, Replica,
};

fn engine(entry: Type) -> Kind {
    Kind::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(entry) })
}

fn read(entry: Type) -> Plan {
    Plan::Read(Read { entities: vec![entity(engine(entry))], filter: Filter::default() })
}

/// `PORT[:INSTANCE]`
fn copy(text: &str) -> Result<(Vec<u8>, u32), Problem> {
    let (number, instance) = text.split_once(':').unwrap_or((text, "0"));
    let help = "a copy is PORT[:INSTANCE], such as 3 or 3:1, with backups after it, such as 3/4";
    let number = port(number).map_err(|problem| problem.with_help(help))?;
    Ok((number, values::unsigned(instance, u64::from(u32::MAX), "instance")? as u32))
}

/// `PORT[:INSTANCE][/BACKUP[:INSTANCE]]...`
fn replica(word: &Word) -> Result<Replica, Problem> {
    let mut copies = word.text.split('/');
    let (number, instance) = copy(copies.next().unwrap_or_default())?;
    let backup = |text| copy(text).map(|(port, instance)| BackupReplica { port, instance });
    let backup_replicas = copies.map(backup).collect::<Result<_, _>>()?;
    Ok(Replica { port_kind: Some(PortKind::Port(number)), instance, backup_replicas })
}

fn replicas(words: &[Word]) -> Result<Vec<Replica>, Problem> {
    words.iter().map(replica).collect()
}

pub(super) fn multicast(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let group = |multicast_group_id, replicas, metadata| {
        Type::MulticastGroupEntry(MulticastGroupEntry { multicast_group_id, replicas, metadata })
    };
    if it.words.first().is_some_and(|word| word.is("clear")) {
        it.end(1)?;
        return Ok(clear(engine(group(0, vec![], vec![]))));
    }
    let Some(kind) = verb(it.words) else {
        it.end(1)?;
        let number = if it.words.is_empty() { 0 } else { it.number(0, "multicast group")? };
        return Ok(read(group(number, vec![], vec![])));
    };
    let number = it.number(1, "multicast group")?;
    if kind == UpdateType::Delete {
        it.end(2)?;
    }
    let (copies, metadata) = match it.from(2) {
        [copies @ .., keyword, metadata] if keyword.is("metadata") => {
            (copies, hex_bytes(&metadata.text, "the metadata")?)
        }
        copies => (copies, vec![]),
    };
    Ok(Plan::Write(vec![update(kind, engine(group(number, replicas(copies)?, metadata)))]))
}

pub(super) fn mirror(it: &Arguments<'_>) -> Result<Plan, Problem> {
    if it.words.first().is_some_and(|word| word.is("clear")) {
        it.end(1)?;
        return Ok(clear(engine(Type::CloneSessionEntry(CloneSessionEntry::default()))));
    }
    let Some(kind) = verb(it.words) else {
        it.end(1)?;
        let session_id = if it.words.is_empty() { 0 } else { it.number(0, "clone session")? };
        return Ok(read(Type::CloneSessionEntry(CloneSessionEntry { session_id, ..CloneSessionEntry::default() })));
    };
    let session_id = it.number(1, "clone session")?;
    let (mut class_of_service, mut packet_length_bytes, mut words) = (0, 0, it.from(2));
    while let [rest @ .., keyword, value] = words {
        if keyword.is("class") {
            class_of_service = values::unsigned(&value.text, u64::from(u32::MAX), "class of service")? as u32;
        } else if keyword.is("bytes") {
            packet_length_bytes = values::unsigned(&value.text, i32::MAX as u64, "number of bytes")? as i32;
        } else {
            break;
        }
        words = rest;
    }
    if kind == UpdateType::Delete {
        it.end(2)?;
    }
    let replicas = replicas(words)?;
    let session = CloneSessionEntry { session_id, replicas, class_of_service, packet_length_bytes };
    Ok(Plan::Write(vec![update(kind, engine(Type::CloneSessionEntry(session)))]))
}
