//! `--port` arguments: what users write, and the driver for each.
//!
//! `NUMBER=INTERFACE`, `NUMBER=xdp:INTERFACE` (with options after a `?`, as in `xdp:eth0?queues=2&mode=copy`),
//! `NUMBER=tap:NAME`, `NUMBER=dpdk:DEVICE` (with the feature `dpdk`; the option is `queues=NUMBER`),
//! `NUMBER=pcap:INPUT,OUTPUT` (either may be left out: `pcap:in.pcap`, `pcap:,out.pcap`; an output whose name ends in
//! `.pcapng` is written in that format), `NUMBER=timer:PERIOD,TEMPLATE`, where the packets of a capture arrive
//! periodically (an empty one without it; the option is `after=TICKS`, after the period), or `NUMBER=null`, a port
//! that receives nothing and drops what it is sent. The first comma separates input from output and period from
//! template, so that an input's name cannot contain one.

use crate::af_packet::{AfPacketDriver, AfPacketOptions};
use crate::driver::{Driver, DriverError};
use crate::pcap::CaptureDriver;
use crate::tap::TapDriver;
use crate::timer::TimerDriver;
use crate::xdp::{Attach, Copying, XdpDriver, XdpOptions};
use base::OrderedMap;
use base::limits::{TIMER_PERIOD_NS_MAX, TIMER_PERIOD_NS_MIN};
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The longest name that Linux gives an interface, in bytes.
const INTERFACE_NAME_BYTES_MAX: usize = 15;

/// One port as a user specified it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// The number that the program sees.
    pub number: u32,
    /// What the port is connected to.
    pub kind: PortKind,
}

/// What a port is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// An interface of the system, through a packet socket.
    Interface(String),
    /// An interface of the system, through AF_XDP.
    Xdp {
        /// Its name.
        name: String,
        /// How it is used.
        options: XdpOptions,
    },
    /// An interface of the system whose other end is the port.
    Tap(String),
    /// A device of DPDK.
    Dpdk {
        /// In DPDK's syntax: its name, and parameters after commas.
        device: String,
        /// The number of queues in each direction; by default all.
        queues: Option<u16>,
    },
    /// Capture files.
    Capture {
        /// The source of received packets.
        input: Option<PathBuf>,
        /// The destination of sent packets.
        output: Option<PathBuf>,
    },
    /// A timer.
    Timer {
        /// The time from one tick to the next.
        period_ns: u64,
        /// How many times it ticks after the last packet of captures, if time is that of their stamps.
        ticks_after: u64,
        /// A capture with the packets that each tick brings; an empty packet without it.
        template: Option<PathBuf>,
    },
    /// Nothing.
    Null,
}

impl PortKind {
    /// The interface or device that it uses.
    pub fn interface(&self) -> Option<&str> {
        match self {
            PortKind::Interface(name) | PortKind::Xdp { name, .. } | PortKind::Tap(name) => Some(name),
            PortKind::Dpdk { device, .. } => device.split(',').next(),
            PortKind::Capture { .. } | PortKind::Timer { .. } | PortKind::Null => None,
        }
    }
}

/// Why port arguments are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortSpecError {
    /// There is no `=`.
    NoNumber {
        /// The argument.
        argument: String,
    },
    /// The text before the `=` is not a port number.
    BadNumber {
        /// The argument.
        argument: String,
        /// The highest number allowed.
        number_max: u32,
    },
    /// The text after the `=`, or after `pcap:`, is empty.
    Nothing {
        /// The argument.
        argument: String,
    },
    /// The interface's name is one that no interface can have.
    BadInterface {
        /// The argument.
        argument: String,
        /// The name.
        name: String,
    },
    /// An option after the `?` is unknown.
    BadOption {
        /// The argument.
        argument: String,
        /// The known options, for people.
        options: &'static str,
        /// The option.
        option: String,
    },
    /// The text after `timer:` is not a valid period of a timer.
    BadPeriod {
        /// The argument.
        argument: String,
        /// The text.
        period: String,
    },
    /// Two ports have the same number.
    DuplicateNumber {
        /// The number.
        number: u32,
        /// The two arguments.
        arguments: [String; 2],
    },
    /// Two ports use one interface, or a file is written that another port reads or writes.
    Shared {
        /// What they share.
        what: String,
        /// The ports' numbers.
        numbers: [u32; 2],
    },
}

