// Keys whose evaluation changes what other keys read, keys at a run-time index, arguments that the table binds.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> l; bit<8> r; bit<8> r2; }
struct two { bit<8> x; bit<8> y; }
bit<8> bump(inout bit<8> x) { x = x + 1; return x; }
bit<8> rd(in bit<8> x) { return x + 1; }
two mk(in bit<8> x) { return { x, x + 1 }; }

struct metadata {
    bit<2> i;
    bit<8>[3] ar;
}

struct headers {
    k_t k;
    k_t[3] st;
}


parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.k); packet.extract(hdr.st.next); packet.extract(hdr.st.next); packet.extract(hdr.st.next); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set(bit<8> v) { hdr.k.r = v; }
    action prm(in bit<8> a, inout bit<8> b, bit<8> v) { b = a + v; hdr.k.r = hdr.k.r + 1; b = b + hdr.k.r; }
    action slice_prm(inout bit<4> a, bit<4> v) { a = v; hdr.k.r2 = hdr.k.l; }
    action rt(inout k_t h, bit<8> v) { meta.i = 2; h.k = v; }
    table t1 { key = { bump(hdr.k.l) : exact @name("a"); hdr.k.l : exact @name("b"); bump(hdr.k.l) : exact @name("c"); } actions = { set; NoAction; } default_action = NoAction; const entries = { (1, 1, 2) : set(0x11); (1, 2, 2) : set(0x22); (1,0,2) : set(0x33); } }
    table t2 { key = { hdr.st[meta.i].k : exact; meta.ar[meta.i] : exact; mk(hdr.k.l).y : exact @name("mk"); hdr.st[meta.i].isValid() : exact; } actions = { set; } const entries = { (0x20, 5, 3, true) : set(1); (0, 0, 3, false) : set(2); } default_action = set(9); }
    table t3 { key = { hdr.k.l : exact; } actions = { prm(hdr.k.l, hdr.k.r2); slice_prm(hdr.k.l[7:4]); rt(hdr.st[meta.i]); } const entries = { 1 : prm(hdr.k.l, hdr.k.r2, 0x10); 3 : slice_prm(hdr.k.l[7:4], 0xa); 4 : rt(hdr.st[meta.i], 0x77); } }
    table t4 { key = { hdr.k.l : lpm; } actions = { set; } default_action = set(1); size = 1; }
    table t5 { key = { (bit<4>) hdr.k.l : exact @name("cast"); hdr.k.l ++ hdr.k.r : ternary @name("cat"); (hdr.k.l > 3) : exact @name("cmp"); hdr.k.l > 3 ? hdr.k.l : hdr.k.r : exact @name("mux"); ~hdr.k.l : range @name("inv"); } actions = { set; } const entries = { (4, 0x0400 &&& 0xff00, true, 4, 0xf0 .. 0xff) : set(0x44); (2, _, false, 7, _) : set(0x45); } default_action = set(0x46); }
    apply {
        standard_metadata.egress_spec = 2;
        meta.ar = { 3, 4, 5 };
        switch (hdr.k.k) {
            1: { t1.apply(); }
            2: { meta.i = (bit<2>) hdr.k.r; t2.apply(); }
            3: { meta.i = 1; t3.apply(); }
            5: { t5.apply(); }
            6: { prm(hdr.k.l, hdr.k.r, 3); }
            7: { prm(b = hdr.k.r2, v = 3, a = rd(rd(hdr.k.l))); }
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
