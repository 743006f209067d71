//! The conformance rules.

use crate::beds::{Bed, Output};
use live::driver::Arrival;
use live::poll::Poller;
use live::store::Store;
use live::{CounterSnapshot, Driver};
use std::thread;
use std::time::{Duration, Instant};

/// How long frames may be in transit.
const PATIENCE: Duration = Duration::from_secs(10);
/// An EtherType that no system sends by itself.
const ETHERTYPE: [u8; 2] = [0x88, 0xb5];

type Law = fn(&mut dyn Bed, usize);

/// Every law, each with the longest frame that the bed carries.
pub const ALL: [(&str, Law); 10] = [
    ("frames of every size pass both ways", frames_of_every_size_pass_both_ways),
    ("bursts keep their order", bursts_keep_their_order),
    ("tags and strange addresses stay", tags_and_strange_addresses_stay),
    ("what cannot be sent is counted", what_cannot_be_sent_is_counted),
    ("a flood is delivered or counted", a_flood_is_delivered_or_counted),
    ("what was there before the stop is delivered", what_was_there_before_the_stop_is_delivered),
    ("waiting ends with a frame", waiting_ends_with_a_frame),
    ("a port can be opened again", a_port_can_be_opened_again),
    ("a link may go and come back", a_link_may_go_and_come_back),
    ("an interface that is removed ends its port", an_interface_that_is_removed_ends_its_port),
];

/// A frame of a length that begins with made-up addresses, and whose content has its number.
fn frame(number: usize, length: usize) -> Vec<u8> {
    let mut frame = [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ETHERTYPE].concat();
    frame.extend(number.to_be_bytes());
    frame.extend((frame.len()..length).map(|at| (at * 31 + number * 7) as u8));
    frame.truncate(length);
    frame
}

fn is_ours(frame: &[u8]) -> bool {
    let at = if frame.get(12..14) == Some(&[0x81, 0]) { 16 } else { 12 };
    frame.get(at..at + 2) == Some(&ETHERTYPE)
}

/// The frames that are delivered until there are this many of ours, within the time limit: alternately one by one,
/// and lent together.
fn receive(driver: &mut dyn Driver, count: usize) -> Vec<Vec<u8>> {
    let (mut frames, mut store) = (Vec::new(), Store::default());
    let start = Instant::now();
    let mut lends = count.is_multiple_of(2);
    while frames.len() < count && start.elapsed() < PATIENCE && !driver.exhausted() {
        lends = !lends;
        let received = match lends {
            false => driver.receive(64, &mut |frame, _| frames.push(frame.to_vec())).unwrap(),
            true => lent(driver, &mut store, &mut frames),
        };
        if received == 0 {
            driver.flush().unwrap();
            thread::sleep(Duration::from_micros(200));
        }
        frames.retain(|frame| is_ours(frame));
    }
    frames
}

/// Adds frames that the driver lends, all of which were received where and when the driver reports.
fn lent(driver: &mut dyn Driver, store: &mut Store, frames: &mut Vec<Vec<u8>>) -> usize {
    let before = frames.len();
    let arrival = Arrival { port: 5, time_ns: 77 };
    let count = driver.lend(arrival, store, &mut |burst| {
        for frame in burst.frames() {
            assert_eq!((frame.port(), frame.time_ns()), (5, 77));
            frames.push(frame.bytes().to_vec());
        }
    });
    assert_eq!(count.as_ref().ok(), Some(&(frames.len() - before)));
    count.unwrap()
}

/// Checks that frames that were sent have arrived, all of them and in order, or are counted where there is no output.
fn assert_sent(bed: &mut dyn Bed, driver: &mut dyn Driver, frames: &[Vec<u8>]) {
    if bed.output() == Output::Arrives {
        return assert_same(&arrived(bed, driver, frames.len()), frames, "sent");
    }
    let (counters, all) = (counted(driver), frames.len() as u64);
    let wanted = if bed.output() == Output::Counted { (all, 0) } else { (0, all) };
    assert_eq!((counters.tx_packets, counters.tx_dropped_no_output), wanted, "{counters:?}");
}

/// Checks that frames that were on their way were received, if any can come.
fn assert_received(bed: &dyn Bed, received: &[Vec<u8>], frames: &[Vec<u8>]) {
    assert_same(received, if bed.has_input() { frames } else { &[] }, "received");
}

/// The frames at the other end, once there are this many of ours.
fn arrived(bed: &mut dyn Bed, driver: &mut dyn Driver, count: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let start = Instant::now();
    while frames.len() < count && start.elapsed() < PATIENCE {
        frames.extend(bed.take().into_iter().filter(|frame| is_ours(frame)));
        if frames.len() < count {
            driver.housekeeping().unwrap();
            driver.flush().unwrap();
            thread::sleep(Duration::from_micros(200));
        }
    }
    frames
}

