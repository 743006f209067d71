// Headers without bytes: with no field, with a field of no bits. They are valid or not like any other.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> value;
}

header empty_t { }

header no_bits_t {
    bit<0> nothing;
}

struct metadata {
    empty_t kept;
}

struct headers {
    byte_t first;
    empty_t mark;
    empty_t[2] marks;
    no_bits_t no_bits;
    byte_t last;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.value) {
            1: mark;
            2: marks;
            3: no_bits;
            default: last;
        }
    }
    state mark {
        packet.extract(hdr.mark);
        transition last;
    }
    state marks {
        packet.extract(hdr.marks.next);
        packet.extract(hdr.marks.next);
        transition last;
    }
    state no_bits {
        packet.extract(hdr.no_bits);
        transition last;
    }
    state last {
        packet.extract(hdr.last);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 1;
        if (hdr.first.value == 4) {
            hdr.mark.setValid();
            hdr.no_bits.setValid();
            meta.kept.setValid();
        } else if (hdr.first.value == 3) {
            hdr.marks[1].setValid();
            hdr.no_bits.setInvalid();
        }
        hdr.last.value = 0;
        if (hdr.mark.isValid()) { hdr.last.value = hdr.last.value + 1; }
        if (hdr.marks[0].isValid()) { hdr.last.value = hdr.last.value + 2; }
        if (hdr.marks[1].isValid()) { hdr.last.value = hdr.last.value + 4; }
        if (hdr.no_bits.isValid()) { hdr.last.value = hdr.last.value + 8; }
        if (meta.kept.isValid()) { hdr.last.value = hdr.last.value + 16; }
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
