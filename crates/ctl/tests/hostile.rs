//! Nonsensical lines and entities are refused without a panic.

use crate::support;

use base::rng::Rng;
use ctl::plan::Plan;
use ctl::render::{commands, entities_text, entity_json, message_json, message_text};
use ctl::{complete, parse};
use p4runtime_proto::p4::v1::{Entity, StreamMessageResponse};
use prost::Message;

/// Words that have a meaning in some command.
const WORDS: [&str; 79] = [
    "workers",
    "timers",
    "stop",
    "sizes",
    "auto",
    "list",
    "show",
    "add",
    "modify",
    "delete",
    "clear",
    "default",
    "counters",
    "meters",
    "registers",
    "members",
    "groups",
    "multicast",
    "mirror",
    "value-sets",
    "digests",
    "packet-out",
    "watch",
    "dump",
    "load",
    "commit",
    "status",
    "help",
    "quit",
    "simple",
    "do",
    "=>",
    "=",
    "set",
    "reset",
    "on",
    "off",
    "priority",
    "timeout",
    "metadata",
    "weight",
    "|",
    "one-of",
    "member",
    "group",
    "max",
    "class",
    "bytes",
    "tables",
    "ipv4_lpm",
    "filter",
    "balance",
    "tiny",
    "rx",
    "hits",
    "police",
    "flows",
    "learned",
    "hops",
    "learn_t",
    "tunnels",
    "drop",
    "ipv4_forward",
    "set_port",
    "0",
    "1",
    "7",
    "-1",
    "10.0.0.0/8",
    "1&&&3",
    "80..90",
    "*",
    "*@",
    "dstAddr=1",
    "port=",
    "10s",
    "0xff",
    "'",
    "\"",
];

#[test]
fn lines_of_any_words() {
    let schema = support::schema();
    let mut rng = Rng::new(7);
    let mut understood = 0;
    for _ in 0..20_000 {
        let count = rng.between(1, 9);
        let line: Vec<&str> = (0..count).map(|_| *rng.pick(&WORDS)).collect();
        let line = line.join(" ");
        understood += usize::from(parse(&line, &schema).is_ok_and(|plan| plan != Plan::Nothing));
        let (start, _) = complete(Some(&schema), &line);
        assert!(line.is_char_boundary(start), "{line}");
    }
    assert!(understood > 100, "{understood} lines were understood");
}

#[test]
fn lines_of_any_characters() {
    let schema = support::schema();
    let mut rng = Rng::new(8);
    let characters: Vec<char> = "add show '\"=#.*:/&@|-0xé\u{1b}\u{2028}日 \t".chars().collect();
    for _ in 0..20_000 {
        let count = rng.between(0, 30);
        let line: String = (0..count).map(|_| *rng.pick(&characters)).collect();
        let _refused = parse(&line, &schema);
        let (start, _) = complete(Some(&schema), &line);
        assert!(line.is_char_boundary(start), "{line}");
    }
}

/// Messages that a broken or hostile switch may send.
#[test]
fn messages_of_any_bytes() {
    let schema = support::schema();
    let mut rng = Rng::new(9);
    let seeds: Vec<Vec<u8>> =
        ["add ipv4_lpm 10.0.0.0/8 do ipv4_forward 1 2", "registers learned 1 = 1 2", "counters rx 1 set 1 2"]
            .iter()
            .flat_map(|line| match parse(line, &schema) {
                Ok(Plan::Write(updates)) => updates,
                other => panic!("{line}: {other:?}"),
            })
            .filter_map(|update| update.entity)
            .map(|entity| entity.encode_to_vec())
            .collect();
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = rng.pick(&seeds).clone();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = rng.next_u64() as u8;
        }
        if let Ok(entity) = Entity::decode(bytes.as_slice()) {
            read += 1;
            let entities = [entity];
            let shown = entities_text(&schema, &entities) + &commands(&schema, &entities).join("\n");
            assert!(!shown.contains('\u{1b}'), "what is shown moves no cursor: {shown:?}");
            let _object = entity_json(&schema, &entities[0]);
        }
        if let Ok(StreamMessageResponse { update: Some(update) }) = StreamMessageResponse::decode(bytes.as_slice()) {
            let _lines = (message_text(&schema, &update), message_json(&schema, &update));
        }
    }
    assert!(read > 1000, "{read} messages could be read");
}
