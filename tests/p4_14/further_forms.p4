// Forms that P4_14 programs use beside the plainest ones: one name for a header and metadata, assignments in parser
// states, cases with a value for each key, validity as a field, constant default actions, returns in controls.
@pragma a program of its own

header_type h_t {
    fields {
        bit<8> kind;
        bit<3> high;
        bit low;
        bit<4> rest;
        bit<16> value;
    }
}

header_type note_t {
    fields {
        kind : 8;
        seen : 16;
    }
}

header h_t h;
metadata note_t h;
header_type v_t { fields { valid : 8; } }
header v_t v;

parser start {
    extract(h);
    h.seen = latest.value + 1;
    set_metadata(h.kind, latest.kind);
    return select(h.kind, latest.low) {
        @pragma in the middle
        (1, 0) : with_v;
        (2 mask 3, 1) : with_v;
        default : ingress;
    }
    return with_v;
}

parser with_v {
    extract(v);
    return ingress;
}

action nop() { }

action send(in bit<9> port) {
    standard_metadata.egress_spec = port;
}

action mark(by) {
    modify_field(h.value, min(h.seen, by));
    h.rest = (bit<2>) by;
}

action count_valid() {
    add_to_field(h.value, h.valid);
    add_to_field(v.valid, 1);
}

action set_high() {
    modify_field(h.high, 7);
}

table last { actions { set_high; } default_action : set_high(); }
table forward { actions { send; } const default_action : send(2); }
table nothing { reads { h.kind : exact; } }
table marking { reads { v.valid : exact; v : valid; } actions { nop; mark; } default_action : nop(); }
table counting { reads { h.valid : exact; } actions { count_valid; } }

control sub {
    if (h.rest == 15) {
        return;
    }
    apply(marking) {
        hit {
            return;
        }
    }
    apply(counting);
}

control ingress {
    apply(forward);
    apply(nothing);
    sub();
    if (h.rest == 14) {
        return;
    }
    apply(last);
}
