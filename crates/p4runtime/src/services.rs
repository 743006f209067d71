//! The services of a server: P4Runtime, and the commands of our own.
//!
//! What enters: requests. What leaves: the answers of the service that a request names in its path,
//! `/SERVICE/METHOD`; requests to other services are refused.

use crate::commands::CommandService;
use crate::server::REQUEST_BYTES_MAX;
use crate::service::{Core, Service};
use p4runtime_proto::p4::v1::p4_runtime_server::{self, P4RuntimeServer};
use p4runtime_proto::wirespeed::v1::commands_server::{self, CommandsServer};
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{self, BoxFuture, http};

/// Both services of a switch.
#[derive(Clone)]
pub(crate) struct Services {
    p4runtime: P4RuntimeServer<Service>,
    commands: CommandsServer<CommandService>,
}

impl Services {
    /// The services for this switch.
    pub fn of(core: &Arc<Core>) -> Services {
        let p4runtime = P4RuntimeServer::new(Service(Arc::clone(core))).max_decoding_message_size(REQUEST_BYTES_MAX);
        Services { p4runtime, commands: CommandsServer::new(CommandService(Arc::clone(core))) }
    }
}

impl codegen::Service<http::Request<Body>> for Services {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match request.uri().path().split('/').nth(1) {
            Some(p4_runtime_server::SERVICE_NAME) => self.p4runtime.call(request),
            Some(commands_server::SERVICE_NAME) => self.commands.call(request),
            name => {
                let message = format!("the switch has no service '{}'", name.unwrap_or_default());
                Box::pin(ready(Ok(Status::unimplemented(message).into_http())))
            }
        }
    }
}
