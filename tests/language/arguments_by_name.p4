// Arguments with names are evaluated, and copied out, in the order in which they are written.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> a; bit<8> r; bit<8> s; }
header h_t { bit<8> x; }

bit<8> next(inout bit<8> z) { z = z + 1; return z; }
void pair(out bit<8> left, out bit<8> right, in bit<8> x, in bit<8> y = 9) { left = x; right = y; }
void twice(inout bit<8> first, inout bit<8> second) { first = first + 0x10; second = second + 0x20; }

struct metadata { }

struct headers {
    k_t k;
    h_t h;
}

control C(out bit<8> x, out h_t h) { apply { x = 7; h.setValid(); h.x = 5; } }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.k); packet.extract(hdr.h); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    C() c;
    action act(inout bit<8> first, inout bit<8> second) { first = first + 0x10; second = second + 0x20; }
    apply {
        standard_metadata.egress_spec = 2;
        switch (hdr.k.k) {
            1: { pair(hdr.k.r, hdr.k.s, next(hdr.k.a), next(hdr.k.a)); }
            2: { pair(y = next(hdr.k.a), x = next(hdr.k.a), right = hdr.k.s, left = hdr.k.r); }
            3: { pair(x = next(hdr.k.a), right = hdr.k.s, left = hdr.k.r); }
            4: { twice(hdr.k.a, hdr.k.a); }
            5: { twice(second = hdr.k.a, first = hdr.k.a); }
            6: { act(second = hdr.k.a, first = hdr.k.a); }
            // The header is copied out over the field, or the field into the header.
            7: { c.apply(x = hdr.h.x, h = hdr.h); }
            8: { c.apply(h = hdr.h, x = hdr.h.x); }
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
    apply { packet.emit(hdr); }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
