//! The decisions of a controller, with encoders and decoders that consist of tables only. Packets between them are
//! delayed, duplicated, lost and reordered; orders and their replies take time; encoders, decoders and the controller
//! restart. The basis that a decoder finds for an identifier must be the one that the encoder meant. Switches may
//! have pairs from files, which they have again after each restart, whichever controller is in charge.

use base::{OrderedMap, Rng};
use std::collections::VecDeque;
use zipline::pairs::{Basis, Conflict, Held, Order, Pairs, Settings};

/// The longest time that a packet is in flight.
const LIFE_NS: u64 = 1_000;
/// The time without a packet after which an entry is idle.
const IDLE_NS: u64 = 3_000;

const SETTINGS: Settings =
    Settings { identifiers: 6, encoders: 2, decoders: 2, quarantine_ns: LIFE_NS + 1, idle_ns: IDLE_NS, reserve: 2 };

#[derive(Default)]
struct Encoder {
    /// By basis: the identifier, when it was last sent, and whether it is fixed.
    bases: OrderedMap<Basis, (u32, u64, bool)>,
}

/// A packet of type 3. The test also records the basis that it stands for.
struct Packet {
    arrives_ns: u64,
    decoder: usize,
    identifier: u32,
    meant: Basis,
}

/// What occurred in a run.
#[derive(Default, Debug, PartialEq, Eq)]
struct Seen {
    right: u64,
    wrong: u64,
    unknown: u64,
    raw: u64,
    pairs: u64,
}

struct World {
    rng: Rng,
    settings: Settings,
    now_ns: u64,
    pairs: Pairs,
    encoders: Vec<Encoder>,
    decoders: Vec<OrderedMap<u32, Held>>,
    /// The pairs that switches are started with.
    of_encoders: Vec<(u32, Basis)>,
    of_decoders: Vec<(u32, Basis)>,
    /// The time until which there is no controller.
    alone_until_ns: u64,
    packets: Vec<Packet>,
    /// For each switch, encoders first: orders in flight.
    orders: Vec<VecDeque<Order>>,
    /// Replies of switches, in flight to the controller.
    answers: VecDeque<Order>,
    seen: Seen,
}

impl World {
    fn new(seed: u64, settings: Settings, [of_encoders, of_decoders]: [&[(u32, u8)]; 2]) -> World {
        let file = |pairs: &[(u32, u8)]| pairs.iter().map(|(identifier, basis)| (*identifier, vec![*basis])).collect();
        let mut world = World {
            rng: Rng::new(seed),
            settings,
            now_ns: 0,
            pairs: Pairs::new(settings),
            encoders: (0..settings.encoders).map(|_| Encoder::default()).collect(),
            decoders: vec![OrderedMap::new(); settings.decoders],
            of_encoders: file(of_encoders),
            of_decoders: file(of_decoders),
            alone_until_ns: 0,
            packets: Vec::new(),
            orders: vec![VecDeque::new(); settings.encoders + settings.decoders],
            answers: VecDeque::new(),
            seen: Seen::default(),
        };
        (0..settings.encoders).for_each(|encoder| world.start_encoder(encoder));
        (0..settings.decoders).for_each(|decoder| world.start_decoder(decoder));
        world.start();
        world
    }

    /// Starts an encoder with the pairs of its file.
    fn start_encoder(&mut self, encoder: usize) {
        let bases = self.of_encoders.iter().map(|(identifier, basis)| (basis.clone(), (*identifier, 0, true)));
        self.encoders[encoder].bases = bases.collect();
    }

    /// Starts a decoder with the pairs of its file.
    fn start_decoder(&mut self, decoder: usize) {
        let held = |basis: &Basis| Held { basis: basis.clone(), is_fixed: true };
        self.decoders[decoder] =
            self.of_decoders.iter().map(|(identifier, basis)| (*identifier, held(basis))).collect();
    }

    /// Starts a controller, which reads the contents of decoders and then encoders, one after the other.
    fn start(&mut self) {
        self.pairs = Pairs::new(self.settings);
        for decoder in 0..self.settings.decoders {
            self.wait(10);
            self.pairs.decoder_back(self.now_ns, decoder, &self.decoders[decoder]);
        }
        for encoder in 0..self.settings.encoders {
            self.wait(40);
            self.find(encoder);
        }
    }

    /// The controller reads the contents of an encoder.
    fn find(&mut self, encoder: usize) {
        let bases = self.encoders[encoder].bases.iter();
        let held = |basis: &Basis, is_fixed| Held { basis: basis.clone(), is_fixed };
        let has = bases.map(|(basis, (identifier, _, is_fixed))| (*identifier, held(basis, *is_fixed))).collect();
        self.pairs.encoder_back(self.now_ns, encoder, &has);
    }

