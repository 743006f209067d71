//! The channel to a switch: a connection with or without TLS, or a direct call if the switch is in the same process.

use crate::plain::Plain;
use p4runtime_proto::near::Near;
use std::error::Error;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::transport::Channel;

/// A channel on which a session sends its requests.
#[derive(Clone)]
pub(crate) enum Connection {
    /// A connection without TLS.
    Plain(Plain),
    /// A connection with TLS.
    Secure(Channel),
    /// The service of a switch in this process.
    Near(Near),
}

impl Service<http::Request<Body>> for Connection {
    type Response = http::Response<Body>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<http::Response<Body>, Self::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self {
            Connection::Secure(channel) => {
                Service::<http::Request<Body>>::poll_ready(channel, context).map_err(Into::into)
            }
            Connection::Plain(_) | Connection::Near(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self {
            Connection::Plain(connection) => connection.call(request),
            Connection::Secure(channel) => {
                let answering = channel.call(request);
                Box::pin(async move { answering.await.map_err(Into::into) })
            }
            Connection::Near(near) => {
                let answering = near.call(request);
                Box::pin(async move { answering.await.map_err(|never| match never {}) })
            }
        }
    }
}
