//! `RECONCILE_AND_COMMIT`: written state is kept or the program is refused; mere counts may be lost, and this is
//! reported.

use crate::support;

use expect_test::{Expect, expect};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::{self, stream_message_response::Update as Received};
use p4runtime_proto::wirespeed::v1::RunRequest;
use p4runtime_proto::wirespeed::v1::commands_client::CommandsClient;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{Controller, Device, ROUTE, ROUTER, entity, program, shown, update};

/// The state before each change of the program.
const WRITTEN: [&str; 5] = [
    ROUTE,
    r#"type: MODIFY entity { table_entry { table_id: $route is_default_action: true
        action { action { action_id: $forward params { param_id: 1 value: "\003" } } } } }"#,
    r#"type: MODIFY entity { register_entry { register_id: $last index { index: 3 } data { bitstring: "\023\210" } } }"#,
    r#"type: INSERT entity { digest_entry { digest_id: $learn_t config { max_list_size: 2 } } }"#,
    r#"type: INSERT entity { packet_replication_engine_entry { multicast_group_entry {
        multicast_group_id: 1 replicas { port: "\001" instance: 1 } } } }"#,
];

/// How to read it.
const ALL: [&str; 5] = [
    "table_entry { }",
    "table_entry { table_id: $route is_default_action: true }",
    "register_entry { register_id: $last }",
    "digest_entry { }",
    "packet_replication_engine_entry { multicast_group_entry { } }",
];

async fn state(controller: &mut Controller, info: &P4Info) -> String {
    let entities = controller.read(&ALL.map(|text| entity(info, text))).await.unwrap();
    shown(info, &entities)
}

#[tokio::test]
async fn what_was_written_and_has_no_place_is_a_reason_to_refuse() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    controller.write(WRITTEN.map(|text| update(&info, text)).to_vec()).await.unwrap();
    let before = state(&mut controller, &info).await;
    let changes = [
        ("route", "way"),
        ("m.address: lpm", "m.address: ternary"),
        (
            "action forward(bit<9> port) { s.egress_spec = port; }",
            "action forward(bit<8> port) { s.egress_spec = 9w1; }",
        ),
        ("bit<32>>(8) last;", "bit<32>>(3) last;"),
        ("register<bit<32>>(8) last;", "register<bit<12>>(8) last;"),
        ("last.write(0, (bit<32>)", "last.write(0, (bit<12>)"),
        ("bit<8> value; bit<9> port; }\nheader", "bit<8> value; bit<16> port; }\nheader"),
    ];
    let mut refusals = String::new();
    let mut changed = ROUTER.to_owned();
    for (from, to) in changes {
        assert!(changed.contains(from), "{from}");
        changed = changed.replace(from, to);
        // Both places of the register belong together, and so do both of the digest.
        if to.starts_with("register") {
            continue;
        }
        if to.contains("bit<16> port") {
            changed = changed.replace("h.byte.value, s.egress_spec }", "h.byte.value, (bit<16>)s.egress_spec }");
        }
        let refused = controller.set_config(Action::ReconcileAndCommit, Some(&changed)).await.unwrap_err();
        refusals += &format!("{to}\n  {:?} {}\n", refused.code(), refused.message());
        assert_eq!(state(&mut controller, &info).await, before, "{to}");
        changed = ROUTER.to_owned();
    }
    check(
        &refusals,
        expect![[r#"
        way
          InvalidArgument the new program cannot keep what was written: default action of table I.route (1): there is no table of this name with the same keys; table I.route (1): there is no table of this name with the same keys. Nothing has changed: delete it first, or use VERIFY_AND_COMMIT, which starts with empty state
        m.address: ternary
          InvalidArgument the new program cannot keep what was written: default action of table I.route (1): there is no table of this name with the same keys; table I.route (1): there is no table of this name with the same keys. Nothing has changed: delete it first, or use VERIFY_AND_COMMIT, which starts with empty state
        action forward(bit<8> port) { s.egress_spec = 9w1; }
          InvalidArgument the new program cannot keep what was written: default action of table I.route (1): there is no action of the same name and parameters; table I.route (1): there is no action of the same name and parameters. Nothing has changed: delete it first, or use VERIFY_AND_COMMIT, which starts with empty state
        bit<32>>(3) last;
          InvalidArgument register I.last: cell 3 is 0x1388, and the new program has 3 cells. Nothing has changed; VERIFY_AND_COMMIT starts with empty state
        last.write(0, (bit<12>)
          InvalidArgument register I.last: cell 3 is 0x1388, which is not a value of bit<12> in the new program. Nothing has changed; VERIFY_AND_COMMIT starts with empty state
        bit<8> value; bit<16> port; }
        header
          InvalidArgument the new program cannot keep what was written: digest learn_t (1): there is no digest of this name and type. Nothing has changed: delete it first, or use VERIFY_AND_COMMIT, which starts with empty state
    "#]],
    );
}

fn check(shown: &str, expected: Expect) {
    expected.assert_eq(shown);
}

#[tokio::test]
async fn registers_are_kept_where_their_values_fit() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    controller.write(WRITTEN.map(|text| update(&info, text)).to_vec()).await.unwrap();
    let cell = [entity(&info, "register_entry { register_id: $last index { index: 3 } }")];
    let before = controller.read(&cell).await.unwrap();
    for (width, size) in [(13, 4), (64, 100), (32, 8)] {
        let text = ROUTER
            .replace("bit<32>>(8) last;", &format!("bit<{width}>>({size}) last;"))
            .replace("(bit<32>)h.from_controller.port", &format!("(bit<{width}>)h.from_controller.port"));
        assert_eq!(controller.set_config(Action::ReconcileAndCommit, Some(&text)).await.unwrap(), "");
        assert_eq!(controller.read(&cell).await.unwrap(), before, "bit<{width}>");
    }
}

