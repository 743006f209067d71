//! The objects of a P4Info by the names that users write.
//!
//! A name is the full name or a sufficient suffix of it, as everywhere in Wirespeed (`control::names`).

use base::MatchKind;
use control::{Problem, names};
pub use p4info::match_kind;
use p4runtime_proto::p4::config::v1::{self, P4Info, P4TypeInfo, Preamble};

/// The objects of a program.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    info: P4Info,
    types: P4TypeInfo,
}

/// The full name of an object.
pub fn name(preamble: &Option<Preamble>) -> &str {
    preamble.as_ref().map_or("", |preamble| &preamble.name)
}

/// The id of an object.
pub fn id(preamble: &Option<Preamble>) -> u32 {
    preamble.as_ref().map_or(0, |preamble| preamble.id)
}

/// Lookup of each kind by name and by id.
macro_rules! kinds {
    ($($one:ident, $by_id:ident, $all:ident, $ty:ident, $kind:literal, $kinds:literal;)*) => {
        impl Schema {
            $(
                #[doc = concat!("The ", $kind, " that a user means.")]
                pub fn $one(&self, given: &str) -> Result<&v1::$ty, Problem> {
                    let names: Vec<&str> = self.info.$all.iter().map(|it| name(&it.preamble)).collect();
                    names::find($kind, $kinds, given, &names, "the program").map(|index| &self.info.$all[index])
                }

                #[doc = concat!("The ", $kind, " of this id.")]
                pub fn $by_id(&self, wanted: u32) -> Option<&v1::$ty> {
                    self.info.$all.iter().find(|it| id(&it.preamble) == wanted)
                }
            )*
        }
    };
}

kinds! {
    table, table_by_id, tables, Table, "table", "tables";
    any_action, action_by_id, actions, Action, "action", "actions";
    profile, profile_by_id, action_profiles, ActionProfile, "action profile", "action profiles";
    counter, counter_by_id, counters, Counter, "counter", "counters";
    direct_counter, direct_counter_by_id, direct_counters, DirectCounter, "direct counter", "direct counters";
    meter, meter_by_id, meters, Meter, "meter", "meters";
    direct_meter, direct_meter_by_id, direct_meters, DirectMeter, "direct meter", "direct meters";
    register, register_by_id, registers, Register, "register", "registers";
    value_set, value_set_by_id, value_sets, ValueSet, "value set", "value sets";
    digest, digest_by_id, digests, Digest, "digest", "digests";
}

