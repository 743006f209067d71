//! Writes updates that state what is to be.
//!
//! What enters: updates, in their order. What leaves: those that the switch refused. What an insertion finds there
//! already gets the new value, unless a later update has changed it by then; what a deletion does not find is gone.

use base::OrderedMap;
use control::Problem;
use ctl::{Failure, RefusedUpdate, Session};
use p4runtime_proto::p4::v1::{Update, update};
use tonic::Code;

/// Writes updates. Returns those that were refused, by index.
///
/// # Errors
/// If the connection is lost, or the switch refuses the request as a whole.
pub async fn write(session: &mut Session, updates: Vec<Update>) -> Result<Vec<(usize, Problem)>, Failure> {
    let refused = session.write_each(updates.clone()).await?;
    if refused.is_empty() {
        return Ok(Vec::new());
    }
    let Refused { again, mut reported } = Refused::of(&updates, refused);
    let (indices, updates): (Vec<usize>, Vec<Update>) = again.into_iter().unzip();
    let refused = session.write_each(updates).await?;
    reported.extend(refused.into_iter().map(|(index, why)| (indices[index], why.problem)));
    Ok(reported)
}

/// Refused updates: those to write again, in this form, and those to report, with the reason.
#[derive(Debug, Default)]
struct Refused {
    again: Vec<(usize, Update)>,
    reported: Vec<(usize, Problem)>,
}

impl Refused {
    fn of(updates: &[Update], refused: Vec<(usize, RefusedUpdate)>) -> Refused {
        let (mut all, last) = (Refused::default(), LastUpdates::of(updates));
        for (index, why) in refused {
            let update = &updates[index];
            match (update.r#type(), why.code) {
                (update::Type::Insert, Code::AlreadyExists) if !last.is_last(index, update) => {}
                (update::Type::Insert, Code::AlreadyExists) => {
                    all.again.push((index, Update { r#type: update::Type::Modify as i32, ..update.clone() }));
                }
                (update::Type::Delete, Code::NotFound) => {}
                _ => all.reported.push((index, why.problem)),
            }
        }
        all
    }
}

/// The last update of each entity.
struct LastUpdates(OrderedMap<Vec<u8>, usize>);

impl LastUpdates {
    fn of(updates: &[Update]) -> LastUpdates {
        LastUpdates(updates.iter().enumerate().filter_map(|(index, it)| Some((name(it)?, index))).collect())
    }

    /// Whether no later one is about the same entity.
    fn is_last(&self, index: usize, update: &Update) -> bool {
        name(update).and_then(|name| self.0.get(&name)).is_none_or(|last| *last == index)
    }
}

/// What identifies the entity that an update is about.
fn name(update: &Update) -> Option<Vec<u8>> {
    update.entity.as_ref()?.entity.as_ref().map(ctl::plan::identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::v1::action_profile_group::Member;
    use p4runtime_proto::p4::v1::entity::Entity as Kind;
    use p4runtime_proto::p4::v1::{ActionProfileGroup, Entity, FieldMatch, TableEntry};
    use update::Type::{Delete, Insert, Modify};

    fn update(kind: update::Type, entity: Kind) -> Update {
        Update { r#type: kind as i32, entity: Some(Entity { entity: Some(entity) }) }
    }

    fn entry(key: u32, metadata: u8) -> Kind {
        let r#match = vec![FieldMatch { field_id: key, ..FieldMatch::default() }];
        Kind::TableEntry(TableEntry { table_id: 7, r#match, metadata: vec![metadata], ..TableEntry::default() })
    }

    fn group(id: u32, members: usize) -> Kind {
        let members = vec![Member::default(); members];
        Kind::ActionProfileGroup(ActionProfileGroup { action_profile_id: 3, group_id: id, members, max_size: 0 })
    }

    /// The indices that are written again, and those that are reported.
    fn outcome(updates: &[Update], refused: &[(usize, Code)]) -> (Vec<usize>, Vec<usize>) {
        let why = |code| RefusedUpdate { code, problem: Problem::new("no") };
        let refused = refused.iter().map(|(index, code)| (*index, why(*code))).collect();
        let Refused { again, reported } = Refused::of(updates, refused);
        assert!(again.iter().all(|(_, update)| update.r#type() == Modify));
        (again.iter().map(|it| it.0).collect(), reported.iter().map(|it| it.0).collect())
    }

    #[test]
    fn an_earlier_update_does_not_replace_a_later_one_of_the_same_entity() {
        let entries = [(Insert, 1, 1), (Insert, 2, 2), (Delete, 1, 0), (Insert, 1, 3)];
        let updates = entries.map(|(kind, key, metadata)| update(kind, entry(key, metadata)));
        assert_eq!(outcome(&updates, &[0, 1, 3].map(|index| (index, Code::AlreadyExists))), (vec![1, 3], vec![]));
        let groups = [(Insert, 1, 1), (Insert, 2, 1), (Modify, 1, 2)];
        let updates = groups.map(|(kind, id, members)| update(kind, group(id, members)));
        assert_eq!(outcome(&updates, &[0, 1].map(|index| (index, Code::AlreadyExists))), (vec![1], vec![]));
    }

    #[test]
    fn what_is_refused_for_another_reason_is_reported() {
        let updates =
            [(Insert, 1), (Modify, 2), (Delete, 3), (Delete, 4)].map(|(kind, key)| update(kind, entry(key, 0)));
        let refused = [Code::ResourceExhausted, Code::NotFound, Code::NotFound, Code::PermissionDenied];
        let refused: Vec<(usize, Code)> = refused.into_iter().enumerate().collect();
        assert_eq!(outcome(&updates, &refused), (vec![], vec![0, 1, 3]));
    }
}
