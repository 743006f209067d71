// Checksum and InternetChecksum: data in pieces, in any block, carried from one object to another.
#include <core.p4>
#include <psa.p4>

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> totalLen;
    bit<16> identification;
    bit<16> flags_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdrChecksum;
    bit<32> srcAddr;
    bit<32> dstAddr;
}

header word_t {
    bit<16> value;
}

header result_t {
    bit<16> full;
    bit<16> updated;
    bit<32> crc;
    bit<16> crc16;
    bit<16> sum;
}

struct headers_t {
    ipv4_t   ipv4;
    word_t   word;
    result_t result;
}

error { BadChecksum }

#include "plain.inc"

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    InternetChecksum() ck;
    state start {
        packet.extract(hdr.ipv4);
        ck.clear();
        // The sum over a header with its checksum is 0 once inverted.
        ck.add(hdr.ipv4);
        verify(ck.get() == 0, error.BadChecksum);
        transition select(hdr.ipv4.protocol) {
            17: word;
            default: accept;
        }
    }
    state word {
        packet.extract(hdr.word);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    InternetChecksum() ck;
    InternetChecksum() other;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum;
    apply {
        if (istd.parser_error == error.BadChecksum) {
            hdr.ipv4.ttl = 0xff;
        } else {
            hdr.result.setValid();
            // RFC 1624: out with the old word, in with the new one.
            other.set_state(~hdr.ipv4.hdrChecksum);
            other.subtract({ hdr.ipv4.ttl, hdr.ipv4.protocol });
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            other.add({ hdr.ipv4.ttl, hdr.ipv4.protocol });
            hdr.result.updated = other.get();

            ck.add({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.totalLen,
                     hdr.ipv4.identification, hdr.ipv4.flags_offset, hdr.ipv4.ttl, hdr.ipv4.protocol });
            bit<16> state = ck.get_state();
            ck.clear();
            ck.set_state(state);
            ck.add({ hdr.ipv4.srcAddr, hdr.ipv4.dstAddr });
            hdr.result.full = ck.get();

            // "123456789" in pieces, of any length.
            crc.update(8w0x31);
            crc.update({ 8w0x32, 8w0x33 });
            if (hdr.word.isValid()) {
                crc.update(hdr.word);
                crc16.update(hdr.word.value);
            }
            crc.update({ 40w0x3435363738 });
            crc.update(hdr.word);
            crc.update(8w0x39);
            hdr.result.crc = crc.get();

            crc16.clear();
            crc16.update(8w0x31);
            crc16.update(64w0x3233343536373839);
            hdr.result.crc16 = crc16.get();

            sum.update(64w0x3132333435363738);
            sum.update(16w1);
            hdr.result.sum = sum.get();
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
