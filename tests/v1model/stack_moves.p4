// Stacks that parsers fill in loops, moved by controls: of many headers, across words of valid bits, with elements that
// were parsed beside such that were made, and one that is too long to move element by element.
#include <core.p4>
#include <v1model.p4>

header first_t { bit<8> kind; }
header byte_t { bit<1> ends; bit<7> value; }

struct headers {
    first_t first;
    byte_t[20] a;
    byte_t[20] b;
    byte_t[20] c;
    byte_t[20] d;
    byte_t[40] e;
}
struct metadata { bit<8> sum; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind[7:6]) { 0: a; 1: d; 2: e; default: accept; }
    }
    state a {
        packet.extract(hdr.a.next);
        transition select(hdr.a.last.ends) { 1: d; default: a; }
    }
    state d {
        packet.extract(hdr.d.next);
        meta.sum = meta.sum + (bit<8>)hdr.d.last.value;
        transition select(hdr.d.last.ends) { 1: accept; default: d; }
    }
    state e {
        packet.extract(hdr.e.next);
        transition select(hdr.e.last.ends) { 1: accept; default: e; }
    }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error != error.NoError) {
            sm.egress_spec = 2;
        }
        if (hdr.first.kind[0:0] == 1) {
            hdr.d.push_front(2);
            hdr.d[0].setValid();
            hdr.d[0].value = 0x70;
            hdr.d[1].setValid();
            hdr.d[1].value = meta.sum[6:0];
        }
        if (hdr.first.kind[1:1] == 1) {
            // What was made goes further up, beside what was parsed.
            hdr.d.push_front(3);
            hdr.d[1].setValid();
            hdr.d[1].value = hdr.d[3].value;
        }
        if (hdr.first.kind[2:2] == 1) {
            hdr.d.pop_front(2);
            hdr.d[18] = hdr.d[0];
            hdr.d[0].value = hdr.d[0].value + 1;
        }
        if (hdr.first.kind[3:3] == 1) {
            hdr.a.pop_front(1);
            hdr.b.push_front(20);
            hdr.b[19].setValid();
        }
        if (hdr.first.kind[4:4] == 1) {
            hdr.e.push_front(38);
            hdr.e[1].setValid();
            hdr.e[1].value = 0x55;
        }
        if (hdr.first.kind[5:5] == 1) {
            hdr.d.push_front(25);
            hdr.e.pop_front(1);
        }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
