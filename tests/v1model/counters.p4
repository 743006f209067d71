// Counters by index, direct counters by entry, packets and bytes; an index that is too large counts nothing.
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
    counter(8, CounterType.packets) by_value;
    counter(2, CounterType.bytes) by_parity;
    direct_counter(CounterType.packets_and_bytes) by_entry;

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action send_counted(bit<9> port) {
        by_entry.count();
        standard_metadata.egress_spec = port;
    }

    table ports {
        key = { hdr.h.b: exact; }
        actions = { send; send_counted; }
        default_action = send(9);
        counters = by_entry;
    }

    apply {
        by_value.count((bit<32>) hdr.h.a);
        by_parity.count((bit<32>) hdr.h.a[0:0]);
        ports.apply();
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(512, CounterType.packets_and_bytes) by_port;

    apply {
        by_port.count((bit<32>) standard_metadata.egress_port);
    }
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
