/* Has one of everything that a controller can write. */
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/colour", string)
type bit<16> colour_t;

header bytes_t {
    bit<32> address;
    bit<16> port;
    bit<8> kind;
    bit<8> choice;
}

struct learn_t {
    bit<32> address;
    bit<9> port;
}

struct headers_t {
    bytes_t bytes;
}

struct meta_t {
    colour_t colour;
    bit<2> result;
}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) ports;
    state start {
        packet.extract(hdr.bytes);
        transition select(hdr.bytes.port) {
            ports: accept;
            default: accept;
        }
    }
}

control V(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    counter(8, CounterType.packets_and_bytes) packets;
    meter(4, MeterType.packets) rates;
    register<bit<32>>(8) last;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.bytes) speed;
    action_selector(HashAlgorithm.crc16, 64, 16) choices;
    action_selector(HashAlgorithm.crc16, 64, 16) parts;

    action drop() { mark_to_drop(standard); }
    action forward(bit<9> port) { standard.egress_spec = port; }

    table route {
        key = { hdr.bytes.address: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        counters = hits;
        support_timeout = true;
        size = 1024;
    }
    table acl {
        key = { hdr.bytes.kind: ternary; hdr.bytes.port: range; }
        actions = { drop; NoAction; }
        meters = speed;
        size = 64;
    }
    table balance {
        key = { hdr.bytes.kind: exact; hdr.bytes.choice: selector; }
        actions = { forward; drop; }
        implementation = choices;
    }
    table split {
        key = { hdr.bytes.kind: exact; hdr.bytes.choice: selector; }
        actions = { forward; drop; }
        implementation = parts;
    }
    table named {
        key = { meta.colour: exact; }
        actions = { forward; drop; }
    }
    table exactly {
        key = { hdr.bytes.address: exact; }
        actions = { forward; drop; }
        size = 4096;
    }
    apply {
        packets.count((bit<32>)standard.ingress_port);
        last.write(0, hdr.bytes.address);
        rates.execute_meter((bit<32>)0, meta.result);
        digest<learn_t>(1, { hdr.bytes.address, standard.ingress_port });
        route.apply();
        acl.apply();
        balance.apply();
        split.apply();
        named.apply();
        exactly.apply();
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.bytes); }
}

V1Switch(P(), V(), I(), E(), V(), D()) main;
