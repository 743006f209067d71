//! `wirespeed trace`: a packet's journey through a program, from the reference interpreter.
//!
//! What enters: a program with entries, or a switch to inspect; packets. What leaves: the journey of each packet, as
//! text or as JSON.
//!
//! * [`arguments`]: the arguments.
//! * [`journey`]: the steps of a packet; [`values`], [`places`], [`labels`]: values and the program's text for display.
//! * [`replica`]: a copy of a running switch, or of one that has stored its state.
//! * [`tap`]: packets as they arrive at a running switch; [`log`]: the log of all packets of a switch.

pub mod arguments;
pub mod journey;
mod labels;
pub mod log;
mod places;
mod replica;
pub mod tap;
pub mod values;

use self::values::Described;
use crate::Exit;
use crate::args::{DEVICE_ID, TraceArguments};
use crate::backend;
use crate::frontend;
use crate::ports;
use crate::terminal::{self, say};
use crate::test;
use base::Bits;
use control::store::Saved;
use ctl::Failure;
use journey::Journey;
use live::{Driver as _, DriverError, pcap};
use replica::Original;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use stf::{Command, Script};
use switch::{Backend, Output, Switch};

/// Sends packets through a switch in the interpreter, one at a time, and prints what happens to each.
pub fn trace(arguments: &TraceArguments) -> Result<Exit, Exit> {
    let (packets, broken) = packets(arguments)?;
    let (described, mut switch) = subject(arguments)?;
    if let Some(file) = &arguments.stf {
        trace_script(&test::load_script(file)?, &mut switch, &described, arguments.json);
        return Ok(Exit::Success);
    }
    let greatest = described.program.architecture.port_max;
    for (number, packet) in packets.iter().enumerate() {
        if packet.port > greatest {
            terminal::error(format!("`{}` is not a port number from 0 to {greatest}", packet.port));
            return Err(Exit::Usage);
        }
        if number > 0 && !arguments.json {
            say!();
        }
        let mut journey = Journey::new(Arc::clone(&described));
        let mut sent = Sent::default();
        // The time of a switch that has run before does not go back.
        let now_ns = switch.now_ns().max(packet.time_ns);
        switch.receive(now_ns, packet.port, &packet.bytes);
        switch.run_observed(now_ns, &mut sent, &mut journey);
        let packet = (packet.port, packet.bytes.len(), None);
        story(arguments.json, number + 1, packet, &journey, &sent).iter().for_each(|line| say!("{line}"));
    }
    match broken {
        None => Ok(Exit::Success),
        Some(error) => {
            terminal::error(&error);
            Err(ports::exit_of(&error))
        }
    }
}

/// The program, and a switch that runs it in the interpreter with its entries.
fn subject(arguments: &TraceArguments) -> Result<(Arc<Described>, Switch), Exit> {
    let saved = match (&arguments.from, &arguments.state, &arguments.file) {
        (Some(address), ..) => fetch(arguments, address)?,
        (None, Some(folder), _) => replica::read_folder(folder)?,
        (None, None, Some(file)) => {
            // The program as it was written: passes would hide steps.
            let compiled = frontend::load(file, &arguments.switch.source, false)?;
            let switch = backend::build(&compiled.program, Backend::Interpreter, &arguments.switch)?;
            return Ok((Arc::new(Described::new(&compiled)), switch));
        }
        // The arguments request one of them.
        (None, None, None) => return Err(Exit::Usage),
    };
    let wrong = |problem: control::Problem| {
        terminal::error(problem);
        Exit::BadInput
    };
    saved.complaints.iter().for_each(terminal::warning);
    let original = Original::of(&saved).map_err(wrong)?;
    replica::unknown(&original.described.program).into_iter().for_each(terminal::warning);
    let complain = |what| terminal::warning(format!("not restored: {what}"));
    let switch = original.switch(&saved, &arguments.switch, complain).map_err(wrong)?;
    Ok((original.described, switch))
}

/// A snapshot of a running switch.
fn fetch(arguments: &TraceArguments, address: &str) -> Result<Saved, Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        terminal::error(format!("cannot start: {error}"));
        Exit::System
    })?;
    let options = ctl::Options {
        address: address.to_owned(),
        device_id: DEVICE_ID,
        any_device: true,
        tls: arguments.tls.settings()?,
        address_option: Some("--from"),
        ..ctl::Options::default()
    };
    let records = runtime.block_on(async { ctl::Session::connect(options).await?.snapshot(true).await });
    records.map(Saved::of_records).map_err(|failure| {
        terminal::error(&failure);
        match failure {
            Failure::Refused(_) => Exit::BadInput,
            Failure::Connection(_) => Exit::System,
        }
    })
}

/// The journey of a packet, with its number, port, length and position in a test: lines of text, or one of JSON.
fn story(
    json: bool,
    number: usize,
    (port, bytes, place): (u32, usize, Option<&str>),
    journey: &Journey,
    sent: &Sent,
) -> Vec<String> {
    if json {
        let sent: Vec<_> = sent.frames.iter().map(|(port, frame)| json!({"port": port, "bytes": hex(frame)})).collect();
        let mut line = json!({
            "packet": number, "port": port, "bytes": bytes, "steps": journey.json(), "sent": sent,
        });
        if let Some(place) = place {
            line["place"] = json!(place);
        }
        return vec![line.to_string()];
    }
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let mut lines = vec![format!("packet {number}{place}: {bytes} bytes on port {port}")];
    lines.extend(journey.text());
    lines.extend(sent.text());
    lines
}

