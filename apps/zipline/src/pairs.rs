//! Assigns identifiers to bases and decides when an identifier may be reused: the decision logic of a controller,
//! without its connections and its clock.
//!
//! What enters: bases that encoders encountered, idle notifications, switches that connect (with their contents) or
//! disconnect, replies to orders, the time. What leaves: orders, which each switch must carry out in the order given.
//!
//! ```text
//! resting ──► installing ──► active ──► retiring ──► resting
//!    │   a basis   │   all decoders │  idle,   │   all encoders  │
//!    │   occurs    │   have it      │  needed  │   forgot it     └─ until no packet can carry it any more
//!    └─────────────┴──► active: the same basis again, which the decoders still have
//! ```
//!
//! The invariant, whatever is lost, delayed or restarted: while an encoder may send an identifier, and until no
//! packet with it can be in flight, no decoder has a different basis for it. A decoder may have none, and then drops
//! the packet. To make that rare, encoders send no identifiers while a decoder is disconnected.
//!
//! A controller starts without any state. It first reads the contents of the [decoders](Pairs::decoder_back): an
//! identifier keeps the basis that all of them have for it, and encoders that [connect](Pairs::encoder_back)
//! afterwards keep using it.
//!
//! A pair that a switch has from its own entries file rather than from a controller is fixed: the switch has it again
//! after every restart, even while there is no controller. The identifier of such a pair therefore never gets another
//! basis. The pair is installed and retired like others, but it rests only until it can become active again.

use base::{OrderedMap, OrderedSet};
use std::collections::VecDeque;

/// A basis, as the bytes of its number.
pub type Basis = Vec<u8>;

/// What a switch has for an identifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The basis.
    pub basis: Basis,
    /// Whether the pair is from the switch's own entries, so that the switch has it again after every restart.
    pub is_fixed: bool,
}

/// A conflict: the entries of two switches give an identifier two different bases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The identifier.
    pub identifier: u32,
    /// The basis in the entries of this switch.
    pub says: Basis,
    /// The basis in the entries of a switch that connected earlier.
    pub means: Basis,
}

/// The sizes and times of the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The number of identifiers.
    pub identifiers: u32,
    /// The number of encoders.
    pub encoders: usize,
    /// The number of decoders. Each may receive packets of every encoder.
    pub decoders: usize,
    /// How long an identifier rests after the last encoder has forgotten it. This must exceed the lifetime of a
    /// packet on its way from an encoder to a decoder.
    pub quarantine_ns: u64,
    /// The idle timeout: an encoder reports a pair as idle after this time without a packet, and again after each
    /// further one.
    pub idle_ns: u64,
    /// How many identifiers are kept resting or free in advance, if that many pairs are idle, so that a new basis
    /// need not wait.
    pub reserve: u32,
}

/// How late an idle notification may arrive.
const IDLE_LATE_NS: u64 = 2_000_000_000;

/// The number of identifiers in each state, and events since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Identifiers that encoders have.
    pub active: u64,
    /// Identifiers that are being installed in decoders.
    pub installing: u64,
    /// Identifiers that encoders are being ordered to forget, or of which an encoder has not reported whether it has
    /// them.
    pub retiring: u64,
    /// Identifiers that no encoder has.
    pub resting: u64,
    /// Of all these, the identifiers of fixed pairs.
    pub fixed: u64,
    /// Pairs that became active.
    pub learned: u64,
    /// Pairs that were retired in favour of others.
    pub recycled: u64,
    /// How often a basis occurred for which no identifier was free.
    pub without_identifier: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |sum, it| Counts {
            active: sum.active + it.active,
            installing: sum.installing + it.installing,
            retiring: sum.retiring + it.retiring,
            resting: sum.resting + it.resting,
            fixed: sum.fixed + it.fixed,
            learned: sum.learned + it.learned,
            recycled: sum.recycled + it.recycled,
            without_identifier: sum.without_identifier + it.without_identifier,
        })
    }
}

