//! Stations that come to a port, send to each other, leave, and may come back at another port.
//!
//! Each frame has a number. What leaves must leave at the port of its receiver, or at all ports but that of its sender.
//! Where a station has come, frames to it may still go to the port that it has left, until one has gone right.

use super::{Case, Counts, IDLE, Surroundings};
use base::Rng;
use clap::Parser;
use l2fwd::command::L2fwdArguments;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PORTS: u32 = 4;

/// Frames that may be in flight at once.
const WINDOW: usize = 1 << 16;

/// From a station's first frame at a port, the switch should know it after this time.
const LEARNED: Duration = Duration::from_secs(1);

/// The length of frames.
const FRAME: usize = 60;

#[derive(Clone, Debug)]
struct Station {
    address: [u8; 6],
    port: u32,
    /// How many came before it.
    number: u64,
    /// When it has sent its first frame at this port.
    began: Option<Duration>,
    /// Whether a frame has gone to its port alone.
    is_found: bool,
    ends: Duration,
}

/// A frame in flight.
#[derive(Clone, Debug, Default)]
struct Sent {
    number: u64,
    /// The receiver's place, and its number.
    to: (usize, u64),
    from_port: u32,
    right_port: u32,
    /// Whether a frame had gone to the receiver alone, and whether it had been there for long.
    is_known: bool,
    is_long: bool,
    /// The ports at which it has left, a bit each.
    left: u32,
}

pub struct Stations {
    rng: Rng,
    stations: Vec<Station>,
    /// Addresses of those that have left.
    away: Vec<[u8; 6]>,
    next_address: u64,
    sent: Vec<Sent>,
    frame: [u8; FRAME],
    counts: Counts,
    flooded: u64,
    stale: u64,
    late: u64,
    came: u64,
    came_back: u64,
}

/// The arguments of the controller.
#[derive(Parser, Debug)]
struct Arguments {
    #[command(flatten)]
    l2fwd: L2fwdArguments,
}

/// The case with this many stations.
pub fn case(count: u32) -> Result<Case, Box<dyn Error>> {
    let ports: Vec<u32> = (1..=PORTS).collect();
    let listed = ports.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let age = IDLE.as_secs_f64().to_string();
    let arguments = Arguments::parse_from(["l2fwd", "--switch", "here", "--ports", &listed, "--age", &age]);
    let controller = Box::new(move |here: &ctl::Options| {
        arguments.l2fwd.within(here).map_err(|exit| format!("the controller does not start: {exit:?}"))
    });
    let world = Arc::new(Mutex::new(Stations::new(count)));
    Ok(Case { name: "l2fwd", program: "apps/l2fwd/l2fwd.p4", ports, world, controller })
}

impl Stations {
    fn new(count: u32) -> Stations {
        let (stations, away, counts) = Default::default();
        let mut it = Stations {
            rng: Rng::new(1),
            stations,
            away,
            next_address: 1,
            sent: vec![Sent::default(); WINDOW],
            frame: [0; FRAME],
            counts,
            flooded: 0,
            stale: 0,
            late: 0,
            came: 0,
            came_back: 0,
        };
        for _ in 0..count.max(2) {
            let station = it.come(Duration::ZERO);
            it.stations.push(station);
        }
        it
    }

    /// A station comes: a new one, or one that has left. Half as many as are there are away, so that one stays so for
    /// about its time.
    fn come(&mut self, now: Duration) -> Station {
        let address = match self.away.len() > self.stations.len() / 2 {
            true => {
                let place = self.rng.below(self.away.len() as u64) as usize;
                self.came_back += 1;
                self.away.swap_remove(place)
            }
            false => {
                let number = self.next_address;
                self.next_address += 1;
                let [_, _, low @ ..] = (number | 2 << 40).to_be_bytes();
                low
            }
        };
        self.came += 1;
        let lives = IDLE.mul_f64(1.0 + self.rng.below(1000) as f64 / 300.0);
        let port = self.rng.between(1, u64::from(PORTS)) as u32;
        Station { address, port, number: self.came, began: None, is_found: false, ends: now + lives }
    }

    /// A station at any port.
    fn any(&mut self, now: Duration) -> usize {
        let place = self.rng.below(self.stations.len() as u64) as usize;
        if now >= self.stations[place].ends {
            let next = self.come(now);
            self.away.push(self.stations[place].address);
            self.stations[place] = next;
        }
        place
    }

    /// A station at this port.
    fn sender(&mut self, port: u32, now: Duration) -> Option<usize> {
        (0..16).find_map(|_| {
            let place = self.any(now);
            (self.stations[place].port == port).then_some(place)
        })
    }

    /// Counts a frame that has come to its end.
    fn judge(&mut self, it: &Sent) {
        if it.number == 0 {
            return;
        }
        let (right, all) = (1 << it.right_port, ((1 << (PORTS + 1)) - 2) & !(1 << it.from_port));
        match it.left {
            left if left == right & all => {
                self.counts.right += 1;
                let (place, number) = it.to;
                if let Some(station) = self.stations.get_mut(place).filter(|it| it.number == number && left != 0) {
                    station.is_found = true;
                }
            }
            left if left == all => {
                self.counts.right += 1;
                self.flooded += 1;
            }
            _ if !it.is_known => {
                self.stale += 1;
                self.late += u64::from(it.is_long);
            }
            0 => self.counts.lost += 1,
            _ => self.counts.wrong(|| format!("{it:?}")),
        }
    }
}

impl Surroundings for Stations {
    fn next(&mut self, port: u32, now: Duration) -> Option<&[u8]> {
        let from = self.sender(port, now)?;
        let to = self.any(now);
        // The sender may have just been replaced.
        if self.stations[from].port != port {
            return None;
        }
        let _first = self.stations[from].began.get_or_insert(now);
        let receiver = &self.stations[to];
        let is_long = receiver.began.is_some_and(|began| now.saturating_sub(began) > LEARNED);
        let number = self.counts.sent + 1;
        let sent = Sent {
            number,
            to: (to, receiver.number),
            from_port: port,
            right_port: receiver.port,
            is_known: receiver.is_found,
            is_long,
            left: 0,
        };
        self.frame[..6].copy_from_slice(&receiver.address);
        self.frame[6..12].copy_from_slice(&self.stations[from].address);
        self.frame[12..14].copy_from_slice(&0x88B5_u16.to_be_bytes());
        self.frame[14..22].copy_from_slice(&number.to_be_bytes());
        self.counts.sent = number;
        let before = std::mem::replace(&mut self.sent[number as usize % WINDOW], sent);
        self.judge(&before);
        Some(&self.frame)
    }

    fn left(&mut self, port: u32, _now: Duration, frame: &[u8]) {
        let Some(number) = frame.get(14..22).and_then(|it| it.try_into().ok()).map(u64::from_be_bytes) else { return };
        let sent = &mut self.sent[number as usize % WINDOW];
        if sent.number != number || sent.left & 1 << port != 0 {
            return self.counts.wrong(|| format!("frame {number} has left at port {port} once more"));
        }
        sent.left |= 1 << port;
    }

    fn finish(&mut self) {
        for it in std::mem::take(&mut self.sent) {
            self.judge(&it);
        }
    }

    fn counts(&self) -> Counts {
        let more = vec![
            ("flooded", self.flooded),
            ("to the port that a station has left", self.stale),
            ("of them, a second after its first frame", self.late),
            ("stations that came", self.came),
            ("of them, that came back", self.came_back),
        ];
        Counts { more, ..self.counts.clone() }
    }
}
