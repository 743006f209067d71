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
    basis_t basis;
#ifdef MASKED
    bits_t mask;
#endif
#if CODE != 0
    syndrome_t syndrome;
    word_t wrong = 0;
#endif

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

#ifdef MASKED
    action restore(bit<16> ethertype, bits_t which) {
        hdr.ethernet.ethertype = ethertype;
        mask = which;
    }
#else
    action restore(bit<16> ethertype) {
        hdr.ethernet.ethertype = ethertype;
    }
#endif

    // The EtherType that the packets of a class had, and the same mask as the encoder has for it.
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

#if CODE != 0
    action flip(syndrome_t place) {
        wrong = (word_t)1 << place;
    }

#if ERRORS == 2
    action flip_two(syndrome_t first, syndrome_t second) {
        wrong = (word_t)1 << first | (word_t)1 << second;
    }

    action keep() {
        wrong = (word_t)syndrome;
    }
#endif

    // The same entries as the encoder has.
    table masks {
        key = { syndrome: exact; }
#if ERRORS == 2
        actions = { flip; flip_two; keep; refuse; }
#else
        actions = { flip; refuse; }
#endif
        size = 1 << M;
        default_action = refuse(UNMASKED);
    }
#endif

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
#if CODE != 0
            syndrome = hdr.chunk.word[M - 1:0];
#endif
            if (hdr.reference.isValid()) {
#if CODE != 0
                syndrome = hdr.reference.syndrome;
#endif
                bases.apply();
            }
            if (kind != UNKNOWN_IDENTIFIER) {
#if CODE != 0
                if (syndrome != 0) {
                    masks.apply();
                }
#endif
                if (kind != UNMASKED) {
                    classes.apply();
                }
            }
            if (kind == EXPANDED || kind == RESTORED) {
                aside_t aside = hdr.chunk.aside;
                if (hdr.reference.isValid()) {
                    aside = hdr.reference.aside;
                    hdr.reference.setInvalid();
                    hdr.chunk.setValid();
                }
#if CODE == 0
                word_t word = basis;
#else
                syndrome_t parity;
                crc_remainder(parity, basis ++ (syndrome_t)0, (syndrome_t)POLYNOMIAL);
                word_t word = (basis ++ parity) ^ wrong;
#endif
#ifdef MASKED
                bits_t bits = bits_scatter((bits_t)aside, mask) | bits_scatter((bits_t)word, ~mask);
                aside = bits[8 * CHUNK - 1:N];
                word = bits[N - 1:0];
#endif
                hdr.chunk.aside = aside;
                hdr.chunk.word = word;
            }
        }
        packets.count(kind);
    }
}

V1Switch(DecoderParser(), NoVerify(), DecoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
