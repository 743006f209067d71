//! Commands about action profiles, and about tables whose entries refer to members and groups of one.
//!
//! What enters: the arguments of a line, as `cli_text` splits it. What leaves: [`Command`]s. A profile is named by
//! its own name or, as in older versions of the tool, by that of a table that uses it.

use crate::cli_text::{Arguments, Form, action_arguments, form, key, split_priority};
use crate::command::{Command, ProfilePart};
use crate::names;
use crate::problem::Problem;
use ir::{ActionCall, ActionProfileId, TableId};
use tables::{Handle, ProfileOperation};

const ANY: usize = usize::MAX;

/// The commands, those of older versions of the tool last.
pub(crate) const FORMS: [Form; 25] = [
    form("act_prof_create_member", "PROFILE ACTION [ARGUMENT...]", (2, ANY), create_member),
    form("act_prof_modify_member", "PROFILE ACTION MEMBER [ARGUMENT...]", (3, ANY), modify_member),
    form("act_prof_delete_member", "PROFILE MEMBER", (2, 2), delete_member),
    form("act_prof_create_group", "PROFILE", (1, 1), create_group),
    form("act_prof_delete_group", "PROFILE GROUP", (2, 2), delete_group),
    form("act_prof_add_member_to_group", "PROFILE MEMBER GROUP", (3, 3), add_to_group),
    form("act_prof_remove_member_from_group", "PROFILE MEMBER GROUP", (3, 3), remove_from_group),
    form("act_prof_dump", "PROFILE", (1, 1), |it| dump(it, |_| Ok(ProfilePart::All))),
    form("act_prof_dump_member", "PROFILE MEMBER", (2, 2), |it| dump(it, |it| member(it, 1).map(ProfilePart::Member))),
    form("act_prof_dump_group", "PROFILE GROUP", (2, 2), |it| dump(it, |it| group(it, 1).map(ProfilePart::Group))),
    form("table_indirect_add", "TABLE KEY... => MEMBER [PRIORITY]", (3, ANY), |it| {
        indirect_add(it, "member handle", ActionCall::member)
    }),
    form("table_indirect_add_with_group", "TABLE KEY... => GROUP [PRIORITY]", (3, ANY), |it| {
        indirect_add(it, "group handle", ActionCall::group)
    }),
    form("table_indirect_set_default", "TABLE MEMBER", (2, 2), |it| {
        let call = ActionCall::member(it.handle(1, "member handle")?);
        indirect_set_default(it, call)
    }),
    form("table_indirect_set_default_with_group", "TABLE GROUP", (2, 2), |it| {
        let call = ActionCall::group(it.handle(1, "group handle")?);
        indirect_set_default(it, call)
    }),
    form("table_indirect_reset_default", "TABLE", (1, 1), |it| {
        Ok(Command::TableResetDefault { table: it.default_table()? })
    }),
    form("table_indirect_delete", "TABLE HANDLE", (2, 2), |it| {
        Ok(Command::TableDelete { table: it.changeable_table()?, handle: it.handle(1, "entry handle")? })
    }),
    form("table_indirect_create_member", "TABLE ACTION [ARGUMENT...]", (2, ANY), create_member),
    form("table_indirect_modify_member", "TABLE ACTION MEMBER [ARGUMENT...]", (3, ANY), modify_member),
    form("table_indirect_delete_member", "TABLE MEMBER", (2, 2), delete_member),
    form("table_indirect_create_group", "TABLE", (1, 1), create_group),
    form("table_indirect_delete_group", "TABLE GROUP", (2, 2), delete_group),
    form("table_indirect_add_member_to_group", "TABLE MEMBER GROUP", (3, 3), add_to_group),
    form("table_indirect_remove_member_from_group", "TABLE MEMBER GROUP", (3, 3), remove_from_group),
    form("table_dump_member", "TABLE MEMBER", (2, 2), |it| dump(it, |it| member(it, 1).map(ProfilePart::Member))),
    form("table_dump_group", "TABLE GROUP", (2, 2), |it| dump(it, |it| group(it, 1).map(ProfilePart::Group))),
];

fn member(it: &Arguments<'_>, index: usize) -> Result<Handle, Problem> {
    it.handle(index, "member handle").map(Handle)
}

fn group(it: &Arguments<'_>, index: usize) -> Result<Handle, Problem> {
    it.handle(index, "group handle").map(Handle)
}

fn change(it: &Arguments<'_>, operation: ProfileOperation) -> Result<Command, Problem> {
    Ok(Command::ProfileChange { profile: names::profile(it.program, it.word(0))?, operation })
}

