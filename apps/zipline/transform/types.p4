// What a transform makes of a chunk: bits, types, headers. A template: included once for each transform.

#include "settings.p4"

// Bits of a word, of a syndrome, and of a basis: of the message in the word, or the word itself if there is no code.
const int OF(N) = 8 * ITS_CHUNK - ITS_ASIDE;
const int OF(M) = ITS_CODE * ITS_ERRORS;
const int OF(K) = OF(N) - OF(M);

typedef bit<(8 * ITS_CHUNK)> OF(bits_t);
typedef bit<(ITS_ASIDE)> OF(aside_t);
typedef bit<(OF(N))> OF(word_t);
typedef bit<(OF(K))> OF(basis_t);
#if ITS_CODE != 0
typedef bit<(OF(M))> OF(syndrome_t);
#endif

// CHUNK bytes as the sender wrote them. In a packet of type 2 the bits that are set aside stand in front, and the word
// is the basis and, in its last M bits, the syndrome. There are such packets only if COUNT is 1.
header OF(chunk_t) {
    OF(aside_t) aside;
    OF(word_t) word;
}

// What stands in its place in a packet of type 3.
const int OF(PADDING) = (8 - ITS_REFERENCE_BITS % 8) % 8;

header OF(reference_t) {
    OF(aside_t) aside;
    identifier_t identifier;
#if ITS_CODE != 0
    OF(syndrome_t) syndrome;
#endif
#if ITS_REFERENCE_BITS % 8 != 0
    bit<(OF(PADDING))> padding;
#endif
}

#ifdef MIXED
// What an encoder with several transforms takes of a packet.
#if JOINED(CHUNK_AFTER_, CLASS) == 0
header start_t {
    bit<(8 * ITS_CHUNK)> bits;
}
#elif ITS_CHUNK > JOINED(CHUNK_AFTER_, CLASS)
header JOINED(piece_t_, CLASS) {
    bit<(8 * (ITS_CHUNK - JOINED(CHUNK_AFTER_, CLASS)))> bits;
}
#endif
#endif

// What actions of classes have besides: the mask, if a transform has one.
#ifdef ITS_MASK
#define MASKED
#endif
