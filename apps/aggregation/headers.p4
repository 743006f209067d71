// What both designs read before the payload: Ethernet, IPv4 without options, UDP.

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
