//! What becomes of tagged packets during a call of the core.
//!
//! What enters: what is reported to an observer. What leaves: for each tag to which something happened, whether a
//! packet with it was dropped or copied; and its steps, to the observer that follows it. Other packets have tag 0.

use crate::output::{Decision, Observer};
use crate::stats::DropReason;
use base::Span;
use interp::{Event, Tracer};
use std::cell::Cell;
use tables::TableSet;

/// What became of packets with a tag during a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fate {
    /// The tag.
    pub tag: u32,
    /// Why one of them was dropped, the last if several were.
    pub drop: Option<DropReason>,
    /// Whether there may be several of them now.
    pub is_copied: bool,
}

/// Follows tagged packets during a call.
pub struct Following<'a> {
    current: &'a Cell<u32>,
    fates: &'a mut Vec<Fate>,
    /// The packet to which the steps belong: what has no tag is worked on because of it.
    last: Option<usize>,
    steps: Option<Steps<'a>>,
    is_described: bool,
}

/// Who gets steps, and of which tags.
pub type Steps<'a> = (&'a mut dyn Observer, fn(u32) -> bool);

impl<'a> Following<'a> {
    /// Follows packets; `current` is always the tag of the packet that is worked on, and so of one that leaves.
    pub fn new(current: &'a Cell<u32>, fates: &'a mut Vec<Fate>, steps: Option<Steps<'a>>) -> Following<'a> {
        Following { current, fates, last: None, steps, is_described: false }
    }

    fn fate(&mut self) -> Option<&mut Fate> {
        self.last.map(|last| &mut self.fates[last])
    }

    fn describe(&mut self, report: impl FnOnce(&mut dyn Observer)) {
        if let Some((observer, _)) = self.steps.as_mut().filter(|_| self.is_described) {
            report(*observer);
        }
    }
}

impl Tracer for Following<'_> {
    fn event(&mut self, span: Span, event: Event<'_>) {
        self.describe(|observer| observer.event(span, event));
    }
}

impl Observer for Following<'_> {
    fn decision(&mut self, decision: Decision) {
        if let (Decision::Dropped(reason), Some(fate)) = (decision, self.fate()) {
            fate.drop = Some(reason);
        }
        self.describe(|observer| observer.decision(decision));
    }

    fn packet(&mut self, tag: u32) {
        self.current.set(tag);
        if tag == 0 || self.last.is_some_and(|last| self.fates[last].tag == tag) {
            return;
        }
        self.last = self.fates.iter().position(|fate| fate.tag == tag).or_else(|| {
            self.fates.push(Fate { tag, drop: None, is_copied: false });
            Some(self.fates.len() - 1)
        });
        self.is_described = self.steps.as_ref().is_some_and(|(_, is_followed)| is_followed(tag));
        self.describe(|observer| observer.packet(tag));
    }

    fn copied(&mut self) {
        self.fate().into_iter().for_each(|fate| fate.is_copied = true);
    }

    fn finish(&mut self, tables: &TableSet, now_ns: u64) {
        if let Some((observer, _)) = &mut self.steps {
            observer.finish(tables, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_belongs_to_the_packet_that_was_named_last() {
        let (current, mut fates) = (Cell::new(0), Vec::new());
        let mut following = Following::new(&current, &mut fates, None);
        following.packet(7);
        following.packet(8);
        following.decision(Decision::Dropped(DropReason::Egress));
        following.packet(7);
        following.copied();
        // What is made of several packets has no tag: it is worked on because of the last one.
        following.packet(0);
        assert_eq!(current.get(), 0);
        following.decision(Decision::Dropped(DropReason::QueueFull));
        let fate = |tag, drop, is_copied| Fate { tag, drop: Some(drop), is_copied };
        assert_eq!(fates, [fate(7, DropReason::QueueFull, true), fate(8, DropReason::Egress, false)]);
    }
}
