// A copy of each packet goes to the controller with a header in front that the parser tells by eight zero bytes; the
// field list of the clone has all of the standard metadata.

header_type frame_t { fields { to : 48; from : 48; kind : 16; } }
header_type note_t { fields { why : 8; port : 8; } }
header note_t note;
header frame_t frame;

parser start {
    return select(current(0, 64)) {
        0 : noted;
        default : plain;
    }
}
parser noted { extract(note); return plain; }
parser plain { extract(frame); return ingress; }

field_list standard { standard_metadata; }
action watch(session) {
    clone_ingress_pkt_to_egress(session, standard);
    modify_field(standard_metadata.egress_spec, 2);
}
action skip() { }
table watched { reads { frame.kind : exact; } actions { watch; skip; } }
action put_note(why) {
    add_header(note);
    modify_field(note.why, why);
    modify_field(note.port, standard_metadata.ingress_port);
}
table outgoing { reads { standard_metadata.instance_type : exact; } actions { put_note; skip; } }

control ingress { apply(watched); }
control egress { apply(outgoing); }
