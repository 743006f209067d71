//! Commands about action profiles, and about tables whose entries refer to members and groups of one.
//!
//! What enters: the arguments of a line, as `cli_text` splits it. What leaves: [`Command`]s. A profile is named by
//! its own name or, as in older versions of the tool, by that of a table that uses it.

use crate::api::entity::{Call, EntryAction, Group, Member, TableEntry};
use crate::api::{Entity, Update, UpdateKind};
use crate::cli_text::{Arguments, Form, action_arguments, entry, form, key, set_default, split_priority, table_delete};
use crate::command::{Ask, Change, Command, ProfilePart};
use crate::names;
use crate::problem::Problem;
use ir::TableId;
use tables::Handle;

const ANY: usize = usize::MAX;

/// The commands, those of older versions of the tool last.
pub(crate) const FORMS: [Form; 25] = [
    form("act_prof_create_member", "PROFILE ACTION [ARGUMENT...]", (2, ANY), create_member),
    form("act_prof_modify_member", "PROFILE ACTION MEMBER [ARGUMENT...]", (3, ANY), modify_member),
    form("act_prof_delete_member", "PROFILE MEMBER", (2, 2), delete_member),
    form("act_prof_create_group", "PROFILE", (1, 1), create_group),
    form("act_prof_delete_group", "PROFILE GROUP", (2, 2), delete_group),
    form("act_prof_add_member_to_group", "PROFILE MEMBER GROUP", (3, 3), |it| membership(it, true)),
    form("act_prof_remove_member_from_group", "PROFILE MEMBER GROUP", (3, 3), |it| membership(it, false)),
    form("act_prof_dump", "PROFILE", (1, 1), |it| dump(it, |_| Ok(ProfilePart::All))),
    form("act_prof_dump_member", "PROFILE MEMBER", (2, 2), |it| dump(it, |it| member(it, 1).map(ProfilePart::Member))),
    form("act_prof_dump_group", "PROFILE GROUP", (2, 2), |it| dump(it, |it| group(it, 1).map(ProfilePart::Group))),
    form("table_indirect_add", "TABLE KEY... => MEMBER [PRIORITY]", (3, ANY), |it| {
        indirect_add(it, "member handle", EntryAction::Member)
    }),
    form("table_indirect_add_with_group", "TABLE KEY... => GROUP [PRIORITY]", (3, ANY), |it| {
        indirect_add(it, "group handle", EntryAction::Group)
    }),
    form("table_indirect_set_default", "TABLE MEMBER", (2, 2), |it| {
        indirect_set_default(it, EntryAction::Member(it.handle(1, "member handle")?))
    }),
    form("table_indirect_set_default_with_group", "TABLE GROUP", (2, 2), |it| {
        indirect_set_default(it, EntryAction::Group(it.handle(1, "group handle")?))
    }),
    form("table_indirect_reset_default", "TABLE", (1, 1), |it| Ok(set_default(it.default_table()?, None))),
    form("table_indirect_delete", "TABLE HANDLE", (2, 2), table_delete),
    form("table_indirect_create_member", "TABLE ACTION [ARGUMENT...]", (2, ANY), create_member),
    form("table_indirect_modify_member", "TABLE ACTION MEMBER [ARGUMENT...]", (3, ANY), modify_member),
    form("table_indirect_delete_member", "TABLE MEMBER", (2, 2), delete_member),
    form("table_indirect_create_group", "TABLE", (1, 1), create_group),
    form("table_indirect_delete_group", "TABLE GROUP", (2, 2), delete_group),
    form("table_indirect_add_member_to_group", "TABLE MEMBER GROUP", (3, 3), |it| membership(it, true)),
    form("table_indirect_remove_member_from_group", "TABLE MEMBER GROUP", (3, 3), |it| membership(it, false)),
    form("table_dump_member", "TABLE MEMBER", (2, 2), |it| dump(it, |it| member(it, 1).map(ProfilePart::Member))),
    form("table_dump_group", "TABLE GROUP", (2, 2), |it| dump(it, |it| group(it, 1).map(ProfilePart::Group))),
];

fn member(it: &Arguments<'_>, index: usize) -> Result<Handle, Problem> {
    it.handle(index, "member handle").map(Handle)
}

