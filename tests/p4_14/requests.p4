// Requests that meet: clones, resubmission, recirculation, multicast and drops in one pass, and what field lists keep.

header_type h_t { fields { op : 8; a : 8; n : 8; it : 8; } }
header h_t h;
header_type m_t { fields { n : 8; x : 8; } }
metadata m_t m;
header_type im_t { fields { mcast_grp : 16; egress_rid : 16; } }
metadata im_t intrinsic_metadata;

parser start { extract(h); return ingress; }

field_list both { m.n; m.x; }
field_list one { m.x; standard_metadata.ingress_port; }

action mark() {
    modify_field(h.it, standard_metadata.instance_type);
    modify_field(h.n, m.n);
    modify_field(h.a, m.x);
}
action out(port) { modify_field(standard_metadata.egress_spec, port); }
action clone_and_resubmit() {
    add_to_field(m.n, 1);
    modify_field(m.x, 7);
    clone_ingress_pkt_to_egress(1, both);
    resubmit(both);
    out(2);
}
action clone_and_drop() {
    modify_field(m.x, 9);
    clone_ingress_pkt_to_egress(1, both);
    drop();
}
action clone_and_group() {
    modify_field(m.x, 8);
    clone_ingress_pkt_to_egress(1, both);
    modify_field(intrinsic_metadata.mcast_grp, 3);
}
action two_clones() {
    modify_field(m.x, 1);
    clone_ingress_pkt_to_egress(1, both);
    modify_field(m.x, 2);
    clone_ingress_pkt_to_egress(2, one);
    out(5);
}
action drop_and_out() {
    drop();
    out(5);
}
action drop_and_resubmit() {
    add_to_field(m.n, 1);
    drop();
    resubmit(both);
}
table first {
    reads { h.op : exact; m.n : exact; }
    actions { out; clone_and_resubmit; clone_and_drop; clone_and_group; two_clones; drop_and_out; drop_and_resubmit; }
}

action around() {
    add_to_field(m.n, 1);
    modify_field(h.a, 0x55);
    recirculate(both);
}
action clone_and_around() {
    add_to_field(m.n, 1);
    modify_field(h.a, 0x66);
    modify_field(m.x, 3);
    clone_egress_pkt_to_egress(2, one);
    recirculate(both);
}
action drop_and_clone() {
    modify_field(m.x, 4);
    modify_field(h.a, 0x77);
    clone_egress_pkt_to_egress(2, one);
    drop();
}
action drop_and_around() {
    recirculate(both);
    drop();
}
table last {
    reads { h.op : exact; standard_metadata.instance_type : exact; m.n : exact; }
    actions { mark; around; clone_and_around; drop_and_clone; drop_and_around; }
    default_action : mark;
}

control ingress { apply(first); }
control egress { apply(last); }
