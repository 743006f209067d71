// Gateways: comparisons with constants of any size, between widths, in any nesting.

header_type h_t { fields { a : 8; b : 16; c : 8 (signed); r : 8; } }
header h_t h;
parser start { extract(h); return ingress; }
action set(bit) { bit_or(h.r, h.r, bit); }
action b0() { set(1); }
action b1() { set(2); }
action b2() { set(4); }
action b3() { set(8); }
action b4() { set(0x10); }
action b5() { set(0x20); }
action b6() { set(0x40); }
action b7() { set(0x80); }
table t0 { actions { b0; } default_action : b0; }
table t1 { actions { b1; } default_action : b1; }
table t2 { actions { b2; } default_action : b2; }
table t3 { actions { b3; } default_action : b3; }
table t4 { actions { b4; } default_action : b4; }
table t5 { actions { b5; } default_action : b5; }
table t6 { actions { b6; } default_action : b6; }
table t7 { actions { b7; } default_action : b7(); }
control ingress {
    if (h.a == 0x105) { apply(t0); }
    if (h.a < 0x100) { apply(t1); }
    if (h.a == h.b) { apply(t2); }
    if (h.c < 0) { apply(t3); }
    if (h.c > -3) { apply(t4); }
    // Bits are joined before they are compared.
    if (h.a & 0x0f == 5 and 0 != h.b >> 8 & 0x7f) { apply(t5); } else { if (h.a + 0xff > h.a) { apply(t6); } }
    if (not (h.a == 5 or h.b == 5)) { apply(t7); }
}
