//! Who may write: at most one primary among the controllers of each role.
//!
//! What enters: bids, and streams that end. What leaves: notifications. This module does no input or output. The
//! controller with the highest election id that its role has ever seen is primary; if it leaves, the role has no
//! primary until a controller bids at least as much. A role is remembered after its last controller has gone, as the
//! specification requires; but the number of remembered roles is limited, and the objects that only the role may
//! access become accessible to others after a while.

use crate::role_config::RoleConfig;
use base::OrderedMap;
use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::v1;
use prost_types::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tonic::Code;

/// A stream of a controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SessionId(pub u64);

/// A role: its name, and its number in older versions of the interface. Both empty: the default role, with full
/// access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct RoleName {
    pub name: String,
    pub id: u64,
}

/// The most streams in all roles together that have bid with an election id, and as many that have bid without one:
/// those only learn who is primary.
pub(crate) const SESSIONS_MAX: usize = 64;

/// Why a stream ends that has made room for another.
pub(crate) const DISPLACED: &str = "there are too many controllers: a new one has taken the place of this one";

/// The most roles that are remembered. For a further one, the role that has been without controllers for the longest
/// time is forgotten: there are fewer controllers than this.
const ROLES_MAX: usize = 1024;

/// How long a role without controllers keeps others from its exclusive objects.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(60);

/// The controllers of a device.
#[derive(Debug, Default)]
pub(crate) struct Arbitration {
    roles: OrderedMap<RoleName, Role>,
}

#[derive(Debug, Default)]
struct Role {
    highest: Option<u128>,
    bids: OrderedMap<SessionId, Option<u128>>,
    /// The election id of the last controller that became or stayed primary.
    config: Option<Arc<RoleConfig>>,
    /// Since when it has had no controllers.
    alone_since: Option<Instant>,
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
    /// The bid conflicts with another stream; it may succeed when that has ended.
    pub may_pass: bool,
    /// There are too many streams; [`Arbitration::displace`] may make room.
    pub is_full: bool,
}

impl Refusal {
    fn new(code: Code, message: String) -> Refusal {
        Refusal { code, message, may_pass: false, is_full: false }
    }
}

/// The notification of a controller about its role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    Primary,
    /// Another controller is primary.
    Backup,
    /// There is no primary.
    NoPrimary,
}

/// A notification and its recipient.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Notice {
    pub session: SessionId,
    pub standing: Standing,
    /// The highest election id that the role has seen.
    pub highest: Option<u128>,
    /// The permissions of the role, if it does not have full access.
    pub config: Option<Arc<RoleConfig>>,
}

/// The effects of a bid.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct BidEffects {
    /// In the order in which they are sent; a new primary is the last.
    pub notices: Vec<Notice>,
    /// Whether another controller than before is primary: writes of the previous one must have ended before the new
    /// one is notified.
    pub new_primary: bool,
}

impl Arbitration {
    /// A controller bids, for the first time or again. `own` is its present role.
    pub fn bid(
        &mut self,
        session: SessionId,
        own: Option<&RoleName>,
        role_name: &RoleName,
        election_id: Option<u128>,
        config: Option<RoleConfig>,
        now: Instant,
    ) -> Result<BidEffects, Refusal> {
        if let Some(own) = own.filter(|own| *own != role_name) {
            let message =
                format!("this stream belongs to {}: for another role, close it and open another", describe(own));
            return Err(Refusal::new(Code::FailedPrecondition, message));
        }
        let own_bid = self.roles.get(role_name).and_then(|role| role.bids.get(&session));
        if own.is_some() && own_bid.is_none() {
            return Err(Refusal::new(Code::ResourceExhausted, DISPLACED.to_owned()));
        }
        let own_bid = own_bid.copied();
        self.check_config(role_name, config.as_ref(), now)?;
        self.check_id(session, role_name, election_id)?;
        self.check_room(own_bid, election_id)?;
        if !self.roles.contains_key(role_name) && self.roles.len() >= ROLES_MAX {
            self.forget_one();
        }
        let role = self.roles.entry(role_name.clone()).or_default();
        let before = (role.primary(), role.highest);
        role.alone_since = None;
        role.bids.insert(session, election_id);
        role.highest = role.highest.max(election_id);
        let after = (role.primary(), role.highest);
        let is_primary = after.0 == Some(session);
        if is_primary {
            role.config = config.map(Arc::new);
        }
        // If the primary bids again, all are notified as for a new one.
        let notified: Vec<SessionId> = match before == after && !is_primary {
            true => vec![session],
            // The primary is notified last, when writes of the previous one have ended.
            false => {
                let others = role.bids.keys().copied().filter(|it| Some(*it) != after.0);
                others.chain(after.0).collect()
            }
        };
        let new_primary = after.0.is_some() && after.0 != before.0;
        Ok(BidEffects { notices: notified.into_iter().map(|session| notice(role, session)).collect(), new_primary })
    }

