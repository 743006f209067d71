//! The router against other implementations: programs of DPDK, as packaged by Debian.
//!
//! The peers run as separate processes, each on one core, between two devices of `net_null`: one delivers empty
//! packets, which `peers/frames.c` fills with the same frames from memory, and one discards everything. The cost of a
//! packet is the processor time of the process divided by the packets that its first port received in that time. All
//! peers run in turn, alternating with the switch and with hand-written C.
//!
//! * `testpmd` forwards without examining packets: its cost is the drivers' share in the cost of every other peer.
//! * `l3fwd` routes: longest prefix, TTL, Ethernet addresses; it does not verify checksums. It is built from the
//!   distribution's source, with larger tables for the routes, and without requiring checksum offload, which these
//!   drivers lack.
//! * `ip_pipeline` is DPDK's pipeline of ports, tables and actions, with one longest-prefix table, TTL and Ethernet
//!   addresses; it does not verify checksums either. It is built from the distribution's unchanged source. Its main
//!   thread polls for commands all the time, so only the time of the thread that forwards counts.
//! * Open vSwitch with DPDK has a rule for each route: longest prefix by priority, TTL and Ethernet addresses. Only
//!   the time of its polling thread counts. It caches the results of rules for addresses that it has seen ([`ovs`]).
//!
//! Peers that are not installed (`dpdk-dev`, `dpdk-doc`, `libdpdk-dev` and `openvswitch-switch-dpdk` of Debian) are
//! left out, and listed.

mod ovs;

use crate::Arguments;
use crate::compiled;
use crate::contest::LENT_FRAMES_MAX;
use crate::limit::{Frames, Limit};
use crate::router;
use base::Rng;
use live::traffic::Routes;
use measure::figures::{median, range};
use measure::memory::{self, BURSTS_AT_ONCE};
use measure::traffic::Lent;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, send, socket};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wirespeed::Backend;

/// The folder of Debian's source of DPDK's example programs.
const EXAMPLES: &str = "/usr/share/dpdk/examples";

/// How long a peer may take until packets flow, and how long they are counted.
const START_MAX: Duration = Duration::from_secs(60);
const SPAN: Duration = Duration::from_millis(500);

/// The name by which DPDK's processes find each other.
const PREFIX: &str = "wirespeed-bench";

/// An external program.
struct Peer {
    name: &'static str,
    /// The name of its forwarding threads, if it also has others.
    threads: &'static str,
    start: Box<dyn Fn() -> Result<RunningPeer, Box<dyn Error>>>,
}

/// A running peer. The processes end in this order.
struct RunningPeer {
    forwards: Running,
    /// Other processes that it needs.
    _beside: Vec<Running>,
}

/// The frames of DPDK's first device: the library that is loaded before a program, and the file that it reads.
#[derive(Clone)]
struct Source {
    library: PathBuf,
    frames: PathBuf,
}

impl Source {
    /// Starts a program whose first device has the frames.
    fn spawn(&self, command: &mut Command) -> Result<Running, Box<dyn Error>> {
        // With an open end of standard input, a program that reads it blocks.
        command.env("LD_PRELOAD", &self.library).env("WIRESPEED_FRAMES", &self.frames);
        Ok(Running(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }
}

/// Runs the contestants in turn and prints the cost of a packet for each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::everywhere(arguments.routes, 2..=4, &mut rng);
    let frames = router::frames(&routes, arguments.destinations, &mut rng);
    let path = arguments.program.as_deref().unwrap_or("bench/programs/router.p4");
    let program = compiled::program(path)?;
    let mut native = router::with_routes(&program, Backend::Native, &routes)?;
    let mut limit = Limit::router(&routes)?;
    let folder = TempDir::new()?;
    let (mut peers, absent) = peers(folder.path(), &routes, &frames)?;
    peers.retain(|peer| arguments.only.as_ref().is_none_or(|only| peer.name.contains(only.as_str())));

    let mut lent = Lent::of(&frames.trace(), usize::MAX, 1, native.headroom_bytes());
    let rounds = (arguments.packets as usize).div_ceil(frames.count());
    let mut figures: Vec<(&str, Vec<f64>)> = vec![("switch", Vec::new()), ("by hand", Vec::new())];
    figures.extend(peers.iter().map(|peer| (peer.name, Vec::new())));
    for _ in 0..arguments.runs {
        let (mut switch_ns, mut failed) = (0.0, Ok(()));
        for _ in 0..rounds {
            lent.restore();
            memory::lap_within(
                &mut native,
                &mut lent,
                LENT_FRAMES_MAX,
                || 0,
                |body| match processor_time(body) {
                    Ok(((), ns)) => switch_ns += ns,
                    Err(error) => failed = Err(error),
                },
            );
        }
        failed?;
        figures[0].1.push(switch_ns / (rounds * frames.count()) as f64);
        figures[1].1.push(by_hand(&mut limit, &frames, rounds)?);
        for (peer, (_, figures)) in peers.iter().zip(&mut figures[2..]) {
            figures.push(peer.packet_ns().map_err(|error| format!("{}: {error}", peer.name))?);
        }
    }
    print(arguments, &figures, &absent);
    Ok(())
}

/// The result of `body`, and the processor time of this thread for it, in nanoseconds.
fn processor_time<T>(body: impl FnOnce() -> T) -> Result<(T, f64), Errno> {
    let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from);
    let before = now()?;
    let given = body();
    Ok((given, (now()? - before).as_nanos() as f64))
}

