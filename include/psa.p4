// The Portable Switch Architecture (PSA), version 1.2: an ingress pipeline and an egress pipeline, each with a parser, a
// control and a deparser, and between them an engine that replicates packets and one that queues them.
//
// The widths of the types below are those of this switch.

#ifndef _PORTABLE_SWITCH_ARCHITECTURE_P4_
#define _PORTABLE_SWITCH_ARCHITECTURE_P4_

#include <core.p4>

// ---------------------------------------------------------------------------------------------------------- numbers

// What the numbers of the data plane are. Each has a `type`, whose values the control plane may see translated and which
// therefore mix with no other number, and the plain number behind it for arithmetic.
typedef bit<32> PortIdUint_t;
typedef bit<32> MulticastGroupUint_t;
typedef bit<16> CloneSessionIdUint_t;
typedef bit<8>  ClassOfServiceUint_t;
typedef bit<16> PacketLengthUint_t;
typedef bit<16> EgressInstanceUint_t;
typedef bit<64> TimestampUint_t;

@p4runtime_translation("p4.org/psa/v1/PortId_t", 32)
type PortIdUint_t PortId_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroup_t", 32)
type MulticastGroupUint_t MulticastGroup_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionId_t", 16)
type CloneSessionIdUint_t CloneSessionId_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfService_t", 8)
type ClassOfServiceUint_t ClassOfService_t;
@p4runtime_translation("p4.org/psa/v1/PacketLength_t", 16)
type PacketLengthUint_t PacketLength_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstance_t", 16)
type EgressInstanceUint_t EgressInstance_t;
@p4runtime_translation("p4.org/psa/v1/Timestamp_t", 64)
type TimestampUint_t Timestamp_t;

typedef error ParserError_t;

// What leaves egress for this port enters ingress again.
const PortId_t PSA_PORT_RECIRCULATE = (PortId_t) 0xfffffffa;
// The port of the control plane.
const PortId_t PSA_PORT_CPU = (PortId_t) 0xfffffffd;

// The clone session that leads to the control plane.
const CloneSessionId_t PSA_CLONE_SESSION_TO_CPU = (CloneSessionId_t) 0;

// The same numbers as headers carry them to the control plane and back: their widths are the same on every switch.
typedef bit<32> PortIdInHeaderUint_t;
typedef bit<32> MulticastGroupInHeaderUint_t;
typedef bit<16> CloneSessionIdInHeaderUint_t;
typedef bit<8>  ClassOfServiceInHeaderUint_t;
typedef bit<16> PacketLengthInHeaderUint_t;
typedef bit<16> EgressInstanceInHeaderUint_t;
typedef bit<64> TimestampInHeaderUint_t;

@p4runtime_translation("p4.org/psa/v1/PortIdInHeader_t", 32)
type PortIdInHeaderUint_t PortIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroupInHeader_t", 32)
type MulticastGroupInHeaderUint_t MulticastGroupInHeader_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionIdInHeader_t", 16)
type CloneSessionIdInHeaderUint_t CloneSessionIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfServiceInHeader_t", 8)
type ClassOfServiceInHeaderUint_t ClassOfServiceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/PacketLengthInHeader_t", 16)
type PacketLengthInHeaderUint_t PacketLengthInHeader_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstanceInHeader_t", 16)
type EgressInstanceInHeaderUint_t EgressInstanceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/TimestampInHeader_t", 64)
type TimestampInHeaderUint_t TimestampInHeader_t;

// From a header to the data plane.
PortId_t psa_PortId_header_to_int(in PortIdInHeader_t x) {
    return (PortId_t) (PortIdUint_t) (PortIdInHeaderUint_t) x;
}
MulticastGroup_t psa_MulticastGroup_header_to_int(in MulticastGroupInHeader_t x) {
    return (MulticastGroup_t) (MulticastGroupUint_t) (MulticastGroupInHeaderUint_t) x;
}
CloneSessionId_t psa_CloneSessionId_header_to_int(in CloneSessionIdInHeader_t x) {
    return (CloneSessionId_t) (CloneSessionIdUint_t) (CloneSessionIdInHeaderUint_t) x;
}
ClassOfService_t psa_ClassOfService_header_to_int(in ClassOfServiceInHeader_t x) {
    return (ClassOfService_t) (ClassOfServiceUint_t) (ClassOfServiceInHeaderUint_t) x;
}
PacketLength_t psa_PacketLength_header_to_int(in PacketLengthInHeader_t x) {
    return (PacketLength_t) (PacketLengthUint_t) (PacketLengthInHeaderUint_t) x;
}
EgressInstance_t psa_EgressInstance_header_to_int(in EgressInstanceInHeader_t x) {
    return (EgressInstance_t) (EgressInstanceUint_t) (EgressInstanceInHeaderUint_t) x;
}
Timestamp_t psa_Timestamp_header_to_int(in TimestampInHeader_t x) {
    return (Timestamp_t) (TimestampUint_t) (TimestampInHeaderUint_t) x;
}

