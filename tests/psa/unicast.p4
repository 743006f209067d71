// Unicast, multicast, drop, and what the pipelines are told about it.
#include <core.p4>
#include <psa.p4>

header ethernet_t {
    bit<48> dstAddr;
    bit<48> srcAddr;
    bit<16> etherType;
}

struct headers_t {
    ethernet_t ethernet;
}

struct empty_t {
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        // Where to is the last byte of the destination; its first byte says how.
        if (hdr.ethernet.dstAddr[47:40] == 1) {
            multicast(ostd, (MulticastGroup_t) (MulticastGroupUint_t) hdr.ethernet.dstAddr[7:0]);
        } else if (hdr.ethernet.dstAddr[47:40] == 2) {
            ingress_drop(ostd);
        } else if (hdr.ethernet.dstAddr[47:40] != 3) {
            send_to_port(ostd, (PortId_t) (PortIdUint_t) hdr.ethernet.dstAddr[7:0]);
        }
        ostd.class_of_service = (ClassOfService_t) 3;
        hdr.ethernet.etherType[15:8] = (bit<8>) (PortIdUint_t) istd.ingress_port;
        if (istd.packet_path == PSA_PacketPath_t.NORMAL) {
            hdr.ethernet.srcAddr[47:40] = 0xaa;
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out empty_t normal_meta, inout headers_t hdr, in empty_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                        in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        hdr.ethernet.srcAddr[39:32] = (bit<8>) (PortIdUint_t) istd.egress_port;
        hdr.ethernet.srcAddr[31:24] = (bit<8>) (EgressInstanceUint_t) istd.instance;
        hdr.ethernet.srcAddr[23:16] = (bit<8>) (ClassOfServiceUint_t) istd.class_of_service;
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.ethernet.srcAddr[15:8] = 0x11;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.ethernet.srcAddr[15:8] = 0x22;
        }
        if ((PortIdUint_t) istd.egress_port == 9) {
            egress_drop(ostd);
        }
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in empty_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
