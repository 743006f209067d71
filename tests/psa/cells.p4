// Registers of structs, tuples, headers, truth values and wide numbers, with and without an initial value.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8>  what;
    bit<8>  index;
    bit<16> value;
    bit<8>  more;
}

struct headers_t {
    note_t note;
}

struct inner_t {
    bit<8> count;
    bool   seen;
}

struct cell_t {
    bit<16> value;
    inner_t inner;
}

header kept_t {
    bit<4>  low;
    bit<12> high;
}

enum bit<8> Kind {
    A = 1,
    B = 7
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

Register<int<16>, bit<8>>(2, -3) negative;

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Register<cell_t, bit<8>>(4) zero;
    Register<cell_t, bit<8>>(4, { 0x1234, { 5, true } }) initial;
    Register<tuple<bit<8>, bit<16>>, bit<8>>(2, { 9, 0xbeef }) tuples;
    Register<kept_t, bit<8>>(2) headers;
    Register<bool, bit<8>>(2, true) flags;
    Register<bit<128>, bit<8>>(2, 128w0x1_0000_0000_0000_0000) wide;
    Register<Kind, bit<8>>(2, Kind.B) kinds;
    apply {
        if (hdr.note.what == 0) {
            cell_t cell = zero.read(hdr.note.index);
            cell.value = cell.value + hdr.note.value;
            cell.inner.count = cell.inner.count + 1;
            cell.inner.seen = !cell.inner.seen;
            zero.write(hdr.note.index, cell);
            hdr.note.value = cell.value;
            hdr.note.more = cell.inner.count + (cell.inner.seen ? 8w0x80 : 0);
        } else if (hdr.note.what == 1) {
            hdr.note.value = initial.read(hdr.note.index).value;
            hdr.note.more = initial.read(hdr.note.index).inner.count;
            if (initial.read(hdr.note.index).inner.seen) {
                hdr.note.index = 0xff;
            }
            initial.write(hdr.note.index, { hdr.note.value, { 1, false } });
        } else if (hdr.note.what == 2) {
            tuple<bit<8>, bit<16>> both = tuples.read(hdr.note.index);
            hdr.note.more = both[0];
            hdr.note.value = both[1];
            tuples.write(hdr.note.index, { both[0] + 1, 0 });
        } else if (hdr.note.what == 3) {
            kept_t kept = headers.read(hdr.note.index);
            if (kept.isValid()) {
                hdr.note.more = 1;
                hdr.note.value = kept.high ++ kept.low;
                headers.write(hdr.note.index, (kept_t) {#});
            } else {
                headers.write(hdr.note.index, { hdr.note.value[3:0], hdr.note.value[15:4] });
            }
        } else if (hdr.note.what == 4) {
            hdr.note.more = flags.read(hdr.note.index) ? 8w1 : 2;
            flags.write(hdr.note.index, hdr.note.value == 1);
            wide.write(0, wide.read(0) + 1);
            hdr.note.value = wide.read(0)[71:64] ++ wide.read(0)[7:0];
        } else {
            hdr.note.more = (bit<8>) kinds.read(hdr.note.index);
            kinds.write(hdr.note.index, Kind.A);
            hdr.note.value = (bit<16>) negative.read(hdr.note.index);
            negative.write(hdr.note.index, negative.read(hdr.note.index) - 1);
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
