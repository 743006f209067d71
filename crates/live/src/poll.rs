//! Waiting for packets on several ports at once.
#![allow(unsafe_code, reason = "ppoll(2) takes a pointer to the descriptors")]

use crate::driver::{Driver, DriverError};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Waits on the drivers of a worker; keeps its list of descriptors so that no wait allocates.
#[derive(Debug, Default)]
pub struct Poller {
    entries: Vec<libc::pollfd>,
    /// The driver of each entry, by position; the entries of the wake-up descriptors, at the end, have none.
    owners: Vec<usize>,
    descriptors: Vec<RawFd>,
}

impl Poller {
    /// A poller with nothing to wait on yet.
    pub fn new() -> Poller {
        Poller::default()
    }

    /// Waits until one of the drivers may have frames or one of `wake_ups` is readable, for at most `timeout`, or until
    /// a signal arrives. Returns at once if a driver that needs no waiting is not exhausted. `on_gone` receives the
    /// drivers that have failed.
    pub fn wait(
        &mut self,
        drivers: &mut [Box<dyn Driver>],
        wake_ups: &[RawFd],
        timeout: Duration,
        on_gone: &mut dyn FnMut(usize, DriverError),
    ) -> io::Result<()> {
        if !self.gather(drivers, wake_ups) || !self.wait_gathered(timeout)? {
            return Ok(());
        }
        for (&position, entry) in self.owners.iter().zip(&self.entries) {
            if is_error(entry)
                && let Err(error) = drivers[position].acknowledge_error()
            {
                on_gone(position, error);
            }
        }
        Ok(())
    }

    /// Collects the descriptors to wait on. False if there is no need to wait: a driver that needs no waiting is not
    /// exhausted.
    pub fn gather(&mut self, drivers: &[Box<dyn Driver>], wake_ups: &[RawFd]) -> bool {
        self.entries.clear();
        self.owners.clear();
        for (position, driver) in drivers.iter().enumerate().filter(|(_, driver)| !driver.exhausted()) {
            self.descriptors.clear();
            driver.wait_on(&mut self.descriptors);
            if self.descriptors.is_empty() {
                return false;
            }
            self.entries.extend(self.descriptors.iter().copied().map(entry));
            self.owners.resize(self.entries.len(), position);
        }
        self.entries.extend(wake_ups.iter().copied().map(entry));
        true
    }

    /// Waits on the collected descriptors, at most for `timeout`; false if a signal arrived.
    pub fn wait_gathered(&mut self, timeout: Duration) -> io::Result<bool> {
        let timeout = libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let (entries, count) = (self.entries.as_mut_ptr(), self.entries.len() as libc::nfds_t);
        // SAFETY: the pointer and the count describe `self.entries`, which lives through the call and is not moved by
        // it; so does `timeout`. A null mask leaves signals as they are.
        let answer = unsafe { libc::ppoll(entries, count, &raw const timeout, std::ptr::null()) };
        if answer < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
        }
        Ok(true)
    }

    /// Whether one of the descriptors that were waited for has an error.
    pub fn has_errors(&self) -> bool {
        self.entries.iter().any(is_error)
    }
}

fn entry(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

fn is_error(entry: &libc::pollfd) -> bool {
    entry.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{GeneratorDriver, memory_port};
    use std::time::Instant;

    #[test]
    fn a_driver_with_frames_left_is_not_waited_for() {
        let generator: Box<dyn Driver> = Box::new(GeneratorDriver::new(vec![vec![0; 14]], 1, 0));
        let start = Instant::now();
        Poller::new().wait(&mut [generator], &[], Duration::from_secs(30), &mut |_, error| panic!("{error}")).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn exhausted_drivers_are_waited_out() {
        let (memory, peer) = memory_port();
        peer.close();
        let mut drivers: [Box<dyn Driver>; 1] = [Box::new(memory)];
        let start = Instant::now();
        Poller::new().wait(&mut drivers, &[], Duration::from_millis(20), &mut |_, error| panic!("{error}")).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}