/// Nanoseconds per packet. The frames are changed, so they are restored in each round, which is not measured.
fn by_hand(limit: &mut Limit, frames: &Frames, rounds: usize) -> Result<f64, Box<dyn Error>> {
    let (mut changed, mut spent_ns) = (frames.clone(), 0.0);
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        let mut failed = Ok(());
        limit.forward(&mut changed, LENT_FRAMES_MAX * BURSTS_AT_ONCE, |body| match processor_time(body) {
            Ok(((), ns)) => spent_ns += ns,
            Err(error) => failed = Err(error),
        })?;
        failed?;
    }
    Ok(spent_ns / (rounds * frames.count()) as f64)
}

/// The peers that are installed, and the names of those that are not.
fn peers(folder: &Path, routes: &Routes, frames: &Frames) -> Result<(Vec<Peer>, Vec<String>), Box<dyn Error>> {
    let source = match frames_library(folder, frames) {
        Ok(library) => Source { library, frames: folder.join(FRAMES) },
        Err(why) => return Ok((Vec::new(), vec![format!("testpmd, l3fwd, ip_pipeline and Open vSwitch ({why})")])),
    };
    let peer = |name, program: PathBuf, arguments: Vec<String>, threads| {
        let source = source.clone();
        let start = move || {
            let forwards = source.spawn(Command::new(&program).args(&arguments))?;
            Ok(RunningPeer { forwards, _beside: Vec::new() })
        };
        Peer { name, threads, start: Box::new(start) }
    };
    let environment = |cores: &str| -> Vec<String> {
        let words = format!("-l {cores} {} --", devices());
        words.split(' ').map(str::to_owned).collect()
    };
    let arguments = |cores: &str, own: &str| {
        let mut all = environment(cores);
        all.extend(own.split(' ').map(str::to_owned));
        all
    };
    let (mut there, mut absent) = (Vec::new(), Vec::new());
    if let Some(program) = installed("dpdk-testpmd") {
        let own = "--forward-mode=io --nb-cores=1 --auto-start --interactive --total-num-mbufs=65536";
        there.push(peer("testpmd", program, arguments("0,1", own), ""));
    } else {
        absent.push("testpmd (package dpdk-dev)".to_owned());
    }
    match l3fwd(folder, routes) {
        Ok(program) => {
            let rules = |family: &str| folder.join(family).display().to_string();
            let own = format!(
                "-p 3 --config=({SOURCE_PORT},0,1) --parse-ptype --rule_ipv4={} --rule_ipv6={}",
                rules("ipv4"),
                rules("ipv6")
            );
            there.push(peer("l3fwd", program, arguments("1", &own), ""));
        }
        Err(why) => absent.push(format!("l3fwd ({why})")),
    }
    match pipeline(folder, routes) {
        Ok(program) => {
            let own = format!("-s {}", folder.join(PIPELINE_SCRIPT).display());
            there.push(peer("ip_pipeline", program, arguments("0,1", &own), "rte-worker"));
        }
        Err(why) => absent.push(format!("ip_pipeline ({why})")),
    }
    match ovs::prepare(folder, routes) {
        Ok(ovs) => {
            let source = source.clone();
            there.push(Peer { name: "OVS", threads: ovs::THREADS, start: Box::new(move || ovs.start(&source)) });
        }
        Err(why) => absent.push(format!("Open vSwitch ({why})")),
    }
    Ok((there, absent))
}

/// The arguments of all DPDK processes: memory without large pages, a device with frames, and one that discards them.
fn devices() -> String {
    format!(
        "--no-huge -m 900 --no-pci --file-prefix {PREFIX} --vdev net_null0,size=60 --vdev net_null1,size=60,no-rx=1"
    )
}

/// DPDK numbers the devices in the order of their creation.
const SOURCE_PORT: u32 = 0;
const SINK_PORT: u32 = 1;

/// The file of the frames.
const FRAMES: &str = "frames";

