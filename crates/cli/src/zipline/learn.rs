//! `wirespeed zipline learn`: the controller that has encoders and decoders learn bases while they run.
//!
//! What enters: where the switches are. What leaves: lines about what happens; it goes on until it is interrupted. What
//! is decided is `zipline::pairs`, each switch is a [`place`](super::place); here they meet, and the clock.

use super::place::{Asked, Heard, Place, Shape, attend};
use super::terms::Terms;
use crate::Exit;
use crate::terminal::{self, grouped, say};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};
use zipline::pairs::{Conflict, Held, Order, Pairs, Settings};

/// What switches say that waits at most.
const NEWS_MAX: usize = 4096;

/// How long encoders are left alone until all decoders have said what they have.
const DECODERS_FIRST: Duration = Duration::from_secs(1);

/// Of so many identifiers one is kept free, so that a new basis need not wait.
const RESERVE: u32 = 16;

/// Which switches learn, and how carefully.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LearnArguments {
    /// Where a switch with the encoder listens for controllers; may be repeated
    #[arg(long = "encoder", value_name = "HOST:PORT", required = true)]
    encoders: Vec<String>,
    /// Where a switch with the decoder does; may be repeated. Each may get packets of each encoder
    #[arg(long = "decoder", value_name = "HOST:PORT", required = true)]
    decoders: Vec<String>,
    /// The number of these switches
    #[arg(long, value_name = "N", default_value_t = 1)]
    device_id: u64,
    /// How long an identifier rests before it means something else: longer than any packet is under way
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds)]
    quarantine: f64,
    /// After how long without a packet a basis may be given up for another
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", value_parser = seconds)]
    idle: f64,
    /// How often to say how many identifiers are in use
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", value_parser = seconds)]
    every: f64,
    /// Print a JSON object per line instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  wirespeed zipline tables --m 8 --both-ways --encoder encoder.txt --decoder decoder.txt
  wirespeed run apps/zipline/decoder.p4 --entries decoder.txt --port 1=eth0 --port 2=eth1 --p4runtime 9560
  wirespeed run apps/zipline/encoder.p4 --entries encoder.txt --port 1=eth0 --port 2=eth1 --p4runtime 9559
  wirespeed zipline learn --encoder 127.0.0.1:9559 --decoder 127.0.0.1:9560

  One encoder whose packets go to two decoders, over links on which no packet is late by more than 5 seconds:
  wirespeed zipline learn --encoder 10.0.0.1:9559 --decoder 10.0.0.2:9559 --decoder 10.0.0.3:9559 --quarantine 5

It may be stopped and started again at any time: it reads what the switches have and goes on. Identifiers that entries
files give to bases keep that meaning; only the others are learned.";

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds, from 0.001 to 86400".to_owned())
}

/// Learns until it is interrupted.
pub fn learn(arguments: &LearnArguments) -> Result<Exit, Exit> {
    let cannot = |error: std::io::Error| {
        terminal::error(format_args!("the controller cannot start: {error}"));
        Exit::System
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    runtime.block_on(async {
        let (news, heard) = channel(NEWS_MAX);
        let place = |place: Place, address: &String| {
            let (orders, asked) = unbounded_channel();
            let (address, device_id) = (address.clone(), arguments.device_id);
            let options = ctl::Options { address, device_id, ..ctl::Options::default() };
            (orders, attend(place, options, Duration::from_secs_f64(arguments.idle), asked, news.clone()))
        };
        let mut senders = BTreeMap::new();
        for (number, address) in arguments.decoders.iter().enumerate() {
            let (orders, task) = place(Place::Decoder(number), address);
            senders.insert(Place::Decoder(number), orders);
            tokio::spawn(task);
        }
        let mut waiting = Vec::new();
        for (number, address) in arguments.encoders.iter().enumerate() {
            let (orders, task) = place(Place::Encoder(number), address);
            senders.insert(Place::Encoder(number), orders);
            waiting.push(task);
        }
        let mut ended = signal(SignalKind::terminate()).map_err(cannot)?;
        let mut learner = Learner::new(arguments, senders);
        learner.tell_start();
        tokio::select! {
            () = learner.go_on(heard, waiting) => {}
            _interrupted = tokio::signal::ctrl_c() => {}
            _terminated = ended.recv() => {}
        }
        learner.tell_counts();
        Ok(Exit::Success)
    })
}

/// What decides, and whom it tells.
struct Learner<'a> {
    arguments: &'a LearnArguments,
    start: Instant,
    senders: BTreeMap<Place, UnboundedSender<Asked>>,
    /// Known when the first switch has said which program it runs.
    pairs: Option<(Shape, Pairs)>,
    joined: BTreeMap<Place, Terms>,
    /// Why switches are away, as it was told.
    away: BTreeMap<Place, String>,
    /// Packets with an identifier that a decoder does not know.
    unknown: BTreeMap<Place, u64>,
}

