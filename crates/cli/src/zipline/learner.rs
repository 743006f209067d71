//! Controls encoders and decoders: connects the decisions of `zipline::pairs`, the connections of
//! [`place`](super::place), and the clock.
//!
//! What enters: the switches, over a network or in this process. What leaves: orders to them, and lines about events.

use super::place::{Asked, Has, Heard, Place, Shape, attend};
use super::terms::{Terms, hexadecimal};
use crate::terminal::{self, grouped, say};
use serde_json::json;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};
use zipline::pairs::{Conflict, Counts, Order, Pairs, Settings};

/// The most messages from switches that wait.
const NEWS_MAX: usize = 4096;

/// How long encoders are ignored until all decoders have reported their contents.
const DECODERS_FIRST: Duration = Duration::from_secs(1);

/// Of this many identifiers one is kept free, so that a new basis need not wait.
const RESERVE: u32 = 16;

/// Keeps the connection to a switch.
type Attending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The switches to control, and the settings.
pub struct Team {
    /// Those with the encoder.
    pub encoders: Vec<ctl::Options>,
    /// Those with the decoder. Each may receive packets of each encoder.
    pub decoders: Vec<ctl::Options>,
    /// How long an identifier rests before it is reused.
    pub quarantine: Duration,
    /// The idle time after which a basis may be replaced.
    pub idle: Duration,
    /// The interval of reports on identifiers in use.
    pub every: Duration,
    /// The format of reports.
    pub voice: Voice,
}

/// The format of reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Voice {
    /// Text for people.
    Text,
    /// A JSON object per line.
    Json,
    /// The log of a running switch.
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

/// The controller's state, and its connections.
pub struct Learner {
    team: Team,
    start: Instant,
    news: Receiver<(Place, Heard)>,
    /// The waiting connections to encoders, as long as these are ignored.
    waiting: Vec<Attending>,
    senders: BTreeMap<Place, UnboundedSender<Asked>>,
    /// The pairs of each transform, by the class that has it: known when the first switch has reported its program.
    pairs: BTreeMap<u32, (Shape, Pairs)>,
    joined: BTreeMap<Place, Terms>,
    /// Why switches are disconnected, as reported.
    away: BTreeMap<Place, String>,
    /// Packets with an identifier that is unknown to a decoder.
    unknown: BTreeMap<Place, u64>,
}

