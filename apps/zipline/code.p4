// How chunks are split into basis and deviation, and the three types of packets that follow from it.
//
// A chunk is CHUNK bytes; the first begins OFFSET bytes behind the Ethernet header. ASIDE bits of it are set aside
// and stay as they are: the first ones, or those where the mask of its class has ones. The others are the word,
// which a code splits further, or which is the basis if there is none.
//
//   -D CODE=6           the code, 3 to 15: its words have 2^6 - 1 bits; 8 without it, and 0 for no code
//   -D ERRORS=2         a BCH code, which corrects two bits, CODE being 4 to 9; a Hamming code without it
//   -D POLYNOMIAL=0x17  another generator of a Hamming code than the one below, without its highest power
//   -D CHUNK=23         bytes of a chunk; 2^CODE bits without it
//   -D ASIDE=41         bits that are set aside where there is no code; with one, it is what the word leaves
//   -D OFFSET=28        bytes before the first chunk that stay as they are; none without it
//   -D COUNT=4          how many chunks of a packet are compressed at most, 1 to 8; 1 without it
//   -D ID_BITS=11       the width of identifiers; 15 without it
//   -D CLASSES=4        how many kinds of traffic may be told apart; 1 without it
//   -D ETHERTYPE=0xA000 the first of the two EtherTypes for each of these; 0x88B5 without it

#ifndef _ZIPLINE_CODE_P4_
#define _ZIPLINE_CODE_P4_

#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>

#ifndef CODE
#define CODE 8
#endif
#ifndef ERRORS
#define ERRORS 1
#endif
#if ERRORS < 1 || ERRORS > 2
#error ERRORS is 1 or 2
#endif
#ifndef OFFSET
#define OFFSET 0
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef ID_BITS
#define ID_BITS 15
#endif
#ifndef CLASSES
#define CLASSES 1
#endif
#ifndef ETHERTYPE
#define ETHERTYPE 0x88B5
#endif

#ifndef POLYNOMIAL
#if CODE == 0
#define POLYNOMIAL 0
#elif ERRORS == 2
#if CODE == 4
#define POLYNOMIAL 0xd1
#elif CODE == 5
#define POLYNOMIAL 0x369
#elif CODE == 6
#define POLYNOMIAL 0x539
#elif CODE == 7
#define POLYNOMIAL 0x377
#elif CODE == 8
#define POLYNOMIAL 0x6f63
#elif CODE == 9
#define POLYNOMIAL 0x95c9
#else
#error CODE is the m of a code that corrects two bits, 4 to 9
#endif
#elif CODE == 3
#define POLYNOMIAL 0x3
#elif CODE == 4
#define POLYNOMIAL 0x3
#elif CODE == 5
#define POLYNOMIAL 0x05
#elif CODE == 6
#define POLYNOMIAL 0x03
#elif CODE == 7
#define POLYNOMIAL 0x09
#elif CODE == 8
#define POLYNOMIAL 0x1D
#elif CODE == 9
#define POLYNOMIAL 0x011
#elif CODE == 10
#define POLYNOMIAL 0x009
#elif CODE == 11
#define POLYNOMIAL 0x005
#elif CODE == 12
#define POLYNOMIAL 0x053
#elif CODE == 13
#define POLYNOMIAL 0x01B
#elif CODE == 14
#define POLYNOMIAL 0x143
#elif CODE == 15
#define POLYNOMIAL 0x003
#else
#error CODE is the m of a Hamming code, 3 to 15, or 0
#endif
#endif

#if CODE == 0
#ifndef CHUNK
#error without a code, CHUNK says how many bytes a chunk has
#endif
#ifndef ASIDE
#error without a code, ASIDE says how many bits the masks of classes have
#endif
#else
#ifndef CHUNK
#define CHUNK ((1 << CODE) / 8)
#endif
#undef ASIDE
#define ASIDE (8 * CHUNK - (1 << CODE) + 1)
#endif
#if ASIDE < 1 || ASIDE >= 8 * CHUNK
#error the word of the code does not fit into CHUNK bytes, or ASIDE leaves nothing of them
#endif

