// Headers, metadata and reasons of the gateway.

#ifndef BNG_HEADERS_P4
#define BNG_HEADERS_P4

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<9> port_t;
typedef bit<16> hop_t;
typedef bit<32> subscriber_t;
typedef bit<7> reason_t;

const port_t CPU_PORT = 510;
// The cell of what no port has to itself: no packet arrives at the drop port.
const port_t IN_ALL = 511;
// Numbers of subscribers are less: rates and accounts are cells of arrays.
const bit<32> SUBSCRIBERS = 131072;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_IPV4 = 4;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<8> PROTOCOL_IPV6 = 41;
const bit<8> PROTOCOL_GRE = 47;
const bit<8> ICMP_ECHO_REPLY = 0;
const bit<8> ICMP_UNREACHABLE = 3;
const bit<8> ICMP_ECHO_REQUEST = 8;
const bit<8> ICMP_TIME_EXCEEDED = 11;
const bit<8> ICMP_WRONG_PARAMETER = 12;
const bit<16> ARP_REQUEST = 1;
const bit<16> ARP_REPLY = 2;
// The first half of a GRE header: version 0 without options, and with a key (RFC 2890).
const bit<16> GRE_PLAIN = 0x0000;
const bit<16> GRE_KEY = 0x2000;
// Explicit congestion notification: the low bits of the traffic class (RFC 3168).
const bit<2> ECN_NONE = 0;
const bit<2> ECN_CONGESTED = 3;

const bit<2> RED = 2;

// Why a packet goes to the controller: up to 7 ...
const reason_t NONE = 0;
const reason_t TTL_EXPIRED = 1;
const reason_t NO_BINDING = 2;
const reason_t LOCAL = 3;
const reason_t TOO_LONG = 4;
const reason_t ARP = 5;
// ... or is dropped: from 8.
const reason_t FIRST_DROP = 8;
const reason_t CUT_OFF = 8;
const reason_t WRONG_HEADER = 9;
const reason_t WRONG_CHECKSUM = 10;
const reason_t WRONG_LENGTH = 11;
const reason_t MARTIAN = 12;
const reason_t FRAGMENT = 13;
const reason_t OTHER_STATION = 14;
const reason_t NO_INTERFACE = 15;
const reason_t OTHER_PROTOCOL = 16;
const reason_t GRE_OPTIONS = 17;
const reason_t NOT_TUNNELLED = 18;
const reason_t WRONG_TUNNEL = 19;
const reason_t UNKNOWN_TUNNEL = 20;
const reason_t WRONG_SOURCE = 21;
const reason_t NOT_TRANSLATED = 22;
const reason_t UNSOLICITED = 23;
const reason_t NOT_OURS = 24;
const reason_t UPLOAD_RATE = 25;
const reason_t DOWNLOAD_RATE = 26;
const reason_t NO_SUBSCRIBER = 27;
const reason_t NO_ROUTE = 28;
const reason_t NO_NEXT_HOP = 29;
const reason_t ARP_OTHERS = 30;
const reason_t CONGESTED = 31;

// How a packet from the controller is handled.
const bit<2> MODE_PORT = 0;         // it leaves as it is, at `port`
const bit<2> MODE_ARRIVE = 1;       // it is handled as if it had just arrived, at `port`

error {
    VersionWrong,
    HeaderLengthWrong,
    GreOptions
}

@controller_header("packet_in")
header packet_in_t {
    port_t ingress_port;
    reason_t reason;
    subscriber_t subscriber;
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
    bit<6> class;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> do_not_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

header gre_t {
    bit<16> options;
    bit<16> protocol;
}

header gre_key_t {
    bit<32> key;
}

// All but the ports and the checksum only passes through.
header tcp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<96> numbers;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header icmp_t {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
    bit<16> identifier;
    bit<16> sequence;
}

// The first eight bytes of TCP or UDP, as an ICMP error quotes them; the last field of UDP is its checksum.
header quoted_ports_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> third;
    bit<16> fourth;
}

// The headers of a tunnel come first; `ipv4` is what it carries, or what comes without one. An ICMP error quotes the
// packet that it is about.
struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    arp_t arp;
    ipv4_t outer;
    gre_t gre;
    gre_key_t gre_key;
    ipv4_t ipv4;
    tcp_t tcp;
    udp_t udp;
    icmp_t icmp;
    ipv4_t quoted;
    quoted_ports_t quoted_ports;
    icmp_t quoted_echo;
}

enum bit<2> Side {
    NONE = 0,
    ACCESS = 1,
    CORE = 2
}

struct metadata_t {
    // Why the packet is not forwarded; NONE if it is. Until that is decided, nothing is changed.
    reason_t reason;
    // All headers are there.
    bool is_whole;
    // Where the packet arrived, or where the controller injects it.
    port_t port;
    Side side;
    // The address of the interface that it came through.
    mac_address_t mac;
    // What bindings are looked up by: protocol and ports; of an echo, its identifier is both. An error goes the way of
    // the answers to the packet that it quotes, so it has that one's protocol, and its ports exchanged.
    bit<8> protocol;
    bit<16> source_port;
    bit<16> destination_port;
    // Who sends it, from the access side; who receives it.
    subscriber_t sender;
    subscriber_t receiver;
    // Its destination is a public address of subscribers.
    bool is_download;
    // The inner address of its sender: of an error, of the one who got the packet that it quotes.
    ipv4_address_t source;
    // Its addresses and ports once it leaves.
    ipv4_address_t new_source;
    ipv4_address_t new_destination;
    bit<16> new_source_port;
    bit<16> new_destination_port;
    // The tunnel that it leaves by.
    ipv4_address_t tunnel_source;
    ipv4_address_t tunnel_destination;
    bool has_key;
    bit<32> key;
    bit<2> colour;
    hop_t hop;
}

#endif
