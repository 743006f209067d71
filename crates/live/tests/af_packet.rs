//! AF_PACKET drivers on real (virtual) interfaces, in namespaces of their own.
//!
//! Most tests put two drivers between two hosts as a plain wire, with every offload of the hosts left on: what a sender
//! leaves to its interface must come out as a wire would carry it.
#![allow(clippy::print_stdout, reason = "a test that fails shows how far it came")]

use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::poll::Poller;
use live::traffic::udp_frame;
use live::{CounterSnapshot, Driver, DriverError, StopFlag};
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, has_ipv6};

/// Two hosts, `a` at 10.9.0.1 and `b` at 10.9.0.2, connected through the namespace `switch` with interfaces `sa` and
/// `sb`; `None`, with a message, if the machine lacks a feature or one of the programs.
fn hosts(programs: &[&str]) -> Option<Network> {
    let mut network = match Network::new(programs) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    for namespace in ["a", "b", "switch"] {
        network.add(namespace);
    }
    network.wire(["a", "eth0"], ["switch", "sa"]);
    network.wire(["b", "eth0"], ["switch", "sb"]);
    for (host, number) in [("a", 1), ("b", 2)] {
        network.run(host, &format!("ip addr add 10.9.0.{number}/24 dev eth0"));
        if has_ipv6() {
            network.set_ipv6(host, "eth0", true);
            network.run(host, &format!("ip addr add fd09::{number}/64 dev eth0 nodad"));
        }
    }
    Some(network)
}

/// Carries frames between two interfaces until stopped, as a worker does; returns both ports' counters and the longest
/// frame seen.
fn carry(names: [&str; 2], options: &AfPacketOptions, stop: &StopFlag) -> ([CounterSnapshot; 2], usize) {
    let mut drivers: Vec<Box<dyn Driver>> =
        names.iter().map(|name| Box::new(AfPacketDriver::open(name, options).unwrap()) as Box<dyn Driver>).collect();
    let mut poller = Poller::new();
    let mut longest = 0;
    let mut stopping = false;
    loop {
        if stop.stopped() && !stopping {
            stopping = true;
            drivers.iter_mut().for_each(|driver| driver.stop_receiving());
        }
        let [first, second] = &mut drivers[..] else { unreachable!("two drivers") };
        let mut moved = carry_burst(first, second, &mut longest);
        moved += carry_burst(second, first, &mut longest);
        if stopping && drivers.iter().all(|driver| driver.exhausted()) {
            break;
        }
        if moved == 0 && !stopping {
            poller.wait(&mut drivers, &[], Duration::from_millis(20), &mut |_, error| panic!("{error}")).unwrap();
        }
    }
    let counters = [0, 1].map(|index| {
        drivers[index].finish().unwrap();
        drivers[index].housekeeping().unwrap();
        drivers[index].counters().snapshot()
    });
    (counters, longest)
}

fn carry_burst(from: &mut Box<dyn Driver>, to: &mut Box<dyn Driver>, longest: &mut usize) -> usize {
    let mut pass = |frame: &[u8], timestamp_ns| {
        *longest = (*longest).max(frame.len());
        to.transmit(frame, timestamp_ns).unwrap();
    };
    let moved = from.receive(64, &mut pass).unwrap();
    to.flush().unwrap();
    moved
}

/// Runs `body` while a wire of two drivers joins the hosts.
fn with_wire(network: &Network, options: &AfPacketOptions, body: impl FnOnce()) -> ([CounterSnapshot; 2], usize) {
    /// Stops the wire even if `body` panics, so that the test ends.
    struct StopOnDrop(StopFlag);
    impl Drop for StopOnDrop {
        fn drop(&mut self) {
            self.0.stop();
        }
    }
    let stop = StopFlag::new();
    thread::scope(|scope| {
        let wire = scope.spawn(|| network.inside("switch", || carry(["sa", "sb"], options, &stop)));
        {
            let _guard = StopOnDrop(stop.clone());
            body();
        }
        wire.join().unwrap()
    })
}

