// Lists are known when the program is compiled: loops go through those of numbers, tuples and structs, within one another,
// and leave or skip turns; an empty list has no turn; elements written in place may be computed.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> key;
    bit<8> sum;
    bit<8> found;
    bit<8> pairs;
    bit<8> turns;
    bit<8> computed;
}

struct metadata { }

struct headers {
    h_t h;
}

struct pair_t<T, U> {
    T first;
    U second;
}

const list<bit<8>> primes = { 2, 3, 5, 7, 11 };
const list<bit<8>> none = {};
const list<pair_t<bit<8>, bit<16>>> names = { { 1, 0x4f6e }, { second = 0x5477, first = 2 }, { 4, 0x466f } };
const list<tuple<bit<8>, bool>> flags = { { 1, true }, { 2, false }, { 16, true } };

bit<8> total(in bit<8> start) {
    bit<8> sum = start;
    for (bit<8> prime in primes) {
        if (prime == 5) {
            continue;
        }
        sum = sum + prime;
        if (prime == 7) {
            return sum;
        }
    }
    return 0;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.sum = total(hdr.h.key);
        hdr.h.found = 0;
        for (pair_t<bit<8>, bit<16>> name in names) {
            if (name.first == hdr.h.key) {
                hdr.h.found = name.second[7:0];
                break;
            }
        }
        for (tuple<bit<8>, bool> flag in flags) {
            if (flag[1]) {
                hdr.h.found = hdr.h.found ^ flag[0];
            }
        }
        hdr.h.pairs = 0;
        for (bit<8> prime in primes) {
            for (bit<8> other in primes) {
                if (other >= prime) {
                    break;
                }
                hdr.h.pairs = hdr.h.pairs + 1;
            }
        }
        hdr.h.turns = 0;
        for (bit<8> nothing in none) {
            hdr.h.turns = nothing;
        }
        // The elements are evaluated once, before the first turn.
        hdr.h.computed = 1;
        for (bit<8> element in (list<bit<8>>) { hdr.h.key, hdr.h.computed, hdr.h.computed + 1 }) {
            hdr.h.computed = hdr.h.computed + element;
        }
        standard_metadata.egress_spec = 1;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
