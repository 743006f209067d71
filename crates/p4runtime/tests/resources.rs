//! Meters and roles, as controllers see them.

use crate::support;

use expect_test::{Expect, expect};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::stream_message_response::Update as Received;
use support::{Controller, Device, ROUTE, ROUTER, entity, program, shown, status, update};

/// The results of an update, one line for each part of the response.
async fn written(controller: &mut Controller, info: &P4Info, text: &str) -> String {
    match controller.write(vec![update(info, text)]).await {
        Ok(()) => "done\n".to_owned(),
        Err(refused) => status(&refused),
    }
}

async fn check_read(controller: &mut Controller, info: &P4Info, asked: &str, expect: Expect) {
    let entities = controller.read(&[entity(info, asked)]).await.unwrap();
    expect.assert_eq(&shown(info, &entities));
}

/// A field of the encoding whose value is bytes, or packed numbers.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, value.len() as u8], value].concat()
}

/// A number as the encoding has it.
fn varint(number: u32) -> Vec<u8> {
    (0..5).map(|part| (number >> (7 * part)) as u8 & 0x7F | if part < 4 { 0x80 } else { 0 }).collect()
}

#[tokio::test]
async fn a_role_has_what_its_configuration_lists() {
    let device = Device::start(Some(ROUTER));
    let info = program(ROUTER).info;
    let route_id = info.tables[0].preamble.as_ref().unwrap().id;
    let mut all = Controller::connect(&device, 1).await;
    let register = "type: MODIFY entity { register_entry { register_id: $last data { bitstring: \"\\007\" } } }";
    let group = r#"type: INSERT entity { packet_replication_engine_entry { multicast_group_entry {
        multicast_group_id: 1 replicas { port: "\001" } } } }"#;
    assert_eq!(written(&mut all, &info, register).await, "done\n");

    // The table exclusively, packets for port 7, no programs.
    let mut routes = Controller::silent(&device, 2).await;
    let filter = field(3, &[&[0x08, 1][..], &field(2, b"\0\x07")].concat());
    let config = [field(1, &varint(route_id)), filter, vec![0x20, 1]].concat();
    let received = routes.bid_as("routes", &config).await;
    assert!(received.contains("you are the primary controller"), "{received}");
    let mut seen = String::new();
    for text in [ROUTE, register, group] {
        seen += &written(&mut routes, &info, text).await;
    }
    seen += &status(&routes.set_config(Action::VerifyAndCommit, Some(ROUTER)).await.unwrap_err());
    expect![[r#"
        done
        Unknown: 1 of 1 updates failed; update 0: the configuration of the role "routes" does not list the register I.last
          PermissionDenied the configuration of the role "routes" does not list the register I.last
        Unknown: 1 of 1 updates failed; update 0: the configuration of the role "routes" does not list multicast groups and clone sessions, which are of roles without one
          PermissionDenied the configuration of the role "routes" does not list multicast groups and clone sessions, which are of roles without one
        PermissionDenied: the role "routes" is not allowed to set programs
    "#]]
    .assert_eq(&seen);
    let registers = "register_entry { register_id: $last index { } }";
    check_read(
        &mut all,
        &info,
        registers,
        expect![[r#"
        register_entry {
          register_id: 380918174
          index {
          }
          data {
            bitstring: "\007"
          }
        }
    "#]],
    )
    .await;
    check_read(&mut routes, &info, registers, expect![[""]]).await;
    check_read(&mut routes, &info, "table_entry { }", expect!["ROUTE\n"]).await;

    // Another role may not have the table, too.
    let mut others = Controller::silent(&device, 3).await;
    let refused = others.bid_as("others", &field(2, &varint(route_id))).await;
    expect![[r#"
        InvalidArgument: role.config: id $route is claimed by the role "routes", too, and is exclusive
    "#]]
    .assert_eq(&refused.replace(&route_id.to_string(), "$route"));
}

#[tokio::test]
async fn a_role_gets_the_packets_of_its_filter() {
    let device = Device::start(Some(ROUTER));
    let mut all = Controller::connect(&device, 1).await;
    // Packets from controllers are sent back with the port 510; the role subscribes to those of 7.
    let mut some = Controller::silent(&device, 2).await;
    some.bid_as("some", &[field(3, &[&[0x08, 1][..], &field(2, b"\x07")].concat()), vec![0x20, 1]].concat()).await;
    let mut wanted = Controller::silent(&device, 3).await;
    wanted
        .bid_as("wanted", &[field(3, &[&[0x08, 1][..], &field(2, b"\x01\xFE")].concat()), vec![0x20, 1]].concat())
        .await;
    let mut none = Controller::silent(&device, 4).await;
    none.bid_as("none", &[]).await;
    for payload in [b"first", b"again"] {
        all.packet_out(b"\x01\xfe", payload).await;
        let packet = all.next().await;
        assert!(packet.contains(std::str::from_utf8(payload).unwrap()), "{packet}");
        assert_eq!(wanted.next().await, packet);
    }
    // The next message for the others is the notification of their own bid.
    for (controller, role) in [(&mut some, "some"), (&mut none, "none")] {
        let received = controller.bid_as(role, &[]).await;
        assert!(received.starts_with("arbitration"), "{received}");
    }
}

/// In both engines.
#[tokio::test]
async fn meters_count_by_colour() {
    let text = ROUTER
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; meter(4, MeterType.bytes) police; bit<2> color;",
        )
        .replace("last.write(0", "police.execute_meter(1, color); last.write(0");
    for device in [Device::start(Some(&text)), Device::start_native(&text)] {
        let info = program(&text).info;
        let mut controller = Controller::connect(&device, 1).await;
        let rates = "type: MODIFY entity { meter_entry { meter_id: $police index { index: 1 } \
                     config { cir: 1 cburst: 20 pir: 1 pburst: 40 } } }";
        assert_eq!(written(&mut controller, &info, rates).await, "done\n");
        // Each is 10 bytes with its header and comes back once it is counted.
        for _ in 0..5 {
            controller.packet_out(b"\x01\xfe", b"12345678").await;
            controller.next().await;
        }
        let read = |with: &str| format!("meter_entry {{ meter_id: $police index {{ index: 1 }} {with} }}");
        check_read(
            &mut controller,
            &info,
            &read(""),
            expect![[r#"
            meter_entry {
              meter_id: 337180187
              index {
                index: 1
              }
              config {
                cir: 1
                cburst: 20
                pir: 1
                pburst: 40
              }
            }
        "#]],
        )
        .await;
        let counted = read("counter_data { }");
        check_read(
            &mut controller,
            &info,
            &counted,
            expect![[r#"
            meter_entry {
              meter_id: 337180187
              index {
                index: 1
              }
              config {
                cir: 1
                cburst: 20
                pir: 1
                pburst: 40
              }
              counter_data {
                green {
                  byte_count: 20
                  packet_count: 2
                }
                yellow {
                  byte_count: 20
                  packet_count: 2
                }
                red {
                  byte_count: 10
                  packet_count: 1
                }
              }
            }
        "#]],
        )
        .await;
        let reset = format!(
            "type: MODIFY entity {{ {} }}",
            read("config { cir: 1 cburst: 20 pir: 1 pburst: 40 } counter_data { green { } yellow { } red { } }")
        );
        assert_eq!(written(&mut controller, &info, &reset).await, "done\n");
        check_read(
            &mut controller,
            &info,
            &counted,
            expect![[r#"
            meter_entry {
              meter_id: 337180187
              index {
                index: 1
              }
              config {
                cir: 1
                cburst: 20
                pir: 1
                pburst: 40
              }
              counter_data {
                green {
                }
                yellow {
                }
                red {
                }
              }
            }
        "#]],
        )
        .await;
    }
}

/// The instances of the copies that a controller receives, up to one of instance 7.
async fn received_instances(controller: &mut Controller) -> Vec<u8> {
    let mut instances = Vec::new();
    while instances.last() != Some(&7) {
        let Some(Received::Packet(packet)) = controller.message().await else { panic!("something else than a packet") };
        instances.push(packet.metadata[1].value[0]);
    }
    instances
}

/// The first backup whose port has a link replaces a replica. Packets to the CPU port are received.
#[tokio::test]
async fn a_backup_takes_the_place_of_a_port_without_a_link() {
    let text = ROUTER.replace("s.egress_spec = h.from_controller.port;", "s.mcast_grp = 1;").replace(
        "standard_metadata_t s) { apply { } }",
        "standard_metadata_t s) { apply { h.to_controller = { s.egress_port, s.egress_rid[6:0] }; } }",
    );
    for device in [Device::start(Some(&text)), Device::start_native(&text)] {
        let info = program(&text).info;
        let mut controller = Controller::connect(&device, 1).await;
        let group = r#"type: INSERT entity { packet_replication_engine_entry { multicast_group_entry {
            multicast_group_id: 1 replicas { port: "\001" instance: 1
                backup_replicas { port: "\002" instance: 3 } backup_replicas { port: "\001\376" instance: 5 } }
            replicas { port: "\001\376" instance: 7 } } } }"#;
        assert_eq!(written(&mut controller, &info, group).await, "done\n");
        let steps = [(None, false), (Some((1, false)), false), (Some((2, false)), true), (Some((1, true)), false)];
        for (changed, is_received) in steps {
            changed.into_iter().for_each(|(port, has_link)| device.link(port, has_link));
            // One byte and the header of two: that is all that a message for controllers needs.
            controller.packet_out(b"\x03", b"a").await;
            let expected: &[u8] = if is_received { &[5, 7] } else { &[7] };
            assert_eq!(received_instances(&mut controller).await, expected, "{changed:?}");
        }
    }
}

#[tokio::test]
async fn a_default_action_keeps_what_is_written_with_it() {
    let device = Device::start(Some(ROUTER));
    let info = program(ROUTER).info;
    let mut controller = Controller::connect(&device, 1).await;
    let default = "table_entry { table_id: $route is_default_action: true";
    let with = |text: &str| format!("type: MODIFY entity {{ {default} {text} }} }}");
    // The program's own action, with additional state: it survives another program, too.
    let own = with("action { action { action_id: $drop } } metadata: \"m\" controller_metadata: 7");
    assert_eq!(written(&mut controller, &info, &own).await, "done\n");
    let expected = expect![[r#"
        table_entry {
          table_id: route
          action {
            action {
              action_id: drop
            }
          }
          controller_metadata: 7
          is_default_action: true
          metadata: "m"
        }
    "#]];
    controller.set_config(Action::ReconcileAndCommit, Some(ROUTER)).await.unwrap();
    let refused = vec![update(&info, &with("")), update(&info, &with("priority: 1"))];
    let atomic = v1::write_request::Atomicity::RollbackOnError;
    controller.write_with(refused, atomic).await.unwrap_err();
    check_read(&mut controller, &info, &format!("{default} }}"), expected).await;
    assert_eq!(written(&mut controller, &info, &with("")).await, "done\n");
    check_read(
        &mut controller,
        &info,
        &format!("{default} }}"),
        expect![[r#"
            table_entry {
              table_id: route
              action {
                action {
                  action_id: drop
                }
              }
              is_default_action: true
            }
        "#]],
    )
    .await;
}

/// Sends packets that come back, and returns what the program has written into the first byte of each.
async fn first_bytes(controller: &mut Controller, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        controller.packet_out(b"\x01\xfe", b"..").await;
        match controller.message().await {
            Some(Received::Packet(packet)) => bytes.push(packet.payload[0]),
            other => panic!("{other:?}"),
        }
    }
    bytes
}

/// In both engines.
#[tokio::test]
async fn a_default_action_has_a_counter_and_a_meter() {
    let text = ROUTER
        .replace("{ bit<32> address; }", "{ bit<32> address; bit<2> color; }")
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last;
            direct_counter(CounterType.packets) asked;
            direct_meter<bit<2>>(MeterType.packets) rate;
            action seen() { rate.read(m.color); }
            table probe { key = { s.ingress_port: exact; } actions = { seen; } default_action = seen(); size = 8;
                          counters = asked; meters = rate; }",
        )
        .replace("last.write(0", "m.color = 3; probe.apply(); h.byte.value = (bit<8>)m.color; last.write(0");
    for device in [Device::start(Some(&text)), Device::start_native(&text)] {
        let info = program(&text).info;
        let mut controller = Controller::connect(&device, 1).await;
        // Without rates a miss is counted, and its colour stays as it was.
        assert_eq!(first_bytes(&mut controller, 3).await, [3, 3, 3]);
        let row = "table_entry { table_id: $probe is_default_action: true";
        let modify = |text: String| format!("type: MODIFY entity {{ {text} }}");
        let rates = "config { cir: 1 cburst: 1 pir: 1 pburst: 2 }";
        let rated = modify(format!("direct_meter_entry {{ {row} }} {rates} }}"));
        assert_eq!(written(&mut controller, &info, &rated).await, "done\n");
        assert_eq!(first_bytes(&mut controller, 3).await, [0, 1, 2]);
        controller.set_config(Action::ReconcileAndCommit, Some(&text)).await.unwrap();
        let counter = format!("direct_counter_entry {{ {row} }} }}");
        let counted = |count: u32| format!("{row} counter_data {{ packet_count: {count} }} meter_config {{ }} }}");
        let read_counter = controller.read(&[entity(&info, &counter)]).await.unwrap();
        let six = format!("direct_counter_entry {{ {row} }} data {{ packet_count: 6 byte_count: 24 }} }}");
        assert_eq!(read_counter, [entity(&info, &six)]);
        check_read(
            &mut controller,
            &info,
            &counted(0),
            expect![[r#"
                table_entry {
                  table_id: probe
                  action {
                    action {
                      action_id: seen
                    }
                  }
                  meter_config {
                    cir: 1
                    cburst: 1
                    pir: 1
                    pburst: 2
                  }
                  counter_data {
                    byte_count: 24
                    packet_count: 6
                  }
                  is_default_action: true
                }
            "#]],
        )
        .await;
        // Written with the action, or reset with it.
        let set =
            modify(format!("{row} action {{ action {{ action_id: $seen }} }} counter_data {{ packet_count: 40 }} }}"));
        assert_eq!(written(&mut controller, &info, &set).await, "done\n");
        assert_eq!(first_bytes(&mut controller, 2).await, [3, 3]);
        assert_eq!(written(&mut controller, &info, &rated).await, "done\n");
        assert_eq!(written(&mut controller, &info, &modify(format!("{row} }}"))).await, "done\n");
        assert_eq!(first_bytes(&mut controller, 1).await, [3]);
        let read_counter = controller.read(&[entity(&info, &counter)]).await.unwrap();
        assert_eq!(
            read_counter,
            [entity(&info, &six.replace("packet_count: 6 byte_count: 24", "packet_count: 43 byte_count: 12"))]
        );
        let none = "direct_counter_entry { table_entry { table_id: $probe } }";
        assert_eq!(controller.read(&[entity(&info, none)]).await.unwrap(), [], "it is not one of the entries'");
    }
}

/// A batch is refused with the same message as a single update.
#[tokio::test]
async fn refusals_have_the_names_that_controllers_sent() {
    let text = ROUTER
        .replace("struct meta_t { bit<32> address; }", "@p4runtime_translation(\"names\", string) type bit<12> name_t;
            struct meta_t { bit<32> address; name_t name; bit<4> plain; }")
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; direct_counter(CounterType.packets) hits; action seen() { }
            table known { key = { m.name: exact; m.plain: exact; } actions = { seen; } default_action = seen(); counters = hits; }",
        )
        .replace("route.apply();", "route.apply(); known.apply();");
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    let entry = |name: &str| {
        format!(
            "table_entry {{ table_id: $known match {{ field_id: 1 exact {{ value: \"{name}\" }} }}
             match {{ field_id: 2 exact {{ value: \"\\007\" }} }}"
        )
    };
    let call = "action { action { action_id: $seen } } } }";
    let insert = format!("type: INSERT entity {{ {} {call}", entry("blue"));
    assert_eq!(written(&mut controller, &info, &insert).await, "done\n");
    let twice = written(&mut controller, &info, &insert).await;
    assert!(twice.contains("there is already an entry with m.name = `blue`, m.plain = 0x7: "), "{twice}");
    let delete = format!("type: DELETE entity {{ {} }} }}", entry("red"));
    let missing = written(&mut controller, &info, &delete).await;
    assert!(missing.contains("match field m.name, value: no value has the name `red` of type "), "{missing}");
    let data = "data { packet_count: 1 }";
    let count = format!("type: MODIFY entity {{ direct_counter_entry {{ {} }} {data} }} }}", entry("green"));
    let missing = written(&mut controller, &info, &count).await;
    assert!(missing.contains("match field m.name, value: no value has the name `green` of type "), "{missing}");
}

/// A table of PSA whose first action executes its meter and whose second does not.
const METERED: &str = r#"
#include <psa.p4>
struct none_t { }
struct headers_t { }
struct meta_t { bit<8> key; PSA_MeterColor_t color; }
parser IP(packet_in p, out headers_t h, inout meta_t m, in psa_ingress_parser_input_metadata_t i, in none_t a,
          in none_t b) { state start { transition accept; } }
control I(inout headers_t h, inout meta_t m, in psa_ingress_input_metadata_t i,
          inout psa_ingress_output_metadata_t o) {
    DirectMeter(PSA_MeterType_t.BYTES) rate;
    action metered() { m.color = rate.execute(); }
    action unmetered() { }
    table police { key = { m.key: exact; } actions = { metered; unmetered; } psa_direct_meter = rate; }
    apply { police.apply(); }
}
control ID(packet_out p, out none_t a, out none_t b, out none_t c, inout headers_t h, in meta_t m,
           in psa_ingress_output_metadata_t o) { apply { } }
parser EP(packet_in p, out headers_t h, inout meta_t m, in psa_egress_parser_input_metadata_t i, in none_t a,
          in none_t b, in none_t c) { state start { transition accept; } }
control E(inout headers_t h, inout meta_t m, in psa_egress_input_metadata_t i,
          inout psa_egress_output_metadata_t o) { apply { } }
control ED(packet_out p, out none_t a, out none_t b, inout headers_t h, in meta_t m,
           in psa_egress_output_metadata_t o, in psa_egress_deparser_input_metadata_t d) { apply { } }
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
"#;

#[tokio::test]
async fn rates_are_for_actions_that_execute_the_meter() {
    let device = Device::start(Some(METERED));
    let info = program(METERED).info;
    let mut controller = Controller::connect(&device, 1).await;
    let rates = "meter_config { cir: 1 cburst: 1 pir: 1 pburst: 1 }";
    let mut seen = String::new();
    for (kind, action, rates) in [
        ("INSERT", "$unmetered", rates),
        ("INSERT", "$unmetered", ""),
        ("MODIFY", "$unmetered", rates),
        ("MODIFY", "$metered", rates),
        ("MODIFY", "$unmetered", ""),
    ] {
        let text = format!(
            r#"type: {kind} entity {{ table_entry {{ table_id: $police match {{ field_id: 1 exact {{ value: "\001" }} }}
            action {{ action {{ action_id: {action} }} }} {rates} }} }}"#
        );
        seen += &written(&mut controller, &info, &text).await;
    }
    expect![[r#"
        Unknown: 1 of 1 updates failed; update 0: table I.police: action I.unmetered does not execute the direct meter I.rate: leave its rates out
          InvalidArgument table I.police: action I.unmetered does not execute the direct meter I.rate: leave its rates out
        done
        Unknown: 1 of 1 updates failed; update 0: table I.police: action I.unmetered does not execute the direct meter I.rate: leave its rates out
          InvalidArgument table I.police: action I.unmetered does not execute the direct meter I.rate: leave its rates out
        done
        done
    "#]].assert_eq(&seen);
}

#[tokio::test]
async fn entries_of_the_program_that_were_deleted_stay_so_when_it_is_set_again() {
    let text = ROUTER
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; action seen() { }
            table known { key = { s.ingress_port: exact; } actions = { seen; } entries = { 1: seen(); 2: seen(); } }",
        )
        .replace("route.apply();", "route.apply(); known.apply();");
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    let row = |port: u32| {
        format!("table_entry {{ table_id: $known match {{ field_id: 1 exact {{ value: \"\\00{port}\" }} }}")
    };
    let delete = format!("type: DELETE entity {{ {} }} }}", row(1));
    assert_eq!(written(&mut controller, &info, &delete).await, "done\n");
    let more = text.replace("2: seen();", "2: seen(); 3: seen();");
    for (text, left) in [(&text, vec![2]), (&more, vec![2, 3])] {
        controller.set_config(Action::ReconcileAndCommit, Some(text)).await.unwrap();
        let all = controller.read(&[entity(&info, "table_entry { table_id: $known }")]).await.unwrap();
        let call = "action { action { action_id: $seen } } }";
        let wanted: Vec<v1::Entity> =
            left.iter().map(|&port| entity(&info, &format!("{} {call}", row(port)))).collect();
        assert_eq!(shown(&info, &all), shown(&info, &wanted));
    }
}