    /// Refuses an election id that another stream of the role has.
    fn check_id(&self, session: SessionId, role_name: &RoleName, election_id: Option<u128>) -> Result<(), Refusal> {
        let (Some(id), Some(role)) = (election_id, self.roles.get(role_name)) else { return Ok(()) };
        if !role.bids.iter().any(|(other, bid)| *other != session && *bid == election_id) {
            return Ok(());
        }
        // Clients look for these words before they bid again with another id.
        let message = format!("election id {id} is used by another controller of {}", describe(role_name));
        Err(Refusal { may_pass: true, ..Refusal::new(Code::InvalidArgument, message) })
    }

    /// Refuses a bid for which there is no place. `own` is the present bid of the stream, which has a place.
    fn check_room(&self, own: Option<Option<u128>>, election_id: Option<u128>) -> Result<(), Refusal> {
        let is_alike = |bid: &Option<u128>| bid.is_some() == election_id.is_some();
        let sessions = self.roles.values().flat_map(|role| role.bids.values()).filter(|bid| is_alike(bid)).count();
        if own.is_some_and(|own| is_alike(&own)) || sessions < SESSIONS_MAX {
            return Ok(());
        }
        let without = if election_id.is_some() { "" } else { " without an election id" };
        let message = format!("there are {sessions} controllers{without} already: the maximum is {SESSIONS_MAX}");
        Err(Refusal { may_pass: true, is_full: true, ..Refusal::new(Code::ResourceExhausted, message) })
    }

    /// Makes room for a bid that was refused because there are too many streams: one loses its place, and is returned.
    ///
    /// A bid that makes its stream primary takes the place of the stream with the lowest election id that is not
    /// primary, first of those that do not read. A bid without an election id takes the place of the oldest such
    /// stream: it is only a question, so the next one is always answered. Other bids get no place.
    pub fn displace(
        &mut self,
        role_name: &RoleName,
        election_id: Option<u128>,
        reads: impl Fn(SessionId) -> bool,
    ) -> Option<SessionId> {
        let highest = self.roles.get(role_name).and_then(|role| role.highest);
        if election_id.is_some() && election_id < highest {
            return None;
        }
        let is_candidate = |role: &Role, session: SessionId, bid: Option<u128>| {
            bid.is_some() == election_id.is_some() && role.primary() != Some(session)
        };
        let candidates = self.roles.iter().flat_map(|(name, role)| {
            let of_role = role.bids.iter().filter(|(session, bid)| is_candidate(role, **session, **bid));
            of_role.map(move |(session, bid)| (*bid, *session, name))
        });
        let (_, _, session, name) =
            candidates.map(|(bid, session, name)| (reads(session), bid, session, name)).min()?;
        let name = name.clone();
        self.roles.get_mut(&name)?.bids.remove(&session);
        Some(session)
    }

    /// Refuses a configuration that claims an object that is exclusive to another role.
    fn check_config(&self, role_name: &RoleName, config: Option<&RoleConfig>, now: Instant) -> Result<(), Refusal> {
        let Some(config) = config else { return Ok(()) };
        let refuse = |message| Err(Refusal::new(Code::InvalidArgument, message));
        if *role_name == RoleName::default() {
            return refuse("the default role has full access: it cannot have a role.config".to_owned());
        }
        let claims = |role: &Role| role.alone_since.is_none_or(|since| now.duration_since(since) < CLAIM_TIMEOUT);
        let others = self.roles.iter().filter(|(name, role)| *name != role_name && claims(role));
        for (name, other) in others.filter_map(|(name, role)| Some((name, role.config.as_ref()?))) {
            if let Some(id) = config.conflict(other) {
                return refuse(format!("role.config: id {id} is claimed by {}, too, and is exclusive", describe(name)));
            }
        }
        Ok(())
    }

