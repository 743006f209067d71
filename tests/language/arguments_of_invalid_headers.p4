// Fields of invalid headers and members of unions as arguments: parameters take values though the fields do not, and
// change no other members. Run-time indices that read what is being changed.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> a; bit<8> r; bit<8> r2; }
header h_t { bit<8> x; bit<8> y; }
header o_t { bit<16> z; }
header_union u_t { h_t h; o_t o; h_t g; }
bit<8> f(inout bit<8> p) { p = p + 5; return p; }
bit<8> fo(out bit<8> p) { p = 7; p = p + 1; return p; }
bit<8> fs(inout bit<4> p) { p = p + 1; return 4w0 ++ p; }
void fu(inout h_t h) { h.setValid(); h.x = 1; h.setInvalid(); }

struct metadata {
}

struct headers {
    k_t k;
    h_t h;
    h_t[3] st;
    u_t[2] us;
}

control C(inout bit<8> p, out bit<8> q) { apply { p = p + 9; q = p; } }
control T(inout bit<8> p) { action a() { p = p + 3; } table t { key = { p : exact; } actions = { a; } const entries = { 0: a(); 3: a(); 6: a(); } } apply { t.apply(); t.apply(); } }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.k); transition select(hdr.k.k[7:7]) { 0: accept; 1: more; } }
    state more { packet.extract(hdr.st.next); packet.extract(hdr.st.next); packet.extract(hdr.st.next); transition select(hdr.k.k) { 0x81: un; default: accept; } }
    state un { packet.extract(hdr.us[hdr.us[0].h.x].h); packet.extract(hdr.us[hdr.us[0].h.x].g); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    C() c;
    T() t;
    apply {
        standard_metadata.egress_spec = 2;
        switch (hdr.k.k) {
            1: { hdr.k.r = f(hdr.h.x); hdr.k.r2 = hdr.h.x; }
            2: { hdr.k.r = fo(hdr.h.x); hdr.k.r2 = hdr.h.x; }
            3: { hdr.k.r = fs(hdr.h.x[7:4]); hdr.k.r2 = hdr.h.x; }
            4: { c.apply(hdr.h.x, hdr.k.r); hdr.k.r2 = hdr.h.x; }
            5: { c.apply(hdr.k.r, hdr.h.x); hdr.k.r2 = hdr.h.x; }
            7: { hdr.us[0].g.setValid(); fu(hdr.us[0].h); }
            6: { t.apply(hdr.h.x); t.apply(hdr.k.r); hdr.k.r2 = hdr.h.x; }
            0x80: { hdr.st[hdr.st[hdr.k.a].x] = (h_t) { 9, 8 }; }
            0x81: { hdr.us[hdr.us[0].g.x].o.setValid(); hdr.us[0].o.z = 0x1234; }
            0x82: { hdr.us[0].h = { 0, 1 }; hdr.us[hdr.us[0].h.x].g = hdr.st[hdr.us[0].h.y]; }
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
