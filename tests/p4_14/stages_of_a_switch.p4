// Macros, stages, meters, learning, copies to the CPU and controls in the manner of a large switch of 2016.
#define TRUE 1
#define BYPASS_L2 0x0001
#define DO_LOOKUP(l) ((ingress_metadata.bypass_lookups & BYPASS_##l) == 0)
#define PKT_INSTANCE_TYPE_NORMAL 0
#define PKT_INSTANCE_TYPE_REPLICATION 5
#define pkt_is_mirrored \
    ((standard_metadata.instance_type != PKT_INSTANCE_TYPE_NORMAL) and \
     (standard_metadata.instance_type != PKT_INSTANCE_TYPE_REPLICATION))
#define pkt_is_not_mirrored \
    ((standard_metadata.instance_type == PKT_INSTANCE_TYPE_NORMAL) or \
     (standard_metadata.instance_type == PKT_INSTANCE_TYPE_REPLICATION))
#define IP_PROTOCOLS_IPHL_ICMP 0x501
#define PARSE_ETHERTYPE \
        0x8100 : parse_vlan; \
        0x0800 : parse_ipv4; \
        default: ingress
#ifndef __X__
#define __X__ 1
#endif /* __X__ */
#if defined(__X__) && !defined(NOT_THERE)
header_type ethernet_t { fields { dstAddr : 48; srcAddr : 48; etherType : 16; } }
#else
#error no
#endif
header_type vlan_tag_t { fields { pcp : 3; cfi : 1; vid : 12; etherType : 16; } }
header_type ipv4_t { fields { version : 4; ihl : 4; diffserv : 8; totalLen : 16; identification : 16; flags : 3; fragOffset : 13; ttl : 8; protocol : 8; hdrChecksum : 16; srcAddr : 32; dstAddr: 32; } }
header_type icmp_t { fields { typeCode : 16; hdrChecksum : 16; } }
header_type snap_header_t { fields { oui : 24; type_ : 16; } }
header_type llc_header_t { fields { dsap : 8; ssap : 8; control_ : 8; } }
header ethernet_t ethernet; 
header vlan_tag_t vlan_tag_[2]; header ipv4_t ipv4; header icmp_t icmp; header snap_header_t snap_header; header llc_header_t llc_header;
header_type ingress_metadata_t { fields { bypass_lookups : 16; ifindex : 16; drop_flag : 1; outer_bd : 16; port_type : 2; drop_reason : 8; control_frame: 1; } }
metadata ingress_metadata_t ingress_metadata;
header_type meter_metadata_t { fields { packet_color : 2; meter_index : 16; qos_meter_color : 2; } }
metadata meter_metadata_t meter_metadata;
header_type intrinsic_metadata_t { fields { mcast_grp : 16; lf_field_list : 32; egress_rid : 16; ingress_global_timestamp : 32; } }
@pragma dont_trim
metadata intrinsic_metadata_t intrinsic_metadata;
header_type acl_metadata_t { fields { acl_copy : 1; acl_copy_reason : 16; acl_stats_index : 14; racl_deny : 1; } }
metadata acl_metadata_t acl_metadata;
header_type hash_metadata_t { fields { hash1 : 16; hash2 : 16; entropy_hash : 16; } }
@pragma pa_atomic ingress hash_metadata.hash1
metadata hash_metadata_t hash_metadata;
parser start { return parse_ethernet; }
parser parse_ethernet { extract(ethernet); return select(latest.etherType) { 0 mask 0xfe00: parse_llc_header; 0 mask 0xfa00: parse_llc_header; PARSE_ETHERTYPE; } }
parser parse_llc_header { extract(llc_header); return select(llc_header.dsap, llc_header.ssap) { 0xAAAA : parse_snap_header; 0xFEFE : parse_set_prio_med; default: ingress; } }
parser parse_snap_header { extract(snap_header); return select(latest.type_) { PARSE_ETHERTYPE; } }
parser parse_vlan { extract(vlan_tag_[next]); return select(latest.etherType) { PARSE_ETHERTYPE; } }
parser parse_ipv4 { extract(ipv4); return select(latest.fragOffset, latest.ihl, latest.protocol) { IP_PROTOCOLS_IPHL_ICMP : parse_icmp; default: ingress; } }
parser parse_icmp { extract(icmp); set_metadata(ingress_metadata.drop_reason, latest.typeCode); return select(latest.typeCode) { 0x8200 mask 0xfe00 : parse_set_prio_med; 0x8400 mask 0xfc00 : parse_set_prio_med; default: ingress; } }
parser parse_set_prio_med { set_metadata(ingress_metadata.control_frame, 1); return ingress; }
counter ingress_acl_stats { type : packets_and_bytes; direct : ingress_acl_table; }
counter acl_stats { type : packets_and_bytes; instance_count : 1024; min_width : 16; }
meter meter_index { type : bytes; direct : meter_index; result : meter_metadata.packet_color; }
meter storm_control_meter { type : bytes; static : storm_control; result : meter_metadata.packet_color; instance_count : 512; }
action nop() { }
action on_miss() { }
action acl_deny(acl_stats_index, acl_meter_index, acl_copy, acl_copy_reason) { modify_field(acl_metadata.racl_deny, TRUE); modify_field(acl_metadata.acl_stats_index, acl_stats_index); modify_field(meter_metadata.meter_index, acl_meter_index); modify_field(acl_metadata.acl_copy, acl_copy); modify_field(acl_metadata.acl_copy_reason, acl_copy_reason); }
table ingress_acl_table { reads { acl_metadata.acl_copy : ternary; ethernet.srcAddr : ternary; vlan_tag_[0] : valid; vlan_tag_[0].vid : exact; vlan_tag_[1] : valid; ingress_metadata.outer_bd : range; } actions { nop; acl_deny; } size : 512; }
action acl_stats_update() { count(acl_stats, acl_metadata.acl_stats_index); }
table acl_stats { actions { acl_stats_update; } }
action set_storm_control_meter(meter_idx) { execute_meter(storm_control_meter, meter_idx, meter_metadata.packet_color); modify_field(meter_metadata.meter_index, meter_idx); }
table storm_control { reads { standard_metadata.ingress_port : exact; ingress_metadata.port_type : ternary; } actions { nop; set_storm_control_meter; } size : 512; }
table meter_index { reads { meter_metadata.meter_index: exact; } actions { nop; } size: 256; }
field_list lkp_ipv4_hash1_fields { ipv4.srcAddr; ipv4.dstAddr; ipv4.protocol; }
field_list_calculation lkp_ipv4_hash1 { input { lkp_ipv4_hash1_fields; } algorithm : crc16; output_width : 16; }
action compute_lkp_ipv4_hash() { modify_field_with_hash_based_offset(hash_metadata.hash1, 0, lkp_ipv4_hash1, 65536); }
action computed_one_hash() { modify_field(hash_metadata.hash1, hash_metadata.hash2); modify_field(hash_metadata.entropy_hash, hash_metadata.hash2); }
table compute_ipv4_hashes { reads { ethernet : valid; } actions { nop; compute_lkp_ipv4_hash; computed_one_hash; } }
field_list mac_learn_digest { ingress_metadata.outer_bd; ethernet.srcAddr; ingress_metadata.ifindex; }
action generate_learn_notify() { generate_digest(1024, mac_learn_digest); }
table learn_notify { reads { ethernet.srcAddr : exact; ingress_metadata.outer_bd : exact; } actions { nop; generate_learn_notify; } }
field_list mirror_info { ingress_metadata.ifindex; ingress_metadata.drop_reason; acl_metadata.acl_copy_reason; }
action negative_mirror(session_id) { clone_ingress_pkt_to_egress(session_id, mirror_info); drop(); }
action copy_to_cpu(reason_code) { modify_field(acl_metadata.acl_copy_reason, reason_code); clone_ingress_pkt_to_egress(250, cpu_info); }
action copy_to_cpu_1(r) { copy_to_cpu(r); modify_field(ingress_metadata.bypass_lookups, 5, BYPASS_L2); }
action redirect_to_cpu(reason_code) { copy_to_cpu(reason_code); drop(); }
field_list cpu_info { mirror_info; ingress_metadata.outer_bd; acl_metadata.acl_copy_reason; ingress_metadata.port_type; }
table system_acl { reads { ingress_metadata.drop_flag : ternary; ipv4.ttl : ternary; } actions { nop; redirect_to_cpu; copy_to_cpu; copy_to_cpu_1; negative_mirror; } size : 512; }
action validate(bd) { modify_field(ingress_metadata.outer_bd, bd); modify_field(standard_metadata.egress_spec, 3); }
table validate_outer_ethernet { reads { ethernet.srcAddr : ternary; vlan_tag_[0] : valid; vlan_tag_[1] : valid; } actions { validate; nop; } }
action decap_vlan() { modify_field(ethernet.etherType, vlan_tag_[0].etherType); remove_header(vlan_tag_[0]); }
action decap_2() { modify_field(ethernet.etherType, vlan_tag_[1].etherType); remove_header(vlan_tag_[0]); remove_header(vlan_tag_[1]); }
table vlan_decap { reads { vlan_tag_[0] : valid; vlan_tag_[1] : valid; } actions { nop; decap_vlan; decap_2; } size : 1024; }
control process_validate { if (valid(ethernet)) { apply(validate_outer_ethernet) { validate { if (valid(ipv4)) { apply(compute_ipv4_hashes); } } } } }
control process_acl { if (DO_LOOKUP(L2)) { apply(ingress_acl_table); } }
control process_meter { if (DO_LOOKUP(L2)) { apply(meter_index); } }
control ingress {
  process_validate();
  if (ingress_metadata.port_type == 0) { apply(storm_control); process_acl(); process_meter(); apply(acl_stats); apply(learn_notify); }
  if (ingress_metadata.port_type != 1) { if (ingress_metadata.drop_flag != TRUE) { apply(system_acl); } }
}
control egress { if ((pkt_is_not_mirrored) and (ingress_metadata.outer_bd != 7)) { apply(vlan_decap); } else { if (pkt_is_mirrored) { } } }
