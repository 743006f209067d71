//! Accounts: what each subscriber has sent and received, how many bindings it has, and what was not forwarded.
//!
//! What enters: cells of counters and entries of a switch. What leaves: lines of text, or of JSON.

use base::OrderedMap;
use p4runtime_proto::p4::v1::Entity;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::field_match::FieldMatchType;
use serde_json::{Value, json};

/// What is read, as commands of `wirespeed ctl`.
pub const READ: [&str; 5] =
    ["counters uploaded", "counters downloaded", "show bindings_up", "counters reasons", "counters kept"];

/// The names of reasons, by their numbers.
const REASONS: [&str; 32] = [
    "",
    "ttl expired",
    "no binding",
    "for the gateway",
    "too long",
    "arp answer",
    "",
    "",
    "cut off",
    "wrong header",
    "wrong checksum",
    "wrong length",
    "martian",
    "fragment",
    "other station",
    "no interface",
    "other protocol",
    "gre options",
    "not tunnelled",
    "wrong tunnel",
    "unknown tunnel",
    "wrong source",
    "not translated",
    "unsolicited",
    "not ours",
    "upload rate",
    "download rate",
    "no subscriber",
    "no route",
    "no next hop",
    "arp of others",
    "congested",
];

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    packets: u64,
    bytes: u64,
}

/// The account of a subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Account {
    uploaded: Count,
    downloaded: Count,
    bindings: u64,
}

/// The cells of a counter that are not 0.
fn cells(entities: &[Entity]) -> impl Iterator<Item = (u32, Count)> {
    entities.iter().filter_map(|it| {
        let Some(Kind::CounterEntry(cell)) = &it.entity else { return None };
        let (index, data) = (cell.index.as_ref()?.index, cell.data.as_ref()?);
        let count = Count { packets: data.packet_count as u64, bytes: data.byte_count as u64 };
        (count != Count::default()).then_some((index as u32, count))
    })
}

/// The subscriber of an entry of `bindings_up`: its first key.
fn subscriber(entity: &Entity) -> Option<u32> {
    let Some(Kind::TableEntry(entry)) = &entity.entity else { return None };
    let key = entry.r#match.iter().find(|key| key.field_id == 1)?;
    let Some(FieldMatchType::Exact(exact)) = &key.field_match_type else { return None };
    Some(exact.value.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// The lines about what was read by [`READ`].
pub fn lines(read: &[Vec<Entity>], is_json: bool) -> Vec<String> {
    let [uploaded, downloaded, bindings, reasons, kept] = read else { return Vec::new() };
    let mut accounts: OrderedMap<u32, Account> = OrderedMap::new();
    for (number, count) in cells(uploaded) {
        accounts.entry(number).or_default().uploaded = count;
    }
    for (number, count) in cells(downloaded) {
        accounts.entry(number).or_default().downloaded = count;
    }
    for number in bindings.iter().filter_map(subscriber) {
        accounts.entry(number).or_default().bindings += 1;
    }
    let kept: OrderedMap<u32, Count> = cells(kept).collect();
    let count = |it: Count| json!({"packets": it.packets, "bytes": it.bytes});
    let accounts = accounts.iter().map(|(number, it)| match is_json {
        true => json!({
            "subscriber": number, "uploaded": count(it.uploaded), "downloaded": count(it.downloaded),
            "bindings": it.bindings,
        })
        .to_string(),
        false => format!(
            "subscriber {number}: sent {} packets, {} bytes; received {} packets, {} bytes; {} bindings",
            it.uploaded.packets, it.uploaded.bytes, it.downloaded.packets, it.downloaded.bytes, it.bindings
        ),
    });
    let reasons = cells(reasons).map(|(number, it)| {
        let name = REASONS.get(number as usize).copied().unwrap_or_default();
        let kept = kept.get(&number).map_or(0, |it| it.packets);
        match is_json {
            true => {
                let mut line = json!({"reason": number, "name": name, "not_forwarded": count(it)});
                if kept > 0 {
                    line["kept_from_controller"] = Value::from(kept);
                }
                line.to_string()
            }
            false if kept > 0 => {
                format!("{name}: {} packets, {kept} of them kept from the controller", it.packets)
            }
            false => format!("{name}: {} packets", it.packets),
        }
    });
    accounts.chain(reasons).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use p4runtime_proto::p4::v1::{CounterData, CounterEntry, FieldMatch, Index, TableEntry, field_match};

    fn cell(index: i64, packets: i64) -> Entity {
        let data = Some(CounterData { packet_count: packets, byte_count: packets * 100 });
        let cell = CounterEntry { counter_id: 1, index: Some(Index { index }), data };
        Entity { entity: Some(Kind::CounterEntry(cell)) }
    }

    fn binding(subscriber: u8) -> Entity {
        let value = field_match::Exact { value: vec![subscriber] };
        let key = FieldMatch { field_id: 1, field_match_type: Some(FieldMatchType::Exact(value)) };
        Entity { entity: Some(Kind::TableEntry(TableEntry { r#match: vec![key], ..TableEntry::default() })) }
    }

    #[test]
    fn who_has_sent_or_received_or_has_bindings_is_listed() {
        let read = [
            vec![cell(0, 0), cell(1, 5), cell(2, 0)],
            vec![cell(7, 3)],
            vec![binding(1), binding(1), binding(9)],
            vec![cell(2, 8), cell(25, 1)],
            vec![cell(2, 6)],
        ];
        expect![[r#"
            subscriber 1: sent 5 packets, 500 bytes; received 0 packets, 0 bytes; 2 bindings
            subscriber 7: sent 0 packets, 0 bytes; received 3 packets, 300 bytes; 0 bindings
            subscriber 9: sent 0 packets, 0 bytes; received 0 packets, 0 bytes; 1 bindings
            no binding: 8 packets, 6 of them kept from the controller
            upload rate: 1 packets"#]]
        .assert_eq(&lines(&read, false).join("\n"));
        let json = lines(&read, true);
        expect![[
            r#"{"bindings":2,"downloaded":{"bytes":0,"packets":0},"subscriber":1,"uploaded":{"bytes":500,"packets":5}}"#
        ]]
        .assert_eq(&json[0]);
        expect![[
            r#"{"kept_from_controller":6,"name":"no binding","not_forwarded":{"bytes":800,"packets":8},"reason":2}"#
        ]]
        .assert_eq(&json[3]);
    }
}
