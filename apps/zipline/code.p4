// How chunks are split into basis and deviation, and the three types of packets that follow from it.
//
// A chunk is CHUNK bytes; the first begins OFFSET bytes behind the Ethernet header. ASIDE bits of it are set aside
// and stay as they are: the first ones, or those where the mask of its class has ones. The others are the word,
// which a code splits further, or which is the basis if there is none. That is the transform:
//
//   -D CODE=6           the code, 3 to 15: its words have 2^6 - 1 bits; 8 without it, and 0 for no code
//   -D ERRORS=2         a BCH code, which corrects two bits, CODE being 4 to 9; a Hamming code without it
//   -D POLYNOMIAL=0x17  another generator of a Hamming code than the usual one, without its highest power
//   -D CHUNK=23         bytes of a chunk; 2^CODE bits without it
//   -D ASIDE=41         bits that are set aside where there is no code; with one, it is what the word leaves
//
// All classes of traffic have it, but for those with one of their own, 1 to 7:
//
//   -D CODE_1=0         the code of class 1, with which its own transform begins
//   -D ERRORS_1=2, -D POLYNOMIAL_1=0x17, -D ASIDE_1=41   as above, for class 1
//   -D CHUNK_1=23       bytes of its chunks: no more than CHUNK, as which it is without it, or than those of a class
//                       before it; where COUNT is more than 1, as many
//
// What all have in common:
//
//   -D OFFSET=28        bytes before the first chunk that stay as they are; none without it
//   -D COUNT=4          how many chunks of a packet are compressed at most, 1 to 8; 1 without it
//   -D ID_BITS=11       the width of identifiers; 15 without it
//   -D CLASSES=4        how many kinds of traffic are distinguished; 1 without it
//   -D ETHERTYPE=0xA000 the first of the two EtherTypes for each of these; 0x88B5 without it
//
// What differs from transform to transform is in the folder beside, as templates that are included for each.

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
#if ID_BITS < 1 || ID_BITS > 24
#error ID_BITS is 1 to 24
#endif
#if CLASSES < 1 || CLASSES > 256
#error CLASSES is 1 to 256
#endif
#if ETHERTYPE < 0x600 || ETHERTYPE + 2 * CLASSES > 0x10000
#error ETHERTYPE is the first of two EtherTypes for each class, all of them 0x600 to 0xFFFF
#endif

#if CODE != 0 && !defined(CHUNK)
#define CHUNK ((1 << CODE) / 8)
#endif

#include "transform/classes.p4"

typedef bit<ID_BITS> identifier_t;

#define TEMPLATE "types.p4"
#include "transform/each.p4"

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

// What actions of classes have besides: the mask, if a transform has one. Shorter chunks have the last bits of it.
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
#if defined(MIXED) && defined(ENCODER)
    start_t[COUNT] starts;
#define PIECE(class) piece_t_##class piece_##class;
#define CLASS 0
#include "transform/pieces.p4"
#undef CLASS
#endif
#define HEADERS(class, with) chunk_t_##class[COUNT] chunks_##class; reference_t_##class[COUNT] references_##class;
    EACH_OWN(HEADERS, )
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

// Those that both programs have.
const kind_t OTHER = 2;
const kind_t SHORT = 3;
const kind_t UNMASKED = 4;

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
#if defined(MIXED) && defined(ENCODER)
#define EMIT_START(i) packet.emit(hdr.starts[i]);
#else
#define EMIT_START(i)
#endif
#define EMIT_OWN(class, i) packet.emit(hdr.references_##class[i]); packet.emit(hdr.chunks_##class[i]);
#define EMIT(i) EACH_OWN(EMIT_OWN, i) packet.emit(hdr.references[i]); packet.emit(hdr.chunks[i]); EMIT_START(i)
        EACH(EMIT)
#if defined(MIXED) && defined(ENCODER)
#define PIECE(class) packet.emit(hdr.piece_##class);
#define CLASS 0
#include "transform/pieces.p4"
#undef CLASS
#endif
    }
}

#endif
