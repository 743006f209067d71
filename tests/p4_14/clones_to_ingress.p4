// Clones to ingress are packets of their own that are parsed from the start: those from ingress have the bytes that
// were received, those from egress the bytes that are sent. Only the metadata of the field list are kept.

header_type h_t {
    fields {
        op : 8;
        a : 8;
        b : 8;
        kind : 8;
    }
}

header h_t h;

header_type m_t { fields { kept : 8; lost : 8; } }
metadata m_t m { kept : 1; lost : 2; }

parser start {
    extract(h);
    return ingress;
}

field_list kept_list { m.kept; }

// What a packet shows of its metadata.
action show() {
    modify_field(h.a, m.kept);
    modify_field(h.b, m.lost);
    modify_field(h.kind, standard_metadata.instance_type);
}

action send(port) {
    show();
    modify_field(standard_metadata.egress_spec, port);
}
action to_reception() {
    show();
    modify_field(standard_metadata.egress_spec, standard_metadata.ingress_port);
}
action twice(port) {
    clone_ingress_pkt_to_ingress(1, kept_list);
    add_to_field(m.kept, 0x10);
    add_to_field(m.lost, 0x10);
    send(port);
}
action twice_without_list(port) {
    add_to_field(m.kept, 0x10);
    clone_i2i(7);
    send(port);
}
action both(port, session) {
    add_to_field(m.kept, 0x20);
    clone_i2i(1, kept_list);
    clone_i2e(session, kept_list);
    send(port);
}
action away() {
    add_to_field(m.kept, 0x30);
    clone_i2i(1, kept_list);
    drop();
}
action for_ever(port) {
    clone_i2i(1);
    send(port);
}

table first {
    reads {
        h.op : exact;
        standard_metadata.instance_type : exact;
    }
    actions { send; to_reception; twice; twice_without_list; both; away; for_ever; }
}

action again() {
    add_to_field(h.op, 1);
    add_to_field(m.kept, 0x40);
    clone_egress_pkt_to_ingress(1, kept_list);
}
action again_and_drop() {
    add_to_field(h.op, 1);
    clone_e2i(1);
    drop();
}
action nop() { }

table second {
    reads {
        h.op : exact;
    }
    actions { again; again_and_drop; nop; }
    default_action : nop();
}

control ingress { apply(first); }
control egress { apply(second); }