impl fmt::Display for PortSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FORM: &str =
            "write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`";
        match self {
            PortSpecError::NoNumber { argument } => write!(f, "port `{argument}` has no number; {FORM}"),
            PortSpecError::BadNumber { argument, number_max } => {
                write!(f, "port `{argument}` does not start with a port number from 0 to {number_max}; {FORM}")
            }
            PortSpecError::Nothing { argument } => {
                write!(f, "port `{argument}` has neither an interface nor a file; {FORM}")
            }
            PortSpecError::BadInterface { argument, name } => {
                write!(f, "port `{argument}`: `{name}` cannot be the name of an interface")?;
                if looks_like_a_capture(name) { write!(f, "; for a capture file write `pcap:{name}`") } else { Ok(()) }
            }
            PortSpecError::BadOption { argument, option, options } => {
                write!(f, "port `{argument}`: `{option}` is not an option of {options}")
            }
            PortSpecError::BadPeriod { argument, period } => write!(
                f,
                "port `{argument}`: `{period}` is not a valid period of a timer; write a number and ns, us, ms or s, from 1us to \
                 86400s, as in `9=timer:50ms`"
            ),
            PortSpecError::DuplicateNumber { number, arguments: [first, second] } => {
                write!(f, "port {number} is given twice: `{first}` and `{second}`")
            }
            PortSpecError::Shared { what, numbers: [first, second] } if first == second => {
                write!(f, "port {first} would overwrite {what} while reading it")
            }
            PortSpecError::Shared { what, numbers: [first, second] } => {
                write!(f, "ports {first} and {second} cannot share {what}")
            }
        }
    }
}

impl std::error::Error for PortSpecError {}

fn looks_like_a_capture(name: &str) -> bool {
    [".pcap", ".pcapng", ".cap"].iter().any(|ending| name.ends_with(ending))
}

impl PortSpec {
    /// Reads one argument.
    pub fn parse(argument: &str, number_max: u32) -> Result<PortSpec, PortSpecError> {
        let owned = || argument.to_owned();
        let Some((number, rest)) = argument.split_once('=') else {
            return Err(PortSpecError::NoNumber { argument: owned() });
        };
        // `parse` would accept a sign, which a port number cannot have.
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = match number.parse() {
            Ok(number) if digits && number <= number_max => number,
            _ => return Err(PortSpecError::BadNumber { argument: owned(), number_max }),
        };
        let kind = match rest.split_once(':') {
            Some(("pcap", files)) => {
                let (input, output) = files.split_once(',').unwrap_or((files, ""));
                let path = |name: &str| (!name.is_empty()).then(|| PathBuf::from(name));
                match (path(input), path(output)) {
                    (None, None) => return Err(PortSpecError::Nothing { argument: owned() }),
                    (input, output) => PortKind::Capture { input, output },
                }
            }
            Some(("xdp", rest)) => {
                let (name, options) = rest.split_once('?').unwrap_or((rest, ""));
                PortKind::Xdp { name: interface_name(argument, name)?, options: xdp_options(argument, options)? }
            }
            Some(("dpdk", "")) => return Err(PortSpecError::Nothing { argument: owned() }),
            Some(("dpdk", rest)) => {
                let (device, options) = rest.split_once('?').unwrap_or((rest, ""));
                PortKind::Dpdk { device: device.to_owned(), queues: dpdk_queues(argument, options)? }
            }
            Some(("timer", rest)) => timer(argument, rest)?,
            Some(("tap", name)) => PortKind::Tap(interface_name(argument, name)?),
            _ if rest == "null" => PortKind::Null,
            _ => PortKind::Interface(interface_name(argument, rest)?),
        };
        Ok(PortSpec { number, kind })
    }

