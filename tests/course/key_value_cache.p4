// A key-value cache in the network: reads of cached keys are answered by the switch, writes invalidate and go to the server,
// its answers fill the cache; values are spread over an array of registers; hot keys that are not cached are reported once,
// by a bloom filter.
#include <core.p4>
#include <v1model.p4>

enum bit<8> Op { read = 0, write = 1, read_reply = 2, write_reply = 3 }
const bit<9> SERVER = 9;

header query_t {
    Op op;
    bit<64> key;
    bit<64> value;
    bit<8> from_cache;
}
struct headers { query_t q; }
struct metadata {
    bit<8> slot;
    bit<1> valid;
    bit<32> bloom0;
    bit<32> bloom1;
    bit<1> seen0;
    bit<1> seen1;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.q);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<bit<1>>(16) valid;
    register<bit<32>>(16) high;
    register<bit<32>>(16) low;
    register<bit<16>>(16) hits;
    register<bit<1>>(1024) bloom;
    counter(1, CounterType.packets) reports;

    action cached(bit<8> slot) {
        meta.slot = slot;
    }

    table cache {
        key = { hdr.q.key: exact; }
        actions = { cached; @defaultonly NoAction; }
        default_action = NoAction();
        size = 16;
    }

    action answer() {
        bit<32> h;
        bit<32> l;
        high.read(h, (bit<32>) meta.slot);
        low.read(l, (bit<32>) meta.slot);
        hdr.q.value = h ++ l;
        hdr.q.op = Op.read_reply;
        hdr.q.from_cache = 1;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    action fill() {
        high.write((bit<32>) meta.slot, hdr.q.value[63:32]);
        low.write((bit<32>) meta.slot, hdr.q.value[31:0]);
        valid.write((bit<32>) meta.slot, 1);
    }

    apply {
        if (!hdr.q.isValid()) {
            mark_to_drop(standard_metadata);
            return;
        }
        bool is_cached = cache.apply().hit;
        standard_metadata.egress_spec = SERVER;
        switch (hdr.q.op) {
            Op.read: {
                if (is_cached) {
                    valid.read(meta.valid, (bit<32>) meta.slot);
                    if (meta.valid == 1) {
                        answer();
                        bit<16> n;
                        hits.read(n, (bit<32>) meta.slot);
                        hits.write((bit<32>) meta.slot, n |+| 1);
                    }
                } else {
                    hash(meta.bloom0, HashAlgorithm.crc32, 32w0, { hdr.q.key }, 32w512);
                    hash(meta.bloom1, HashAlgorithm.crc16, 32w512, { hdr.q.key }, 32w512);
                    bloom.read(meta.seen0, meta.bloom0);
                    bloom.read(meta.seen1, meta.bloom1);
                    if (meta.seen0 & meta.seen1 == 0) {
                        reports.count(0);
                        digest(1, { hdr.q.key, standard_metadata.ingress_port });
                    }
                    bloom.write(meta.bloom0, 1);
                    bloom.write(meta.bloom1, 1);
                }
            }
            Op.write: {
                if (is_cached) {
                    valid.write((bit<32>) meta.slot, 0);
                }
            }
            Op.read_reply:
            Op.write_reply: {
                if (is_cached) {
                    fill();
                }
                standard_metadata.egress_spec = 1;
            }
            default: { mark_to_drop(standard_metadata); }
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
