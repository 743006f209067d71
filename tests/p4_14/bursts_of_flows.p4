// Flows in bursts: a hash finds a flow's cell in two registers, the time since its last packet tells whether a
// new burst begins, and a hash with the burst's number chooses one of several ways.

header_type ip_t {
    fields {
        version : 4; words : 4; service : 8; bytes : 16; number : 16; flags : 3; offset : 13;
        hops : 8; protocol : 8; sum : 16; from : 32; to : 32;
    }
}
header_type ports_t { fields { from : 16; to : 16; } }
header_type burst_t { fields { gap : 32; last : 32; number : 16; cell : 10; way : 14; } }
header_type intrinsic_metadata_t { fields { ingress_global_timestamp : 48; } }
header ip_t ip;
header ports_t ports;
metadata burst_t burst;
metadata intrinsic_metadata_t intrinsic_metadata;

parser start {
    extract(ip);
    return select(latest.protocol) {
        6, 17 : with_ports;
        default : ingress;
    }
}
parser with_ports { extract(ports); return ingress; }

field_list ip_fields {
    ip.version; ip.words; ip.service; ip.bytes; ip.number; ip.flags; ip.offset; ip.hops; ip.protocol; ip.from;
    ip.to;
}
field_list_calculation ip_sum { input { ip_fields; } algorithm : csum16; output_width : 16; }
calculated_field ip.sum { verify ip_sum; update ip_sum; }

field_list flow { ip.from; ip.to; ip.protocol; ports.from; ports.to; }
field_list_calculation flow_hash { input { flow; } algorithm : crc16; output_width : 10; }
field_list flow_and_burst { flow; burst.number; }
field_list_calculation way_hash { input { flow_and_burst; } algorithm : crc16; output_width : 14; }

register last_time { width : 32; instance_count : 1024; }
register burst_number { width : 16; instance_count : 1024; }

action find_flow() {
    modify_field_with_hash_based_offset(burst.cell, 0, flow_hash, 1024);
    register_read(burst.last, last_time, burst.cell);
    register_read(burst.number, burst_number, burst.cell);
    modify_field(burst.gap, intrinsic_metadata.ingress_global_timestamp);
    subtract_from_field(burst.gap, burst.last);
    register_write(last_time, burst.cell, intrinsic_metadata.ingress_global_timestamp);
}
table flows { actions { find_flow; } default_action : find_flow; }
action begin_burst() {
    add_to_field(burst.number, 1);
    register_write(burst_number, burst.cell, burst.number);
}
table bursts { actions { begin_burst; } default_action : begin_burst; }
action choose(first, count) { modify_field_with_hash_based_offset(burst.way, first, way_hash, count); }
action discard() { drop(); }
table routes { reads { ip.to : lpm; } actions { choose; discard; } default_action : discard; }
action send(port) {
    modify_field(standard_metadata.egress_spec, port);
    add_to_field(ip.hops, -1);
}
table ways { reads { burst.way : exact; } actions { send; discard; } }

control ingress {
    if (valid(ip) and ip.hops > 1) {
        apply(flows);
        if (burst.gap > 50000) { apply(bursts); }
        apply(routes) { choose { apply(ways); } }
    } else {
        apply(routes);
    }
}
