// The v1model architecture: a parser, an ingress and an egress pipeline with a packet buffer between them, and a
// deparser.
//
// A program may define V1MODEL_VERSION before it includes this file. From version 20200408 on, ports have the type
// `PortId_t`, and counters, meters and registers take the type of their index as a parameter.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

const bit<32> __v1model_version = V1MODEL_VERSION;

// How a table compares a key with an entry, beside the kinds of core.p4.
match_kind {
    range,     // The key lies between two values, both included.
    optional,  // The key equals the entry's value, or the entry takes any.
    selector   // The key is no part of the match: it chooses the member of an action selector's group.
}

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

// The metadata that switch and program exchange about a packet. All of it is 0 when a packet arrives, except for what
// is said below.
@metadata
@name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t ingress_port;  // Where the packet came in.
    PortId_t egress_spec;   // The output port that ingress chooses.
    PortId_t egress_port;   // Where it will go out; for egress to read.
#else
    bit<9> ingress_port;    // Where the packet came in.
    bit<9> egress_spec;     // The output port that ingress chooses.
    bit<9> egress_port;     // Where it will go out; for egress to read.
#endif
    bit<32> instance_type;  // How this copy of the packet came to be: received, cloned, replicated, ...
    bit<32> packet_length;  // In bytes.

    // The queue between ingress and egress: when the packet entered (in microseconds), how many packets were there
    // then, how long it stayed (in microseconds), and how many packets were there when it left.
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;

    // When ingress and egress began with the packet, in microseconds since the switch started.
    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;

    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;      // The multicast group to which ingress sends the packet; 0 for none.
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;     // Which copy of a multicast packet this is.

    bit<1> checksum_error;  // 1 if a `verify_checksum` found a checksum wrong.
    error parser_error;     // Why the parser stopped.

    @alias("intrinsic_metadata.priority")
    bit<3> priority;        // The queue of the egress port; 0 is the lowest.
}

// What a counter counts.
enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

// What a meter measures.
enum MeterType {
    packets,
    bytes
}

// An array of counters.
#if V1MODEL_VERSION >= 20200408
extern counter<I> {
    counter(bit<32> size, CounterType type);
    // Counts this packet. Nothing happens if the index is too large.
    void count(in I index);
}
#else
extern counter {
    counter(bit<32> size, CounterType type);
    // Counts this packet. Nothing happens if the index is too large.
    void count(in bit<32> index);
}
#endif

// One counter for each entry of a table, whose property `counters` names it. It counts whenever an entry matches.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

// What meters answer.
#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// An array of meters with two rates and three colours (RFC 2698).
#if V1MODEL_VERSION >= 20200408
extern meter<I> {
    meter(bit<32> size, MeterType type);
    // Meters this packet and gives its colour.
    void execute_meter<T>(in I index, out T result);
}
#else
extern meter {
    meter(bit<32> size, MeterType type);
    // Meters this packet and gives its colour.
    void execute_meter<T>(in bit<32> index, out T result);
}
#endif

// One meter for each entry of a table, whose property `meters` names it. It measures whenever an entry matches.
extern direct_meter<T> {
    direct_meter(MeterType type);
    // Gives the packet's colour.
    void read(out T result);
}

// An array of values that outlive the packet. They are 0 at the start.
#if V1MODEL_VERSION >= 20200408
extern register<T, I> {
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in I index);
    void write(in I index, in T value);
}
#else
extern register<T> {
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
}
#endif

// Actions with their arguments that several entries of a table share: the value of its property `implementation`.
extern action_profile {
    action_profile(bit<32> size);
}

// Gives a number between `lo` and `hi`, both included.
extern void random<T>(out T result, in T lo, in T hi);

// Sends data to the control plane when ingress ends.
extern void digest<T>(in bit<32> receiver, in T data);

enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,
    xor16
}

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

// Lets the packet be dropped, unless a later assignment to `egress_spec` or `mcast_grp` decides otherwise.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// Gives base + (H mod max) for the hash H of the data; base alone if max is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// Like an action profile, with groups of members among which the table's `selector` keys choose by hash.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// From where to where a clone goes.
enum CloneType {
    I2E,  // From ingress: the packet as it was received.
    E2E   // From egress: the packet as it is after egress.
}

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// Sets `checksum_error` if the condition holds and the checksum of the data is another than the one given.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// Sets the checksum to that of the data, if the condition holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// The same over the data and all bytes that the parser did not extract.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// The following take effect when ingress or egress ends; of several calls the last counts. Those with an index keep the
// user's metadata that are annotated `@field_list` with that number; all other metadata begin anew.

// Parses the packet as it was received, and runs ingress on it, once more. Only in ingress.
extern void resubmit_preserving_field_list(bit<8> index);
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);

// Parses the packet as it was deparsed, and runs ingress on it, once more. Only in egress.
extern void recirculate_preserving_field_list(bit<8> index);
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);

// Sends a copy to the ports of the mirroring session.
extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

// Truncates the packet to this many bytes when it leaves.
extern void truncate(in bit<32> length);

// Asserts that the check holds. If it does not, the switch reports it.
extern void assert(in bool check);

// The same, for what the program takes for granted rather than ensures.
extern void assume(in bool check);

// Writes a message to the log, each `{}` replaced by a value of the data.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

// The blocks of the pipeline. H is the struct of the headers, M that of the user's metadata.

parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

// May only call `verify_checksum` and `verify_checksum_with_payload`.
control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

// May only call `update_checksum` and `update_checksum_with_payload`.
control ComputeChecksum<H, M>(inout H hdr, inout M meta);

// May only call `emit`.
@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep);

#endif  // _V1_MODEL_P4_
