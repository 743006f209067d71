// A clone made in egress leaves behind its packet, and a clone of it behind that, also in programs without another pass.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> kind;
    bit<8> clones;
}

struct headers_t {
    byte_t byte;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.byte);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 1; }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.byte.kind = (bit<8>)sm.instance_type;
        if (hdr.byte.clones > 0) {
            hdr.byte.clones = hdr.byte.clones - 1;
            clone(CloneType.E2E, 5);
        }
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.byte); }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
