//! How long it takes until a basis is known: an encoder, a decoder and the controller as processes of their own, in a
//! network namespace.
//!
//! What enters: how many bases (`--routes`). What leaves: for each, the time from the first packet of type 2 that came
//! out of the encoder to the first of type 3, by the kernel's stamps, as the paper measures it. `wirespeed` is the one
//! beside this command. Needs root and `ip`.

use super::{DECODER, ENCODER, M};
use crate::Arguments;
use base::Rng;
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::{Driver as _, NetworkNamespace};
use measure::figures::{median, quantile, range};
use nix::sys::prctl::set_timerslack;
use serde_json::{Value as Json, json};
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use zipline::{Code, Transform, entries};

/// From one packet to the next, at least: so exact are the figures.
const PACE: Duration = Duration::from_micros(10);

/// By how much the system may make that longer, in nanoseconds. Without a word it takes fifty times as much.
const SLACK_NS: u64 = 1_000;

/// How long a basis may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a frame has its sender's address. Here it is the number of the basis: late frames of others are told apart.
const SOURCE: Range<usize> = 6..12;

const ENCODER_ADDRESS: &str = "127.0.0.1:9559";
const DECODER_ADDRESS: &str = "127.0.0.1:9560";

/// What any step may fail with, from within the namespace.
type Outcome<T> = Result<T, String>;

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_learning(path);
    }
    let folder = tempfile::tempdir()?;
    let namespace = NetworkNamespace::create()?;
    let times_us = namespace.inside(|| measure(folder.path(), arguments.routes))??;
    if arguments.json {
        println!("{}", json!({"benchmark": "zipline-learning", "bases": times_us.len(), "learning_us": times_us}));
        return Ok(());
    }
    let (least, greatest) = range(&times_us);
    let mean = times_us.iter().sum::<f64>() / times_us.len() as f64;
    println!("ZipLine, {} bases: microseconds from the first packet of type 2 to the first of type 3", times_us.len());
    println!("  median {:.0}, mean {mean:.0}; the paper's 1770", median(&times_us));
    let quantiles =
        [0.01, 0.1, 0.5, 0.9, 0.99].map(|part| format!("{:.0} %: {:.0}", 100.0 * part, quantile(&times_us, part)));
    println!("  {}; from {least:.0} to {greatest:.0}", quantiles.join(", "));
    Ok(())
}

/// A process that is killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn start(folder: &Path, line: &str) -> Outcome<Killed> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own.with_file_name("wirespeed"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().map(Killed).map_err(|error| format!("wirespeed, beside this command: {error}"))
}

fn ip(arguments: &str) -> Outcome<()> {
    let status = Command::new("ip").args(arguments.split(' ')).status();
    match status.map_err(|error| format!("`ip` of iproute2: {error}"))? {
        status if status.success() => Ok(()),
        _ => Err(format!("ip {arguments} has failed")),
    }
}

fn measure(folder: &Path, bases: u32) -> Outcome<Vec<f64>> {
    let transform = Transform::of_code(Code::new(M).map_err(|error| error.to_string())?);
    ip("link set lo up")?;
    for [first, second] in [["send0", "in0"], ["out0", "sink0"]] {
        ip(&format!("link add {first} type veth peer name {second}"))?;
        ip(&format!("link set {first} up"))?;
        ip(&format!("link set {second} up"))?;
    }
    let tables =
        format!("table_add ports send 1 => 2\ntable_add classes encode 1 0x0800 => 0\n{}", entries::masks(&transform));
    std::fs::write(folder.join("encoder.txt"), tables).map_err(|error| error.to_string())?;
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let [encoder, decoder] = [ENCODER, DECODER].map(|file| root.join(file).display().to_string());
    let _decoder = start(folder, &format!("run {decoder} --quiet --p4runtime {DECODER_ADDRESS}"))?;
    let ports = "--port 1=in0 --port 2=out0";
    let options = format!("--quiet --entries encoder.txt {ports} --p4runtime {ENCODER_ADDRESS}");
    let _encoder = start(folder, &format!("run {encoder} {options}"))?;
    let addresses = format!("--encoder {ENCODER_ADDRESS} --decoder {DECODER_ADDRESS}");
    let mut learner = start(folder, &format!("zipline learn --json --every 3600 {addresses}"))?;
    let mut lines = BufReader::new(learner.0.stdout.take().ok_or("the controller says nothing")?).lines();
    for _ in 0..2 {
        let mut events =
            lines.by_ref().map_while(Result::ok).filter_map(|line| serde_json::from_str::<Json>(&line).ok());
        events.find(|line| line["event"] == "joined").ok_or("the controller has ended")?;
    }
    // Only now: processes have it from those who start them, and switches are to be as they are.
    set_timerslack(SLACK_NS).map_err(|error| error.to_string())?;
    let mut rng = Rng::new(1);
    let open = |name| AfPacketDriver::open(name, &AfPacketOptions::default()).map_err(|error| error.to_string());
    let (mut sender, mut sink) = (open("send0")?, open("sink0")?);
    let mut one = |number: u32| {
        let mut frame = super::frame(&super::word(&transform, &mut rng), &mut rng);
        frame[SOURCE.end - 4..SOURCE.end].copy_from_slice(&number.to_be_bytes());
        learn(&mut sender, &mut sink, &frame)
    };
    (0..bases).map(&mut one).collect()
}

/// Sends the frame until it comes out as type 3: how long after the first of type 2, in microseconds.
fn learn(sender: &mut AfPacketDriver, sink: &mut AfPacketDriver, frame: &[u8]) -> Outcome<f64> {
    let started = Instant::now();
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
        if started.elapsed() > PATIENCE {
            return Err("a basis is not learned".to_owned());
        }
        thread::sleep(PACE);
    }
    match (first, known) {
        (Some(first_ns), Some(known_ns)) => Ok((known_ns as f64 - first_ns as f64) / 1e3),
        _ => Err("a basis was known before it was met".to_owned()),
    }
}
