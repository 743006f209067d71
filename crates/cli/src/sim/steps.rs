//! `wirespeed sim --trace`: what programs do with the packets of a flow, step by step.
//!
//! What enters: the steps of the interpreter, packet by packet. What leaves: lines, as `wirespeed trace` has them.

use crate::trace::journey::Journey;
use crate::trace::values::Described;
use base::Span;
use interp::{Event, Tracer};
use sim::switch_node::StepTracer;
use std::sync::Arc;
use switch::{Decision, Observer};
use tables::TableSet;

/// Describes the steps of one switch.
pub struct Steps {
    described: Arc<Described>,
    /// By tag, in the order in which the packets came.
    journeys: Vec<(u32, Journey)>,
    /// The packet that is worked on.
    current: usize,
}

impl Steps {
    /// Of a switch that runs this program.
    pub fn new(described: Arc<Described>) -> Steps {
        Steps { described, journeys: Vec::new(), current: 0 }
    }
}

impl StepTracer for Steps {
    fn observer(&mut self) -> &mut dyn Observer {
        self
    }

    fn take(&mut self) -> Vec<(u32, Vec<String>)> {
        self.journeys.drain(..).map(|(tag, journey)| (tag, journey.text())).collect()
    }
}

impl Tracer for Steps {
    fn event(&mut self, span: Span, event: Event<'_>) {
        if let Some((_, journey)) = self.journeys.get_mut(self.current) {
            journey.event(span, event);
        }
    }
}

impl Observer for Steps {
    fn decision(&mut self, decision: Decision) {
        if let Some((_, journey)) = self.journeys.get_mut(self.current) {
            journey.decision(decision);
        }
    }

    fn packet(&mut self, tag: u32) {
        let known = self.journeys.iter().position(|(it, _)| *it == tag);
        self.current = known.unwrap_or(self.journeys.len());
        if known.is_none() {
            self.journeys.push((tag, Journey::new(Arc::clone(&self.described))));
        }
    }

    fn finish(&mut self, tables: &TableSet, now_ns: u64) {
        self.journeys.iter_mut().for_each(|(_, journey)| journey.finish(tables, now_ns));
    }
}
