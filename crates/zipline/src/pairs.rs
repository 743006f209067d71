//! Which identifier means which basis, and when it may mean another: the decisions of a controller, without its
//! connections and its clock.
//!
//! What enters: bases that encoders met, pairs that were idle, switches that come and go, answers to orders, the time.
//! What leaves: orders, to be carried out by each switch in the order in which they are given.
//!
//! ```text
//! resting ──► installing ──► active ──► retiring ──► resting
//!    │   a basis   │   all decoders │  idle,   │   all encoders  │
//!    │   is met    │   have it      │  wanted  │   forgot it     └─ until no packet can carry it any more
//!    └─────────────┴──► active: the same basis again, which the decoders still have
//! ```
//!
//! What must hold, whatever is lost, late or started anew: while an encoder may send an identifier, and until no packet
//! with it can be under way, no decoder has another basis for it. A decoder may have none: then it drops the packet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A basis, as the bytes of its number.
pub type Basis = Vec<u8>;

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
    /// How many identifiers rest or are free in advance, if so many pairs are idle, so that a new basis need not wait.
    pub reserve: u32,
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
    },
    /// The encoder sends this identifier for the basis.
    Compress {
        /// The encoder.
        encoder: usize,
        /// The identifier.
        identifier: u32,
        /// The basis.
        basis: Basis,
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
    /// No encoder has it. Free at that time.
    Resting { until_ns: u64 },
    /// These decoders have not said yet that they have it.
    Installing { missing: BTreeSet<usize> },
    /// Encoders have it, or have been told.
    Active,
    /// These encoders have not said yet that they have forgotten it.
    Retiring { missing: BTreeSet<usize> },
}

#[derive(Clone, Debug)]
struct Pair {
    /// What it means; every decoder that is there has it, unless the pair is being installed.
    basis: Option<Basis>,
    state: State,
    /// Where it was idle, and the number of the last message that said so.
    idle_at: BTreeSet<usize>,
    idle_since: u64,
}

/// All identifiers.
#[derive(Clone, Debug)]
pub struct Pairs {
    settings: Settings,
    pairs: Vec<Pair>,
    by_basis: BTreeMap<Basis, u32>,
    /// Identifiers that rest, by when they are free.
    resting: BTreeSet<(u64, u32)>,
    /// Active ones that are idle at every encoder, by the last message.
    idle: BTreeSet<(u64, u32)>,
    retiring: usize,
    /// Switches that do not answer.
    encoders_away: BTreeSet<usize>,
    decoders_away: BTreeSet<usize>,
    messages: u64,
    orders: VecDeque<Order>,
}

