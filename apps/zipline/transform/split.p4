// The encoder's part of a transform: a chunk in parts, and what is known of its basis. A template: included once for
// each transform.

#include "settings.p4"

// The digest for the controller.
struct OF(learn_t) {
    OF(basis_t) basis;
}

// A chunk in parts, and what is known of it.
struct OF(parts_t) {
    OF(aside_t) aside;
    OF(basis_t) basis;
#if ITS_CODE != 0
    OF(syndrome_t) syndrome;
#endif
    identifier_t identifier;
    kind_t kind;
}

// A chunk that is one header comes in its two fields, one in pieces as their bits.
#ifdef MIXED
#define CHUNK_PARAMETERS in OF(bits_t) bits
#else
#define CHUNK_PARAMETERS in aside_t front, in word_t rest
#endif

// Takes a chunk apart. Its kind is COMPRESSED if it has an identifier, else PROCESSED; UNMASKED if it has no parts.
// `met` is a basis that is to be learned: a digest has the values at the end of ingress, so that a packet has one. Of
// several it is the first, or a later one if it is its turn, as the time says: none is passed over for ever.
control OF(Split)(CHUNK_PARAMETERS, in OF(bits_t) mask, out OF(parts_t) parts, inout OF(basis_t) met TURN_PARAMETERS) {
#if ITS_CODE != 0
    OF(word_t) wrong = 0;

    action flip(OF(syndrome_t) place) {
        wrong = (OF(word_t))1 << place;
    }

#if ITS_ERRORS == 2
    action flip_two(OF(syndrome_t) first, OF(syndrome_t) second) {
        wrong = (OF(word_t))1 << first | (OF(word_t))1 << second;
    }

    // No word of the code is that near: the bits of the syndrome themselves are taken for the wrong ones. They have
    // that syndrome, too.
    action keep() {
        wrong = (OF(word_t))parts.syndrome;
    }
#endif

    // Which bits of a word are wrong if this is its syndrome. None are if it is 0.
    table OF(masks) {
        key = { parts.syndrome: exact @name("syndrome"); }
#if ITS_ERRORS == 2
        actions = { flip; flip_two; keep; NoAction; }
#else
        actions = { flip; NoAction; }
#endif
        size = 1 << OF(M);
        default_action = NoAction();
    }
#endif

    action compress(identifier_t identifier) {
#ifdef ITS_LONGER
        parts.kind = PROCESSED;
#else
        parts.kind = COMPRESSED;
#endif
        parts.identifier = identifier;
    }

    action process() {
        parts.kind = PROCESSED;
    }

    // The controller makes this the default action: it gets a digest with the basis.
    action learn() {
#if COUNT > 1
        met = has_met && !is_its_turn ? met : parts.basis;
        has_met = true;
#else
        met = parts.basis;
#endif
        digest<OF(learn_t)>(1, { met });
        parts.kind = PROCESSED;
    }

    // How the program was compiled, which a controller compares: with different settings bytes would be wrong.
    @zipline[code=ITS_CODE, errors=ITS_ERRORS, polynomial=ITS_POLYNOMIAL, chunk=ITS_CHUNK, aside=ITS_ASIDE,
             offset=OFFSET, count=COUNT, id_bits=ID_BITS, classes=CLASSES, ethertype=ETHERTYPE]
    table OF(bases) {
        key = { parts.basis: exact @name("basis"); }
        actions = { compress; process; learn; }
        size = 1 << ID_BITS;
        default_action = process();
        support_timeout = true;
    }

    apply {
#ifndef MIXED
#ifdef ITS_MASK
        bits_t bits = front ++ rest;
#else
        word_t word = rest;
        parts.aside = front;
#endif
#elif !defined(ITS_MASK)
        OF(word_t) word = bits[OF(N) - 1:0];
        parts.aside = bits[8 * ITS_CHUNK - 1:OF(N)];
#endif
#ifdef ITS_MASK
        OF(word_t) word = (OF(word_t))bits_gather(bits, ~mask);
        parts.aside = (OF(aside_t))bits_gather(bits, mask);
#endif
#if ITS_CODE == 0
        bool is_corrected = true;
        parts.basis = word;
#else
        crc_remainder(parts.syndrome, word, (OF(syndrome_t))ITS_POLYNOMIAL);
        bool is_corrected = parts.syndrome == 0;
        if (!is_corrected) {
            is_corrected = OF(masks).apply().hit;
        }
        parts.basis = (word ^ wrong)[OF(N) - 1:OF(M)];
#endif
        parts.kind = UNMASKED;
        if (is_corrected) {
            OF(bases).apply();
        }
    }
}
