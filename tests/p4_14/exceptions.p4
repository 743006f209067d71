// A stack read in a circle, several keys in one select, exceptions and what runs behind them, two controls as ends.

header_type h_t { fields { a : 8; b : 8; c : 16; } }
header h_t h;
header_type s_t { fields { v : 4; last : 4; } }
header s_t s[3];
header_type o_t { fields { kind : 8; len : 8; data : *; } length : len; max_length : 6; }
header o_t o[2];
header_type m_t { fields { n : 8; st : 8; } } metadata m_t m;
parser start {
    extract(h); set_metadata(m.n, 1);
    return select(latest.a, latest.b) {
        0x0101, 0x0202 : stack; 0x0300 mask 0xff00 : opt; 0x0400 mask 0xfff0 : bad; default : ingress;
    }
}
parser stack {
    extract(s[next]); set_metadata(m.n, latest.v);
    return select(s[last].last, current(0, 4)) {
        0x05 : done; 0x00 mask 0xf0 : stack; default : ingress;
    }
}
parser done { set_metadata(m.n, 0xdd); return other; }
parser opt {
    extract(o[next]);
    return select(latest.kind) {
        0 : opt; default : ingress;
    }
}
parser bad { parse_error p4_pe_default; }
parser_exception p4_pe_out_of_packet { set_metadata(m.st, 1); return other; }
parser_exception p4_pe_index_out_of_bounds { set_metadata(m.st, 2); return ingress; }
parser_exception p4_pe_header_too_long { set_metadata(m.st, 3); return ingress; }
parser_exception p4_pe_default { set_metadata(m.st, 9); parser_drop; }
action a() { modify_field(h.c, m.n); add_header(s[0]); }
action b() { modify_field(h.c, m.st, 0xff); modify_field(standard_metadata.egress_spec, 2); }
table t { actions { a; } default_action : a; }
table u { actions { b; } default_action : b; }
control ingress { if (m.st != 0) { apply(u); } else { apply(t); } }
control other { apply(u); }
