//! The memory that a message takes once it is decoded, computed before decoding.
//!
//! What enters: the name of a message's type and its bytes. What leaves: a number of bytes that decoding will not
//! exceed by much. Two bytes on the wire can be an empty update, which takes about a hundred bytes in memory, so a
//! server that accepts messages from untrusted clients needs the number in advance. The sizes follow from the
//! descriptors and the layout of prost's messages.

use crate::text::POOL;
use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The size of a vector or a string within a message: pointer, capacity, length.
const VECTOR_BYTES: usize = 24;

/// The capacity of a vector after the first element is added.
const FIRST_ROOM: usize = 4;

/// The overhead of an allocation.
const ALLOCATION_BYTES: usize = 24;

/// The size of an undecoded message without its bytes, in a vector whose capacity may be twice its length.
const ENCODED_BYTES: usize = 2 * size_of::<prost::bytes::Bytes>();

/// The nesting depth to which messages are examined. Prost refuses deeper ones.
const DEPTH_MAX: u32 = 101;

/// The limit for field numbers in the layouts; the numbers of all messages are below it.
const NUMBERS: usize = 128;

/// The layout of the messages of one type.
struct Layout {
    /// The size of a message without what it points to.
    size_bytes: usize,
    /// The contents of the fields, by field number.
    fields: Vec<Content>,
}

/// How a field's content is stored.
#[derive(Clone, Copy)]
enum Content {
    /// It is discarded, or stored within the message.
    Within,
    /// A string or bytes.
    Text,
    /// Numbers, packed or not.
    Numbers,
    /// A message stored within its parent message.
    Message(usize),
    /// A message in an allocation of its own or in a vector.
    Apart(usize),
    /// A message that stays encoded ([`crate::encoded`]).
    Encoded,
}

static LAYOUTS: LazyLock<(BTreeMap<String, usize>, Vec<Layout>)> = LazyLock::new(|| {
    let names: BTreeMap<String, usize> =
        POOL.all_messages().enumerate().map(|(index, message)| (message.full_name().to_owned(), index)).collect();
    let layout = |message: MessageDescriptor| {
        let mut fields = vec![Content::Within; NUMBERS];
        for field in message.fields().filter(|field| (field.number() as usize) < NUMBERS) {
            fields[field.number() as usize] = content(&names, &field);
        }
        Layout { size_bytes: size_bytes(&message, &mut Vec::new()), fields }
    };
    let layouts = POOL.all_messages().map(layout).collect();
    (names, layouts)
});

fn content(names: &BTreeMap<String, usize>, field: &FieldDescriptor) -> Content {
    let is_repeated = field.cardinality() == Cardinality::Repeated;
    if field.full_name() == "p4.v1.WriteRequest.updates" {
        return Content::Encoded;
    }
    match field.kind() {
        Kind::Message(message) => {
            let index = names[message.full_name()];
            if is_repeated || reaches(&message, field.parent_message()) {
                Content::Apart(index)
            } else {
                Content::Message(index)
            }
        }
        Kind::String | Kind::Bytes => Content::Text,
        _ if is_repeated => Content::Numbers,
        _ => Content::Within,
    }
}

/// Whether a message can contain another one without a vector in between: prost then puts it in a box.
fn reaches(from: &MessageDescriptor, to: &MessageDescriptor) -> bool {
    let (mut waiting, mut seen) = (vec![from.clone()], Vec::new());
    while let Some(message) = waiting.pop() {
        if message == *to {
            return true;
        }
        if seen.contains(&message) {
            continue;
        }
        let singular = message.fields().filter(|field| field.cardinality() != Cardinality::Repeated);
        waiting.extend(singular.filter_map(|field| field.kind().as_message().cloned()));
        seen.push(message);
    }
    false
}

/// The size of a message without what it points to. A `oneof` takes as much as its largest alternative.
fn size_bytes(message: &MessageDescriptor, within: &mut Vec<MessageDescriptor>) -> usize {
    if within.contains(message) {
        // It is in a box.
        return 0;
    }
    within.push(message.clone());
    let mut total = 0;
    let mut choices: BTreeMap<String, usize> = BTreeMap::new();
    for field in message.fields() {
        let size = field_bytes(&field, within);
        match field.containing_oneof() {
            Some(choice) => {
                let largest = choices.entry(choice.full_name().to_owned()).or_default();
                *largest = size.max(*largest);
            }
            None => total += size,
        }
    }
    within.pop();
    total + choices.values().map(|largest| largest + 8).sum::<usize>()
}

fn field_bytes(field: &FieldDescriptor, within: &mut Vec<MessageDescriptor>) -> usize {
    match field.kind() {
        _ if field.cardinality() == Cardinality::Repeated => VECTOR_BYTES,
        Kind::String | Kind::Bytes => VECTOR_BYTES,
        Kind::Message(message) => 8 + size_bytes(&message, within),
        _ => 8,
    }
}

