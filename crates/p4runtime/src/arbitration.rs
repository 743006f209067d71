//! Who may write: at most one primary among the controllers of each role.
//!
//! What enters: bids, and streams that end. What leaves: who is to be told what. There is no input or output here. The
//! controller with the highest election id that its role has ever seen is primary; a role without one has no primary
//! until a controller bids at least as much.

use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::v1;
use std::collections::BTreeMap;
use tonic::Code;

/// A stream of a controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SessionId(pub u64);

/// A role: its name, and its number in older versions of the interface. Both empty: the default role, for everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct RoleName {
    pub name: String,
    pub id: u64,
}

/// Streams that there may be in all roles together.
pub(crate) const SESSIONS_MAX: usize = 64;

/// Roles that are remembered.
const ROLES_MAX: usize = 1024;

/// The controllers of a device.
#[derive(Debug, Default)]
pub(crate) struct Arbitration {
    roles: BTreeMap<RoleName, Role>,
}

#[derive(Debug, Default)]
struct Role {
    highest: Option<u128>,
    bids: BTreeMap<SessionId, Option<u128>>,
}

impl Role {
    fn primary(&self) -> Option<SessionId> {
        let highest = self.highest?;
        self.bids.iter().find(|(_, bid)| **bid == Some(highest)).map(|(session, _)| *session)
    }
}

/// Why a bid ends its stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub code: Code,
    pub message: String,
}

/// What a controller is told of its role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    Primary,
    /// Another controller is primary.
    Backup,
    /// Nobody is.
    NoPrimary,
}

/// Who is told what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Notice {
    pub session: SessionId,
    pub standing: Standing,
    /// The highest election id that the role has seen.
    pub highest: Option<u128>,
}

/// What a bid leads to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// In the order in which they are sent; a new primary is the last.
    pub notices: Vec<Notice>,
    /// Another controller than before is primary: writes of the one before must have ended before it is told.
    pub new_primary: bool,
}

impl Arbitration {
    /// A controller bids, for the first time or again. `own` is the role that it has had so far.
    pub fn bid(
        &mut self,
        session: SessionId,
        own: Option<&RoleName>,
        role_name: &RoleName,
        election_id: Option<u128>,
    ) -> Result<Outcome, Refusal> {
        if let Some(own) = own.filter(|own| *own != role_name) {
            let message = format!("this stream is of {}: for another role, close it and open another", describe(own));
            return Err(Refusal { code: Code::FailedPrecondition, message });
        }
        let sessions: usize = self.roles.values().map(|role| role.bids.len()).sum();
        if own.is_none() && sessions >= SESSIONS_MAX {
            let message = format!("there are {sessions} controllers already: the most are {SESSIONS_MAX}");
            return Err(Refusal { code: Code::ResourceExhausted, message });
        }
        if !self.roles.contains_key(role_name) && self.roles.len() >= ROLES_MAX {
            let message = format!("there have been {ROLES_MAX} roles already: the most are {ROLES_MAX}");
            return Err(Refusal { code: Code::ResourceExhausted, message });
        }
        let role = self.roles.entry(role_name.clone()).or_default();
        let is_used = |(other, bid): (&SessionId, &Option<u128>)| *other != session && *bid == election_id;
        if let Some(id) = election_id
            && role.bids.iter().any(is_used)
        {
            // Clients look for these words before they bid again with another one.
            let message = format!("election id {id} is used by another controller of {}", describe(role_name));
            return Err(Refusal { code: Code::InvalidArgument, message });
        }
        let before = (role.primary(), role.highest);
        role.bids.insert(session, election_id);
        role.highest = role.highest.max(election_id);
        let after = (role.primary(), role.highest);
        let told: Vec<SessionId> = match before == after {
            true => vec![session],
            // The primary is told last, when writes of the one before have ended.
            false => {
                let others = role.bids.keys().copied().filter(|it| Some(*it) != after.0);
                others.chain(after.0).collect()
            }
        };
        let new_primary = after.0.is_some() && after.0 != before.0;
        Ok(Outcome { notices: told.into_iter().map(|session| notice(role, session)).collect(), new_primary })
    }

    /// A controller's stream has ended.
    pub fn leave(&mut self, session: SessionId, role_name: &RoleName) -> Vec<Notice> {
        let Some(role) = self.roles.get_mut(role_name) else { return Vec::new() };
        let was_primary = role.primary() == Some(session);
        role.bids.remove(&session);
        match was_primary {
            true => role.bids.keys().map(|&session| notice(role, session)).collect(),
            false => Vec::new(),
        }
    }

    /// Whether there has been such a role. There is always the default one.
    pub fn knows(&self, role: &RoleName) -> bool {
        *role == RoleName::default() || self.roles.contains_key(role)
    }

    /// Whether who says so is the primary controller of the role.
    pub fn is_primary(&self, role: &RoleName, election_id: Option<u128>) -> bool {
        let Some(role) = self.roles.get(role) else { return false };
        election_id.is_some() && role.highest == election_id && role.primary().is_some()
    }

    /// The highest election id of a role, and whether its controller is there.
    pub fn highest(&self, role: &RoleName) -> (Option<u128>, bool) {
        self.roles.get(role).map_or((None, false), |role| (role.highest, role.primary().is_some()))
    }

    /// Whether this is the primary controller of the role.
    pub fn leads(&self, role: &RoleName, session: SessionId) -> bool {
        self.roles.get(role).is_some_and(|role| role.primary() == Some(session))
    }

