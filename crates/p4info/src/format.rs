//! The file formats of a P4Info.

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::text::{to_json, to_text};
use prost::Message;
use std::path::Path;

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
    encode_message("p4/config/v1/p4info.proto", "p4.config.v1.P4Info", info, format)
}

/// Writes a message with this full name, which is declared in this file. A text has the header that tools expect.
pub fn encode_message(file: &str, name: &str, message: &impl Message, format: Format) -> Vec<u8> {
    let header = || format!("# proto-file: {file}\n# proto-message: {name}\n\n");
    match format {
        Format::Text => (header() + &to_text(name, message)).into_bytes(),
        Format::Binary => message.encode_to_vec(),
        Format::Json => to_json(name, message).into_bytes(),
    }
}
