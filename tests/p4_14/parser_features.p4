// The parser: stacks with `next`, `latest` behind several extracts, `current`, keys that are joined, masks, cases with
// several values, `set_metadata`, first values of metadata, and a state that nothing reaches which says where a header
// goes.

header_type head_t {
    fields {
        kind : 8;
        count : 8;
    }
}

header_type label_t {
    fields {
        label : 7;
        bottom : 1;
    }
}

header_type tail_t {
    fields {
        value : 16;
    }
}

header_type meta_t {
    fields {
        first : 8;
        ahead : 8;
        path : 4;
        preset : 12;
    }
}

header head_t head;
header label_t labels[3];
header tail_t tail;
header tail_t added;
metadata meta_t meta { preset : 0xabc; path : -1; }

parser start {
    set_metadata(meta.first, current(0, 8));
    extract(head);
    return select(latest.kind, head.count) {
        0x0100 : ingress;
        0x0200, 0x0201 mask 0xffff : parse_labels;
        0x0300 mask 0xff00 : parse_tail;
        default : parse_other;
    }
}

parser parse_labels {
    extract(labels[next]);
    return select(latest.bottom) {
        0 : parse_labels;
        1 : parse_tail;
    }
}

parser parse_tail {
    extract(tail);
    set_metadata(meta.ahead, latest.value);
    set_metadata(meta.path, 2);
    return ingress;
}

parser parse_other {
    set_metadata(meta.ahead, current(4, 8));
    return select(current(0, 4)) {
        0xf : parse_tail;
        default : ingress;
    }
}

// Not reached; `added` goes between the labels and the tail.
parser where_added_goes {
    extract(labels[next]);
    return parse_added;
}

parser parse_added {
    extract(added);
    return parse_tail;
}

action report(port) {
    modify_field(standard_metadata.egress_spec, port);
    add_header(added);
    modify_field(added.value, meta.preset);
    modify_field(head.count, meta.path);
    add_to_field(head.count, meta.ahead);
}

table t {
    reads {
        meta.first : exact;
    }
    actions {
        report;
    }
}

control ingress {
    apply(t);
}
