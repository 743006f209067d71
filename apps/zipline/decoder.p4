// ZipLine's decoder: packets of types 2 and 3 become what they were. What code.p4 can be told holds here, too, and both
// programs are told the same.

#include "code.p4"

const kind_t EXPANDED = 0;
const kind_t RESTORED = 1;
// Packets that the encoder left as they were.
const kind_t OTHER = 2;
// The packet ends before its chunk or its reference does.
const kind_t SHORT = 3;
// The mask of its syndrome is not in the table.
const kind_t UNMASKED = 4;
// The EtherType that its class had is not in the table.
const kind_t UNKNOWN_CLASS = 5;
// The basis of its identifier is not in the table.
const kind_t UNKNOWN_IDENTIFIER = 6;

parser DecoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
        transition select(number < TYPES, number[0:0]) {
            (true, 0): parse_chunk;
            (true, 1): parse_reference;
            default: accept;
        }
    }

    state parse_chunk {
        packet.extract(hdr.chunk);
        transition accept;
    }

    state parse_reference {
        packet.extract(hdr.reference);
        transition accept;
    }
}

control DecoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(7, CounterType.packets_and_bytes) packets;
    bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
    kind_t kind = RESTORED;
    syndrome_t syndrome;
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

    action refuse(kind_t why) {
        kind = why;
        drop();
    }

    action restore(bit<16> ethertype) {
        hdr.ethernet.ethertype = ethertype;
    }

    // The EtherType that the packets of a class had.
    table classes {
        key = { number[8:1]: exact @name("class"); }
        actions = { restore; refuse; }
        size = 256;
        default_action = refuse(UNKNOWN_CLASS);
    }

    action expand(basis_t original) {
        kind = EXPANDED;
        basis = original;
    }

    table bases {
        key = { hdr.reference.identifier: exact @name("identifier"); }
        actions = { expand; refuse; }
        size = 1 << ID_BITS;
        default_action = refuse(UNKNOWN_IDENTIFIER);
    }

    action flip(syndrome_t place) {
        mask = (word_t)1 << place;
    }

    // The same entries as the encoder has.
    table masks {
        key = { syndrome: exact; }
        actions = { flip; refuse; }
        size = 1 << M;
        default_action = refuse(UNMASKED);
    }

    apply {
        if (!ports.apply().hit) {
            return;
        }
        if (number >= TYPES) {
            kind = OTHER;
        } else if (!hdr.chunk.isValid() && !hdr.reference.isValid()) {
            refuse(SHORT);
        } else {
            basis = hdr.chunk.word[N - 1:M];
            syndrome = hdr.chunk.word[M - 1:0];
            if (hdr.reference.isValid()) {
                syndrome = hdr.reference.syndrome;
                bases.apply();
            }
            if (kind != UNKNOWN_IDENTIFIER) {
                if (syndrome != 0) {
                    masks.apply();
                }
                if (kind != UNMASKED) {
                    classes.apply();
                }
            }
            if (kind == EXPANDED || kind == RESTORED) {
                syndrome_t parity;
                crc_remainder(parity, basis ++ (syndrome_t)0, (syndrome_t)POLYNOMIAL);
                bit<1> first = hdr.chunk.first;
                if (hdr.reference.isValid()) {
                    first = hdr.reference.first;
                    hdr.reference.setInvalid();
                    hdr.chunk.setValid();
                }
                hdr.chunk.word = (basis ++ parity) ^ mask;
                hdr.chunk.first = first;
            }
        }
        packets.count(kind);
    }
}

V1Switch(DecoderParser(), NoVerify(), DecoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
