// Headers of variable length that are extracted and removed, beside headers that are added: packets are processed where
// their bytes lie.
#include <core.p4>
#include <v1model.p4>

header tag_t { bit<8> kind; }
header base_t { bit<8> bytes; bit<8> act; bit<8> to; }
header options_t { bit<8> first; varbit<128> data; }
header value_t { bit<8> number; }
struct headers { tag_t tag; base_t base; options_t options; value_t value; }
struct meta_t { }

parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.base);
        transition select(hdr.base.bytes) {
            0: value;
            default: options;
        }
    }
    state options {
        packet.extract(hdr.options, (bit<32>)(hdr.base.bytes - 1) << 3);
        transition value;
    }
    state value {
        packet.extract(hdr.value);
        transition accept;
    }
}

control V(inout headers hdr, inout meta_t meta) { apply { } }

control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action add(bit<8> kind) {
        hdr.tag.setValid();
        hdr.tag.kind = kind;
    }
    table acts {
        key = { hdr.base.act: exact; }
        actions = { add; NoAction; }
        const entries = { 1: add(0xF1); 3: add(0xF3); }
    }
    apply {
        sm.egress_spec = (bit<9>)hdr.base.to;
        acts.apply();
        if (hdr.base.act == 2 || hdr.base.act == 3) {
            hdr.options.setInvalid();
        } else if (hdr.base.act == 4) {
            sm.mcast_grp = 1;
        }
        hdr.value.number = hdr.value.number + 1;
    }
}

control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.base.act == 4 && sm.egress_port == 2) {
            hdr.options.setInvalid();
        }
    }
}

control C(inout headers hdr, inout meta_t meta) { apply { } }

control D(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.tag);
        packet.emit(hdr.base);
        packet.emit(hdr.options);
        packet.emit(hdr.value);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
