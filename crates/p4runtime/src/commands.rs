//! The second door: commands of `simple_switch_CLI`, which speak of things that P4Runtime has no words for.
//!
//! As in the reference switch, this door knows of no primary controller: who may connect may command.

use crate::service::{Core, blocking};
use p4runtime_proto::wirespeed::v1::commands_server::Commands;
use p4runtime_proto::wirespeed::v1::{RunRequest, RunResponse};
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Clone)]
pub(crate) struct CommandService(pub Arc<Core>);

#[tonic::async_trait]
impl Commands for CommandService {
    async fn run(&self, request: Request<RunRequest>) -> Result<Response<RunResponse>, Status> {
        let (core, request) = (&self.0, request.into_inner());
        core.check_device(request.device_id)?;
        let turn = Arc::clone(&core.turn).lock_owned().await;
        let api = Arc::clone(&core.api);
        let about = control::switch_cli::About { device_id: core.device_id, ports: core.ports.named() };
        let answer = blocking(move || {
            // Kept to the end, though the client may have gone.
            let _turn = turn;
            control::switch_cli::run(&api, &about, &request.line)
        });
        let control::switch_cli::Answer { text, is_error } = answer.await?;
        Ok(Response::new(RunResponse { text, is_error }))
    }
}
