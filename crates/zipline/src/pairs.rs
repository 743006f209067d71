//! Which identifier means which basis, and when it may mean another: the decisions of a controller, without its
//! connections and its clock.
//!
//! What enters: bases that encoders met, pairs that were idle, switches that come, with what they have, and go, answers
//! to orders, the time. What leaves: orders, to be carried out by each switch in the order in which they are given.
//!
//! ```text
//! resting ──► installing ──► active ──► retiring ──► resting
//!    │   a basis   │   all decoders │  idle,   │   all encoders  │
//!    │   is met    │   have it      │  wanted  │   forgot it     └─ until no packet can carry it any more
//!    └─────────────┴──► active: the same basis again, which the decoders still have
//! ```
//!
//! What must hold, whatever is lost, late or started anew: while an encoder may send an identifier, and until no packet
//! with it can be under way, no decoder has another basis for it. A decoder may have none: then it drops the packet. So
//! that this is seldom, encoders send no identifiers while a decoder is not there.
//!
//! A controller that starts knows nothing. It has [decoders](Pairs::decoder_back) tell what they have first: what all
//! of them have for an identifier is what it means, and encoders that [come](Pairs::encoder_back) after them keep it.
//!
//! What a switch has from its own entries and not from a controller is fixed: it has it again whenever it is started
//! anew, also while nobody leads. So the identifier of such a pair never means anything else. Its pair is installed and
//! taken away like others, but rests only until it can go on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A basis, as the bytes of its number.
pub type Basis = Vec<u8>;

/// What a switch has for an identifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// What it means.
    pub basis: Basis,
    /// The switch was started with it, and has it again whenever it is.
    pub is_fixed: bool,
}

/// That the entries of two switches give an identifier two meanings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The identifier.
    pub identifier: u32,
    /// What the entries of this switch say.
    pub says: Basis,
    /// What those of another said before.
    pub means: Basis,
}

/// What is decided about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How many identifiers there are.
    pub identifiers: u32,
    /// How many encoders.
    pub encoders: usize,
    /// How many decoders, of which each can get packets of each encoder.
    pub decoders: usize,
    /// How long an identifier rests after the last encoder has forgotten it: longer than any packet lives on its way
    /// from an encoder to a decoder.
    pub quarantine_ns: u64,
    /// After how long without a packet an encoder tells that a pair is idle, and again after the same time.
    pub idle_ns: u64,
    /// How many identifiers rest or are free in advance, if so many pairs are idle, so that a new basis need not wait.
    pub reserve: u32,
}

/// How late a switch may tell that a pair is idle.
const IDLE_LATE_NS: u64 = 2_000_000_000;

/// How many identifiers are in which state, and what has happened since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Encoders have them.
    pub active: u64,
    /// Decoders are being told of them.
    pub installing: u64,
    /// Encoders are being told to forget them, or have not said yet whether they have them.
    pub retiring: u64,
    /// No encoder has them.
    pub resting: u64,
    /// Of all these, those that the entries of switches have given a meaning for ever.
    pub fixed: u64,
    /// Pairs that became active.
    pub learned: u64,
    /// Pairs that were taken away for others.
    pub recycled: u64,
    /// How often a basis was met for which no identifier was free.
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

/// What one switch is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// The decoder has this basis for the identifier from now on, whatever it had.
    Expand {
        /// The decoder.
        decoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
        /// Whether it means that for ever.
        is_fixed: bool,
    },
    /// The encoder sends this identifier for the basis.
    Compress {
        /// The encoder.
        encoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
        /// Whether it means that for ever.
        is_fixed: bool,
    },
    /// The encoder no longer sends the identifier.
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
enum State {
    /// Nothing has been ordered yet. These encoders have not said yet whether they have it.
    Unknown { missing: BTreeSet<usize> },
    /// No encoder has it. Free at that time.
    Resting { until_ns: u64 },
    /// These decoders have not said yet that they have it.
    Installing { missing: BTreeSet<usize> },
    /// Encoders have it, or have been told.
    Active,
    /// These encoders have not said yet that they have forgotten it.
    Retiring { missing: BTreeSet<usize> },
}

impl State {
    /// Whether encoders are to have it.
    fn is_used(&self) -> bool {
        matches!(self, State::Installing { .. } | State::Active)
    }
}

/// That an encoder has told that a pair is idle: for the first time since it was not, and for the last time.
#[derive(Clone, Copy, Debug)]
struct Idle {
    first_ns: u64,
    last_ns: u64,
}

#[derive(Clone, Debug)]
struct Pair {
    /// What it means; every decoder that is there has it, unless the pair is being installed.
    basis: Option<Basis>,
    /// The only thing that it may mean, if a switch was started with it.
    fixed: Option<Basis>,
    state: State,
    /// Where it was idle.
    idle_at: BTreeMap<usize, Idle>,
    /// Since when everywhere, as it stands in the set of idle ones.
    idle_since_ns: Option<u64>,
}

