// ZipLine's encoder: packets of type 1 become packets of type 2 or 3. What code.p4 can be told holds here, too.

#include "code.p4"

const kind_t COMPRESSED = 0;
const kind_t PROCESSED = 1;
// Traffic that no class takes in.
const kind_t OTHER = 2;
// A packet of a class that is shorter than a chunk.
const kind_t SHORT = 3;
// The mask of its syndrome is not in the table.
const kind_t UNMASKED = 4;
// It has an EtherType that only the encoder may give, so that the decoder would take it for something else.
const kind_t REFUSED = 5;

struct learn_t {
    basis_t basis;
}

parser EncoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    // A packet that ends before its chunk does stays as it is.
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.chunk);
        transition accept;
    }
}

control EncoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(6, CounterType.packets_and_bytes) packets;
    class_t class = 0;
    syndrome_t syndrome = 0;
    word_t mask = 0;
    basis_t basis;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    // Wires: where packets of a port go.
    table ports {
        key = { standard_metadata.ingress_port: exact; }
        actions = { send; drop; }
        size = 512;
        default_action = drop();
    }

    action encode(class_t number) {
        class = number;
    }

    // The traffic that is compressed.
    table classes {
        key = {
            standard_metadata.ingress_port: exact;
            hdr.ethernet.ethertype: exact;
        }
        actions = { encode; NoAction; }
        size = 1024;
        default_action = NoAction();
    }

    action flip(syndrome_t place) {
        mask = (word_t)1 << place;
    }

    // Which bit of a word is wrong if this is its syndrome. No bit is if it is 0.
    table masks {
        key = { syndrome: exact; }
        actions = { flip; NoAction; }
        size = 1 << M;
        default_action = NoAction();
    }

    action compress(identifier_t identifier) {
        hdr.ethernet.ethertype = ETHERTYPE + 1 + ((bit<16>)class << 1);
        hdr.reference.setValid();
        hdr.reference.first = hdr.chunk.first;
        hdr.reference.identifier = identifier;
        hdr.reference.syndrome = syndrome;
        hdr.chunk.setInvalid();
        packets.count(COMPRESSED);
    }

    action process() {
        hdr.ethernet.ethertype = ETHERTYPE + ((bit<16>)class << 1);
        hdr.chunk.word = basis ++ syndrome;
        packets.count(PROCESSED);
    }

    // The controller makes this the default action: it is told of the basis.
    action learn() {
        digest<learn_t>(1, { basis });
        process();
    }

    table bases {
        key = { basis: exact; }
        actions = { compress; process; learn; }
        size = 1 << ID_BITS;
        default_action = process();
        support_timeout = true;
    }

    apply {
        if (!ports.apply().hit) {
            return;
        }
        if (hdr.ethernet.ethertype - ETHERTYPE < TYPES) {
            packets.count(REFUSED);
            drop();
        } else if (!classes.apply().hit) {
            packets.count(OTHER);
        } else if (!hdr.chunk.isValid()) {
            packets.count(SHORT);
        } else {
            crc_remainder(syndrome, hdr.chunk.word, (syndrome_t)POLYNOMIAL);
            bool is_masked = syndrome == 0;
            if (!is_masked) {
                is_masked = masks.apply().hit;
            }
            if (is_masked) {
                basis = (hdr.chunk.word ^ mask)[N - 1:M];
                bases.apply();
            } else {
                packets.count(UNMASKED);
            }
        }
    }
}

V1Switch(EncoderParser(), NoVerify(), EncoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