// From the data plane to a header.
PortIdInHeader_t psa_PortId_int_to_header(in PortId_t x) {
    return (PortIdInHeader_t) (PortIdInHeaderUint_t) (PortIdUint_t) x;
}
MulticastGroupInHeader_t psa_MulticastGroup_int_to_header(in MulticastGroup_t x) {
    return (MulticastGroupInHeader_t) (MulticastGroupInHeaderUint_t) (MulticastGroupUint_t) x;
}
CloneSessionIdInHeader_t psa_CloneSessionId_int_to_header(in CloneSessionId_t x) {
    return (CloneSessionIdInHeader_t) (CloneSessionIdInHeaderUint_t) (CloneSessionIdUint_t) x;
}
ClassOfServiceInHeader_t psa_ClassOfService_int_to_header(in ClassOfService_t x) {
    return (ClassOfServiceInHeader_t) (ClassOfServiceInHeaderUint_t) (ClassOfServiceUint_t) x;
}
PacketLengthInHeader_t psa_PacketLength_int_to_header(in PacketLength_t x) {
    return (PacketLengthInHeader_t) (PacketLengthInHeaderUint_t) (PacketLengthUint_t) x;
}
EgressInstanceInHeader_t psa_EgressInstance_int_to_header(in EgressInstance_t x) {
    return (EgressInstanceInHeader_t) (EgressInstanceInHeaderUint_t) (EgressInstanceUint_t) x;
}
TimestampInHeader_t psa_Timestamp_int_to_header(in Timestamp_t x) {
    return (TimestampInHeader_t) (TimestampInHeaderUint_t) (TimestampUint_t) x;
}

// --------------------------------------------------------------------------------------------------------- metadata

// Values of the table property `psa_idle_timeout`: whether entries that nothing has matched for a while are reported.
enum PSA_IdleTimeout_t {
    NO_TIMEOUT,
    NOTIFY_CONTROL
}

// How a packet came to the pipeline that it is in.
enum PSA_PacketPath_t {
    NORMAL,            // Ingress: it was received.
    NORMAL_UNICAST,    // Egress: ingress sent it to a port.
    NORMAL_MULTICAST,  // Egress: ingress sent it to a multicast group.
    CLONE_I2E,         // Egress: a clone made by ingress.
    CLONE_E2E,         // Egress: a clone made by egress.
    RESUBMIT,          // Ingress: ingress has resubmitted it.
    RECIRCULATE        // Ingress: egress sent it to the port of recirculation.
}

struct psa_ingress_parser_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_egress_parser_input_metadata_t {
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_ingress_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
    Timestamp_t      ingress_timestamp;  // When ingress began with the packet, in microseconds.
    ParserError_t    parser_error;       // Why the ingress parser stopped.
}

// What ingress decides. `drop` is true when ingress begins, everything else 0 or false.
struct psa_ingress_output_metadata_t {
    ClassOfService_t class_of_service;  // The queue of the egress port; 0 is the lowest.
    bool             clone;             // Whether a clone of the packet goes to the session below.
    CloneSessionId_t clone_session_id;
    bool             drop;              // Whether the packet ends here. A clone is made all the same.
    bool             resubmit;          // Whether the packet enters ingress again, as it was received.
    MulticastGroup_t multicast_group;   // Where its copies go; 0 for none.
    PortId_t         egress_port;       // Where it goes unless a member above decides otherwise.
}

struct psa_egress_input_metadata_t {
    ClassOfService_t class_of_service;
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
    EgressInstance_t instance;          // Which copy this is, as configured in the replication engine.
    Timestamp_t      egress_timestamp;  // When egress began with the packet, in microseconds.
    ParserError_t    parser_error;      // Why the egress parser stopped.
}

struct psa_egress_deparser_input_metadata_t {
    PortId_t egress_port;
}

// What egress decides. Everything is 0 or false when egress begins.
struct psa_egress_output_metadata_t {
    bool             clone;             // Whether a clone of the packet goes to the session below.
    CloneSessionId_t clone_session_id;
    bool             drop;              // Whether the packet ends here. A clone is made all the same.
}

