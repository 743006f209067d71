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
#if COUNT > 1
// It says that none of its chunks are references, or one that the encoder cannot have looked at.
const kind_t MALFORMED = 7;
#endif

#if CODE != 0
#define SYNDROME_PARAMETER in syndrome_t syndrome,
#define SYNDROME_ARGUMENT syndrome,
#else
#define SYNDROME_PARAMETER
#define SYNDROME_ARGUMENT
#endif

#if COUNT > 1
// A chunk of a packet of type 3: a reference if the first bit of `known` says so, or what the sender wrote if a
// later one does. Behind the last reference nothing is looked at.
parser Item(packet_in packet, in bit<8> known, out chunk_t chunk, out reference_t reference) {
    state start {
        transition select(known) {
            0: accept;
            0x80 &&& 0x80: parse_reference;
            default: parse_chunk;
        }
    }

    state parse_reference {
        packet.extract(reference);
        transition accept;
    }

    state parse_chunk {
        packet.extract(chunk);
        transition accept;
    }
}
#endif

parser DecoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
#if COUNT > 1
    Item() item;
#endif

    state start {
        packet.extract(hdr.ethernet);
        bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
        transition select(number < TYPES, number[0:0]) {
#if COUNT == 1
            (true, 0): parse_chunk;
#endif
            (true, 1): parse_reference;
            default: accept;
        }
    }

#if COUNT == 1
    state parse_chunk {
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
        packet.extract(hdr.chunks[0]);
        transition accept;
    }
#endif

    state parse_reference {
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
#if COUNT == 1
        packet.extract(hdr.references[0]);
#else
        packet.extract(hdr.known);
#define ITEM(i) item.apply(packet, hdr.known.chunks << i, hdr.chunks[i], hdr.references[i]);
        EACH(ITEM)
#endif
        transition accept;
    }
}

// Puts a chunk together: what is set aside, the basis of the identifier or the one in the packet, the syndrome. The
// kind becomes another where that is not possible.
control Join(in bool is_reference, in identifier_t identifier, in aside_t front, in word_t rest,
             SYNDROME_PARAMETER in bits_t mask, out aside_t aside, out word_t word, inout kind_t kind) {
    basis_t basis = rest[N - 1:M];
#if CODE != 0
    word_t wrong = 0;
#endif

    action refuse(kind_t why) {
        kind = why;
    }

    action expand(basis_t original) {
        basis = original;
    }

    // How the program was compiled, which a controller compares: with different settings bytes would be wrong.
    @zipline[code=CODE, errors=ERRORS, polynomial=POLYNOMIAL, chunk=CHUNK, aside=ASIDE, offset=OFFSET, count=COUNT,
             id_bits=ID_BITS, classes=CLASSES, ethertype=ETHERTYPE]
    table bases {
        key = { identifier: exact; }
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
        if (is_reference) {
            bases.apply();
        }
#if CODE != 0
        if (kind != UNKNOWN_IDENTIFIER && syndrome != 0) {
            masks.apply();
        }
        syndrome_t parity;
        crc_remainder(parity, basis ++ (syndrome_t)0, (syndrome_t)POLYNOMIAL);
        word = (basis ++ parity) ^ wrong;
#else
        word = basis;
#endif
#ifdef MASKED
        bits_t bits = bits_scatter((bits_t)front, mask) | bits_scatter((bits_t)word, ~mask);
        aside = bits[8 * CHUNK - 1:N];
        word = bits[N - 1:0];
#else
        aside = front;
#endif
    }
}

control DecoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) packets;
    bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
    kind_t kind = OTHER;
    bits_t mask = 0;
    aside_t aside;
    word_t word;
    Join() join;

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
    }

    action restore(bit<16> ethertype MASK_PARAMETER) {
        hdr.ethernet.ethertype = ethertype;
#ifdef MASKED
        mask = which;
#endif
    }

    // The EtherType that the packets of a class had, and the same mask as the encoder has for it.
    table classes {
        key = { number[8:1]: exact @name("class"); }
        actions = { restore; refuse; }
        size = 256;
        default_action = refuse(UNKNOWN_CLASS);
    }

    apply {
        if (!ports.apply().hit) {
            return;
        }
        if (number < TYPES) {
#if CODE != 0
#define SYNDROME(i) hdr.references[i].syndrome,
#else
#define SYNDROME(i)
#endif
#define RESTORE(i) hdr.references[i].setInvalid(); hdr.chunks[i].setValid(); \
                   hdr.chunks[i].aside = aside; hdr.chunks[i].word = word;
#if COUNT == 1
            // Said of both, so that what follows knows which headers there are.
            if (hdr.references[0].isValid() && !hdr.chunks[0].isValid()) {
                kind = EXPANDED;
                classes.apply();
                if (kind == EXPANDED) {
                    join.apply(true, hdr.references[0].identifier, hdr.references[0].aside, 0, SYNDROME(0) mask, aside,
                               word, kind);
                    RESTORE(0)
                }
            } else if (hdr.chunks[0].isValid() && !hdr.references[0].isValid()) {
                kind = RESTORED;
                classes.apply();
                if (kind == RESTORED) {
#if CODE != 0
                    syndrome_t syndrome = hdr.chunks[0].word[M - 1:0];
#endif
                    join.apply(false, 0, hdr.chunks[0].aside, hdr.chunks[0].word, SYNDROME_ARGUMENT mask, aside, word,
                               kind);
                    RESTORE(0)
                }
            } else {
                kind = SHORT;
            }
#else
            if (number[0:0] == 0 || !hdr.known.isValid()) {
                kind = SHORT;
            } else if (hdr.known.chunks == 0 || (hdr.known.chunks << COUNT) != 0) {
                kind = MALFORMED;
            } else if (standard_metadata.parser_error != error.NoError) {
                kind = SHORT;
            } else {
                kind = EXPANDED;
                classes.apply();
            }
#define DECODE(i) if (kind == EXPANDED && hdr.references[i].isValid()) { \
                      join.apply(true, hdr.references[i].identifier, hdr.references[i].aside, 0, SYNDROME(i) mask, \
                                 aside, word, kind); \
                      RESTORE(i) \
                  }
            EACH(DECODE)
            hdr.known.setInvalid();
#endif
            if (kind != EXPANDED && kind != RESTORED) {
                drop();
            }
        }
        packets.count(kind);
    }
}

V1Switch(DecoderParser(), NoVerify(), DecoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
