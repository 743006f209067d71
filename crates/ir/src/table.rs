//! Tables, keys and entries.

use crate::expr::Expr;
use crate::program::VarId;
use crate::program::{ActionId, ActionProfileId, DirectCounterId, DirectMeterId};
use crate::stmt::{Body, HashInput, Place};
use base::limits::TABLE_ENTRIES_MAX;
use base::{Bits, FieldMatch, MatchKind, Span};

/// The number for no colour, which does not fit a program's two bits. If it is the colour before, a direct meter
/// returns it where nothing is metered: on a miss, if the default action has no rates.
pub const NO_COLOUR: u32 = 4;

/// A match-action table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Control-plane name, in full (`MyIngress.ipv4_lpm`).
    pub name: String,
    /// Keys in order.
    pub keys: Vec<Key>,
    /// The actions that entries may run, in order; entries and `ApplyTable` refer to positions in it.
    pub actions: Vec<TableAction>,
    /// Entries of the program, in order.
    pub entries: Vec<Entry>,
    /// Whether the control plane may not change entries.
    pub const_entries: bool,
    /// What runs on a miss.
    pub default_action: ActionCall,
    /// Whether the control plane may not change the default action.
    pub const_default: bool,
    /// The most entries the control plane may add (program's `size`, default 1024).
    pub size: u64,
    /// Count every hit of an entry, and every miss in a cell of the default action.
    pub direct_counters: Vec<DirectCounterId>,
    /// The direct meter, with a cell for each entry and one for the default action, which is used only if it has rates.
    /// With a place it runs before the action, and the place gets the colour; without one the actions execute it.
    pub direct_meter: Option<(DirectMeterId, Option<Place>)>,
    /// The action profile whose members entries run, if they do not have actions themselves.
    pub implementation: Option<Implementation>,
    /// Whether entries may have idle timeouts.
    pub support_timeout: bool,
    /// Whether entries have timers and are deleted when these run out. Hits do not restart them
    /// ([`crate::StmtKind::SetTimer`]).
    pub expires: bool,
    /// Whether the data plane may add entries ([`crate::StmtKind::AddEntry`]).
    pub adds_on_miss: bool,
    /// Where it was written.
    pub span: Span,
}

/// An action profile as one table uses it. An entry then names a member of the profile or a group of members, and so
/// may the default action, as [`ActionCall::member`] and [`ActionCall::group`]. Of a group with n members the one at
/// position H mod n runs, in ascending order of their handles, where H is the selector's hash of `inputs` in full. An
/// entry whose group is empty is hit, and nothing runs. The entries and the default action of the program name actions.
#[derive(Clone, PartialEq, Debug)]
pub struct Implementation {
    /// The profile.
    pub profile: ActionProfileId,
    /// The inputs of the selector's hash, evaluated with the keys; empty without a selector.
    pub inputs: Vec<HashInput>,
}

impl Table {
    /// The inputs of the table's selector; none without one.
    pub fn selector_inputs(&self) -> &[HashInput] {
        self.implementation.as_ref().map_or(&[], |implementation| &implementation.inputs)
    }

    /// The default action's cell of direct counters and meters: the one after those of entries, whose cells are
    /// numbered by their handles.
    pub fn default_cell(&self) -> u64 {
        self.size.min(TABLE_ENTRIES_MAX as u64).max(self.entries.len() as u64)
    }
}

/// One key of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Key {
    /// Control-plane name (`hdr.ipv4.dstAddr`).
    pub name: String,
    /// The value.
    pub expr: Expr,
    /// How it is matched.
    pub kind: MatchKind,
}

/// An action in a table's list.
#[derive(Clone, PartialEq, Debug)]
pub struct TableAction {
    /// The action.
    pub action: ActionId,
    /// Not allowed as the default action (`@tableonly`).
    pub table_only: bool,
    /// Not allowed in entries (`@defaultonly`).
    pub default_only: bool,
}

/// An action and the values of its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionCall {
    /// Position in the table's list of actions.
    pub action: u32,
    /// Values of the action's parameters.
    pub args: Vec<Bits>,
}

/// [`ActionCall::action`] of a call of a member of the table's action profile; the one argument is the member's handle.
pub const TO_MEMBER: u32 = u32::MAX - 1;

/// [`ActionCall::action`] of a call of a member of a group; the one argument is the group's handle.
pub const TO_GROUP: u32 = u32::MAX - 2;

impl ActionCall {
    /// Runs the member of this handle. For the control plane; programs do not know handles.
    pub fn member(handle: u32) -> ActionCall {
        ActionCall { action: TO_MEMBER, args: vec![Bits::from_u64(32, u64::from(handle))] }
    }

    /// Runs a member of the group of this handle. For the control plane.
    pub fn group(handle: u32) -> ActionCall {
        ActionCall { action: TO_GROUP, args: vec![Bits::from_u64(32, u64::from(handle))] }
    }
}

/// An entry of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// One value set per key.
    pub key: Vec<FieldMatch>,
    /// The greater wins; counts only in tables with a ternary, range or optional key. `lower` gives each entry one, so
    /// that the order of the program holds.
    pub priority: i32,
    /// Whether it cannot be changed, even if the table's other entries can.
    pub is_const: bool,
    /// What runs.
    pub call: ActionCall,
    /// Where it was written.
    pub span: Span,
}

/// An action that tables run.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Control-plane name, in full (`MyIngress.ipv4_forward`; `NoAction`).
    pub name: String,
    /// Variables that get the entry's values before the body runs, with their control-plane names in
    /// [`crate::Var::name`] (last part).
    pub params: Vec<VarId>,
    /// Parameters of no bits, which have no variable: only the control plane's files name them.
    pub empty_params: Vec<EmptyParam>,
    /// What it does.
    pub body: Body,
    /// Where it was written.
    pub span: Span,
}

impl Action {
    /// What belongs to `params`, with that of each parameter of no bits in its place.
    pub fn with_empty<T>(&self, of_params: impl IntoIterator<Item = T>, of_empty: impl Fn(&str) -> T) -> Vec<T> {
        let mut all: Vec<T> = of_params.into_iter().collect();
        for param in &self.empty_params {
            all.insert(all.len().min(param.position as usize), of_empty(&param.name));
        }
        all
    }
}

/// A parameter of no bits.
#[derive(Clone, PartialEq, Debug)]
pub struct EmptyParam {
    /// The number of parameters before it, those of no bits included.
    pub position: u32,
    /// Its control-plane name.
    pub name: String,
}