impl Learner<'_> {
    fn new(arguments: &LearnArguments, senders: BTreeMap<Place, UnboundedSender<Asked>>) -> Learner<'_> {
        Learner {
            arguments,
            start: Instant::now(),
            senders,
            pairs: None,
            joined: BTreeMap::new(),
            away: BTreeMap::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Goes on for ever. Encoders wait until decoders have said what they have, though not for long.
    async fn go_on(
        &mut self,
        mut heard: Receiver<(Place, Heard)>,
        mut encoders: Vec<impl Future<Output = ()> + Send + 'static>,
    ) {
        let mut ticks = tokio::time::interval(Duration::from_secs_f64(self.arguments.every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.reset();
        let patience = tokio::time::sleep(DECODERS_FIRST);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                Some((place, heard)) = heard.recv() => self.hear(place, heard),
                () = &mut patience, if !encoders.is_empty() => {
                    encoders.drain(..).for_each(|task| drop(tokio::spawn(task)));
                }
                _ = ticks.tick() => self.tick(),
            }
            if self.joined.keys().filter(|place| !place.is_encoder()).count() == self.arguments.decoders.len() {
                encoders.drain(..).for_each(|task| drop(tokio::spawn(task)));
            }
        }
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
        let arguments = self.arguments;
        let (expected, pairs) = self.pairs.get_or_insert_with(|| (shape, Pairs::new(settings(arguments, shape))));
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
        match arguments.json {
            true => say!("{}", json!({"event": "joined", "switch": self.name(place), "bases": bases})),
            false => terminal::note(format_args!("{} is there, with {bases} bases", self.name(place))),
        }
    }

    /// Says that a switch has something that it must not have, and loses.
    fn tell_taken(&self, place: Place, why: String) {
        match self.arguments.json {
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
        match self.arguments.json {
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
        match self.arguments.json {
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

    fn tell_start(&self) {
        if self.arguments.json {
            let (encoders, decoders) = (&self.arguments.encoders, &self.arguments.decoders);
            say!("{}", json!({"event": "start", "encoders": encoders, "decoders": decoders}));
        }
    }

    fn tell_counts(&self) {
        let Some((shape, pairs)) = &self.pairs else { return };
        let (counts, identifiers) = (pairs.counts(), shape.identifiers);
        let unknown: u64 = self.unknown.values().sum();
        if self.arguments.json {
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
        say!(
            "{:>8.1} s  {active} of {all} identifiers in use{fixed}; so far {learned} bases learned, {recycled} \
             given up, {without} met without a free identifier",
            self.start.elapsed().as_secs_f64()
        );
    }

    fn name(&self, place: Place) -> String {
        match place {
            Place::Encoder(number) => format!("the encoder at {}", self.arguments.encoders[number]),
            Place::Decoder(number) => format!("the decoder at {}", self.arguments.decoders[number]),
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

fn settings(arguments: &LearnArguments, shape: Shape) -> Settings {
    let nanoseconds = |seconds: f64| (seconds * 1e9) as u64;
    Settings {
        identifiers: shape.identifiers,
        encoders: arguments.encoders.len(),
        decoders: arguments.decoders.len(),
        quarantine_ns: nanoseconds(arguments.quarantine),
        idle_ns: nanoseconds(arguments.idle),
        reserve: shape.identifiers / RESERVE,
    }
}