fn assert_same(got: &[Vec<u8>], wanted: &[Vec<u8>], what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}: frames");
    for (position, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!(got == wanted, "{what}: frame {position} of {} bytes came as {got:02x?}", wanted.len());
    }
}

fn counted(driver: &mut dyn Driver) -> CounterSnapshot {
    driver.housekeeping().unwrap();
    driver.counters().snapshot()
}

fn transmit_all(driver: &mut dyn Driver, frames: &[Vec<u8>]) {
    for burst in frames.chunks(64) {
        burst.iter().for_each(|frame| driver.transmit(frame, 5).unwrap());
        driver.flush().unwrap();
    }
}

/// Lengths from 14 to the longest, close together at both ends.
fn lengths(longest: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (14..200).chain((200..longest).step_by(97)).collect();
    lengths.extend((longest - 20..=longest).rev().step_by(3));
    lengths
}

pub fn frames_of_every_size_pass_both_ways(bed: &mut dyn Bed, longest: usize) {
    let frames: Vec<Vec<u8>> =
        lengths(longest).iter().enumerate().map(|(number, &length)| frame(number, length)).collect();
    let mut driver = bed.open(&[]);
    let mut received = Vec::new();
    if bed.send(&frames[..64]) {
        received.extend(receive(&mut *driver, 64));
        for burst in frames[64..].chunks(64) {
            bed.send(burst);
            received.extend(receive(&mut *driver, burst.len()));
        }
    } else {
        driver = bed.open(&frames);
        received = receive(&mut *driver, frames.len());
    }
    assert_received(bed, &received, &frames);
    let before = counted(&mut *driver);
    assert!(before.rx_packets >= received.len() as u64, "{before:?}");
    assert_eq!(before.rx_dropped(), 0, "{before:?}");

    if bed.output() != Output::Arrives {
        transmit_all(&mut *driver, &frames);
        return assert_sent(bed, &mut *driver, &frames);
    }
    let mut sent = Vec::new();
    for burst in frames.chunks(64) {
        transmit_all(&mut *driver, burst);
        sent.extend(arrived(bed, &mut *driver, burst.len()));
    }
    assert_same(&sent, &frames, "sent");
    driver.finish().unwrap();
    let counters = counted(&mut *driver);
    let bytes: usize = frames.iter().map(Vec::len).sum();
    assert_eq!((counters.tx_packets, counters.tx_bytes), (frames.len() as u64, bytes as u64), "{counters:?}");
}

pub fn bursts_keep_their_order(bed: &mut dyn Bed, _longest: usize) {
    let bursts = [1, 2, 3, 63, 64, 65, 128, 255, bed.burst_max()];
    let all: Vec<Vec<u8>> = (0..bursts.iter().sum()).map(|number| frame(number, 60 + number % 64)).collect();
    let mut driver = bed.open(&[]);
    let is_live = bed.send(&[]);
    if !is_live {
        driver = bed.open(&all);
    }
    let (mut received, mut sent) = (Vec::new(), Vec::new());
    let mut start = 0;
    for count in bursts {
        let burst = &all[start..start + count];
        start += count;
        if is_live {
            bed.send(burst);
        }
        received.extend(receive_in_parts(&mut *driver, count));
        burst.iter().for_each(|frame| driver.transmit(frame, 5).unwrap());
        driver.flush().unwrap();
        if bed.output() == Output::Arrives {
            sent.extend(arrived(bed, &mut *driver, count));
        }
    }
    assert_received(bed, &received, &all);
    match bed.output() {
        Output::Arrives => assert_same(&sent, &all, "sent"),
        Output::Counted | Output::Nowhere => assert_sent(bed, &mut *driver, &all),
    }
    driver.finish().unwrap();
}

/// Receives this many frames with limits of all kinds, and checks that the limits are respected.
fn receive_in_parts(driver: &mut dyn Driver, count: usize) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    let start = Instant::now();
    let mut limit = 1;
    while frames.len() < count && start.elapsed() < PATIENCE && !driver.exhausted() {
        let limited = limit.min(count - frames.len());
        let mut delivered = 0;
        let received = driver
            .receive(limited, &mut |frame, _| {
                delivered += 1;
                frames.extend(is_ours(frame).then(|| frame.to_vec()));
            })
            .unwrap();
        assert_eq!(received, delivered, "the answer is what was delivered");
        assert!(received <= limited, "{received} of {limited}");
        limit = limit % 256 * 2 + 1;
    }
    frames
}

