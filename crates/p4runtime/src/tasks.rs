//! Tasks of the server.
//!
//! What enters: futures and work that may block. What leaves: tasks of tokio, all of one type each, so that tokio's
//! code for a task is compiled once and not for each of them.

use crate::service::BUG;
use std::pin::Pin;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tonic::Status;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Work = Box<dyn FnOnce() + Send>;

/// Runs a task of the current runtime.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    spawn_on(&Handle::current(), task);
}

/// Runs a task of a runtime.
pub(crate) fn spawn_on(runtime: &Handle, task: impl Future<Output = ()> + Send + 'static) {
    let task: Task = Box::pin(task);
    runtime.spawn(task);
}

/// Starts work in another thread.
pub(crate) fn start_blocking(work: impl FnOnce() + Send + 'static) {
    let work: Work = Box::new(work);
    tokio::task::spawn_blocking(work);
}

/// The result of work in another thread.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Status> {
    let (sender, result) = oneshot::channel();
    start_blocking(move || {
        // The receiver may be gone.
        let _sent = sender.send(work());
    });
    // Work that panics drops the sender.
    result.await.map_err(|_| Status::internal(BUG))
}
