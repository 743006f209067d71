// Varbit fields in the user's metadata: kept where a field list names them, empty in all other copies and passes.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> what;
    bit<8> length;
    varbit<64> data;
}

header bits_t {
    varbit<64> data;
}

struct inner_t {
    @field_list(1)
    varbit<64> kept;
    varbit<64> lost;
}

struct metadata {
    inner_t inner;
}

struct headers {
    h_t h;
    bits_t kept;
    bits_t lost;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        packet.extract(hdr.h, (bit<32>) length);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

// Sends both varbit fields behind the packet's own header.
control show(inout headers hdr, in metadata meta) {
    apply {
        hdr.kept.setValid();
        hdr.kept.data = meta.inner.kept;
        hdr.lost.setValid();
        hdr.lost.data = meta.inner.lost;
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type == 6 || standard_metadata.instance_type == 4) {
            show.apply(hdr, meta);
            standard_metadata.egress_spec = 3;
            hdr.h.what = 0;
            return;
        }
        meta.inner.kept = hdr.h.data;
        meta.inner.lost = hdr.h.data;
        if (hdr.h.what == 1) {
            resubmit_preserving_field_list(1);
        }
        if (hdr.h.what == 2) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        }
        if (hdr.h.what == 6) {
            resubmit({ meta.inner.kept });
        }
        if (hdr.h.what == 5) {
            exit;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1 || standard_metadata.instance_type == 2 || hdr.h.what == 5) {
            show.apply(hdr, meta);
            return;
        }
        if (hdr.h.what == 3) {
            clone_preserving_field_list(CloneType.E2E, 5, 1);
        }
        if (hdr.h.what == 4) {
            recirculate_preserving_field_list(1);
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
