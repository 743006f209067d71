// TCP options: a sub-parser with a loop reads them into a stack of header unions, with an option of unknown kind in a varbit
// field; ingress counts and changes them; the checksum covers the pseudo-header, the options and the payload.
#include <core.p4>
#include <v1model.p4>

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> id;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header end_t { bit<8> kind; }
header nop_t { bit<8> kind; }
header mss_t { bit<8> kind; bit<8> length; bit<16> mss; }
header scale_t { bit<8> kind; bit<8> length; bit<8> shift; }
header other_t { bit<8> kind; bit<8> length; varbit<304> data; }

header_union option_t {
    end_t end;
    nop_t nop;
    mss_t mss;
    scale_t scale;
    other_t other;
}

header padding_t { varbit<320> data; }

struct headers {
    ipv4_t ipv4;
    tcp_t tcp;
    option_t[10] options;
    padding_t padding;
}

struct metadata { }

error {
    BadDataOffset,
    OptionTooLong,
    OptionTooShort
}

parser OptionParser(packet_in packet, in bit<4> data_offset, out option_t[10] options, out padding_t padding) {
    bit<7> left;

    state start {
        verify(data_offset >= 5, error.BadDataOffset);
        left = 4 * (bit<7>) (data_offset - 5);
        transition next_option;
    }
    state next_option {
        transition select(left) {
            0: accept;
            default: by_kind;
        }
    }
    state by_kind {
        transition select(packet.lookahead<bit<8>>()) {
            0: parse_end;
            1: parse_nop;
            2: parse_mss;
            3: parse_scale;
            default: parse_other;
        }
    }
    state parse_end {
        packet.extract(options.next.end);
        left = left - 1;
        // What follows an end is padding.
        packet.extract(padding, (bit<32>) left * 8);
        transition accept;
    }
    state parse_nop {
        packet.extract(options.next.nop);
        left = left - 1;
        transition next_option;
    }
    state parse_mss {
        verify(left >= 4, error.OptionTooLong);
        left = left - 4;
        packet.extract(options.next.mss);
        transition next_option;
    }
    state parse_scale {
        verify(left >= 3, error.OptionTooLong);
        left = left - 3;
        packet.extract(options.next.scale);
        transition next_option;
    }
    state parse_other {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        verify(length >= 2, error.OptionTooShort);
        verify(length <= (bit<8>) left, error.OptionTooLong);
        packet.extract(options.next.other, (bit<32>) (length - 2) << 3);
        left = left - (bit<7>) length;
        transition next_option;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    OptionParser() option_parser;

    state start {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            6: parse_tcp;
            default: accept;
        }
    }
    state parse_tcp {
        packet.extract(hdr.tcp);
        option_parser.apply(packet, hdr.tcp.data_offset, hdr.options, hdr.padding);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action clamp(inout mss_t mss, bit<16> most) {
        if (mss.isValid() && mss.mss > most) {
            mss.mss = most;
        }
    }

    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error != error.NoError) {
            standard_metadata.egress_spec = 9;
            if (standard_metadata.parser_error == error.BadDataOffset) { hdr.ipv4.tos = 1; }
            else if (standard_metadata.parser_error == error.OptionTooLong) { hdr.ipv4.tos = 2; }
            else if (standard_metadata.parser_error == error.OptionTooShort) { hdr.ipv4.tos = 3; }
            else if (standard_metadata.parser_error == error.PacketTooShort) { hdr.ipv4.tos = 4; }
            else if (standard_metadata.parser_error == error.StackOutOfBounds) { hdr.ipv4.tos = 5; }
            else { hdr.ipv4.tos = 0xff; }
            return;
        }
        for (option_t option in hdr.options) {
            if (option.isValid()) {
                hdr.ipv4.id = hdr.ipv4.id + 1;
            }
        }
        clamp(hdr.options[0].mss, 1000);
        clamp(hdr.options[1].mss, 1000);
        clamp(hdr.options[2].mss, 1000);
        if (hdr.options[3].scale.isValid()) {
            // Becomes three empty ones.
            hdr.options[3].scale.setInvalid();
            hdr.options[3].nop = { 1 };
            hdr.options.push_front(2);
            hdr.options[0].nop.setValid();
            hdr.options[0].nop.kind = 1;
            hdr.options[1].nop = hdr.options[0].nop;
        }
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
