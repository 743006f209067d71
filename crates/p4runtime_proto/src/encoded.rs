//! Write requests whose updates are not decoded yet, and read responses whose entities are already encoded.
//!
//! What enters: a write request as received. What leaves: the same request, with updates that share its memory and
//! are decoded one by one; and read responses with entities that share the memory of their message. An update or
//! entity takes about fifty bytes on the wire and ten times as much when decoded, so a server should not hold a
//! million of them in decoded form.

use crate::p4::v1;
use prost::Name;
use prost::bytes::Bytes;

/// [`v1::WriteRequest`] with encoded updates.
#[derive(Clone, PartialEq, prost::Message)]
pub struct WriteRequest {
    /// The id of the device.
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    /// The role in its older, numeric form.
    #[prost(uint64, tag = "2")]
    pub role_id: u64,
    /// The election id of the controller that writes.
    #[prost(message, optional, tag = "3")]
    pub election_id: Option<v1::Uint128>,
    /// The encoded [`v1::Update`]s.
    #[prost(bytes = "bytes", repeated, tag = "4")]
    pub updates: Vec<Bytes>,
    /// The atomicity of the request.
    #[prost(enumeration = "v1::write_request::Atomicity", tag = "5")]
    pub atomicity: i32,
    /// The role.
    #[prost(string, tag = "6")]
    pub role: String,
}

impl Name for WriteRequest {
    const NAME: &'static str = "WriteRequest";
    const PACKAGE: &'static str = "p4.v1";
}

/// [`v1::ReadResponse`] with encoded entities.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ReadResponse {
    /// The encoded [`v1::Entity`]s.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub entities: Vec<Bytes>,
}

impl Name for ReadResponse {
    const NAME: &'static str = "ReadResponse";
    const PACKAGE: &'static str = "p4.v1";
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    /// Every field of a request is preserved, and its updates are unchanged.
    #[test]
    #[allow(deprecated, reason = "older fields travel, too")]
    fn nothing_is_lost() {
        let update = |kind| v1::Update { r#type: kind, entity: Some(v1::Entity::default()) };
        let whole = v1::WriteRequest {
            device_id: 1,
            role_id: 2,
            election_id: Some(v1::Uint128 { high: 3, low: 4 }),
            updates: vec![update(1), update(2)],
            atomicity: 2,
            role: "r".to_owned(),
        };
        let encoded = WriteRequest::decode(whole.encode_to_vec().as_slice()).unwrap();
        assert_eq!(encoded.encode_to_vec(), whole.encode_to_vec());
        let read: Vec<_> = encoded.updates.iter().map(|bytes| v1::Update::decode(bytes.clone()).unwrap()).collect();
        assert_eq!(read, whole.updates);
    }
}