fn dump(
    it: &Arguments<'_>,
    part: impl FnOnce(&Arguments<'_>) -> Result<ProfilePart, Problem>,
) -> Result<Command, Problem> {
    Ok(Command::ProfileDump { profile: names::profile(it.program, it.word(0))?, part: part(it)? })
}

/// The action of argument `index` among those of the profile, with arguments from `first` on.
fn profile_call(
    it: &Arguments<'_>,
    profile: ActionProfileId,
    index: usize,
    first: usize,
) -> Result<tables::ActionCall, Problem> {
    let (action, definition) = names::profile_action(it.program, profile, it.word(index))?;
    let args = action_arguments(it.program, definition, it.from(first))?;
    Ok(tables::ActionCall { action, args })
}

fn create_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    let profile = names::profile(it.program, it.word(0))?;
    change(it, ProfileOperation::CreateMember(profile_call(it, profile, 1, 2)?))
}

fn modify_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    let profile = names::profile(it.program, it.word(0))?;
    let call = profile_call(it, profile, 1, 3)?;
    change(it, ProfileOperation::ModifyMember { member: member(it, 2)?, call })
}

fn delete_member(it: &Arguments<'_>) -> Result<Command, Problem> {
    change(it, ProfileOperation::DeleteMember { member: member(it, 1)? })
}

fn create_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    change(it, ProfileOperation::CreateGroup)
}

fn delete_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    change(it, ProfileOperation::DeleteGroup { group: group(it, 1)? })
}

fn add_to_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    change(it, ProfileOperation::AddToGroup { member: member(it, 1)?, group: group(it, 2)? })
}

fn remove_from_group(it: &Arguments<'_>) -> Result<Command, Problem> {
    change(it, ProfileOperation::RemoveFromGroup { member: member(it, 1)?, group: group(it, 2)? })
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

fn indirect_add(it: &Arguments<'_>, what: &str, call: fn(u32) -> ActionCall) -> Result<Command, Problem> {
    let table = it.changeable_table()?;
    check_indirect(it, table)?;
    let (keys, rest) = it.around_arrow(1)?;
    let key = key(it.program, table, keys)?;
    let (handles, priority) = split_priority(it, table, rest, 1)?;
    let [handle] = handles else { return Err(it.misuse(&format!("exactly one {what} must follow =>"))) };
    let handle = values::unsigned(handle, u64::from(u32::MAX), what)? as u32;
    Ok(Command::TableAdd { table, key, priority, call: call(handle) })
}

fn indirect_set_default(it: &Arguments<'_>, call: ActionCall) -> Result<Command, Problem> {
    let table = it.default_table()?;
    check_indirect(it, table)?;
    Ok(Command::TableSetDefault { table, call })
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
                entries:1: ProfileChange { profile: profile0, operation: CreateMember(ActionCall { action: 1, args: [9w0x3] }) }
                entries:2: ProfileChange { profile: profile0, operation: ModifyMember { member: Handle(0), call: ActionCall { action: 1, args: [9w0x4] } } }
                entries:3: ProfileChange { profile: profile0, operation: CreateGroup }
                entries:4: ProfileChange { profile: profile0, operation: AddToGroup { group: Handle(1), member: Handle(0) } }
                entries:5: ProfileChange { profile: profile0, operation: RemoveFromGroup { group: Handle(1), member: Handle(0) } }
                entries:6: ProfileChange { profile: profile0, operation: DeleteGroup { group: Handle(1) } }
                entries:7: ProfileChange { profile: profile0, operation: DeleteMember { member: Handle(0) } }
                entries:8: ProfileDump { profile: profile0, part: All }
                entries:9: ProfileDump { profile: profile0, part: Member(Handle(0)) }
                entries:10: ProfileDump { profile: profile0, part: Group(Handle(1)) }
                entries:11: ProfileChange { profile: profile0, operation: CreateMember(ActionCall { action: 1, args: [9w0x3] }) }
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
                entries:1: TableAdd { table: table6, key: [Exact(12w0x7)], priority: 0, call: ActionCall { action: 4294967294, args: [32w0x3] } }
                entries:2: TableAdd { table: table6, key: [Exact(12w0x7)], priority: 0, call: ActionCall { action: 4294967293, args: [32w0x2] } }
                entries:3: TableSetDefault { table: table6, call: ActionCall { action: 4294967294, args: [32w0x3] } }
                entries:4: TableSetDefault { table: table6, call: ActionCall { action: 4294967293, args: [32w0x2] } }
                entries:5: TableResetDefault { table: table6 }
                entries:6: TableDelete { table: table6, handle: 0 }
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
