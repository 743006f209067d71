//! Link changes, for the control plane.
//!
//! What enters: from the worker, which port has lost its link or has it again. What leaves: members of groups that
//! watch the port can no longer be chosen, or can be chosen again. A separate thread does that, since it locks the
//! tables, for which the worker must not wait.

use control::Api;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

/// The channel to the thread, which ends with it.
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

    /// Reports that a port has lost its link or has it again. A port changes once a second at most.
    pub fn report(&self, port: u32, is_up: bool) {
        // The thread ends after this only.
        let _reported = self.0.send((port, is_up));
    }
}
