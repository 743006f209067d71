// Replicas of a packet with many headers, whose egress has tables that depend on each other and a loop.
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
}

struct headers_t {
    data_t h0;
    data_t h1;
    data_t h2;
    data_t h3;
    data_t h4;
    data_t h5;
    data_t h6;
    data_t h7;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h0);
        packet.extract(hdr.h1);
        packet.extract(hdr.h2);
        packet.extract(hdr.h3);
        packet.extract(hdr.h4);
        packet.extract(hdr.h5);
        packet.extract(hdr.h6);
        packet.extract(hdr.h7);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.mcast_grp = 1;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.h0.b = value;
    }

    table first {
        key = { hdr.h0.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 1: set(10); }
    }

    table second {
        key = { hdr.h0.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 1: set(20); }
    }

    table third {
        key = { hdr.h0.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 2: set(30); }
    }

    apply {
        switch (first.apply().action_run) {
            set: { second.apply(); }
        }
        if (third.apply().hit) {
            for (bit<8> i = 0; i < hdr.h0.a; i = i + 1) {
                hdr.h0.b = hdr.h0.b + 1;
            }
        }
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h0);
        packet.emit(hdr.h1);
        packet.emit(hdr.h2);
        packet.emit(hdr.h3);
        packet.emit(hdr.h4);
        packet.emit(hdr.h5);
        packet.emit(hdr.h6);
        packet.emit(hdr.h7);
    }
}

V1Switch(P(), V(), I(), E(), V(), D()) main;