// What the deparsers test before they fill the struct that goes with a packet on one of its paths: whether there is a
// clone, whether the packet is resubmitted, continues to egress, or enters ingress again.
@pure
bool psa_clone_i2e(in psa_ingress_output_metadata_t istd) {
    return istd.clone;
}
@pure
bool psa_resubmit(in psa_ingress_output_metadata_t istd) {
    return !istd.drop && istd.resubmit;
}
@pure
bool psa_normal(in psa_ingress_output_metadata_t istd) {
    return !istd.drop && !istd.resubmit;
}
@pure
bool psa_clone_e2e(in psa_egress_output_metadata_t istd) {
    return istd.clone;
}
@pure
bool psa_recirculate(in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    return !istd.drop && edstd.egress_port == PSA_PORT_RECIRCULATE;
}

// Asserts that the check holds. If it does not, the switch reports it.
extern void assert(in bool check);

// The same, for what the program takes for granted rather than ensures.
extern void assume(in bool check);

// How a table compares a key with an entry, beside the kinds of core.p4.
match_kind {
    range,     // The key lies between two values, both included.
    selector,  // The key is no part of the match: it chooses the member of an action selector's group.
    optional   // The key equals the entry's value, or the entry takes any.
}

// Sends the packet to one port. Clones and resubmission are not touched by this and the following.
@noWarn("unused")
action send_to_port(inout psa_ingress_output_metadata_t meta, in PortId_t egress_port) {
    meta.drop = false;
    meta.multicast_group = (MulticastGroup_t) 0;
    meta.egress_port = egress_port;
}

// Sends copies of the packet to the members of a multicast group.
@noWarn("unused")
action multicast(inout psa_ingress_output_metadata_t meta, in MulticastGroup_t multicast_group) {
    meta.drop = false;
    meta.multicast_group = multicast_group;
}

// Ends the packet with ingress.
@noWarn("unused")
action ingress_drop(inout psa_ingress_output_metadata_t meta) {
    meta.drop = true;
}

// Ends the packet with egress.
@noWarn("unused")
action egress_drop(inout psa_egress_output_metadata_t meta) {
    meta.drop = true;
}

// ---------------------------------------------------------------------------------------------------------- externs

// Makes the copies for multicast groups and clone sessions, as the control plane configures them.
extern PacketReplicationEngine {
    PacketReplicationEngine();
}

// Holds packets until their ports are free.
extern BufferingQueueingEngine {
    BufferingQueueingEngine();
}

enum PSA_HashAlgorithm_t {
    IDENTITY,
    CRC32,
    CRC32_CUSTOM,
    CRC16,
    CRC16_CUSTOM,
    ONES_COMPLEMENT16,  // The 16-bit sum of IPv4, TCP and UDP, inverted.
    TARGET_DEFAULT      // Here the same as CRC32.
}

extern Hash<O> {
    Hash(PSA_HashAlgorithm_t algo);

    // Gives the hash of the data.
    @pure
    O get_hash<D>(in D data);

    // Gives base + (hash mod max).
    @pure
    O get_hash<T, D>(in T base, in D data, in T max);
}

// A checksum of all data that were added since the last `clear`. It is clear when the parser or control begins.
extern Checksum<W> {
    Checksum(PSA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    @noSideEffects
    W get();
}

// The 16-bit checksum of IPv4, TCP and UDP, from which data can be taken away again (RFC 1624). All data are multiples of
// 16 bits. It is clear when the parser or control begins.
extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    @noSideEffects
    bit<16> get();

    // The sum so far, for `set_state` of this or another checksum.
    @noSideEffects
    bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

enum PSA_CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

// An array of counters. W is the type of a count, S that of an index.
@noWarn("unused")
extern Counter<W, S> {
    Counter(bit<32> n_counters, PSA_CounterType_t type);

    // Counts this packet. Nothing happens if the index is too large.
    void count(in S index);
#ifdef __PSA_TARGET_DPDK__
    void count(in S index, in bit<32> pkt_len);
#endif
}

// One counter for each entry of a table, whose property `psa_direct_counter` names it. It counts whenever an entry
// matches.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(PSA_CounterType_t type);
    void count();
#ifdef __PSA_TARGET_DPDK__
    void count(in bit<32> pkt_len);
#endif
}

enum PSA_MeterType_t {
    PACKETS,
    BYTES
}

enum PSA_MeterColor_t {
    RED,
    GREEN,
    YELLOW
}

