// Names of keys: fields by their own `@name`, constants by value in the base that they are written in.
#include <core.p4>
#include <v1model.p4>

const bit<16> MASK = 0xFF0;
const bit<4> HIGH = 0b111;

header h_t {
    bit<16> a;
    @name("bee") bit<16> b;
}

struct inner_t {
    @name("renamed") h_t h;
}

struct headers_t {
    h_t[2] stack;
    inner_t inner;
}

struct meta_t {
    bit<16> m;
}

parser MyParser(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.stack.next);
        packet.extract(hdr.inner.h);
        transition accept;
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    bit<16> variable;
    table t {
        key = {
            hdr.stack[0x1].a: exact;
            hdr.stack[0].b: exact;
            hdr.inner.h.b: exact;
            hdr.inner.h.isValid(): exact;
            meta.m & MASK: exact;
            0x0F & meta.m: exact;
            meta.m & (1 << 3): exact;
            meta.m & 16w255: exact;
            meta.m[7:4]: exact;
            meta.m[HIGH:0x2]: exact;
            variable: exact;
            MASK: exact;
        }
        actions = { NoAction; }
    }
    apply {
        variable = meta.m;
        t.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
