//! `wirespeed sim --trace`: what programs do with the packets of a flow, step by step.
//!
//! What enters: the steps of the interpreter. What leaves: lines, as `wirespeed trace` has them.

use crate::trace::journey::Journey;
use crate::trace::values::Described;
use sim::switch_node::StepTracer;
use std::sync::Arc;
use switch::Observer;

/// Describes the steps of one switch.
pub struct Steps {
    described: Arc<Described>,
    journey: Journey,
}

impl Steps {
    /// Of a switch that runs this program.
    pub fn new(described: Arc<Described>) -> Steps {
        Steps { journey: Journey::new(Arc::clone(&described)), described }
    }
}

impl StepTracer for Steps {
    fn observer(&mut self) -> &mut dyn Observer {
        &mut self.journey
    }

    fn take(&mut self) -> Vec<String> {
        let done = std::mem::replace(&mut self.journey, Journey::new(Arc::clone(&self.described)));
        done.text()
    }
}
