// How the decoder takes one of several chunks from a packet. A template: included once for each transform.

#include "settings.p4"

// A chunk of a packet of type 3: a reference if the first bit of `known` says so, or what the sender wrote if a
// later one does. Behind the last reference nothing is looked at.
parser OF(Item)(packet_in packet, in bit<8> known, out OF(chunk_t) chunk, out OF(reference_t) reference) {
    state start {
        transition select(known) {
            0: accept;
            0x80 &&& 0x80: parse_reference;
            default: parse_chunk;
        }
    }

    state parse_reference {
        packet.extract(reference);
        transition accept;
    }

    state parse_chunk {
        packet.extract(chunk);
        transition accept;
    }
}
