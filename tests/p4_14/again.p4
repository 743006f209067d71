// Packets that go round: resubmission and recirculation keep the metadata of a field list, other metadata has its
// first values again; clones to egress keep theirs; `truncate` and multicast.

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

header_type intrinsic_metadata_t {
    fields {
        mcast_grp : 4;
        egress_rid : 4;
        lf_field_list : 32;
        resubmit_flag : 16;
    }
}
metadata intrinsic_metadata_t intrinsic_metadata;

parser start {
    extract(h);
    return ingress;
}

field_list kept_list { m.kept; standard_metadata.ingress_port; }
field_list all_list { m; }

action send(port) { modify_field(standard_metadata.egress_spec, port); }
action again(port) {
    add_to_field(m.kept, 0x10);
    add_to_field(m.lost, 0x10);
    send(port);
    resubmit(kept_list);
}
action to_group(group) { modify_field(intrinsic_metadata.mcast_grp, group); }
action mirror(session) {
    add_to_field(m.kept, 0x20);
    modify_field(standard_metadata.egress_spec, 3);
    clone_ingress_pkt_to_egress(session, kept_list);
}
action short(length) { send(3); truncate(length); }

table first {
    reads {
        h.op : exact;
        standard_metadata.instance_type : ternary;
    }
    actions { send; again; to_group; mirror; short; }
}

action show() {
    modify_field(h.a, m.kept);
    modify_field(h.b, m.lost);
    modify_field(h.kind, standard_metadata.instance_type);
}
action show_replica() {
    show();
    modify_field(h.op, intrinsic_metadata.egress_rid, 0x0f);
}
action show_and_clone(session) {
    show();
    add_to_field(m.kept, 0x40);
    clone_e2e(session, all_list);
}
action around() {
    modify_field(h.op, 0x42);
    add_to_field(m.kept, 0x20);
    add_to_field(m.lost, 0x20);
    recirculate(kept_list);
}

table second {
    reads {
        h.op : exact;
        standard_metadata.instance_type : exact;
    }
    actions { show; show_replica; show_and_clone; around; }
    default_action : show();
}

control ingress { apply(first); }
control egress { apply(second); }
