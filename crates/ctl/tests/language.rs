//! Lines in, requests out. Long because requests are shown whole, a field a line.

use crate::support;

use ctl::plan::{Change, Plan};
use ctl::{complete, parse};
use expect_test::{Expect, expect};
use p4runtime_proto::p4::v1::Entity;
use p4runtime_proto::text::to_text;

fn entities(title: &str, entities: &[Entity]) -> String {
    entities.iter().map(|it| format!("{title}\n{}", to_text("p4.v1.Entity", it))).collect()
}

/// Shows the requests of each line, or the error.
fn check(lines: &str, expected: Expect) {
    let schema = support::schema();
    let mut shown = String::new();
    for line in lines.lines() {
        shown += &match parse(line, &schema) {
            Ok(Plan::Write(updates)) => {
                updates.iter().map(|it| format!("write\n{}", to_text("p4.v1.Update", it))).collect::<String>()
            }
            Ok(Plan::Read(read)) => {
                let filter =
                    if read.filter == Default::default() { String::new() } else { format!("{:?}\n", read.filter) };
                entities("read", &read.entities) + &filter
            }
            Ok(Plan::Change(Change { entities: read, kind })) => format!("{}{kind:?}\n", entities("read", &read)),
            Ok(Plan::Say(text)) => text + "\n",
            Ok(plan) => format!("{plan:?}\n"),
            Err(problem) => format!("{problem}\n"),
        };
    }
    expected.assert_eq(&shown);
}

#[test]
fn entries_of_every_match_kind() {
    check(
        "add ipv4_lpm 10.0.1.1/32 do ipv4_forward 08:00:00:00:01:11 1 timeout 10s metadata 0xcafe",
        expect![[r#"
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554433
            match {
              field_id: 1
              lpm {
                value: "\n\000\001\001"
                prefix_len: 32
              }
            }
            action {
              action {
                action_id: 16777218
                params {
                  param_id: 1
                  value: "\010\000\000\000\001\021"
                }
                params {
                  param_id: 2
                  value: "\001"
                }
              }
            }
            idle_timeout_ns: 10000000000
            metadata: "\312\376"
          }
        }
    "#]],
    );
    check(
        "add acl.filter true 10.0.0.0&&&0xff000000 80..90 * => drop priority 10",
        expect![[r#"
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554434
            match {
              field_id: 1
              exact {
                value: "\001"
              }
            }
            match {
              field_id: 2
              ternary {
                value: "\n\000\000\000"
                mask: "\377\000\000\000"
              }
            }
            match {
              field_id: 3
              range {
                low: "P"
                high: "Z"
              }
            }
            action {
              action {
                action_id: 16777217
              }
            }
            priority: 10
          }
        }
    "#]],
    );
}

