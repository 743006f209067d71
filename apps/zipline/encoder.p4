// ZipLine's encoder: packets of type 1 become packets of type 2 or 3. What code.p4 can be told holds here, too.

#include "code.p4"

const kind_t COMPRESSED = 0;
const kind_t PROCESSED = 1;
// Traffic that no class takes in, or one whose number the programs were not compiled for.
const kind_t OTHER = 2;
// A packet that is shorter than a chunk, of whatever class.
const kind_t SHORT = 3;
// The mask of its syndrome is not in the table.
const kind_t UNMASKED = 4;
// It has an EtherType that only the encoder may give, so that the decoder would take it for something else.
const kind_t REFUSED = 5;
// The mask of its class has more or fewer ones than ASIDE.
const kind_t MISFIT = 6;

#if COUNT > 1
#define COUNT_PARAMETER , bit<8> count
#else
#define COUNT_PARAMETER
#endif

struct learn_t {
    basis_t basis;
}

parser EncoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    // What a packet ends before stays as it is.
    state start {
        packet.extract(hdr.ethernet);
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
#define EXTRACT(i) packet.extract(hdr.chunks[i]);
        EACH(EXTRACT)
        transition accept;
    }
}

// A chunk in parts, and what is known of it.
struct parts_t {
    aside_t aside;
    basis_t basis;
#if CODE != 0
    syndrome_t syndrome;
#endif
    identifier_t identifier;
    kind_t kind;
}

#if COUNT > 1
#define TURN_PARAMETERS , in bool is_its_turn, inout bool has_met
#define TURN(i) , standard_metadata.ingress_global_timestamp[i:i] == 1, has_met
#else
#define TURN_PARAMETERS
#define TURN(i)
#endif

// Takes a chunk apart. Its kind is COMPRESSED if it has an identifier, else PROCESSED; UNMASKED if it has no parts.
// `met` is a basis that is to be learned: a digest has the values at the end of ingress, so that a packet has one. Of
// several it is the first, or a later one if it is its turn, as the time says: none is passed over for ever.
control Split(in aside_t front, in word_t rest, in bits_t mask, out parts_t parts, inout basis_t met TURN_PARAMETERS) {
#if CODE != 0
    word_t wrong = 0;

    action flip(syndrome_t place) {
        wrong = (word_t)1 << place;
    }

#if ERRORS == 2
    action flip_two(syndrome_t first, syndrome_t second) {
        wrong = (word_t)1 << first | (word_t)1 << second;
    }

    // No word of the code is that near: the bits of the syndrome themselves are taken for the wrong ones. They have
    // that syndrome, too.
    action keep() {
        wrong = (word_t)parts.syndrome;
    }
#endif

    // Which bits of a word are wrong if this is its syndrome. None are if it is 0.
    table masks {
        key = { parts.syndrome: exact @name("syndrome"); }
#if ERRORS == 2
        actions = { flip; flip_two; keep; NoAction; }
#else
        actions = { flip; NoAction; }
#endif
        size = 1 << M;
        default_action = NoAction();
    }
#endif

    action compress(identifier_t identifier) {
#ifdef LONGER
        parts.kind = PROCESSED;
#else
        parts.kind = COMPRESSED;
#endif
        parts.identifier = identifier;
    }

    action process() {
        parts.kind = PROCESSED;
    }

    // The controller makes this the default action: it is told of the basis.
    action learn() {
#if COUNT > 1
        met = has_met && !is_its_turn ? met : parts.basis;
        has_met = true;
#else
        met = parts.basis;
#endif
        digest<learn_t>(1, { met });
        parts.kind = PROCESSED;
    }

    // How the program was compiled, which a controller compares: with different settings bytes would be wrong.
    @zipline[code=CODE, errors=ERRORS, polynomial=POLYNOMIAL, chunk=CHUNK, aside=ASIDE, offset=OFFSET, count=COUNT,
             id_bits=ID_BITS, classes=CLASSES, ethertype=ETHERTYPE]
    table bases {
        key = { parts.basis: exact @name("basis"); }
        actions = { compress; process; learn; }
        size = 1 << ID_BITS;
        default_action = process();
        support_timeout = true;
    }

    apply {
#ifdef MASKED
        bits_t bits = front ++ rest;
        word_t word = (word_t)bits_gather(bits, ~mask);
        parts.aside = (aside_t)bits_gather(bits, mask);
#else
        word_t word = rest;
        parts.aside = front;
#endif
#if CODE == 0
        bool is_corrected = true;
        parts.basis = word;
#else
        crc_remainder(parts.syndrome, word, (syndrome_t)POLYNOMIAL);
        bool is_corrected = parts.syndrome == 0;
        if (!is_corrected) {
            is_corrected = masks.apply().hit;
        }
        parts.basis = (word ^ wrong)[N - 1:M];
#endif
        parts.kind = UNMASKED;
        if (is_corrected) {
            bases.apply();
        }
    }
}

control EncoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(7, CounterType.packets_and_bytes) packets;
    kind_t kind = OTHER;
    class_t class = 0;
    bits_t mask = 0;
    basis_t met = 0;
#if COUNT > 1
    bit<8> chunks = COUNT;
    bit<8> known = 0;
    bool has_met = false;
#endif
    Split() split;

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

    action encode(class_t number MASK_PARAMETER COUNT_PARAMETER) {
        class = number;
#ifdef MASKED
        mask = which;
#endif
#if COUNT > 1
        chunks = count;
#endif
    }

    // The traffic that is compressed.
    table classes {
        key = {
            standard_metadata.ingress_port: exact;
            hdr.ethernet.ethertype: exact;
#if OFFSET > 0
            hdr.skipped.bytes: ternary;
#endif
        }
        actions = { encode; NoAction; }
        size = 256;
        default_action = NoAction();
    }

    // The EtherType of type 2 (0) or 3 (1).
    action mark(bit<16> type) {
        hdr.ethernet.ethertype = ETHERTYPE + type + ((bit<16>)class << 1);
    }

    apply {
        if (!ports.apply().hit) {
            return;
        }
        if (hdr.ethernet.ethertype - ETHERTYPE < TYPES) {
            kind = REFUSED;
            drop();
        } else if (!hdr.chunks[0].isValid()) {
            kind = SHORT;
        } else if (!classes.apply().hit || (bit<16>)class >= CLASSES) {
            kind = OTHER;
#ifdef MASKED
        } else if (bits_gather(mask, mask) != (bits_t)~(aside_t)0) {
            kind = MISFIT;
#endif
        } else {
            parts_t parts;
#if CODE != 0
#define SYNDROME(i) hdr.references[i].syndrome = parts.syndrome;
#else
#define SYNDROME(i)
#endif
#define REFER(i) hdr.references[i].setValid(); hdr.references[i].aside = parts.aside; \
                 hdr.references[i].identifier = parts.identifier; SYNDROME(i) hdr.chunks[i].setInvalid();
#if COUNT == 1
            split.apply(hdr.chunks[0].aside, hdr.chunks[0].word, mask, parts, met);
            kind = parts.kind;
            if (kind == COMPRESSED) {
                REFER(0)
                mark(1);
            } else if (kind == PROCESSED) {
                hdr.chunks[0].aside = parts.aside;
#if CODE == 0
                hdr.chunks[0].word = parts.basis;
#else
                hdr.chunks[0].word = parts.basis ++ parts.syndrome;
#endif
                mark(0);
            }
#else
#define ENCODE(i) if (hdr.chunks[i].isValid() && i < chunks) { \
                      split.apply(hdr.chunks[i].aside, hdr.chunks[i].word, mask, parts, met TURN(i)); \
                      kind = parts.kind; \
                      if (kind == COMPRESSED) { REFER(i) known = known | (bit<8>)(0x80 >> i); } \
                  }
            EACH(ENCODE)
            if (known != 0) {
                kind = COMPRESSED;
                hdr.known.setValid();
                hdr.known.chunks = known;
                mark(1);
            }
#endif
        }
        packets.count(kind);
    }
}

V1Switch(EncoderParser(), NoVerify(), EncoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