/// What a counter's name denotes.
#[derive(Clone, Copy, Debug)]
pub enum CounterLike<'a> {
    /// An array.
    Array(&'a v1::Counter),
    /// The counters of a table's entries.
    Direct(&'a v1::Table),
}

/// What a meter's name denotes.
#[derive(Clone, Copy, Debug)]
pub enum MeterLike<'a> {
    /// An array.
    Array(&'a v1::Meter),
    /// The meters of a table's entries.
    Direct(&'a v1::Table),
}

impl Schema {
    /// The objects of this program.
    pub fn new(info: P4Info) -> Schema {
        let types = info.type_info.clone().unwrap_or_default();
        Schema { info, types }
    }

    /// The P4Info itself.
    pub fn info(&self) -> &P4Info {
        &self.info
    }

    /// The types that the P4Info declares.
    pub fn types(&self) -> &P4TypeInfo {
        &self.types
    }

    /// The actions that a table lists, with the scope of each.
    pub fn actions_of(&self, table: &v1::Table) -> Vec<(&v1::Action, v1::action_ref::Scope)> {
        let listed = |it: &v1::ActionRef| Some((self.action_by_id(it.id)?, it.scope()));
        table.action_refs.iter().filter_map(listed).collect()
    }

    /// The action of a table that a name denotes, for an entry or for the default action.
    pub fn table_action(&self, table: &v1::Table, given: &str, is_default: bool) -> Result<&v1::Action, Problem> {
        use v1::action_ref::Scope;
        let listed = self.actions_of(table);
        let names: Vec<&str> = listed.iter().map(|(action, _)| name(&action.preamble)).collect();
        let owner = format!("table {}", name(&table.preamble));
        let (action, scope) = listed[names::find("action", "actions", given, &names, &owner)?];
        let full = name(&action.preamble);
        match (scope, is_default) {
            (Scope::TableOnly, true) => {
                Err(Problem::new(format!("action {full} is for entries only (@tableonly), not for the default")))
            }
            (Scope::DefaultOnly, false) => {
                Err(Problem::new(format!("action {full} is for the default only (@defaultonly), not for entries")))
            }
            _ => Ok(action),
        }
    }

    /// The action of a profile's tables that a name denotes.
    pub fn profile_action(&self, profile: &v1::ActionProfile, given: &str) -> Result<&v1::Action, Problem> {
        let tables = profile.table_ids.iter().filter_map(|&id| self.table_by_id(id));
        let Some(table) = tables.into_iter().next() else {
            let message = format!("no table uses action profile {}", name(&profile.preamble));
            return Err(Problem::new(message));
        };
        self.table_action(table, given, false)
    }

    /// The counter, or the table with a direct counter, that a name denotes.
    pub fn counter_like(&self, given: &str) -> Result<CounterLike<'_>, Problem> {
        let arrays = self.info.counters.iter().map(|it| (name(&it.preamble), CounterLike::Array(it)));
        let direct = self.info.direct_counters.iter().filter_map(|it| {
            let table = self.table_by_id(it.direct_table_id)?;
            Some((name(&it.preamble), CounterLike::Direct(table)))
        });
        let (names, found): (Vec<&str>, Vec<CounterLike<'_>>) = arrays.chain(direct).unzip();
        match names::find("counter", "counters", given, &names, "the program") {
            Ok(index) => Ok(found[index]),
            Err(problem) => match self.table(given) {
                Ok(table) if self.direct_counter_of(table).is_some() => Ok(CounterLike::Direct(table)),
                _ => Err(problem),
            },
        }
    }

    /// The meter, or the table with a direct meter, that a name denotes.
    pub fn meter_like(&self, given: &str) -> Result<MeterLike<'_>, Problem> {
        let arrays = self.info.meters.iter().map(|it| (name(&it.preamble), MeterLike::Array(it)));
        let direct = self.info.direct_meters.iter().filter_map(|it| {
            let table = self.table_by_id(it.direct_table_id)?;
            Some((name(&it.preamble), MeterLike::Direct(table)))
        });
        let (names, found): (Vec<&str>, Vec<MeterLike<'_>>) = arrays.chain(direct).unzip();
        match names::find("meter", "meters", given, &names, "the program") {
            Ok(index) => Ok(found[index]),
            Err(problem) => match self.table(given) {
                Ok(table) if self.direct_meter_of(table).is_some() => Ok(MeterLike::Direct(table)),
                _ => Err(problem),
            },
        }
    }

    /// The direct counter of a table.
    pub fn direct_counter_of(&self, table: &v1::Table) -> Option<&v1::DirectCounter> {
        table.direct_resource_ids.iter().find_map(|&id| self.direct_counter_by_id(id))
    }

    /// The direct meter of a table.
    pub fn direct_meter_of(&self, table: &v1::Table) -> Option<&v1::DirectMeter> {
        table.direct_resource_ids.iter().find_map(|&id| self.direct_meter_by_id(id))
    }

    /// The controller header `packet_in` or `packet_out`.
    pub fn controller_header(&self, wanted: &str) -> Option<&v1::ControllerPacketMetadata> {
        self.info.controller_packet_metadata.iter().find(|it| name(&it.preamble) == wanted)
    }
}

/// Whether entries have a priority.
pub fn has_priority(table: &v1::Table) -> bool {
    table.match_fields.iter().any(|it| match_kind(it).is_none_or(MatchKind::has_priority))
}

/// Whether entries may have idle timeouts.
pub fn has_timeouts(table: &v1::Table) -> bool {
    table.idle_timeout_behavior() == v1::table::IdleTimeoutBehavior::NotifyControl
}