/// Runs the commands of a packet test, and prints the journey of each packet.
fn trace_script(script: &Script, switch: &mut Switch, described: &Arc<Described>, json: bool) {
    let arrived = std::cell::RefCell::new((0, None));
    let mut before = |line: u32, command: &Command| {
        if let Command::Packet { port, bytes } = command {
            let mut arrived = arrived.borrow_mut();
            arrived.0 += 1;
            arrived.1 = Some((*port, bytes.len(), format!("{}:{line}", script.file)));
        }
    };
    let mut work = |switch: &mut Switch, now_ns: u64, output: &mut dyn Output| {
        let mut journey = Journey::new(Arc::clone(described));
        let mut both = Both { output, sent: Sent::default() };
        switch.run_observed(now_ns, &mut both, &mut journey);
        if journey.is_empty() {
            return;
        }
        let (count, packet) = &mut *arrived.borrow_mut();
        match packet.take() {
            Some((port, bytes, place)) => {
                if *count > 1 && !json {
                    say!();
                }
                let packet = (port, bytes, Some(place.as_str()));
                story(json, *count, packet, &journey, &both.sent).iter().for_each(|line| say!("{line}"));
            }
            None if json => say!("{}", json!({"steps": journey.json()})),
            None => journey.text().into_iter().chain(both.sent.text()).for_each(|line| say!("{line}")),
        }
    };
    let outcome = stf::run_watched(script, switch, &mut before, &mut work);
    match json {
        true => say!("{}", json!({"report": outcome.report.to_string()})),
        false => say!("\n{}", outcome.report),
    }
}

/// Passes packets on and stores them.
struct Both<'a> {
    output: &'a mut dyn Output,
    sent: Sent,
}

impl Output for Both<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        self.output.transmit(port, frame, time_ns);
        self.sent.transmit(port, frame, time_ns);
    }

    fn digest(&mut self, digest: ir::DigestId, values: Vec<Bits>) {
        self.output.digest(digest, values);
    }

    fn log(&mut self, line: &str) {
        self.output.log(line);
    }

    fn assertion_failed(&mut self, text: &str) {
        self.output.assertion_failed(text);
    }
}

struct InputPacket {
    port: u32,
    bytes: Vec<u8>,
    time_ns: u64,
}

/// The packets of the arguments, those of the command line first, and the error of the capture after the last of
/// them.
fn packets(arguments: &TraceArguments) -> Result<(Vec<InputPacket>, Option<DriverError>), Exit> {
    let usage = |message: String| {
        terminal::error(message);
        Exit::Usage
    };
    let mut packets = Vec::new();
    for text in &arguments.packets {
        let (port, bytes) = parse_packet(text).map_err(usage)?;
        packets.push(InputPacket { port, bytes, time_ns: 0 });
    }
    let Some(text) = &arguments.pcap else { return Ok((packets, None)) };
    let form = "write PORT=FILE, as in 1=in.pcap";
    let (port, file) = text.split_once('=').ok_or_else(|| usage(format!("`{text}` has no port; {form}")))?;
    let port = parse_port(port, form).map_err(usage)?;
    let mut driver = pcap::CaptureDriver::open(Some(Path::new(file)), None).map_err(|error| {
        terminal::error(error);
        Exit::System
    })?;
    let broken = read_capture(&mut driver, port, arguments.count, &mut packets).err();
    Ok((packets, broken))
}

/// A port. `parse` would accept a sign, which a port number cannot have.
fn parse_port(text: &str, form: &str) -> Result<u32, String> {
    let text = text.trim();
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| format!("`{text}` is not a port number; {form}"))
}

/// `PORT:HEX`, white space between digits allowed.
fn parse_packet(text: &str) -> Result<(u32, Vec<u8>), String> {
    let form = "write PORT:HEX, as in 1:ffffffffffff0000000000010806";
    let (port, digits) = text.split_once(':').ok_or_else(|| format!("`{text}` has no port; {form}"))?;
    let port = parse_port(port, form)?;
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("the packet has {} hexadecimal digits; a byte has two", digits.len()));
    }
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        pair.bytes().all(|it| it.is_ascii_hexdigit()).then(|| u8::from_str_radix(pair, 16).ok())?
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    Ok((port, bytes.ok_or_else(|| format!("the packet is not hexadecimal; {form}"))?))
}

/// Appends the first `count` packets of a capture, including those before an error.
fn read_capture(
    driver: &mut pcap::CaptureDriver,
    port: u32,
    count: usize,
    packets: &mut Vec<InputPacket>,
) -> Result<(), DriverError> {
    let end = packets.len().saturating_add(count);
    while packets.len() < end && !driver.exhausted() {
        driver.receive(1, &mut |frame, time_ns| packets.push(InputPacket { port, bytes: frame.to_vec(), time_ns }))?;
    }
    Ok(())
}

/// The packets that left the switch.
#[derive(Default)]
struct Sent {
    frames: Vec<(u32, Vec<u8>)>,
}

impl Sent {
    fn text(&self) -> Vec<String> {
        if self.frames.is_empty() {
            return vec!["  nothing was sent".to_owned()];
        }
        self.frames.iter().map(|(port, frame)| format!("  out on port {port}: {}", hex(frame))).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.frames.push((port, frame.to_vec()));
    }
}
