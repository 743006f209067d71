//! Messages from and to bytes.
//!
//! prost decodes from and encodes to any kind of buffer, so the compiler makes that code again in each crate that calls
//! it. Here it is made for one kind of buffer in each direction, in this crate.

use crate::encoded;
use crate::google::rpc;
use crate::p4::config::v1::P4Info;
use crate::p4::v1;
use crate::wirespeed::v1 as own;
use prost::bytes::Bytes;
use prost::{DecodeError, Message, Name};

/// A message that a service receives or sends, or that such a message holds in encoded form.
pub trait Wire: Message + Default + Name {
    /// Decodes a message.
    fn from_bytes(bytes: Bytes) -> Result<Self, DecodeError>;

    /// Encodes the message.
    fn to_bytes(&self) -> Vec<u8>;
}

/// Compiles the code of these messages here.
macro_rules! wire {
    ($($message:ty),+ $(,)?) => {$(
        impl Wire for $message {
            fn from_bytes(bytes: Bytes) -> Result<Self, DecodeError> {
                Self::decode(bytes)
            }

            fn to_bytes(&self) -> Vec<u8> {
                self.encode_to_vec()
            }
        }
    )+};
}

wire!(
    P4Info,
    rpc::Status,
    v1::CapabilitiesRequest,
    v1::CapabilitiesResponse,
    v1::Entity,
    v1::Error,
    v1::ForwardingPipelineConfig,
    v1::GetForwardingPipelineConfigRequest,
    v1::GetForwardingPipelineConfigResponse,
    v1::ReadRequest,
    v1::ReadResponse,
    v1::SetForwardingPipelineConfigRequest,
    v1::SetForwardingPipelineConfigResponse,
    v1::StreamMessageRequest,
    v1::StreamMessageResponse,
    v1::Update,
    v1::WriteRequest,
    v1::WriteResponse,
    encoded::ReadResponse,
    encoded::WriteRequest,
    own::AboutRequest,
    own::AboutResponse,
    own::RunRequest,
    own::RunResponse,
    own::SizesRequest,
    own::SizesResponse,
    own::SnapshotPart,
    own::SnapshotRequest,
    own::TapPacket,
    own::TapRequest,
    own::TimersRequest,
    own::TimersResponse,
    own::WatchRequest,
    own::WorkersRequest,
    own::WorkersResponse,
);
