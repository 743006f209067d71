// A tag for the way up and down a tree of switches goes between a VLAN tag and IPv4, whose options have
// variable length; a direct counter counts where it was put, a direct meter measures what leaves with it.

header_type frame_t { fields { to : 48; from : 48; kind : 16; } }
header_type vlan_t { fields { priority : 3; drop : 1; number : 12; kind : 16; } }
header_type way_t { fields { up : 8; down : 8; kind : 16; } }
header_type ip_t {
    fields { version : 4; words : 4; rest : 120; to : 32; options : *; }
    length : words * 4;
    max_length : 60;
}
header_type own_t { fields { is_outside : 1; had_way : 1; colour : 8; } }
header frame_t frame;
header vlan_t vlan;
header way_t way;
header ip_t ip;
metadata own_t own;

parser start { extract(frame); return select(latest.kind) { 0x8100 : vlan; 0x0800 : ip; default : ingress; } }
parser vlan { extract(vlan); return select(latest.kind) { 0xaaaa : way; 0x0800 : ip; default : ingress; } }
parser way { extract(way); return select(latest.kind) { 0x0800 : ip; default : ingress; } }
parser ip { extract(ip); return ingress; }

action pass() { no_op(); }
action discard() { drop(); }
action take_way() {
    modify_field(vlan.kind, way.kind);
    remove_header(way);
    modify_field(own.had_way, 1);
}
table arriving { reads { way : valid; } actions { take_way; discard; pass; } }
action port_is(outside) { modify_field(own.is_outside, outside); }
table ports { reads { standard_metadata.ingress_port : exact; } actions { port_is; } max_size : 64; }
action send(port) { modify_field(standard_metadata.egress_spec, port); }
table here { reads { vlan.number : exact; ip.to : exact; } actions { send; pass; } default_action : pass; }
action put_way(up, down) {
    add_header(way);
    modify_field(way.kind, vlan.kind);
    modify_field(vlan.kind, 0xaaaa);
    modify_field(way.up, up);
    modify_field(way.down, down);
}
counter put_here { type : packets; direct : elsewhere; }
table elsewhere {
    reads { frame.to : exact; vlan.number : exact; } actions { put_way; pass; } max_size : 20000;
}
meter by_port { type : bytes; result : own.colour; direct : leaving; }
table leaving { reads { standard_metadata.ingress_port : exact; way.up : exact; } actions { pass; } }
table by_colour { reads { own.colour : exact; } actions { discard; pass; } }

control ingress {
    apply(arriving);
    apply(ports);
    if (own.is_outside == 0) {
        apply(here);
        if (standard_metadata.egress_spec == 0) {
            apply(elsewhere) { pass { } default { } }
        }
    }
}
control egress {
    if (valid(way)) {
        apply(leaving) { hit { apply(by_colour); } }
    }
}
