// `verify` ends parsing with an error of the program; what was extracted stays.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<4> version;
    bit<4> sum;
    bit<8> code;
}

header more_t {
    bit<8> value;
}

error {
    WrongVersion,
    WrongSum
}

struct metadata { }

struct headers {
    h_t h;
    more_t more;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        verify(hdr.h.version == 4, error.WrongVersion);
        packet.extract(hdr.more);
        verify(hdr.more.value[3:0] == hdr.h.sum, error.WrongSum);
        transition select(hdr.more.value) {
            0xff: reject;
            0 .. 0x7f: accept;
            0x80 &&& 0xf0: accept;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error == error.WrongVersion) {
            hdr.h.code = 1;
        } else if (standard_metadata.parser_error == error.WrongSum) {
            hdr.h.code = 2;
        } else if (standard_metadata.parser_error == error.NoMatch) {
            hdr.h.code = 3;
        } else if (standard_metadata.parser_error == error.PacketTooShort) {
            hdr.h.code = 4;
        } else {
            hdr.h.code = 5;
        }
        if (hdr.more.isValid()) {
            hdr.h.code[7:4] = 1;
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
        packet.emit(hdr.more);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
