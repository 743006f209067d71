//! The service of a switch in the same process, without a connection.
//!
//! What enters: the service of a server. What leaves: a handle that clients use instead of a connection. Requests and
//! responses are the same messages, and the service requires the same of these clients as of all others. There is no
//! HTTP connection and no additional thread between the two.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};

/// A function that answers a request.
type Handler = dyn Fn(http::Request<Body>) -> BoxFuture<http::Response<Body>, Infallible> + Send + Sync;

/// A handle for the service of a switch in this process. Clones refer to the same service.
#[derive(Clone)]
pub struct Near(Arc<Handler>);

impl Near {
    /// A handle for this service.
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
