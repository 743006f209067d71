// Sizes of types and values, known when the program is compiled, and `static_assert` on them.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> bits;
    bit<8> bytes;
    bit<8> stack;
    bit<8> sum;
    bit<8> most;
}

struct metadata { }

struct headers {
    h_t h;
}

header option_t {
    bit<4> kind;
    bit<4> words;
    varbit<320> data;
}

const bool LARGE = static_assert(option_t.maxSizeInBytes() == 41, "an option has at most 41 bytes");

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
    @noWarn("unused") option_t option;
    @noWarn("unused") option_t[3] options;
    apply {
        hdr.h.bits = (bit<8>)hdr.h.minSizeInBits();
        hdr.h.bytes = (bit<8>)hdr.h.minSizeInBytes();
        hdr.h.stack = (bit<8>)options.size;
        hdr.h.sum = (bit<8>)(option.minSizeInBits() + option.minSizeInBytes());
        hdr.h.most = (bit<8>)(option.maxSizeInBits() - 320 + option.maxSizeInBytes());
        static_assert(options.size == 3);
        standard_metadata.egress_spec = 2;
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
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