/// Builds the library that gives peers their frames, and writes the frames.
fn frames_library(folder: &Path, frames: &Frames) -> Result<PathBuf, Box<dyn Error>> {
    fs::write(folder.join(FRAMES), &frames.bytes)?;
    let (source, library) = (folder.join("frames.c"), folder.join("frames.so"));
    fs::write(&source, include_str!("../peers/frames.c"))?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O3", "-march=native", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    compile(compiler.args(flags("--cflags")?))?;
    Ok(library)
}

/// The compiler flags for DPDK.
fn flags(which: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let output = Command::new("pkg-config").args([which, "libdpdk"]).output()?;
    if !output.status.success() {
        return Err("package libdpdk-dev".into());
    }
    Ok(String::from_utf8(output.stdout)?.split_whitespace().map(str::to_owned).collect())
}

fn compile(compiler: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = compiler.output()?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("it does not compile: {complaint}").into()) }
}

fn installed(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Builds `l3fwd` and writes its routes.
fn l3fwd(folder: &Path, routes: &Routes) -> Result<PathBuf, Box<dyn Error>> {
    let source = Path::new(EXAMPLES).join("l3fwd");
    if !source.is_dir() {
        return Err("package dpdk-doc".into());
    }
    let mut rules = String::new();
    for route in &routes.0 {
        let [a, b, c, d] = route.network.to_be_bytes();
        writeln!(rules, "R{a}.{b}.{c}.{d}/{} {SINK_PORT}", route.prefix_len)?;
    }
    fs::write(folder.join("ipv4"), rules)?;
    fs::write(folder.join("ipv6"), format!("R2001:0db8:0000:0000:0000:0000:0000:0000/32 {SINK_PORT}\n"))?;

    let own = folder.join("l3fwd");
    fs::create_dir(&own)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let text = fs::read_to_string(entry.path())?
            .replace("IPV4_L3FWD_LPM_MAX_RULES         1024", "IPV4_L3FWD_LPM_MAX_RULES 2097152")
            .replace(".offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM", ".offloads = 0");
        fs::write(own.join(entry.file_name()), text)?;
    }
    let files = "main.c l3fwd_lpm.c l3fwd_fib.c l3fwd_em.c l3fwd_event.c l3fwd_event_generic.c \
                 l3fwd_event_internal_port.c l3fwd_acl.c";
    let mut compiler = Command::new("cc");
    compiler.current_dir(&own).args(["-O3", "-march=native", "-w", "-o", "l3fwd", "-I"]);
    compiler.arg(Path::new(EXAMPLES).join("common")).args(flags("--cflags")?);
    compile(compiler.args(files.split_whitespace()).args(flags("--libs")?))?;
    Ok(own.join("l3fwd"))
}

/// The script that the pipeline runs when it starts.
const PIPELINE_SCRIPT: &str = "pipeline.cli";

/// Builds `ip_pipeline` and writes its script and its routes.
fn pipeline(folder: &Path, routes: &Routes) -> Result<PathBuf, Box<dyn Error>> {
    let source = Path::new(EXAMPLES).join("ip_pipeline");
    if !source.is_dir() {
        return Err("package dpdk-doc".into());
    }
    let rules_file = folder.join("pipeline.rules");
    let mut rules = String::new();
    for route in &routes.0 {
        let ([a, b, c, d], port) = (route.network.to_be_bytes(), route.port);
        let addresses = format!("02:00:00:00:01:{port:02x} 02:00:00:00:00:{port:02x}");
        let action = format!("action fwd port {SINK_PORT} encap ether {addresses} ttl dec");
        writeln!(rules, "match lpm ipv4 {a}.{b}.{c}.{d} {} {action}", route.prefix_len)?;
    }
    fs::write(&rules_file, rules)?;
    // Packets begin at byte 256 of a buffer: the IPv4 header is at 270, its destination at 286.
    let script = format!(
        "mempool POOL buffer 2304 pool 32K cache 256 cpu 0\n\
         link SOURCE dev net_null0 rxq 1 128 POOL txq 1 512 promiscuous on\n\
         link SINK dev net_null1 rxq 1 128 POOL txq 1 512 promiscuous on\n\
         table action profile ROUTE ipv4 offset 270 fwd encap ether ttl drop stats none\n\
         pipeline ROUTER period 10 offset_port_id 0 cpu 0\n\
         pipeline ROUTER port in bsz 32 link SOURCE rxq 0\n\
         pipeline ROUTER port out bsz 32 link SOURCE txq 0\n\
         pipeline ROUTER port out bsz 32 link SINK txq 0\n\
         pipeline ROUTER table match lpm ipv4 offset 286 size 2M action ROUTE\n\
         pipeline ROUTER port in 0 table 0\n\
         thread 1 pipeline ROUTER enable\n\
         pipeline ROUTER table 0 rule add match default action fwd drop\n\
         pipeline ROUTER table 0 rule add bulk {}\n",
        rules_file.display()
    );
    fs::write(folder.join(PIPELINE_SCRIPT), script)?;

    let program = folder.join("ip_pipeline");
    let mut compiler = Command::new("cc");
    compiler.args(["-O3", "-march=native", "-w", "-o"]).arg(&program);
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            compiler.arg(path);
        }
    }
    compile(compiler.args(flags("--cflags")?).args(flags("--libs")?))?;
    Ok(program)
}

