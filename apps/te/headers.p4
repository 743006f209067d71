// Headers of the programs for traffic engineering (apps/te, apps/p4te): IPv4 and IPv6 with TCP and UDP.
//
// The traffic class (IPv6) or type of service (IPv4), one byte, says what a packet is:
//
//   7 6 5 4 3 2 1 0
//   | | | | | +-+-- ECN
//   | | | | +------ the sender's rate must not be controlled any more (within the network only)
//   | | +-+-------- class of the flow: 01 short, 10 large; anything else counts as short
//   | +------------ a fake acknowledgment that widens the window (within the network only)
//   +-------------- a fake acknowledgment (within the network only)

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

const bit<2> NOT_ECN_CAPABLE = 0;
const bit<2> CONGESTION_EXPERIENCED = 3;

const bit<8> FAKE = 0x80;
const bit<8> WIDER = 0x40;
const bit<8> CLASS_MASK = 0x18;
const bit<8> CLASS_SHORT = 0x08;
const bit<8> CLASS_LARGE = 0x10;
const bit<8> NOT_CONTROLLED = 0x04;

const bit<8> TCP_FIN = 0x01;
const bit<8> TCP_SYN = 0x02;
const bit<8> TCP_RST = 0x04;
const bit<8> TCP_ACK = 0x10;

// Where controllers are: the CPU port of v1model.
const bit<9> CPU_PORT = 510;

// How a packet came to be.
const bit<32> RECEIVED = 0;
const bit<32> CLONED_IN_EGRESS = 2;
const bit<32> RECIRCULATED = 4;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
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
    bit<32> source;
    bit<32> destination;
}

header ipv6_t {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> source;
    bit<128> destination;
}

header tcp_t {
    bit<16> source;
    bit<16> destination;
    bit<32> sequence;
    bit<32> acknowledgment;
    bit<4> header_words;
    bit<4> reserved;
    bit<8> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

// Four bytes of the options of a SYN.
header option_word_t {
    bit<32> value;
}

// What the programs read of a packet of either version of IP.
struct addresses_t {
    bit<128> source;       // IPv4: ::ffff:a.b.c.d
    bit<128> destination;
    bit<8> protocol;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> payload_bytes;  // behind the header of TCP
}

const bit<128> IPV4_MAPPED = 0xffff00000000;
