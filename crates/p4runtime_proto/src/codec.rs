//! The codec of the services: prost's encoding, which first reserves the memory that the decoded message will take.
//!
//! All messages are decoded from `Bytes` and encoded to a `Vec`, as are the parts of messages that are decoded step by
//! step, so that the code for each message is compiled once rather than for each type of buffer.

use crate::weight;
use crate::wire::Wire;
use prost::bytes::{Buf as _, BufMut as _};
use std::marker::PhantomData;
use std::sync::Arc;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// A memory budget for messages.
pub trait Budget: Send + Sync {
    /// Reserves this many bytes, or returns the reason why it cannot.
    fn take(&self, bytes: usize) -> Result<(), Status>;
}

tokio::task_local! {
    /// The budget of a task that decodes messages of others. A task without a budget decodes without limit.
    pub static BUDGET: Arc<dyn Budget>;
}

/// Encodes and decodes messages.
#[derive(Debug)]
pub struct BoundedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for BoundedCodec<T, U> {
    fn default() -> Self {
        BoundedCodec(PhantomData)
    }
}

impl<T, U> Codec for BoundedCodec<T, U>
where
    T: Wire + Send + 'static,
    U: Wire + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = WireEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        WireEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(PhantomData)
    }
}

/// Encodes messages.
#[derive(Debug)]
pub struct WireEncoder<T>(PhantomData<T>);

impl<T: Wire> Encoder for WireEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message.to_bytes());
        Ok(())
    }
}

/// Decodes messages.
#[derive(Debug)]
pub struct BoundedDecoder<U>(PhantomData<U>);

impl<U: Wire> Decoder for BoundedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let name = U::full_name();
        let reserved = BUDGET.try_with(|budget| budget.take(weight::decoded_bytes(&name, buffer.chunk())));
        // A task without a budget is a client, which decodes responses.
        let is_request = reserved.is_ok();
        reserved.unwrap_or(Ok(()))?;
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        U::from_bytes(bytes).map(Some).map_err(|error| match is_request {
            // An error in the bytes of a request is the client's fault.
            true => Status::invalid_argument(format!("the bytes are not a {name}: {error}")),
            false => Status::internal(error.to_string()),
        })
    }
}
