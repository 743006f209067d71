// Sessions of clones in every form that an argument has: parameters of each direction, action data, copies, members,
// slices, elements at fixed and computed places. The same in ingress and, if the first bit of `form` is set, in egress.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<1> late;
    bit<7> form;
    bit<8> mark;
    bit<8> place;
    bit<16> word;
    bit<32> session;
}

header cell_t {
    bit<32> value;
}

struct inner_t {
    bit<32> session;
    bit<8> rest;
}

struct metadata {
    @field_list(1)
    bit<8> kept;
    inner_t inner;
    bit<32> copy;
}

struct headers {
    h_t h;
    cell_t[2] cells;
    cell_t absent;
}

bit<32> next_session(in bit<32> session) {
    return session + 1;
}

// A request is made by a function as by the control that calls it.
void copy_to(in bit<32> session) {
    clone(CloneType.I2E, session);
}

void late_copy_to(in bit<32> session) {
    clone(CloneType.E2E, session);
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.cells.next);
        packet.extract(hdr.cells.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action by_in(in bit<32> session) {
        // The argument was copied before.
        hdr.h.session = 0;
        clone(CloneType.I2E, session);
    }
    action by_inout(inout bit<32> session) {
        session = session + 1;
        clone(CloneType.I2E, session);
    }
    action by_out(out bit<32> session) {
        session = 7;
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }
    action by_entry(bit<32> session, bit<8> value) {
        meta.kept = value;
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }
    table entries {
        key = { hdr.h.place: exact; }
        actions = { by_entry; NoAction; }
    }
    apply {
        standard_metadata.egress_spec = 2;
        meta.kept = 0x0a;
        meta.inner.session = 5;
        if (hdr.h.late == 1) {
            return;
        }
        switch (hdr.h.form) {
            1: { by_in(hdr.h.session); }
            2: { by_inout(meta.inner.session); hdr.h.session = meta.inner.session; }
            3: { by_out(meta.copy); hdr.h.session = meta.copy; }
            4: { entries.apply(); }
            5: { bit<32> copy = hdr.h.session; hdr.h.session = 9; clone(CloneType.I2E, copy); }
            6: { clone(CloneType.I2E, (bit<32>) hdr.h.word[11:4]); }
            7: { clone(CloneType.I2E, hdr.cells[1].value); }
            8: { clone(CloneType.I2E, hdr.cells[hdr.h.place].value); }
            9: { by_inout(hdr.cells[hdr.h.place].value); }
            10: { clone(CloneType.I2E, hdr.absent.value); }
            11: { clone(CloneType.I2E, next_session(hdr.h.session)); }
            12: { copy_to(hdr.h.session); copy_to(session = hdr.h.session + 1); }
            13: { by_inout(hdr.h.session); by_inout(hdr.h.session); }
            14: { by_out(hdr.h.session); clone(CloneType.I2E, 5); }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action by_in(in bit<32> session) {
        hdr.h.session = 0;
        clone(CloneType.E2E, session);
    }
    action by_inout(inout bit<32> session) {
        session = session + 1;
        clone(CloneType.E2E, session);
    }
    action by_out(out bit<32> session) {
        session = 7;
        clone_preserving_field_list(CloneType.E2E, session, 1);
    }
    action by_entry(bit<32> session, bit<8> value) {
        meta.kept = value;
        clone_preserving_field_list(CloneType.E2E, session, 1);
    }
    table late_entries {
        key = { hdr.h.place: exact; }
        actions = { by_entry; NoAction; }
    }
    apply {
        hdr.h.mark = (bit<8>) (standard_metadata.instance_type << 4) | meta.kept;
        if (hdr.h.late == 0 || standard_metadata.instance_type != 0) {
            return;
        }
        switch (hdr.h.form) {
            1: { by_in(hdr.h.session); }
            2: { by_inout(meta.inner.session); hdr.h.session = meta.inner.session; }
            3: { by_out(meta.copy); hdr.h.session = meta.copy; }
            4: { late_entries.apply(); }
            5: { bit<32> copy = hdr.h.session; hdr.h.session = 9; clone(CloneType.E2E, copy); }
            6: { clone(CloneType.E2E, (bit<32>) hdr.h.word[11:4]); }
            7: { clone(CloneType.E2E, hdr.cells[1].value); }
            8: { clone(CloneType.E2E, hdr.cells[hdr.h.place].value); }
            9: { by_inout(hdr.cells[hdr.h.place].value); }
            10: { clone(CloneType.E2E, hdr.absent.value); }
            11: { clone(CloneType.E2E, next_session(hdr.h.session)); }
            12: { late_copy_to(hdr.h.session); late_copy_to(session = hdr.h.session + 1); }
            13: { by_inout(hdr.h.session); by_inout(hdr.h.session); }
            14: { by_out(hdr.h.session); clone(CloneType.E2E, 5); }
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
