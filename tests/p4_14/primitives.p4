// Primitive actions on fields: one action for each, chosen by the first byte; the result is sent back.

header_type h_t {
    fields {
        op : 8;
        a : 8;
        b : 8;
        c : 16;
        s : 8 (signed);
        u : 8 (saturating);
        t : 8 (signed, saturating);
        w : 80;
    }
}

header h_t h;

parser start {
    extract(h);
    return ingress;
}

action nop() { no_op(); }
action set_wide() { modify_field(h.c, h.a); modify_field(h.b, h.c); }
action set_signed() { modify_field(h.c, h.s); modify_field(h.s, h.c); }
action set_masked() { modify_field(h.a, 0x5a, 0x0f); modify_field(h.c, h.b, 0xff0); }
action plus() { add(h.c, h.a, h.b); add_to_field(h.a, -1); add(h.b, h.a, 200); }
action minus() { subtract(h.c, h.a, h.b); subtract_from_field(h.a, h.c); }
action saturated() {
    add_to_field(h.u, 200);
    subtract_from_field(h.a, 200);
    add_to_field(h.t, 100);
}
action saturated_down() { subtract_from_field(h.u, 200); add_to_field(h.t, -100); }
action bits() { bit_and(h.c, h.a, h.b); bit_or(h.a, h.a, 0x80); bit_xor(h.b, h.b, 0xff); bit_not(h.u, h.u); }
action shifts() { shift_left(h.c, h.a, 4); shift_right(h.a, h.c, 4); shift_left(h.b, h.b, h.u); shift_right(h.s, h.s, 1); }
action extremes() { min(h.c, h.a, h.b); max(h.b, h.a, h.b); }
action conditionally() { modify_field_conditionally(h.c, h.a, 0x1111); modify_field_conditionally(h.b, h.u, 0x22); }
action wide() { modify_field(h.w, 0x0123456789abcdef0123); add_to_field(h.w, 1); bit_xor(h.w, h.w, -1); }
action computed() { modify_field(h.c, (h.a + 1) << 1); modify_field(h.b, ~h.b & 0x0f); }
action of_one(target, value) { modify_field(target, value); add_to_field(target, 1); }
action nested(x) { of_one(h.a, x); of_one(h.c, x); of_one(h.b, h.a); }
action more_bits() {
    bit_nand(h.a, h.a, h.b);
    bit_andca(h.c, h.b, 0xffff);
    bit_xnor(h.u, h.u, 0x0f);
}
action swapped() { swap(h.a, h.b); }
action dropped() { drop(); }

table t {
    reads { h.op : exact; }
    actions {
        nop; set_wide; set_signed; set_masked; plus; minus; saturated; saturated_down; bits; shifts; extremes;
        conditionally; wide; computed; nested; more_bits; swapped; dropped;
    }
}

action send() { modify_field(standard_metadata.egress_spec, standard_metadata.ingress_port); }
table back { actions { send; } }

control ingress {
    apply(back);
    apply(t);
}
