// The sender writes the ports on the way into the packet; each switch takes the first away. Found by looking ahead,
// also where the packet is too short to look.

header_type ports_t { fields { zero : 32; count : 16; } }
header_type port_t { fields { number : 8; } }
header ports_t ports;
header port_t port;

parser start { return select(current(0, 32)) { 0 : ports; default : ingress; } }
parser ports { extract(ports); return select(latest.count) { 0 : ingress; default : port; } }
parser port { extract(port); return ingress; }

action go() {
    modify_field(standard_metadata.egress_spec, port.number);
    add_to_field(ports.count, -1);
    remove_header(port);
}
action discard() { drop(); }
table first { reads { port : valid; } actions { go; discard; } }

control ingress { apply(first); }
