// Every kind of thing has names of its own, and parameters may be called like anything, also like what the
// translation itself declares.

header_type ipv4 { fields { src : 32; dst : 32; } }
header ipv4 ipv4;
parser start { extract(ipv4); return ipv4; }
parser ipv4 { return ingress; }
counter ipv4 { type : packets; instance_count : 2; }
register meta { width : 32; instance_count : 2; }
field_list hdr { ipv4.src; }
action ipv4(hdr, meta, standard_metadata) {
    modify_field(ipv4.src, hdr);
    modify_field(ipv4.dst, meta);
    count(ipv4, 1);
    register_write(meta, 1, hdr);
    modify_field(standard_metadata.egress_spec, standard_metadata);
}
table ipv4 { reads { ipv4.src : exact; } actions { ipv4; } }
control packet { apply(ipv4); }
control ingress { packet(); }
control egress { }
