// A header with several varbit fields: each has its own length, and all are sent.
#include <core.p4>
#include <v1model.p4>

header options_t {
    bit<8> size;
    varbit<64> bits;
}

header many_t {
    bit<4> begin;
    varbit<64> first;
    bit<7> middle;
    varbit<64> second;
    bit<2> end;
    varbit<64> third;
}

header_union either_t {
    options_t options;
    many_t many;
}

struct metadata {
    many_t kept;
    many_t[2] stack;
}

struct headers {
    options_t x;
    options_t y;
    many_t many;
    many_t[2] more;
    either_t either;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.x, (bit<32>) packet.lookahead<bit<8>>());
        packet.extract(hdr.y, (bit<32>) packet.lookahead<bit<8>>());
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control Swap(inout varbit<64> a, inout varbit<64> b) {
    apply {
        varbit<64> kept = a;
        a = b;
        b = kept;
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<many_t>(1) cell;
    Swap() swap;
    apply {
        varbit<64> none;
        standard_metadata.egress_spec = 2;
        // An invalid header keeps nothing.
        hdr.many.second = hdr.x.bits;
        hdr.many.setValid();
        if (hdr.many.second == none) {
            hdr.many.begin = 0xa;
        }
        hdr.many.middle = 0x55;
        hdr.many.end = 3;
        hdr.many.second = hdr.x.bits;
        hdr.many.third = hdr.y.bits;
        // Valid already: nothing changes.
        hdr.many.setValid();
        if (hdr.many.second == hdr.x.bits && hdr.many.third == hdr.many.third && hdr.many.second != hdr.many.first) {
            hdr.x.size = 0x11;
        }
        meta.kept = hdr.many;
        swap.apply(meta.kept.first, meta.kept.third);
        meta.stack[1] = meta.kept;
        meta.stack[hdr.x.size[0:0]].middle = 1;
        hdr.more[0] = meta.stack[1];
        cell.write(0, hdr.more[0]);
        cell.read(hdr.more[1], 0);
        if (hdr.more[0] == hdr.more[1] && hdr.more[0] != hdr.many) {
            hdr.y.size = 0x22;
        }
        // Back to a header with one.
        hdr.x.bits = hdr.more[1].first;
        hdr.more[1].second = none;
        hdr.either.many = { 1, none, 2, hdr.y.bits, 3, hdr.more[1].first };
        if (hdr.y.bits == hdr.either.many.second) {
            hdr.more[1].setInvalid();
        }
        bit<16> sum;
        hash(sum, HashAlgorithm.csum16, 16w0, { hdr.either.many.second, hdr.either.many.third }, 32w0x10000);
        hdr.more[0].begin = (bit<4>) sum;
        log_msg("{}", { hdr.many });
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
