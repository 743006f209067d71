//! What leads encoders and decoders: the decisions of `zipline::pairs`, the connections of [`place`](super::place), and
//! the clock meet here.
//!
//! What enters: which switches these are, over a network or in this process. What leaves: orders to them, and lines
//! about what happens.

use super::place::{Asked, Heard, Place, Shape, attend};
use super::terms::Terms;
use crate::terminal::{self, grouped, say};
use serde_json::json;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};
use zipline::pairs::{Conflict, Held, Order, Pairs, Settings};

/// What switches say that waits at most.
const NEWS_MAX: usize = 4096;

/// How long encoders are left alone until all decoders have said what they have.
const DECODERS_FIRST: Duration = Duration::from_secs(1);

/// Of so many identifiers one is kept free, so that a new basis need not wait.
const RESERVE: u32 = 16;

/// Keeps the connection to a switch.
type Attending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The switches that are led, and how carefully.
pub struct Team {
    /// Those with the encoder.
    pub encoders: Vec<ctl::Options>,
    /// Those with the decoder. Each may get packets of each encoder.
    pub decoders: Vec<ctl::Options>,
    /// How long an identifier rests before it means something else.
    pub quarantine: Duration,
    /// After how long without a packet a basis may be given up.
    pub idle: Duration,
    /// How often it is told how many identifiers are in use.
    pub every: Duration,
    /// How.
    pub voice: Voice,
}

/// How it is told what happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Voice {
    /// Text for people.
    Text,
    /// A JSON object per line.
    Json,
    /// What a running switch tells.
    Log,
}

impl Team {
    fn settings(&self, shape: Shape) -> Settings {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Settings {
            identifiers: shape.identifiers,
            encoders: self.encoders.len(),
            decoders: self.decoders.len(),
            quarantine_ns: nanoseconds(self.quarantine),
            idle_ns: nanoseconds(self.idle),
            reserve: shape.identifiers / RESERVE,
        }
    }
}

/// What decides, and whom it tells.
pub struct Learner {
    team: Team,
    start: Instant,
    news: Receiver<(Place, Heard)>,
    /// Those who attend to the encoders, as long as these are left alone.
    waiting: Vec<Attending>,
    senders: BTreeMap<Place, UnboundedSender<Asked>>,
    /// Known when the first switch has said which program it runs.
    pairs: Option<(Shape, Pairs)>,
    joined: BTreeMap<Place, Terms>,
    /// Why switches are away, as it was told.
    away: BTreeMap<Place, String>,
    /// Packets with an identifier that a decoder does not know.
    unknown: BTreeMap<Place, u64>,
}

