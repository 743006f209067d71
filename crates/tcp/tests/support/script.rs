//! Scripts in the manner of packetdrill.
//!
//! A script is a transcript of one endpoint. Lines begin with a time in seconds. Those of the test state what happens
//! to the endpoint; those of the endpoint state what it did, and are compared (`UPDATE_EXPECT=1` rewrites them).
//!
//! ```text
//! # a comment
//! 0 connect                                    opens actively
//! 0 listen                                     opens passively
//! 0.1 established <mss 1000,sackOK>            opened actively 0.1 s before; the peer's SYN-ACK had these options
//! 0.1 accepted <mss 1000,sackOK>               opened passively, likewise
//! 0.1 write 3000                               calls of the application: also read, close, abort
//! 0.2 < . 1:1 ack 1001 win 5000 <sack 1:2 3:4> ce    a segment arrives: flags, positions, and what it carries
//! 0.2 too_big 1 500                            the network reports a segment; the longest from now on
//! 0.3 wait                                     time passes
//! 0.3 ? cwnd=10 phase=Open                     prints figures
//! 0.1 > P. 1:1001 ack 1 ect0                   the endpoint sends a segment
//! 0.1 * Established                            the endpoint reports an event
//! ```
//!
//! Flags are the letters of SYN, FIN, RST, PSH, ECE and CWR (`W`), and a point for ACK. Both initial sequence numbers
//! are 0. The window of a departing segment is shown when it changes; that of an arriving one is the last given.
//! Arriving data is read at once unless `manual` was called. Events that a transcript does not need (Readable,
//! Writable) are not shown.

use base::Time;
use expect_test::Expect;
use std::fmt::Write;
use tcp::segment::{Options, SackBlocks, Timestamps};
use tcp::{Config, Congestion, Connection, Ecn, Event, Flags, Segment};

/// Runs a script and compares its transcript. The settings are easy to follow: segments of 1000 bytes, NewReno, no time
/// stamps, no window scaling, acknowledgments that are delayed from the start; `configure` changes them.
pub fn check(configure: impl FnOnce(&mut Config), script: Expect) {
    let mut config = Config {
        mss: 1000,
        congestion: Congestion::NewReno,
        timestamps: false,
        window_scaling: false,
        receive_buffer_bytes: 60_000,
        quick_acks: 0,
        ..Config::default()
    };
    configure(&mut config);
    let mut run = Run::new(config);
    for line in script.data().lines() {
        run.line(line.trim());
    }
    script.assert_eq(&run.transcript);
}

struct Run {
    config: Config,
    connection: Connection,
    transcript: String,
    now: Time,
    /// The last window that was shown, and the last that was given.
    window_shown: Option<u16>,
    window_given: u16,
    is_manual: bool,
    /// Nothing is shown.
    is_quiet: bool,
}

