// Headers that are removed and added again, copied from invalid ones, pushed; fields of header that are
// invalid.

header_type h_t { fields { a : 8; b : 8; } }
header h_t h; header h_t g; header h_t x; header h_t s[3];
header_type sel_t { fields { op : 8; } }
header sel_t sel;
parser start { extract(sel); return select(sel.op) { 0x80 mask 0x80 : both; default : one; } }
parser both { extract(h); extract(g); return ingress; }
parser one { extract(h); return select(current(0, 8)) { 0xcc : stack; default : ingress; } }
parser stack { extract(s[next]); return select(latest.b) { 1 : stack; default : ingress; } }
parser never { extract(x); return ingress; }
action again() { remove_header(h); add_header(h); }
action once_more() { add_header(h); modify_field(h.b, h.b); }
action copy_invalid() { copy_header(h, g); }
action copy_valid() { copy_header(h, g); modify_field(g.a, 0x77); }
action add_g() { add_header(g); modify_field(g.b, h.a); }
action add_x() { add_header(x); modify_field(x.a, 0xee); }
action read_invalid() { modify_field(g.a, 5); modify_field(h.a, g.a); }
action pushed() { push(s, 1); modify_field(s[0].a, 0x11); }
action pushed2() { push(s, 2); modify_field(s[0].b, s[2].a); }
action popped() { pop(s, 1); }
table t {
    reads { sel.op : exact; } actions { again; once_more; copy_invalid; copy_valid; add_g; add_x; read_invalid;
    pushed; pushed2; popped; }
}
control ingress { apply(t); }
