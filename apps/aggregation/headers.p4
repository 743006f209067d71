// What all designs read before the payload: Ethernet, IPv4, UDP. And what they do with IPv4's header, for which
// v1model.p4 comes before this.

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;

// standard_metadata.instance_type: how a packet came to where it is.
const bit<32> NORMAL = 0;
const bit<32> CLONED_IN_INGRESS = 1;
const bit<32> RECIRCULATED = 4;
const bit<32> REPLICATED = 5;
const bit<32> RESUBMITTED = 6;

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<8> traffic_class;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length_bytes;
    bit<16> checksum;
}

// Of a header without options, with its checksum: 0 if that is right. checksum_error alone does not tell whose is
// wrong.
action sum_header(in ipv4_t ipv4, out bit<16> sum) {
    hash(sum, HashAlgorithm.csum16, 32w0,
        { ipv4.version, ipv4.header_words, ipv4.traffic_class, ipv4.total_length, ipv4.identification, ipv4.flags,
          ipv4.fragment_offset, ipv4.ttl, ipv4.protocol, ipv4.checksum, ipv4.source, ipv4.destination },
        32w0x10000);
}

// What a router does. The checksum changes by as much as the time to live (RFC 1624), so that options need not be read. (A
// header as a parameter would be copied, and back.)
action take_hops(inout bit<8> ttl, inout bit<16> checksum, in bit<8> hops) {
    bit<17> sum = (bit<17>)checksum + ((bit<17>)hops << 8);
    ttl = ttl - hops;
    checksum = sum[15:0] + (bit<16>)sum[16:16];
    if (checksum == 0xffff) {
        checksum = 0;
    }
}
