//! The messages and the service of P4Runtime in Rust.
//!
//! What enters: the files of `proto`, which declare the published interface (P4Runtime 1.5, with the additions of
//! 1.6; a client of an older version never receives a field that it did not use). What leaves: [`p4::v1`] with
//! messages, client and server, [`p4::config::v1`] with P4Info, [`google::rpc`] with the status that reports
//! failures, [`wirespeed::v1`] with the one service of our own, and the text and JSON forms of any message in
//! [`text`]. Servers may limit the memory of what they decode ([`codec`], [`mod@weight`]) and decode updates one by
//! one ([`encoded`]); [`wire`] has the code of each message. Matches of keys are written and shown in one place
//! ([`mod@matches`]). A client and a server in one process need no connection ([`near`]).
//!
//! `tests/generated.rs` makes the Rust of the messages, which is kept in `generated`.

pub mod codec;
pub mod encoded;
pub mod matches;
pub mod near;
pub mod text;
pub mod weight;
pub mod wire;

/// Messages of gRPC itself.
pub mod google {
    /// The status that reports failures.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from google/rpc/status.proto")]
    pub mod rpc {
        include!("../generated/google.rpc.rs");
    }
}

/// Messages of P4Runtime.
pub mod p4 {
    /// The description of a program for controllers.
    pub mod config {
        /// P4Info and its types.
        #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from p4/config/v1")]
        pub mod v1 {
            include!("../generated/p4.config.v1.rs");
        }
    }
    /// The service and its entities.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from p4/v1")]
    pub mod v1 {
        include!("../generated/p4.v1.rs");
        include!("../generated/servers/p4.v1.rs");
    }
}

/// The service that Wirespeed offers besides P4Runtime.
pub mod wirespeed {
    /// The commands of `simple_switch_CLI` as a service.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from wirespeed/v1/commands.proto")]
    pub mod v1 {
        include!("../generated/wirespeed.v1.rs");
        include!("../generated/servers/wirespeed.v1.rs");
    }
}

/// A header in the response of a Wirespeed switch to `SetForwardingPipelineConfig`. It lists the contents of counters
/// and other state of the previous program that were lost although the state was to be kept; the message has no field
/// for this.
pub const GONE_HEADER: &str = "wirespeed-gone";

#[cfg(test)]
mod tests {
    use super::p4::v1;
    use prost::Message;

    /// The bytes that follow from the published field numbers and types, written by hand.
    #[test]
    fn an_entry_on_the_wire() {
        let key = v1::FieldMatch {
            field_id: 1,
            field_match_type: Some(v1::field_match::FieldMatchType::Lpm(v1::field_match::Lpm {
                value: vec![10, 0, 0, 1],
                prefix_len: 32,
            })),
        };
        let entry = v1::TableEntry { table_id: 0x0200_0001, r#match: vec![key], is_const: true, ..Default::default() };
        let expected = [
            &[0x08, 0x81, 0x80, 0x80, 0x10][..], // 1: table_id
            &[0x12, 0x0C],                       // 2: match, 12 bytes
            &[0x08, 0x01],                       // 1: field_id
            &[0x22, 0x08],                       // 4: lpm, 8 bytes
            &[0x0A, 0x04, 10, 0, 0, 1],          // 1: value
            &[0x10, 32],                         // 2: prefix_len
            &[0x68, 0x01],                       // 13: is_const
        ]
        .concat();
        assert_eq!(entry.encode_to_vec(), expected);
        assert_eq!(v1::TableEntry::decode(expected.as_slice()), Ok(entry));
    }

    /// Clients know the service by this name.
    #[test]
    fn the_name_of_the_service() {
        assert_eq!(v1::p4_runtime_server::SERVICE_NAME, "p4.v1.P4Runtime");
    }

    /// The reserved port numbers are near the top of the 32-bit range.
    #[test]
    fn ports_with_a_meaning() {
        assert_eq!(v1::SdnPort::Cpu as i32 as u32, 0xFFFF_FFFD);
    }
}
