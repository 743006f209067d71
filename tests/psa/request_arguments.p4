// Ports, groups and sessions of requests in every form that an argument has; requests of actions, functions and
// controls that get the output metadata, or parts of it, as a parameter.
#include <core.p4>
#include <psa.p4>

header h_t {
    bit<8>  form;
    bit<8>  place;
    bit<16> word;
    bit<32> port;
}

header cell_t {
    bit<32> value;
}

struct headers_t {
    h_t       h;
    cell_t[2] cells;
}

#include "plain.inc"

void go(inout psa_ingress_output_metadata_t given, in bit<32> port) {
    given.drop = false;
    given.multicast_group = (MulticastGroup_t) 0;
    given.egress_port = (PortId_t) port;
}

control Stopper(inout psa_ingress_output_metadata_t given) {
    apply {
        ingress_drop(given);
    }
}

control Copier(inout bool wanted, out CloneSessionId_t session, in bit<16> number) {
    apply {
        wanted = !wanted;
        session = (CloneSessionId_t) number;
    }
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.cells.next);
        packet.extract(hdr.cells.next);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Copier() copier;
    Stopper() stopper;
    action by_in(in bit<32> port) {
        hdr.h.port = 0;
        send_to_port(ostd, (PortId_t) port);
    }
    action by_parts(out bool drop, inout PortId_t port, inout MulticastGroup_t group) {
        drop = false;
        port = (PortId_t) ((bit<32>) port + 2);
        group = (MulticastGroup_t) 0;
    }
    action to_group(MulticastGroup_t group) {
        multicast(ostd, group);
    }
    table groups {
        key = { hdr.h.place: exact; }
        actions = { to_group; NoAction; }
    }
    apply {
        switch (hdr.h.form) {
            1: { by_in(hdr.h.port); }
            2: { go(ostd, hdr.cells[1].value); }
            3: { go(port = hdr.cells[hdr.h.place].value, given = ostd); }
            4: { groups.apply(); }
            5: { psa_ingress_output_metadata_t copy = ostd; go(copy, 3); }
            6: { psa_ingress_output_metadata_t copy = ostd; go(copy, 3); ostd = copy; }
            7: { by_parts(ostd.drop, ostd.egress_port, ostd.multicast_group); }
            8: { multicast(ostd, (MulticastGroup_t) 1); go(ostd, (bit<32>) hdr.h.word[11:4]); }
            9: { go(ostd, 2); stopper.apply(ostd); copier.apply(ostd.clone, ostd.clone_session_id, hdr.h.word); }
            10: { go(ostd, 2); copier.apply(ostd.clone, ostd.clone_session_id, (bit<16>) hdr.h.word[11:4]); }
            11: {
                copier.apply(ostd.clone, ostd.clone_session_id, 5);
                copier.apply(ostd.clone, ostd.clone_session_id, 6);
            }
            12: { multicast(ostd, (MulticastGroup_t) hdr.cells[hdr.h.place].value); hdr.cells[1].value = 0xffffffff; }
        }
    }
}

#include "main.inc"
