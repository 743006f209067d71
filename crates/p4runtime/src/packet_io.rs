//! Packets to and from controllers: converts between the metadata of a message and the header before the packet's
//! bytes.
//!
//! A program declares the headers (`@controller_header("packet_in")`, `"packet_out"`). A packet from a controller
//! gets one prepended and enters by the CPU port; the other is removed from a packet that the program sends to the
//! CPU port.

use crate::schema::{Schema, about};
use crate::translator::Unknown;
use base::Bits;
use base::limits::PACKET_BYTES_MAX;
use control::api::Fault;
use p4info::{ControllerHeader, Kind};
use p4runtime_proto::p4::v1;

fn header<'s>(schema: &'s Schema, name: &str) -> Option<&'s ControllerHeader> {
    let id = schema.model.id_of(Kind::ControllerHeader, name)?;
    schema.model.controller_header(id)
}

/// The frame for a message of a controller.
pub(crate) fn frame(schema: &Schema, sent: &v1::PacketOut) -> Result<Vec<u8>, Fault> {
    let header = header(schema, "packet_out");
    let fields = header.map(|header| header.fields.as_slice()).unwrap_or_default();
    if let Some(unknown) = sent.metadata.iter().find(|it| !fields.iter().any(|field| field.id == it.metadata_id)) {
        let known: Vec<String> = fields.iter().map(|field| format!("{} ({})", field.id, field.name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let id = unknown.metadata_id;
        return Err(Fault::invalid(format!("packet_out has no metadata {id}: its metadata are {known}")));
    }
    let header_bytes = header.map_or(0, |header| header.width_bits.div_ceil(8)) as usize;
    let size = header_bytes + sent.payload.len();
    if size > PACKET_BYTES_MAX {
        let message = format!("the packet has {size} bytes with its header: the most is {PACKET_BYTES_MAX}");
        return Err(Fault::invalid(message));
    }
    let mut frame = vec![0; header_bytes];
    for field in fields {
        let what = format!("packet_out, metadata {}", field.name);
        let mut given = sent.metadata.iter().filter(|it| it.metadata_id == field.id);
        let Some(metadata) = given.next() else {
            return Err(Fault::invalid(format!("{what}: it is missing")));
        };
        if given.next().is_some() {
            return Err(Fault::invalid(format!("{what}: it is given twice")));
        }
        let bits = schema.translator.read(&what, &field.value, &metadata.value, Unknown::Refused);
        let bits = bits.map_err(|fault| Fault { code: control::api::Code::InvalidArgument, ..fault })?;
        if field.offset_bits + bits.width() > header_bytes as u32 * 8 {
            return Err(about(Fault::invalid("the header has no room for it"), what));
        }
        bits.to_packet(&mut frame, field.offset_bits as usize);
    }
    frame.extend_from_slice(&sent.payload);
    Ok(frame)
}

/// The message for a frame from the CPU port; `None` if it is shorter than the header.
pub(crate) fn message(schema: &Schema, frame: &[u8]) -> Option<v1::PacketIn> {
    let Some(header) = header(schema, "packet_in") else {
        return Some(v1::PacketIn { payload: frame.to_vec(), metadata: Vec::new() });
    };
    let (front, payload) = frame.split_at_checked(header.width_bits.div_ceil(8) as usize)?;
    let mut metadata = Vec::with_capacity(header.fields.len());
    for field in &header.fields {
        let width_bits = field.value.width_bits;
        if field.offset_bits + width_bits > front.len() as u32 * 8 {
            return None;
        }
        let bits = Bits::from_packet(width_bits, front, field.offset_bits as usize);
        let value = schema.translator.write(&field.value, &bits);
        metadata.push(v1::PacketMetadata { metadata_id: field.id, value });
    }
    Some(v1::PacketIn { payload: payload.to_vec(), metadata })
}
