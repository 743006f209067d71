// Hashes: every algorithm, both forms, and padding in front.
#include <core.p4>
#include <psa.p4>

header key_t {
    bit<8>  which;
    bit<72> data;
}

header result_t {
    bit<32> value;
}

struct headers_t {
    key_t    key;
    result_t result;
}

#include "plain.inc"

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.key);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Hash<bit<32>>(PSA_HashAlgorithm_t.TARGET_DEFAULT) target_default;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Hash<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum;
    Hash<bit<32>>(PSA_HashAlgorithm_t.IDENTITY) identity;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32_CUSTOM) crc32_custom;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16_CUSTOM) crc16_custom;
    apply {
        hdr.result.setValid();
        switch (hdr.key.which) {
            0: { hdr.result.value = crc32.get_hash(hdr.key.data); }
            1: { hdr.result.value = target_default.get_hash(hdr.key.data); }
            2: { hdr.result.value = (bit<32>) crc16.get_hash(hdr.key.data); }
            3: { hdr.result.value = (bit<32>) sum.get_hash({ hdr.key.data[71:8], 16w1 }); }
            // The four bits of the key stand below four zero bits.
            4: { hdr.result.value = identity.get_hash(hdr.key.data[71:68]); }
            5: { hdr.result.value = identity.get_hash({ 4w0xf, hdr.key.data[71:64] }); }
            // 0x313233 mod 1000 is 115.
            6: { hdr.result.value = identity.get_hash(32w5000, hdr.key.data[71:48], 32w1000); }
            7: { hdr.result.value = crc32.get_hash(32w7, hdr.key.data, 32w0); }
            8: { hdr.result.value = crc32_custom.get_hash(hdr.key.data); }
            9: { hdr.result.value = (bit<32>) crc16_custom.get_hash(hdr.key.data); }
            // A header that is invalid is no part of the data.
            10: {
                hdr.result.setInvalid();
                bit<32> value = crc32.get_hash({ hdr.key.data, hdr.result });
                hdr.result.setValid();
                hdr.result.value = value;
            }
            default: { hdr.result.value = 0xffffffff; }
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
