// Control flow: conditions, controls that call each other, what runs after a hit, a miss or a certain action, default
// actions with arguments, and names that are keywords of P4_16.

header_type key {
    fields {
        type : 8;
        state : 8;
        error : 8;
        in : 8;
    }
}

header key key;

header_type table_t { fields { apply : 8; transition : 4; } }
metadata table_t const;

parser start {
    extract(key);
    return ingress;
}

action out(in, port) {
    modify_field(key.in, in);
    modify_field(standard_metadata.egress_spec, port);
}

action mark(bit) { modify_field(key.error, bit); }
action add_state(value) { add_to_field(key.state, value); }
action NoAction() { modify_field(key.error, 0xee); }
action header() { modify_field(const.apply, 9); }

table type {
    reads { key.type : exact; }
    actions { out; NoAction; header; }
    default_action : out(0xff, 7);
}

table found { actions { mark; } default_action : mark(0xaa); }
table not_found { actions { mark; } default_action : mark(0xbb); }
table again { actions { add_state; } default_action : add_state(1); }
table package { actions { mark; } default_action : mark(0xcc); }

control switch {
    apply(again);
    apply(again);
}

control ingress {
    apply(type) {
        hit { apply(found); }
        miss { apply(not_found); }
    }
    if (key.state == 0x10 or (not valid(key) and key.state < 3)) {
        switch();
    } else if (key.state >= 0x20 && key.state - 1 != 0x30) {
        switch();
        switch();
    } else {
        apply(again);
    }
    if (const.apply != 0) {
        apply(package);
    }
}

table after { reads { key.state : exact; } actions { NoAction; mark; add_state; } }
table other { actions { add_state; } default_action : add_state(0x80); }
table third { actions { add_state; } default_action : add_state(0x40); }

control egress {
    apply(after) {
        mark { apply(other); }
        default { apply(third); }
    }
}