/// Sends 8 MiB of random bytes over TCP from `a` to `b` and compares their hashes.
fn tcp_transfer(network: &Network, family: &str, address: &str) {
    let receiver = network.start_python(
        "b",
        &format!(
            "import socket, hashlib\n\
             s = socket.socket(socket.{family}); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n\
             s.bind(('', 5001)); s.listen(); c, _ = s.accept(); h = hashlib.sha256()\n\
             while d := c.recv(1 << 20): h.update(d)\n\
             print(h.hexdigest())"
        ),
    );
    let sent = network.python(
        "a",
        &format!(
            "import socket, hashlib, random, time\n\
             data = random.Random(5).randbytes(8 << 20)\n\
             for attempt in range(100):\n\
             \x20   try: s = socket.create_connection(('{address}', 5001), 5); break\n\
             \x20   except ConnectionRefusedError: time.sleep(0.1)\n\
             s.sendall(data); s.close(); print(hashlib.sha256(data).hexdigest())"
        ),
    );
    assert_eq!(sent, receiver.wait(), "the bytes sent and received");
}

fn option_sets() -> [AfPacketOptions; 3] {
    let ring = AfPacketOptions::default();
    [AfPacketOptions { tx_ring: false, ..ring.clone() }, AfPacketOptions { qdisc_bypass: true, ..ring.clone() }, ring]
}

#[test]
fn hosts_reach_each_other_and_tcp_arrives_whole() {
    let Some(network) = hosts(&["ping", "python3"]) else { return };
    for options in option_sets() {
        let (counters, longest) = with_wire(&network, &options, || {
            network.run("a", "ping -q -c 20 -i 0.01 -w 10 10.9.0.2");
            network.run("a", "ping -q -c 20 -i 0.01 -w 10 -s 1472 -M do 10.9.0.2");
            tcp_transfer(&network, "AF_INET", "10.9.0.2");
            if has_ipv6() {
                tcp_transfer(&network, "AF_INET6", "fd09::2");
            }
        });
        assert!(longest <= 1514, "a frame of {longest} bytes on a wire with an MTU of 1500");
        for port in counters {
            assert_eq!((port.rx_dropped(), port.tx_dropped()), (0, 0), "{port:?}");
        }
        // 8 MiB are at least 5,500 frames of an MTU of 1500: the segments were cut.
        assert!(counters[0].rx_packets > 5_500, "{counters:?}");
        assert_eq!(counters[0].rx_packets, counters[1].tx_packets);
        assert!(counters[0].rx_segments_cut > 100, "the hosts' offloads were on: {counters:?}");
    }
}

#[test]
fn jumbo_frames_pass_where_the_interfaces_take_them() {
    let Some(network) = hosts(&["ping", "python3"]) else { return };
    for (namespace, interface) in [("a", "eth0"), ("b", "eth0"), ("switch", "sa"), ("switch", "sb")] {
        network.run(namespace, &format!("ip link set {interface} mtu 9000"));
    }
    let (counters, longest) = with_wire(&network, &AfPacketOptions::default(), || {
        network.run("a", "ping -q -c 3 -i 0.01 -w 10 -s 8972 -M do 10.9.0.2");
        tcp_transfer(&network, "AF_INET", "10.9.0.2");
    });
    assert_eq!(longest, 9014);
    assert_eq!((counters[0].rx_dropped(), counters[1].tx_dropped()), (0, 0), "{counters:?}");
}

#[test]
fn iperf3_runs_at_full_speed_without_drops_on_the_wire() {
    let Some(network) = hosts(&["iperf3"]) else { return };
    let (counters, _) = with_wire(&network, &AfPacketOptions::default(), || {
        let server = network.start("b", "iperf3 -s -1");
        wait_for_listener(&network, "b", 5201);
        println!("{}", network.run("a", "iperf3 -c 10.9.0.2 -t 1"));
        server.wait();
    });
    assert_eq!(counters[0].rx_dropped_offload + counters[1].rx_dropped_offload, 0);
    // If the worker shares its processor, the hosts may be faster than it for a moment; TCP then backs off. Received
    // frames must be sent.
    assert_eq!(counters[0].rx_packets, counters[1].tx_packets);
}

