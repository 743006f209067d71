// ZipLine's decoder: packets of types 2 and 3 become what they were. The options of code.p4 hold here, too, and both
// programs are given the same.

#include "code.p4"

const kind_t EXPANDED = 0;
const kind_t RESTORED = 1;
// 2: packets that the encoder left as they were; 3: the packet ends before its chunk or its reference does; 4: the mask
// of its syndrome is not in the table.
// The EtherType that its class had is not in the table.
const kind_t UNKNOWN_CLASS = 5;
// The basis of its identifier is not in the table.
const kind_t UNKNOWN_IDENTIFIER = 6;
#if COUNT > 1
// It says that none of its chunks are references, or one that the encoder cannot have looked at.
const kind_t MALFORMED = 7;
#endif

#if COUNT > 1
#define TEMPLATE "item.p4"
#include "transform/each.p4"
#endif

parser DecoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
#if COUNT > 1
#define ITEMS(class, with) Item_##class() item_##class;
    EACH_OWN(ITEMS, )
    Item() item;
#endif

    state start {
        packet.extract(hdr.ethernet);
        bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
#ifdef MIXED
        transition select(number < TYPES, number) {
#if COUNT == 1
#define OWN_TYPES(class, with) (true, 2 * class): parse_chunk_##class; (true, 2 * class + 1): parse_reference_##class;
#else
#define OWN_TYPES(class, with) (true, 2 * class + 1): parse_reference_##class;
#endif
            EACH_OWN(OWN_TYPES, )
#if COUNT == 1
            (true, 0 &&& 1): parse_chunk;
#endif
            (true, 1 &&& 1): parse_reference;
#else
        transition select(number < TYPES, number[0:0]) {
#if COUNT == 1
            (true, 0): parse_chunk;
#endif
            (true, 1): parse_reference;
#endif
            default: accept;
        }
    }

#define TEMPLATE "parse.p4"
#include "transform/each.p4"
}

#define TEMPLATE "join.p4"
#include "transform/each.p4"

control DecoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) packets;
    bit<16> number = hdr.ethernet.ethertype - ETHERTYPE;
    kind_t kind = OTHER;
    bits_t mask = 0;
#define PARTS(class, with) aside_t_##class aside_##class; word_t_##class word_##class; Join_##class() join_##class;
    EACH_OWN(PARTS, )
    aside_t aside;
    word_t word;
    Join() join;

    action drop() {
        mark_to_drop(standard_metadata);
    }

#ifndef GATEWAY
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
#endif

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
#ifndef GATEWAY
        if (!ports.apply().hit) {
            return;
        }
#endif
        if (number < TYPES) {
#if COUNT > 1
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
#endif
#define TEMPLATE "decode.p4"
#include "transform/each.p4"
#if COUNT > 1
            hdr.known.setInvalid();
#endif
            if (kind != EXPANDED && kind != RESTORED) {
                drop();
            }
        }
        packets.count(kind);
    }
}

#ifndef GATEWAY
V1Switch(DecoderParser(), NoVerify(), DecoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
#endif