#[test]
fn keys_and_arguments_by_name() {
    check(
        "add filter priority 3 isValid()=1 dstPort=80->80 do drop",
        expect![[r#"
            write
            type: INSERT
            entity {
              table_entry {
                table_id: 33554434
                match {
                  field_id: 1
                  exact {
                    value: "\001"
                  }
                }
                match {
                  field_id: 3
                  range {
                    low: "P"
                    high: "P"
                  }
                }
                action {
                  action {
                    action_id: 16777217
                  }
                }
                priority: 3
              }
            }
        "#]],
    );
    check(
        "add MyIngress.ipv4_lpm dstAddr=10.0.0.0/8 do ipv4_forward port=3 dstAddr=1",
        expect![[r#"
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554433
            match {
              field_id: 1
              lpm {
                value: "\n\000\000\000"
                prefix_len: 8
              }
            }
            action {
              action {
                action_id: 16777218
                params {
                  param_id: 1
                  value: "\001"
                }
                params {
                  param_id: 2
                  value: "\003"
                }
              }
            }
          }
        }
    "#]],
    );
}

#[test]
fn errors_in_entries() {
    check(
        "add
         add ipv4_lmp 1/1 do drop
         add ipv4_lpm 10.0.0.0 do drop
         add ipv4_lpm 10.0.0.0/8
         add ipv4_lpm 10.0.0.0/8 do
         add ipv4_lpm 10.0.0.0/8 do NoAction
         add ipv4_lpm 10.0.0.0/8 do ipv4_forward 1
         add ipv4_lpm 10.0.0.0/8 do ipv4_forward 1 512
         add ipv4_lpm 10.0.0.0/8 do ipv4_forward port=1 port=2
         add ipv4_lpm 10.0.0.0/8 11.0.0.0/8 do drop
         add ipv4_lpm dstAddr=0/1 dst=0/1 do drop
         add ipv4_lpm 10.0.0.0/8 do drop priority 1
         add ipv4_lpm 10.0.0.0/8 do drop timeout 10
         add filter 1 * * * do drop
         add filter 1 * do drop priority 1
         add filter srcAddr=* do drop priority 1
         add filter 1 * * * do drop priority 1 timeout 1s
         add tiny 1 do drop
         add balance 1 do set_port 1
         default tiny do drop
         frobnicate",
        expect![[r#"
            add needs a table
              help: add TABLE KEY... do ACTION [ARG...] [priority N] [timeout TIME] [metadata HEX]
            there is no table ipv4_lmp
              help: the program has the tables MyIngress.ipv4_lpm, MyIngress.acl.filter, MyIngress.balance, MyIngress.tiny
            10.0.0.0 has no prefix length, key hdr.ipv4.dstAddr is matched by longest prefix
              help: write 10.0.0.0/32 for this value alone
            there is no do between the keys and the action
              help: add TABLE KEY... do ACTION [ARG...] [priority N] [timeout TIME] [metadata HEX]
            there is no action after do
              help: table MyIngress.ipv4_lpm has the actions MyIngress.drop, NoAction, MyIngress.ipv4_forward
            action NoAction is for the default only (@defaultonly), not for entries
            action MyIngress.ipv4_forward takes 2 arguments: dstAddr, port; 1 given
            512 needs 10 bits, parameter port has 9
            parameter port is given twice
            table MyIngress.ipv4_lpm has 1 key: hdr.ipv4.dstAddr; 2 given
            there is no key dst
              help: table MyIngress.ipv4_lpm has the keys hdr.ipv4.dstAddr
            entries of table MyIngress.ipv4_lpm have no priority: no key is ternary, range or optional
            10 is not a valid time
              help: a time is a number with a unit: 10s, 500ms, 5min
            an entry of table MyIngress.acl.filter needs a priority above 0 (the greater wins)
              help: write priority N at the end
            table MyIngress.acl.filter has 4 keys: hdr.ipv4.isValid(), hdr.ipv4.srcAddr, meta.dstPort, meta.vlan; 2 given
            table MyIngress.acl.filter has 4 keys: hdr.ipv4.isValid(), hdr.ipv4.srcAddr, meta.dstPort, meta.vlan; 1 given
            entries of table MyIngress.acl.filter have no timeouts
              help: the program allows them with support_timeout = true
            the entries of table MyIngress.tiny are const and cannot be changed
            table MyIngress.balance finds its actions in an action profile
              help: do member N, do group N, or do one-of ACTION ARG... [weight N] [watch PORT] | ACTION ...
            the default action of table MyIngress.tiny is const and cannot be changed
            there is no command frobnicate
              help: commands are multicast, trace, commit, list, modify, delete, counters, registers and 21 more; help shows all
        "#]],
    );
}

/// P4Runtime requires these bits to be 0, and what a user means is not known.
#[test]
fn bits_that_a_key_does_not_match_are_refused() {
    check(
        "add ipv4_lpm 10.9.0.1/8 do drop
         add ipv4_lpm dstAddr=10.9.0.1/0 do drop
         delete ipv4_lpm 10.9.0.0/15
         add filter 1 10.9.0.1/8 * * do drop priority 1
         add filter 1 10.9.0.1&&&0xff000000 * * do drop priority 1
         add filter 1 10.9.0.1&&&0 * * do drop priority 1",
        expect![[r#"
            10.9.0.1/8: key hdr.ipv4.dstAddr must have zero bits outside the prefix
              help: write 10.0.0.0/8
            10.9.0.1/0: key hdr.ipv4.dstAddr must have zero bits outside the prefix
              help: write 0.0.0.0/0
            10.9.0.0/15: key hdr.ipv4.dstAddr must have zero bits outside the prefix
              help: write 10.8.0.0/15
            10.9.0.1/8: key hdr.ipv4.srcAddr must have zero bits outside the mask
              help: write 167772160/8
            10.9.0.1&&&0xff000000: key hdr.ipv4.srcAddr must have zero bits outside the mask
              help: write 167772160&&&0xff000000
            10.9.0.1&&&0: key hdr.ipv4.srcAddr must have zero bits outside the mask
              help: write 0&&&0
        "#]],
    );
}

/// Parameters of no bits, whose only value is 0, may be left out, as in entries files.
#[test]
fn parameters_of_no_bits_may_be_left_out() {
    let mut info = support::info();
    let forward = info.actions.iter_mut().find(|it| it.params.len() == 2).expect("the action that forwards");
    forward.params[0].bitwidth = 0;
    let schema = ctl::Schema::new(info);
    let parsed = |arguments: &str| match parse(&format!("add ipv4_lpm 1.0.0.0/8 do ipv4_forward {arguments}"), &schema)
    {
        Ok(Plan::Write(updates)) => to_text("p4.v1.Update", &updates[0]),
        Ok(plan) => format!("{plan:?}"),
        Err(problem) => problem.to_string(),
    };
    let whole = parsed("dstAddr=0 port=3");
    assert!(whole.contains("param_id: 1") && whole.contains("param_id: 2"), "{whole}");
    for arguments in ["port=3", "3", "0 3", "dstAddr=0 3"] {
        assert_eq!(parsed(arguments), whole, "{arguments}");
    }
    expect![[r#"
        action MyIngress.ipv4_forward takes 2 arguments: dstAddr, port; 0 given
        action MyIngress.ipv4_forward takes 2 arguments: dstAddr, port; 1 given
        1 needs 1 bit, parameter dstAddr has 0
        action MyIngress.ipv4_forward takes 2 arguments: dstAddr, port; 3 given"#]]
    .assert_eq(&["", "dstAddr=0", "1 3", "0 3 4"].map(parsed).join("\n"));
}

#[test]
fn entries_are_changed_and_deleted() {
    check(
        "modify ipv4_lpm 10.0.1.1/32 do drop",
        expect![[r#"
        write
        type: MODIFY
        entity {
          table_entry {
            table_id: 33554433
            match {
              field_id: 1
              lpm {
                value: "\n\000\001\001"
                prefix_len: 32
              }
            }
            action {
              action {
                action_id: 16777217
              }
            }
          }
        }
    "#]],
    );
    check(
        "delete filter 1 * 80..90 7 priority 10",
        expect![[r#"
        write
        type: DELETE
        entity {
          table_entry {
            table_id: 33554434
            match {
              field_id: 1
              exact {
                value: "\001"
              }
            }
            match {
              field_id: 3
              range {
                low: "P"
                high: "Z"
              }
            }
            match {
              field_id: 4
              optional {
                value: "\007"
              }
            }
            priority: 10
          }
        }
    "#]],
    );
    check(
        "clear ipv4_lpm",
        expect![[r#"
        read
        table_entry {
          table_id: 33554433
        }
        Clear
    "#]],
    );
    check(
        "default ipv4_lpm do ipv4_forward 1 2\ndefault ipv4_lpm reset\ndefault ipv4_lpm",
        expect![[r#"
        write
        type: MODIFY
        entity {
          table_entry {
            table_id: 33554433
            action {
              action {
                action_id: 16777218
                params {
                  param_id: 1
                  value: "\001"
                }
                params {
                  param_id: 2
                  value: "\002"
                }
              }
            }
            is_default_action: true
          }
        }
        write
        type: MODIFY
        entity {
          table_entry {
            table_id: 33554433
            is_default_action: true
          }
        }
        read
        table_entry {
          table_id: 33554433
          is_default_action: true
        }
    "#]],
    );
}

#[test]
fn members_groups_and_groups_of_their_own() {
    check(
        "add balance 7 do member 3\nadd balance 8 do group 2",
        expect![[r#"
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554435
            match {
              field_id: 1
              exact {
                value: "\007"
              }
            }
            action {
              action_profile_member_id: 3
            }
          }
        }
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554435
            match {
              field_id: 1
              exact {
                value: "\010"
              }
            }
            action {
              action_profile_group_id: 2
            }
          }
        }
    "#]],
    );
    check(
        "add balance 9 do one-of set_port 1 weight 2 watch 1 | NoAction",
        expect![[r#"
        write
        type: INSERT
        entity {
          table_entry {
            table_id: 33554435
            match {
              field_id: 1
              exact {
                value: "\t"
              }
            }
            action {
              action_profile_action_set {
                action_profile_actions {
                  action {
                    action_id: 16777219
                    params {
                      param_id: 1
                      value: "\001"
                    }
                  }
                  weight: 2
                  watch_port: "\001"
                }
                action_profile_actions {
                  action {
                    action_id: 16777220
                  }
                  weight: 1
                }
              }
            }
          }
        }
    "#]],
    );
    check(
        "members add hops 1 do set_port 3\nmembers delete balance 1\ngroups add hops 1 1*2@3 2 max 8\nmembers hops",
        expect![[r#"
            write
            type: INSERT
            entity {
              action_profile_member {
                action_profile_id: 285212673
                member_id: 1
                action {
                  action_id: 16777219
                  params {
                    param_id: 1
                    value: "\003"
                  }
                }
              }
            }
            write
            type: DELETE
            entity {
              action_profile_member {
                action_profile_id: 285212673
                member_id: 1
              }
            }
            write
            type: INSERT
            entity {
              action_profile_group {
                action_profile_id: 285212673
                group_id: 1
                members {
                  member_id: 1
                  weight: 2
                  watch_port: "\003"
                }
                members {
                  member_id: 2
                  weight: 1
                }
                max_size: 8
              }
            }
            read
            action_profile_member {
              action_profile_id: 285212673
            }
        "#]],
    );
    check(
        "members add hops 1\ngroups add hops 1 x\nmembers add lpm 1 do drop\nadd balance 1 do member",
        expect![[r#"
            a member needs do ACTION ARG...
              help: members [PROFILE [MEMBER]]
                    members add|modify PROFILE MEMBER do ACTION [ARG...]
                    members delete PROFILE MEMBER
                    members clear [PROFILE]
            x is not a valid member
              help: a member of a group is MEMBER[*WEIGHT][@PORT], such as 3*2@1
            there is no action profile lpm
              help: the program has the action profiles MyIngress.hops
            exactly one member must follow do member
        "#]],
    );
}

#[test]
fn entries_are_read_whole_or_looked_through() {
    check(
        "show ipv4_lpm 10.0.0.0/8",
        expect![[r#"
            read
            table_entry {
              table_id: 33554433
              match {
                field_id: 1
                lpm {
                  value: "\n\000\000\000"
                  prefix_len: 8
                }
              }
              meter_config {
              }
              counter_data {
              }
              time_since_last_hit {
              }
            }
        "#]],
    );
    check(
        "show filter dstPort=80..90",
        expect![[r#"
        read
        table_entry {
          table_id: 33554434
        }
        Filter { keys: [(1, Absent), (2, Absent), (3, Match(FieldMatch { field_id: 3, field_match_type: Some(Range(Range { low: [80], high: [90] })) })), (4, Absent)], priority: 0 }
    "#]],
    );
    check(
        "show balance",
        expect![[r#"
        read
        table_entry {
          table_id: 33554435
        }
        read
        table_entry {
          table_id: 33554435
          is_default_action: true
        }
    "#]],
    );
}

#[test]
fn counters_meters_and_registers() {
    check(
        "counters\ncounters rx\ncounters rx 3\ncounters rx 3 set 5 640\ncounters rx reset\ncounters rx 16",
        expect![[r#"
        read
        counter_entry {
        }
        read
        counter_entry {
          counter_id: 301989889
        }
        read
        counter_entry {
          counter_id: 301989889
          index {
            index: 3
          }
        }
        write
        type: MODIFY
        entity {
          counter_entry {
            counter_id: 301989889
            index {
              index: 3
            }
            data {
              byte_count: 640
              packet_count: 5
            }
          }
        }
        write
        type: MODIFY
        entity {
          counter_entry {
            counter_id: 301989889
            data {
            }
          }
        }
        index 16 is out of range, MyIngress.rx has 16 cells (0 to 15)
    "#]],
    );
    check(
        "counters hits 10.0.0.0/8\ncounters ipv4_lpm 10.0.0.0/8 reset\ncounters hits reset",
        expect![[r#"
        read
        direct_counter_entry {
          table_entry {
            table_id: 33554433
            match {
              field_id: 1
              lpm {
                value: "\n\000\000\000"
                prefix_len: 8
              }
            }
          }
        }
        write
        type: MODIFY
        entity {
          direct_counter_entry {
            table_entry {
              table_id: 33554433
              match {
                field_id: 1
                lpm {
                  value: "\n\000\000\000"
                  prefix_len: 8
                }
              }
            }
            data {
            }
          }
        }
        read
        direct_counter_entry {
          table_entry {
            table_id: 33554433
          }
        }
        ResetDirect
    "#]],
    );
    check(
        "meters police 1 set 1 2 3 4\nmeters limit 10.0.0.0/8 reset\nmeters police 1 set 3 1 2 1",
        expect![[r#"
        write
        type: MODIFY
        entity {
          meter_entry {
            meter_id: 335544321
            index {
              index: 1
            }
            config {
              cir: 1
              cburst: 2
              pir: 3
              pburst: 4
            }
          }
        }
        write
        type: MODIFY
        entity {
          direct_meter_entry {
            table_entry {
              table_id: 33554433
              match {
                field_id: 1
                lpm {
                  value: "\n\000\000\000"
                  prefix_len: 8
                }
              }
            }
          }
        }
        the peak rate (third) is lower than the committed rate (first)
    "#]],
    );
    check(
        "registers flows 3 = 0xff\nregisters flows = 0\nregisters learned 1 = port=3 srcAddr=1",
        expect![[r#"
        write
        type: MODIFY
        entity {
          register_entry {
            register_id: 369098753
            index {
              index: 3
            }
            data {
              bitstring: "\377"
            }
          }
        }
        write
        type: MODIFY
        entity {
          register_entry {
            register_id: 369098753
            data {
              bitstring: "\000"
            }
          }
        }
        write
        type: MODIFY
        entity {
          register_entry {
            register_id: 369098754
            index {
              index: 1
            }
            data {
              struct {
                members {
                  bitstring: "\001"
                }
                members {
                  bitstring: "\003"
                }
              }
            }
          }
        }
    "#]],
    );
    check(
        "registers flows 3 =\nregisters learned 0 = 1\nregisters flows 0 = 0x10000",
        expect![[r#"
        MyIngress.flows has one value; 0 given
        MyIngress.learned has 2 values: srcAddr, port; 1 given
        0x10000 needs 17 bits, value MyIngress.flows has 16
    "#]],
    );
}

#[test]
fn copies_of_packets() {
    check(
        "multicast add 1 1 2:7/3/4:8\nmulticast delete 1\nmulticast\nmulticast x\nmulticast add 1 2//3",
        expect![[r#"
            write
            type: INSERT
            entity {
              packet_replication_engine_entry {
                multicast_group_entry {
                  multicast_group_id: 1
                  replicas {
                    port: "\001"
                  }
                  replicas {
                    instance: 7
                    port: "\002"
                    backup_replicas {
                      port: "\003"
                    }
                    backup_replicas {
                      port: "\004"
                      instance: 8
                    }
                  }
                }
              }
            }
            write
            type: DELETE
            entity {
              packet_replication_engine_entry {
                multicast_group_entry {
                  multicast_group_id: 1
                }
              }
            }
            read
            packet_replication_engine_entry {
              multicast_group_entry {
              }
            }
            x is not a valid multicast group
              help: it is a number
             is not a valid port
              help: a copy is PORT[:INSTANCE], such as 3 or 3:1, with backups after it, such as 3/4
        "#]],
    );
    check(
        "mirror add 5 3 class 1 bytes 128\nmirror 5\nmirror add 5 3:x",
        expect![[r#"
        write
        type: INSERT
        entity {
          packet_replication_engine_entry {
            clone_session_entry {
              session_id: 5
              replicas {
                port: "\003"
              }
              class_of_service: 1
              packet_length_bytes: 128
            }
          }
        }
        read
        packet_replication_engine_entry {
          clone_session_entry {
            session_id: 5
          }
        }
        x is not a valid instance
          help: it is a number
    "#]],
    );
}

#[test]
fn value_sets_and_digests() {
    check(
        "value-sets tunnels\nvalue-sets add tunnels 0x800/8\nvalue-sets clear tunnels",
        expect![[r#"
        read
        value_set_entry {
          value_set_id: 50331649
        }
        read
        value_set_entry {
          value_set_id: 50331649
        }
        AddToValueSet([FieldMatch { field_id: 1, field_match_type: Some(Ternary(Ternary { value: [8, 0], mask: [255, 0] })) }])
        write
        type: MODIFY
        entity {
          value_set_entry {
            value_set_id: 50331649
          }
        }
    "#]],
    );
    check(
        "digests\ndigests learn_t on timeout 10ms size 5\ndigests learn_t off\ndigests learn_t up",
        expect![[r#"
            read
            digest_entry {
            }
            read
            digest_entry {
              digest_id: 385875969
            }
            DigestOn(DigestEntry { digest_id: 385875969, config: Some(Config { max_timeout_ns: 10000000, max_list_size: 5, ack_timeout_ns: 0 }) })
            write
            type: DELETE
            entity {
              digest_entry {
                digest_id: 385875969
              }
            }
            up is neither on nor off
              help: digests [NAME]
                    digests NAME on [timeout TIME] [size N] [ack TIME]
                    digests NAME off
                    digests clear
        "#]],
    );
}

#[test]
fn packets_programs_and_the_session() {
    check(
        "packet-out ff:ff egress_port=3\npacket-out fff\npacket-out ffff\npacket-out ffff port=1",
        expect![[r#"
        PacketOut(PacketOut { payload: [255, 255], metadata: [PacketMetadata { metadata_id: 1, value: [3] }, PacketMetadata { metadata_id: 2, value: [0] }] })
        the packet has half a byte: there is an odd number of hexadecimal digits
        field egress_port of the header packet_out is missing
          help: write egress_port=VALUE after the packet
        there is no field port
          help: the header packet_out has the fields _pad, egress_port
    "#]],
    );
    check(
        "load a.p4\nload a.p4 reconcile\nload a.p4 later\ncommit\nwatch digests\nwatch birds\nstatus\nquit\n\n# no",
        expect![[r#"
        Load(Load { path: "a.p4", how: Fresh })
        Load(Load { path: "a.p4", how: Reconcile })
        later is not one of reconcile, verify, save
          help: load PROGRAM.p4 [reconcile|verify|save]
        Commit
        Watch(Watched { packets: false, digests: true, timeouts: false, mastership: false })
        birds is not one of packets, digests, timeouts, mastership
          help: watch [packets] [digests] [timeouts] [mastership]
        Status
        Quit
        Nothing
        Nothing
    "#]],
    );
}

#[test]
fn lists() {
    check(
        "list\nlist tables\nlist actions\nlist packets\nlist birds",
        expect![[r#"
        tables      4
        actions     4
        profiles    1
        counters    2
        meters      2
        registers   2
        value-sets  1
        digests     1
        packets     2
        MyIngress.ipv4_lpm
          key hdr.ipv4.dstAddr: 32 bits, lpm
          action MyIngress.drop()
          action NoAction() (default only)
          action MyIngress.ipv4_forward(dstAddr: 48 bits, port: 9 bits)
          counter MyIngress.hits
          meter MyIngress.limit
          size 1024, timeouts
        MyIngress.acl.filter
          key hdr.ipv4.isValid(): 1 bit, exact
          key hdr.ipv4.srcAddr: 32 bits, ternary
          key meta.dstPort: 16 bits, range
          key meta.vlan: 12 bits, optional
          action MyIngress.drop()
          action NoAction()
          size 64
        MyIngress.balance
          key meta.tag: 12 bits, exact
          action NoAction()
          action MyIngress.set_port(port: 9 bits)
          profile MyIngress.hops
          size 64
        MyIngress.tiny
          key meta.tag: 12 bits, exact
          action MyIngress.drop()
          action NoAction()
          const entries, const default
        MyIngress.drop()
        MyIngress.ipv4_forward(dstAddr: 48 bits, port: 9 bits)
        MyIngress.set_port(port: 9 bits)
        NoAction()
        packet_in   ingress_port: 9 bits, _pad: 7 bits
        packet_out  egress_port: 9 bits, _pad: 7 bits
        birds cannot be listed
          help: list tables, actions, meters, digests, profiles, packets, counters, registers and 1 more
    "#]],
    );
    check(
        "list profiles\nlist counters\nlist meters\nlist registers\nlist value-sets\nlist digests",
        expect![[r#"
        MyIngress.hops  members and groups, of MyIngress.balance
        MyIngress.rx    16 cells
        MyIngress.hits  of the entries of MyIngress.ipv4_lpm
        MyIngress.police  8 cells, in bytes
        MyIngress.limit   of the entries of MyIngress.ipv4_lpm, in bytes
        MyIngress.flows    4 cells
        MyIngress.learned  2 cells
        MyParser.tunnels  16 bits, ternary  at most 4
        learn_t
    "#]],
    );
}

#[test]
fn help_describes_every_command() {
    check(
        "help",
        expect![[r#"
            list        what the program has
            show        entries of a table
            add         add an entry
            modify      change what an entry does
            delete      delete an entry
            clear       delete all entries of a table
            default     what a table does on a miss
            counters    read or set counters
            meters      read or set meters
            registers   read or set registers
            members     members of action profiles
            groups      groups of action profiles
            multicast   multicast groups
            mirror      clone sessions
            value-sets  value sets of parsers
            digests     which digests the switch sends
            packet-out  send a packet through the switch
            watch       show messages of the switch, until Ctrl-C
            trace       show the journey of the next packets
            dump        the state that was written, as commands that restore it
            load        give the switch a program
            commit      run the program that was saved
            status      the switch, its program and who is primary
            workers     the threads that process packets, and their number
            timers      ports on which the switch generates packets periodically
            sizes       entries, capacity and memory of each table
            help        this list, or details of a command
            quit        end (also exit, Ctrl-D)
            simple      a command of simple_switch_CLI
            help COMMAND shows more.
        "#]],
    );
    check(
        "help add\nhelp ad",
        expect![[r#"
            add TABLE KEY... do ACTION [ARG...] [priority N] [timeout TIME] [metadata HEX]
            add an entry.
            Keys and arguments are given in order or as NAME=VALUE; keys that are left out match anything if the others are
            named. A key is VALUE, VALUE/PREFIX, VALUE&&&MASK, LOW..HIGH or *, depending on its match kind. Of two entries
            that match, the one with the greater priority wins. => may replace do.
            A table with an action profile takes do member N, do group N, or a group of the entry's own:
            do one-of ACTION ARG... [weight N] [watch PORT] | ACTION ...
            Examples:
              add ipv4_lpm 10.0.1.0/24 do ipv4_forward 08:00:00:00:01:11 1
              add acl srcAddr=10.0.0.0/8 proto=6 do drop priority 10
            there is no command ad
              help: commands are add, load, list, show, clear, watch, trace, dump and 21 more; help shows all
        "#]],
    );
}

fn check_completion(lines: &[&str], expected: Expect) {
    let schema = support::schema();
    let line = |line: &&str| {
        let (start, candidates) = complete(Some(&schema), line);
        format!("{line}| from {start}: {}\n", candidates.join(" "))
    };
    expected.assert_eq(&lines.iter().map(line).collect::<String>());
}

#[test]
fn completion() {
    check_completion(
        &[
            "sh",
            "add ",
            "add MyIngress.",
            "add ipv4_lpm ",
            "add ipv4_lpm dstAddr=1/1 do ",
            "add ipv4_lpm 1/1 do ipv4_forward port=1 ",
            "add balance 1 do ",
            "counters ",
            "members add hops 1 do ",
            "digests learn_t ",
            "packet-out ff ",
            "help l",
            "frobnicate ",
            "show 'ipv",
        ],
        expect![[r#"
            sh| from 0: show
            add | from 4: balance filter ipv4_lpm tiny
            add MyIngress.| from 4: MyIngress.acl.filter MyIngress.balance MyIngress.ipv4_lpm MyIngress.tiny
            add ipv4_lpm | from 13: do hdr.ipv4.dstAddr=
            add ipv4_lpm dstAddr=1/1 do | from 28: MyIngress.drop MyIngress.ipv4_forward NoAction drop ipv4_forward
            add ipv4_lpm 1/1 do ipv4_forward port=1 | from 40: dstAddr= metadata priority timeout
            add balance 1 do | from 17: group member one-of
            counters | from 9: hits rx
            members add hops 1 do | from 22: MyIngress.set_port NoAction set_port
            digests learn_t | from 16: off on
            packet-out ff | from 14: _pad= egress_port=
            help l| from 5: list load
            frobnicate | from 11: 
            show 'ipv| from 5: ipv4_lpm
        "#]],
    );
}
