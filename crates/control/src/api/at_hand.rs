//! The control plane of a switch whose owner carries writes out by itself, between two packets of its choice.
//!
//! What enters: updates and queries, with the switch. What leaves: outcomes and entities. There is no queue and no
//! other thread: a simulator decides when a write takes effect.

use crate::api::arrays::FreshArrays;
use crate::api::entity::TableEntry;
use crate::api::{Atomicity, Fault, Pipeline, Query, Sink, Update};
use std::sync::{Mutex, PoisonError};
use switch::{Closed, CommandQueue, Job, Switch};

/// The control plane of one switch. It belongs to the switch that it was made for, with its program.
pub struct LocalApi(Pipeline);

impl LocalApi {
    /// The control plane of this switch.
    pub fn of(switch: &Switch) -> LocalApi {
        LocalApi(Pipeline::of(switch))
    }

    /// Carries out updates; one outcome for each. No packet sees only some of them.
    pub fn write(&self, switch: &mut Switch, updates: &[Update], atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let fresh = FreshArrays::of(self.0.program(), updates);
        self.0.write_in_switch(switch, updates, atomicity, fresh).outcomes
    }

    /// Passes all entities that the query selects to `sink`, some at a time.
    pub fn read(&self, switch: &mut Switch, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        self.0.read(self.0.queue(&AtHand(Mutex::new(switch))), query, sink)
    }

    /// As [`crate::api::Api::idle_entries`].
    pub fn idle_entries(
        &self,
        switch: &mut Switch,
        sink: &mut dyn FnMut(Vec<TableEntry>),
    ) -> Result<Option<u64>, Fault> {
        self.0.idle_entries(self.0.queue(&AtHand(Mutex::new(switch))), sink)
    }
}

/// The command queue of a switch that is at hand.
pub(crate) struct AtHand<'a>(pub(crate) Mutex<&'a mut Switch>);

impl CommandQueue for AtHand<'_> {
    fn send(&self, job: Job) -> Result<(), Closed> {
        job(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}
