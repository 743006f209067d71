// Ports of hosts and of the network: directions, and packets that turn round.
#include <core.p4>
#include <pna.p4>

header ethernet_t {
    bit<8>  dst;
    bit<8>  how;
    bit<16> first;
    bit<16> second;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
}

#include "main.inc"

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(istd.direction) {
            PNA_Direction_t.HOST_TO_NET : from_host;
            default : accept;
        }
    }
    state from_host {
        hdr.ethernet.how[7:7] = 1;
        transition accept;
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    apply {
        // The first byte of each pass: direction, and whether it has turned round; the second the input port.
        bit<16> note = SelectByDirection(istd.direction, 16w0x0100, 16w0x0200);
        note[7:0] = (bit<8>) (PortIdUint_t) istd.input_port;
        if (is_host_port(istd.input_port)) {
            note[12:12] = 1;
        }
        if (is_net_port(istd.input_port)) {
            note[13:13] = 1;
        }
        if (istd.loopedback) {
            hdr.ethernet.second = note;
        } else {
            hdr.ethernet.first = note;
        }
        if (!istd.loopedback || hdr.ethernet.how[0:0] == 1) {
            if (hdr.ethernet.how[1:1] == 0) {
                send_to_port((PortId_t) (PortIdUint_t) (bit<32>) hdr.ethernet.dst);
            }
        }
        if (istd.loopedback && hdr.ethernet.how[2:2] == 1) {
            drop_packet();
        }
        if (hdr.ethernet.how[3:3] == 1 && !istd.loopedback) {
            mirror_packet((MirrorSlotId_t) 0, (MirrorSessionId_t) 1);
        }
        if (hdr.ethernet.how[4:4] == 1) {
            send_to_port((PortId_t) (PortIdUint_t) 32w0xfffffffd);
        }
    }
}

@host_ports(4, 5, 2 + 4)
PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