/// An order for one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// The decoder must map the identifier to this basis, and forget any other.
    Expand {
        /// The decoder.
        decoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
        /// Whether the pair is fixed.
        is_fixed: bool,
    },
    /// The encoder must send this identifier for the basis.
    Compress {
        /// The encoder.
        encoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
        /// Whether the pair is fixed.
        is_fixed: bool,
    },
    /// The encoder must no longer send the identifier.
    Forget {
        /// The encoder.
        encoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PairState {
    /// Nothing has been ordered yet. These encoders have not reported yet whether they have it.
    Unknown { missing: OrderedSet<usize> },
    /// No encoder has it. It is free from that time.
    Resting { until_ns: u64 },
    /// These decoders have not confirmed yet that they have it.
    Installing { missing: OrderedSet<usize> },
    /// Encoders have it, or have been ordered to use it.
    Active,
    /// These encoders have not confirmed yet that they have forgotten it.
    Retiring { missing: OrderedSet<usize> },
}

impl PairState {
    /// Whether encoders use it or are about to.
    fn is_used(&self) -> bool {
        matches!(self, PairState::Installing { .. } | PairState::Active)
    }
}

/// The times of an encoder's first idle notification since the pair was last in use, and of its latest one.
#[derive(Clone, Copy, Debug)]
struct Idle {
    first_ns: u64,
    last_ns: u64,
}

#[derive(Clone, Debug)]
struct Pair {
    /// Its basis. Unless the pair is being installed, every connected decoder has it.
    basis: Option<Basis>,
    /// The only basis that it may have, if a switch was started with it.
    fixed: Option<Basis>,
    state: PairState,
    /// The encoders at which it is idle.
    idle_at: OrderedMap<usize, Idle>,
    /// The time since which it is idle at all encoders, as stored in the set of idle pairs.
    idle_since_ns: Option<u64>,
}

/// All pairs, and the orders that are not carried out yet.
#[derive(Clone, Debug)]
pub struct Pairs {
    settings: Settings,
    pairs: Vec<Pair>,
    by_basis: OrderedMap<Basis, u32>,
    /// The identifiers of fixed bases.
    fixed: OrderedMap<Basis, u32>,
    /// How many of these no encoder uses or is about to use.
    fixed_unused: u64,
    /// Resting identifiers that are not fixed, by the time at which they become free.
    resting: OrderedSet<(u64, u32)>,
    /// Active identifiers that were idle at every encoder, by the time since which they are. Some may be in use
    /// again.
    idle: OrderedSet<(u64, u32)>,
    counts: Counts,
    /// Disconnected switches.
    encoders_disconnected: OrderedSet<usize>,
    decoders_disconnected: OrderedSet<usize>,
    /// Whether a decoder has reported its contents. Decoders that report later cannot add to them.
    has_decoder_reported: bool,
    orders: VecDeque<Order>,
}

impl Pairs {
    /// The state of a controller at every start: nothing is known about the past, no switch is connected, and every
    /// encoder may have any identifier until it [connects](Pairs::encoder_back).
    pub fn new(settings: Settings) -> Pairs {
        let missing = (0..settings.encoders).collect();
        let state = PairState::Unknown { missing };
        let pair = Pair { basis: None, fixed: None, state, idle_at: OrderedMap::new(), idle_since_ns: None };
        Pairs {
            settings,
            pairs: vec![pair; settings.identifiers as usize],
            by_basis: OrderedMap::new(),
            fixed: OrderedMap::new(),
            fixed_unused: 0,
            resting: OrderedSet::new(),
            idle: OrderedSet::new(),
            counts: Counts { retiring: u64::from(settings.identifiers), ..Counts::default() },
            encoders_disconnected: (0..settings.encoders).collect(),
            decoders_disconnected: (0..settings.decoders).collect(),
            has_decoder_reported: false,
            orders: VecDeque::new(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The number of identifiers in each state.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next order, if there is one.
    pub fn next_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// An encoder encountered a basis without an identifier.
    pub fn met(&mut self, now_ns: u64, basis: &[u8]) {
        if !self.decoders_disconnected.is_empty() {
            return;
        }
        if let Some(&known) = self.by_basis.get(basis) {
            // All decoders still have it, so it can become active at once, even if it rests.
            if matches!(self.pair(known).state, PairState::Resting { .. }) {
                self.announce(known, None);
            }
        } else if let Some(free) = self.free_for(now_ns, basis) {
            self.install(free, basis);
        } else {
            self.counts.without_identifier += 1;
        }
        self.retire_idle(now_ns);
    }

    /// An encoder reports that it had no packet with the basis for its idle timeout.
    pub fn idle(&mut self, now_ns: u64, encoder: usize, basis: &[u8]) {
        let Some(&identifier) = self.by_basis.get(basis) else { return };
        if encoder >= self.settings.encoders || self.pair(identifier).state != PairState::Active {
            return;
        }
        let is_idle_still = |before: &Idle| self.is_fresh(now_ns, before);
        let before = self.pair(identifier).idle_at.get(&encoder).copied().filter(is_idle_still);
        let first_ns = before.map_or(now_ns, |before| before.first_ns);
        self.pair_mut(identifier).idle_at.insert(encoder, Idle { first_ns, last_ns: now_ns });
        self.place_idle(identifier);
    }

    /// A switch has carried out an order.
    pub fn done(&mut self, now_ns: u64, order: &Order) {
        match *order {
            Order::Expand { decoder, identifier, ref basis, .. } => {
                let pair = self.pair_mut(identifier);
                let is_meant = pair.basis.as_ref() == Some(basis);
                let PairState::Installing { missing } = &mut pair.state else { return };
                if is_meant {
                    missing.remove(&decoder);
                }
                if missing.is_empty() {
                    self.announce(identifier, None);
                }
            }
            Order::Forget { encoder, identifier, .. } => {
                self.forgotten(now_ns, encoder, identifier);
                self.reactivate_if_fixed(identifier);
            }
            Order::Compress { .. } => {}
        }
    }

    /// An encoder is disconnected. Its contents are unknown until it connects again.
    pub fn encoder_lost(&mut self, encoder: usize) {
        self.encoders_disconnected.insert(encoder);
        self.orders.retain(|order| match order {
            Order::Compress { encoder: to, .. } | Order::Forget { encoder: to, .. } => *to != encoder,
            Order::Expand { .. } => true,
        });
    }

    /// The conflict between a switch's own entries and those of another, if there is one. A decoder with a conflict
    /// must not be connected; an encoder is connected, and the conflicting pair is removed from it.
    pub fn conflict(&self, has: &OrderedMap<u32, Held>) -> Option<Conflict> {
        has.range(..self.settings.identifiers).filter(|(_, held)| held.is_fixed).find_map(|(&identifier, held)| {
            let means = self.pair(identifier).fixed.as_ref().filter(|fixed| **fixed != held.basis)?;
            Some(Conflict { identifier, says: held.basis.clone(), means: means.clone() })
        })
    }

    /// An encoder is connected and has these bases, by identifier. It has carried out no order since it reported
    /// them.
    pub fn encoder_back(&mut self, now_ns: u64, encoder: usize, has: &OrderedMap<u32, Held>) {
        self.encoders_disconnected.remove(&encoder);
        for identifier in 0..self.settings.identifiers {
            match has.get(&identifier) {
                Some(held) => {
                    self.fix(now_ns, identifier, held);
                    self.encoder_has(encoder, identifier, &held.basis);
                }
                None => self.forgotten(now_ns, encoder, identifier),
            }
        }
        for identifier in 0..self.settings.identifiers {
            let pair = self.pair(identifier);
            let has_it = has.get(&identifier).map(|held| &held.basis) == pair.basis.as_ref();
            match (&pair.state, &pair.basis) {
                (PairState::Active, Some(basis)) if !has_it => {
                    let (basis, is_fixed) = (basis.clone(), pair.fixed.is_some());
                    self.orders.push_back(Order::Compress { encoder, identifier, basis, is_fixed });
                }
                _ => self.reactivate_if_fixed(identifier),
            }
        }
    }

    /// A decoder is disconnected. It may be empty when it connects again, so encoders must send bases.
    pub fn decoder_lost(&mut self, now_ns: u64, decoder: usize) {
        self.decoders_disconnected.insert(decoder);
        self.orders.retain(|order| !matches!(order, Order::Expand { .. }));
        for identifier in 0..self.settings.identifiers {
            match self.pair(identifier).state {
                PairState::Active => self.retire(identifier),
                PairState::Installing { .. } => {
                    // No encoder was ordered to use it, and not every decoder has it.
                    self.forget_basis(identifier);
                    self.enter(identifier, PairState::Resting { until_ns: now_ns });
                }
                PairState::Unknown { .. } | PairState::Resting { .. } | PairState::Retiring { .. } => {}
            }
        }
    }

    /// A decoder is connected and has these bases, by identifier. It has carried out no order since it reported them.
    pub fn decoder_back(&mut self, now_ns: u64, decoder: usize, has: &OrderedMap<u32, Held>) {
        self.decoders_disconnected.remove(&decoder);
        let is_first = !std::mem::replace(&mut self.has_decoder_reported, true);
        for identifier in 0..self.settings.identifiers {
            let held = has.get(&identifier);
            held.into_iter().for_each(|held| self.fix(now_ns, identifier, held));
            let pair = self.pair(identifier);
            let has = held.map(|held| &held.basis);
            let is_possible = |basis: &&Basis| {
                !self.by_basis.contains_key(*basis) && pair.fixed.as_ref().is_none_or(|fixed| fixed == *basis)
            };
            if is_first && let Some(basis) = has.filter(is_possible) {
                self.by_basis.insert(basis.clone(), identifier);
                self.pair_mut(identifier).basis = Some(basis.clone());
            } else if pair.basis.as_ref() != has {
                self.forget_basis(identifier);
            }
        }
        (0..self.settings.identifiers).for_each(|identifier| self.reactivate_if_fixed(identifier));
    }

    fn pair(&self, identifier: u32) -> &Pair {
        &self.pairs[identifier as usize]
    }

    fn pair_mut(&mut self, identifier: u32) -> &mut Pair {
        &mut self.pairs[identifier as usize]
    }

    /// Forgets the basis of an identifier, because not every decoder has it any more.
    fn forget_basis(&mut self, identifier: u32) {
        if let Some(basis) = self.pair_mut(identifier).basis.take() {
            self.by_basis.remove(&basis);
        }
    }

    /// Fixes the basis of an identifier, if a switch was started with it.
    fn fix(&mut self, now_ns: u64, identifier: u32, held: &Held) {
        if !held.is_fixed || self.pair(identifier).fixed.is_some() {
            return;
        }
        if self.pair(identifier).basis.as_ref() != Some(&held.basis) {
            match self.pair(identifier).state {
                PairState::Active => self.retire(identifier),
                PairState::Installing { .. } => self.enter(identifier, PairState::Resting { until_ns: now_ns }),
                PairState::Unknown { .. } | PairState::Resting { .. } | PairState::Retiring { .. } => {}
            }
            self.forget_basis(identifier);
        }
        if let PairState::Resting { until_ns } = self.pair(identifier).state {
            self.resting.remove(&(until_ns, identifier));
        }
        self.pair_mut(identifier).fixed = Some(held.basis.clone());
        self.fixed.entry(held.basis.clone()).or_insert(identifier);
        self.counts.fixed += 1;
        self.fixed_unused += u64::from(!self.pair(identifier).state.is_used());
        self.place_idle(identifier);
    }

    /// A fixed pair that all decoders have need not rest, nor wait until its basis occurs.
    fn reactivate_if_fixed(&mut self, identifier: u32) {
        let pair = self.pair(identifier);
        let is_there = pair.fixed.is_some() && pair.basis == pair.fixed && self.decoders_disconnected.is_empty();
        if is_there && matches!(pair.state, PairState::Resting { .. }) {
            self.announce(identifier, None);
        }
    }

    /// The identifier that a basis without one can get now: its own if the basis is fixed.
    fn free_for(&self, now_ns: u64, basis: &[u8]) -> Option<u32> {
        let rested = |until_ns: u64| until_ns <= now_ns;
        match self.fixed.get(basis) {
            Some(&identifier) => match self.pair(identifier).state {
                PairState::Resting { until_ns } if rested(until_ns) => Some(identifier),
                _ => None,
            },
            None => self.resting.first().filter(|(until_ns, _)| rested(*until_ns)).map(|&(_, identifier)| identifier),
        }
    }

    /// The counter of this state.
    fn count(&mut self, state: &PairState) -> &mut u64 {
        match state {
            PairState::Unknown { .. } | PairState::Retiring { .. } => &mut self.counts.retiring,
            PairState::Resting { .. } => &mut self.counts.resting,
            PairState::Installing { .. } => &mut self.counts.installing,
            PairState::Active => &mut self.counts.active,
        }
    }

    /// Moves the pair to another state, and to the set in which pairs of that state are found.
    fn enter(&mut self, identifier: u32, state: PairState) {
        let before = std::mem::replace(&mut self.pair_mut(identifier).state, state.clone());
        *self.count(&before) -= 1;
        *self.count(&state) += 1;
        let is_fixed = self.pair(identifier).fixed.is_some();
        if is_fixed {
            self.fixed_unused += u64::from(!state.is_used());
            self.fixed_unused -= u64::from(!before.is_used());
        }
        if let PairState::Resting { until_ns } = before {
            self.resting.remove(&(until_ns, identifier));
        }
        if let PairState::Resting { until_ns } = state
            && !is_fixed
        {
            self.resting.insert((until_ns, identifier));
        }
        self.pair_mut(identifier).idle_at.clear();
        self.place_idle(identifier);
    }

    /// Adds the pair to the set of idle pairs, if it is idle at every encoder.
    fn place_idle(&mut self, identifier: u32) {
        let pair = self.pair(identifier);
        let is_everywhere = pair.idle_at.len() == self.settings.encoders && pair.fixed.is_none();
        let latest = self.pair(identifier).idle_at.values().map(|idle| idle.first_ns).max();
        let now = latest.filter(|_| is_everywhere);
        if let Some(since_ns) = std::mem::replace(&mut self.pair_mut(identifier).idle_since_ns, now) {
            self.idle.remove(&(since_ns, identifier));
        }
        self.idle.extend(now.map(|since_ns| (since_ns, identifier)));
    }

    /// Whether a pair with this idle notification can still be idle: the encoder repeats the notification as long as
    /// it is.
    fn is_fresh(&self, now_ns: u64, idle: &Idle) -> bool {
        now_ns <= idle.last_ns.saturating_add(2 * self.settings.idle_ns).saturating_add(IDLE_LATE_NS)
    }

    /// An encoder that connects sends the identifier for this basis.
    fn encoder_has(&mut self, encoder: usize, identifier: u32, basis: &Basis) {
        let is_meant = self.pair(identifier).basis.as_ref() == Some(basis) && self.decoders_disconnected.is_empty();
        let is_fixed = self.pair(identifier).fixed.is_some();
        match self.pair(identifier).state {
            PairState::Active if is_meant => return,
            PairState::Unknown { .. } if is_meant => return self.announce(identifier, Some(encoder)),
            PairState::Resting { .. } if is_meant && is_fixed => return self.announce(identifier, Some(encoder)),
            _ => {}
        }
        self.orders.push_back(Order::Forget { encoder, identifier, basis: basis.clone() });
        let state = self.pair(identifier).state.clone();
        if matches!(state, PairState::Installing { .. }) {
            self.forget_basis(identifier);
        }
        match state {
            PairState::Active => self.retire(identifier),
            PairState::Unknown { mut missing } | PairState::Retiring { mut missing } => {
                missing.insert(encoder);
                self.enter(identifier, PairState::Retiring { missing });
            }
            PairState::Resting { .. } | PairState::Installing { .. } => {
                self.enter(identifier, PairState::Retiring { missing: OrderedSet::from([encoder]) });
            }
        }
    }

    fn install(&mut self, identifier: u32, basis: &[u8]) {
        let missing = (0..self.settings.decoders).collect();
        self.enter(identifier, PairState::Installing { missing });
        self.forget_basis(identifier);
        let is_fixed = self.pair(identifier).fixed.is_some();
        self.pair_mut(identifier).basis = Some(basis.to_vec());
        self.by_basis.insert(basis.to_vec(), identifier);
        for decoder in 0..self.settings.decoders {
            self.orders.push_back(Order::Expand { decoder, identifier, basis: basis.to_vec(), is_fixed });
        }
    }

    /// Orders the connected encoders to use the pair, except one that has it already.
    fn announce(&mut self, identifier: u32, has_it: Option<usize>) {
        self.enter(identifier, PairState::Active);
        self.counts.learned += u64::from(self.pair(identifier).fixed.is_none());
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        let is_fixed = self.pair(identifier).fixed.is_some();
        for encoder in self.encoders().filter(|encoder| Some(*encoder) != has_it) {
            self.orders.push_back(Order::Compress { encoder, identifier, basis: basis.clone(), is_fixed });
        }
    }

    /// The connected encoders.
    fn encoders(&self) -> impl Iterator<Item = usize> + use<> {
        let away = self.encoders_disconnected.clone();
        (0..self.settings.encoders).filter(move |encoder| !away.contains(encoder))
    }

    /// Orders the encoders to forget the pair. It stays retiring until all disconnected encoders have connected
    /// again.
    fn retire(&mut self, identifier: u32) {
        let missing = (0..self.settings.encoders).collect();
        self.enter(identifier, PairState::Retiring { missing });
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        for encoder in self.encoders() {
            self.orders.push_back(Order::Forget { encoder, identifier, basis: basis.clone() });
        }
    }

    fn forgotten(&mut self, now_ns: u64, encoder: usize, identifier: u32) {
        let until_ns = now_ns.saturating_add(self.settings.quarantine_ns);
        let (PairState::Retiring { missing } | PairState::Unknown { missing }) = &mut self.pair_mut(identifier).state
        else {
            return;
        };
        missing.remove(&encoder);
        if missing.is_empty() {
            self.enter(identifier, PairState::Resting { until_ns });
        }
    }

    /// Retires the pairs that have been idle for the longest time, until the reserve is reached.
    fn retire_idle(&mut self, now_ns: u64) {
        let reserve = u64::from(self.settings.reserve.max(1));
        while self.counts.resting + self.counts.retiring - self.fixed_unused < reserve {
            let Some(&(_, identifier)) = self.idle.first() else { return };
            if self.pair(identifier).idle_at.values().all(|idle| self.is_fresh(now_ns, idle)) {
                self.counts.recycled += 1;
                self.retire(identifier);
            } else {
                self.pair_mut(identifier).idle_at.clear();
                self.place_idle(identifier);
            }
        }
    }
}
