// Primitives that programs for hardware use: counting by a hash, deposits with a shift, conditional assignments.

header_type h_t {
    fields {
        op : 8;
        a : 8;
        b : 16;
        c : 16;
    }
}
header h_t h;

parser start {
    extract(h);
    return ingress;
}

field_list flow { h.a; }
field_list_calculation flow_hash {
    input { flow; }
    algorithm : identity;
    output_width : 2;
}
counter flows { type : packets; instance_count : 4; }

action forward() { modify_field(standard_metadata.egress_spec, 1); }
action by_hash() {
    count_from_hash(flows, flow_hash);
    forward();
}
action deposit() {
    modify_field_with_shift(h.b, h.c, 4, 0x0ff0);
    forward();
}
action choose() {
    modify_field_conditionally(h.b, h.a, 0x1111);
    modify_field_conditionally(h.c, h.a > 5, 0x2222);
    forward();
}

table t {
    reads { h.op : exact; }
    actions { by_hash; deposit; choose; }
}

control ingress { apply(t); }
