// A header with a field of variable length, whose length another of its fields says; a value set; an exception with a
// handler; a parser that ends in one of two controls.

header_type first_t { fields { kind : 8; } }

header_type options_t {
    fields {
        length_words : 4;
        flags : 4;
        kind : 8;
        data : *;
    }
    length : length_words * 2 + 2;
    max_length : 10;
}

header_type m_t { fields { why : 8; } }

header first_t first;
header options_t options;
metadata m_t m;

parser_value_set known_kinds;

parser start {
    extract(first);
    return select(latest.kind) {
        known_kinds : special;
        1 : parse_options;
        2 : parse_error odd_kind;
        default : ingress;
    }
}

parser parse_options {
    extract(options);
    set_metadata(m.why, options.kind);
    return ingress;
}

parser special { return other_way; }

parser_exception odd_kind {
    set_metadata(m.why, 0x77);
    return handler;
}

parser_exception p4_pe_header_too_long {
    parser_drop;
}

action mark(value, port) {
    modify_field(first.kind, value);
    modify_field(standard_metadata.egress_spec, port);
}
action show() { modify_field(first.kind, m.why); }
action longer() { add_to_field(options.kind, 1); modify_field(options.flags, 0xf); }

table normal { reads { options : valid; } actions { longer; show; } }
table other { actions { mark; } default_action : mark(0xee, 2); }
table handled { actions { show; } default_action : show; }

control ingress { apply(normal); }
control other_way { apply(other); }
control handler { apply(handled); }
