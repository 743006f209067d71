//! The file formats of a P4Info.

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::text::{to_json, to_text};
use prost::Message;
use std::path::Path;

/// The full name of the protobuf message.
const NAME: &str = "p4.config.v1.P4Info";

/// The header that tools expect in a text file.
const HEADER: &str = "# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n";

/// A file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The protobuf text format.
    Text,
    /// The protobuf wire format.
    Binary,
    /// JSON.
    Json,
}

impl Format {
    /// The format for a file's extension.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "txt" | "txtpb" | "textproto" | "pbtxt" | "prototxt" => Some(Format::Text),
            "bin" | "pb" | "binpb" => Some(Format::Binary),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// Writes a P4Info.
pub fn encode(info: &P4Info, format: Format) -> Vec<u8> {
    match format {
        Format::Text => format!("{HEADER}{}", to_text(NAME, info)).into_bytes(),
        Format::Binary => info.encode_to_vec(),
        Format::Json => to_json(NAME, info).into_bytes(),
    }
}
