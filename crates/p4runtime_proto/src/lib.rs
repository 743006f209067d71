//! P4Runtime's messages and its service, as Rust.
//!
//! What enters: the files of `proto`, which declare the published interface (P4Runtime 1.5, with what 1.6 adds; a
//! client of an older version meets nothing that it did not send). What leaves: [`p4::v1`] with messages, client and
//! server, [`p4::config::v1`] with P4Info, [`google::rpc`] with the status in which failures travel,
//! [`wirespeed::v1`] with the one service of our own, and the text and JSON forms of any message in [`text`]. Servers
//! may bound the memory of what they decode ([`codec`], [`mod@weight`]), and read updates one by one ([`unread`]).
//! Client and server of one process need no connection ([`near`]).

pub mod codec;
pub mod near;
pub mod text;
pub mod unread;
pub mod weight;

/// Messages of gRPC itself.
pub mod google {
    /// How failures travel.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from google/rpc/status.proto")]
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

/// Messages of P4Runtime.
pub mod p4 {
    /// What a program offers.
    pub mod config {
        /// P4Info and its types.
        #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from p4/config/v1")]
        pub mod v1 {
            tonic::include_proto!("p4.config.v1");
        }
    }
    /// The service and everything that is read and written.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from p4/v1")]
    pub mod v1 {
        tonic::include_proto!("p4.v1");
        include!(concat!(env!("OUT_DIR"), "/servers/p4.v1.rs"));
    }
}

/// What a switch of ours offers beside P4Runtime.
pub mod wirespeed {
    /// The commands of `simple_switch_CLI` as a service.
    #[allow(missing_docs, unused_qualifications, clippy::all, reason = "made from wirespeed/v1/commands.proto")]
    pub mod v1 {
        tonic::include_proto!("wirespeed.v1");
        include!(concat!(env!("OUT_DIR"), "/servers/wirespeed.v1.rs"));
    }
}

/// The header of an answer to `SetForwardingPipelineConfig`, from a switch of ours, that says what was counted in the
/// program before and went with it, though its state was to be kept: the message has no field for it.
pub const GONE_HEADER: &str = "wirespeed-gone";

#[cfg(test)]
mod tests {
    use super::p4::v1;
    use prost::Message;

    /// The bytes that the published numbers and types lead to, written out by hand.
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

    /// Numbers of 32 bits that stand for ports near the top of their range.
    #[test]
    fn ports_with_a_meaning() {
        assert_eq!(v1::SdnPort::Cpu as i32 as u32, 0xFFFF_FFFD);
    }
}
