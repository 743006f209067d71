//! The time until a basis is known: an encoder and a decoder as separate processes, in a network namespace, with a
//! controller that is a third process or runs within one of them.
//!
//! What enters: the number of bases (`--routes`), the interval of packets. What leaves: for each basis, the time from
//! the first packet of type 2 at the encoder's output to the first of type 3, by the kernel's time stamps, as the
//! paper measures it; and the time from the first packet that was sent, which is longer by the encoder's processing
//! time, however busy its processor is. The first basis is reported separately, because identifiers rest once when a
//! controller starts. `wirespeed` is the executable beside this one. Requires root and `ip`.

use super::processes::{Killed, Outcome, ip, make_pairs, start};
use super::{DECODER, ENCODER, M, SOURCE, put_number};
use crate::Arguments;
use base::Rng;
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::{Driver as _, NetworkNamespace};
use measure::figures::{median, quantile, range};
use nix::sys::prctl::set_timerslack;
use serde_json::json;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use zipline::{Code, Transform, entries};

/// The timer slack: by how much the system may delay a wake-up, in nanoseconds. The default is fifty times as much.
const SLACK_NS: u64 = 1_000;

/// The timeout of a basis.
const LEARNING_TIMEOUT: Duration = Duration::from_secs(5);

const ENCODER_ADDRESS: &str = "127.0.0.1:9559";
const DECODER_ADDRESS: &str = "127.0.0.1:9560";

/// Where the controller is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Controller {
    /// In a separate process.
    Alone,
    /// In the switch with the encoder.
    Encoder,
    /// In the switch with the decoder.
    Decoder,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Controller::Alone => "a process of its own",
            Controller::Encoder => "in the encoder's switch",
            Controller::Decoder => "in the decoder's switch",
        }
    }
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_learning(path);
    }
    if !arguments.json {
        println!("ZipLine: microseconds from the first packet of type 2 to the first of type 3; the paper's 1770");
    }
    let is_selected =
        |controller: &Controller| arguments.only.as_ref().is_none_or(|only| controller.name().contains(only.as_str()));
    for controller in [Controller::Alone, Controller::Encoder, Controller::Decoder].into_iter().filter(is_selected) {
        let folder = tempfile::tempdir()?;
        let namespace = NetworkNamespace::create()?;
        let times = namespace.inside(|| measure(folder.path(), controller, arguments))??;
        print(arguments, controller, &times);
    }
    Ok(())
}

fn print(arguments: &Arguments, controller: Controller, times: &[Learned]) {
    let (name, bases) = (controller.name(), times.len());
    let [first, times @ ..] = times else { return };
    let learning_us: Vec<f64> = times.iter().map(|it| it.us).collect();
    let since_sent_us: Vec<f64> = times.iter().map(|it| it.since_sent_us).collect();
    if arguments.json {
        let line = json!({
            "benchmark": "zipline-learning", "controller": name, "bases": bases, "pace_us": arguments.pace_us,
            "first_us": first.us, "learning_us": learning_us, "since_sent_us": since_sent_us,
        });
        return println!("{line}");
    }
    let mean = learning_us.iter().sum::<f64>() / learning_us.len() as f64;
    let (middle, first_ms) = (median(&learning_us), first.us / 1e3);
    println!("controller {name}, {bases} bases: median {middle:.0}, mean {mean:.0}; the first {first_ms:.0} ms");
    for (what, us) in [("since the first of type 2", &learning_us), ("since it was sent", &since_sent_us)] {
        let quantiles =
            [0.01, 0.1, 0.5, 0.9, 0.99].map(|part| format!("{:.0} %: {:.0}", 100.0 * part, quantile(us, part)));
        let (least, greatest) = range(us);
        println!("  {what:<26} {}; from {least:.0} to {greatest:.0}", quantiles.join(", "));
    }
}

/// The time until a basis was known.
struct Learned {
    /// From the first packet of type 2 to the first of type 3, in microseconds.
    us: f64,
    /// From the time at which the first packet was sent.
    since_sent_us: f64,
}

/// The option by which a switch runs the controller.
fn within(encoder: &str, decoder: &str) -> String {
    format!("--with \"zipline learn --encoder {encoder} --decoder {decoder}\"")
}

