// The code that chunks are split by: a Hamming code of 2^m - 1 bits, and the three types of packets that follow from
// it.
//
//   -D CODE=6           the code, 3 to 15; 8 without it
//   -D POLYNOMIAL=0x17  another generator than the one below, without its highest power
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
#if CODE == 3
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
#error CODE is the m of a Hamming code, 3 to 15
#endif
#endif

// Bits of a syndrome, of a word, and of the message in it, which is its basis.
const int M = CODE;
const int N = (1 << M) - 1;
const int K = N - M;

typedef bit<(N)> word_t;
typedef bit<(K)> basis_t;
typedef bit<(M)> syndrome_t;
typedef bit<ID_BITS> identifier_t;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

// The first 2^M bits after the Ethernet header. In a packet of type 1 they are what the sender wrote. In one of type 2
// the word is the basis and, in its last M bits, the syndrome. The first bit is no part of the word and stays.
header chunk_t {
    bit<1> first;
    word_t word;
}

// What stands in its place in a packet of type 3.
const int PADDING = (8 - (1 + ID_BITS + M) % 8) % 8;

header reference_t {
    bit<1> first;
    identifier_t identifier;
    syndrome_t syndrome;
#if (1 + ID_BITS + CODE) % 8 != 0
    bit<(PADDING)> padding;
#endif
}

struct headers_t {
    ethernet_t ethernet;
    chunk_t chunk;
    reference_t reference;
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
        packet.emit(hdr.reference);
        packet.emit(hdr.chunk);
    }
}

#endif