impl Learner {
    /// Begins: decoders are attended to from now on. To be called where tasks can be started.
    pub fn new(team: Team) -> Learner {
        let (news, heard) = channel(NEWS_MAX);
        let place = |place: Place, options: &ctl::Options| {
            let (orders, asked) = unbounded_channel();
            let attending: Attending = Box::pin(attend(place, options.clone(), team.idle, asked, news.clone()));
            (orders, attending)
        };
        let (mut senders, mut waiting) = (BTreeMap::new(), Vec::new());
        for (number, options) in team.decoders.iter().enumerate() {
            let (orders, attending) = place(Place::Decoder(number), options);
            senders.insert(Place::Decoder(number), orders);
            tokio::spawn(attending);
        }
        for (number, options) in team.encoders.iter().enumerate() {
            let (orders, attending) = place(Place::Encoder(number), options);
            senders.insert(Place::Encoder(number), orders);
            waiting.push(attending);
        }
        Learner {
            team,
            start: Instant::now(),
            news: heard,
            waiting,
            senders,
            pairs: None,
            joined: BTreeMap::new(),
            away: BTreeMap::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Goes on for ever. Encoders wait until decoders have said what they have, though not for long.
    pub async fn lead(&mut self) {
        let mut ticks = tokio::time::interval(self.team.every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.reset();
        let patience = tokio::time::sleep(DECODERS_FIRST);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                Some((place, heard)) = self.news.recv() => self.hear(place, heard),
                () = &mut patience, if !self.waiting.is_empty() => self.attend_to_encoders(),
                _ = ticks.tick() => self.tick(),
            }
            if self.joined.keys().filter(|place| !place.is_encoder()).count() == self.team.decoders.len() {
                self.attend_to_encoders();
            }
        }
    }

    fn attend_to_encoders(&mut self) {
        self.waiting.drain(..).for_each(|attending| drop(tokio::spawn(attending)));
    }

    fn hear(&mut self, place: Place, heard: Heard) {
        let now_ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match heard {
            Heard::Joined(shape, terms, has) => self.join(now_ns, place, (shape, *terms), &has),
            Heard::Lost(why) => self.lose(now_ns, place, why),
            Heard::Unknown(packets) => self.hear_unknown(place, packets),
            // What one says that has to leave is of no use.
            Heard::Met(_) | Heard::Idle(_) | Heard::Done(_) if !self.joined.contains_key(&place) => {}
            Heard::Met(basis) => self.with_pairs(|pairs| pairs.met(now_ns, &basis)),
            Heard::Idle(basis) => self.with_pairs(|pairs| {
                if let Place::Encoder(encoder) = place {
                    pairs.idle(now_ns, encoder, &basis);
                }
            }),
            Heard::Done(order) => self.with_pairs(|pairs| pairs.done(now_ns, &order)),
        }
        while let Some(order) = self.pairs.as_mut().and_then(|(_, pairs)| pairs.next_order()) {
            let place = match order {
                Order::Expand { decoder, .. } => Place::Decoder(decoder),
                Order::Compress { encoder, .. } | Order::Forget { encoder, .. } => Place::Encoder(encoder),
            };
            self.ask(place, Asked::Order(order));
        }
    }

    fn with_pairs(&mut self, change: impl FnOnce(&mut Pairs)) {
        if let Some((_, pairs)) = &mut self.pairs {
            change(pairs);
        }
    }

    fn ask(&self, place: Place, asked: Asked) {
        if let Some(sender) = self.senders.get(&place) {
            let _ended = sender.send(asked);
        }
    }

    fn join(&mut self, now_ns: u64, place: Place, (shape, terms): (Shape, Terms), has: &BTreeMap<u32, Held>) {
        let with = |(other, its): (&Place, &Terms)| terms.difference(its, &self.name(*other));
        let different = self.joined.iter().find_map(with);
        let team = &self.team;
        let (expected, pairs) = self.pairs.get_or_insert_with(|| (shape, Pairs::new(team.settings(shape))));
        let resized = || {
            format!(
                "there are {} identifiers of {} bits for bases of {}, but there were {} of {} for bases of {} when this \
                 controller began: start it again when all programs are the same",
                shape.identifiers,
                shape.id_bits,
                shape.basis_bits,
                expected.identifiers,
                expected.id_bits,
                expected.basis_bits
            )
        };
        if let Some(why) = different.or_else(|| (*expected != shape).then(resized)) {
            return self.ask(place, Asked::Leave(why));
        }
        let conflict = pairs.conflict(has).map(contradicts);
        match place {
            Place::Encoder(number) => pairs.encoder_back(now_ns, number, has),
            Place::Decoder(number) if conflict.is_none() => pairs.decoder_back(now_ns, number, has),
            Place::Decoder(_) => {}
        }
        match conflict {
            Some(why) if !place.is_encoder() => return self.ask(place, Asked::Leave(why)),
            Some(why) => self.tell_taken(place, why),
            None => {}
        }
        self.joined.insert(place, terms);
        self.away.remove(&place);
        let bases = has.len();
        match self.is_json() {
            true => say!("{}", json!({"event": "joined", "switch": self.name(place), "bases": bases})),
            false => terminal::note(format_args!("{} is there, with {bases} bases", self.name(place))),
        }
    }

    /// Says that a switch has something that it must not have, and loses.
    fn tell_taken(&self, place: Place, why: String) {
        match self.is_json() {
            true => say!("{}", json!({"event": "taken", "switch": self.name(place), "why": why})),
            false => terminal::warning(format_args!("{} loses an entry: {why}", self.name(place))),
        }
    }

    fn lose(&mut self, now_ns: u64, place: Place, why: String) {
        if self.joined.remove(&place).is_some() {
            self.with_pairs(|pairs| match place {
                Place::Encoder(number) => pairs.encoder_lost(number),
                Place::Decoder(number) => pairs.decoder_lost(now_ns, number),
            });
        }
        self.ask(place, Asked::GoOn);
        self.tell_away(place, why);
    }

    /// Says why a switch is away, once.
    fn tell_away(&mut self, place: Place, why: String) {
        if self.away.get(&place) == Some(&why) {
            return;
        }
        match self.is_json() {
            true => say!("{}", json!({"event": "away", "switch": self.name(place), "why": why})),
            false => terminal::warning(format_args!("{} is away: {why}", self.name(place))),
        }
        self.away.insert(place, why);
    }

    fn hear_unknown(&mut self, place: Place, packets: u64) {
        let before = self.unknown.insert(place, packets);
        let more = packets.saturating_sub(before.unwrap_or(packets));
        if more == 0 {
            return;
        }
        match self.is_json() {
            true => say!("{}", json!({"event": "unknown", "switch": self.name(place), "packets": more})),
            false => terminal::warning(format_args!(
                "{} dropped {} packets with identifiers that it does not know, as after its restart, or of an encoder \
                 that this controller does not lead",
                self.name(place),
                grouped(more)
            )),
        }
    }

    fn tick(&mut self) {
        for place in self.joined.keys().filter(|place| !place.is_encoder()) {
            self.ask(*place, Asked::Count);
        }
        self.tell_counts();
    }

    /// Says whom it leads.
    pub fn tell_start(&self) {
        if self.is_json() {
            let names = |all: &[ctl::Options]| all.iter().map(|it| it.address.clone()).collect::<Vec<_>>();
            let (encoders, decoders) = (names(&self.team.encoders), names(&self.team.decoders));
            say!("{}", json!({"event": "start", "encoders": encoders, "decoders": decoders}));
        }
    }

    /// Says how many identifiers are in use.
    pub fn tell_counts(&self) {
        let Some((shape, pairs)) = &self.pairs else { return };
        let (counts, identifiers) = (pairs.counts(), shape.identifiers);
        let unknown: u64 = self.unknown.values().sum();
        if self.is_json() {
            return say!(
                "{}",
                json!({
                    "event": "counts",
                    "seconds": self.start.elapsed().as_secs_f64(),
                    "identifiers": identifiers,
                    "active": counts.active,
                    "installing": counts.installing,
                    "retiring": counts.retiring,
                    "resting": counts.resting,
                    "fixed": counts.fixed,
                    "learned": counts.learned,
                    "recycled": counts.recycled,
                    "without_identifier": counts.without_identifier,
                    "unknown": unknown,
                    "away": self.senders.len() - self.joined.len(),
                })
            );
        }
        let [active, all, learned, recycled, without] =
            [counts.active, u64::from(identifiers), counts.learned, counts.recycled, counts.without_identifier]
                .map(grouped);
        let fixed = match counts.fixed {
            0 => String::new(),
            fixed => format!(", {} of them as entries files say", grouped(fixed)),
        };
        let counts = format!(
            "{active} of {all} identifiers in use{fixed}; so far {learned} bases learned, {recycled} given up, \
             {without} met without a free identifier"
        );
        match self.team.voice {
            Voice::Log => tracing::debug!("{counts}"),
            Voice::Text | Voice::Json => say!("{:>8.1} s  {counts}", self.start.elapsed().as_secs_f64()),
        }
    }

    fn is_json(&self) -> bool {
        self.team.voice == Voice::Json
    }

    fn name(&self, place: Place) -> String {
        let (kind, options) = match place {
            Place::Encoder(number) => ("encoder", &self.team.encoders[number]),
            Place::Decoder(number) => ("decoder", &self.team.decoders[number]),
        };
        match options.near {
            Some(_) => format!("the {kind} of this switch"),
            None => format!("the {kind} at {}", options.address),
        }
    }
}

/// In words, why entries of two switches do not go together.
fn contradicts(Conflict { identifier, says, means }: Conflict) -> String {
    let hexadecimal = |basis: &[u8]| basis.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"));
    format!(
        "its entries say that the identifier {identifier} means {}, but those of another switch say {}: give all \
         switches the entries of the same files",
        hexadecimal(&says),
        hexadecimal(&means)
    )
}