// Whether classes have masks. Where one bit is set aside for a code's sake alone, it is the first.
#if CODE == 0 || 8 * CHUNK != 1 << CODE
#define MASKED
#endif

// Bits of a word, of a syndrome, and of a basis: of the message in the word, or the word itself if there is no code.
const int N = 8 * CHUNK - ASIDE;
const int M = CODE * ERRORS;
const int K = N - M;

typedef bit<(8 * CHUNK)> bits_t;
typedef bit<(ASIDE)> aside_t;
typedef bit<(N)> word_t;
typedef bit<(K)> basis_t;
#if CODE != 0
typedef bit<(M)> syndrome_t;
#endif
typedef bit<ID_BITS> identifier_t;

// What is done with each chunk: DO(0) DO(1) ...
#if COUNT == 1
#define EACH(DO) DO(0)
#elif COUNT == 2
#define EACH(DO) DO(0) DO(1)
#elif COUNT == 3
#define EACH(DO) DO(0) DO(1) DO(2)
#elif COUNT == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#elif COUNT == 5
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4)
#elif COUNT == 6
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#elif COUNT == 7
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6)
#elif COUNT == 8
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#else
#error COUNT is 1 to 8
#endif

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

#if OFFSET > 0
// What stands before the first chunk, the same in all types.
header skipped_t {
    bit<(8 * OFFSET)> bytes;
}
#endif

#if COUNT > 1
// In a packet of type 3: which chunks are references, the first one's bit first. What follows the last of them is as
// the sender wrote it.
header known_t {
    bit<8> chunks;
}
#endif

// CHUNK bytes as the sender wrote them. In a packet of type 2 the bits that are set aside stand in front, and the word
// is the basis and, in its last M bits, the syndrome. There are such packets only if COUNT is 1.
header chunk_t {
    aside_t aside;
    word_t word;
}

// What stands in its place in a packet of type 3.
#define REFERENCE_BITS (ASIDE + ID_BITS + CODE * ERRORS)
const int PADDING = (8 - REFERENCE_BITS % 8) % 8;

// Where it would be longer than the chunk, or, with `known`, as long, no packet has it: none grows. Chunks with an
// identifier stay as others do then.
#if REFERENCE_BITS > 8 * CHUNK || COUNT > 1 && REFERENCE_BITS > 8 * (CHUNK - 1)
#define LONGER
#endif

header reference_t {
    aside_t aside;
    identifier_t identifier;
#if CODE != 0
    syndrome_t syndrome;
#endif
#if REFERENCE_BITS % 8 != 0
    bit<(PADDING)> padding;
#endif
}

// What actions of classes have besides: the mask, if there is one.
#ifdef MASKED
#define MASK_PARAMETER , bits_t which
#else
#define MASK_PARAMETER
#endif

struct headers_t {
    ethernet_t ethernet;
#if OFFSET > 0
    skipped_t skipped;
#endif
#if COUNT > 1
    known_t known;
#endif
    chunk_t[COUNT] chunks;
    reference_t[COUNT] references;
}

struct metadata_t {
}

// EtherTypes of this program: for class c, ETHERTYPE + 2 c for type 2, and the next one for type 3.
typedef bit<8> class_t;

const bit<16> TYPES = 2 * CLASSES;

// How a packet was transformed, or why it was not; the index of the counter `packets`.
typedef bit<32> kind_t;

control NoVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NoCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control ZiplineDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
#if OFFSET > 0
        packet.emit(hdr.skipped);
#endif
#if COUNT > 1
        packet.emit(hdr.known);
#endif
#define EMIT(i) packet.emit(hdr.references[i]); packet.emit(hdr.chunks[i]);
        EACH(EMIT)
    }
}

#endif