    /// Reads all arguments of a run and checks that they are compatible; the result is in the order of the port
    /// numbers.
    pub fn parse_all(arguments: &[String], number_max: u32) -> Result<Vec<PortSpec>, PortSpecError> {
        let mut ports: OrderedMap<u32, (PortSpec, &String)> = OrderedMap::new();
        for argument in arguments {
            let spec = PortSpec::parse(argument, number_max)?;
            let number = spec.number;
            if let Some((_, first)) = ports.get(&number) {
                return Err(PortSpecError::DuplicateNumber { number, arguments: [(*first).clone(), argument.clone()] });
            }
            ports.insert(number, (spec, argument));
        }
        let ports: Vec<PortSpec> = ports.into_values().map(|(spec, _)| spec).collect();
        check_sharing(&ports)?;
        Ok(ports)
    }
}

fn interface_name(argument: &str, name: &str) -> Result<String, PortSpecError> {
    match name {
        "" => Err(PortSpecError::Nothing { argument: argument.to_owned() }),
        _ if is_interface_name(name) => Ok(name.to_owned()),
        _ => Err(PortSpecError::BadInterface { argument: argument.to_owned(), name: name.to_owned() }),
    }
}

/// Reads options joined by `&`; the last of a kind counts.
fn xdp_options(argument: &str, text: &str) -> Result<XdpOptions, PortSpecError> {
    let mut options = XdpOptions::default();
    for option in text.split('&').filter(|option| !option.is_empty()) {
        match option {
            "mode=auto" => options.copying = Copying::Auto,
            "mode=copy" => options.copying = Copying::Copy,
            "mode=zero-copy" => options.copying = Copying::ZeroCopy,
            "attach=auto" => options.attach = Attach::Auto,
            "attach=native" => options.attach = Attach::Native,
            "attach=generic" => options.attach = Attach::Generic,
            _ => {
                let bad = || bad_option(argument, option, XDP_OPTIONS);
                let number = option.strip_prefix("queues=").ok_or_else(bad)?;
                options.queues = Some(number.parse().ok().filter(|number| *number > 0).ok_or_else(bad)?);
            }
        }
    }
    Ok(options)
}

/// Reads the number of queues of a device of DPDK, if it is given.
fn dpdk_queues(argument: &str, option: &str) -> Result<Option<u16>, PortSpecError> {
    let number = option.strip_prefix("queues=").and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    if option.is_empty() || number.is_some() { Ok(number) } else { Err(bad_option(argument, option, DPDK_OPTIONS)) }
}

/// Reads `PERIOD?after=TICKS,TEMPLATE`.
fn timer(argument: &str, text: &str) -> Result<PortKind, PortSpecError> {
    let (when, template) = text.split_once(',').unwrap_or((text, ""));
    let (period, option) = when.split_once('?').unwrap_or((when, ""));
    let bad = || PortSpecError::BadPeriod { argument: argument.to_owned(), period: period.to_owned() };
    let period_ns = duration_ns(period).filter(|ns| (TIMER_PERIOD_NS_MIN..=TIMER_PERIOD_NS_MAX).contains(ns));
    let ticks_after = match option {
        "" => 1,
        _ => {
            let number = option.strip_prefix("after=").and_then(|number| number.parse().ok());
            number.ok_or_else(|| bad_option(argument, option, TIMER_OPTIONS))?
        }
    };
    let template = (!template.is_empty()).then(|| PathBuf::from(template));
    Ok(PortKind::Timer { period_ns: period_ns.ok_or_else(bad)?, ticks_after, template })
}

/// Reads a number with its unit, exactly.
fn duration_ns(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let digits = match unit {
        "ns" => 0,
        "us" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return None,
    };
    let (whole, fraction) =
        text[..text.len() - unit.len()].split_once('.').unwrap_or((&text[..text.len() - unit.len()], ""));
    if whole.is_empty() || fraction.len() > digits {
        return None;
    }
    format!("{whole}{fraction:0<digits$}").parse().ok()
}

const TIMER_OPTIONS: &str = "`timer:`; there is after=TICKS";
const XDP_OPTIONS: &str = "`xdp:`; there are queues=NUMBER, mode=auto, mode=zero-copy, mode=copy, attach=auto, \
                           attach=native and attach=generic, joined by `&`";
const DPDK_OPTIONS: &str = "`dpdk:`; there is queues=NUMBER";

