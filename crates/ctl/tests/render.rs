//! Entities in; text, JSON and commands out.

use crate::support;

use ctl::plan::{Plan, entity};
use ctl::render::{commands, entities_text, entity_json, message_json, message_text};
use ctl::{Schema, parse};
use expect_test::{Expect, expect};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::*;

/// The entities that the commands in `lines` would write.
fn entities(schema: &Schema, lines: &str) -> Vec<Entity> {
    let written = lines.lines().flat_map(|line| match parse(line, schema) {
        Ok(Plan::Write(updates)) => updates.into_iter().filter_map(|it| it.entity).collect::<Vec<_>>(),
        other => panic!("{line}: {other:?}"),
    });
    written.collect()
}

fn check_text(lines: &str, expected: Expect) {
    let schema = support::schema();
    expected.assert_eq(&(entities_text(&schema, &entities(&schema, lines)) + "\n"));
}

fn check_json(lines: &str, expected: Expect) {
    let schema = support::schema();
    let entities = entities(&schema, lines);
    let lines: Vec<String> = entities.iter().map(|it| entity_json(&schema, it).to_string()).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

const ENTRIES: &str = "\
add ipv4_lpm 10.0.1.1/32 do ipv4_forward 08:00:00:00:01:11 1 timeout 10s metadata 0xcafe
add ipv4_lpm 10.0.0.0/8 do drop
default ipv4_lpm do drop metadata 0xbeef
add filter 1 10.0.0.0/8 80..90 * do drop priority 10
add filter 1 * * 7 do NoAction priority 5
add balance 9 do one-of set_port 1 weight 2 watch 1 | NoAction
add balance 7 do member 3";

const OBJECTS: &str = "\
members add hops 1 do set_port 3
groups add hops 1 1*2@3 2 max 8
counters rx 3 set 5 640
counters rx 4 reset
counters hits 10.0.0.0/8 set 1 64
meters police 1 set 1 2 3 4
meters police 2 reset
meters limit 10.0.0.0/8 set 1 2 3 4
registers flows 3 = 0xff
registers flows 2 = 0
registers learned 1 = port=3 srcAddr=1
multicast add 1 1 2:7/3/4:8
mirror add 5 3/2 class 1 bytes 128";

#[test]
fn entries() {
    check_text(
        ENTRIES,
        expect![[r#"
            MyIngress.ipv4_lpm: 2 entries
            hdr.ipv4.dstAddr  action                                         timeout  metadata
            10.0.1.1/32       ipv4_forward dstAddr=08:00:00:00:01:11 port=1  10s      cafe
            10.0.0.0/8        drop
            default           drop                                                    beef

            MyIngress.acl.filter: 2 entries
            hdr.ipv4.isValid()  hdr.ipv4.srcAddr        meta.dstPort  meta.vlan  priority  action
            1                   0xa000000&&&0xff000000  80..90        *          10        drop
            1                   *                       *             7          5         NoAction

            MyIngress.balance: 2 entries
            meta.tag  action
            9         one-of set_port port=1 weight 2 watch 1 | NoAction
            7         member 3
        "#]],
    );
    check_json(
        ENTRIES,
        expect![[r#"
            {"action":"ipv4_forward","arguments":{"dstAddr":"08:00:00:00:01:11","port":"1"},"idle_timeout_ns":10000000000,"match":{"hdr.ipv4.dstAddr":"10.0.1.1/32"},"metadata":"cafe","table":"MyIngress.ipv4_lpm"}
            {"action":"drop","arguments":{},"match":{"hdr.ipv4.dstAddr":"10.0.0.0/8"},"table":"MyIngress.ipv4_lpm"}
            {"action":"drop","arguments":{},"default":true,"metadata":"beef","table":"MyIngress.ipv4_lpm"}
            {"action":"drop","arguments":{},"match":{"hdr.ipv4.isValid()":"1","hdr.ipv4.srcAddr":"0xa000000&&&0xff000000","meta.dstPort":"80..90"},"priority":10,"table":"MyIngress.acl.filter"}
            {"action":"NoAction","arguments":{},"match":{"hdr.ipv4.isValid()":"1","meta.vlan":"7"},"priority":5,"table":"MyIngress.acl.filter"}
            {"match":{"meta.tag":"9"},"one_of":[{"action":"set_port","arguments":{"port":"1"},"watch_port":1,"weight":2},{"action":"NoAction","arguments":{},"weight":1}],"table":"MyIngress.balance"}
            {"match":{"meta.tag":"7"},"member":3,"table":"MyIngress.balance"}
        "#]],
    );
}

#[test]
fn objects() {
    check_text(
        OBJECTS,
        expect![[r#"
            MyIngress.hops: 1 member
            member  action
            1       set_port port=3

            MyIngress.hops: 1 group
            group  members  max
            1      1*2@3 2  8

            MyIngress.rx: 2 cells, 1 of them 0
            index  packets  bytes
            3      5        640

            MyIngress.ipv4_lpm: 1 counter
            hdr.ipv4.dstAddr  packets  bytes
            10.0.0.0/8        1        64

            MyIngress.police: 2 cells, 1 of them 0
            index  cir  cburst  pir  pburst
            1      1    2       3    4

            MyIngress.ipv4_lpm: 1 meter
            hdr.ipv4.dstAddr  cir  cburst  pir  pburst
            10.0.0.0/8        1    2       3    4

            MyIngress.flows: 2 cells, 1 of them 0
            index  value
            3      255

            MyIngress.learned: 1 cell
            index  value
            1      {port=3 srcAddr=1}

            1 multicast group
            group  copies
            1      1 2:7/3/4:8

            1 clone session
            session  copies  class  bytes
            5        3/2     1      128
        "#]],
    );
    check_json(
        OBJECTS,
        expect![[r#"
            {"action":"set_port","arguments":{"port":"3"},"member":1,"profile":"MyIngress.hops"}
            {"group":1,"max_size":8,"members":["1*2@3","2"],"profile":"MyIngress.hops"}
            {"counter":"MyIngress.rx","index":3,"value":{"bytes":640,"packets":5}}
            {"counter":"MyIngress.rx","index":4,"value":{"bytes":0,"packets":0}}
            {"counter":{"bytes":64,"packets":1},"match":{"hdr.ipv4.dstAddr":"10.0.0.0/8"},"table":"MyIngress.ipv4_lpm"}
            {"index":1,"meter":"MyIngress.police","value":{"cburst":2,"cir":1,"pburst":4,"pir":3}}
            {"index":2,"meter":"MyIngress.police","value":null}
            {"match":{"hdr.ipv4.dstAddr":"10.0.0.0/8"},"meter":{"cburst":2,"cir":1,"pburst":4,"pir":3},"table":"MyIngress.ipv4_lpm"}
            {"index":3,"register":"MyIngress.flows","value":"255"}
            {"index":2,"register":"MyIngress.flows","value":"0"}
            {"index":1,"register":"MyIngress.learned","value":{"port":"3","srcAddr":"1"}}
            {"copies":["1","2:7/3/4:8"],"multicast_group":1}
            {"class_of_service":1,"clone_session":5,"copies":["3/2"],"packet_length_bytes":128}
        "#]],
    );
}

#[test]
fn one_cell_is_shown_though_it_is_zero() {
    check_text(
        "counters rx 4 reset",
        expect![[r#"
        MyIngress.rx: 1 cell
        index  packets  bytes
        4      0        0
    "#]],
    );
}

/// Entries of the program in a table with an action profile have their action themselves. No controller can write that.
#[test]
fn entries_of_the_program_go_through_the_profile() {
    let mut info = support::info();
    for with_selector in [true, false] {
        info.action_profiles[0].with_selector = with_selector;
        let schema = Schema::new(info.clone());
        let mut written = entities(
            &schema,
            "members add hops 4 do set_port 3\nadd balance 7 do member 3\nadd ipv4_lpm 10.0.0.0/8 do drop",
        );
        let Some(Kind::TableEntry(direct)) = written.remove(2).entity else { panic!("an entry") };
        let Some(Kind::TableEntry(it)) = &mut written[1].entity else { panic!("an entry") };
        it.action = direct.action;
        let lines = commands(&schema, &written);
        let expected = match with_selector {
            true => vec!["add MyIngress.balance 7 do one-of drop"],
            false => vec!["members add MyIngress.hops 5 do drop", "add MyIngress.balance 7 do member 5"],
        };
        assert_eq!(lines[1..], expected);
    }
}

/// The commands of a dump write the same entities again.
#[test]
fn commands_write_the_same_again() {
    let schema = support::schema();
    let text = format!("{ENTRIES}\n{OBJECTS}");
    let lines = commands(&schema, &entities(&schema, &text)).join("\n");
    expect![[r#"
        add MyIngress.ipv4_lpm 10.0.1.1/32 do ipv4_forward dstAddr=08:00:00:00:01:11 port=1 timeout 10s metadata cafe
        add MyIngress.ipv4_lpm 10.0.0.0/8 do drop
        default MyIngress.ipv4_lpm do drop metadata beef
        add MyIngress.acl.filter 1 0xa000000&&&0xff000000 80..90 * priority 10 do drop
        add MyIngress.acl.filter 1 * * 7 priority 5 do NoAction
        add MyIngress.balance 9 do one-of set_port port=1 weight 2 watch 1 | NoAction
        add MyIngress.balance 7 do member 3
        members add MyIngress.hops 1 do set_port port=3
        groups add MyIngress.hops 1 1*2@3 2 max 8
        counters MyIngress.rx 3 set 5 640
        counters MyIngress.hits 10.0.0.0/8 set 1 64
        meters MyIngress.police 1 set 1 2 3 4
        meters MyIngress.limit 10.0.0.0/8 set 1 2 3 4
        registers MyIngress.flows 3 = 255
        registers MyIngress.learned 1 = srcAddr=1 port=3
        multicast add 1 1 2:7/3/4:8
        mirror add 5 3/2 class 1 bytes 128"#]]
    .assert_eq(&lines);
    assert_eq!(commands(&schema, &entities(&schema, &lines)).join("\n"), lines);
}

#[test]
fn entities_of_another_program_are_shown_by_their_ids() {
    let schema = support::schema();
    let entry = TableEntry { table_id: 0x0200_00FF, ..TableEntry::default() };
    let counter = CounterEntry { counter_id: 0x1200_00FF, index: Some(Index { index: 1 }), data: None };
    let unknown = [entity(Kind::TableEntry(entry)), entity(Kind::CounterEntry(counter)), Entity::default()];
    expect![[r#"
        0x020000ff: 1 entry
        action
        nothing

        0x120000ff: 1 cell
        index  packets  bytes
        1      0        0"#]]
    .assert_eq(&entities_text(&schema, &unknown));
    let json: Vec<String> = unknown.iter().map(|it| entity_json(&schema, it).to_string()).collect();
    expect![[r#"
        {"match":{},"table":"0x020000ff"}
        {"counter":"0x120000ff","index":1,"value":{"bytes":0,"packets":0}}
        null"#]]
    .assert_eq(&json.join("\n"));
}

fn check_message(update: StreamUpdate, expected: Expect) {
    let schema = support::schema();
    let mut lines = message_text(&schema, &update);
    lines.push(message_json(&schema, &update).to_string());
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn messages() {
    let status = |code| Some(p4runtime_proto::google::rpc::Status { code, ..Default::default() });
    let election_id = Some(Uint128 { high: 1, low: 2 });
    check_message(
        StreamUpdate::Arbitration(MasterArbitrationUpdate { election_id, status: status(6), ..Default::default() }),
        expect![[r#"
            mastership: the controller with election id 18446744073709551618 is primary
            {"election_id":"18446744073709551618","event":"mastership","has_primary":true,"role":null}
        "#]],
    );
    let role = Some(Role { name: "routes".to_owned(), ..Role::default() });
    check_message(
        StreamUpdate::Arbitration(MasterArbitrationUpdate { role, status: status(5), ..Default::default() }),
        expect![[r#"
            mastership: no controller is primary of role routes; the highest so far had no election id
            {"election_id":null,"event":"mastership","has_primary":false,"role":"routes"}
        "#]],
    );
    let metadata = vec![PacketMetadata { metadata_id: 1, value: vec![3] }];
    check_message(
        StreamUpdate::Packet(PacketIn { payload: vec![0xCA, 0xFE], metadata }),
        expect![[r#"
        packet: 2 bytes ingress_port=3 cafe
        {"bytes":2,"event":"packet","fields":{"ingress_port":"3"},"payload":"cafe"}
    "#]],
    );
    let bits = |bytes: &[u8]| P4Data { data: Some(p4_data::Data::Bitstring(bytes.to_vec())) };
    let learned = P4StructLike { members: vec![bits(&[1, 2]), bits(&[7])] };
    let learned = P4Data { data: Some(p4_data::Data::Struct(learned)) };
    let list = DigestList { digest_id: 0x1700_0001, list_id: 4, data: vec![learned], timestamp: 9 };
    check_message(
        StreamUpdate::Digest(list),
        expect![[r#"
            digest learn_t: port=7 srcAddr=258
            {"data":[{"port":"7","srcAddr":"258"}],"digest":"learn_t","event":"digest","list":4,"timestamp_ns":9}
        "#]],
    );
    let schema = support::schema();
    let idle = entities(&schema, "add ipv4_lpm 10.0.0.0/8 do drop").pop().and_then(|it| it.entity);
    let Some(Kind::TableEntry(entry)) = idle else { panic!("an entry") };
    let notification = IdleTimeoutNotification { table_entry: vec![entry], timestamp: 5 };
    check_message(
        StreamUpdate::IdleTimeoutNotification(notification),
        expect![[r#"
        timeout MyIngress.ipv4_lpm: hdr.ipv4.dstAddr=10.0.0.0/8
        {"entries":[{"match":{"hdr.ipv4.dstAddr":"10.0.0.0/8"},"table":"MyIngress.ipv4_lpm"}],"event":"timeout","timestamp_ns":5}
    "#]],
    );
    let error = StreamError { canonical_code: 3, message: "no \u{1b} such field".to_owned(), ..Default::default() };
    check_message(
        StreamUpdate::Error(error),
        expect![[r#"
            error: no \u{1b} such field
            {"code":3,"event":"error","message":"no \u001b such field"}
        "#]],
    );
}
