// Everything that v1model.p4 declares, in use.
#include <core.p4>
#include <v1model.p4>

header H { bit<8> a; bit<16> b; bit<32> c; bit<16> sum; }
struct Headers { H h; H[3] stack; }
struct Metadata {
    @field_list(1, 2)
    bit<8> kept;
    @field_list(2)
    bit<16> also;
    bit<32> number;
}
struct Message { bit<8> a; bit<48> b; }

parser P(packet_in packet, out Headers hdr, inout Metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        sm.parser_error = error.NoError;
        transition select(sm.instance_type, sm.parser_error) {
            (0, error.NoError): accept;
            default: reject;
        }
    }
}
control V(inout Headers hdr, inout Metadata meta) {
    apply {
        verify_checksum(true, { hdr.h.a, hdr.h.b }, hdr.h.sum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.h.isValid(), { hdr.h.a, 8w0 }, hdr.h.sum, HashAlgorithm.csum16);
    }
}
control I(inout Headers hdr, inout Metadata meta, inout standard_metadata_t sm) {
    counter(32w16, CounterType.packets) packets;
    direct_counter(CounterType.packets_and_bytes) direct;
    meter(16, MeterType.packets) meters;
    direct_meter<bit<32>>(MeterType.bytes) direct_rates;
    register<bit<48>>(1024) times;
    register<H>(4) headers_kept;
    action_profile(32w128) profile;
    bit<32> result;
    bit<48> time;
    action a() { direct.count(); }
    action b() { mark_to_drop(sm); }
    table t {
        key = { hdr.h.a: exact; hdr.h.b: range; hdr.h.c: optional; }
        actions = { a; b; NoAction; }
        implementation = profile;
        counters = direct;
    }
    table selected {
        key = { hdr.h.a: exact; hdr.h.b: selector; }
        actions = { a; b; }
        implementation = action_selector(HashAlgorithm.crc32, 32w1024, 32w14);
    }
    apply {
        t.apply();
        selected.apply();
        packets.count(3);
        meters.execute_meter(1, result);
        times.read(time, 0);
        times.write(0, sm.ingress_global_timestamp - time);
        random(result, 0, 10);
        random<bit<32>>(result, 32w0, 10);
        hash(meta.also, HashAlgorithm.crc16, 16w0, { hdr.h.a, hdr.h.b }, 16w1024);
        hash(result, HashAlgorithm.identity, 32w0, { hdr.h.a }, 32w1 << 16);
        digest<Message>(1, { hdr.h.a, time });
        digest(1, { hdr.h.a, time });
        digest(1, meta);
        clone(CloneType.I2E, 32w5);
        clone_preserving_field_list(CloneType.I2E, 5, 1);
        resubmit_preserving_field_list(1);
        truncate(64);
        log_msg("plain");
        log_msg("a = {}, b = {}", { hdr.h.a, hdr.h.b });
        assert(hdr.h.isValid());
        assume(hdr.h.a > 0);
        sm.egress_spec = 511;
        sm.mcast_grp = 16w3;
        sm.priority = 5;
    }
}
control E(inout Headers hdr, inout Metadata meta, inout standard_metadata_t sm) {
    apply {
        recirculate_preserving_field_list(2);
        clone_preserving_field_list(CloneType.E2E, 5, 2);
        if (sm.checksum_error == 1 || sm.egress_rid != 0) { mark_to_drop(sm); }
        meta.number = (bit<32>)sm.enq_qdepth + (bit<32>)sm.deq_qdepth + sm.deq_timedelta;
    }
}
control C(inout Headers hdr, inout Metadata meta) {
    apply {
        update_checksum(hdr.h.isValid(), { hdr.h.a, hdr.h.b }, hdr.h.sum, HashAlgorithm.csum16);
        update_checksum_with_payload(true, { hdr.h }, hdr.h.sum, HashAlgorithm.csum16);
    }
}
control D(packet_out packet, in Headers hdr) {
    apply { packet.emit(hdr); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
