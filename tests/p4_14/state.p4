// What outlives a packet: counters by index and of a table's entries, meters, registers of several shapes.

header_type h_t {
    fields {
        op : 8;
        index : 8;
        value : 16;
        colour : 8;
    }
}

header h_t h;

header_type m_t { fields { colour : 4; seen : 12; } }
metadata m_t m;

parser start {
    extract(h);
    return ingress;
}

counter by_index {
    type : packets_and_bytes;
    static : work;
    instance_count : 8;
    min_width : 32;
    saturating;
}

counter by_entry {
    type : packets;
    direct : work;
}

meter rates {
    type : packets;
    instance_count : 4;
}

meter entry_rates {
    type : bytes;
    direct : work;
    result : m.colour;
}

register words {
    width : 16;
    instance_count : 16;
}

register signed_bytes {
    width : 8;
    instance_count : 16;
    attributes : signed, saturating;
}

action counted(index) { count(by_index, index); }
action measured() { execute_meter(rates, h.index, h.colour); }
action stored() { register_write(words, h.index, h.value); }
action loaded() { register_read(h.value, words, h.index); }
action stored_signed() { register_write(signed_bytes, 3, -2); }
action loaded_signed() { register_read(h.value, signed_bytes, 3); }
action added_up() {
    register_read(m.seen, words, h.index);
    add_to_field(m.seen, h.value);
    register_write(words, h.index, m.seen);
    modify_field(h.value, m.seen);
}

table work {
    reads { h.op : exact; }
    actions { counted; measured; stored; loaded; stored_signed; loaded_signed; added_up; }
    size : 64;
}

action show() { modify_field(h.colour, m.colour, 0xf0); }
table last { actions { show; } default_action : show(); }

control ingress {
    apply(work);
    apply(last);
}