/// A peer's process, which is ended when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The process normally ends on this signal; otherwise it is killed.
        let _gone = kill(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGINT);
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

impl Peer {
    /// The cost of a packet, in nanoseconds of processor time.
    fn packet_ns(&self) -> Result<f64, Box<dyn Error>> {
        let mut started = (self.start)()?;
        let telemetry = wait(&mut started.forwards)?;
        let spent = || spent(&started.forwards, self.threads);
        let (packets, before) = (received(&telemetry)?, spent()?);
        thread::sleep(SPAN);
        let (packets, spent) = (received(&telemetry)? - packets, spent()? - before);
        if packets == 0 {
            return Err("no packets flow".into());
        }
        Ok(spent.as_nanos() as f64 / packets as f64)
    }
}

/// Waits until packets flow. Returns the socket at which the peer reports their number.
fn wait(running: &mut Running) -> Result<OwnedFd, Box<dyn Error>> {
    let deadline = Instant::now() + START_MAX;
    while Instant::now() < deadline {
        if let Some(status) = running.0.try_wait()? {
            return Err(format!("it ended with {status}").into());
        }
        if let Ok(telemetry) = connect_telemetry()
            && received(&telemetry).is_ok_and(|packets| packets > 0)
        {
            return Ok(telemetry);
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err("no packets flow".into())
}

/// The telemetry socket of the DPDK processes.
fn connect_telemetry() -> Result<OwnedFd, Box<dyn Error>> {
    let path = format!("/run/dpdk/{PREFIX}/dpdk_telemetry.v2");
    let telemetry = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
    connect(telemetry.as_raw_fd(), &UnixAddr::new(path.as_str())?)?;
    // The first message describes the process.
    recv(telemetry.as_raw_fd(), &mut [0; 4096], MsgFlags::empty())?;
    Ok(telemetry)
}

/// Packets that the peer has received.
fn received(telemetry: &OwnedFd) -> Result<u64, Box<dyn Error>> {
    send(telemetry.as_raw_fd(), format!("/ethdev/stats,{SOURCE_PORT}").as_bytes(), MsgFlags::empty())?;
    let mut answer = [0; 16_384];
    let length = recv(telemetry.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let answer: Value = serde_json::from_slice(&answer[..length])?;
    answer["/ethdev/stats"]["ipackets"].as_u64().ok_or_else(|| "it does not report how many packets came".into())
}

/// The processor time of the process' threads whose names begin with this prefix.
fn spent(running: &Running, threads: &str) -> Result<Duration, Box<dyn Error>> {
    let mut spent = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{}/task", running.0.id()))? {
        let task = task?.path();
        if !fs::read_to_string(task.join("comm"))?.starts_with(threads) {
            continue;
        }
        let text = fs::read_to_string(task.join("schedstat"))?;
        spent += Duration::from_nanos(text.split_whitespace().next().unwrap_or_default().parse()?);
    }
    Ok(spent)
}

fn print(arguments: &Arguments, figures: &[(&str, Vec<f64>)], absent: &[String]) {
    let destinations = arguments.destinations;
    if arguments.json {
        let contestants: serde_json::Map<String, Value> =
            figures.iter().map(|(name, figures)| ((*name).to_owned(), json!(figures))).collect();
        println!(
            "{}",
            json!({
                "benchmark": "peers", "routes": arguments.routes, "destinations": destinations,
                "contestants_ns": contestants, "absent": absent,
            })
        );
        return;
    }
    println!("IPv4 router, {} routes, {destinations} destinations, 60-byte frames, one core each", arguments.routes);
    println!("processor time per packet, median of {} runs in turn (least to greatest)", arguments.runs);
    let switch_ns = median(&figures[0].1);
    for (name, figures) in figures {
        let (middle, (least, greatest)) = (median(figures), range(figures));
        let ratio = middle / switch_ns;
        println!("  {name:<11} {middle:>7.1} ns  ({least:.1} to {greatest:.1})  {ratio:.2} times the switch");
    }
    for name in absent {
        println!("not here: {name}");
    }
    println!("testpmd forwards without looking: its time is the drivers' part of the others'.");
}