// An array of meters with two rates and three colours (RFC 2698).
extern Meter<S> {
    Meter(bit<32> n_meters, PSA_MeterType_t type);

    // Meters this packet, which has a colour already: the result is no better than that.
    PSA_MeterColor_t execute(in S index, in PSA_MeterColor_t color);

    // The same for a packet without a colour.
    PSA_MeterColor_t execute(in S index);
#ifdef __PSA_TARGET_DPDK__
    PSA_MeterColor_t dpdk_execute(in S index, in PSA_MeterColor_t color, in bit<32> pkt_len);
    PSA_MeterColor_t dpdk_execute(in S index, in bit<32> pkt_len);
#endif
}

// One meter for each entry of a table, whose property `psa_direct_meter` names it. It measures whenever an entry matches.
extern DirectMeter {
    DirectMeter(PSA_MeterType_t type);
    PSA_MeterColor_t execute(in PSA_MeterColor_t color);
    PSA_MeterColor_t execute();
#ifdef __PSA_TARGET_DPDK__
    PSA_MeterColor_t dpdk_execute(in PSA_MeterColor_t color, in bit<32> pkt_len);
    PSA_MeterColor_t dpdk_execute(in bit<32> pkt_len);
#endif
}

// An array of values that outlive the packet. They are 0 at the start, or the value given.
extern Register<T, S> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    @noSideEffects
    T read(in S index);
    void write(in S index, in T value);
}

// Numbers between min and max, both included.
extern Random<T> {
    Random(T min, T max);
    T read();
}

// Actions with their arguments that several entries of a table share: the value of its property `psa_implementation`.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// Like an action profile, with groups of members among which the table's `selector` keys choose by hash.
extern ActionSelector {
    ActionSelector(PSA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

// A stream of messages to the control plane.
extern Digest<T> {
    Digest();
    void pack(in T data);
}

// ----------------------------------------------------------------------------------------------------------- blocks

// The blocks of the pipelines. H is the struct of the headers and M that of the user's metadata, of ingress and egress
// each; NM, CI2EM, CE2EM, RESUBM and RECIRCM are what goes with a packet from a deparser to the parser that it comes to
// next.

parser IngressParser<H, M, RESUBM, RECIRCM>(packet_in buffer,
                                            out H parsed_hdr,
                                            inout M user_meta,
                                            in psa_ingress_parser_input_metadata_t istd,
                                            in RESUBM resubmit_meta,
                                            in RECIRCM recirculate_meta);

control Ingress<H, M>(inout H hdr,
                      inout M user_meta,
                      in psa_ingress_input_metadata_t istd,
                      inout psa_ingress_output_metadata_t ostd);

control IngressDeparser<H, M, CI2EM, RESUBM, NM>(packet_out buffer,
                                                 out CI2EM clone_i2e_meta,
                                                 out RESUBM resubmit_meta,
                                                 out NM normal_meta,
                                                 inout H hdr,
                                                 in M meta,
                                                 in psa_ingress_output_metadata_t istd);

parser EgressParser<H, M, NM, CI2EM, CE2EM>(packet_in buffer,
                                            out H parsed_hdr,
                                            inout M user_meta,
                                            in psa_egress_parser_input_metadata_t istd,
                                            in NM normal_meta,
                                            in CI2EM clone_i2e_meta,
                                            in CE2EM clone_e2e_meta);

control Egress<H, M>(inout H hdr,
                     inout M user_meta,
                     in psa_egress_input_metadata_t istd,
                     inout psa_egress_output_metadata_t ostd);

control EgressDeparser<H, M, CE2EM, RECIRCM>(packet_out buffer,
                                             out CE2EM clone_e2e_meta,
                                             out RECIRCM recirculate_meta,
                                             inout H hdr,
                                             in M meta,
                                             in psa_egress_output_metadata_t istd,
                                             in psa_egress_deparser_input_metadata_t edstd);

package IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM>(IngressParser<IH, IM, RESUBM, RECIRCM> ip,
                                                            Ingress<IH, IM> ig,
                                                            IngressDeparser<IH, IM, CI2EM, RESUBM, NM> id);

package EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM>(EgressParser<EH, EM, NM, CI2EM, CE2EM> ep,
                                                          Egress<EH, EM> eg,
                                                          EgressDeparser<EH, EM, CE2EM, RECIRCM> ed);

package PSA_Switch<IH, IM, EH, EM, NM, CI2EM, CE2EM, RESUBM, RECIRCM>(
    IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM> ingress,
    PacketReplicationEngine pre,
    EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM> egress,
    BufferingQueueingEngine bqe);

#endif  // _PORTABLE_SWITCH_ARCHITECTURE_P4_
