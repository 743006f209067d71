// Random numbers: one value, signed limits, all values of a type, more than 64 bits.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> what;
    bit<8> result;
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
    Random<bit<16>>(7, 7) seven;
    Random<int<8>>(-3, 2) around_zero;
    Random<bit<64>>(0, 64w0xffffffffffffffff) any;
    Random<bit<128>>(128w0x1_0000_0000_0000_0000, 128w0x4_0000_0000_0000_0000) wide;
    Random<PortId_t>((PortId_t) 4, (PortId_t) 4) port;
    apply {
        hdr.note.result = 1;
        int<8> seen = 0;
        for (bit<8> i in 0 .. 99) {
            if (seven.read() != 7) {
                hdr.note.result = 2;
            }
            int<8> drawn = around_zero.read();
            if (drawn < -3 || drawn > 2) {
                hdr.note.result = 3;
            }
            seen = seen | drawn;
            bit<128> large = wide.read();
            if (large < 128w0x1_0000_0000_0000_0000 || large > 128w0x4_0000_0000_0000_0000) {
                hdr.note.result = 4;
            }
        }
        // In a hundred numbers from -3 to 2 there is one below 0, but for a chance of one in 2 to the power of 100.
        if (seen >= 0) {
            hdr.note.result = 5;
        }
        if (any.read() == any.read()) {
            hdr.note.result = 6;
        }
        send_to_port(ostd, port.read());
    }
}

#include "main.inc"
