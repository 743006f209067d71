// The interface of version 20200408: ports of type PortId_t, and the type of an index as a parameter of counters, meters and
// registers: narrow, a typedef, a new type, an enum.
#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>

typedef bit<3> Slot;
type bit<4> Cell_t;
enum bit<8> Cell { zero = 0, three = 3 }

header h_t {
    PortId_t in_port;
    bit<7> spare;
    bit<8> value;
    bit<8> color;
    bit<16> sum;
}

struct headers { h_t h; }
struct metadata { PortId_t port; }

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
    register<bit<8>, bit<1>>(2) narrow;
    register<bit<16>, Slot>(8) slots;
    counter<PortId_t>(512, CounterType.packets) by_port;
    counter<Cell>(4, CounterType.packets) by_cell;
    meter<Slot>(8, MeterType.packets) meters;
    register<bit<16>, Cell_t>(16) cells;
    register<bit<8>, bit<64>>(4) far;

    action send(PortId_t port) {
        standard_metadata.egress_spec = port;
    }

    table ports {
        key = { standard_metadata.ingress_port: exact; }
        actions = { send; }
        default_action = send(9w2);
    }

    apply {
        bit<8> value = 0xff;
        bit<2> color;
        bit<16> sum;
        meta.port = standard_metadata.ingress_port;
        hdr.h.in_port = meta.port;
        ports.apply();
        by_port.count(standard_metadata.egress_spec);
        by_cell.count(Cell.three);
        narrow.read(value, hdr.h.value[0:0]);
        narrow.write(hdr.h.value[0:0], hdr.h.value);
        meters.execute_meter<bit<2>>((Slot) hdr.h.value, color);
        slots.read(sum, 7);
        slots.write(7, sum + (bit<16>) hdr.h.value);
        cells.write((Cell_t) 4w15, sum);
        cells.read(hdr.h.sum, (Cell_t) 15);
        // Beyond the end, even modulo 2^32.
        far.write(64w0x1_0000_0001, 0x55);
        far.read(value, (bit<64>) hdr.h.value << 32);
        hdr.h.value = value;
        hdr.h.color = (bit<8>) color;
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