    /// Forgets the role that has been without controllers for the longest time.
    fn forget_one(&mut self) {
        let alone = self.roles.iter().filter_map(|(name, role)| Some((role.alone_since?, name)));
        let oldest = alone.min_by_key(|(since, _)| *since).map(|(_, name)| name.clone());
        oldest.and_then(|name| self.roles.remove(&name));
    }

    /// The permissions of a role; `None` means full access.
    pub fn config(&self, role: &RoleName) -> Option<Arc<RoleConfig>> {
        self.roles.get(role)?.config.clone()
    }

    /// A controller's stream has ended.
    pub fn leave(&mut self, session: SessionId, role_name: &RoleName, now: Instant) -> Vec<Notice> {
        let Some(role) = self.roles.get_mut(role_name) else { return Vec::new() };
        let was_primary = role.primary() == Some(session);
        role.bids.remove(&session);
        if role.bids.is_empty() {
            role.alone_since = Some(now);
        }
        match was_primary {
            true => role.bids.keys().map(|&session| notice(role, session)).collect(),
            false => Vec::new(),
        }
    }

    /// Whether the role is known. The default role always is.
    pub fn knows(&self, role: &RoleName) -> bool {
        *role == RoleName::default() || self.roles.contains_key(role)
    }

    /// Whether a request with this election id comes from the primary controller of the role.
    pub fn is_primary(&self, role: &RoleName, election_id: Option<u128>) -> bool {
        let Some(role) = self.roles.get(role) else { return false };
        election_id.is_some() && role.highest == election_id && role.primary().is_some()
    }

    /// The highest election id of a role, and whether its controller is connected.
    pub fn highest(&self, role: &RoleName) -> (Option<u128>, bool) {
        self.roles.get(role).map_or((None, false), |role| (role.highest, role.primary().is_some()))
    }

    /// Whether this is the primary controller of the role.
    pub fn leads(&self, role: &RoleName, session: SessionId) -> bool {
        self.roles.get(role).is_some_and(|role| role.primary() == Some(session))
    }

    /// The primary controllers of all roles, and their permissions.
    pub fn primaries(&self) -> Vec<(SessionId, Option<Arc<RoleConfig>>)> {
        self.roles.values().filter_map(|role| Some((role.primary()?, role.config.clone()))).collect()
    }
}

fn notice(role: &Role, session: SessionId) -> Notice {
    let standing = match role.primary() {
        None => Standing::NoPrimary,
        Some(primary) if primary == session => Standing::Primary,
        Some(_) => Standing::Backup,
    };
    Notice { session, standing, highest: role.highest, config: role.config.clone() }
}

/// A role, for messages.
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

/// The message of a notification.
pub(crate) fn message(device_id: u64, role: &RoleName, notice: &Notice) -> v1::MasterArbitrationUpdate {
    let (code, message) = match notice.standing {
        Standing::Primary => (Code::Ok, "you are the primary controller"),
        Standing::Backup => (Code::AlreadyExists, "another controller is primary; you are a backup"),
        Standing::NoPrimary => (Code::NotFound, "there is no primary controller; you are a backup"),
    };
    let config = notice.config.as_ref().map(|config| config.to_any());
    update(device_id, role, config, notice.highest, (code, message))
}

/// The message for a client that is not a controller: the highest election id of a role, and whether its controller
/// is connected.
pub(crate) fn news(
    device_id: u64,
    role: &RoleName,
    (highest, has_primary): (Option<u128>, bool),
) -> v1::MasterArbitrationUpdate {
    let status = match has_primary {
        true => (Code::AlreadyExists, "a controller is primary"),
        false => (Code::NotFound, "there is no primary controller"),
    };
    update(device_id, role, None, highest, status)
}

