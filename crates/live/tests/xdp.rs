//! Features of AF_XDP ports beyond those of every driver: hosts' offloads, several queues, tags kept beside frames,
//! cleanup when a process ends, and error messages.
#![allow(clippy::print_stdout, reason = "the process that holds an interface reports when it does")]

use live::xdp::{Attach, Copying, XdpDriver, XdpOptions};
use live::{Driver, DriverError};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::Network;

/// A host `a` with `eth0` (10.9.0.1) whose other end is `sa` in the namespace `switch`, with this many queues each.
fn host(programs: &[&str], queues: u32) -> Option<Network> {
    let mut network = match Network::new(programs) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    network.add("a");
    network.add("switch");
    let (count, peer) = (format!("numrxqueues {queues} numtxqueues {queues}"), network.full_name("switch"));
    network.run("a", &format!("ip link add eth0 {count} type veth peer name sa {count} netns {peer}"));
    for (namespace, name) in [("a", "eth0"), ("switch", "sa")] {
        network.set_ipv6(namespace, name, false);
        network.run(namespace, &format!("ip link set {name} up"));
    }
    network.run("a", "ip addr add 10.9.0.1/24 dev eth0");
    network.run("a", "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0");
    Some(network)
}

fn open(network: &Network, options: &XdpOptions) -> Result<XdpDriver, DriverError> {
    network.inside("switch", || XdpDriver::open("sa", options))
}

