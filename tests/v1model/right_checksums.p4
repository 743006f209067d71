// A checksum that is verified, asked for by `checksum_error`, and updated: where it was right the packet says what the sum
// is, unless something was written before the question, or the checksum itself.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> how;
    bit<8> before;
    bit<16> a;
    bit<16> sum;
    bit<32> b;
    bit<48> c;
}

struct metadata { }

struct headers {
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply {
        verify_checksum(hdr.h.isValid(), { hdr.h.how, hdr.h.before, hdr.h.a, hdr.h.b, hdr.h.c },
            hdr.h.sum, HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action less() {
        hdr.h.how = hdr.h.how - 1;
    }
    action fields(bit<32> b, bit<48> c) {
        hdr.h.b = b;
        hdr.h.c = c;
    }
    action checksum(bit<16> sum) {
        hdr.h.sum = sum;
    }
    action swap() {
        hdr.h.a = hdr.h.sum;
        hdr.h.sum = 0;
    }
    table first {
        key = { hdr.h.how: exact; }
        actions = { less; fields; checksum; swap; NoAction; }
        const entries = {
            1: less();
            2: fields(0x01020304, 0xa1a2a3a4a5a6);
            3: checksum(0xabcd);
            4: swap();
        }
        const default_action = NoAction();
    }
    table second {
        key = { hdr.h.a: exact; }
        actions = { less; NoAction; }
        const entries = { 0x2222: less(); }
        const default_action = NoAction();
    }
    apply {
        standard_metadata.egress_spec = 1;
        if (hdr.h.before == 1) {
            hdr.h.before = 9;
        } else if (hdr.h.before == 2) {
            hdr.h.sum = 0x5555;
        }
        if (standard_metadata.checksum_error == 1) {
            hdr.h.b = 0xbadbad;
        } else if (hdr.h.isValid()) {
            first.apply();
            if (hdr.h.isValid() && standard_metadata.checksum_error == 0) {
                second.apply();
            }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.h.isValid(), { hdr.h.how, hdr.h.before, hdr.h.a, hdr.h.b, hdr.h.c },
            hdr.h.sum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