#[tokio::test]
async fn what_was_only_counted_goes_with_its_array_and_is_reported() {
    let counted = ROUTER
        .replace("register<bit<32>>(8) last;", "register<bit<32>>(8) last; counter(9, CounterType.packets) seen;")
        .replace("last.write(0", "seen.count(h.from_controller.port == 510 ? 32w8 : 32w1); last.write(0");
    let device = Device::start(Some(&counted));
    let mut controller = Controller::connect(&device, 1).await;
    for port in [b"\x01\xfe", b"\x00\x01", b"\x01\xfe"] {
        controller.packet_out(port, b"x").await;
    }
    // The third has come back when all have been counted.
    for _ in 0..2 {
        assert!(controller.next().await.starts_with("packet"));
    }
    let smaller = counted.replace("counter(9,", "counter(5,");
    let gone = controller.set_config(Action::ReconcileAndCommit, Some(&smaller)).await.unwrap();
    assert_eq!(gone, "counter I.seen: 1 cell that is not zero");
    let without =
        ROUTER.replace("register<bit<32>>(8) last;", "").replace("last.write(0, (bit<32>)h.from_controller.port);", "");
    let gone = controller.set_config(Action::ReconcileAndCommit, Some(&without)).await.unwrap();
    assert_eq!(gone, "register I.last: 1 cell that is not zero; counter I.seen: 1 cell that is not zero");
}

#[tokio::test]
async fn nodes_and_sessions_of_simple_switch_cli_stay() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let mut commands = CommandsClient::connect(format!("http://{}", device.address())).await.unwrap();
    let mut run = async |line: &str| {
        let request = RunRequest { device_id: 1, line: line.to_owned() };
        let answer = commands.run(request).await.unwrap().into_inner();
        assert!(!answer.is_error, "{line}: {}", answer.text);
        answer.text
    };
    for line in ["mc_mgrp_create 1", "mc_node_create 7 1 2", "mc_node_associate 1 0", "mirroring_add_mc 5 1"] {
        run(line).await;
    }
    let before = (run("mirroring_get 5").await, run("mc_dump").await);
    controller.set_config(Action::ReconcileAndCommit, Some(ROUTER)).await.unwrap();
    assert_eq!((run("mirroring_get 5").await, run("mc_dump").await), before);
    run("mc_node_update 0 4").await;
}

/// Counts each packet of controllers with an entry's counter, and sends it back.
fn counting() -> String {
    ROUTER
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; direct_counter(CounterType.packets) hits; action seen() { }
            table probe { key = { s.ingress_port: exact; } actions = { seen; } size = 8; counters = hits; }",
        )
        .replace("last.write(0", "probe.apply(); last.write(0")
}

#[tokio::test]
async fn entries_count_up_to_the_last_packet_of_the_program() {
    let text = counting();
    let info = program(&text).info;
    let device = Device::start_native(&text);
    let mut controller = Controller::connect(&device, 1).await;
    let row = r#"table_entry { table_id: $probe match { field_id: 1 exact { value: "\001\376" } }"#;
    let insert = format!("type: INSERT entity {{ {row} action {{ action {{ action_id: $seen }} }} }} }}");
    controller.write(vec![update(&info, &insert)]).await.unwrap();
    let mut feeder = Controller::silent(&device, 1).await;
    feeder.bid_for_role(v1::Role { name: "feeder".to_owned(), ..Default::default() }).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let feeding = {
        let is_over = Arc::clone(&is_over);
        tokio::spawn(async move {
            let (mut sent, mut received) = (0, 0);
            while !is_over.load(Ordering::Relaxed) {
                feeder.packet_out(b"\x01\xfe", b"..").await;
                sent += 1;
                // A packet that waits when the program changes is dropped, before it is counted or after.
                let answer = tokio::time::timeout(Duration::from_millis(300), feeder.message()).await;
                received += i64::from(matches!(answer, Ok(Some(Received::Packet(_)))));
            }
            (sent, received)
        })
    };
    for _ in 0..10 {
        controller.set_config(Action::ReconcileAndCommit, Some(&text)).await.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    let (sent, received) = feeding.await.unwrap();
    let counter = controller.read(&[entity(&info, &format!("direct_counter_entry {{ {row} }} }}"))]).await.unwrap();
    let Some(v1::entity::Entity::DirectCounterEntry(counter)) = &counter[0].entity else { panic!("{counter:?}") };
    assert!(received > 0);
    let counted = counter.data.as_ref().unwrap().packet_count;
    assert!((received..=sent).contains(&counted), "{counted} counted, {received} received, {sent} sent");
}
