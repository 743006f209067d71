// Varbit fields are kept in variables, metadata and parameters, copied between headers of different types,
// compared and emitted elsewhere.
#include <core.p4>
#include <v1model.p4>

header options_t {
    bit<8> length;
    varbit<64> data;
    bit<8> tail;
}

header other_t {
    bit<4> a;
    varbit<64> data;
    bit<4> b;
}

header out_t {
    bit<8> flags;
}

struct holder_t {
    bit<8> count;
    varbit<64> data;
}

struct metadata {
    holder_t held;
}

struct headers {
    out_t seen;
    options_t first;
    options_t second;
    other_t other;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        bit<8> length = packet.lookahead<bit<8>>();
        packet.extract(hdr.first, (bit<32>) length * 8);
        length = packet.lookahead<bit<8>>();
        packet.extract(hdr.second, (bit<32>) length * 8);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    // Empty at first.
    @noWarn("uninitialized") varbit<64> kept;

    action swap(inout varbit<64> a, inout varbit<64> b) {
        varbit<64> c = a;
        a = b;
        b = c;
    }

    @noWarn("unused") action empty(@noWarn("uninitialized") out varbit<64> a) { }

    apply {
        standard_metadata.egress_spec = 2;
        hdr.seen.setValid();
        if (hdr.first.data == hdr.second.data) {
            hdr.seen.flags[0:0] = 1;
        }
        if (kept == meta.held.data) {
            hdr.seen.flags[1:1] = 1;
        }
        kept = hdr.first.data;
        meta.held.data = hdr.second.data;
        if (kept != meta.held.data) {
            hdr.seen.flags[2:2] = 1;
        }
        hdr.other.setValid();
        hdr.other.a = 0xa;
        hdr.other.b = 0xb;
        hdr.other.data = kept;
        if (hdr.other.data == hdr.first.data) {
            hdr.seen.flags[3:3] = 1;
        }
        swap(hdr.first.data, hdr.second.data);
        if (kept == hdr.second.data && meta.held.data == hdr.first.data) {
            hdr.seen.flags[4:4] = 1;
        }
        hdr.first.length = 0xee;
        hdr.second.tail = 0xdd;
        options_t copy = hdr.second;
        copy.data = meta.held.data;
        if (copy == hdr.first) {
            hdr.seen.flags[5:5] = 1;
        }
        if (copy.data == hdr.first.data) {
            hdr.seen.flags[6:6] = 1;
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
