// A packet whose copies all copy themselves and go round again: the switch gives up after some thousand passes.

header_type h_t { fields { op : 8; } }
header h_t h;
header_type m_t { fields { one : 8; other : 8; } }
metadata m_t m;

parser start {
    extract(h);
    return ingress;
}

field_list one_list { m.one; }

action multiply() {
    clone_ingress_pkt_to_ingress(1, one_list);
    resubmit(one_list);
}
action send(port) { modify_field(standard_metadata.egress_spec, port); }
table first {
    reads { h.op : exact; }
    actions { multiply; send; }
}

action multiply_later() {
    clone_egress_pkt_to_ingress(1);
    recirculate(one_list);
}
action nop() { }
table second {
    reads { h.op : exact; }
    actions { multiply_later; nop; }
}

control ingress { apply(first); }
control egress { apply(second); }
