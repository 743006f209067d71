// Counters, meters and registers; direct ones stand with their tables.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

struct cell_t {
    bit<48> last;
    bit<1> seen;
    ipv4_t packet;
}

counter(4, CounterType.bytes) outermost;

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    @brief("what comes in") counter(512, CounterType.packets_and_bytes) by_port;
    meter(16, MeterType.packets) rate;
    @single_rate_two_color meter(16, MeterType.bytes) bytes_rate;
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.bytes) colours;
    direct_counter(CounterType.bytes) of_no_table;
    register<bit<32>>(1024) sums;
    register<cell_t>(8) cells;
    register<bool>(2) flags;
    register<int<16>>(2) signed;

    action forward() {
        bit<2> colour;
        colours.read(colour);
        by_port.count((bit<32>)std.ingress_port);
    }
    table direct {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; NoAction; }
        counters = hits;
        meters = colours;
        default_action = NoAction;
    }
    apply {
        direct.apply();
        rate.execute_meter(0, meta.index);
        bytes_rate.execute_meter(0, meta.index);
        outermost.count(1);
        sums.write(0, 1);
        flags.write(0, true);
        signed.write(0, -1);
        cell_t cell;
        cells.read(cell, 0);
        meta.index[0:0] = cell.seen;
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
