// Headers and metadata of P4TE, and its parameters that are fixed when it is compiled.

// Which length of a queue a packet reports: the one that it leaves behind, or `enq_qdepth`, the one that it found, which
// is as old as its wait.
#ifndef QUEUE_DEPTH
#define QUEUE_DEPTH deq_qdepth
#endif

// COLOURS_AS_RELEASED: events of colours as the program has them that the authors released, not as algorithm 1: each
// packet that is not green is one, a port that is green again is none; ingress gets the colour with events of queues, too.

// What meters count: `bytes`, or `packets` where rates are in packets a second.
#ifndef METERED
#define METERED bytes
#endif

// Flows that are distinguished.
#ifndef FLOWS
#define FLOWS 65536
#endif

// What is added to the sequence number of fake acknowledgments. Linux takes a smaller window only from a segment that
// acknowledges more or has a later number: 1. Endpoints that follow RFC 9293 to the letter would not take the windows of
// the receiver any more then: 0.
#ifndef SEQUENCE_STEP
#define SEQUENCE_STEP 1
#endif

// The smallest window that a fake acknowledgment announces, in bytes: two full segments.
#ifndef WINDOW_MIN
#define WINDOW_MIN 2920
#endif

// Colours of meters.
const bit<2> GREEN = 0;
const bit<2> RED = 2;

// What a copy of a packet is for, by its number among the replicas of its session.
const bit<16> FOR_CONTROLLER = 1;
const bit<16> FOR_COLOURS = 2;
const bit<16> FOR_SENDER = 3;

// What a recirculated packet is.
const bit<2> COLOUR_REPORT = 1;
const bit<2> FAKE_ACKNOWLEDGMENT = 2;

// Events.
const bit<8> INCREASE = 1;
const bit<8> DECREASE = 2;

// Copies: session N has a replica FOR_CONTROLLER if its bit 0 is set, FOR_COLOURS for bit 1, FOR_SENDER for bit 2.
const bit<32> TO_CONTROLLER = 1;
const bit<32> TO_COLOURS = 2;
const bit<32> TO_SENDER = 4;

// An event for the controller, and nothing of the packet behind it.
@controller_header("packet_in")
header report_t {
    bit<16> port;
    bit<8> queue_event;        // 0: none
    bit<8> utilisation_event;
    bit<32> depth;             // the length of the port's queue in packets
    bit<8> colour;             // of the port's meter
}

const bit<32> REPORT_BYTES = 9;

struct headers_t {
    report_t report;
    ethernet_t ethernet;
    ipv6_t ipv6;
    ipv4_t ipv4;
    udp_t udp;
    tcp_t tcp;
    option_word_t[10] options;
}

struct metadata_t {
    addresses_t addresses;
    // The colour of the packet's class at its ingress port.
    bit<2> incoming_colour;
    // Options of a SYN: words that are left, the shift of windows.
    bit<8> option_words;
    bit<4> shift;
    // Whether a packet comes from a host of this switch.
    bool is_from_host;
    // Whether it goes down, and whether it leaves the network there.
    bool is_down;
    bool leaves_network;
    // Whether a fake acknowledgment has got its numbers and its window.
    bool is_finished;
    // What copies keep.
    @field_list(1) bit<2> role;
    @field_list(1) bit<9> port;
    @field_list(1) bit<8> queue_event;
    @field_list(1) bit<8> utilisation_event;
    @field_list(1) bit<19> depth;
    @field_list(1) bit<2> colour;
    @field_list(1) bit<8> verdict;
}
