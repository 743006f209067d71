//! Controllers over the loopback interface: requests and responses.

use crate::support;

use expect_test::{Expect, expect};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::{self, set_forwarding_pipeline_config_request::Action};
use p4runtime_proto::wirespeed::v1::SnapshotRequest;
use p4runtime_proto::wirespeed::v1::commands_client::CommandsClient;
use support::{Controller, Device, ROUTE, ROUTER, entity, program, shown, status, update};
use tonic::Code;

fn check(actual: &str, expect: Expect) {
    expect.assert_eq(actual);
}

#[tokio::test]
async fn an_empty_p4info_is_that_of_no_program_with_tables() {
    let device = Device::start(None);
    let mut controller = Controller::connect(&device, 1).await;
    let request = |p4info| v1::SetForwardingPipelineConfigRequest {
        device_id: 1,
        election_id: Some(v1::Uint128 { high: 0, low: 1 }),
        action: Action::VerifyAndCommit as i32,
        config: Some(v1::ForwardingPipelineConfig { p4info, p4_device_config: ROUTER.into(), cookie: None }),
        ..Default::default()
    };
    let empty = Some(P4Info::default());
    let refused = controller.client.set_forwarding_pipeline_config(request(empty)).await.unwrap_err();
    expect![[r#"
        InvalidArgument: the P4Info is not that of the program: it is empty, and the program has table I.route and 6 other objects: send what `wirespeed compile --emit p4info` makes of the program, or none, to have that
    "#]]
    .assert_eq(&status(&refused));
    controller.client.set_forwarding_pipeline_config(request(None)).await.unwrap();
}

#[tokio::test]
async fn a_switch_without_a_program_has_an_error_for_it() {
    let device = Device::start(None);
    let mut controller = Controller::connect(&device, 1).await;
    let read = controller.read(&[v1::Entity::default()]).await.unwrap_err();
    assert_eq!(
        (read.code(), read.message()),
        (Code::FailedPrecondition, "there is no program yet: set a forwarding pipeline config first")
    );
    assert_eq!(
        controller
            .client
            .get_forwarding_pipeline_config(controller.config_request())
            .await
            .unwrap()
            .into_inner()
            .config,
        None
    );
    controller.set_config(Action::VerifyAndCommit, Some(ROUTER)).await.unwrap();
    let update = update(&program(ROUTER).info, ROUTE);
    controller.write(vec![update]).await.unwrap();
    let config = controller.client.get_forwarding_pipeline_config(controller.config_request()).await.unwrap();
    let config = config.into_inner().config.unwrap();
    assert_eq!((config.p4info, config.p4_device_config), (Some(program(ROUTER).info), ROUTER.as_bytes().to_vec()));
}

#[tokio::test]
async fn what_is_written_is_read() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    controller.write(vec![update(&info, ROUTE)]).await.unwrap();
    let entities = controller.read(&[entity(&info, "table_entry { table_id: $route }")]).await.unwrap();
    check(&shown(&info, &entities), expect!["ROUTE\n"]);
    let refused = controller.write(vec![update(&info, ROUTE)]).await.unwrap_err();
    check(
        &status(&refused),
        expect![[r#"
            Unknown: 1 of 1 updates failed; update 0: table I.route: there is already an entry with m.address = 0xa000000/8: modify it, or delete it first
              AlreadyExists table I.route: there is already an entry with m.address = 0xa000000/8: modify it, or delete it first
        "#]],
    );
}

#[tokio::test]
async fn each_update_of_a_batch_has_its_outcome() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    let wide = ROUTE.replace(r#"value: "\002""#, r#"value: "\002\000""#);
    let updates = [ROUTE, &wide, ROUTE].map(|text| update(&info, text)).to_vec();
    let refused = controller.write_with(updates.clone(), v1::write_request::Atomicity::RollbackOnError).await;
    check(
        &status(&refused.unwrap_err()),
        expect![[r#"
            Unknown: 3 of 3 updates failed; update 1: table I.route, action I.forward, parameter port: the value 0x200 needs 10 bits, and there are 9
              Aborted not tried: update 1 of the batch was refused
              OutOfRange table I.route, action I.forward, parameter port: the value 0x200 needs 10 bits, and there are 9
              Aborted not tried: update 1 of the batch was refused
        "#]],
    );
    let all = [entity(&info, "table_entry { table_id: $route }")];
    assert_eq!(controller.read(&all).await.unwrap(), []);
    check(
        &status(&controller.write(updates).await.unwrap_err()),
        expect![[r#"
            Unknown: 2 of 3 updates failed; update 1: table I.route, action I.forward, parameter port: the value 0x200 needs 10 bits, and there are 9; update 2: table I.route: there is already an entry with m.address = 0xa000000/8: modify it, or delete it first
              Ok 
              OutOfRange table I.route, action I.forward, parameter port: the value 0x200 needs 10 bits, and there are 9
              AlreadyExists table I.route: there is already an entry with m.address = 0xa000000/8: modify it, or delete it first
        "#]],
    );
    assert_eq!(controller.read(&all).await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_the_primary_writes() {
    let device = Device::start(Some(ROUTER));
    let mut first = Controller::connect(&device, 5).await;
    let mut second = Controller::connect(&device, 3).await;
    check(
        &second.first_message,
        expect![[r#"
        arbitration {
          device_id: 1
          election_id {
            low: 5
          }
          status {
            code: 6
            message: "another controller is primary; you are a backup"
          }
        }
    "#]],
    );
    let update = update(&program(ROUTER).info, ROUTE);
    let refused = second.write(vec![update.clone()]).await.unwrap_err();
    check(
        &status(&refused),
        expect![[r#"
        PermissionDenied: election id 3 is not that of the primary of the default role: its primary controller has election id 5
    "#]],
    );
    first.write(vec![update.clone()]).await.unwrap();
    drop(first);
    // The remaining one is notified, and may then become primary.
    check(
        &second.next().await,
        expect![[r#"
        arbitration {
          device_id: 1
          election_id {
            low: 5
          }
          status {
            code: 5
            message: "there is no primary controller; you are a backup"
          }
        }
    "#]],
    );
    second.bid(5).await;
    check(
        &second.next().await,
        expect![[r#"
        arbitration {
          device_id: 1
          election_id {
            low: 5
          }
          status {
            message: "you are the primary controller"
          }
        }
    "#]],
    );
    let refused = second.write(vec![update]).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unknown, "it is there already: {refused:?}");
}

#[tokio::test]
async fn a_stream_for_another_device_ends() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::silent(&device, 1).await;
    controller.bid_for(7, 1).await;
    check(
        &controller.next().await,
        expect![[r#"
        NotFound: there is no device 7: this is device 1
    "#]],
    );
}

#[tokio::test]
async fn packets_go_out_and_come_in() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    // The program sends packets from port 510 back to the controllers, with their ingress port.
    controller.packet_out(b"\x01\xfe", b"hello").await;
    check(
        &controller.next().await,
        expect![[r#"
        packet {
          payload: "hello"
          metadata {
            metadata_id: 1
            value: "\001\376"
          }
          metadata {
            metadata_id: 2
            value: "\000"
          }
        }
    "#]],
    );
    controller.packet_out(b"\x02\x00", b"hello").await;
    check(
        &controller.next().await,
        expect![[r#"
        error {
          canonical_code: 3
          message: "packet_out, metadata port: the value 0x200 needs 10 bits, and there are 9"
          packet_out {
            packet_out {
              payload: "hello"
              metadata {
                metadata_id: 1
                value: "\002\000"
              }
              metadata {
                metadata_id: 2
                value: "\000"
              }
            }
          }
        }
    "#]],
    );
}

#[tokio::test]
async fn digests_come_in_lists() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    let learn = "type: INSERT entity { digest_entry { digest_id: $learn_t config { max_list_size: 2 \
                 max_timeout_ns: 60000000000 ack_timeout_ns: 60000000000 } } }";
    controller.write(vec![update(&info, learn)]).await.unwrap();
    for payload in [b"a", b"a", b"b"] {
        // Port 3 learns.
        controller.packet_out(b"\x03", payload).await;
    }
    check(
        &controller.next().await,
        expect![[r#"
        digest {
          digest_id: 398033514
          list_id: 1
          data {
            struct {
              members {
                bitstring: "a"
              }
              members {
                bitstring: "\003"
              }
            }
          }
          data {
            struct {
              members {
                bitstring: "b"
              }
              members {
                bitstring: "\003"
              }
            }
          }
        }
    "#]],
    );
}

#[tokio::test]
async fn capabilities_are_those_of_a_device() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    for (device_id, expected) in [(1, Code::Ok), (0, Code::Ok), (2, Code::NotFound)] {
        let answer = controller.client.capabilities(v1::CapabilitiesRequest { device_id }).await;
        assert_eq!(answer.map_or_else(|status| status.code(), |_| Code::Ok), expected, "device {device_id}");
    }
}

#[tokio::test]
async fn a_saved_program_takes_writes_before_it_runs() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    let nothing_saved = controller.set_config(Action::Commit, None).await.unwrap_err();
    assert_eq!(nothing_saved.code(), Code::NotFound);
    controller.write(vec![update(&info, ROUTE)]).await.unwrap();
    controller.set_config(Action::VerifyAndSave, Some(ROUTER)).await.unwrap();
    let all = [entity(&info, "table_entry { table_id: $route }")];
    assert_eq!(controller.read(&all).await.unwrap(), [], "the saved program has no entries yet");
    let other = ROUTE.replace("\\n\\000", "\\013\\000");
    controller.write(vec![update(&info, &other)]).await.unwrap();
    controller.set_config(Action::Commit, None).await.unwrap();
    let entities = controller.read(&all).await.unwrap();
    // A program that is committed at once replaces the saved one.
    controller.set_config(Action::VerifyAndSave, Some(ROUTER)).await.unwrap();
    controller.set_config(Action::ReconcileAndCommit, Some(ROUTER)).await.unwrap();
    assert_eq!(controller.read(&all).await.unwrap(), entities);
    let nothing_saved = controller.set_config(Action::Commit, None).await.unwrap_err();
    assert_eq!(nothing_saved.code(), Code::NotFound);
    check(
        &shown(&info, &entities),
        expect![[r#"
        table_entry {
          table_id: route
          match {
            field_id: 1
            lpm {
              value: "\013\000\000\000"
              prefix_len: 8
            }
          }
          action {
            action {
              action_id: forward
              params {
                param_id: 1
                value: "\002"
              }
            }
          }
        }
    "#]],
    );
}

#[tokio::test]
async fn the_config_that_is_shown_is_the_one_that_writes_speak_of() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let tables = async |controller: &mut Controller| -> Vec<String> {
        let answer = controller.client.get_forwarding_pipeline_config(controller.config_request()).await.unwrap();
        let info = answer.into_inner().config.unwrap().p4info.unwrap();
        info.tables.iter().map(|it| it.preamble.as_ref().unwrap().alias.clone()).collect()
    };
    let other = ROUTER.replace("route", "way");
    controller.set_config(Action::VerifyAndSave, Some(&other)).await.unwrap();
    assert_eq!(tables(&mut controller).await, ["way"], "reads and writes speak of the saved program");
    // Another client, which only knows what it reads, writes to the program that will run.
    let answer = controller.client.get_forwarding_pipeline_config(controller.config_request()).await.unwrap();
    let info = answer.into_inner().config.unwrap().p4info.unwrap();
    controller.write(vec![update(&info, &ROUTE.replace("route", "way"))]).await.unwrap();
    controller.set_config(Action::Commit, None).await.unwrap();
    assert_eq!(tables(&mut controller).await, ["way"]);
    // A program that is committed at once replaces the saved one, here too.
    controller.set_config(Action::VerifyAndSave, Some(ROUTER)).await.unwrap();
    controller.set_config(Action::VerifyAndCommit, Some(&other)).await.unwrap();
    assert_eq!(tables(&mut controller).await, ["way"]);
}

#[tokio::test]
async fn a_reconciled_program_keeps_what_both_have() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    let register = r#"type: MODIFY entity { register_entry { register_id: $last index { index: 3 } data { bitstring: "\007" } } }"#;
    let group = r#"type: INSERT entity { packet_replication_engine_entry { multicast_group_entry {
        multicast_group_id: 1 replicas { port: "\001" instance: 1 } replicas { port: "\002" } metadata: "mine" } } }"#;
    let updates = [ROUTE, register, group].map(|text| update(&info, text)).to_vec();
    controller.write(updates).await.unwrap();
    // A program with another table more.
    let larger = ROUTER.replace(
        "apply {\n        if (h.from_controller",
        "table extra { key = { s.ingress_port: exact; } actions = { drop; } }\n    apply { extra.apply();\n        if (h.from_controller",
    );
    controller.set_config(Action::ReconcileAndCommit, Some(&larger)).await.unwrap();
    let info = program(&larger).info;
    let all = [
        "table_entry { table_id: $route }",
        "register_entry { register_id: $last index { index: 3 } }",
        "packet_replication_engine_entry { multicast_group_entry { } }",
    ];
    let entities = controller.read(&all.map(|text| entity(&info, text))).await.unwrap();
    check(
        &shown(&info, &entities),
        expect![[r#"
        ROUTE
        --
        register_entry {
          register_id: 380918174
          index {
            index: 3
          }
          data {
            bitstring: "\007"
          }
        }
        --
        packet_replication_engine_entry {
          multicast_group_entry {
            multicast_group_id: 1
            replicas {
              instance: 1
              port: "\001"
            }
            replicas {
              port: "\002"
            }
            metadata: "mine"
          }
        }
    "#]],
    );
}

#[tokio::test]
async fn programs_that_are_wrong_change_nothing() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    for action in [Action::Verify, Action::VerifyAndCommit] {
        let refused = controller.set_config(action, Some("control c() { apply { x = 1; } }")).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
    }
    let json = controller.set_config(Action::Verify, Some("{ \"program\": \"router.p4\" }")).await;
    json.expect("the P4Info is that of the program that runs");
    let info = program(ROUTER).info;
    assert_eq!(controller.read(&[entity(&info, "table_entry { }")]).await.unwrap(), []);
}

#[tokio::test]
async fn a_large_batch_is_carried_out() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let info = program(ROUTER).info;
    let one = update(&info, ROUTE);
    let mut updates = vec![one; 2000];
    for (index, update) in updates.iter_mut().enumerate() {
        support::set_prefix(update, index as u32);
    }
    controller.write(updates.clone()).await.unwrap();
    let entities = controller.read(&[entity(&info, "table_entry { }")]).await.unwrap();
    assert_eq!(entities.len(), 2000);
    // All exist already: the message names some, and the details would be too large for a header.
    let refused = controller.write(updates).await.unwrap_err();
    check(
        &status(&refused),
        expect![[r#"
            Unknown: 2000 of 2000 updates failed; update 0: table I.route: there is already an entry with m.address = 0x0/24: modify it, or delete it first; update 1: table I.route: there is already an entry with m.address = 0x100/24: modify it, or delete it first; update 2: table I.route: there is already an entry with m.address = 0x200/24: modify it, or delete it first; ...
              AlreadyExists update 0: table I.route: there is already an entry with m.address = 0x0/24: modify it, or ...
              AlreadyExists update 1: table I.route: there is already an entry with m.address = 0x100/24: modify it, o...
              AlreadyExists update 2: table I.route: there is already an entry with m.address = 0x200/24: modify it, o...
              AlreadyExists update 3: table I.route: there is already an entry with m.address = 0x300/24: modify it, o...
              AlreadyExists update 4: table I.route: there is already an entry with m.address = 0x400/24: modify it, o...
              AlreadyExists update 5: table I.route: there is already an entry with m.address = 0x500/24: modify it, o...
              AlreadyExists update 6: table I.route: there is already an entry with m.address = 0x600/24: modify it, o...
              AlreadyExists update 7: table I.route: there is already an entry with m.address = 0x700/24: modify it, o...
              AlreadyExists update 8: table I.route: there is already an entry with m.address = 0x800/24: modify it, o...
              AlreadyExists update 9: table I.route: there is already an entry with m.address = 0x900/24: modify it, o...
              AlreadyExists update 10: table I.route: there is already an entry with m.address = 0xa00/24: modify it, ...
              AlreadyExists update 11: table I.route: there is already an entry with m.address = 0xb00/24: modify it, ...
              AlreadyExists update 12: table I.route: there is already an entry with m.address = 0xc00/24: modify it, ...
              AlreadyExists update 13: table I.route: there is already an entry with m.address = 0xd00/24: modify it, ...
              AlreadyExists update 14: table I.route: there is already an entry with m.address = 0xe00/24: modify it, ...
              AlreadyExists update 15: table I.route: there is already an entry with m.address = 0xf00/24: modify it, ...
              AlreadyExists update 16: table I.route: there is already an entry with m.address = 0x1000/24: modify it,...
              AlreadyExists update 17: table I.route: there is already an entry with m.address = 0x1100/24: modify it,...
              AlreadyExists update 18: table I.route: there is already an entry with m.address = 0x1200/24: modify it,...
              AlreadyExists update 19: table I.route: there is already an entry with m.address = 0x1300/24: modify it,...
              AlreadyExists update 20: table I.route: there is already an entry with m.address = 0x1400/24: modify it,...
              AlreadyExists update 21: table I.route: there is already an entry with m.address = 0x1500/24: modify it,...
              AlreadyExists update 22: table I.route: there is already an entry with m.address = 0x1600/24: modify it,...
              AlreadyExists update 23: table I.route: there is already an entry with m.address = 0x1700/24: modify it,...
              AlreadyExists update 24: table I.route: there is already an entry with m.address = 0x1800/24: modify it,...
              AlreadyExists update 25: table I.route: there is already an entry with m.address = 0x1900/24: modify it,...
              AlreadyExists update 26: table I.route: there is already an entry with m.address = 0x1a00/24: modify it,...
              AlreadyExists update 27: table I.route: there is already an entry with m.address = 0x1b00/24: modify it,...
              AlreadyExists update 28: table I.route: there is already an entry with m.address = 0x1c00/24: modify it,...
              AlreadyExists update 29: table I.route: there is already an entry with m.address = 0x1d00/24: modify it,...
              AlreadyExists update 30: table I.route: there is already an entry with m.address = 0x1e00/24: modify it,...
              AlreadyExists update 31: table I.route: there is already an entry with m.address = 0x1f00/24: modify it,...
              AlreadyExists update 32: table I.route: there is already an entry with m.address = 0x2000/24: modify it,...
              AlreadyExists update 33: table I.route: there is already an entry with m.address = 0x2100/24: modify it,...
              AlreadyExists update 34: table I.route: there is already an entry with m.address = 0x2200/24: modify it,...
              AlreadyExists update 35: table I.route: there is already an entry with m.address = 0x2300/24: modify it,...
              AlreadyExists update 36: table I.route: there is already an entry with m.address = 0x2400/24: modify it,...
              AlreadyExists update 37: table I.route: there is already an entry with m.address = 0x2500/24: modify it,...
              AlreadyExists update 38: table I.route: there is already an entry with m.address = 0x2600/24: modify it,...
        "#]],
    );
}

/// In a table whose other entries may be changed.
#[tokio::test]
async fn entries_may_be_const_by_themselves() {
    let entries =
        "entries = { const 32w0x0A000000 &&& 32w0xFF000000: drop(); 32w0x0B000000 &&& 32w0xFF000000: drop(); }";
    let text = ROUTER.replace("size = 4096;", &format!("size = 4096; {entries}"));
    let device = Device::start(Some(&text));
    let mut controller = Controller::connect(&device, 1).await;
    let all = [entity(&program(&text).info, "table_entry { table_id: $route }")];
    let mut found = controller.read(&all).await.unwrap();
    let mut is_const = Vec::new();
    for entity in &mut found {
        let Some(v1::entity::Entity::TableEntry(entry)) = &mut entity.entity else { panic!("{entity:?}") };
        is_const.push(std::mem::take(&mut entry.is_const));
    }
    assert_eq!(is_const, [true, false]);
    let delete = |entity| v1::Update { r#type: v1::update::Type::Delete as i32, entity: Some(entity) };
    let refused = controller.write(found.into_iter().map(delete).collect()).await.unwrap_err();
    check(
        &status(&refused),
        expect![[r#"
            Unknown: 1 of 2 updates failed; update 0: table I.route: the program declares the entry with m.address = 0xa000000/8 as const: it cannot be changed
              PermissionDenied table I.route: the program declares the entry with m.address = 0xa000000/8 as const: it cannot be changed
              Ok 
        "#]],
    );
}

/// The process that runs this switch has not kept the text: that is not to have no program.
#[tokio::test]
async fn a_program_without_its_text_cannot_be_copied() {
    for (text, expected) in [
        (Some(ROUTER), "the switch does not keep the text of its program, so it cannot be copied"),
        (None, "the switch has no program"),
    ] {
        let device = Device::start(text);
        let mut commands = CommandsClient::connect(format!("http://{}", device.address())).await.unwrap();
        let refused = match commands.snapshot(SnapshotRequest { device_id: 1, ..SnapshotRequest::default() }).await {
            Ok(parts) => parts.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        assert_eq!(refused.message(), expected);
    }
}
