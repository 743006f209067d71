// `switch` on action_run, hit and miss; actions with directions; one table decides whether another runs.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> key;
    bit<16> more;
    bit<8>  flags;
    bit<8>  result;
}

struct metadata { }

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
    action first() { }
    action second(bit<8> value) {
        hdr.h.result = value;
    }

    table choose {
        key = { hdr.h.flags: exact; }
        actions = { first; second; NoAction; }
        default_action = NoAction();
    }

    action add(inout bit<8> target, in bit<8> amount, bit<8> more) {
        target = target + amount + more;
    }

    table adding {
        key = { hdr.h.more: exact; }
        actions = { add(hdr.h.result, hdr.h.flags); }
        default_action = add(hdr.h.result, hdr.h.flags, 1);
    }

    apply {
        standard_metadata.egress_spec = 2;
        switch (choose.apply().action_run) {
            first: { hdr.h.result = 0x10; }
            second: {
                if (adding.apply().hit) {
                    standard_metadata.egress_spec = 3;
                }
            }
            default: {
                if (adding.apply().miss) {
                    standard_metadata.egress_spec = 4;
                } else {
                    standard_metadata.egress_spec = 5;
                }
            }
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
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
