// Annotations of every form; what they say changes names and lists, never what a packet sees.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata { }

struct headers {
    h_t h;
}

@vendor[kind="example", level=3]
@note("free text", 1, 2)
struct pair_t {
    @optional_bits(4) bit<8> left;
    bit<8> right;
}

@pure
bit<8> sum(in pair_t pair) {
    return pair.left + pair.right;
}

@deprecated("write sum") @noWarn("unused")
bit<8> old_sum(in pair_t pair) {
    return sum(pair);
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
    @hidden action double() {
        hdr.h.b = hdr.h.b << 1;
    }
    @name("chosen") action set(@name("value") bit<8> v) {
        hdr.h.b = v;
    }
    @name(".everywhere") table first {
        key = {
            hdr.h.a : exact @name("number");
        }
        actions = {
            @tableonly set;
            @defaultonly double;
        }
        default_action = double();
        @diagnostic_free support_timeout = true;
    }
    apply {
        @atomic {
            @likely_path {
                first.apply();
            }
        }
        hdr.h.a = sum({ hdr.h.a, 1 });
        standard_metadata.egress_spec = 2;
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
