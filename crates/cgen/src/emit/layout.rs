//! Where headers lie in packets whose headers are added or removed, and where they will lie when they leave.
//!
//! What enters: code that is generated for packets with known headers ([`super::variants`]). What leaves: the same
//! code, in which headers are made, and copied to, where they will lie, so that the deparser does not move them. To
//! know that, the code is generated twice: at first to find the headers with which packets leave it.
//!
//! If a header is copied to one that will lie where the source lies, the bytes stay: they become the target's, and the
//! source continues as a copy, where it will lie itself or in its home. So the bytes of a frame that is put into a
//! tunnel stay in place, though the program copies each of its headers.

use super::pieces::PIECES_BYTES_MAX;
use super::scope::{Jump, Known, Scope};
use crate::plan::graph::NodeId;
use base::OrderedMap;
use ir::{HeaderId, HeaderRef, LabelId};
use lir::{Expr as C, StatePart, Stmt as S, arrow, assign, binary, int, name};

/// The place of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lies {
    /// That many bytes behind the packet's first byte as it was received, or before it.
    At(i64),
    /// In its home, outside of the packet.
    AtHome,
}

/// The headers with which packets leave, and where each begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    headers: OrderedMap<HeaderId, i64>,
    /// Where the first begins.
    start: i64,
}

/// The layouts with which packets leave code.
#[derive(Default)]
pub(crate) struct Leaving {
    layout: Option<Layout>,
    /// Whether packets leave with more than one layout, or headers must be where the rest of the switch finds them.
    is_uncertain: bool,
}

/// The state of a scope before code that is generated twice.
struct Start {
    known: Known,
    labels: OrderedMap<LabelId, Jump>,
    emitted: Vec<HeaderRef>,
    rest: Option<NodeId>,
    transfers: usize,
}

impl Scope<'_, '_> {
    /// Generates code after which packets leave: with headers at their final places if these are known.
    pub(super) fn laid_out(&mut self, write: &dyn Fn(&mut Self)) -> Vec<S> {
        if self.layout.is_some() {
            return self.take(write);
        }
        let start = Start {
            known: self.known.clone(),
            labels: self.labels.clone(),
            emitted: self.emitted.clone(),
            rest: self.rest,
            transfers: self.transfers.len(),
        };
        let outer = std::mem::take(&mut self.leaving);
        let plain = self.take(write);
        let leaving = std::mem::replace(&mut self.leaving, outer);
        self.leaving.is_uncertain |= leaving.is_uncertain;
        if let Some(layout) = &leaving.layout {
            self.leave_with(Some(layout.clone()));
        }
        let Some(layout) = leaving.layout.filter(|_| !leaving.is_uncertain) else { return plain };
        self.known = start.known;
        self.labels = start.labels;
        self.emitted = start.emitted;
        self.rest = start.rest;
        self.transfers.truncate(start.transfers);
        self.layout = Some(layout);
        let placed = self.take(write);
        self.layout = None;
        placed
    }

    /// Notes how packets leave: with this layout, or without one, so that headers are not placed.
    pub(super) fn leave_with(&mut self, layout: Option<Layout>) {
        let is_same = layout.is_some() && (self.leaving.layout.is_none() || self.leaving.layout == layout);
        self.leaving.is_uncertain |= !is_same;
        self.leaving.layout = layout;
    }

    /// The layout of packets that leave with these headers, which are emitted before what stays.
    pub(super) fn layout_of(&self, headers: &[HeaderRef]) -> Option<Layout> {
        let mut sizes = Vec::new();
        for header in headers {
            let HeaderRef::Fixed(id) = header else { return None };
            if !self.is_surely_valid(*id) || self.emitter.program.header_type(header).varbit().is_some() {
                return None;
            }
            sizes.push((*id, i64::from(self.bytes_of(*id))));
        }
        let start = i64::from(self.bytes_before_what_stays()?) - sizes.iter().map(|(_, size)| size).sum::<i64>();
        let mut at = start;
        let mut headers = OrderedMap::new();
        for (id, size) in sizes {
            if headers.insert(id, at).is_some() {
                return None;
            }
            at += size;
        }
        Some(Layout { headers, start })
    }

    /// Writes headers that do not yet lie at their final places there, and moves the packet's begin. False if the
    /// headers are not those of the layout.
    pub(super) fn finish_layout(&mut self, leaves: &Layout) -> bool {
        if self.layout.as_ref() != Some(leaves) {
            return false;
        }
        let moved = leaves.headers.iter().filter(|(id, at)| self.known.lies.get(id) != Some(&Lies::At(**at)));
        let moved: Vec<(HeaderId, i64)> = moved.map(|(&id, &at)| (id, at)).collect();
        let loaded: Vec<_> = moved
            .iter()
            .map(|&(id, at)| {
                let pieces = self.pieces(self.bytes_of(id));
                let load = pieces.load(&lir::header(id));
                self.out.extend(load);
                (pieces, at)
            })
            .collect();
        for (pieces, at) in loaded {
            self.out.extend(pieces.store(&at_bytes(at)));
        }
        let length = |by: i64| match by {
            0.. => binary("-", arrow(name("frame"), "length"), int(by as u32)),
            _ => binary("+", arrow(name("frame"), "length"), int(by.unsigned_abs() as u32)),
        };
        self.push(assign(arrow(name("frame"), "bytes"), at_bytes(leaves.start)));
        self.push(assign(arrow(name("frame"), "length"), length(leaves.start)));
        true
    }