fn bad_option(argument: &str, option: &str, options: &'static str) -> PortSpecError {
    PortSpecError::BadOption { argument: argument.to_owned(), options, option: option.to_owned() }
}

fn is_interface_name(name: &str) -> bool {
    name.len() <= INTERFACE_NAME_BYTES_MAX
        && !matches!(name, "." | "..")
        && !name.bytes().any(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b':' | 0))
}

/// The identity of a file: the file itself if it exists, else its path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum FileIdentity {
    Existing { device: u64, inode: u64 },
    Absent(PathBuf),
}

/// The identity of a file, or none if sharing does no harm (a device such as `/dev/null`).
fn file_identity(path: &Path) -> Option<FileIdentity> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            Some(FileIdentity::Existing { device: metadata.dev(), inode: metadata.ino() })
        }
        Ok(_) => None,
        Err(_) => Some(FileIdentity::Absent(absent_path(path))),
    }
}

/// A canonical path for a file that does not exist yet, however its folder is written.
fn absent_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// An interface serves one port, and a file that is written serves nothing else; a file may be read by several.
fn check_sharing(ports: &[PortSpec]) -> Result<(), PortSpecError> {
    let mut interfaces: OrderedMap<&str, u32> = OrderedMap::new();
    let mut outputs: OrderedMap<FileIdentity, u32> = OrderedMap::new();
    for port in ports {
        if let Some(name) = port.kind.interface()
            && let Some(first) = interfaces.insert(name, port.number)
        {
            let what = format!("interface `{name}`");
            return Err(PortSpecError::Shared { what, numbers: [first, port.number] });
        }
        if let PortKind::Capture { output: Some(output), .. } = &port.kind
            && let Some(identity) = file_identity(output)
            && let Some(first) = outputs.insert(identity, port.number)
        {
            let what = format!("the output `{}`", output.display());
            return Err(PortSpecError::Shared { what, numbers: [first, port.number] });
        }
    }
    for port in ports {
        let (PortKind::Capture { input: Some(input), .. } | PortKind::Timer { template: Some(input), .. }) = &port.kind
        else {
            continue;
        };
        let Some(identity) = file_identity(input) else { continue };
        if let Some(writer) = outputs.get(&identity) {
            let what = format!("`{}`", input.display());
            return Err(PortSpecError::Shared { what, numbers: [port.number, *writer] });
        }
    }
    Ok(())
}

