// Keys of more than 64 bits, validity keys, many keys at once.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<128> address;
    bit<72> odd;
    bit<8> result;
}

header opt_t {
    bit<8> present;
}

struct metadata { }

struct headers {
    h_t h;
    opt_t opt;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.result) {
            1: parse_opt;
            default: accept;
        }
    }

    state parse_opt {
        packet.extract(hdr.opt);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set(bit<8> value, bit<100> wide) {
        hdr.h.result = value;
        hdr.h.address[99:0] = wide;
    }

    table everything {
        key = {
            hdr.h.address: exact;
            hdr.h.odd: exact;
            hdr.opt.isValid(): exact;
            hdr.opt.present: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = { set; NoAction; }
        default_action = NoAction();
    }

    table masked {
        key = {
            hdr.h.address: ternary;
            hdr.h.odd: lpm;
        }
        actions = { set; NoAction; }
        default_action = NoAction();
    }

    apply {
        if (everything.apply().miss) {
            masked.apply();
        }
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
        packet.emit(hdr.opt);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
