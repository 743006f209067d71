// The edge of a data centre: VLAN and MPLS stacks, VXLAN and GRE around inner headers, a parse graph with circles.
// Tunnels end and begin by copying outer headers to inner ones and back, labels are pushed and popped.

#define KIND_VLAN 0x8100
#define KIND_MPLS 0x8847
#define KIND_IPV4 0x0800
#define KIND_IPV6 0x86dd
#define LABELS 3
#define VXLAN_BYTES (20 + 8 + 8 + 14)

header_type ethernet_t { fields { to : 48; from : 48; kind : 16; } }
header_type vlan_t { fields { priority : 3; drop : 1; number : 12; kind : 16; } }
header_type mpls_t { fields { label : 20; class : 3; bottom : 1; hops : 8; } }
header_type ipv4_t {
    fields {
        version : 4; words : 4; service : 8; bytes : 16; number : 16; flags : 3; offset : 13;
        hops : 8; protocol : 8; sum : 16; from : 32; to : 32;
    }
}
header_type ipv6_t {
    fields { version : 4; class : 8; flow : 20; bytes : 16; next : 8; hops : 8; from : 128; to : 128; }
}
header_type udp_t { fields { from : 16; to : 16; bytes : 16; sum : 16; } }
header_type gre_t { fields { flags : 13; version : 3; kind : 16; } }
header_type vxlan_t { fields { flags : 8; zero : 24; network : 24; zero2 : 8; } }

header ethernet_t ethernet;
header vlan_t vlan[2];
header mpls_t mpls[LABELS];
header ipv4_t ipv4;
header ipv6_t ipv6;
header udp_t udp;
header gre_t gre;
header vxlan_t vxlan;
header ethernet_t inner_ethernet;
header ipv4_t inner_ipv4;
header ipv6_t inner_ipv6;
header udp_t inner_udp;

header_type tunnel_t { fields { kind : 4; network : 24; ends : 1; bytes : 16; } }
header_type lookup_t { fields { from : 32; to : 32; bridge : 16; router : 8; port : 9; } }
metadata tunnel_t tunnel;
metadata lookup_t lookup { router : 1; };

parser start { return outer; }
parser outer {
    extract(ethernet);
    return select(latest.kind) {
        KIND_VLAN, 0x9100 : tags;
        KIND_MPLS : labels;
        KIND_IPV4 : v4;
        KIND_IPV6 : v6;
        default : ingress;
    }
}
parser tags {
    extract(vlan[next]);
    return select(latest.kind) {
        KIND_VLAN : tags;
        KIND_MPLS : labels;
        KIND_IPV4 : v4;
        KIND_IPV6 : v6;
        default : ingress;
    }
}
parser labels {
    extract(mpls[next]);
    return select(latest.bottom) {
        0 : labels;
        default : under_labels;
    }
}
parser under_labels {
    return select(current(0, 4)) {
        4 : inner_v4;
        6 : inner_v6;
        default : inner;
    }
}
parser v4 {
    extract(ipv4);
    set_metadata(lookup.from, latest.from);
    set_metadata(lookup.to, latest.to);
    return select(latest.offset, latest.words, latest.protocol) {
        0x511 : with_udp;
        0x52f : with_gre;
        0x504 : inner_v4;
        0x529 : inner_v6;
        default : ingress;
    }
}
parser v6 {
    extract(ipv6);
    return select(latest.next) {
        17 : with_udp;
        47 : with_gre;
        default : ingress;
    }
}
parser with_udp {
    extract(udp);
    return select(latest.to) {
        4789 : with_vxlan;
        6635 : labels;
        default : ingress;
    }
}
parser with_gre {
    extract(gre);
    return select(gre.flags, gre.version, latest.kind) {
        KIND_IPV4 : inner_v4;
        KIND_IPV6 mask 0xffff : inner_v6;
        KIND_MPLS : labels;
        default : ingress;
    }
}
parser with_vxlan {
    extract(vxlan);
    set_metadata(tunnel.kind, 1);
    set_metadata(tunnel.network, latest.network);
    return inner;
}
parser inner {
    extract(inner_ethernet);
    return select(latest.kind) {
        KIND_IPV4 : inner_v4;
        KIND_IPV6 : inner_v6;
        default : ingress;
    }
}
parser inner_v4 {
    extract(inner_ipv4);
    set_metadata(lookup.from, inner_ipv4.from);
    set_metadata(lookup.to, inner_ipv4.to);
    return select(latest.protocol) {
        17 : inner_with_udp;
        default : ingress;
    }
}
parser inner_v6 {
    extract(inner_ipv6);
    return select(latest.next) {
        17 : inner_with_udp;
        default : ingress;
    }
}
parser inner_with_udp { extract(inner_udp); return ingress; }

field_list ipv4_fields {
    ipv4.version; ipv4.words; ipv4.service; ipv4.bytes; ipv4.number; ipv4.flags; ipv4.offset; ipv4.hops; ipv4.protocol;
    ipv4.from; ipv4.to;
}
field_list_calculation ipv4_sum { input { ipv4_fields; } algorithm : csum16; output_width : 16; }
calculated_field ipv4.sum {
    verify ipv4_sum if (ipv4.words == 5);
    update ipv4_sum if (ipv4.words == 5);
}

counter by_bridge { type : packets_and_bytes; instance_count : 4096; min_width : 32; }

action pass() { }
action discard() { drop(); }

