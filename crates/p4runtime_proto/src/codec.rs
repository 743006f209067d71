//! The codec of the services: prost's, which asks before it decodes whether there is memory for the message.

use crate::weight;
use prost::{Message, Name};
use std::marker::PhantomData;
use std::sync::Arc;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstEncoder};

/// Where memory for messages is taken from.
pub trait Budget: Send + Sync {
    /// Takes this many bytes, or says why not.
    fn take(&self, bytes: usize) -> Result<(), Status>;
}

tokio::task_local! {
    /// Where a task that decodes messages of others takes memory from. One without takes what it needs.
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
    T: Message + Send + 'static,
    U: Message + Default + Name + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::default().encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(PhantomData)
    }
}

/// Decodes messages. They are decoded from `Bytes`, as the parts of those that are read piece by piece: so the code for
/// each message is compiled once, and not for each kind of buffer.
#[derive(Debug)]
pub struct BoundedDecoder<U>(PhantomData<U>);

impl<U: Message + Default + Name> Decoder for BoundedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        use prost::bytes::Buf as _;
        let asked = BUDGET.try_with(|budget| budget.take(weight::decoded_bytes(&U::full_name(), buffer.chunk())));
        // Nobody has to be asked otherwise: this is a client.
        let is_request = asked.is_ok();
        asked.unwrap_or(Ok(()))?;
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        U::decode(bytes).map(Some).map_err(|error| match is_request {
            // What is wrong with the bytes of a request is the client's fault.
            true => Status::invalid_argument(format!("the bytes are no {}: {error}", U::full_name())),
            false => Status::internal(error.to_string()),
        })
    }
}