fn group(it: &Arguments<'_>, index: usize) -> Result<Handle, Problem> {
    it.handle(index, "group handle").map(Handle)
}

fn by_handle(kind: UpdateKind, entity: Entity) -> Command {
    Command::change(Change::ByHandle(Update { kind, entity }))
}

fn dump(
    it: &Arguments<'_>,
    part: impl FnOnce(&Arguments<'_>) -> Result<ProfilePart, Problem>,
) -> Result<Command, Problem> {
    Ok(Command::Ask(Ask::Profile(names::profile(it.program, it.word(0))?, part(it)?)))
}

/// A member of this handle that runs the action of the second argument, with arguments from `first` on.
fn member_with_call(it: &Arguments<'_>, handle: u32, first: usize) -> Result<Entity, Problem> {
    let profile = names::profile(it.program, it.word(0))?;
    let action = names::profile_action(it.program, profile, it.word(1))?;
    let args = action_arguments(it.program, action, it.from(first))?;
    Ok(Entity::Member(Member { profile, id: handle, call: Some(Call { action, args }) }))
}

fn create_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    Ok(by_handle(UpdateKind::Insert, member_with_call(it, 0, 2)?))
}

fn modify_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    Ok(by_handle(UpdateKind::Modify, member_with_call(it, it.handle(2, "member handle")?, 3)?))
}

fn delete_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    let (profile, id) = (names::profile(it.program, it.word(0))?, it.handle(1, "member handle")?);
    Ok(by_handle(UpdateKind::Delete, Entity::Member(Member { profile, id, call: None })))
}

/// A group of this handle, without members.
fn empty_group(it: &Arguments<'_>, id: u32) -> Result<Entity, Problem> {
    let profile = names::profile(it.program, it.word(0))?;
    Ok(Entity::Group(Group { profile, id, members: Vec::new(), size_max: 0 }))
}

fn create_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    Ok(by_handle(UpdateKind::Insert, empty_group(it, 0)?))
}

fn delete_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    Ok(by_handle(UpdateKind::Delete, empty_group(it, it.handle(1, "group handle")?)?))
}

fn membership(it: &Arguments<'_>, joins: bool) -> Result<Command, Problem> {
    let profile = names::profile(it.program, it.word(0))?;
    Ok(Command::change(Change::Membership { profile, group: group(it, 2)?, member: member(it, 1)?, joins }))
}

/// Refuses a table whose entries run actions.
fn check_indirect(it: &Arguments<'_>, table: TableId) -> Result<(), Problem> {
    let table = &it.program.tables[table];
    match table.implementation {
        Some(_) => Ok(()),
        None => {
            let message = format!("table {} has no action profile", table.name);
            Err(Problem::new(message).with_help("its entries run actions: table_add, table_set_default"))
        }
    }
}

fn indirect_add(it: &Arguments<'_>, what: &str, target: fn(u32) -> EntryAction) -> Result<Command, Problem> {
    let table = it.changeable_table()?;
    check_indirect(it, table)?;
    let (keys, rest) = it.around_arrow(1)?;
    let key = key(it.program, table, keys)?;
    let (handles, priority) = split_priority(it, table, rest, 1)?;
    let [handle] = handles else { return Err(it.misuse(&format!("exactly one {what} must follow =>"))) };
    let handle = values::unsigned(handle, u64::from(u32::MAX), what)? as u32;
    Ok(by_handle(UpdateKind::Insert, entry(table, key, priority, target(handle))))
}

fn indirect_set_default(it: &Arguments<'_>, target: EntryAction) -> Result<Command, Problem> {
    let table = it.default_table()?;
    check_indirect(it, table)?;
    let entry = TableEntry::new(table, None, Some(target));
    Ok(by_handle(UpdateKind::Modify, Entity::TableEntry(entry)))
}

#[cfg(test)]
mod tests {
    use crate::entries::tests::check;
    use expect_test::expect;

