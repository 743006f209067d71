// Calculations: checksums with conditions, of which the first that holds counts; the payload in a checksum; hashes; a
// field of an invalid header is left out; random numbers; a digest.

header_type h_t {
    fields {
        kind : 8;
        flag : 8;
        sum : 16;
    }
}

header_type extra_t { fields { value : 16; } }

header h_t h;
header extra_t extra;
header h_t inner;

header_type m_t { fields { hash : 16; number : 8; } }
metadata m_t m;

parser start {
    extract(h);
    return select(latest.kind) {
        1 : parse_extra;
        2 : parse_inner;
        default : ingress;
    }
}
parser parse_extra { extract(extra); return ingress; }
parser parse_inner { extract(inner); return ingress; }

field_list short_list { h.kind; h.flag; }
field_list long_list { short_list; 8'0; extra; 16'0xffff; }
field_list inner_list { inner.kind; inner.flag; payload; }

field_list_calculation short_sum { input { short_list; } algorithm : csum16; output_width : 16; }
field_list_calculation long_sum { input { long_list; } algorithm : xor16; output_width : 16; }
field_list_calculation inner_sum { input { inner_list; } algorithm : csum16; output_width : 16; }
field_list_calculation crc { input { short_list; } algorithm : crc16; output_width : 16; }
field_list_calculation plain { input { short_list; } algorithm : identity; output_width : 16; }

calculated_field h.sum {
    update long_sum if (valid(extra));
    update short_sum if (h.flag == 1);
    verify short_sum if (h.flag == 9);
}

calculated_field inner.sum { update inner_sum; }

action hashed(base, size) {
    modify_field_with_hash_based_offset(m.hash, base, plain, size);
    modify_field(h.sum, m.hash);
}
action hashed_crc() { modify_field_with_hash_based_offset(h.sum, 0, crc, 65536); }
action rolled() {
    modify_field_rng_uniform(m.number, 5, 5);
    modify_field(h.sum, m.number);
}
action told() { generate_digest(1, short_list); }
action wrong() { modify_field(h.sum, 0xdead); }

table t { reads { h.kind : exact; } actions { hashed; hashed_crc; rolled; told; wrong; } }

control ingress { apply(t); }
