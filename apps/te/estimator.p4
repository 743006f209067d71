// How much a port carries: U becomes D + U (1 - dt / span) with each packet of D bytes, so it needs no clock but that of
// packets.

control Estimator(inout metadata_t meta, in standard_metadata_t standard, in bit<9> port, in bit<32> bytes) {
    register<bit<32>>(512) sent_bytes;
    register<bit<48>>(512) sent_at;
    bit<8> span_shift = 0;
    bit<48> now = standard.ingress_global_timestamp;

    // The span is 2 to the power of the shift in microseconds.
    action set_span(bit<8> shift) {
        span_shift = shift;
    }

    table estimator {
        actions = {
            set_span;
        }
        default_action = set_span(10);
    }

    apply {
        estimator.apply();
        bit<32> before;
        bit<48> then;
        sent_bytes.read(before, (bit<32>) port);
        sent_at.read(then, (bit<32>) port);
        bit<48> gone = now - then;
        bit<64> lost = ((bit<64>) before * (bit<64>) gone) >> span_shift;
        meta.utilisation = (gone >> span_shift) != 0 ? 32w0 : before |-| (bit<32>) lost;
        if (bytes != 0) {
            meta.utilisation = meta.utilisation |+| bytes;
            sent_bytes.write((bit<32>) port, meta.utilisation);
            sent_at.write((bit<32>) port, now);
        }
    }
}
