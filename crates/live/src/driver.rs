//! The driver of one port: frames in, frames out.
//!
//! A worker owns its drivers and calls them from one thread. No call allocates, takes a lock or enters the kernel per
//! packet: [`Driver::lend`] lends frames in place, [`Driver::transmit`] copies into a queue that [`Driver::flush`]
//! hands over once per burst.

use crate::counters::PortCounters;
use crate::pcap::CaptureError;
use crate::store::Store;
use crate::timer::TimerDriver;
use base::limits::BURST_PACKETS_MAX;
use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use switch::Burst;
use switch::timers::TimerError;

/// Receives a frame and its time stamp in nanoseconds since 1970.
pub type Deliver<'a> = &'a mut dyn FnMut(&[u8], u64);

/// Processes frames in place.
pub type Work<'a> = &'a mut dyn FnMut(&mut Burst<'_>);

/// Where and when frames were received, for the core.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The port's number.
    pub port: u32,
    /// The core's time.
    pub time_ns: u64,
}

/// The connection of one port to the outside.
pub trait Driver: Send {
    /// Passes received frames to `deliver`, without waiting, and returns how many.
    ///
    /// Stops once `limit` frames were delivered. A segment that the kernel handed over uncut counts as the frames it
    /// is cut into and is never split between two calls, so that the count may exceed `limit` by what one segment
    /// holds.
    ///
    /// After an error the port delivers nothing more; frames before it have been delivered, and [`Driver::exhausted`]
    /// returns true from then on.
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError>;

    /// The same for up to about a burst of frames, which are lent to `work` together, once or several times, and may
    /// be changed; their contents afterwards do not matter. A driver whose frames cannot be lent has them copied to
    /// the store, which is the caller's and keeps nothing.
    fn lend(&mut self, arrival: Arrival, store: &mut Store, work: Work<'_>) -> Result<usize, DriverError> {
        store.clear();
        let received = self.receive(BURST_PACKETS_MAX, &mut |frame, _| {
            store.push(frame);
        });
        // Including frames before an error.
        store.lend(arrival, work);
        received
    }

    /// Queues a frame. A frame that cannot be sent (too long for the port, queue full, link down) is dropped and
    /// counted, as in any switch; an error means that the port is no longer usable, as with a full disk.
    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError>;

    /// Hands queued frames over. Called once per burst, and periodically while idle: frames that the system does not
    /// accept stay queued until the next call.
    fn flush(&mut self) -> Result<(), DriverError>;

    /// Adds the descriptors to wait on until frames arrive; none for a port that never needs waiting.
    fn wait_on(&self, _descriptors: &mut Vec<RawFd>) {}

    /// Remarks for users about how the port was opened, one per line.
    fn remarks(&self) -> &[String] {
        &[]
    }

