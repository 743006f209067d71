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
// The mask of its class has more or fewer ones than ASIDE.
const kind_t MISFIT = 6;

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
    counter(7, CounterType.packets_and_bytes) packets;
    class_t class = 0;
    basis_t basis;
#ifdef MASKED
    bits_t mask;
#endif
#if CODE != 0
    syndrome_t syndrome = 0;
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

#ifdef MASKED
    action encode(class_t number, bits_t which) {
        class = number;
        mask = which;
    }
#else
    action encode(class_t number) {
        class = number;
    }
#endif

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

#if CODE != 0
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
        wrong = (word_t)syndrome;
    }
#endif

    // Which bits of a word are wrong if this is its syndrome. None are if it is 0.
    table masks {
        key = { syndrome: exact; }
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
        hdr.ethernet.ethertype = ETHERTYPE + 1 + ((bit<16>)class << 1);
        hdr.reference.setValid();
        hdr.reference.aside = hdr.chunk.aside;
        hdr.reference.identifier = identifier;
#if CODE != 0
        hdr.reference.syndrome = syndrome;
#endif
        hdr.chunk.setInvalid();
        packets.count(COMPRESSED);
    }

    action process() {
        hdr.ethernet.ethertype = ETHERTYPE + ((bit<16>)class << 1);
#if CODE == 0
        hdr.chunk.word = basis;
#else
        hdr.chunk.word = basis ++ syndrome;
#endif
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
#ifdef MASKED
        } else if (bits_gather(mask, mask) != (bits_t)~(aside_t)0) {
            packets.count(MISFIT);
#endif
        } else {
#ifdef MASKED
            bits_t bits = hdr.chunk.aside ++ hdr.chunk.word;
            word_t word = (word_t)bits_gather(bits, ~mask);
#else
            word_t word = hdr.chunk.word;
#endif
#if CODE == 0
            bool is_corrected = true;
            basis = word;
#else
            crc_remainder(syndrome, word, (syndrome_t)POLYNOMIAL);
            bool is_corrected = syndrome == 0;
            if (!is_corrected) {
                is_corrected = masks.apply().hit;
            }
            basis = (word ^ wrong)[N - 1:M];
#endif
            if (is_corrected) {
#ifdef MASKED
                hdr.chunk.aside = (aside_t)bits_gather(bits, mask);
#endif
                bases.apply();
            } else {
                packets.count(UNMASKED);
            }
        }
    }
}

V1Switch(EncoderParser(), NoVerify(), EncoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
