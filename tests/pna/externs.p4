// Externs, in the blocks where the specification has them: a digest in the deparser, and PSA's objects.
#include <core.p4>
#include <dpdk/pna.p4>

header request_t {
    bit<8>  what;
    bit<8>  a;
    bit<16> b;
}

struct headers_t {
    request_t request;
}

struct metadata_t {
    bit<8> color;
}

struct note_t {
    bit<8>  a;
    bit<16> b;
}

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    InternetChecksum() sum;
    state start {
        packet.extract(hdr.request);
        sum.clear();
        sum.add({ hdr.request.what, hdr.request.a });
        hdr.request.b = hdr.request.what == 9 ? sum.get() : hdr.request.b;
        transition accept;
    }
}

control PreControlImpl(in headers_t hdr, inout metadata_t meta, in pna_pre_input_metadata_t istd,
                       inout pna_pre_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(4, PNA_CounterType_t.PACKETS_AND_BYTES) early;
    apply {
        early.count(hdr.request.what);
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    Register<bit<16>, bit<8>>(4, 5) values;
    Hash<bit<16>>(PNA_HashAlgorithm_t.CRC16) crc;
    Meter<bit<8>>(2, PNA_MeterType_t.PACKETS) rates;
    DirectMeter(PNA_MeterType_t.BYTES) each;
    DirectCounter<bit<32>>(PNA_CounterType_t.BYTES) bytes;
    Random<bit<16>>(3, 3) three;
    ActionProfile(8) profile;
    ActionSelector(PNA_HashAlgorithm_t.CRC32, 8, 8) selector;
    Counter<bit<32>, bit<8>>(4, PNA_CounterType_t.PACKETS) counts;

    action forward(PortId_t port) {
        send_to_port(port);
    }

    action metered(PortId_t port) {
        meta.color = each.dpdk_execute(PNA_MeterColor_t.GREEN, 32w4) == PNA_MeterColor_t.GREEN ? 8w2 : 8w1;
        bytes.count(32w4);
        hdr.request.b = (bit<16>) meta.color;
        send_to_port(port);
    }

    action none() {
        hdr.request.b = 0xeeee;
    }

    table direct {
        key = { hdr.request.a : ternary; }
        actions = { metered; NoAction; }
        pna_direct_meter = each;
        pna_direct_counter = bytes;
        default_action = NoAction();
    }

    table profiled {
        key = { hdr.request.a : exact; }
        actions = { forward; NoAction; }
        pna_implementation = profile;
    }

    table selected {
        key = {
            hdr.request.a : exact;
            hdr.request.b : selector;
        }
        actions = { forward; none; NoAction; }
        pna_implementation = selector;
        pna_empty_group_action = none();
    }

    apply {
        send_to_port((PortId_t) 1);
        counts.count(hdr.request.what);
        switch (hdr.request.what) {
            1: {
                hdr.request.b = values.read(hdr.request.a) + 1;
                values.write(hdr.request.a, hdr.request.b);
            }
            2: { hdr.request.b = crc.get_hash(hdr.request.a); }
            3: { hdr.request.b = rates.execute(hdr.request.a) == PNA_MeterColor_t.GREEN ? 16w7 : 16w8; }
            4: { hdr.request.b = three.read(); }
            5: { direct.apply(); }
            6: { profiled.apply(); }
            7: { selected.apply(); }
        }
    }
}

control MainDeparserImpl(packet_out packet, in headers_t hdr, in metadata_t meta,
                         in pna_main_output_metadata_t ostd) {
    Digest<note_t>() notes;
    apply {
        if (hdr.request.what == 8) {
            notes.pack({ hdr.request.a, hdr.request.b });
        }
        packet.emit(hdr.request);
    }
}

PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
