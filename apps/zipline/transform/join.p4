// The decoder's part of a transform: a chunk from its parts. A template: included once for each transform.

#include "settings.p4"

#undef SYNDROME_PARAMETER
#if ITS_CODE != 0
#define SYNDROME_PARAMETER in OF(syndrome_t) syndrome,
#else
#define SYNDROME_PARAMETER
#endif

// Puts a chunk together: what is set aside, the basis of the identifier or the one in the packet, the syndrome. The
// kind becomes another where that is not possible.
control OF(Join)(in bool is_reference, in identifier_t identifier, in OF(aside_t) front, in OF(word_t) rest,
                 SYNDROME_PARAMETER in OF(bits_t) mask, out OF(aside_t) aside, out OF(word_t) word, inout kind_t kind) {
    OF(basis_t) basis = rest[OF(N) - 1:OF(M)];
#if ITS_CODE != 0
    OF(word_t) wrong = 0;
#endif

    action refuse(kind_t why) {
        kind = why;
    }

    action expand(OF(basis_t) original) {
        basis = original;
    }

    // How the program was compiled, which a controller compares: with different settings bytes would be wrong.
    @zipline[code=ITS_CODE, errors=ITS_ERRORS, polynomial=ITS_POLYNOMIAL, chunk=ITS_CHUNK, aside=ITS_ASIDE,
             offset=OFFSET, count=COUNT, id_bits=ID_BITS, classes=CLASSES, ethertype=ETHERTYPE]
    table OF(bases) {
        key = { identifier: exact; }
        actions = { expand; refuse; }
        size = 1 << ID_BITS;
        default_action = refuse(UNKNOWN_IDENTIFIER);
    }

#if ITS_CODE != 0
    action flip(OF(syndrome_t) place) {
        wrong = (OF(word_t))1 << place;
    }

#if ITS_ERRORS == 2
    action flip_two(OF(syndrome_t) first, OF(syndrome_t) second) {
        wrong = (OF(word_t))1 << first | (OF(word_t))1 << second;
    }

    action keep() {
        wrong = (OF(word_t))syndrome;
    }
#endif

    // The same entries as the encoder has.
    table OF(masks) {
        key = { syndrome: exact; }
#if ITS_ERRORS == 2
        actions = { flip; flip_two; keep; refuse; }
#else
        actions = { flip; refuse; }
#endif
        size = 1 << OF(M);
        default_action = refuse(UNMASKED);
    }
#endif

    apply {
        if (is_reference) {
            OF(bases).apply();
        }
#if ITS_CODE != 0
        if (kind != UNKNOWN_IDENTIFIER && syndrome != 0) {
            OF(masks).apply();
        }
        OF(syndrome_t) parity;
        crc_remainder(parity, basis ++ (OF(syndrome_t))0, (OF(syndrome_t))ITS_POLYNOMIAL);
        word = (basis ++ parity) ^ wrong;
#else
        word = basis;
#endif
#ifdef ITS_MASK
        OF(bits_t) bits = bits_scatter((OF(bits_t))front, mask) | bits_scatter((OF(bits_t))word, ~mask);
        aside = bits[8 * ITS_CHUNK - 1:OF(N)];
        word = bits[OF(N) - 1:0];
#else
        aside = front;
#endif
    }
}