pub fn tags_and_strange_addresses_stay(bed: &mut dyn Bed, longest: usize) {
    let tagged = |address: u8, tag: &[u8], length: usize| {
        let plain = frame(usize::from(address), length);
        [&[address; 6], &plain[6..12], tag, &plain[12..]].concat()
    };
    // To all, to many, to another station, from no port; with one tag, a full-length frame longer by it.
    let frames = [
        tagged(0xff, &[], 60),
        tagged(0x01, &[], 61),
        tagged(0x22, &[], 62),
        tagged(0x22, &[0x81, 0, 0xe0, 7], 100),
        tagged(0x22, &[0x81, 0, 0, 0], 101),
        tagged(0x22, &[0x81, 0, 0x20, 5], longest),
    ];
    let mut driver = bed.open(&frames);
    assert_received(bed, &receive(&mut *driver, frames.len()), &frames);
    transmit_all(&mut *driver, &frames);
    driver.finish().unwrap();
    assert_sent(bed, &mut *driver, &frames);
}

pub fn what_cannot_be_sent_is_counted(bed: &mut dyn Bed, _longest: usize) {
    let mut driver = bed.open(&[]);
    let longest = driver.frame_bytes_max();
    let mut frames = vec![frame(0, longest), frame(1, 60)];
    frames.extend([longest + 1, longest + 5, 300_000].map(|length| frame(2, length)));
    frames.extend([0, 1, 13].map(|length| frame(2, length)));
    transmit_all(&mut *driver, &frames);
    driver.finish().unwrap();
    let counters = counted(&mut *driver);
    assert_eq!(counters.tx_packets + counters.tx_dropped(), frames.len() as u64, "{counters:?}");
    assert!(counters.tx_dropped_too_long >= 3, "{counters:?}");
    match bed.output() {
        Output::Arrives => {}
        Output::Counted => return assert_eq!(counters.tx_dropped(), 3, "{counters:?}"),
        Output::Nowhere => return assert_eq!(counters.tx_packets, 0),
    }
    assert_same(&arrived(bed, &mut *driver, 2)[..2], &frames[..2], "sent");
}

/// More frames than any ring holds: what was delivered and what was counted as lost are all of them.
pub fn a_flood_is_delivered_or_counted(bed: &mut dyn Bed, _longest: usize) {
    const FRAMES: usize = 20_000;
    let all: Vec<Vec<u8>> = (0..FRAMES).map(|number| frame(number, 64)).collect();
    let mut driver = bed.open(&[]);
    if bed.send(&[]) {
        let before = bed.lost_outside();
        bed.send(&all);
        let mut numbers: Vec<usize> = receive_what_is_there(&mut *driver);
        let lost = counted(&mut *driver).rx_dropped() + bed.lost_outside() - before;
        let received = numbers.len();
        assert_eq!(received as u64 + lost, FRAMES as u64, "{received} received, {lost} lost");
        assert!(received >= 64, "{received} received");
        let in_order = numbers.is_sorted();
        numbers.dedup();
        assert!(in_order && numbers.len() == received, "each at most once, in order");
    }
    transmit_all(&mut *driver, &all);
    driver.finish().unwrap();
    let counters = counted(&mut *driver);
    assert_eq!(counters.tx_packets + counters.tx_dropped(), FRAMES as u64, "{counters:?}");
}

/// The numbers of our frames until none came for a while.
fn receive_what_is_there(driver: &mut dyn Driver) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut quiet = Instant::now();
    while quiet.elapsed() < Duration::from_millis(200) {
        let mut take = |frame: &[u8], _| {
            numbers.extend(is_ours(frame).then(|| usize::from_be_bytes(*frame[14..].first_chunk().unwrap())));
        };
        if driver.receive(64, &mut take).unwrap() > 0 {
            quiet = Instant::now();
        }
    }
    numbers
}

pub fn what_was_there_before_the_stop_is_delivered(bed: &mut dyn Bed, _longest: usize) {
    let mut driver = bed.open(&[]);
    let before: Vec<Vec<u8>> = (0..100).map(|number| frame(number, 80)).collect();
    if !bed.send(&before) {
        return;
    }
    driver.stop_receiving();
    let mut received = receive(&mut *driver, before.len());
    assert_same(&received, &before, "received");
    bed.send(&before);
    received = receive(&mut *driver, 1);
    assert_same(&received, &[], "received after the stop");
    assert!(driver.exhausted());
    // Sending continues.
    transmit_all(&mut *driver, &before);
    driver.finish().unwrap();
    assert_sent(bed, &mut *driver, &before);
}