impl Pairs {
    /// Nothing is known of what was before: no switch answers yet, and every encoder may have any identifier until it
    /// is [back](Pairs::encoder_back). This is how a controller starts, the first time and after each end.
    pub fn new(settings: Settings) -> Pairs {
        let missing = (0..settings.encoders).collect();
        let pair = Pair { basis: None, state: State::Retiring { missing }, idle_at: BTreeSet::new(), idle_since: 0 };
        Pairs {
            settings,
            pairs: vec![pair; settings.identifiers as usize],
            by_basis: BTreeMap::new(),
            resting: BTreeSet::new(),
            idle: BTreeSet::new(),
            retiring: settings.identifiers as usize,
            encoders_away: (0..settings.encoders).collect(),
            decoders_away: (0..settings.decoders).collect(),
            messages: 0,
            orders: VecDeque::new(),
        }
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
                self.announce(known);
            }
        } else if let Some(&(_, free)) = self.resting.first().filter(|(until_ns, _)| *until_ns <= now_ns) {
            self.install(free, basis);
        }
        self.retire_idle();
    }

    /// The pair was not used at this encoder for as long as its idle timeout.
    pub fn idle(&mut self, encoder: usize, identifier: u32) {
        self.messages += 1;
        let (since, encoders) = (self.messages, self.settings.encoders);
        let Some(pair) = self.pairs.get_mut(identifier as usize).filter(|pair| pair.state == State::Active) else {
            return;
        };
        if encoder < encoders {
            pair.idle_at.insert(encoder);
            self.idle.remove(&(pair.idle_since, identifier));
            pair.idle_since = since;
            if pair.idle_at.len() == encoders {
                self.idle.insert((since, identifier));
            }
        }
    }

    /// A switch has carried out an order.
    pub fn done(&mut self, now_ns: u64, order: &Order) {
        match *order {
            Order::Expand { decoder, identifier, ref basis } => {
                let pair = self.pair_mut(identifier);
                let is_meant = pair.basis.as_ref() == Some(basis);
                let State::Installing { missing } = &mut pair.state else { return };
                if is_meant {
                    missing.remove(&decoder);
                }
                if missing.is_empty() {
                    self.announce(identifier);
                }
            }
            Order::Forget { encoder, identifier, .. } => self.forgotten(now_ns, encoder, identifier),
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

    /// An encoder is back, and its table is empty: it was started anew, or the caller has emptied it.
    pub fn encoder_back(&mut self, now_ns: u64, encoder: usize) {
        self.encoders_away.remove(&encoder);
        for identifier in 0..self.settings.identifiers {
            self.forgotten(now_ns, encoder, identifier);
            let pair = self.pair(identifier);
            if let (State::Active, Some(basis)) = (&pair.state, &pair.basis) {
                let order = Order::Compress { encoder, identifier, basis: basis.clone() };
                self.orders.push_back(order);
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
                // No encoder has been told of it.
                State::Installing { .. } => self.enter(identifier, State::Resting { until_ns: now_ns }),
                State::Resting { .. } | State::Retiring { .. } => {}
            }
            // Not every decoder has it any more.
            if let Some(basis) = self.pair_mut(identifier).basis.take() {
                self.by_basis.remove(&basis);
            }
        }
    }

    /// A decoder is back, with an empty table or with the one that it had.
    pub fn decoder_back(&mut self, decoder: usize) {
        self.decoders_away.remove(&decoder);
    }

    fn pair(&self, identifier: u32) -> &Pair {
        &self.pairs[identifier as usize]
    }

    fn pair_mut(&mut self, identifier: u32) -> &mut Pair {
        &mut self.pairs[identifier as usize]
    }

    /// Puts the pair in another state, and where it is looked for.
    fn enter(&mut self, identifier: u32, state: State) {
        let pair = self.pair_mut(identifier);
        let (since, before) = (pair.idle_since, std::mem::replace(&mut pair.state, state.clone()));
        match before {
            State::Resting { until_ns } => {
                self.resting.remove(&(until_ns, identifier));
            }
            State::Active => {
                self.idle.remove(&(since, identifier));
            }
            State::Retiring { .. } => self.retiring -= 1,
            State::Installing { .. } => {}
        }
        match state {
            State::Resting { until_ns } => {
                self.resting.insert((until_ns, identifier));
            }
            State::Retiring { .. } => self.retiring += 1,
            State::Active => self.pair_mut(identifier).idle_at.clear(),
            State::Installing { .. } => {}
        }
    }

    fn install(&mut self, identifier: u32, basis: &[u8]) {
        let missing = (0..self.settings.decoders).collect();
        self.enter(identifier, State::Installing { missing });
        if let Some(before) = self.pair_mut(identifier).basis.replace(basis.to_vec()) {
            self.by_basis.remove(&before);
        }
        self.by_basis.insert(basis.to_vec(), identifier);
        for decoder in 0..self.settings.decoders {
            self.orders.push_back(Order::Expand { decoder, identifier, basis: basis.to_vec() });
        }
    }

    fn announce(&mut self, identifier: u32) {
        self.enter(identifier, State::Active);
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        for encoder in (0..self.settings.encoders).filter(|encoder| !self.encoders_away.contains(encoder)) {
            self.orders.push_back(Order::Compress { encoder, identifier, basis: basis.clone() });
        }
    }

    /// Takes the pair from the encoders. Those that are away keep it retiring until they are back.
    fn retire(&mut self, identifier: u32) {
        let missing = (0..self.settings.encoders).collect();
        self.enter(identifier, State::Retiring { missing });
        let Some(basis) = self.pair(identifier).basis.clone() else { return };
        for encoder in (0..self.settings.encoders).filter(|encoder| !self.encoders_away.contains(encoder)) {
            self.orders.push_back(Order::Forget { encoder, identifier, basis: basis.clone() });
        }
    }

    fn forgotten(&mut self, now_ns: u64, encoder: usize, identifier: u32) {
        let until_ns = now_ns + self.settings.quarantine_ns;
        let State::Retiring { missing } = &mut self.pair_mut(identifier).state else { return };
        missing.remove(&encoder);
        if missing.is_empty() {
            self.enter(identifier, State::Resting { until_ns });
        }
    }

    /// Retires the pairs that have been idle for the longest, until the reserve is there.
    fn retire_idle(&mut self) {
        while self.resting.len() + self.retiring < self.settings.reserve as usize {
            let Some(&(_, identifier)) = self.idle.first() else { return };
            self.retire(identifier);
        }
    }
}
