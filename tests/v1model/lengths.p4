// The length of a packet: what egress reads follows setValid and setInvalid, not assignments of whole headers or operations
// on stacks; counters and byte meters have the length at ingress, after recirculation the new one.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> op;
    bit<32> at_ingress;
    bit<32> at_egress;
}

header four_t { bit<32> x; }

struct headers {
    h_t h;
    four_t four;
    four_t other;
    four_t[3] stack;
}

struct metadata { }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.op) {
                7: stack;
            8: stack;
            default: accept;
        }
    }
    state stack {
        packet.extract(hdr.stack.next);
        packet.extract(hdr.stack.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(1, CounterType.bytes) bytes;
    apply {
        bytes.count(0);
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type == 4) {
            hdr.h.at_ingress = standard_metadata.packet_length;
            hdr.h.op = 0;
            return;
        }
        switch (hdr.h.op) {
            1: { hdr.four.setValid(); hdr.four.setValid(); }
            2: { hdr.four.setValid(); hdr.four.setInvalid(); hdr.four.setInvalid(); }
            3: { hdr.four = { 7 }; hdr.other = hdr.four; }
            4: { hdr.four.setValid(); hdr.other.setValid(); mark_to_drop(standard_metadata); standard_metadata.egress_spec = 2; }
            7: { hdr.stack[1].setInvalid(); hdr.stack[2].setValid(); hdr.stack[0].setInvalid(); }
            8: { hdr.stack.push_front(1); hdr.stack.pop_front(2); }
        }
        // The field itself is only refreshed when egress begins.
        hdr.h.at_ingress = standard_metadata.packet_length;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(1, CounterType.bytes) out_bytes;
    apply {
        out_bytes.count(0);
        hdr.h.at_egress = standard_metadata.packet_length;
        if (hdr.h.op == 5) {
            hdr.four.setValid();
            hdr.other.setValid();
            hdr.h.at_egress = standard_metadata.packet_length;
            recirculate_preserving_field_list(0);
        }
    }
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
