//! The P4Info of a small program that has one of everything.

#![allow(dead_code, reason = "each test file uses its part")]

use ctl::Schema;
use p4runtime_proto::p4::config::v1::*;

fn preamble(id: u32, name: &str) -> Option<Preamble> {
    let alias = name.rsplit('.').next().unwrap_or(name).to_owned();
    Some(Preamble { id, name: name.to_owned(), alias, ..Preamble::default() })
}

fn key(id: u32, name: &str, bitwidth: i32, kind: match_field::MatchType) -> MatchField {
    MatchField {
        id,
        name: name.to_owned(),
        bitwidth,
        r#match: Some(match_field::Match::MatchType(kind as i32)),
        ..MatchField::default()
    }
}

fn action(id: u32, name: &str, params: &[(&str, i32)]) -> Action {
    let param = |(index, (name, bitwidth)): (usize, &(&str, i32))| action::Param {
        id: index as u32 + 1,
        name: (*name).to_owned(),
        bitwidth: *bitwidth,
        ..action::Param::default()
    };
    Action { preamble: preamble(id, name), params: params.iter().enumerate().map(param).collect() }
}

fn listed(ids: &[u32]) -> Vec<ActionRef> {
    ids.iter().map(|&id| ActionRef { id, ..ActionRef::default() }).collect()
}

fn bits(width: i32) -> P4DataTypeSpec {
    let bit = p4_bitstring_like_type_spec::TypeSpec::Bit(P4BitTypeSpec { bitwidth: width });
    let like = P4BitstringLikeTypeSpec { type_spec: Some(bit), ..P4BitstringLikeTypeSpec::default() };
    P4DataTypeSpec { type_spec: Some(p4_data_type_spec::TypeSpec::Bitstring(like)) }
}

fn structure(name: &str) -> P4DataTypeSpec {
    let named = P4NamedType { name: name.to_owned() };
    P4DataTypeSpec { type_spec: Some(p4_data_type_spec::TypeSpec::Struct(named)) }
}

const DROP: u32 = 0x0100_0001;
const FORWARD: u32 = 0x0100_0002;
const SET_PORT: u32 = 0x0100_0003;
const NO_ACTION: u32 = 0x0100_0004;
const LPM: u32 = 0x0200_0001;
const ACL: u32 = 0x0200_0002;
const BALANCE: u32 = 0x0200_0003;
const TINY: u32 = 0x0200_0004;
const HOPS: u32 = 0x1100_0001;

fn tables() -> Vec<Table> {
    use match_field::MatchType::{Exact, Lpm, Optional, Range, Ternary};
    let mut drop_by_default = listed(&[DROP, NO_ACTION, FORWARD]);
    drop_by_default[1].scope = action_ref::Scope::DefaultOnly as i32;
    vec![
        Table {
            preamble: preamble(LPM, "MyIngress.ipv4_lpm"),
            match_fields: vec![key(1, "hdr.ipv4.dstAddr", 32, Lpm)],
            action_refs: drop_by_default,
            direct_resource_ids: vec![0x1300_0001, 0x1500_0001],
            size: 1024,
            idle_timeout_behavior: table::IdleTimeoutBehavior::NotifyControl as i32,
            ..Table::default()
        },
        Table {
            preamble: preamble(ACL, "MyIngress.acl.filter"),
            match_fields: vec![
                key(1, "hdr.ipv4.isValid()", 1, Exact),
                key(2, "hdr.ipv4.srcAddr", 32, Ternary),
                key(3, "meta.dstPort", 16, Range),
                key(4, "meta.vlan", 12, Optional),
            ],
            action_refs: listed(&[DROP, NO_ACTION]),
            size: 64,
            ..Table::default()
        },
        Table {
            preamble: preamble(BALANCE, "MyIngress.balance"),
            match_fields: vec![key(1, "meta.tag", 12, Exact)],
            action_refs: listed(&[NO_ACTION, SET_PORT]),
            implementation_id: HOPS,
            size: 64,
            ..Table::default()
        },
        Table {
            preamble: preamble(TINY, "MyIngress.tiny"),
            match_fields: vec![key(1, "meta.tag", 12, Exact)],
            action_refs: listed(&[DROP, NO_ACTION]),
            const_default_action_id: DROP,
            is_const_table: true,
            ..Table::default()
        },
    ]
}

/// A program with one of everything.
pub fn schema() -> Schema {
    Schema::new(info())
}

/// Its P4Info.
pub fn info() -> P4Info {
    let mut types = P4TypeInfo::default();
    let member = |name: &str, spec| p4_struct_type_spec::Member { name: name.to_owned(), type_spec: Some(spec) };
    let learn = P4StructTypeSpec {
        members: vec![member("srcAddr", bits(48)), member("port", bits(9))],
        ..P4StructTypeSpec::default()
    };
    types.structs.insert("learn_t".to_owned(), learn);
    let field = |id, name: &str, bitwidth| controller_packet_metadata::Metadata {
        id,
        name: name.to_owned(),
        bitwidth,
        ..controller_packet_metadata::Metadata::default()
    };
    let header = |id, name: &str, metadata| ControllerPacketMetadata { preamble: preamble(id, name), metadata };
    P4Info {
        tables: tables(),
        actions: vec![
            action(DROP, "MyIngress.drop", &[]),
            action(FORWARD, "MyIngress.ipv4_forward", &[("dstAddr", 48), ("port", 9)]),
            action(SET_PORT, "MyIngress.set_port", &[("port", 9)]),
            action(NO_ACTION, "NoAction", &[]),
        ],
        action_profiles: vec![ActionProfile {
            preamble: preamble(HOPS, "MyIngress.hops"),
            table_ids: vec![BALANCE],
            with_selector: true,
            ..ActionProfile::default()
        }],
        counters: vec![Counter { preamble: preamble(0x1200_0001, "MyIngress.rx"), size: 16, ..Counter::default() }],
        direct_counters: vec![DirectCounter {
            preamble: preamble(0x1300_0001, "MyIngress.hits"),
            direct_table_id: LPM,
            ..DirectCounter::default()
        }],
        meters: vec![Meter { preamble: preamble(0x1400_0001, "MyIngress.police"), size: 8, ..Meter::default() }],
        direct_meters: vec![DirectMeter {
            preamble: preamble(0x1500_0001, "MyIngress.limit"),
            direct_table_id: LPM,
            ..DirectMeter::default()
        }],
        registers: vec![
            Register {
                preamble: preamble(0x1600_0001, "MyIngress.flows"),
                type_spec: Some(bits(16)),
                size: 4,
                ..Register::default()
            },
            Register {
                preamble: preamble(0x1600_0002, "MyIngress.learned"),
                type_spec: Some(structure("learn_t")),
                size: 2,
                ..Register::default()
            },
        ],
        value_sets: vec![ValueSet {
            preamble: preamble(0x0300_0001, "MyParser.tunnels"),
            r#match: vec![key(1, "", 16, match_field::MatchType::Ternary)],
            size: 4,
        }],
        digests: vec![Digest { preamble: preamble(0x1700_0001, "learn_t"), type_spec: Some(structure("learn_t")) }],
        controller_packet_metadata: vec![
            header(0x0400_0001, "packet_in", vec![field(1, "ingress_port", 9), field(2, "_pad", 7)]),
            header(0x0400_0002, "packet_out", vec![field(1, "egress_port", 9), field(2, "_pad", 7)]),
        ],
        type_info: Some(types),
        ..P4Info::default()
    }
}
