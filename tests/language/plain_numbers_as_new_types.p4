// Plain numbers where a value of a `type` is wanted: constants, assignments, comparisons, arguments, keys of entries and
// of `select`, action data.
#include <core.p4>
#include <v1model.p4>

type bit<8> vrf_t;
type vrf_t inner_t;
type int<8> level_t;

const vrf_t DEFAULT_VRF = 0;

header h_t {
    bit<8> vrf;
    bit<8> level;
    bit<8> result;
}

struct metadata {
    vrf_t vrf;
    inner_t inner;
    level_t level;
}

struct headers {
    h_t h;
}

vrf_t next_of(in vrf_t v) {
    if (v == 3) {
        return 4;
    }
    return v == 5 ? 6 : v;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        meta.vrf = (vrf_t) hdr.h.vrf;
        meta.level = (level_t) (int<8>) hdr.h.level;
        transition select(meta.vrf) {
            8: one;
            default: accept;
        }
    }

    state one {
        meta.vrf = 1;
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set(bit<8> value, vrf_t v) {
        hdr.h.result = value;
        meta.vrf = v;
    }

    table t {
        key = {
            meta.vrf: exact;
            meta.level: ternary;
        }
        actions = { set; NoAction; }
        const entries = {
            (1, -1): set(0x11, 7);
            (1, _): set(0x12, DEFAULT_VRF);
            (2, 0x70 &&& 0x70): set(0x21, 9);
        }
        default_action = NoAction;
    }

    apply {
        standard_metadata.egress_spec = 2;
        meta.inner = 5;
        if (meta.vrf == DEFAULT_VRF || 9 == meta.vrf) {
            hdr.h.result = 0xee;
        }
        t.apply();
        meta.vrf = next_of(meta.vrf);
        if (meta.inner != 5) {
            hdr.h.result = 0;
        }
        hdr.h.vrf = (bit<8>) meta.vrf;
        hdr.h.level = (bit<8>) (int<8>) meta.level;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
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
