// Headers with fields that are no plain numbers, and headers whose fields do not fill whole bytes, which bits at
// their end fill.
#include <core.p4>
#include <v1model.p4>

enum bit<4> kind_t { none = 0, some = 7 }

type bit<12> vlan_t;

struct parts_t {
    bit<3> x;
    int<5> y;
}

header odd_t {
    bool flag;
    kind_t kind;
    vlan_t vlan;
    parts_t parts;
    int<7> s;
}

header short_t {
    bit<3> v;
    bit<2> w;
}

header empty_t { }

struct metadata { }

struct headers {
    odd_t odd;
    empty_t empty;
    short_t short;
    short_t other;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.odd);
        packet.extract(hdr.empty);
        packet.extract(hdr.short);
        transition select(hdr.odd.flag, hdr.odd.kind) {
            (true, kind_t.some): accept;
            (_, kind_t.none): accept;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.odd.flag) {
            hdr.odd.parts.y = -hdr.odd.parts.y;
        }
        hdr.odd.vlan = (vlan_t) ((bit<12>) hdr.odd.vlan + 1);
        hdr.odd.s = hdr.odd.s >> 1;
        hdr.odd.kind = hdr.odd.kind == kind_t.some ? kind_t.none : kind_t.some;
        if (standard_metadata.parser_error != error.NoError) {
            hdr.odd.parts.x = 7;
        }
        hdr.other = hdr.short;
        hdr.other.w = hdr.empty.isValid() ? 2w1 : 2;
        if (hdr.other != hdr.short) {
            hdr.other.v = 0;
        }
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
