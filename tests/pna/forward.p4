// Forwarding: a port, the last of several, a drop, and no decision at all.
#include <core.p4>
#include <pna.p4>

header ethernet_t {
    bit<48> dstAddr;
    bit<48> srcAddr;
    bit<16> etherType;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<8> seen;
}

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    state start {
        meta.seen = (bit<8>) (PortIdUint_t) istd.input_port;
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control PreControlImpl(in headers_t hdr, inout metadata_t meta, in pna_pre_input_metadata_t istd,
                       inout pna_pre_output_metadata_t ostd) {
    apply {
        if (istd.parser_error == error.PacketTooShort) {
            meta.seen = 0xee;
        }
        if (istd.direction == PNA_Direction_t.HOST_TO_NET) {
            meta.seen = 0xdd;
        }
        ostd.decrypt = false;
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    action forward(PortId_t port) {
        send_to_port(port);
    }

    action drop() {
        drop_packet();
    }

    table where {
        key = {
            hdr.ethernet.dstAddr : exact;
        }
        actions = {
            forward;
            drop;
            NoAction;
        }
        default_action = NoAction();
        size = 16;
    }

    apply {
        hdr.ethernet.srcAddr[7:0] = meta.seen;
        hdr.ethernet.srcAddr[15:8] = (bit<8>) (PortIdUint_t) istd.input_port;
        hdr.ethernet.srcAddr[23:16] = (bit<8>) (PassNumberUint_t) istd.pass;
        if (istd.loopedback) {
            hdr.ethernet.srcAddr[31:24] = 0xff;
        }
        // Types 1 to 3 decide before the table, after it, or drop after it.
        if (hdr.ethernet.etherType == 1) {
            send_to_port((PortId_t) 9);
        }
        where.apply();
        if (hdr.ethernet.etherType == 2) {
            send_to_port((PortId_t) 8);
        } else if (hdr.ethernet.etherType == 3) {
            drop_packet();
        } else if (hdr.ethernet.etherType == 4) {
            drop_packet();
            send_to_port((PortId_t) 7);
        } else if (hdr.ethernet.etherType == 5) {
            ostd.class_of_service = (ClassOfService_t) 5;
        }
        if (!hdr.ethernet.isValid()) {
            send_to_port((PortId_t) (PortIdUint_t) 6);
        }
    }
}

control MainDeparserImpl(packet_out packet, in headers_t hdr, in metadata_t meta,
                         in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
