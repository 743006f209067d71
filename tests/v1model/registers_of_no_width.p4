/* Registers whose values have no bits: they are 0, and accesses only have the effects of their arguments. */

#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> index;
    bit<8> value;
}

struct nothing_t {
    bit<0> a;
    bit<0> b;
}

struct headers_t {
    h_t h;
}

struct meta_t { }

bit<32> next(inout bit<8> index) {
    index = index + 1;
    return (bit<32>) index;
}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t intrinsic) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply { } }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t intrinsic) {
    register<bit<0>>(4) none;
    register<nothing_t>(4) nothings;

    apply {
        bit<0> seen;
        nothing_t nothing;
        none.read(seen, next(hdr.h.index));
        nothings.read(nothing, next(hdr.h.index));
        none.write(next(hdr.h.index), seen);
        nothings.write(1, nothing);
        hdr.h.value = seen ++ nothing.a ++ hdr.h.value[6:0] ++ 1w1;
        if (seen == 0) {
            intrinsic.egress_spec = 2;
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t intrinsic) { apply { } }

control C(inout headers_t hdr, inout meta_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
