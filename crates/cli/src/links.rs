//! Links that come and go, for the control plane.
//!
//! What enters: from the worker, which port has lost its link or has it again. What leaves: members of groups that
//! watch the port stop being choices, or are choices again. A thread of its own does that, for it takes the lock of the
//! tables, which the worker must not wait for.

use control::Api;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

/// The way to the thread, which ends with it.
pub struct Links(Sender<(u32, bool)>);

impl Links {
    /// Starts the thread.
    pub fn start(api: Arc<Api>) -> io::Result<Links> {
        let (sender, changes) = mpsc::channel();
        std::thread::Builder::new().name("links".to_owned()).spawn(move || {
            for (port, is_up) in changes {
                match is_up {
                    true => tracing::info!(port, "the port has a link again"),
                    false => tracing::warn!(port, "the port has lost its link"),
                }
                api.port_changed(port, is_up);
            }
        })?;
        Ok(Links(sender))
    }

    /// Passes on that a port has lost its link or has it again. A port changes once a second at most.
    pub fn tell(&self, port: u32, is_up: bool) {
        // The thread ends after this only.
        let _told = self.0.send((port, is_up));
    }
}
