// Widths: values wider and narrower than fields, negative constants, masks, saturation, shifts beyond the
// width.

header_type h_t {
    fields { op : 8; a : 8; b : 16; c : 4; d : 12; s : 8 (signed); t : 8 (saturating); u : 8 (signed,
    saturating); }
}
header h_t h;
header_type m_t { fields { w : 32; n : 3; } }
metadata m_t m { w : 0xfffffff0; n : 9; }
parser start { extract(h); return ingress; }
action cut() { modify_field(h.a, 0x1234); modify_field(h.c, h.b); modify_field(h.d, h.a); }
action negative() {
    modify_field(h.a, -1); modify_field(h.b, -2); modify_field(h.d, -3); modify_field(h.s, -4);
}
action masked(v) {
    modify_field(h.a, v, 0x0f); modify_field(h.b, h.a, 0xff00); modify_field(h.d, 0xfff, 0x0f0);
}
action sat() { add_to_field(h.t, 0x90); subtract_from_field(h.u, 0x7f); subtract_from_field(h.a, 0x90); }
action sat2() { add_to_field(h.t, -1); add_to_field(h.u, 1); add_to_field(h.s, h.a); }
action sat3() { subtract(h.t, h.a, h.b); add(h.u, h.s, h.s); }
action shl() { shift_left(h.b, h.a, 4); shift_left(h.a, h.a, 9); shift_right(h.d, h.d, h.c); }
action shr() {
    shift_right(h.b, h.b, 15); shift_right(h.a, 0xff0, 4); shift_right(h.s, h.s, 1); shift_left(h.c, 1, h.a);
}
action minmax() { min(h.a, h.a, h.c); max(h.b, h.b, h.d); min(h.s, h.s, h.u); max(h.t, 5, h.t); }
action sign() {
    modify_field(h.b, h.s); modify_field(m.w, h.s); modify_field(h.d, m.w); modify_field(h.a, m.n);
}
action bits() {
    bit_and(h.a, h.b, 0x3c); bit_or(h.c, 5, h.a); bit_xor(h.b, h.b, 0xffff0f0f); bit_not(h.d, h.d);
}
action sums() {
    add(h.a, h.b, 0x101); subtract(h.b, 0, 1); add(h.d, h.d, h.a); add_to_field(h.c, 0x1f);
    subtract_from_field(h.s, 200);
}
action init() { modify_field(h.a, m.n); modify_field(h.b, m.w); }
table t {
    reads { h.op : exact; } actions { cut; negative; masked; sat; sat2; sat3; shl; shr; minmax; sign; bits;
    sums; init; }
}
control ingress { apply(t); }