    fn wait(&mut self, steps_max: u64) {
        for _ in 0..self.rng.below(steps_max) {
            self.step(false);
        }
    }

    /// Sends a packet whose basis is one of a set that changes over time.
    fn send(&mut self) {
        let encoder = self.rng.below(self.settings.encoders as u64) as usize;
        let basis = vec![(self.now_ns / 20_000 + self.rng.below(8)) as u8];
        let Some((identifier, sent_ns, _)) = self.encoders[encoder].bases.get_mut(&basis) else {
            self.seen.raw += 1;
            if self.rng.chance(3, 4) && self.is_led() {
                self.pairs.met(self.now_ns, &basis);
            }
            return;
        };
        (*sent_ns, self.seen.pairs) = (self.now_ns, self.seen.pairs + 1);
        let identifier = *identifier;
        for _ in 0..*self.rng.pick(&[0, 1, 1, 1, 2]) {
            let arrives_ns = self.now_ns + self.rng.below(LIFE_NS);
            let decoder = self.rng.below(self.settings.decoders as u64) as usize;
            self.packets.push(Packet { arrives_ns, decoder, identifier, meant: basis.clone() });
        }
    }

    fn arrive(&mut self) {
        let now_ns = self.now_ns;
        for packet in self.packets.extract_if(.., |packet| packet.arrives_ns <= now_ns) {
            match self.decoders[packet.decoder].get(&packet.identifier) {
                Some(held) if held.basis == packet.meant => self.seen.right += 1,
                Some(_) => self.seen.wrong += 1,
                None => self.seen.unknown += 1,
            }
        }
    }

    /// Delivers orders to their switches, one of which carries one out, and delivers one reply.
    fn control(&mut self) {
        while let Some(order) = self.pairs.next_order() {
            let to = match order {
                Order::Expand { decoder, .. } => self.settings.encoders + decoder,
                Order::Compress { encoder, .. } | Order::Forget { encoder, .. } => encoder,
            };
            self.orders[to].push_back(order);
        }
        let switch = self.rng.below(self.orders.len() as u64) as usize;
        if let Some(order) = self.orders[switch].pop_front() {
            match order.clone() {
                Order::Expand { decoder, identifier, basis, is_fixed } => {
                    self.decoders[decoder].insert(identifier, Held { basis, is_fixed });
                }
                Order::Compress { encoder, identifier, basis, is_fixed } => {
                    self.encoders[encoder].bases.insert(basis, (identifier, self.now_ns, is_fixed));
                }
                Order::Forget { encoder, basis, .. } => {
                    self.encoders[encoder].bases.remove(&basis);
                }
            }
            self.answers.push_back(order);
        }
        if self.rng.chance(1, 2)
            && let Some(order) = self.answers.pop_front()
        {
            self.pairs.done(self.now_ns, &order);
        }
    }

    fn tell_idle(&mut self) {
        let encoder = self.rng.below(self.settings.encoders as u64) as usize;
        let now_ns = self.now_ns;
        for (basis, (_, sent_ns, is_fixed)) in &mut self.encoders[encoder].bases {
            if !*is_fixed && *sent_ns + IDLE_NS <= now_ns {
                *sent_ns = now_ns;
                self.pairs.idle(now_ns, encoder, basis);
            }
        }
    }

    fn is_led(&self) -> bool {
        self.now_ns >= self.alone_until_ns
    }

    /// There is no controller for a while, in which switches may restart.
    fn be_alone(&mut self) {
        self.alone_until_ns = self.now_ns + self.rng.below(3 * IDLE_NS);
        while !self.is_led() {
            self.step(false);
            if self.rng.chance(1, 60) {
                match self.rng.below(self.orders.len() as u64) as usize {
                    encoder if encoder < self.settings.encoders => self.start_encoder(encoder),
                    other => self.start_decoder(other - self.settings.encoders),
                }
            }
        }
    }

    /// Restarts a switch or the controller. Everything in flight to it or from it is lost.
    fn restart(&mut self) {
        let what = self.rng.below(1 + self.orders.len() as u64) as usize;
        if what == self.orders.len() {
            self.orders.iter_mut().for_each(VecDeque::clear);
            self.answers.clear();
            self.be_alone();
            return self.start();
        }
        self.orders[what].clear();
        let is_empty = self.rng.chance(1, 2);
        if let Some(decoder) = what.checked_sub(self.settings.encoders) {
            self.answers.retain(|answer| !matches!(answer, Order::Expand { decoder: from, .. } if *from == decoder));
            self.pairs.decoder_lost(self.now_ns, decoder);
            if is_empty {
                self.start_decoder(decoder);
            }
            self.wait(20);
            self.pairs.decoder_back(self.now_ns, decoder, &self.decoders[decoder]);
        } else {
            self.answers.retain(|answer| match answer {
                Order::Compress { encoder, .. } | Order::Forget { encoder, .. } => *encoder != what,
                Order::Expand { .. } => true,
            });
            self.pairs.encoder_lost(what);
            if is_empty {
                self.start_encoder(what);
            }
            self.wait(20);
            self.find(what);
        }
    }

