// Packets that wait in buffers and leave together, and packets that are taken apart into records.
#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>

header order_t { bit<8> kind; bit<8> number; }
header answer_t { bit<8> kind; bit<16> pile; bit<16> packets; }
struct headers_t { answer_t answer; order_t order; }
struct metadata_t { @field_list(1) bit<8> follows; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_TYPE_PILE: accept;
            INSTANCE_TYPE_RECORD: accept;
            default: order;
        }
    }
    state order { packet.extract(hdr.order); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 2;
        if (!hdr.order.isValid() || standard.instance_type == INSTANCE_TYPE_NO_RECORDS) {
            hdr.answer.setValid();
            hdr.answer.kind = (bit<8>)standard.instance_type;
            pile_read(hdr.answer.pile, hdr.answer.packets);
        } else if (hdr.order.kind == 0xa && meta.follows == 0) {
            meta.follows = 1;
            pile_release((bit<16>)hdr.order.number);
            resubmit_preserving_field_list(1);
        } else if (hdr.order.kind == 0xb) {
            scatter_records(2, (bit<16>)hdr.order.number);
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.order.isValid() && hdr.order.kind == 1) {
            pile_gather((bit<16>)hdr.order.number, 8, 50);
            hdr.order.setInvalid();
        }
        if (hdr.order.isValid() && hdr.order.kind == 2) {
            truncate(3);
            pile_gather((bit<16>)hdr.order.number, 8, 1000000);
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
