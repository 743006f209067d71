// Packets that go round again keep the fields of their list as they are when the control ends, whoever has written
// them: parameters of actions and controls, entries, slices, elements at a computed place. Resubmitted from ingress, or
// recirculated from egress if the first bit of `form` is set.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<1> late;
    bit<7> form;
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<8> e;
    bit<16> f;
    bit<16> g;
}

struct inner_t {
    bit<8> x;
    bit<8> y;
}

struct metadata {
    @field_list(1)
    inner_t inner;
    @field_list(1, 2)
    bit<16> word;
    @field_list(2)
    bit<8>[2] pair;
    bit<8> lost;
}

struct headers {
    h_t h;
}

void ask_in_ingress() {
    resubmit_preserving_field_list(2);
}

control IngressAsker(inout metadata meta, in bit<8> value) {
    action write(inout inner_t inner, in bit<8> given) {
        inner = { given, inner.x };
        resubmit_preserving_field_list(1);
    }
    apply {
        write(meta.inner, value);
    }
}

void ask_in_egress() {
    recirculate_preserving_field_list(2);
}

control EgressAsker(inout metadata meta, in bit<8> value) {
    action write(inout inner_t inner, in bit<8> given) {
        inner = { given, inner.x };
        recirculate_preserving_field_list(1);
    }
    apply {
        write(meta.inner, value);
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action by_out(out bit<8> value, in bit<8> given) {
        value = given;
        resubmit_preserving_field_list(1);
        // Copied out when the action ends, which is before the control does.
        value = value + 1;
    }
    action by_inout(inout bit<16> value, inout bit<8> other) {
        resubmit_preserving_field_list(2);
        value = value + 1;
        other = other | 0x80;
    }
    action by_entry(bit<8> value) {
        meta.inner.y = value;
        resubmit_preserving_field_list(1);
    }
    table entries_of_ingress {
        key = { hdr.h.a: exact; }
        actions = { by_entry; NoAction; }
    }
    IngressAsker() asker;
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type != 0) {
            hdr.h.a = meta.inner.x;
            hdr.h.b = meta.inner.y;
            hdr.h.c = meta.word[15:8];
            hdr.h.d = meta.word[7:0];
            hdr.h.f = meta.pair[0] ++ meta.pair[1];
            hdr.h.g = meta.lost ++ (bit<8>) standard_metadata.instance_type;
        }
        if (standard_metadata.instance_type != 0 || hdr.h.late == 1) {
            return;
        }
        hdr.h.e = 0xee;
        meta.inner = { 1, 2 };
        meta.word = 0x0304;
        meta.pair[0] = 5;
        meta.pair[1] = 6;
        meta.lost = 7;
        switch (hdr.h.form) {
            1: { by_out(meta.inner.x, hdr.h.a); }
            2: { by_inout(meta.word, meta.pair[1]); }
            3: { entries_of_ingress.apply(); }
            4: { resubmit_preserving_field_list(1); meta.word[11:4] = hdr.h.a; }
            5: { resubmit_preserving_field_list(2); meta.pair[hdr.h.a] = 0x55; }
            6: { asker.apply(meta, hdr.h.a); }
            7: { ask_in_ingress(); meta.word = meta.word << 8; }
            8: { resubmit_preserving_field_list(1); resubmit_preserving_field_list(2); }
            9: { if (!entries_of_ingress.apply().hit) { resubmit_preserving_field_list(2); exit; } meta.word = 0; }
            10: { resubmit_preserving_field_list(1); meta = { { 8, 9 }, 0x0a0b, meta.pair, 0 }; }
            11: { resubmit_preserving_field_list(0); }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action by_out(out bit<8> value, in bit<8> given) {
        value = given;
        recirculate_preserving_field_list(1);
        // Copied out when the action ends, which is before the control does.
        value = value + 1;
    }
    action by_inout(inout bit<16> value, inout bit<8> other) {
        recirculate_preserving_field_list(2);
        value = value + 1;
        other = other | 0x80;
    }
    action by_entry(bit<8> value) {
        meta.inner.y = value;
        recirculate_preserving_field_list(1);
    }
    table entries_of_egress {
        key = { hdr.h.a: exact; }
        actions = { by_entry; NoAction; }
    }
    EgressAsker() asker;
    apply {
        // The second pass: in egress, it is a normal packet.
        if (hdr.h.g != 0 || hdr.h.late == 0) {
            return;
        }
        hdr.h.e = 0xee;
        meta.inner = { 1, 2 };
        meta.word = 0x0304;
        meta.pair[0] = 5;
        meta.pair[1] = 6;
        meta.lost = 7;
        switch (hdr.h.form) {
            1: { by_out(meta.inner.x, hdr.h.a); }
            2: { by_inout(meta.word, meta.pair[1]); }
            3: { entries_of_egress.apply(); }
            4: { recirculate_preserving_field_list(1); meta.word[11:4] = hdr.h.a; }
            5: { recirculate_preserving_field_list(2); meta.pair[hdr.h.a] = 0x55; }
            6: { asker.apply(meta, hdr.h.a); }
            7: { ask_in_egress(); meta.word = meta.word << 8; }
            8: { recirculate_preserving_field_list(1); recirculate_preserving_field_list(2); }
            9: { if (!entries_of_egress.apply().hit) { recirculate_preserving_field_list(2); exit; } meta.word = 0; }
            10: { recirculate_preserving_field_list(1); meta = { { 8, 9 }, 0x0a0b, meta.pair, 0 }; }
            11: { recirculate_preserving_field_list(0); }
        }
    }
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
