// A field list with `payload`: hashes and checksums count the bytes behind the parsed headers. Truth values as numbers.

header_type h_t {
    fields {
        a : 16;
        sum : 16;
        hash : 16;
        flag : 8;
        other : 8;
    }
}

header h_t h;

parser start {
    extract(h);
    return ingress;
}

field_list with_payload { h.a; payload; }
field_list without_payload { h.a; }

field_list_calculation checksum {
    input { with_payload; }
    algorithm : csum16;
    output_width : 16;
}
field_list_calculation hash_all {
    input { with_payload; }
    algorithm : crc16;
    output_width : 16;
}
field_list_calculation hash_head {
    input { without_payload; }
    algorithm : crc16;
    output_width : 16;
}

calculated_field h.sum {
    update checksum if (h.flag == 1);
}

action all() {
    modify_field_with_hash_based_offset(h.hash, 0, hash_all, 65536);
    modify_field(h.flag, h.a == 0x3132);
    modify_field(h.other, true);
    modify_field(standard_metadata.egress_spec, 1);
}
action head() {
    modify_field_with_hash_based_offset(h.hash, 0, hash_head, 65536);
    modify_field(h.flag, false);
    modify_field(h.other, valid(h) and h.a > 1);
    modify_field(standard_metadata.egress_spec, 1);
}

table t {
    reads { h.other : exact; }
    actions { all; head; }
}

control ingress { apply(t); }
