// The later version of v1model: indices have a type.
#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>

struct Headers { }
struct Metadata { }
parser P(packet_in packet, out Headers hdr, inout Metadata meta, inout standard_metadata_t sm) {
    state start { transition accept; }
}
control V(inout Headers hdr, inout Metadata meta) { apply { } }
control I(inout Headers hdr, inout Metadata meta, inout standard_metadata_t sm) {
    counter<PortId_t>(512, CounterType.packets) packets;
    meter<bit<8>>(16, MeterType.packets) meters;
    register<bit<48>, PortId_t>(1024) times;
    bit<8> color;
    bit<48> time;
    apply {
        packets.count(sm.ingress_port);
        meters.execute_meter(1, color);
        times.read(time, sm.ingress_port);
        times.write(0, time);
    }
}
control E(inout Headers hdr, inout Metadata meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in Headers hdr) { apply { } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