impl Learner {
    /// Starts: decoders are served from now on. Must be called in a context that can spawn tasks.
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
            pairs: BTreeMap::new(),
            joined: BTreeMap::new(),
            away: BTreeMap::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Runs forever. Encoders wait until decoders have reported their contents, though not for long.
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
            Heard::Joined(terms, has) => self.join(now_ns, place, *terms, &has),
            Heard::Lost(why) => self.lose(now_ns, place, why),
            Heard::Unknown(packets) => self.hear_unknown(place, packets),
            // Messages of a switch that must disconnect are ignored.
            Heard::Met(..) | Heard::Idle(..) | Heard::Done(..) if !self.joined.contains_key(&place) => {}
            Heard::Met(class, basis) => self.with_pairs(class, |pairs| pairs.met(now_ns, &basis)),
            Heard::Idle(class, basis) => self.with_pairs(class, |pairs| {
                if let Place::Encoder(encoder) = place {
                    pairs.idle(now_ns, encoder, &basis);
                }
            }),
            Heard::Done(class, order) => self.with_pairs(class, |pairs| pairs.done(now_ns, &order)),
        }
        self.give_orders();
    }

    fn give_orders(&mut self) {
        let mut next = || self.pairs.iter_mut().find_map(|(class, (_, pairs))| Some((*class, pairs.next_order()?)));
        let orders: Vec<(u32, Order)> = std::iter::from_fn(&mut next).collect();
        for (class, order) in orders {
            let place = match order {
                Order::Expand { decoder, .. } => Place::Decoder(decoder),
                Order::Compress { encoder, .. } | Order::Forget { encoder, .. } => Place::Encoder(encoder),
            };
            self.ask(place, Asked::Order(class, order));
        }
    }

    fn with_pairs(&mut self, class: u32, change: impl FnOnce(&mut Pairs)) {
        if let Some((_, pairs)) = self.pairs.get_mut(&class) {
            change(pairs);
        }
    }

    fn ask(&self, place: Place, asked: Asked) {
        if let Some(sender) = self.senders.get(&place) {
            let _ended = sender.send(asked);
        }
    }

    fn join(&mut self, now_ns: u64, place: Place, terms: Terms, has: &BTreeMap<u32, Has>) {
        let with = |(other, its): (&Place, &Terms)| terms.difference(its, &self.name(*other));
        let different = terms.fault().or_else(|| self.joined.iter().find_map(with));
        if self.pairs.is_empty() {
            let pairs = |(class, (shape, _)): (&u32, &Has)| (*class, (*shape, Pairs::new(self.team.settings(*shape))));
            self.pairs = has.iter().map(pairs).collect();
        }
        if let Some(why) = different.or_else(|| self.resized(has)) {
            return self.ask(place, Asked::Leave(why));
        }
        let conflict = has.iter().find_map(|(class, (_, held))| {
            let (_, pairs) = self.pairs.get(class)?;
            Some(contradicts(*class, pairs.conflict(held)?))
        });
        for (class, (_, held)) in has {
            let is_left = conflict.is_some() && !place.is_encoder();
            self.with_pairs(*class, |pairs| match place {
                Place::Encoder(number) => pairs.encoder_back(now_ns, number, held),
                Place::Decoder(number) if !is_left => pairs.decoder_back(now_ns, number, held),
                Place::Decoder(_) => {}
            });
        }
        match conflict {
            Some(why) if !place.is_encoder() => return self.ask(place, Asked::Leave(why)),
            Some(why) => self.tell_taken(place, why),
            None => {}
        }
        self.joined.insert(place, terms);
        self.away.remove(&place);
        let bases: usize = has.values().map(|(_, held)| held.len()).sum();
        match self.is_json() {
            true => say!("{}", json!({"event": "joined", "switch": self.name(place), "bases": bases})),
            false => terminal::note(format_args!("{} has joined, with {bases} bases", self.name(place))),
        }
    }

    /// Why a switch has other tables than the first one had.
    fn resized(&self, has: &BTreeMap<u32, Has>) -> Option<String> {
        let shapes =
            |class: &u32| (self.pairs.get(class).map(|(shape, _)| *shape), has.get(class).map(|(shape, _)| *shape));
        let (expected, shape) = self.pairs.keys().chain(has.keys()).map(shapes).find(|(a, b)| a != b)?;
        let told = |shape: Option<Shape>| match shape {
            Some(Shape { identifiers, id_bits, basis_bits }) => {
                format!("{identifiers} identifiers of {id_bits} bits for bases of {basis_bits}")
            }
            None => "no such transform".to_owned(),
        };
        Some(format!(
            "there are {}, but there were {} when this controller began: start it again when all programs are the same",
            told(shape),
            told(expected)
        ))
    }

    /// Reports that a switch loses an entry that it must not have.
    fn tell_taken(&self, place: Place, why: String) {
        match self.is_json() {
            true => say!("{}", json!({"event": "taken", "switch": self.name(place), "why": why})),
            false => terminal::warning(format_args!("{} loses an entry: {why}", self.name(place))),
        }
    }

    fn lose(&mut self, now_ns: u64, place: Place, why: String) {
        if self.joined.remove(&place).is_some() {
            for (_, pairs) in self.pairs.values_mut() {
                match place {
                    Place::Encoder(number) => pairs.encoder_lost(number),
                    Place::Decoder(number) => pairs.decoder_lost(now_ns, number),
                }
            }
        }
        self.ask(place, Asked::GoOn);
        self.tell_away(place, why);
    }

    /// Reports once why a switch is disconnected.
    fn tell_away(&mut self, place: Place, why: String) {
        if self.away.get(&place) == Some(&why) {
            return;
        }
        match self.is_json() {
            true => say!("{}", json!({"event": "away", "switch": self.name(place), "why": why})),
            false => terminal::warning(format_args!("{} is disconnected: {why}", self.name(place))),
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

    /// Reports the switches that it controls.
    pub fn tell_start(&self) {
        if self.is_json() {
            let names = |all: &[ctl::Options]| all.iter().map(|it| it.address.clone()).collect::<Vec<_>>();
            let (encoders, decoders) = (names(&self.team.encoders), names(&self.team.decoders));
            say!("{}", json!({"event": "start", "encoders": encoders, "decoders": decoders}));
        }
    }

    /// Reports the identifiers in use.
    pub fn tell_counts(&self) {
        if self.pairs.is_empty() {
            return;
        }
        let identifiers = self.pairs.values().map(|(shape, _)| u64::from(shape.identifiers)).sum();
        let counts = self.pairs.values().map(|(_, pairs)| pairs.counts()).sum();
        if self.is_json() {
            let mut line = in_json(identifiers, counts);
            line["event"] = "counts".into();
            line["seconds"] = self.start.elapsed().as_secs_f64().into();
            line["unknown"] = self.unknown.values().sum::<u64>().into();
            line["away"] = (self.senders.len() - self.joined.len()).into();
            if self.pairs.len() > 1 {
                let of_class = |(class, (shape, pairs)): (&u32, &(Shape, Pairs))| {
                    let mut line = in_json(shape.identifiers.into(), pairs.counts());
                    line["class"] = (*class).into();
                    line
                };
                line["transforms"] = self.pairs.iter().map(of_class).collect();
            }
            return say!("{line}");
        }
        let [active, all, learned, recycled, without] =
            [counts.active, identifiers, counts.learned, counts.recycled, counts.without_identifier].map(grouped);
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

/// How many identifiers there are and in which state.
fn in_json(identifiers: u64, counts: Counts) -> serde_json::Value {
    json!({
        "identifiers": identifiers,
        "active": counts.active,
        "installing": counts.installing,
        "retiring": counts.retiring,
        "resting": counts.resting,
        "fixed": counts.fixed,
        "learned": counts.learned,
        "recycled": counts.recycled,
        "without_identifier": counts.without_identifier,
    })
}

/// Why the entries of two switches conflict.
fn contradicts(class: u32, Conflict { identifier, says, means }: Conflict) -> String {
    let of_class = if class == 0 { String::new() } else { format!(" of class {class}") };
    format!(
        "its entries say that the identifier {identifier}{of_class} means {}, but those of another switch say {}: give all \
         switches the entries of the same files",
        hexadecimal(&says),
        hexadecimal(&means)
    )
}
