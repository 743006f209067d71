//! The meaning of ids in requests: a P4Info joined to the running program, and the opposite direction.

use crate::ports::Ports;
use crate::translator::Translator;
use base::index::IndexMap;
use control::api::Fault;
use ir::{ActionId, ActionProfileId, CounterId, DigestId, MeterId, Program, RegisterId, TableId, ValueSetId};
use p4info::{Kind, Mismatch, Model};
use p4runtime_proto::p4::config::v1::P4Info;
use std::sync::Arc;

/// A program as its controllers see it.
#[derive(Debug)]
pub struct Schema {
    /// The P4Info with the program's own indices.
    pub model: Model,
    /// The program.
    pub program: Arc<Program>,
    pub(crate) translator: Translator,
    pub(crate) ids: Ids,
}

/// The ids of the program's objects. Objects that the P4Info omits have none and are hidden from controllers.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    pub tables: IndexMap<TableId, u32>,
    pub actions: IndexMap<ActionId, u32>,
    pub profiles: IndexMap<ActionProfileId, u32>,
    pub counters: IndexMap<CounterId, u32>,
    pub meters: IndexMap<MeterId, u32>,
    pub registers: IndexMap<RegisterId, u32>,
    pub value_sets: IndexMap<ValueSetId, u32>,
    pub digests: IndexMap<DigestId, u32>,
}

impl Schema {
    /// The program as this P4Info shows it; an error if they do not belong together.
    pub fn new(info: P4Info, program: Arc<Program>, ports: Ports) -> Result<Schema, Mismatch> {
        let model = Model::new(info, &program)?;
        let actions = program.actions.iter_enumerated();
        let ids = Ids {
            tables: model.tables().map(|it| (it.table, it.id)).collect(),
            actions: actions.filter_map(|(action, it)| Some((action, model.id_of(Kind::Action, &it.name)?))).collect(),
            profiles: model.action_profiles().map(|it| (it.profile, it.id)).collect(),
            counters: model.counters().map(|it| (it.counter, it.id)).collect(),
            meters: model.meters().map(|it| (it.meter, it.id)).collect(),
            registers: model.registers().map(|it| (it.register, it.id)).collect(),
            value_sets: model.value_sets().map(|it| (it.set, it.id)).collect(),
            digests: model.digests().flat_map(|it| it.digests.iter().map(|&digest| (digest, it.id))).collect(),
        };
        let translator = Translator::new(ports, program.architecture.port_bits);
        Ok(Schema { model, program, translator, ids })
    }

    /// The ports of the switch, by number.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u32> {
        self.translator.ports().numbers(self.program.architecture)
    }

    /// Why this id is not one of this kind.
    pub(crate) fn unknown(&self, kind: Kind, id: u32) -> Fault {
        let what = kind.as_str();
        if id == 0 {
            return Fault::invalid(format!("the id of the {what} is missing"));
        }
        let is = match self.model.object(id) {
            Some(other) => format!("is the {} {}", other.kind().as_str(), other.name()),
            None => format!("is not in the P4Info of the program; its {what}s are {}", self.listed(kind)),
        };
        Fault::invalid(format!("there is no {what} of id {id:#010x}: it {is}"))
    }

    fn listed(&self, kind: Kind) -> String {
        /// The most names in a message.
        const LISTED_MAX: usize = 8;
        let names = self.model.names(kind);
        match names.len() {
            0 => "none".to_owned(),
            count if count > LISTED_MAX => {
                format!("{} and {} more", names[..LISTED_MAX].join(", "), count - LISTED_MAX)
            }
            _ => names.join(", "),
        }
    }
}

/// Puts the subject before a refusal.
pub(crate) fn about(fault: Fault, what: impl std::fmt::Display) -> Fault {
    Fault { message: format!("{what}: {}", fault.message), ..fault }
}
