// Action profiles: entries point to members; with a selector, groups of members among which a hash chooses. A masked
// key, the same field twice, a range, and a key on a header's validity under its short name.

header_type h_t {
    fields {
        op : 8;
        flow : 8;
        a : 16;
    }
}

header h_t h;
header h_t h2;

parser start {
    extract(h);
    return select(h.op) {
        2 : parse_second;
        default : ingress;
    }
}
parser parse_second { extract(h2); return ingress; }

field_list flow_list { h.flow; h.op; }
field_list_calculation flow_hash { input { flow_list; } algorithm : identity; output_width : 16; }
action_selector by_flow { selection_key : flow_hash; }

action send(port) { modify_field(standard_metadata.egress_spec, port); }
action tag(value) { modify_field(h.flow, value); }

action_profile members {
    actions { send; }
    size : 8;
    dynamic_action_selection : by_flow;
}

table choose {
    reads { h.op : exact; }
    action_profile : members;
    size : 16;
}

table masked {
    reads {
        h.a mask 0x0ff0 : exact;
        h.a mask 0x000f : ternary;
        h2 : valid;
    }
    actions { tag; }
}

control ingress {
    apply(choose);
    apply(masked);
}
