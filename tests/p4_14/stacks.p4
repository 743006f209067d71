// Header stacks in actions: `push` makes the new elements valid, `pop` removes from the front; elements have indexes;
// headers are added, removed and copied; a key on an element and one on its validity.

header_type n_t {
    fields {
        count : 8;
    }
}

header_type e_t {
    fields {
        more : 1;
        value : 7;
    }
}

header n_t n;
header e_t extra[4];
header e_t other;

parser start {
    extract(n);
    return select(latest.count) {
        0 : ingress;
        default : parse_extra;
    }
}

parser parse_extra {
    extract(extra[next]);
    return select(latest.more) {
        1 : parse_extra;
        default : parse_other;
    }
}

parser parse_other {
    extract(other);
    return ingress;
}

action do_push() { push(extra, 1); modify_field(extra[0].value, 0x55); }
action do_push_two() { push(extra, 2); }
action do_pop() { pop(extra, 1); }
action do_remove() { remove_header(extra[1]); }
action do_copy() { copy_header(extra[3], other); remove_header(other); }
action do_add() { add_header(extra[2]); modify_field(extra[2].value, 1); }

table by_element {
    reads {
        n.count : exact;
        extra[0].value : ternary;
        extra[1] : valid;
    }
    actions { do_push; do_push_two; do_pop; do_remove; do_copy; do_add; }
}

control ingress {
    apply(by_element);
}
