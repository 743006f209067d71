// `@pragma` in every place, a register whose cells have the layout of a header type.

@pragma layout_hint packed
header_type h_t {
    fields {
        index : 8;
        left : 16;
        right : 16;
    }
}
header_type cell_t { fields { left : 16; right : 16; } }
header h_t h;
header_type m_t { fields { both : 32; now : 32; } }
@pragma pa_solitary ingress m.both
metadata m_t m;

@pragma entry
parser start {
    extract(h);
    return ingress;
}

@pragma stage 1
register cells { layout : cell_t; instance_count : 4; }

action exchange() {
    register_read(m.both, cells, h.index);
    modify_field(m.now, h.left);
    shift_left(m.now, m.now, 16);
    bit_or(m.now, m.now, h.right);
    register_write(cells, h.index, m.now);
    shift_right(h.left, m.both, 16);
    bit_and(h.right, m.both, 0xffff);
}
@pragma stage 2
@pragma ignore_table_dependency other
table keep { actions { exchange; } default_action : exchange(); }
control ingress { apply(keep); }
