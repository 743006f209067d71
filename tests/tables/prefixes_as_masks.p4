// Prefixes beside ternary keys: masks, and the priority decides, also with two keys of kind `lpm`.
#include <core.p4>
#include <v1model.p4>

header a_t { bit<8> x; bit<8> y; bit<8> r; }

struct metadata {
}

struct headers {
    a_t a;
}


parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.a); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set(bit<8> v) { hdr.a.r = v; }
    table t1 { key = { hdr.a.x : ternary; hdr.a.y: lpm; } actions = { set; NoAction; } default_action = NoAction; }
    table t2 { key = { hdr.a.x : lpm; hdr.a.y: lpm; hdr.a.x : ternary @name("xx"); } actions = { set; NoAction; } default_action = NoAction; }
    apply {
        standard_metadata.egress_spec = 2;
    t1.apply(); 
    t2.apply(); 
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
