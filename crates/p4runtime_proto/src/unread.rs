//! Write requests whose updates are still bytes, and answers to read requests whose entities are bytes already.
//!
//! What enters: a write request as it comes. What leaves: the same, with updates that share the memory of the request
//! and are decoded when their turn comes; and answers, with entities that share the memory of their message. A million
//! updates or entities take some fifty bytes each on the wire, and ten times as much decoded: a server need not have
//! them all at once in that form.

use crate::p4::v1;
use prost::Name;
use prost::bytes::Bytes;

/// [`v1::WriteRequest`], not read to the end.
#[derive(Clone, PartialEq, prost::Message)]
pub struct WriteRequest {
    /// The device.
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    /// The role in its older form.
    #[prost(uint64, tag = "2")]
    pub role_id: u64,
    /// Who writes.
    #[prost(message, optional, tag = "3")]
    pub election_id: Option<v1::Uint128>,
    /// Each is a [`v1::Update`].
    #[prost(bytes = "bytes", repeated, tag = "4")]
    pub updates: Vec<Bytes>,
    /// How much of it must succeed.
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

/// [`v1::ReadResponse`], written already.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ReadResponse {
    /// Each is a [`v1::Entity`].
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub entities: Vec<Bytes>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    /// Every field of a request is there, and its updates are what they were.
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
        let unread = WriteRequest::decode(whole.encode_to_vec().as_slice()).unwrap();
        assert_eq!(unread.encode_to_vec(), whole.encode_to_vec());
        let read: Vec<_> = unread.updates.iter().map(|bytes| v1::Update::decode(bytes.clone()).unwrap()).collect();
        assert_eq!(read, whole.updates);
    }
}