    #[test]
    fn members_and_groups() {
        check(
            "act_prof_create_member hops set_port 3
             act_prof_modify_member MyIngress.hops set_port 0 4
             act_prof_create_group hops
             act_prof_add_member_to_group hops 0 1
             act_prof_remove_member_from_group hops 0 1
             act_prof_delete_group hops 1
             act_prof_delete_member hops 0
             act_prof_dump hops
             act_prof_dump_member hops 0
             act_prof_dump_group hops 1
             table_indirect_create_member balance set_port 3",
            expect![[r#"
                entries:1: Change(ByHandle(Update { kind: Insert, entity: Member(Member { profile: profile0, id: 0, call: Some(Call { action: action3, args: [9w0x3] }) }) }))
                entries:2: Change(ByHandle(Update { kind: Modify, entity: Member(Member { profile: profile0, id: 0, call: Some(Call { action: action3, args: [9w0x4] }) }) }))
                entries:3: Change(ByHandle(Update { kind: Insert, entity: Group(Group { profile: profile0, id: 0, members: [], size_max: 0 }) }))
                entries:4: Change(Membership { profile: profile0, group: Handle(1), member: Handle(0), joins: true })
                entries:5: Change(Membership { profile: profile0, group: Handle(1), member: Handle(0), joins: false })
                entries:6: Change(ByHandle(Update { kind: Delete, entity: Group(Group { profile: profile0, id: 1, members: [], size_max: 0 }) }))
                entries:7: Change(ByHandle(Update { kind: Delete, entity: Member(Member { profile: profile0, id: 0, call: None }) }))
                entries:8: Ask(Profile(profile0, All))
                entries:9: Ask(Profile(profile0, Member(Handle(0))))
                entries:10: Ask(Profile(profile0, Group(Handle(1))))
                entries:11: Change(ByHandle(Update { kind: Insert, entity: Member(Member { profile: profile0, id: 0, call: Some(Call { action: action3, args: [9w0x3] }) }) }))
            "#]],
        );
    }

    #[test]
    fn entries_that_name_members_and_groups() {
        check(
            "table_indirect_add balance 7 => 3
             table_indirect_add_with_group balance 7 => 2
             table_indirect_set_default balance 3
             table_indirect_set_default_with_group balance 2
             table_indirect_reset_default balance
             table_indirect_delete balance 0",
            expect![[r#"
                entries:1: Change(ByHandle(Update { kind: Insert, entity: TableEntry(TableEntry { table: table6, name: Some(EntryName { key: [Exact(12w0x7)], priority: 0 }), action: Some(Member(3)), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) }))
                entries:2: Change(ByHandle(Update { kind: Insert, entity: TableEntry(TableEntry { table: table6, name: Some(EntryName { key: [Exact(12w0x7)], priority: 0 }), action: Some(Group(2)), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) }))
                entries:3: Change(ByHandle(Update { kind: Modify, entity: TableEntry(TableEntry { table: table6, name: None, action: Some(Member(3)), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) }))
                entries:4: Change(ByHandle(Update { kind: Modify, entity: TableEntry(TableEntry { table: table6, name: None, action: Some(Group(2)), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) }))
                entries:5: Write(Update { kind: Modify, entity: TableEntry(TableEntry { table: table6, name: None, action: None, attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:6: Change(Entry { table: table6, handle: Handle(0), change: Delete })
            "#]],
        );
    }

    #[test]
    fn what_is_wrong_with_them() {
        check(
            "act_prof_create_group l2
             act_prof_create_group hop
             act_prof_create_member hops drop
             act_prof_create_member hops set_port
             act_prof_add_member_to_group hops x 1
             table_indirect_add l2 7 => 3
             table_indirect_add balance 7 3
             table_indirect_add balance 7 => 3 4
             table_indirect_add balance => 3",
            expect![[r#"
                entries:1: there is no action profile l2
                  help: the program has the action profiles MyIngress.hops
                entries:2: there is no action profile hop
                  help: the program has the action profiles MyIngress.hops
                entries:3: there is no action drop
                  help: action profile MyIngress.hops has the actions NoAction, MyIngress.set_port
                entries:4: action MyIngress.set_port takes 1 argument: port; 0 given
                entries:5: x is not a valid member handle
                  help: it is a number
                entries:6: table MyIngress.l2 has no action profile
                  help: its entries run actions: table_add, table_set_default
                entries:7: there is no => between the keys and the arguments
                  help: table_indirect_add TABLE KEY... => MEMBER [PRIORITY]
                entries:8: exactly one member handle must follow =>
                  help: table_indirect_add TABLE KEY... => MEMBER [PRIORITY]
                entries:9: table MyIngress.balance has 1 key: meta.tag; 0 given
            "#]],
        );
    }
}
