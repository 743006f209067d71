// Field lists named by members of enums and by constants; whole structs in a list; fields of several lists; the older forms
// that state the fields in the call.
#include <core.p4>
#include <v1model.p4>

enum bit<8> Lists {
    none = 0,
    whole = 1,
    part = 2
}

const bit<8> LIST_OF_BOTH = 3;

header h_t {
    bit<8> a;
    bit<32> seen;
}

struct inner_t {
    bit<4> high;
    @field_list(LIST_OF_BOTH)
    bit<4> low;
}

struct metadata {
    @field_list(Lists.whole, 4)
    inner_t inner;
    @field_list(Lists.part, Lists.whole)
    bit<8> middle;
    @field_list(LIST_OF_BOTH)
    bool flag;
    bit<7> rest;
    @field_list(7)
    bit<4>[2] pair;
}

struct headers {
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type == 6) {
            bit<8> pair = meta.pair[0] ++ meta.pair[1];
            hdr.h.seen = meta.inner.high ++ meta.inner.low ++ meta.middle ++ (bit<1>) meta.flag ++ meta.rest ++ pair;
            return;
        }
        meta.inner = { 1, 2 };
        meta.middle = 0x34;
        meta.flag = true;
        meta.rest = 5;
        meta.pair[0] = 6;
        meta.pair[1] = 7;
        switch (hdr.h.a) {
            0: { resubmit_preserving_field_list((bit<8>) Lists.none); }
            1: { resubmit_preserving_field_list(Lists.whole); }
            2: { resubmit_preserving_field_list((bit<8>) Lists.part); }
            3: { resubmit_preserving_field_list(LIST_OF_BOTH); }
            4: { resubmit_preserving_field_list(Lists.whole + 8w3); }
            5: { resubmit<tuple<bit<8>, inner_t>>({ meta.middle, meta.inner }); }
            6: { resubmit({ }); }
            7: { resubmit(meta); }
            8: { resubmit_preserving_field_list(200); }
            9: { resubmit({ meta.rest, hdr.h.a, 8w5 }); }
            10: { resubmit_preserving_field_list(7); }
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
