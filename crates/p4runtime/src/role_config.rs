//! Permissions of a role.
//!
//! What enters: the configuration of a role, whose format the specification leaves to an agreement between
//! controllers and switch. What leaves: which updates, notifications and programs the role is allowed. The only
//! supported format is the message `stratum.P4RoleConfig`, which controllers know already. A role without a
//! configuration has full access.

use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use p4runtime_proto::p4::v1::{self, entity::Entity};
use prost::Message as _;
use prost::bytes::Bytes;
use prost_types::Any;

/// The type of the message.
const TYPE_NAME: &str = "stratum.P4RoleConfig";

/// A configuration.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RoleConfig {
    /// Tables, profiles, arrays, value sets and digests that no other role with a configuration may use.
    #[prost(uint32, repeated, tag = "1")]
    pub exclusive_p4_ids: Vec<u32>,
    /// Objects that others may use, too.
    #[prost(uint32, repeated, tag = "2")]
    pub shared_p4_ids: Vec<u32>,
    /// Which packets it receives; `None` means all.
    #[prost(message, optional, tag = "3")]
    pub packet_in_filter: Option<PacketFilter>,
    /// Whether it receives packets.
    #[prost(bool, tag = "4")]
    pub receives_packet_ins: bool,
    /// Whether the role may set programs.
    #[prost(bool, tag = "5")]
    pub can_push_pipeline: bool,
}

/// Packets with this value of a metadata field.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PacketFilter {
    /// Which metadata.
    #[prost(uint32, tag = "1")]
    pub metadata_id: u32,
    /// Its value.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

impl RoleConfig {
    /// The configuration in a message; or why there is none.
    pub fn read(sent: &Any) -> Result<RoleConfig, String> {
        let name = sent.type_url.rsplit('/').next().unwrap_or_default();
        if name != TYPE_NAME {
            return Err(format!(
                "no scheme for role.config of type {name:?} is agreed upon: it may be {TYPE_NAME}; without one a role may \
                 do everything"
            ));
        }
        RoleConfig::decode(Bytes::copy_from_slice(&sent.value))
            .map_err(|error| format!("role.config cannot be decoded: {error}"))
    }

    /// As it is sent to controllers.
    pub fn to_any(&self) -> Any {
        Any { type_url: format!("type.googleapis.com/{TYPE_NAME}"), value: self.encode_to_vec() }
    }

    /// An id that both claim and one of them claims exclusively.
    pub fn conflict(&self, other: &RoleConfig) -> Option<u32> {
        let claims = |a: &RoleConfig, id: &u32| a.exclusive_p4_ids.contains(id) || a.shared_p4_ids.contains(id);
        let own = self.exclusive_p4_ids.iter().find(|id| claims(other, id));
        own.or_else(|| other.exclusive_p4_ids.iter().find(|id| claims(self, id))).copied()
    }

    fn has(&self, id: u32) -> bool {
        self.exclusive_p4_ids.contains(&id) || self.shared_p4_ids.contains(&id)
    }

    /// Whether the role may access an entity. Groups and sessions have no id, so every role may.
    pub fn admits(&self, entity: &v1::Entity) -> bool {
        entity.entity.as_ref().and_then(p4_id).is_some_and(|id| self.has(id))
    }

    /// The part of a notification that the role may see; `None` if nothing.
    pub fn visible_part(&self, update: &Answer) -> Option<Answer> {
        let is_wanted = |packet: &v1::PacketIn| match &self.packet_in_filter {
            None => true,
            Some(filter) => {
                let of_filter = |it: &&v1::PacketMetadata| it.metadata_id == filter.metadata_id;
                let sent = packet.metadata.iter().find(of_filter);
                sent.is_some_and(|it| significant(&it.value) == significant(&filter.value))
            }
        };
        match update {
            Answer::Packet(packet) => {
                (self.receives_packet_ins && is_wanted(packet)).then(|| Answer::Packet(packet.clone()))
            }
            Answer::Digest(list) => self.has(list.digest_id).then(|| Answer::Digest(list.clone())),
            Answer::IdleTimeoutNotification(sent) => {
                let own = sent.table_entry.iter().filter(|entry| self.has(entry.table_id)).cloned();
                let sent = v1::IdleTimeoutNotification { table_entry: own.collect(), ..sent.clone() };
                (!sent.table_entry.is_empty()).then_some(Answer::IdleTimeoutNotification(sent))
            }
            Answer::Arbitration(_) | Answer::Other(_) | Answer::Error(_) => Some(update.clone()),
        }
    }
}

/// A value without the zeros in front of it.
fn significant(value: &[u8]) -> &[u8] {
    &value[value.iter().take_while(|&&byte| byte == 0).count()..]
}

