// Reads that follow setInvalid in the same body give what the header held; elsewhere they give zero.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> kind;
    bit<8> a;
}

header tunnel_t {
    bit<8> id;
    bit<8> next;
}

struct metadata {
    bit<8> seen;
}

struct headers {
    h_t h;
    tunnel_t t;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.t);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action leave_tunnel() {
        hdr.t.setInvalid();
        hdr.h.a = hdr.t.id;
        hdr.h.kind = hdr.t.next;
    }
    action look() {
        hdr.h.a = hdr.t.id;
    }
    action renew() {
        hdr.t.setValid();
    }
    table leave {
        key = { hdr.h.kind : exact; }
        actions = { leave_tunnel; look; renew; }
        const entries = { 1 : leave_tunnel(); }
        default_action = look();
    }
    table watch {
        key = { hdr.h.kind : exact; }
        actions = { look; }
        default_action = look();
    }
    table keyed {
        key = { hdr.t.id : exact; }
        actions = { NoAction; }
        const entries = { 0 : NoAction(); }
    }
    table again {
        key = { hdr.h.kind : exact; }
        actions = { renew; NoAction; }
        const entries = { 8 : renew(); }
    }
    apply {
        standard_metadata.egress_spec = 2;
        bit<8> kind = hdr.h.kind;
        if (kind == 1) {
            // In a table's action.
            leave.apply();
        } else if (kind == 2) {
            // In inner bodies, until a branch makes the header valid again; after that zero in any branch.
            hdr.t.setInvalid();
            if (hdr.t.id == 7) {
                hdr.h.a = hdr.t.next + 1;
            } else {
                hdr.t.setValid();
                hdr.h.a = hdr.t.next + 2;
            }
            hdr.h.kind = hdr.t.next;
        } else if (kind == 3) {
            // What is written is read again, and is not sent.
            hdr.t.setInvalid();
            hdr.t.id[3:0] = 5;
            hdr.h.a = hdr.t.id;
        } else if (kind == 4) {
            // The body of the if ends here.
            if (hdr.t.id == 7) { hdr.t.setInvalid(); }
            hdr.h.a = hdr.t.id;
        } else if (kind == 5) {
            // Keys of tables and inputs of hashes know no field of a removed header.
            hdr.t.setInvalid();
            if (keyed.apply().hit) { hdr.h.a = hdr.t.id; }
            hash(hdr.h.kind, HashAlgorithm.csum16, 8w0, { hdr.t.id, 8w1 }, 8w255);
        } else if (kind == 6) {
            // A header that is removed twice, and one that was never there.
            hdr.t.setInvalid();
            hdr.t.setInvalid();
            hdr.h.a = hdr.t.id;
        } else if (kind == 7) {
            // Other tables' actions read zero.
            hdr.t.setInvalid();
            watch.apply();
            hdr.h.kind = hdr.t.next;
        } else if (kind == 8) {
            // What an action may have made valid is not what was removed.
            hdr.t.setInvalid();
            again.apply();
            hdr.h.a = hdr.t.next;
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
        packet.emit(hdr.t);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