    fn step(&mut self, restarts: bool) {
        self.now_ns += self.rng.below(60);
        self.arrive();
        self.send();
        if !self.is_led() {
            return;
        }
        self.control();
        if self.rng.chance(1, 10) {
            self.tell_idle();
        }
        if restarts && self.rng.chance(1, 400) {
            self.restart();
        }
    }
}

fn run(seed: u64, settings: Settings, restarts: bool) -> Seen {
    run_with(seed, settings, restarts, [&[], &[]])
}

/// A run in which encoders and decoders have these pairs from files.
fn run_with(seed: u64, settings: Settings, restarts: bool, files: [&[(u32, u8)]; 2]) -> Seen {
    let mut world = World::new(seed, settings, files);
    for _ in 0..20_000 {
        world.step(restarts);
    }
    world.seen
}

#[test]
fn identifiers_keep_their_bases() {
    for seed in 0..20 {
        let seen = run(seed, SETTINGS, false);
        assert_eq!((seen.wrong, seen.unknown), (0, 0), "seed {seed}: {seen:?}");
        assert!(seen.pairs > seen.raw / 4, "seed {seed}: {seen:?}");
    }
}

#[test]
fn restarts_cause_no_wrong_byte() {
    for seed in 0..20 {
        let seen = run(seed, SETTINGS, true);
        assert_eq!(seen.wrong, 0, "seed {seed}: {seen:?}");
        assert!(seen.right > 1_000, "seed {seed}: {seen:?}");
    }
}

/// The pairs of files keep their identifiers, whatever the controller does with the others; restarted switches have
/// them at once.
#[test]
fn pairs_of_files_hold_after_every_restart() {
    let all: &[(u32, u8)] = &[(0, 3), (2, 9), (5, 20)];
    for (files, compressed) in [([all, all], 1_000), ([&all[..1], all], 1_000), ([&[], all], 1_000)] {
        for seed in 0..20 {
            let seen = run_with(seed, SETTINGS, true, files);
            assert_eq!(seen.wrong, 0, "seed {seed}, {files:?}: {seen:?}");
            assert!(seen.right > compressed, "seed {seed}, {files:?}: {seen:?}");
        }
    }
}

/// The test can fail: if identifiers rest for less than a packet's lifetime, it finds wrong bytes.
#[test]
fn a_rest_that_is_too_short_is_noticed() {
    let settings = Settings { quarantine_ns: 0, ..SETTINGS };
    let wrong: u64 = (0..20).map(|seed| run(seed, settings, false).wrong).sum();
    assert!(wrong > 0);
}

const SECOND: u64 = 1_000_000_000;

/// The pairs of one encoder and one decoder, which carry out each order at once.
fn obedient(identifiers: u32, has: &OrderedMap<u32, Held>) -> Pairs {
    let settings = Settings { identifiers, encoders: 1, decoders: 1, quarantine_ns: 0, idle_ns: SECOND, reserve: 1 };
    let mut pairs = Pairs::new(settings);
    pairs.decoder_back(0, 0, has);
    pairs.encoder_back(0, 0, has);
    pairs
}

/// The contents of a switch: pairs from a controller, and pairs from a file.
fn held<const N: usize>(learned: [(u32, u8); N], of_file: &[(u32, u8)]) -> OrderedMap<u32, Held> {
    let both = learned.iter().map(|pair| (pair, false)).chain(of_file.iter().map(|pair| (pair, true)));
    both.map(|((identifier, basis), is_fixed)| (*identifier, Held { basis: vec![*basis], is_fixed })).collect()
}

/// Carries out all orders, and returns those for encoders.
fn carry_out(pairs: &mut Pairs, now_ns: u64) -> Vec<Order> {
    let mut seen = Vec::new();
    while let Some(order) = pairs.next_order() {
        pairs.done(now_ns, &order);
        seen.extend((!matches!(order, Order::Expand { .. })).then_some(order));
    }
    seen
}

