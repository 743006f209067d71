// Requests from odd places: functions, sub-controls, actions of tables, defaults; by run-time sessions; the older forms of
// clone and drop; sessions that no switch has.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> op;
    bit<32> session;
    bit<8> note;
}

struct headers {
    h_t h;
}

struct metadata {
    bit<8> one;
    bit<16> two;
}
bit<8> drop_if(in bool condition, inout standard_metadata_t standard_metadata) {
    if (condition) {
        mark_to_drop(standard_metadata);
        return 1;
    }
    return 2;
}

control Requests(in bit<32> session, inout standard_metadata_t standard_metadata) {
    apply {
        if (session == 0) {
            mark_to_drop(standard_metadata);
            return;
        }
        clone(CloneType.I2E, session);
    }
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
    Requests() requests;

    action clone_to(bit<32> session) {
        clone(CloneType.I2E, session);
    }

    action drop() {
        mark_to_drop();
    }

    action drop_and_leave() {
        mark_to_drop(standard_metadata);
        exit;
    }

    table by_op {
        key = { hdr.h.op: exact; }
        actions = { clone_to; drop; drop_and_leave; NoAction; }
        const default_action = NoAction();
        const entries = {
            1: clone_to(1);
            2: drop();
            3: drop_and_leave();
        }
    }

    apply {
        standard_metadata.egress_spec = 2;
        meta.one = 0x11;
        meta.two = 0x2222;
        by_op.apply();
        switch (hdr.h.op) {
            4: { clone(CloneType.I2E, hdr.h.session); }
            5: { clone3(CloneType.I2E, hdr.h.session, { meta.two, standard_metadata.ingress_port }); }
            6: { clone3<metadata>(CloneType.I2E, hdr.h.session + 1, meta); }
            7: { clone3(CloneType.I2E, 1, standard_metadata); }
            8: { requests.apply(hdr.h.session, standard_metadata); }
            9: { hdr.h.note = drop_if(hdr.h.session == 0, standard_metadata); }
        }
        meta.one = 0x12;
        meta.two = 0x3333;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.h.note = meta.one + (bit<8>) meta.two + (bit<8>) standard_metadata.egress_port;
            if (hdr.h.op == 7) {
                // The list has the port that ingress chose, but the clone's own kind and length.
                hdr.h.session[31:16] = (bit<16>) standard_metadata.packet_length;
                hdr.h.session[15:0] = (bit<16>) standard_metadata.ingress_port;
            }
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
