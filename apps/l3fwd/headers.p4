// Headers, metadata and reasons of the router.

#ifndef ROUTER_HEADERS_P4
#define ROUTER_HEADERS_P4

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<128> ipv6_address_t;
typedef bit<9> port_t;
typedef bit<16> hop_t;
typedef bit<16> group_t;
typedef bit<7> reason_t;

const port_t CPU_PORT = 510;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<16> ETHERTYPE_IPV6 = 0x86DD;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<8> PROTOCOL_ICMPV6 = 58;
// Neighbour discovery: router solicitation to redirect.
const bit<8> ND_FIRST = 133;
const bit<8> ND_LAST = 137;

// Why a packet goes to the controller: up to 7 ...
const reason_t NONE = 0;
const reason_t TTL_EXPIRED = 1;
const reason_t NO_ROUTE = 2;
const reason_t UNRESOLVED = 3;
const reason_t LOCAL = 4;
const reason_t ARP = 5;
const reason_t ND = 6;
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
const reason_t DISCARDED = 19;

// How a packet from the controller is handled.
const bit<2> MODE_PORT = 0;         // it leaves as it is, at `port`
const bit<2> MODE_FORWARD = 1;      // it is forwarded as if it had just arrived, without the checks
const bit<2> MODE_OWN = 2;          // it is the router's own: routed with the TTL that it has

error {
    VersionWrong,
    HeaderLengthWrong
}

@controller_header("packet_in")
header packet_in_t {
    port_t ingress_port;
    reason_t reason;
    hop_t hop;
}

@controller_header("packet_out")
header packet_out_t {
    port_t port;
    bit<2> mode;
    bit<5> padding;
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
    bit<8> traffic_class;
    bit<16> total_length;
    bit<16> identification;
    bit<2> flags;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

// Up to ten words behind the fixed part.
header ipv4_options_t {
    varbit<320> options;
}

header ipv6_t {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    arp_t arp;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
}

// What a route says.
enum bit<3> Way {
    NONE = 0,
    LOCAL = 1,
    ATTACHED = 2,
    GROUP = 3,
    DISCARD = 4
}

struct metadata_t {
    // Why the packet is not forwarded; NONE if it is.
    reason_t reason;
    // All headers that the router needs are there, also if what the flow is recognised by is not.
    bool is_whole;
    // Of TCP and UDP, both ports.
    bit<32> ports;
    bit<8> icmpv6_type;
    // The address of the interface that the packet came through.
    mac_address_t mac;
    // The address that is looked up: of an ARP packet, the one in question.
    ipv4_address_t target;
    Way way;
    group_t group;
    bit<16> flow;
    hop_t hop;
}

#endif
