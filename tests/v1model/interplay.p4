// What happens when a packet asks for several things at once: each bit of the first two bytes asks for one.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> ops;
    bit<8> kinds;   // A bit for each kind of packet that egress has seen it as.
    bit<8> kept;
    bit<8> port;
}

header tag_t {
    bit<8> value;
}

struct metadata {
    @field_list(1)
    bit<4> one;
    @field_list(1, 2)
    bit<4> both;
    bit<8> lost;
}

struct headers {
    tag_t tag;
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            0xff: tag;
            default: rest;
        }
    }
    state tag {
        packet.extract(hdr.tag);
        transition rest;
    }
    state rest {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.port = (bit<8>) standard_metadata.ingress_port;
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type == 4 || standard_metadata.instance_type == 6) {
            hdr.h.kept = (meta.one ++ meta.both) + meta.lost;
            hdr.h.kinds[7:7] = (bit<1>) (standard_metadata.instance_type == 6);
            return;
        }
        hdr.h.kept = 0xee;
        if (hdr.h.ops[0:0] == 1) { clone(CloneType.I2E, 5); }
        if (hdr.h.ops[1:1] == 1) { clone_preserving_field_list(CloneType.I2E, 6, 1); }
        if (hdr.h.ops[2:2] == 1) { resubmit_preserving_field_list(2); }
        if (hdr.h.ops[3:3] == 1) { mark_to_drop(standard_metadata); }
        if (hdr.h.ops[4:4] == 1) { standard_metadata.mcast_grp = 1; }
        if (hdr.h.ops[5:5] == 1) { standard_metadata.egress_spec = 3; }
        if (hdr.h.ops[6:6] == 1) { recirculate_preserving_field_list(1); }
        if (hdr.h.ops[7:7] == 1) { truncate(3); }
        if (hdr.h.ops[8:8] == 1) { resubmit_preserving_field_list(1); }
        meta.one = 0xa;
        meta.both = 0xb;
        meta.lost = 1;
        if (hdr.h.ops[9:9] == 1) { exit; }
        meta.both = 0xc;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 0) { hdr.h.kinds = hdr.h.kinds | 1; }
        if (standard_metadata.instance_type == 1) { hdr.h.kinds = hdr.h.kinds | 2; hdr.h.kept = (meta.one ++ meta.both) + meta.lost; }
        if (standard_metadata.instance_type == 2) { hdr.h.kinds = hdr.h.kinds | 4; hdr.h.kept = (meta.one ++ meta.both) + meta.lost; return; }
        if (standard_metadata.instance_type == 5) { hdr.h.kinds = hdr.h.kinds | 32; }
        if (hdr.h.ops[10:10] == 1 && hdr.h.kinds & 4 == 0) { clone(CloneType.E2E, 7); }
        if (hdr.h.ops[11:11] == 1 && hdr.h.kinds & 4 == 0) { clone_preserving_field_list(CloneType.E2E, 8, 2); }
        if (hdr.h.ops[12:12] == 1) { mark_to_drop(standard_metadata); }
        if (hdr.h.ops[13:13] == 1) {
            hdr.h.ops[13:13] = 0;
            meta.both = 3;
            hdr.tag.setValid();
            hdr.tag.value = 0xff;
            recirculate_preserving_field_list(2);
        }
        if (hdr.h.ops[14:14] == 1) { truncate(4); }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