pub fn waiting_ends_with_a_frame(bed: &mut dyn Bed, _longest: usize) {
    let mut drivers = [bed.open(&[])];
    let mut descriptors = Vec::new();
    drivers[0].wait_on(&mut descriptors);
    if descriptors.is_empty() || !bed.send(&[]) {
        return;
    }
    let mut poller = Poller::new();
    let mut wait = |drivers: &mut [Box<dyn Driver>], timeout| {
        let start = Instant::now();
        poller.wait(drivers, &[], timeout, &mut |_, error| panic!("{error}")).unwrap();
        start.elapsed()
    };
    while drivers[0].receive(64, &mut |_, _| ()).unwrap() > 0 {}
    let short = Duration::from_millis(50);
    let is_quiet = (0..10).any(|_| {
        let waited = wait(&mut drivers, short);
        while drivers[0].receive(64, &mut |_, _| ()).unwrap() > 0 {}
        waited >= short
    });
    assert!(is_quiet, "waiting takes its time while nothing comes");
    for number in 0..10 {
        bed.send(&[frame(number, 60)]);
        let waited = wait(&mut drivers, PATIENCE);
        assert!(waited < PATIENCE / 2, "frame {number} did not end the wait");
        assert_same(&receive(&mut *drivers[0], 1), &[frame(number, 60)], "received");
    }
}

pub fn a_port_can_be_opened_again(bed: &mut dyn Bed, _longest: usize) {
    for number in 0..5 {
        let frames = [frame(number, 60), frame(number, 70)];
        let mut driver = bed.open(&frames);
        assert_received(bed, &receive(&mut *driver, 2), &frames);
        transmit_all(&mut *driver, &frames);
        driver.finish().unwrap();
        assert_sent(bed, &mut *driver, &frames);
    }
}

pub fn a_link_may_go_and_come_back(bed: &mut dyn Bed, _longest: usize) {
    let mut driver = bed.open(&[]);
    let set_link = |bed: &mut dyn Bed, state: &str| {
        let Some(link) = bed.link() else { return false };
        link.network.run("switch", &format!("ip link set {} {state}", link.name));
        true
    };
    if !set_link(bed, "down") {
        return;
    }
    wait_for_link(&*driver, false);
    for number in 0..300 {
        driver.transmit(&frame(number, 60), 5).unwrap();
    }
    driver.flush().unwrap();
    driver.receive(64, &mut |_, _| ()).unwrap();
    let counters = counted(&mut *driver);
    assert_eq!((counters.tx_packets, counters.tx_dropped_link_down), (0, 300), "{counters:?}");

    set_link(bed, "up");
    wait_for_link(&*driver, true);
    let frames = [frame(7, 60), frame(8, 1000)];
    bed.send(&frames);
    assert_same(&receive(&mut *driver, 2), &frames, "received");
    bed.take();
    transmit_all(&mut *driver, &frames);
    driver.finish().unwrap();
    assert_same(&arrived(bed, &mut *driver, 2), &frames, "sent");
}

/// The kernel takes up to some seconds to report a link.
fn wait_for_link(driver: &dyn Driver, has_link: bool) {
    let start = Instant::now();
    while driver.has_link() != has_link {
        assert!(start.elapsed() < 2 * PATIENCE, "the link is {}", !has_link);
        thread::sleep(Duration::from_millis(10));
    }
}

pub fn an_interface_that_is_removed_ends_its_port(bed: &mut dyn Bed, _longest: usize) {
    let mut drivers = [bed.open(&[])];
    let Some(link) = bed.link() else { return };
    link.network.run("switch", &format!("ip link del {}", link.name));
    let mut error = None;
    let start = Instant::now();
    while error.is_none() && start.elapsed() < PATIENCE {
        Poller::new().wait(&mut drivers, &[], Duration::from_millis(20), &mut |_, gone| error = Some(gone)).unwrap();
        if let Err(gone) = drivers[0].housekeeping() {
            error = Some(gone);
        }
    }
    let message = error.map(|error| error.to_string());
    assert_eq!(message.as_deref(), Some("interface `sa` was removed while in use"));
    assert!(!drivers[0].has_link());
    drivers[0].receive(usize::MAX, &mut |_, _| ()).unwrap();
    assert!(drivers[0].exhausted());
    drivers[0].transmit(&frame(0, 60), 5).unwrap();
    drivers[0].flush().unwrap();
    drivers[0].stop_receiving();
    drivers[0].finish().unwrap();
    let counters = drivers[0].counters().snapshot();
    assert_eq!((counters.tx_packets, counters.tx_dropped_link_down), (0, 1), "{counters:?}");
}
