//! The way to a switch: a connection, with TLS or without, or none where it is in the same process.

use crate::plain::Plain;
use p4runtime_proto::near::Near;
use std::error::Error;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::transport::Channel;

/// What a session sends its requests to.
#[derive(Clone)]
pub(crate) enum Way {
    /// A connection without TLS.
    Plain(Plain),
    /// One with TLS.
    Secure(Channel),
    /// The service of a switch in this process.
    Near(Near),
}

impl Service<http::Request<Body>> for Way {
    type Response = http::Response<Body>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<http::Response<Body>, Self::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self {
            Way::Secure(channel) => Service::<http::Request<Body>>::poll_ready(channel, context).map_err(Into::into),
            Way::Plain(_) | Way::Near(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self {
            Way::Plain(connection) => connection.call(request),
            Way::Secure(channel) => {
                let answering = channel.call(request);
                Box::pin(async move { answering.await.map_err(Into::into) })
            }
            Way::Near(near) => {
                let answering = near.call(request);
                Box::pin(async move { answering.await.map_err(|never| match never {}) })
            }
        }
    }
}
