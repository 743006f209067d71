// Replicas share what ingress has made of their packet, and none sees what another does: each may add, remove and change
// headers, write metadata, be cut, dropped, cloned, or looked up in tables of egress.
#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8> group;
    bit<8> kind;
}

header option_t {
    bit<16> value;
}

header note_t {
    bit<8> by;
    bit<16> text;
}

header last_t {
    bit<8> count;
}

struct metadata {
    @field_list(1)
    bit<8> seen;
    bit<96> wide;
    bit<16> text;
}

struct headers {
    first_t first;
    note_t note;
    option_t option;
    note_t other;
    last_t last;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) {
            1: with_option;
            default: last;
        }
    }
    state with_option {
        packet.extract(hdr.option);
        transition last;
    }
    state last {
        packet.extract(hdr.last);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 8;
        standard_metadata.mcast_grp = (bit<16>) hdr.first.group;
        meta.wide = 80w0 ++ 16w0x1234;
        meta.seen = 1;
        if (hdr.first.kind == 1) {
            // One that is beside the packet in all replicas.
            hdr.note.setValid();
            hdr.note.by = 0xaa;
            hdr.note.text = hdr.option.value;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<bit<8>>(1) replicas;
    counter(16, CounterType.packets) by_rid;

    action write(bit<16> text) {
        meta.text = text;
    }

    table texts {
        key = { standard_metadata.egress_rid: exact; }
        actions = { write; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    action sign(bit<8> by) {
        hdr.note.by = by;
        hdr.other.by = by;
    }

    table signatures {
        key = { meta.text: exact; standard_metadata.egress_port: exact; }
        actions = { sign; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    apply {
        bit<8> number;
        replicas.read(number, 0);
        number = number + 1;
        replicas.write(0, number);
        by_rid.count((bit<32>) standard_metadata.egress_rid);
        hdr.last.count = number;
        meta.wide = meta.wide + (bit<96>) standard_metadata.egress_rid;
        texts.apply();
        signatures.apply();
        if (standard_metadata.egress_rid == 1) {
            hdr.other.setValid();
            hdr.other.text = meta.wide[15:0];
        } else if (standard_metadata.egress_rid == 2) {
            hdr.option.setInvalid();
            hdr.note.text = meta.text;
        } else if (standard_metadata.egress_rid == 3) {
            mark_to_drop(standard_metadata);
        } else if (standard_metadata.egress_rid == 4) {
            truncate(3);
        } else if (standard_metadata.egress_rid == 5) {
            meta.seen = meta.seen + 1;
            clone_preserving_field_list(CloneType.E2E, 9, 1);
        } else if (standard_metadata.egress_rid == 6) {
            hdr.option.value = meta.wide[15:0];
            hdr.note.setInvalid();
        }
        if (standard_metadata.instance_type == 2) {
            // A clone of replica 5: it has the field of the list, and its packet's headers.
            hdr.last.count = 0x80 | meta.seen;
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.first);
        packet.emit(hdr.note);
        packet.emit(hdr.option);
        packet.emit(hdr.other);
        packet.emit(hdr.last);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