/// All identifiers.
#[derive(Clone, Debug)]
pub struct Pairs {
    settings: Settings,
    pairs: Vec<Pair>,
    by_basis: BTreeMap<Basis, u32>,
    /// The identifiers of bases that are fixed.
    fixed: BTreeMap<Basis, u32>,
    /// How many of these no encoder has, or is to have.
    fixed_unused: u64,
    /// Identifiers that rest and are not fixed, by when they are free.
    resting: BTreeSet<(u64, u32)>,
    /// Active ones that were idle at every encoder, by since when. Some may be busy again.
    idle: BTreeSet<(u64, u32)>,
    counts: Counts,
    /// Switches that do not answer.
    encoders_away: BTreeSet<usize>,
    decoders_away: BTreeSet<usize>,
    /// A decoder has said what it has: no other can add to that.
    has_decoder_told: bool,
    orders: VecDeque<Order>,
}

impl Pairs {
    /// Nothing is known of what was before: no switch answers yet, and every encoder may have any identifier until it
    /// is [back](Pairs::encoder_back). This is how a controller starts, the first time and after each end.
    pub fn new(settings: Settings) -> Pairs {
        let missing = (0..settings.encoders).collect();
        let state = State::Unknown { missing };
        let pair = Pair { basis: None, fixed: None, state, idle_at: BTreeMap::new(), idle_since_ns: None };
        Pairs {
            settings,
            pairs: vec![pair; settings.identifiers as usize],
            by_basis: BTreeMap::new(),
            fixed: BTreeMap::new(),
            fixed_unused: 0,
            resting: BTreeSet::new(),
            idle: BTreeSet::new(),
            counts: Counts { retiring: u64::from(settings.identifiers), ..Counts::default() },
            encoders_away: (0..settings.encoders).collect(),
            decoders_away: (0..settings.decoders).collect(),
            has_decoder_told: false,
            orders: VecDeque::new(),
        }
    }

    /// What was decided about.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many identifiers are in which state.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next order, if there is one.
    pub fn next_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// An encoder met a basis without an identifier.
    pub fn met(&mut self, now_ns: u64, basis: &[u8]) {
        if !self.decoders_away.is_empty() {
            return;
        }
        if let Some(&known) = self.by_basis.get(basis) {
            // All decoders still have it: it may go on at once, also if it rests.
            if matches!(self.pair(known).state, State::Resting { .. }) {
                self.announce(known, None);
            }
        } else if let Some(free) = self.free_for(now_ns, basis) {
            self.install(free, basis);
        } else {
            self.counts.without_identifier += 1;
        }
        self.retire_idle(now_ns);
    }

