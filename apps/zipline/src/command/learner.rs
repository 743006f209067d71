//! Controls encoders and decoders: joins the decisions of [`pairs`](crate::pairs), the connections of
//! [`connection`](super::connection), and the clock.
//!
//! What enters: the switches, over a network or in this process. What leaves: orders to them, and lines about events.

use super::connection::{Contents, Event, Request, Shape, SwitchId, keep_connected};
use super::parameters::{Parameters, hexadecimal};
use crate::pairs::{Conflict, Counts, Order, Pairs, Settings};
use base::OrderedMap;
use command_line::terminal::{self, grouped, say};
use serde_json::json;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};

/// The most messages from switches that wait.
const EVENTS_MAX: usize = 4096;

/// How long encoders are ignored until all decoders have reported their contents.
const DECODERS_FIRST: Duration = Duration::from_secs(1);

/// Of this many identifiers one is kept free, so that a new basis need not wait.
const RESERVE: u32 = 16;

/// Keeps the connection to a switch.
type KeptConnection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The switches to control, and the settings.
pub struct Switches {
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
    pub format: ReportFormat,
}

/// The format of reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    /// Text for people.
    Text,
    /// A JSON object per line.
    Json,
    /// The log of a running switch.
    Log,
}

impl Switches {
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
    switches: Switches,
    start: Instant,
    events: Receiver<(SwitchId, Event)>,
    /// The connections to encoders that are not made yet.
    postponed: Vec<KeptConnection>,
    senders: OrderedMap<SwitchId, UnboundedSender<Request>>,
    /// The pairs of each transform, by the class that has it: known when the first switch has reported its program.
    pairs: OrderedMap<u32, (Shape, Pairs)>,
    joined: OrderedMap<SwitchId, Parameters>,
    /// Why switches are disconnected, as reported.
    away: OrderedMap<SwitchId, String>,
    /// Packets with an identifier that is unknown to a decoder.
    unknown: OrderedMap<SwitchId, u64>,
}

impl Learner {
    /// Starts: decoders are served from now on. Must be called in a context that can spawn tasks.
    pub fn new(switches: Switches) -> Learner {
        let (event_sender, events) = channel(EVENTS_MAX);
        let prepare = |id: SwitchId, options: &ctl::Options| {
            let (orders, requests) = unbounded_channel();
            let connection: KeptConnection =
                Box::pin(keep_connected(id, options.clone(), switches.idle, requests, event_sender.clone()));
            (orders, connection)
        };
        let (mut senders, mut postponed) = (OrderedMap::new(), Vec::new());
        for (number, options) in switches.decoders.iter().enumerate() {
            let (orders, connection) = prepare(SwitchId::Decoder(number), options);
            senders.insert(SwitchId::Decoder(number), orders);
            tokio::spawn(connection);
        }
        for (number, options) in switches.encoders.iter().enumerate() {
            let (orders, connection) = prepare(SwitchId::Encoder(number), options);
            senders.insert(SwitchId::Encoder(number), orders);
            postponed.push(connection);
        }
        Learner {
            switches,
            start: Instant::now(),
            events,
            postponed,
            senders,
            pairs: OrderedMap::new(),
            joined: OrderedMap::new(),
            away: OrderedMap::new(),
            unknown: OrderedMap::new(),
        }
    }