/// The number of bytes that the message of this type takes once it is decoded. A malformed message is counted up to
/// the error, because decoding stops there, too.
///
/// # Panics
/// If no message is called `name`.
pub fn decoded_bytes(name: &str, message: &[u8]) -> usize {
    let (names, layouts) = &*LAYOUTS;
    let index = *names.get(name).expect("the name of a declared message");
    let mut sum = layouts[index].size_bytes;
    add_content(layouts, index, message, 0, &mut sum);
    sum
}

/// Adds the size of a message's content to `sum`; `None` if the message is malformed.
fn add_content(layouts: &[Layout], index: usize, mut rest: &[u8], depth: u32, sum: &mut usize) -> Option<()> {
    if depth >= DEPTH_MAX {
        return None;
    }
    let mut seen = 0u128;
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let number = usize::try_from(tag >> 3).ok()?;
        let content = layouts[index].fields.get(number).copied().unwrap_or(Content::Within);
        let length = match tag & 7 {
            0 => {
                varint(&mut rest)?;
                0
            }
            1 => skip(&mut rest, 8)?.len(),
            5 => skip(&mut rest, 4)?.len(),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let inner = skip(&mut rest, length)?;
                match content {
                    Content::Message(inner_index) => add_content(layouts, inner_index, inner, depth + 1, sum)?,
                    Content::Apart(inner_index) => {
                        // A vector's first allocation has room for four elements. Later spare capacity is not
                        // counted, because its pages are not touched before it is used.
                        let is_first = seen & (1 << number) == 0;
                        seen |= 1 << number;
                        let count = if is_first { FIRST_ROOM } else { 1 };
                        *sum += count * layouts[inner_index].size_bytes + ALLOCATION_BYTES;
                        add_content(layouts, inner_index, inner, depth + 1, sum)?;
                    }
                    _ => {}
                }
                length
            }
            // Groups, which do not occur in these messages: prost skips unknown ones and keeps nothing.
            3 | 4 => continue,
            _ => return None,
        };
        match content {
            Content::Text if length > 0 => *sum += length + ALLOCATION_BYTES,
            Content::Numbers => *sum += 16 * length.max(1),
            Content::Encoded => *sum += ENCODED_BYTES,
            _ => {}
        }
    }
    Some(())
}

fn skip<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (skipped, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(skipped)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for index in 0..10 {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::p4::config::v1 as config;
    use crate::p4::v1;
    use prost::Message;

    /// The computed size of a type is at least its size in Rust.
    #[test]
    fn layouts_are_not_too_small() {
        let size = |name: &str| LAYOUTS.1[LAYOUTS.0[name]].size_bytes;
        let is = [
            ("p4.v1.Update", size_of::<v1::Update>()),
            ("p4.v1.Entity", size_of::<v1::Entity>()),
            ("p4.v1.FieldMatch", size_of::<v1::FieldMatch>()),
            ("p4.v1.Action.Param", size_of::<v1::action::Param>()),
            ("p4.v1.ActionProfileAction", size_of::<v1::ActionProfileAction>()),
            ("p4.v1.ActionProfileGroup.Member", size_of::<v1::action_profile_group::Member>()),
            ("p4.v1.Replica", size_of::<v1::Replica>()),
            ("p4.v1.P4Data", size_of::<v1::P4Data>()),
            ("p4.v1.PacketMetadata", size_of::<v1::PacketMetadata>()),
            ("p4.config.v1.Table", size_of::<config::Table>()),
            ("p4.config.v1.MatchField", size_of::<config::MatchField>()),
            ("p4.config.v1.Action", size_of::<config::Action>()),
            ("p4.config.v1.ControllerPacketMetadata", size_of::<config::ControllerPacketMetadata>()),
        ];
        for (name, bytes) in is {
            assert!(size(name) >= bytes, "{name}: {} is less than {bytes}", size(name));
            assert!(size(name) <= 4 * bytes, "{name}: {} is far more than {bytes}", size(name));
        }
    }

    #[test]
    fn many_empty_messages_are_heavy() {
        let group = v1::MulticastGroupEntry { replicas: vec![v1::Replica::default(); 1000], ..Default::default() };
        let bytes = group.encode_to_vec();
        assert!(bytes.len() < 3000);
        assert!(decoded_bytes("p4.v1.MulticastGroupEntry", &bytes) >= 1000 * size_of::<v1::Replica>());
    }

    #[test]
    fn undecoded_updates_are_small() {
        let request = v1::WriteRequest { updates: vec![v1::Update::default(); 1000], ..Default::default() };
        let weight = decoded_bytes("p4.v1.WriteRequest", &request.encode_to_vec());
        assert!((32_000..100_000).contains(&weight), "{weight}");
    }

    #[test]
    fn malformed_messages_are_counted_up_to_the_error() {
        let fixed = decoded_bytes("p4.v1.WriteRequest", &[]);
        assert_eq!(decoded_bytes("p4.v1.WriteRequest", &[0x22, 0x7F, 0x22]), fixed);
        assert_eq!(decoded_bytes("p4.v1.WriteRequest", &[0xFF; 64]), fixed);
        let deep: Vec<u8> = (0..100_000).flat_map(|_| [0x22, 0x7F]).collect();
        assert_eq!(decoded_bytes("p4.v1.P4Data", &deep), decoded_bytes("p4.v1.P4Data", &[]));
    }
}
