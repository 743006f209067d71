// `mark_to_drop` works on the metadata that it is given: a parameter, a copy, a member of a struct.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata {
    standard_metadata_t saved;
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

void drop_by_function(inout standard_metadata_t given) {
    given.egress_spec = 4;
    mark_to_drop(given);
}

control Inner(inout standard_metadata_t given) {
    action drop() {
        mark_to_drop(given);
    }
    table always {
        actions = { drop; }
        const default_action = drop();
    }
    apply {
        always.apply();
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    Inner() inner;
    Inner() another;

    action drop(inout standard_metadata_t given) {
        mark_to_drop(given);
    }
    action drop_and_exit(inout standard_metadata_t given) {
        mark_to_drop(given);
        exit;
    }
    action spare(in standard_metadata_t given) {
        standard_metadata_t copy = given;
        mark_to_drop(copy);
        hdr.h.b = (bit<8>) copy.egress_spec;
    }
    action drop_two(inout standard_metadata_t given, inout standard_metadata_t other) {
        mark_to_drop(other);
        given.egress_spec = 3;
    }

    action drop_saved() {
        mark_to_drop(meta.saved);
    }
    table dropping {
        key = { hdr.h.b: exact; }
        actions = { drop(standard_metadata); drop_saved; }
        const default_action = drop(standard_metadata);
        const entries = { 1: drop_saved(); }
    }

    apply {
        standard_metadata.egress_spec = 2;
        standard_metadata.mcast_grp = 0;
        if (hdr.h.a == 1) {
            drop(standard_metadata);
        } else if (hdr.h.a == 2) {
            drop_and_exit(standard_metadata);
        } else if (hdr.h.a == 3) {
            spare(standard_metadata);
        } else if (hdr.h.a == 4) {
            standard_metadata_t copy = standard_metadata;
            mark_to_drop(copy);
            hdr.h.b = (bit<8>) (copy.egress_spec ^ standard_metadata.egress_spec);
        } else if (hdr.h.a == 5) {
            standard_metadata_t copy = standard_metadata;
            mark_to_drop(copy);
            standard_metadata = copy;
        } else if (hdr.h.a == 6) {
            meta.saved = standard_metadata;
            inner.apply(meta.saved);
        } else if (hdr.h.a == 7) {
            another.apply(standard_metadata);
        } else if (hdr.h.a == 8) {
            drop_by_function(standard_metadata);
        } else if (hdr.h.a == 9) {
            // A group that is there.
            standard_metadata.mcast_grp = 1;
            drop(standard_metadata);
        } else if (hdr.h.a == 10) {
            standard_metadata.mcast_grp = 1;
            meta.saved = standard_metadata;
            drop(meta.saved);
        } else if (hdr.h.a == 11) {
            meta.saved = standard_metadata;
            drop_two(standard_metadata, meta.saved);
        } else if (hdr.h.a == 12) {
            // Copied out in this order, so that the drop comes last.
            drop_two(standard_metadata, standard_metadata);
        } else if (hdr.h.a == 13) {
            dropping.apply();
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action drop(inout standard_metadata_t given) {
        mark_to_drop(given);
    }
    apply {
        if (hdr.h.b == 0xe0) {
            drop(standard_metadata);
        } else if (hdr.h.b == 0xe1) {
            meta.saved = standard_metadata;
            drop(meta.saved);
        }
    }
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
