// IPv4 options of variable length; the three ways in which they can be wrong.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> code;
}

header options_t {
    varbit<64> data;
    bit<8> end;
}

struct metadata { }

struct headers {
    h_t h;
    options_t options;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.options, (bit<32>) hdr.h.ihl * 12);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error == error.ParserInvalidArgument) {
            hdr.h.code = 1;
        } else if (standard_metadata.parser_error == error.PacketTooShort) {
            hdr.h.code = 2;
        } else if (standard_metadata.parser_error == error.HeaderTooShort) {
            hdr.h.code = 3;
        } else if (hdr.h.version == 9) {
            hdr.options.setInvalid();
        } else {
            hdr.options.end = hdr.options.end + 1;
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
        packet.emit(hdr.h);
        packet.emit(hdr.options);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
