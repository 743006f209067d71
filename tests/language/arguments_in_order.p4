// `inout` arguments have the values of their turn: what a later argument does to them comes too late.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> a; bit<8> r; bit<8> r2; }
header h_t { bit<8> x; }
bit<8> g(inout bit<8> z) { z = z + 1; return z; }
void f(inout bit<8> x, in bit<8> y) { x = x * 16 + y; }
void f3(inout bit<8> x, inout bit<8> w, in bit<8> y) { x = x * 16 + y; w = w + 1; }
bit<8> ginv(inout h_t h) { h.setInvalid(); return 3; }
void fh(inout h_t h, in bit<8> v) { if (h.isValid()) { h.x = h.x + v; } else { h.setValid(); h.x = 0xff; } }
void fo(out h_t h, in h_t i, in bit<8> v) { if (i.isValid()) { h.setValid(); h.x = v; } }

struct metadata {
}

struct headers {
    k_t k;
    h_t h;
    h_t[2] st;
}

control C(inout bit<8> x, in bit<8> y) { apply { x = x * 16 + y; } }
control T(inout bit<8> x, in bit<8> y) { action a() { x = x * 16 + y; } table t { actions = { a; } default_action = a; } apply { t.apply(); } }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.k); packet.extract(hdr.h);  packet.extract(hdr.st.next); packet.extract(hdr.st.next); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    C() c;
    T() t;
    action act(inout bit<8> x, in bit<8> y) { x = x * 16 + y; }
    apply {
        standard_metadata.egress_spec = 2;
        switch (hdr.k.k) {
            1: { f(hdr.k.a, g(hdr.k.a)); }
            2: { act(hdr.k.a, g(hdr.k.a)); }
            3: { c.apply(hdr.k.a, g(hdr.k.a)); }
            4: { t.apply(hdr.k.a, g(hdr.k.a)); }
            5: { fh(hdr.h, ginv(hdr.h)); }
            6: { f3(hdr.k.a, hdr.k.a, g(hdr.k.a)); }
            7: { fo(hdr.h, hdr.h, 5); }
            8: { fh(hdr.st[hdr.k.a], ginv(hdr.st[hdr.k.a])); }
            9: { fo(hdr.h, hdr.h, ginv(hdr.h)); }
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