    /// Runs forever. Encoders wait until decoders have reported their contents, though not for long.
    pub async fn run(&mut self) {
        let mut ticks = tokio::time::interval(self.switches.every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.reset();
        let encoders_due = tokio::time::sleep(DECODERS_FIRST);
        tokio::pin!(encoders_due);
        loop {
            tokio::select! {
                Some((id, event)) = self.events.recv() => self.handle(id, event),
                () = &mut encoders_due, if !self.postponed.is_empty() => self.connect_encoders(),
                _ = ticks.tick() => self.tick(),
            }
            if self.joined.keys().filter(|id| !id.is_encoder()).count() == self.switches.decoders.len() {
                self.connect_encoders();
            }
        }
    }

    fn connect_encoders(&mut self) {
        self.postponed.drain(..).for_each(|connection| drop(tokio::spawn(connection)));
    }

    fn handle(&mut self, id: SwitchId, event: Event) {
        let now_ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match event {
            Event::Joined(parameters, has) => self.join(now_ns, id, *parameters, &has),
            Event::Lost(why) => self.lose(now_ns, id, why),
            Event::Unknown(packets) => self.count_unknown(id, packets),
            // Messages of a switch that must disconnect are ignored.
            Event::NewBasis(..) | Event::Idle(..) | Event::Done(..) if !self.joined.contains_key(&id) => {}
            Event::NewBasis(class, basis) => self.with_pairs(class, |pairs| pairs.met(now_ns, &basis)),
            Event::Idle(class, basis) => self.with_pairs(class, |pairs| {
                if let SwitchId::Encoder(encoder) = id {
                    pairs.idle(now_ns, encoder, &basis);
                }
            }),
            Event::Done(class, order) => self.with_pairs(class, |pairs| pairs.done(now_ns, &order)),
        }
        self.send_orders();
    }

    fn send_orders(&mut self) {
        let mut next = || self.pairs.iter_mut().find_map(|(class, (_, pairs))| Some((*class, pairs.next_order()?)));
        let orders: Vec<(u32, Order)> = std::iter::from_fn(&mut next).collect();
        for (class, order) in orders {
            let id = match order {
                Order::Expand { decoder, .. } => SwitchId::Decoder(decoder),
                Order::Compress { encoder, .. } | Order::Forget { encoder, .. } => SwitchId::Encoder(encoder),
            };
            self.send(id, Request::Order(class, order));
        }
    }

    fn with_pairs(&mut self, class: u32, change: impl FnOnce(&mut Pairs)) {
        if let Some((_, pairs)) = self.pairs.get_mut(&class) {
            change(pairs);
        }
    }

    fn send(&self, id: SwitchId, requests: Request) {
        if let Some(sender) = self.senders.get(&id) {
            let _ended = sender.send(requests);
        }
    }

    fn join(&mut self, now_ns: u64, id: SwitchId, parameters: Parameters, has: &OrderedMap<u32, Contents>) {
        let with = |(other, its): (&SwitchId, &Parameters)| parameters.difference(its, &self.name(*other));
        let different = parameters.fault().or_else(|| self.joined.iter().find_map(with));
        if self.pairs.is_empty() {
            let pairs =
                |(class, (shape, _)): (&u32, &Contents)| (*class, (*shape, Pairs::new(self.switches.settings(*shape))));
            self.pairs = has.iter().map(pairs).collect();
        }
        if let Some(why) = different.or_else(|| self.resized(has)) {
            return self.send(id, Request::Leave(why));
        }
        let conflict = has.iter().find_map(|(class, (_, held))| {
            let (_, pairs) = self.pairs.get(class)?;
            Some(contradicts(*class, pairs.conflict(held)?))
        });
        for (class, (_, held)) in has {
            let is_left = conflict.is_some() && !id.is_encoder();
            self.with_pairs(*class, |pairs| match id {
                SwitchId::Encoder(number) => pairs.encoder_back(now_ns, number, held),
                SwitchId::Decoder(number) if !is_left => pairs.decoder_back(now_ns, number, held),
                SwitchId::Decoder(_) => {}
            });
        }
        match conflict {
            Some(why) if !id.is_encoder() => return self.send(id, Request::Leave(why)),
            Some(why) => self.report_taken(id, why),
            None => {}
        }
        self.joined.insert(id, parameters);
        self.away.remove(&id);
        let bases: usize = has.values().map(|(_, held)| held.len()).sum();
        match self.is_json() {
            true => say!("{}", json!({"event": "joined", "switch": self.name(id), "bases": bases})),
            false => terminal::note(format_args!("{} has joined, with {bases} bases", self.name(id))),
        }
    }

    /// Why a switch has other tables than the first one had.
    fn resized(&self, has: &OrderedMap<u32, Contents>) -> Option<String> {
        let shapes =
            |class: &u32| (self.pairs.get(class).map(|(shape, _)| *shape), has.get(class).map(|(shape, _)| *shape));
        let (expected, shape) = self.pairs.keys().chain(has.keys()).map(shapes).find(|(a, b)| a != b)?;
        let describe = |shape: Option<Shape>| match shape {
            Some(Shape { identifiers, id_bits, basis_bits }) => {
                format!("{identifiers} identifiers of {id_bits} bits for bases of {basis_bits}")
            }
            None => "no such transform".to_owned(),
        };
        Some(format!(
            "there are {}, but there were {} when this controller began: start it again when all programs are the same",
            describe(shape),
            describe(expected)
        ))
    }

    /// Reports that a switch loses an entry that it must not have.
    fn report_taken(&self, id: SwitchId, why: String) {
        match self.is_json() {
            true => say!("{}", json!({"event": "taken", "switch": self.name(id), "why": why})),
            false => terminal::warning(format_args!("{} loses an entry: {why}", self.name(id))),
        }
    }

    fn lose(&mut self, now_ns: u64, id: SwitchId, why: String) {
        if self.joined.remove(&id).is_some() {
            for (_, pairs) in self.pairs.values_mut() {
                match id {
                    SwitchId::Encoder(number) => pairs.encoder_lost(number),
                    SwitchId::Decoder(number) => pairs.decoder_lost(now_ns, number),
                }
            }
        }
        self.send(id, Request::LossNoted);
        self.report_away(id, why);
    }

    /// Reports once why a switch is disconnected.
    fn report_away(&mut self, id: SwitchId, why: String) {
        if self.away.get(&id) == Some(&why) {
            return;
        }
        match self.is_json() {
            true => say!("{}", json!({"event": "away", "switch": self.name(id), "why": why})),
            false => terminal::warning(format_args!("{} is disconnected: {why}", self.name(id))),
        }
        self.away.insert(id, why);
    }

    fn count_unknown(&mut self, id: SwitchId, packets: u64) {
        let before = self.unknown.insert(id, packets);
        let more = packets.saturating_sub(before.unwrap_or(packets));
        if more == 0 {
            return;
        }
        match self.is_json() {
            true => say!("{}", json!({"event": "unknown", "switch": self.name(id), "packets": more})),
            false => terminal::warning(format_args!(
                "{} dropped {} packets with identifiers that it does not know, as after its restart, or of an encoder \
                 that this controller does not run",
                self.name(id),
                grouped(more)
            )),
        }
    }

    fn tick(&mut self) {
        for id in self.joined.keys().filter(|id| !id.is_encoder()) {
            self.send(*id, Request::Count);
        }
        self.report_counts();
    }

    /// Reports the switches that it controls.
    pub fn report_start(&self) {
        if self.is_json() {
            let names = |all: &[ctl::Options]| all.iter().map(|it| it.address.clone()).collect::<Vec<_>>();
            let (encoders, decoders) = (names(&self.switches.encoders), names(&self.switches.decoders));
            say!("{}", json!({"event": "start", "encoders": encoders, "decoders": decoders}));
        }
    }

    /// Reports the identifiers in use.
    pub fn report_counts(&self) {
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
        match self.switches.format {
            ReportFormat::Log => tracing::debug!("{counts}"),
            ReportFormat::Text | ReportFormat::Json => say!("{:>8.1} s  {counts}", self.start.elapsed().as_secs_f64()),
        }
    }

    fn is_json(&self) -> bool {
        self.switches.format == ReportFormat::Json
    }

    fn name(&self, id: SwitchId) -> String {
        let (kind, options) = match id {
            SwitchId::Encoder(number) => ("encoder", &self.switches.encoders[number]),
            SwitchId::Decoder(number) => ("decoder", &self.switches.decoders[number]),
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
