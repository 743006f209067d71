// ZipLine's encoder and decoder in one: what comes from some ports is compressed, and what comes back from others becomes
// what it was. The options of code.p4 hold here, too. Two gateways, one at each end of a link, are given the same, and
// each has the tables of an encoder (`encoder.classes`, `split.bases`, `split.masks`) and those of a decoder
// (`decoder.classes`, `join.bases`, `join.masks`).

#define GATEWAY
#include "encoder.p4"
#include "decoder.p4"

// A packet with an EtherType of an encoder is taken as the decoder takes it, any other as the encoder does. Which of the
// two looks at it is a matter of its port: of a packet for the other one both change nothing.
parser GatewayParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    EncoderParser() encoder;
    DecoderParser() decoder;

    state start {
        bit<16> number = packet.lookahead<ethernet_t>().ethertype - ETHERTYPE;
        transition select(number < TYPES) {
            true: decode;
            false: encode;
        }
    }

    state decode {
        decoder.apply(packet, hdr, meta, standard_metadata);
        transition accept;
    }

    state encode {
        encoder.apply(packet, hdr, meta, standard_metadata);
        transition accept;
    }
}

control GatewayIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    EncoderIngress() encoder;
    DecoderIngress() decoder;
    bool is_encoded = false;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // From a port of hosts to the link.
    action encode_to(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    // From the link to a port of hosts.
    action decode_to(bit<9> port) {
        standard_metadata.egress_spec = port;
        is_encoded = true;
    }

    // Wires: where packets of a port go, and what is done with them.
    table ports {
        key = { standard_metadata.ingress_port: exact; }
        actions = { encode_to; decode_to; drop; }
        size = 512;
        default_action = drop();
    }

    apply {
        if (!ports.apply().hit) {
            return;
        }
        if (is_encoded) {
            decoder.apply(hdr, meta, standard_metadata);
        } else {
            encoder.apply(hdr, meta, standard_metadata);
        }
    }
}

V1Switch(GatewayParser(), NoVerify(), GatewayIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
