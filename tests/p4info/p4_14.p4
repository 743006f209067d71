// A program in P4_14: order, pragmas, widths of indexes, sizes of value sets, constant default actions.
@pragma controller_header packet_in
header_type note_t {
    fields { a : 8; b : 16; }
}
header note_t note;
metadata note_t m;

parser_value_set four;
@pragma parser_value_set_size 16
parser_value_set sixteen;

parser start {
    extract(note);
    return select(latest.a) {
        four : ingress;
        sixteen : ingress;
        default : ingress;
    }
}

counter counts { type : packets_and_bytes; instance_count : 1000; min_width : 48; }
counter hits { type : packets; direct : outer; min_width : 32; }
meter rates { type : bytes; instance_count : 16; }
register cells { width : 24; instance_count : 5; }

field_list l { note.a; }
field_list_calculation by_hash { input { l; } algorithm : crc16; output_width : 14; }
action_selector s { selection_key : by_hash; selection_mode : fair; }
action_profile choices { actions { use; nop; } size : 8; dynamic_action_selection : s; }

action nop() { }
@pragma stage 2 1000
action use(i, j, k, port) {
    count(counts, i);
    execute_meter(rates, j, m.a);
    register_write(cells, k, m.b);
    modify_field(standard_metadata.egress_spec, port);
}
table inner { reads { note.b mask 0xff0 : ternary; note : valid; } actions { use; } const default_action : use(1, 2, 3, 4); }
@pragma ways 4
table outer { reads { note.a : exact; } actions { nop; } size : 16; }
table chosen { reads { note.a : exact; } action_profile : choices; min_size : 1; }
table bare { reads { note.a : exact; } }

control sub { apply(inner); apply(bare); }
control ingress { sub(); apply(outer); apply(chosen); }
