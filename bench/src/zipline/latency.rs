//! The paper's Figure 5: the time that a packet takes from a host through a switch back to the same host, with no
//! operation, encoding and decoding, with frames of 64, 1,500 and 9,000 bytes.
//!
//! What enters: bases as in the other ZipLine benchmarks. What leaves: for each size and operation the round-trip
//! time, from before a frame is handed to the system until it has come back. One frame is sent at a time, with a
//! number by which it is recognised among other traffic, between virtual interfaces. The switch is a separate
//! process, which sleeps between two frames. It is measured on the sender's processor, and on another one, which has
//! to wake up first. Sizes are those of frames at the encoder's input, with their check sequence. `wirespeed` is the
//! executable beside this one. Requires root and `ip`.

use super::processes::{Outcome, Placement, make_pairs, place, start};
use super::rates::{CHECKSUM_BYTES, SIZES};
use super::{BRIDGE, BRIDGED, CLASS, DECODER, ENCODER, RESTORED, SOURCE, Traffic, put_number};
use crate::Arguments;
use crate::works;
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::{Driver, NetworkNamespace};
use measure::figures::{median, quantile};
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Round trips of each size, and the number of distinct frames.
const ROUND_TRIPS: usize = 20_000;
const FRAMES: usize = 256;

/// How long a switch may take to start, and a frame to come back.
const START_MAX: Duration = Duration::from_secs(60);
const LOST_AFTER: Duration = Duration::from_millis(500);

/// An operation: its program and entries, and the form of its input.
struct Operation {
    name: &'static str,
    program: &'static str,
    entries: String,
    gets: fn(&Sized) -> &Vec<Vec<u8>>,
}

/// Frames of a size, in their original form and compressed.
struct Sized {
    bytes: usize,
    plain: Vec<Vec<u8>>,
    small: Vec<Vec<u8>>,
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_latency(path);
    }
    if !arguments.json {
        println!("bytes,operation,processors,median us,1 %,90 %,99 %");
    }
    let mut sizes = Vec::new();
    // The bases do not depend on the size of the frames.
    let entries = Traffic::new(arguments.routes, 1, SIZES[0])?;
    for bytes in SIZES {
        let traffic = Traffic::new(arguments.routes, FRAMES, bytes - CHECKSUM_BYTES)?;
        let small = works::sent(&mut traffic.encoder()?, &traffic.frames);
        sizes.push(Sized { bytes, plain: traffic.frames, small });
    }
    let operations = [
        Operation { name: "no operation", program: BRIDGE, entries: BRIDGED.to_owned(), gets: |it| &it.plain },
        Operation {
            name: "encoding",
            program: ENCODER,
            entries: [&entries.common, CLASS, &entries.identifiers].concat(),
            gets: |it| &it.plain,
        },
        Operation {
            name: "decoding",
            program: DECODER,
            entries: [&entries.common, RESTORED, &entries.originals].concat(),
            gets: |it| &it.small,
        },
    ];
    let mut measured = Vec::new();
    for placement in Placement::all()? {
        for operation in &operations {
            let folder = tempfile::tempdir()?;
            let namespace = NetworkNamespace::create()?;
            let us = namespace.inside(|| measure(folder.path(), operation, &sizes, placement))??;
            measured.push((operation.name, placement, us));
        }
    }
    for (number, size) in sizes.iter().enumerate() {
        measured.iter().for_each(|(name, placement, us)| print(arguments, size.bytes, name, *placement, &us[number]));
    }
    Ok(())
}

fn print(arguments: &Arguments, bytes: usize, operation: &str, placement: Placement, us: &[f64]) {
    let processors = placement.processors();
    let [least, most, longest] = [0.01, 0.9, 0.99].map(|part| quantile(us, part));
    let middle = median(us);
    if arguments.json {
        let line = json!({
            "benchmark": "zipline-latency", "bytes": bytes, "operation": operation, "processors": processors,
            "round_trips": us.len(), "median_us": middle, "1_percent_us": least, "90_percent_us": most,
            "99_percent_us": longest,
        });
        return println!("{line}");
    }
    println!("{bytes},{operation},{processors},{middle:.1},{least:.1},{most:.1},{longest:.1}");
}

/// Round-trip times in microseconds, for each size.
fn measure(folder: &Path, operation: &Operation, sizes: &[Sized], placement: Placement) -> Outcome<Vec<Vec<f64>>> {
    make_pairs()?;
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    std::fs::write(folder.join("entries.txt"), &operation.entries).map_err(|error| error.to_string())?;
    let program = root.join(operation.program).display().to_string();
    let switch = start(folder, &format!("run {program} --quiet --entries entries.txt --port 1=in0 --port 2=out0"))?;
    place(&switch, placement)?;
    let open = |name| AfPacketDriver::open(name, &AfPacketOptions::default()).map_err(|error| error.to_string());
    let (mut sender, mut sink) = (open("send0")?, open("sink0")?);
    let mut number = 0;
    let mut one = |frame: &Vec<u8>| {
        number += 1;
        round_trip(&mut sender, &mut sink, frame.clone(), number)
    };
    let started = Instant::now();
    while one(&(operation.gets)(&sizes[0])[0])?.is_none() {
        if started.elapsed() > START_MAX {
            return Err(format!("{}: the switch does not forward", operation.name));
        }
    }
    let mut of_size = |size: &Sized| {
        let frames = (operation.gets)(size).iter().cycle();
        let lost = || format!("{}: a frame of {} bytes is lost", operation.name, size.bytes);
        frames.take(ROUND_TRIPS).map(|frame| one(frame)?.ok_or_else(lost)).collect::<Outcome<Vec<f64>>>()
    };
    sizes.iter().map(&mut of_size).collect()
}

/// Sends a frame with a number and polls until it comes back; `None` if that takes too long. Frames of others, such
/// as the system's own, and late ones are ignored.
fn round_trip(sender: &mut dyn Driver, sink: &mut dyn Driver, mut frame: Vec<u8>, number: u32) -> Outcome<Option<f64>> {
    put_number(&mut frame, number);
    let sent = Instant::now();
    sender.transmit(&frame, 0).and_then(|()| sender.flush()).map_err(|error| error.to_string())?;
    loop {
        let mut is_back = false;
        let received = sink.receive(64, &mut |came, _| is_back |= came.get(SOURCE) == frame.get(SOURCE));
        received.map_err(|error| error.to_string())?;
        let elapsed = sent.elapsed();
        if is_back {
            return Ok(Some(elapsed.as_nanos() as f64 / 1e3));
        }
        if elapsed > LOST_AFTER {
            return Ok(None);
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::round_trip;
    use crate::zipline::put_number;
    use live::memory::memory_port;

    #[test]
    fn frames_of_others_are_ignored() {
        let ((mut sender, _), (mut sink, arriving)) = (memory_port(), memory_port());
        let frame = vec![0; 60];
        let mut late = frame.clone();
        put_number(&mut late, 1);
        arriving.send(&late, 0);
        assert_eq!(round_trip(&mut sender, &mut sink, frame.clone(), 2), Ok(None));
        arriving.send(&late, 0);
        put_number(&mut late, 3);
        arriving.send(&late, 0);
        assert!(round_trip(&mut sender, &mut sink, frame, 3).unwrap().is_some());
    }
}