// Where a packet belongs.
action is_in(bridge, router) {
    modify_field(lookup.bridge, bridge);
    modify_field(lookup.router, router);
}
table membership {
    reads {
        standard_metadata.ingress_port : ternary;
        vlan[0] : valid;
        vlan[0].number : ternary;
        vlan[1] : valid;
    }
    actions { is_in; pass; }
    size : 4096;
}

// The end of tunnels.
action ends() { modify_field(tunnel.ends, 1); }
table our_ends {
    reads {
        ipv4.to : exact;
        tunnel.kind : exact;
        tunnel.network mask 0xfffff0 : exact;
    }
    actions { ends; pass; }
}
action take_inner_ipv4() {
    copy_header(ipv4, inner_ipv4);
    remove_header(inner_ipv4);
    copy_header(udp, inner_udp);
    remove_header(inner_udp);
}
action end_vxlan() {
    copy_header(ethernet, inner_ethernet);
    remove_header(inner_ethernet);
    remove_header(vxlan);
    take_inner_ipv4();
}
action end_gre() {
    remove_header(gre);
    take_inner_ipv4();
}
action end_labels() {
    pop(mpls, LABELS);
    modify_field(ethernet.kind, KIND_IPV4);
    take_inner_ipv4();
}
table take_out {
    reads { vxlan : valid; gre : valid; mpls[0] : valid; inner_ipv4 : valid; }
    actions { end_vxlan; end_gre; end_labels; pass; }
}
action next_label(label) {
    modify_field(mpls[0].label, label);
    add_to_field(mpls[0].hops, -1);
}
action pop_label() { pop(mpls, 1); }
table label_switching { reads { mpls[0].label : exact; mpls[0].bottom : exact; } actions { next_label; pop_label; end_labels; } }

// Bridging and routing.
action send(port) { modify_field(lookup.port, port); }
action send_counted(port) {
    send(port);
    count(by_bridge, lookup.bridge);
}
table stations { reads { lookup.bridge : exact; ethernet.to : exact; } actions { send_counted; pass; } }
action route(port, to) {
    send(port);
    modify_field(ethernet.from, ethernet.to);
    modify_field(ethernet.to, to);
    add_to_field(ipv4.hops, -1);
}
table routes { reads { lookup.router : exact; lookup.to : lpm; } actions { route; discard; } default_action : discard(); }

// The beginning of tunnels.
action begin(protocol, from, to) {
    copy_header(inner_ipv4, ipv4);
    copy_header(inner_udp, udp);
    remove_header(udp);
    add_header(ipv4);
    modify_field(ipv4.version, 4);
    modify_field(ipv4.words, 5);
    modify_field(ipv4.service, 0);
    modify_field(ipv4.number, 0);
    modify_field(ipv4.flags, 0);
    modify_field(ipv4.offset, 0);
    modify_field(ipv4.hops, 64);
    modify_field(ipv4.protocol, protocol);
    modify_field(ipv4.from, from);
    modify_field(ipv4.to, to);
}
action begin_gre(from, to) {
    begin(47, from, to);
    add_to_field(ipv4.bytes, 24);
    add_header(gre);
    modify_field(gre.kind, KIND_IPV4);
}
action begin_vxlan(from, to, network) {
    copy_header(inner_ethernet, ethernet);
    begin(17, from, to);
    add_to_field(ipv4.bytes, VXLAN_BYTES);
    add_header(udp);
    modify_field(udp.from, 0xc000);
    modify_field(udp.to, 4789);
    subtract(udp.bytes, ipv4.bytes, 20);
    add_header(vxlan);
    modify_field(vxlan.flags, 0x08);
    modify_field(vxlan.network, network);
}
action begin_labels(top, under) {
    push(mpls, 2);
    modify_field(mpls[0].label, top);
    modify_field(mpls[0].hops, 64);
    modify_field(mpls[1].label, under);
    modify_field(mpls[1].bottom, 1);
    modify_field(mpls[1].hops, 64);
    modify_field(ethernet.kind, KIND_MPLS);
    copy_header(inner_ipv4, ipv4);
    remove_header(ipv4);
    copy_header(inner_udp, udp);
    remove_header(udp);
}
table put_in {
    reads { standard_metadata.egress_port : exact; }
    actions { begin_gre; begin_vxlan; begin_labels; pass; }
}
action tag(number) {
    push(vlan, 1);
    modify_field(vlan[0].number, number);
    modify_field(vlan[0].kind, ethernet.kind);
    modify_field(ethernet.kind, KIND_VLAN);
}
action untag() {
    modify_field(ethernet.kind, vlan[0].kind);
    pop(vlan, 1);
}
table tags_out { reads { standard_metadata.egress_port : exact; vlan[0] : valid; } actions { tag; untag; pass; } }

control end_tunnels {
    if (valid(mpls[0])) {
        apply(label_switching);
    } else if (valid(vxlan) or valid(gre)) {
        apply(our_ends) {
            ends { apply(take_out); }
            default { }
        }
    }
}
control bridge_or_route {
    apply(stations) {
        miss {
            if (lookup.router != 0 and valid(ipv4)) { apply(routes); }
        }
    }
}
control ingress {
    apply(membership);
    end_tunnels();
    bridge_or_route();
    if (lookup.port != 0) { modify_port(); }
}
action use_port() { modify_field(standard_metadata.egress_spec, lookup.port); }
table use_port { actions { use_port; } default_action : use_port; }
control modify_port { apply(use_port); }
control egress {
    if (valid(ipv4)) { apply(put_in); }
    apply(tags_out);
}