fn update(
    device_id: u64,
    role: &RoleName,
    config: Option<Any>,
    highest: Option<u128>,
    (code, message): (Code, &str),
) -> v1::MasterArbitrationUpdate {
    let is_default = *role == RoleName::default();
    v1::MasterArbitrationUpdate {
        device_id,
        role: (!is_default).then(|| v1::Role { id: role.id, name: role.name.clone(), config }),
        election_id: highest.map(|id| v1::Uint128 { high: (id >> 64) as u64, low: id as u64 }),
        status: Some(rpc::Status { code: code as i32, message: message.to_owned(), details: Vec::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Bids (`1 bids 10`, `2 bids` without an election id) and departures (`1 leaves`), and the notifications after
    /// each.
    fn check(script: &str, expect: Expect) {
        let (mut arbitration, mut joined) = (Arbitration::default(), OrderedMap::new());
        let mut text = String::new();
        let role = RoleName::default();
        for line in script.split(';').map(str::trim) {
            let words: Vec<&str> = line.split(' ').collect();
            let session = SessionId(words[0].parse().unwrap());
            let outcome = match words[1] {
                "bids" => {
                    let bid = words.get(2).map(|bid| bid.parse().unwrap());
                    arbitration.bid(session, joined.get(&session), &role, bid, None, Instant::now())
                }
                _ => Ok(BidEffects { notices: arbitration.leave(session, &role, Instant::now()), new_primary: false }),
            };
            if outcome.is_ok() {
                joined.insert(session, role.clone());
            }
            let notified = match &outcome {
                Err(refusal) => format!("{:?}: {}", refusal.code, refusal.message),
                Ok(outcome) => {
                    let one = |it: &Notice| format!("{} is {:?} of {:?}", it.session.0, it.standing, it.highest);
                    outcome.notices.iter().map(one).collect::<Vec<_>>().join(", ")
                }
            };
            text.push_str(&format!("{line}: {notified}\n"));
        }
        expect.assert_eq(&text);
    }

    #[test]
    fn the_highest_bid_is_primary_and_all_are_notified() {
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
    fn all_are_notified_of_one_who_stays_primary() {
        check(
            "1 bids 5; 2 bids 3; 1 bids 5; 2 bids 3",
            expect![[r#"
            1 bids 5: 1 is Primary of Some(5)
            2 bids 3: 2 is Backup of Some(5)
            1 bids 5: 2 is Backup of Some(5), 1 is Primary of Some(5)
            2 bids 3: 2 is Backup of Some(5)
        "#]],
        );
    }

    #[test]
    fn a_role_claims_nothing_that_is_anothers_alone() {
        let mut arbitration = Arbitration::default();
        let role = |name: &str| RoleName { name: name.to_owned(), id: 0 };
        let config = |ids: &[u32]| Some(RoleConfig { exclusive_p4_ids: ids.into(), ..RoleConfig::default() });
        let mut bid = |session, name: &str, config| {
            let now = Instant::now();
            arbitration
                .bid(SessionId(session), None, &role(name), Some(1), config, now)
                .map_err(|refusal| refusal.message)
        };
        assert!(bid(1, "a", config(&[7])).is_ok());
        assert_eq!(
            bid(2, "b", config(&[8, 7])).unwrap_err(),
            "role.config: id 7 is claimed by the role \"a\", too, and is exclusive"
        );
        assert!(bid(2, "b", config(&[8])).is_ok());
        assert!(bid(3, "c", None).is_ok());
        assert_eq!(
            bid(4, "", config(&[9])).unwrap_err(),
            "the default role has full access: it cannot have a role.config"
        );
        assert_eq!(arbitration.config(&role("b")).unwrap().exclusive_p4_ids, [8]);
    }

    #[test]
    fn who_has_gone_keeps_others_out_for_a_while_only() {
        let mut arbitration = Arbitration::default();
        let role = |name: &str| RoleName { name: name.to_owned(), id: 0 };
        let config = || Some(RoleConfig { exclusive_p4_ids: [7].into(), ..RoleConfig::default() });
        let began = Instant::now();
        let (soon, late) = (began + CLAIM_TIMEOUT / 2, began + CLAIM_TIMEOUT);
        arbitration.bid(SessionId(1), None, &role("a"), Some(5), config(), began).unwrap();
        assert!(arbitration.bid(SessionId(2), None, &role("b"), Some(1), config(), late).is_err(), "it is still there");
        arbitration.leave(SessionId(1), &role("a"), began);
        assert!(arbitration.bid(SessionId(2), None, &role("b"), Some(1), config(), soon).is_err());
        assert!(arbitration.bid(SessionId(2), None, &role("b"), Some(1), config(), late).is_ok());
        // The role and its highest election id are still known.
        assert_eq!(arbitration.highest(&role("a")), (Some(5), false));
        assert!(arbitration.bid(SessionId(3), None, &role("a"), Some(5), config(), late).is_err());
    }

    #[test]
    fn of_many_roles_those_are_forgotten_that_have_long_been_alone() {
        let mut arbitration = Arbitration::default();
        let role = |number: usize| RoleName { name: format!("role {number}"), id: 0 };
        let began = Instant::now();
        arbitration.bid(SessionId(0), None, &role(0), Some(9), None, began).unwrap();
        for number in 1..=2 * ROLES_MAX {
            let (session, now) = (SessionId(number as u64), began + Duration::from_millis(number as u64));
            arbitration.bid(session, None, &role(number), Some(9), None, now).unwrap();
            arbitration.leave(session, &role(number), now);
        }
        assert_eq!(arbitration.roles.len(), ROLES_MAX);
        assert_eq!(arbitration.highest(&role(0)), (Some(9), true), "who is there is not forgotten");
        assert!(arbitration.knows(&role(2 * ROLES_MAX)) && arbitration.knows(&role(ROLES_MAX + 2)));
        assert!(!arbitration.knows(&role(1)) && !arbitration.knows(&role(ROLES_MAX + 1)));
    }

    #[test]
    fn when_there_is_no_room_a_bid_of_a_primary_and_a_question_displace_others() {
        let (mut arbitration, role, now) = (Arbitration::default(), RoleName::default(), Instant::now());
        let mut bid = |session: usize, own: bool, id: Option<u128>, unread: &[u64]| {
            let (session, own) = (SessionId(session as u64), own.then_some(&role));
            let mut outcome = arbitration.bid(session, own, &role, id, None, now);
            let mut displaced = None;
            if outcome.as_ref().is_err_and(|refusal| refusal.is_full) {
                displaced = arbitration.displace(&role, id, |session| !unread.contains(&session.0));
                if displaced.is_some() {
                    outcome = arbitration.bid(session, own, &role, id, None, now);
                }
            }
            let text = |it: BidEffects| format!("{:?}", it.notices.last().map(|it| it.standing));
            outcome.map(|it| (displaced.map(|it| it.0), text(it))).map_err(|refusal| refusal.message)
        };
        let primary = || "Some(Primary)".to_owned();
        for number in 0..SESSIONS_MAX {
            bid(number, false, Some(100 + number as u128), &[]).unwrap();
        }
        assert!(bid(70, false, Some(50), &[]).unwrap_err().starts_with("there are 64 controllers already"));
        assert_eq!(bid(71, false, Some(200), &[]), Ok((Some(0), primary())), "the lowest");
        assert_eq!(bid(72, false, Some(201), &[9, 20]), Ok((Some(9), primary())), "the lowest that does not read");
        assert_eq!(bid(0, true, Some(300), &[]), Err(DISPLACED.to_owned()));
        assert_eq!(bid(5, true, Some(202), &[]), Ok((None, primary())), "who has a place needs no other");
        for number in 100..100 + SESSIONS_MAX {
            assert_eq!(bid(number, false, None, &[]).unwrap().0, None, "questions have places of their own");
        }
        assert_eq!(bid(200, false, None, &[]).unwrap().0, Some(100), "the oldest");
        assert!(bid(200, true, Some(7), &[]).unwrap_err().starts_with("there are 64 controllers already"));
        assert_eq!(bid(200, true, Some(400), &[]), Ok((Some(1), primary())));
    }

    #[test]
    fn no_controller_follows_a_primary_that_leaves_until_a_bid_is_as_high() {
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
    fn without_an_election_id_no_controller_is_primary() {
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