    /// An encoder tells that it had no packet of the basis for as long as its idle timeout.
    pub fn idle(&mut self, now_ns: u64, encoder: usize, basis: &[u8]) {
        let Some(&identifier) = self.by_basis.get(basis) else { return };
        if encoder >= self.settings.encoders || self.pair(identifier).state != State::Active {
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
                let State::Installing { missing } = &mut pair.state else { return };
                if is_meant {
                    missing.remove(&decoder);
                }
                if missing.is_empty() {
                    self.announce(identifier, None);
                }
            }
            Order::Forget { encoder, identifier, .. } => {
                self.forgotten(now_ns, encoder, identifier);
                self.go_on_if_fixed(identifier);
            }
            Order::Compress { .. } => {}
        }
    }

    /// An encoder does not answer. What it has is not known until it is back.
    pub fn encoder_lost(&mut self, encoder: usize) {
        self.encoders_away.insert(encoder);
        self.orders.retain(|order| match order {
            Order::Compress { encoder: to, .. } | Order::Forget { encoder: to, .. } => *to != encoder,
            Order::Expand { .. } => true,
        });
    }

    /// Where the entries of a switch say something else than those of another have said. Such a decoder must not come
    /// back; from an encoder what it says is taken.
    pub fn conflict(&self, has: &BTreeMap<u32, Held>) -> Option<Conflict> {
        has.range(..self.settings.identifiers).filter(|(_, held)| held.is_fixed).find_map(|(&identifier, held)| {
            let means = self.pair(identifier).fixed.as_ref().filter(|fixed| **fixed != held.basis)?;
            Some(Conflict { identifier, says: held.basis.clone(), means: means.clone() })
        })
    }

    /// An encoder is back, and has these bases by identifier. It has carried out nothing since it was asked for them.
    pub fn encoder_back(&mut self, now_ns: u64, encoder: usize, has: &BTreeMap<u32, Held>) {
        self.encoders_away.remove(&encoder);
        for identifier in 0..self.settings.identifiers {
            match has.get(&identifier) {
                Some(held) => {
                    self.fix(now_ns, identifier, held);
                    self.found(encoder, identifier, &held.basis);
                }
                None => self.forgotten(now_ns, encoder, identifier),
            }
        }
        for identifier in 0..self.settings.identifiers {
            let pair = self.pair(identifier);
            let has_it = has.get(&identifier).map(|held| &held.basis) == pair.basis.as_ref();
            match (&pair.state, &pair.basis) {
                (State::Active, Some(basis)) if !has_it => {
                    let (basis, is_fixed) = (basis.clone(), pair.fixed.is_some());
                    self.orders.push_back(Order::Compress { encoder, identifier, basis, is_fixed });
                }
                _ => self.go_on_if_fixed(identifier),
            }
        }
    }

    /// A decoder does not answer. It may be empty when it is back, so encoders are to send it bases.
    pub fn decoder_lost(&mut self, now_ns: u64, decoder: usize) {
        self.decoders_away.insert(decoder);
        self.orders.retain(|order| !matches!(order, Order::Expand { .. }));
        for identifier in 0..self.settings.identifiers {
            match self.pair(identifier).state {
                State::Active => self.retire(identifier),
                State::Installing { .. } => {
                    // No encoder has been told of it, and not every decoder has it.
                    self.forget_basis(identifier);
                    self.enter(identifier, State::Resting { until_ns: now_ns });
                }
                State::Unknown { .. } | State::Resting { .. } | State::Retiring { .. } => {}
            }
        }
    }

    /// A decoder is back, and has these bases by identifier. It has carried out nothing since it was asked for them.
    pub fn decoder_back(&mut self, now_ns: u64, decoder: usize, has: &BTreeMap<u32, Held>) {
        self.decoders_away.remove(&decoder);
        let is_first = !std::mem::replace(&mut self.has_decoder_told, true);
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
        (0..self.settings.identifiers).for_each(|identifier| self.go_on_if_fixed(identifier));
    }

    fn pair(&self, identifier: u32) -> &Pair {
        &self.pairs[identifier as usize]
    }

    fn pair_mut(&mut self, identifier: u32) -> &mut Pair {
        &mut self.pairs[identifier as usize]
    }

    /// Not every decoder has it any more.
    fn forget_basis(&mut self, identifier: u32) {
        if let Some(basis) = self.pair_mut(identifier).basis.take() {
            self.by_basis.remove(&basis);
        }
    }

    /// From now on the identifier means this and nothing else, if a switch was started with it.
    fn fix(&mut self, now_ns: u64, identifier: u32, held: &Held) {
        if !held.is_fixed || self.pair(identifier).fixed.is_some() {
            return;
        }
        if self.pair(identifier).basis.as_ref() != Some(&held.basis) {
            match self.pair(identifier).state {
                State::Active => self.retire(identifier),
                State::Installing { .. } => self.enter(identifier, State::Resting { until_ns: now_ns }),
                State::Unknown { .. } | State::Resting { .. } | State::Retiring { .. } => {}
            }
            self.forget_basis(identifier);
        }
        if let State::Resting { until_ns } = self.pair(identifier).state {
            self.resting.remove(&(until_ns, identifier));
        }
        self.pair_mut(identifier).fixed = Some(held.basis.clone());
        self.fixed.entry(held.basis.clone()).or_insert(identifier);
        self.counts.fixed += 1;
        self.fixed_unused += u64::from(!self.pair(identifier).state.is_used());
        self.place_idle(identifier);
    }

    /// What is fixed, and what all decoders have, need not rest nor wait until it is met.
    fn go_on_if_fixed(&mut self, identifier: u32) {
        let pair = self.pair(identifier);
        let is_there = pair.fixed.is_some() && pair.basis == pair.fixed && self.decoders_away.is_empty();
        if is_there && matches!(pair.state, State::Resting { .. }) {
            self.announce(identifier, None);
        }
    }

    /// The identifier that a basis without one may get now: its own if it is fixed.
    fn free_for(&self, now_ns: u64, basis: &[u8]) -> Option<u32> {
        let rested = |until_ns: u64| until_ns <= now_ns;
        match self.fixed.get(basis) {
            Some(&identifier) => match self.pair(identifier).state {
                State::Resting { until_ns } if rested(until_ns) => Some(identifier),
                _ => None,
            },
            None => self.resting.first().filter(|(until_ns, _)| rested(*until_ns)).map(|&(_, identifier)| identifier),
        }
    }

    /// Where pairs of this state are counted.
    fn count(&mut self, state: &State) -> &mut u64 {
        match state {
            State::Unknown { .. } | State::Retiring { .. } => &mut self.counts.retiring,
            State::Resting { .. } => &mut self.counts.resting,
            State::Installing { .. } => &mut self.counts.installing,
            State::Active => &mut self.counts.active,
        }
    }

    /// Puts the pair in another state, and where it is looked for.
    fn enter(&mut self, identifier: u32, state: State) {
        let before = std::mem::replace(&mut self.pair_mut(identifier).state, state.clone());
        *self.count(&before) -= 1;
        *self.count(&state) += 1;
        let is_fixed = self.pair(identifier).fixed.is_some();
        if is_fixed {
            self.fixed_unused += u64::from(!state.is_used());
            self.fixed_unused -= u64::from(!before.is_used());
        }
        if let State::Resting { until_ns } = before {
            self.resting.remove(&(until_ns, identifier));
        }
        if let State::Resting { until_ns } = state
            && !is_fixed
        {
            self.resting.insert((until_ns, identifier));
        }
        self.pair_mut(identifier).idle_at.clear();
        self.place_idle(identifier);
    }

    /// Puts the pair where idle ones are looked for, if it is idle everywhere.
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

    /// Whether a pair of which this was told is still idle: otherwise it would have been told again.
    fn is_fresh(&self, now_ns: u64, idle: &Idle) -> bool {
        now_ns <= idle.last_ns.saturating_add(2 * self.settings.idle_ns).saturating_add(IDLE_LATE_NS)
    }

    /// An encoder that comes back sends the identifier for this basis.
    fn found(&mut self, encoder: usize, identifier: u32, basis: &Basis) {
        let is_meant = self.pair(identifier).basis.as_ref() == Some(basis) && self.decoders_away.is_empty();
        let is_fixed = self.pair(identifier).fixed.is_some();
        match self.pair(identifier).state {
            State::Active if is_meant => return,
            State::Unknown { .. } if is_meant => return self.announce(identifier, Some(encoder)),
            State::Resting { .. } if is_meant && is_fixed => return self.announce(identifier, Some(encoder)),
            _ => {}
        }
        self.orders.push_back(Order::Forget { encoder, identifier, basis: basis.clone() });
        let state = self.pair(identifier).state.clone();
        if matches!(state, State::Installing { .. }) {
            self.forget_basis(identifier);
        }
        match state {
            State::Active => self.retire(identifier),
            State::Unknown { mut missing } | State::Retiring { mut missing } => {
                missing.insert(encoder);
                self.enter(identifier, State::Retiring { missing });
            }
            State::Resting { .. } | State::Installing { .. } => {
                self.enter(identifier, State::Retiring { missing: BTreeSet::from([encoder]) });
            }
        }
    }

    fn install(&mut self, identifier: u32, basis: &[u8]) {
        let missing = (0..self.settings.decoders).collect();
        self.enter(identifier, State::Installing { missing });
        self.forget_basis(identifier);
        let is_fixed = self.pair(identifier).fixed.is_some();
        self.pair_mut(identifier).basis = Some(basis.to_vec());
        self.by_basis.insert(basis.to_vec(), identifier);
        for decoder in 0..self.settings.decoders {
            self.orders.push_back(Order::Expand { decoder, identifier, basis: basis.to_vec(), is_fixed });
        }
    }

    /// Gives the pair to the encoders that are there, but for one that has it.
    fn announce(&mut self, identifier: u32, has_it: Option<usize>) {
        self.enter(identifier, State::Active);
        self.counts.learned += u64::from(self.pair(identifier).fixed.is_none());
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        let is_fixed = self.pair(identifier).fixed.is_some();
        for encoder in self.encoders().filter(|encoder| Some(*encoder) != has_it) {
            self.orders.push_back(Order::Compress { encoder, identifier, basis: basis.clone(), is_fixed });
        }
    }

    /// The encoders that are there.
    fn encoders(&self) -> impl Iterator<Item = usize> + use<> {
        let away = self.encoders_away.clone();
        (0..self.settings.encoders).filter(move |encoder| !away.contains(encoder))
    }

    /// Takes the pair from the encoders. Those that are away keep it retiring until they are back.
    fn retire(&mut self, identifier: u32) {
        let missing = (0..self.settings.encoders).collect();
        self.enter(identifier, State::Retiring { missing });
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        for encoder in self.encoders() {
            self.orders.push_back(Order::Forget { encoder, identifier, basis: basis.clone() });
        }
    }

    fn forgotten(&mut self, now_ns: u64, encoder: usize, identifier: u32) {
        let until_ns = now_ns.saturating_add(self.settings.quarantine_ns);
        let (State::Retiring { missing } | State::Unknown { missing }) = &mut self.pair_mut(identifier).state else {
            return;
        };
        missing.remove(&encoder);
        if missing.is_empty() {
            self.enter(identifier, State::Resting { until_ns });
        }
    }

    /// Retires the pairs that have been idle for the longest, until the reserve is there.
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