    /// The further queues of a port that has several: each delivers the frames of some flows, this driver the rest,
    /// and all send. They are taken once, before the first frame is received, so that each may have a worker of its
    /// own. Their counts are included in this driver's counters.
    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        Vec::new()
    }

    /// Whether no more frames will arrive: a capture at its end, a generator that has made all its frames.
    fn exhausted(&self) -> bool;

    /// The longest frame that [`Driver::transmit`] accepts, in bytes from the Ethernet header on, checksum excluded.
    fn frame_bytes_max(&self) -> usize;

    /// Stops reception at the source. Frames from before are still delivered by [`Driver::receive`]; it returns 0
    /// once that is done.
    fn stop_receiving(&mut self);

    /// Called about once a second and before counters are read for the last time: adds what only the kernel counts,
    /// and writes what has been buffered for long.
    fn housekeeping(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    /// Whether the link is up. Checked about once a second.
    fn has_link(&self) -> bool {
        true
    }

    /// Called when waiting on [`Driver::wait_on`] reported an error condition. Clears it, or returns an error if the
    /// port is gone.
    fn acknowledge_error(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    /// Ends transmission: all queued frames are sent, within a bounded time, or counted as dropped.
    fn finish(&mut self) -> Result<(), DriverError> {
        self.flush()
    }

    /// The timer's driver, if the port is a timer: with time stamps from captures, the worker calls its ticks.
    fn as_timer(&mut self) -> Option<&mut TimerDriver> {
        None
    }

    /// The port's counters, shared with their readers.
    fn counters(&self) -> &Arc<PortCounters>;
}

/// Why a port cannot be opened or has failed.
#[derive(Debug)]
pub enum DriverError {
    /// No interface has this name.
    NoSuchInterface {
        /// The requested name.
        name: String,
        /// The interfaces that exist.
        existing: Vec<String>,
    },
    /// The system denies access to interfaces.
    NoPermission {
        /// The requested interface.
        name: String,
        /// The capabilities that are required, as in `CAP_NET_RAW`.
        capabilities: &'static str,
    },
    /// The interface is not up.
    InterfaceDown {
        /// The requested interface.
        name: String,
    },
    /// The interface does not carry Ethernet frames.
    NotEthernet {
        /// The requested interface.
        name: String,
        /// Its hardware type, one of Linux's `ARPHRD_` numbers.
        hardware_type: u16,
    },
    /// The interface was removed while in use.
    InterfaceGone {
        /// The interface that was in use.
        name: String,
    },
    /// The interface cannot be used in this way.
    Unusable {
        /// The requested interface.
        name: String,
        /// Why.
        cause: String,
        /// The remedy.
        cure: String,
    },
    /// The timer cannot be set as requested.
    Timer(TimerError),
    /// A timer's template contains no packets.
    EmptyTemplate {
        /// The capture.
        path: PathBuf,
    },
    /// A capture cannot be read completely.
    Capture(CaptureError),
    /// Another system call failed.
    System {
        /// The failed operation, as in `cannot {doing}`.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
}

impl DriverError {
    /// An error of the system, with the failed operation.
    pub fn system(doing: impl Into<String>, source: io::Error) -> DriverError {
        DriverError::System { doing: doing.into(), source }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriverError::NoSuchInterface { name, existing } => {
                write!(f, "no interface is called `{name}`; ")?;
                if existing.is_empty() {
                    write!(f, "there are none")
                } else {
                    write!(f, "there are: {}", existing.join(", "))
                }
            }
            DriverError::NoPermission { name, capabilities } => write!(
                f,
                "no permission to open interface `{name}`: that takes {capabilities}; run as root, or give the command \
                 what it takes with `setcap {}+ep`",
                capabilities.to_lowercase().replace(", ", ",").replace(" and ", ",")
            ),
            DriverError::Unusable { name, cause, cure } => write!(f, "interface `{name}`: {cause}; {cure}"),
            DriverError::InterfaceDown { name } => {
                write!(f, "interface `{name}` is down; bring it up with `ip link set {name} up`")
            }
            DriverError::NotEthernet { name, hardware_type } => {
                write!(f, "interface `{name}` does not carry Ethernet frames (its hardware type is {hardware_type})")
            }
            DriverError::InterfaceGone { name } => write!(f, "interface `{name}` was removed while in use"),
            DriverError::Timer(error) => write!(f, "{error}"),
            DriverError::EmptyTemplate { path } => write!(
                f,
                "the template `{}` contains no packets; each tick of the timer delivers its packets",
                path.display()
            ),
            DriverError::Capture(error) => write!(f, "{error}"),
            DriverError::System { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for DriverError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DriverError::Capture(error) => Some(error),
            DriverError::Timer(error) => Some(error),
            DriverError::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<TimerError> for DriverError {
    fn from(error: TimerError) -> DriverError {
        DriverError::Timer(error)
    }
}

impl From<CaptureError> for DriverError {
    fn from(error: CaptureError) -> DriverError {
        DriverError::Capture(error)
    }
}
