// Headers, metadata and reasons of the gateway.

#ifndef DCG_HEADERS_P4
#define DCG_HEADERS_P4

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<128> ipv6_address_t;
typedef bit<9> port_t;
typedef bit<24> vni_t;
// The outside is 0, the underlay UNDERLAY, and a tenant any other number.
typedef bit<24> network_t;
typedef bit<32> service_t;
typedef bit<32> server_t;
typedef bit<32> end_point_t;
typedef bit<32> hop_t;
typedef bit<7> reason_t;

const port_t CPU_PORT = 510;
const network_t OUTSIDE = 0;
const network_t UNDERLAY = 0xFFFFFF;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<16> ETHERTYPE_IPV6 = 0x86DD;
const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_IPV4 = 4;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<8> PROTOCOL_IPV6 = 41;
const bit<8> PROTOCOL_FRAGMENT = 44;
const bit<8> PROTOCOL_GRE = 47;
const bit<8> PROTOCOL_ICMPV6 = 58;
const bit<16> PORT_VXLAN = 4789;
// Neighbour discovery: router solicitation to redirect.
const bit<8> ND_FIRST = 133;
const bit<8> ND_LAST = 137;
const bit<16> ARP_REQUEST = 1;
const bit<16> ARP_REPLY = 2;
// Explicit congestion notification.
const bit<2> ECN_NONE = 0;
const bit<2> ECN_EXPERIENCED = 3;

// What is before an inner frame: IPv4, UDP and VXLAN; and before an inner packet: Ethernet, too.
const bit<32> FRAME_OVERHEAD = 36;
const bit<16> PACKET_OVERHEAD = 50;
const bit<8> OUTER_TTL = 64;

// Why a packet goes to the controller: up to 7 ...
const reason_t NONE = 0;
const reason_t TTL_EXPIRED = 1;
const reason_t TOO_BIG = 2;
const reason_t NO_ROUTE = 3;
const reason_t UNRESOLVED = 4;
const reason_t LOCAL = 5;
const reason_t ND = 6;
const reason_t ARP = 7;
// ... or is dropped: from 8.
const reason_t FIRST_DROP = 8;
const reason_t CUT_OFF = 8;
const reason_t WRONG_HEADER = 9;
const reason_t WRONG_CHECKSUM = 10;
const reason_t WRONG_LENGTH = 11;
const reason_t MARTIAN_SOURCE = 12;
const reason_t MARTIAN_DESTINATION = 13;
const reason_t MULTICAST = 14;
const reason_t FRAGMENT = 15;
const reason_t OTHER_STATION = 16;
const reason_t NO_INTERFACE = 17;
const reason_t OTHER_PROTOCOL = 18;
const reason_t NO_SERVICE = 19;
const reason_t NO_SERVER = 20;
const reason_t TUNNEL_OUTSIDE = 21;
const reason_t WRONG_VXLAN = 22;
const reason_t UNKNOWN_END_POINT = 23;
const reason_t UNKNOWN_SEGMENT = 24;
const reason_t SPOOFED = 25;
const reason_t NESTED = 26;
const reason_t CONGESTED = 27;
const reason_t NEEDS_FRAGMENTS = 28;
const reason_t DISCARDED = 29;

error {
    VersionWrong,
    HeaderLengthWrong
}

@controller_header("packet_in")
header packet_in_t {
    port_t ingress_port;
    reason_t reason;
    // TOO_BIG: the longest IP packet that passes.
    bit<16> mtu;
    // UNRESOLVED: the end point (from outside) or the next hop (from a tunnel).
    bit<32> number;
}

// The packet leaves at the port as it is.
@controller_header("packet_out")
header packet_out_t {
    port_t port;
    bit<7> padding;
}

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ethertype;
}

header arp_t {
    bit<16> hardware_type;
    bit<16> protocol_type;
    bit<8> hardware_length;
    bit<8> protocol_length;
    bit<16> operation;
    mac_address_t sender_mac;
    ipv4_address_t sender_ip;
    mac_address_t target_mac;
    ipv4_address_t target_ip;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

// One of up to ten words behind the fixed part.
header ipv4_option_t {
    bit<32> word;
}

header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

header vxlan_t {
    bit<4> reserved_flags;
    bit<1> has_vni;
    bit<27> reserved;
    vni_t vni;
    bit<8> reserved_end;
}

// What is read ahead to tell a tunnel from other packets: Ethernet, IPv4 without options, and ports.
struct start_t {
    bit<96> addresses;
    bit<16> ethertype;
    bit<8> version_and_words;
    bit<64> lengths_and_fragment;
    bit<8> protocol;
    bit<80> checksum_and_addresses;
    bit<16> source_port;
    bit<16> destination_port;
}

// What an ICMP error quotes: the packet that did not arrive.
struct quoted4_t {
    bit<64> icmp_header;
    bit<8> version_and_words;
    bit<40> length_and_identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<48> checksum_and_source;
    ipv4_address_t destination;
    bit<16> source_port;
    bit<16> destination_port;
}

struct quoted6_t {
    bit<64> icmp_header;
    bit<48> version_to_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<16> source_port;
    bit<16> destination_port;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t outer_ethernet;
    ipv4_t outer_ipv4;
    udp_t outer_udp;
    vxlan_t vxlan;
    // What arrives without a tunnel, or the frame in one.
    ethernet_t ethernet;
    arp_t arp;
    ipv4_t ipv4;
    ipv4_option_t[10] options;
    ipv6_t ipv6;
}

// A flow whose server is about to leave.
struct draining_flow_t {
    service_t service;
    ipv6_address_t client;
    bit<16> client_port;
    server_t server;
}

struct metadata_t {
    // Why the packet is not forwarded; NONE if it is.
    reason_t reason;
    // All headers that the gateway needs are there.
    bool is_whole;
    // The network that the packet, or the frame in the tunnel, comes from, and the gateway's Ethernet address there.
    network_t network;
    mac_address_t mac;
    // From the Ethernet header on, as the headers around it say.
    bit<32> frame_length;
    // The sum of the option words of IPv4, for its checksum.
    bit<48> options_sum;
    // The flow, as its client sends: of an ICMP error, that of the packet which it quotes.
    ipv6_address_t client;
    bit<8> protocol;
    bit<16> source_port;
    bit<16> destination_port;
    bit<8> icmpv6_type;
    // An address that may be the gateway's own.
    ipv4_address_t target;
    bit<32> flow;
    service_t service;
    server_t server;
    bool is_draining;
    end_point_t end_point;
    vni_t vni;
    // The Ethernet addresses in the tunnel.
    mac_address_t inner_source;
    mac_address_t inner_destination;
    hop_t hop;
    // The end point or the next hop, for the controller.
    bit<32> number;
    bit<16> mtu;
}

#endif
