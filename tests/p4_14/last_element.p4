// `stack[last]` in actions, conditions and keys is the valid element with the greatest index.

header_type tag_t {
    fields {
        more : 1;
        value : 7;
    }
}

header_type out_t { fields { op : 8; seen : 8; } }

header out_t out;
header tag_t tags[4];

header_type m_t { fields { sum : 8; } }
metadata m_t m;

parser start {
    extract(out);
    return select(current(0, 1)) {
        1 : tag;
        default : tag;
    }
}

parser tag {
    extract(tags[next]);
    return select(tags[last].more) {
        1 : tag;
        default : ingress;
    }
}

action show() { modify_field(out.seen, tags[last].value); }
action mark() { modify_field(tags[last].value, 0x7f); }
action cut() {
    remove_header(tags[last]);
    modify_field(tags[last].more, 0);
}
action sum() { add(out.seen, tags[last].value, tags[0].value); }
action number(value) { modify_field(out.seen, value); }
action forward() { modify_field(standard_metadata.egress_spec, 1); }

table by_op {
    reads { out.op : exact; }
    actions { show; mark; cut; sum; }
}
table by_last {
    reads {
        tags[last].value : exact;
        tags[last] : valid;
    }
    actions { number; }
}
table out_of_1 { actions { forward; } default_action : forward; }

control ingress {
    apply(out_of_1);
    if (out.op == 9) {
        apply(by_last);
    } else {
        if (not valid(tags[last]) or tags[last].value != 0x55) {
            apply(by_op);
        }
    }
}