/// The frames that are delivered until `wanted` of them satisfy the condition.
fn receive(driver: &mut XdpDriver, wanted: usize, mut is_wanted: impl FnMut(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let start = Instant::now();
    while frames.len() < wanted {
        assert!(start.elapsed() < Duration::from_secs(10), "{} of {wanted} frames came", frames.len());
        driver.receive(64, &mut |frame, _| frames.extend(is_wanted(frame).then(|| frame.to_vec()))).unwrap();
    }
    frames
}

/// The Internet checksum of the transport part of an IPv4 frame, which is 0 if it is correct.
fn transport_sum(frame: &[u8]) -> u16 {
    let header = 14 + usize::from(frame[14] & 15) * 4;
    let end = 14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    let transport = &frame[header..end];
    let pseudo = [&frame[26..34], &[0, frame[23]], &(transport.len() as u16).to_be_bytes(), transport].concat();
    live::offload::checksum(0, &pseudo)
}

const SEND: &str = "import socket\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.9.0.1', 4000))\n\
    for n in range(200): s.sendto(bytes([n]) * (n + 1), ('10.9.0.2', 4001))\n\
    t = socket.socket(); t.setblocking(False)\n\
    try: t.connect(('10.9.0.2', 4002))\n\
    except BlockingIOError: pass\n";

#[test]
fn checksums_that_a_host_leaves_to_hardware_are_completed() {
    let Some(network) = host(&["python3"], 1) else { return };
    for attach in [Attach::Native, Attach::Generic] {
        let mut driver = open(&network, &XdpOptions { attach, ..XdpOptions::default() }).unwrap();
        network.python("a", SEND);
        let frames = receive(&mut driver, 201, |frame| frame[12..14] == [8, 0]);
        for frame in &frames {
            assert_eq!(transport_sum(frame), 0, "{attach:?}: {frame:02x?}");
        }
        assert_eq!(frames.iter().filter(|frame| frame[23] == 6).count(), 1, "a TCP connection was requested");
    }
}

#[test]
fn each_queue_is_a_driver_of_its_own_and_all_count_as_the_port() {
    let Some(network) = host(&["python3"], 2) else { return };
    let mut driver = open(&network, &XdpOptions::default()).unwrap();
    assert!(driver.remarks()[0].ends_with("2 queues"), "{:?}", driver.remarks());
    let mut queues = driver.take_queues();
    assert!(queues.len() == 1 && driver.take_queues().is_empty());
    let mut descriptors = Vec::new();
    driver.wait_on(&mut descriptors);
    queues[0].wait_on(&mut descriptors);
    assert_eq!(descriptors.len(), 2);
    // The interface distributes flows over its queues.
    let send = "import socket\n\
                for n in range(400):\n\
                \x20   s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.9.0.1', 5000 + n))\n\
                \x20   s.sendto(n.to_bytes(2, 'big'), ('10.9.0.2', 4001)); s.close()\n";
    network.python("a", send);
    let (mut numbers, start) = (Vec::new(), Instant::now());
    while numbers.len() < 400 {
        assert!(start.elapsed() < Duration::from_secs(10), "{} of 400 frames came", numbers.len());
        for queue in [&mut driver as &mut dyn Driver, &mut *queues[0]] {
            let mut note = |frame: &[u8], _| {
                let is_ours = frame[12..14] == [8, 0];
                numbers.extend(is_ours.then(|| u16::from_be_bytes([frame[42], frame[43]])));
            };
            queue.receive(64, &mut note).unwrap();
        }
    }
    let of_queue = queues[0].counters().snapshot().rx_packets;
    assert!((1..400).contains(&of_queue), "{of_queue} of 400 frames came on the second queue");
    assert!(driver.counters().snapshot().rx_packets >= 400);
    numbers.sort_unstable();
    assert_eq!(numbers, (0..400).collect::<Vec<u16>>(), "each once");
    drop((driver, queues));

    let driver = open(&network, &XdpOptions { queues: Some(1), ..XdpOptions::default() }).unwrap();
    assert!(driver.remarks().iter().any(|remark| remark.contains("of 1 of the 2 queues")), "{:?}", driver.remarks());
    drop(driver);
    let message = open(&network, &XdpOptions { queues: Some(3), ..XdpOptions::default() }).unwrap_err().to_string();
    assert_eq!(
        message,
        "interface `sa`: it has 2 receive queues, not 3; leave `queues` out to use all, or configure more with `ethtool \
         -L sa`"
    );
}

/// Frames with tags come from another host through a bridge, which keeps a tag beside its frame.
#[test]
fn a_tag_kept_beside_the_frame_is_put_back() {
    let Some(mut network) = host(&["python3"], 1) else { return };
    network.add("b");
    network.wire(["b", "eth0"], ["a", "x0"]);
    if let Err(reason) = network.try_run("a", "ip link add br0 type bridge mcast_snooping 0") {
        testkit::skip(format!("needs a bridge: {reason}"));
        return;
    }
    for line in ["ip link set eth0 master br0", "ip link set x0 master br0", "ip link set br0 up"] {
        network.run("a", line);
    }
    let mut driver = open(&network, &XdpOptions { attach: Attach::Native, ..XdpOptions::default() }).unwrap();
    let send = "import socket\n\
                s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth0', 0))\n\
                for n in range(200):\n\
                \x20   tag = [b'', b'\\x81\\0\\xe0\\x07', b'\\x88\\xa8\\0\\x09\\x81\\0\\x20\\x02'][n % 3]\n\
                \x20   s.send(b'\\xff' * 6 + bytes([2, 0, 0, 0, 0, 9]) + tag + b'\\x88\\xb5' + bytes([n] * 60))\n";
    // A bridge's port takes a moment until it forwards.
    let start = Instant::now();
    let mut frames = Vec::new();
    while frames.len() < 200 {
        assert!(start.elapsed() < Duration::from_secs(20), "the bridge forwards {} frames of 200", frames.len());
        frames.clear();
        network.python("b", send);
        thread::sleep(Duration::from_millis(50));
        let ours = |frame: &[u8]| frame[6..12] == [2, 0, 0, 0, 0, 9];
        while driver.receive(64, &mut |frame, _| frames.extend(ours(frame).then(|| frame.to_vec()))).unwrap() > 0 {}
    }
    for (number, frame) in frames.iter().enumerate() {
        let tag: &[u8] = match number % 3 {
            0 => &[],
            1 => &[0x81, 0, 0xe0, 7],
            _ => &[0x88, 0xa8, 0, 9, 0x81, 0, 0x20, 2],
        };
        assert_eq!(&frame[12..], [tag, &[0x88, 0xb5], &[number as u8; 60]].concat(), "frame {number}");
    }
}

#[test]
fn an_interface_serves_one_port_and_is_free_after_it() {
    let Some(network) = host(&[], 1) else { return };
    let driver = open(&network, &XdpOptions::default()).unwrap();
    assert!(network.run("switch", "ip -d link show sa").contains("xdp"), "the program is on the interface");
    let message = open(&network, &XdpOptions::default()).unwrap_err().to_string();
    assert_eq!(
        message,
        "interface `sa`: another XDP program runs on it; end the program that put it there, or take it off with `ip \
         link set dev sa xdp off`"
    );
    drop(driver);
    assert!(!network.run("switch", "ip -d link show sa").contains("xdp"), "the program is gone");
    assert!(!network.run("switch", "ip -d link show sa").contains("PROMISC"));
    open(&network, &XdpOptions::default()).unwrap();
}

/// A child process has copies of all descriptors until it executes another program, and for these the kernel keeps
/// the queue busy. The program leaves the interface with the driver all the same, and the next owner of the interface
/// gets the queue when the last copy is closed.
#[test]
#[allow(unsafe_code, reason = "a process is held where it is a copy of this one")]
fn an_interface_is_free_again_though_a_program_is_started_meanwhile() {
    let Some(network) = host(&[], 1) else { return };
    let driver = open(&network, &XdpOptions::default()).unwrap();
    let (mut copied, copy) = std::io::pipe().unwrap();
    let (held, mut release) = std::io::pipe().unwrap();
    let mut command = std::process::Command::new("true");
    let wait = move || {
        (&copy).write_all(b".")?;
        let mut released = libc::pollfd { fd: held.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor is looked at, where the pointer leads. A test that failed holds nothing for long.
        unsafe { libc::poll(&raw mut released, 1, HELD_MS_MAX) };
        Ok(())
    };
    // SAFETY: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(wait) };
    let has_program = || network.run("switch", "ip -d link show sa").contains("xdp");
    thread::scope(|scope| {
        let started = scope.spawn(|| command.status().unwrap());
        copied.read_exact(&mut [0]).unwrap();
        drop(driver);
        assert!(!has_program(), "the program is gone with the driver");
        let again = scope.spawn(|| open(&network, &XdpOptions::default()));
        let start = Instant::now();
        while !has_program() {
            assert!(start.elapsed() < Duration::from_secs(10), "the program of the second driver does not come");
        }
        // All but the queue is available; now the copy is closed.
        release.write_all(b".").unwrap();
        assert!(started.join().unwrap().success());
        again.join().unwrap().unwrap();
    });
}

/// How long a process may be held, in milliseconds.
const HELD_MS_MAX: i32 = 20_000;

/// Where the environment names it: holds the interface `sa` until it is killed. It is a test so that this program can
/// run it as another process.
#[test]
fn hold_an_interface() {
    if std::env::var_os(HOLD).is_some() {
        let _driver = XdpDriver::open("sa", &XdpOptions::default()).unwrap();
        println!("{HOLD}={}", std::process::id());
        thread::sleep(Duration::from_secs(60));
    }
}

const HOLD: &str = "WIRESPEED_TEST_HOLD";

#[test]
fn a_process_that_is_killed_leaves_nothing_on_the_interface() {
    let Some(network) = host(&[], 1) else { return };
    let program = std::env::current_exe().unwrap();
    let mut holder = network
        .command("switch", program.to_str().unwrap())
        .args(["--exact", "xdp::hold_an_interface", "--nocapture"])
        .env(HOLD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines().map(Result::unwrap);
    let id = lines.filter_map(|line| line.split_once('=').map(|(_, id)| id.to_owned())).next().unwrap();
    let has_program = || network.run("switch", "ip -d link show sa").contains("xdp");
    assert!(has_program());
    network.run("switch", &format!("kill -KILL {id}"));
    holder.wait().unwrap();
    let start = Instant::now();
    while has_program() {
        assert!(start.elapsed() < Duration::from_secs(10), "the program is still on the interface");
    }
    open(&network, &XdpOptions::default()).unwrap();
}

#[test]
fn what_the_interface_cannot_do_is_said() {
    let Some(network) = host(&[], 1) else { return };
    let message =
        open(&network, &XdpOptions { copying: Copying::ZeroCopy, ..XdpOptions::default() }).unwrap_err().to_string();
    assert!(
        message.starts_with("interface `sa`: its driver does not support zero copy (")
            && message.ends_with("; leave `mode=zero-copy` out"),
        "{message}"
    );
    let driver = open(&network, &XdpOptions { attach: Attach::Generic, ..XdpOptions::default() }).unwrap();
    assert_eq!(
        driver.remarks()[0],
        "interface `sa` through AF_XDP: program in the kernel (generic), frames are copied by the kernel, 1 queue"
    );
    assert!(driver.remarks()[1].ends_with("run `ethtool -K sa rxvlan off`"), "{:?}", driver.remarks());
    drop(driver);
    network.run("switch", "ip link set sa down");
    let message = open(&network, &XdpOptions::default()).unwrap_err().to_string();
    assert_eq!(message, "interface `sa` is down; bring it up with `ip link set sa up`");
}
