// Arguments that go to headers as they are: to neighbours and to fields apart, in any order, to the same field twice,
// one to two fields, to a header that may be invalid, with a change in between.
#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8> how;
    bit<48> a;
    bit<16> b;
    bit<24> c;
    bit<32> d;
    bit<8> e;
}

header second_t {
    bit<8> x;
    bit<48> y;
    bit<40> z;
}

struct metadata { }

struct headers {
    first_t first;
    second_t second;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.how) {
            0x80 &&& 0x80: second;
            default: accept;
        }
    }
    state second {
        packet.extract(hdr.second);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action all(bit<32> d, bit<8> e, bit<48> a, bit<24> c, bit<16> b) {
        hdr.first.e = e;
        hdr.first.c = c;
        hdr.first.d = d;
        hdr.first.a = a;
        hdr.first.b = b;
    }
    action twice(bit<48> a, bit<48> later, bit<16> b) {
        hdr.first.a = a;
        hdr.first.b = b;
        hdr.first.a = later;
    }
    action other(bit<48> y, bit<40> z) {
        hdr.second.y = y;
        hdr.second.z = z;
        hdr.first.a = y;
    }
    action between(bit<48> a, bit<24> c, bit<32> d) {
        hdr.first.a = a;
        hdr.first.c = hdr.first.c + 1;
        hdr.first.d = d;
        hdr.first.c = c + hdr.first.c;
    }
    action same(bit<24> c) {
        hdr.first.c = c;
        hdr.first.a[23:0] = c;
        hdr.first.a[47:24] = c;
    }
    table change {
        key = { hdr.first.how: exact; }
        actions = { all; twice; other; between; same; NoAction; }
        const entries = {
            1: all(0x0d0d0d0d, 0xee, 0xa1a2a3a4a5a6, 0xc1c2c3, 0xb1b2);
            2: twice(0x111111111111, 0x222222222222, 0x3333);
            3: other(0x515253545556, 0x6162636465);
            0x83: other(0x515253545556, 0x6162636465);
            4: between(0xa1a2a3a4a5a6, 0x010203, 0xd1d2d3d4);
            5: same(0xabcdef);
        }
        const default_action = NoAction();
    }
    apply {
        standard_metadata.egress_spec = 1;
        change.apply();
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
        packet.emit(hdr.first);
        packet.emit(hdr.second);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
