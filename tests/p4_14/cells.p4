// Resubmit with flags, selection by instance type; counters static and direct; registers by field index.

header_type h_t { fields { k : 8; v : 16; n : 8; } }
header h_t h;
header_type m_t { fields { i : 8; x : 16; round : 8; } }
metadata m_t m;
parser start { extract(h); return ingress; }
register r { width : 16; static : t; instance_count : 4; }
counter c { type : packets; static : t; instance_count : 4; }
counter d { type : packets_and_bytes; direct : t; }
counter b { type : bytes; instance_count : 2; min_width : 64; }
field_list keep { m.round; m.x; }
action tick(i) {
    modify_field(m.i, i); register_read(m.x, r, m.i); add_to_field(m.x, h.v); register_write(r, i, m.x);
    modify_field(h.v, m.x); count(c, i); count(b, h.k);
}
action over() { register_read(m.x, r, 7); modify_field(h.v, m.x); register_write(r, 9, 5); count(c, 100); }
action round(n) {
    add_to_field(m.round, 1); modify_field(m.x, 0x1234); modify_field(h.n, 0xff); resubmit(keep);
}
action show() { modify_field(h.n, m.round); modify_field(h.v, m.x); }
table t { reads { h.k : exact; } actions { tick; over; round; } }
table u { reads { m.round : exact; } actions { show; } }
control ingress { if (standard_metadata.instance_type == 0 or m.round < 3) { apply(t); } else { apply(u); } }
