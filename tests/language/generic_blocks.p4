// Parsers and controls with type parameters, made for several types; parameters with default values and `@optional`
// ones.
#include <core.p4>
#include <v1model.p4>

header h_t<T> {
    T a;
    bit<8> b;
}

struct metadata { }

struct headers {
    h_t<bit<8>> h;
    h_t<bit<16>> g;
}

control Copy<T>(inout T to, in T from) {
    apply {
        to = from;
    }
}

control Preset<T>(inout T to)(T value, bool really = true) {
    apply {
        if (really) {
            to = value;
        }
    }
}

control Lookup<T>(inout h_t<T> h, in T key_value) {
    action found(T value) {
        h.a = value;
        h.b = h.b + 1;
    }

    table t {
        key = { key_value: exact @name("value"); }
        actions = { found; NoAction; }
        default_action = NoAction;
    }

    apply {
        t.apply();
    }
}

control Count(inout bit<8> x, @optional in bit<8> by)(register<bit<8>> r = register<bit<8>>(4), bit<32> at = 1) {
    apply {
        bit<8> old;
        r.read(old, at);
        r.write(at, old + 1);
        x = x + old + by;
    }
}

parser Take<T>(packet_in packet, out T to) {
    state start {
        packet.extract(to);
        transition accept;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    Take<h_t<bit<8>>>() take;

    state start {
        take.apply(packet, hdr.h);
        Take<h_t<bit<16>>>.apply(packet, hdr.g);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    Preset<bit<8>>(5) always;
    Preset<bit<16>>(value = 5, really = false) never_;
    Lookup<bit<8>>() small;
    Lookup<bit<16>>() large;
    Count() count;

    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.b == 0) {
            Copy<bit<8>>.apply(hdr.h.a, hdr.g.b);
            always.apply(hdr.g.b);
            never_.apply(hdr.g.a);
        } else if (hdr.h.b == 1) {
            small.apply(hdr.h, 7);
            large.apply(hdr.g, hdr.g.a);
        } else {
            count.apply(hdr.g.b);
            count.apply(hdr.g.b, 0x10);
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
