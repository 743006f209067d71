// The interface for DPDK: counters and meters that are told how long the packet is.
#include <core.p4>
#include <dpdk/psa.p4>

header note_t {
    bit<8>  key;
    bit<8>  color;
    bit<16> length;
}

struct headers_t {
    note_t note;
}

#include "plain.inc"

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<64>, bit<8>>(4, PSA_CounterType_t.PACKETS_AND_BYTES) counted;
    DirectCounter<bit<64>>(PSA_CounterType_t.PACKETS) hits;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) rates;
    DirectMeter(PSA_MeterType_t.PACKETS) rate;
    PSA_MeterColor_t color = PSA_MeterColor_t.GREEN;

    action metered() {
        hits.count(32w64);
        color = rate.dpdk_execute(PSA_MeterColor_t.YELLOW, (bit<32>) hdr.note.length);
    }
    action blind() {
        color = rate.dpdk_execute((bit<32>) hdr.note.length);
    }
    table t {
        key = { hdr.note.key : exact; }
        actions = { metered; blind; NoAction; }
        const default_action = NoAction;
        psa_direct_counter = hits;
        psa_direct_meter = rate;
    }
    apply {
        counted.count(hdr.note.key, (bit<32>) hdr.note.length);
        counted.count(3);
        if (hdr.note.key == 0) {
            color = rates.dpdk_execute(1, 32w100);
        } else if (hdr.note.key == 1) {
            color = rates.dpdk_execute(1, PSA_MeterColor_t.RED, 32w100);
        } else {
            t.apply();
        }
        hdr.note.color = color == PSA_MeterColor_t.GREEN ? 8w0x09 : color == PSA_MeterColor_t.YELLOW ? 8w0x0e : 8w0x0d;
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
