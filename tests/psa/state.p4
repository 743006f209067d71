// Counters, registers, random numbers: arrays with indices in and out of range, initial values, types of new names.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8>  what;
    bit<8>  index;
    bit<16> value;
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
    Register<bit<16>, bit<8>>(4, 16w0x1234) initial;
    Register<bit<16>, bit<8>>(4) zero;
    Register<PortId_t, PortId_t>(8) ports;
    Counter<bit<32>, bit<8>>(4, PSA_CounterType_t.PACKETS_AND_BYTES) counted;
    Random<bit<16>>(16w5, 16w5) five;
    Random<bit<16>>(16w10, 16w20) some;
    apply {
        counted.count(hdr.note.index);
        if (hdr.note.what == 0) {
            hdr.note.value = initial.read(hdr.note.index);
        } else if (hdr.note.what == 1) {
            initial.write(hdr.note.index, hdr.note.value);
            zero.write(hdr.note.index, zero.read(hdr.note.index) + 1);
        } else if (hdr.note.what == 2) {
            hdr.note.value = zero.read(hdr.note.index) ++ initial.read(hdr.note.index)[7:0] == 24w0x000100 ? 16w1 : 16w2;
        } else if (hdr.note.what == 3) {
            hdr.note.value = five.read();
            bit<16> random = some.read();
            if (random >= 10 && random <= 20) {
                hdr.note.index = 0xaa;
            }
        } else {
            ports.write(istd.ingress_port, istd.ingress_port);
            hdr.note.value = (bit<16>) (PortIdUint_t) ports.read(istd.ingress_port);
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
