// A learning switch: a digest of addresses that no entry has, flooding, and nothing back to where it came from.

header_type frame_t { fields { to : 48; from : 48; kind : 16; } }
header_type intrinsic_metadata_t { fields { mcast_grp : 4; egress_rid : 4; } }
header frame_t frame;
metadata intrinsic_metadata_t intrinsic_metadata;

parser start { extract(frame); return ingress; }

field_list station { frame.from; standard_metadata.ingress_port; }
action learn() { generate_digest(1024, station); }
action known() { }
action send(port) { modify_field(standard_metadata.egress_spec, port); }
action flood(group) { modify_field(intrinsic_metadata.mcast_grp, group); }
action discard() { drop(); }
table senders { reads { frame.from : exact; } actions { learn; known; } default_action : learn; }
table receivers { reads { frame.to : exact; } actions { send; flood; } default_action : flood(1); }
table back { reads { standard_metadata.instance_type : exact; } actions { discard; } }

control ingress { apply(senders); apply(receivers); }
control egress {
    if (standard_metadata.ingress_port == standard_metadata.egress_port) { apply(back); }
}
