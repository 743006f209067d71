//! Members and groups of action profiles.

use super::{Arguments, around_do, call, port};
use crate::plan::{Change, ChangeKind, Filter, Plan, Read, entity, update};
use crate::schema::{Schema, id};
use crate::words::Word;
use control::Problem;
use p4runtime_proto::p4::config::v1::ActionProfile;
use p4runtime_proto::p4::v1::action_profile_group::{Member, member::WatchKind};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::update::Type as UpdateType;
use p4runtime_proto::p4::v1::{ActionProfileGroup, ActionProfileMember};

/// The profile of this name, or the profile of the table of this name.
fn profile<'s>(schema: &'s Schema, given: &str) -> Result<&'s ActionProfile, Problem> {
    schema.profile(given).or_else(|problem| {
        let table = schema.table(given).ok();
        table.and_then(|table| schema.profile_by_id(table.implementation_id)).ok_or(problem)
    })
}

/// `add`, `modify` or `delete` at the beginning of the words.
pub(super) fn verb(words: &[Word]) -> Option<UpdateType> {
    let first = words.first()?;
    let verbs = [("add", UpdateType::Insert), ("modify", UpdateType::Modify), ("delete", UpdateType::Delete)];
    verbs.iter().find(|(name, _)| first.is(name)).map(|(_, kind)| *kind)
}

fn read(kind: Kind) -> Plan {
    Plan::Read(Read { entities: vec![entity(kind)], filter: Filter::default() })
}

/// The profile and the number to read; 0 means all.
fn profile_and_number(it: &Arguments<'_>, what: &str) -> Result<(u32, u32), Problem> {
    let Some(first) = it.words.first() else { return Ok((0, 0)) };
    let profile = profile(it.schema, &first.text)?;
    it.end(2)?;
    let number = if it.words.len() > 1 { it.number(1, what)? } else { 0 };
    Ok((id(&profile.preamble), number))
}

/// The profile after `clear`, or 0 for all profiles; `None` if the words are not a `clear`.
fn cleared(it: &Arguments<'_>) -> Result<Option<u32>, Problem> {
    if !it.words.first().is_some_and(|word| word.is("clear")) {
        return Ok(None);
    }
    it.end(2)?;
    match it.words.get(1) {
        Some(word) => profile(it.schema, &word.text).map(|profile| Some(id(&profile.preamble))),
        None => Ok(Some(0)),
    }
}

/// Deletes all entities of a kind.
pub(super) fn clear(all: Kind) -> Plan {
    Plan::Change(Change { entities: vec![entity(all)], kind: ChangeKind::Clear })
}

pub(super) fn members(it: &Arguments<'_>) -> Result<Plan, Problem> {
    if let Some(action_profile_id) = cleared(it)? {
        let all = ActionProfileMember { action_profile_id, ..ActionProfileMember::default() };
        return Ok(clear(Kind::ActionProfileMember(all)));
    }
    let Some(kind) = verb(it.words) else {
        let (action_profile_id, member_id) = profile_and_number(it, "member")?;
        let member = ActionProfileMember { action_profile_id, member_id, action: None };
        return Ok(read(Kind::ActionProfileMember(member)));
    };
    let profile = profile(it.schema, it.word(1, "an action profile")?)?;
    let member_id = it.number(2, "member")?;
    let (before, action) = around_do(it.from(3));
    if let Some(word) = before.first() {
        return Err(it.misuse(format!("{} is one word too many", word.text)));
    }
    let action = match (kind, action) {
        (UpdateType::Delete, None) => None,
        (UpdateType::Delete, Some(_)) => return Err(it.misuse("delete takes no action")),
        (_, Some([first, arguments @ ..])) => {
            let action = it.schema.profile_action(profile, first.text.trim_end_matches("()"))?;
            Some(call(it.schema, action, arguments)?)
        }
        _ => return Err(it.misuse("a member needs do ACTION ARG...")),
    };
    let member = ActionProfileMember { action_profile_id: id(&profile.preamble), member_id, action };
    Ok(Plan::Write(vec![update(kind, Kind::ActionProfileMember(member))]))
}

pub(super) fn groups(it: &Arguments<'_>) -> Result<Plan, Problem> {
    if let Some(action_profile_id) = cleared(it)? {
        let all = ActionProfileGroup { action_profile_id, ..ActionProfileGroup::default() };
        return Ok(clear(Kind::ActionProfileGroup(all)));
    }
    let Some(kind) = verb(it.words) else {
        let (action_profile_id, group_id) = profile_and_number(it, "group")?;
        let group = ActionProfileGroup { action_profile_id, group_id, ..ActionProfileGroup::default() };
        return Ok(read(Kind::ActionProfileGroup(group)));
    };
    let profile = profile(it.schema, it.word(1, "an action profile")?)?;
    let group_id = it.number(2, "group")?;
    let mut words = it.from(3);
    let mut max_size = 0;
    if let [rest @ .., keyword, number] = words
        && keyword.is("max")
    {
        max_size = values::unsigned(&number.text, i32::MAX as u64, "greatest number of members")? as i32;
        words = rest;
    }
    if kind == UpdateType::Delete {
        it.end(3)?;
    }
    let members = words.iter().map(|word| member(&word.text)).collect::<Result<_, Problem>>()?;
    let group = ActionProfileGroup { action_profile_id: id(&profile.preamble), group_id, members, max_size };
    Ok(Plan::Write(vec![update(kind, Kind::ActionProfileGroup(group))]))
}

/// `MEMBER[*WEIGHT][@PORT]`
fn member(text: &str) -> Result<Member, Problem> {
    let (rest, watched) = match text.split_once('@') {
        Some((rest, watched)) => (rest, Some(WatchKind::WatchPort(port(watched)?))),
        None => (text, None),
    };
    let (member, weight) = rest.split_once('*').unwrap_or((rest, "1"));
    let member_id = values::unsigned(member, u64::from(u32::MAX), "member")
        .map_err(|problem| problem.with_help("a member of a group is MEMBER[*WEIGHT][@PORT], such as 3*2@1"))?;
    let weight = values::unsigned(weight, i32::MAX as u64, "weight")? as i32;
    Ok(Member { member_id: member_id as u32, weight, watch_kind: watched })
}