/// Starts the switches and the controller. Returns what must stay alive, and a stream that reports when both switches
/// are ready.
fn start_all(folder: &Path, controller: Controller) -> Outcome<(Vec<Killed>, Box<dyn Read>)> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let [encoder, decoder] = [ENCODER, DECODER].map(|file| root.join(file).display().to_string());
    let with = |leads: Controller, further: &str| if leads == controller { further.to_owned() } else { String::new() };
    let leads = with(Controller::Decoder, &within(ENCODER_ADDRESS, "here"));
    let mut decoder = start(folder, &format!("run {decoder} --quiet --p4runtime {DECODER_ADDRESS} {leads}"))?;
    let leads = with(Controller::Encoder, &within("here", DECODER_ADDRESS));
    let options = format!("--quiet --entries encoder.txt --port 1=in0 --port 2=out0 --p4runtime {ENCODER_ADDRESS}");
    let mut encoder = start(folder, &format!("run {encoder} {options} {leads}"))?;
    let silent = || "the controller has no output".to_owned();
    Ok(match controller {
        Controller::Alone => {
            let addresses = format!("--encoder {ENCODER_ADDRESS} --decoder {DECODER_ADDRESS}");
            let mut learner = start(folder, &format!("zipline learn --json --every 3600 {addresses}"))?;
            let output = learner.0.stdout.take().ok_or_else(silent)?;
            (vec![encoder, decoder, learner], Box::new(output))
        }
        Controller::Encoder => {
            let output = encoder.0.stderr.take().ok_or_else(silent)?;
            (vec![encoder, decoder], Box::new(output))
        }
        Controller::Decoder => {
            let output = decoder.0.stderr.take().ok_or_else(silent)?;
            (vec![encoder, decoder], Box::new(output))
        }
    })
}

fn measure(folder: &Path, controller: Controller, arguments: &Arguments) -> Outcome<Vec<Learned>> {
    let transform = Transform::of_code(Code::new(M).map_err(|error| error.to_string())?);
    ip("link set lo up")?;
    make_pairs()?;
    let tables =
        format!("table_add ports send 1 => 2\ntable_add classes encode 1 0x0800 => 0\n{}", entries::masks(&transform));
    std::fs::write(folder.join("encoder.txt"), tables).map_err(|error| error.to_string())?;
    let (_processes, output) = start_all(folder, controller)?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    for _ in 0..2 {
        let output = lines.by_ref();
        output
            .find(|line| line.contains("\"joined\"") || line.contains(" is there, "))
            .ok_or("the controller has ended")?;
    }
    // Only now, because processes inherit the value, and the switches must have the default.
    set_timerslack(SLACK_NS).map_err(|error| error.to_string())?;
    let mut rng = Rng::new(1);
    let open = |name| AfPacketDriver::open(name, &AfPacketOptions::default()).map_err(|error| error.to_string());
    let (mut sender, mut sink) = (open("send0")?, open("sink0")?);
    let mut one = |number: u32| {
        let mut frame = super::frame(&super::word(&transform, &mut rng), &mut rng);
        // The number is that of the basis, so that late frames of other bases are recognised.
        put_number(&mut frame, number);
        learn(&mut sender, &mut sink, &frame, Duration::from_micros(arguments.pace_us))
    };
    (0..arguments.routes).map(&mut one).collect()
}

/// Sends the frame repeatedly until it comes out as type 3.
fn learn(sender: &mut AfPacketDriver, sink: &mut AfPacketDriver, frame: &[u8], pace: Duration) -> Outcome<Learned> {
    let (started, sent_ns) = (Instant::now(), now_ns());
    let (mut first, mut known) = (None, None);
    while known.is_none() {
        let received = sink.receive(64, &mut |came, stamp_ns| {
            let is_ours = came.get(SOURCE) == frame.get(SOURCE);
            match came.get(12..14).filter(|_| is_ours) {
                Some([0x88, 0xb5]) => _ = first.get_or_insert(stamp_ns),
                Some([0x88, 0xb6]) => _ = known.get_or_insert(stamp_ns),
                _ => {}
            }
        });
        let sent = received.and_then(|_| sender.transmit(frame, 0)).and_then(|()| sender.flush());
        sent.map_err(|error| error.to_string())?;
        if started.elapsed() > LEARNING_TIMEOUT {
            return Err("a basis is not learned".to_owned());
        }
        thread::sleep(pace);
    }
    let (Some(first_ns), Some(known_ns)) = (first, known) else {
        return Err("a basis was known before it was met".to_owned());
    };
    let us = |from_ns: u64| (known_ns as f64 - from_ns as f64) / 1e3;
    Ok(Learned { us: us(first_ns), since_sent_us: us(sent_ns) })
}

/// Nanoseconds since the epoch, as in the kernel's time stamps.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
