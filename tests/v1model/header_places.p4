// Headers that are copied, and end or are written afterwards: which of the two keeps the place in the packet must not
// show. What is done, and how many headers there are, the first two bytes say.

#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8> work;
    bit<8> count;
}

header pair_t {
    bit<16> value;
}

struct headers_t {
    order_t order;
    pair_t a;
    pair_t b;
    pair_t c;
}

struct metadata_t {
}

parser PlacesParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.order);
        transition select(hdr.order.count) {
            0: accept;
            default: first;
        }
    }

    state first {
        packet.extract(hdr.a);
        transition select(hdr.order.count) {
            1: accept;
            default: second;
        }
    }

    state second {
        packet.extract(hdr.b);
        transition select(hdr.order.count) {
            2: accept;
            default: third;
        }
    }

    state third {
        packet.extract(hdr.c);
        transition accept;
    }
}

control PlacesVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PlacesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.order.work == 1) {
            hdr.c = hdr.a;
            hdr.a.setInvalid();
        } else if (hdr.order.work == 2) {
            hdr.b = hdr.a;
            hdr.a.value = 0xaaaa;
        } else if (hdr.order.work == 3) {
            hdr.b = hdr.a;
            hdr.a.setInvalid();
            hdr.a.setValid();
            hdr.a.value = 0xbbbb;
        } else if (hdr.order.work == 4) {
            hdr.c = hdr.a;
            hdr.a = hdr.b;
            hdr.b = hdr.c;
            hdr.c.setInvalid();
        } else if (hdr.order.work == 5) {
            hdr.c = hdr.a;
            hdr.a.setInvalid();
            hdr.a = hdr.c;
            hdr.c.setInvalid();
        } else if (hdr.order.work == 6) {
            hdr.a = hdr.b;
            hdr.b.setInvalid();
            hdr.b = hdr.c;
            hdr.c.setInvalid();
        } else if (hdr.order.work == 7) {
            hdr.c = hdr.b;
            hdr.b = hdr.a;
            hdr.a.value = 0x7777;
        } else if (hdr.order.work == 8) {
            hdr.c = hdr.a;
            hdr.a.value = 1;
            hdr.b = hdr.a;
            hdr.a.setInvalid();
        } else if (hdr.order.work == 9) {
            hdr.b = hdr.a;
            hdr.c = hdr.b;
            hdr.b.value = 0x9999;
            hdr.a.value = 0x1111;
        } else if (hdr.order.work == 10) {
            hdr.b = hdr.a;
            hdr.c = hdr.a;
            hdr.a.setInvalid();
            hdr.c.value = hdr.b.value + 1;
        } else if (hdr.order.work == 11) {
            hdr.a.setInvalid();
            hdr.a = hdr.c;
            hdr.c.value = 0xcccc;
            hdr.b = hdr.a;
            hdr.a.setInvalid();
            hdr.a.setValid();
        }
    }
}

control PlacesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control PlacesComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PlacesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
        packet.emit(hdr.a);
        packet.emit(hdr.b);
        packet.emit(hdr.c);
    }
}

V1Switch(PlacesParser(), PlacesVerifyChecksum(), PlacesIngress(), PlacesEgress(), PlacesComputeChecksum(),
         PlacesDeparser()) main;
