//! A switch of the same process: its service without a connection.
//!
//! What enters: the service of a server. What leaves: a handle that clients use in place of a connection. Requests and
//! answers are the same messages, and all that the service asks of clients it asks of these; there is no HTTP between
//! the two, and no other thread.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};

/// What answers a request.
type Answering = dyn Fn(http::Request<Body>) -> BoxFuture<http::Response<Body>, Infallible> + Send + Sync;

/// The way to the service of a switch in this process. Clones lead to the same.
#[derive(Clone)]
pub struct Near(Arc<Answering>);

impl Near {
    /// The way to this service.
    pub fn of<S>(service: S) -> Near
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        Near(Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|context| service.poll_ready(context)).await?;
                service.call(request).await
            })
        }))
    }

    /// Answers a request.
    pub fn call(&self, request: http::Request<Body>) -> BoxFuture<http::Response<Body>, Infallible> {
        (self.0)(request)
    }
}

impl fmt::Debug for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Near")
    }
}
