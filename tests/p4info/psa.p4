// The objects of PSA.
#include <core.p4>
#include <psa.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct empty_t {}

struct learn_t {
    bit<48> address;
    PortId_t port;
}

struct meta_t {
    bool send;
    learn_t learn;
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout meta_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<32>, PortId_t>(64, PSA_CounterType_t.PACKETS_AND_BYTES) by_port;
    Meter<bit<8>>(16, PSA_MeterType_t.PACKETS) rate;
    DirectCounter<bit<32>>(PSA_CounterType_t.BYTES) hits;
    DirectMeter(PSA_MeterType_t.BYTES) colours;
    Register<bit<32>, bit<8>>(256, 7) sums;
    ActionProfile(8) profile;
    action forward(PortId_t port) {
        send_to_port(ostd, port);
        hits.count();
    }
    table t {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; NoAction; }
        psa_direct_counter = hits;
        psa_direct_meter = colours;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
    }
    action metered(PortId_t port) {
        send_to_port(ostd, port);
    }
    table indirect {
        key = { hdr.ethernet.src: exact; }
        actions = { metered; NoAction; }
        psa_implementation = profile;
    }
    apply {
        by_port.count(istd.ingress_port);
        rate.execute(3);
        sums.write(0, 1);
        meta.send = true;
        meta.learn = { hdr.ethernet.src, istd.ingress_port };
        t.apply();
        indirect.apply();
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out empty_t normal_meta, inout headers_t hdr, in meta_t meta,
                            in psa_ingress_output_metadata_t istd) {
    Digest<learn_t>() learned;
    apply {
        if (meta.send) {
            learned.pack(meta.learn);
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout meta_t meta,
                        in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta,
                        in empty_t clone_i2e_meta, in empty_t clone_e2e_meta) {
    state start {
        transition accept;
    }
}

control egress(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(2, PSA_CounterType_t.PACKETS) sent;
    apply {
        sent.count(1);
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr);
    }
}

IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