/// Opens the driver of a port, with this many queues if it can have several.
pub fn open(spec: &PortSpec, queues: usize) -> Result<Box<dyn Driver>, DriverError> {
    Ok(match &spec.kind {
        PortKind::Interface(name) => {
            let options = AfPacketOptions { queues, ..AfPacketOptions::default() };
            Box::new(AfPacketDriver::open(name, &options)?)
        }
        PortKind::Xdp { name, options } => Box::new(XdpDriver::open(name, options)?),
        PortKind::Tap(name) => Box::new(TapDriver::open(name, queues)?),
        #[cfg(feature = "dpdk")]
        PortKind::Dpdk { device, queues } => Box::new(crate::dpdk::DpdkDriver::open(device, *queues)?),
        #[cfg(not(feature = "dpdk"))]
        PortKind::Dpdk { device, .. } => {
            return Err(DriverError::Unusable {
                name: device.clone(),
                cause: "it is a device of DPDK, and this command was built without it".to_owned(),
                cure: "build it with `cargo build --release --features dpdk`".to_owned(),
            });
        }
        PortKind::Capture { input, output } => Box::new(CaptureDriver::open(input.as_deref(), output.as_deref())?),
        PortKind::Timer { period_ns, ticks_after, template } => {
            Box::new(TimerDriver::open_template(*period_ns, *ticks_after, template.as_deref())?)
        }
        PortKind::Null => Box::new(CaptureDriver::open(None, None)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn render(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        match PortSpec::parse_all(&arguments, 510) {
            Ok(ports) => ports.iter().map(|port| format!("{}: {:?}\n", port.number, port.kind)).collect(),
            Err(error) => format!("error: {error}\n"),
        }
    }

    fn check(arguments: &[&str], expected: Expect) {
        expected.assert_eq(&render(arguments));
    }

    #[test]
    fn every_kind_of_port_is_read_and_ordered_by_number() {
        check(
            &["3=null", "2=pcap:in.pcap,a,b.pcapng", "1=eth0", "4=pcap:only.pcap", "5=pcap:,out.pcap"],
            expect![[r#"
                1: Interface("eth0")
                2: Capture { input: Some("in.pcap"), output: Some("a,b.pcapng") }
                3: Null
                4: Capture { input: Some("only.pcap"), output: None }
                5: Capture { input: None, output: Some("out.pcap") }
            "#]],
        );
    }

    #[test]
    fn an_interface_may_be_reached_in_several_ways() {
        check(
            &["1=xdp:eth0", "2=xdp:eth1?queues=2&mode=copy&attach=generic", "3=tap:host0", "4=xdp:eth2?mode=zero-copy"],
            expect![[r#"
                1: Xdp { name: "eth0", options: XdpOptions { queues: None, copying: Auto, attach: Auto } }
                2: Xdp { name: "eth1", options: XdpOptions { queues: Some(2), copying: Copy, attach: Generic } }
                3: Tap("host0")
                4: Xdp { name: "eth2", options: XdpOptions { queues: None, copying: ZeroCopy, attach: Auto } }
            "#]],
        );
        check(
            &["1=xdp:eth0", "2=eth0"],
            expect![[r#"
            error: ports 1 and 2 cannot share interface `eth0`
        "#]],
        );
        check(
            &["1=xdp:", "2=eth0"],
            expect![[r#"
            error: port `1=xdp:` has neither an interface nor a file; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["1=dpdk:net_null0,size=60", "2=dpdk:net_null0?queues=2"],
            expect![[r#"
            error: ports 1 and 2 cannot share interface `net_null0`
        "#]],
        );
        check(
            &["1=dpdk:"],
            expect![[r#"
            error: port `1=dpdk:` has neither an interface nor a file; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["1=tap:a/b"],
            expect![[r#"
            error: port `1=tap:a/b`: `a/b` cannot be the name of an interface
        "#]],
        );
        for option in ["queues=0", "queues=-1", "queues=", "mode=fast", "mode", "copy"] {
            let error = PortSpec::parse(&format!("1=xdp:eth0?{option}"), 510).unwrap_err();
            assert!(matches!(&error, PortSpecError::BadOption { option: bad, .. } if bad == option), "{error}");
        }
        check(
            &["1=xdp:eth0?queues=x"],
            expect![[r#"
            error: port `1=xdp:eth0?queues=x`: `queues=x` is not an option of `xdp:`; there are queues=NUMBER, mode=auto, mode=zero-copy, mode=copy, attach=auto, attach=native and attach=generic, joined by `&`
        "#]],
        );
    }

    #[test]
    fn timers_have_a_period_and_may_have_a_template() {
        check(
            &["9=timer:50ms", "10=timer:0.25s?after=3,a,b.pcap", "11=timer:1us", "12=timer:86400s,", "13=timer:1500ns"],
            expect![[r#"
                9: Timer { period_ns: 50000000, ticks_after: 1, template: None }
                10: Timer { period_ns: 250000000, ticks_after: 3, template: Some("a,b.pcap") }
                11: Timer { period_ns: 1000, ticks_after: 1, template: None }
                12: Timer { period_ns: 86400000000000, ticks_after: 1, template: None }
                13: Timer { period_ns: 1500, ticks_after: 1, template: None }
            "#]],
        );
        for period in
            ["", "50", "ms", "0ms", "999ns", "86400.1s", "-1s", "1.5ns", ".5s", "1e3ms", "1..5s", "99999999999s"]
        {
            let error = PortSpec::parse(&format!("9=timer:{period}"), 510).unwrap_err();
            assert!(matches!(&error, PortSpecError::BadPeriod { period: bad, .. } if bad == period), "{error}");
        }
        check(
            &["9=timer:50m"],
            expect![[r#"
                error: port `9=timer:50m`: `50m` is not a valid period of a timer; write a number and ns, us, ms or s, from 1us to 86400s, as in `9=timer:50ms`
            "#]],
        );
        check(
            &["9=timer:50ms?often"],
            expect![[r#"
                error: port `9=timer:50ms?often`: `often` is not an option of `timer:`; there is after=TICKS
            "#]],
        );
        check(
            &["2=pcap:,out.pcap", "9=timer:50ms,out.pcap"],
            expect![[r#"
                error: ports 9 and 2 cannot share `out.pcap`
            "#]],
        );
    }

    #[test]
    fn arguments_that_say_nothing_are_refused() {
        check(
            &["eth0"],
            expect![[r#"
            error: port `eth0` has no number; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["x=eth0"],
            expect![[r#"
            error: port `x=eth0` does not start with a port number from 0 to 510; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["+1=eth0"],
            expect![[r#"
            error: port `+1=eth0` does not start with a port number from 0 to 510; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["511=eth0"],
            expect![[r#"
            error: port `511=eth0` does not start with a port number from 0 to 510; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["99999999999999999999=eth0"],
            expect![[r#"
            error: port `99999999999999999999=eth0` does not start with a port number from 0 to 510; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["1="],
            expect![[r#"
            error: port `1=` has neither an interface nor a file; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["1=pcap:,"],
            expect![[r#"
            error: port `1=pcap:,` has neither an interface nor a file; write NUMBER=INTERFACE or NUMBER=pcap:INPUT,OUTPUT, as in `1=eth0` or `2=pcap:in.pcap,out.pcap`
        "#]],
        );
        check(
            &["1=captures/in.pcap"],
            expect![[r#"
            error: port `1=captures/in.pcap`: `captures/in.pcap` cannot be the name of an interface; for a capture file write `pcap:captures/in.pcap`
        "#]],
        );
    }

    #[test]
    fn ports_that_stand_in_each_others_way_are_refused() {
        check(
            &["1=eth0", "1=eth1"],
            expect![[r#"
            error: port 1 is given twice: `1=eth0` and `1=eth1`
        "#]],
        );
        check(
            &["1=eth0", "2=eth0"],
            expect![[r#"
            error: ports 1 and 2 cannot share interface `eth0`
        "#]],
        );
        check(
            &["1=pcap:,out.pcap", "2=pcap:,./out.pcap"],
            expect![[r#"
                error: ports 1 and 2 cannot share the output `./out.pcap`
            "#]],
        );
        check(
            &["1=pcap:a.pcap,a.pcap"],
            expect![[r#"
            error: port 1 would overwrite `a.pcap` while reading it
        "#]],
        );
        check(
            &["1=pcap:a.pcap,b.pcap", "2=pcap:b.pcap"],
            expect![[r#"
            error: ports 2 and 1 cannot share `b.pcap`
        "#]],
        );
    }

    #[test]
    fn one_input_may_serve_several_ports_and_a_device_all_of_them() {
        check(
            &["1=pcap:a.pcap,/dev/null", "2=pcap:a.pcap,/dev/null"],
            expect![[r#"
            1: Capture { input: Some("a.pcap"), output: Some("/dev/null") }
            2: Capture { input: Some("a.pcap"), output: Some("/dev/null") }
        "#]],
        );
    }

    #[test]
    fn a_file_is_recognised_under_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.pcap"), folder.path().join("link.pcap"));
        fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let argument = format!("1=pcap:{},{}", real.display(), link.display());
        let error = PortSpec::parse_all(&[argument], 510).unwrap_err();
        assert!(matches!(error, PortSpecError::Shared { numbers: [1, 1], .. }), "{error}");
    }

    #[test]
    fn a_missing_file_and_a_missing_interface_are_named() {
        let open_error = |argument: &str| match open(&PortSpec::parse(argument, 510).unwrap(), 1) {
            Ok(_) => panic!("{argument} cannot be opened"),
            Err(error) => error.to_string(),
        };
        let message = open_error("1=pcap:absent.pcap");
        assert!(message.starts_with("cannot open capture `absent.pcap`: "), "{message}");
        let message = open_error("1=absent0");
        assert!(message.starts_with("no interface is called `absent0`; there are: "), "{message}");
        assert!(message.contains("lo"), "{message}");
    }
}
