// Checksums of all algorithms, over several updates, with headers that may be invalid and fields of variable length.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8>  how;
    bit<8>  bytes;
    bit<32> one;
    bit<32> two;
}

header tail_t {
    varbit<64> bytes;
}

header part_t {
    bit<8>  a;
    bit<16> b;
}

struct headers_t {
    note_t note;
    part_t part;
    tail_t tail;
}

#include "plain.inc"

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        transition select(hdr.note.how) {
            0x80 &&& 0x80: part;
            default: tail;
        }
    }
    state part {
        packet.extract(hdr.part);
        transition tail;
    }
    state tail {
        packet.extract(hdr.tail, (bit<32>) hdr.note.bytes * 8);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32_CUSTOM) custom32;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16_CUSTOM) custom16;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.TARGET_DEFAULT) standard;
    Checksum<bit<64>>(PSA_HashAlgorithm_t.IDENTITY) identity;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) hash32;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) hash16;
    apply {
        bit<8> how = hdr.note.how & 0x7f;
        if (how == 0) {
            // The same data at once and in parts; a varbit field in the first place, and in the last.
            crc32.update(hdr.tail.bytes);
            crc32.update({ hdr.note.how, hdr.part });
            crc32.update(hdr.tail.bytes);
            hdr.note.one = crc32.get();
            hdr.note.two = hash32.get_hash({ hdr.tail.bytes, hdr.note.how, hdr.part, hdr.tail.bytes });
        } else if (how == 1) {
            custom32.update(hdr.tail.bytes);
            custom32.update({ hdr.note.how, hdr.part });
            custom32.update(hdr.tail.bytes);
            hdr.note.one = custom32.get();
            hdr.note.two = hash32.get_hash({ hdr.tail.bytes, hdr.note.how, hdr.part, hdr.tail.bytes });
        } else if (how == 2) {
            custom16.update(hdr.part);
            custom16.update(hdr.tail);
            crc16.update(hdr.part.a);
            crc16.update(hdr.part.b);
            crc16.update(hdr.tail);
            hdr.note.one = custom16.get() ++ crc16.get();
            hdr.note.two = hash16.get_hash({ hdr.part, hdr.tail }) ++ 16w0;
            custom16.clear();
            hdr.note.two[15:0] = custom16.get();
        } else if (how == 3) {
            identity.update(hdr.part);
            identity.update(hdr.note.bytes);
            bit<64> kept = identity.get();
            identity.update({ 32w0x01020304, hdr.part.b });
            hdr.note.one = kept[31:0];
            hdr.note.two = identity.get()[63:32] ^ identity.get()[31:0];
        } else if (how == 4) {
            standard.update({ hdr.note.bytes });
            hdr.note.one = standard.get();
            hdr.note.two = hash32.get_hash(hdr.note.bytes);
        } else {
            // The parameters that the control plane has set.
            custom16.update(72w0x313233343536373839);
            hdr.note.one = 16w0 ++ custom16.get();
            custom32.update(32w0x31323334);
            custom32.update(40w0x3536373839);
            hdr.note.two = custom32.get();
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
