// Registers of structs, headers, tuples, enums, booleans and signed numbers; reads beyond the end leave every part alone.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> op;
    bit<8> index;
    bit<8> a;
    bit<16> b;
    bit<8> c;
}

enum Phase { Idle, Running, Done }

enum bit<4> Small { one = 1, nine = 9 }

struct inner_t {
    bit<3> x;
    bool y;
}

struct state_t {
    bit<8> a;
    inner_t inner;
    int<16> b;
    Small small;
}

struct metadata { }

struct headers {
    h_t h;
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
    register<state_t>(3) states;
    register<h_t>(2) copies;
    register<tuple<bit<8>, bit<16>>>(2) pairs;
    register<Phase>(2) phases;
    register<bool>(2) flags;
    register<Small>(2) smalls;

    apply {
        bit<32> index = (bit<32>) hdr.h.index;
        standard_metadata.egress_spec = 2;
        switch (hdr.h.op) {
            0: {
                states.write(index, { hdr.h.a, { 5, hdr.h.c == 1 }, (int<16>) hdr.h.b, Small.nine });
            }
            1: {
                state_t state = { 0xee, { 2, true }, -2, Small.one };
                states.read(state, index);
                hdr.h.a = state.a;
                hdr.h.b = (bit<16>) (state.b - 1);
                hdr.h.c = (bit<4>) state.small ++ state.inner.x ++ (bit<1>) state.inner.y;
            }
            2: { copies.write(index, hdr.h); }
            3: {
                copies.read(hdr.h, index);
            }
            4: {
                pairs.write(0, { hdr.h.a, hdr.h.b });
            }
            5: {
                tuple<bit<8>, bit<16>> pair;
                pairs.read(pair, 0);
                hdr.h.a = pair[0] + 1;
                hdr.h.b = pair[1] + 1;
            }
            6: {
                Phase phase;
                phases.read(phase, index);
                if (phase == Phase.Idle) {
                    hdr.h.a = 1;
                    phases.write(index, Phase.Running);
                } else if (phase == Phase.Running) {
                    hdr.h.a = 2;
                    phases.write(index, Phase.Done);
                } else if (phase == Phase.Done) {
                    hdr.h.a = 3;
                }
            }
            7: {
                bool flag;
                flags.read(flag, index);
                flags.write(index, !flag);
                hdr.h.a = flag ? 8w1 : 0;
            }
            8: {
                Small small;
                smalls.read(small, index);
                hdr.h.a = (bit<8>) (bit<4>) small;
                smalls.write(index, small == Small.nine ? Small.one : Small.nine);
            }
        }
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
