// An action selector: groups and members in the commands, the member by the hash of the fields.

header_type h_t { fields { dst : 8; a : 8; b : 8; } }
header h_t h;
parser start { extract(h); return ingress; }
field_list f { h.a; h.b; }
field_list_calculation c { input { f; } algorithm : identity; output_width : 16; }
action_selector sel { selection_key : c; }
action_profile prof { actions { nop; out; } size : 16; dynamic_action_selection : sel; }
action nop() { }
action out(p) { modify_field(standard_metadata.egress_spec, p); }
table ecmp { reads { h.dst : exact; } action_profile : prof; }
table after { reads { h.dst : exact; } actions { nop; mark; } default_action : mark(0xee); }
action mark(v) { modify_field(h.b, v); }
control ingress { apply(ecmp) { miss { apply(after); } } }
