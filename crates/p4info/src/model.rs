//! From the ids of a P4Info to the running program.
//!
//! What enters: a P4Info from any source, and the IR of the program. What leaves: a [`Model`] in which every object of
//! the P4Info has the index of its counterpart in the IR, and every value its width in the switch and for controllers;
//! or the first contradiction between the two. They are joined by name alone, so a controller may change ids,
//! annotations and sizes, and may omit what it does not use.

mod build;
mod data;
mod objects;

pub use data::{Data, Translation, Value};
pub use objects::*;

use base::{MatchKind, OrderedMap};
use p4runtime_proto::p4::config::v1;
use p4runtime_proto::p4::config::v1::match_field::{Match, MatchType};

/// The meaning of the ids of a P4Info.
#[derive(Clone, Debug, Default)]
pub struct Model {
    info: v1::P4Info,
    objects: OrderedMap<u32, Object>,
    /// Ids by kind and name, both full names and aliases.
    names: OrderedMap<(Kind, String), u32>,
}

/// The P4Info does not fit the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The reason, for people.
    pub message: String,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mismatch {}

impl Model {
    /// Joins a P4Info to the program that it describes.
    pub fn new(info: v1::P4Info, program: &ir::Program) -> Result<Model, Mismatch> {
        build::build(info, program)
    }

    /// The P4Info itself.
    pub fn info(&self) -> &v1::P4Info {
        &self.info
    }

    /// The object with this id.
    pub fn object(&self, id: u32) -> Option<&Object> {
        self.objects.get(&id)
    }

    /// All objects, by id.
    pub fn objects(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.objects.iter().map(|(id, object)| (*id, object))
    }

    /// The id of the object with this full name or alias. A full name takes precedence over an alias.
    pub fn id_of(&self, kind: Kind, name: &str) -> Option<u32> {
        self.names.get(&(kind, name.to_owned())).copied()
    }

    /// The names of all objects of a kind, in order, for suggestions in messages.
    pub fn names(&self, kind: Kind) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.objects.values().filter(|object| object.kind() == kind).map(|object| object.name()).collect();
        names.sort_unstable();
        names
    }
}

/// Access to the objects of one kind, by id and as a list.
macro_rules! kinds {
    ($($one:ident, $all:ident, $variant:ident, $what:literal;)*) => {
        impl Model {
            $(
                #[doc = concat!("The ", $what, " of this id; none if the id is of nothing, or of something else.")]
                pub fn $one(&self, id: u32) -> Option<&$variant> {
                    match self.objects.get(&id) {
                        Some(Object::$variant(object)) => Some(object),
                        _ => None,
                    }
                }

                #[doc = concat!("Every ", $what, ", by id.")]
                pub fn $all(&self) -> impl Iterator<Item = &$variant> {
                    self.objects.values().filter_map(|object| match object {
                        Object::$variant(object) => Some(object),
                        _ => None,
                    })
                }
            )*
        }

        impl Object {
            /// The kind of this object.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Object::$variant(_) => Kind::$variant,)*
                }
            }

            /// Its id.
            pub fn id(&self) -> u32 {
                match self {
                    $(Object::$variant(object) => object.id,)*
                }
            }

            /// Its full name.
            pub fn name(&self) -> &str {
                match self {
                    $(Object::$variant(object) => &object.name,)*
                }
            }
        }

        impl Kind {
            /// The object as messages name it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$variant => $what,)*
                }
            }
        }
    };
}

kinds! {
    table, tables, Table, "table";
    action, actions, Action, "action";
    action_profile, action_profiles, ActionProfile, "action profile";
    counter, counters, Counter, "counter";
    direct_counter, direct_counters, DirectCounter, "direct counter";
    meter, meters, Meter, "meter";
    direct_meter, direct_meters, DirectMeter, "direct meter";
    controller_header, controller_headers, ControllerHeader, "controller header";
    value_set, value_sets, ValueSet, "value set";
    register, registers, Register, "register";
    digest, digests, Digest, "digest";
}

impl Kind {
    /// The noun that messages use: `a table`, `an action`.
    pub fn with_article(self) -> String {
        let what = self.as_str();
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {what}")
    }

    /// The kind that the first eight bits of an id stand for, whether or not an object has this id.
    pub fn of_id(id: u32) -> Option<Kind> {
        use v1::p4_ids::Prefix;
        Some(match Prefix::try_from((id >> 24) as i32).ok()? {
            Prefix::Action => Kind::Action,
            Prefix::Table => Kind::Table,
            Prefix::ValueSet => Kind::ValueSet,
            Prefix::ControllerHeader => Kind::ControllerHeader,
            Prefix::ActionProfile => Kind::ActionProfile,
            Prefix::Counter => Kind::Counter,
            Prefix::DirectCounter => Kind::DirectCounter,
            Prefix::Meter => Kind::Meter,
            Prefix::DirectMeter => Kind::DirectMeter,
            Prefix::Register => Kind::Register,
            Prefix::Digest => Kind::Digest,
            _ => return None,
        })
    }
}

impl Table {
    /// The key with this id.
    pub fn key(&self, id: u32) -> Option<&MatchField> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// The table's action with this id.
    pub fn action(&self, id: u32) -> Option<&TableAction> {
        self.actions.iter().find(|action| action.id == id)
    }

    /// The action at this position of the IR table's list.
    pub fn action_at(&self, position: u32) -> Option<&TableAction> {
        self.actions.iter().find(|action| action.position == position)
    }

    /// Whether entries have a priority: it is required if there is a ternary, range or optional key, and forbidden
    /// otherwise.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| key.kind.has_priority())
    }
}

impl Action {
    /// The parameter with this id.
    pub fn param(&self, id: u32) -> Option<&Param> {
        self.params.iter().find(|param| param.id == id)
    }
}

/// The match kind of a field; `None` if P4Runtime does not have it.
pub fn match_kind(field: &v1::MatchField) -> Option<MatchKind> {
    match field.r#match.as_ref()? {
        Match::MatchType(number) => {
            let name = MatchType::try_from(*number).ok()?.as_str_name();
            MatchKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
        }
        Match::OtherMatchType(_) => None,
    }
}