#[test]
fn a_udp_flood_passes_or_is_counted() {
    let Some(network) = hosts(&["iperf3"]) else { return };
    let (counters, _) = with_wire(&network, &AfPacketOptions::default(), || {
        let server = network.start("b", "iperf3 -s -1");
        wait_for_listener(&network, "b", 5201);
        println!("{}", network.run("a", "iperf3 -u -c 10.9.0.2 -t 1 -b 0 -l 1400"));
        server.wait();
    });
    let [first, second] = counters;
    assert!(first.rx_packets > 1000, "{first:?}");
    assert_eq!(first.rx_packets, second.tx_packets + second.tx_dropped(), "what was taken in went out or is counted");
    assert_eq!(first.rx_dropped_offload + second.rx_dropped_offload, 0);
}

fn wait_for_listener(network: &Network, host: &str, port: u16) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !network.run(host, "ss -Hltn").contains(&format!(":{port} ")) {
        assert!(Instant::now() < deadline, "nothing listens on port {port}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn checksums_on_the_wire_are_right() {
    let Some(network) = hosts(&["tcpdump", "tshark", "python3"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("b.pcap");
    with_wire(&network, &AfPacketOptions::default(), || {
        let tcpdump =
            network.start("switch", &format!("tcpdump -Z root -i sb -Q out -U -w {} -c 60", capture.display()));
        let deadline = Instant::now() + Duration::from_secs(10);
        while std::fs::metadata(&capture).map_or(0, |metadata| metadata.len()) < 24 {
            assert!(Instant::now() < deadline, "tcpdump has not started");
            thread::sleep(Duration::from_millis(20));
        }
        tcp_transfer(&network, "AF_INET", "10.9.0.2");
        udp_segments(&network);
        tcpdump.wait();
    });
    let checks = "-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE";
    let fields = "-T fields -e tcp.checksum.status -e ip.checksum.status";
    let statuses = network.run("switch", &format!("tshark -r {} {checks} -Y tcp {fields}", capture.display()));
    let statuses: Vec<&str> = statuses.lines().collect();
    assert!(statuses.len() > 40, "{statuses:?}");
    assert!(statuses.iter().all(|line| *line == "1\t1"), "1 is good: {statuses:?}");
}

/// Sends UDP datagrams that the kernel is to cut (`UDP_SEGMENT`) from `a`, and checks that `b` gets them.
fn udp_segments(network: &Network) {
    let receiver = network.start_python(
        "b",
        "import socket\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10); s.bind(('', 5002))\n\
         print([len(s.recv(65536)) for _ in range(11)])",
    );
    let deadline = Instant::now() + Duration::from_secs(10);
    while !network.run("b", "ss -Hlun").contains(":5002 ") {
        assert!(Instant::now() < deadline, "nothing listens");
        thread::sleep(Duration::from_millis(20));
    }
    network.python(
        "a",
        "import socket\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.IPPROTO_UDP, 103, 1000)\n\
         s.sendto(bytes(10500), ('10.9.0.2', 5002))",
    );
    let expected = format!("[{}, 500]", ["1000"; 10].join(", "));
    assert_eq!(receiver.wait().trim(), expected);
}

#[test]
fn udp_segments_arrive_as_the_datagrams_that_were_meant() {
    let Some(network) = hosts(&["python3"]) else { return };
    with_wire(&network, &AfPacketOptions::default(), || udp_segments(&network));
}

#[test]
fn vlan_tags_survive() {
    let Some(network) = hosts(&[]) else { return };
    network.inside("switch", || {
        let options = AfPacketOptions::default();
        let mut sender = network.inside("a", || AfPacketDriver::open("eth0", &options).unwrap());
        let mut receiver = AfPacketDriver::open("sa", &options).unwrap();
        let frame = |tags: &[u8]| [&[0; 12][..], tags, &[0x88, 0xb5], &(0..100).collect::<Vec<u8>>()].concat();
        let sent = [
            frame(&[]),
            frame(&[0x81, 0, 0xe0, 7]),
            frame(&[0x88, 0xa8, 0, 9]),
            frame(&[0x81, 0, 0, 1, 0x81, 0, 0x20, 2]),
            frame(&[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7]),
        ];
        for frame in &sent {
            sender.transmit(frame, 0).unwrap();
        }
        sender.finish().unwrap();
        receiver.stop_receiving();
        let mut received = Vec::new();
        receiver.receive(usize::MAX, &mut |frame, _| received.push(frame.to_vec())).unwrap();
        received.retain(|frame| frame.ends_with(&[97, 98, 99]));
        assert_eq!(received, sent);
    });
}

#[test]
fn what_is_in_the_ring_is_delivered_after_the_stop() {
    let Some(network) = hosts(&["python3"]) else { return };
    network.inside("switch", || {
        let mut driver = AfPacketDriver::open("sa", &AfPacketOptions::default()).unwrap();
        let send = "import socket\n\
                    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth0', 0))\n\
                    for n in range(500): s.send(bytes(12) + b'\\x88\\xb5' + n.to_bytes(2, 'big') + bytes(50))";
        network.python("a", send);
        driver.stop_receiving();
        network.python("a", send);
        let mut numbers = Vec::new();
        while !driver.exhausted() {
            driver
                .receive(64, &mut |frame, timestamp_ns| {
                    assert!(timestamp_ns > 1_500_000_000_000_000_000, "a time of this century");
                    if frame[12..14] == [0x88, 0xb5] {
                        numbers.push(u16::from_be_bytes([frame[14], frame[15]]));
                    }
                })
                .unwrap();
        }
        assert_eq!(numbers, (0..500).collect::<Vec<u16>>(), "all of before the stop, none of after, in order");
    });
}

#[test]
fn a_full_ring_counts_what_it_could_not_take() {
    let Some(network) = hosts(&["python3"]) else { return };
    network.inside("switch", || {
        let options = AfPacketOptions { rx_ring_bytes: 128 << 10, ..AfPacketOptions::default() };
        let mut driver = AfPacketDriver::open("sa", &options).unwrap();
        let send = "import socket\n\
                    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth0', 0))\n\
                    for n in range(300): s.send(bytes(12) + b'\\x88\\xb5' + bytes(50))";
        network.python("a", send);
        driver.stop_receiving();
        driver.receive(usize::MAX, &mut |_, _| ()).unwrap();
        driver.housekeeping().unwrap();
        let counters = driver.counters().snapshot();
        assert!(counters.rx_packets >= 60 && counters.rx_dropped_no_room >= 200, "{counters:?}");
        assert!(counters.rx_packets + counters.rx_dropped_no_room >= 300, "{counters:?}");
    });
}

#[test]
fn frames_that_the_interface_cannot_take_are_dropped_and_counted() {
    let Some(network) = hosts(&[]) else { return };
    network.inside("switch", || {
        for options in option_sets() {
            let mut driver = AfPacketDriver::open("sa", &options).unwrap();
            assert_eq!(driver.frame_bytes_max(), 1514);
            let mut tagged = vec![0; 1518];
            tagged[12] = 0x81;
            for frame in [&[0; 1514][..], &[0; 1515], &tagged, &[0; 13], &[0; 100_000]] {
                driver.transmit(frame, 0).unwrap();
            }
            driver.finish().unwrap();
            let counters = driver.counters().snapshot();
            assert_eq!((counters.tx_packets, counters.tx_bytes), (2, 1514 + 1518), "{counters:?}");
            assert_eq!((counters.tx_dropped_too_long, counters.tx_dropped_too_short), (2, 1));
        }
    });
}

#[test]
fn a_burst_longer_than_the_ring_leaves_whole() {
    let Some(network) = hosts(&[]) else { return };
    network.inside("switch", || {
        for options in option_sets() {
            let options = AfPacketOptions { tx_ring_bytes: 128 << 10, ..options };
            let mut receiver =
                network.inside("a", || AfPacketDriver::open("eth0", &AfPacketOptions::default()).unwrap());
            let mut driver = AfPacketDriver::open("sa", &options).unwrap();
            for number in 0..1000u16 {
                let frame = [&[0; 12][..], &[0x88, 0xb5], &number.to_be_bytes(), &[0; 50]].concat();
                driver.transmit(&frame, 0).unwrap();
            }
            driver.finish().unwrap();
            receiver.stop_receiving();
            let mut numbers = Vec::new();
            receiver
                .receive(usize::MAX, &mut |frame, _| {
                    if frame[12..14] == [0x88, 0xb5] {
                        numbers.push(u16::from_be_bytes([frame[14], frame[15]]));
                    }
                })
                .unwrap();
            assert_eq!(numbers, (0..1000).collect::<Vec<u16>>(), "{options:?}: {:?}", driver.counters().snapshot());
        }
    });
}

#[test]
fn a_link_that_goes_down_costs_packets_but_not_the_port() {
    let Some(network) = hosts(&["python3"]) else { return };
    network.inside("switch", || {
        for options in option_sets() {
            let mut drivers: [Box<dyn Driver>; 1] = [Box::new(AfPacketDriver::open("sa", &options).unwrap())];
            let mut poller = Poller::new();
            network.run("switch", "ip link set sa down");
            for _ in 0..5 {
                drivers[0].transmit(&[0; 60], 0).unwrap();
            }
            drivers[0].flush().unwrap();
            poller.wait(&mut drivers, &[], Duration::from_millis(10), &mut |_, error| panic!("{error}")).unwrap();
            assert_eq!(drivers[0].counters().snapshot().tx_dropped_link_down, 5);
            // A frame in transit may wake the worker once more; the error would do so every time.
            let is_quiet = (0..5).any(|_| {
                let start = Instant::now();
                poller.wait(&mut drivers, &[], Duration::from_millis(50), &mut |_, error| panic!("{error}")).unwrap();
                let waited = start.elapsed();
                drivers[0].receive(usize::MAX, &mut |_, _| ()).unwrap();
                waited >= Duration::from_millis(40)
            });
            assert!(is_quiet, "the error is gone and no longer wakes the worker");

            network.run("switch", "ip link set sa up");
            let mut peer = network.inside("a", || AfPacketDriver::open("eth0", &AfPacketOptions::default()).unwrap());
            drivers[0].transmit(&[0xaa; 60], 0).unwrap();
            drivers[0].finish().unwrap();
            assert_eq!(drivers[0].counters().snapshot().tx_packets, 1);
            let mut arrived = 0;
            peer.receive(usize::MAX, &mut |frame, _| arrived += usize::from(frame == [0xaa; 60])).unwrap();
            assert_eq!(arrived, 1, "sending resumes once the link is up");
            network.python("a", "import socket; s = socket.socket(17, 3); s.bind(('eth0', 0)); s.send(bytes(60))");
            let mut count = 0;
            drivers[0].receive(usize::MAX, &mut |_, _| count += 1).unwrap();
            assert!(count > 0, "reception resumes once the link is up");
        }
    });
}

#[test]
fn a_port_knows_whether_it_has_a_link() {
    let Some(network) = hosts(&[]) else { return };
    let driver = network.inside("switch", || AfPacketDriver::open("sa", &AfPacketOptions::default()).unwrap());
    // The driver's requests are made where its interface is, not where this thread is. The kernel takes up to a
    // second to report a link.
    let soon = |has_link: bool| {
        let start = Instant::now();
        while driver.has_link() != has_link {
            assert!(start.elapsed() < Duration::from_secs(20), "the link is {}", !has_link);
            thread::sleep(Duration::from_millis(20));
        }
    };
    soon(true);
    network.run("a", "ip link set eth0 down");
    soon(false);
    network.run("a", "ip link set eth0 up");
    soon(true);
    network.run("switch", "ip link set sa down");
    soon(false);
    network.run("switch", "ip link set sa up");
    soon(true);
    network.run("switch", "ip link del sa");
    soon(false);
}

#[test]
fn an_interface_that_is_removed_ends_its_port() {
    let Some(network) = hosts(&[]) else { return };
    network.inside("switch", || {
        let mut drivers: [Box<dyn Driver>; 1] =
            [Box::new(AfPacketDriver::open("sa", &AfPacketOptions::default()).unwrap())];
        network.run("switch", "ip link del sa");
        let mut gone = None;
        Poller::new()
            .wait(&mut drivers, &[], Duration::from_secs(5), &mut |index, error| gone = Some((index, error)))
            .unwrap();
        assert!(matches!(&gone, Some((0, DriverError::InterfaceGone { name })) if name == "sa"), "{gone:?}");
        drivers[0].receive(usize::MAX, &mut |_, _| ()).unwrap();
        assert!(drivers[0].exhausted());
        drivers[0].transmit(&[0; 60], 0).unwrap();
        drivers[0].flush().unwrap();
        drivers[0].stop_receiving();
        drivers[0].finish().unwrap();
        assert_eq!(drivers[0].counters().snapshot().tx_dropped_link_down, 1);
    });
}

#[test]
fn an_interface_that_is_down_is_refused_with_advice() {
    let Some(network) = hosts(&[]) else { return };
    network.run("switch", "ip link set sa down");
    let message =
        network.inside("switch", || AfPacketDriver::open("sa", &AfPacketOptions::default()).unwrap_err().to_string());
    assert_eq!(message, "interface `sa` is down; bring it up with `ip link set sa up`");
    let message =
        network.inside("switch", || AfPacketDriver::open("eth7", &AfPacketOptions::default()).unwrap_err().to_string());
    assert_eq!(message, "no interface is called `eth7`; there are: lo, sa, sb");
}

#[test]
fn without_permission_the_error_names_what_is_needed() {
    match AfPacketDriver::open("lo", &AfPacketOptions::default()) {
        Ok(_) => testkit::skip("needs a user without CAP_NET_RAW"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("no permission to open interface `lo`: "), "{message}");
            assert!(message.contains("CAP_NET_RAW") && message.contains("root"), "{message}");
        }
    }
}

#[test]
fn the_queues_of_an_interface_share_its_flows() {
    const FLOWS: u32 = 40;
    const FRAMES: u32 = 25;
    let Some(network) = hosts(&[]) else { return };
    let open = |namespace, name, queues| {
        let options = AfPacketOptions { queues, ..AfPacketOptions::default() };
        network.inside(namespace, move || AfPacketDriver::open(name, &options).unwrap())
    };
    let (mut sender, mut first) = (open("a", "eth0", 1), open("switch", "sa", 3));
    let counters = std::sync::Arc::clone(first.counters());
    let mut queues = first.take_queues();
    queues.insert(0, Box::new(first));
    assert_eq!(queues.len(), 3);
    let mut received: Vec<Vec<(u32, u32)>> = vec![Vec::new(); 3];
    let word = |frame: &[u8], at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
    let start = Instant::now();
    let mut sent = 0;
    while received.iter().map(Vec::len).sum::<usize>() < (FLOWS * FRAMES) as usize {
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", received.iter().map(Vec::len).collect::<Vec<_>>());
        if sent < FRAMES {
            for flow in 0..FLOWS {
                sender.transmit(&udp_frame(0x0A63_0000 + flow, 64, sent), 0).unwrap();
            }
            sender.flush().unwrap();
            sent += 1;
        }
        for (queue, into) in queues.iter_mut().zip(&mut received) {
            let mut take = |frame: &[u8], _| {
                if frame.len() == 60 && frame[23] == 17 {
                    into.push((word(frame, 30), word(frame, 42)));
                }
            };
            queue.receive(64, &mut take).unwrap();
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for frames in &received {
        let mut numbers = std::collections::BTreeMap::<u32, Vec<u32>>::new();
        frames.iter().for_each(|(flow, number)| numbers.entry(*flow).or_default().push(*number));
        for (flow, numbers) in numbers {
            assert!(seen.insert(flow), "a flow came in two queues");
            assert_eq!(numbers, (0..FRAMES).collect::<Vec<_>>(), "in order, each once");
        }
    }
    assert_eq!(seen.len(), FLOWS as usize);
    assert!(received.iter().filter(|frames| !frames.is_empty()).count() > 1, "the kernel spreads them");
    assert!(counters.snapshot().rx_packets >= u64::from(FLOWS * FRAMES));
}
