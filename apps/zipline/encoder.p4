// ZipLine's encoder: packets of type 1 become packets of type 2 or 3. The options of code.p4 hold here, too.

#define ENCODER
#include "code.p4"

const kind_t COMPRESSED = 0;
const kind_t PROCESSED = 1;
// 2: traffic that no class takes in, or one whose number the programs were not compiled for; 3: a packet that is shorter
// than a chunk, of whatever class; 4: the mask of its syndrome is not in the table.
// It has an EtherType that only the encoder may give, so that the decoder would take it for something else.
const kind_t REFUSED = 5;
// The mask of its class has more or fewer ones than ASIDE.
const kind_t MISFIT = 6;

#if COUNT > 1
#define COUNT_PARAMETER , bit<8> count
#else
#define COUNT_PARAMETER
#endif

parser EncoderParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    // What a packet ends before stays as it is.
    state start {
        packet.extract(hdr.ethernet);
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
#ifdef MIXED
#define EXTRACT(i) packet.extract(hdr.starts[i]);
        EACH(EXTRACT)
#define PIECE(class) packet.extract(hdr.piece_##class);
#define CLASS 0
#include "transform/pieces.p4"
#undef CLASS
#else
#define EXTRACT(i) packet.extract(hdr.chunks[i]);
        EACH(EXTRACT)
#endif
        transition accept;
    }
}

#if COUNT > 1
#define TURN_PARAMETERS , in bool is_its_turn, inout bool has_met
#define TURN(i) , standard_metadata.ingress_global_timestamp[i:i] == 1, has_met
#else
#define TURN_PARAMETERS
#define TURN(i)
#endif

#define TEMPLATE "split.p4"
#include "transform/each.p4"

control EncoderIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(7, CounterType.packets_and_bytes) packets;
    kind_t kind = OTHER;
    class_t class = 0;
    bits_t mask = 0;
#define MET(class, with) basis_t_##class met_##class = 0; Split_##class() split_##class;
    EACH_OWN(MET, )
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
#ifndef GATEWAY
        if (!ports.apply().hit) {
            return;
        }
#endif
        if (hdr.ethernet.ethertype - ETHERTYPE < TYPES) {
            kind = REFUSED;
            drop();
#ifdef MIXED
        } else if (!hdr.starts[0].isValid()) {
#else
        } else if (!hdr.chunks[0].isValid()) {
#endif
            kind = SHORT;
        } else if (!classes.apply().hit || (bit<16>)class >= CLASSES) {
            kind = OTHER;
        } else {
#define TEMPLATE "encode.p4"
#include "transform/each.p4"
        }
        packets.count(kind);
    }
}

#ifndef GATEWAY
V1Switch(EncoderParser(), NoVerify(), EncoderIngress(), NoEgress(), NoCompute(), ZiplineDeparser()) main;
#endif