impl Run {
    fn new(config: Config) -> Run {
        let connection = Connection::listen(&config, 0);
        Run {
            config,
            connection,
            transcript: "\n".to_owned(),
            now: Time::ZERO,
            window_shown: None,
            window_given: 60_000,
            is_manual: false,
            is_quiet: false,
        }
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if line.starts_with('#') {
            writeln!(self.transcript, "{line}").unwrap();
            return;
        }
        let (time, command) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` has no command"));
        if command.starts_with(['>', '*']) {
            return;
        }
        let time = seconds(time);
        assert!(time >= self.now, "`{line}`: time goes back");
        self.pass_until(time);
        self.command(line, command);
        self.serve();
    }

    /// Runs the timers up to a time.
    fn pass_until(&mut self, time: Time) {
        while let Some(timeout) = self.connection.next_timeout().filter(|timeout| *timeout <= time) {
            self.now = self.now.max(timeout);
            self.connection.on_timer(self.now);
            self.serve();
        }
        self.now = time;
    }

    fn command(&mut self, line: &str, command: &str) {
        if let Some(names) = command.strip_prefix("? ") {
            let figures: Vec<String> = names.split(' ').map(|name| self.figure(name)).collect();
            writeln!(self.transcript, "{} ? {}", shown(self.now), figures.join(" ")).unwrap();
            return;
        }
        writeln!(self.transcript, "{line}").unwrap();
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let number = || rest.parse::<u64>().unwrap_or_else(|_| panic!("`{line}` needs a number"));
        match verb {
            "connect" => self.connection = Connection::connect(&self.config, 0),
            "listen" => self.connection = Connection::listen(&self.config, 0),
            "established" => self.establish(rest),
            "accepted" => self.accept(rest),
            "manual" => self.is_manual = true,
            "write" => _ = self.connection.write(number()),
            "read" => _ = self.connection.read(number()),
            "close" => self.connection.close(),
            "abort" => self.connection.abort(),
            "too_big" => {
                let (sequence, mss) = rest.split_once(' ').unwrap_or_else(|| panic!("`{line}` needs two numbers"));
                self.connection.on_packet_too_big(sequence.parse().unwrap(), mss.parse().unwrap());
            }
            "wait" => {}
            "<" => {
                let segment = self.parse(rest);
                self.connection.on_segment(self.now, &segment);
            }
            _ => panic!("`{line}`: what is {verb}?"),
        }
    }

    /// A handshake that began 100 ms ago.
    fn establish(&mut self, options: &str) {
        self.is_quiet = true;
        let end = self.now;
        self.now = end - Time::from_ms(100);
        self.connection = Connection::connect(&self.config, 0);
        self.serve();
        self.now = end;
        let segment = self.parse(&format!("S. 0:1 ack 1 {options}"));
        self.connection.on_segment(self.now, &segment);
        self.serve();
        self.is_quiet = false;
    }

    fn accept(&mut self, options: &str) {
        self.is_quiet = true;
        let end = self.now;
        self.now = end - Time::from_ms(100);
        self.connection = Connection::listen(&self.config, 0);
        let segment = self.parse(&format!("S 0:1 {options}"));
        self.connection.on_segment(self.now, &segment);
        self.serve();
        self.now = end;
        let segment = self.parse(&format!(". 1:1 ack 1 {}", if options.contains("ts ") { "<ts 0:0>" } else { "" }));
        self.connection.on_segment(self.now, &segment);
        self.serve();
        self.is_quiet = false;
    }

    /// Shows what the endpoint does.
    fn serve(&mut self) {
        loop {
            while let Some(event) = self.connection.poll_event() {
                if !self.is_quiet && !matches!(event, Event::Readable | Event::Writable) {
                    writeln!(self.transcript, "{} * {event:?}", shown(self.now)).unwrap();
                }
            }
            if !self.is_manual {
                self.connection.read(u64::MAX);
            }
            let Some(segment) = self.connection.poll_transmit(self.now) else { return };
            if self.is_quiet {
                self.window_shown = Some(segment.window);
            } else {
                let text = self.show(&segment);
                writeln!(self.transcript, "{} > {text}", shown(self.now)).unwrap();
            }
        }
    }

    fn show(&mut self, segment: &Segment) -> String {
        let letters = [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
            (Flags::ACK, '.'),
        ];
        let flags: String = letters.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, l)| *l).collect();
        let extra = u32::from(segment.flags.has(Flags::SYN)) + u32::from(segment.flags.has(Flags::FIN));
        let mut text = format!("{flags} {}:{}", segment.sequence, segment.sequence + segment.payload_bytes + extra);
        if segment.flags.has(Flags::ACK) {
            write!(text, " ack {}", segment.acknowledgment).unwrap();
        }
        if self.window_shown != Some(segment.window) && !segment.flags.has(Flags::RST) {
            self.window_shown = Some(segment.window);
            write!(text, " win {}", segment.window).unwrap();
        }
        let options = show_options(&segment.options);
        if !options.is_empty() {
            write!(text, " <{options}>").unwrap();
        }
        if segment.ecn == Ecn::Ect0 {
            text.push_str(" ect0");
        }
        text
    }

    fn parse(&mut self, text: &str) -> Segment {
        let (head, rest) = text.split_once('<').unwrap_or((text, ""));
        let (options, tail) = rest.split_once('>').unwrap_or(("", rest));
        let mut segment = Segment { options: parse_options(options), ..Segment::default() };
        let mut words = head.split_whitespace().chain(tail.split_whitespace());
        segment.flags = parse_flags(words.next().expect("flags"));
        let (start, end) = pair(words.next().expect("a range"));
        segment.sequence = start;
        let extra = u32::from(segment.flags.has(Flags::SYN)) + u32::from(segment.flags.has(Flags::FIN));
        segment.payload_bytes = end.wrapping_sub(start) - extra;
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|number| number.parse::<i64>().ok()).expect("a number");
            match word {
                "ack" => segment.acknowledgment = number() as u32,
                "win" => self.window_given = number() as u16,
                "ce" => segment.ecn = Ecn::Ce,
                "ect0" => segment.ecn = Ecn::Ect0,
                _ => panic!("`{text}`: what is {word}?"),
            }
        }
        segment.window = self.window_given;
        segment
    }

    fn figure(&self, name: &str) -> String {
        let name = name.split('=').next().unwrap_or_default();
        let statistics = self.connection.statistics();
        let counters = statistics.counters;
        let segments = |bytes: u64| {
            if bytes == u64::MAX { "max".to_owned() } else { format!("{}", bytes as f64 / statistics.mss as f64) }
        };
        let value = match name {
            "cwnd" => segments(statistics.congestion_window),
            "ssthresh" => segments(statistics.slow_start_threshold),
            "flight" => segments(statistics.in_flight),
            "phase" => format!("{:?}", statistics.phase),
            "state" => format!("{:?}", self.connection.state()),
            "srtt" => statistics.smoothed_rtt.map_or("none".to_owned(), shown),
            "rttvar" => shown(statistics.rtt_variation),
            "rto" => shown(statistics.retransmission_timeout),
            "mss" => statistics.mss.to_string(),
            "window" => statistics.send_window.to_string(),
            "alpha" => statistics.alpha.map_or("none".to_owned(), |alpha| format!("{alpha:.4}")),
            "received" => statistics.received_bytes.to_string(),
            "acked" => statistics.acknowledged_bytes.to_string(),
            "readable" => self.connection.readable().to_string(),
            "fast" => counters.fast_retransmissions.to_string(),
            "timeouts" => counters.timeouts.to_string(),
            "probes" => counters.tail_probes.to_string(),
            "spurious" => counters.spurious_recoveries.to_string(),
            "recoveries" => counters.fast_recoveries.to_string(),
            "paws" => counters.paws_dropped.to_string(),
            "reductions" => counters.ecn_reductions.to_string(),
            "challenges" => counters.challenges.to_string(),
            _ => panic!("what is {name}?"),
        };
        format!("{name}={value}")
    }
}

fn seconds(text: &str) -> Time {
    Time::parse(&format!("{text}s")).unwrap_or_else(|message| panic!("{message}"))
}

fn shown(time: Time) -> String {
    let text = format!("{:.6}", time.seconds());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn pair(text: &str) -> (u32, u32) {
    let (start, end) = text.split_once(':').unwrap_or_else(|| panic!("`{text}` is not a range"));
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("`{text}` is not a number")) as u32;
    (number(start), number(end))
}

fn parse_flags(text: &str) -> Flags {
    text.chars().fold(Flags::NONE, |flags, letter| {
        flags
            | match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                '.' => Flags::ACK,
                _ => panic!("`{text}`: what is {letter}?"),
            }
    })
}

fn parse_options(text: &str) -> Options {
    let mut options = Options::default();
    for option in text.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        match name {
            "mss" => options.mss = value.parse().ok(),
            "sackOK" => options.sack_permitted = true,
            "wscale" => options.window_scale = value.parse().ok(),
            "ts" => options.timestamps = Some(pair(value)).map(|(value, echo)| Timestamps { value, echo }),
            "sack" => {
                for block in value.split(' ') {
                    let (start, end) = pair(block);
                    options.sack.push(start, end);
                }
            }
            _ => panic!("what is {name}?"),
        }
    }
    options
}

fn show_options(options: &Options) -> String {
    let mut shown = Vec::new();
    if let Some(mss) = options.mss {
        shown.push(format!("mss {mss}"));
    }
    if options.sack_permitted {
        shown.push("sackOK".to_owned());
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        shown.push(format!("ts {value}:{echo}"));
    }
    if let Some(shift) = options.window_scale {
        shown.push(format!("wscale {shift}"));
    }
    if options.sack != SackBlocks::default() {
        let blocks: Vec<String> = options.sack.as_slice().iter().map(|(start, end)| format!("{start}:{end}")).collect();
        shown.push(format!("sack {}", blocks.join(" ")));
    }
    shown.join(",")
}