    /// The bytes of the packet before those that stay where they are, if that is a constant.
    fn bytes_before_what_stays(&self) -> Option<u32> {
        let (path, extracted) = (self.path?, self.known.extracted.as_ref()?);
        let moved = extracted.iter().filter(|header| !path.fast_path.tail.contains(header));
        Some(moved.map(|&header| self.bytes_of(header)).sum())
    }

    fn bytes_of(&self, header: HeaderId) -> u32 {
        self.emitter.program.header_types[self.emitter.program.headers[header].ty].fixed_width() / 8
    }

    /// Where a header will lie, if no other header lies there now. Headers that lie there and elsewhere at last are
    /// copied to their final places before.
    pub(super) fn final_place(&mut self, header: HeaderId) -> Option<i64> {
        let at = self.at_last(header)?;
        let overlapping = self.overlapping(header, at)?;
        let before = self.known.lies.clone();
        self.known.lies.insert(header, Lies::At(at));
        let mut moves = Vec::new();
        for other in overlapping {
            let is_free = |last: &i64| self.overlapping(other, *last).is_some_and(|others| others.is_empty());
            let Some(last) = self.at_last(other).filter(is_free) else {
                self.known.lies = before;
                return None;
            };
            moves.push((other, last));
            self.known.lies.insert(other, Lies::At(last));
        }
        for (other, last) in moves {
            self.copy_bytes(&lir::header(other), &at_bytes(last), self.bytes_of(other));
            self.take_place(other, at_bytes(last), Lies::At(last));
        }
        Some(at)
    }

    /// Where a header lies when the packet leaves, if it has the header then.
    fn at_last(&self, header: HeaderId) -> Option<i64> {
        self.layout.as_ref()?.headers.get(&header).copied()
    }

    /// The headers that lie where another would lie, if that is known.
    fn overlapping(&self, header: HeaderId, at: i64) -> Option<Vec<HeaderId>> {
        let end = at + i64::from(self.bytes_of(header));
        let mut found = Vec::new();
        for other in self.emitter.program.headers.ids().filter(|&other| other != header) {
            // A header that is about to be valid has its place already.
            match self.known.lies.get(&other) {
                Some(Lies::AtHome) => {}
                Some(Lies::At(begin)) if *begin >= end || begin + i64::from(self.bytes_of(other)) <= at => {}
                Some(Lies::At(_)) => found.push(other),
                None if self.is_surely_invalid(other) => {}
                None => return None,
            }
        }
        Some(found)
    }

    /// Copies a header that is certainly valid to another, so that the target is where it will lie. False if it cannot.
    pub(super) fn copy_in_layout(&mut self, to: HeaderId, from: HeaderId) -> bool {
        if self.layout.is_none() || to == from || self.bytes_of(from) > PIECES_BYTES_MAX {
            return false;
        }
        let Some(Lies::At(now)) = self.known.lies.get(&from).copied() else { return false };
        if self.at_last(to) != Some(now) {
            let Some(at) = self.final_place(to) else { return false };
            self.copy_bytes(&lir::header(from), &at_bytes(at), self.bytes_of(from));
            self.take_place(to, at_bytes(at), Lies::At(at));
            return true;
        }
        // The bytes become the target's.
        let before = self.known.clone();
        self.known.lies.insert(to, Lies::At(now));
        self.known.invalid.remove(&to);
        let moves_to = match self.final_place(from) {
            Some(at) => Some((at_bytes(at), Lies::At(at))),
            None if self.emitter.plan.headers[from].home.is_some() => Some((self.plain_home(from), Lies::AtHome)),
            None => None,
        };
        let Some((place, lies)) = moves_to else {
            self.known = before;
            return false;
        };
        self.copy_bytes(&lir::header(from), &place, self.bytes_of(from));
        self.take_place(from, place, lies);
        self.take_place(to, at_bytes(now), Lies::At(now));
        true
    }

    /// Records the place of a header, in the code and in what is known.
    fn take_place(&mut self, header: HeaderId, place: C, lies: Lies) {
        self.push(assign(C::Saved(StatePart::Header(header)), place.clone()));
        self.push(assign(lir::header(header), place));
        self.known.lies.insert(header, lies);
    }
}

/// A pointer to bytes of the packet, or before it.
pub(super) fn at_bytes(offset: i64) -> C {
    match offset {
        0.. => binary("+", name("bytes"), int(offset as u32)),
        _ => binary("-", name("bytes"), int(offset.unsigned_abs() as u32)),
    }
}
