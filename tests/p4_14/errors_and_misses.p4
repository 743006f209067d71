// Exceptions of the parser with handlers, and what follows hits and misses.
header_type h_t { fields { a : 8; b : 16; c : 32; d : 8; } }
header h_t h;
header_type m_t { fields { x : 8; y : 16; k : 8; } }
metadata m_t m;
parser start { extract(h); return select(h.a) { 1: ok; 2: bad1; default: ingress; } }
parser ok { set_metadata(m.x, h.a << 1); set_metadata(m.y, (h.b & 0xff) + 3); return ingress; }
parser bad1 { parse_error my_err; }
parser_exception my_err { set_metadata(m.k, 9); return on_err; }
parser_exception p4_pe_out_of_packet { set_metadata(m.k, 8); return on_err; }
action out(p) { modify_field(standard_metadata.egress_spec, p); modify_field(h.d, m.k); }
action sig(v) { modify_field(h.c, v); }
table t_err { reads { m.k : exact; } actions { out; } }
table t_ok { reads { m.x : exact; m.y : range; } actions { out; sig; } default_action : out(7); }
control on_err { apply(t_err); }
control ingress { apply(t_ok) { hit { } miss { apply(t2) { sig { apply(t3); } } } } }
table t2 { reads { h.b : lpm; } actions { sig; } }
action never() { no_op(); }
table t3 { actions { never; } default_action : never; }