/// A pair whose idle notification is repeated is idle since the first one; without a repetition it is in use again.
#[test]
fn the_pair_that_was_idle_for_the_longest_is_given_up() {
    let mut pairs = obedient(3, &OrderedMap::new());
    for basis in [1, 2, 3] {
        pairs.met(0, &[basis]);
        carry_out(&mut pairs, 0);
    }
    pairs.idle(10 * SECOND, 0, &[3]);
    for second in 20..30 {
        pairs.idle(second * SECOND, 0, &[1]);
        pairs.idle(second * SECOND + 1, 0, &[2]);
    }
    pairs.met(30 * SECOND, &[4]);
    let orders = carry_out(&mut pairs, 30 * SECOND);
    assert_eq!(orders, [Order::Forget { encoder: 0, identifier: 0, basis: vec![1] }]);
    assert_eq!((pairs.counts().recycled, pairs.counts().without_identifier), (1, 1));
}

#[test]
fn a_controller_that_starts_leaves_pairs_as_they_are_where_all_have_them() {
    let mut pairs = obedient(4, &held([(0, 5), (2, 7)], &[]));
    assert_eq!(pairs.next_order(), None);
    assert_eq!((pairs.counts().active, pairs.counts().resting), (2, 2));
    // The decoder connects again without one of them: the encoder forgets both, and the other becomes active again at
    // once.
    pairs.decoder_lost(1, 0);
    assert_eq!(carry_out(&mut pairs, 1).len(), 2);
    pairs.decoder_back(1, 0, &held([(2, 7)], &[]));
    pairs.met(2, &[7]);
    let order = Order::Compress { encoder: 0, identifier: 2, basis: vec![7], is_fixed: false };
    assert_eq!(carry_out(&mut pairs, 2), [order]);
    // A pair that only the encoder has is removed from it.
    pairs.encoder_lost(0);
    pairs.encoder_back(3, 0, &held([(2, 7), (3, 9)], &[]));
    assert_eq!(carry_out(&mut pairs, 3), [Order::Forget { encoder: 0, identifier: 3, basis: vec![9] }]);
}

/// A pair from a file goes to all encoders at once, is never retired as idle, and becomes active again when the
/// decoder connects.
#[test]
fn a_pair_of_a_file_stays() {
    let mut pairs = obedient(2, &held([], &[(1, 7)]));
    assert_eq!((pairs.next_order(), pairs.counts().active, pairs.counts().fixed), (None, 1, 1));
    pairs.met(1, &[5]);
    assert_eq!(carry_out(&mut pairs, 1).len(), 1);
    for second in 1..5 {
        pairs.idle(second * SECOND, 0, &[5]);
        pairs.idle(second * SECOND, 0, &[7]);
    }
    pairs.met(5 * SECOND, &[6]);
    let forget = |identifier, basis: u8| Order::Forget { encoder: 0, identifier, basis: vec![basis] };
    assert_eq!(carry_out(&mut pairs, 5 * SECOND), [forget(0, 5)], "only the other is given up");
    pairs.decoder_lost(6 * SECOND, 0);
    assert_eq!(carry_out(&mut pairs, 6 * SECOND), [forget(1, 7)]);
    pairs.decoder_back(7 * SECOND, 0, &held([], &[(1, 7)]));
    let order = Order::Compress { encoder: 0, identifier: 1, basis: vec![7], is_fixed: true };
    assert_eq!(carry_out(&mut pairs, 7 * SECOND), [order]);
}

/// A pair that only an encoder has from its file is removed from it, and comes back with the same identifier when
/// decoders have it. No controller uses the identifier for anything else.
#[test]
fn an_identifier_of_an_encoders_file_is_not_used_otherwise() {
    let mut pairs = obedient(1, &OrderedMap::new());
    pairs.encoder_lost(0);
    pairs.encoder_back(1, 0, &held([], &[(0, 7)]));
    assert_eq!(carry_out(&mut pairs, 1), [Order::Forget { encoder: 0, identifier: 0, basis: vec![7] }]);
    pairs.met(2, &[5]);
    assert_eq!((carry_out(&mut pairs, 2), pairs.counts().without_identifier), (vec![], 1));
    pairs.met(3, &[7]);
    let expand = Order::Expand { decoder: 0, identifier: 0, basis: vec![7], is_fixed: true };
    let compress = Order::Compress { encoder: 0, identifier: 0, basis: vec![7], is_fixed: true };
    assert_eq!(pairs.next_order(), Some(expand.clone()));
    pairs.done(3, &expand);
    assert_eq!(carry_out(&mut pairs, 3), [compress]);
}

#[test]
fn files_that_contradict_each_other_are_found() {
    let pairs = obedient(4, &held([(0, 5)], &[(2, 7)]));
    assert_eq!(pairs.conflict(&held([(2, 8)], &[(0, 6), (9, 1)])), None);
    let conflict = Conflict { identifier: 2, says: vec![8], means: vec![7] };
    assert_eq!(pairs.conflict(&held([], &[(2, 8)])), Some(conflict));
}