/// The id in the P4Info of what an entity belongs to.
pub(crate) fn p4_id(entity: &Entity) -> Option<u32> {
    let of_entry = |entry: &Option<v1::TableEntry>| entry.as_ref().map(|entry| entry.table_id);
    match entity {
        Entity::TableEntry(it) => Some(it.table_id),
        Entity::DirectCounterEntry(it) => of_entry(&it.table_entry),
        Entity::DirectMeterEntry(it) => of_entry(&it.table_entry),
        Entity::ActionProfileMember(it) => Some(it.action_profile_id),
        Entity::ActionProfileGroup(it) => Some(it.action_profile_id),
        Entity::CounterEntry(it) => Some(it.counter_id),
        Entity::MeterEntry(it) => Some(it.meter_id),
        Entity::RegisterEntry(it) => Some(it.register_id),
        Entity::ValueSetEntry(it) => Some(it.value_set_id),
        Entity::DigestEntry(it) => Some(it.digest_id),
        Entity::ExternEntry(it) => Some(it.extern_id),
        Entity::PacketReplicationEngineEntry(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(exclusive: &[u32], shared: &[u32]) -> RoleConfig {
        RoleConfig { exclusive_p4_ids: exclusive.into(), shared_p4_ids: shared.into(), ..RoleConfig::default() }
    }

    #[test]
    fn a_configuration_is_returned_as_it_came() {
        let written = RoleConfig { receives_packet_ins: true, ..config(&[1, 2], &[3]) };
        assert_eq!(RoleConfig::read(&written.to_any()), Ok(written.clone()));
        let other = Any { type_url: "type.googleapis.com/p4.v1.Role".into(), value: vec![] };
        let refused = RoleConfig::read(&other).unwrap_err();
        assert!(refused.contains("p4.v1.Role") && refused.contains(TYPE_NAME), "{refused}");
        let damaged = Any { value: vec![0xFF], ..written.to_any() };
        assert!(RoleConfig::read(&damaged).unwrap_err().contains("cannot be decoded"));
    }

    #[test]
    fn what_is_exclusive_has_one_role() {
        assert_eq!(config(&[1], &[]).conflict(&config(&[2], &[3])), None);
        assert_eq!(config(&[], &[5]).conflict(&config(&[], &[5])), None);
        assert_eq!(config(&[5], &[]).conflict(&config(&[], &[5])), Some(5));
        assert_eq!(config(&[], &[5]).conflict(&config(&[5], &[])), Some(5));
    }

    #[test]
    fn packets_are_chosen_by_a_metadata() {
        let packet = |value: &[u8]| {
            let metadata = vec![v1::PacketMetadata { metadata_id: 2, value: value.into() }];
            Answer::Packet(v1::PacketIn { payload: vec![1], metadata })
        };
        let none = config(&[], &[]);
        let all = RoleConfig { receives_packet_ins: true, ..none.clone() };
        let filter = Some(PacketFilter { metadata_id: 2, value: vec![0, 7] });
        let some = RoleConfig { packet_in_filter: filter, ..all.clone() };
        let shows_packet = |config: &RoleConfig, value: &[u8]| config.visible_part(&packet(value)).is_some();
        assert_eq!(
            [shows_packet(&none, &[7]), shows_packet(&all, &[7]), shows_packet(&some, &[7]), shows_packet(&some, &[8])],
            [false, true, true, false]
        );
    }

    #[test]
    fn notifications_are_of_the_roles_own() {
        let digest = |id| Answer::Digest(v1::DigestList { digest_id: id, ..Default::default() });
        let entry = |id| v1::TableEntry { table_id: id, ..Default::default() };
        let idle = |ids: &[u32]| {
            let table_entry = ids.iter().map(|&id| entry(id)).collect();
            Answer::IdleTimeoutNotification(v1::IdleTimeoutNotification { table_entry, timestamp: 1 })
        };
        let own = config(&[1], &[2]);
        assert_eq!((own.visible_part(&digest(2)), own.visible_part(&digest(3))), (Some(digest(2)), None));
        assert_eq!(own.visible_part(&idle(&[1, 3, 2])), Some(idle(&[1, 2])));
        assert_eq!(own.visible_part(&idle(&[3])), None);
        let group = v1::PacketReplicationEngineEntry::default();
        let entity = |entity| v1::Entity { entity: Some(entity) };
        assert!(own.admits(&entity(Entity::TableEntry(entry(1)))));
        assert!(!own.admits(&entity(Entity::TableEntry(entry(9)))));
        assert!(!own.admits(&entity(Entity::PacketReplicationEngineEntry(group))));
    }
}
