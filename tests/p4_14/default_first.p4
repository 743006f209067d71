// `default` of a `select` counts where nothing else matches, wherever it stands.

header_type h_t { fields { a : 8; b : 8; } }
header h_t h;
header_type x_t { fields { x : 8; } }
header x_t x;
parser start { extract(h); return select(h.a) { default : ingress; 1, 2 : px; } }
parser px { extract(x); return ingress; }
action go() { modify_field(x.x, 0xff); modify_field(standard_metadata.egress_spec, 1); }
table t { actions { go; } default_action : go; }
control ingress { apply(t); }