    /// The primary controllers of all roles.
    pub fn primaries(&self) -> Vec<SessionId> {
        self.roles.values().filter_map(Role::primary).collect()
    }
}

fn notice(role: &Role, session: SessionId) -> Notice {
    let standing = match role.primary() {
        None => Standing::NoPrimary,
        Some(primary) if primary == session => Standing::Primary,
        Some(_) => Standing::Backup,
    };
    Notice { session, standing, highest: role.highest }
}

/// A role in words.
pub(crate) fn describe(role: &RoleName) -> String {
    match (role.name.as_str(), role.id) {
        ("", 0) => "the default role".to_owned(),
        ("", id) => format!("the role {id}"),
        (name, _) => format!("the role {name:?}"),
    }
}

/// An election id of a message.
pub(crate) fn election_id(sent: Option<&v1::Uint128>) -> Option<u128> {
    sent.map(|it| u128::from(it.high) << 64 | u128::from(it.low))
}

/// The message of a notice.
pub(crate) fn message(device_id: u64, role: &RoleName, notice: &Notice) -> v1::MasterArbitrationUpdate {
    let (code, message) = match notice.standing {
        Standing::Primary => (Code::Ok, "you are the primary controller"),
        Standing::Backup => (Code::AlreadyExists, "another controller is primary; you are a backup"),
        Standing::NoPrimary => (Code::NotFound, "there is no primary controller; you are a backup"),
    };
    let is_default = *role == RoleName::default();
    v1::MasterArbitrationUpdate {
        device_id,
        role: (!is_default).then(|| v1::Role { id: role.id, name: role.name.clone(), config: None }),
        election_id: notice.highest.map(|id| v1::Uint128 { high: (id >> 64) as u64, low: id as u64 }),
        status: Some(rpc::Status { code: code as i32, message: message.to_owned(), details: Vec::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Bids (`1 bids 10`, `2 bids` without an election id) and leavings (`1 leaves`), and who is told what after each.
    fn check(script: &str, expect: Expect) {
        let (mut arbitration, mut joined) = (Arbitration::default(), BTreeMap::new());
        let mut text = String::new();
        let role = RoleName::default();
        for line in script.split(';').map(str::trim) {
            let words: Vec<&str> = line.split(' ').collect();
            let session = SessionId(words[0].parse().unwrap());
            let outcome = match words[1] {
                "bids" => {
                    let bid = words.get(2).map(|bid| bid.parse().unwrap());
                    arbitration.bid(session, joined.get(&session), &role, bid)
                }
                _ => Ok(Outcome { notices: arbitration.leave(session, &role), new_primary: false }),
            };
            if outcome.is_ok() {
                joined.insert(session, role.clone());
            }
            let told = match &outcome {
                Err(refusal) => format!("{:?}: {}", refusal.code, refusal.message),
                Ok(outcome) => {
                    let one = |it: &Notice| format!("{} is {:?} of {:?}", it.session.0, it.standing, it.highest);
                    outcome.notices.iter().map(one).collect::<Vec<_>>().join(", ")
                }
            };
            text.push_str(&format!("{line}: {told}\n"));
        }
        expect.assert_eq(&text);
    }

    #[test]
    fn the_highest_bid_is_primary_and_all_are_told() {
        check(
            "1 bids 5; 2 bids 3; 3 bids 9; 2 bids 4",
            expect![[r#"
            1 bids 5: 1 is Primary of Some(5)
            2 bids 3: 2 is Backup of Some(5)
            3 bids 9: 1 is Backup of Some(9), 2 is Backup of Some(9), 3 is Primary of Some(9)
            2 bids 4: 2 is Backup of Some(9)
        "#]],
        );
    }

    #[test]
    fn nobody_follows_a_primary_that_leaves_until_a_bid_is_as_high() {
        check(
            "1 bids 5; 2 bids 3; 1 leaves; 2 bids 4; 2 bids 5",
            expect![[r#"
            1 bids 5: 1 is Primary of Some(5)
            2 bids 3: 2 is Backup of Some(5)
            1 leaves: 2 is NoPrimary of Some(5)
            2 bids 4: 2 is NoPrimary of Some(5)
            2 bids 5: 2 is Primary of Some(5)
        "#]],
        );
    }

    #[test]
    fn a_primary_may_step_down() {
        check(
            "1 bids 5; 2 bids 3; 1 bids 2; 1 bids 5",
            expect![[r#"
            1 bids 5: 1 is Primary of Some(5)
            2 bids 3: 2 is Backup of Some(5)
            1 bids 2: 1 is NoPrimary of Some(5), 2 is NoPrimary of Some(5)
            1 bids 5: 2 is Backup of Some(5), 1 is Primary of Some(5)
        "#]],
        );
    }

    #[test]
    fn without_an_election_id_nobody_is_primary() {
        check(
            "1 bids; 2 bids 0; 3 bids; 2 leaves",
            expect![[r#"
            1 bids: 1 is NoPrimary of None
            2 bids 0: 1 is Backup of Some(0), 2 is Primary of Some(0)
            3 bids: 3 is Backup of Some(0)
            2 leaves: 1 is NoPrimary of Some(0), 3 is NoPrimary of Some(0)
        "#]],
        );
    }

    #[test]
    fn two_controllers_do_not_have_the_same_election_id() {
        check(
            "1 bids 5; 2 bids 5; 1 bids 5",
            expect![[r#"
            1 bids 5: 1 is Primary of Some(5)
            2 bids 5: InvalidArgument: election id 5 is used by another controller of the default role
            1 bids 5: 1 is Primary of Some(5)
        "#]],
        );
    }
}
