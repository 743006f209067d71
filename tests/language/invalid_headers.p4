// Fields of invalid headers read as zero and cannot be written; setValid clears them; copies copy validity.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

header extra_t {
    bit<8> value;
    bit<8> other;
}

struct metadata { }

struct headers {
    h_t h;
    extra_t x;
    extra_t y;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.x.value = 0x55;
        hdr.h.b = hdr.x.value + 1;
        if (hdr.h.a == 1) {
            hdr.x.setValid();
            hdr.x.value = hdr.x.value + 2;
        } else if (hdr.h.a == 2) {
            hdr.x.setValid();
            hdr.x.value = 9;
            hdr.x.setValid();
            hdr.y = hdr.x;
            hdr.x.setInvalid();
        } else if (hdr.h.a == 3) {
            hdr.y.setValid();
            hdr.y = hdr.x;
        } else if (hdr.h.a == 4) {
            hdr.y = { 1, 2 };
            hdr.x = hdr.y;
            hdr.y.other = 3;
        } else if (hdr.h.a == 5) {
            hdr.h.setInvalid();
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
        packet.emit(hdr.h);
        packet.emit(hdr.x);
        packet.emit(hdr.y);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
